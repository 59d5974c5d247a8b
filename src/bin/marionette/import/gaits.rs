//! How clips carry a character over the ground: measured at its feet, not taken from names.
//!
//! See decision 068.

use super::{Draft, words::words};
use bevy_marionette::{
    import::FeetEntry,
    internals::rig::Plants,
    model::{BlendSpace, JointIndex, Model, PlaybackMode, SkeletalClip, Skeleton},
};
use glam::{Affine3A, Quat, Vec2, Vec3};
use std::{collections::BTreeMap, f32::consts::FRAC_PI_4};

/// A clip that walks or runs.
#[derive(Clone, Debug)]
pub struct Gait {
    /// Its place among the clips.
    pub clip: usize,
    /// Velocity at which its feet don't slide, in model units per second: to the right, and ahead.
    pub velocity: Vec2,
    /// The joint that travels; `None` if the clip walks on the spot.
    pub travels: Option<JointIndex>,
    /// Times at which a foot lands, in seconds, with the foot: 0 is the left.
    pub steps: Vec<(f64, usize)>,
    /// `true` if feet stand where they land, as they do in a walk; `false` in a run whose feet hardly touch the ground.
    pub is_clear: bool,
}

/// Words of clips that walk or run, by how fast that usually is.
const GAITS: [&[&str]; 4] = [
    &["walk", "walking", "walks"],
    &["jog", "jogging"],
    &["run", "running", "runs", "strafe", "strafing"],
    &["sprint", "sprinting"],
];
/// Words that don't make a walk another motion, besides single letters and numbers.
const PLAIN: [&str; 27] = [
    "forward",
    "forwards",
    "fwd",
    "fw",
    "front",
    "back",
    "backward",
    "backwards",
    "bwd",
    "bw",
    "left",
    "right",
    "side",
    "in",
    "place",
    "inplace",
    "loop",
    "cycle",
    "anim",
    "normal",
    "basic",
    "standard",
    "regular",
    "slow",
    "fast",
    "male",
    "female",
];
/// Words of standing clips that are nothing special.
const STANDING: [&str; 9] = [
    "idle",
    "idling",
    "stand",
    "standing",
    "breathing",
    "breathe",
    "relaxed",
    "neutral",
    "unarmed",
];
/// The share of a leg's length per second below which a clip stays where it is.
const SLOWEST: f32 = 0.2;
/// The angle in radians between start and end of a clip that turns the character.
const TURNS: f32 = 0.2;

impl Gait {
    /// Measures a clip of a model whose legs are these; `None` if it stays where it is.
    fn measure(clip: usize, draft: &Draft, model: &Model, legs: &FeetEntry) -> Option<Self> {
        let skeleton = &model.skeleton;
        let feet = legs.resolve(skeleton, &model.parts)?;
        let hips = skeleton.joint(&legs.hips)?;
        let mut played = draft.clip.clone();
        played.timing.playback = draft.verdict.playback;
        let plants = Plants::detect(&feet, skeleton, &played);
        let poses = Poses::new(&played, skeleton);
        let slowest = SLOWEST * feet.size();
        let per_second = 1.0 / (poses.seconds.max(1e-3) as f32);
        // A loop that ends where it begins travels nowhere, however its hips sway.
        let traveled = |joint: JointIndex| per_second * poses.traveled(joint);
        let travels = (traveled(hips).length() > slowest).then(|| {
            // The root, if it comes along; exporters also leave it behind.
            let parent = |joint: &JointIndex| skeleton.parents()[usize::from(*joint)];
            let up = std::iter::successors(Some(hips), parent);
            let comes_along =
                |joint: &JointIndex| traveled(*joint).distance(traveled(hips)) < 0.5 * slowest;
            up.take_while(comes_along).last().unwrap_or(hips)
        });
        // Clips that turn are steered otherwise.
        if poses.turned(hips) > TURNS {
            return None;
        }
        let moved = travels.map_or(-plants.ground_velocity, traveled);
        // Characters face −Z.
        let velocity = Vec2::new(moved.x, -moved.z);
        let mut steps: Vec<(f64, usize)> = (plants.landings())
            .map(|mark| (mark.time, mark.foot))
            .collect();
        let mut is_clear = true;
        for (foot, leg) in legs.legs.iter().enumerate() {
            let lands = steps.iter().any(|(_, other)| *other == foot);
            let joint = skeleton.joint(leg.toe.as_ref().unwrap_or(&leg.tip));
            if let (false, Some(joint)) = (lands, joint) {
                steps.extend(poses.lowered(joint).map(|time| (time, foot)));
            }
            is_clear &= lands;
        }
        steps.sort_by(|a, b| a.0.total_cmp(&b.0));
        (velocity.length() > slowest).then(|| Self {
            clip,
            velocity: tidied(as_named(&draft.name, velocity)),
            travels,
            steps,
            is_clear,
        })
    }

