//! Values derived from a track, its clip, and its anchor.
//!
//! Most characters play a clip at a steady speed. What others need is in boxes, for a crowd's time is spent on memory.

use super::{
    BlendMode, Clips,
    clock::Nanos,
    course::Course,
    motion::{Instant, Motion},
    source::Source,
};
use crate::model::{BoundBlendSpace, Marks};
use std::sync::Arc;

/// Values derived from a track, its clip, and its anchor: not part of the state.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    /// The clip's index, if the clip exists; for a blend space, the heaviest clip's.
    pub(super) index: Index,
    /// The blend space's index, if it is one.
    pub(super) space: Index,
    /// Its course in the blend space until the next bend.
    pub(super) course: Option<Box<Course>>,
    /// What it passes; `None` if its clip has no keys.
    pub(super) marks: Option<Arc<Marks>>,
    /// The group of marks that it passed last, near which the next one is.
    pub(super) near: usize,
    /// The keys that `marks` are compiled from.
    pub(super) source: Source,
    lead: Option<Box<Lead>>,
    /// Its speed, if that is steady.
    steady: f64,
    /// Its motion while its speed changes. The box is kept.
    motion: Option<Box<Motion>>,
    is_uneven: bool,
    /// At the end of time if there is nothing.
    next: Next,
    /// The blend mode that was checked against the clip.
    pub(super) blend: Option<BlendMode>,
    /// `true` while all this is up to date.
    pub(super) planned: bool,
    /// `true` if it was anchored anew.
    pub(super) redone: bool,
    /// `true` once its keys and loops are no longer reported in this advance.
    pub(super) muted: bool,
    /// `true` if something follows the end of its loop, though it's muted.
    pub(super) is_followed: bool,
    /// Loops reported in this advance.
    pub(super) looped: u32,
}

/// Relation of a track to the leader of its sync group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Lead {
    /// The leader's index.
    pub(super) leader: usize,
    /// Length of the follower's clip over that of the leader's.
    pub(super) ratio: f64,
    pub(super) offset: f64,
}

impl Lead {
    /// The follower's position for one of the leader.
    #[inline]
    pub(super) fn follow(self, position: f64) -> f64 {
        position * self.ratio + self.offset
    }

    /// The leader's position for one of the follower. A single pose has no place to move to.
    pub(super) fn lead_to(self, position: f64) -> Option<f64> {
        (self.ratio > 0.0).then(|| (position - self.offset) / self.ratio)
    }
}

/// The next place at which a track passes something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Next {
    pub(super) when: Instant,
    /// The place, as a position of the track.
    pub(super) place: f64,
}

impl Default for Next {
    /// Returns nothing: it would be passed at the end of time.
    fn default() -> Self {
        let when = Instant::at(Nanos::MAX);
        Self { when, place: 0.0 }
    }
}

/// An index in half the space, or none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Index(u32);

impl Default for Index {
    fn default() -> Self {
        Self(u32::MAX)
    }
}

impl From<Option<usize>> for Index {
    fn from(index: Option<usize>) -> Self {
        Self(index.map_or(u32::MAX, |index| index.try_into().unwrap_or(u32::MAX)))
    }
}

impl Index {
    #[inline]
    pub(super) fn get(self) -> Option<usize> {
        (self.0 != u32::MAX).then_some(self.0 as usize)
    }
}

impl Run {
    /// Returns the blend space, if it is one.
    #[inline]
    pub(super) fn space_in<'c, C: Clips + ?Sized>(
        &self,
        clips: &'c C,
    ) -> Option<&'c BoundBlendSpace> {
        clips.blend_spaces().get(self.space.get()?)
    }

    /// Returns its leader in its sync group.
    #[inline]
    pub(super) fn lead(&self) -> Option<Lead> {
        self.lead.as_deref().copied()
    }

    pub(super) fn set_lead(&mut self, lead: Option<Lead>) {
        match (lead, &mut self.lead) {
            (Some(lead), Some(own)) => **own = lead,
            (lead, own) => *own = lead.map(Box::new),
        }
    }

    pub(super) fn set_motion(&mut self, motion: Motion) {
        let steady = motion.only_speed();
        self.is_uneven = steady.is_none();
        match steady {
            Some(speed) => self.steady = speed,
            None => **self.motion.get_or_insert_default() = motion,
        }
    }

    /// Returns its motion, if its speed changes.
    #[inline]
    fn uneven(&self) -> Option<&Motion> {
        self.motion.as_deref().filter(|_| self.is_uneven)
    }

    /// Returns its motion from its anchor on.
    pub(super) fn motion(&self) -> Motion {
        self.uneven()
            .copied()
            .unwrap_or_else(|| Motion::steady(self.steady))
    }

    /// The direction in which it goes. Speed 0 counts as forward.
    #[inline]
    pub(super) fn forward(&self) -> bool {
        self.uneven()
            .map_or(self.steady >= 0.0, |motion| motion.forward)
    }

    /// Returns the moment at which its motion ends, if it does.
    #[inline]
    pub(super) fn until(&self) -> Option<Nanos> {
        self.uneven()?.until
    }

    /// The distance covered in some seconds since its anchor.
    #[inline]
    pub(super) fn distance(&self, seconds: f64) -> f64 {
        self.uneven()
            .map_or(self.steady * seconds, |motion| motion.distance(seconds))
    }

    /// Returns the next place at which the track passes something, such as a key or its end; `None` if there is none.
    #[inline]
    pub(super) fn next(&self) -> Option<Next> {
        (self.next.when.moment < Nanos::MAX).then_some(self.next)
    }

    pub(super) fn set_next(&mut self, next: Option<Next>) {
        self.next = next.unwrap_or_default();
    }
}
