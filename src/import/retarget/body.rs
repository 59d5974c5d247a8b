//! The measures of a body at rest that retargeting needs: the directions up and ahead, the length
//! of its legs, and the ground under its feet.

use super::{places, rotations};
use crate::model::{Finger, JointIndex, Role, Roles, Side, Skeleton};
use glam::{Mat3, Quat, Vec3};

pub(super) const FINGERS: [Finger; 5] = [
    Finger::Thumb,
    Finger::Index,
    Finger::Middle,
    Finger::Ring,
    Finger::Little,
];
const SIDES: [Side; 2] = [Side::Left, Side::Right];

/// A humanoid at rest.
#[derive(Clone, Debug)]
pub(super) struct Body {
    pub(super) hips: JointIndex,
    pub(super) root: Option<JointIndex>,
    /// The model's axis that is nearest to the way from the hips to the head.
    pub(super) up: Vec3,
    /// The direction that the body faces.
    pub(super) ahead: Vec3,
    /// Both legs, left first; `None` if a joint of one is missing.
    pub(super) legs: Option<[Leg; 2]>,
    /// Both arms, left first.
    pub(super) arms: [Option<Arm>; 2],
    /// The length of a leg, or without legs, any other that grows with the body. Above 0.
    pub(super) size: f32,
    /// Height of the ground.
    pub(super) floor: f32,
    /// Height of the ankles above it.
    pub(super) ankle: f32,
    pub(super) rotations: Vec<Quat>,
    pub(super) places: Vec<Vec3>,
}

/// A leg at rest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leg {
    /// Thigh, shin and foot.
    pub(super) joints: [JointIndex; 3],
    pub(super) toes: Option<JointIndex>,
    /// Heel and ball on the ground, in the foot's axes.
    pub(super) contacts: [Vec3; 2],
    /// Length of thigh and shin.
    pub(super) length: f32,
}

/// An arm.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arm {
    /// Upper arm, forearm and hand.
    pub(super) joints: [JointIndex; 3],
    /// Length of upper arm and forearm at rest. Above 0.
    pub(super) length: f32,
}

/// The share of its leg that a foot without toes is long.
const FOOT: f32 = 0.15;