    /// The nearest of eight directions.
    fn direction(&self) -> i32 {
        (self.velocity.to_angle() / FRAC_PI_4).round() as i32 & 7
    }
}

/// The clips that carry a character wherever it wants to go.
pub struct Gaits {
    /// The clip that stands.
    pub idle: Option<usize>,
    /// One clip for each gait and direction, slow ones first.
    pub moving: Vec<Gait>,
}

impl Gaits {
    pub fn new(drafts: &[Draft], model: &Model, legs: &FeetEntry) -> Self {
        let loops = |draft: &Draft| {
            draft.verdict.playback == PlaybackMode::Loop && draft.clip.timing.duration > 0.0
        };
        let looping = || drafts.iter().enumerate().filter(|(_, draft)| loops(draft));
        // Of clips that would do, the one with the shortest name is usually the plain one.
        let simplest =
            |(_, draft): &(usize, &Draft)| (words(&draft.name).count(), draft.name.clone());
        let stands = |(_, draft): &(usize, &Draft)| {
            let mut words = words(&draft.name);
            words.clone().any(|word| word.starts_with("idl"))
                && words.all(|word| is_plain(word, &STANDING))
        };
        let idle = looping()
            .filter(stands)
            .min_by_key(simplest)
            .map(|(at, _)| at);
        let mut found: BTreeMap<(usize, i32), (usize, Gait)> = BTreeMap::new();
        let mut candidates: Vec<(usize, &Draft)> = looping()
            .filter(|(_, draft)| gait(&draft.name).is_some())
            .collect();
        candidates.sort_by_key(simplest);
        for (at, draft) in candidates {
            let Some((gait, measured)) =
                gait(&draft.name).zip(Gait::measure(at, draft, model, legs))
            else {
                continue;
            };
            found
                .entry((gait, measured.direction()))
                .or_insert((gait, measured));
        }
        let mut moving: Vec<Gait> = Vec::new();
        for (_, gait) in found.into_values() {
            // A jog as fast as the run would leave nothing to blend.
            let near = 0.2 * gait.velocity.length();
            if moving
                .iter()
                .all(|other| other.velocity.distance(gait.velocity) > near)
            {
                moving.push(gait);
            }
        }
        Self { idle, moving }
    }

    /// Whether the character can go aside, so that it needs two parameters: to the right, and ahead.
    pub fn is_plane(&self) -> bool {
        self.moving.iter().any(|gait| gait.velocity.x != 0.0)
    }

    /// The points of a blend space, by velocity; `None` if they don't make one.
    pub fn space(&self, drafts: &[Draft]) -> Option<Vec<(String, Vec2)>> {
        let idle = drafts[self.idle?].name.clone();
        let moving = self
            .moving
            .iter()
            .map(|gait| (drafts[gait.clip].name.clone(), gait.velocity));
        let points: Vec<(String, Vec2)> = [(idle, Vec2::ZERO)].into_iter().chain(moving).collect();
        let made = match self.is_plane() {
            true => BlendSpace::plane("", points.iter().map(|(clip, at)| (clip.as_str(), *at))),
            false => BlendSpace::line(
                "",
                points
                    .iter()
                    .map(|(clip, at)| (clip.as_str(), f64::from(at.y))),
            ),
        };
        (points.len() > 1 && made.is_ok()).then_some(points)
    }
}

/// The poses of a clip, evenly spaced.
struct Poses {
    poses: Vec<Vec<Affine3A>>,
    seconds: f64,
}

