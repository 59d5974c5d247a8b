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

use super::{AnimationController, AnimationName, AnimationTrack, TrackId, Transition, step::Step};
use crate::{
    controller::{playback_state::Pending, track_types::Role},
    model::PlaybackMode,
};
use std::{sync::Arc, time::Duration};

/// # Playing clips
///
/// These manage tracks of their own, under the tracks you add. Each `play`, `cross_fade` and `fade_out`
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
        self.start(AnimationName::new(clip), Transition::CUT)
    }

    /// Plays a clip, which takes over from what plays by a [`Transition`], or by a fade of some duration. Returns the clip's
    /// track.
    ///
    /// If the clip is current already, it continues. So does a loop that is still fading out, if this is a fade: from where it is
    /// and with the weight it has left. Any other clip starts over, and so does a finished one. It is safe to
    /// call this every frame with the clip you want. From nothing at all, every transition is a cut.
    pub fn play_with(
        &mut self,
        clip: impl Into<Arc<str>>,
        transition: impl Into<Transition>,
    ) -> TrackId {
        self.leave_queue();
        self.start(AnimationName::new(clip), transition.into())
    }

    /// Fades from what plays to a clip, and returns the clip's track: [`play_with`](Self::play_with) a linear
    /// [fade](Transition::fade).
    pub fn cross_fade(&mut self, clip: impl Into<Arc<str>>, duration: Duration) -> TrackId {
        self.play_with(clip, duration)
    }

    /// Fades to the rest pose, and empties the queue. The tracks you added play on. With a zero duration, what
    /// plays stops at once.
    pub fn fade_out(&mut self, duration: Duration) {
        self.leave_queue();
        self.drop_pending(true);
        self.extras.playback.pending.clear();
        self.fade_out_all(duration);
    }
}

/// # The current clip
impl AnimationController {
    /// Returns the name of the current clip, which [`play`](Self::play), [`cross_fade`](Self::cross_fade) or the
    /// queue started last.
    pub fn current(&self) -> Option<&str> {
        self.current_track().map(AnimationTrack::clip)
    }

    /// Returns the track of the current clip.
    pub fn current_track(&self) -> Option<&AnimationTrack> {
        self.track(self.extras.playback.current?)
    }

    /// Returns the track of the current clip, mutably: to seek in it, restart it, or reverse it.
    ///
    /// ```
    /// # use bevy_marionette::controller::AnimationController;
    /// let mut controller = AnimationController::playing("walk");
    /// if let Some(walk) = controller.current_track_mut() {
    ///     walk.seek(0.25);
    ///     walk.speed = -1.0;
    /// }
    /// ```
    pub fn current_track_mut(&mut self) -> Option<&mut AnimationTrack> {
        self.track_mut(self.extras.playback.current?)
    }

    /// Returns `true` if an enabled track plays this clip, unless the clip has finished or is fading out.
    pub fn is_playing(&self, clip: &str) -> bool {
        let plays = |track: &AnimationTrack| {
            track.enabled && track.leaves_at.is_none() && !track.is_finished()
        };
        self.tracks
            .iter()
            .any(|track| track.clip == *clip && plays(track))
    }

    /// Returns `true` if the queue is empty and there is no current clip, or it played once and is at its end.
    pub fn is_finished(&self) -> bool {
        self.extras.playback.queue.is_empty()
            && self.current_track().is_none_or(AnimationTrack::is_finished)
    }

    /// Returns the speed of the current clip, or of the next one if there is none.
    pub fn speed(&self) -> f64 {
        self.current_track()
            .map_or(self.extras.playback.speed, |track| track.speed)
    }

    /// Sets the speed of the current clip and of those that `play`, `cross_fade` and the queue start from now on.
    /// Negative plays backwards.
    pub fn set_speed(&mut self, speed: f64) {
        self.extras.playback.speed = speed;
        let speed = speed * self.speed_of_current_state();
        if let Some(track) = self.current_track_mut() {
            track.speed = speed;
        }
    }

    /// The id of the current clip's track.
    pub(super) fn current_id(&self) -> Option<TrackId> {
        self.current_track().map(AnimationTrack::id)
    }
}

impl AnimationController {
    pub(super) fn leave_queue(&mut self) {
        self.change();
        self.extras.playback.queue.clear();
        (self.extras.playback.queued, self.extras.playback.settled) = (false, false);
    }

