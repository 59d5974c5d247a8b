//! What carries a character between two cuts: clips, each on its way along its path.

use super::gauss::WEIGHTS;
use crate::{
    controller::{
        compensated::CompensatedF64,
        ramp::{Ramp, Speed},
        sync::Lead,
    },
    model::{Member, PlaybackMode, RootDelta, RootPath, Twist},
};

/// Movers that fit on the stack; more of them are allocated.
const FEW: usize = 8;

/// A track that has a share of the pose at the root joint, between two cuts.
#[derive(Clone, Copy)]
pub(crate) struct Mover<'a> {
    /// `None` if it stands still.
    pub(crate) path: Option<&'a RootPath>,
    pub(crate) playback: PlaybackMode,
    /// Unwrapped positions between which it goes one way.
    pub(crate) from: f64,
    pub(crate) to: f64,
    /// The clip of a blend space, if it is one, and how it plays there: the rest is in phases then.
    pub(crate) member: Option<(&'a Member, PlaybackMode)>,
    /// The length of a clip that plays once, which holds it.
    pub(crate) held: Option<f64>,
    /// Where what drives it is, and how fast it goes: itself, or the leader of its sync group, which may be held, too.
    pub(crate) driver: f64,
    pub(crate) driver_held: Option<f64>,
    pub(crate) speed: Speed,
    pub(crate) lead: Option<Lead>,
    /// Where it is at the second cut.
    pub(crate) goal: f64,
    /// Where it is at both ends of the present piece.
    pub(crate) now: f64,
    pub(crate) next: f64,
    pub(crate) weight: f64,
    pub(crate) ramp: Option<Ramp>,
    /// Its part of a blend space: how much at the first cut, and the change per second.
    pub(crate) part: [f64; 2],
    /// Whether the clip goes evenly with the phase of its blend space all the way.
    pub(crate) is_even: bool,
    /// The index of its track.
    pub(crate) track: usize,
    /// The mask's weight at the root joint.
    pub(crate) mask: f64,
    pub(crate) group: Group,
    pub(crate) set: Set,
    /// Whether it moves the root joint.
    pub(crate) reaches: bool,
    /// Its weight at some moment, with and without the mask.
    pub(crate) weighs: f64,
    pub(crate) full: f64,
    /// Of the pose at the root joint, at some moment.
    pub(crate) share: f64,
    /// The share at the first node of a piece.
    pub(crate) first: f64,
    /// Where it goes in the present piece, and how fast at the piece's nodes, relative to the mean.
    pub(crate) way: Twist,
    pub(crate) pace: [f64; 3],
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Group {
    Low,
    High,
    Over,
}

/// What a mover stands together with, as layers of a [`Mix`](crate::pose::Mix) do.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Set {
    Alone,
    Base,
    /// The clips of a track's blend space.
    Space(usize),
}

/// What carries a character between two cuts.
pub(crate) struct Movers<'a> {
    few: [Mover<'a>; FEW],
    many: Vec<Mover<'a>>,
    count: usize,
}

impl<'a> Movers<'a> {
    pub(crate) fn new() -> Self {
        Self {
            few: [Mover::NONE; FEW],
            many: Vec::new(),
            count: 0,
        }
    }

    #[inline]
    pub(crate) fn extend(&mut self, mover: Option<Mover<'a>>) {
        let Some(mover) = mover else { return };
        match self.few.get_mut(self.count) {
            Some(place) => *place = mover,
            None => {
                if self.many.is_empty() {
                    self.many.extend_from_slice(&self.few);
                }
                self.many.push(mover);
            }
        }
        self.count += 1;
    }

    pub(crate) fn as_mut(&mut self) -> &mut [Mover<'a>] {
        if self.count > FEW {
            &mut self.many
        } else {
            &mut self.few[..self.count]
        }
    }
}

