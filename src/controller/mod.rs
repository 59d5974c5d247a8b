#![doc = include_str!("guide.md")]

mod advance;
mod anchor;
mod callback;
mod changes;
mod clips;
mod clock;
mod course;
mod director;
mod fade;
mod happenings;
mod key;
mod layer;
mod leaving;
mod look_up;
mod motion;
mod name;
mod on_way;
mod open_range;
mod overlay;
mod pass;
mod plan;
mod playback;
mod playback_event;
mod playhead;
mod queue;
mod ramp;
mod ranges;
mod rare;
mod record_switch;
mod report;
mod root_motion;
mod run;
mod scheduled_change;
mod settle;
mod size;
mod source;
mod states;
mod steering;
mod step;
mod switch;
mod sync;
mod timeline;
mod track;
mod track_types;
mod tracks;
mod transition;
mod validate;

pub use advance::AdvanceError;
#[cfg(feature = "bevy")]
use bevy::{
    ecs::reflect::ReflectComponent,
    reflect::{ReflectDeserialize, ReflectSerialize, prelude::ReflectDefault},
};
pub use clips::Clips;
pub use director::QueueFallback;
pub(crate) use internals::*;
pub use key::{CallbackId, CallbackTime};
pub use name::AnimationName;
pub use open_range::ActiveRange;
pub use playback_event::{CallbackKind, FiredCallback, PlaybackEvent};
pub use queue::{ClipQueue, ClipQueueMut};
pub use ramp::TransitionCurve;
pub use scheduled_change::{ChangeHandle, ChangeTarget, ScheduledChange};
#[cfg(feature = "inspector")]
pub(crate) use states::StateView;
pub use states::{CharacterStates, CurrentStates, Go, StateName, StatesError};
pub use timeline::TimelineMut;
pub use track::AnimationTrack;
pub use track_types::{BlendMode, TrackId, TrackPriority};
pub use transition::Transition;

use director::Director;
use open_range::OpenRange;
use report::Agenda;
use scheduled_change::Schedule;
use serde::{Deserialize, Serialize};
use states::StateRuns;
use track_types::Transient;
use tracks::Tracks;

/// What the crate and its tools use, but no app: see [`crate::internals`].
pub(crate) mod internals {
    pub use crate::controller::{
        key::KeyRef,
        layer::{LayerInfo, PlayedClip},
        switch::{Switch, SwitchLayer},
    };
}

/// Animation state of one character: its tracks, its clock and what is scheduled.
///
/// Create one with [`playing`](Self::playing), or with `default()` and [`play`](Self::play). See the
/// [module documentation](self) for a tour by task.
///
/// A clone continues exactly as the original would, and [`restore`](Self::restore) returns to it. To start several
/// characters from one prepared controller, use [`clone_without_timeline`](Self::clone_without_timeline).
///
/// ```
/// # use bevy_marionette::controller::AnimationController;
/// # use std::time::Duration;
/// let mut controller = AnimationController::playing("walk");
/// controller.cross_fade("jog", Duration::from_millis(250));
/// controller.queue_mut().extend(["jump", "idle"]);
/// assert_eq!(controller.current(), Some("jog"));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
// Read by way of `validate`.
#[serde(default, remote = "Self")]
#[cfg_attr(
    feature = "bevy",
    derive(bevy::prelude::Component, bevy::reflect::Reflect)
)]
// Opaque: a copy made field by field would lose the private parts of the clock.
#[cfg_attr(
    feature = "bevy",
    reflect(opaque, Component, Default, Clone, PartialEq, Serialize, Deserialize)
)]
pub struct AnimationController {
    /// If `true`, time stands still for everything: tracks, fades and scheduled changes.
    pub paused: bool,
    /// Speed at which time passes for this character; 1 by default. 0.5 is slow motion, 0 stands still. Scales everything,
    /// including fades and scheduled changes. A scale that is negative or not finite counts as 0; to play backwards, use a
    /// negative [speed](Self::set_speed).
    pub time_scale: f64,
    /// The most callbacks of all tracks together, and the most loops of each track, that one advance reports;
    /// [`DEFAULT_CALLBACK_LIMIT`](Self::DEFAULT_CALLBACK_LIMIT) by default. The rest are dropped, which is
    /// [reported](PlaybackEvent::TooManyCallbacks) once per track.
    pub callback_limit: usize,
    /// The least weight of a track at which its callbacks fire; 0 by default.
    ///
    /// With a threshold slightly above 0.5, only one of two clips that fade into each other in phase reports its
    /// footsteps. See also [`FiredCallback::current`].
    pub callback_threshold: f32,
    /// The share of the high-priority tracks in the pose, where tracks of both groups animate a joint: 0 is all low, 1 all
    /// high; 0.5 by default. Numbers beyond count as the nearest of these.
    pub priority_blend: f32,

