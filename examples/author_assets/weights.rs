//! Skin weights: every vertex begins with the bones of the solid it covers, shared across joints,
//! and the shares are then spread over the surface.
//!
//! Starting from the solids keeps fingers, legs and arms apart however close they are in space;
//! spreading along the surface makes the bends smooth.

use super::{contour::Mesh, field::Field, maths::smoothstep, rig::Rig};
use glam::DVec3;

/// (joint, share), largest first, summing to one.
pub type Shares = Vec<(usize, f64)>;

/// What a character says about its joints' bends.
pub struct Bend {
    /// Width of the blend across the joint's start, metres.
    pub width: f64,
    /// Direction along which the blend runs; zero: along parent's and own bone, one way along its own.
    pub across: DVec3,
    /// Whether only the joint's own skin is shared with the parent, not the parent's with it: where
    /// a limb grows out of a trunk.
    pub one_way: bool,
}

impl Bend {
    /// Shared by both sides of the joint.
    pub fn shared(width: f64, across: DVec3) -> Option<Self> {
        Some(Self { width, across, one_way: false })
    }

    /// Only the joint's own skin goes along with the parent.
    pub fn of_a_limb(width: f64, across: DVec3) -> Option<Self> {
        Some(Self { width, across, one_way: true })
    }
}

/// Weights of every vertex of `mesh`.
///
/// `bend` gives, for a joint, how it blends with its parent; `None` for a hard border that only the
/// spreading softens. `rounds` is how often shares are spread to neighbours, `most`
/// how many joints may move a vertex.
pub fn weights(
    field: &Field,
    mesh: &Mesh,
    rig: &Rig,
    bend: &dyn Fn(usize) -> Option<Bend>,
    rounds: usize,
    most: usize,
) -> Vec<Shares> {
    let joints = rig.joints.len();
    let children: Vec<Vec<usize>> =
        (0..joints).map(|j| (0..joints).filter(|&c| rig.joints[c].parent == Some(j)).collect()).collect();
    let bends: Vec<Option<Bend>> = (0..joints).map(bend).collect();
    let mut dense: Vec<Vec<f64>> = Vec::with_capacity(mesh.positions.len());
    for &p in &mesh.positions {
        let mut row = vec![0.0; joints];
        share(rig, &children, &bends, field.sample(p).bone, None, p, 1.0, &mut row);
        dense.push(row);
    }
    let neighbours = mesh.neighbours();
    for _ in 0..rounds {
        let before = dense.clone();
        for (v, list) in neighbours.iter().enumerate() {
            for j in 0..joints {
                let mean = list.iter().map(|&n| before[n as usize][j]).sum::<f64>() / list.len() as f64;
                dense[v][j] = 0.5 * before[v][j] + 0.5 * mean;
            }
        }
    }
    dense.into_iter().map(|row| largest(&row, most)).collect()
}

/// Gives `amount` to `bone`, less what belongs across its joints to parent and children.
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
        // 0 on the parent's side of the joint, 1 on its own.
        let bend = bends[joint].as_ref()?;
        let j = &rig.joints[joint];
        let own = j.rotation * DVec3::Y;
        let along = if bend.across == DVec3::ZERO {
            let parent = j.parent.filter(|_| !bend.one_way);
            parent.map_or(own, |p| (own + rig.joints[p].rotation * DVec3::Y).normalize_or(own))
        } else {
            bend.across
        };
        Some(smoothstep(-bend.width, bend.width, (p - j.position).dot(along)))
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

/// What shares beyond the fourth may sum to: a reader that keeps four loses little.
const BEYOND_FOUR: f64 = 0.04;

/// The largest shares, in thousandths that sum to one: few digits, and the same on every machine.
fn largest(row: &[f64], most: usize) -> Shares {
    let mut shares: Shares = row.iter().copied().enumerate().filter(|s| s.1 > 0.012).collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    shares.truncate(most);
    let sum: f64 = shares.iter().map(|s| s.1).sum();
    let beyond: f64 = shares.iter().skip(4).map(|s| s.1 / sum).sum();
    let scale = if beyond > BEYOND_FOUR { BEYOND_FOUR / beyond } else { 1.0 };
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
    fn four_shares_sum_to_one_and_come_in_order() {
        let shares = largest(&[0.3, 0.1, 0.05, 0.25, 0.2, 0.1], 4);
        assert_eq!(shares.iter().map(|s| s.0).collect::<Vec<_>>(), [0, 3, 4, 1]);
        assert!((shares.iter().map(|s| s.1).sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(shares.windows(2).all(|w| w[0].1 >= w[1].1));
    }

    #[test]
    fn what_lies_beyond_four_shares_is_small() {
        let shares = largest(&[0.2, 0.15, 0.15, 0.2, 0.15, 0.15], 6);
        assert_eq!(shares.len(), 6);
        assert!((shares.iter().map(|s| s.1).sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(shares[4..].iter().map(|s| s.1).sum::<f64>() < BEYOND_FOUR + 0.0011);
    }
}
