//! Scheduled changes, at once or over time.
//!
//! ```text
//!            keyed      start                end
//! change       │ waiting  │ running           │ gone; its handle is no longer valid
//! value   ─────┴──────────┴╲_________         │
//!                          └─ from the value   ╲___│____ to `value`
//!                             found here
//! ```
//!
//! Of two changes with the same target, the one that starts later takes over and the earlier one is gone.

use super::{
    TrackId,
    clock::Nanos,
    ramp::{Ramp, TransitionCurve},
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, mem, time::Duration};

/// Identifies a scheduled change of one controller. Valid while the change waits or runs.
///
/// ```
/// # use bevy_marionette::controller::{AnimationController, AnimationTrack};
/// # let mut controller = AnimationController::default();
/// # let shield = controller.add_track(AnimationTrack::new("shield"));
/// let end = controller.time() + 5.0;
/// let lowers = controller.timeline_mut().key_enabled(shield, false, end);
/// // The player picks up another charge, and holds the shield up for longer:
/// if let Some(lowers) = lowers {
///     controller.timeline_mut().unkey(lowers);
/// }
/// controller.timeline_mut().key_enabled(shield, false, end + 5.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub struct ChangeHandle(pub(crate) u64);

impl ChangeHandle {
    pub(crate) fn id(self) -> u64 {
        self.0
    }
}

/// The property that a scheduled change sets.
///
/// ```
/// # use bevy_marionette::controller::{AnimationController, AnimationTrack, ChangeTarget};
/// # use std::time::Duration;
/// # let mut controller = AnimationController::default();
/// # let aim = controller.add_track(AnimationTrack::new("aim"));
/// controller.timeline_mut().fade(aim, 0.0, Duration::from_millis(300));
/// // The arm stays as far up as it is now.
/// controller.timeline_mut().unkey_target(ChangeTarget::Weight(aim));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub enum ChangeTarget {
    /// [`AnimationTrack::speed`](super::AnimationTrack::speed).
    Speed(TrackId),
    /// [`AnimationTrack::weight`](super::AnimationTrack::weight).
    Weight(TrackId),
    /// The track's position: a [`seek`](super::AnimationTrack::seek).
    Position(TrackId),
    /// [`AnimationTrack::enabled`](super::AnimationTrack::enabled): to 0 or 1.
    Enabled(TrackId),
    /// The first of the [`AnimationTrack::parameters`](super::AnimationTrack::parameters) of a blend space.
    ParameterX(TrackId),
    /// The second parameter.
    ParameterY(TrackId),
    /// The controller's [priority blend](super::AnimationController::priority_blend).
    PriorityBlend,
}

impl ChangeTarget {
    /// Returns the track; `None` for the priority blend.
    pub fn track(self) -> Option<TrackId> {
        match self {
            Self::Speed(track)
            | Self::Weight(track)
            | Self::Position(track)
            | Self::Enabled(track)
            | Self::ParameterX(track)
            | Self::ParameterY(track) => Some(track),
            Self::PriorityBlend => None,
        }
    }
}

/// A scheduled change that waits or runs.
///
/// ```
/// # use bevy_marionette::controller::{AnimationController, AnimationTrack, ChangeTarget};
/// # use std::time::Duration;
/// # let mut controller = AnimationController::default();
/// # let aim = controller.add_track(AnimationTrack::new("aim"));
/// # controller.timeline_mut().fade(aim, 0.0, Duration::from_millis(300));
/// let mut changes = controller.scheduled_changes();
/// let is_lowered = changes.any(|change| change.target() == ChangeTarget::Weight(aim) && change.value() == 0.0);
/// assert!(is_lowered);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub struct ScheduledChange {
    pub(crate) handle: ChangeHandle,
    pub(crate) target: ChangeTarget,
    pub(crate) value: f64,
    pub(super) start: Nanos,
    pub(crate) duration: Duration,
    pub(crate) transition: TransitionCurve,
    #[cfg_attr(feature = "bevy", reflect(ignore))]
    pub(super) running: Option<Ramp>,
}

impl ScheduledChange {
    /// Returns the change's handle.
    pub fn handle(&self) -> ChangeHandle {
        self.handle
    }

