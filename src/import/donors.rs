//! Clips for other skeletons, as manifests name them, retargeted.

use super::{
    ClipEntry, FileKind, ImportSettings, Imported, Retarget, RetargetEntry,
    find_clip::{pick_clip, unread},
    open::{Read, clips_of_any, open_any},
    retarget::{retarget_frames, with_rest},
};
use crate::{
    format::{Diagnostic, FormatError},
    model::{RawClip, Roles, SkeletalClip, Skeleton},
};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The files opened so far. Several clips of a file share one.
#[derive(Default)]
pub(super) struct Donors {
    models: HashMap<String, (Skeleton, Vec<SkeletalClip>)>,
    /// Clips of a file for the skeleton of another.
    clips: HashMap<[String; 2], Vec<SkeletalClip>>,
    /// The warnings that were given.
    told: HashSet<String>,
}

impl Donors {
    /// Retargets the clip that an entry names.
    ///
    /// # Errors
    /// A file cannot be opened or has no such clip, roles are wrong or missing, or the clip is too large.
    pub(super) fn clip(
        &mut self,
        file: &str,
        name: &str,
        entry: &ClipEntry,
        retarget: &RetargetEntry,
        imported: &mut Imported,
        settings: &ImportSettings,
        read: Read,
    ) -> Result<RawClip, FormatError> {
        let fail = |message: String, hint: &str| {
            FormatError::one(Diagnostic::error(file, message).with_hint(hint))
        };
        let Some(path) = &entry.file else {
            return Err(fail(
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
                    format!("`{path}` has no rest pose to retarget from"),
                    hint,
                ));
            }
            None => path,
        };
        if !self.models.contains_key(whose) {
            let source =
                read(whose).map_err(|reason| unread(file, &format!("`{whose}`"), &reason))?;
            let opened = open_any(whose, &source, settings, read)?;
            imported.warnings.extend(opened.warnings);
            self.models
                .insert(whose.clone(), (opened.model.skeleton, opened.model.clips));
        }
        let (skeleton, own) = &self.models[whose];
        let key = [path.clone(), whose.clone()];
        if path != whose && !self.clips.contains_key(&key) {
            let source =
                read(path).map_err(|reason| unread(file, &format!("`{path}`"), &reason))?;
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
            Roles::with_table(skeleton, table)
                .map_err(|error| fail(format!("`{field}` of `retarget`: {error}"), ""))
        };
        let source_roles = roles(skeleton, &retarget.source_roles, "source_roles")?;
        let target_roles = roles(&model.skeleton, &retarget.roles, "roles")?;
        let error = |error: super::RetargetError| fail(error.to_string(), "");
        let rested = with_rest(skeleton, &source_roles, own, &model.skeleton, &target_roles);
        let skeleton = rested.as_ref().unwrap_or(skeleton);
        let map = Retarget::new(skeleton, &source_roles, &model.skeleton, &target_roles)
            .map_err(error)?;
        let raw = retarget_frames(&map, clip, &settings.limits).map_err(error)?;
        let warnings = map.warnings(path);
        // Once for all clips of a file.
        let new = warnings
            .into_iter()
            .filter(|warning| self.told.insert(warning.to_string()));
        let new: Vec<Diagnostic> = new.collect();
        imported
            .report
            .retargets
            .insert(name.to_owned(), map.report().clone());
        imported.warnings.extend(new);
        Ok(raw)
    }
}
