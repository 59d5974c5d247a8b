//! `play`, `cross_fade` and the clips they manage.
//!
//! They use tracks of their own, of low priority, under whatever tracks the user adds. One clip is *current*;
//! the clips it replaced fade out and leave:
//!
//! ```text
//! cross_fade("run")      ●                 ● CrossFadeFinished, `walk` is removed
//! walk  weight 1  ───────┴─────╲───────────┴
//! run   weight 0         ┌─────╱───────────── current from here on
//! ```
//!
//! A clip becomes current when it is found among the clips, not before. Until then it is *pending*, so that a
//! misspelled name does not stop the clip that plays.

use super::{
    AnimationController, AnimationName, AnimationTrack, Clips, PlaybackEvent, QueueFallback, TrackId, TransitionCurve,
    advance::Log,
    compensated::{CompensatedF64, tick},
    timed_event::{EventKind, EventTarget},
    track::{Known, Role, Start},
};
use crate::model::PlaybackMode;
use serde::{Deserialize, Serialize};
use std::{collections::VecDeque, sync::Arc, time::Duration};

/// The state of `play`, `cross_fade` and the queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Playback {
    /// The current clip's track, or that of the clip about to become current.
    pub(super) current: Option<TrackId>,
    /// What becomes current as soon as its clip is found: at most one to `play` and one to fade to.
    pub(super) pending: Vec<Pending>,
    /// Speed of the clips that are started.
    pub(super) speed: f64,
    /// When the last cross-fade is complete, in seconds of global time.
    fade_end: Option<f64>,
    pub(super) queue: VecDeque<AnimationName>,
    pub(super) loop_queue: bool,
    /// How long queued clips fade into each other.
    pub(super) queue_fade: Duration,
    pub(super) fallback: QueueFallback,
    /// Whether the current clip came from the queue, and so ends after one round.
    pub(super) queued: bool,
    /// Whether the fallback has had its turn.
    pub(super) settled: bool,
    /// Set once `TooManyClips` has been reported.
    pub(super) reported_stall: bool,
}

impl Default for Playback {
    fn default() -> Self {
        Self {
            current: None,
            pending: Vec::new(),
            speed: 1.0,
            fade_end: None,
            queue: VecDeque::new(),
            loop_queue: false,
            queue_fade: Duration::ZERO,
            fallback: QueueFallback::Stay,
            queued: false,
            settled: false,
            reported_stall: false,
        }
    }
}

impl Playback {
    pub(super) fn check(&self) -> Result<(), String> {
        let finite = self.fade_end.is_none_or(f64::is_finite);
        if finite { Ok(()) } else { Err("the end of a cross-fade is not finite".to_owned()) }
    }

    /// Returns `true` if the end of a cross-fade is yet to be reported.
    pub(super) fn fades(&self) -> bool {
        self.fade_end.is_some()
    }

    /// Returns `true` if anything may follow the current clip.
    pub(super) fn may_switch(&self) -> bool {
        !self.queue.is_empty() || (self.fallback != QueueFallback::Stay && !self.settled)
    }
}

/// A clip about to become current.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Pending {
    pub(super) track: TrackId,
    /// The track that was current before.
    pub(super) from: Option<TrackId>,
    /// Whether the track was added for this.
    pub(super) new: bool,
    pub(super) fade: Fade,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Fade {
    pub(super) duration: Duration,
    pub(super) transition: TransitionCurve,
    /// Whether to start at the same fraction of its length as the other clip, and stay there.
    pub(super) in_phase: bool,
    /// Whether to report the end of the fade.
    pub(super) announced: bool,
}

/// No fade.
pub(super) const CUT: Fade =
    Fade { duration: Duration::ZERO, transition: TransitionCurve::Linear, in_phase: false, announced: false };

/// The sync group of clips that fade in phase.
const IN_PHASE: u32 = u32::MAX;

/// The most clips that fade out at a time. Beyond it the faintest leave at once.
const MAX_LEAVING: usize = 8;

