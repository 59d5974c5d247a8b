//! States, through the controller: what `go` answers, and what is entered when.

mod endings;
mod floods;
mod layers;
mod mistakes;
mod model;
mod programs;
mod transitions;

use crate::messages::{assert_message, assert_messages};
use bevy_marionette::{
    controller::{AnimationController, Go, PlaybackEvent, StatesError},
    internals::model::StateLayers,
    model::{CallbackData, ClipTiming, PlaybackMode, State, StateLayer},
};
use std::{collections::BTreeMap, sync::Arc};

fn parse(text: &str) -> BTreeMap<String, State> {
    let options =
        ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
    options.from_str(text).unwrap()
}

fn machines(text: &str) -> Arc<StateLayers> {
    Arc::new(StateLayers::new(&parse(text), &BTreeMap::new()).unwrap())
}

/// A clip, a number of seconds long, that loops if its name ends with `*`.
fn clip(name: &str, length: f64) -> ClipTiming {
    let mut clip = ClipTiming::new(name.trim_end_matches('*'), length);
    if !name.ends_with('*') {
        clip.playback = PlaybackMode::Once;
    }
    clip
}

const ADVENTURE: &str = r#"{
    "ground": (plays: "idle", start: true),
    "jump": (plays: "jump", from: ["ground"], then: "fall"),
    "fall": (plays: "fall", from: ["ground"]),
    "land": (plays: "land", from: ["fall"], then: "ground", fade: 0.1),
    "attack": (plays: "attack", from: ["ground"], exit: "recover", then: "ground"),
    "hurt": (plays: "hurt", from: Any, then: Back),
    "dead": (plays: "hurt", from: Any, exit: Never),
}"#;

fn clips() -> Vec<ClipTiming> {
    let mut attack = clip("attack", 0.8);
    attack.add_callback(0.5, "recover", CallbackData::default());
    vec![
        clip("idle*", 1.0),
        clip("jump", 0.4),
        clip("fall*", 0.3),
        clip("land", 0.25),
        attack,
        clip("hurt", 0.5),
    ]
}

/// A character in a game.
struct Game {
    controller: AnimationController,
    clips: Vec<ClipTiming>,
    /// The states entered, with the time of each.
    entered: Vec<(f64, String)>,
}

impl Game {
    fn new(states: &str) -> Self {
        let mut controller = AnimationController::default();
        controller.set_states(&machines(states), 0);
        Self {
            controller,
            clips: clips(),
            entered: Vec::new(),
        }
    }

    fn play(&mut self, seconds: f64) -> &mut Self {
        let mut events = Vec::new();
        self.controller
            .advance(seconds, &self.clips, &mut events)
            .unwrap();
        let entered = events.into_iter().filter_map(|event| match event {
            PlaybackEvent::StateEntered { state, time, .. } => Some((time, state.to_string())),
            _ => None,
        });
        self.entered.extend(entered);
        self
    }

    fn go(&mut self, state: &str) -> Result<Go, StatesError> {
        self.controller.go(state)
    }

    #[track_caller]
    fn assert_entered(&mut self, expected: &[(f64, &str)]) {
        let entered: Vec<(f64, &str)> = self
            .entered
            .iter()
            .map(|(time, state)| (*time, &**state))
            .collect();
        assert_eq!(entered, expected);
        self.entered.clear();
    }
}

#[test]
fn a_character_begins_in_the_first_state_before_any_advance() {
    let mut game = Game::new(ADVENTURE);
    assert_eq!(game.controller.state(), Some("ground"));
    assert_eq!(game.controller.current(), Some("idle"));
    assert_eq!(game.go("jump"), Ok(Go::Entered));
    assert_eq!(game.controller.state(), Some("jump"));
    game.play(0.0);
    game.assert_entered(&[(0.0, "ground"), (0.0, "jump")]);
}

