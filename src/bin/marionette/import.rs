//! `marionette import`: makes a game's character from a model and files with clips.

mod actions;
mod body;
mod gaits;
mod hero;
mod humanoid;
mod loops;
mod names;
mod parts;
mod rigs;
mod text;
mod words;

use crate::{
    Outcome,
    convert::{file_name, or_here, unique},
    open::{self, OpenModel},
    options::ImportArgs,
    read,
    term::{self, Progress, complain, counted, length, printable, seconds},
    textures,
    write::{self, NewFile},
};
use bevy_marionette::{
    format::{Diagnostic, FormatError},
    import::{ClipEntry, FileKind, Manifest, RetargetEntry},
    internals::{
        format::Parsed,
        import::{EmbeddedManifest, open_clips_with},
        model::BoundingBox,
    },
    model::{PlaybackMode, SkeletalClip},
};
use clap::Args;
use loops::Verdict;
use parts::{Mergeable, mergeable};
use std::{
    borrow::Cow,
    collections::BTreeMap,
    io::{self, Write},
    path::{Path, PathBuf},
};
use text::Notes;

/// Makes a character for a game: a directory with a manifest, the model, its clips and its textures
///
/// Decides on the clips' names, which of them loop, and which joints make masks and sockets, and says what it decided. The
/// manifest is text: change what you like better.
#[derive(Args)]
#[command(after_long_help = AFTER_HELP, after_help = "See --help for examples and how it decides.")]
pub struct Import {
    /// The model
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Files with clips for the model: .md5anim, or models with clips
    #[arg(value_name = "ANIM")]
    anims: Vec<PathBuf>,
    /// Directory to write to; it is created if needed
    #[arg(short, long, value_name = "DIRECTORY")]
    output: PathBuf,
    /// Name of the character [default: the model's file name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Overwrite files that exist already
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    import: ImportArgs,
}

const AFTER_HELP: &str = "\
Examples:
  marionette import hero.fbx dance.fbx run.fbx -o assets/hero
  marionette import knight.md5mesh walk.md5anim attack.md5anim -o assets/knight
  marionette import soldier.m3d -o assets/soldier --scale 0.0254

Writes DIRECTORY/NAME.character.ron, and copies the model, the ANIM files and the textures there.

