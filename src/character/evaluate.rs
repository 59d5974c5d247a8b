//! Poses: from what a controller plays to joint matrices.

use super::{CharacterParts, ModelPose, PoseOverrides, SkinnedCharacter, Teleported, socket::Carries};
use crate::{
    asset::Character,
    controller::AnimationController,
    pose::{Evaluator, Layer},
};
use bevy::{camera::visibility::ViewVisibility, prelude::*, utils::Parallel};
use std::{
    collections::hash_map::DefaultHasher,
    hash::{Hash, Hasher},
};

/// Whose poses are evaluated: everything the job reads and writes.
type Posing<'w> = (
    &'w SkinnedCharacter,
    &'w AnimationController,
    Option<Ref<'w, PoseOverrides>>,
    &'w mut ModelPose,
);

/// Poses characters that carry something or are posed by hand, seen or not.
pub(super) fn early(
    assets: Res<Assets<Character>>,
    mut scratch: Local<Parallel<Evaluator>>,
    mut characters: Query<Posing, Or<(With<Carries>, With<PoseOverrides>)>>,
) {
    let scratch = &*scratch;
    characters.par_iter_mut().for_each_init(
        || scratch.borrow_local_mut(),
        |evaluator, (handle, controller, overrides, pose)| {
            if let Some(character) = assets.get(handle.id()) {
                evaluate(evaluator, character, controller, overrides, pose);
            }
        },
    );
}
