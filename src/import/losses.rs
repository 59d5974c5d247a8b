//! Losses: the parts of a model that another format can't store.

use super::{Manifest, names::numbered};
use crate::plural::counted;
use crate::{
    format::Diagnostic,
    model::{JointIndex, Maps, Material, Model, PlaybackMode, SkeletalClip, SkinPart, UvTransform},
};
use glam::Affine3A;

/// A format that models are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WriteFormat {
    /// Binary glTF, [`to_glb`](super::to_glb).
    #[cfg(feature = "gltf")]
    Glb,
    /// [`to_m3d`](super::to_m3d).
    M3d,
    /// [`to_md5_mesh`](super::to_md5_mesh), and [`to_md5_anim`](super::to_md5_anim) for each clip.
    Md5,
}

/// Lists what `format` cannot hold of a model and its manifest, with a warning for each kind. `file` is the name of the file
/// to write.
pub fn losses(
    file: &str,
    model: &Model,
    manifest: Option<&Manifest>,
    format: WriteFormat,
) -> Vec<Diagnostic> {
    let m3d = format == WriteFormat::M3d;
    let md5 = format == WriteFormat::Md5;
    let mut list = List {
        file,
        warnings: Vec::new(),
    };
    let skeleton = &model.skeleton;
    // A speed that a manifest gives is in the file, too.
    let is_kept = |clip: &SkeletalClip| {
        let entry = manifest.and_then(|manifest| manifest.clips.get(&*clip.timing.name));
        !m3d && !md5 && entry.is_some_and(|entry| entry.ground_speed.is_some())
    };
    let carried = model
        .clips
        .iter()
        .filter(|clip| clip.root_path().is_some() && !is_kept(clip))
        .count();
    list.add(
        "the root motion of",
        carried,
        "clip",
        "they are written in place; give their `ground_speed` in a manifest",
    );
    if m3d {
        // Joints that are called so already lose nothing.
        let named = |&joint: &usize| *skeleton.names()[joint] != *format!("Bone{joint}");
        let names = (0..skeleton.len()).filter(named).count();
        list.add(
            "the names of",
            names,
            "joint",
            "they become Bone0, Bone1 and so on; list them under `joint_names`",
        );
        let material_of = |part: &SkinPart| {
            model
                .materials
                .get(part.material)
                .map(|material| &*material.name)
        };
        let names = model
            .parts
            .iter()
            .filter(|part| material_of(part) != Some(&part.name))
            .count();
        list.add(
            "the names of",
            names,
            "part",
            "parts are called after their materials",
        );
    }
    if md5 {
        let numbered = numbered(skeleton.names());
        let names = numbered
            .iter()
            .zip(&**skeleton.names())
            .filter(|(new, name)| **new != ***name)
            .count();
        list.add(
            "the names of",
            names,
            "joint",
            "others have the same, so they get a number: joints are found by name",
        );
    }
    if m3d || md5 {
        let moved = |&joint: &JointIndex| {
            let joint = usize::from(joint);
            let rest = skeleton.rest_model()[joint] * skeleton.inverse_bind()[joint];
            let size = skeleton.rest_model()[joint].translation.length();
            // Within a thousandth, because exporters round.
            !rest.abs_diff_eq(Affine3A::IDENTITY, 1e-3 * (1.0 + size))
        };
        let moved = skeleton.joints().filter(moved).count();
        list.add(
            "the rest pose of",
            moved,
            "joint",
            "joints rest where the skin was bound; clips are not affected",
        );
    }
    if m3d || md5 {
        let morphs = skeleton.morphs().len();
        list.add(
            "all",
            morphs,
            "morph target",
            "parts keep their basic shape",
        );
        let moving = model
            .clips
            .iter()
            .filter(|clip| clip.animates_morphs())
            .count();
        list.add(
            "the weights of morph targets of",
            moving,
            "clip",
            "only joints are written",
        );
    }
    if m3d || md5 {
        let control = skeleton.control_joints().len();
        list.add(
            "the flag of",
            control,
            "control joint",
            "list them under `control_joints` in a manifest",
        );
    }
    if m3d {
        let combined = model
            .parts
            .iter()
            .filter(|part| !part.combined_joints.is_empty())
            .count();
        list.add(
            "more than four joints per vertex in",
            combined,
            "part",
            "the four largest weights are kept",
        );
    }
    if md5 {
        let scaled = model.clips.iter().filter(|clip| !clip.unit_scale()).count();
        list.add(
            "the scale in",
            scaled,
            "clip",
            "joints keep the places that scale gives them",
        );
        let uneven = model
            .clips
            .iter()
            .filter(|clip| clip.frame_times().is_some())
            .count();
        list.add(
            "the frame times of",
            uneven,
            "clip",
            "they are sampled at 60 frames per second",
        );
        let shaded = model
            .parts
            .iter()
            .filter(|part| !part.normals.is_empty())
            .count();
        list.add(
            "the normals and tangents of",
            shaded,
            "part",
            "readers compute them from the triangles",
        );
    }

    if m3d || md5 {
        let colored = model
            .parts
            .iter()
            .filter(|part| !part.colors.is_empty())
            .count();
        list.add(
            "the vertex colors of",
            colored,
            "part",
            "multiply them into the textures",
        );
    }

    add_materials(&mut list, model, m3d, md5);
    let (expressions, roles) = (
        model.skeleton.morphs().own_expressions().len(),
        model.skeleton.roles().len(),
    );
    let keep = "a manifest whose model is the .vrm keeps them";
    list.add("", expressions, "expression", keep);
    list.add("the roles of", roles, "joint", keep);

    let clips =
        |lost: fn(&SkeletalClip) -> bool| model.clips.iter().filter(|clip| lost(clip)).count();
    if m3d || md5 {
        let keep = "a manifest keeps them: see `marionette import --help`";
        let keys = model
            .clips
            .iter()
            .map(|clip| clip.timing.callbacks.len())
            .sum();
        list.add("", keys, "callback key", keep);
        list.add(
            "the playback mode of",
            clips(|c| c.timing.playback != PlaybackMode::Loop),
            "clip",
            keep,
        );
        let (masks, sockets) = manifest.map_or((0, 0), |m| (m.masks.len(), m.sockets.len()));
        list.add("", masks, "mask", keep);
        list.add("", sockets, "socket", keep);
    }
    if let Some(Manifest {
        goals,
        look_at,
        feet,
        constraints,
        springs,
        ..
    }) = manifest.filter(|_| m3d || md5)
    {
        let keep = "copy them to the new character's manifest";
        list.add("", goals.len(), "goal", keep);
        list.add(
            "",
            look_at.as_ref().map_or(0, |look| look.joints.len()),
            "look_at joint",
            keep,
        );
        list.add(
            "the placement of",
            feet.as_ref().map_or(0, |feet| feet.legs.len()),
            "leg",
            keep,
        );
        list.add("", constraints.len(), "constraint", keep);
        list.add(
            "",
            springs.iter().map(|entry| entry.joints.len()).sum(),
            "spring",
            keep,
        );
    }
    let additive = clips(|clip| clip.additive);
    match format {
        WriteFormat::M3d => list.add(
            "the kind of",
            additive,
            "additive clip",
            "readers take differences for poses",
        ),
        WriteFormat::Md5 => {}
        #[cfg(feature = "gltf")]
        WriteFormat::Glb => {
            list.add(
                "the kind of",
                additive,
                "additive clip",
                "other programs see it on top of the rest pose",
            );
        }
    }
    list.warnings
}

