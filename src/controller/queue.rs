//! The clip queue: what follows the current clip, at the very moment its loop ends.

use super::{
    AnimationController, AnimationName, PlaybackEvent, QueueFallback, TrackId, Transition,
    clock::Nanos,
    look_up::is_space,
    step::{Follows, Step},
};
use crate::controller::playback_state::{Pending, Playback};
use std::{mem, sync::Arc, time::Duration};

/// Clips and states that may follow each other at one moment: a looped queue of clips without length would never end.
const MOST_AT_ONCE: usize = 1024;

/// # The queue
impl AnimationController {
    /// Returns the queue.
    pub fn queue(&self) -> ClipQueue<'_> {
        ClipQueue(&self.extras.playback)
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
        ClipQueueMut(&mut self.extras.playback)
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
pub struct ClipQueue<'a>(pub(crate) &'a Playback);

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
pub struct ClipQueueMut<'a>(pub(crate) &'a mut Playback);

impl ClipQueueMut<'_> {
    /// Appends a clip.
    pub fn push(&mut self, clip: impl Into<Arc<str>>) -> &mut Self {
        self.extend([clip])
    }

    /// Appends clips.
    pub fn extend<N: Into<Arc<str>>>(&mut self, clips: impl IntoIterator<Item = N>) -> &mut Self {
        self.0
            .queue
            .extend(clips.into_iter().map(AnimationName::new));
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

impl AnimationController {
    pub(super) fn current_index(&self) -> Option<usize> {
        self.index_of(self.extras.playback.current?)
    }

    /// Returns `true` if something follows a track's clip when its loop ends.
    pub(super) fn is_followed(&self, at: usize) -> bool {
        let track = &self.tracks[at];
        let Playback {
            queue,
            fallback,
            settled,
            queued,
            current,
            pending,
            ..
        } = &self.extras.playback;
        let Some(known) = track
            .known
            .filter(|_| *current == Some(track.id) && pending.is_empty())
        else {
            return false;
        };
        let falls_back = *fallback != QueueFallback::Stay && !settled;
        !self.agenda.stalled
            && (!queue.is_empty() || (falls_back && (*queued || known.plays_once())))
    }

    /// Returns `true` if the first clip of the queue follows nothing at all.
    fn starts_queue(&self) -> bool {
        let Playback { queue, pending, .. } = &self.extras.playback;
        !queue.is_empty() && pending.is_empty() && !self.agenda.stalled
    }

    /// A track that has arrived already: at the end of a clip that plays once or has no length, or where an overlay fades
    /// out.
    pub(super) fn arrived(&self) -> Option<(TrackId, Follows)> {
        let ended = |at: &usize| {
            let track = &self.tracks[*at];
            let Some(known) = track.known.filter(|_| track.begun() && self.is_moving(*at)) else {
                return false;
            };
            let at_end = known.is_at_end(track.held(), self.forward(*at));
            self.is_followed(*at) && (known.length <= 0.0 || (known.plays_once() && at_end))
        };
        let clip = match self.current_index() {
            Some(at) => ended(&at).then(|| (self.tracks[at].id, Follows::Clip)),
            None => self
                .starts_queue()
                .then_some((TrackId::default(), Follows::Clip)),
        };
        clip.or_else(|| self.arrived_overlay().map(|id| (id, Follows::FadeOut)))
    }

    /// Starts the next clip of the queue that is known, or the fallback.
    pub(super) fn switch_clip(&mut self, step: &mut Step) {
        while let Some(clip) = self.extras.playback.queue.pop_front() {
            let known = self.follow_with(clip.clone(), step);
            if known {
                if self.extras.playback.loop_queue {
                    self.extras.playback.queue.push_back(clip);
                }
                (self.extras.playback.queued, self.extras.playback.settled) = (true, false);
                return;
            }
        }
        if self.extras.playback.settled {
            return;
        }
        self.extras.playback.settled = true;
        match self.extras.playback.fallback.clone() {
            QueueFallback::Stay => {}
            QueueFallback::Clip(clip) => {
                if self.follow_with(clip, step) {
                    self.extras.playback.queued = false;
                }
            }
            QueueFallback::RestPose => self.fade_out_all(self.follow_fade()),
        }
    }

    /// Starts a clip at the present moment. Returns `false` if there is no such clip.
    fn follow_with(&mut self, clip: AnimationName, step: &mut Step) -> bool {
        if step.clips.index_of(&clip).is_none() && !is_space(&clip, step.clips) {
            self.report_unknown_name(None, clip, step);
            return false;
        }
        let (from, duration) = (self.current_id(), self.follow_fade());
        let track = self.add_playback_track(clip);
        self.extras.playback.current = Some(track);
        if let Some(at) = self.index_of(track) {
            self.prepare(at, step);
        }
        self.begin_fade(
            Pending {
                track,
                from,
                new: true,
                from_rest: false,
                transition: Transition {
                    duration,
                    ..Transition::CUT
                },
            },
            step.clips,
        );
        true
    }

    /// Returns the fade-in time of the next clip of the queue: the queue's fade, or as long as the current clip still needs to
    /// fade in itself. A cut in the middle of that would be seen.
    fn follow_fade(&self) -> Duration {
        let ramp = self.current_index().and_then(|at| self.weight_ramp(at));
        let rest = ramp.map_or(0.0, |ramp| {
            Nanos::from_secs(ramp.end()).since(self.clock.now)
        });
        self.extras
            .playback
            .queue_fade
            .max(Duration::try_from_secs_f64(rest).unwrap_or_default())
    }

    /// Counts a clip or a state that follows another. Too many at one moment are left for the next advance.
    pub(super) fn count_change(&mut self, step: &mut Step) {
        let now = self.clock.now;
        let (moment, count) = step.changes_at;
        step.changes += 1;
        step.changes_at = (now, if moment == now { count + 1 } else { 1 });
        if step.changes_at.1 >= MOST_AT_ONCE {
            self.stall(step);
        }
    }

    /// Lets nothing follow any more in this advance. Reports it once, if anything has followed.
    pub(super) fn stall(&mut self, step: &mut Step) {
        let was_stalled = mem::replace(&mut self.agenda.stalled, true);
        if was_stalled || step.changes == 0 {
            return;
        }
        if !mem::replace(&mut self.extras.playback.reported_stall, true) {
            let (limit, time) = (step.changes, self.clock.now.secs());
            step.out.push(PlaybackEvent::TooManyClips { limit, time });
        }
    }
}
