//! The `marionette` program as a user runs it: on files written here, judged by what it prints, how it
//! exits, and, for `pose`, by the formats' own formulas reckoned here in double precision.

use glam::{DAffine3, DQuat, DVec3};
use serde_json::Value;
use std::{
    fmt::Write,
    fs,
    path::Path,
    process::{Command, Stdio},
};
use tempfile::TempDir;

// ---------------------------------------------------------------------------------------------
// Running it.

struct Run {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

fn marionette(folder: &TempDir, args: &[&str]) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_marionette")).current_dir(folder.path()).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let run = Run { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) };
    assert!(!run.stderr.contains("panicked"), "{args:?}: {}", run.stderr);
    assert!(!run.stdout.contains('\x1b') && !run.stderr.contains('\x1b'), "no colour where there is no terminal");
    run
}

fn folder(files: &[(&str, String)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// An OBJ's numbers.
struct Obj {
    positions: Vec<DVec3>,
    normals: Vec<DVec3>,
    tex_coords: usize,
    faces: Vec<[usize; 3]>,
}

fn read_obj(text: &str) -> Obj {
    let mut obj = Obj { positions: vec![], normals: vec![], tex_coords: 0, faces: vec![] };
    let numbers = |rest: &str| rest.split(' ').map(|n| n.parse::<f64>().unwrap()).collect::<Vec<_>>();
    for line in text.lines() {
        match line.split_once(' ').unwrap() {
            ("v", rest) => obj.positions.push(DVec3::from_slice(&numbers(rest))),
            ("vn", rest) => obj.normals.push(DVec3::from_slice(&numbers(rest))),
            ("vt", rest) => {
                assert_eq!(numbers(rest).len(), 2);
                obj.tex_coords += 1;
            }
            ("f", rest) => obj.faces.push(std::array::from_fn(|corner| {
                let corner: Vec<usize> =
                    rest.split(' ').nth(corner).unwrap().split('/').map(|n| n.parse().unwrap()).collect();
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
    (read_obj(&fs::read_to_string(folder.path().join("out.obj")).unwrap()), run.stderr)
}

/// The largest distance between two lists of points, over the diagonal of the second's box.
fn error(ours: &[DVec3], reference: &[DVec3]) -> f64 {
    assert_eq!(ours.len(), reference.len(), "one v for each vertex of the file");
    let low = reference.iter().copied().reduce(DVec3::min).unwrap();
    let high = reference.iter().copied().reduce(DVec3::max).unwrap();
    let largest = ours.iter().zip(reference).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    assert!(ours.iter().all(|v| v.is_finite()));
    largest / low.distance(high)
}

// ---------------------------------------------------------------------------------------------
// An .m3d: a bar of three bones in two subsets, with a vertex between them that is in neither.

type Matrix = [[f64; 4]; 4];

/// `v · M` order: `times(a, b)` is first a, then b.
fn times(a: &Matrix, b: &Matrix) -> Matrix {
    std::array::from_fn(|row| std::array::from_fn(|column| (0..4).map(|k| a[row][k] * b[k][column]).sum()))
}

fn apply(v: [f64; 3], m: &Matrix) -> [f64; 3] {
    std::array::from_fn(|c| v[0] * m[0][c] + v[1] * m[1][c] + v[2] * m[2][c] + m[3][c])
}

fn translation(x: f64, y: f64, z: f64) -> Matrix {
    [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [x, y, z, 1.0]]
}

/// A key: time, translation, uniform scale, turn in radians about z and then x.
#[derive(Clone, Copy)]
struct Key(f64, [f64; 3], f64, f64, f64);

/// (x, y, z, w) of a turn about z and then about x.
fn quaternion(z: f64, x: f64) -> [f64; 4] {
    let ((sz, cz), (sx, cx)) = ((z / 2.0).sin_cos(), (x / 2.0).sin_cos());
    [sx * cz, -sx * sz, cx * sz, cx * cz]
}

fn slerp(a: [f64; 4], b: [f64; 4], t: f64) -> [f64; 4] {
    let dot: f64 = (0..4).map(|i| a[i] * b[i]).sum();
    let (b, dot) = if dot < 0.0 { (b.map(|c| -c), -dot) } else { (b, dot) };
    let omega = dot.min(1.0).acos();
    if omega < 1e-9 {
        return a;
    }
    std::array::from_fn(|i| (((1.0 - t) * omega).sin() * a[i] + (t * omega).sin() * b[i]) / omega.sin())
}

/// Scale, rotation, translation for row vectors, as Luna composes a key.
fn composed(t: [f64; 3], s: f64, [x, y, z, w]: [f64; 4]) -> Matrix {
    let row = |v: [f64; 3]| [v[0] * s, v[1] * s, v[2] * s, 0.0];
    [
        row([1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + z * w), 2.0 * (x * z - y * w)]),
        row([2.0 * (x * y - z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + x * w)]),
        row([2.0 * (x * z + y * w), 2.0 * (y * z - x * w), 1.0 - 2.0 * (x * x + y * y)]),
        [t[0], t[1], t[2], 1.0],
    ]
}

fn key_at(keys: &[Key], time: f64) -> Matrix {
    let at = keys.windows(2).position(|pair| time <= pair[1].0).unwrap_or(keys.len() - 2);
    let (a, b) = (keys[at], keys[at + 1]);
    let u = ((time - a.0) / (b.0 - a.0)).clamp(0.0, 1.0);
    let lerp = |a: f64, b: f64| a + u * (b - a);
    let moved = std::array::from_fn(|i| lerp(a.1[i], b.1[i]));
    composed(moved, lerp(a.2, b.2), slerp(quaternion(a.3, a.4), quaternion(b.3, b.4), u))
}

/// Position, weights and bones of every vertex; number 6 is in no subset.
fn bar() -> Vec<([f64; 3], [f64; 4], [u32; 4])> {
    let mut vertices = Vec::new();
    for (level, weights, bones) in [
        (0.0, [1.0, 0.0, 0.0, 0.0], [0, 0, 0, 0]),
        (1.0, [0.5, 0.5, 0.0, 0.0], [0, 1, 0, 0]),
        (2.0, [0.25, 0.625, 0.125, 0.0], [0, 1, 2, 0]),
    ] {
        vertices.extend([-0.5, 0.5].map(|x| ([x, level, 0.25 * level], weights, bones)));
    }
    vertices.push(([9.0, 9.0, 9.0], [1.0, 0.0, 0.0, 0.0], [0, 0, 0, 0]));
    for (level, weights, bones) in
        [(2.0, [0.125, 0.875, 0.0, 0.0], [2, 1, 0, 0]), (3.0, [0.75, 0.25, 0.0, 0.0], [2, 1, 0, 0])]
    {
        vertices.extend([-0.5, 0.5].map(|x| ([x, level, 1.0], weights, bones)));
    }
    vertices
}

const BAR_TRIANGLES: [[u32; 3]; 6] = [[0, 1, 2], [2, 1, 3], [2, 3, 4], [4, 3, 5], [7, 8, 9], [9, 8, 10]];
const BAR_PARENTS: [i32; 3] = [-1, 0, 1];

fn bar_offsets() -> [Matrix; 3] {
    [translation(0.0, 0.0, 0.0), translation(0.0, -1.0, 0.0), translation(0.25, -2.0, 0.0)]
}

fn bar_keys() -> [Vec<Key>; 3] {
    [
        vec![Key(0.0, [0.0, 0.0, 0.0], 1.0, 0.0, 0.0), Key(1.0, [0.5, 0.25, -0.5], 1.0, 0.5, 0.25)],
        vec![
            Key(0.0, [0.0, 1.0, 0.0], 1.0, 0.0, 0.0),
            Key(0.5, [0.0, 1.0, 0.0], 1.25, 0.75, 0.0),
            Key(1.0, [0.0, 1.5, 0.0], 1.0, -0.5, 0.5),
        ],
        vec![Key(0.0, [-0.25, 1.0, 0.0], 1.0, 0.0, 0.0), Key(0.75, [-0.25, 1.0, 0.5], 1.0, 0.0, -1.0)],
    ]
}

fn bar_m3d() -> String {
    let (vertices, keys) = (bar(), bar_keys());
    let mut text = format!(
        "***************m3d-File-Header***************\n#Materials 2\n#Vertices {}\n#Triangles {}\n#Bones 3\n\
         #AnimationClips 1\n\n***************Materials*********************\n",
        vertices.len(),
        BAR_TRIANGLES.len()
    );
    for (name, map) in [("lower", "lower.dds"), ("upper", "textures\\Upper.dds")] {
        writeln!(
            text,
            "Name: {name}\nDiffuse: 1 1 1\nFresnel0: 0.05 0.05 0.05\nRoughness: 0.5\nAlphaClip: 0\n\
             MaterialTypeName: Skinned\nDiffuseMap: {map}\nNormalMap: \n"
        )
        .unwrap();
    }
    text += "***************SubsetTable*******************\n\
             SubsetID: 0 VertexStart: 0 VertexCount: 6 FaceStart: 0 FaceCount: 4\n\
             SubsetID: 1 VertexStart: 7 VertexCount: 4 FaceStart: 4 FaceCount: 2\n\n\
             ***************Vertices**********************\n";
    for ([x, y, z], [a, b, c, d], [i, j, k, l]) in &vertices {
        // Square to the bar on the side that the triangles wind around: left-handed data.
        writeln!(
            text,
            "Position: {x} {y} {z}\nTangent: 1 0 0 1\nNormal: 0 -0.24253563 0.9701425\nTex-Coords: {x} {y}\n\
             BlendWeights: {a} {b} {c} {d}\nBlendIndices: {i} {j} {k} {l}\n"
        )
        .unwrap();
    }
    text += "***************Triangles*********************\n";
    for [a, b, c] in BAR_TRIANGLES {
        writeln!(text, "{a} {b} {c}").unwrap();
    }
    text += "\n***************BoneOffsets*******************\n";
    for (bone, offset) in bar_offsets().iter().enumerate() {
        let numbers: Vec<String> = offset.as_flattened().iter().map(f64::to_string).collect();
        writeln!(text, "BoneOffset{bone} {}", numbers.join(" ")).unwrap();
    }
    text += "\n***************BoneHierarchy*****************\n";
    for (bone, parent) in BAR_PARENTS.iter().enumerate() {
        writeln!(text, "ParentIndexOfBone{bone}: {parent}").unwrap();
    }
    text += "\n***************AnimationClips****************\nAnimationClip Sway\n{\n";
    for (bone, keys) in keys.iter().enumerate() {
        writeln!(text, "\tBone{bone} #Keyframes: {}\n\t{{", keys.len()).unwrap();
        for Key(time, [x, y, z], s, about_z, about_x) in keys {
            let [qx, qy, qz, qw] = quaternion(*about_z, *about_x);
            writeln!(text, "\t\tTime: {time} Pos: {x} {y} {z} Scale: {s} {s} {s} Quat: {qx} {qy} {qz} {qw}").unwrap();
        }
        text += "\t}\n\n";
    }
    text + "}\n"
}

/// Luna's formula, `Σ wᵢ · v · offsetᵢ · toRootᵢ`, with z times `z` on the way to Bevy's axes; without a
/// time the vertices as they are in the file. The vertex in no subset is at the origin.
fn bar_by_formula(time: Option<f64>, z: f64, scale: f64) -> Vec<DVec3> {
    let mut to_root: Vec<Matrix> = Vec::new();
    for (bone, keys) in bar_keys().iter().enumerate() {
        let local = key_at(keys, time.unwrap_or(0.0));
        to_root.push(usize::try_from(BAR_PARENTS[bone]).map_or(local, |parent| times(&local, &to_root[parent])));
    }
    let moves: Vec<Matrix> = bar_offsets().iter().zip(&to_root).map(|(offset, root)| times(offset, root)).collect();
    let mut out: Vec<DVec3> = Vec::new();
    for (position, weights, bones) in bar() {
        let mut sum = [0.0; 3];
        for (weight, bone) in weights.iter().zip(bones) {
            let moved = apply(position, &moves[bone as usize]);
            sum = std::array::from_fn(|i| sum[i] + weight * moved[i]);
        }
        let at = if time.is_none() { position } else { sum };
        out.push(DVec3::new(at[0], at[1], at[2] * z) * scale);
    }
    out[6] = DVec3::ZERO;
    out
}

// ---------------------------------------------------------------------------------------------
// An MD5 of three joints, the child before its parent, in two submeshes and an empty one.

/// Name, parent, position, and turns about z and x, in model space.
const JOINTS: [(&str, i32, [f64; 3], f64, f64); 3] = [
    ("root", -1, [0.0, 0.0, 1.0], 0.5, 0.0),
    ("hand", 2, [0.5, 2.0, 1.5], -0.25, 0.5),
    ("arm", 0, [0.25, 1.0, 1.0], 0.25, 1.0),
];

/// A turn that a file can say: with w not positive.
fn turn(z: f64, x: f64) -> DQuat {
    let q = DQuat::from_array(quaternion(z, x));
    if q.w > 0.0 { -q } else { q }
}

fn bind_joints() -> Vec<DAffine3> {
    JOINTS.iter().map(|j| DAffine3::from_rotation_translation(turn(j.3, j.4), DVec3::from(j.2))).collect()
}

type Submesh = Vec<(DVec3, Vec<(usize, f64)>)>;

/// Bind positions and weights of the submeshes' vertices.
fn submeshes() -> [Submesh; 3] {
    let at = DVec3::new;
    [
        vec![
            (at(0.0, 0.0, 0.0), vec![(0, 1.0)]),
            (at(0.5, 0.5, 0.0), vec![(0, 0.75), (2, 0.25)]),
            (at(0.0, 1.0, 0.5), vec![(2, 0.5), (0, 0.3), (1, 0.2)]),
            (at(0.0, 0.5, 1.5), vec![(2, 1.0)]),
        ],
        vec![],
        vec![
            (at(0.5, 1.5, 1.0), vec![(1, 0.5), (2, 0.5)]),
            (at(1.0, 2.0, 1.0), vec![(1, 1.0)]),
            (at(0.5, 2.0, 2.0), vec![(1, 0.875), (0, 0.125)]),
        ],
    ]
}

fn md5_mesh() -> String {
    let joints = bind_joints();
    let mut text = format!("MD5Version 10\ncommandline \"\"\n\nnumJoints {}\nnumMeshes 3\n\njoints {{\n", JOINTS.len());
    for ((name, parent, [x, y, z], ..), joint) in JOINTS.iter().zip(&joints) {
        let q = DQuat::from_mat3(&joint.matrix3);
        let q = if q.w > 0.0 { -q } else { q };
        writeln!(text, "\t\"{name}\"\t{parent} ( {x} {y} {z} ) ( {} {} {} )\t\t// ", q.x, q.y, q.z).unwrap();
    }
    text += "}\n\n";
    for (number, vertices) in submeshes().iter().enumerate() {
        writeln!(text, "mesh {{\n\tshader \"skin{number}\"\n\n\tnumverts {}", vertices.len()).unwrap();
        let mut weights = String::new();
        let mut count = 0;
        for (vertex, (position, shares)) in vertices.iter().enumerate() {
            writeln!(text, "\tvert {vertex} ( 0.25 0.75 ) {count} {}", shares.len()).unwrap();
            for (joint, bias) in shares {
                let DVec3 { x, y, z } = joints[*joint].inverse().transform_point3(*position);
                writeln!(weights, "\tweight {count} {joint} {bias} ( {x} {y} {z} )").unwrap();
                count += 1;
            }
        }
        let triangles = vertices.len().saturating_sub(2);
        writeln!(text, "\n\tnumtris {triangles}").unwrap();
        for triangle in 0..triangles {
            writeln!(text, "\ttri {triangle} {} {} {}", triangle, triangle + 2, triangle + 1).unwrap();
        }
        writeln!(text, "\n\tnumweights {count}\n{weights}}}\n").unwrap();
    }
    text
}

const FRAMES: usize = 4;
const RATE: f64 = 10.0;

/// A joint's transform relative to its parent at a whole frame.
fn local(joint: usize, frame: usize) -> (DVec3, DQuat) {
    let step = frame as f64 * 0.125;
    match joint {
        0 => (DVec3::new(step, 0.0, 1.0), turn(0.5 + step, 0.0)),
        1 => (DVec3::new(0.5, 1.0, 0.25 - step), turn(-0.5, 0.5 + step)),
        _ => (DVec3::new(0.25, 1.0, 0.0), turn(-0.25 - step, 1.0)),
    }
}

fn md5_anim() -> String {
    let mut text = format!(
        "MD5Version 10\ncommandline \"\"\n\nnumFrames {FRAMES}\nnumJoints 3\nframeRate {RATE}\n\
         numAnimatedComponents 18\n\nhierarchy {{\n"
    );
    for (joint, (name, parent, ..)) in JOINTS.iter().enumerate() {
        writeln!(text, "\t\"{name}\"\t{parent} 63 {}\t// ", joint * 6).unwrap();
    }
    text += "}\n\nbounds {\n";
    text += &"\t( -1 -1 -1 ) ( 1 1 1 )\n".repeat(FRAMES);
    text += "}\n\nbaseframe {\n";
    text += &"\t( 0 0 0 ) ( 0 0 0 )\n".repeat(3);
    text += "}\n\n";
    for frame in 0..FRAMES {
        writeln!(text, "frame {frame} {{").unwrap();
        for joint in 0..3 {
            let (t, q) = local(joint, frame);
            writeln!(text, "\t{} {} {} {} {} {}", t.x, t.y, t.z, q.x, q.y, q.z).unwrap();
        }
        text += "}\n\n";
    }
    text
}

/// MD5's formula, `Σ bias · (joint · position)`, in Bevy's axes; without a time by the mesh's own joints.
fn md5_by_formula(time: Option<f64>, scale: f64) -> Vec<DVec3> {
    let bind = bind_joints();
    let pose: Vec<DAffine3> = match time {
        None => bind.clone(),
        Some(time) => {
            let at = (time * RATE).clamp(0.0, (FRAMES - 1) as f64);
            let (frame, next) = (at.floor() as usize, at.ceil() as usize);
            let local = |joint| {
                let ((p, q), (to_p, to_q)) = (local(joint, frame), local(joint, next));
                DAffine3::from_rotation_translation(q.slerp(to_q, at.fract()), p.lerp(to_p, at.fract()))
            };
            let root = local(0);
            let arm = root * local(2);
            vec![root, arm * local(1), arm]
        }
    };
    submeshes()
        .iter()
        .flatten()
        .map(|(position, shares)| {
            let point = |joint: usize| pose[joint].transform_point3(bind[joint].inverse().transform_point3(*position));
            let at: DVec3 = shares.iter().map(|&(joint, bias)| point(joint) * bias).sum();
            DVec3::new(-at.y, at.z, -at.x) * scale
        })
        .collect()
}

fn characters() -> TempDir {
    folder(&[
        ("bar.m3d", bar_m3d()),
        ("arm.md5mesh", md5_mesh()),
        ("reach.md5anim", md5_anim()),
        ("textures/upper.DDS", String::new()),
        (
            "arm.character.ron",
            "(model: \"arm.md5mesh\", scale: 0.5, clips: {\"stretch\": (file: \"reach.md5anim\", playback: Once, \
             callbacks: [(time: 0.1, name: \"grip\", data: \"firm\")])}, masks: {\"all\": (roots: [\"root\"])}, \
             sockets: {\"palm\": (joint: \"hand\")})"
                .to_owned(),
        ),
        ("broken/bad.md5mesh", md5_mesh().replace("numverts 4", "numverts many")),
    ])
}

// ---------------------------------------------------------------------------------------------
// pose

#[test]
fn pose_of_an_m3d_is_lunas_formula_at_bind_at_keys_and_between_them() {
    let folder = characters();
    let (bind, said) = pose(&folder, &["bar.m3d", "--bind"]);
    assert!(error(&bind.positions, &bar_by_formula(None, -1.0, 1.0)) < 1e-6);
    assert!(said.contains("bind pose") && said.contains("1 vertex in no part"), "{said}");
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
        let (posed, _) = pose(&folder, &["bar.m3d", "--time", "0.3", "--hand", hand, "--scale", "0.25"]);
        assert!(error(&posed.positions, &bar_by_formula(Some(0.3), z, 0.25)) < 1e-4, "{hand}");
    }
    let (posed, _) = pose(&folder, &["arm.md5mesh", "--bind", "--up", "y"]);
    // Bevy's (−y, z, −x) taken back: axes stay.
    let stays: Vec<DVec3> = md5_by_formula(None, 1.0).iter().map(|v| DVec3::new(-v.z, -v.x, v.y)).collect();
    assert!(error(&posed.positions, &stays) < 1e-5);
}

#[test]
fn pose_of_an_md5_is_the_sum_of_weights_at_bind_at_frames_and_between_them() {
    let folder = characters();
    let (bind, said) = pose(&folder, &["arm.md5mesh", "--time", "0"]);
    assert!(error(&bind.positions, &md5_by_formula(None, 1.0)) < 1e-5);
    assert!(said.contains("bind pose, for there is no clip"), "{said}");
    for time in [0.0, 0.1, 0.3, 0.05, 0.125, 0.29] {
        let (posed, said) = pose(&folder, &["arm.md5mesh", "reach.md5anim", "--time", &time.to_string()]);
        let error = error(&posed.positions, &md5_by_formula(Some(time), 1.0));
        assert!(error < 1e-4, "at {time} s off by {error} of the size");
        assert!(said.contains("clip `reach` of reach.md5anim"), "{said}");
    }
}

#[test]
fn pose_of_a_manifest_has_its_scale_and_clips() {
    let folder = characters();
    let (posed, said) = pose(&folder, &["arm.character.ron", "--time", "0.2"]);
    assert!(error(&posed.positions, &md5_by_formula(Some(0.2), 0.5)) < 1e-4);
    assert!(said.contains("clip `stretch`"), "{said}");
    let (posed, _) = pose(&folder, &["arm.character.ron", "--time", "0.2", "--scale", "2"]);
    assert!(error(&posed.positions, &md5_by_formula(Some(0.2), 2.0)) < 1e-4, "the command line has the last word");
}

#[test]
fn pose_beyond_the_clip_repeats_or_holds_as_it_is_played() {
    let folder = characters();
    let (posed, said) = pose(&folder, &["bar.m3d", "--time", "-0.9"]);
    assert!(error(&posed.positions, &bar_by_formula(Some(0.1), -1.0, 1.0)) < 1e-4);
    assert!(said.contains("at 0.1 s of 1 s (for -0.9 s)"), "{said}");
    let (posed, _) = pose(&folder, &["arm.character.ron", "--time", "7"]);
    assert!(error(&posed.positions, &md5_by_formula(Some(0.3), 0.5)) < 1e-4);
}

#[test]
fn pose_writes_an_obj_whose_faces_wind_around_its_normals_and_keep_the_files_indices() {
    let folder = characters();
    for args in [&["bar.m3d", "--time", "0.4"][..], &["arm.md5mesh", "reach.md5anim", "--time", "0.2"]] {
        let (obj, _) = pose(&folder, args);
        assert_eq!([obj.normals.len(), obj.tex_coords], [obj.positions.len(); 2]);
        assert!(obj.normals.iter().all(|normal| (normal.length() - 1.0).abs() < 1e-5));
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
    assert_eq!(run.stdout, fs::read_to_string(folder.path().join("out.obj")).unwrap());
    assert_eq!(run.code, Some(0));
}

#[test]
fn pose_says_why_it_cannot() {
    let folder = characters();
    for (args, words) in [
        (&["bar.m3d", "--time", "0", "--clip", "Run"][..], &["there is no clip `Run`", "`Sway`"][..]),
        (&["gone.m3d", "--time", "0"], &["gone.m3d", "there is no such file"]),
        (&["reach.md5anim", "--time", "0"], &["holds a clip, not a model"]),
        (&["arm.md5mesh", "gone.md5anim", "--time", "0"], &["gone.md5anim", "there is no such file"]),
        (&["bar.m3d", "reach.md5anim", "--time", "0"], &["reach.md5anim", "joint"]),
        (&["broken/bad.md5mesh", "--time", "0"], &["bad.md5mesh:", "many"]),
    ] {
        let run = marionette(&folder, &[&["pose"], args, &["-o", "out.obj"]].concat());
        assert_eq!(run.code, Some(1), "{args:?}: {}", run.stderr);
        assert!(words.iter().all(|word| run.stderr.contains(word)), "{args:?}: {}", run.stderr);
        assert!(!folder.path().join("out.obj").exists(), "{args:?}");
    }
    let run = marionette(&folder, &["pose", "bar.m3d", "--time", "0", "-o", "no/such/folder/out.obj"]);
    assert!(run.code == Some(1) && run.stderr.contains("cannot write it"), "{}", run.stderr);
}

// ---------------------------------------------------------------------------------------------
// The command line

#[test]
fn wrong_usage_exits_with_2_and_touches_nothing() {
    let folder = characters();
    let model = fs::read(folder.path().join("bar.m3d")).unwrap();
    for args in [
        &[][..],
        &["inspect"],
        &["validate"],
        &["explain", "bar.m3d"],
        &["pose", "bar.m3d", "-o", "out.obj"],
        &["pose", "bar.m3d", "--time", "0"],
        &["pose", "bar.m3d", "--time", "soon", "-o", "out.obj"],
        &["pose", "bar.m3d", "--time", "nan", "-o", "out.obj"],
        &["pose", "bar.m3d", "--bind", "--clip", "Sway", "-o", "out.obj"],
        &["pose", "bar.m3d", "--time", "0", "--scale", "0", "-o", "out.obj"],
        &["pose", "bar.m3d", "--time", "0", "--hand", "both", "-o", "out.obj"],
        &["pose", "bar.m3d", "--time", "0", "-o", "bar.m3d"],
    ] {
        let run = marionette(&folder, args);
        assert_eq!(run.code, Some(2), "{args:?}: {}{}", run.stdout, run.stderr);
    }
    assert!(!folder.path().join("out.obj").exists());
    assert_eq!(fs::read(folder.path().join("bar.m3d")).unwrap(), model);
}

#[test]
fn help_has_examples_and_the_jsons_fields() {
    let folder = characters();
    for verb in ["inspect", "validate", "pose"] {
        let run = marionette(&folder, &[verb, "--help"]);
        assert_eq!(run.code, Some(0));
        assert!(run.stdout.contains(&format!("Examples:\n  marionette {verb} ")), "{}", run.stdout);
    }
    // Every field there is is documented.
    let help = marionette(&folder, &["inspect", "--help"]).stdout;
    let run =
        marionette(&folder, &["inspect", "--json", "bar.m3d", "arm.character.ron", "arm.md5mesh", "reach.md5anim"]);
    let mut fields = Vec::new();
    keys(&serde_json::from_str(&run.stdout).unwrap(), &mut fields);
    assert!(fields.len() > 40, "{fields:?}");
    for field in fields {
        // Names in a manifest, and the structs of its masks and sockets, are the manifest's own.
        let own = ["all", "palm", "roots", "falloff", "joint", "translation", "euler_degrees"];
        assert!(help.contains(&field) || own.contains(&field.as_str()), "{field}");
    }
}

fn keys(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| keys(item, out)),
        Value::Object(fields) => fields.iter().for_each(|(key, value)| {
            out.push(key.clone());
            keys(value, out);
        }),
        _ => {}
    }
}

#[test]
fn a_reader_that_stops_listening_is_no_error() {
    let folder = characters();
    for args in [&["inspect", "--json", "bar.m3d"][..], &["pose", "bar.m3d", "--time", "0", "-o", "-"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_marionette"))
            .current_dir(folder.path())
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{args:?}: {said}");
        assert!(!said.to_lowercase().contains("pipe") && !said.contains("panicked"), "{said}");
    }
}

// ---------------------------------------------------------------------------------------------
// inspect

#[test]
fn inspect_shows_what_is_in_a_model() {
    let folder = characters();
    let run = marionette(&folder, &["inspect", "bar.m3d"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    for words in [
        "Direct3D 12 book",
        "11 vertices · 6 triangles · 3 joints · 2 parts · 2 materials · 1 clip",
        "read as left-handed",
        "Bone0 (6)\n  └─ Bone1 (8)\n     └─ Bone2 (6)\n",
        "lower.dds ✗ not found",
        "textures\\Upper.dds → ✓ textures/upper.DDS",
        "Sway   1 s",
        "warning: no texture file beside the model for `lower.dds`",
    ] {
        assert!(run.stdout.contains(words), "{words}\n{}", run.stdout);
    }
}

#[test]
fn inspect_fits_an_animation_to_the_model_named_with_it_and_shows_its_own_joints_when_alone() {
    let folder = characters();
    let alone = marionette(&folder, &["inspect", "reach.md5anim"]).stdout;
    assert!(alone.contains("root (6)\n  └─ arm (6)\n     └─ hand (6)\n"), "{alone}");
    assert!(alone.contains("0.3 s · 4 frames at 10/s · 3 joints, 3 moving"), "{alone}");
    // Whatever the order, and with a model among the files that it does not fit.
    let both = marionette(&folder, &["inspect", "reach.md5anim", "bar.m3d", "arm.md5mesh"]).stdout;
    assert!(both.contains("clip reach of arm.md5mesh, which has 3 of its 3 joints"), "{both}");
    assert!(both.contains("from reach.md5anim"), "{both}");
}

#[test]
fn inspect_json_is_one_document_with_a_report_per_file() {
    let folder = characters();
    let files = ["bar.m3d", "broken/bad.md5mesh", "arm.character.ron", "arm.md5mesh", "reach.md5anim", "gone.m3d"];
    let run = marionette(&folder, &[&["inspect", "--json"], &files[..]].concat());
    assert_eq!((run.code, run.stderr.as_str()), (Some(1), ""), "the broken file and the missing one are errors");
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    let named: Vec<&str> = json.as_array().unwrap().iter().map(|file| file["file"].as_str().unwrap()).collect();
    assert_eq!(named, files);

    let bar = &json[0];
    assert_eq!(bar["ok"], true);
    let model = &bar["model"];
    assert_eq!([&model["vertices"], &model["triangles"]], [11, 6]);
    assert_eq!((&model["dialect"], &model["right_handed"]), (&"dx12".into(), &false.into()));
    assert_eq!(model["joints"][2]["parent"], 1);
    assert_eq!(model["parts"][1]["vertices"], 4);
    assert_eq!(model["clips"][0]["name"], "Sway");
    assert_eq!(model["clips"][0]["seconds"], 1.0);
    assert_eq!(model["influences"], serde_json::json!([0, 2, 6, 2, 0, 0]));
    assert_eq!(model["materials"][1]["textures"][0]["found"], "textures/upper.DDS");
    assert_eq!(model["materials"][0]["textures"][0]["found"], Value::Null);

    let bad = &json[1];
    assert_eq!((&bad["ok"], &bad["model"]), (&false.into(), &Value::Null));
    assert_eq!(bad["diagnostics"][0]["severity"], "error");
    assert!(bad["diagnostics"][0]["line"].as_u64() > Some(0));

    let character = &json[2]["model"];
    assert_eq!(character["clips"][0]["playback"], "once");
    assert_eq!(
        character["clips"][0]["callbacks"][0],
        serde_json::json!({"time": 0.1, "name": "grip", "data": "\"firm\""})
    );
    assert_eq!(character["manifest"]["sockets"]["palm"]["joint"], "hand");
    assert_eq!(character["manifest"]["masks"]["all"]["roots"][0], "root");
    assert_eq!(character["vertices"], 7);

    // Of two models with its joints, the first named has it.
    assert_eq!(json[4]["animation"]["bound_to"], "arm.character.ron");
    assert_eq!(json[4]["animation"]["joints_shared"], 3);
    assert!(json[3]["model"]["bind_residual_relative"].as_f64().unwrap() < 1e-4);
}

// ---------------------------------------------------------------------------------------------
// validate

#[test]
fn validate_exits_with_1_on_errors_alone() {
    let folder = characters();
    let good = marionette(&folder, &["validate", "reach.md5anim"]);
    assert_eq!((good.code, good.stdout.as_str()), (Some(0), "reach.md5anim: ok\n\n1 file: 1 ok\n"));

    let warned = marionette(&folder, &["validate", "bar.m3d"]);
    assert_eq!(warned.code, Some(0));
    assert!(warned.stdout.contains("1 usable with warnings (1 warning)"), "{}", warned.stdout);
    assert_eq!(marionette(&folder, &["validate", "--deny-warnings", "bar.m3d"]).code, Some(1));

    let bad = marionette(&folder, &["validate", "bar.m3d", "broken/bad.md5mesh"]);
    assert_eq!(bad.code, Some(1));
    let line = 1 + md5_mesh().lines().position(|line| line.contains("numverts 4")).unwrap();
    assert!(bad.stdout.contains(&format!("broken/bad.md5mesh:{line}:11: error: ")), "{}", bad.stdout);
    assert!(bad.stdout.contains("numverts many\n"), "the line at fault is quoted: {}", bad.stdout);
    assert!(
        bad.stdout.ends_with("2 files: 1 usable with warnings, 1 unusable (1 error, 1 warning)\n"),
        "{}",
        bad.stdout
    );
}

#[test]
fn validate_searches_directories() {
    let folder = characters();
    fs::write(folder.path().join("notes.txt"), "not a model").unwrap();
    let run = marionette(&folder, &["validate", "."]);
    assert_eq!(run.code, Some(1));
    assert!(run.stdout.contains("5 files: 1 ok, 3 usable with warnings, 1 unusable"), "{}", run.stdout);
    assert!(!run.stdout.contains("notes.txt"));
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let run = marionette(&folder, &["validate", "empty"]);
    assert!(run.code == Some(0) && run.stdout.contains("warning: no .m3d, .md5mesh"), "{}", run.stdout);
}

#[test]
fn validate_names_files_it_cannot_read_or_does_not_know() {
    let folder = characters();
    fs::write(folder.path().join("notes.txt"), "not a model").unwrap();
    for (file, words) in [
        ("gone.m3d", "gone.m3d: error: cannot read it: there is no such file\n\n"),
        ("arm.m3d", "hint: there is `arm.md5mesh` beside it"),
        ("notes.txt", "no kind of file that marionette knows"),
    ] {
        let run = marionette(&folder, &["validate", file]);
        assert!(run.code == Some(1) && run.stdout.contains(words), "{}", run.stdout);
    }
}

#[test]
fn validate_checks_an_animation_against_the_model_named_with_it() {
    let folder = characters();
    let run = marionette(&folder, &["validate", "bar.m3d", "reach.md5anim"]);
    assert_eq!(run.code, Some(1), "they have no joint in common: {}", run.stdout);
    assert!(run.stdout.contains("reach.md5anim") && run.stdout.contains("`root`"), "{}", run.stdout);
}

#[test]
fn validate_follows_manifests_and_names_their_files_as_they_lie() {
    let folder = folder(&[
        ("who/arm.character.ron", "(model: \"arm.md5mesh\", clips: {\"x\": (file: \"gone.md5anim\")})".to_owned()),
        ("who/arm.md5mesh", md5_mesh().replace("numverts 4", "numverts many")),
        ("who/typo.character.ron", "(\n  model: \"arm.md5mesh\",\n  skale: 2,\n)".to_owned()),
        ("who/lost.character.ron", "(model: \"lost.m3d\")".to_owned()),
    ]);
    let run = marionette(&folder, &["validate", "who/arm.character.ron"]);
    assert_eq!(run.code, Some(1));
    let path = Path::new("who").join("arm.md5mesh").display().to_string();
    assert!(run.stdout.contains(&format!("{path}:")) && run.stdout.contains("many"), "{}", run.stdout);
    let run = marionette(&folder, &["validate", "who/typo.character.ron"]);
    assert!(run.code == Some(1) && run.stdout.contains("typo.character.ron:3:"), "{}", run.stdout);
    let run = marionette(&folder, &["validate", "who/lost.character.ron"]);
    assert!(run.code == Some(1) && run.stdout.contains("`lost.m3d`: there is no such file"), "{}", run.stdout);

    fs::write(folder.path().join("who/arm.md5mesh"), md5_mesh()).unwrap();
    let run = marionette(&folder, &["validate", "who/arm.character.ron"]);
    assert!(run.code == Some(0) && run.stdout.contains("gone.md5anim"), "a lost clip is a warning: {}", run.stdout);
}

#[test]
fn validate_json_counts_what_it_lists() {
    let folder = characters();
    let run = marionette(&folder, &["validate", "--json", "bar.m3d", "broken/bad.md5mesh"]);
    assert_eq!(run.code, Some(1));
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!([&json["errors"], &json["warnings"]], [1, 1]);
    assert_eq!([&json["files"][0]["ok"], &json["files"][1]["ok"]], [true, false]);
}

#[test]
fn the_sample_characters_have_nothing_to_complain_about() {
    let assets = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
    let (here, mut looked_at) = (folder(&[]), 0);
    for who in ["scout", "hound"] {
        for file in fs::read_dir(assets.join(who)).unwrap().map(|file| file.unwrap().path()) {
            let name = file.to_str().unwrap();
            if ![".m3d", ".md5mesh", ".md5anim", ".character.ron"].iter().any(|end| name.ends_with(end)) {
                continue;
            }
            for verb in [&["inspect"][..], &["validate", "--deny-warnings"]] {
                let run = marionette(&here, &[verb, &[name]].concat());
                assert_eq!(run.code, Some(0), "{name}: {}{}", run.stdout, run.stderr);
                assert!(
                    !run.stdout.contains("warning") && run.stderr.is_empty(),
                    "{name}: {}{}",
                    run.stdout,
                    run.stderr
                );
            }
            looked_at += 1;
        }
    }
    assert!(looked_at >= 17, "{looked_at}");
}
