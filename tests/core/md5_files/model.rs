//! What becomes of a mesh, one thing at a time.

use super::*;
use crate::messages::{assert_message, assert_messages};

/// One joint at the origin and a cube around it, clockwise from outside as MD5 has it.
pub(super) fn cube() -> Md5Mesh {
    let mut submesh = Md5Submesh {
        shader: "models/crate.tga".into(),
        ..Md5Submesh::default()
    };
    for corner in 0..8u32 {
        let at = |bit: u32| if corner & bit != 0 { 1.0 } else { -1.0 };
        submesh.vertices.push(Md5Vertex {
            tex_coord: [0.5, 0.25],
            first_weight: corner,
            weight_count: 1,
        });
        submesh.weights.push(Md5Weight {
            joint: 0,
            bias: 1.0,
            position: [at(1), at(2), at(4)],
        });
    }
    let outward = [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ];
    submesh.triangles = outward
        .iter()
        .flat_map(|&[a, b, c, d]| [[a, c, b], [a, d, c]])
        .collect();
    let joints = vec![Md5Joint {
        name: "origin".into(),
        ..Md5Joint::default()
    }];
    Md5Mesh {
        command_line: String::new(),
        joints,
        meshes: vec![submesh],
    }
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
                let settings = ImportSettings {
                    hand,
                    up,
                    ..ImportSettings::default()
                };
                let model = from_md5("a", &checked(&mesh), &settings).unwrap().model;
                assert_eq!(model.parts[0].triangles.len(), 12);
                assert!(faces_outward(&model), "{settings:?}");
            }
        }
        mesh.meshes[0]
            .triangles
            .iter_mut()
            .for_each(|t| t.swap(0, 1));
    }
}

#[test]
fn a_sheet_shows_the_side_from_which_it_is_clockwise() {
    let mut mesh = cube();
    // The top, seen from above.
    mesh.meshes[0]
        .triangles
        .retain(|t| t.iter().all(|v| v & 4 != 0));
    let part = &import(&mesh).model.parts[0];
    assert_eq!(part.triangles.len(), 2);
    assert!(
        part.triangles
            .as_flattened()
            .iter()
            .all(|&v| part.normals[v as usize] == Vec3::Y)
    );
}

#[test]
fn axes_and_scale_are_applied_to_joints_and_skin_alike() {
    let mut mesh = cube();
    mesh.joints[0].position = [10.0, 20.0, 30.0];
    let settings = ImportSettings {
        scale: 0.5,
        ..ImportSettings::default()
    };
    let model = from_md5("a", &checked(&mesh), &settings).unwrap().model;
    assert_eq!(
        model.skeleton.rest_of(0).translation,
        Vec3::new(-10.0, 15.0, -5.0)
    );
    assert!((model.parts[0].positions[0] - Vec3::new(-9.5, 14.5, -4.5)).length() < 1e-6);
    let stays = ImportSettings {
        up: UpAxis::Y,
        ..ImportSettings::default()
    };
    let model = from_md5("a", &checked(&mesh), &stays).unwrap().model;
    assert_eq!(
        model.skeleton.rest_of(0).translation,
        Vec3::new(10.0, 20.0, 30.0)
    );
    assert!(
        from_md5(
            "a",
            &checked(&mesh),
            &ImportSettings {
                scale: 0.0,
                ..settings
            }
        )
        .is_err()
    );
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
    let Imported {
        model, warnings, ..
    } = import(&mesh);
    assert_eq!(warnings, []);
    let names: Vec<&str> = model.parts.iter().map(|p| &*p.name).collect();
    assert_eq!(names, ["crate", "lid", "mesh3", "crate.2", "mesh5"]);
    let maps: Vec<_> = model
        .parts
        .iter()
        .map(|p| model.materials[p.material].base_color_map.as_deref())
        .collect();
    let expected = [
        Some("models/crate.tga"),
        Some("f:\\art\\lid.png"),
        None,
        Some("models/crate.tga"),
        None,
    ];
    assert_eq!(maps, expected);
    assert_eq!(model.parts[3].source_vertices[0], 24);
    assert_eq!(model.materials.len(), 4);
}

