//! The ordinary frame: every clip goes along one arc, and nothing is on a ramp of its own.
//!
//! Then the clips' shares of the pose and the pace of a blend space change evenly from one cut to the other, so the
//! character's velocity is known from what it is at both cuts, and one sum over the clips is enough.

use super::{
    MOST_CHANGE, Part, adds,
    gauss::{NODES, integrate},
    is_base,
    movers::Group,
    shares::{REACHED, WHOLE, group_shares},
    takes_part,
};
use crate::{
    controller::{AnimationController, Clips, course::Weighing, timed_event::EventKind},
    model::{PlaybackMode, RootDelta, RootPath, Twist},
};

/// Parts that the time between two cuts is cut into, at most.
const MOST_PARTS: f64 = 64.0;

/// The clips of all tracks.
#[derive(Default)]
struct Arcs<'a> {
    /// Those with low and those with high priority.
    groups: [Sum; 2],
    /// How many there are, and the way of the last one.
    count: usize,
    last: Option<(&'a RootPath, PlaybackMode, f64, f64)>,
    /// Whether one goes, leaves its arc, or leaves one of a path that turns.
    goes: bool,
    leaves: bool,
    strays: bool,
    /// The weight of the base's clips, and whether the rest pose stands in for some of a set's.
    base: Option<f64>,
    is_uneven: bool,
    /// The turns of all arcs, in radians.
    turn: f64,
    /// The change of pace, relative to its mean, unless tracks differ in it.
    pace: Option<f64>,
    paces_differ: bool,
}

/// The clips of a group, by their weights at both cuts.
#[derive(Clone, Copy, Default)]
struct Sum {
    weight: [f64; 2],
    /// The largest change of a clip's weight.
    change: f64,
    /// By the weights at the first cut, and by their changes.
    way: [Twist; 2],
}

impl AnimationController {
    /// How far the character goes between two cuts, unless that takes a closer look.
    pub(super) fn along_arcs<C: Clips + ?Sized>(&self, clips: &C) -> Option<RootDelta> {
        let mut arcs = Arcs::default();
        let (mut is_ramp, mut is_over) = (self.blend_ramp().is_some(), false);
        for at in 0..self.tracks.len() {
            let Some(part) = self.part(at, clips) else {
                continue;
            };
            let before = arcs.count;
            self.add_arcs(at, &part, clips, &mut arcs);
            let is_base = track_is_base(self, at, clips);
            if is_base {
                *arcs.base.get_or_insert(0.0) += part.weight * part.mask;
                // A whole weight may be about to fade out.
                arcs.is_uneven |= part.is_ramped;
            }
            if arcs.count > before {
                is_ramp |= part.is_ramped;
                is_over |= part.group == Group::Over;
            }
            if arcs.strays && arcs.count > 1 {
                return None;
            }
        }
        if !arcs.goes {
            return Some(RootDelta::IDENTITY);
        }
        let is_uneven = arcs.is_uneven || arcs.base.is_some_and(|weight| weight < WHOLE);
        match arcs.last {
            _ if is_uneven => None,
            Some((path, playback, from, goal)) if arcs.count == 1 && !is_over => {
                Some(path.between(playback, from, goal))
            }
            _ if is_ramp || is_over => None,
            _ => arcs.movement(self.priority_blend.into()),
        }
    }

    /// Adds the clips of a track.
    #[inline]
    fn add_arcs<'c, C: Clips + ?Sized>(
        &self,
        at: usize,
        part: &Part,
        clips: &'c C,
        arcs: &mut Arcs<'c>,
    ) {
        let (track, playback) = (&self.tracks[at], part.known.playback);
        let speed_ramp = self.running_ramp(track.id, EventKind::Speed);
        let is_free = track.sync.is_none() && speed_ramp.is_none();
        let (group, weight) = (
            usize::from(part.group == Group::High),
            part.weight * part.mask,
        );
        let Some(course) = self.course_of(at) else {
            let Some(index) = track.run.0.index else {
                return;
            };
            if !takes_part(track, index, clips) {
                arcs.is_uneven |= is_base(track, index, clips);
            } else {
                let (path, way) = (clips.root_path(index), [part.from, part.goal]);
                if arcs.add(group, path, playback, way, is_free, [weight; 2]) {
                    arcs.go_at(0.0);
                }
            }
            return;
        };
        let Some(space) = track
            .run
            .0
            .space
            .and_then(|space| clips.blend_spaces().get(space))
        else {
            return;
        };
        let mut goes = false;
        // On the way to its end it is held there for the rest of the time, also if its clips loop.
        let ends = [0.0, part.known.length];
        let arrives =
            playback == PlaybackMode::Once && part.from != part.goal && ends.contains(&part.goal);
        for &Weighing {
            member,
            weights,
            way,
            is_even,
        } in course.weighing()
        {
            let Some(member) = space.members().get(member) else {
                continue;
            };
            if !takes_part(track, member.clip, clips) {
                arcs.is_uneven |= !adds(track, member.clip, clips);
                continue;
            }
            let playback = member.playback(space, playback);
            let (path, weights) = (
                clips.root_path(member.clip),
                weights.map(|part| part * weight),
            );
            goes |= arcs.add(
                group,
                path,
                playback,
                way,
                is_free && is_even && !arrives,
                weights,
            );
        }
        if goes {
            arcs.go_at(course.pace_change());
        }
    }
}

