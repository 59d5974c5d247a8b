//! Scenes of every build: armatures, skins, rigid meshes, and the ways to store a mesh.

use super::{
    BOUND, NO_NORMALS,
    file::{
        BYTE, File, SHORT, UNSIGNED_BYTE, UNSIGNED_INT, UNSIGNED_SHORT, chain, cube, even_times,
        random_turn,
    },
    formula::{error, error_of_clip, posed},
    import, import_with_warnings, open, warnings,
};
use crate::messages::assert_message;
use bevy_marionette::{
    import::{FileKind, Hand, ImportSettings, Imported, UpAxis, open_model},
    internals::{
        import::{files_beside, open_model_with},
        model::{Maps, MipFilter, Sampler, TextureFilter, TextureWrap, UvTransform},
    },
    model::{Material, PlaybackMode, SkinPart},
};
use fastrand::Rng;
use glam::{Mat4, Quat, Vec3, Vec4};
use serde_json::{Value, json};
use std::borrow::Cow;

fn names(imported: &Imported) -> Vec<&str> {
    imported
        .model
        .skeleton
        .names()
        .iter()
        .map(|name| &**name)
        .collect()
}

/// Every triangle faces outward in a pose: away from the middle of its cube of eight vertices.
fn faces_outward(part: &SkinPart, positions: &[Vec3]) {
    for cube in part.triangles.chunks(12) {
        let middle = cube
            .iter()
            .flatten()
            .map(|&v| positions[v as usize])
            .sum::<Vec3>()
            / 36.0;
        for triangle in cube {
            let [a, b, c] = triangle.map(|v| positions[v as usize]);
            assert!((b - a).cross(c - a).dot(a - middle) > 0.0);
        }
    }
    for (position, normal) in positions.iter().zip(&part.normals) {
        assert!(normal.is_normalized() && position.is_finite());
    }
}

#[test]
fn a_mesh_without_normals_is_shaded_flat() {
    let chain = chain(3, json!({ "name": "Armature" }));
    let (imported, _) = import(&chain.file, &[NO_NORMALS]);
    for part in &imported.model.parts {
        assert_eq!(part.positions.len(), 3 * part.triangles.len());
        for triangle in &part.triangles {
            let [a, b, c] = triangle.map(|v| part.positions[v as usize]);
            let normal = (b - a).cross(c - a).normalize();
            assert!(
                triangle
                    .iter()
                    .all(|&v| part.normals[v as usize].abs_diff_eq(normal, 1e-5))
            );
        }
    }
}

#[test]
fn armatures_that_are_scaled_turned_and_nested_are_baked_in() {
    let turn = Quat::from_rotation_x(-std::f32::consts::FRAC_PI_2).to_array();
    let rng = &mut Rng::with_seed(1);
    let mut chain = chain(
        4,
        json!({ "name": "Armature", "scale": [100.0, 100.0, 100.0], "rotation": turn }),
    );
    let root = chain.file.node(
        json!({ "name": "RootNode", "translation": [3.0, 0.5, -1.0], "children": [chain.armature],
        "rotation": random_turn(rng, 1.0).to_array(), "scale": [0.5, 0.5, 0.5] }),
    );
    chain.file.json["scenes"][0]["nodes"] = json!([root, chain.mesh_node]);
    // The skin's own node has no effect.
    chain.file.json["nodes"][chain.mesh_node]["scale"] = json!([7.0, 7.0, 7.0]);
    chain.turns("wave", &even_times(13, 12.0), 1.0, rng);
    let lengths: Vec<[f32; 3]> = (0..13).map(|_| [rng.f32(), 1.0, rng.f32()]).collect();
    for joint in [0, 1] {
        chain.file.channel(
            "wave",
            chain.joints[joint],
            "translation",
            "LINEAR",
            &even_times(13, 12.0),
            &lengths,
        );
    }
    let (imported, reference) = import(&chain.file, &[NO_NORMALS]);
    let error = error_of_clip(&reference, &imported, "wave");
    assert!(error < BOUND, "{error}");
    assert_eq!(names(&imported), ["j0", "j1", "j2", "j3"]);
    assert!(imported.model.skeleton.unit_scale() && imported.model.clips[0].unit_scale());
    assert!((imported.model.skeleton.rest_of(1).translation.length() - 50.0).abs() < 1e-3);
    // The skin is stored as it stands at rest.
    for (source, position) in posed(&imported, None, 0.0) {
        let part = &imported.model.parts[0];
        let at = part
            .source_vertices
            .iter()
            .position(|&s| s as usize == source)
            .unwrap();
        assert!(part.positions[at].distance(position) < 1e-3);
    }
    faces_outward(&imported.model.parts[0], &imported.model.parts[0].positions);
}

#[test]
fn bones_that_exporters_scale_have_a_scale_of_one() {
    let rng = &mut Rng::with_seed(2);
    let mut chain = chain(4, json!({ "name": "Armature" }));
    let armature = chain.armature;
    let times = even_times(5, 4.0);
    // An armature that is animated with the scale that it has, and a bone that takes it back, nearly.
    chain.file.json["nodes"][armature]["scale"] = json!([0.01, 0.01, 0.01]);
    chain
        .file
        .channel("walk", armature, "scale", "LINEAR", &times, &[[0.01; 3]; 5]);
    chain.file.json["nodes"][chain.joints[0]]["scale"] = json!([99.99999, 100.0, 100.00001]);
    chain.file.channel(
        "walk",
        chain.joints[0],
        "scale",
        "LINEAR",
        &times,
        &[[100.0, 99.99999, 100.0]; 5],
    );
    chain.turns("walk", &times, 0.7, rng);
    let (imported, reference) = import(&chain.file, &[NO_NORMALS]);
    let error = error_of_clip(&reference, &imported, "walk");
    assert!(error < BOUND, "{error}");
    assert!(imported.model.skeleton.unit_scale() && imported.model.clips[0].unit_scale());
    assert_eq!(names(&imported), ["Armature", "j0", "j1", "j2", "j3"]);
}

