//! Applying scheduled changes: starting, running, and ending them.

use super::{
    ChangeHandle, ChangeTarget, ScheduledChange, TrackId, TransitionCurve, clock::Nanos,
    ramp::Ramp, tracks::Tracks,
};
use crate::numbers::{clamp_weight, finite};
use std::{mem, time::Duration};

impl Tracks {
    /// Schedules a change.
    pub(super) fn schedule(
        &mut self,
        target: ChangeTarget,
        value: f64,
        start: Nanos,
        duration: Duration,
        transition: TransitionCurve,
    ) -> ChangeHandle {
        let handle = ChangeHandle(self.next_id());
        self.changes.insert(ScheduledChange {
            handle,
            target,
            value,
            start,
            duration,
            transition,
            running: None,
        });
        handle
    }

    /// Ends the changes that are over at the present time, and starts those that are due.
    pub(super) fn settle_changes(&mut self, priority_blend: &mut f32) {
        let now = self.clock.now;
        if self.changes.is_empty() {
            return;
        }
        let mut running = mem::take(&mut self.changes.running);
        running.retain(|change| {
            let is_over = change.running.is_some_and(|ramp| ramp.end <= now);
            if is_over {
                self.apply(change.target, change.value, priority_blend);
            }
            !is_over
        });
        self.changes.running = running;
        // In order of start, so that of two that are due the later one takes over.
        while let Some(mut change) = self.changes.pop_due(now) {
            let (target, value) = (change.target, change.value);
            let begin = change.start.max(now);
            let ramp = Ramp {
                from: self.value_of(target, *priority_blend),
                to: value,
                begin,
                end: begin.plus(change.duration.into()),
                transition: change.transition,
            };
            self.changes.end(target);
            if ramp.end > now {
                change.running = Some(ramp);
                self.changes.insert(change);
            } else {
                self.apply(target, value, priority_blend);
            }
        }
        // Two changes of one speed may begin at the same moment.
        let tracks = self.list.iter_mut();
        tracks.for_each(|track| track.run.planned = false);
    }

    /// Returns the ramp of a value that is changing now.
    #[inline]
    pub(super) fn ramp_of(&self, target: ChangeTarget) -> Option<Ramp> {
        self.changes.current(target)?.running
    }

    /// Returns the ramp of a track's speed, if it is changing now.
    #[inline]
    pub(super) fn speed_ramp(&self, at: usize) -> Option<Ramp> {
        self.ramp_of(ChangeTarget::Speed(self.list[at].id))
    }

    /// Returns the ramp of a track's weight, if it is changing now.
    #[inline]
    pub(super) fn weight_ramp(&self, at: usize) -> Option<Ramp> {
        self.ramp_of(ChangeTarget::Weight(self.list[at].id))
    }

    /// A track's weight at a moment up to the next change of its events.
    pub(super) fn weight_at(&self, at: usize, moment: Nanos) -> f64 {
        let ramp = self.weight_ramp(at);
        ramp.map_or(self.list[at].share().into(), |ramp| ramp.at(moment))
    }

    /// A track's weight some seconds ago, if it has been changing since; else its present weight.
    pub(super) fn weight_ago(&self, at: usize, seconds: f64) -> f32 {
        let moment = self.clock.now.minus(Nanos::from_secs(seconds));
        let weight = self.weight_at(at, moment) as f32;
        finite(weight.into()).max(0.0) as f32
    }

    /// A track's present weight.
    pub(super) fn weight_now(&self, at: usize) -> f32 {
        (self.weight_at(at, self.clock.now) as f32).max(0.0)
    }

    /// Writes the present values of tracks that running changes give.
    pub(super) fn write_running_values(&mut self) {
        let now = self.clock.now;
        for at in 0..self.changes.running.len() {
            let change = &self.changes.running[at];
            if let (Some(ramp), Some(id)) = (change.running, change.track()) {
                self.apply_to(id, change.target, ramp.at(now));
            }
        }
    }

    /// Returns the value that a change would start from.
    fn value_of(&self, target: ChangeTarget, priority_blend: f32) -> f64 {
        if let Some(ramp) = self.ramp_of(target) {
            return ramp.at(self.clock.now);
        }
        let track = |id| self.of(id);
        let value = match target {
            ChangeTarget::PriorityBlend => clamp_weight(priority_blend).into(),
            ChangeTarget::Speed(id) => track(id).map_or(0.0, |track| track.speed),
            ChangeTarget::Weight(id) => track(id).map_or(0.0, |track| track.weight.into()),
            _ => 0.0,
        };
        finite(value)
    }

    fn apply(&mut self, target: ChangeTarget, value: f64, priority_blend: &mut f32) {
        match target.track() {
            Some(id) => self.apply_to(id, target, value),
            None => *priority_blend = value as f32,
        }
    }

    fn apply_to(&mut self, id: TrackId, target: ChangeTarget, value: f64) {
        let Some(track) = self.of_mut(id) else {
            return;
        };
        match target {
            ChangeTarget::PriorityBlend => {}
            ChangeTarget::Speed(_) => track.speed = value,
            ChangeTarget::Weight(_) => track.weight = value as f32,
            ChangeTarget::Position(_) => track.seek(value),
            ChangeTarget::Enabled(_) => {
                track.enabled = value != 0.0;
                self.moved();
            }
            ChangeTarget::ParameterX(_) => track.rare.steering.target.x = value,
            ChangeTarget::ParameterY(_) => track.rare.steering.target.y = value,
        }
    }
}
