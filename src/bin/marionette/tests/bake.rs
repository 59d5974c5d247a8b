use super::*;

#[test]
fn a_baked_file_is_named_after_its_character() {
    assert_eq!(stem("scout.character.ron"), "scout");
    assert_eq!(stem("Scout.Character.RON"), "Scout");
    assert_eq!(stem("knight.v2.glb"), "knight.v2");
    assert!(output("a.character.bin").is_ok() && output("a.glb").is_err());
}
