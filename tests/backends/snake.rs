//! A character with more joints than fit in one palette: a snake with a joint every 12 mm.

use bevy::prelude::*;
use bevy_marionette::{
    import::{ImportSettings, UpAxis},
    internals::{
        format::{
            Checked,
            md5::{Md5Joint, Md5Mesh, Md5Submesh, Md5Vertex, Md5Weight},
        },
        import::from_md5,
    },
    model::{ClipFrames, ClipTiming, JointTransform, Model, SkeletalClip, SkinPart},
};
use std::f32::consts::TAU;

pub const JOINTS: usize = 320;
const SPACING: f32 = 0.0125;
const SIDES: usize = 8;

/// The snake lies along +X. Its single submesh is bound to all joints, so importing must split it.
pub fn snake() -> Model {
    let joints = (0..JOINTS).map(|i| Md5Joint {
        name: format!("vertebra.{i}"),
        parent: i.checked_sub(1).map(|parent| parent as u32),
        position: [i as f32 * SPACING, 0.0, 0.0],
        orientation: [0.0; 3],
    });
    let mesh = Md5Mesh {
        joints: joints.collect(),
        meshes: vec![skin()],
        ..Md5Mesh::default()
    };
    // Y is up, so that nothing is rotated.
    let settings = ImportSettings {
        up: UpAxis::Y,
        ..ImportSettings::default()
    };
    let mut model = from_md5(
        "snake",
        &Checked::new(mesh).expect("sound indices"),
        &settings,
    )
    .expect("the snake is whole")
    .model;
    assert!(
        model.parts.len() >= 2,
        "one palette cannot hold {JOINTS} joints"
    );
    assert!(
        model
            .parts
            .iter()
            .all(|part| part.palette.len() <= SkinPart::MAX_PALETTE)
    );
    for material in &mut model.materials {
        material.base_color = [0.30, 0.55, 0.18, 1.0];
    }
    model.clips = vec![slither(&model)];
    model
}

/// Thin at both ends; each ring between two joints is influenced equally by both.
fn skin() -> Md5Submesh {
    let mut submesh = Md5Submesh {
        name: Some("scales".into()),
        shader: "green".into(),
        ..Md5Submesh::default()
    };
    let rings = JOINTS - 1;
    for ring in 0..rings {
        let along = ring as f32 / (rings - 1) as f32;
        let thickness = 0.075 * (along * TAU / 2.0).sin().max(0.02).powf(0.6);
        for side in 0..SIDES {
            let (sin, cos) = (side as f32 / SIDES as f32 * TAU).sin_cos();
            let first_weight = submesh.weights.len() as u32;
            for (joint, x) in [(ring, SPACING / 2.0), (ring + 1, -SPACING / 2.0)] {
                let position = [x, cos * thickness, sin * thickness];
                submesh.weights.push(Md5Weight {
                    joint: joint as u32,
                    bias: 0.5,
                    position,
                });
            }
            let tex_coord = [side as f32 / SIDES as f32, along * 20.0];
            submesh.vertices.push(Md5Vertex {
                tex_coord,
                first_weight,
                weight_count: 2,
            });
            if ring > 0 {
                let at = |ring: usize, side: usize| (ring * SIDES + side % SIDES) as u32;
                let [a, b] = [at(ring - 1, side), at(ring - 1, side + 1)];
                let [c, d] = [at(ring, side), at(ring, side + 1)];
                submesh.triangles.extend([[a, c, b], [b, c, d]]);
            }
        }
    }
    submesh
}

/// A wave that runs through the body once per second.
fn slither(model: &Model) -> SkeletalClip {
    const FRAMES: usize = 31;
    let turn = |frame: usize, joint: usize| {
        let phase = frame as f32 / (FRAMES - 1) as f32 - joint as f32 / JOINTS as f32 * 3.0;
        0.055 * (phase * TAU).sin()
    };
    let transforms = (0..FRAMES).flat_map(|frame| {
        (0..JOINTS).map(move |joint| {
            let offset = if joint == 0 {
                Vec3::ZERO
            } else {
                Vec3::X * SPACING
            };
            JointTransform::new(offset, Quat::from_rotation_y(turn(frame, joint)))
        })
    });
    let joints = model.skeleton.names().clone();
    let frames = ClipFrames {
        joints,
        animated: vec![],
        transforms: transforms.collect(),
    };
    SkeletalClip::new(ClipTiming::new("slither", 1.0), &frames).expect("whole frames")
}
