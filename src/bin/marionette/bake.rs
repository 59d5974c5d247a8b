//! `marionette bake`: writes a finished character, for release builds of games.

use crate::{
    Outcome,
    convert::or_here,
    open::{self, OpenModel},
    options::ImportArgs,
    picture::Picture,
    term::{self, Progress, complain, counted, size},
    write,
};
use bevy_marionette::{
    format::{Diagnostic, FormatError},
    import::{BakedCharacter, FileKind, Manifest},
};
use clap::Args;
use image::DynamicImage;
use std::{
    io::Write,
    path::{Path, PathBuf},
};

/// Writes a finished character, which games load in a fraction of the time
///
/// The file holds what is loaded otherwise: the model as it is in memory, its clips, what the manifest says, and its textures
/// with mip levels. It is for release builds, and must be baked again for another version of bevy_marionette.
#[derive(Args)]
#[command(after_long_help = AFTER_HELP, after_help = "See --help for examples and what is written.")]
pub struct Bake {
    /// A .character.ron or a model
    #[arg(value_name = "CHARACTER")]
    character: PathBuf,
    /// File to write; its name ends in .character.bin [default: beside CHARACTER, with its name]
    #[arg(short, long, value_name = "FILE", value_parser = output)]
    output: Option<PathBuf>,
    /// Leave textures in files of their own, which other characters may share
    #[arg(long)]
    link_textures: bool,
    /// Leave PNG and JPEG textures as they are, which takes less space and more time to load
    #[arg(long)]
    keep_images: bool,
    #[command(flatten)]
    import: ImportArgs,
}

const AFTER_HELP: &str = "\
Examples:
  marionette bake scout.character.ron
  marionette bake knight.glb -o release/knight.character.bin

PNG, JPEG and TGA textures of 8 bits per channel are decoded and get mip levels, as when a game loads them. Others are
embedded as they are. A game loads FILE as it loads the character itself:

  assets.load(\"scout.character.bin\")

FILE is overwritten if it exists, unless it is one of the files read.";

const END: &str = ".character.bin";

fn output(text: &str) -> Result<PathBuf, String> {
    match FileKind::of_name(text) {
        Some(FileKind::Baked) => Ok(text.into()),
        _ => Err(format!("expected a name that ends in {END}")),
    }
}

/// Returns the name of a character's file without what says its kind.
fn stem(name: &str) -> &str {
    let end = name.len().saturating_sub(".character.ron".len());
    match FileKind::of_name(name) {
        Some(FileKind::Manifest) => &name[..end],
        _ => name.rsplit_once('.').map_or(name, |(stem, _)| stem),
    }
}

impl Bake {
    pub fn run(self) -> Outcome {
        let opened = open::open_unbaked(&self.character, &self.import);
        complain(&opened.diagnostics);
        let kind = opened.kind;
        let Some(model) = opened.into_model() else {
            return Ok(false);
        };
        match self.bake(kind, model) {
            Ok(()) => Ok(true),
            Err(error) => {
                complain(&error.diagnostics);
                Ok(false)
            }
        }
    }

    fn bake(&self, kind: Option<FileKind>, model: OpenModel) -> Result<(), FormatError> {
        let name = self.character.to_string_lossy();
        let fail = |message: &str, hint: &str| {
            FormatError::one(Diagnostic::error(&name, message).with_hint(hint))
        };
        let own = self
            .character
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        let beside = || {
            self.character
                .with_file_name(format!("{}{END}", stem(&own)))
        };
        let output = self.output.clone().unwrap_or_else(beside);
        write::check(&output, model.files.iter()).map_err(FormatError::one)?;
        let [to, from] =
            [&output, &self.character].map(|path| or_here(path.parent().unwrap_or(Path::new(""))));
        if self.link_textures && !write::is_same_file(to, from) {
            let hint = "write the file beside the character, or leave out --link-textures";
            return Err(fail(
                "its textures would not be found from another folder",
                hint,
            ));
        }
        let mut manifest = model
            .manifest
            .clone()
            .unwrap_or_else(|| Manifest::of_model("").with_settings(&model.settings));
        if kind != Some(FileKind::Manifest) {
            manifest.model = own.into_owned();
        }
        let (copies, warnings) = model.copies(|is_embedded| !is_embedded && !self.link_textures);
        complain(&warnings);
        let copies: Vec<_> = copies
            .into_iter()
            .map(|(name, bytes)| (name.to_owned(), bytes.as_ref().into()))
            .collect();
        let mut baked = BakedCharacter {
            manifest,
            images: model.images.clone(),
            model: model.model,
        };
        baked.images.extend(copies);
        if !self.keep_images {
            let mut progress = Progress::new(baked.images.len());
            baked.decode_images(|name, bytes| {
                progress.next(name);
                texels(name, bytes)
            });
        }
        let bytes = baked.to_bytes(&name)?;
        write::create(&output, |out| out.write_all(&bytes)).map_err(FormatError::one)?;
        let BakedCharacter { model, images, .. } = &baked;
        let what = [
            counted(model.parts.len(), "part"),
            counted(model.skeleton.len(), "joint"),
            counted(model.clips.len(), "clip"),
            counted(images.len(), "texture"),
        ];
        let (what, size) = (what.join(" · "), size(bytes.len() as u64));
        term::note(&format!("{name}: {what} → {} ({size})", output.display()));
        Ok(())
    }
}

/// Decodes an image of 8 bits per channel. Others are left as they are.
fn texels(name: &str, bytes: &[u8]) -> Option<([u32; 2], Vec<u8>)> {
    match Picture::read(name, bytes).ok()? {
        Picture::Decoded(_, image @ (DynamicImage::ImageRgb8(_) | DynamicImage::ImageRgba8(_))) => {
            Some((
                [image.width(), image.height()],
                image.into_rgba8().into_raw(),
            ))
        }
        _ => None,
    }
}

#[cfg(test)]
#[path = "tests/bake.rs"]
mod tests;
