//! Points of blend spaces at any numbers: refused in words, or told apart by their weights.

use super::support::Cast;
use crate::messages::assert_message;
use bevy_marionette::{
    controller::AnimationController,
    import::Manifest,
    internals::record::ClipTable,
    model::{BlendPoint, BlendSpace, BlendSpaceError, ClipTiming},
    record::{RecordingError, RecordingFile},
};
use fastrand::Rng;
use std::{sync::Arc, time::Duration};

const CLIPS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// Numbers of every size, with those that are next to them.
fn number(rng: &mut Rng) -> f64 {
    let some = [
        0.0, 5e-324, 1e-310, 2.3e-308, 1e-300, 1e-160, 1e-100, 1e-20, 0.1, 1.0, 360.0, 1e16, 1e99,
        1e100,
    ];
    let odd = [f64::INFINITY, f64::NAN, f64::MAX, f64::MIN_POSITIVE];
    let size = match rng.u8(..20) {
        0 => odd[rng.usize(..odd.len())],
        1..9 => 10.0_f64.powf(rng.f64() * 620.0 - 320.0),
        _ => some[rng.usize(..some.len())],
    };
    let near = if size.is_finite() {
        f64::from_bits(size.to_bits().saturating_add(rng.u64(..3)))
    } else {
        size
    };
    if rng.bool() { near } else { -near }
}

/// Points of one kind: anywhere, multiples of one size, or about one place.
fn points(rng: &mut Rng) -> Vec<(&'static str, BlendPoint)> {
    let (kind, scales, center) = (
        rng.u8(..4),
        [number(rng), number(rng)],
        [number(rng), number(rng)],
    );
    let one = |rng: &mut Rng, axis: usize| match kind {
        0 => number(rng),
        1 => scales[axis] * f64::from(rng.u8(..5)),
        2 => center[axis] + scales[axis] * f64::from(rng.u8(..5)),
        // On a line, nearly.
        _ if axis == 1 => scales[1] * rng.f64() * 1e-7,
        _ => scales[0] * rng.f64(),
    };
    let at = |rng: &mut Rng| BlendPoint::new(one(rng, 0), one(rng, 1));
    (0..rng.usize(..7))
        .map(|i| (CLIPS[i % 6], at(rng)))
        .collect()
}

/// Asks a space all that can be asked of it.
fn is_sound(space: &BlendSpace, rng: &mut Rng) {
    let own = space.points().to_vec();
    for (index, (_, at)) in own.iter().enumerate() {
        let weights: Vec<_> = space.weights(*at).collect();
        let weight: f64 = weights
            .iter()
            .filter(|(clip, _)| *clip == &*own[index].0)
            .map(|(_, weight)| weight)
            .sum();
        assert!(
            weight > 1.0 - 1e-5,
            "a point is not told apart: {own:?} {index} {weights:?}"
        );
    }
    let some = (0..8)
        .map(|_| BlendPoint::new(number(rng), number(rng)))
        .collect::<Vec<_>>();
    for point in some.into_iter().chain(own.iter().map(|(_, at)| *at)) {
        let nearest = space.nearest(point);
        assert!(nearest.is_finite(), "{own:?} {point:?} {nearest:?}");
        let weights: Vec<f64> = space.weights(point).map(|(_, weight)| weight).collect();
        let sum: f64 = weights.iter().sum();
        assert!(
            weights.iter().all(|weight| *weight > 0.0) && (sum - 1.0).abs() < 1e-9,
            "{own:?} {point:?} {weights:?}"
        );
    }
}

/// Plays a space while its parameters change.
fn play(space: BlendSpace, rng: &mut Rng) {
    let clips = CLIPS
        .iter()
        .enumerate()
        .map(|(i, name)| ClipTiming::new(*name, [0.0, 0.5, 1.0, 1e-9, 1e9][i % 5]));
    let cast = Cast::new(clips.collect(), vec![space]);
    let mut controller = AnimationController::playing("space");
    for _ in 0..6 {
        let point = BlendPoint::new(number(rng), number(rng));
        controller.set_parameters(point);
        if rng.u8(..4) == 0 {
            controller.cross_fade("space", Duration::from_millis(100));
        }
        cast.advance(&mut controller, 0.05);
        let layers = cast.layers(&controller);
        assert!(
            layers
                .iter()
                .all(|(_, time, weight)| time.is_finite() && weight.is_finite()),
            "{layers:?}"
        );
    }
}

fn count() -> u64 {
    std::env::var("MARIONETTE_BLEND_POINTS")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(20_000)
}

