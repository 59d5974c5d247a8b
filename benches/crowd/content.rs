//! The character that the benchmark measures.

use super::Args;
use bevy::prelude::*;
use bevy_marionette::{
    import::{FileKind, ImportLimits, ImportSettings, Manifest, open_manifest},
    internals::{
        import::open_model_with,
        model::{MorphDelta, MorphFrames, MorphTarget},
        pose::Compress,
    },
    model::{
        ClipFrames, ClipTiming, Influences, Joint, JointTransform, Material, Model, Morphs,
        SkeletalClip, Skeleton, SkinPart,
    },
};
use glam::Affine3A;
use std::{f32::consts::TAU, path::Path, sync::Arc};

/// Joints of the first kind, and roughly the mean of all.
pub const JOINTS: usize = 58;

/// The fewest joints of any kind.
pub const FEWEST_JOINTS: usize = 40;

const FRAMES: usize = 31;
const SWINGS: [(&str, f32); 2] = [("walk", 0.4), ("run", 0.8)];

/// The character to measure. Kinds differ in their number of joints, and in their clips.
pub fn model(args: &Args, kind: usize) -> Model {
    let mut model = match (&args.model, args.faces) {
        (Some(path), _) => read_model(path),
        (None, Some(targets)) => face(targets, args.at_rest),
        (None, None) => built_in_model(kind),
    };
    if let Some(error) = args.clip_error {
        let compress = Compress::new(&model.skeleton, &model.parts, error);
        model.clips = model.clips.iter().map(|clip| compress.run(clip)).collect();
        assert!(
            model.clips.iter().all(|clip| clip.quantization().is_some()),
            "the clips would not get smaller"
        );
    }
    model
}

fn read_model(path: &Path) -> Model {
    let folder = path.parent().unwrap_or(Path::new(""));
    let read = |name: &str| {
        std::fs::read(folder.join(name))
            .map(Into::into)
            .map_err(|error| error.to_string())
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let file = path.to_string_lossy();
    let source = std::fs::read(path).unwrap_or_else(|error| panic!("cannot read {file}: {error}"));
    let imported = if FileKind::of_name(&name) == Some(FileKind::Manifest) {
        Manifest::parse(&name, &source)
            .and_then(|manifest| open_manifest(&name, &manifest, &ImportLimits::default(), read))
    } else {
        open_model_with(&name, &source, &ImportSettings::default(), read)
    };
    let mut model = imported.unwrap_or_else(|error| panic!("{error}")).model;
    assert!(model.clips.len() >= 2, "{file} has fewer than two clips");
    model.clips.truncate(2);
    model
}

fn joints_of(kind: usize) -> usize {
    let span = 2 * (JOINTS - FEWEST_JOINTS) + 1;
    // Coprime to the span, so that neighbors differ and all numbers are used.
    FEWEST_JOINTS + (JOINTS - FEWEST_JOINTS + 7 * kind) % span
}

fn built_in_model(kind: usize) -> Model {
    let count = joints_of(kind);
    let joints = (0..count).map(|joint| Joint {
        name: format!("joint{joint}").into(),
        parent: parent_of(joint).map(|parent| parent as u16),
        rest: joint_at(joint, 0, 0.0, kind),
        inverse_bind: Affine3A::IDENTITY,
    });
    let skeleton = Skeleton::new(joints.collect()).expect("parents come first");
    let clips = SWINGS.map(|(name, swing)| {
        let transforms = (0..FRAMES)
            .flat_map(|frame| (0..count).map(move |joint| joint_at(joint, frame, swing, kind)));
        let frames = ClipFrames {
            joints: skeleton.names().clone(),
            animated: vec![],
            transforms: transforms.collect(),
        };
        SkeletalClip::new(ClipTiming::new(name, 1.0), &frames).expect("whole frames")
    });
    Model {
        skeleton,
        parts: vec![triangle((0..count as u16).collect())],
        materials: vec![Material::default()],
        clips: clips.into(),
    }
}

/// A face without a body: one joint, and a clip that moves all targets, or none.
fn face(targets: u16, at_rest: bool) -> Model {
    let names = (0..targets).map(|target| Arc::from(format!("target{target}")));
    let names: Arc<[Arc<str>]> = names.collect();
    let joint = Joint {
        name: "head".into(),
        parent: None,
        rest: JointTransform::IDENTITY,
        inverse_bind: Affine3A::IDENTITY,
    };
    let morphs = names.iter().map(|name| (name.clone(), 0.0));
    let skeleton = Skeleton::new(vec![joint])
        .expect("one joint is in order")
        .with_morphs(Morphs::new(morphs));
    let weight = |frame: usize, target: u16| {
        let phase = TAU * frame as f32 / (FRAMES - 1) as f32 + f32::from(target);
        0.5 + 0.4 * phase.sin()
    };
    let weights = (0..FRAMES).flat_map(|frame| (0..targets).map(move |at| weight(frame, at)));
    let frames = MorphFrames {
        names,
        weights: weights.collect(),
        ..MorphFrames::default()
    };
    let clip = SkeletalClip::new(ClipTiming::new("talk", 1.0), &ClipFrames::default());
    let mut clip = clip.expect("no frames are whole frames");
    if !at_rest {
        clip = clip.with_morphs(&frames).expect("whole frames");
    }
    let moved = MorphDelta {
        position: Vec3::Z,
        ..MorphDelta::default()
    };
    Model {
        parts: vec![SkinPart {
            morphs: (0..targets)
                .map(|target| MorphTarget::new(target, [moved; 3]))
                .collect(),
            ..triangle(vec![0])
        }],
        materials: vec![Material::default()],
        clips: vec![clip.bind(&skeleton)],
        skeleton,
    }
}

/// A part whose palette has these joints.
fn triangle(palette: Vec<u16>) -> SkinPart {
    SkinPart {
        name: "skin".into(),
        positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
        normals: vec![Vec3::Z; 3],
        tangents: vec![Vec4::X; 3],
        tex_coords: vec![Vec2::ZERO; 3],
        influences: vec![
            Influences {
                palette: [0; 4],
                weights: [1.0, 0.0, 0.0, 0.0]
            };
            3
        ],
        triangles: vec![[0, 1, 2]],
        palette,
        source_vertices: vec![0, 1, 2],
        ..SkinPart::default()
    }
}

/// The joint's transform in a clip: all joints rotate, each at its own phase, and the root moves.
fn joint_at(joint: usize, frame: usize, swing: f32, kind: usize) -> JointTransform {
    let phase = TAU * frame as f32 / (FRAMES - 1) as f32 + (joint + kind) as f32;
    let axis = Vec3::new(0.3, 1.0, (joint % 3) as f32 - 1.0).normalize();
    let translation = if joint == 0 {
        Vec3::Y * phase.sin() * 0.1
    } else {
        Vec3::Y * 0.1
    };
    JointTransform::new(
        translation,
        Quat::from_axis_angle(axis, swing * phase.sin()),
    )
}

fn parent_of(joint: usize) -> Option<usize> {
    (joint > 0).then(|| {
        if joint.is_multiple_of(6) {
            0
        } else {
            joint - 1
        }
    })
}