    /// Makes a clip the current one, as soon as it is found.
    pub(super) fn start(&mut self, clip: AnimationName, transition: Transition) -> TrackId {
        let cut = transition.is_cut();
        let alone = self
            .tracks
            .iter()
            .filter(|track| track.role != Role::User)
            .count()
            == 1;
        if let Some(current) = self.current_track_mut()
            && current.clip == clip
            && !current.is_finished()
        {
            current.enabled = true;
            let id = current.id;
            if cut && !alone {
                self.await_clip(Pending {
                    track: id,
                    from: None,
                    new: false,
                    from_rest: false,
                    transition,
                });
            }
            return id;
        }
        let before = self.drop_superseded(cut);
        let from = self.current_id().or(before);
        // A clip that is still there is taken up again where it is: one that never began to leave, or a loop.
        let continues = |track: &&mut AnimationTrack| {
            let looping = track
                .known
                .is_some_and(|known| known.playback != PlaybackMode::Once);
            let is_there = match track.leaves_at {
                None => !track.is_finished(),
                Some(_) => looping && !cut,
            };
            let waits = self.extras.playback.awaits(track.id);
            track.role == Role::Playback && is_there && track.clip == clip && !waits
        };
        let (track, new) = match self.tracks.iter_mut().find(continues) {
            Some(track) => {
                track.enabled = true;
                (track.id, false)
            }
            None => (self.add_playback_track(clip), true),
        };
        self.extras.playback.current = Some(track);
        self.await_clip(Pending {
            track,
            from,
            new,
            from_rest: false,
            transition,
        });
        track
    }

    /// Adds a track for a clip, without weight as yet.
    pub(super) fn add_playback_track(&mut self, clip: AnimationName) -> TrackId {
        let speed = self.extras.playback.speed;
        let track = AnimationTrack::new(clip.as_arc().clone())
            .weight(0.0)
            .speed(speed)
            .at(self.extras.playback.parameters);
        let id = self.add_track(track);
        self.put_on_layer(None);
        if let Some(track) = self.track_mut(id) {
            track.role = Role::Playback;
            // From its end, if it plays backwards.
            track.restart();
        }
        id
    }

    pub(super) fn await_clip(&mut self, pending: Pending) {
        self.extras
            .playback
            .pending
            .retain(|waiting| waiting.track != pending.track);
        self.extras.playback.pending.push(pending);
    }

    /// Forgets what another clip takes the place of before it has begun. Returns what was current before that.
    pub(super) fn drop_superseded(&mut self, cut: bool) -> Option<TrackId> {
        let first = self.extras.playback.pending.first();
        let before = first.and_then(|pending| pending.from);
        self.drop_pending(cut);
        before
    }

    /// Forgets what is about to be faded to, and with `all` what is about to be played too.
    fn drop_pending(&mut self, all: bool) {
        let mut at = 0;
        while at < self.extras.playback.pending.len() {
            let Pending {
                track,
                new,
                transition,
                ..
            } = self.extras.playback.pending[at];
            if all || !transition.is_cut() {
                self.extras.playback.pending.remove(at);
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
        !self.extras.playback.pending.is_empty()
            || !self.extras.playback.queue.is_empty()
            || self.extras.playback.fade_end.is_some()
    }

    /// Makes current what has been found, and starts the queue if nothing plays.
    pub(super) fn begin_pending(&mut self, step: &mut Step) {
        while let Some(pending) = self.extras.playback.pending.first().copied() {
            let track = self.track(pending.track);
            let found = track.is_some_and(|track| track.run.index.get().is_some());
            let superseded = self.extras.playback.pending.len() > 1;
            if track.is_some() && !found && !superseded && self.extras.playback.queue.is_empty() {
                return;
            }
            self.extras.playback.pending.remove(0);
            if found {
                if pending.transition.duration.is_zero() {
                    // A cut leaves nothing of what was before.
                    self.extras.playback.switches.clear();
                }
                self.begin_fade(pending, step.clips);
            } else if pending.new {
                self.remove_track(pending.track);
                if !superseded {
                    self.extras.playback.current = pending.from;
                }
            }
        }
        if self.current_track().is_none() && !self.extras.playback.queue.is_empty() {
            self.switch_clip(step);
        }
    }
}
