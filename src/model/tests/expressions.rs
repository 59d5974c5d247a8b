use super::*;

fn morphs(names: &[&str]) -> Morphs {
    Morphs::new(names.iter().map(|&name| (name.into(), 0.0)))
}

const ARKIT: &[&str] = &[
    "browDownLeft",
    "browDownRight",
    "browInnerUp",
    "browOuterUpLeft",
    "browOuterUpRight",
    "cheekPuff",
    "cheekSquintLeft",
    "cheekSquintRight",
    "eyeBlinkLeft",
    "eyeBlinkRight",
    "eyeLookDownLeft",
    "eyeLookDownRight",
    "eyeLookInLeft",
    "eyeLookInRight",
    "eyeLookOutLeft",
    "eyeLookOutRight",
    "eyeLookUpLeft",
    "eyeLookUpRight",
    "eyeSquintLeft",
    "eyeSquintRight",
    "eyeWideLeft",
    "eyeWideRight",
    "jawForward",
    "jawLeft",
    "jawOpen",
    "jawRight",
    "mouthClose",
    "mouthDimpleLeft",
    "mouthDimpleRight",
    "mouthFrownLeft",
    "mouthFrownRight",
    "mouthFunnel",
    "mouthLeft",
    "mouthLowerDownLeft",
    "mouthLowerDownRight",
    "mouthPressLeft",
    "mouthPressRight",
    "mouthPucker",
    "mouthRight",
    "mouthRollLower",
    "mouthRollUpper",
    "mouthShrugLower",
    "mouthShrugUpper",
    "mouthSmileLeft",
    "mouthSmileRight",
    "mouthStretchLeft",
    "mouthStretchRight",
    "mouthUpperUpLeft",
    "mouthUpperUpRight",
    "noseSneerLeft",
    "noseSneerRight",
    "tongueOut",
];
const VRM: &[&str] = &[
    "happy",
    "angry",
    "sad",
    "relaxed",
    "surprised",
    "aa",
    "ih",
    "ou",
    "ee",
    "oh",
    "blink",
    "blinkLeft",
    "blinkRight",
    "lookUp",
    "lookDown",
    "lookLeft",
    "lookRight",
];
const VISEMES: &[&str] = &[
    "viseme_PP",
    "viseme_FF",
    "viseme_TH",
    "viseme_DD",
    "viseme_kk",
    "viseme_CH",
    "viseme_SS",
    "viseme_nn",
    "viseme_RR",
    "viseme_aa",
    "viseme_E",
    "viseme_I",
    "viseme_O",
    "viseme_U",
];

#[test]
fn every_name_of_a_set_is_its_own_target_in_that_set() {
    for set in [ARKIT, VRM, VISEMES] {
        for (at, name) in set.iter().enumerate() {
            assert_eq!(morphs(set).expression(name), [(at as u16, 1.0)], "{name}");
        }
    }
    assert_eq!(ARKIT.len(), 52);
}

#[test]
fn presets_and_visemes_show_on_arkit_faces() {
    let face = morphs(ARKIT);
    for name in VRM.iter().chain(VISEMES) {
        assert!(!face.expression(name).is_empty(), "{name}");
    }
    let at = |name: &str| face.morph(name).unwrap();
    assert_eq!(
        face.expression("blink"),
        [(at("eyeBlinkLeft"), 1.0), (at("eyeBlinkRight"), 1.0)]
    );
    assert_eq!(face.expression("Blink_L"), [(at("eyeBlinkLeft"), 1.0)]);
    assert_eq!(face.expression("viseme_aa"), [(at("jawOpen"), 0.7)]);
}

#[test]
fn face_tracking_moves_faces_with_presets() {
    let face = morphs(VRM);
    let at = |name: &str| face.morph(name).unwrap();
    assert_eq!(face.expression("jawOpen"), [(at("aa"), 1.0)]);
    assert_eq!(face.expression("eyeBlinkRight"), [(at("blinkRight"), 1.0)]);
    // Both eyes to the left add up to the whole shape.
    assert_eq!(face.expression("eyeLookOutLeft"), [(at("lookLeft"), 0.5)]);
    assert_eq!(face.expression("eyeLookInRight"), [(at("lookLeft"), 0.5)]);
    assert!(face.expression("cheekPuff").is_empty());
    assert!(!face.is_known_expression("cheekPuff"));
    assert!(face.is_known_expression("neutral"));
}

#[test]
fn spelling_makes_no_difference_and_a_name_as_it_is_comes_first() {
    let face = morphs(&["head.blink.L", "Fcl_MTH_A", "A", "smile"]);
    assert_eq!(face.expression("blinkLeft"), [(0, 1.0)]);
    assert_eq!(face.expression("aa"), [(1, 1.0)]);
    assert_eq!(face.expression("A"), [(2, 1.0)]);
    assert_eq!(face.expression("happy"), [(3, 1.0)]);
    assert!(face.expression("frown").is_empty());
}
