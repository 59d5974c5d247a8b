//! The clip queue: what follows the current clip, at the very moment its round ends.

use super::{
    AnimationController, AnimationName, Clips, QueueFallback,
    arrival::{Arrival, Next},
    compensated::CompensatedF64,
    log::Log,
    playback_state::{CUT, Fade, Pending, Playback},
    playhead,
    timed_event::EventKind,
    track::Known,
};
use crate::model::PlaybackMode;
use std::{sync::Arc, time::Duration};

/// # The queue
impl AnimationController {
    /// Returns the queue.
    pub fn queue(&self) -> ClipQueue<'_> {
        ClipQueue(&self.playback)
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
        ClipQueueMut(&mut self.playback)
    }
}

/// The clip queue of a controller. See [`AnimationController::queue`].
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

/// The clip queue of a controller, mutably. See [`AnimationController::queue_mut`].
///
/// Queued clips follow the current one, which first finishes its round: a loop ends where it starts over, a
/// ping-pong clip when it is back. Each queued clip plays one round; then comes the next, or the
/// [fallback](Self::set_fallback). If nothing plays, the first starts at once. Unknown names are reported and
/// skipped. `play`, `restart`, `cross_fade` and `stop` empty the queue.
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
        self.0.reported_stall = false;
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
    /// Returns `true` if the end of a clip's round may have consequences.
    pub(super) fn awaits_arrivals(&self) -> bool {
        self.playback.may_switch() || self.tracks.iter().any(|track| track.overlay.is_some())
    }

    /// Finds what arrives first until `end`.
    pub(super) fn next_arrival(&self, end: CompensatedF64) -> Option<Arrival> {
        let mut first = self.next_switch(end);
        for at in 0..self.tracks.len() {
            if self.tracks[at].overlay.is_some() && self.tracks[at].leaves_at.is_none() {
                let until = first.as_ref().map_or(end, |first| first.time);
                let found = self.overlay_end(at, until);
                first = found
                    .filter(|found| first.is_none() || found.time.is_before(until))
                    .or(first);
            }
        }
        first
    }

    /// The moment until `end` at which the current clip makes way for the next.
    fn next_switch(&self, end: CompensatedF64) -> Option<Arrival> {
        if !self.playback.may_switch() {
            return None;
        }
        let at = self
            .tracks
            .iter()
            .position(|track| Some(track.id) == self.playback.current)?;
        let Known { length, playback } = self.tracks[at]
            .known
            .filter(|known| self.playback.pending.is_empty() && self.ends(*known))?;
        self.arrival(at, end, Next::Clip, |position, forward| {
            playhead::round_end(playback, length, position, forward)
        })
    }

    /// Returns `true` if something follows the current clip when its round ends.
    fn ends(&self, known: Known) -> bool {
        let Playback {
            queue,
            fallback,
            settled,
            queued,
            ..
        } = &*self.playback;
        let falls_back = *fallback != QueueFallback::Stay && !settled;
        !queue.is_empty() || (falls_back && (*queued || known.playback == PlaybackMode::Once))
    }

    /// Starts the next clip of the queue that is known, or the fallback.
    pub(super) fn switch_clip<C: Clips + ?Sized>(&mut self, clips: &C, log: &mut Log) {
        while let Some(clip) = self.playback.queue.pop_front() {
            let known = self.follow_with(clip.clone(), clips, log);
            if known {
                if self.playback.loop_queue {
                    self.playback.queue.push_back(clip);
                }
                (self.playback.queued, self.playback.settled) = (true, false);
                return;
            }
        }
        if self.playback.settled {
            return;
        }
        self.playback.settled = true;
        match self.playback.fallback.clone() {
            QueueFallback::Stay => {}
            QueueFallback::Clip(clip) => {
                if self.follow_with(clip, clips, log) {
                    self.playback.queued = false;
                }
            }
            QueueFallback::RestPose => self.fade_out_all(self.follow_fade()),
        }
    }

    /// Starts a clip at the present moment. Returns `false` if there is no such clip.
    fn follow_with<C: Clips + ?Sized>(
        &mut self,
        clip: AnimationName,
        clips: &C,
        log: &mut Log,
    ) -> bool {
        let is_space = || {
            clips
                .blend_spaces()
                .iter()
                .any(|space| **space.name() == *clip)
        };
        if clips.index_of(&clip).is_none() && !is_space() {
            log.push_unknown(&mut self.unknown, None, &clip, self.time.value());
            return false;
        }
        let (from, duration) = (self.current_track(), self.follow_fade());
        let track = self.add_playback_track(clip);
        self.playback.current = Some(track);
        self.prepare_track(track, clips);
        self.begin_fade(
            Pending {
                track,
                from,
                new: true,
                fade: Fade { duration, ..CUT },
            },
            clips,
        );
        true
    }

    /// How long the next clip of the queue fades in: the queue's fade, or as long as the current clip still needs to
    /// fade in itself. A cut in the middle of that would be seen.
    fn follow_fade(&self) -> Duration {
        let current = self
            .playback
            .current
            .and_then(|id| self.running_ramp(id, EventKind::Weight));
        let rest = current.map_or(0.0, |ramp| ramp.end() - self.time.value());
        self.playback
            .queue_fade
            .max(Duration::try_from_secs_f64(rest).unwrap_or_default())
    }
}
