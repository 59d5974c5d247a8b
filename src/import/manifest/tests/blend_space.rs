use super::super::tests::assert_round_trip;
use super::*;
use crate::messages::assert_message;

fn parse(spaces: &str) -> Result<Manifest, String> {
    let text = format!("(model: \"a.glb\",\n blend_spaces: {{\n{spaces}}})");
    Manifest::parse("a", text.as_bytes()).map_err(|error| error.to_string())
}

#[test]
fn spaces_of_one_and_two_parameters_are_read_and_written_back() {
    let manifest = parse(
        "\"move\": (points: [(\"idle\", 0), (\"walk\", 1.4), (\"back\", -1)], smoothing: 0.2),
             \"strafe\": (points: [(\"idle\", (0, 0)), (\"walk\", (0, 1.4)), (\"left\", (-1.5, 0))], \
         sync: Keys([\"footstep\"])),",
    );
    let manifest = manifest.unwrap();
    let spaces: Vec<_> = manifest.resolve_blend_spaces().collect();
    assert_eq!((spaces[0].dimensions(), spaces[1].dimensions()), (1, 2));
    assert_eq!(
        (spaces[0].smoothing(), spaces[0].points()[2].1.x),
        (0.2, -1.0)
    );
    assert_eq!(spaces[0].sync(), &BlendSync::Feet);
    assert_eq!(spaces[1].sync(), &BlendSync::Keys(vec!["footstep".into()]));
    assert_eq!(spaces[1].points()[2].1, BlendPoint::new(-1.5, 0.0));
    assert_round_trip(&manifest);
    assert!(
        !Manifest::of_model("a.glb")
            .to_ron()
            .unwrap()
            .contains("blend")
    );
}

#[test]
fn errors_are_written_for_artists_and_have_a_place() {
    for space in [
        "\"s\": (points: [])",
        "\"s\": (points: [(\"a\", 0), (\"b\", (1, 1))])",
        "\"s\": (points: [(\"a\", 0), (\"b\", 0)])",
        "\"s\": (points: [(\"a\", inf)])",
        "\"s\": (points: [(\"a\", 0)], smoothing: -1)",
        "\"s\": (points: [(\"a\", 0)], sync: Keys([]))",
        "\"s\": (points: [(\"a\", 0)], sync: Foot)",
        "\"s\": (points: [(\"a\", 0)], smooth: 1)",
        "\"s\": (points: [(\"a\", (1, 2, 3))])",
        "\"s\": (points: [(\"a\", \"b\")])",
    ] {
        let error = parse(space).unwrap_err();
        assert_message(&format!("manifest: blend space {space}"), error);
    }
    let many: String = (0..65)
        .map(|i| format!("\"{i}\": (points: [(\"a\", 0)]),"))
        .collect();
    let error = parse(&many).unwrap_err();
    assert_message("manifest: too many blend spaces", error);
}
