//! Values that change from time to time.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Values, each with the frame from which it applies, in order of frames.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Changes<T>(VecDeque<(u64, T)>);

impl<T> Default for Changes<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T> Changes<T> {
    /// Adds a value that applies from a frame on, which must not be before that of the last value.
    pub(super) fn push(&mut self, frame: u64, value: T) {
        self.0.push_back((frame, value));
    }

    /// Returns the value that applies in a frame.
    pub(super) fn at(&self, frame: u64) -> Option<&T> {
        Some(&self.0.get(self.until(frame).checked_sub(1)?)?.1)
    }

    /// Returns the value that was added for this very frame.
    pub(super) fn exactly_at(&self, frame: u64) -> Option<&T> {
        let at = self.0.binary_search_by_key(&frame, |(of, _)| *of).ok()?;
        Some(&self.0[at].1)
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|(_, value)| value)
    }

    /// Drops the values that no longer apply in a frame or later.
    pub(super) fn drop_before(&mut self, frame: u64) {
        // The last value up to the frame still applies in it, and is kept.
        self.0.drain(..self.until(frame).saturating_sub(1));
    }

    /// Drops the values that apply only after a frame.
    pub(super) fn drop_after(&mut self, frame: u64) {
        self.0.truncate(self.until(frame));
    }

    /// Returns roughly how many bytes it takes, given the number that a value has allocated.
    pub(super) fn bytes(&self, allocated: impl Fn(&T) -> usize) -> usize {
        self.0.len() * size_of::<(u64, T)>() + self.values().map(allocated).sum::<usize>()
    }

    /// Returns `true` if values that were read from a file are consistent.
    pub(super) fn is_sound(&self, is_sound: impl Fn(&T) -> bool) -> bool {
        self.0.iter().is_sorted_by_key(|(frame, _)| frame) && self.values().all(is_sound)
    }

    /// Returns the number of values up to a frame.
    fn until(&self, frame: u64) -> usize {
        self.0.partition_point(|(of, _)| *of <= frame)
    }
}

#[cfg(test)]
#[path = "tests/changes.rs"]
mod tests;
