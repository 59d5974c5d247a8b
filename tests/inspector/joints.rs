//! The Joints tab and the view: weights of a clicked vertex, and control joints.

use super::{joint, opened};
use bevy::prelude::*;
use bevy_egui::egui;
use bevy_marionette::{
    asset::Character,
    inspector::{DrawSkeleton, Inspector, InspectorTab},
    prelude::*,
};
use std::sync::Arc;

#[test]
fn a_clicked_vertex_shows_its_weights_until_a_click_beside_the_character() {
    let mut harness = opened(InspectorTab::Joints);
    harness.controller().fade_out(std::time::Duration::ZERO);
    harness.frames(2);
    // The skin is a triangle at (0, 1), (1.5, 1) and (1, 2); body and arm share the second corner.
    let at = harness.in_view(Vec3::new(1.3, 1.05, 0.0));
    harness.drag(at, egui::Vec2::ZERO);
    assert!(
        harness.shows("Clicked vertex") && harness.shows("1 of skin"),
        "{:?}",
        harness.texts()
    );
    assert_eq!(
        harness
            .texts()
            .iter()
            .filter(|text| **text == "0.500")
            .count(),
        2
    );
    // The names are links.
    harness.app.world_mut().resource_mut::<Inspector>().joint = Some(3);
    harness.frames(2);
    harness.drag(
        harness.find_beside("0.500", "body").center(),
        egui::Vec2::ZERO,
    );
    assert_eq!(joint(&harness), Some(0));
    let at = harness.in_view(Vec3::new(0.98, 1.9, 0.0));
    harness.drag(at, egui::Vec2::ZERO);
    assert!(
        harness.shows("2 of skin") && harness.text_beside("1.000") == "arm.L",
        "{:?}",
        harness.texts()
    );
    assert!(harness.cut().is_empty(), "{:?}", harness.cut());
    let nowhere = harness.in_view(Vec3::new(-1.0, 0.5, 0.0));
    harness.drag(nowhere, egui::Vec2::ZERO);
    assert!(!harness.shows("Clicked vertex"));
    assert_eq!(joint(&harness), Some(1), "the joint stays selected");
}

#[test]
fn control_joints_can_be_hidden_in_the_tree_and_in_the_view() {
    let mut harness = opened(InspectorTab::Joints);
    assert!(!harness.shows("control joints (1)"), "there are none");
    let handle = harness.get::<SkinnedCharacter>().unwrap().clone();
    let mut assets = harness.app.world_mut().resource_mut::<Assets<Character>>();
    let mut character = assets.get_mut(handle.id()).unwrap();
    character.skeleton = Arc::new(character.skeleton.with_control_joints([4]));
    drop(character);
    harness.frames(3);
    harness.click("hand.R");
    assert!(harness.shows("control joint"), "{:?}", harness.texts());
    harness.click("arm.R");
    harness.click("control joints (1)");
    assert!(
        !harness.shows("hand.R") && harness.shows("hand.L"),
        "{:?}",
        harness.texts()
    );
    // Selecting one shows them again.
    harness.app.world_mut().resource_mut::<Inspector>().joint = Some(4);
    harness.frames(2);
    assert!(harness.shows("hand.R"), "{:?}", harness.texts());

    harness.click("Drawing");
    harness.click("joint names");
    assert!(
        harness.shows("hand.R") && harness.shows("hand.L"),
        "{:?}",
        harness.texts()
    );
    harness.click("control joints (1)");
    assert!(harness.get::<DrawSkeleton>().unwrap().hide_control_joints);
    assert!(
        !harness.shows("hand.R") && harness.shows("hand.L"),
        "{:?}",
        harness.texts()
    );
}
