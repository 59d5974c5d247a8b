//! Characters that play the same thing at the same time share one evaluation.

use super::{ModelPose, PoseCounts, SkinnedCharacter, evaluate::batches, playing::Playing};
use crate::{asset::Character, pose::Scratch};
use bevy::{platform::collections::HashMap, prelude::*, tasks::ComputeTaskPool, utils::Parallel};
use glam::Affine3A;

/// Whether characters in view that play the same clips at the same times, with the same weights and masks,
/// are posed once for all of them.
///
/// Whoever has an evaluation of its own pays for the search, some 0.2 µs: it is worth it where most
/// characters find another. Characters that carry something, are posed by hand or have an
/// [`UpdateRate`](super::UpdateRate) are posed by themselves.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Reflect)]
#[reflect(Resource, Default, Clone, PartialEq)]
pub enum PoseSharing {
    /// Each is posed by itself.
    #[default]
    Off,
    /// Shared where all is equal to the last bit: every pose is what it would be without.
    Lossless,
    /// The clips' times are first rounded to so many steps a second, and poses are evaluated at those: off by
    /// at most what a clip moves in half a step. Clocks and events are not touched. What is not above 0 counts
    /// as [`Self::Lossless`].
    Steps(f64),
}

impl PoseSharing {
    /// Steps a second to which times are rounded; `None` for none.
    pub(super) fn steps(self) -> Option<f64> {
        match self {
            Self::Steps(steps) if steps > 0.0 && steps.is_finite() => Some(steps),
            _ => None,
        }
    }
}

/// Who wants a pose, and the poses there are; kept for their memory.
#[derive(Resource, Default)]
pub(crate) struct Shared {
    /// By thread: what is wanted, and by whom.
    pub(super) wanted: Parallel<Vec<(u64, Entity)>>,
    all: Vec<(u64, Entity)>,
    places: HashMap<u64, usize>,
    poses: Vec<Pose>,
    scratch: Parallel<Scratch>,
    /// Of the [`PoseSharing`] of this frame.
    pub(super) steps: Option<f64>,
    /// Number of this frame.
    pub(super) frame: u32,
}

impl Shared {
    /// The pose a character shares in this frame.
    pub(super) fn pose_of(&self, playing: &Playing) -> Option<&[Affine3A]> {
        self.poses.get(playing.place?).map(|pose| &pose.joints[..])
    }
}

/// One evaluation.
#[derive(Default)]
struct Pose {
    key: u64,
    /// A character that wants it.
    character: Option<Entity>,
    joints: Vec<Affine3A>,
}

/// Evaluates what is wanted, each pose once, and hands it to all who keep theirs.
pub(super) fn share(
    assets: Res<Assets<Character>>,
    shared: ResMut<Shared>,
    mut counts: ResMut<PoseCounts>,
    mut characters: Query<(&SkinnedCharacter, &mut Playing, Option<&mut ModelPose>)>,
) {
    let Shared { wanted, all, places, poses, scratch, steps, .. } = shared.into_inner();
    all.clear();
    wanted.iter_mut().for_each(|list| all.append(list));
    if all.is_empty() {
        return;
    }
    places.clear();
    let mut count = 0;
    for &(key, entity) in all.iter() {
        let place = *places.entry(key).or_insert(count);
        if place == count {
            if count == poses.len() {
                poses.push(Pose::default());
            }
            (poses[count].key, poses[count].character) = (key, Some(entity));
            count += 1;
        }
        if let Ok((_, mut playing, _)) = characters.get_mut(entity) {
            playing.bypass_change_detection().place = Some(place);
        }
    }
    counts.evaluated += count;
    counts.shared += all.len() - count;

    let read = characters.as_readonly();
    let steps = *steps;
    let evaluate = |poses: &mut [Pose]| {
        let mut scratch = scratch.borrow_local_mut();
        for pose in poses {
            let Some((handle, playing, _)) = pose.character.and_then(|entity| read.get(entity).ok()) else { continue };
            let Some(character) = assets.get(handle.id()) else { continue };
            playing.evaluate_to(character, steps, &[], &mut scratch, &mut pose.joints);
        }
    };
    let pool = ComputeTaskPool::get();
    let (poses, tasks) = (&mut poses[..count], pool.thread_num() * 4);
    if pool.thread_num() == 1 {
        evaluate(poses);
    } else {
        let size = poses.len().div_ceil(tasks).max(4);
        pool.scope(|scope| {
            for chunk in poses.chunks_mut(size) {
                let evaluate = &evaluate;
                scope.spawn(async move { evaluate(chunk) });
            }
        });
    }

    let poses = &*poses;
    characters.par_iter_mut().batching_strategy(batches()).for_each(|(_, mut playing, pose)| {
        // The others are drawn from the one pose there is.
        let Some(mut pose) = pose else { return };
        let Some(place) = playing.bypass_change_detection().place.take() else { return };
        let Some(Pose { key, joints, .. }) = poses.get(place) else { return };
        pose.joints.clone_from(joints);
        pose.evaluated = *key;
    });
}
