//! Checks the invariants of [`M3d`].

use super::{M3d, M3dClip, M3dMaterial, M3dSubset, M3dVertex};
use crate::format::checked::{Document, DocumentError, ensure, ensure_finite, ensure_hierarchy};

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
                ("vertices", vertex_start, vertex_count, vertices),
                ("triangles", face_start, face_count, triangles),
            ] {
                // In 64 bits, where the sum of two 32-bit numbers can't overflow.
                let end = u64::from(start) + u64::from(count);
                ensure(end <= length as u64, || {
                    format!(
                        "subset {index}: {noun} {start}..{end} are out of range: there are {length}"
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
                    "vertex {index}: bone {bone} is out of range: there are {bones} bones"
                )));
            }
        }
        for (index, triangle) in self.triangles.iter().enumerate() {
            if let Some(corner) = triangle.iter().find(|corner| **corner as usize >= vertices) {
                let message = format!(
                    "triangle {index}: vertex {corner} is out of range: there are {vertices} vertices"
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
            "clip `{name}` has keys for {} bones; there are {bones}",
            lists.len()
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
        let cases: [(fn(&mut M3d), &str); 10] = [
            (
                |m| m.materials[0].roughness = Some(f32::NAN),
                "material 0: a number is not finite",
            ),
            (
                |m| m.subsets[0].vertex_start = u32::MAX,
                "subset 0: vertices 4294967295..4294967298 are out of range",
            ),
            (
                |m| m.subsets[0].face_count = 2,
                "subset 0: triangles 0..2 are out of range: there are 1",
            ),
            (
                |m| m.vertices[1].tex_coord[0] = f32::INFINITY,
                "vertex 1: a number is not finite",
            ),
            (
                |m| m.vertices[2].bones[3] = 2,
                "vertex 2: bone 2 is out of range: there are 2 bones",
            ),
            (
                |m| m.triangles[0][1] = 3,
                "triangle 0: vertex 3 is out of range: there are 3 vertices",
            ),
            (
                |m| m.bones[0].parent = Some(1),
                "bone 1 is among its own ancestors",
            ),
            (
                |m| m.bones[0].parent = Some(7),
                "bone 0: parent 7 is out of range: there are 2",
            ),
            (
                |m| m.clips[0].bones.truncate(1),
                "clip `walk` has keys for 1 bones; there are 2",
            ),
            (
                |m| m.clips[0].bones[0].swap(0, 1),
                "clip `walk`, bone 0: the keys are not sorted by time",
            ),
        ];
        for (damage, expected) in cases {
            let mut model = model();
            damage(&mut model);
            let error = Checked::new(model).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
