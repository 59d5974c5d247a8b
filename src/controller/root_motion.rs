//! Root motion: how far the tracks carry their character between two happenings.
//!
//! The character moves at the mean of the tracks' velocities as it sees them, by their shares of the pose. Between two
//! happenings, positions and weights are polynomials of time. Only the clips' own velocities change abruptly, at the knots of
//! their paths, and shares have kinks where weights come to a whole. So the time is cut there, which depends on the clips and
//! not on the steps:
//!
//! ```text
//! weights      ━━━━━━━━━━━━━╲__________     one fades out
//! knots of A   │     │     │     │     │
//! knots of B   │   │   │   │   │   │   │
//! stretches    ├───┼─┼─┼───┼─┼─┼───┼─┼─┤
//! ```
//!
//! In each stretch, a clip goes along one arc. If shares and speeds are steady, so is their mean, and the character goes along
//! an arc, too. Otherwise its velocity is integrated.

mod gauss;
mod movers;
mod parts;
mod shares;

use super::{AnimationTrack, ChangeTarget, Clips, clock::Nanos, motion::Motion, tracks::Tracks};
use crate::{
    model::{RootDelta, RootPath, Twist},
    numbers::clamp_weight,
};
use gauss::{COUNT, NODES, WEIGHTS, integrate};
use movers::{FEW, Mover, Movers, SOME, Value};
use parts::path_of;
use shares::{next_kink, share};

/// Stretches that one advance is cut into. What takes more is approximated by fewer.
const MOST_STRETCHES: usize = 1 << 14;

/// Stretches that the time between two happenings may always have.
const FEWEST_STRETCHES: usize = 4;

/// Stretches that a ramp is cut into.
const STRETCHES_OF_A_RAMP: f64 = 8.0;

/// The most by which clips may turn, in radians, in a stretch that is integrated: by themselves, and times the change of their
/// shares and speeds.
const MOST_TURN: f64 = 0.25;
const MOST_UNEVEN_TURN: f64 = 0.01;

/// The most by which a group's weight may change in such a stretch, as a factor: shares are quotients of polynomials, and the
/// quadrature is exact only for polynomials.
const MOST_CHANGE: f64 = 1.1;

/// The movement of one advance.
#[derive(Default)]
pub(super) struct RootSum {
    movement: RootDelta,
    stretches: usize,
    work: u64,
    most_work: u64,
}

impl RootSum {
    pub(super) fn movement(self) -> RootDelta {
        self.movement
    }

    /// Returns the work of all stretches, including tries at stretches that were too long.
    pub(super) fn work(&self) -> u64 {
        self.work
    }

    /// Lets what is left of this much work be done; what takes more is approximated.
    pub(super) fn limit_work(&mut self, left: u64) {
        self.most_work = self.work.saturating_add(left);
    }

    /// Counts one try at a stretch. An uneven one finds all shares at each node, and overlays look at all others for theirs.
    fn count_try(&mut self, movers: usize, is_uneven: bool) {
        let movers = movers as u64;
        self.work += match is_uneven {
            true => COUNT as u64 * (1 + movers + movers * movers / 32),
            false => 1 + movers,
        };
    }

    #[inline]
    fn add(&mut self, movement: RootDelta) {
        let sum = self.movement.then(movement);
        if sum.is_finite() {
            self.movement = sum;
        }
    }
}

impl Tracks {
    /// Adds how far the character goes from now to a moment before which nothing happens.
    pub(super) fn add_root_motion(
        &self,
        end: Nanos,
        priority_blend: f32,
        clips: &dyn Clips,
        root: &mut RootSum,
    ) {
        let mut parts = (0..self.list.len()).filter_map(|at| Some((at, self.part(at, clips)?)));
        let Some((first, part)) = parts.next() else {
            return;
        };
        let second = parts.next();
        if second.is_none()
            && part.is_whole(self.list[first].is_base())
            && self.list[first].course().is_none()
        {
            // A clip alone has all of the pose.
            if let Some(path) = path_of(&self.list[first], clips) {
                let track = &self.list[first];
                let goal = track.hold(self.place_at(first, end));
                root.add(path.between(part.known.playback, track.held(), goal));
            }
            return;
        }
        let count = |track: &AnimationTrack| match track.course() {
            _ if !track.enabled => 0,
            Some(course) => course.weighing().len(),
            None => 1,
        };
        let count = self.list.iter().map(count).sum();
        let (mut few, mut some, mut many);
        let mut all = Movers::new(if count <= FEW {
            few = [Mover::NONE; FEW];
            &mut few[..]
        } else if count <= SOME {
            some = [Mover::NONE; SOME];
            &mut some
        } else {
            many = vec![Mover::NONE; count];
            &mut many
        });
        let ramp = self.ramp_of(ChangeTarget::PriorityBlend);
        let mut shortest = ramp.map_or(f64::INFINITY, |ramp| ramp.duration());
        for (at, part) in [(first, part)].into_iter().chain(second).chain(parts) {
            shortest = shortest.min(part.shortest);
            match self.list[at].course() {
                None => self.add_clip(at, &part, clips, &mut all),
                Some(course) => self.add_members(at, &part, course, clips, &mut all),
            }
        }
        let blend = ramp.map_or(Value::steady(clamp_weight(priority_blend).into()), |ramp| {
            Value::on_ramp(&ramp, self.clock.now)
        });
        self.add_movers(all.as_mut(), &blend, shortest, end, root);
    }

