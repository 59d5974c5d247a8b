//! `.m3d`: every dialect read, what is broken repaired or named, what is written read back.

use bevy_marionette::format::{
    FormatError,
    m3d::{Dialect, M3d, M3dBone, M3dClip, M3dKey, M3dMaterial, M3dSubset, M3dVertex, parse, write},
};
use proptest::prelude::*;

/// Two triangles, two bones and a clip, as the DX12 book's exporter would write them.
const DX12: &str = "\
***************m3d-File-Header***************
#Materials 2
#Vertices 4
#Triangles 2
#Bones 2
#AnimationClips 1

***************Materials*********************
Name: cloth
Diffuse: 0.5 0.25 1
Fresnel0: 0.05 0.06 0.07
Roughness: 0.75
AlphaClip: 1
MaterialTypeName: Skinned
DiffuseMap: cloth colour.dds
NormalMap: cloth_n.dds

Name: skin
Diffuse: 1 1 1
Fresnel0: 0.01 0.01 0.01
Roughness: 0.5
AlphaClip: 0
MaterialTypeName: Skinned
DiffuseMap: skin.dds
NormalMap:

***************SubsetTable*******************
SubsetID: 0 VertexStart: 0 VertexCount: 3 FaceStart: 0 FaceCount: 1
SubsetID: 1 VertexStart: 1 VertexCount: 3 FaceStart: 1 FaceCount: 1

***************Vertices**********************
Position: -1 0 1.5E-07
Tangent: 1 0 0 -1
Normal: 0 0 -1
Tex-Coords: 0 1
BlendWeights: 0.75 0.25 0 0
BlendIndices: 0 1 0 0

Position: 1 0 0
Tangent: 1 0 0 -1
Normal: 0 0 -1
Tex-Coords: 1 1
BlendWeights: 1 0 0 0
BlendIndices: 1 0 0 0

Position: 0 2 0
Tangent: 1 0 0 -1
Normal: 0 0 -1
Tex-Coords: 0.5 0
BlendWeights: 1 0 0 0
BlendIndices: 1 0 0 0

Position: 2 2 -0.5e-17
Tangent: 1 0 0 1
Normal: 0 0 -1
Tex-Coords: 1 0
BlendWeights: 0.5 0.5 -0.01 0.01
BlendIndices: 1 0 1 1

***************Triangles*********************
0 1 2
1 3 2

***************BoneOffsets*******************
BoneOffset0 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1
BoneOffset1 1 0 0 0 0 1 0 0 0 0 1 0 0 -1 0 1

***************BoneHierarchy*****************
ParentIndexOfBone0: -1
ParentIndexOfBone1: 0

***************AnimationClips****************
AnimationClip Wave
{
\tBone0 #Keyframes: 1
\t{
\t\tTime: 0 Pos: 0 0 0 Scale: 1 1 1 Quat: 0 0 0 1
\t}

\tBone1 #Keyframes: 2
\t{
\t\tTime: 0 Pos: 0 1 0 Scale: 1 1 1 Quat: 0 0 0 1
\t\tTime: 0.5 Pos: 0 1 0 Scale: 1 1 1 Quat: 0 0 0.6 0.8
\t}
}
";

const DX11: &str = "\
***************m3d-File-Header***************
#Materials 1
#Vertices 3
#Triangles 1
#Bones 0
#AnimationClips 0

***************Materials*********************
Ambient: 0.5 0.5 0.5
Diffuse: 0.9 0.8 0.7
Specular: 0.4 0.4 0.4
SpecPower: 8
Reflectivity: 0 0 0.1
AlphaClip: 0
Effect: Normal
DiffuseMap: stone.dds
NormalMap: stone_n.dds

***************SubsetTable*******************
SubsetID: 0 VertexStart: 0 VertexCount: 3 FaceStart: 0 FaceCount: 1

***************Vertices**********************
Position: 0 0 0
Tangent: 1 0 0 1
Normal: 0 1 0
Tex-Coords: 0 0

Position: 0 0 1
Tangent: 1 0 0 1
Normal: 0 1 0
Tex-Coords: 0 1

Position: 1 0 0
Tangent: 1 0 0 1
Normal: 0 1 0
Tex-Coords: 1 0

***************Triangles*********************
0 1 2
";

const DX10: &str = "\
***************m3d-File-Header***************
#Materials 2
#Vertices 4
#Triangles 3

***************Subsets********************
..\\\\art\\\\wall d.dds
..\\\\art\\\\wall_s.dds
..\\\\art\\\\wall_n.dds
Reflectivity 0 0 0
floor.dds
floor_s.dds
floor_n.dds
Reflectivity 0.5 0.5 0.5

***************Vertices*********************
Position: 0 0 0
Tangent: 1 0 0
Normal: 0 1 0
Tex-Coords: 0 0

Position: 0 0 1
Tangent: 1 0 0
Normal: 0 1 0
Tex-Coords: 0 1

Position: 1 0 0
Tangent: 1 0 0
Normal: 0 1 0
Tex-Coords: 1 0

Position: 1 0 1
Tangent: 1 0 0
Normal: 0 1 0
Tex-Coords: 1 1

***************Triangles********************
1 3 2 1
0 1 2 0
2 3 1 1
";

const IMM: &str = "\
----------------------------M3D_File_Header-
Materials 1
Vertices 3
Triangles 1
Bones 0
AnimationClips 0

----------------------------------Materials-
Ambient: 1.0 1.0 1.0
Diffuse: 0.64 0.64 0.64
Specular: 0.5 0.5 0.5
SpecPower: 12.5
Reflectivity: 0.0 0.0 0.0
AlphaClip: 0
Effect: Normal
DiffuseMap: post_d.dds
NormalMap: post_n.dds

