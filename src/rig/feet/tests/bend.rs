use super::*;

#[test]
fn the_tip_reaches_every_target_and_the_knee_keeps_its_side() {
    let mut random = fastrand::Rng::with_seed(9);
    let mut vector = || Vec3A::from_array([0; 3].map(|_| random.f32() * 2.0 - 1.0));
    for _ in 0..2000 {
        let [a, b, c] = [Vec3A::ZERO, vector(), vector()];
        let (l1, l2) = (b.length(), c.distance(b));
        let target = vector().normalize() * (l1 + l2).min((l1 - l2).abs() + 0.7 * l1.min(l2));
        let Some([first, second]) = bent([a, b, c], target, Vec3A::Z) else {
            continue;
        };
        let knee = first * b;
        let tip = knee + first * (second * (c - b));
        assert!(tip.distance(target) < 1e-4, "{a} {b} {c} {target}: {tip}");
        let (before, after) = (b.cross(c - b), knee.cross(tip - knee));
        if before.length() > 0.05 * l1 * l2 && after.length() > 0.05 * l1 * l2 {
            assert!(
                (first * before.normalize()).dot(after.normalize()) > 0.999,
                "the knee is a hinge"
            );
        }
    }
}

#[test]
fn nothing_that_is_odd_has_a_bend_that_is_not_finite() {
    let odd = [
        Vec3A::ZERO,
        Vec3A::X,
        Vec3A::NAN,
        Vec3A::INFINITY,
        Vec3A::MAX,
        Vec3A::splat(1e-30),
        Vec3A::X * 2.0,
    ];
    for points in odd
        .iter()
        .flat_map(|&a| odd.iter().map(move |&b| [a, b, Vec3A::X * 2.0]))
    {
        for target in odd {
            for turn in bent(points, target, Vec3A::ZERO).into_iter().flatten() {
                assert!(
                    turn.is_finite() && (turn.length() - 1.0).abs() < 1e-4,
                    "{points:?} {target}: {turn}"
                );
            }
        }
    }
}
