//! The last steps of importers of nodes: parts and joints → a model, and a model with its clips →
//! the result of the import.

use crate::{
    format::FormatError,
    import::{
        EmbeddedManifest, ImportReport, ImportSettings, Imported, control,
        names::{FIRST_ANSWERS, duplicates, listed},
        report::Report,
    },
    model::{Material, Model, Reach, SkeletalClip, Skeleton, SkinPart},
};
use std::{collections::BTreeMap, sync::Arc};

/// Clips, and per clip and joint, which properties it has keys of; see [`Imported::keyed`].
pub(in crate::import) type KeyedClips = (Vec<SkeletalClip>, Vec<Vec<[bool; 3]>>);

/// A model without clips, and what its clips are sampled by.
pub(in crate::import) struct Bare {
    pub(in crate::import) model: Model,
    pub(in crate::import) reach: Reach,
    figures: ImportReport,
}

impl Bare {
    /// Makes a model of a file's joints and parts, of which there must be some. Warnings about names say that they are of `nodes`.
    pub(in crate::import) fn new(
        nodes: &str,
        skeleton: Skeleton,
        parts: Vec<SkinPart>,
        materials: Vec<Material>,
        settings: &ImportSettings,
        mut figures: ImportReport,
        report: &mut Report,
    ) -> Result<Self, FormatError> {
        if skeleton.is_empty() {
            let hint = "export a character: a mesh, with its armature and animations";
            let message = "the scene contains no mesh and no animation";
            return Err(report.error("", message, hint));
        }
        let reach = Reach::new(&skeleton).map_err(|error| report.error("", error, ""))?;
        let twice = duplicates(skeleton.names());
        if !twice.is_empty() {
            let message = format!("several joints share a name: {}", listed(twice));
            report.warn(nodes, message, FIRST_ANSWERS);
        }
        let mut model = Model {
            skeleton,
            parts,
            materials,
            ..Model::default()
        };
        report.extend(control::take_off_skin(
            report.file,
            &mut model,
            settings,
            &mut figures,
        ));
        Ok(Self {
            model,
            reach,
            figures,
        })
    }

    /// Adds the clips, which are all that the file holds besides.
    pub(in crate::import) fn finish(
        mut self,
        (clips, keyed): KeyedClips,
        images: BTreeMap<String, Arc<[u8]>>,
        report: Report,
    ) -> Imported {
        self.model.clips = clips;
        Imported {
            model: self.model,
            warnings: report.finish(),
            report: self.figures,
            reach: self.reach,
            images,
            embedded: EmbeddedManifest::default(),
            keyed,
            avatar: None,
            clips_are_for_any: false,
        }
    }
}
