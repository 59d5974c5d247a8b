//! Tests of the inspector panel: input messages in, painted text and the state of the world out.
#![cfg(feature = "inspector")]

mod cost;
#[cfg(target_os = "linux")]
mod desk;
mod harness;
mod joints;
mod keyboard;
mod memory;
#[path = "../../src/tests/messages.rs"]
mod messages;
mod painted;
mod pointers;
mod rewind;
mod rig;
mod save;
mod states;
#[cfg(target_os = "linux")]
mod window;

use bevy::{input::keyboard::Key, prelude::*, time::TimeUpdateStrategy};
use bevy_egui::egui::{Pos2, Theme, Vec2, pos2, vec2};
use bevy_marionette::{
    asset::{Character, build_character},
    character::{
        AnimationLooped, AnimationStarted, CharacterParts, Expressions, ModelPose, PartOverrides,
        PoseOverrides, PoseSharing, WeightView,
    },
    controller::{BlendMode, TrackPriority, TransitionCurve},
    import::Manifest,
    inspector::{BoneShape, DrawSkeleton, Inspector, InspectorTab},
    model::{BlendSpace, Morphs, PlaybackMode},
    pose::JointOverride,
    prelude::*,
};
use harness::{FRAME, Harness, waver};
use std::time::Duration;

fn opened(tab: InspectorTab) -> Harness {
    let mut harness = Harness::new();
    *harness.app.world_mut().resource_mut::<Inspector>() = Inspector {
        tab,
        ..Inspector::opened()
    };
    // Panels are laid out in the first frame, lists in the second.
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
    assert!(
        harness.shows("Characters") && harness.shows("Joints"),
        "{:?}",
        harness.texts()
    );
    assert_eq!(
        harness.app.world().resource::<Inspector>().character,
        Some(harness.character)
    );
    harness.key(KeyCode::F1, Key::F1);
    assert!(harness.texts().is_empty());
}

#[test]
fn an_inspected_character_keeps_its_pose_only_if_the_game_needs_it() {
    let mut harness = opened(InspectorTab::Joints);
    let one = harness.character;
    let world = harness.app.world_mut();
    let other = world.spawn(handle_of(world, one)).id();
    let has_pose = |harness: &mut Harness, entity: Entity| {
        harness.frames(2);
        harness.app.world().get::<ModelPose>(entity).is_some()
    };
    let inspect = |harness: &mut Harness, entity: Option<Entity>| {
        let mut inspector = harness.app.world_mut().resource_mut::<Inspector>();
        inspector.open = entity.is_some();
        inspector.character = entity.or(inspector.character);
    };
    assert!(has_pose(&mut harness, one) && !has_pose(&mut harness, other));
    // Another character is chosen, and the panel is closed.
    inspect(&mut harness, Some(other));
    assert!(!has_pose(&mut harness, one) && has_pose(&mut harness, other));
    inspect(&mut harness, None);
    assert!(!has_pose(&mut harness, other));
    // The game inserts it meanwhile, or something that requires it.
    let inserts: [fn(&mut EntityWorldMut); 3] = [
        |entity| _ = entity.insert(ModelPose::default()),
        |entity| _ = entity.insert(PoseOverrides::default()),
        |entity| _ = entity.insert(NeedsPose),
    ];
    for insert in inserts {
        let world = harness.app.world_mut();
        let kept = world.spawn(handle_of(world, one)).id();
        inspect(&mut harness, Some(kept));
        assert!(has_pose(&mut harness, kept));
        insert(&mut harness.app.world_mut().entity_mut(kept));
        inspect(&mut harness, None);
        assert!(has_pose(&mut harness, kept));
    }
}

/// A component of a game.
#[derive(Component)]
#[require(ModelPose)]
struct NeedsPose;

fn handle_of(world: &World, character: Entity) -> SkinnedCharacter {
    world.get::<SkinnedCharacter>(character).unwrap().clone()
}

#[test]
fn a_click_selects_a_joint_and_shows_what_it_deforms() {
    let mut harness = opened(InspectorTab::Joints);
    harness.click("arm.L");
    assert_eq!(joint(&harness), Some(1));
    assert!(
        harness.shows("deforms 2 vertices: skin 2"),
        "{:?}",
        harness.texts()
    );
    harness.click("hand.L");
    assert!(harness.shows("deforms no vertices"));
    // The parent's name appears in the tree too; click the link.
    let link = harness.find_beside("parent", "arm.L");
    harness.drag(link.center(), vec2(0.0, 0.0));
    assert_eq!(joint(&harness), Some(1));
}

