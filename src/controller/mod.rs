#![doc = include_str!("guide.md")]

mod advance;
mod callback;
mod clips;
mod event;
mod exact;
mod layer;
mod motion;
mod name;
mod playhead;
mod queue;
mod quick;
mod stage;
mod track;

pub use advance::AdvanceError;
pub use callback::{Callback, CallbackId, CallbackTime, KeyRef, PlaybackEvent};
pub use clips::Clips;
pub use event::{EventHandle, EventKind, TimedEvent};
pub use layer::LayerInfo;
pub use motion::TransitionCurve;
pub use name::AnimationName;
pub use queue::QueueFallback;
pub use track::{AnimationTrack, BlendMode, TrackId, TrackPriority};

#[cfg(feature = "bevy")]
use bevy::{
    ecs::reflect::ReflectComponent,
    reflect::{ReflectDeserialize, ReflectSerialize, prelude::ReflectDefault},
};

use advance::Log;
use callback::AddedCallback;
use exact::Exact;
use serde::{Deserialize, Serialize};
use stage::Stage;
use track::{Role, Transient};

/// Who plays what, when: the tracks of one character, its clock, and what is to happen.
///
/// See the [module's page](self) for what the words mean.
///
/// A clone goes on exactly as the original would, timed events included: that is what
/// [`snapshot`](Self::snapshot) is made of. For further characters that start from one prepared
/// controller, take [`template`](Self::template).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "bevy", derive(bevy::prelude::Component, bevy::reflect::Reflect))]
// Opaque, for field by field a copy would lose what is private to the clock.
#[cfg_attr(feature = "bevy", reflect(opaque, Component, Default, Clone, PartialEq, Serialize, Deserialize))]
pub struct AnimationController {
    tracks: Vec<AnimationTrack>,
    /// The number last given to a track, an event or a callback.
    last_id: u64,
    time: Exact,
    priority_blend: f32,
    paused: bool,
    callback_limit: usize,
    events: Vec<TimedEvent>,
    callbacks: Vec<AddedCallback>,
    /// Names that were reported as unknown.
    unknown: Vec<AnimationName>,
    stage: Stage,
    #[serde(skip)]
    log: Transient<Log>,
}

impl Default for AnimationController {
    /// Without tracks, at time 0, with a priority blend of 0.5.
    fn default() -> Self {
        Self {
            tracks: Vec::new(),
            last_id: 0,
            time: Exact::ZERO,
            priority_blend: 0.5,
            paused: false,
            callback_limit: Self::DEFAULT_CALLBACK_LIMIT,
            events: Vec::new(),
            callbacks: Vec::new(),
            unknown: Vec::new(),
            stage: Stage::default(),
            log: Transient::default(),
        }
    }
}

/// Tracks.
impl AnimationController {
    /// Callbacks one track may fire in one advance.
    pub const DEFAULT_CALLBACK_LIMIT: usize = 1024;

    /// Adds a track above the others.
    pub fn add_track(&mut self, track: AnimationTrack) -> TrackId {
        let id = TrackId(self.next_id());
        // A copy of another track is a track of its own.
        self.tracks.push(AnimationTrack { id, role: Role::User, ..track });
        id
    }

    /// A track, if there is one of this name.
    pub fn track(&self, id: TrackId) -> Option<&AnimationTrack> {
        self.tracks.iter().find(|track| track.id == id)
    }

    /// A track, to be changed.
    pub fn track_mut(&mut self, id: TrackId) -> Option<&mut AnimationTrack> {
        self.tracks.iter_mut().find(|track| track.id == id)
    }

    /// Removes a track and its timed events.
    pub fn remove_track(&mut self, id: TrackId) -> Option<AnimationTrack> {
        let at = self.tracks.iter().position(|track| track.id == id)?;
        self.unkey_track(id);
        Some(self.tracks.remove(at))
    }

