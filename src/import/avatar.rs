//! The character that a VRM file describes, whichever version of VRM it is in.

use crate::rig::ConstraintKind;
use glam::Vec3;
use serde::Serialize;
use std::collections::BTreeMap;

/// The contents of a VRM file beyond its model: who made it and what may be done with it, and how its bones, eyes, and hair
/// move.
///
/// Expressions are among the model's [`Morphs`](crate::model::Morphs::own_expressions), and roles of joints are its
/// skeleton's [`roles`](crate::model::Skeleton::roles). Joints are indices into the skeleton, and everything is in Bevy's axes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Avatar {
    /// Version of VRM, as the file has it: `0.0` or `1.0`.
    pub version: String,
    /// Name, authors, and license.
    pub meta: AvatarMeta,
    /// Joints by VRM 1.0's names of bones, such as `leftUpperArm`.
    pub bones: BTreeMap<&'static str, usize>,
    /// How the eyes look at something.
    pub look_at: Option<AvatarLookAt>,
    /// Meshes with the views in which they are seen: the node's name, and `auto`, `both`, `thirdPersonOnly`, or
    /// `firstPersonOnly`.
    pub first_person: Vec<(String, &'static str)>,
    /// Joints that swing.
    pub springs: Vec<AvatarSpring>,
    /// Shapes that springs refer to.
    pub colliders: Vec<AvatarCollider>,
    /// Joints that turn with others.
    pub constraints: Vec<AvatarConstraint>,
}

/// The name, the authors, and the license of an [`Avatar`].
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AvatarMeta {
    /// Name of the character.
    pub name: String,
    /// Version of the character.
    pub version: String,
    /// Authors, first the creator.
    pub authors: Vec<String>,
    /// Holder of the copyright.
    pub copyright: String,
    /// How to reach the authors.
    pub contact: String,
    /// Original works.
    pub references: Vec<String>,
    /// The license: its address, or in VRM 0 its name.
    pub license: String,
    /// Address of another license that goes with it.
    pub other_license: String,
    /// What is permitted, as the file says it: `("commercialUsage", "personalNonProfit")`.
    pub terms: Vec<(&'static str, String)>,
}

/// The way in which the eyes of an [`Avatar`] look at something.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AvatarLookAt {
    /// The point between the eyes, in the space of the head.
    pub offset: Vec3,
    /// `true` if expressions such as `lookLeft` move the eyes, and joints don't.
    pub by_expressions: bool,
    /// Toward the nose, away from it, down, and up.
    pub ranges: [RangeMap; 4],
}

/// The turn of an eye for an angle to a target.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RangeMap {
    /// The angle from which on the eye turns no further, in degrees.
    pub input: f32,
    /// The eye's turn at that angle in degrees, or the expression's weight.
    pub output: f32,
}

impl Default for RangeMap {
    fn default() -> Self {
        Self {
            input: 90.0,
            output: 10.0,
        }
    }
}

/// A chain of joints that swing, of an [`Avatar`].
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AvatarSpring {
    /// Name, or an empty one.
    pub name: String,
    /// The joints, each below the one before it. The last is where the last bone ends.
    pub joints: Vec<AvatarSpringJoint>,
    /// `true` if all joints below the first swing like it, as in VRM 0.
    pub is_whole: bool,
    /// The joint relative to which the speed of the chain counts; `None` for the world.
    pub center: Option<usize>,
    /// Indices of the [`colliders`](Avatar::colliders) that it stays outside of.
    pub colliders: Vec<usize>,
}

/// A joint of an [`AvatarSpring`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AvatarSpringJoint {
    /// The joint.
    pub joint: usize,
    /// The force toward the pose.
    pub stiffness: f32,
    /// The force of gravity, with its direction.
    pub gravity: Vec3,
    /// The share of the speed that is lost in a step of the simulation, 0..=1.
    pub drag: f32,
    /// The distance that the bone's end keeps from colliders.
    pub radius: f32,
}

/// A shape that an [`AvatarSpring`] stays outside of.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AvatarCollider {
    /// The joint that it moves with.
    pub joint: usize,
    /// The shape, in the joint's space.
    pub shape: ColliderShape,
}