/// # Playing clips
///
/// These manage tracks of their own, under the tracks you add. Each `play`, `restart`, `cross_fade` and `stop`
/// empties the [queue](Self::queue).
impl AnimationController {
    /// Creates a controller that plays a clip.
    pub fn playing(clip: impl Into<Arc<str>>) -> Self {
        let mut controller = Self::default();
        controller.play(clip);
        controller
    }

    /// Plays a clip from its start, at once, and returns its track. A clip that plays already continues, unless
    /// it has finished.
    pub fn play(&mut self, clip: impl Into<Arc<str>>) -> TrackId {
        self.leave_queue();
        self.start(AnimationName::new(clip), CUT)
    }

    /// Plays a clip from its start, at once, even if it plays already, and returns its track.
    pub fn restart(&mut self, clip: impl Into<Arc<str>>) -> TrackId {
        let track = self.play(clip);
        if let Some(track) = self.track_mut(track) {
            track.restart();
        }
        track
    }

    /// Fades from what plays to a clip, and returns the clip's track.
    ///
    /// If the clip is current already, it continues. So does a loop that is still fading out, from where it is
    /// and with the weight it has left. Any other clip starts over, and so does a finished one. It is safe to
    /// call this every frame with the clip you want. A zero duration is a cut.
    pub fn cross_fade(&mut self, clip: impl Into<Arc<str>>, duration: Duration) -> TrackId {
        self.cross_fade_with(clip, duration, TransitionCurve::Linear)
    }

    /// Fades to a clip along a curve. See [`cross_fade`](Self::cross_fade).
    pub fn cross_fade_with(
        &mut self,
        clip: impl Into<Arc<str>>,
        duration: Duration,
        transition: TransitionCurve,
    ) -> TrackId {
        self.leave_queue();
        self.start(AnimationName::new(clip), Fade { duration, transition, in_phase: false, announced: true })
    }

    /// Fades to a clip that starts at the same fraction of its length as the current one: from a walk to a run
    /// without a change of foot. Returns the clip's track.
    ///
    /// Until the fade is complete, the outgoing clip sets the pace for both.
    pub fn cross_fade_in_phase(&mut self, clip: impl Into<Arc<str>>, duration: Duration) -> TrackId {
        self.leave_queue();
        let transition = TransitionCurve::Linear;
        self.start(AnimationName::new(clip), Fade { duration, transition, in_phase: true, announced: true })
    }

    /// Stops the current clip and those fading out, and empties the queue. The tracks you added play on.
    pub fn stop(&mut self) {
        self.fade_out(Duration::ZERO);
    }

    /// Fades out the current clip and empties the queue. The tracks you added play on.
    pub fn fade_out(&mut self, duration: Duration) {
        self.leave_queue();
        self.drop_pending(true);
        self.playback.pending.clear();
        self.fade_out_all(duration);
    }
}

/// # The current clip
impl AnimationController {
    /// Returns the name of the current clip, which [`play`](Self::play), [`cross_fade`](Self::cross_fade) or the
    /// queue started last.
    pub fn current(&self) -> Option<&str> {
        self.current_ref().map(AnimationTrack::clip)
    }

    /// Returns the track of the current clip.
    pub fn current_track(&self) -> Option<TrackId> {
        self.current_ref().map(AnimationTrack::id)
    }

    /// Returns the place in the current clip, in seconds.
    pub fn current_position(&self) -> Option<f64> {
        self.current_ref().map(AnimationTrack::position)
    }

    /// Returns `true` if an enabled track plays this clip, unless the clip has finished or is fading out.
    pub fn is_playing(&self, clip: &str) -> bool {
        let plays = |track: &AnimationTrack| track.enabled && track.leaves_at.is_none() && !track.is_finished();
        self.tracks.iter().any(|track| track.clip == *clip && plays(track))
    }

    /// Returns `true` if the queue is empty and there is no current clip, or it played once and is at its end.
    pub fn is_finished(&self) -> bool {
        self.playback.queue.is_empty() && self.current_ref().is_none_or(AnimationTrack::is_finished)
    }

