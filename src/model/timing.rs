//! A clip's timing: length, playback and callback keys. The controller needs nothing else of a
//! clip.

use super::{CallbackData, marks::Marks};
use serde::{Deserialize, Serialize};
use std::{
    ops::{Deref, DerefMut},
    sync::{Arc, OnceLock},
};

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

/// The callback keys of a clip: a `Vec` that clones share until one of them is changed.
///
/// ```
/// # use bevy_marionette::model::ClipTiming;
/// let mut walk = ClipTiming::new("walk", 1.0);
/// walk.add_callback(0.3, "footstep", "left");
/// walk.callbacks.retain(|key| &*key.name != "footstep");
/// assert!(walk.callbacks.is_empty());
/// ```
#[derive(Clone, Default)]
pub struct CallbackKeys(Option<Arc<Keys>>);

/// Keys, and what is compiled from them when they are first played.
#[derive(Default)]
struct Keys {
    keys: Vec<CallbackKey>,
    marks: PlayedMarks,
}

/// Marks for each [`PlaybackMode`], compiled when they are first asked for.
#[derive(Default)]
pub(in crate::model) struct PlayedMarks([OnceLock<Arc<Marks>>; 3]);

impl PlayedMarks {
    pub(in crate::model) fn get(
        &self,
        playback: PlaybackMode,
        compile: impl FnOnce() -> Marks,
    ) -> &Arc<Marks> {
        self.0[playback as usize].get_or_init(|| Arc::new(compile()))
    }
}

impl CallbackKeys {
    /// Returns `true` if nothing was changed since one was cloned from the other.
    #[inline]
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(ours), Some(theirs)) => Arc::ptr_eq(ours, theirs),
            _ => false,
        }
    }

    /// Returns what a track passes that plays them alone in a clip of some length. `None` if there are no keys.
    pub(crate) fn marks(&self, length: f64, playback: PlaybackMode) -> Option<Arc<Marks>> {
        let inner = self.0.as_ref().filter(|inner| !inner.keys.is_empty())?;
        let compile = || Marks::of_clip(length, playback, &inner.keys);
        let marks = inner.marks.get(playback, compile);
        // The length is the clip's to change.
        Some(if marks.length() == length {
            marks.clone()
        } else {
            Arc::new(compile())
        })
    }
}

impl Deref for CallbackKeys {
    type Target = Vec<CallbackKey>;

    fn deref(&self) -> &Vec<CallbackKey> {
        static NONE: Vec<CallbackKey> = Vec::new();
        self.0.as_ref().map_or(&NONE, |inner| &inner.keys)
    }
}

impl DerefMut for CallbackKeys {
    fn deref_mut(&mut self) -> &mut Vec<CallbackKey> {
        // What plays the keys as they were has a clone. So these are no longer the same.
        if self
            .0
            .as_mut()
            .is_none_or(|inner| Arc::get_mut(inner).is_none())
        {
            let keys = self.to_vec();
            let marks = PlayedMarks::default();
            self.0 = Some(Arc::new(Keys { keys, marks }));
        }
        let inner = self.0.as_mut().and_then(Arc::get_mut);
        let inner = inner.expect("these keys are new, or nobody else has them");
        inner.marks = PlayedMarks::default();
        &mut inner.keys
    }
}

impl PartialEq for CallbackKeys {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other) || **self == **other
    }
}

impl std::fmt::Debug for CallbackKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}

impl FromIterator<CallbackKey> for CallbackKeys {
    fn from_iter<I: IntoIterator<Item = CallbackKey>>(keys: I) -> Self {
        let (keys, marks) = (keys.into_iter().collect(), PlayedMarks::default());
        Self(Some(Arc::new(Keys { keys, marks })))
    }
}

impl<'k> IntoIterator for &'k CallbackKeys {
    type Item = &'k CallbackKey;
    type IntoIter = std::slice::Iter<'k, CallbackKey>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
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
