//! `marionette convert`: writes a character in another format.

use crate::{
    Outcome,
    images::Images,
    open::{self, Named, OpenModel},
    options::ImportArgs,
    term::{self, Progress, complain, counted, size},
    textures,
    write::{self, NewFile},
};
use bevy_marionette::{
    format::FormatError,
    internals::{
        format::{Parsed, m3d, md5},
        import::{TextureMap, WriteFormat, losses, to_glb, to_m3d, to_md5_anim, to_md5_mesh},
    },
    model::{Material, SkeletalClip},
};
use clap::Args;
use std::{
    collections::HashSet,
    io::Write,
    path::{Path, PathBuf},
};

/// Writes a character in another format: .glb, .m3d or .md5mesh with .md5anim files
///
/// The model is written with its own clips and those of the ANIM files. What the format cannot hold is listed first.
/// Textures are embedded in a .glb, and copied beside the other formats.
#[derive(Args)]
#[command(after_long_help = AFTER_HELP, after_help = "See --help for examples and what is written.")]
pub struct Convert {
    /// A model or a .character.ron
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Files with clips for the model: .md5anim, or models with clips
    #[arg(value_name = "ANIM")]
    anims: Vec<PathBuf>,
    /// File to write; its name ends in .glb, .m3d or .md5mesh
    #[arg(short, long, value_name = "FILE", value_parser = output)]
    output: Output,
    /// Overwrite .md5anim files and textures beside FILE
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    import: ImportArgs,
}

const AFTER_HELP: &str = "\
Examples:
  marionette convert knight.md5mesh walk.md5anim run.md5anim -o knight.glb
  marionette convert scout.character.ron -o scout.glb
  marionette convert hero.fbx -o hero.glb
  marionette convert soldier.m3d -o md5/soldier.md5mesh
  marionette convert knight.glb -o knight.m3d

A .glb holds everything: parts are meshes with one skin, and clips are animations. The front is at +Z, as
glTF wants it. Playback modes and callback keys are in the animations' extras, and a manifest's masks, sockets and other
entries in the scene's, under `marionette`, so that the file needs no manifest. PNG and JPEG files are embedded as they are, TGA files as PNG; normal
maps with green down are converted to green up.

An .md5mesh comes with one .md5anim for each clip, named after it, in the same directory.

FILE is overwritten if it exists, unless it is one of the files read.";

#[derive(Clone, Debug)]
struct Output {
    path: PathBuf,
    format: WriteFormat,
}

fn output(text: &str) -> Result<Output, String> {
    let name = text.to_ascii_lowercase();
    let formats = [
        (".glb", WriteFormat::Glb),
        (".m3d", WriteFormat::M3d),
        (".md5mesh", WriteFormat::Md5),
    ];
    let format = formats
        .into_iter()
        .find_map(|(end, format)| name.ends_with(end).then_some(format));
    let format = format.ok_or("expected a name that ends in .glb, .m3d or .md5mesh")?;
    Ok(Output {
        path: text.into(),
        format,
    })
}

/// The files of a converted character.
struct Written {
    /// The file asked for.
    main: Vec<u8>,
    /// Files that belong to it: names relative to its folder, and contents.
    beside: Vec<(String, Vec<u8>)>,
    /// Textures in the main file.
    embedded: usize,
}

impl Convert {
    pub fn run(self) -> Outcome {
        let opened = open::open_unbaked(&self.model, &self.import);
        complain(&opened.diagnostics);
        let Some(mut model) = opened.into_model() else {
            return Ok(false);
        };
        match self.convert(&mut model) {
            Ok(()) => Ok(true),
            Err(error) => {
                complain(&error.diagnostics);
                Ok(false)
            }
        }
    }

    fn convert(&self, model: &mut OpenModel) -> Result<(), FormatError> {
        let Output { path, format } = &self.output;
        // Before anything else, so that a long import doesn't end with a refusal to write.
        write::check(path, model.files.iter().chain(&self.anims)).map_err(FormatError::one)?;
        let Parsed {
            value: clips,
            warnings,
        } = open::clips_of(&self.anims, model)?;
        complain(&warnings);
        add_clips(&mut model.model.clips, clips);
        let file = path.to_string_lossy();
        // Listed before anything is written, so that nobody learns of losses too late.
        complain(&losses(
            &file,
            &model.model,
            model.manifest.as_ref(),
            *format,
        ));

        let folder = path.parent().unwrap_or(Path::new(""));
        // In the model's own folder, the textures are there already.
        let elsewhere = !write::is_same_file(or_here(folder), or_here(&model.folder));
        let copies = *format != WriteFormat::Glb && elsewhere;
        if copies {
            textures::rename_maps(&mut model.model.materials, &model.textures);
        }
        let written = match format {
            WriteFormat::Glb => glb(&file, model)?,
            WriteFormat::M3d => Written {
                main: m3d::write(&to_m3d(&model.model)).into_bytes(),
                beside: Vec::new(),
                embedded: 0,
            },
            WriteFormat::Md5 => md5(model),
        };
        let mut beside = written.beside;
        let (textures, warnings) =
            model.copies(|is_embedded| copies || (is_embedded && *format != WriteFormat::Glb));
        complain(&warnings);
        let textures = textures.into_iter();
        beside.extend(
            textures.map(|(name, bytes)| (textures::place(name).to_owned(), bytes.into_owned())),
        );
        let beside = beside
            .into_iter()
            .map(|(name, bytes)| NewFile {
                path: folder.join(name),
                bytes,
            })
            .collect();
        let inputs: Vec<&PathBuf> = model.files.iter().chain(&self.anims).collect();
        // Everything is checked before anything is written.
        let beside = write::missing(beside, &inputs, self.force).map_err(FormatError::one)?;
        write::create_all(&beside).map_err(FormatError::one)?;
        write::create(path, |out| out.write_all(&written.main)).map_err(FormatError::one)?;

        let model = &model.model;
        let mut what = vec![
            counted(model.parts.len(), "part"),
            counted(model.skeleton.len(), "joint"),
            counted(model.clips.len(), "clip"),
        ];
        if written.embedded > 0 {
            what.push(counted(written.embedded, "embedded texture"));
        }
        term::note(&format!(
            "{}: {} → {file} ({})",
            self.model.display(),
            what.join(" · "),
            size(written.main.len() as u64)
        ));
        if !beside.is_empty() {
            term::note(&format!("  {} beside it", counted(beside.len(), "file")));
        }
        Ok(())
    }
}

