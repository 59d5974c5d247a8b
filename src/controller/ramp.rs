//! Values that change over time, and the distance covered at a changing speed.

use super::compensated::{CompensatedF64, tick};
use serde::{Deserialize, Serialize};

/// How a value changes from one to another.
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
    /// Returns the fraction of the change that is done after a fraction `t` of the time, both in `0..=1`.
    ///
    /// For an ease, that is 0.15625 after a quarter of the time.
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
    /// When it begins, in seconds of global time.
    pub(crate) begin: f64,
    /// How long it takes, in seconds, > 0.
    pub(crate) duration: f64,
    pub(crate) transition: TransitionCurve,
}

impl Ramp {
    /// When it ends, in seconds of global time.
    pub(crate) fn end(&self) -> f64 {
        self.begin + self.duration
    }

    /// The ramp, with all values times a factor.
    fn scaled(self, factor: f64) -> Self {
        Self {
            from: self.from * factor,
            to: self.to * factor,
            ..self
        }
    }

    /// The fraction of the time that has passed, in 0..=1.
    fn progress(&self, time: CompensatedF64) -> f64 {
        let t = (time - CompensatedF64::new(self.begin)).value() / self.duration;
        if t.is_nan() { 1.0 } else { t.clamp(0.0, 1.0) }
    }

    /// Returns `true` if it stays where it is.
    fn is_level(&self) -> bool {
        self.from == self.to
    }

    /// The value at a global time.
    pub(crate) fn at(&self, time: CompensatedF64) -> f64 {
        if self.is_level() {
            return self.from;
        }
        let share = self.transition.at(self.progress(time));
        // Both ends are exact, whatever the rounding between them.
        if share >= 1.0 {
            self.to
        } else {
            self.from + (self.to - self.from) * share
        }
    }

    /// The rate of change, as the polynomial `c[0] + c[1]·s + c[2]·s²` of the seconds s after a time within the ramp.
    pub(crate) fn slope(&self, time: CompensatedF64) -> [f64; 3] {
        let change = (self.to - self.from) / self.duration;
        match self.transition {
            TransitionCurve::Linear => [change, 0.0, 0.0],
            TransitionCurve::EaseInEaseOut => {
                let (t, dt) = (self.progress(time), 1.0 / self.duration);
                [t * (1.0 - t), dt * (1.0 - 2.0 * t), -dt * dt].map(|c| 6.0 * change * c)
            }
        }
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
    Paced(Paced),
}

/// A speed, steady or on a ramp, times a pace that changes evenly and is never negative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Paced {
    /// A steady speed goes from itself to itself.
    pub(crate) ramp: Ramp,
    pub(crate) since: CompensatedF64,
    /// The pace then, and its change per second.
    pub(crate) pace: f64,
    pub(crate) change: f64,
}

impl Paced {
    fn at(&self, time: CompensatedF64) -> f64 {
        self.ramp.at(time) * self.pace_at(time)
    }

    #[inline]
    fn pace_at(&self, time: CompensatedF64) -> f64 {
        let before = if time == self.since {
            0.0
        } else {
            (time - self.since).value()
        };
        self.pace + self.change * before
    }

    /// The seconds from a time on in which a distance is covered, if the speed is steady.
    fn seconds_of(&self, begin: CompensatedF64, distance: f64) -> Option<f64> {
        let speed = self.ramp.is_level().then_some(self.ramp.from.abs())?;
        let (rate, change, distance) = (
            speed * self.pace_at(begin),
            speed * self.change,
            distance.abs(),
        );
        let seconds =
            2.0 * distance / (rate + (rate * rate + 2.0 * change * distance).max(0.0).sqrt());
        seconds.is_finite().then_some(seconds)
    }

    /// The integral over some seconds from a time on.
    #[inline]
    fn integral(&self, begin: CompensatedF64, seconds: f64) -> f64 {
        let (pace, change) = (self.pace_at(begin), self.change);
        if self.ramp.is_level() {
            return self.ramp.from * (pace + 0.5 * change * seconds) * seconds;
        }
        self.integral_of_ramp(begin, seconds)
    }

    fn integral_of_ramp(&self, begin: CompensatedF64, seconds: f64) -> f64 {
        let (pace, change) = (self.pace_at(begin), self.change);
        let [a, b, c] = self.ramp.slope(begin);
        let speed = [self.ramp.at(begin), a, b / 2.0, c / 3.0];
        // The coefficients of the product, each integrated, from the highest to the lowest.
        let product = |power: usize| {
            let own = speed.get(power).map_or(0.0, |speed| speed * pace);
            own + if power > 0 {
                speed[power - 1] * change
            } else {
                0.0
            }
        };
        (0..=4).rev().fold(0.0, |sum, power| {
            (sum + product(power) / (power + 1) as f64) * seconds
        })
    }
}

