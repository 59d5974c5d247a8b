use super::*;

#[test]
fn ticks_are_whole_numbers_in_order() {
    let step = 1.0 / f64::from(1 << 30);
    assert_eq!(
        [0.4, -0.4, 0.6, 1.0, -7.3].map(|steps| tick(steps * step)),
        [0.0, 0.0, 1.0, 1.0, -7.0]
    );
    let rising = [
        -f64::MAX,
        -1e18,
        -2e6,
        -1.0,
        0.0,
        0.1 + 0.2,
        0.301,
        2e6,
        2.2e6,
        1e300,
        f64::MAX,
    ];
    assert!(rising.is_sorted_by(|a, b| tick(*a) <= tick(*b)));
    assert_eq!(tick(0.1 + 0.2), tick(0.3));
}
