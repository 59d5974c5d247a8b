//! Tests of the panel in a real window, with a real pointer and keyboard, and screenshots of every tab.
//!
//! A process can open only one window, so run one test at a time.
//!
//! Needs an X display of its own, and xdotool: `.ci/panel` sets both up.

#[path = "../../examples/stage/mod.rs"]
mod stage;

use super::{
    desk::{self, Desk},
    painted::PaintedPlugin,
};
use bevy::{diagnostic::FrameCount, prelude::*, time::TimeUpdateStrategy, winit::WinitSettings};
use bevy_egui::{
    EguiContext,
    egui::{Theme, Vec2 as Step, pos2, vec2},
};
use bevy_marionette::{
    asset::{Character, CharacterPart},
    character::{IkGoals, IkLimb, LookAt, ModelPose, PartOverrides, PoseOverrides, WeightView},
    controller::{AnimationTrack, BlendMode, TrackPriority, TransitionCurve},
    import::{LookAtEntry, Manifest},
    inspector::{BoneShape, DrawSkeleton, Inspector, InspectorTab, MarionetteInspectorPlugin},
    internals::model::StateLayers,
    model::JointTransform,
    prelude::*,
    recorder::{RecorderPlugin, Recording},
};
use clap::Parser;
use stage::{Orbit, StageArgs, View};
use std::{path::PathBuf, sync::Arc, time::Duration};

/// The character being posed.
#[derive(Component)]
struct Scout;

#[test]
#[ignore = "needs its own X display: run .ci/panel"]
fn a_real_pointer_selects_poses_scrubs_and_toggles() {
    desk::run(plain(), &folder(), |desk| {
        set_up(desk);
        f1_opens(desk);
        a_joint_is_posed(desk);
        a_track_is_slowed(desk);
        time_is_scrubbed_and_a_key_added(desk);
        drawings_are_switched(desk);
        a_part_is_hidden(desk);
        time_is_turned_back(desk);
        the_view_is_clicked_and_turned(desk);
    });
}

#[test]
#[ignore = "needs its own X display: run .ci/panel"]
fn screenshots_of_every_tab_show_no_text_cut_off() {
    desk::run(plain(), &folder(), |desk| {
        set_up(desk);
        desk.key("F1");
        let small = (1280, 800, 1.0, &[Theme::Light, Theme::Dark][..]);
        let large = (1920, 1080, 1.0, &[Theme::Light, Theme::Dark][..]);
        pictures(desk, &[small, large, (2560, 1600, 2.0, &[Theme::Dark])]);
    });
}

#[test]
#[ignore = "needs its own X display: run .ci/panel book"]
fn the_panel_beside_scout() {
    desk::run(on_stage("--bare"), &folder(), |desk| {
        set_up(desk);
        desk.key("F1");
        desk.click("search joints");
        desk.type_text("upper_arm");
        desk.click("upper_arm.L");
        desk.drag(
            desk.find_beside("rotation", "x ").center(),
            vec2(-80.0, 0.0),
        );
        desk.click("clear");
        desk.point(pos2(40.0, 300.0));
        desk.until("the shaders", |world| {
            world.resource::<FrameCount>().0 > 120
        });
        desk.picture("panel");
    });
}

/// The panel in every tab, for the book.
#[test]
#[ignore = "needs its own X display: run .ci/panel book"]
fn the_pictures_of_the_tabs() {
    desk::run(plain(), &folder(), |desk| {
        set_up(desk);
        desk.key("F1");
        pictures(desk, &[(1280, 800, 1.0, &[Theme::Dark])]);
    });
}

/// The stage without ground, sky and shadows, which software renders faster.
fn plain() -> App {
    let mut app = on_stage("--plain");
    app.add_systems(
        PostStartup,
        |mut around: Query<&mut Visibility, With<Mesh3d>>,
         mut lights: Query<&mut DirectionalLight>| {
            around
                .iter_mut()
                .for_each(|mut visibility| *visibility = Visibility::Hidden);
            lights
                .iter_mut()
                .for_each(|mut light| light.shadow_maps_enabled = false);
        },
    );
    app
}

