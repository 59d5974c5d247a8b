//! The States tab: where a character is in its machines, where it was, and going somewhere by a click.

use super::{harness::Harness, messages::assert_messages, opened};
use bevy::prelude::*;
use bevy_marionette::{
    import::Manifest,
    inspector::{Inspector, InspectorTab},
    internals::model::StateLayers,
    prelude::*,
    recorder::{RecorderPlugin, Recording},
};
use std::sync::Arc;

const STATES: &str = r#"(
    model: "code",
    states: {
        "ground": (plays: "still", start: true),
        "jump": (plays: "wave", from: ["ground"], then: "ground"),
        "attack": (plays: "wave", from: ["ground"], exit: "up", then: "ground"),
        "defeat": (plays: "still", from: ["attack"], exit: Never),
        "hurt": (plays: "wave", from: Any, then: Back),
    },
    layers: { "arms": (mask: "left arm", states: {
        "free": (start: true),
        "salute": (plays: "wave", from: ["free"], then: "free"),
    }) },
)"#;

fn give_states(harness: &mut Harness, manifest: &str) {
    let manifest = Manifest::parse("code.character.ron", manifest.as_bytes()).unwrap();
    let states = StateLayers::new(&manifest.states, &manifest.layers).unwrap();
    harness.controller().set_states(&Arc::new(states), 0);
    harness.frames(2);
}

/// The tab, with a character that has states.
pub fn with_states() -> Harness {
    let mut harness = opened(InspectorTab::States);
    give_states(&mut harness, STATES);
    harness
}

pub fn state(harness: &Harness) -> String {
    let controller = harness.get::<AnimationController>().unwrap();
    controller.state().unwrap().to_owned()
}

#[test]
fn a_character_without_states_is_told_what_to_add() {
    let harness = opened(InspectorTab::States);
    let texts = harness.texts().into_iter();
    assert_messages("no states", texts.filter(|text| text.contains("`states`")));
}

#[test]
fn every_state_of_every_layer_is_shown_and_where_the_character_is() {
    let mut harness = with_states();
    harness.frames(28);
    for name in [
        "ground", "jump", "attack", "defeat", "hurt", "free", "salute",
    ] {
        assert!(harness.shows(name), "{name}: {:?}", harness.texts());
    }
    assert!(harness.shows("whole body") && harness.shows("over left arm"));
    assert!(harness.shows("0.50 s"), "{:?}", harness.texts());
    assert!(harness.shows("from any, then back"));
}

#[test]
fn a_click_goes_to_a_state_and_says_what_came_of_it() {
    let mut harness = with_states();
    harness.click("attack");
    assert_eq!(state(&harness), "attack");
    assert!(harness.shows("attack: entered"), "{:?}", harness.texts());
    // It may be left from its key on, so the wish waits.
    harness.click("defeat");
    assert_eq!(state(&harness), "attack");
    assert!(harness.shows("defeat: as soon as possible"));
    assert!(
        harness.shows("going to defeat, from `up` on"),
        "{:?}",
        harness.texts()
    );
    harness.frames(40);
    assert_eq!(state(&harness), "defeat");
    // And from there, no way leads on.
    harness.click("jump");
    assert_eq!(state(&harness), "defeat");
    let mut controller = harness.get::<AnimationController>().unwrap().clone();
    let refused = controller.go("jump").unwrap_err().to_string();
    assert!(harness.shows(&refused), "{:?}", harness.texts());
}

#[test]
fn a_click_on_a_layer_leaves_the_others_alone() {
    let mut harness = with_states();
    harness.click("salute");
    let controller = harness.get::<AnimationController>().unwrap();
    assert_eq!(controller.states().layer("arms").current(), Some("salute"));
    assert_eq!(controller.state(), Some("ground"));
}

#[test]
fn what_was_entered_lately_is_listed_newest_first() {
    let mut harness = with_states();
    harness.click("jump");
    harness.frames(90);
    assert_eq!(state(&harness), "ground");
    let texts = harness.texts();
    let of = |what: &str| {
        let at = texts.iter().rposition(|text| *text == what);
        at.unwrap_or_else(|| panic!("no `{what}`: {texts:?}"))
    };
    assert!(of("from jump") < of("from ground"), "{texts:?}");
    // The log of the Timeline tab has the same.
    harness.app.world_mut().resource_mut::<Inspector>().tab = InspectorTab::Timeline;
    harness.frames(3);
    assert!(
        harness.shows("state entered from ground"),
        "{:?}",
        harness.texts()
    );
}

#[test]
fn in_the_past_the_tab_shows_the_past_and_changes_nothing() {
    let mut harness = Harness::with(|app| {
        app.add_plugins(RecorderPlugin);
    });
    *harness.app.world_mut().resource_mut::<Inspector>() = Inspector {
        tab: InspectorTab::States,
        ..Inspector::opened()
    };
    give_states(&mut harness, STATES);
    harness.frames(20);
    harness.controller().go("jump").unwrap();
    harness.frames(30);
    let mut recording = harness.app.world_mut().resource_mut::<Recording>();
    let during = recording.frames().end - 1;
    recording.show(during);
    harness.frames(60);
    // It stopped half a second into the jump, however long it is looked at.
    assert_eq!(state(&harness), "jump");
    let texts = harness.texts().into_iter();
    assert_messages(
        "states while the past is shown",
        texts.filter(|text| text.contains("Rewind tab")),
    );
    assert!(harness.shows("from ground"), "{:?}", harness.texts());
    harness.click("attack");
    assert_eq!(state(&harness), "jump");
    let mut recording = harness.app.world_mut().resource_mut::<Recording>();
    recording.show(during - 40);
    harness.frames(4);
    assert_eq!(state(&harness), "ground");
    assert!(!harness.shows("from ground"), "{:?}", harness.texts());
    let mut recording = harness.app.world_mut().resource_mut::<Recording>();
    recording.show_present();
    harness.frames(4);
    assert_eq!(state(&harness), "jump");
}

#[test]
fn fifteen_states_fit_without_cutting_a_name() {
    let mut harness = Harness::in_window(1280, 1200, 1.0);
    *harness.app.world_mut().resource_mut::<Inspector>() = Inspector {
        tab: InspectorTab::States,
        ..Inspector::opened()
    };
    let names = [
        "idle", "walk", "run", "jump", "fall", "land", "climb", "swim", "crouch", "roll", "attack",
        "block", "hurt", "defeat", "cheer",
    ];
    let states = names.map(|name| match name {
        "idle" => format!("\"{name}\": (plays: \"still\", start: true, from: Any),"),
        _ => format!("\"{name}\": (plays: \"wave\", from: [\"idle\"], then: \"idle\"),"),
    });
    let manifest = format!("(model: \"code\", states: {{ {} }})", states.concat());
    give_states(&mut harness, &manifest);
    harness.frames(3);
    for name in names {
        assert!(harness.shows(name), "{name}: {:?}", harness.texts());
    }
    assert!(harness.cut().is_empty(), "{:?}", harness.cut());
}
