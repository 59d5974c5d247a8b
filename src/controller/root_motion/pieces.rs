//! Movements of clips that turn, or whose shares change, integrated piece by piece.

use super::{
    gauss::{NODES, integrate},
    movers::Mover,
    shares::Blend,
};
use crate::{
    controller::{
        compensated::CompensatedF64,
        ramp::{Paced, Speed},
    },
    model::{RootDelta, Twist},
};

/// Pieces that one advance is cut into. What takes more is approximated by fewer.
const MOST_PIECES: usize = 1 << 14;

/// Pieces that the time between two cuts may always have.
const FEWEST_PIECES: usize = 4;

/// Pieces that a ramp is cut into.
const PIECES_OF_A_RAMP: f64 = 64.0;

/// The most that a share or a turn, in radians, may change in a piece that is integrated.
const MOST_CHANGE: [f64; 2] = [0.06, 0.25];

/// How often a piece is halved, at most.
const DEEPEST: u32 = 12;

/// The movement of one advance.
#[derive(Default)]
pub(crate) struct RootSum {
    movement: RootDelta,
    pieces: usize,
}

impl RootSum {
    pub(crate) fn movement(self) -> RootDelta {
        self.movement
    }

    #[inline]
    pub(crate) fn add(&mut self, movement: RootDelta) {
        let sum = self.movement.then(movement);
        if sum.is_finite() {
            self.movement = sum;
        }
    }
}

/// The time between two cuts, in pieces.
pub(crate) struct Pieces {
    blend: Blend,
    /// Whether shares or speeds change within a piece.
    uneven: bool,
    begin: CompensatedF64,
    end: CompensatedF64,
    /// Seconds of the longest and of the shortest piece.
    longest: Option<f64>,
    shortest: f64,
    most: usize,
    /// How often a piece may be halved: never, if there are too many anyway.
    deepest: u32,
}

impl Pieces {
    pub(crate) fn new(
        movers: &[Mover],
        blend: Blend,
        ramped: bool,
        [begin, end]: [CompensatedF64; 2],
        root: &RootSum,
    ) -> Self {
        let speed_ramp = |mover: &Mover| match mover.speed {
            Speed::Ramp(ramp) | Speed::Paced(Paced { ramp, .. }) if mover.goes() => Some(ramp),
            _ => None,
        };
        let uneven = ramped || movers.iter().any(|mover| speed_ramp(mover).is_some());
        let ramps = movers
            .iter()
            .flat_map(|mover| [mover.ramp, speed_ramp(mover)])
            .flatten()
            .chain(blend.ramp);
        // A steady speed in a blend space is a ramp from itself to itself.
        let ramps = ramps.filter(|ramp| ramp.from != ramp.to);
        let longest = ramps
            .map(|ramp| ramp.duration / PIECES_OF_A_RAMP)
            .min_by(f64::total_cmp);
        let span = (end - begin).value();
        let knots = |mover: &Mover| {
            mover.path.map_or(0.0, |path| {
                (mover.goal - mover.from).abs() * path.knots_per_second() + 2.0
            })
        };
        let wanted =
            movers.iter().map(knots).sum::<f64>() + longest.map_or(0.0, |longest| span / longest);
        let most = MOST_PIECES.saturating_sub(root.pieces).max(FEWEST_PIECES);
        // What is nearer than rounding is at one place.
        let mut shortest = 1e-10_f64.max(end.value() * 1e-15);
        let too_many = wanted > most as f64;
        if too_many {
            shortest = shortest.max(span / most as f64);
        }
        Self {
            blend,
            uneven,
            begin,
            end,
            longest,
            shortest,
            most: 2 * most,
            deepest: if too_many { 0 } else { DEEPEST },
        }
    }