    /// Returns the speed of the current clip, or of the next one if there is none.
    pub fn speed(&self) -> f64 {
        self.current_ref().map_or(self.playback.speed, |track| track.speed)
    }

    /// Sets the speed of the current clip and of those that `play`, `cross_fade` and the queue start from now on.
    /// Negative plays backwards.
    pub fn set_speed(&mut self, speed: f64) {
        self.playback.speed = speed;
        if let Some(track) = self.current_mut() {
            track.speed = speed;
        }
    }

    /// Reverses the current clip, from where it is. The clips after it play as before.
    pub fn reverse(&mut self) {
        if let Some(track) = self.current_mut() {
            track.speed = -track.speed;
        }
    }

    /// Moves to a place in the current clip, in seconds, without firing callbacks. See [`AnimationTrack::seek`].
    pub fn seek(&mut self, position: f64) {
        if let Some(track) = self.current_mut() {
            track.seek(position);
        }
    }

    /// Moves to a place in the current clip, in seconds, at the next advance, firing the keys on the way. See
    /// [`AnimationTrack::scrub_to`].
    pub fn scrub_to(&mut self, place: f64) {
        if let Some(track) = self.current_mut() {
            track.scrub_to(place);
        }
    }

    fn current_ref(&self) -> Option<&AnimationTrack> {
        self.track(self.playback.current?)
    }

    fn current_mut(&mut self) -> Option<&mut AnimationTrack> {
        self.track_mut(self.playback.current?)
    }
}

impl AnimationController {
    pub(super) fn leave_queue(&mut self) {
        self.playback.queue.clear();
        (self.playback.queued, self.playback.settled, self.playback.reported_stall) = (false, false, false);
    }

    /// Makes a clip the current one, as soon as it is found.
    fn start(&mut self, clip: AnimationName, fade: Fade) -> TrackId {
        let cut = fade.duration.is_zero();
        let alone = self.tracks.iter().filter(|track| track.role != Role::User).count() == 1;
        if let Some(current) = self.current_mut()
            && current.clip == clip
            && !current.is_finished()
        {
            current.enabled = true;
            let id = current.id;
            if cut && !alone {
                self.await_clip(Pending { track: id, from: None, new: false, fade });
            }
            return id;
        }
        let before = self.playback.pending.first().and_then(|pending| pending.from);
        self.drop_pending(cut);
        let from = self.current_track().or(before);
        // A clip that is still there is taken up again where it is: one that never began to leave, or a loop.
        let continues = |track: &&mut AnimationTrack| {
            let looping = track.known.is_some_and(|known| known.playback != PlaybackMode::Once);
            let is_there = match track.leaves_at {
                None => !track.is_finished(),
                Some(_) => looping && !cut,
            };
            let waits = self.playback.pending.iter().any(|pending| pending.track == track.id);
            track.role == Role::Playback && is_there && track.clip == clip && !waits
        };
        let (track, new) = match self.tracks.iter_mut().find(continues) {
            Some(track) => {
                track.enabled = true;
                (track.id, false)
            }
            None => (self.add_playback_track(clip), true),
        };
        self.playback.current = Some(track);
        self.await_clip(Pending { track, from, new, fade });
        track
    }

    /// Adds a track for a clip, without weight as yet.
    pub(super) fn add_playback_track(&mut self, clip: AnimationName) -> TrackId {
        let speed = self.playback.speed;
        let id = self.add_track(AnimationTrack::new(clip.as_arc().clone()).weight(0.0).speed(speed));
        if let Some(track) = self.track_mut(id) {
            track.role = Role::Playback;
            // From its end, if it plays backwards.
            track.restart();
        }
        id
    }

    fn await_clip(&mut self, pending: Pending) {
        self.playback.pending.retain(|waiting| waiting.track != pending.track);
        self.playback.pending.push(pending);
    }

