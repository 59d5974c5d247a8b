//! The path of a clip's root: the clip's movement of its character at any time.

use super::{RootDelta, Twist};
use crate::model::{PlaybackMode, floor};
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// The movement of a character by a clip: a row of arcs from the clip's start to its end.
///
/// Between two frames, the character moves along an arc at a steady speed (a straight line if it
/// doesn't turn). The movement between two times is computed in closed form, however many loops are
/// between them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Knot>", into = "Vec<Knot>")]
pub struct RootPath {
    /// At least two, in order of time; the first at 0 and the last at the clip's end.
    knots: Box<[Knot]>,
    turns: bool,
}

/// The start of an arc.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Knot {
    /// Seconds from the clip's start.
    pub(crate) time: f64,
    /// From the clip's start to here.
    pub(crate) place: RootDelta,
    /// The arc from here on, per second.
    pub(crate) rate: Twist,
}

/// Clips shorter than this, in seconds, and movements smaller than this, in model units or radians,
/// don't count.
const LEAST: f64 = 1e-6;

/// Times this near to each other, in parts of a clip's length, differ only by rounding.
const NEAR: f64 = 1e-9;

/// The duration of a step of the root, in seconds: it must have a finite speed.
const STEP: f64 = 1e-4;

impl From<RootPath> for Vec<Knot> {
    fn from(path: RootPath) -> Self {
        path.knots.into()
    }
}

impl TryFrom<Vec<Knot>> for RootPath {
    type Error = &'static str;

    fn try_from(knots: Vec<Knot>) -> Result<Self, &'static str> {
        let ordered =
            knots.len() >= 2 && knots[0].time == 0.0 && knots.is_sorted_by(|a, b| a.time < b.time);
        let finite =
            |knot: &Knot| knot.time.is_finite() && knot.place.is_finite() && knot.rate.is_finite();
        if !ordered || !knots.iter().all(finite) {
            return Err(
                "root motion must have times that start at 0 s and don't decrease, and finite places",
            );
        }
        let turns = knots.iter().any(|knot| knot.rate.turn != 0.0);
        Ok(Self {
            knots: knots.into(),
            turns,
        })
    }
}

impl RootPath {
    /// Creates a path from the character's places at some times, in seconds: from 0 to the clip's
    /// length, in order. Places are relative to the first. Two equal times are a step.
    ///
    /// `None` if nothing moves, if there are no two times, or if a number or a speed is not finite.
    pub fn new(times: &[f64], places: &[RootDelta]) -> Option<Self> {
        let (&first, &duration) = (times.first()?, times.last()?);
        let sound =
            times.len() == places.len() && times.is_sorted() && first == 0.0 && duration >= LEAST;
        let start = places.first()?.inverse();
        if !sound || !places.iter().any(|place| moves(start.then(*place))) {
            return None;
        }
        let mut knots: Vec<Knot> = Vec::with_capacity(times.len());
        for (&time, &place) in times.iter().zip(places) {
            let place = start.then(place);
            if let Some(before) = knots.last_mut() {
                let step = time - before.time < STEP.min(duration * 0.25);
                if step && knots.len() > 1 {
                    // A step takes the last moment before it, so that the next arc starts on time.
                    let at = knots.len() - 1;
                    let room = knots[at].time - knots[at - 1].time;
                    knots[at].time -= STEP.min(room * 0.5);
                } else if step {
                    knots.push(Knot {
                        time: time + STEP.min(duration * 0.25),
                        place,
                        rate: Twist::default(),
                    });
                    continue;
                }
            }
            knots.push(Knot {
                time,
                place,
                rate: Twist::default(),
            });
        }
        Self::of_knots(knots)
    }

