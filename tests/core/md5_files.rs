//! MD5 through its public face: files read and written, and imported skins held against the formula
//! by which MD5 defines a vertex, `Σ bias · (joint · position)`, reckoned here in `f64`.

mod clips;
mod doom_lexer;
mod formula;
mod many_joints;
mod model;

use bevy_marionette::{
    import::{Hand, ImportSettings, Imported, UpAxis},
    internals::{
        format::{
            Checked, Document,
            md5::{
                Md5Anim, Md5AnimJoint, Md5Joint, Md5Mesh, Md5Submesh, Md5Vertex, Md5Weight,
                parse_anim, parse_mesh, write_anim, write_mesh,
            },
        },
        import::{clip_from_md5, from_md5, skeleton_of_anim, to_md5_anim, to_md5_mesh},
    },
    model::{Model, SkeletalClip},
};
use glam::{DAffine3, DQuat, DVec3, Mat3, Vec3};
use proptest::prelude::*;

// ---------------------------------------------------------------------------------------------
// What a file is, in f64.

fn quaternion([x, y, z]: [f32; 3]) -> DQuat {
    let [x, y, z] = [x, y, z].map(f64::from);
    DQuat::from_xyzw(x, y, z, -(1.0 - x * x - y * y - z * z).max(0.0).sqrt()).normalize()
}

fn vector(v: [f32; 3]) -> DVec3 {
    Vec3::from(v).as_dvec3()
}

/// The file's own joints, in model space.
fn pose_of_joints(mesh: &Md5Mesh) -> Vec<DAffine3> {
    mesh.joints
        .iter()
        .map(|j| DAffine3::from_rotation_translation(quaternion(j.orientation), vector(j.position)))
        .collect()
}

/// The mesh's joints in model space at `frame + part` of an animation that has all of them by name.
fn pose_of_anim(mesh: &Md5Mesh, anim: &Md5Anim, frame: usize, part: f64) -> Vec<DAffine3> {
    fn model(anim: &Md5Anim, joint: usize, frame: usize, part: f64) -> DAffine3 {
        let at = |frame| {
            let [position, orientation] = anim.joint_at(joint, frame);
            (vector(position), quaternion(orientation))
        };
        let ((p, q), (to_p, to_q)) = (at(frame), at((frame + 1).min(anim.frame_count() - 1)));
        // Spherical, the short way round.
        let rotation = q.slerp(to_q, part);
        let local = DAffine3::from_rotation_translation(rotation, p.lerp(to_p, part));
        anim.joints[joint].parent.map_or(local, |parent| {
            model(anim, parent as usize, frame, part) * local
        })
    }
    let find = |name: &str| anim.joints.iter().position(|j| j.name == name).unwrap();
    mesh.joints
        .iter()
        .map(|j| model(anim, find(&j.name), frame, part))
        .collect()
}

/// All vertices of a file in a pose, in the file's axes.
fn formula(mesh: &Md5Mesh, pose: &[DAffine3]) -> Vec<DVec3> {
    let of_vertex = |submesh: &Md5Submesh, v: &Md5Vertex| {
        let weights = &submesh.weights[v.first_weight as usize..][..v.weight_count as usize];
        let sum: f64 = weights.iter().map(|w| f64::from(w.bias)).sum();
        let point = |w: &Md5Weight| {
            pose[w.joint as usize].transform_point3(vector(w.position)) * f64::from(w.bias)
        };
        weights.iter().map(point).sum::<DVec3>() / sum
    };
    mesh.meshes
        .iter()
        .flat_map(|s| s.vertices.iter().map(move |v| of_vertex(s, v)))
        .collect()
}

/// From the file's axes to Bevy's.
fn to_bevy(v: DVec3) -> DVec3 {
    DVec3::new(-v.y, v.z, -v.x)
}

// ---------------------------------------------------------------------------------------------
// What a model is, in f64.

