//! Ranges of the clips of a blend space: inside of one is where its clip is in it, while the clip weighs.

use super::{steps, support::*};
use bevy_marionette::controller::{
    AnimationController, AnimationTrack, CallbackKind, PlaybackEvent, Transition,
};
use bevy_marionette::model::{BlendPoint, BlendSpace};
use fastrand::Rng;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// `+name` and `-name` for begins and ends, each with its time and weight.
fn story(events: &[PlaybackEvent]) -> String {
    let word = |callback: &bevy_marionette::controller::FiredCallback| {
        let sign = if callback.kind == CallbackKind::Begin {
            "+"
        } else {
            "-"
        };
        format!(
            "{sign}{} {:.4} {:.2}",
            callback.name, callback.time, callback.weight
        )
    };
    let ranges = callbacks(events).filter(|callback| callback.kind != CallbackKind::Key);
    ranges.map(word).collect::<Vec<_>>().join(", ")
}

/// A walk with a range from 0.25 to 0.5 s.
fn walk(smoothing: f64) -> (Cast, AnimationController) {
    let mut cast = locomotion();
    let points = [("idle", 0.0), ("walk", 1.5), ("jog", 3.0)];
    let space = BlendSpace::line("locomotion", points)
        .unwrap()
        .smoothed(smoothing)
        .unwrap();
    cast = Cast::new(cast.clips, vec![space]);
    cast.clips[1].add_range(0.25, 0.5, "contact", ());
    (cast, AnimationController::default())
}

#[test]
fn a_range_begins_and_ends_with_its_place_and_with_the_weight_of_its_clip() {
    let (cast, mut controller) = walk(0.0);
    let id = controller.add_track(AnimationTrack::blend_space("locomotion").at(1.5));
    assert_eq!(
        story(&cast.advance(&mut controller, 1.0)),
        "+contact 0.2500 1.00, -contact 0.5000 1.00"
    );
    assert_eq!(
        story(&cast.advance(&mut controller, 0.375)),
        "+contact 1.2500 1.00"
    );
    // Without weight, it is over.
    controller.track_mut(id).unwrap().set_parameters(0.0);
    assert_eq!(
        story(&cast.advance(&mut controller, 0.0)),
        "-contact 1.3750 0.00"
    );
    assert!(controller.range("contact").is_none());
    controller.track_mut(id).unwrap().set_parameters(0.75);
    assert_eq!(
        story(&cast.advance(&mut controller, 0.0)),
        "+contact 1.3750 0.50"
    );
    let inside = controller.range("contact").unwrap();
    assert_eq!((inside.clip, inside.track), ("walk", id));
    assert_near(inside.progress, 0.5, 1e-9);
    // It is saved with the rest.
    let mut saved: AnimationController =
        ron::from_str(&ron::to_string(&controller).unwrap()).unwrap();
    for controller in [&mut controller, &mut saved] {
        // The cycle takes 1.6 s by now.
        assert_eq!(
            story(&cast.advance(controller, 0.25)),
            "-contact 1.5750 0.50"
        );
    }
    controller.track_mut(id).unwrap().seek(0.3);
    assert_eq!(
        story(&cast.advance(&mut controller, 0.0)),
        "+contact 1.6250 0.50"
    );
    controller.remove_track(id);
    assert_eq!(
        story(&cast.advance(&mut controller, 0.5)),
        "-contact 1.6250 0.00"
    );
}

#[test]
fn a_clip_that_comes_in_by_smoothing_brings_its_range_at_that_moment() {
    let (cast, mut controller) = walk(2.0);
    let id = controller.add_track(
        AnimationTrack::blend_space("locomotion")
            .at(0.0)
            .starting_at(0.3),
    );
    assert_eq!(story(&cast.advance(&mut controller, 0.1)), "");
    controller.timeline_mut().key_parameters(id, 0.15, 0.125);
    // At 1.5 per second, it is there after 0.1 s.
    assert_eq!(
        story(&cast.advance(&mut controller, 0.2)),
        "+contact 0.1250 0.00"
    );
    controller.track_mut(id).unwrap().set_parameters(0.0);
    assert_eq!(
        story(&cast.advance(&mut controller, 0.2)),
        "-contact 0.4000 0.00"
    );
    // A threshold keeps faint ones out.
    controller.callback_threshold = 0.3;
    controller.track_mut(id).unwrap().set_parameters(1.5);
    let events = cast.advance(&mut controller, 3.0);
    let begins: Vec<_> = callbacks(&events)
        .filter(|callback| callback.kind == CallbackKind::Begin)
        .collect();
    assert!(begins.len() > 1 && begins.iter().all(|callback| callback.weight >= 0.3));
}

