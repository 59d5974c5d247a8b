//! Timed events: what is to change at a moment to come, at once or little by little.
//!
//! An event waits until global time reaches its start, runs for its duration and is gone. What it
//! changes starts from the value found at that moment. Of two events that change the same thing the
//! one that starts later takes over, and the earlier is gone.

use super::{
    AnimationController, TrackId,
    exact::{Exact, tick},
    motion::{Ramp, TransitionCurve},
};
use serde::{Deserialize, Serialize};

/// Names a timed event of one controller; valid while the event waits or runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub struct EventHandle(u64);

impl EventHandle {
    /// The handle of an event that was refused: never valid.
    pub const INVALID: Self = Self(0);
}

/// What a timed event changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum EventKind {
    /// [`AnimationTrack::speed`](super::AnimationTrack::speed).
    Speed,
    /// [`AnimationTrack::weight`](super::AnimationTrack::weight).
    Weight,
    /// The track's position: a [`seek`](super::AnimationTrack::seek).
    Position,
    /// [`AnimationTrack::enabled`](super::AnimationTrack::enabled): to 0 or 1.
    Enable,
    /// The controller's [priority blend](AnimationController::priority_blend).
    PriorityBlend,
}

/// A timed event that waits or runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimedEvent {
    handle: u64,
    /// The track it is for; `None` for the priority blend.
    track: Option<TrackId>,
    kind: EventKind,
    value: f64,
    start: f64,
    duration: f64,
    transition: TransitionCurve,
    running: Option<Ramp>,
}

impl TimedEvent {
    /// The event's handle.
    pub fn handle(&self) -> EventHandle {
        EventHandle(self.handle)
    }

    /// What it changes.
    pub fn kind(&self) -> EventKind {
        self.kind
    }

    /// The track it changes; `None` for the priority blend.
    pub fn track(&self) -> Option<TrackId> {
        self.track
    }

    /// The value it leads to; 0 or 1 for [`EventKind::Enable`].
    pub fn value(&self) -> f64 {
        self.value
    }

    /// Global seconds at which it starts, or started.
    pub fn start(&self) -> f64 {
        self.running.map_or(self.start, |ramp| ramp.begin)
    }

    /// Seconds it takes; 0 is a step.
    pub fn duration(&self) -> f64 {
        self.duration
    }

    /// How the value gets there.
    pub fn transition(&self) -> TransitionCurve {
        self.transition
    }

    /// Whether it has started.
    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// When something happens next: its start, or its end if it runs.
    fn due(&self) -> f64 {
        self.running.map_or(self.start, |ramp| ramp.end())
    }

    fn concerns(&self, track: Option<TrackId>, kind: EventKind) -> bool {
        self.track == track && self.kind == kind
    }
}

/// Timed events. Times are in seconds of [global time](AnimationController::time); a start in the past
/// begins at the next advance, a duration of 0 (or less) is a step.
///
/// An event for a track that does not exist, or with a number that is not finite, is refused: its
/// handle is [`EventHandle::INVALID`].
impl AnimationController {
    /// Changes a track's speed.
    ///
    /// The track moves by the exact integral of the changing speed, however the time is cut.
    pub fn key_track_speed(
        &mut self,
        track: TrackId,
        speed: f64,
        start: f64,
        duration: f64,
        transition: TransitionCurve,
    ) -> EventHandle {
        self.key(Some(track), EventKind::Speed, speed, start, duration, transition)
    }

    /// Changes a track's weight. Less than 0 counts as 0.
    pub fn key_track_weight(
        &mut self,
        track: TrackId,
        weight: f32,
        start: f64,
        duration: f64,
        transition: TransitionCurve,
    ) -> EventHandle {
        self.key(Some(track), EventKind::Weight, weight.into(), start, duration, transition)
    }

    /// Places a track at a position, firing nothing.
    pub fn key_track_position(&mut self, track: TrackId, position: f64, start: f64) -> EventHandle {
        self.key(Some(track), EventKind::Position, position, start, 0.0, TransitionCurve::Linear)
    }