#[test]
fn scales_that_are_not_uniform_are_kept_as_joints_and_mirrors_are_baked_in() {
    for (scale, is_joint) in [
        ([1.0, 2.0, 1.0], true),
        ([-1.0, 2.0, 1.0], true),
        ([-1.0, 1.0, 1.0], false),
        ([-1.0, -1.0, -1.0], false),
    ] {
        let rng = &mut Rng::with_seed(2);
        let mut chain = chain(4, json!({ "name": "Armature", "scale": scale }));
        chain.file.json["nodes"][chain.joints[2]]["scale"] = json!([1.5, 0.5, 1.0]);
        chain.turns("walk", &even_times(9, 8.0), 1.0, rng);
        let (imported, reference) = import(&chain.file, &[NO_NORMALS]);
        let error = error_of_clip(&reference, &imported, "walk");
        assert!(error < BOUND, "{error}");
        assert_eq!(
            names(&imported),
            ["Armature", "j0", "j1", "j2", "j3"][usize::from(!is_joint)..]
        );
        let rest = posed(&imported, None, 0.0);
        let part = &imported.model.parts[0];
        let positions: Vec<Vec3> = rest.into_iter().map(|(_, position)| position).collect();
        assert_eq!(positions.len(), part.positions.len());
        faces_outward(part, &positions);
    }
}

#[test]
fn a_matrix_is_taken_apart_and_shear_is_said() {
    let turned = Mat4::from_scale_rotation_translation(
        Vec3::splat(3.0),
        Quat::from_rotation_z(0.5),
        Vec3::X,
    );
    let mut chain = chain(
        3,
        json!({ "name": "Armature", "matrix": turned.to_cols_array() }),
    );
    chain.turns("walk", &even_times(9, 8.0), 1.0, &mut Rng::with_seed(2));
    let (imported, reference) = import(&chain.file, &[NO_NORMALS]);
    let error = error_of_clip(&reference, &imported, "walk");
    assert!(error < BOUND, "{error}");
    let sheared =
        turned * Mat4::from_cols(Vec4::X, Vec4::new(0.5, 1.0, 0.0, 0.0), Vec4::Z, Vec4::W);
    chain.file.json["nodes"][chain.armature]["matrix"] = json!(sheared.to_cols_array());
    import_with_warnings(&chain.file, "gltf: a sheared node");
}

/// Adds a second skin over the joints of a chain, with a mesh of its own. `apart` is what its inverse bind matrices are multiplied by.
fn with_second_skin(length: usize, apart: impl Fn(usize) -> Mat4) -> super::file::Chain {
    let mut chain = chain(length, json!({ "name": "Armature" }));
    let matrices: Vec<Mat4> = (0..length)
        .map(|at| Mat4::from_translation(Vec3::Y * -(0.25 + at as f32)) * apart(at))
        .collect();
    let joints = chain.joints.clone();
    let skin = chain.file.skin(&joints, &matrices);
    let mesh = chain.file.json["meshes"][0].clone();
    let mesh = chain.file.push("meshes", mesh);
    let node = chain
        .file
        .node(json!({ "name": "coat", "mesh": mesh, "skin": skin }));
    chain.file.root(node);
    chain.turns("walk", &even_times(9, 8.0), 1.0, &mut Rng::with_seed(6));
    chain
}

#[test]
fn several_skins_over_the_same_joints_each_keep_their_bind() {
    let larger = Mat4::from_scale_rotation_translation(
        Vec3::splat(0.01),
        Quat::from_rotation_x(1.5),
        Vec3::Y,
    );
    let cases: [(Box<dyn Fn(usize) -> Mat4>, usize); 3] = [
        // Bound alike.
        (Box::new(|_| Mat4::IDENTITY), 0),
        // In a space of its own: baked into the vertices.
        (Box::new(move |_| larger), 0),
        // In another pose: no change of the vertices does that.
        (Box::new(|at| Mat4::from_rotation_z(0.1 * at as f32)), 3),
    ];
    for (apart, copies) in cases {
        let chain = with_second_skin(4, apart);
        let (imported, reference) = import(&chain.file, &[NO_NORMALS]);
        let error = error_of_clip(&reference, &imported, "walk");
        assert!(error < BOUND, "{error}");
        assert_eq!(
            imported.model.skeleton.len(),
            4 + copies,
            "{:?}",
            names(&imported)
        );
        assert_eq!(imported.model.parts.len(), 2);
    }
}

#[test]
fn a_skin_bound_in_another_pose_than_rest_stands_as_its_file_says() {
    let rng = &mut Rng::with_seed(12);
    let mut chain = chain(5, json!({ "name": "Armature" }));
    for joint in chain.joints.clone() {
        chain.file.json["nodes"][joint]["rotation"] = json!(random_turn(rng, 0.7).to_array());
    }
    chain.turns("walk", &even_times(9, 8.0), 1.0, rng);
    let (imported, reference) = import(&chain.file, &[NO_NORMALS]);
    assert!(error_of_clip(&reference, &imported, "walk") < BOUND);
    assert!(error(&reference, &imported, None, None, 0.0) < BOUND);
}