#[test]
fn a_dragged_angle_overrides_the_joint_and_can_be_mirrored_copied_and_reset() {
    let mut harness = opened(InspectorTab::Joints);
    harness.controller().fade_out(Duration::ZERO);
    harness.frames(2);
    harness.click("arm.L");
    let rest = harness.get::<ModelPose>().unwrap().joints.clone();

    // The angles are in the order x, y, z.
    let x = harness.find_beside("rotation", "°");
    harness.drag(x.center(), vec2(60.0, 0.0));
    let given = harness
        .get::<PoseOverrides>()
        .expect("dragging adds an override")
        .0
        .clone();
    let [left] = given[..] else {
        panic!("{given:?}")
    };
    assert_eq!((left.joint, left.weight), (1, 1.0));
    let (x, y, z) = left.transform.rotation.to_euler(EulerRot::XYZ);
    assert!(x > 0.1 && y.abs() < 1e-5 && z.abs() < 1e-5, "{x} {y} {z}");
    let posed = &harness.get::<ModelPose>().unwrap().joints;
    assert_ne!(posed[1], rest[1]);
    assert_eq!(posed[2], rest[2]);

    harness.click("Mirror");
    let given = harness.get::<PoseOverrides>().unwrap().0.clone();
    assert_eq!(
        given.iter().map(|change| change.joint).collect::<Vec<_>>(),
        [1, 2]
    );
    let (mirrored, ..) = given[1].transform.rotation.to_euler(EulerRot::XYZ);
    assert!(
        (mirrored - x).abs() < 1e-5,
        "a rotation about the mirror axis is the same on both sides"
    );

    harness.click("Copy RON");
    let copied = harness.copied().expect("text was copied");
    assert_eq!(ron::from_str::<Vec<JointOverride>>(&copied).unwrap(), given);
    assert!(copied.contains("// arm.R"));

    harness.click("Mirror all");
    let swapped = harness.get::<PoseOverrides>().unwrap().0.clone();
    assert_eq!(
        swapped
            .iter()
            .map(|change| change.joint)
            .collect::<Vec<_>>(),
        [2, 1],
        "left and right change sides"
    );

    harness.click("Reset");
    assert_eq!(
        harness
            .get::<PoseOverrides>()
            .unwrap()
            .0
            .iter()
            .map(|c| c.joint)
            .collect::<Vec<_>>(),
        [2]
    );
    harness.click("Reset all");
    assert!(harness.get::<PoseOverrides>().unwrap().is_empty());
    assert_eq!(harness.get::<ModelPose>().unwrap().joints, rest);
}

#[test]
fn pause_step_and_play_advance_by_no_one_and_every_frame() {
    let mut harness = opened(InspectorTab::Tracks);
    harness.click("Pause");
    let time = |harness: &Harness| harness.get::<AnimationController>().unwrap().time();
    let stopped = time(&harness);
    harness.frames(5);
    assert_eq!(time(&harness), stopped);
    harness.click("Step");
    harness.frames(5);
    assert!(
        (time(&harness) - stopped - FRAME).abs() < 1e-6,
        "{} after {stopped}",
        time(&harness)
    );
    assert!(harness.get::<AnimationController>().unwrap().paused);
    harness.click("Play");
    assert!(time(&harness) > stopped + 1.5 * FRAME);
}

#[test]
fn looking_at_tracks_is_no_change_of_the_controller() {
    for tab in [InspectorTab::Tracks, InspectorTab::Timeline] {
        let mut harness = opened(tab);
        let changed = |harness: &Harness| {
            let entity = harness.app.world().entity(harness.character);
            entity
                .get_ref::<AnimationController>()
                .unwrap()
                .last_changed()
        };
        let before = changed(&harness);
        harness.frames(5);
        assert_eq!(changed(&harness), before, "{tab:?}");
    }
}

