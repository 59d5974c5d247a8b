//! Spheres, capsules, and planes that springs stay outside of, or inside.

use crate::model::JointIndex;
use glam::{Affine3A, Vec3, Vec3A};
use serde::{Deserialize, Serialize};

/// The side of a collider on which springs stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub enum ColliderKind {
    /// Outside of the sphere or capsule.
    #[default]
    Outside,
    /// Inside of it.
    Inside,
    /// In front of a plane: on the side of its other end.
    Plane,
}

/// A sphere, a capsule or a plane that moves with a joint and keeps [`Springs`](super::Springs) on one side.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub struct Collider {
    /// The side on which springs stay.
    #[serde(default)]
    pub kind: ColliderKind,
    /// The joint.
    pub joint: JointIndex,
    /// The center of a sphere, or of a capsule's first end, in the joint's space. A point of a plane.
    pub center: Vec3,
    /// The center of a capsule's other end in the joint's space; `None` for a sphere. A plane faces from its center to there.
    pub end: Option<Vec3>,
    /// The radius in model units; 0 or less never touches anything, except for a plane, which has none.
    pub radius: f32,
}

/// A collider in world space: the segment from `center` to `center + axis`, with a radius.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Placed {
    pub(super) center: Vec3A,
    pub(super) axis: Vec3A,
    pub(super) radius: f32,
    pub(super) kind: ColliderKind,
    /// 1 / the squared length of the axis; 0 for a sphere.
    inverse_square: f32,
}

impl Collider {
    /// Returns `true` if it can touch anything.
    pub(super) fn is_there(&self) -> bool {
        match self.kind {
            ColliderKind::Plane => self.end.is_some_and(|end| end != self.center),
            _ => self.radius > 0.0 && self.radius.is_finite(),
        }
    }

    /// Returns the collider in world space, given its joint's matrix.
    #[inline(always)]
    pub(super) fn place(&self, world: &Affine3A, joint: &Affine3A) -> Placed {
        let point = |point: Vec3| world.transform_point3a(joint.transform_point3a(point.into()));
        let center = point(self.center);
        let axis = self.end.map_or(Vec3A::ZERO, |end| point(end) - center);
        let scale = (world.matrix3 * joint.matrix3.x_axis).length();
        Placed::new(center, axis, self.radius.max(0.0) * scale, self.kind)
    }
}

impl Placed {
    #[inline(always)]
    pub(super) fn new(center: Vec3A, axis: Vec3A, radius: f32, kind: ColliderKind) -> Self {
        let square = axis.length_squared();
        Self {
            center,
            axis,
            radius,
            kind,
            inverse_square: if square > 1e-20 { 1.0 / square } else { 0.0 },
        }
    }

    /// Returns `true` if it is as good as a single point.
    #[inline(always)]
    pub(super) fn is_sphere(&self) -> bool {
        self.inverse_square == 0.0
    }

    /// The vector to `point` from the nearest point of the segment.
    #[inline(always)]
    pub(super) fn to(&self, point: Vec3A) -> Vec3A {
        let from = point - self.center;
        let along = (from.dot(self.axis) * self.inverse_square).clamp(0.0, 1.0);
        from - self.axis * along
    }
}
