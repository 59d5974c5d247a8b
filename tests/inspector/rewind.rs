//! The Rewind tab: time is stopped, dragged back and stepped through, and goes on from the present or from there.

use super::harness::{FRAME, Harness};
use bevy::prelude::*;
use bevy_egui::egui::{Pos2, pos2, vec2};
use bevy_marionette::{
    character::ModelPose,
    inspector::{Inspector, InspectorTab},
    prelude::*,
    recorder::{RecorderPlugin, Recording},
};
use glam::Affine3A;

/// The panel, two seconds after the start.
fn rewinding() -> Harness {
    let mut harness = Harness::with(|app| {
        app.add_plugins(RecorderPlugin);
    });
    *harness.app.world_mut().resource_mut::<Inspector>() = Inspector {
        tab: InspectorTab::Rewind,
        joint: Some(1),
        ..Inspector::opened()
    };
    harness.frames(120);
    harness
}

fn time(harness: &Harness) -> f64 {
    harness.get::<AnimationController>().unwrap().time()
}

fn shown(harness: &Harness) -> Option<u64> {
    harness.app.world().resource::<Recording>().shown()
}

/// Clicks, and lets the click take effect.
fn click(harness: &mut Harness, text: &str) {
    harness.click(text);
    harness.frames(2);
}

#[test]
fn without_a_recorder_the_tab_says_what_to_add() {
    let mut harness = Harness::new();
    *harness.app.world_mut().resource_mut::<Inspector>() = Inspector {
        tab: InspectorTab::Rewind,
        ..Inspector::opened()
    };
    harness.frames(3);
    assert!(
        harness
            .texts()
            .iter()
            .any(|text| text.contains("`RecorderPlugin`")),
        "{:?}",
        harness.texts()
    );
}

#[test]
fn time_stops_goes_back_frame_by_frame_and_goes_on_as_if_nothing_had_been_shown() {
    let mut harness = rewinding();
    assert!(harness.shows("present"));
    click(&mut harness, "Stop here");
    let stopped = shown(&harness).expect("the past is shown");
    let before = time(&harness);
    harness.frames(10);
    assert_eq!(
        (time(&harness), shown(&harness)),
        (before, Some(stopped)),
        "time stands still"
    );
    click(&mut harness, "◀");
    click(&mut harness, "◀");
    assert_eq!(shown(&harness), Some(stopped - 2));
    assert!(
        (before - time(&harness) - 2.0 * FRAME).abs() < 1e-9,
        "{} {before}",
        time(&harness)
    );
    assert!(
        harness.texts().iter().any(|text| text.ends_with("s ago")),
        "{:?}",
        harness.texts()
    );
    click(&mut harness, "▶");
    assert_eq!(shown(&harness), Some(stopped - 1));
    click(&mut harness, "⏪");
    assert_eq!(shown(&harness), Some(stopped - 11));
    click(&mut harness, "Back to the present");
    let later = time(&harness) - before;
    assert!(
        shown(&harness).is_none() && later > 0.5 * FRAME && later < 12.0 * FRAME,
        "{later}"
    );
}

#[test]
fn the_slider_and_the_plots_go_to_where_they_are_pressed() {
    let mut harness = rewinding();
    click(&mut harness, "Stop here");
    let last = shown(&harness).unwrap();
    // The slider is below the row of buttons, and ends where the panel does.
    let row = harness.find("◀");
    let right = pos2(1268.0, row.bottom() + 14.0);
    harness.drag(right, vec2(-200.0, 0.0));
    harness.frames(2);
    let dragged = shown(&harness).unwrap();
    assert!(dragged < last - 20, "{dragged} of {last}");
    // In a plot, time goes from left to right.
    let plot = harness.find("weights");
    let at = |x: f32| Pos2::new(x, plot.bottom() + 50.0);
    harness.drag(at(1230.0), vec2(0.0, 0.0));
    harness.frames(2);
    let right = shown(&harness).unwrap();
    harness.drag(at(1000.0), vec2(0.0, 0.0));
    harness.frames(2);
    let left = shown(&harness).unwrap();
    assert!(left + 20 < right, "{left} {right}");
}

