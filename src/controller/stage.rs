//! The everyday words: play, cross-fade, queue.
//!
//! They work on tracks of their own, of low priority, beneath whatever tracks the user adds: *the stage*.
//! One clip is in front; those it took over from fade out and leave. A clip comes to the front when it is
//! found among the clips, not before, so that a misspelt name does not take the stage from the one that
//! plays.

use super::{
    AnimationController, AnimationName, AnimationTrack, Clips, PlaybackEvent, QueueFallback, TrackId, TransitionCurve,
    advance::Log,
    event::EventKind,
    exact::{Exact, tick},
    track::{Known, Role, Start},
};
use crate::model::PlaybackMode;
use serde::{Deserialize, Serialize};
use std::{collections::VecDeque, sync::Arc, time::Duration};

/// Tracks on which the everyday words play.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Stage {
    /// The track in front, or about to come to the front.
    pub(crate) current: Option<TrackId>,
    /// What comes to the front as soon as its clip is found: at most one to `play` and one to fade to.
    pub(crate) pending: Vec<Pending>,
    /// When the last cross-fade is over, in global seconds.
    fade_end: Option<f64>,
    pub(crate) queue: VecDeque<AnimationName>,
    pub(crate) loop_queue: bool,
    /// Seconds over which queued clips are faded.
    pub(crate) queue_fade: f64,
    pub(crate) fallback: QueueFallback,
    /// Whether the clip in front came from the queue, and so ends after one round.
    pub(crate) queued: bool,
    /// Whether the fallback has had its turn.
    pub(crate) settled: bool,
}

impl Stage {
    /// Whether a cross-fade is to be announced.
    pub(crate) fn fades(&self) -> bool {
        self.fade_end.is_some()
    }

    /// Whether anything is to follow the clip in front.
    pub(crate) fn may_switch(&self) -> bool {
        !self.queue.is_empty() || (self.fallback != QueueFallback::Stay && !self.settled)
    }
}

/// A clip about to come to the front.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Pending {
    pub(crate) track: TrackId,
    /// The track that was in front before.
    pub(crate) from: Option<TrackId>,
    /// Whether the track was put up for this.
    pub(crate) new: bool,
    pub(crate) fade: Fade,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Fade {
    /// Seconds.
    pub(crate) duration: f64,
    pub(crate) transition: TransitionCurve,
    /// Whether to go on at the fraction of its length at which the other clip is, and to stay there.
    pub(crate) in_phase: bool,
    /// Whether the end of the fade is an event.
    pub(crate) announced: bool,
}

/// No fade.
pub(crate) const CUT: Fade =
    Fade { duration: 0.0, transition: TransitionCurve::Linear, in_phase: false, announced: false };

/// The group of tracks that fade in phase.
const IN_PHASE: u32 = u32::MAX;

/// Clips fading out at a time; beyond it the faintest leave at once.
const MAX_LEAVING: usize = 8;

/// Everyday words. Each `play`, `restart` and `cross_fade` puts an end to the queue.
impl AnimationController {
    /// A controller that plays a clip.
    pub fn playing(clip: impl Into<Arc<str>>) -> Self {
        let mut controller = Self::default();
        controller.play(clip);
        controller
    }

    /// Plays a clip from its start, at once. A clip that plays already goes on, unless it has finished.
    ///
    /// Returns the track it plays on.
    pub fn play(&mut self, clip: impl Into<Arc<str>>) -> TrackId {
        self.leave_queue();
        self.bring_on(AnimationName::new(clip), CUT)
    }

    /// Plays a clip from its start, at once, also if it plays already.
    ///
    /// Returns the track it plays on.
    pub fn restart(&mut self, clip: impl Into<Arc<str>>) -> TrackId {
        let track = self.play(clip);
        if let Some(track) = self.track_mut(track) {
            track.restart();
        }
        track
    }

