use super::super::Manifest;
use super::super::tests::assert_round_trip;
use crate::messages::assert_message;

fn parse(keys: &str) -> Result<Manifest, String> {
    let text = format!("(model: \"a.glb\", clips: {{ \"slash\": (callbacks: [{keys}]) }})");
    Manifest::parse("a.character.ron", text.as_bytes()).map_err(|error| error.to_string())
}

#[test]
fn keys_and_ranges_are_placed_in_seconds_and_frames() {
    for (key, place) in [
        ("time: 0.5", Some((0.5, None))),
        ("time: 0.5, until: 0.75", Some((0.5, Some(0.75)))),
        ("time: 0.5, duration: 0.5", Some((0.5, Some(1.0)))),
        ("frame: 12", Some((0.5, None))),
        ("frame: 12, duration: 1", Some((0.5, Some(1.5)))),
        ("frames: (12, 24)", Some((0.5, Some(1.0)))),
    ] {
        let manifest = parse(&format!("({key}, name: \"hit\")"))
            .unwrap_or_else(|error| panic!("{key}: {error}"));
        let entry = &manifest.clips["slash"].callbacks[0];
        assert_eq!(entry.place(Some(24.0)), place, "{key}");
        assert_eq!(
            entry.place(None),
            place.filter(|_| !key.contains("frame")),
            "{key}"
        );
        assert_round_trip(&manifest);
    }
}

#[test]
fn what_is_wrong_with_a_key_is_said_in_words() {
    for key in [
        "",
        "time: 0.5, frame: 3,",
        "time: 0.5, until: 1, duration: 1,",
        "frames: (1, 2), duration: 1,",
        "frame: 3, until: 1,",
        "time: -1,",
        "time: 0.5, duration: -1,",
        "time: 0.5, until: inf,",
        "frames: (-1, 3),",
        "time: 0.5, until: 0.25,",
        "frames: (20, 12),",
    ] {
        let error = parse(&format!("({key} name: \"hit\")")).unwrap_err();
        assert_message(&format!("manifest: a callback with ({key})"), error);
    }
    let text = br#"(model: "a.glb", clips: { "slash": (frame_rate: 0) })"#;
    let error = Manifest::parse("a.character.ron", text).unwrap_err();
    assert_message("manifest: a frame rate of 0", error);
}
