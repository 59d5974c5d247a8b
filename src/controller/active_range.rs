//! Ranges among the callback keys: each has a begin and an end, which come in pairs.
//!
//! Whether a track is in a range follows from where it is, so a range begins however the playhead gets there, and ends
//! however it leaves: by playing in either direction, at the end of a round, by a seek, or because the track or its clip
//! is gone. The controller keeps a list of what has begun. Reports are changes of this list and nothing else, which is why
//! none of them is ever alone.
//!
//! ```text
//! loop of length P, range from a to b
//! position   0     a    b     P    P+a  P+b   2P
//!            ├─────[────)─────┼─────[────)─────┤
//! forward          begin end         begin end
//! backward         (────]            (────]        the end that is reached last is outside
//! ```
//!
//! In a blend space, each clip that weighs is at a place of its own, and has its own ranges there.

pub(crate) mod span;

use super::{
    AnimationController, AnimationName, AnimationTrack, CallbackKind, Clips, FiredCallback, KeyRef,
    PlaybackEvent, TrackId,
    compensated::CompensatedF64,
    course::Weighing,
    key::{AddedKey, Key, Keys, Rules},
    log::Log,
    open_range::{InSpace, OpenRange},
    playhead::{periodic, place},
    timed_event::EventKind,
    track::{Known, Start},
};
use crate::model::{CallbackData, CallbackKey};
use span::Span;
use std::sync::Arc;

/// A range of callback keys that a track is in. See [`AnimationController::ranges`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActiveRange<'a> {
    /// The track.
    pub track: TrackId,
    /// The name of its clip, or of the clip in its blend space.
    pub clip: &'a str,
    /// Which key it is.
    pub key: KeyRef,
    /// The range's name.
    pub name: &'a str,
    /// The range's data.
    pub data: &'a CallbackData,
    /// How far the track is from the range's start in the clip, 0, to its end, 1.
    pub progress: f64,
    /// The track's weight; of a blend space, that of the whole.
    pub weight: f32,
}

/// # Ranges
///
/// Callback keys with an [end](crate::model::CallbackKey::until), such as the part of a swing in which a sword hits.
impl AnimationController {
    /// Returns the ranges that tracks are in, in the order they began.
    ///
    /// These are the ones whose [begin](CallbackKind::Begin) was reported and whose end was not, so that both ways to
    /// look at them agree; only a range that its track has left since the last advance, by a seek for example, is missing
    /// already. (In a blend space, it is missing after the next advance.)
    ///
    /// ```
    /// # use bevy_marionette::{controller::AnimationController, model::ClipTiming};
    /// let mut slash = ClipTiming::new("slash", 1.0);
    /// slash.add_range(0.25, 0.75, "hit_window", ());
    /// let mut controller = AnimationController::playing("slash");
    /// controller.advance(0.5, &[slash], &mut Vec::new())?;
    /// assert!(controller.is_inside("hit_window"));
    /// assert_eq!(controller.range("hit_window").unwrap().progress, 0.5);
    /// # Ok::<(), bevy_marionette::controller::AdvanceError>(())
    /// ```
    pub fn ranges(&self) -> impl Iterator<Item = ActiveRange<'_>> {
        self.ranges
            .iter()
            .filter(|range| !range.silent)
            .filter_map(|range| {
                let track = self.track(range.track)?;
                let (known, position) = range.at(track)?;
                let backward = track.speed < 0.0;
                Span::new(known, range.time, range.until)
                    .holds(position, !backward)
                    .then_some(())?;
                let place = periodic(known.playback, known.length, position);
                let length = range.until - range.time;
                let progress = if length > 0.0 {
                    ((place - range.time) / length).clamp(0.0, 1.0)
                } else {
                    1.0
                };
                let OpenRange {
                    key, name, data, ..
                } = range;
                let clip = range.clip();
                let (track, weight) = (range.track, track.share());
                Some(ActiveRange {
                    track,
                    clip,
                    key: *key,
                    name,
                    data,
                    progress,
                    weight,
                })
            })
    }

    /// Returns the first range with this name that a track is in. See [`ranges`](Self::ranges).
    pub fn range(&self, name: &str) -> Option<ActiveRange<'_>> {
        self.ranges().find(|range| range.name == name)
    }

    /// Returns `true` if a track is in a range with this name. See [`ranges`](Self::ranges).
    pub fn is_inside(&self, name: &str) -> bool {
        self.range(name).is_some()
    }
}

