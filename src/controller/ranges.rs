//! Ranges among the callback keys: two marks and a membership.
//!
//! A range begins where a track passes its first end, and ends where it passes the other. Whether a track is in a range also
//! follows from where it is, so a range begins, too, when a track is put into it, and ends when it is moved out of it, or is
//! gone. The controller keeps a list of what has begun. Reports are changes of this list and nothing else, which is why none
//! of them is ever alone.
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

use super::{
    AnimationController, AnimationTrack, CallbackKind, Clips, FiredCallback, PlaybackEvent,
    look_up::is_space,
    motion::Instant,
    on_way::KeyOnWay,
    step::{Crossing, Passed, RangePassed, Step, What},
};
use crate::{
    controller::{
        KeyRef,
        open_range::{InSpace, OpenRange},
        playhead::Known,
    },
    model::{MarkKey, Member},
};
use std::mem;

impl AnimationController {
    /// Returns `true` if it has begun a range, or there are any on the tracks' ways.
    pub(super) fn has_ranges(&self) -> bool {
        let has_ranges = |track: &AnimationTrack| {
            let marks = track.run.marks.as_ref();
            marks.is_some_and(|marks| marks.has_ranges())
        };
        !self.extras.ranges.is_empty() || self.tracks.iter().any(has_ranges)
    }

    /// Enters or leaves a range that a track passes an end of.
    pub(super) fn cross(
        &mut self,
        at: usize,
        passed: &Passed,
        range: RangePassed,
        step: &mut Step,
    ) {
        use Crossing::{Enters, Flashes, Leaves};
        let weight = self.weight_now(at) * passed.share as f32;
        let clips = step.clips;
        let open = |this: &Self| this.open_range(at, passed, range.key, clips);
        if let (None, Enters | Flashes) = (open(self), range.crossing) {
            self.begin_range(at, passed, range, step);
        }
        if let (Some(open), Leaves | Flashes) = (open(self), range.crossing) {
            self.end_range(open, range.clip_time, weight, step);
        }
    }

