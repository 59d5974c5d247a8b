//! One step of a damped spring, solved exactly.

use glam::Vec3A;
use std::f64::consts::TAU;

/// Seconds of a step. Games that show 30, 60, 120, or 240 frames per second all have a frame at its end, so springs see the same
/// there, whatever happens in between.
pub(super) const STEP: f64 = 1.0 / 30.0;
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
    /// Both after half of the step.
    half: [[f32; 3]; 2],
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
        let half = exponential(flow.map(|row| row.map(|x| x * (0.5 * STEP))));
        let [e, v, _] = product(&half, &half);
        let [c, d, k] = v;
        let half = [half[0], half[1]].map(|row| row.map(|x| x as f32));
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
            half,
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
    /// time. They are those of cubic Hermite splines through the start, the middle, and the end, whose error is
    /// (ω·step / 2)⁴ / 384.
    ///
    /// The target's path is assumed to be a parabola: with straight lines, springs would swing
    /// differently when they are examined between steps.
    #[inline(always)]
    pub(super) fn part(&self, s: f32) -> Weights {
        let (time, length) = (s * STEP_F32, 0.5 * STEP_F32);
        let [half_e, half_v] = self.half;
        // The weights of velocity and force divided by the time and its square. Nothing is divided by the time, which may
        // be 0.
        let (deviation, velocity, force) = if s < 0.5 {
            let s = 2.0 * s;
            let ([a, b, g], [c, d, k]) = (half_e, half_v);
            let (rise, bend) = (s * s * (3.0 - 2.0 * s), s * s * (s - 1.0) * length);
            let (slope, flow) = (s * (3.0 - 2.0 * s), s * (s - 1.0));
            (
                1.0 + rise * (a - 1.0) + bend * c,
                (1.0 - s) * (1.0 - s) + slope * b / length + flow * d,
                ((3.0 - 2.0 * s) * g + (s - 1.0) * length * k) / (length * length),
            )
        } else {
            let s = 2.0 * s - 1.0;
            let rise = s * s * (3.0 - 2.0 * s);
            let (out, back) = (
                s * (1.0 - s) * (1.0 - s) * length,
                s * s * (s - 1.0) * length,
            );
            let [a, b, g] = [0, 1, 2].map(|i| {
                half_e[i] + rise * (self.e[i] - half_e[i]) + out * half_v[i] + back * self.v[i]
            });
            (a, b / time, g / (time * time))
        };
        // The target's acceleration times the time squared is this share of its way, minus the way
        // at the velocity before.
        let gain = 2.0 * s / (1.0 + s);
        let of_gain = gain * (0.5 * velocity - force);
        Weights {
            moved: of_gain - velocity - self.drag * force * time,
            deviation,
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
#[path = "tests/step.rs"]
mod tests;
