//! The tracks' parts in the pose at the root joint, from one happening to the next.

use super::movers::{Group, Mover, Part, Set, Value};
use super::shares::WHOLE;
use crate::{
    controller::{AnimationTrack, BlendMode, Clips, TrackPriority, tracks::Tracks},
    model::RootPath,
};

impl Tracks {
    /// Returns a track's part in the pose at the root joint, if it has one.
    pub(super) fn part(&self, at: usize, clips: &dyn Clips) -> Option<Part> {
        let track = &self.list[at];
        let known = track.present()?;
        let ramp = self.weight_ramp(at);
        let mask = track
            .mask
            .as_deref()
            .map_or(1.0, |mask| f64::from(clips.root_mask(mask)));
        if mask <= 0.0 || (track.share() <= 0.0 && ramp.is_none()) {
            return None;
        }
        let group = match (track.mode(false), track.priority) {
            (BlendMode::Override, _) => Group::Over,
            (_, TrackPriority::Low) => Group::Low,
            (_, TrackPriority::High) => Group::High,
        };
        Some(Part {
            track: at,
            playback: known.playback,
            weight: Value::new(track.share(), ramp),
            mask,
            group,
        })
    }

    /// Returns `true` if a track that is alone has all of the pose. A base that weighs less leaves some to the rest pose.
    pub(super) fn has_all_of_the_pose(&self, part: &Part) -> bool {
        let track = &self.list[part.track];
        let weighs_all = part.weight.is_steady() && part.weight.terms[0] >= WHOLE;
        part.group != Group::Over && (weighs_all || !track.is_base()) && track.course().is_none()
    }

    /// Returns the path of a track's clip, if it has a part in root motion.
    pub(super) fn path_of<'c>(&self, at: usize, clips: &'c dyn Clips) -> Option<&'c RootPath> {
        let track = &self.list[at];
        let index = track.run.index.get()?;
        clips
            .root_path(index)
            .filter(|_| takes_part(track, index, clips))
    }

    /// Adds the clip of a track, or those of its blend space.
    pub(super) fn add_clips<'c>(
        &self,
        part: &Part,
        clips: &'c dyn Clips,
        movers: &mut Vec<Mover<'c>>,
    ) {
        let track = &self.list[part.track];
        let mut add = |clip: usize, alone: Set, mover: Mover<'c>| {
            let reaches = takes_part(track, clip, clips);
            if reaches || !adds(track, clip, clips) {
                let is_base = track.is_base() && !clips.is_additive(clip);
                let set = is_base.then_some(Set::Base);
                movers.push(Mover {
                    path: clips.root_path(clip).filter(|_| reaches),
                    set: set.or_else(|| self.layer_set(part.track)).unwrap_or(alone),
                    reaches,
                    ..mover
                });
            }
        };
        let Some(course) = track.course() else {
            if let Some(index) = track.run.index.get() {
                let part = *part;
                add(
                    index,
                    Set::Alone,
                    Mover {
                        part,
                        ..Mover::NONE
                    },
                );
            }
            return;
        };
        let Some(space) = track.run.space_in(clips) else {
            return;
        };
        for weighing in course.weighing() {
            if let Some(member) = space.members().get(weighing.member) {
                let playback = member.playback(space, part.playback);
                let terms = [
                    weighing.weights[0],
                    course.slope(weighing.weights),
                    0.0,
                    0.0,
                ];
                let mover = Mover {
                    part: Part { playback, ..*part },
                    member: Some(member),
                    in_space: Value {
                        since: course.pace().since,
                        terms,
                    },
                    ..Mover::NONE
                };
                add(member.clip, Set::Space(part.track), mover);
            }
        }
    }

    /// The set of a track that is on a layer of states.
    fn layer_set(&self, at: usize) -> Option<Set> {
        let layer = self.list[at].rare.layer.as_ref()?;
        let is_other = |track: &AnimationTrack| track.rare.layer.as_ref() != Some(layer);
        let before = self.list[..at].iter().rposition(is_other);
        Some(Set::Layer(before.map_or(0, |before| before + 1)))
    }
}

/// Returns `true` if a track's clip has a part in root motion.
fn takes_part(track: &AnimationTrack, index: usize, clips: &dyn Clips) -> bool {
    !adds(track, index, clips) && clips.reaches_root(index)
}

/// Returns `true` if a track's clip is added to a pose, wherever that is.
fn adds(track: &AnimationTrack, index: usize, clips: &dyn Clips) -> bool {
    track.blend == Some(BlendMode::Additive) || clips.is_additive(index)
}
