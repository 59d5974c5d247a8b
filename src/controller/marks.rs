//! Marks on a track's way: callback keys, the ends of ranges, and the ends of loops.
//!
//! Positions are unwrapped: they go on from loop to loop, so a key `k` of a clip of length P is a row of fixed
//! numbers, `k + n·P`. A track has passed those up to its anchor, and the next one is the least beyond it:
//!
//! ```text
//! loop of length P, one key at k
//! position   0     k          P    P+k        2P   2P+k
//!            ├─────●──────────┼─────●──────────┼─────●────
//!                 anchor ▲     next ▲
//! ```
//!
//! Numbers that mean the same place are computed by the same expression, so places are compared exactly: the end of loop n
//! and the start of loop n + 1 are both `(n + 1)·P`, and no key of loop n lies beyond it.
//!
//! In a blend space, a position is a phase, and the keys of its clips lie at the phases at which the clips pass them.

use super::{KeyRef, clock::Nanos, course::Weighing, motion::Instant};
use crate::{
    controller::{
        key::{AddedCallback, AddedKey, Key, Keys},
        playhead::Known,
    },
    model::{CallbackKey, Member, PlaybackMode},
};
use std::sync::Arc;

/// The next place at which a track passes something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Next {
    pub(super) when: Instant,
    /// The place, as a position of the track.
    pub(super) place: f64,
}

impl Default for Next {
    /// Returns nothing: it would be passed at the end of time.
    fn default() -> Self {
        let when = Instant::at(Nanos::MAX);
        Self { when, place: 0.0 }
    }
}

/// A clip on a track's way: the track's own, or one that weighs in its blend space.
#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    pub(super) known: Known,
    /// The clip's index.
    pub(super) clip: usize,
    pub(super) own: &'a [CallbackKey],
    pub(super) added: &'a [AddedKey],
    pub(super) callbacks: &'a [AddedCallback],
    /// The clip of a blend space, and how it weighs.
    pub(super) member: Option<(&'a Member, &'a Weighing)>,
}

/// Something that a track passes at a place.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mark {
    /// A plain key, at a time in the clip.
    Key(KeyRef, f64),
    /// The start of a loop. A ping-pong clip goes there and back in each.
    Loop,
    /// An end of a range.
    Range(Range),
    /// The end of a clip that plays once.
    End,
}

/// A range that is entered or left.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub(super) key: KeyRef,
    /// Its beginning and end in the clip, in seconds.
    pub(super) span: [f64; 2],
    pub(super) crossing: Crossing,
    /// The places in the clip where it is entered and left.
    pub(super) enters_at: f64,
    pub(super) leaves_at: f64,
}

/// The way in which a track crosses one end of a range, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Crossing {
    None,
    Enters,
    Leaves,
    /// It is left at the end of a loop, and entered again.
    LeavesAndEnters,
    /// It has no length.
    Flashes,
}

impl Mark {
    fn of(plain: Key) -> Self {
        Self::Key(plain.key, plain.time)
    }
}

impl<'a> Line<'a> {
    /// The line of a clip without keys.
    pub(super) fn of(known: Known) -> Self {
        Self {
            known,
            clip: 0,
            own: &[],
            added: &[],
            callbacks: &[],
            member: None,
        }
    }

