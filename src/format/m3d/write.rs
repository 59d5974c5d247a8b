//! Writing `.m3d` in the DX12 dialect.

use super::{M3d, M3dKey, M3dMaterial, M3dSubset};
use std::fmt::{self, Display, Write};

/// Returns the model as text, in the dialect of Luna's DX12 book.
///
/// [`parse`](super::parse()) reads a DX12 model back unchanged: numbers are written with enough
/// digits for that. What the dialect cannot express is changed as follows; written again, it
/// changes no further.
///
/// - The dialect becomes [`Dx12`](super::Dialect::Dx12). Ambient, specular, reflectivity and the
///   specular map are left out.
/// - A material without a name is called `Material0` after its place. Without Fresnel0 it gets 0.04 (an index of
///   refraction of 1.5), without roughness that of its specular power, `(2/(p+2))^¼`, or 0.5, and without an
///   effect `Skinned` or `Opaque`. Missing maps are written as `None`: the books' loaders need a word there.
/// - Line ends and other control characters in names become spaces, and spaces around names are removed. A clip
///   without a name is called `Clip0` after its place.
/// - Clips list exactly the model's bones. A model without bones has no clips and no weights.
/// - A model without subsets gets one that holds everything.
/// - Numbers that are not finite become 0. A checked model has none.
pub fn write(model: &M3d) -> String {
    // About the length of a line for each item, so that the text grows only a few times.
    let size =
        400 + 260 * model.vertices.len() + 24 * model.triangles.len() + 300 * model.bones.len();
    let mut out = String::with_capacity(size);
    // Writing to a string cannot fail.
    let _ = document(&mut out, model);
    out
}

fn document(out: &mut String, model: &M3d) -> fmt::Result {
    let skinned = !model.bones.is_empty();
    let clips = if skinned { &model.clips[..] } else { &[] };
    out.push_str("***************m3d-File-Header***************\n");
    writeln!(out, "#Materials {}", model.materials.len())?;
    writeln!(out, "#Vertices {}", model.vertices.len())?;
    writeln!(out, "#Triangles {}", model.triangles.len())?;
    writeln!(out, "#Bones {}", model.bones.len())?;
    writeln!(out, "#AnimationClips {}", clips.len())?;

    out.push_str("\n***************Materials*********************\n");
    for (index, material) in model.materials.iter().enumerate() {
        write_material(out, material, index, skinned)?;
    }
    out.push_str("***************SubsetTable*******************\n");
    let everything = [M3dSubset {
        vertex_count: model.vertices.len() as u32,
        face_count: model.triangles.len() as u32,
        ..Default::default()
    }];
    let subsets = if model.subsets.is_empty() {
        &everything[..]
    } else {
        &model.subsets
    };
    for M3dSubset {
        id,
        vertex_start,
        vertex_count,
        face_start,
        face_count,
    } in subsets
    {
        write!(
            out,
            "SubsetID: {id} VertexStart: {vertex_start} VertexCount: {vertex_count} "
        )?;
        writeln!(out, "FaceStart: {face_start} FaceCount: {face_count}")?;
    }
    out.push_str("\n***************Vertices**********************\n");
    for v in &model.vertices {
        writeln!(out, "Position: {}", Numbers(&v.position))?;
        writeln!(out, "Tangent: {}", Numbers(&v.tangent))?;
        writeln!(out, "Normal: {}", Numbers(&v.normal))?;
        writeln!(out, "Tex-Coords: {}", Numbers(&v.tex_coord))?;
        if skinned {
            let [a, b, c, d] = v.bones;
            writeln!(out, "BlendWeights: {}", Numbers(&v.weights))?;
            writeln!(out, "BlendIndices: {a} {b} {c} {d}")?;
        }
        out.push('\n');
    }
    out.push_str("***************Triangles*********************\n");
    for [a, b, c] in &model.triangles {
        writeln!(out, "{a} {b} {c}")?;
        // A file without bones has none of the sections that follow.
    }
    if !skinned {
        return Ok(());
    }
    out.push_str("\n***************BoneOffsets*******************\n");
    for (index, bone) in model.bones.iter().enumerate() {
        writeln!(
            out,
            "BoneOffset{index} {}",
            Numbers(bone.offset.as_flattened())
        )?;
    }
    out.push_str("\n***************BoneHierarchy*****************\n");
    for (index, bone) in model.bones.iter().enumerate() {
        match bone.parent {
            Some(parent) => writeln!(out, "ParentIndexOfBone{index}: {parent}")?,
            None => writeln!(out, "ParentIndexOfBone{index}: -1")?,
        }
    }
    out.push_str("\n***************AnimationClips****************\n");
    for (index, clip) in clips.iter().enumerate() {
        write_name(out, "AnimationClip", &clip.name, || format!("Clip{index}"))?;
        // The dialect lists all bones, also those without keys.
        out.push_str("{\n");
        for bone in 0..model.bones.len() {
            let keys = clip.bones.get(bone).map_or(&[][..], |keys| keys);
            writeln!(out, "\tBone{bone} #Keyframes: {}\n\t{{", keys.len())?;
            for M3dKey {
                time,
                translation,
                scale,
                rotation,
            } in keys
            {
                write!(
                    out,
                    "\t\tTime: {} Pos: {} ",
                    Numbers(&[*time]),
                    Numbers(translation)
                )?;
                writeln!(out, "Scale: {} Quat: {}", Numbers(scale), Numbers(rotation))?;
            }
            out.push_str("\t}\n\n");
        }
        out.push_str("}\n\n");
    }
    Ok(())
}

