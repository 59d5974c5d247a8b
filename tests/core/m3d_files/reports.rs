//! What cannot be used is named and pointed at.

use super::*;

#[test]
fn a_misspelt_label_is_pointed_at() {
    assert_message(
        "m3d: a misspelled label",
        refused(edited(
            DX12,
            "Normal: 0 0 -1\nTex-Coords: 1 1",
            "Nromal: 0 0 -1\nTex-Coords: 1 1",
        )),
    );
    let text = refused(edited(DX12, "Position: 1 0 0", "Postion: 1 0 0"));
    assert_eq!(
        text.diagnostics.len(),
        1,
        "the vertices after it are not drawn in: {text}"
    );
    assert_message(
        "m3d: a misspelled label of a key",
        refused(edited(DX12, "Quat: 0 0 0 1", "Qat: 0 0 0 1")),
    );
    assert_message(
        "m3d: a misspelled section",
        refused(edited(
            DX12,
            "***************Triangles",
            "***************Triangels",
        )),
    );
}

#[test]
fn numbers_that_are_none_are_pointed_at() {
    assert_message(
        "m3d: a number with a comma",
        refused(edited(DX12, "Position: 0 2 0", "Position: 0 2,5 0")),
    );
    assert_message(
        "m3d: too few numbers",
        refused(edited(DX12, "Tangent: 1 0 0 -1", "Tangent: 1 0")),
    );
    assert_message(
        "m3d: an index that is not whole",
        refused(edited(DX12, "1 3 2", "1 3.5 2")),
    );
    assert_message(
        "m3d: a parent that is a word",
        refused(edited(
            DX12,
            "ParentIndexOfBone1: 0",
            "ParentIndexOfBone1: root",
        )),
    );
}

#[test]
fn triangles_of_vertices_that_do_not_exist_are_pointed_at() {
    let text = DX12
        .replace("0 1 2\n", "0 1 4\n")
        .replace("1 3 2\n", "900 3 2\n");
    assert_message(
        "m3d: triangles of vertices that do not exist",
        refused(text),
    );
    let text = refused(edited(DX10, "2 3 1 1", "2 3 4 1"));
    assert_message(
        "m3d: a triangle of a vertex that does not exist, DX10",
        text,
    );
}

#[test]
fn a_file_that_ends_too_early_says_so() {
    let until = |mark: &str| &DX12[..DX12.find(mark).unwrap()];
    assert_message(
        "m3d: cut before its triangles",
        refused(until("***************Triangles")),
    );
    assert_message(
        "m3d: cut before its vertices",
        refused(until("***************Vertices")),
    );
    let text = refused(until("0 0 -1 0 1"));
    assert_message("m3d: cut in an offset", text);
    let text = refused(until("***************BoneHierarchy"));
    assert_message("m3d: cut before its hierarchy", text);
    let (m, warnings) = repaired(until("\t\tTime: 0.5"));
    assert_eq!(m.clips[0].bones[1].len(), 1);
    assert_messages("m3d: cut in a clip", &warnings);
}

#[test]
fn files_of_other_kinds_are_named() {
    assert_message("m3d: an empty file", refused(""));
    assert_message("m3d: a binary Model 3D file", refused(b"3DMO\x7d\x2d\0\0"));
    assert_message("m3d: a text Model 3D file", refused("3dmodel 1.0\nhi\n"));
    assert_message("m3d: an MD5 file", refused("MD5Version 10\n"));
    assert_message("m3d: a binary glTF file", refused(b"glTF\x02\0\0\0"));
    assert_message("m3d: a PNG image", refused(b"\x89PNG\r\n\x1a\n"));
    assert_message("m3d: an OBJ file", refused("# a list\nv 1 2 3\n"));
}

#[test]
fn no_more_than_twenty_errors_are_listed() {
    let text = edited(DX12, "0 1 2\n1 3 2\n", &"a b c\n".repeat(1000));
    assert_eq!(refused(text).errors().count(), 20);
}

#[test]
fn clips_and_bones_cannot_multiply_beyond_the_file() {
    let offset: String = (0..2000)
        .map(|i| format!("BoneOffset{i} 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1\n"))
        .collect();
    let parents: String = (0..2000)
        .map(|i| format!("ParentIndexOfBone{i}: -1\n"))
        .collect();
    let clips = "AnimationClip a\n{}\n".repeat(20_000);
    let text = format!(
        "***m3d-File-Header***\n***BoneOffsets***\n{offset}***BoneHierarchy***\n{parents}***AnimationClips***\n{clips}"
    );
    assert_message("m3d: clips times bones", refused(text));
}

#[test]
fn subsets_and_triangles_cannot_multiply_beyond_the_file() {
    let rows =
        "SubsetID: 0 VertexStart: 0 VertexCount: 0 FaceStart: 0 FaceCount: 3000\n".repeat(1000);
    let text = format!(
        "***m3d-File-Header***\n***SubsetTable***\n{rows}***Vertices***\nP: 0 0 0\n***Triangles***\n"
    );
    let error = refused(text + &"0 0 0\n".repeat(3000));
    assert_message("m3d: subsets times triangles", error);
}
