//! MD5 through its public face: files read and written, and imported skins held against the formula
//! by which MD5 defines a vertex, `Σ bias · (joint · position)`, reckoned here in `f64`.

use bevy_marionette::{
    format::md5::{
        Md5Anim, Md5AnimJoint, Md5Joint, Md5Mesh, Md5Submesh, Md5Vertex, Md5Weight, parse_anim, parse_mesh, write_anim,
        write_mesh,
    },
    import::{Hand, ImportSettings, Imported, UpAxis, clip_from_md5, from_md5, to_md5_anim, to_md5_mesh},
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
        anim.joints[joint].parent.map_or(local, |parent| model(anim, parent as usize, frame, part) * local)
    }
    let find = |name: &str| anim.joints.iter().position(|j| j.name == name).unwrap();
    mesh.joints.iter().map(|j| model(anim, find(&j.name), frame, part)).collect()
}

/// All vertices of a file in a pose, in the file's axes.
fn formula(mesh: &Md5Mesh, pose: &[DAffine3]) -> Vec<DVec3> {
    let of_vertex = |submesh: &Md5Submesh, v: &Md5Vertex| {
        let weights = &submesh.weights[v.first_weight as usize..][..v.weight_count as usize];
        let sum: f64 = weights.iter().map(|w| f64::from(w.bias)).sum();
        let point = |w: &Md5Weight| pose[w.joint as usize].transform_point3(vector(w.position)) * f64::from(w.bias);
        weights.iter().map(point).sum::<DVec3>() / sum
    };
    mesh.meshes.iter().flat_map(|s| s.vertices.iter().map(move |v| of_vertex(s, v))).collect()
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
        let mut local = skeleton.rest_of(joint);
        if let Some((clip, frame, part)) = clip.filter(|(clip, ..)| clip.animates(joint)) {
            let (a, b) =
                (clip.transform_at(joint, frame), clip.transform_at(joint, (frame + 1).min(clip.frame_count() - 1)));
            local.translation = a.translation.lerp(b.translation, part as f32);
            local.rotation = a.rotation.lerp(b.rotation, part as f32);
        }
        let rotation = local.rotation.as_dquat().normalize();
        let local =
            DAffine3::from_scale_rotation_translation(local.scale.as_dvec3(), rotation, local.translation.as_dvec3());
        out.push(skeleton.parents()[joint].map_or(local, |p| out[usize::from(p)] * local));
    }
    out
}

/// The skin in a pose: source vertex and position.
fn skinned(model: &Model, pose: &[DAffine3]) -> Vec<(usize, DVec3)> {
    let palette: Vec<DAffine3> = pose
        .iter()
        .zip(model.skeleton.inverse_bind())
        .map(|(joint, inverse)| {
            let matrix = Mat3::from(inverse.matrix3).as_dmat3();
            *joint * DAffine3::from_mat3_translation(matrix, Vec3::from(inverse.translation).as_dvec3())
        })
        .collect();
    let mut out = Vec::new();
    for part in &model.parts {
        for ((position, influences), &source) in part.positions.iter().zip(&part.influences).zip(&part.source_vertices)
        {
            let mut sum = DVec3::ZERO;
            for (&slot, &weight) in influences.palette.iter().zip(&influences.weights) {
                let joint = usize::from(part.palette[usize::from(slot)]);
                sum += palette[joint].transform_point3(position.as_dvec3()) * f64::from(weight);
            }
            out.push((source as usize, sum));
        }
    }
    out
}

fn largest_distance(skin: &[(usize, DVec3)], truth: &[DVec3]) -> f64 {
    skin.iter().map(|&(source, p)| p.distance(to_bevy(truth[source]))).fold(0.0, f64::max)
}

