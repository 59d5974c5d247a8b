//! Figures about files, in the shape of `inspect --json`.
//!
//! Scripts rely on the field names: fields may be added, but not renamed. `SCHEMA` documents them.

use crate::{
    open::{Content, OpenAnimation, OpenModel, Opened, Rig},
    textures::TextureUse,
};
use bevy_marionette::{
    format::{Diagnostic, Severity},
    import::{
        Avatar, BlendSpaceEntry, ColliderEntry, ConstraintEntry, FeetEntry, FileKind, GoalEntry,
        ImportReport, LookAtEntry, MaskEntry, SocketEntry, SpringEntry,
    },
    internals::model::{BoundingBox, StateLayers},
    model::{
        ExpressionOverride, Material, Model, MorphIndex, PlaybackMode, SkeletalClip, State,
        StateLayer,
    },
};
use serde::Serialize;
use std::{collections::BTreeMap, sync::Arc};

/// Describes the JSON, for `--help`.
pub const SCHEMA: &str = "\
JSON (--json): an array with one object per FILE, in the order given.
  file, bytes       path as given, size on disk
  kind              gltf | fbx | m3d | md5mesh | md5anim | character | baked | null
  ok                false if a diagnostic is an error; model and animation are then null
  diagnostics[]     severity (error | warning), file, line, column (0: unknown), message, context, hint
  model             null, or
    dialect           dx12 | dx11 | dx10 | imm | other; null for formats other than .m3d
    vertices, triangles   in the file
    bounds            {min, max} of the skin as stored, in Bevy's axes after scaling; null if empty
    right_handed      handedness the file was read with
    parts[]           name, material (index), vertices, triangles, joints (used), combined_joints, morphs
    joints[]          name, parent (index or null), vertices (influenced), control (left out of the
                      skin's palettes); parents come first
    morphs[]          morph targets: name, rest (weight), vertices (moved), farthest (distance that one moves at
                      weight 1, in model units), parts (names)
    clips[]           name, file (null: the model's own), seconds, frames,
                      frames_per_second (null: not evenly spaced), playback (loop | once | ping_pong),
                      additive, joints (animated), morphs (animated), morph_frames, bytes,
                      root_motion (null: in place; moves [right, up, back] in all, turns in degrees to the
                      left, ground_speed in model units per second),
                      quantized (null: lossless; ratio of compression, and error: the largest distance
                      measured at the skin, in model units), callbacks[] of {time, until (null: not a range), name,
                      data (RON)}
    influences        vertices by number of influences in the file: [0, 1, 2, 3, 4, more]
    combined_joints   palette entries added for vertices with more than four influences, all parts together
    skin_error        largest share of a vertex's weight that follows other joints than in the file
    bind_recovered    true if the joints in the file are not the pose the skin was bound in
    bind_residual, bind_residual_relative   largest distance between a bound vertex and where the
                      weights in the file put it, in model units and relative to the model's diagonal
    retargets         by clip: mapped[] of [role, joint, the source's joint], lost[] and at_rest[] (roles that only
                      the source, or only the model, has), same[] of [joint, the source's joint] (without a role, in
                      the same place), unmapped[] (joints that stay at rest), ratio of legs
    materials[]       name, type_name, base_color (linear RGBA), base_color_map, normal_map, normal_map_green_down,
                      specular_map, roughness, reflectance, metallic, metallic_roughness_map, occlusion_map, emissive,
                      emissive_map, alpha_cutoff, alpha_blend, double_sided, unlit,
                      uv_transform {offset, rotation, scale},
                      tex_coord_sets and samplers {wrap_u, wrap_v, magnify, minify, mip_levels}, each of
                      {base_color, normal, metallic_roughness, occlusion, emissive},
                      textures[] of {role (base_color | normal | specular | metallic_roughness | occlusion | emissive),
                      written, found}
    avatar            for VRM files: version, meta (name, authors, license, terms …), bones, look_at, first_person,
                      springs, colliders, constraints
    roles[]           [role, joint], as the file says
    expressions[]     as the file says: name, is_binary, morphs[] of [name, share], overrides[] (blink | look_at | mouth)
    manifest          null, or model, scale, masks, sockets, blend_spaces, states, layers, goals, look_at, feet, constraints,
                      springs, colliders as in the manifest, or in the model's own file
  animation         null, or
    frames, frames_per_second, seconds
    joints[]          name, parent (index or null), animated (channels of Tx Ty Tz Qx Qy Qz)
    bound_to          the model among the FILEs that it was fitted to, or null
    joints_shared     number of its joints that the model has, or null
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
    #[serde(flatten)]
    pub import: &'a ImportReport,
    pub bounds: Option<BoundingBox>,
    pub parts: Vec<PartReport<'a>>,
    pub joints: Vec<JointReport<'a>>,
    pub morphs: Vec<MorphReport<'a>>,
    pub clips: Vec<ClipReport<'a>>,
    pub materials: Vec<MaterialReport<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub avatar: Option<&'a Avatar>,
    /// Roles that the file gives to joints, with the joints' names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<[&'a str; 2]>,
    /// Expressions that the file defines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expressions: Vec<ExpressionReport<'a>>,
    pub manifest: Option<ManifestReport<'a>>,
}

#[derive(Serialize)]
pub struct ExpressionReport<'a> {
    pub name: &'a str,
    pub is_binary: bool,
    /// Names of morph targets, with their shares.
    pub morphs: Vec<(&'a str, f32)>,
    /// `blink`, `look_at`, and `mouth`, as far as it leaves less of them.
    pub overrides: Vec<&'static str>,
}

#[derive(Serialize)]
pub struct PartReport<'a> {
    pub name: &'a str,
    pub material: usize,
    pub vertices: usize,
    pub triangles: usize,
    pub joints: usize,
    pub combined_joints: usize,
    pub morphs: usize,
}

