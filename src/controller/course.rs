//! What a track does in its blend space between two cuts.

use super::{
    Clips, TransitionCurve,
    compensated::CompensatedF64,
    key::AddedKey,
    motion::{Paced, Ramp, Speed},
    steering::MOMENT,
};
use crate::model::{BlendPoint, BoundBlendSpace, ClipTiming, Cycle, Member, Phase, PlaybackMode};
use std::sync::Arc;

/// Clips that can weigh between two cuts: those at both ends.
const MOST: usize = 6;

/// A clip of a blend space that weighs between two cuts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Weighing {
    /// Its place among the space's members.
    pub(super) member: usize,
    /// Its weights at both cuts.
    pub(super) weights: [f64; 2],
    /// Its positions at both cuts, and whether it goes evenly from one to the other: as far as it was
    /// [moved](Self::move_along).
    pub(super) way: [f64; 2],
    pub(super) is_even: bool,
}

impl Weighing {
    /// Moves along while the phase goes from one place to another.
    // Always inlined: otherwise, reading both positions at once waits for what was just written.
    #[inline(always)]
    pub(super) fn move_along(
        &mut self,
        member: &Member,
        playback: PlaybackMode,
        phases: [Phase; 2],
    ) {
        (self.way, self.is_even) = member.places(playback, phases);
    }
}

/// What a track does in its blend space between two cuts.
#[derive(Clone, Debug, Default)]
pub(super) struct Course {
    begin: CompensatedF64,
    /// How long it is, ≥ 0.
    seconds: f64,
    /// In the order of members.
    weighing: [Weighing; MOST],
    count: usize,
    /// Cycles per second at both ends.
    pace: [f64; 2],
    /// Where it ends, what weighs there, and in which space.
    end: (BlendPoint, Cycle),
    of: Option<Arc<[Member]>>,
    /// The controller's own keys for each member.
    pub(super) added: Vec<Vec<AddedKey>>,
}

impl Course {
    /// What weighs at a point: known already, if it ended there.
    #[inline]
    pub(super) fn cycle(&self, point: BlendPoint, space: &BoundBlendSpace) -> Cycle {
        if point == self.end.0 && self.is_of(space) {
            self.end.1
        } else {
            space.cycle(point)
        }
    }

    /// Returns `false` if clips were loaded anew.
    #[inline]
    fn is_of(&self, space: &BoundBlendSpace) -> bool {
        self.of
            .as_ref()
            .is_some_and(|members| Arc::ptr_eq(members, space.members()))
    }

    /// Goes from one point to another.
    pub(super) fn settle(
        &mut self,
        span: [CompensatedF64; 2],
        ends: [BlendPoint; 2],
        space: &BoundBlendSpace,
    ) {
        let is_of = self.is_of(space);
        if !is_of || ends[0] != self.end.0 {
            space.cycle_to(ends[0], &mut self.end.1);
        }
        if !is_of {
            self.of = Some(space.members().clone());
        }
        (self.begin, self.seconds) = (span[0], (span[1] - span[0]).value().max(0.0));
        self.end.0 = ends[1];
        let first = self.end.1;
        if ends[1] != ends[0] {
            space.cycle_to(ends[1], &mut self.end.1);
        }
        let last = &self.end.1;
        self.pace = [first.pace, last.pace];
        let (first, last) = (&first.weights, &last.weights);
        self.count = 0;
        if first
            .iter()
            .map(|weight| weight.0)
            .eq(last.iter().map(|weight| weight.0))
        {
            for (weighing, (begin, end)) in self.weighing.iter_mut().zip(first.iter().zip(&**last))
            {
                (weighing.member, weighing.weights) = (begin.0, [begin.1, end.1]);
            }
            self.count = first.len();
            return;
        }
        // Both lists are in the order of members, which doesn't depend on where time is cut.
        let next = |weights: &[(usize, f64)], at: usize| {
            weights.get(at).copied().unwrap_or((usize::MAX, 0.0))
        };
        let (mut at_begin, mut at_end) = (0, 0);
        while at_begin < first.len() || at_end < last.len() {
            let (begin, end) = (next(first, at_begin), next(last, at_end));
            let member = begin.0.min(end.0);
            let weight = |(of, weight): (usize, f64)| if of == member { weight } else { 0.0 };
            let weighing = &mut self.weighing[self.count];
            (weighing.member, weighing.weights) = (member, [weight(begin), weight(end)]);
            self.count += 1;
            at_begin += usize::from(begin.0 == member);
            at_end += usize::from(end.0 == member);
        }
    }

