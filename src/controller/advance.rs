//! One step of time.
//!
//! A step is cut where something changes: where a timed event starts or ends, where a clip that fades out
//! leaves, where a queued clip takes over.
//!
//! ```text
//! frame      ├───────────────────────────────────────────────┤
//! events     │        ●speed starts            ●speed ends   │
//! queue      │                      ●next clip               │
//! cuts       ├────────┼─────────────┼──────────┼─────────────┤
//! segments      each track moves with one speed or ramp, its keys are logged
//! ```
//!
//! At the end the log is sorted by time. Each cut lies at a moment of its own and not at a frame, so the same
//! things happen however time is divided into steps.

use super::{
    AnimationController, AnimationName, AnimationTrack, BlendMode, Clips, FiredCallback, KeyRef, PlaybackEvent,
    TrackId,
    callback::{self, AddedCallback, Keys},
    compensated::{CompensatedF64, tick},
    motion::{Ramp, Speed},
    playhead::{Passed, PlayheadSweep},
    queue::Next,
    timed_event::EventKind,
    track::{Known, Start},
};
use crate::model::ClipTiming;
use std::mem;

/// A time step that is negative or not finite. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("cannot advance an animation by {dt} s; to play backwards, use a negative speed")]
pub struct AdvanceError {
    /// The step, in seconds.
    pub dt: f64,
}

/// Clips the queue may start in one advance: a looped queue of clips without length would never end.
const MAX_SWITCHES: usize = 1024;

/// Events of one advance, with what is needed to sort them.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    /// Each with its moment in grid steps and its place among the entries.
    entries: Vec<(f64, u32, PlaybackEvent)>,
}

impl Log {
    pub(super) fn push(&mut self, event: PlaybackEvent) {
        // Moments less than about a nanosecond apart differ by rounding only: there, tracks keep their order.
        self.entries.push((tick(event.time()), self.entries.len() as u32, event));
    }
}

