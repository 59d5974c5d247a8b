//! What a controller's frame costs: the ordinary one, and those in which something happens.
//!
//! `cargo bench --bench controller` prints a table: nanoseconds per advance of 1/60 s, the fastest of many runs. Compare them
//! with others of the same run only. `-- steered` prints the rows with that in their names.

use bevy_marionette::{
    controller::{AnimationController, AnimationTrack, Clips, TrackId},
    internals::model::{BoundBlendSpace, RootPath, StateLayers},
    model::{BlendSpace, ClipTiming, Leader, RootDelta, State, StateLayer},
};
use std::{
    hint::black_box,
    sync::Arc,
    time::{Duration, Instant},
};

const FRAME: f64 = 1.0 / 60.0;
/// Frames of a run, and runs.
const FRAMES: u32 = 2000;
const RUNS: u32 = 200;

/// Clips of a second or so, two callback keys each, and two blend spaces of eight.
struct Cast {
    clips: Vec<ClipTiming>,
    paths: Vec<Option<RootPath>>,
    spaces: Vec<BoundBlendSpace>,
}

impl Cast {
    fn new() -> Self {
        let clip = |i: usize| {
            let mut clip = ClipTiming::new(format!("clip {i}"), 0.8 + 0.1 * i as f64);
            clip.add_callback(0.2 * clip.duration, "step", "left");
            clip.add_callback(0.7 * clip.duration, "step", "right");
            clip
        };
        let mut clips: Vec<ClipTiming> = (0..8).map(clip).collect();
        let around = |i: usize| (i as f64 * std::f64::consts::TAU / 7.0).sin_cos();
        let place = |i: usize| if i == 7 { (0.0, 0.0) } else { around(i) };
        let space = |name: &str, smoothing: f64| {
            let points = clips
                .iter()
                .enumerate()
                .map(|(i, clip)| (clip.name.clone(), place(i)));
            let space = BlendSpace::plane(name, points)
                .and_then(|space| space.smoothed(smoothing))
                .expect("a heptagon");
            Arc::new(space)
                .bind(&clips, |_| Vec::new())
                .expect("all clips are there")
        };
        let spaces = vec![space("steered", 0.0), space("smoothed", 0.4)];
        // A key passes in every frame.
        let mut keys = ClipTiming::new("keys", FRAME);
        keys.add_callback(0.5 * FRAME, "key", ());
        clips.extend([keys, ClipTiming::new("plain", 1.1)]);
        let path = |clip: &ClipTiming| {
            let way = RootDelta::new([0.1, 0.0, -1.2].into(), 0.3);
            RootPath::steady(clip.duration, way)
        };
        let paths = clips.iter().map(path).collect();
        Self {
            clips,
            paths,
            spaces,
        }
    }
}

impl Clips for Cast {
    fn index_of(&self, name: &str) -> Option<usize> {
        self.clips.iter().position(|clip| &*clip.name == name)
    }

    fn timing(&self, index: usize) -> Option<&ClipTiming> {
        self.clips.get(index)
    }

    fn root_path(&self, index: usize) -> Option<&RootPath> {
        self.paths.get(index)?.as_ref()
    }

    fn blend_spaces(&self) -> &[BoundBlendSpace] {
        &self.spaces
    }
}

/// The fastest run, in nanoseconds per frame.
fn measure(mut frame: impl FnMut()) -> f64 {
    let mut fastest = Duration::MAX;
    for _ in 0..RUNS {
        let begin = Instant::now();
        (0..FRAMES).for_each(|_| frame());
        fastest = fastest.min(begin.elapsed());
    }
    fastest.as_secs_f64() * 1e9 / f64::from(FRAMES)
}

/// States, all of which play a clip, and layers of states that play another.
fn states(layers: usize, sync: Option<Leader>) -> Arc<StateLayers> {
    let names: Vec<String> = (0..16).map(|at| format!("state {at}")).collect();
    let all = || names.iter().map(String::as_str);
    let states = |clip: &'static str, is_free: bool| {
        all().map(move |name| {
            let state = State::playing(clip);
            let state = if is_free { state.from(all()) } else { state };
            let is_start = is_free && name == "state 0";
            (
                name.to_owned(),
                State {
                    start: is_start,
                    ..state
                },
            )
        })
    };
    let layer = |at: usize| {
        let layer = StateLayer {
            mask: "mask".into(),
            sync: sync.clone(),
            states: states("plain", sync.is_none()).collect(),
        };
        (format!("layer {at}"), layer)
    };
    let layers = (0..layers).map(layer).collect();
    let states = StateLayers::new(&states("plain", true).collect(), &layers);
    Arc::new(states.expect("there are no mistakes"))
}

