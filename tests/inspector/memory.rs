//! What the panel shows is the same in the next run.

use super::harness::Harness;
use bevy::prelude::*;
use bevy_marionette::{
    inspector::{Inspector, InspectorMemoryPlugin, InspectorTab},
    recorder::RecorderPlugin,
};
use std::{fs, path::Path};

fn run(file: &Path) -> Harness {
    let mut harness = Harness::with(|app| {
        app.add_plugins((RecorderPlugin, InspectorMemoryPlugin::in_file(file)));
    });
    harness.frames(3);
    harness
}

fn exit(mut harness: Harness) {
    harness.app.world_mut().write_message(AppExit::Success);
    harness.frames(1);
}

#[test]
fn what_is_open_folded_and_watched_comes_back_in_the_next_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inspector.ron");
    let mut first = run(&file);
    assert!(
        !first.app.world().resource::<Inspector>().open && !file.exists(),
        "nothing changed yet"
    );
    first.app.world_mut().resource_mut::<Inspector>().open = true;
    first.frames(3);
    first.click("arm.L");
    first.click("fold");
    assert!(!first.shows("hand.R"));
    first.click("Rest");
    first.click("Rewind");
    first.frames(30);
    first.click("weights");
    first.frames(10);
    first.click("y");
    first.click("5 s");
    first.click("ghosts");
    first.click("filter events");
    first.type_text("up");
    exit(first);
    let mut second = run(&file);
    let Inspector {
        open,
        tab,
        joint,
        ghosts,
        ..
    } = *second.app.world().resource::<Inspector>();
    assert_eq!(
        (open, tab, joint, ghosts),
        (true, InspectorTab::Rewind, Some(1), true)
    );
    second.frames(90);
    assert!(
        second.shows("weights") && second.shows("up") && second.shows("arm.L, degrees"),
        "{:?}",
        second.texts()
    );
    // A plot is folded, and another one in its place.
    let [weights, angles] = ["weights", "arm.L, degrees"].map(|title| second.find(title));
    assert!(
        angles.top() - weights.bottom() < 40.0,
        "{weights:?} {angles:?}"
    );
    second.app.world_mut().resource_mut::<Inspector>().tab = InspectorTab::Joints;
    second.frames(3);
    assert!(
        !second.shows("hand.R"),
        "the tree is folded but for the selected joint"
    );
    assert_eq!(
        second
            .texts()
            .iter()
            .filter(|text| **text == "quaternion")
            .count(),
        2,
        "local and rest"
    );
    let text = fs::read_to_string(&file).unwrap();
    assert!(
        text.contains("tab: \"Rewind\"") && text.contains("(\"joint\", \"y\")"),
        "{text}"
    );
    // The curve is hidden, so a click in the legend shows it.
    second.app.world_mut().resource_mut::<Inspector>().tab = InspectorTab::Rewind;
    second.frames(10);
    second.click("y");
    exit(second);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("hidden_curves: []"), "{text}");
}

#[test]
fn a_damaged_file_is_no_obstacle() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inspector.ron");
    fs::write(&file, "(tab: \"Joints\", open: tru").unwrap();
    let mut harness = run(&file);
    assert_eq!(
        *harness.app.world().resource::<Inspector>(),
        Inspector::default()
    );
    harness.app.world_mut().resource_mut::<Inspector>().tab = InspectorTab::Cost;
    exit(harness);
    assert_eq!(
        run(&file).app.world().resource::<Inspector>().tab,
        InspectorTab::Cost
    );
    // Tabs of later versions.
    fs::write(&file, "(tab: \"Weather\", clouds: 3)").unwrap();
    assert_eq!(
        run(&file).app.world().resource::<Inspector>().tab,
        InspectorTab::Joints
    );
}
