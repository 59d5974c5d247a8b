//! Builds one finished model from a manifest and the files that it names.

use super::{
    ClipEntry, FileKind, ImportLimits, ImportSettings, Imported, Manifest, OnImages,
    check_names::{check_blend_spaces, check_joints, check_states},
    check_sides::check_sides,
    control,
    donor::ClipFile,
    donors::Donors,
    edits::{Edits, Source},
    find_clip::{Opened, find_clip, original_of, unread},
    limits::ClipTotals,
    merge::merge_parts,
    names::{FIRST_ANSWERS, duplicates, listed},
    open::{no_model, open_file},
    root_motion::steady_path,
    speech::speech,
    wanted::Wanted,
};
use crate::{
    format::{Diagnostic, FormatError},
    model::{CallbackKey, Model, SkeletalClip},
    plural::counted,
    pose::Compress,
};
use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    sync::Arc,
};

/// Builds the model that a manifest describes. `read` returns the contents of a file named relative to the manifest, or the
/// reason why it can't, with what to do about it in a second line.
///
/// Where the manifest says nothing, the model's file may.
///
/// A clip that cannot be read or does not fit is left out with a warning. A file that several entries
/// name is read and parsed once, and their clips share its transforms.
///
/// # Errors
/// The model cannot be read, parsed or imported, or something exceeds `limits`.
///
/// ```no_run
/// # use bevy_marionette::import::{ImportLimits, Manifest, open_manifest};
/// # use std::{fs, path::Path};
/// # fn f() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = Path::new("assets/scout");
/// let name = "scout.character.ron";
/// let manifest = Manifest::parse(name, &fs::read(folder.join(name))?)?;
/// let read = |file: &str| match fs::read(folder.join(file)) {
///     Ok(bytes) => Ok(bytes.into()),
///     Err(error) => Err(error.to_string()),
/// };
/// let scout = open_manifest(name, &manifest, &ImportLimits::default(), read)?.model;
/// # Ok(())
/// # }
/// ```
pub fn open_manifest<'s>(
    file: &str,
    manifest: &Manifest,
    limits: &ImportLimits,
    read: impl FnMut(&str) -> Result<Cow<'s, [u8]>, String>,
) -> Result<Imported, FormatError> {
    open_manifest_and_tell(file, manifest, limits, read, &mut |_, _| ())
}

