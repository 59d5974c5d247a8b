//! How timed events are scheduled, start, run and end.

use super::{
    AnimationController, EventHandle, EventKind, EventTarget, TimedEvent, TimedEvents, TrackId,
    TransitionCurve, clock::Nanos, step::Reach,
};
use crate::{
    controller::{ramp::Ramp, timed_event::Schedule},
    model::BlendPoint,
};
use std::{mem, time::Duration};

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
        self.key(
            EventTarget::Track(track, EventKind::Speed),
            speed,
            start,
            duration,
            transition,
        )
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
        self.key(
            EventTarget::Track(track, EventKind::Weight),
            weight.into(),
            start,
            duration,
            transition,
        )
    }

    /// Moves a track to a position without firing the callbacks on the way.
    pub fn key_position(
        &mut self,
        track: TrackId,
        position: f64,
        start: f64,
    ) -> Option<EventHandle> {
        self.step(
            EventTarget::Track(track, EventKind::Position),
            position,
            start,
        )
    }

    /// Enables or disables a track.
    pub fn key_enabled(
        &mut self,
        track: TrackId,
        enabled: bool,
        start: f64,
    ) -> Option<EventHandle> {
        self.step(
            EventTarget::Track(track, EventKind::Enabled),
            f64::from(u8::from(enabled)),
            start,
        )
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
        Some([
            first,
            self.step(EventTarget::Track(track, EventKind::ParameterY), y, start)?,
        ])
    }

    /// Changes the [priority blend](AnimationController::priority_blend), clamped to `0..=1`.
    pub fn key_priority_blend(
        &mut self,
        blend: f32,
        start: f64,
        duration: Duration,
        transition: TransitionCurve,
    ) -> Option<EventHandle> {
        self.key(
            EventTarget::PriorityBlend,
            blend.into(),
            start,
            duration,
            transition,
        )
    }

    fn step(&mut self, target: EventTarget, value: f64, start: f64) -> Option<EventHandle> {
        self.key(
            target,
            value,
            start,
            Duration::ZERO,
            TransitionCurve::Linear,
        )
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
                if kind == EventKind::Weight {
                    value.max(0.0)
                } else {
                    value
                }
            }
            EventTarget::PriorityBlend => value.clamp(0.0, 1.0),
        };
        let handle = EventHandle(self.0.next_id());
        self.0.extras.events.insert(TimedEvent {
            handle,
            target,
            value,
            start,
            duration,
            transition,
            running: None,
        });
        Some(handle)
    }

    /// Fades a track's weight linearly from now, in place of any change of weight already scheduled.
    ///
    /// A track that was fading out stays.
    pub fn fade(&mut self, track: TrackId, weight: f32, duration: Duration) {
        self.0.fade_track(track, weight, duration);
    }

    /// Fades a track out linearly from now, and removes it at the end.
    pub fn fade_out(&mut self, track: TrackId, duration: Duration) {
        self.0.fade_out_track(track, duration);
    }

    /// Sets [global time](AnimationController::time) to 0. Changes keep their distance from the present.
    pub fn reset_time(&mut self) {
        self.0.reset_time();
    }

    /// Cancels an event; what it has changed so far stays. Returns `false` if the event does not exist.
    pub fn unkey(&mut self, handle: EventHandle) -> bool {
        let before = self.0.extras.events.len();
        self.retain(|event| event.handle != handle);
        self.0.extras.events.len() < before
    }

    /// Cancels all events with this target.
    pub fn unkey_target(&mut self, target: EventTarget) {
        self.retain(|event| event.target != target);
    }

    /// Cancels all events of a track.
    pub fn unkey_track(&mut self, track: TrackId) {
        self.retain(|event| event.track() != Some(track));
    }

    fn retain(&mut self, keep: impl FnMut(&TimedEvent) -> bool) {
        self.0.extras.events.retain(keep);
    }
}

