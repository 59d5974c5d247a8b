//! Root motion: how far the tracks carry their character between two cuts.
//!
//! A single track carries it from one place on its path to another, which is exact for any time between them. So is a
//! blend of tracks that go straight, while their weights are steady. In general, the character moves at the mean of the
//! tracks' velocities as it sees them, by their shares of the pose; the time is cut where a clip's own velocity changes,
//! which depends on the clips and not on the steps, and between these places the velocity is integrated:
//!
//! ```text
//! weights      ━━━━━━━━━━━━━╲__________     one fades out
//! frames of A  │     │     │     │     │
//! frames of B  │   │   │   │   │   │   │
//! pieces       ├───┼─┼─┼───┼───┼┼──┼───┤    while weights change, short ones
//! ```

mod arcs;
mod gauss;
pub(crate) mod movers;
pub(crate) mod shares;

use super::{
    AnimationController, AnimationTrack, BlendMode, Clips, TrackPriority,
    compensated::CompensatedF64,
    course::{Course, Weighing},
    motion::{Paced, Speed},
    timed_event::EventKind,
    track::Known,
};
use crate::model::{PlaybackMode, RootDelta, RootPath, Twist};
use gauss::{NODES, integrate};
use movers::{Group, Mover, Movers, Set};
use shares::Blend;

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

impl AnimationController {
    /// Adds how far the character goes between two cuts: after the tracks and the clips of their blend spaces have moved,
    /// while the clock is at the first.
    pub(crate) fn add_root_motion<C: Clips + ?Sized>(
        &self,
        span: [CompensatedF64; 2],
        clips: &C,
        root: &mut RootSum,
    ) {
        match self.along_arcs(clips) {
            Some(movement) => {
                // An ordinary frame.
                root.pieces = root.pieces.saturating_add(1);
                root.add(movement);
            }
            None => self.add_pieces(span, clips, root),
        }
    }

    /// Like [`Self::add_root_motion`], for every case.
    fn add_pieces<C: Clips + ?Sized>(
        &self,
        [begin, end]: [CompensatedF64; 2],
        clips: &C,
        root: &mut RootSum,
    ) {
        let mut all = Movers::new();
        for at in 0..self.tracks.len() {
            match self.course_of(at) {
                None => all.extend(self.mover(at, clips)),
                Some(course) => self.add_members(at, course, clips, &mut all),
            }
        }
        let movers = all.as_mut();
        let blend = Blend {
            value: self.priority_blend.into(),
            ramp: self.blend_ramp(),
        };
        let is_ramp = |mover: &Mover| mover.ramp.is_some() || mover.part[1] != 0.0;
        let ramped = begin.is_before(end) && (blend.ramp.is_some() || movers.iter().any(is_ramp));
        if !ramped {
            blend.share(movers, begin, 0.0);
            let mut going = movers
                .iter()
                .filter(|mover| mover.goes() && mover.share > 0.0);
            let (first, second) = (going.next(), going.next());
            match (first, second) {
                (None, _) => return,
                (Some(alone), None) if alone.share == 1.0 => {
                    return root.add(alone.between(alone.from, alone.goal));
                }
                _ => {}
            }
            let going = || {
                movers
                    .iter()
                    .filter(|mover| mover.goes() && mover.share > 0.0)
            };
            if !going().any(|mover| mover.path.is_some_and(RootPath::turns)) {
                let ways = going()
                    .map(|mover| mover.between(mover.from, mover.goal).translation * mover.share);
                return root.add(RootDelta::new(ways.sum(), 0.0));
            }
        }
        Pieces::new(movers, blend, ramped, [begin, end], root).add(movers, root);
    }

    /// What a track does in its blend space, if it plays one.
    #[inline]
    fn course_of(&self, at: usize) -> Option<&Course> {
        let run = &self.tracks[at].run.0;
        run.course.as_deref().filter(|_| run.space.is_some())
    }