    /// The clips that weigh.
    #[inline]
    pub(super) fn weighing(&self) -> &[Weighing] {
        &self.weighing[..self.count]
    }

    /// The clips that weigh, to move them.
    #[inline]
    pub(super) fn weighing_mut(&mut self) -> &mut [Weighing] {
        &mut self.weighing[..self.count]
    }

    /// Returns `true` if it takes no longer than rounding.
    pub(super) fn is_momentary(&self) -> bool {
        self.seconds <= MOMENT
    }

    /// The change of a weight per second.
    #[inline]
    pub(super) fn slope(&self, [from, to]: [f64; 2]) -> f64 {
        if from == to || self.seconds <= 0.0 {
            0.0
        } else {
            (to - from) / self.seconds
        }
    }

    /// A weight at a moment.
    #[inline]
    pub(super) fn share(&self, ends: [f64; 2], moment: CompensatedF64) -> f64 {
        let share = ends[0] + self.slope(ends) * (moment - self.begin).value();
        share.clamp(ends[0].min(ends[1]), ends[0].max(ends[1]))
    }

    /// The heaviest member at a moment; of those that differ by no more than rounding, the first.
    pub(super) fn heaviest(&self, moment: CompensatedF64) -> Option<usize> {
        let mut heaviest = None;
        for &Weighing {
            member, weights, ..
        } in self.weighing()
        {
            let share = self.share(weights, moment);
            if heaviest.is_none_or(|(_, most)| share > most + 1e-9) {
                heaviest = Some((member, share));
            }
        }
        heaviest.map(|(member, _)| member)
    }

    /// The pace of the cycle at the first end.
    pub(super) fn pace(&self) -> f64 {
        self.pace[0]
    }

    /// Returns the change of pace from one end to the other, relative to its mean.
    #[inline]
    pub(super) fn pace_change(&self) -> f64 {
        let [first, last] = self.pace;
        if first == last {
            0.0
        } else {
            (last - first) / (0.5 * (first + last))
        }
    }

    /// The speed of the phase, for a speed of the track.
    #[inline]
    pub(super) fn paced(&self, speed: Speed) -> Speed {
        let change = self.slope(self.pace);
        if change == 0.0 {
            return speed.scaled(self.pace[0]);
        }
        let ramp = match speed {
            Speed::Ramp(ramp) => ramp,
            Speed::Paced(paced) => paced.ramp,
            Speed::Steady(speed) => {
                let (begin, transition) = (self.begin.value(), TransitionCurve::Linear);
                Ramp {
                    from: speed,
                    to: speed,
                    begin,
                    duration: 1.0,
                    transition,
                }
            }
        };
        Speed::Paced(Paced {
            ramp,
            since: self.begin,
            pace: self.pace[0],
            change,
        })
    }
}

/// A blend space in a segment of time.
#[derive(Clone, Copy)]
pub(super) struct Blended<'a> {
    pub(super) space: &'a BoundBlendSpace,
    pub(super) course: &'a Course,
    /// The clips that weigh in the course.
    pub(super) timings: [Option<&'a ClipTiming>; MOST],
}

impl<'a> Blended<'a> {
    pub(super) fn new<C: Clips + ?Sized>(
        space: &'a BoundBlendSpace,
        course: &'a Course,
        clips: &'a C,
    ) -> Self {
        let mut timings = [None; MOST];
        for (timing, Weighing { member, .. }) in timings.iter_mut().zip(course.weighing()) {
            *timing = space
                .members()
                .get(*member)
                .and_then(|member| clips.timing(member.clip));
        }
        Self {
            space,
            course,
            timings,
        }
    }

    /// The heaviest clip at a moment.
    pub(super) fn clip(&self, moment: CompensatedF64) -> Option<usize> {
        Some(
            self.space
                .members()
                .get(self.course.heaviest(moment)?)?
                .clip,
        )
    }
}