/// A file without skins: a torso with an arm, both meshes on animated nodes, and a hat on a node that is not.
fn puppet() -> File {
    let mut file = File::new();
    let (corners, triangles) = cube(Vec3::new(0.3, 0.5, 0.0), 0.5);
    let triangles: Vec<[u16; 1]> = triangles.into_iter().map(|v| [v]).collect();
    let (positions, indices) = (file.floats(&corners), file.shorts(&triangles));
    let primitive = json!({ "attributes": { "POSITION": positions }, "indices": indices });
    let mesh = file.push(
        "meshes",
        json!({ "name": "box", "primitives": [primitive] }),
    );
    let hat = file
        .node(json!({ "name": "hat", "mesh": mesh, "translation": [0.0, 2.0, 0.0], "scale": [0.5, 0.25, 0.5],
        "rotation": Quat::from_rotation_y(0.4).to_array() }));
    let arm =
        file.node(json!({ "name": "arm", "mesh": mesh, "translation": [1.0, 0.5, 0.0], "scale": [-1.0, 1.0, 1.0] }));
    let torso = file.node(json!({ "name": "torso", "mesh": mesh, "children": [hat, arm] }));
    let root = file.node(json!({ "name": "root", "scale": [3.0, 3.0, 3.0], "children": [torso] }));
    file.root(root);
    let rng = &mut Rng::with_seed(7);
    let times = even_times(9, 8.0);
    for node in [torso, arm] {
        let turns: Vec<[f32; 4]> = times
            .iter()
            .map(|_| random_turn(rng, 1.0).to_array())
            .collect();
        file.channel("wave", node, "rotation", "LINEAR", &times, &turns);
    }
    let squash: Vec<[f32; 3]> = times.iter().map(|_| [1.0, 0.5 + rng.f32(), 1.0]).collect();
    file.channel("wave", torso, "scale", "LINEAR", &times, &squash);
    file
}

#[test]
fn meshes_on_nodes_are_parts_that_move_with_their_node() {
    let file = puppet();
    let (imported, reference) = import(&file, &[NO_NORMALS]);
    let error = error_of_clip(&reference, &imported, "wave");
    assert!(error < BOUND, "{error}");
    let model = &imported.model;
    assert_eq!(names(&imported), ["torso", "hat", "arm"]);
    let parts: Vec<&str> = model.parts.iter().map(|part| &*part.name).collect();
    assert_eq!(parts, ["hat", "arm", "torso"]);
    for part in &model.parts {
        let joint = model.skeleton.joint(&part.name).unwrap();
        assert_eq!(part.palette, [joint]);
        faces_outward(part, &part.positions);
    }
}

#[test]
fn a_rigid_mesh_on_a_joint_of_a_skin_moves_with_it() {
    let mut chain = chain(
        3,
        json!({ "name": "Armature", "scale": [10.0, 10.0, 10.0] }),
    );
    let (corners, triangles) = cube(Vec3::new(0.0, 0.2, 1.0), 0.1);
    let triangles: Vec<[u16; 1]> = triangles.into_iter().map(|v| [v]).collect();
    let (positions, indices) = (chain.file.floats(&corners), chain.file.shorts(&triangles));
    let primitive = json!({ "attributes": { "POSITION": positions }, "indices": indices });
    let mesh = chain
        .file
        .push("meshes", json!({ "primitives": [primitive] }));
    chain.file.json["nodes"][chain.joints[1]]["mesh"] = json!(mesh);
    let sword = chain
        .file
        .node(json!({ "name": "sword", "mesh": mesh, "translation": [0.5, 0.0, 0.0] }));
    let socket = chain
        .file
        .node(json!({ "name": "socket", "children": [sword], "rotation": [0.0, 0.6, 0.0, 0.8] }));
    chain.file.json["nodes"][chain.joints[2]]["children"] = json!([socket]);
    chain.turns("walk", &even_times(9, 8.0), 1.0, &mut Rng::with_seed(6));
    let (imported, reference) = import(&chain.file, &[NO_NORMALS]);
    let error = error_of_clip(&reference, &imported, "walk");
    assert!(error < BOUND, "{error}");
    assert_eq!(names(&imported), ["j0", "j1", "j2", "socket", "sword"]);
    assert!(imported.model.skeleton.unit_scale());
    let sword = imported
        .model
        .parts
        .iter()
        .find(|part| part.name == "sword")
        .unwrap();
    assert_eq!(sword.palette, [4]);
}

#[test]
fn only_the_default_scene_is_imported_and_files_without_meshes_have_clips() {
    let mut chain = chain(3, json!({ "name": "Armature" }));
    chain.turns("walk", &even_times(9, 8.0), 1.0, &mut Rng::with_seed(6));
    chain
        .file
        .push("scenes", json!({ "nodes": [chain.armature] }));
    chain.file.json["scene"] = json!(1);
    let imported = open(&chain.file.glb()).unwrap();
    assert!(imported.model.parts.is_empty());
    assert_eq!(
        (names(&imported), imported.model.clips.len()),
        (vec!["j0", "j1", "j2"], 1)
    );
    // Without a skin, the animated nodes are all there is to tell the joints by.
    chain.file.json["skins"] = json!([]);
    chain.file.json["meshes"] = json!([]);
    chain.file.json["nodes"][chain.mesh_node] = json!({});
    let imported = open(&chain.file.glb()).unwrap();
    assert_eq!(
        (names(&imported), imported.model.clips.len()),
        (vec!["j0", "j1", "j2"], 1)
    );
}

#[test]
fn a_skin_without_a_mesh_is_a_skeleton() {
    let mut chain = chain(3, json!({ "name": "Armature" }));
    chain.file.json["meshes"] = json!([]);
    chain.file.json["nodes"][chain.mesh_node] = json!({});
    let imported = open(&chain.file.glb()).unwrap();
    assert_eq!(names(&imported), ["j0", "j1", "j2"]);
    assert!(imported.model.parts.is_empty() && imported.model.clips.is_empty());
}

