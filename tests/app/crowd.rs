//! A crowd doesn't do unnecessary work, and sharing or skipping poses doesn't change any event.

use super::support::*;
use bevy::{
    camera::visibility::{SetViewVisibility, ViewVisibility},
    ecs::system::SystemState,
    prelude::*,
    tasks::{ComputeTaskPool, TaskPoolBuilder},
};
use bevy_marionette::{
    asset::Character,
    character::{AnimationLod, CharacterParts, ModelPose, PoseCounts, PoseOverrides, PoseSharing},
    controller::AnimationTrack,
    internals::pose::{ClipLayer, Evaluate, Scratch},
    model::{ClipFrames, JointTransform, Model, PlaybackMode, SkeletalClip},
    prelude::*,
};
use glam::Affine3A;
use std::{hash::Hasher, process::Command};

/// Creates an app in which everything is in view.
pub fn seen() -> TestApp {
    let mut app = TestApp::new();
    let see = |mut parts: Query<&mut ViewVisibility>| {
        parts.iter_mut().for_each(|mut part| part.set_visible())
    };
    app.app.add_systems(
        PostUpdate,
        see.after(CharacterSystems::Spawn)
            .before(CharacterSystems::EvaluateLate),
    );
    app
}

/// A chain that rotates as well as moves: `walk` with keys, a longer `idle`, and `jump`, which plays once.
pub fn turning() -> Model {
    let mut model = chain(&[]);
    let timings = [
        timing(
            "walk",
            1.0,
            PlaybackMode::Loop,
            &[(0.25, "left"), (0.75, "right")],
        ),
        timing("idle", 3.1, PlaybackMode::Loop, &[]),
        timing("jump", 0.5, PlaybackMode::Once, &[(0.5, "land")]),
    ];
    for (i, timing) in timings.into_iter().enumerate() {
        let joint = |frame: usize, joint: usize| {
            let phase = std::f32::consts::TAU * frame as f32 / 20.0 + joint as f32 + i as f32;
            JointTransform::new(
                Vec3::new(0.1 * phase.sin(), 1.0, 0.0),
                Quat::from_rotation_z(0.6 * phase.sin()),
            )
        };
        let transforms = (0..=20)
            .flat_map(|frame| (0..3).map(move |j| joint(frame, j)))
            .collect();
        let frames = ClipFrames {
            joints: model.skeleton.names().clone(),
            animated: vec![],
            transforms,
        };
        model
            .clips
            .push(SkeletalClip::new(timing, &frames).unwrap());
    }
    model
}

pub fn pose(app: &TestApp, entity: Entity) -> Vec<Affine3A> {
    app.app
        .world()
        .get::<ModelPose>(entity)
        .unwrap()
        .joints
        .clone()
}

pub fn bits(pose: &[Affine3A]) -> Vec<[u32; 12]> {
    pose.iter()
        .map(|joint| joint.to_cols_array().map(f32::to_bits))
        .collect()
}

pub fn counts(app: &TestApp) -> PoseCounts {
    *app.app.world().resource()
}

/// Computes the pose of a clip at a time.
pub fn pose_at(app: &TestApp, handle: &Handle<Character>, clip: &str, time: f64) -> Vec<Affine3A> {
    let character = app.asset(handle).unwrap();
    let layers = [ClipLayer::new(character.clip(clip).unwrap(), time)];
    let mut scratch = Scratch::default();
    Evaluate::new(&character.skeleton, &layers).run(&mut scratch);
    scratch.model().to_vec()
}

fn playing_at(clip: &str, start: f64) -> AnimationController {
    let mut controller = AnimationController::default();
    controller.add_track(AnimationTrack::new(clip).starting_at(start));
    controller
}

/// Returns the entities whose pose changed in the last frame.
#[derive(Resource, Default)]
struct Touched(Vec<Entity>);

#[test]
fn a_character_is_one_entity_and_one_for_each_part_however_many_joints_it_has() {
    let mut app = TestApp::new();
    let mut model = turning();
    model.parts.push(strip("belt", 0));
    assert!(model.skeleton.len() > model.parts.len());
    let per_character = 1 + model.parts.len() as u32;
    let handle = app.add(model, &manifest());
    app.update(0.1);
    let before = app.world().entities().count_spawned();
    for _ in 0..5 {
        app.spawn(&handle, "walk");
    }
    (0..3).for_each(|_| app.update(0.1));
    let after = app.world().entities().count_spawned();
    assert_eq!(after - before, 5 * per_character);
}

