//! Counts allocations: a steady frame makes none. A separate binary, because it replaces the global allocator.

use bevy_marionette::{
    controller::{
        AnimationController, AnimationTrack, BlendMode, Clips, TrackPriority, Transition,
    },
    internals::controller::SwitchLayer,
};
use bevy_marionette::{
    internals::model::{CombinedJoints, RootPath},
    model::{ClipFrames, ClipTiming, Joint, JointTransform, RootDelta, SkeletalClip, Skeleton},
};
use bevy_marionette::{
    internals::pose::{ClipLayer, Evaluate, Inertia, InertiaScratch, Palette, Scratch},
    pose::{JointOverride, JointSpace, Mask},
};
use bevy_marionette::{
    internals::rig::{
        ChainIk, Collider, Feet, FeetFrame, FeetState, FootPlan, IkScratch, LegJoints, LookChain,
        LookState, SpringChain, SpringFrame, SpringScratch, SpringSettings, SpringState, Springs,
        TwoBoneIk,
    },
    rig::GroundHit,
};
use glam::{Affine3A, DVec3, Mat4, Quat, Vec3};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::Duration;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, counting each thread's allocations.
struct Counting;

// SAFETY: every call is forwarded to the system's allocator unchanged. The count is a plain thread-local
// number without a destructor, so counting never allocates.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn count(work: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

#[test]
fn a_playing_controller_does_not_allocate_with_or_without_events() {
    let timing = |name: &str, keys: usize| {
        let mut timing = ClipTiming::new(name, 0.9);
        for i in 0..keys {
            timing.add_callback(0.2 * i as f64, "key", ron::Value::Unit);
        }
        timing
    };
    let clips = vec![timing("walk", 3), timing("run", 0)];
    let mut controller = AnimationController::playing("walk");
    let run = controller.add_track(AnimationTrack::new("run").weight(0.3));
    controller.add_callback("run", 0.5, "added", ron::Value::Unit);
    let (mut events, mut passed, mut layers) = (Vec::new(), 0, 0);
    let mut frame = || {
        controller.advance(1.0 / 60.0, &clips, &mut events).unwrap();
        layers += controller.layers(&clips).count();
        passed += events.drain(..).count();
    };
    (0..200).for_each(|_| frame());
    assert_eq!(count(|| (0..1000).for_each(|_| frame())), 0);
    assert!(passed > 60 && layers == 2400);
    assert!(controller.remove_track(run).is_some());
}

#[test]
fn root_motion_of_blends_and_fades_does_not_allocate() {
    struct Walks([(ClipTiming, RootPath); 2]);

    impl Clips for Walks {
        fn index_of(&self, name: &str) -> Option<usize> {
            self.0.iter().position(|(timing, _)| &*timing.name == name)
        }

        fn timing(&self, index: usize) -> Option<&ClipTiming> {
            Some(&self.0.get(index)?.0)
        }

        fn root_path(&self, index: usize) -> Option<&RootPath> {
            Some(&self.0.get(index)?.1)
        }
    }

    let walk = |name: &str, seconds: f64, turn: f64| {
        let path = RootPath::steady(seconds, RootDelta::new(DVec3::NEG_Z, turn)).unwrap();
        (ClipTiming::new(name, seconds), path)
    };
    let clips = Walks([walk("walk", 1.0, 0.5), walk("run", 0.7, -0.2)]);
    let mut controller = AnimationController::playing("walk");
    let run = controller.add_track(AnimationTrack::new("run").weight(0.3));
    let (mut events, mut moved) = (Vec::new(), RootDelta::IDENTITY);
    let mut frame = |controller: &mut AnimationController| {
        let delta = controller
            .advance_with_root_motion(1.0 / 60.0, &clips, &mut events)
            .unwrap();
        moved = moved.then(delta);
        events.clear();
    };
    (0..100).for_each(|_| frame(&mut controller));
    assert_eq!(count(|| (0..100).for_each(|_| frame(&mut controller))), 0);
    controller
        .timeline_mut()
        .fade(run, 1.0, Duration::from_secs(1));
    (0..10).for_each(|_| frame(&mut controller));
    assert_eq!(count(|| (0..30).for_each(|_| frame(&mut controller))), 0);
    assert!(moved.translation.length() > 1.0);
}

