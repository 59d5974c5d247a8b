//! Root motion: how far the tracks carry their character between two happenings.
//!
//! The character moves at the mean of the tracks' velocities as it sees them, by their shares of the pose. That has a closed
//! form if a single clip has all of the pose, or if clips go straight ahead and their shares are steady. All else is
//! integrated in *cells*: those of a grid of the controller's clock, cut at happenings.
//!
//! ```text
//! grid         │           │           │           │
//! happenings   │     ◆     │           │    ◆      │
//! cells        ├─────┼─────┼───────────┼────┼──────┤
//! frames       ┼────────┼───────────┼─────────┼────┼
//! ```
//!
//! The movement in a cell follows from the state since the last happening, not from frames. A frame makes the part of it that
//! lies in the frame. So the movements add up to the same, however time is divided. See decision 020.

mod cell;
mod movers;
mod parts;
mod shares;

use super::{ChangeTarget, Clips, clock::Nanos, tracks::Tracks};
use crate::{
    model::{RootDelta, RootPath},
    numbers::clamp_weight,
    recycle::recycle,
};
use movers::{Mover, NODES, Value};
use shares::share;
use std::mem;

use cell::Cell;
pub(super) use cell::KeptCell;

/// Nanoseconds of a cell: about 1/30 s.
const CELL: i64 = 1 << 25;

/// The same while neither shares nor speeds change.
const EVEN_CELL: i64 = 1 << 27;

/// How often a cell is halved in which shares or speeds change abruptly.
const HALVINGS: u32 = 5;

/// Pieces that one advance is cut into. What takes more is approximated by fewer.
const MOST_PIECES: usize = 1 << 14;

/// Cells that the time between two happenings may always have.
const FEWEST_CELLS: usize = 4;

/// The movement of one advance.
#[derive(Default)]
pub(super) struct RootSum {
    movement: RootDelta,
    pieces: usize,
    work: u64,
    most_work: u64,
}

impl RootSum {
    pub(super) fn movement(self) -> RootDelta {
        self.movement
    }

    /// Returns the work of all cells and their pieces.
    pub(super) fn work(&self) -> u64 {
        self.work
    }

    /// Lets what is left of this much work be done; what takes more is approximated.
    pub(super) fn limit_work(&mut self, left: u64) {
        self.most_work = self.work.saturating_add(left);
    }

    fn is_exhausted(&self) -> bool {
        self.pieces >= MOST_PIECES || self.work >= self.most_work
    }

    /// Counts a cell, in which all shares are found at each node: overlays look at all others for theirs.
    fn count_cell(&mut self, movers: usize) {
        let movers = movers as u64;
        self.work += NODES.len() as u64 * (1 + movers + movers * movers / 32);
    }

    fn count_piece(&mut self, movers: usize) {
        self.pieces += 1;
        self.work += 1 + movers as u64;
    }

    #[inline]
    fn add(&mut self, movement: RootDelta) {
        let sum = self.movement.then(movement);
        if sum.is_finite() {
            self.movement = sum;
        }
    }
}

/// All that carries a character between two happenings.
struct Carried<'m, 'c> {
    movers: &'m mut [Mover<'c>],
    blend: Value,
    /// `true` if shares change.
    is_ramped: bool,
    /// `true` if neither shares nor speeds change.
    is_even: bool,
}

impl Tracks {
    /// Adds how far the character goes from now to a moment, given when the next thing happens: then or later.
    pub(super) fn add_root_motion(
        &self,
        [end, next]: [Nanos; 2],
        priority_blend: f32,
        clips: &dyn Clips,
        kept: &mut KeptCell,
        root: &mut RootSum,
    ) {
        let mut now = self.clock.now;
        if let Some(cell) = &kept.0
            && cell.holds(now, priority_blend)
        {
            root.add(cell.movement([now, end]));
            now = cell.end();
            if now >= end {
                return;
            }
        }
        let mut parts = (0..self.list.len()).filter_map(|at| self.part(at, clips));
        let Some(first) = parts.next() else {
            return;
        };
        let second = parts.next();
        if second.is_none() && self.has_all_of_the_pose(&first) {
            if let Some(path) = self.path_of(first.track, clips) {
                let track = &self.list[first.track];
                let goal = track.hold(self.place_at(first.track, end));
                root.add(path.between(first.playback, track.held(), goal));
            }
            return;
        }
        let cell = kept.0.get_or_insert_default();
        let mut movers = recycle(mem::take(&mut cell.movers));
        for part in [first].into_iter().chain(second).chain(parts) {
            self.add_clips(&part, clips, &mut movers);
        }
        let blend = clamp_weight(priority_blend);
        let blend = Value::new(blend, self.ramp_of(ChangeTarget::PriorityBlend));
        let is_ramped = !blend.is_steady() || movers.iter().any(Mover::is_on_ramp);
        if is_ramped || !self.add_steady(&mut movers, &blend, end, root) {
            let goes_evenly =
                |mover: &Mover| mover.path.is_none() || self.goes_evenly(mover.part.track);
            let is_even = !is_ramped && movers.iter().all(goes_evenly);
            let mut carried = Carried {
                movers: &mut movers,
                blend,
                is_ramped,
                is_even,
            };
            let is_usual = self.add_cells(&mut carried, [now, end, next], cell, root);
            cell.keep(is_usual.then_some(priority_blend));
        }
        cell.movers = recycle(movers);
    }