fn folder() -> PathBuf {
    let folder = std::env::var_os("PANEL_PICTURES").map_or("target/panel".into(), PathBuf::from);
    std::fs::create_dir_all(&folder).expect("the folder can be created");
    folder
}

/// Scout and Hound on the examples' stage, with a closed panel.
fn on_stage(how: &str) -> App {
    let mut app = stage::app("panel", &StageArgs::parse_from(["panel", how]), "");
    app.add_plugins((MarionetteInspectorPlugin, RecorderPlugin, PaintedPlugin))
        .insert_resource(WinitSettings::continuous())
        // Fixed time steps, however slowly frames are drawn.
        .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(
            25,
        )))
        // The panel covers the right side, so keep the characters left of the center.
        .insert_resource(View(Orbit {
            target: Vec3::new(-0.38, 0.92, 0.0),
            distance: 3.6,
            yaw: -0.35,
            pitch: 0.1,
        }))
        .add_systems(
            Startup,
            |mut commands: Commands, assets: Res<AssetServer>| {
                let [scout, hound] = ["scout", "hound"].map(|name| {
                    SkinnedCharacter(assets.load(format!("{name}/{name}.character.ron")))
                });
                // `ModelPose` tells the test when they are loaded and how they are posed.
                let walking = (
                    Scout,
                    ModelPose::default(),
                    AnimationController::playing("walk"),
                );
                commands.spawn((Name::new("Scout"), scout, walking));
                let beside = (Transform::from_xyz(1.1, 0.0, 0.8), ModelPose::default());
                commands.spawn((
                    Name::new("Hound"),
                    hound,
                    AnimationController::playing("idle"),
                    beside,
                ));
            },
        );
    app
}

fn set_up(desk: &mut Desk) {
    desk.focus_window("bevy_marionette: panel");
    desk.until("both characters", |world| {
        let loaded = |pose: &ModelPose| pose.joints.len() > 10;
        world
            .query::<&ModelPose>()
            .iter(world)
            .filter(|pose| loaded(pose))
            .count()
            == 2
    });
}

/// Returns a copy of one of Scout's components.
fn scouts<C: Component + Clone>(desk: &Desk) -> Option<C> {
    desk.ask(|world| {
        world
            .query_filtered::<Option<&C>, With<Scout>>()
            .single(world)
            .unwrap()
            .cloned()
    })
}

fn change_scout(desk: &Desk, change: impl FnOnce(EntityWorldMut) + Send + 'static) {
    desk.ask(|world| {
        let scout = world
            .query_filtered::<Entity, With<Scout>>()
            .single(world)
            .unwrap();
        change(world.entity_mut(scout));
    });
}

fn joint_named(desk: &Desk, name: &'static str) -> u16 {
    desk.ask(move |world| {
        let handle = world
            .query_filtered::<&SkinnedCharacter, With<Scout>>()
            .single(world)
            .unwrap();
        world
            .resource::<Assets<Character>>()
            .get(handle.id())
            .unwrap()
            .skeleton
            .joint(name)
            .unwrap()
    })
}

fn selected_joint(desk: &Desk) -> Option<u16> {
    desk.ask(|world| world.resource::<Inspector>().joint)
}

fn clip_time(desk: &Desk) -> f64 {
    scouts::<AnimationController>(desk)
        .unwrap()
        .tracks()
        .next()
        .unwrap()
        .position()
}

fn f1_opens(desk: &Desk) {
    assert!(!desk.shows("Characters"));
    desk.key("F1");
    assert!(desk.shows("Characters"));
    desk.key("F1");
    assert!(!desk.shows("Characters") && !desk.ask(|world| world.resource::<Inspector>().open));
    desk.key("F1");
    let scout = desk.ask(|world| {
        world
            .query_filtered::<Entity, With<Scout>>()
            .single(world)
            .unwrap()
    });
    let row = format!("Scout  ({scout})");
    desk.click(&row);
    assert_eq!(
        desk.ask(|world| world.resource::<Inspector>().character),
        Some(scout)
    );
    println!("F1: opened, closed, opened; a click on `{row}`: the one inspected");
}