/// Does the same as [`open_manifest`], and tells `on_images` of the materials and images in the model's file as soon as they are
/// known.
pub(crate) fn open_manifest_and_tell<'s>(
    file: &str,
    manifest: &Manifest,
    limits: &ImportLimits,
    mut read: impl FnMut(&str) -> Result<Cow<'s, [u8]>, String>,
    on_images: OnImages,
) -> Result<Imported, FormatError> {
    let settings = ImportSettings {
        limits: *limits,
        ..manifest.settings()
    };
    // By the extension, before anything is read: the mistake is in the manifest.
    let kind = FileKind::of_name(&manifest.model);
    if !matches!(
        kind,
        Some(FileKind::M3d | FileKind::Md5Mesh | FileKind::Gltf | FileKind::Fbx)
    ) {
        let error = manifest.place(&["model"], no_model(file, &manifest.model));
        return Err(FormatError::one(error));
    }
    if manifest.scene.is_some() && kind != Some(FileKind::Gltf) {
        let error = Diagnostic::error(file, "`scene` is for models in glTF files");
        let error = error.with_hint("remove it from the manifest");
        return Err(FormatError::one(manifest.place(&["scene"], error)));
    }
    let source = read(&manifest.model).map_err(|reason| {
        let what = format!("the model `{}`", manifest.model);
        let mut error = unread(file, &what, &reason);
        (error.diagnostics.iter_mut()).for_each(|d| *d = manifest.place(&["model"], d.clone()));
        error
    })?;
    let mut imported = open_file(
        &manifest.model,
        &source,
        &settings,
        &mut read,
        Wanted {
            scene: manifest.scene.as_ref(),
            is_joint: None,
        },
        on_images,
    )?;
    // The largest files are read next; this one is no longer needed.
    drop(source);
    let manifest = &*manifest.with_embedded(&imported.embedded.clone());
    // Names first: everything else in a manifest refers to the new ones.
    rename_joints(file, manifest, &mut imported);
    control::flag(file, manifest, &settings, &mut imported);
    pair_sides(file, manifest, &mut imported);
    merge_parts(file, manifest, &settings, &mut imported);
    let mut edits = Edits::new(file, manifest, &imported.model.skeleton)?;
    let (mut opened, mut donors) = (Opened::default(), Donors::default());
    // Several entries may refer to the same clip of the model, as it is in the file.
    let own = ClipFile::ByName(imported.model.clips.clone());
    let (mut replaced, mut made) = (HashSet::new(), Vec::new());
    let mut totals = ClipTotals::default();
    imported
        .model
        .clips
        .iter()
        .for_each(|clip| totals.add(clip));
    // Mirror images come last, when their originals are complete.
    for (name, entry) in manifest
        .clips
        .iter()
        .filter(|(_, entry)| entry.mirror.is_none())
    {
        let found = match (&entry.speech, &entry.retarget) {
            (Some(visemes), _) => {
                let Imported {
                    model, warnings, ..
                } = &mut imported;
                let before = warnings.len();
                let made = speech(file, name, visemes, &model.skeleton, limits, warnings);
                (warnings[before..].iter_mut()).for_each(|warning| {
                    *warning = manifest.place(&["clips", name, "speech"], warning.clone());
                });
                made.map(|raw| Source::Raw(raw.into()))
            }
            (None, Some(retarget)) => donors
                .clip(
                    file,
                    manifest,
                    name,
                    entry,
                    retarget,
                    &mut imported,
                    &settings,
                    &mut read,
                )
                .map(|raw| Source::Raw(raw.into())),
            (None, None) => find_clip(
                file,
                name,
                entry,
                &own,
                &mut imported,
                &settings,
                &mut opened,
                &mut read,
            ),
        };
        let Imported {
            model,
            warnings,
            reach,
            ..
        } = &mut imported;
        // A clip of the model that an entry refers to is replaced by the entry.
        let original = match &found {
            Ok(Source::Clip(clips, at)) if entry.file.is_none() => {
                Some(clips.clips()[*at].timing.name.clone())
            }
            _ => None,
        };
        let admitted = found.and_then(|source| {
            let clip = edits.run(name, entry, source, &model.skeleton, warnings)?;
            let clip = refine(file, manifest, name, entry, clip, warnings)?;
            limits.check_clip(entry.file.as_deref().unwrap_or(file), &clip)?;
            let admitted = reach.admit(&model.skeleton, &clip);
            admitted.map_err(|error| FormatError::one(Diagnostic::error(file, error)))?;
            Ok(clip)
        });
        match admitted {
            Ok(clip) => {
                replaced.extend(
                    [Some(Arc::clone(&clip.timing.name)), original]
                        .into_iter()
                        .flatten(),
                );
                totals.add(&clip);
                made.push(clip);
                // After each clip, so that a manifest can't take much more than the limits before it is
                // refused.
                check_totals(file, manifest, name, limits, &totals)?;
            }
            Err(error) => warnings.extend(left_out(file, manifest, name, error)),
        }
    }
    let Imported {
        model,
        reach,
        warnings,
        ..
    } = &mut imported;
    // An entry replaces the model's clip of its name, and the clip that it was made from.
    let kept = own.clips().iter().enumerate();
    let kept = kept.filter(|(_, clip)| !replaced.contains(&clip.timing.name));
    let others = kept.map(|(at, clip)| {
        let (name, entry) = (&clip.timing.name, ClipEntry::default());
        let source = Source::Clip(&own, at);
        // Clips without an entry have root motion, too, if the character has it. One that stays as it is was admitted when its
        // file was imported, and one that can't be put in place stays so, too.
        if !manifest.clips.contains_key(&**name)
            && let Ok(edited) = edits.run(name, &entry, source, &model.skeleton, warnings)
            && edited.frames_key() != clip.frames_key()
            && reach.admit(&model.skeleton, &edited).is_ok()
        {
            return edited;
        }
        clip.clone()
    });
    let clips = others.chain(made).collect();
    model.clips = clips;
    add_mirrored(file, manifest, limits, &mut totals, &mut imported)?;
    check_joints(file, manifest, &mut imported);
    check_blend_spaces(file, manifest, &mut imported);
    check_states(file, manifest, &mut imported);
    // Last, so that whatever looks at transforms before sees the exact ones.
    if let Some(error) = manifest.clip_error {
        compress(&mut imported.model, error);
    }
    Ok(imported)
}

