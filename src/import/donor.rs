//! Fits the clips of one character file to the skeleton of another.
//!
//! Joints are matched by name, and by path where names are not unique. Exporters disagree about the rest: some put a prefix before every name, scale the armature by
//! 100, or leave it lying on its back. What is the same for all joints is put right, and a warning says so.

use super::{
    matching::{NamedJoints, find_sources},
    names::listed,
};
use crate::{
    format::{Diagnostic, FormatError, Parsed},
    model::{ClipFrames, JointIndex, JointTransform, Model, SkeletalClip, Skeleton},
};
use glam::{Affine3A, Mat3, Quat, Vec3};

/// Returns the clips of `donor` in the joint order of `skeleton`.
///
/// # Errors
/// No joint in common.
pub(super) fn fit(file: &str, donor: &Model, skeleton: &Skeleton) -> Result<Parsed<Vec<SkeletalClip>>, FormatError> {
    let theirs = &donor.skeleton;
    let (source, renamed) = matched(theirs, skeleton);
    let mut warnings = Vec::new();
    let mut warn = |message: String, hint: &str| warnings.push(Diagnostic::warning(file, message).with_hint(hint));
    if source.iter().all(Option::is_none) {
        return Err(strangers(file, theirs, skeleton));
    }
    if let Some((model, donor)) = renamed {
        warn(format!("joints match without their prefixes, such as `{donor}` and the model's `{model}`"), "");
    }
    let used: Vec<bool> = (0..theirs.len()).map(|joint| source.contains(&Some(joint))).collect();
    let moves = |joint: usize| donor.clips.iter().any(|clip| clip.animates(joint));
    let unused = (0..theirs.len()).filter(|&joint| !used[joint] && moves(joint));
    let unused: Vec<&str> = unused.map(|joint| &*theirs.names()[joint]).collect();
    if !unused.is_empty() {
        warn(format!("joints of the clips that the model lacks are left out: {}", listed(unused)), "");
    }

    let (length, alike) = length_ratio(theirs, skeleton, &source);
    if !alike {
        let hint = "the clips move the joints as they move their own";
        warn("the model's joints are not as far apart as those of the clips".to_owned(), hint);
    }
    if length != 1.0 {
        warn(format!("the clips are for a skeleton of another size: their lengths were multiplied by {length:.4}"), "");
    }
    let turn = turn(theirs, skeleton, &source, length);
    if turn != Quat::IDENTITY {
        let (axis, angle) = turn.to_axis_angle();
        let [x, y, z] = axis.to_array();
        let degrees = angle.to_degrees();
        warn(
            format!(
                "the clips' armature is turned: it was turned back by {degrees:.0}° around ({x:.2}, {y:.2}, {z:.2})"
            ),
            "",
        );
    }
    let fit = Fit { theirs, skeleton, source, length, turn };
    let clips = donor.clips.iter().map(|clip| fit.clip(clip));
    let clips: Result<_, _> = clips.collect();
    let value =
        clips.map_err(|error: crate::model::ClipError| FormatError::one(Diagnostic::error(file, error.to_string())))?;
    Ok(Parsed { value, warnings })
}

/// The error for a file with clips for another skeleton.
pub(super) fn strangers(file: &str, theirs: &Skeleton, ours: &Skeleton) -> FormatError {
    let first = |s: &Skeleton| s.names().iter().take(4).map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
    let message = format!(
        "this file has no joint in common with the model: it has {}, the model has {}",
        first(theirs),
        first(ours)
    );
    let hint = "clips of another humanoid, whose joints have other names, need `retarget: true` in the manifest";
    FormatError::one(Diagnostic::error(file, message).with_hint(hint))
}

/// Per joint of `ours`, its source among `theirs`; and two names that only match without their prefixes.
fn matched<'a>(theirs: &'a Skeleton, ours: &'a Skeleton) -> (Vec<Option<usize>>, Option<(&'a str, &'a str)>) {
    let mut source = vec![None; ours.len()];
    find_sources(&NamedJoints::of(theirs, |name| name), &NamedJoints::of(ours, |name| name), &mut source);
    let mut renamed = None;
    if source.contains(&None) {
        let known = source.clone();
        let [theirs_bare, ours_bare] = [theirs, ours].map(|skeleton| NamedJoints::of(skeleton, without_prefix));
        find_sources(&theirs_bare, &ours_bare, &mut source);
        let first = (0..ours.len()).find(|joint| known[*joint] != source[*joint]);
        renamed = first.and_then(|joint| Some((&*ours.names()[joint], &*theirs.names()[source[joint]?])));
    }
    (source, renamed)
}