/// Adds what materials lose.
fn add_materials(list: &mut List, model: &Model, m3d: bool, md5: bool) {
    let materials = |lost: fn(&Material) -> bool| {
        model
            .materials
            .iter()
            .filter(|material| lost(material))
            .count()
    };
    if md5 {
        let rich = materials(has_more_than_a_map);
        list.add(
            "the properties of",
            rich,
            "material",
            "only the base color map is kept",
        );
    } else {
        let specular = materials(|m| m.specular_map.is_some());
        list.add("", specular, "specular map", "it would not be drawn");
    }
    if m3d {
        let off = materials(|m| m.base_color[3] != 1.0);
        list.add("the alpha of", off, "base color", "it becomes opaque");
        let off = materials(|m| m.alpha_cutoff.is_some_and(|cutoff| cutoff != 0.1));
        list.add("", off, "alpha cutoff", "it becomes 0.1");
        let off = materials(|m| m.double_sided != m.alpha_cutoff.is_some());
        list.add(
            "the sides of",
            off,
            "material",
            "those with an alpha cutoff are double-sided, others are not",
        );
        let off = materials(|m| m.normal_map.is_some() && !m.normal_map_green_down);
        list.add(
            "the direction of",
            off,
            "normal map",
            "green is read as down: invert it in the image",
        );
        let metallic = materials(|m| m.metallic != 0.0 || m.metallic_roughness_map.is_some());
        list.add(
            "the metallic of",
            metallic,
            "material",
            "it becomes 0, and the roughness is the same everywhere",
        );
        let lit = materials(|m| m.emissive != [0.0; 3] || m.unlit || m.occlusion_map.is_some());
        list.add(
            "the own light of",
            lit,
            "material",
            "the format has neither emissive, occlusion nor unlit materials",
        );
        let blended = materials(|m| m.alpha_blend);
        list.add("the blending of", blended, "material", "it becomes opaque");
        let placed = materials(|m| {
            m.uv_transform != UvTransform::default()
                || m.samplers != Maps::default()
                || m.tex_coord_sets != Maps::default()
        });
        list.add(
            "the texture transform or sampler of",
            placed,
            "material",
            "textures repeat, with trilinear filtering",
        );
    }
    if !m3d && !md5 {
        let bright = materials(|m| m.base_color.iter().any(|channel| *channel > 1.0));
        list.add("", bright, "base color above 1", "it becomes 1");
    }
}

/// Returns `true` if a material is more than the map that an MD5 names.
fn has_more_than_a_map(material: &Material) -> bool {
    let Material {
        name,
        base_color_map,
        ..
    } = material;
    *material
        != Material {
            name: name.clone(),
            base_color_map: base_color_map.clone(),
            ..Material::default()
        }
}

struct List<'a> {
    file: &'a str,
    warnings: Vec<Diagnostic>,
}

impl List<'_> {
    /// Adds a warning that `of` a number of things is lost, if the number is not 0.
    fn add(&mut self, of: &str, count: usize, noun: &str, hint: &str) {
        if count > 0 {
            let space = if of.is_empty() { "" } else { " " };
            let message = format!("not kept: {of}{space}{}", counted(count, noun));
            self.warnings
                .push(Diagnostic::warning(self.file, message).with_hint(hint));
        }
    }
}

#[cfg(test)]
#[path = "tests/losses.rs"]
mod tests;