fn write_material(
    out: &mut String,
    material: &M3dMaterial,
    index: usize,
    skinned: bool,
) -> fmt::Result {
    let rough_as_specular = material
        .specular_power
        .map(|power| (2.0 / (power.max(0.0) + 2.0)).powf(0.25));
    let roughness = material.roughness.or(rough_as_specular).unwrap_or(0.5);
    let none = || "None".to_owned();
    let effect = || {
        if skinned {
            "Skinned".into()
        } else {
            "Opaque".into()
        }
    };
    write_name(out, "Name:", material.name.as_deref().unwrap_or(""), || {
        format!("Material{index}")
    })?;
    writeln!(out, "Diffuse: {}", Numbers(&material.diffuse))?;
    writeln!(
        out,
        "Fresnel0: {}",
        Numbers(&material.fresnel0.unwrap_or([0.04; 3]))
    )?;
    writeln!(out, "Roughness: {}", Numbers(&[roughness]))?;
    writeln!(out, "AlphaClip: {}", u8::from(material.alpha_clip))?;
    write_name(
        out,
        "MaterialTypeName:",
        material.effect.as_deref().unwrap_or(""),
        effect,
    )?;
    write_name(
        out,
        "DiffuseMap:",
        material.diffuse_map.as_deref().unwrap_or(""),
        none,
    )?;
    write_name(
        out,
        "NormalMap:",
        material.normal_map.as_deref().unwrap_or(""),
        none,
    )?;
    out.push('\n');
    Ok(())
}

/// Writes a label and a name on a line; `otherwise` names what has no name.
fn write_name(
    out: &mut String,
    label: &str,
    name: &str,
    otherwise: impl Fn() -> String,
) -> fmt::Result {
    let clean: String = name
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    match clean.trim_matches(|c: char| c.is_ascii_whitespace()) {
        "" => writeln!(out, "{label} {}", otherwise()),
        name => writeln!(out, "{label} {name}"),
    }
}

/// Numbers separated by spaces, each in the shortest form that reads back the same.
struct Numbers<'a>(&'a [f32]);

impl Display for Numbers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, &number) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_char(' ')?;
            }
            let size = number.abs();
            if !number.is_finite() {
                // Very small and very large numbers would be rows of zeros.
                f.write_char('0')?;
            } else if size != 0.0 && !(1e-5..1e9).contains(&size) {
                write!(f, "{number:E}")?;
            } else {
                write!(f, "{number}")?;
            }
        }
        Ok(())
    }
}
