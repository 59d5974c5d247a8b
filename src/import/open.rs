//! From the bytes of a file to a model, or to clips for one. Shared by the asset loaders and the command line.

use super::{
    ImportSettings, Imported, OnImages,
    by_role::fit_by_role,
    clip_from_md5,
    donor::{ClipFile, fit, strangers},
    from_m3d, from_md5,
    matching::without_prefix,
    wanted::Wanted,
};
use crate::{
    format::{Diagnostic, FormatError, Parsed, m3d, md5},
    model::{SkeletalClip, Skeleton},
};
use std::{borrow::Cow, collections::HashSet, mem};

/// The kind of a file, by its name.
///
/// ```
/// # use bevy_marionette::import::FileKind;
/// /// Returns `true` for files to show in a list of characters.
/// fn is_character(name: &str) -> bool {
///     FileKind::of_name(name).is_some_and(|kind| kind != FileKind::Md5Anim)
/// }
/// assert!(is_character("Knight.GLB") && !is_character("walk.md5anim"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// Luna's `.m3d`.
    M3d,
    /// `.md5mesh`.
    Md5Mesh,
    /// `.md5anim`.
    Md5Anim,
    /// `.glb`, `.gltf`, or `.vrm` and `.vrma`, which are `.glb` files with more in them.
    Gltf,
    /// `.fbx`.
    Fbx,
    /// `.character.ron`.
    Manifest,
    /// `.character.bin`: see [`BakedCharacter`](super::BakedCharacter).
    Baked,
}

impl FileKind {
    /// Returns `true` for glTF and FBX, whose clips can be fitted to another file's skeleton by joint name.
    pub fn is_scene(self) -> bool {
        matches!(self, Self::Gltf | Self::Fbx)
    }

    /// Returns the kind of the file called `name`, or `None` if its extension is not one of ours.
    pub fn of_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        [
            (".m3d", Self::M3d),
            (".md5mesh", Self::Md5Mesh),
            (".md5anim", Self::Md5Anim),
            (".glb", Self::Gltf),
            (".gltf", Self::Gltf),
            (".vrm", Self::Gltf),
            (".vrma", Self::Gltf),
            (".fbx", Self::Fbx),
            (".character.ron", Self::Manifest),
            (".character.bin", Self::Baked),
        ]
        .into_iter()
        .find_map(|(extension, kind)| name.ends_with(extension).then_some(kind))
    }
}

/// Parses and imports a model of any format, chosen by the extension of `file`.
///
/// # Errors
/// The file cannot be parsed or imported, holds more than `settings.limits` allow, or is a `.gltf` that needs other files:
/// use [`open_manifest`](super::open_manifest) with a [`Manifest::of_model`](super::Manifest::of_model).
///
/// ```no_run
/// # use bevy_marionette::import::{ImportLimits, ImportSettings, open_model};
/// # fn f() -> Result<(), Box<dyn std::error::Error>> {
/// let settings = ImportSettings {
///     scale: 0.0254,
///     limits: ImportLimits { joints: 200, ..ImportLimits::default() },
///     ..ImportSettings::default()
/// };
/// let imported = open_model("soldier.md5mesh", &std::fs::read("soldier.md5mesh")?, &settings)?;
/// for warning in &imported.warnings {
///     eprintln!("{warning}");
/// }
/// println!("{} joints", imported.model.skeleton.len());
/// # Ok(())
/// # }
/// ```
pub fn open_model(
    file: &str,
    source: &[u8],
    settings: &ImportSettings,
) -> Result<Imported, FormatError> {
    open_model_with(file, source, settings, |_| Err(ALONE.to_owned()))
}

const ALONE: &str = "only this one file is given";

/// Like [`open_model`], for a model that may refer to other files: a `.gltf` with its buffers in files beside it. `read` returns
/// the contents of a file, named relative to the folder that `file` is relative to.
///
/// # Errors
/// As for [`open_model`], and if a file cannot be read.
pub fn open_model_with<'s>(
    file: &str,
    source: &[u8],
    settings: &ImportSettings,
    mut read: impl FnMut(&str) -> Result<Cow<'s, [u8]>, String>,
) -> Result<Imported, FormatError> {
    open_any(file, source, settings, &mut read)
}

/// Returns the files that a model needs besides itself, relative to the folder that `file` is relative to: those with the
/// buffers of a `.gltf`.
pub fn files_beside(file: &str, source: &[u8]) -> Vec<String> {
    #[cfg(feature = "gltf")]
    if FileKind::of_name(file) == Some(FileKind::Gltf) {
        return super::gltf::files(source)
            .into_iter()
            .map(|name| format!("{}{name}", folder_of(file)))
            .collect();
    }
    let _ = (file, source);
    Vec::new()
}

