//! Palettes: the matrices that move a part's skin.

use super::matrix::{Columns, Left};
use super::simd::{self, Simd};
use super::stream::Stream;
use crate::model::{CombinedJoints, JointIndex};
use glam::{Affine3A, Mat3A, Mat4, Vec3A, Vec4};

/// The palette of one part: `world · model · inverse_bind` for each of its joints, then its combined joints.
#[derive(Clone, Copy, Debug)]
pub struct Palette<'a> {
    /// The character's world matrix. A pure translation takes half the time: put rotation and scale
    /// into the root of [`Evaluate::run_clips`](super::Evaluate::run_clips) instead.
    pub world: Affine3A,
    /// Every joint's matrix in model space: [`Scratch::model`](super::Scratch::model).
    pub model: &'a [Affine3A],
    /// Every joint's inverse bind matrix.
    pub inverse_bind: &'a [Affine3A],
    /// The part's joints: palette index → joint.
    pub remap: &'a [JointIndex],
    /// The part's combined joints, whose matrices are weighted means of those of `remap`.
    pub combined: &'a CombinedJoints,
}

impl Palette<'_> {
    /// Writes one matrix per entry of `remap` and then of `combined` to `out`.
    ///
    /// A share of a joint that `remap` lacks counts as the identity.
    ///
    /// # Panics
    /// If `out` is too short, or a joint of `remap` has no matrix.
    pub fn run(&self, out: &mut [Mat4]) {
        self.write(out, false);
        self.combine(out);
    }

    /// Like [`Self::run`], but past the caches where the processor can; see [`stream`](super::stream()).
    ///
    /// Combined joints are made from the matrices of other joints, so palettes that have them are written as by
    /// [`Self::run`].
    ///
    /// # Panics
    /// Like [`Self::run`].
    #[doc(hidden)]
    pub fn stream<'scope>(&self, out: &'scope mut [Mat4], _: &'scope Stream<'scope, '_>) {
        if self.combined.is_empty() {
            self.write(out, true);
        } else {
            self.run(out);
        }
    }

    /// Writes one matrix per entry of `remap`; past the caches if `stream`, and then only within [`stream`](super::stream()).
    pub(super) fn write(&self, out: &mut [Mat4], stream: bool) {
        simd::dispatch!(s => self.run_with(s, out, stream));
    }

    /// Writes the combined joints, behind the others.
    pub(super) fn combine(&self, out: &mut [Mat4]) {
        if !self.combined.is_empty() {
            simd::dispatch!(s => self.combine_with(s, out));
        }
    }

    #[inline(always)]
    fn run_with<S: Simd>(&self, s: S, out: &mut [Mat4], stream: bool) {
        if S::STREAMS && stream {
            self.write_with::<S, true>(s, out);
        } else {
            self.write_with::<S, false>(s, out);
        }
    }

    #[inline(always)]
    fn write_with<S: Simd, const STREAM: bool>(&self, s: S, out: &mut [Mat4]) {
        // Copied, so that the compiler sees that writing to `out` changes none of them.
        let Self {
            world,
            model,
            inverse_bind,
            remap,
            ..
        } = *self;
        let count = model.len().min(inverse_bind.len());
        let (model, inverse_bind) = (&model[..count], &inverse_bind[..count]);
        let entries = out[..remap.len()].iter_mut().zip(remap);
        // A translation takes an addition instead of a second product. `split_world` makes this the
        // usual case.
        if world.matrix3 == Mat3A::IDENTITY {
            for (out, &joint) in entries {
                let joint = usize::from(joint);
                let skinning =
                    Left::new(s, &model[joint]).times(s, Columns::new(s, &inverse_bind[joint]));
                skinning.moved(s, world.translation).write::<STREAM>(s, out);
            }
        } else {
            let world = Left::new(s, &world);
            for (out, &joint) in entries {
                let joint = usize::from(joint);
                let skinning =
                    Left::new(s, &model[joint]).times(s, Columns::new(s, &inverse_bind[joint]));
                world.times(s, skinning).write::<STREAM>(s, out);
            }
        }
    }

    #[inline(always)]
    fn combine_with<S: Simd>(&self, s: S, out: &mut [Mat4]) {
        let (joints, entries) = out.split_at_mut(self.remap.len());
        for (out, shares) in entries[..self.combined.len()]
            .iter_mut()
            .zip(self.combined.iter())
        {
            let [mut xy, mut zw] = [s.both(Vec4::ZERO); 2];
            for &(slot, share) in shares {
                let matrix = joints.get(usize::from(slot)).unwrap_or(&Mat4::IDENTITY);
                let share = s.both(Vec4::splat(share));
                xy = s.add(xy, s.mul(s.pair(matrix.x_axis, matrix.y_axis), share));
                zw = s.add(zw, s.mul(s.pair(matrix.z_axis, matrix.w_axis), share));
            }
            let ([x, y], [z, w]) = (s.rows(xy), s.rows(zw));
            // Shares sum to one only up to rounding.
            *out = Mat4::from_cols(x, y, z, w.with_w(1.0));
        }
    }
}