    /// Enables or disables a track.
    pub fn key_track_enable(&mut self, track: TrackId, enabled: bool, start: f64) -> EventHandle {
        self.key(Some(track), EventKind::Enable, f64::from(u8::from(enabled)), start, 0.0, TransitionCurve::Linear)
    }

    /// Changes the [priority blend](Self::priority_blend). The value is clamped to `0..=1`.
    pub fn key_priority_blend(
        &mut self,
        blend: f32,
        start: f64,
        duration: f64,
        transition: TransitionCurve,
    ) -> EventHandle {
        self.key(None, EventKind::PriorityBlend, blend.into(), start, duration, transition)
    }

    fn key(
        &mut self,
        track: Option<TrackId>,
        kind: EventKind,
        value: f64,
        start: f64,
        duration: f64,
        transition: TransitionCurve,
    ) -> EventHandle {
        let known = track.is_none_or(|id| self.track(id).is_some());
        if !known || !value.is_finite() || !start.is_finite() || !duration.is_finite() {
            return EventHandle::INVALID;
        }
        let handle = self.next_id();
        let duration = duration.max(0.0);
        let value = match kind {
            EventKind::Weight => value.max(0.0),
            EventKind::PriorityBlend => value.clamp(0.0, 1.0),
            _ => value,
        };
        self.events.push(TimedEvent { handle, track, kind, value, start, duration, transition, running: None });
        EventHandle(handle)
    }

    /// Takes an event back. What it has changed so far stays. Whether there was such an event.
    pub fn unkey(&mut self, handle: EventHandle) -> bool {
        let before = self.events.len();
        self.events.retain(|event| event.handle != handle.0);
        self.events.len() < before
    }

    /// Takes all events of a track back.
    pub fn unkey_track(&mut self, track: TrackId) {
        self.events.retain(|event| event.track != Some(track));
    }

    /// Takes all events of the priority blend back.
    pub fn unkey_priority_blends(&mut self) {
        self.events.retain(|event| event.track.is_some());
    }

    /// Takes a track's events of one kind back.
    pub(crate) fn unkey_kind(&mut self, track: TrackId, kind: EventKind) {
        self.events.retain(|event| !event.concerns(Some(track), kind));
    }

    /// Whether an event waits or runs.
    pub fn is_valid(&self, handle: EventHandle) -> bool {
        self.event(handle).is_some()
    }

    /// An event that waits or runs.
    pub fn event(&self, handle: EventHandle) -> Option<&TimedEvent> {
        self.events.iter().find(|event| event.handle == handle.0)
    }

    /// All events that wait or run, in the order in which they were keyed.
    pub fn timed_events(&self) -> impl Iterator<Item = &TimedEvent> {
        self.events.iter()
    }

    /// The event that is changing a track's speed or weight now.
    pub fn current_event(&self, track: TrackId, kind: EventKind) -> Option<EventHandle> {
        let running = self.events.iter().find(|event| event.is_running() && event.concerns(Some(track), kind));
        running.map(TimedEvent::handle)
    }

    /// The event of a track that starts next: the first that waits, or the first after a given one.
    pub fn next_event(&self, track: TrackId, after: Option<EventHandle>) -> Option<EventHandle> {
        self.next_waiting(Some(track), after)
    }

    /// The event that is changing the priority blend now.
    pub fn current_priority_blend_event(&self) -> Option<EventHandle> {
        self.events.iter().find(|event| event.is_running() && event.track.is_none()).map(TimedEvent::handle)
    }

    /// The event of the priority blend that starts next: the first that waits, or the first after a given one.
    pub fn next_priority_blend_event(&self, after: Option<EventHandle>) -> Option<EventHandle> {
        self.next_waiting(None, after)
    }

    fn next_waiting(&self, track: Option<TrackId>, after: Option<EventHandle>) -> Option<EventHandle> {
        let after = after.and_then(|handle| self.event(handle)).map(|event| (event.start(), event.handle));
        let waiting = self.events.iter().filter(|event| event.track == track && !event.is_running());
        waiting
            .filter(|event| after.is_none_or(|(start, handle)| (start, handle) < (event.start, event.handle)))
            .min_by(|a, b| a.start.total_cmp(&b.start).then(a.handle.cmp(&b.handle)))
            .map(TimedEvent::handle)
    }

