//! Skin weights: each vertex starts with the bone of the nearest solid, blended across its joints; then weights are
//! smoothed over the surface.
//!
//! Starting from the solids keeps fingers, legs and arms apart, however close they are. Smoothing along the surface makes
//! bends smooth.

use super::{contour::Mesh, field::Field, maths::smoothstep, rig::Rig};
use glam::DVec3;

/// (joint, weight), largest first, with a sum of one.
pub type Shares = Vec<(usize, f64)>;

/// How skin blends across a joint.
pub struct Bend {
    /// Width of the blend around the joint, in meters.
    pub width: f64,
    /// Direction of the blend. Zero means along the mean of the parent's and the own bone, or just the own bone if
    /// `one_way`.
    pub across: DVec3,
    /// Only the joint's own skin blends into the parent, not the other way around: where a limb meets the trunk.
    pub one_way: bool,
}

impl Bend {
    /// A blend on both sides of the joint.
    pub fn shared(width: f64, across: DVec3) -> Option<Self> {
        Some(Self {
            width,
            across,
            one_way: false,
        })
    }

    /// A blend on the joint's own side only.
    pub fn of_a_limb(width: f64, across: DVec3) -> Option<Self> {
        Some(Self {
            width,
            across,
            one_way: true,
        })
    }
}

/// Returns the weights of every vertex of `mesh`.
///
/// `bend` returns how a joint blends with its parent; `None` is a hard border that only smoothing softens. `rounds` is
/// the number of smoothing passes, `most` the maximum number of influences per vertex.
pub fn weights(
    field: &Field,
    mesh: &Mesh,
    rig: &Rig,
    bend: &dyn Fn(usize) -> Option<Bend>,
    rounds: usize,
    most: usize,
) -> Vec<Shares> {
    let joints = rig.joints.len();
    let children: Vec<Vec<usize>> = (0..joints)
        .map(|j| {
            (0..joints)
                .filter(|&c| rig.joints[c].parent == Some(j))
                .collect()
        })
        .collect();
    let bends: Vec<Option<Bend>> = (0..joints).map(bend).collect();
    let mut dense: Vec<Vec<f64>> = Vec::with_capacity(mesh.positions.len());
    for &p in &mesh.positions {
        let mut row = vec![0.0; joints];
        share(
            rig,
            &children,
            &bends,
            field.sample(p).bone,
            None,
            p,
            1.0,
            &mut row,
        );
        dense.push(row);
    }
    let neighbors = mesh.neighbors();
    for _ in 0..rounds {
        let before = dense.clone();
        for (v, list) in neighbors.iter().enumerate() {
            for j in 0..joints {
                let mean =
                    list.iter().map(|&n| before[n as usize][j]).sum::<f64>() / list.len() as f64;
                dense[v][j] = 0.5 * before[v][j] + 0.5 * mean;
            }
        }
    }
    dense.into_iter().map(|row| largest(&row, most)).collect()
}

/// Assigns `amount` to `bone`, minus what belongs to its parent and children across their joints.
#[allow(clippy::too_many_arguments)]
fn share(
    rig: &Rig,
    children: &[Vec<usize>],
    bends: &[Option<Bend>],
    bone: usize,
    from: Option<usize>,
    p: DVec3,
    amount: f64,
    row: &mut [f64],
) {
    let beyond = |joint: usize| {
        // 0 on the parent's side of the joint, 1 on its own side.
        let bend = bends[joint].as_ref()?;
        let j = &rig.joints[joint];
        let own = j.rotation * DVec3::Y;
        let along = if bend.across == DVec3::ZERO {
            let parent = j.parent.filter(|_| !bend.one_way);
            parent.map_or(own, |p| {
                (own + rig.joints[p].rotation * DVec3::Y).normalize_or(own)
            })
        } else {
            bend.across
        };
        Some(smoothstep(
            -bend.width,
            bend.width,
            (p - j.position).dot(along),
        ))
    };
    let mut left = amount;
    if let Some(parent) = rig.joints[bone].parent.filter(|p| Some(*p) != from)
        && let Some(own) = beyond(bone)
    {
        let given = left * (1.0 - own);
        left -= given;
        if given > 1e-4 {
            share(rig, children, bends, parent, Some(bone), p, given, row);
        }
    }
    for &child in children[bone].iter().filter(|c| Some(**c) != from) {
        let shared = bends[child].as_ref().is_some_and(|b| !b.one_way);
        if let Some(theirs) = beyond(child).filter(|_| shared) {
            let given = left * theirs;
            left -= given;
            if given > 1e-4 {
                share(rig, children, bends, child, Some(bone), p, given, row);
            }
        }
    }
    row[bone] += left;
}

/// Maximum sum of the weights after the fourth, so that a reader that keeps only four loses little.
const BEYOND_FOUR: f64 = 0.04;

/// Returns the largest weights, rounded to thousandths that sum to one.
fn largest(row: &[f64], most: usize) -> Shares {
    let mut shares: Shares = row
        .iter()
        .copied()
        .enumerate()
        .filter(|s| s.1 > 0.012)
        .collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    shares.truncate(most);
    let sum: f64 = shares.iter().map(|s| s.1).sum();
    let beyond: f64 = shares.iter().skip(4).map(|s| s.1 / sum).sum();
    let scale = if beyond > BEYOND_FOUR {
        BEYOND_FOUR / beyond
    } else {
        1.0
    };
    let mut left = 1000.0;
    for (i, s) in shares.iter_mut().enumerate().skip(1) {
        let scale = if i < 4 { 1.0 } else { scale };
        s.1 = (s.1 / sum * 1000.0 * scale).round();
        left -= s.1;
        s.1 /= 1000.0;
    }
    shares[0].1 = left / 1000.0;
    shares.retain(|s| s.1 > 0.0);
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_weights_sum_to_one_and_are_sorted() {
        let shares = largest(&[0.3, 0.1, 0.05, 0.25, 0.2, 0.1], 4);
        assert_eq!(shares.iter().map(|s| s.0).collect::<Vec<_>>(), [0, 3, 4, 1]);
        assert!((shares.iter().map(|s| s.1).sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(shares.windows(2).all(|w| w[0].1 >= w[1].1));
    }

    #[test]
    fn weights_after_the_fourth_are_small() {
        let shares = largest(&[0.2, 0.15, 0.15, 0.2, 0.15, 0.15], 6);
        assert_eq!(shares.len(), 6);
        assert!((shares.iter().map(|s| s.1).sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(shares[4..].iter().map(|s| s.1).sum::<f64>() < BEYOND_FOUR + 0.0011);
    }
}