#[test]
fn what_follows_by_itself_begins_at_the_end_of_the_clip() {
    let mut game = Game::new(ADVENTURE);
    game.play(0.1);
    game.go("jump").unwrap();
    game.play(1.0);
    game.assert_entered(&[(0.0, "ground"), (0.1, "jump"), (0.5, "fall")]);
    assert_eq!(game.controller.current(), Some("fall"));
    assert!((game.controller.states().seconds().unwrap() - 0.6).abs() < 1e-9);
}

#[test]
fn a_way_of_several_steps_is_taken_as_exits_open() {
    let mut game = Game::new(ADVENTURE);
    game.play(0.1);
    game.go("jump").unwrap();
    assert_eq!(game.go("ground"), Ok(Go::Waits));
    assert_eq!(game.controller.states().destination(), Some("ground"));
    game.play(1.0);
    // The fall is left in the moment in which it begins.
    game.assert_entered(&[
        (0.0, "ground"),
        (0.1, "jump"),
        (0.5, "land"),
        (0.75, "ground"),
    ]);
    assert_eq!(game.controller.states().destination(), Some("ground"));
}

#[test]
fn an_exit_opens_at_its_key_and_a_hit_interrupts() {
    let mut game = Game::new(ADVENTURE);
    game.play(0.1);
    game.go("attack").unwrap();
    game.play(0.2);
    assert_eq!(game.go("jump"), Ok(Go::Waits));
    game.play(0.4);
    // By way of the ground, on which it doesn't stay.
    game.assert_entered(&[(0.0, "ground"), (0.1, "attack"), (0.6, "jump")]);

    let mut game = Game::new(ADVENTURE);
    game.play(0.1);
    game.go("attack").unwrap();
    game.play(0.1);
    assert_eq!(game.go("hurt"), Ok(Go::Entered));
    game.play(0.25);
    assert_eq!(game.go("hurt"), Ok(Go::Entered));
    game.play(1.0);
    game.assert_entered(&[
        (0.0, "ground"),
        (0.1, "attack"),
        (0.2, "hurt"),
        (0.45, "hurt"),
        (0.95, "attack"),
    ]);
}

#[test]
fn a_state_that_is_never_left_holds_against_everything() {
    let mut game = Game::new(ADVENTURE);
    game.go("dead").unwrap();
    let error = game.go("hurt").unwrap_err();
    assert!(matches!(&error, StatesError::NoWay { ways, .. } if ways.is_empty()));
    assert_eq!(game.go("dead"), Ok(Go::Stays));
    assert!(!game.controller.can_go("ground"));
    game.play(9.0);
    assert_eq!(game.controller.state(), Some("dead"));
}

#[test]
fn mistakes_are_errors_with_what_to_do() {
    let mut game = Game::new(ADVENTURE);
    let error = game.go("atack").unwrap_err();
    let meant = Some("attack".to_owned());
    assert_eq!(error, StatesError::UnknownState("atack".into(), meant));
    assert_message("states: no such state", error);
    let error = game.go("land").map(|go| assert_eq!(go, Go::Entered));
    assert_eq!(error, Ok(()), "by way of the fall, at once");
    let error = game.controller.go(("arms", "wave")).unwrap_err();
    assert_eq!(error, StatesError::NoLayer("arms".into(), None));
    assert_message("states: no such layer", error);
    let error = AnimationController::default().go("jump").unwrap_err();
    assert_eq!(error, StatesError::NoLayer(String::new(), None));
    assert_message("states: none", error);
    // A state inside another, by its own name.
    let states = r#"{"ground": (plays: "idle", start: true),
        "combat": (from: ["ground"], states: {"aim": (plays: "hurt", start: true)})}"#;
    let error = Game::new(states).go("aim").unwrap_err();
    assert_eq!(
        error,
        StatesError::UnknownState("aim".into(), Some("combat/aim".into()))
    );
}

