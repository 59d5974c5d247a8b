use super::*;
use crate::{
    format::Diagnostic,
    import::{ImportSettings, UpAxis},
};
use glam::Mat4;

fn bone(parent: Option<u32>, bind: Mat4) -> M3dBone {
    // Columns of a column-vector matrix are the rows of the row-vector matrix.
    M3dBone {
        offset: bind.inverse().to_cols_array_2d(),
        parent,
    }
}

fn run(bones: Vec<M3dBone>, right_handed: bool) -> (Skeleton, Vec<JointIndex>, Vec<Diagnostic>) {
    let m3d = M3d {
        bones,
        ..M3d::default()
    };
    let basis = Basis::new("f", &ImportSettings::default(), right_handed, UpAxis::Y).unwrap();
    let mut report = Report::new("f");
    let Bones {
        skeleton, joints, ..
    } = import(&m3d, &basis, &mut report).unwrap();
    (skeleton, joints, report.finish())
}

#[test]
fn children_before_parents_are_sorted_and_keep_their_names() {
    let at = |x: f32| Mat4::from_translation(Vec3::X * x);
    let bones = vec![
        bone(Some(2), at(3.0)),
        bone(None, at(1.0)),
        bone(Some(1), at(2.0)),
        bone(None, at(9.0)),
    ];
    let (skeleton, map, warnings) = run(bones, true);
    let names: Vec<&str> = skeleton.names().iter().map(|n| &**n).collect();
    assert_eq!(names, ["Bone1", "Bone2", "Bone0", "Bone3"]);
    assert_eq!(map, [2, 0, 1, 3]);
    assert_eq!(skeleton.parents(), [None, Some(0), Some(1), None]);
    assert!((skeleton.rest_of(2).translation - Vec3::X).length() < 1e-6);
    assert!(warnings.is_empty());
}

#[test]
fn the_rest_pose_cancels_the_inverse_bind_in_either_hand() {
    let matrix = |angle: f32, x: f32| {
        Mat4::from_scale_rotation_translation(
            Vec3::splat(0.165),
            Quat::from_rotation_y(angle),
            Vec3::new(x, 2.0, 3.0),
        )
    };
    for right_handed in [false, true] {
        let bones = vec![
            bone(None, matrix(0.4, 1.0)),
            bone(Some(0), matrix(-1.2, 2.0)),
            bone(Some(1), matrix(2.0, -5.0)),
        ];
        let (skeleton, _, _) = run(bones, right_handed);
        for (rest, inverse_bind) in skeleton.rest_model().iter().zip(skeleton.inverse_bind()) {
            assert!((*rest * *inverse_bind).abs_diff_eq(Affine3A::IDENTITY, 1e-5));
        }
    }
}

#[test]
fn matrices_without_an_inverse_are_replaced_with_one_warning() {
    let mut bones = vec![
        bone(None, Mat4::IDENTITY),
        bone(Some(0), Mat4::IDENTITY),
        bone(None, Mat4::IDENTITY),
    ];
    bones[0].offset = [[0.0; 4]; 4];
    bones[1].offset[0][3] = 1.0;
    bones[2].offset[3][0] = f32::NAN;
    let (skeleton, _, warnings) = run(bones, false);
    assert_eq!(warnings.len(), 1);
    assert_eq!(skeleton.inverse_bind(), [Affine3A::IDENTITY; 3]);
    assert_eq!(skeleton.parents().iter().filter(|p| p.is_none()).count(), 2);
}
