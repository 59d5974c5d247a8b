//! What a clip does at its end.

use serde::{Deserialize, Serialize};

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

#[cfg(test)]
#[path = "tests/playback.rs"]
mod tests;
