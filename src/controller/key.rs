//! Callback keys: those of the clips, and those added to one controller.
//!
//! Both are compiled into the [`Marks`](crate::model::Marks) of what a track plays.

use super::{AnimationName, Clips};
use crate::{
    model::{CallbackData, clamped},
    numbers::finite,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

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

/// A callback key, of a clip or of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub enum KeyRef {
    /// The clip's own: an index into [`ClipTiming::callbacks`](crate::model::ClipTiming::callbacks).
    Clip(usize),
    /// Of the controller: see [`add_callback`](super::AnimationController::add_callback).
    Added(CallbackId),
}

impl KeyRef {
    /// Returns the name and the data of a key on the way of a track that plays the clip of an index.
    pub(super) fn name_and_data<'a>(
        self,
        clip: usize,
        callbacks: &'a [AddedCallback],
        clips: &'a dyn Clips,
    ) -> Option<(&'a Arc<str>, &'a CallbackData)> {
        match self {
            Self::Clip(index) => {
                let key = clips.timing(clip)?.callbacks.get(index)?;
                Some((&key.name, &key.data))
            }
            Self::Added(id) => {
                let added = &callbacks[index_of(callbacks, id)?];
                Some((added.name.as_arc(), &added.data))
            }
        }
    }
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

/// Returns the index of a callback. They are in the order of their ids.
pub(super) fn index_of(callbacks: &[AddedCallback], id: CallbackId) -> Option<usize> {
    let found = callbacks.binary_search_by_key(&id.0, |added| added.id.0);
    found.ok()
}

impl AddedCallback {
    /// Returns `true` if its counters can be counted on.
    pub(crate) fn is_valid(&self, last_id: u64) -> bool {
        self.id.0 <= last_id && self.passed < self.every
    }

    /// Returns its places in a clip of some length.
    pub(crate) fn span(&self, length: f64) -> KeySpan {
        let time = self.time.seconds(length);
        let until = self.until.map(|until| until.seconds(length).max(time));
        KeySpan { time, until }
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

/// The places of a key in its clip, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct KeySpan {
    pub(crate) time: f64,
    /// End of a range, at or after `time`; `None` for a plain key.
    pub(crate) until: Option<f64>,
}
