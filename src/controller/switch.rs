//! Switches: a new clip starts at once, and the offset from the old pose decays.
//!
//! ```text
//! switch("jog")     ●                     ● the difference is gone
//! walk   weight 1 ──┘
//! jog    weight 1   ┌────────────────────────
//! difference        ╲___________.........
//! ```
//!
//! The controller only records what there was to see at the moment of a switch: which clips, where in them, and how
//! fast they went. That is plain state, which is saved and rolled back like the rest. The pose makes offsets of it
//! ([`Inertia`](crate::pose::Inertia)), which can be made again at any time.

use super::{AnimationName, clock::Nanos};
use serde::{Deserialize, Serialize};

/// The most switches that decay at a time. One more is a cross-fade.
pub(crate) const MOST_SWITCHES: usize = 8;

/// A switch whose offset is still decaying. See [`Transition::switch`](super::Transition::switch).
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Switch {
    pub(super) begin: Nanos,
    pub(crate) duration: f64,
    pub(crate) from: Vec<SwitchLayer>,
    pub(crate) to: Vec<SwitchLayer>,
}

/// A clip at the moment of a [`Switch`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SwitchLayer {
    /// Name of the clip.
    pub clip: AnimationName,
    /// The place in the clip, in seconds.
    pub time: f64,
    /// Rate of change of the place, in seconds of clip per second; negative for backward.
    pub rate: f64,
    /// The weight before normalization, > 0.
    pub weight: f32,
    /// Rate of change of the weight, per second.
    pub weight_rate: f32,
    /// Name of the mask; `None` reaches every joint.
    pub mask: Option<AnimationName>,
}

impl Clone for Switch {
    fn clone(&self) -> Self {
        Self {
            from: self.from.clone(),
            to: self.to.clone(),
            ..*self
        }
    }

    /// Keeps the memory of the list.
    fn clone_from(&mut self, other: &Self) {
        self.from.clone_from(&other.from);
        self.to.clone_from(&other.to);
        let [from, to] = [&mut self.from, &mut self.to].map(std::mem::take);
        *self = Self { from, to, ..*other };
    }
}

impl Switch {
    /// Returns the number of clips it keeps.
    pub(super) fn parts(&self) -> usize {
        self.from.len() + self.to.len()
    }

    /// Returns when it happened, in seconds of global time.
    pub fn begin(&self) -> f64 {
        self.begin.secs()
    }

    /// Returns how long the offset takes to decay, in seconds, > 0.
    pub fn duration(&self) -> f64 {
        self.duration
    }

    /// Returns the clips that ended, and the new one if it was there already.
    pub fn from(&self) -> &[SwitchLayer] {
        &self.from
    }

    /// Returns the clip that began; several if it is a blend space.
    pub fn to(&self) -> &[SwitchLayer] {
        &self.to
    }

    /// Returns how much of the difference is left at a moment of global time: 1 at the switch, 0 at the end.
    pub fn remaining(&self, time: f64) -> f32 {
        let progress = ((time - self.begin()) / self.duration).clamp(0.0, 1.0);
        ((1.0 - progress).powi(4) * (1.0 + 4.0 * progress)) as f32
    }

    /// Returns the moment at which the offset has decayed.
    pub(super) fn end(&self) -> Nanos {
        self.begin.plus(Nanos::from_secs(self.duration))
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        let Self {
            duration, from, to, ..
        } = self;
        let is_sound = |layer: &SwitchLayer| {
            let numbers =
                layer.time.is_finite() && layer.rate.is_finite() && layer.weight_rate.is_finite();
            numbers && layer.weight.is_finite() && layer.weight >= 0.0
        };
        let sound = duration.is_finite() && *duration > 0.0;
        if sound && from.iter().chain(to).all(is_sound) {
            Ok(())
        } else {
            Err("one of the numbers of a switch is not finite, or out of range".to_owned())
        }
    }
}