#[test]
fn added_ranges_are_those_of_the_clip_or_of_the_space() {
    let (cast, mut controller) = walk(0.0);
    controller.add_track(AnimationTrack::blend_space("locomotion").at(0.75));
    controller.add_callback_range("idle", 1.0, 2.0, "still", ());
    controller.add_callback_range("locomotion", 0.5, 0.75, "half", ());
    let cycle = cast.spaces[0].cycle_length(0.75);
    let events = cast.advance(&mut controller, cycle * 0.999);
    let at = |share: f64| share * cycle;
    let expected = [
        ("still", CallbackKind::Begin, at(0.25), 0.5),
        ("contact", CallbackKind::Begin, at(0.25), 0.5),
        ("half", CallbackKind::Begin, at(0.5), 1.0),
        ("still", CallbackKind::End, at(0.5), 0.5),
        ("contact", CallbackKind::End, at(0.5), 0.5),
        ("half", CallbackKind::End, at(0.75), 1.0),
    ];
    for (name, kind, time, weight) in expected {
        let mut ours =
            callbacks(&events).filter(|callback| &*callback.name == name && callback.kind == kind);
        let found = ours
            .next()
            .unwrap_or_else(|| panic!("{name} {kind:?}: {}", story(&events)));
        assert_near(found.time, time, 1e-9);
        assert_near(found.weight.into(), weight, 1e-6);
        assert!(ours.next().is_none());
    }
}

fn with_ranges(random: &mut Rng) -> Cast {
    let mut cast = steps::cast(random);
    for clip in &mut cast.clips {
        for range in 0..random.usize(..3) {
            let [a, b] = [0; 2].map(|_| random.f64() * clip.duration);
            clip.add_range(a.min(b), a.max(b), ["one", "two"][range], ());
        }
    }
    cast
}

/// The ranges that have begun: track, clip and key, with their names.
type Open = HashMap<(String, usize, String), String>;

fn hear(open: &mut Open, events: &[PlaybackEvent]) {
    for fired in callbacks(events) {
        let range = (
            format!("{:?}", fired.track),
            fired.clip,
            format!("{:?}", fired.key),
        );
        match fired.kind {
            CallbackKind::Begin => assert_eq!(
                open.insert(range, fired.name.to_string()),
                None,
                "{fired:?}"
            ),
            CallbackKind::End => assert_eq!(
                open.remove(&range),
                Some(fired.name.to_string()),
                "{fired:?}"
            ),
            CallbackKind::Key => {}
        }
    }
}

#[test]
fn what_is_open_is_what_clips_that_weigh_are_inside_of() {
    let mut random = Rng::with_seed(11);
    let (mut inside, mut outside) = (0, 0);
    for round in 0..250 {
        let cast = with_ranges(&mut random);
        let mut controller = AnimationController::default();
        let speed = [1.0, -0.8, 2.5][random.usize(..3)];
        let point =
            |random: &mut Rng| BlendPoint::new(random.f64() * 6.0 - 1.0, random.f64() * 5.0 - 1.0);
        let track = AnimationTrack::blend_space("s")
            .at(point(&mut random))
            .speed(speed)
            .starting_at(random.f64());
        let id = controller.add_track(track);
        let mut open = Open::new();
        for _ in 0..60 {
            if random.u8(..6) == 0 {
                controller
                    .track_mut(id)
                    .unwrap()
                    .set_parameters(point(&mut random));
            }
            hear(
                &mut open,
                &cast.advance(
                    &mut controller,
                    random.f64() * [0.05, 0.4][random.usize(..2)],
                ),
            );
            let layers: Vec<_> = controller.layers(&cast).collect();
            for (index, clip) in cast.clips.iter().enumerate() {
                for (key, callback) in clip.callbacks.iter().enumerate() {
                    let Some(until) = callback.until else {
                        continue;
                    };
                    let ours = open
                        .keys()
                        .any(|(_, of, at)| *of == index && *at == format!("Clip({key})"));
                    let layer = layers.iter().find(|layer| layer.clip == index);
                    let near = |place: f64, time: f64| {
                        let apart = (place - time).abs();
                        apart < 1e-6 || (apart - clip.duration).abs() < 1e-6
                    };
                    match layer {
                        // Too near to tell, by place or by weight.
                        Some(layer) if layer.weight < 1e-6 => {}
                        Some(layer)
                            if near(layer.time, callback.time) || near(layer.time, until) => {}
                        _ => {
                            let is_in = layer.is_some_and(|layer| {
                                callback.time < layer.time && layer.time < until
                            });
                            assert_eq!(
                                ours, is_in,
                                "round {round}: {key} of {index}, {layer:?}, {callback:?}"
                            );
                            (inside, outside) =
                                (inside + usize::from(is_in), outside + usize::from(!is_in));
                        }
                    }
                }
            }
        }
    }
    assert!(inside > 2000 && outside > 4000, "{inside} {outside}");
}

