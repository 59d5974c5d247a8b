//! Values that change over time, and the distance a speed covers.

use super::exact::{Exact, tick};
use serde::{Deserialize, Serialize};

/// How a value goes from one to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub enum TransitionCurve {
    /// At a constant rate.
    #[default]
    Linear,
    /// Slow at both ends: `Q(t) = 2(x−y)t³ + 3(y−x)t² + x` for t in 0..=1, from x to y.
    EaseInEaseOut,
}

impl TransitionCurve {
    /// Share of the way covered after a share `t` of the time, both in 0..=1.
    ///
    /// A quarter into an ease from 0 to 1 it is 0.15625.
    pub fn at(self, t: f64) -> f64 {
        let t = t.clamp(0.0, 1.0);
        match self {
            Self::Linear => t,
            Self::EaseInEaseOut => t * t * (3.0 - 2.0 * t),
        }
    }

    /// The integral of [`Self::at`] from 0 to `t`.
    fn area(self, t: f64) -> f64 {
        match self {
            Self::Linear => 0.5 * t * t,
            Self::EaseInEaseOut => t * t * t * (1.0 - 0.5 * t),
        }
    }
}

/// A value on its way from one to another, in global time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ramp {
    pub(crate) from: f64,
    pub(crate) to: f64,
    /// Global seconds at which it begins.
    pub(crate) begin: f64,
    /// Seconds it takes, > 0.
    pub(crate) duration: f64,
    pub(crate) transition: TransitionCurve,
}

impl Ramp {
    /// Global seconds at which it ends.
    pub(crate) fn end(&self) -> f64 {
        self.begin + self.duration
    }

    /// Share of the time that has passed, in 0..=1.
    fn progress(&self, time: Exact) -> f64 {
        let t = (time - Exact::new(self.begin)).value() / self.duration;
        if t.is_nan() { 1.0 } else { t.clamp(0.0, 1.0) }
    }

    /// The value at a global time.
    pub(crate) fn at(&self, time: Exact) -> f64 {
        let share = self.transition.at(self.progress(time));
        // Each end exactly, whatever the rounding between.
        if share >= 1.0 { self.to } else { self.from + (self.to - self.from) * share }
    }

    /// The integral of the value over the time from one progress to another.
    fn integral(&self, t0: f64, t1: f64) -> f64 {
        let area = self.transition.area(t1) - self.transition.area(t0);
        self.duration * (self.from * (t1 - t0) + (self.to - self.from) * area)
    }
}

/// A track's speed over a segment of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Speed {
    Steady(f64),
    Ramp(Ramp),
}

impl Default for Speed {
    fn default() -> Self {
        Self::Steady(0.0)
    }
}

impl Speed {
    /// The same speed times a factor.
    pub(crate) fn scaled(self, factor: f64) -> Self {
        match self {
            Self::Steady(speed) => Self::Steady(speed * factor),
            Self::Ramp(ramp) => Self::Ramp(Ramp { from: ramp.from * factor, to: ramp.to * factor, ..ramp }),
        }
    }

    /// The moment within a segment at which the direction turns.
    pub(crate) fn turning_point(self, begin: Exact, end: Exact) -> Option<Exact> {
        let Self::Ramp(ramp) = self else { return None };
        if ramp.from == 0.0 || ramp.to == 0.0 || (ramp.from < 0.0) == (ramp.to < 0.0) {
            return None;
        }
        // The share of the way at which the value is 0, and by bisection the time that belongs to it.
        let share = ramp.from / (ramp.from - ramp.to);
        let progress = bisect(0.0, 1.0, |t| ramp.transition.at(t) >= share);
        let turn = Exact::new(ramp.begin) + Exact::new(ramp.duration).scale(progress);
        (begin.is_before(turn) && turn.is_before(end)).then_some(turn)
    }

    /// Whether the track runs forward in a segment without turning point. Standing still counts as forward.
    pub(crate) fn is_forward(self, begin: Exact, end: Exact) -> bool {
        match self {
            Self::Steady(speed) => speed >= 0.0,
            Self::Ramp(ramp) => ramp.at(begin + (end - begin).scale(0.5)) >= 0.0,
        }
    }

    /// The distance covered at a steady speed in some time.
    #[inline]
    pub(crate) fn steady_distance(speed: f64, time: Exact) -> Exact {
        if time.value() <= 0.0 { Exact::ZERO } else { time.scale(speed) }
    }

