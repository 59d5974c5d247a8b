//! Finds the clip that an entry of a manifest refers to.

use super::{
    ClipEntry, ImportSettings, Imported, Manifest,
    donor::ClipFile,
    edits::Source,
    names::listed,
    open::{Read, clips_of_any, reason_and_hint},
};
use crate::{
    format::{Diagnostic, FormatError},
    model::SkeletalClip,
    spelling::did_you_mean,
};
use std::collections::{HashMap, hash_map::Entry};

/// Returns the error for a file that a manifest names and that cannot be read.
pub(super) fn unread(file: &str, what: &str, reason: &str) -> FormatError {
    let beside = "files are named relative to the manifest";
    let (reason, hint) = reason_and_hint(reason, beside);
    let error = Diagnostic::error(file, format!("cannot read {what}: {reason}"));
    FormatError::one(error.with_hint(hint))
}

/// Clips of the files opened so far. A name that marks differences makes another clip of an `.md5anim`.
pub(super) type Opened = HashMap<(String, bool, bool), ClipFile>;

/// Returns the clip that an entry refers to: one of the model's `own` or of a file, which is read
/// if it is not among those `opened`.
pub(super) fn find_clip<'o, 's>(
    file: &str,
    name: &str,
    entry: &ClipEntry,
    own: &'o ClipFile,
    imported: &mut Imported,
    settings: &ImportSettings,
    opened: &'o mut Opened,
    read: Read<'_, 's>,
) -> Result<Source<'o>, FormatError> {
    let (clips, whose) = match &entry.file {
        Some(path) => {
            let key = (
                path.clone(),
                name.to_ascii_lowercase().ends_with("_delta"),
                entry.as_is,
            );
            let clips = match opened.entry(key) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => {
                    let source =
                        read(path).map_err(|reason| unread(file, &format!("`{path}`"), &reason))?;
                    let settings = ImportSettings {
                        as_is: entry.as_is || settings.as_is,
                        ..*settings
                    };
                    let clips = clips_of_any(
                        path,
                        name,
                        &source,
                        &imported.model.skeleton,
                        &settings,
                        read,
                    )?;
                    imported.warnings.extend(clips.warnings);
                    new.insert(clips.value)
                }
            };
            (&*clips, path.as_str())
        }
        None => (own, "the model"),
    };
    let at = pick_clip(file, name, entry, clips.clips(), whose)?;
    Ok(Source::Clip(clips, at))
}

/// Returns the index of the clip of a file that an entry refers to.
pub(super) fn pick_clip(
    file: &str,
    name: &str,
    entry: &ClipEntry,
    clips: &[SkeletalClip],
    whose: &str,
) -> Result<usize, FormatError> {
    let wanted = entry.clip.as_deref().unwrap_or(name);
    // A file of one clip needs no name: exporters call them all `Take1`.
    let alone = clips.len() == 1 && entry.file.is_some() && entry.clip.is_none();
    // FBX puts the armature in front: `Armature|walk`.
    let short = |clip: &SkeletalClip| {
        clip.timing
            .name
            .rsplit_once('|')
            .is_some_and(|(_, name)| name == wanted)
    };
    let named = || clips.iter().position(|clip| &*clip.timing.name == wanted);
    let found = if alone {
        Some(0)
    } else {
        named().or_else(|| clips.iter().position(short))
    };
    found.ok_or_else(|| {
        let known = clips.iter().map(|clip| &*clip.timing.name);
        let has = if clips.is_empty() {
            "no clips".to_owned()
        } else {
            listed(known.clone())
        };
        let error = Diagnostic::error(
            file,
            format!("no clip `{wanted}` in {whose}, which has {has}"),
        );
        FormatError::one(match did_you_mean(wanted, known) {
            Some(hint) => error.with_hint(hint),
            None if entry.file.is_none() => {
                error.with_hint("for a clip of another file, add `file: \"walk.md5anim\"`")
            }
            None => error,
        })
    })
}

/// Returns the original of a mirrored clip.
pub(super) fn original_of<'c>(
    file: &str,
    name: &str,
    original: &str,
    manifest: &Manifest,
    clips: &'c [SkeletalClip],
) -> Result<&'c SkeletalClip, FormatError> {
    let fail = |message: String, hint: String| {
        Err(FormatError::one(
            Diagnostic::error(file, message).with_hint(hint),
        ))
    };
    // A clip that names itself is the image of the model's own clip of that name.
    let entry = manifest.clips.get(original).filter(|_| original != name);
    if let Some(beyond) = entry.and_then(|entry| entry.mirror.as_deref()) {
        return fail(
            format!("`{original}` is a mirror image itself"),
            format!("use `{beyond}`, or a mirror image of it"),
        );
    }
    let found = clips.iter().find(|clip| &*clip.timing.name == original);
    found.map_or_else(
        || {
            let known = clips.iter().map(|clip| &*clip.timing.name);
            let hint = did_you_mean(original, known.clone());
            let hint = hint.unwrap_or_else(|| format!("the character has {}", listed(known)));
            fail(format!("no clip `{original}` to mirror"), hint)
        },
        Ok,
    )
}
