//! Everything in the panel can be reached and used without a pointer.

use super::{harness::Harness, opened, states};
use bevy::{input::keyboard::Key, prelude::*};
use bevy_egui::{
    EguiContext,
    egui::{self, Id, Rect},
};
use bevy_marionette::{
    inspector::{BoneShape, DrawSkeleton, Inspector, InspectorTab},
    model::PlaybackMode,
    prelude::*,
    recorder::{RecorderPlugin, Recording},
};
use std::collections::BTreeSet;

fn context(harness: &mut Harness) -> egui::Context {
    let world = harness.app.world_mut();
    world
        .query::<&mut EguiContext>()
        .single_mut(world)
        .expect("one camera")
        .get_mut()
        .clone()
}

fn focused(harness: &mut Harness) -> Option<(Id, Rect)> {
    let context = context(harness);
    let id = context.memory(|memory| memory.focused())?;
    Some((id, context.read_response(id)?.rect))
}

fn press(harness: &mut Harness, key: Key) {
    let code = match key {
        Key::Tab => KeyCode::Tab,
        Key::Enter => KeyCode::Enter,
        Key::PageDown => KeyCode::PageDown,
        Key::PageUp => KeyCode::PageUp,
        Key::ArrowLeft => KeyCode::ArrowLeft,
        Key::ArrowRight => KeyCode::ArrowRight,
        Key::ArrowUp => KeyCode::ArrowUp,
        Key::ArrowDown => KeyCode::ArrowDown,
        _ => KeyCode::F24,
    };
    harness.key(code, key);
    harness.frames(1);
}

/// Presses Tab until a control at a place has the focus.
fn go_to(harness: &mut Harness, name: &str, place: impl Fn(&Harness) -> Rect) {
    for _ in 0..200 {
        let at = place(harness).center();
        // A list that is open can have the focus, too.
        if focused(harness).is_some_and(|(_, rect)| rect.contains(at) && rect.height() < 60.0) {
            return;
        }
        press(harness, Key::Tab);
    }
    panic!("Tab never reaches `{name}`: {:?}", harness.texts());
}

/// Presses Tab until the control with a text has the focus.
fn go(harness: &mut Harness, text: &str) {
    go_to(harness, text, |harness| harness.find(text));
}

/// Goes to the control with a text and presses Enter.
fn enter(harness: &mut Harness, text: &str) {
    go(harness, text);
    press(harness, Key::Enter);
}

fn tab(harness: &Harness) -> InspectorTab {
    harness.app.world().resource::<Inspector>().tab
}

#[test]
fn every_tab_is_reached_by_page_keys_and_by_tab_and_enter() {
    let mut harness = Harness::new();
    harness.key(KeyCode::F1, Key::F1);
    harness.frames(3);
    press(&mut harness, Key::PageDown);
    assert_eq!(
        tab(&harness),
        InspectorTab::Joints,
        "the game has the keys until the panel gets the focus"
    );
    press(&mut harness, Key::Tab);
    for expected in InspectorTab::ALL
        .into_iter()
        .cycle()
        .skip(1)
        .take(InspectorTab::ALL.len())
    {
        press(&mut harness, Key::PageDown);
        assert_eq!(tab(&harness), expected);
        let on = focused(&mut harness).unwrap().1;
        assert!(
            on.contains(harness.find(expected.title()).center()),
            "the tab itself has the focus"
        );
    }
    press(&mut harness, Key::PageUp);
    assert_eq!(tab(&harness), InspectorTab::Cost);
    for expected in InspectorTab::ALL {
        enter(&mut harness, expected.title());
        assert_eq!(tab(&harness), expected);
    }
}

