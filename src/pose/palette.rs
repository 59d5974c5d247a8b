//! Palettes: the matrices that move a part's skin.

use super::matrix::{Columns, Left};
use super::simd::{self, Simd};
use crate::model::JointIndex;
use glam::{Affine3A, Mat3A, Mat4};

/// The palette of one part: `world · model · inverse_bind` for each of its joints.
#[derive(Clone, Copy, Debug)]
pub struct Palette<'a> {
    /// The character's world matrix. A pure translation takes half the time: put rotation and scale
    /// into [`LocalToModel::root`](super::LocalToModel::root) instead.
    pub world: Affine3A,
    /// Every joint's matrix in model space, from [`LocalToModel`](super::LocalToModel).
    pub model: &'a [Affine3A],
    /// Every joint's inverse bind matrix.
    pub inverse_bind: &'a [Affine3A],
    /// The part's joints: palette index → joint.
    pub remap: &'a [JointIndex],
}

impl Palette<'_> {
    /// Writes one matrix per entry of `remap` to `out`.
    ///
    /// # Panics
    /// If `out` is too short, or a joint of `remap` has no matrix.
    pub fn run(&self, out: &mut [Mat4]) {
        simd::dispatch!(s => self.run_with(s, out));
    }

    #[inline(always)]
    fn run_with<S: Simd>(&self, s: S, out: &mut [Mat4]) {
        // Copied, so that the compiler sees that writing to `out` changes none of them.
        let Self { world, model, inverse_bind, remap } = *self;
        let count = model.len().min(inverse_bind.len());
        let (model, inverse_bind) = (&model[..count], &inverse_bind[..count]);
        let entries = out[..remap.len()].iter_mut().zip(remap);
        if world.matrix3 == Mat3A::IDENTITY {
            for (out, &joint) in entries {
                let joint = usize::from(joint);
                let skinning = Left::new(s, &model[joint]).times(s, Columns::new(s, &inverse_bind[joint]));
                *out = skinning.moved(s, world.translation).to_mat4(s);
            }
        } else {
            let world = Left::new(s, &world);
            for (out, &joint) in entries {
                let joint = usize::from(joint);
                let skinning = Left::new(s, &model[joint]).times(s, Columns::new(s, &inverse_bind[joint]));
                *out = world.times(s, skinning).to_mat4(s);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{Quat, Vec3};

    fn affine(i: usize) -> Affine3A {
        let turn = Quat::from_rotation_x(i as f32) * Quat::from_rotation_z(0.3);
        Affine3A::from_scale_rotation_translation(Vec3::new(1.0, 2.0, 0.5), turn, Vec3::splat(i as f32))
    }

    #[test]
    fn each_entry_is_world_times_model_times_inverse_bind_of_its_joint() {
        let model: Vec<_> = (0..5).map(affine).collect();
        let inverse_bind: Vec<_> = (5..10).map(affine).collect();
        let (world, remap) = (affine(11), [3, 0, 4]);
        let mut out = [Mat4::NAN; 4];
        Palette { world, model: &model, inverse_bind: &inverse_bind, remap: &remap }.run(&mut out);
        for (out, joint) in out.iter().zip([3, 0, 4]) {
            let expected = Mat4::from(world) * Mat4::from(model[joint]) * Mat4::from(inverse_bind[joint]);
            assert!(out.abs_diff_eq(expected, 1e-4));
            assert_eq!(out.row(3), glam::Vec4::W);
        }
        assert!(out[3].is_nan(), "nothing is written past the part's joints");
    }
}
