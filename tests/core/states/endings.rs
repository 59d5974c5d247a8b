//! Ways out of states: none of them holds a character for good, unless it says so.

use super::{
    Game, clip, machines, parse,
    programs::{random_clips, random_states, timings},
};
use crate::messages::{assert_message, assert_messages};
use bevy_marionette::{
    controller::{AnimationController, AnimationTrack, Go, PlaybackEvent, StatesError},
    internals::model::StateLayers,
    model::{CallbackData, StateLayer},
};
use fastrand::Rng;
use std::{sync::Arc, time::Duration};

#[test]
fn a_state_whose_clip_is_missing_ends_at_once() {
    for hurt in [
        r#"plays: "nothere""#,
        r#"plays: ["nothere", "hurt"], choose: Sequence"#,
        r#"plays: "nothere", fade: 0.3"#,
        r#"plays: "nothere", exit: "key""#,
        r#"plays: "nothere", exit: End"#,
    ] {
        let mut game = Game::new(&format!(
            r#"{{"idle": (plays: "idle", start: true), "hurt": ({hurt}, from: Any, then: "idle"),
                "walk": (plays: "fall", from: ["idle"], then: "idle")}}"#
        ));
        game.play(0.1);
        assert_eq!(game.go("hurt"), Ok(Go::Entered));
        let mut events = Vec::new();
        let controller = &mut game.controller;
        controller.advance(5.0, &game.clips, &mut events).unwrap();
        controller.advance(5.0, &game.clips, &mut events).unwrap();
        let unknown = |event: &&PlaybackEvent| matches!(event, PlaybackEvent::UnknownClip { .. });
        assert_eq!(events.iter().filter(unknown).count(), 1);
        assert_eq!(game.controller.state(), Some("idle"));
        assert_eq!(game.controller.current(), Some("idle"));
        assert_eq!(game.go("walk"), Ok(Go::Entered));
        if hurt.contains("Sequence") {
            continue;
        }
        game.go("hurt").unwrap();
        assert_eq!(game.go("walk"), Ok(Go::Waits));
        game.play(0.1);
        assert_eq!(game.controller.state(), Some("walk"), "{hurt}");
        game.assert_entered(&[
            (0.0, "idle"),
            (10.1, "walk"),
            (10.1, "hurt"),
            (10.1, "walk"),
        ]);
    }
}

#[test]
fn missing_clips_are_passed_over_however_many_there_are() {
    // What follows is missing, too, up to one that is there.
    let mut game = Game::new(
        r#"{"a": (plays: "no_a", start: true, then: "b"), "b": (plays: "no_b", then: "c"),
            "c": (plays: "idle")}"#,
    );
    game.play(0.5);
    game.assert_entered(&[(0.0, "a"), (0.0, "b"), (0.0, "c")]);
    // None is there: it comes to rest, and can be left.
    for exit in ["Anytime", "End", "\"key\""] {
        let exit = match exit {
            "Anytime" => String::new(),
            exit => format!(", exit: {exit}"),
        };
        let mut game = Game::new(&format!(
            r#"{{"a": (plays: "no_a", start: true, then: "b"{exit}),
                "b": (plays: "no_b", then: "a"{exit}), "c": (plays: "idle", from: ["a", "b"])}}"#
        ));
        game.play(0.5).play(0.5).play(0.5);
        let entered = game.entered.len();
        assert!(entered < 10, "{entered}");
        assert_eq!(game.go("c"), Ok(Go::Entered));
    }
    // Of several, the one that is there plays again and again.
    let several = |choose: &str| {
        format!(r#"{{"a": (plays: ["no_a", "no_b", "hurt", "no_c"], start: true{choose})}}"#)
    };
    for choose in ["", ", choose: Sequence"] {
        let mut game = Game::new(&several(choose));
        let mut events = Vec::new();
        let controller = &mut game.controller;
        controller.advance(2.2, &game.clips, &mut events).unwrap();
        let started = |event: &&PlaybackEvent| matches!(event, PlaybackEvent::Started { .. });
        assert_eq!(events.iter().filter(started).count(), 5, "{events:#?}");
    }
    // On a layer, too.
    let over = r#"{"arms": (mask: "m", states: {"free": (start: true), "wave": (plays: "no", from: Any, then: "free")})}"#;
    let body = parse(r#"{"idle": (plays: "idle", start: true)}"#);
    let states = StateLayers::new(&body, &super::layers::layers(over)).unwrap();
    let mut controller = AnimationController::default();
    controller.set_states(&Arc::new(states), 0);
    controller.go(("arms", "wave")).unwrap();
    let clips = game.clips;
    controller.advance(0.5, &clips, &mut Vec::new()).unwrap();
    assert_eq!(controller.states().layer("arms").current(), Some("free"));
    assert_eq!(controller.tracks().count(), 1);
}

const LOCKED: &str = r#"{
    "ground": (plays: "idle", start: true),
    "land": (plays: "land", from: ["ground"], exit: End, then: "ground"),
    "aim": (plays: "attack", from: ["ground"], exit: "recover"),
    "shoot": (plays: "hurt", from: ["aim"], then: "ground"),
}"#;