/// What has ranges: a track's clip, or one in its blend space.
#[derive(Clone)]
pub(super) struct Line<'a> {
    pub(super) track: TrackId,
    /// The name of what the track plays.
    pub(super) name: &'a AnimationName,
    pub(super) known: Known,
    /// The clip's index.
    pub(super) clip: usize,
    /// The clip's name, if it is in a blend space.
    pub(super) member: Option<&'a Arc<str>>,
    pub(super) keys: Keys<'a>,
}

impl Line<'_> {
    fn open(&self, key: &Key, until: f64, position: f64, silent: bool) -> OpenRange {
        let in_space = |clip: &Arc<str>| InSpace {
            clip: clip.clone().into(),
            known: self.known,
            position,
        };
        OpenRange {
            track: self.track,
            key: key.key,
            clip: self.name.clone(),
            member: self.member.map(in_space),
            index: self.clip,
            name: AnimationName::new(key.name.clone()),
            data: key.data.clone(),
            time: key.time,
            until,
            silent,
        }
    }
}

/// A clip that moves in one direction, for its ranges.
pub(super) struct RangeSweep<'a> {
    pub(super) line: Line<'a>,
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) forward: bool,
    /// Whether the track begins here, and whether it was put here by a seek before it began.
    pub(super) first: bool,
    pub(super) placed: bool,
    pub(super) begin: CompensatedF64,
    pub(super) rules: Rules<'a>,
}

impl RangeSweep<'_> {
    /// Reports the ranges that begin and end on the way. `moment` gives the time of a position, and `weight` the weight at
    /// a time. Counts what is reported, and notes that it was too much.
    pub(super) fn run(
        &self,
        (fired, reported_flood): (&mut usize, &mut bool),
        moment: impl Fn(f64) -> CompensatedF64,
        weight: impl Fn(CompensatedF64) -> f32,
        log: &mut Log,
    ) {
        let Self {
            ref line,
            from,
            to,
            forward,
            first,
            ..
        } = *self;
        let Line {
            track,
            known,
            clip,
            member,
            ..
        } = *line;
        let Rules {
            limit,
            threshold,
            current,
            ..
        } = self.rules;
        let still = place(known.length, from) == place(known.length, to);
        let mut flooded = None;
        let at = |position: f64| periodic(known.playback, known.length, position);
        let mut each = |key: Key<'_>| {
            let Some(until) = key.until else { return };
            let span = Span::new(known, key.time, until);
            let mut begun = 0;
            let mut change = |position: f64, place: f64, begins: bool, log: &mut Log| {
                let moment = if position == from {
                    self.begin
                } else {
                    moment(position)
                };
                let way = Way {
                    clip,
                    time: moment.value(),
                    weight: weight(moment),
                    current,
                };
                if !begins {
                    log.end_range(track, member, key.key, place, way);
                    return true;
                }
                // Those below the threshold count here, too: there may be billions of rounds.
                let dropped = *fired >= limit || begun >= limit || !log.count_passed();
                begun += 1;
                let silent = dropped || way.weight < threshold;
                *fired += usize::from(!silent);
                log.begin_range(line.open(&key, until, position, silent), place, way);
                if dropped && way.weight >= threshold {
                    flooded = flooded.or(Some(way.time));
                }
                !dropped
            };
            // It may have been moved, or have turned around, since its last step.
            let starts_in = span.contains(from, forward);
            let begins = first || (self.placed && span.encloses(from));
            if (!still || begins) && starts_in != log.is_open(track, member, key.key) {
                change(from, at(from), starts_in, log);
            }
            let at_once = first
                && !starts_in
                && place(known.length, until) == place(known.length, key.time)
                && span.touches(from);
            if at_once && change(from, key.time, true, log) {
                change(from, key.time, false, log);
            }
            let mut whole = true;
            span.cross(from, to, forward, |position, begins| {
                whole = change(
                    position,
                    span.place_of(position, begins, forward),
                    begins,
                    log,
                );
                whole
            });
            if !whole {
                // The rest is not reported, so that it must not end with a report either.
                log.forget_range(track, member, key.key);
                if span.contains(to, forward) {
                    change(to, at(to), true, log);
                }
            }
        };
        if forward {
            line.keys.clone().for_each(|(_, key)| each(key));
        } else {
            line.keys.clone().rev().for_each(|(_, key)| each(key));
        }
        if let Some(time) = flooded
            && !std::mem::replace(reported_flood, true)
        {
            log.push(PlaybackEvent::TooManyCallbacks {
                track,
                clip,
                limit,
                time,
            });
        }
    }
}

