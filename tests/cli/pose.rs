//! `marionette pose`.

use super::{
    arm::md5_by_formula,
    bar::{BAR_TRIANGLES, bar_by_formula},
    support::{characters, marionette},
};
use crate::messages::assert_message;
use bevy_marionette::internals::format::md5::{
    Md5Anim, Md5AnimJoint, Md5Mesh, Md5Submesh, Md5Vertex, Md5Weight, parse_anim, parse_mesh,
};
use glam::{DAffine3, DQuat, DVec3};
use std::{collections::BTreeSet, fs};
use tempfile::TempDir;

/// An OBJ's numbers.
struct Obj {
    positions: Vec<DVec3>,
    normals: Vec<DVec3>,
    tex_coords: usize,
    faces: Vec<[usize; 3]>,
}

fn read_obj(text: &str) -> Obj {
    let mut obj = Obj {
        positions: vec![],
        normals: vec![],
        tex_coords: 0,
        faces: vec![],
    };
    let numbers = |rest: &str| {
        rest.split(' ')
            .map(|n| n.parse::<f64>().unwrap())
            .collect::<Vec<_>>()
    };
    for line in text.lines() {
        match line.split_once(' ').unwrap() {
            ("v", rest) => obj.positions.push(DVec3::from_slice(&numbers(rest))),
            ("vn", rest) => obj.normals.push(DVec3::from_slice(&numbers(rest))),
            ("vt", rest) => {
                assert_eq!(numbers(rest).len(), 2);
                obj.tex_coords += 1;
            }
            ("f", rest) => obj.faces.push(std::array::from_fn(|corner| {
                let corner: Vec<usize> = rest
                    .split(' ')
                    .nth(corner)
                    .unwrap()
                    .split('/')
                    .map(|n| n.parse().unwrap())
                    .collect();
                assert!(
                    corner.len() == 3 && corner.iter().all(|n| *n == corner[0]),
                    "one index for v, vt and vn: {line}"
                );
                corner[0] - 1
            })),
            ("#" | "g" | "usemtl", _) => {}
            other => panic!("{other:?}"),
        }
    }
    obj
}

fn pose(folder: &TempDir, args: &[&str]) -> (Obj, String) {
    let run = marionette(folder, &[&["pose"], args, &["-o", "out.obj"]].concat());
    assert_eq!(run.code, Some(0), "{args:?}: {}", run.stderr);
    assert_eq!(run.stdout, "");
    (
        read_obj(&fs::read_to_string(folder.path().join("out.obj")).unwrap()),
        run.stderr,
    )
}

/// The largest distance between two lists of points, over the diagonal of the second's box.
fn error(ours: &[DVec3], reference: &[DVec3]) -> f64 {
    assert_eq!(
        ours.len(),
        reference.len(),
        "one v for each vertex of the file"
    );
    let low = reference.iter().copied().reduce(DVec3::min).unwrap();
    let high = reference.iter().copied().reduce(DVec3::max).unwrap();
    let largest = ours
        .iter()
        .zip(reference)
        .map(|(a, b)| a.distance(*b))
        .fold(0.0, f64::max);
    assert!(ours.iter().all(|v| v.is_finite()));
    largest / low.distance(high)
}

#[test]
fn pose_of_an_m3d_is_lunas_formula_at_bind_at_keys_and_between_them() {
    let folder = characters();
    let (bind, said) = pose(&folder, &["bar.m3d", "--bind"]);
    assert!(error(&bind.positions, &bar_by_formula(None, -1.0, 1.0)) < 1e-6);
    assert_message("pose: the bind pose of an .m3d", said);
    for time in [0.0, 0.1, 0.5, 0.6, 0.75, 0.8, 0.97, 1.0] {
        let (posed, _) = pose(&folder, &["bar.m3d", "--time", &time.to_string()]);
        let error = error(&posed.positions, &bar_by_formula(Some(time), -1.0, 1.0));
        assert!(error < 1e-4, "at {time} s off by {error} of the size");
    }
}