    /// Adds how far clips carry the character. The shortest ramp takes some seconds.
    fn add_movers(
        &self,
        movers: &mut [Mover],
        blend: &Value,
        shortest: f64,
        end: Nanos,
        root: &mut RootSum,
    ) {
        let is_ramped = !blend.is_steady() || movers.iter().any(Mover::is_on_ramp);
        for mover in &mut *movers {
            mover.now = mover.place(self.list[mover.track].held());
        }
        self.find_places(movers, end, |mover, place| mover.next = place);
        if !is_ramped {
            share(movers, blend, 0.0);
            let goes = |mover: &&Mover| {
                mover.path.is_some() && mover.next != mover.now && mover.share > 0.0
            };
            let mut going = movers.iter().filter(goes);
            match (going.next(), going.next()) {
                (None, _) => return,
                (Some(alone), None) if alone.share == 1.0 => {
                    return root.add(alone.movement(alone.next));
                }
                _ => {}
            }
            let mut going = movers.iter().filter(goes);
            if !going.any(|mover| mover.path.is_some_and(RootPath::turns)) {
                let ways = movers
                    .iter()
                    .map(|mover| mover.movement(mover.next).translation * mover.share);
                return root.add(RootDelta::new(ways.sum(), 0.0));
            }
        }
        let is_even = |mover: &Mover| self.motion_of(mover.track).is_steady();
        let is_uneven = is_ramped || !movers.iter().all(is_even);
        self.add_stretches(movers, blend, is_uneven.then_some(shortest), end, root);
    }

    /// Adds how far clips carry the character, stretch by stretch. `uneven` is the duration of the shortest ramp, if shares or
    /// speeds change.
    fn add_stretches(
        &self,
        movers: &mut [Mover],
        blend: &Value,
        uneven: Option<f64>,
        end: Nanos,
        root: &mut RootSum,
    ) {
        let (begin, span) = (self.clock.now, end.since(self.clock.now));
        let longest = uneven.map_or(f64::INFINITY, |shortest| shortest / STRETCHES_OF_A_RAMP);
        let knots = |mover: &Mover| {
            mover.path.map_or(0.0, |path| {
                (mover.next - mover.now).abs() * path.knots_per_second() + 2.0
            })
        };
        let wanted = movers.iter().map(knots).sum::<f64>() + span / longest;
        let most = MOST_STRETCHES
            .saturating_sub(root.stretches)
            .max(FEWEST_STRETCHES);
        let is_rough = wanted > most as f64;
        let least = if is_rough { span / most as f64 } else { 0.0 };
        // By far the most stay between two knots.
        let has_knots = movers.iter().any(|mover| self.may_pass_knot(mover));
        let (mut now, mut length) = (begin, longest);
        while now < end {
            let mut stop = end.min(now.after(length * 1e9).0);
            if has_knots {
                for mover in &*movers {
                    stop = stop.min(self.knot_time(mover, now).unwrap_or(end));
                }
            }
            let seconds = |moment: Nanos| moment.since(begin);
            if uneven.is_some()
                && let Some(kink) = next_kink(movers, seconds(now), seconds(stop))
            {
                stop = stop.min(begin.after(kink * 1e9).0);
            }
            stop = stop.max(now.after(least * 1e9).0).max(now.next()).min(end);
            if root.work >= root.most_work {
                stop = end;
            }
            let movement = loop {
                root.count_try(movers.len(), uneven.is_some());
                self.find_places(movers, stop, Mover::go_to);
                let sum = |sum: Twist, mover: &Mover| sum.plus(mover.way.scaled(mover.share));
                if uneven.is_none() {
                    break movers.iter().fold(Twist::default(), sum).movement();
                }
                let (rates, is_coarse) = self.rates(movers, blend, [now, stop]);
                if !is_coarse || is_rough || stop <= now.next() || root.work >= root.most_work {
                    break integrate(rates);
                }
                stop = now.middle(stop);
                length = stop.since(now);
            };
            root.add(movement);
            root.stretches = root.stretches.saturating_add(1);
            movers.iter_mut().for_each(|mover| mover.now = mover.next);
            (now, length) = (stop, longest.min(2.0 * length));
        }
    }

