//! Joints that turn toward a target.

use super::math::{across, arc, direction, part};
use crate::{
    model::{JointIndex, MorphIndex, Skeleton},
    numbers::clamp_weight,
    pose::{PoseMut, simd},
    trig::{atan2, sin_cos_f32},
};
use glam::{Affine3A, Mat3A, Quat, Vec2, Vec3, Vec3A};
use serde::{Deserialize, Serialize};
use std::f32::consts::PI;

/// A chain of joints, such as spine, neck and head, that turns toward a target together.
///
/// The last joint ends up looking exactly at the target, unless a limit keeps it from it; the others each take their
/// share of the turn. Eyes then turn the rest of the way, each for itself. The turn has no roll: it is made of a yaw
/// and a pitch.
///
/// Limits count from where the joint above the chain faces: a head can look over the shoulder, whichever way the
/// body is turned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct LookChain {
    /// The largest yaw to either side, in radians. At 0, there is none.
    pub yaw_limit: f32,
    /// The largest pitch up or down, in radians.
    pub pitch_limit: f32,
    /// Largest angle of each eye from the direction of the head, in radians.
    pub eye_limit: f32,
    /// The largest speed of the turn, in radians per second. Eyes turn at once.
    pub speed: f32,
    joints: Vec<LookJoint>,
    eyes: Vec<Eye>,
    /// The directions forward and up in the space of the joint above the chain; in model space if there is none.
    base_axes: [Vec3A; 2],
    /// The direction up in the space of the last joint.
    head_up: Vec3A,
    /// The way in which eyes follow a target that is not straight ahead of the head; `None` if each looks at it.
    pub gaze: Option<Gaze>,
}

/// The way in which both eyes of a [`LookChain`] follow a target: less far than it is, or by expressions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gaze {
    /// The point between the eyes, in the space of the last joint.
    pub origin: Vec3,
    /// Toward the nose, away from it, down, and up: the angle in radians from which on eyes turn no further, and the turn
    /// there, in radians or as the weight of an expression.
    pub ranges: [[f32; 2]; 4],
    /// The morph targets that show the gaze to the left, right, down, and up, if no joints do.
    pub shapes: Option<[Vec<(MorphIndex, f32)>; 4]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct LookJoint {
    joint: JointIndex,
    /// The share of the turn that it and those before it make.
    share: f32,
    /// The direction forward in its space.
    forward: Vec3A,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Eye {
    joint: JointIndex,
    /// The direction forward in its space.
    forward: Vec3A,
    #[serde(default)]
    is_left: bool,
}

/// A [`LookChain`] in a file.
#[derive(Deserialize)]
struct Unchecked {
    yaw_limit: f32,
    pitch_limit: f32,
    eye_limit: f32,
    speed: f32,
    joints: Vec<LookJoint>,
    eyes: Vec<Eye>,
    base_axes: [Vec3A; 2],
    #[serde(default)]
    head_up: Vec3A,
    #[serde(default)]
    gaze: Option<Gaze>,
}

impl TryFrom<Unchecked> for LookChain {
    type Error = &'static str;

    fn try_from(chain: Unchecked) -> Result<Self, Self::Error> {
        let Unchecked {
            yaw_limit,
            pitch_limit,
            eye_limit,
            speed,
            joints,
            eyes,
            base_axes,
            head_up,
            gaze,
        } = chain;
        if joints.is_empty() {
            return Err("a chain that looks has no joints");
        }
        Ok(Self {
            yaw_limit,
            pitch_limit,
            eye_limit,
            speed,
            joints,
            eyes,
            base_axes,
            head_up,
            gaze,
        })
    }
}

/// Turn of a [`LookChain`], which is all that it keeps from frame to frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub struct LookState {
    /// The yaw to the left and the pitch up that are added to the pose, in radians.
    pub turn: Vec2,
    /// The yaw and pitch of the gaze from where the head faces, in radians, for chains with a [`Gaze`].
    #[serde(default)]
    pub gaze: Vec2,
}