#[test]
fn weights_in_several_sets_and_all_formats_are_read() {
    let mut chain = chain(6, json!({ "name": "Armature" }));
    chain.turns("walk", &even_times(9, 8.0), 0.8, &mut Rng::with_seed(6));
    let file = &mut chain.file;
    let attributes = |file: &File| file.json["meshes"][0]["primitives"][0]["attributes"].clone();
    let count = 48;
    // Two joints in each of two sets, in every format that weights have.
    let first: Vec<[u16; 4]> = (0..count).map(|v| [v % 6, 0, (v + 1) % 6, 0]).collect();
    let second: Vec<[u16; 4]> = (0..count)
        .map(|v| [0, (v + 2) % 6, 0, (v + 4) % 6])
        .collect();
    let (joints_0, joints_1) = (file.shorts(&first), file.shorts(&second));
    let shares: [[f32; 4]; 2] = [[0.4, 0.0, 0.2, 0.0], [0.0, 0.3, 0.0, 0.1]];
    for component in [UNSIGNED_BYTE, UNSIGNED_SHORT, 5126] {
        let weights = shares.map(|four| {
            let bytes: Vec<u8> = four
                .iter()
                .flat_map(|share| match component {
                    UNSIGNED_BYTE => vec![(share * 255.0).round() as u8],
                    UNSIGNED_SHORT => ((share * 65535.0).round() as u16).to_le_bytes().to_vec(),
                    _ => share.to_le_bytes().to_vec(),
                })
                .collect();
            let accessor = file.accessor(
                "VEC4",
                component,
                usize::from(count),
                &bytes.repeat(usize::from(count)),
            );
            file.json["accessors"][accessor]["normalized"] = (component != 5126).into();
            accessor
        });
        let mut of_mesh = attributes(file);
        of_mesh["JOINTS_0"] = joints_0.into();
        of_mesh["JOINTS_1"] = joints_1.into();
        of_mesh["WEIGHTS_0"] = weights[0].into();
        of_mesh["WEIGHTS_1"] = weights[1].into();
        file.json["meshes"][0]["primitives"][0]["attributes"] = of_mesh;
        let (imported, reference) = import(file, &[NO_NORMALS]);
        assert_eq!(
            imported.report.influences,
            [0, 0, 0, 0, usize::from(count), 0]
        );
        let error = error_of_clip(&reference, &imported, "walk");
        assert!(error < BOUND, "{component}: {error}");
    }
    // Five joints are exact too, by a combined joint.
    let five: Vec<[f32; 4]> = vec![[0.3, 0.1, 0.2, 0.0]; usize::from(count)];
    let five = file.floats(&five);
    file.json["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"] = five.into();
    let joints = file.shorts(
        &(0..count)
            .map(|v| [v % 6, (v + 3) % 6, (v + 1) % 6, 0])
            .collect::<Vec<_>>(),
    );
    file.json["meshes"][0]["primitives"][0]["attributes"]["JOINTS_0"] = joints.into();
    let (imported, reference) = import(file, &[NO_NORMALS]);
    let error = error_of_clip(&reference, &imported, "walk");
    assert!(error < BOUND, "{error}");
    assert_eq!(imported.report.influences[5], usize::from(count));
}

/// The positions of an imported file, in the order of the file.
fn positions(imported: &Imported) -> Vec<Vec3> {
    let mut all = posed(imported, None, 0.0);
    all.sort_by_key(|(source, _)| *source);
    all.into_iter().map(|(_, position)| position).collect()
}

#[test]
fn positions_in_integers_interleaved_or_sparse_come_out_alike() {
    let chain = chain(2, json!({}));
    let (imported, reference) = import(&chain.file, &[NO_NORMALS]);
    assert!(error(&reference, &imported, None, None, 0.0) < 1e-6);
    let plain = positions(&imported);
    let rows: Vec<[f32; 3]> = (0..2)
        .flat_map(|at| cube(Vec3::Y * (0.75 + at as f32), 0.4).0)
        .collect();

    // Every other twelve bytes.
    let mut file = chain.file.clone();
    let interleaved: Vec<u8> = rows
        .iter()
        .flat_map(|row| [*row, [9.0; 3]])
        .flatten()
        .flat_map(f32::to_le_bytes)
        .collect();
    let view = file.view(&interleaved, Some(24));
    let accessor =
        json!({ "bufferView": view, "componentType": 5126, "count": 16, "type": "VEC3" });
    let accessor = file.push("accessors", accessor);
    file.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = accessor.into();
    assert_eq!(positions(&import(&file, &[NO_NORMALS]).0), plain);

    // The first half as they are, the second half replaced; and all of them on top of zeros.
    for (base, indices_type) in [
        (true, UNSIGNED_BYTE),
        (false, UNSIGNED_SHORT),
        (true, UNSIGNED_INT),
    ] {
        let mut file = chain.file.clone();
        let first = if base { 8 } else { 0 };
        let mut stored = rows.clone();
        stored[first..].fill([7.0; 3]);
        let accessor = file.floats(&stored);
        let indices: Vec<u8> = (first as u32..16)
            .flat_map(|at| match indices_type {
                UNSIGNED_BYTE => vec![at as u8],
                UNSIGNED_SHORT => (at as u16).to_le_bytes().to_vec(),
                _ => at.to_le_bytes().to_vec(),
            })
            .collect();
        let values: Vec<u8> = rows[first..]
            .as_flattened()
            .iter()
            .flat_map(|x| x.to_le_bytes())
            .collect();
        let (indices, values) = (file.view(&indices, None), file.view(&values, None));
        file.json["accessors"][accessor]["sparse"] = json!({
            "count": 16 - first, "indices": { "bufferView": indices, "componentType": indices_type },
            "values": { "bufferView": values },
        });
        if !base {
            file.json["accessors"][accessor]
                .as_object_mut()
                .unwrap()
                .remove("bufferView");
        }
        file.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = accessor.into();
        assert_eq!(positions(&import(&file, &[NO_NORMALS]).0), plain);
    }

    // KHR_mesh_quantization: shares of a box, or whole numbers, that the skin's matrices scale.
    for (component, most, normalized) in [
        (SHORT, 32767.0, true),
        (BYTE, 127.0, true),
        (SHORT, 1000.0, false),
    ] {
        let mut file = chain.file.clone();
        let bytes: Vec<u8> = rows
            .as_flattened()
            .iter()
            .flat_map(|x| {
                let number = (x / 2.5 * most).round();
                if component == SHORT {
                    (number as i16).to_le_bytes().to_vec()
                } else {
                    vec![number as i8 as u8, 0][..1].to_vec()
                }
            })
            .collect();
        let accessor = file.accessor("VEC3", component, 16, &bytes);
        file.json["accessors"][accessor]["normalized"] = normalized.into();
        file.json["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
        let scale = if normalized { 2.5 } else { 2.5 / most };
        let matrices: Vec<Mat4> = (0..2)
            .map(|at| {
                Mat4::from_translation(Vec3::Y * -(0.25 + at as f32))
                    * Mat4::from_scale(Vec3::splat(scale))
            })
            .collect();
        let rows: Vec<[f32; 16]> = matrices.iter().map(Mat4::to_cols_array).collect();
        file.json["skins"][0]["inverseBindMatrices"] = file.floats(&rows).into();
        file.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = accessor.into();
        let (imported, reference) = import(&file, &[NO_NORMALS]);
        assert!(error(&reference, &imported, None, None, 0.0) < BOUND);
        let apart = positions(&imported)
            .iter()
            .zip(&plain)
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f32::max);
        assert!(apart < 2.5 / most * 2.0, "{apart}");
    }
}

