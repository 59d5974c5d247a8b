use super::*;
use crate::pose::stream;
use glam::{Quat, Vec3};

fn affine(i: usize) -> Affine3A {
    let turn = Quat::from_rotation_x(i as f32) * Quat::from_rotation_z(0.3);
    Affine3A::from_scale_rotation_translation(Vec3::new(1.0, 2.0, 0.5), turn, Vec3::splat(i as f32))
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
