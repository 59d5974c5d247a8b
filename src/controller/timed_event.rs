//! Timed events: scheduled changes, at once or over time.
//!
//! ```text
//!            keyed      start                end
//! event        │ waiting  │ running           │ gone; its handle is no longer valid
//! value   ─────┴──────────┴╲_________         │
//!                          └─ from the value   ╲___│____ to `value`
//!                             found here
//! ```
//!
//! Of two events with the same target, the one that starts later takes over and the earlier one is gone.

use super::{
    TrackId,
    ramp::{Ramp, TransitionCurve},
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, time::Duration};

/// Identifies a timed event of one controller. Valid while the event waits or runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub struct EventHandle(pub(crate) u64);

impl EventHandle {
    pub(crate) fn id(self) -> u64 {
        self.0
    }
}

/// What a timed event changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub enum EventTarget {
    /// Something of one track.
    Track(TrackId, EventKind),
    /// The controller's [priority blend](super::AnimationController::priority_blend).
    PriorityBlend,
}

/// What a timed event changes about a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub enum EventKind {
    /// [`AnimationTrack::speed`](super::AnimationTrack::speed).
    Speed,
    /// [`AnimationTrack::weight`](super::AnimationTrack::weight).
    Weight,
    /// The track's position: a [`seek`](super::AnimationTrack::seek).
    Position,
    /// [`AnimationTrack::enabled`](super::AnimationTrack::enabled): to 0 or 1.
    Enabled,
    /// The first of the [`AnimationTrack::parameters`](super::AnimationTrack::parameters) of a blend space.
    ParameterX,
    /// The second parameter.
    ParameterY,
}

/// A timed event that waits or runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub struct TimedEvent {
    pub(crate) handle: EventHandle,
    pub(crate) target: EventTarget,
    pub(crate) value: f64,
    pub(crate) start: f64,
    pub(crate) duration: Duration,
    pub(crate) transition: TransitionCurve,
    #[cfg_attr(feature = "bevy", reflect(ignore))]
    pub(crate) running: Option<Ramp>,
}

impl TimedEvent {
    /// Returns the event's handle.
    pub fn handle(&self) -> EventHandle {
        self.handle
    }

    /// Returns what it changes.
    pub fn target(&self) -> EventTarget {
        self.target
    }

    /// Returns the track it changes; `None` for the priority blend.
    pub fn track(&self) -> Option<TrackId> {
        match self.target {
            EventTarget::Track(track, _) => Some(track),
            EventTarget::PriorityBlend => None,
        }
    }

    /// Returns the value it leads to; 0 or 1 for [`EventKind::Enabled`].
    pub fn value(&self) -> f64 {
        self.value
    }

    /// Returns when it starts or started, in seconds of global time.
    pub fn start(&self) -> f64 {
        self.running.map_or(self.start, |ramp| ramp.begin)
    }

    /// Returns how long it takes; zero is a step.
    pub fn duration(&self) -> Duration {
        self.duration
    }

    /// Returns how the value changes.
    pub fn transition(&self) -> TransitionCurve {
        self.transition
    }

    /// Returns `true` if it has started.
    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Returns `true` if its ramp, if it runs, begins, ends and has values.
    pub(crate) fn is_sound(&self) -> bool {
        self.running.is_none_or(
            |Ramp {
                 from,
                 to,
                 begin,
                 duration,
                 ..
             }| {
                [from, to, begin, duration]
                    .iter()
                    .all(|number| number.is_finite())
                    && duration > 0.0
            },
        )
    }

    /// Events start in the order of this key.
    fn start_order(&self) -> (i64, EventHandle) {
        // The order of `f64::total_cmp`, as a number.
        let bits = self.start.to_bits() as i64;
        (bits ^ (((bits >> 63) as u64) >> 1) as i64, self.handle)
    }
}

