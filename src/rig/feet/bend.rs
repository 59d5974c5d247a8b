//! The bend of a leg, which keeps bending the way it does.

use crate::rig::math::{across, fold, unit_arc};
use glam::{Quat, Vec3A};

/// The turns of both bones, in model space, that take the tip to a target; the second one before the first turns the whole
/// leg. The leg keeps bending the way it does, or toward `bend`, of any length, if it is straight.
#[inline(always)]
pub(super) fn bent([a, b, c]: [Vec3A; 3], target: Vec3A, bend: Vec3A) -> Option<[Quat; 2]> {
    let (upper, lower, line, along) = (b - a, c - b, c - a, target - a);
    let [l1, l2, now, distance] = [upper, lower, line, along].map(Vec3A::length);
    let least = 1e-4 * (l1 + l2);
    if !(now.min(distance).min(l1).min(l2) > least && (l1 + l2 + distance).is_finite()) {
        return None;
    }
    let (upper, lower) = (upper * (1.0 / l1), lower * (1.0 / l2));
    let (line, along) = (line * (1.0 / now), along * (1.0 / distance));
    let mut aside = upper - line * upper.dot(line);
    let mut square = aside.length_squared();
    // Nearly straight legs bend as they do at rest.
    if square < 0.01 {
        // Fades in as the leg straightens, so there is no jump at the threshold.
        let straight = 1.0 - 10.0 * square.sqrt();
        let bend = bend.normalize_or_zero();
        aside += (bend - line * bend.dot(line)) * (0.1 * straight * straight);
        square = aside.length_squared();
    }
    let half = 1.0 + line.dot(along);
    // `unit_arc(line, along) * aside`, which is across `along` as `aside` is across `line`.
    let turned = if half > 1e-3 {
        aside - (line + along) * (along.dot(aside) / half)
    } else {
        unit_arc(line, along) * aside
    };
    let side = if square > 1e-12 {
        Some(turned * (1.0 / square.sqrt()))
    } else {
        across(bend, along)
    };
    let side = side.unwrap_or_else(|| along.any_orthonormal_vector());
    Some(fold([upper, lower], [l1, l2], along, distance, side))
}

#[cfg(test)]
#[path = "tests/bend.rs"]
mod tests;
