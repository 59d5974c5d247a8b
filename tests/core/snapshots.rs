//! Snapshots: taken, sent, restored, and read from anyone.

use bevy_marionette::{
    controller::{AnimationController, AnimationTrack, Clips, PlaybackEvent},
    internals::model::StateLayers,
    model::{CallbackData, ClipTiming, PlaybackMode, State, StateLayer},
    record::{CharacterSnapshot, SnapshotError},
};
use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
    time::Duration,
};

const STATES: &str = r#"{
    "ground": (plays: "walk", start: true, speed: "pace"),
    "jump": (plays: "jump", from: ["ground"], then: "ground"),
    "hurt": (plays: "hurt", from: Any, then: Back),
    "attack": (plays: ["hit", "stab"], from: ["ground"], exit: "recover", then: "ground", choose: Random),
}"#;

const ARMS: &str = r#"{
    "free": (plays: [], start: true),
    "wave": (plays: "wave", from: Any, then: "free"),
}"#;

/// A sequence of choices (splitmix64).
struct Choices(u64);

impl Choices {
    fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) % end as u64) as usize
    }
}

fn clips() -> Vec<ClipTiming> {
    let clip = |name: &str, length: f64, playback| ClipTiming {
        playback,
        ..ClipTiming::new(name, length)
    };
    let mut clips = vec![
        clip("walk", 1.0, PlaybackMode::Loop),
        clip("jump", 0.4, PlaybackMode::Once),
        clip("hurt", 0.3, PlaybackMode::Once),
        clip("hit", 0.6, PlaybackMode::Once),
        clip("stab", 0.5, PlaybackMode::Once),
        clip("wave", 0.7, PlaybackMode::Once),
        clip("swim", 1.3, PlaybackMode::PingPong),
    ];
    clips[0].add_callback(0.25, "footstep", "left");
    clips[0].add_callback(0.75, "footstep", "right");
    for attack in [3, 4] {
        clips[attack].add_callback(0.35, "recover", CallbackData::default());
    }
    clips
}

/// The clips with the states that play them.
struct Cast(Vec<ClipTiming>, Arc<StateLayers>);

impl Clips for Cast {
    fn index_of(&self, name: &str) -> Option<usize> {
        self.0.index_of(name)
    }

    fn timing(&self, index: usize) -> Option<&ClipTiming> {
        self.0.get(index)
    }

    fn states(&self) -> Option<&Arc<StateLayers>> {
        Some(&self.1)
    }
}

fn cast() -> &'static Cast {
    static CAST: LazyLock<Cast> = LazyLock::new(|| Cast(clips(), states()));
    &CAST
}

fn states() -> Arc<StateLayers> {
    let parse = |text: &str| -> BTreeMap<String, State> {
        ron::Options::default()
            .with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME)
            .from_str(text)
            .unwrap()
    };
    let arms = StateLayer {
        mask: "arms".into(),
        states: parse(ARMS),
        ..StateLayer::default()
    };
    let layers = BTreeMap::from([("arms".to_owned(), arms)]);
    Arc::new(StateLayers::new(&parse(STATES), &layers).unwrap())
}

fn character() -> CharacterSnapshot {
    let mut controller = AnimationController::default();
    controller.set_states(&cast().1, 7);
    CharacterSnapshot::new(controller)
}

fn step(character: &mut CharacterSnapshot, dt: f64) -> Vec<PlaybackEvent> {
    let mut events = Vec::new();
    character
        .controller
        .advance(dt, cast(), &mut events)
        .unwrap();
    events
}

/// Something that a game does, and whether it takes few bytes.
fn act(character: &mut CharacterSnapshot, choices: &mut Choices) -> bool {
    let controller = &mut character.controller;
    match choices.below(12) {
        0..3 => {
            let state = ["ground", "jump", "hurt", "attack"][choices.below(4)];
            // Some ways are closed.
            let _ = controller.go(state);
        }
        3 => {
            let _ = controller.go(("arms", ["free", "wave"][choices.below(2)]));
        }
        4..6 => {
            let stick = choices.below(200) as f32 / 100.0 - 1.0;
            controller.set_parameters((stick, -stick));
        }
        6 => controller
            .set_state_speed("pace", choices.below(40) as f64 / 10.0)
            .unwrap(),
        7 => controller.time_scale = choices.below(20) as f64 / 10.0,
        8 => controller.paused = !controller.paused,
        9 => {
            controller.cross_fade("swim", Duration::from_millis(200));
            return false;
        }
        10 => {
            controller.play_over(
                AnimationTrack::new("wave"),
                Duration::ZERO,
                Duration::from_millis(80),
            );
            return false;
        }
        _ => {
            controller.queue_mut().extend(["jump", "walk"]);
            return false;
        }
    }
    true
}

#[test]
fn nothing_is_sent_while_nothing_changes() {
    let mut here = character();
    let mut there = here.clone();
    for _ in 0..100 {
        let sent = here.changes_since(&there);
        assert!(sent.is_empty());
        there = there.with_changes(&sent, cast()).unwrap();
        step(&mut here, 1.0 / 60.0);
        step(&mut there, 1.0 / 60.0);
    }
    assert_eq!(here, there);
}