#[test]
fn another_character_ends_a_solo_and_the_first_gets_its_face_back() {
    let mut harness = opened(InspectorTab::Faces);
    let world = harness.app.world_mut();
    let mut model = waver();
    let names = ["smile", "frown", "blink"];
    let morphs = Morphs::new(names.map(|name| (name.into(), 0.0)));
    model.skeleton = model.skeleton.with_morphs(morphs);
    let character = world.resource_scope(|world, mut meshes: Mut<Assets<Mesh>>| {
        let mut materials = world.resource_mut::<Assets<StandardMaterial>>();
        let manifest = Manifest::of_model("code");
        build_character(model, &manifest, &mut meshes, &mut materials)
    });
    let handle = world.resource_mut::<Assets<Character>>().add(character);
    let mut face = Expressions::default();
    face.set("smile", 0.3);
    let [first, other] = [face.clone(), Expressions::default()]
        .map(|face| world.spawn((SkinnedCharacter(handle.clone()), face)).id());
    let select = |harness: &mut Harness, character| {
        let mut inspector = harness.app.world_mut().resource_mut::<Inspector>();
        inspector.character = Some(character);
        harness.frames(3);
    };
    let set = |harness: &Harness| {
        let face = harness.app.world().get::<Expressions>(first).unwrap();
        let set = face.iter().map(|(name, weight)| (name.to_owned(), weight));
        set.collect::<Vec<_>>()
    };
    select(&mut harness, first);
    harness.click("solo");
    harness.frames(2);
    assert_eq!(set(&harness).len(), 3, "all others are held at 0");
    select(&mut harness, other);
    assert_eq!(set(&harness), [("smile".to_owned(), 0.3)]);
}

#[test]
fn tracks_are_added_removed_and_reversed() {
    let mut harness = opened(InspectorTab::Tracks);
    harness.click("Add track");
    assert_eq!(
        harness
            .get::<AnimationController>()
            .unwrap()
            .tracks()
            .count(),
        2
    );
    harness.click("remove");
    let controller = harness.get::<AnimationController>().unwrap();
    assert_eq!(controller.tracks().count(), 1);
    harness.click("reverse");
    assert_eq!(
        harness
            .get::<AnimationController>()
            .unwrap()
            .tracks()
            .next()
            .unwrap()
            .speed,
        -1.0
    );
}

#[test]
fn the_timeline_shows_keys_logs_events_and_moves_the_playhead() {
    let mut harness = opened(InspectorTab::Timeline);
    assert!(harness.shows("up"), "{:?}", harness.texts());
    harness.frames(90);
    assert!(
        harness.shows("up  at 0.500 s") && harness.shows("looped"),
        "{:?}",
        harness.texts()
    );
    harness.click("Pause");
    let key = harness.find("up");
    // The bar is above the key's name, which starts at the key.
    harness.drag(key.left_top() + vec2(0.0, -10.0), vec2(0.0, 0.0));
    let time = harness
        .get::<AnimationController>()
        .unwrap()
        .tracks()
        .next()
        .unwrap()
        .position();
    assert!((time - 0.5).abs() < 0.02, "{time}");
}

#[test]
fn the_timeline_shows_the_phase_of_a_blend_space_and_the_keys_of_its_clips() {
    let mut harness = opened(InspectorTab::Timeline);
    let handle = harness.get::<SkinnedCharacter>().unwrap().0.clone();
    let space = BlendSpace::line("gaits", [("still", 0.0), ("wave", 1.0)]).unwrap();
    let world = harness.app.world_mut();
    world
        .resource_mut::<Assets<Character>>()
        .get_mut(&handle)
        .unwrap()
        .add_blend_space(space)
        .unwrap();
    let mut controller = AnimationController::playing("gaits");
    controller.set_parameters(0.75);
    *harness.controller() = controller;
    harness.frames(30);
    let texts = harness.texts();
    assert!(
        !texts.iter().any(|text| text.contains("no clip")),
        "{texts:?}"
    );
    assert!(
        harness.shows("gaits")
            && harness.shows("up (wave)")
            && harness.shows("still 25 %, wave 75 %"),
        "{texts:?}"
    );
    // A click into the bar moves the playhead.
    harness.click("Pause");
    let key = harness.find("up (wave)");
    let whole = harness.controller().tracks().next().unwrap().position();
    harness.drag(key.left_top() + vec2(30.0, -8.0), vec2(0.0, 0.0));
    let phase = harness.controller().tracks().next().unwrap().position();
    assert!(phase != whole && (0.5..0.65).contains(&phase), "{phase}");
    // A track that plays neither a clip nor a space still says so.
    harness.controller().play("nothing");
    harness.frames(3);
    assert!(
        harness.shows("track 2: no clip or blend space `nothing`"),
        "{:?}",
        harness.texts()
    );
}

