//! State that few controllers have.

use super::{
    AnimationName, key::AddedCallback, key::AddedKey, open_range::OpenRange,
    playback_state::Playback,
};
use super::{steering::Steering, timed_event::Schedule};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::{
    collections::BTreeMap,
    fmt,
    ops::{Deref, DerefMut},
};

/// A value in a box, which is only there if it was written to. Otherwise it reads as the ordinary value.
///
/// A crowd advances thousands of controllers per frame, and what takes the time is memory: whatever is the same for most of
/// them must not lie between what is not.
#[derive(Clone)]
pub(super) struct Rare<T>(Option<Box<T>>);

/// What a [`Rare`] is if it was never written to.
pub(super) trait Ordinary: Default + PartialEq + 'static {
    fn ordinary() -> &'static Self;
}

impl<T> Rare<T> {
    /// The value to change, if it was ever written to.
    pub(super) fn get_mut(&mut self) -> Option<&mut T> {
        self.0.as_deref_mut()
    }
}

impl<T: Ordinary> Deref for Rare<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.0.as_deref().unwrap_or_else(|| T::ordinary())
    }
}

impl<T: Ordinary> DerefMut for Rare<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.get_or_insert_default()
    }
}

impl<T: Ordinary> From<T> for Rare<T> {
    fn from(value: T) -> Self {
        Self((value != *T::ordinary()).then(|| Box::new(value)))
    }
}

impl<T> Default for Rare<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: Ordinary> PartialEq for Rare<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Ordinary + fmt::Debug> fmt::Debug for Rare<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Ordinary + Serialize> Serialize for Rare<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de, T: Ordinary + Deserialize<'de>> Deserialize<'de> for Rare<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::from)
    }
}

macro_rules! ordinary {
    ($($value:ident: $of:ty = $is:expr;)*) => {$(
        static $value: $of = $is;

        impl Ordinary for $of {
            #[inline]
            fn ordinary() -> &'static Self {
                &$value
            }
        }
    )*};
}

ordinary! {
    SCHEDULE: Schedule = Schedule { running: Vec::new(), waiting: BTreeMap::new() };
    PLAYBACK: Playback = Playback::ORDINARY;
    STEERING: Steering = Steering::ORDINARY;
    CALLBACKS: Vec<AddedCallback> = Vec::new();
    KEYS: Vec<AddedKey> = Vec::new();
    RANGES: Vec<OpenRange> = Vec::new();
    NAMES: Vec<AnimationName> = Vec::new();
}
