//! One step of time.
//!
//! A step is cut where something changes: where a timed event starts or ends, where a faded-out clip
//! leaves, where a queued clip takes over. Between two cuts every track has one course of speed, and
//! what its playhead passes is logged with the moment of passing. At the end the log is put in order of
//! time. Since each cut lies at a moment of its own and not at a frame, the same things happen however
//! the time is divided into steps.

use super::{
    AnimationController, AnimationName, AnimationTrack, Clips, PlaybackEvent, TrackId,
    callback::{self, AddedCallback, Callback, KeyIndex, KeyRef},
    event::EventKind,
    exact::{Exact, tick},
    motion::{Ramp, Speed},
    playhead::{Passed, Way},
    track::{Known, Start},
};
use crate::model::ClipTiming;
use std::mem;

/// A time step that is negative or not finite; nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("an animation cannot be advanced by {dt} s; to play backwards, use a negative speed")]
pub struct AdvanceError {
    /// The step, in seconds.
    pub dt: f64,
}

/// Clips the queue may change in one advance: a loop of clips without length goes nowhere.
const MAX_SWITCHES: usize = 1024;

/// Events of one advance, with what is needed to put them in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    entries: Vec<(i64, u32, PlaybackEvent)>,
}

impl Log {
    pub(crate) fn push(&mut self, event: PlaybackEvent) {
        // Moments are told apart by about a nanosecond: below that lies rounding, and tracks keep their order.
        self.entries.push((tick(event.time()) as i64, self.entries.len() as u32, event));
    }
}

impl AnimationController {
    /// Lets `dt` seconds pass, and appends what happened to `out` in order of time.
    ///
    /// Global time goes on, timed events are applied, every enabled track moves by the integral of its
    /// speed, and the callback keys on the way are collected. A `dt` of 0 applies what is due and moves
    /// nothing. While the controller is [paused](Self::set_paused) time does not go on; while the clips are
    /// not [ready](Clips::is_ready) nothing happens at all.
    ///
    /// The listener of a callback may change the controller as it likes: all events are collected first.
    ///
    /// # Errors
    /// If `dt` is negative or not finite. Then nothing is changed.
    pub fn advance<C: Clips + ?Sized>(
        &mut self,
        dt: f64,
        clips: &C,
        out: &mut Vec<PlaybackEvent>,
    ) -> Result<(), AdvanceError> {
        if !dt.is_finite() || dt < 0.0 {
            return Err(AdvanceError { dt });
        }
        if !clips.is_ready() {
            return Ok(());
        }
        let end = if self.paused { self.time } else { self.time + Exact::new(dt) };
        if self.plays_nothing() {
            self.time = end;
        } else if !self.advance_quickly(end, clips) {
            self.advance_in_full(end, clips, out);
        }
        Ok(())
    }

    /// Whether there is nothing that time could change.
    pub(super) fn plays_nothing(&self) -> bool {
        self.tracks.iter().all(|track| !track.enabled) && self.events.is_empty() && !self.stage_has_plans()
    }

    /// The step with all that may happen in it.
    pub(super) fn advance_in_full<C: Clips + ?Sized>(&mut self, end: Exact, clips: &C, out: &mut Vec<PlaybackEvent>) {
        let mut log = mem::take(&mut self.log.0);
        self.prepare(clips, &mut log);
        self.begin_pending(clips, &mut log);
        self.scrub(clips, &mut log);
        self.run_to(end, clips, &mut log);
        self.align_followers();
        self.write_running_values();
        self.hand_over(&mut log, out);
        self.log.0 = log;
    }

    /// Looks up the clips, and reports unknown names once.
    fn prepare<C: Clips + ?Sized>(&mut self, clips: &C, log: &mut Log) {
        for track in &mut self.tracks {
            (track.run.0.fired, track.run.0.looped) = (0, 0);
            if track.prepare(clips) {
                if !self.callbacks.is_empty() {
                    collect_added(track, &self.callbacks);
                }
                if !self.unknown.is_empty() {
                    self.unknown.retain(|name| *name != track.clip);
                }
            } else if track.enabled && !track.clip.is_empty() {
                let (id, clip, time) = (Some(track.id), &track.clip, self.time.value());
                report_unknown(&mut self.unknown, id, clip, time, log);
            }
        }
    }

