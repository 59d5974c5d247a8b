//! The director: what is current, what is about to be, and how that came about.
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
    AnimationName, AnimationTrack, Switch, TrackId, Transition,
    clock::Nanos,
    switch::MOST_SWITCHES,
    track_types::{Role, Transient},
    tracks::Tracks,
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
pub(crate) struct Director {
    /// The current clip's track, or that of the clip about to become current.
    pub(super) current: Option<TrackId>,
    /// Clips that become current as soon as they are found: at most one to `play` and one to fade to.
    pub(super) pending: Vec<Pending>,
    /// Speed of the clips that are started.
    pub(super) speed: f64,
    /// Parameters of the blend spaces that are started.
    pub(super) parameters: BlendPoint,
    /// End of the last cross-fade.
    pub(super) fade_end: Option<Nanos>,
    /// Switches whose offset is still decaying, the oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) switches: Vec<Switch>,
    pub(super) queue: VecDeque<AnimationName>,
    pub(super) loop_queue: bool,
    /// Length of the fade from one queued clip to the next.
    pub(super) queue_fade: Duration,
    pub(super) fallback: QueueFallback,
    /// `true` if the current clip came from the queue, and so ends after one loop.
    pub(super) queued: bool,
    /// `true` once the fallback has had its turn.
    pub(super) settled: bool,
    /// Set once `TooManyClips` has been reported.
    pub(super) reported_stall: bool,
    /// `true` if so much has happened in this advance that nothing follows any more.
    #[serde(skip)]
    pub(super) stalled: Transient<bool>,
    /// The track whose clip has become current since states have last heard of that.
    #[serde(skip)]
    pub(super) became_current: Transient<Option<TrackId>>,
}

/// A clip about to become current.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Pending {
    pub(super) track: TrackId,
    /// The track that was current before.
    pub(super) from: Option<TrackId>,
    /// `true` if the track was added for this.
    pub(super) new: bool,
    /// `true` if the rest pose was shown on purpose, so that the clip fades in from it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) from_rest: bool,
    pub(super) transition: Transition,
}

impl Default for Director {
    fn default() -> Self {
        Self {
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
            stalled: Transient::default(),
            became_current: Transient::default(),
        }
    }
}

impl Director {
    /// The track of the current clip.
    pub(super) fn current<'t>(&self, tracks: &'t Tracks) -> Option<&'t AnimationTrack> {
        tracks.of(self.current?)
    }

    pub(super) fn current_index(&self, tracks: &Tracks) -> Option<usize> {
        tracks.index_of(self.current?)
    }

    /// Returns `true` if a track's clip is about to become current.
    pub(super) fn awaits(&self, track: TrackId) -> bool {
        self.pending.iter().any(|pending| pending.track == track)
    }

    /// Returns `true` if a track leaves when the clip of another becomes current.
    pub(super) fn replaces(&self, track: &AnimationTrack, by: TrackId) -> bool {
        track.role != Role::User && track.id != by && !self.awaits(track.id)
    }

    /// Returns `true` if an advance may start a clip or complete a fade.
    pub(super) fn has_plans(&self) -> bool {
        !self.pending.is_empty() || !self.queue.is_empty() || self.fade_end.is_some()
    }

    pub(super) fn leave_queue(&mut self) {
        self.queue.clear();
        (self.queued, self.settled) = (false, false);
    }

    /// Makes a clip the current one, as soon as it is found.
    pub(super) fn start(
        &mut self,
        clip: AnimationName,
        transition: Transition,
        tracks: &mut Tracks,
    ) -> TrackId {
        let cut = transition.is_cut();
        let is_ours = |track: &&AnimationTrack| track.role != Role::User;
        let alone = tracks.iter().filter(is_ours).count() == 1;
        if let Some(current) = self.current.and_then(|id| tracks.of_mut(id))
            && current.clip == clip
            && !current.is_finished()
        {
            current.enabled = true;
            let track = current.id;
            if cut && !alone {
                self.await_clip(Pending {
                    track,
                    from: None,
                    new: false,
                    from_rest: false,
                    transition,
                });
            }
            return track;
        }
        let from = self.drop_superseded(cut, tracks);
        // A clip that is still there is taken up again where it is: one that never began to leave, or a loop.
        let continues = |track: &&mut AnimationTrack| {
            let looping = track.known.is_some_and(|known| !known.plays_once());
            let is_there = match track.leaves_at {
                None => !track.is_finished(),
                Some(_) => looping && !cut,
            };
            let waits = self.awaits(track.id);
            track.role == Role::Playback && is_there && track.clip == clip && !waits
        };
        let (track, new) = match tracks.iter_mut().find(continues) {
            Some(track) => {
                track.enabled = true;
                (track.id, false)
            }
            None => (self.add_track(clip, tracks), true),
        };
        self.current = Some(track);
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
    pub(super) fn add_track(&self, clip: AnimationName, tracks: &mut Tracks) -> TrackId {
        let track = AnimationTrack::new(clip.as_arc().clone())
            .weight(0.0)
            .speed(self.speed)
            .at(self.parameters);
        let id = tracks.add(track);
        tracks.put_on_layer(None);
        if let Some(track) = tracks.of_mut(id) {
            track.role = Role::Playback;
            // From its end, if it plays backwards.
            track.restart();
        }
        id
    }

    pub(super) fn await_clip(&mut self, pending: Pending) {
        let others = |waiting: &Pending| waiting.track != pending.track;
        self.pending.retain(others);
        self.pending.push(pending);
    }

    /// Forgets what another clip takes the place of before it has begun. Returns what is current, or was before that.
    pub(super) fn drop_superseded(&mut self, cut: bool, tracks: &mut Tracks) -> Option<TrackId> {
        let first = self.pending.first();
        let before = first.and_then(|pending| pending.from);
        self.drop_pending(cut, tracks);
        self.current(tracks).map(AnimationTrack::id).or(before)
    }

    /// Forgets what is about to be faded to, and with `all` what is about to be played too.
    pub(super) fn drop_pending(&mut self, all: bool, tracks: &mut Tracks) {
        self.pending.retain(|pending| {
            let drops = all || !pending.transition.is_cut();
            if drops && pending.new {
                tracks.remove(pending.track);
            }
            !drops
        });
    }

    /// Lets the clock go back.
    pub(super) fn shift(&mut self, by: Nanos) {
        self.fade_end = self.fade_end.map(|end| end.minus(by));
        for switch in &mut self.switches {
            switch.begin = switch.begin.minus(by);
        }
    }

    pub(super) fn check(&self) -> Result<(), String> {
        if self.switches.len() > MOST_SWITCHES {
            return Err(format!("more than {MOST_SWITCHES} switches"));
        }
        self.switches.iter().try_for_each(Switch::check)?;
        if self.parameters.is_finite() {
            Ok(())
        } else {
            Err("the parameters of blend spaces are not finite".to_owned())
        }
    }
}