/// Rejects more clips than the limits allow, at the entry of the one that was made last.
fn check_totals(
    file: &str,
    manifest: &Manifest,
    name: &str,
    limits: &ImportLimits,
    totals: &ClipTotals,
) -> Result<(), FormatError> {
    limits.check_totals(file, totals).map_err(|mut error| {
        let place = |report: Diagnostic| manifest.place(&["clips", name], report);
        (error.diagnostics.iter_mut()).for_each(|d| *d = place(d.clone()));
        error
    })
}

/// Returns the errors of a clip, as warnings that it is left out.
fn left_out(
    file: &str,
    manifest: &Manifest,
    name: &str,
    error: FormatError,
) -> impl Iterator<Item = Diagnostic> {
    // A broken clip shouldn't take the whole character with it.
    error.diagnostics.into_iter().map(move |mut diagnostic| {
        diagnostic.severity = crate::format::Severity::Warning;
        let context = format!("clip `{name}` is left out");
        diagnostic.context = if diagnostic.context.is_empty() {
            context
        } else {
            format!("{}; {context}", diagnostic.context)
        };
        // Others are about the clip's file.
        if diagnostic.line == 0 && *diagnostic.file == *file {
            diagnostic = manifest.place(&["clips", name], diagnostic);
        }
        diagnostic
    })
}

/// Adds mirror images. Runs when all other clips are complete, because an image mirrors its
/// original as that is played.
fn add_mirrored(
    file: &str,
    manifest: &Manifest,
    limits: &ImportLimits,
    totals: &mut ClipTotals,
    imported: &mut Imported,
) -> Result<(), FormatError> {
    let mut images = manifest
        .clips
        .iter()
        .filter_map(|(name, entry)| Some((name, entry, entry.mirror.as_deref()?)))
        .peekable();
    if images.peek().is_none() {
        return Ok(());
    }
    let mut made = Vec::new();
    // Only joints that a mirrored clip moves need a counterpart.
    let mut moves = vec![false; imported.model.skeleton.len()];
    for (name, entry, original) in images {
        let Imported {
            model,
            warnings,
            reach,
            ..
        } = &mut *imported;
        let found = original_of(file, name, original, manifest, &model.clips);
        let mirrored = found.and_then(|clip| {
            moves
                .iter_mut()
                .enumerate()
                .for_each(|(joint, moves)| *moves |= clip.animates(joint));
            let failed = |error: String| FormatError::one(Diagnostic::error(file, error));
            let clip = clip
                .mirrored(&model.skeleton)
                .map_err(|error| failed(error.to_string()))?;
            let mut clip = refine(file, manifest, name, entry, clip, warnings)?;
            // A speed that the entry gives replaces the mirrored path.
            if let Some(speed) = entry.ground_speed {
                clip.set_root_path(steady_path(&clip, speed));
            }
            reach.admit(&model.skeleton, &clip).map_err(failed)?;
            Ok(clip)
        });
        match mirrored {
            Ok(clip) => {
                totals.add(&clip);
                check_totals(file, manifest, name, limits, totals)?;
                made.push(clip);
            }
            Err(error) => warnings.extend(left_out(file, manifest, name, error)),
        }
    }
    imported.warnings.extend(
        check_sides(file, &imported.model.skeleton, |joint| moves[joint])
            .map(|warning| manifest.place(&["sides"], warning)),
    );
    let clips = &mut imported.model.clips;
    clips.retain(|clip| {
        // An image may have the name of a clip of the model, which it replaces.
        made.iter()
            .all(|image| image.timing.name != clip.timing.name)
    });
    clips.extend(made);
    Ok(())
}

/// Pairs the joints of the skeleton that the manifest says are on opposite sides.
fn pair_sides(file: &str, manifest: &Manifest, imported: &mut Imported) {
    let skeleton = &imported.model.skeleton;
    let mut pairs = Vec::new();
    for (left, right) in &manifest.sides {
        match (skeleton.joint(left), skeleton.joint(right)) {
            (Some(left), Some(right)) => pairs.push((left, right)),
            (found, _) => {
                let missing = if found.is_none() { left } else { right };
                let mut warning = Diagnostic::warning(
                    file,
                    format!("`sides`: the model has no joint `{missing}`"),
                );
                if let Some(near) = skeleton.nearest_name(missing) {
                    warning = warning.with_hint(format!("did you mean `{near}`?"));
                }
                manifest.warn(&mut imported.warnings, &["sides", missing], warning);
            }
        }
    }
    if !pairs.is_empty() {
        imported.model.skeleton = skeleton.with_sides(pairs);
    }
}

