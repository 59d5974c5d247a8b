//! Scheduled changes: scheduling, starting, running, and ending them.

use super::{
    AnimationController, ChangeHandle, ChangeTarget, ScheduledChange, TrackId, TransitionCurve,
    clock::Nanos, step::Reach,
};
use crate::{
    controller::{ramp::Ramp, scheduled_change::Schedule},
    model::BlendPoint,
    numbers::{clamp_weight, finite},
};
use std::{mem, time::Duration};

/// The timeline of a controller, mutably. See [`AnimationController::timeline_mut`].
///
/// Starts are in seconds of [global time](AnimationController::time). A start in the past begins at the next
/// advance; a zero duration is a step. Keying returns `None` if the track does not exist or a number is not
/// finite.
///
/// ```
/// # use bevy_marionette::controller::{AnimationController, TransitionCurve};
/// # use std::time::Duration;
/// # let mut controller = AnimationController::default();
/// # let slash = controller.play("slash");
/// // A blow lands: the clip freezes for a tenth of a second, and then gets up to speed again.
/// let now = controller.time();
/// let mut timeline = controller.timeline_mut();
/// timeline.key_speed(slash, 0.0, now, Duration::ZERO, TransitionCurve::Linear);
/// timeline.key_speed(slash, 1.0, now + 0.1, Duration::from_millis(100), TransitionCurve::EaseInEaseOut);
/// ```
#[derive(Debug)]
pub struct TimelineMut<'a>(&'a mut AnimationController);