#[test]
fn what_the_game_plays_in_a_state_ends_the_state() {
    let ways: [fn(&mut AnimationController); 5] = [
        |controller| _ = controller.play("hurt"),
        |controller| _ = controller.cross_fade("hurt", Duration::from_millis(100)),
        |controller| controller.fade_out(Duration::from_millis(500)),
        |controller| {
            let track = controller.current_track().unwrap().id();
            controller.remove_track(track);
        },
        // Once around, as a state's own clip.
        |controller| _ = controller.play("idle"),
    ];
    for (at, way) in ways.into_iter().enumerate() {
        for state in ["land", "aim"] {
            let mut game = Game::new(LOCKED);
            game.play(0.1);
            game.go(state).unwrap();
            game.play(0.05);
            way(&mut game.controller);
            let to = if state == "aim" { "shoot" } else { "ground" };
            assert_eq!(game.go(to), Ok(Go::Waits), "{at} {state}");
            for _ in 0..120 {
                game.play(1.0 / 60.0);
                if game.controller.state() == Some(to) {
                    break;
                }
            }
            assert_eq!(game.controller.state(), Some(to), "{at} {state}");
            let end = [0.65, 0.65, 0.65, 0.15, 1.15][at];
            let (time, _) = game.entered[2];
            assert!(time <= end + 1e-9, "{at} {state}: {time} {end}");
        }
    }
    // In the same frame, and from the queue.
    let mut game = Game::new(LOCKED);
    game.play(0.1);
    game.go("land").unwrap();
    game.controller.play("hurt");
    game.play(1.0);
    game.assert_entered(&[(0.0, "ground"), (0.1, "land"), (0.6, "ground")]);
    let mut game = Game::new(&LOCKED.replace("exit: End, then: \"ground\"", "exit: End"));
    game.play(0.1);
    game.go("land").unwrap();
    game.play(0.0).controller.queue_mut().extend(["hurt"]);
    game.play(0.3);
    assert_eq!(game.controller.current(), Some("hurt"));
    assert_eq!(game.controller.state(), Some("land"));
    game.play(1.0);
    assert!(game.controller.can_go("land") || game.controller.state() == Some("land"));
    // A misspelled name doesn't stop what plays.
    let mut game = Game::new(LOCKED);
    game.play(0.1);
    game.go("land").unwrap();
    game.play(0.05).controller.play("hrut");
    game.play(1.0);
    game.assert_entered(&[(0.0, "ground"), (0.1, "land"), (0.35, "ground")]);
}

#[test]
fn a_state_that_the_game_has_played_in_is_saved_with_its_end() {
    let mut game = Game::new(LOCKED);
    game.play(0.1);
    game.go("aim").unwrap();
    game.play(0.05).controller.play("hurt");
    game.play(0.1);
    let text = ron::to_string(&game.controller).unwrap();
    let mut loaded: AnimationController = ron::from_str(&text).unwrap();
    loaded.set_states(game.controller.states().machines().unwrap(), 0);
    assert_eq!(loaded.go("shoot"), Ok(Go::Waits));
    loaded.advance(0.5, &game.clips, &mut Vec::new()).unwrap();
    assert_eq!(loaded.state(), Some("shoot"));
}

