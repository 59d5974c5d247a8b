use super::*;
use crate::model::ClipFrames;

#[test]
fn data_that_json_cannot_hold_is_written_as_ron() {
    let mut timing = ClipTiming::new("walk", 1.5);
    let data = |text: &str| ron::from_str::<ron::Value>(text).unwrap();
    for text in [
        "()",
        "\"left\"",
        "[1, -2, 0.5, true]",
        "{\"side\": \"left\"}",
        "'l'",
        "{1: 2}",
        "inf",
        "Some(3)",
    ] {
        timing.add_callback(0.5, text, data(text));
    }
    let clip = SkeletalClip::new(timing, &ClipFrames::default()).unwrap();
    let extras = of_clip(&clip, None);
    assert_eq!(extras["marionette"]["playback"], "Loop");
    let callbacks = extras["marionette"]["callbacks"].as_array().unwrap();
    for (key, text) in callbacks.iter().zip(&clip.timing.callbacks) {
        let text = &*text.name;
        let back: ron::Value = match (key.get("data"), key.get("ron")) {
            (Some(json), None) => serde_json::from_value(json.clone()).unwrap(),
            (None, Some(ron)) => ron::from_str(ron.as_str().unwrap()).unwrap(),
            (None, None) => ron::Value::Unit,
            both => panic!("{both:?}"),
        };
        assert_eq!(back, data(text), "{text}: {key}");
    }
    let as_json = callbacks
        .iter()
        .filter(|key| key.get("data").is_some())
        .count();
    assert!((2..=5).contains(&as_json), "{extras}");
}
