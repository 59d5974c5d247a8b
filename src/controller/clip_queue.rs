//! The clip queue, as the game sees it.

use super::{AnimationName, QueueFallback, playback_state::Playback};
use std::{sync::Arc, time::Duration};

/// The clip queue of a controller. See [`AnimationController::queue`](super::AnimationController::queue).
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
/// Queued clips follow the current one, which first finishes its round: a loop ends where it starts over, a
/// ping-pong clip when it is back. Each queued clip plays one round; then comes the next, or the
/// [fallback](Self::set_fallback). If nothing plays, the first starts at once. Unknown names are reported and
/// skipped. `play`, `cross_fade` and `fade_out` empty the queue.
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
