//! Recovers the bind pose of an MD5 mesh.
//!
//! Each weight stores its vertex in the space of one joint. In the bind pose, transforming the weights of a
//! vertex by their joints gives the same point for all of them. In one of six real files, the `joints` block is
//! not the bind pose, and the points are apart by up to half the size of the model.
//!
//! Recovery has two stages. The first places the joints one after the other: next comes the joint that shares the
//! most vertices with those already placed, and it is fitted to these vertices. The second spreads the remaining
//! error by alternating two steps: each vertex becomes the mean of its points, then each joint is fitted to its
//! vertices. Both steps reduce the same sum of squares, so they converge; for real files, to the precision of
//! their numbers.

use super::{
    fit::{Fit, GOOD_ENOUGH, fit_by_consensus},
    rigid::Rigid,
};
use glam::DVec3;
use std::{cmp::Reverse, collections::BinaryHeap};

/// One joint's share of a vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Weight {
    pub(super) joint: usize,
    /// Above 0. The shares of a vertex sum to one, and each joint occurs once.
    pub(super) share: f64,
    /// The vertex in the joint's space.
    pub(super) position: DVec3,
}

/// The weights of all vertices, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Weights {
    list: Vec<Weight>,
    ends: Vec<usize>,
}

impl Weights {
    /// Creates an empty list with room for vertices and their weights.
    pub(super) fn with_capacity(vertices: usize, weights: usize) -> Self {
        Self {
            list: Vec::with_capacity(weights),
            ends: Vec::with_capacity(vertices),
        }
    }

    /// Adds a vertex. Drops weights that are not above 0, merges weights of the same joint into their mean, and
    /// normalizes the sum to one. A vertex without weights gets `fallback`.
    pub(super) fn push(&mut self, weights: impl Iterator<Item = Weight>, fallback: Weight) {
        let start = self.list.len();
        for weight in weights.filter(|w| w.share > 0.0) {
            match self.list[start..]
                .iter_mut()
                .find(|w| w.joint == weight.joint)
            {
                Some(same) => {
                    let share = same.share + weight.share;
                    same.position =
                        (same.position * same.share + weight.position * weight.share) / share;
                    same.share = share;
                }
                None => self.list.push(weight),
            }
        }
        let sum: f64 = self.list[start..].iter().map(|w| w.share).sum();
        self.list[start..].iter_mut().for_each(|w| w.share /= sum);
        if self.list.len() == start {
            self.list.push(Weight {
                share: 1.0,
                ..fallback
            });
        }
        self.ends.push(self.list.len());
    }

    /// Returns the weights of each vertex.
    fn vertices(&self) -> impl Iterator<Item = &[Weight]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts
            .zip(&self.ends)
            .map(|(start, &end)| &self.list[start..end])
    }

    /// Computes the vertices in a pose.
    pub(super) fn posed(&self, pose: &[Rigid]) -> Posed {
        let count = self.ends.len();
        let mut posed = Posed {
            positions: Vec::with_capacity(count),
            errors: Vec::with_capacity(count),
        };
        let mut points = Vec::new();
        for weights in self.vertices() {
            transform(weights, pose, &mut points);
            let vertex = mean(weights, &points);
            posed.positions.push(vertex);
            // A vertex with one joint has only one point.
            posed.errors.push(if weights.len() > 1 {
                error(weights, &points, vertex)
            } else {
                0.0
            });
        }
        posed
    }
}

/// Vertices in a pose.
pub(super) struct Posed {
    /// Positions as MD5 defines them.
    pub(super) positions: Vec<DVec3>,
    /// The weighted mean distance between a vertex and its points. If the skin is bound in this pose, it is at most
    /// that far from MD5's definition in any other pose.
    errors: Vec<f64>,
}

/// Computes the points of a vertex, one per weight.
fn transform(weights: &[Weight], pose: &[Rigid], points: &mut Vec<DVec3>) {
    points.clear();
    points.extend(weights.iter().map(|w| pose[w.joint].apply(w.position)));
}

fn mean(weights: &[Weight], points: &[DVec3]) -> DVec3 {
    weights
        .iter()
        .zip(points)
        .map(|(w, &point)| point * w.share)
        .sum()
}

fn error(weights: &[Weight], points: &[DVec3], vertex: DVec3) -> f64 {
    weights
        .iter()
        .zip(points)
        .map(|(w, point)| point.distance(vertex) * w.share)
        .sum()
}

/// A bind pose and how well it fits.
#[derive(Debug)]
pub(super) struct Bind {
    /// Joints in model space.
    pub(super) pose: Vec<Rigid>,
    /// Largest error of a vertex, in the file's units. In no pose is a vertex farther from its true position.
    pub(super) residual: f64,
    /// Number of vertices whose error exceeds [`TOLERANCE`].
    pub(super) off: usize,
    /// Sum of the errors, each clamped to [`TOLERANCE`].
    total: f64,
    /// `true` if the pose differs from the file's joints.
    pub(super) recovered: bool,
}