    /// Fades from what plays to a clip.
    ///
    /// A clip that is in front already goes on; so does a loop that is still fading out, from where it is
    /// and with the weight it has left. Any other starts anew, a finished one too. A zero duration is a cut.
    /// Both weights change linearly, so with the weights normalised the mix does too.
    ///
    /// Returns the track the clip plays on.
    pub fn cross_fade(&mut self, clip: impl Into<Arc<str>>, duration: Duration) -> TrackId {
        self.cross_fade_with(clip, duration, TransitionCurve::Linear)
    }

    /// Fades from what plays to a clip, with a choice of transition. See [`cross_fade`](Self::cross_fade).
    pub fn cross_fade_with(
        &mut self,
        clip: impl Into<Arc<str>>,
        duration: Duration,
        transition: TransitionCurve,
    ) -> TrackId {
        self.leave_queue();
        let fade = Fade { duration: duration.as_secs_f64(), transition, in_phase: false, announced: true };
        self.bring_on(AnimationName::new(clip), fade)
    }

    /// Fades to a clip that goes on at the same fraction of its length: from a walk to a run without a
    /// change of foot. Until the fade is over the clip that leaves sets the pace for both.
    ///
    /// Returns the track the clip plays on.
    pub fn cross_fade_in_phase(&mut self, clip: impl Into<Arc<str>>, duration: Duration) -> TrackId {
        self.leave_queue();
        let transition = TransitionCurve::Linear;
        let fade = Fade { duration: duration.as_secs_f64(), transition, in_phase: true, announced: true };
        self.bring_on(AnimationName::new(clip), fade)
    }

    /// Takes all clips off the stage and empties the queue. The user's own tracks play on.
    pub fn stop(&mut self) {
        self.leave_queue();
        self.stage.pending.clear();
        self.stage.fade_end = None;
        self.stage.current = None;
        self.remove_tracks(|track| track.role != Role::User);
    }

    /// Name of the clip in front, or about to come to the front.
    pub fn current(&self) -> Option<&str> {
        self.current_ref().map(AnimationTrack::clip)
    }

    /// The track of the clip in front.
    pub fn current_track(&self) -> Option<TrackId> {
        self.current_ref().map(AnimationTrack::id)
    }

    /// The place in the clip in front, in seconds; `None` if there is none.
    pub fn current_position(&self) -> Option<f64> {
        self.current_ref().map(AnimationTrack::time)
    }

    /// Whether nothing plays any more: no clip is in front, or a one-shot that has ended, and the queue is empty.
    pub fn is_finished(&self) -> bool {
        self.stage.queue.is_empty() && self.current_ref().is_none_or(AnimationTrack::is_finished)
    }

    /// Speed of the clip in front; 1 if there is none.
    pub fn speed(&self) -> f64 {
        self.current_ref().map_or(1.0, |track| track.speed)
    }

    /// Sets the speed of the clip in front. Negative plays backwards.
    pub fn set_speed(&mut self, speed: f64) {
        if let Some(track) = self.current_mut() {
            track.speed = speed;
        }
    }

    /// Lets the clip in front play in the other direction, from where it is.
    pub fn reverse(&mut self) {
        self.set_speed(-self.speed());
    }

    /// Goes to a place in the clip in front, in seconds, firing nothing. See [`AnimationTrack::seek`].
    pub fn seek(&mut self, position: f64) {
        if let Some(track) = self.current_mut() {
            track.seek(position);
        }
    }

    /// Goes to a place in the clip in front at the next advance, firing the keys on the way. See [`AnimationTrack::scrub`].
    pub fn scrub_to(&mut self, position: f64) {
        if let Some(track) = self.current_mut() {
            track.scrub(position);
        }
    }

    pub(crate) fn current_ref(&self) -> Option<&AnimationTrack> {
        self.track(self.stage.current?)
    }

    fn current_mut(&mut self) -> Option<&mut AnimationTrack> {
        self.track_mut(self.stage.current?)
    }

    fn leave_queue(&mut self) {
        self.stage.queue.clear();
        (self.stage.queued, self.stage.settled) = (false, false);
    }

