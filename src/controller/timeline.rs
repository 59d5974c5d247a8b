//! Scheduling changes, and asking what is scheduled.

use super::{
    AnimationController, ChangeHandle, ChangeTarget, ScheduledChange, TrackId, TransitionCurve,
    clock::Nanos,
};
use crate::model::BlendPoint;
use ChangeTarget::{Enabled, ParameterX, ParameterY, Position, PriorityBlend, Speed, Weight};
use std::time::Duration;

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
        self.key(Speed(track), speed, start, duration, transition)
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
        self.key(Weight(track), weight.into(), start, duration, transition)
    }

    /// Moves a track to a position without firing the callbacks on the way.
    pub fn key_position(
        &mut self,
        track: TrackId,
        position: f64,
        start: f64,
    ) -> Option<ChangeHandle> {
        self.step(Position(track), position, start)
    }

    /// Enables or disables a track.
    pub fn key_enabled(
        &mut self,
        track: TrackId,
        enabled: bool,
        start: f64,
    ) -> Option<ChangeHandle> {
        self.step(Enabled(track), enabled.into(), start)
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
        let first = self.step(ParameterX(track), x, start)?;
        Some([first, self.step(ParameterY(track), y, start)?])
    }

    /// Changes the [priority blend](AnimationController::priority_blend), clamped to `0..=1`.
    pub fn key_priority_blend(
        &mut self,
        blend: f32,
        start: f64,
        duration: Duration,
        transition: TransitionCurve,
    ) -> Option<ChangeHandle> {
        self.key(PriorityBlend, blend.into(), start, duration, transition)
    }

    fn step(&mut self, target: ChangeTarget, value: f64, start: f64) -> Option<ChangeHandle> {
        let (duration, curve) = (Duration::ZERO, TransitionCurve::Linear);
        self.key(target, value, start, duration, curve)
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
            Weight(_) => value.max(0.0),
            PriorityBlend => value.clamp(0.0, 1.0),
            _ => value,
        };
        let (start, tracks) = (Nanos::from_secs(start), &mut self.0.tracks);
        Some(tracks.schedule(target, value, start, duration, transition))
    }

    /// Fades a track's weight linearly from now, in place of any change of weight already scheduled.
    ///
    /// A track that was fading out stays.
    pub fn fade(&mut self, track: TrackId, weight: f32, duration: Duration) {
        if let Some(found) = self.0.tracks.of_mut(track) {
            found.leaves_at = None;
            found.run.planned = false;
            self.unkey_target(Weight(track));
            let now = self.0.time();
            self.key_weight(track, weight, now, duration, TransitionCurve::Linear);
        }
    }

    /// Fades a track out linearly from now, and removes it at the end.
    pub fn fade_out(&mut self, track: TrackId, duration: Duration) {
        let AnimationController {
            director, tracks, ..
        } = &mut *self.0;
        director.fade_out_track(tracks, track, duration);
    }

    /// Sets [global time](AnimationController::time) to 0. Changes keep their distance from the present.
    pub fn reset_time(&mut self) {
        let by = self.0.tracks.reset_time();
        self.0.director.shift(by);
        if let Some(states) = &mut self.0.states {
            states.shift(by);
        }
    }

    /// Cancels a change; what it has changed so far stays. Returns `false` if the change does not exist.
    pub fn unkey(&mut self, handle: ChangeHandle) -> bool {
        let before = self.0.tracks.changes.len();
        (self.0.tracks.changes).retain(|change| change.handle != handle);
        self.0.tracks.changes.len() < before
    }

    /// Cancels all changes with this target.
    pub fn unkey_target(&mut self, target: ChangeTarget) {
        self.0.tracks.changes.cancel(target);
    }

    /// Cancels all changes of a track.
    pub fn unkey_track(&mut self, track: TrackId) {
        (self.0.tracks.changes).retain(|change| change.track() != Some(track));
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
        self.tracks.changes.iter()
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
}