/// Joints in model space; `None` for the rest pose.
fn pose_of_clip(model: &Model, clip: Option<(&SkeletalClip, usize, f64)>) -> Vec<DAffine3> {
    let skeleton = &model.skeleton;
    let mut out: Vec<DAffine3> = Vec::new();
    for joint in 0..skeleton.len() {
        let mut local = skeleton.rest_of(joint as u16);
        if let Some((clip, frame, part)) = clip.filter(|(clip, ..)| clip.animates(joint)) {
            let (a, b) = (
                clip.transform_at(joint, frame),
                clip.transform_at(joint, (frame + 1).min(clip.frame_count() - 1)),
            );
            local.translation = a.translation.lerp(b.translation, part as f32);
            local.rotation = a.rotation.lerp(b.rotation, part as f32);
        }
        let rotation = local.rotation.as_dquat().normalize();
        let local = DAffine3::from_scale_rotation_translation(
            local.scale.as_dvec3(),
            rotation,
            local.translation.as_dvec3(),
        );
        out.push(skeleton.parents()[joint].map_or(local, |p| out[usize::from(p)] * local));
    }
    out
}

/// What takes a vertex from where it is at rest to where each joint puts it.
fn skin_matrices(model: &Model, pose: &[DAffine3]) -> Vec<DAffine3> {
    pose.iter()
        .zip(model.skeleton.inverse_bind())
        .map(|(joint, inverse)| {
            let matrix = Mat3::from(inverse.matrix3).as_dmat3();
            *joint
                * DAffine3::from_mat3_translation(
                    matrix,
                    Vec3::from(inverse.translation).as_dvec3(),
                )
        })
        .collect()
}

/// The skin in a pose: source vertex and position.
fn skinned(model: &Model, pose: &[DAffine3]) -> Vec<(usize, DVec3)> {
    let palette = skin_matrices(model, pose);
    let mut out = Vec::new();
    for part in &model.parts {
        let of_joint = |joint: &u16| palette[usize::from(*joint)];
        let mut palette: Vec<DAffine3> = part.palette.iter().map(of_joint).collect();
        for shares in part.combined_joints.iter() {
            palette.push(mean(
                shares
                    .iter()
                    .map(|&(slot, share)| (palette[usize::from(slot)], share)),
            ));
        }
        for ((position, influences), &source) in part
            .positions
            .iter()
            .zip(&part.influences)
            .zip(&part.source_vertices)
        {
            let matrices = influences
                .palette
                .map(|slot| palette.get(usize::from(slot)).copied().unwrap_or_default());
            let matrix = mean(matrices.into_iter().zip(influences.weights));
            out.push((
                source as usize,
                matrix.transform_point3(position.as_dvec3()),
            ));
        }
    }
    out
}

/// A mean of matrices, as the GPU blends them.
fn mean(matrices: impl Iterator<Item = (DAffine3, f32)>) -> DAffine3 {
    let mut sum = DAffine3::ZERO;
    for (matrix, share) in matrices {
        sum.matrix3 += matrix.matrix3 * f64::from(share);
        sum.translation += matrix.translation * f64::from(share);
    }
    sum
}

fn largest_distance(skin: &[(usize, DVec3)], truth: &[DVec3]) -> f64 {
    skin.iter()
        .map(|&(source, p)| p.distance(to_bevy(truth[source])))
        .fold(0.0, f64::max)
}

