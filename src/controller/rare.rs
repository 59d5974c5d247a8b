//! State that only few tracks have.

use super::{AnimationName, TrackId, steering::Steering, track_types::Overlay};
use serde::{Deserialize, Serialize};
use std::ops::{Deref, DerefMut};

/// State that few tracks or controllers have, in a box that only these have: a crowd's time is spent on memory.
///
/// Written to, it gets its box, so write only what is new.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Rare<T>(Option<Box<T>>);

/// A type with a value that most have.
pub(super) trait Ordinary: Default + 'static {
    /// Returns the default.
    fn ordinary() -> &'static Self;
}

/// State that only few tracks have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct RareState {
    /// The parameters of a blend space.
    pub(super) steering: Steering,
    /// Position to which the next advance moves the track, firing the keys on the way.
    pub(super) scrub: Option<f64>,
    /// Seconds by which the track lags behind the phase of its sync group: whole loops that the others had played when it
    /// joined, or have played while it waited at its end.
    pub(super) phase: f64,
    /// The sync group that it leads.
    pub(super) leads: Option<u32>,
    /// The track at whose fraction of its length it stays, whatever its group: that of a layer of states which its layer
    /// follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) led_by: Option<TrackId>,
    /// The layer of states whose transitions it fades with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) layer: Option<AnimationName>,
    /// For overlays that leave by themselves: their fade.
    pub(super) overlay: Option<Overlay>,
}

static ORDINARY: RareState = RareState {
    steering: Steering::ORIGIN,
    scrub: None,
    phase: 0.0,
    leads: None,
    led_by: None,
    layer: None,
    overlay: None,
};

impl Ordinary for RareState {
    #[inline]
    fn ordinary() -> &'static Self {
        &ORDINARY
    }
}

impl Default for RareState {
    fn default() -> Self {
        ORDINARY.clone()
    }
}

impl<T> Rare<T> {
    /// The state to change, if it was ever written to.
    #[inline]
    pub(super) fn get_mut(&mut self) -> Option<&mut T> {
        self.0.as_deref_mut()
    }
}

impl<T> Default for Rare<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: Ordinary> Deref for Rare<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        match &self.0 {
            Some(own) => own,
            None => T::ordinary(),
        }
    }
}

impl<T: Ordinary> DerefMut for Rare<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.get_or_insert_default()
    }
}

impl<T: Ordinary + PartialEq> PartialEq for Rare<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}
