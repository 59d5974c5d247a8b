//! Speech of a manifest: lists of visemes as clips.

use super::{ImportLimits, names::listed};
use crate::{
    format::{Diagnostic, FormatError},
    model::{RawClip, SkeletalClip, Skeleton, Viseme},
    spelling::did_you_mean,
};

/// Makes the frames of visemes: times, shapes and weights. Shapes that mean nothing to the model close the mouth, with a warning.
pub(super) fn speech(
    file: &str,
    name: &str,
    visemes: &[(f64, String, f32)],
    skeleton: &Skeleton,
    limits: &ImportLimits,
    warnings: &mut Vec<Diagnostic>,
) -> Result<RawClip, FormatError> {
    let morphs = skeleton.morphs();
    let failed = |message: String| FormatError::one(Diagnostic::error(file, message));
    if morphs.is_empty() {
        let message = format!("clip `{name}` is speech, and the model has no morph targets");
        let hint = "export the model with its shape keys, or leave the clip out";
        let error = Diagnostic::error(file, message).with_hint(hint);
        return Err(FormatError::one(error));
    }
    // Before that much is allocated: a short line of text becomes a weight of every target.
    let bytes = visemes.len().saturating_mul(morphs.rows() * 16);
    limits.check_clip_bytes(file, name, bytes as u64)?;
    let mut shapes: Vec<&str> = visemes.iter().map(|(_, shape, _)| &**shape).collect();
    shapes.sort_unstable();
    shapes.dedup();
    let known = morphs.expressions(&shapes);
    let unknown = shapes.iter().zip(known);
    let unknown: Vec<&str> = unknown
        .filter_map(|(shape, known)| known.is_none().then_some(*shape))
        .collect();
    if let [first, ..] = unknown[..] {
        let names = morphs.names().iter().map(|name| &**name);
        let message = format!(
            "clip `{name}`: the model has no shape {}; the mouth closes there",
            listed(unknown.iter().copied())
        );
        let warning = Diagnostic::warning(file, message);
        warnings.push(warning.with_any_hint(did_you_mean(first, names)));
    }
    let visemes: Vec<Viseme> = visemes
        .iter()
        .map(|(time, shape, weight)| Viseme::new(*time, shape.as_str(), *weight))
        .collect();
    let clip = SkeletalClip::from_visemes(name, &visemes, morphs)
        .map_err(|error| failed(error.to_string()))?;
    let mut raw = clip.to_raw();
    raw.bind(skeleton);
    Ok(raw)
}
