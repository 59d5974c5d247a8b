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

use super::{
    AnimationController, AnimationName, AnimationTrack, CallbackKind, Clips, FiredCallback, KeyRef, PlaybackEvent,
    TrackId,
    callback::{AddedCallback, Key, Keys},
    compensated::CompensatedF64,
    log::Log,
    motion::Ramp,
    playhead::{periodic, place, round_of},
    timed_event::EventKind,
    track::{Known, Start},
};
use crate::model::{CallbackData, CallbackKey, PlaybackMode};
use serde::{Deserialize, Serialize};

/// A range of callback keys that a track is in. See [`AnimationController::ranges`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActiveRange<'a> {
    /// The track.
    pub track: TrackId,
    /// The name of its clip.
    pub clip: &'a str,
    /// Which key it is.
    pub key: KeyRef,
    /// The range's name.
    pub name: &'a str,
    /// The range's data.
    pub data: &'a CallbackData,
    /// How far the track is from the range's start in the clip, 0, to its end, 1.
    pub progress: f64,
    /// The track's weight.
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
    /// already.
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
        self.ranges.iter().filter(|range| !range.silent).filter_map(|range| {
            let track = self.track(range.track)?;
            range.span(track).filter(|span| span.touches(track.placed()))?;
            let place = track.position();
            let length = range.until - range.time;
            let progress = if length > 0.0 { ((place - range.time) / length).clamp(0.0, 1.0) } else { 1.0 };
            let OpenRange { key, clip, name, data, .. } = range;
            let (track, weight) = (range.track, track.share());
            Some(ActiveRange { track, clip, key: *key, name, data, progress, weight })
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

/// A range that has begun.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OpenRange {
    pub(super) track: TrackId,
    pub(super) key: KeyRef,
    clip: AnimationName,
    /// The clip's index when it was last seen.
    index: usize,
    name: AnimationName,
    data: CallbackData,
    time: f64,
    until: f64,
    /// Whether it began without a report: below the threshold of weights, or beyond a limit.
    pub(super) silent: bool,
}

impl OpenRange {
    /// Where it is, if the track is able to be in it.
    fn span(&self, track: &AnimationTrack) -> Option<Span> {
        let known = track.known.filter(|_| track.enabled && track.clip == self.clip)?;
        Some(Span::new(known, self.time, self.until))
    }
}

/// A range of a clip, on the line of unwrapped positions.
#[derive(Clone, Copy)]
pub(super) struct Span {
    length: f64,
    playback: PlaybackMode,
    begin: f64,
    end: f64,
}

/// The interval of a round between two positions.
type Interval = [f64; 2];

impl Span {
    /// `begin` and `end` are in the clip.
    pub(super) fn new(Known { length, playback }: Known, begin: f64, end: f64) -> Self {
        // Saved numbers may be anything.
        let begin = begin.max(0.0).min(length);
        Self { length, playback, begin, end: end.max(begin).min(length) }
    }

    fn place(&self, position: f64) -> f64 {
        place(self.length, position)
    }

    fn period(&self) -> f64 {
        match self.playback {
            PlaybackMode::Once => 0.0,
            PlaybackMode::Loop => self.length,
            PlaybackMode::PingPong => 2.0 * self.length,
        }
    }

    /// The range's intervals in round `n`, in order; the second may be empty. Numbers that mean the same place are
    /// computed by the same expression.
    fn intervals(&self, n: f64) -> [Option<Interval>; 2] {
        let Self { length, playback, begin, end } = *self;
        let period = self.period();
        let (base, next) = (n * period, (n + 1.0) * period);
        let (from_start, to_end) = (begin <= 0.0, end >= length);
        match playback {
            PlaybackMode::Once => [Some([begin, end]), None],
            PlaybackMode::Loop => {
                let at = |time: f64| if time >= length { next } else { (base + time).min(next) };
                [Some([at(begin), at(end)]), None]
            }
            PlaybackMode::PingPong if self.is_endless() => [Some([f64::NEG_INFINITY, f64::INFINITY]), None],
            // Where it turns around inside, it does not leave.
            PlaybackMode::PingPong if to_end => [Some([base + begin, next - begin]), None],
            PlaybackMode::PingPong if from_start => [Some([next - end, next + end]), None],
            PlaybackMode::PingPong => [Some([base + begin, base + end]), Some([next - end, next - begin])],
        }
    }

    fn round(&self, position: f64) -> f64 {
        let period = self.period();
        if period > 0.0 { round_of(self.length, period, position) } else { 0.0 }
    }

    /// The intervals in the round of a position and in those beside it.
    fn near(&self, position: f64) -> impl Iterator<Item = Interval> + use<> {
        let (span, n) = (*self, self.round(position));
        let rounds = if span.period() > 0.0 { &[-1.0, 0.0, 1.0][..] } else { &[0.0] };
        rounds.iter().flat_map(move |offset| span.intervals(n + offset)).flatten()
    }

    /// Returns `true` if a position is in the range for a playhead that goes one way: at the end that it reaches last,
    /// it is outside.
    fn contains(&self, position: f64, forward: bool) -> bool {
        let at = self.place(position);
        self.near(position).any(|[low, high]| {
            let (low, high) = (self.place(low), self.place(high));
            if forward { low <= at && at < high } else { low < at && at <= high }
        })
    }

    /// Returns `true` if a position is in the range or at either end.
    fn touches(&self, position: f64) -> bool {
        let at = self.place(position);
        self.near(position).any(|[low, high]| self.place(low) <= at && at <= self.place(high))
    }

    /// Returns `true` if a position is in the range and at neither end.
    fn encloses(&self, position: f64) -> bool {
        let at = self.place(position);
        self.near(position).any(|[low, high]| self.place(low) < at && at < self.place(high))
    }

    /// Returns `true` if the range is the whole of a ping-pong clip, which is never left.
    fn is_endless(&self) -> bool {
        let whole = self.begin <= 0.0 && self.end >= self.length;
        self.playback == PlaybackMode::PingPong && whole && self.length > 0.0
    }

    /// The place in the clip at which a playhead that passes a begin or an end is.
    fn place_of(&self, position: f64, begins: bool, forward: bool) -> f64 {
        let first = match self.playback {
            PlaybackMode::PingPong => {
                let place = periodic(self.playback, self.length, position);
                (place - self.begin).abs() <= (place - self.end).abs()
            }
            _ => begins == forward,
        };
        if first { self.begin } else { self.end }
    }

    /// Calls `sink` with each begin (`true`) and end on the way, in order, until it returns `false`. `to` belongs to the
    /// way, `from` does not.
    fn cross(&self, from: f64, to: f64, forward: bool, mut sink: impl FnMut(f64, bool) -> bool) {
        let (start, goal) = (self.place(from), self.place(to));
        let passes = |position: f64| {
            let at = self.place(position);
            if forward { at > start && at <= goal } else { at < start && at >= goal }
        };
        if self.is_endless() {
            return;
        }
        let periodic = self.period() > 0.0;
        let step = if forward { 1.0 } else { -1.0 };
        // Some intervals reach into the next round.
        let mut n = self.round(from) - step;
        loop {
            let mut intervals = self.intervals(n);
            if !forward {
                intervals.reverse();
            }
            let mut beyond = true;
            for [low, high] in intervals.into_iter().flatten() {
                let (first, second) = if forward { (low, high) } else { (high, low) };
                let reached = |at: f64| if forward { self.place(at) <= goal } else { self.place(at) >= goal };
                beyond &= !reached(first);
                if passes(first) && !sink(first, true) || passes(second) && !sink(second, false) {
                    return;
                }
            }
            // Past 2⁵³ rounds the next one is the same number.
            if !periodic || beyond || n + step == n || !(n * self.period()).is_finite() {
                return;
            }
            n += step;
        }
    }
}

/// A track that moves in one direction, for its ranges.
pub(super) struct RangeSweep<'a> {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) forward: bool,
    /// Whether the track begins here.
    pub(super) first: bool,
    pub(super) begin: CompensatedF64,
    pub(super) weight: Option<Ramp>,
    /// Whether the clip is the current one.
    pub(super) current: bool,
    pub(super) threshold: f32,
    pub(super) limit: usize,
    pub(super) keys: &'a [CallbackKey],
    pub(super) callbacks: &'a [AddedCallback],
}

