//! Events of characters reach observers and message readers in order of time.

use super::support::*;
use bevy::{ecs::system::RunSystemOnce, prelude::*, time::TimeUpdateStrategy};
use bevy_marionette::{
    character::{
        AnimationLooped, AnimationStarted, CrossFadeFinished, ModelPose, StateEntered, WornBy,
    },
    controller::{AnimationTrack, CallbackTime},
    import::{CallbackEntry, ClipEntry, Manifest},
    model::PlaybackMode,
    prelude::*,
};
use serde::Deserialize;
use std::time::Duration;

#[test]
fn observers_and_messages_hear_the_same_in_order_of_time() {
    let (mut app, handle, walker) = TestApp::playing("walk");
    let jumper = app.spawn(&handle, "jump");
    app.update(1.3);
    let heard = app.world().resource::<Heard>();
    let words: Vec<_> = heard
        .observed
        .iter()
        .map(|f| (f.entity, f.word.as_str()))
        .collect();
    let expected = [
        (walker, "started"),
        (jumper, "started"),
        (jumper, "off"),
        (walker, "left"),
        (jumper, "land"),
        (jumper, "finished"),
        (walker, "right"),
        (walker, "looped"),
        (walker, "left"),
    ];
    // Events at the same moment are in the order of the characters.
    let mut sorted = expected;
    sorted[..3].sort_by_key(|(entity, _)| *entity);
    assert_eq!(words, sorted);
    assert!(
        heard
            .observed
            .iter()
            .all(|f| f.clip == if f.entity == walker { "walk" } else { "jump" })
    );
    let order = |facts: &[Fact]| {
        let mut facts: Vec<_> = facts.iter().map(|f| format!("{f:?}")).collect();
        facts.sort();
        facts
    };
    assert_eq!(order(&heard.observed), order(&heard.messages));
    // Each kind of message is in order.
    let callbacks = |facts: &[Fact]| -> Vec<Fact> {
        let is_callback = |f: &&Fact| !["started", "looped", "finished"].contains(&f.word.as_str());
        facts.iter().filter(is_callback).cloned().collect()
    };
    assert_eq!(callbacks(&heard.observed), callbacks(&heard.messages));
}

#[test]
fn characters_whose_clocks_differ_are_still_in_order_of_time() {
    let mut app = TestApp::new();
    let keys = timing(
        "keys",
        0.7,
        PlaybackMode::Loop,
        &[(0.1, "0.1"), (0.6, "0.6")],
    );
    let handle = app.add(chain(&[keys]), &manifest());
    let mut characters = Vec::new();
    // Spawned one after another, so that all their clocks differ.
    for frame in 0..40 {
        characters.push(app.spawn(&handle, "keys"));
        app.update(0.013 + 0.001 * f64::from(frame));
    }
    app.words(None);
    app.world().resource_mut::<Heard>().messages.clear();
    let clocks: Vec<f64> = characters
        .iter()
        .map(|&c| app.controller(c).current_track().unwrap().position())
        .collect();
    app.update(2.0);
    let heard = &app.world().resource::<Heard>().observed;
    let mut moments = Vec::new();
    for (character, clock) in characters.iter().zip(&clocks) {
        let own: Vec<_> = heard
            .iter()
            .enumerate()
            .filter(|(_, f)| f.entity == *character && f.word.contains('.'))
            .collect();
        let due = (0..20)
            .flat_map(|n| [0.1, 0.6].map(|key| key + 0.7 * f64::from(n)))
            .filter(|t| *t > *clock + 1e-9 && *t <= clock + 2.0 + 1e-9);
        let due: Vec<f64> = due.map(|t| t - clock).collect();
        assert_eq!(own.len(), due.len());
        moments.extend(own.iter().map(|(index, _)| *index).zip(due));
    }
    moments.sort_by_key(|(index, _)| *index);
    assert!(moments.len() > 150);
    assert!(
        moments.is_sorted_by(|a, b| a.1 <= b.1 + 1e-8),
        "{moments:?}"
    );
}