impl LookChain {
    /// Creates a chain of `joints`, parents first, each with its weight: its share of the turn relative to the others.
    /// `forward` and `up` are the character's directions at rest, in model space; `eyes` are joints below the last.
    ///
    /// The limits are 80° of yaw, 50° of pitch and 25° for eyes, the speed is 360° per second. Joints with a weight
    /// that is not above 0 are left out. `None` if no joint is left, if one is not a descendant of the one before it,
    /// or if `forward` and `up` are parallel.
    pub fn new(
        skeleton: &Skeleton,
        joints: &[(JointIndex, f32)],
        eyes: &[JointIndex],
        forward: Vec3,
        up: Vec3,
    ) -> Option<Self> {
        let up = direction(up.into())?;
        let forward = across(forward.into(), up)?;
        let rest = |joint: JointIndex| {
            let matrix: Mat3A = skeleton.rest_model().get(usize::from(joint))?.matrix3;
            matrix.determinant().is_normal().then(|| matrix.inverse())
        };
        let facing = |joint| direction(rest(joint)? * forward);
        let mut chain = Vec::new();
        for &(joint, weight) in joints
            .iter()
            .filter(|(_, weight)| *weight > 0.0 && weight.is_finite())
        {
            chain.push(LookJoint {
                joint,
                share: weight,
                forward: facing(joint)?,
            });
        }
        let last = chain.last()?.joint;
        if chain
            .windows(2)
            .any(|pair| !skeleton.descends(pair[1].joint, pair[0].joint))
            || eyes.iter().any(|&eye| !skeleton.descends(eye, last))
        {
            return None;
        }
        let whole: f32 = chain.iter().map(|joint| joint.share).sum();
        let mut made = 0.0;
        // Shares are cumulative, so each joint's own turn is a difference of two of them.
        for joint in &mut chain {
            made += joint.share;
            joint.share = (made / whole).min(1.0);
        }
        // Rounding must not leave the head short of the target.
        chain.last_mut()?.share = 1.0;
        let eyes = eyes
            .iter()
            .map(|&joint| {
                let at = |joint: JointIndex| skeleton.rest_model()[usize::from(joint)].translation;
                Some(Eye {
                    joint,
                    forward: facing(joint)?,
                    is_left: (at(joint) - at(last)).dot(up.cross(forward)) > 0.0,
                })
            })
            .collect::<Option<_>>()?;
        let head_up = direction(rest(last)? * up)?;
        let base_axes = match skeleton.ancestors(chain[0].joint).next() {
            None => [forward, up],
            Some(base) => {
                let rest = rest(base)?;
                [direction(rest * forward)?, direction(rest * up)?]
            }
        };
        let [yaw_limit, pitch_limit, eye_limit, speed] =
            [80.0_f32, 50.0, 25.0, 360.0].map(f32::to_radians);
        Some(Self {
            yaw_limit,
            pitch_limit,
            eye_limit,
            speed,
            joints: chain,
            eyes,
            base_axes,
            head_up,
            gaze: None,
        })
    }

