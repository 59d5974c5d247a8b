//! Model → binary glTF.

mod channels;
mod clips;
mod extras;
mod glb;
mod materials;
mod morphs;

pub use materials::GlbTexture;

use super::super::{ImportSettings, Manifest, TextureMap, axes::Basis};
use crate::{
    format::{Diagnostic, FormatError, Parsed},
    model::{JointIndex, Material, Model, SkinPart},
};
use glam::{Affine3A, Mat4};
use glb::{Glb, Target, short, stem};
use materials::Materials;
use morphs::MorphNode;
use serde_json::{Value, json};

/// Converts a model to a binary glTF 2.0 file, `.glb`. `file` is its name, for warnings and the scene.
///
/// Each joint is a node, below a node with the file's name, and each part is a node with a mesh and
/// the skin that all parts share. Morph targets are written with their names, sparse where they
/// move few vertices. Clips are animations with linear keys at their frames, and more keys where a
/// joint turns fast; joints that they don't move have no channels. Playback modes, callback keys
/// and the fact that a clip is additive are in the animations' `extras`, and the
/// [other entries](crate::import::EmbeddedManifest) of `manifest` in the scene's, under
/// `marionette`. Control joints have `"deform": false` in the `extras` of their node.
///
/// `texture` returns the texture of a map. glTF's normal maps have green up, so it must flip the
/// green of those with [`Material::normal_map_green_down`]. It is not called for specular maps.
///
/// Warnings list what the file cannot hold.
///
/// # Errors
/// A number in the skin that is not finite, or more than the 4 GiB that the format can hold.
pub fn to_glb(
    file: &str,
    model: &Model,
    manifest: Option<&Manifest>,
    mut texture: impl FnMut(&Material, TextureMap) -> Option<GlbTexture>,
) -> Result<Parsed<Vec<u8>>, FormatError> {
    let error = |message: String| FormatError::one(Diagnostic::error(file, message));
    let name = stem(file);
    // Only the scale can be invalid, and it is the default here.
    let basis = Basis::facing_z("", &ImportSettings::default(), true)
        .expect("the default scale is valid")
        .inverse();
    let mut warnings = Vec::new();
    let mut glb = Glb::default();
    let mut document = json!({
        "asset": { "version": "2.0", "generator": concat!("bevy_marionette ", env!("CARGO_PKG_VERSION")) },
        "scene": 0,
    });

    let mut nodes = joints(model, &basis);
    let mut roots = Vec::new();
    if !nodes.is_empty() {
        let parents = model.skeleton.parents();
        let children: Vec<usize> = (0..nodes.len())
            .filter(|&joint| parents[joint].is_none())
            .collect();
        document["skins"] = json!([skin(model, name, nodes.len(), &basis, &mut glb)]);
        // Below one node, as in Blender, where it is the armature.
        roots.push(nodes.len());
        nodes.push(json!({ "name": name, "children": children }));
    }
    let (mut meshes, mut morph_nodes) = (Vec::new(), Vec::new());
    // glTF has no empty primitives.
    for part in model.parts.iter().filter(|part| !part.triangles.is_empty()) {
        let mesh = mesh(part, model, &basis, &mut glb)
            .map_err(|what| error(format!("part `{}`: {what}", part.name)))?;
        let mut node = json!({ "name": part.name, "mesh": meshes.len() });
        if !part.influences.is_empty() && !model.skeleton.is_empty() {
            node["skin"] = 0.into();
        }
        if !part.morphs.is_empty() {
            morph_nodes.push(MorphNode {
                node: nodes.len(),
                morphs: part.morphs.iter().map(|target| target.morph).collect(),
            });
        }
        roots.push(nodes.len());
        nodes.push(node);
        meshes.push(mesh);
    }
    let mut scene = json!({ "name": name });
    scene["extras"] = manifest.and_then(extras::of_manifest).unwrap_or_default();
    if !nodes.is_empty() {
        scene["nodes"] = roots.into();
        document["nodes"] = nodes.into();
    }
    if scene["extras"].is_null() {
        scene.as_object_mut().map(|scene| scene.remove("extras"));
    }
    document["scenes"] = json!([scene]);
    if !meshes.is_empty() {
        document["meshes"] = meshes.into();
    }

    let mut materials = Materials::default();
    model
        .materials
        .iter()
        .for_each(|material| materials.add(material, &mut glb, &mut texture));
    materials.finish(&mut document);

    let mut animations = Vec::new();
    for clip in &model.clips {
        let entry = manifest.and_then(|manifest| manifest.clips.get(&*clip.timing.name));
        match clips::export(clip, entry, &model.skeleton, &morph_nodes, &basis, &mut glb) {
            Some(animation) => animations.push(animation),
            None => {
                let message = format!("clip `{}` moves nothing and is left out", clip.timing.name);
                warnings.push(Diagnostic::warning(file, message));
            }
        }
    }
    if !animations.is_empty() {
        document["animations"] = animations.into();
    }
    let bytes = glb
        .finish(document)
        .ok_or_else(|| error("the file would be larger than glTF's 4 GiB".to_owned()))?;
    Ok(Parsed {
        value: bytes,
        warnings,
    })
}

