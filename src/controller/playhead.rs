//! What a moving playhead passes: callback keys, loops and the end, each exactly once.
//!
//! A position is unwrapped: it runs on through the rounds of a loop. A key of the clip is thus a row
//! of fixed numbers on the line of positions, `k + n·P` for a loop of length P, and what is passed is
//! a matter of comparing those numbers with the two ends of the way. Ways that join without a gap
//! share their ends bit for bit, so nothing can fall between them or fire twice. There is no epsilon:
//! the numbers are compared on a grid of about a nanosecond, where what is equal but for rounding is equal.
//!
//! Numbers that mean the same place are computed by the same expression: the end of round n and the
//! start of round n + 1 are both `(n + 1)·P`, and no key of round n lies beyond it.

use super::exact::tick;
use crate::model::PlaybackMode;

/// A position for comparison, in a clip of a given length: on the grid, unless the clip is so short
/// that the grid is too coarse for it.
#[inline]
pub(crate) fn place(length: f64, position: f64) -> f64 {
    if length < 1e-3 && length > 0.0 { position } else { tick(position) }
}

/// A position of a clip that plays once, kept within it.
#[inline]
pub(crate) fn held(length: f64, position: f64) -> f64 {
    if place(length, position) <= 0.0 {
        0.0
    } else if place(length, position) >= place(length, length) {
        length
    } else {
        position
    }
}

/// The place in a clip, in `0..=length`, of an unwrapped position. See
/// [`ClipTiming::periodic`](crate::model::ClipTiming::periodic), which this follows for any playback.
#[inline]
pub(crate) fn periodic(playback: PlaybackMode, length: f64, position: f64) -> f64 {
    let has_length = length > 0.0 && length.is_finite();
    if !has_length || !position.is_finite() {
        return 0.0;
    }
    match playback {
        PlaybackMode::Loop => remainder(position, length),
        PlaybackMode::Once => position.clamp(0.0, length),
        PlaybackMode::PingPong => {
            let turn = remainder(position, 2.0 * length);
            if turn <= length { turn } else { 2.0 * length - turn }
        }
    }
}

/// `position.rem_euclid(period)`, without a division bit by bit where the rounds are not many.
#[inline]
fn remainder(position: f64, period: f64) -> f64 {
    if 0.0 <= position && position < period {
        return position;
    }
    let rounds = position / period;
    // Small enough that the products below are exact, and large enough that nothing underflows.
    if !(1.0..1e6).contains(&rounds) || period < 1e-100 {
        return position.rem_euclid(period);
    }
    let n = rounds as u32 as f64;
    // The period's upper 26 bits and the rest: a product of n and either has no rounding error, nor have the
    // differences, which are multiples of the period's last bit and hardly larger than the period.
    let high = f64::from_bits(period.to_bits() & !((1 << 27) - 1));
    let rest = (position - n * high) - n * (period - high);
    // The quotient may have been rounded up to the next whole number.
    if rest < 0.0 { rest + period } else { rest }
}

/// The round in which a position lies: the last that starts at or before it.
fn round_of(length: f64, period: f64, position: f64) -> f64 {
    let n = (position / period).floor();
    let at = place(length, position);
    // The quotient, or the position, may have been rounded to a neighbour.
    if place(length, n * period) > at {
        n - 1.0
    } else if place(length, (n + 1.0) * period) <= at {
        n + 1.0
    } else {
        n
    }
}

/// The position at which the present round ends, in the direction of play.
pub(crate) fn round_end(playback: PlaybackMode, length: f64, position: f64, forward: bool) -> f64 {
    let period = match playback {
        PlaybackMode::Once => return if forward { length } else { 0.0 },
        PlaybackMode::Loop => length,
        PlaybackMode::PingPong => 2.0 * length,
    };
    if period <= 0.0 {
        return position;
    }
    let n = round_of(length, period, position);
    if forward {
        (n + 1.0) * period
    } else if place(length, n * period) == place(length, position) {
        (n - 1.0) * period
    } else {
        n * period
    }
}

/// Something passed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Passed<K> {
    /// A callback key.
    Key(K),
    /// The start of a round, of a loop or of a ping-pong's way there and back.
    Round,
    /// The end of a clip that plays once.
    End,
}

