//! FBX → model, read by the library [ufbx](https://github.com/ufbx/ufbx): binary and text files of every version since 6.1.
//!
//! `scene.rs` is the only file that loads with the library; what it returns is checked, but contains what a file claims.
//!
//! # What becomes of a scene
//!
//! The same as of glTF's: the nodes become one skeleton by [`nodes`](super::nodes), and clips are
//! resampled by [`resample`](super::resample). The library converts units and axes, so that lengths are in meters and Y is up,
//! and puts a node in between where a node ignores its parent's scale. Geometric transforms, which move a mesh but not what is
//! below its node, are baked into the vertices.
//!
//! # Axes
//!
//! Characters face +Z in FBX, so a model is turned by half a turn around Y, as glTF's are.
//!
//! # Clips
//!
//! Every animation stack becomes a clip from the beginning of the stack's time span to its end. Its layers are mixed as they say.
//! Blend shapes are morph targets, in between ones too, and their weights are in the clips.
//! There are frames at the times of the keys, and more where it takes them to stay within [`CLIP_ERROR`](super::CLIP_ERROR) of the
//! curves in between.
//!
//! What becomes of what is read is decided in `import/scene`: see decision 064.

mod clips;
mod curves;
mod layers;
mod materials;
mod mesh;
mod moves;
mod nodes;
mod property;
mod scene;
mod shape_curves;
mod shapes;
mod skin;
mod times;
mod transforms;

use super::{
    EmbeddedManifest, Hand, ImportReport, ImportSettings, Imported, OnImages,
    axes::Basis,
    nodes::bind::Binder,
    report::Report,
    scene::{Bare, Parts},
};
use crate::{format::FormatError, model::Skeleton};
use materials::FileMaterials;
use shapes::FileShapes;
use std::mem;

/// Makes a model of an FBX file, binary or text. `file` is its name in warnings and errors.
///
/// No other file is read: materials name the files of textures, or the [`Imported::images`] that the file contains.
///
/// Cameras, lights, curves and NURBS surfaces, and what a [`Material`](crate::model::Material) has no place for are
/// left out.
///
/// # Errors
/// The file cannot be read, needs too much memory for its size, or exceeds the limits.
pub fn from_fbx(
    file: &str,
    source: &[u8],
    settings: &ImportSettings,
) -> Result<Imported, FormatError> {
    import(file, source, settings, None, &mut |_, _| ())
}

/// The same as [`from_fbx`]. In a file that only holds clips, `is_joint` tells by its name whether a node above what moves is a joint, or
/// something like an armature, whose transform is baked in.
pub(super) fn import(
    file: &str,
    source: &[u8],
    settings: &ImportSettings,
    is_joint: Option<&dyn Fn(&str) -> bool>,
    on_images: OnImages,
) -> Result<Imported, FormatError> {
    let right_handed = settings.hand != Hand::Left;
    let basis = Basis::facing_z(file, settings, right_handed)?;
    let limits = &settings.limits;
    let mut report = Report::new(file);
    let scene = scene::load(source, &mut report)?;

    let meshes = nodes::meshes(&scene, settings.all_lods, &mut report);
    let rig = nodes::read(&scene, &basis, &meshes, limits, &mut report, is_joint)?;
    let mut materials = FileMaterials::read(&scene, &mut report);
    on_images(&materials.list, &materials.images);
    let figures = ImportReport {
        right_handed,
        ..ImportReport::default()
    };
    let shapes = FileShapes::read(&scene, &rig, &meshes, limits, source.len(), &mut report)?;
    let mut binder = Binder::new(&rig);
    let list = mem::take(&mut materials.list);
    let mut parts = Parts::new(settings, &basis, list, figures);
    let reader = skin::MeshReader {
        scene: &scene,
        basis: &basis,
        rig: &rig,
        shapes: &shapes,
        materials: &materials,
        limits,
    };
    reader.run(&meshes, &mut binder, &mut parts, source.len(), &mut report)?;
    let parts = parts.finish(&mut report);
    let complete = |skeleton: Skeleton| skeleton.with_morphs(shapes.morphs.clone());
    let mut bare = Bare::of_nodes("", binder, complete, parts, settings, &mut report)?;
    let stacks = clips::StackReader {
        scene: &scene,
        basis: &basis,
        rig: &rig,
        shapes: &shapes,
    };
    let clips = stacks.run(&mut bare, limits, source.len(), &mut report)?;
    Ok(bare.finish(clips, materials.images, EmbeddedManifest::default(), report))
}