/// Returns the folder of a file, including the slash.
#[cfg(feature = "gltf")]
fn folder_of(file: &str) -> &str {
    file.rfind(['/', '\\']).map_or("", |slash| &file[..=slash])
}

/// Reads a file by its name. The second line of an error, if there is one, is what to do.
pub(super) type Read<'r, 's> = &'r mut dyn FnMut(&str) -> Result<Cow<'s, [u8]>, String>;

/// Splits the error of a [`Read`] into the reason and the hint: `usual`, unless it has its own.
pub(super) fn reason_and_hint<'a>(error: &'a str, usual: &'a str) -> (&'a str, &'a str) {
    error.split_once('\n').unwrap_or((error, usual))
}

pub(super) fn open_any(
    file: &str,
    source: &[u8],
    settings: &ImportSettings,
    read: Read,
) -> Result<Imported, FormatError> {
    open_file(
        file,
        source,
        settings,
        read,
        Wanted::default(),
        &mut |_, _| (),
    )
}

/// Opens a file, or what is `wanted` of it.
pub(super) fn open_file(
    file: &str,
    source: &[u8],
    settings: &ImportSettings,
    read: Read,
    wanted: Wanted,
    on_images: OnImages,
) -> Result<Imported, FormatError> {
    // Before the file is parsed, which takes time in proportion to its size.
    settings.limits.check_size(file, source.len() as u64)?;
    let (warnings, imported) = match FileKind::of_name(file) {
        Some(FileKind::M3d) => {
            let parsed = m3d::parse(file, source)?;
            (parsed.warnings, from_m3d(file, &parsed.value, settings)?)
        }
        Some(FileKind::Md5Mesh) => {
            let parsed = md5::parse_mesh(file, source)?;
            (parsed.warnings, from_md5(file, &parsed.value, settings)?)
        }
        #[cfg(feature = "gltf")]
        Some(FileKind::Gltf) => {
            let mut beside = |name: &str| read(&format!("{}{name}", folder_of(file)));
            (
                Vec::new(),
                super::gltf::import(file, source, settings, &mut beside, wanted, on_images)?,
            )
        }
        #[cfg(all(feature = "fbx", not(target_arch = "wasm32")))]
        Some(FileKind::Fbx) => (
            Vec::new(),
            super::fbx::import(file, source, settings, wanted.is_joint, on_images)?,
        ),
        #[cfg(not(all(feature = "fbx", not(target_arch = "wasm32"))))]
        Some(FileKind::Fbx) => return Err(FormatError::one(no_fbx(file))),
        #[cfg(not(feature = "gltf"))]
        Some(FileKind::Gltf) => {
            let _ = (read, wanted, on_images);
            let error = Diagnostic::error(file, "this program was built without support for glTF");
            return Err(FormatError::one(
                error.with_hint("enable the feature `gltf` of bevy_marionette"),
            ));
        }
        Some(FileKind::Md5Anim | FileKind::Manifest | FileKind::Baked) | None => {
            return Err(FormatError::one(no_model(file, file)));
        }
    };
    settings.limits.check(file, &imported)?;
    Ok(Imported {
        warnings: [warnings, imported.warnings].concat(),
        ..imported
    })
}

/// Returns the error for a model that is none by its name. `file` names it.
pub(super) fn no_model(file: &str, model: &str) -> Diagnostic {
    if FileKind::of_name(model) == Some(FileKind::Md5Anim) {
        return Diagnostic::error(file, format!("`{model}` holds a clip, not a model"))
            .with_hint("open the .md5mesh and add this file as a clip");
    }
    if FileKind::of_name(model) == Some(FileKind::Baked) {
        return Diagnostic::error(
            file,
            format!("`{model}` is a finished character, not a model"),
        )
        .with_hint("load it by itself, or name the file that it was baked from");
    }
    Diagnostic::error(file, format!("unsupported model format: `{model}`")).with_hint(
        "models end in .glb, .gltf, .fbx, .m3d or .md5mesh; export the model as one of them",
    )
}

/// Returns the error for FBX files in a program that cannot read them.
#[cfg(not(all(feature = "fbx", not(target_arch = "wasm32"))))]
fn no_fbx(file: &str) -> Diagnostic {
    let error = Diagnostic::error(file, "this program was built without support for FBX");
    error.with_hint(if cfg!(target_arch = "wasm32") {
        "FBX is not read on the web: convert the file with `marionette convert`, and load the .glb"
    } else {
        "enable the feature `fbx` of bevy_marionette, or convert the file to .glb with `marionette convert`"
    })
}

