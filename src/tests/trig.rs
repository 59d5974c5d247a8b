use super::*;

#[test]
fn they_agree_with_the_standard_library() {
    let mut random = fastrand::Rng::with_seed(1);
    for i in 0..200_000 {
        let angle = (random.f64() - 0.5) * [0.01, 1.0, 10.0, 1e4, 1e6][i % 5];
        let (sin, cos) = sin_cos(angle);
        let error = (sin - angle.sin()).abs().max((cos - angle.cos()).abs());
        assert!(error < 4e-16, "{angle}: {error}");
        let (single_sin, single_cos) = sin_cos_f32(angle as f32);
        let (sin, cos) = sin_cos((angle as f32).into());
        let error = (f64::from(single_sin) - sin)
            .abs()
            .max((f64::from(single_cos) - cos).abs());
        assert!(error < 1.2e-7, "{angle}: {error}");
    }
    assert_eq!(sin_cos(0.0), (0.0, 1.0));
    for odd in [f64::NAN, f64::INFINITY, f64::MAX] {
        let (sin, cos) = sin_cos(odd);
        assert!(sin.is_finite() && cos.is_finite());
    }
    for _ in 0..200_000 {
        let [y, x] =
            [0; 2].map(|_| (random.f32() - 0.5) * [1e-20, 1e-3, 1.0, 1e20][random.usize(..4)]);
        assert!((atan2(y, x) - y.atan2(x)).abs() < 6e-7, "{y} {x}");
    }
    for (y, x) in [
        (0.0, 1.0),
        (0.0, -1.0),
        (-0.0, -1.0),
        (1.0, 0.0),
        (-1.0, 0.0),
        (1.0, 1.0),
        (-1.0, -1.0),
    ] {
        assert_eq!(atan2(y, x), y.atan2(x), "{y} {x}");
    }
    assert_eq!(atan2(0.0, 0.0), 0.0);
    assert!((sinc(1e-4) - sinc(0.999_999_9e-4)).abs() < 1e-15);
}
