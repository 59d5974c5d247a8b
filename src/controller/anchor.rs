//! Positions of tracks, as functions of the time since an anchor.
//!
//! ```text
//! position   ●─────────────▶ from + the distance since the anchor
//!          anchor           │
//!        time · place       ◆ next: what it passes next, when, and where
//! ```
//!
//! An anchor is where the track passed something last, or was put, or began to move otherwise. It lies at a moment that does
//! not depend on how time is divided into steps, and so does everything that is computed from it.

use super::{clock::Nanos, motion::Instant};
use crate::stamp::Stamp;
use serde::{Deserialize, Serialize};

/// Place of a track at a moment, and the law by which it moves from there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Anchor {
    since: Nanos,
    /// Nanoseconds after that moment, from −½ to ½, at which it was there.
    rest: f64,
    /// The place, unwrapped. What lies there has been passed.
    pub(super) from: f64,
    pub(super) law: Law,
}

/// A number that tells what decides on a track's speed. While it stays the same, so does the anchor.
///
/// 0 if the track rests, and odd if it follows the leader of its sync group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Law(u64);

impl Law {
    pub(super) fn alone(stamp: Stamp) -> Self {
        Self(stamp.0 & !1 | 2)
    }

    pub(super) fn led(stamp: Stamp) -> Self {
        Self(stamp.0 | 1)
    }

    /// Returns `true` if the track moves at all.
    #[inline]
    pub(super) fn moves(self) -> bool {
        self.0 != 0
    }

    /// Returns `true` if the track goes where its leader takes it.
    #[inline]
    pub(super) fn follows(self) -> bool {
        self.0 & 1 == 1
    }
}

impl Anchor {
    pub(super) fn new(since: Nanos, from: f64, law: Law) -> Self {
        Self {
            since,
            rest: 0.0,
            from,
            law,
        }
    }

    pub(super) fn instant(&self) -> Instant {
        Instant {
            moment: self.since,
            rest: self.rest,
        }
    }

    /// Notes that it passed a place.
    pub(super) fn pass(&mut self, Instant { moment, rest }: Instant, from: f64) {
        (self.since, self.rest, self.from) = (moment, rest, from);
    }

    pub(super) fn shift(&mut self, by: Nanos) {
        self.since = self.since.minus(by);
    }

    pub(super) fn is_sound(&self) -> bool {
        self.rest.is_finite() && self.from.is_finite()
    }
}