fn a_joint_is_posed(desk: &Desk) {
    desk.click("search joints");
    desk.type_text("upper_arm");
    let arm = joint_named(desk, "upper_arm.L");
    desk.click("upper_arm.L");
    assert_eq!(selected_joint(desk), Some(arm));
    let before = scouts::<ModelPose>(desk).unwrap();
    assert!(scouts::<PoseOverrides>(desk).is_none());
    desk.drag(
        desk.find_beside("rotation", "x ").center(),
        vec2(-80.0, 0.0),
    );
    let given = scouts::<PoseOverrides>(desk)
        .expect("dragging adds an override")
        .0;
    let [change] = given[..] else {
        panic!("{given:?}")
    };
    assert_eq!((change.joint, change.weight), (arm, 1.0));
    desk.drag(desk.find_beside("rotation", "z ").center(), vec2(60.0, 0.0));
    let turned = scouts::<PoseOverrides>(desk).unwrap().0[0]
        .transform
        .rotation;
    assert!(turned.angle_between(change.transform.rotation).to_degrees() > 10.0);
    let after = scouts::<ModelPose>(desk).unwrap();
    assert_ne!(
        before.joints[usize::from(arm)],
        after.joints[usize::from(arm)]
    );
    desk.click("Mirror");
    let mirrored = scouts::<PoseOverrides>(desk)
        .unwrap()
        .0
        .iter()
        .map(|change| change.joint)
        .collect::<Vec<_>>();
    assert_eq!(mirrored, [arm, joint_named(desk, "upper_arm.R")]);
    desk.click("Copy RON");
    assert!(
        desk.copied()
            .is_some_and(|text| text.contains("// upper_arm.R"))
    );
    println!("upper_arm.L: chosen, turned to {turned}, mirrored, copied");
    desk.click("clear");
    desk.frames(3);
}

fn a_track_is_slowed(desk: &Desk) {
    desk.click("Tracks");
    desk.drag(desk.find_beside("speed", "1.00").center(), vec2(-50.0, 0.0));
    let speed = scouts::<AnimationController>(desk)
        .unwrap()
        .tracks()
        .next()
        .unwrap()
        .speed;
    assert!((0.1..0.9).contains(&speed), "{speed}");
    desk.drag(desk.find_beside("weight", "1.00").center(), Step::ZERO);
    desk.type_text("0.6");
    desk.key("Return");
    let weight = scouts::<AnimationController>(desk)
        .unwrap()
        .tracks()
        .next()
        .unwrap()
        .weight;
    assert_eq!(weight, 0.6);
    println!("track: speed dragged to {speed:.2}, weight typed as {weight}");
}

fn time_is_scrubbed_and_a_key_added(desk: &Desk) {
    desk.click("Timeline");
    desk.click("Pause");
    assert!(scouts::<AnimationController>(desk).unwrap().paused);
    // Below the key markers, dragging in the bar moves the playhead; the key names are below the bar.
    let name = desk.find("footstep");
    let bar = pos2(name.left(), name.top() - 8.0);
    desk.drag(bar, vec2(60.0, 0.0));
    let first = clip_time(desk);
    desk.drag(bar, vec2(160.0, 0.0));
    let second = clip_time(desk);
    assert!(second > first + 0.1, "{first} {second}");
    // Paused, so it stays there.
    desk.frames(5);
    assert_eq!(clip_time(desk), second);
    desk.click("Add key");
    desk.type_text("clap");
    let keys = desk.ask(|world| {
        let handle = world
            .query_filtered::<&SkinnedCharacter, With<Scout>>()
            .single(world)
            .unwrap();
        let character = world
            .resource::<Assets<Character>>()
            .get(handle.id())
            .unwrap();
        let walk = character
            .clips
            .iter()
            .find(|clip| &*clip.timing.name == "walk")
            .unwrap();
        walk.timing
            .callbacks
            .iter()
            .map(|key| (key.name.to_string(), key.time))
            .collect::<Vec<_>>()
    });
    let clap = keys
        .iter()
        .find(|(name, _)| name == "clap")
        .unwrap_or_else(|| panic!("{keys:?}"));
    assert!(
        (clap.1 - second).abs() < 1e-3,
        "{clap:?} is not at {second}"
    );
    desk.click("Play");
    desk.until("the key", |world| {
        world
            .resource::<super::painted::Painted>()
            .texts()
            .iter()
            .any(|t| t.starts_with("clap  at"))
    });
    println!("timeline: scrubbed to {first:.3} and {second:.3} s, `clap` added there and heard");
}

