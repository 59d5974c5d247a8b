//! Joints that follow others.

use super::Manifest;
use crate::{
    model::Skeleton,
    rig::{ConstraintKind, Constraints, JointConstraint},
};
use serde::{Deserialize, Serialize};

/// A joint of a [`Manifest`] that follows another, such as a twist bone that takes half of a hand's roll.
///
/// ```ron
/// constraints: [
///     (joint: "forearm_twist.L", source: "hand.L", kind: Roll((1, 0, 0)), weight: 0.5),
///     (joint: "turret", source: "target", kind: Aim((0, 0, -1))),
///     (joint: "gear.2", source: "gear.1", kind: Rotation),
/// ]
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConstraintEntry {
    /// The joint that turns.
    pub joint: String,
    /// The joint that it follows.
    pub source: String,
    /// The way in which it does: by the roll around one of its axes, pointing one of its axes at the source, or by the whole
    /// rotation. Rotations are relative to those at rest.
    pub kind: ConstraintKind,
    /// The share of the turn, 0..=1.
    #[serde(default = "super::one")]
    pub weight: f32,
}

/// Looks up the joints of constraints. Those that don't exist are left out.
pub(crate) fn resolve_constraints(entries: &[ConstraintEntry], skeleton: &Skeleton) -> Constraints {
    let known = entries.iter().filter_map(|entry| {
        Some(JointConstraint {
            joint: skeleton.joint(&entry.joint)?,
            source: skeleton.joint(&entry.source)?,
            kind: entry.kind,
            weight: entry.weight,
        })
    });
    Constraints::new(skeleton, &known.collect::<Vec<_>>())
}

impl Manifest {
    /// Looks up the joints of the [`constraints`](Self::constraints). Those that don't exist are left out.
    #[doc(hidden)]
    pub fn resolve_constraints(&self, skeleton: &Skeleton) -> Constraints {
        resolve_constraints(&self.constraints, skeleton)
    }

    /// Returns the mistakes in the numbers of constraints, each with its path.
    pub(super) fn misstated_constraints(&self) -> impl Iterator<Item = (String, Vec<&str>)> {
        self.constraints.iter().filter_map(|entry| {
            let ConstraintEntry { joint, weight, .. } = entry;
            let message = match entry.kind {
                // False for NaN, too.
                _ if !(0.0..=1.0).contains(weight) => {
                    format!("a weight of {weight}, expected 0 to 1")
                }
                ConstraintKind::Roll(axis) | ConstraintKind::Aim(axis)
                    if !(axis.is_finite() && axis.length_squared() > 1e-12) =>
                {
                    "an axis without a direction".to_owned()
                }
                _ => return None,
            };
            let path = vec!["constraints", "joint", joint];
            Some((format!("the constraint of `{joint}` has {message}"), path))
        })
    }
}