-------------------------------Subset_Table-
SubsetID: 0 VertexStart: 0 VertexCount: 3 FaceStart: 0 FaceCount: 1

-----------------------------------Vertices-
P: -1 0 0.5
T: 0.5 0.25 5.5e-07 1
N: -0.75 0.25 0.0
T: 0.875 0.125

P: 1 0 0
T: 1 0 0 1
N: 0 1 0
T: 1 0

P: 0 -1 0
T: 1 0 0 1
N: 0 1 0
T: 0 1

----------------------------------Triangles-
0 1 2
";

/// An exporter of somebody's own, animated: labels and punctuation as they came to mind.
const HOME_MADE: &str = "\
***************Y2K-File-Header***************\r
#Materials: 1\r
#Vertices: 3\r
#Triangles: 1\r
#Bones: 2\r
#AnimationClips: 1\r
#Subsets: 1\r
\r
***************Materials*********************\r
Ambient: 0 0 0\r
Diffuse: 0.5 0.5 0.5 1\r
Specular: 0 0 0 1\r
SpecPower: 1\r
Reflectivity: 0 0 0 1\r
AlphaClip: 0\r
Effect: Normal\r
DiffuseMap: None\r
NormalMap: face normals.png\r
\r
***************SubsetTable*******************\r
SubsetID: 0 VertexStart: 0 VetexCount: 3 FaceStart: 0 FaceCount: 1\r
\r
***************Vertices**********************\r
Pos: 0 0 0\r
Tangent: 1 0 0\r
Normal: 0 1 0\r
Tex: 0 0\r
BlendWeights: 0.5 0.25 0.125\r
BlendIndices: 0 1 0 1\r
Pos: 0 0 1\r
Tangent: 1 0 0\r
Normal: 0 1 0\r
Tex: 0 1\r
BlendWeights: 1 0 0\r
BlendIndices: 1 0 0 0\r
Pos: 1 0 0\r
Tangent: 1 0 0\r
Normal: 0 1 0\r
Tex: 1 0\r
BlendWeights: 1 0 0\r
BlendIndices: 1 0 0 0\r
\r
***************Triangles*********************\r
0 1 2 \r
\r
***************BoneOffsets*******************\r
BoneOffset<0>: 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1\r
BoneOffset<1>: 1 0 0 0 0 1 0 0 0 0 1 0 0 -1 0 1\r
\r
***************BoneHierarchy*****************\r
ParentIndexOfBone0 -1\r
ParentIndexOfBone<Left_{Arm}> 0\r
\r
***************AnimationClips****************\r
AnimationClip Take 001 of 2\r
{\r
\tBone0 #KeyFrames: 1\r
\t{\r
\t\tTime: 0 Pos: 0 0 0 Scale: 1 1 1 Quat: 0 0 0 1\r
\t}\r
\r
\tBone1 #KeyFrames: 0\r
\t{\r
\t}\r
\r
}\r
";

const SAMPLES: [&str; 5] = [DX12, DX11, DX10, IMM, HOME_MADE];

/// The model of a text without any fault.
fn sound(text: &str) -> M3d {
    let parsed = parse("sample.m3d", text.as_bytes()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(parsed.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(), Vec::<String>::new());
    assert_promises(&parsed.value);
    parsed.value
}

/// The model of a text that can be used, and the warnings.
fn repaired(text: &str) -> (M3d, Vec<String>) {
    let parsed = parse("sample.m3d", text.as_bytes()).unwrap_or_else(|e| panic!("{e}"));
    assert_promises(&parsed.value);
    (parsed.value, parsed.warnings.iter().map(ToString::to_string).collect())
}

fn refused(text: impl AsRef<[u8]>) -> FormatError {
    parse("sample.m3d", text.as_ref()).expect_err("this text is beyond use")
}

/// `text` with `from`, which must occur, replaced.
fn edited(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1)
}

/// What the documentation of [`M3d`] promises.
fn assert_promises(m: &M3d) {
    let (vertices, triangles, bones) = (m.vertices.len() as u64, m.triangles.len() as u64, m.bones.len());
    for s in &m.subsets {
        assert!(u64::from(s.vertex_start) + u64::from(s.vertex_count) <= vertices, "{s:?}");
        assert!(u64::from(s.face_start) + u64::from(s.face_count) <= triangles, "{s:?}");
    }
    assert!(m.triangles.as_flattened().iter().all(|&i| u64::from(i) < vertices));
    for material in &m.materials {
        let colours = [material.fresnel0, material.specular, material.ambient, material.reflectivity];
        let colours = colours.into_iter().flatten().chain([material.diffuse]).flatten();
        assert!(colours.chain(material.roughness).chain(material.specular_power).all(f32::is_finite));
    }
    for v in &m.vertices {
        let numbers = v.position.iter().chain(&v.tangent).chain(&v.normal).chain(&v.tex_coord).chain(&v.weights);
        assert!(numbers.copied().all(f32::is_finite));
        if bones == 0 {
            assert_eq!((v.weights, v.bones), ([0.0; 4], [0; 4]));
        } else {
            assert!(v.bones.iter().all(|&b| (b as usize) < bones));
        }
    }
    for (index, bone) in m.bones.iter().enumerate() {
        assert!(bone.offset.as_flattened().iter().copied().all(f32::is_finite));
        let ancestors = std::iter::successors(Some(index), |&at| m.bones[at].parent.map(|p| p as usize));
        assert!(ancestors.take(bones + 1).count() <= bones, "bone {index} has no root");
    }
    for clip in &m.clips {
        assert_eq!(clip.bones.len(), bones);
        for keys in &clip.bones {
            assert!(keys.is_sorted_by(|a, b| a.time <= b.time));
            for key in keys {
                let numbers = key.translation.iter().chain(&key.scale).chain(&key.rotation).chain([&key.time]);
                assert!(numbers.copied().all(f32::is_finite));
            }
        }
    }
}

