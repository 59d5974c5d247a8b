//! The clip queue: what follows the clip in front, at the very moment it ends.

use super::{
    AnimationController, AnimationName, Clips, TrackId,
    advance::{Log, report_unknown},
    exact::Exact,
    playhead,
    stage::{CUT, Fade, Pending},
    track::{Known, Role},
};
use crate::model::PlaybackMode;
use serde::{Deserialize, Serialize};
use std::{sync::Arc, time::Duration};

/// What comes on when a clip has ended and nothing is queued.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum QueueFallback {
    /// The clip that was in front stays: its last frame if it plays once, its next round if it loops.
    #[default]
    Stay,
    /// A clip, such as `idle`.
    Clip(AnimationName),
    /// No clip: the rest pose, beneath the user's own tracks.
    RestPose,
}

/// The moment at which the clip in front ends and the next takes over.
pub(crate) struct Switch {
    pub(crate) time: Exact,
    pub(crate) track: TrackId,
    /// The position at which it ends.
    pub(crate) target: f64,
}

/// The queue.
impl AnimationController {
    /// Lets clips follow the one in front: each plays one round, the last goes on as its playback says,
    /// or is followed by the [fallback](Self::set_fallback).
    ///
    /// A loop ends with its round, a ping-pong when it is back. If nothing plays the first starts at once.
    /// Names that are unknown are reported and skipped.
    pub fn queue<N: Into<Arc<str>>>(&mut self, clips: impl IntoIterator<Item = N>) {
        self.stage.queue.extend(clips.into_iter().map(AnimationName::new));
    }

    /// Whether a clip taken from the queue is put at its end again.
    pub fn loop_queue(&mut self, looped: bool) {
        self.stage.loop_queue = looped;
    }

    /// Lets queued clips fade into each other. The clip that ends holds its last frame, or goes on looping.
    pub fn set_queue_fade(&mut self, duration: Duration) {
        self.stage.queue_fade = duration.as_secs_f64();
    }

    /// The clips that wait in the queue.
    pub fn queued(&self) -> impl Iterator<Item = &str> {
        self.stage.queue.iter().map(|clip| &**clip)
    }

    /// Empties the queue. The clip in front goes on.
    pub fn clear_queue(&mut self) {
        self.stage.queue.clear();
    }

    /// What comes on when a one-shot or the last clip of the queue has ended.
    pub fn set_fallback(&mut self, fallback: QueueFallback) {
        self.stage.fallback = fallback;
        self.stage.settled = false;
    }

    /// Falls back to a clip when there is nothing else to play. See [`set_fallback`](Self::set_fallback).
    pub fn set_still(&mut self, clip: impl Into<Arc<str>>) {
        self.set_fallback(QueueFallback::Clip(AnimationName::new(clip)));
    }

    /// Whether the clip in front and another clip follow each other when its round ends.
    fn ends(&self, known: Known) -> bool {
        let falls_back = self.stage.fallback != QueueFallback::Stay && !self.stage.settled;
        !self.stage.queue.is_empty() || (falls_back && (self.stage.queued || known.playback == PlaybackMode::Once))
    }

    /// The moment until `end` at which the clip in front makes way for the next.
    pub(crate) fn next_switch(&self, end: Exact) -> Option<Switch> {
        if !self.stage.may_switch() {
            return None;
        }
        let at = self.tracks.iter().position(|track| Some(track.id) == self.stage.current)?;
        let track = &self.tracks[at];
        let known = track.known.filter(|known| self.stage.pending.is_empty() && self.ends(*known))?;
        if !self.is_moving(at) {
            return None;
        }
        let Known { length, playback } = known;
        let (speed, _) = self.course(at);
        let (mut begin, mut position) = (self.time, track.held());
        for part in speed.turning_point(begin, end).into_iter().chain([end]) {
            let forward = speed.is_forward(begin, part);
            let target = playhead::round_end(playback, length, position.value(), forward);
            let there = position + speed.distance(begin, part);
            let is_at = |position: f64| {
                let [at, target] = [position, target].map(|position| playhead::place(length, position));
                if forward { at >= target } else { at <= target }
            };
            if is_at(position.value()) {
                return Some(Switch { time: begin, track: track.id, target });
            }
            if is_at(there.value()) {
                let time = speed.moment(begin, part, (Exact::new(target) - position).value());
                return Some(Switch { time, track: track.id, target });
            }
            (begin, position) = (part, there);
        }
        None
    }

    /// Brings on the next clip of the queue that is known, or the fallback.
    pub(crate) fn switch_clip<C: Clips + ?Sized>(&mut self, clips: &C, log: &mut Log) {
        while let Some(clip) = self.stage.queue.pop_front() {
            let known = self.follow_with(clip.clone(), clips, log);
            if known {
                if self.stage.loop_queue {
                    self.stage.queue.push_back(clip);
                }
                (self.stage.queued, self.stage.settled) = (true, false);
                return;
            }
        }
        if self.stage.settled {
            return;
        }
        self.stage.settled = true;
        match self.stage.fallback.clone() {
            QueueFallback::Stay => {}
            QueueFallback::Clip(clip) => {
                if self.follow_with(clip, clips, log) {
                    self.stage.queued = false;
                }
            }
            QueueFallback::RestPose => {
                self.stage.current = None;
                self.remove_tracks(|track| track.role != Role::User);
            }
        }
    }

    /// Brings a clip on at the present moment, if it is known.
    fn follow_with<C: Clips + ?Sized>(&mut self, clip: AnimationName, clips: &C, log: &mut Log) -> bool {
        if clips.index_of(&clip).is_none() {
            report_unknown(&mut self.unknown, None, &clip, self.time.value(), log);
            return false;
        }
        let from = self.current_track();
        let track = self.put_up(clip);
        self.stage.current = Some(track);
        self.prepare_track(track, clips);
        let duration = self.stage.queue_fade.max(0.0);
        self.begin_fade(Pending { track, from, new: true, fade: Fade { duration, ..CUT } });
        true
    }
}