#[derive(Resource, Default)]
struct Places(Vec<[Option<Vec3>; 2]>);

/// Where the hand is when the app is told of a callback, and where it was when the key was passed.
fn note_places(app: &mut TestApp) {
    app.world().init_resource::<Places>();
    app.app.add_observer(
        |step: On<AnimationCallback>, poses: CharacterPoses, mut places: ResMut<Places>| {
            let now = poses.joint_transform(step.entity, "hand");
            let then = poses.joint_transform_at(&step, "hand");
            places
                .0
                .push([now, then].map(|place| place.map(|place| place.translation())));
        },
    );
}

#[test]
fn an_observer_finds_the_joints_where_they_are_in_this_frame_and_where_they_were_at_the_key() {
    for kept in [true, false] {
        let (mut app, _, entity) = TestApp::playing("walk");
        if !kept {
            app.world().entity_mut(entity).remove::<ModelPose>();
        }
        note_places(&mut app);
        let cart = app.world().spawn(Transform::default()).id();
        app.world().entity_mut(entity).insert(ChildOf(cart));
        let mut moment = 0.0;
        for frame in 1..=8 {
            // It is moved in the frame of the callback too.
            app.world()
                .entity_mut(cart)
                .insert(Transform::from_xyz(0.0, 0.0, frame as f32));
            app.update(0.1);
            moment += 0.1;
            let Some(key) = [0.25, 0.75]
                .into_iter()
                .find(|key| *key > moment - 0.1 && *key <= moment)
            else {
                continue;
            };
            let [[now, then]] = std::mem::take(&mut app.world().resource_mut::<Places>().0)[..]
            else {
                panic!()
            };
            let hand = |time: f64| Vec3::new(time as f32, 2.0, 0.5 * time as f32 + frame as f32);
            assert!(
                now.unwrap().abs_diff_eq(hand(moment), 1e-5),
                "{now:?} at {moment}, kept: {kept}"
            );
            assert!(
                then.unwrap().abs_diff_eq(hand(key), 1e-5),
                "{then:?} at {key}, kept: {kept}"
            );
            // As it is drawn in the end.
            let world = app.world();
            let ask = move |poses: CharacterPoses| {
                poses.joint_transform(entity, "hand").unwrap().translation()
            };
            let drawn = world.run_system_once(ask).unwrap();
            assert!(drawn.abs_diff_eq(hand(moment), 1e-5), "{drawn}");
        }
    }
}

#[derive(Resource)]
struct Asked {
    worn: Entity,
    /// The hand of the body and of what it wears.
    hands: Vec<[Vec3; 2]>,
}

#[test]
fn an_observer_finds_what_is_worn_where_the_body_is_in_this_frame() {
    let (mut app, _, body) = TestApp::playing("walk");
    let coat = app.add(chain(&[]), &manifest());
    let coat = app
        .world()
        .spawn((SkinnedCharacter(coat), WornBy(body)))
        .id();
    let badge = app.add(chain(&[]), &manifest());
    let worn = app
        .world()
        .spawn((SkinnedCharacter(badge), WornBy(coat)))
        .id();
    app.world().insert_resource(Asked {
        worn,
        hands: Vec::new(),
    });
    app.app.add_observer(
        |step: On<AnimationCallback>, poses: CharacterPoses, mut asked: ResMut<Asked>| {
            let hands = [step.entity, asked.worn]
                .map(|of| poses.joint_transform(of, "hand").unwrap().translation());
            asked.hands.push(hands);
        },
    );
    for frame in 1..=10 {
        app.world()
            .entity_mut(body)
            .insert(Transform::from_xyz(0.0, 0.0, frame as f32));
        app.update(0.1);
        let time = 0.1 * frame as f32;
        let hand = Vec3::new(time, 2.0, 0.5 * time + frame as f32);
        for [of_body, of_worn] in std::mem::take(&mut app.world().resource_mut::<Asked>().hands) {
            assert!(
                of_body.abs_diff_eq(hand, 1e-5),
                "{of_body} instead of {hand}"
            );
            assert!(
                of_worn.abs_diff_eq(hand, 1e-5),
                "{of_worn} instead of {hand}"
            );
            app.world().insert_resource(Frames(frame));
        }
    }
    assert_eq!(
        app.world().resource::<Frames>().0,
        8,
        "the second key is passed in the eighth frame"
    );
}