/// Returns `.` for an empty path: the current folder has no name.
pub fn or_here(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    }
}

/// Adds clips from other files. One whose name is taken gets a number.
fn add_clips(clips: &mut Vec<SkeletalClip>, more: Vec<Named>) {
    let mut names: HashSet<String> = clips
        .iter()
        .map(|clip| clip.timing.name.to_string())
        .collect();
    for Named { file, mut clip } in more {
        let name = clip.timing.name.to_string();
        let free = unique(&name, |name| names.insert(name.to_owned()));
        if free != name {
            term::note(&format!(
                "clip `{name}` of {file} becomes `{free}`: there is one of that name"
            ));
            clip.timing.name = free.into();
        }
        clips.push(clip);
    }
}

/// Returns `name`, followed by a number if `is_free` returns `false` for it.
pub fn unique(name: &str, mut is_free: impl FnMut(&str) -> bool) -> String {
    if is_free(name) {
        return name.to_owned();
    }
    let mut number = 2;
    loop {
        let candidate = format!("{name}.{number}");
        if is_free(&candidate) {
            return candidate;
        }
        number += 1;
    }
}

fn glb(file: &str, model: &OpenModel) -> Result<Written, FormatError> {
    let mut images = Images::of(model);
    let mut progress = Progress::new(model.textures.iter().map(Vec::len).sum());
    let materials = &model.model.materials;
    let texture = |material: &Material, map: TextureMap| {
        let flip_green = map == TextureMap::Normal && material.normal_map_green_down;
        // By address: two materials may be equal, and still have textures of their own.
        let at = materials
            .iter()
            .position(|other| std::ptr::eq(other, material))?;
        let found = model
            .textures
            .get(at)?
            .iter()
            .find(|used| used.role == map.name())?
            .found
            .as_ref()?;
        progress.next(found);
        images.load(found, flip_green)
    };
    let Parsed { value, warnings } = to_glb(file, &model.model, model.manifest.as_ref(), texture)?;
    // The line on the terminal must be gone before warnings are printed.
    drop(progress);
    complain(&warnings);
    complain(&images.warnings);
    Ok(Written {
        main: value,
        beside: Vec::new(),
        embedded: images.embedded,
    })
}

fn md5(model: &OpenModel) -> Written {
    let model = &model.model;
    let main = md5::write_mesh(&to_md5_mesh(model)).into_bytes();
    let mut names = HashSet::new();
    let mut progress = Progress::new(model.clips.len());
    let mut beside = Vec::new();
    for clip in &model.clips {
        let name = &*clip.timing.name;
        progress.next(name);
        let mut file = file_name(name);
        // Readers recognize additive clips by this.
        if clip.additive && !file.to_ascii_lowercase().ends_with("_delta") {
            file += "_delta";
        }
        // Some systems ignore case.
        let file = unique(&file, |file| names.insert(file.to_lowercase()));
        if file != name {
            term::note(&format!("clip `{name}` becomes `{file}.md5anim`"));
        }
        let anim = md5::write_anim(&to_md5_anim(clip, &model.skeleton));
        beside.push((format!("{file}.md5anim"), anim.into_bytes()));
    }
    Written {
        main,
        beside,
        embedded: 0,
    }
}

/// Returns a name that every system accepts for a file.
pub fn file_name(name: &str) -> String {
    let allowed = |c: char| c.is_alphanumeric() || " -_.@()".contains(c);
    let clean: String = name
        .chars()
        .map(|c| if allowed(c) { c } else { '_' })
        .collect();
    let clean = clean.trim().trim_matches('.');
    if clean.is_empty() {
        "clip".to_owned()
    } else {
        clean.to_owned()
    }
}

#[cfg(test)]
#[path = "tests/convert.rs"]
mod tests;