#[test]
fn dx12_is_read_to_the_last_field() {
    let m = sound(DX12);
    assert_eq!(m.dialect, Dialect::Dx12);
    let cloth = M3dMaterial {
        name: Some("cloth".into()),
        diffuse: [0.5, 0.25, 1.0],
        fresnel0: Some([0.05, 0.06, 0.07]),
        roughness: Some(0.75),
        alpha_clip: true,
        effect: Some("Skinned".into()),
        diffuse_map: Some("cloth colour.dds".into()),
        normal_map: Some("cloth_n.dds".into()),
        ..Default::default()
    };
    assert_eq!(m.materials[0], cloth);
    assert_eq!((m.materials.len(), &m.materials[1].normal_map), (2, &None));
    let second = M3dSubset { id: 1, vertex_start: 1, vertex_count: 3, face_start: 1, face_count: 1 };
    assert_eq!((m.subsets.len(), &m.subsets[1]), (2, &second));
    let last = M3dVertex {
        position: [2.0, 2.0, -0.5e-17],
        tangent: [1.0, 0.0, 0.0, 1.0],
        normal: [0.0, 0.0, -1.0],
        tex_coord: [1.0, 0.0],
        weights: [0.5, 0.5, -0.01, 0.01],
        bones: [1, 0, 1, 1],
    };
    assert_eq!((m.vertices.len(), m.vertices[3]), (4, last));
    assert_eq!(m.triangles, [[0, 1, 2], [1, 3, 2]]);
    assert_eq!((m.bones[0].parent, m.bones[1].parent), (None, Some(0)));
    assert_eq!(m.bones[1].offset[3], [0.0, -1.0, 0.0, 1.0]);
    let clip = &m.clips[0];
    assert_eq!((clip.name.as_str(), clip.bones[0].len(), clip.bones[1].len()), ("Wave", 1, 2));
    let key = M3dKey { time: 0.5, translation: [0.0, 1.0, 0.0], scale: [1.0; 3], rotation: [0.0, 0.0, 0.6, 0.8] };
    assert_eq!(clip.bones[1][1], key);
}

#[test]
fn dx11_is_read_static() {
    let m = sound(DX11);
    let stone = M3dMaterial {
        ambient: Some([0.5; 3]),
        diffuse: [0.9, 0.8, 0.7],
        specular: Some([0.4; 3]),
        specular_power: Some(8.0),
        reflectivity: Some([0.0, 0.0, 0.1]),
        effect: Some("Normal".into()),
        diffuse_map: Some("stone.dds".into()),
        normal_map: Some("stone_n.dds".into()),
        ..Default::default()
    };
    assert_eq!((m.dialect, m.materials), (Dialect::Dx11, vec![stone]));
    assert_eq!((m.vertices.len(), m.bones.len(), m.clips.len()), (3, 0, 0));
}

#[test]
fn dx10_triangles_are_gathered_by_their_subset() {
    let m = sound(DX10);
    assert_eq!(m.dialect, Dialect::Dx10);
    assert_eq!(m.materials[0].diffuse_map.as_deref(), Some(r"..\\art\\wall d.dds"));
    assert_eq!(m.materials[0].specular_map.as_deref(), Some(r"..\\art\\wall_s.dds"));
    assert_eq!(m.materials[1].normal_map.as_deref(), Some("floor_n.dds"));
    assert_eq!(m.materials[1].reflectivity, Some([0.5; 3]));
    assert_eq!(m.triangles, [[0, 1, 2], [1, 3, 2], [2, 3, 1]]);
    let of = |s: &M3dSubset| (s.id, s.vertex_start, s.vertex_count, s.face_start, s.face_count);
    assert_eq!(m.subsets.iter().map(of).collect::<Vec<_>>(), [(0, 0, 3, 0, 1), (1, 1, 3, 1, 2)]);
    assert_eq!(m.vertices[0].tangent, [1.0, 0.0, 0.0, 1.0]);
}

#[test]
fn imm_tells_its_two_ts_apart() {
    let m = sound(IMM);
    assert_eq!(m.dialect, Dialect::Imm);
    assert_eq!(m.vertices[0].tangent, [0.5, 0.25, 5.5e-7, 1.0]);
    assert_eq!(m.vertices[0].tex_coord, [0.875, 0.125]);
    assert_eq!(m.materials[0].specular_power, Some(12.5));
    assert_eq!(m.subsets[0].vertex_count, 3);
}

#[test]
fn imm_tells_its_two_ts_apart_without_tangents_too() {
    let text = IMM.lines().filter(|l| !(l.starts_with("T: ") && l.split(' ').count() == 5));
    let m = sound(&text.collect::<Vec<_>>().join("\n"));
    assert_eq!((m.vertices[0].tangent, m.vertices[0].tex_coord), ([0.0, 0.0, 0.0, 1.0], [0.875, 0.125]));
}