    /// Attachments out the moves asked for by [`AnimationTrack::scrub`], at the present moment.
    fn scrub<C: Clips + ?Sized>(&mut self, clips: &C, log: &mut Log) {
        for at in 0..self.tracks.len() {
            let Some(target) = self.tracks[at].scrub else { continue };
            let weight = self.running_ramp(self.tracks[at].id, EventKind::Weight);
            let track = &mut self.tracks[at];
            let Some(timing) = track.run.0.index.and_then(|index| clips.timing(index)) else { continue };
            track.scrub = None;
            if track.enabled {
                let (begin, callbacks, limit) = (self.time, &self.callbacks[..], self.callback_limit);
                let (from, to, forward) = (track.held(), Exact::new(target), target >= track.position());
                let segment = Segment { begin, end: begin, weight, timing, callbacks, limit };
                segment.go(track, Leg { from, to, forward, speed: None }, log);
            } else {
                track.seek(target);
            }
        }
    }

    /// Goes from cut to cut until `end`.
    fn run_to<C: Clips + ?Sized>(&mut self, end: Exact, clips: &C, log: &mut Log) {
        let moving = self.time.is_before(end);
        let mut switches = 0;
        loop {
            self.settle_events();
            if moving {
                self.settle_fades(log);
            }
            let arrived = !self.time.is_before(end);
            if arrived && !(moving && self.stage.may_switch()) {
                return;
            }
            // A cut at the end's own rounded value must not lead beyond the end.
            let cut = [self.next_event_time(), self.next_fade_time()].into_iter().flatten().min_by(f64::total_cmp);
            let mut next = cut.map_or(end, |time| Exact::new(time).min(end));
            let switch = if moving && switches < MAX_SWITCHES { self.next_switch(next) } else { None };
            if switch.is_none() && arrived {
                return;
            }
            if let Some(switch) = &switch {
                next = switch.time;
            }
            self.move_tracks(next, switch.as_ref().map(|switch| (switch.track, switch.target)), clips, log);
            self.time = next;
            if switch.is_some() {
                switches += 1;
                self.switch_clip(clips, log);
            }
        }
    }

    /// Moves every track to a moment. The track in `arrives` is known to arrive at the given position.
    fn move_tracks<C: Clips + ?Sized>(
        &mut self,
        end: Exact,
        arrives: Option<(TrackId, f64)>,
        clips: &C,
        log: &mut Log,
    ) {
        let begin = self.time;
        for at in 0..self.tracks.len() {
            let track = &mut self.tracks[at];
            let (id, start) = (track.id, track.start);
            track.run.0.from = track.held().value();
            let arrival = arrives.filter(|(track, _)| *track == id).map(|(_, position)| position);
            // Between two cuts at one moment only the clip that is about to be switched gets its moment, and
            // a track that has yet to begin does not begin in what rounding has left of a step.
            let no_time = !begin.is_before(end) || (start != Start::Begun && tick(begin.value()) == tick(end.value()));
            if !self.is_moving(at) || (no_time && arrival.is_none()) {
                continue;
            }
            let (speed, leader) = self.course(at);
            let weight = self.running_ramp(id, EventKind::Weight);
            let follow = leader.map(|(leader, ratio)| {
                let leader = &self.tracks[leader];
                let run = &leader.run.0;
                [run.from, run.turn, leader.position()].map(|position| position * ratio)
            });
            let track = &mut self.tracks[at];
            let Some(timing) = track.run.0.index.and_then(|index| clips.timing(index)) else { continue };
            if let Some([from, ..]) = follow {
                track.align(from);
                track.run.0.from = track.held().value();
            }
            let target = match arrival {
                Some(position) => Target::Arrive(position),
                None => follow.map_or(Target::Open, |[_, turn, to]| Target::Follow { turn, to }),
            };
            let (callbacks, limit) = (&self.callbacks[..], self.callback_limit);
            Segment { begin, end, weight, timing, callbacks, limit }.travel(track, speed, target, log);
        }
    }

