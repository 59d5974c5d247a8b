use super::*;

#[test]
fn control_joints_are_added_up_and_kept_through_new_names() {
    let joint = |name: &str| Joint {
        name: name.into(),
        parent: None,
        rest: JointTransform::IDENTITY,
        inverse_bind: Affine3A::IDENTITY,
    };
    let skeleton = Skeleton::new(["hips", "ik", "pole"].map(joint).to_vec()).unwrap();
    assert!(skeleton.joints().all(|joint| !skeleton.is_control(joint)));
    let flagged = skeleton
        .with_control_joints([2, 3, u16::MAX])
        .with_control_joints([1]);
    let renamed = flagged.with_names(["root".into()]);
    assert!(renamed.control_joints().eq([1, 2]) && renamed.control_joints().len() == 2);
    assert!(!renamed.is_control(0) && renamed.is_control(1) && !renamed.is_control(3));
    assert_ne!(flagged, skeleton);
}
