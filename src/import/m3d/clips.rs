//! Clips: the keys of each bone → frames of all joints.

use super::{
    CLIP_ERROR,
    resample::{Curve, Sampled, Skin, resample},
};
use crate::{
    format::{
        Diagnostic,
        m3d::{M3d, M3dKey},
    },
    import::{
        axes::Basis,
        names::{UniqueNames, listed},
    },
    model::{ClipFrames, ClipTiming, JointIndex, JointTransform, Model, Reach, SkeletalClip, SoaTransform},
};
use glam::{Quat, Vec3};

/// Transforms that the clips of a file may have, however few keys it has (2.6 MB).
const FEW_TRANSFORMS: usize = 1 << 16;

/// Most transforms per key: a frame has one for each joint, even if only one of them has a key.
const TRANSFORMS_PER_KEY: usize = 64;

/// Most transforms of all clips together (168 MB), unless there are almost as many keys.
const MOST_TRANSFORMS: usize = 1 << 22;

/// Transforms per key that any number of keys may have.
const DENSE_TRANSFORMS_PER_KEY: usize = 8;

/// Transforms per key from which on a warning says what a large clip costs.
const COSTLY_TRANSFORMS_PER_KEY: usize = 8;

const SAME_TIMES: &str = "put the keys of all joints at the same times";

/// Imports the file's clips in the joint order of `model`, whose skeleton and parts are complete.
///
/// A clip runs from 0 to the last key of any bone. Before its first key and after its last, a bone holds that key. A
/// bone without keys is not animated.
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

    let skin = Skin::new(model);
    let keys: usize = m3d.clips.iter().flat_map(|clip| &clip.bones).map(Vec::len).sum();
    let mut budget =
        MOST_TRANSFORMS.min(TRANSFORMS_PER_KEY * keys).max(FEW_TRANSFORMS).max(DENSE_TRANSFORMS_PER_KEY * keys);
    let (mut unusable, mut renamed, mut names) = (0, 0, UniqueNames::default());
    let (mut clips, mut too_large) = (Vec::with_capacity(m3d.clips.len()), Vec::new());
    for (at, clip) in m3d.clips.iter().enumerate() {
        let wanted = if clip.name.trim().is_empty() { format!("clip{at}") } else { clip.name.clone() };
        let name = names.add(wanted.clone());
        renamed += usize::from(name != wanted);
        let mut curves = vec![Curve::default(); joint_of_bone.len()];
        for (keys, &joint) in clip.bones.iter().zip(joint_of_bone) {
            curves[usize::from(joint)] = curve(keys, basis, &mut unusable);
        }
        let Ok(sampled) = resample(&curves, &skin, f64::from(CLIP_ERROR) * skin.size(), budget) else {
            too_large.push(name);
            continue;
        };
        budget -= sampled.transforms.len();
        warnings.extend(judge(file, &name, &curves, &sampled, skin.size()));
        let frames = ClipFrames {
            joints: model.skeleton.names().clone(),
            animated: curves.iter().map(|curve| !curve.is_empty()).collect(),
            transforms: sampled.transforms,
        };
        let timing = ClipTiming::new(name, sampled.duration);
        let made = match &sampled.times[..] {
            [] => SkeletalClip::new(timing, &frames),
            times => SkeletalClip::at_times(timing, &frames, times),
        };
        match made {
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
    if !too_large.is_empty() {
        let names = listed(too_large.iter().map(String::as_str));
        let message = format!("clips that take too much memory for the few keys of the file are left out: {names}");
        warnings.push(Diagnostic::warning(file, message).with_hint(SAME_TIMES));
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

/// Returns a warning if a clip is less exact than it should be, or takes far more memory than its keys.
fn judge(file: &str, name: &str, curves: &[Curve], sampled: &Sampled, size: f64) -> Option<Diagnostic> {
    if sampled.error > f64::from(CLIP_ERROR) * size {
        let share = sampled.error / size * 100.0;
        let message = format!(
            "clip `{name}` turns so far between keys that the skin is off by up to {share:.2} % of the model's size"
        );
        return Some(Diagnostic::warning(file, message).with_hint("add keys within the turns"));
    }
    let (keys, transforms) = (curves.iter().map(Curve::len).sum::<usize>(), sampled.transforms.len());
    if transforms < FEW_TRANSFORMS || transforms < COSTLY_TRANSFORMS_PER_KEY * keys {
        return None;
    }
    let megabytes = (transforms * size_of::<SoaTransform>() / 4) as f64 / 1e6;
    let message = format!(
        "clip `{name}` takes about {megabytes:.0} MB: its {keys} keys become {} frames of all {} joints",
        transforms / curves.len(),
        curves.len()
    );
    Some(Diagnostic::warning(file, message).with_hint(SAME_TIMES))
}

/// Returns the valid keys of a bone, in Bevy's axes.
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