/// How a range was entered or left.
#[derive(Clone, Copy)]
struct Way {
    clip: usize,
    time: f64,
    weight: f32,
    current: bool,
}

impl Log {
    fn is_open(&mut self, track: TrackId, member: Option<&Arc<str>>, key: KeyRef) -> bool {
        self.count_work(1 + self.ranges.len() / 16);
        self.ranges.iter().any(|open| open.is(track, member, key))
    }

    fn begin_range(&mut self, open: OpenRange, clip_time: f64, way: Way) {
        if !open.silent {
            self.report(&open, CallbackKind::Begin, clip_time, way);
        }
        self.ranges.push(open);
    }

    fn end_range(
        &mut self,
        track: TrackId,
        member: Option<&Arc<str>>,
        key: KeyRef,
        clip_time: f64,
        way: Way,
    ) {
        if let Some(at) = self
            .ranges
            .iter()
            .position(|open| open.is(track, member, key))
        {
            let clip = self.ranges[at].index;
            self.end_range_at(at, clip_time, Way { clip, ..way });
        }
    }

    fn end_range_at(&mut self, at: usize, clip_time: f64, way: Way) {
        let open = self.ranges.remove(at);
        if !open.silent {
            self.report(&open, CallbackKind::End, clip_time, way);
        }
    }

    fn forget_range(&mut self, track: TrackId, member: Option<&Arc<str>>, key: KeyRef) {
        self.ranges.retain(|open| !open.is(track, member, key));
    }

    fn report(&mut self, open: &OpenRange, kind: CallbackKind, clip_time: f64, way: Way) {
        let OpenRange {
            track,
            key,
            name,
            data,
            ..
        } = open;
        let Way {
            clip,
            time,
            weight,
            current,
        } = way;
        let (name, data) = (name.clone(), data.clone());
        let callback = FiredCallback {
            track: *track,
            clip,
            key: *key,
            kind,
            name,
            data,
            clip_time,
            time,
            weight,
            current,
        };
        self.push(PlaybackEvent::Callback(callback));
    }
}

impl AnimationController {
    /// Returns `true` if there are ranges among keys.
    pub(super) fn has_ranges(keys: &[CallbackKey], added: &[AddedKey]) -> bool {
        keys.iter().any(|key| key.until.is_some()) || added.iter().any(AddedKey::is_range)
    }

