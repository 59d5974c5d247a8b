//! The Rig tab: goals, what the character looks at, and handles in the view.

use super::{harness::Harness, joint, opened};
use bevy::{
    ecs::system::RunSystemOnce,
    input::{ButtonState, keyboard::Key},
    prelude::*,
};
use bevy_egui::egui::{Vec2 as Step, vec2};
use bevy_marionette::{
    asset::Character,
    character::{GoalLimb, IkGoals, IkLimb, IkWeight, LookAt, LookTarget, ModelPose, SpringBones},
    import::{ColliderEntry, GoalEntry, Manifest, RigEntries, SpringEntry},
    inspector::{Inspector, InspectorTab, inspector_wants_pointer},
    prelude::*,
    rig::{Limb, PoleAngle, RigState},
};

const HAND_L: usize = 3;

/// The open Rig tab, and a character that stands still with its arms spread: its left hand is at (2, 1, 0).
fn rig_tab() -> Harness {
    let mut harness = opened(InspectorTab::Rig);
    harness.controller().fade_out(std::time::Duration::ZERO);
    harness.frames(2);
    harness
}

fn goals(harness: &Harness) -> Vec<Entity> {
    harness
        .get::<IkGoals>()
        .map_or_else(Vec::new, |goals| goals.iter().collect())
}

fn of<C: Component + Clone>(harness: &Harness, entity: Entity) -> C {
    harness
        .app
        .world()
        .get::<C>(entity)
        .expect("the entity has it")
        .clone()
}

fn place(harness: &Harness, entity: Entity) -> Vec3 {
    of::<GlobalTransform>(harness, entity).translation()
}

fn hand(harness: &Harness) -> Vec3 {
    let world = harness.get::<GlobalTransform>().unwrap().affine();
    (world * harness.get::<ModelPose>().unwrap().joints[HAND_L])
        .translation
        .into()
}

fn wants_pointer(harness: &mut Harness) -> bool {
    harness
        .app
        .world_mut()
        .run_system_once(inspector_wants_pointer)
        .unwrap()
}

#[test]
fn a_goal_is_added_where_the_hand_is_and_its_weight_slides_fades_and_is_removed() {
    let mut harness = rig_tab();
    harness.click("Add goal");
    let [goal] = goals(&harness)[..] else {
        panic!("one goal")
    };
    assert_eq!(
        of::<IkLimb>(&harness, goal).limb,
        GoalLimb::Named("reach".into())
    );
    assert!(place(&harness, goal).distance(Vec3::new(2.0, 1.0, 0.0)) < 1e-5);
    assert!(
        harness.shows("reached") && harness.shows("reach goal"),
        "{:?}",
        harness.texts()
    );

    harness
        .app
        .world_mut()
        .get_mut::<Transform>(goal)
        .unwrap()
        .translation = Vec3::new(1.0, 2.0, 0.5);
    harness.frames(2);
    assert!(!harness.shows("reached"), "it is on its way");
    harness.frames(60);
    assert!(harness.shows("reached") && hand(&harness).distance(place(&harness, goal)) < 1e-3);
    harness.drag(
        harness.find_beside("turns", "1.4").center(),
        vec2(40.0, 0.0),
    );
    let limit = of::<IkLimb>(&harness, goal).turn_limit;
    assert!(
        limit.is_some_and(|limit| (1.5..3.0).contains(&limit)),
        "{limit:?}"
    );
    harness.click("at most");
    assert_eq!(of::<IkLimb>(&harness, goal).turn_limit, Some(f32::INFINITY));
    harness
        .app
        .world_mut()
        .get_mut::<Transform>(goal)
        .unwrap()
        .translation = Vec3::new(1.0, 2.0, -0.5);
    harness.frames(2);
    assert!(harness.shows("reached") && hand(&harness).distance(place(&harness, goal)) < 1e-3);
    harness
        .app
        .world_mut()
        .get_mut::<Transform>(goal)
        .unwrap()
        .translation = Vec3::new(3.5, 1.0, 0.0);
    harness.frames(2);
    assert!(harness.shows("1.500 out of reach"), "{:?}", harness.texts());

    harness.drag(
        harness.find_beside("weight", "1.00").center(),
        vec2(-30.0, 0.0),
    );
    let weight = of::<IkWeight>(&harness, goal);
    assert!(
        (0.05..0.95).contains(&weight.weight) && weight.target == weight.weight,
        "{weight:?}"
    );
    harness.click("fade out");
    let fading = of::<IkWeight>(&harness, goal).weight;
    assert!(fading > 0.0 && fading < weight.weight, "half a second");
    harness.frames(40);
    assert_eq!(of::<IkWeight>(&harness, goal).weight, 0.0);
    harness.click("fade in");
    harness.frames(40);
    assert_eq!(of::<IkWeight>(&harness, goal).weight, 1.0);

    harness.click("rotates");
    harness.frames(2);
    assert_eq!(of::<IkLimb>(&harness, goal).rotate_tip, Some(true));
    harness.click("remove");
    assert!(
        goals(&harness).is_empty() && harness.app.world().get_entity(goal).is_err(),
        "the panel's own goal is gone"
    );
}