/// Quantizes every clip. Clips that share their transforms are quantized once and still share them.
fn compress(model: &mut Model, error: f32) {
    let compress = Compress::new(&model.skeleton, &model.parts, error);
    let mut done: HashMap<usize, SkeletalClip> = HashMap::new();
    for clip in &mut model.clips {
        let mut small = done
            .entry(clip.frames_key())
            .or_insert_with(|| compress.run(clip))
            .clone();
        // Clips that share transforms still differ in timing and root path.
        small.timing = clip.timing.clone();
        small.set_root_path(clip.root_path().cloned());
        *clip = small;
    }
}

fn rename_joints(file: &str, manifest: &Manifest, imported: &mut Imported) {
    let skeleton = &imported.model.skeleton;
    if manifest.joint_names.is_empty() {
        return;
    }
    if manifest.joint_names.len() > skeleton.len() {
        let message = format!(
            "`joint_names` lists {}, but the model has {}",
            counted(manifest.joint_names.len(), "name"),
            counted(skeleton.len(), "joint")
        );
        let warning = manifest.place(&["joint_names"], Diagnostic::warning(file, message));
        imported.warnings.push(warning);
    }
    let renamed = skeleton.with_names(
        manifest
            .joint_names
            .iter()
            .map(|name| Arc::from(name.as_str())),
    );
    let twice = duplicates(renamed.names());
    if !twice.is_empty() {
        let message = format!(
            "`joint_names` gives several joints the same name: {}",
            listed(twice)
        );
        let warning = Diagnostic::warning(file, message).with_hint(FIRST_ANSWERS);
        manifest.warn(&mut imported.warnings, &["joint_names"], warning);
    }
    // Clips count as bound only if they have the skeleton's own names.
    for clip in &mut imported.model.clips {
        clip.rename_joints(renamed.names().clone());
    }
    imported.model.skeleton = renamed;
}

/// Gives a clip the name, playback and callbacks of its entry.
fn refine(
    file: &str,
    manifest: &Manifest,
    name: &str,
    entry: &ClipEntry,
    mut clip: SkeletalClip,
    warnings: &mut Vec<Diagnostic>,
) -> Result<SkeletalClip, FormatError> {
    clip.timing.name = name.into();
    if let Some(playback) = entry.playback {
        clip.timing.playback = playback;
    }
    let rate = entry.frame_rate.or(clip.frame_rate());
    let keys: Vec<_> = entry
        .callbacks
        .iter()
        .map(|key| (key, key.place(rate)))
        .collect();
    if let Some((key, _)) = keys.iter().find(|(_, place)| place.is_none()) {
        let message = format!(
            "callback `{}` of clip `{name}` is at a frame, but the clip has no frame rate",
            key.name
        );
        let hint = "add `frame_rate: 30` to the clip, or give the time in seconds";
        return Err(FormatError::one(
            Diagnostic::error(file, message).with_hint(hint),
        ));
    }
    let keys = || {
        keys.iter()
            .filter_map(|(key, place)| Some((key, (*place)?)))
    };
    let late = keys()
        // Times that were computed may exceed the end by a rounding.
        .filter(|(_, (time, until))| until.unwrap_or(*time) > clip.timing.duration * (1.0 + 1e-9))
        .count();
    if late > 0 {
        let message = format!(
            "{late} callback key{} of clip `{name}` lie{} past its end ({:.3} s); moved to the end",
            if late == 1 { "" } else { "s" },
            if late == 1 { "s" } else { "" },
            clip.timing.duration
        );
        let warning = Diagnostic::warning(file, message);
        manifest.warn(warnings, &["clips", name, "callbacks"], warning);
    }
    clip.timing
        .extend_callbacks(keys().map(|(key, (time, until))| CallbackKey {
            time,
            until,
            name: key.name.as_str().into(),
            data: key.data.clone().into(),
        }));
    Ok(clip)
}

#[cfg(test)]
#[path = "tests/assemble.rs"]
mod tests;
