//! Random programs: clips with everything, and what a game does with them, at moments that don't depend on frames.

use bevy_marionette::controller::{
    AnimationController, AnimationTrack, BlendMode, CallbackTime, Clips, PlaybackEvent,
    QueueFallback, TrackPriority, Transition, TransitionCurve,
};
use bevy_marionette::{
    internals::model::{BoundBlendSpace, RootPath},
    model::{BlendPoint, BlendSpace, BlendSync, ClipTiming, PlaybackMode, RootDelta},
};
use fastrand::Rng;
use std::{sync::Arc, time::Duration};

/// Clips with keys, ranges and paths, and blend spaces of them.
pub struct Cast {
    pub clips: Vec<ClipTiming>,
    paths: Vec<Option<RootPath>>,
    spaces: Vec<BoundBlendSpace>,
}

impl Cast {
    pub fn clone_of(other: &Self) -> Self {
        Self {
            clips: other.clips.clone(),
            paths: other.paths.clone(),
            spaces: other.spaces.clone(),
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

    fn is_additive(&self, index: usize) -> bool {
        index == 5
    }

    fn root_path(&self, index: usize) -> Option<&RootPath> {
        self.paths.get(index)?.as_ref()
    }

    fn reaches_root(&self, index: usize) -> bool {
        index != 4
    }

    fn root_mask(&self, mask: &str) -> f32 {
        if mask == "half" { 0.5 } else { 0.0 }
    }

    fn blend_spaces(&self) -> &[BoundBlendSpace] {
        &self.spaces
    }
}

/// A number, often a round one, so that things happen at one moment.
fn number(random: &mut Rng, most: f64) -> f64 {
    match random.u8(..3) {
        0 => (random.f64() * most * 8.0).round() / 8.0,
        1 => (random.f64() * most * 10.0).round() / 10.0,
        _ => random.f64() * most,
    }
}

pub fn cast(random: &mut Rng) -> Cast {
    cast_of(random, 1.0)
}

/// Clips that are so many times as long as usual.
pub fn cast_of(random: &mut Rng, stretch: f64) -> Cast {
    let clip = |i: usize, random: &mut Rng| {
        let length = if i == 3 {
            0.0
        } else {
            number(random, 2.0).max(0.05) * stretch
        };
        let playback = [
            PlaybackMode::Loop,
            PlaybackMode::Once,
            PlaybackMode::PingPong,
        ][random.usize(..3)];
        let mut timing = ClipTiming {
            playback,
            ..ClipTiming::new(format!("c{i}"), length)
        };
        for _ in 0..random.usize(..4) {
            let time = [0.0, 1.0, 0.5, random.f64()][random.usize(..4)] * length;
            timing.add_callback(time, ["left", "right"][random.usize(..2)], ());
        }
        for _ in 0..random.usize(..3) {
            let [a, b] = [0; 2].map(|_| [0.0, 1.0, 0.25, random.f64()][random.usize(..4)] * length);
            timing.add_range(a.min(b), a.max(b), format!("r{}", random.u8(..3)), ());
        }
        timing
    };
    let clips: Vec<ClipTiming> = (0..6).map(|i| clip(i, random)).collect();
    let path = |i: usize, random: &mut Rng| {
        let length = clips[i].duration;
        if length == 0.0 || random.u8(..3) == 0 {
            return None;
        }
        let frames = random.usize(1..8);
        let times: Vec<f64> = (0..=frames)
            .map(|at| length * at as f64 / frames as f64)
            .collect();
        let mut place = RootDelta::IDENTITY;
        let mut places = vec![place];
        let turns = [0.0, 0.5][random.usize(..2)];
        for _ in 0..frames {
            let mut part = || random.f64() - 0.5;
            let step = glam::DVec3::new(part(), 0.2 * part(), part() - 0.6) / frames as f64;
            place = place.then(RootDelta::new(step, turns * part()));
            places.push(place);
        }
        RootPath::new(&times, &places)
    };
    let paths = (0..6).map(|i| path(i, random)).collect();
    let mut spaces = Vec::new();
    for (name, plane) in [("line", false), ("plane", true)] {
        let space = loop {
            let place = |random: &mut Rng| {
                (
                    f64::from(random.u8(..5)),
                    if plane {
                        f64::from(random.u8(..4))
                    } else {
                        0.0
                    },
                )
            };
            let all: Vec<_> = (0..4)
                .map(|i| (format!("c{}", i % 5), place(random)))
                .collect();
            let space = match plane {
                true => BlendSpace::plane(name, all),
                false => BlendSpace::line(name, all.into_iter().map(|(clip, (x, _))| (clip, x))),
            };
            if let Ok(space) = space {
                break space;
            }
        };
        let smoothing = [0.0, 0.3, 2.0][random.usize(..3)];
        let sync =
            [BlendSync::Fraction, BlendSync::Keys(vec!["left".into()])][random.usize(..2)].clone();
        let space = Arc::new(space.smoothed(smoothing).unwrap().synced(sync));
        spaces.push(space.bind(&clips, |_| Vec::new()).unwrap());
    }
    Cast {
        clips,
        paths,
        spaces,
    }
}

fn name(random: &mut Rng) -> &'static str {
    [
        "c0", "c1", "c2", "c3", "c4", "c5", "line", "plane", "line", "plane", "none",
    ][random.usize(..11)]
}

fn point(random: &mut Rng) -> BlendPoint {
    BlendPoint::new(number(random, 6.0) - 1.0, number(random, 5.0) - 1.0)
}

pub fn begin(random: &mut Rng) -> AnimationController {
    let mut controller = AnimationController::playing(name(random));
    // The limit is one of each advance.
    controller.callback_limit = 1_000_000;
    controller
}

fn track(random: &mut Rng) -> AnimationTrack {
    let speed = [1.0, 1.0, 0.5, -1.0, 0.0, number(random, 4.0) - 2.0][random.usize(..6)];
    let mut track = AnimationTrack::new(name(random))
        .speed(speed)
        .weight(number(random, 1.5) as f32);
    track.set_parameters(point(random));
    if random.bool() {
        track = track.starting_at(number(random, 4.0) - 2.0);
    }
    track = if random.u8(..6) == 0 {
        track.reversed()
    } else {
        track
    };
    track = if random.u8(..3) == 0 {
        track.sync(random.u32(1..3))
    } else {
        track
    };
    track = if random.u8(..4) == 0 {
        track.priority(TrackPriority::High)
    } else {
        track
    };
    track = if random.u8(..4) == 0 {
        track.mask(["half", "none"][random.usize(..2)])
    } else {
        track
    };
    track = if random.u8(..5) == 0 {
        track.blend(BlendMode::Override)
    } else {
        track
    };
    track = if random.u8(..8) == 0 {
        track.playback(PlaybackMode::Once)
    } else {
        track
    };
    track
}

/// Does something that a game would.
pub fn act(controller: &mut AnimationController, cast: &mut Cast, random: &mut Rng) {
    let clip = name(random);
    let ids: Vec<_> = controller.tracks().map(AnimationTrack::id).collect();
    let id = ids.get(random.usize(..ids.len().max(1))).copied();
    let fade = Duration::from_nanos((number(random, 1.2) * 1e9) as u64);
    let curve = [TransitionCurve::Linear, TransitionCurve::EaseInEaseOut][random.usize(..2)];
    let start = controller.time() + number(random, 2.0) - 0.25;
    let value = number(random, 4.0) - 2.0;
    let to = point(random);
    match (random.u8(..48), id) {
        (0, _) => drop(controller.play(clip)),
        (1, _) => {
            let track = controller.play(clip);
            controller.track_mut(track).unwrap().restart();
        }
        (2 | 3, _) => drop(controller.play_with(clip, Transition::fade(fade).along(curve))),
        (4 | 5, _) => drop(controller.play_with(clip, Transition::fade(fade).in_phase())),
        (6 | 7, _) => drop(controller.play_with(clip, Transition::switch(fade))),
        (8, _) => drop(controller.play_with(clip, Transition::switch(fade).in_phase())),
        (9 | 10, _) => drop(controller.queue_mut().push(clip)),
        (11, _) => drop(controller.queue_mut().set_fade(fade).push(clip)),
        (12, _) => drop(
            controller
                .queue_mut()
                .set_fallback(QueueFallback::Clip(clip.into())),
        ),
        (13, _) => drop(controller.queue_mut().set_fallback(QueueFallback::RestPose)),
        (14, _) => controller.fade_out(fade),
        (15..=19, _) if ids.len() < 6 => drop(controller.add_track(track(random))),
        (20, Some(id)) => drop(controller.remove_track(id)),
        (21 | 22, _) if ids.len() < 6 => drop(controller.play_over(track(random), fade, fade)),
        (23, Some(id)) => controller.timeline_mut().fade(id, value.abs() as f32, fade),
        (24, Some(id)) => controller.timeline_mut().fade_out(id, fade),
        (25 | 26, Some(id)) => drop(
            controller
                .timeline_mut()
                .key_speed(id, value, start, fade, curve),
        ),
        (27 | 28, Some(id)) => {
            let _ =
                controller
                    .timeline_mut()
                    .key_weight(id, value.abs() as f32, start, fade, curve);
        }
        (29, Some(id)) => drop(controller.timeline_mut().key_position(id, value, start)),
        (30, Some(id)) => drop(
            controller
                .timeline_mut()
                .key_enabled(id, random.bool(), start),
        ),
        (31, Some(id)) => drop(controller.timeline_mut().key_parameters(id, to, start)),
        (32, _) => {
            let _ = controller.timeline_mut().key_priority_blend(
                value.abs() as f32,
                start,
                fade,
                curve,
            );
        }
        (33, Some(id)) => controller.track_mut(id).unwrap().seek(value),
        (34, Some(id)) => controller.track_mut(id).unwrap().scrub(value),
        (35, Some(id)) => controller.track_mut(id).unwrap().scrub_to(value.abs()),
        (36, _) => {
            if let Some(track) = controller.current_track_mut() {
                track.speed = -track.speed;
            }
        }
        (37, Some(id)) => controller.track_mut(id).unwrap().speed = value,
        (38 | 39, Some(id)) => controller.track_mut(id).unwrap().set_parameters(to),
        (40, _) => controller.set_parameters(to),
        (41, Some(id)) => controller.track_mut(id).unwrap().paused ^= true,
        (42, Some(id)) => controller.track_mut(id).unwrap().enabled ^= true,
        (43, _) => {
            controller.time_scale = [1.0, 1.0, 0.5, 0.9, 1.7, random.f64()][random.usize(..6)]
        }
        (44, _) => controller.timeline_mut().reset_time(),
        (45, _) => {
            let id = match random.bool() {
                true => {
                    controller.add_callback(clip, CallbackTime::Fraction(random.f64()), "added", ())
                }
                false => controller.add_callback_range(clip, 0.1, value.abs(), "added", ()),
            };
            controller.set_callback_every_nth(id, random.u32(1..3));
        }
        (46, Some(id)) => controller.track_mut(id).unwrap().set_clip(clip),
        (47, _) if random.u8(..4) == 0 => *cast = self::cast(random),
        (_, Some(id)) => controller.track_mut(id).unwrap().weight = value.abs() as f32,
        _ => controller.callback_threshold = (value.abs() * 0.2) as f32,
    }
}

/// Advances in steps of some nanoseconds, and returns how far the clips carried the character: there, and in
/// all, with radians as meters.
pub fn advance(
    controller: &mut AnimationController,
    cast: &Cast,
    mut nanos: u64,
    out: &mut Vec<PlaybackEvent>,
    mut cut: impl FnMut() -> u64,
) -> (RootDelta, f64) {
    let (mut root, mut distance) = (RootDelta::IDENTITY, 0.0);
    while nanos > 0 {
        let step = cut().clamp(1, nanos);
        nanos -= step;
        let way = controller
            .advance_with_root_motion(step as f64 / 1e9, cast, out)
            .unwrap();
        root = root.then(way);
        distance += way.translation.length() + way.turn.abs();
    }
    (root, distance)
}

/// How long the next part of a program takes, in nanoseconds.
pub fn span(random: &mut Rng) -> u64 {
    let most = [0.3, 1.5][random.usize(..2)];
    (number(random, most) * 1e9) as u64 + u64::from(random.u8(..3) == 0)
}
