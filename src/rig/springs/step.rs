//! One step of a damped spring, solved exactly.

use glam::Vec3A;
use std::f64::consts::TAU;

/// Seconds of a step.
pub(super) const STEP: f64 = 1.0 / 60.0;
const STEP_F32: f32 = STEP as f32;
/// Steps per second.
pub(super) const PER_SECOND: f32 = (1.0 / STEP) as f32;

/// The solution of `e'' = −ω² e − c e' + f` after a step, for a constant `f`: linear in the deviation `e`, its velocity
/// and `f`. It is exact for any stiffness and damping, so no spring is too stiff for the step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Step {
    /// The deviation after the step, from deviation, velocity and force.
    e: [f32; 3],
    /// The velocity after the step, from the same.
    v: [f32; 3],
    drag: f32,
    /// Effect of a whole step on the deviation from the target and on the velocity.
    pub(super) deviation: Weights,
    pub(super) velocity: Weights,
}

/// Result of a step: the sum of everything that acts on a value, by these weights.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Weights {
    /// Of the way of the target.
    moved: f32,
    deviation: f32,
    velocity: f32,
    target_velocity: f32,
    push: f32,
}

/// A spring's end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Body {
    /// The offset from the point that it is drawn to.
    pub(super) deviation: Vec3A,
    pub(super) velocity: Vec3A,
    /// The target's mean velocity in the last step.
    pub(super) target_velocity: Vec3A,
}

impl Step {
    /// A spring with a natural frequency in Hz, a damping ratio, and a drag per second.
    pub(super) fn new(frequency: f64, damping: f64, drag: f64) -> Self {
        let rate = TAU * frequency;
        // The equation as a matrix that acts on `e`, its velocity, and the constant `f`. The
        // exponential of the matrix is its exact solution.
        let resistance = 2.0 * damping * rate + drag;
        let flow = [
            [0.0, 1.0, 0.0],
            [-rate * rate, -resistance, 1.0],
            [0.0, 0.0, 0.0],
        ];
        let [e, v, _] = exponential(flow.map(|row| row.map(|x| x * STEP)));
        let [c, d, k] = v;
        // The target moves along a parabola, as in `part`, so its acceleration follows from its way
        // and the velocity before.
        let velocity = Weights {
            moved: ((1.5 - 0.5 * d - drag * k - k / STEP) / STEP) as f32,
            deviation: c as f32,
            velocity: d as f32,
            target_velocity: (k / STEP - 0.5 * (1.0 + d)) as f32,
            push: k as f32,
        };
        let [e, v] = [e, v].map(|row| row.map(|x| x as f32));
        let step = Self {
            e,
            v,
            drag: drag as f32,
            deviation: Weights::default(),
            velocity,
        };
        Self {
            deviation: step.part(1.0),
            ..step
        }
    }

    /// Returns the weights for the deviation within the step, at the fraction `s`, 0..=1, of its
    /// time. They are those of cubic Hermite splines, whose error is (ω·step)⁴ / 384.
    ///
    /// The target's path is assumed to be a parabola: with straight lines, springs would swing
    /// differently when they are examined between steps.
    #[inline(always)]
    pub(super) fn part(&self, s: f32) -> Weights {
        let ([a, b, g], [c, d, k]) = (self.e, self.v);
        let (h, time) = (STEP_F32, s * STEP_F32);
        let (rise, bend) = (s * s * (3.0 - 2.0 * s), s * s * (s - 1.0) * h);
        // The weights of velocity and force divided by the time and its square. Nothing is divided by the time, which may
        // be 0.
        let velocity =
            (1.0 - s) * (1.0 - s) + s * (3.0 - 2.0 * s) * b * PER_SECOND + s * (s - 1.0) * d;
        let force = ((3.0 - 2.0 * s) * g + (s - 1.0) * h * k) * (PER_SECOND * PER_SECOND);
        // The target's acceleration times the time squared is this share of its way, minus the way
        // at the velocity before.
        let gain = 2.0 * s / (1.0 + s);
        let of_gain = gain * (0.5 * velocity - force);
        Weights {
            moved: of_gain - velocity - self.drag * force * time,
            deviation: 1.0 + rise * (a - 1.0) + bend * c,
            velocity: velocity * time,
            target_velocity: -of_gain * time,
            push: force * time * time,
        }
    }
}

impl Weights {
    /// Returns the distance of a body from its target after a step, or its velocity.
    ///
    /// `moved` is how far the target moves, and `push` the force per mass on a body that moves with a target at rest.
    #[inline(always)]
    pub(super) fn sum(&self, body: &Body, moved: Vec3A, push: Vec3A) -> Vec3A {
        let known =
            body.deviation * self.deviation + body.velocity * self.velocity + push * self.push;
        // `moved` depends on the bone above and comes last, so everything else is computed while
        // waiting for it.
        (known + body.target_velocity * self.target_velocity) + moved * self.moved
    }
}

type Matrix = [[f64; 3]; 3];