#[test]
fn home_made_labels_are_understood() {
    let m = sound(HOME_MADE);
    assert_eq!(m.dialect, Dialect::Other);
    assert_eq!(m.materials[0].diffuse_map, None);
    assert_eq!(m.materials[0].normal_map.as_deref(), Some("face normals.png"));
    assert_eq!(m.materials[0].diffuse, [0.5; 3]);
    assert_eq!(m.subsets[0].vertex_count, 3);
    assert_eq!(m.vertices[0].weights, [0.5, 0.25, 0.125, 0.125], "what is missing to one is the fourth's");
    assert_eq!((m.vertices[0].bones, m.vertices[2].tex_coord), ([0, 1, 0, 1], [1.0, 0.0]));
    assert_eq!((m.bones[0].parent, m.bones[1].parent), (None, Some(0)));
    assert_eq!(m.clips[0].name, "Take 001 of 2");
    assert_eq!((m.clips[0].bones[0].len(), m.clips[0].bones[1].len()), (1, 0));
}

#[test]
fn line_ends_do_not_matter() {
    for text in SAMPLES {
        let unix = text.replace("\r\n", "\n");
        assert_eq!(sound(&unix), sound(&unix.replace('\n', "\r\n")));
        assert_eq!(sound(&unix), sound(&format!("\u{feff}{}", unix.trim_end())));
    }
}

#[test]
fn sections_may_stand_in_any_order() {
    let (head, rest) = DX12.split_at(DX12.find("***************Materials").unwrap());
    let mut sections: Vec<String> = rest.split("***************").map(|s| format!("***************{s}")).collect();
    // Each title and its tail of stars are two pieces.
    let mut pairs: Vec<String> = sections.drain(1..).collect::<Vec<_>>().chunks(2).map(|c| c.concat()).collect();
    pairs.reverse();
    assert_eq!(pairs.len(), 7);
    assert_eq!(sound(&format!("{head}{}", pairs.concat())), sound(DX12));
}

#[test]
fn a_model_without_triangles_section_is_a_triangle_list() {
    let text = "***m3d-File-Header***\n#Materials 1\n#Vertices 6\n#Bones 0\n***Materials***\nDiffuseMap: a.dds\n\
        ***SubsetTable***\nSubsetID: 0 VertexStart: 0 VertexCount: 3\nSubsetID: 0 VertexStart: 3 VertexCount: 3\n\
        ***Vertices***\n";
    let vertices: String = (0..6).map(|i| format!("Pos: {i} 0 0\nNormal: 0 1 0\nTex: 0 0\n\n")).collect();
    let (m, warnings) = repaired(&(text.to_owned() + &vertices));
    assert_eq!(m.triangles, [[0, 1, 2], [3, 4, 5]]);
    assert_eq!((m.subsets[1].face_start, m.subsets[1].face_count), (1, 1));
    assert_eq!(warnings.len(), 1, "{warnings:#?}");
    assert!(warnings[0].contains("every three vertices were taken for a triangle"), "{warnings:#?}");
}

#[test]
fn a_broken_subset_table_is_mended() {
    let table = "SubsetID: 0 VertexStart: 0 VertexCount: 3 FaceStart: 0 FaceCount: 1";
    let (m, warnings) = repaired(&edited(DX12, table, &table.replace("ID: 0", "ID: 4294967295")));
    assert_eq!(m.subsets[0].id, u32::MAX);
    assert_eq!(
        warnings,
        ["sample.m3d:28:1: warning: SubsetID 4294967295 is none of the 2 materials\n\
          28 | SubsetID: 4294967295 VertexStart: 0 VertexCount: 3 FaceStart: 0 FaceCount: 1\n   | ^"]
    );

    let (m, warnings) = repaired(&edited(DX12, table, &table.replace("VertexCount: 3", "VertexCount: 0")));
    assert_eq!(m.subsets, sound(DX12).subsets);
    assert!(warnings[0].contains("28:1: warning: subset 0 has no vertices; its triangles tell which"), "{warnings:#?}");

    let (m, warnings) = repaired(&edited(DX12, table, &table.replace("FaceCount: 1", "FaceCount: 99")));
    assert_eq!((m.subsets[0].face_start, m.subsets[0].face_count), (0, 2));
    assert!(warnings[0].contains("subset 0 reaches to triangle 99 of 2; it was cut short"), "{warnings:#?}");

    let thrice = DX12.replace("FaceCount: 1", "FaceCount: 3").replace("FaceStart: 1", "FaceStart: 3");
    let (m, warnings) = repaired(&thrice);
    assert_eq!(m.subsets, sound(DX12).subsets);
    assert!(warnings[0].contains("FaceCount counts 6 for 2 triangles; it was divided by three"), "{warnings:#?}");
    assert_eq!(warnings.len(), 1);

    let (from, to) = (DX12.find("***************SubsetTable").unwrap(), DX12.find("***************Vertices").unwrap());
    let (m, warnings) = repaired(&format!("{}{}", &DX12[..from], &DX12[to..]));
    assert_eq!(m.subsets, [M3dSubset { vertex_count: 4, face_count: 2, ..Default::default() }]);
    assert!(warnings[0].contains("there is no subset table"), "{warnings:#?}");
}

#[test]
fn a_skeleton_that_is_only_promised_makes_a_static_model() {
    let cut = &DX12[..DX12.find("***************BoneOffsets").unwrap()];
    let (m, warnings) = repaired(cut);
    assert_eq!((m.bones.len(), m.vertices[0].weights, m.clips.len()), (0, [0.0; 4], 0));
    assert_eq!(
        warnings,
        [
            "sample.m3d:5:1: warning: the header says Bones 2 and there are none; \
             this is read as a static model\n5 | #Bones 2\n  | ^",
            "sample.m3d:6:1: warning: the header says AnimationClips 1, the file holds 0\n\
             6 | #AnimationClips 1\n  | ^"
        ]
    );
}