/// A controller, what a game does with it in each frame, and whether root motion is asked for.
fn row(
    cast: &Cast,
    begin: impl Fn(&mut AnimationController) -> TrackId,
    mut act: impl FnMut(&mut AnimationController, TrackId),
    root: bool,
) -> f64 {
    let mut controller = AnimationController::default();
    let (track, mut events) = (begin(&mut controller), Vec::new());
    measure(|| {
        act(&mut controller, track);
        if root {
            let way = controller.advance_with_root_motion(FRAME, cast, &mut events);
            black_box(way.expect("time goes forward"));
        } else {
            let advanced = controller.advance(FRAME, cast, &mut events);
            advanced.expect("time goes forward");
        }
        black_box(&mut events).clear();
    })
}

fn rows(cast: &Cast, asked: impl Fn(&str) -> bool) {
    let report = |name: &str, row: &dyn Fn() -> f64| {
        if asked(name) {
            println!("{name:<36}{:>8.1} ns", row());
        }
    };
    let space = |name: &'static str| {
        move |controller: &mut AnimationController| {
            controller.add_track(AnimationTrack::blend_space(name).at((0.3, 0.2)))
        }
    };
    let steer = || {
        // Sines are not what is measured.
        let around = |turn: i32| {
            (
                0.6 * (0.01 * f64::from(turn)).cos(),
                0.6 * (0.01 * f64::from(turn)).sin(),
            )
        };
        let mut points = (0..628).map(around).collect::<Vec<_>>().into_iter().cycle();
        move |controller: &mut AnimationController, track: TrackId| {
            let point = points.next().unwrap_or_default();
            if let Some(track) = controller.track_mut(track) {
                track.set_parameters(point);
            }
        }
    };
    let fades = || {
        let mut frame = 0;
        move |controller: &mut AnimationController, _: TrackId| {
            frame += 1;
            if frame % 12 == 0 {
                let clip = ["clip 1", "clip 2", "clip 3"][frame / 12 % 3];
                controller.cross_fade(clip, Duration::from_millis(200));
            }
        }
    };
    let none = |_: &mut AnimationController, _: TrackId| {};
    report("ordinary", &|| row(cast, |c| c.play("plain"), none, false));
    report("ordinary, with root motion", &|| {
        row(cast, |c| c.play("plain"), none, true)
    });
    let in_states = |layers: usize, sync: Option<Leader>| {
        move |controller: &mut AnimationController| {
            controller.set_states(&states(layers, sync.clone()), 0);
            TrackId::default()
        }
    };
    let tracks = |count: usize| {
        move |controller: &mut AnimationController| {
            let over = AnimationTrack::new("plain").mask("mask");
            (0..count).for_each(|_| {
                controller.add_track(over.clone());
            });
            controller.play("plain")
        }
    };
    report("states, nothing happens", &|| {
        row(cast, in_states(0, None), none, false)
    });
    report("two more tracks", &|| row(cast, tracks(2), none, false));
    report("states, two layers", &|| {
        row(cast, in_states(2, None), none, false)
    });
    report("states, two layers in step", &|| {
        row(cast, in_states(2, Some(Leader::Body)), none, false)
    });
    let mut at = 0;
    let mut go = move |controller: &mut AnimationController, _: TrackId| {
        at = (at + 1) % 16;
        let entered = controller.go(["state 1", "state 2"][at % 2]);
        black_box(entered.expect("there is a way"));
    };
    if asked("states, a new one in each frame") {
        let ns = row(cast, in_states(0, None), &mut go, false);
        println!("{:<36}{ns:>8.1} ns", "states, a new one in each frame");
    }
    report("a key in each frame", &|| {
        row(cast, |c| c.play("keys"), none, false)
    });
    report("cross-fades", &|| {
        row(cast, |c| c.play("clip 0"), fades(), false)
    });
    report("cross-fades, with root motion", &|| {
        row(cast, |c| c.play("clip 0"), fades(), true)
    });
    report("blend space", &|| row(cast, space("steered"), none, false));
    report("blend space, steered", &|| {
        row(cast, space("steered"), steer(), false)
    });
    report("blend space, steered, root motion", &|| {
        row(cast, space("steered"), steer(), true)
    });
    report("blend space, smoothed", &|| {
        row(cast, space("smoothed"), steer(), false)
    });
    report("blend space, smoothed, root motion", &|| {
        row(cast, space("smoothed"), steer(), true)
    });
}

fn main() {
    let cast = black_box(Cast::new());
    let [track, controller] = [
        size_of::<AnimationTrack>(),
        size_of::<AnimationController>(),
    ];
    println!("{track} bytes a track, {controller} a controller");
    let names: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"))
        .collect();
    rows(&cast, |name| {
        names.is_empty() || names.iter().any(|asked| name.contains(asked.as_str()))
    });
}