impl Mover<'_> {
    pub(crate) const NONE: Self = Self {
        path: None,
        playback: PlaybackMode::Once,
        member: None,
        from: 0.0,
        to: 0.0,
        held: None,
        driver: 0.0,
        driver_held: None,
        speed: Speed::Steady(0.0),
        lead: None,
        goal: 0.0,
        now: 0.0,
        next: 0.0,
        weight: 0.0,
        ramp: None,
        part: [1.0, 0.0],
        is_even: true,
        track: 0,
        mask: 0.0,
        group: Group::Low,
        set: Set::Alone,
        reaches: true,
        weighs: 0.0,
        full: 0.0,
        share: 0.0,
        first: 0.0,
        way: Twist {
            ahead: glam::DVec3::ZERO,
            turn: 0.0,
        },
        pace: [1.0; 3],
    };

    pub(crate) fn goes(&self) -> bool {
        self.path.is_some() && (self.from != self.goal || !matches!(self.speed, Speed::Steady(_)))
    }

    pub(crate) fn between(&self, from: f64, to: f64) -> RootDelta {
        self.path.map_or(RootDelta::IDENTITY, |path| {
            path.between(self.playback, from, to)
        })
    }

    /// Its way in a piece that ends somewhere.
    pub(crate) fn way_to(&self, to: f64) -> Twist {
        let arc = self
            .path
            .and_then(|path| path.arc(self.playback, self.now, to));
        arc.unwrap_or_else(|| Twist::between(self.between(self.now, to)))
    }

    /// The whole way, if it is along one arc and in one direction.
    #[inline]
    pub(crate) fn arc(&self, [begin, end]: [CompensatedF64; 2]) -> Option<Twist> {
        let Some(path) = self.path else {
            return Some(Twist::default());
        };
        let is_free = self.held.is_none() && self.lead.is_none() && self.is_even;
        let arc = if is_free {
            path.arc(self.playback, self.from, self.goal)
        } else {
            None
        };
        arc.filter(|_| self.speed.turning_point(begin, end).is_none())
    }

    /// How fast it goes at the nodes of a piece, relative to the mean.
    pub(crate) fn pace_at(&self, nodes: [CompensatedF64; 3]) -> [f64; 3] {
        if matches!(self.speed, Speed::Steady(_)) {
            return [1.0; 3];
        }
        let pace = nodes.map(|node| self.speed.at(node));
        let mean: f64 = (0..3).map(|node| WEIGHTS[node] * pace[node]).sum();
        if mean == 0.0 {
            [1.0; 3]
        } else {
            pace.map(|pace| pace / mean)
        }
    }

    /// Where it is at a moment between two turns of its direction, when its driver is somewhere.
    pub(crate) fn position(
        &self,
        [start, stop]: [CompensatedF64; 2],
        time: CompensatedF64,
        driver: f64,
    ) -> f64 {
        if time == stop || self.from == self.to {
            return self.to;
        }
        if time == start {
            self.from
        } else {
            self.place(driver)
        }
    }

    /// Where its driver is at a moment.
    pub(crate) fn driver_at(&self, start: CompensatedF64, time: CompensatedF64) -> f64 {
        hold(
            self.driver + self.speed.distance(start, time).value(),
            self.driver_held,
        )
    }

    /// Where it is in its clip when its driver is somewhere.
    pub(crate) fn place(&self, driver: f64) -> f64 {
        let own = hold(self.unheld(driver), self.held);
        self.member
            .map_or(own, |(member, playback)| member.place(playback, own))
    }

    /// Where it would be if its own clip didn't end.
    pub(crate) fn unheld(&self, driver: f64) -> f64 {
        self.lead.map_or(driver, |lead| lead.follow(driver))
    }

    /// The next moment at which its velocity may change, for a steady speed; also where it sets off or comes to rest.
    pub(crate) fn next_knot(
        &self,
        span: [CompensatedF64; 2],
        now: CompensatedF64,
    ) -> Option<CompensatedF64> {
        let path = self.path.filter(|_| self.from != self.to)?;
        let position = self.now;
        if position == self.to {
            return None;
        }
        let forward = self.to > self.from;
        // It waits at its end until its leader is where it ended.
        let waits = self
            .held
            .filter(|_| self.lead.is_some())
            .and_then(|length| {
                let unheld = self.unheld(self.driver_at(span[0], now));
                match forward {
                    true => (unheld < 0.0).then_some(0.0),
                    false => (unheld > length).then_some(length),
                }
            });
        let knot = waits.unwrap_or_else(|| {
            let knot = path
                .next_knot(self.playback, position, forward)
                .unwrap_or(self.to);
            let nearer = |a: f64, b: f64| if forward { a.min(b) } else { a.max(b) };
            let Some((member, playback)) = self.member else {
                return nearer(knot, self.to);
            };
            let bend = member
                .next_bend(playback, position, forward)
                .unwrap_or(self.to);
            member.phase(playback, nearer(nearer(knot, bend), self.to))
        });
        let driver = self.lead.map_or(Some(knot), |lead| lead.lead_to(knot))?;
        Some(self.speed.moment(span[0], span[1], driver - self.driver))
    }
}

fn hold(position: f64, length: Option<f64>) -> f64 {
    length.map_or(position, |length| position.clamp(0.0, length))
}
