//! The change of basis from a file's axes to Bevy's: right-handed, Y up, forward −Z.
//!
//! Axes are only permuted and negated, so nothing is lost: rotations and scales are converted
//! component by component, and no matrix has to be decomposed.

use super::{ImportSettings, UpAxis};
use crate::{
    format::{Diagnostic, FormatError},
    model::JointTransform,
};
use glam::{Affine3A, Mat3A, Quat, Vec3};

/// A change of basis: a signed permutation of the axes and a factor on lengths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Basis {
    axes: [Axis; 3],
    scale: f32,
}

/// The component of the file that a component comes from, and its sign.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Axis {
    from: usize,
    sign: f32,
}

impl Basis {
    /// The basis for data of the given handedness and up axis.
    ///
    /// - Y up, right-handed: `(x, y, z)`, unchanged.
    /// - Y up, left-handed (Direct3D's convention, +Z forward): `(x, y, −z)`.
    /// - Z up, +X forward, right-handed: `(−y, z, −x)`.
    /// - Z up, +X forward, left-handed: `(y, z, −x)`.
    ///
    /// `default_up` is the format's convention, for [`UpAxis::Auto`].
    ///
    /// # Errors
    /// The scale is not finite or not above 0.
    pub(super) fn new(
        file: &str,
        settings: &ImportSettings,
        right_handed: bool,
        default_up: UpAxis,
    ) -> Result<Self, FormatError> {
        let scale = settings.scale;
        if !(scale.is_finite() && scale > 0.0) {
            let error = Diagnostic::error(file, format!("the load setting `scale` is {scale}"));
            return Err(FormatError::one(
                error.with_hint("use a finite number above 0, such as 1 or 0.0254"),
            ));
        }
        let up = if settings.up == UpAxis::Auto {
            default_up
        } else {
            settings.up
        };
        let mirror = if right_handed { 1.0 } else { -1.0 };
        let axis = |from, sign| Axis { from, sign };
        let axes = match up {
            UpAxis::Auto | UpAxis::Y => [axis(0, 1.0), axis(1, 1.0), axis(2, mirror)],
            UpAxis::Z => [axis(1, -mirror), axis(2, 1.0), axis(0, -1.0)],
        };
        Ok(Self { axes, scale })
    }

    /// The basis for data that is Y up and faces +Z unless the settings say otherwise: glTF's convention.
    ///
    /// - right-handed: `(−x, y, −z)`, half a turn around Y.
    /// - left-handed: `(x, y, −z)`.
    ///
    /// # Errors
    /// The scale is not finite or not above 0.
    #[cfg(any(feature = "fbx", feature = "gltf"))]
    pub(super) fn facing_z(
        file: &str,
        settings: &ImportSettings,
        right_handed: bool,
    ) -> Result<Self, FormatError> {
        let mut basis = Self::new(file, settings, right_handed, UpAxis::Y)?;
        if settings.up == UpAxis::Auto && right_handed {
            basis.axes = [(0, -1.0), (1, 1.0), (2, -1.0)].map(|(from, sign)| Axis { from, sign });
        }
        Ok(basis)
    }

    /// The inverse: from Bevy's axes to the file's.
    pub(super) fn inverse(&self) -> Self {
        let mut axes = self.axes;
        for (to, axis) in self.axes.iter().enumerate() {
            // A sign is its own inverse.
            axes[axis.from] = Axis {
                from: to,
                sign: axis.sign,
            };
        }
        Self {
            axes,
            scale: 1.0 / self.scale,
        }
    }

    /// Returns the factor on lengths.
    pub(super) fn scale(&self) -> f32 {
        self.scale
    }

    /// Returns `true` if the change mirrors: triangles flip and cross products change sign.
    pub(super) fn mirrors(&self) -> bool {
        self.determinant() < 0.0
    }

    /// Converts a position.
    #[inline]
    pub(super) fn point(&self, p: Vec3) -> Vec3 {
        self.direction(p) * self.scale
    }

    /// Converts a scale. It is never negated: a mirrored axis is stretched as much as before.
    #[inline]
    pub(super) fn scale_of(&self, scale: Vec3) -> Vec3 {
        let [x, y, z] = self.axes;
        Vec3::new(scale[x.from], scale[y.from], scale[z.from])
    }

    /// Converts a direction, keeping its length.
    #[inline]
    pub(super) fn direction(&self, v: Vec3) -> Vec3 {
        let along = |axis: Axis| v[axis.from] * axis.sign;
        let [x, y, z] = self.axes;
        Vec3::new(along(x), along(y), along(z))
    }

    /// Converts a rotation.
    #[inline]
    pub(super) fn rotation(&self, q: Quat) -> Quat {
        // A mirror keeps the plane of rotation and reverses its sense.
        let axis = self.direction(Vec3::new(q.x, q.y, q.z)) * self.determinant();
        Quat::from_xyzw(axis.x, axis.y, axis.z, q.w)
    }

    /// Converts a joint's transform relative to its parent; both frames change alike.
    #[inline]
    pub(super) fn transform(&self, t: JointTransform) -> JointTransform {
        JointTransform {
            translation: self.point(t.translation),
            rotation: self.rotation(t.rotation),
            scale: self.scale_of(t.scale),
        }
    }

    /// Converts a matrix between two frames that both change: `C · m · C⁻¹`.
    pub(super) fn affine(&self, m: Affine3A) -> Affine3A {
        let column = |to: Axis| {
            let column = m.matrix3.col(to.from) * to.sign;
            self.direction(column.into()).into()
        };
        let [x, y, z] = self.axes.map(column);
        Affine3A {
            matrix3: Mat3A::from_cols(x, y, z),
            translation: self.point(m.translation.into()).into(),
        }
    }

    #[inline]
    fn determinant(&self) -> f32 {
        let [a, b, c] = self.axes;
        // An even permutation of three axes is one of the three rotations of (0, 1, 2).
        let even = (a.from + 1) % 3 == b.from;
        let sign = a.sign * b.sign * c.sign;
        if even { sign } else { -sign }
    }
}

#[cfg(test)]
#[path = "tests/axes.rs"]
mod tests;
