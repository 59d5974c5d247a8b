//! Poses: from what a controller plays to joint matrices.

use super::{
    Carries, CharacterParts, ModelPose, PoseOverrides, PoseSharing, SkinnedCharacter, Teleported, UpdateRate, Wears,
    WornBy,
    playing::Playing,
    rate::{Stepped, Steps},
    sharing::Shared,
};
use crate::{asset::Character, controller::AnimationController, pose::Scratch};
use bevy::{
    camera::visibility::ViewVisibility,
    ecs::{batching::BatchingStrategy, query::QueryData},
    prelude::*,
    utils::Parallel,
};
use glam::Vec3A;

/// All that the job reads and writes.
#[derive(QueryData)]
#[query_data(mutable)]
pub(super) struct Posing {
    handle: &'static SkinnedCharacter,
    controller: Ref<'static, AnimationController>,
    playing: &'static mut Playing,
    overrides: Option<Ref<'static, PoseOverrides>>,
    pose: &'static mut ModelPose,
}

/// What became of the characters in the last frame: where the time goes.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Resource, Default, Clone, PartialEq)]
pub struct PoseCounts {
    /// Characters of which some part is in view of some camera.
    pub in_view: usize,
    /// Poses worked out from clips, whoever they were for.
    pub evaluated: usize,
    /// Characters that took a pose worked out for another. See [`PoseSharing`].
    pub shared: usize,
    /// Characters moved on between two poses. See [`UpdateRate`](super::UpdateRate).
    pub interpolated: usize,
}

/// What a thread works in.
#[derive(Default)]
pub(super) struct Desk {
    scratch: Scratch,
    counts: PoseCounts,
}

/// Characters whose pose is wanted before transforms are propagated, seen or not.
type IsEarly = (Or<(With<Carries>, With<PoseOverrides>, With<Wears>)>, Without<WornBy>);

/// Whether something else poses a character: it carries, it wears, it is worn.
type IsPosedAlready = (Has<Carries>, Has<Wears>, Has<WornBy>);

/// How characters are dealt out to threads: few at a time, for those out of view cost next to nothing, and
/// not so few that the dealing shows.
pub(super) fn batches() -> BatchingStrategy {
    BatchingStrategy::new().min_batch_size(16).batches_per_thread(4)
}

/// Poses characters that carry or wear something, or whose box comes from their pose.
pub(super) fn early(
    assets: Res<Assets<Character>>,
    mut desks: Local<Parallel<Desk>>,
    mut counts: ResMut<PoseCounts>,
    mut characters: Query<Posing, IsEarly>,
) {
    *counts = PoseCounts::default();
    let all = &mut *desks;
    characters
        .par_iter_mut()
        .batching_strategy(batches())
        .for_each_init(|| all.borrow_local_mut(), |desk, item| evaluate(&assets, item, desk));
    counts.collect(&mut desks);
}

/// Poses the other characters that some view can see, and notices who jumped.
pub(super) fn late(
    assets: Res<Assets<Character>>,
    sharing: Res<PoseSharing>,
    mut shared: ResMut<Shared>,
    mut desks: Local<Parallel<Desk>>,
    mut frame: Local<u32>,
    mut counts: ResMut<PoseCounts>,
    mut characters: Query<(
        Entity,
        Posing,
        &mut CharacterParts,
        &GlobalTransform,
        Option<(&mut Steps, &UpdateRate)>,
        Has<Teleported>,
        IsPosedAlready,
    )>,
    visible: Query<&ViewVisibility>,
) {
    *frame = frame.wrapping_add(1);
    let (all, frame, sharing, wanted) = (&mut *desks, *frame, *sharing, &mut shared.wanted);
    characters.par_iter_mut().batching_strategy(batches()).for_each_init(
        || (all.borrow_local_mut(), wanted.borrow_local_mut()),
        |(desk, wanted), (entity, mut item, mut parts, transform, steps, teleported, posed)| {
            let in_view = |&part: &Entity| visible.get(part).is_ok_and(|visibility| visibility.get());
            if !parts.entities.iter().any(in_view) {
                return;
            }
            desk.counts.in_view += 1;
            notice_jump(parts.bypass_change_detection(), transform, teleported);
            if posed != (false, false, false) || item.overrides.is_some() {
                return;
            }
            if let Some((mut steps, _)) = steps.filter(|(steps, _)| steps.every > 1) {
                let Some(character) = assets.get(item.handle.id()) else { return };
                item.catch_up(character);
                let (playing, now) = (&item.playing, (item.playing.stamp(), character.skeleton.len()));
                let scratch = &mut desk.scratch;
                let steps = steps.bypass_change_detection();
                match steps.step(&mut item.pose, now, (frame, entity.index_u32()), |joints| {
                    playing.evaluate(character, None, &[], scratch, joints);
                }) {
                    Stepped::Nothing => {}
                    Stepped::Interpolated => desk.counts.interpolated += 1,
                    Stepped::Evaluated => desk.counts.evaluated += 1,
                }
            } else if sharing != PoseSharing::Off {
                let Some(character) = assets.get(item.handle.id()) else { return };
                item.catch_up(character);
                let key = item.playing.key(item.handle, sharing.steps());
                if key != item.pose.evaluated || item.pose.joints.len() != character.skeleton.len() {
                    wanted.push((key, entity));
                }
            } else {
                evaluate(&assets, item, desk);
            }
        },
    );
    counts.collect(&mut desks);
}

fn notice_jump(parts: &mut CharacterParts, transform: &GlobalTransform, teleported: bool) {
    let affine = transform.affine();
    let place = affine.transform_point3a(parts.center);
    let size = parts.radius * affine.matrix3.x_axis.length();
    let far = |last: Vec3A| last.distance_squared(place) > (4.0 * size) * (4.0 * size);
    parts.jumped = teleported || parts.last_place.is_none_or(far);
    parts.last_place = Some(place);
}

fn evaluate(assets: &Assets<Character>, mut item: PosingItem, desk: &mut Desk) {
    let Some(character) = assets.get(item.handle.id()) else { return };
    item.catch_up(character);
    let changed = item.overrides.as_ref().is_some_and(|overrides| overrides.is_changed());
    let overrides = item.overrides.as_ref().map_or(&[][..], |overrides| &overrides.0);
    // So that a pose by hand is not taken for the clips' own when the hand is gone.
    let stamp = if overrides.is_empty() { item.playing.stamp() } else { !item.playing.stamp() };
    if stamp == item.pose.evaluated && !changed && item.pose.joints.len() == character.skeleton.len() {
        return;
    }
    let pose = &mut *item.pose;
    item.playing.evaluate(character, None, overrides, &mut desk.scratch, &mut pose.joints);
    pose.evaluated = stamp;
    desk.counts.evaluated += 1;
}

impl PosingItem<'_, '_> {
    /// Looks the layers up again if the controller was changed: perhaps by a listener, after they were.
    fn catch_up(&mut self, character: &Character) {
        if self.controller.is_changed() {
            self.playing.bypass_change_detection().look_up(character, &self.controller);
        }
    }
}

impl PoseCounts {
    fn collect(&mut self, desks: &mut Parallel<Desk>) {
        for desk in desks.iter_mut() {
            let PoseCounts { in_view, evaluated, shared, interpolated } = std::mem::take(&mut desk.counts);
            self.in_view += in_view;
            self.evaluated += evaluated;
            self.shared += shared;
            self.interpolated += interpolated;
        }
    }
}
