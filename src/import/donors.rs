//! Clips for other skeletons, as manifests name them, retargeted.

use super::{
    ClipEntry, FileKind, ImportSettings, Imported, Manifest, Retarget, RetargetEntry,
    RetargetError,
    by_role::{match_bodies, shown_by},
    find_clip::{pick_clip, unread},
    open::{Read, clips_of_any, open_any},
    retarget::{retarget_frames, with_rest},
};
use crate::{
    format::{Diagnostic, FormatError},
    model::{RawClip, RoleError, Roles, SkeletalClip, Skeleton},
};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The files opened so far. Several clips of a file share one.
#[derive(Default)]
pub(super) struct Donors {
    models: HashMap<String, Donor>,
    /// Clips of a file for the skeleton of another.
    clips: HashMap<[String; 2], Vec<SkeletalClip>>,
    /// The warnings that were given.
    told: HashSet<String>,
}

/// A file with clips.
struct Donor {
    skeleton: Skeleton,
    clips: Vec<SkeletalClip>,
    /// They are for any humanoid, which stands in a T pose.
    is_for_any: bool,
}

impl Donors {
    /// Retargets the clip that an entry names.
    ///
    /// # Errors
    /// A file cannot be opened or has no such clip, roles are wrong or missing, or the clip is too large.
    pub(super) fn clip(
        &mut self,
        file: &str,
        manifest: &Manifest,
        name: &str,
        entry: &ClipEntry,
        retarget: &RetargetEntry,
        imported: &mut Imported,
        settings: &ImportSettings,
        read: Read,
    ) -> Result<RawClip, FormatError> {
        let place = |field: &[&str], report: Diagnostic| {
            manifest.place(&[&["clips", name], field].concat(), report)
        };
        let fail = |field: &[&str], message: String, hint: &str| {
            FormatError::one(place(
                field,
                Diagnostic::error(file, message).with_hint(hint),
            ))
        };
        let unread = |field: &[&str], path: &str, reason: &str| {
            let mut error = unread(file, &format!("`{path}`"), reason);
            (error.diagnostics.iter_mut()).for_each(|d| *d = place(field, d.clone()));
            error
        };
        let Some(path) = &entry.file else {
            return Err(fail(
                &["retarget"],
                "`retarget` is for clips of another file".to_owned(),
                "name it in `file`",
            ));
        };
        let is_bare = FileKind::of_name(path) == Some(FileKind::Md5Anim);
        let whose = match &retarget.skeleton {
            Some(skeleton) => skeleton,
            None if is_bare => {
                let hint = "name the .md5mesh it was made for: `retarget: (skeleton: \"soldier.md5mesh\")`";
                return Err(fail(
                    &["retarget"],
                    format!("`{path}` has no rest pose to retarget from"),
                    hint,
                ));
            }
            None => path,
        };
        if !self.models.contains_key(whose) {
            let field: &[&str] = match &retarget.skeleton {
                Some(_) => &["retarget", "skeleton"],
                None => &["file"],
            };
            let source = read(whose).map_err(|reason| unread(field, whose, &reason))?;
            let opened = open_any(whose, &source, settings, read)?;
            imported.warnings.extend(opened.warnings);
            let (is_for_any, mut clips) = (opened.clips_are_for_any, opened.model.clips);
            if is_for_any {
                let (morphs, warnings) = (imported.model.skeleton.morphs(), &mut imported.warnings);
                clips = shown_by(whose, clips, morphs, &settings.limits, warnings)?;
            }
            let mut skeleton = opened.model.skeleton;
            if is_for_any {
                // The clips already are for the model's face.
                skeleton = skeleton.with_morphs(imported.model.skeleton.morphs().clone());
            }
            let donor = Donor {
                skeleton,
                clips,
                is_for_any,
            };
            self.models.insert(whose.clone(), donor);
        }
        let Donor {
            skeleton,
            clips: own,
            is_for_any,
        } = &self.models[whose];
        let key = [path.clone(), whose.clone()];
        if path != whose && !self.clips.contains_key(&key) {
            let source = read(path).map_err(|reason| unread(&["file"], path, &reason))?;
            let clips = clips_of_any(path, name, &source, skeleton, settings, read)?;
            imported.warnings.extend(clips.warnings);
            self.clips
                .insert(key.clone(), clips.value.build(path, skeleton)?);
        }
        let clips = self.clips.get(&key).unwrap_or(own);
        let clip = &clips[pick_clip(file, name, entry, clips, path)?];

        let model = &imported.model;
        let roles = |skeleton: &Skeleton, table: &BTreeMap<String, String>, field: &str| {
            let table = table
                .iter()
                .map(|(role, joint)| (role.as_str(), joint.as_str()));
            Roles::with_table(skeleton, table).map_err(|error| {
                let message = format!("`{field}` of `retarget`: {error}");
                match &error {
                    RoleError::UnknownRole { role, .. } => {
                        fail(&["retarget", field, role], message, "")
                    }
                    RoleError::UnknownJoint { role, joint, .. } => {
                        fail(&["retarget", field, role, joint], message, "")
                    }
                }
            })
        };
        let source_roles = roles(skeleton, &retarget.source_roles, "source_roles")?;
        let target_roles = roles(&model.skeleton, &retarget.roles, "roles")?;
        let error = |error: RetargetError| match &error {
            RetargetError::NoHips { field, .. } => {
                fail(&["retarget", field, "hips"], error.to_string(), "")
            }
            _ => fail(&[], error.to_string(), ""),
        };
        let rested = with_rest(skeleton, &source_roles, own, &model.skeleton, &target_roles);
        let skeleton = rested.as_ref().unwrap_or(skeleton);
        let (to, from_roles, to_roles) = (&model.skeleton, &source_roles, &target_roles);
        let map = match is_for_any {
            true => match_bodies(skeleton, from_roles, to, to_roles),
            false => Retarget::new(skeleton, from_roles, to, to_roles),
        };
        let map = map.map_err(error)?;
        let raw = retarget_frames(&map, clip, &settings.limits).map_err(error)?;
        let warnings = map.warnings(file, path).into_iter();
        // Once for all clips of a file.
        let new = warnings.filter(|warning| self.told.insert(warning.to_string()));
        let new = new.map(|warning| place(&["retarget"], warning));
        let new: Vec<Diagnostic> = new.collect();
        imported
            .report
            .retargets
            .insert(name.to_owned(), map.report().clone());
        imported.warnings.extend(new);
        Ok(raw)
    }
}
