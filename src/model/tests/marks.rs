use super::*;
use crate::model::ClipTiming;
use std::{cell::Cell, sync::Arc};

/// Names what lies at each place from `from` on, as `key index`, `loop`, `(` and `)` for the ends of a range, `!` for a flash.
fn passed(marks: &Marks, from: f64, forward: bool, places: usize) -> Vec<(f64, String)> {
    let mut place = from;
    let mut all = Vec::new();
    for _ in 0..places {
        let Some(next) = marks.next(place, forward, 0) else {
            break;
        };
        place = next;
        let mut names = Vec::new();
        marks.at(place, forward, 0, |mark| names.push(name(mark)));
        all.push((place, names.join(" ")));
    }
    all
}

fn name(mark: Mark) -> String {
    let key = match mark.key.source {
        KeySource::Clip(index) => index.to_string(),
        KeySource::Added(index) => format!("+{index}"),
    };
    match mark.kind {
        MarkKind::Key => key,
        MarkKind::Loop => "loop".into(),
        MarkKind::Low { .. } => format!("({key}"),
        MarkKind::High { .. } => format!("{key})"),
        MarkKind::Flash => format!("!{key}"),
        MarkKind::End => "end".into(),
    }
}

fn marks(playback: PlaybackMode, keys: &[(f64, Option<f64>)]) -> Arc<Marks> {
    let mut timing = ClipTiming::new("clip", 1.0);
    for (time, until) in keys {
        match until {
            Some(until) => timing.add_range(*time, *until, "", ()),
            None => timing.add_callback(*time, "", ()),
        };
    }
    timing.callbacks.marks(1.0, playback).unwrap()
}

const KEYS: [(f64, Option<f64>); 4] = [(0.0, None), (0.25, Some(0.5)), (0.5, None), (1.0, None)];

#[test]
fn a_loop_ends_before_the_next_one_begins() {
    let marks = marks(PlaybackMode::Loop, &KEYS);
    let forward: Vec<_> = passed(&marks, 0.0, true, 4);
    let expected = [(0.25, "(1"), (0.5, "2 1)"), (1.0, "3 loop 0"), (1.25, "(1")];
    assert_eq!(forward, expected.map(|(at, names)| (at, names.to_owned())));
    let backward: Vec<_> = passed(&marks, 1.25, false, 3);
    let expected = [(1.0, "0 loop 3"), (0.5, "2 1)"), (0.25, "(1")];
    assert_eq!(backward, expected.map(|(at, names)| (at, names.to_owned())));
}

#[test]
fn a_ping_pong_clip_passes_inner_keys_on_either_way_and_those_at_its_ends_once() {
    let marks = marks(PlaybackMode::PingPong, &KEYS);
    let forward: Vec<_> = passed(&marks, 0.0, true, 6);
    let expected = [
        (0.25, "(1"),
        (0.5, "2 1)"),
        (1.0, "3"),
        (1.5, "2 (1"),
        (1.75, "1)"),
        (2.0, "loop 0"),
    ];
    assert_eq!(forward, expected.map(|(at, names)| (at, names.to_owned())));
    let back: Vec<f64> = passed(&marks, 2.0, false, 5)
        .into_iter()
        .map(|(at, _)| at)
        .collect();
    assert_eq!(back, [1.75, 1.5, 1.0, 0.5, 0.25]);
}

#[test]
fn a_clip_that_plays_once_ends_at_either_end() {
    let marks = marks(PlaybackMode::Once, &KEYS);
    let names = |from, forward| -> Vec<String> {
        passed(&marks, from, forward, 9)
            .into_iter()
            .map(|(_, names)| names)
            .collect()
    };
    assert_eq!(names(0.0, true), ["(1", "2 1)", "3 end"]);
    assert_eq!(names(1.0, false), ["2 1)", "(1", "0 end"]);
}

#[test]
fn a_track_that_begins_fires_the_keys_of_the_loop_that_it_enters() {
    let marks = marks(
        PlaybackMode::Loop,
        &[(0.0, None), (0.0, Some(1.0)), (1.0, None), (1.0, Some(1.0))],
    );
    let begun = |place: f64, forward: bool| {
        let mut names = Vec::new();
        marks.at_start(place, forward, |mark, _| names.push(name(mark)));
        names.join(" ")
    };
    // The range without length lies at the end of the loop before.
    assert_eq!(begun(0.0, true), "0 (1");
    assert_eq!(begun(2.0, true), "0 (1");
    assert_eq!(begun(2.0, false), "2 1) !3");
    // What begins at its start fires the keys there.
    assert_eq!(begun(0.0, false), "0 2 1) !3");
}

#[test]
fn a_place_is_inside_of_a_range_at_the_end_that_it_comes_to_first() {
    let whole = marks(PlaybackMode::PingPong, &[(0.0, Some(1.0))]);
    let turn = marks(
        PlaybackMode::PingPong,
        &[(0.75, Some(1.0)), (0.0, Some(0.25))],
    );
    let [first, second] = [0, 1].map(|index| MarkKey {
        member: None,
        source: KeySource::Clip(index),
    });
    assert_eq!(whole.contains(first, 7.0, None), Some(true));
    assert_eq!(whole.next(0.0, true, 0), Some(2.0), "nothing but the loop");
    assert_eq!(turn.contains(second, 1.0, Some(true)), Some(true));
    assert_eq!(turn.contains(second, 1.25, Some(true)), Some(false));
    assert_eq!(turn.contains(second, 1.25, Some(false)), Some(true));
    assert_eq!(turn.contains(second, 1.25, None), None);
    // Across the start of a loop.
    assert_eq!(turn.contains(first, 2.1, Some(true)), Some(true));
    assert_eq!(turn.contains(first, -0.1, Some(true)), Some(true));
    assert_eq!(turn.contains(first, 0.5, Some(true)), Some(false));
}

#[test]
fn keys_are_found_by_bisection_however_many_there_are() {
    let keys: Vec<_> = (0..10_000)
        .map(|key| (f64::from(key) / 10_000.0, None))
        .collect();
    let marks = marks(PlaybackMode::Loop, &keys);
    let passed = passed(&marks, 0.0, true, 30_000);
    assert!(passed.is_sorted_by(|a, b| a.0 < b.0));
    assert_eq!(passed[29_999].0, 3.0);
    assert_eq!(passed[9_999].1, "loop 0");
    let cycle = PlaybackMode::Loop.cycle_of(1.0, 0.3).unwrap();
    let compared = |near: usize| {
        let compared = Cell::new(0);
        let found = marks.groups_until(cycle, near, |place| {
            compared.set(compared.get() + 1);
            place <= 0.3
        });
        assert_eq!(found, 3_001, "near {near}");
        compared.get()
    };
    assert!(compared(0) <= 18, "a guess, and 14 halvings");
    assert!(compared(3_001) <= 2 && compared(3_000) <= 4);
}