fn drawings_are_switched(desk: &Desk) {
    desk.click("Drawing");
    for text in ["octahedra", "joint axes", "joint names"] {
        desk.click(text);
    }
    let drawn = scouts::<DrawSkeleton>(desk).unwrap();
    assert!(drawn.bones == BoneShape::Octahedra && drawn.axes && drawn.names && !drawn.bounds);
    for text in ["joint axes", "joint names", "selected joint"] {
        desk.click(text);
    }
    let drawn = scouts::<DrawSkeleton>(desk).unwrap();
    assert!(drawn.bones == BoneShape::Octahedra && !drawn.axes && !drawn.names);
    assert_eq!(
        scouts::<WeightView>(desk),
        selected_joint(desk).map(WeightView::Joint)
    );
    println!("drawing: octahedra, axes and names switched; weights of the joint shown");
}

fn a_part_is_hidden(desk: &Desk) {
    desk.click("Parts");
    desk.click("hair");
    let hidden = |desk: &Desk| {
        let overrides = scouts::<PartOverrides>(desk);
        desk.ask(move |world| {
            let handle = world
                .query_filtered::<&SkinnedCharacter, With<Scout>>()
                .single(world)
                .unwrap();
            let character = world
                .resource::<Assets<Character>>()
                .get(handle.id())
                .unwrap();
            let is_hair = |part: &CharacterPart| part.name == "hair";
            overrides
                .is_some_and(|all| all.is_hidden(character.parts.iter().position(is_hair).unwrap()))
        })
    };
    assert!(hidden(desk));
    desk.click("hair");
    assert!(!hidden(desk));
    println!("parts: hair hidden and shown");
}

fn time_is_turned_back(desk: &Desk) {
    let shown = |desk: &Desk| desk.ask(|world| world.resource::<Recording>().shown());
    desk.click("Rewind");
    desk.click("Stop here");
    let last = shown(desk).expect("the past is shown");
    let stopped = scouts::<AnimationController>(desk).unwrap().time();
    desk.frames(10);
    assert_eq!(scouts::<AnimationController>(desk).unwrap().time(), stopped);
    desk.click("◀");
    desk.click("⏪");
    assert_eq!(shown(desk), Some(last - 11));
    // Time steps are always the same here.
    let ago = stopped - scouts::<AnimationController>(desk).unwrap().time();
    assert!((ago - 11.0 * 0.025).abs() < 1e-6, "{ago}");
    desk.click("ghosts");
    // The slider is below the buttons, and as wide as the panel.
    let slider = desk.find("◀").center() + vec2(200.0, 24.0);
    desk.drag(slider, vec2(-80.0, 0.0));
    let dragged = shown(desk).unwrap();
    assert!(dragged < last - 11, "{dragged} {last}");
    // By keys: from the text, Shift+Tab goes back to "all", "30 s", "5 s" and the slider.
    desk.click("filter events");
    desk.type_text("footstep");
    (0..4).for_each(|_| desk.key_with("shift", "Tab"));
    desk.key("Left");
    desk.key("Left");
    assert_eq!(shown(desk), Some(dragged - 2));
    let texts = desk.ask(|world| {
        let painted = world.resource::<super::painted::Painted>();
        painted
            .texts()
            .iter()
            .map(|text| (*text).to_owned())
            .collect::<Vec<_>>()
    });
    let line = texts
        .iter()
        .find(|text| text.ends_with("footstep (walk)"))
        .unwrap_or_else(|| panic!("{texts:?}"));
    desk.click(line);
    let step = shown(desk).unwrap();
    assert_ne!(step, dragged - 2);
    desk.click("ghosts");
    desk.click("Back to the present");
    assert_eq!(shown(desk), None);
    let back = scouts::<AnimationController>(desk).unwrap().time();
    assert!(back > stopped, "{back} {stopped}");
    println!(
        "rewind: stopped at frame {last}, stepped, dragged to {dragged}, a footstep at {step}, and back"
    );
}