/// The exponential of a matrix, by squaring that of a fraction of it. `f64::exp` and `f64::cos` would differ between
/// platforms.
fn exponential(mut matrix: Matrix) -> Matrix {
    let largest = |matrix: &Matrix| {
        matrix
            .iter()
            .flatten()
            .fold(0.0, |most: f64, x| most.max(x.abs()))
    };
    let mut squarings = 0;
    while largest(&matrix) > 0.25 {
        matrix = matrix.map(|row| row.map(|x| x * 0.5));
        squarings += 1;
    }
    let identity = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    // Taylor's series, from its end: 1 + M (1 + M/2 (1 + M/3 (… At elements of at most 1/4, 16
    // terms are exact to double precision.
    let mut sum = identity;
    for n in (1..=16).rev() {
        sum = product(&matrix, &sum).map(|row| row.map(|x| x / f64::from(n)));
        (0..3).for_each(|i| sum[i][i] += 1.0);
    }
    for _ in 0..squarings {
        sum = product(&sum, &sum);
    }
    sum
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let cell = |row: usize, column: usize| (0..3).map(|i| a[row][i] * b[i][column]).sum();
    [0, 1, 2].map(|row| [0, 1, 2].map(|column| cell(row, column)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: f32, expected: f64) -> bool {
        (f64::from(got) - expected).abs() < 1e-6 * (1.0 + expected.abs())
    }

    #[test]
    fn a_step_is_the_solution_of_the_equation_whatever_the_damping() {
        let h = STEP;
        for frequency in [0.5, 3.0, 20.0, 60.0] {
            let w = TAU * frequency;
            // Underdamped, with e(0) = 1 and with e'(0) = 1.
            for damping in [0.0, 0.3, 0.99] {
                let step = Step::new(frequency, damping, 0.0);
                let (decay, swing) = (
                    (-damping * w * h).exp(),
                    w * (1.0 - damping * damping).sqrt(),
                );
                let (sin, cos) = (swing * h).sin_cos();
                let from_rest = decay * (cos + damping * w / swing * sin);
                assert!(close(step.e[0], from_rest), "{frequency} {damping}");
                assert!(
                    close(step.e[1], decay * sin / swing),
                    "{frequency} {damping}"
                );
                // A force moves the equilibrium by f / ω².
                assert!(
                    close(step.e[2], (1.0 - from_rest) / (w * w)),
                    "{frequency} {damping}"
                );
            }
            let critical = Step::new(frequency, 1.0, 0.0);
            assert!(close(critical.e[0], (-w * h).exp() * (1.0 + w * h)));
            // Drag adds to the damping.
            assert_eq!(Step::new(frequency, 0.0, 2.0 * w).e, critical.e);
            let heavy = Step::new(frequency, 10.0, 0.0);
            assert!(heavy.e[0] > 0.0 && heavy.e[0] <= 1.0);
        }
        let free = Step::new(0.0, 0.0, 0.0);
        assert!(close(free.e[0], 1.0) && close(free.e[1], h) && close(free.e[2], h * h / 2.0));
    }

    #[test]
    fn the_stiffest_spring_stays_finite() {
        for (frequency, damping, drag) in [(60.0, 1e3, 1e3), (60.0, 0.0, 1e3), (1e-9, 1e-9, 1e-9)] {
            let step = Step::new(frequency, damping, drag);
            assert!(
                step.e
                    .iter()
                    .chain(&step.v)
                    .all(|x| x.is_finite() && x.abs() < 1e3),
                "{step:?}"
            );
        }
    }

    #[test]
    fn parts_of_a_step_begin_at_its_start_and_end_at_its_end() {
        let step = Step::new(4.0, 0.2, 1.0);
        let body = Body {
            deviation: Vec3A::new(0.1, -0.1, -0.2),
            velocity: Vec3A::new(1.0, -2.0, 0.5),
            target_velocity: Vec3A::X,
        };
        let force = Vec3A::NEG_Y * 9.81;
        let target = Vec3A::new(0.2, 1.1, 0.0);
        let position =
            |weights: Weights, moved: Vec3A, push| target + moved + weights.sum(&body, moved, push);
        let start = position(step.part(0.0), Vec3A::ZERO, force);
        assert!(start.abs_diff_eq(target + body.deviation, 1e-6), "{start}");
        let moved = Vec3A::new(0.02, 0.0, 0.01);
        // At the end, the target moves by half of what it gained in velocity faster than on average, and air drags it back.
        let average = moved * PER_SECOND;
        let half_gain = (average - body.target_velocity) * 0.5;
        let parts = [
            body.deviation,
            body.velocity - (average - half_gain),
            force - average - half_gain * (2.0 * PER_SECOND),
        ];
        let sum = |weights: [f32; 3]| {
            parts[0] * weights[0] + parts[1] * weights[1] + parts[2] * weights[2]
        };
        let (end, whole) = (
            position(step.part(1.0), moved, force),
            target + moved + sum(step.e),
        );
        assert!(end.abs_diff_eq(whole, 1e-6), "{end} {whole}");
        let [end, whole] = [
            step.velocity.sum(&body, moved, force),
            average + half_gain + sum(step.v),
        ];
        assert!(end.abs_diff_eq(whole, 1e-5), "{end} {whole}");
        // A quarter of a step of a target that moves evenly, in a wind that moves with it.
        let exact = position(
            step.part(0.25),
            Vec3A::X * (0.25 * STEP_F32),
            force + Vec3A::X,
        );
        let taylor = {
            let (rate, t) = (TAU as f32 * 4.0, 0.25 * STEP_F32);
            let (e, v) = (body.deviation, body.velocity - Vec3A::X);
            let acceleration = force - e * rate * rate - v * (0.4 * rate + 1.0);
            target + body.deviation + body.velocity * t + acceleration * t * t / 2.0
        };
        assert!(exact.abs_diff_eq(taylor, 5e-5), "{exact} {taylor}");
    }
}