#[test]
fn strips_fans_and_meshes_without_indices_are_triangles() {
    let mut file = File::new();
    let square = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [1.0, 1.0, 0.0],
    ];
    let fan = [square[0], square[1], square[3], square[2]];
    let list = [
        square[0], square[1], square[2], square[2], square[1], square[3],
    ];
    let mut primitives = Vec::new();
    for (mode, rows) in [
        (5, &square[..]),
        (6, &fan[..]),
        (4, &list[..]),
        (1, &square[..]),
    ] {
        primitives.push(json!({ "mode": mode, "attributes": { "POSITION": file.floats(rows) } }));
    }
    let mesh = file.push("meshes", json!({ "primitives": primitives }));
    let node = file.node(json!({ "mesh": mesh }));
    file.root(node);
    let (imported, _) = import_with_warnings(&file, "gltf: a mesh of lines");
    let parts = &imported.model.parts;
    assert_eq!(parts.len(), 3);
    for part in parts {
        assert_eq!(part.triangles.len(), 2);
        // Seen from +Z in the file, from −Z here.
        assert!(
            part.normals
                .iter()
                .all(|normal| normal.abs_diff_eq(Vec3::NEG_Z, 1e-6)),
            "{:?}",
            part.normals
        );
    }
}

#[test]
fn normals_tangents_colors_and_texture_coordinates_come_along() {
    let mut chain = chain(
        2,
        json!({ "name": "Armature", "scale": [2.0, 2.0, 2.0],
        "rotation": Quat::from_rotation_x(std::f32::consts::FRAC_PI_2).to_array() }),
    );
    let file = &mut chain.file;
    let normals = file.floats(&[[0.0, 1.0, 0.0]; 16]);
    let tangents = file.floats(&[[1.0, 0.0, 0.0, -1.0]; 16]);
    let tex_coords = file.floats(&[[0.25, 0.75]; 16]);
    let second = file.floats(&[[0.5, 1.0]; 16]);
    let bytes: Vec<u8> = [51, 102, 255, 0].repeat(16);
    let view = file.view(&bytes, Some(4));
    let colors = json!({ "bufferView": view, "componentType": UNSIGNED_BYTE, "normalized": true, "count": 16, "type": "VEC3" });
    let colors = file.push("accessors", colors);
    let attributes = &mut file.json["meshes"][0]["primitives"][0]["attributes"];
    for (name, accessor) in [
        ("NORMAL", normals),
        ("TANGENT", tangents),
        ("TEXCOORD_0", tex_coords),
        ("TEXCOORD_1", second),
        ("COLOR_0", colors),
    ] {
        attributes[name] = accessor.into();
    }
    let (imported, _) = import(file, &[]);
    let part = &imported.model.parts[0];
    // Up in the mesh is forward in the scene, +Z, which is −Z here.
    assert!(
        part.normals
            .iter()
            .all(|n| n.abs_diff_eq(Vec3::NEG_Z, 1e-6)),
        "{:?}",
        part.normals[0]
    );
    assert!(
        part.tangents
            .iter()
            .all(|t| t.abs_diff_eq(Vec4::new(-1.0, 0.0, 0.0, -1.0), 1e-6)),
        "{:?}",
        part.tangents[0]
    );
    assert!(
        part.colors
            .iter()
            .all(|c| c.abs_diff_eq(Vec4::new(0.2, 0.4, 1.0, 1.0), 1e-6))
    );
    assert!(part.tex_coords.iter().all(|t| t.to_array() == [0.25, 0.75]));
    // A material may use another set.
    file.json["materials"] =
        json!([{ "pbrMetallicRoughness": { "baseColorTexture": { "index": 0, "texCoord": 1 } } }]);
    file.json["meshes"][0]["primitives"][0]["material"] = json!(0);
    file.json["textures"] = json!([{ "source": 0 }]);
    file.json["images"] = json!([{ "uri": "skin.png" }]);
    let (imported, _) = import(file, &[]);
    assert!(
        imported.model.parts[0]
            .tex_coords
            .iter()
            .all(|t| t.to_array() == [0.5, 1.0])
    );
}

