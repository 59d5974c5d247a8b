use super::*;
use crate::model::{Roles, roles::tests::skeleton};

#[track_caller]
fn check(joints: &[(&str, usize)], expected: &[(&str, &str)]) {
    let skeleton = skeleton(joints);
    let roles = Roles::infer(&skeleton);
    for (role, joint) in expected {
        let found = roles
            .joint(role.parse().unwrap())
            .map(|joint| &**skeleton.name(joint));
        assert_eq!(found, Some(*joint), "{role} of {:?}", roles);
    }
    let named: Vec<String> = roles.iter().map(|(role, _)| role.to_string()).collect();
    assert_eq!(roles.len(), expected.len(), "{named:?}");
}

#[test]
fn the_roles_of_mixamo() {
    check(
        &[
            ("mixamorig:Hips", 0),
            ("mixamorig:Spine", 0),
            ("mixamorig:Spine1", 1),
            ("mixamorig:Spine2", 2),
            ("mixamorig:Neck", 3),
            ("mixamorig:Head", 4),
            ("mixamorig:HeadTop_End", 5),
            ("mixamorig:LeftShoulder", 3),
            ("mixamorig:LeftArm", 7),
            ("mixamorig:LeftForeArm", 8),
            ("mixamorig:LeftHand", 9),
            ("mixamorig:LeftHandIndex1", 10),
            ("mixamorig:LeftHandIndex2", 11),
            ("mixamorig:RightShoulder", 3),
            ("mixamorig:RightArm", 13),
            ("mixamorig:LeftUpLeg", 0),
            ("mixamorig:LeftLeg", 15),
            ("mixamorig:LeftFoot", 16),
            ("mixamorig:LeftToeBase", 17),
            ("mixamorig:LeftToe_End", 18),
            ("mixamorig:RightUpLeg", 0),
        ],
        &[
            ("hips", "mixamorig:Hips"),
            ("spine.1", "mixamorig:Spine"),
            ("spine.3", "mixamorig:Spine2"),
            ("spine.2", "mixamorig:Spine1"),
            ("neck.1", "mixamorig:Neck"),
            ("head", "mixamorig:Head"),
            ("clavicle.L", "mixamorig:LeftShoulder"),
            ("upper_arm.L", "mixamorig:LeftArm"),
            ("forearm.L", "mixamorig:LeftForeArm"),
            ("hand.L", "mixamorig:LeftHand"),
            ("index.1.L", "mixamorig:LeftHandIndex1"),
            ("index.2.L", "mixamorig:LeftHandIndex2"),
            ("clavicle.R", "mixamorig:RightShoulder"),
            ("upper_arm.R", "mixamorig:RightArm"),
            ("thigh.L", "mixamorig:LeftUpLeg"),
            ("shin.L", "mixamorig:LeftLeg"),
            ("foot.L", "mixamorig:LeftFoot"),
            ("toes.L", "mixamorig:LeftToeBase"),
            ("thigh.R", "mixamorig:RightUpLeg"),
        ],
    );
}

#[test]
fn the_roles_of_rigify_whose_vertebrae_are_counted_up_to_the_head() {
    check(
        &[
            ("root", 0),
            ("DEF-spine", 0),
            ("DEF-spine.001", 1),
            ("DEF-spine.003", 2),
            ("DEF-spine.004", 3),
            ("DEF-spine.006", 4),
            ("DEF-shoulder.L", 3),
            ("DEF-upper_arm.L", 6),
            ("DEF-upper_arm.L.001", 7),
            ("DEF-forearm.L", 8),
            ("DEF-hand.L", 9),
            ("DEF-f_index.01.L", 10),
            ("DEF-thumb.01.L", 10),
            ("DEF-shoulder.R", 3),
            ("DEF-upper_arm.R", 13),
            ("DEF-thigh.L", 1),
            ("DEF-thigh.R", 1),
            ("MCH-foot.L", 15),
        ],
        &[
            ("root", "root"),
            ("hips", "DEF-spine"),
            ("spine.1", "DEF-spine.001"),
            ("spine.2", "DEF-spine.003"),
            ("neck.1", "DEF-spine.004"),
            ("head", "DEF-spine.006"),
            ("clavicle.L", "DEF-shoulder.L"),
            ("clavicle.R", "DEF-shoulder.R"),
            ("upper_arm.L", "DEF-upper_arm.L"),
            ("upper_arm.R", "DEF-upper_arm.R"),
            ("forearm.L", "DEF-forearm.L"),
            ("hand.L", "DEF-hand.L"),
            ("index.1.L", "DEF-f_index.01.L"),
            ("thumb.1.L", "DEF-thumb.01.L"),
            ("thigh.L", "DEF-thigh.L"),
            ("thigh.R", "DEF-thigh.R"),
        ],
    );
}