impl RangeSweep<'_> {
    /// Reports the ranges that begin and end on the way. `moment` gives the time of a position.
    pub(super) fn run(&self, track: &mut AnimationTrack, moment: impl Fn(f64) -> CompensatedF64, log: &mut Log) {
        let (Some(known), Some(clip)) = (track.known, track.run.0.index) else { return };
        let Self { from, to, forward, first, .. } = *self;
        let still = place(known.length, from) == place(known.length, to);
        let added = if self.callbacks.is_empty() { &[][..] } else { &track.run.0.added[..] };
        let keys = Keys::new(self.keys, added, self.callbacks, known.length);
        let (mut fired, mut flooded) = (track.run.0.fired, None);
        let at = |position: f64| periodic(known.playback, known.length, position);
        let mut each = |key: Key<'_>| {
            let Some(until) = key.until else { return };
            let span = Span::new(known, key.time, until);
            let mut begun = 0;
            let mut change = |position: f64, place: f64, begins: bool, log: &mut Log| {
                let moment = if position == from { self.begin } else { moment(position) };
                let weight = self.weight.map_or(track.share(), |ramp| (ramp.at(moment) as f32).max(0.0));
                let time = moment.value();
                if !begins {
                    let way = Way { clip, time, weight, current: self.current };
                    log.end_range(track.id, key.key, place, way);
                    return true;
                }
                // Those below the threshold count here, too: there may be billions of rounds.
                let dropped = fired >= self.limit || begun >= self.limit;
                begun += 1;
                let silent = dropped || weight < self.threshold;
                let open = OpenRange {
                    track: track.id,
                    key: key.key,
                    clip: track.clip.clone(),
                    index: clip,
                    name: AnimationName::new(key.name.clone()),
                    data: key.data.clone(),
                    time: key.time,
                    until,
                    silent,
                };
                fired += usize::from(!silent);
                log.begin_range(open, place, Way { clip, time, weight, current: self.current });
                if dropped && weight >= self.threshold {
                    flooded = flooded.or(Some(time));
                }
                !dropped
            };
            // It may have been moved, or have turned around, since its last step.
            let starts_in = span.contains(from, forward);
            if (!still || first) && starts_in != log.is_open(track.id, key.key) {
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
                whole = change(position, span.place_of(position, begins, forward), begins, log);
                whole
            });
            if !whole {
                // The rest is not reported, so that it must not end with a report either.
                log.forget_range(track.id, key.key);
                if span.contains(to, forward) {
                    change(to, at(to), true, log);
                }
            }
        };
        if forward {
            keys.for_each(|(_, key)| each(key));
        } else {
            keys.rev().for_each(|(_, key)| each(key));
        }
        track.run.0.fired = fired;
        if let Some(time) = flooded
            && !std::mem::replace(&mut track.reported_flood, true)
        {
            log.push(PlaybackEvent::TooManyCallbacks { track: track.id, clip, limit: self.limit, time });
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
    fn is_open(&self, track: TrackId, key: KeyRef) -> bool {
        self.ranges.iter().any(|open| open.track == track && open.key == key)
    }

    fn begin_range(&mut self, open: OpenRange, clip_time: f64, way: Way) {
        if !open.silent {
            self.report(&open, CallbackKind::Begin, clip_time, way);
        }
        self.ranges.push(open);
    }

    fn end_range(&mut self, track: TrackId, key: KeyRef, clip_time: f64, way: Way) {
        let found = self.ranges.iter().position(|open| open.track == track && open.key == key);
        let Some(open) = found.map(|at| self.ranges.remove(at)) else { return };
        if !open.silent {
            self.report(&open, CallbackKind::End, clip_time, way);
        }
    }

    fn forget_range(&mut self, track: TrackId, key: KeyRef) {
        self.ranges.retain(|open| open.track != track || open.key != key);
    }

    fn report(&mut self, open: &OpenRange, kind: CallbackKind, clip_time: f64, way: Way) {
        let OpenRange { track, key, name, data, .. } = open;
        let Way { clip, time, weight, current } = way;
        let (name, data) = (name.clone(), data.clone());
        let callback =
            FiredCallback { track: *track, clip, key: *key, kind, name, data, clip_time, time, weight, current };
        self.push(PlaybackEvent::Callback(callback));
    }
}