fn assert_sound(model: &Model) {
    let mut names: Vec<&str> = model.parts.iter().map(|p| &*p.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), model.parts.len(), "names repeat");
    for part in &model.parts {
        let n = part.positions.len();
        assert_eq!(
            [
                part.normals.len(),
                part.tangents.len(),
                part.tex_coords.len()
            ],
            [n; 3]
        );
        assert_eq!([part.influences.len(), part.source_vertices.len()], [n; 2]);
        assert!(part.positions.iter().all(|p| p.is_finite()));
        assert!(part.normals.iter().all(|n| n.is_normalized()));
        assert!(
            part.tangents
                .iter()
                .all(|t| t.truncate().is_normalized() && t.w.abs() == 1.0)
        );
        assert!(
            part.triangles
                .as_flattened()
                .iter()
                .all(|&v| (v as usize) < n)
        );
        assert!(
            !part.triangles.is_empty()
                && part.palette_len() <= 256
                && part.material < model.materials.len()
        );
        for influences in &part.influences {
            assert!((influences.weights.iter().sum::<f32>() - 1.0).abs() < 1e-5);
            assert!(influences.weights.is_sorted_by(|a, b| a >= b) && influences.weights[3] >= 0.0);
            assert!(
                influences
                    .palette
                    .iter()
                    .all(|&slot| usize::from(slot) < part.palette_len())
            );
        }
        assert!(
            part.palette
                .iter()
                .all(|&joint| usize::from(joint) < model.skeleton.len())
        );
    }
}

// ---------------------------------------------------------------------------------------------
// Characters made of chance.

struct Chance(fastrand::Rng);

impl Chance {
    fn vector(&mut self) -> DVec3 {
        let mut one = || self.0.f64() * 2.0 - 1.0;
        DVec3::new(one(), one(), one())
    }

    fn rotation(&mut self, most: f64) -> DQuat {
        DQuat::from_axis_angle(
            (self.vector() + DVec3::splat(1e-3)).normalize(),
            self.0.f64() * most,
        )
    }

    /// x, y, z of a rotation as MD5 writes it.
    fn orientation(&mut self, most: f64) -> [f32; 3] {
        let q = self.rotation(most);
        (if q.w > 0.0 { -q } else { q }).as_quat().xyz().into()
    }

    /// A tree of joints around a ball of skin. Bound in the pose of its joints, or, with `turned` over
    /// 0, with joints that show another.
    fn mesh(&mut self, joints: usize, turned: f64) -> Md5Mesh {
        let mut mesh = Md5Mesh::default();
        for joint in 0..joints {
            mesh.joints.push(Md5Joint {
                name: format!("joint {joint}"),
                parent: (joint > 1).then(|| self.0.u32(0..joint as u32)),
                position: self.vector().as_vec3().into(),
                orientation: self.orientation(3.0),
            });
        }
        let bound = pose_of_joints(&mesh);
        for submesh in 0..2 {
            let mut out = Md5Submesh {
                shader: format!("skins/part{submesh}.tga"),
                ..Md5Submesh::default()
            };
            // A ball of rings, clockwise from outside.
            let (rings, sides) = (8u32, 12u32);
            for (ring, side) in (0..=rings).flat_map(|r| (0..=sides).map(move |s| (r, s))) {
                let (u, v) = (
                    f64::from(side) / f64::from(sides),
                    f64::from(ring) / f64::from(rings),
                );
                let (longitude, latitude) =
                    (u * std::f64::consts::TAU, (v - 0.5) * std::f64::consts::PI);
                let point = DVec3::new(
                    longitude.cos() * latitude.cos(),
                    longitude.sin() * latitude.cos(),
                    latitude.sin() + 3.0 * f64::from(submesh),
                );
                let count = 1 + self.0.usize(0..14.min(joints));
                let mut chosen: Vec<usize> = (0..joints).collect();
                self.0.shuffle(&mut chosen);
                let first_weight = out.weights.len() as u32;
                for &joint in &chosen[..count] {
                    let position = bound[joint]
                        .inverse()
                        .transform_point3(point)
                        .as_vec3()
                        .into();
                    out.weights.push(Md5Weight {
                        joint: joint as u32,
                        bias: self.0.f32() + 0.1,
                        position,
                    });
                }
                let of_vertex = &mut out.weights[first_weight as usize..];
                let sum: f32 = of_vertex.iter().map(|w| w.bias).sum();
                of_vertex.iter_mut().for_each(|w| w.bias /= sum);
                let tex_coord = [u as f32, v as f32];
                out.vertices.push(Md5Vertex {
                    tex_coord,
                    first_weight,
                    weight_count: count as u32,
                });
                if ring < rings && side < sides {
                    let (a, b) = (ring * (sides + 1) + side, (ring + 1) * (sides + 1) + side);
                    out.triangles.extend([[a, b, a + 1], [a + 1, b, b + 1]]);
                }
            }
            mesh.meshes.push(out);
        }
        if turned > 0.0 {
            for joint in 0..joints {
                let q = self.rotation(turned) * quaternion(mesh.joints[joint].orientation);
                mesh.joints[joint].orientation =
                    (if q.w > 0.0 { -q } else { q }).as_quat().xyz().into();
                let moved = vector(mesh.joints[joint].position) + self.vector() * turned;
                mesh.joints[joint].position = moved.as_vec3().into();
            }
        }
        mesh
    }