/// What can be clicked or dragged in the panel, and hasn't been reached.
#[test]
fn tab_reaches_every_control_of_every_tab_and_scrolls_to_it() {
    for tab in InspectorTab::ALL {
        let mut harness = Harness::build_with((1280, 600, 1.0), |app| {
            app.add_plugins(RecorderPlugin);
        });
        *harness.app.world_mut().resource_mut::<Inspector>() = Inspector {
            tab,
            joint: Some(1),
            ..Inspector::opened()
        };
        harness.controller().paused = true;
        harness.frames(10);
        press(&mut harness, Key::Tab);
        let first = focused(&mut harness).expect("something has the focus").0;
        let mut reached = BTreeSet::from([first.value()]);
        for _ in 0..200 {
            press(&mut harness, Key::Tab);
            let Some((id, _)) = focused(&mut harness) else {
                continue;
            };
            if id == first {
                break;
            }
            reached.insert(id.value());
            if !context(&mut harness)
                .read_response(id)
                .unwrap()
                .interact_rect
                .is_positive()
            {
                // Scrolling takes a moment.
                harness.frames(30);
            }
            let response = context(&mut harness).read_response(id).unwrap();
            let (rect, shown) = (response.rect, response.interact_rect);
            assert!(
                shown.is_positive(),
                "{}: {id:?} at {rect:?} is not scrolled to: {shown:?}",
                tab.title()
            );
        }
        let context = context(&mut harness);
        let missed: Vec<String> = context.viewport(|viewport| {
            let all = viewport
                .prev_pass
                .widgets
                .layers()
                .flat_map(|(_, widgets)| widgets);
            let missed = all.filter(|widget| {
                let is_control =
                    widget.enabled && widget.sense.is_focusable() && widget.sense.interactive();
                is_control && !reached.contains(&widget.id.value())
            });
            missed
                .map(|widget| format!("{:?} at {:?}", widget.id, widget.rect))
                .collect()
        });
        println!(
            "{}: {} controls, missed {missed:?}",
            tab.title(),
            reached.len()
        );
        assert!(missed.is_empty(), "{}: {missed:?}", tab.title());
        assert!(reached.len() > 12, "{}: {}", tab.title(), reached.len());
    }
}

#[test]
fn every_kind_of_control_is_used_by_keys() {
    let mut harness = opened(InspectorTab::Tracks);
    // A button.
    enter(&mut harness, "Pause");
    assert!(harness.controller().paused);
    // A number.
    // While it is edited, it has no unit.
    let speed = harness.find_beside("speed", "×");
    go_to(&mut harness, "speed", |_| speed);
    harness.type_text("0.5");
    press(&mut harness, Key::Enter);
    let track = |harness: &Harness| {
        harness
            .get::<AnimationController>()
            .unwrap()
            .tracks()
            .next()
            .unwrap()
            .clone()
    };
    assert_eq!(track(&harness).speed, 0.5);
    // A slider: its rail is left of its number.
    let [label, number] = [
        harness.find("weight"),
        harness.find_beside("weight", "1.00"),
    ];
    let rail = Rect::from_center_size(
        label.center().lerp(number.center(), 0.5),
        egui::Vec2::splat(2.0),
    );
    go_to(&mut harness, "weight", |_| rail);
    press(&mut harness, Key::ArrowLeft);
    assert!(track(&harness).weight < 1.0);
    // A list of choices, which gets the focus back.
    enter(&mut harness, "clip default");
    assert!(harness.shows("ping-pong"), "{:?}", harness.texts());
    enter(&mut harness, "ping-pong");
    assert_eq!(track(&harness).playback, Some(PlaybackMode::PingPong));
    assert!(!harness.shows("once"), "the list is closed");
    let list = focused(&mut harness).expect("the list has the focus").1;
    assert!(list.contains(harness.find("ping-pong").center()));

    let mut harness = opened(InspectorTab::Drawing);
    // A box to check, and one of several.
    enter(&mut harness, "joint axes");
    enter(&mut harness, "octahedra");
    let drawn = harness.get::<DrawSkeleton>().unwrap();
    assert!(drawn.axes && drawn.bones == BoneShape::Octahedra);

    let mut harness = opened(InspectorTab::Joints);
    // A text.
    go(&mut harness, "search joints");
    harness.type_text("and.L");
    assert!(
        harness.shows("hand.L") && !harness.shows("hand.R"),
        "{:?}",
        harness.texts()
    );
    // A row of the tree, and a section.
    enter(&mut harness, "hand.L");
    assert_eq!(harness.app.world().resource::<Inspector>().joint, Some(3));
    let scales = |harness: &Harness| {
        harness
            .texts()
            .iter()
            .filter(|text| **text == "scale")
            .count()
    };
    let before = scales(&harness);
    enter(&mut harness, "Rest");
    harness.frames(30);
    assert!(
        scales(&harness) > before || harness.shows("quaternion"),
        "{:?}",
        harness.texts()
    );
}

