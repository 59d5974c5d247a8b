use super::*;
use crate::messages::assert_message;
use crate::model::{Joint, JointTransform};
use glam::{Affine3A, Quat};

/// An arm with a joint that twists the upper arm, and a tail beside it.
fn skeleton(bend: f32) -> Skeleton {
    let joint = |name: &str, parent, at, bend| Joint {
        name: name.into(),
        parent,
        rest: JointTransform::new(at, Quat::from_rotation_x(bend)),
        inverse_bind: Affine3A::IDENTITY,
    };
    Skeleton::new(vec![
        joint("shoulder", None, Vec3::ZERO, 0.0),
        joint("twist", Some(0), Vec3::Y * 0.2, 0.0),
        joint("elbow", Some(1), Vec3::Y * 0.25, bend),
        joint("hand", Some(2), Vec3::Y * 0.4, 0.0),
        joint("tail", Some(0), Vec3::X, 0.0),
    ])
    .unwrap()
}

#[test]
fn the_joint_that_bends_is_found_in_bent_and_straight_limbs() {
    for bend in [0.0, 0.3, -1.0] {
        let limb = Limb::two_bone("shoulder", "hand");
        assert_eq!(
            limb.resolve(&skeleton(bend)),
            Ok(LimbJoints::TwoBone([0, 2, 3])),
            "{bend}"
        );
    }
    let given = Limb::TwoBone {
        root: "shoulder".into(),
        mid: Some("twist".into()),
        tip: "hand".into(),
    };
    assert_eq!(
        given.resolve(&skeleton(0.3)),
        Ok(LimbJoints::TwoBone([0, 1, 3]))
    );
    let chain = Limb::chain("twist", "hand").resolve(&skeleton(0.0));
    assert_eq!(chain, Ok(LimbJoints::Chain { tip: 3, bones: 2 }));
}

#[test]
fn what_does_not_fit_is_named() {
    let error = |limb: Limb| limb.resolve(&skeleton(0.3)).unwrap_err();
    let unknown = error(Limb::chain("shoulder", "hnd"));
    let (name, near) = ("hnd".to_owned(), Some("hand".to_owned()));
    assert_eq!(unknown, LimbError::UnknownJoint { name, near });
    assert_message("limb: an unknown joint", unknown);
    for (above, joint) in [("hand", "shoulder"), ("tail", "hand"), ("hand", "hand")] {
        let error = error(Limb::chain(above, joint));
        let (joint, above) = (joint.to_owned(), above.to_owned());
        assert_eq!(error, LimbError::NotAChain { joint, above });
    }
    let backward = error(Limb::chain("hand", "shoulder"));
    assert_message("limb: from tip to root", backward);
    let straight = error(Limb::two_bone("elbow", "hand"));
    let (root, tip) = ("elbow".to_owned(), "hand".to_owned());
    assert_eq!(straight, LimbError::NothingBends { root, tip });
    assert_message("limb: nothing that bends", straight);
}
