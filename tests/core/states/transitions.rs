//! Transitions of the body and of layers, in poses: from what is shown to what will be, along the fade, whatever they interrupt.

use super::{layers::layers, parse};
use bevy_marionette::{
    controller::{AnimationController, Clips, PlaybackEvent},
    internals::{
        model::{MorphFrames, RootPath, StateLayers},
        pose::{Evaluate, MorphScratch, Scratch},
    },
    model::{
        ClipFrames, ClipTiming, Joint, JointTransform, Morphs, RootDelta, SkeletalClip, Skeleton,
    },
};
use fastrand::Rng;
use glam::{Affine3A, DVec3, Quat, Vec3};
use std::{fmt::Write, sync::Arc};

const JOINTS: usize = 4;
const FRAME: f64 = 1.0 / 60.0;

/// Joints that are moved along x, and as many morph targets.
fn skeleton() -> Skeleton {
    let joint = |at: usize| Joint {
        name: format!("j{at}").into(),
        parent: None,
        rest: JointTransform::IDENTITY,
        inverse_bind: Affine3A::IDENTITY,
    };
    let morphs = Morphs::new((0..JOINTS).map(|at| (format!("m{at}").into(), 0.0)));
    Skeleton::new((0..JOINTS).map(joint).collect())
        .unwrap()
        .with_morphs(morphs)
}

/// A clip that holds some joints and morph targets at places, and turns the joints by as many radians.
fn still(skeleton: &Skeleton, name: &str, places: [Option<f32>; JOINTS]) -> SkeletalClip {
    let animated: Vec<bool> = places.iter().map(Option::is_some).collect();
    let places = places.map(Option::unwrap_or_default);
    let pose = |x: &f32| JointTransform::new(Vec3::X * *x, Quat::from_rotation_x(*x));
    let frames = ClipFrames {
        joints: skeleton.names().clone(),
        animated: animated.clone(),
        transforms: places.iter().chain(&places).map(pose).collect(),
    };
    let morphs = MorphFrames {
        names: skeleton.morphs().names().into(),
        animated,
        weights: [places, places].concat(),
        times: Vec::new(),
    };
    let clip = SkeletalClip::new(ClipTiming::new(name, 1.0), &frames).unwrap();
    let mut clip = clip.with_morphs(&morphs).unwrap();
    // It carries the character as fast as its first joint is far away, so both are blended by the same rules.
    let carried = RootDelta::new(DVec3::X * f64::from(places[0]), 0.0);
    clip.set_root_path(RootPath::steady(1.0, carried).map(Arc::new));
    clip
}

struct Table(Vec<SkeletalClip>);

impl Clips for Table {
    fn index_of(&self, name: &str) -> Option<usize> {
        let mut clips = self.0.iter();
        clips.position(|clip| &*clip.timing.name == name)
    }

    fn timing(&self, index: usize) -> Option<&ClipTiming> {
        Some(&self.0.get(index)?.timing)
    }

    fn is_additive(&self, index: usize) -> bool {
        self.0[index].additive
    }

    fn root_path(&self, index: usize) -> Option<&RootPath> {
        self.0[index].root_path().map(|path| &**path)
    }

    fn reaches_root(&self, index: usize) -> bool {
        self.0[index].animates(0)
    }

    fn root_mask(&self, _: &str) -> f32 {
        1.0
    }
}

struct Scene {
    skeleton: Skeleton,
    clips: Table,
    controller: AnimationController,
    events: Vec<PlaybackEvent>,
    /// How far the clips carried the character in the last step.
    carried: f32,
}

impl Scene {
    fn new(skeleton: Skeleton, clips: Vec<SkeletalClip>, body: &str, over: &str) -> Self {
        let states = StateLayers::new(&parse(body), &layers(over)).unwrap();
        let mut controller = AnimationController::default();
        controller.set_states(&Arc::new(states), 0);
        let (clips, events) = (Table(clips), Vec::new());
        Self {
            skeleton,
            clips,
            controller,
            events,
            carried: 0.0,
        }
    }

    fn play(&mut self, seconds: f64) -> [f32; JOINTS] {
        let carried = (self.controller)
            .advance_with_root_motion(seconds, &self.clips, &mut self.events)
            .unwrap();
        self.carried = carried.translation().x;
        self.places()
    }

    /// Where the joints are, and the morph targets with them.
    fn places(&self) -> [f32; JOINTS] {
        let layers = self.controller.layers(&self.clips);
        let layers: Vec<_> = layers
            .map(|layer| layer.with(&self.clips.0[layer.clip], None))
            .collect();
        let evaluate = Evaluate::new(&self.skeleton, &layers);
        let (mut scratch, mut morphs) = (Scratch::default(), MorphScratch::default());
        evaluate.run(&mut scratch);
        let weights = evaluate.run_morphs(&mut morphs);
        let places = [0, 1, 2, 3].map(|at| scratch.joint(at).unwrap().translation.x);
        let weights = weights.map_or([0.0; JOINTS], |weights| weights.try_into().unwrap());
        for (place, weight) in places.into_iter().zip(weights) {
            assert!((place - weight).abs() < 1e-5, "{places:?} {weights:?}");
        }
        places
    }

