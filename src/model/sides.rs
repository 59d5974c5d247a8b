//! Left and right: which joints are each other's mirror image.

use super::{
    CallbackData, CallbackKey, JointIndex, Skeleton,
    side_names::{other_letter, swapped_words},
};
use glam::{DMat3, DQuat, DVec3};
use std::{borrow::Cow, collections::HashMap};

/// The pairs of joints that mirror each other, and the plane between them.
#[derive(Clone, Debug)]
pub(crate) struct Sides {
    /// Each joint's counterpart; itself if it has none. Always mutual.
    other: Vec<JointIndex>,
    plane: MirrorPlane,
}

impl Sides {
    pub(crate) fn new(skeleton: &Skeleton) -> Self {
        let mut by_name: HashMap<&str, JointIndex> = HashMap::new();
        for (joint, name) in skeleton.joints().zip(skeleton.names().iter()) {
            by_name.entry(name).or_insert(joint);
        }
        let other = |joint| {
            skeleton
                .other_side_with(joint, |name| by_name.get(name).copied())
                .unwrap_or(joint)
        };
        let found: Vec<JointIndex> = skeleton.joints().map(other).collect();
        // Of two left hands with one right hand, only one is its counterpart. The other one stays
        // in the middle.
        let mutual = |(joint, &other): (usize, &JointIndex)| {
            if usize::from(found[usize::from(other)]) == joint {
                other
            } else {
                joint as JointIndex
            }
        };
        let other: Vec<JointIndex> = found.iter().enumerate().map(mutual).collect();
        let plane = MirrorPlane::between_sides(skeleton, &other);
        Self { other, plane }
    }

    /// The joint on the other side; the joint itself if it is in the middle.
    pub(crate) fn other(&self, joint: JointIndex) -> JointIndex {
        self.other[usize::from(joint)]
    }

    pub(crate) fn plane(&self) -> MirrorPlane {
        self.plane
    }
}

/// The directions of a mirror plane, which is perpendicular to one of the model's axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MirrorPlane {
    axis: usize,
}

impl MirrorPlane {
    /// The plane perpendicular to an axis: 0 to 2 for x to z.
    pub(crate) fn across(axis: usize) -> Self {
        Self { axis }
    }

    /// Picks the axis along which pairs of joints are farthest apart; x if there are no pairs.
    fn between_sides(skeleton: &Skeleton, other: &[JointIndex]) -> Self {
        let rest = skeleton.rest_model();
        let pairs = rest
            .iter()
            .zip(other)
            .map(|(joint, &other)| (joint, &rest[usize::from(other)]));
        let apart: DVec3 = pairs
            .map(|(a, b)| (a.translation - b.translation).abs().as_dvec3())
            .sum();
        Self::across(if apart.x >= apart.y && apart.x >= apart.z {
            0
        } else {
            1 + usize::from(apart.z > apart.y)
        })
    }

    pub(crate) fn axis(self) -> usize {
        self.axis
    }

    /// Reflects a direction.
    pub(crate) fn reflect(self, mut v: DVec3) -> DVec3 {
        v[self.axis] = -v[self.axis];
        v
    }

    /// Reflects a rotation. Its axis is a pseudovector: the part along the normal stays, the rest flips.
    pub(crate) fn reflect_turn(self, turn: DQuat) -> DQuat {
        let axis = self.reflect(-DVec3::new(turn.x, turn.y, turn.z));
        DQuat::from_xyzw(axis.x, axis.y, axis.z, turn.w)
    }

    /// Reflects a rotation in one frame to a rotation in another.
    pub(crate) fn carry_turn(self, turn: DQuat, from: &RestFrame, to: &RestFrame) -> DQuat {
        let in_model = from.rotation * turn * from.rotation.conjugate();
        (to.rotation.conjugate() * self.reflect_turn(in_model) * to.rotation).normalize()
    }

    /// Reflects a direction in one frame to a direction in another.
    pub(crate) fn carry_shift(self, shift: DVec3, from: &RestFrame, to: &RestFrame) -> DVec3 {
        to.matrix.inverse() * self.reflect(from.matrix * shift)
    }

    /// Returns, for each axis of one frame, the axis of the other that it is the image of. If the
    /// frames are turned against each other by odd angles, axes have no image, and are taken one by
    /// one.
    pub(crate) fn axes(self, from: &RestFrame, to: &RestFrame) -> [usize; 3] {
        let mut out = [0, 1, 2];
        for (at, axis) in DVec3::AXES.into_iter().enumerate() {
            let image = from.rotation.conjugate() * self.reflect(to.rotation * axis);
            // Beyond this, the same is true the other way around.
            match image
                .abs()
                .to_array()
                .iter()
                .position(|share| *share > 0.7072)
            {
                Some(found) => out[at] = found,
                None => return [0, 1, 2],
            }
        }
        out
    }
}

/// A joint's frame in the rest pose, in model space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RestFrame {
    pub(crate) matrix: DMat3,
    pub(crate) rotation: DQuat,
}

impl RestFrame {
    pub(crate) const IDENTITY: Self = Self {
        matrix: DMat3::IDENTITY,
        rotation: DQuat::IDENTITY,
    };

    /// The frames of all joints.
    pub(crate) fn all(skeleton: &Skeleton) -> Vec<Self> {
        let mut out: Vec<Self> = Vec::with_capacity(skeleton.len());
        for joint in skeleton.joints() {
            let rest = skeleton.rest_of(joint);
            let own = rest.rotation.as_dquat();
            let own = if own.length_squared() > 1e-12 {
                own.normalize()
            } else {
                DQuat::IDENTITY
            };
            let parent = skeleton.parents()[usize::from(joint)]
                .map_or(Self::IDENTITY, |p| out[usize::from(p)]);
            out.push(Self {
                matrix: parent.matrix
                    * DMat3::from_quat(own)
                    * DMat3::from_diagonal(rest.scale.as_dvec3()),
                rotation: (parent.rotation * own).normalize(),
            });
        }
        out
    }
}

/// Swaps the sides in a callback's name and data: joints by their names, and words such as `left` elsewhere.
pub(super) fn mirrored_callback(skeleton: &Skeleton, key: &CallbackKey) -> CallbackKey {
    let name = mirrored_text(skeleton, &key.name);
    CallbackKey {
        time: key.time,
        until: key.until,
        name: name.into(),
        data: CallbackData::from(mirrored_value(skeleton, &key.data)),
    }
}

fn mirrored_text<'a>(skeleton: &Skeleton, text: &'a str) -> Cow<'a, str> {
    match skeleton
        .joint(text)
        .and_then(|joint| skeleton.other_side(joint))
    {
        Some(other) => Cow::Owned(skeleton.name(other).to_string()),
        None => swapped_words(text),
    }
}

fn mirrored_value(skeleton: &Skeleton, value: &ron::Value) -> ron::Value {
    use ron::Value;
    let mirrored = |value: &Value| mirrored_value(skeleton, value);
    match value {
        Value::String(text) => Value::String(mirrored_text(skeleton, text).into_owned()),
        Value::Char(letter) => Value::Char(other_letter(*letter).unwrap_or(*letter)),
        Value::Seq(values) => Value::Seq(values.iter().map(mirrored).collect()),
        Value::Option(Some(value)) => Value::Option(Some(Box::new(mirrored(value)))),
        Value::Map(map) => Value::Map(
            map.iter()
                .map(|(key, value)| (mirrored(key), mirrored(value)))
                .collect(),
        ),
        other => other.clone(),
    }
}
