use super::*;
use crate::model::{Joint, JointTransform};

#[test]
fn a_limb_is_found_above_a_joint_past_those_that_twist_or_stay_in_place() {
    let joint = |(at, name): (usize, &&str)| Joint {
        name: (*name).into(),
        parent: at.checked_sub(1).map(|parent| parent as JointIndex),
        rest: JointTransform::new(
            if *name == "same_place" {
                Vec3::ZERO
            } else {
                Vec3::Y
            },
            Quat::IDENTITY,
        ),
        inverse_bind: Affine3A::IDENTITY,
    };
    let names = [
        "upper_arm",
        "same_place",
        "upper_twist",
        "forearm",
        "Forearm_Roll",
        "hand",
    ];
    let skeleton = Skeleton::new(names.iter().enumerate().map(joint).collect()).unwrap();
    let Some(Limb::TwoBone { root, mid, tip }) = limb_above(&skeleton, 5) else {
        panic!("a limb")
    };
    assert_eq!(
        [root.as_str(), mid.as_deref().unwrap(), &tip],
        ["same_place", "forearm", "hand"]
    );
    assert_eq!(
        limb_above(&skeleton, 1),
        None,
        "nothing bends above the first joints"
    );
}

#[test]
fn a_pole_is_on_the_side_to_which_the_limb_bends() {
    let tip = Affine3A::from_translation(Vec3::X * 2.0);
    let bent = PlacedLimb {
        root: Vec3::ZERO,
        middle: Vec3::new(1.0, 0.0, 0.5),
        tip,
        reach: 2.5,
    };
    assert_eq!(pole_place(&bent), Vec3::new(1.0, 0.0, 3.0));
    let straight = PlacedLimb {
        middle: Vec3::X,
        reach: 2.0,
        ..bent
    };
    assert!((pole_place(&straight) - Vec3::X).dot(Vec3::X).abs() < 1e-5);
}