#[derive(Resource)]
struct Frames(i32);

#[test]
fn at_the_moment_of_a_key_every_clip_is_where_it_was() {
    let mut app = TestApp::new();
    let handle = app.add(chain(&clips()), &manifest());
    note_places(&mut app);
    let mut controller = AnimationController::default();
    controller.add_track(AnimationTrack::new("walk"));
    controller.add_track(AnimationTrack::new("idle").speed(2.0).starting_at(1.0));
    controller.add_track(AnimationTrack::new("swing").speed(0.0).starting_at(0.4));
    app.spawn_with(&handle, controller);
    app.update(0.7);
    // At 0.25 s: walk at 0.25, idle at 1.5, swing at 0.4; and at 0.7 s: 0.7, 2.4 and 0.4.
    let [[now, then]] = app.world().resource::<Places>().0[..] else {
        panic!()
    };
    assert!(
        (now.unwrap().x - (0.7 + 2.4 + 0.4) / 3.0).abs() < 1e-5,
        "{now:?}"
    );
    assert!(
        (then.unwrap().x - (0.25 + 1.5 + 0.4) / 3.0).abs() < 1e-5,
        "{then:?}"
    );
}

#[test]
fn a_callback_tells_how_long_ago_its_key_was_passed() {
    #[derive(Resource, Default)]
    struct Ago(Vec<f64>);
    let (mut app, _, entity) = TestApp::playing("walk");
    app.world().init_resource::<Ago>();
    app.app
        .add_observer(|step: On<AnimationCallback>, mut ago: ResMut<Ago>| {
            ago.0.push(step.seconds_ago)
        });
    app.controller(entity).set_speed(2.0);
    app.update(1.0);
    let ago = &app.world().resource::<Ago>().0;
    let expected = [0.875, 0.625, 0.375, 0.125];
    assert!(
        ago.len() == 4 && ago.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9),
        "{ago:?}"
    );
}

#[test]
fn what_a_track_does_says_when() {
    #[derive(Resource, Default)]
    struct When(Vec<(&'static str, f64, f64)>);
    let (mut app, _, entity) = TestApp::playing("jump");
    app.world().init_resource::<When>();
    app.app
        .add_observer(|e: On<AnimationStarted>, mut when: ResMut<When>| {
            when.0.push(("started", e.time, e.seconds_ago))
        })
        .add_observer(|e: On<AnimationLooped>, mut when: ResMut<When>| {
            when.0.push(("looped", e.time, e.seconds_ago))
        })
        .add_observer(|e: On<AnimationFinished>, mut when: ResMut<When>| {
            when.0.push(("ended", e.time, e.seconds_ago))
        })
        .add_observer(|e: On<CrossFadeFinished>, mut when: ResMut<When>| {
            when.0.push(("faded", e.time, e.seconds_ago))
        });
    app.controller(entity).time_scale = 2.0;
    app.update(1.0);
    app.controller(entity)
        .cross_fade("walk", Duration::from_millis(500));
    app.update(1.0);
    // On the clock of the controller, which goes twice as fast as the app's.
    let expected = [
        ("started", 0.0, 1.0),
        ("ended", 0.5, 0.75),
        ("started", 2.0, 1.0),
        ("faded", 2.5, 0.75),
        ("looped", 3.0, 0.5),
        ("looped", 4.0, 0.0),
    ];
    let when = &app.world().resource::<When>().0;
    assert_eq!(when.len(), expected.len(), "{when:?}");
    for (found, expected) in when.iter().zip(expected) {
        let close = (found.1 - expected.1).abs() < 1e-9 && (found.2 - expected.2).abs() < 1e-9;
        assert!(found.0 == expected.0 && close, "{when:?}");
    }
}

#[test]
fn messages_are_written_only_where_they_are_asked_for() {
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins,
        AssetPlugin::default(),
        TransformPlugin,
        MarionettePlugins::default(),
    ));
    app.add_message::<AnimationStarted>();
    let handle = add_chain(&mut app);
    app.world_mut().spawn((
        SkinnedCharacter(handle),
        AnimationController::playing("walk"),
    ));
    (0..2).for_each(|_| app.update());
    assert_eq!(
        app.world().resource::<Messages<AnimationStarted>>().len(),
        1
    );
    assert!(
        !app.world()
            .contains_resource::<Messages<AnimationCallback>>()
    );
}

