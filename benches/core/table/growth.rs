//! How the time of some work grows with its amount: an exponent of 1 is linear, 2 quadratic.

use bevy_marionette::{
    controller::{AnimationController, AnimationTrack, TransitionCurve},
    model::{CallbackKey, ClipTiming},
};
use std::{
    hint::black_box,
    time::{Duration, Instant},
};

/// How many times as much the larger amount is.
const TIMES: u32 = 16;

/// Prints the table.
pub(crate) fn table(quick: bool) {
    println!("work | amount, time | {TIMES} times the amount | exponent");
    println!("---- | -----------: | -------------------: | -------:");
    let few = if quick { 64 } else { 2_000 };
    type Work = (&'static str, fn(u32) -> Duration, u32);
    let works: [Work; 4] = [
        (
            "steps of speed due in one step, on one track",
            |count| events(count, Duration::ZERO),
            few,
        ),
        (
            "ramps of speed due in one step, on one track",
            |count| events(count, Duration::from_millis(100)),
            few,
        ),
        ("fades of as many tracks at a time", fades, few / 32),
        ("unsorted callback keys", callbacks, few),
    ];
    for (name, work, amount) in works {
        let runs = if quick { 1 } else { 5 };
        let [less, more] =
            [amount, TIMES * amount].map(|n| (0..runs).map(|_| work(n)).min().unwrap_or_default());
        let exponent = (more.as_secs_f64() / less.as_secs_f64()).ln() / f64::from(TIMES).ln();
        println!("{name} | {amount}, {less:.1?} | {more:.1?} | {exponent:.2}");
    }
    println!();
}

/// Places in 0..1, in no order.
fn places(count: u32) -> impl Iterator<Item = f64> {
    (0..count).map(move |i| (u64::from(i) * 7919 % u64::from(count)) as f64 / f64::from(count))
}

fn events(count: u32, duration: Duration) -> Duration {
    let mut controller = AnimationController::default();
    let track = controller.add_track(AnimationTrack::new("idle"));
    for (i, start) in places(count).enumerate() {
        controller.timeline_mut().key_speed(
            track,
            (i % 3) as f64,
            start,
            duration,
            TransitionCurve::Linear,
        );
    }
    advance(controller)
}

/// All tracks are moved wherever one of them changes, so this is the square of the tracks at best.
fn fades(count: u32) -> Duration {
    let mut controller = AnimationController::default();
    for place in places(count) {
        let track = controller.add_track(AnimationTrack::new("idle").weight(0.0));
        let duration = Duration::from_secs_f64(0.1 + 0.8 * place);
        controller
            .timeline_mut()
            .key_weight(track, 1.0, 0.0, duration, TransitionCurve::Linear);
    }
    advance(controller)
}

fn advance(mut controller: AnimationController) -> Duration {
    let (clips, mut out) = ([ClipTiming::new("idle", 4.0)], Vec::new());
    let begin = Instant::now();
    controller
        .advance(1.0, &clips, &mut out)
        .expect("a positive step");
    black_box(&out);
    begin.elapsed()
}

fn callbacks(count: u32) -> Duration {
    let keys: Vec<_> = places(count)
        .map(|time| CallbackKey {
            time,
            until: None,
            name: "key".into(),
            data: ().into(),
        })
        .collect();
    let mut timing = ClipTiming::new("walk", 1.0);
    let begin = Instant::now();
    timing.extend_callbacks(keys);
    black_box(&timing);
    begin.elapsed()
}
