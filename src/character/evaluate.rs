//! Posing characters, before and after culling.

use super::{
    CharacterSystems,
    attachments::Attachments,
    components::{CharacterParts, ModelPose, PoseOverrides, SkinnedCharacter, Teleported},
    counts::PoseCounts,
    detail::{Detail, rig_acts},
    dirty_palettes::{DirtyPalettes, PaletteRange},
    layers::ActiveLayers,
    pose_state::{FrameNumber, PoseSource, PoseStamp, PoseState, RigsAct},
    sharing::{PoseSharing, SharedPoses},
    systems::EarlyStep,
    threads::{ThreadScratch, batches},
    worn::{Wears, WornBy},
};
use crate::{
    asset::Character, controller::AnimationController, pose::JointOverride, rig::RigState,
};
use bevy::{camera::visibility::ViewVisibility, prelude::*, utils::Parallel};

/// Adds what poses characters.
pub(super) fn plugin(app: &mut App) {
    app.add_systems(
        PostUpdate,
        (
            early.in_set(EarlyStep::Pose),
            late.in_set(CharacterSystems::EvaluateLate),
        ),
    );
}

/// The way a character gets its pose in a frame.
enum PoseRoute<'a> {
    /// It has it already: [`early`] evaluated it, its rig was solved, or it was copied from the body that wears the character.
    Early(Mut<'a, ModelPose>),
    /// It is evaluated in [`share`](super::sharing::share), once for all characters that play the same.
    Shared(Option<Mut<'a, ModelPose>>),
    /// It is evaluated now and stored, because the character has a [`ModelPose`].
    Kept(Mut<'a, ModelPose>),
    /// It is evaluated where its skinning matrices are written, and never stored.
    Streamed,
}

impl<'a> PoseRoute<'a> {
    fn choose(is_early: bool, kept: Option<Mut<'a, ModelPose>>, sharing: PoseSharing) -> Self {
        match kept {
            Some(pose) if is_early => Self::Early(pose),
            kept if sharing != PoseSharing::Off => Self::Shared(kept),
            Some(pose) => Self::Kept(pose),
            None => Self::Streamed,
        }
    }
}

/// Characters whose pose is needed before transforms are propagated, in view or not.
type NeedsPoseEarly = (
    Or<(With<Attachments>, With<PoseOverrides>, With<Wears>)>,
    Without<WornBy>,
);

/// Facts by which a character is posed early: those of [`NeedsPoseEarly`], being worn, and having a rig.
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
    rigs: Option<Res<RigsAct>>,
    mut threads: Local<Parallel<ThreadScratch>>,
    mut counts: ResMut<PoseCounts>,
    mut characters: Query<
        (
            &SkinnedCharacter,
            Ref<AnimationController>,
            &mut ActiveLayers,
            &mut ModelPose,
            Option<Ref<PoseOverrides>>,
            Has<RigState>,
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
            |thread, (handle, controller, mut layers, mut pose, overrides, has_rig)| {
                if has_rig && rigs.is_some() {
                    // The rig starts from a pose of its own.
                    return;
                }
                let Some(character) = assets.get(handle.id()) else {
                    return;
                };
                // Nothing reacts to changes of this private component, so none are recorded.
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
    (sharing, rigs): (Option<Res<PoseSharing>>, Option<Res<RigsAct>>),
    mut frame: ResMut<FrameNumber>,
    mut shared: ResMut<SharedPoses>,
    mut palettes: ResMut<DirtyPalettes>,
    mut threads: Local<Parallel<ThreadScratch>>,
    mut counts: ResMut<PoseCounts>,
    mut characters: Query<(
        Entity,
        &SkinnedCharacter,
        Ref<AnimationController>,
        (&mut ActiveLayers, &mut PoseState, &CharacterParts),
        Option<&mut ModelPose>,
        Option<&mut Detail>,
        Ref<GlobalTransform>,
        Has<Teleported>,
        IsPosedEarly,
    )>,
    visible: Query<(&ViewVisibility, Option<&PaletteRange>)>,
) {
    frame.0 = frame.0.wrapping_add(1);
    let sharing = sharing.map_or(PoseSharing::Off, |sharing| *sharing);
    shared.steps = sharing.steps();
    let (frame, all_threads) = (frame.0, &mut *threads);
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
         (entity, handle, controller, own, kept, detail, transform, teleported, early)| {
            let (mut layers, mut state, parts) = own;
            let (layers, state) = (
                layers.bypass_change_detection(),
                state.bypass_change_detection(),
            );
            state.source = PoseSource::Clips;
            // Palettes from here on are this character's.
            let first = palettes.0.len();
            let mut moved = transform.is_changed();
            let (attached, overridden, wears, worn, rigged) = early;
            let acts = rig_acts(rigged, rigs.as_deref(), detail.as_deref());
            let is_early = attached || overridden || wears || worn || acts;
            if palettes.collect_visible(entity, &parts.entities, &visible) {
                thread.counts.in_view += 1;
                let place = detect_jump(parts, state, &transform, teleported);
                // A character cannot stay in a pose that was never drawn, or is of another version
                // of the asset.
                let is_drawn = match &kept {
                    Some(pose) => pose.stamp != PoseStamp::Never,
                    None => state.drawn != PoseStamp::Never,
                };
                let is_held = detail.is_some_and(|mut detail| {
                    !detail.is_due(frame, entity.index_u32(), place, &mut moved)
                        && is_drawn
                        && !is_early
                        && !state.jumped
                });
                if is_held {
                    thread.counts.held += 1;
                    palettes.settle(first, false, false);
                    return;
                }
            } else if !kept
                .as_ref()
                .is_some_and(|pose| pose.joints.is_empty() || parts.entities.is_empty())
            {
                // Out of view, only a first pose is made, and those of characters without parts, which may be drawn as skeletons.
                return;
            }
            let changed = assets.get(handle.id()).is_some_and(|character| {
                if !is_early || kept.is_none() {
                    layers.catch_up(character, &controller);
                }
                // The decaying offsets of a switch are a character's own.
                let sharing = if layers.is_switching() {
                    PoseSharing::Off
                } else {
                    sharing
                };
                let route = PoseRoute::choose(is_early, kept, sharing);
                state.revision = layers.revision();
                let stamp = PoseStamp::Clips(layers.revision());
                let joints = character.skeleton.len();
                match route {
                    PoseRoute::Early(pose) => pose.is_changed(),
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
            palettes.settle(first, changed || moved, state.jumped);
        },
    );
    ThreadScratch::collect_counts(&mut threads, &mut counts);
}

/// Brings a stored pose up to date. Returns `true` if it changed.
pub(super) fn evaluate(
    pose: &mut Mut<ModelPose>,
    layers: &ActiveLayers,
    character: &Character,
    overrides: &[JointOverride],
    overrides_changed: bool,
    thread: &mut ThreadScratch,
) -> bool {
    let stamp = PoseStamp::of(layers.revision(), overrides);
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

/// Records the character's place, and whether it got there without passing through the space
/// between. Returns its center and radius in the world.
fn detect_jump(
    parts: &CharacterParts,
    state: &mut PoseState,
    transform: &GlobalTransform,
    teleported: bool,
) -> (Vec3, f32) {
    let affine = transform.affine();
    let center = affine.transform_point3(parts.center);
    let size = parts.radius * affine.matrix3.x_axis.length();
    let is_far = |last: Vec3| last.distance_squared(center) > (4.0 * size) * (4.0 * size);
    state.jumped = teleported || state.last_center.is_none_or(is_far);
    state.last_center = Some(center);
    (center, size)
}
