//! A clip's timing: length, playback and callback keys. The controller needs nothing else of a
//! clip.

use super::CallbackData;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The behavior at the end of a clip.
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

/// Returns `position.rem_euclid(period)`, without the slow `fmod` unless there are very many rounds.
#[inline]
fn remainder(position: f64, period: f64) -> f64 {
    if 0.0 <= position && position < period {
        return position;
    }
    let rounds = position / period;
    // Few enough rounds that the products below are exact; a period large enough that nothing underflows.
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
mod tests {
    use super::*;

    #[test]
    fn the_remainder_is_that_of_a_euclidean_division_to_the_bit() {
        let mut random = fastrand::Rng::with_seed(5);
        for i in 0..200_000 {
            let period = (random.f64() + 0.01) * 10.0_f64.powi(random.i32(-4..4));
            let rounds = [
                random.f64() * 3.0,
                random.f64() * 2e6,
                f64::from(random.u32(..2000)),
                -random.f64() * 9.0,
            ];
            let near = [0, 1, -1][random.usize(..3)];
            let position = rounds[random.usize(..4)] * period;
            let position = f64::from_bits((position.to_bits() as i64 + near) as u64);
            let expected = position.rem_euclid(period);
            assert_eq!(
                remainder(position, period).to_bits(),
                expected.to_bits(),
                "{i}: {position} in {period}"
            );
        }
    }

    #[test]
    fn many_keys_are_sorted_as_one_by_one_and_in_no_minute() {
        let key = |i: u32| CallbackKey {
            time: f64::from(i % 1000) * 0.01 - 0.5,
            until: None,
            name: i.to_string().into(),
            data: ron::Value::Unit.into(),
        };
        let (mut one_by_one, mut together) =
            (ClipTiming::new("walk", 9.0), ClipTiming::new("walk", 9.0));
        for key in (0..3000).map(key) {
            one_by_one.add_callback(key.time, key.name, key.data);
        }
        together.extend_callbacks((0..3000).map(key));
        assert_eq!(together, one_by_one);
        together.extend_callbacks((0..300_000).rev().map(key));
        assert!(together.callbacks.is_sorted_by(|a, b| a.time <= b.time));
    }

    #[test]
    fn a_key_that_is_moved_keeps_its_name_and_stays_in_the_clip_and_in_order() {
        let mut timing = ClipTiming::new("walk", 1.0);
        for (time, name) in [(0.1, "a"), (0.5, "b"), (0.9, "c")] {
            timing.add_callback(time, name, ron::Value::Unit);
        }
        let names = |timing: &ClipTiming| {
            timing
                .callbacks
                .iter()
                .map(|key| key.name.to_string())
                .collect::<String>()
        };
        assert_eq!(timing.move_callback(0, 0.6), Some(1));
        assert_eq!(names(&timing), "bac");
        assert_eq!(timing.move_callback(2, f64::NAN), Some(0));
        assert_eq!(timing.move_callback(1, 7.0), Some(2));
        assert_eq!(
            (names(&timing).as_str(), timing.callbacks[2].time),
            ("cab", 1.0)
        );
        assert_eq!(timing.move_callback(3, 0.0), None);
    }

    #[test]
    fn many_keys_added_at_once_are_placed_like_those_added_one_by_one() {
        let times = [0.5, f64::NAN, 9.0, 0.25, 0.5, -1.0, 0.75];
        let keys = times
            .iter()
            .zip("abcdefg".chars())
            .map(|(&time, name)| (time, name.to_string()));
        let (mut single, mut bulk) = (ClipTiming::new("walk", 1.0), ClipTiming::new("walk", 1.0));
        for (time, name) in keys.clone() {
            single.add_callback(time, name, ());
        }
        bulk.extend_callbacks(keys.map(|(time, name)| CallbackKey {
            time,
            until: None,
            name: name.into(),
            data: ().into(),
        }));
        assert_eq!(bulk, single);
    }
}
