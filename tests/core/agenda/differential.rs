//! The controller by anchors and an agenda against the one that sweeps: the same programs, played by both.
//!
//! They differ where it was meant, and nowhere else:
//!
//! * moments are whole nanoseconds, so they differ by up to one, and more where a speed comes to rest;
//! * what happens at one moment has another order: see the module's documentation;
//! * a range, or a key, that lies within rounding of where a track was put;
//! * a queue beside which nothing plays any more starts at once, and not with the next advance;
//! * what a step reports beyond the limit of callbacks.

crate::programs!(swept, bevy_marionette::original);
crate::programs!(planned, bevy_marionette::controller);

use bevy_marionette::controller::PlaybackEvent;
use fastrand::Rng;

/// What happened, in words, by time.
type Story = Vec<(f64, String)>;

fn story(events: &[PlaybackEvent]) -> Story {
    let word = |event: &PlaybackEvent| match event {
        PlaybackEvent::Callback(key) => format!(
            "{:?} {:?} of {} on {:?}",
            key.kind, key.key, key.clip, key.track
        ),
        PlaybackEvent::Started { track, clip, .. } => format!("{clip} starts on {track:?}"),
        PlaybackEvent::Looped { track, .. } => format!("loop on {track:?}"),
        PlaybackEvent::Finished { track, .. } => format!("end on {track:?}"),
        PlaybackEvent::CrossFadeFinished { track, .. } => format!("faded in on {track:?}"),
        other => format!("{:?}", other.track()),
    };
    events
        .iter()
        .map(|event| (event.time(), word(event)))
        .collect()
}

/// Takes out what both tell, at times that differ by rounding. Returns what is left.
fn differences(mut ours: Story, theirs: Story) -> Story {
    let mut left = Story::new();
    for (time, word) in theirs {
        let same = |other: &(f64, String)| other.1 == word && (other.0 - time).abs() < 1e-6;
        match ours.iter().position(same) {
            Some(at) => drop(ours.remove(at)),
            None => left.push((time, format!("swept: {word}"))),
        }
    }
    left.extend(
        ours.into_iter()
            .map(|(time, word)| (time, format!("planned: {word}"))),
    );
    left
}

#[test]
fn both_controllers_play_programs_alike() {
    let count = super::exact::programs();
    let (mut told, mut alike, mut parts, mut shown) = (0, 0, 0, 0);
    'programs: for seed in 0..count {
        let mut random = Rng::with_seed(seed);
        let mut other = random.clone();
        let (mut old_clips, mut new_clips) = (swept::cast(&mut random), planned::cast(&mut other));
        let (mut old, mut new) = (swept::begin(&mut random), planned::begin(&mut other));
        for part in 0..random.usize(2..9) {
            if part == 0 {
                other = random.clone();
            }
            for _ in 0..random.usize(1..4) {
                other = random.clone();
                swept::act(&mut old, &mut old_clips, &mut random);
                planned::act(&mut new, &mut new_clips, &mut other);
                // Both have made the same choices up to here.
                if random.u64(..) != other.u64(..) {
                    continue 'programs;
                }
            }
            let nanos = swept::span(&mut random);
            let (mut old_events, mut new_events) = (Vec::new(), Vec::new());
            let (old_way, _) =
                swept::advance(&mut old, &old_clips, nanos, &mut old_events, || 16_666_667);
            let (new_way, _) =
                planned::advance(&mut new, &new_clips, nanos, &mut new_events, || 16_666_667);
            let [ours, theirs] = [story(&new_events), story(&old_events)];
            told += theirs.len();
            parts += 1;
            let left = differences(ours, theirs);
            let place = |position: f64| (position * 1e6).round();
            let old_state: Vec<_> = old
                .tracks()
                .map(|track| place(track.unwrapped_position()))
                .collect();
            let new_state: Vec<_> = new
                .tracks()
                .map(|track| place(track.unwrapped_position()))
                .collect();
            let apart = old_state.len() != new_state.len()
                || old_state
                    .iter()
                    .zip(&new_state)
                    .any(|(a, b)| (a - b).abs() > 1.0);
            let off = old_way
                .translation
                .distance(new_way.translation)
                .max((old_way.turn - new_way.turn).abs());
            if left.is_empty() && !apart && off < 1e-5 {
                alike += 1;
                continue;
            }
            if shown < 12 {
                shown += 1;
                println!(
                    "program {seed}, part {part}: {left:?}, {off:e}, {old_state:?} {new_state:?}"
                );
            }
            continue 'programs;
        }
    }
    println!("{alike} of {parts} parts alike, {told} events");
    // What differs is in the list above.
    assert!(alike * 100 > parts * 98, "{alike} of {parts}");
}
