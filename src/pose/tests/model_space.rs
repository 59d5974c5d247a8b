use super::*;
use crate::model::JointTransform;
use glam::{Quat, Vec3};

fn local() -> Vec<JointTransform> {
    (0..7)
        .map(|i| JointTransform {
            translation: Vec3::new(i as f32, 1.0, -0.5),
            rotation: Quat::from_euler(glam::EulerRot::XYZ, 0.3 * i as f32, -0.7, 0.2),
            scale: Vec3::new(1.0, 1.5, 0.5 + 0.1 * i as f32),
        })
        .collect()
}

const PARENTS: [Option<JointIndex>; 7] = [None, Some(0), Some(1), Some(1), None, Some(4), Some(3)];

fn run(root: Option<&Affine3A>) -> Vec<Affine3A> {
    let mut out = vec![Affine3A::NAN; 9];
    LocalToModel {
        parents: &PARENTS,
        local: &SoaTransform::rows(&local()),
        root,
        unit_scale: false,
    }
    .run(&mut out);
    assert!(
        out[7..].iter().all(|m| m.is_nan()),
        "nothing is written past the last joint"
    );
    out.truncate(7);
    out
}

#[test]
fn each_joint_is_its_parent_times_its_own_transform() {
    let root = Affine3A::from_rotation_y(0.5) * Affine3A::from_translation(Vec3::Z);
    for root in [None, Some(&root)] {
        let out = run(root);
        for (joint, transform) in local().into_iter().enumerate() {
            let above =
                PARENTS[joint].map_or(root.copied().unwrap_or_default(), |p| out[usize::from(p)]);
            assert!(
                out[joint].abs_diff_eq(above * transform.to_affine(), 1e-5),
                "{joint}"
            );
        }
    }
}

#[test]
fn run_from_writes_only_the_joints_that_follow() {
    let whole = run(None);
    let rows = SoaTransform::rows(&local());
    for first in 0..=7 {
        let mut out = whole.clone();
        out[first..].fill(Affine3A::NAN);
        LocalToModel {
            parents: &PARENTS,
            local: &rows,
            root: None,
            unit_scale: false,
        }
        .run_from(first, &mut out);
        assert_eq!(out, whole);
    }
}

#[test]
fn a_skeleton_without_joints_is_fine() {
    LocalToModel {
        parents: &[],
        local: &[],
        root: None,
        unit_scale: true,
    }
    .run(&mut []);
}
