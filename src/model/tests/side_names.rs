use super::*;

#[test]
fn common_naming_schemes_for_sides_are_recognized() {
    for (name, other) in [
        ("hand.L", "hand.R"),
        ("hand_l", "hand_r"),
        ("L_Hand", "R_Hand"),
        ("mixamorig:LeftArm", "mixamorig:RightArm"),
        ("rightfoot", "leftfoot"),
        ("Bip01 L Thigh", "Bip01 R Thigh"),
        ("upper_arm.R.001", "upper_arm.L.001"),
        ("handL", "handR"),
        ("luparm", "ruparm"),
        ("CC_Base_L_Thigh", "CC_Base_R_Thigh"),
        ("ValveBiped.Bip01_L_UpperArm", "ValveBiped.Bip01_R_UpperArm"),
        ("bip_upperArm_L", "bip_upperArm_R"),
        ("thigh_stretch.l", "thigh_stretch.r"),
        ("lThighBend", "rThighBend"),
        ("Genesis8Female:lShldrBend", "Genesis8Female:rShldrBend"),
        ("Armature_LThigh", "Armature_RThigh"),
        ("handL_01", "handR_01"),
        ("hero:lclavicle", "hero:rclavicle"),
        ("Anim_Attachment_LH", "Anim_Attachment_RH"),
        ("lf_arm", "rt_arm"),
        ("左足首", "右足首"),
        ("右ひざ", "左ひざ"),
        ("足ＩＫ.L", "足ＩＫ.R"),
    ] {
        assert_eq!(
            mirrored_names(name).first().map(String::as_str),
            Some(other),
            "{name}"
        );
    }
    assert!(mirrored_names("spine").is_empty());
    assert!(mirrored_names("head").is_empty());
}

#[test]
fn texts_are_cut_into_words() {
    let cut = |text: &'static str| {
        words(text)
            .into_iter()
            .map(|word| &text[word])
            .collect::<Vec<_>>()
    };
    assert_eq!(cut("LeftForeArm"), ["Left", "Fore", "Arm"]);
    assert_eq!(cut("upperarm_twist_01.l"), ["upperarm", "twist", "01", "l"]);
    assert_eq!(cut("IKArm2L"), ["IK", "Arm", "2", "L"]);
    assert_eq!(cut("Größe:Übung"), ["Größe", "Übung"]);
    assert!(cut("").is_empty() && cut(" .. ").is_empty());
}

#[test]
fn only_whole_words_name_a_side() {
    for (text, swapped) in [
        ("left", "right"),
        ("footstep_LEFT", "footstep_RIGHT"),
        ("stepRight", "stepLeft"),
        ("L", "R"),
        ("foot.r", "foot.l"),
        ("left or right", "right or left"),
    ] {
        assert_eq!(swapped_words(text), swapped);
        assert_eq!(swapped_words(swapped), text);
    }
    for text in ["bright", "leftover", "upright", "loud", "R2D2", "", "later"] {
        assert_eq!(swapped_words(text), text);
    }
}
