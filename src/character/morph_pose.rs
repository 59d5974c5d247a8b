//! Morph weights of a character.

use crate::model::MorphIndex;
use bevy::{
    ecs::{lifecycle::HookContext, world::DeferredWorld},
    prelude::*,
};

/// A character's current morph weights: those of its clips, with its [`Expressions`].
///
/// Characters whose asset has morph targets have this component, and no others. It is updated while the character is in view or
/// has [`Expressions`], after [`CharacterSystems::EvaluateLate`], and changes only if a weight does.
///
/// [`Expressions`]: super::Expressions
/// [`CharacterSystems::EvaluateLate`]: super::CharacterSystems::EvaluateLate
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{asset::Character, character::MorphPose, prelude::*};
/// fn say_how_open(faces: Query<(&SkinnedCharacter, &MorphPose), Changed<MorphPose>>, assets: Res<Assets<Character>>) {
///     for (handle, face) in &faces {
///         let Some(character) = assets.get(&handle.0) else { continue };
///         info!("{:?}", character.skeleton.morphs().morph("jawOpen").and_then(|open| face.weight(open)));
///     }
/// }
/// ```
#[derive(Component, Clone, Debug, Default, Reflect)]
#[reflect(Component, Clone, Default)]
pub struct MorphPose {
    /// One weight for each name of the skeleton's [`morphs`](crate::model::Skeleton::morphs). Empty until the first update.
    #[reflect(skip_serializing, default)]
    pub weights: Vec<f32>,
    /// Revision of the layers and version of the asset that they were made from.
    #[reflect(ignore)]
    pub(super) made_from: (u64, u64),
    /// Where the character looks by expressions.
    #[reflect(ignore)]
    pub(super) gaze: Vec2,
    /// For worn characters: the body and the versions of both assets, and the body's target of each name.
    #[reflect(ignore)]
    pub(super) of_body: Option<((Entity, u64, u64), Vec<Option<MorphIndex>>)>,
}

impl MorphPose {
    /// Returns the weight of a morph target, or `None` if there is no such target.
    pub fn weight(&self, morph: MorphIndex) -> Option<f32> {
        self.weights.get(usize::from(morph)).copied()
    }

    /// Makes the weights out of date.
    pub(super) fn forget(&mut self) {
        // No asset has version 0.
        self.made_from.1 = 0;
    }
}

/// Makes weights out of date when a component that changes them is removed.
pub(super) fn forget(mut world: DeferredWorld, removed: HookContext) {
    if let Some(mut pose) = world.get_mut::<MorphPose>(removed.entity) {
        pose.bypass_change_detection().forget();
    }
}
