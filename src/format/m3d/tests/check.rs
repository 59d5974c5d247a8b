use super::*;
use crate::format::{
    Checked,
    m3d::{M3dBone, M3dKey},
};
use crate::messages::assert_message;

fn model() -> M3d {
    let key = |time| M3dKey {
        time,
        translation: [0.0; 3],
        scale: [1.0; 3],
        rotation: [0.0, 0.0, 0.0, 1.0],
    };
    M3d {
        materials: vec![M3dMaterial::default()],
        subsets: vec![M3dSubset {
            vertex_count: 3,
            face_count: 1,
            ..M3dSubset::default()
        }],
        vertices: vec![M3dVertex::default(); 3],
        triangles: vec![[0, 1, 2]],
        bones: (0..2u32)
            .map(|i| M3dBone {
                offset: [[0.0; 4]; 4],
                parent: i.checked_sub(1),
            })
            .collect(),
        clips: vec![M3dClip {
            name: "walk".into(),
            bones: vec![vec![key(0.0), key(1.0)], Vec::new()],
        }],
        ..M3d::default()
    }
}

#[test]
fn every_broken_promise_is_an_error() {
    assert!(Checked::new(model()).is_ok());
    let cases: [(&str, fn(&mut M3d)); 10] = [
        ("a material that is not finite", |m| {
            m.materials[0].roughness = Some(f32::NAN);
        }),
        ("a subset of vertices out of range", |m| {
            m.subsets[0].vertex_start = u32::MAX;
        }),
        ("a subset of triangles out of range", |m| {
            m.subsets[0].face_count = 2;
        }),
        ("a vertex that is not finite", |m| {
            m.vertices[1].tex_coord[0] = f32::INFINITY;
        }),
        ("a vertex of a bone out of range", |m| {
            m.vertices[2].bones[3] = 2;
        }),
        ("a triangle out of range", |m| m.triangles[0][1] = 3),
        ("a ring of bones", |m| m.bones[0].parent = Some(1)),
        ("a parent out of range", |m| m.bones[0].parent = Some(7)),
        ("a clip of too few bones", |m| m.clips[0].bones.truncate(1)),
        ("keys in disorder", |m| m.clips[0].bones[0].swap(0, 1)),
    ];
    for (what, damage) in cases {
        let mut model = model();
        damage(&mut model);
        let error = Checked::new(model).unwrap_err();
        assert_message(&format!("m3d model: {what}"), error);
    }
}
