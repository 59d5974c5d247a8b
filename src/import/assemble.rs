//! Builds one finished model from a manifest and the files that it names.

use super::{
    ClipEntry, FileKind, ImportSettings, Imported, Limits, Manifest, OnImages,
    check_names::{check_blend_spaces, check_joints, check_states},
    check_sides::check_sides,
    control,
    donors::Donors,
    find_clip::{Opened, find_clip, original_of, unread},
    limits::ClipTotals,
    merge::merge_parts,
    names::{FIRST_ANSWERS, duplicates, listed},
    open::{no_model, open_file},
    root_motion::{RootMotion, steady_path},
    speech::speech,
};
use crate::{
    format::{Diagnostic, FormatError},
    model::{CallbackKey, ClipError, Model, SkeletalClip, Skeleton},
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
/// # use bevy_marionette::import::{Limits, Manifest, open_manifest};
/// # use std::{fs, path::Path};
/// # fn f() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = Path::new("assets/scout");
/// let name = "scout.character.ron";
/// let manifest = Manifest::parse(name, &fs::read(folder.join(name))?)?;
/// let read = |file: &str| match fs::read(folder.join(file)) {
///     Ok(bytes) => Ok(bytes.into()),
///     Err(error) => Err(error.to_string()),
/// };
/// let scout = open_manifest(name, &manifest, &Limits::default(), read)?.model;
/// # Ok(())
/// # }
/// ```
pub fn open_manifest<'s>(
    file: &str,
    manifest: &Manifest,
    limits: &Limits,
    read: impl FnMut(&str) -> Result<Cow<'s, [u8]>, String>,
) -> Result<Imported, FormatError> {
    open_manifest_and_tell(file, manifest, limits, read, &mut |_, _| ())
}

/// Does the same as [`open_manifest`], and tells `on_images` of the materials and images in the model's file as soon as they are
/// known.
pub(crate) fn open_manifest_and_tell<'s>(
    file: &str,
    manifest: &Manifest,
    limits: &Limits,
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
        return Err(FormatError::one(no_model(file, &manifest.model)));
    }
    let source = read(&manifest.model).map_err(|reason| {
        let what = format!("the model `{}`", manifest.model);
        unread(file, &what, &reason)
    })?;
    let mut imported = open_file(
        &manifest.model,
        &source,
        &settings,
        &mut read,
        None,
        on_images,
    )?;
    // The largest files are read next; this one is no longer needed.
    drop(source);
    let manifest = &*manifest.with_embedded(&imported.embedded.clone());
    // Names first: everything else in a manifest refers to the new ones.
    rename_joints(file, manifest, &mut imported);
    control::flag(file, &manifest.control_joints, &settings, &mut imported);
    pair_sides(file, manifest, &mut imported);
    merge_parts(file, manifest, &settings, &mut imported);
    let mut root_motion = RootMotion::new(file, manifest, &imported.model.skeleton)?;
    let (mut opened, mut donors) = (Opened::default(), Donors::default());
    // Several entries may refer to the same clip of the model, as it is in the file.
    let own_clips = imported.model.clips.clone();
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
                speech(file, name, visemes, &model.skeleton, limits, warnings)
            }
            (None, Some(retarget)) => donors.clip(
                file,
                name,
                entry,
                retarget,
                &mut imported,
                &settings,
                &mut read,
            ),
            (None, None) => find_clip(
                file,
                name,
                entry,
                &own_clips,
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
        let own = found
            .as_ref()
            .ok()
            .filter(|_| entry.file.is_none())
            .map(|clip| clip.timing.name.clone());
        // First the range of the file, then everything that is said of that range.
        let admitted = found.and_then(|clip| {
            let clip = cut(file, name, entry, clip, warnings)?;
            let clip = refine(file, name, entry, clip, &model.skeleton, warnings)?;
            let clip = root_motion
                .take_out(manifest, entry, clip, &model.skeleton)
                .map_err(|error| FormatError::one(Diagnostic::error(file, error.to_string())))?;
            reach
                .admit(&model.skeleton, &clip)
                .map_err(|error| FormatError::one(Diagnostic::error(file, error)))?;
            Ok(clip)
        });
        match admitted {
            Ok(clip) => {
                replaced.extend(
                    [Some(Arc::clone(&clip.timing.name)), own]
                        .into_iter()
                        .flatten(),
                );
                totals.add(&clip);
                made.push(clip);
                // After each clip, so that a manifest can't take much more than the limits before it is
                // refused.
                limits.check_totals(file, &totals)?;
            }
            Err(error) => warnings.extend(left_out(name, error)),
        }
    }
    let clips = &mut imported.model.clips;
    // An entry replaces the model's clip of its name, and the clip that it was made from.
    clips.retain(|clip| !replaced.contains(&clip.timing.name));
    clips.append(&mut made);
    // Clips without an entry have root motion, too, if the character has it.
    root_motion.take_out_of_others(manifest, &mut imported.model, &mut imported.reach);
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

