//! One step of a damped spring, solved exactly.

use glam::Vec3A;
use std::f64::consts::TAU;

/// Seconds of a step.
pub(super) const STEP: f64 = 1.0 / 60.0;
const STEP_F32: f32 = STEP as f32;

/// The solution of `e'' = −ω² e − c e' + f` after a step, for a constant `f`: linear in the deviation `e`, its velocity
/// and `f`. It is exact for any stiffness and damping, so no spring is too stiff for the step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Step {
    /// The deviation after the step, from deviation, velocity and force.
    e: [f32; 3],
    /// The velocity after the step, from the same.
    v: [f32; 3],
}

/// Like [`Step`], for the deviation alone and for any part of a step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PartialStep {
    /// Seconds.
    time: f32,
    deviation: f32,
    velocity: f32,
    force: f32,
    /// `velocity / time` and `force / time²`, which are defined for a time of 0, too.
    velocity_rate: f32,
    force_rate: f32,
}

/// A spring's end and what it is drawn to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Body {
    pub(super) position: Vec3A,
    pub(super) velocity: Vec3A,
    pub(super) target: Vec3A,
    /// The target's mean velocity in the last step.
    pub(super) target_velocity: Vec3A,
}

impl Step {
    /// A spring with a natural frequency in Hz, a damping ratio, and a drag per second.
    pub(super) fn new(frequency: f64, damping: f64, drag: f64) -> Self {
        let rate = TAU * frequency;
        let resistance = 2.0 * damping * rate + drag;
        let flow = [[0.0, 1.0, 0.0], [-rate * rate, -resistance, 1.0], [0.0, 0.0, 0.0]];
        let [e, v, _] = exponential(flow.map(|row| row.map(|x| x * STEP)));
        Self { e: e.map(|x| x as f32), v: v.map(|x| x as f32) }
    }

    /// The part of the step that takes the share `s`, 0..=1, of its time: by cubic Hermite splines, whose error is
    /// (ω·step)⁴ / 384.
    #[inline(always)]
    pub(super) fn part(&self, s: f32) -> PartialStep {
        let ([a, b, g], [c, d, k]) = (self.e, self.v);
        let h = STEP_F32;
        let (rise, bend) = (s * s * (3.0 - 2.0 * s), s * s * (s - 1.0) * h);
        let velocity_rate = (1.0 - s) * (1.0 - s) + s * (3.0 - 2.0 * s) * b / h + s * (s - 1.0) * d;
        let force_rate = ((3.0 - 2.0 * s) * g + (s - 1.0) * h * k) / (h * h);
        let time = s * h;
        PartialStep {
            time,
            deviation: 1.0 + rise * (a - 1.0) + bend * c,
            velocity: velocity_rate * time,
            force: force_rate * time * time,
            velocity_rate,
            force_rate,
        }
    }

    /// Takes a whole step to a new target, under a force per mass.
    ///
    /// The target's path is taken for a parabola: with straight lines, springs would swing differently when they are
    /// looked at between steps.
    #[inline(always)]
    pub(super) fn advance(&self, body: &Body, target: Vec3A, force: Vec3A) -> Body {
        let ([a, b, g], [c, d, k]) = (self.e, self.v);
        let per_step = 1.0 / STEP_F32;
        let moved = (target - body.target) * per_step;
        let half_gain = (moved - body.target_velocity) * 0.5;
        let force = force - half_gain * (2.0 * per_step);
        let deviation = body.position - body.target;
        let velocity = body.velocity - (moved - half_gain);
        Body {
            position: target + deviation * a + velocity * b + force * g,
            velocity: moved + half_gain + deviation * c + velocity * d + force * k,
            target,
            target_velocity: moved,
        }
    }
}

impl PartialStep {
    /// The position after part of a step to `target`.
    #[inline(always)]
    pub(super) fn position(&self, body: &Body, target: Vec3A, force: Vec3A) -> Vec3A {
        let moved = target - body.target;
        // The target's acceleration times the time squared. Nothing is divided by the time, which may be 0.
        let gain = (moved - body.target_velocity * self.time) * (2.0 * self.time / (self.time + STEP_F32));
        target + (body.position - body.target) * self.deviation + body.velocity * self.velocity
            - (moved - gain * 0.5) * self.velocity_rate
            - gain * self.force_rate
            + force * self.force
    }
}

type Matrix = [[f64; 3]; 3];

/// The exponential of a matrix, by squaring that of a fraction of it. `f64::exp` and `f64::cos` would differ between
/// platforms.
fn exponential(mut matrix: Matrix) -> Matrix {
    let largest = |matrix: &Matrix| matrix.iter().flatten().fold(0.0, |most: f64, x| most.max(x.abs()));
    let mut squarings = 0;
    while largest(&matrix) > 0.25 {
        matrix = matrix.map(|row| row.map(|x| x * 0.5));
        squarings += 1;
    }
    let identity = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    // Taylor's series, from its end: 1 + M (1 + M/2 (1 + M/3 (…
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
                let (decay, swing) = ((-damping * w * h).exp(), w * (1.0 - damping * damping).sqrt());
                let (sin, cos) = (swing * h).sin_cos();
                let from_rest = decay * (cos + damping * w / swing * sin);
                assert!(close(step.e[0], from_rest), "{frequency} {damping}");
                assert!(close(step.e[1], decay * sin / swing), "{frequency} {damping}");
                // A force moves the equilibrium by f / ω².
                assert!(close(step.e[2], (1.0 - from_rest) / (w * w)), "{frequency} {damping}");
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
            assert!(step.e.iter().chain(&step.v).all(|x| x.is_finite() && x.abs() < 1e3), "{step:?}");
        }
    }

    #[test]
    fn parts_of_a_step_begin_at_its_start_and_end_at_its_end() {
        let step = Step::new(4.0, 0.2, 1.0);
        let body = Body {
            position: Vec3A::new(0.3, 1.0, -0.2),
            velocity: Vec3A::new(1.0, -2.0, 0.5),
            target: Vec3A::new(0.2, 1.1, 0.0),
            target_velocity: Vec3A::X,
        };
        let force = Vec3A::NEG_Y * 9.81;
        let start = step.part(0.0).position(&body, body.target, force);
        assert!(start.abs_diff_eq(body.position, 1e-6), "{start}");
        let target = body.target + Vec3A::new(0.02, 0.0, 0.01);
        let [end, whole] = [step.part(1.0).position(&body, target, force), step.advance(&body, target, force).position];
        assert!(end.abs_diff_eq(whole, 1e-6), "{end} {whole}");
        // A quarter of a step of a target that moves evenly.
        let exact =
            Step::new(4.0, 0.2, 1.0).part(0.25).position(&body, body.target + Vec3A::X * (0.25 * STEP_F32), force);
        let taylor = {
            let (rate, t) = (TAU as f32 * 4.0, 0.25 * STEP_F32);
            let (e, v) = (body.position - body.target, body.velocity - Vec3A::X);
            let acceleration = force - e * rate * rate - v * (0.4 * rate + 1.0);
            body.position + body.velocity * t + acceleration * t * t / 2.0
        };
        assert!(exact.abs_diff_eq(taylor, 5e-5), "{exact} {taylor}");
    }
}
