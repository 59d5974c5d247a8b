use super::*;

#[test]
fn roots_are_where_a_polynomial_changes_its_sign() {
    // (x − 1)(x − 2)(x − 3)(x − 4), and the same with a double root at 2.
    let four = [24.0, -50.0, 35.0, -10.0, 1.0];
    let (found, count) = roots(&four, 0.0, 9.0);
    assert_eq!(count, 4);
    assert!((0..4).all(|at| (found[at] - (at + 1) as f64).abs() < 1e-12));
    assert_eq!(roots(&four, 1.5, 3.5).1, 2);
    assert_eq!(roots(&[1.0, 0.0, 1.0], -9.0, 9.0).1, 0);
    assert_eq!(
        crossing(&[0.5, 1.0, 0.0, 0.0, 0.0], 1.0, 0.0, 2.0),
        Some(0.5)
    );
    assert_eq!(crossing(&[0.5, 1.0, 0.0, 0.0, 0.0], 1.0, 0.0, 0.4), None);
}

fn mover(track: usize, weight: f64, slope: f64) -> Mover<'static> {
    Mover {
        track,
        weight: Value([weight, slope, 0.0, 0.0]),
        mask: 1.0,
        ..Mover::NONE
    }
}

#[test]
fn a_share_has_a_kink_where_a_group_comes_to_a_whole() {
    // Two tracks of low priority, one of them fading in: together 0.6 to 1.6.
    let movers = [mover(0, 0.6, 0.0), mover(1, 0.0, 1.0)];
    let kink = next_kink(&movers, 0.0, 1.0).unwrap();
    assert!((kink - 0.4).abs() < 2e-5, "{kink}");
    assert_eq!(next_kink(&movers, 0.5, 1.0), None);
    // A cross-fade has none.
    let fade = [mover(0, 1.0, -1.0), mover(1, 0.0, 1.0)];
    assert_eq!(next_kink(&fade, 0.0, 1.0), None);
}

#[test]
fn an_override_takes_its_share_from_what_lies_below() {
    let over = Mover {
        group: Group::Over,
        ..mover(2, 0.25, 0.0)
    };
    let mut movers = [mover(0, 1.0, 0.0), mover(1, 3.0, 0.0), over];
    share(&mut movers, &Value::steady(0.5), 0.0);
    let shares = movers.map(|mover| mover.share);
    assert_eq!(shares, [0.1875, 0.5625, 0.25]);
}
