//! The last steps of every importer: joints and parts → a model, and a model with its clips → the result of the import.

use super::{clip::FileClips, parts::Finished};
#[cfg(any(feature = "fbx", feature = "gltf"))]
use crate::import::nodes::bind::Binder;
use crate::{
    format::FormatError,
    import::{
        EmbeddedManifest, Images, ImportReport, ImportSettings, Imported, control,
        names::{FIRST_ANSWERS, duplicates},
        report::Report,
    },
    model::{Model, Reach, Skeleton},
};

/// A model without clips, and what its clips are sampled by.
pub(in crate::import) struct Bare {
    pub(in crate::import) model: Model,
    pub(in crate::import) reach: Reach,
    figures: ImportReport,
}

impl Bare {
    /// Makes a model of a file's joints and parts. Warnings about names say that they are of `nodes`.
    pub(in crate::import) fn new(
        nodes: &str,
        skeleton: Skeleton,
        Finished {
            parts,
            materials,
            mut figures,
        }: Finished,
        settings: &ImportSettings,
        report: &mut Report,
    ) -> Result<Self, FormatError> {
        let reach = Reach::new(&skeleton).map_err(|error| report.error("", error, ""))?;
        let twice = duplicates(skeleton.names());
        report.warn_of(nodes, "several joints share a name", twice, FIRST_ANSWERS);
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

    /// Makes a model of a file's nodes, of which some must be joints. `complete` adds to the skeleton what the file says of it.
    #[cfg(any(feature = "fbx", feature = "gltf"))]
    pub(in crate::import) fn of_nodes(
        nodes: &str,
        binder: Binder,
        complete: impl FnOnce(Skeleton) -> Skeleton,
        finished: Finished,
        settings: &ImportSettings,
        report: &mut Report,
    ) -> Result<Self, FormatError> {
        let skeleton = binder.finish();
        let skeleton = skeleton.map_err(|error| report.error("", error.to_string(), ""))?;
        if skeleton.is_empty() {
            let hint = "export a character: a mesh, with its armature and animations";
            let message = "the scene contains no mesh and no animation";
            return Err(report.error("", message, hint));
        }
        Self::new(nodes, complete(skeleton), finished, settings, report)
    }

    /// Adds the clips, which are all that the file holds besides.
    pub(in crate::import) fn finish(
        mut self,
        clips: FileClips,
        images: Images,
        mut embedded: EmbeddedManifest,
        report: Report,
    ) -> Imported {
        self.model.clips = clips.list;
        embedded.clips = clips.entries;
        Imported {
            model: self.model,
            warnings: report.finish(),
            report: self.figures,
            reach: self.reach,
            images,
            embedded,
            keyed: clips.keyed,
            avatar: None,
            clips_are_for_any: false,
        }
    }
}
