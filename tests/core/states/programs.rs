//! Random machines and random wishes: the controller, however time is divided into steps, against the plain model.

use super::model::{Clip, Model};
use bevy_marionette::{
    controller::{AnimationController, AnimationTrack, Go, PlaybackEvent},
    internals::model::StateLayers,
    model::{CallbackData, ClipTiming, Exit, Leader, PlaybackMode, Speed, State, StateLayer, Then},
};
use fastrand::Rng;
use std::{collections::BTreeMap, sync::Arc};

/// Times are whole numbers of these nanoseconds, which can be halved for each time that a speed is set.
const UNIT: u64 = 1 << 24;

/// How many programs are played: so many, or as many as `MARIONETTE_STATES` says.
fn programs(count: u64) -> u64 {
    let asked = std::env::var("MARIONETTE_STATES").ok();
    asked.and_then(|asked| asked.parse().ok()).unwrap_or(count)
}

/// How long clips and advances are.
#[derive(Clone, Copy, PartialEq)]
enum Scale {
    /// Clips of up to a second.
    Usual,
    /// The same, and now and then an advance of hours.
    Hours,
    /// Clips of up to two milliseconds.
    Short,
}

impl Scale {
    /// The unit of all times.
    fn unit(self) -> u64 {
        match self {
            Self::Short => UNIT >> 8,
            _ => UNIT,
        }
    }

    /// The length of an advance: now and then a long one, which takes many changes.
    fn span(self, random: &mut Rng, long: u64) -> u64 {
        let most = match (self, random.u8(..16)) {
            (Self::Hours, 0) => 500_000,
            (_, 0) => long,
            _ => 60,
        };
        random.u64(1..most) * self.unit()
    }

    /// The longest step of a span that is cut.
    fn step(self, span: u64) -> u64 {
        match self {
            Self::Short => 400_000,
            // An hour in frames takes too long here.
            _ => 80_000_000.max(span >> 9),
        }
    }
}