/// Removes what exporters put before a joint's name: `mixamorig:`, `Armature|`, and the former after other programs have taken out
/// the colon.
pub(super) fn without_prefix(name: &str) -> &str {
    let name = name.rsplit([':', '|']).next().unwrap_or(name);
    let bare =
        name.strip_prefix("mixamorig").map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '_'));
    bare.filter(|bare| !bare.is_empty()).unwrap_or(name)
}

/// Returns the factor by which the skeleton's lengths differ, and whether it is the same for nearly all joints.
fn length_ratio(theirs: &Skeleton, ours: &Skeleton, source: &[Option<usize>]) -> (f32, bool) {
    let size = |skeleton: &Skeleton| {
        let joints = skeleton.joints().map(|joint| skeleton.rest_of(joint).translation.length());
        joints.fold(0.0, f32::max)
    };
    let (our_least, their_least) = (size(ours) * 1e-3, size(theirs) * 1e-3);
    let mut ratios: Vec<f32> = Vec::new();
    for (joint, found) in source.iter().enumerate() {
        let Some(found) = *found else { continue };
        // Roots may be anywhere.
        let (Some(parent), Some(_)) = (ours.parents()[joint], theirs.parents()[found]) else { continue };
        if source[usize::from(parent)] != theirs.parents()[found].map(usize::from) {
            continue;
        }
        let ours = ours.rest_of(joint as JointIndex).translation.length();
        let theirs = theirs.rest_of(found as JointIndex).translation.length();
        if ours > our_least && theirs > their_least {
            ratios.push(ours / theirs);
        }
    }
    if ratios.is_empty() {
        return (1.0, true);
    }
    ratios.sort_unstable_by(f32::total_cmp);
    let median = ratios[ratios.len() / 2];
    let near = ratios.iter().filter(|ratio| (*ratio / median - 1.0).abs() < 0.02).count();
    let alike = near * 5 >= ratios.len() * 4;
    let is_same_size = (median - 1.0).abs() < 0.01 || (!alike && (0.67..1.5).contains(&median));
    (if is_same_size { 1.0 } else { median }, alike)
}

/// Returns the rotation that best takes their joints at rest to ours: one of right angles, or the one between the roots.
/// Their rest pose may be another, so anything that isn't clearly better than none is none.
fn turn(theirs: &Skeleton, ours: &Skeleton, source: &[Option<usize>], length: f32) -> Quat {
    let pairs: Vec<(Vec3, Vec3)> = source
        .iter()
        .enumerate()
        .filter_map(|(joint, found)| {
            Some((
                ours.rest_model()[joint].translation.into(),
                Vec3::from(theirs.rest_model()[(*found)?].translation) * length,
            ))
        })
        .collect();
    let Some(&(our_root, their_root)) = pairs.first() else { return Quat::IDENTITY };
    let apart = |turn: Quat| -> f32 {
        pairs.iter().map(|(ours, theirs)| (turn * (theirs - their_root)).distance_squared(ours - our_root)).sum()
    };
    let spread: f32 = pairs.iter().map(|(ours, _)| ours.distance_squared(our_root)).sum();
    let axes = [Vec3::X, Vec3::Y, Vec3::Z];
    let mut candidates: Vec<Quat> = Vec::new();
    for x in axes.iter().flat_map(|axis| [*axis, -*axis]) {
        for y in axes.iter().flat_map(|axis| [*axis, -*axis]).filter(|y| y.dot(x) == 0.0) {
            candidates.push(Quat::from_mat3(&Mat3::from_cols(x, y, x.cross(y))).normalize());
        }
    }
    let rotation = |m: &Affine3A| m.to_scale_rotation_translation().1;
    let root = source.iter().enumerate().find_map(|(joint, found)| Some((joint, (*found)?)));
    if let Some((our, their)) = root {
        let between = rotation(&ours.rest_model()[our]) * rotation(&theirs.rest_model()[their]).inverse();
        if between.is_finite() {
            candidates.push(between.normalize());
        }
    }
    let best = candidates.into_iter().min_by(|a, b| apart(*a).total_cmp(&apart(*b))).unwrap_or_default();
    let (without, with) = (apart(Quat::IDENTITY), apart(best));
    if without > 0.02 * spread && with < 0.5 * without { best } else { Quat::IDENTITY }
}

