//! The joints that turn toward what a character looks at.

use crate::{
    model::{JointIndex, Skeleton},
    rig::{Gaze, LookChain},
};
use glam::Vec3;
use serde::{Deserialize, Serialize};

/// The joints of a [`Manifest`](super::Manifest) that turn toward what the character looks at.
///
/// ```ron
/// look_at: (
///     joints: [("chest", 0.2), ("neck", 0.3), ("head", 0.5)],
///     eyes: ["eye.L", "eye.R"],
///     yaw: 80, pitch: 50, speed: 360,
/// )
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
#[serde(deny_unknown_fields)]
pub struct LookAtEntry {
    /// Joints that share the turn, parents first, each with its weight.
    pub joints: Vec<(String, f32)>,
    /// Joints below the last of them that look at the target each for itself.
    #[serde(default)]
    pub eyes: Vec<String>,
    /// The largest yaw to either side, in degrees.
    #[serde(default = "yaw")]
    pub yaw: f32,
    /// The largest pitch up or down, in degrees.
    #[serde(default = "pitch")]
    pub pitch: f32,
    /// Largest angle between each eye and the direction in which the head faces, in degrees.
    #[serde(default = "eye")]
    pub eye: f32,
    /// The largest speed of the turn, in degrees per second.
    #[serde(default = "speed")]
    pub speed: f32,
    /// The way in which both eyes follow, if they don't look straight at the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gaze: Option<GazeEntry>,
    /// The direction the character faces at rest: −Z, unless the model faces elsewhere.
    #[serde(default = "forward")]
    pub forward: Vec3,
    /// The direction up at rest: Y.
    #[serde(default = "up")]
    pub up: Vec3,
}

/// The way in which eyes of a [`LookAtEntry`] follow a target, as VRM has it: by a share of its angle, up to a limit.
///
/// Each range is the angle to the target from which on eyes turn no further, in degrees, and their turn there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
#[serde(default, deny_unknown_fields)]
pub struct GazeEntry {
    /// The point between the eyes, in the space of the last joint.
    pub origin: Vec3,
    /// Range of the eye that turns toward the nose.
    pub inner: (f32, f32),
    /// Range of the eye that turns away from it.
    pub outer: (f32, f32),
    /// Range down.
    pub down: (f32, f32),
    /// Range up.
    pub up: (f32, f32),
    /// `true` if the expressions `lookLeft`, `lookRight`, `lookDown` and `lookUp` show the gaze instead of joints. Turns in
    /// ranges are then their weights.
    pub by_expressions: bool,
}

impl Default for GazeEntry {
    fn default() -> Self {
        let range = (90.0, 10.0);
        Self {
            origin: Vec3::ZERO,
            inner: range,
            outer: range,
            down: range,
            up: range,
            by_expressions: false,
        }
    }
}

impl GazeEntry {
    fn resolve(&self, skeleton: &Skeleton) -> Gaze {
        let shapes = ["lookLeft", "lookRight", "lookDown", "lookUp"];
        let turn = |turn: f32| match self.by_expressions {
            true => turn,
            false => turn.to_radians(),
        };
        let ranges = [self.inner, self.outer, self.down, self.up];
        Gaze {
            origin: self.origin,
            ranges: ranges.map(|(most, most_turn)| [most.to_radians(), turn(most_turn)]),
            shapes: (self.by_expressions)
                .then(|| shapes.map(|name| skeleton.morphs().expression(name))),
        }
    }

    fn is_odd(&self) -> bool {
        let ranges = [self.inner, self.outer, self.down, self.up];
        let odd = |number: f32| !(number >= 0.0 && number.is_finite());
        !self.origin.is_finite() || ranges.iter().any(|range| odd(range.0) || odd(range.1))
    }
}

impl LookAtEntry {
    /// Creates a chain of joints with their weights, and with the default limits.
    pub fn new<N: Into<String>>(joints: impl IntoIterator<Item = (N, f32)>) -> Self {
        let joints = joints
            .into_iter()
            .map(|(name, weight)| (name.into(), weight))
            .collect();
        let (yaw, pitch, eye, speed) = (yaw(), pitch(), eye(), speed());
        Self {
            joints,
            eyes: Vec::new(),
            yaw,
            pitch,
            eye,
            speed,
            gaze: None,
            forward: forward(),
            up: up(),
        }
    }

    /// Looks up the joints. `None` if one is missing, they do not form a chain, or `forward` and `up` are parallel.
    #[doc(hidden)]
    pub fn resolve(&self, skeleton: &Skeleton) -> Option<LookChain> {
        let joint = |(name, weight): &(String, f32)| Some((skeleton.joint(name)?, *weight));
        let joints: Vec<(JointIndex, f32)> =
            self.joints.iter().map(joint).collect::<Option<_>>()?;
        let eyes: Vec<JointIndex> = self
            .eyes
            .iter()
            .map(|name| skeleton.joint(name))
            .collect::<Option<_>>()?;
        let mut chain = LookChain::new(skeleton, &joints, &eyes, self.forward, self.up)?;
        chain.yaw_limit = self.yaw.to_radians();
        chain.pitch_limit = self.pitch.to_radians();
        chain.eye_limit = self.eye.to_radians();
        chain.speed = self.speed.to_radians();
        chain.gaze = self.gaze.as_ref().map(|gaze| gaze.resolve(skeleton));
        Some(chain)
    }

    /// Returns the names of all joints that it names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.joints
            .iter()
            .map(|(name, _)| name.as_str())
            .chain(self.eyes.iter().map(String::as_str))
    }

    /// Returns the first mistake in the numbers.
    pub(super) fn misstatement(&self) -> Option<String> {
        let degrees = [
            ("yaw", self.yaw),
            ("pitch", self.pitch),
            ("eye", self.eye),
            ("speed", self.speed),
        ];
        let odd = degrees
            .iter()
            .find(|(_, degrees)| degrees.is_nan() || *degrees < 0.0);
        if let Some((name, degrees)) = odd {
            return Some(format!(
                "`look_at` has a {name} of {degrees}, expected degrees of 0 or more"
            ));
        }
        if self.gaze.as_ref().is_some_and(GazeEntry::is_odd) {
            return Some(
                "`look_at` has a range in `gaze` that isn't made of numbers of 0 or more"
                    .to_owned(),
            );
        }
        if let Some((name, weight)) = self
            .joints
            .iter()
            .find(|(_, weight)| !(weight.is_finite() && *weight >= 0.0))
        {
            return Some(format!(
                "`look_at` gives joint `{name}` a weight of {weight}, expected 0 or more"
            ));
        }
        (!(self.forward.is_finite() && self.up.is_finite()))
            .then(|| "`look_at` has an axis that is not finite".to_owned())
    }
}

fn yaw() -> f32 {
    80.0
}

fn pitch() -> f32 {
    50.0
}

fn eye() -> f32 {
    25.0
}

fn speed() -> f32 {
    360.0
}

fn forward() -> Vec3 {
    Vec3::NEG_Z
}

fn up() -> Vec3 {
    Vec3::Y
}
