//! Model → `.md5mesh`, clip → `.md5anim`.

use super::{
    mesh::stem,
    rigid::{Rigid, affine},
};
use crate::{
    format::md5::{Md5Anim, Md5AnimJoint, Md5Joint, Md5Mesh, Md5Submesh, Md5Vertex, Md5Weight},
    import::{ImportSettings, UpAxis, axes::Basis, names::numbered},
    model::{JointIndex, Model, SkeletalClip, Skeleton, SkinPart},
    pose::FrameSpan,
};
use glam::DAffine3;
use std::mem;

/// Frames per second of a clip with a single pose.
const DEFAULT_RATE: f32 = 24.0;

/// Frames per second of a clip whose own frames are not evenly spaced, and the most of them.
const EVEN_RATE: f64 = 60.0;
const MOST_EVEN_FRAMES: usize = 1 << 16;

/// Converts a model's mesh to an `.md5mesh` file, Z up and +X forward.
///
/// MD5 has one pose for joints and skin. Joints are written in the pose in which the skin is stored, so a
/// different rest pose is lost (write it as a clip). Combined joints are written as the joints they consist of. Scale is lost too, except for its effect on the stored skin. A model
/// without joints gets one named `origin`. Joints that share a name with another get a number, as in the clips, because readers
/// find joints by name. A material's base color map is written as the shader.
pub fn to_md5_mesh(model: &Model) -> Md5Mesh {
    let basis = to_z_up();
    let skeleton = &model.skeleton;
    let rest = skeleton.rest_model();
    let bind = |joint: usize| {
        let affine = basis
            .affine(skeleton.inverse_bind()[joint])
            .as_daffine3()
            .inverse();
        if affine.is_finite() {
            affine
        } else {
            basis.affine(rest[joint]).as_daffine3()
        }
    };
    let mut names = numbered(skeleton.names());
    let mut joints: Vec<Md5Joint> = (0..skeleton.len())
        .map(|joint| {
            let [position, orientation] = Rigid::of_affine(bind(joint)).to_md5();
            let parent = skeleton.parents()[joint].map(u32::from);
            Md5Joint {
                name: mem::take(&mut names[joint]),
                parent,
                position,
                orientation,
            }
        })
        .collect();
    if joints.is_empty() {
        joints.push(Md5Joint {
            name: "origin".into(),
            ..Md5Joint::default()
        });
    }
    // Use the joints as a reader will see them, so that the weights compensate for rounding.
    let read: Vec<Rigid> = joints
        .iter()
        .map(|j| Rigid::from_md5(j.position, j.orientation).inverse())
        .collect();
    let meshes = model
        .parts
        .iter()
        .map(|part| submesh(part, model, &basis, &read))
        .collect();
    Md5Mesh {
        command_line: String::new(),
        joints,
        meshes,
    }
}

fn submesh(part: &SkinPart, model: &Model, basis: &Basis, inverse_joints: &[Rigid]) -> Md5Submesh {
    let shader = model
        .materials
        .get(part.material)
        .and_then(|m| m.base_color_map.clone())
        .unwrap_or_default();
    let name = (part.name != stem(&shader)).then(|| part.name.clone());
    let mut weights: Vec<Md5Weight> = Vec::new();
    let vertex = |vertex: usize| {
        let first_weight = weights.len() as u32;
        let point = basis.point(part.positions[vertex]).as_dvec3();
        let mut push = |joint: usize, bias: f32| {
            if let Some(inverse) = inverse_joints.get(joint) {
                let position = inverse.apply(point).as_vec3().into();
                weights.push(Md5Weight {
                    joint: joint as u32,
                    bias,
                    position,
                });
            }
        };
        for (slot, weight) in part.joint_weights(vertex) {
            push(usize::from(part.palette[slot]), weight);
        }
        if part.influences.is_empty() {
            push(0, 1.0);
        }
        let tex_coord = part
            .tex_coords
            .get(vertex)
            .copied()
            .unwrap_or_default()
            .into();
        Md5Vertex {
            tex_coord,
            first_weight,
            weight_count: weights.len() as u32 - first_weight,
        }
    };
    let vertices = (0..part.positions.len()).map(vertex).collect();
    // MD5 triangles are clockwise seen from outside.
    let triangles = part.triangles.iter().map(|&[a, b, c]| [a, c, b]).collect();
    Md5Submesh {
        name,
        shader,
        vertices,
        triangles,
        weights,
    }
}

