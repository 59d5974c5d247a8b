//! glTF 2.0 → model: `.glb`, and `.gltf` with buffers in files beside it or in data URIs.
//!
//! `json.rs` lists the part of the JSON that is read. Everything that it refers to is checked,
//! because a file may claim anything.
//!
//! # What becomes of a scene
//!
//! The default scene becomes one skeleton. Its joints are the joints of all skins, nodes with rigid meshes, and animated nodes;
//! in a file that only holds clips, also the nodes above these; see `import/nodes.rs`. A mesh becomes a part for each of its primitives:
//! skinned, or rigid and then moved by its node alone. Nodes above the joints, such as an armature that is turned and scaled by
//! 100 or mirrored, are baked in: joints have a scale of one at rest, and lengths are in meters, as the format requires. So are
//! joints that mirror at rest: no joint's matrix mirrors, unless a clip mirrors a joint that isn't mirrored at rest, which a
//! warning says.
//!
//! Nodes that aren't visible, and levels of detail other than the finest, are left out; see `shown.rs`.
//!
//! # Control joints
//!
//! A node whose `extras` contain `"deform": false` becomes a control joint, and moves no skin; see
//! [`Manifest::control_joints`](super::Manifest::control_joints). [`to_glb`] writes it, too.
//!
//! # In place of a manifest
//!
//! What a manifest would say may be in `extras`, under `marionette`: masks and other entries in a scene's, callback keys and
//! root motion in an animation's, and `"socket": "right_hand"` at a node, which becomes a socket instead of a joint; see
//! [`EmbeddedManifest`](super::EmbeddedManifest). [`to_glb`] and the add-on for Blender write them.
//!
//! # Axes
//!
//! glTF's models face +Z, ours −Z as everything in Bevy does, so a model is turned by half a turn around Y: `(x, y, z)` becomes
//! `(−x, y, −z)`. With [`UpAxis::Y`](super::UpAxis::Y) axes are kept, as by Bevy's own glTF loader, and so they are in VRM 0
//! characters, which face −Z.
//!
//! # Clips
//!
//! Every animation becomes a clip that runs from 0 to the last key of any channel, including those
//! of cameras, which are left out. It has a frame at the time of each key. There are two where a
//! channel steps or has two keys at one time, which are a jump, and more where they are needed to
//! stay within [`CLIP_ERROR`](super::CLIP_ERROR) of the arcs and splines between keys. If joints
//! have keys at so many times of their own that this would take too much memory, frames are evenly
//! spaced instead, close enough to stay within the same error if memory allows. Files written by
//! [`to_glb`] get the frames back from which their keys were made.
//!
//! # Morph targets
//!
//! Meshes share targets by name, if the file moves them alike; see `morphs.rs`. A clip has frames of their weights at the keys
//! of these, apart from those of joints.
//!
//! For clips of other files, see [`open_clips`](super::open_clips).
//!
//! What becomes of what is read is decided in `import/scene`: see decision 064.

mod accessors;
mod buffers;
mod clips;
mod curves;
mod decoded;
mod document;
mod draco;
mod export;
mod extras;
mod json;
mod looks;
mod materials;
mod meshopt;
mod morphs;
mod primitive;
mod rig;
mod samplers;
mod shown;
mod skin;
mod sockets;
mod targets;
mod vrm;

pub use export::{GlbTexture, to_glb};

use super::{
    Hand, ImportReport, ImportSettings, Imported, OnImages, UpAxis,
    axes::Basis,
    nodes::{self, bind::Binder},
    report::Report,
    scene::{Bare, Parts},
    wanted::Wanted,
};
use crate::{format::FormatError, model::Skeleton};
use accessors::Accessors;
use buffers::Buffers;
use decoded::Decoded;
use document::Document;
use materials::FileMaterials;
use morphs::FileMorphs;
use std::borrow::Cow;
use vrm::Vrm;

/// Makes a model of a glTF file, binary or text. `file` is its name in warnings and errors.
///
/// `read` returns the contents of a buffer's file, named relative to the glTF file; it is not asked for files outside the
/// folder. A second line of its error is what to do. Images are not read: materials name the files, or the
/// [`Imported::images`] that the file contains.
///
/// Cameras, lights, and what a [`Material`] has no place for are left out.
///
/// [`Material`]: crate::model::Material
///
/// # Errors
/// The file cannot be read, contradicts itself, exceeds the limits, or requires an extension that is not supported.
pub fn from_gltf<'s>(
    file: &str,
    source: &'s [u8],
    settings: &ImportSettings,
    read: &mut dyn FnMut(&str) -> Result<Cow<'s, [u8]>, String>,
) -> Result<Imported, FormatError> {
    import(
        file,
        source,
        settings,
        read,
        Wanted::default(),
        &mut |_, _| (),
    )
}

