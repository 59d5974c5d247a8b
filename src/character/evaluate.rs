//! Poses: from what a controller plays to joint matrices, for characters that keep theirs.

use super::{
    Attachments, CharacterParts, ModelPose, PoseOverrides, PoseSharing, SkinnedCharacter, Teleported, UpdateRate,
    Wears, WornBy,
    playing::Playing,
    rate::{Stepped, Steps},
    redraw::{PaletteRange, Redraw},
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
    pose: Option<&'static mut ModelPose>,
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
type IsEarly = (Or<(With<Attachments>, With<PoseOverrides>, With<Wears>)>, Without<WornBy>);

/// Whether something else poses a character: it carries, it wears, it is worn.
type IsPosedAlready = (Has<Attachments>, Has<Wears>, Has<WornBy>);

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
    characters.par_iter_mut().batching_strategy(batches()).for_each_init(
        || all.borrow_local_mut(),
        |desk, mut item| {
            if let Some(character) = assets.get(item.handle.id()) {
                item.catch_up(character);
                item.evaluate(character, desk);
            }
        },
    );
    counts.collect(&mut desks);
}

/// Poses the other characters in view that keep their pose, notices who jumped, and lists all that is to be
/// drawn anew.
pub(super) fn late(
    assets: Res<Assets<Character>>,
    sharing: Res<PoseSharing>,
    mut shared: ResMut<Shared>,
    mut redraw: ResMut<Redraw>,
    mut desks: Local<Parallel<Desk>>,
    mut counts: ResMut<PoseCounts>,
    mut characters: Query<(
        Entity,
        Posing,
        &mut CharacterParts,
        Ref<GlobalTransform>,
        Option<(&mut Steps, &UpdateRate)>,
        Has<Teleported>,
        IsPosedAlready,
    )>,
    seen: Query<(&ViewVisibility, Option<&PaletteRange>)>,
) {
    shared.frame = shared.frame.wrapping_add(1);
    shared.steps = sharing.steps();
    let (all, frame, sharing) = (&mut *desks, shared.frame, *sharing);
    let (wanted, lists) = (&mut shared.wanted, &mut redraw.0);
    characters.par_iter_mut().batching_strategy(batches()).for_each_init(
        || (all.borrow_local_mut(), wanted.borrow_local_mut(), lists.borrow_local_mut()),
        |(desk, wanted, lists), (entity, mut item, mut parts, transform, steps, teleported, posed)| {
            let parts = parts.bypass_change_detection();
            item.playing.bypass_change_detection().place = None;
            let first = lists.due.len();
            if lists.look(entity, &parts.entities, &seen) {
                desk.counts.in_view += 1;
                notice_jump(parts, &transform, teleported);
            } else if item.pose.as_ref().is_none_or(|pose| !pose.joints.is_empty()) {
                return;
            }
            let moved = transform.is_changed();
            let keeps = item.pose.is_some();
            let steps = steps.map(|(steps, _)| steps).filter(|steps| steps.every > 1);
            let changed = if posed != (false, false, false) || item.overrides.is_some() {
                item.pose.as_ref().is_some_and(|pose| pose.is_changed())
            } else if let Some(character) = assets.get(item.handle.id()) {
                item.catch_up(character);
                if let Some(mut steps) = steps {
                    item.step(character, steps.bypass_change_detection(), (frame, entity.index_u32()), desk)
                } else if sharing != PoseSharing::Off {
                    let key = item.playing.key(item.handle, sharing.steps());
                    let is_new = item.is_new(key, character, moved);
                    wanted.extend(is_new.then_some((key, entity)));
                    is_new
                } else if keeps {
                    item.evaluate(character, desk)
                } else {
                    // Worked out where its skin is written.
                    let is_new = item.is_new(item.playing.stamp(), character, moved);
                    desk.counts.evaluated += usize::from(is_new);
                    is_new
                }
            } else {
                false
            };
            let before = &mut item.playing.bypass_change_detection().changed;
            lists.settle(first, changed || moved, parts.jumped, before);
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

impl PosingItem<'_, '_> {
    /// Looks the layers up again if the controller was changed: perhaps by a listener, after they were.
    fn catch_up(&mut self, character: &Character) {
        if self.controller.is_changed() {
            self.playing.bypass_change_detection().look_up(character, &self.controller);
        }
    }

    /// Works out the pose that it keeps; whether it was another one.
    fn evaluate(&mut self, character: &Character, desk: &mut Desk) -> bool {
        let Some(pose) = &mut self.pose else { return false };
        let changed = self.overrides.as_ref().is_some_and(|overrides| overrides.is_changed());
        let overrides = self.overrides.as_ref().map_or(&[][..], |overrides| &overrides.0);
        // So that a pose by hand is not taken for the clips' own when the hand is gone.
        let stamp = if overrides.is_empty() { self.playing.stamp() } else { !self.playing.stamp() };
        if stamp == pose.evaluated && !changed && pose.joints.len() == character.skeleton.len() {
            return false;
        }
        let pose = &mut **pose;
        self.playing.evaluate_to(character, None, overrides, &mut desk.scratch, &mut pose.joints);
        pose.evaluated = stamp;
        desk.counts.evaluated += 1;
        true
    }

    /// Moves its pose on by a frame; whether it changed.
    fn step(&mut self, character: &Character, steps: &mut Steps, now: (u32, u32), desk: &mut Desk) -> bool {
        let playing = self.playing.bypass_change_detection();
        // So that it is drawn anew when it is posed every frame again.
        playing.drawn = 0;
        let (scratch, counts, joints) = (&mut desk.scratch, &mut desk.counts, character.skeleton.len());
        let stepped = steps.step((playing.stamp(), joints), now, |joints| {
            playing.evaluate_to(character, None, &[], scratch, joints);
        });
        counts.evaluated += usize::from(stepped == Stepped::Evaluated);
        counts.interpolated += usize::from(stepped == Stepped::Interpolated);
        let changed = stepped != Stepped::Nothing;
        let kept = self.pose.as_mut();
        if let Some(pose) = kept.filter(|pose| changed || pose.evaluated != steps.stamp()) {
            steps.write(&mut pose.joints);
            pose.evaluated = steps.stamp();
        }
        changed
    }

    /// Whether the pose that a number stands for, a stamp or a key, has to be worked out.
    fn is_new(&mut self, number: u64, character: &Character, moved: bool) -> bool {
        match &self.pose {
            Some(pose) => pose.evaluated != number || pose.joints.len() != character.skeleton.len(),
            None => {
                let drawn = &mut self.playing.bypass_change_detection().drawn;
                std::mem::replace(drawn, number) != number || moved
            }
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
