//! Upper bounds on how far a point leaves the line between its positions at two frames.
//!
//! Between two frames a point does not move in a straight line. How far from it is bounded by the point's acceleration: a path
//! over a unit of time whose second derivative is at most `a` stays within `a/8` of the line between its ends (the error of
//! linear interpolation). The derivatives of a point under a chain of joints follow from those of each joint by the product
//! rule. For nlerp between two unit quaternions an angle φ apart, with `D = 1 − 2t(1 − t)(1 − cos φ)`, the half angle has the
//! derivatives `sin φ / D` and `2 sin φ (1 − cos φ)(1 − 2t) / D²`, and `D ≥ (1 + cos φ) / 2`.

use crate::{
    model::{BoundingBox, JointTransform, Skeleton},
    pose::Scratch,
};

/// How joints move from one frame of a clip to the next.
pub(super) struct Motions {
    /// Per joint, `true` if it moves a vertex of a part, or a joint below does. The others are skipped.
    carries: Vec<bool>,
    /// The frame before.
    local: Vec<JointTransform>,
    paths: Vec<Path>,
    /// The paths of joints that stand still, relative to their parents: most joints of most clips.
    still: Vec<Option<Path>>,
}

impl Motions {
    /// `joints` are those that move vertices.
    pub(super) fn new(
        skeleton: &Skeleton,
        joints: impl Iterator<Item = (usize, BoundingBox)>,
    ) -> Self {
        let mut carries = vec![false; skeleton.len()];
        for (joint, _) in joints {
            carries[joint] = true;
        }
        // Children come first.
        for joint in (0..skeleton.len()).rev() {
            if let Some(parent) = skeleton.parents()[joint] {
                carries[usize::from(parent)] |= carries[joint];
            }
        }
        Self {
            carries,
            local: vec![JointTransform::IDENTITY; skeleton.len()],
            paths: vec![Path::default(); skeleton.len()],
            still: vec![None; skeleton.len()],
        }
    }

    /// Takes the next frame, as it is posed.
    pub(super) fn follow(&mut self, skeleton: &Skeleton, posed: &Scratch) {
        let carriers = (0..skeleton.len()).filter(|&joint| self.carries[joint]);
        for joint in carriers {
            let before = self.local[joint];
            let now = posed.joint(joint).unwrap_or(before);
            let path = || Path::from(Motion::new(&before, &now));
            let path = if now == before {
                *self.still[joint].get_or_insert_with(path)
            } else {
                self.still[joint] = None;
                path()
            };
            // Parents come first.
            let parent = skeleton.parents()[joint];
            self.paths[joint] =
                parent.map_or(path, |parent| path.under(&self.paths[usize::from(parent)]));
            self.local[joint] = now;
        }
    }

    /// Returns how far any point that is fixed to a joint, at most `distance` from it, leaves the line between its positions at
    /// the last two frames.
    pub(super) fn margin(&self, joint: usize, distance: f64) -> f64 {
        self.paths[joint].acceleration_of(distance) / 8.0
    }
}

/// Upper bounds on how a joint moves between two frames, with the time between them as the unit.
#[derive(Clone, Copy, Debug, Default)]
struct Motion {
    distance: f64,
    shift: f64,
    turn: f64,
    turn_change: f64,
    scale: f64,
    scale_change: f64,
}

impl Motion {
    /// The motion from one frame to the next.
    fn new(a: &JointTransform, b: &JointTransform) -> Self {
        // The sine and cosine of the angle between the quaternions. They are interpolated in one hemisphere.
        let dot = a.rotation.dot(b.rotation);
        let sin = f64::from((b.rotation - a.rotation * dot).length());
        let cos = f64::from(dot.abs()).min(1.0);
        let least = (1.0 + cos) / 2.0;
        Self {
            distance: f64::from(a.translation.length().max(b.translation.length())),
            shift: f64::from(a.translation.distance(b.translation)),
            // Twice the derivatives of the half angle.
            turn: 2.0 * sin / least,
            turn_change: 4.0 * sin * (1.0 - cos) / (least * least),
            scale: f64::from(a.scale.abs().max(b.scale.abs()).max_element()),
            scale_change: f64::from((a.scale - b.scale).abs().max_element()),
        }
    }
}

/// Upper bounds on how a point that is fixed to a joint moves in model space, as functions of its distance `d` from the joint:
/// its own distance is `scale · d + distance`, its speed `turn · d + speed`, its acceleration `bend · d + acceleration`.
#[derive(Clone, Copy, Debug, Default)]
struct Path {
    scale: f64,
    turn: f64,
    bend: f64,
    distance: f64,
    speed: f64,
    acceleration: f64,
}

/// The path in the space of the joint's parent: `T + R · S · p`, by the product rule. About a fixed axis, `|R'| = ω` and
/// `|R''| ≤ ω' + ω²`; translation and scale are linear, so their second derivatives are 0.
impl From<Motion> for Path {
    fn from(joint: Motion) -> Self {
        let turn_squared = joint.turn_change + joint.turn * joint.turn;
        Self {
            scale: joint.scale,
            turn: joint.scale_change + joint.turn * joint.scale,
            bend: 2.0 * joint.turn * joint.scale_change + turn_squared * joint.scale,
            distance: joint.distance,
            speed: joint.shift,
            acceleration: 0.0,
        }
    }
}

impl Path {
    /// The path in the space that `parent` is in. The second derivative of a product is `f''·g + 2·f'·g' + f·g''`.
    fn under(self, parent: &Self) -> Self {
        Self {
            scale: parent.scale * self.scale,
            turn: parent.scale * self.turn + parent.turn * self.scale,
            bend: parent.scale * self.bend
                + 2.0 * parent.turn * self.turn
                + parent.bend * self.scale,
            distance: parent.scale * self.distance + parent.distance,
            speed: parent.scale * self.speed + parent.turn * self.distance + parent.speed,
            acceleration: parent.scale * self.acceleration
                + 2.0 * parent.turn * self.speed
                + parent.bend * self.distance
                + parent.acceleration,
        }
    }

    /// The largest acceleration of a point at this distance from the joint.
    fn acceleration_of(&self, distance: f64) -> f64 {
        self.bend * distance + self.acceleration
    }
}
