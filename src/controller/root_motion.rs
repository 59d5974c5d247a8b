//! Root motion: how far the tracks carry their character between two happenings.
//!
//! The character moves at the mean of the tracks' velocities as it sees them, by their shares of the pose.

mod gauss;
mod movers;
mod pieces;
mod shares;

use super::{
    AnimationController, AnimationTrack, BlendMode, Clips, TrackPriority,
    clock::Nanos,
    course::{Course, Weighing},
};
use crate::{
    controller::{
        compensated::CompensatedF64,
        ramp::{Paced, Ramp, Speed},
        timed_event::EventKind,
        track_types::Known,
    },
    model::{Phase, PlaybackMode, RootPath},
};

pub(super) use pieces::RootSum;

use movers::{Group, Mover, Movers, Set};
use pieces::Pieces;
use shares::{Blend, WHOLE};

/// Seconds up to which changing shares are integrated at once, and how many stretches there are about at most.
const STRETCH: f64 = 0.01;
const MOST_STRETCHES: f64 = 1024.0;

fn compensated(time: Nanos) -> CompensatedF64 {
    CompensatedF64::new(time.secs())
}

impl AnimationController {
    /// Adds how far the character goes between two moments, after the tracks have moved, while the clock is at the first.
    pub(super) fn add_root_motion<C: Clips + ?Sized>(
        &self,
        span: [Nanos; 2],
        clips: &C,
        root: &mut RootSum,
    ) {
        let [begin, end] = span.map(compensated);
        let mut parts = (0..self.tracks.len()).filter_map(|at| Some((at, self.part(at, clips)?)));
        let Some((first, part)) = parts.next() else {
            return;
        };
        let second = parts.next();
        let is_whole =
            !self.tracks[first].is_base() || (part.weight >= WHOLE && part.ramp.is_none());
        if second.is_none()
            && part.group != Group::Over
            && is_whole
            && self.course_of(first).is_none()
            && let Some(index) = self.tracks[first].run.0.index
        {
            // A clip alone has all of the pose.
            if let Some(path) = clips
                .root_path(index)
                .filter(|_| takes_part(&self.tracks[first], index, clips))
            {
                root.add(path.between(part.known.playback, part.from, part.goal));
            }
            return;
        }
        let mut all = Movers::new();
        for (at, part) in [(first, part)].into_iter().chain(second).chain(parts) {
            match self.course_of(at) {
                None => all.extend(self.mover(at, &part, clips)),
                Some(course) => self.add_members(at, &part, course, clips, &mut all),
            }
        }
        let movers = all.as_mut();
        let blend = Blend {
            value: self.priority_blend.into(),
            ramp: self.blend_ramp(),
        };
        let is_ramp = |mover: &Mover| mover.ramp.is_some() || mover.part[1] != 0.0;
        let ramped = blend.ramp.is_some() || movers.iter().any(is_ramp);
        if !ramped {
            blend.share(movers, begin, 0.0);
            let going = || {
                movers
                    .iter()
                    .filter(|mover| mover.goes() && mover.share > 0.0)
            };
            match (going().next(), going().nth(1)) {
                (None, _) => return,
                (Some(alone), None) if alone.share == 1.0 => {
                    return root.add(alone.between(alone.from, alone.goal));
                }
                _ => {}
            }
            if !going().any(|mover| mover.path.is_some_and(RootPath::turns)) {
                let ways = going()
                    .map(|mover| mover.between(mover.from, mover.goal).translation * mover.share);
                return root.add(crate::model::RootDelta::new(ways.sum(), 0.0));
            }
        }
        Pieces::new(movers, blend, ramped, [begin, end], root).add(movers, root);
    }