/// How the clips of one skeleton become those of another.
struct Fit<'a> {
    theirs: &'a Skeleton,
    skeleton: &'a Skeleton,
    /// Per joint of the skeleton, its source.
    source: Vec<Option<usize>>,
    length: f32,
    turn: Quat,
}

impl Fit<'_> {
    fn clip(&self, clip: &SkeletalClip) -> Result<SkeletalClip, crate::model::ClipError> {
        let frames = clip.to_frames();
        let joints = self.skeleton.len();
        let moved: Vec<bool> = (0..joints).map(|joint| !clip.additive && self.is_moved(joint)).collect();
        let animates = |joint: usize| self.source[joint].is_some_and(|found| moved[joint] || clip.animates(found));
        let mut out = ClipFrames {
            joints: self.skeleton.names().clone(),
            animated: (0..joints).map(animates).collect(),
            transforms: Vec::with_capacity(clip.frame_count() * joints),
        };
        for frame in frames.transforms.chunks(self.theirs.len().max(1)) {
            self.frame(clip, frame, &moved, &mut out.transforms);
        }
        let mut fitted = match clip.frame_times() {
            None => SkeletalClip::new(clip.timing.clone(), &out)?,
            Some(times) => SkeletalClip::at_times(clip.timing.clone(), &out, times)?,
        };
        fitted.additive = clip.additive;
        Ok(fitted)
    }

    /// Returns `true` if a joint has another parent there.
    fn is_moved(&self, joint: usize) -> bool {
        let Some(found) = self.source[joint] else { return false };
        let parent = self.theirs.parents()[found].map(usize::from);
        match self.skeleton.parents()[joint] {
            Some(ours) => parent.is_none() || self.source[usize::from(ours)] != parent,
            None => parent.is_some(),
        }
    }

    fn frame(&self, clip: &SkeletalClip, frame: &[JointTransform], moved: &[bool], out: &mut Vec<JointTransform>) {
        let local = |found: usize| {
            if clip.animates(found) { frame[found] } else { self.theirs.rest_of(found as JointIndex) }
        };
        let any_moved = moved.contains(&true);
        let (mut theirs, mut ours): (Vec<Affine3A>, Vec<Affine3A>) = Default::default();
        if any_moved {
            // Their model space, as large as ours and turned like it.
            let whole = Affine3A::from_scale_rotation_translation(Vec3::splat(self.length), self.turn, Vec3::ZERO);
            for joint in 0..frame.len() {
                let parent = self.theirs.parents()[joint].map_or(whole, |parent| theirs[usize::from(parent)]);
                theirs.push(parent * local(joint).to_affine());
            }
        }
        for (joint, found) in self.source.iter().enumerate() {
            let parent = self.skeleton.parents()[joint];
            let transform = match *found {
                Some(found) if moved[joint] => {
                    let above = parent.map_or(Affine3A::IDENTITY, |parent| ours[usize::from(parent)]);
                    // Their joints are as large as ours in our own units.
                    let there = theirs[found] * Affine3A::from_scale(Vec3::splat(self.length.recip()));
                    JointTransform::from_affine(above.inverse() * there)
                }
                Some(found) => {
                    let JointTransform { translation, rotation, scale } =
                        if clip.additive { frame[found] } else { local(found) };
                    let turn = if parent.is_none() { self.turn } else { Quat::IDENTITY };
                    let translation = turn * (translation * self.length);
                    // A difference of rotations is the same in any space.
                    let rotation = if clip.additive { rotation } else { turn * rotation };
                    JointTransform { translation, rotation, scale }
                }
                None => self.skeleton.rest_of(joint as JointIndex),
            };
            if any_moved {
                let above = parent.map_or(Affine3A::IDENTITY, |parent| ours[usize::from(parent)]);
                ours.push(above * transform.to_affine());
            }
            out.push(transform);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_prefixes_are_left_out() {
        for name in ["Hips", "mixamorig:Hips", "mixamorigHips", "mixamorig1:Hips", "mixamorig_Hips", "Armature|Hips"] {
            assert_eq!(without_prefix(name), "Hips");
        }
        assert_eq!(without_prefix("mixamorig"), "mixamorig");
        assert_eq!(without_prefix("Rig|Body:spine.001"), "spine.001");
    }
}
