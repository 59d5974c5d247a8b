//! Blend spaces bound to their clips.

use super::{
    BlendPoint, BlendSpace, BlendSpaceError, BlendSync,
    warp::{Mark, Phase, Warp},
    weights::Weights,
};
use crate::model::{
    CallbackData, CallbackKey, CallbackKeys, ClipTiming, Marks, PlaybackMode,
    callback_keys::PlayedMarks,
};
use std::{ops::Deref, sync::Arc};

/// A clip shorter than this, in seconds, is a pose: it has no pace.
const POSE: f64 = 1e-3;

/// The time at which a foot lands in a clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SyncMark {
    /// Seconds from the clip's start, in `0..=duration`.
    pub time: f64,
    /// The foot: the same number in all clips.
    pub foot: usize,
}

/// A [`BlendSpace`] with the lengths and marks of its clips: the form that a track plays.
///
/// The clips share a *phase*, which rises by 1 per cycle. It is the fraction of the first clip that has marks (the first
/// clip, if none has), and the other clips are stretched so that matching marks are passed together. A clip alone plays
/// at its own speed. In between, the phase rises at the weighted mean of the clips' own rates, which changes as evenly as
/// the weights do; a pose takes the rate of the nearest clip that has one.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundBlendSpace {
    space: Arc<BlendSpace>,
    /// Each clip once. What was bound together shares them.
    members: Arc<[Member]>,
    /// The member of each point.
    member_of: Box<[usize]>,
    playback: PlaybackMode,
    marks: SpaceMarks,
}

/// What a track passes that plays the space: derived from the members, which bound spaces that are clones share.
#[derive(Clone, Default)]
struct SpaceMarks(Arc<PlayedMarks>);

impl PartialEq for SpaceMarks {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl std::fmt::Debug for SpaceMarks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("..")
    }
}

/// A clip of a bound blend space.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member {
    /// The clip's index.
    pub(crate) clip: usize,
    pub(crate) name: Arc<str>,
    /// Seconds, finite and ≥ 0.
    pub(crate) length: f64,
    /// The clip's keys when it was bound.
    pub(crate) keys: CallbackKeys,
    /// Cycles per second; 0 if all clips are poses.
    pace: f64,
    warp: Warp,
}

/// The clips with non-zero weight at a point, and the speed of the phase there.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cycle {
    /// Members, in order of their indices, with weights above 0 that sum to 1.
    pub(crate) weights: Weights<3>,
    /// Cycles per second.
    pub(crate) pace: f64,
}