/// A way of the playhead in one direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    /// Length of the clip, finite and ≥ 0.
    pub(crate) length: f64,
    pub(crate) playback: PlaybackMode,
    /// Unwrapped positions, finite; `to` is reached. `from` is not part of the way, unless it is the first.
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) forward: bool,
    /// Whether the way begins at `from`: keys right there are passed too.
    pub(crate) first: bool,
}

impl Way {
    /// Calls `sink` for what is passed, in order, with its unwrapped position, until it returns false.
    ///
    /// `keys` yields times in `0..=length` in ascending order, from either end.
    pub(crate) fn pass<K, I>(self, keys: I, mut sink: impl FnMut(Passed<K>, f64) -> bool)
    where
        I: Iterator<Item = (f64, K)> + DoubleEndedIterator + Clone,
    {
        let (from, to) = (self.place(self.from), self.place(self.to));
        let still = if self.forward { from >= to } else { from <= to };
        if still && !self.first {
            return;
        }
        if self.playback == PlaybackMode::Once {
            self.once(keys, &mut sink);
        } else if self.length <= 0.0 {
            // A single pose has no rounds: its keys fire as it begins.
            if self.first {
                let _ = keys.into_iter().all(|(_, key)| sink(Passed::Key(key), self.from));
            }
        } else if self.playback == PlaybackMode::Loop {
            self.rounds(keys, &mut sink, self.length, Self::loop_round);
        } else {
            self.rounds(keys, &mut sink, 2.0 * self.length, Self::there_and_back);
        }
    }

    /// Whether the way is seen at a glance to pass nothing: it lies within one round of a loop, and no key
    /// on it. `times` are those of the keys.
    #[inline]
    pub(crate) fn is_plain(&self, mut times: impl Iterator<Item = f64>) -> bool {
        let Self { length, from, .. } = *self;
        if self.playback != PlaybackMode::Loop || self.first || length < 1e-3 || !(0.0..1e9).contains(&(from / length))
        {
            return false;
        }
        let n = (from / length) as u32 as f64;
        let (base, end) = (n * length, (n + 1.0) * length);
        let (from, to) = (tick(from), tick(self.to));
        // A way does not pass the place it starts from.
        let within =
            if self.forward { tick(base) <= from && to < tick(end) } else { tick(base) < to && from <= tick(end) };
        within
            && times.all(|time| {
                let key = tick(if time >= length { end } else { (base + time).min(end) });
                if self.forward { key <= from || key > to } else { key >= from || key < to }
            })
    }

    /// Whether nothing at all is passed.
    #[inline]
    pub(crate) fn passes_nothing<K, I>(self, keys: I) -> bool
    where
        I: Iterator<Item = (f64, K)> + DoubleEndedIterator + Clone,
    {
        let mut nothing = true;
        self.pass(keys, |_, _| {
            nothing = false;
            false
        });
        nothing
    }

    fn place(&self, position: f64) -> f64 {
        place(self.length, position)
    }

    /// Whether a position lies on the way.
    fn has(&self, position: f64) -> bool {
        let [from, at, to] = [self.from, position, self.to].map(|position| self.place(position));
        let (after, upto) = if self.forward { (at > from, at <= to) } else { (at < from, at >= to) };
        upto && (after || (self.first && at == from))
    }

    fn once<K>(self, keys: impl DoubleEndedIterator<Item = (f64, K)>, sink: &mut impl FnMut(Passed<K>, f64) -> bool) {
        let mut pass = |(time, key): (f64, K)| !self.has(time) || sink(Passed::Key(key), time);
        let mut keys = keys;
        let goes_on = if self.forward { keys.all(&mut pass) } else { keys.rev().all(&mut pass) };
        let end = if self.forward { self.length } else { 0.0 };
        let is_there = |position: f64| {
            let (at, end) = (self.place(position), self.place(end));
            if self.forward { at >= end } else { at <= end }
        };
        let (arrived, was_there) = (is_there(self.to), is_there(self.from));
        if goes_on && arrived && (!was_there || self.first) {
            sink(Passed::End, end);
        }
    }