#[test]
fn a_selected_joint_gets_a_goal_and_a_pole_and_both_are_removed_without_the_apps_own_entities() {
    let mut harness = rig_tab();
    harness.app.world_mut().resource_mut::<Inspector>().joint = Some(4);
    harness.frames(2);
    harness.click("Add goal");
    let [goal] = goals(&harness)[..] else {
        panic!("one goal")
    };
    let limb = Limb::TwoBone {
        root: "body".into(),
        mid: Some("arm.R".into()),
        tip: "hand.R".into(),
    };
    assert_eq!(of::<IkLimb>(&harness, goal).limb, GoalLimb::Joints(limb));
    harness.click("add pole");
    harness.frames(2);
    let pole = of::<IkLimb>(&harness, goal).pole.expect("a pole");
    // The arm is straight, so any side is as good; it is beside the elbow.
    assert!(
        (place(&harness, pole).x + 1.0).abs() < 1e-4,
        "{}",
        place(&harness, pole)
    );
    harness.click("Blender");
    harness.frames(2);
    assert_eq!(
        of::<IkLimb>(&harness, goal).pole_angle,
        Some(PoleAngle::Blender(0.0))
    );
    harness.click("remove pole");
    harness.frames(2);
    assert!(
        of::<IkLimb>(&harness, goal).pole.is_none()
            && harness.app.world().get_entity(pole).is_err()
    );
    harness.click("remove");

    let (character, world) = (harness.character, harness.app.world_mut());
    let cup = world
        .spawn((
            Name::new("Cup"),
            IkGoal(character),
            IkLimb::named("reach"),
            Transform::from_xyz(1.0, 1.5, 0.0),
        ))
        .id();
    harness.frames(2);
    assert!(harness.shows("Cup"));
    harness.click("remove");
    assert!(goals(&harness).is_empty());
    assert_eq!(of::<Name>(&harness, cup).as_str(), "Cup");
}

#[test]
fn dragging_a_goal_moves_it_beneath_its_parent_and_selects_nothing() {
    let mut harness = rig_tab();
    let character = harness.character;
    let parent = Transform::from_xyz(3.0, -1.0, 2.0)
        .with_rotation(Quat::from_rotation_y(1.0))
        .with_scale(Vec3::splat(2.0));
    let parent = harness.app.world_mut().spawn(parent).id();
    // In front of the skin, where a click would select the body.
    let start = Vec3::new(0.15, 1.03, 0.1);
    let local = of::<Transform>(&harness, parent)
        .compute_affine()
        .inverse()
        .transform_point3(start);
    let goal = (
        IkGoal(character),
        IkLimb::named("reach"),
        Transform::from_translation(local),
        ChildOf(parent),
    );
    let goal = harness.app.world_mut().spawn(goal).id();
    harness.frames(3);
    let from = harness.in_view(start);
    harness.drag(from, Step::ZERO);
    assert_eq!(
        joint(&harness),
        None,
        "a click on a handle is not one on the character"
    );
    assert!(place(&harness, goal).distance(start) < 1e-4);

    harness.drag(from, vec2(80.0, -40.0));
    let moved = place(&harness, goal);
    let at = harness.in_view(moved);
    assert!(
        (at - from - vec2(80.0, -40.0)).length() < 0.5,
        "{at:?} {from:?}"
    );
    // The camera looks along z, so the plane that faces it is at one z.
    assert!(
        (moved.z - start.z).abs() < 1e-4 && moved.x > start.x + 0.1 && moved.y > start.y + 0.1,
        "{moved}"
    );
    harness.frames(60);
    assert!(hand(&harness).distance(moved) < 1e-3, "the hand follows");
    assert_eq!(joint(&harness), None);

    // Apps that turn a camera can tell.
    harness.point(harness.find("Characters").center() - vec2(900.0, 0.0));
    assert!(!wants_pointer(&mut harness));
    harness.point(harness.find("Characters").center());
    assert!(wants_pointer(&mut harness), "the pointer is over the panel");
    harness.point(at);
    harness.button(ButtonState::Pressed);
    harness.point(at + vec2(60.0, 60.0));
    assert!(wants_pointer(&mut harness));
    harness.button(ButtonState::Released);
    harness.click("Joints");
    let before = place(&harness, goal);
    let at = harness.in_view(before);
    harness.drag(at, vec2(50.0, 0.0));
    assert_eq!(place(&harness, goal), before, "handles belong to the tab");
}