fn the_view_is_clicked_and_turned(desk: &Desk) {
    let head = joint_named(desk, "head");
    let at = desk.ask(move |world| {
        let (pose, world_from) = world
            .query_filtered::<(&ModelPose, &GlobalTransform), With<Scout>>()
            .single(world)
            .unwrap();
        let face = world_from.transform_point(
            Vec3::from(pose.joints[usize::from(head)].translation) + 0.08 * Vec3::Y,
        );
        let (camera, from) = world
            .query::<(&Camera, &GlobalTransform)>()
            .single(world)
            .unwrap();
        camera.world_to_viewport(from, face).unwrap()
    });
    desk.drag(pos2(at.x, at.y), Step::ZERO);
    assert_eq!(selected_joint(desk), Some(head));
    // A drag, here from the chest, orbits the camera and selects nothing.
    desk.drag(pos2(at.x, at.y + 120.0), vec2(25.0, 0.0));
    assert_eq!(selected_joint(desk), Some(head));
    println!("view: a click chose the head, a drag nothing");
}

/// Returns `true` if `PANEL_TAB` names the tab, or nothing.
fn is_wanted(tab: InspectorTab) -> bool {
    std::env::var("PANEL_TAB").map_or(true, |wanted| wanted.eq_ignore_ascii_case(tab.title()))
}

/// Lets Scout reach for something and look at it.
fn act(mut scout: EntityWorldMut) {
    let character = scout.id();
    let at = Vec3::new(-0.25, 1.35, -0.5);
    scout.insert(LookAt::point(at).joints(LookAtEntry::new([
        ("chest", 0.2),
        ("neck", 0.3),
        ("head", 0.5),
    ])));
    scout.world_scope(|world| {
        let pole = world
            .spawn((Name::new("elbow"), Transform::from_xyz(-1.0, 1.0, 0.3)))
            .id();
        let goal = (
            IkGoal(character),
            IkLimb::two_bone("upper_arm.L", "hand.L").pole(pole),
        );
        world.spawn((Name::new("lantern"), goal, Transform::from_translation(at)));
    });
}

/// What Scout does in the picture of the States tab.
const STATES: &str = r#"(
    model: "scout.glb",
    states: {
        "ground": (plays: "walk", start: true),
        "jump": (plays: "jump", from: ["ground"], then: "fall"),
        "fall": (plays: "idle", from: Any),
        "land": (plays: "jump", from: ["fall"], then: "ground"),
        "attack": (plays: "point", from: ["ground"], exit: End, then: "ground"),
        "combo": (plays: "turn", from: ["attack"], then: "ground"),
        "hurt": (plays: "turn", from: Any, then: Back),
    },
    layers: { "arms": (mask: "arm.R", states: {
        "free": (start: true),
        "wave": (plays: "wave", from: ["free"], then: "free"),
    }) },
)"#;

/// Keeps the controller that Scout has in the other pictures.
#[derive(Resource)]
struct Before(AnimationController);

/// Gives Scout states, and lets some of them pass.
fn go_through_states(desk: &mut Desk) {
    change_scout(desk, |mut scout| {
        let manifest = Manifest::parse("scout.character.ron", STATES.as_bytes()).unwrap();
        let states = StateLayers::new(&manifest.states, &manifest.layers).unwrap();
        let mut controller = AnimationController::default();
        controller.set_states(&Arc::new(states), 0);
        let mut present = scout.get_mut::<AnimationController>().unwrap();
        let before = std::mem::replace(&mut *present, controller);
        scout.world_scope(|world| world.insert_resource(Before(before)));
    });
    for (layer, state) in [
        ("", "jump"),
        ("arms", "wave"),
        ("", "attack"),
        ("", "combo"),
    ] {
        desk.frames(30);
        change_scout(desk, move |mut scout| {
            let mut controller = scout.get_mut::<AnimationController>().unwrap();
            controller.go((layer, state)).unwrap();
        });
    }
    desk.frames(30);
}

