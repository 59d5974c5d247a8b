//! The clip queue: what follows the current clip, at the very moment its loop ends.

use super::{
    AnimationController, AnimationName, AnimationTrack, TrackId, Transition,
    clock::Nanos,
    director::{Director, Pending, QueueFallback},
    look_up::is_space,
    step::Step,
    tracks::Tracks,
};
use std::{sync::Arc, time::Duration};

/// # The queue
impl AnimationController {
    /// Returns the queue.
    pub fn queue(&self) -> ClipQueue<'_> {
        ClipQueue(&self.director)
    }

    /// Returns the queue, to add clips and change what follows them.
    ///
    /// ```
    /// # use bevy_marionette::controller::AnimationController;
    /// # use std::time::Duration;
    /// let mut controller = AnimationController::playing("draw_sword");
    /// controller.queue_mut().push("slash").set_idle_clip("idle").set_fade(Duration::from_millis(150));
    /// assert!(controller.queue().iter().eq(["slash"]));
    /// ```
    pub fn queue_mut(&mut self) -> ClipQueueMut<'_> {
        self.change();
        ClipQueueMut(&mut self.director)
    }
}

/// The clip queue of a controller. See [`AnimationController::queue`](super::AnimationController::queue).
///
/// ```
/// # use bevy_marionette::controller::AnimationController;
/// # let mut controller = AnimationController::playing("slash");
/// // A combo that remembers up to two blows:
/// if controller.queue().len() < 2 {
///     controller.queue_mut().push("slash");
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ClipQueue<'a>(pub(crate) &'a Director);

impl<'a> ClipQueue<'a> {
    /// Returns the clips that wait, the next one first.
    pub fn iter(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.0.queue.iter().map(|clip| &**clip)
    }

    /// Returns the number of clips that wait.
    pub fn len(&self) -> usize {
        self.0.queue.len()
    }

    /// Returns `true` if no clip waits.
    pub fn is_empty(&self) -> bool {
        self.0.queue.is_empty()
    }

    /// Returns `true` if clips that were played go back to the end of the queue.
    pub fn is_looping(&self) -> bool {
        self.0.loop_queue
    }

    /// Returns how long clips fade into each other.
    pub fn fade(&self) -> Duration {
        self.0.queue_fade
    }

    /// Returns what plays when a clip has ended and the queue is empty.
    pub fn fallback(&self) -> &'a QueueFallback {
        &self.0.fallback
    }
}

/// The clip queue of a controller, mutably. See [`AnimationController::queue_mut`](super::AnimationController::queue_mut).
///
/// Queued clips follow the current one, which first finishes its loop: a looping clip where it starts over, a
/// ping-pong clip when it is back. Each queued clip plays one loop; then comes the next, or the
/// [fallback](Self::set_fallback). If nothing plays, the first starts at once. Unknown names are reported and
/// skipped. `play`, `cross_fade` and `fade_out` empty the queue.
///
/// ```
/// # use bevy_marionette::controller::AnimationController;
/// # let mut controller = AnimationController::playing("walk");
/// // A guard walks, looks around, and walks again.
/// controller.queue_mut().extend(["look_around", "walk"]).set_looping(true);
/// // Alarm: the guard finishes this loop, and then runs.
/// controller.queue_mut().clear().set_looping(false).push("run");
/// ```
#[derive(Debug)]
pub struct ClipQueueMut<'a>(pub(crate) &'a mut Director);

impl ClipQueueMut<'_> {
    /// Appends a clip.
    pub fn push(&mut self, clip: impl Into<Arc<str>>) -> &mut Self {
        self.extend([clip])
    }

    /// Appends clips.
    pub fn extend<N: Into<Arc<str>>>(&mut self, clips: impl IntoIterator<Item = N>) -> &mut Self {
        let clips = clips.into_iter().map(AnimationName::new);
        self.0.queue.extend(clips);
        self
    }

    /// Empties the queue. The current clip plays on.
    pub fn clear(&mut self) -> &mut Self {
        self.0.queue.clear();
        self
    }

    /// Sets whether a clip that was taken from the queue goes back to its end.
    pub fn set_looping(&mut self, looping: bool) -> &mut Self {
        self.0.loop_queue = looping;
        self
    }

    /// Sets how long queued clips and the fallback fade in. Meanwhile the clip before holds its last frame, or
    /// loops on. Zero, the default, is a cut.
    pub fn set_fade(&mut self, fade: Duration) -> &mut Self {
        self.0.queue_fade = fade;
        self
    }

    /// Sets what plays after a clip that plays once, or after the last clip of the queue.
    pub fn set_fallback(&mut self, fallback: QueueFallback) -> &mut Self {
        self.0.fallback = fallback;
        self.0.settled = false;
        self
    }

    /// Sets the clip to return to when nothing else plays: [`QueueFallback::Clip`].
    pub fn set_idle_clip(&mut self, clip: impl Into<Arc<str>>) -> &mut Self {
        self.set_fallback(QueueFallback::Clip(AnimationName::new(clip)))
    }
}

