//! The edits that a manifest makes to the frames of clips.

use super::{
    ClipEntry, Manifest,
    names::listed,
    root_motion::{Channels, put_in_place, root_joint, steady_path},
};
use crate::{
    format::{Diagnostic, FormatError},
    model::{ClipError, JointIndex, SkeletalClip, Skeleton},
    spelling::did_you_mean,
};
use std::collections::HashMap;

/// Edits the clips of one character.
pub(super) struct Edits<'a> {
    manifest: &'a Manifest,
    /// The joint whose movement is that of the character.
    root: JointIndex,
    /// Whole clips put in place so far, so that clips that share their frames still do so afterwards. Each
    /// comes with the original clip, which keeps the key valid.
    done: HashMap<(usize, Channels), [SkeletalClip; 2]>,
}

impl<'a> Edits<'a> {
    /// # Errors
    /// The skeleton lacks the joint that the manifest names.
    pub(super) fn new(
        file: &str,
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
            return Err(FormatError::one(error.with_hint(hint)));
        }
        Ok(Self {
            manifest,
            root: root_joint(manifest, skeleton),
            done: HashMap::new(),
        })
    }

    /// Returns the part of a clip between two times, with everything that an entry says about its frames.
    ///
    /// # Errors
    /// The frames hold numbers that are not finite.
    pub(super) fn run(
        &mut self,
        entry: &ClipEntry,
        part: Option<(f64, f64)>,
        clip: SkeletalClip,
        skeleton: &Skeleton,
    ) -> Result<SkeletalClip, ClipError> {
        let additive = entry.additive.unwrap_or(clip.additive);
        let subtracts = additive && !clip.additive;
        // Differences have no path of their own.
        let channels = Channels::of(self.manifest, entry).filter(|_| !additive);
        // Parts are rarely the same.
        let whole = channels.filter(|_| part.is_none());
        let key = whole.map(|channels| (clip.frames_key(), channels));
        let mut edited = clip.clone();
        if let Some([done, _]) = key.and_then(|key| self.done.get(&key)) {
            // Clips that share frames may differ in their timing.
            edited = done.clone();
            edited.timing = clip.timing;
        } else if part.is_some() || subtracts || channels.is_some() {
            let mut raw = clip.to_raw();
            if let Some((from, to)) = part {
                raw.cut(from, to)?;
            }
            if subtracts {
                raw.subtract_first()?;
            }
            let root = usize::from(self.root);
            let moves = channels.is_some_and(|c| put_in_place(&mut raw, root, c, skeleton));
            if part.is_some() || subtracts || moves {
                edited = raw.build()?;
            }
            if let Some(key) = key {
                self.done.insert(key, [edited.clone(), clip]);
            }
        }
        edited.additive = additive;
        if let Some(speed) = entry.ground_speed.filter(|_| !additive) {
            edited.set_root_path(steady_path(&edited, speed));
        }
        Ok(edited)
    }
}
