//! Taking and restoring snapshots of characters.

use super::{Expressions, IdleEyes, rollback::RollbackEvents, root_motion::RootMotion};
use crate::{
    controller::AnimationController,
    record::{CharacterSnapshot, FaceNote},
    rig::RigState,
};
use bevy::{ecs::query::QueryData, prelude::*};

/// All of a character that plays and acts, for a [`CharacterSnapshot`]: query it, like a component.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{character::WholeCharacter, prelude::*, record::CharacterSnapshot};
/// #[derive(Component)]
/// struct Saved(CharacterSnapshot, Transform);
///
/// fn save(mut characters: Query<(WholeCharacter, &Transform, &mut Saved)>) {
///     for (character, transform, mut saved) in &mut characters {
///         *saved = Saved(character.snapshot(), *transform);
///     }
/// }
///
/// fn roll_back(mut characters: Query<(WholeCharacter, &mut Transform, &Saved)>) {
///     for (mut character, mut transform, saved) in &mut characters {
///         character.restore(&saved.0);
///         *transform = saved.1;
///     }
/// }
/// ```
///
/// Take it where characters advance, such as in `FixedUpdate`: between fixed steps, a `Transform` is where the character is
/// shown. To hear each event once though the past is played again, add [`RollbackEvents`].
#[derive(QueryData)]
#[query_data(mutable)]
pub struct WholeCharacter {
    controller: &'static mut AnimationController,
    root_motion: Option<&'static mut RootMotion>,
    rig: Option<&'static mut RigState>,
    expressions: Option<&'static mut Expressions>,
    eyes: Option<&'static mut IdleEyes>,
    events: Option<&'static mut RollbackEvents>,
}

impl WholeCharacterReadOnlyItem<'_, '_> {
    /// Returns all that the character plays and does at present.
    pub fn snapshot(&self) -> CharacterSnapshot {
        snapshot(
            self.controller,
            self.root_motion,
            self.rig,
            self.expressions,
            self.eyes,
        )
    }
}

impl WholeCharacterItem<'_, '_> {
    /// Returns all that the character plays and does at present.
    pub fn snapshot(&self) -> CharacterSnapshot {
        snapshot(
            &self.controller,
            self.root_motion.as_deref(),
            self.rig.as_deref(),
            self.expressions.as_deref(),
            self.eyes.as_deref(),
        )
    }

    /// Returns to a snapshot of this character, or of another of the same asset. Advanced by the same steps as it was then, the
    /// character does the same, to the bit. Numbers of tracks that were added since are given out again.
    ///
    /// Components that the character lacks are left out, and those that the snapshot lacks start anew.
    pub fn restore(&mut self, snapshot: &CharacterSnapshot) {
        let CharacterSnapshot {
            controller,
            root_motion,
            rig,
            face,
        } = snapshot;
        // The numbers of tracks, too: peers that went back have to equal those that didn't.
        self.controller.clone_from(controller);
        if let Some(motion) = &mut self.root_motion {
            **motion = root_motion.map_or_else(RootMotion::default, RootMotion::of_note);
        }
        if let Some(own) = &mut self.rig {
            match rig {
                Some(rig) => (**own).clone_from(rig),
                None => **own = RigState::default(),
            }
        }
        if let Some(expressions) = &mut self.expressions {
            **expressions = Expressions::of_note(&face.expressions);
        }
        if let (Some(own), Some(eyes)) = (&mut self.eyes, &face.eyes) {
            **own = IdleEyes::of_note(eyes);
        }
        if let Some(events) = &mut self.events {
            events.return_to(controller.time());
        }
    }
}

fn snapshot(
    controller: &AnimationController,
    root_motion: Option<&RootMotion>,
    rig: Option<&RigState>,
    expressions: Option<&Expressions>,
    eyes: Option<&IdleEyes>,
) -> CharacterSnapshot {
    CharacterSnapshot {
        controller: controller.clone(),
        root_motion: root_motion.map(RootMotion::note),
        rig: rig.map(|rig| Box::new(rig.clone())),
        face: FaceNote {
            expressions: expressions.map_or(Vec::new(), Expressions::note),
            eyes: eyes.map(IdleEyes::note),
        },
    }
}