    /// The next moment up to an end at which a share of the pose may change its course, because weights that change reach 1:
    /// more than all of the pose is all of it.
    pub(super) fn next_kink<C: Clips + ?Sized>(&self, end: Nanos, clips: &C) -> Nanos {
        /// Parts in which the time is searched.
        const PARTS: i32 = 8;
        /// A bit more than all: weights that always sum to all do so up to rounding.
        const FULL: f64 = 1.0 + 1e-5;
        let changes = |track: &AnimationTrack| {
            let course = track
                .run
                .0
                .course
                .as_deref()
                .filter(|_| track.run.0.space.is_some());
            let bends = course.is_some_and(|course| course.pace().until.is_some());
            bends || self.running_ramp(track.id, EventKind::Weight).is_some()
        };
        if !self.tracks.iter().any(changes) {
            return end;
        }
        // Where shares change, short stretches are integrated.
        let now = self.clock.now;
        let end = end.min(
            now.after((end.since(now) / MOST_STRETCHES).max(STRETCH) * 1e9)
                .0,
        );
        let mut first = end;
        let mut search = |is_full: &dyn Fn(Nanos) -> bool| {
            let mut low = now;
            for part in 1..=PARTS {
                let high = now
                    .after(end.since(now) * 1e9 * f64::from(part) / f64::from(PARTS))
                    .0
                    .min(end);
                if is_full(low) != is_full(high) {
                    let full = is_full(high);
                    return first =
                        first.min(Nanos::first(low, high, |moment| is_full(moment) == full));
                }
                low = high;
            }
        };
        for group in [Group::Low, Group::High] {
            let total = |moment: Nanos| -> f64 {
                let ours = |at: &usize| self.group_of(*at) == group;
                (0..self.tracks.len())
                    .filter(ours)
                    .map(|at| self.root_weight(at, moment, clips))
                    .sum()
            };
            search(&|moment| total(moment) >= FULL);
        }
        let base = |moment: Nanos| -> f64 {
            let ours = |at: &usize| self.tracks[*at].enabled && self.tracks[*at].is_base();
            (0..self.tracks.len())
                .filter(ours)
                .map(|at| self.weight_at(at, moment).max(0.0))
                .sum()
        };
        search(&|moment| base(moment) >= WHOLE);
        for at in (0..self.tracks.len()).filter(|at| self.group_of(*at) == Group::Over) {
            search(&|moment| self.weight_at(at, moment) >= FULL);
        }
        first
    }

    fn group_of(&self, at: usize) -> Group {
        let track = &self.tracks[at];
        match (track.blend, track.priority) {
            (Some(BlendMode::Override), _) => Group::Over,
            (_, TrackPriority::Low) => Group::Low,
            (_, TrackPriority::High) => Group::High,
        }
    }

    /// A track's weight at the root joint at a moment.
    fn root_weight<C: Clips + ?Sized>(&self, at: usize, moment: Nanos, clips: &C) -> f64 {
        let track = &self.tracks[at];
        let Some(index) = track
            .run
            .0
            .index
            .filter(|_| track.enabled && track.known.is_some())
        else {
            return 0.0;
        };
        let mask = track
            .mask
            .as_deref()
            .map_or(1.0, |mask| f64::from(clips.root_mask(mask)));
        let space = track
            .run
            .0
            .space
            .and_then(|space| clips.blend_spaces().get(space));
        let part = match (space, self.course_of(at)) {
            (Some(space), Some(course)) => {
                let clip = |weighing: &Weighing| {
                    space
                        .members()
                        .get(weighing.member)
                        .map(|member| member.clip)
                };
                let takes = |weighing: &&Weighing| {
                    clip(weighing).is_some_and(|clip| takes_part(track, clip, clips))
                };
                course
                    .weighing()
                    .iter()
                    .filter(takes)
                    .map(|weighing| course.share(weighing.weights, moment))
                    .sum()
            }
            _ => f64::from(u8::from(takes_part(track, index, clips))),
        };
        self.weight_at(at, moment).max(0.0) * mask * part
    }

    /// What a track does in its blend space, if it plays one.
    fn course_of(&self, at: usize) -> Option<&Course> {
        let run = &self.tracks[at].run.0;
        run.course.as_deref().filter(|_| run.space.is_some())
    }

