//! The bend of a leg: a limb of two bones, solved exactly and with little work.

use crate::rig::math::across;
use glam::{Quat, Vec3};

/// The turns of both bones, in model space, that take the tip to a target. The leg keeps bending the way it does, or
/// toward `bend` if it is straight.
pub(super) fn bent([a, b, c]: [Vec3; 3], target: Vec3, bend: Vec3) -> Option<[Quat; 2]> {
    let (upper, lower, line, along) = (b - a, c - b, c - a, target - a);
    let [l1, l2, now, distance] = [upper, lower, line, along].map(Vec3::length);
    let least = 1e-4 * (l1 + l2);
    if !(now.min(distance).min(l1).min(l2) > least && (l1 + l2 + distance).is_finite()) {
        return None;
    }
    let (upper, lower, line, along) = (upper / l1, lower / l2, line / now, along / distance);
    let distance = distance.min(l1 + l2).max((l1 - l2).abs()).max(least);
    let mut aside = upper - line * upper.dot(line);
    // Nearly straight legs bend as they do at rest.
    if aside.length_squared() < 0.01 {
        let straight = 1.0 - 10.0 * aside.length();
        aside += bend * (0.1 * straight * straight);
    }
    let aside = unit_arc(line, along) * aside;
    let side = aside - along * aside.dot(along);
    let side = side.try_normalize().or_else(|| across(bend, along)).unwrap_or_else(|| along.any_orthonormal_vector());
    // The angle at the root, by the law of cosines.
    let cos = ((l1 * l1 + distance * distance - l2 * l2) / (2.0 * l1 * distance)).clamp(-1.0, 1.0);
    let new_upper = along * cos + side * (1.0 - cos * cos).sqrt();
    let new_lower = (along * distance - new_upper * l1).try_normalize()?;
    let mut first = unit_arc(upper, new_upper);
    // The leg's plane turns with it, so that the knee keeps bending about its own hinge.
    let hinge = upper.cross(lower);
    let bent = hinge.length();
    if bent > 1e-3 {
        let (hinge, new_hinge) = (first * (hinge / bent), side.cross(along));
        let turn = new_upper * hinge.cross(new_hinge).dot(new_upper);
        let half = Quat::from_xyzw(turn.x, turn.y, turn.z, 1.0 + hinge.dot(new_hinge));
        let turn = if half.length_squared() > 1e-9 { half } else { Quat::from_vec4(new_upper.extend(0.0)) };
        first = (turn * first).normalize();
    }
    Some([first, unit_arc(first * lower, new_lower)])
}

/// The shortest rotation from one unit vector to another.
pub(super) fn unit_arc(from: Vec3, to: Vec3) -> Quat {
    let (axis, half) = (from.cross(to), 1.0 + from.dot(to));
    if half < 1e-5 {
        return Quat::from_rotation_arc(from, to);
    }
    Quat::from_xyzw(axis.x, axis.y, axis.z, half).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tip_reaches_every_target_and_the_knee_keeps_its_side() {
        let mut random = fastrand::Rng::with_seed(9);
        let mut vector = || Vec3::from_array([0; 3].map(|_| random.f32() * 2.0 - 1.0));
        for _ in 0..2000 {
            let [a, b, c] = [Vec3::ZERO, vector(), vector()];
            let (l1, l2) = (b.length(), c.distance(b));
            let target = vector().normalize() * (l1 + l2).min((l1 - l2).abs() + 0.7 * l1.min(l2));
            let Some([first, second]) = bent([a, b, c], target, Vec3::Z) else { continue };
            let knee = first * b;
            let tip = knee + second * (first * (c - b));
            assert!(tip.distance(target) < 1e-4, "{a} {b} {c} {target}: {tip}");
            let (before, after) = (b.cross(c - b), knee.cross(tip - knee));
            if before.length() > 0.05 * l1 * l2 && after.length() > 0.05 * l1 * l2 {
                assert!((first * before.normalize()).dot(after.normalize()) > 0.999, "the knee is a hinge");
            }
        }
    }

    #[test]
    fn nothing_that_is_odd_has_a_bend_that_is_not_finite() {
        let odd = [Vec3::ZERO, Vec3::X, Vec3::NAN, Vec3::INFINITY, Vec3::MAX, Vec3::splat(1e-30), Vec3::X * 2.0];
        for points in odd.iter().flat_map(|&a| odd.iter().map(move |&b| [a, b, Vec3::X * 2.0])) {
            for target in odd {
                for turn in bent(points, target, Vec3::ZERO).into_iter().flatten() {
                    assert!(turn.is_finite() && (turn.length() - 1.0).abs() < 1e-4, "{points:?} {target}: {turn}");
                }
            }
        }
    }
}
