use super::*;

#[test]
fn the_usual_prefixes_are_left_out() {
    for name in [
        "Hips",
        "mixamorig:Hips",
        "mixamorigHips",
        "mixamorig1:Hips",
        "mixamorig_Hips",
        "Armature|Hips",
    ] {
        assert_eq!(without_prefix(name), "Hips");
    }
    assert_eq!(without_prefix("mixamorig"), "mixamorig");
    assert_eq!(without_prefix("Rig|Body:spine.001"), "spine.001");
}