    /// Forgets what is about to be faded to, and with `all` what is about to be played too.
    fn drop_pending(&mut self, all: bool) {
        let mut at = 0;
        while at < self.playback.pending.len() {
            let Pending { track, new, fade, .. } = self.playback.pending[at];
            if all || !fade.duration.is_zero() {
                self.playback.pending.remove(at);
                if new {
                    self.remove_track(track);
                }
            } else {
                at += 1;
            }
        }
    }

    /// Returns `true` if an advance may start a clip or complete a fade.
    pub(super) fn has_plans(&self) -> bool {
        !self.playback.pending.is_empty() || !self.playback.queue.is_empty() || self.playback.fade_end.is_some()
    }

    /// Makes current what has been found, and starts the queue if nothing plays.
    pub(super) fn begin_pending<C: Clips + ?Sized>(&mut self, clips: &C, log: &mut Log) {
        while let Some(pending) = self.playback.pending.first().copied() {
            let track = self.track(pending.track);
            let found = track.is_some_and(|track| track.run.0.index.is_some());
            let superseded = self.playback.pending.len() > 1;
            if track.is_some() && !found && !superseded && self.playback.queue.is_empty() {
                return;
            }
            self.playback.pending.remove(0);
            if found {
                self.begin_fade(pending);
            } else if pending.new {
                self.remove_track(pending.track);
                if !superseded {
                    self.playback.current = pending.from;
                }
            }
        }
        if self.current_ref().is_none() && !self.playback.queue.is_empty() {
            self.switch_clip(clips, log);
        }
    }

    /// Fades the old clips' weights to 0, after which they leave, and the new one's to 1.
    pub(super) fn begin_fade(&mut self, Pending { track: id, from, new, fade }: Pending) {
        // The weights to start from are those of this moment.
        self.write_running_values();
        let Fade { duration, transition, in_phase, announced } = fade;
        // A clip that is still fading out continues where it is.
        if in_phase
            && new
            && let Some(from) = from
        {
            self.bring_in_phase(id, from);
        }
        let waits = |id: TrackId, playback: &Playback| playback.pending.iter().any(|pending| pending.track == id);
        let outgoing = |track: &AnimationTrack, playback: &Playback| {
            track.role != Role::User && track.id != id && !waits(track.id, playback)
        };
        // Beside nothing at all, a weight makes no difference; but a weight of 0 would show the rest pose.
        let shows = |track: &AnimationTrack| track.role == Role::User && track.enabled && track.share() > 0.0;
        let mut alone = duration.is_zero() || !self.tracks.iter().any(shows);
        if duration.is_zero() {
            let playback = std::mem::take(&mut self.playback);
            self.remove_tracks(|track| outgoing(track, &playback));
            self.playback = playback;
        } else {
            for at in 0..self.tracks.len() {
                if outgoing(&self.tracks[at], &self.playback) {
                    alone = false;
                    self.fade_out_from_now(self.tracks[at].id, duration, transition);
                }
            }
        }
        self.thin_out();
        self.events_mut().unkey_target(EventTarget::Track(id, EventKind::Weight));
        let Some(track) = self.track_mut(id) else { return };
        track.leaves_at = None;
        if alone {
            track.weight = 1.0;
        } else {
            self.fade_weight(id, 1.0, duration, transition);
        }
        self.playback.fade_end = announced.then_some(self.time.value() + duration.as_secs_f64());
    }

    /// Puts a track at the fraction of its length at which another is, in its first round, and keeps it in phase.
    fn bring_in_phase(&mut self, id: TrackId, from: TrackId) {
        let Some(from) = self.track_mut(from) else { return };
        let (unwrapped, place, phase) = (from.placed(), from.position(), from.phase);
        let Some(Known { length: lead, playback }) = from.known.filter(|known| known.length > 0.0) else { return };
        from.sync = Some(IN_PHASE);
        let Some(track) = self.track_mut(id) else { return };
        let Some(known) = track.known else { return };
        let ratio = known.length / lead;
        let turn = if playback == PlaybackMode::PingPong { 2.0 * lead } else { lead };
        let rounds = if playback == PlaybackMode::Once { 0.0 } else { (unwrapped / turn).floor() * turn };
        // There is no way back in a clip that plays once.
        let position = if known.playback == PlaybackMode::Once { place } else { unwrapped - rounds } * ratio;
        track.sync = Some(IN_PHASE);
        track.position = CompensatedF64::new(position);
        track.phase = (unwrapped + phase) * ratio - position;
        track.start = Start::AtPosition;
    }

