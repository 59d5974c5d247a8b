//! The rig of a character, and changing it at run time.

use super::Character;
use crate::import::{FeetEntry, RigEntries, resolve_constraints, resolve_springs};
use std::sync::Arc;

/// # The rig at run time
impl Character {
    /// Returns the rig as the manifest has it: goals, look-at, feet, constraints, springs and colliders, by names.
    pub fn rig(&self) -> &RigEntries {
        &self.rig
    }

    /// Changes the rig of all instances. Reloading the character's file brings back the manifest's.
    ///
    /// Of the feet, only the limits can change. Joints and colliders that don't exist are left out. Springs that swing go
    /// on if the same joints swing.
    ///
    /// ```no_run
    /// # use bevy::prelude::*;
    /// # use bevy_marionette::{asset::Character, prelude::*};
    /// # #[derive(Resource)] struct Scout(Handle<Character>);
    /// fn soften(scout: Res<Scout>, mut characters: ResMut<Assets<Character>>) {
    ///     if let Some(mut character) = characters.get_mut(&scout.0) {
    ///         let mut rig = character.rig().clone();
    ///         rig.springs.iter_mut().for_each(|entry| entry.frequency *= 0.5);
    ///         character.set_rig(rig);
    ///     }
    /// }
    /// ```
    pub fn set_rig(&mut self, rig: RigEntries) {
        self.loaded_rig
            .get_or_insert_with(|| Box::new(self.rig.clone()));
        let limits = rig.feet.as_ref().map(|entry| entry.limits);
        // The legs were found with the skin, which isn't kept, so only their limits can change.
        if let (Some(limits), Some(feet)) = (limits, &mut self.feet) {
            Arc::make_mut(feet).limits = limits;
        }
        let feet = self.rig.feet.take().map(|of| FeetEntry {
            limits: limits.unwrap_or(of.limits),
            ..of
        });
        // Resolved only if they changed: an editor sets the whole rig for each drag of a slider.
        if (&rig.springs, &rig.colliders) != (&self.rig.springs, &self.rig.colliders) {
            let springs = resolve_springs(&rig.springs, &rig.colliders, &self.skeleton);
            self.springs = Some(springs)
                .filter(|springs| !springs.is_empty())
                .map(Arc::new);
        }
        if rig.constraints != self.rig.constraints {
            let constraints = resolve_constraints(&rig.constraints, &self.skeleton);
            self.constraints = Some(constraints)
                .filter(|constraints| !constraints.is_empty())
                .map(Arc::new);
        }
        if rig.look_at != self.rig.look_at {
            self.look_at = rig
                .look_at
                .as_ref()
                .and_then(|look| look.resolve(&self.skeleton))
                .map(Arc::new);
        }
        self.rig = RigEntries { feet, ..rig };
    }

    /// The rig before [`set_rig`](Self::set_rig): what the manifest and the model's own file say.
    #[cfg(feature = "inspector")]
    pub(crate) fn loaded_rig(&self) -> &RigEntries {
        self.loaded_rig.as_deref().unwrap_or(&self.rig)
    }
}
