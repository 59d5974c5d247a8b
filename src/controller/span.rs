//! Where a range is, on the line of unwrapped positions.

use crate::{
    controller::{
        playhead::{periodic, place, round_of},
        track_types::Known,
    },
    model::PlaybackMode,
};

/// A range of a clip, on the line of unwrapped positions.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    length: f64,
    playback: PlaybackMode,
    begin: f64,
    end: f64,
}

/// The interval of a round between two positions.
type Interval = [f64; 2];

impl Span {
    /// `begin` and `end` are in the clip.
    pub(crate) fn new(Known { length, playback }: Known, begin: f64, end: f64) -> Self {
        // Saved numbers may be anything.
        let begin = begin.max(0.0).min(length);
        Self {
            length,
            playback,
            begin,
            end: end.max(begin).min(length),
        }
    }

    fn place(&self, position: f64) -> f64 {
        place(self.length, position)
    }

    fn period(&self) -> f64 {
        match self.playback {
            PlaybackMode::Once => 0.0,
            PlaybackMode::Loop => self.length,
            PlaybackMode::PingPong => 2.0 * self.length,
        }
    }

    /// The range's intervals in round `n`, in order; the second may be empty. Numbers that mean the same place are
    /// computed by the same expression.
    fn intervals(&self, n: f64) -> [Option<Interval>; 2] {
        let Self {
            length,
            playback,
            begin,
            end,
        } = *self;
        let period = self.period();
        let (base, next) = (n * period, (n + 1.0) * period);
        let (from_start, to_end) = (begin <= 0.0, end >= length);
        match playback {
            PlaybackMode::Once => [Some([begin, end]), None],
            PlaybackMode::Loop => {
                let at = |time: f64| {
                    if time >= length {
                        next
                    } else {
                        (base + time).min(next)
                    }
                };
                [Some([at(begin), at(end)]), None]
            }
            PlaybackMode::PingPong if self.is_endless() => {
                [Some([f64::NEG_INFINITY, f64::INFINITY]), None]
            }
            // Where it turns around inside, it does not leave.
            PlaybackMode::PingPong if to_end => [Some([base + begin, next - begin]), None],
            PlaybackMode::PingPong if from_start => [Some([next - end, next + end]), None],
            PlaybackMode::PingPong => [
                Some([base + begin, base + end]),
                Some([next - end, next - begin]),
            ],
        }
    }

    fn round(&self, position: f64) -> f64 {
        let period = self.period();
        if period > 0.0 {
            round_of(self.length, period, position)
        } else {
            0.0
        }
    }

    /// The intervals in the round of a position and in those beside it.
    fn near(&self, position: f64) -> impl Iterator<Item = Interval> + use<> {
        let (span, n) = (*self, self.round(position));
        let rounds = if span.period() > 0.0 {
            &[-1.0, 0.0, 1.0][..]
        } else {
            &[0.0]
        };
        rounds
            .iter()
            .flat_map(move |offset| span.intervals(n + offset))
            .flatten()
    }

    /// Returns `true` if a position is in the range for a playhead that goes one way: at the end that it reaches last,
    /// it is outside.
    pub(crate) fn contains(&self, position: f64, forward: bool) -> bool {
        let at = self.place(position);
        self.near(position).any(|[low, high]| {
            let (low, high) = (self.place(low), self.place(high));
            if forward {
                low <= at && at < high
            } else {
                low < at && at <= high
            }
        })
    }

    /// Returns `true` if a position is in the range or at either end.
    pub(crate) fn touches(&self, position: f64) -> bool {
        let at = self.place(position);
        self.near(position)
            .any(|[low, high]| self.place(low) <= at && at <= self.place(high))
    }

    /// Returns `true` if a range that began goes on at a position, for a playhead that goes one way.
    ///
    /// At either end of the range, it leaves when it goes on. At the end of a clip that plays once it doesn't, so there the
    /// range is over.
    pub(crate) fn holds(&self, position: f64, forward: bool) -> bool {
        let at = self.place(position);
        let is_over = if forward {
            at >= self.place(self.length)
        } else {
            at <= 0.0
        };
        self.touches(position)
            && !(self.playback == PlaybackMode::Once
                && is_over
                && !self.contains(position, forward))
    }

    /// Returns `true` if a position is in the range and at neither end.
    pub(crate) fn encloses(&self, position: f64) -> bool {
        let at = self.place(position);
        self.near(position)
            .any(|[low, high]| self.place(low) < at && at < self.place(high))
    }

    /// Returns `true` if the range is the whole of a ping-pong clip, which is never left.
    fn is_endless(&self) -> bool {
        let whole = self.begin <= 0.0 && self.end >= self.length;
        self.playback == PlaybackMode::PingPong && whole && self.length > 0.0
    }

    /// The place in the clip at which a playhead that passes a begin or an end is.
    pub(crate) fn place_of(&self, position: f64, begins: bool, forward: bool) -> f64 {
        let first = match self.playback {
            PlaybackMode::PingPong => {
                let place = periodic(self.playback, self.length, position);
                (place - self.begin).abs() <= (place - self.end).abs()
            }
            _ => begins == forward,
        };
        if first { self.begin } else { self.end }
    }

    /// Calls `sink` with each begin (`true`) and end on the way, in order, until it returns `false`. `to` belongs to the
    /// way, `from` does not.
    pub(crate) fn cross(
        &self,
        from: f64,
        to: f64,
        forward: bool,
        mut sink: impl FnMut(f64, bool) -> bool,
    ) {
        let (start, goal) = (self.place(from), self.place(to));
        let passes = |position: f64| {
            let at = self.place(position);
            if forward {
                at > start && at <= goal
            } else {
                at < start && at >= goal
            }
        };
        if self.is_endless() {
            return;
        }
        let periodic = self.period() > 0.0;
        let step = if forward { 1.0 } else { -1.0 };
        // Some intervals reach into the next round.
        let mut n = self.round(from) - step;
        loop {
            let mut intervals = self.intervals(n);
            if !forward {
                intervals.reverse();
            }
            let mut beyond = true;
            for [low, high] in intervals.into_iter().flatten() {
                let (first, second) = if forward { (low, high) } else { (high, low) };
                let reached = |at: f64| {
                    if forward {
                        self.place(at) <= goal
                    } else {
                        self.place(at) >= goal
                    }
                };
                beyond &= !reached(first);
                if passes(first) && !sink(first, true) || passes(second) && !sink(second, false) {
                    return;
                }
            }
            // Past 2⁵³ rounds the next one is the same number.
            if !periodic || beyond || n + step == n || !(n * self.period()).is_finite() {
                return;
            }
            n += step;
        }
    }
}