/// Screenshots of every tab, in windows of these sizes, scales and themes.
fn pictures(desk: &mut Desk, windows: &[(u32, u32, f32, &[Theme])]) {
    let arm = joint_named(desk, "upper_arm.L");
    change_scout(desk, move |mut scout| {
        let mut by_hand = PoseOverrides::default();
        let turn = Quat::from_euler(EulerRot::XYZ, -0.2, -1.1, -0.4);
        by_hand.set(arm, JointTransform::new(Vec3::new(0.0, 0.138, 0.0), turn));
        scout.insert(by_hand);
        let mut controller = AnimationController::playing("walk");
        controller.timeline_mut().key_priority_blend(
            0.8,
            3.0,
            Duration::from_secs(1),
            TransitionCurve::Linear,
        );
        let point = AnimationTrack::new("point")
            .weight(0.8)
            .priority(TrackPriority::High)
            .mask("upper_body");
        let point = controller.add_track(point);
        let mut idle = AnimationTrack::new("idle").weight(0.25);
        idle.blend = Some(BlendMode::Override);
        controller.add_track(idle);
        controller.timeline_mut().key_weight(
            point,
            0.2,
            2.0,
            Duration::from_millis(1500),
            TransitionCurve::EaseInEaseOut,
        );
        controller.queue_mut().extend(["jog", "jump"]);
        scout.insert(controller);
    });
    desk.ask(move |world| world.resource_mut::<Inspector>().joint = Some(arm));
    desk.frames(20);
    desk.point(pos2(40.0, 300.0));
    for &(width, height, scale, themes) in windows {
        desk.resize(width, height, scale);
        for &theme in themes {
            desk.ask(move |world| {
                world
                    .query::<&mut EguiContext>()
                    .single_mut(world)
                    .expect("one context")
                    .get_mut()
                    .set_theme(theme);
            });
            let of = format!("{width}x{height}-{}", format!("{theme:?}").to_lowercase());
            for tab in InspectorTab::ALL.into_iter().filter(|tab| is_wanted(*tab)) {
                let is_drawing = tab == InspectorTab::Drawing;
                let is_rig = tab == InspectorTab::Rig;
                let is_rewind = tab == InspectorTab::Rewind;
                let is_states = tab == InspectorTab::States;
                desk.ask(move |world| world.resource_mut::<Inspector>().tab = tab);
                if is_drawing {
                    change_scout(desk, move |mut scout| {
                        scout.insert((DrawSkeleton::default(), WeightView::Joint(arm)));
                    });
                }
                if is_rig {
                    change_scout(desk, act);
                }
                if is_states {
                    go_through_states(desk);
                }
                if is_rewind {
                    desk.ask(|world| {
                        let mut recording = world.resource_mut::<Recording>();
                        let last = recording.frames().end;
                        recording.show(last.saturating_sub(25));
                    });
                }
                // The panel, its lists and the weight mesh each take a frame, and handles one more.
                desk.frames(if is_rig {
                    30
                } else {
                    3 + 3 * usize::from(is_rewind)
                });
                let title = tab.title().to_lowercase();
                desk.picture(&format!("{title}-{of}"));
                assert!(
                    desk.cut().is_empty(),
                    "{title} at {width}×{height}: {:?}",
                    desk.cut()
                );
                if is_rewind {
                    desk.ask(|world| world.resource_mut::<Recording>().show_present());
                }
                if is_states {
                    change_scout(desk, |mut scout| {
                        let before =
                            scout.world_scope(|world| world.remove_resource::<Before>().unwrap());
                        scout.insert(before.0);
                    });
                }
                if is_rig {
                    change_scout(desk, |mut scout| {
                        let goals: Vec<_> = scout
                            .get::<IkGoals>()
                            .expect("it has a goal")
                            .iter()
                            .collect();
                        scout.remove::<LookAt>();
                        scout.world_scope(|world| {
                            goals
                                .into_iter()
                                .for_each(|goal| world.entity_mut(goal).despawn())
                        });
                    });
                }
                if is_drawing {
                    change_scout(desk, |mut scout| {
                        scout.insert(WeightView::InfluenceCount);
                    });
                    desk.frames(2);
                    desk.picture(&format!("influences-{of}"));
                    change_scout(desk, |mut scout| {
                        scout.remove::<(DrawSkeleton, WeightView)>();
                    });
                }
            }
        }
    }
}