/// Whole frames in an app: the number of allocations doesn't depend on the number of characters.
#[cfg(feature = "bevy")]
#[test]
fn a_frame_with_many_characters_allocates_no_more_than_one_with_few() {
    use bevy::{
        camera::visibility::{SetViewVisibility, ViewVisibility},
        ecs::schedule::{Schedules, SingleThreadedExecutor},
        prelude::*,
        tasks::{ComputeTaskPool, TaskPoolBuilder},
        time::TimeUpdateStrategy,
    };
    use bevy_marionette::{
        asset::{Character, build_character},
        character::{AnimationLod, PoseCounts, PoseSharing},
        import::Manifest,
        model::{Material, Model, SkinPart},
        prelude::{CharacterSystems, MarionettePlugins, SkinnedCharacter},
    };

    // Everything runs on this thread, whose allocations are counted.
    ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(1).build());
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins,
        AssetPlugin::default(),
        TransformPlugin,
        MarionettePlugins::default(),
    ));
    app.insert_resource(TimeUpdateStrategy::ManualDuration(
        std::time::Duration::from_micros(16_667),
    ));
    let see = |mut parts: Query<&mut ViewVisibility>| {
        parts.iter_mut().for_each(|mut part| part.set_visible())
    };
    app.add_systems(PostUpdate, see.before(CharacterSystems::EvaluateLate));
    for (_, schedule) in app.world_mut().resource_mut::<Schedules>().iter_mut() {
        schedule.set_executor(SingleThreadedExecutor::new());
    }

    let joint = |i: u16| Joint {
        name: format!("{i}").into(),
        parent: i.checked_sub(1),
        rest: JointTransform::new(Vec3::Y, Quat::IDENTITY),
        inverse_bind: Affine3A::IDENTITY,
    };
    let skeleton = Skeleton::new((0..20).map(joint).collect()).unwrap();
    let pose = |angle: f32| vec![JointTransform::new(Vec3::Y, Quat::from_rotation_z(angle)); 20];
    let clips = ["walk", "run"].map(|name| {
        let transforms = [pose(0.0), pose(0.3)].concat();
        let frames = ClipFrames {
            joints: skeleton.names().clone(),
            animated: vec![],
            transforms,
        };
        // Too long to loop while we count: events allocate.
        SkeletalClip::new(ClipTiming::new(name, 600.0), &frames).unwrap()
    });
    let part = SkinPart {
        name: "skin".into(),
        palette: (0..20).collect(),
        ..SkinPart::default()
    };
    let model = Model {
        skeleton,
        parts: vec![part],
        materials: vec![Material::default()],
        clips: clips.into(),
    };
    let (mut meshes, mut materials) = Default::default();
    let character = build_character(
        model,
        &Manifest::of_model("code"),
        &mut meshes,
        &mut materials,
    );
    let handle = app
        .world_mut()
        .resource_mut::<Assets<Character>>()
        .add(character);

    for sharing in [
        PoseSharing::Off,
        PoseSharing::Lossless,
        PoseSharing::Steps(30.0),
    ] {
        app.insert_resource(sharing);
        let mut all = Vec::new();
        let mut frames_with = |characters: usize| {
            for i in all.len()..characters {
                let mut controller = AnimationController::default();
                for clip in ["walk", "run"] {
                    controller
                        .add_track(AnimationTrack::new(clip).starting_at(0.1 * (i % 97) as f64));
                }
                let entity = app
                    .world_mut()
                    .spawn((SkinnedCharacter(handle.clone()), controller))
                    .id();
                if i % 2 == 1 {
                    app.world_mut().entity_mut(entity).insert(AnimationLod {
                        poses: 1.0,
                        most_frames: 1 + i as u32 % 4,
                        ..AnimationLod::default()
                    });
                }
                all.push(entity);
            }
            (0..20).for_each(|_| app.update());
            let allocations = count(|| (0..60).for_each(|_| app.update()));
            assert_eq!(app.world().resource::<PoseCounts>().in_view, characters);
            (allocations, all.clone())
        };
        let ((few, _), (many, spawned)) = (frames_with(4), frames_with(400));
        // Bevy's own allocations vary a little. One per twenty characters would exceed this.
        let most = few + 60 * 396 / 20;
        assert!(
            many < most,
            "{sharing:?}: {few} allocations in 60 frames with 4 characters, {many} with 400"
        );
        for entity in spawned {
            assert!(app.world_mut().despawn(entity));
        }
        app.update();
    }
}

