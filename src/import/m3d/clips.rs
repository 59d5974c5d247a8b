//! Clips: the keys of each bone → frames of all joints.

use super::skeleton::Frame;
use crate::{
    format::{
        FormatError,
        m3d::{M3d, M3dKey},
    },
    import::{
        ImportLimits,
        axes::Basis,
        names::named,
        report::Report,
        resample::Curve,
        scene::{Bare, Clips, FileClips, SceneClip},
    },
    model::{JointIndex, JointTransform},
    plural::counted,
};
use glam::{Quat, Vec3};

/// Imports the clips of a file. `joint_of_bone` and `frames` have an entry per bone.
///
/// A clip runs from 0 to the last key of any bone. Before its first key and after its last, a bone holds that key. A
/// bone without keys is not animated.
pub(super) fn import(
    m3d: &M3d,
    basis: &Basis,
    (joint_of_bone, frames): (&[JointIndex], &[Frame]),
    bare: &mut Bare,
    limits: &ImportLimits,
    report: &mut Report,
) -> Result<FileClips, FormatError> {
    if m3d.clips.is_empty() {
        return Ok(FileClips::default());
    }
    if joint_of_bone.is_empty() {
        let message = format!(
            "the file has {} but no bones",
            counted(m3d.clips.len(), "clip")
        );
        report.warn("", message, "the clips are left out");
        return Ok(FileClips::default());
    }
    let names = bare.model.skeleton.names().clone();
    let mut clips = Clips::new("", bare, limits);
    // The keys of all clips count from the first clip on.
    let bones = m3d.clips.iter().flat_map(|clip| &clip.bones);
    clips.budget.add_keys(bones.map(Vec::len).sum());
    let mut unusable = 0;
    for (at, clip) in m3d.clips.iter().enumerate() {
        let name = named([Some(clip.name.as_str())], "clip", at);
        let mut curves: Vec<Curve> = joint_of_bone.iter().map(|_| Curve::default()).collect();
        for ((keys, &joint), &frame) in clip.bones.iter().zip(joint_of_bone).zip(frames) {
            let curve = curve(keys, basis, frame, &mut unusable);
            let mirrors = |key: &JointTransform| key.scale.element_product() < 0.0;
            if curve.keys().iter().any(mirrors) {
                clips.mirrored.add(&name, &names[usize::from(joint)]);
            }
            curves[usize::from(joint)] = curve;
        }
        let clip = SceneClip {
            name,
            curves,
            ..SceneClip::default()
        };
        clips.add(vec![clip], report)?;
    }
    if unusable > 0 {
        let message = format!(
            "the clips have {} without a valid transform, for example with a rotation of all zeros",
            counted(unusable, "key")
        );
        let hint = "they were left out or given no rotation";
        report.warn("", message, hint);
    }
    let clips = clips.finish(report);
    // They have keys of all properties.
    Ok(FileClips {
        keyed: Vec::new(),
        ..clips
    })
}

/// Returns the valid keys of a bone, in Bevy's axes.
fn curve(keys: &[M3dKey], basis: &Basis, frame: Frame, unusable: &mut usize) -> Curve {
    let mut curve = Curve::with_capacity(keys.len());
    for key in keys {
        let rotation = Quat::from_array(key.rotation);
        let transform = JointTransform {
            translation: key.translation.into(),
            rotation: if rotation.length_squared() > 1e-12 {
                rotation.normalize()
            } else {
                Quat::IDENTITY
            },
            scale: key.scale.into(),
        };
        let rotates = rotation.length_squared() > 1e-12;
        let empty = !rotates && transform.scale == Vec3::ZERO;
        *unusable += usize::from(!rotates || !transform.is_finite() || !key.time.is_finite());
        if !empty && transform.is_finite() && key.time.is_finite() {
            curve.push(
                f64::from(key.time),
                frame.transform(basis.transform(transform)),
            );
        }
    }
    curve
}
