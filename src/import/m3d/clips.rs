//! Clips: the keys of each bone → frames of all joints.

use super::skeleton::Frame;
use crate::{
    format::{
        Diagnostic,
        m3d::{M3d, M3dKey},
    },
    import::{
        axes::Basis,
        names::{UniqueNames, listed},
        resample::{Budget, Curve, MIRRORS, SAME_TIMES, Skin, resample},
    },
    model::{JointIndex, JointTransform, Model, Reach, SkeletalClip},
    plural::counted,
};
use glam::{Quat, Vec3};
use std::collections::BTreeSet;

/// Imports the clips of a file.
pub(super) struct Importer<'a> {
    pub(super) file: &'a str,
    pub(super) m3d: &'a M3d,
    pub(super) basis: &'a Basis,
    pub(super) joint_of_bone: &'a [JointIndex],
    /// Per bone.
    pub(super) frames: &'a [Frame],
}

impl Importer<'_> {
    /// Imports the clips in the joint order of `model`, whose skeleton and parts are complete.
    ///
    /// A clip runs from 0 to the last key of any bone. Before its first key and after its last, a bone holds that key. A
    /// bone without keys is not animated.
    pub(super) fn run(
        &self,
        model: &Model,
        reach: &mut Reach,
        warnings: &mut Vec<Diagnostic>,
    ) -> Vec<SkeletalClip> {
        let &Self {
            file,
            m3d,
            basis,
            joint_of_bone,
            frames,
        } = self;
        if m3d.clips.is_empty() {
            return Vec::new();
        }
        if joint_of_bone.is_empty() {
            let message = format!(
                "the file has {} but no bones",
                counted(m3d.clips.len(), "clip")
            );
            warnings.push(Diagnostic::warning(file, message).with_hint("the clips are left out"));
            return Vec::new();
        }

        let skin = Skin::new(model);
        let mut budget = Budget::default();
        // The keys of all clips count from the first clip on.
        budget.add_keys(
            m3d.clips
                .iter()
                .flat_map(|clip| &clip.bones)
                .map(Vec::len)
                .sum(),
        );
        let (mut unusable, mut renamed, mut names) = (0, 0, UniqueNames::default());
        let mut mirrors = BTreeSet::new();
        let (mut clips, mut too_large) = (Vec::with_capacity(m3d.clips.len()), Vec::new());
        for (at, clip) in m3d.clips.iter().enumerate() {
            let wanted = if clip.name.trim().is_empty() {
                format!("clip{at}")
            } else {
                clip.name.clone()
            };
            let name = names.add(wanted.clone());
            renamed += usize::from(name != wanted);
            let mut curves: Vec<Curve> = joint_of_bone.iter().map(|_| Curve::default()).collect();
            for ((keys, &joint), &frame) in clip.bones.iter().zip(joint_of_bone).zip(frames) {
                let curve = curve(keys, basis, frame, &mut unusable);
                if curve
                    .keys()
                    .iter()
                    .any(|key| key.scale.element_product() < 0.0)
                {
                    mirrors.insert(&*model.skeleton.names()[usize::from(joint)]);
                }
                curves[usize::from(joint)] = curve;
            }
            let Some(sampled) = resample(&curves, 0.0, &skin, &mut budget) else {
                too_large.push(name);
                continue;
            };
            let doubts = sampled.doubts(&name, &curves, &skin);
            warnings.extend(
                doubts.map(|(message, hint)| Diagnostic::warning(file, message).with_hint(hint)),
            );
            let raw = sampled.into_clip(name, model.skeleton.names(), &curves);
            match raw.build() {
                Ok(clip) => match reach.admit(&model.skeleton, &clip) {
                    Ok(()) => clips.push(clip),
                    Err(message) => {
                        let message = format!("clip `{}` is left out: {message}", clip.timing.name);
                        warnings.push(Diagnostic::warning(file, message));
                    }
                },
                Err(error) => warnings.push(Diagnostic::warning(
                    file,
                    format!("{error}; the clip is left out"),
                )),
            }
        }
        if !too_large.is_empty() {
            let names = listed(too_large.iter().map(String::as_str));
            let message = format!(
                "clips that take too much memory for the few keys of the file are left out: {names}"
            );
            warnings.push(Diagnostic::warning(file, message).with_hint(SAME_TIMES));
        }
        if renamed > 0 {
            warnings.push(Diagnostic::warning(
                file,
                format!(
                    "numbers were added to the names of {}, because other clips have the same",
                    counted(renamed, "clip")
                ),
            ));
        }
        if !mirrors.is_empty() {
            let names = listed(mirrors);
            let message = format!(
                "a negative scale mirrors joints in clips but not in the bind pose, or the other way around: {names}"
            );
            warnings.push(Diagnostic::warning(file, message).with_hint(MIRRORS));
        }
        if unusable > 0 {
            let message = format!(
                "the clips have {} without a valid transform, for example with a rotation of all zeros",
                counted(unusable, "key")
            );
            warnings.push(
                Diagnostic::warning(file, message)
                    .with_hint("they were left out or given no rotation"),
            );
        }
        clips
    }
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