/// Returns the node of each joint, at the joint's index.
fn joints(model: &Model, basis: &Basis) -> Vec<Value> {
    let skeleton = &model.skeleton;
    let mut children = vec![Vec::new(); skeleton.len()];
    for (joint, parent) in skeleton.parents().iter().enumerate() {
        if let Some(parent) = parent {
            children[usize::from(*parent)].push(joint);
        }
    }
    let node = |(joint, children): (u16, Vec<usize>)| {
        let rest = basis.transform(skeleton.rest_of(joint));
        let mut node = json!({
            "name": &**skeleton.name(joint),
            "translation": short(rest.translation.to_array()),
            "rotation": short(rest.rotation.to_array()),
        });
        if rest.scale != glam::Vec3::ONE {
            node["scale"] = short(rest.scale.to_array());
        }
        if !children.is_empty() {
            // The default of glTF is left out.
            node["children"] = children.into();
        }
        if skeleton.is_control(joint) {
            node["extras"] = json!({ "deform": false });
        }
        node
    };
    skeleton.joints().zip(children).map(node).collect()
}

/// Returns the skin of all parts. Blender takes the matrices of the topmost joints as relative to
/// `skeleton`, the node above them.
fn skin(model: &Model, name: &str, skeleton: usize, basis: &Basis, glb: &mut Glb) -> Value {
    let matrix = |matrix: &Affine3A| Mat4::from(basis.affine(*matrix)).to_cols_array();
    let inverse_bind = glb.accessor(model.skeleton.inverse_bind().iter().map(matrix));
    glb.end_view(None);
    let joints: Vec<_> = model.skeleton.joints().collect();
    json!({ "name": name, "skeleton": skeleton, "joints": joints, "inverseBindMatrices": inverse_bind })
}

