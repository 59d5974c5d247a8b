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
    AnimationController, TrackId,
    compensated::{CompensatedF64, tick},
    motion::{Ramp, TransitionCurve},
};
use crate::model::BlendPoint;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, mem, time::Duration};

/// Identifies a timed event of one controller. Valid while the event waits or runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub struct EventHandle(u64);

impl EventHandle {
    pub(super) fn id(self) -> u64 {
        self.0
    }
}

/// What a timed event changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub enum EventTarget {
    /// Something of one track.
    Track(TrackId, EventKind),
    /// The controller's [priority blend](AnimationController::priority_blend).
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
    handle: EventHandle,
    target: EventTarget,
    value: f64,
    start: f64,
    duration: Duration,
    transition: TransitionCurve,
    #[cfg_attr(feature = "bevy", reflect(ignore))]
    running: Option<Ramp>,
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
    pub(super) fn is_sound(&self) -> bool {
        self.running.is_none_or(|Ramp { from, to, begin, duration, .. }| {
            [from, to, begin, duration].iter().all(|number| number.is_finite()) && duration > 0.0
        })
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
pub(super) struct Schedule {
    /// At most one for each target, in the order of targets: every track asks for its own at every cut.
    running: Vec<TimedEvent>,
    /// By the order of their starts: finding the next one takes no search, however many wait.
    waiting: BTreeMap<(i64, EventHandle), TimedEvent>,
}

impl Schedule {
    pub(super) fn is_empty(&self) -> bool {
        self.running.is_empty() && self.waiting.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.running.clear();
        self.waiting.clear();
    }

    /// The event that is changing a target now.
    fn current(&self, target: EventTarget) -> Option<&TimedEvent> {
        let at = self.running.binary_search_by_key(&target, |event| event.target).ok()?;
        Some(&self.running[at])
    }

    /// Running events first, then the others in the order they will start.
    pub(super) fn iter(&self) -> impl Iterator<Item = &TimedEvent> {
        self.running.iter().chain(self.waiting.values())
    }

    pub(super) fn retain(&mut self, mut keep: impl FnMut(&TimedEvent) -> bool) {
        self.running.retain(&mut keep);
        self.waiting.retain(|_, event| keep(event));
    }

    fn insert(&mut self, event: TimedEvent) {
        if !event.is_running() {
            self.waiting.insert(event.start_order(), event);
            return;
        }
        match self.running.binary_search_by_key(&event.target, |event| event.target) {
            Ok(at) => self.running[at] = event,
            Err(at) => self.running.insert(at, event),
        }
    }

    /// Removes the running event with a target.
    fn end(&mut self, target: EventTarget) {
        if let Ok(at) = self.running.binary_search_by_key(&target, |event| event.target) {
            self.running.remove(at);
        }
    }

    fn len(&self) -> usize {
        self.running.len() + self.waiting.len()
    }

    /// Removes the first event that is due to start at a time.
    fn take_due(&mut self, now: f64) -> Option<TimedEvent> {
        let first = self.waiting.first_entry().filter(|first| tick(first.get().start) <= tick(now))?;
        Some(first.remove())
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

/// The timed events of a controller. See [`AnimationController::events`].
#[derive(Clone, Copy, Debug)]
pub struct TimedEvents<'a>(&'a Schedule);

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

/// The timed events of a controller, mutably. See [`AnimationController::events_mut`].
///
/// Starts are in seconds of [global time](AnimationController::time). A start in the past begins at the next
/// advance; a zero duration is a step. Keying returns `None` if the track does not exist or a number is not
/// finite.
#[derive(Debug)]
pub struct TimedEventsMut<'a>(&'a mut AnimationController);

impl TimedEventsMut<'_> {
    /// Changes a track's speed.
    ///
    /// The track moves by the exact integral of the changing speed, whatever the frame rate.
    pub fn key_speed(
        &mut self,
        track: TrackId,
        speed: f64,
        start: f64,
        duration: Duration,
        transition: TransitionCurve,
    ) -> Option<EventHandle> {
        self.key(EventTarget::Track(track, EventKind::Speed), speed, start, duration, transition)
    }

    /// Changes a track's weight. A negative weight counts as 0.
    pub fn key_weight(
        &mut self,
        track: TrackId,
        weight: f32,
        start: f64,
        duration: Duration,
        transition: TransitionCurve,
    ) -> Option<EventHandle> {
        self.key(EventTarget::Track(track, EventKind::Weight), weight.into(), start, duration, transition)
    }

    /// Moves a track to a position without firing the callbacks on the way.
    pub fn key_position(&mut self, track: TrackId, position: f64, start: f64) -> Option<EventHandle> {
        self.step(EventTarget::Track(track, EventKind::Position), position, start)
    }

    /// Enables or disables a track.
    pub fn key_enabled(&mut self, track: TrackId, enabled: bool, start: f64) -> Option<EventHandle> {
        self.step(EventTarget::Track(track, EventKind::Enabled), f64::from(u8::from(enabled)), start)
    }

    /// Sets the [parameters](super::AnimationTrack::set_parameters) of a track's blend space, by one event for each. They
    /// take effect over the space's [smoothing](crate::model::BlendSpace::smoothed).
    pub fn key_parameters(
        &mut self,
        track: TrackId,
        point: impl Into<BlendPoint>,
        start: f64,
    ) -> Option<[EventHandle; 2]> {
        let BlendPoint { x, y } = Some(point.into()).filter(|point| point.is_finite())?;
        let first = self.step(EventTarget::Track(track, EventKind::ParameterX), x, start)?;
        Some([first, self.step(EventTarget::Track(track, EventKind::ParameterY), y, start)?])
    }

    /// Changes the [priority blend](AnimationController::priority_blend), clamped to `0..=1`.
    pub fn key_priority_blend(
        &mut self,
        blend: f32,
        start: f64,
        duration: Duration,
        transition: TransitionCurve,
    ) -> Option<EventHandle> {
        self.key(EventTarget::PriorityBlend, blend.into(), start, duration, transition)
    }

    fn step(&mut self, target: EventTarget, value: f64, start: f64) -> Option<EventHandle> {
        self.key(target, value, start, Duration::ZERO, TransitionCurve::Linear)
    }

    fn key(
        &mut self,
        target: EventTarget,
        value: f64,
        start: f64,
        duration: Duration,
        transition: TransitionCurve,
    ) -> Option<EventHandle> {
        if !value.is_finite() || !start.is_finite() {
            return None;
        }
        let value = match target {
            EventTarget::Track(track, kind) => {
                self.0.track(track)?;
                if kind == EventKind::Weight { value.max(0.0) } else { value }
            }
            EventTarget::PriorityBlend => value.clamp(0.0, 1.0),
        };
        let handle = EventHandle(self.0.next_id());
        self.0.events.insert(TimedEvent { handle, target, value, start, duration, transition, running: None });
        Some(handle)
    }

    /// Cancels an event; what it has changed so far stays. Returns `false` if the event does not exist.
    pub fn unkey(&mut self, handle: EventHandle) -> bool {
        let before = self.0.events.len();
        self.0.events.retain(|event| event.handle != handle);
        self.0.events.len() < before
    }

    /// Cancels all events with this target.
    pub fn unkey_target(&mut self, target: EventTarget) {
        self.0.events.retain(|event| event.target != target);
    }

    /// Cancels all events of a track.
    pub fn unkey_track(&mut self, track: TrackId) {
        self.0.events.retain(|event| event.track() != Some(track));
    }
}