#[test]
fn goals_attached_to_joints_poles_and_look_at_points_can_be_dragged() {
    let mut harness = rig_tab();
    let handle = harness.get::<SkinnedCharacter>().unwrap().clone();
    let (character, world) = (harness.character, harness.app.world_mut());
    let pole = world.spawn(Transform::from_xyz(1.0, 2.5, 0.0)).id();
    let other = world
        .spawn((handle, Transform::from_xyz(-0.5, 0.0, -1.0)))
        .id();
    let offset = Transform::from_xyz(0.2, 0.6, 0.3).with_rotation(Quat::from_rotation_x(0.4));
    let on_other = (AttachedTo(other), AtSocket::new("body").offset(offset));
    let goal = world
        .spawn((
            IkGoal(character),
            IkLimb::named("reach").pole(pole),
            on_other,
        ))
        .id();
    world
        .entity_mut(character)
        .insert(LookAt::point(Vec3::new(-1.5, 2.0, 0.5)));
    harness.frames(3);
    for entity in [goal, pole] {
        let start = place(&harness, entity);
        let from = harness.in_view(start);
        harness.drag(from, vec2(-30.0, 20.0));
        harness.frames(2);
        let at = place(&harness, entity);
        let moved = harness.in_view(at);
        assert!(
            (moved - from - vec2(-30.0, 20.0)).length() < 0.5,
            "{moved:?} {from:?}"
        );
        assert!((at.z - start.z).abs() < 1e-3);
    }
    assert_eq!(
        of::<AtSocket>(&harness, goal).offset.rotation,
        offset.rotation
    );
    let from = harness.in_view(Vec3::new(-1.5, 2.0, 0.5));
    harness.drag(from, vec2(25.0, 10.0));
    let LookTarget::Point(point) = harness.get::<LookAt>().unwrap().target else {
        panic!("a point")
    };
    assert!((harness.in_view(point) - from - vec2(25.0, 10.0)).length() < 0.5);
    assert!((point.z - 0.5).abs() < 1e-4, "{point}");
}

#[test]
fn a_look_target_is_chosen_limits_are_changed_and_the_turn_is_shown() {
    let mut harness = rig_tab();
    assert!(
        harness.get::<LookAt>().is_none() && harness.shows("0.0° left, 0.0° up"),
        "{:?}",
        harness.texts()
    );
    harness.click("nothing");
    harness.click("a point");
    let LookTarget::Point(point) = harness.get::<LookAt>().expect("it looks").target else {
        panic!("a point")
    };
    // The right hand is at (−2, 1, 0) and faces −z.
    assert!(
        point.z < -0.5 && (point.xy() - Vec2::new(-2.0, 1.0)).length() < 1e-3,
        "{point}"
    );
    harness
        .app
        .world_mut()
        .get_mut::<LookAt>(harness.character)
        .unwrap()
        .target = LookTarget::Point(Vec3::new(-8.0, 1.0, -2.0));
    harness.frames(60);
    let shown = harness.text_beside("turned");
    let turn = harness.get::<RigState>().unwrap().look_turn();
    assert!(
        turn.x > 0.5 && shown.starts_with(&format!("{:.1}° left", turn.x.to_degrees())),
        "{shown} {turn}"
    );
    harness.drag(harness.find_beside("yaw", "80").center(), Step::ZERO);
    harness.type_text("20");
    harness.key(KeyCode::Enter, Key::Enter);
    harness.frames(60);
    assert_eq!(
        harness
            .get::<LookAt>()
            .unwrap()
            .joints
            .as_ref()
            .expect("joints of its own")
            .yaw,
        20.0
    );
    let turn = harness.get::<RigState>().unwrap().look_turn();
    assert!((turn.x.to_degrees() - 20.0).abs() < 0.1, "{turn}");
    harness.click("As in the manifest");
    assert!(harness.get::<LookAt>().unwrap().joints.is_none());
}

