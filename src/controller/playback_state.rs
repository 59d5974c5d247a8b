//! The state of `play`, `cross_fade` and the queue.

use super::{
    AnimationName, AnimationTrack, Switch, TrackId, Transition, switch::MOST_SWITCHES,
    track_types::Role,
};
use crate::model::BlendPoint;
use serde::{Deserialize, Serialize};
use std::{collections::VecDeque, time::Duration};

/// The behavior when a clip has ended and the queue is empty.
///
/// ```
/// # use bevy_marionette::controller::{AnimationController, QueueFallback};
/// let mut controller = AnimationController::playing("jump");
/// controller.queue_mut().set_fallback(QueueFallback::Clip("idle".into()));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub enum QueueFallback {
    /// The current clip stays: it holds its last frame if it plays once, and continues if it loops.
    #[default]
    Stay,
    /// A clip, such as `idle`.
    Clip(AnimationName),
    /// No clip: the rest pose, under the tracks you added.
    RestPose,
}

/// The state of `play`, `cross_fade` and the queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Playback {
    /// The current clip's track, or that of the clip about to become current.
    pub(crate) current: Option<TrackId>,
    /// Clips that become current as soon as they are found: at most one to `play` and one to fade to.
    pub(crate) pending: Vec<Pending>,
    /// Speed of the clips that are started.
    pub(crate) speed: f64,
    /// Parameters of the blend spaces that are started.
    pub(crate) parameters: BlendPoint,
    /// End of the last cross-fade, in seconds of global time.
    pub(crate) fade_end: Option<f64>,
    /// Switches whose offset is still decaying, the oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) switches: Vec<Switch>,
    pub(crate) queue: VecDeque<AnimationName>,
    pub(crate) loop_queue: bool,
    /// Length of the fade from one queued clip to the next.
    pub(crate) queue_fade: Duration,
    pub(crate) fallback: QueueFallback,
    /// `true` if the current clip came from the queue, and so ends after one loop.
    pub(crate) queued: bool,
    /// `true` once the fallback has had its turn.
    pub(crate) settled: bool,
    /// Set once `TooManyClips` has been reported.
    pub(crate) reported_stall: bool,
}

impl Default for Playback {
    fn default() -> Self {
        Self::ORDINARY
    }
}

impl Playback {
    /// Nothing was ever played.
    pub(crate) const ORDINARY: Self = Self {
        current: None,
        pending: Vec::new(),
        speed: 1.0,
        parameters: BlendPoint::new(0.0, 0.0),
        fade_end: None,
        switches: Vec::new(),
        queue: VecDeque::new(),
        loop_queue: false,
        queue_fade: Duration::ZERO,
        fallback: QueueFallback::Stay,
        queued: false,
        settled: false,
        reported_stall: false,
    };

    /// Returns `true` if a track's clip is about to become current.
    pub(crate) fn awaits(&self, track: TrackId) -> bool {
        self.pending.iter().any(|pending| pending.track == track)
    }

    /// Returns `true` if a track leaves when the clip of another becomes current.
    pub(super) fn replaces(&self, track: &AnimationTrack, by: TrackId) -> bool {
        track.role != Role::User && track.id != by && !self.awaits(track.id)
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        if self.switches.len() > MOST_SWITCHES {
            return Err(format!("more than {MOST_SWITCHES} switches"));
        }
        self.switches.iter().try_for_each(Switch::check)?;
        if !self.parameters.is_finite() {
            return Err("the parameters of blend spaces are not finite".to_owned());
        }
        let finite = self.fade_end.is_none_or(f64::is_finite);
        if finite {
            Ok(())
        } else {
            Err("the end of a cross-fade is not finite".to_owned())
        }
    }
}

/// A clip about to become current.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Pending {
    pub(crate) track: TrackId,
    /// The track that was current before.
    pub(crate) from: Option<TrackId>,
    /// `true` if the track was added for this.
    pub(crate) new: bool,
    /// `true` if the rest pose was shown on purpose, so that the clip fades in from it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) from_rest: bool,
    pub(crate) transition: Transition,
}
