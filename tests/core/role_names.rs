//! Joints' roles and sides, as the rigs of the trade call them.

use bevy_marionette::{
    import::{ImportSettings, open_model},
    internals::model::{Finger, Role, Roles, Side},
    model::{Joint, JointIndex, JointTransform, Skeleton},
};
use glam::{Affine3A, Vec3};
use std::fs;

/// The roles that each of the tables names, with the role above: 21 of a body without fingers. Sided ones twice, left first.
const ROLES: [(&str, &str); 13] = [
    ("hips", ""),
    ("spine.1", "hips"),
    ("spine.2", "spine.1"),
    ("neck.1", "spine.2"),
    ("head", "neck.1"),
    ("clavicle", "spine.2"),
    ("upper_arm", "clavicle"),
    ("forearm", "upper_arm"),
    ("hand", "forearm"),
    ("thigh", "hips"),
    ("shin", "thigh"),
    ("foot", "shin"),
    ("toes", "foot"),
];

/// A rig's names for these roles; `#` stands for the side, whose signs are given. Then joints that have no role, with the joint
/// that they hang from.
struct Scheme {
    rig: &'static str,
    sides: [&'static str; 2],
    names: [&'static str; 13],
    others: &'static [(&'static str, &'static str)],
}

const SCHEMES: [Scheme; 22] = [
    Scheme {
        rig: "Character Creator",
        sides: ["L", "R"],
        names: [
            "CC_Base_Hip",
            "CC_Base_Waist",
            "CC_Base_Spine02",
            "CC_Base_NeckTwist01",
            "CC_Base_Head",
            "CC_Base_#_Clavicle",
            "CC_Base_#_Upperarm",
            "CC_Base_#_Forearm",
            "CC_Base_#_Hand",
            "CC_Base_#_Thigh",
            "CC_Base_#_Calf",
            "CC_Base_#_Foot",
            "CC_Base_#_ToeBase",
        ],
        others: &[
            ("CC_Base_#_UpperarmTwist01", "CC_Base_#_Upperarm"),
            ("CC_Base_#_ElbowShareBone", "CC_Base_#_Forearm"),
            ("CC_Base_#_ForearmTwist02", "CC_Base_#_Forearm"),
            ("CC_Base_#_ThighTwist01", "CC_Base_#_Thigh"),
            ("CC_Base_#_KneeShareBone", "CC_Base_#_Calf"),
            ("CC_Base_#_CalfTwist01", "CC_Base_#_Calf"),
            ("CC_Base_#_ToeBaseShareBone", "CC_Base_#_Foot"),
            ("CC_Base_#_BigToe1", "CC_Base_#_ToeBase"),
            ("CC_Base_#_RibsTwist", "CC_Base_Spine02"),
            ("CC_Base_#_Breast", "CC_Base_Spine02"),
            ("CC_Base_FacialBone", "CC_Base_Head"),
            ("CC_Base_JawRoot", "CC_Base_Head"),
            ("CC_Base_Tongue01", "CC_Base_JawRoot"),
        ],
    },
    Scheme {
        rig: "Auto-Rig Pro",
        sides: ["l", "r"],
        names: [
            "root.x",
            "spine_01.x",
            "spine_02.x",
            "neck.x",
            "head.x",
            "shoulder.#",
            "arm_stretch.#",
            "forearm_stretch.#",
            "hand.#",
            "thigh_stretch.#",
            "leg_stretch.#",
            "foot.#",
            "toes_01.#",
        ],
        others: &[
            ("arm_twist.#", "shoulder.#"),
            ("forearm_twist.#", "forearm_stretch.#"),
            ("thigh_twist.#", "root.x"),
            ("leg_twist.#", "leg_stretch.#"),
            ("c_foot_ik.#", ""),
            ("c_hand_ik.#", ""),
            ("c_leg_pole.#", ""),
            ("c_jawbone.x", "head.x"),
        ],
    },
    Scheme {
        rig: "Auto-Rig Pro, controllers",
        sides: ["l", "r"],
        names: [
            "c_root.x",
            "c_spine_01.x",
            "c_spine_02.x",
            "c_neck.x",
            "c_head.x",
            "c_shoulder.#",
            "c_arm_fk.#",
            "c_forearm_fk.#",
            "c_hand_fk.#",
            "c_thigh_fk.#",
            "c_leg_fk.#",
            "c_foot_fk.#",
            "c_toes_fk.#",
        ],
        others: &[
            ("c_foot_ik.#", ""),
            ("c_hand_ik.#", ""),
            ("c_leg_pole.#", ""),
        ],
    },
    Scheme {
        rig: "Daz Genesis 3 and 8",
        sides: ["l", "r"],
        names: [
            "hip",
            "abdomenLower",
            "chestUpper",
            "neckLower",
            "head",
            "#Collar",
            "#ShldrBend",
            "#ForearmBend",
            "#Hand",
            "#ThighBend",
            "#Shin",
            "#Foot",
            "#Toe",
        ],
        others: &[
            ("#ShldrTwist", "#ShldrBend"),
            ("#ForearmTwist", "#ForearmBend"),
            ("#ThighTwist", "#ThighBend"),
            ("#SmallToe1", "#Toe"),
            ("#BigToe", "#Toe"),
            ("#Pectoral", "chestUpper"),
            ("#Carpal1", "#Hand"),
            ("#Eye", "head"),
            ("upperTeeth", "head"),
        ],
    },
    Scheme {
        rig: "Daz Genesis 9",
        sides: ["l", "r"],
        names: [
            "hip",
            "spine1",
            "spine4",
            "neck1",
            "head",
            "#_shoulder",
            "#_upperarm",
            "#_forearm",
            "#_hand",
            "#_thigh",
            "#_shin",
            "#_foot",
            "#_toes",
        ],
        others: &[
            ("#_upperarmtwist1", "#_upperarm"),
            ("#_forearmtwist2", "#_forearm"),
            ("#_thightwist1", "#_thigh"),
            ("#_bigtoe1", "#_toes"),
            ("#_pectoral", "spine4"),
        ],
    },
    Scheme {
        rig: "Daz Genesis 1 and 2, Poser",
        sides: ["l", "r"],
        names: [
            "hip", "abdomen", "chest", "neck", "head", "#Collar", "#Shldr", "#ForeArm", "#Hand",
            "#Thigh", "#Shin", "#Foot", "#Toe",
        ],
        others: &[("#Eye", "head"), ("#Buttock", "hip")],
    },
    Scheme {
        rig: "BVH, Biovision",
        sides: ["Left", "Right"],
        names: [
            "Hips",
            "Chest",
            "Chest2",
            "Neck",
            "Head",
            "#Collar",
            "#Shoulder",
            "#Elbow",
            "#Wrist",
            "#Hip",
            "#Knee",
            "#Ankle",
            "#Toe",
        ],
        others: &[],
    },
    Scheme {
        rig: "BVH, Poser and 3ds Max",
        sides: ["Left", "Right"],
        names: [
            "Hips", "Chest", "Chest2", "Neck", "Head", "#Collar", "#UpArm", "#LowArm", "#Hand",
            "#UpLeg", "#LowLeg", "#Foot", "#Toe",
        ],
        others: &[],
    },
    Scheme {
        rig: "BVH, Carnegie Mellon",
        sides: ["Left", "Right"],
        names: [
            "Hips",
            "LowerBack",
            "Spine1",
            "Neck1",
            "Head",
            "#Shoulder",
            "#Arm",
            "#ForeArm",
            "#Hand",
            "#UpLeg",
            "#Leg",
            "#Foot",
            "#ToeBase",
        ],
        others: &[("#FingerBase", "#Hand")],
    },
    Scheme {
        rig: "ASF, Carnegie Mellon",
        sides: ["l", "r"],
        names: [
            "root",
            "lowerback",
            "thorax",
            "lowerneck",
            "head",
            "#clavicle",
            "#humerus",
            "#radius",
            "#hand",
            "#femur",
            "#tibia",
            "#foot",
            "#toes",
        ],
        others: &[("#fingers", "#hand")],
    },
    Scheme {
        rig: "Source",
        sides: ["L", "R"],
        names: [
            "ValveBiped.Bip01_Pelvis",
            "ValveBiped.Bip01_Spine",
            "ValveBiped.Bip01_Spine4",
            "ValveBiped.Bip01_Neck1",
            "ValveBiped.Bip01_Head1",
            "ValveBiped.Bip01_#_Clavicle",
            "ValveBiped.Bip01_#_UpperArm",
            "ValveBiped.Bip01_#_Forearm",
            "ValveBiped.Bip01_#_Hand",
            "ValveBiped.Bip01_#_Thigh",
            "ValveBiped.Bip01_#_Calf",
            "ValveBiped.Bip01_#_Foot",
            "ValveBiped.Bip01_#_Toe0",
        ],
        others: &[
            ("ValveBiped.Bip01_#_Bicep", "ValveBiped.Bip01_#_UpperArm"),
            ("ValveBiped.Bip01_#_Elbow", "ValveBiped.Bip01_#_Forearm"),
            ("ValveBiped.Bip01_#_Ulna", "ValveBiped.Bip01_#_Forearm"),
            ("ValveBiped.Bip01_#_Wrist", "ValveBiped.Bip01_#_Forearm"),
            ("ValveBiped.Bip01_#_Shoulder", "ValveBiped.Bip01_#_UpperArm"),
            (
                "ValveBiped.Bip01_#_Trapezius",
                "ValveBiped.Bip01_#_Clavicle",
            ),
            ("ValveBiped.Anim_Attachment_#H", "ValveBiped.Bip01_#_Hand"),
        ],
    },
    Scheme {
        rig: "Source, Team Fortress",
        sides: ["L", "R"],
        names: [
            "bip_pelvis",
            "bip_spine_0",
            "bip_spine_3",
            "bip_neck",
            "bip_head",
            "bip_collar_#",
            "bip_upperArm_#",
            "bip_lowerArm_#",
            "bip_hand_#",
            "bip_hip_#",
            "bip_knee_#",
            "bip_foot_#",
            "bip_toe_#",
        ],
        others: &[
            ("weapon_bone_#", "bip_hand_#"),
            ("prp_pack", "bip_spine_3"),
            ("hlp_forearm_#", "bip_lowerArm_#"),
        ],
    },
    Scheme {
        rig: "Source 2",
        sides: ["L", "R"],
        names: [
            "pelvis",
            "spine_0",
            "spine_2",
            "neck_0",
            "head_0",
            "clavicle_#",
            "arm_upper_#",
            "arm_lower_#",
            "hand_#",
            "leg_upper_#",
            "leg_lower_#",
            "ankle_#",
            "ball_#",
        ],
        others: &[
            ("arm_lower_#_TWIST", "arm_lower_#"),
            ("leg_upper_#_TWIST1", "leg_upper_#"),
            ("weapon_hand_#", "hand_#"),
        ],
    },
    Scheme {
        rig: "MikuMikuDance, simplified",
        sides: ["左", "右"],
        names: [
            "下半身",
            "上半身",
            "上半身2",
            "首",
            "頭",
            "#肩",
            "#腕",
            "#ひじ",
            "#手首",
            "#足",
            "#ひざ",
            "#足首",
            "#つま先",
        ],
        others: &[
            ("#腕捩", "#腕"),
            ("#手捩", "#ひじ"),
            ("#肩C", "#肩"),
            ("#足D", "下半身"),
            ("#ひざD", "#足D"),
            ("#足首D", "#ひざD"),
            ("#足先EX", "#足首D"),
            ("#足ＩＫ", ""),
            ("#つま先ＩＫ", "#足ＩＫ"),
            ("#足IK親", ""),
            ("#目", "頭"),
        ],
    },
    Scheme {
        rig: "MikuMikuDance in Blender",
        sides: ["L", "R"],
        names: [
            "下半身",
            "上半身",
            "上半身2",
            "首",
            "頭",
            "肩.#",
            "腕.#",
            "ひじ.#",
            "手首.#",
            "足.#",
            "ひざ.#",
            "足首.#",
            "つま先.#",
        ],
        others: &[("足ＩＫ.#", ""), ("腕捩.#", "腕.#"), ("足D.#", "下半身")],
    },
    Scheme {
        rig: "MikuMikuDance in English",
        sides: ["L", "R"],
        names: [
            "lower body",
            "upper body",
            "upper body 2",
            "neck",
            "head",
            "shoulder_#",
            "arm_#",
            "elbow_#",
            "wrist_#",
            "leg_#",
            "knee_#",
            "ankle_#",
            "toe_#",
        ],
        others: &[
            ("leg IK_#", ""),
            ("toe IK_#", "leg IK_#"),
            ("arm twist_#", "arm_#"),
            ("eye_#", "head"),
        ],
    },
    Scheme {
        rig: "Mixamo",
        sides: ["Left", "Right"],
        names: [
            "mixamorig:Hips",
            "mixamorig:Spine",
            "mixamorig:Spine2",
            "mixamorig:Neck",
            "mixamorig:Head",
            "mixamorig:#Shoulder",
            "mixamorig:#Arm",
            "mixamorig:#ForeArm",
            "mixamorig:#Hand",
            "mixamorig:#UpLeg",
            "mixamorig:#Leg",
            "mixamorig:#Foot",
            "mixamorig:#ToeBase",
        ],
        others: &[
            ("mixamorig:HeadTop_End", "mixamorig:Head"),
            ("mixamorig:#Toe_End", "mixamorig:#ToeBase"),
        ],
    },
    Scheme {
        rig: "Unreal",
        sides: ["l", "r"],
        names: [
            "pelvis",
            "spine_01",
            "spine_03",
            "neck_01",
            "head",
            "clavicle_#",
            "upperarm_#",
            "lowerarm_#",
            "hand_#",
            "thigh_#",
            "calf_#",
            "foot_#",
            "ball_#",
        ],
        others: &[
            ("upperarm_twist_01_#", "upperarm_#"),
            ("upperarm_correctiveRoot_#", "upperarm_#"),
            ("lowerarm_twist_01_#", "lowerarm_#"),
            ("calf_kneeBack_#", "calf_#"),
            ("ik_foot_#", ""),
            ("ik_hand_#", ""),
            ("center_of_mass", ""),
        ],
    },
    Scheme {
        rig: "Rigify",
        sides: ["L", "R"],
        names: [
            "DEF-spine",
            "DEF-spine.001",
            "DEF-spine.003",
            "DEF-spine.004",
            "DEF-spine.006",
            "DEF-shoulder.#",
            "DEF-upper_arm.#",
            "DEF-forearm.#",
            "DEF-hand.#",
            "DEF-thigh.#",
            "DEF-shin.#",
            "DEF-foot.#",
            "DEF-toe.#",
        ],
        others: &[
            ("ORG-thigh.#", ""),
            ("MCH-foot_ik.#", ""),
            ("DEF-breast.#", "DEF-spine.003"),
            ("DEF-pelvis.#", "DEF-spine"),
            ("upper_arm_fk.#", ""),
            ("thigh_ik_target.#", ""),
        ],
    },
    Scheme {
        rig: "3ds Max's Biped",
        sides: ["L", "R"],
        names: [
            "Bip001 Pelvis",
            "Bip001 Spine",
            "Bip001 Spine1",
            "Bip001 Neck",
            "Bip001 Head",
            "Bip001 # Clavicle",
            "Bip001 # UpperArm",
            "Bip001 # Forearm",
            "Bip001 # Hand",
            "Bip001 # Thigh",
            "Bip001 # Calf",
            "Bip001 # Foot",
            "Bip001 # Toe0",
        ],
        others: &[
            ("Bip001 HeadNub", "Bip001 Head"),
            ("Bip001 # Toe0Nub", "Bip001 # Toe0"),
        ],
    },
    Scheme {
        rig: "VRM",
        sides: ["L", "R"],
        names: [
            "J_Bip_C_Hips",
            "J_Bip_C_Spine",
            "J_Bip_C_UpperChest",
            "J_Bip_C_Neck",
            "J_Bip_C_Head",
            "J_Bip_#_Shoulder",
            "J_Bip_#_UpperArm",
            "J_Bip_#_LowerArm",
            "J_Bip_#_Hand",
            "J_Bip_#_UpperLeg",
            "J_Bip_#_LowerLeg",
            "J_Bip_#_Foot",
            "J_Bip_#_ToeBase",
        ],
        others: &[
            ("J_Sec_#_Bust1", "J_Bip_C_UpperChest"),
            ("J_Sec_Hair1_01", "J_Bip_C_Head"),
        ],
    },
    Scheme {
        rig: "SMPL",
        sides: ["L", "R"],
        names: [
            "Pelvis",
            "Spine1",
            "Spine3",
            "Neck",
            "Head",
            "#_Collar",
            "#_Shoulder",
            "#_Elbow",
            "#_Hand",
            "#_Hip",
            "#_Knee",
            "#_Ankle",
            "#_Foot",
        ],
        others: &[],
    },
];

/// Where joints of the left side are, by role; in the order of [`ROLES`].
const PLACES: [[f32; 3]; 13] = [
    [0.0, 1.0, 0.0],
    [0.0, 1.2, 0.0],
    [0.0, 1.4, 0.0],
    [0.0, 1.55, 0.0],
    [0.0, 1.65, 0.0],
    [-0.05, 1.5, 0.0],
    [-0.2, 1.5, 0.0],
    [-0.45, 1.5, 0.0],
    [-0.7, 1.5, 0.0],
    [-0.1, 0.95, 0.0],
    [-0.1, 0.5, 0.0],
    [-0.1, 0.1, 0.0],
    [-0.1, 0.02, -0.14],
];

/// A skeleton of `(name, parent's name)`, parents first; an unknown parent makes a root.
fn skeleton(joints: &[(String, String, Vec3)]) -> Skeleton {
    let parent = |at: usize| {
        joints[..at]
            .iter()
            .position(|(name, ..)| *name == joints[at].1)
    };
    let joint = |(at, (name, _, place)): (usize, &(String, String, Vec3))| {
        let above = parent(at).map_or(Vec3::ZERO, |parent| joints[parent].2);
        Joint {
            name: name.as_str().into(),
            parent: parent(at).map(|parent| parent as JointIndex),
            rest: JointTransform {
                translation: *place - above,
                ..JointTransform::IDENTITY
            },
            inverse_bind: Affine3A::IDENTITY,
        }
    };
    Skeleton::new(joints.iter().enumerate().map(joint).collect()).unwrap()
}

/// The joints of a scheme, with names changed by `rename`; a root, if it is given, above all.
fn joints(
    scheme: &Scheme,
    rename: &dyn Fn(&str) -> String,
    root: Option<&str>,
) -> Vec<(String, String, Vec3)> {
    let name_of = |role: &str| {
        ROLES
            .iter()
            .position(|(known, _)| *known == role)
            .map_or("", |at| scheme.names[at])
    };
    let mut out: Vec<(String, String, Vec3)> = Vec::new();
    let top = root.map(rename).unwrap_or_default();
    if let Some(root) = root {
        out.push((rename(root), String::new(), Vec3::ZERO));
    }
    let mut add = |name: &str, parent: &str, place: Vec3| {
        let sides = [(scheme.sides[0], 1.0), (scheme.sides[1], -1.0)];
        let count = if name.contains('#') { 2 } else { 1 };
        for (side, sign) in &sides[..count] {
            let parent = if parent.is_empty() {
                top.clone()
            } else {
                rename(&parent.replace('#', side))
            };
            out.push((
                rename(&name.replace('#', side)),
                parent,
                place * Vec3::new(*sign, 1.0, 1.0),
            ));
        }
    };
    for (at, (_, above)) in ROLES.iter().enumerate() {
        add(scheme.names[at], name_of(above), PLACES[at].into());
    }
    for (name, parent) in scheme.others {
        add(name, parent, Vec3::new(-0.3, 0.7, 0.1));
    }
    out
}

#[track_caller]
fn check(scheme: &Scheme, rename: &dyn Fn(&str) -> String, root: Option<&str>) {
    let skeleton = skeleton(&joints(scheme, rename, root));
    let roles = Roles::infer(&skeleton);
    let mut expected: Vec<(String, String)> = Vec::new();
    for ((role, _), name) in ROLES.iter().zip(scheme.names) {
        match name.contains('#') {
            true => {
                for (letter, side) in ["L", "R"].iter().zip(scheme.sides) {
                    expected.push((format!("{role}.{letter}"), rename(&name.replace('#', side))));
                }
            }
            false => expected.push(((*role).to_owned(), rename(name))),
        }
    }
    assert_eq!(expected.len(), 21);
    expected.extend(root.map(|root| ("root".to_owned(), rename(root))));
    expected.sort();
    let mut found: Vec<(String, String)> = roles
        .iter()
        .map(|(role, joint)| (role.to_string(), skeleton.name(joint).to_string()))
        .collect();
    found.sort();
    let rig = scheme.rig;
    let missing: Vec<_> = expected
        .iter()
        .filter(|pair| !found.contains(pair))
        .collect();
    let wrong: Vec<_> = found
        .iter()
        .filter(|pair| !expected.contains(pair))
        .collect();
    assert!(
        missing.is_empty() && wrong.is_empty(),
        "{rig}: missing {missing:?}, wrong {wrong:?}"
    );
    // Each sided joint has its counterpart, and the middle has none.
    for (own, name) in skeleton.joints().zip(skeleton.names().iter()) {
        let other = skeleton
            .other_side(own)
            .map(|other| &**skeleton.name(other));
        let is_sided = scheme
            .names
            .iter()
            .chain(scheme.others.iter().map(|(name, _)| name))
            .any(|known| {
                known.contains('#')
                    && scheme
                        .sides
                        .iter()
                        .any(|side| rename(&known.replace('#', side)) == **name)
            });
        assert_eq!(other.is_some(), is_sided, "{rig}: {name} and {other:?}");
        assert_eq!(
            skeleton
                .other_side(skeleton.joint(other.unwrap_or(name)).unwrap())
                .is_some(),
            is_sided,
            "{name}"
        );
    }
}

#[test]
fn the_roles_and_sides_of_the_usual_rigs() {
    for scheme in &SCHEMES {
        check(scheme, &|name| name.to_owned(), None);
        check(scheme, &|name| name.to_owned(), Some("Armature"));
    }
}

#[test]
fn what_programs_add_to_names_makes_no_difference() {
    let renames: [(&str, &dyn Fn(&str) -> String); 8] = [
        ("a number that makes names unique", &|name| {
            format!("{name}.001")
        }),
        ("the number of the node, as Sketchfab adds it", &|name| {
            format!("{name}_07")
        }),
        ("a namespace", &|name| format!("hero:{name}")),
        ("an armature", &|name| format!("Armature|{name}")),
        ("two namespaces", &|name| format!("scene:hero:{name}")),
        ("an armature without its bar", &|name| {
            format!("Armature_{name}")
        }),
        ("the name of the character", &|name| {
            format!("Old_Knight_{name}")
        }),
        ("spaces in place of underscores", &|name| {
            name.replace('_', " ")
        }),
    ];
    for scheme in &SCHEMES {
        for (what, rename) in &renames {
            println!("{}, {what}", scheme.rig);
            check(scheme, rename, None);
            check(scheme, rename, Some("origin"));
        }
    }
}

/// A rig whose pelvis, with the legs, is beside its spine: the joint above both are the hips.
#[test]
fn the_hips_carry_legs_and_spine_in_rigs_with_a_pelvis_beside_the_spine() {
    let rigs: [(&str, &[(&str, &str)]); 3] = [
        (
            "CC_Base_Hip",
            &[
                ("CC_Base_BoneRoot", ""),
                ("CC_Base_Hip", "CC_Base_BoneRoot"),
                ("CC_Base_Pelvis", "CC_Base_Hip"),
                ("CC_Base_L_Thigh", "CC_Base_Pelvis"),
                ("CC_Base_R_Thigh", "CC_Base_Pelvis"),
                ("CC_Base_Waist", "CC_Base_Hip"),
                ("CC_Base_Spine01", "CC_Base_Waist"),
                ("CC_Base_L_Clavicle", "CC_Base_Spine01"),
                ("CC_Base_L_Upperarm", "CC_Base_L_Clavicle"),
                ("CC_Base_R_Clavicle", "CC_Base_Spine01"),
                ("CC_Base_R_Upperarm", "CC_Base_R_Clavicle"),
                ("CC_Base_NeckTwist01", "CC_Base_Spine01"),
                ("CC_Base_Head", "CC_Base_NeckTwist01"),
            ],
        ),
        (
            "腰",
            &[
                ("全ての親", ""),
                ("センター", "全ての親"),
                ("グルーブ", "センター"),
                ("腰", "グルーブ"),
                ("下半身", "腰"),
                ("左足", "下半身"),
                ("右足", "下半身"),
                ("上半身", "腰"),
                ("上半身2", "上半身"),
                ("左肩", "上半身2"),
                ("左腕", "左肩"),
                ("右肩", "上半身2"),
                ("右腕", "右肩"),
                ("首", "上半身2"),
                ("頭", "首"),
            ],
        ),
        (
            "hip",
            &[
                ("hip", ""),
                ("pelvis", "hip"),
                ("lThighBend", "pelvis"),
                ("rThighBend", "pelvis"),
                ("abdomenLower", "hip"),
                ("abdomenUpper", "abdomenLower"),
                ("lCollar", "abdomenUpper"),
                ("lShldrBend", "lCollar"),
                ("rCollar", "abdomenUpper"),
                ("rShldrBend", "rCollar"),
                ("neckLower", "abdomenUpper"),
                ("head", "neckLower"),
            ],
        ),
    ];
    for (hips, joints) in rigs {
        let joints: Vec<_> = joints
            .iter()
            .map(|(name, parent)| ((*name).into(), (*parent).into(), Vec3::ZERO))
            .collect();
        let skeleton = skeleton(&joints);
        let roles = Roles::infer(&skeleton);
        let named = |role: Role| roles.joint(role).map(|joint| &**skeleton.name(joint));
        assert_eq!(named(Role::Hips), Some(hips));
        for role in [
            Role::Spine(1),
            Role::Neck(0),
            Role::Head,
            Role::Clavicle(Side::Left),
            Role::Thigh(Side::Right),
        ] {
            assert!(named(role).is_some(), "{hips}: {role}");
        }
    }
}

#[test]
fn fingers_are_told_apart_in_every_rig() {
    let hands: [(&str, [&str; 2], [&str; 5]); 9] = [
        (
            "CC_Base_#_",
            ["L", "R"],
            ["Thumb1", "Index1", "Mid1", "Ring1", "Pinky1"],
        ),
        (
            "#",
            ["l", "r"],
            ["Thumb1", "Index1", "Mid1", "Ring1", "Pinky1"],
        ),
        (
            "ValveBiped.Bip01_#_",
            ["L", "R"],
            ["Finger0", "Finger1", "Finger2", "Finger3", "Finger4"],
        ),
        (
            "bip_",
            ["L", "R"],
            [
                "thumb_0_#",
                "index_0_#",
                "middle_0_#",
                "ring_0_#",
                "pinky_0_#",
            ],
        ),
        (
            "",
            ["l", "r"],
            [
                "c_thumb1.#",
                "c_index1.#",
                "c_middle1.#",
                "c_ring1.#",
                "c_pinky1.#",
            ],
        ),
        (
            "#",
            ["左", "右"],
            ["親指１", "人指１", "中指１", "薬指１", "小指１"],
        ),
        (
            "finger_",
            ["L", "R"],
            [
                "thumb_0_#",
                "index_0_#",
                "middle_0_#",
                "ring_0_#",
                "pinky_0_#",
            ],
        ),
        (
            "Bip01 # ",
            ["L", "R"],
            [
                "Finger0_033",
                "Finger1_036",
                "Finger2_039",
                "Finger3_042",
                "Finger4_045",
            ],
        ),
        (
            "mixamorig:#Hand",
            ["Left", "Right"],
            ["Thumb1", "Index1", "Middle1", "Ring1", "Pinky1"],
        ),
    ];
    let fingers = [
        Finger::Thumb,
        Finger::Index,
        Finger::Middle,
        Finger::Ring,
        Finger::Little,
    ];
    let arm = [
        ("upper_arm.L", "chest"),
        ("forearm.L", "upper_arm.L"),
        ("hand.L", "forearm.L"),
    ];
    let right = |name: &str| name.replace(".L", ".R");
    for (prefix, sides, names) in hands {
        let mut joints = vec![("chest".to_owned(), String::new(), Vec3::ZERO)];
        for (name, parent) in arm {
            joints.push((name.into(), parent.into(), Vec3::ZERO));
            joints.push((right(name), right(parent), Vec3::ZERO));
        }
        for (side, hand) in sides.iter().zip(["hand.L", "hand.R"]) {
            joints.extend(names.map(|name| {
                (
                    format!("{prefix}{name}").replace('#', side),
                    hand.to_owned(),
                    Vec3::ZERO,
                )
            }));
        }
        let skeleton = skeleton(&joints);
        let roles = Roles::infer(&skeleton);
        for (side, sign) in [Side::Left, Side::Right].into_iter().zip(sides) {
            for (finger, name) in fingers.into_iter().zip(names) {
                let found = roles
                    .joint(Role::Finger(side, finger, 0))
                    .map(|joint| skeleton.name(joint).to_string());
                assert_eq!(found, Some(format!("{prefix}{name}").replace('#', sign)));
            }
        }
    }
}

/// An animal's joints have the roles that they are called after, and no more.
#[test]
fn a_dog_has_the_roles_that_its_joints_are_called_after() {
    let bytes = fs::read(crate::asset("pup/pup.glb")).unwrap();
    let skeleton = open_model("pup.glb", &bytes, &ImportSettings::default())
        .unwrap()
        .model
        .skeleton;
    let roles = Roles::infer(&skeleton);
    let other: Vec<String> = roles
        .iter()
        .map(|(role, joint)| (role.to_string(), skeleton.name(joint).to_string()))
        .filter(|(role, joint)| role != joint)
        .map(|(role, joint)| format!("{role}: {joint}"))
        .collect();
    assert_eq!((roles.len(), &*other.join(", ")), (21, "spine.3: chest"));
}
