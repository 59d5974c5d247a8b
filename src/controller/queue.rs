//! The clip queue: what follows the current clip, at the very moment its round ends.

use super::{
    AnimationController, AnimationName, ClipQueue, ClipQueueMut, Clips, PlaybackEvent,
    QueueFallback, TrackId, Transition,
    clock::Nanos,
    look_up::is_space,
    step::{Follows, Step},
};
use crate::controller::{
    playback_state::{Pending, Playback},
    scheduled_change::ChangeKind,
};
use std::{mem, time::Duration};

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

impl AnimationController {
    pub(super) fn current_index(&self) -> Option<usize> {
        let current = self.extras.playback.current?;
        self.tracks.iter().position(|track| track.id == current)
    }

    /// Returns `true` if something follows a track's clip when its round ends.
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
    pub(super) fn switch_clip<C: Clips + ?Sized>(&mut self, clips: &C, step: &mut Step) {
        while let Some(clip) = self.extras.playback.queue.pop_front() {
            let known = self.follow_with(clip.clone(), clips, step);
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
                if self.follow_with(clip, clips, step) {
                    self.extras.playback.queued = false;
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
        step: &mut Step,
    ) -> bool {
        if clips.index_of(&clip).is_none() && !is_space(&clip, clips) {
            self.report_unknown_name(None, clip, step);
            return false;
        }
        let (from, duration) = (self.current_id(), self.follow_fade());
        let track = self.add_playback_track(clip);
        self.extras.playback.current = Some(track);
        self.prepare(self.tracks.len() - 1, clips, step);
        self.begin_fade(
            Pending {
                track,
                from,
                new: true,
                transition: Transition {
                    duration,
                    ..Transition::CUT
                },
            },
            clips,
        );
        true
    }

    /// Returns the fade-in time of the next clip of the queue: the queue's fade, or as long as the current clip still needs to
    /// fade in itself. A cut in the middle of that would be seen.
    fn follow_fade(&self) -> Duration {
        let current = self
            .extras
            .playback
            .current
            .and_then(|id| self.running_ramp(id, ChangeKind::Weight));
        let rest = current.map_or(0.0, |ramp| {
            Nanos::from_secs(ramp.end()).since(self.clock.now)
        });
        self.extras
            .playback
            .queue_fade
            .max(Duration::try_from_secs_f64(rest).unwrap_or_default())
    }

    /// Reports, once, that the queue would start too many clips in one advance.
    pub(super) fn report_stall(&mut self, limit: usize, step: &mut Step) {
        if !mem::replace(&mut self.extras.playback.reported_stall, true) {
            step.out.push(PlaybackEvent::TooManyClips {
                limit,
                time: self.clock.now.secs(),
            });
        }
    }
}
