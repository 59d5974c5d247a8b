use super::super::tests::assert_round_trip;
use super::*;
use crate::messages::assert_message;
use crate::model::{Origins, Then};

fn parse(fields: &str) -> Result<Manifest, String> {
    let text = format!("(model: \"a.glb\",\n {fields})");
    Manifest::parse("a", text.as_bytes()).map_err(|error| error.to_string())
}

const STATES: &str = r#"states: {
        "ground": (plays: "locomotion", start: true),
        "jump": (plays: "jump", from: ["ground"], then: "ground", fade: 0.1),
        "hurt": (plays: "hurt", from: Any, then: Back),
    },
    layers: { "arms": (mask: "upper_body", states: {
        "free": (start: true),
        "wave": (plays: "wave", from: ["free"], then: "free"),
    }) }"#;

#[test]
fn states_are_read_and_written() {
    let manifest = parse(STATES).unwrap();
    assert_eq!(manifest.states["hurt"].from, Origins::Any);
    assert_eq!(manifest.states["hurt"].then, Some(Then::Back));
    assert_round_trip(&manifest);
    let states = manifest.resolve_states().unwrap();
    assert_eq!(states.layers().len(), 2);
    assert_eq!(states.layers()[1].mask.as_deref(), Some("upper_body"));
    assert!(parse("").unwrap().resolve_states().is_none());
}

#[test]
fn mistakes_are_errors_at_their_place() {
    let cases = [
        (r#"then: "ground", fade: 0.1"#, r#"then: "gruond""#),
        (r#"from: ["ground"]"#, r#"form: ["ground"]"#),
        (r#"from: ["free"]"#, r#"from: ["fre"]"#),
        (", start: true)", ")"),
        ("from: Any", "from: 7"),
    ];
    for (from, to) in cases {
        let error = parse(&STATES.replacen(from, to, 1)).unwrap_err();
        assert_message(&format!("manifest: states with `{to}`"), error);
    }
}
