//! `.m3d`: every dialect read, what is broken repaired or named, what is written read back.

mod dialects;
mod repairs;
mod reports;
mod written;

use crate::messages::{assert_message, assert_messages};
use bevy_marionette::{
    format::FormatError,
    internals::format::m3d::{
        Dialect, M3d, M3dBone, M3dClip, M3dKey, M3dMaterial, M3dSubset, M3dVertex, parse, write,
    },
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
DiffuseMap: cloth color.dds
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
    assert_eq!(
        parsed
            .warnings
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>(),
        Vec::<String>::new()
    );
    assert_promises(&parsed.value);
    parsed.value.into_inner()
}

/// The model of a text that can be used, and the warnings.
fn repaired(text: &str) -> (M3d, Vec<String>) {
    let parsed = parse("sample.m3d", text.as_bytes()).unwrap_or_else(|e| panic!("{e}"));
    assert_promises(&parsed.value);
    (
        parsed.value.into_inner(),
        parsed.warnings.iter().map(ToString::to_string).collect(),
    )
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
    let (vertices, triangles, bones) = (
        m.vertices.len() as u64,
        m.triangles.len() as u64,
        m.bones.len(),
    );
    for s in &m.subsets {
        assert!(
            u64::from(s.vertex_start) + u64::from(s.vertex_count) <= vertices,
            "{s:?}"
        );
        assert!(
            u64::from(s.face_start) + u64::from(s.face_count) <= triangles,
            "{s:?}"
        );
    }
    assert!(
        m.triangles
            .as_flattened()
            .iter()
            .all(|&i| u64::from(i) < vertices)
    );
    for material in &m.materials {
        let colors = [
            material.fresnel0,
            material.specular,
            material.ambient,
            material.reflectivity,
        ];
        let colors = colors
            .into_iter()
            .flatten()
            .chain([material.diffuse])
            .flatten();
        assert!(
            colors
                .chain(material.roughness)
                .chain(material.specular_power)
                .all(f32::is_finite)
        );
    }
    for v in &m.vertices {
        let numbers = v
            .position
            .iter()
            .chain(&v.tangent)
            .chain(&v.normal)
            .chain(&v.tex_coord)
            .chain(&v.weights);
        assert!(numbers.copied().all(f32::is_finite));
        if bones == 0 {
            assert_eq!((v.weights, v.bones), ([0.0; 4], [0; 4]));
        } else {
            assert!(v.bones.iter().all(|&b| (b as usize) < bones));
        }
    }
    for (index, bone) in m.bones.iter().enumerate() {
        assert!(
            bone.offset
                .as_flattened()
                .iter()
                .copied()
                .all(f32::is_finite)
        );
        let ancestors =
            std::iter::successors(Some(index), |&at| m.bones[at].parent.map(|p| p as usize));
        assert!(
            ancestors.take(bones + 1).count() <= bones,
            "bone {index} has no root"
        );
    }
    for clip in &m.clips {
        assert_eq!(clip.bones.len(), bones);
        for keys in &clip.bones {
            assert!(keys.is_sorted_by(|a, b| a.time <= b.time));
            for key in keys {
                let numbers = key
                    .translation
                    .iter()
                    .chain(&key.scale)
                    .chain(&key.rotation)
                    .chain([&key.time]);
                assert!(numbers.copied().all(f32::is_finite));
            }
        }
    }
}