#[derive(Serialize)]
pub struct JointReport<'a> {
    pub name: &'a str,
    pub parent: Option<usize>,
    pub vertices: usize,
    pub control: bool,
}

#[derive(Serialize)]
pub struct MorphReport<'a> {
    pub name: &'a str,
    pub rest: f32,
    pub vertices: usize,
    pub farthest: f32,
    pub parts: Vec<&'a str>,
}

#[derive(Serialize)]
pub struct ClipReport<'a> {
    pub name: &'a str,
    pub file: Option<&'a str>,
    pub seconds: f64,
    pub frames: usize,
    pub frames_per_second: Option<f64>,
    pub playback: &'static str,
    pub additive: bool,
    pub joints: usize,
    pub morphs: usize,
    pub morph_frames: usize,
    pub bytes: usize,
    pub root_motion: Option<RootMotionReport>,
    pub quantized: Option<QuantizedReport>,
    pub callbacks: Vec<CallbackReport<'a>>,
}

#[derive(Serialize)]
pub struct RootMotionReport {
    pub moves: [f64; 3],
    pub turns: f64,
    pub ground_speed: f64,
}

#[derive(Serialize)]
pub struct QuantizedReport {
    pub ratio: f64,
    pub error: f32,
}

#[derive(Serialize)]
pub struct CallbackReport<'a> {
    pub time: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<f64>,
    pub name: &'a str,
    pub data: String,
}

#[derive(Serialize)]
pub struct MaterialReport<'a> {
    #[serde(flatten)]
    pub material: &'a Material,
    pub textures: &'a [TextureUse],
}

#[derive(Serialize)]
pub struct ManifestReport<'a> {
    pub model: &'a str,
    pub scale: f32,
    pub masks: &'a BTreeMap<String, MaskEntry>,
    pub sockets: &'a BTreeMap<String, SocketEntry>,
    pub blend_spaces: &'a BTreeMap<String, BlendSpaceEntry>,
    pub states: &'a BTreeMap<String, State>,
    pub layers: &'a BTreeMap<String, StateLayer>,
    /// The states, built from the entries.
    #[serde(skip)]
    pub machines: Option<Arc<StateLayers>>,
    pub goals: &'a BTreeMap<String, GoalEntry>,
    pub look_at: Option<&'a LookAtEntry>,
    pub feet: Option<&'a FeetEntry>,
    pub constraints: &'a [ConstraintEntry],
    pub springs: &'a [SpringEntry],
    pub colliders: &'a BTreeMap<String, ColliderEntry>,
}

#[derive(Serialize)]
pub struct AnimationReport<'a> {
    pub frames: usize,
    pub frames_per_second: f32,
    pub seconds: f64,
    pub joints: Vec<AnimatedJointReport<'a>>,
    pub bound_to: Option<&'a str>,
    pub joints_shared: Option<usize>,
    pub clip: Option<ClipReport<'a>>,
}

