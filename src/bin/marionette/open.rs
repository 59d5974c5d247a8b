//! From paths to models and clips, with everything there is to say about them.

use crate::textures::{self, TextureUse};
use bevy_marionette::{
    format::{
        Checked, Diagnostic, FormatError, Severity,
        m3d::{self, Dialect},
        md5::{self, Md5Anim},
    },
    import::{
        FileKind, Hand, ImportReport, ImportSettings, Imported, Limits, Manifest, UpAxis, assemble, clip_from_md5,
        from_m3d, from_md5,
    },
    model::{Model, SkeletalClip, Skeleton},
};
use clap::{Args, ValueEnum};
use std::{
    borrow::Cow,
    collections::HashSet,
    fs, io,
    path::{Path, PathBuf},
};

/// How files are read, where they do not say it or say it wrong.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Import")]
pub struct ImportArgs {
    /// Factor on every length, such as 0.0254 for a model in inches [default: 1, or what the manifest says]
    #[arg(long, value_name = "FACTOR", value_parser = positive)]
    scale: Option<f32>,
    /// The file's hand [default: auto, or what the manifest says]
    #[arg(long, value_enum)]
    hand: Option<HandArg>,
    /// The axis that points up in the file [default: auto, or what the manifest says]
    #[arg(long, value_enum)]
    up: Option<UpArg>,
    /// Most that a file may hold, such as joints=256 for a budget; may be given again
    ///
    /// Names: file_bytes, joints, vertices, triangles, influences (of one vertex), clips, clip_seconds,
    /// clip_bytes (in memory).
    #[arg(long = "limit", value_name = "NAME=MOST", value_parser = limit)]
    limits: Vec<(&'static str, u64)>,
}

fn limit(text: &str) -> Result<(&'static str, u64), String> {
    let (name, most) = text.split_once('=').ok_or("expected NAME=MOST, such as joints=256")?;
    let names = Limits::NAMES;
    let known = names.into_iter().find(|known| *known == name);
    let known = known.ok_or_else(|| format!("there is no such limit; there are {}", names.join(", ")))?;
    let most = most.parse().ok().filter(|&most| Limits::default().set(known, most));
    Ok((known, most.ok_or("expected a whole number, not too large")?))
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum HandArg {
    /// By the winding against the normals for .m3d; right for MD5
    Auto,
    /// Left-handed, Direct3D's custom: z is negated
    Left,
    /// Right-handed
    Right,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum UpArg {
    /// Y for .m3d, Z for MD5
    Auto,
    /// Y is up; axes stay
    Y,
    /// Z is up and +X forward: (x, y, z) becomes (-y, z, -x)
    Z,
}

fn positive(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(factor) if factor.is_finite() && factor > 0.0 => Ok(factor),
        _ => Err("expected a number greater than 0".to_owned()),
    }
}

impl ImportArgs {
    /// The limits of the command line.
    pub fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        for &(name, most) in &self.limits {
            limits.set(name, most);
        }
        limits
    }

    /// `base` with what the command line says otherwise.
    pub fn over(&self, base: ImportSettings) -> ImportSettings {
        let hand = self.hand.map(|hand| match hand {
            HandArg::Auto => Hand::Auto,
            HandArg::Left => Hand::Left,
            HandArg::Right => Hand::Right,
        });
        let up = self.up.map(|up| match up {
            UpArg::Auto => UpAxis::Auto,
            UpArg::Y => UpAxis::Y,
            UpArg::Z => UpAxis::Z,
        });
        ImportSettings {
            scale: self.scale.unwrap_or(base.scale),
            hand: hand.unwrap_or(base.hand),
            up: up.unwrap_or(base.up),
            limits: self.limits(),
        }
    }
}

/// A file that was looked at, usable or not.
pub struct Opened {
    /// The path as the user wrote it.
    pub name: String,
    /// What the name says it is.
    pub kind: Option<FileKind>,
    /// Size on disk.
    pub bytes: u64,
    /// What is in it; `None` where a diagnostic is an error.
    pub content: Option<Content>,
    /// Errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
}

/// What is in a file.
pub enum Content {
    /// A model, or a character put together by its manifest.
    Model(Box<OpenModel>),
    /// An animation.
    Animation(Box<OpenAnimation>),
}

/// A model with what the importer does not keep.
pub struct OpenModel {
    /// The model in Bevy's axes.
    pub model: Model,
    /// Figures about the import.
    pub report: ImportReport,
    /// The exporter's habits; `None` for MD5.
    pub dialect: Option<Dialect>,
    /// Vertices in the file, used or not, in all subsets or submeshes.
    pub vertices: usize,
    /// Triangles in the file.
    pub triangles: usize,
    /// Per material, the maps it names.
    pub textures: Vec<Vec<TextureUse>>,
    /// The manifest that put it together.
    pub manifest: Option<Manifest>,
    /// How it was imported: clips from other files must be, too.
    pub settings: ImportSettings,
}

/// An animation by itself or for a model.
pub struct OpenAnimation {
    /// What the file says.
    pub anim: Checked<Md5Anim>,
    /// The clip it makes for a model named beside it.
    pub bound: Option<BoundClip>,
}

/// An animation's clip for a model.
pub struct BoundClip {
    /// Index of the model's rig.
    pub rig: usize,
    /// The clip, in the model's joint order.
    pub clip: SkeletalClip,
    /// Joints of the animation that the model has.
    pub shared: usize,
}

/// What an animation needs to know of a model.
pub struct Rig {
    /// The model's file.
    pub name: String,
    skeleton: Skeleton,
    settings: ImportSettings,
}

impl Rig {
    /// Whether a file lies in the model's folder.
    pub fn is_beside(&self, path: &Path) -> bool {
        Path::new(&self.name).parent() == path.parent()
    }