#[test]
fn one_of_several_clips_is_chosen_again_at_its_end() {
    let states = r#"{"idle": (plays: ["jump", "land", "hurt"], start: true)}"#;
    let play = |seed: u64| {
        let mut controller = AnimationController::default();
        controller.set_states(&machines(states), seed);
        let (clips, mut events) = (clips(), Vec::new());
        controller.advance(20.0, &clips, &mut events).unwrap();
        let started = events.iter().filter_map(|event| match event {
            PlaybackEvent::Started { clip, .. } => Some(*clip),
            _ => None,
        });
        started.collect::<Vec<usize>>()
    };
    let first = play(1);
    assert_eq!(first, play(1));
    assert_ne!(first, play(2));
    assert!(first.len() > 30);
    assert!(first.windows(2).all(|pair| pair[0] != pair[1]), "{first:?}");
    for clip in [1, 3, 5] {
        assert!(first.contains(&clip));
    }
}

#[test]
fn a_layer_plays_over_the_body_and_leaves_it_alone() {
    let layers = [(
        "arms".to_owned(),
        StateLayer {
            mask: "upper_body".into(),
            sync: None,
            states: parse(
                r#"{"free": (start: true), "wave": (plays: "hurt", from: ["free"], then: "free", fade: 0.1)}"#,
            ),
        },
    )];
    let states = StateLayers::new(&parse(ADVENTURE), &layers.into()).unwrap();
    let mut controller = AnimationController::default();
    controller.set_states(&Arc::new(states), 0);
    let (clips, mut events) = (clips(), Vec::new());
    let mut play = |controller: &mut AnimationController, seconds: f64| {
        controller.advance(seconds, &clips, &mut events).unwrap();
    };
    play(&mut controller, 0.1);
    assert_eq!(controller.tracks().count(), 1);
    controller.go(("arms", "wave")).unwrap();
    play(&mut controller, 0.05);
    let wave = controller.tracks().nth(1).unwrap();
    assert_eq!(wave.clip(), "hurt");
    assert!((wave.weight - 0.5).abs() < 1e-6, "{}", wave.weight);
    assert_eq!(controller.state(), Some("ground"));
    assert_eq!(controller.states().layer("arms").current(), Some("wave"));
    // The free state fades the layer out.
    play(&mut controller, 1.0);
    assert_eq!(controller.states().layer("arms").current(), Some("free"));
    assert_eq!(controller.tracks().count(), 1);
}

#[test]
fn states_survive_saving_and_new_data() {
    let mut game = Game::new(ADVENTURE);
    game.play(0.1);
    game.go("jump").unwrap();
    game.go("ground").unwrap();
    let text = ron::to_string(&game.controller).unwrap();
    let mut loaded: AnimationController = ron::from_str(&text).unwrap();
    assert_eq!(loaded.state(), Some("jump"));
    assert_eq!(loaded.states().destination(), Some("ground"));
    loaded.set_states(game.controller.states().machines().unwrap(), 7);
    let (mut goes_on, mut later) = (game.controller.clone(), [Vec::new(), Vec::new()]);
    goes_on.advance(1.0, &game.clips, &mut later[0]).unwrap();
    loaded.advance(1.0, &game.clips, &mut later[1]).unwrap();
    assert_eq!(later[0], later[1]);
    assert_eq!(
        (loaded.state(), goes_on.state()),
        (Some("ground"), Some("ground"))
    );
    assert_eq!(
        loaded.current_track().map(|track| track.position()),
        goes_on.current_track().map(|track| track.position())
    );
    let mut loaded: AnimationController = ron::from_str(&text).unwrap();

    // A state less, and another that is new: indices change, and names don't.
    let changed = ADVENTURE.replace(
        "\"attack\": (plays: \"attack\", from: [\"ground\"], exit: \"recover\", then: \"ground\"),",
        "\"aaa\": (plays: \"idle\", from: Any),",
    );
    loaded.set_states(&machines(&changed), 0);
    assert_eq!(loaded.state(), Some("jump"));
    loaded.set_states(&machines(r#"{"other": (plays: "idle", start: true)}"#), 0);
    assert_eq!(
        (loaded.state(), loaded.current()),
        (Some("other"), Some("idle"))
    );
}

#[test]
fn exits_may_be_ranges() {
    let mut game = Game::new(
        r#"{"ground": (plays: "idle", start: true), "hit": (plays: "swing", from: ["ground"], exit: "window", then: "ground"),
            "more": (plays: "hurt", from: ["hit"], then: "ground")}"#,
    );
    let mut swing = clip("swing", 1.0);
    swing.add_range(0.3, 0.6, "window", CallbackData::default());
    game.clips.push(swing);
    game.play(0.1);
    game.go("hit").unwrap();
    game.play(0.1);
    assert_eq!(game.go("more"), Ok(Go::Waits));
    game.play(0.25);
    game.assert_entered(&[(0.0, "ground"), (0.1, "hit"), (0.4, "more")]);
    let mut late = Game {
        clips: game.clips.clone(),
        ..Game::new(
            r#"{"ground": (plays: "idle", start: true), "hit": (plays: "swing", from: ["ground"], exit: "window", then: "ground"),
            "more": (plays: "hurt", from: ["hit"], then: "ground")}"#,
        )
    };
    late.play(0.1);
    late.go("hit").unwrap();
    late.play(0.7);
    assert_eq!(late.go("more"), Ok(Go::Waits));
    late.play(1.0);
    // The window was missed.
    late.assert_entered(&[(0.0, "ground"), (0.1, "hit"), (1.1, "ground")]);
    assert_eq!(late.controller.states().destination(), Some("ground"));
}