    tracks: Tracks,
    director: Director,
    #[serde(skip_serializing_if = "Option::is_none")]
    states: Option<Box<StateRuns>>,
    /// Ranges that tracks are in, in the order they began.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ranges: Vec<OpenRange>,
    /// The next happening, and results that are kept between advances.
    #[serde(skip)]
    agenda: Transient<Agenda>,
}

impl Default for AnimationController {
    /// Returns a controller without tracks, at time 0, with a priority blend of 0.5.
    fn default() -> Self {
        Self {
            paused: false,
            time_scale: 1.0,
            callback_limit: Self::DEFAULT_CALLBACK_LIMIT,
            callback_threshold: 0.0,
            priority_blend: 0.5,
            tracks: Tracks::default(),
            director: Director::default(),
            states: None,
            ranges: Vec::new(),
            agenda: Transient::default(),
        }
    }
}

/// # Tracks
impl AnimationController {
    /// Adds a track on top of the others and returns its id.
    ///
    /// For an overlay that fades in and removes itself, see [`play_over`](Self::play_over).
    pub fn add_track(&mut self, track: AnimationTrack) -> TrackId {
        self.change();
        self.tracks.add(track)
    }

    /// Returns the track with this id.
    pub fn track(&self, id: TrackId) -> Option<&AnimationTrack> {
        self.tracks.of(id)
    }

    /// Returns the track with this id, mutably.
    pub fn track_mut(&mut self, id: TrackId) -> Option<&mut AnimationTrack> {
        self.change();
        self.tracks.of_mut(id)
    }

    /// Removes the track with this id and its scheduled changes, and returns it.
    pub fn remove_track(&mut self, id: TrackId) -> Option<AnimationTrack> {
        self.change();
        self.tracks.remove(id)
    }

    /// Returns all tracks in the order they were added, including those of `play` and `cross_fade`. Only those of
    /// [layers](crate::model::StateLayer) stay together, in the order of the layers and above those of `play`.
    pub fn tracks(&self) -> impl Iterator<Item = &AnimationTrack> {
        self.tracks.iter()
    }

    /// Returns all [tracks](Self::tracks), in the same order, mutably.
    pub fn tracks_mut(&mut self) -> impl Iterator<Item = &mut AnimationTrack> {
        self.change();
        self.tracks.iter_mut()
    }

    /// Notes that something was changed from outside an advance.
    fn change(&mut self) {
        self.agenda.next = None;
        self.tracks.moved();
    }
}

/// # Clock
impl AnimationController {
    /// The most callbacks that fire in one advance, unless [set otherwise](#structfield.callback_limit). An advance
    /// that would take more than some milliseconds reports fewer.
    pub const DEFAULT_CALLBACK_LIMIT: usize = 1024;

    /// Returns global time: the seconds played since the start, or since [`reset_time`](TimelineMut::reset_time).
    pub fn time(&self) -> f64 {
        self.tracks.clock.now.secs()
    }
}

/// # Copies and saved games
impl AnimationController {
    /// Returns a copy for another character: the same tracks at the same time, without scheduled changes.
    ///
    /// Fades are scheduled changes, so in the copy they are complete.
    pub fn clone_without_timeline(&self) -> Self {
        let mut copy = self.clone();
        let states = self.states.as_ref();
        let is_of_state = |track| states.is_some_and(|states| states.layer_of(track).is_some());
        copy.director.finish_fades(&mut copy.tracks, is_of_state);
        copy.tracks.changes = Schedule::default();
        // The other character has heard of none.
        copy.ranges.clear();
        copy.change();
        copy
    }

    /// Returns to the state of a clone of this or another controller: for rollback and saved games.
    ///
    /// Advanced by the same steps, it goes through bit-identical states, except for the ids of tracks, changes and callbacks
    /// added later: ids given out since the clone was made are not given out again, so one that you still hold never means
    /// another track.
    ///
    /// ```
    /// # use bevy_marionette::{controller::AnimationController, model::ClipTiming};
    /// let clips = [ClipTiming::new("walk", 1.0)];
    /// let mut controller = AnimationController::playing("walk");
    /// let saved = controller.clone();
    /// controller.advance(0.25, &clips, &mut Vec::new())?;
    /// controller.restore(&saved);
    /// assert_eq!(controller.time(), 0.0);
    /// # Ok::<(), bevy_marionette::controller::AdvanceError>(())
    /// ```
    pub fn restore(&mut self, saved: &Self) {
        let last_id = self.tracks.last_id.max(saved.tracks.last_id);
        *self = saved.clone();
        self.tracks.last_id = last_id;
    }
}
