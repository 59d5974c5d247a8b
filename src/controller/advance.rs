//! One step of time.
//!
//! A step is cut where something changes: where a timed event starts or ends, where a clip that fades out
//! leaves, where a queued clip takes over, where the lead of a sync group changes.
//!
//! ```text
//! frame      ├───────────────────────────────────────────────┤
//! events     │        ●speed starts            ●speed ends   │
//! queue      │                      ●next clip               │
//! sync group │                                       ●lead   │
//! cuts       ├────────┼─────────────┼──────────┼─────┼───────┤
//! segments      each track moves with one speed or ramp, its keys are logged
//! ```
//!
//! At the end the log is sorted by time. Each cut lies at a moment of its own and not at a frame, so the same
//! things happen however time is divided into steps.

use super::{
    AnimationController, AnimationTrack, BlendMode, CallbackKind, Clips, FiredCallback, KeyRef,
    PlaybackEvent, TrackId,
    arrival::Next,
    compensated::{CompensatedF64, tick},
    course::Blended,
    key::Rules,
    log::Log,
    motion::Ramp,
    root_motion::RootSum,
    segment::{Segment, Target},
    timed_event::EventKind,
    track::Start,
};
use crate::model::RootDelta;
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
        self.advance_by(dt, clips, out, None)
    }

    /// Advances like [`advance`](Self::advance), and returns how far the clips carried their character.
    ///
    /// The tracks' movements are blended as their poses are at the root joint: by weight, priority, mask and blend mode.
    /// Additive tracks don't carry. What passes time carries; [`seek`](AnimationTrack::seek) and
    /// [`scrub`](AnimationTrack::scrub) don't. However time is divided into steps, the movements add up to the same, but
    /// for rounding; only a step of minutes in which clips that turn are blended out of phase is approximated.
    ///
    /// ```
    /// # use bevy_marionette::{controller::{AnimationController, Clips}, model::{ClipTiming, RootDelta, RootPath}};
    /// # struct Walking(ClipTiming, RootPath);
    /// # impl Clips for Walking {
    /// #     fn index_of(&self, name: &str) -> Option<usize> { (name == "walk").then_some(0) }
    /// #     fn timing(&self, index: usize) -> Option<&ClipTiming> { (index == 0).then_some(&self.0) }
    /// #     fn root_path(&self, index: usize) -> Option<&RootPath> { (index == 0).then_some(&self.1) }
    /// # }
    /// // A walk of one second and 1.25 meters.
    /// let ahead = RootDelta::new(glam::DVec3::NEG_Z * 1.25, 0.0);
    /// let clips = Walking(ClipTiming::new("walk", 1.0), RootPath::steady(1.0, ahead).unwrap());
    /// let mut controller = AnimationController::playing("walk");
    /// let moved = controller.advance_with_root_motion(60.0, &clips, &mut Vec::new())?;
    /// assert_eq!(moved.translation().z, -75.0);
    /// # Ok::<(), bevy_marionette::controller::AdvanceError>(())
    /// ```
    ///
    /// # Errors
    /// As for [`advance`](Self::advance).
    pub fn advance_with_root_motion<C: Clips + ?Sized>(
        &mut self,
        dt: f64,
        clips: &C,
        out: &mut Vec<PlaybackEvent>,
    ) -> Result<RootDelta, AdvanceError> {
        let mut root = RootSum::default();
        self.advance_by(dt, clips, out, Some(&mut root))?;
        Ok(root.movement())
    }

    #[inline]
    fn advance_by<C: Clips + ?Sized>(
        &mut self,
        dt: f64,
        clips: &C,
        out: &mut Vec<PlaybackEvent>,
        mut root: Option<&mut RootSum>,
    ) -> Result<(), AdvanceError> {
        if !dt.is_finite() || dt < 0.0 {
            return Err(AdvanceError { dt });
        }
        if !clips.is_ready() {
            return Ok(());
        }
        let elapsed = if self.paused {
            CompensatedF64::ZERO
        } else {
            CompensatedF64::new(dt).scale(self.time_scale)
        };
        let end = self.time + elapsed;
        if self.plays_nothing() {
            self.time = end;
            // A track that was disabled on the way has its parameters on theirs.
            self.write_parameters();
            return Ok(());
        }
        if !self.advance_fast(end, clips, root.as_deref_mut()) {
            self.advance_in_full(end, clips, out, root);
        }
        Ok(())
    }

    /// Returns `true` if there is nothing that time could change.
    pub(super) fn plays_nothing(&self) -> bool {
        let idle = |track: &AnimationTrack| !track.enabled && track.leaves_at.is_none();
        self.tracks.iter().all(idle)
            && self.events.is_empty()
            && !self.has_plans()
            && self.ranges.is_empty()
    }

    /// Advances with all that may happen on the way.
    pub(super) fn advance_in_full<C: Clips + ?Sized>(
        &mut self,
        end: CompensatedF64,
        clips: &C,
        out: &mut Vec<PlaybackEvent>,
        root: Option<&mut RootSum>,
    ) {
        let mut log = Log::take();
        if let Some(ranges) = self.ranges.get_mut() {
            mem::swap(&mut log.ranges, ranges);
        }
        self.prepare(clips, &mut log);
        self.begin_pending(clips, &mut log);
        self.settle_leads();
        self.scrub(clips, &mut log);
        self.run_to(end, clips, &mut log, root);
        self.align_followers();
        self.write_running_values();
        self.drop_ended_switches();
        if !log.ranges.is_empty() {
            mem::swap(&mut log.ranges, &mut self.ranges);
        }
        self.hand_over(&mut log, out);
        log.keep();
    }

    /// Looks up the clips, and reports unknown names once.
    fn prepare<C: Clips + ?Sized>(&mut self, clips: &C, log: &mut Log) {
        for track in &mut self.tracks {
            (track.run.0.fired, track.run.0.looped) = (0, 0);
            if track.prepare(self.time, clips) {
                report_blend_mismatch(track, clips, self.time.value(), log);
                if !self.callbacks.is_empty() {
                    track.collect_added(&self.callbacks, clips);
                }
                if !self.unknown.is_empty() {
                    self.unknown.retain(|name| *name != track.clip);
                }
            } else if track.enabled && !track.clip.is_empty() {
                let (id, clip, time) = (Some(track.id), &track.clip, self.time.value());
                log.push_unknown(&mut self.unknown, id, clip, time);
            }
        }
    }

    /// Carries out the moves asked for by [`AnimationTrack::scrub`], at the present moment. A sync group moves as one.
    fn scrub<C: Clips + ?Sized>(&mut self, clips: &C, log: &mut Log) {
        for at in 0..self.tracks.len() {
            let Some(target) = self.tracks[at]
                .scrub
                .filter(|_| self.tracks[at].run.0.index.is_some())
            else {
                continue;
            };
            self.tracks[at].scrub = None;
            if !self.tracks[at].enabled {
                self.tracks[at].seek(target);
                continue;
            }
            let (leader, target) = match self.lead(at) {
                None => (at, target),
                Some(lead) => match lead.lead_to(target) {
                    Some(target) => (lead.leader, target),
                    None => continue,
                },
            };
            let forward = target >= self.tracks[leader].held().value();
            self.scrub_track(leader, target, forward, clips, log);
            for follower in 0..self.tracks.len() {
                if let Some(lead) = self.lead(follower).filter(|lead| lead.leader == leader) {
                    let target = lead.follow(self.tracks[leader].held().value());
                    self.scrub_track(follower, target, forward, clips, log);
                }
            }
        }
    }

    fn scrub_track<C: Clips + ?Sized>(
        &mut self,
        at: usize,
        target: f64,
        forward: bool,
        clips: &C,
        log: &mut Log,
    ) {
        let weight = self.running_ramp(self.tracks[at].id, EventKind::Weight);
        let Self {
            tracks,
            callbacks,
            callback_limit: limit,
            callback_threshold: threshold,
            ..
        } = self;
        let track = &mut tracks[at];
        let (begin, current) = (self.time, self.playback.current == Some(track.id));
        let rules = Rules {
            callbacks,
            limit: *limit,
            threshold: *threshold,
            current,
        };
        let way = [track.held(), CompensatedF64::new(target)];
        play(track, [begin; 2], weight, rules, clips, |segment, track| {
            segment.sweep(track, way, forward, None, log)
        });
    }

    /// Goes from cut to cut until `end`.
    fn run_to<C: Clips + ?Sized>(
        &mut self,
        end: CompensatedF64,
        clips: &C,
        log: &mut Log,
        mut root: Option<&mut RootSum>,
    ) {
        let moving = self.time.is_before(end);
        let mut switches = 0;
        loop {
            // Each track looks for its leader and its events among all others.
            let parts = self.tracks.len() + self.events.len() + log.ranges.len();
            log.count_work(1 + parts + parts * parts / 64);
            self.settle_events();
            self.steer(clips);
            if moving {
                self.settle_fades(clips, log);
            }
            self.settle_leads();
            let arrived = !self.time.is_before(end);
            if arrived && !(moving && self.awaits_arrivals()) {
                if !moving {
                    self.settle_courses([self.time; 2], clips);
                }
                self.settle_ranges(clips, log);
                return;
            }
            // A cut at the end's own rounded value must not lead beyond the end.
            let cut = [self.next_event_time(), self.next_fade_time()]
                .into_iter()
                .flatten()
                .min_by(f64::total_cmp);
            let mut next = cut.map_or(end, |time| CompensatedF64::new(time).min(end));
            next = self.next_lead_change(next).unwrap_or(next);
            next = self.next_bend(next, clips).unwrap_or(next);
            self.settle_courses([self.time, next], clips);
            self.note_heaviest(clips);
            self.settle_ranges(clips, log);
            let mut arrival = if moving {
                self.next_arrival(next)
            } else {
                None
            };
            if switches >= MAX_SWITCHES
                && arrival
                    .as_ref()
                    .is_some_and(|arrival| arrival.next == Next::Clip)
            {
                self.report_stall(log);
                arrival = None;
            }
            if arrival.is_none() && arrived {
                return;
            }
            if let Some(arrival) = &arrival {
                if arrival.time.is_before(next) {
                    self.settle_courses([self.time, arrival.time], clips);
                }
                next = arrival.time;
            }
            self.move_tracks(
                next,
                arrival
                    .as_ref()
                    .map(|arrival| (arrival.track, arrival.position)),
                clips,
                log,
            );
            if let Some(root) = &mut root {
                self.move_members(clips);
                self.add_root_motion([self.time, next], clips, root);
            }
            self.time = next;
            self.write_parameters();
            if arrival.is_some() {
                // A fade that is complete is reported before the next clip takes over.
                self.settle_fades(clips, log);
            }
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
        // Leaders first: the others follow where they went.
        let count = self.tracks.len();
        for (follows, at) in (0..count)
            .map(|at| (false, at))
            .chain((0..count).map(|at| (true, at)))
        {
            let lead = self.lead(at);
            if lead.is_some() != follows {
                continue;
            }
            let track = &mut self.tracks[at];
            let (id, start) = (track.id, track.start);
            if track.enabled && track.run.0.index.is_none() && !track.clip.is_empty() {
                // Enabled within this step.
                log.push_unknown(&mut self.unknown, Some(id), &track.clip, begin.value());
            }
            track.run.0.from = track.held().value();
            let arrival = arrives
                .filter(|(track, _)| *track == id)
                .map(|(_, position)| position);
            // Between two cuts at one moment only the track that arrives gets its moment, and a track that has
            // yet to begin does not begin in what rounding has left of a step.
            let no_time = !begin.is_before(end)
                || (start != Start::Begun && tick(begin.value()) == tick(end.value()));
            if !self.is_moving(at) || (no_time && arrival.is_none()) {
                continue;
            }
            let speed = self.course(at, lead);
            let weight = self.running_ramp(id, EventKind::Weight);
            let follow = lead.map(|lead| {
                let leader = &self.tracks[lead.leader];
                let run = &leader.run.0;
                [run.from, run.turn, leader.held().value()].map(|position| lead.follow(position))
            });
            let track = &mut self.tracks[at];
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
            let rules = Rules {
                callbacks,
                limit,
                threshold,
                current,
            };
            play(
                track,
                [begin, end],
                weight,
                rules,
                clips,
                |segment, track| segment.travel(track, speed, target, log),
            );
        }
    }

    /// Empties the log into `out`, in order of time.
    fn hand_over(&mut self, log: &mut Log, out: &mut Vec<PlaybackEvent>) {
        let mut fired = 0;
        // Ranges that began without a report. None of them is reported as ended.
        let mut unheard: Vec<(TrackId, usize, KeyRef)> = Vec::new();
        for event in log.drain() {
            // Passings are counted in order of time, which is the same however time was cut.
            if let PlaybackEvent::Callback(callback) = &event {
                let range = (callback.track, callback.clip, callback.key);
                if callback.kind == CallbackKind::End {
                    match unheard.iter().position(|began| *began == range) {
                        Some(at) => drop(unheard.swap_remove(at)),
                        None => out.push(event),
                    }
                    continue;
                }
                let begins = callback.kind == CallbackKind::Begin;
                if let KeyRef::Added(id) = callback.key
                    && !self.count_passing(id)
                {
                    unheard.extend(begins.then_some(range));
                    continue;
                }
                fired += 1;
                if fired > self.callback_limit {
                    unheard.extend(begins.then_some(range));
                    let &FiredCallback {
                        track, clip, time, ..
                    } = callback;
                    let limit = self.callback_limit;
                    if self
                        .track_mut(track)
                        .is_some_and(|track| !mem::replace(&mut track.reported_flood, true))
                    {
                        out.push(PlaybackEvent::TooManyCallbacks {
                            track,
                            clip,
                            limit,
                            time,
                        });
                    }
                    continue;
                }
            }
            out.push(event);
        }
        for open in self.ranges.get_mut().into_iter().flatten() {
            open.silent |= unheard.contains(&(open.track, open.index, open.key));
        }
    }

    /// Reports, once, that the queue would start too many clips in one advance.
    fn report_stall(&mut self, log: &mut Log) {
        if !mem::replace(&mut self.playback.reported_stall, true) {
            log.push(PlaybackEvent::TooManyClips {
                limit: MAX_SWITCHES,
                time: self.time.value(),
            });
        }
    }
}

