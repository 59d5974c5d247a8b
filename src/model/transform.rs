//! Transforms of joints, single and in structure-of-arrays rows of four.

use glam::{Affine3A, Mat3A, Quat, Vec3, Vec4};
use serde::{Deserialize, Serialize};

/// Translation, rotation and scale of a joint relative to its parent: `T · R · S` on columns.
///
/// ```
/// # use bevy_marionette::model::JointTransform;
/// # use glam::{Quat, Vec3};
/// # use std::f32::consts::FRAC_PI_2;
/// // A lever that is turned by 90°: its end, 10 cm along x, is above it.
/// let lever = JointTransform::new(Vec3::Y * 0.3, Quat::from_rotation_z(FRAC_PI_2));
/// let end = lever.to_affine().transform_point3(Vec3::X * 0.1);
/// assert!(end.abs_diff_eq(Vec3::Y * 0.4, 1e-6));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub struct JointTransform {
    /// Translation in model units.
    pub translation: Vec3,
    /// Rotation, normalized.
    pub rotation: Quat,
    /// Scale.
    pub scale: Vec3,
}

impl JointTransform {
    /// No translation, no rotation, a scale of one.
    pub const IDENTITY: Self = Self {
        translation: Vec3::ZERO,
        rotation: Quat::IDENTITY,
        scale: Vec3::ONE,
    };

    /// Creates a transform with a scale of one.
    pub const fn new(translation: Vec3, rotation: Quat) -> Self {
        Self {
            translation,
            rotation,
            scale: Vec3::ONE,
        }
    }

    /// Returns the matrix that maps joint space to the parent's space.
    pub fn to_affine(self) -> Affine3A {
        Affine3A::from_scale_rotation_translation(self.scale, self.rotation, self.translation)
    }

    /// Decomposes a matrix. Shear is lost, and mirroring becomes a negative x scale.
    pub fn from_affine(affine: Affine3A) -> Self {
        let (scale, rotation, translation) = affine.to_scale_rotation_translation();
        let rotation = if rotation.is_finite() {
            rotation.normalize()
        } else {
            Quat::IDENTITY
        };
        Self {
            translation,
            rotation,
            scale,
        }
    }

    /// Returns the difference from `reference`: `t − t₀`, `q₀⁻¹ · q`, `s / s₀` (1 where s₀ is 0).
    pub fn difference_to(&self, reference: &Self) -> Self {
        Self {
            translation: self.translation - reference.translation,
            rotation: (reference.rotation.inverse() * self.rotation).normalize(),
            scale: scale_ratio(self.scale, reference.scale),
        }
    }

    /// Adds a difference, as returned by [`Self::difference_to`].
    pub(crate) fn plus(&self, difference: &Self) -> Self {
        Self {
            translation: self.translation + difference.translation,
            rotation: self.rotation * difference.rotation,
            scale: self.scale * difference.scale,
        }
    }

    /// The transform at `t`, from 0 to 1, on the way to `other`: along the arc for rotations, straight for the rest.
    ///
    /// Components that are equal stay exactly as they are, so that a constant channel remains constant.
    #[inline]
    pub(crate) fn between(&self, other: &Self, t: f32) -> Self {
        Self {
            translation: mean(self.translation, other.translation, t),
            rotation: arc(self.rotation, other.rotation, t),
            scale: mean(self.scale, other.scale, t),
        }
    }

    /// Returns `true` if every number is finite.
    pub fn is_finite(&self) -> bool {
        self.translation.is_finite() && self.rotation.is_finite() && self.scale.is_finite()
    }
}

#[cfg(feature = "bevy")]
impl From<bevy::prelude::Transform> for JointTransform {
    fn from(
        bevy::prelude::Transform {
            translation,
            rotation,
            scale,
        }: bevy::prelude::Transform,
    ) -> Self {
        Self {
            translation,
            rotation,
            scale,
        }
    }
}

#[cfg(feature = "bevy")]
impl From<JointTransform> for bevy::prelude::Transform {
    fn from(
        JointTransform {
            translation,
            rotation,
            scale,
        }: JointTransform,
    ) -> Self {
        Self {
            translation,
            rotation,
            scale,
        }
    }
}

impl Default for JointTransform {
    fn default() -> Self {
        Self::IDENTITY
    }
}

/// The vector at `t`, from 0 to 1, on the straight line between two; exactly `from` if they are equal.
#[inline]
fn mean(from: Vec3, to: Vec3, t: f32) -> Vec3 {
    Vec3::select(from.cmpeq(to), from, from * (1.0 - t) + to * t)
}

/// The rotation at `t`, from 0 to 1, on the arc between two; exactly `from` if they are equal.
#[inline]
fn arc(from: Quat, to: Quat, t: f32) -> Quat {
    if from == to { from } else { from.slerp(to, t) }
}

/// Four vectors, one per lane.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct SoaVec3 {
    /// The x components.
    pub x: Vec4,
    /// The y components.
    pub y: Vec4,
    /// The z components.
    pub z: Vec4,
}