    /// Fades out all clips that `play`, `cross_fade` and the queue have started.
    pub(super) fn fade_out_all(&mut self, duration: Duration) {
        (self.playback.current, self.playback.fade_end) = (None, None);
        if duration.is_zero() {
            self.remove_tracks(|track| track.role != Role::User);
            return;
        }
        self.write_running_values();
        for at in 0..self.tracks.len() {
            if self.tracks[at].role == Role::Playback {
                self.fade_out_from_now(self.tracks[at].id, duration, TransitionCurve::Linear);
            }
        }
    }

    /// Removes the faintest if too many clips are fading out.
    fn thin_out(&mut self) {
        let leaving = |track: &&AnimationTrack| track.role == Role::Playback && track.leaves_at.is_some();
        while self.tracks.iter().filter(leaving).count() > MAX_LEAVING {
            let faintest = self.tracks.iter().filter(leaving).min_by(|a, b| a.share().total_cmp(&b.share()));
            let Some(id) = faintest.map(AnimationTrack::id) else { return };
            self.remove_track(id);
        }
    }

    /// Removes what has faded out by now, and reports a cross-fade that is complete.
    pub(super) fn settle_fades(&mut self, log: &mut Log) {
        let now = self.time.value();
        let leaves = |track: &AnimationTrack| track.leaves_at.is_some_and(|until| tick(until) <= tick(now));
        if self.tracks.iter().any(leaves) {
            self.remove_tracks(leaves);
        }
        // A fade of no length is complete once its clip has begun.
        let begun = self.current_ref().is_none_or(|track| track.start == Start::Begun || !track.enabled);
        if let Some(time) = self.playback.fade_end.filter(|end| begun && tick(*end) <= tick(now)) {
            self.playback.fade_end = None;
            let faded = self.current_ref().and_then(|track| Some((track.id, track.run.0.index?)));
            if let Some((track, clip)) = faded {
                log.push(PlaybackEvent::CrossFadeFinished { track, clip, time });
            }
        }
    }

    /// Returns the next moment after the present at which a track leaves or a cross-fade is complete.
    pub(super) fn next_fade_time(&self) -> Option<f64> {
        let now = self.time.value();
        let leaving = self.tracks.iter().filter_map(|track| track.leaves_at);
        leaving.chain(self.playback.fade_end).filter(|time| tick(*time) > tick(now)).min_by(f64::total_cmp)
    }

    /// Moves fades in time.
    pub(super) fn shift_fades(&mut self, by: CompensatedF64) {
        let leaving = self.tracks.iter_mut().filter_map(|track| track.leaves_at.as_mut());
        for time in leaving.chain(&mut self.playback.fade_end) {
            *time = (CompensatedF64::new(*time) + by).value();
        }
    }

    /// Completes all fades at once: removes what fades out, and gives what fades in its weight.
    pub(super) fn finish_fades(&mut self) {
        self.remove_tracks(|track| track.leaves_at.is_some());
        self.playback.fade_end = None;
        let Self { tracks, events, playback, .. } = self;
        for track in tracks {
            let pending = playback.pending.iter().any(|pending| pending.track == track.id);
            if track.role == Role::Playback && !pending {
                track.weight = 1.0;
            } else if track.overlay.is_some() {
                let target = EventTarget::Track(track.id, EventKind::Weight);
                let weight = events.iter().filter(|event| event.target() == target).last().map(|event| event.value());
                track.weight = weight.map_or(track.weight, |weight| weight as f32);
            }
        }
    }
}