/// # Advancing
impl AnimationController {
    /// Lets `dt` seconds pass and appends what happened to `out`, in order of time.
    ///
    /// Adds `dt`, times the [time scale](Self::set_time_scale), to global time, applies timed events, moves
    /// every enabled track by the integral of its speed and collects the callback keys it passes. A `dt` of 0
    /// applies what is due and moves nothing. While the controller is [paused](Self::pause), time stands still;
    /// while the clips are not [ready](Clips::is_ready), nothing happens at all. In Bevy, the plugin calls this.
    ///
    /// ```
    /// # use bevy_marionette::{controller::{AnimationController, PlaybackEvent}, model::ClipTiming};
    /// let mut walk = ClipTiming::new("walk", 1.0);
    /// walk.add_callback(0.3, "footstep", "left");
    ///
    /// let (mut controller, mut events) = (AnimationController::playing("walk"), Vec::new());
    /// controller.advance(0.5, &[walk], &mut events)?;
    /// let PlaybackEvent::Callback(step) = &events[1] else { panic!() };
    /// assert_eq!((&*step.name, step.time), ("footstep", 0.3));
    /// # Ok::<(), bevy_marionette::controller::AdvanceError>(())
    /// ```
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
        let elapsed = if self.paused { CompensatedF64::ZERO } else { CompensatedF64::new(dt).scale(self.time_scale) };
        let end = self.time + elapsed;
        if self.plays_nothing() {
            self.time = end;
        } else if !self.advance_fast(end, clips) {
            self.advance_in_full(end, clips, out);
        }
        Ok(())
    }

    /// Returns `true` if there is nothing that time could change.
    pub(super) fn plays_nothing(&self) -> bool {
        let idle = |track: &AnimationTrack| !track.enabled && track.leaves_at.is_none();
        self.tracks.iter().all(idle) && self.events.is_empty() && !self.has_plans()
    }

    /// Advances with all that may happen on the way.
    pub(super) fn advance_in_full<C: Clips + ?Sized>(
        &mut self,
        end: CompensatedF64,
        clips: &C,
        out: &mut Vec<PlaybackEvent>,
    ) {
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
                report_blend_mismatch(track, clips, self.time.value(), log);
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

    /// Carries out the moves asked for by [`AnimationTrack::scrub`], at the present moment. A sync group moves as one.
    fn scrub<C: Clips + ?Sized>(&mut self, clips: &C, log: &mut Log) {
        for at in 0..self.tracks.len() {
            let Some(target) = self.tracks[at].scrub.filter(|_| self.tracks[at].run.0.index.is_some()) else {
                continue;
            };
            self.tracks[at].scrub = None;
            if !self.tracks[at].enabled {
                self.tracks[at].seek(target);
                continue;
            }
            let (leader, target) = match self.lead(at) {
                None => (at, target),
                Some(lead) if lead.ratio > 0.0 => (lead.leader, (target - lead.offset) / lead.ratio),
                // A single pose has no place to move to.
                Some(_) => continue,
            };
            let forward = target >= self.tracks[leader].held().value();
            self.scrub_track(leader, target, forward, clips, log);
            for follower in leader + 1..self.tracks.len() {
                if let Some(lead) = self.lead(follower).filter(|lead| lead.leader == leader) {
                    let target = lead.follow(self.tracks[leader].held().value());
                    self.scrub_track(follower, target, forward, clips, log);
                }
            }
        }
    }

    fn scrub_track<C: Clips + ?Sized>(&mut self, at: usize, target: f64, forward: bool, clips: &C, log: &mut Log) {
        let weight = self.running_ramp(self.tracks[at].id, EventKind::Weight);
        let Self { tracks, callbacks, callback_limit: limit, callback_threshold: threshold, .. } = self;
        let track = &mut tracks[at];
        let Some(timing) = track.run.0.index.and_then(|index| clips.timing(index)) else { return };
        let (begin, current) = (self.time, self.playback.current == Some(track.id));
        let rules = Rules { callbacks, limit: *limit, threshold: *threshold, current };
        let way = [track.held(), CompensatedF64::new(target)];
        Segment { begin, end: begin, weight, timing, rules }.sweep(track, way, forward, None, log);
    }

    /// Goes from cut to cut until `end`.
    fn run_to<C: Clips + ?Sized>(&mut self, end: CompensatedF64, clips: &C, log: &mut Log) {
        let moving = self.time.is_before(end);
        let mut switches = 0;
        loop {
            self.settle_events();
            if moving {
                self.settle_fades(log);
            }
            let arrived = !self.time.is_before(end);
            if arrived && !(moving && self.awaits_arrivals()) {
                return;
            }
            // A cut at the end's own rounded value must not lead beyond the end.
            let cut = [self.next_event_time(), self.next_fade_time()].into_iter().flatten().min_by(f64::total_cmp);
            let mut next = cut.map_or(end, |time| CompensatedF64::new(time).min(end));
            let mut arrival = if moving { self.next_arrival(next) } else { None };
            if switches >= MAX_SWITCHES && arrival.as_ref().is_some_and(|arrival| arrival.next == Next::Clip) {
                self.report_stall(log);
                arrival = None;
            }
            if arrival.is_none() && arrived {
                return;
            }
            if let Some(arrival) = &arrival {
                next = arrival.time;
            }
            self.move_tracks(next, arrival.as_ref().map(|arrival| (arrival.track, arrival.position)), clips, log);
            self.time = next;
            match arrival.map(|arrival| (arrival.next, arrival.track)) {
                Some((Next::Clip, _)) => {
                    switches += 1;
                    self.switch_clip(clips, log);
                }
                Some((Next::FadeOut, track)) => self.fade_out_overlay(track),
                None => {}
            }
        }
    }

    /// Moves every track to a moment. The track in `arrives` is known to arrive at the given position.
    fn move_tracks<C: Clips + ?Sized>(
        &mut self,
        end: CompensatedF64,
        arrives: Option<(TrackId, f64)>,
        clips: &C,
        log: &mut Log,
    ) {
        let begin = self.time;
        for at in 0..self.tracks.len() {
            let track = &mut self.tracks[at];
            let (id, start) = (track.id, track.start);
            if track.enabled && track.run.0.index.is_none() && !track.clip.is_empty() {
                // Enabled within this step.
                report_unknown(&mut self.unknown, Some(id), &track.clip, begin.value(), log);
            }
            track.run.0.from = track.held().value();
            let arrival = arrives.filter(|(track, _)| *track == id).map(|(_, position)| position);
            // Between two cuts at one moment only the track that arrives gets its moment, and a track that has
            // yet to begin does not begin in what rounding has left of a step.
            let no_time = !begin.is_before(end) || (start != Start::Begun && tick(begin.value()) == tick(end.value()));
            if !self.is_moving(at) || (no_time && arrival.is_none()) {
                continue;
            }
            let (speed, lead) = self.course(at);
            let weight = self.running_ramp(id, EventKind::Weight);
            let follow = lead.map(|lead| {
                let leader = &self.tracks[lead.leader];
                let run = &leader.run.0;
                [run.from, run.turn, leader.held().value()].map(|position| lead.follow(position))
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
            let (callbacks, current) = (&self.callbacks[..], self.playback.current == Some(id));
            let (limit, threshold) = (self.callback_limit, self.callback_threshold);
            let rules = Rules { callbacks, limit, threshold, current };
            Segment { begin, end, weight, timing, rules }.travel(track, speed, target, log);
        }
    }

    /// Puts tracks that follow where their leaders were put.
    fn align_followers(&mut self) {
        for at in 0..self.tracks.len() {
            if self.tracks[at].sync.is_some()
                && self.is_moving(at)
                && let Some(lead) = self.lead(at)
            {
                let position = lead.follow(self.tracks[lead.leader].held().value());
                self.tracks[at].align(position);
            }
        }
    }

    /// Returns `true` if a track plays now.
    pub(super) fn is_moving(&self, at: usize) -> bool {
        let track = &self.tracks[at];
        track.enabled && !track.paused && track.run.0.index.is_some() && track.known.is_some()
    }

    /// A track's speed from now to the next cut, and what leads it.
    pub(super) fn course(&self, at: usize) -> (Speed, Option<Lead>) {
        let lead = self.lead(at);
        let speed = match lead {
            None => self.own_speed(at),
            Some(Lead { leader, .. }) if self.tracks[leader].paused => Speed::Steady(0.0),
            Some(Lead { leader, ratio, .. }) => self.own_speed(leader).scaled(ratio),
        };
        (speed, lead)
    }

    /// A track's own speed from now to the next cut, in a sync group or not.
    pub(super) fn own_speed(&self, at: usize) -> Speed {
        let track = &self.tracks[at];
        match self.running_ramp(track.id, EventKind::Speed) {
            Some(ramp) => Speed::Ramp(ramp),
            None => Speed::Steady(if track.speed.is_finite() { track.speed } else { 0.0 }),
        }
    }

    /// What leads a track in its sync group: the first track of the group that plays.
    fn lead(&self, at: usize) -> Option<Lead> {
        let group = self.tracks[at].sync?;
        let length = |at: usize| self.tracks[at].known.map_or(0.0, |known| known.length);
        let leads = |other: &usize| {
            let track = &self.tracks[*other];
            track.sync == Some(group) && track.enabled && track.run.0.index.is_some() && length(*other) > 0.0
        };
        let leader = (0..at).find(leads)?;
        let ratio = length(at) / length(leader);
        let offset = self.tracks[leader].phase * ratio - self.tracks[at].phase;
        Some(Lead { leader, ratio, offset })
    }

    /// Sorts the log and empties it into `out`.
    fn hand_over(&mut self, log: &mut Log, out: &mut Vec<PlaybackEvent>) {
        log.entries.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut fired = 0;
        for (_, _, event) in log.entries.drain(..) {
            // Passings are counted in order of time, which is the same however time was cut.
            if let PlaybackEvent::Callback(callback) = &event {
                if let KeyRef::Added(id) = callback.key
                    && !self.count_passing(id)
                {
                    continue;
                }
                fired += 1;
                if fired > self.callback_limit {
                    let &FiredCallback { track, clip, time, .. } = callback;
                    let limit = self.callback_limit;
                    if self.track_mut(track).is_some_and(|track| !mem::replace(&mut track.reported_flood, true)) {
                        out.push(PlaybackEvent::TooManyCallbacks { track, clip, limit, time });
                    }
                    continue;
                }
            }
            out.push(event);
        }
    }

    /// Reports, once, that the queue would start too many clips in one advance.
    fn report_stall(&mut self, log: &mut Log) {
        if !mem::replace(&mut self.playback.reported_stall, true) {
            log.push(PlaybackEvent::TooManyClips { limit: MAX_SWITCHES, time: self.time.value() });
        }
    }
}

/// How a track follows the leader of its sync group.
#[derive(Clone, Copy)]
pub(super) struct Lead {
    /// The leader's index.
    pub(super) leader: usize,
    /// How many times longer the follower's clip is.
    ratio: f64,
    offset: f64,
}

impl Lead {
    /// The follower's position for one of the leader.
    pub(super) fn follow(self, position: f64) -> f64 {
        position * self.ratio + self.offset
    }
}

/// Reports that there is no such clip, once for each name.
pub(super) fn report_unknown(
    known: &mut Vec<AnimationName>,
    track: Option<TrackId>,
    clip: &AnimationName,
    time: f64,
    log: &mut Log,
) {
    if !known.contains(clip) {
        known.push(clip.clone());
        log.push(PlaybackEvent::UnknownClip { track, name: clip.clone(), time });
    }
}

/// Reports, once per track and clip, a blend mode that makes no sense for the clip.
fn report_blend_mismatch<C: Clips + ?Sized>(track: &mut AnimationTrack, clips: &C, time: f64, log: &mut Log) {
    track.run.0.blend = track.blend;
    if let (Some(blend), Some(clip)) = (track.blend, track.run.0.index)
        && (blend == BlendMode::Additive) != clips.is_additive(clip)
        && !mem::replace(&mut track.reported_blend, true)
    {
        log.push(PlaybackEvent::BlendMismatch { track: track.id, clip, blend, time });
    }
}

/// Brings a track's list of added keys up to date.
pub(super) fn collect_added(track: &mut AnimationTrack, callbacks: &[AddedCallback]) {
    if !track.added_fit() {
        let length = track.known.map_or(0.0, |known| known.length);
        callback::collect_added(callbacks, &track.clip, length, &mut track.run.0.added);
        track.run.0.added_for = Some((track.clip.clone(), length.to_bits()));
    }
}

/// The time between two cuts, for one track.
#[derive(Clone, Copy)]
struct Segment<'a> {
    begin: CompensatedF64,
    end: CompensatedF64,
    /// How the track's weight changes, if it does.
    weight: Option<Ramp>,
    /// The track's clip.
    timing: &'a ClipTiming,
    rules: Rules<'a>,
}

/// What the controller says about callbacks.
#[derive(Clone, Copy)]
struct Rules<'a> {
    /// The controller's own.
    callbacks: &'a [AddedCallback],
    /// How many of them, and how many rounds, a track may report in one advance.
    limit: usize,
    /// The least weight at which they fire.
    threshold: f32,
    /// Whether the track's clip is the current one.
    current: bool,
}

