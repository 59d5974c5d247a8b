use super::*;
use bevy_marionette::model::{Joint, JointTransform};
use glam::Affine3A;

fn skeleton(joints: &[(&str, Option<JointIndex>)]) -> Skeleton {
    let joint = |&(name, parent): &(&str, Option<JointIndex>)| Joint {
        name: name.into(),
        parent,
        rest: JointTransform::IDENTITY,
        inverse_bind: Affine3A::IDENTITY,
    };
    Skeleton::new(joints.iter().map(joint).collect()).unwrap()
}

#[test]
fn joints_are_known_by_the_names_of_many_rigs() {
    for (name, part, side) in [
        ("mixamorig:LeftForeArm", Some(Part::Arm), Some(Side::Left)),
        ("Bip01 R Thigh", Some(Part::Leg), Some(Side::Right)),
        ("upper_arm.R", Some(Part::Arm), Some(Side::Right)),
        ("lupleg", Some(Part::Leg), Some(Side::Left)),
        ("ruparm", Some(Part::Arm), Some(Side::Right)),
        ("mixamorig:HeadTop_End", None, None),
        ("hair.1", None, None),
        ("Head", Some(Part::Head), None),
        ("tail.3", Some(Part::Tail), None),
        ("handslot.l", Some(Part::Grip), Some(Side::Left)),
        ("rib", None, None),
        ("lamp", None, None),
    ] {
        assert_eq!(Role::of_name(name), Role { part, side }, "{name}");
    }
}

#[test]
fn masks_start_where_the_limbs_do() {
    let names = [
        ("mixamorig:Hips", None),
        ("mixamorig:Spine", Some(0)),
        ("mixamorig:Spine1", Some(1)),
        ("mixamorig:Spine2", Some(2)),
        ("mixamorig:Neck", Some(3)),
        ("mixamorig:Head", Some(4)),
        ("mixamorig:LeftShoulder", Some(3)),
        ("mixamorig:LeftArm", Some(6)),
        ("mixamorig:LeftHand", Some(7)),
        ("mixamorig:RightShoulder", Some(3)),
        ("mixamorig:RightHand", Some(9)),
        ("mixamorig:LeftUpLeg", Some(0)),
        ("mixamorig:RightUpLeg", Some(0)),
        ("mixamorig:RightFoot", Some(12)),
    ];
    let skeleton = skeleton(&names);
    let masks = masks(&skeleton);
    let of = |name: &str| {
        (
            masks[name]
                .roots
                .iter()
                .map(|root| &root[10..])
                .collect::<Vec<_>>(),
            masks[name].falloff,
        )
    };
    assert_eq!(of("upper_body"), (vec!["Spine2"], 2));
    assert_eq!(of("legs"), (vec!["LeftUpLeg", "RightUpLeg"], 0));
    assert_eq!(of("head"), (vec!["Neck"], 1));
    assert_eq!(
        [of("left_arm"), of("right_arm")],
        [(vec!["LeftShoulder"], 1), (vec!["RightShoulder"], 1)]
    );
    assert_eq!(masks.len(), 5);
    assert_eq!(
        sockets(&skeleton)["right_hand"].joint,
        "mixamorig:RightHand"
    );
}

#[test]
fn a_skeleton_without_names_gets_no_masks() {
    let skeleton = skeleton(&[("Bone0", None), ("Bone1", Some(0)), ("Bone2", Some(0))]);
    assert!(masks(&skeleton).is_empty() && sockets(&skeleton).is_empty());
}