#[test]
fn materials_and_the_images_of_a_file_come_out_by_name() {
    let mut chain = chain(2, json!({}));
    let file = &mut chain.file;
    let png = b"\x89PNG\r\n\x1a\nnot really";
    let view = file.view(png, None);
    file.json["images"] = json!([
        { "bufferView": view, "mimeType": "image/png", "name": "skin" },
        { "uri": "textures/my%20normals.jpg" },
        { "uri": "data:image/jpeg;base64,/9j/AAA=" },
        { "uri": "../outside.png" },
    ]);
    file.json["textures"] =
        json!([{ "source": 0 }, { "source": 1 }, { "source": 2 }, { "source": 3 }]);
    file.json["materials"] = json!([
        { "name": "cloth", "doubleSided": true, "alphaMode": "MASK", "alphaCutoff": 0.25,
          "pbrMetallicRoughness": { "baseColorFactor": [0.5, 0.25, 1.0, 0.75], "roughnessFactor": 0.5, "baseColorTexture": { "index": 0 } },
          "normalTexture": { "index": 1 }, "extras": { "marionette": { "type_name": "Cape", "specular_map": "s.tga" } } },
        { "name": "cloth", "pbrMetallicRoughness": { "baseColorTexture": { "index": 2, "extensions": { "KHR_texture_transform": { "scale": [2, 2] } } } } },
        { "alphaMode": "MASK", "pbrMetallicRoughness": { "baseColorTexture": { "index": 3 } },
          "extensions": { "KHR_materials_ior": { "ior": 1.0 } } },
    ]);
    file.json["meshes"][0]["primitives"][0]["material"] = json!(1);
    let (imported, _) = import(file, &[NO_NORMALS]);
    let [cloth, second, third] = &imported.model.materials[..] else {
        panic!()
    };
    assert_eq!(
        (&*cloth.name, &*second.name, &*third.name),
        ("cloth", "cloth.2", "material2")
    );
    assert_eq!(
        (cloth.base_color, cloth.roughness, cloth.double_sided),
        ([0.5, 0.25, 1.0, 0.75], 0.5, true)
    );
    assert_eq!(
        (cloth.alpha_cutoff, second.alpha_cutoff, third.alpha_cutoff),
        (Some(0.25), None, Some(0.5))
    );
    assert_eq!(cloth.base_color_map.as_deref(), Some("skin.png"));
    assert_eq!(cloth.normal_map.as_deref(), Some("textures/my normals.jpg"));
    assert_eq!(
        (cloth.type_name.as_deref(), cloth.specular_map.as_deref()),
        (Some("Cape"), Some("s.tga"))
    );
    assert_eq!(second.base_color_map.as_deref(), Some("image2.jpg"));
    assert_eq!(
        (second.uv_transform.scale, cloth.uv_transform),
        ([2.0; 2], UvTransform::default())
    );
    assert_eq!(third.base_color_map.as_deref(), Some("../outside.png"));
    assert_eq!((third.reflectance, second.reflectance), (0.0, 0.5));
    assert_eq!(
        imported.images.keys().collect::<Vec<_>>(),
        ["image2.jpg", "skin.png"]
    );
    assert_eq!(imported.images["skin.png"][..], png[..]);
    assert_eq!(imported.model.parts[0].material, 1);
}

#[test]
fn images_of_one_name_keep_their_extension() {
    let mut chain = chain(2, json!({}));
    let image = |data: &str| json!({ "name": "skin", "uri": format!("data:;base64,{data}") });
    chain.file.json["images"] = json!([image("/9j/AAA="), image("/9j/BBB=")]);
    let (imported, _) = import(&chain.file, &[NO_NORMALS]);
    let names: Vec<&String> = imported.images.keys().collect();
    assert_eq!(names, ["skin.2.jpg", "skin.jpg"]);
}

#[test]
fn of_materials_everything_that_bevys_own_loader_shows_is_read() {
    let mut chain = chain(2, json!({}));
    let file = &mut chain.file;
    file.json["images"] = json!(
        (0..5)
            .map(|i| json!({ "uri": format!("{i}.png") }))
            .collect::<Vec<_>>()
    );
    file.json["samplers"] =
        json!([{ "magFilter": 9728, "minFilter": 9984, "wrapS": 33071, "wrapT": 33648 }]);
    file.json["textures"] = json!(
        (0..5)
            .map(|i| json!({ "source": i, "sampler": 0 }))
            .collect::<Vec<_>>()
    );
    let transform = json!({ "KHR_texture_transform": { "offset": [0.5, 0.25], "rotation": 0.1, "scale": [2, 3], "texCoord": 1 } });
    let map = |index: usize| json!({ "index": index, "extensions": transform });
    let material = json!({
        "pbrMetallicRoughness": { "metallicFactor": 0.25, "baseColorTexture": map(0), "metallicRoughnessTexture": map(1) },
        "normalTexture": map(2), "occlusionTexture": map(3), "emissiveTexture": map(4),
        "emissiveFactor": [1.0, 0.5, 0.0], "alphaMode": "BLEND",
        "extensions": {
            "KHR_materials_emissive_strength": { "emissiveStrength": 4.0 },
            "KHR_materials_unlit": {},
            "KHR_materials_specular": { "specularFactor": 0.5 },
        },
    });
    let mut other = material.clone();
    other["emissiveTexture"] = json!({ "index": 4 });
    file.json["materials"] = json!([material, other]);
    file.json["extensionsUsed"] = json!(["KHR_texture_transform", "KHR_materials_clearcoat"]);
    file.json["meshes"][0]["primitives"][0]["material"] = json!(0);
    let mut third = material.clone();
    third["emissiveTexture"] = json!({ "index": 4 });
    third["occlusionTexture"] = json!({ "index": 3, "texCoord": 2 });
    file.json["materials"] = json!([material, other, third]);
    let (imported, _) = import_with_warnings(file, "gltf: materials with more than Bevy draws");
    let (other, third) = (&imported.model.materials[1], &imported.model.materials[2]);
    let only_emissive = Maps {
        emissive: 1,
        ..Maps::default()
    };
    assert_eq!(other.tex_coord_sets, only_emissive);
    assert_eq!(other.uv_transform, UvTransform::default());
    // The third set has no room.
    assert_eq!(
        (
            third.tex_coord_sets.occlusion,
            third.tex_coord_sets.emissive
        ),
        (1, 0)
    );
    let other_sampler = other.samplers.emissive;
    assert_eq!(other_sampler, other.samplers.base_color);
    assert_eq!(
        imported.model.materials[0],
        Material {
            name: "material0".into(),
            roughness: 1.0,
            reflectance: 0.25,
            metallic: 0.25,
            base_color_map: Some("0.png".into()),
            metallic_roughness_map: Some("1.png".into()),
            normal_map: Some("2.png".into()),
            occlusion_map: Some("3.png".into()),
            emissive_map: Some("4.png".into()),
            emissive: [4.0, 2.0, 0.0],
            alpha_blend: true,
            unlit: true,
            uv_transform: UvTransform {
                offset: [0.5, 0.25],
                rotation: 0.1,
                scale: [2.0, 3.0]
            },
            samplers: Maps::all(Sampler {
                wrap_u: TextureWrap::Clamp,
                wrap_v: TextureWrap::Mirror,
                magnify: TextureFilter::Nearest,
                minify: TextureFilter::Nearest,
                mip_levels: MipFilter::Nearest,
            }),
            ..Material::default()
        }
    );
}

