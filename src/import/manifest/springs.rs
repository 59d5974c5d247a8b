//! Joints that swing, and what they stay outside of.

use super::Manifest;
use crate::{
    model::Skeleton,
    rig::{Collider, ColliderKind, SpringChain, SpringSettings, Springs},
};
use glam::Vec3;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Joints of a [`Manifest`] that swing: hair, ears, a tail, a scarf. The numbers are those of [`SpringSettings`].
///
/// ```ron
/// springs: [
///     (joints: ["ear.L", "ear.R"], frequency: 4, damping: 0.2),
///     (joints: ["braid"], frequency: 1.5, gravity: 0.5, radius: 0.02, max_angle: 60, colliders: ["back"]),
/// ],
/// colliders: { "back": (joint: "spine", center: (0, 0, -0.05), end: (0, 0.3, -0.05), radius: 0.12) },
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpringEntry {
    /// The first joint of each chain. All joints below swing, too.
    pub joints: Vec<String>,
    /// Stiffness, as the frequency in Hz at which bones swing, 0..=60.
    #[serde(default = "frequency")]
    pub frequency: f32,
    /// Damping ratio of the swing: at 0.2 bones swing a few times, at 1 not even once.
    #[serde(default = "damping")]
    pub damping: f32,
    /// The share of gravity that acts. At 0, a character that stands still keeps its pose.
    #[serde(default)]
    pub gravity: f32,
    /// Rate at which air drags the joints along, per second, 0..=1000.
    #[serde(default = "drag")]
    pub drag: f32,
    /// The distance that the bones' ends keep from colliders, in model units after scaling.
    #[serde(default)]
    pub radius: f32,
    /// The largest angle between a bone and its animated direction, in degrees; 180 for no limit.
    #[serde(default = "max_angle")]
    pub max_angle: f32,
    /// The names of the [`colliders`](Manifest::colliders) that the bones' ends stay outside of.
    #[serde(default)]
    pub colliders: Vec<String>,
}

/// A sphere, a capsule, or a plane of a [`Manifest`] that springs stay on one side of.
///
/// ```ron
/// colliders: {
///     "skull": (joint: "head", center: (0, 0.13, 0), radius: 0.11),
///     // A capsule along the thigh, for a skirt:
///     "thigh.L": (joint: "thigh.L", end: (0, 0.4, 0), radius: 0.09),
///     "back": (joint: "spine", kind: Plane, center: (0, 0, 0.1), end: (0, 0, 1)),
/// },
/// springs: [(joints: ["skirt.L"], colliders: ["thigh.L"])],
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColliderEntry {
    /// The side on which springs stay: outside of a sphere or capsule, inside of it, or in front of a plane.
    #[serde(default, skip_serializing_if = "is_outside")]
    pub kind: ColliderKind,
    /// The joint that it moves with.
    pub joint: String,
    /// The center of a sphere, or of a capsule's first end, in the joint's space, in model units after scaling. A point of a
    /// plane.
    #[serde(default)]
    pub center: Vec3,
    /// The center of a capsule's other end. A plane faces from its center to there.
    #[serde(default)]
    pub end: Option<Vec3>,
    /// The radius in model units after scaling. A plane has none.
    #[serde(default)]
    pub radius: f32,
}

impl SpringEntry {
    /// Springs at these joints with [`SpringSettings`]' default numbers.
    pub fn new<J: Into<String>>(joints: impl IntoIterator<Item = J>) -> Self {
        let SpringSettings {
            frequency,
            damping,
            gravity,
            drag,
            radius,
            max_angle,
        } = SpringSettings::default();
        let joints = joints.into_iter().map(Into::into).collect();
        let max_angle = max_angle.to_degrees();
        Self {
            joints,
            frequency,
            damping,
            gravity,
            drag,
            radius,
            max_angle,
            colliders: Vec::new(),
        }
    }

    /// Returns the spring's numbers, with the angle in radians.
    pub(crate) fn settings(&self) -> SpringSettings {
        let Self {
            frequency,
            damping,
            gravity,
            drag,
            radius,
            max_angle,
            ..
        } = *self;
        SpringSettings {
            frequency,
            damping,
            gravity,
            drag,
            radius,
            max_angle: max_angle.to_radians(),
        }
    }
}

