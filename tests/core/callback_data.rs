//! The data of callbacks is the same after a file, of every kind, whatever the data.

use bevy_marionette::{
    controller::{AnimationController, PlaybackEvent},
    internals::record::{ClipTable, Frames, RecordedCharacter, Tape, TapeMoment},
    model::{CallbackData, ClipFrames, ClipTiming, JointTransform, SkeletalClip},
    record::RecordingFile,
};
use fastrand::Rng;
use ron::value::{Map, Number, Value};
use std::sync::Arc;

fn number(rng: &mut Rng) -> Number {
    // Mostly small ones, and those at the ends of every type.
    let integer = [
        0,
        1,
        2,
        127,
        128,
        255,
        256,
        32_768,
        65_535,
        65_536,
        1 << 31,
        u64::from(u32::MAX) + 1,
        u64::MAX >> 1,
    ];
    let integer = integer[rng.usize(..integer.len())].wrapping_sub(rng.u64(..2));
    let float = [
        0.0,
        -0.0,
        0.1,
        0.5,
        1.0,
        1e-310,
        1e300,
        f64::MAX,
        f64::INFINITY,
        f64::NAN,
        rng.f64(),
    ];
    let float = float[rng.usize(..float.len())];
    match rng.u8(..12) {
        0 => Number::new(integer as i8),
        1 => Number::new(integer as i16),
        2 => Number::new(integer as i32),
        3 => Number::new(integer as i64),
        4 => Number::new(-(integer as i64)),
        5 => Number::new(integer as u8),
        6 => Number::new(integer as u16),
        7 => Number::new(integer as u32),
        8 => Number::new(integer),
        9 if rng.bool() => Number::new(f32::from_bits(rng.u32(..0x7f80_0000))),
        9 => Number::new(f64::from(f32::from_bits(rng.u32(..0x7f80_0000)))),
        10 => Number::new(float as f32),
        _ => Number::new(float),
    }
}

fn text(rng: &mut Rng) -> String {
    let some = [
        "",
        "left",
        "Unit",
        "a \"quoted\" \\",
        "\u{e9}\n\0",
        "Some(1)",
        "\u{1f980}",
        "None",
    ];
    some[rng.usize(..some.len())].to_owned()
}

/// Any value; one that JSON can hold, if `plain`.
fn value(rng: &mut Rng, depth: u32, plain: bool) -> Value {
    let many = |rng: &mut Rng| if depth == 0 { 0 } else { rng.usize(..4) };
    match rng.u8(..if plain { 5 } else { 9 }) {
        0 => Value::Bool(rng.bool()),
        // Readers of JSON may round the last digit of others.
        1 if plain && rng.bool() => Value::from(f64::from(rng.i32(-9999..9999)) / 64.0),
        1 if plain => Value::from(rng.i64(..) >> rng.u8(..64)),
        1 => Value::Number(number(rng)),
        2 => Value::String(text(rng)),
        3 => (0..many(rng))
            .map(|_| value(rng, depth - 1, plain))
            .collect::<Vec<_>>()
            .into(),
        4 => {
            let mut map = Map::new();
            for _ in 0..many(rng) {
                let key = if plain {
                    Value::String(text(rng))
                } else {
                    value(rng, depth - 1, plain)
                };
                map.insert(key, value(rng, depth - 1, plain));
            }
            Value::Map(map)
        }
        5 => Value::Unit,
        6 => Value::Char(['\'', 'x', '\u{e9}', '\\'][rng.usize(..4)]),
        7 => Value::Bytes((0..rng.usize(..9)).map(|_| rng.u8(..)).collect()),
        _ => {
            Value::Option((depth > 0 && rng.bool()).then(|| Box::new(value(rng, depth - 1, plain))))
        }
    }
}

fn data(count: u64, plain: bool) -> impl Iterator<Item = CallbackData> {
    (0..count).map(move |seed| CallbackData::from(value(&mut Rng::with_seed(seed), 4, plain)))
}

fn count() -> u64 {
    std::env::var("MARIONETTE_CALLBACK_DATA")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(5000)
}

fn through_cbor<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) -> T {
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes).unwrap();
    ciborium::from_reader(&bytes[..]).unwrap()
}

#[test]
fn data_is_the_same_after_cbor() {
    for data in data(count(), false) {
        assert_eq!(through_cbor(&data), data);
    }
}

#[test]
fn data_is_the_same_after_ron() {
    for data in data(count(), false) {
        let text = ron::to_string(&data).unwrap();
        assert_eq!(
            ron::from_str::<CallbackData>(&text).unwrap(),
            data,
            "{text}"
        );
    }
}

