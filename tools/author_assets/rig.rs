//! Rigs and poses: rotations in the axes of the rest pose, and two-bone IK for legs and arms.

use super::maths::{arc, mix_turn};
use bevy_marionette::model::{Joint, JointTransform, Skeleton, SkeletonError};
use glam::{DAffine3, DMat3, DQuat, DVec3};

/// A joint at rest, in model space.
#[derive(Clone, Debug)]
pub struct RigJoint {
    pub name: String,
    pub parent: Option<usize>,
    pub position: DVec3,
    /// Orientation of the joint's own axes: +Y runs along the bone.
    pub rotation: DQuat,
}

/// A character's joints, parents first.
#[derive(Clone, Debug, Default)]
pub struct Rig {
    pub joints: Vec<RigJoint>,
}

/// A pose of a [`Rig`].
///
/// `turns[j]` rotates joint `j` and its descendants about the model's axes at rest: a rotation about X nods a head and
/// swings a leg, whatever the orientation of the joint's own axes.
#[derive(Clone, Debug)]
pub struct Pose {
    /// Offset of the root from its rest position.
    pub shift: DVec3,
    pub turns: Vec<DQuat>,
}

impl Rig {
    /// Adds a joint whose bone points at `tip`; returns its index.
    pub fn add(&mut self, name: &str, parent: Option<usize>, position: DVec3, tip: DVec3) -> usize {
        let y = (tip - position).normalize();
        let side = if y.x.abs() > 0.9 { DVec3::Z } else { DVec3::X };
        let z = side.cross(y).normalize();
        let rotation = DQuat::from_mat3(&DMat3::from_cols(y.cross(z), y, z)).normalize();
        self.joints.push(RigJoint {
            name: name.into(),
            parent,
            position,
            rotation,
        });
        self.joints.len() - 1
    }

    /// Returns the index of a joint by name.
    ///
    /// # Panics
    /// Panics if there is no such joint.
    pub fn find(&self, name: &str) -> usize {
        self.joints
            .iter()
            .position(|j| j.name == name)
            .unwrap_or_else(|| panic!("no joint `{name}`"))
    }

    /// Returns a joint's name without its side: `upper_arm` for `upper_arm.L`.
    pub fn stem(&self, joint: usize) -> &str {
        let name = self.joints[joint].name.as_str();
        name.strip_suffix(".L")
            .or_else(|| name.strip_suffix(".R"))
            .unwrap_or(name)
    }

    /// Returns a joint's rest position.
    pub fn at(&self, name: &str) -> DVec3 {
        self.joints[self.find(name)].position
    }

    /// Returns the rest pose.
    pub fn rest(&self) -> Pose {
        Pose {
            shift: DVec3::ZERO,
            turns: vec![DQuat::IDENTITY; self.joints.len()],
        }
    }

    /// Returns every joint's position, and its rotation from the rest pose, in model space.
    pub fn model(&self, pose: &Pose) -> Vec<(DVec3, DQuat)> {
        let mut out: Vec<(DVec3, DQuat)> = Vec::with_capacity(self.joints.len());
        for (joint, turn) in self.joints.iter().zip(&pose.turns) {
            out.push(match joint.parent {
                None => (joint.position + pose.shift, *turn),
                Some(p) => {
                    let (at, turned) = out[p];
                    (
                        at + turned * (joint.position - self.joints[p].position),
                        (turned * *turn).normalize(),
                    )
                }
            });
        }
        out
    }

    /// Converts a pose to transforms relative to the parents, in the joints' own axes.
    pub fn local(&self, pose: &Pose) -> Vec<JointTransform> {
        let joint = |(j, turn): (&RigJoint, &DQuat)| {
            let (translation, rotation) = match j.parent.map(|p| &self.joints[p]) {
                None => (j.position + pose.shift, *turn * j.rotation),
                Some(p) => {
                    let back = p.rotation.conjugate();
                    (back * (j.position - p.position), back * *turn * j.rotation)
                }
            };
            JointTransform::new(round(translation, 1e-6), rotation.normalize().as_quat())
        };
        self.joints.iter().zip(&pose.turns).map(joint).collect()
    }

    /// Converts the rig to the library's skeleton.
    pub fn skeleton(&self) -> Result<Skeleton, SkeletonError> {
        let rest = self.local(&self.rest());
        let joints = self.joints.iter().zip(rest).map(|(j, rest)| Joint {
            name: j.name.as_str().into(),
            parent: j.parent.map(|p| p as u16),
            rest,
            inverse_bind: DAffine3::from_rotation_translation(j.rotation, j.position)
                .inverse()
                .as_affine3a(),
        });
        Skeleton::new(joints.collect())
    }