fn assert_sound(model: &Model) {
    let mut names: Vec<&str> = model.parts.iter().map(|p| &*p.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), model.parts.len(), "names repeat");
    for part in &model.parts {
        let n = part.positions.len();
        assert_eq!([part.normals.len(), part.tangents.len(), part.tex_coords.len()], [n; 3]);
        assert_eq!([part.influences.len(), part.source_vertices.len()], [n; 2]);
        assert!(part.positions.iter().all(|p| p.is_finite()));
        assert!(part.normals.iter().all(|n| n.is_normalized()));
        assert!(part.tangents.iter().all(|t| t.truncate().is_normalized() && t.w.abs() == 1.0));
        assert!(part.triangles.as_flattened().iter().all(|&v| (v as usize) < n));
        assert!(!part.triangles.is_empty() && part.palette.len() <= 256 && part.material < model.materials.len());
        for influences in &part.influences {
            assert!((influences.weights.iter().sum::<f32>() - 1.0).abs() < 1e-5);
            assert!(influences.weights.is_sorted_by(|a, b| a >= b) && influences.weights[3] >= 0.0);
            assert!(influences.palette.iter().all(|&slot| usize::from(slot) < part.palette.len()));
        }
        assert!(part.palette.iter().all(|&joint| usize::from(joint) < model.skeleton.len()));
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
        DQuat::from_axis_angle((self.vector() + DVec3::splat(1e-3)).normalize(), self.0.f64() * most)
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
            let mut out = Md5Submesh { shader: format!("skins/part{submesh}.tga"), ..Md5Submesh::default() };
            // A ball of rings, clockwise from outside.
            let (rings, sides) = (8u32, 12u32);
            for (ring, side) in (0..=rings).flat_map(|r| (0..=sides).map(move |s| (r, s))) {
                let (u, v) = (f64::from(side) / f64::from(sides), f64::from(ring) / f64::from(rings));
                let (longitude, latitude) = (u * std::f64::consts::TAU, (v - 0.5) * std::f64::consts::PI);
                let point = DVec3::new(
                    longitude.cos() * latitude.cos(),
                    longitude.sin() * latitude.cos(),
                    latitude.sin() + 3.0 * f64::from(submesh),
                );
                let count = 1 + self.0.usize(0..4.min(joints));
                let mut chosen: Vec<usize> = (0..joints).collect();
                self.0.shuffle(&mut chosen);
                let first_weight = out.weights.len() as u32;
                for &joint in &chosen[..count] {
                    let position = bound[joint].inverse().transform_point3(point).as_vec3().into();
                    out.weights.push(Md5Weight { joint: joint as u32, bias: self.0.f32() + 0.1, position });
                }
                let of_vertex = &mut out.weights[first_weight as usize..];
                let sum: f32 = of_vertex.iter().map(|w| w.bias).sum();
                of_vertex.iter_mut().for_each(|w| w.bias /= sum);
                let tex_coord = [u as f32, v as f32];
                out.vertices.push(Md5Vertex { tex_coord, first_weight, weight_count: count as u32 });
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
                mesh.joints[joint].orientation = (if q.w > 0.0 { -q } else { q }).as_quat().xyz().into();
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
        let mut anim = Md5Anim { frame_rate: 30.0, ..Md5Anim::default() };
        for &joint in &order {
            let Md5Joint { name, parent, .. } = &mesh.joints[joint];
            // Rotations whole or not at all: a part of one need not be a rotation.
            let flags = self.0.u32(0..8) | if self.0.bool() { 56 } else { 0 };
            let start = anim.components;
            anim.components += flags.count_ones();
            anim.joints.push(Md5AnimJoint { name: name.clone(), parent: parent.map(place), flags, start });
            anim.base_frame.push([self.vector().as_vec3().into(), self.orientation(3.0)]);
        }
        for _ in 0..frames {
            for joint in &anim.joints {
                let numbers = [self.vector().as_vec3().into(), self.orientation(3.0)];
                let numbers: &[f32] = numbers.as_flattened();
                anim.frames.extend((0..6).filter(|bit| joint.flags & (1 << bit) != 0).map(|bit| numbers[bit]));
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
        let mut anim = Md5Anim { frame_rate: 30.0, components: joints * 6, ..Md5Anim::default() };
        anim.joints = (0..).zip(&mesh.joints).map(named).collect();
        anim.base_frame = vec![Default::default(); joints as usize];
        let mut turns: Vec<DQuat> = (0..joints).map(|_| self.rotation(3.0)).collect();
        for _ in 0..frames {
            for turn in &mut turns {
                *turn = *turn * self.rotation(most);
                let q = if turn.w > 0.0 { -*turn } else { *turn };
                anim.frames.extend(self.vector().as_vec3().to_array());
                anim.frames.extend(q.as_quat().xyz().to_array());
            }
        }
        anim
    }
}

fn import(mesh: &Md5Mesh) -> Imported {
    from_md5("a.md5mesh", mesh, &ImportSettings::default()).unwrap_or_else(|e| panic!("{e}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn an_imported_skin_moves_as_the_files_formula_says(seed: u64, joints in 2usize..12, frames in 1u32..5, turned: bool) {
        let mut chance = Chance(fastrand::Rng::with_seed(seed));
        let mesh = chance.mesh(joints, if turned { 0.6 } else { 0.0 });
        let anim = chance.anim(&mesh, frames);
        let imported = import(&mesh);
        let model = &imported.model;
        assert_sound(model);
        prop_assert_eq!(imported.report.bind_recovered, turned);
        prop_assert!(imported.report.bind_residual_relative < 1e-5, "{:?}", imported.report);
        // Joints, skin and reference are a few units across.
        let tolerance = 1e-4;
        let rest = skinned(model, &pose_of_clip(model, None));
        prop_assert!(largest_distance(&rest, &formula(&mesh, &pose_of_joints(&mesh))) < tolerance);

        let clip = clip_from_md5("a.md5anim", "a", &anim, &model.skeleton, &ImportSettings::default()).unwrap();
        prop_assert_eq!(clip.warnings, []);
        // The clip may have frames between the file's; on each of them it is the formula's pose.
        let steps = (clip.value.frame_count() - 1).checked_div(frames as usize - 1).unwrap_or(1);
        for frame in 0..clip.value.frame_count() {
            let truth = pose_of_anim(&mesh, &anim, frame / steps, (frame % steps) as f64 / steps as f64);
            let skin = skinned(model, &pose_of_clip(model, Some((&clip.value, frame, 0.0))));
            let off = largest_distance(&skin, &formula(&mesh, &truth));
            prop_assert!(off < tolerance, "frame {frame} of {steps} each: {off}");
        }
    }

    #[test]
    fn between_frames_an_imported_skin_keeps_to_the_arc(seed: u64, joints in 2usize..6, fast in 0.05f64..0.85) {
        let mut chance = Chance(fastrand::Rng::with_seed(seed));
        let mesh = chance.mesh(joints, 0.0);
        let anim = chance.turning(&mesh, 4, fast);
        let model = &import(&mesh).model;
        let clip = clip_from_md5("a.md5anim", "a", &anim, &model.skeleton, &ImportSettings::default()).unwrap().value;
        let steps = (clip.frame_count() - 1) / 3;
        for _ in 0..4 {
            let at = chance.0.f64() * 3.0;
            let truth = formula(&mesh, &pose_of_anim(&mesh, &anim, at as usize, at.fract()));
            let fine = at * steps as f64;
            let skin = skinned(model, &pose_of_clip(model, Some((&clip, fine as usize, fine.fract()))));
            let size = truth.iter().map(|v| v.length()).fold(0.0, f64::max);
            let off = largest_distance(&skin, &truth);
            prop_assert!(off < 1e-4 * size, "at {at}, {steps} steps: {off} of {size}");
        }
    }

    #[test]
    fn what_is_written_reads_back_and_imports_as_the_same_model(seed: u64, joints in 1usize..12, frames in 1u32..5) {
        let mut chance = Chance(fastrand::Rng::with_seed(seed));
        let mesh = chance.mesh(joints, 0.0);
        let anim = chance.anim(&mesh, frames);
        let read = parse_mesh("a", write_mesh(&mesh).as_bytes()).unwrap();
        prop_assert_eq!((&read.value, read.warnings.len()), (&mesh, 0));
        let read = parse_anim("a", write_anim(&anim).as_bytes()).unwrap();
        prop_assert_eq!((&read.value, read.warnings.len()), (&anim, 0));

        let model = import(&mesh).model;
        let clip = clip_from_md5("a", "a", &anim, &model.skeleton, &ImportSettings::default()).unwrap().value;
        let text = write_mesh(&to_md5_mesh(&model));
        let again = import(&parse_mesh("b", text.as_bytes()).unwrap().value).model;
        prop_assert_eq!(model.skeleton.names(), again.skeleton.names());
        prop_assert_eq!(model.skeleton.parents(), again.skeleton.parents());
        prop_assert_eq!(model.parts.len(), again.parts.len());
        for (part, again) in model.parts.iter().zip(&again.parts) {
            prop_assert_eq!((&part.name, &part.tex_coords, &part.triangles), (&again.name, &again.tex_coords, &again.triangles));
            for (a, b) in part.positions.iter().zip(&again.positions) {
                prop_assert!((*a - *b).length() < 1e-5 * 4.0);
            }
            for (a, b) in part.influences.iter().zip(&again.influences) {
                prop_assert!(a.weights.iter().zip(b.weights).all(|(a, b)| (a - b).abs() < 1e-5));
            }
        }
        let text = write_anim(&to_md5_anim(&clip, &model.skeleton));
        let anim = parse_anim("b", text.as_bytes()).unwrap().value;
        let again = clip_from_md5("b", "a", &anim, &model.skeleton, &ImportSettings::default()).unwrap().value;
        // Turns that four steps do not tame are divided once more; the frames that were there stay.
        let steps = (again.frame_count() - 1).checked_div(clip.frame_count() - 1).unwrap_or(1);
        prop_assert_eq!((clip.frame_count() - 1) * steps, again.frame_count() - 1);
        prop_assert!((clip.timing.duration - again.timing.duration).abs() < 1e-6);
        for (joint, frame) in (0..joints).flat_map(|j| (0..clip.frame_count()).map(move |f| (j, f))) {
            let (a, b) = (clip.transform_at(joint, frame), again.transform_at(joint, frame * steps));
            prop_assert!((a.translation - b.translation).length() < 1e-5);
            // Near half a turn the w that MD5 leaves out is known to half the digits of the rest.
            prop_assert!(a.rotation.dot(b.rotation).abs() > 1.0 - 1e-6);
        }
    }

    #[test]
    fn damaged_files_are_read_or_refused_and_what_is_read_imports(seed: u64, cut: bool) {
        let mut chance = Chance(fastrand::Rng::with_seed(seed));
        let mesh = chance.mesh(4, 0.0);
        let mut text = write_mesh(&mesh).into_bytes();
        let mut moves = write_anim(&chance.anim(&mesh, 3)).into_bytes();
        for text in [&mut text, &mut moves] {
            if cut {
                text.truncate(chance.0.usize(0..text.len()));
            }
            for _ in 0..chance.0.usize(0..4) {
                let at = chance.0.usize(0..text.len().max(1)).min(text.len());
                let with = *chance.0.choice(b"0123456789-.e \n\t\"{}()x/\xff\0").unwrap();
                match chance.0.u32(0..3) {
                    0 => text.insert(at, with),
                    1 if at < text.len() => text[at] = with,
                    _ if at < text.len() => drop(text.remove(at)),
                    _ => {}
                }
            }
        }
        let skeleton = import(&mesh).model.skeleton;
        if let Ok(read) = parse_mesh("a", &text)
            && let Ok(imported) = from_md5("a", &read.value, &ImportSettings::default())
        {
            assert_sound(&imported.model);
        }
        if let Ok(read) = parse_anim("a", &moves) {
            prop_assert!(read.value.frame_count() > 0 && read.value.frame_rate > 0.0);
            // A clip that is made is finite, or `SkeletalClip::new` would have refused it.
            let _ = clip_from_md5("a", "a", &read.value, &skeleton, &ImportSettings::default());
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text: String, words in prop::collection::vec(
        prop::sample::select(vec!["MD5Version 10", "joints {", "mesh {", "}", "vert", "tri", "weight", "0", "-1", "( 0 0 0 )",
            "\"a\"", "frame", "{", "numverts", "4294967295", "hierarchy {", "baseframe {", "bounds {", "1e39", "\n", "//"]), 0..60))
    {
        for text in [text, format!("MD5Version 10\n{}", words.join(" "))] {
            let _ = parse_mesh("a", text.as_bytes());
            let _ = parse_anim("a", text.as_bytes());
        }
    }
}

// ---------------------------------------------------------------------------------------------
// One thing at a time.

/// One joint at the origin and a cube around it, clockwise from outside as MD5 has it.
fn cube() -> Md5Mesh {
    let mut submesh = Md5Submesh { shader: "models/crate.tga".into(), ..Md5Submesh::default() };
    for corner in 0..8u32 {
        let at = |bit: u32| if corner & bit != 0 { 1.0 } else { -1.0 };
        submesh.vertices.push(Md5Vertex { tex_coord: [0.5, 0.25], first_weight: corner, weight_count: 1 });
        submesh.weights.push(Md5Weight { joint: 0, bias: 1.0, position: [at(1), at(2), at(4)] });
    }
    let outward = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    submesh.triangles = outward.iter().flat_map(|&[a, b, c, d]| [[a, c, b], [a, d, c]]).collect();
    let joints = vec![Md5Joint { name: "origin".into(), ..Md5Joint::default() }];
    Md5Mesh { command_line: String::new(), joints, meshes: vec![submesh] }
}

fn faces_outward(model: &Model) -> bool {
    model.parts.iter().all(|part| {
        part.triangles.iter().all(|t| {
            let [a, b, c] = t.map(|v| part.positions[v as usize]);
            (b - a).cross(c - a).dot(a + b + c) > 0.0 && part.normals[t[0] as usize].dot(a) > 0.0
        })
    })
}

#[test]
fn triangles_face_outward_whichever_way_the_file_winds_them() {
    let mut mesh = cube();
    for _ in 0..2 {
        for up in [UpAxis::Y, UpAxis::Z] {
            for hand in [Hand::Auto, Hand::Left, Hand::Right] {
                let settings = ImportSettings { hand, up, ..ImportSettings::default() };
                let model = from_md5("a", &mesh, &settings).unwrap().model;
                assert_eq!(model.parts[0].triangles.len(), 12);
                assert!(faces_outward(&model), "{settings:?}");
            }
        }
        mesh.meshes[0].triangles.iter_mut().for_each(|t| t.swap(0, 1));
    }
}

#[test]
fn a_sheet_shows_the_side_from_which_it_is_clockwise() {
    let mut mesh = cube();
    // The top, seen from above.
    mesh.meshes[0].triangles.retain(|t| t.iter().all(|v| v & 4 != 0));
    let part = &import(&mesh).model.parts[0];
    assert_eq!(part.triangles.len(), 2);
    assert!(part.triangles.as_flattened().iter().all(|&v| part.normals[v as usize] == Vec3::Y));
}

#[test]
fn axes_and_scale_are_applied_to_joints_and_skin_alike() {
    let mut mesh = cube();
    mesh.joints[0].position = [10.0, 20.0, 30.0];
    let settings = ImportSettings { scale: 0.5, ..ImportSettings::default() };
    let model = from_md5("a", &mesh, &settings).unwrap().model;
    assert_eq!(model.skeleton.rest_of(0).translation, Vec3::new(-10.0, 15.0, -5.0));
    assert!((model.parts[0].positions[0] - Vec3::new(-9.5, 14.5, -4.5)).length() < 1e-6);
    let stays = ImportSettings { up: UpAxis::Y, ..ImportSettings::default() };
    let model = from_md5("a", &mesh, &stays).unwrap().model;
    assert_eq!(model.skeleton.rest_of(0).translation, Vec3::new(10.0, 20.0, 30.0));
    assert!(from_md5("a", &mesh, &ImportSettings { scale: 0.0, ..settings }).is_err());
}

#[test]
fn parts_are_named_after_submesh_or_shader_and_empty_ones_skipped() {
    let mut mesh = cube();
    let plain = mesh.meshes[0].clone();
    let like = |name: Option<&str>, shader: &str| Md5Submesh {
        name: name.map(Into::into),
        shader: shader.into(),
        ..plain.clone()
    };
    mesh.meshes.extend([
        like(Some("lid"), "f:\\art\\lid.png"),
        Md5Submesh::default(),
        like(None, "<default>"),
        like(None, "models/crate.tga"),
        like(None, ""),
    ]);
    let Imported { model, warnings, .. } = import(&mesh);
    assert_eq!(warnings, []);
    let names: Vec<&str> = model.parts.iter().map(|p| &*p.name).collect();
    assert_eq!(names, ["crate", "lid", "mesh3", "crate.2", "mesh5"]);
    let maps: Vec<_> = model.parts.iter().map(|p| model.materials[p.material].base_color_map.as_deref()).collect();
    let expected = [Some("models/crate.tga"), Some("f:\\art\\lid.png"), None, Some("models/crate.tga"), None];
    assert_eq!(maps, expected);
    assert_eq!(model.parts[3].source_vertices[0], 24);
    assert_eq!(model.materials.len(), 4);
}

#[test]
fn weights_beyond_four_are_dropped_with_one_warning_and_bad_ones_ignored() {
    let mut mesh = cube();
    mesh.joints = (0..6)
        .map(|j| Md5Joint { name: format!("j{j}"), parent: (j > 0).then_some(0), ..Md5Joint::default() })
        .collect();
    let submesh = &mut mesh.meshes[0];
    let first_weight = submesh.weights.len() as u32;
    for (joint, bias) in [(0, 0.3), (1, 0.05), (2, 0.2), (3, 0.2), (4, 0.15), (5, -0.5), (0, 0.1)] {
        let position = submesh.weights[0].position;
        submesh.weights.push(Md5Weight { joint, bias, position });
    }
    submesh.vertices[0] = Md5Vertex { tex_coord: [0.0; 2], first_weight, weight_count: 7 };
    // A vertex of no weights and one of weight 0.
    submesh.vertices[1].weight_count = 0;
    submesh.weights[2].bias = 0.0;
    let Imported { model, warnings, report } = import(&mesh);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(report.influences, [2, 5, 0, 0, 0, 1]);
    assert_sound(&model);
    let part = &model.parts[0];
    let joints = part.influences[0].palette.map(|slot| part.palette[usize::from(slot)]);
    assert_eq!(joints, [0, 2, 3, 4]);
    assert!((part.influences[0].weights[0] - 0.4 / 0.95).abs() < 1e-6);
    assert_eq!(part.positions[1], Vec3::ZERO);
    // Left hand, lower, back: (−1, 1, −1) in the file.
    assert_eq!(part.positions[2], Vec3::new(-1.0, -1.0, 1.0));
}

#[test]
fn a_child_before_its_parent_and_several_roots_are_put_in_order() {
    let mut mesh = cube();
    let joint =
        |name: &str, parent, x| Md5Joint { name: name.into(), parent, position: [x, 0.0, 0.0], ..Md5Joint::default() };
    mesh.joints = vec![
        joint("hand", Some(2), 3.0),
        joint("prop", None, 9.0),
        joint("arm", Some(3), 2.0),
        joint("root", None, 1.0),
    ];
    let model = import(&mesh).model;
    let names: Vec<&str> = model.skeleton.names().iter().map(|n| &**n).collect();
    assert_eq!(names, ["root", "arm", "hand", "prop"]);
    assert_eq!(model.skeleton.parents(), [None, Some(0), Some(1), None]);
    assert_eq!(model.skeleton.rest_of(2).translation, Vec3::NEG_Z);
    assert_eq!(model.parts[0].palette, [2]);
    // Hand-made rings and indices out of range are errors, not panics.
    mesh.joints[3].parent = Some(0);
    assert!(
        from_md5("a", &mesh, &ImportSettings::default()).unwrap_err().to_string().contains("among its own ancestors")
    );
    mesh.joints[3].parent = Some(77);
    assert!(from_md5("a", &mesh, &ImportSettings::default()).is_err());
    let mut mesh = cube();
    mesh.meshes[0].triangles.push([0, 1, 99]);
    assert!(from_md5("a", &mesh, &ImportSettings::default()).is_err());
}

#[test]
fn a_part_of_over_256_joints_is_cut() {
    let mut chance = Chance(fastrand::Rng::with_seed(11));
    let mut mesh = chance.mesh(2, 0.0);
    for joint in 2..600 {
        mesh.joints.push(Md5Joint { name: format!("j{joint}"), parent: Some(0), ..Md5Joint::default() });
    }
    mesh.meshes.truncate(1);
    let submesh = &mut mesh.meshes[0];
    submesh.weights.clear();
    for (vertex, number) in submesh.vertices.iter_mut().zip(0u32..) {
        (vertex.first_weight, vertex.weight_count) = (number * 4, 4);
        for joint in 0..4 {
            let position = [number as f32, (number % 13) as f32, 0.0];
            submesh.weights.push(Md5Weight { joint: 2 + number * 5 + joint, bias: 0.25, position });
        }
    }
    let triangles = mesh.meshes[0].triangles.len();
    let model = import(&mesh).model;
    assert!(model.parts.len() > 1);
    assert_sound(&model);
    assert!(model.parts.iter().map(|p| p.triangles.len()).sum::<usize>() <= triangles);
    let rest = skinned(&model, &pose_of_clip(&model, None));
    assert!(largest_distance(&rest, &formula(&mesh, &pose_of_joints(&mesh))) < 1e-3);
}

#[test]
fn a_skin_that_fits_no_pose_is_reported() {
    let mut chance = Chance(fastrand::Rng::with_seed(2));
    let mut mesh = chance.mesh(5, 0.0);
    let weight = mesh.meshes[0].vertices.iter().find(|v| v.weight_count > 2).unwrap().first_weight;
    mesh.meshes[0].weights[weight as usize].position[0] += 1.5;
    let Imported { warnings, report, .. } = import(&mesh);
    // All others fit the file's joints, so those stay.
    assert!(!report.bind_recovered);
    assert!(report.bind_residual > 0.1 && report.bind_residual_relative > 0.02);
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].message.contains("weights of 1 vertices agree in no pose"), "{}", warnings[0].message);
}

/// `root` and `tip` over it, and a clip of two frames that lifts the tip from 1 to 2.
fn lift() -> (Md5Mesh, Md5Anim) {
    let mut mesh = cube();
    mesh.joints = vec![
        Md5Joint { name: "root".into(), position: [5.0, 0.0, 0.0], ..Md5Joint::default() },
        Md5Joint { name: "tip".into(), parent: Some(0), position: [5.0, 0.0, 1.0], ..Md5Joint::default() },
    ];
    let anim = Md5Anim {
        frame_rate: 10.0,
        components: 1,
        joints: vec![
            Md5AnimJoint { name: "root".into(), ..Md5AnimJoint::default() },
            Md5AnimJoint { name: "tip".into(), parent: Some(0), flags: 4, start: 0 },
        ],
        base_frame: vec![[[7.0, 0.0, 0.0], [0.0; 3]], [[0.0; 3]; 2]],
        frames: vec![1.0, 2.0],
        ..Md5Anim::default()
    };
    (mesh, anim)
}

#[test]
fn joints_are_matched_by_name_and_what_does_not_match_is_told_once() {
    let (mesh, mut anim) = lift();
    let skeleton = import(&mesh).model.skeleton;
    let settings = ImportSettings::default();
    anim.joints[0].name = "elsewhere".into();
    anim.joints.push(Md5AnimJoint { name: "tip".into(), parent: Some(0), ..Md5AnimJoint::default() });
    anim.base_frame.push([[99.0; 3], [0.0; 3]]);
    anim.joints[1].parent = None;
    let parsed = clip_from_md5("a.md5anim", "a", &anim, &skeleton, &settings).unwrap();
    assert!(!parsed.value.animates(0) && parsed.value.animates(1));
    let text: Vec<String> = parsed.warnings.iter().map(|w| w.message.clone()).collect();
    assert_eq!(text.len(), 4, "{text:?}");
    assert!(text[0].contains("`root`") && text[1].contains("`elsewhere`") && text[2].contains("`tip`"));
    // The clip says where the tip is in the model, not over the root, which rests at x = 5.
    assert!(text[3].contains("another parent"));
    let tip = parsed.value.transform_at(1, 1).translation;
    assert!((tip - Vec3::new(0.0, 2.0, 5.0)).length() < 1e-5, "{tip}");
}

#[test]
fn without_a_common_name_both_sides_are_named() {
    let (mesh, mut anim) = lift();
    let skeleton = import(&mesh).model.skeleton;
    anim.joints[0].name = "Bip01".into();
    anim.joints[1].name = "Bip01 Head".into();
    let error =
        clip_from_md5("run.md5anim", "run", &anim, &skeleton, &ImportSettings::default()).unwrap_err().to_string();
    for part in ["run.md5anim", "`Bip01`, `Bip01 Head`", "`root`, `tip`"] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn a_clip_lasts_from_its_first_frame_to_its_last() {
    let (mesh, mut anim) = lift();
    let skeleton = import(&mesh).model.skeleton;
    let settings = ImportSettings { scale: 0.5, ..ImportSettings::default() };
    anim.frames = vec![1.0, 2.0, 4.0, 8.0];
    let clip = clip_from_md5("a", "a", &anim, &skeleton, &settings).unwrap().value;
    assert_eq!((clip.timing.duration, clip.frame_count()), (3.0 / 10.0, 4));
    assert_eq!(clip.transform_at(1, 3).translation, Vec3::Y * 4.0);
    assert_eq!(clip.transform_at(0, 2).translation, Vec3::NEG_Z * 3.5);
    anim.frames.truncate(1);
    let clip = clip_from_md5("a", "a", &anim, &skeleton, &settings).unwrap().value;
    assert_eq!((clip.timing.duration, clip.frame_count()), (0.0, 1));
}

#[test]
fn a_delta_file_holds_differences_to_its_first_frame() {
    let (mesh, mut anim) = lift();
    let skeleton = import(&mesh).model.skeleton;
    // The tip leans forward by 0.3 more in the second frame; only its rotation about Y changes.
    let lean = |angle: f64| (-DQuat::from_rotation_y(angle).normalize()).as_quat().y;
    anim.joints[1].flags = 4 | 16;
    anim.components = 2;
    anim.frames = vec![1.0, lean(0.5), 2.0, lean(0.8)];
    let settings = ImportSettings::default();
    let clip = clip_from_md5("shoot_delta.md5anim", "shoot", &anim, &skeleton, &settings).unwrap().value;
    assert!(clip.additive);
    // The second frame is the last: a fast lean gets frames in between.
    let [first, second] = [0, clip.frame_count() - 1].map(|frame| clip.transform_at(1, frame));
    assert!(first.translation == Vec3::ZERO && first.rotation.angle_between(glam::Quat::IDENTITY) < 1e-3);
    assert!((second.translation - Vec3::Y).length() < 1e-6);
    // The file's Y is Bevy's −X.
    let expected = glam::Quat::from_rotation_x(-0.3);
    assert!(second.rotation.angle_between(expected) < 1e-3, "{:?}", second.rotation);
    let written = to_md5_anim(&clip, &skeleton);
    let again = clip_from_md5("x_DELTA.MD5ANIM", "shoot", &written, &skeleton, &settings).unwrap().value;
    assert!((again.transform_at(1, again.frame_count() - 1).translation - Vec3::Y).length() < 1e-6);
    assert!(!clip_from_md5("shoot.md5anim", "shoot", &anim, &skeleton, &settings).unwrap().value.additive);
}

#[test]
fn an_empty_model_and_one_without_joints_can_be_written() {
    let nothing = to_md5_mesh(&Model::default());
    assert_eq!((nothing.joints.len(), nothing.meshes.len()), (1, 0));
    let mut still = import(&cube()).model;
    still.skeleton = Default::default();
    for part in &mut still.parts {
        part.influences.clear();
        part.palette.clear();
    }
    let again = import(&parse_mesh("a", write_mesh(&to_md5_mesh(&still)).as_bytes()).unwrap().value).model;
    assert_eq!(again.parts[0].positions, still.parts[0].positions);
    assert_eq!(again.parts[0].triangles, still.parts[0].triangles);
}
