//! What can go wrong with states: each mistake is refused or warned of, with its place and the name that was meant.

use super::{ADVENTURE, machines};
use crate::messages::{assert_message, assert_messages};
use bevy_marionette::{
    controller::{AnimationController, StatesError},
    format::Diagnostic,
    import::{Manifest, open_manifest},
};

/// A manifest without mistakes.
const HERO: &str = r#"(
    model: "scout.md5mesh",
    clips: {
        // Clips have the names of states, to no confusion of places.
        "attack": (file: "wave.md5anim", playback: Once, callbacks: [(time: 0.5, name: "recover", data: ())]),
        "ground": (file: "walk.md5anim"),
        "jump": (file: "jump.md5anim", playback: Once),
    },
    masks: { "upper_body": (roots: ["spine"]) },
    states: {
        "ground": (plays: "ground", start: true, speed: "pace"),
        "jump": (plays: "jump", from: ["ground"], then: "ground"),
        "attack": (plays: "attack", from: ["ground"], exit: "recover", then: "ground"),
        "hurt": (plays: "jump", from: Any, then: Back),
        "swim": (plays: "ground", speed: "pace", from: ["ground"], then: "dive"),
        "dive": (plays: "jump", from: ["swim"], then: "swim", exit: End),
        "out": (plays: "jump", from: ["swim"], then: "ground"),
    },
    layers: {
        "arms": (mask: "upper_body", states: {
            "free": (start: true),
            "wave": (plays: "attack", from: ["free"], then: "free"),
        }),
        "hands": (mask: "upper_body", sync: "arms", states: {
            "wave": (plays: "jump"),
        }),
    },
)"#;

/// What is wrong with a manifest.
fn findings(text: &str) -> Vec<Diagnostic> {
    let read = |file: &str| {
        let path = crate::asset("scout").join(file);
        std::fs::read(path)
            .map(Into::into)
            .map_err(|error| error.to_string())
    };
    let mut diagnostics = match Manifest::parse("hero", text.as_bytes()) {
        Err(error) => error.diagnostics,
        Ok(manifest) => {
            let imported = open_manifest("hero", &manifest, &Default::default(), read).unwrap();
            imported.warnings
        }
    };
    diagnostics.retain(|found| &*found.file == "hero");
    diagnostics
}

#[test]
fn a_manifest_without_mistakes_has_no_findings() {
    assert_eq!(findings(HERO), []);
}