    /// Two-bone IK: rotates the joints of `limb` (upper, lower, end) so that the end is at `target` with the model-space
    /// rotation `end`, and the limb bends toward `pole`.
    ///
    /// Returns how far the limb falls short of the target, in meters.
    pub fn reach(
        &self,
        pose: &mut Pose,
        limb: [usize; 3],
        target: DVec3,
        pole: DVec3,
        end: DQuat,
    ) -> f64 {
        let model = self.model(pose);
        let [a, b, c] = limb.map(|j| self.joints[j].position);
        let (upper, lower) = (a.distance(b), b.distance(c));
        let root = model[limb[0]].0;
        let offset = target - root;
        let distance = offset
            .length()
            .clamp((upper - lower).abs() + 1e-6, (upper + lower) * 0.99999);
        let direction = offset.normalize_or(DVec3::NEG_Y);
        let along = (upper * upper - lower * lower + distance * distance) / (2.0 * distance);
        let aside = (upper * upper - along * along).max(0.0).sqrt();
        let middle = root
            + direction * along
            + pole
                .reject_from_normalized(direction)
                .normalize_or(DVec3::NEG_Z)
                * aside;
        let reached = root + direction * distance;

        // Both bones rotate with the bending plane, so that a knee stays a hinge.
        let rest_plane = plane(b - a, c - b, pole);
        // A bone can pass the pole's direction, as the heel of a runner does, and the knee of a high kick. The hinge stays.
        let hinge = direction.cross(pole);
        let turn = |bone: DVec3, at_rest: DVec3| {
            let is_past = bone.cross(pole).dot(hinge) < 0.0;
            let side = if is_past { -pole } else { pole };
            frame(bone, side) * frame(at_rest, rest_plane).conjugate()
        };
        let upper_turn = turn(middle - root, b - a);
        let lower_turn = turn(reached - middle, c - b);
        let parent = self.joints[limb[0]]
            .parent
            .map_or(DQuat::IDENTITY, |p| model[p].1);
        pose.turns[limb[0]] = (parent.conjugate() * upper_turn).normalize();
        pose.turns[limb[1]] = (upper_turn.conjugate() * lower_turn).normalize();
        pose.turns[limb[2]] = (lower_turn.conjugate() * end).normalize();
        reached.distance(target)
    }
}

impl Pose {
    /// Rotates a joint further, in the model's axes.
    pub fn turn(&mut self, joint: usize, by: DQuat) {
        self.turns[joint] = (by * self.turns[joint]).normalize();
    }

    /// Interpolates toward `other`.
    pub fn mixed(&self, other: &Self, t: f64) -> Self {
        let turns = self
            .turns
            .iter()
            .zip(&other.turns)
            .map(|(a, b)| mix_turn(*a, *b, t))
            .collect();
        Self {
            shift: self.shift.lerp(other.shift, t),
            turns,
        }
    }
}

/// Returns the direction a limb bends in at rest, or `pole` if it is straight.
fn plane(upper: DVec3, lower: DVec3, pole: DVec3) -> DVec3 {
    let bend = upper.normalize() - lower.normalize();
    if bend.length() > 0.02 { bend } else { pole }
}

/// Returns the rotation that takes −Y to `along`, and −Z into the half-plane of `forward`.
fn frame(along: DVec3, forward: DVec3) -> DQuat {
    let y = -along.normalize();
    let z = -forward
        .reject_from_normalized(y)
        .normalize_or(arc(DVec3::Y, y) * DVec3::NEG_Z);
    DQuat::from_mat3(&DMat3::from_cols(y.cross(z), y, z)).normalize()
}

/// Rounds to a multiple of `step`.
pub fn round(v: DVec3, step: f64) -> glam::Vec3 {
    ((v / step).round() * step).as_vec3()
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Affine3A;

    fn leg() -> Rig {
        let mut rig = Rig::default();
        let hips = rig.add("hips", None, DVec3::Y * 0.9, DVec3::Y);
        let thigh = rig.add(
            "thigh",
            Some(hips),
            DVec3::new(0.1, 0.88, 0.0),
            DVec3::new(0.1, 0.5, -0.01),
        );
        let shin = rig.add(
            "shin",
            Some(thigh),
            DVec3::new(0.1, 0.5, -0.01),
            DVec3::new(0.1, 0.1, 0.0),
        );
        rig.add(
            "foot",
            Some(shin),
            DVec3::new(0.1, 0.1, 0.0),
            DVec3::new(0.1, 0.03, -0.1),
        );
        rig
    }

    #[test]
    fn a_leg_reaches_its_target_with_the_knee_forward_and_the_foot_flat() {
        let rig = leg();
        let mut pose = rig.rest();
        pose.turn(0, super::super::maths::turn(DVec3::Y, 20.0));
        let target = DVec3::new(0.15, 0.25, -0.2);
        let short = rig.reach(&mut pose, [1, 2, 3], target, DVec3::NEG_Z, DQuat::IDENTITY);
        let model = rig.model(&pose);
        assert!(short < 1e-9 && model[3].0.distance(target) < 1e-9);
        assert!(model[2].0.z < model[1].0.z.min(target.z));
        assert!(model[3].1.angle_between(DQuat::IDENTITY) < 1e-6);
    }

    #[test]
    fn local_transforms_compose_to_the_model_pose() {
        let rig = leg();
        let mut pose = rig.rest();
        rig.reach(
            &mut pose,
            [1, 2, 3],
            DVec3::new(0.1, 0.3, -0.1),
            DVec3::NEG_Z,
            DQuat::IDENTITY,
        );
        let skeleton = rig.skeleton().unwrap();
        let model = rig.model(&pose);
        let mut matrices: Vec<Affine3A> = Vec::new();
        for (j, local) in rig.local(&pose).into_iter().enumerate() {
            let local = local.to_affine();
            matrices
                .push(skeleton.parents()[j].map_or(local, |p| matrices[usize::from(p)] * local));
            let at: glam::Vec3 = matrices[j].translation.into();
            assert!(at.distance(model[j].0.as_vec3()) < 1e-5);
        }
    }
}
