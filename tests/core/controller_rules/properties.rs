//! Properties under random input.

use super::support::*;
use bevy_marionette::controller::{
    AnimationController, AnimationTrack, PlaybackEvent, Transition, TransitionCurve,
};
use bevy_marionette::model::{ClipTiming, PlaybackMode};
use proptest::prelude::*;
use std::time::Duration;

fn playback() -> impl Strategy<Value = PlaybackMode> {
    prop_oneof![
        Just(PlaybackMode::Loop),
        Just(PlaybackMode::Once),
        Just(PlaybackMode::PingPong)
    ]
}

/// Clips `c0`, `c1`, … with keys anywhere, both ends included.
fn some_clips() -> impl Strategy<Value = Vec<ClipTiming>> {
    let key = prop_oneof![1 => Just(0.0), 1 => Just(1.0), 6 => 0.0..1.0_f64];
    let one = (0.05..3.0_f64, playback(), prop::collection::vec(key, 0..5));
    prop::collection::vec(one, 1..5).prop_map(|all| {
        let named = |(i, (length, playback, keys)): (usize, (f64, PlaybackMode, Vec<f64>))| {
            let keys: Vec<(f64, &str)> = keys
                .iter()
                .map(|fraction| (fraction * length, "k"))
                .collect();
            clip(&format!("c{i}"), length, playback, &keys)
        };
        all.into_iter().enumerate().map(named).collect()
    })
}

/// A change of plan at a moment.
#[derive(Clone, Debug)]
enum Order {
    Fade(usize, f64),
    FadeInPhase(usize, f64),
    Play(usize),
    Queue(Vec<usize>),
    Speed(usize, f64, f64, f64, bool),
    Weight(usize, f32, f64, f64, bool),
    Enable(usize, bool, f64),
    Seek(usize, f64, f64),
    Reset,
}

fn order() -> impl Strategy<Value = Order> {
    let index = 0..8_usize;
    prop_oneof![
        (index.clone(), 0.0..0.5_f64).prop_map(|(i, t)| Order::Fade(i, t)),
        (index.clone(), 0.0..1.5_f64).prop_map(|(i, t)| Order::FadeInPhase(i, t)),
        index.clone().prop_map(Order::Play),
        prop::collection::vec(0..8_usize, 1..4).prop_map(Order::Queue),
        (
            index.clone(),
            -3.0..3.0_f64,
            -0.2..2.0_f64,
            0.0..2.0_f64,
            any::<bool>()
        )
            .prop_map(|(i, v, s, d, e)| Order::Speed(i, v, s, d, e)),
        (
            index.clone(),
            0.0..1.0_f32,
            -0.2..2.0_f64,
            0.0..2.0_f64,
            any::<bool>()
        )
            .prop_map(|(i, v, s, d, e)| Order::Weight(i, v, s, d, e)),
        (index.clone(), any::<bool>(), -0.2..2.0_f64).prop_map(|(i, v, s)| Order::Enable(i, v, s)),
        (index, -5.0..5.0_f64, -0.2..2.0_f64).prop_map(|(i, v, s)| Order::Seek(i, v, s)),
        Just(Order::Reset),
    ]
}

/// Tracks of the user and orders, each followed by some time.
#[derive(Clone, Debug)]
struct Play {
    clips: Vec<ClipTiming>,
    /// Clip, speed, weight, and whether it is in the sync group.
    tracks: Vec<(usize, f64, f32, bool)>,
    orders: Vec<(Order, f64)>,
    loop_queue: bool,
}

fn play() -> impl Strategy<Value = Play> {
    let tracks = prop::collection::vec(
        (
            0..8_usize,
            -2.5..2.5_f64,
            0.0..1.0_f32,
            prop::bool::weighted(0.7),
        ),
        0..4,
    );
    let orders = prop::collection::vec((order(), 0.001..2.5_f64), 1..8);
    (some_clips(), tracks, orders, any::<bool>()).prop_map(|(clips, tracks, orders, loop_queue)| {
        Play {
            clips,
            tracks,
            orders,
            loop_queue,
        }
    })
}

impl Play {
    fn begin(&self) -> AnimationController {
        let mut controller = AnimationController::playing("c0");
        for (clip, speed, weight, synchronized) in &self.tracks {
            let track = AnimationTrack::new(self.name(*clip))
                .speed(*speed)
                .weight(*weight);
            controller.add_track(if *synchronized { track.sync(1) } else { track });
        }
        controller.queue_mut().set_looping(self.loop_queue);
        controller
    }

    fn name(&self, index: usize) -> &str {
        &self.clips[index % self.clips.len()].name
    }