/// Error relative to the model's size that is worth a warning.
pub(super) const TOLERANCE: f64 = 1e-3;

/// Error relative to the model's size up to which the file's joints count as the bind pose: a hundred times the
/// rounding error of numbers with six digits.
const CONTRADICTION: f64 = 1e-4;

/// Returns the file's joints if they fit the weights, or else the pose that fits best.
///
/// Parents come before their children. `at_rest` holds the vertices in the pose of `joints`, and `size` is the
/// diagonal of their bounding box. The time is bounded for any input.
pub(super) fn find(
    weights: &Weights,
    joints: &[Rigid],
    parents: &[Option<usize>],
    at_rest: &Posed,
    size: f64,
) -> Bind {
    let given = Bind::with(joints.to_vec(), at_rest, size);
    // Infinities and NaN cannot be fitted.
    let computable = given.residual.is_finite() && size.is_finite();
    if !computable || given.residual <= CONTRADICTION * size {
        return given;
    }
    let chained = chain_joints(weights, joints, parents, size);
    let mut best = alternate(weights, chained.clone(), size, false);
    // A few vertices that fit no pose distort the fit of all others; a robust fit prevents that. If most
    // vertices fit no pose, it cannot help, and on a large mesh it takes seconds.
    let hopeless = weights.list.len() > 1 << 16 && best.off > weights.ends.len() / 2;
    for (start, robust) in [
        (joints.to_vec(), false),
        (chained, true),
        (joints.to_vec(), true),
    ] {
        if best.residual > CONTRADICTION * size && !hopeless {
            let other = alternate(weights, start, size, robust);
            if other.rank() < best.rank() {
                best = other;
            }
        }
    }
    // For example, it is no better if a few vertices fit no pose and all others fit the file's joints.
    let better = best.off < given.off || (best.off == given.off && best.total < 0.5 * given.total);
    if !better || !best.pose.iter().all(Rigid::is_finite) {
        return given;
    }
    // Joints that share no vertex cannot be fitted, so they move with their parents.
    let shared = shares(weights, joints.len());
    for joint in (0..joints.len()).filter(|&j| !shared[j]) {
        if let Some(parent) = parents[joint] {
            let local = joints[parent].inverse().after(&joints[joint]);
            best.pose[joint] = best.pose[parent].after(&local);
        }
    }
    Bind {
        recovered: true,
        ..best
    }
}

impl Bind {
    /// Lower is better: fewer vertices that are off, then a smaller total error.
    fn rank(&self) -> (usize, f64) {
        (self.off, self.total)
    }

    fn of(weights: &Weights, pose: Vec<Rigid>, size: f64) -> Self {
        let posed = weights.posed(&pose);
        Self::with(pose, &posed, size)
    }

    /// Like [`Self::of`], for vertices that are known already.
    fn with(pose: Vec<Rigid>, posed: &Posed, size: f64) -> Self {
        let (mut residual, mut off, mut total) = (0.0f64, 0, 0.0);
        for &error in &posed.errors {
            residual = residual.max(error);
            off += usize::from(error > TOLERANCE * size);
            total += error.min(TOLERANCE * size);
        }
        Self {
            pose,
            residual,
            off,
            total,
            recovered: false,
        }
    }
}

/// Returns, per joint, whether it shares a vertex with another joint.
fn shares(weights: &Weights, joints: usize) -> Vec<bool> {
    let mut shared = vec![false; joints];
    for weights in weights.vertices().filter(|w| w.len() > 1) {
        weights.iter().for_each(|w| shared[w.joint] = true);
    }
    shared
}