A clip is called after its file, or by its own name where a file has several, in snake_case and without what
exporters add (`Armature|`, `mixamo.com`, the model's name). It loops if the skin ends where it begins and
as fast, or one frame before that, wherever the character has gone by then. Names such as `jump`, `walk` or
`spinning` decide where poses alone don't. Clips of another humanoid, whose joints have other names, are
retargeted; where names don't tell which joint does what, an error says what to write. Masks and sockets are
proposed from the names of the joints, and parts to merge in a comment. What `marionette convert` kept of a
manifest in a .glb comes back.

A humanoid also gets feet, look-at, and goals for its hands, footsteps and speeds that are measured at its feet,
a blend space of them, and first states, by the names of the clips. The component `Steering` steers it.";

/// A clip of the character to be.
struct Draft {
    /// Name in the manifest.
    name: String,
    entry: ClipEntry,
    clip: SkeletalClip,
    verdict: Verdict,
}

impl Import {
    pub fn run(self) -> Outcome {
        let kind = FileKind::of_name(&self.model.to_string_lossy());
        if kind == Some(FileKind::Manifest) {
            let error =
                Diagnostic::error(&self.model.to_string_lossy(), "this is a manifest already");
            complain(&[error.with_hint(
                "name the model and its clips; see `marionette convert` for other formats",
            )]);
            return Ok(false);
        }
        let opened = open::open_unbaked(&self.model, &self.import);
        complain(&opened.diagnostics);
        let Some(model) = opened.into_model() else {
            return Ok(false);
        };
        let character = || {
            let mut sources: Vec<(PathBuf, PathBuf)> = model
                .files
                .iter()
                .map(|path| placed(path, &model.folder))
                .collect();
            let mut drafts = self.draft(&model, &mut sources)?;
            let (textures, warnings) = model.copies(|is_embedded| !is_embedded);
            if !self.is_in_place(&model) {
                complain(&warnings);
            }
            let textures: Vec<NewFile> = (textures.into_iter())
                .map(|(name, bytes)| NewFile {
                    path: self.texture_place(&model, name).into(),
                    bytes: bytes.into_owned(),
                })
                .collect();
            let (manifest, notes) = self.manifest(&model, &mut drafts, &textures);
            let parts = mergeable(&model.model, manifest.max_palette);
            let copied = self.write(
                &model,
                &sources,
                textures,
                &manifest,
                &Notes {
                    clips: drafts
                        .iter()
                        .map(|draft| (draft.name.as_str(), draft.verdict.why.as_str()))
                        .collect(),
                    hero: notes,
                    mergeable: parts.as_ref(),
                },
            )?;
            Ok::<_, FormatError>((drafts, manifest, parts, copied))
        };
        match character() {
            Ok((drafts, manifest, parts, copied)) => {
                let mut out = term::out();
                self.report(&mut out, &model, &manifest, &drafts, parts.as_ref(), copied)?;
                out.flush()?;
                Ok(true)
            }
            Err(error) => {
                complain(&error.diagnostics);
                Ok(false)
            }
        }
    }

    /// Reads the clips and decides on their names and loops. Adds the files of the clips to `sources`.
    fn draft(
        &self,
        model: &OpenModel,
        sources: &mut Vec<(PathBuf, PathBuf)>,
    ) -> Result<Vec<Draft>, FormatError> {
        let model_stem = open::stem(&self.model);
        // The entry with the file and the name within it, the clip, and the name that it would get.
        let mut found: Vec<(ClipEntry, SkeletalClip, Option<String>)> = Vec::new();
        let own: Vec<&str> = model
            .model
            .clips
            .iter()
            .map(|clip| &*clip.timing.name)
            .collect();
        let alone = own.len() == 1;
        for (clip, name) in model
            .model
            .clips
            .iter()
            .zip(names::tidy_all(&own, &model_stem))
        {
            let entry = ClipEntry {
                clip: Some(clip.timing.name.to_string()),
                ..ClipEntry::default()
            };
            // A file's only clip may be called `mixamo.com`.
            let name = name.or_else(|| names::tidy(&model_stem, "").filter(|_| alone));
            found.push((entry, clip.clone(), name));
        }
        let mut progress = Progress::new(self.anims.len());
        for path in &self.anims {
            let file = path.to_string_lossy();
            progress.next(&file);
            let stem = open::stem(path);
            let source = read::read(path, &model.settings.limits).map_err(FormatError::one)?;
            let (skeleton, settings) = (&model.model.skeleton, &model.settings);
            let mut files = vec![path.clone()];
            let bound = open_clips_with(&file, &stem, &source, skeleton, settings, |file| {
                files.push(file.into());
                open::read_beside(Path::new(file), &settings.limits)
            });
            let matched = bound.as_ref().ok().map(|bound| &bound.value[..]);
            let retargeted = rigs::retargeted(&file, &source, model, matched, |file| {
                open::read_beside(Path::new(file), &settings.limits)
            });
            let retarget = retargeted.as_ref().map(|_| RetargetEntry::default());
            let Parsed {
                value: clips,
                warnings,
            } = match retargeted {
                Some(value) => Parsed {
                    value,
                    warnings: Vec::new(),
                },
                None => bound.map_err(|mut error| {
                    let read = |file: &str| open::read_beside(Path::new(file), &settings.limits);
                    let file = base_name(path).unwrap_or_default();
                    let needed = rigs::needed(&file, &words::snake(&stem), &source, model, read);
                    if let (Some(needed), [first, ..]) = (needed, &mut error.diagnostics[..]) {
                        first.hint = needed;
                    }
                    error
                })?,
            };
            let folder = path.parent().unwrap_or(Path::new(""));
            sources.extend(files.iter().map(|file| placed(file, folder)));
            complain(&warnings);
            let alone = clips.len() == 1;
            let own = clips.iter().map(|clip| clip.timing.name.to_string());
            let called: Vec<String> = if alone {
                vec![stem.clone()]
            } else {
                own.collect()
            };
            let called: Vec<&str> = called.iter().map(String::as_str).collect();
            let tidied = names::tidy_all(&called, &model_stem);
            for (clip, name) in clips.into_iter().zip(tidied) {
                let own = clip.timing.name.to_string();
                let name = name.or_else(|| names::tidy(&stem, &model_stem));
                let entry = ClipEntry {
                    file: base_name(path),
                    clip: (!alone).then_some(own),
                    retarget: retarget.clone(),
                    as_is: settings.as_is && retarget.is_none(),
                    ..ClipEntry::default()
                };
                found.push((entry, clip, name));
            }
        }
        drop(progress);

        let mut progress = Progress::new(found.len());
        let mut taken: BTreeMap<String, ()> = BTreeMap::new();
        let says_how = |own: &str| {
            let said = model.embedded.clips.get(own);
            said.is_some_and(|said| said.playback.is_some())
        };
        let draft = |(mut entry, mut clip, name): (ClipEntry, SkeletalClip, Option<String>)| {
            let own = entry.clip.clone().unwrap_or_default();
            let name = name.or_else(|| Some(words::snake(&own)).filter(|name| !name.is_empty()));
            let name = name.unwrap_or_else(|| "clip".to_owned());
            let name = unique(&name, |name| taken.insert(name.to_owned(), ()).is_none());
            progress.next(&name);
            // A clip of the model is found by the entry's name.
            if entry.file.is_none() && entry.clip.as_ref() == Some(&name) {
                entry.clip = None;
            }
            clip.timing.name = name.as_str().into();
            let verdict = match clip.timing.playback {
                playback if entry.file.is_none() && says_how(&own) => Verdict {
                    playback,
                    why: "says so itself".into(),
                },
                _ => loops::judge(&model.model, &clip),
            };
            // Loops are the default.
            entry.playback = (verdict.playback != clip.timing.playback).then_some(verdict.playback);
            Draft {
                name,
                entry,
                clip,
                verdict,
            }
        };
        Ok(found.into_iter().map(draft).collect())
    }

    /// Returns the manifest with comments on what is guessed. Adds what is measured to the clips' entries.
    fn manifest(
        &self,
        model: &OpenModel,
        drafts: &mut [Draft],
        textures: &[NewFile],
    ) -> (Manifest, hero::Notes) {
        let file = base_name(&self.model).unwrap_or_default();
        let skeleton = &model.model.skeleton;
        let EmbeddedManifest { masks, sockets, .. } = model.embedded.clone();
        let textures = textures.iter().map(|file| file.path.to_string_lossy());
        let mut manifest = Manifest {
            textures: textures.map(Cow::into_owned).collect(),
            masks: if masks.is_empty() {
                body::masks(skeleton)
            } else {
                masks
            },
            sockets: if sockets.is_empty() {
                body::sockets(skeleton)
            } else {
                sockets
            },
            ..Manifest::of_model(file).with_settings(&model.settings)
        };
        let notes = hero::equip(&mut manifest, drafts, &model.model, &model.embedded);
        let clips = drafts
            .iter()
            .map(|draft| (draft.name.clone(), draft.entry.clone()));
        manifest.clips = clips.collect();
        (manifest, notes)
    }

    /// Returns where a texture will be, relative to the directory.
    fn texture_place<'a>(&self, model: &OpenModel, name: &'a str) -> &'a str {
        if self.is_in_place(model) {
            name
        } else {
            textures::place(name)
        }
    }

    /// Returns `true` if the directory is the model's folder, so that nothing is copied.
    fn is_in_place(&self, model: &OpenModel) -> bool {
        write::is_same_file(or_here(&self.output), or_here(&model.folder))
    }

    fn manifest_path(&self) -> PathBuf {
        let name = self.name.clone().unwrap_or_else(|| open::stem(&self.model));
        self.output
            .join(format!("{}.character.ron", file_name(&name)))
    }

    /// Writes the manifest and copies what it needs: `sources` and `textures`, with their names in the directory. Returns the
    /// number of files copied.
    fn write(
        &self,
        model: &OpenModel,
        sources: &[(PathBuf, PathBuf)],
        textures: Vec<NewFile>,
        manifest: &Manifest,
        notes: &Notes,
    ) -> Result<usize, FormatError> {
        let mut files: Vec<NewFile> = Vec::new();
        for (path, name) in sources {
            let to = self.output.join(name);
            let bytes = read::read(path, &model.settings.limits).map_err(FormatError::one)?;
            if files
                .iter()
                .any(|file| file.path == to && file.bytes != bytes)
            {
                let error =
                    Diagnostic::error(&path.to_string_lossy(), "another file has the same name");
                return Err(FormatError::one(
                    error.with_hint("rename one of them: they are copied to one directory"),
                ));
            }
            files.push(NewFile { path: to, bytes });
        }
        files.extend(textures.into_iter().map(|NewFile { path, bytes }| NewFile {
            path: self.output.join(path),
            bytes,
        }));
        let text = text::of_manifest(manifest, notes).into_bytes();
        let inputs: Vec<&PathBuf> = sources.iter().map(|(path, _)| path).collect();
        // Everything is checked before anything is written.
        let copies = write::missing(files, &inputs, self.force).map_err(FormatError::one)?;
        let manifest = NewFile {
            path: self.manifest_path(),
            bytes: text,
        };
        let manifest =
            write::missing(vec![manifest], &inputs, self.force).map_err(FormatError::one)?;
        write::create_all(&copies)
            .and_then(|()| write::create_all(&manifest))
            .map_err(FormatError::one)?;
        Ok(copies.len())
    }

    /// Prints the decisions.
    fn report(
        &self,
        out: &mut impl Write,
        model: &OpenModel,
        manifest: &Manifest,
        drafts: &[Draft],
        parts: Option<&Mergeable>,
        copied: usize,
    ) -> io::Result<()> {
        let path = self.manifest_path();
        writeln!(out, "{}", printable(&path.to_string_lossy()))?;
        let points = model
            .model
            .parts
            .iter()
            .flat_map(|part| part.positions.iter().copied());
        if let Some(bounds) = BoundingBox::enclosing(points) {
            let height = bounds.max.y - bounds.min.y;
            let odd = !(0.05..=20.0).contains(&height);
            let hint = if odd {
                "; the unit is a meter: use --scale 0.0254 for inches, 0.01 for centimeters"
            } else {
                ""
            };
            writeln!(
                out,
                "  {} {} tall at scale {}{hint}",
                length(height),
                // Of what is shown, which is rounded.
                if length(height) == "1" {
                    "unit"
                } else {
                    "units"
                },
                manifest.scale
            )?;
        }
        for Draft {
            name,
            entry,
            clip,
            verdict,
        } in drafts
        {
            let playback = match verdict.playback {
                PlaybackMode::Loop => "loops",
                PlaybackMode::Once => "plays once",
                PlaybackMode::PingPong => "plays back and forth",
            };
            let file = entry.file.as_deref().unwrap_or("the model");
            let from = match &entry.clip {
                Some(own) => format!("`{own}` of {file}"),
                None => file.to_owned(),
            };
            let [name, from] = [name, &from].map(|text| printable(text));
            let length = seconds(clip.timing.duration);
            writeln!(
                out,
                "  clip `{name}` ({from}, {length}) {playback}: it {}",
                verdict.why
            )?;
            if entry.retarget.is_some() {
                writeln!(out, "  clip `{name}` is of another rig: retargeted")?;
            }
        }
        report_entries(out, manifest)?;
        if let Some(parts) = parts {
            writeln!(
                out,
                "  {} could be merged into {}, for speed: see the manifest's `merge`",
                counted(parts.names.len(), "part"),
                parts.merged
            )?;
        }
        let textures = model
            .textures
            .iter()
            .flatten()
            .filter_map(|map| map.found.as_deref())
            .filter(|name| {
                let is_listed = |place: &String| *place == self.texture_place(model, name);
                model.images.contains_key(*name) || manifest.textures.iter().any(is_listed)
            })
            .count();
        let at = if self.is_in_place(model) {
            "in place"
        } else {
            "copied"
        };
        writeln!(
            out,
            "  {} {at}, {} used",
            counted(copied, "file"),
            counted(textures, "texture")
        )
    }
}