    /// Creates a path along which the character moves steadily, and ends at `total` after
    /// `duration` seconds.
    ///
    /// `None` as for [`Self::new`].
    pub fn steady(duration: f64, total: RootDelta) -> Option<Self> {
        // An arc with a large turn can't end just anywhere. So the character turns on a straight
        // line, cut into short arcs.
        let cuts = if total.turn.abs() <= 3.0 {
            1.0
        } else {
            (total.turn.abs() * 8.0).ceil().min(1e4)
        };
        let share = |cut: f64| RootDelta::new(total.translation * cut, total.turn * cut);
        let knots = (0..=cuts as u32).map(|cut| f64::from(cut) / cuts);
        let (times, places): (Vec<f64>, Vec<RootDelta>) = knots
            .map(|cut| {
                if cut < 1.0 {
                    (duration * cut, share(cut))
                } else {
                    (duration, total)
                }
            })
            .unzip();
        Self::new(&times, &places)
    }

    fn of_knots(mut knots: Vec<Knot>) -> Option<Self> {
        if knots.len() < 2 || !knots.is_sorted_by(|a, b| a.time < b.time) {
            return None;
        }
        for at in 0..knots.len() - 1 {
            let [from, to] = [knots[at], knots[at + 1]];
            knots[at].rate = Twist::between(from.place.inverse().then(to.place))
                .scaled((to.time - from.time).recip());
        }
        let sound = knots
            .iter()
            .all(|knot| knot.place.is_finite() && knot.rate.is_finite());
        let turns = knots.iter().any(|knot| knot.rate.turn != 0.0);
        sound.then(|| Self {
            knots: knots.into(),
            turns,
        })
    }

    /// Returns the length of the clip in seconds, > 0.
    #[inline]
    pub fn duration(&self) -> f64 {
        self.end().time
    }

    /// Returns the path with each translation mapped by a reflection, and each turn multiplied by a factor of 1 or −1.
    pub(in crate::model) fn mapped(&self, reflect: impl Fn(DVec3) -> DVec3, turns: f64) -> Self {
        let knot = |knot: &Knot| Knot {
            time: knot.time,
            place: RootDelta::new(reflect(knot.place.translation), knot.place.turn * turns),
            rate: Twist {
                ahead: reflect(knot.rate.ahead),
                turn: knot.rate.turn * turns,
            },
        };
        Self {
            knots: self.knots.iter().map(knot).collect(),
            turns: self.turns,
        }
    }

    /// Returns the movement from the clip's start to its end.
    pub fn total(&self) -> RootDelta {
        self.end().place
    }

    /// Returns `true` if the character ever turns.
    #[inline]
    pub fn turns(&self) -> bool {
        self.turns
    }

    /// Returns the speed over the ground, in model units per second of clip: the length of the arc
    /// from the clip's first place to its last, divided by its duration.
    pub fn ground_speed(&self) -> f64 {
        let ahead = Twist::between(self.total()).ahead;
        ahead.x.hypot(ahead.z) / self.duration()
    }

    /// Returns the movement from the clip's start to a time in the clip, clamped to `0..=duration`.
    pub fn at(&self, time: f64) -> RootDelta {
        // NaN is not greater than 0.
        let time = if time > 0.0 { time } else { 0.0 };
        let knot = &self.knots[self.arc_at(time)];
        match time < self.duration() {
            true => knot
                .place
                .then(knot.rate.scaled(time - knot.time).movement()),
            false => self.total(),
        }
    }

    /// Returns the movement between two unwrapped positions, in seconds, either of which may be the
    /// later.
    pub fn between(&self, playback: PlaybackMode, from: f64, to: f64) -> RootDelta {
        let ([(round, start), (last, end)], duration) =
            ([from, to].map(|p| self.place(playback, p)), self.duration());
        let arc = self.arc_at(start);
        if round == last
            && self.knots[arc].time <= end
            && (arc + 2 == self.knots.len() || end <= self.knots[arc + 1].time)
        {
            // By far the most common, and the most accurate.
            return self.knots[arc]
                .rate
                .scaled(end.min(duration) - start.min(duration))
                .movement();
        }
        let rounds = last - round;
        let there = if rounds == 0.0 {
            self.at(end)
        } else {
            self.total().repeated(rounds).then(self.at(end))
        };
        let way = self.at(start).inverse().then(there);
        if way.is_finite() {
            way
        } else {
            RootDelta::IDENTITY
        }
    }

