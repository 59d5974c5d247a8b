//! Layers that follow others, and speeds that the game sets.

use super::{ADVENTURE, clip, clips, machines, parse};
use crate::messages::assert_message;
use bevy_marionette::{
    controller::{AnimationController, AnimationTrack, Go, PlaybackEvent, StatesError},
    internals::model::StateLayers,
    model::{ClipTiming, StateLayer},
};
use std::{collections::BTreeMap, sync::Arc};

pub fn layers(text: &str) -> BTreeMap<String, StateLayer> {
    let options =
        ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
    options.from_str(text).unwrap()
}

const ARMS: &str = r#"{"arms": (mask: "upper_body", sync: Body, states: {
    "attack": (plays: "swing"),
    "ground": (plays: "hold*"),
})}"#;

struct Game {
    controller: AnimationController,
    clips: Vec<ClipTiming>,
    events: Vec<PlaybackEvent>,
}

impl Game {
    fn new(states: &str, over: &str) -> Self {
        let states = StateLayers::new(&parse(states), &layers(&over.replace('*', ""))).unwrap();
        let mut controller = AnimationController::default();
        controller.set_states(&Arc::new(states), 0);
        let mut clips = clips();
        clips.extend([clip("swing", 1.6), clip("hold*", 4.0)]);
        let events = Vec::new();
        Self {
            controller,
            clips,
            events,
        }
    }

    fn play(&mut self, seconds: f64) -> &mut Self {
        (self
            .controller
            .advance(seconds, &self.clips, &mut self.events))
        .unwrap();
        self
    }

    fn on_layer(&self) -> Option<&AnimationTrack> {
        let tracks = self.controller.tracks();
        tracks.filter(|track| track.mask.is_some()).last()
    }
}

#[test]
fn a_layer_that_follows_is_in_the_same_state_at_the_same_fraction() {
    let mut game = Game::new(ADVENTURE, ARMS);
    game.play(0.25);
    let hold = game.on_layer().unwrap();
    assert_eq!((hold.clip(), hold.position()), ("hold", 1.0));
    assert_eq!(game.controller.go("attack"), Ok(Go::Entered));
    assert_eq!(
        game.controller.states().layer("arms").current(),
        Some("attack")
    );
    game.play(0.4);
    let swing = game.on_layer().unwrap();
    // Half of it, as of the attack.
    assert_eq!(swing.clip(), "swing");
    assert!((swing.position() - 0.8).abs() < 1e-9);
    game.controller.set_speed(0.5);
    game.play(0.2);
    assert!((game.on_layer().unwrap().position() - 1.0).abs() < 1e-9);
    game.controller.go("jump").unwrap();
    game.play(0.4);
    assert_eq!(game.controller.state(), Some("jump"));
    // Nothing is said of the jump: the layer fades out.
    assert!(game.on_layer().is_none());
    let reports = game.events.iter().filter(
        |event| matches!(event, PlaybackEvent::StateEntered { layer, .. } if layer.is_some()),
    );
    assert_eq!(reports.count(), 0);
}

#[test]
fn a_layer_that_follows_has_no_ways_of_its_own() {
    let mut game = Game::new(ADVENTURE, ARMS);
    let error = game.controller.go(("arms", "attack")).unwrap_err();
    assert!(matches!(&error, StatesError::Follows { leader, .. } if leader.is_empty()));
    assert_message("states: a layer that follows another", error);
    let error = game.controller.go(("amrs", "attack")).unwrap_err();
    assert_eq!(
        error,
        StatesError::NoLayer("amrs".into(), Some("arms".into()))
    );
    assert_message("states: a misspelled layer", error);
}

#[test]
fn a_layer_that_follows_plays_the_clip_in_the_place_of_the_one_chosen() {
    let states = r#"{"idle": (plays: ["jump", "land", "hurt"], start: true)}"#;
    let over = r#"{"arms": (mask: "upper_body", sync: Body, states: {
        "idle": (plays: ["a", "b", "c"]),
    })}"#;
    let mut game = Game::new(states, over);
    for name in ["a", "b", "c"] {
        game.clips.push(clip(name, 0.5));
    }
    let mut seen = [0; 3];
    for _ in 0..100 {
        game.play(0.05);
        let body = game.controller.current().unwrap();
        let at = ["jump", "land", "hurt"]
            .iter()
            .position(|clip| *clip == body)
            .unwrap();
        assert_eq!(game.on_layer().unwrap().clip(), ["a", "b", "c"][at]);
        seen[at] += 1;
    }
    assert!(seen.iter().all(|times| *times > 0), "{seen:?}");
}