/// Imports a file as [`from_gltf`] does, or what is `wanted` of it.
pub(super) fn import<'s>(
    file: &str,
    source: &'s [u8],
    settings: &ImportSettings,
    read: &mut dyn FnMut(&str) -> Result<Cow<'s, [u8]>, String>,
    wanted: Wanted,
    on_images: OnImages,
) -> Result<Imported, FormatError> {
    let right_handed = settings.hand != Hand::Left;
    let mut report = Report::new(file);
    let document = Document::read(&report, source)?;
    let root = &document.root;
    // Characters in VRM 0 face −Z already.
    let basis = if root.vrm.is_vrm_0() {
        Basis::new(file, settings, right_handed, UpAxis::Y)?
    } else {
        Basis::facing_z(file, settings, right_handed)?
    };
    document::check_extensions(root, &mut report)?;
    if document.lost_letters {
        let hint = "export it again: names with letters other than A to Z may be wrong";
        report.warn("", "the JSON is not in UTF-8", hint);
    }
    let limits = &settings.limits;
    let buffers = Buffers::read(&document, limits, &report, read)?;
    let decoded = Decoded::new(root);
    let beside = if document.blob.is_some() {
        0
    } else {
        buffers.len()
    };
    let bytes = source.len() as u64 + beside as u64;
    let accessors = Accessors::new(root, &buffers, &decoded, limits, bytes);
    accessors.warn_of_strides(&mut report);

    let vrm = Vrm::read(root, &basis, &mut report);
    let scene = rig::scene(root, wanted.scene, &mut report)?;
    let (rig, switched) = rig::read(
        &accessors,
        scene,
        &basis,
        settings,
        &vrm,
        &mut report,
        wanted.is_joint,
    )?;
    let FileMaterials {
        list: materials,
        in_file,
        images,
    } = FileMaterials::read(&accessors, &mut report)?;
    on_images(&materials, &images);
    let figures = ImportReport {
        right_handed,
        ..ImportReport::default()
    };
    let morphs = FileMorphs::read(&accessors, &rig, &vrm, limits, &mut report)?;
    let mut binder = Binder::new(&rig);
    let primitives = skin::PrimitiveReader {
        accessors: &accessors,
        basis: &basis,
        rig: &rig,
        limits,
        materials: &in_file,
        morphs: &morphs,
    };
    let mut parts = Parts::new(settings, &basis, materials, figures);
    primitives.run(&mut binder, &mut parts, &mut report)?;
    let parts = parts.finish(&mut report);
    let complete =
        |skeleton: Skeleton| vrm.with_roles(skeleton.with_morphs(morphs.morphs.clone()), &rig);
    let mut bare = Bare::of_nodes("nodes", binder, complete, parts, settings, &mut report)?;
    let animations = clips::AnimationReader {
        accessors: &accessors,
        basis: &basis,
        rig: &rig,
        switched: &switched,
        morphs: &morphs,
        vrm: &vrm,
    };
    let clips = animations.run(&mut bare, limits, &mut report)?;
    let mut embedded = extras::of_scene(root, scene, &mut report);
    let skeleton = &bare.model.skeleton;
    let root_joint = embedded.root_motion.as_mut().map(|entry| &mut entry.joint);
    if let Some(joint) = root_joint
        && let Some(name) = joint.take_if(|name| skeleton.joint(name).is_none())
    {
        let message = format!("`root_motion`: the model has no joint `{name}`");
        report.warn("scenes", message, "the topmost joint is taken in its place");
    }
    sockets::read(root, &rig, skeleton, &mut embedded, &mut report);
    let clips_are_for_any = vrm.is_animation;
    let avatar = vrm.avatar(&rig, skeleton, &basis, &mut embedded, &mut report);
    Ok(Imported {
        avatar,
        clips_are_for_any,
        ..bare.finish(clips, images, embedded, report)
    })
}

/// Returns the files that a glTF file's buffers are in, relative to it. Empty if it cannot be read, or needs none.
pub(super) fn files(source: &[u8]) -> Vec<String> {
    let report = Report::new("");
    if !document::may_name_files(&report, source) {
        return Vec::new();
    }
    Document::read(&report, source)
        .map_or_else(|_| Vec::new(), |document| buffers::files(&document.root))
}