/// Returns the errors of a clip, as warnings that it is left out.
fn left_out(name: &str, error: FormatError) -> impl Iterator<Item = Diagnostic> {
    // A broken clip shouldn't take the whole character with it.
    error.diagnostics.into_iter().map(move |mut diagnostic| {
        diagnostic.severity = crate::format::Severity::Warning;
        let context = format!("clip `{name}` is left out");
        diagnostic.context = if diagnostic.context.is_empty() {
            context
        } else {
            format!("{}; {context}", diagnostic.context)
        };
        diagnostic
    })
}

/// Adds mirror images. Runs when all other clips are complete, because an image mirrors its
/// original as that is played.
fn add_mirrored(
    file: &str,
    manifest: &Manifest,
    limits: &Limits,
    totals: &mut ClipTotals,
    imported: &mut Imported,
) -> Result<(), FormatError> {
    let images = manifest
        .clips
        .iter()
        .filter_map(|(name, entry)| Some((name, entry, entry.mirror.as_deref()?)));
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
            let mut clip = refine(file, name, entry, clip, &model.skeleton, warnings)?;
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
                limits.check_totals(file, totals)?;
                made.push(clip);
            }
            Err(error) => warnings.extend(left_out(name, error)),
        }
    }
    imported
        .warnings
        .extend(check_sides(file, &imported.model.skeleton, |joint| {
            moves[joint]
        }));
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
                imported.warnings.push(warning);
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
        imported.warnings.push(Diagnostic::warning(file, message));
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
        imported
            .warnings
            .push(Diagnostic::warning(file, message).with_hint(FIRST_ANSWERS));
    }
    // Clips count as bound only if they have the skeleton's own names.
    for clip in &mut imported.model.clips {
        clip.rename_joints(renamed.names().clone());
    }
    imported.model.skeleton = renamed;
}

/// Cuts out the part of a clip that its entry asks for.
fn cut(
    file: &str,
    name: &str,
    entry: &ClipEntry,
    clip: SkeletalClip,
    warnings: &mut Vec<Diagnostic>,
) -> Result<SkeletalClip, FormatError> {
    let error = |message: String, hint: &str| {
        FormatError::one(Diagnostic::error(file, message).with_hint(hint))
    };
    let (from, to) = match (entry.frames, entry.seconds, frame_rate(entry, &clip)) {
        (None, None, _) => return Ok(clip),
        (None, Some(seconds), _) => seconds,
        (Some((from, to)), _, Some(rate)) => (from / rate, to / rate),
        (Some(_), _, None) => {
            let message = format!("clip `{name}` is a range of frames, but has no frame rate");
            let hint = "add `frame_rate: 30` to the clip, or give `seconds` in place of `frames`";
            return Err(error(message, hint));
        }
    };
    let end = clip.timing.duration;
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
        warnings.push(Diagnostic::warning(file, message));
    }
    clip.cut(from, to.min(end))
        .map_err(|reason| error(reason.to_string(), ""))
}

