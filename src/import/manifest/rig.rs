//! The rig: what of a manifest acts on the pose after the clips.

use super::{
    ColliderEntry, ConstraintEntry, FeetEntry, GoalEntry, LookAtEntry, Manifest, SpringEntry,
};
use std::collections::BTreeMap;

/// The entries of a [`Manifest`] that act on the pose after the clips.
///
/// ```
/// # use bevy_marionette::import::RigEntries;
/// /// Returns what a rig does on the lowest settings of a game: only hands that reach for things.
/// fn lowest(rig: &RigEntries) -> RigEntries {
///     RigEntries { goals: rig.goals.clone(), ..RigEntries::default() }
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RigEntries {
    /// Limbs that can reach for goals, by name.
    pub goals: BTreeMap<String, GoalEntry>,
    /// Joints that turn toward what the character looks at.
    pub look_at: Option<LookAtEntry>,
    /// Legs that adapt to uneven ground.
    pub feet: Option<FeetEntry>,
    /// Joints that follow others.
    pub constraints: Vec<ConstraintEntry>,
    /// Joints that swing.
    pub springs: Vec<SpringEntry>,
    /// Shapes that springs stay outside of, by name.
    pub colliders: BTreeMap<String, ColliderEntry>,
}

impl Manifest {
    /// Returns a copy of the entries that act on the pose after the clips.
    pub fn rig(&self) -> RigEntries {
        RigEntries {
            goals: self.goals.clone(),
            look_at: self.look_at.clone(),
            feet: self.feet.clone(),
            constraints: self.constraints.clone(),
            springs: self.springs.clone(),
            colliders: self.colliders.clone(),
        }
    }
}
