//! A small character: an arm with three joints and two parts.

use bevy::prelude::*;
use bevy_marionette::model::{
    ClipFrames, ClipTiming, Influences, Joint, JointTransform, Material, Model, SkeletalClip, Skeleton, SkinPart,
};
use glam::Affine3A;

/// Upright, one meter per joint. The upper part uses only the last two joints.
pub fn arm() -> Model {
    let joint = |name: &str, parent: Option<u16>, y: f32| Joint {
        name: name.into(),
        parent,
        rest: JointTransform::new(Vec3::Y * if parent.is_some() { 1.0 } else { 0.0 }, Quat::IDENTITY),
        inverse_bind: Affine3A::from_translation(Vec3::NEG_Y * y),
    };
    let skeleton =
        Skeleton::new(vec![joint("root", None, 0.0), joint("elbow", Some(0), 1.0), joint("hand", Some(1), 2.0)])
            .unwrap();
    let material = |name: &str, color| Material { name: name.into(), base_color: color, ..Material::default() };
    let parts = vec![tube("lower", 0, 0.0, 1.0, vec![0, 1]), tube("upper", 1, 1.0, 2.5, vec![1, 2])];
    Model {
        clips: vec![clip(&skeleton, "bend", 0.0), clip(&skeleton, "reach", 4.0)],
        skeleton,
        parts,
        materials: vec![material("red", [0.8, 0.2, 0.1, 1.0]), material("blue", [0.1, 0.3, 0.9, 1.0])],
    }
}

fn clip(skeleton: &Skeleton, name: &str, reach: f32) -> SkeletalClip {
    let frames = 31;
    let transforms = (0..frames).flat_map(|frame| {
        let turn = (frame as f32 / (frames - 1) as f32 * std::f32::consts::TAU).sin();
        let away = (frame as f32 / (frames - 1) as f32 * std::f32::consts::PI).sin() * reach;
        [
            JointTransform::IDENTITY,
            JointTransform::new(Vec3::new(0.0, 1.0, 0.0), Quat::from_rotation_z(turn)),
            JointTransform::new(Vec3::new(away, 1.0, 0.0), Quat::from_rotation_x(turn)),
        ]
    });
    let frames = ClipFrames { joints: skeleton.names().clone(), animated: vec![], transforms: transforms.collect() };
    SkeletalClip::new(ClipTiming::new(name, 1.0), &frames).unwrap()
}

/// A square tube from `low` to `high`, whose weights shift from the palette's first joint to its second.
fn tube(name: &str, material: usize, low: f32, high: f32, palette: Vec<u16>) -> SkinPart {
    const RINGS: u32 = 9;
    let mut part = SkinPart { name: name.into(), material, palette, ..SkinPart::default() };
    for ring in 0..RINGS {
        let t = ring as f32 / (RINGS - 1) as f32;
        for corner in 0..4 {
            let angle = std::f32::consts::FRAC_PI_2 * (corner as f32 + 0.5);
            let out = Vec3::new(angle.cos(), 0.0, angle.sin());
            part.positions.push(out * 0.25 + Vec3::Y * (low + (high - low) * t));
            part.normals.push(out);
            part.tangents.push(Vec4::new(0.0, 1.0, 0.0, 1.0));
            part.tex_coords.push(Vec2::new(corner as f32 / 4.0, t));
            let (first, second) = (1.0 - t, t);
            part.influences.push(if first >= second {
                Influences { palette: [0, 1, 0, 0], weights: [first, second, 0.0, 0.0] }
            } else {
                Influences { palette: [1, 0, 0, 0], weights: [second, first, 0.0, 0.0] }
            });
            if ring > 0 {
                let (a, b) = (ring * 4 + corner, ring * 4 + (corner + 1) % 4);
                part.triangles.extend([[a - 4, a, b], [a - 4, b, b - 4]]);
            }
        }
    }
    part.source_vertices = (0..part.positions.len() as u32).collect();
    part
}
