use super::*;
use crate::model::{Joint, JointTransform};

fn skeleton() -> Skeleton {
    let joints = [
        ("root", None),
        ("spine", Some(0)),
        ("leg.L", Some(0)),
        ("arm.L", Some(1)),
        ("Hand.L", Some(3)),
        ("arm.R", Some(1)),
        ("prop", None),
    ];
    let joint = |(name, parent): (&str, Option<JointIndex>)| Joint {
        name: name.into(),
        parent,
        rest: JointTransform::IDENTITY,
        inverse_bind: glam::Affine3A::IDENTITY,
    };
    Skeleton::new(joints.into_iter().map(joint).collect()).unwrap()
}

fn shown(folded: &[JointIndex], search: &str) -> Vec<(JointIndex, u16)> {
    let folded = folded.iter().copied().collect();
    rows(&skeleton(), &folded, search, false)
        .iter()
        .map(|row| (row.joint, row.depth))
        .collect()
}

#[test]
fn the_tree_is_depth_first_in_the_order_of_the_joints() {
    assert_eq!(
        shown(&[], ""),
        [(0, 0), (1, 1), (3, 2), (4, 3), (5, 2), (2, 1), (6, 0)]
    );
}

#[test]
fn a_folded_branch_keeps_its_root() {
    assert_eq!(shown(&[1], ""), [(0, 0), (1, 1), (2, 1), (6, 0)]);
}

#[test]
fn a_search_ignores_case_and_folds_and_shows_the_ancestors() {
    assert_eq!(shown(&[0], " hand"), [(0, 0), (1, 1), (3, 2), (4, 3)]);
    let found = rows(&skeleton(), &BTreeSet::new(), "hand", false);
    assert_eq!(
        found.iter().map(|row| row.is_path).collect::<Vec<_>>(),
        [true, true, true, false]
    );
    assert!(shown(&[], "tail").is_empty());
}

#[test]
fn hidden_control_joints_stay_above_others() {
    // `arm.L` is above a hand; `leg.L` and `prop` are above nothing.
    let skeleton = skeleton().with_control_joints([2, 3, 6]);
    let shown = rows(&skeleton, &BTreeSet::new(), "", true);
    assert_eq!(
        shown.iter().map(|row| row.joint).collect::<Vec<_>>(),
        [0, 1, 3, 4, 5]
    );
    assert_eq!(
        shown.iter().map(|row| row.is_path).collect::<Vec<_>>(),
        [false, false, true, false, false]
    );
    assert_eq!(rows(&skeleton, &BTreeSet::new(), "", false).len(), 7);
    let skeleton = skeleton.with_control_joints([4]);
    let shown = rows(&skeleton, &BTreeSet::new(), "", true);
    assert_eq!(
        shown
            .iter()
            .map(|row| (row.joint, row.has_children))
            .collect::<Vec<_>>(),
        [(0, true), (1, true), (5, false)]
    );
}