#[derive(Serialize)]
pub struct AnimatedJointReport<'a> {
    pub name: &'a str,
    pub parent: Option<usize>,
    pub animated: u32,
}

/// Reports on files that were opened together. A model also lists the clips of its animations.
pub fn reports<'a>(files: &'a [Opened], rigs: &'a [Rig]) -> Vec<FileReport<'a>> {
    let mut models = 0;
    let report = |file: &'a Opened| {
        let (mut model, mut animation) = (None, None);
        match &file.content {
            Some(Content::Model(content)) => {
                // Rigs are in the order of the models.
                model = Some(model_report(content, bound_clips(files, models)));
                models += 1;
            }
            Some(Content::Animation(content)) => animation = Some(animation_report(content, rigs)),
            None => {}
        }
        FileReport {
            file: &file.name,
            kind: file.kind.map(|kind| match kind {
                FileKind::M3d => "m3d",
                FileKind::Gltf => "gltf",
                FileKind::Fbx => "fbx",
                FileKind::Md5Mesh => "md5mesh",
                FileKind::Md5Anim => "md5anim",
                FileKind::Manifest => "character",
                FileKind::Baked => "baked",
            }),
            bytes: file.bytes,
            ok: !file.failed(),
            model,
            animation,
            diagnostics: file.diagnostics.iter().map(diagnostic).collect(),
        }
    };
    files.iter().map(report).collect()
}

pub fn diagnostic(d: &Diagnostic) -> DiagnosticReport<'_> {
    let severity = match d.severity {
        Severity::Warning => "warning",
        Severity::Error => "error",
    };
    let Diagnostic {
        file,
        line,
        column,
        message,
        context,
        hint,
        ..
    } = d;
    DiagnosticReport {
        severity,
        file,
        line: *line,
        column: *column,
        message,
        context,
        hint,
    }
}

fn bound_clips(files: &[Opened], rig: usize) -> impl Iterator<Item = ClipReport<'_>> {
    files.iter().filter_map(move |file| match &file.content {
        Some(Content::Animation(animation)) => {
            let bound = animation.bound.as_ref().filter(|bound| bound.rig == rig)?;
            Some(clip(&bound.clip, Some(&file.name)))
        }
        _ => None,
    })
}

fn model_report<'a>(
    open: &'a OpenModel,
    bound: impl Iterator<Item = ClipReport<'a>>,
) -> ModelReport<'a> {
    let model = &open.model;
    let parts = model.parts.iter().map(|part| PartReport {
        name: &part.name,
        material: part.material,
        vertices: part.positions.len(),
        triangles: part.triangles.len(),
        joints: part.palette.len(),
        combined_joints: part.combined_joints.len(),
        morphs: part.morphs.len(),
    });
    let materials = model.materials.iter().zip(&open.textures);
    ModelReport {
        import: &open.report,
        bounds: BoundingBox::enclosing(
            model
                .parts
                .iter()
                .flat_map(|part| part.positions.iter().copied()),
        ),
        parts: parts.collect(),
        joints: joints(model),
        morphs: morphs(model),
        clips: model
            .clips
            .iter()
            .map(|own| clip(own, None))
            .chain(bound)
            .collect(),
        materials: materials
            .map(|(material, textures)| MaterialReport { material, textures })
            .collect(),
        avatar: open.avatar.as_deref(),
        roles: (model.skeleton.roles().iter())
            .map(|(role, joint)| [&**role, &**model.skeleton.name(*joint)])
            .collect(),
        expressions: expressions(model),
        manifest: open.manifest.as_ref().map(|manifest| ManifestReport {
            model: &manifest.model,
            scale: manifest.scale,
            masks: &manifest.masks,
            sockets: &manifest.sockets,
            blend_spaces: &manifest.blend_spaces,
            states: &manifest.states,
            layers: &manifest.layers,
            machines: manifest.resolve_states(),
            goals: &manifest.goals,
            look_at: manifest.look_at.as_ref(),
            feet: manifest.feet.as_ref(),
            constraints: &manifest.constraints,
            springs: &manifest.springs,
            colliders: &manifest.colliders,
        }),
    }
}

