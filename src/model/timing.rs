//! A clip's timing: length, playback and callback keys. The controller needs nothing else of a
//! clip.

use super::CallbackData;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The behavior at the end of a clip.
///
/// ```
/// # use bevy_marionette::{controller::{AnimationController, AnimationTrack}, model::{ClipTiming, PlaybackMode}};
/// // On the way back after three seconds:
/// let sway = ClipTiming { playback: PlaybackMode::PingPong, ..ClipTiming::new("sway", 2.0) };
/// assert_eq!(sway.periodic(3.0), 1.0);
/// // A track can play a clip differently:
/// # let mut controller = AnimationController::default();
/// controller.add_track(AnimationTrack::new("sway").playback(PlaybackMode::Once));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub enum PlaybackMode {
    /// Starts over.
    #[default]
    Loop,
    /// Holds the last frame.
    Once,
    /// Plays backward to the start, then forward again.
    PingPong,
}

impl PlaybackMode {
    /// Returns the place in a clip of some length, in `0..=length`, of an unwrapped position. See [`ClipTiming::periodic`].
    #[inline]
    pub(crate) fn place(self, length: f64, position: f64) -> f64 {
        let has_length = length > 0.0 && length.is_finite();
        if !has_length || !position.is_finite() {
            return 0.0;
        }
        match self {
            Self::Loop => remainder(position, length),
            Self::Once => position.clamp(0.0, length),
            Self::PingPong => {
                let turn = remainder(position, 2.0 * length);
                if turn <= length {
                    turn
                } else {
                    2.0 * length - turn
                }
            }
        }
    }
}

/// A moment in a clip that triggers a callback, or a range whose beginning and end do.
///
/// ```
/// # use bevy_marionette::model::ClipTiming;
/// /// Returns the seconds during which an attack can hit, for an AI that chooses one.
/// fn hit_time(attack: &ClipTiming) -> Option<f64> {
///     let hit = attack.callbacks.iter().find(|key| &*key.name == "hit_window")?;
///     Some(hit.until? - hit.time)
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CallbackKey {
    /// Seconds from the clip's start, in `0..=duration`.
    pub time: f64,
    /// The end of a range: seconds from the clip's start, at or after `time`. `None` for a moment.
    pub until: Option<f64>,
    /// Name, such as `footstep`.
    pub name: Arc<str>,
    /// Data for the observer; `()` if there is none.
    pub data: CallbackData,
}

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
    pub callbacks: Vec<CallbackKey>,
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
            callbacks: Vec::new(),
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

/// Returns `position.rem_euclid(period)`, without the slow `fmod` unless there are very many loops.
#[inline]
fn remainder(position: f64, period: f64) -> f64 {
    if 0.0 <= position && position < period {
        return position;
    }
    let rounds = position / period;
    // Few enough loops that the products below are exact; a period large enough that nothing underflows.
    if !(1.0..1e6).contains(&rounds) || period < 1e-100 {
        return position.rem_euclid(period);
    }
    let n = rounds as u32 as f64;
    // The period's upper 26 bits and the rest: their products with n have no rounding error, and neither have
    // the differences, which are multiples of the period's last bit and hardly larger than the period.
    let high = f64::from_bits(period.to_bits() & !((1 << 27) - 1));
    let rest = (position - n * high) - n * (period - high);
    // The quotient may have been rounded up to the next whole number.
    if rest < 0.0 { rest + period } else { rest }
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