impl Poses {
    /// Steps of a run are heard to a hundredth of a second.
    const PER_SECOND: f64 = 100.0;

    fn new(clip: &SkeletalClip, skeleton: &Skeleton) -> Self {
        let seconds = clip.timing.duration;
        let count = (seconds * Self::PER_SECOND).clamp(2.0, 1000.0) as u32;
        let at = |step: u32| clip.pose_at(skeleton, seconds * f64::from(step) / f64::from(count));
        let poses = (0..=count).map(at).collect();
        Self { poses, seconds }
    }

    fn ends(&self, joint: JointIndex) -> [&Affine3A; 2] {
        [0, self.poses.len() - 1].map(|at| &self.poses[at][usize::from(joint)])
    }

    /// The way over the ground from the start to the end.
    fn traveled(&self, joint: JointIndex) -> Vec3 {
        let [start, end] = self.ends(joint);
        Vec3::from(end.translation - start.translation) * Vec3::new(1.0, 0.0, 1.0)
    }

    /// The turn between start and end, in radians.
    fn turned(&self, joint: JointIndex) -> f32 {
        let [start, end] = self.ends(joint).map(|at| Quat::from_mat3a(&at.matrix3));
        start.angle_between(end)
    }

    /// Times at which a joint has come down most of the way to its lowest place, from at least halfway up.
    fn lowered(&self, joint: JointIndex) -> impl Iterator<Item = f64> {
        let heights = || {
            self.poses
                .iter()
                .map(move |pose| pose[usize::from(joint)].translation.y)
        };
        let lowest = heights().fold(f32::INFINITY, f32::min);
        let highest = heights().fold(f32::NEG_INFINITY, f32::max);
        let share = move |height: f32| (height - lowest) / (highest - lowest).max(1e-6);
        // The second time around, the loop's end has told whether the joint was up at its start.
        let count = self.poses.len() - 1;
        let mut was_up = false;
        let twice = heights()
            .take(count)
            .chain(heights().take(count))
            .enumerate();
        let lands: Vec<usize> = twice
            .filter_map(|(at, height)| {
                was_up |= share(height) > 0.5;
                let lands = was_up && share(height) < 0.15;
                was_up &= !lands;
                (lands && at >= count).then(|| at - count)
            })
            .collect();
        let step = self.seconds / count as f64;
        lands.into_iter().map(move |at| at as f64 * step)
    }
}

/// Returns a velocity in the direction that a clip's name gives, if its feet go about there. Animators turn the body aside in
/// strafes, and feet with it.
fn as_named(name: &str, velocity: Vec2) -> Vec2 {
    let said = |any: &[&str]| words(name).any(|word| any.contains(&word));
    let aside = f32::from(said(&["right"])) - f32::from(said(&["left"]));
    let ahead = f32::from(said(&["forward", "forwards", "fwd"]))
        - f32::from(said(&["back", "backward", "backwards", "bwd"]));
    let named = Vec2::new(aside, ahead).normalize_or_zero();
    if velocity.normalize_or_zero().dot(named) > 0.7 {
        velocity.project_onto_normalized(named)
    } else {
        velocity
    }
}

/// Returns how fast a clip of this name usually is, if it is a plain walk or run.
fn gait(name: &str) -> Option<usize> {
    let of = |word: &str| GAITS.iter().position(|gait| gait.contains(&word));
    let is_gait = words(name).all(|word| of(word).is_some() || is_plain(word, &PLAIN));
    // `running_strafe_left` runs, and so does `strafe_left`.
    words(name).filter(|_| is_gait).find_map(of)
}

fn is_plain(word: &str, plain: &[&str]) -> bool {
    word.len() <= 1 || plain.contains(&word)
}

/// Rounds a velocity to hundredths, and to straight ahead or aside if it is nearly so.
fn tidied(velocity: Vec2) -> Vec2 {
    let length = velocity.length();
    let tidy = |speed: f32| match speed.abs() < 0.12 * length {
        true => 0.0,
        false => (100.0 * speed).round() / 100.0,
    };
    Vec2::new(tidy(velocity.x), tidy(velocity.y))
}

#[cfg(test)]
#[path = "tests/gaits.rs"]
mod tests;
