//! One evaluation for all characters that play the same thing at the same time.

use super::{
    components::{ModelPose, SkinnedCharacter},
    counts::PoseCounts,
    layers::ActiveLayers,
    pose_state::{PoseSource, PoseStamp, PoseState},
    threads::batches,
};
use crate::{asset::Character, pose::Scratch};
use bevy::{platform::collections::HashMap, prelude::*, tasks::ComputeTaskPool, utils::Parallel};
use glam::Affine3A;

/// The sharing of poses among characters in view that play the same clips at the same times, with
/// the same weights and masks.
///
/// Looking for others costs every character 0.1 to 0.2 µs, so it pays off where many of them find one. With two clips
/// at 30 steps per second, it saves 40 % of the time of 10,000 characters, and 33 to 40 % of that of 1000.
///
/// Characters that carry or wear something or have `PoseOverrides` or a rig are posed on their own, and so are those that have
/// just [switched](crate::controller::Transition::switch)
/// clips.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{character::PoseSharing, prelude::*};
/// App::new()
///     .add_plugins((DefaultPlugins, MarionettePlugins::default()))
///     .insert_resource(PoseSharing::Steps(30.0));
/// ```
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Reflect)]
#[reflect(Resource, Default, Clone, PartialEq)]
pub enum PoseSharing {
    /// Every character is posed on its own.
    #[default]
    Off,
    /// Poses are shared if all their inputs are equal to the last bit, so every pose is exactly what it would
    /// be with [`Self::Off`].
    Lossless,
    /// The clips' times are first rounded to this many steps per second, so that more characters match. A pose
    /// is off by at most what its clips move within half a step; clocks and events are not affected. Values
    /// that are not positive count as [`Self::Lossless`].
    Steps(f64),
}

impl PoseSharing {
    /// Steps per second to which times are rounded, if they are.
    pub(super) fn steps(self) -> Option<f64> {
        match self {
            Self::Steps(steps) if steps > 0.0 && steps.is_finite() => Some(steps),
            _ => None,
        }
    }
}

/// The poses shared in this frame, and requests for them. Kept from frame to frame for its memory.
#[derive(Resource, Default)]
pub(crate) struct SharedPoses {
    /// By thread: sharing key and character.
    pub(super) requests: Parallel<Vec<(u64, Entity)>>,
    all_requests: Vec<(u64, Entity)>,
    index_of_key: HashMap<u64, usize>,
    poses: Vec<SharedPose>,
    scratch: Parallel<Scratch>,
    /// Steps per second to which times are rounded in this frame.
    pub(super) steps: Option<f64>,
}

#[derive(Default)]
struct SharedPose {
    key: u64,
    /// Any of the characters that share it.
    character: Option<Entity>,
    joints: Vec<Affine3A>,
}

impl SharedPoses {
    pub(super) fn get(&self, index: usize) -> Option<&[Affine3A]> {
        self.poses.get(index).map(|pose| &pose.joints[..])
    }
}

/// Evaluates every requested pose once, and copies it to the characters that have a [`ModelPose`].
pub(super) fn share(
    assets: Res<Assets<Character>>,
    shared: ResMut<SharedPoses>,
    mut counts: ResMut<PoseCounts>,
    mut characters: Query<(
        &SkinnedCharacter,
        &ActiveLayers,
        &mut PoseState,
        Option<&mut ModelPose>,
    )>,
) {
    let SharedPoses {
        requests,
        all_requests,
        index_of_key,
        poses,
        scratch,
        steps,
    } = shared.into_inner();
    all_requests.clear();
    requests
        .iter_mut()
        .for_each(|list| all_requests.append(list));
    // With nothing to share, the memory of the last frame is left alone.
    if all_requests.is_empty() {
        return;
    }
    index_of_key.clear();
    let mut count = 0;
    for &(key, entity) in all_requests.iter() {
        let index = *index_of_key.entry(key).or_insert(count);
        if index == count {
            if count == poses.len() {
                poses.push(SharedPose::default());
            }
            (poses[count].key, poses[count].character) = (key, Some(entity));
            count += 1;
        }
        // The pose doesn't exist yet, but its index is enough to draw by.
        if let Ok((_, _, mut state, _)) = characters.get_mut(entity) {
            state.bypass_change_detection().source = PoseSource::Shared(index);
        }
    }
    counts.evaluated += count;
    counts.shared += all_requests.len() - count;

    // Tasks read any character while they write poses.
    let read = characters.as_readonly();
    let steps = *steps;
    let evaluate = |poses: &mut [SharedPose]| {
        let mut scratch = scratch.borrow_local_mut();
        for pose in poses {
            let Some((handle, layers, ..)) =
                pose.character.and_then(|entity| read.get(entity).ok())
            else {
                continue;
            };
            let Some(character) = assets.get(handle.id()) else {
                continue;
            };
            layers.evaluate_to(character, steps, &[], &mut scratch, &mut pose.joints);
        }
    };
    let pool = ComputeTaskPool::get();
    // Four tasks per thread, because some poses take longer than others.
    let (poses, tasks) = (&mut poses[..count], pool.thread_num() * 4);
    // On a single thread, tasks would only add their own cost.
    if pool.thread_num() == 1 {
        evaluate(poses);
    } else {
        // Fewer than four poses are not worth a task.
        let size = poses.len().div_ceil(tasks).max(4);
        pool.scope(|scope| {
            for chunk in poses.chunks_mut(size) {
                let evaluate = &evaluate;
                scope.spawn(async move { evaluate(chunk) });
            }
        });
    }

    let poses = &*poses;
    characters
        .par_iter_mut()
        .batching_strategy(batches())
        .for_each(|(_, _, state, pose)| {
            // The others are drawn straight from the shared pose.
            let (Some(mut pose), PoseSource::Shared(index)) = (pose, state.source) else {
                return;
            };
            if let Some(SharedPose { key, joints, .. }) = poses.get(index) {
                pose.joints.clone_from(joints);
                pose.stamp = PoseStamp::Shared(*key);
            }
        });
}