/// Prints what the joints and clips were found to be good for.
fn report_entries(out: &mut impl Write, manifest: &Manifest) -> io::Result<()> {
    for (name, mask) in &manifest.masks {
        let fades = if mask.falloff > 0 {
            format!(", fading over {}", counted(mask.falloff as usize, "joint"))
        } else {
            String::new()
        };
        writeln!(
            out,
            "  mask `{name}`: from {}{fades}",
            printable(&listed(&mask.roots))
        )?;
    }
    for (name, socket) in &manifest.sockets {
        writeln!(out, "  socket `{name}`: on `{}`", printable(&socket.joint))?;
    }
    for (name, goal) in &manifest.goals {
        let joints: Vec<String> = goal.limb.joints().map(str::to_owned).collect();
        writeln!(out, "  goal `{name}`: {}", printable(&listed(&joints)))?;
    }
    if let Some(look_at) = &manifest.look_at {
        let joints: Vec<String> = look_at
            .joints
            .iter()
            .map(|(name, _)| name.clone())
            .collect();
        writeln!(out, "  looks with {}", printable(&listed(&joints)))?;
    }
    if let Some(feet) = &manifest.feet {
        let feet: Vec<String> = feet.legs.iter().map(|leg| leg.tip.clone()).collect();
        writeln!(out, "  feet {}", printable(&listed(&feet)))?;
    }
    for (name, space) in &manifest.blend_spaces {
        let clips: Vec<String> = space.points.iter().map(|(clip, _)| clip.clone()).collect();
        writeln!(
            out,
            "  blend space `{name}`: {}",
            printable(&listed(&clips))
        )?;
    }
    for (name, state) in &manifest.states {
        writeln!(
            out,
            "  state `{name}`: {}",
            printable(&listed(&state.plays))
        )?;
    }
    if manifest.masks.is_empty() {
        writeln!(
            out,
            "  no masks: no joint is called an arm, a leg, a head or a tail"
        )?;
    }
    Ok(())
}

/// A file that belongs to one in `folder`, with its name in the directory: the files of a .gltf keep their places.
fn placed(path: &Path, folder: &Path) -> (PathBuf, PathBuf) {
    let name = path.strip_prefix(folder).map(Path::to_owned);
    (
        path.to_owned(),
        name.unwrap_or_else(|_| base_name(path).unwrap_or_default().into()),
    )
}

/// A path's last piece.
fn base_name(path: &Path) -> Option<String> {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
}

fn listed(names: &[String]) -> String {
    names
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}
