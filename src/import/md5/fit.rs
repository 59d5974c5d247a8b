//! Least-squares fits of a joint's rotation and translation to points.

use super::rigid::Rigid;
use glam::{DMat3, DQuat, DVec3};

/// Error, relative to the model's size, at which a fit is as good as the file's numbers.
pub(super) const GOOD_ENOUGH: f64 = 2e-7;

/// Fits a joint to pairs of a point in its space and the same point in model space. Pairs that are off by more than
/// `near` count as outliers.
///
/// Tries a fit to all pairs, then fits to three of them spread over the list; keeps the one that agrees with most
/// pairs, and refines it with those. This is RANSAC (Fischler and Bolles, 1981) with a fixed sequence instead of
/// random numbers.
pub(super) fn fit_by_consensus(joint: &mut Rigid, pairs: &[(DVec3, DVec3)], size: f64, near: f64) {
    const DRAWS: usize = 30;
    let distance = |pose: &Rigid, &(from, to): &(DVec3, DVec3)| pose.apply(from).distance(to);
    // No pair counts more than an outlier, so that outliers don't pull the fit.
    let miss = |pose: &Rigid| {
        pairs
            .iter()
            .map(|pair| distance(pose, pair).min(near))
            .sum::<f64>()
    };
    let (present, mut least) = (*joint, f64::INFINITY);
    for draw in 0..=DRAWS {
        let mut fit = Fit::NOTHING;
        let mut add = |&(from, to): &(DVec3, DVec3)| fit.add(1.0, from, to);
        if draw == 0 {
            pairs.iter().for_each(&mut add);
        } else {
            // With different strides, the three indices move through the list independently.
            [draw * 7, draw * 31 + 1, draw * 101 + 2]
                .iter()
                .for_each(|i| add(&pairs[i % pairs.len()]));
        }
        // Each draw starts from the same rotation, which decides what its points leave open.
        let mut drawn = present;
        fit.solve(&mut drawn, size);
        let miss = miss(&drawn);
        if miss < least {
            (*joint, least) = (drawn, miss);
        }
        if least <= GOOD_ENOUGH * size * pairs.len() as f64 {
            return;
        }
    }
    let mut fit = Fit::NOTHING;
    for pair in pairs.iter().filter(|pair| distance(joint, pair) < near) {
        fit.add(1.0, pair.0, pair.1);
    }
    let mut polished = *joint;
    fit.solve(&mut polished, size);
    // With all inliers, a fit is nearly always better. If not, the draw stays.
    if miss(&polished) < least {
        *joint = polished;
    }
}

/// Sums over pairs of a point in a joint's space and the same point in model space.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fit {
    weight: f64,
    from: DVec3,
    to: DVec3,
    /// Column `k` is the sum of `from · to[k]`.
    products: DMat3,
}

impl Fit {
    /// A fit without pairs.
    pub(super) const NOTHING: Self = Self {
        weight: 0.0,
        from: DVec3::ZERO,
        to: DVec3::ZERO,
        products: DMat3::ZERO,
    };

    /// Adds a pair.
    pub(super) fn add(&mut self, weight: f64, from: DVec3, to: DVec3) {
        self.weight += weight;
        self.from += from * weight;
        self.to += to * weight;
        let weighted = from * weight;
        self.products += DMat3::from_cols(weighted * to.x, weighted * to.y, weighted * to.z);
    }

    /// Sets `joint` to the rotation and translation with the smallest sum of squares.
    ///
    /// The rotation is the eigenvector of Horn's matrix (*Closed-form solution of absolute orientation using unit
    /// quaternions*, 1987) with the largest eigenvalue. One point, or points on a line, do not determine it, so a
    /// trace of the present rotation is added to the matrix.
    pub(super) fn solve(&self, joint: &mut Rigid, size: f64) {
        if self.weight <= 0.0 {
            return;
        }
        let (from, to) = (self.from / self.weight, self.to / self.weight);
        let middle = DMat3::from_cols(from * to.x, from * to.y, from * to.z);
        let m = self.products * self.weight.recip() - middle;
        let (x, y, z) = (m.row(0), m.row(1), m.row(2));
        let mut horn = [
            [x.x + y.y + z.z, y.z - z.y, z.x - x.z, x.y - y.x],
            [y.z - z.y, x.x - y.y - z.z, x.y + y.x, z.x + x.z],
            [z.x - x.z, x.y + y.x, y.y - x.x - z.z, y.z + z.y],
            [x.y - y.x, z.x + x.z, y.z + z.y, z.z - x.x - y.y],
        ];
        let DQuat { x, y, z, w } = joint.rotation;
        let present = [w, x, y, z];
        // Far below any real eigenvalue, so it only decides what the points leave open.
        let trace = 1e-12 * size * size;
        for (row, a) in horn.iter_mut().zip(present) {
            for (cell, b) in row.iter_mut().zip(present) {
                *cell += trace * a * b;
            }
        }
        let [w, x, y, z] = largest_eigenvector(horn);
        let rotation = DQuat::from_xyzw(x, y, z, w).normalize();
        let fitted = Rigid {
            rotation,
            translation: to - rotation * from,
        };
        if fitted.is_finite() {
            *joint = fitted;
        }
    }
}

/// Returns the unit eigenvector with the largest eigenvalue of a symmetric matrix, by Jacobi rotations.
fn largest_eigenvector(mut a: [[f64; 4]; 4]) -> [f64; 4] {
    let mut vectors = [
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0],
        [0.0, 0.0, 0.0, 1.0],
    ];
    // Converges quadratically: five or six sweeps in practice.
    for _ in 0..20 {
        // The matrix of a small model has small numbers.
        let diagonal: f64 = (0..4).map(|i| a[i][i].abs()).sum();
        let mut rotated = false;
        for p in 0..4 {
            for q in p + 1..4 {
                let negligible = a[p][q].abs() <= 1e-17 * diagonal;
                if negligible {
                    continue;
                }
                rotated = true;
                // The smaller of the two angles that zero the element: the rotation that changes
                // the matrix least (Jacobi).
                let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = (t * t + 1.0).sqrt().recip();
                let s = t * c;
                for row in &mut a {
                    (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
                }
                let (above, below) = a.split_at_mut(q);
                for (x, y) in above[p].iter_mut().zip(&mut below[0]) {
                    (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
                }
                for row in &mut vectors {
                    (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
                }
            }
        }
        if !rotated {
            break;
        }
    }
    let largest = (0..4)
        .max_by(|&i, &j| a[i][i].total_cmp(&a[j][j]))
        .unwrap_or(0);
    vectors.map(|row| row[largest])
}

#[cfg(test)]
#[path = "tests/fit.rs"]
mod tests;