    /// Returns the joints that turn, parents first, and the eyes.
    pub fn joints(&self) -> impl Iterator<Item = JointIndex> + '_ {
        self.joints
            .iter()
            .map(|joint| joint.joint)
            .chain(self.eyes.iter().map(|eye| eye.joint))
    }

    /// Returns `true` if the skeleton has all its joints.
    pub(super) fn fits(&self, skeleton: &Skeleton) -> bool {
        self.joints()
            .all(|joint| usize::from(joint) < skeleton.len())
    }

    /// Returns the last joint that turns before the eyes do: the one that ends up looking at the target.
    pub fn head(&self) -> JointIndex {
        self.joints[self.joints.len() - 1].joint
    }

    /// Returns the direction in model space of a yaw to the left and a pitch up, in radians. Like the limits, they
    /// count from where the joint above the chain faces. `model` are the joints' matrices.
    pub fn direction(&self, turn: Vec2, skeleton: &Skeleton, model: &[Affine3A]) -> Vec3 {
        let Frame { side, up, forward } = self.frame(skeleton, model);
        let ((yaw_sin, yaw_cos), (pitch_sin, pitch_cos)) =
            (sin_cos_f32(turn.x), sin_cos_f32(turn.y));
        ((side * yaw_sin + forward * yaw_cos) * pitch_cos + up * pitch_sin).into()
    }

    /// Turns the joints after `dt` seconds have passed. `target` is in model space; without one, the joints turn back.
    /// `weight` is the share of the turn that is made, 0..=1.
    ///
    /// # Panics
    /// If the pose is of another skeleton.
    pub fn run(
        &self,
        state: &mut LookState,
        target: Option<Vec3>,
        weight: f32,
        dt: f32,
        pose: &mut PoseMut,
    ) {
        self.solve(state, target, weight, dt, pose);
        pose.update();
    }

    /// As [`Self::run`], without updating the matrices.
    pub(super) fn solve(
        &self,
        state: &mut LookState,
        target: Option<Vec3>,
        weight: f32,
        dt: f32,
        pose: &mut PoseMut,
    ) {
        simd::dispatch!(_wide => self.solve_inlined(state, target, weight, dt, pose));
    }

    #[inline(always)]
    fn solve_inlined(
        &self,
        state: &mut LookState,
        target: Option<Vec3>,
        weight: f32,
        dt: f32,
        pose: &mut PoseMut,
    ) {
        let weight = clamp_weight(weight);
        if !state.turn.is_finite() {
            // Read from a file. It would never become a number again.
            state.turn = Vec2::ZERO;
        }
        let target = target
            .filter(|target| target.is_finite() && weight > 0.0)
            .map(Vec3A::from);
        state.gaze = Vec2::ZERO;
        if target.is_none() && state.turn == Vec2::ZERO {
            return;
        }
        let (first, head) = (self.joints[0].joint, &self.joints[self.joints.len() - 1]);
        pose.update_joints([head.joint]);
        let frame = self.frame(pose.skeleton, pose.model);
        let facing = pose.model[usize::from(head.joint)].transform_vector3a(head.forward);
        let (now, heading) = (frame.angles(facing), frame.heading(facing));

        let mut wish = Vec2::ZERO;
        if let Some(target) = target {
            // The head's final position depends on the turn, and the turn on that position. The
            // turn of the last frame is a good guess, and the two settle within a few passes.
            let at = |joint: JointIndex| pose.model[usize::from(joint)].translation;
            let reach = at(first).distance(at(head.joint));
            let mut turn = state.turn;
            for _ in 0..4 {
                let way = target - self.place_of_head(frame.turn(heading, turn), pose);
                let distance = way.length();
                // Angles don't depend on the length, unless it is hard to work with.
                let Some(way) = (if (1e-12..1e12).contains(&distance) {
                    Some(way)
                } else {
                    direction(way)
                }) else {
                    break;
                };
                wish = self.wish(now, frame.angles(way), state.turn.x) * weight;
                let miss = (wish - turn).abs().max_element();
                turn = wish;
                // Another pass would change less than a sixteenth of a degree.
                if miss * reach < 1e-3 * distance {
                    break;
                }
            }
        }
        let most = (self.speed * dt).max(0.0);
        state.turn = if most.is_finite() {
            toward(state.turn, wish, most)
        } else {
            wish
        };
        if state.turn != Vec2::ZERO {
            // Parts of one turn have one axis, so it makes no difference that each turns those after it. A joint makes the turn
            // from one part to the next, which is normalized only once, in the end.
            let whole = frame.turn(heading, state.turn);
            let (vector, square) = (Vec3A::from_vec4(whole.into()), 1.0 - whole.w * whole.w);
            let (mut before, mut before_w) = (0.0, 1.0);
            for joint in &self.joints {
                let (share, w) = (joint.share, 1.0 - joint.share + whole.w * joint.share);
                let turn =
                    (vector * (share - before)).extend(w * before_w + square * share * before);
                pose.turn(joint.joint, Quat::from_vec4(turn));
                (before, before_w) = (share, w);
            }
            pose.update_later(first);
        }
        match (target, &self.gaze) {
            (Some(target), Some(gaze)) => {
                let frame = self.head_frame(pose);
                let origin = pose.model[usize::from(self.head())].transform_point3(gaze.origin);
                state.gaze = frame.angles(target - Vec3A::from(origin)) * weight;
                self.turn_gaze(gaze, state.gaze, &frame, pose);
            }
            (Some(target), None) => self.turn_eyes(target, weight, pose),
            (None, _) => {}
        }
    }

    /// The turn that takes the head from where it faces to a yaw and pitch, within the limits.
    #[inline(always)]
    fn wish(&self, now: Vec2, target: Vec2, turned: f32) -> Vec2 {
        let mut yaw = target.x;
        // Behind the back, a head does not change sides whenever its target does.
        if yaw.abs() > self.yaw_limit && PI - yaw.abs() < 0.35 && yaw * (now.x + turned) < 0.0 {
            yaw = -yaw;
        }
        let limited = |angle: f32, limit: f32| {
            let limit = limit.max(0.0);
            angle.clamp(-limit, limit)
        };
        let wish = Vec2::new(
            limited(yaw, self.yaw_limit),
            limited(target.y, self.pitch_limit),
        );
        // A head that only has eyes that look is where its clips have it.
        let turns = Vec2::new(self.yaw_limit, self.pitch_limit).cmpgt(Vec2::ZERO);
        Vec2::select(turns, wish - now, Vec2::ZERO)
    }

    /// Returns the position of the last joint after the chain has turned.
    #[inline(always)]
    fn place_of_head(&self, turn: Quat, pose: &PoseMut) -> Vec3A {
        let at = |joint: JointIndex| pose.model[usize::from(joint)].translation;
        let mut place = at(self.joints[0].joint);
        for pair in self.joints.windows(2) {
            let bone = at(pair[1].joint) - at(pair[0].joint);
            // As `part(turn, share) * bone`, without its square root.
            let (vector, w) = (
                Vec3A::from_vec4(turn.into()) * pair[0].share,
                1.0 - pair[0].share + turn.w * pair[0].share,
            );
            let across = vector.cross(bone);
            let double = 2.0 / (vector.length_squared() + w * w);
            place += bone + (across * w + vector.cross(across)) * double;
        }
        place
    }

    /// Returns the axes of the joint above the chain in model space: of unit length, at right
    /// angles.
    #[inline(always)]
    fn frame(&self, skeleton: &Skeleton, model: &[Affine3A]) -> Frame {
        let base = skeleton.ancestors(self.joints[0].joint).next();
        let base = base.and_then(|base| model.get(usize::from(base)));
        let [forward, up] = self
            .base_axes
            .map(|axis| base.map_or(axis, |base| base.transform_vector3a(axis)));
        // Usually of unit length already, because few characters are scaled.
        let off = Vec3A::new(
            forward.length_squared() - 1.0,
            up.length_squared() - 1.0,
            forward.dot(up),
        );
        if off.abs().max_element() < 1e-5 {
            return Frame {
                side: up.cross(forward),
                up,
                forward,
            };
        }
        Frame::of(forward, up)
    }

    /// Returns the axes of the head in model space, which it brings up to date.
    fn head_frame(&self, pose: &mut PoseMut) -> Frame {
        let head = &self.joints[self.joints.len() - 1];
        pose.update_joints([head.joint]);
        let matrix = &pose.model[usize::from(head.joint)];
        let [forward, up] =
            [head.forward, self.head_up].map(|axis| matrix.transform_vector3a(axis));
        Frame::of(forward, up)
    }

    /// Turns both eyes as far as a gaze does.
    fn turn_gaze(&self, gaze: &Gaze, angles: Vec2, frame: &Frame, pose: &mut PoseMut) {
        let about = |axis: Vec3A, angle: f32| {
            let (sin, cos) = sin_cos_f32(0.5 * angle);
            Quat::from_vec4((axis * sin).extend(cos))
        };
        for eye in self.eyes.iter().filter(|_| gaze.shapes.is_none()) {
            let horizontal = usize::from((angles.x > 0.0) == eye.is_left);
            let yaw = gaze.mapped(horizontal, angles.x);
            let pitch = gaze.mapped(2 + usize::from(angles.y > 0.0), angles.y);
            pose.update_joints([eye.joint]);
            pose.turn(eye.joint, about(frame.up, yaw) * about(-frame.side, pitch));
            pose.update_later(eye.joint);
        }
    }

    #[inline(always)]
    fn turn_eyes(&self, target: Vec3A, weight: f32, pose: &mut PoseMut) {
        // Half the angle, as the length of a rotation's vector part is the sine of that.
        let (limit, _) = sin_cos_f32(0.5 * self.eye_limit.clamp(0.0, PI));
        for eye in &self.eyes {
            pose.update_joints([eye.joint]);
            let facing = pose.model[usize::from(eye.joint)].transform_vector3a(eye.forward);
            let turn = arc(
                facing,
                target - pose.model[usize::from(eye.joint)].translation,
            );
            let sine = turn.xyz().length();
            let share = if sine > limit { limit / sine } else { 1.0 };
            pose.turn(eye.joint, part(turn, share * weight));
            pose.update_later(eye.joint);
        }
    }
}

