//! Positions of tracks as places in clips: positions are unwrapped, so they go on from loop to loop.

use super::clock::round;
use crate::{
    model::{BoundBlendSpace, ClipTiming, Member, PlaybackMode},
    numbers::finite,
};
use serde::{Deserialize, Serialize};

/// The length and playback of a track's clip.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Known {
    /// Seconds, finite and ≥ 0.
    pub(crate) length: f64,
    pub(crate) playback: PlaybackMode,
}

impl Known {
    /// The clip's, with the track's own playback if it has one.
    pub(crate) fn new(timing: &ClipTiming, playback: Option<PlaybackMode>) -> Self {
        Self {
            length: finite(timing.duration).max(0.0),
            playback: playback.unwrap_or(timing.playback),
        }
    }

    /// A blend space's, in phases.
    pub(crate) fn of_space(space: &BoundBlendSpace, playback: Option<PlaybackMode>) -> Self {
        let length = if space.has_length() { 1.0 } else { 0.0 };
        Self {
            length,
            playback: playback.unwrap_or(space.playback()),
        }
    }

    /// That of a clip in a blend space, given how the space's cycle plays.
    pub(crate) fn of_member(member: &Member, space: &BoundBlendSpace, cycle: PlaybackMode) -> Self {
        Self {
            length: member.length,
            playback: member.playback(space, cycle),
        }
    }

    pub(crate) fn plays_once(&self) -> bool {
        self.playback == PlaybackMode::Once
    }

    /// Returns `true` if a position is at the end that lies in a direction, or beyond.
    pub(crate) fn is_at_end(&self, position: f64, forward: bool) -> bool {
        if forward {
            position >= self.length
        } else {
            position <= 0.0
        }
    }

    /// Returns the length of a loop; 0 if there are none.
    pub(crate) fn period(&self) -> f64 {
        match self.playback {
            PlaybackMode::Once => 0.0,
            PlaybackMode::Loop => self.length,
            PlaybackMode::PingPong => 2.0 * self.length,
        }
    }

    /// Returns the place in the clip, in `0..=length`, of a position.
    #[inline]
    pub(crate) fn place(&self, position: f64) -> f64 {
        self.playback.place(self.length, position)
    }

    /// Returns a position, within the clip if it plays once.
    #[inline]
    pub(crate) fn hold(&self, position: f64) -> f64 {
        if self.plays_once() {
            position.max(0.0).min(self.length)
        } else {
            position
        }
    }

    /// Returns the position at which the present loop starts; 0 for a clip that plays once. A position that differs from
    /// a loop's end only by rounding is in the next loop.
    pub(crate) fn loop_start(&self, position: f64) -> f64 {
        let period = self.period();
        if period <= 0.0 {
            return 0.0;
        }
        let comparable = |position: f64| comparable(self.length, position);
        let (n, at) = ((position / period).floor(), comparable(position));
        // The quotient or the position may have been rounded into an adjacent loop.
        let n = if comparable(n * period) > at {
            n - 1.0
        } else if comparable((n + 1.0) * period) <= at {
            n + 1.0
        } else {
            n
        };
        n * period
    }

    /// Returns the position of a place in the clip in the same loop as another position, and on the same way of a ping-pong
    /// clip.
    pub(crate) fn in_same_loop(&self, position: f64, place: f64) -> f64 {
        let place = place.clamp(0.0, self.length);
        if place.is_nan() {
            return place;
        }
        let start = self.loop_start(position);
        let returns = self.playback == PlaybackMode::PingPong && position - start > self.length;
        if returns {
            start + 2.0 * self.length - place
        } else {
            start + place
        }
    }
}

/// Clamps a phase to a cycle that plays once.
#[inline]
pub(crate) fn held_phase(phase: f64) -> f64 {
    if tick(phase) <= 0.0 {
        0.0
    } else if tick(phase) >= tick(1.0) {
        1.0
    } else {
        phase
    }
}

/// Returns a position for comparison: on the grid, unless the clip is too short for it.
#[inline]
fn comparable(length: f64, position: f64) -> f64 {
    if length < 1e-3 && length > 0.0 {
        position
    } else {
        tick(position)
    }
}

/// Rounds seconds to a grid of 2⁻³⁰ s (about a nanosecond) and returns the number of grid steps.
///
/// Numbers that would be equal without rounding errors, such as the end of a frame and a key right on it, are
/// compared on this grid, so it does not matter which of them was rounded up. Grid steps are whole numbers:
/// unlike a comparison with a tolerance, theirs cannot hold twice, or not at all.
#[inline]
fn tick(seconds: f64) -> f64 {
    round(seconds * (1_u64 << 30) as f64)
}

#[cfg(test)]
#[path = "tests/playhead.rs"]
mod tests;
