//! From paths to models and clips, with their diagnostics.

use crate::{
    options::ImportArgs,
    picture::Picture,
    read,
    term::Progress,
    textures::{self, TextureUse},
};
use bevy_marionette::{
    format::{Diagnostic, FormatError, Severity},
    import::{
        Avatar, BakedCharacter, FileKind, ImportLimits, ImportReport, ImportSettings, Imported,
        Manifest, open_manifest,
    },
    internals::{
        format::{
            Checked, Parsed,
            md5::{self, Md5Anim},
        },
        import::{EmbeddedManifest, clip_from_md5, open_clips_with},
    },
    model::{Model, SkeletalClip, Skeleton},
};
use std::{
    borrow::Cow,
    collections::{BTreeMap, HashSet},
    path::{Path, PathBuf},
    sync::Arc,
};

/// A file and its contents.
pub struct Opened {
    /// The path as the user wrote it.
    pub name: String,
    /// The kind of file according to its name.
    pub kind: Option<FileKind>,
    /// Size on disk.
    pub bytes: u64,
    /// Contents; `None` if a diagnostic is an error.
    pub content: Option<Content>,
    /// Errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
}

/// The contents of a file.
pub enum Content {
    /// A model, or a character assembled from a manifest.
    Model(Box<OpenModel>),
    /// An animation.
    Animation(Box<OpenAnimation>),
}

/// An imported model.
pub struct OpenModel {
    /// The model in Bevy's axes.
    pub model: Model,
    /// Figures about the import.
    pub report: ImportReport,
    /// For each material, its textures.
    pub textures: Vec<Vec<TextureUse>>,
    /// The images in the model's own file.
    pub images: BTreeMap<String, Arc<[u8]>>,
    /// The manifest it was assembled from, with what the model's file says itself.
    pub manifest: Option<Manifest>,
    /// Manifest entries that the model's own file holds.
    pub embedded: EmbeddedManifest,
    /// What a VRM file says of its character.
    pub avatar: Option<Box<Avatar>>,
    /// The settings it was imported with; clips from other files need the same.
    pub settings: ImportSettings,
    /// The files it was read from.
    pub files: Vec<PathBuf>,
    /// The folder of the model's file, where its textures are.
    pub folder: PathBuf,
}