impl Body {
    /// `None` if there are no hips.
    pub(super) fn new(skeleton: &Skeleton, roles: &Roles) -> Option<Self> {
        let hips = roles.joint(Role::Hips)?;
        // Nodes may be in any pose, so the bind pose counts.
        let skeleton = &*skeleton.in_bind_pose();
        let places = places(skeleton);
        let rotations = rotations(skeleton, |joint| unit(skeleton.rest_of(joint).rotation));
        let at = |joint: JointIndex| places[usize::from(joint)];
        let place = |role| roles.joint(role).map(at);
        let spine = || {
            (0..=u8::MAX)
                .map_while(|n| roles.joint(Role::Spine(n)))
                .last()
                .map(at)
        };
        // Models may have any axis for up, so it is found from the body itself.
        let top = place(Role::Head).or_else(spine).map(|top| top - at(hips));
        let up = top.and_then(axis).unwrap_or(Vec3::Y);
        let pairs: [fn(Side) -> Role; 3] = [Role::Thigh, Role::UpperArm, Role::Clavicle];
        let left = pairs.iter().find_map(|role| {
            let across = place(role(Side::Left))? - place(role(Side::Right))?;
            direction(across - up * across.dot(up))
        });
        // Models face −Z.
        let left = left.unwrap_or_else(|| {
            direction(Vec3::NEG_X - up * Vec3::NEG_X.dot(up)).unwrap_or(Vec3::Z)
        });
        let ahead = left.cross(up);

        let joints = SIDES.map(|side| {
            Some([
                roles.joint(Role::Thigh(side))?,
                roles.joint(Role::Shin(side))?,
                roles.joint(Role::Foot(side))?,
            ])
        });
        let length = |[root, mid, tip]: [JointIndex; 3]| {
            at(root).distance(at(mid)) + at(mid).distance(at(tip))
        };
        let arms = SIDES.map(|side| {
            let joints = [Role::UpperArm(side), Role::Forearm(side), Role::Hand(side)]
                .map(|role| roles.joint(role));
            let [Some(upper), Some(lower), Some(hand)] = joints else {
                return None;
            };
            let joints = [upper, lower, hand];
            sound(length(joints)).map(|length| Arm { joints, length })
        });
        // Without legs, the farthest joint from the hips measures the body.
        let spread = places
            .iter()
            .map(|place| place.distance(at(hips)))
            .fold(0.0, f32::max);
        let mut body = Self {
            hips,
            root: roles.joint(Role::Root),
            up,
            ahead,
            legs: None,
            arms,
            size: sound(spread).unwrap_or(1.0),
            floor: 0.0,
            ankle: 0.0,
            rotations,
            places: Vec::new(),
        };
        if let [Some(l), Some(r)] = joints
            && let Some(size) = sound(0.5 * (length(l) + length(r)))
        {
            let ankle = 0.5 * up.dot(at(l[2]) + at(r[2]));
            let toes = SIDES.map(|side| roles.joint(Role::Toes(side)));
            let toe = |side: usize| toes[side].map_or(f32::INFINITY, |toes| up.dot(at(toes)));
            let lowest = ankle.min(toe(0)).min(toe(1));
            // As everywhere, the ground is at the model's origin, unless the body stands elsewhere.
            let floor = if (-0.05..0.35).contains(&(lowest / size)) {
                // A body in the air, or sunk into the ground, brings its own ground.
                0.0
            } else {
                lowest
            };
            (body.size, body.floor, body.ankle) = (size, floor, ankle - floor);
            body.legs = Some([0, 1].map(|side| {
                let joints = [l, r][side];
                let foot = joints[2];
                // Straight down onto the ground, where soles are at rest.
                let down = |place: Vec3| place - up * (up.dot(place) - floor);
                let heel = down(at(foot));
                let ball = toes[side].map_or(heel + ahead * (FOOT * size), |toes| down(at(toes)));
                // In the foot's axes, so that the contacts move with it.
                let within = |place: Vec3| {
                    body.rotations[usize::from(foot)].conjugate() * (place - at(foot))
                };
                let contacts = [within(heel), within(ball)];
                Leg {
                    joints,
                    toes: toes[side],
                    contacts,
                    length: length(joints),
                }
            }));
        }
        body.places = places;
        Some(body)
    }

    /// Returns the middle of the legs' first joints, given the places of joints.
    pub(super) fn center(&self, place: impl Fn(JointIndex) -> Vec3) -> Option<Vec3> {
        let [left, right] = self.legs?.map(|leg| place(leg.joints[0]));
        Some(0.5 * (left + right))
    }
}

/// Differences of legs, as a share of their length, from which on their proportions count as
/// different.
const OTHER_LEGS: f32 = 0.01;

/// Returns the difference of two bodies' legs, whatever their size: from 0 for legs of the same
/// proportions to 1 for others.
pub(super) fn unlike_legs(from: &Body, to: &Body) -> f32 {
    let lengths = |body: &Body| {
        let legs = body.legs?;
        let at = |joint: JointIndex| body.places[usize::from(joint)];
        let leg = |leg: Leg| {
            let [thigh, shin, foot] = leg.joints.map(at);
            let ball = body.up.cross(
                body.rotations[usize::from(leg.joints[2])] * (leg.contacts[1] - leg.contacts[0]),
                // Compared as shares of the leg, so that size alone makes no difference.
            );
            [thigh.distance(shin), shin.distance(foot), ball.length()]
                .map(|length| length / body.size)
        };
        let [left, right] = legs.map(leg);
        let apart = at(legs[0].joints[0]).distance(at(legs[1].joints[0]));
        Some([
            left,
            right,
            [apart, body.ankle, 0.0].map(|length| length / body.size),
        ])
    };
    let (Some(from), Some(to)) = (lengths(from), lengths(to)) else {
        return 1.0;
    };
    let apart = from
        .as_flattened()
        .iter()
        .zip(to.as_flattened())
        .map(|(a, b)| (a - b).abs());
    smoothstep(apart.fold(0.0, f32::max) / OTHER_LEGS)
}

