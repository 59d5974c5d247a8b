//! States that follow each other endlessly: a frame has an end, and the next one goes on.

use super::{clip, parse};
use bevy_marionette::{
    controller::{AnimationController, Go, PlaybackEvent},
    internals::model::StateLayers,
    model::{ClipTiming, Leader, State, StateLayer},
};
use std::sync::Arc;

/// A controller in states, and one layer that follows them for each clip of `layers`.
fn controller(states: &str, layers: &[&str]) -> AnimationController {
    let states = parse(states);
    let layer = |(at, clip): (usize, &&str)| {
        let plays = states
            .keys()
            .map(|name| (name.clone(), State::playing(*clip)));
        let layer = StateLayer {
            mask: format!("mask{at}"),
            sync: Some(Leader::Body),
            states: plays.collect(),
        };
        (format!("layer{at}"), layer)
    };
    let layers = layers.iter().enumerate().map(layer).collect();
    let mut controller = AnimationController::default();
    controller.set_states(&Arc::new(StateLayers::new(&states, &layers).unwrap()), 1);
    controller
}

fn advance(
    controller: &mut AnimationController,
    seconds: f64,
    clips: &[ClipTiming],
) -> Vec<PlaybackEvent> {
    let mut events = Vec::new();
    controller.advance(seconds, clips, &mut events).unwrap();
    events
}

fn entered(events: &[PlaybackEvent]) -> Vec<(&str, f64)> {
    let entered = events.iter().filter_map(|event| match event {
        PlaybackEvent::StateEntered { state, time, .. } => Some((&**state, *time)),
        _ => None,
    });
    entered.collect()
}

fn warnings(events: &[PlaybackEvent]) -> usize {
    let is_warning = |event: &&PlaybackEvent| matches!(event, PlaybackEvent::TooManyClips { .. });
    events.iter().filter(is_warning).count()
}

#[test]
fn what_follows_a_clip_that_has_ended_begins_at_its_start_even_in_phase() {
    let clips = [clip("a", 0.5), clip("b", 0.75), clip("loop*", 1.0)];
    let circle = r#"{ "a": (plays: "a", start: true, in_phase: true, then: "b"),
                      "b": (plays: "b", in_phase: true, then: "a") }"#;
    let mut controller = controller(circle, &["a"]);
    let mut seen = Vec::new();
    for _ in 0..16 {
        let events = advance(&mut controller, 0.125, &clips);
        seen.extend(
            entered(&events)
                .into_iter()
                .map(|(name, time)| (name.to_owned(), time)),
        );
        assert!(controller.tracks().count() <= 6);
    }
    let names: Vec<_> = seen.iter().map(|(name, time)| (&**name, *time)).collect();
    assert_eq!(names, [("a", 0.0), ("b", 0.5), ("a", 1.25), ("b", 1.75)]);

    // At the end of a loop, there is a phase to go on from.
    let loops =
        r#"{ "a": (plays: "loop", start: true, then: "b"), "b": (plays: "loop", in_phase: true) }"#;
    let mut controller = self::controller(loops, &[]);
    advance(&mut controller, 1.25, &clips);
    assert_eq!(
        (
            controller.state(),
            controller.current_track().unwrap().position()
        ),
        (Some("b"), 0.25)
    );
}

#[test]
fn more_changes_than_an_advance_bears_go_on_in_the_next() {
    let clips = [clip("a", 0.4), clip("b", 0.5), clip("pose", 0.0)];
    for (states, step) in [
        (
            r#"{ "a": (plays: "a", start: true, then: "b", fade: 0), "b": (plays: "b", then: "a", fade: 0) }"#,
            1e6,
        ),
        (
            r#"{ "a": (plays: "a", start: true, then: "b", speed: 1e6), "b": (plays: "b", then: "a", speed: 1e6) }"#,
            1.0,
        ),
        (
            r#"{ "a": (plays: "pose", start: true, then: "b"), "b": (plays: "pose", then: "a") }"#,
            1.0,
        ),
        (
            r#"{ "a": (plays: ["pose", "a"], start: true, speed: 1e9, choose: Sequence), "b": (from: Any) }"#,
            1.0,
        ),
    ] {
        let mut controller = controller(states, &["a", "b"]);
        let (mut told, mut last) = (0, 0);
        for frame in 0..4 {
            let events = advance(&mut controller, step, &clips);
            told += warnings(&events);
            last = events.len();
            assert_eq!(controller.time(), f64::from(frame + 1) * step);
            assert!(
                events.len() > 100 && events.len() < 100_000,
                "{states}: {}",
                events.len()
            );
            assert!(events.is_sorted_by(|a, b| a.time() <= b.time()));
            assert!(
                controller.tracks().count() < 40,
                "{states}: {}",
                controller.tracks().count()
            );
            // In between, it is saved.
            let machines = controller.states().machines().unwrap().clone();
            controller = ron::from_str(&ron::to_string(&controller).unwrap()).unwrap();
            controller.set_states(&machines, 0);
        }
        assert_eq!(told, 1, "{states}");
        assert!(last > 100);
        // The game can still leave, where it could before.
        if states.contains("Any") {
            assert_eq!(controller.go("b"), Ok(Go::Entered));
        }
    }
}