impl OpenModel {
    /// Returns the names of the textures that were found, relative to the model's folder or those of images in the
    /// model's own file, with whether they are in that file.
    pub fn texture_names(&self) -> Vec<(&str, bool)> {
        let found = self
            .textures
            .iter()
            .flatten()
            .filter_map(|map| map.found.as_deref());
        let mut names: Vec<_> = found
            .map(|name| (name, self.images.contains_key(name)))
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Reads a texture.
    ///
    /// # Errors
    /// A warning: its file can't be read, or it isn't a picture.
    pub fn texture(&self, name: &str) -> Result<(Cow<'_, [u8]>, Picture), Diagnostic> {
        let left_out = |reason: &str| format!("the texture is left out: {reason}");
        let bytes = match self.images.get(name) {
            Some(bytes) => Cow::Borrowed(&**bytes),
            None => read::read(&self.folder.join(name), &self.settings.limits)
                .map(Cow::Owned)
                .map_err(|Diagnostic { message, hint, .. }| {
                    let warning = self.about_texture(name, &left_out(&message));
                    warning.with_hint(hint)
                })?,
        };
        match Picture::read(name, &bytes) {
            Ok(picture) => Ok((bytes, picture)),
            Err(reason) => {
                let warning = self.about_texture(name, &left_out(&reason));
                Err(warning.with_hint("save it again, as PNG or JPEG"))
            }
        }
    }

    /// Reads the textures that `is_wanted`, given their names and whether they are in the model's own file. The second list
    /// has warnings about those that are left out, and those that come from outside of the model's folder.
    pub fn copies(
        &self,
        is_wanted: impl Fn(bool) -> bool,
    ) -> (Vec<(&str, Cow<'_, [u8]>)>, Vec<Diagnostic>) {
        let (mut copies, mut warnings) = (Vec::new(), Vec::new());
        for (name, is_embedded) in self.texture_names() {
            if !is_wanted(is_embedded) {
                continue;
            }
            match self.texture(name) {
                Ok((bytes, picture)) => {
                    let what = match picture {
                        Picture::Decoded(..) => "copied".to_owned(),
                        Picture::Header(format) => {
                            format!("copied; only its header says that it is {format}")
                        }
                    };
                    warnings.extend(self.outside(name, &what));
                    copies.push((name, bytes));
                }
                Err(warning) => warnings.push(warning),
            }
        }
        (copies, warnings)
    }

    /// Returns a warning if a texture's file is outside of the model's folder, because what is in there may be private.
    pub fn outside(&self, name: &str, what: &str) -> Option<Diagnostic> {
        if self.images.contains_key(name) || textures::is_within(&self.folder, name) {
            return None;
        }
        let message = format!("the texture is outside the model's folder, and is {what}");
        let hint = "make sure that it is the model's, or copy it into the model's folder";
        Some(self.about_texture(name, &message).with_hint(hint))
    }

    /// A warning about a texture.
    pub fn about_texture(&self, name: &str, message: &str) -> Diagnostic {
        Diagnostic::warning(&self.folder.join(name).to_string_lossy(), message)
    }
}

/// An animation, on its own or fitted to a model.
pub struct OpenAnimation {
    /// The parsed file.
    pub anim: Checked<Md5Anim>,
    /// The clip it becomes on a model opened with it.
    pub bound: Option<BoundClip>,
}

/// The clip that an animation becomes on a model.
pub struct BoundClip {
    /// Index of the model's rig.
    pub rig: usize,
    /// The clip, in the model's joint order.
    pub clip: SkeletalClip,
    /// Number of joints of the animation that the model has.
    pub shared: usize,
}

/// The part of a model that animations are fitted to.
pub struct Rig {
    /// The model's file.
    pub name: String,
    skeleton: Skeleton,
    settings: ImportSettings,
}

impl Rig {
    /// Returns `true` if the file is in the model's folder.
    pub fn is_beside(&self, path: &Path) -> bool {
        Path::new(&self.name).parent() == path.parent()
    }

    fn shared(&self, joints: &HashSet<&str>) -> usize {
        let names: HashSet<&str> = self.skeleton.names().iter().map(|name| &**name).collect();
        names.intersection(joints).count()
    }
}

impl Opened {
    /// Returns `true` if a diagnostic is an error.
    pub fn failed(&self) -> bool {
        self.diagnostics
            .iter()
            .any(|d| d.severity == Severity::Error)
    }

    /// Returns the model, if the file holds one.
    pub fn model(&self) -> Option<&OpenModel> {
        match &self.content {
            Some(Content::Model(model)) => Some(model),
            _ => None,
        }
    }

    /// Returns the model, if the file holds one.
    pub fn into_model(self) -> Option<OpenModel> {
        match self.content {
            Some(Content::Model(model)) => Some(*model),
            _ => None,
        }
    }

    /// Returns the model's rig, if the file holds a model.
    pub fn rig(&self) -> Option<Rig> {
        let OpenModel {
            model, settings, ..
        } = self.model()?;
        Some(Rig {
            name: self.name.clone(),
            skeleton: model.skeleton.clone(),
            settings: *settings,
        })
    }
}

/// Returns `true` for files to open with [`open_animation`], after the models.
pub fn is_animation(path: &Path) -> bool {
    FileKind::of_name(&path.to_string_lossy()) == Some(FileKind::Md5Anim)
}

/// Opens a model, or a manifest and all files it names.
pub fn open_model(path: &Path, args: &ImportArgs) -> Opened {
    let limits = args.limits();
    open(path, &limits, |name, kind, source| {
        if kind == FileKind::Baked {
            let baked = BakedCharacter::read(name, source, &limits)?;
            let (manifest, imported) = baked.into_imported();
            let settings = args.over(manifest.settings());
            let files = vec![path.to_owned()];
            return Ok(finish(path, imported, Some(manifest), settings, files));
        }
        if kind != FileKind::Manifest {
            let settings = args.over(ImportSettings::default());
            let manifest = Manifest::of_model(name).with_settings(&settings);
            let mut files = vec![path.to_owned()];
            let imported = open_manifest(name, &manifest, &limits, |file| {
                // The model has been read already.
                if file == name {
                    return Ok(Cow::Borrowed(source));
                }
                // Files beside it have the folder in front already.
                files.push(file.into());
                read_beside(Path::new(file), &limits)
            })?;
            let manifest = (!imported.embedded.is_empty()).then_some(manifest);
            return Ok(finish(path, imported, manifest, settings, files));
        }
        let manifest = Manifest::parse(name, source)?;
        let settings = args.over(manifest.settings());
        let manifest = manifest.with_settings(&settings);
        let folder = path.parent().unwrap_or(Path::new(""));
        let located = |file: &str| folder.join(file.replace('\\', "/"));
        let mut files = vec![path.to_owned()];
        let assembled = open_manifest(name, &manifest, &limits, |file| {
            files.push(located(file));
            read_beside(&located(file), &limits)
        });
        // Diagnostics name files as the manifest does; users need paths that they can open.
        let named: HashSet<&str> = manifest
            .clip_files()
            .into_iter()
            .chain([&*manifest.model])
            .collect();
        let relocate = |diagnostics: &mut [Diagnostic]| {
            for diagnostic in diagnostics {
                let file = &*diagnostic.file;
                if named.contains(file) {
                    diagnostic.file = located(file).to_string_lossy().into();
                }
            }
        };
        let mut imported = assembled.map_err(|mut error| {
            relocate(&mut error.diagnostics);
            error
        })?;
        relocate(&mut imported.warnings);
        Ok(finish(
            &located(&manifest.model),
            imported,
            Some(manifest),
            settings,
            files,
        ))
    })
}

/// Does the same, but refuses a baked character: its images are no files anymore.
pub fn open_unbaked(path: &Path, args: &ImportArgs) -> Opened {
    let mut opened = open_model(path, args);
    if opened.kind == Some(FileKind::Baked) && !opened.failed() {
        let error = Diagnostic::error(&opened.name, "this character is baked already");
        let error = error.with_hint("name the file that it was baked from");
        (opened.content, opened.diagnostics) = (None, vec![error]);
    }
    opened
}

/// Reads a file that another one names. A second line of the error is what to do.
pub fn read_beside(path: &Path, limits: &ImportLimits) -> Result<Cow<'static, [u8]>, String> {
    read::read(path, limits)
        .map(Cow::Owned)
        .map_err(|Diagnostic { message, hint, .. }| {
            if hint.is_empty() {
                message
            } else {
                format!("{message}\n{hint}")
            }
        })
}

/// Opens an animation and fits it to the rig with which it shares the most joints.
///
/// With `insist`, it is an error if there is just one rig and no joint is shared.
pub fn open_animation(path: &Path, rigs: &[&Rig], insist: bool, limits: &ImportLimits) -> Opened {
    open(path, limits, |name, _, source| {
        let parsed = md5::parse_anim(name, source)?;
        let (anim, mut warnings) = (parsed.value, parsed.warnings);
        let joints: HashSet<&str> = anim
            .joints
            .iter()
            .map(|joint| joint.name.as_str())
            .collect();
        // `max_by_key` returns the last of several equals, so the first comes last.
        let fits = rigs
            .iter()
            .enumerate()
            .rev()
            .map(|(at, rig)| (rig.shared(&joints), rig.is_beside(path), at));
        let best = fits.max_by_key(|&(shared, beside, _)| (shared, beside));
        let bound = match best.filter(|&(shared, ..)| shared > 0 || (insist && rigs.len() == 1)) {
            Some((shared, _, rig)) => {
                let Rig {
                    skeleton, settings, ..
                } = rigs[rig];
                let clip = clip_from_md5(name, &stem(path), &anim, skeleton, settings)?;
                limits.check_clip(name, &clip.value)?;
                warnings.extend(clip.warnings);
                Some(BoundClip {
                    rig,
                    clip: clip.value,
                    shared,
                })
            }
            None => None,
        };
        Ok(Parsed {
            value: Content::Animation(Box::new(OpenAnimation { anim, bound })),
            warnings,
        })
    })
}

/// Opens the files of a command line, models before animations. Results are in the order of the paths;
/// [`BoundClip::rig`] is an index into the second list.
pub fn open_all(paths: &[PathBuf], args: &ImportArgs) -> (Vec<Opened>, Vec<Rig>) {
    let mut opened: Vec<Option<Opened>> = paths
        .iter()
        .map(|path| (!is_animation(path)).then(|| open_model(path, args)))
        .collect();
    // Models come first, because animations are fitted to them.
    let rigs: Vec<Rig> = opened.iter().flatten().filter_map(Opened::rig).collect();
    let all: Vec<&Rig> = rigs.iter().collect();
    for (slot, path) in opened.iter_mut().zip(paths) {
        slot.get_or_insert_with(|| open_animation(path, &all, true, &args.limits()));
    }
    (opened.into_iter().flatten().collect(), rigs)
}

/// A clip and the file it is from.
pub struct Named {
    /// The path as the user wrote it.
    pub file: String,
    /// The clip, in the model's joint order.
    pub clip: SkeletalClip,
}

/// Opens the clips of files for a model, in the order of the paths.
///
/// # Errors
/// A file that cannot be read, or that has no clips for the model.
pub fn clips_of(paths: &[PathBuf], model: &OpenModel) -> Result<Parsed<Vec<Named>>, FormatError> {
    let (mut clips, mut warnings) = (Vec::new(), Vec::new());
    let mut progress = Progress::new(paths.len());
    for path in paths {
        progress.next(&path.to_string_lossy());
        let file = path.to_string_lossy().into_owned();
        let source = read::read(path, &model.settings.limits).map_err(FormatError::one)?;
        let (skeleton, settings) = (&model.model.skeleton, &model.settings);
        let found = open_clips_with(&file, &stem(path), &source, skeleton, settings, |file| {
            read_beside(Path::new(file), &settings.limits)
        })?;
        warnings.extend(found.warnings);
        clips.extend(found.value.into_iter().map(|clip| Named {
            file: file.clone(),
            clip,
        }));
    }
    Ok(Parsed {
        value: clips,
        warnings,
    })
}

/// Returns the name of a file's clip: `walk` for `path/walk.md5anim`.
pub fn stem(path: &Path) -> String {
    path.file_stem()
        .map(|stem| stem.to_string_lossy().into_owned())
        .unwrap_or_default()
}

fn open(
    path: &Path,
    limits: &ImportLimits,
    parse: impl FnOnce(&str, FileKind, &[u8]) -> Result<Parsed<Content>, FormatError>,
) -> Opened {
    let name = path.to_string_lossy().into_owned();
    let kind = FileKind::of_name(&name);
    let mut bytes = 0;
    let content = || {
        // Checked before it is read, so that a huge file isn't loaded only to be refused.
        bytes = read::check(path, limits).map_err(FormatError::one)?;
        let kind = kind.ok_or_else(|| {
            let error = Diagnostic::error(&name, "unknown kind of file");
            FormatError::one(error.with_hint(
                "names end in .glb, .gltf, .vrm, .vrma, .fbx, .m3d, .md5mesh, .md5anim, .character.ron or .character.bin",
            ))
        })?;
        parse(
            &name,
            kind,
            &read::read(path, limits).map_err(FormatError::one)?,
        )
    };
    let (content, diagnostics) = match content() {
        Ok(Parsed { value, warnings }) => (Some(value), warnings),
        Err(error) => (None, error.diagnostics),
    };
    Opened {
        name,
        kind,
        bytes,
        content,
        diagnostics,
    }
}

/// Adds the textures of an imported model, whose file is at `path`.
fn finish(
    path: &Path,
    imported: Imported,
    manifest: Option<Manifest>,
    settings: ImportSettings,
    files: Vec<PathBuf>,
) -> Parsed<Content> {
    let Imported {
        model,
        mut warnings,
        report,
        images,
        embedded,
        avatar,
        ..
    } = imported;
    let manifest = manifest.map(|manifest| manifest.with_embedded(&embedded).into_owned());
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let own: Vec<&str> = images.keys().map(String::as_str).collect();
    let listed = manifest
        .as_ref()
        .map_or(&[][..], |manifest| &manifest.textures);
    let textures = textures::resolve(&model.materials, &folder, listed, &own);
    let name = path.to_string_lossy();
    warnings.extend(textures::missing(&name, &textures));
    warnings.extend(textures::features(&name, &textures));
    let model = OpenModel {
        model,
        report,
        textures,
        images,
        manifest,
        embedded,
        avatar,
        settings,
        files,
        folder,
    };
    Parsed {
        value: Content::Model(Box::new(model)),
        warnings,
    }
}