/// Looks up the joints and colliders of springs. Those that don't exist are left out.
pub(crate) fn resolve_springs(
    springs: &[SpringEntry],
    colliders: &BTreeMap<String, ColliderEntry>,
    skeleton: &Skeleton,
) -> Springs {
    let (names, colliders): (Vec<&str>, Vec<Collider>) = colliders
        .iter()
        .filter_map(|(name, entry)| {
            let ColliderEntry {
                kind,
                center,
                end,
                radius,
                ..
            } = *entry;
            Some((
                name.as_str(),
                Collider {
                    kind,
                    joint: skeleton.joint(&entry.joint)?,
                    center,
                    end,
                    radius,
                },
            ))
        })
        .unzip();
    let chains = springs.iter().flat_map(|entry| {
        let (settings, names) = (entry.settings(), &names);
        // The names are those of a map, in order.
        let indices = entry
            .colliders
            .iter()
            .filter_map(move |name| names.binary_search(&name.as_str()).ok());
        let colliders: Vec<u16> = indices
            .filter_map(|index| u16::try_from(index).ok())
            .collect();
        let roots = entry
            .joints
            .iter()
            .filter_map(|joint| skeleton.joint(joint));
        roots.map(move |root| SpringChain {
            root,
            settings,
            colliders: colliders.clone(),
        })
    });
    Springs::new(skeleton, &chains.collect::<Vec<_>>(), &colliders)
}

impl Manifest {
    /// Looks up the joints and colliders of the [`springs`](Self::springs). Those that don't exist are left out.
    #[doc(hidden)]
    pub fn resolve_springs(&self, skeleton: &Skeleton) -> Springs {
        resolve_springs(&self.springs, &self.colliders, skeleton)
    }

    /// Returns the mistakes in the numbers of springs and colliders, each with its path.
    pub(super) fn misstated_springs(&self) -> impl Iterator<Item = (String, Vec<&str>)> {
        let springs = self.springs.iter().filter_map(|entry| {
            let first = entry.joints.first().map_or("springs", String::as_str);
            let SpringEntry {
                frequency,
                damping,
                gravity,
                drag,
                radius,
                max_angle,
                ..
            } = *entry;
            // False for NaN, too.
            let within = |value: f32, most: f32| (0.0..=most).contains(&value);
            let message = match () {
                () if !within(frequency, 60.0) => {
                    format!("a frequency of {frequency}, expected 0 to 60 Hz")
                }
                () if !within(damping, 100.0) => {
                    format!("a damping of {damping}, expected 0 to 100")
                }
                // Negative gravity lets hair float.
                () if !within(gravity.abs(), 1e3) => {
                    format!("a gravity of {gravity}, expected a share such as 0.5")
                }
                () if !within(drag, 1e3) => format!("a drag of {drag}, expected 0 to 1000"),
                () if !within(radius, f32::MAX) => {
                    format!("a radius of {radius}, expected 0 or more")
                }
                () if !within(max_angle, 180.0) => {
                    format!("a max_angle of {max_angle}, expected 0 to 180 degrees")
                }
                () => return None,
            };
            let path = vec!["springs", "joints", first];
            Some((format!("the springs of `{first}` have {message}"), path))
        });
        let colliders = self.colliders.iter().filter_map(|(name, entry)| {
            let finite = entry.center.is_finite() && entry.end.is_none_or(|end| end.is_finite());
            let is_plane = entry.kind == ColliderKind::Plane;
            let message = match entry.radius {
                radius if !(is_plane || radius > 0.0 && radius.is_finite()) => {
                    format!("a radius of {radius}, expected above 0")
                }
                _ if !finite => "an end that is not finite".to_owned(),
                _ if is_plane && entry.end.is_none_or(|end| end == entry.center) => {
                    "no direction, expected an `end` in front of the plane".to_owned()
                }
                _ => return None,
            };
            let path = vec!["colliders", name];
            Some((format!("collider `{name}` has {message}"), path))
        });
        springs.chain(colliders)
    }
}

fn is_outside(kind: &ColliderKind) -> bool {
    *kind == ColliderKind::Outside
}

fn frequency() -> f32 {
    SpringSettings::default().frequency
}

fn damping() -> f32 {
    SpringSettings::default().damping
}

fn drag() -> f32 {
    SpringSettings::default().drag
}

fn max_angle() -> f32 {
    180.0
}

#[cfg(test)]
#[path = "tests/springs.rs"]
mod tests;