#[test]
fn pose_takes_hand_and_scale_from_the_command_line() {
    let folder = characters();
    for (hand, z) in [("left", -1.0), ("right", 1.0)] {
        let (posed, _) = pose(
            &folder,
            &[
                "bar.m3d", "--time", "0.3", "--hand", hand, "--scale", "0.25",
            ],
        );
        assert!(
            error(&posed.positions, &bar_by_formula(Some(0.3), z, 0.25)) < 1e-4,
            "{hand}"
        );
    }
    let (posed, _) = pose(&folder, &["arm.md5mesh", "--bind", "--up", "y"]);
    // Bevy's (−y, z, −x) taken back: axes stay.
    let stays: Vec<DVec3> = md5_by_formula(None, 1.0)
        .iter()
        .map(|v| DVec3::new(-v.z, -v.x, v.y))
        .collect();
    assert!(error(&posed.positions, &stays) < 1e-5);
}

#[test]
fn pose_of_an_md5_is_the_sum_of_weights_at_bind_at_frames_and_between_them() {
    let folder = characters();
    let (bind, said) = pose(&folder, &["arm.md5mesh", "--time", "0"]);
    assert!(error(&bind.positions, &md5_by_formula(None, 1.0)) < 1e-5);
    assert_message("pose: a model without clips", said);
    for time in [0.0, 0.1, 0.3, 0.05, 0.125, 0.29] {
        let (posed, said) = pose(
            &folder,
            &["arm.md5mesh", "reach.md5anim", "--time", &time.to_string()],
        );
        let error = error(&posed.positions, &md5_by_formula(Some(time), 1.0));
        assert!(error < 1e-4, "at {time} s off by {error} of the size");
        assert_message(&format!("pose: a clip of a file, at {time} s"), said);
    }
}

#[test]
fn pose_of_a_manifest_has_its_scale_and_clips() {
    let folder = characters();
    let (posed, said) = pose(&folder, &["arm.character.ron", "--time", "0.2"]);
    assert!(error(&posed.positions, &md5_by_formula(Some(0.2), 0.5)) < 1e-4);
    assert_message("pose: a clip of a manifest", said);
    let (posed, _) = pose(
        &folder,
        &["arm.character.ron", "--time", "0.2", "--scale", "2"],
    );
    assert!(
        error(&posed.positions, &md5_by_formula(Some(0.2), 2.0)) < 1e-4,
        "the command line has the last word"
    );
}

/// The vertices of an MD5 mesh in a frame of a clip, in Bevy's axes. Joints come after their parents.
fn md5_frame(mesh: &Md5Mesh, anim: &Md5Anim, frame: usize) -> Vec<DVec3> {
    let mut pose: Vec<DAffine3> = Vec::new();
    for (joint, Md5AnimJoint { parent, .. }) in anim.joints.iter().enumerate() {
        let [position, [x, y, z]] = anim.joint_at(joint, frame).map(|v| v.map(f64::from));
        let turn = DQuat::from_xyzw(x, y, z, -(1.0 - x * x - y * y - z * z).max(0.0).sqrt());
        let local = DAffine3::from_rotation_translation(turn.normalize(), position.into());
        pose.push(parent.map_or(local, |parent| pose[parent as usize] * local));
    }
    let vertices = mesh
        .meshes
        .iter()
        .flat_map(|submesh| submesh.vertices.iter().map(move |v| (submesh, v)));
    let place = |(submesh, v): (&Md5Submesh, &Md5Vertex)| {
        let weights = &submesh.weights[v.first_weight as usize..][..v.weight_count as usize];
        let point = |w: &Md5Weight| {
            pose[w.joint as usize].transform_point3(DVec3::from(w.position.map(f64::from)))
        };
        let sum: f64 = weights.iter().map(|w| f64::from(w.bias)).sum();
        let at = weights
            .iter()
            .map(|w| point(w) * f64::from(w.bias))
            .sum::<DVec3>()
            / sum;
        DVec3::new(-at.y, at.z, -at.x)
    };
    vertices.map(place).collect()
}

