//! From transforms relative to parents to matrices in model space.

use super::matrix::{Columns, Elements, Left};
use super::simd::{self, Simd};
use crate::model::{JointIndex, SoaTransform};
use glam::Affine3A;
use std::ops::Range;

/// Multiplies local transforms down the hierarchy, in one forward loop over joints parents first.
#[derive(Clone, Copy, Debug)]
pub struct LocalToModel<'a> {
    /// Each joint's parent, which must come before it; `None` for roots.
    pub parents: &'a [Option<JointIndex>],
    /// Transforms relative to the parents: `parents.len().div_ceil(4)` rows.
    pub local: &'a [SoaTransform],
    /// The parent of the roots; `None` for model space. Pass the character's world matrix to get
    /// world-space matrices at no extra cost.
    pub root: Option<&'a Affine3A>,
    /// `true` if all scales of `local` are one; they are then not read.
    pub unit_scale: bool,
}

impl LocalToModel<'_> {
    /// Writes one 3×4 matrix per joint to `out`.
    ///
    /// # Panics
    /// If `out` or `local` is too short, or a parent does not come before its child.
    pub fn run(&self, out: &mut [Affine3A]) {
        self.run_from(0, out);
    }

    /// Like [`Self::run`], but only for the joints from `first` on; `out` must hold the others.
    ///
    /// Use this after changing one joint's local transform: only its own matrix and those of its
    /// descendants change, and descendants come later.
    ///
    /// # Panics
    /// Like [`Self::run`].
    pub fn run_from(&self, first: usize, out: &mut [Affine3A]) {
        self.run_range(first..self.parents.len(), out);
    }

    /// Like [`Self::run`], but only for some joints; `out` must hold those before them.
    ///
    /// # Panics
    /// Like [`Self::run`], or if there are no such joints.
    pub fn run_range(&self, joints: Range<usize>, out: &mut [Affine3A]) {
        simd::dispatch!(s => if self.unit_scale {
            self.multiply::<_, false>(s, joints, out)
        } else {
            self.multiply::<_, true>(s, joints, out)
        })
    }

    #[inline(always)]
    fn multiply<S: Simd, const SCALE: bool>(
        &self,
        s: S,
        joints: Range<usize>,
        out: &mut [Affine3A],
    ) {
        let Range { start: first, end } = joints;
        let out = &mut out[..end];
        // The matrix of the joint before, which is mostly the parent's.
        let before = first
            .checked_sub(1)
            .map_or(&Affine3A::IDENTITY, |before| &out[before]);
        let mut last = Columns::new(s, before);
        for (row, local) in self.local[..end.div_ceil(4)]
            .iter()
            .enumerate()
            .skip(first / 4)
        {
            let elements = Elements::new::<SCALE>(s, local);
            let joint = row * 4;
            // Most rows are whole, and need no test per lane.
            if joint >= first && joint + 4 <= end {
                last = self.write::<S, 0>(s, &elements, joint, Some(last), out);
                last = self.write::<S, 1>(s, &elements, joint, Some(last), out);
                last = self.write::<S, 2>(s, &elements, joint, Some(last), out);
                last = self.write::<S, 3>(s, &elements, joint, Some(last), out);
                continue;
            }
            let lanes = first.saturating_sub(joint)..end - joint;
            if lanes.contains(&0) {
                last = self.write::<S, 0>(s, &elements, joint, Some(last), out);
            }
            if lanes.contains(&1) {
                last = self.write::<S, 1>(s, &elements, joint, Some(last), out);
            }
            if lanes.contains(&2) {
                last = self.write::<S, 2>(s, &elements, joint, Some(last), out);
            }
            if lanes.contains(&3) {
                last = self.write::<S, 3>(s, &elements, joint, Some(last), out);
            }
        }
    }

    /// Like [`Self::run`], but only for some of the first joints, a bit each; `out` must hold the parents of the others.
    pub(super) fn run_some(&self, joints: u128, out: &mut [Affine3A]) {
        simd::dispatch!(s => if self.unit_scale {
            self.multiply_some::<_, false>(s, joints, out)
        } else {
            self.multiply_some::<_, true>(s, joints, out)
        })
    }

    #[inline(always)]
    fn multiply_some<S: Simd, const SCALE: bool>(
        &self,
        s: S,
        mut joints: u128,
        out: &mut [Affine3A],
    ) {
        let mut last = None;
        for (row, local) in self.local.iter().enumerate() {
            let lanes = joints as u32 & 15;
            joints >>= 4;
            if lanes == 0 {
                if joints == 0 {
                    return;
                }
                // The joint before the next row isn't computed here, so its matrix isn't at hand.
                last = None;
                continue;
            }
            let elements = Elements::new::<SCALE>(s, local);
            last = (lanes & 1 != 0).then(|| self.write::<S, 0>(s, &elements, row * 4, last, out));
            last = (lanes & 2 != 0).then(|| self.write::<S, 1>(s, &elements, row * 4, last, out));
            last = (lanes & 4 != 0).then(|| self.write::<S, 2>(s, &elements, row * 4, last, out));
            last = (lanes & 8 != 0).then(|| self.write::<S, 3>(s, &elements, row * 4, last, out));
        }
    }

    /// Writes the matrix of the joint in a row's lane, and returns it. `last` is that of the joint before, if it is known.
    #[inline(always)]
    fn write<S: Simd, const LANE: usize>(
        &self,
        s: S,
        elements: &Elements<S>,
        row: usize,
        last: Option<Columns<S>>,
        out: &mut [Affine3A],
    ) -> Columns<S> {
        let joint = row + LANE;
        let (done, rest) = out.split_at_mut(joint);
        let above = match (self.parents[joint], last) {
            // Reading back a matrix that was just written takes as long as half a product.
            (Some(parent), Some(last)) if usize::from(parent) + 1 == joint => last.to_left(s),
            (Some(parent), _) => Left::new(s, &done[usize::from(parent)]),
            (None, _) => Left::new(s, self.root.unwrap_or(&Affine3A::IDENTITY)),
        };
        let matrix = above.times_lane::<LANE>(s, elements);
        rest[0] = matrix.to_affine(s);
        matrix
    }
}

#[cfg(test)]
#[path = "tests/model_space.rs"]
mod tests;