/// The shape of an [`AvatarCollider`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum ColliderShape {
    /// A sphere, or its inside.
    Sphere {
        /// Center.
        center: Vec3,
        /// Radius.
        radius: f32,
        /// `true` if springs stay inside.
        inside: bool,
    },
    /// A capsule, or its inside.
    Capsule {
        /// Centers of the ends.
        ends: [Vec3; 2],
        /// Radius.
        radius: f32,
        /// `true` if springs stay inside.
        inside: bool,
    },
    /// A plane, in front of which springs stay.
    Plane {
        /// A point of the plane.
        point: Vec3,
        /// The direction to the front.
        normal: Vec3,
    },
}

/// A joint of an [`Avatar`] that turns with another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AvatarConstraint {
    /// The joint that turns.
    pub joint: usize,
    /// The joint that it follows.
    pub source: usize,
    /// The way in which it follows.
    pub kind: ConstraintKind,
    /// The share of the turn, 0..=1.
    pub weight: f32,
}

impl Avatar {
    /// Returns the view in which a part of the model is seen: `both`, `thirdPersonOnly`, `firstPersonOnly`, or `auto`, which
    /// leaves out what hangs from the head for who looks through its eyes.
    pub fn view_of(&self, part: &str) -> &'static str {
        // A mesh with several materials is several parts: `Body.skin`.
        let is_of = |mesh: &str| {
            let rest = part.strip_prefix(mesh);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let views = self.first_person.iter();
        let found = views
            .filter(|(mesh, _)| is_of(mesh))
            .max_by_key(|(mesh, _)| mesh.len());
        found.map_or("auto", |(_, view)| *view)
    }

    /// Replaces nodes of a file with joints. What refers to nodes that are no joints is left out.
    #[cfg(feature = "gltf")]
    pub(super) fn with_joints(mut self, joint_of: impl Fn(usize) -> Option<usize>) -> Self {
        let to_joint = |at: &mut usize| {
            let joint = joint_of(*at);
            *at = joint.unwrap_or(*at);
            joint.is_some()
        };
        self.bones.retain(|_, joint| to_joint(joint));
        self.constraints
            .retain_mut(|one| to_joint(&mut one.joint) && to_joint(&mut one.source));
        for spring in &mut self.springs {
            spring.joints.retain_mut(|one| to_joint(&mut one.joint));
            spring.center = spring.center.and_then(&joint_of);
        }
        self.springs.retain(|spring| !spring.joints.is_empty());
        // Springs refer to them by index, so none is taken out.
        for collider in &mut self.colliders {
            if !to_joint(&mut collider.joint) {
                *collider = AvatarCollider {
                    joint: 0,
                    shape: ColliderShape::Sphere {
                        center: Vec3::ZERO,
                        radius: 0.0,
                        inside: false,
                    },
                };
            }
        }
        self
    }

    /// Converts what is in the spaces of nodes to those of joints, whose vectors are longer by these factors.
    #[cfg(feature = "gltf")]
    pub(super) fn scale(&mut self, factors: impl Fn(usize) -> Vec3) {
        let sign = |v: Vec3| Vec3::select(v.cmplt(Vec3::ZERO), Vec3::NEG_ONE, Vec3::ONE);
        for collider in &mut self.colliders {
            let by = factors(collider.joint);
            match &mut collider.shape {
                ColliderShape::Sphere { center, .. } => *center *= by,
                ColliderShape::Capsule { ends, .. } => {
                    *ends = ends.map(|end| end * by);
                }
                ColliderShape::Plane { point, normal } => {
                    *point *= by;
                    *normal *= sign(by);
                }
            }
        }
        for constraint in &mut self.constraints {
            let by = sign(factors(constraint.joint));
            if let ConstraintKind::Roll(axis) | ConstraintKind::Aim(axis) = &mut constraint.kind {
                *axis *= by;
            }
        }
        let head = self.bones.get("head").copied();
        if let (Some(look_at), Some(head)) = (&mut self.look_at, head) {
            look_at.offset *= factors(head);
        }
    }

    /// Returns the indices of all joints that it refers to.
    #[cfg(feature = "gltf")]
    pub(super) fn joints(&self) -> impl Iterator<Item = usize> + '_ {
        let springs = self.springs.iter().flat_map(|spring| {
            let joints = spring.joints.iter().map(|one| one.joint);
            joints.chain(spring.center)
        });
        let bones = self.bones.values().copied();
        let colliders = self.colliders.iter().map(|collider| collider.joint);
        let constraints = self.constraints.iter();
        let constraints = constraints.flat_map(|one| [one.joint, one.source]);
        bones.chain(springs).chain(colliders).chain(constraints)
    }
}