    /// Plays frames in which all places go straight to others, and arrive there after some seconds.
    #[track_caller]
    fn assert_goes_to(&mut self, to: [f32; JOINTS], fade: f64, frames: usize, about: &str) {
        let from = self.places();
        let mut before = from;
        for frame in 1..=frames {
            let part = (frame as f64 * FRAME / fade).min(1.0) as f32;
            let places = self.play(FRAME);
            let mean = (before[0] + places[0]) / 2.0;
            let way = (self.carried - mean * FRAME as f32).abs();
            // The fade may end within the frame.
            let most = (before[0] - places[0]).abs() * FRAME as f32 / 2.0 + 1e-5;
            assert!(
                way <= most,
                "{about}\nframe {frame}: carried by {}",
                self.carried
            );
            before = places;
            for at in 0..JOINTS {
                let expected = from[at] + (to[at] - from[at]) * part;
                assert!(
                    (places[at] - expected).abs() < 2e-4,
                    "{about}\njoint {at} in frame {frame}: {} for {expected}, from {from:?} to {to:?}",
                    places[at]
                );
            }
        }
    }
}

const POSES: &str = r#"{"idle": (plays: "idle", start: true)}"#;
const OVER: &str = r#"{"upper": (mask: "all", states: {
    "free": (start: true, from: Any, fade: 0.5),
    "lean": (plays: "lean", from: Any, fade: 0.5),
    "wave": (plays: "wave", from: Any, fade: 0.5),
    "duck": (plays: "duck", from: Any, switch: 0.5),
})}"#;

fn scene(additive: bool) -> Scene {
    let skeleton = skeleton();
    let clip = |name, places| still(&skeleton, name, places);
    let mut clips = vec![
        clip("idle", [Some(0.1), None, None, None]),
        clip("lean", [None, None, Some(0.7), None]),
        clip("wave", [None, Some(1.0), None, None]),
        clip("duck", [None, None, Some(1.0), None]),
    ];
    for clip in &mut clips[1..] {
        clip.additive = additive;
    }
    let mut scene = Scene::new(skeleton, clips, POSES, OVER);
    scene.play(0.5);
    scene
}

#[test]
fn what_the_next_clip_does_not_move_goes_back_along_the_fade() {
    for additive in [false, true] {
        let mut scene = scene(additive);
        let states = [
            ("lean", [0.1, 0.0, 0.7, 0.0]),
            ("wave", [0.1, 1.0, 0.0, 0.0]),
            ("duck", [0.1, 0.0, 1.0, 0.0]),
            ("lean", [0.1, 0.0, 0.7, 0.0]),
            ("free", [0.1, 0.0, 0.0, 0.0]),
        ];
        for (state, places) in states {
            scene.controller.go(("upper", state)).unwrap();
            scene.assert_goes_to(places, 0.5, 45, state);
        }
        assert_eq!(scene.controller.tracks().count(), 1);
        // The blend mode is the clip's: nobody is to blame for it.
        let is_blame = |event: &PlaybackEvent| matches!(event, PlaybackEvent::BlendMismatch { .. });
        assert!(!scene.events.iter().any(is_blame));
    }
}

#[test]
fn a_transition_that_is_cancelled_goes_on_from_where_it_is() {
    for seconds in [0.1, 0.25, 0.4] {
        for additive in [false, true] {
            let mut scene = scene(additive);
            scene.controller.go(("upper", "lean")).unwrap();
            scene.play(1.0);
            scene.controller.go(("upper", "duck")).unwrap();
            let places = [0.1, 0.0, 1.0, 0.0];
            let frames = (seconds / FRAME).round() as usize;
            scene.assert_goes_to(places, 0.5, frames, "duck");
            scene.controller.go(("upper", "free")).unwrap();
            scene.assert_goes_to([0.1, 0.0, 0.0, 0.0], 0.5, 40, "free");
        }
    }
}

#[test]
fn the_body_fades_in_from_a_state_that_plays_nothing() {
    for transition in ["fade: 0.5", "switch: 0.5"] {
        let body = r#"{
            "still": (start: true, from: Any, fade: 0.5),
            "lean": (plays: "lean", from: Any, TRANSITION),
        }"#;
        let body = body.replace("TRANSITION", transition);
        let clips = scene(false).clips.0;
        let mut scene = Scene::new(skeleton(), clips, &body, "{}");
        scene.play(0.5);
        for (state, place, frames) in [
            ("lean", 0.7, 40),
            ("still", 0.0, 40),
            ("lean", 0.7, 10),
            ("still", 0.0, 10),
        ] {
            scene.controller.go(state).unwrap();
            scene.assert_goes_to([0.0, 0.0, place, 0.0], 0.5, frames, state);
        }
    }
    // But nothing fades in where a character begins.
    let body = r#"{"idle": (plays: "idle", start: true, from: Any),
        "lean": (plays: "lean", from: Any, switch: 0.5)}"#;
    let clips = scene(false).clips.0;
    let mut scene = Scene::new(skeleton(), clips, body, "{}");
    scene.controller.go("lean").unwrap();
    assert_eq!(scene.play(FRAME), [0.0, 0.0, 0.7, 0.0]);
}

