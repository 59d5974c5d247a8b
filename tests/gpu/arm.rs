//! A small character: an arm with three joints and two parts.

use bevy::prelude::*;
use bevy_marionette::model::{
    ClipFrames, ClipTiming, Influences, Joint, JointTransform, Material, Model, SkeletalClip,
    Skeleton, SkinPart,
};
use glam::Affine3A;

/// Upright, one meter per joint. The upper part uses only the last two joints.
pub fn arm() -> Model {
    let joint = |name: &str, parent: Option<u16>, y: f32| Joint {
        name: name.into(),
        parent,
        rest: JointTransform::new(
            Vec3::Y * if parent.is_some() { 1.0 } else { 0.0 },
            Quat::IDENTITY,
        ),
        inverse_bind: Affine3A::from_translation(Vec3::NEG_Y * y),
    };
    let skeleton = Skeleton::new(vec![
        joint("root", None, 0.0),
        joint("elbow", Some(0), 1.0),
        joint("hand", Some(1), 2.0),
    ])
    .unwrap();
    let material = |name: &str, color| Material {
        name: name.into(),
        base_color: color,
        ..Material::default()
    };
    let parts = vec![
        tube("lower", 0, 0.0, 1.0, vec![0, 1]),
        tube("upper", 1, 1.0, 2.5, vec![1, 2]),
    ];
    Model {
        clips: vec![clip(&skeleton, "bend", 0.0), clip(&skeleton, "reach", 4.0)],
        skeleton,
        parts,
        materials: vec![
            material("red", [0.8, 0.2, 0.1, 1.0]),
            material("blue", [0.1, 0.3, 0.9, 1.0]),
        ],
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
    let frames = ClipFrames {
        joints: skeleton.names().clone(),
        animated: vec![],
        transforms: transforms.collect(),
    };
    SkeletalClip::new(ClipTiming::new(name, 1.0), &frames).unwrap()
}

/// A tentacle of seven joints, all of which move every vertex.
pub fn tentacle() -> Model {
    const JOINTS: u16 = 7;
    let rest =
        |i: u16| JointTransform::new(Vec3::Y * if i > 0 { 0.4 } else { 0.0 }, Quat::IDENTITY);
    let joint = |i: u16| Joint {
        name: format!("{i}").into(),
        parent: i.checked_sub(1),
        rest: rest(i),
        inverse_bind: Affine3A::from_translation(Vec3::NEG_Y * 0.4 * f32::from(i)),
    };
    let skeleton = Skeleton::new((0..JOINTS).map(joint).collect()).unwrap();
    let curl = |frame: u16| {
        let turn = Quat::from_rotation_z(0.02 * f32::from(frame))
            * Quat::from_rotation_x(0.01 * f32::from(frame));
        (0..JOINTS).map(move |joint| JointTransform {
            rotation: turn,
            ..rest(joint)
        })
    };
    let transforms = (0..31).flat_map(curl).collect();
    let frames = ClipFrames {
        joints: skeleton.names().clone(),
        animated: vec![],
        transforms,
    };
    let clip = SkeletalClip::new(ClipTiming::new("curl", 1.0), &frames).unwrap();
    let mut part = tube("tentacle", 0, 0.0, 2.6, (0..JOINTS).collect());
    for ring in 0..part.positions.len() / 4 {
        let height = part.positions[ring * 4].y;
        let weights = (0..JOINTS).map(|i| (i, (-(height - 0.4 * f32::from(i)).powi(2)).exp()));
        let mut weights: Vec<(u16, f32)> = weights.collect();
        let sum: f32 = weights.iter().map(|(_, weight)| weight).sum();
        weights.iter_mut().for_each(|(_, weight)| *weight /= sum);
        weights.sort_by(|a, b| b.1.total_cmp(&a.1));
        let rest: f32 = weights[3..].iter().map(|(_, weight)| weight).sum();
        part.combined_joints.push(
            weights[3..]
                .iter()
                .map(|(joint, weight)| (*joint, weight / rest)),
        );
        let [a, b, c] = [0, 1, 2].map(|i| weights[i]);
        let influences = Influences {
            palette: [a.0, b.0, c.0, JOINTS + ring as u16],
            weights: [a.1, b.1, c.1, rest],
        };
        part.influences[ring * 4..][..4].fill(influences);
    }
    let material = Material {
        name: "green".into(),
        base_color: [0.2, 0.7, 0.3, 1.0],
        ..Material::default()
    };
    Model {
        clips: vec![clip],
        skeleton,
        parts: vec![part],
        materials: vec![material],
    }
}

/// A square tube from `low` to `high`, whose weights shift from the palette's first joint to its second.
fn tube(name: &str, material: usize, low: f32, high: f32, palette: Vec<u16>) -> SkinPart {
    const RINGS: u32 = 9;
    let mut part = SkinPart {
        name: name.into(),
        material,
        palette,
        ..SkinPart::default()
    };
    for ring in 0..RINGS {
        let t = ring as f32 / (RINGS - 1) as f32;
        for corner in 0..4 {
            let angle = std::f32::consts::FRAC_PI_2 * (corner as f32 + 0.5);
            let out = Vec3::new(angle.cos(), 0.0, angle.sin());
            part.positions
                .push(out * 0.25 + Vec3::Y * (low + (high - low) * t));
            part.normals.push(out);
            part.tangents.push(Vec4::new(0.0, 1.0, 0.0, 1.0));
            part.tex_coords.push(Vec2::new(corner as f32 / 4.0, t));
            let (first, second) = (1.0 - t, t);
            part.influences.push(if first >= second {
                Influences {
                    palette: [0, 1, 0, 0],
                    weights: [first, second, 0.0, 0.0],
                }
            } else {
                Influences {
                    palette: [1, 0, 0, 0],
                    weights: [second, first, 0.0, 0.0],
                }
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
