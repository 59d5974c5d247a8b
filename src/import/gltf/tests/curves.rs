use super::*;

fn motion(between: Between, times: &[f64], values: &[f64]) -> Motion {
    let values = values.iter().map(|x| DVec4::X * *x).collect();
    let rest = Local {
        translation: Default::default(),
        rotation: DQuat::IDENTITY,
        scale: glam::DVec3::ONE,
    };
    let channel = Channel {
        keys: KeyTrack {
            times: times.to_vec(),
            values,
            between,
        },
        is_rotation: false,
    };
    Motion {
        translation: Some(channel),
        ..Motion::still(rest)
    }
}

#[test]
fn a_step_is_two_keys_at_its_time_unless_nothing_changes() {
    let steps = motion(Between::Step, &[0.0, 1.0, 2.0, 5.0], &[1.0, 2.0, 2.0, 4.0]);
    let at = |time, after| steps.at(time, after).translation.x;
    assert_eq!(
        [at(0.9, true), at(1.0, false), at(1.0, true), at(7.0, true)],
        [1.0, 1.0, 2.0, 4.0]
    );
    assert_eq!(steps.into_curve().len(), 6);
}

#[test]
fn a_spline_goes_through_its_keys_with_their_tangents() {
    let spline = motion(
        Between::Cubic,
        &[0.5, 1.0, 2.5],
        &[0.0, 1.0, 4.0, -3.0, 2.0, 1.0, 0.5, -1.0, 0.0],
    );
    let at = |time: f64| spline.at(time, true).translation.x;
    assert_eq!(
        [0.2, 0.5, 1.0, 2.5, 3.0].map(at),
        [1.0, 1.0, 2.0, -1.0, -1.0]
    );
    assert!((at(0.75) - 1.9375).abs() < 1e-6);
    let rate = (at(1.0 + 1e-3) - at(1.0)) / 1e-3;
    assert!((rate - 1.0).abs() < 0.01, "{rate}");
    let curve = spline.into_curve();
    assert!((curve.len(), curve.spline.is_some()) == (3, true));
}
