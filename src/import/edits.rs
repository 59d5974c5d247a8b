//! The edits that a manifest makes to the frames of clips.

use super::{
    ClipEntry, Manifest,
    donor::ClipFile,
    names::listed,
    root_motion::{Channels, put_in_place, root_joint, steady_path},
};
use crate::{
    format::{Diagnostic, FormatError},
    model::{ClipError, JointIndex, RawClip, SkeletalClip, Skeleton},
    spelling::did_you_mean,
};
use std::collections::HashMap;

/// The frames that an entry refers to.
pub(super) enum Source<'a> {
    /// The clip of a file at an index.
    Clip(&'a ClipFile, usize),
    /// Frames that were made for the entry alone.
    Raw(Box<RawClip>),
}

/// Edits the clips of one character.
pub(super) struct Edits<'a> {
    file: &'a str,
    manifest: &'a Manifest,
    /// The joint whose movement is that of the character.
    root: JointIndex,
    /// Whole clips made so far, so that clips that share their frames still do so afterwards. Each
    /// comes with the original clip, which keeps the key valid.
    done: HashMap<(usize, Option<Channels>), [SkeletalClip; 2]>,
}

impl<'a> Edits<'a> {
    /// # Errors
    /// The skeleton lacks the joint that the manifest names.
    pub(super) fn new(
        file: &'a str,
        manifest: &'a Manifest,
        skeleton: &Skeleton,
    ) -> Result<Self, FormatError> {
        let named = manifest
            .root_motion
            .as_ref()
            .and_then(|entry| entry.joint.as_deref());
        if let Some(name) = named.filter(|name| skeleton.joint(name).is_none()) {
            let names = || skeleton.names().iter().map(|name| &**name);
            let message = format!(
                "`root_motion`: the model has no joint `{name}`; it has {}",
                listed(names().collect::<Vec<_>>())
            );
            let error = Diagnostic::error(file, message);
            let hint = did_you_mean(name, names())
                .unwrap_or_else(|| "name the joint that travels".to_owned());
            let error = manifest.place(&["root_motion", "joint"], error.with_hint(hint));
            return Err(FormatError::one(error));
        }
        Ok(Self {
            file,
            manifest,
            root: root_joint(manifest, skeleton),
            done: HashMap::new(),
        })
    }

    /// Makes the clip of an entry, which gets its name later: first the part that it asks for, then everything that it says about
    /// the frames of that part.
    ///
    /// # Errors
    /// There is no such part, or the frames hold numbers that are not finite.
    pub(super) fn run(
        &mut self,
        name: &str,
        entry: &ClipEntry,
        source: Source,
        skeleton: &Skeleton,
        warnings: &mut Vec<Diagnostic>,
    ) -> Result<SkeletalClip, FormatError> {
        let file = self.file;
        let failed =
            |error: ClipError| FormatError::one(Diagnostic::error(file, error.to_string()));
        let (clip, fitting, was_additive) = match &source {
            Source::Clip(clips, at) => {
                let clip = &clips.clips()[*at];
                (Some(clip), clips.fitting(*at, skeleton), clip.additive)
            }
            Source::Raw(raw) => (None, None, raw.additive),
        };
        let additive = entry.additive.unwrap_or(was_additive);
        let subtracts = additive && !was_additive;
        // Differences have no path of their own.
        let channels = Channels::of(self.manifest, entry).filter(|_| !additive);
        let is_whole = entry.frames.is_none() && entry.seconds.is_none();
        // Parts are rarely the same.
        let whole = clip.filter(|_| is_whole && !subtracts);
        let key = whole.map(|clip| (clip.frames_key(), channels));
        // Nothing is taken apart for nothing.
        let unchanged = fitting.filter(|_| is_whole && !subtracts);
        let mut edited = if let (Some(clip), None) = (unchanged, channels) {
            clip.clone()
        } else if let Some((clip, [done, _])) = whole.zip(key.and_then(|key| self.done.get(&key))) {
            // Clips that share frames may differ in their timing.
            let mut done = done.clone();
            done.timing = clip.timing.clone();
            done
        } else {
            let mut raw = match source {
                Source::Clip(clips, at) => clips.to_raw(at, skeleton),
                Source::Raw(raw) => *raw,
            };
            if !is_whole {
                let (from, to) = part(file, self.manifest, name, entry, &raw, warnings)?;
                raw.cut(from, to).map_err(failed)?;
            }
            if subtracts {
                raw.subtract_first();
            }
            let root = usize::from(self.root);
            let moves = channels.is_some_and(|c| put_in_place(&mut raw, root, c, skeleton));
            let edited = match unchanged.filter(|_| !moves) {
                Some(clip) => clip.clone(),
                None => raw.build().map_err(failed)?,
            };
            if let (Some(key), Some(clip)) = (key, whole) {
                self.done.insert(key, [edited.clone(), clip.clone()]);
            }
            edited
        };
        edited.additive = additive;
        if let Some(speed) = entry.ground_speed.filter(|_| !additive) {
            edited.set_root_path(steady_path(&edited, speed));
        }
        Ok(edited)
    }
}

/// Returns the times between which an entry asks for a part of a clip.
fn part(
    file: &str,
    manifest: &Manifest,
    name: &str,
    entry: &ClipEntry,
    clip: &RawClip,
    warnings: &mut Vec<Diagnostic>,
) -> Result<(f64, f64), FormatError> {
    let error = |message: String, hint: &str| {
        FormatError::one(Diagnostic::error(file, message).with_hint(hint))
    };
    let end = clip.timing.duration;
    let rate = entry.frame_rate.or(clip.rate);
    let (from, to) = match (entry.frames, rate) {
        (None, _) => entry.seconds.unwrap_or((0.0, f64::INFINITY)),
        (Some((from, to)), Some(rate)) => (from / rate, to / rate),
        (Some(_), None) => {
            let message = format!("clip `{name}` is a range of frames, but has no frame rate");
            let hint = "add `frame_rate: 30` to the clip, or give `seconds` in place of `frames`";
            return Err(error(message, hint));
        }
    };
    // A hundredth of a frame at 60 frames per second.
    const ROUNDED: f64 = 1.7e-4;
    if from >= end {
        let message = format!(
            "clip `{name}` starts at {from:.3} s, but `{}` ends at {end:.3} s",
            clip.timing.name
        );
        return Err(error(
            message,
            "check the range, and the frame rate it counts in",
        ));
    }
    if to > end + ROUNDED {
        let message = format!(
            "clip `{name}` should end at {to:.3} s, but `{}` is only {end:.3} s long; it ends there",
            clip.timing.name
        );
        let warning = Diagnostic::warning(file, message);
        manifest.warn(warnings, &["clips", name], warning);
    }
    Ok((from, to.min(end)))
}