    /// Ends the events that are over at the present time, and starts those that are due.
    pub(crate) fn settle_events(&mut self) {
        if self.events.is_empty() {
            return;
        }
        let now = self.time;
        let mut at = 0;
        while at < self.events.len() {
            match self.events[at].running {
                Some(ramp) if tick(ramp.end()) <= tick(now.value()) => {
                    let event = self.events.remove(at);
                    self.apply(event.track, event.kind, event.value);
                }
                _ => at += 1,
            }
        }
        // In order of start, so that of two that are due the later takes over.
        while let Some(at) = self.first_due(now.value()) {
            let TimedEvent { handle, track, kind, value, duration, transition, start, .. } = self.events[at];
            let from = self.value_of(track, kind);
            self.events.retain(|event| event.handle == handle || !event.is_running() || !event.concerns(track, kind));
            // The removal may have moved it.
            let Some(at) = self.events.iter().position(|event| event.handle == handle) else { continue };
            let begin = start.max(now.value());
            if tick(begin + duration) > tick(now.value()) {
                self.events[at].running = Some(Ramp { from, to: value, begin, duration, transition });
            } else {
                self.events.remove(at);
                self.apply(track, kind, value);
            }
        }
    }

    fn first_due(&self, now: f64) -> Option<usize> {
        let due =
            self.events.iter().enumerate().filter(|(_, event)| !event.is_running() && tick(event.start) <= tick(now));
        due.min_by(|(_, a), (_, b)| a.start.total_cmp(&b.start).then(a.handle.cmp(&b.handle))).map(|(at, _)| at)
    }

    /// The next moment after the present at which an event starts or ends.
    pub(crate) fn next_event_time(&self) -> Option<f64> {
        let now = self.time.value();
        self.events.iter().map(TimedEvent::due).filter(|due| tick(*due) > tick(now)).min_by(f64::total_cmp)
    }

    /// The course of a value that is changing now.
    pub(crate) fn running_ramp(&self, track: TrackId, kind: EventKind) -> Option<Ramp> {
        self.events.iter().filter(|event| event.concerns(Some(track), kind)).find_map(|event| event.running)
    }

    /// Writes the present values of running events.
    pub(crate) fn write_running_values(&mut self) {
        for at in 0..self.events.len() {
            let TimedEvent { track, kind, running, .. } = self.events[at];
            if let Some(ramp) = running {
                self.apply(track, kind, ramp.at(self.time));
            }
        }
    }

    /// What an event would start from.
    fn value_of(&self, track: Option<TrackId>, kind: EventKind) -> f64 {
        let running = self.events.iter().filter(|event| event.concerns(track, kind)).find_map(|event| event.running);
        if let Some(ramp) = running {
            return ramp.at(self.time);
        }
        let value = match (kind, track.and_then(|id| self.track(id))) {
            (EventKind::Speed, Some(track)) => track.speed,
            (EventKind::Weight, Some(track)) => track.weight.into(),
            (EventKind::PriorityBlend, _) => self.priority_blend.into(),
            _ => 0.0,
        };
        if value.is_finite() { value } else { 0.0 }
    }

    fn apply(&mut self, track: Option<TrackId>, kind: EventKind, value: f64) {
        let Some(id) = track else {
            self.priority_blend = value as f32;
            return;
        };
        let Some(track) = self.track_mut(id) else { return };
        match kind {
            EventKind::Speed => track.speed = value,
            EventKind::Weight => track.weight = value as f32,
            EventKind::Position => track.seek(value),
            EventKind::Enable => track.enabled = value != 0.0,
            EventKind::PriorityBlend => {}
        }
    }

    /// Moves all events in time, waiting and running.
    pub(crate) fn shift_events(&mut self, by: Exact) {
        for event in &mut self.events {
            event.start = (Exact::new(event.start) + by).value();
            if let Some(ramp) = &mut event.running {
                ramp.begin = (Exact::new(ramp.begin) + by).value();
            }
        }
    }
}
