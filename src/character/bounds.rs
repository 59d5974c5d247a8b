//! Culling boxes: each part's `Aabb`, from the clips that play or from the pose.

use super::{
    CharacterSystems,
    components::{CharacterParts, ModelPose, PartOf, PoseOverrides, SkinnedCharacter},
    detail::{Detail, rig_acts},
    layers::ActiveLayers,
    pose_state::RigsAct,
    systems::SolveStep,
    threads::trim,
    worn::WornBy,
};
use crate::{asset::Character, controller::AnimationController, rig::RigState};
use bevy::{camera::primitives::Aabb, prelude::*, utils::Parallel};

/// Characters that began to play other clips than their boxes enclose, or additive ones with a weight of more than the
/// boxes were made for; as found by each thread.
#[derive(Resource, Default)]
pub(super) struct OutgrownBoxes(pub(super) Parallel<Vec<Entity>>);

impl OutgrownBoxes {
    /// Takes the characters out.
    fn drain(&mut self) -> impl Iterator<Item = Entity> {
        self.0.iter_mut().flat_map(|list| {
            let count = list.len();
            trim(list, count);
            list.drain(..)
        })
    }
}

/// Adds what sets culling boxes.
pub(super) fn plugin(app: &mut App) {
    app.init_resource::<OutgrownBoxes>().add_systems(
        PostUpdate,
        (
            follow_clips
                .run_if(any_with_component::<SkinnedCharacter>)
                .in_set(CharacterSystems::Bounds),
            follow_pose
                .run_if(any_with_component::<ModelPose>)
                .in_set(SolveStep::Enclose),
        ),
    );
}

/// Sets the boxes of such characters to enclose their active clips.
pub(super) fn follow_clips(
    (assets, rigs): (Res<Assets<Character>>, Option<Res<RigsAct>>),
    mut outgrown: ResMut<OutgrownBoxes>,
    changed: Query<Entity, Or<(Changed<AnimationController>, Changed<CharacterParts>)>>,
    mut characters: Query<(
        &SkinnedCharacter,
        Ref<AnimationController>,
        &mut ActiveLayers,
        &CharacterParts,
        (
            Has<PoseOverrides>,
            Has<RigState>,
            Has<WornBy>,
            Option<&Detail>,
        ),
    )>,
    mut boxes: Query<&mut Aabb, With<PartOf>>,
) {
    // An observer may have changed a controller since it was advanced, and new parts may get here before it is.
    outgrown.0.borrow_local_mut().extend(&changed);
    for entity in outgrown.drain() {
        let Ok((handle, controller, mut layers, parts, (overridden, rigged, worn, detail))) =
            characters.get_mut(entity)
        else {
            continue;
        };
        let Some(character) = assets.get(handle.id()) else {
            continue;
        };
        let layers = layers.bypass_change_detection();
        layers.catch_up(character, &controller);
        let is_current = parts.version == Some(character.version);
        let acts = rig_acts(rigged, rigs.as_deref(), detail);
        if overridden || acts || worn || !is_current || !layers.has_outgrown_boxes() {
            continue;
        }
        layers.enclose();
        let (count, single) = layers.count();
        let additive = layers.has_additive(character).then(|| {
            character
                .reach
                .with_additive(layers.additive_weights(character))
        });
        let alone = match (count, single) {
            (1, Some(clip)) if additive.is_none() => character.clip_bounds(clip),
            _ => None,
        };
        for (at, (part, &entity)) in character.parts.iter().zip(&parts.entities).enumerate() {
            let Ok(mut aabb) = boxes.get_mut(entity) else {
                continue;
            };
            // A mix of two poses can stick out of both, like an arm on its way up.
            *aabb = match (count, &additive) {
                (0, _) => part.rest_bounds,
                // Additive layers come on top of the blend.
                (_, Some(reach)) => part
                    .bounds
                    .within(reach)
                    .map_or(part.blend_bounds, |b| Aabb::from_min_max(b.min, b.max)),
                _ => {
                    let over_clip = alone.and_then(|boxes| boxes.get(at));
                    over_clip.copied().unwrap_or(part.blend_bounds)
                }
            };
        }
    }
}

/// Sets the boxes of characters with [`PoseOverrides`] or a rig from their pose.
pub(super) fn follow_pose(
    (assets, rigs): (Res<Assets<Character>>, Option<Res<RigsAct>>),
    mut characters: Query<
        (
            &SkinnedCharacter,
            &ModelPose,
            &CharacterParts,
            &mut ActiveLayers,
            (Has<PoseOverrides>, Has<RigState>, Option<&Detail>),
        ),
        (
            Or<(With<PoseOverrides>, With<RigState>)>,
            Without<WornBy>,
            Or<(Changed<ModelPose>, Changed<PoseOverrides>)>,
        ),
    >,
    mut boxes: Query<&mut Aabb, With<PartOf>>,
) {
    for (handle, pose, parts, mut layers, (overridden, rigged, detail)) in &mut characters {
        if !overridden && !rig_acts(rigged, rigs.as_deref(), detail) {
            // The clips' boxes enclose the pose.
            continue;
        }
        let Some(character) = assets.get(handle.id()) else {
            continue;
        };
        if parts.version != Some(character.version) || pose.joints.len() != character.skeleton.len()
        {
            continue;
        }
        // When the overrides or the rig are removed, the clips' boxes are set again.
        layers.bypass_change_detection().forget_boxes();
        for (part, &entity) in character.parts.iter().zip(&parts.entities) {
            if let Ok(mut aabb) = boxes.get_mut(entity) {
                *aabb = pose.bounds_of(part);
            }
        }
    }
}
