//! Clips for any humanoid: joints are matched by their roles, and expressions by their names. `.vrma` files hold such clips.

use super::{
    ImportLimits, Imported, Retarget,
    donor::ClipFile,
    names::listed,
    retarget::{RetargetError, retarget_frames},
};
use crate::{
    format::{Diagnostic, FormatError, Parsed},
    model::{Morphs, Roles, SkeletalClip, Skeleton},
};
use std::collections::BTreeSet;

/// Makes the clips of such a file into those of a model.
///
/// # Errors
/// The model has no hips, or a clip is too large for it.
pub(super) fn fit_by_role(
    file: &str,
    donor: Imported,
    skeleton: &Skeleton,
    limits: &ImportLimits,
) -> Result<Parsed<ClipFile>, FormatError> {
    let mut warnings = Vec::new();
    let Imported { model, .. } = donor;
    let (theirs, clips) = (model.skeleton, model.clips);
    let clips = shown_by(file, clips, skeleton.morphs(), limits, &mut warnings)?;
    let Some(source_roles) = Roles::of_file(&theirs) else {
        // A face without a body.
        let value = ClipFile::ByName(clips);
        return Ok(Parsed { value, warnings });
    };
    let fail = |error: RetargetError| {
        let hint = "name the model's joints in `roles` of `retarget`";
        FormatError::one(Diagnostic::error(file, error.to_string()).with_hint(hint))
    };
    let target_roles = Roles::infer(skeleton);
    // The clips already are for the model's face.
    let theirs = theirs.with_morphs(skeleton.morphs().clone());
    let map = match_bodies(&theirs, &source_roles, skeleton, &target_roles).map_err(fail)?;
    let made = clips.iter().map(|clip| {
        let raw = retarget_frames(&map, clip, limits).map_err(fail)?;
        raw.build().map_err(|error| fail(error.into()))
    });
    let value = ClipFile::ByName(made.collect::<Result<_, _>>()?);
    Ok(Parsed { value, warnings })
}

/// Matches a body in a T pose with the model's, which is in one if its file says what its joints are.
pub(super) fn match_bodies<'a>(
    source: &'a Skeleton,
    source_roles: &Roles,
    target: &'a Skeleton,
    target_roles: &Roles,
) -> Result<Retarget<'a>, RetargetError> {
    let new = match target.roles() {
        [] => Retarget::new,
        _ => Retarget::of_t_poses,
    };
    new(source, source_roles, target, target_roles)
}

/// Replaces weights of expressions with those of the morph targets that show them.
///
/// # Errors
/// A clip would be too large.
pub(super) fn shown_by(
    file: &str,
    clips: Vec<SkeletalClip>,
    morphs: &Morphs,
    limits: &ImportLimits,
    warnings: &mut Vec<Diagnostic>,
) -> Result<Vec<SkeletalClip>, FormatError> {
    let names = clips.iter().flat_map(|clip| clip.morphs().iter().cloned());
    let names: BTreeSet<_> = names.collect();
    let names: Vec<&str> = names.iter().map(|name| &**name).collect();
    let known = morphs.expressions(&names);
    let unknown = names.iter().zip(known).filter(|(_, known)| known.is_none());
    let unknown: Vec<&str> = unknown.map(|(name, _)| *name).collect();
    if !unknown.is_empty() {
        let message = format!(
            "expressions of the clips that the model lacks are left out: {}",
            listed(unknown)
        );
        warnings.push(Diagnostic::warning(file, message));
    }
    let show = |clip: SkeletalClip| {
        if !clip.animates_morphs() {
            return Ok(clip);
        }
        let frames = clip.morph_frames();
        let count = frames.weights.len() / frames.names.len().max(1);
        let bytes = count.saturating_mul(morphs.len()).saturating_mul(4);
        limits.check_clip_bytes(file, &clip.timing.name, bytes as u64)?;
        let most = usize::try_from(limits.clip_bytes / 4).unwrap_or(usize::MAX);
        let frames = morphs.of_expressions(&frames, clip.timing.duration, most);
        let shown = clip.with_morphs(&frames);
        shown.map_err(|error| FormatError::one(Diagnostic::error(file, error.to_string())))
    };
    clips.into_iter().map(show).collect()
}