    fn shared(&self, joints: &HashSet<&str>) -> usize {
        let names: HashSet<&str> = self.skeleton.names().iter().map(|name| &**name).collect();
        names.intersection(joints).count()
    }
}

impl Opened {
    /// Whether a diagnostic is an error.
    pub fn failed(&self) -> bool {
        self.diagnostics.iter().any(|d| d.severity == Severity::Error)
    }

    /// The model in it.
    pub fn model(&self) -> Option<&OpenModel> {
        match &self.content {
            Some(Content::Model(model)) => Some(model),
            _ => None,
        }
    }

    /// What animations need to know of the model in it.
    pub fn rig(&self) -> Option<Rig> {
        let OpenModel { model, settings, .. } = self.model()?;
        Some(Rig { name: self.name.clone(), skeleton: model.skeleton.clone(), settings: *settings })
    }
}

/// Whether the file is to be opened by [`open_animation`], after the models.
pub fn is_animation(path: &Path) -> bool {
    FileKind::of_name(&path.to_string_lossy()) == Some(FileKind::Md5Anim)
}

/// Opens a model or a manifest with all it names. Animations are for [`open_animation`].
pub fn open_model(path: &Path, args: &ImportArgs) -> Opened {
    open(path, args.limits(), |name, kind, source| match kind {
        FileKind::M3d | FileKind::Md5Mesh => {
            let settings = args.over(ImportSettings::default());
            let (imported, facts) = import(name, kind, source, &settings)?;
            settings.limits.check(name, &imported)?;
            Ok(finish(path, imported, facts, None, settings))
        }
        FileKind::Manifest => {
            let mut manifest = Manifest::parse(name, source)?;
            let settings = args.over(manifest.settings());
            ImportSettings { scale: manifest.scale, hand: manifest.hand, up: manifest.up, .. } = settings;
            let folder = path.parent().unwrap_or(Path::new(""));
            let model_path = folder.join(slashes(&manifest.model));
            let read = |file: &str| {
                let path = folder.join(slashes(file));
                // Its size is looked at before it is read.
                let bytes = fs::metadata(&path).map_err(|error| why(&path, &error))?.len();
                settings.limits.check_size(file, bytes).map_err(|error| error.diagnostics[0].message.clone())?;
                fs::read(&path).map(Cow::Owned).map_err(|error| why(&path, &error))
            };
            let mut imported = assemble(name, &manifest, &settings.limits, read).map_err(|mut error| {
                relocate(&mut error.diagnostics, folder, &manifest);
                error
            })?;
            relocate(&mut imported.warnings, folder, &manifest);
            // Assembling forgets what only the model's file says; reading it again is quick.
            let facts = fs::read(&model_path).ok().and_then(|source| {
                let kind = FileKind::of_name(&manifest.model)?;
                facts(&manifest.model, kind, &source)
            });
            Ok(finish(&model_path, imported, facts.unwrap_or_default(), Some(manifest), settings))
        }
        FileKind::Md5Anim => {
            let error = Diagnostic::error(name, "an .md5anim holds a clip, not a model");
            Err(FormatError::one(error.with_hint("name the .md5mesh first and this file after it")))
        }
    })
}

/// Opens an animation, for the rig that shares most joints with it.
///
/// With `insist`, having no joint in common with a lone rig is an error: the user put the two together.
pub fn open_animation(path: &Path, rigs: &[&Rig], insist: bool, limits: Limits) -> Opened {
    open(path, limits, |name, _, source| {
        let parsed = md5::parse_anim(name, source)?;
        let (anim, mut warnings) = (parsed.value, parsed.warnings);
        let joints: HashSet<&str> = anim.joints.iter().map(|joint| joint.name.as_str()).collect();
        // `max_by_key` takes the last of equals; from the back, that is the first.
        let fits = rigs.iter().enumerate().rev().map(|(at, rig)| (rig.shared(&joints), rig.is_beside(path), at));
        let best = fits.max_by_key(|&(shared, beside, _)| (shared, beside));
        let bound = match best.filter(|&(shared, ..)| shared > 0 || (insist && rigs.len() == 1)) {
            Some((shared, _, at)) => {
                let rig = rigs[at];
                let made = clip_from_md5(name, &stem(path), &anim, &rig.skeleton, &rig.settings)?;
                limits.check_clip(name, &made.value)?;
                warnings.extend(made.warnings);
                Some(BoundClip { rig: at, clip: made.value, shared })
            }
            None => None,
        };
        Ok((Content::Animation(Box::new(OpenAnimation { anim, bound })), warnings))
    })
}

/// Opens files as they come on a command line: models first, and the animations for them. The answers
/// are in the order of the paths; [`BoundClip::rig`] is an index into the second list.
pub fn open_all(paths: &[PathBuf], args: &ImportArgs) -> (Vec<Opened>, Vec<Rig>) {
    let mut opened: Vec<Option<Opened>> =
        paths.iter().map(|path| (!is_animation(path)).then(|| open_model(path, args))).collect();
    let rigs: Vec<Rig> = opened.iter().flatten().filter_map(Opened::rig).collect();
    let all: Vec<&Rig> = rigs.iter().collect();
    for (slot, path) in opened.iter_mut().zip(paths) {
        slot.get_or_insert_with(|| open_animation(path, &all, true, args.limits()));
    }
    (opened.into_iter().flatten().collect(), rigs)
}

/// Bytes of a file, or an error that says why not.
pub fn read(path: &Path) -> Result<Vec<u8>, FormatError> {
    fs::read(path).map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, error: &io::Error) -> FormatError {
    let message = format!("cannot read it: {}", reason(error));
    let diagnostic = Diagnostic::error(&path.to_string_lossy(), message);
    let missing = error.kind() == io::ErrorKind::NotFound;
    FormatError::one(match missing.then(|| nearest(path)).flatten() {
        Some(near) => diagnostic.with_hint(format!("there is `{near}` beside it")),
        None => diagnostic,
    })
}

/// Why a file that another names cannot be read, and which one may be meant.
fn why(path: &Path, error: &io::Error) -> String {
    let near = (error.kind() == io::ErrorKind::NotFound).then(|| nearest(path)).flatten();
    let near = near.map(|near| format!("; there is `{near}` beside it")).unwrap_or_default();
    reason(error) + &near
}

/// The file in the folder of `path` that differs from it in case alone, or else in its extension alone.
fn nearest(path: &Path) -> Option<String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let lower = |path: &Path| path.to_string_lossy().to_lowercase();
    let (name, stem) = (lower(Path::new(path.file_name()?)), lower(Path::new(path.file_stem()?)));
    let entries = fs::read_dir(folder).ok()?.flatten().map(|entry| PathBuf::from(entry.file_name()));
    let known = entries.filter(|file| FileKind::of_name(&file.to_string_lossy()).is_some());
    let likeness =
        |file: &PathBuf| (lower(file) == name, file.file_stem().is_some_and(|s| lower(Path::new(s)) == stem));
    // Of equals the first by name: a system lists files in any order.
    let mut near: Vec<PathBuf> = known.filter(|file| likeness(file) != (false, false)).collect();
    near.sort();
    near.into_iter().rev().max_by_key(likeness).map(|file| file.to_string_lossy().into_owned())
}