#[test]
fn cameras_and_lights_are_left_out_with_one_warning() {
    let mut chain = chain(2, json!({}));
    for camera in 0..2 {
        let node = chain.file.node(json!({ "camera": camera }));
        chain.file.root(node);
    }
    let light = json!({ "extensions": { "KHR_lights_punctual": { "light": 0 } } });
    let light = chain.file.node(light);
    chain.file.root(light);
    let (imported, _) = import_with_warnings(&chain.file, "gltf: cameras and lights");
    assert_eq!(imported.model.skeleton.len(), 2);
}

#[test]
fn a_vrm_file_is_the_gltf_that_it_is() {
    assert_eq!(FileKind::of_name("Hero.VRM"), Some(FileKind::Gltf));
    let mut chain = chain(2, json!({ "translation": [0.25, 0, 0.5] }));
    let plain = open(&chain.file.glb()).unwrap();
    let positions = |imported: &Imported| -> Vec<Vec3> {
        posed(imported, None, 0.0)
            .into_iter()
            .map(|(_, position)| position)
            .collect()
    };
    for (extension, sign) in [("VRMC_vrm", 1.0), ("VRM", -1.0)] {
        chain.file.json["extensionsUsed"] = json!([extension]);
        chain.file.json["extensions"] = json!({ extension: { "specVersion": "1.0" } });
        let settings = ImportSettings::default();
        let vrm = open_model("hero.vrm", &chain.file.glb(), &settings).unwrap();
        assert_eq!(warnings(&vrm).len(), 0, "{:?}", vrm.warnings);
        // The characters of VRM 0 face the other way.
        let turned = Vec3::new(sign, 1.0, sign);
        for (a, b) in positions(&vrm).into_iter().zip(positions(&plain)) {
            assert!(a.abs_diff_eq(b * turned, 1e-6), "{extension}: {a} {b}");
        }
    }
}

#[test]
fn each_map_has_its_own_texture_coordinates_transform_and_sampler() {
    let mut chain = chain(2, json!({}));
    let file = &mut chain.file;
    let vertices = {
        let primitive = &file.json["meshes"][0]["primitives"][0];
        let position = primitive["attributes"]["POSITION"].as_u64().unwrap();
        file.json["accessors"][position as usize]["count"]
            .as_u64()
            .unwrap()
    };
    let rows =
        |by: f32| -> Vec<[f32; 2]> { (0..vertices).map(|at| [by * at as f32, 0.5]).collect() };
    for (set, by) in [(0, 0.25), (1, -1.0)] {
        let accessor = file.floats(&rows(by));
        let attributes = &mut file.json["meshes"][0]["primitives"][0]["attributes"];
        attributes[format!("TEXCOORD_{set}")] = accessor.into();
    }
    file.json["images"] = json!([{ "uri": "0.png" }, { "uri": "1.png" }]);
    file.json["samplers"] = json!([{ "wrapS": 33071 }, { "wrapS": 33648 }]);
    file.json["textures"] = json!([{ "source": 0, "sampler": 0 }, { "source": 1, "sampler": 1 }]);
    let doubled = json!({ "KHR_texture_transform": { "scale": [2, 2], "offset": [0, 1] } });
    file.json["materials"] = json!([{
        "pbrMetallicRoughness": { "baseColorTexture": { "index": 0, "extensions": doubled } },
        "occlusionTexture": { "index": 1, "texCoord": 1 },
    }]);
    file.json["meshes"][0]["primitives"][0]["material"] = json!(0);
    let (imported, _) = import(file, &[NO_NORMALS]);
    let (part, material) = (&imported.model.parts[0], &imported.model.materials[0]);
    for (vertex, &source) in part.source_vertices.iter().enumerate() {
        let at = source as f32;
        assert_eq!(part.tex_coords[vertex].to_array(), [0.5 * at, 2.0]);
        assert_eq!(part.second_tex_coords[vertex].to_array(), [-at, 0.5]);
    }
    assert_eq!(material.uv_transform, UvTransform::default());
    assert_eq!(
        (
            material.tex_coord_sets.base_color,
            material.tex_coord_sets.occlusion
        ),
        (0, 1)
    );
    let Maps {
        base_color,
        occlusion,
        ..
    } = material.samplers;
    assert_eq!(
        (base_color.wrap_u, occlusion.wrap_u),
        (TextureWrap::Clamp, TextureWrap::Mirror)
    );
}