impl Default for Speed {
    fn default() -> Self {
        Self::Steady(0.0)
    }
}

impl Speed {
    /// The speed times a factor.
    pub(crate) fn scaled(self, factor: f64) -> Self {
        match self {
            Self::Steady(speed) => Self::Steady(speed * factor),
            Self::Ramp(ramp) => Self::Ramp(ramp.scaled(factor)),
            Self::Paced(paced) => Self::Paced(Paced {
                ramp: paced.ramp.scaled(factor),
                ..paced
            }),
        }
    }

    /// The speed at a time.
    pub(crate) fn at(&self, time: CompensatedF64) -> f64 {
        match self {
            Self::Steady(speed) => *speed,
            Self::Ramp(ramp) => ramp.at(time),
            Self::Paced(paced) => paced.at(time),
        }
    }

    /// The moment within a segment at which the direction reverses.
    pub(crate) fn turning_point(
        &self,
        begin: CompensatedF64,
        end: CompensatedF64,
    ) -> Option<CompensatedF64> {
        let (Self::Ramp(ramp) | Self::Paced(Paced { ramp, .. })) = self else {
            return None;
        };
        if ramp.from == 0.0 || ramp.to == 0.0 || (ramp.from < 0.0) == (ramp.to < 0.0) {
            return None;
        }
        // The fraction of the change at which the value is 0, and by bisection the time of it.
        let share = ramp.from / (ramp.from - ramp.to);
        let progress = bisect(0.0, 1.0, |t| ramp.transition.at(t) >= share);
        let turn =
            CompensatedF64::new(ramp.begin) + CompensatedF64::new(ramp.duration).scale(progress);
        (begin.is_before(turn) && turn.is_before(end)).then_some(turn)
    }

    /// Returns `true` if the track runs forward in a segment without turning point. Speed 0 counts as forward.
    #[inline]
    pub(crate) fn is_forward(&self, begin: CompensatedF64, end: CompensatedF64) -> bool {
        match self {
            Self::Steady(speed) => *speed >= 0.0,
            Self::Ramp(ramp) | Self::Paced(Paced { ramp, .. }) if ramp.is_level() => {
                ramp.from >= 0.0
            }
            Self::Ramp(ramp) | Self::Paced(Paced { ramp, .. }) => {
                ramp.at(begin + (end - begin).scale(0.5)) >= 0.0
            }
        }
    }

    /// The distance covered at a steady speed.
    #[inline]
    pub(crate) fn steady_distance(speed: f64, time: CompensatedF64) -> CompensatedF64 {
        if time.value() <= 0.0 {
            CompensatedF64::ZERO
        } else {
            time.scale(speed)
        }
    }

    /// The distance covered in a segment without turning point; never against its direction.
    #[inline]
    pub(crate) fn distance(&self, begin: CompensatedF64, end: CompensatedF64) -> CompensatedF64 {
        self.distance_in(end - begin, begin, end)
    }

    /// The same, for a segment of some length.
    #[inline]
    pub(crate) fn distance_in(
        &self,
        time: CompensatedF64,
        begin: CompensatedF64,
        end: CompensatedF64,
    ) -> CompensatedF64 {
        if time.value() <= 0.0 {
            return CompensatedF64::ZERO;
        }
        match self {
            Self::Steady(speed) => Self::steady_distance(*speed, time),
            Self::Ramp(ramp) => self.not_against(
                ramp.integral(ramp.progress(begin), ramp.progress(end)),
                begin,
                end,
            ),
            Self::Paced(paced) => self.not_against(paced.integral(begin, time.value()), begin, end),
        }
    }

    /// A way in a segment without turning point, unless rounding leads against its direction.
    #[inline]
    fn not_against(&self, way: f64, begin: CompensatedF64, end: CompensatedF64) -> CompensatedF64 {
        let against = if self.is_forward(begin, end) {
            way < 0.0
        } else {
            way > 0.0
        };
        if against {
            CompensatedF64::ZERO
        } else {
            CompensatedF64::new(way)
        }
    }

