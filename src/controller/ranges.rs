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
    AnimationTrack, CallbackKind, Clips, FiredCallback, PlaybackEvent,
    look_up::is_space,
    motion::Instant,
    report::Advance,
    step::{Passed, What},
    tracks::Tracks,
};
use crate::{
    controller::{
        open_range::{InSpace, OpenRange},
        playhead::Known,
    },
    model::{MarkKey, Member},
};
use std::mem;

impl Advance<'_> {
    /// Returns `true` if it has begun a range, or there are any on the tracks' ways.
    pub(super) fn has_ranges(&self) -> bool {
        let has_ranges = |track: &AnimationTrack| {
            let marks = track.run.marks.as_ref();
            marks.is_some_and(|marks| marks.has_ranges())
        };
        !self.ranges.is_empty() || self.tracks.iter().any(has_ranges)
    }

    /// Enters or leaves a range that a track passes an end of.
    pub(super) fn cross(&mut self, at: usize, passed: &Passed) {
        use What::{Enters, Flashes, Leaves};
        let weight = self.tracks.weight_now(at) * passed.share as f32;
        if let (None, Enters | Flashes) = (self.open_range(at, passed), passed.what) {
            self.begin_range(at, passed);
        }
        if let (Some(open), Leaves | Flashes) = (self.open_range(at, passed), passed.what) {
            let open = self.ranges.remove(open);
            self.report_end(&open, passed.clip_time, weight);
        }
    }

    /// The clip of a blend space among those of a track.
    fn member(&self, at: usize, passed: &Passed) -> Option<&Member> {
        let space = self.tracks[at].run.space_in(self.step.clips)?;
        space.members().get(passed.member? as usize)
    }

    /// The index of a range that has begun.
    fn open_range(&self, at: usize, passed: &Passed) -> Option<usize> {
        let (id, member) = (self.tracks[at].id, self.member(at, passed));
        let member = member.map(|member| &member.name);
        let mut ranges = self.ranges.iter();
        ranges.position(|open| open.is(id, member, passed.key))
    }

    fn begin_range(&mut self, at: usize, passed: &Passed) {
        let weight = self.tracks.weight_now(at) * passed.share as f32;
        let callbacks = &self.tracks.callbacks;
        let found = (passed.key).name_and_data(passed.clip, callbacks, self.step.clips);
        let Some((name, data)) = found else { return };
        let (name, data) = (name.clone().into(), data.clone());
        let silent = !self.may_report(at, passed.clip, weight, passed.key);
        let track = &self.tracks[at];
        let member = self.member(at, passed).and_then(|member| {
            let (known, position) = track.place_of(member, self.step.clips)?;
            Some(InSpace {
                clip: member.name.clone().into(),
                known,
                position,
            })
        });
        let open = OpenRange {
            track: track.id,
            key: passed.key,
            clip: track.clip.clone(),
            member,
            index: passed.clip,
            name,
            data,
            time: passed.span.time,
            until: passed.span.until.unwrap_or(passed.span.time),
            silent,
        };
        if !silent {
            self.report_range(&open, CallbackKind::Begin, passed.clip_time, weight);
        }
        self.ranges.push(open);
    }

    fn report_end(&mut self, open: &OpenRange, clip_time: f64, weight: f32) {
        if !open.silent {
            self.report_range(open, CallbackKind::End, clip_time, weight);
        }
    }

    fn report_range(&mut self, open: &OpenRange, kind: CallbackKind, clip_time: f64, weight: f32) {
        let current = self.is_current(open.track);
        self.step.out.push(PlaybackEvent::Callback(FiredCallback {
            track: open.track,
            clip: open.index,
            key: open.key,
            kind,
            name: open.name.clone(),
            data: open.data.clone(),
            clip_time,
            time: self.tracks.clock.now.secs(),
            weight,
            current,
        }));
    }

    /// Ends the ranges that tracks have left other than by playing, and begins those that they were put into.
    pub(super) fn settle_ranges(&mut self) {
        (0..self.tracks.len()).for_each(|at| self.tracks.note_heaviest(at, &self.step));
        self.end_ranges_left();
        for at in 0..self.tracks.len() {
            if self.tracks[at].enabled && self.tracks[at].begun() {
                self.begin_ranges_entered(at);
            }
        }
    }

    fn end_ranges_left(&mut self) {
        let before = mem::take(self.ranges);
        for mut open in before {
            if self.is_still_in(&mut open) == Some(true) {
                self.ranges.push(open);
                continue;
            }
            let (place, weight) = self.place_left(&open, self.step.clips);
            let timing = self.step.clips.timing(open.index);
            let is_there = timing.is_some_and(|timing| open.clip().is(&timing.name));
            if !is_there && !is_space(open.clip(), self.step.clips) {
                open.index = self.step.clips.index_of(open.clip()).unwrap_or(usize::MAX);
            }
            if let Some(states) = &mut self.states {
                states.close_exit(open.track, &open.name);
            }
            self.report_end(&open, place, weight);
        }
    }

    /// Begins the ranges that a track is in, and that have not begun.
    fn begin_ranges_entered(&mut self, at: usize) {
        let track = &self.tracks[at];
        let Some(marks) = track.run.marks.clone().filter(|marks| marks.has_ranges()) else {
            return;
        };
        // Whether each interval belongs to a range that has begun, so that the time taken is the sum of both numbers.
        let mut begun = mem::take(&mut self.agenda.begun);
        begun.clear();
        begun.resize(marks.spans(), false);
        let callbacks = &self.tracks.callbacks;
        for open in self.ranges.iter().filter(|open| open.track == track.id) {
            let key = track.mark_key(open.member_name(), open.key, callbacks, self.step.clips);
            let spans = key.into_iter().flat_map(|key| marks.spans_of(key));
            spans.for_each(|index| begun[index] = true);
        }
        let mut entered = mem::take(&mut self.agenda.passed);
        let direction = self.direction(at);
        marks.inside(track.held(), direction, |index, key| {
            if !mem::replace(&mut begun[index], true) {
                entered.extend(self.entered(at, key));
            }
        });
        for passed in entered.drain(..) {
            self.begin_range(at, &passed);
            self.note_for_states(at, &passed);
        }
        (self.agenda.passed, self.agenda.begun) = (entered, begun);
    }

    /// Describes a range that a track was put into. `None` if its clip has no weight in the blend space.
    fn entered(&self, at: usize, key: MarkKey) -> Option<Passed> {
        let (track, clips) = (&self.tracks[at], self.step.clips);
        let found = track.key_on_way(key, self.tracks.clock.now, &self.tracks.callbacks, clips)?;
        Some(Passed {
            what: What::Enters,
            clip_time: track.clip_time(key, clips),
            ..found
        })
    }

    /// The direction in which a track goes; `None` if it doesn't.
    fn direction(&self, at: usize) -> Option<bool> {
        let driver = self.tracks.driver(at);
        let moves = self.tracks[at].anchor.law.moves()
            && self.tracks[driver].run.motion().goes()
            && !self.still;
        moves.then(|| self.tracks.forward(at))
    }

    /// The direction of a track that is at the end of a clip that plays once, where it goes no further: there, it has left
    /// its ranges.
    fn end_of_once(&self, at: usize) -> Option<bool> {
        let track = &self.tracks[at];
        let known = track.once()?;
        let now = Instant::at(self.tracks.clock.now);
        let forward = self.tracks.motion_from(at, now).forward;
        known.is_at_end(track.held(), forward).then_some(forward)
    }

    /// Returns `true` if a track is still in a range that began, which is brought up to date.
    fn is_still_in(&self, open: &mut OpenRange) -> Option<bool> {
        let (callbacks, clips) = (&self.tracks.callbacks, self.step.clips);
        let at = self.tracks.index_of(open.track)?;
        let track = &self.tracks[at];
        let marks = track.run.marks.as_ref();
        let marks = marks.filter(|_| track.enabled && track.clip == open.clip)?;
        let key = track.mark_key(open.member_name(), open.key, callbacks, clips)?;
        let found = track.key_on_way(key, self.tracks.clock.now, callbacks, clips)?;
        let (name, _) = open.key.name_and_data(found.clip, callbacks, clips)?;
        let until = found.span.until.filter(|_| **name == *open.name)?;
        // What stands for a blend space may be another clip by now, but a range ends as it began.
        if track.run.space.get().is_none() || open.member.is_some() {
            open.index = found.clip;
        }
        (open.time, open.until) = (found.span.time, until);
        if let Some(member) = &mut open.member
            && let Some((known, position)) = track.member_place(member, clips)
        {
            (member.known, member.position) = (known, position);
        }
        let direction = self.direction(at).or_else(|| self.end_of_once(at));
        Some(marks.contains(key, track.held(), direction).unwrap_or(true))
    }

    /// Returns the place at which a track has left a range, and its weight there.
    fn place_left(&self, open: &OpenRange, clips: &dyn Clips) -> (f64, f32) {
        let Some(at) = self.tracks.index_of(open.track) else {
            return (open.until, 0.0);
        };
        let track = &self.tracks[at];
        let (mut place, mut weight) = (track.position(), self.tracks.weight_now(at));
        if track.clip != open.clip || track.known.is_none() {
            return (open.until, weight);
        }
        if let Some(member) = &open.member {
            let now = track.member_place(member, clips);
            let (known, position) = now.unwrap_or((member.known, member.position));
            (place, weight) = (known.place(position), 0.0);
            let key = track.mark_key(open.member_name(), open.key, &self.tracks.callbacks, clips);
            if let Some(share) = key.and_then(|key| track.share_of(key, self.tracks.clock.now)) {
                weight = self.tracks.weight_now(at) * share as f32;
            }
        }
        (place, weight)
    }
}

impl AnimationTrack {
    /// Returns the place of a clip of its blend space, even if the clip has no weight.
    fn member_place(&self, member: &InSpace, clips: &dyn Clips) -> Option<(Known, f64)> {
        let space = self.run.space_in(clips)?;
        let mut members = space.members().iter();
        let found = members.find(|other| member.clip.is(&other.name))?;
        self.place_of(found, clips)
    }

    fn place_of(&self, member: &Member, clips: &dyn Clips) -> Option<(Known, f64)> {
        let known = Known::of_member(member, self.run.space_in(clips)?, self.known?.playback);
        Some((known, member.place(known.playback, self.held())))
    }
}

/// Notes the present places of clips of blend spaces that have ranges, for those who ask between advances.
pub(super) fn note_places(ranges: &mut [OpenRange], tracks: &Tracks, clips: &dyn Clips) {
    for open in ranges {
        let Some(member) = &mut open.member else {
            continue;
        };
        let track = tracks.of(open.track);
        let place = track.and_then(|track| track.member_place(member, clips));
        // One that is gone ends with the next advance.
        (member.known, member.position) = place.unwrap_or((member.known, open.time));
    }
}
