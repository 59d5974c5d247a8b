use super::*;

#[test]
fn many_keys_are_sorted_as_one_by_one_and_in_no_minute() {
    let key = |i: u32| CallbackKey {
        time: f64::from(i % 1000) * 0.01 - 0.5,
        until: None,
        name: i.to_string().into(),
        data: ron::Value::Unit.into(),
    };
    let (mut one_by_one, mut together) =
        (ClipTiming::new("walk", 9.0), ClipTiming::new("walk", 9.0));
    for key in (0..3000).map(key) {
        one_by_one.add_callback(key.time, key.name, key.data);
    }
    together.extend_callbacks((0..3000).map(key));
    assert_eq!(together, one_by_one);
    together.extend_callbacks((0..300_000).rev().map(key));
    assert!(together.callbacks.is_sorted_by(|a, b| a.time <= b.time));
}

#[test]
fn a_key_that_is_moved_keeps_its_name_and_stays_in_the_clip_and_in_order() {
    let mut timing = ClipTiming::new("walk", 1.0);
    for (time, name) in [(0.1, "a"), (0.5, "b"), (0.9, "c")] {
        timing.add_callback(time, name, ron::Value::Unit);
    }
    let names = |timing: &ClipTiming| {
        timing
            .callbacks
            .iter()
            .map(|key| key.name.to_string())
            .collect::<String>()
    };
    assert_eq!(timing.move_callback(0, 0.6), Some(1));
    assert_eq!(names(&timing), "bac");
    assert_eq!(timing.move_callback(2, f64::NAN), Some(0));
    assert_eq!(timing.move_callback(1, 7.0), Some(2));
    assert_eq!(
        (names(&timing).as_str(), timing.callbacks[2].time),
        ("cab", 1.0)
    );
    assert_eq!(timing.move_callback(3, 0.0), None);
}

#[test]
fn many_keys_added_at_once_are_placed_like_those_added_one_by_one() {
    let times = [0.5, f64::NAN, 9.0, 0.25, 0.5, -1.0, 0.75];
    let keys = times
        .iter()
        .zip("abcdefg".chars())
        .map(|(&time, name)| (time, name.to_string()));
    let (mut single, mut bulk) = (ClipTiming::new("walk", 1.0), ClipTiming::new("walk", 1.0));
    for (time, name) in keys.clone() {
        single.add_callback(time, name, ());
    }
    bulk.extend_callbacks(keys.map(|(time, name)| CallbackKey {
        time,
        until: None,
        name: name.into(),
        data: ().into(),
    }));
    assert_eq!(bulk, single);
}