    fn mover<'c, C: Clips + ?Sized>(&self, at: usize, clips: &'c C) -> Option<Mover<'c>> {
        let (track, index) = (&self.tracks[at], self.tracks[at].run.0.index?);
        let mover = self.mover_of(at, &self.part(at, clips)?);
        let set = if is_base(track, index, clips) {
            Set::Base
        } else {
            Set::Alone
        };
        let mover = Mover { set, ..mover };
        match takes_part(track, index, clips) {
            true => Some(Mover {
                path: clips.root_path(index),
                ..mover
            }),
            false if set == Set::Base => Some(Mover {
                reaches: false,
                ..mover
            }),
            false => None,
        }
    }

    /// A track's part in the pose at the root joint, if it has one.
    #[inline]
    fn part<C: Clips + ?Sized>(&self, at: usize, clips: &C) -> Option<Part> {
        let track = &self.tracks[at];
        let known = track.known.filter(|_| track.enabled)?;
        let weight = f64::from(track.share());
        let is_ramped = self.running_ramp(track.id, EventKind::Weight).is_some();
        let shows = weight > 0.0 || is_ramped;
        let mask = track
            .mask
            .as_deref()
            .map_or(1.0, |mask| f64::from(clips.root_mask(mask)));
        if !shows || mask <= 0.0 {
            return None;
        }
        let group = match (track.blend, track.priority) {
            (Some(BlendMode::Override), _) => Group::Over,
            (_, TrackPriority::Low) => Group::Low,
            (_, TrackPriority::High) => Group::High,
        };
        Some(Part {
            known,
            weight,
            is_ramped,
            mask,
            group,
            from: track.run.0.from,
            goal: track.held().value(),
        })
    }

    /// A track that is to go the way of a clip.
    fn mover_of<'c>(
        &self,
        at: usize,
        &Part {
            known,
            weight,
            mask,
            group,
            from,
            goal,
            ..
        }: &Part,
    ) -> Mover<'c> {
        let track = &self.tracks[at];
        let lead = self.lead(at);
        let driver = lead.map_or(track, |lead| &self.tracks[lead.leader]);
        let moves = self.is_moving(at) && !driver.paused;
        let speed = if moves {
            self.own_speed(lead.map_or(at, |lead| lead.leader))
        } else {
            Speed::Steady(0.0)
        };
        let hold = |known: Known| (known.playback == PlaybackMode::Once).then_some(known.length);
        let (held, driver_held, driver) =
            (hold(known), driver.known.and_then(hold), driver.run.0.from);
        let (playback, to) = (known.playback, goal);
        let way = Mover {
            playback,
            from,
            now: from,
            to,
            held,
            driver,
            driver_held,
            speed,
            lead,
            goal,
            ..Mover::NONE
        };
        let ramp = self.running_ramp(track.id, EventKind::Weight);
        Mover {
            weight,
            ramp,
            mask,
            group,
            track: at,
            ..way
        }
    }

    /// Adds the clips of a track's blend space.
    fn add_members<'c, C: Clips + ?Sized>(
        &self,
        at: usize,
        course: &Course,
        clips: &'c C,
        all: &mut Movers<'c>,
    ) {
        let track = &self.tracks[at];
        let space = track
            .run
            .0
            .space
            .and_then(|space| clips.blend_spaces().get(space));
        let (Some(space), Some(part)) = (space, self.part(at, clips)) else {
            return;
        };
        let cycle = self.mover_of(at, &part);
        for &Weighing {
            member,
            weights,
            way: [from, goal],
            is_even,
        } in course.weighing()
        {
            let Some(member) = space.members().get(member) else {
                continue;
            };
            let reaches = takes_part(track, member.clip, clips);
            if !reaches && adds(track, member.clip, clips) {
                continue;
            }
            let set = if is_base(track, member.clip, clips) {
                Set::Base
            } else {
                Set::Space(at)
            };
            let path = if reaches {
                clips.root_path(member.clip)
            } else {
                None
            };
            let (playback, part) = (
                member.playback(space, cycle.playback),
                [weights[0], course.slope(weights)],
            );
            let member = Some((member, playback));
            let mover = Mover {
                path,
                member,
                playback,
                from,
                now: from,
                to: goal,
                goal,
                part,
                is_even,
                ..cycle
            };
            all.extend(Some(Mover {
                set,
                reaches,
                ..mover
            }));
        }
    }
}

/// A track's part in the pose at the root joint, between two cuts.
struct Part {
    known: Known,
    weight: f64,
    /// Whether an event changes the weight.
    is_ramped: bool,
    /// The mask's weight at the root joint.
    mask: f64,
    group: Group,
    /// Unwrapped positions at both cuts.
    from: f64,
    goal: f64,
}

/// Returns `true` if a track's clip has a part in root motion.
#[inline]
fn takes_part<C: Clips + ?Sized>(track: &AnimationTrack, index: usize, clips: &C) -> bool {
    !adds(track, index, clips) && clips.reaches_root(index)
}

/// Returns `true` if a track's clip is added to a pose, wherever that is.
#[inline]
fn adds<C: Clips + ?Sized>(track: &AnimationTrack, index: usize, clips: &C) -> bool {
    track.blend == Some(BlendMode::Additive) || clips.is_additive(index)
}

/// Returns `true` if a track's clip is one of the base.
#[inline]
fn is_base<C: Clips + ?Sized>(track: &AnimationTrack, index: usize, clips: &C) -> bool {
    track.is_base() && !clips.is_additive(index)
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
