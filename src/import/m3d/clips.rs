//! Clips: keyframes per bone → uniform samples.

use super::resample::{Curve, FILE_BUDGET, Levers, resample};
use crate::{
    format::{
        Diagnostic,
        m3d::{M3d, M3dKey},
    },
    import::{axes::Basis, names::UniqueNames, reach::Reach},
    model::{ClipFrames, ClipTiming, JointIndex, JointTransform, Model, SkeletalClip},
};
use glam::{Quat, Vec3};

/// Imports the file's clips in the joint order of `model`, whose skeleton and parts are complete.
///
/// A clip runs from 0 to the last key of any of its bones. Outside its own keys a bone holds the first or
/// last one; a bone without keys is not animated.
pub(super) fn import(
    file: &str,
    m3d: &M3d,
    basis: &Basis,
    joint_of_bone: &[JointIndex],
    model: &Model,
    reach: &mut Reach,
    warnings: &mut Vec<Diagnostic>,
) -> Vec<SkeletalClip> {
    if m3d.clips.is_empty() {
        return Vec::new();
    }
    if joint_of_bone.is_empty() {
        let message = format!("the file has {} clips but no bones", m3d.clips.len());
        warnings.push(Diagnostic::warning(file, message).with_hint("the clips are left out"));
        return Vec::new();
    }

    let levers = Levers::new(model);
    let mut budget = FILE_BUDGET;
    let (mut unusable, mut renamed, mut names) = (0, 0, UniqueNames::default());
    let mut clips = Vec::with_capacity(m3d.clips.len());
    for (at, clip) in m3d.clips.iter().enumerate() {
        let wanted = if clip.name.trim().is_empty() { format!("clip{at}") } else { clip.name.clone() };
        let name = names.add(wanted.clone());
        renamed += usize::from(name != wanted);
        let mut curves = vec![Curve::default(); joint_of_bone.len()];
        for (keys, &joint) in clip.bones.iter().zip(joint_of_bone) {
            curves[usize::from(joint)] = curve(keys, basis, &mut unusable);
        }
        let sampled = resample(&curves, &levers, budget);
        budget = budget.saturating_sub(sampled.transforms.len());
        if !sampled.within_bound {
            let share = sampled.error / levers.size() * 100.0;
            let message = format!("clip `{name}` is sampled with an error of up to {share:.2} % of the model's size");
            warnings.push(Diagnostic::warning(file, message).with_hint("evenly spaced keys are sampled exactly"));
        }
        let frames = ClipFrames {
            joints: model.skeleton.names().clone(),
            animated: curves.iter().map(|curve| !curve.is_empty()).collect(),
            transforms: sampled.transforms,
        };
        match SkeletalClip::new(ClipTiming::new(name, sampled.duration), &frames) {
            Ok(clip) => match reach.admit(&model.skeleton, &clip) {
                Ok(()) => clips.push(clip),
                Err(message) => {
                    let message = format!("clip `{}` is left out: {message}", clip.timing.name);
                    warnings.push(Diagnostic::warning(file, message));
                }
            },
            Err(error) => warnings.push(Diagnostic::warning(file, format!("{error}; the clip is left out"))),
        }
    }
    if renamed > 0 {
        warnings.push(Diagnostic::warning(
            file,
            format!("{renamed} clips share a name with another clip and got a number"),
        ));
    }
    if unusable > 0 {
        let message = format!("{unusable} keys are not valid transforms, for example with a rotation of all zeros");
        warnings.push(Diagnostic::warning(file, message).with_hint("they were left out or given no rotation"));
    }
    clips
}

/// The valid keys of a bone, in Bevy's axes.
fn curve(keys: &[M3dKey], basis: &Basis, unusable: &mut usize) -> Curve {
    let mut curve = Curve::with_capacity(keys.len());
    for key in keys {
        let rotation = Quat::from_array(key.rotation);
        let transform = JointTransform {
            translation: key.translation.into(),
            rotation: if rotation.length_squared() > 1e-12 { rotation.normalize() } else { Quat::IDENTITY },
            scale: key.scale.into(),
        };
        let rotates = rotation.length_squared() > 1e-12;
        let empty = !rotates && transform.scale == Vec3::ZERO;
        *unusable += usize::from(!rotates || !transform.is_finite() || !key.time.is_finite());
        if !empty && transform.is_finite() && key.time.is_finite() {
            curve.push(f64::from(key.time), basis.transform(transform));
        }
    }
    curve
}