fn mesh(
    part: &SkinPart,
    model: &Model,
    basis: &Basis,
    glb: &mut Glb,
) -> Result<Value, &'static str> {
    let count = part.positions.len();
    if part
        .triangles
        .as_flattened()
        .iter()
        .any(|&vertex| vertex as usize >= count)
    {
        return Err("a triangle has a vertex that the part lacks");
    }
    let positions: Vec<[f32; 3]> = part
        .positions
        .iter()
        .map(|&p| basis.point(p).to_array())
        .collect();
    let normals = part.normals.iter().map(|&n| basis.direction(n).to_array());
    let tangents = part
        .tangents
        .iter()
        .map(|&t| basis.direction(t.truncate()).extend(t.w).to_array());
    // JSON has no infinity for bounds, and glTF forbids NaN.
    let finite = part.positions.iter().all(|p| p.is_finite())
        && part.normals.iter().all(|n| n.is_finite())
        && part.tangents.iter().all(|t| t.is_finite())
        && part.tex_coords.iter().all(|t| t.is_finite())
        && part.second_tex_coords.iter().all(|t| t.is_finite())
        && part.colors.iter().all(|c| c.is_finite());
    if !finite {
        return Err("a vertex has a number that is not finite");
    }

    let mut attributes = json!({ "POSITION": glb.bounded_accessor(&positions) });
    glb.end_view(Some(Target::Vertices));
    // Lists of another length count as missing.
    if part.normals.len() == count {
        // glTF allows tangents only beside normals.
        attributes["NORMAL"] = glb.attribute(Target::Vertices, normals).into();
        if part.tangents.len() == count {
            attributes["TANGENT"] = glb.attribute(Target::Vertices, tangents).into();
        }
    }
    if part.tex_coords.len() == count {
        let tex_coords = part.tex_coords.iter().map(|t| t.to_array());
        attributes["TEXCOORD_0"] = glb.attribute(Target::Vertices, tex_coords).into();
    }
    if part.second_tex_coords.len() == count {
        let tex_coords = part.second_tex_coords.iter().map(|t| t.to_array());
        attributes["TEXCOORD_1"] = glb.attribute(Target::Vertices, tex_coords).into();
    }
    if part.colors.len() == count {
        attributes["COLOR_0"] = glb
            .attribute(Target::Vertices, part.colors.iter().map(|c| c.to_array()))
            .into();
    }
    if part.influences.len() == count && !model.skeleton.is_empty() {
        let influences: Vec<Vec<(JointIndex, f32)>> = (0..count)
            .map(|vertex| influences(part, vertex, model))
            .collect();
        // An attribute holds four joints; further ones are in further sets.
        let sets = influences
            .iter()
            .map(|joints| joints.len().div_ceil(4))
            .max()
            .unwrap_or(1);
        for set in 0..sets {
            let four = |joints: &Vec<(JointIndex, f32)>| {
                std::array::from_fn(|lane| joints.get(4 * set + lane).copied().unwrap_or_default())
            };
            let four: Vec<[(JointIndex, f32); 4]> = influences.iter().map(four).collect();
            let joints = four.iter().map(|four| four.map(|(joint, _)| joint));
            // As bytes, the joints take half the memory.
            attributes[format!("JOINTS_{set}")] = match model.skeleton.len() {
                0..=256 => glb.attribute(
                    Target::Vertices,
                    joints.map(|four| four.map(|joint| joint as u8)),
                ),
                _ => glb.attribute(Target::Vertices, joints),
            }
            .into();
            let weights = four.iter().map(|four| four.map(|(_, weight)| weight));
            attributes[format!("WEIGHTS_{set}")] = glb.attribute(Target::Vertices, weights).into();
        }
    }
    // The largest value of an index type must not be used: it restarts strips.
    let corners = part.triangles.as_flattened().iter();
    let indices = match count {
        0..=0xffff => glb.attribute(Target::Indices, corners.map(|&vertex| [vertex as u16])),
        _ => glb.attribute(Target::Indices, corners.map(|&vertex| [vertex])),
    };
    let directions = ["NORMAL", "TANGENT"].map(|name| attributes.get(name).is_some());
    let mut primitive = json!({ "attributes": attributes, "indices": indices });
    if part.material < model.materials.len() {
        primitive["material"] = part.material.into();
    }
    let mut mesh = json!({ "name": part.name, "primitives": [primitive] });
    morphs::add_targets(part, &model.skeleton, basis, directions, &mut mesh, glb)?;
    Ok(mesh)
}

/// Returns the joints that move a vertex and their weights above 0; at least one.
fn influences(part: &SkinPart, vertex: usize, model: &Model) -> Vec<(JointIndex, f32)> {
    let joint = |(slot, weight): (usize, f32)| Some((*part.palette.get(slot)?, weight));
    let mut joints: Vec<_> = part.joint_weights(vertex).filter_map(joint).collect();
    joints.retain(|(joint, _)| usize::from(*joint) < model.skeleton.len());
    // Every vertex of a skinned mesh needs a joint.
    if joints.is_empty() {
        joints.push((0, 1.0));
    }
    joints
}