#[test]
fn counts_that_lie_are_corrected_and_cost_nothing() {
    let text = DX12.replace("#Vertices 4", "#Vertices 4294967295").replace("#Triangles 2", "#Triangles 4000000000");
    let (m, warnings) = repaired(&text.replace("#Keyframes: 2", "#Keyframes: 4294967295"));
    assert_eq!(m, sound(DX12));
    assert!(warnings[0].contains("3:1: warning: the header says Vertices 4294967295, the file holds 4"));
    assert!(warnings[1].contains("4:1: warning: the header says Triangles 4000000000, the file holds 2"));
    assert!(warnings[2].contains("a bone promises 4294967295 keys and has 2"), "{warnings:#?}");
    assert!(m.vertices.capacity() < 100 && m.triangles.capacity() < 1000);
}

#[test]
fn weights_of_bones_that_do_not_exist_are_taken_away() {
    let text = edited(DX12, "BlendIndices: 0 1 0 0", "BlendIndices: 0 7 9 9");
    let (m, warnings) = repaired(&edited(&text, "BlendIndices: 1 0 0 0", "BlendIndices: -1 0 0 0"));
    assert_eq!((m.vertices[0].weights, m.vertices[0].bones), ([0.75, 0.0, 0.0, 0.0], [0; 4]));
    assert_eq!((m.vertices[1].weights, m.vertices[1].bones), ([0.0; 4], [0; 4]));
    assert_eq!(
        warnings,
        ["sample.m3d:32:1: warning: a vertex has weight 0.25 for bone 7 of 2; it was taken away (2 times)\n\
          32 | Position: -1 0 1.5E-07\n   | ^"]
    );
}

#[test]
fn numbers_that_are_not_finite_are_zero() {
    let mut text = DX12.to_owned();
    for (from, to) in [("-1 0 1.5E-07", "-1.#IND nan 1e999"), ("Scale: 1 1 1", "Scale: inf -nan(ind) 1.#QNAN")] {
        text = edited(&text, from, to);
    }
    let (m, warnings) = repaired(&text);
    assert_eq!((m.vertices[0].position, m.clips[0].bones[0][0].scale), ([0.0; 3], [0.0; 3]));
    assert_eq!(warnings.len(), 1);
    assert!(
        warnings[0].contains("32:11: warning: a number is not finite and was read as 0 (6 times)"),
        "{warnings:#?}"
    );
}

#[test]
fn a_hierarchy_is_made_a_forest() {
    let offset = "BoneOffset1 1 0 0 0 0 1 0 0 0 0 1 0 0 -1 0 1\n";
    let text = edited(DX12, offset, &format!("{offset}{}{}", offset.replace('1', "2"), offset.replace('1', "3")))
        .replace("#Bones 2", "#Bones 4");
    let with = |parents: [i64; 4]| {
        let lines: String = (0..4).map(|i| format!("ParentIndexOfBone{i}: {}\n", parents[i])).collect();
        repaired(&edited(&text, "ParentIndexOfBone0: -1\nParentIndexOfBone1: 0\n", &lines))
    };
    let parents = |m: &M3d| m.bones.iter().map(|b| b.parent).collect::<Vec<_>>();

    let (m, warnings) = with([4294967295, 9, 2, 1]);
    assert_eq!(parents(&m), [None, None, None, Some(1)]);
    assert!(warnings[0].contains("a bone's parent, 9, is no other bone of the file's 4; it became a root (2 times)"));

    let (m, warnings) = with([3, 0, 1, 2]);
    assert_eq!(parents(&m).iter().filter(|p| p.is_none()).count(), 1);
    assert!(warnings[0].contains("is its own ancestor; it became a root"), "{warnings:#?}");

    let (m, warnings) = with([-1, 0, -1, 2]);
    assert_eq!((parents(&m), warnings.len()), (vec![None, Some(0), None, Some(2)], 0), "several roots are sound");
}

#[test]
fn bones_are_placed_by_their_labels() {
    let text = edited(DX12, "BoneOffset0 ", "BoneOffset9 ").replace("BoneOffset1 ", "BoneOffset0 ");
    let text = text.replace("BoneOffset9 ", "BoneOffset1 ");
    let text =
        edited(&text, "ParentIndexOfBone0: -1\nParentIndexOfBone1: 0", "ParentIndexOfBone1: 0\nParentIndexOfBone0: -1");
    let m = sound(&text);
    assert_eq!((m.bones[0].parent, m.bones[1].parent), (None, Some(0)));
    assert_eq!((m.bones[0].offset[3][1], m.bones[1].offset[3][1]), (-1.0, 0.0));
}

#[test]
fn keys_are_sorted_by_time() {
    let (m, warnings) = repaired(&edited(DX12, "Time: 0 Pos: 0 1 0", "Time: 0.75 Pos: 0 1 0"));
    assert_eq!(m.clips[0].bones[1].iter().map(|k| k.time).collect::<Vec<_>>(), [0.5, 0.75]);
    assert!(warnings[0].contains("83:3: warning: a key is earlier than the one before it"), "{warnings:#?}");
}

#[test]
fn keys_of_bones_that_do_not_exist_are_left_out() {
    let (m, warnings) = repaired(&edited(DX12, "Bone1 #Key", "Bone4294967295 #Key"));
    assert_eq!(m.clips[0].bones[1], []);
    assert!(warnings[0].contains("there are keys for bone 4294967295 of 2; they were left out"), "{warnings:#?}");
}

#[test]
fn a_clip_may_open_its_brace_behind_its_name() {
    let m = sound(&edited(DX12, "AnimationClip Wave\n{", "AnimationClip Wave at {me} {\n"));
    assert_eq!(m.clips[0].name, "Wave at {me}");
    let m = sound(&edited(DX12, "AnimationClip Wave\n{", "AnimationClip Wave {\n{"));
    assert_eq!(m.clips[0].name, "Wave {");
}

