//! Culling boxes: each part's `Aabb`, from the clips now playing or from the pose.

use super::{CharacterParts, ModelPose, PartOf, Playing, PoseOverrides, SkinnedCharacter, WornBy};
use crate::{
    asset::{Character, CharacterPart},
    controller::AnimationController,
};
use bevy::{camera::primitives::Aabb, prelude::*};

/// Boxes of the clips that play, enclosed; rewritten only when other clips play.
pub(super) fn follow_clips(
    assets: Res<Assets<Character>>,
    mut characters: Query<(
        &SkinnedCharacter,
        Ref<AnimationController>,
        &mut Playing,
        &mut CharacterParts,
        (Has<PoseOverrides>, Has<WornBy>),
    )>,
    mut boxes: Query<&mut Aabb, With<PartOf>>,
) {
    for (handle, controller, mut playing, mut parts, (overridden, worn)) in &mut characters {
        if controller.is_changed()
            && let Some(character) = assets.get(handle.id())
        {
            // Perhaps by a listener, since the clocks were advanced.
            playing.bypass_change_detection().look_up(character, &controller);
        }
        if overridden || worn || parts.enclosed == playing.clips() {
            continue;
        }
        let Some(character) = assets.get(handle.id()) else { continue };
        if parts.version != Some(character.version) {
            continue;
        }
        parts.bypass_change_detection().enclosed = playing.clips();
        let (layers, alone) = playing.count();
        for (part, &entity) in character.parts.iter().zip(&parts.entities) {
            let Ok(mut aabb) = boxes.get_mut(entity) else { continue };
            // A mean of two poses can stick out of both, as an arm on its way from low to high.
            *aabb = match (layers, alone) {
                (0, _) => part.rest_bounds,
                (1, Some(clip)) => part.clip_bounds.get(clip).copied().unwrap_or(part.blend_bounds),
                _ => part.blend_bounds,
            };
        }
    }
}

/// Boxes of the pose itself, for characters that were posed by hand.
pub(super) fn follow_pose(
    assets: Res<Assets<Character>>,
    mut characters: Query<
        (&SkinnedCharacter, &ModelPose, &mut CharacterParts),
        (With<PoseOverrides>, Without<WornBy>, Or<(Changed<ModelPose>, Changed<PoseOverrides>)>),
    >,
    mut boxes: Query<&mut Aabb, With<PartOf>>,
) {
    for (handle, pose, mut parts) in &mut characters {
        let Some(character) = assets.get(handle.id()) else { continue };
        if parts.version != Some(character.version) || pose.joints.len() != character.skeleton.len() {
            continue;
        }
        // Whoever takes the overrides away gets the clips' boxes back.
        parts.bypass_change_detection().enclosed = 0;
        for (part, &entity) in character.parts.iter().zip(&parts.entities) {
            if let Ok(mut aabb) = boxes.get_mut(entity) {
                *aabb = posed(part, pose);
            }
        }
    }
}

/// A part's box in a pose.
pub(super) fn posed(part: &CharacterPart, pose: &ModelPose) -> Aabb {
    part.bounds.posed(&pose.joints).map_or(part.rest_bounds, |bounds| Aabb::from_min_max(bounds.min, bounds.max))
}
