//! The inspector's panel, driven by a window's messages, the result read back from the world.
#![cfg(feature = "inspector")]

mod harness;

use bevy::{input::keyboard::Key, prelude::*};
use bevy_egui::egui::vec2;
use bevy_marionette::{
    character::{ModelPose, PoseOverrides},
    inspector::{BoneShape, DrawSkeleton, InspectedCharacter, Inspector, InspectorTab},
    pose::JointOverride,
    prelude::*,
};
use harness::{FRAME, Harness};

fn opened(tab: InspectorTab) -> Harness {
    let mut harness = Harness::new();
    *harness.app.world_mut().resource_mut::<Inspector>() = Inspector { tab, ..Inspector::opened() };
    // Panels take their size in the first frame, lists theirs in the second.
    harness.frames(3);
    harness
}

fn joint(harness: &Harness) -> Option<u16> {
    harness.app.world().resource::<Inspector>().joint
}

#[test]
fn f1_opens_and_closes_the_panel_and_closed_it_shows_nothing() {
    let mut harness = Harness::new();
    assert!(harness.texts().is_empty());
    harness.key(KeyCode::F1, Key::F1);
    harness.frames(2);
    assert!(harness.shows("Characters") && harness.shows("Joints"), "{:?}", harness.texts());
    assert_eq!(harness.app.world().resource::<InspectedCharacter>().0, Some(harness.character));
    harness.key(KeyCode::F1, Key::F1);
    assert!(harness.texts().is_empty());
}

#[test]
fn a_click_chooses_a_joint_and_says_what_it_moves() {
    let mut harness = opened(InspectorTab::Joints);
    harness.click("arm.L");
    assert_eq!(joint(&harness), Some(1));
    assert!(harness.shows("deform joint, 2 vertices: skin 2"), "{:?}", harness.texts());
    harness.click("hand.L");
    assert!(harness.shows("control joint: moves no vertex"));
    // The parent's name is a link; in the tree it is left of it and above.
    let link = harness.find_beside("parent", "arm.L");
    harness.drag(link.center(), vec2(0.0, 0.0));
    assert_eq!(joint(&harness), Some(1));
}

#[test]
fn a_dragged_angle_poses_the_joint_and_is_mirrored_copied_and_reset() {
    let mut harness = opened(InspectorTab::Joints);
    harness.get::<AnimationController>().expect("it has one");
    harness.app.world_mut().get_mut::<AnimationController>(harness.character).unwrap().stop();
    harness.frames(2);
    harness.click("arm.L");
    let rest = harness.get::<ModelPose>().unwrap().joints.clone();

    // Angles stand in the order x, y, z.
    let x = harness.find_beside("rotation", "°");
    harness.drag(x.center(), vec2(60.0, 0.0));
    let given = harness.get::<PoseOverrides>().expect("the drag poses by hand").0.clone();
    let [left] = given[..] else { panic!("{given:?}") };
    assert_eq!((left.joint, left.weight), (1, 1.0));
    let (x, y, z) = left.transform.rotation.to_euler(EulerRot::XYZ);
    assert!(x > 0.1 && y.abs() < 1e-5 && z.abs() < 1e-5, "{x} {y} {z}");
    let posed = &harness.get::<ModelPose>().unwrap().joints;
    assert_ne!(posed[1], rest[1]);
    assert_eq!(posed[2], rest[2]);

    harness.click("Mirror");
    let given = harness.get::<PoseOverrides>().unwrap().0.clone();
    assert_eq!(given.iter().map(|change| change.joint).collect::<Vec<_>>(), [1, 2]);
    let (mirrored, ..) = given[1].transform.rotation.to_euler(EulerRot::XYZ);
    assert!((mirrored - x).abs() < 1e-5, "a turn about the axis between the sides is the same on both");

    harness.click("Copy RON");
    let copied = harness.copied().expect("something was copied");
    assert_eq!(ron::from_str::<Vec<JointOverride>>(&copied).unwrap(), given);
    assert!(copied.contains("// arm.R"));

    harness.click("Reset");
    assert_eq!(harness.get::<PoseOverrides>().unwrap().0.iter().map(|c| c.joint).collect::<Vec<_>>(), [2]);
    harness.click("Reset all");
    assert!(harness.get::<PoseOverrides>().unwrap().is_empty());
    assert_eq!(harness.get::<ModelPose>().unwrap().joints, rest);
}

#[test]
fn pause_step_and_play_move_the_clock_by_none_one_and_all_frames() {
    let mut harness = opened(InspectorTab::Tracks);
    harness.click("Pause");
    let time = |harness: &Harness| harness.get::<AnimationController>().unwrap().time();
    let stopped = time(&harness);
    harness.frames(5);
    assert_eq!(time(&harness), stopped);
    harness.click("Step");
    harness.frames(5);
    assert!((time(&harness) - stopped - FRAME).abs() < 1e-6, "{} after {stopped}", time(&harness));
    assert!(harness.get::<AnimationController>().unwrap().is_paused());
    harness.click("Play");
    assert!(time(&harness) > stopped + 1.5 * FRAME);
}

#[test]
fn a_track_is_added_and_switched_off_and_removed() {
    let mut harness = opened(InspectorTab::Tracks);
    harness.click("Add track");
    assert_eq!(harness.get::<AnimationController>().unwrap().tracks().count(), 2);
    harness.click("remove");
    let controller = harness.get::<AnimationController>().unwrap();
    assert_eq!(controller.tracks().count(), 1);
    harness.click("reverse");
    assert_eq!(harness.get::<AnimationController>().unwrap().tracks().next().unwrap().speed, -1.0);
}

#[test]
fn the_timeline_names_the_keys_logs_what_fires_and_moves_the_playhead() {
    let mut harness = opened(InspectorTab::Timeline);
    assert!(harness.shows("up"), "{:?}", harness.texts());
    harness.frames(90);
    assert!(harness.shows("up  at 0.500 s") && harness.shows("looped"), "{:?}", harness.texts());
    harness.click("Pause");
    let key = harness.find("up");
    // The bar is above the key's name, and the name begins where the key is.
    harness.drag(key.left_top() + vec2(0.0, -10.0), vec2(0.0, 0.0));
    let time = harness.get::<AnimationController>().unwrap().tracks().next().unwrap().time();
    assert!((time - 0.5).abs() < 0.02, "{time}");
}

#[test]
fn the_switches_change_what_is_drawn() {
    let mut harness = opened(InspectorTab::Drawing);
    harness.click("octahedra");
    assert_eq!(harness.get::<DrawSkeleton>().unwrap().bones, BoneShape::Octahedra);
    harness.click("joint axes");
    harness.click("culling boxes of the parts (1)");
    let draw = harness.get::<DrawSkeleton>().unwrap();
    assert!(draw.axes && draw.bounds && !draw.sockets);
}

#[test]
fn explain_and_cost_tell_the_truth_about_a_simple_character() {
    let mut harness = opened(InspectorTab::Explain);
    harness.app.world_mut().resource_mut::<Inspector>().joint = Some(1);
    harness.frames(2);
    assert!(harness.shows("wave  (track 1)") && harness.shows("100.0 %"), "{:?}", harness.texts());
    harness.app.world_mut().resource_mut::<Inspector>().joint = Some(2);
    harness.frames(2);
    assert!(harness.shows("does not move this joint") && harness.shows("rest pose"), "{:?}", harness.texts());
    harness.app.world_mut().resource_mut::<Inspector>().tab = InspectorTab::Cost;
    harness.frames(2);
    // Two joints in the palette of the one part, 64 bytes each.
    assert!(harness.shows("128 bytes"), "{:?}", harness.texts());
}
