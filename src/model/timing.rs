//! A clip's timing: length, playback and callback keys. The controller needs nothing else of a
//! clip.

use super::{
    CallbackData,
    callback_keys::{CallbackKey, CallbackKeys},
    playback::PlaybackMode,
};
use std::sync::Arc;

/// A clip's name, length, playback and callback keys.
///
/// ```
/// # use bevy_marionette::model::{ClipTiming, PlaybackMode};
/// let mut jump = ClipTiming { playback: PlaybackMode::Once, ..ClipTiming::new("jump", 0.8) };
/// jump.add_callback(0.1, "leap", ());
/// jump.add_range(0.1, 0.6, "in_air", ());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ClipTiming {
    /// Name, unique within a character.
    pub name: Arc<str>,
    /// Length in seconds, finite and ≥ 0. A clip of length 0 is a single pose.
    pub duration: f64,
    /// The behavior at the end.
    pub playback: PlaybackMode,
    /// Callback keys in order of time.
    pub callbacks: CallbackKeys,
}

impl ClipTiming {
    /// The most callback keys and ranges of a clip in a file, unless the limits of the import allow more.
    pub(crate) const MOST_CALLBACKS: usize = 1 << 14;

    /// Creates the timing of a looping clip without callback keys.
    pub fn new(name: impl Into<Arc<str>>, duration: f64) -> Self {
        Self {
            name: name.into(),
            duration,
            playback: PlaybackMode::Loop,
            callbacks: CallbackKeys::default(),
        }
    }

    /// Adds a callback key and returns its index. Keys are sorted by time, then by order of addition.
    ///
    /// A time outside the clip is clamped; a time that is not finite becomes 0.
    pub fn add_callback(
        &mut self,
        time: f64,
        name: impl Into<Arc<str>>,
        data: impl Into<CallbackData>,
    ) -> usize {
        self.insert(CallbackKey {
            time,
            until: None,
            name: name.into(),
            data: data.into(),
        })
    }

    /// Adds a callback range from one time to another and returns its index, like [`Self::add_callback`].
    ///
    /// A range that would end before it begins ends where it begins.
    pub fn add_range(
        &mut self,
        begin: f64,
        end: f64,
        name: impl Into<Arc<str>>,
        data: impl Into<CallbackData>,
    ) -> usize {
        self.insert(CallbackKey {
            time: begin,
            until: Some(end),
            name: name.into(),
            data: data.into(),
        })
    }

    /// Adds many callback keys, each as [`Self::add_callback`] would, in near-linear time.
    pub fn extend_callbacks(&mut self, keys: impl IntoIterator<Item = CallbackKey>) {
        let duration = self.duration;
        self.callbacks
            .extend(keys.into_iter().map(|key| within(key, duration)));
        self.sort_callbacks();
    }

    /// Sorts the callback keys by time. Stable: keys at equal times stay in the order of addition.
    fn sort_callbacks(&mut self) {
        self.callbacks.sort_by(|a, b| a.time.total_cmp(&b.time));
    }

    /// Moves the callback key at `index` to another time, a range with its end, and returns its new index, or `None` if
    /// there is no such key.
    pub fn move_callback(&mut self, index: usize, time: f64) -> Option<usize> {
        if index >= self.callbacks.len() {
            return None;
        }
        let key = self.callbacks.remove(index);
        let until = key
            .until
            .map(|until| until + (clamp(time, self.duration) - key.time));
        Some(self.insert(CallbackKey { time, until, ..key }))
    }

    fn insert(&mut self, key: CallbackKey) -> usize {
        let key = within(key, self.duration);
        let at = self
            .callbacks
            .partition_point(|other| other.time <= key.time);
        self.callbacks.insert(at, key);
        at
    }

    /// Wraps an unwrapped position, in seconds, to a time in the clip, in `0..=duration`.
    ///
    /// Loop: `rem_euclid`; Once: clamped; PingPong: `m = rem_euclid(p, 2P)`, `m ≤ P ? m : 2P − m`.
    /// A clip of length 0, or a position that is not finite, gives 0.
    pub fn periodic(&self, position: f64) -> f64 {
        self.playback.place(self.duration, position)
    }
}

/// Clamps a key to a clip, and the end of a range to its begin or later.
fn within(key: CallbackKey, duration: f64) -> CallbackKey {
    let time = clamp(key.time, duration);
    CallbackKey {
        time,
        until: key.until.map(|until| clamp(until, duration).max(time)),
        ..key
    }
}

fn clamp(time: f64, duration: f64) -> f64 {
    // Adding 0 removes the negative zero, which would sort before 0. `f32::clamp` isn't used
    // because it panics if the duration is NaN.
    if time.is_finite() {
        time.min(duration).max(0.0) + 0.0
    } else {
        0.0
    }
}

#[cfg(test)]
#[path = "tests/timing.rs"]
mod tests;