    pub(crate) fn add(&self, movers: &mut [Mover], root: &mut RootSum) {
        let whole = [self.begin, self.end];
        let is_short = self
            .longest
            .is_none_or(|longest| (self.end - self.begin).value() <= longest);
        let mut go_along_arcs = || {
            movers
                .iter_mut()
                .all(|mover| mover.arc(whole).map(|arc| mover.way = arc).is_some())
        };
        if is_short && go_along_arcs() {
            root.pieces = root.pieces.saturating_add(1);
            return root.add(self.sum(movers, whole, whole, 0));
        }
        let (mut start, mut taken) = (self.begin, 0);
        while start.is_before(self.end) {
            let turns = movers
                .iter()
                .filter_map(|mover| mover.speed.turning_point(start, self.end));
            let stop = turns.fold(self.end, CompensatedF64::min);
            for mover in &mut *movers {
                mover.to = if stop == self.end {
                    mover.goal
                } else {
                    mover.place(mover.driver_at(start, stop))
                };
                mover.now = mover.from;
            }
            let (span, mut now) = ([start, stop], start);
            while now.is_before(stop) {
                let knots = movers.iter().filter_map(|mover| mover.next_knot(span, now));
                let mut next = knots.fold(stop, CompensatedF64::min);
                let after = |seconds: f64| now + CompensatedF64::new(seconds);
                next = self
                    .longest
                    .map_or(next, |longest| next.min(after(longest)));
                if next.is_before(after(self.shortest)) {
                    next = after(self.shortest).min(stop);
                }
                taken += 1;
                if taken > self.most {
                    next = stop;
                }
                root.add(self.piece(movers, span, [now, next], 0));
                now = next;
            }
            for mover in &mut *movers {
                (mover.driver, mover.from) = (mover.driver_at(start, stop), mover.to);
            }
            start = stop;
        }
        root.pieces = root.pieces.saturating_add(taken);
    }

    /// The movement of a piece, on which each clip goes along one arc from where it is now.
    fn piece(
        &self,
        movers: &mut [Mover],
        span: [CompensatedF64; 2],
        [now, next]: [CompensatedF64; 2],
        depth: u32,
    ) -> RootDelta {
        let mut driver = (usize::MAX, 0.0);
        for mover in &mut *movers {
            // The clips of a blend space share one.
            if driver.0 != mover.track {
                driver = (mover.track, mover.driver_at(span[0], next));
            }
            mover.next = mover.position(span, next, driver.1);
            mover.way = mover.way_to(mover.next);
        }
        let movement = self.sum(movers, span, [now, next], depth);
        movers.iter_mut().for_each(|mover| mover.now = mover.next);
        movement
    }

    /// The movement of a piece along the clips' arcs.
    fn sum(
        &self,
        movers: &mut [Mover],
        span: [CompensatedF64; 2],
        [now, next]: [CompensatedF64; 2],
        depth: u32,
    ) -> RootDelta {
        if !self.uneven {
            let sum = |sum: Twist, mover: &Mover| sum.plus(mover.way.scaled(mover.share));
            return movers.iter().fold(Twist::default(), sum).movement();
        }
        let nodes = NODES.map(|node| now + (next - now).scale(node));
        let since = nodes.map(|node| (node - self.begin).value());
        let mut change = 0.0_f64;
        for at in 0..movers.len() {
            // The clips of a blend space all go at its pace.
            movers[at].pace = match at.checked_sub(1).map(|before| &movers[before]) {
                Some(before) if before.track == movers[at].track => before.pace,
                _ => movers[at].pace_at(nodes),
            };
        }
        let rates = [0, 1, 2].map(|node| {
            self.blend.share(movers, nodes[node], since[node]);
            for mover in &mut *movers {
                if node == 0 {
                    mover.first = mover.share;
                }
                change = change.max((mover.share - mover.first).abs());
            }
            let sum = |sum: Twist, mover: &Mover| {
                sum.plus(mover.way.scaled(mover.share * mover.pace[node]))
            };
            movers.iter().fold(Twist::default(), sum)
        });
        let turn: f64 = movers.iter().map(|mover| mover.way.turn.abs()).sum();
        if (change > MOST_CHANGE[0] || turn > MOST_CHANGE[1]) && depth < self.deepest {
            let middle = now + (next - now).scale(0.5);
            let first = self.piece(movers, span, [now, middle], depth + 1);
            return first.then(self.piece(movers, span, [middle, next], depth + 1));
        }
        integrate(rates)
    }
}
