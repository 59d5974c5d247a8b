use super::*;

#[test]
fn steps_are_round_and_not_smaller() {
    for (step, round) in [
        (0.3, 0.5),
        (1.0, 1.0),
        (1.2, 2.0),
        (7.0, 10.0),
        (31.0, 50.0),
        (0.0, 1e-9),
    ] {
        assert!(
            (round_step(step) / round - 1.0).abs() < 1e-9,
            "{step}: {}",
            round_step(step)
        );
    }
}