#[test]
fn a_warm_scratch_poses_characters_and_their_rigs_without_allocating() {
    let joint = |i: u16| Joint {
        name: format!("{i}").into(),
        parent: i.checked_sub(1),
        rest: JointTransform::new(Vec3::Y, Quat::from_rotation_x(0.1)),
        inverse_bind: Affine3A::IDENTITY,
    };
    let skeleton = Skeleton::new((0..58).map(joint).collect()).unwrap();
    let pose = |angle: f32| vec![JointTransform::new(Vec3::Y, Quat::from_rotation_z(angle)); 58];
    let transforms = [pose(0.0), pose(0.3)].concat();
    let frames = ClipFrames {
        joints: skeleton.names().clone(),
        animated: vec![],
        transforms,
    };
    let clip = SkeletalClip::new(ClipTiming::new("bend", 1.0), &frames).unwrap();
    let mask = Mask::from_roots(&skeleton, &[20], 3);
    let layer = |time: f64| ClipLayer::new(&clip, time);
    let overrides =
        [JointSpace::Parent, JointSpace::Model, JointSpace::Joint].map(|space| JointOverride {
            space,
            ..JointOverride::local(7, JointTransform::IDENTITY)
        });
    let target = Vec3::new(3.0, 4.0, 5.0);
    let (limb, tail) = (
        TwoBoneIk::new([10, 11, 12], target),
        ChainIk::new(57, 20, target),
    );
    let look = LookChain::new(&skeleton, &[(20, 1.0), (30, 1.0)], &[40], Vec3::Y, Vec3::Z).unwrap();
    let (mut ik, mut looked) = (IkScratch::default(), LookState::default());
    let leg = LegJoints {
        root: 10,
        mid: Some(11),
        tip: 12,
        toe: None,
        heel: None,
    };
    let feet = Feet::new(&skeleton, 0, &[leg], Vec3::Y).unwrap();
    let mut stood = FeetState::default();
    let ball = Collider {
        kind: Default::default(),
        joint: 44,
        center: Vec3::Y,
        end: Some(Vec3::X),
        radius: 1.5,
    };
    let settings = SpringSettings {
        radius: 0.1,
        gravity: 1.0,
        max_angle: 0.5,
        ..SpringSettings::default()
    };
    let springs = Springs::new(
        &skeleton,
        &[SpringChain {
            root: 45,
            settings,
            colliders: vec![0],
        }],
        &[ball],
    );
    let (mut swinging, mut memory) = (SpringState::default(), SpringScratch::default());
    let remap: Vec<u16> = (0..58).collect();
    let mut combined = CombinedJoints::new();
    combined.push([(3, 0.5), (7, 0.5)]);
    let mut palette = vec![Mat4::IDENTITY; 59];
    let mut scratch = Scratch::default();

    let mut frame = |time: f64| {
        let layers = [
            layer(time),
            ClipLayer {
                priority: TrackPriority::High,
                mask: Some(&mask),
                ..layer(time * 0.5)
            },
            ClipLayer {
                mode: BlendMode::Additive,
                ..layer(0.2)
            },
            ClipLayer {
                mode: BlendMode::Override,
                mask: Some(&mask),
                ..layer(0.7)
            },
        ];
        // With the largest number of layers, and with fewer.
        for layers in [&layers[..], &layers[..1], &[]] {
            Evaluate {
                overrides: &overrides,
                ..Evaluate::new(&skeleton, layers)
            }
            .run(&mut scratch);
            let mut pose = scratch.pose_mut(&skeleton);
            look.run(&mut looked, Some(target), 1.0, 0.01, &mut pose);
            let plan = FootPlan {
                weight: 1.0,
                landing: None,
            };
            let rays = feet.rays(0, &plan, &Affine3A::IDENTITY, &stood, pose.model);
            let ground = rays.map(|ray| {
                ray.map(|ray| GroundHit {
                    point: ray.origin,
                    normal: Vec3::Y,
                })
            });
            let frame = FeetFrame {
                world: Affine3A::IDENTITY,
                dt: 0.01,
                weight: 1.0,
                plans: &[plan],
                ground: &[ground],
                turn_speeds: None,
            };
            feet.run(&frame, &mut stood, &mut pose);
            assert!(limb.run(&mut pose) && tail.run(&mut ik, &mut pose));
            // Frames with no step of the springs, with one and with several.
            let world = Affine3A::from_translation(Vec3::X * (9.0 * time).sin() as f32);
            let frame = SpringFrame {
                dt: 0.002 + 0.06 * (time % 0.7),
                world,
                wind: Vec3::Z,
                ..SpringFrame::default()
            };
            springs.run(&frame, &mut swinging, &mut memory, &mut pose);
            let (model, inverse_bind) = (scratch.model(), skeleton.inverse_bind());
            let world = Affine3A::IDENTITY;
            Palette {
                world,
                model,
                inverse_bind,
                remap: &remap,
                combined: &combined,
            }
            .run(&mut palette);
        }
    };
    assert_ne!(count(|| frame(0.0)), 0, "the counter does not count");
    assert_eq!(
        count(|| (1..100).for_each(|step| frame(f64::from(step) * 0.01))),
        0
    );
}

