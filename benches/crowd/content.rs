//! The character that the benchmark measures.

use super::Args;
use bevy::prelude::*;
use bevy_marionette::{
    import::{ImportSettings, open_model_with},
    model::{
        ClipFrames, ClipTiming, Influences, Joint, JointTransform, Material, Model, SkeletalClip,
        Skeleton, SkinPart,
    },
    pose::Compress,
};
use glam::Affine3A;
use std::{f32::consts::TAU, path::Path};

pub const JOINTS: usize = 58;
const FRAMES: usize = 31;
const SWINGS: [(&str, f32); 2] = [("walk", 0.4), ("run", 0.8)];

/// The character to measure.
pub fn model(args: &Args) -> Model {
    let mut model = args
        .model
        .as_ref()
        .map_or_else(built_in_model, |path| read_model(path));
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
    let read = |path: &str| {
        std::fs::read(path)
            .map(Into::into)
            .map_err(|error| error.to_string())
    };
    let file = path.to_string_lossy();
    let source = std::fs::read(path).unwrap_or_else(|error| panic!("cannot read {file}: {error}"));
    let mut model = open_model_with(&file, &source, &ImportSettings::default(), read)
        .unwrap_or_else(|error| panic!("{error}"))
        .model;
    assert!(model.clips.len() >= 2, "{file} has fewer than two clips");
    model.clips.truncate(2);
    model
}

fn built_in_model() -> Model {
    let joints = (0..JOINTS).map(|joint| Joint {
        name: format!("joint{joint}").into(),
        parent: parent_of(joint).map(|parent| parent as u16),
        rest: joint_at(joint, 0, 0.0),
        inverse_bind: Affine3A::IDENTITY,
    });
    let skeleton = Skeleton::new(joints.collect()).expect("parents come first");
    let clips = SWINGS.map(|(name, swing)| {
        let transforms = (0..FRAMES)
            .flat_map(|frame| (0..JOINTS).map(move |joint| joint_at(joint, frame, swing)));
        let frames = ClipFrames {
            joints: skeleton.names().clone(),
            animated: vec![],
            transforms: transforms.collect(),
        };
        SkeletalClip::new(ClipTiming::new(name, 1.0), &frames).expect("whole frames")
    });
    let part = SkinPart {
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
        palette: (0..JOINTS as u16).collect(),
        source_vertices: vec![0, 1, 2],
        ..SkinPart::default()
    };
    Model {
        skeleton,
        parts: vec![part],
        materials: vec![Material::default()],
        clips: clips.into(),
    }
}

/// The joint's transform in a clip: all joints rotate, each at its own phase, and the root moves.
fn joint_at(joint: usize, frame: usize, swing: f32) -> JointTransform {
    let phase = TAU * frame as f32 / (FRAMES - 1) as f32 + joint as f32;
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
