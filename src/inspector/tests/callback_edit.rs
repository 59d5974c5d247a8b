use super::*;
use crate::import::Manifest;

#[test]
fn copied_keys_parse_as_part_of_a_manifest_and_are_unchanged() {
    let mut timing = ClipTiming::new("walk", 1.0);
    let data = |text: &str| ron::from_str::<ron::Value>(text).unwrap();
    timing.add_callback(0.1, "step", data("\"left\""));
    timing.add_callback(0.2, "odd \"name\"\n", ron::Value::Unit);
    timing.add_callback(
        1.0 / 3.0,
        "hit",
        data("{\"strength\": 2.5, \"by\": [1, -2]}"),
    );
    timing.add_callback(1.0, "end", data("true"));
    timing.add_range(0.25, 0.75, "hit_window", ron::Value::Unit);
    let lines = callbacks_ron(&timing);
    let text =
        format!("(model: \"a.md5mesh\", clips: {{ \"walk\": (file: \"walk.md5anim\", {lines}) }})");
    let manifest = Manifest::parse("a.character.ron", text.as_bytes())
        .unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut back = ClipTiming::new("walk", 1.0);
    for key in &manifest.clips["walk"].callbacks {
        let (time, until) = key.place(None).unwrap();
        match until {
            None => back.add_callback(time, key.name.as_str(), key.data.clone()),
            Some(until) => back.add_range(time, until, key.name.as_str(), key.data.clone()),
        };
    }
    assert_eq!(back, timing, "{lines}");
    assert_eq!(
        callbacks_ron(&ClipTiming::new("idle", 1.0)),
        "callbacks: [\n],\n"
    );
}

#[test]
fn a_key_is_added_at_the_playhead_and_tracked_past_other_keys() {
    let mut timing = ClipTiming::new("walk", 1.0);
    timing.add_callback(0.5, "key", ron::Value::Unit);
    let track = TrackId::default();
    let mut edit = KeyEdit::add(track, &mut timing, 0.2504).unwrap();
    assert_eq!((edit.index, timing.callbacks[0].time), (0, 0.25));
    edit.move_to(&mut timing, Edge::Begin, 2.0);
    assert_eq!((edit.index, timing.callbacks[1].time), (1, 1.0));
    assert!(edit.is_of(track, &timing));
    edit.move_to(&mut timing, Edge::Begin, 0.6);
    edit.move_to(&mut timing, Edge::End, 0.9);
    assert_eq!(timing.callbacks[1].until, Some(0.9));
    edit.move_to(&mut timing, Edge::Begin, 0.2);
    assert_eq!(
        (edit.index, timing.callbacks[0].until),
        (0, Some(0.5)),
        "a range keeps its length"
    );
    edit.move_to(&mut timing, Edge::End, 0.1);
    assert_eq!(
        timing.callbacks[0].until,
        Some(0.2),
        "and ends after it begins"
    );
    timing.callbacks.clear();
    assert!(!edit.is_of(track, &timing));
    let end = KeyEdit::add(track, &mut ClipTiming::new("odd", 1.0 / 3.0), 1.0 / 3.0).unwrap();
    assert_eq!(end.index, 0);
}
