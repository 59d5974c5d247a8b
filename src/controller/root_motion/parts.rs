//! The tracks' parts in the pose at the root joint, from one happening to the next.

use super::movers::{Group, Mover, Movers, Set, Value};
use super::shares::WHOLE;
use crate::{
    controller::{
        AnimationTrack, BlendMode, Clips, TrackPriority,
        course::{Course, Weighing},
        playhead::Known,
        ramp::Ramp,
        tracks::Tracks,
    },
    model::RootPath,
};

impl Tracks {
    /// A track's part in the pose at the root joint, if it has one.
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
        let weight = ramp.map_or(Value::steady(track.share().into()), |ramp| {
            Value::on_ramp(&ramp, self.clock.now)
        });
        let group = match (track.mode(false), track.priority) {
            (BlendMode::Override, _) => Group::Over,
            (_, TrackPriority::Low) => Group::Low,
            (_, TrackPriority::High) => Group::High,
        };
        let speed_ramp = self.speed_ramp(self.driver(at));
        let duration = |ramp: Option<Ramp>| ramp.map_or(f64::INFINITY, |ramp| ramp.duration());
        let shortest = duration(ramp).min(duration(speed_ramp));
        Some(Part {
            known,
            weight,
            mask,
            group,
            shortest,
        })
    }

    /// Adds the clip of a track.
    pub(super) fn add_clip<'c>(
        &self,
        at: usize,
        part: &Part,
        clips: &'c dyn Clips,
        all: &mut Movers<'_, 'c>,
    ) {
        let track = &self.list[at];
        let Some(index) = track.run.index.get() else {
            return;
        };
        let set = if is_base(track, index, clips) {
            Set::Base
        } else {
            self.layer_set(at).unwrap_or(Set::Alone)
        };
        let reaches = takes_part(track, index, clips);
        if reaches || set == Set::Base {
            let path = reaches.then(|| clips.root_path(index)).flatten();
            all.push(Mover {
                path,
                set,
                reaches,
                ..part.mover(at)
            });
        }
    }

    /// Adds the clips of a track's blend space.
    pub(super) fn add_members<'c>(
        &self,
        at: usize,
        part: &Part,
        course: &Course,
        clips: &'c dyn Clips,
        all: &mut Movers<'_, 'c>,
    ) {
        let track = &self.list[at];
        let Some(space) = track.run.space_in(clips) else {
            return;
        };
        for &Weighing {
            member, weights, ..
        } in course.weighing()
        {
            let Some(member) = space.members().get(member) else {
                continue;
            };
            let reaches = takes_part(track, member.clip, clips);
            if !reaches && adds(track, member.clip, clips) {
                continue;
            }
            let set = if is_base(track, member.clip, clips) {
                Set::Base
            } else {
                self.layer_set(at).unwrap_or(Set::Space(at))
            };
            let path = reaches.then(|| clips.root_path(member.clip)).flatten();
            all.push(Mover {
                path,
                playback: member.playback(space, part.known.playback),
                member: Some(member),
                // As much as it is now, and the change per second.
                part: [course.share(weights, self.clock.now), course.slope(weights)],
                set,
                reaches,
                ..part.mover(at)
            });
        }
    }
}

impl Tracks {
    /// The set of a track that is on a layer of states.
    fn layer_set(&self, at: usize) -> Option<Set> {
        let layer = self.list[at].rare.layer.as_ref()?;
        let is_other = |track: &AnimationTrack| track.rare.layer.as_ref() != Some(layer);
        let before = self.list[..at].iter().rposition(is_other);
        Some(Set::Layer(before.map_or(0, |before| before + 1)))
    }
}

/// A track's part in the pose at the root joint, between two happenings.
pub(super) struct Part {
    pub(super) known: Known,
    weight: Value,
    /// The mask's weight at the root joint.
    mask: f64,
    group: Group,
    /// The duration of the shortest ramp that its weight or its speed is on.
    pub(super) shortest: f64,
}

impl Part {
    /// Returns `true` if the track, alone, has all of the pose. A base that weighs less leaves some to the rest pose.
    pub(super) fn is_whole(&self, is_base: bool) -> bool {
        let weighs_all = self.weight.is_steady() && self.weight.0[0] >= WHOLE;
        self.group != Group::Over && (weighs_all || !is_base)
    }

    fn mover<'c>(&self, track: usize) -> Mover<'c> {
        Mover {
            playback: self.known.playback,
            track,
            weight: self.weight,
            mask: self.mask,
            group: self.group,
            ..Mover::NONE
        }
    }
}

/// The path of a track's clip, if it has a part in root motion.
pub(super) fn path_of<'c>(track: &AnimationTrack, clips: &'c dyn Clips) -> Option<&'c RootPath> {
    let index = track.run.index.get()?;
    clips
        .root_path(index)
        .filter(|_| takes_part(track, index, clips))
}

/// Returns `true` if a track's clip has a part in root motion.
fn takes_part(track: &AnimationTrack, index: usize, clips: &dyn Clips) -> bool {
    !adds(track, index, clips) && clips.reaches_root(index)
}

/// Returns `true` if a track's clip is added to a pose, wherever that is.
fn adds(track: &AnimationTrack, index: usize, clips: &dyn Clips) -> bool {
    track.blend == Some(BlendMode::Additive) || clips.is_additive(index)
}

/// Returns `true` if a track's clip is one of the base.
fn is_base(track: &AnimationTrack, index: usize, clips: &dyn Clips) -> bool {
    track.is_base() && !clips.is_additive(index)
}
