//! Culling boxes: each part's `Aabb`, from the clips now playing or from the pose.

use super::{CharacterParts, ModelPose, PartOf, PoseOverrides, SkinnedCharacter};
use crate::{
    asset::{Character, CharacterPart},
    controller::AnimationController,
};
use bevy::{camera::primitives::Aabb, prelude::*};
use glam::Vec3A;

/// Share of its size by which a box grows on each side where clips are mixed: a mean of two poses can
/// stick out of both, as an arm on its way from low to high.
const MIXED: f32 = 0.25;

/// Boxes of the clips that play, enclosed; rewritten only when other clips play.
pub(super) fn follow_clips(
    assets: Res<Assets<Character>>,
    mut characters: Query<
        (&SkinnedCharacter, &AnimationController, &mut CharacterParts),
        Without<PoseOverrides>,
    >,
    mut boxes: Query<&mut Aabb, With<PartOf>>,
) {
    for (handle, controller, mut parts) in &mut characters {
        let Some(character) = assets.get(handle.id()) else { continue };
        if parts.version != Some(character.version) {
            continue;
        }
        let mut enclosed = 1;
        let mut layers = 0;
        for layer in controller.layers(character) {
            enclosed = enclosed * 31 + layer.clip as u64 + 1;
            layers += 1;
        }
        if parts.enclosed == enclosed {
            continue;
        }
        parts.bypass_change_detection().enclosed = enclosed;
        for (part, &entity) in character.parts.iter().zip(&parts.entities) {
            let Ok(mut aabb) = boxes.get_mut(entity) else { continue };
            let mut clips = controller.layers(character).filter_map(|layer| part.clip_bounds.get(layer.clip));
            let playing = clips.next().copied().unwrap_or(part.rest_bounds);
            let playing = clips.fold(playing, |a, b| union(&a, b));
            // Joints that a masked or partial clip leaves alone stay where they rest.
            let whole = if layers > 1 { grown(union(&playing, &part.rest_bounds)) } else { playing };
            *aabb = whole;
        }
    }
}

/// Boxes of the pose itself, for characters that were posed by hand.
pub(super) fn follow_pose(
    assets: Res<Assets<Character>>,
    mut characters: Query<
        (&SkinnedCharacter, &ModelPose, &mut CharacterParts),
        (With<PoseOverrides>, Or<(Changed<ModelPose>, Changed<PoseOverrides>)>),
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
fn posed(part: &CharacterPart, pose: &ModelPose) -> Aabb {
    part.bounds.posed(&pose.joints).map_or(part.rest_bounds, |(low, high)| Aabb::from_min_max(low.into(), high.into()))
}

fn union(a: &Aabb, b: &Aabb) -> Aabb {
    Aabb::from_min_max(a.min().min(b.min()).into(), a.max().max(b.max()).into())
}

fn grown(aabb: Aabb) -> Aabb {
    let margin = Vec3A::splat(aabb.half_extents.max_element() * MIXED);
    Aabb { half_extents: aabb.half_extents + margin, ..aabb }
}
