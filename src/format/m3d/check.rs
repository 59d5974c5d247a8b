//! Checks the invariants of [`M3d`].

use super::{M3d, M3dClip, M3dMaterial, M3dSubset, M3dVertex};
use crate::format::checked::{Document, DocumentError, ensure, ensure_finite, ensure_hierarchy};
use crate::plural::{counted, plural, there_are};

impl Document for M3d {
    fn check(&self) -> Result<(), DocumentError> {
        let [vertices, triangles, bones] =
            [self.vertices.len(), self.triangles.len(), self.bones.len()];
        for (index, material) in self.materials.iter().enumerate() {
            ensure_finite(&numbers_of(material), || format!("material {index}"))?;
        }
        for (index, subset) in self.subsets.iter().enumerate() {
            let M3dSubset {
                vertex_start,
                vertex_count,
                face_start,
                face_count,
                ..
            } = *subset;
            for (noun, start, count, length) in [
                ("vertex", vertex_start, vertex_count, vertices),
                ("triangle", face_start, face_count, triangles),
            ] {
                // In 64 bits, where the sum of two 32-bit numbers can't overflow.
                let end = u64::from(start) + u64::from(count);
                ensure(end <= length as u64, || {
                    format!(
                        "subset {index}: {} {start}..{end} are out of range: {}",
                        plural(2, noun),
                        there_are(length, noun)
                    )
                })?;
            }
        }
        for (index, vertex) in self.vertices.iter().enumerate() {
            let M3dVertex {
                position,
                tangent,
                normal,
                tex_coord,
                weights,
                bones: of_weights,
            } = vertex;
            for numbers in [&position[..], tangent, normal, tex_coord, weights] {
                ensure_finite(numbers, || format!("vertex {index}"))?;
            }
            let beyond = of_weights
                .iter()
                // A static model has no bones to be in range of.
                .find(|bone| bones > 0 && **bone as usize >= bones);
            if let Some(bone) = beyond {
                return Err(DocumentError(format!(
                    "vertex {index}: bone {bone} is out of range: {}",
                    there_are(bones, "bone")
                )));
            }
        }
        for (index, triangle) in self.triangles.iter().enumerate() {
            if let Some(corner) = triangle.iter().find(|corner| **corner as usize >= vertices) {
                let message = format!(
                    "triangle {index}: vertex {corner} is out of range: {}",
                    there_are(vertices, "vertex")
                );
                return Err(DocumentError(message));
            }
        }
        for (index, bone) in self.bones.iter().enumerate() {
            ensure_finite(bone.offset.as_flattened(), || format!("bone {index}"))?;
        }
        ensure_hierarchy(
            &self
                .bones
                .iter()
                .map(|bone| bone.parent)
                .collect::<Vec<_>>(),
            "bone",
        )?;
        self.clips
            .iter()
            .try_for_each(|clip| check_clip(clip, bones))
    }
}

fn numbers_of(material: &M3dMaterial) -> Vec<f32> {
    let M3dMaterial {
        diffuse,
        fresnel0,
        specular,
        ambient,
        reflectivity,
        roughness,
        specular_power,
        ..
    } = material;
    let colors = [
        Some(*diffuse),
        *fresnel0,
        *specular,
        *ambient,
        *reflectivity,
    ];
    colors
        .into_iter()
        .flatten()
        .flatten()
        .chain(*roughness)
        .chain(*specular_power)
        .collect()
}

fn check_clip(clip: &M3dClip, bones: usize) -> Result<(), DocumentError> {
    let M3dClip { name, bones: lists } = clip;
    // Clips list their keys by bone, so the lists must match.
    ensure(lists.len() == bones, || {
        format!(
            "clip `{name}` has keys for {}, expected {bones}: one list for each bone",
            counted(lists.len(), "bone")
        )
    })?;
    for (bone, keys) in lists.iter().enumerate() {
        let item = || format!("clip `{name}`, bone {bone}");
        for key in keys {
            for numbers in [&[key.time][..], &key.translation, &key.scale, &key.rotation] {
                ensure_finite(numbers, item)?;
            }
        }
        ensure(keys.is_sorted_by(|a, b| a.time <= b.time), || {
            format!("{}: the keys are not sorted by time", item())
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
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
}