#[test]
fn going_back_begins_at_the_key_of_the_exit_as_going_on_does() {
    for then in ["Back", "\"ground\""] {
        let mut game = Game::new(&format!(
            r#"{{"ground": (plays: "idle", start: true),
                "hurt": (plays: "attack", from: Any, exit: "recover", then: {then}),
                "jump": (plays: "jump", from: ["ground"], then: "ground")}}"#
        ));
        game.play(0.1);
        game.go("hurt").unwrap();
        game.play(0.1);
        assert_eq!(game.go("ground"), Ok(Go::Waits));
        game.play(0.5);
        game.assert_entered(&[(0.0, "ground"), (0.1, "hurt"), (0.6, "ground")]);
        game.go("hurt").unwrap();
        // Further by way of it.
        assert_eq!(game.go("jump"), Ok(Go::Waits));
        game.play(0.6);
        game.assert_entered(&[(0.7, "hurt"), (1.2, "jump")]);
    }
}

#[test]
fn a_wish_whose_window_was_missed_is_dropped_where_the_state_goes_back_too() {
    for then in ["Back", "\"ground\""] {
        let mut game = Game::new(&format!(
            r#"{{"ground": (plays: "idle", start: true),
                "flinch": (plays: "swing", from: Any, exit: "window", then: {then}),
                "combo": (plays: "hurt", from: ["flinch", "ground"], then: "ground")}}"#
        ));
        let mut swing = clip("swing", 1.0);
        swing.add_range(0.1, 0.2, "window", CallbackData::default());
        game.clips.push(swing);
        game.play(0.0);
        game.go("flinch").unwrap();
        game.play(0.5);
        assert_eq!(game.go("combo"), Ok(Go::Waits));
        game.play(0.6);
        game.assert_entered(&[(0.0, "ground"), (0.0, "flinch"), (1.0, "ground")]);
        assert_eq!(game.controller.states().destination(), Some("ground"));
    }
}

#[test]
fn a_state_that_is_never_left_has_no_ways_out() {
    let states = r#"{"ground": (plays: "idle", start: true, from: ["die"]),
        "die": (plays: "hurt", from: Any, exit: Never)}"#;
    assert_messages(
        "states: from a state that is never left",
        machines(states).warnings(),
    );
    let mut game = Game::new(states);
    game.go("die").unwrap();
    game.play(2.0);
    assert!(!game.controller.can_go("ground"));
    let error = game.go("ground").unwrap_err();
    assert!(matches!(error, StatesError::NoWay { .. }));
    // What follows by itself still does.
    let mut game = Game::new(&states.replace("Never", "Never, then: \"ground\""));
    game.go("die").unwrap();
    assert_eq!(game.go("ground"), Ok(Go::Waits));
    game.play(1.0);
    assert_eq!(game.controller.state(), Some("ground"));
}

#[test]
fn a_state_that_has_ended_without_the_key_of_its_exit_is_no_place_to_wait() {
    let mut game = Game::new(&LOCKED.replace("recover", "other"));
    game.play(0.1);
    game.go("aim").unwrap();
    assert_eq!(game.go("shoot"), Ok(Go::Waits));
    game.play(1.0);
    assert_eq!(game.controller.states().destination(), Some("aim"));
    assert!(!game.controller.can_go("shoot"));
    let error = game.go("shoot").unwrap_err();
    assert!(matches!(error, StatesError::Closed { .. }));
    assert_message("states: closed for good", error);
    // The game gets it out by playing something.
    game.controller.play("jump");
    game.play(0.1);
    assert_eq!(game.go("shoot"), Ok(Go::Waits));
    game.play(1.0);
    assert_eq!(game.controller.state(), Some("ground"));
}