/// # Timed events
impl AnimationController {
    /// Returns the timed events that wait or run.
    pub fn events(&self) -> TimedEvents<'_> {
        TimedEvents(&self.events)
    }

    /// Returns the timed events, to schedule and cancel them.
    ///
    /// ```
    /// # use bevy_marionette::controller::{AnimationController, AnimationTrack, TransitionCurve};
    /// # use std::time::Duration;
    /// # let mut controller = AnimationController::default();
    /// let wave = controller.add_track(AnimationTrack::new("wave").weight(0.0));
    /// let (now, fade) = (controller.time(), Duration::from_millis(250));
    /// controller.events_mut().key_weight(wave, 1.0, now, fade, TransitionCurve::EaseInEaseOut);
    /// let end = controller.events_mut().key_enabled(wave, false, now + 2.0).unwrap();
    /// assert!(controller.events().contains(end));
    /// ```
    pub fn events_mut(&mut self) -> TimedEventsMut<'_> {
        TimedEventsMut(self)
    }

    /// Fades a track's weight from now, in place of what was scheduled for it.
    pub(super) fn fade_weight(&mut self, id: TrackId, weight: f32, duration: Duration, transition: TransitionCurve) {
        let now = self.time.value();
        self.events_mut().unkey_target(EventTarget::Track(id, EventKind::Weight));
        self.events_mut().key_weight(id, weight, now, duration, transition);
    }

    /// Ends the events that are over at the present time, and starts those that are due.
    pub(super) fn settle_events(&mut self) {
        let now = self.time.value();
        let mut running = mem::take(&mut self.events.running);
        running.retain(|event| {
            let is_over = event.running.is_some_and(|ramp| tick(ramp.end()) <= tick(now));
            if is_over {
                self.apply(event.target, event.value);
            }
            !is_over
        });
        self.events.running = running;
        // In order of start, so that of two that are due the later one takes over.
        while let Some(mut event) = self.events.take_due(now) {
            let TimedEvent { target, value, start, transition, .. } = event;
            let (begin, duration) = (start.max(now), event.duration.as_secs_f64());
            let from = self.value_of(target);
            self.events.end(target);
            if tick(begin + duration) > tick(now) {
                event.running = Some(Ramp { from, to: value, begin, duration, transition });
                self.events.insert(event);
            } else {
                self.apply(target, value);
            }
        }
    }

    /// Returns the next moment after the present at which an event starts or ends.
    pub(super) fn next_event_time(&self) -> Option<f64> {
        let now = self.time.value();
        let ends = self.events.running.iter().filter_map(|event| Some(event.running?.end()));
        let start = self.events.waiting.values().next().map(|event| event.start);
        ends.chain(start).filter(|due| tick(*due) > tick(now)).min_by(f64::total_cmp)
    }

    /// Returns the ramp of a track's value that is changing now.
    pub(super) fn running_ramp(&self, track: TrackId, kind: EventKind) -> Option<Ramp> {
        self.events().current(EventTarget::Track(track, kind))?.running
    }

    /// Returns the ramp of the priority blend, if it is changing now.
    pub(super) fn blend_ramp(&self) -> Option<Ramp> {
        self.events().current(EventTarget::PriorityBlend)?.running
    }

    /// Writes the present values of running events.
    pub(super) fn write_running_values(&mut self) {
        for at in 0..self.events.running.len() {
            let TimedEvent { target, running, .. } = self.events.running[at];
            if let Some(ramp) = running {
                self.apply(target, ramp.at(self.time));
            }
        }
    }

    /// Returns the value that an event would start from.
    fn value_of(&self, target: EventTarget) -> f64 {
        if let Some(ramp) = self.events().current(target).and_then(|event| event.running) {
            return ramp.at(self.time);
        }
        let value = match target {
            EventTarget::PriorityBlend => self.priority_blend.into(),
            EventTarget::Track(id, kind) => match (kind, self.track(id)) {
                (EventKind::Speed, Some(track)) => track.speed,
                (EventKind::Weight, Some(track)) => track.weight.into(),
                _ => 0.0,
            },
        };
        if value.is_finite() { value } else { 0.0 }
    }

    fn apply(&mut self, target: EventTarget, value: f64) {
        let EventTarget::Track(id, kind) = target else {
            self.priority_blend = value as f32;
            return;
        };
        let Some(track) = self.track_mut(id) else { return };
        match kind {
            EventKind::Speed => track.speed = value,
            EventKind::Weight => track.weight = value as f32,
            EventKind::Position => track.seek(value),
            EventKind::Enabled => track.enabled = value != 0.0,
            EventKind::ParameterX => track.steering.target.x = value,
            EventKind::ParameterY => track.steering.target.y = value,
        }
    }

    /// Moves all events in time, waiting or running.
    pub(super) fn shift_events(&mut self, by: CompensatedF64) {
        let shifted = |time: f64| (CompensatedF64::new(time) + by).value();
        let mut events = Vec::from(mem::take(&mut self.events));
        for event in &mut events {
            event.start = shifted(event.start);
            if let Some(ramp) = &mut event.running {
                ramp.begin = shifted(ramp.begin);
            }
        }
        self.events = events.into();
    }
}