#[test]
fn what_nobody_heard_is_not_said_later_and_commands_are_applied_between_events() {
    #[derive(Resource, Default)]
    struct Said(Vec<&'static str>);
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins,
        AssetPlugin::default(),
        TransformPlugin,
        MarionettePlugins::default(),
    ));
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(
        300,
    )));
    app.world_mut()
        .resource_mut::<Time<Virtual>>()
        .set_max_delta(Duration::MAX);
    app.init_resource::<Said>();
    let handle = add_chain(&mut app);
    let entity = app
        .world_mut()
        .spawn((
            SkinnedCharacter(handle),
            AnimationController::playing("walk"),
        ))
        .id();
    // Through two keys and a half of the next loop.
    (0..5).for_each(|_| app.update());
    app.add_observer(|_: On<AnimationStarted>, mut said: ResMut<Said>| said.0.push("started"));
    app.add_observer(|_: On<AnimationCallback>, mut commands: Commands| {
        commands.queue(|world: &mut World| world.resource_mut::<Said>().0.push("callback"));
    });
    app.update();
    assert_eq!(
        app.world().resource::<Said>().0,
        ["callback"],
        "only what happened in this frame"
    );
    // An observer that the first event brings hears the others of the frame.
    app.insert_resource(Said::default());
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs(1)));
    app.add_observer(|started: On<AnimationStarted>, mut commands: Commands| {
        commands
            .entity(started.entity)
            .observe(|_: On<AnimationLooped>, mut said: ResMut<Said>| said.0.push("looped"));
    });
    let mut controller = app
        .world_mut()
        .get_mut::<AnimationController>(entity)
        .unwrap();
    controller.current_track_mut().unwrap().restart();
    app.update();
    assert_eq!(
        app.world().resource::<Said>().0,
        ["started", "callback", "callback", "looped"]
    );
}

#[test]
fn in_a_schedule_of_fixed_steps_clocks_and_events_take_fixed_steps() {
    let mut app = TestApp::with_plugin(MarionettePlugins::new(FixedUpdate));
    app.world()
        .resource_mut::<Time<Fixed>>()
        .set_timestep_seconds(0.25);
    let handle = app.add(chain(&clips()), &manifest());
    let entity = app.spawn(&handle, "walk");
    app.world()
        .entity_mut(entity)
        .insert(PoseOverrides::default());
    let mut heard = Vec::new();
    for frame in 1..=12 {
        app.update(0.1);
        let steps = f64::from(frame) * 0.1 / 0.25 + 1e-9;
        assert!(
            (app.controller(entity).time() - steps.floor() * 0.25).abs() < 1e-9,
            "frame {frame}"
        );
        heard.extend(app.words(None));
        // Drawn one step late, where the display is between two of them.
        let shown = (f64::from(frame) * 0.1 - 0.25).max(0.0);
        let hand = app.world().get::<ModelPose>(entity).unwrap().joints[2]
            .translation
            .x;
        assert!(
            (f64::from(hand) - shown).abs() < 1e-5,
            "frame {frame}: {hand}"
        );
    }
    assert_eq!(heard, ["started", "left", "right", "looped"]);
}