#[test]
fn resetting_the_time_leaves_the_time_in_a_state_as_it_is() {
    let mut game = Game::new(ADVENTURE);
    game.play(0.1);
    game.go("fall").unwrap();
    game.play(0.25).controller.timeline_mut().reset_time();
    let since = game.controller.states().seconds().unwrap();
    assert!((since - 0.25).abs() < 1e-9, "{since}");
    game.play(0.5);
    let since = game.controller.states().seconds().unwrap();
    assert!((since - 0.75).abs() < 1e-9, "{since}");
}

#[test]
fn a_copy_for_another_character_shows_its_layers_in_full() {
    let layers = [(
        "arms".to_owned(),
        StateLayer {
            mask: "upper_body".into(),
            sync: None,
            states: parse(
                r#"{"free": (start: true), "wave": (plays: "idle", from: ["free"], fade: 0.4)}"#,
            ),
        },
    )];
    let states = StateLayers::new(&parse(ADVENTURE), &layers.into()).unwrap();
    let mut controller = AnimationController::default();
    controller.set_states(&Arc::new(states), 0);
    let clips = clips();
    let advance = |controller: &mut AnimationController| {
        controller.advance(0.1, &clips, &mut Vec::new()).unwrap();
    };
    advance(&mut controller);
    controller.go(("arms", "wave")).unwrap();
    advance(&mut controller);
    let mut copy = controller.clone_without_timeline();
    assert_eq!(copy.tracks().nth(1).unwrap().weight, 1.0);
    advance(&mut copy);
    assert_eq!(copy.tracks().nth(1).unwrap().weight, 1.0);
}

#[test]
fn a_state_of_more_clips_than_can_be_counted_is_an_error() {
    let states = |count: usize| {
        let plays: String = (0..count).map(|at| format!("\"c{at}\",")).collect();
        parse(&format!("{{\"idle\": (plays: [{plays}], start: true)}}"))
    };
    let machine = |count: usize| StateLayers::new(&states(count), &BTreeMap::new());
    let errors = machine(300).unwrap_err();
    assert_messages("states: too many clips", errors);
    let mut controller = AnimationController::default();
    controller.set_states(&Arc::new(machine(64).unwrap()), 3);
    let clips: Vec<ClipTiming> = (0..64).map(|at| clip(&format!("c{at}"), 0.01)).collect();
    controller.advance(5.0, &clips, &mut Vec::new()).unwrap();
}

