//! Model → `.m3d`.

use super::materials;
use crate::{
    format::m3d::{Dialect, M3d, M3dBone, M3dClip, M3dKey, M3dSubset, M3dVertex},
    model::{Influences, JointIndex, JointTransform, Model, SkeletalClip, Skeleton, SkinPart},
};
use glam::{Affine3A, DAffine3, Vec3};

/// Converts a model to an `.m3d` file, right-handed and Y up.
///
/// [`from_m3d`](super::from_m3d) converts it back to the same model: parts are subsets, and clips have a key for
/// every frame, and two at each step. The format cannot store the names of joints (they become `Bone0` and so on, in
/// the same order) and parts (they take their material's name), a rest pose other than the bind pose (clips keep it,
/// where they don't move a joint), playback modes, callback keys, more than four joints per vertex (the
/// largest are kept), and some properties of a [`Material`](crate::model::Material): alpha, a cutoff other than 0.1,
/// back faces without a cutoff, and normal maps with green up.
pub fn to_m3d(model: &Model) -> M3d {
    let mut out = M3d {
        dialect: Dialect::Dx12,
        materials: model
            .materials
            .iter()
            .map(|m| materials::export(m, !model.skeleton.is_empty()))
            .collect(),
        bones: bones(model),
        clips: model
            .clips
            .iter()
            .map(|clip| export_clip(clip, &model.skeleton))
            .collect(),
        ..M3d::default()
    };
    for part in &model.parts {
        let first = out.vertices.len() as u32;
        out.subsets.push(M3dSubset {
            id: part.material as u32,
            vertex_start: first,
            vertex_count: part.positions.len() as u32,
            face_start: out.triangles.len() as u32,
            face_count: part.triangles.len() as u32,
        });
        out.vertices
            .extend((0..part.positions.len()).map(|v| vertex(part, v)));
        // Clockwise on screen, as in Direct3D. Together with outward normals, this identifies the handedness.
        out.triangles.extend(
            part.triangles
                .iter()
                .map(|&[a, b, c]| [a, c, b].map(|v| first + v)),
        );
    }
    out
}

fn bones(model: &Model) -> Vec<M3dBone> {
    let parents = model.skeleton.parents().iter();
    let bone = |(parent, inverse_bind): (&Option<u16>, &Affine3A)| {
        let row = |v: glam::Vec3A, w: f32| [v.x, v.y, v.z, w];
        let m = inverse_bind.matrix3;
        M3dBone {
            offset: [
                row(m.x_axis, 0.0),
                row(m.y_axis, 0.0),
                row(m.z_axis, 0.0),
                row(inverse_bind.translation, 1.0),
            ],
            parent: parent.map(u32::from),
        }
    };
    parents
        .zip(model.skeleton.inverse_bind())
        .map(bone)
        .collect()
}

fn vertex(part: &SkinPart, v: usize) -> M3dVertex {
    let [x, y, z, w] = part.tangents.get(v).copied().unwrap_or_default().to_array();
    let mut vertex = M3dVertex {
        position: part.positions[v].into(),
        // Direct3D's bitangent points along V, Bevy's in the opposite direction.
        tangent: [x, y, z, -w],
        normal: part.normals.get(v).copied().unwrap_or(Vec3::ZERO).into(),
        tex_coord: part.tex_coords.get(v).copied().unwrap_or_default().into(),
        ..M3dVertex::default()
    };
    if let Some(&influences) = part.influences.get(v) {
        let Influences { palette, weights } = four_joints(part, v, influences);
        vertex.weights = weights;
        vertex.bones = palette.map(|slot| {
            part.palette
                .get(usize::from(slot))
                .map_or(0, |&j| u32::from(j))
        });
    }
    vertex
}

/// Returns the influences of a vertex without combined joints: its four largest joints.
fn four_joints(part: &SkinPart, v: usize, influences: Influences) -> Influences {
    let is_joint = |slot: &u16| usize::from(*slot) < part.palette.len();
    if influences.palette.iter().all(is_joint) {
        return influences;
    }
    let mut joints: Vec<(usize, f32)> = part.joint_weights(v).collect();
    joints.sort_by(|a, b| b.1.total_cmp(&a.1));
    joints.truncate(4);
    let sum: f32 = joints.iter().map(|(_, weight)| weight).sum();
    let mut out = Influences::default();
    for (lane, (slot, weight)) in joints.into_iter().enumerate() {
        (out.palette[lane], out.weights[lane]) = (slot as u16, weight / sum);
    }
    out
}

fn export_clip(clip: &SkeletalClip, skeleton: &Skeleton) -> M3dClip {
    let clip = clip.bind(skeleton);
    let key = |time: f64, transform: JointTransform| M3dKey {
        time: time as f32,
        translation: transform.translation.into(),
        scale: transform.scale.into(),
        rotation: transform.rotation.into(),
    };
    let keys = |joint: JointIndex| {
        let rest = skeleton.rest_of(joint);
        let (index, frames) = (usize::from(joint), 0..clip.frame_count());
        if clip.animates(index) {
            frames
                .map(|frame| key(clip.frame_time(frame), clip.transform_at(index, frame)))
                .collect()
        } else if !clip.additive && rests_elsewhere(skeleton, joint) {
            vec![key(0.0, rest)]
        } else {
            Vec::new()
        }
    };
    M3dClip {
        name: clip.timing.name.to_string(),
        bones: skeleton.joints().map(keys).collect(),
    }
}

/// Returns `true` if a joint rests elsewhere than in the bind pose, where readers let bones without keys rest.
fn rests_elsewhere(skeleton: &Skeleton, joint: JointIndex) -> bool {
    let inverse_bind =
        |joint: JointIndex| skeleton.inverse_bind()[usize::from(joint)].as_daffine3();
    let parent = skeleton.parents()[usize::from(joint)];
    let bind = parent.map_or(DAffine3::IDENTITY, inverse_bind) * inverse_bind(joint).inverse();
    let rest = skeleton.rest_of(joint).to_affine();
    !rest.abs_diff_eq(bind.as_affine3a(), 1e-6 * (1.0 + rest.translation.length()))
}