/// What an error of the system means, without its number.
pub fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
        _ => error.to_string(),
    }
}

/// The name of a file's clip: `walk` for `path/walk.md5anim`.
pub fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

fn open(
    path: &Path,
    limits: Limits,
    read_content: impl Fn(&str, FileKind, &[u8]) -> Result<(Content, Vec<Diagnostic>), FormatError>,
) -> Opened {
    let name = path.to_string_lossy().into_owned();
    let kind = FileKind::of_name(&name);
    let mut bytes = 0;
    let mut content = || {
        // Looked at before it is read: a name that means nothing may be a device without end.
        bytes = fs::metadata(path).map_err(|error| unreadable(path, &error))?.len();
        let kind = kind.ok_or_else(|| {
            let error = Diagnostic::error(&name, "this is no kind of file that marionette knows by its name");
            FormatError::one(error.with_hint("names end in .m3d, .md5mesh, .md5anim or .character.ron"))
        })?;
        limits.check_size(&name, bytes)?;
        read_content(&name, kind, &read(path)?)
    };
    let content = content();
    let (content, diagnostics) = match content {
        Ok((content, warnings)) => (Some(content), warnings),
        Err(error) => (None, error.diagnostics),
    };
    Opened { name, kind, bytes, content, diagnostics }
}

