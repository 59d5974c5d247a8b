//! What there is to say about a file, as data: the shape of `inspect --json`.
//!
//! Field names are a promise to scripts: fields may be added, none renamed. `SCHEMA` documents them.

use crate::{
    open::{Content, OpenAnimation, OpenModel, Opened, Rig},
    textures::TextureUse,
};
use bevy_marionette::{
    format::{Diagnostic, Severity, m3d::Dialect},
    import::{FileKind, Manifest, MaskEntry, SocketEntry},
    model::{Material, PlaybackMode, SkeletalClip},
};
use glam::Vec3;
use serde::Serialize;
use std::collections::BTreeMap;

/// What `--json` prints, for `--help`.
pub const SCHEMA: &str = "\
JSON (--json): an array with one object per FILE, in the order given.
  file, bytes       path as given, size on disk
  kind              m3d | md5mesh | md5anim | character | null
  ok                false if a diagnostic is an error; model and animation are then null
  diagnostics[]     severity (error | warning), file, line, column (0: unknown), message, context, hint
  model             null, or
    dialect           dx12 | dx11 | dx10 | imm | other; null for MD5
    vertices, triangles   in the file
    bounds            {min, max} of the skin as stored, in Bevy's axes after scaling; null if empty
    right_handed      the hand the file was read with
    parts[]           name, material (index), vertices, triangles, joints (used)
    joints[]          name, parent (index or null), vertices (moved by it); parents come first
    clips[]           name, file (null: the model's own), seconds, frames, frames_per_second,
                      playback (loop | once | ping_pong), additive, joints (moved), bytes,
                      quantised (null: lossless; ratio to one, and error: the largest distance measured at
                      the skin, in model units), callbacks[] of {time, name, data (RON)}
    influences        vertices by number of influences in the file: [0, 1, 2, 3, 4, more]
    largest_weight_dropped      share of a vertex's weight lost by keeping four influences
    bind_residual, bind_residual_relative   largest distance between a bound vertex and where the
                      file's own weights put it, in model units and over the model's diagonal
    materials[]       name, base_color (linear RGBA), roughness, reflectance, alpha_cutoff, double_sided,
                      textures[] of {role (base_color | normal | specular), written, found}
    manifest          null, or model, scale, masks, sockets as the manifest has them
  animation         null, or
    frames, frames_per_second, seconds
    joints[]          name, parent (index or null), animated (channels of Tx Ty Tz Qx Qy Qz)
    bound_to          the model among the FILEs that it was fitted to, or null
    joints_shared     its joints that the model has, or null
    clip              as in clips[], or null";

#[derive(Serialize)]
pub struct FileReport<'a> {
    pub file: &'a str,
    pub kind: Option<&'static str>,
    pub bytes: u64,
    pub ok: bool,
    pub model: Option<ModelReport<'a>>,
    pub animation: Option<AnimationReport<'a>>,
    pub diagnostics: Vec<DiagnosticReport<'a>>,
}

#[derive(Serialize)]
pub struct DiagnosticReport<'a> {
    pub severity: &'static str,
    pub file: &'a str,
    pub line: u32,
    pub column: u32,
    pub message: &'a str,
    pub context: &'a str,
    pub hint: &'a str,
}

#[derive(Serialize)]
pub struct ModelReport<'a> {
    pub dialect: Option<&'static str>,
    pub vertices: usize,
    pub triangles: usize,
    pub bounds: Option<Bounds>,
    pub right_handed: bool,
    pub parts: Vec<PartReport<'a>>,
    pub joints: Vec<JointReport<'a>>,
    pub clips: Vec<ClipReport<'a>>,
    pub influences: [usize; 6],
    pub largest_weight_dropped: f32,
    pub bind_residual: f32,
    pub bind_residual_relative: f32,
    pub materials: Vec<MaterialReport<'a>>,
    pub manifest: Option<ManifestReport<'a>>,
}

#[derive(Serialize)]
pub struct Bounds {
    pub min: Vec3,
    pub max: Vec3,
}

#[derive(Serialize)]
pub struct PartReport<'a> {
    pub name: &'a str,
    pub material: usize,
    pub vertices: usize,
    pub triangles: usize,
    pub joints: usize,
}

#[derive(Serialize)]
pub struct JointReport<'a> {
    pub name: &'a str,
    pub parent: Option<usize>,
    pub vertices: usize,
}

