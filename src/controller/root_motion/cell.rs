//! The movement in a cell, in pieces between knots.

use super::{RootSum, movers::Mover};
use crate::{
    controller::clock::Nanos,
    model::{RootDelta, Twist},
};
use glam::DVec3;

/// The shortest piece of a cell, as a part of it, if there are many.
const SHORTEST: f64 = 1e-3;

/// Pieces that end right at a knot, however near it is. In a piece with a knot inside, a frame that ends there gets a part of the
/// mean of what is before and after the knot.
const MOST_EXACT: usize = 128;

/// A cell that is kept for the next frame. A snapshot has no use for it, so a clone is empty.
#[derive(Debug, Default)]
pub(in crate::controller) struct KeptCell(pub(super) Option<Box<Cell>>);

impl Clone for KeptCell {
    fn clone(&self) -> Self {
        Self(None)
    }
}

impl KeptCell {
    /// Forgets it, because something has changed.
    #[inline]
    pub(in crate::controller) fn clear(&mut self) {
        if let Some(cell) = &mut self.0 {
            cell.priority_blend = None;
        }
    }
}

/// The movement in a cell, which follows from the state.
#[derive(Debug, Default)]
pub(super) struct Cell {
    span: [Nanos; 2],
    pieces: Vec<Piece>,
    /// Memory for movers.
    pub(super) movers: Vec<Mover<'static>>,
    /// The priority blend that it was found for, which a game may set.
    priority_blend: Option<f32>,
}

/// A piece of a cell, in which each clip goes along one arc.
#[derive(Debug)]
struct Piece {
    /// Its ends, as parts of the cell.
    ends: [f64; 2],
    /// The rate, per piece: a parabola over the part of it, in ascending powers.
    rates: [Twist; 3],
    /// `true` if the rate is steady.
    is_even: bool,
}

impl Cell {
    /// Returns `true` if it is known, and a moment lies in it.
    #[inline]
    pub(super) fn holds(&self, moment: Nanos, priority_blend: f32) -> bool {
        let [begin, end] = self.span;
        self.priority_blend == Some(priority_blend) && begin <= moment && moment < end
    }

    pub(super) fn end(&self) -> Nanos {
        self.span[1]
    }

    /// Keeps it until something changes, or not. A game may set the priority blend.
    pub(super) fn keep(&mut self, priority_blend: Option<f32>) {
        self.priority_blend = priority_blend;
    }

    /// Fills it, given movers with their shares and positions in it.
    pub(super) fn fill(
        &mut self,
        span: [Nanos; 2],
        movers: &mut [Mover],
        is_even: bool,
        root: &mut RootSum,
    ) {
        self.span = span;
        self.pieces.clear();
        movers.iter_mut().for_each(Mover::set_off);
        let (mut begin, mut count) = (0.0, 0);
        while begin < 1.0 {
            let knots = movers.iter().map(|mover| mover.knot);
            let least = match count < MOST_EXACT {
                true => begin,
                false => begin + SHORTEST,
            };
            let end = match root.is_exhausted() {
                true => 1.0,
                false => knots.fold(1.0, f64::min).max(least).min(1.0),
            };
            count += 1;
            root.count_piece(movers.len());
            let mut rates = [Twist::default(); 3];
            for mover in &mut *movers {
                let arc = mover.go_to(end);
                if is_even {
                    rates[0] = rates[0].plus(arc.scaled(mover.share));
                    continue;
                }
                for (rate, factor) in rates.iter_mut().zip(mover.rate([begin, end])) {
                    *rate = rate.plus(arc.scaled(factor));
                }
            }
            // Two knots may be at one place but for rounding.
            if begin < end {
                self.pieces.push(Piece {
                    ends: [begin, end],
                    rates,
                    is_even,
                });
            }
            begin = end;
        }
    }

    /// Returns the movement in the part of it between two moments.
    pub(super) fn movement(&self, moments: [Nanos; 2]) -> RootDelta {
        let [begin, end] = self.span;
        let length = end.since(begin);
        let [from, to] = moments.map(|moment| (moment.since(begin) / length).clamp(0.0, 1.0));
        let mut sum = RootDelta::IDENTITY;
        for piece in &self.pieces {
            let [begin, end] = piece.ends;
            if begin < to && from < end {
                let within = |part: f64| (part - begin) / (end - begin);
                let part = [from.max(begin), to.min(end)].map(within);
                sum = sum.then(piece.between(part));
            }
        }
        sum
    }
}

impl Piece {
    /// Returns the movement between two parts of it.
    fn between(&self, [from, to]: [f64; 2]) -> RootDelta {
        if self.is_even {
            self.rates[0].scaled(to - from).movement()
        } else if from > 0.0 {
            self.movement(from).inverse().then(self.movement(to))
        } else {
            self.movement(to)
        }
    }

    /// Returns the movement from its start to a part of it: Magnus's expansion of order 4.
    fn movement(&self, x: f64) -> RootDelta {
        let [first, b, c] = [
            self.rates[0].scaled(x),
            self.rates[1].scaled(x * x),
            self.rates[2].scaled(x * x * x),
        ];
        let mut mean = first.plus(b.scaled(0.5)).plus(c.scaled(1.0 / 3.0));
        if mean.turn != 0.0 {
            let last = first.plus(b).plus(c);
            let bent = (last.ahead * first.turn - first.ahead * last.turn) / 12.0;
            mean.ahead += DVec3::new(bent.z, 0.0, -bent.x);
        }
        mean.movement()
    }
}