    /// An animation of the mesh's joints, in another order, with channels left out.
    fn anim(&mut self, mesh: &Md5Mesh, frames: u32) -> Md5Anim {
        let mut order: Vec<usize> = (0..mesh.joints.len()).collect();
        self.0.shuffle(&mut order);
        let place = |joint: u32| order.iter().position(|&j| j == joint as usize).unwrap() as u32;
        let mut anim = Md5Anim {
            frame_rate: 30.0,
            ..Md5Anim::default()
        };
        for &joint in &order {
            let Md5Joint { name, parent, .. } = &mesh.joints[joint];
            // Rotations whole or not at all: a part of one need not be a rotation.
            let flags = self.0.u32(0..8) | if self.0.bool() { 56 } else { 0 };
            let start = anim.components;
            anim.components += flags.count_ones();
            anim.joints.push(Md5AnimJoint {
                name: name.clone(),
                parent: parent.map(place),
                flags,
                start,
            });
            anim.base_frame
                .push([self.vector().as_vec3().into(), self.orientation(3.0)]);
        }
        for _ in 0..frames {
            for joint in &anim.joints {
                let numbers = [self.vector().as_vec3().into(), self.orientation(3.0)];
                let numbers: &[f32] = numbers.as_flattened();
                anim.frames.extend(
                    (0..6)
                        .filter(|bit| joint.flags & (1 << bit) != 0)
                        .map(|bit| numbers[bit]),
                );
            }
        }
        if anim.components == 0 {
            anim.bounds = vec![Default::default(); frames as usize];
        }
        anim
    }
}

impl Chance {
    /// An animation in which every joint turns by up to `most` radians a frame.
    fn turning(&mut self, mesh: &Md5Mesh, frames: usize, most: f64) -> Md5Anim {
        let joints = mesh.joints.len() as u32;
        let named = |(i, joint): (u32, &Md5Joint)| Md5AnimJoint {
            name: joint.name.clone(),
            parent: joint.parent,
            flags: 63,
            start: i * 6,
        };
        let mut anim = Md5Anim {
            frame_rate: 30.0,
            components: joints * 6,
            ..Md5Anim::default()
        };
        anim.joints = (0..).zip(&mesh.joints).map(named).collect();
        anim.base_frame = vec![Default::default(); joints as usize];
        let mut turns: Vec<DQuat> = (0..joints).map(|_| self.rotation(3.0)).collect();
        for _ in 0..frames {
            for turn in &mut turns {
                *turn *= self.rotation(most);
                let q = if turn.w > 0.0 { -*turn } else { *turn };
                anim.frames.extend(self.vector().as_vec3().to_array());
                anim.frames.extend(q.as_quat().xyz().to_array());
            }
        }
        anim
    }
}

fn checked<T: Document + Clone>(document: &T) -> Checked<T> {
    Checked::new(document.clone()).unwrap_or_else(|e| panic!("{e}"))
}

fn import(mesh: &Md5Mesh) -> Imported {
    from_md5("a.md5mesh", &checked(mesh), &ImportSettings::default())
        .unwrap_or_else(|e| panic!("{e}"))
}
