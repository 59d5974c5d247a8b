//! A controller with its clips, for tests.

use bevy_marionette::controller::{AnimationController, AnimationTrack, PlaybackEvent, TrackId};
use bevy_marionette::model::{ClipTiming, PlaybackMode};
use std::time::Duration;

/// A clip with keys (time, name).
pub fn clip(name: &str, duration: f64, playback: PlaybackMode, keys: &[(f64, &str)]) -> ClipTiming {
    let mut timing = ClipTiming {
        playback,
        ..ClipTiming::new(name, duration)
    };
    for (time, key) in keys {
        timing.add_callback(*time, *key, ());
    }
    timing
}

/// A few clips as a game has them. `step` fires `0`, `half`; `once` has keys at both ends.
pub fn clips() -> Vec<ClipTiming> {
    vec![
        clip(
            "step",
            1.0,
            PlaybackMode::Loop,
            &[(0.0, "0"), (0.5, "half")],
        ),
        clip(
            "walk",
            2.0,
            PlaybackMode::Loop,
            &[(0.5, "left"), (1.5, "right")],
        ),
        clip(
            "run",
            1.0,
            PlaybackMode::Loop,
            &[(0.25, "left"), (0.75, "right")],
        ),
        clip(
            "once",
            1.0,
            PlaybackMode::Once,
            &[(0.0, "start"), (0.5, "middle"), (1.0, "end")],
        ),
        clip(
            "swing",
            1.0,
            PlaybackMode::PingPong,
            &[(0.0, "low"), (0.25, "pass"), (1.0, "high")],
        ),
        clip("pose", 0.0, PlaybackMode::Loop, &[(0.0, "posed")]),
        clip("idle", 4.0, PlaybackMode::Loop, &[]),
    ]
}

/// Advances and returns what happened.
pub fn advance(
    controller: &mut AnimationController,
    clips: &[ClipTiming],
    dt: f64,
) -> Vec<PlaybackEvent> {
    let mut out = Vec::new();
    controller.advance(dt, clips, &mut out).unwrap();
    out
}

/// Advances and returns the names of the callbacks.
pub fn fired(controller: &mut AnimationController, clips: &[ClipTiming], dt: f64) -> Vec<String> {
    callbacks(&advance(controller, clips, dt))
}

/// The names of the callbacks among some events.
pub fn callbacks(events: &[PlaybackEvent]) -> Vec<String> {
    let name = |event: &PlaybackEvent| match event {
        PlaybackEvent::Callback(callback) => Some(callback.name.to_string()),
        _ => None,
    };
    events.iter().filter_map(name).collect()
}

/// What happened, in words: callbacks by name, the rest by kind and clip.
pub fn words(events: &[PlaybackEvent], clips: &[ClipTiming]) -> Vec<String> {
    let word = |event: &PlaybackEvent| match event {
        PlaybackEvent::Callback(callback) => callback.name.to_string(),
        PlaybackEvent::Started { clip, .. } => format!("{} started", clips[*clip].name),
        PlaybackEvent::Looped { clip, .. } => format!("{} looped", clips[*clip].name),
        PlaybackEvent::Finished { clip, .. } => format!("{} finished", clips[*clip].name),
        PlaybackEvent::CrossFadeFinished { clip, .. } => format!("{} faded in", clips[*clip].name),
        PlaybackEvent::UnknownClip { name, .. } => format!("{name} unknown"),
        PlaybackEvent::TooManyCallbacks { clip, .. } => format!("{} flooded", clips[*clip].name),
        other => format!("{other:?}"),
    };
    events.iter().map(word).collect()
}

/// A controller with one track of its own.
pub fn with_track(track: AnimationTrack) -> (AnimationController, TrackId) {
    let mut controller = AnimationController::default();
    let id = controller.add_track(track);
    (controller, id)
}

/// Seconds as a span.
pub fn secs(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

/// A track's unwrapped position.
pub fn position(controller: &AnimationController, track: TrackId) -> f64 {
    controller.track(track).unwrap().unwrapped_position()
}

/// A track's weight.
pub fn weight(controller: &AnimationController, track: TrackId) -> f32 {
    controller.track(track).unwrap().weight
}

/// Clip name and weight of each layer.
pub fn mix(controller: &AnimationController, clips: &[ClipTiming]) -> Vec<(String, f32)> {
    controller
        .layers(clips)
        .map(|layer| (clips[layer.clip].name.to_string(), layer.weight))
        .collect()
}

/// Equal but for rounding.
#[track_caller]
pub fn assert_close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * a.abs().max(1.0), "{a} is not {b}");
}