#[test]
fn layers_that_follow_survive_saving_and_new_data() {
    let mut game = Game::new(ADVENTURE, ARMS);
    game.play(0.1);
    game.controller.go("attack").unwrap();
    game.play(0.3);
    let text = ron::to_string(&game.controller).unwrap();
    let mut loaded: AnimationController = ron::from_str(&text).unwrap();
    assert_eq!(loaded.states().layer("arms").current(), Some("attack"));
    assert!(loaded.go(("arms", "attack")).is_err());
    loaded.set_states(game.controller.states().machines().unwrap(), 7);
    let mut later = [Vec::new(), Vec::new()];
    let mut goes_on = game.controller.clone();
    goes_on.advance(0.3, &game.clips, &mut later[0]).unwrap();
    loaded.advance(0.3, &game.clips, &mut later[1]).unwrap();
    assert_eq!(later[0], later[1]);
    assert!(goes_on.tracks().eq(loaded.tracks()));
    // Another leader, and then a life of its own.
    let states = |over: &str| Arc::new(StateLayers::new(&parse(ADVENTURE), &layers(over)).unwrap());
    let free = r#"{
        "arms": (mask: "upper_body", states: {"attack": (plays: "swing", start: true)}),
        "legs": (mask: "legs", sync: "arms", states: {"attack": (plays: "hold")}),
    }"#;
    game.controller.set_states(&states(free), 0);
    assert_eq!(
        game.controller.states().layer("legs").current(),
        Some("attack")
    );
    game.play(0.8);
    let place = |game: &Game, mask: &str| {
        let mut tracks = game.controller.tracks();
        let track = tracks
            .find(|track| track.mask.as_deref() == Some(mask))
            .unwrap();
        track.position() / track.duration().unwrap()
    };
    assert_eq!(game.controller.tracks().count(), 3);
    assert!((place(&game, "legs") - place(&game, "upper_body")).abs() < 1e-9);
    game.controller
        .set_states(&states(&ARMS.replace('*', "")), 0);
    assert_eq!(
        game.controller.states().layer("arms").current(),
        game.controller.state()
    );
    game.play(0.5);
    assert_eq!(game.controller.state(), Some("ground"));
    let tracks = game
        .controller
        .tracks()
        .map(|track| track.clip().to_owned());
    assert_eq!(tracks.collect::<Vec<_>>(), ["idle", "hold"]);
}

#[test]
fn a_speed_of_states_changes_what_plays_and_what_is_entered_later() {
    let mut controller = AnimationController::default();
    let states = ADVENTURE.replace("(plays: \"jump\"", "(plays: \"jump\", speed: \"pace\"");
    controller.set_states(&machines(&states), 0);
    let (clips, mut events) = (clips(), Vec::new());
    assert_eq!(controller.states().speed("pace"), Some(1.0));
    let error = controller.set_state_speed("pac", 2.0).unwrap_err();
    assert_eq!(
        error,
        StatesError::UnknownSpeed("pac".into(), Some("pace".into()))
    );
    assert!(controller.set_state_speed("pace", f64::NAN).is_err());
    controller.set_state_speed("pace", 0.5).unwrap();
    controller.advance(0.1, &clips, &mut events).unwrap();
    controller.go("jump").unwrap();
    controller.advance(0.4, &clips, &mut events).unwrap();
    // Of the jump's 0.4 s, half are left.
    controller.set_state_speed("pace", 2.0).unwrap();
    let text = ron::to_string(&controller).unwrap();
    controller = ron::from_str(&text).unwrap();
    assert_eq!(controller.states().speed("pace"), Some(2.0));
    controller.set_states(&machines(&states), 0);
    controller.advance(0.2, &clips, &mut events).unwrap();
    let entered = events.iter().filter_map(|event| match event {
        PlaybackEvent::StateEntered { state, time, .. } => Some((*time, state.to_string())),
        _ => None,
    });
    let entered: Vec<_> = entered.collect();
    assert_eq!(entered[1], (0.1, "jump".to_owned()));
    assert_eq!(entered[2], (0.6, "fall".to_owned()));
    // With the controller's own speed, they multiply.
    controller.set_state_speed("pace", 0.5).unwrap();
    controller.set_speed(3.0);
    controller.go("land").unwrap();
    controller.go("jump").unwrap();
    controller.advance(0.2, &clips, &mut events).unwrap();
    assert_eq!(
        (controller.state(), controller.speed()),
        (Some("jump"), 1.5)
    );
    controller.set_speed(2.0);
    assert_eq!(controller.speed(), 1.0);
}

#[test]
fn a_negative_speed_plays_backward_from_the_end() {
    let mut controller = AnimationController::default();
    let states = r#"{"a": (plays: "idle", start: true), "b": (plays: "jump", speed: "way", from: ["a"], then: "a")}"#;
    controller.set_states(&machines(states), 0);
    let (clips, mut events) = (clips(), Vec::new());
    controller.set_state_speed("way", -1.0).unwrap();
    controller.go("b").unwrap();
    controller.advance(0.1, &clips, &mut events).unwrap();
    assert!((controller.current_track().unwrap().position() - 0.3).abs() < 1e-9);
    controller.advance(0.3, &clips, &mut events).unwrap();
    assert_eq!(controller.state(), Some("a"));
}

#[test]
fn a_layer_in_step_leads_no_group_of_the_track_that_it_goes_with() {
    let mut game = Game::new(ADVENTURE, ARMS);
    game.play(0.1);
    let over = game.on_layer().unwrap().id();
    // The layer's track is the heaviest of its group.
    for track in game.controller.tracks_mut() {
        track.sync = Some(1);
        track.weight = if track.id() == over { 1.0 } else { 0.2 };
    }
    game.play(0.1);
    let place = |game: &Game| game.on_layer().unwrap().unwrapped_position();
    let before = place(&game);
    game.play(0.1);
    assert!(place(&game) > before + 0.3, "{before} {}", place(&game));
}