impl Gaze {
    /// Returns the turn for an angle, by one of the ranges.
    fn mapped(&self, range: usize, angle: f32) -> f32 {
        let [most, turn] = self.ranges[range];
        let share = match angle.abs() < most {
            true => angle.abs() / most,
            false => 1.0,
        };
        (turn * share).copysign(angle)
    }

    /// Returns the morph targets that show a gaze, with the weights to the left, right, down, and up.
    pub fn shown(&self, gaze: Vec2) -> impl Iterator<Item = (&[(MorphIndex, f32)], f32)> {
        // As in VRM, both sides have the range of what is turned away from the nose.
        let [x, y] = [
            self.mapped(1, gaze.x),
            self.mapped(2 + usize::from(gaze.y > 0.0), gaze.y),
        ];
        let weights = [x, -x, -y, y];
        let shapes = self.shapes.iter().flatten().map(Vec::as_slice);
        shapes.zip(weights).filter(|(_, weight)| *weight > 0.0)
    }
}

/// The axes of the joint above the chain, in model space.
struct Frame {
    side: Vec3A,
    up: Vec3A,
    forward: Vec3A,
}

impl Frame {
    /// The axes that are nearest to these two. The up axis counts more.
    #[inline(always)]
    fn of(forward: Vec3A, up: Vec3A) -> Self {
        let up = direction(up).unwrap_or(Vec3A::Y);
        let forward = across(forward, up).unwrap_or_else(|| up.any_orthonormal_vector());
        Self {
            side: up.cross(forward),
            up,
            forward,
        }
    }