#[test]
fn a_character_in_which_nothing_changed_is_not_posed() {
    let mut app = seen();
    app.world().init_resource::<Touched>();
    app.app.add_systems(
        Last,
        |changed: Query<Entity, Changed<ModelPose>>, mut touched: ResMut<Touched>| {
            touched.0 = changed.iter().collect();
        },
    );
    let handle = app.add(turning(), &manifest());
    let [walks, rests, jumped, paused] =
        ["walk", "", "jump", "walk"].map(|clip| app.spawn(&handle, clip));
    app.update(0.0);
    (0..8).for_each(|_| app.update(0.1));
    app.controller(paused).paused = true;
    app.update(0.1);
    let still = [rests, jumped, paused].map(|entity| bits(&pose(&app, entity)));
    for _ in 0..3 {
        app.update(0.1);
        assert_eq!(
            counts(&app),
            PoseCounts {
                in_view: 4,
                evaluated: 1,
                ..default()
            }
        );
        assert_eq!(app.world().resource::<Touched>().0, [walks]);
    }
    assert_eq!(
        still,
        [rests, jumped, paused].map(|entity| bits(&pose(&app, entity)))
    );
    app.world().resource_mut::<Time<Virtual>>().pause();
    app.update(0.1);
    assert_eq!(
        counts(&app),
        PoseCounts {
            in_view: 4,
            ..default()
        }
    );
    // Changes while time stands still are visible at once.
    app.controller(rests).add_track(AnimationTrack::new("walk"));
    app.controller(walks)
        .tracks_mut()
        .for_each(|track| track.seek(0.9));
    app.update(0.1);
    assert_eq!(counts(&app).evaluated, 2);
}

#[test]
fn out_of_view_only_clocks_and_events_go_on() {
    let mut app = TestApp::new();
    let handle = app.add(turning(), &manifest());
    let entity = app.spawn(&handle, "walk");
    app.update(0.0);
    let rest = bits(&pose(&app, entity));
    (0..11).for_each(|_| app.update(0.1));
    assert_eq!(counts(&app), PoseCounts::default());
    assert_eq!(bits(&pose(&app, entity)), rest);
    assert_eq!(app.words(None), ["started", "left", "right", "looped"]);
    assert!((app.clip_time(entity) - 0.1).abs() < 1e-9);
}

#[test]
fn what_a_listener_changes_is_in_the_pose_of_the_same_frame() {
    let mut app = seen();
    app.app.add_observer(
        |event: On<AnimationCallback>, mut controllers: Query<&mut AnimationController>| {
            controllers
                .get_mut(event.entity)
                .unwrap()
                .tracks_mut()
                .for_each(|track| track.seek(0.1));
        },
    );
    let handle = app.add(turning(), &manifest());
    let entity = app.spawn(&handle, "walk");
    app.update(0.2);
    app.update(0.1);
    assert_eq!(
        bits(&pose(&app, entity)),
        bits(&pose_at(&app, &handle, "walk", 0.1))
    );
}

/// Twenty characters at four different times, and one more.
fn crowd(app: &mut TestApp) -> (Handle<Character>, Vec<Entity>) {
    let handle = app.add(turning(), &manifest());
    let all = (0..21).map(|i| {
        app.spawn_with(
            &handle,
            playing_at("walk", if i == 20 { 0.777 } else { (i % 4) as f64 * 0.2 }),
        )
    });
    let all = all.collect();
    (handle, all)
}

#[test]
fn shared_without_loss_each_pose_is_worked_out_once_and_is_the_same_to_the_bit() {
    let run = |sharing: PoseSharing| {
        let mut app = seen();
        app.app.insert_resource(sharing);
        let (_, all) = crowd(&mut app);
        let mut poses = Vec::new();
        for frame in 0..20 {
            app.update(if frame % 5 == 4 { 0.0 } else { 0.031 });
            poses.push(
                all.iter()
                    .map(|&entity| bits(&pose(&app, entity)))
                    .collect::<Vec<_>>(),
            );
        }
        app.update(0.031);
        (poses, app.words(None), counts(&app))
    };
    let (alone, events, count) = run(PoseSharing::Off);
    assert_eq!(
        count,
        PoseCounts {
            in_view: 21,
            evaluated: 21,
            ..default()
        }
    );
    let (together, same_events, count) = run(PoseSharing::Lossless);
    assert_eq!(
        count,
        PoseCounts {
            in_view: 21,
            evaluated: 5,
            shared: 16,
            ..default()
        }
    );
    assert_eq!((alone, events), (together, same_events));
}