#[test]
fn the_log_has_the_times_of_what_happened_in_order() {
    let mut harness = opened(InspectorTab::Timeline);
    // Half a cycle between two frames.
    harness
        .app
        .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f64(
            0.25,
        )));
    harness
        .app
        .world_mut()
        .resource_mut::<Time<Virtual>>()
        .set_max_delta(Duration::MAX);
    *harness.controller() = AnimationController::playing("wave");
    harness.frames(5);
    let rows = harness.texts();
    let times: Vec<f64> = rows
        .iter()
        .filter_map(|text| text.trim().parse().ok())
        .collect();
    let of = |what: &str| {
        rows.iter()
            .position(|text| *text == what)
            .unwrap_or_else(|| panic!("no `{what}`: {rows:?}"))
    };
    // The newest at the top: the second cycle begins at 1 s, after the key at 0.5 s.
    assert!(
        of("looped") < of("up  at 0.500 s") && of("up  at 0.500 s") < of("started"),
        "{rows:?}"
    );
    assert!(
        times.contains(&1.0) && times.contains(&0.5) && times.contains(&0.0),
        "{rows:?}"
    );
}

#[test]
fn a_closed_panel_asks_for_no_events_and_an_open_one_logs_all_of_them() {
    let mut harness = Harness::new();
    harness.frames(10);
    let world = harness.app.world();
    assert!(!world.contains_resource::<Messages<AnimationStarted>>());
    assert!(!world.contains_resource::<Messages<AnimationLooped>>());
    harness.app.world_mut().resource_mut::<Inspector>().tab = InspectorTab::Timeline;
    harness.key(KeyCode::F1, Key::F1);
    harness.frames(120);
    assert!(
        harness
            .app
            .world()
            .contains_resource::<Messages<AnimationLooped>>()
    );
    assert!(harness.shows("looped"), "{:?}", harness.texts());
}

#[test]
fn the_switches_change_what_is_drawn() {
    let mut harness = opened(InspectorTab::Drawing);
    harness.click("octahedra");
    assert_eq!(
        harness.get::<DrawSkeleton>().unwrap().bones,
        BoneShape::Octahedra
    );
    harness.click("joint axes");
    harness.click("joint names");
    harness.click("parent links");
    harness.click("culling boxes (1)");
    harness.click("goals, look-at, colliders");
    let draw = harness.get::<DrawSkeleton>().unwrap();
    assert!(draw.axes && draw.names && draw.links && draw.bounds && draw.rig && !draw.sockets);
}

#[test]
fn joint_names_are_drawn_without_the_panel_too() {
    let mut harness = Harness::new();
    let names = DrawSkeleton {
        names: true,
        ..DrawSkeleton::NONE
    };
    harness
        .app
        .world_mut()
        .entity_mut(harness.character)
        .insert(names);
    harness.frames(2);
    let [left, right] = ["arm.L", "arm.R"].map(|name| harness.find(name));
    let joint = harness.get::<ModelPose>().unwrap().joints[1]
        .translation
        .into();
    let at = harness.in_view(joint);
    assert!(
        left.left() - at.x > 0.0
            && left.left() - at.x < 10.0
            && (left.center().y - at.y).abs() < 2.0
    );
    assert!(right.left() < left.left());
}

#[test]
fn a_click_in_the_view_selects_the_character_and_joint_under_the_pointer() {
    let mut harness = opened(InspectorTab::Drawing);
    harness
        .app
        .world_mut()
        .get_mut::<AnimationController>(harness.character)
        .unwrap()
        .fade_out(Duration::ZERO);
    harness.frames(2);
    harness
        .app
        .world_mut()
        .resource_mut::<Inspector>()
        .character = None;
    // The skin is a triangle at (0, 1), (1.5, 1) and (1, 2); the body moves the first corner, the arm the last.
    let nowhere = harness.in_view(Vec3::new(-1.0, 0.5, 0.0));
    harness.drag(nowhere, vec2(0.0, 0.0));
    assert_eq!(joint(&harness), None);
    let body = harness.in_view(Vec3::new(0.15, 1.03, 0.0));
    harness.drag(body, vec2(0.0, 0.0));
    assert_eq!(joint(&harness), Some(0));
    assert_eq!(
        harness.app.world().resource::<Inspector>().character,
        Some(harness.character)
    );
    // A drag selects nothing: it may orbit the camera.
    let arm = harness.in_view(Vec3::new(0.98, 1.9, 0.0));
    harness.drag(arm, vec2(30.0, 0.0));
    assert_eq!(joint(&harness), Some(0));
    harness.drag(arm, vec2(0.0, 0.0));
    assert_eq!(joint(&harness), Some(1));
    // A click on the panel doesn't reach the character behind it.
    *harness
        .app
        .world_mut()
        .get_mut::<Transform>(harness.character)
        .unwrap() = Transform::from_xyz(-6.0, -15.0, 0.0).with_scale(Vec3::splat(10.0));
    harness.app.world_mut().resource_mut::<Inspector>().joint = None;
    harness.frames(2);
    harness.click("weights");
    assert_eq!(joint(&harness), None);
    let beside_the_panel = harness.in_view(Vec3::new(0.5, 0.5, 0.0));
    harness.drag(beside_the_panel, vec2(0.0, 0.0));
    assert!(joint(&harness).is_some());
}