#[test]
fn listeners_on_the_entity_hear_only_that_entity() {
    #[derive(Resource, Default)]
    struct Mine(usize);
    let (mut app, handle, one) = TestApp::playing("walk");
    app.spawn(&handle, "walk");
    app.world().init_resource::<Mine>();
    app.world()
        .entity_mut(one)
        .observe(|_: On<AnimationCallback>, mut mine: ResMut<Mine>| mine.0 += 1);
    app.update(2.0);
    assert_eq!(app.world().resource::<Mine>().0, 4);
}

#[test]
fn a_callback_brings_clip_time_weight_and_data_of_any_type() {
    #[derive(Deserialize, Debug, PartialEq)]
    struct Step {
        side: String,
        loudness: f32,
    }
    #[derive(Resource, Default)]
    struct Seen(Vec<AnimationCallback>);
    let entry = |time, name: &str, data: &str| CallbackEntry {
        data: ron::from_str(data).unwrap(),
        ..CallbackEntry::new(time, name)
    };
    let mut model = chain(&clips());
    for key in [
        entry(0.1, "text", "\"left\""),
        entry(0.2, "number", "3"),
        entry(0.3, "struct", "{\"side\": \"left\", \"loudness\": 0.5}"),
        entry(0.4, "list", "[1, 2, 3]"),
    ] {
        model.clips[4]
            .timing
            .add_callback(key.time.unwrap(), key.name.as_str(), key.data);
    }
    let mut app = TestApp::new();
    app.world().init_resource::<Seen>();
    app.app
        .add_observer(|callback: On<AnimationCallback>, mut seen: ResMut<Seen>| {
            seen.0.push(callback.event().clone())
        });
    let handle = app.add(model, &manifest());
    let mut controller = AnimationController::default();
    let track = controller.add_track(AnimationTrack::new("idle").weight(0.25));
    controller.add_callback(
        "idle",
        CallbackTime::Fraction(0.2),
        "added",
        ron::Value::Bool(true),
    );
    let entity = app.spawn_with(&handle, controller);
    app.update(1.0);
    let seen = std::mem::take(&mut app.world().resource_mut::<Seen>().0);
    assert_eq!(seen.len(), 5);
    assert!(
        seen.iter().all(|c| c.entity == entity
            && c.track == track
            && c.clip == "idle"
            && c.weight == 0.25)
    );
    assert_eq!(seen[0].data_as::<String>().unwrap(), "left");
    assert_eq!(seen[1].data_as::<u8>().unwrap(), 3);
    assert_eq!(
        seen[2].data_as::<Step>().unwrap(),
        Step {
            side: "left".into(),
            loudness: 0.5
        }
    );
    assert_eq!(seen[3].data_as::<Vec<u32>>().unwrap(), [1, 2, 3]);
    assert!(seen[4].data_as::<bool>().unwrap());
    assert!(seen[0].data_as::<u8>().is_err());
    assert!((seen[4].clip_time - 0.8).abs() < 1e-12);
}

#[test]
fn data_written_as_a_struct_in_the_manifest_is_read_as_one() {
    #[derive(Deserialize, Debug, PartialEq)]
    struct Step {
        side: String,
        loudness: f32,
    }
    let text = "(model: \"a.m3d\", clips: {\"walk\": (callbacks: [(time: 0.1, name: \"step\", data: (side: \"left\", loudness: 0.5))])})";
    let manifest = Manifest::parse("a.character.ron", text.as_bytes()).unwrap();
    let ClipEntry { callbacks, .. } = &manifest.clips["walk"];
    let step: Step = callbacks[0].data.clone().into_rust().unwrap();
    assert_eq!(
        step,
        Step {
            side: "left".into(),
            loudness: 0.5
        }
    );
}