    /// Adds the way to a moment with steady shares, if that has a closed form. Returns `true` if it has.
    fn add_steady(
        &self,
        movers: &mut [Mover],
        blend: &Value,
        end: Nanos,
        root: &mut RootSum,
    ) -> bool {
        share(movers, blend, self.clock.now);
        for mover in &mut *movers {
            // Not by where it is at the end of the frame, which has no influence.
            if mover.share <= 0.0 || !self.goes(mover.part.track) {
                mover.path = None;
            }
            // These hold in all cells.
            mover.shares = [mover.share; NODES.len()];
        }
        let going = || movers.iter().filter(|mover| mover.path.is_some());
        let turns = going().any(|mover| mover.path.is_some_and(RootPath::turns));
        if turns && (going().count() > 1 || going().any(|mover| mover.share != 1.0)) {
            return false;
        }
        self.find_places(movers, self.clock.now, |mover, position| {
            mover.from = position;
        });
        self.find_places(movers, end, |mover, position| mover.to = position);
        let mut sum = RootDelta::IDENTITY;
        for mover in movers {
            let way = mover.movement();
            sum.translation += way.translation * mover.share;
            sum.turn += way.turn * mover.share;
        }
        root.add(sum);
        true
    }

    /// Returns `true` if a track moves, or waits for its leader.
    fn goes(&self, at: usize) -> bool {
        self.list[at].anchor.law.moves() && self.list[self.driver(at)].run.motion().goes()
    }

    /// Returns `true` if a track moves at a steady speed until something happens.
    fn goes_evenly(&self, at: usize) -> bool {
        let (track, driver) = (&self.list[at], &self.list[self.driver(at)]);
        // One that plays once may wait for its leader first.
        let waits = track.anchor.law.follows() && track.once().is_some();
        driver.run.motion().only_speed().is_some() && !waits
    }

    /// Adds how far clips carry the character, cell by cell. Returns `true` if the last cell may be kept.
    fn add_cells(
        &self,
        all: &mut Carried,
        [mut now, end, next]: [Nanos; 3],
        cell: &mut Cell,
        root: &mut RootSum,
    ) -> bool {
        let most = MOST_PIECES.saturating_sub(root.pieces).max(FEWEST_CELLS);
        let usual = if all.is_even { EVEN_CELL } else { CELL };
        let mut size = usual;
        while end.since(now) > size as f64 * 1e-9 * most as f64 {
            size *= 2;
        }
        // Before that, shares or speeds were others.
        let changed = |mover: &Mover| {
            let at = mover.part.track;
            let anchors = [at, self.driver(at)].map(|at| self.list[at].anchor.instant().moment);
            anchors[0].max(anchors[1]).max(mover.changed())
        };
        let since = all
            .movers
            .iter()
            .map(changed)
            .fold(all.blend.since, Nanos::max);
        // Pieces are exact then, so a cell may be any. While something changes in each frame, a whole one would be too much.
        let is_any = all.is_even && since == now;
        while now < end {
            let [low, high] = now.cell(size);
            let span = if root.is_exhausted() {
                [now, end]
            } else if is_any {
                [now, now.after(size as f64).0.min(end)]
            } else {
                [low.max(since).min(now), high.min(next)]
            };
            self.fill(cell, all, span, now, root);
            root.add(cell.movement([now, end]));
            now = cell.end();
        }
        size == usual
    }

    /// Fills a cell, or the half of it that a moment lies in if shares or speeds change abruptly.
    fn fill(
        &self,
        cell: &mut Cell,
        all: &mut Carried,
        [mut begin, mut end]: [Nanos; 2],
        now: Nanos,
        root: &mut RootSum,
    ) {
        for halving in 0..=HALVINGS {
            root.count_cell(all.movers.len());
            let middle = begin.middle(end);
            let is_rough = self.sample(all, [begin, middle, end]);
            if !is_rough || halving == HALVINGS || middle == begin || root.is_exhausted() {
                break;
            }
            (begin, end) = if now < middle {
                (begin, middle)
            } else {
                (middle, end)
            };
        }
        cell.fill([begin, end], all.movers, all.is_even, root);
    }

    /// Finds shares and positions in a cell. Returns `true` if they change abruptly.
    fn sample(&self, all: &mut Carried, [begin, middle, end]: [Nanos; 3]) -> bool {
        if all.is_ramped {
            let nanos = end.since(begin) * 1e9;
            for (at, node) in NODES.into_iter().enumerate() {
                share(all.movers, &all.blend, begin.after(node * nanos).0);
                for mover in &mut *all.movers {
                    mover.shares[at] = mover.share;
                }
            }
        }
        self.find_places(all.movers, begin, |mover, position| mover.from = position);
        if all.is_even {
            self.find_places(all.movers, end, |mover, position| mover.to = position);
            return false;
        }
        self.find_places(all.movers, middle, |mover, position| mover.bend = position);
        self.find_places(all.movers, end, |mover, position| mover.set_end(position));
        all.movers.iter().any(Mover::is_rough)
    }

    /// Hands each mover the position of its track at a moment.
    fn find_places<'c>(
        &self,
        movers: &mut [Mover<'c>],
        moment: Nanos,
        mut found: impl FnMut(&mut Mover<'c>, f64),
    ) {
        let mut known = (usize::MAX, 0.0);
        for mover in movers {
            // The clips of a blend space share one.
            let at = mover.part.track;
            if known.0 != at {
                known = (at, self.list[at].hold(self.place_at(at, moment)));
            }
            found(mover, known.1);
        }
    }
}