    /// Returns what it changes.
    pub fn target(&self) -> ChangeTarget {
        self.target
    }

    /// Returns the track it changes; `None` for the priority blend.
    pub fn track(&self) -> Option<TrackId> {
        self.target.track()
    }

    /// Returns the value it leads to; 0 or 1 for [`ChangeTarget::Enabled`].
    pub fn value(&self) -> f64 {
        self.value
    }

    /// Returns when it starts or started, in seconds of global time.
    pub fn start(&self) -> f64 {
        self.running.map_or(self.start, |ramp| ramp.begin).secs()
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

    /// Returns `true` if its ramp, if it runs, has values.
    pub(crate) fn is_sound(&self) -> bool {
        self.running.is_none_or(|ramp| {
            ramp.from.is_finite() && ramp.to.is_finite() && ramp.end > ramp.begin
        })
    }
}

/// The changes of a controller.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<ScheduledChange>", into = "Vec<ScheduledChange>")]
pub(crate) struct Schedule {
    /// At most one for each target, in the order of targets: every track asks for its own at every cut.
    pub(crate) running: Vec<ScheduledChange>,
    /// By the order of their starts: finding the next one takes no search, however many wait.
    waiting: BTreeMap<(Nanos, ChangeHandle), ScheduledChange>,
}

impl Schedule {
    pub(crate) fn is_empty(&self) -> bool {
        self.running.is_empty() && self.waiting.is_empty()
    }

    /// The one that is changing a target now.
    #[inline]
    pub(crate) fn current(&self, target: ChangeTarget) -> Option<&ScheduledChange> {
        Some(&self.running[self.find(target).ok()?])
    }

    /// The index of the running change with a target, or the one at which to insert it.
    #[inline]
    fn find(&self, target: ChangeTarget) -> Result<usize, usize> {
        (self.running).binary_search_by_key(&target, |change| change.target)
    }

    /// Running changes first, then the others in the order they will start.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &ScheduledChange> {
        self.running.iter().chain(self.waiting.values())
    }

    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&ScheduledChange) -> bool) {
        self.running.retain(&mut keep);
        self.waiting.retain(|_, change| keep(change));
    }

    pub(crate) fn insert(&mut self, change: ScheduledChange) {
        if !change.is_running() {
            self.waiting.insert((change.start, change.handle), change);
            return;
        }
        match self.find(change.target) {
            Ok(at) => self.running[at] = change,
            Err(at) => self.running.insert(at, change),
        }
    }

    /// Removes all changes with a target.
    pub(super) fn cancel(&mut self, target: ChangeTarget) {
        self.retain(|change| change.target != target);
    }

    /// Removes the running change with a target.
    pub(crate) fn end(&mut self, target: ChangeTarget) {
        if let Ok(at) = self.find(target) {
            self.running.remove(at);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.running.len() + self.waiting.len()
    }

    /// Returns the next moment at which a change starts or ends.
    pub(super) fn next(&self) -> Option<Nanos> {
        let running = self.running.iter();
        let ends = running.filter_map(|change| Some(change.running?.end));
        let starts = self.waiting.keys().map(|(start, _)| *start);
        ends.chain(starts.take(1)).min()
    }

    /// Takes out the first change that starts by a moment.
    pub(super) fn pop_due(&mut self, now: Nanos) -> Option<ScheduledChange> {
        let first = self.waiting.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }

    /// Moves all changes in time.
    pub(super) fn shift(&mut self, by: Nanos) {
        let mut changes = Vec::from(mem::take(self));
        for change in &mut changes {
            change.start = change.start.minus(by);
            if let Some(ramp) = &mut change.running {
                (ramp.begin, ramp.end) = (ramp.begin.minus(by), ramp.end.minus(by));
            }
        }
        *self = Self::from(changes);
    }
}

impl From<Vec<ScheduledChange>> for Schedule {
    fn from(changes: Vec<ScheduledChange>) -> Self {
        let mut schedule = Self::default();
        changes
            .into_iter()
            .for_each(|change| schedule.insert(change));
        schedule
    }
}

impl From<Schedule> for Vec<ScheduledChange> {
    fn from(Schedule { running, waiting }: Schedule) -> Self {
        running.into_iter().chain(waiting.into_values()).collect()
    }
}