#[test]
fn the_weight_view_turns_on_follows_the_joint_and_turns_off() {
    let mut harness = opened(InspectorTab::Drawing);
    harness.click("influence count");
    assert_eq!(
        harness.get::<WeightView>(),
        Some(&WeightView::InfluenceCount)
    );
    harness.app.world_mut().resource_mut::<Inspector>().joint = Some(1);
    harness.frames(2);
    assert_eq!(
        harness.get::<WeightView>(),
        Some(&WeightView::InfluenceCount)
    );
    harness.click("selected joint");
    assert_eq!(harness.get::<WeightView>(), Some(&WeightView::Joint(1)));
    assert!(harness.shows("arm.L"));
    harness.app.world_mut().resource_mut::<Inspector>().joint = Some(0);
    harness.frames(2);
    assert_eq!(harness.get::<WeightView>(), Some(&WeightView::Joint(0)));
    harness.click("off");
    assert_eq!(harness.get::<WeightView>(), None);
}

#[test]
fn a_part_is_listed_and_can_be_hidden_and_shown() {
    let mut harness = opened(InspectorTab::Parts);
    for text in ["skin", "1", "2", "created in code"] {
        assert!(harness.shows(text), "{text}: {:?}", harness.texts());
    }
    let part = harness.get::<CharacterParts>().unwrap().entities[0];
    let shown = |harness: &Harness| *harness.app.world().get::<Visibility>(part).unwrap();
    harness.click("skin");
    assert!(harness.get::<PartOverrides>().unwrap().is_hidden(0));
    assert_eq!(shown(&harness), Visibility::Hidden);
    harness.click("skin");
    assert!(harness.get::<PartOverrides>().unwrap().is_empty());
    assert_eq!(shown(&harness), Visibility::Inherited);
}

#[test]
fn explain_and_cost_are_right_about_a_simple_character() {
    let mut harness = opened(InspectorTab::Explain);
    harness.app.world_mut().resource_mut::<Inspector>().joint = Some(1);
    harness.frames(2);
    assert!(
        harness.shows("wave  (track 1)") && harness.shows("100.0%"),
        "{:?}",
        harness.texts()
    );
    harness.app.world_mut().resource_mut::<Inspector>().joint = Some(2);
    harness.frames(2);
    assert!(
        harness.shows("does not move this joint") && harness.shows("rest pose"),
        "{:?}",
        harness.texts()
    );
    harness.app.world_mut().resource_mut::<Inspector>().tab = InspectorTab::Cost;
    harness.frames(2);
    // Two joints in the palette of the one part, 64 bytes each.
    assert!(harness.shows("128 bytes"), "{:?}", harness.texts());
}

/// Position of a control without text: left-aligned with one text, in line with another.
fn left_of(harness: &Harness, column: &str, line: &str) -> Pos2 {
    pos2(
        harness.find(column).left() + 7.0,
        harness.find(line).center().y,
    )
}

#[test]
fn joints_are_searched_and_folded_and_revealed_when_code_selects_them() {
    // Tall enough for all sections.
    let mut harness = Harness::in_window(1280, 960, 1.0);
    *harness.app.world_mut().resource_mut::<Inspector>() = Inspector::opened();
    harness.frames(3);
    harness.click("search joints");
    harness.type_text("hand");
    assert!(
        harness.shows("hand.R") && harness.shows("body"),
        "ancestors of a match are shown: {:?}",
        harness.texts()
    );
    harness.key(KeyCode::Backspace, Key::Backspace);
    harness.type_text("d.l");
    assert!(
        harness.shows("hand.L") && !harness.shows("hand.R"),
        "{:?}",
        harness.texts()
    );
    // Select a joint that the search hides, as a click in the view would.
    harness.app.world_mut().resource_mut::<Inspector>().joint = Some(2);
    harness.frames(2);
    assert!(
        harness.shows("arm.R") && harness.shows("search joints"),
        "{:?}",
        harness.texts()
    );
    harness.click("fold");
    assert!(!harness.shows("hand.L"));
    harness.app.world_mut().resource_mut::<Inspector>().joint = Some(3);
    harness.frames(2);
    assert!(
        harness
            .texts()
            .iter()
            .filter(|text| **text == "hand.L")
            .count()
            >= 2,
        "in the tree and as the heading"
    );
    for section in ["Model", "Rest", "Bind (model space)", "Inverse bind"] {
        let before = harness.texts().len();
        harness.click(section);
        harness.frames(20);
        assert!(harness.texts().len() > before, "{section} opens");
        harness.click(section);
        harness.frames(20);
    }
}