#[test]
fn a_cross_fade_ends_with_an_event_of_the_clip_that_came_in() {
    let (mut app, _, entity) = TestApp::playing("idle");
    app.update(0.1);
    app.words(None);
    app.controller(entity)
        .cross_fade("walk", Duration::from_millis(300));
    app.update(0.2);
    assert_eq!(app.words(None), ["started"]);
    app.update(0.2);
    let heard = &app.world().resource::<Heard>().observed;
    assert_eq!(
        heard
            .iter()
            .map(|f| (f.word.as_str(), f.clip.as_str()))
            .collect::<Vec<_>>(),
        [("left", "walk"), ("faded in", "walk")]
    );
}

#[test]
fn a_listener_may_despawn_the_character_it_hears() {
    let (mut app, _, entity) = TestApp::playing("walk");
    app.app
        .add_observer(|callback: On<AnimationCallback>, mut commands: Commands| {
            commands.entity(callback.entity).try_despawn();
        });
    app.update(5.0);
    assert!(!app.is_alive(entity));
    app.update(5.0);
}

#[test]
fn what_the_last_character_did_is_heard_though_it_is_despawned_at_once() {
    let (mut app, _, entity) = TestApp::playing("walk");
    let despawn = move |mut commands: Commands| commands.entity(entity).try_despawn();
    app.app.add_systems(
        PostUpdate,
        despawn
            .after(CharacterSystems::Advance)
            .before(CharacterSystems::Callbacks),
    );
    app.update(0.3);
    assert!(!app.is_alive(entity));
    assert_eq!(app.words(Some(entity)), ["started", "left"]);
}

#[test]
fn a_listener_may_change_the_controller_and_the_change_lasts() {
    let (mut app, _, entity) = TestApp::playing("jump");
    app.app.add_observer(
        |finished: On<AnimationFinished>, mut controllers: Query<&mut AnimationController>| {
            controllers.get_mut(finished.entity).unwrap().play("walk");
        },
    );
    app.update(0.6);
    assert_eq!(app.controller(entity).current(), Some("walk"));
    app.words(None);
    app.update(0.3);
    assert_eq!(app.words(Some(entity)), ["started", "left"]);
}

#[test]
fn a_character_begins_in_its_first_state_and_reports_those_it_enters() {
    let mut app = TestApp::new();
    let clips = [
        timing("idle", 1.0, PlaybackMode::Loop, &[]),
        timing("jump", 0.25, PlaybackMode::Once, &[]),
    ];
    let handle = app.add(chain(&clips), &with_ground_and_jump());
    #[derive(Resource, Default)]
    struct Entered(Vec<(String, Option<String>, f64)>);
    app.world().init_resource::<Entered>();
    app.app
        .add_observer(|event: On<StateEntered>, mut entered: ResMut<Entered>| {
            let from = event.from.as_ref().map(ToString::to_string);
            entered.0.push((event.state.to_string(), from, event.time));
        });
    let entity = app.world().spawn(SkinnedCharacter(handle.clone())).id();
    app.update(0.0);
    assert_eq!(app.controller(entity).state(), Some("ground"));
    app.update(0.5);
    app.controller(entity).go("jump").unwrap();
    app.update(0.5);
    let ground = || "ground".to_owned();
    let expected = [
        (ground(), None, 0.0),
        ("jump".to_owned(), Some(ground()), 0.5),
        (ground(), Some("jump".to_owned()), 0.75),
    ];
    assert_eq!(app.world().resource::<Entered>().0, expected);

    // A character that plays already is left alone.
    let playing = app.spawn(&handle, "jump");
    app.update(0.1);
    assert_eq!(app.controller(playing).state(), None);
    assert_eq!(app.controller(playing).current(), Some("jump"));
}