#[test]
fn the_roles_of_unreal_biped_kaykit_and_doom() {
    check(
        &[
            ("root", 0),
            ("pelvis", 0),
            ("spine_01", 1),
            ("neck_01", 2),
            ("head", 3),
            ("clavicle_l", 2),
            ("upperarm_l", 5),
            ("upperarm_twist_01_l", 6),
            ("lowerarm_l", 6),
            ("hand_l", 8),
            ("ik_hand_l", 0),
            ("thigh_l", 1),
            ("calf_l", 11),
            ("foot_l", 12),
            ("ball_l", 13),
        ],
        &[
            ("root", "root"),
            ("hips", "pelvis"),
            ("spine.1", "spine_01"),
            ("neck.1", "neck_01"),
            ("head", "head"),
            ("clavicle.L", "clavicle_l"),
            ("upper_arm.L", "upperarm_l"),
            ("forearm.L", "lowerarm_l"),
            ("hand.L", "hand_l"),
            ("thigh.L", "thigh_l"),
            ("shin.L", "calf_l"),
            ("foot.L", "foot_l"),
            ("toes.L", "ball_l"),
        ],
    );
    // Biped hangs the clavicles from the neck.
    check(
        &[
            ("Bip01", 0),
            ("Bip01 Pelvis", 0),
            ("Bip01 Spine", 1),
            ("Bip01 Neck", 2),
            ("Bip01 Head", 3),
            ("Bip01 L Clavicle", 3),
            ("Bip01 L UpperArm", 5),
            ("Bip01 L Forearm", 6),
            ("Bip01 L Hand", 7),
            ("Bip01 L Finger0", 8),
            ("Bip01 L Finger01", 9),
            ("Bip01 L Finger1", 8),
            ("Bip01 R Clavicle", 3),
            ("Bip01 R UpperArm", 12),
            ("Bip01 L Toe0", 1),
        ],
        &[
            ("root", "Bip01"),
            ("hips", "Bip01 Pelvis"),
            ("spine.1", "Bip01 Spine"),
            ("neck.1", "Bip01 Neck"),
            ("head", "Bip01 Head"),
            ("clavicle.L", "Bip01 L Clavicle"),
            ("upper_arm.L", "Bip01 L UpperArm"),
            ("forearm.L", "Bip01 L Forearm"),
            ("hand.L", "Bip01 L Hand"),
            ("thumb.1.L", "Bip01 L Finger0"),
            ("thumb.2.L", "Bip01 L Finger01"),
            ("index.1.L", "Bip01 L Finger1"),
            ("clavicle.R", "Bip01 R Clavicle"),
            ("upper_arm.R", "Bip01 R UpperArm"),
        ],
    );
    check(
        &[
            ("root", 0),
            ("hips", 0),
            ("chest", 1),
            ("upperarm.l", 2),
            ("lowerarm.l", 3),
            ("wrist.l", 4),
            ("hand.l", 5),
            ("handslot.l", 6),
            ("upperleg.l", 1),
            ("lowerleg.l", 8),
            ("kneeIK.l", 0),
            ("control-toe-roll.l", 0),
            ("upperarm.r", 2),
        ],
        &[
            ("root", "root"),
            ("hips", "hips"),
            ("spine.1", "chest"),
            ("upper_arm.L", "upperarm.l"),
            ("forearm.L", "lowerarm.l"),
            ("hand.L", "hand.l"),
            ("thigh.L", "upperleg.l"),
            ("shin.L", "lowerleg.l"),
            ("upper_arm.R", "upperarm.r"),
        ],
    );
    check(
        &[
            ("origin", 0),
            ("hips", 0),
            ("lupleg", 1),
            ("lloleg", 2),
            ("rupleg", 1),
            ("luparm", 1),
            ("lloarm", 5),
        ],
        &[
            ("root", "origin"),
            ("hips", "hips"),
            ("thigh.L", "lupleg"),
            ("shin.L", "lloleg"),
            ("thigh.R", "rupleg"),
            ("upper_arm.L", "luparm"),
            ("forearm.L", "lloarm"),
        ],
    );
}

#[test]
fn joints_of_other_bodies_have_few_roles_and_chains_of_thousands_take_no_minute() {
    assert!(Roles::infer(&skeleton(&[("wheel", 0), ("turret", 0)])).is_empty());
    assert!(Roles::infer(&Skeleton::default()).is_empty());
    let names: Vec<String> = (0..4096)
        .map(|at| format!("{} {at}", ["hips", "spine", "head", "hand l"][at % 4]))
        .collect();
    let joints: Vec<(&str, usize)> = names
        .iter()
        .enumerate()
        .map(|(at, n)| (&**n, at.saturating_sub(1)))
        .collect();
    assert!(Roles::infer(&skeleton(&joints)).len() < 100);
}
