//! Culling boxes: each part's `Aabb`, from the clips now playing or from the pose.

use super::{CharacterParts, ModelPose, PartOf, PoseOverrides, SkinnedCharacter, WornBy};
use crate::{
    asset::{Character, CharacterPart},
    controller::AnimationController,
};
use bevy::{camera::primitives::Aabb, prelude::*};

/// Boxes of the clips that play, enclosed; rewritten only when other clips play.
pub(super) fn follow_clips(
    assets: Res<Assets<Character>>,
    mut characters: Query<
        (&SkinnedCharacter, &AnimationController, &mut CharacterParts),
        (Without<PoseOverrides>, Without<WornBy>),
    >,
    mut boxes: Query<&mut Aabb, With<PartOf>>,
) {
    for (handle, controller, mut parts) in &mut characters {
        let Some(character) = assets.get(handle.id()) else { continue };
        if parts.version != Some(character.version) {
            continue;
        }
        let mut enclosed = 1_u64;
        let (mut layers, mut last) = (0, None);
        for layer in controller.layers(character) {
            let masked = u64::from(layer.mask.is_some());
            enclosed = enclosed.wrapping_mul(31).wrapping_add(2 * layer.clip as u64 + masked + 1);
            layers += 1;
            last = layer.mask.is_none().then_some(layer.clip);
        }
        if parts.enclosed == enclosed {
            continue;
        }
        parts.bypass_change_detection().enclosed = enclosed;
        for (part, &entity) in character.parts.iter().zip(&parts.entities) {
            let Ok(mut aabb) = boxes.get_mut(entity) else { continue };
            // A mean of two poses can stick out of both, as an arm on its way from low to high.
            *aabb = match (layers, last) {
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
    part.bounds.posed(&pose.joints).map_or(part.rest_bounds, |(low, high)| Aabb::from_min_max(low, high))
}