/// Calls `work` with a segment of a track's clip or blend space.
fn play<C: Clips + ?Sized>(
    track: &mut AnimationTrack,
    [begin, end]: [CompensatedF64; 2],
    weight: Option<Ramp>,
    rules: Rules,
    clips: &C,
    work: impl FnOnce(Segment, &mut AnimationTrack),
) {
    let Some(timing) = track.run.0.index.and_then(|index| clips.timing(index)) else {
        return;
    };
    let Some(space) = track
        .run
        .0
        .space
        .and_then(|space| clips.blend_spaces().get(space))
    else {
        return work(
            Segment {
                begin,
                end,
                weight,
                keys: &timing.callbacks,
                blended: None,
                rules,
            },
            track,
        );
    };
    // Out of the track, which changes meanwhile.
    let course = track.run.0.course.take();
    let blended = course
        .as_deref()
        .map(|course| Blended::new(space, course, clips));
    work(
        Segment {
            begin,
            end,
            weight,
            keys: &[],
            blended,
            rules,
        },
        track,
    );
    track.run.0.course = course;
}

/// Reports, once per track and clip, a blend mode that makes no sense for the clip.
fn report_blend_mismatch<C: Clips + ?Sized>(
    track: &mut AnimationTrack,
    clips: &C,
    time: f64,
    log: &mut Log,
) {
    track.run.0.blend = track.blend;
    if let (Some(blend), Some(clip)) = (track.blend, track.run.0.index)
        && (blend == BlendMode::Additive) != clips.is_additive(clip)
        && !mem::replace(&mut track.reported_blend, true)
    {
        log.push(PlaybackEvent::BlendMismatch {
            track: track.id,
            clip,
            blend,
            time,
        });
    }
}