#[test]
fn saved_states_with_any_number_changed_are_refused_or_played() {
    let mut game = Game::new(ADVENTURE);
    game.play(0.1);
    game.go("jump").unwrap();
    game.go("ground").unwrap();
    let text = ron::to_string(&game.controller).unwrap();
    let at = text.find("states:").unwrap();
    let digits: Vec<usize> = (at..text.len())
        .filter(|&at| text.as_bytes()[at].is_ascii_digit())
        .collect();
    let mut random = fastrand::Rng::with_seed(1);
    let (mut read, mut refused) = (0, 0);
    for _ in 0..2_000 {
        let mut text = text.clone();
        for _ in 0..random.usize(1..4) {
            let at = digits[random.usize(..digits.len())];
            let new = ["0", "1", "7", "9", "255", "18446744073709551615"];
            let new = new[random.usize(..new.len())];
            if text.as_bytes().get(at).is_some_and(u8::is_ascii_digit) {
                text.replace_range(at..at + 1, new);
            }
        }
        let Ok(mut loaded) = ron::from_str::<AnimationController>(&text) else {
            refused += 1;
            continue;
        };
        read += 1;
        let _ = loaded.go("ground");
        loaded.advance(0.3, &game.clips, &mut Vec::new()).unwrap();
        loaded.set_states(game.controller.states().machines().unwrap(), 0);
        let _ = (
            loaded.go("hurt"),
            loaded.can_go("fall"),
            loaded.states().destination(),
        );
        loaded.advance(3.0, &game.clips, &mut Vec::new()).unwrap();
    }
    assert!(read > 100 && refused > 100, "{read} {refused}");
}

#[test]
fn ends_of_clips_lead_on_even_where_no_callback_is_reported() {
    let states =
        r#"{"attack": (plays: "hit", start: true, then: "ground"), "ground": (plays: "idle")}"#;
    for steps in [&[1.5][..], &[0.5; 3], &[0.96, 0.54]] {
        let mut game = Game::new(states);
        game.controller.callback_limit = 0;
        let mut hit = clip("hit*", 1.0);
        hit.add_callback(0.95, "hit", CallbackData::default());
        game.clips.push(hit);
        steps.iter().for_each(|step| _ = game.play(*step));
        game.assert_entered(&[(0.0, "attack"), (1.0, "ground")]);
    }
}

#[test]
fn another_choice_has_an_exit_of_its_own() {
    let mut game = Game::new(
        r#"{"combo": (plays: ["slash", "stab"], start: true, exit: "recover"), "ground": (plays: "idle", from: ["combo"])}"#,
    );
    for name in ["slash", "stab"] {
        let mut attack = clip(name, 1.0);
        attack.add_callback(0.5, "recover", CallbackData::default());
        game.clips.push(attack);
    }
    game.play(1.1);
    assert_eq!(game.go("ground"), Ok(Go::Waits));
    game.play(1.0);
    game.assert_entered(&[(0.0, "combo"), (1.5, "ground")]);
}

#[test]
fn a_range_that_a_track_is_put_into_opens_an_exit_and_one_that_it_is_taken_out_of_closes_it() {
    let game = || {
        let mut game = Game::new(
            r#"{"ground": (plays: "idle", start: true),
                "parry": (plays: "parry", from: ["ground"], at: 0.3, exit: "cancel", then: "ground"),
                "dodge": (plays: "hurt", from: ["parry"], then: "ground")}"#,
        );
        let mut parry = clip("parry", 1.0);
        parry.add_range(0.2, 0.6, "cancel", CallbackData::default());
        game.clips.push(parry);
        game.play(0.1);
        game.go("parry").unwrap();
        game.play(0.05);
        game
    };
    let mut inside = game();
    assert_eq!(inside.go("dodge"), Ok(Go::Entered));
    let mut beyond = game();
    let track = beyond.controller.current_track().unwrap().id();
    beyond.controller.track_mut(track).unwrap().seek(0.8);
    beyond.play(0.01);
    assert_eq!(beyond.go("dodge"), Ok(Go::Waits));
}
