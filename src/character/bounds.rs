//! Culling boxes: each part's `Aabb`, from the clips that play or from the pose.

use super::{
    components::{CharacterParts, ModelPose, PartOf, PoseOverrides, SkinnedCharacter},
    layers::ActiveLayers,
    worn::WornBy,
};
use crate::{asset::Character, controller::AnimationController, rig::RigState};
use bevy::{camera::primitives::Aabb, prelude::*};

/// Sets the boxes to enclose the clips that play. They are only written when other clips play, or additive ones
/// with a weight of more than the box was made for.
pub(super) fn follow_clips(
    assets: Res<Assets<Character>>,
    mut characters: Query<(
        &SkinnedCharacter,
        Ref<AnimationController>,
        &mut ActiveLayers,
        &mut CharacterParts,
        (Has<PoseOverrides>, Has<RigState>, Has<WornBy>),
    )>,
    mut boxes: Query<&mut Aabb, With<PartOf>>,
) {
    for (handle, controller, mut layers, mut parts, (overridden, rigged, worn)) in &mut characters {
        if controller.is_changed()
            && let Some(character) = assets.get(handle.id())
        {
            // An observer may have changed it since the controllers were advanced.
            layers.bypass_change_detection().look_up(character, &controller);
        }
        if overridden || rigged || worn || parts.enclosed == layers.clip_set() {
            continue;
        }
        let Some(character) = assets.get(handle.id()) else { continue };
        if parts.version != Some(character.version) {
            continue;
        }
        parts.bypass_change_detection().enclosed = layers.clip_set();
        let (count, single) = layers.count();
        let additive = layers.has_additive().then(|| character.reach.with_additive(layers.additive_weights()));
        for (part, &entity) in character.parts.iter().zip(&parts.entities) {
            let Ok(mut aabb) = boxes.get_mut(entity) else { continue };
            // A mix of two poses can stick out of both, like an arm on its way up.
            *aabb = match (count, single, &additive) {
                (0, ..) => part.rest_bounds,
                // What is added comes on top of what is blended.
                (.., Some(reach)) => {
                    part.bounds.within(reach).map_or(part.blend_bounds, |b| Aabb::from_min_max(b.min, b.max))
                }
                (1, Some(clip), _) => part.clip_bounds.get(clip).copied().unwrap_or(part.blend_bounds),
                _ => part.blend_bounds,
            };
        }
    }
}

/// Sets the boxes of characters with [`PoseOverrides`] or a rig from their pose.
pub(super) fn follow_pose(
    assets: Res<Assets<Character>>,
    mut characters: Query<
        (&SkinnedCharacter, &ModelPose, &mut CharacterParts),
        (Or<(With<PoseOverrides>, With<RigState>)>, Without<WornBy>, Or<(Changed<ModelPose>, Changed<PoseOverrides>)>),
    >,
    mut boxes: Query<&mut Aabb, With<PartOf>>,
) {
    for (handle, pose, mut parts) in &mut characters {
        let Some(character) = assets.get(handle.id()) else { continue };
        if parts.version != Some(character.version) || pose.joints.len() != character.skeleton.len() {
            continue;
        }
        // When the overrides or the rig are removed, the clips' boxes are set again.
        parts.bypass_change_detection().enclosed = 0;
        for (part, &entity) in character.parts.iter().zip(&parts.entities) {
            if let Ok(mut aabb) = boxes.get_mut(entity) {
                *aabb = pose.bounds_of(part);
            }
        }
    }
}