/// Random operations at moments that are the same however time is cut.
fn disturb(controller: &mut AnimationController, cast: &mut Cast, random: &mut Rng) {
    let name = ["s", "s", "c0", "c1"][random.usize(..4)];
    let ids: Vec<_> = controller.tracks().map(AnimationTrack::id).collect();
    let id = ids.get(random.usize(..ids.len().max(1))).copied();
    let place = f64::from(random.u32(..16)) / 8.0;
    let point = BlendPoint::new(random.f64() * 6.0 - 1.0, random.f64() * 5.0 - 1.0);
    let span = Duration::from_secs_f64(f64::from(random.u32(..8)) / 16.0);
    let now = controller.time();
    match random.u8(..20) {
        0 => drop(controller.play(name)),
        1 => drop(controller.cross_fade(name, span)),
        2 => drop(controller.play_with(name, Transition::switch(span))),
        3 => drop(controller.queue_mut().push(name)),
        4 => drop(id.map(|id| controller.remove_track(id))),
        5 => drop(controller.add_track(AnimationTrack::new(name).speed(1.5).at(point))),
        6 => controller.tracks_mut().for_each(|track| track.seek(place)),
        7 => controller.tracks_mut().for_each(|track| track.scrub(place)),
        8 => controller
            .tracks_mut()
            .for_each(|track| track.speed = -track.speed),
        9 => controller
            .tracks_mut()
            .for_each(|track| track.enabled = !track.enabled),
        10 => controller
            .tracks_mut()
            .for_each(|track| track.paused = !track.paused),
        11 => drop(id.map(|id| controller.timeline_mut().fade_out(id, span))),
        12 => drop(id.and_then(|id| {
            controller
                .timeline_mut()
                .key_parameters(id, point, now + 0.1875)
        })),
        13 => drop(id.and_then(|id| {
            controller
                .timeline_mut()
                .key_enabled(id, place < 1.0, now + 0.3125)
        })),
        14 => controller.fade_out(Duration::ZERO),
        15 => drop(controller.add_callback_range(name, place, place + 0.25, "added", ())),
        16 => cast.clips[0].callbacks.retain(|key| key.until.is_none()),
        _ => {
            controller.set_parameters(point);
            controller
                .tracks_mut()
                .for_each(|track| track.set_parameters(point));
        }
    }
}

#[test]
fn begins_and_ends_come_in_pairs_whatever_is_done_and_however_time_is_cut() {
    let mut pairs = 0;
    for seed in 0..500 {
        let run = |cut: u32| {
            let mut random = Rng::with_seed(seed);
            let mut cast = with_ranges(&mut random);
            let mut controller = AnimationController::playing("s");
            let (mut open, mut heard) = (Open::new(), BTreeMap::<String, Vec<f64>>::new());
            for _ in 0..14 {
                disturb(&mut controller, &mut cast, &mut random);
                let seconds = f64::from(random.u32(1..24)) / 16.0;
                for _ in 0..cut {
                    let events = cast.advance(&mut controller, seconds / f64::from(cut));
                    hear(&mut open, &events);
                    for fired in callbacks(&events).filter(|fired| fired.kind != CallbackKind::Key)
                    {
                        let what = format!(
                            "{:?} {} {:?} {:?}",
                            fired.track, fired.name, fired.key, fired.kind
                        );
                        heard.entry(what).or_default().push(fired.time);
                    }
                    assert!(controller.ranges().count() <= open.len());
                }
            }
            let ids: Vec<_> = controller.tracks().map(AnimationTrack::id).collect();
            controller
                .queue_mut()
                .clear()
                .set_fallback(Default::default());
            ids.into_iter()
                .for_each(|id| drop(controller.remove_track(id)));
            hear(&mut open, &cast.advance(&mut controller, 0.0));
            assert!(open.is_empty(), "seed {seed}: {open:?}");
            heard
        };
        let whole = run(1);
        pairs += whole.values().map(Vec::len).sum::<usize>() / 2;
        for cut in [2, 8] {
            let other = run(cut);
            let count = |heard: &BTreeMap<String, Vec<f64>>| {
                heard
                    .iter()
                    .map(|(what, times)| (what.clone(), times.len()))
                    .collect::<Vec<_>>()
            };
            assert_eq!(count(&whole), count(&other), "seed {seed}, {cut} steps");
            for (a, b) in whole.values().flatten().zip(other.values().flatten()) {
                assert_near(*a, *b, 1e-6);
            }
        }
    }
    assert!(pairs > 2000, "{pairs}");
}