#[derive(Serialize)]
pub struct ClipReport<'a> {
    pub name: &'a str,
    pub file: Option<&'a str>,
    pub seconds: f64,
    pub frames: usize,
    pub frames_per_second: f64,
    pub playback: &'static str,
    pub additive: bool,
    pub joints: usize,
    pub bytes: usize,
    pub quantised: Option<QuantisedReport>,
    pub callbacks: Vec<CallbackReport<'a>>,
}

#[derive(Serialize)]
pub struct QuantisedReport {
    pub ratio: f64,
    pub error: f32,
}

#[derive(Serialize)]
pub struct CallbackReport<'a> {
    pub time: f64,
    pub name: &'a str,
    pub data: String,
}

#[derive(Serialize)]
pub struct MaterialReport<'a> {
    pub name: &'a str,
    pub base_color: [f32; 4],
    pub roughness: f32,
    pub reflectance: f32,
    pub alpha_cutoff: Option<f32>,
    pub double_sided: bool,
    pub textures: &'a [TextureUse],
}

#[derive(Serialize)]
pub struct ManifestReport<'a> {
    pub model: &'a str,
    pub scale: f32,
    pub masks: &'a BTreeMap<String, MaskEntry>,
    pub sockets: &'a BTreeMap<String, SocketEntry>,
}

#[derive(Serialize)]
pub struct AnimationReport<'a> {
    pub frames: usize,
    pub frames_per_second: f32,
    pub seconds: f64,
    pub joints: Vec<AnimationJointReport<'a>>,
    pub bound_to: Option<&'a str>,
    pub joints_shared: Option<usize>,
    pub clip: Option<ClipReport<'a>>,
}

#[derive(Serialize)]
pub struct AnimationJointReport<'a> {
    pub name: &'a str,
    pub parent: Option<usize>,
    pub animated: u32,
}

/// Reports on files opened together, so that a model lists the clips of its animations.
pub fn reports<'a>(files: &'a [Opened], rigs: &'a [Rig]) -> Vec<FileReport<'a>> {
    // Rigs are the models' in order: count them to know which is whose.
    let mut rig = 0;
    files
        .iter()
        .map(|file| {
            let (mut model, mut animation) = (None, None);
            match &file.content {
                Some(Content::Model(content)) => {
                    model = Some(model_report(content, bound_clips(files, rig)));
                    rig += 1;
                }
                Some(Content::Animation(content)) => animation = Some(animation_report(content, rigs)),
                None => {}
            }
            FileReport {
                file: &file.name,
                kind: file.kind.map(kind),
                bytes: file.bytes,
                ok: !file.failed(),
                model,
                animation,
                diagnostics: file.diagnostics.iter().map(diagnostic).collect(),
            }
        })
        .collect()
}

pub fn diagnostic(d: &Diagnostic) -> DiagnosticReport<'_> {
    DiagnosticReport {
        severity: match d.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        },
        file: &d.file,
        line: d.line,
        column: d.column,
        message: &d.message,
        context: &d.context,
        hint: &d.hint,
    }
}

/// The word for a kind of file.
pub fn kind(kind: FileKind) -> &'static str {
    match kind {
        FileKind::M3d => "m3d",
        FileKind::Md5Mesh => "md5mesh",
        FileKind::Md5Anim => "md5anim",
        FileKind::Manifest => "character",
    }
}

fn bound_clips(files: &[Opened], rig: usize) -> impl Iterator<Item = (&str, &SkeletalClip)> {
    files.iter().filter_map(move |file| match &file.content {
        Some(Content::Animation(animation)) => {
            let bound = animation.bound.as_ref().filter(|bound| bound.rig == rig)?;
            Some((file.name.as_str(), &bound.clip))
        }
        _ => None,
    })
}

fn model_report<'a>(open: &'a OpenModel, bound: impl Iterator<Item = (&'a str, &'a SkeletalClip)>) -> ModelReport<'a> {
    let model = &open.model;
    let own = model.clips.iter().map(|c| clip(c, None));
    ModelReport {
        dialect: open.dialect.map(|dialect| match dialect {
            Dialect::Dx12 => "dx12",
            Dialect::Dx11 => "dx11",
            Dialect::Dx10 => "dx10",
            Dialect::Imm => "imm",
            Dialect::Other => "other",
        }),
        vertices: open.vertices,
        triangles: open.triangles,
        bounds: bounds(open),
        right_handed: open.report.right_handed,
        parts: model
            .parts
            .iter()
            .map(|part| PartReport {
                name: &part.name,
                material: part.material,
                vertices: part.positions.len(),
                triangles: part.triangles.len(),
                joints: part.palette.len(),
            })
            .collect(),
        joints: joints(open),
        clips: own.chain(bound.map(|(file, c)| clip(c, Some(file)))).collect(),
        influences: open.report.influences,
        largest_weight_dropped: open.report.largest_weight_dropped,
        bind_residual: open.report.bind_residual,
        bind_residual_relative: open.report.bind_residual_relative,
        materials: model.materials.iter().zip(&open.textures).map(|(m, textures)| material(m, textures)).collect(),
        manifest: open.manifest.as_ref().map(manifest),
    }
}