#[test]
fn labels_that_mean_nothing_are_ignored_once_each() {
    let text = DX12.replace("Normal: 0 0 -1\n", "Color: 1 0 0 1\nNormal: 0 0 -1\n");
    let (m, warnings) = repaired(&edited(&text, "Name: cloth", "Emissive: 0 0 0\nName: cloth"));
    assert_eq!(m, sound(DX12));
    assert_eq!(
        warnings,
        [
            "sample.m3d:9:1: warning: Materials knows no label `Emissive:`; its line was ignored\n\
             9 | Emissive: 0 0 0\n  | ^",
            "sample.m3d:35:1: warning: Vertices knows no label `Color:`; its line was ignored (4 times)\n\
             35 | Color: 1 0 0 1\n   | ^"
        ]
    );
}

#[test]
fn labels_that_only_resemble_others_are_no_misspellings() {
    let more = "Binormal: 0 1 0\nTangentV: 0 1 0\nTex-Coords2: 0 0\nNormal: 0 0 -1\n";
    let (m, warnings) = repaired(&DX12.replace("Normal: 0 0 -1\n", more));
    assert_eq!((m, warnings.len()), (sound(DX12), 3));
}

#[test]
fn a_misspelt_material_is_no_reason_to_refuse_a_model() {
    let (m, warnings) = repaired(&edited(DX12, "Diffuse: 0.5 0.25 1", "Difuse: 0.5 0.25 1"));
    assert_eq!(m.materials[0].diffuse, [1.0; 3]);
    assert!(warnings[0].contains("`Difuse:`; its line was ignored; did you mean `Diffuse`?"), "{warnings:#?}");
}

#[test]
fn vertices_need_not_be_like_the_first() {
    let same = sound(DX12);
    let reordered = edited(DX12, "Normal: 0 0 -1\nTex-Coords: 1 1\n", "tex-coords 1 1\nNORMAL:0 0 -1\n");
    assert_eq!(sound(&reordered), same);
    let shorter = sound(&edited(DX12, "Tangent: 1 0 0 -1\nNormal: 0 0 -1\nTex-Coords: 1 1\n", ""));
    assert_eq!((shorter.vertices[1].normal, shorter.vertices[1].tex_coord), ([0.0; 3], [0.0; 2]));
    assert_eq!(
        (shorter.vertices[1].position, &shorter.vertices[2..]),
        (same.vertices[1].position, &same.vertices[2..])
    );
    let (longer, warnings) = repaired(&edited(DX12, "Position: 1 0 0\n", "Position: 1 0 0 1 1\n"));
    assert_eq!(longer, same);
    assert!(warnings[0].contains("39:11: warning: there are more numbers than the label takes"), "{warnings:#?}");
}

#[test]
fn labels_need_no_colon() {
    let m = sound(&DX12.replace("DiffuseMap:", "AlbedoMap").replace("Fresnel0:", "FresnelR0").replace(": ", " "));
    assert_eq!(m, M3d { dialect: Dialect::Other, ..sound(DX12) });
}

#[test]
fn names_of_another_encoding_are_read_as_far_as_they_go() {
    let (from, to) = DX12.split_once("cloth colour").unwrap();
    let text = [from.as_bytes(), b"\xc0\xc7\xbb", to.as_bytes()].concat();
    let parsed = parse("korean.m3d", &text).unwrap();
    assert!(parsed.value.materials[0].diffuse_map.as_ref().unwrap().ends_with(".dds"));
    assert!(parsed.warnings[0].message.contains("a name is not in UTF-8"), "{:?}", parsed.warnings);
}

#[test]
fn a_second_model_in_a_file_is_ignored() {
    let (m, warnings) = repaired(&format!("{DX12}{DX11}"));
    assert_eq!(m, sound(DX12));
    assert!(warnings[0].contains("warning: a second model begins here; only the first was read"), "{warnings:#?}");
}

#[test]
fn a_misspelt_label_is_pointed_at() {
    assert_eq!(
        refused(edited(DX12, "Normal: 0 0 -1\nTex-Coords: 1 1", "Nromal: 0 0 -1\nTex-Coords: 1 1")).to_string(),
        "sample.m3d:41:1: error: unknown label `Nromal:` (vertex 2 of 4 in Vertices)\n\
         41 | Nromal: 0 0 -1\n   | ^\n  hint: did you mean `Normal`?"
    );
    let text = refused(edited(DX12, "Position: 1 0 0", "Postion: 1 0 0"));
    assert_eq!(text.diagnostics.len(), 1, "the vertices after it are not drawn in: {text}");
    assert_eq!(
        refused(edited(DX12, "Quat: 0 0 0 1", "Qat: 0 0 0 1")).to_string(),
        "sample.m3d:77:35: error: unknown label `Qat:` (key 1 of 1 in bone 0 of clip `Wave`)\n\
         77 | \u{20} Time: 0 Pos: 0 0 0 Scale: 1 1 1 Qat: 0 0 0 1\n   | \
         \u{20}                                 ^\n  hint: did you mean `Quat`?"
    );
    assert_eq!(
        refused(edited(DX12, "***************Triangles", "***************Triangels")).to_string(),
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
        refused(edited(DX12, "ParentIndexOfBone1: 0", "ParentIndexOfBone1: root")).to_string(),
        "sample.m3d:70:21: error: expected a whole number, found `root` (bone 2 of 2 in BoneHierarchy)\n\
         70 | ParentIndexOfBone1: root\n   |                     ^"
    );
}