/// Returns `true` if a track is one of the base.
#[inline]
fn track_is_base<C: Clips + ?Sized>(
    controller: &AnimationController,
    at: usize,
    clips: &C,
) -> bool {
    let track = &controller.tracks[at];
    track
        .run
        .0
        .index
        .is_some_and(|index| is_base(track, index, clips))
}

impl<'a> Arcs<'a> {
    /// Adds a clip with its weights at both cuts. Returns `true` if it goes.
    #[inline]
    fn add(
        &mut self,
        group: usize,
        path: Option<&'a RootPath>,
        playback: PlaybackMode,
        way: [f64; 2],
        is_free: bool,
        weights: [f64; 2],
    ) -> bool {
        let group = &mut self.groups[group];
        let change = weights[1] - weights[0];
        group.weight = [group.weight[0] + weights[0], group.weight[1] + weights[1]];
        group.change = group.change.max(change.abs());
        self.count += 1;
        self.last = path.map(|path| (path, playback, way[0], way[1]));
        let Some(path) = path.filter(|_| way[0] != way[1] || !is_free) else {
            return false;
        };
        // A clip that plays once may be held at its end.
        let arc = if is_free && playback != PlaybackMode::Once {
            path.arc(playback, way[0], way[1])
        } else {
            None
        };
        let arc = arc.unwrap_or_else(|| {
            self.leaves = true;
            self.strays |= path.turns();
            match path.turns() {
                true => Twist::default(),
                false => Twist {
                    ahead: path.between(playback, way[0], way[1]).translation,
                    turn: 0.0,
                },
            }
        });
        self.turn += arc.turn.abs();
        group.way[0] = group.way[0].plus(arc.scaled(weights[0]));
        if change != 0.0 {
            group.way[1] = group.way[1].plus(arc.scaled(change));
        }
        true
    }

    /// Notes the change of pace, relative to its mean, of clips that go.
    #[inline]
    fn go_at(&mut self, pace: f64) {
        self.goes = true;
        self.paces_differ |= *self.pace.get_or_insert(pace) != pace;
    }

    #[inline]
    fn movement(&self, blend: f64) -> Option<RootDelta> {
        let shares = group_shares(self.groups.map(|group| group.weight[0]), blend);
        let (mut first, mut more, mut change) = (Twist::default(), Twist::default(), 0.0_f64);
        for (group, share) in self.groups.iter().zip(shares) {
            let [total, at_end] = group.weight;
            if total <= REACHED && at_end <= REACHED {
                continue;
            }
            // Otherwise the shares are quotients.
            if (at_end - total).abs() > 1e-12 * total {
                return None;
            }
            let part = share / total;
            (first, more) = (
                first.plus(group.way[0].scaled(part)),
                more.plus(group.way[1].scaled(part)),
            );
            change = change.max(group.change * part);
        }
        if change == 0.0 && !self.strays {
            let straight = RootDelta::new(first.ahead, 0.0);
            return match self.leaves {
                true => (self.turn == 0.0).then_some(straight),
                false => (!self.paces_differ || self.turn == 0.0).then(|| first.movement()),
            };
        }
        let wanted =
            (change * (NODES[2] - NODES[0]) / MOST_CHANGE[0]).max(self.turn / MOST_CHANGE[1]);
        if self.leaves || self.paces_differ || wanted > MOST_PARTS {
            return None;
        }
        let pace = self.pace.unwrap_or(0.0);
        if self.turn == 0.0 {
            return Some(RootDelta::new(
                first.ahead + more.ahead * (0.5 + pace / 12.0),
                0.0,
            ));
        }
        let velocity = |at: f64| first.plus(more.scaled(at)).scaled(1.0 + pace * (at - 0.5));
        if wanted <= 1.0 {
            return Some(integrate(NODES.map(velocity)));
        }
        let parts = wanted.ceil();
        let part = |at: u32| {
            integrate(
                NODES.map(|node| velocity((f64::from(at) + node) / parts).scaled(parts.recip())),
            )
        };
        Some(
            (0..parts as u32)
                .map(part)
                .fold(RootDelta::IDENTITY, RootDelta::then),
        )
    }
}
