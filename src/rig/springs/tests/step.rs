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
    let sum =
        |weights: [f32; 3]| parts[0] * weights[0] + parts[1] * weights[1] + parts[2] * weights[2];
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
    // An eighth of a step of a target that moves evenly, in a wind that moves with it.
    let exact = position(
        step.part(0.125),
        Vec3A::X * (0.125 * STEP_F32),
        force + Vec3A::X,
    );
    let taylor = {
        let (rate, t) = (TAU as f32 * 4.0, 0.125 * STEP_F32);
        let (e, v) = (body.deviation, body.velocity - Vec3A::X);
        let acceleration = force - e * rate * rate - v * (0.4 * rate + 1.0);
        target + body.deviation + body.velocity * t + acceleration * t * t / 2.0
    };
    assert!(exact.abs_diff_eq(taylor, 5e-5), "{exact} {taylor}");
}
