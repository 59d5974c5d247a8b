use super::*;
use crate::model::{Joint, JointTransform};

#[test]
fn a_bone_has_twelve_edges_and_six_corners_and_spans_both_ends() {
    let (from, to) = (Vec3::new(1.0, 0.0, 0.0), Vec3::new(1.0, 2.0, 0.0));
    let edges = octahedron(from, to);
    let mut corners: Vec<Vec3> = Vec::new();
    for corner in edges.into_iter().flatten() {
        if !corners.iter().any(|c| c.abs_diff_eq(corner, 1e-6)) {
            corners.push(corner);
        }
    }
    assert_eq!(corners.len(), 6);
    assert!(corners.contains(&from) && corners.contains(&to));
    let middle = corners.iter().filter(|c| **c != from && **c != to);
    assert!(
        middle.clone().all(|c| (c.y - 0.28).abs() < 1e-6),
        "thick at the parent's end"
    );
}

#[test]
fn a_bone_of_no_length_is_a_point() {
    assert!(
        octahedron(Vec3::ONE, Vec3::ONE)
            .into_iter()
            .flatten()
            .all(|corner| corner == Vec3::ONE)
    );
}

#[test]
fn hidden_control_joints_take_their_bones_along_unless_highlighted() {
    let joint = |parent| Joint {
        name: "".into(),
        parent,
        rest: JointTransform::IDENTITY,
        inverse_bind: Affine3A::IDENTITY,
    };
    let skeleton = Skeleton::new([None, Some(0), Some(1), Some(0)].map(joint).to_vec()).unwrap();
    let skeleton = skeleton.with_control_joints([1]);
    let drawn = |what: DrawSkeleton| bones(&skeleton, &what).collect::<Vec<_>>();
    assert_eq!(drawn(DrawSkeleton::default()), [(0, 1), (1, 2), (0, 3)]);
    let hidden = DrawSkeleton {
        hide_control_joints: true,
        ..DrawSkeleton::default()
    };
    assert_eq!(drawn(hidden), [(0, 3)]);
    assert_eq!(
        drawn(DrawSkeleton {
            highlight: Some(1),
            ..hidden
        }),
        [(0, 1), (1, 2), (0, 3)]
    );
    assert_eq!(
        [1, 2].map(|joint| hidden.name_color(&skeleton, joint)),
        [CONTROL_NAME, NAME]
    );
}
