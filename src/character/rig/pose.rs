//! The pose that a rig starts from.

use super::super::{
    attachments::Attachments,
    components::{ModelPose, PoseOverrides, SkinnedCharacter},
    counts::PoseCounts,
    detail::Detail,
    evaluate::evaluate,
    layers::ActiveLayers,
    pose_state::PoseStamp,
    threads::{ThreadScratch, batches},
    worn::{Wears, WornBy},
};
use crate::{
    asset::Character, controller::AnimationController, model::SoaTransform, pose::PoseFacts,
    rig::RigState,
};
use bevy::{prelude::*, utils::Parallel};
use glam::Affine3A;

/// A character's pose by its clips and overrides, before its rig acts.
#[derive(Component, Clone, Debug, Default)]
pub(in crate::character) struct RigPose {
    pub(super) local: Vec<SoaTransform>,
    /// The matrices of all joints if something hangs from them, otherwise of those that the rig reads first.
    pub(super) joints: Vec<Affine3A>,
    pub(super) facts: PoseFacts,
    /// The inputs it was made from.
    pub(super) stamp: PoseStamp,
    /// `true` if the rig has acted in this frame.
    pub(super) is_solved: bool,
}

impl RigPose {
    /// Returns the matrices of the joints; none if they were not computed because nothing was
    /// attached to them.
    pub(in crate::character) fn joints(&self) -> &[Affine3A] {
        if self.facts.is_up_to_date() {
            &self.joints
        } else {
            &[]
        }
    }
}

/// Poses characters with a rig by their clips and overrides.
pub(in crate::character) fn pose_clips(
    assets: Res<Assets<Character>>,
    mut threads: Local<Parallel<ThreadScratch>>,
    mut counts: ResMut<PoseCounts>,
    mut characters: Query<
        (
            &SkinnedCharacter,
            Ref<AnimationController>,
            &mut ActiveLayers,
            &mut RigPose,
            &mut ModelPose,
            Option<Ref<PoseOverrides>>,
            (Has<Attachments>, Has<Wears>),
            Option<&Detail>,
        ),
        (With<RigState>, Without<WornBy>),
    >,
) {
    let all_threads = &mut *threads;
    characters
        .par_iter_mut()
        .batching_strategy(batches())
        .for_each_init(
        || all_threads.borrow_local_mut(),
        |thread, (handle, controller, mut layers, mut rig, mut pose, overrides, hold, detail)| {
            let (carries, wears) = hold;
            let rests = detail.is_some_and(|detail| detail.rests);
            // Other characters then read the pose of the clips.
            rig.is_solved = rests;
            if rests && !carries && !wears && overrides.is_none() {
                // It is evaluated where it is drawn.
                return;
            }
            let Some(character) = assets.get(handle.id()) else {
                return;
            };
            let layers = layers.bypass_change_detection();
            layers.catch_up(character, &controller);
            let is_changed = overrides
                .as_ref()
                .is_some_and(|overrides| overrides.is_changed());
            let overrides = overrides.as_ref().map_or(&[][..], |overrides| &overrides.0);
            if rests {
                evaluate(&mut pose, layers, character, overrides, is_changed, thread);
                return;
            }
            let stamp = PoseStamp::of(layers.revision(), overrides);
            let is_current = rig.stamp == stamp && rig.joints.len() == character.skeleton.len();
            if is_current && !is_changed && (rig.facts.is_up_to_date() || !carries) {
                return;
            }
            layers.evaluate_local(character, overrides, &mut thread.pose, |mut pose| {
                if carries {
                    pose.update();
                } else {
                    character.rig_joints().update(&mut pose);
                }
                rig.local.clear();
                rig.local.extend_from_slice(pose.local());
                rig.joints.clear();
                rig.joints.extend_from_slice(pose.model);
                rig.facts = pose.facts().clone();
            });
            rig.stamp = stamp;
            // Until the rig has acted, `CharacterPoses` evaluates the clips with these.
            let pose = pose.bypass_change_detection();
            pose.overrides.clear();
            pose.overrides.extend_from_slice(overrides);
            thread.counts.evaluated += 1;
        },
    );
    ThreadScratch::collect_counts(&mut threads, &mut counts);
}
