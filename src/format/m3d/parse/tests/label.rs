use super::*;

#[test]
fn labels_are_the_same_whatever_their_case_and_marks() {
    assert!(same(b"#Tex-Coords:", "TexCoords"));
    assert!(same(b"SUBSET_TABLE", "SubsetTable"));
    assert!(!same(b"Tex:", "TexCoords"));
}

#[test]
fn a_bone_is_found_in_its_label_and_a_name_is_none() {
    let of = |label: &[u8]| after(label, "BoneOffset").and_then(index);
    assert_eq!(of(b"BoneOffset12"), Some(12));
    assert_eq!(of(b"boneoffset<12>:"), Some(12));
    assert_eq!(of(b"BoneOffset3:"), Some(3));
    for none in [
        &b"BoneOffset"[..],
        b"BoneOffset<Spine>",
        b"BoneOffset-1",
        b"BoneOffset99999999999",
        b"Bone",
    ] {
        assert_eq!(of(none), None);
    }
}

#[test]
fn misspelled_labels_are_recognized_and_other_labels_are_not() {
    let names = ["Position", "Normal", "Tangent", "Pos", "P"];
    assert_eq!(nearest(b"Postion:", names), Some("Position"));
    assert_eq!(nearest(b"Nromal:", names), Some("Normal"));
    for other in [
        &b"Color:"[..],
        b"Binormal:",
        b"TangentV:",
        b"Normal2:",
        b"Position",
        b"::",
        b"",
    ] {
        assert_eq!(nearest(other, names), None);
    }
    assert_eq!(nearest(b"C:", names), None);
    assert_eq!(nearest(&[b'x'; 100_000], names), None);
}