#[test]
fn pose_moves_vertices_by_all_their_joints_unless_an_error_is_allowed() {
    let folder = characters();
    let read = |file: &str| {
        fs::read(format!(
            "{}/assets/hound/{file}",
            env!("CARGO_MANIFEST_DIR")
        ))
        .unwrap()
    };
    let files = ["hound.md5mesh", "gallop.md5anim"].map(|file| (file, read(file)));
    files
        .iter()
        .for_each(|(file, bytes)| fs::write(folder.path().join(file), bytes).unwrap());
    let (mesh, anim) = (
        parse_mesh("mesh", &files[0].1).unwrap().value,
        parse_anim("anim", &files[1].1).unwrap().value,
    );
    assert!(
        anim.joints
            .iter()
            .map(|joint| &joint.name)
            .eq(mesh.joints.iter().map(|joint| &joint.name))
    );
    let truth = md5_frame(&mesh, &anim, 5);
    let time = (5.0 / f64::from(anim.frame_rate)).to_string();
    let off = |more: &[&str]| {
        let (posed, _) = pose(
            &folder,
            &[&["hound.md5mesh", "gallop.md5anim", "--time", &time], more].concat(),
        );
        // Some vertices are in no triangle.
        let used: BTreeSet<usize> = posed.faces.iter().flatten().copied().collect();
        let [ours, truth] =
            [&posed.positions, &truth].map(|all| used.iter().map(|&v| all[v]).collect::<Vec<_>>());
        error(&ours, &truth)
    };
    let (exact, four) = (off(&[]), off(&["--skin-error", "1"]));
    // What is left is that the file's weights agree only to four digits.
    assert!(exact < 5e-5 && four > 50.0 * exact, "{exact} {four}");
    // Parts that have no room for all combined joints are split, so that no weight is lost.
    let split = off(&["--max-palette", "80"]);
    assert!(split < 5e-5, "{split}");
}

#[test]
fn pose_beyond_the_clip_repeats_or_holds_as_it_is_played() {
    let folder = characters();
    let (posed, said) = pose(&folder, &["bar.m3d", "--time", "-0.9"]);
    assert!(error(&posed.positions, &bar_by_formula(Some(0.1), -1.0, 1.0)) < 1e-4);
    assert_message("pose: a time before the clip", said);
    let (posed, _) = pose(&folder, &["arm.character.ron", "--time", "7"]);
    assert!(error(&posed.positions, &md5_by_formula(Some(0.3), 0.5)) < 1e-4);
}

#[test]
fn pose_writes_an_obj_whose_faces_wind_around_its_normals_and_keep_the_files_indices() {
    let folder = characters();
    for args in [
        &["bar.m3d", "--time", "0.4"][..],
        &["arm.md5mesh", "reach.md5anim", "--time", "0.2"],
    ] {
        let (obj, _) = pose(&folder, args);
        assert_eq!(
            [obj.normals.len(), obj.tex_coords],
            [obj.positions.len(); 2]
        );
        assert!(
            obj.normals
                .iter()
                .all(|normal| (normal.length() - 1.0).abs() < 1e-5)
        );
        let p = |vertex: usize| obj.positions[vertex];
        for &[a, b, c] in &obj.faces {
            let face = (p(b) - p(a)).cross(p(c) - p(a));
            let normal = obj.normals[a] + obj.normals[b] + obj.normals[c];
            assert!(face.dot(normal) > 0.0, "{args:?}: {a} {b} {c}");
        }
    }
    let (obj, _) = pose(&folder, &["bar.m3d", "--bind"]);
    let sorted = |mut triangle: [usize; 3]| {
        triangle.sort_unstable();
        triangle
    };
    let faces: Vec<_> = obj.faces.iter().copied().map(sorted).collect();
    assert_eq!(faces, BAR_TRIANGLES.map(|t| sorted(t.map(|v| v as usize))));
}

