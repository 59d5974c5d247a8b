//! `.m3d` → model, and model → `.m3d`.
//!
//! The files do not specify their handedness. Direct3D draws triangles that are clockwise on the screen,
//! so `(b − a) × (c − a)` agrees with the vertex normals in left-handed data and opposes them in
//! right-handed data; the majority decides.
//!
//! What becomes of what is read is decided in `import/scene`: see decision 064.

mod clips;
mod export;
mod materials;
mod skeleton;
mod skin;

pub use export::to_m3d;

use super::{
    EmbeddedManifest, Hand, Images, ImportReport, ImportSettings, Imported, UpAxis,
    axes::Basis,
    report::Report,
    scene::{Bare, Parts},
    winding::{self, Facing},
};
use crate::format::{Checked, FormatError, m3d::M3d};
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
    let mut report = Report::new(file);
    let faces = facing(m3d);
    let right_handed = match settings.hand {
        Hand::Left => false,
        Hand::Right => true,
        // Without evidence, left-handed: Direct3D's convention.
        Hand::Auto => faces.against_normals > faces.with_normals,
    };
    if settings.hand == Hand::Auto && faces == Facing::default() && !m3d.triangles.is_empty() {
        let message =
            "no normals to detect the handedness from; left-handed coordinates are assumed";
        let hint = "set `hand` if the model appears mirrored";
        report.warn("", message, hint);
    }
    let basis = Basis::new(file, settings, right_handed, UpAxis::Y)?;
    let Bones {
        skeleton,
        joints,
        frames,
    } = skeleton::import(m3d, &basis, &mut report)?;
    let figures = ImportReport {
        dialect: Some(m3d.dialect),
        right_handed,
        ..ImportReport::default()
    };
    let mut parts = Parts::new(settings, &basis, materials::import(m3d), figures);
    let subsets = skin::SubsetReader {
        m3d,
        basis: &basis,
        faces,
        joint_of_bone: &joints,
    };
    subsets.run(&mut parts, &mut report)?;
    let parts = parts.finish(&mut report);
    let mut bare = Bare::new("", skeleton, parts, settings, &mut report)?;
    let bones = (&*joints, &*frames);
    let clips = clips::import(m3d, &basis, bones, &mut bare, &settings.limits, &mut report)?;
    Ok(bare.finish(clips, Images::new(), EmbeddedManifest::default(), report))
}

/// Returns the directions in which the triangles face, in the file's own axes.
fn facing(m3d: &M3d) -> Facing {
    let positions: Vec<Vec3> = m3d.vertices.iter().map(|v| v.position.into()).collect();
    let normals: Vec<Vec3> = m3d.vertices.iter().map(|v| v.normal.into()).collect();
    winding::facing(&positions, &normals, &m3d.triangles)
}