#[test]
fn spaces_of_any_numbers_are_refused_in_words_or_play() {
    let (mut accepted, mut refused) = (0, 0);
    for seed in 0..count() {
        let mut rng = Rng::with_seed(seed);
        let points = points(&mut rng);
        let made = match rng.bool() {
            true => BlendSpace::plane("space", points),
            false => BlendSpace::line("space", points.into_iter().map(|(clip, at)| (clip, at.x))),
        };
        match made {
            Err(error) => {
                refused += 1;
                assert!(
                    error.to_string().contains(';'),
                    "{error} doesn't say what to do"
                );
            }
            Ok(space) => {
                accepted += 1;
                is_sound(&space, &mut rng);
                let smoothing = if rng.bool() { 0.0 } else { number(&mut rng) };
                if let Ok(space) = space.smoothed(smoothing) {
                    play(space, &mut rng);
                }
            }
        }
    }
    println!("{accepted} spaces accepted, {refused} refused");
    assert!(accepted * 8 > refused && refused * 8 > accepted);
}

#[test]
fn points_closer_than_arithmetic_can_tell_apart_are_refused() {
    for tiny in [5e-324, 1e-310, 2.2e-308, 1e-300] {
        let line = BlendSpace::line("space", [("a", 0.0), ("b", tiny)]);
        assert_eq!(
            line,
            Err(BlendSpaceError::TooClose("a".into(), "b".into())),
            "{tiny:e}"
        );
        let plane = BlendSpace::plane("space", [("a", (0.0, 0.0)), ("b", (tiny, -tiny))]);
        assert_eq!(
            plane,
            Err(BlendSpaceError::TooClose("a".into(), "b".into())),
            "{tiny:e}"
        );
        // Along one parameter only, the other tells them apart.
        let plane = BlendSpace::plane("space", [("a", (0.0, 0.0)), ("b", (tiny, 1.0))]).unwrap();
        assert_eq!(
            plane.weights((0.0, 0.25)).collect::<Vec<_>>(),
            [("a", 0.75), ("b", 0.25)]
        );
    }
    for near in [1.0_f64, 1e16, 360.0] {
        let next = f64::from_bits(near.to_bits() + 1);
        assert!(BlendSpace::line("space", [("a", near), ("b", next)]).is_err());
    }
    // Whatever can be told apart is accepted.
    for size in (-90..100).map(|exponent| 10.0_f64.powi(exponent) * 0.9) {
        let space = BlendSpace::line("space", [("a", 0.0), ("b", size), ("c", -size)]).unwrap();
        let weights: Vec<_> = space.weights(0.5 * size).collect();
        assert!(
            weights
                .iter()
                .all(|(_, weight)| (weight - 0.5).abs() < 1e-12),
            "{weights:?}"
        );
    }
}

#[test]
fn manifests_and_recordings_refuse_them_too() {
    let text = |x: &str| {
        format!(
            "(model: \"a.md5mesh\", blend_spaces: {{ \"space\": (points: [(\"a\", 0.0), (\"b\", {x})]) }})"
        )
    };
    assert_eq!(
        Manifest::parse("f", text("1.0").as_bytes())
            .unwrap()
            .resolve_blend_spaces()
            .count(),
        1
    );
    let error = Manifest::parse("f", text("1e-310").as_bytes()).unwrap_err();
    assert_message("blend space: two points in one place, in a manifest", error);

    let table = |points: [(&str, f64); 2]| {
        let space = Arc::new(BlendSpace::line("space", points).unwrap());
        ClipTable::new(&[], &[], &[space], [], 0)
    };
    let recording = |clips: ClipTable| {
        let mut bytes = Vec::new();
        let file = RecordingFile {
            clips: vec![clips],
            ..RecordingFile::default()
        };
        file.write(&mut bytes).unwrap();
        bytes
    };
    let sound = recording(table([("a", 0.0), ("b", 1.0)]));
    RecordingFile::read(&sound[..]).unwrap();
    // The same, with another number in the place of the 1.
    let line = sound.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let mut form: ciborium::Value =
        ciborium::from_reader(flate2::read::ZlibDecoder::new(&sound[line..])).unwrap();
    fn change(value: &mut ciborium::Value) -> usize {
        match value {
            ciborium::Value::Float(x) if *x == 1.0 => {
                *x = 1e-310;
                1
            }
            ciborium::Value::Array(all) => all.iter_mut().map(change).sum(),
            ciborium::Value::Map(all) => all.iter_mut().map(|(_, value)| change(value)).sum(),
            _ => 0,
        }
    }
    assert_eq!(change(&mut form), 1);
    let mut bytes = sound[..line].to_vec();
    let mut to = flate2::write::ZlibEncoder::new(&mut bytes, flate2::Compression::fast());
    ciborium::into_writer(&form, &mut to).unwrap();
    to.finish().unwrap();
    let error = RecordingFile::read(&bytes[..]).unwrap_err();
    assert!(matches!(error, RecordingError::Damaged(_)));
    assert_message(
        "blend space: two points in one place, in a recording",
        error,
    );
}
