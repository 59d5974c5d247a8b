//! Palettes: what the skin of a part is moved by.

use super::product::{self, Product};
use crate::model::JointIndex;
use glam::{Affine3A, Mat3A, Mat4};

/// The palette of one part: `world · model · inverse_bind` for each of its joints.
#[derive(Clone, Copy, Debug)]
pub struct Palette<'a> {
    /// The character's place in the world. One that only moves costs half as much: what turns and scales can
    /// be in [`LocalToModel::root`](super::LocalToModel::root) already.
    pub world: Affine3A,
    /// Every joint's matrix in model space, from [`LocalToModel`](super::LocalToModel).
    pub model: &'a [Affine3A],
    /// Every joint's inverse bind matrix.
    pub inverse_bind: &'a [Affine3A],
    /// The part's joints: palette index → joint.
    pub remap: &'a [JointIndex],
}

impl Palette<'_> {
    /// Writes the matrices to `out`, as many as `remap` is long.
    ///
    /// # Panics
    /// If `out` is too short, or a joint of `remap` has no matrix.
    pub fn run(&self, out: &mut [Mat4]) {
        product::dispatch!(self.run_with(out));
    }

    #[inline(always)]
    fn run_with<P: Product>(&self, product: P, out: &mut [Mat4]) {
        // Where the compiler sees that nothing written can change them, they stay in registers.
        let Self { world, model, inverse_bind, remap } = *self;
        let count = model.len().min(inverse_bind.len());
        let (model, inverse_bind) = (&model[..count], &inverse_bind[..count]);
        let entries = out[..remap.len()].iter_mut().zip(remap);
        // Loops, not closures: only what is inlined is compiled for the vectors of `P`.
        if world.matrix3 == Mat3A::IDENTITY {
            let place = product.place(world.translation);
            for (out, &joint) in entries {
                let joint = usize::from(joint);
                product.write_placed(place, product.left(&model[joint]), product.right(&inverse_bind[joint]), out);
            }
        } else {
            let world = product.left(&world);
            for (out, &joint) in entries {
                let joint = usize::from(joint);
                let skinning = product.of(product.left(&model[joint]), product.right(&inverse_bind[joint]));
                product.write_matrix(world, skinning, out);
            }
        }
    }
}

/// The matrices `model · inverse_bind` of all joints: for several parts that share joints.
///
/// With matrices in world space ([`LocalToModel::root`](super::LocalToModel::root)) the palettes of
/// the parts are mere copies of the result: [`copy_palette`].
#[derive(Clone, Copy, Debug)]
pub struct Skinning<'a> {
    /// Every joint's matrix, in model or world space.
    pub model: &'a [Affine3A],
    /// Every joint's inverse bind matrix; as many as are written.
    pub inverse_bind: &'a [Affine3A],
}

impl Skinning<'_> {
    /// Writes each joint's skinning matrix to `out`.
    ///
    /// # Panics
    /// If `out` or `model` is shorter than `inverse_bind`.
    pub fn run(&self, out: &mut [Mat4]) {
        product::dispatch!(self.run_with(out));
    }

    #[inline(always)]
    fn run_with<P: Product>(&self, product: P, out: &mut [Mat4]) {
        let count = self.inverse_bind.len();
        for ((out, model), inverse_bind) in out[..count].iter_mut().zip(&self.model[..count]).zip(self.inverse_bind) {
            product.write_matrix(product.left(model), product.right(inverse_bind), out);
        }
    }
}

/// Copies the matrices of a part's joints, from [`Skinning`], to its palette.
///
/// # Panics
/// If `out` is too short, or a joint of `remap` has no matrix.
pub fn copy_palette(skinning: &[Mat4], remap: &[JointIndex], out: &mut [Mat4]) {
    for (out, &joint) in out[..remap.len()].iter_mut().zip(remap) {
        *out = skinning[usize::from(joint)];
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
        assert!(out[3].is_nan(), "past the part's joints nothing is written");

        let mut skinning = [Mat4::NAN; 5];
        Skinning { model: &model.iter().map(|m| world * *m).collect::<Vec<_>>(), inverse_bind: &inverse_bind }
            .run(&mut skinning);
        let mut copied = [Mat4::NAN; 3];
        copy_palette(&skinning, &remap, &mut copied);
        assert!(copied.iter().zip(&out).all(|(a, b)| a.abs_diff_eq(*b, 1e-4)));
    }
}