#[test]
fn a_change_of_state_or_parameters_takes_few_bytes() {
    let before = {
        let mut character = character();
        step(&mut character, 0.3);
        character
    };
    let sent = |change: fn(&mut AnimationController)| {
        let mut now = before.clone();
        change(&mut now.controller);
        assert_ne!(now, before);
        let sent = now.changes_since(&before);
        assert_eq!(before.with_changes(&sent, cast()).unwrap(), now);
        sent.len()
    };
    assert_eq!(sent(|controller| drop(controller.go("attack"))), 5);
    assert_eq!(sent(|controller| drop(controller.go(("arms", "wave")))), 5);
    assert_eq!(
        sent(|controller| controller.set_parameters((0.25, -1.0))),
        11
    );
    assert_eq!(
        sent(|controller| controller.set_state_speed("pace", 1.3).unwrap()),
        12
    );
    assert_eq!(sent(|controller| controller.paused = true), 4);
    let both = sent(|controller| {
        controller.set_parameters(0.5);
        drop(controller.go("jump"));
    });
    assert!(both <= 16, "{both} bytes");
    // What has no word of its own is sent as a whole.
    let whole = sent(|controller| {
        controller.cross_fade("swim", Duration::from_millis(90));
    });
    assert!((17..2_000).contains(&whole), "{whole} bytes");
}

#[test]
fn peers_that_are_sent_changes_have_the_same_character_at_every_step() {
    for seed in 0..400 {
        let mut choices = Choices::new(seed);
        let mut here = character();
        let mut there = CharacterSnapshot::from_bytes(&here.to_bytes(), cast()).unwrap();
        for _ in 0..60 {
            let before = here.clone();
            let actions = choices.below(3);
            let mut is_short = actions < 2;
            for _ in 0..actions {
                is_short &= act(&mut here, &mut choices);
            }
            let sent = here.changes_since(&before);
            assert!(
                !is_short || sent.len() <= 16,
                "seed {seed}: {} bytes from {:?} to {:?}",
                sent.len(),
                before.controller,
                here.controller
            );
            there = there.with_changes(&sent, cast()).unwrap();
            let dt = choices.below(50) as f64 / 1000.0;
            assert_eq!(step(&mut here, dt), step(&mut there, dt), "seed {seed}");
            assert_eq!(here.hash(), there.hash(), "seed {seed}");
        }
    }
}

#[test]
fn a_past_that_is_played_again_is_the_same() {
    for seed in 0..200 {
        let mut choices = Choices::new(1_000 + seed);
        let mut character = character();
        for _ in 0..choices.below(40) {
            act(&mut character, &mut choices);
            step(&mut character, 0.021);
        }
        let saved = character.clone();
        let play = |character: &mut CharacterSnapshot| {
            let mut again = Choices::new(seed);
            let run = |_| {
                act(character, &mut again);
                step(character, 0.017)
            };
            let events: Vec<_> = (0..20).map(run).collect();
            (events, character.hash())
        };
        let first = play(&mut character);
        character.controller.restore(&saved.controller);
        let events = |events: &[Vec<PlaybackEvent>]| -> Vec<f64> {
            events.iter().flatten().map(PlaybackEvent::time).collect()
        };
        let second = play(&mut character);
        // Tracks that were added since have other numbers.
        assert_eq!(events(&first.0), events(&second.0), "seed {seed}");
        let third = play(&mut saved.clone());
        assert_eq!(first, third, "seed {seed}");
    }
}

#[test]
fn a_hash_tells_snapshots_apart_and_is_the_same_everywhere() {
    let mut character = character();
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..50 {
        step(&mut character, 1.0 / 64.0);
        assert!(seen.insert(character.hash()));
    }
    // Whoever changes what is saved changes this number; another processor must not.
    assert_eq!(character.hash(), 10009180988393165337);
}

#[test]
fn bytes_from_anyone_are_read_within_bounds() {
    let mut before = character();
    let mut choices = Choices::new(3);
    for _ in 0..30 {
        act(&mut before, &mut choices);
        step(&mut before, 0.05);
    }
    let mut now = before.clone();
    now.controller.cross_fade("swim", Duration::from_millis(90));
    drop(now.controller.go(("arms", "wave")));
    let mut short = before.clone();
    short.controller.set_parameters((0.1, 0.2));
    drop(short.controller.go("hurt"));
    for whole in [
        now.to_bytes(),
        now.changes_since(&before),
        short.changes_since(&before),
    ] {
        for _ in 0..3_000 {
            let mut bytes = whole.clone();
            for _ in 0..1 + choices.below(3) {
                let at = choices.below(bytes.len());
                match choices.below(3) {
                    0 => bytes[at] = choices.below(256) as u8,
                    1 => bytes.truncate(at + 1),
                    _ => bytes.insert(at, choices.below(256) as u8),
                }
            }
            let read = [
                CharacterSnapshot::from_bytes(&bytes, cast()),
                before.with_changes(&bytes, cast()),
            ];
            // What can be read can be played.
            for mut read in read.into_iter().flatten() {
                step(&mut read, 0.1);
                read.hash();
            }
        }
    }
}

#[test]
fn a_snapshot_that_would_take_too_much_memory_is_refused() {
    let mut controller = AnimationController::playing("walk");
    for _ in 0..3_000 {
        controller.add_callback("walk", 0.5, "key", CallbackData::default());
    }
    let bytes = CharacterSnapshot::new(controller).to_bytes();
    assert!(bytes.len() < 50_000);
    assert_eq!(
        CharacterSnapshot::from_bytes(&bytes, cast()),
        Err(SnapshotError::TooLarge)
    );
}