fn bounds(open: &OpenModel) -> Option<Bounds> {
    let mut positions = open.model.parts.iter().flat_map(|part| &part.positions).copied();
    let first = positions.next()?;
    let (min, max) = positions.fold((first, first), |(min, max), p| (min.min(p), max.max(p)));
    Some(Bounds { min, max })
}

fn joints(open: &OpenModel) -> Vec<JointReport<'_>> {
    let skeleton = &open.model.skeleton;
    let mut moved = vec![0; skeleton.len()];
    for part in &open.model.parts {
        for influences in &part.influences {
            for (&slot, _) in influences.palette.iter().zip(&influences.weights).filter(|(_, weight)| **weight > 0.0) {
                let joint = part.palette.get(usize::from(slot)).map(|&joint| usize::from(joint));
                if let Some(count) = joint.and_then(|joint| moved.get_mut(joint)) {
                    *count += 1;
                }
            }
        }
    }
    let parents = skeleton.parents().iter().map(|parent| parent.map(usize::from));
    let joints = skeleton.names().iter().zip(parents).zip(moved);
    joints.map(|((name, parent), vertices)| JointReport { name, parent, vertices }).collect()
}

fn clip<'a>(clip: &'a SkeletalClip, file: Option<&'a str>) -> ClipReport<'a> {
    let callbacks = clip.timing.callbacks.iter().map(|key| CallbackReport {
        time: key.time,
        name: &key.name,
        data: ron::to_string(&*key.data).unwrap_or_else(|error| error.to_string()),
    });
    ClipReport {
        name: &clip.timing.name,
        file,
        seconds: clip.timing.duration,
        frames: clip.frame_count(),
        frames_per_second: clip.frame_rate(),
        playback: match clip.timing.playback {
            PlaybackMode::Loop => "loop",
            PlaybackMode::Once => "once",
            PlaybackMode::PingPong => "ping_pong",
        },
        additive: clip.additive,
        joints: (0..clip.joints().len()).filter(|&joint| clip.animates(joint)).count(),
        bytes: clip.bytes(),
        quantised: clip.quantisation().map(|quantisation| QuantisedReport {
            ratio: quantisation.bytes_before as f64 / clip.bytes().max(1) as f64,
            error: quantisation.error,
        }),
        callbacks: callbacks.collect(),
    }
}

fn material<'a>(material: &'a Material, textures: &'a [TextureUse]) -> MaterialReport<'a> {
    MaterialReport {
        name: &material.name,
        base_color: material.base_color,
        roughness: material.roughness,
        reflectance: material.reflectance,
        alpha_cutoff: material.alpha_cutoff,
        double_sided: material.double_sided,
        textures,
    }
}

fn manifest(manifest: &Manifest) -> ManifestReport<'_> {
    let Manifest { model, scale, masks, sockets, .. } = manifest;
    ManifestReport { model, scale: *scale, masks, sockets }
}

fn animation_report<'a>(open: &'a OpenAnimation, rigs: &'a [Rig]) -> AnimationReport<'a> {
    let OpenAnimation { anim, bound } = open;
    let frames = anim.frame_count();
    let joints = anim.joints.iter().map(|joint| AnimationJointReport {
        name: &joint.name,
        parent: joint.parent.map(|parent| parent as usize),
        animated: (joint.flags & 0b11_1111).count_ones(),
    });
    AnimationReport {
        frames,
        frames_per_second: anim.frame_rate,
        // As the importer has it: the last frame ends the clip.
        seconds: frames.saturating_sub(1) as f64 / f64::from(anim.frame_rate),
        joints: joints.collect(),
        bound_to: bound.as_ref().and_then(|bound| rigs.get(bound.rig)).map(|rig| rig.name.as_str()),
        joints_shared: bound.as_ref().map(|bound| bound.shared),
        clip: bound.as_ref().map(|bound| clip(&bound.clip, None)),
    }
}
