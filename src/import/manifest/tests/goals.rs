use super::*;
use crate::import::Manifest;
use crate::messages::assert_message;

#[test]
fn a_limb_is_enough_and_numbers_that_make_no_sense_are_named() {
    let parse = |goal: &str| {
        let text = format!("(model: \"a.m3d\", goals: {{ \"reach\": ({goal}) }})");
        Manifest::parse("a.character.ron", text.as_bytes())
            .map(|manifest| manifest.goals["reach"].clone())
    };
    let limb = "limb: Chain(root: \"a\", tip: \"b\")";
    assert_eq!(parse(limb).unwrap(), GoalEntry::new(Limb::chain("a", "b")));
    assert_eq!(
        parse(&format!("{limb}, turn_limit: inf"))
            .unwrap()
            .turn_limit,
        f32::INFINITY
    );
    for odd in [
        "turn_limit: 0.9",
        "turn_limit: -2",
        "turn_limit: NaN",
        "pole_angle: Bend(inf)",
    ] {
        let error = parse(&format!("{limb}, {odd}")).unwrap_err();
        assert_message(&format!("manifest: a goal with {odd}"), error);
    }
}