    /// Ends the ranges that tracks have left other than by playing, and begins those that they were put into.
    ///
    /// The clips of a blend space that weigh are those of its present [course](super::course::Course): a clip comes or goes
    /// at a cut, and one that has no weight for a mere moment, on its way through a corner, stays.
    pub(super) fn settle_ranges<C: Clips + ?Sized>(&self, clips: &C, log: &mut Log) {
        let mut at = 0;
        while at < log.ranges.len() {
            if self.is_still_in(&mut log.ranges[at], clips) {
                at += 1;
                continue;
            }
            let open = &log.ranges[at];
            let there = self.track(open.track);
            let plays = there.filter(|there| there.clip == open.clip && there.known.is_some());
            let mut weight = there.map_or(0.0, |track| self.weight_now(track));
            let place = match (plays, &open.member) {
                (None, _) => open.until,
                (Some(track), None) => track.position(),
                (Some(track), Some(member)) => {
                    let found = track.line_in_space(member.clip.as_arc(), clips);
                    let course = track.run.0.course.as_ref();
                    let ends = found.and_then(|(.., ends)| ends);
                    weight *= course
                        .zip(ends)
                        .map_or(0.0, |(course, ends)| course.share(ends, self.time))
                        as f32;
                    let (known, position) =
                        found.map_or((member.known, member.position), |found| (found.0, found.1));
                    periodic(known.playback, known.length, position)
                }
            };
            let is_space = || {
                clips
                    .blend_spaces()
                    .iter()
                    .any(|space| open.clip().is(space.name()))
            };
            let clip = match clips.timing(open.index) {
                Some(timing) if open.clip().is(&timing.name) || is_space() => open.index,
                _ => clips.index_of(open.clip()).unwrap_or(usize::MAX),
            };
            let current = self.playback.current == Some(open.track);
            log.end_range_at(
                at,
                place,
                Way {
                    clip,
                    time: self.time.value(),
                    weight,
                    current,
                },
            );
        }
        for track in self
            .tracks
            .iter()
            .filter(|track| track.enabled && track.start == Start::Begun)
        {
            let (Some(index), Some(known)) = (track.run.0.index, track.known) else {
                continue;
            };
            let weight = || self.weight_now(track);
            let (id, name) = (track.id, &track.clip);
            let added = if self.callbacks.is_empty() {
                &[][..]
            } else {
                &track.run.0.added[..]
            };
            let space = track
                .run
                .0
                .space
                .and_then(|space| clips.blend_spaces().get(space));
            let own = match track.run.0.space {
                None => clips
                    .timing(index)
                    .map_or(&[][..], |timing| &timing.callbacks),
                Some(_) => &[],
            };
            if Self::has_ranges(own, added) {
                let keys = Keys::new(own, added, &self.callbacks, known.length);
                let line = Line {
                    track: id,
                    name,
                    known,
                    clip: index,
                    member: None,
                    keys,
                };
                self.begin_enclosing(&line, track.held().value(), weight, log);
            }
            let (Some(space), Some(course)) = (space, &track.run.0.course) else {
                continue;
            };
            for &Weighing {
                member: at,
                weights,
                ..
            } in course.weighing()
            {
                let Some(member) = space.members().get(at) else {
                    continue;
                };
                let own = clips
                    .timing(member.clip)
                    .map_or(&[][..], |timing| &timing.callbacks);
                let added = if self.callbacks.is_empty() {
                    &[][..]
                } else {
                    course.added.get(at).map_or(&[][..], |a| a)
                };
                if !Self::has_ranges(own, added) {
                    continue;
                }
                let known = Known {
                    length: member.length,
                    playback: member.playback(space, known.playback),
                };
                let keys = Keys::new(own, added, &self.callbacks, known.length);
                let line = Line {
                    track: id,
                    name,
                    known,
                    clip: member.clip,
                    member: Some(&member.name),
                    keys,
                };
                let position = member.place(known.playback, track.held().value());
                let share = course.share(weights, self.time) as f32;
                self.begin_enclosing(&line, position, || weight() * share, log);
            }
        }
    }

    /// A track's weight at the present time.
    fn weight_now(&self, track: &AnimationTrack) -> f32 {
        let ramp = self.running_ramp(track.id, EventKind::Weight);
        ramp.map_or(track.share(), |ramp| (ramp.at(self.time) as f32).max(0.0))
    }

    /// Begins the ranges that a clip is in.
    fn begin_enclosing(&self, line: &Line, position: f64, weight: impl Fn() -> f32, log: &mut Log) {
        for (_, key) in line.keys.clone() {
            let Some(until) = key.until else { continue };
            let inside = Span::new(line.known, key.time, until).encloses(position);
            if !inside || log.is_open(line.track, line.member, key.key) {
                continue;
            }
            let (weight, current) = (weight(), self.playback.current == Some(line.track));
            let open = line.open(&key, until, position, weight < self.callback_threshold);
            let way = Way {
                clip: line.clip,
                time: self.time.value(),
                weight,
                current,
            };
            log.begin_range(
                open,
                periodic(line.known.playback, line.known.length, position),
                way,
            );
        }
    }

