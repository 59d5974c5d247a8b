//! Callback keys: those of the clips and those added to one controller.
//!
//! A key is found where the playhead sweeps over it, and fires at the moment of passing:
//!
//! ```text
//! clip time   0.0        0.3                 0.8       1.0
//! keys         │      footstep            footstep      │
//! frames       ├────────┼────────┼────────┼────────┼────┼───▶
//!              │        (   0.3  ]        (   0.8  ]
//!              └ sweep: (from, to], each end belongs to exactly one frame
//! ```
//!
//! One merged list, [`Keys`], yields the clip's keys and the added ones in order of time from either end.
//! Every key carries its name and data, so that a fired callback needs no second lookup.

use super::AnimationName;
use crate::{
    model::{CallbackData, CallbackKey},
    numbers::finite,
};
use serde::{Deserialize, Serialize};
use std::{iter, slice, sync::Arc};

/// Identifies a callback added to one controller.
///
/// ```
/// # use bevy_marionette::controller::AnimationController;
/// let mut controller = AnimationController::playing("walk");
/// let splash = controller.add_callback("walk", 0.3, "splash", ());
/// // Out of the water:
/// controller.remove_callback(splash);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub struct CallbackId(pub(crate) u64);

/// A place in a clip.
///
/// ```
/// # use bevy_marionette::controller::{AnimationController, CallbackTime};
/// # let mut controller = AnimationController::playing("walk");
/// // In the middle of each clip, however long it is.
/// for clip in ["walk", "jog", "run"] {
///     controller.add_callback(clip, CallbackTime::Fraction(0.5), "footstep", "right");
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub enum CallbackTime {
    /// Seconds from the start, clamped to the clip.
    Seconds(f64),
    /// Fraction of the length, `0..=1`.
    Fraction(f64),
    /// The end.
    End,
}

impl From<f64> for CallbackTime {
    fn from(seconds: f64) -> Self {
        Self::Seconds(seconds)
    }
}

impl CallbackTime {
    /// The same with a number that is equal to itself: what is not finite counts as 0.
    pub(super) fn sound(self) -> Self {
        match self {
            Self::Seconds(seconds) => Self::Seconds(finite(seconds)),
            Self::Fraction(fraction) => Self::Fraction(finite(fraction)),
            Self::End => Self::End,
        }
    }

    /// Seconds from the start of a clip of the given length; 0 if not finite.
    fn seconds(self, length: f64) -> f64 {
        match self {
            Self::Seconds(seconds) => clamped(seconds, length),
            Self::Fraction(fraction) => clamped(fraction * length, length),
            Self::End => length,
        }
    }
}

#[inline]
fn clamped(time: f64, length: f64) -> f64 {
    finite(time).clamp(0.0, length)
}

impl CallbackKey {
    /// Returns its beginning in a clip of some length, and its end if it is a range.
    #[inline]
    pub(crate) fn span(&self, length: f64) -> (f64, Option<f64>) {
        let time = clamped(self.time, length);
        let until = self.until.map(|until| clamped(until, length).max(time));
        (time, until)
    }
}

/// A callback key, of a clip or of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub enum KeyRef {
    /// The clip's own: an index into [`ClipTiming::callbacks`](crate::model::ClipTiming::callbacks).
    Clip(usize),
    /// Of the controller: see [`add_callback`](super::AnimationController::add_callback).
    Added(CallbackId),
}

/// A callback added to a controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct AddedCallback {
    pub(crate) id: CallbackId,
    pub(crate) clip: AnimationName,
    pub(crate) time: CallbackTime,
    /// End of a range; `None` for a plain key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) until: Option<CallbackTime>,
    /// Fires at every n-th passing, ≥ 1.
    pub(crate) every: u32,
    /// Passings since it last fired.
    pub(crate) passed: u32,
    pub(crate) name: AnimationName,
    pub(crate) data: CallbackData,
}

impl AddedCallback {
    /// Returns `true` if its counters can be counted on.
    pub(crate) fn is_valid(&self, last_id: u64) -> bool {
        self.id.0 <= last_id && self.passed < self.every
    }

