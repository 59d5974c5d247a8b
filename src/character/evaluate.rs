//! Poses: from what a controller plays to joint matrices.

use super::{Carries, CharacterParts, ModelPose, PoseOverrides, SkinnedCharacter, Teleported, Wears, WornBy};
use crate::{
    asset::Character,
    controller::{AnimationController, Layer},
    pose::{ClipLayer, Evaluate, Scratch},
};
use bevy::{camera::visibility::ViewVisibility, ecs::query::QueryData, prelude::*, utils::Parallel};
use glam::Vec3A;
use std::hash::{BuildHasher, Hasher};

/// All that the job reads and writes.
#[derive(QueryData)]
#[query_data(mutable)]
pub(super) struct Posing {
    handle: &'static SkinnedCharacter,
    controller: &'static AnimationController,
    overrides: Option<Ref<'static, PoseOverrides>>,
    pose: &'static mut ModelPose,
}

/// Characters whose pose is wanted before transforms are propagated, seen or not.
type IsEarly = (Or<(With<Carries>, With<PoseOverrides>, With<Wears>)>, Without<WornBy>);

/// Whether something else poses a character: it carries, it wears, it is worn.
type IsPosedAlready = (Has<Carries>, Has<Wears>, Has<WornBy>);

/// Poses characters that carry or wear something, or whose box comes from their pose.
pub(super) fn early(
    assets: Res<Assets<Character>>,
    mut scratch: Local<Parallel<Scratch>>,
    mut characters: Query<Posing, IsEarly>,
) {
    let scratch = &mut *scratch;
    characters
        .par_iter_mut()
        .for_each_init(|| scratch.borrow_local_mut(), |scratch, item| evaluate(&assets, item, scratch));
}

/// Poses the other characters that some view can see, and notices who jumped.
pub(super) fn late(
    assets: Res<Assets<Character>>,
    mut scratch: Local<Parallel<Scratch>>,
    mut characters: Query<(Posing, &mut CharacterParts, &GlobalTransform, Has<Teleported>, IsPosedAlready)>,
    visible: Query<&ViewVisibility>,
) {
    let scratch = &mut *scratch;
    characters.par_iter_mut().for_each_init(
        || scratch.borrow_local_mut(),
        |scratch, (item, mut parts, transform, teleported, posed)| {
            let in_view = |&part: &Entity| visible.get(part).is_ok_and(|visibility| visibility.get());
            if !parts.entities.iter().any(in_view) {
                return;
            }
            notice_jump(parts.bypass_change_detection(), transform, teleported);
            if posed == (false, false, false) && item.overrides.is_none() {
                evaluate(&assets, item, scratch);
            }
        },
    );
}

fn notice_jump(parts: &mut CharacterParts, transform: &GlobalTransform, teleported: bool) {
    let affine = transform.affine();
    let place = affine.transform_point3a(parts.center);
    let size = parts.radius * affine.matrix3.x_axis.length();
    let far = |last: Vec3A| last.distance_squared(place) > (4.0 * size) * (4.0 * size);
    parts.jumped = teleported || parts.last_place.is_none_or(far);
    parts.last_place = Some(place);
}

/// Layers that fit on the stack; a character that plays more takes them from the heap.
const FEW: usize = 8;

fn evaluate(assets: &Assets<Character>, mut item: PosingItem, scratch: &mut Scratch) {
    let Some(character) = assets.get(item.handle.id()) else { return };
    let controller = item.controller;
    let changed = item.overrides.as_ref().is_some_and(|overrides| overrides.is_changed());
    let overrides = item.overrides.as_ref().map_or(&[][..], |overrides| &overrides.0);
    let mut playing = fingerprint(character, controller);
    if !overrides.is_empty() {
        // So that a pose by hand is not taken for the clips' own when the hand is gone.
        playing = !playing;
    }
    if playing == item.pose.evaluated && !changed && item.pose.joints.len() == character.skeleton.len() {
        return;
    }
    let mut layers = controller.layers(character).filter_map(|layer| {
        let clip = character.clips.get(layer.clip)?;
        // A mask by an unknown name admits nothing: better a still arm than a wrong one.
        let mask = match layer.mask {
            Some(name) => Some(&**character.masks.get(name)?),
            None => None,
        };
        let Layer { time, weight, priority, blend, .. } = layer;
        Some(ClipLayer { clip, time, weight, mask, priority, mode: blend })
    });
    let pose = &mut *item.pose;
    let mut run = |layers: &[ClipLayer]| {
        let priority_blend = controller.priority_blend();
        Evaluate { priority_blend, overrides, ..Evaluate::new(&character.skeleton, layers) }.run(scratch);
        pose.joints.clear();
        pose.joints.extend_from_slice(scratch.model());
        pose.evaluated = playing;
    };
    let Some(first) = layers.next() else { return run(&[]) };
    let mut few = [first; FEW];
    let mut count = 1;
    for slot in &mut few[1..] {
        let Some(layer) = layers.next() else { break };
        *slot = layer;
        count += 1;
    }
    match layers.next() {
        None => run(&few[..count]),
        Some(more) => {
            let all: Vec<_> = few.into_iter().chain([more]).chain(layers).collect();
            run(&all);
        }
    }
}

/// A number that changes when anything that shapes the pose does.
fn fingerprint(character: &Character, controller: &AnimationController) -> u64 {
    let mut hasher = bevy::platform::hash::FixedHasher.build_hasher();
    hasher.write_u64(character.version);
    hasher.write_u32(controller.priority_blend().to_bits());
    for layer in controller.layers(character) {
        hasher.write_usize(layer.clip);
        hasher.write_u64(layer.time.to_bits());
        hasher.write_u32(layer.weight.to_bits());
        hasher.write_u8(layer.priority as u8 + 2 * layer.blend as u8);
        hasher.write(layer.mask.unwrap_or_default().as_bytes());
    }
    // 0 is kept for a pose that was never evaluated.
    hasher.finish().max(1)
}