#[test]
fn the_rig_is_copied_as_lines_of_a_manifest() {
    let mut harness = rig_tab();
    let (character, world) = (harness.character, harness.app.world_mut());
    let reach = (
        IkGoal(character),
        IkLimb::named("reach")
            .pole_angle(PoleAngle::Blender(-1.0_f32))
            .rotate_tip(true),
    );
    world.spawn((reach, Transform::from_xyz(1.0, 1.5, 0.0)));
    let chain = Limb::chain("body", "hand.R");
    world.spawn((
        IkGoal(character),
        IkLimb::from(chain.clone()),
        Transform::from_xyz(-1.0, 1.5, 0.0),
    ));
    harness.frames(2);
    harness.click("Copy manifest lines");
    let copied = harness.copied().expect("text was copied");
    let text = format!("(model: \"a.m3d\",\n{copied})");
    let manifest = Manifest::parse("a.character.ron", text.as_bytes())
        .unwrap_or_else(|e| panic!("{e}\n{text}"));
    let limb = Limb::two_bone("body", "hand.L");
    let reach = GoalEntry {
        pole_angle: PoleAngle::Blender(-57.296),
        rotate_tip: true,
        ..GoalEntry::new(limb)
    };
    let other = GoalEntry::new(chain);
    assert_eq!(
        manifest.goals.into_iter().collect::<Vec<_>>(),
        [("hand.R".into(), other), ("reach".into(), reach)]
    );
    let handle = harness.get::<SkinnedCharacter>().unwrap();
    let character = harness
        .app
        .world()
        .resource::<Assets<Character>>()
        .get(handle.id())
        .unwrap();
    assert_eq!(manifest.look_at, character.rig().look_at);
}

/// The rig of the character's asset.
fn rig(harness: &Harness) -> RigEntries {
    let handle = harness.get::<SkinnedCharacter>().unwrap();
    harness
        .app
        .world()
        .resource::<Assets<Character>>()
        .get(handle.id())
        .unwrap()
        .rig()
        .clone()
}

#[test]
fn springs_are_tuned_colliders_dragged_and_both_copied() {
    let mut harness = rig_tab();
    assert!(
        harness.shows("The manifest has no springs.") && harness.shows("The manifest has no feet.")
    );
    let id = harness.get::<SkinnedCharacter>().unwrap().id();
    let mut entries = rig(&harness);
    let gravity = 0.0;
    entries.springs = vec![SpringEntry {
        gravity,
        colliders: vec!["ball".into()],
        ..SpringEntry::new(["hand.R"])
    }];
    let ball = ColliderEntry {
        kind: Default::default(),
        joint: "body".into(),
        center: Vec3::new(0.5, 0.8, 0.0),
        end: None,
        radius: 0.1,
    };
    entries.colliders.insert("ball".into(), ball);
    harness
        .app
        .world_mut()
        .resource_mut::<Assets<Character>>()
        .get_mut(id)
        .unwrap()
        .set_rig(entries.clone());
    harness.frames(4);
    assert_eq!(
        harness.get::<SpringBones>(),
        Some(&SpringBones::default()),
        "the instance has springs now"
    );

    harness.click("springs at hand.R");
    harness.frames(20);
    harness.drag(harness.find_beside("gravity", "0").center(), Step::ZERO);
    harness.type_text("0.5");
    harness.key(KeyCode::Enter, Key::Enter);
    harness.frames(60);
    assert_eq!(rig(&harness).springs[0].gravity, 0.5);
    let joints = &harness.get::<ModelPose>().unwrap().joints;
    assert!(
        joints[4].matrix3.x_axis.y > 0.01,
        "the hand hangs: {}",
        joints[4].matrix3
    );

    let start = Vec3::new(0.5, 1.8, 0.0);
    let from = harness.in_view(start);
    harness.drag(from, vec2(40.0, -30.0));
    let moved = rig(&harness).colliders["ball"].center + Vec3::Y;
    assert!(
        (harness.in_view(moved) - from - vec2(40.0, -30.0)).length() < 0.5,
        "{moved}"
    );
    assert!((moved.z - start.z).abs() < 1e-4, "{moved}");
    assert_eq!(joint(&harness), None, "a drag selects nothing");

    harness.click("Copy manifest lines");
    let text = format!(
        "(model: \"a.m3d\",\n{})",
        harness.copied().expect("text was copied")
    );
    let manifest = Manifest::parse("a.character.ron", text.as_bytes())
        .unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(manifest.rig(), rig(&harness));
}