/// Places the joints one after the other, each fitted to the vertices that it shares with those
/// already placed.
///
/// The result is exact if the weights fit some pose and every joint shares enough vertices to
/// determine its transform. Otherwise, undetermined parts follow the file's joints.
fn chain_joints(
    weights: &Weights,
    joints: &[Rigid],
    parents: &[Option<usize>],
    size: f64,
) -> Vec<Rigid> {
    // Per joint, its weights of shared vertices: the vertex, and the index in the list.
    let mut uses: Vec<Vec<(usize, usize)>> = vec![Vec::new(); joints.len()];
    let mut at = 0;
    for (vertex, weights) in weights.vertices().enumerate() {
        for (i, weight) in weights.iter().enumerate().filter(|_| weights.len() > 1) {
            uses[weight.joint].push((vertex, at + i));
        }
        at += weights.len();
    }
    let mut pose = joints.to_vec();
    let mut placed = vec![false; joints.len()];
    // Per vertex, the total weight and the weighted sum of the points placed so far.
    let mut known = vec![(0.0, DVec3::ZERO); weights.ends.len()];
    let mut links = vec![0usize; joints.len()];
    let mut ready: BinaryHeap<(usize, Reverse<usize>)> = BinaryHeap::new();
    let mut pairs = Vec::new();
    // If no joint is linked to those placed, continue with the one that has the most vertices.
    let mut starts: Vec<usize> = (0..joints.len()).filter(|&j| !uses[j].is_empty()).collect();
    starts.sort_by_key(|&j| uses[j].len());
    while let Some(joint) = ready
        .pop()
        .map(|(_, Reverse(joint))| joint)
        .or_else(|| starts.pop())
    {
        if placed[joint] {
            continue;
        }
        if let Some(parent) = parents[joint].filter(|&p| placed[p]) {
            pose[joint] = pose[parent].after(&joints[parent].inverse().after(&joints[joint]));
        }
        pairs.clear();
        for &(vertex, weight) in &uses[joint] {
            let (share, sum) = known[vertex];
            if share > 0.0 {
                pairs.push((weights.list[weight].position, sum / share));
            }
        }
        // One bad vertex must not decide where a joint is, since all later joints are fitted to it.
        fit_by_consensus(&mut pose[joint], &pairs, size, TOLERANCE * size);
        placed[joint] = true;
        for &(vertex, weight) in &uses[joint] {
            let Weight {
                share, position, ..
            } = weights.list[weight];
            let first = known[vertex].0 == 0.0;
            known[vertex].0 += share;
            known[vertex].1 += pose[joint].apply(position) * share;
            // A vertex becomes known with its first joint, and then links all its others.
            if first {
                let end = weights.ends[vertex];
                let start = if vertex > 0 {
                    weights.ends[vertex - 1]
                } else {
                    0
                };
                for other in weights.list[start..end]
                    .iter()
                    .map(|w| w.joint)
                    .filter(|&j| !placed[j])
                {
                    links[other] += 1;
                    ready.push((links[other], Reverse(other)));
                }
            }
        }
    }
    pose
}

/// Improves a pose step by step until the error is negligible or no longer decreases, or the budget is spent.
fn alternate(weights: &Weights, mut pose: Vec<Rigid>, size: f64, robust: bool) -> Bind {
    const MOST: usize = 2000;
    // Passes between checks of the progress.
    const STRIDE: usize = 20;
    // Limits the time to a fraction of a second.
    let cost = weights.list.len() + 30 * pose.len() + 1;
    let rounds = (8_000_000 / cost).clamp(STRIDE, MOST);
    let mut fits = vec![Fit::NOTHING; pose.len()];
    let mut best = Bind::of(weights, pose.clone(), size);
    let mut before = f64::INFINITY;
    for round in 1..=rounds {
        if best.residual < GOOD_ENOUGH * size {
            break;
        }
        let squares = step(weights, &mut pose, &mut fits, size, robust);
        if round % STRIDE == 0 || round == rounds {
            let bind = Bind::of(weights, pose.clone(), size);
            if bind.rank() < best.rank() {
                best = bind;
            }
            if squares.is_nan() || squares > 0.98 * before {
                break;
            }
            before = squares;
        }
    }
    best
}

/// Runs one pass: computes the vertices as means, then fits each joint to its vertices. Returns the
/// sum of squares before the pass.
fn step(weights: &Weights, pose: &mut [Rigid], fits: &mut [Fit], size: f64, robust: bool) -> f64 {
    // A vertex with one joint does not constrain it.
    let shared = || weights.vertices().filter(|weights| weights.len() > 1);
    fits.fill(Fit::NOTHING);
    let (mut squares, mut points) = (0.0, Vec::new());
    for weights in shared() {
        transform(weights, pose, &mut points);
        let vertex = mean(weights, &points);
        let trust = if robust {
            robust_weight(error(weights, &points, vertex), size)
        } else {
            1.0
        };
        for (w, point) in weights.iter().zip(&points) {
            squares += w.share * trust * point.distance_squared(vertex);
            fits[w.joint].add(w.share * trust, w.position, vertex);
        }
    }
    for (joint, fit) in pose.iter_mut().zip(fits) {
        fit.solve(joint, size);
    }
    squares
}

/// Returns the weight of a vertex in a robust fit, given its error. This turns the sum of squares into roughly a
/// sum of distances, which a few outliers do not dominate.
fn robust_weight(error: f64, size: f64) -> f64 {
    size / (error + 0.1 * TOLERANCE * size)
}

#[cfg(test)]
#[path = "tests/bind.rs"]
mod tests;