#[test]
fn buffers_may_be_in_the_file_in_a_data_uri_or_beside_it() {
    let mut chain = chain(3, json!({}));
    chain.turns("walk", &even_times(9, 8.0), 1.0, &mut Rng::with_seed(6));
    let settings = ImportSettings::default();
    let binary = open(&chain.file.glb()).unwrap().model;
    let data = open_model("f.gltf", &chain.file.gltf_with_data(), &settings)
        .unwrap()
        .model;
    let text = chain.file.gltf("bin/my%20buffer.bin");
    let mut asked = Vec::new();
    let beside = open_model_with("models/f.gltf", &text, &settings, |file| {
        asked.push(file.to_owned());
        Ok(Cow::Borrowed(&chain.file.bin[..]))
    });
    let beside = beside.unwrap().model;
    assert_eq!(asked, ["models/bin/my buffer.bin"]);
    for other in [&data, &beside] {
        assert_eq!(
            (&other.skeleton, &other.parts, &other.clips),
            (&binary.skeleton, &binary.parts, &binary.clips)
        );
    }
    assert_eq!(files_beside("models/f.gltf", &text), asked);
    // A binary file may name others, too, in whatever letters.
    let escaped = str::from_utf8(&text)
        .unwrap()
        .replace("\"uri\"", "\"\\u0075ri\"");
    for json in [&text[..], escaped.as_bytes()] {
        let sizes = [json.len() as u32 + 20, json.len() as u32].map(u32::to_le_bytes);
        let glb = [
            &b"glTF\x02\0\0\0"[..],
            &sizes[0][..],
            &sizes[1],
            b"JSON",
            json,
        ]
        .concat();
        assert_eq!(files_beside("models/f.glb", &glb), asked);
    }
    assert!(files_beside("models/f.glb", &chain.file.glb()).is_empty());
    let error = open_model("f.gltf", &text, &settings).unwrap_err();
    assert_message("gltf: a buffer that cannot be read", error);
    for uri in [
        "../secret.bin",
        "/etc/passwd",
        "http://example.com/a.bin",
        "..%2Fb.bin",
    ] {
        let read = |_: &str| -> Result<Cow<[u8]>, String> { panic!("{uri} was asked for") };
        let error = open_model_with("f.gltf", &chain.file.gltf(uri), &settings, read).unwrap_err();
        assert_message(&format!("gltf: a buffer at {uri}"), error);
    }
}

#[test]
fn scale_hand_and_up_axis_are_followed() {
    let chain = chain(3, json!({ "scale": [2.0, 2.0, 2.0] }));
    let at = |settings: ImportSettings| {
        let imported = open_model("f.glb", &chain.file.glb(), &settings).unwrap();
        let part = &imported.model.parts[0];
        faces_outward(part, &part.positions);
        (positions(&imported), imported)
    };
    let settings = ImportSettings::default();
    let (plain, _) = at(settings);
    for (settings, expected) in [
        (
            ImportSettings {
                scale: 0.5,
                ..settings
            },
            Vec3::splat(0.5),
        ),
        (
            ImportSettings {
                up: UpAxis::Y,
                ..settings
            },
            Vec3::new(-1.0, 1.0, -1.0),
        ),
        (
            ImportSettings {
                hand: Hand::Left,
                ..settings
            },
            Vec3::new(-1.0, 1.0, 1.0),
        ),
    ] {
        let (got, imported) = at(settings);
        assert!(
            got.iter()
                .zip(&plain)
                .all(|(a, b)| a.distance(*b * expected) < 1e-5),
            "{settings:?}"
        );
        assert_eq!(imported.report.right_handed, settings.hand != Hand::Left);
    }
    let (flipped, plain) = (
        at(ImportSettings {
            flip_v: true,
            ..settings
        })
        .1,
        at(settings).1,
    );
    assert_eq!(
        flipped.model.parts[0].tex_coords[0].y,
        1.0 - plain.model.parts[0].tex_coords[0].y
    );
}

#[test]
fn what_our_exporter_keeps_in_extras_comes_back() {
    let mut chain = chain(2, json!({}));
    chain.turns("walk", &[0.0, 1.0 / 3.0], 1.0, &mut Rng::with_seed(6));
    let exact = 1.0 / 3.0;
    let callbacks = json!([
        { "time": 0.25, "name": "step", "data": { "side": "left" } }, { "time": 0.1, "name": "letter", "ron": "'x'" },
        { "time": 0.3, "name": "plain" },
    ]);
    let of_clip = |extras: Value| json!({ "marionette": extras });
    chain.file.json["animations"][0]["extras"] =
        of_clip(json!({ "duration": exact, "playback": "PingPong", "callbacks": callbacks }));
    let mut additive = chain.file.json["animations"][0].clone();
    additive["name"] = json!("lean");
    additive["extras"] = of_clip(json!({ "additive": true, "duration": 7.5 }));
    chain.file.push("animations", additive);
    let (imported, _) = import(&chain.file, &[NO_NORMALS]);
    let [walk, lean] = &imported.model.clips[..] else {
        panic!()
    };
    assert_eq!(
        (walk.timing.duration, walk.timing.playback),
        (exact, PlaybackMode::PingPong)
    );
    let keys: Vec<(f64, &str)> = walk
        .timing
        .callbacks
        .iter()
        .map(|key| (key.time, &*key.name))
        .collect();
    assert_eq!(keys, [(0.1, "letter"), (0.25, "step"), (0.3, "plain")]);
    assert_eq!(walk.timing.callbacks[0].data, 'x'.into());
    assert_eq!(
        walk.timing.callbacks[1]
            .data
            .to::<std::collections::HashMap<String, String>>()
            .unwrap()["side"],
        "left"
    );
    // A length that the keys contradict is not believed.
    assert!(lean.additive && (lean.timing.duration - exact).abs() < 1e-6);
    for joint in 0..2 {
        let (of_walk, of_lean) = (walk.transform_at(joint, 0), lean.transform_at(joint, 0));
        let rest = imported.model.skeleton.rest_of(joint as u16);
        assert!((rest.rotation * of_lean.rotation).abs_diff_eq(of_walk.rotation, 1e-5));
        assert_eq!(of_lean.translation, Vec3::ZERO);
    }
    // Other programs' extras are none of our business.
    chain.file.json["animations"][0]["extras"] = json!([1, { "marionette": 3 }]);
    assert_eq!(
        import(&chain.file, &[NO_NORMALS]).0.model.clips[0]
            .timing
            .callbacks,
        Default::default()
    );
}