impl BlendSpace {
    /// Binds the space to clips, given in the order of their indices. `landings` returns when feet land in the clip of an
    /// index, for [`BlendSync::Feet`].
    ///
    /// # Errors
    /// If there is no clip of a point's name.
    #[doc(hidden)]
    pub fn bind<'c>(
        self: &Arc<Self>,
        clips: impl IntoIterator<Item = &'c ClipTiming>,
        landings: impl Fn(usize) -> Vec<SyncMark>,
    ) -> Result<BoundBlendSpace, BlendSpaceError> {
        let clips: Vec<&ClipTiming> = clips.into_iter().collect();
        self.bind_by(
            |name| clips.iter().position(|clip| *clip.name == *name),
            |clip| clips[clip],
            landings,
        )
    }

    /// Does the same, with clips looked up by name and by index.
    pub(crate) fn bind_by<'c>(
        self: &Arc<Self>,
        find: impl Fn(&str) -> Option<usize>,
        timing: impl Fn(usize) -> &'c ClipTiming,
        landings: impl Fn(usize) -> Vec<SyncMark>,
    ) -> Result<BoundBlendSpace, BlendSpaceError> {
        let (mut found, mut member_of): (Vec<usize>, Vec<usize>) = Default::default();
        for (name, _) in &self.points {
            let clip = find(name);
            let clip = clip.ok_or_else(|| BlendSpaceError::NoClip(name.clone()))?;
            let known = found.iter().position(|other| *other == clip);
            member_of.push(known.unwrap_or(found.len()));
            if known.is_none() {
                found.push(clip);
            }
        }
        let first = timing(found[0]).playback;
        let alike = found.iter().all(|clip| timing(*clip).playback == first);
        let playback = if alike { first } else { PlaybackMode::Loop };
        let marks: Vec<Vec<Mark>> = match &self.sync {
            BlendSync::Feet => found
                .iter()
                .map(|clip| of_feet(landings(*clip), timing(*clip).duration))
                .collect(),
            BlendSync::Keys(names) => of_keys(names, found.iter().map(|clip| timing(*clip))),
            BlendSync::Fraction => vec![Vec::new(); found.len()],
        };
        let length = |clip: usize| {
            Some(timing(clip).duration).filter(|length| length.is_finite() && *length >= POSE)
        };
        let reference =
            (0..found.len()).find(|at| !marks[*at].is_empty() && length(found[*at]).is_some());
        let members = found.iter().enumerate().map(|(at, clip)| {
            let warp = match (
                reference.and_then(|at| Some((at, length(found[at])?))),
                length(*clip),
            ) {
                (Some((first, whole)), Some(length))
                    if first != at && playback != PlaybackMode::PingPong =>
                {
                    Warp::matching(
                        &marks[first],
                        whole,
                        &marks[at],
                        length,
                        playback == PlaybackMode::Once,
                    )
                }
                _ => Warp::default(),
            };
            let ClipTiming {
                name, callbacks, ..
            } = timing(*clip);
            Member {
                clip: *clip,
                name: name.clone(),
                keys: callbacks.clone(),
                length: length(*clip).unwrap_or(0.0),
                pace: 0.0,
                warp,
            }
        });
        let mut members: Vec<Member> = members.collect();
        // Set once all lengths are known: a pose takes the pace of another clip.
        for at in 0..members.len() {
            members[at].pace = self.nearest_pace(at, &members, &member_of);
        }
        Ok(BoundBlendSpace {
            space: self.clone(),
            members: members.into(),
            member_of: member_of.into(),
            playback,
            marks: SpaceMarks::default(),
        })
    }

    /// The pace of a member, or of the member nearest to it that has a length.
    fn nearest_pace(&self, member: usize, members: &[Member], member_of: &[usize]) -> f64 {
        let points = || member_of.iter().enumerate();
        let ours = || {
            points()
                .filter(|(_, of)| **of == member)
                .map(|(point, _)| self.points[point].1)
        };
        let far = |(point, _): &(usize, &usize)| {
            let at = self.points[*point].1;
            ours()
                .map(|our| self.layout.distance(our.vector(), at.vector()))
                .fold(f64::INFINITY, f64::min)
        };
        let paced = points().filter(|(_, of)| members[**of].length > 0.0);
        let nearest = paced.min_by(|a, b| far(a).total_cmp(&far(b)));
        let own = members[member].length;
        let length = if own > 0.0 {
            Some(own)
        } else {
            nearest.map(|(_, of)| members[*of].length)
        };
        length.map_or(0.0, f64::recip)
    }
}

/// The landings of feet as marks. A foot that lands at a loop's end lands at its start.
fn of_feet(landings: Vec<SyncMark>, length: f64) -> Vec<Mark> {
    let within = |mark: &&SyncMark| (0.0..=length).contains(&mark.time);
    let wrapped = |time: f64| if time < length { time } else { 0.0 };
    let mut marks: Vec<Mark> = landings
        .iter()
        .filter(within)
        .map(|mark| (wrapped(mark.time), mark.foot))
        .collect();
    // Matching takes the square of their number.
    marks.truncate(if marks.len() > BlendSpace::MOST_LANDINGS {
        0
    } else {
        BlendSpace::MOST_LANDINGS
    });
    marks.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    marks
}

/// The most keys of a clip that are matched.
const MOST_MARKS: usize = 64;

/// The keys of some names as marks: those of one name with the same data are alike.
fn of_keys<'c>(names: &[String], clips: impl Iterator<Item = &'c ClipTiming>) -> Vec<Vec<Mark>> {
    let mut known: Vec<(&str, &CallbackData)> = Vec::new();
    let mut label = |key: &'c CallbackKey| {
        let this = (&*key.name, &key.data);
        known
            .iter()
            .position(|other| *other == this)
            .unwrap_or_else(|| {
                known.push(this);
                known.len() - 1
            })
    };
    let marks = |clip: &'c ClipTiming| {
        let keys = clip
            .callbacks
            .iter()
            .filter(|key| names.iter().any(|name| **name == *key.name));
        let mut marks: Vec<Mark> = keys
            .take(MOST_MARKS + 1)
            .map(|key| (key.time, label(key)))
            .collect();
        // Too many keys to mark steps.
        marks.truncate(if marks.len() > MOST_MARKS {
            0
        } else {
            MOST_MARKS
        });
        marks
    };
    clips.map(marks).collect()
}

impl BoundBlendSpace {
    /// Returns the playback of a cycle: that of all clips, or a loop if they differ.
    pub fn playback(&self) -> PlaybackMode {
        self.playback
    }

    /// Returns the length of a cycle at some parameters, in seconds at speed 1; 0 if all clips are poses.
    pub fn cycle_length(&self, point: impl Into<BlendPoint>) -> f64 {
        let pace = self.cycle(self.nearest(point)).pace;
        if pace > 0.0 { pace.recip() } else { 0.0 }
    }