    /// The character's velocities at the nodes of a stretch, times its length. Returns `true` beside them if they change too
    /// much to be integrated at once.
    fn rates(
        &self,
        movers: &mut [Mover],
        blend: &Value,
        [now, stop]: [Nanos; 2],
    ) -> ([Twist; COUNT], bool) {
        let length = stop.since(now);
        for at in 0..movers.len() {
            movers[at].pace = match at.checked_sub(1).map(|before| &movers[before]) {
                // The clips of a blend space all go at its pace.
                Some(before) if before.track == movers[at].track => before.pace,
                _ => self.paces(movers[at].track, now, length),
            };
        }
        let begin = now.since(self.clock.now);
        let (mut totals, mut change) = ([[0.0; 2]; COUNT], 0.0_f64);
        let rates = std::array::from_fn(|node| {
            totals[node] = share(movers, blend, begin + NODES[node] * length);
            let mut sum = Twist::default();
            for mover in &mut *movers {
                if node == 0 {
                    mover.first = mover.share;
                }
                change = change.max((mover.share - mover.first).abs());
                sum = sum.plus(mover.way.scaled(mover.share * mover.pace[node]));
            }
            sum
        });
        let changes = |group: usize| {
            // What falls may rise again in between.
            let all = totals.map(|total| total[group]);
            let [least, most] = [f64::min, f64::max].map(|of| all.into_iter().fold(all[0], of));
            most > MOST_CHANGE * least
        };
        // By their shares, but for those that come or go.
        let turn = |mover: &Mover| mover.way.turn.abs() * mover.share.max(mover.first);
        let turn: f64 = movers.iter().map(turn).sum();
        let paces = movers
            .iter()
            .map(|mover| mover.pace[COUNT - 1] - mover.pace[0]);
        let uneven = paces.fold(change, |most, change| most.max(change.abs()));
        let is_coarse = turn > MOST_TURN
            || turn * uneven > MOST_UNEVEN_TURN
            || change > 0.0 && (changes(0) || changes(1));
        (rates, is_coarse)
    }

    /// Returns the speeds of a track at the nodes of a stretch, relative to the mean.
    fn paces(&self, at: usize, now: Nanos, length: f64) -> [f64; COUNT] {
        let motion = self.motion_of(at);
        if motion.is_steady() {
            return [1.0; COUNT];
        }
        let anchor = &self.list[self.driver(at)].anchor;
        let since = anchor.instant().seconds_to(now);
        let paces = NODES.map(|node| motion.speed_after(since + node * length));
        let mean: f64 = paces.iter().zip(WEIGHTS).map(|(a, b)| a * b).sum();
        if mean == 0.0 {
            [1.0; COUNT]
        } else {
            paces.map(|pace| pace / mean)
        }
    }

    /// The motion that drives a track.
    fn motion_of(&self, at: usize) -> Motion {
        self.list[self.driver(at)].run.motion()
    }

    /// Hands each mover where it is in its clip at a moment.
    fn find_places<'c>(
        &self,
        movers: &mut [Mover<'c>],
        moment: Nanos,
        mut found: impl FnMut(&mut Mover<'c>, f64),
    ) {
        let mut position = (usize::MAX, 0.0);
        for mover in movers {
            // The clips of a blend space share one.
            if position.0 != mover.track {
                let place = self.place_at(mover.track, moment);
                position = (mover.track, self.list[mover.track].hold(place));
            }
            found(mover, mover.place(position.1));
        }
    }

    /// Returns `false` if a mover certainly passes no knot on its way to where it goes next.
    fn may_pass_knot(&self, mover: &Mover) -> bool {
        let track = &self.list[mover.track];
        // One that plays once may wait for its leader first.
        let waits = track.anchor.law.follows() && track.once().is_some();
        mover.path.is_some() && (waits || mover.passes_knot())
    }

    /// The next moment after another at which a mover may change its velocity other than with its track's speed.
    fn knot_time(&self, mover: &Mover, now: Nanos) -> Option<Nanos> {
        let (track, driver_at) = (&self.list[mover.track], self.driver(mover.track));
        let driver = &self.list[driver_at];
        let motion = driver.run.motion();
        if mover.path.is_none() || !track.anchor.law.moves() || !motion.goes() {
            return None;
        }
        let forward = motion.forward;
        let lead = track.run.lead().filter(|_| driver_at != mover.track);
        // One that plays once waits at its end until its leader is where it ended.
        let waits = lead.zip(track.once()).and_then(|(lead, known)| {
            let free = lead.follow(self.place_at(driver_at, now));
            match forward {
                true => (free < 0.0).then_some(0.0),
                false => (free > known.length).then_some(known.length),
            }
        });
        let anchor = driver.anchor.instant();
        let time_of = |place: f64| {
            let driven = lead.map_or(Some(place), |lead| lead.lead_to(place))?;
            let way = driven - driver.anchor.from;
            if (way >= 0.0) != forward {
                // It was there before its anchor.
                return Some(now);
            }
            // At the knot or just beyond it, so that it isn't found again.
            Some(anchor.after(motion.seconds_of(anchor, way)?).ceil())
        };
        if let Some(end) = waits {
            let free = time_of(end)?;
            // By rounding, it may seem to wait for a moment that has come.
            if free > now {
                return Some(free);
            }
        }
        // One that should have been passed already may be found again, up to rounding.
        let mut knot = mover.now;
        for _ in 0..3 {
            knot = mover.next_knot(knot, forward)?;
            let time = time_of(mover.position(knot))?;
            if time > now {
                return Some(time);
            }
        }
        None
    }
}