/// From 0 at 0 to 1 at 1, without a kink.
pub(super) fn smoothstep(x: f32) -> f32 {
    let x = x.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}

/// Returns the rotation from one body's model space to that of another. If it is nearly made of
/// right angles, these are exact.
pub(super) fn turn(from: &Body, to: &Body) -> Quat {
    let frame = |body: &Body| Mat3::from_cols(body.up.cross(body.ahead), body.up, body.ahead);
    let exact = frame(to) * frame(from).transpose();
    // Exporters turn models by right angles, which rounding must not spoil.
    let axes = Mat3::from_cols_array(&exact.to_cols_array().map(f32::round));
    let near = exact
        .to_cols_array()
        .iter()
        .zip(axes.to_cols_array())
        .all(|(a, b)| (a - b).abs() < 0.17);
    unit(Quat::from_mat3(
        &if near && (axes.determinant() - 1.0).abs() < 0.1 {
            axes
        } else {
            exact
        },
    ))
}

/// Returns the rotation of the target's hand that makes it like the source's at rest, given the
/// rotation of the forearm: fully, if fingers show how it is turned.
pub(super) fn hand_turn(
    side: Side,
    bone: &impl Fn(Role, Role) -> Option<(Vec3, Vec3)>,
    forearm: Quat,
) -> Quat {
    let hand = Role::Hand(side);
    let base = |finger| bone(hand, Role::Finger(side, finger, 0));
    let middle = base(Finger::Middle).or_else(|| base(Finger::Index));
    let outer = base(Finger::Little).or_else(|| base(Finger::Ring));
    let (Some(along), Some(index), Some(outer)) = (middle, base(Finger::Index), outer) else {
        return forearm;
    };
    let frame = |along: Vec3, across: Vec3| {
        let along = direction(along)?;
        let across = direction(across - along * across.dot(along))?;
        Some(Quat::from_mat3(&Mat3::from_cols(
            along,
            across,
            along.cross(across),
        )))
    };
    let source = frame(along.0, index.0 - outer.0);
    let target = frame(along.1, index.1 - outer.1);
    source.zip(target).map_or(forearm, |(source, target)| {
        unit(source * target.conjugate())
    })
}

/// The shortest rotation from one direction to another; none if either has no length.
pub(super) fn arc(from: Vec3, to: Vec3) -> Quat {
    let (Some(from), Some(to)) = (direction(from), direction(to)) else {
        return Quat::IDENTITY;
    };
    let axis = from.cross(to);
    let cos = from.dot(to);
    // Nearly opposite directions need an axis of their own.
    if cos < -0.999 {
        Quat::from_rotation_arc(from, to)
    } else {
        unit(Quat::from_xyzw(axis.x, axis.y, axis.z, 1.0 + cos))
    }
}

pub(super) fn unit(q: Quat) -> Quat {
    if q.is_finite() && q.length_squared() > 1e-12 {
        q.normalize()
    } else {
        Quat::IDENTITY
    }
}

fn direction(v: Vec3) -> Option<Vec3> {
    // Divided first, so that the squared length neither over- nor underflows.
    let largest = v.abs().max_element();
    (largest > 1e-12 && largest.is_finite()).then(|| (v / largest).normalize())
}

/// The model's axis that is nearest to a direction.
fn axis(v: Vec3) -> Option<Vec3> {
    let v = direction(v)?;
    let at = v.abs().max_position();
    Some(Vec3::AXES[at] * v[at].signum())
}

fn sound(length: f32) -> Option<f32> {
    (length > 1e-6 && length < 1e12).then_some(length)
}
