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
    /// [`Self::run`], and so are those of a few matrices that don't fill cache lines.
    ///
    /// # Panics
    /// Like [`Self::run`].
    #[doc(hidden)]
    pub fn stream<'scope>(&self, out: &'scope mut [Mat4], _: &'scope Stream<'scope, '_>) {
        if self.combined.is_empty() && Stream::pays_off(out) {
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
#[path = "tests/palette.rs"]
mod tests;
