use super::super::tests::assert_round_trip;
use super::*;
use crate::messages::assert_message;

fn parse(springs: &str) -> Result<Manifest, String> {
    let text = format!("(model: \"a.glb\", {springs})");
    Manifest::parse("a", text.as_bytes()).map_err(|error| error.to_string())
}

#[test]
fn the_documented_springs_are_valid() {
    let manifest = parse(
        "springs: [
                (joints: [\"ear.L\", \"ear.R\"], frequency: 4, damping: 0.2),
                (joints: [\"braid\"], frequency: 1.5, gravity: 0.5, radius: 0.02, max_angle: 60, colliders: [\"back\"]),
            ],
            colliders: { \"back\": (joint: \"spine\", center: (0, 0, -0.05), end: (0, 0.3, -0.05), radius: 0.12) }",
    )
    .unwrap();
    let [ears, braid] = &manifest.springs[..] else {
        panic!("{manifest:?}")
    };
    let defaults = SpringSettings::default();
    assert_eq!(
        ears.settings(),
        SpringSettings {
            frequency: 4.0,
            damping: 0.2,
            ..defaults
        }
    );
    assert_eq!(braid.settings().max_angle, 60_f32.to_radians());
    assert_eq!(SpringEntry::new(["ear"]).settings(), defaults);
    assert_round_trip(&manifest);
    assert!(
        !Manifest::of_model("a.glb")
            .to_ron()
            .unwrap()
            .contains("springs")
    );
}

#[test]
fn impossible_numbers_are_errors_that_say_what_is_expected() {
    for spring in [
        "frequency: 61",
        "damping: -1",
        "gravity: NaN",
        "drag: inf",
        "radius: -0.1",
        "max_angle: 181",
    ] {
        let error = parse(&format!("springs: [(joints: [\"tail\"], {spring})]")).unwrap_err();
        assert_message(&format!("manifest: springs with {spring}"), error);
    }
    for collider in ["radius: 0", "radius: 1, end: (NaN, 0, 0)"] {
        let error =
            parse(&format!("colliders: {{\"c\": (joint: \"j\", {collider})}}")).unwrap_err();
        assert_message(&format!("manifest: a collider with {collider}"), error);
    }
}