/// Four quaternions, one per lane.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct SoaQuat {
    /// The x components.
    pub x: Vec4,
    /// The y components.
    pub y: Vec4,
    /// The z components.
    pub z: Vec4,
    /// The w components, the scalar parts.
    pub w: Vec4,
}

/// The transforms of four joints, one per lane: a row of a pose.
///
/// A pose of `n` joints has `n.div_ceil(4)` rows. The lanes after the last joint are identity.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct SoaTransform {
    /// Translations in model units.
    pub translation: SoaVec3,
    /// Rotations, of unit length.
    pub rotation: SoaQuat,
    /// Scales.
    pub scale: SoaVec3,
}

impl SoaVec3 {
    /// Creates a row with the same vector in every lane.
    pub const fn splat(v: Vec3) -> Self {
        Self {
            x: Vec4::splat(v.x),
            y: Vec4::splat(v.y),
            z: Vec4::splat(v.z),
        }
    }

    /// Returns the vector in `lane`, 0 to 3.
    pub fn get(&self, lane: usize) -> Vec3 {
        // Indexing a `Vec4` itself compiles to a jump table.
        let [x, y, z] = [&self.x, &self.y, &self.z].map(AsRef::<[f32; 4]>::as_ref);
        Vec3::new(x[lane], y[lane], z[lane])
    }

    /// Sets the vector in `lane`, 0 to 3.
    pub fn set(&mut self, lane: usize, v: Vec3) {
        let [x, y, z] = [&mut self.x, &mut self.y, &mut self.z].map(AsMut::<[f32; 4]>::as_mut);
        (x[lane], y[lane], z[lane]) = (v.x, v.y, v.z);
    }
}

impl SoaQuat {
    /// Creates a row with the same quaternion in every lane.
    pub fn splat(q: Quat) -> Self {
        Self {
            x: Vec4::splat(q.x),
            y: Vec4::splat(q.y),
            z: Vec4::splat(q.z),
            w: Vec4::splat(q.w),
        }
    }

    /// Returns the quaternion in `lane`, 0 to 3.
    pub fn get(&self, lane: usize) -> Quat {
        let [x, y, z, w] = [&self.x, &self.y, &self.z, &self.w].map(AsRef::<[f32; 4]>::as_ref);
        Quat::from_xyzw(x[lane], y[lane], z[lane], w[lane])
    }

    /// Sets the quaternion in `lane`, 0 to 3.
    pub fn set(&mut self, lane: usize, q: Quat) {
        let [x, y, z, w] =
            [&mut self.x, &mut self.y, &mut self.z, &mut self.w].map(AsMut::<[f32; 4]>::as_mut);
        (x[lane], y[lane], z[lane], w[lane]) = (q.x, q.y, q.z, q.w);
    }
}

impl SoaTransform {
    /// Identity in every lane.
    pub const IDENTITY: Self = Self {
        translation: SoaVec3::splat(Vec3::ZERO),
        rotation: SoaQuat {
            x: Vec4::ZERO,
            y: Vec4::ZERO,
            z: Vec4::ZERO,
            w: Vec4::ONE,
        },
        scale: SoaVec3::splat(Vec3::ONE),
    };

    /// Returns the transform in `lane`, 0 to 3.
    pub fn get(&self, lane: usize) -> JointTransform {
        JointTransform {
            translation: self.translation.get(lane),
            rotation: self.rotation.get(lane),
            scale: self.scale.get(lane),
        }
    }

    /// Sets the transform in `lane`, 0 to 3.
    pub fn set(&mut self, lane: usize, transform: JointTransform) {
        self.translation.set(lane, transform.translation);
        self.rotation.set(lane, transform.rotation);
        self.scale.set(lane, transform.scale);
    }

    /// Converts a list of transforms to rows.
    pub fn rows(transforms: &[JointTransform]) -> Vec<Self> {
        let mut rows = vec![Self::IDENTITY; transforms.len().div_ceil(4)];
        for (i, transform) in transforms.iter().enumerate() {
            rows[i / 4].set(i % 4, *transform);
        }
        rows
    }
}

impl Default for SoaTransform {
    fn default() -> Self {
        Self::IDENTITY
    }
}

/// Converts a row-major 4×4 matrix for row vectors to an affine transform.
pub(crate) fn affine_from_row_vector_matrix(m: &[[f32; 4]; 4]) -> Affine3A {
    // Row-vector convention: v' = v · M, so the rows of M are the columns of the column-vector matrix.
    Affine3A {
        matrix3: Mat3A::from_cols_array(&[
            m[0][0], m[0][1], m[0][2], m[1][0], m[1][1], m[1][2], m[2][0], m[2][1], m[2][2],
        ]),
        translation: Vec3::new(m[3][0], m[3][1], m[3][2]).into(),
    }
}

/// Returns a scale relative to another one. Where that is 0, there is no ratio, and nothing changes.
fn scale_ratio(scale: Vec3, reference: Vec3) -> Vec3 {
    let ratio = scale / reference;
    Vec3::select(ratio.is_finite_mask(), ratio, Vec3::ONE)
}
