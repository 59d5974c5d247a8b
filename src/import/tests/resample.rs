use super::*;
use crate::model::{Joint, Model, Skeleton};
use glam::{Affine3A, Quat, Vec3};

fn shift_of(times: impl IntoIterator<Item = f64>) -> Option<f64> {
    shift(
        &times
            .into_iter()
            .map(|time| Moment {
                time,
                after_step: false,
            })
            .collect::<Vec<_>>(),
    )
}

#[test]
fn evenly_spaced_times_are_recognized_up_to_rounding() {
    let printed =
        |digits: f64| (0..76).map(move |k| (f64::from(k) / 60.0 * digits).trunc() / digits);
    assert_eq!(shift_of(printed(1e7)), Some(0.0));
    let rounded = shift_of(printed(1e4)).unwrap();
    assert!(
        rounded > 0.003 && rounded < 0.005,
        "a ten-thousandth of a second: {rounded}"
    );
    assert_eq!(
        shift_of((0..4000).map(|k| f64::from((f64::from(k) / 60.0) as f32))),
        Some(0.0)
    );
    assert_eq!(shift_of([0.0, 0.1234, 0.2718, 0.577, 1.0]), None);
    assert_eq!(shift_of([0.0, 1e-8, 2e-8]), None);
}

#[test]
fn splines_get_as_many_frames_as_the_bound_takes_and_hardly_more() {
    let joint = |name: &str, parent| Joint {
        name: name.into(),
        parent,
        rest: JointTransform::new(Vec3::Y, Quat::IDENTITY),
        inverse_bind: Affine3A::IDENTITY,
    };
    let skeleton = Skeleton::new(vec![joint("a", None), joint("b", Some(0))]).unwrap();
    let skin = Skin::new(&Model {
        skeleton,
        ..Model::default()
    });
    let mut random = fastrand::Rng::with_seed(3);
    for round in 0..60 {
        // Slow at both ends, or any cubic.
        let [a, b, c] = if round == 0 {
            [0.0, 3.0, -2.0]
        } else {
            [0; 3].map(|_| random.f32() * 2.0 - 1.0)
        };
        let spline = move |time: f64| {
            let t = time as f32 / 2.0;
            JointTransform::new(Vec3::X * (a + (b + c * t) * t) * t, Quat::IDENTITY)
        };
        let mut curves = [Curve::default(), Curve::default()];
        [0.0, 2.0]
            .into_iter()
            .for_each(|time| curves[1].push(time, spline(time)));
        curves[1].spline = Some(Box::new(spline));
        let mut budget = Budget::default();
        budget.add_keys(2);
        let sampled = resample(&curves, 0.0, &skin, &mut budget).unwrap();
        assert!(sampled.times.is_empty() && sampled.error <= skin.bound());
        let steps = sampled.transforms.len() / 2 - 1;
        let off = |at: usize| {
            let (frame, share) = (at / 8, (at % 8) as f32 / 8.0);
            let x = |frame: usize| sampled.transforms[frame * 2 + 1].translation.x;
            let meant = spline(2.0 * at as f64 / (steps * 8) as f64).translation.x;
            f64::from((x(frame) + (x((frame + 1).min(steps)) - x(frame)) * share - meant).abs())
        };
        let worst = (0..=steps * 8).map(off).fold(0.0, f64::max);
        assert!(
            worst <= skin.bound() && (steps < 10 || worst > 0.4 * skin.bound()),
            "{round}: {worst} in {steps}"
        );
    }
}

#[cfg(any(feature = "fbx", feature = "gltf"))]
#[test]
fn steps_end_early_but_those_at_the_ends() {
    for duration in [2.0, 2.0 + 1e-9, 2.0 - 1e-9] {
        let times = vec![0.0, 0.0, 0.5, 0.5, 2.0, 2.0];
        let mut sampled = Sampled {
            transforms: vec![],
            times,
            duration: 2.0,
            error: 0.0,
            thinned: None,
        };
        sampled.finish(duration);
        let early = 0.5_f64.next_down();
        assert_eq!(sampled.times, [0.0, 0.0, early, early, duration, duration]);
    }
}