/// What only the file says.
#[derive(Default)]
struct Facts {
    dialect: Option<Dialect>,
    vertices: usize,
    triangles: usize,
}

impl Facts {
    fn of_m3d(m3d: &m3d::M3d) -> Self {
        Self { dialect: Some(m3d.dialect), vertices: m3d.vertices.len(), triangles: m3d.triangles.len() }
    }

    fn of_md5(mesh: &md5::Md5Mesh) -> Self {
        let vertices = mesh.meshes.iter().map(|m| m.vertices.len()).sum();
        let triangles = mesh.meshes.iter().map(|m| m.triangles.len()).sum();
        Self { dialect: None, vertices, triangles }
    }
}

fn facts(name: &str, kind: FileKind, source: &[u8]) -> Option<Facts> {
    match kind {
        FileKind::M3d => m3d::parse(name, source).ok().map(|parsed| Facts::of_m3d(&parsed.value)),
        FileKind::Md5Mesh => md5::parse_mesh(name, source).ok().map(|parsed| Facts::of_md5(&parsed.value)),
        FileKind::Md5Anim | FileKind::Manifest => None,
    }
}

fn import(
    name: &str,
    kind: FileKind,
    source: &[u8],
    settings: &ImportSettings,
) -> Result<(Imported, Facts), FormatError> {
    let (mut warnings, facts, mut imported);
    if kind == FileKind::M3d {
        let parsed = m3d::parse(name, source)?;
        (warnings, facts) = (parsed.warnings, Facts::of_m3d(&parsed.value));
        imported = from_m3d(name, &parsed.value, settings)?;
    } else {
        let parsed = md5::parse_mesh(name, source)?;
        (warnings, facts) = (parsed.warnings, Facts::of_md5(&parsed.value));
        imported = from_md5(name, &parsed.value, settings)?;
    }
    warnings.append(&mut imported.warnings);
    imported.warnings = warnings;
    Ok((imported, facts))
}

/// The content for `imported`, whose model is the file at `path`, and its warnings.
fn finish(
    path: &Path,
    imported: Imported,
    facts: Facts,
    manifest: Option<Manifest>,
    settings: ImportSettings,
) -> (Content, Vec<Diagnostic>) {
    let Imported { model, mut warnings, report } = imported;
    let Facts { dialect, vertices, triangles } = facts;
    let textures = textures::resolve(&model.materials, path.parent().unwrap_or(Path::new("")));
    warnings.extend(textures::missing(&path.to_string_lossy(), &textures));
    let model = OpenModel { model, report, dialect, vertices, triangles, textures, manifest, settings };
    (Content::Model(Box::new(model)), warnings)
}

/// A manifest names files relative to itself; people want to hear of them as they wrote the manifest's path.
fn relocate(diagnostics: &mut [Diagnostic], folder: &Path, manifest: &Manifest) {
    for diagnostic in diagnostics {
        let file = &*diagnostic.file;
        if file == manifest.model || manifest.clip_files().contains(&file) {
            diagnostic.file = folder.join(slashes(file)).to_string_lossy().into();
        }
    }
}

fn slashes(path: &str) -> String {
    path.replace('\\', "/")
}
