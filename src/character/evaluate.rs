//! Posing characters, before and after culling.

use super::{
    attachments::Attachments,
    components::{CharacterParts, ModelPose, PoseOverrides, SkinnedCharacter, Teleported},
    counts::PoseCounts,
    dirty_palettes::{DirtyPalettes, PaletteRange},
    layers::ActiveLayers,
    pose_state::{PoseClock, PoseSource, PoseStamp, PoseState},
    sharing::{PoseSharing, SharedPoses},
    threads::{ThreadScratch, batches},
    update_rate::{PoseInterpolation, PoseStep, UpdateRate},
    worn::{Wears, WornBy},
};
use crate::{
    asset::Character, controller::AnimationController, pose::JointOverride, rig::RigState,
};
use bevy::{camera::visibility::ViewVisibility, prelude::*, utils::Parallel};

/// How a character gets its pose in a frame.
enum PoseRoute<'a> {
    /// It has it already: [`early`] evaluated it, its rig was solved, or it was copied from the body that wears the character.
    Early(Mut<'a, ModelPose>),
    /// It is moved along between two poses, because it has an [`UpdateRate`].
    Interpolated(Mut<'a, PoseInterpolation>, Option<Mut<'a, ModelPose>>),
    /// It is evaluated in [`share`](super::sharing::share), once for all characters that play the same.
    Shared(Option<Mut<'a, ModelPose>>),
    /// It is evaluated now and stored, because the character has a [`ModelPose`].
    Kept(Mut<'a, ModelPose>),
    /// It is evaluated where its skinning matrices are written, and never stored.
    Streamed,
}

impl<'a> PoseRoute<'a> {
    fn choose(
        is_early: bool,
        kept: Option<Mut<'a, ModelPose>>,
        interpolation: Option<Mut<'a, PoseInterpolation>>,
        sharing: PoseSharing,
    ) -> Self {
        match (
            kept,
            interpolation.filter(|interpolation| interpolation.every > 1),
        ) {
            (Some(pose), _) if is_early => Self::Early(pose),
            (kept, Some(interpolation)) => Self::Interpolated(interpolation, kept),
            (kept, None) if sharing != PoseSharing::Off => Self::Shared(kept),
            (Some(pose), None) => Self::Kept(pose),
            (None, None) => Self::Streamed,
        }
    }
}

/// Characters whose pose is needed before transforms are propagated, in view or not. Those with a rig have it from
/// [`solve`](super::rig::solve).
type NeedsPoseEarly = (
    Or<(With<Attachments>, With<PoseOverrides>, With<Wears>)>,
    Without<WornBy>,
    Without<RigState>,
);

/// As [`NeedsPoseEarly`], or worn, or with a rig.
type IsPosedEarly = (
    Has<Attachments>,
    Has<PoseOverrides>,
    Has<Wears>,
    Has<WornBy>,
    Has<RigState>,
);

/// Poses characters that carry or wear something or have [`PoseOverrides`].
pub(super) fn early(
    assets: Res<Assets<Character>>,
    mut threads: Local<Parallel<ThreadScratch>>,
    mut counts: ResMut<PoseCounts>,
    mut characters: Query<
        (
            &SkinnedCharacter,
            Ref<AnimationController>,
            &mut ActiveLayers,
            &mut ModelPose,
            Option<Ref<PoseOverrides>>,
        ),
        NeedsPoseEarly,
    >,
) {
    *counts = PoseCounts::default();
    let all_threads = &mut *threads;
    characters
        .par_iter_mut()
        .batching_strategy(batches())
        .for_each_init(
            || all_threads.borrow_local_mut(),
            |thread, (handle, controller, mut layers, mut pose, overrides)| {
                let Some(character) = assets.get(handle.id()) else {
                    return;
                };
                layers
                    .bypass_change_detection()
                    .catch_up(character, &controller);
                let is_changed = overrides
                    .as_ref()
                    .is_some_and(|overrides| overrides.is_changed());
                let overrides = overrides.as_ref().map_or(&[][..], |overrides| &overrides.0);
                evaluate(&mut pose, &layers, character, overrides, is_changed, thread);
            },
        );
    ThreadScratch::collect_counts(&mut threads, &mut counts);
}

/// Chooses the route of every character in view, poses those that keep their pose, detects jumps, and collects
/// the palettes to write.
pub(super) fn late(
    assets: Res<Assets<Character>>,
    sharing: Res<PoseSharing>,
    mut clock: ResMut<PoseClock>,
    mut shared: ResMut<SharedPoses>,
    mut palettes: ResMut<DirtyPalettes>,
    mut threads: Local<Parallel<ThreadScratch>>,
    mut counts: ResMut<PoseCounts>,
    mut characters: Query<(
        Entity,
        &SkinnedCharacter,
        Ref<AnimationController>,
        (&mut ActiveLayers, &mut PoseState, &mut CharacterParts),
        Option<&mut ModelPose>,
        Option<(&mut PoseInterpolation, &UpdateRate)>,
        Ref<GlobalTransform>,
        Has<Teleported>,
        IsPosedEarly,
    )>,
    visible: Query<(&ViewVisibility, Option<&PaletteRange>)>,
) {
    clock.frame = clock.frame.wrapping_add(1);
    let places = clock.places.len();
    clock.places.clear();
    if clock.places.capacity() > 4 * places.max(256) {
        clock.places.shrink_to(2 * places);
    }
    shared.steps = sharing.steps();
    let (frame, sharing, all_threads) = (clock.frame, *sharing, &mut *threads);
    let (requests, palettes) = (&mut shared.requests, &mut palettes.0);
    characters
        .par_iter_mut()
        .batching_strategy(batches())
        .for_each_init(
        || {
            (
                all_threads.borrow_local_mut(),
                requests.borrow_local_mut(),
                palettes.borrow_local_mut(),
            )
        },
        |(thread, requests, palettes),
         (entity, handle, controller, own, kept, rated, transform, teleported, early)| {
            let (mut layers, mut state, mut parts) = own;
            let (layers, state, parts) = (
                layers.bypass_change_detection(),
                state.bypass_change_detection(),
                parts.bypass_change_detection(),
            );
            state.source = PoseSource::Clips;
            let first = palettes.0.len();
            if palettes.collect_visible(entity, &parts.entities, &visible) {
                thread.counts.in_view += 1;
                detect_jump(parts, &transform, teleported);
            } else if kept
                .as_ref()
                .is_none_or(|pose| !pose.joints.is_empty() && !parts.entities.is_empty())
            {
                // Nothing shows it. One without parts can still be drawn as a skeleton, wherever it is.
                return;
            }
            let moved = transform.is_changed();
            let changed = assets.get(handle.id()).is_some_and(|character| {
                let is_early = early != (false, false, false, false, false);
                let interpolation = rated.map(|(interpolation, _)| interpolation);
                if !is_early || kept.is_none() {
                    layers.catch_up(character, &controller);
                }
                // What is left of a switch is a character's own.
                let sharing = if layers.is_switching() {
                    PoseSharing::Off
                } else {
                    sharing
                };
                let route = PoseRoute::choose(is_early, kept, interpolation, sharing);
                state.revision = layers.revision();
                let stamp = PoseStamp::Clips(layers.revision());
                let joints = character.skeleton.len();
                match route {
                    PoseRoute::Early(pose) => pose.is_changed(),
                    PoseRoute::Interpolated(mut interpolation, kept) => {
                        state.source = PoseSource::Interpolated;
                        // So that it is drawn again when it is posed every frame again.
                        state.drawn = PoseStamp::Never;
                        let interpolation = interpolation.bypass_change_detection();
                        let now = (frame, entity.index_u32());
                        let step = interpolation.step(stamp, joints, now, |joints| {
                            layers.evaluate_to(character, None, &[], &mut thread.pose, joints);
                        });
                        thread.counts.evaluated += usize::from(step == PoseStep::Evaluated);
                        thread.counts.interpolated += usize::from(step == PoseStep::Interpolated);
                        let changed = step != PoseStep::Unchanged;
                        let stamp = interpolation.stamp();
                        if let Some(mut pose) = kept.filter(|pose| changed || pose.stamp != stamp) {
                            interpolation.write(&mut pose.joints);
                            pose.stamp = stamp;
                        }
                        changed
                    }
                    PoseRoute::Shared(kept) => {
                        let key = layers.sharing_key(handle, sharing.steps());
                        let stamp = PoseStamp::Shared(key);
                        let changed = match &kept {
                            Some(pose) => !pose.is(stamp, joints),
                            None => state.draw(stamp) || moved,
                        };
                        requests.extend(changed.then_some((key, entity)));
                        changed
                    }
                    PoseRoute::Kept(mut pose) => {
                        evaluate(&mut pose, layers, character, &[], false, thread)
                    }
                    PoseRoute::Streamed => {
                        let changed = state.draw(stamp) || moved;
                        thread.counts.evaluated += usize::from(changed);
                        changed
                    }
                }
            });
            palettes.settle(first, changed || moved, parts.jumped);
        },
    );
    ThreadScratch::collect_counts(&mut threads, &mut counts);
}

/// Brings a stored pose up to date. Returns `true` if it changed.
fn evaluate(
    pose: &mut Mut<ModelPose>,
    layers: &ActiveLayers,
    character: &Character,
    overrides: &[JointOverride],
    overrides_changed: bool,
    thread: &mut ThreadScratch,
) -> bool {
    let stamp = match overrides {
        [] => PoseStamp::Clips(layers.revision()),
        _ => PoseStamp::Overridden(layers.revision()),
    };
    if pose.is(stamp, character.skeleton.len()) && !overrides_changed {
        return false;
    }
    let pose = &mut **pose;
    layers.evaluate_to(
        character,
        None,
        overrides,
        &mut thread.pose,
        &mut pose.joints,
    );
    pose.stamp = stamp;
    pose.overrides.clear();
    pose.overrides.extend_from_slice(overrides);
    thread.counts.evaluated += 1;
    true
}

fn detect_jump(parts: &mut CharacterParts, transform: &GlobalTransform, teleported: bool) {
    let affine = transform.affine();
    let center = affine.transform_point3(parts.center);
    let size = parts.radius * affine.matrix3.x_axis.length();
    let is_far = |last: Vec3| last.distance_squared(center) > (4.0 * size) * (4.0 * size);
    parts.jumped = teleported || parts.last_center.is_none_or(is_far);
    parts.last_center = Some(center);
}