#[test]
fn override_values_and_weights_can_be_typed() {
    let mut harness = opened(InspectorTab::Joints);
    harness.controller().fade_out(Duration::ZERO);
    harness.click("arm.R");
    harness.drag(
        harness.find_beside("translation", "0.000").center(),
        Vec2::ZERO,
    );
    harness.type_text("2.5");
    harness.key(KeyCode::Enter, Key::Enter);
    let given = harness
        .get::<PoseOverrides>()
        .expect("typing adds an override")
        .0
        .clone();
    assert_eq!(given[0].transform.translation.y, 2.5, "{given:?}");
    harness.drag(harness.find_beside("weight", "1.00").center(), Vec2::ZERO);
    harness.type_text("0.5");
    harness.key(KeyCode::Enter, Key::Enter);
    assert_eq!(harness.get::<PoseOverrides>().unwrap().0[0].weight, 0.5);
    let posed = harness.get::<ModelPose>().unwrap().joints[2].translation;
    assert!(
        (posed.y - (1.0 + 1.25)).abs() < 1e-5,
        "half of 2.5 above the body: {posed}"
    );
}

#[test]
fn every_control_of_a_track_changes_the_controller() {
    let mut harness = opened(InspectorTab::Tracks);
    harness.click("Pause");
    harness.drag(left_of(&harness, "weight", "remove"), Vec2::ZERO);
    assert!(!harness.controller().tracks().next().unwrap().enabled);
    harness.drag(left_of(&harness, "weight", "remove"), Vec2::ZERO);
    assert!(harness.controller().tracks().next().unwrap().enabled);

    harness.drag(
        harness.find_beside("weight", "1.00").center(),
        vec2(-30.0, 0.0),
    );
    let weight = harness.controller().tracks().next().unwrap().weight;
    assert!((0.05..0.95).contains(&weight), "{weight}");
    harness.drag(
        harness.find_beside("position", ".").center(),
        vec2(40.0, 0.0),
    );
    let time = harness.controller().tracks().next().unwrap().position();
    assert!(time > 0.2, "{time}");
    harness.drag(
        harness.find_beside("speed", "1.00").center(),
        vec2(-60.0, 0.0),
    );
    let speed = harness.controller().tracks().next().unwrap().speed;
    assert!(speed < 0.9, "{speed}");
    harness.drag(
        harness.find_beside("priority blend", "0.50").center(),
        vec2(40.0, 0.0),
    );
    assert!(harness.controller().priority_blend > 0.55);

    for (shown, wanted) in [
        ("low", "high"),
        ("of the clip", "additive"),
        ("all joints", "left arm"),
        ("clip default", "once"),
    ] {
        harness.drag(harness.find(shown).center(), Vec2::ZERO);
        harness.click(wanted);
    }
    let track = harness.controller().tracks().next().unwrap().clone();
    assert_eq!(
        (track.priority, track.blend),
        (TrackPriority::High, Some(BlendMode::Additive))
    );
    assert_eq!(
        (track.mask.as_deref(), track.playback),
        (Some("left arm"), Some(PlaybackMode::Once))
    );

    harness.click("paused");
    assert!(harness.controller().tracks().next().unwrap().paused);
}

