//! A long run of many controllers against brute force.

use super::support::*;
use bevy_marionette::controller::{AnimationController, AnimationTrack, PlaybackEvent};
use bevy_marionette::model::{ClipTiming, PlaybackMode};

/// A callback as brute force sees it: when, on which track, which key.
type Expected = (f64, usize, usize);

/// All passings of a track's keys in `seconds`, straight from the definition of the playback.
fn brute_force(
    clip: &ClipTiming,
    track: usize,
    start: f64,
    speed: f64,
    seconds: f64,
) -> Vec<Expected> {
    let length = clip.duration;
    let (low, high) = (
        start.min(start + speed * seconds),
        start.max(start + speed * seconds),
    );
    let period = if clip.playback == PlaybackMode::PingPong {
        2.0 * length
    } else {
        length
    };
    let rounds = (low / period).floor() as i64 - 1..=(high / period).floor() as i64 + 1;
    let mut found = Vec::new();
    for (key, time) in clip.callbacks.iter().map(|key| key.time).enumerate() {
        for n in rounds.clone() {
            let base = n as f64 * period;
            let mut places = vec![base + time];
            match clip.playback {
                PlaybackMode::Once if n != 0 => places.clear(),
                PlaybackMode::PingPong if time > 0.0 && time < length => {
                    places.push(base + period - time)
                }
                _ => {}
            }
            for place in places {
                let when = (place - start) / speed;
                if when > 0.0 && when <= seconds {
                    found.push((when, track, key));
                }
            }
        }
    }
    found
}

#[test]
fn rule_7_ten_minutes_of_200_controllers_equal_brute_force_one_for_one() {
    let mut random = fastrand::Rng::with_seed(0x5eed);
    let clips: Vec<ClipTiming> = (0..12)
        .map(|i| {
            let length = 0.3 + 2.5 * random.f64();
            let playback = [
                PlaybackMode::Loop,
                PlaybackMode::Loop,
                PlaybackMode::PingPong,
                PlaybackMode::Once,
            ][i % 4];
            let times: Vec<f64> = (0..random.usize(0..4))
                .map(|_| length * random.f64())
                .collect();
            let keys: Vec<(f64, &str)> = times.iter().map(|time| (*time, "key")).collect();
            clip(&format!("clip {i}"), length, playback, &keys)
        })
        .collect();

    let mut total = 0;
    for _ in 0..200 {
        let mut controller = AnimationController::default();
        let mut plan = Vec::new();
        for _ in 0..random.usize(1..4) {
            let (index, speed) = (
                random.usize(0..clips.len()),
                (0.2 + 1.8 * random.f64()) * [1.0, 1.0, -1.0][random.usize(0..3)],
            );
            let start = clips[index].duration * random.f64();
            let track = AnimationTrack::new(clips[index].name.clone())
                .speed(speed)
                .weight(random.f32());
            let id = controller.add_track(track.mask("any").starting_at(start));
            plan.push((id, index, start, speed));
        }
        let mut received: Vec<Expected> = Vec::new();
        let mut events = Vec::new();
        let mut seconds = 0.0;
        while seconds < 600.0 {
            // Frames of 4 to 40 ms and now and then a hitch.
            let dt = if random.u32(0..500) == 0 {
                3.0 * random.f64()
            } else {
                0.004 + 0.036 * random.f64()
            };
            seconds += dt;
            controller.advance(dt, &clips, &mut events).unwrap();
            assert!(events.is_sorted_by(|a, b| a.time() <= b.time() + 2e-9));
            for event in events.drain(..) {
                if let PlaybackEvent::Callback(callback) = event {
                    let track = plan
                        .iter()
                        .position(|(id, ..)| *id == callback.track)
                        .unwrap();
                    let key = callback.clip_time;
                    let index = clips[callback.clip]
                        .callbacks
                        .iter()
                        .position(|k| k.time == key)
                        .unwrap();
                    received.push((callback.time, track, index));
                }
            }
        }
        let mut expected: Vec<Expected> = Vec::new();
        for (track, (_, index, start, speed)) in plan.iter().enumerate() {
            expected.extend(brute_force(&clips[*index], track, *start, *speed, seconds));
        }
        expected.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert_eq!(received.len(), expected.len());
        for (got, wanted) in received.iter().zip(&expected) {
            assert!(
                (got.0 - wanted.0).abs() < 1e-7 && (got.1, got.2) == (wanted.1, wanted.2),
                "{got:?} {wanted:?}"
            );
        }
        total += received.len();
    }
    assert!(total > 100_000, "{total}");
}