/// Parses and imports the clips of a file for a skeleton: the one clip of an `.md5anim`, which is called
/// `name`, or all clips of a model. Joints are matched by name, and those of a `.vrma`, which is for any humanoid, by their
/// roles: see [`Skeleton::roles`].
///
/// In glTF and FBX files, joints also match if they have another prefix, such as `mixamorig:`. Their keys are absolute, so it makes no
/// difference in which pose the file's own nodes stand, and what has no keys is as in the skeleton: a joint that a clip only turns
/// keeps the length of its bone. One whose translation has keys is where these put it, also if the skeleton's bones are longer or
/// shorter. An armature that stands above the joints and is turned, or in another unit, is put right, and warnings say so, unless
/// [`ImportSettings::as_is`] is set.
///
/// # Errors
/// The file cannot be parsed or imported, exceeds `settings.limits`, has no joint in common with the skeleton, or is a `.gltf`
/// that needs other files: use [`open_clips_with`].
pub fn open_clips(
    file: &str,
    name: &str,
    source: &[u8],
    skeleton: &Skeleton,
    settings: &ImportSettings,
) -> Result<Parsed<Vec<SkeletalClip>>, FormatError> {
    open_clips_with(file, name, source, skeleton, settings, |_| {
        Err(ALONE.to_owned())
    })
}

/// Like [`open_clips`], for a file that may refer to others; see [`open_model_with`].
///
/// # Errors
/// As for [`open_clips`], and if a file cannot be read.
pub fn open_clips_with<'s>(
    file: &str,
    name: &str,
    source: &[u8],
    skeleton: &Skeleton,
    settings: &ImportSettings,
    mut read: impl FnMut(&str) -> Result<Cow<'s, [u8]>, String>,
) -> Result<Parsed<Vec<SkeletalClip>>, FormatError> {
    let found = clips_of_any(file, name, source, skeleton, settings, &mut read)?;
    Ok(Parsed {
        value: found.value.build(file, skeleton)?,
        warnings: found.warnings,
    })
}

pub(super) fn clips_of_any(
    file: &str,
    name: &str,
    source: &[u8],
    skeleton: &Skeleton,
    settings: &ImportSettings,
    read: Read,
) -> Result<Parsed<ClipFile>, FormatError> {
    if FileKind::of_name(file) == Some(FileKind::Md5Anim) {
        settings.limits.check_size(file, source.len() as u64)?;
        let anim = md5::parse_anim(file, source)?;
        let clip = clip_from_md5(file, name, &anim.value, skeleton, settings)?;
        settings.limits.check_clip(file, &clip.value)?;
        return Ok(Parsed {
            value: ClipFile::ByName(vec![clip.value]),
            warnings: [anim.warnings, clip.warnings].concat(),
        });
    }
    // Above the joints that move are joints that the model has, too, and nodes that are not joints.
    let ours: HashSet<&str> = skeleton
        .names()
        .iter()
        .map(|name| without_prefix(name))
        .collect();
    let mut donor = open_file(
        file,
        source,
        settings,
        read,
        Wanted {
            is_joint: Some(&|name| ours.contains(without_prefix(name))),
            scene: None,
        },
        &mut |_, _| (),
    )?;
    let mut warnings = mem::take(&mut donor.warnings);
    // Only the clips are of use from here on.
    (donor.model.parts, donor.images) = Default::default();
    if donor.clips_are_for_any && !donor.model.clips.is_empty() {
        let fitted = fit_by_role(file, donor, skeleton, &settings.limits)?;
        return Ok(Parsed {
            value: fitted.value,
            warnings: [warnings, fitted.warnings].concat(),
        });
    }
    if FileKind::of_name(file).is_some_and(FileKind::is_scene) && !donor.model.clips.is_empty() {
        let fitted = fit(file, donor, skeleton, settings.as_is)?;
        return Ok(Parsed {
            value: fitted.value,
            warnings: [warnings, fitted.warnings].concat(),
        });
    }
    let ours: HashSet<&str> = skeleton.names().iter().map(|name| &**name).collect();
    let shares = donor
        .model
        .skeleton
        .names()
        .iter()
        .any(|name| ours.contains(&**name));
    if !shares && !donor.model.clips.is_empty() {
        return Err(strangers(file, &donor.model.skeleton, skeleton));
    }
    if donor.model.clips.is_empty() {
        warnings.push(Diagnostic::warning(file, "the file holds no clips"));
    }
    Ok(Parsed {
        value: ClipFile::ByName(donor.model.clips),
        warnings,
    })
}
