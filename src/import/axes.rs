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

    /// Returns `true` if the change mirrors: triangles flip and cross products change sign.
    pub(super) fn mirrors(&self) -> bool {
        self.determinant() < 0.0
    }

    /// Converts a position.
    #[inline]
    pub(super) fn point(&self, p: Vec3) -> Vec3 {
        self.direction(p) * self.scale
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
        let [x, y, z] = self.axes;
        JointTransform {
            translation: self.point(t.translation),
            rotation: self.rotation(t.rotation),
            // Never negated: a mirrored axis is stretched as much as before.
            scale: Vec3::new(t.scale[x.from], t.scale[y.from], t.scale[z.from]),
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

    fn determinant(&self) -> f32 {
        let [a, b, c] = self.axes;
        // An even permutation of three axes is one of the three rotations of (0, 1, 2).
        let even = (a.from + 1) % 3 == b.from;
        let sign = a.sign * b.sign * c.sign;
        if even { sign } else { -sign }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f32::consts::FRAC_PI_2;

    fn bases() -> Vec<Basis> {
        let mut out = Vec::new();
        for up in [UpAxis::Y, UpAxis::Z] {
            for right_handed in [false, true] {
                let settings = ImportSettings {
                    scale: 0.5,
                    up,
                    ..ImportSettings::default()
                };
                out.push(Basis::new("f", &settings, right_handed, UpAxis::Y).unwrap());
            }
        }
        out
    }

    fn transform() -> JointTransform {
        JointTransform {
            translation: Vec3::new(1.0, -2.0, 3.0),
            rotation: Quat::from_xyzw(0.1, 0.7, -0.3, 0.4).normalize(),
            scale: Vec3::new(1.0, 2.0, 0.5),
        }
    }

    #[test]
    fn forward_up_and_right_land_on_bevys() {
        let settings = ImportSettings::default();
        let basis = |right, up| {
            Basis::new("f", &ImportSettings { up, ..settings }, right, UpAxis::Y).unwrap()
        };
        let (forward, up, right) = (Vec3::NEG_Z, Vec3::Y, Vec3::X);
        let md5 = basis(true, UpAxis::Z);
        assert_eq!(
            [Vec3::X, Vec3::Z, Vec3::NEG_Y].map(|v| md5.point(v)),
            [forward, up, right]
        );
        let d3d = basis(false, UpAxis::Auto);
        assert_eq!(
            [Vec3::Z, Vec3::Y, Vec3::X].map(|v| d3d.point(v)),
            [forward, up, right]
        );
        let left_z = basis(false, UpAxis::Z);
        assert_eq!(
            [Vec3::X, Vec3::Z, Vec3::Y].map(|v| left_z.point(v)),
            [forward, up, right]
        );
        assert_eq!([md5, d3d, left_z].map(|b| b.mirrors()), [false, true, true]);
        assert_eq!(
            md5.point(Vec3::new(1.0, 2.0, 3.0)),
            Vec3::new(-2.0, 3.0, -1.0)
        );
    }

    #[test]
    fn a_changed_transform_moves_a_changed_point_to_the_changed_place() {
        let (transform, point) = (transform(), Vec3::new(0.3, 5.0, -7.0));
        let moved = transform.to_affine().transform_point3(point);
        for basis in bases() {
            let expected = basis.point(moved);
            let got = basis
                .transform(transform)
                .to_affine()
                .transform_point3(basis.point(point));
            assert!(
                (got - expected).length() < 1e-5,
                "{basis:?}: {got} {expected}"
            );
            let got = basis
                .affine(transform.to_affine())
                .transform_point3(basis.point(point));
            assert!(
                (got - expected).length() < 1e-5,
                "{basis:?}: {got} {expected}"
            );
        }
    }

    #[test]
    fn the_inverse_undoes_everything() {
        for basis in bases() {
            let back = basis.inverse();
            let there = basis.transform(transform());
            assert_eq!(back.transform(there), transform());
            assert_eq!(
                back.affine(basis.affine(transform().to_affine())),
                transform().to_affine()
            );
            assert_eq!(basis.mirrors(), back.mirrors());
        }
    }

    #[test]
    fn a_mirror_turns_the_sense_of_a_rotation_around() {
        let d3d = bases()[0];
        let turned = d3d.rotation(Quat::from_rotation_y(FRAC_PI_2));
        assert_eq!(turned, Quat::from_rotation_y(-FRAC_PI_2));
        assert_eq!(
            d3d.rotation(Quat::from_rotation_z(1.0)),
            Quat::from_rotation_z(1.0)
        );
    }

    #[test]
    fn a_scale_that_is_not_positive_and_finite_is_an_error() {
        for scale in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            let settings = ImportSettings {
                scale,
                ..ImportSettings::default()
            };
            assert!(
                Basis::new("f", &settings, true, UpAxis::Y).is_err(),
                "{scale}"
            );
        }
    }
}