fn morphs(model: &Model) -> Vec<MorphReport<'_>> {
    let morphs = model.skeleton.morphs();
    let report = |morph: usize| {
        let targets = model
            .parts
            .iter()
            .flat_map(|part| part.morphs.iter().map(move |target| (part, target)));
        let targets: Vec<_> = targets
            .filter(|(_, target)| usize::from(target.morph) == morph)
            .collect();
        let moves = targets.iter().flat_map(|(_, target)| &target.positions);
        MorphReport {
            name: &morphs.names()[morph],
            rest: morphs.rest()[morph],
            vertices: targets
                .iter()
                .map(|(_, target)| target.vertices.len())
                .sum(),
            farthest: moves.map(|delta| delta.length()).fold(0.0, f32::max),
            parts: targets.iter().map(|(part, _)| &*part.name).collect(),
        }
    };
    (0..morphs.len()).map(report).collect()
}

fn expressions(model: &Model) -> Vec<ExpressionReport<'_>> {
    let morphs = model.skeleton.morphs();
    let all = morphs.own_expressions().iter().map(|one| {
        let effects = [
            ("blink", one.blink),
            ("look_at", one.look_at),
            ("mouth", one.mouth),
        ];
        let effects = effects.into_iter();
        let effects = effects.filter(|(_, effect)| *effect != ExpressionOverride::None);
        let shares = one.morphs.iter();
        ExpressionReport {
            name: &one.name,
            is_binary: one.is_binary,
            morphs: shares
                .map(|(morph, share)| (&*morphs.names()[usize::from(*morph)], *share))
                .collect(),
            overrides: effects.map(|(name, _)| name).collect(),
        }
    });
    all.collect()
}

fn joints(model: &Model) -> Vec<JointReport<'_>> {
    let skeleton = &model.skeleton;
    let mut influenced = vec![0; skeleton.len()];
    for part in &model.parts {
        for vertex in 0..part.positions.len() {
            for (slot, _) in part.joint_weights(vertex) {
                if let Some(count) = influenced.get_mut(usize::from(part.palette[slot])) {
                    *count += 1;
                }
            }
        }
    }
    let parents = skeleton
        .parents()
        .iter()
        .map(|parent| parent.map(usize::from));
    let joints = skeleton.joints().zip(parents).zip(influenced);
    let report = |((joint, parent), vertices)| {
        let (name, control) = (&**skeleton.name(joint), skeleton.is_control(joint));
        JointReport {
            name,
            parent,
            vertices,
            control,
        }
    };
    joints.map(report).collect()
}

fn clip<'a>(clip: &'a SkeletalClip, file: Option<&'a str>) -> ClipReport<'a> {
    let callbacks = clip.timing.callbacks.iter().map(|key| CallbackReport {
        time: key.time,
        until: key.until,
        name: &key.name,
        data: key.data.to_string(),
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
        joints: (0..clip.joints().len())
            .filter(|&joint| clip.animates(joint))
            .count(),
        morphs: (0..clip.morphs().len())
            .filter(|&morph| clip.animates_morph(morph as MorphIndex))
            .count(),
        morph_frames: clip.morph_frame_count(),
        bytes: clip.bytes(),
        root_motion: clip.root_path().map(|path| RootMotionReport {
            moves: path.total().translation.to_array(),
            turns: path.total().turn.to_degrees(),
            ground_speed: path.ground_speed(),
        }),
        quantized: clip.quantization().map(|quantization| QuantizedReport {
            ratio: quantization.bytes_before as f64 / clip.bytes().max(1) as f64,
            error: quantization.error,
        }),
        callbacks: callbacks.collect(),
    }
}

fn animation_report<'a>(open: &'a OpenAnimation, rigs: &'a [Rig]) -> AnimationReport<'a> {
    let OpenAnimation { anim, bound } = open;
    let frames = anim.frame_count();
    let joints = anim.joints.iter().map(|joint| AnimatedJointReport {
        name: &joint.name,
        parent: joint.parent.map(|parent| parent as usize),
        // The bits of Tx, Ty, Tz, Qx, Qy, and Qz.
        animated: (joint.flags & 0b11_1111).count_ones(),
    });
    AnimationReport {
        frames,
        frames_per_second: anim.frame_rate,
        // As in the importer, the clip ends at the last frame.
        seconds: frames.saturating_sub(1) as f64 / f64::from(anim.frame_rate.abs()),
        joints: joints.collect(),
        bound_to: bound
            .as_ref()
            .and_then(|bound| rigs.get(bound.rig))
            .map(|rig| rig.name.as_str()),
        joints_shared: bound.as_ref().map(|bound| bound.shared),
        clip: bound.as_ref().map(|bound| clip(&bound.clip, None)),
    }
}