    /// Makes a clip the one in front, as soon as it is found.
    fn bring_on(&mut self, clip: AnimationName, fade: Fade) -> TrackId {
        let cut = fade.duration <= 0.0;
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
        let before = self.stage.pending.first().and_then(|pending| pending.from);
        self.drop_pending(cut);
        let from = self.current_track().or(before);
        // A clip that is still on stage is taken up again where it is: one that never began to leave, or a loop.
        let goes_on = |track: &&mut AnimationTrack| {
            let looping = track.known.is_some_and(|known| known.playback != PlaybackMode::Once);
            let is_there = match track.role {
                Role::User => false,
                Role::Stage => !track.is_finished(),
                Role::Leaving(_) => looping && !cut,
            };
            is_there && track.clip == clip && !self.stage.pending.iter().any(|pending| pending.track == track.id)
        };
        let (track, new) = match self.tracks.iter_mut().find(goes_on) {
            Some(track) => {
                track.enabled = true;
                (track.id, false)
            }
            None => (self.put_up(clip), true),
        };
        self.stage.current = Some(track);
        self.await_clip(Pending { track, from, new, fade });
        track
    }

    /// Adds a track to the stage, without weight as yet.
    pub(crate) fn put_up(&mut self, clip: AnimationName) -> TrackId {
        let id = self.add_track(AnimationTrack::new(clip.as_arc().clone()).weight(0.0));
        if let Some(track) = self.track_mut(id) {
            track.role = Role::Stage;
        }
        id
    }

    fn await_clip(&mut self, pending: Pending) {
        self.stage.pending.retain(|waiting| waiting.track != pending.track);
        self.stage.pending.push(pending);
    }

    /// Forgets what is about to be faded to, and with `all` what is about to be played too.
    fn drop_pending(&mut self, all: bool) {
        let mut at = 0;
        while at < self.stage.pending.len() {
            let Pending { track, new, fade, .. } = self.stage.pending[at];
            if all || fade.duration > 0.0 {
                self.stage.pending.remove(at);
                if new {
                    self.remove_track(track);
                }
            } else {
                at += 1;
            }
        }
    }

    /// Whether an advance may bring something to the stage.
    pub(crate) fn stage_has_plans(&self) -> bool {
        !self.stage.pending.is_empty() || !self.stage.queue.is_empty() || self.stage.fade_end.is_some()
    }

    /// Brings to the front what has been found, and starts the queue if nothing plays.
    pub(crate) fn begin_pending<C: Clips + ?Sized>(&mut self, clips: &C, log: &mut Log) {
        while let Some(pending) = self.stage.pending.first().copied() {
            let track = self.track(pending.track);
            let found = track.is_some_and(|track| track.run.0.index.is_some());
            let superseded = self.stage.pending.len() > 1;
            if track.is_some() && !found && !superseded && self.stage.queue.is_empty() {
                return;
            }
            self.stage.pending.remove(0);
            if found {
                self.begin_fade(pending);
            } else if pending.new {
                self.remove_track(pending.track);
                if !superseded {
                    self.stage.current = pending.from;
                }
            }
        }
        if self.current_ref().is_none() && !self.stage.queue.is_empty() {
            self.switch_clip(clips, log);
        }
    }

    /// The recipe of a cross-fade: the old clips' weights go to 0 and they leave, the new one's goes to 1.
    pub(crate) fn begin_fade(&mut self, Pending { track: id, from, fade, .. }: Pending) {
        // The weights to start from are those of this moment.
        self.write_running_values();
        let now = self.time.value();
        let Fade { duration, transition, in_phase, announced } = fade;
        if in_phase && let Some(from) = from {
            self.bring_in_phase(id, from);
        }
        let waiting = |id: TrackId, stage: &Stage| stage.pending.iter().any(|pending| pending.track == id);
        let cut = duration <= 0.0;
        let others = |track: &AnimationTrack, stage: &Stage| {
            track.role != Role::User && track.id != id && !waiting(track.id, stage)
        };
        let mut alone = true;
        for at in 0..self.tracks.len() {
            let track = &mut self.tracks[at];
            if others(track, &self.stage) && !cut {
                alone = false;
                track.role = Role::Leaving(now + duration);
                let leaving = track.id;
                self.unkey_kind(leaving, EventKind::Weight);
                self.key_track_weight(leaving, 0.0, now, duration, transition);
            }
        }
        if cut {
            let stage = std::mem::take(&mut self.stage);
            self.remove_tracks(|track| others(track, &stage));
            self.stage = stage;
        }
        self.thin_out();
        self.unkey_kind(id, EventKind::Weight);
        let Some(track) = self.track_mut(id) else { return };
        track.role = Role::Stage;
        if alone {
            track.weight = 1.0;
        } else {
            self.key_track_weight(id, 1.0, now, duration, transition);
        }
        self.stage.fade_end = announced.then_some(now + duration);
    }