/// Converts a clip of a skeleton to an `.md5anim` file, Z up and +X forward.
///
/// Joints that the clip doesn't move keep their rest pose. An additive clip is written on top of the rest pose; name
/// the file `…_delta.md5anim` to read it back as differences from its first frame. MD5 has no scale: joints are written
/// at the positions that scaled parents give them, without scale. A clip of zero length gets 24 frames per second. MD5
/// has only evenly spaced frames: a clip with [frame times](SkeletalClip::frame_times) of its own is sampled at 60
/// frames per second, which makes its steps ramps of one frame.
pub fn to_md5_anim(clip: &SkeletalClip, skeleton: &Skeleton) -> Md5Anim {
    let basis = to_z_up();
    let clip = clip.bind(skeleton);
    let joints = skeleton.len();
    let (times, duration) = (clip.frame_times(), clip.timing.duration);
    let even_steps = ((duration * EVEN_RATE).ceil() as usize).clamp(1, MOST_EVEN_FRAMES - 1);
    let frame_count = if times.is_some() {
        even_steps + 1
    } else {
        clip.frame_count()
    };
    let transform = |joint: usize, frame: usize| match times {
        Some(_) => FrameSpan::new(&clip, duration * frame as f64 / even_steps as f64)
            .transform(&clip, joint),
        None => clip.transform_at(joint, frame),
    };
    // The position and orientation of each joint, frame by frame.
    let mut poses: Vec<[[f32; 3]; 2]> = Vec::with_capacity(frame_count * joints);
    let mut model: Vec<DAffine3> = Vec::with_capacity(joints);
    for frame in 0..frame_count {
        model.clear();
        for joint in 0..joints {
            let rest = skeleton.rest_of(joint as JointIndex);
            let local = match (clip.animates(joint), clip.additive) {
                (false, _) => rest,
                (true, false) => transform(joint, frame),
                (true, true) => rest.plus(&transform(joint, frame)),
            };
            let local = basis.transform(local);
            let parent = skeleton.parents()[joint].map(|p| model[usize::from(p)]);
            let rigid = match parent {
                Some(parent) => Rigid::of_affine(parent)
                    .inverse()
                    .after(&Rigid::of_affine(parent * affine(&local))),
                None => Rigid::of_affine(affine(&local)),
            };
            model.push(parent.unwrap_or(DAffine3::IDENTITY) * affine(&local));
            poses.push(rigid.to_md5());
        }
    }
    let rate = ((frame_count - 1) as f64 / duration) as f32;
    let mut anim = Md5Anim {
        frame_rate: if rate > 0.0 && rate.is_finite() {
            rate
        } else {
            DEFAULT_RATE
        },
        base_frame: poses[..joints].to_vec(),
        ..Md5Anim::default()
    };
    // Numbers that change are in the frames, others only in the base frame.
    let mut moving: Vec<(usize, usize)> = Vec::new();
    let mut names = numbered(skeleton.names());
    for joint in 0..joints {
        let start = moving.len() as u32;
        let mut flags = 0;
        for number in 0..6 {
            let at = |frame: usize| poses[frame * joints + joint].as_flattened()[number].to_bits();
            if (1..frame_count).any(|frame| at(frame) != at(0)) {
                flags |= 1 << number;
                moving.push((joint, number));
            }
        }
        let parent = skeleton.parents()[joint].map(u32::from);
        anim.joints.push(Md5AnimJoint {
            name: mem::take(&mut names[joint]),
            parent,
            flags,
            start,
        });
    }
    anim.components = moving.len() as u32;
    for frame in 0..frame_count {
        let number = |&(joint, number): &(usize, usize)| {
            poses[frame * joints + joint].as_flattened()[number]
        };
        anim.frames.extend(moving.iter().map(number));
    }
    if moving.is_empty() && frame_count > 1 {
        // Without numbers, the number of frames is that of the boxes.
        anim.bounds = vec![Default::default(); frame_count];
    }
    anim
}

fn to_z_up() -> Basis {
    let settings = ImportSettings::default();
    // Only a scale can be invalid, and the default scale is one.
    Basis::new("", &settings, true, UpAxis::Z)
        .expect("the default scale is valid")
        .inverse()
}