#[test]
fn a_click_on_what_happened_shows_when_and_the_game_goes_on_from_there() {
    let mut harness = rewinding();
    click(&mut harness, "Stop here");
    let last = shown(&harness).unwrap();
    let line = harness
        .texts()
        .iter()
        .find(|text| text.ends_with("up (wave)"))
        .map(|text| (*text).to_owned());
    let line = line.unwrap_or_else(|| panic!("{:?}", harness.texts()));
    click(&mut harness, &line);
    let then = shown(&harness).unwrap();
    assert!(then < last, "{then} {last}");
    // The key is at 0.5 s of a clip of 1 s.
    let position = harness
        .get::<AnimationController>()
        .unwrap()
        .tracks()
        .next()
        .unwrap()
        .position()
        .rem_euclid(1.0);
    assert!((0.5..0.5 + FRAME + 1e-6).contains(&position), "{position}");
    click(&mut harness, "Continue here");
    assert!(shown(&harness).is_none());
    let recorded = harness.app.world().resource::<Recording>().frames();
    assert!(
        recorded.end > then && recorded.end < then + 10,
        "{recorded:?} {then}"
    );
}

/// The ends of the faint lines that are drawn.
fn ghost(harness: &Harness) -> Vec<Vec3> {
    let drawn = harness.app.world().resource::<Assets<GizmoAsset>>();
    let of = |drawn: &GizmoAsset| {
        let lines = drawn.buffer().buffer();
        let ends = lines.list_positions.iter().zip(lines.list_colors);
        ends.filter(|(_, color)| color.alpha < 0.5)
            .map(|(at, _)| *at)
            .collect::<Vec<_>>()
    };
    drawn.iter().flat_map(|(_, drawn)| of(drawn)).collect()
}

#[test]
fn ghosts_show_the_present_while_the_past_is_shown() {
    let mut harness = rewinding();
    click(&mut harness, "ghosts");
    assert!(ghost(&harness).is_empty(), "this is the present");
    click(&mut harness, "Stop here");
    let joints = harness.get::<ModelPose>().unwrap().joints.clone();
    click(&mut harness, "⏪");
    let hand = |joints: &[Affine3A]| Vec3::from(joints[3].translation);
    let past = hand(&harness.get::<ModelPose>().unwrap().joints);
    assert!(past.distance(hand(&joints)) > 0.05, "{past}");
    // Bones from body to arm, from arm to hand; the panel may have stopped at the frame before the present.
    let ends = ghost(&harness);
    assert_eq!(ends.len(), 8);
    assert!(
        ends[5].distance(hand(&joints)) < 0.03,
        "{ends:?} {joints:?}"
    );
    click(&mut harness, "ghosts");
    assert!(ghost(&harness).is_empty());
    click(&mut harness, "ghosts");
    click(&mut harness, "Back to the present");
    assert!(ghost(&harness).is_empty());
}

#[test]
fn events_are_filtered_by_what_they_say() {
    let mut harness = rewinding();
    let events = |harness: &Harness| {
        harness
            .texts()
            .iter()
            .filter(|text| text.contains(" s  "))
            .count()
    };
    assert!(
        harness
            .texts()
            .iter()
            .any(|text| text.contains("wave loops")),
        "{:?}",
        harness.texts()
    );
    let all = events(&harness);
    harness.click("filter events");
    harness.type_text("up");
    harness.frames(2);
    assert!(
        events(&harness) < all && events(&harness) > 0,
        "{:?}",
        harness.texts()
    );
    assert!(
        !harness
            .texts()
            .iter()
            .any(|text| text.contains("wave loops"))
    );
}