/// Splits a world matrix into the parent of the skeleton's roots and the rest, for
/// [`Palette::world`].
///
/// The translation is added last: far from the origin, it would round the joints.
#[inline]
pub(crate) fn split_world(world: &Affine3A) -> (Affine3A, Affine3A) {
    (
        Affine3A {
            translation: Vec3A::ZERO,
            ..*world
        },
        Affine3A {
            matrix3: Mat3A::IDENTITY,
            ..*world
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pose::stream;
    use glam::{Quat, Vec3};

    fn affine(i: usize) -> Affine3A {
        let turn = Quat::from_rotation_x(i as f32) * Quat::from_rotation_z(0.3);
        Affine3A::from_scale_rotation_translation(
            Vec3::new(1.0, 2.0, 0.5),
            turn,
            Vec3::splat(i as f32),
        )
    }

    #[test]
    fn each_entry_is_world_times_model_times_inverse_bind_of_its_joint() {
        let model: Vec<_> = (0..5).map(affine).collect();
        let inverse_bind: Vec<_> = (5..10).map(affine).collect();
        let (world, remap, combined) = (affine(11), [3, 0, 4], &CombinedJoints::new());
        let mut out = [Mat4::NAN; 4];
        Palette {
            world,
            model: &model,
            inverse_bind: &inverse_bind,
            remap: &remap,
            combined,
        }
        .run(&mut out);
        for (out, joint) in out.iter().zip([3, 0, 4]) {
            let expected =
                Mat4::from(world) * Mat4::from(model[joint]) * Mat4::from(inverse_bind[joint]);
            assert!(out.abs_diff_eq(expected, 1e-4));
            assert_eq!(out.row(3), glam::Vec4::W);
        }
        assert!(out[3].is_nan(), "nothing is written past the part's joints");
    }

    #[test]
    fn streaming_gives_the_same_bits() {
        let model: Vec<_> = (0..5).map(affine).collect();
        let inverse_bind: Vec<_> = (5..10).map(affine).collect();
        let mut combined = CombinedJoints::new();
        for world in [affine(11), Affine3A::from_translation(Vec3::ONE)] {
            let remap = [3, 0, 4];
            let palette = Palette {
                world,
                model: &model,
                inverse_bind: &inverse_bind,
                remap: &remap,
                combined: &combined,
            };
            let (mut stored, mut streamed) = ([Mat4::NAN; 6], [Mat4::NAN; 6]);
            palette.run(&mut stored);
            stream(|stream| palette.stream(&mut streamed, stream));
            assert_eq!(
                stored.map(|m| m.to_cols_array().map(f32::to_bits)),
                streamed.map(|m| m.to_cols_array().map(f32::to_bits))
            );
            combined.push([(0, 0.5), (2, 0.5)]);
        }
    }

    #[test]
    fn combined_joints_are_means_of_their_joints_after_them() {
        let model: Vec<_> = (0..5).map(affine).collect();
        let mut combined = CombinedJoints::default();
        combined.push([(0, 0.5), (2, 0.3), (1, 0.2)]);
        combined.push([(1, 0.75), (7, 0.25)]);
        for world in [affine(11), Affine3A::from_translation(Vec3::ONE)] {
            let mut out = [Mat4::NAN; 6];
            let (inverse_bind, remap) = (&[Affine3A::IDENTITY; 5], &[3, 0, 4]);
            Palette {
                world,
                model: &model,
                inverse_bind,
                remap,
                combined: &combined,
            }
            .run(&mut out);
            let mut mean = out[0] * 0.5 + out[2] * 0.3 + out[1] * 0.2;
            mean.w_axis.w = 1.0;
            assert_eq!(out[3], mean);
            assert!(
                out[4].abs_diff_eq(out[1] * 0.75 + Mat4::IDENTITY * 0.25, 1e-6),
                "a missing joint is the identity"
            );
            assert!(out[5].is_nan());
        }
    }
}
