//! Where a range is, on the line of unwrapped positions.

use crate::{
    controller::{
        playhead::{place, round_of},
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

    /// Returns `true` if the range is the whole of a ping-pong clip, which is never left.
    fn is_endless(&self) -> bool {
        let whole = self.begin <= 0.0 && self.end >= self.length;
        self.playback == PlaybackMode::PingPong && whole && self.length > 0.0
    }
}
