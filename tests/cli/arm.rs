//! An MD5 of three joints, the child before its parent, in two submeshes and an empty one.

use super::bar::quaternion;
use glam::{DAffine3, DQuat, DVec3};
use std::fmt::Write;

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
    JOINTS
        .iter()
        .map(|j| DAffine3::from_rotation_translation(turn(j.3, j.4), DVec3::from(j.2)))
        .collect()
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

pub fn md5_mesh() -> String {
    let joints = bind_joints();
    let mut text = format!(
        "MD5Version 10\ncommandline \"\"\n\nnumJoints {}\nnumMeshes 3\n\njoints {{\n",
        JOINTS.len()
    );
    for ((name, parent, [x, y, z], ..), joint) in JOINTS.iter().zip(&joints) {
        let q = DQuat::from_mat3(&joint.matrix3);
        let q = if q.w > 0.0 { -q } else { q };
        writeln!(
            text,
            "\t\"{name}\"\t{parent} ( {x} {y} {z} ) ( {} {} {} )\t\t// ",
            q.x, q.y, q.z
        )
        .unwrap();
    }
    text += "}\n\n";
    for (number, vertices) in submeshes().iter().enumerate() {
        writeln!(
            text,
            "mesh {{\n\tshader \"skin{number}\"\n\n\tnumverts {}",
            vertices.len()
        )
        .unwrap();
        let mut weights = String::new();
        let mut count = 0;
        for (vertex, (position, shares)) in vertices.iter().enumerate() {
            writeln!(
                text,
                "\tvert {vertex} ( 0.25 0.75 ) {count} {}",
                shares.len()
            )
            .unwrap();
            for (joint, bias) in shares {
                let DVec3 { x, y, z } = joints[*joint].inverse().transform_point3(*position);
                writeln!(weights, "\tweight {count} {joint} {bias} ( {x} {y} {z} )").unwrap();
                count += 1;
            }
        }
        let triangles = vertices.len().saturating_sub(2);
        writeln!(text, "\n\tnumtris {triangles}").unwrap();
        for triangle in 0..triangles {
            writeln!(
                text,
                "\ttri {triangle} {} {} {}",
                triangle,
                triangle + 2,
                triangle + 1
            )
            .unwrap();
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

pub fn md5_anim() -> String {
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
pub fn md5_by_formula(time: Option<f64>, scale: f64) -> Vec<DVec3> {
    let bind = bind_joints();
    let pose: Vec<DAffine3> = match time {
        None => bind.clone(),
        Some(time) => {
            let at = (time * RATE).clamp(0.0, (FRAMES - 1) as f64);
            let (frame, next) = (at.floor() as usize, at.ceil() as usize);
            let local = |joint| {
                let ((p, q), (to_p, to_q)) = (local(joint, frame), local(joint, next));
                DAffine3::from_rotation_translation(
                    q.slerp(to_q, at.fract()),
                    p.lerp(to_p, at.fract()),
                )
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
            let point = |joint: usize| {
                pose[joint].transform_point3(bind[joint].inverse().transform_point3(*position))
            };
            let at: DVec3 = shares
                .iter()
                .map(|&(joint, bias)| point(joint) * bias)
                .sum();
            DVec3::new(-at.y, at.z, -at.x) * scale
        })
        .collect()
}