impl TimelineMut<'_> {
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
    ) -> Option<ChangeHandle> {
        self.key(
            ChangeTarget::Speed(track),
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
    ) -> Option<ChangeHandle> {
        self.key(
            ChangeTarget::Weight(track),
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
    ) -> Option<ChangeHandle> {
        self.step(ChangeTarget::Position(track), position, start)
    }

    /// Enables or disables a track.
    pub fn key_enabled(
        &mut self,
        track: TrackId,
        enabled: bool,
        start: f64,
    ) -> Option<ChangeHandle> {
        self.step(
            ChangeTarget::Enabled(track),
            f64::from(u8::from(enabled)),
            start,
        )
    }

    /// Sets the [parameters](super::AnimationTrack::set_parameters) of a track's blend space, by one change for each. They
    /// take effect over the space's [smoothing](crate::model::BlendSpace::smoothed).
    pub fn key_parameters(
        &mut self,
        track: TrackId,
        point: impl Into<BlendPoint>,
        start: f64,
    ) -> Option<[ChangeHandle; 2]> {
        let BlendPoint { x, y } = Some(point.into()).filter(|point| point.is_finite())?;
        let first = self.step(ChangeTarget::ParameterX(track), x, start)?;
        Some([first, self.step(ChangeTarget::ParameterY(track), y, start)?])
    }

    /// Changes the [priority blend](AnimationController::priority_blend), clamped to `0..=1`.
    pub fn key_priority_blend(
        &mut self,
        blend: f32,
        start: f64,
        duration: Duration,
        transition: TransitionCurve,
    ) -> Option<ChangeHandle> {
        self.key(
            ChangeTarget::PriorityBlend,
            blend.into(),
            start,
            duration,
            transition,
        )
    }

    fn step(&mut self, target: ChangeTarget, value: f64, start: f64) -> Option<ChangeHandle> {
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
        target: ChangeTarget,
        value: f64,
        start: f64,
        duration: Duration,
        transition: TransitionCurve,
    ) -> Option<ChangeHandle> {
        if !value.is_finite() || !start.is_finite() {
            return None;
        }
        if let Some(track) = target.track() {
            self.0.track(track)?;
        }
        let value = match target {
            ChangeTarget::Weight(_) => value.max(0.0),
            ChangeTarget::PriorityBlend => value.clamp(0.0, 1.0),
            _ => value,
        };
        let handle = ChangeHandle(self.0.next_id());
        self.0.extras.changes.insert(ScheduledChange {
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
        if let Some(found) = self.0.track_mut(track) {
            found.leaves_at = None;
            found.run.planned = false;
            (self.0).fade_weight(track, weight, duration, TransitionCurve::Linear);
        }
    }

    /// Fades a track out linearly from now, and removes it at the end.
    pub fn fade_out(&mut self, track: TrackId, duration: Duration) {
        self.0.fade_out_track(track, duration);
    }

    /// Sets [global time](AnimationController::time) to 0. Changes keep their distance from the present.
    pub fn reset_time(&mut self) {
        self.0.reset_time();
    }

    /// Cancels a change; what it has changed so far stays. Returns `false` if the change does not exist.
    pub fn unkey(&mut self, handle: ChangeHandle) -> bool {
        let before = self.0.extras.changes.len();
        self.retain(|change| change.handle != handle);
        self.0.extras.changes.len() < before
    }

    /// Cancels all changes with this target.
    pub fn unkey_target(&mut self, target: ChangeTarget) {
        self.retain(|change| change.target != target);
    }

    /// Cancels all changes of a track.
    pub fn unkey_track(&mut self, track: TrackId) {
        self.retain(|change| change.track() != Some(track));
    }

    fn retain(&mut self, keep: impl FnMut(&ScheduledChange) -> bool) {
        self.0.extras.changes.retain(keep);
    }
}

/// # Timeline
impl AnimationController {
    /// Returns the changes that are scheduled: those that run, then those that wait, in the order they will start.
    ///
    /// ```
    /// # use bevy_marionette::controller::{AnimationController, AnimationTrack};
    /// # let mut controller = AnimationController::default();
    /// # let wave = controller.add_track(AnimationTrack::new("wave"));
    /// controller.timeline_mut().key_enabled(wave, false, 2.0);
    /// let next = controller.scheduled_changes().find(|change| change.track() == Some(wave));
    /// assert_eq!(next.map(|change| change.start()), Some(2.0));
    /// ```
    pub fn scheduled_changes(&self) -> impl Iterator<Item = &ScheduledChange> {
        self.extras.changes.iter()
    }

    /// Returns the change with this handle, while it waits or runs.
    pub fn scheduled_change(&self, handle: ChangeHandle) -> Option<&ScheduledChange> {
        self.scheduled_changes()
            .find(|change| change.handle == handle)
    }

    /// Returns the timeline, to schedule changes and cancel them.
    ///
    /// ```
    /// # use bevy_marionette::controller::{AnimationController, AnimationTrack, TransitionCurve};
    /// # use std::time::Duration;
    /// # let mut controller = AnimationController::default();
    /// let wave = controller.add_track(AnimationTrack::new("wave").weight(0.0));
    /// let (now, fade) = (controller.time(), Duration::from_millis(250));
    /// controller.timeline_mut().key_weight(wave, 1.0, now, fade, TransitionCurve::EaseInEaseOut);
    /// let end = controller.timeline_mut().key_enabled(wave, false, now + 2.0).unwrap();
    /// assert!(controller.scheduled_change(end).is_some());
    /// ```
    pub fn timeline_mut(&mut self) -> TimelineMut<'_> {
        self.change();
        TimelineMut(self)
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
        self.timeline_mut().unkey_target(ChangeTarget::Weight(id));
        self.timeline_mut()
            .key_weight(id, weight, now, duration, transition);
    }

    /// Ends the changes that are over at the present time, and starts those that are due.
    pub(super) fn settle_changes(&mut self) {
        let now = self.clock.now;
        if self.extras.changes.is_empty() {
            return;
        }
        let mut running = mem::take(&mut self.extras.changes.running);
        running.retain(|change| {
            let is_over = change.running.is_some_and(|ramp| end_of(&ramp) <= now);
            if is_over {
                self.apply(change.target, change.value);
            }
            !is_over
        });
        self.extras.changes.running = running;
        // In order of start, so that of two that are due the later one takes over.
        while let Some(first) = self
            .extras
            .changes
            .waiting
            .first_entry()
            .filter(|first| start_of(first.get()) <= now)
        {
            let mut change = first.remove();
            let ScheduledChange {
                target,
                value,
                transition,
                ..
            } = change;
            let begin = start_of(&change).max(now);
            let from = self.value_of(target);
            self.extras.changes.end(target);
            let ramp = Ramp {
                from,
                to: value,
                begin: begin.secs(),
                duration: change.duration.as_secs_f64(),
                transition,
            };
            if end_of(&ramp) > now {
                change.running = Some(ramp);
                self.extras.changes.insert(change);
            } else {
                self.apply(target, value);
            }
        }
        // Two changes of one speed may begin at the same moment.
        self.tracks
            .iter_mut()
            .for_each(|track| track.run.planned = false);
    }

    /// Returns the next moment at which a change starts or ends.
    pub(super) fn next_change(&self) -> Option<Nanos> {
        let changes = &self.extras.changes;
        let ends = changes
            .running
            .iter()
            .filter_map(|change| change.running.as_ref().map(end_of));
        ends.chain(changes.waiting.values().next().map(start_of))
            .min()
    }

    /// Returns the ramp of a value that is changing now.
    #[inline]
    pub(super) fn ramp_of(&self, target: ChangeTarget) -> Option<Ramp> {
        self.extras.changes.current(target)?.running
    }

    /// Returns the ramp of a track's speed, if it is changing now.
    #[inline]
    pub(super) fn speed_ramp(&self, at: usize) -> Option<Ramp> {
        self.ramp_of(ChangeTarget::Speed(self.tracks[at].id))
    }

    /// Returns the ramp of a track's weight, if it is changing now.
    #[inline]
    pub(super) fn weight_ramp(&self, at: usize) -> Option<Ramp> {
        self.ramp_of(ChangeTarget::Weight(self.tracks[at].id))
    }

    /// Writes the present values of running changes.
    pub(super) fn write_running_values(&mut self) {
        let now = self.clock.now;
        for at in 0..self.extras.changes.running.len() {
            let ScheduledChange {
                target, running, ..
            } = self.extras.changes.running[at];
            if let Some(ramp) = running {
                self.apply(target, ramp.at(now));
            }
        }
    }

    /// Returns the value that a change would start from.
    fn value_of(&self, target: ChangeTarget) -> f64 {
        if let Some(ramp) = self.ramp_of(target) {
            return ramp.at(self.clock.now);
        }
        let track = |id| self.track(id);
        let value = match target {
            ChangeTarget::PriorityBlend => clamp_weight(self.priority_blend).into(),
            ChangeTarget::Speed(id) => track(id).map_or(0.0, |track| track.speed),
            ChangeTarget::Weight(id) => track(id).map_or(0.0, |track| track.weight.into()),
            _ => 0.0,
        };
        finite(value)
    }

    fn apply(&mut self, target: ChangeTarget, value: f64) {
        let Some(id) = target.track() else {
            self.priority_blend = value as f32;
            return;
        };
        let Some(track) = self.tracks.iter_mut().find(|track| track.id == id) else {
            return;
        };
        match target {
            ChangeTarget::PriorityBlend => {}
            ChangeTarget::Speed(_) => track.speed = value,
            ChangeTarget::Weight(_) => track.weight = value as f32,
            ChangeTarget::Position(_) => track.seek(value),
            ChangeTarget::Enabled(_) => {
                track.enabled = value != 0.0;
                self.agenda.ranges = Reach::Unknown;
            }
            ChangeTarget::ParameterX(_) => track.rare.steering.target.x = value,
            ChangeTarget::ParameterY(_) => track.rare.steering.target.y = value,
        }
    }

    /// Moves all changes in time, waiting or running.
    pub(super) fn shift_changes(&mut self, by: Nanos) {
        if self.extras.changes.is_empty() {
            return;
        }
        let shifted = |time: f64| Nanos::from_secs(time).minus(by).secs();
        let mut changes = Vec::from(mem::take(&mut self.extras.changes));
        for change in &mut changes {
            change.start = shifted(change.start);
            if let Some(ramp) = &mut change.running {
                ramp.begin = shifted(ramp.begin);
            }
        }
        self.extras.changes = Schedule::from(changes);
    }
}

fn start_of(change: &ScheduledChange) -> Nanos {
    Nanos::from_secs(change.start)
}

fn end_of(ramp: &Ramp) -> Nanos {
    Nanos::from_secs(ramp.end())
}