    /// Puts a track at the fraction of its length at which another is, and keeps it there.
    fn bring_in_phase(&mut self, id: TrackId, from: TrackId) {
        let Some(Known { length: lead, .. }) = self.track(from).and_then(|track| track.known) else { return };
        let position = self.track(from).map_or(0.0, AnimationTrack::placed);
        for (id, place) in [(from, false), (id, true)] {
            if let Some(track) = self.track_mut(id) {
                track.sync = Some(IN_PHASE);
                if place && lead > 0.0 {
                    track.position = Exact::new(position * track.known.map_or(0.0, |known| known.length) / lead);
                    track.start = Start::AtPosition;
                }
            }
        }
    }

    /// Lets the faintest go if too many are fading out.
    fn thin_out(&mut self) {
        let leaving = |track: &&AnimationTrack| matches!(track.role, Role::Leaving(_));
        while self.tracks.iter().filter(leaving).count() > MAX_LEAVING {
            let faintest = self.tracks.iter().filter(leaving).min_by(|a, b| a.share().total_cmp(&b.share()));
            let Some(id) = faintest.map(AnimationTrack::id) else { return };
            self.remove_track(id);
        }
    }

    /// Removes what has faded out by now, and announces a fade that is over.
    pub(crate) fn settle_fades(&mut self, log: &mut Log) {
        let now = self.time.value();
        if self.tracks.iter().any(|track| matches!(track.role, Role::Leaving(until) if tick(until) <= tick(now))) {
            self.remove_tracks(|track| matches!(track.role, Role::Leaving(until) if tick(until) <= tick(now)));
        }
        if self.stage.fade_end.is_some_and(|end| tick(end) <= tick(now)) {
            self.stage.fade_end = None;
            let faded = self.current_ref().and_then(|track| Some((track.id, track.run.0.index?)));
            if let Some((track, clip)) = faded {
                log.push(PlaybackEvent::CrossFadeFinished { track, clip, time: now });
            }
        }
    }

    /// The next moment after the present at which a clip leaves or a fade is over.
    pub(crate) fn next_fade_time(&self) -> Option<f64> {
        let now = self.time.value();
        let leaving = self.tracks.iter().filter_map(|track| match track.role {
            Role::Leaving(until) => Some(until),
            _ => None,
        });
        leaving.chain(self.stage.fade_end).filter(|time| tick(*time) > tick(now)).min_by(f64::total_cmp)
    }

    /// Moves fades in time.
    pub(crate) fn shift_fades(&mut self, by: Exact) {
        let shifted = |time: f64| (Exact::new(time) + by).value();
        for track in &mut self.tracks {
            if let Role::Leaving(until) = &mut track.role {
                *until = shifted(*until);
            }
        }
        self.stage.fade_end = self.stage.fade_end.map(shifted);
    }

    /// Ends fades at once: what leaves is gone, what comes is there.
    pub(crate) fn finish_fades(&mut self) {
        self.remove_tracks(|track| matches!(track.role, Role::Leaving(_)));
        self.stage.fade_end = None;
        let stage: Vec<TrackId> = self.stage.pending.iter().map(|pending| pending.track).collect();
        for track in &mut self.tracks {
            if track.role == Role::Stage && !stage.contains(&track.id) {
                track.weight = 1.0;
            }
        }
    }
}