/// The keys of a track's clip. A blend space has none of its own, and its clips' ranges don't count.
fn keys_of<'a, C: Clips + ?Sized>(track: &AnimationTrack, clips: &'a C) -> Option<&'a [CallbackKey]> {
    match track.run.0.space {
        Some(_) => Some(&[]),
        None => Some(&clips.timing(track.run.0.index?)?.callbacks),
    }
}

impl AnimationController {
    /// Returns `true` if a track's clip has ranges.
    pub(super) fn has_ranges(track: &AnimationTrack, keys: &[CallbackKey], callbacks: &[AddedCallback]) -> bool {
        keys.iter().any(|key| key.until.is_some())
            || (!callbacks.is_empty() && track.run.0.added.iter().any(|key| key.is_range()))
    }

    /// Ends the ranges that tracks have left other than by playing, and begins those that they were put into.
    pub(super) fn settle_ranges<C: Clips + ?Sized>(&self, clips: &C, log: &mut Log) {
        let mut at = 0;
        while at < log.ranges.len() {
            if self.is_still_in(&mut log.ranges[at], clips) {
                at += 1;
                continue;
            }
            let OpenRange { track, key, index, ref clip, .. } = log.ranges[at];
            let clip = if clips.timing(index).is_some_and(|timing| clip.is(&timing.name)) {
                index
            } else {
                clips.index_of(clip).unwrap_or(usize::MAX)
            };
            let there = self.track(track);
            let place = there.filter(|there| there.clip == log.ranges[at].clip).map(AnimationTrack::position);
            let weight = there.map_or(0.0, AnimationTrack::share);
            let place = place.unwrap_or(log.ranges[at].until);
            let current = self.playback.current == Some(track);
            log.end_range(track, key, place, Way { clip, time: self.time.value(), weight, current });
        }
        for track in &self.tracks {
            let (Some(index), Some(known)) = (track.run.0.index, track.known) else { continue };
            let Some(own) = keys_of(track, clips).filter(|_| track.enabled && track.start == Start::Begun) else {
                continue;
            };
            if !Self::has_ranges(track, own, &self.callbacks) {
                continue;
            }
            let added = if self.callbacks.is_empty() { &[][..] } else { &track.run.0.added[..] };
            for (_, key) in Keys::new(own, added, &self.callbacks, known.length) {
                let Some(until) = key.until else { continue };
                let inside = Span::new(known, key.time, until).encloses(track.held().value());
                if !inside || log.is_open(track.id, key.key) {
                    continue;
                }
                let ramp = self.running_ramp(track.id, EventKind::Weight);
                let weight = ramp.map_or(track.share(), |ramp| (ramp.at(self.time) as f32).max(0.0));
                let open = OpenRange {
                    track: track.id,
                    key: key.key,
                    clip: track.clip.clone(),
                    index,
                    name: AnimationName::new(key.name.clone()),
                    data: key.data.clone(),
                    time: key.time,
                    until,
                    silent: weight < self.callback_threshold,
                };
                let current = self.playback.current == Some(track.id);
                let way = Way { clip: index, time: self.time.value(), weight, current };
                log.begin_range(open, track.position(), way);
            }
        }
    }

    /// Returns `true` if a track is still in a range that began, which is brought up to date.
    fn is_still_in<C: Clips + ?Sized>(&self, open: &mut OpenRange, clips: &C) -> bool {
        let Some(track) = self.track(open.track) else { return false };
        let (Some(index), Some(known)) = (track.run.0.index, track.known) else { return false };
        let own = keys_of(track, clips).filter(|_| track.enabled && track.clip == open.clip);
        let Some(own) = own else { return false };
        let added = if self.callbacks.is_empty() { &[][..] } else { &track.run.0.added[..] };
        let mut keys = Keys::new(own, added, &self.callbacks, known.length);
        let found = keys.find(|(_, key)| key.key == open.key && **key.name == *open.name);
        let Some((time, until)) = found.and_then(|(_, key)| Some((key.time, key.until?))) else { return false };
        (open.index, open.time, open.until) = (index, time, until);
        Span::new(known, time, until).touches(track.held().value())
    }
}