    /// Places tracks that follow where their leaders were placed.
    fn align_followers(&mut self) {
        for at in 0..self.tracks.len() {
            if self.tracks[at].sync.is_some()
                && self.is_moving(at)
                && let (_, Some((leader, ratio))) = self.course(at)
            {
                let position = self.tracks[leader].position() * ratio;
                self.tracks[at].align(position);
            }
        }
    }

    /// Whether a track plays now.
    pub(crate) fn is_moving(&self, at: usize) -> bool {
        let track = &self.tracks[at];
        track.enabled && !track.paused && track.run.0.index.is_some() && track.known.is_some()
    }

    /// A track's speed from now to the next cut; for one that follows, its leader and how much longer it is.
    pub(crate) fn course(&self, at: usize) -> (Speed, Option<(usize, f64)>) {
        let own = |at: usize| {
            let track: &AnimationTrack = &self.tracks[at];
            match self.running_ramp(track.id, EventKind::Speed) {
                Some(ramp) => Speed::Ramp(ramp),
                None => Speed::Steady(if track.speed.is_finite() { track.speed } else { 0.0 }),
            }
        };
        let length = |at: usize| self.tracks[at].known.map_or(0.0, |known| known.length);
        let Some(group) = self.tracks[at].sync else { return (own(at), None) };
        let leads = |other: &usize| {
            let track = &self.tracks[*other];
            track.sync == Some(group) && track.enabled && track.run.0.index.is_some() && length(*other) > 0.0
        };
        match (0..at).find(leads) {
            None => (own(at), None),
            Some(leader) => {
                let ratio = length(at) / length(leader);
                let speed = if self.tracks[leader].paused { Speed::Steady(0.0) } else { own(leader).scaled(ratio) };
                (speed, Some((leader, ratio)))
            }
        }
    }

    /// Puts the log in order and empties it into `out`.
    fn hand_over(&mut self, log: &mut Log, out: &mut Vec<PlaybackEvent>) {
        log.entries.sort_unstable_by_key(|(tick, sequence, _)| (*tick, *sequence));
        for (_, _, event) in log.entries.drain(..) {
            if let PlaybackEvent::Callback(Callback { key: KeyRef::Added(id), .. }) = event {
                // Counted here, where the order is the same however time was cut.
                if !self.callbacks.iter_mut().find(|added| added.id() == id).is_some_and(AddedCallback::counts) {
                    continue;
                }
            }
            out.push(event);
        }
    }
}

/// Logs that there is no such clip, once for each name.
pub(crate) fn report_unknown(
    known: &mut Vec<AnimationName>,
    track: Option<TrackId>,
    clip: &AnimationName,
    time: f64,
    log: &mut Log,
) {
    if !known.contains(clip) {
        known.push(clip.clone());
        log.push(PlaybackEvent::UnknownClip { track, name: clip.as_arc().clone(), time });
    }
}

/// Brings a track's list of added keys up to date.
pub(crate) fn collect_added(track: &mut AnimationTrack, callbacks: &[AddedCallback]) {
    if !track.added_fit() {
        let length = track.known.map_or(0.0, |known| known.length);
        callback::collect_added(callbacks, &track.clip, length, &mut track.run.0.added);
        track.run.0.added_for = Some((track.clip.clone(), length.to_bits()));
    }
}

/// The time between two cuts, for one track.
#[derive(Clone, Copy)]
struct Segment<'a> {
    begin: Exact,
    end: Exact,
    /// The course of the track's weight, if it changes.
    weight: Option<Ramp>,
    /// The track's clip.
    timing: &'a ClipTiming,
    /// The controller's own callbacks.
    callbacks: &'a [AddedCallback],
    /// Callbacks, and rounds, a track may fire in one advance.
    limit: usize,
}

/// A way in one direction. A clip that plays once is held within its ends whatever the way.
struct Leg {
    from: Exact,
    to: Exact,
    forward: bool,
    /// Tells when a place is passed; without it all happens at the segment's begin.
    speed: Option<Speed>,
}

