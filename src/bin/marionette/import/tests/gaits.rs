use super::*;

#[test]
fn plain_walks_and_runs_are_told_from_others_by_their_names() {
    for (name, expected) in [
        ("walk", Some(0)),
        ("walking_a", Some(0)),
        ("walk2", Some(0)),
        ("slow_jog", Some(1)),
        ("running_strafe_left", Some(2)),
        ("strafe_right", Some(2)),
        ("run_forward", Some(2)),
        ("fast_sprint", Some(3)),
        ("injured_walk", None),
        ("run_attack", None),
        ("runner", None),
        ("idle", None),
    ] {
        assert_eq!(gait(name), expected, "{name}");
    }
}

#[test]
fn a_strafe_goes_where_its_name_says_unless_its_feet_know_better() {
    for (name, measured, expected) in [
        ("running_strafe_left", (-3.9, 2.26), (-3.9, 0.0)),
        ("walk_back", (0.1, -1.2), (0.0, -1.2)),
        ("walk_left", (0.0, 1.2), (0.0, 1.2)),
        ("walk", (0.1, 1.2), (0.0, 1.2)),
        ("walk", (0.5, 1.2), (0.5, 1.2)),
        ("walk_forward_left", (-1.0, 1.0), (-1.0, 1.0)),
    ] {
        let found = tidied(as_named(name, measured.into()));
        assert!(found.abs_diff_eq(expected.into(), 1e-5), "{name}: {found}");
    }
}