    /// Returns the phase of the space, in `0..=1`, at which one of its clips is at `time` seconds. `None` if the clip is not in
    /// the space, or is a pose.
    pub fn phase_of(&self, clip: &str, time: f64) -> Option<f64> {
        let member = self
            .members
            .iter()
            .find(|member| *member.name == *clip && member.length > 0.0)?;
        let phase = member.phase(member.playback(self, self.playback), time);
        Some(if self.playback == PlaybackMode::Loop {
            phase.rem_euclid(1.0)
        } else {
            phase.clamp(0.0, 1.0)
        })
    }

    /// Returns the indices of all clips, each once.
    pub fn clips(&self) -> impl Iterator<Item = usize> {
        self.members.iter().map(|member| member.clip)
    }

    /// Returns `true` if a clip has a length.
    #[inline]
    pub(crate) fn has_length(&self) -> bool {
        self.members.iter().any(|member| member.length > 0.0)
    }

    /// Returns the clips: the same for one space, as long as they are shared.
    #[inline]
    pub(crate) fn members(&self) -> &Arc<[Member]> {
        &self.members
    }

    /// Returns what a track passes that plays the space with some playback, and the keys that its clips were bound with.
    /// `compile` is called if nobody has asked before.
    pub(crate) fn marks(
        &self,
        playback: PlaybackMode,
        compile: impl FnOnce() -> Marks,
    ) -> Arc<Marks> {
        self.marks.0.get(playback, compile).clone()
    }

    /// Returns the clips with non-zero weight at a point within the space.
    pub(crate) fn cycle(&self, point: BlendPoint) -> Cycle {
        let mut cycle = Cycle::default();
        self.cycle_to(point, &mut cycle);
        cycle
    }

    /// Like [`Self::cycle`], but writes to an existing value.
    #[inline]
    pub(crate) fn cycle_to(&self, point: BlendPoint, Cycle { weights, pace }: &mut Cycle) {
        *weights = Weights::NONE;
        for (index, weight) in self.space.layout.weights(point.vector()) {
            if weight > 0.0 {
                weights.add(self.member_of[index], weight);
            }
        }
        // By index, so that sums have the same bits whichever triangle the point is in.
        let count = weights.len;
        if !weights.is_sorted_by_key(|(member, _)| *member) {
            weights.of[..count].sort_unstable_by_key(|(member, _)| *member);
        }
        *pace = weights
            .iter()
            .map(|(member, weight)| self.members[*member].pace * weight)
            .sum();
    }
}

impl Deref for BoundBlendSpace {
    type Target = BlendSpace;

    fn deref(&self) -> &BlendSpace {
        &self.space
    }
}

/// Positions, unwrapped, under a playback that is [its own](Self::playback).
impl Member {
    /// Returns the clip's playback in a cycle with some playback. A cycle that goes back and forth
    /// is not stretched.
    #[inline]
    pub(crate) fn playback(&self, space: &BoundBlendSpace, cycle: PlaybackMode) -> PlaybackMode {
        match (cycle, space.playback) {
            (PlaybackMode::Once, PlaybackMode::Once) => PlaybackMode::Once,
            (PlaybackMode::PingPong, _) => PlaybackMode::PingPong,
            _ => PlaybackMode::Loop,
        }
    }

    /// The clip's position at a phase.
    pub(crate) fn place(&self, playback: PlaybackMode, phase: f64) -> f64 {
        if playback == PlaybackMode::PingPong {
            phase * self.length
        } else {
            self.warp.place(phase, self.length)
        }
    }

    /// The clip's position at a phase, and the seconds of clip per phase there.
    pub(crate) fn place_and_slope(&self, playback: PlaybackMode, phase: Phase) -> (f64, f64) {
        match playback {
            PlaybackMode::PingPong => (phase.whole * self.length, self.length),
            _ => self.warp.place_and_slope(phase, self.length),
        }
    }

    /// The same in a loop, with the position within the clip.
    #[inline]
    pub(crate) fn place_in_loop(&self, phase: Phase) -> (f64, f64) {
        self.warp.place_in_loop(phase, self.length)
    }

    /// The phase at a position of the clip, which must have a length.
    pub(crate) fn phase(&self, playback: PlaybackMode, place: f64) -> f64 {
        if playback == PlaybackMode::PingPong {
            place / self.length
        } else {
            self.warp.phase(place, self.length)
        }
    }

    /// The next position beyond another at which the slope may change.
    pub(crate) fn next_bend(
        &self,
        playback: PlaybackMode,
        place: f64,
        forward: bool,
    ) -> Option<f64> {
        let warp =
            (playback != PlaybackMode::PingPong && self.length > 0.0).then_some(&self.warp)?;
        warp.next_bend(place, self.length, forward)
    }
}

#[cfg(test)]
#[path = "tests/bound.rs"]
mod tests;