/// # Timed events
impl AnimationController {
    /// Returns the timed events that wait or run.
    #[inline]
    pub fn events(&self) -> TimedEvents<'_> {
        TimedEvents(&self.extras.events)
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
        self.change();
        TimedEventsMut(self)
    }

    /// Fades a track's weight from now, in place of what was scheduled for it.
    pub(super) fn fade_weight(
        &mut self,
        id: TrackId,
        weight: f32,
        duration: Duration,
        transition: TransitionCurve,
    ) {
        let now = self.time();
        self.events_mut()
            .unkey_target(EventTarget::Track(id, EventKind::Weight));
        self.events_mut()
            .key_weight(id, weight, now, duration, transition);
    }

    /// Ends the events that are over at the present time, and starts those that are due.
    pub(super) fn settle_events(&mut self) {
        let now = self.clock.now;
        if self.extras.events.is_empty() {
            return;
        }
        let mut running = mem::take(&mut self.extras.events.running);
        running.retain(|event| {
            let is_over = event.running.is_some_and(|ramp| end_of(&ramp) <= now);
            if is_over {
                self.apply(event.target, event.value);
            }
            !is_over
        });
        self.extras.events.running = running;
        // In order of start, so that of two that are due the later one takes over.
        while let Some(first) = self
            .extras
            .events
            .waiting
            .first_entry()
            .filter(|first| start_of(first.get()) <= now)
        {
            let mut event = first.remove();
            let TimedEvent {
                target,
                value,
                transition,
                ..
            } = event;
            let begin = start_of(&event).max(now);
            let from = self.value_of(target);
            self.extras.events.end(target);
            let ramp = Ramp {
                from,
                to: value,
                begin: begin.secs(),
                duration: event.duration.as_secs_f64(),
                transition,
            };
            if end_of(&ramp) > now {
                event.running = Some(ramp);
                self.extras.events.insert(event);
            } else {
                self.apply(target, value);
            }
        }
        // Two changes of one speed may begin at the same moment.
        self.tracks
            .iter_mut()
            .for_each(|track| track.run.0.planned = false);
    }

    /// Returns the next moment at which an event starts or ends.
    pub(super) fn next_event(&self) -> Option<Nanos> {
        let events = &self.extras.events;
        let ends = events
            .running
            .iter()
            .filter_map(|event| event.running.as_ref().map(end_of));
        ends.chain(events.waiting.values().next().map(start_of))
            .min()
    }

    /// Returns the ramp of a track's value that is changing now.
    #[inline]
    pub(super) fn running_ramp(&self, track: TrackId, kind: EventKind) -> Option<Ramp> {
        if self.extras.events.running.is_empty() {
            return None;
        }
        self.events()
            .current(EventTarget::Track(track, kind))?
            .running
    }

    /// Returns the ramp of the priority blend, if it is changing now.
    pub(super) fn blend_ramp(&self) -> Option<Ramp> {
        self.events().current(EventTarget::PriorityBlend)?.running
    }

    /// Writes the present values of running events.
    pub(super) fn write_running_values(&mut self) {
        let now = self.clock.now;
        for at in 0..self.extras.events.running.len() {
            let TimedEvent {
                target, running, ..
            } = self.extras.events.running[at];
            if let Some(ramp) = running {
                self.apply(target, ramp.at(now));
            }
        }
    }

    /// Returns the value that an event would start from.
    fn value_of(&self, target: EventTarget) -> f64 {
        if let Some(ramp) = self
            .events()
            .current(target)
            .and_then(|event| event.running)
        {
            return ramp.at(self.clock.now);
        }
        let value = match target {
            EventTarget::PriorityBlend => self.high_share().into(),
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
        let Some(track) = self.tracks.iter_mut().find(|track| track.id == id) else {
            return;
        };
        match kind {
            EventKind::Speed => track.speed = value,
            EventKind::Weight => track.weight = value as f32,
            EventKind::Position => track.seek(value),
            EventKind::Enabled => {
                track.enabled = value != 0.0;
                self.agenda.0.ranges = Reach::Unknown;
            }
            EventKind::ParameterX => track.rare.steering.target.x = value,
            EventKind::ParameterY => track.rare.steering.target.y = value,
        }
    }

    /// Moves all events in time, waiting or running.
    pub(super) fn shift_events(&mut self, by: Nanos) {
        if self.extras.events.is_empty() {
            return;
        }
        let shifted = |time: f64| Nanos::from_secs(time).minus(by).secs();
        let mut events = Vec::from(mem::take(&mut self.extras.events));
        for event in &mut events {
            event.start = shifted(event.start);
            if let Some(ramp) = &mut event.running {
                ramp.begin = shifted(ramp.begin);
            }
        }
        self.extras.events = Schedule::from(events);
    }
}

fn start_of(event: &TimedEvent) -> Nanos {
    Nanos::from_secs(event.start)
}

fn end_of(ramp: &Ramp) -> Nanos {
    Nanos::from_secs(ramp.end())
}