    /// All tracks in the order in which they were added, those of `play` and `cross_fade` included.
    pub fn tracks(&self) -> impl Iterator<Item = &AnimationTrack> {
        self.tracks.iter()
    }

    /// All tracks, to be changed.
    pub fn tracks_mut(&mut self) -> impl Iterator<Item = &mut AnimationTrack> {
        self.tracks.iter_mut()
    }

    fn remove_tracks(&mut self, gone: impl Fn(&AnimationTrack) -> bool) {
        self.tracks.retain(|track| !gone(track));
        let Self { tracks, events, .. } = self;
        events.retain(|event| event.track().is_none_or(|id| tracks.iter().any(|track| track.id == id)));
    }

    fn prepare_track<C: Clips + ?Sized>(&mut self, id: TrackId, clips: &C) {
        let Self { tracks, callbacks, .. } = self;
        if let Some(track) = tracks.iter_mut().find(|track| track.id == id)
            && track.prepare(clips)
            && !callbacks.is_empty()
        {
            advance::collect_added(track, callbacks);
        }
    }

    fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }
}

/// Clock and blend.
impl AnimationController {
    /// Global time: the seconds that have passed since the start, or since [`reset_time`](Self::reset_time).
    pub fn time(&self) -> f64 {
        self.time.value()
    }

    /// Makes the present moment time 0. Timed events keep their distance from it.
    pub fn reset_time(&mut self) {
        let by = Exact::ZERO - self.time;
        self.shift_events(by);
        self.shift_fades(by);
        self.time = Exact::ZERO;
    }

    /// Share of the high-priority tracks in the pose: 0 is all low, 1 all high; 0.5 to begin with.
    ///
    /// Counts only for joints that tracks of both groups reach.
    pub fn priority_blend(&self) -> f32 {
        self.priority_blend
    }

    /// Sets the [priority blend](Self::priority_blend), clamped to `0..=1`. NaN is ignored.
    pub fn set_priority_blend(&mut self, blend: f32) {
        if !blend.is_nan() {
            self.priority_blend = blend.clamp(0.0, 1.0);
        }
    }

    /// Whether time stands still.
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// Stops or resumes time for everything: tracks, fades, timed events.
    pub fn set_paused(&mut self, paused: bool) {
        self.paused = paused;
    }

    /// Stops time if it goes on, and lets it go on if it stands still.
    pub fn toggle_pause(&mut self) {
        self.paused = !self.paused;
    }

    /// Stops time.
    pub fn pause(&mut self) {
        self.paused = true;
    }

    /// Lets time go on.
    pub fn resume(&mut self) {
        self.paused = false;
    }

    /// Callbacks a track may fire in one advance; what lies beyond is dropped, and said once.
    pub fn callback_limit(&self) -> usize {
        self.callback_limit
    }

    /// Sets the [callback limit](Self::callback_limit).
    pub fn set_callback_limit(&mut self, limit: usize) {
        self.callback_limit = limit;
    }
}

/// Copies.
impl AnimationController {
    /// A controller for another character: the same tracks at the same time, without timed events.
    ///
    /// Fades end at once, for they are timed events.
    pub fn template(&self) -> Self {
        let mut copy = self.clone();
        copy.events.clear();
        copy.finish_fades();
        copy
    }

    /// The whole state, to come back to by [`restore`](Self::restore).
    ///
    /// Advanced by the same steps, a restored controller passes through bit-identical states.
    pub fn snapshot(&self) -> ControllerSnapshot {
        ControllerSnapshot(self.clone())
    }

    /// Goes back to a snapshot, of this controller or of another one.
    pub fn restore(&mut self, snapshot: &ControllerSnapshot) {
        // Keeps the memory of the log.
        let log = std::mem::take(&mut self.log);
        *self = Self { log, ..snapshot.0.clone() };
    }
}

/// A controller's state at one moment, for rollback and saved games.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ControllerSnapshot(AnimationController);