#[test]
fn triangles_of_vertices_that_do_not_exist_are_pointed_at() {
    let text = DX12.replace("0 1 2\n", "0 1 4\n").replace("1 3 2\n", "900 3 2\n");
    assert_eq!(
        refused(text).to_string(),
        "sample.m3d:61:5: error: index 4 is out of range: there are 4 vertices (triangle 1 of 2 in Triangles)\n\
         61 | 0 1 4\n   |     ^\n\
         sample.m3d:62:1: error: index 900 is out of range: there are 4 vertices (triangle 2 of 2 in Triangles)\n\
         62 | 900 3 2\n   | ^"
    );
    let text = refused(edited(DX10, "2 3 1 1", "2 3 4 1")).to_string();
    assert!(text.starts_with("sample.m3d:40:5: error: index 4 is out of range"), "{text}");
}

#[test]
fn a_file_that_ends_too_early_says_so() {
    let until = |mark: &str| &DX12[..DX12.find(mark).unwrap()];
    assert_eq!(
        refused(until("***************Triangles")).to_string(),
        "sample.m3d:60:1: error: expected a Triangles section, found the end of the file\n  hint: the file may be cut off"
    );
    assert_eq!(
        refused(until("***************Vertices")).errors().next().unwrap().message,
        "expected a Vertices section, found the end of the file"
    );
    let text = refused(until("0 0 -1 0 1")).to_string();
    assert!(
        text.contains("66:35: error: expected a number, found the end of the file (bone 2 of 2 in BoneOffsets)"),
        "{text}"
    );
    let text = refused(until("***************BoneHierarchy")).to_string();
    assert!(text.contains("error: 2 bones have an offset, 0 have a parent"), "{text}");
    let (m, warnings) = repaired(until("\t\tTime: 0.5"));
    assert_eq!(m.clips[0].bones[1].len(), 1);
    assert!(warnings.iter().any(|w| w.contains("2 closing braces are missing")), "{warnings:#?}");
}

#[test]
fn files_of_other_kinds_are_named() {
    assert_eq!(refused("").to_string(), "sample.m3d: error: the file is empty\n  hint: export it again");
    assert_eq!(
        refused(b"3DMO\x7d\x2d\0\0").to_string(),
        "sample.m3d: error: this is a binary Model 3D file (magic `3DMO`), another format with the same extension\n  \
         hint: only Frank Luna's text format is read: it begins with `***m3d-File-Header***`"
    );
    assert!(refused("3dmodel 1.0\nhi\n").to_string().contains("this is a text Model 3D file (magic `3dmodel `)"));
    assert!(refused("MD5Version 10\n").to_string().contains("this is an MD5 file"));
    assert!(refused(b"glTF\x02\0\0\0").to_string().contains("this is a binary glTF file"));
    assert!(refused(b"\x89PNG\r\n\x1a\n").to_string().contains("this is a PNG picture"));
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
    let offset: String = (0..2000).map(|i| format!("BoneOffset{i} 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1\n")).collect();
    let parents: String = (0..2000).map(|i| format!("ParentIndexOfBone{i}: -1\n")).collect();
    let clips = "AnimationClip a\n{}\n".repeat(20_000);
    let text = format!(
        "***m3d-File-Header***\n***BoneOffsets***\n{offset}***BoneHierarchy***\n{parents}***AnimationClips***\n{clips}"
    );
    assert!(refused(text).to_string().contains("20000 clips cannot each have keys for 2000 bones in so short a file"));
}

#[test]
fn subsets_and_triangles_cannot_multiply_beyond_the_file() {
    let rows = "SubsetID: 0 VertexStart: 0 VertexCount: 0 FaceStart: 0 FaceCount: 3000\n".repeat(1000);
    let text = format!("***m3d-File-Header***\n***SubsetTable***\n{rows}***Vertices***\nP: 0 0 0\n***Triangles***\n");
    let error = refused(text + &"0 0 0\n".repeat(3000)).to_string();
    assert!(error.contains("1000 subsets name 3000000 triangles in all, and there are 3000"), "{error}");
}

#[test]
fn what_was_read_is_written_and_read_the_same() {
    let m = sound(DX12);
    assert_eq!(sound(&write(&m)), m);
}

#[test]
fn what_dx12_cannot_say_is_said_otherwise_once() {
    for text in SAMPLES {
        let m = sound(text);
        let once = sound(&write(&m));
        assert_eq!(once.dialect, Dialect::Dx12);
        assert_eq!((&once.vertices, &once.triangles, &once.subsets), (&m.vertices, &m.triangles, &m.subsets));
        assert_eq!((&once.bones, &once.clips), (&m.bones, &m.clips));
        assert_eq!(sound(&write(&once)), once);
        assert_eq!(write(&sound(&write(&once))), write(&once));
    }
    let stone = &sound(&write(&sound(DX11))).materials[0];
    assert_eq!((stone.name.as_deref(), stone.fresnel0), (Some("Material0"), Some([0.04; 3])));
    assert_eq!(stone.roughness, Some((0.2f32).powf(0.25)));
}

/// Text for names: no line ends, no blanks around, and none of the words for nothing.
fn name() -> impl Strategy<Value = String> {
    "[!-~é][ -~é]{0,12}[!-~é]".prop_filter("a word for nothing", |s| !["NULL", "None", "none"].contains(&s.as_str()))
}

fn number() -> impl Strategy<Value = f32> {
    prop_oneof![
        -100.0f32..100.0,
        proptest::num::f32::NORMAL | proptest::num::f32::SUBNORMAL | proptest::num::f32::ZERO,
        Just(0.0),
        Just(1.0),
    ]
}