#[test]
fn shared_on_a_grid_of_times_poses_are_those_of_the_nearest_step() {
    let mut app = seen();
    app.app.insert_resource(PoseSharing::Steps(10.0));
    let (handle, all) = crowd(&mut app);
    app.update(0.013);
    // 0.013, 0.213, 0.413, 0.613 and 0.79: five steps.
    assert_eq!(
        counts(&app),
        PoseCounts {
            in_view: 21,
            evaluated: 5,
            shared: 16,
            ..default()
        }
    );
    for (&entity, time) in all.iter().zip([0.0, 0.2, 0.4, 0.6]) {
        assert_eq!(
            bits(&pose(&app, entity)),
            bits(&pose_at(
                &app,
                &handle,
                "walk",
                (time * 10.0_f64).round() / 10.0
            ))
        );
    }
    assert_eq!(
        bits(&pose(&app, all[20])),
        bits(&pose_at(&app, &handle, "walk", 0.8))
    );
    // Time passes, but not by a step: nothing is evaluated.
    app.update(0.013);
    assert_eq!(
        counts(&app),
        PoseCounts {
            in_view: 21,
            ..default()
        }
    );
    assert!((app.controller(all[0]).time() - 0.026).abs() < 1e-9);
}

#[test]
fn poses_and_events_are_the_same_bits_on_one_thread_and_on_many() {
    let hash = |threads: &str| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args([
                "--exact",
                "crowd::crowd_of_a_process",
                "--ignored",
                "--nocapture",
            ])
            .env("THREADS", threads);
        let output = String::from_utf8(command.output().unwrap().stdout).unwrap();
        let line = output
            .lines()
            .find_map(|line| line.split_once("crowd: "))
            .map(|(_, hash)| hash.to_owned());
        line.unwrap_or_else(|| panic!("no hash in {output}"))
    };
    let one = hash("1");
    assert_eq!(one, hash("2"));
    assert_eq!(one, hash("8"));
}

#[test]
#[ignore = "run in a process of its own by the test above"]
fn crowd_of_a_process() {
    let threads: usize = std::env::var("THREADS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(1);
    ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(threads).build());
    let mut app = seen();
    assert_eq!(ComputeTaskPool::get().thread_num(), threads);
    // So far away that those with a level of detail take turns.
    app.world().spawn((
        Camera::default(),
        Projection::default(),
        GlobalTransform::from_xyz(0.0, 1.0, 500.0),
    ));
    let handle = app.add(turning(), &manifest());
    let mut random = fastrand::Rng::with_seed(3);
    let mut all = Vec::new();
    for i in 0..300 {
        let mut controller = playing_at("walk", random.f64());
        controller.add_track(
            AnimationTrack::new("idle")
                .weight(random.f32())
                .speed(random.f64() * 2.0)
                .starting_at(random.f64()),
        );
        all.push(app.spawn_with(&handle, controller));
        if i % 3 == 0 {
            app.world().entity_mut(all[i]).insert(AnimationLod {
                most_frames: 1 + i as u32 % 4,
                ..default()
            });
        }
    }
    let mut hasher = std::hash::DefaultHasher::new();
    for frame in 0..60 {
        app.app.insert_resource(
            [
                PoseSharing::Off,
                PoseSharing::Lossless,
                PoseSharing::Steps(30.0),
            ][frame / 20],
        );
        app.update(0.017);
        for &entity in &all {
            bits(&pose(&app, entity))
                .iter()
                .flatten()
                .for_each(|&bits| hasher.write_u32(bits));
        }
        app.words(None)
            .iter()
            .for_each(|word| hasher.write(word.as_bytes()));
    }
    println!("crowd: {:016x}", hasher.finish());
}