    /// Returns `true` if a track is still in a range that began, which is brought up to date.
    fn is_still_in<C: Clips + ?Sized>(&self, open: &mut OpenRange, clips: &C) -> bool {
        let Some(track) = self
            .track(open.track)
            .filter(|track| track.enabled && track.clip == open.clip)
        else {
            return false;
        };
        let (Some(index), Some(known)) = (track.run.0.index, track.known) else {
            return false;
        };
        let all = &self.callbacks;
        let (index, known, position, own, added) = match &mut open.member {
            None => {
                let own = match track.run.0.space {
                    None => clips
                        .timing(index)
                        .map_or(&[][..], |timing| &timing.callbacks),
                    Some(_) => &[],
                };
                // What stands for a blend space may be another clip by now, but a range ends as it began.
                let index = if track.run.0.space.is_some() {
                    open.index
                } else {
                    index
                };
                (
                    index,
                    known,
                    track.held().value(),
                    own,
                    &track.run.0.added[..],
                )
            }
            Some(member) => {
                let Some((known, position, ends)) =
                    track.line_in_space(member.clip.as_arc(), clips)
                else {
                    return false;
                };
                // Parameters that have just come to an edge are on their way to one side of it.
                let course = track.run.0.course.as_ref();
                let is_at_edge = || {
                    track.steering.way.is_some()
                        && course.is_some_and(|course| course.is_momentary())
                };
                if ends.is_none() && !is_at_edge() {
                    return false;
                }
                let Some((at, index)) = track.member_called(member.clip.as_arc(), clips) else {
                    return false;
                };
                (member.known, member.position) = (known, position);
                let added = track
                    .run
                    .0
                    .course
                    .as_ref()
                    .and_then(|course| course.added.get(at));
                let own = clips
                    .timing(index)
                    .map_or(&[][..], |timing| &timing.callbacks);
                (
                    index,
                    known,
                    position,
                    own,
                    added.map_or(&[][..], |added| added),
                )
            }
        };
        let added = if all.is_empty() { &[][..] } else { added };
        let mut keys = Keys::new(own, added, all, known.length);
        let found = keys.find(|(_, key)| key.key == open.key && **key.name == *open.name);
        let Some((time, until)) = found.and_then(|(_, key)| Some((key.time, key.until?))) else {
            return false;
        };
        (open.index, open.time, open.until) = (index, time, until);
        let ramp = self.running_ramp(track.id, EventKind::Speed);
        let speed = ramp.map_or(track.speed, |ramp| ramp.at(self.time));
        let backward = speed < 0.0;
        Span::new(known, time, until).holds(position, !backward)
    }
}

impl AnimationTrack {
    /// The index of a clip in the track's blend space, and of the clip itself.
    fn member_called<C: Clips + ?Sized>(
        &self,
        name: &Arc<str>,
        clips: &C,
    ) -> Option<(usize, usize)> {
        let space = clips.blend_spaces().get(self.run.0.space?)?;
        let at = space
            .members()
            .iter()
            .position(|member| member.name == *name)?;
        Some((at, space.members()[at].clip))
    }

    /// Where a clip of the track's blend space is, and its weights at both ends of the course if it weighs.
    fn line_in_space<C: Clips + ?Sized>(
        &self,
        name: &Arc<str>,
        clips: &C,
    ) -> Option<(Known, f64, Option<[f64; 2]>)> {
        let (at, _) = self.member_called(name, clips)?;
        let space = clips.blend_spaces().get(self.run.0.space?)?;
        let member = &space.members()[at];
        let playback = member.playback(space, self.known?.playback);
        let weighs = self
            .run
            .0
            .course
            .as_ref()?
            .weighing()
            .iter()
            .find(|other| other.member == at);
        let position = member.place(playback, self.held().value());
        Some((
            Known {
                length: member.length,
                playback,
            },
            position,
            weighs.map(|weighing| weighing.weights),
        ))
    }
}
