//! State that only few tracks have.

use super::{AnimationName, TrackId, steering::Steering, track_types::Overlay};
use serde::{Deserialize, Serialize};
use std::ops::{Deref, DerefMut};

/// State that few tracks have, in a box that only these have: a crowd's time is spent on memory.
///
/// Written to, it gets its box, so write only what is new.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Rare(Option<Box<RareState>>);

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

/// What most tracks have.
static ORDINARY: RareState = RareState {
    steering: Steering::ORIGIN,
    scrub: None,
    phase: 0.0,
    leads: None,
    led_by: None,
    layer: None,
    overlay: None,
};

impl Default for RareState {
    fn default() -> Self {
        ORDINARY.clone()
    }
}

impl Rare {
    /// The state to change, if it was ever written to.
    #[inline]
    pub(super) fn get_mut(&mut self) -> Option<&mut RareState> {
        self.0.as_deref_mut()
    }
}

impl Deref for Rare {
    type Target = RareState;

    #[inline]
    fn deref(&self) -> &RareState {
        self.0.as_deref().unwrap_or(&ORDINARY)
    }
}

impl DerefMut for Rare {
    fn deref_mut(&mut self) -> &mut RareState {
        self.0.get_or_insert_default()
    }
}

impl PartialEq for Rare {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}