#[test]
fn a_character_without_parts_in_view_is_left_alone() {
    let mut app = seen();
    let handle = app.add(turning(), &manifest());
    let entity = app.spawn(&handle, "walk");
    app.update(0.1);
    app.world()
        .get_mut::<CharacterParts>(entity)
        .unwrap()
        .entities
        .clear();
    app.update(0.1);
    assert_eq!(counts(&app).in_view, 0);
}

/// Poses many characters on all threads, and compares with one thread.
#[test]
fn what_the_apps_threads_pose_is_what_one_thread_poses_to_the_bit() {
    let mut app = TestApp::new();
    let model = chain(&clips());
    let handle = app.add(model.clone(), &manifest());
    let entities: Vec<Entity> = (0..400)
        .map(|i| {
            let mut controller = AnimationController::playing(["walk", "swing", "idle"][i % 3]);
            controller
                .current_track_mut()
                .unwrap()
                .seek(0.0137 * i as f64);
            let entity = app.spawn_with(&handle, controller);
            app.world()
                .entity_mut(entity)
                .insert(PoseOverrides::default());
            entity
        })
        .collect();
    app.update(0.0);
    app.update(0.0171);
    let mut scratch = Scratch::default();
    for entity in entities {
        let controller = app.controller(entity).clone();
        let character = app.asset(&handle).unwrap();
        let layers: Vec<ClipLayer> = controller
            .layers(character)
            .map(|layer| ClipLayer {
                weight: layer.weight,
                ..ClipLayer::new(&character.clips[layer.clip], layer.time)
            })
            .collect();
        assert_eq!(layers.len(), 1);
        let priority_blend = controller.priority_blend;
        Evaluate {
            priority_blend,
            ..Evaluate::new(&model.skeleton, &layers)
        }
        .run(&mut scratch);
        assert_eq!(bits(&pose(&app, entity)), bits(scratch.model()));
    }
}

/// Spawns the same character twice, at the same time of the same clips: one stores its pose, the other doesn't.
fn kept_and_unkept(app: &mut TestApp) -> [Entity; 2] {
    let handle = app.add(turning(), &manifest());
    let both = [0, 1].map(|_| app.spawn(&handle, "walk"));
    app.world().entity_mut(both[1]).remove::<ModelPose>();
    both
}

/// Returns joints in the world from the system parameter, which evaluates poses that are not stored.
fn asked(app: &mut TestApp, entity: Entity) -> Vec<Affine3A> {
    let world = app.world();
    SystemState::<CharacterPoses>::new(world)
        .get(world)
        .unwrap()
        .pose(entity)
        .unwrap()
}

#[test]
fn who_keeps_no_pose_has_the_same_one_when_asked() {
    for sharing in [
        PoseSharing::Off,
        PoseSharing::Lossless,
        PoseSharing::Steps(10.0),
    ] {
        let mut app = seen();
        app.app.insert_resource(sharing);
        let [kept, unkept] = kept_and_unkept(&mut app);
        for _ in 0..10 {
            app.update(0.07);
            assert!(app.world().get::<ModelPose>(unkept).is_none());
            let [a, b] = [kept, unkept].map(|entity| bits(&asked(&mut app, entity)));
            assert_eq!(a, b, "{sharing:?}");
            assert_eq!(a, bits(&pose(&app, kept)));
            if sharing == PoseSharing::Off {
                assert_eq!(
                    counts(&app),
                    PoseCounts {
                        in_view: 2,
                        evaluated: 2,
                        ..default()
                    }
                );
            } else {
                assert!(counts(&app).evaluated <= 1, "{:?}", counts(&app));
            }
        }
    }
}

#[test]
fn a_pose_that_is_asked_for_later_is_there_in_the_next_frame_even_out_of_view() {
    let mut app = TestApp::new();
    let [_, unkept] = kept_and_unkept(&mut app);
    app.update(0.4);
    app.world().entity_mut(unkept).insert(ModelPose::default());
    app.update(0.0);
    assert_eq!(bits(&pose(&app, unkept)), bits(&asked(&mut app, unkept)));
    let handle = app
        .app
        .world()
        .get::<SkinnedCharacter>(unkept)
        .unwrap()
        .0
        .clone();
    let rest = app.asset(&handle).unwrap().skeleton.rest_model().to_vec();
    assert_ne!(bits(&pose(&app, unkept)), bits(&rest), "it plays");
}