    /// The moment in a segment without turning point at which a distance has been covered.
    pub(crate) fn moment(
        &self,
        begin: CompensatedF64,
        end: CompensatedF64,
        distance: f64,
    ) -> CompensatedF64 {
        let moment = match self {
            Self::Steady(speed) => begin + CompensatedF64::new(distance / speed),
            Self::Ramp(ramp) => {
                let (t0, t1) = (ramp.progress(begin), ramp.progress(end));
                // Where a speed comes to rest, a rounding error of the distance is a long time.
                if tick(ramp.integral(t0, t1)) == tick(distance) {
                    return end;
                }
                let t = bisect(t0, t1, |t| ramp.integral(t0, t).abs() >= distance.abs());
                CompensatedF64::new(ramp.begin) + CompensatedF64::new(ramp.duration).scale(t)
            }
            Self::Paced(paced) => {
                let whole = (end - begin).value();
                if tick(paced.integral(begin, whole)) == tick(distance) {
                    return end;
                }
                let seconds = paced.seconds_of(begin, distance).unwrap_or_else(|| {
                    bisect(0.0, whole, |seconds| {
                        paced.integral(begin, seconds).abs() >= distance.abs()
                    })
                });
                begin + CompensatedF64::new(seconds)
            }
        };
        if moment.is_before(begin) {
            begin
        } else {
            moment.min(end)
        }
    }
}

/// Returns the roots of `c + b·x + a·x²`, the lesser one first; not finite where there is none.
pub(crate) fn roots([c, b, a]: [f64; 3]) -> [f64; 2] {
    let q = -0.5 * (b + (b * b - 4.0 * a * c).sqrt().copysign(b));
    let (first, second) = (q / a, c / q);
    if second < first {
        [second, first]
    } else {
        [first, second]
    }
}

/// Finds the least number in `low..=high` at which a condition holds that stays true from there on; `high` if none.
pub(crate) fn bisect(mut low: f64, mut high: f64, reached: impl Fn(f64) -> bool) -> f64 {
    // 64 halvings of 0..=1 reach adjacent numbers.
    for _ in 0..64 {
        let middle = low + (high - low) * 0.5;
        if middle <= low || middle >= high {
            break;
        }
        if reached(middle) {
            high = middle
        } else {
            low = middle
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(from: f64, to: f64, transition: TransitionCurve) -> Ramp {
        Ramp {
            from,
            to,
            begin: 1.0,
            duration: 2.0,
            transition,
        }
    }

    fn at(time: f64) -> CompensatedF64 {
        CompensatedF64::new(time)
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
            let Speed::Ramp(ramp) = speed else {
                unreachable!()
            };
            let sum: f64 = (0..steps)
                .map(|i| ramp.at(at(1.25 + (f64::from(i) + 0.5) * step)) * step)
                .sum();
            assert!((whole - sum).abs() < 1e-9, "{transition:?}: {whole} {sum}");
        }
    }

    #[test]
    fn a_slope_is_the_derivative_and_its_roots_are_found() {
        let ease = ramp(0.5, 3.0, TransitionCurve::EaseInEaseOut);
        let [c, b, a] = ease.slope(at(1.25));
        for s in [0.0, 0.5, 1.5] {
            let rate = (ease.at(at(1.25 + s + 1e-6)) - ease.at(at(1.25 + s - 1e-6))) / 2e-6;
            assert!((c + b * s + a * s * s - rate).abs() < 1e-6, "{s}");
        }
        // It begins and ends flat.
        let [begin, end] = roots(ease.slope(at(1.25)));
        assert!((begin + 0.25).abs() < 1e-12 && (end - 1.75).abs() < 1e-12);
        assert_eq!(
            roots([2.0, -1.0, 0.0]).map(|root| (root == 2.0, root.is_finite())),
            [(true, true), (false, false)]
        );
        assert!(
            roots([1.0, 0.0, 1.0])
                .iter()
                .chain(&roots([1.0, 0.0, 0.0]))
                .all(|root| !root.is_finite())
        );
        assert_eq!(roots([-1.0, 0.0, 1.0]), [-1.0, 1.0]);
    }

    #[test]
    fn a_moment_inverts_the_distance_and_a_turn_is_found() {
        for transition in [TransitionCurve::Linear, TransitionCurve::EaseInEaseOut] {
            let speed = Speed::Ramp(ramp(1.0, -3.0, transition));
            let turn = speed.turning_point(at(1.0), at(3.0)).unwrap();
            let Speed::Ramp(r) = speed else {
                unreachable!()
            };
            assert!(r.at(turn).abs() < 1e-12);
            assert!(speed.is_forward(at(1.0), turn) && !speed.is_forward(turn, at(3.0)));
            let part = speed.distance(turn, at(2.5)).value();
            assert!((speed.moment(turn, at(3.0), part).value() - 2.5).abs() < 1e-9);
        }
        assert_eq!(
            Speed::Steady(2.0).moment(at(1.0), at(3.0), 1.0).value(),
            1.5
        );
        assert_eq!(
            Speed::Steady(0.0).moment(at(1.0), at(3.0), 0.0).value(),
            1.0
        );
    }
}
