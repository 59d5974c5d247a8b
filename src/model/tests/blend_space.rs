use super::*;
use crate::messages::assert_message;

#[test]
fn errors_name_the_clips_and_say_what_to_do() {
    let line = |points: &[(&str, f64)]| BlendSpace::line("s", points.iter().copied()).unwrap_err();
    let many: Vec<_> = (0..65).map(|i| ("a", f64::from(i))).collect();
    for (what, error, expected) in [
        ("no points", line(&[]), BlendSpaceError::Empty),
        (
            "a place that is not finite",
            line(&[("a", 0.0), ("b", f64::NAN)]),
            BlendSpaceError::NotFinite("b".into()),
        ),
        (
            "two points in one place",
            line(&[("a", 0.0), ("b", 1.0), ("c", 1.0)]),
            BlendSpaceError::TooClose("b".into(), "c".into()),
        ),
        ("too many points", line(&many), BlendSpaceError::TooMany(65)),
    ] {
        assert_eq!(error, expected);
        assert_message(&format!("blend space: {what}"), error);
    }
    let sliver = [
        ("a", (0.0, 0.0)),
        ("b", (1.0, 0.0)),
        ("c", (0.5, 1e-5)),
        ("d", (0.5, 1.0)),
    ];
    let error = BlendSpace::plane("s", sliver).unwrap_err();
    assert!(matches!(error, BlendSpaceError::Sliver(..)), "{error}");
    assert_message("blend space: a sliver", error);
    let space = BlendSpace::line("s", [("a", 0.0)]).unwrap();
    assert_eq!(space.smoothed(-1.0), Err(BlendSpaceError::Smoothing(-1.0)));
}

#[test]
fn one_point_is_a_space_and_a_second_parameter_is_ignored_on_a_line() {
    let space = BlendSpace::line("s", [("a", 2.0)]).unwrap();
    assert_eq!(space.weights((9.0, -3.0)).collect::<Vec<_>>(), [("a", 1.0)]);
    let space = BlendSpace::line("s", [("b", 1.0), ("a", 0.0)]).unwrap();
    assert_eq!(
        space.weights((0.25, 77.0)).collect::<Vec<_>>(),
        [("b", 0.25), ("a", 0.75)]
    );
    assert_eq!(space.nearest((0.25, 77.0)), BlendPoint::new(0.25, 0.0));
    assert_eq!(
        (space.nearest(9.0).x, space.nearest(f64::NAN).x),
        (1.0, 0.0)
    );
}