/// The events of a controller.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<TimedEvent>", into = "Vec<TimedEvent>")]
pub(crate) struct Schedule {
    /// At most one for each target, in the order of targets: every track asks for its own at every cut.
    pub(crate) running: Vec<TimedEvent>,
    /// By the order of their starts: finding the next one takes no search, however many wait.
    pub(crate) waiting: BTreeMap<(i64, EventHandle), TimedEvent>,
}

impl Schedule {
    pub(crate) const EMPTY: Self = Self {
        running: Vec::new(),
        waiting: BTreeMap::new(),
    };

    pub(crate) fn is_empty(&self) -> bool {
        self.running.is_empty() && self.waiting.is_empty()
    }

    /// The event that is changing a target now.
    #[inline]
    pub(crate) fn current(&self, target: EventTarget) -> Option<&TimedEvent> {
        let at = self
            .running
            .binary_search_by_key(&target, |event| event.target)
            .ok()?;
        Some(&self.running[at])
    }

    /// Running events first, then the others in the order they will start.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &TimedEvent> {
        self.running.iter().chain(self.waiting.values())
    }

    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&TimedEvent) -> bool) {
        self.running.retain(&mut keep);
        self.waiting.retain(|_, event| keep(event));
    }

    pub(crate) fn insert(&mut self, event: TimedEvent) {
        if !event.is_running() {
            self.waiting.insert(event.start_order(), event);
            return;
        }
        match self
            .running
            .binary_search_by_key(&event.target, |event| event.target)
        {
            Ok(at) => self.running[at] = event,
            Err(at) => self.running.insert(at, event),
        }
    }

    /// Removes the running event with a target.
    pub(crate) fn end(&mut self, target: EventTarget) {
        if let Ok(at) = self
            .running
            .binary_search_by_key(&target, |event| event.target)
        {
            self.running.remove(at);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.running.len() + self.waiting.len()
    }
}

impl From<Vec<TimedEvent>> for Schedule {
    fn from(events: Vec<TimedEvent>) -> Self {
        let mut schedule = Self::default();
        events.into_iter().for_each(|event| schedule.insert(event));
        schedule
    }
}

impl From<Schedule> for Vec<TimedEvent> {
    fn from(Schedule { running, waiting }: Schedule) -> Self {
        running.into_iter().chain(waiting.into_values()).collect()
    }
}

/// The timed events of a controller. See [`AnimationController::events`](super::AnimationController::events).
#[derive(Clone, Copy, Debug)]
pub struct TimedEvents<'a>(pub(crate) &'a Schedule);

impl<'a> TimedEvents<'a> {
    /// Returns the event with this handle, while it waits or runs.
    pub fn get(&self, handle: EventHandle) -> Option<&'a TimedEvent> {
        self.0.iter().find(|event| event.handle == handle)
    }

    /// Returns `true` if an event with this handle waits or runs.
    pub fn contains(&self, handle: EventHandle) -> bool {
        self.get(handle).is_some()
    }

    /// Returns all events: those that run, then those that wait, in the order they will start.
    pub fn iter(&self) -> impl Iterator<Item = &'a TimedEvent> + use<'a> {
        self.0.iter()
    }

    /// Returns `true` if no event waits or runs.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the event that is changing `target` now.
    #[inline]
    pub fn current(&self, target: EventTarget) -> Option<&'a TimedEvent> {
        self.0.current(target)
    }

    /// Returns the events that have yet to start, in the order they will start.
    ///
    /// ```
    /// # use bevy_marionette::controller::{AnimationController, AnimationTrack};
    /// # let mut controller = AnimationController::default();
    /// # let wave = controller.add_track(AnimationTrack::new("wave"));
    /// controller.events_mut().key_enabled(wave, false, 2.0);
    /// let next = controller.events().upcoming().find(|event| event.track() == Some(wave));
    /// assert_eq!(next.map(|event| event.start()), Some(2.0));
    /// ```
    pub fn upcoming(&self) -> impl Iterator<Item = &'a TimedEvent> + use<'a> {
        self.0.waiting.values()
    }
}