    /// The yaw and pitch of a direction.
    #[inline(always)]
    fn angles(&self, direction: Vec3A) -> Vec2 {
        let [x, y, z] = [self.side, self.up, self.forward].map(|axis| axis.dot(direction));
        Vec2::new(atan2(x, z), atan2(y, (x * x + z * z).sqrt()))
    }

    /// The sine and cosine of a direction's yaw.
    #[inline(always)]
    fn heading(&self, direction: Vec3A) -> Vec2 {
        Vec2::new(self.side.dot(direction), self.forward.dot(direction))
            .try_normalize()
            .unwrap_or(Vec2::Y)
    }

    /// The rotation, in model space, from a heading, of any pitch, by a yaw and a pitch: by less than half a turn.
    #[inline(always)]
    fn turn(&self, heading: Vec2, turn: Vec2) -> Quat {
        // The product of a yaw back to zero, a pitch, and the yaw of the sum, with what cancels out left out.
        let half = 0.5 * turn;
        let ((pitch_sin, pitch_cos), (yaw_sin, yaw_cos)) =
            (sin_cos_f32(half.y), sin_cos_f32(half.x));
        // The yaw between both.
        let sin = heading.x * yaw_cos + heading.y * yaw_sin;
        let cos = heading.y * yaw_cos - heading.x * yaw_sin;
        let vector =
            (self.forward * sin - self.side * cos) * pitch_sin + self.up * (pitch_cos * yaw_sin);
        let turn = Quat::from_vec4(vector.extend(pitch_cos * yaw_cos));
        if turn.w < 0.0 { -turn } else { turn }
    }
}

/// Moves from one point toward another by at most a distance.
#[inline(always)]
fn toward(from: Vec2, to: Vec2, most: f32) -> Vec2 {
    let way = to - from;
    let length = way.length();
    if length <= most {
        to
    } else {
        from + way * (most / length)
    }
}

#[cfg(test)]
#[path = "tests/look_at.rs"]
mod tests;