    /// The way between two unwrapped positions if they are on one arc, in a clip that doesn't turn around.
    #[inline]
    pub(crate) fn arc(&self, playback: PlaybackMode, from: f64, to: f64) -> Option<Twist> {
        if playback == PlaybackMode::PingPong {
            return None;
        }
        let (duration, middle) = (self.duration(), 0.5 * (from + to));
        if self.knots.len() == 2 && playback == PlaybackMode::Loop {
            // One loop after another at one speed.
            return Some(self.knots[0].rate.scaled(to - from));
        }
        let base = if playback == PlaybackMode::Loop {
            floor(middle / duration) * duration
        } else {
            0.0
        };
        let arc = self.arc_at(middle - base);
        let ends =
            self.knots[arc].time - duration * NEAR..=self.knots[arc + 1].time + duration * NEAR;
        let is_one = ends.contains(&(from - base)) && ends.contains(&(to - base));
        is_one.then(|| self.knots[arc].rate.scaled(to - from))
    }

    /// The next place, as an unwrapped position strictly beyond another, where the character's speed may change.
    pub(crate) fn next_knot(
        &self,
        playback: PlaybackMode,
        position: f64,
        forward: bool,
    ) -> Option<f64> {
        let duration = self.duration();
        let (round, mut time) = self.place(playback, position);
        let mut base = round * duration;
        let mut mirrored = false;
        if playback == PlaybackMode::PingPong {
            base = (position / (2.0 * duration)).floor() * 2.0 * duration;
            mirrored = position - base > duration;
            base += if mirrored { 2.0 * duration } else { 0.0 };
        }
        let sign = if mirrored { -1.0 } else { 1.0 };
        let rising = forward != mirrored;
        // A knot this near counts as passed.
        let near = duration * NEAR;
        if playback == PlaybackMode::Loop {
            if forward && time >= duration - near {
                (base, time) = (base + duration, 0.0);
            } else if !forward && time <= near {
                (base, time) = (base - duration, duration);
            }
        }
        let next = if rising {
            let after = self.knots.partition_point(|knot| knot.time <= time + near);
            self.knots.get(after)
        } else {
            let before = self.knots.partition_point(|knot| knot.time < time - near);
            before.checked_sub(1).map(|before| &self.knots[before])
        };
        match (next, playback) {
            (Some(knot), _) => Some(base + sign * knot.time),
            // A ping-pong clip turns around here, and continues to the knot next to it.
            (None, PlaybackMode::PingPong) => {
                let (end, inner) = match rising {
                    true => (duration, self.knots[self.knots.len() - 2].time),
                    false => (0.0, self.knots[1].time),
                };
                let way = (end - inner).abs();
                Some(base + sign * end + if forward { way } else { -way })
            }
            (None, _) => None,
        }
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.knots[..])
    }

    /// Returns the number of the loop and the time in the clip of an unwrapped position. Only loops
    /// are counted.
    fn place(&self, playback: PlaybackMode, position: f64) -> (f64, f64) {
        let duration = self.duration();
        if !position.is_finite() {
            return (0.0, 0.0);
        }
        match playback {
            PlaybackMode::Loop => {
                let round = floor(position / duration);
                (round, (position - round * duration).clamp(0.0, duration))
            }
            PlaybackMode::Once | PlaybackMode::PingPong => {
                (0.0, playback.place(duration, position))
            }
        }
    }

    /// Returns the index of the arc at a time in the clip.
    fn arc_at(&self, time: f64) -> usize {
        let arcs = self.knots.len() - 1;
        if arcs == 1 {
            return 0;
        }
        self.knots
            .partition_point(|knot| knot.time <= time)
            .saturating_sub(1)
            .min(arcs - 1)
    }

    #[inline]
    fn end(&self) -> &Knot {
        &self.knots[self.knots.len() - 1]
    }
}

fn moves(place: RootDelta) -> bool {
    // NaN must count as moving, so that it is found later.
    !(place.translation.abs().max_element() < LEAST && place.turn.abs() < LEAST)
}

#[cfg(test)]
#[path = "tests/path.rs"]
mod tests;