#[test]
fn a_state_without_the_key_of_its_exit_is_no_place_to_wait() {
    let states = r#"{"ground": (plays: "idle", start: true),
        "aim": (plays: "fall", from: ["ground"], exit: "recover"),
        "shoot": (plays: "hurt", from: ["aim"], then: "ground"),
        "hit": (plays: "hurt", from: Any, then: Back)}"#;
    let mut game = Game::new(states);
    game.play(0.1);
    // By way of it, too: the wish ends there.
    assert_eq!(game.go("shoot"), Ok(Go::Waits));
    assert_eq!(game.controller.state(), Some("aim"));
    game.play(0.0);
    assert_eq!(game.controller.states().destination(), Some("aim"));
    assert!(!game.controller.can_go("shoot"));
    let error = game.go("shoot").unwrap_err();
    assert!(matches!(error, StatesError::Closed { .. }));
    // What interrupts still does.
    assert_eq!(game.go("hit"), Ok(Go::Entered));
    game.play(0.6);
    assert_eq!(game.controller.state(), Some("aim"));
    assert!(!game.controller.can_go("shoot"));
    // A key that the game adds opens it.
    (game.controller).add_callback("fall", 0.2, "recover", CallbackData::default());
    game.play(0.0);
    assert_eq!(game.go("shoot"), Ok(Go::Waits));
    game.play(0.3);
    assert_eq!(game.controller.state(), Some("shoot"));
    // One that another of its clips has, too.
    let states = states.replace(r#"plays: "fall""#, r#"plays: ["fall", "attack"]"#);
    let mut game = Game::new(&states);
    game.play(0.1);
    game.go("aim").unwrap();
    game.play(0.1);
    assert_eq!(game.go("shoot"), Ok(Go::Waits));
    game.play(2.0);
    assert_ne!(game.controller.state(), Some("aim"));
}

/// Lets the game do something by itself.
fn interfere(controller: &mut AnimationController, random: &mut Rng) {
    let clip = format!("clip{}", random.usize(..6));
    match random.u8(..6) {
        0 => _ = controller.play(clip),
        1 => _ = controller.cross_fade(clip, Duration::from_millis(random.u64(..500))),
        2 => _ = controller.queue_mut().extend([&*clip]),
        3 => controller.fade_out(Duration::from_millis(random.u64(..500))),
        4 => {
            let tracks: Vec<_> = controller.tracks().map(AnimationTrack::id).collect();
            if !tracks.is_empty() {
                controller.remove_track(tracks[random.usize(..tracks.len())]);
            }
        }
        _ => {}
    }
}

#[test]
fn no_wish_waits_forever_whatever_is_missing_and_whatever_the_game_plays() {
    for seed in 0..1_000 {
        let mut random = Rng::with_seed(seed);
        let mut clips = random_clips(&mut random);
        let [body, layer] = [0; 2].map(|_| random_states(&mut random));
        let over = StateLayer {
            mask: "m".into(),
            sync: None,
            states: layer,
        };
        let over = [("arms".to_owned(), over)].into();
        let machines = Arc::new(StateLayers::new(&body, &over).unwrap());
        // Some clips are missing.
        clips.retain(|_, _| random.u8(..3) > 0);
        let clips = timings(&clips);
        let mut controller = AnimationController::default();
        controller.set_states(&machines, seed);
        let mut events = Vec::new();
        let mut log = String::new();
        for _ in 0..10 {
            interfere(&mut controller, &mut random);
            let layer = ["", "arms"][random.usize(..2)];
            let to = format!("s{}", random.usize(..8));
            let go = controller.go((layer, &to));
            log += &format!("{layer} {to} {go:?}\n");
            let step = random.f64() * 0.3;
            controller.advance(step, &clips, &mut events).unwrap();
        }
        let waits = |controller: &AnimationController, layer: &str| {
            let states = controller.states().layer(layer);
            states.destination() != states.current()
        };
        for _ in 0..400 {
            controller.advance(0.05, &clips, &mut events).unwrap();
        }
        for layer in ["", "arms"] {
            let state = controller.states().layer(layer).current();
            assert!(
                !waits(&controller, layer),
                "{seed}: `{layer}` in {state:?}: {body:#?} {over:#?} {:?}\n{log}",
                clips.iter().map(|clip| &clip.name).collect::<Vec<_>>()
            );
        }
        assert!(controller.tracks().count() < 30);
        let unknown = |event: &&PlaybackEvent| matches!(event, PlaybackEvent::UnknownClip { .. });
        assert!(events.iter().filter(unknown).count() <= 6);
    }
}