    /// Goes through the rounds of a periodic clip.
    fn rounds<K, I, S>(self, keys: I, sink: &mut S, period: f64, round: impl Fn(&Self, I, &mut S, [f64; 3]) -> bool)
    where
        I: Iterator<Item = (f64, K)> + DoubleEndedIterator + Clone,
        S: FnMut(Passed<K>, f64) -> bool,
    {
        let (from, to) = (self.place(self.from), self.place(self.to));
        let mut n = round_of(self.length, period, self.from);
        if !self.forward && self.place(n * period) == from {
            n -= 1.0;
        }
        loop {
            let [base, end] = [n * period, (n + 1.0) * period];
            let beyond = if self.forward { self.place(base) > to } else { self.place(end) < to };
            // Past 2⁵³ rounds the next one is the same number: nothing can be told apart there.
            let stuck = n + 1.0 == n || n - 1.0 == n || !base.is_finite() || !end.is_finite();
            if beyond || stuck {
                return;
            }
            let starts = |s: &mut S| self.place(base) == from || !self.has(base) || s(Passed::Round, base);
            let middle = (2.0 * n + 1.0) * (0.5 * period);
            // A round begins before its keys, and backwards after them.
            if self.forward && !starts(sink) {
                return;
            }
            if !round(&self, keys.clone(), sink, [base, middle, end]) {
                return;
            }
            if !self.forward && !starts(sink) {
                return;
            }
            n += if self.forward { 1.0 } else { -1.0 };
        }
    }

    /// Passes the keys of one round of a loop: `base + k`.
    fn loop_round<K>(
        &self,
        keys: impl DoubleEndedIterator<Item = (f64, K)>,
        sink: &mut impl FnMut(Passed<K>, f64) -> bool,
        [base, _, end]: [f64; 3],
    ) -> bool {
        let mut pass = |(time, key): (f64, K)| {
            let at_end = time >= self.length;
            let at = if at_end { end } else { (base + time).min(end) };
            !self.has(at) || sink(Passed::Key(key), at)
        };
        let mut keys = keys;
        if self.forward { keys.all(&mut pass) } else { keys.rev().all(&mut pass) }
    }

    /// Passes the keys of one turn of a ping-pong: `base + k` on the way there, `end − k` on the way back,
    /// those at either end of the clip once.
    fn there_and_back<K, I>(
        &self,
        keys: I,
        sink: &mut impl FnMut(Passed<K>, f64) -> bool,
        [base, middle, end]: [f64; 3],
    ) -> bool
    where
        I: Iterator<Item = (f64, K)> + DoubleEndedIterator + Clone,
    {
        let length = self.length;
        let there = |time: f64| if time >= length { middle } else { (base + time).min(middle) };
        let back = |time: f64| (end - time).clamp(middle, end);
        let inner = |time: f64| time > 0.0 && time < length;
        let mut pass = |at: f64, key: K| !self.has(at) || sink(Passed::Key(key), at);
        if self.forward {
            keys.clone().all(|(time, key)| pass(there(time), key))
                && keys.rev().all(|(time, key)| !inner(time) || pass(back(time), key))
        } else {
            // Keys at the clip's start belong to the turn that begins there, which a first way back never enters.
            let begins = self.first && self.place(self.from) == self.place(end);
            keys.clone().all(|(time, key)| !(begins && time <= 0.0) || pass(end, key))
                && keys.clone().all(|(time, key)| !inner(time) || pass(back(time), key))
                && keys.rev().all(|(time, key)| pass(there(time), key))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remainder_is_that_of_a_euclidean_division_to_the_bit() {
        let mut random = fastrand::Rng::with_seed(5);
        for i in 0..200_000 {
            let period = (random.f64() + 0.01) * 10.0_f64.powi(random.i32(-4..4));
            let rounds = [random.f64() * 3.0, random.f64() * 2e6, f64::from(random.u32(..2000)), -random.f64() * 9.0];
            let near = [0, 1, -1][random.usize(..3)];
            let position = rounds[random.usize(..4)] * period;
            let position = f64::from_bits((position.to_bits() as i64 + near) as u64);
            let expected = position.rem_euclid(period);
            assert_eq!(remainder(position, period).to_bits(), expected.to_bits(), "{i}: {position} in {period}");
        }
    }
}
