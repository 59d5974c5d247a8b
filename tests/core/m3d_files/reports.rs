//! What cannot be used is named and pointed at.

use super::*;

#[test]
fn a_misspelt_label_is_pointed_at() {
    assert_eq!(
        refused(edited(
            DX12,
            "Normal: 0 0 -1\nTex-Coords: 1 1",
            "Nromal: 0 0 -1\nTex-Coords: 1 1"
        ))
        .to_string(),
        "sample.m3d:41:1: error: unknown label `Nromal:` (vertex 2 of 4 in Vertices)\n\
         41 | Nromal: 0 0 -1\n   | ^\n  hint: did you mean `Normal`?"
    );
    let text = refused(edited(DX12, "Position: 1 0 0", "Postion: 1 0 0"));
    assert_eq!(
        text.diagnostics.len(),
        1,
        "the vertices after it are not drawn in: {text}"
    );
    assert_eq!(
        refused(edited(DX12, "Quat: 0 0 0 1", "Qat: 0 0 0 1")).to_string(),
        "sample.m3d:77:35: error: unknown label `Qat:` (key 1 of 1 in bone 0 of clip `Wave`)\n\
         77 | \u{20} Time: 0 Pos: 0 0 0 Scale: 1 1 1 Qat: 0 0 0 1\n   | \
         \u{20}                                 ^\n  hint: did you mean `Quat`?"
    );
    assert_eq!(
        refused(edited(
            DX12,
            "***************Triangles",
            "***************Triangels"
        ))
        .to_string(),
        "sample.m3d:60:1: error: unknown section `Triangels`\n\
         60 | ***************Triangels*********************\n   | ^\n  hint: did you mean `Triangles`?"
    );
}

#[test]
fn numbers_that_are_none_are_pointed_at() {
    assert_eq!(
        refused(edited(DX12, "Position: 0 2 0", "Position: 0 2,5 0")).to_string(),
        "sample.m3d:46:13: error: expected a number, found `2,5` (vertex 3 of 4 in Vertices)\n\
         46 | Position: 0 2,5 0\n   |             ^"
    );
    assert_eq!(
        refused(edited(DX12, "Tangent: 1 0 0 -1", "Tangent: 1 0")).to_string(),
        "sample.m3d:34:1: error: expected a number, found `Normal:` (vertex 1 of 4 in Vertices)\n\
         34 | Normal: 0 0 -1\n   | ^\n  hint: the line before it may have ended too early"
    );
    assert_eq!(
        refused(edited(DX12, "1 3 2", "1 3.5 2")).to_string(),
        "sample.m3d:62:3: error: expected a whole number, found `3.5` (triangle 2 of 2 in Triangles)\n\
         62 | 1 3.5 2\n   |   ^"
    );
    assert_eq!(
        refused(edited(
            DX12,
            "ParentIndexOfBone1: 0",
            "ParentIndexOfBone1: root"
        ))
        .to_string(),
        "sample.m3d:70:21: error: expected a whole number, found `root` (bone 2 of 2 in BoneHierarchy)\n\
         70 | ParentIndexOfBone1: root\n   |                     ^"
    );
}

#[test]
fn triangles_of_vertices_that_do_not_exist_are_pointed_at() {
    let text = DX12
        .replace("0 1 2\n", "0 1 4\n")
        .replace("1 3 2\n", "900 3 2\n");
    assert_eq!(
        refused(text).to_string(),
        "sample.m3d:61:5: error: index 4 is out of range: there are 4 vertices (triangle 1 of 2 in Triangles)\n\
         61 | 0 1 4\n   |     ^\n\
         sample.m3d:62:1: error: index 900 is out of range: there are 4 vertices (triangle 2 of 2 in Triangles)\n\
         62 | 900 3 2\n   | ^"
    );
    let text = refused(edited(DX10, "2 3 1 1", "2 3 4 1")).to_string();
    assert!(
        text.starts_with("sample.m3d:40:5: error: index 4 is out of range"),
        "{text}"
    );
}

#[test]
fn a_file_that_ends_too_early_says_so() {
    let until = |mark: &str| &DX12[..DX12.find(mark).unwrap()];
    assert_eq!(
        refused(until("***************Triangles")).to_string(),
        "sample.m3d:60:1: error: expected a Triangles section, found the end of the file\n  hint: the file may be cut off"
    );
    assert_eq!(
        refused(until("***************Vertices"))
            .errors()
            .next()
            .unwrap()
            .message,
        "expected a Vertices section, found the end of the file"
    );
    let text = refused(until("0 0 -1 0 1")).to_string();
    assert!(
        text.contains("66:35: error: expected a number, found the end of the file (bone 2 of 2 in BoneOffsets)"),
        "{text}"
    );
    let text = refused(until("***************BoneHierarchy")).to_string();
    assert!(
        text.contains("error: 2 bones have an offset, but 0 have a parent"),
        "{text}"
    );
    let (m, warnings) = repaired(until("\t\tTime: 0.5"));
    assert_eq!(m.clips[0].bones[1].len(), 1);
    assert!(
        warnings
            .iter()
            .any(|w| w.contains("2 closing braces are missing")),
        "{warnings:#?}"
    );
}

#[test]
fn files_of_other_kinds_are_named() {
    assert_eq!(
        refused("").to_string(),
        "sample.m3d: error: the file is empty\n  hint: export it again"
    );
    assert_eq!(
        refused(b"3DMO\x7d\x2d\0\0").to_string(),
        "sample.m3d: error: this is a binary Model 3D file (magic `3DMO`), another format with the same extension\n  \
         hint: only Frank Luna's text format is read: it begins with `***m3d-File-Header***`"
    );
    assert!(
        refused("3dmodel 1.0\nhi\n")
            .to_string()
            .contains("this is a text Model 3D file (magic `3dmodel `)")
    );
    assert!(
        refused("MD5Version 10\n")
            .to_string()
            .contains("this is an MD5 file")
    );
    assert!(
        refused(b"glTF\x02\0\0\0")
            .to_string()
            .contains("this is a binary glTF file")
    );
    assert!(
        refused(b"\x89PNG\r\n\x1a\n")
            .to_string()
            .contains("this is a PNG image")
    );
    assert_eq!(
        refused("# a list\nv 1 2 3\n").to_string(),
        "sample.m3d:1:1: error: expected a section line such as `***m3d-File-Header***`, found `#`\n\
         1 | # a list\n  | ^"
    );
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
    assert!(
        refused(text)
            .to_string()
            .contains("20000 clips cannot each have keys for 2000 bones in so short a file")
    );
}

#[test]
fn subsets_and_triangles_cannot_multiply_beyond_the_file() {
    let rows =
        "SubsetID: 0 VertexStart: 0 VertexCount: 0 FaceStart: 0 FaceCount: 3000\n".repeat(1000);
    let text = format!(
        "***m3d-File-Header***\n***SubsetTable***\n{rows}***Vertices***\nP: 0 0 0\n***Triangles***\n"
    );
    let error = refused(text + &"0 0 0\n".repeat(3000)).to_string();
    assert!(
        error.contains("1000 subsets name 3000000 triangles in all, but there are only 3000"),
        "{error}"
    );
}
