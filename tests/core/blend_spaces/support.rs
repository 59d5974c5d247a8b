//! Clips with blend spaces over them.

use bevy_marionette::controller::{AnimationController, Clips, FiredCallback, PlaybackEvent};
use bevy_marionette::{
    internals::model::{BoundBlendSpace, RootPath},
    model::{BlendSpace, BlendSync, ClipTiming, PlaybackMode, RootDelta},
};
use glam::DVec3;
use std::sync::Arc;

pub struct Cast {
    pub clips: Vec<ClipTiming>,
    pub paths: Vec<Option<RootPath>>,
    pub spaces: Vec<BoundBlendSpace>,
}

impl Clips for Cast {
    fn index_of(&self, name: &str) -> Option<usize> {
        self.clips.index_of(name)
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

impl Cast {
    pub fn new(clips: Vec<ClipTiming>, spaces: Vec<BlendSpace>) -> Self {
        let bound = spaces
            .into_iter()
            .map(|space| Arc::new(space).bind(&clips, |_| Vec::new()).unwrap())
            .collect();
        Self {
            paths: vec![None; clips.len()],
            clips,
            spaces: bound,
        }
    }

    /// Lets a clip carry the character ahead at a speed, and turn it.
    pub fn carry(&mut self, clip: &str, speed: f64, turn: f64) {
        let index = self.index_of(clip).unwrap();
        let length = self.clips[index].duration;
        let total = RootDelta::new(DVec3::NEG_Z * (speed * length), turn * length);
        self.paths[index] = RootPath::steady(length, total);
    }

    /// Advances and returns what happened.
    pub fn advance(&self, controller: &mut AnimationController, dt: f64) -> Vec<PlaybackEvent> {
        let mut out = Vec::new();
        controller.advance(dt, self, &mut out).unwrap();
        out
    }

    /// Clip, time and weight of each layer.
    pub fn layers(&self, controller: &AnimationController) -> Vec<(String, f64, f32)> {
        let name = |clip: usize| self.clips[clip].name.to_string();
        controller
            .layers(self)
            .map(|layer| (name(layer.clip), layer.time, layer.weight))
            .collect()
    }
}

/// A clip with keys (time, foot), each called `step`.
pub fn steps(name: &str, length: f64, keys: &[(f64, &str)]) -> ClipTiming {
    let mut timing = ClipTiming {
        playback: PlaybackMode::Loop,
        ..ClipTiming::new(name, length)
    };
    for (time, foot) in keys {
        timing.add_callback(*time, "step", *foot);
    }
    timing
}

/// Idle, walk and jog; their feet land in other places.
pub fn locomotion() -> Cast {
    let clips = vec![
        steps("idle", 4.0, &[]),
        steps("walk", 1.0, &[(0.2, "left"), (0.7, "right")]),
        steps("jog", 0.7, &[(0.05, "right"), (0.4, "left")]),
        steps("wave", 2.0, &[(1.0, "wave")]),
    ];
    let points = [("idle", 0.0), ("walk", 1.5), ("jog", 3.0)];
    let space = BlendSpace::line("locomotion", points)
        .unwrap()
        .synced(BlendSync::Keys(vec!["step".into()]));
    let mut cast = Cast::new(clips, vec![space]);
    cast.carry("walk", 1.5, 0.0);
    cast.carry("jog", 3.0, 0.0);
    cast
}

pub fn callbacks(events: &[PlaybackEvent]) -> impl Iterator<Item = &FiredCallback> {
    events.iter().filter_map(|event| match event {
        PlaybackEvent::Callback(callback) => Some(callback),
        _ => None,
    })
}

#[track_caller]
pub fn assert_near(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} is not {b}");
}