#[test]
fn observers_of_every_fixed_step_find_their_character_where_it_is_then() {
    #[derive(Resource, Default)]
    struct Found(Vec<[Vec3; 2]>);
    let mut app = TestApp::with_plugin(MarionettePlugins::new(FixedUpdate));
    let handle = app.add(chain(&clips()), &manifest());
    let entity = app.spawn(&handle, "walk");
    app.world().init_resource::<Found>();
    app.app
        .add_systems(
            FixedUpdate,
            (|mut characters: Query<&mut Transform, With<SkinnedCharacter>>| {
                for mut transform in &mut characters {
                    transform.translation.z += 1.0;
                }
            })
            .before(CharacterSystems::Advance),
        )
        .add_observer(
            |step: On<AnimationCallback>,
             poses: CharacterPoses,
             transforms: Query<&Transform>,
             mut found: ResMut<Found>| {
                let root = poses.joint_transform(step.entity, "root").unwrap();
                let place = transforms.get(step.entity).unwrap().translation;
                found.0.push([root.translation(), place]);
            },
        );
    // Both callbacks of several loops in one frame.
    app.update(3.0);
    let found = app.world().resource::<Found>();
    assert!(found.0.len() >= 4);
    for [root, place] in &found.0 {
        assert_eq!(root, place);
    }
    // After the events, it is where it was drawn.
    let asked = app
        .world()
        .run_system_once(
            move |poses: CharacterPoses, worlds: Query<&GlobalTransform>| {
                let root = poses.joint_transform(entity, "root").unwrap();
                [
                    root.translation(),
                    worlds.get(entity).unwrap().translation(),
                ]
            },
        )
        .unwrap();
    assert_eq!(asked[0], asked[1]);
}

#[test]
fn what_stands_still_has_not_moved_at_a_callback_either() {
    // Paused, finished, and at a speed that counts as 0.
    let stop: [fn(&mut AnimationTrack); 3] = [
        |track| track.paused = true,
        |track| track.playback = Some(PlaybackMode::Once),
        |track| track.speed = f64::INFINITY,
    ];
    for stop in stop {
        let (mut app, _, entity) = TestApp::playing("walk");
        note_places(&mut app);
        // It has its callback in the middle of a long frame, and doesn't show.
        app.update(0.0);
        let mut walk = app.controller(entity);
        walk.tracks_mut().for_each(|track| track.weight = 0.0);
        let mut held = AnimationTrack::new("idle");
        held.seek(3.5);
        let held = walk.add_track(held);
        app.update(0.6);
        stop(app.controller(entity).track_mut(held).unwrap());
        app.update(0.0);
        app.world().resource_mut::<Places>().0.clear();
        app.update(0.4);
        let places = &app.world().resource::<Places>().0;
        assert!(!places.is_empty());
        for [now, then] in places {
            assert_eq!(now.unwrap(), then.unwrap());
        }
    }
}

#[test]
fn a_controller_that_is_replaced_takes_up_the_characters_states() {
    let clips = [
        timing("idle", 1.0, PlaybackMode::Loop, &[]),
        timing("jump", 0.5, PlaybackMode::Once, &[]),
    ];
    let mut app = TestApp::new();
    let handle = app.add(chain(&clips), &with_ground_and_jump());
    let entity = app.spawn_with(&handle, AnimationController::default());
    app.update(0.1);
    app.update(0.1);
    assert_eq!(app.controller(entity).state(), Some("ground"));
    *app.controller(entity) = AnimationController::default();
    app.update(0.1);
    assert_eq!(app.controller(entity).state(), Some("ground"));
    assert!(app.controller(entity).current().is_some());
    // One that plays something of its own is left alone.
    *app.controller(entity) = AnimationController::playing("jump");
    app.update(0.1);
    assert_eq!(app.controller(entity).state(), None);
}
