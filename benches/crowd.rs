//! Whole frames of a crowd: this crate beside `bevy_animation`, in one program.
//!
//! ```text
//! CARGO_PROFILE_DEV_OPT_LEVEL=3 CARGO_PROFILE_DEV_DEBUG_ASSERTIONS=false cargo bench --profile dev --bench crowd
//! ```
//!
//! The dev profile, so that Bevy is not built a second time; it is optimised there, and with these settings so
//! is this crate. Each side plays the same two clips, blended half and half, on the same skeleton of 58 joints
//! and one mesh each. Measured is the CPU's work on animation, up to and with the skin matrices in Bevy's
//! staging buffer: `PostUpdate` of the main world (advance, blend, propagation, bounds, and what Bevy does
//! there beside it) and Bevy's and our extraction of skins. No camera draws; every mesh counts as in view.

use bevy::{
    animation::{AnimatedBy, AnimationTargetId, animated_field, graph::AnimationNodeIndex},
    app::PluginsState,
    camera::visibility::{SetViewVisibility, ViewVisibility, VisibilitySystems},
    ecs::schedule::ScheduleLabel,
    log::LogPlugin,
    mesh::skinning::{SkinnedMesh, SkinnedMeshInverseBindposes},
    pbr::{SkinUniforms, extract_skins},
    prelude::*,
    render::{ExtractSchedule, RenderApp, pipelined_rendering::PipelinedRenderingPlugin},
    time::TimeUpdateStrategy,
    window::ExitCondition,
    winit::WinitPlugin,
};
use bevy_marionette::{
    asset::build_character,
    controller::AnimationController as Controller,
    import::Manifest,
    model::{
        ClipFrames, ClipTiming, Influences, Joint, JointTransform, Material, Model, SkeletalClip, Skeleton, SkinPart,
    },
    prelude::*,
    render::ExtractPalettes,
};
use glam::Affine3A;
use std::{
    f32::consts::TAU,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

const JOINTS: usize = 58;
const FRAMES: usize = 31;

fn main() {
    // `cargo test` runs benches too, to see that they run.
    let quick = std::env::args().any(|argument| argument == "--test");
    let (counts, frames): (&[usize], _) = if quick { (&[1, 10], 3) } else { (&[1, 100, 1000, 10_000], 60) };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    println!("{JOINTS} joints, 2 clips blended, {threads} threads; milliseconds a frame, median of {frames} frames\n");
    println!("characters | bevy_animation: frame, extract | ours: frame, extract | ratio | ours, us a character");
    println!("---------: | -----------------------------: | -------------------: | ----: | --------------------:");
    for &count in counts {
        // Ten thousand joint hierarchies take minutes to spawn and tell nothing that a thousand do not.
        let bevys = (count <= 1000).then(|| measure(count, frames, spawn_bevys));
        let ours = measure(count, frames, spawn_ours);
        let total = |(main, extract): (f64, f64)| main + extract;
        let per_character = total(ours) * 1000.0 / count as f64;
        let (theirs, ratio) = match bevys {
            Some(both) => (format!("{:.3}, {:.3}", both.0, both.1), format!("{:.1}", total(both) / total(ours))),
            None => ("not run".into(), "".into()),
        };
        println!("{count} | {theirs} | {:.3}, {:.3} | {ratio} | {per_character:.2}", ours.0, ours.1);
    }
}

/// Milliseconds of `PostUpdate` and of skin extraction: medians.
fn measure(count: usize, frames: usize, spawn: fn(&mut World, usize)) -> (f64, f64) {
    let probe = Probe::default();
    let mut app = app(&probe);
    spawn(app.world_mut(), count);
    for _ in 0..8 {
        app.update();
    }
    probe.0.lock().expect("no panic while it was held").clear();
    for _ in 0..frames {
        app.update();
    }
    let filled = app.sub_app(RenderApp).world().resource::<SkinUniforms>().current_staging_buffer.len();
    assert!(filled >= count * JOINTS, "{filled} matrices for {count} characters");
    let times = probe.0.lock().expect("no panic while it was held");
    let median = |stage: Stage| {
        let mut list: Vec<f64> =
            times.iter().filter(|(s, _)| *s == stage).map(|(_, t)| t.as_secs_f64() * 1e3).collect();
        list.sort_by(f64::total_cmp);
        list[list.len() / 2]
    };
    (median(Stage::Main), median(Stage::Extract))
}

#[derive(Clone, Copy, PartialEq)]
enum Stage {
    Main,
    Extract,
}

/// Times taken between two systems.
#[derive(Resource, Clone, Default)]
struct Probe(Arc<Mutex<Vec<(Stage, Duration)>>>);

#[derive(Resource)]
struct Since(Instant);

fn begin(mut since: ResMut<Since>) {
    since.0 = Instant::now();
}

fn end(stage: Stage) -> impl FnMut(Res<Since>, Res<Probe>) {
    move |since, probe| probe.0.lock().expect("no panic while it was held").push((stage, since.0.elapsed()))
}

/// Schedules around `PostUpdate`, so that nothing of it is left out.
#[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
struct BeforePostUpdate;
#[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
struct AfterPostUpdate;

fn app(probe: &Probe) -> App {
    let mut app = App::new();
    app.add_plugins(
        DefaultPlugins
            .set(WindowPlugin { primary_window: None, exit_condition: ExitCondition::DontExit, ..default() })
            .disable::<WinitPlugin>()
            .disable::<LogPlugin>()
            .disable::<PipelinedRenderingPlugin>(),
    );
    app.add_plugins(MarionettePlugins);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f64(1.0 / 60.0)));
    app.insert_resource(Since(Instant::now())).insert_resource(probe.clone());
    let mut order = app.world_mut().resource_mut::<bevy::app::MainScheduleOrder>();
    order.insert_before(PostUpdate, BeforePostUpdate);
    order.insert_after(PostUpdate, AfterPostUpdate);
    app.add_systems(BeforePostUpdate, begin).add_systems(AfterPostUpdate, end(Stage::Main));
    app.add_systems(PostUpdate, see_everything.in_set(VisibilitySystems::CheckVisibility));
    app.sub_app_mut(RenderApp).insert_resource(Since(Instant::now())).insert_resource(probe.clone()).add_systems(
        ExtractSchedule,
        (begin.before(extract_skins), end(Stage::Extract).after(extract_skins).after(ExtractPalettes)),
    );
    while app.plugins_state() == PluginsState::Adding {
        std::thread::yield_now();
    }
    app.finish();
    app.cleanup();
    app
}