#[test]
fn weights_beyond_four_are_combined_and_bad_ones_ignored_with_one_warning() {
    let mut mesh = cube();
    mesh.joints = (0..6)
        .map(|j| Md5Joint {
            name: format!("j{j}"),
            parent: (j > 0).then_some(0),
            ..Md5Joint::default()
        })
        .collect();
    let submesh = &mut mesh.meshes[0];
    let first_weight = submesh.weights.len() as u32;
    for (joint, bias) in [
        (0, 0.3),
        (1, 0.05),
        (2, 0.2),
        (3, 0.2),
        (4, 0.15),
        (5, -0.5),
        (0, 0.1),
    ] {
        let position = submesh.weights[0].position;
        submesh.weights.push(Md5Weight {
            joint,
            bias,
            position,
        });
    }
    submesh.vertices[0] = Md5Vertex {
        tex_coord: [0.0; 2],
        first_weight,
        weight_count: 7,
    };
    // A vertex of no weights and one of weight 0.
    submesh.vertices[1].weight_count = 0;
    submesh.weights[2].bias = 0.0;
    let Imported {
        model,
        warnings,
        report,
        ..
    } = import(&mesh);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(report.influences, [2, 5, 0, 0, 0, 1]);
    assert_sound(&model);
    let part = &model.parts[0];
    let mut joints: Vec<_> = part
        .joint_weights(0)
        .map(|(slot, weight)| (part.palette[slot], weight))
        .collect();
    joints.sort_by_key(|(joint, _)| *joint);
    let expected = [(0, 0.4), (1, 0.05), (2, 0.2), (3, 0.2), (4, 0.15)];
    assert!(
        joints
            .iter()
            .zip(expected)
            .all(|(a, b)| a.0 == b.0 && (a.1 - b.1).abs() < 1e-6),
        "{joints:?}"
    );
    assert_eq!(
        (
            joints.len(),
            part.combined_joints.len(),
            report.combined_joints
        ),
        (5, 1, 1)
    );
    assert_eq!(part.positions[1], Vec3::ZERO);
    // Left hand, lower, back: (−1, 1, −1) in the file.
    assert_eq!(part.positions[2], Vec3::new(-1.0, -1.0, 1.0));
}

#[test]
fn a_child_before_its_parent_and_several_roots_are_put_in_order() {
    let mut mesh = cube();
    let joint = |name: &str, parent, x| Md5Joint {
        name: name.into(),
        parent,
        position: [x, 0.0, 0.0],
        ..Md5Joint::default()
    };
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
    // Rings and indices out of range are errors, not panics.
    mesh.joints[3].parent = Some(0);
    let error = Checked::new(mesh.clone()).unwrap_err();
    assert_message("md5: a ring of joints", error);
    mesh.joints[3].parent = Some(77);
    assert!(Checked::new(mesh).is_err());
    let mut mesh = cube();
    mesh.meshes[0].triangles.push([0, 1, 99]);
    assert!(Checked::new(mesh).is_err());
}

#[test]
fn characters_that_a_string_cannot_hold_are_replaced_where_it_is_written() {
    let mut mesh = cube();
    mesh.command_line = "export \"a\"\0".into();
    mesh.joints[0].name = "the\norigin\0".into();
    let read = parse_mesh("a", write_mesh(&mesh).as_bytes()).unwrap().value;
    assert_eq!(
        (&*read.command_line, &*read.joints[0].name),
        ("export 'a' ", "the origin ")
    );
}

#[test]
fn a_part_of_over_256_joints_is_cut() {
    let mut chance = Chance(fastrand::Rng::with_seed(11));
    let mut mesh = chance.mesh(2, 0.0);
    for joint in 2..600 {
        mesh.joints.push(Md5Joint {
            name: format!("j{joint}"),
            parent: Some(0),
            ..Md5Joint::default()
        });
    }
    mesh.meshes.truncate(1);
    let submesh = &mut mesh.meshes[0];
    submesh.weights.clear();
    for (vertex, number) in submesh.vertices.iter_mut().zip(0u32..) {
        (vertex.first_weight, vertex.weight_count) = (number * 4, 4);
        for joint in 0..4 {
            let position = [number as f32, (number % 13) as f32, 0.0];
            submesh.weights.push(Md5Weight {
                joint: 2 + number * 5 + joint,
                bias: 0.25,
                position,
            });
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
    let weight = mesh.meshes[0]
        .vertices
        .iter()
        .find(|v| v.weight_count > 2)
        .unwrap()
        .first_weight;
    mesh.meshes[0].weights[weight as usize].position[0] += 1.5;
    let Imported {
        warnings, report, ..
    } = import(&mesh);
    // All others fit the file's joints, so those stay.
    assert!(!report.bind_recovered);
    assert!(report.bind_residual > 0.1 && report.bind_residual_relative > 0.02);
    assert_messages("md5: a skin that fits no pose", &warnings);
}