fn material() -> impl Strategy<Value = M3dMaterial> {
    let maps = (proptest::option::of(name()), proptest::option::of(name()));
    let shine = ([number(), number(), number()], [number(), number(), number()], number());
    (name(), shine, any::<bool>(), name(), maps).prop_map(
        |(name, (diffuse, fresnel0, roughness), alpha_clip, effect, maps)| M3dMaterial {
            name: Some(name),
            diffuse,
            fresnel0: Some(fresnel0),
            roughness: Some(roughness),
            alpha_clip,
            effect: Some(effect),
            diffuse_map: maps.0,
            normal_map: maps.1,
            ..Default::default()
        },
    )
}

fn vertex(bones: u32) -> impl Strategy<Value = M3dVertex> {
    (
        proptest::array::uniform12(number()),
        proptest::array::uniform4(number()),
        proptest::array::uniform4(0..bones.max(1)),
    )
        .prop_map(move |(n, weights, joints)| M3dVertex {
            position: [n[0], n[1], n[2]],
            tangent: [n[3], n[4], n[5], n[6]],
            normal: [n[7], n[8], n[9]],
            tex_coord: [n[10], n[11]],
            weights: if bones > 0 { weights } else { [0.0; 4] },
            bones: joints,
        })
}

fn keys() -> impl Strategy<Value = Vec<M3dKey>> {
    let key = (number(), proptest::array::uniform10(number())).prop_map(|(time, n)| M3dKey {
        time,
        translation: [n[0], n[1], n[2]],
        scale: [n[3], n[4], n[5]],
        rotation: [n[6], n[7], n[8], n[9]],
    });
    proptest::collection::vec(key, 0..4).prop_map(|mut keys| {
        keys.sort_by(|a, b| a.time.total_cmp(&b.time));
        keys
    })
}

/// A model that keeps the promises and that the DX12 dialect can say.
fn model() -> impl Strategy<Value = M3d> {
    (1..6u32, 1..5usize, 0..4usize).prop_flat_map(|(vertices, triangles, bones)| {
        let bone = |index: usize| {
            let parent = if index == 0 { Just(None).boxed() } else { proptest::option::of(0..index as u32).boxed() };
            let offset = proptest::array::uniform4(proptest::array::uniform4(number()));
            (offset, parent).prop_map(|(offset, parent)| M3dBone { offset, parent })
        };
        let clip = (name(), proptest::collection::vec(keys(), bones)).prop_map(|(name, bones)| M3dClip { name, bones });
        let subset =
            (any::<u32>(), 0..vertices, 0..triangles as u32).prop_map(move |(id, vertex_start, face_start)| {
                M3dSubset {
                    id,
                    vertex_start,
                    vertex_count: vertices - vertex_start,
                    face_start,
                    face_count: triangles as u32 - face_start,
                }
            });
        let subsets = proptest::collection::vec(subset, 1..5);
        (
            proptest::collection::vec(material(), 0..3),
            subsets,
            proptest::collection::vec(vertex(bones as u32), vertices as usize),
            proptest::collection::vec(proptest::array::uniform3(0..vertices), triangles),
            (0..bones).map(bone).collect::<Vec<_>>(),
            proptest::collection::vec(clip, if bones > 0 { 0..3 } else { 0..1 }),
        )
            .prop_map(|(materials, subsets, vertices, triangles, bones, clips)| M3d {
                dialect: Dialect::Dx12,
                materials,
                subsets,
                vertices,
                triangles,
                bones,
                clips,
            })
    })
}

proptest! {
    #[test]
    fn any_model_is_written_and_read_the_same(m in model()) {
        let text = write(&m);
        let parsed = parse("random.m3d", text.as_bytes()).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_promises(&parsed.value);
        // Bits, not values: the zeros' signs are kept, too.
        prop_assert_eq!(format!("{:?}", parsed.value), format!("{m:?}"));
    }
}

#[test]
fn a_cut_anywhere_is_an_answer() {
    for text in SAMPLES {
        for length in 0..text.len() {
            match parse("cut.m3d", &text.as_bytes()[..length]) {
                Ok(parsed) => assert_promises(&parsed.value),
                Err(error) => assert!(error.errors().count() > 0 && !error.to_string().is_empty()),
            }
        }
    }
}

#[test]
fn edits_anywhere_are_an_answer() {
    let mut random = fastrand::Rng::with_seed(3);
    let pieces =
        ["", "-", "{", "}", "*", "---", "\n", " 4294967296 ", "1e39", "nan", ":", "#", "\0", "é", "P:", "\"", "T: 1 2"];
    for text in SAMPLES {
        for _ in 0..3000 {
            let mut bytes = text.as_bytes().to_vec();
            for _ in 0..random.usize(1..6) {
                let from = random.usize(..bytes.len());
                let to = (from + random.usize(..12)).min(bytes.len());
                match random.u8(..4) {
                    0 => bytes[from] = random.u8(..),
                    1 => drop(bytes.drain(from..to)),
                    2 => drop(bytes.splice(from..to, random.choice(pieces).unwrap_or("").bytes())),
                    _ => {
                        let piece = bytes[from..to].to_vec();
                        let at = random.usize(..bytes.len());
                        drop(bytes.splice(at..at, piece));
                    }
                }
            }
            if let Ok(parsed) = parse("edited.m3d", &bytes) {
                assert_promises(&parsed.value);
                let once = parse("again.m3d", write(&parsed.value).as_bytes()).map(|again| again.value);
                let twice =
                    once.as_ref().map(|once| parse("more.m3d", write(once).as_bytes()).map(|again| again.value));
                if let (Ok(once), Ok(Ok(twice))) = (&once, &twice) {
                    assert_eq!(once, twice);
                } else {
                    panic!("{once:?} {twice:?}\n{}", write(&parsed.value));
                }
            }
        }
    }
}