#[test]
fn tracks_of_layers_stay_in_the_order_of_the_layers() {
    let over = r#"{
        "a": (mask: "all", states: {
            "one": (plays: "lean", start: true, from: Any, fade: 0.5),
            "two": (plays: "duck", from: Any, fade: 0.5),
        }),
        "b": (mask: "all", states: {"one": (plays: "wave", start: true, from: Any, fade: 0.5)}),
    }"#;
    let mut scene = Scene::new(skeleton(), scene(false).clips.0, POSES, over);
    for state in ["two", "one", "two"] {
        scene.play(0.2);
        scene.controller.go(("a", state)).unwrap();
    }
    scene.play(0.7);
    let tracks = scene.controller.tracks().map(|track| track.clip());
    assert_eq!(tracks.collect::<Vec<_>>(), ["idle", "duck", "wave"]);
    // Any number of transitions leaves a few tracks.
    for at in 0..200 {
        let state = ["one", "two"][at % 2];
        scene.controller.go(("a", state)).unwrap();
        scene.play(0.02);
    }
    assert!(scene.controller.tracks().count() < 20);
}

/// A random machine, on the body, on a layer, or on a layer that follows the body, and where each state takes the joints.
fn random_scene(random: &mut Rng, kind: usize) -> (Scene, Vec<([f32; JOINTS], f64)>) {
    let skeleton = skeleton();
    let base = [0; JOINTS].map(|_| random.bool().then(|| random.f32() * 2.0 - 1.0));
    let mut clips = vec![still(&skeleton, "idle", base)];
    let below = match kind {
        0 => [0.0; JOINTS],
        _ => base.map(Option::unwrap_or_default),
    };
    let (mut states, mut plays, mut targets) = (String::new(), String::new(), Vec::new());
    for at in 0..6 {
        let places = [0; JOINTS].map(|_| random.bool().then(|| random.f32() * 2.0 - 1.0));
        let mut clip = still(&skeleton, &format!("c{at}"), places);
        // What is added carries nothing.
        clip.additive = random.u8(..3) == 0 && places[0].is_none();
        let name = if random.u8(..4) == 0 {
            String::new()
        } else {
            format!("plays: \"c{at}\",")
        };
        let (seconds, start) = (
            random.f64() * 0.6 + 0.1,
            if at == 0 { "start: true," } else { "" },
        );
        let transition = match random.bool() {
            // Switches of the body go by curves of their own.
            true if kind == 1 => format!("switch: {seconds}"),
            _ => format!("fade: {seconds}"),
        };
        let own = if kind == 2 { "plays: \"idle\"," } else { &name };
        write!(
            states,
            "\"s{at}\": ({own} {start} from: Any, {transition}),"
        )
        .unwrap();
        if !name.is_empty() {
            write!(plays, "\"s{at}\": ({name}),").unwrap();
        }
        let mut target = below;
        for (target, place) in target.iter_mut().zip(places) {
            *target = match place {
                Some(place) if !name.is_empty() && clip.additive => *target + place,
                Some(place) if !name.is_empty() => place,
                _ => *target,
            };
        }
        targets.push((target, seconds));
        clips.push(clip);
    }
    let (body, over) = match kind {
        0 => (format!("{{{states}}}"), "{}".to_owned()),
        1 => (
            POSES.to_owned(),
            format!("{{\"l\": (mask: \"all\", states: {{{states}}})}}"),
        ),
        _ => (
            format!("{{{states}}}"),
            format!("{{\"l\": (mask: \"all\", sync: Body, states: {{{plays}}})}}"),
        ),
    };
    (Scene::new(skeleton, clips, &body, &over), targets)
}

#[test]
fn random_transitions_go_straight_from_what_is_shown_to_what_will_be() {
    for seed in 0..300 {
        let mut random = Rng::with_seed(seed);
        let kind = seed as usize % 3;
        let (mut scene, targets) = random_scene(&mut random, kind);
        scene.play(0.1);
        let mut log = format!("seed {seed}, {:?}", scene.controller.states().machines());
        for _ in 0..8 {
            let to = random.usize(..targets.len());
            let (target, fade) = targets[to];
            let frames = 1 + random.usize(..30);
            write!(log, "\ns{to} for {frames} frames").unwrap();
            let layer = if kind == 1 { "l" } else { "" };
            scene.controller.go((layer, format!("s{to}"))).unwrap();
            scene.assert_goes_to(target, fade, frames, &log);
        }
    }
}