fn see_everything(mut meshes: Query<&mut ViewVisibility, With<Mesh3d>>) {
    meshes.iter_mut().for_each(|mut visibility| visibility.set_visible());
}

/// The joint's transform in a clip: all turn, each at its own phase, and the root moves.
fn joint_at(joint: usize, frame: usize, swing: f32) -> JointTransform {
    let phase = TAU * frame as f32 / (FRAMES - 1) as f32 + joint as f32;
    let axis = Vec3::new(0.3, 1.0, (joint % 3) as f32 - 1.0).normalize();
    let translation = if joint == 0 { Vec3::Y * phase.sin() * 0.1 } else { Vec3::Y * 0.1 };
    JointTransform::new(translation, Quat::from_axis_angle(axis, swing * phase.sin()))
}

fn parent_of(joint: usize) -> Option<usize> {
    (joint > 0).then(|| if joint.is_multiple_of(6) { 0 } else { joint - 1 })
}

const SWINGS: [(&str, f32); 2] = [("walk", 0.4), ("run", 0.8)];

fn model() -> Model {
    let joints = (0..JOINTS).map(|joint| Joint {
        name: format!("joint{joint}").into(),
        parent: parent_of(joint).map(|parent| parent as u16),
        rest: joint_at(joint, 0, 0.0),
        inverse_bind: Affine3A::IDENTITY,
    });
    let skeleton = Skeleton::new(joints.collect()).expect("parents come first");
    let clips = SWINGS.map(|(name, swing)| {
        let transforms = (0..FRAMES).flat_map(|frame| (0..JOINTS).map(move |joint| joint_at(joint, frame, swing)));
        let frames =
            ClipFrames { joints: skeleton.names().clone(), animated: vec![], transforms: transforms.collect() };
        SkeletalClip::new(ClipTiming::new(name, 1.0), &frames).expect("whole frames")
    });
    let part = SkinPart {
        name: "skin".into(),
        positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
        normals: vec![Vec3::Z; 3],
        tangents: vec![Vec4::X; 3],
        tex_coords: vec![Vec2::ZERO; 3],
        influences: vec![Influences { palette: [0; 4], weights: [1.0, 0.0, 0.0, 0.0] }; 3],
        triangles: vec![[0, 1, 2]],
        palette: (0..JOINTS as u16).collect(),
        source_vertices: vec![0, 1, 2],
        ..SkinPart::default()
    };
    Model { skeleton, parts: vec![part], materials: vec![Material::default()], clips: clips.into() }
}