#[test]
fn each_mistake_is_found_at_its_place_with_the_name_that_was_meant() {
    // What is changed, and into what.
    let cases = [
        // A clip that doesn't exist.
        (
            r#"(plays: "jump", from: ["ground"], then"#,
            r#"(plays: "jmup", from: ["ground"], then"#,
        ),
        // A state in `from` that doesn't exist.
        (r#"from: ["ground"], exit"#, r#"from: ["gruond"], exit"#),
        // One in `then`.
        (
            r#"exit: "recover", then: "ground""#,
            r#"exit: "recover", then: "grond""#,
        ),
        // An exit whose key doesn't exist.
        (r#"exit: "recover""#, r#"exit: "recovr""#),
        // An exit at the end of what never ends.
        (
            r#"then: "swim", exit: End"#,
            r#"then: "swim", exit: End, speed: 0"#,
        ),
        // A state that is never reached.
        (
            r#""jump": (plays: "jump", from: ["ground"]"#,
            r#""jump": (plays: "jump""#,
        ),
        // One that may be entered from one that the game never leaves.
        (
            r#""jump": (plays: "jump", from: ["ground"]"#,
            r#""jump": (plays: "jump", exit: Never, from: ["ground", "jump"]"#,
        ),
        // One that is never left.
        // A hit leads out of it only to lead back.
        (
            r#""out": (plays: "jump", from: ["swim"], then: "ground")"#,
            r#""out": (plays: "jump", from: ["swim"])"#,
        ),
        // No start, and two of them.
        (r#"(plays: "ground", start: true,"#, r#"(plays: "ground","#),
        (
            r#"(plays: "jump", from: Any"#,
            r#"(plays: "jump", start: true, from: Any"#,
        ),
        // A mask that doesn't exist.
        (
            r#""arms": (mask: "upper_body""#,
            r#""arms": (mask: "uper_body""#,
        ),
        // A speed that is misspelled in one of its places.
        (
            r#"(plays: "ground", speed: "pace", from"#,
            r#"(plays: "ground", speed: "pcae", from"#,
        ),
        // A layer that follows one that doesn't exist, itself, or a state of it that doesn't exist.
        (r#"sync: "arms""#, r#"sync: "amrs""#),
        (r#"sync: "arms""#, r#"sync: "hands""#),
        (r#""wave": (plays: "jump")"#, r#""waev": (plays: "jump")"#),
        (
            r#""wave": (plays: "jump")"#,
            r#""wave": (plays: "jump", fade: 0.1)"#,
        ),
        // A clip of a layer.
        (
            r#"(plays: "attack", from: ["free"]"#,
            r#"(plays: "atack", from: ["free"]"#,
        ),
        // The same state twice, and a misspelled field.
        (
            r#""jump": (plays: "jump", from: ["ground"]"#,
            r#""attack": (plays: "jump", from: ["ground"]"#,
        ),
        (
            r#""wave": (plays: "attack", from"#,
            r#""free": (plays: "attack", from"#,
        ),
        (r#"from: ["ground"], exit"#, r#"form: ["ground"], exit"#),
    ];
    for (right, wrong) in cases {
        assert_eq!(HERO.matches(right).count(), 1, "{right}");
        let found = findings(&HERO.replace(right, wrong));
        assert_eq!(found.len(), 1, "{wrong}: {found:#?}");
        assert_messages(&format!("states: {wrong}"), found);
    }
}

#[test]
fn states_that_are_never_left_and_circles_are_warned_of() {
    let states = r#"(model: "scout.md5mesh", states: {
        "ground": (plays: "walk", start: true, from: ["jump"]),
        "jump": (plays: "walk", from: ["ground"]),
        "sit": (plays: "walk", from: ["ground"]),
        "swim": (plays: "walk", from: ["ground"], then: "dive"),
        "dive": (plays: "walk", then: "swim"),
        "dead": (plays: "walk", from: ["ground"], exit: Never),
    }, clips: {"walk": (file: "walk.md5anim")})"#;
    let found = findings(states);
    assert_messages("states: never left", &found);
    // A hit gets the character out of everything, but only to get it back.
    let hit = states.replace(
        "\"dead\"",
        "\"hurt\": (plays: \"walk\", from: Any, then: Back), \"dead\"",
    );
    assert_eq!(findings(&hit), found);
    let circle = r#"(model: "scout.md5mesh", masks: {"m": ()}, layers: {
        "a": (mask: "m", sync: "b", states: {}),
        "b": (mask: "m", sync: "c", states: {}),
        "c": (mask: "m", sync: "b", states: {}),
        "d": (mask: "m", sync: Body, states: {}),
    })"#;
    let found = findings(circle);
    assert_messages("states: layers that follow each other", found);
}

#[test]
fn wrong_names_in_code_are_errors_with_the_name_that_was_meant() {
    let mut controller = AnimationController::default();
    let states = ADVENTURE.replace("\"idle\", start", "\"idle\", speed: \"pace\", start");
    controller.set_states(&machines(&states), 0);
    let error = controller.go("atack").unwrap_err();
    let meant = Some("attack".to_owned());
    assert_eq!(error, StatesError::UnknownState("atack".into(), meant));
    assert!(!controller.can_go("atack"));
    controller.go("dead").unwrap();
    let error = controller.go("jump").unwrap_err();
    let ways = vec![];
    let (from, to) = ("dead".to_owned(), "jump".to_owned());
    assert_eq!(error, StatesError::NoWay { from, to, ways });
    assert_message("states: no way", error);
    let error = controller.set_state_speed("pcae", 1.0).unwrap_err();
    let meant = Some("pace".to_owned());
    assert_eq!(error, StatesError::UnknownSpeed("pcae".into(), meant));
    assert_message("states: no such speed", error);
}