    /// Counts a passing. Returns `true` if it fires this time.
    pub(crate) fn count_passing(&mut self) -> bool {
        self.passed += 1;
        let fires = self.passed >= self.every;
        if fires {
            self.passed = 0;
        }
        fires
    }
}

/// An added callback as a key of a track's clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AddedKey {
    time: f64,
    until: Option<f64>,
    /// Index among the controller's callbacks.
    index: usize,
}

/// Fills `keys` with the added callbacks of a clip, in order of time.
pub(crate) fn collect_added(
    all: &[AddedCallback],
    clip: &AnimationName,
    length: f64,
    keys: &mut Vec<AddedKey>,
) {
    keys.clear();
    let ours = all
        .iter()
        .enumerate()
        .filter(|(_, added)| added.clip == *clip);
    keys.extend(ours.map(|(index, added)| {
        let time = added.time.seconds(length);
        AddedKey {
            time,
            until: added.until.map(|until| until.seconds(length).max(time)),
            index,
        }
    }));
    keys.sort_by(|a, b| a.time.total_cmp(&b.time));
}

impl AddedKey {
    /// Numbers that change with its times and with what it is.
    pub(crate) fn bits(&self) -> u64 {
        let until = self.until.map_or(1, f64::to_bits);
        self.time.to_bits().rotate_left(17) ^ until.rotate_left(31) ^ self.index as u64
    }

    pub(crate) fn is_range(&self) -> bool {
        self.until.is_some()
    }

    /// Returns its beginning, and its end if it is a range.
    pub(crate) fn span(&self) -> (f64, Option<f64>) {
        (self.time, self.until)
    }
}

/// A key in the playhead's way, with all that its callback carries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key<'a> {
    /// Place in the clip, in `0..=length`.
    pub(crate) time: f64,
    /// End of a range, at or after `time`; `None` for a plain key.
    pub(crate) until: Option<f64>,
    pub(crate) key: KeyRef,
    pub(crate) name: &'a Arc<str>,
}

/// The keys of a clip merged with those added to it, in order of time from either end. At equal times the
/// clip's own come first.
#[derive(Clone)]
pub(crate) struct Keys<'a> {
    clip: iter::Enumerate<slice::Iter<'a, CallbackKey>>,
    added: slice::Iter<'a, AddedKey>,
    callbacks: &'a [AddedCallback],
    length: f64,
}

impl<'a> Keys<'a> {
    /// `added` is made by [`collect_added`] from `callbacks`.
    pub(crate) fn new(
        clip: &'a [CallbackKey],
        added: &'a [AddedKey],
        callbacks: &'a [AddedCallback],
        length: f64,
    ) -> Self {
        Self {
            clip: clip.iter().enumerate(),
            added: added.iter(),
            callbacks,
            length,
        }
    }

    fn own(&self, (index, key): (usize, &'a CallbackKey)) -> Key<'a> {
        let (time, until) = key.span(self.length);
        Key {
            time,
            until,
            key: KeyRef::Clip(index),
            name: &key.name,
        }
    }

    fn added(&self, &AddedKey { time, until, index }: &AddedKey) -> Key<'a> {
        let AddedCallback { id, name, .. } = &self.callbacks[index];
        Key {
            time,
            until,
            key: KeyRef::Added(*id),
            name: name.as_arc(),
        }
    }
}

impl<'a> Iterator for Keys<'a> {
    type Item = Key<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let own = self.clip.clone().next().map(|key| self.own(key));
        let added = self.added.clone().next().map(|key| self.added(key));
        match (own, added) {
            (Some(own), Some(added)) if added.time < own.time => {
                self.added.next();
                Some(added)
            }
            (None, added) => {
                self.added.next();
                added
            }
            (own, _) => {
                self.clip.next();
                own
            }
        }
    }
}

impl DoubleEndedIterator for Keys<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let own = self.clip.clone().next_back().map(|key| self.own(key));
        let added = self.added.clone().next_back().map(|key| self.added(key));
        match (own, added) {
            (Some(own), Some(added)) if own.time > added.time => {
                self.clip.next_back();
                Some(own)
            }
            (own, None) => {
                self.clip.next_back();
                own
            }
            (_, added) => {
                self.added.next_back();
                added
            }
        }
    }
}

#[cfg(test)]
#[path = "tests/key.rs"]
mod tests;