#[test]
fn after_a_long_step_states_go_on_by_the_clock() {
    let clips = [clip("a", 0.4), clip("b", 0.5)];
    let states = r#"{ "a": (plays: "a", start: true, then: "b", fade: 0), "b": (plays: "b", then: "a", fade: 0) }"#;
    let mut controller = controller(states, &[]);
    advance(&mut controller, 1e6, &clips);
    let state = controller.state().unwrap().to_owned();
    let events = advance(&mut controller, 9.0, &clips);
    let changes = entered(&events);
    // What was entered last begins with this advance.
    assert_ne!(changes[0].0, state);
    assert!((1e6..=1e6 + 0.5).contains(&changes[0].1));
    assert!((20..=22).contains(&changes.len()), "{changes:?}");
    assert!(changes.windows(2).all(|pair| {
        let length = if pair[0].0 == "a" { 0.4 } else { 0.5 };
        (pair[1].1 - pair[0].1 - length).abs() < 1e-6
    }));
}

#[test]
fn going_to_and_fro_on_a_layer_keeps_few_tracks() {
    let clips = [clip("a*", 1.0)];
    let layers = [(
        "arms".to_owned(),
        StateLayer {
            mask: "arms".into(),
            sync: None,
            states: parse(
                r#"{ "a": (plays: "a", start: true, from: Any, fade: 5), "b": (plays: "a", from: Any, fade: 5) }"#,
            ),
        },
    )];
    let layers = StateLayers::new(&Default::default(), &layers.into()).unwrap();
    let mut controller = AnimationController::default();
    controller.set_states(&Arc::new(layers), 1);
    for at in 0..100 {
        controller.go(("arms", ["b", "a"][at % 2])).unwrap();
        advance(&mut controller, 0.01, &clips);
        assert!(controller.tracks().count() < 12);
    }
    advance(&mut controller, 5.0, &clips);
    assert_eq!(controller.tracks().count(), 1);
}

/// Clips from 0.1 to 2 ms, in a circle of states and in a looping queue: what plays is what a plain division says, however
/// time is cut.
#[test]
fn circles_of_very_short_clips_are_where_a_plain_division_says() {
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..60 {
        let lengths: Vec<u64> = (0..random.usize(1..5))
            .map(|_| random.u64(100..2_000) * 1_000)
            .collect();
        let clips: Vec<_> = lengths
            .iter()
            .enumerate()
            .map(|(at, nanos)| clip(&format!("c{at}"), *nanos as f64 / 1e9))
            .collect();
        let count = clips.len();
        let state = |at: usize| {
            format!(
                "\"s{at}\": (plays: \"c{at}\", start: {}, then: \"s{}\", fade: 0)",
                at == 0,
                (at + 1) % count
            )
        };
        let states = format!(
            "{{ {} }}",
            (0..count).map(state).collect::<Vec<_>>().join(", ")
        );
        let mut queued = AnimationController::default();
        queued
            .queue_mut()
            .extend((0..count).map(|at| format!("c{at}")))
            .set_looping(true);
        for mut played in [controller(&states, &[]), queued] {
            let mut whole = played.clone();
            let (mut now, mut begun) = (0, [0; 2]);
            for _ in 0..6 {
                let span = random.u64(1..500_000_000);
                let count_begun = |events: &[PlaybackEvent]| {
                    events
                        .iter()
                        .filter(|event| matches!(event, PlaybackEvent::Started { .. }))
                        .count()
                };
                begun[0] += count_begun(&advance(&mut whole, span as f64 / 1e9, &clips));
                let mut left = span;
                while left > 0 {
                    let step = random.u64(1..60_000_000).min(left);
                    begun[1] += count_begun(&advance(&mut played, step as f64 / 1e9, &clips));
                    left -= step;
                }
                now += span;
                let circle: u64 = lengths.iter().sum();
                let (mut place, mut at) = (now % circle, 0);
                while place >= lengths[at] {
                    place -= lengths[at];
                    at += 1;
                }
                let expected = now / circle * count as u64 + at as u64;
                for (controller, begun) in [&whole, &played].into_iter().zip(begun) {
                    // What begins right at the end of a step is reported with the next.
                    if place > 0 {
                        assert_eq!(begun as u64, expected + 1, "{lengths:?} at {now}");
                        assert_eq!(controller.current(), Some(&*format!("c{at}")));
                        let position = controller.current_track().unwrap().position();
                        assert!(
                            (position - place as f64 / 1e9).abs() < 1e-9,
                            "{lengths:?} at {now}"
                        );
                    }
                }
                assert!(whole.tracks().eq(played.tracks()) || place == 0);
            }
        }
    }
}
