//! Baked characters: files that are read, not imported.
//!
//! A baked file holds a finished character: what a manifest says, and the model that was built from it, as it is in memory.
//! Each type is written and read in one place, in [`stream`] and the files beside it. Whatever a model has that follows from the
//! rest is computed again, and everything else is checked, because a damaged file must do no more harm than one of any other
//! format.

mod clips;
mod materials;
mod skeleton;
mod skin;
mod stream;
mod texels;

pub use texels::Texels;

use super::{Images, ImportLimits, ImportReport, Imported, Manifest};
use crate::{
    format::{Diagnostic, FormatError},
    model::{Model, Reach},
};
use std::{collections::BTreeMap, ops::Range, sync::Arc};
use stream::{Damaged, Reader, Stored, write_text};

/// A finished character, as a baked file holds it.
///
/// Reading one takes a fraction of the time that importing takes, and gives exactly the same model. Bake characters when you
/// build a release of a game, and keep the sources: files of other versions of the format are not read.
///
/// ```no_run
/// # use bevy_marionette::import::{BakedCharacter, ImportLimits, Manifest, open_manifest};
/// # use std::{fs, path::Path};
/// # fn f() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = Path::new("assets/scout");
/// let name = "scout.character.ron";
/// let manifest = Manifest::parse(name, &fs::read(folder.join(name))?)?;
/// let read = |file: &str| match fs::read(folder.join(file)) {
///     Ok(bytes) => Ok(bytes.into()),
///     Err(error) => Err(error.to_string()),
/// };
/// let imported = open_manifest(name, &manifest, &ImportLimits::default(), read)?;
/// let baked = BakedCharacter::new(&manifest, imported);
/// fs::write(folder.join("scout.character.bin"), baked.to_bytes(name)?)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct BakedCharacter {
    /// What the manifest and the model's file say.
    pub manifest: Manifest,
    /// The model, with the clips of the manifest.
    pub model: Model,
    /// Images that the file contains, by the names by which its materials refer to them.
    pub images: BTreeMap<String, Arc<[u8]>>,
}

/// What a baked file begins with, before its version.
const MAGIC: &[u8; 16] = b"marionette baked";

impl BakedCharacter {
    /// The version of the format. It changes with anything that is stored, and with what that means.
    pub const VERSION: u32 = 1;

    /// Takes over what [`open_manifest`](super::open_manifest) has made of a manifest.
    pub fn new(manifest: &Manifest, imported: Imported) -> Self {
        Self {
            manifest: manifest.with_embedded(&imported.embedded).into_owned(),
            model: imported.model,
            images: imported.images,
        }
    }

    /// Returns the manifest, and the model as if it was imported.
    #[doc(hidden)]
    pub fn into_imported(self) -> (Manifest, Imported) {
        let parts = &self.model.parts;
        let report = ImportReport {
            vertices: parts.iter().map(|part| part.positions.len()).sum(),
            triangles: parts.iter().map(|part| part.triangles.len()).sum(),
            combined_joints: parts.iter().map(|part| part.combined_joints.len()).sum(),
            right_handed: true,
            ..ImportReport::default()
        };
        let imported = Imported {
            model: self.model,
            images: self.images,
            report,
            ..Imported::default()
        };
        (self.manifest, imported)
    }

    /// Returns `true` if a file is a baked one, of whichever version.
    pub fn is_baked(source: &[u8]) -> bool {
        source.starts_with(MAGIC)
    }

    /// Returns the contents of the baked file. `file` is its name in error messages.
    ///
    /// # Errors
    /// The character would be refused when it is read again: such as a model made in code with an index that is out of range, or
    /// clips that aren't [bound](crate::model::SkeletalClip::bind) to its skeleton.
    pub fn to_bytes(&self, file: &str) -> Result<Vec<u8>, FormatError> {
        let skeleton = &self.model.skeleton;
        let strange = self
            .model
            .clips
            .iter()
            .find(|clip| !clip.is_whole_with(skeleton));
        if let Some(clip) = strange {
            let message = format!(
                "clip `{}` is not for the model's skeleton",
                clip.timing.name
            );
            let error = Diagnostic::error(file, message).with_hint("bind it to the skeleton");
            return Err(FormatError::one(error));
        }
        let bytes = self.write(file)?;
        // Now, rather than when the game loads it.
        let reason = match Self::read_parts(file, &bytes) {
            Ok((again, places)) => {
                let images = places.into_iter();
                let images = images
                    .map(|(name, place)| (name, bytes[place].into()))
                    .collect();
                if (Self { images, ..again }).write(file)? == bytes {
                    return Ok(bytes);
                }
                "it would not be the same when it is read again".to_owned()
            }
            Err(Damaged(what)) => what,
        };
        let error = Diagnostic::error(file, format!("this character cannot be baked: {reason}"));
        let hint = "correct what made the model; if it is a file's, please report this as a bug";
        Err(FormatError::one(error.with_hint(hint)))
    }