/// Where a track's way leads.
#[derive(Clone, Copy)]
enum Target {
    /// As far as its speed takes it.
    Open,
    /// To a position at which it is known to arrive.
    Arrive(f64),
    /// To where its leader takes it, by way of where the leader turned round.
    Follow { turn: f64, to: f64 },
}

impl Segment<'_> {
    /// Moves a track at a speed.
    fn travel(&self, track: &mut AnimationTrack, speed: Speed, target: Target, log: &mut Log) {
        // A track that follows goes its leader's way, beyond its own ends too: there it only waits.
        let origin = |track: &AnimationTrack, way: Exact| {
            if matches!(target, Target::Follow { .. }) { way } else { track.hold(way) }
        };
        let (mut begin, mut from) = (self.begin, origin(track, track.position));
        for end in speed.turning_point(self.begin, self.end).into_iter().chain([self.end]) {
            let forward = speed.is_forward(begin, end);
            let to = match target {
                Target::Arrive(to) | Target::Follow { to, .. } if end == self.end => Exact::new(to),
                Target::Follow { turn, .. } => Exact::new(turn),
                _ => from + speed.distance(begin, end),
            };
            Segment { begin, end, ..*self }.go(track, Leg { from, to, forward, speed: Some(speed) }, log);
            if end != self.end {
                track.run.0.turn = track.position();
            }
            (begin, from) = (end, origin(track, to));
        }
    }

    /// Moves a track in one direction and logs what it passes.
    fn go(&self, track: &mut AnimationTrack, Leg { from: origin, mut to, forward, speed }: Leg, log: &mut Log) {
        let (Some(Known { length, playback }), Some(clip)) = (track.known, track.run.0.index) else { return };
        // Rounding must not lead against the direction.
        if (forward && to.is_before(origin)) || (!forward && origin.is_before(to)) {
            to = origin;
        }
        let from = track.hold(origin);
        track.position = track.hold(to);
        let (id, start) = (track.id, mem::replace(&mut track.start, Start::Begun));
        let first = start == Start::AtPosition;
        if start != Start::Begun {
            log.push(PlaybackEvent::Started { track: id, clip, time: self.begin.value() });
        }
        let way = Way { length, playback, from: from.value(), to: track.position(), forward, first };
        let share = track.share();
        let run = &mut track.run.0;
        let added = if self.callbacks.is_empty() { &[][..] } else { &run.added[..] };
        let own = &self.timing.callbacks;
        let keys = callback::keys(own, added, length).map(|(time, key)| (time, (time, key)));
        let keyless = own.is_empty() && added.is_empty();
        way.pass(keys, |passed, place| {
            let moment = match speed {
                Some(speed) if place != way.from => {
                    speed.moment(self.begin, self.end, (Exact::new(place) - origin).value())
                }
                _ => self.begin,
            };
            let time = moment.value();
            match passed {
                Passed::Key((key_time, key)) if run.fired < self.limit => {
                    run.fired += 1;
                    let (key, name) = match key {
                        KeyIndex::Clip(index) => (KeyRef::Clip(index), &own[index].name),
                        KeyIndex::Added(index) => {
                            (KeyRef::Added(self.callbacks[index].id()), self.callbacks[index].name())
                        }
                    };
                    let weight = self.weight.map_or(share, |ramp| (ramp.at(moment) as f32).max(0.0));
                    let name = name.clone();
                    log.push(PlaybackEvent::Callback(Callback { track: id, clip, key, name, key_time, time, weight }));
                }
                Passed::Key(_) if !track.reported_flood => {
                    track.reported_flood = true;
                    log.push(PlaybackEvent::TooManyCallbacks { track: id, clip, limit: self.limit, time });
                }
                Passed::Key(_) => {}
                Passed::Round if run.looped < self.limit => {
                    run.looped += 1;
                    log.push(PlaybackEvent::Looped { track: id, clip, time });
                }
                // Nothing more would be said of the rounds to come.
                Passed::Round => return !keyless && run.fired < self.limit,
                Passed::End => log.push(PlaybackEvent::Finished { track: id, clip, time }),
            }
            true
        });
    }
}
