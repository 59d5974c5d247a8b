//! `.m3d` → model, and model → `.m3d`.
//!
//! The files do not specify their handedness. Direct3D draws triangles that are clockwise on the screen,
//! so `(b − a) × (c − a)` agrees with the vertex normals in left-handed data and opposes them in
//! right-handed data; the majority decides.

mod clips;
mod export;
mod materials;
mod skeleton;
mod skin;

pub use export::to_m3d;

use super::{
    Hand, ImportReport, ImportSettings, Imported, UpAxis,
    axes::Basis,
    winding::{self, Facing},
};
use crate::{
    format::{Checked, Diagnostic, FormatError, m3d::M3d},
    model::{Model, Reach},
};
use glam::Vec3;
use skeleton::Bones;

/// Imports an `.m3d` file. `file` is its name in warnings and errors.
///
/// Joints are called `Bone0`, `Bone1` and so on after their place in the file, and parts after
/// their materials. Clips have a frame at the time of each key, and two where a joint has two keys
/// at one time, which is a step. Between keys the skin stays within
/// [`CLIP_ERROR`](super::CLIP_ERROR) of the keys' own interpolation (lerp and slerp). There are
/// warnings where it does not, and about clips that take far more memory than their keys.
///
/// # Errors
/// A scale that is not finite and above 0, or more joints than a [`Skeleton`](crate::model::Skeleton) holds.
pub fn from_m3d(
    file: &str,
    m3d: &Checked<M3d>,
    settings: &ImportSettings,
) -> Result<Imported, FormatError> {
    let mut warnings = Vec::new();

    let faces = facing(m3d);
    let right_handed = match settings.hand {
        Hand::Left => false,
        Hand::Right => true,
        // Without evidence, left-handed: Direct3D's convention.
        Hand::Auto => faces.against_normals > faces.with_normals,
    };
    if settings.hand == Hand::Auto && faces == Facing::default() && !m3d.triangles.is_empty() {
        let warning = Diagnostic::warning(
            file,
            "no normals to detect the handedness from; left-handed coordinates are assumed",
        );
        warnings.push(warning.with_hint("set `hand` if the model appears mirrored"));
    }
    let basis = Basis::new(file, settings, right_handed, UpAxis::Y)?;

    let Bones {
        skeleton,
        joints: joint_of_bone,
        frames,
    } = skeleton::import(file, m3d, &basis, &mut warnings)?;
    let reach = Reach::new(&skeleton)
        .map_err(|message| FormatError::one(Diagnostic::error(file, message)))?;
    let materials = materials::import(m3d);
    let mut imported = Imported {
        model: Model {
            skeleton,
            materials,
            ..Model::default()
        },
        reach,
        ..Imported::default()
    };
    imported.report = ImportReport {
        dialect: Some(m3d.dialect),
        vertices: m3d.vertices.len(),
        triangles: m3d.triangles.len(),
        right_handed,
        ..ImportReport::default()
    };
    let skin = skin::Importer {
        file,
        m3d,
        basis: &basis,
        faces,
        joint_of_bone: &joint_of_bone,
    };
    let Imported { model, report, .. } = &mut imported;
    model.parts = skin.run(settings, &mut model.materials, report, &mut warnings);
    let Imported { model, reach, .. } = &mut imported;
    let clips = clips::Importer {
        file,
        m3d,
        basis: &basis,
        joint_of_bone: &joint_of_bone,
        frames: &frames,
    };
    model.clips = clips.run(model, reach, &mut warnings);
    imported.warnings = warnings;
    Ok(imported)
}

/// Returns the directions in which the triangles face, in the file's own axes.
fn facing(m3d: &M3d) -> Facing {
    let positions: Vec<Vec3> = m3d.vertices.iter().map(|v| v.position.into()).collect();
    let normals: Vec<Vec3> = m3d.vertices.iter().map(|v| v.normal.into()).collect();
    winding::facing(&positions, &normals, &m3d.triangles)
}