    fn write(&self, file: &str) -> Result<Vec<u8>, FormatError> {
        let manifest = self.manifest.to_ron().map_err(|error| {
            let error = Diagnostic::error(file, format!("the manifest cannot be written: {error}"));
            FormatError::one(error)
        })?;
        let mut to = MAGIC.to_vec();
        Self::VERSION.write(&mut to);
        write_text(&manifest, &mut to);
        let Model {
            skeleton,
            parts,
            materials,
            clips,
        } = &self.model;
        skeleton.write(&mut to);
        materials.write(&mut to);
        parts.write(&mut to);
        clips::write(clips, &mut to);
        self.images.len().write(&mut to);
        for (name, image) in &self.images {
            write_text(name, &mut to);
            image.write(&mut to);
        }
        Ok(to)
    }

    /// Reads a baked file. `file` is its name in error messages.
    ///
    /// # Errors
    /// It is none, was baked by another version, is damaged, or holds more than `limits` allow.
    pub fn read(file: &str, source: &[u8], limits: &ImportLimits) -> Result<Self, FormatError> {
        let (mut baked, apart) = Self::read_apart(file, source, limits)?;
        for (name, place) in apart {
            baked.images.insert(name, source[place].into());
        }
        Ok(baked)
    }

    /// Does the same, except that the images that are decoded stay where they are in `source`, because they are large. Returns
    /// their places; in the character, they are empty.
    ///
    /// # Errors
    /// As for [`Self::read`].
    pub(crate) fn read_apart(
        file: &str,
        source: &[u8],
        limits: &ImportLimits,
    ) -> Result<(Self, Places), FormatError> {
        limits.check_size(file, source.len() as u64)?;
        let fail = |message: String, hint: &str| {
            FormatError::one(Diagnostic::error(file, message).with_hint(hint))
        };
        let version = source
            .strip_prefix(MAGIC)
            .and_then(<[u8]>::split_first_chunk);
        let Some((version, _)) = version else {
            let message = "this is not a baked character".to_owned();
            return Err(fail(message, "make one with `marionette bake`"));
        };
        let version = u32::from_le_bytes(*version);
        if version != Self::VERSION {
            let ours = Self::VERSION;
            let message = format!("this character was baked in version {version}, expected {ours}");
            return Err(fail(message, AGAIN));
        }
        let (mut baked, mut places) = Self::read_parts(file, source).map_err(|Damaged(what)| {
            fail(format!("this baked character is damaged: {what}"), AGAIN)
        })?;
        limits.check_model(file, &baked.model)?;
        places.retain(|name, place| {
            let image = &source[place.clone()];
            let is_apart = Texels::of(image).is_some();
            let copied = if is_apart { &[] } else { image };
            baked.images.insert(name.clone(), copied.into());
            is_apart
        });
        Ok((baked, places))
    }

    /// Reads a file that begins as it should, without its images, whose places come second.
    fn read_parts(file: &str, source: &[u8]) -> Result<(Self, Places), Damaged> {
        let mut from = Reader(&source[MAGIC.len() + size_of::<u32>()..]);
        let manifest: String = from.read()?;
        let manifest = Manifest::parse(file, manifest.as_bytes()).map_err(|error| {
            let first = error.diagnostics.into_iter().next();
            Damaged(first.map(|first| first.message).unwrap_or_default()).within("its manifest")
        })?;
        let skeleton = Stored::read(&mut from).map_err(|damaged| damaged.within("its skeleton"))?;
        let materials: Vec<_> = from.read()?;
        let parts: Vec<_> = from.read()?;
        for part in &parts {
            skin::check(part, &skeleton, materials.len())
                .map_err(|damaged| damaged.within(&format!("part `{}`", part.name)))?;
        }
        let clips = clips::read(&mut from, &skeleton)?;
        let places = read_images(&mut from, source.len())?;
        if !from.0.is_empty() {
            return Err("it goes on after its end".into());
        }
        let mut reach = Reach::new(&skeleton)?;
        for clip in &clips {
            reach.admit(&skeleton, clip)?;
        }
        let model = Model {
            skeleton,
            parts,
            materials,
            clips,
        };
        let baked = Self {
            manifest,
            model,
            images: Images::new(),
        };
        Ok((baked, places))
    }
}

/// Places of images in a file, by name.
pub(crate) type Places = BTreeMap<String, Range<usize>>;

const AGAIN: &str = "bake it again with `marionette bake`";

/// Reads the names and places of images in a file of some length.
fn read_images(from: &mut Reader, length: usize) -> Result<Places, Damaged> {
    let mut places = Places::new();
    for _ in 0..from.read::<usize>()? {
        let (name, count): (String, usize) = from.read()?;
        let start = length - from.0.len();
        from.take(count)?;
        if places
            .last_key_value()
            .is_some_and(|(last, _)| *last >= name)
        {
            return Err("its images are not in order".into());
        }
        places.insert(name, start..start + count);
    }
    Ok(places)
}