    fn obey(&self, controller: &mut AnimationController, order: &Order) {
        let now = controller.time();
        let tracks: Vec<_> = controller.tracks().map(AnimationTrack::id).collect();
        let track = |index: usize| tracks[index % tracks.len()];
        match order {
            Order::Fade(clip, seconds) => {
                controller.cross_fade(self.name(*clip), Duration::from_secs_f64(*seconds));
            }
            Order::FadeInPhase(clip, seconds) => {
                controller.play_with(
                    self.name(*clip),
                    Transition::fade(Duration::from_secs_f64(*seconds)).in_phase(),
                );
            }
            Order::Play(clip) => {
                controller.play(self.name(*clip));
            }
            Order::Queue(clips) => {
                controller
                    .queue_mut()
                    .extend(clips.iter().map(|clip| self.name(*clip)));
            }
            Order::Speed(i, value, start, duration, ease) => {
                let transition = if *ease {
                    TransitionCurve::EaseInEaseOut
                } else {
                    TransitionCurve::Linear
                };
                controller.timeline_mut().key_speed(
                    track(*i),
                    *value,
                    now + start,
                    secs(*duration),
                    transition,
                );
            }
            Order::Weight(i, value, start, duration, ease) => {
                let transition = if *ease {
                    TransitionCurve::EaseInEaseOut
                } else {
                    TransitionCurve::Linear
                };
                controller.timeline_mut().key_weight(
                    track(*i),
                    *value,
                    now + start,
                    secs(*duration),
                    transition,
                );
            }
            Order::Enable(i, value, start) => {
                controller
                    .timeline_mut()
                    .key_enabled(track(*i), *value, now + start);
            }
            Order::Seek(i, value, start) => {
                controller
                    .timeline_mut()
                    .key_position(track(*i), *value, now + start);
            }
            Order::Reset => controller.timeline_mut().reset_time(),
        }
    }

    /// The same with round numbers, so that keys, frames and scheduled changes often meet at one moment.
    fn rounded(mut self) -> Self {
        let round = |value: &mut f64, step: f64| *value = (*value / step).round() * step;
        let round_start = |value: &mut f64| *value = (*value / 0.05).round() * 0.05 + 0.025;
        for clip in &mut self.clips {
            round(&mut clip.duration, 0.1);
            clip.duration = clip.duration.max(0.1);
            clip.callbacks
                .iter_mut()
                .for_each(|key| round(&mut key.time, 0.05));
            clip.callbacks
                .iter_mut()
                .for_each(|key| key.time = key.time.min(clip.duration));
        }
        self.tracks
            .iter_mut()
            .for_each(|(_, speed, ..)| round(speed, 0.5));
        for (order, seconds) in &mut self.orders {
            round(seconds, 0.1);
            match order {
                Order::Fade(_, seconds) | Order::FadeInPhase(_, seconds) => round(seconds, 0.05),
                Order::Speed(_, speed, start, duration, _) => {
                    round(speed, 0.5);
                    round_start(start);
                    round(duration, 0.1);
                }
                Order::Weight(_, _, start, duration, _) => {
                    round_start(start);
                    round(duration, 0.1);
                }
                Order::Enable(_, _, start) => round_start(start),
                Order::Seek(_, position, start) => {
                    round(position, 0.05);
                    round_start(start);
                }
                _ => {}
            }
        }
        self
    }

    /// Plays it all, each piece of time cut in a given number of steps of unequal length.
    fn run(&self, cuts: &[u32]) -> (AnimationController, Vec<PlaybackEvent>) {
        let (mut controller, mut events) = (self.begin(), Vec::new());
        // The limit is one of each advance, so in whole pieces of time it would be reached earlier.
        controller.callback_limit = 1_000_000;
        for (i, (order, seconds)) in self.orders.iter().enumerate() {
            self.obey(&mut controller, order);
            // In whole nanoseconds, so that all ways to cut it have the same sum.
            let nanos = (seconds * 1e9).round() as u64;
            let steps = u64::from(cuts[i % cuts.len()]);
            let total = steps * (steps + 1) / 2;
            let until = |step: u64| nanos * (step * (step + 1) / 2) / total;
            for step in 1..=steps {
                let dt = (until(step) - until(step - 1)) as f64 / 1e9;
                events.extend(advance(&mut controller, &self.clips, dt));
            }
        }
        (controller, events)
    }
}

fn cuts() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(1..40_u32, 1..6)
}