#[test]
fn switches_are_followed_without_allocating() {
    let joint = |i: u16| Joint {
        name: format!("{i}").into(),
        parent: i.checked_sub(1),
        rest: JointTransform::new(Vec3::Y, Quat::from_rotation_x(0.1)),
        inverse_bind: Affine3A::IDENTITY,
    };
    let skeleton = Skeleton::new((0..58).map(joint).collect()).unwrap();
    let clip = |name: &str, turn: f32| {
        let pose =
            |angle: f32| vec![JointTransform::new(Vec3::Y, Quat::from_rotation_z(angle)); 58];
        let transforms = [pose(turn), pose(turn + 0.3)].concat();
        let frames = ClipFrames {
            joints: skeleton.names().clone(),
            animated: vec![],
            transforms,
        };
        SkeletalClip::new(ClipTiming::new(name, 1.0), &frames).unwrap()
    };
    let clips = [clip("a", 0.0), clip("b", 0.5)];
    let timings = clips.each_ref().map(|clip| clip.timing.clone());
    let (mut controller, mut events) = (AnimationController::playing("a"), Vec::new());
    let (mut inertia, mut memory, mut scratch) = (
        Inertia::new(),
        InertiaScratch::default(),
        Scratch::default(),
    );
    let mask = Mask::from_roots(&skeleton, &[20], 3);
    let mut frames = |switches_to: Option<&str>| {
        if let Some(clip) = switches_to {
            controller.play_with(clip, Transition::switch(Duration::from_millis(300)));
        }
        controller.advance(0.02, &timings, &mut events).unwrap();
        events.clear();
        let layer = |clip: usize, time: f64| ClipLayer {
            base: true,
            ..ClipLayer::new(&clips[clip], time)
        };
        let playing = controller
            .layers(&timings)
            .next()
            .map(|found| layer(found.clip, found.time))
            .unwrap();
        count(|| {
            let find =
                |found: &SwitchLayer| Some(layer(usize::from(&*found.clip == "b"), found.time));
            inertia.follow(controller.switches(), &skeleton, find, &mut memory);
            let over = ClipLayer {
                mode: BlendMode::Override,
                mask: Some(&mask),
                ..ClipLayer::new(&clips[1], 0.2)
            };
            for layers in [&[playing][..], &[playing, over]] {
                let inertia = Some(inertia.at(controller.time()));
                Evaluate {
                    inertia,
                    ..Evaluate::new(&skeleton, layers)
                }
                .run(&mut scratch);
            }
        })
    };
    // Two switches at a time, and in between none. In the second round, their offsets trade places and with them the memory.
    for round in 0..4 {
        let mut allocations = 0;
        for frame in 0..40 {
            let clip = match frame {
                3 => Some("b"),
                9 => Some("a"),
                _ => None,
            };
            allocations += frames(clip);
        }
        match round {
            0 => assert_ne!(allocations, 0, "nothing was counted"),
            1 => {}
            _ => assert_eq!(allocations, 0, "round {round}"),
        }
    }
}