#[test]
fn arrows_walk_through_joints_and_characters() {
    let mut harness = opened(InspectorTab::Joints);
    let joint = |harness: &Harness| harness.app.world().resource::<Inspector>().joint;
    // body, arm.L, hand.L, arm.R, hand.R.
    go(&mut harness, "body");
    for (key, expected) in [
        (Key::ArrowDown, 1),
        (Key::ArrowDown, 3),
        (Key::ArrowLeft, 1),
        (Key::ArrowRight, 3),
        (Key::ArrowUp, 1),
        // Folded, its hand is passed over.
        (Key::ArrowLeft, 1),
        (Key::ArrowDown, 2),
        (Key::ArrowUp, 1),
        (Key::ArrowRight, 1),
        (Key::ArrowRight, 3),
        (Key::ArrowLeft, 1),
        (Key::ArrowLeft, 1),
        (Key::ArrowLeft, 0),
    ] {
        press(&mut harness, key.clone());
        assert_eq!(joint(&harness), Some(expected), "{key:?}");
    }
    let handle = harness.get::<SkinnedCharacter>().unwrap().clone();
    let others: Vec<Entity> = (0..20)
        .map(|_| harness.app.world_mut().spawn(handle.clone()).id())
        .collect();
    harness.frames(3);
    let row = format!("Waver  ({})", harness.character);
    go(&mut harness, &row);
    for expected in others {
        press(&mut harness, Key::ArrowDown);
        assert_eq!(
            harness.app.world().resource::<Inspector>().character,
            Some(expected)
        );
    }
}

#[test]
fn arrows_move_the_playhead_and_callback_keys() {
    let mut harness = opened(InspectorTab::Timeline);
    harness.controller().paused = true;
    harness.frames(2);
    let position = |harness: &Harness| {
        let controller = harness.get::<AnimationController>().unwrap();
        controller.tracks().next().unwrap().position()
    };
    let before = position(&harness);
    // The bar is above the key's name.
    let bar = |harness: &Harness| harness.find("up").translate(egui::vec2(0.0, -14.0));
    go_to(&mut harness, "the bar", bar);
    press(&mut harness, Key::ArrowRight);
    press(&mut harness, Key::ArrowRight);
    assert!(
        (position(&harness) - before - 0.02).abs() < 1e-6,
        "{before} {}",
        position(&harness)
    );
    press(&mut harness, Key::ArrowDown);
    press(&mut harness, Key::ArrowLeft);
    assert_eq!(harness.keys(), [("up".to_owned(), 0.49)]);
    press(&mut harness, Key::ArrowUp);
    press(&mut harness, Key::ArrowLeft);
    assert!(
        (position(&harness) - before - 0.01).abs() < 1e-6,
        "no key is selected anymore"
    );
}

#[test]
fn the_past_is_stepped_through_by_keys() {
    let mut harness = Harness::with(|app| {
        app.add_plugins(RecorderPlugin);
    });
    *harness.app.world_mut().resource_mut::<Inspector>() = Inspector {
        tab: InspectorTab::Rewind,
        joint: Some(1),
        ..Inspector::opened()
    };
    harness.frames(60);
    let shown = |harness: &Harness| harness.app.world().resource::<Recording>().shown();
    enter(&mut harness, "Stop here");
    let last = shown(&harness).unwrap();
    let slider = |harness: &Harness| harness.find("◀").translate(egui::vec2(0.0, 22.0));
    go_to(&mut harness, "the slider", slider);
    for _ in 0..3 {
        press(&mut harness, Key::ArrowLeft);
    }
    assert_eq!(shown(&harness), Some(last - 3));
    enter(&mut harness, "ghosts");
    assert!(harness.app.world().resource::<Inspector>().ghosts);
    enter(&mut harness, "Back to the present");
    assert_eq!(shown(&harness), None);
}

#[test]
fn a_state_is_entered_by_keyboard() {
    let mut harness = states::with_states();
    enter(&mut harness, "jump");
    assert_eq!(states::state(&harness), "jump");
}