#[test]
fn data_that_json_can_hold_is_the_same_after_json() {
    for data in data(count(), true) {
        let text = serde_json::to_string(&data).unwrap();
        assert_eq!(
            serde_json::from_str::<CallbackData>(&text).unwrap(),
            data,
            "{text}"
        );
    }
}

#[test]
fn numbers_are_equal_by_their_value_and_come_back_as_any_type_that_holds_them() {
    assert_eq!(CallbackData::from(5_i64), CallbackData::from(5_u8));
    assert_eq!(CallbackData::from(0.5_f32), CallbackData::from(0.5_f64));
    assert_ne!(CallbackData::from(5), CallbackData::from(5.0));
    let mut rng = Rng::with_seed(1);
    for _ in 0..count() {
        let (float, integer) = (f32::from_bits(rng.u32(..0x7f80_0000)), rng.i64(..));
        assert_eq!(CallbackData::from(float).to::<f32>().unwrap(), float);
        assert_eq!(
            through_cbor(&CallbackData::from(float))
                .to::<f32>()
                .unwrap(),
            float
        );
        assert_eq!(
            through_cbor(&CallbackData::from(integer))
                .to::<i64>()
                .unwrap(),
            integer
        );
    }
    assert_eq!(through_cbor(&CallbackData::from(())).to::<()>(), Ok(()));
    assert_eq!(
        through_cbor(&CallbackData::from(Some(3))).to::<Option<u8>>(),
        Ok(Some(3))
    );
}

#[test]
fn controllers_are_the_same_after_cbor_whatever_data_their_callbacks_have() {
    for data in data(count() / 10, false) {
        let mut controller = AnimationController::playing("walk");
        controller.add_callback("walk", 0.25, "step", data.clone());
        controller.add_callback_range("walk", 0.1, 0.9, "window", data);
        let clips = [ClipTiming::new("walk", 1.0)];
        controller.advance(0.5, &clips, &mut Vec::new()).unwrap();
        assert!(through_cbor(&controller) == controller);
    }
}

/// The documented check of a recording with the game's own clips.
#[test]
fn a_recording_played_with_the_games_own_clips_is_the_same_whatever_data_their_keys_have() {
    for data in data(count() / 10, false) {
        let frames = ClipFrames {
            joints: ["root".into()].into(),
            animated: vec![],
            transforms: vec![JointTransform::IDENTITY],
        };
        let mut walk = SkeletalClip::new(ClipTiming::new("walk", 1.0), &frames).unwrap();
        walk.timing.add_callback(0.25, "step", data.clone());
        walk.timing.add_range(0.3, 0.5, "window", data);
        let clips = ClipTable::new(&[Arc::new(walk)], &[], &[], [], 0);
        let mut controller = AnimationController::playing("walk");
        let (mut frames, mut tape, mut events) =
            (Frames::starting_at(0), Tape::starting_at(0), Vec::new());
        let moment = TapeMoment {
            frame: 0,
            step: 0,
            is_change: true,
            is_carried: false,
        };
        tape.note_state(moment, &controller, None);
        for frame in 0..10 {
            let mut out = Vec::new();
            controller.advance(0.1, &clips, &mut out).unwrap();
            events.extend(out.into_iter().map(|event: PlaybackEvent| (frame, event)));
            frames.add_step(0.1);
            frames.end_frame(frame as f64 * 0.1);
        }
        let character = RecordedCharacter {
            name: "Scout".into(),
            asset: None,
            clips: 0,
            tape,
            events,
        };
        let file = RecordingFile {
            frames,
            clips: vec![clips.clone()],
            characters: vec![character],
        };
        let mut bytes = Vec::new();
        file.write(&mut bytes).unwrap();
        let mut read = RecordingFile::read(&bytes[..]).unwrap();
        assert!(read == file);
        read.clips = vec![clips];
        assert_eq!(read.check().next().unwrap().difference, None);
    }
}

#[test]
fn data_is_displayed_as_ron() {
    let data = CallbackData::new(&("left", 0.5, [Some(3), None])).unwrap();
    let text = data.to_string();
    assert_eq!(ron::from_str::<CallbackData>(&text).unwrap(), data);
    assert_eq!(text, r#"["left",0.5,[Some(3),None]]"#);
    // For debugging, too, in what holds it.
    assert_eq!(format!("{:?}", Some(&data)), format!("Some({text})"));
    assert_eq!(format!("{:>6}", CallbackData::from(true)), "  true");
    assert_eq!(CallbackData::default().to_string(), "()");
    // Data deeper than RON reads: still no panic.
    let deep = (0..500).fold(Value::Unit, |inner, _| Value::Seq(vec![inner]));
    assert_eq!(CallbackData::from(deep).to_string(), "…");
}