impl Director {
    /// Makes current what has been found, and starts the queue if nothing plays.
    pub(super) fn begin_pending(&mut self, tracks: &mut Tracks, step: &mut Step) {
        while let Some(pending) = self.pending.first().copied() {
            let track = tracks.of(pending.track);
            let found = track.is_some_and(|track| track.run.index.get().is_some());
            let superseded = self.pending.len() > 1;
            if track.is_some() && !found && !superseded && self.queue.is_empty() {
                return;
            }
            self.pending.remove(0);
            if found {
                if pending.transition.duration.is_zero() {
                    // A cut leaves nothing of what was before.
                    self.switches.clear();
                }
                self.begin_fade(pending, tracks, step.clips);
            } else if pending.new {
                tracks.remove(pending.track);
                if !superseded {
                    self.current = pending.from;
                }
            }
        }
        if self.current(tracks).is_none() && !self.queue.is_empty() {
            self.switch_clip(tracks, step);
        }
    }

    /// Returns `true` if something follows a track's clip when its loop ends.
    pub(super) fn is_followed(&self, track: &AnimationTrack) -> bool {
        let is_current = self.current == Some(track.id) && self.pending.is_empty();
        let Some(known) = track.known.filter(|_| is_current && !*self.stalled) else {
            return false;
        };
        let falls_back = self.fallback != QueueFallback::Stay && !self.settled;
        !self.queue.is_empty() || (falls_back && (self.queued || known.plays_once()))
    }

    /// The current track, if something follows it and it is at the end already: of a clip that plays once or has no length. No
    /// track, if the first clip of the queue follows nothing at all.
    pub(super) fn arrived(&self, tracks: &Tracks) -> Option<TrackId> {
        let Some(at) = self.current_index(tracks) else {
            let starts = !self.queue.is_empty() && self.pending.is_empty() && !*self.stalled;
            return starts.then(TrackId::default);
        };
        let track = &tracks[at];
        let moves = track.begun() && tracks.is_moving(at);
        let known = track.known.filter(|_| moves)?;
        let at_end = known.is_at_end(track.held(), tracks.forward(at));
        let is_over = known.length <= 0.0 || (known.plays_once() && at_end);
        (is_over && self.is_followed(track)).then_some(track.id)
    }

    /// Starts the next clip of the queue that is known, or the fallback.
    pub(super) fn switch_clip(&mut self, tracks: &mut Tracks, step: &mut Step) {
        while let Some(clip) = self.queue.pop_front() {
            if self.follow_with(clip.clone(), tracks, step) {
                if self.loop_queue {
                    self.queue.push_back(clip);
                }
                (self.queued, self.settled) = (true, false);
                return;
            }
        }
        if self.settled {
            return;
        }
        self.settled = true;
        match self.fallback.clone() {
            QueueFallback::Stay => {}
            QueueFallback::Clip(clip) => {
                if self.follow_with(clip, tracks, step) {
                    self.queued = false;
                }
            }
            QueueFallback::RestPose => self.fade_out_all(self.follow_fade(tracks), tracks),
        }
    }

    /// Starts a clip at the present moment. Returns `false` if there is no such clip.
    fn follow_with(&mut self, clip: AnimationName, tracks: &mut Tracks, step: &mut Step) -> bool {
        if step.clips.index_of(&clip).is_none() && !is_space(&clip, step.clips) {
            tracks.report_unknown_name(None, clip, step);
            return false;
        }
        let from = self.current(tracks).map(AnimationTrack::id);
        let transition = Transition {
            duration: self.follow_fade(tracks),
            ..Transition::CUT
        };
        let track = self.add_track(clip, tracks);
        self.current = Some(track);
        if let Some(at) = tracks.index_of(track) {
            tracks.prepare(at, step);
        }
        let pending = Pending {
            track,
            from,
            new: true,
            from_rest: false,
            transition,
        };
        self.begin_fade(pending, tracks, step.clips);
        true
    }

    /// Returns the fade-in time of the next clip of the queue: the queue's fade, or as long as the current clip still needs to
    /// fade in itself. A cut in the middle of that would be seen.
    fn follow_fade(&self, tracks: &Tracks) -> Duration {
        let current = self.current_index(tracks);
        let ramp = current.and_then(|at| tracks.weight_ramp(at));
        let rest = ramp.map_or(Nanos::ZERO, |ramp| ramp.end.minus(tracks.clock.now));
        self.queue_fade.max(rest.into())
    }
}