    /// The distance covered in a segment without turning point; never against its direction.
    pub(crate) fn distance(self, begin: Exact, end: Exact) -> Exact {
        let time = end - begin;
        if time.value() <= 0.0 {
            return Exact::ZERO;
        }
        match self {
            Self::Steady(speed) => Self::steady_distance(speed, time),
            Self::Ramp(ramp) => {
                let way = ramp.integral(ramp.progress(begin), ramp.progress(end));
                let against = if self.is_forward(begin, end) { way < 0.0 } else { way > 0.0 };
                if against { Exact::ZERO } else { Exact::new(way) }
            }
        }
    }

    /// The moment in a segment without turning point at which a distance has been covered.
    pub(crate) fn moment(self, begin: Exact, end: Exact, distance: f64) -> Exact {
        let moment = match self {
            Self::Steady(speed) => begin + Exact::new(distance / speed),
            Self::Ramp(ramp) => {
                let (t0, t1) = (ramp.progress(begin), ramp.progress(end));
                // Where a speed comes to rest, a rounding of the distance is a long time.
                if tick(ramp.integral(t0, t1)) == tick(distance) {
                    return end;
                }
                let t = bisect(t0, t1, |t| ramp.integral(t0, t).abs() >= distance.abs());
                Exact::new(ramp.begin) + Exact::new(ramp.duration).scale(t)
            }
        };
        if moment.is_before(begin) { begin } else { moment.min(end) }
    }
}

/// The least number between two at which a condition holds that stays true once it is; else the greater.
fn bisect(mut low: f64, mut high: f64, reached: impl Fn(f64) -> bool) -> f64 {
    // 64 halvings of 0..=1 reach neighbouring numbers.
    for _ in 0..64 {
        let middle = low + (high - low) * 0.5;
        if middle <= low || middle >= high {
            break;
        }
        if reached(middle) { high = middle } else { low = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(from: f64, to: f64, transition: TransitionCurve) -> Ramp {
        Ramp { from, to, begin: 1.0, duration: 2.0, transition }
    }

    fn at(time: f64) -> Exact {
        Exact::new(time)
    }

    #[test]
    fn an_ease_starts_and_ends_slowly() {
        let ease = ramp(0.0, 1.0, TransitionCurve::EaseInEaseOut);
        assert_eq!(
            [0.0, 1.0, 1.5, 2.0, 2.5, 3.0, 9.0].map(|t| ease.at(at(t))),
            [0.0, 0.0, 0.15625, 0.5, 0.84375, 1.0, 1.0]
        );
    }

    #[test]
    fn the_distance_is_the_integral_of_the_speed() {
        for transition in [TransitionCurve::Linear, TransitionCurve::EaseInEaseOut] {
            let speed = Speed::Ramp(ramp(0.5, 3.0, transition));
            let (whole, steps) = (speed.distance(at(1.25), at(2.75)).value(), 100_000);
            let step = 1.5 / f64::from(steps);
            let Speed::Ramp(ramp) = speed else { unreachable!() };
            let sum: f64 = (0..steps).map(|i| ramp.at(at(1.25 + (f64::from(i) + 0.5) * step)) * step).sum();
            assert!((whole - sum).abs() < 1e-9, "{transition:?}: {whole} {sum}");
        }
    }

    #[test]
    fn a_moment_inverts_the_distance_and_a_turn_is_found() {
        for transition in [TransitionCurve::Linear, TransitionCurve::EaseInEaseOut] {
            let speed = Speed::Ramp(ramp(1.0, -3.0, transition));
            let turn = speed.turning_point(at(1.0), at(3.0)).unwrap();
            let Speed::Ramp(r) = speed else { unreachable!() };
            assert!(r.at(turn).abs() < 1e-12);
            assert!(speed.is_forward(at(1.0), turn) && !speed.is_forward(turn, at(3.0)));
            let part = speed.distance(turn, at(2.5)).value();
            assert!((speed.moment(turn, at(3.0), part).value() - 2.5).abs() < 1e-9);
        }
        assert_eq!(Speed::Steady(2.0).moment(at(1.0), at(3.0), 1.0).value(), 1.5);
        assert_eq!(Speed::Steady(0.0).moment(at(1.0), at(3.0), 0.0).value(), 1.0);
    }
}