    /// The clip of a blend space among those of a track.
    fn member<'c>(&self, at: usize, passed: &Passed, clips: &'c dyn Clips) -> Option<&'c Member> {
        let space = self.tracks[at].run.space_in(clips)?;
        space.members().get(passed.member? as usize)
    }

    /// The index of a range that has begun.
    fn open_range(
        &self,
        at: usize,
        passed: &Passed,
        key: KeyRef,
        clips: &dyn Clips,
    ) -> Option<usize> {
        let (id, member) = (
            self.tracks[at].id,
            self.member(at, passed, clips).map(|member| &member.name),
        );
        self.extras
            .ranges
            .iter()
            .position(|open| open.is(id, member, key))
    }

    fn begin_range(&mut self, at: usize, passed: &Passed, range: RangePassed, step: &mut Step) {
        let weight = self.weight_now(at) * passed.share as f32;
        let callbacks = &self.extras.callbacks;
        let found = range.key.name_and_data(passed.clip, callbacks, step.clips);
        let Some((name, data)) = found.map(|(name, data)| (name.clone().into(), data.clone()))
        else {
            return;
        };
        // Below the threshold, beyond the limit, or at a passing that doesn't count, it is not heard of.
        let mut silent = weight < self.callback_threshold || self.tracks[at].run.muted;
        if !silent && step.fired >= self.callback_limit {
            self.flood(at, passed.clip, step);
            silent = true;
        }
        silent = silent || !self.counts(range.key);
        let track = &self.tracks[at];
        let member = self.member(at, passed, step.clips).map(|member| {
            let space = track.run.space_in(step.clips);
            let cycle = track.known.map(|known| known.playback).unwrap_or_default();
            let playback = space.map_or(cycle, |space| member.playback(space, cycle));
            let position = member.place(playback, track.held());
            InSpace {
                clip: member.name.clone().into(),
                known: Known {
                    length: member.length,
                    playback,
                },
                position,
            }
        });
        let open = OpenRange {
            track: track.id,
            key: range.key,
            clip: track.clip.clone(),
            member,
            index: passed.clip,
            name,
            data,
            time: range.span.time,
            until: range.span.until.unwrap_or(range.span.time),
            silent,
        };
        if !silent {
            step.fired += 1;
            self.report_range(&open, CallbackKind::Begin, range.clip_time, weight, step);
        }
        self.extras.ranges.push(open);
    }

    fn end_range(&mut self, index: usize, clip_time: f64, weight: f32, step: &mut Step) {
        let open = self.extras.ranges.remove(index);
        self.report_end(&open, clip_time, weight, step);
    }

    fn report_end(&self, open: &OpenRange, clip_time: f64, weight: f32, step: &mut Step) {
        if !open.silent {
            self.report_range(open, CallbackKind::End, clip_time, weight, step);
        }
    }

    fn report_range(
        &self,
        open: &OpenRange,
        kind: CallbackKind,
        clip_time: f64,
        weight: f32,
        step: &mut Step,
    ) {
        step.out.push(PlaybackEvent::Callback(FiredCallback {
            track: open.track,
            clip: open.index,
            key: open.key,
            kind,
            name: open.name.clone(),
            data: open.data.clone(),
            clip_time,
            time: self.clock.now.secs(),
            weight,
            current: self.extras.playback.current == Some(open.track),
        }));
    }

    /// Ends the ranges that tracks have left other than by playing, and begins those that they were put into.
    pub(super) fn settle_ranges(&mut self, step: &mut Step) {
        (0..self.tracks.len()).for_each(|at| self.note_heaviest(at, step.clips));
        self.end_ranges_left(step);
        for at in 0..self.tracks.len() {
            if self.tracks[at].enabled && self.tracks[at].begun() {
                self.begin_ranges_entered(at, step);
            }
        }
    }

    fn end_ranges_left(&mut self, step: &mut Step) {
        let before = mem::take(&mut self.extras.ranges);
        for mut open in before {
            if self.is_still_in(&mut open, step) {
                self.extras.ranges.push(open);
                continue;
            }
            let (place, weight) = self.place_left(&open, step.clips);
            let timing = step.clips.timing(open.index);
            let is_there = timing.is_some_and(|timing| open.clip().is(&timing.name));
            if !is_there && !is_space(open.clip(), step.clips) {
                open.index = step.clips.index_of(open.clip()).unwrap_or(usize::MAX);
            }
            self.close_exit(open.track, &open.name);
            self.report_end(&open, place, weight, step);
        }
    }

    /// Begins the ranges that a track is in, and that have not begun.
    fn begin_ranges_entered(&mut self, at: usize, step: &mut Step) {
        let track = &self.tracks[at];
        let Some(marks) = track.run.marks.clone().filter(|marks| marks.has_ranges()) else {
            return;
        };
        // Whether each interval belongs to a range that has begun, so that the time taken is the sum of both numbers.
        let mut begun = mem::take(&mut self.agenda.begun);
        begun.clear();
        begun.resize(marks.spans(), false);
        let callbacks = &self.extras.callbacks;
        for open in self
            .extras
            .ranges
            .iter()
            .filter(|open| open.track == track.id)
        {
            let key = track.mark_key(open.member_name(), open.key, callbacks, step.clips);
            let spans = key.into_iter().flat_map(|key| marks.spans_of(key));
            spans.for_each(|index| begun[index] = true);
        }
        let mut entered = mem::take(&mut self.agenda.passed);
        let direction = self.direction(at, step.still);
        marks.inside(track.held(), direction, |index, key| {
            if !mem::replace(&mut begun[index], true) {
                entered.extend(self.entered(at, key, step.clips));
            }
        });
        for passed in entered.drain(..) {
            if let What::Range(range) = passed.what {
                self.begin_range(at, &passed, range, step);
                self.note_for_states(at, &passed, step.clips);
            }
        }
        (self.agenda.passed, self.agenda.begun) = (entered, begun);
    }

    /// Describes a range that a track was put into. `None` if its clip has no weight in the blend space.
    fn entered(&self, at: usize, key: MarkKey, clips: &dyn Clips) -> Option<Passed> {
        let track = &self.tracks[at];
        let found = track.key_on_way(key, self.clock.now, &self.extras.callbacks, clips)?;
        let range = RangePassed {
            key: found.key,
            span: found.span,
            crossing: Crossing::Enters,
            clip_time: track.clip_time(key, clips),
        };
        Some(Passed {
            what: What::Range(range),
            clip: found.clip,
            member: key.member,
            share: found.share,
        })
    }

    /// The direction in which a track goes; `None` if it doesn't.
    fn direction(&self, at: usize, still: bool) -> Option<bool> {
        let driver = self.driver(at);
        let moves =
            self.tracks[at].anchor.law.moves() && self.tracks[driver].run.motion().goes() && !still;
        moves.then(|| self.forward(at))
    }

    /// The direction of a track that is at the end of a clip that plays once, where it goes no further: there, it has left
    /// its ranges.
    fn end_of_once(&self, at: usize) -> Option<bool> {
        let track = &self.tracks[at];
        let known = track.once()?;
        let forward = self.motion_from(at, Instant::at(self.clock.now)).forward;
        known.is_at_end(track.held(), forward).then_some(forward)
    }

    /// Returns `true` if a track is still in a range that began, which is brought up to date.
    fn is_still_in(&self, open: &mut OpenRange, step: &Step) -> bool {
        let (callbacks, clips) = (&self.extras.callbacks, step.clips);
        let Some(at) = self.index_of(open.track) else {
            return false;
        };
        let track = &self.tracks[at];
        let Some(marks) = track
            .run
            .marks
            .as_ref()
            .filter(|_| track.enabled && track.clip == open.clip)
        else {
            return false;
        };
        let key = track.mark_key(open.member_name(), open.key, callbacks, clips);
        let found = key.and_then(|key| {
            Some((
                key,
                track.key_on_way(key, self.clock.now, callbacks, clips)?,
            ))
        });
        let Some((key, KeyOnWay { clip, span, .. })) = found else {
            return false;
        };
        let name = open
            .key
            .name_and_data(clip, callbacks, clips)
            .map(|(name, _)| name);
        let Some(until) = span
            .until
            .filter(|_| name.is_some_and(|name| **name == *open.name))
        else {
            return false;
        };
        // What stands for a blend space may be another clip by now, but a range ends as it began.
        if track.run.space.get().is_none() || open.member.is_some() {
            open.index = clip;
        }
        (open.time, open.until) = (span.time, until);
        if let Some(member) = &mut open.member
            && let Some((known, position)) = track.member_place(member, clips)
        {
            (member.known, member.position) = (known, position);
        }
        let direction = self
            .direction(at, step.still)
            .or_else(|| self.end_of_once(at));
        marks.contains(key, track.held(), direction).unwrap_or(true)
    }

    /// Returns the place at which a track has left a range, and its weight there.
    fn place_left(&self, open: &OpenRange, clips: &dyn Clips) -> (f64, f32) {
        let Some(at) = self.index_of(open.track) else {
            return (open.until, 0.0);
        };
        let track = &self.tracks[at];
        let (mut place, mut weight) = (track.position(), self.weight_now(at));
        if track.clip != open.clip || track.known.is_none() {
            return (open.until, weight);
        }
        if let Some(member) = &open.member {
            let (known, position) = track
                .member_place(member, clips)
                .unwrap_or((member.known, member.position));
            (place, weight) = (known.place(position), 0.0);
            let key = track.mark_key(open.member_name(), open.key, &self.extras.callbacks, clips);
            if let Some(share) = key.and_then(|key| track.share_of(key, self.clock.now)) {
                weight = self.weight_now(at) * share as f32;
            }
        }
        (place, weight)
    }

    /// Notes the present places of clips of blend spaces that have ranges, for those who ask between advances.
    pub(super) fn note_range_places(&mut self, clips: &dyn Clips) {
        if !self.extras.ranges.iter().any(|open| open.member.is_some()) {
            return;
        }
        let mut ranges = mem::take(&mut self.extras.ranges);
        for open in &mut ranges {
            let Some(member) = &mut open.member else {
                continue;
            };
            let place = self
                .track(open.track)
                .and_then(|track| track.member_place(member, clips));
            // One that is gone ends with the next advance.
            (member.known, member.position) = place.unwrap_or((member.known, open.time));
        }
        self.extras.ranges = ranges;
    }
}

impl AnimationTrack {
    /// Returns the place of a clip of its blend space, even if the clip has no weight.
    fn member_place(&self, member: &InSpace, clips: &dyn Clips) -> Option<(Known, f64)> {
        let space = self.run.space_in(clips)?;
        let found = space
            .members()
            .iter()
            .find(|other| member.clip.is(&other.name))?;
        let known = Known::of_member(found, space, self.known?.playback);
        Some((known, found.place(known.playback, self.held())))
    }
}