#[test]
fn slow_motion_the_queue_and_scheduled_changes_are_shown_and_can_be_undone() {
    let mut harness = opened(InspectorTab::Tracks);
    harness.click("1/4");
    assert_eq!(
        harness
            .app
            .world()
            .resource::<Time<Virtual>>()
            .relative_speed(),
        0.25
    );
    let before = harness.controller().time();
    harness.frames(8);
    let passed = harness.controller().time() - before;
    assert!((passed - 2.0 * FRAME).abs() < 1e-6, "{passed}");
    harness.click("Queue");
    assert_eq!(
        harness.controller().queue().iter().collect::<Vec<_>>(),
        ["wave"]
    );
    assert!(harness.shows("1.  wave"), "{:?}", harness.texts());
    harness.click("clear");
    assert_eq!(harness.controller().queue().len(), 0);
    let start = harness.controller().time() + 5.0;
    let track = harness.controller().tracks().next().unwrap().id();
    harness.controller().timeline_mut().key_weight(
        track,
        0.25,
        start,
        std::time::Duration::from_secs(1),
        TransitionCurve::Linear,
    );
    harness.frames(1);
    assert!(
        harness.shows("Scheduled changes") && harness.shows("to 0.25"),
        "{:?}",
        harness.texts()
    );
    harness.click("cancel");
    assert_eq!(harness.controller().scheduled_changes().count(), 0);
    // The first one shown is the clip the buttons act on.
    harness.click("wave");
    harness.click("still");
    harness.click("Cross-fade");
    assert_eq!(
        harness.controller().tracks().count(),
        2,
        "the old one fades out under the new one"
    );
    harness.click("Stop");
    assert!(harness.shows("No tracks: showing the rest pose."));
}

#[test]
fn callback_keys_can_be_added_named_dragged_copied_and_deleted_and_fire_on_time() {
    let mut harness = opened(InspectorTab::Timeline);
    harness.click("Pause");
    harness
        .controller()
        .tracks_mut()
        .for_each(|track| track.seek(0.25));
    harness.frames(2);
    harness.click("Add key");
    harness.frames(2);
    // The new key's name is selected, so typing replaces it.
    harness.type_text("step");
    assert_eq!(harness.keys(), [("step".into(), 0.25), ("up".into(), 0.5)]);
    harness.drag(harness.find_beside("data", "RON").center(), Vec2::ZERO);
    harness.type_text("\"left\"");
    harness.click("Play");
    let heard = harness.heard_in(60);
    let steps: Vec<_> = heard.iter().filter(|(name, _)| name == "step").collect();
    assert_eq!(
        steps,
        [&("step".to_owned(), 0.25)],
        "once per second: {heard:?}"
    );

    // The marker is at the start of the name. From 0.25 to 0.75 is twice the distance to `up`.
    let from = harness.find("step").left_top() + vec2(2.0, 4.0);
    let way = 2.0 * (harness.find("up").left() - harness.find("step").left());
    harness.drag(from, vec2(way, 0.0));
    let keys = harness.keys();
    let [(_, up), (_, step)] = keys[..] else {
        panic!("{keys:?}")
    };
    assert!(up == 0.5 && (step - 0.75).abs() < 0.02, "{keys:?}");
    let heard = harness.heard_in(60);
    assert!(
        heard.contains(&("step".into(), step)) && heard.len() == 2,
        "{heard:?}"
    );
    // Dragging the key did not move the playhead.
    let time = harness.controller().tracks().next().unwrap().position();
    harness.frames(1);
    let next = harness.controller().tracks().next().unwrap().position();
    assert!((next - time).rem_euclid(1.0) < 1.5 * FRAME);

    harness.click("Copy keys");
    let copied = harness.copied().expect("text was copied");
    let text =
        format!("(model: \"a.m3d\", clips: {{ \"wave\": (file: \"wave.md5anim\", {copied}) }})");
    let manifest = Manifest::parse("a.character.ron", text.as_bytes()).unwrap();
    let entries = &manifest.clips["wave"].callbacks;
    assert_eq!(
        entries
            .iter()
            .map(|key| (key.name.clone(), key.time.expect("seconds")))
            .collect::<Vec<_>>(),
        keys
    );
    assert_eq!(entries[1].data, ron::Value::String("left".into()));

    // As a range, it lasts a tenth of a second, and its end can be dragged.
    harness.click("lasts until");
    harness.frames(2);
    let [end] = harness.ends()[..] else {
        panic!("{:?}", harness.ends())
    };
    assert!((end - step - 0.1).abs() < 1e-6);
    let heard = harness.heard_in(60);
    assert_eq!(
        heard.iter().filter(|(name, _)| name == "step").count(),
        2,
        "begin and end: {heard:?}"
    );
    // The end's marker is in the bar, above the names.
    let tenth = 0.2 * way;
    let begin = harness.find("step").left_top();
    harness.drag(pos2(begin.x + tenth, begin.y - 20.0), vec2(tenth, 0.0));
    let [later] = harness.ends()[..] else {
        panic!("{:?}", harness.ends())
    };
    assert!((later - end - 0.1).abs() < 0.02, "{end} to {later}");

    harness.click("delete");
    assert_eq!(harness.keys(), [("up".into(), 0.5)]);
    assert!(harness.heard_in(60).iter().all(|(name, _)| name == "up"));
}

