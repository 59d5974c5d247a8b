//! Many characters for a long time, compared with brute force.

use super::support::*;
use bevy::{platform::collections::HashMap, prelude::*};
use bevy_marionette::{
    controller::{AnimationTrack, TrackId},
    import::MaskEntry,
    model::{ClipTiming, PlaybackMode},
    prelude::*,
};

const CHARACTERS: usize = 200;
const SECONDS: f64 = 600.0;

/// A track's settings.
struct Plan {
    clip: ClipTiming,
    start: f64,
    speed: f64,
    weight: f32,
}

impl Plan {
    /// Returns the times at which the track passes each key, in order: where the line of its unwrapped position crosses
    /// those of the key.
    fn passings(&self, seconds: f64) -> Vec<(f64, f64)> {
        let Self {
            clip, start, speed, ..
        } = self;
        let length = clip.duration;
        let mut found = Vec::new();
        let mut meet = |height: f64, key: f64| {
            let moment = (height - start) / speed;
            if moment > 0.0 && moment <= seconds {
                found.push((moment, key));
            }
        };
        for key in clip.callbacks.iter().map(|key| key.time) {
            match clip.playback {
                PlaybackMode::Once => meet(key, key),
                PlaybackMode::Loop | PlaybackMode::PingPong => {
                    let rounds = ((start.abs() + speed.abs() * seconds) / length).ceil() as i64 + 1;
                    for round in -rounds..=rounds {
                        // Every other round of a ping-pong runs backward.
                        let back =
                            clip.playback == PlaybackMode::PingPong && round.rem_euclid(2) == 1;
                        let within = if back { length - key } else { key };
                        meet(round as f64 * length + within, key);
                    }
                }
            }
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        found
    }
}

/// The callbacks received: through an observer or a message, by whom, which key, and in which frame.
#[derive(Resource, Default)]
struct Received {
    frame: usize,
    observed: Vec<(Entity, TrackId, f64, f32, usize)>,
    messages: Vec<(Entity, TrackId, f64, f32, usize)>,
}

#[test]
fn ten_minutes_of_200_characters_equal_brute_force_one_for_one() {
    let mut random = fastrand::Rng::with_seed(0x0a77);
    let timings: Vec<ClipTiming> = (0..12)
        .map(|i| {
            let length = 0.4 + 2.6 * random.f64();
            let playback = [
                PlaybackMode::Loop,
                PlaybackMode::PingPong,
                PlaybackMode::Loop,
                PlaybackMode::Once,
            ][i % 4];
            // Strictly inside: other tests cover the exact ends.
            let keys: Vec<f64> = (0..random.usize(0..4))
                .map(|_| length * (0.01 + 0.98 * random.f64()))
                .collect();
            let keys: Vec<(f64, &str)> = keys.iter().map(|time| (*time, "key")).collect();
            timing(&format!("clip {i}"), length, playback, &keys)
        })
        .collect();
    let mut manifest = manifest();
    manifest.masks.insert(
        "arm".into(),
        MaskEntry {
            roots: vec!["elbow".into()],
            falloff: 1,
            ..MaskEntry::default()
        },
    );
    manifest.masks.insert(
        "hand".into(),
        MaskEntry {
            roots: vec!["hand".into()],
            falloff: 0,
            ..MaskEntry::default()
        },
    );

    let mut app = TestApp::new();
    app.world().init_resource::<Received>();
    app.app
        .add_observer(|e: On<AnimationCallback>, mut r: ResMut<Received>| {
            let heard = (e.entity, e.track, e.clip_time, e.weight, r.frame);
            r.observed.push(heard);
        });
    app.app.add_systems(
        Last,
        |mut messages: MessageReader<AnimationCallback>, mut r: ResMut<Received>| {
            let frame = r.frame;
            r.messages.extend(
                messages
                    .read()
                    .map(|e| (e.entity, e.track, e.clip_time, e.weight, frame)),
            );
        },
    );
    let handle = app.add(chain(&timings), &manifest);

    let mut plans: HashMap<(Entity, TrackId), Plan> = default();
    for _ in 0..CHARACTERS {
        let mut controller = AnimationController::default();
        let mut own = Vec::new();
        for _ in 0..random.usize(1..4) {
            let clip = random.choice(&timings).unwrap().clone();
            let speed = (0.2 + 1.8 * random.f64()) * random.choice([1.0, 1.0, -1.0]).unwrap();
            let (start, weight) = (clip.duration * random.f64(), random.f32());
            let mut track = AnimationTrack::new(clip.name.clone())
                .speed(speed)
                .weight(weight)
                .starting_at(start);
            if let Some(mask) = random
                .choice([None, Some("arm"), Some("hand"), Some("unknown")])
                .unwrap()
            {
                track = track.mask(mask);
            }
            if random.bool() {
                track = track.priority(TrackPriority::High);
            }
            own.push((
                controller.add_track(track),
                Plan {
                    clip,
                    start,
                    speed,
                    weight,
                },
            ));
        }
        let entity = app.spawn_with(&handle, controller);
        plans.extend(own.into_iter().map(|(track, plan)| ((entity, track), plan)));
    }

    // Frames of 4 to 60 ms with occasional hitches, in whole nanoseconds like Bevy's time.
    let mut ends = Vec::new();
    let mut nanoseconds: u64 = 0;
    while (nanoseconds as f64) * 1e-9 < SECONDS {
        let dt = if random.u32(0..500) == 0 {
            random.u64(0..3_000_000_000)
        } else {
            random.u64(4_000_000..60_000_000)
        };
        nanoseconds += dt;
        app.world().resource_mut::<Received>().frame = ends.len();
        app.update(dt as f64 * 1e-9);
        ends.push(nanoseconds as f64 * 1e-9);
        app.world().resource_mut::<Heard>().observed.clear();
        app.world().resource_mut::<Heard>().messages.clear();
    }
    let seconds = *ends.last().unwrap();

    let Received {
        observed, messages, ..
    } = std::mem::take(&mut *app.world().resource_mut::<Received>());
    assert_eq!(observed, messages);
    let expected: HashMap<_, _> = plans
        .iter()
        .map(|(of, plan)| (*of, plan.passings(seconds)))
        .collect();
    let mut next: HashMap<(Entity, TrackId), usize> = default();
    let (mut last_frame, mut last_moment) = (0, 0.0);
    for (entity, track, key, weight, frame) in &observed {
        let of = (*entity, *track);
        let count = next.entry(of).or_default();
        let (moment, expected_key) = *expected[&of]
            .get(*count)
            .expect("no more are due on this track");
        *count += 1;
        assert_eq!((*key, *weight), (expected_key, plans[&of].weight));
        let begin = if *frame == 0 { 0.0 } else { ends[frame - 1] };
        assert!(
            moment > begin - 1e-6 && moment <= ends[*frame] + 1e-6,
            "{moment} s in frame {frame}"
        );
        // In order of time, across all characters.
        assert!(
            *frame > last_frame || moment >= last_moment - 1e-6,
            "{moment} s after {last_moment} s"
        );
        (last_frame, last_moment) = (*frame, moment);
    }
    for (of, expected) in &expected {
        let plan = &plans[of];
        assert_eq!(
            next.get(of).copied().unwrap_or(0),
            expected.len(),
            "{} at speed {}",
            plan.clip.name,
            plan.speed
        );
    }
    assert!(observed.len() > 100_000, "{}", observed.len());
}