/// Returns the frame rate for the frames in an entry; the clip's own only if its frames are evenly
/// spaced.
fn frame_rate(entry: &ClipEntry, clip: &SkeletalClip) -> Option<f64> {
    // Frames at individual times have no numbers that an artist could mean.
    let own = Some(clip.frame_rate()).filter(|rate| clip.frame_times().is_none() && *rate > 0.0);
    entry.frame_rate.or(own)
}

/// Gives a clip the name, playback, kind and callbacks of its entry.
fn refine(
    file: &str,
    name: &str,
    entry: &ClipEntry,
    mut clip: SkeletalClip,
    skeleton: &Skeleton,
    warnings: &mut Vec<Diagnostic>,
) -> Result<SkeletalClip, FormatError> {
    clip.timing.name = name.into();
    if let Some(playback) = entry.playback {
        clip.timing.playback = playback;
    }
    match entry.additive {
        Some(true) if !clip.additive => {
            let too_far =
                |error: ClipError| FormatError::one(Diagnostic::error(file, error.to_string()));
            clip = clip.to_additive(skeleton).map_err(too_far)?;
        }
        Some(additive) => clip.additive = additive,
        None => {}
    }
    let rate = frame_rate(entry, &clip);
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
        warnings.push(Diagnostic::warning(file, message));
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
mod tests {
    use super::*;
    use crate::import::{CallbackEntry, ClipRootMotion, RootMotionEntry, open_model};
    use crate::messages::{assert_message, assert_messages};
    use crate::model::{ClipFrames, ClipTiming, PlaybackMode};
    use glam::Vec3;

    const MESH: &str = "MD5Version 10\ncommandline \"\"\nnumJoints 2\nnumMeshes 1\n\
        joints {\n\"root\" -1 ( 0 0 0 ) ( 0 0 0 )\n\"tip\" 0 ( 0 0 1 ) ( 0 0 0 )\n}\n\
        mesh {\nshader \"\"\nnumverts 3\nvert 0 ( 0 0 ) 0 1\nvert 1 ( 1 0 ) 1 1\nvert 2 ( 0 1 ) 2 1\n\
        numtris 1\ntri 0 0 1 2\n\
        numweights 3\nweight 0 0 1 ( 0 0 0 )\nweight 1 0 1 ( 1 0 0 )\nweight 2 1 1 ( 0 1 0 )\n}\n";

    const ANIM: &str = "MD5Version 10\ncommandline \"\"\nnumFrames 3\nnumJoints 2\nframeRate 24\n\
        numAnimatedComponents 1\nhierarchy {\n\"root\" -1 4 0\n\"tip\" 0 0 0\n}\n\
        baseframe {\n( 0 0 0 ) ( 0 0 0 )\n( 0 0 1 ) ( 0 0 0 )\n}\n\
        frame 0 {\n0\n}\nframe 1 {\n1\n}\nframe 2 {\n3\n}\n";

    fn open(
        manifest: &Manifest,
        limits: &Limits,
        anim: &str,
        reads: &mut usize,
    ) -> Result<Imported, FormatError> {
        open_manifest("a.character.ron", manifest, limits, |file| {
            *reads += 1;
            Ok(Cow::Owned(if file == "a.md5mesh" {
                MESH.into()
            } else {
                anim.as_bytes().to_vec()
            }))
        })
    }

    fn many_clips(count: usize, entry: &ClipEntry) -> Manifest {
        let clips = (0..count).map(|i| (format!("clip{i}"), entry.clone()));
        Manifest {
            clips: clips.collect(),
            ..Manifest::of_model("a.md5mesh")
        }
    }

    #[test]
    fn a_file_that_four_thousand_entries_name_is_parsed_once_and_its_clips_share_their_frames() {
        let entry = ClipEntry {
            file: Some("a.md5anim".into()),
            ..ClipEntry::default()
        };
        let (mut reads, limits) = (
            0,
            Limits {
                total_bytes: 4096,
                ..Limits::default()
            },
        );
        let manifest = many_clips(4000, &entry);
        let clips = open(&manifest, &limits, ANIM, &mut reads)
            .unwrap()
            .model
            .clips;
        assert_eq!((clips.len(), reads), (4000, 2));
        assert!(
            clips
                .iter()
                .all(|clip| clip.frames_key() == clips[0].frames_key())
        );
        let compressed = Manifest {
            clip_error: Some(0.01),
            ..manifest
        };
        let clips = open(&compressed, &limits, ANIM, &mut reads)
            .unwrap()
            .model
            .clips;
        assert!(
            clips
                .iter()
                .all(|clip| clip.frames_key() == clips[0].frames_key())
        );

        // Differences are frames of their own, and these are too many.
        let additive = many_clips(
            4000,
            &ClipEntry {
                additive: Some(true),
                ..entry
            },
        );
        let error = open(&additive, &limits, ANIM, &mut reads).unwrap_err();
        assert_message("manifest: limit of total_bytes", error);
    }

    #[test]
    fn keys_at_frames_are_placed_by_the_clips_frame_rate_or_by_the_one_that_is_given() {
        let keys = |frame_rate| {
            let frames = CallbackEntry {
                time: None,
                frames: Some((0.5, 1.0)),
                ..CallbackEntry::new(0.0, "range")
            };
            let frame = CallbackEntry {
                time: None,
                frame: Some(1.0),
                ..CallbackEntry::new(0.0, "key")
            };
            let callbacks = vec![frames, frame];
            ClipEntry {
                file: Some("a.md5anim".into()),
                callbacks,
                frame_rate,
                ..ClipEntry::default()
            }
        };
        let placed = |frame_rate: Option<f64>| {
            let manifest = many_clips(1, &keys(frame_rate));
            let clip = open(&manifest, &Limits::default(), ANIM, &mut 0)
                .unwrap()
                .model
                .clips
                .remove(0);
            let rate = frame_rate.unwrap_or(clip.frame_rate());
            let frame = |time: f64| (time * rate * 1e6).round() * 1e-6;
            let places = clip
                .timing
                .callbacks
                .iter()
                .map(|key| (frame(key.time), key.until.map(frame)));
            places.collect::<Vec<_>>()
        };
        assert_eq!(placed(None), [(0.5, Some(1.0)), (1.0, None)]);
        assert_eq!(placed(Some(2400.0)), [(0.5, Some(1.0)), (1.0, None)]);

        let skeleton = Skeleton::default();
        let still =
            SkeletalClip::new(ClipTiming::new("still", 1.0), &ClipFrames::default()).unwrap();
        let error = refine(
            "a.character.ron",
            "still",
            &keys(None),
            still.clone(),
            &skeleton,
            &mut Vec::new(),
        )
        .unwrap_err();
        assert_message("manifest: a key at a frame of a still clip", error);
        // A range that reaches past the end is cut there.
        let (entry, mut warnings) = (keys(Some(0.5)), Vec::new());
        let clip = refine(
            "a.character.ron",
            "still",
            &entry,
            still,
            &skeleton,
            &mut warnings,
        )
        .unwrap();
        assert_eq!(
            (
                clip.timing.callbacks[0].time,
                clip.timing.callbacks[0].until,
                warnings.len()
            ),
            (1.0, Some(1.0), 1)
        );
    }

    #[test]
    fn root_motion_is_taken_out_once_for_clips_that_share_their_frames() {
        // The root goes 3 m ahead in 1/12 s.
        let anim = ANIM.replace("-1 4 0", "-1 1 0");
        let entry = ClipEntry {
            file: Some("a.md5anim".into()),
            ..ClipEntry::default()
        };
        let on = Manifest {
            root_motion: Some(RootMotionEntry::default()),
            ..many_clips(3, &entry)
        };
        let mut own = on.clone();
        let off = ClipRootMotion {
            ground: Some(false),
            turn: Some(false),
            ..ClipRootMotion::default()
        };
        own.clips.get_mut("clip1").unwrap().root_motion = Some(off);
        own.clips.get_mut("clip2").unwrap().ground_speed = Some(-2.0);
        for clip_error in [None, Some(0.01)] {
            let own = Manifest {
                clip_error,
                ..own.clone()
            };
            let clips = open(&own, &Limits::default(), &anim, &mut 0)
                .unwrap()
                .model
                .clips;
            let ends = |clip: usize| {
                clips[clip]
                    .transform_at(0, clips[clip].frame_count() - 1)
                    .translation
            };
            assert!(
                ends(0).distance(Vec3::ZERO) < 1e-6 && ends(1).distance(Vec3::NEG_Z * 3.0) < 1e-3,
                "{}",
                ends(1)
            );
            assert_eq!(clips[0].frames_key(), clips[2].frames_key());
            let totals: Vec<_> = clips
                .iter()
                .map(|clip| clip.root_path().map(|path| path.total().translation()))
                .collect();
            let near = |a: Option<Vec3>, b: Vec3| a.is_some_and(|a| a.distance(b) < 1e-6);
            assert!(
                near(totals[0], Vec3::NEG_Z * 3.0) && near(totals[2], Vec3::Z / 6.0),
                "{totals:?}"
            );
            assert_eq!(totals[1], None);
        }
        let off = open(&many_clips(1, &entry), &Limits::default(), &anim, &mut 0)
            .unwrap()
            .model
            .clips;
        assert_eq!(off[0].root_path(), None);
    }

    #[test]
    fn a_mirror_image_has_what_its_original_has_on_the_other_side() {
        let anim = ANIM.replace("-1 4 0", "-1 1 0");
        let text = "(model: \"a.md5mesh\", root_motion: (), sides: [(\"root\", \"tip\"), (\"tip\", \"toe\")], clips: {
            \"a\": (mirror: \"left\", callbacks: [(time: 0, name: \"own\", data: \"left\")], playback: PingPong),
            \"fast\": (mirror: \"left\", ground_speed: 5),
            \"left\": (file: \"a.md5anim\", playback: Once, callbacks: [(time: 0.05, name: \"step\", data: \"left\")]),
            \"of none\": (mirror: \"lift\"),
            \"of a\": (mirror: \"a\"),
        })";
        let manifest = Manifest::parse("a", text.as_bytes()).unwrap();
        let imported = open(&manifest, &Limits::default(), &anim, &mut 0).unwrap();
        let clip = |name: &str| {
            imported
                .model
                .clips
                .iter()
                .find(|clip| &*clip.timing.name == name)
                .unwrap()
        };
        let (a, left) = (clip("a"), clip("left"));
        assert_eq!(
            (a.timing.playback, a.timing.duration),
            (PlaybackMode::PingPong, left.timing.duration)
        );
        let keys: Vec<String> = a
            .timing
            .callbacks
            .iter()
            .map(|k| format!("{} {}", k.name, ron::to_string(&k.data).unwrap()))
            .collect();
        assert_eq!(keys, ["own \"left\"", "step \"right\""]);
        // The joints are above each other, so the plane is level and the way ahead stays.
        assert!(
            a.root_path()
                .unwrap()
                .total()
                .translation()
                .distance(Vec3::NEG_Z * 3.0)
                < 1e-6
        );
        assert!((clip("fast").root_path().unwrap().ground_speed() - 5.0).abs() < 1e-6);
        assert_eq!(imported.model.clips.len(), 3);
        assert_messages("manifest: odd mirror images", &imported.warnings);
    }

    #[test]
    fn an_unknown_root_is_an_error_that_lists_the_joints() {
        let joint = |name: &str| {
            let entry = RootMotionEntry {
                joint: Some(name.into()),
                ..RootMotionEntry::default()
            };
            Manifest {
                root_motion: Some(entry),
                ..Manifest::of_model("a.md5mesh")
            }
        };
        assert!(open(&joint("tip"), &Limits::default(), ANIM, &mut 0).is_ok());
        for name in ["hips", "rot"] {
            let error = open(&joint(name), &Limits::default(), ANIM, &mut 0).unwrap_err();
            assert_message(&format!("manifest: root motion of the joint {name}"), error);
        }
    }

    #[test]
    fn a_negative_frame_rate_plays_the_frames_backward_at_that_speed() {
        let manifest = many_clips(
            1,
            &ClipEntry {
                file: Some("a.md5anim".into()),
                ..ClipEntry::default()
            },
        );
        let play = |anim: &str| {
            open(&manifest, &Limits::default(), anim, &mut 0)
                .unwrap()
                .model
                .clips
                .remove(0)
        };
        let (forward, backward) = (
            play(ANIM),
            play(&ANIM.replace("frameRate 24", "frameRate -12")),
        );
        assert_eq!(
            (forward.timing.duration, backward.timing.duration),
            (2.0 / 24.0, 2.0 / 12.0)
        );
        for frame in 0..3 {
            assert_eq!(
                backward.transform_at(0, frame),
                forward.transform_at(0, 2 - frame)
            );
        }
        assert_eq!(forward.transform_at(0, 2).translation, Vec3::Y * 3.0);
    }

    #[test]
    fn several_clips_are_cut_from_one() {
        let text = "(model: \"a.md5mesh\", clips: {
            \"start\": (file: \"a.md5anim\", frames: (0, 1)),
            \"middle\": (file: \"a.md5anim\", frames: (12, 24), frame_rate: 288),
            \"end\": (file: \"a.md5anim\", seconds: (0.0416666, 9), callbacks: [(frame: 1, name: \"step\")]),
            \"late\": (file: \"a.md5anim\", seconds: (1, 2)),
        })";
        let manifest = Manifest::parse("a", text.as_bytes()).unwrap();
        let imported = open(&manifest, &Limits::default(), ANIM, &mut 0).unwrap();
        let ends = |name: &str| {
            let clip = imported
                .model
                .clips
                .iter()
                .find(|clip| &*clip.timing.name == name);
            let clip = clip.unwrap();
            let last = clip.frame_count() - 1;
            [0, last].map(|frame| clip.transform_at(0, frame).translation.y)
        };
        assert_eq!([ends("start"), ends("middle")], [[0.0, 1.0], [1.0, 3.0]]);
        assert!((ends("end")[0] - 1.0).abs() < 1e-4 && ends("end")[1] == 3.0);
        assert_eq!(imported.model.clips.len(), 3);
        assert_messages("manifest: takes past the end of a clip", &imported.warnings);
        for range in [
            "frames: (2, 1)",
            "seconds: (-1, 1)",
            "frames: (0, 1), seconds: (0, 1)",
            "frames: (NaN, 1)",
        ] {
            let text = format!("(model: \"a\", clips: {{\"w\": (file: \"a.md5anim\", {range})}})");
            assert!(Manifest::parse("a", text.as_bytes()).is_err(), "{range}");
        }
    }

    #[test]
    fn joints_that_share_a_name_are_warned_about() {
        let manifest = Manifest {
            joint_names: vec!["a".into(), "a".into()],
            ..Manifest::of_model("a.md5mesh")
        };
        let imported = open(&manifest, &Limits::default(), ANIM, &mut 0).unwrap();
        assert_messages(
            "manifest: names that several joints share",
            &imported.warnings,
        );
        let many = Manifest {
            joint_names: ["a", "b", "c", "d", "e"].map(Into::into).into(),
            ..manifest
        };
        let imported = open(&many, &Limits::default(), ANIM, &mut 0).unwrap();
        assert_messages("manifest: more names than joints", &imported.warnings);
        let twice = MESH.replace("\"tip\"", "\"root\"");
        let warnings = open_model("a.md5mesh", twice.as_bytes(), &ImportSettings::default())
            .unwrap()
            .warnings;
        assert_messages("md5: joints that share a name", &warnings);
    }
}
