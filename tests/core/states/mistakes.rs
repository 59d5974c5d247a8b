//! What can go wrong with states: each mistake is refused or warned of, with its place and the name that was meant.

use super::{ADVENTURE, machines};
use bevy_marionette::{
    controller::AnimationController,
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

/// What is wrong with a manifest, one line each: `line:column: severity: message; hint`.
fn findings(text: &str) -> Vec<String> {
    let read = |file: &str| {
        let path = crate::asset("scout").join(file);
        std::fs::read(path)
            .map(Into::into)
            .map_err(|error| error.to_string())
    };
    let diagnostics = match Manifest::parse("hero", text.as_bytes()) {
        Err(error) => error.diagnostics,
        Ok(manifest) => {
            let imported = open_manifest("hero", &manifest, &Default::default(), read).unwrap();
            imported.warnings
        }
    };
    let about_states = diagnostics.iter().filter(|found| &*found.file == "hero");
    let line = |found: &bevy_marionette::format::Diagnostic| {
        let (line, column) = (found.line, found.column);
        format!(
            "{line}:{column}: {:?}: {}; {}",
            found.severity, found.message, found.hint
        )
    };
    about_states.map(line).collect()
}

#[test]
fn a_manifest_without_mistakes_has_no_findings() {
    assert_eq!(findings(HERO), Vec::<String>::new());
}

#[test]
fn each_mistake_is_found_at_its_place_with_the_name_that_was_meant() {
    // What is changed, into what, and what is found.
    let cases = [
        // A clip that doesn't exist.
        (
            r#"(plays: "jump", from: ["ground"], then"#,
            r#"(plays: "jmup", from: ["ground"], then"#,
            "12:25: Warning: state `jump`: it plays `jmup`, but there is no such clip or blend space; did you mean `jump`?",
        ),
        // A state in `from` that doesn't exist.
        (
            r#"from: ["ground"], exit"#,
            r#"from: ["gruond"], exit"#,
            "13:44: Error: state `attack`: `from` names `gruond`, but there is no such state; did you mean `ground`?",
        ),
        // One in `then`.
        (
            r#"exit: "recover", then: "ground""#,
            r#"exit: "recover", then: "grond""#,
            "13:78: Error: state `attack`: `then` names `grond`, but there is no such state; did you mean `ground`?",
        ),
        // An exit whose key doesn't exist.
        (
            r#"exit: "recover""#,
            r#"exit: "recovr""#,
            "13:55: Warning: state `attack`: its exit never opens: none of what it plays has a callback key `recovr`; did you mean `recover`?",
        ),
        // An exit at the end of what never ends.
        (
            r#"then: "swim", exit: End"#,
            r#"then: "swim", exit: End, speed: 0"#,
            "16:9: Error: state `dive`: it waits for the end of a clip, but what it plays never ends; leave out `then` and `exit: End`, or play a clip at a speed other than 0",
        ),
        // A state that is never reached.
        (
            r#""jump": (plays: "jump", from: ["ground"]"#,
            r#""jump": (plays: "jump""#,
            "12:9: Warning: state `jump`: no way leads to it; name the states it may be entered from in `from`, or have it follow one by `then`",
        ),
        // One that is never left.
        (
            r#""out": (plays: "jump", from: ["swim"], then: "ground")"#,
            r#""out": (plays: "jump", from: ["swim"])"#,
            // A hit leads out of it only to lead back.
            "17:9: Warning: state `out`: no way leads out of it; add `then`, or name it in another state's `from`; if nothing should follow, write `exit: Never`",
        ),
        // No start, and two of them.
        (
            r#"(plays: "ground", start: true,"#,
            r#"(plays: "ground","#,
            "10:5: Error: the states: no state has `start: true`; add `start: true` to the state in which it begins",
        ),
        (
            r#"(plays: "jump", from: Any"#,
            r#"(plays: "jump", start: true, from: Any"#,
            "10:5: Error: the states: several states have `start: true`; keep `start: true` in one of them",
        ),
        // A mask that doesn't exist.
        (
            r#""arms": (mask: "upper_body""#,
            r#""arms": (mask: "uper_body""#,
            "20:18: Warning: layer `arms`: there is no mask `uper_body`; did you mean `upper_body`?",
        ),
        // A speed that is misspelled in one of its places.
        (
            r#"(plays: "ground", speed: "pace", from"#,
            r#"(plays: "ground", speed: "pcae", from"#,
            "15:35: Warning: state `swim`: its speed is named `pcae`, but there is also one named `pace`; did you mean `pace`?",
        ),
        // A layer that follows one that doesn't exist, itself, or a state of it that doesn't exist.
        (
            r#"sync: "arms""#,
            r#"sync: "amrs""#,
            "24:39: Error: layer `hands`: `sync` names `amrs`, but there is no such layer; did you mean `arms`?",
        ),
        (
            r#"sync: "arms""#,
            r#"sync: "hands""#,
            "24:39: Error: layer `hands`: layers follow each other in a circle: `hands`; leave out `sync` in the one that has states of its own",
        ),
        (
            r#""wave": (plays: "jump")"#,
            r#""waev": (plays: "jump")"#,
            "25:13: Error: layer `hands`, state `waev`: this state isn't one of those that the layer follows; did you mean `wave`?",
        ),
        (
            r#""wave": (plays: "jump")"#,
            r#""wave": (plays: "jump", fade: 0.1)"#,
            "25:37: Error: layer `hands`, state `wave`: `fade` has no effect here, because the layer follows another; say it in the layer that this one follows, or leave out `sync`",
        ),
        // A clip of a layer.
        (
            r#"(plays: "attack", from: ["free"]"#,
            r#"(plays: "atack", from: ["free"]"#,
            "22:29: Warning: layer `arms`, state `wave`: it plays `atack`, but there is no such clip or blend space; did you mean `attack`?",
        ),
        // The same state twice, and a misspelled field.
        (
            r#""jump": (plays: "jump", from: ["ground"]"#,
            r#""attack": (plays: "jump", from: ["ground"]"#,
            "Error: the key `attack` is given twice",
        ),
        (
            r#""wave": (plays: "attack", from"#,
            r#""free": (plays: "attack", from"#,
            "Error: the key `free` is given twice",
        ),
        (
            r#"from: ["ground"], exit"#,
            r#"form: ["ground"], exit"#,
            "Error: unknown field `form`; did you mean `from`?",
        ),
    ];
    let mut missed = Vec::new();
    for (right, wrong, expected) in cases {
        assert_eq!(HERO.matches(right).count(), 1, "{right}");
        let found = findings(&HERO.replace(right, wrong));
        if found.len() != 1 || !found[0].contains(expected) {
            missed.push(format!(
                "{wrong}\n  expected {expected}\n  found {found:#?}"
            ));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
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
    assert_eq!(
        findings(states),
        [
            "6:9: Warning: state `dive`: no way leads out of it and `swim`; name one of them in the `from` of another state; if nothing should follow, give one `exit: Never`",
            "4:9: Warning: state `sit`: no way leads out of it; add `then`, or name it in another state's `from`; if nothing should follow, write `exit: Never`",
        ]
    );
    // A hit gets the character out of everything, but only to get it back.
    let hit = states.replace(
        "\"dead\"",
        "\"hurt\": (plays: \"walk\", from: Any, then: Back), \"dead\"",
    );
    assert_eq!(findings(&hit), findings(states));
    let circle = r#"(model: "scout.md5mesh", masks: {"m": ()}, layers: {
        "a": (mask: "m", sync: "b", states: {}),
        "b": (mask: "m", sync: "c", states: {}),
        "c": (mask: "m", sync: "b", states: {}),
        "d": (mask: "m", sync: Body, states: {}),
    })"#;
    let found = findings(circle);
    assert!(
        found.iter().any(|found| found.starts_with(
            "3:26: Error: layer `b`: layers follow each other in a circle: `b`, `c`;"
        )),
        "{found:#?}"
    );
    assert!(
        found.iter().any(|found| found.starts_with(
            "5:26: Error: layer `d`: `sync` names the whole body, but that has no states;"
        )),
        "{found:#?}"
    );
}

#[test]
fn wrong_names_in_code_are_errors_with_the_name_that_was_meant() {
    let mut controller = AnimationController::default();
    let states = ADVENTURE.replace("\"idle\", start", "\"idle\", speed: \"pace\", start");
    controller.states_mut().set_machines(&machines(&states), 0);
    let go = |controller: &mut AnimationController, state: &str| {
        controller.go(state).unwrap_err().to_string()
    };
    assert_eq!(
        go(&mut controller, "atack"),
        "there is no state `atack`; did you mean `attack`?"
    );
    assert!(!controller.can_go("atack"));
    controller.go("dead").unwrap();
    assert_eq!(
        go(&mut controller, "jump"),
        "no way leads from state `dead` to `jump`; name `dead` in the `from` of a state that may follow it"
    );
    let error = controller.states_mut().set_speed("pcae", 1.0).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no state has the speed `pcae`; did you mean `pace`?"
    );
}