/// Where a track goes.
#[derive(Clone, Copy)]
enum Target {
    /// As far as its speed takes it.
    Open,
    /// To a position at which it is known to arrive.
    Arrive(f64),
    /// To where its leader takes it, by way of where the leader reversed.
    Follow { turn: f64, to: f64 },
}

impl Segment<'_> {
    /// Moves a track at a speed.
    fn travel(&self, track: &mut AnimationTrack, speed: Speed, target: Target, log: &mut Log) {
        // A track that follows goes its leader's way even beyond its own ends, where it only waits.
        let origin = |track: &AnimationTrack, way: CompensatedF64| {
            if matches!(target, Target::Follow { .. }) { way } else { track.hold(way) }
        };
        let (mut begin, mut from) = (self.begin, origin(track, track.position));
        for end in speed.turning_point(self.begin, self.end).into_iter().chain([self.end]) {
            let forward = speed.is_forward(begin, end);
            let to = match target {
                Target::Arrive(to) | Target::Follow { to, .. } if end == self.end => CompensatedF64::new(to),
                Target::Follow { turn, .. } => CompensatedF64::new(turn),
                _ => from + speed.distance(begin, end),
            };
            Segment { begin, end, ..*self }.sweep(track, [from, to], forward, Some(speed), log);
            if end != self.end {
                track.run.0.turn = track.held().value();
            }
            (begin, from) = (end, origin(track, to));
        }
    }

    /// Moves a track in one direction and logs what it passes: at the moments that `speed` gives, or all at the
    /// segment's begin without one. A clip that plays once is held within its ends.
    fn sweep(
        &self,
        track: &mut AnimationTrack,
        [origin, mut to]: [CompensatedF64; 2],
        forward: bool,
        speed: Option<Speed>,
        log: &mut Log,
    ) {
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
        let (from, to) = (from.value(), track.position.value());
        let sweep = PlayheadSweep { length, playback, from, to, forward, first };
        let share = track.share();
        let Rules { callbacks, limit, threshold, current } = self.rules;
        let run = &mut track.run.0;
        let added = if callbacks.is_empty() { &[][..] } else { &run.added[..] };
        let own = &self.timing.callbacks;
        let keyless = own.is_empty() && added.is_empty();
        sweep.pass(Keys::new(own, added, callbacks, length), |passed, place| {
            let moment = match speed {
                Some(speed) if place != from => {
                    speed.moment(self.begin, self.end, (CompensatedF64::new(place) - origin).value())
                }
                _ => self.begin,
            };
            let time = moment.value();
            match passed {
                Passed::Key(key) if run.fired < limit => {
                    let weight = self.weight.map_or(share, |ramp| (ramp.at(moment) as f32).max(0.0));
                    if weight < threshold {
                        return true;
                    }
                    run.fired += 1;
                    log.push(PlaybackEvent::Callback(FiredCallback {
                        track: id,
                        clip,
                        key: key.key,
                        name: AnimationName::new(key.name.clone()),
                        data: key.data.clone(),
                        clip_time: key.time,
                        time,
                        weight,
                        current,
                    }));
                }
                Passed::Round if run.looped < limit => {
                    run.looped += 1;
                    log.push(PlaybackEvent::Looped { track: id, clip, time });
                }
                Passed::Key(_) | Passed::Round => {
                    if !mem::replace(&mut track.reported_flood, true) {
                        log.push(PlaybackEvent::TooManyCallbacks { track: id, clip, limit, time });
                    }
                    // The rounds to come would report nothing more.
                    return matches!(passed, Passed::Key(_)) || (!keyless && run.fired < limit);
                }
                Passed::End => log.push(PlaybackEvent::Finished { track: id, clip, time }),
            }
            true
        });
    }
}
