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
#[path = "tests/check.rs"]
mod tests;