/// The same events at the same nanoseconds in the same order, and the same state to the bit.
fn compare(play: &Play, cuts: &[u32]) -> Result<(), TestCaseError> {
    let (whole, expected) = play.run(&[1]);
    let (cut, events) = play.run(cuts);
    prop_assert_eq!(expected, events);
    prop_assert_eq!(whole, cut);
    Ok(())
}

/// Enough to notice, few enough to wait for; `PROPTEST_CASES` asks for more.
fn cases() -> u32 {
    ProptestConfig::default().cases.max(400)
}

#[test]
fn a_fade_in_phase_right_at_the_end_of_a_round_does_not_depend_on_how_time_was_cut() {
    // Four rounds take as long as the order before the last, but a sum of many steps may be a little less.
    let looping = |name: &str, length: f64| clip(name, length, PlaybackMode::Loop, &[]);
    let clips = vec![
        clip("c0", 0.1, PlaybackMode::Once, &[]),
        looping("c1", 6.0 * 0.1),
        looping("c2", 0.9),
    ];
    for next in [0, 2] {
        let (first, again) = (Order::FadeInPhase(1, 0.0), Order::FadeInPhase(next, 0.0));
        let orders = vec![
            (Order::Fade(0, 0.0), 0.4),
            (Order::FadeInPhase(0, 0.0), 0.0),
            (first, 18.0 * 0.1),
            (again, 0.0),
        ];
        let play = Play {
            clips: clips.clone(),
            tracks: Vec::new(),
            orders,
            loop_queue: false,
        };
        for cut in 2..40 {
            compare(&play, &[cut]).unwrap();
        }
    }
}

#[test]
fn more_callbacks_than_fit_into_one_advance_do_not_depend_on_how_time_was_cut() {
    let clips = vec![clip("c0", 0.05, PlaybackMode::Loop, &[(0.0, "k"); 4])];
    let tracks = vec![(0, 0.0, 0.0, true), (0, 0.0, 0.77, true)];
    let orders = vec![
        (Order::Speed(2, 2.42, 0.0, 0.0, false), 0.001),
        (Order::Fade(0, 0.0), 2.36),
    ];
    compare(
        &Play {
            clips,
            tracks,
            orders,
            loop_queue: false,
        },
        &[2],
    )
    .unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cutting_time_changes_neither_the_events_nor_the_state(play in play(), cuts in cuts()) {
        compare(&play, &cuts)?;
    }

    #[test]
    fn cutting_time_at_the_very_keys_changes_nothing_either(play in play(), cuts in cuts()) {
        compare(&play.rounded(), &cuts)?;
    }

    #[test]
    fn a_snapshot_replays_identically(play in play(), at in 0..8_usize) {
        let mut controller = play.begin();
        let at = at.min(play.orders.len());
        for (order, seconds) in &play.orders[..at] {
            play.obey(&mut controller, order);
            advance(&mut controller, &play.clips, *seconds);
        }
        let snapshot = controller.clone();
        let saved = ron::to_string(&snapshot).unwrap();
        let go_on = |controller: &mut AnimationController| {
            let mut events = Vec::new();
            for (order, seconds) in &play.orders[at..] {
                play.obey(controller, order);
                events.extend(advance(controller, &play.clips, *seconds));
            }
            events
        };
        let events = go_on(&mut controller);
        let mut again = AnimationController::default();
        again.restore(&snapshot);
        prop_assert_eq!(&go_on(&mut again), &events);
        prop_assert_eq!(&again, &controller);
        let mut loaded = AnimationController::default();
        loaded.restore(&ron::from_str(&saved).unwrap());
        prop_assert_eq!(&go_on(&mut loaded), &events);
        prop_assert_eq!(&loaded, &controller);
    }

    #[test]
    fn nothing_panics_and_every_layer_is_a_number(
        play in play(),
        speeds in prop::collection::vec(any::<f64>(), 1..4),
        dts in prop::collection::vec(any::<f64>(), 1..8),
    ) {
        let mut controller = play.begin();
        for (i, dt) in dts.iter().enumerate() {
            let (order, _) = &play.orders[i % play.orders.len()];
            play.obey(&mut controller, order);
            controller.tracks_mut().zip(&speeds).for_each(|(track, speed)| track.speed = *speed);
            let mut out = Vec::new();
            let refused = controller.advance(dt.abs(), &play.clips, &mut out).is_err();
            prop_assert_eq!(refused, !dt.is_finite());
            for layer in controller.layers(&play.clips) {
                let length = play.clips[layer.clip].duration;
                prop_assert!((0.0..=length).contains(&layer.time) && layer.weight.is_finite());
            }
        }
    }
}