fn spawn_ours(world: &mut World, count: usize) {
    let character = world.resource_scope(|world, mut meshes: Mut<Assets<Mesh>>| {
        let mut materials = world.resource_mut::<Assets<StandardMaterial>>();
        build_character(model(), &Manifest::of_model("crowd"), &mut meshes, &mut materials)
    });
    let handle = world.resource_mut::<Assets<Character>>().add(character);
    for i in 0..count {
        let mut controller = Controller::default();
        for (name, _) in SWINGS {
            // Everyone at a time of their own.
            controller.add_track(Track::new(name).weight(0.5).starting_at(i as f64 * 0.37 % 1.0));
        }
        world.spawn((SkinnedCharacter(handle.clone()), controller, Transform::from_xyz(i as f32, 0.0, 0.0)));
    }
}

fn spawn_bevys(world: &mut World, count: usize) {
    let target = |joint: usize| AnimationTargetId::from_name(&Name::new(format!("joint{joint}")));
    let clips = SWINGS.map(|(_, swing)| {
        let mut clip = AnimationClip::default();
        for joint in 0..JOINTS {
            let times = (0..FRAMES).map(|frame| frame as f32 / (FRAMES - 1) as f32);
            let rotations = (0..FRAMES).map(|frame| joint_at(joint, frame, swing).rotation);
            let curve = UnevenSampleAutoCurve::new(times.clone().zip(rotations)).expect("two samples and more");
            clip.add_curve_to_target(target(joint), AnimatableCurve::new(animated_field!(Transform::rotation), curve));
            // Like our constant channels: only the root's translation is animated.
            if joint == 0 {
                let translations = (0..FRAMES).map(|frame| joint_at(joint, frame, swing).translation);
                let curve = UnevenSampleAutoCurve::new(times.zip(translations)).expect("two samples and more");
                clip.add_curve_to_target(
                    target(joint),
                    AnimatableCurve::new(animated_field!(Transform::translation), curve),
                );
            }
        }
        world.resource_mut::<Assets<AnimationClip>>().add(clip)
    });
    let (graph, nodes): (AnimationGraph, Vec<AnimationNodeIndex>) = AnimationGraph::from_clips(clips);
    let graph = world.resource_mut::<Assets<AnimationGraph>>().add(graph);
    let mesh = bevy::mesh::Mesh::from(Triangle3d::default())
        .with_inserted_attribute(
            Mesh::ATTRIBUTE_JOINT_INDEX,
            bevy::mesh::VertexAttributeValues::Uint16x4(vec![[0; 4]; 3]),
        )
        .with_inserted_attribute(Mesh::ATTRIBUTE_JOINT_WEIGHT, vec![[1.0, 0.0, 0.0, 0.0]; 3]);
    let mesh = world.resource_mut::<Assets<Mesh>>().add(mesh);
    let material = world.resource_mut::<Assets<StandardMaterial>>().add(StandardMaterial::default());
    let inverse_bindposes =
        world.resource_mut::<Assets<SkinnedMeshInverseBindposes>>().add(vec![Mat4::IDENTITY; JOINTS]);
    for i in 0..count {
        let mut player = AnimationPlayer::default();
        for &node in &nodes {
            player.play(node).repeat().set_weight(0.5).seek_to(i as f32 * 0.37 % 1.0);
        }
        let place = Transform::from_xyz(i as f32, 0.0, 0.0);
        let root = world.spawn((place, Visibility::default(), player, AnimationGraphHandle(graph.clone()))).id();
        let mut joints: Vec<Entity> = Vec::with_capacity(JOINTS);
        for joint in 0..JOINTS {
            let parent = parent_of(joint).map_or(root, |parent| joints[parent]);
            let JointTransform { translation, rotation, scale } = joint_at(joint, 0, 0.0);
            let transform = Transform { translation, rotation, scale };
            joints.push(world.spawn((transform, target(joint), AnimatedBy(root), ChildOf(parent))).id());
        }
        world.spawn((
            Mesh3d(mesh.clone()),
            MeshMaterial3d(material.clone()),
            SkinnedMesh { inverse_bindposes: inverse_bindposes.clone(), joints },
            ChildOf(root),
        ));
    }
}