fn secs(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

pub fn random_clips(random: &mut Rng) -> BTreeMap<String, Clip> {
    clips(random, UNIT)
}

fn clips(random: &mut Rng, unit: u64) -> BTreeMap<String, Clip> {
    let mut clip = |at: usize| {
        let length = random.u64(4..40) * unit;
        let key = random.bool().then(|| random.u64(1..length / unit) * unit);
        let loops = random.bool();
        (format!("clip{at}"), Clip { length, key, loops })
    };
    (0..5).map(&mut clip).collect()
}

pub fn random_states(random: &mut Rng) -> BTreeMap<String, State> {
    let count = random.usize(2..8);
    let names: Vec<String> = (0..count).map(|at| format!("s{at}")).collect();
    let start = random.usize(..count);
    let mut state = |at: usize| {
        let mut state = State {
            plays: vec![format!("clip{}", random.usize(..5))],
            start: at == start,
            exit: match random.u32(..8) {
                0 | 1 => Exit::Key("key".into()),
                2 => Exit::End,
                3 => Exit::Never,
                _ => Exit::Anytime,
            },
            then: match random.u32(..6) {
                0 | 1 => Some(Then::State(names[random.usize(..count)].clone())),
                2 => Some(Then::Back),
                _ => None,
            },
            ..State::default()
        };
        state.speed = match random.u32(..4) {
            0 => Speed::Named("pace".into()),
            1 => Speed::Named("rate".into()),
            2 => Speed::Fixed([2.0, 4.0][random.usize(..2)]),
            _ => Speed::default(),
        };
        match random.u32(..4) {
            0 => state.switch = Some(secs(random.u64(..20) * UNIT)),
            1 => state.fade = Some(secs(random.u64(..20) * UNIT)),
            _ => {}
        }
        state = match random.u32(..6) {
            0 => state,
            1 => state.from_any(),
            _ => {
                let from: Vec<&str> = names
                    .iter()
                    .filter(|_| random.u32(..3) == 0)
                    .map(String::as_str)
                    .collect();
                state.from(from)
            }
        };
        (names[at].clone(), state)
    };
    (0..count).map(&mut state).collect()
}

/// A layer that follows the whole body, and maybe another that follows it.
fn random_layers(
    random: &mut Rng,
    states: &BTreeMap<String, State>,
) -> BTreeMap<String, StateLayer> {
    let mut layer = |name: &str, sync: Leader| {
        let mut plays = BTreeMap::new();
        for name in states.keys() {
            if random.u32(..3) > 0 {
                let clip = format!("clip{}", random.usize(..5));
                plays.insert(name.clone(), State::playing(clip));
            }
        }
        let layer = StateLayer {
            mask: name.into(),
            sync: Some(sync),
            states: plays,
        };
        (name.to_owned(), layer)
    };
    [
        layer("arms", Leader::Body),
        layer("hands", Leader::Layer("arms".into())),
    ]
    .into()
}

/// What layers that follow the whole body play is what they should, at the same fraction of its length.
fn check_layers(
    controller: &AnimationController,
    layers: &BTreeMap<String, StateLayer>,
    state: &State,
    clips: &BTreeMap<String, Clip>,
    name: &str,
) {
    let body = controller
        .tracks()
        .filter(|track| track.mask.is_none())
        .last();
    let body = body.expect("something plays");
    assert_eq!([body.clip()], *state.plays);
    for (layer, StateLayer { states, .. }) in layers {
        assert_eq!(controller.states().layer(layer).current(), Some(name));
        let on_layer = |track: &&AnimationTrack| track.mask.as_deref() == Some(&**layer);
        let track = controller.tracks().filter(on_layer).last();
        let Some(state) = states.get(name) else {
            continue;
        };
        let track = track.expect("it plays on the layer");
        assert_eq!([track.clip()], *state.plays);
        let (ours, theirs) = (&clips[track.clip()], &clips[body.clip()]);
        let place = body.unwrapped_position() * (ours.length as f64 / theirs.length as f64);
        let place = if ours.loops {
            place
        } else {
            place.min(secs(ours.length))
        };
        assert!((track.unwrapped_position() - place).abs() < 1e-9);
    }
}

pub fn timings(clips: &BTreeMap<String, Clip>) -> Vec<ClipTiming> {
    let timing = |(name, clip): (&String, &Clip)| {
        let mut timing = ClipTiming::new(name.as_str(), secs(clip.length));
        if !clip.loops {
            timing.playback = PlaybackMode::Once;
        }
        if let Some(key) = clip.key {
            timing.add_callback(secs(key), "key", CallbackData::default());
        }
        timing
    };
    clips.iter().map(timing).collect()
}

/// Plays a program. Returns how many states were entered.
fn play(seed: u64, scale: Scale) -> usize {
    let mut random = Rng::with_seed(seed);
    let clips = clips(&mut random, scale.unit());
    let states = random_states(&mut random);
    let table = timings(&clips);
    let layers = random_layers(&mut random, &states);
    let machines = Arc::new(StateLayers::new(&states, &layers).unwrap());
    let mut model = Model::new(&states, &clips);
    let mut whole = AnimationController::default();
    whole.set_states(&machines, seed);
    // Long advances report all.
    whole.callback_limit = usize::MAX;
    let (mut frames, mut cuts) = (whole.clone(), whole.clone());
    let mut entered: [Vec<(u64, String)>; 3] = Default::default();
    let (mut now, mut log) = (0, Vec::new());
    for _ in 0..random.usize(2..12) {
        for _ in 0..random.usize(..3) {
            let to = format!("s{}", random.usize(..states.len()));
            let expected = model.go(&to, now);
            for controller in [&mut whole, &mut frames, &mut cuts] {
                let is_known = controller.can_go(&to);
                let answer = controller.go(&to);
                let is_there = answer.as_ref().ok().map(|go| *go != Go::Waits);
                log.push(format!("{now}: {to} {answer:?}"));
                assert_eq!(is_there, expected, "{seed}: {log:#?}");
                assert_eq!(is_known, answer.is_ok());
            }
        }
        if random.bool() {
            let (name, speed) = (
                ["pace", "rate"][random.usize(..2)],
                [0, 1, 2, 4][random.usize(..4)],
            );
            log.push(format!("{now}: {name} {speed}"));
            let is_known = machines.speeds().any(|known| known == name);
            for controller in [&mut whole, &mut frames, &mut cuts] {
                let set = controller.set_state_speed(name, speed as f64);
                assert_eq!(set.is_ok(), is_known);
            }
            if is_known {
                model.set_speed(name, speed, now);
            }
        }
        let span = scale.span(&mut random, 1_000);
        model.advance(now + span);
        let mut steps = Rng::with_seed(random.u64(..));
        let mut cut =
            |controller: &mut AnimationController, at: usize, most: &mut dyn FnMut() -> u64| {
                let (mut left, mut events) = (span, Vec::new());
                while left > 0 {
                    let step = most().clamp(1, left);
                    controller.advance(secs(step), &table, &mut events).unwrap();
                    left -= step;
                }
                for event in events {
                    if let PlaybackEvent::StateEntered { state, time, .. } = event {
                        entered[at].push(((time * 1e9).round() as u64, state.to_string()));
                    }
                }
            };
        cut(&mut whole, 0, &mut || span);
        cut(&mut frames, 1, &mut || scale.step(span) / 5 + 1);
        cut(&mut cuts, 2, &mut || steps.u64(1..scale.step(span)));
        now += span;
        for (at, controller) in [&whole, &frames, &cuts].into_iter().enumerate() {
            let about =
                || format!("{seed}, cut {at}, until {now}: {states:#?} {clips:#?} {log:#?}");
            assert_eq!(controller.state(), Some(&*model.state), "{}", about());
            let destination = model.destination.as_ref().unwrap_or(&model.state);
            assert_eq!(
                controller.states().destination(),
                Some(&**destination),
                "{}",
                about()
            );
            assert_eq!(entered[at], model.entered, "{}", about());
            let seconds = controller.states().seconds();
            assert_eq!(seconds, Some(secs(now - model.since)), "{}", about());
        }
        let tracks = |controller: &AnimationController| {
            let track = |track: &AnimationTrack| {
                (
                    track.clip().to_owned(),
                    track.unwrapped_position(),
                    track.weight,
                )
            };
            controller.tracks().map(track).collect::<Vec<_>>()
        };
        let tracks = [&whole, &frames, &cuts].map(tracks);
        assert!(
            tracks.iter().all(|others| *others == tracks[0]),
            "{seed}: {tracks:#?} {log:#?}"
        );
        check_layers(&cuts, &layers, &states[&model.state], &clips, &model.state);
        if random.u32(..4) == 0 {
            cuts = ron::from_str(&ron::to_string(&cuts).unwrap()).unwrap();
            cuts.set_states(&machines, 0);
        }
    }
    model.entered.len()
}

#[test]
fn states_are_entered_as_in_a_plain_model_however_time_is_divided() {
    for (scale, count) in [
        (Scale::Usual, 2_000),
        (Scale::Hours, 40),
        (Scale::Short, 500),
    ] {
        let count = programs(count);
        let entered: usize = (0..count).map(|seed| play(seed, scale)).sum();
        // The programs do something.
        assert!(entered as u64 > count * 4, "{entered}");
    }
}

/// Plays a program on the body and on layers with machines of their own, at once and in steps.
fn play_on_layers(seed: u64, scale: Scale) {
    let mut random = Rng::with_seed(seed);
    let clips = clips(&mut random, scale.unit());
    let states = ["", "arms", "face"].map(|layer| (layer, random_states(&mut random)));
    let over = states[1..].iter().map(|(layer, states)| {
        let layer_of = StateLayer {
            mask: (*layer).into(),
            sync: None,
            states: states.clone(),
        };
        ((*layer).to_owned(), layer_of)
    });
    let machines = Arc::new(StateLayers::new(&states[0].1, &over.collect()).unwrap());
    let mut models =
        (states.each_ref()).map(|(layer, states)| (*layer, Model::new(states, &clips)));
    let mut whole = AnimationController::default();
    whole.set_states(&machines, seed);
    whole.callback_limit = usize::MAX;
    let mut steps = whole.clone();
    let (table, mut now, mut log) = (timings(&clips), 0, Vec::new());
    let mut entered: [BTreeMap<String, Vec<(u64, String)>>; 2] = Default::default();
    for _ in 0..random.usize(2..12) {
        for _ in 0..random.usize(..4) {
            let (layer, model) = &mut models[random.usize(..3)];
            let to = format!("s{}", random.usize(..8));
            let is_state = machines
                .layers()
                .iter()
                .any(|machine| *machine.name == **layer && machine.machine.index_of(&to).is_some());
            if !is_state {
                continue;
            }
            let expected = model.go(&to, now);
            log.push(format!("{now}: {layer}/{to} {expected:?}"));
            for controller in [&mut whole, &mut steps] {
                let answer = controller.go((*layer, &to));
                let is_there = answer.as_ref().ok().map(|go| *go != Go::Waits);
                assert_eq!(is_there, expected, "{seed}: {log:#?}");
            }
        }
        let (name, speed) = (
            ["pace", "rate"][random.usize(..2)],
            [0, 1, 2, 4][random.usize(..4)],
        );
        if machines.speeds().any(|known| known == name) {
            log.push(format!("{now}: {name} {speed}"));
            for controller in [&mut whole, &mut steps] {
                controller.set_state_speed(name, speed as f64).unwrap();
            }
            (models.iter_mut()).for_each(|(_, model)| model.set_speed(name, speed, now));
        }
        let span = scale.span(&mut random, 300);
        let mut left = [span, span];
        for (at, controller) in [&mut whole, &mut steps].into_iter().enumerate() {
            let mut events = Vec::new();
            while left[at] > 0 {
                let step = [span, random.u64(1..scale.step(span))][at].min(left[at]);
                controller.advance(secs(step), &table, &mut events).unwrap();
                left[at] -= step;
            }
            for event in events {
                if let PlaybackEvent::StateEntered {
                    layer, state, time, ..
                } = event
                {
                    let layer = layer.map_or(String::new(), |layer| layer.to_string());
                    let time = (time * 1e9).round() as u64;
                    let entered = entered[at].entry(layer).or_default();
                    entered.push((time, state.to_string()));
                }
            }
        }
        now += span;
        for (layer, model) in &mut models {
            model.advance(now);
            for (at, controller) in [&whole, &steps].into_iter().enumerate() {
                let about = || {
                    format!("{seed}, {at}, `{layer}` until {now}: {states:#?} {clips:#?} {log:#?}")
                };
                assert_eq!(entered[at][*layer], model.entered, "{}", about());
                let run = controller.states().layer(layer);
                let destination = model.destination.as_ref().unwrap_or(&model.state);
                assert_eq!(run.current(), Some(&*model.state), "{}", about());
                assert_eq!(run.destination(), Some(&**destination), "{}", about());
                assert_eq!(run.seconds(), Some(secs(now - model.since)), "{}", about());
            }
        }
        assert!(whole.tracks().eq(steps.tracks()), "{seed}: {log:#?}");
    }
}

#[test]
fn layers_go_as_in_a_plain_model_however_time_is_divided() {
    for (scale, count) in [
        (Scale::Usual, 2_000),
        (Scale::Hours, 40),
        (Scale::Short, 500),
    ] {
        (0..programs(count)).for_each(|seed| play_on_layers(seed, scale));
    }
}