#[test]
fn pose_writes_to_standard_output_what_it_would_write_to_a_file() {
    let folder = characters();
    pose(&folder, &["bar.m3d", "--time", "0.5"]);
    let run = marionette(&folder, &["pose", "bar.m3d", "--time", "0.5", "-o", "-"]);
    assert_eq!(
        run.stdout,
        fs::read_to_string(folder.path().join("out.obj")).unwrap()
    );
    assert_eq!(run.code, Some(0));
}

#[test]
fn pose_says_why_it_cannot() {
    let folder = characters();
    for args in [
        &["bar.m3d", "--time", "0", "--clip", "Run"][..],
        &["gone.m3d", "--time", "0"],
        &["reach.md5anim", "--time", "0"],
        &["arm.md5mesh", "gone.md5anim", "--time", "0"],
        &["bar.m3d", "reach.md5anim", "--time", "0"],
        &["broken/bad.md5mesh", "--time", "0"],
    ] {
        let run = marionette(&folder, &[&["pose"], args, &["-o", "out.obj"]].concat());
        assert_eq!(run.code, Some(1), "{args:?}: {}", run.stderr);
        assert_message(&format!("pose {}", args.join(" ")), run.stderr);
        assert!(!folder.path().join("out.obj").exists(), "{args:?}");
    }
    let run = marionette(
        &folder,
        &[
            "pose",
            "bar.m3d",
            "--time",
            "0",
            "-o",
            "no/such/folder/out.obj",
        ],
    );
    assert_eq!(run.code, Some(1));
    assert_message("pose to a folder that doesn't exist", run.stderr);
}

#[test]
fn texture_coordinates_are_flipped_by_an_option_or_a_manifest() {
    let folder = characters();
    fs::write(
        folder.path().join("flipped.character.ron"),
        "(model: \"bar.m3d\", flip_v: true)",
    )
    .unwrap();
    let tex_coords = |args: &[&str]| -> Vec<(f32, f32)> {
        let run = marionette(&folder, &[&["pose", "--bind", "-o", "-"], args].concat());
        let lines = run
            .stdout
            .lines()
            .filter_map(|line| line.strip_prefix("vt ")?.split_once(' '));
        lines
            .map(|(u, v)| (u.parse().unwrap(), v.parse().unwrap()))
            .collect()
    };
    let plain = tex_coords(&["bar.m3d"]);
    // The vertex that no part uses stays as it is.
    let flipped: Vec<_> = plain
        .iter()
        .enumerate()
        .map(|(at, &(u, v))| (u, if at == 6 { v } else { 1.0 - v }))
        .collect();
    assert!(plain.len() == 11 && plain != flipped);
    assert_eq!(tex_coords(&["bar.m3d", "--flip-v"]), flipped);
    assert_eq!(tex_coords(&["flipped.character.ron"]), flipped);
    let mesh = tex_coords(&["arm.md5mesh", "--flip-v"]);
    assert_eq!(mesh, vec![(0.25, 0.75); mesh.len()]);
}

#[test]
fn for_a_misspelled_name_the_one_that_was_meant_is_suggested() {
    let folder = characters();
    for (about, args) in [
        ("a misspelled clip", ["--clip", "Swya"]),
        ("another clip", ["--clip", "Jump"]),
        ("a morph target", ["--morph", "smile=1"]),
    ] {
        let run = marionette(
            &folder,
            &[&["pose", "bar.m3d", "--time", "0", "-o", "-"], &args[..]].concat(),
        );
        assert_eq!(run.code, Some(1));
        let error = run
            .stderr
            .lines()
            .skip_while(|line| !line.contains("error"));
        assert_message(
            &format!("pose: {about}"),
            error.collect::<Vec<_>>().join("\n"),
        );
    }
}