    fn mover<'c, C: Clips + ?Sized>(
        &self,
        at: usize,
        part: &Part,
        clips: &'c C,
    ) -> Option<Mover<'c>> {
        let (track, index) = (&self.tracks[at], self.tracks[at].run.0.index?);
        let set = if is_base(track, index, clips) {
            Set::Base
        } else {
            Set::Alone
        };
        let mover = Mover {
            set,
            ..self.mover_of(at, part)
        };
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
    fn part<C: Clips + ?Sized>(&self, at: usize, clips: &C) -> Option<Part> {
        let track = &self.tracks[at];
        let known = track
            .known
            .filter(|_| track.enabled && track.run.0.index.is_some())?;
        let weight = f64::from(track.share());
        let ramp = self.running_ramp(track.id, EventKind::Weight);
        let mask = track
            .mask
            .as_deref()
            .map_or(1.0, |mask| f64::from(clips.root_mask(mask)));
        if mask <= 0.0 || (weight <= 0.0 && ramp.is_none()) {
            return None;
        }
        let group = self.group_of(at);
        Some(Part {
            known,
            weight,
            ramp,
            mask,
            group,
            from: track.run.0.before,
            goal: track.held(),
        })
    }

    /// A track that is to go the way of a clip.
    fn mover_of<'c>(
        &self,
        at: usize,
        &Part {
            known,
            weight,
            ramp,
            mask,
            group,
            from,
            goal,
        }: &Part,
    ) -> Mover<'c> {
        let driver_at = self.driver(at);
        let driver = &self.tracks[driver_at];
        let moves = self.tracks[at].anchor.law.moves() && driver.anchor.law.moves();
        let speed = if moves {
            self.speed_of(driver_at)
        } else {
            Speed::Steady(0.0)
        };
        let hold = |known: Known| (known.playback == PlaybackMode::Once).then_some(known.length);
        let lead = self.tracks[at].run.0.lead.filter(|_| driver_at != at);
        Mover {
            playback: known.playback,
            from,
            now: from,
            to: goal,
            goal,
            held: hold(known),
            driver: driver.run.0.before,
            driver_held: driver.known.and_then(hold),
            speed,
            lead,
            weight,
            ramp,
            mask,
            group,
            track: at,
            ..Mover::NONE
        }
    }

    /// The speed of a track that leads or is on its own.
    fn speed_of(&self, at: usize) -> Speed {
        let track = &self.tracks[at];
        let steady = track.own_speed();
        let ramp = self.running_ramp(track.id, EventKind::Speed);
        match (self.pace_of(at), ramp) {
            (None, None) => Speed::Steady(steady),
            (None, Some(ramp)) => Speed::Ramp(ramp),
            (Some(pace), None) if pace.change == 0.0 => Speed::Steady(steady * pace.pace),
            (Some(pace), ramp) => {
                let even = Ramp {
                    from: steady,
                    to: steady,
                    begin: 0.0,
                    duration: 1.0,
                    transition: Default::default(),
                };
                let (ramp, since) = (ramp.unwrap_or(even), compensated(pace.since));
                Speed::Paced(Paced {
                    ramp,
                    since,
                    pace: pace.pace,
                    change: pace.change,
                })
            }
        }
    }

    /// Adds the clips of a track's blend space.
    fn add_members<'c, C: Clips + ?Sized>(
        &self,
        at: usize,
        part: &Part,
        course: &Course,
        clips: &'c C,
        all: &mut Movers<'c>,
    ) {
        let track = &self.tracks[at];
        let Some(space) = track
            .run
            .0
            .space
            .and_then(|space| clips.blend_spaces().get(space))
        else {
            return;
        };
        let cycle = self.mover_of(at, part);
        let phases = [Phase::new(part.from), Phase::new(part.goal)];
        for &Weighing { member, weights } in course.weighing() {
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
            let playback = member.playback(space, cycle.playback);
            let ([from, goal], is_even) = member.places(playback, phases);
            // As much as it is now, and the change per second.
            let part = [course.share(weights, self.clock.now), course.slope(weights)];
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

/// A track's part in the pose at the root joint, between two moments.
struct Part {
    known: Known,
    weight: f64,
    /// How a timed event changes the weight.
    ramp: Option<Ramp>,
    /// The mask's weight at the root joint.
    mask: f64,
    group: Group,
    /// Unwrapped positions at both moments.
    from: f64,
    goal: f64,
}

/// Returns `true` if a track's clip has a part in root motion.
fn takes_part<C: Clips + ?Sized>(track: &AnimationTrack, index: usize, clips: &C) -> bool {
    !adds(track, index, clips) && clips.reaches_root(index)
}

/// Returns `true` if a track's clip is added to a pose, wherever that is.
fn adds<C: Clips + ?Sized>(track: &AnimationTrack, index: usize, clips: &C) -> bool {
    track.blend == Some(BlendMode::Additive) || clips.is_additive(index)
}

/// Returns `true` if a track's clip is one of the base.
fn is_base<C: Clips + ?Sized>(track: &AnimationTrack, index: usize, clips: &C) -> bool {
    track.is_base() && !clips.is_additive(index)
}