    pub(super) fn keys(&self) -> Keys<'a> {
        Keys::new(self.own, self.added, self.callbacks, self.known.length)
    }

    pub(super) fn ranges(&self) -> impl DoubleEndedIterator<Item = (Key<'a>, f64)> + use<'a> {
        self.keys().filter_map(|key| Some((key, key.until?)))
    }

    pub(super) fn has_ranges(&self) -> bool {
        self.own.iter().any(|key| key.until.is_some()) || self.added.iter().any(AddedKey::is_range)
    }

    pub(super) fn member_name(&self) -> Option<&'a Arc<str>> {
        self.member.map(|(member, _)| &member.name)
    }

    /// The track's position for a place on the line.
    pub(super) fn coordinate(&self, place: f64) -> f64 {
        self.member.map_or(place, |(member, _)| {
            member.phase(self.known.playback, place)
        })
    }

    /// The place on the line for a position of the track.
    pub(super) fn place(&self, coordinate: f64) -> f64 {
        self.member.map_or(coordinate, |(member, _)| {
            member.place(self.known.playback, coordinate)
        })
    }

    /// The loop that a place is in: the last that starts at or before it. `None` beyond what numbers can tell apart.
    pub(super) fn loop_of(&self, place: f64) -> Option<f64> {
        let period = self.known.period();
        if period <= 0.0 {
            return Some(0.0);
        }
        let mut n = (place / period).floor();
        if n * period > place {
            n -= 1.0;
        } else if (n + 1.0) * period <= place {
            n += 1.0;
        }
        (n.abs() < (1_u64 << 52) as f64).then_some(n)
    }

    /// The places of a key in a loop: on the way there, and back.
    pub(super) fn places(&self, n: f64, time: f64) -> [Option<f64>; 2] {
        let (length, period) = (self.known.length, self.known.period());
        let (base, next) = (n * period, (n + 1.0) * period);
        match self.known.playback {
            PlaybackMode::Once => [Some(time), None],
            PlaybackMode::Loop => [
                Some(if time >= length {
                    next
                } else {
                    (base + time).min(next)
                }),
                None,
            ],
            PlaybackMode::PingPong => {
                let middle = (2.0 * n + 1.0) * length;
                let there = if time >= length {
                    middle
                } else {
                    (base + time).min(middle)
                };
                let inner = time > 0.0 && time < length;
                // Not `clamp`, which panics at a NaN: twice the longest length is infinite.
                let back = || (next - time).max(middle).min(next);
                [Some(there), inner.then(back)]
            }
        }
    }

    /// The intervals of a range in a loop. Where a ping-pong clip turns around inside, it does not leave; one that is in the
    /// whole of it never does.
    pub(super) fn intervals(&self, n: f64, begin: f64, end: f64) -> [Option<[f64; 2]>; 2] {
        let (length, next) = (self.known.length, (n + 1.0) * self.known.period());
        match self.known.playback {
            PlaybackMode::PingPong => {
                let middle = (2.0 * n + 1.0) * length;
                let there = |n: f64, time: f64| self.places(n, time)[0].unwrap_or(middle);
                let back = |time: f64| {
                    self.places(n, time)[1].unwrap_or(if time >= length { middle } else { next })
                };
                match (begin <= 0.0, end >= length) {
                    (true, true) if length > 0.0 => {
                        [Some([f64::NEG_INFINITY, f64::INFINITY]), None]
                    }
                    (_, true) => [Some([there(n, begin), back(begin)]), None],
                    (true, _) => [Some([back(end), there(n + 1.0, end)]), None],
                    _ => [
                        Some([there(n, begin), there(n, end)]),
                        Some([back(end), back(begin)]),
                    ],
                }
            }
            _ => [
                self.places(n, begin)[0]
                    .zip(self.places(n, end)[0])
                    .map(|(begin, end)| [begin, end]),
                None,
            ],
        }
    }

    /// The loops around a place that something near it may be in.
    fn near(&self, n: f64) -> impl DoubleEndedIterator<Item = f64> + use<> {
        let loops = match (self.known.playback, self.member) {
            (PlaybackMode::Once, _) => 0..=0,
            (_, None) => -1..=1,
            // A place is known from a phase only up to rounding.
            _ => -2..=2,
        };
        loops.map(move |more| n + f64::from(more))
    }

    /// The intervals of a range that something near a place of a loop may be in.
    fn intervals_near(
        &self,
        nth: f64,
        begin: f64,
        end: f64,
    ) -> impl Iterator<Item = [f64; 2]> + '_ {
        let intervals = move |n| self.intervals(n, begin, end);
        self.near(nth).flat_map(intervals).flatten()
    }

    /// Returns the distance within which two places count as one: a place that was computed by way of a phase, or of the
    /// track's leader, is only known up to rounding.
    pub(super) fn near_to(&self, place: f64) -> f64 {
        64.0 * f64::EPSILON * place.abs().max(self.known.length)
    }

    /// Calls `sink` for everything but ranges at a position, in the order in which it is passed.
    ///
    /// A loop begins before its keys, and backwards after them.
    pub(super) fn at(&self, position: f64, forward: bool, mut sink: impl FnMut(Mark)) {
        let Some(nth) = self.loop_of(self.place(position)) else {
            return;
        };
        let mut loops = self.near(nth);
        while let Some(n) = if forward {
            loops.next()
        } else {
            loops.next_back()
        } {
            // Only at the end of a loop is a place in two of them.
            if self.member.is_none() && n != nth && nth * self.known.period() != position {
                continue;
            }
            let begins = self.member.is_none()
                && self.known.period() > 0.0
                && n * self.known.period() == position;
            if forward && begins {
                sink(Mark::Loop);
            }
            self.keys_at(n, position, forward, &mut sink);
            if !forward && begins {
                sink(Mark::Loop);
            }
        }
    }

    /// Calls `sink` for every plain key that a track fires as it begins at a position: those of the loop that it enters.
    pub(super) fn at_start(&self, position: f64, forward: bool, mut sink: impl FnMut(Mark)) {
        if self.known.length <= 0.0 {
            return self.plain().for_each(|key| sink(Mark::of(key)));
        }
        let Some(nth) = self.loop_of(self.place(position)) else {
            return;
        };
        let at_boundary =
            self.known.period() > 0.0 && self.coordinate(nth * self.known.period()) == position;
        if forward || !at_boundary {
            return self.keys_at(nth, position, forward, &mut sink);
        }
        // A clip that begins at its start fires the keys there, in whichever direction it leaves.
        if nth == 0.0 || self.known.playback == PlaybackMode::PingPong {
            self.plain()
                .filter(|key| key.time <= 0.0)
                .for_each(|key| sink(Mark::of(key)));
        }
        self.keys_at(nth - 1.0, position, forward, &mut sink);
    }

    fn plain(&self) -> impl DoubleEndedIterator<Item = Key<'a>> + use<'a> {
        self.keys().filter(|key| key.until.is_none())
    }

    /// Calls `sink` for every plain key of a loop at a position.
    fn keys_at(&self, n: f64, position: f64, forward: bool, sink: &mut impl FnMut(Mark)) {
        // The places on the way there, and those on the way back in the reverse order.
        let (first, then) = if forward { (0, 1) } else { (1, 0) };
        let is_here = |key: &Key, way: usize| {
            let place = self.places(n, key.time)[way];
            place.is_some_and(|place| self.coordinate(place) == position)
        };
        let in_order = self.plain().filter(|key| is_here(key, first));
        in_order.for_each(|key| sink(Mark::of(key)));
        let reverse = self.plain().rev().filter(|key| is_here(key, then));
        reverse.for_each(|key| sink(Mark::of(key)));
    }

    /// Returns the way in which a track crosses a range as it passes a position.
    pub(super) fn crossing(&self, begin: f64, end: f64, position: f64, forward: bool) -> Crossing {
        let Some(nth) = self.loop_of(self.place(position)) else {
            return Crossing::None;
        };
        let is_here = |place: f64| self.coordinate(place) == position;
        let (mut enters, mut leaves) = (false, false);
        for [low, high] in self.intervals_near(nth, begin, end) {
            let (first, last) = if forward { (low, high) } else { (high, low) };
            if is_here(first) && is_here(last) {
                return Crossing::Flashes;
            }
            enters |= is_here(first);
            leaves |= is_here(last);
        }
        match (leaves, enters) {
            (false, false) => Crossing::None,
            (false, true) => Crossing::Enters,
            (true, false) => Crossing::Leaves,
            (true, true) => Crossing::LeavesAndEnters,
        }
    }

    /// Returns `true` if a track at a position is in a range; `None` if it is right at one of its ends. A track that moves is
    /// inside at the end that it comes to first.
    pub(super) fn contains(
        &self,
        begin: f64,
        end: f64,
        position: f64,
        direction: Option<bool>,
    ) -> Option<bool> {
        let place = self.place(position);
        let Some(nth) = self.loop_of(place) else {
            return Some(false);
        };
        let near = self.near_to(place);
        let mut at_end = false;
        for [low, high] in self.intervals_near(nth, begin, end) {
            let (is_low, is_high) = ((place - low).abs() <= near, (place - high).abs() <= near);
            match direction {
                _ if is_low && is_high => {}
                Some(true) if is_low => return Some(true),
                Some(false) if is_high => return Some(true),
                _ if is_low || is_high => at_end |= direction.is_none(),
                _ if low < place && place < high => return Some(true),
                _ => {}
            }
        }
        (!at_end).then_some(false)
    }

    /// Returns `true` if a range that began goes on at a position, for a track that goes one way.
    ///
    /// At either end of the range, it leaves when it goes on. At the end of a clip that plays once it doesn't, so there the
    /// range is over.
    pub(super) fn holds(&self, begin: f64, end: f64, position: f64, forward: bool) -> bool {
        let is_over = self.known.plays_once() && self.known.is_at_end(position, forward);
        let contains = |direction| self.contains(begin, end, position, direction);
        contains(None) != Some(false) && (!is_over || contains(Some(forward)) == Some(true))
    }

    /// The place in the clip at which a range begins or ends for a track at a position.
    pub(super) fn range_place(&self, begin: f64, end: f64, position: f64, first: bool) -> f64 {
        match self.known.playback {
            PlaybackMode::PingPong => {
                let place = self.known.place(self.place(position));
                if (place - begin).abs() <= (place - end).abs() {
                    begin
                } else {
                    end
                }
            }
            _ if first => begin,
            _ => end,
        }
    }
}