#[test]
fn the_list_searches_a_thousand_characters_and_reveals_the_one_code_selects() {
    let mut harness = Harness::new();
    let handle = harness.get::<SkinnedCharacter>().unwrap().clone();
    let world = harness.app.world_mut();
    let crowd: Vec<_> = (0..1000)
        .map(|at| {
            world
                .spawn((Name::new(format!("Guard {at}")), handle.clone()))
                .id()
        })
        .collect();
    harness.app.world_mut().resource_mut::<Inspector>().open = true;
    harness.frames(3);
    assert!(harness.shows("1,001"), "{:?}", harness.texts());
    harness.click("search");
    harness.type_text("guard 77");
    assert!(
        harness.shows("11 of 1,001"),
        "77 and 770 to 779: {:?}",
        harness.texts()
    );
    harness.click(&format!("Guard 77  ({})", crowd[77]));
    assert_eq!(
        harness.app.world().resource::<Inspector>().character,
        Some(crowd[77])
    );
    harness.click("clear");
    let row = format!("Guard 640  ({})", crowd[640]);
    assert!(!harness.shows(&row));
    harness
        .app
        .world_mut()
        .resource_mut::<Inspector>()
        .character = Some(crowd[640]);
    harness.frames(3);
    assert!(harness.shows(&row), "{:?}", harness.texts());
    harness.app.world_mut().entity_mut(crowd[640]).despawn();
    harness.frames(2);
    assert_eq!(
        harness.app.world().resource::<Inspector>().character,
        Some(harness.character),
        "the first remaining one"
    );
}

#[test]
fn explain_has_a_joint_list_and_cost_counts_shared_assets_and_poses() {
    let mut harness = opened(InspectorTab::Explain);
    harness.click("select");
    harness.click("arm.L");
    assert_eq!(joint(&harness), Some(1));
    harness.click("Cost");
    let handle = harness.get::<SkinnedCharacter>().unwrap().clone();
    harness
        .app
        .world_mut()
        .spawn((handle.clone(), Transform::from_xyz(0.0, 0.0, 500.0)));
    harness.frames(4);
    assert!(
        harness.shows("1 (2.0 characters each)"),
        "{:?}",
        harness.texts()
    );
    // It is behind the camera, so its pose is not evaluated.
    assert_eq!(harness.text_beside("evaluated"), "1");
    assert_eq!(harness.text_beside("shared"), "0");
    // The same clip at the same time: one evaluation serves both.
    harness
        .app
        .world_mut()
        .insert_resource(PoseSharing::Lossless);
    let twin = harness.controller().clone();
    harness
        .app
        .world_mut()
        .spawn((handle, twin, Transform::from_xyz(0.5, 0.0, 0.0)));
    harness.frames(4);
    assert_eq!(
        [
            harness.text_beside("evaluated"),
            harness.text_beside("shared")
        ],
        ["1", "1"]
    );
}

#[test]
fn the_theme_button_switches_eguis_theme() {
    let mut harness = opened(InspectorTab::Joints);
    assert_eq!(harness.theme(), Theme::Dark);
    harness.click("☀");
    assert_eq!(harness.theme(), Theme::Light);
    harness.click("🌙");
    assert_eq!(harness.theme(), Theme::Dark);
}

#[test]
fn no_text_is_cut_off_in_any_tab_at_any_window_size() {
    for (width, height, scale) in [(1280, 800, 1.0), (1920, 1080, 1.0), (2560, 1600, 2.0)] {
        let mut harness = Harness::in_window(width, height, scale);
        *harness.app.world_mut().resource_mut::<Inspector>() = Inspector {
            joint: Some(1),
            ..Inspector::opened()
        };
        harness.frames(3);
        for tab in InspectorTab::ALL {
            harness.click(tab.title());
            harness.frames(3);
            assert_eq!(
                harness.app.world().resource::<Inspector>().tab,
                tab,
                "clicking its title opens it"
            );
            assert!(
                harness.cut().is_empty(),
                "{tab:?} at {width}×{height}, scale {scale}: {:?}",
                harness.cut()
            );
        }
    }
}
