//! An .m3d: a bar of three bones in two subsets, with a vertex between them that is in neither.

use glam::DVec3;
use std::fmt::Write;

type Matrix = [[f64; 4]; 4];

/// `v · M` order: `times(a, b)` is first a, then b.
fn times(a: &Matrix, b: &Matrix) -> Matrix {
    std::array::from_fn(|row| {
        std::array::from_fn(|column| (0..4).map(|k| a[row][k] * b[k][column]).sum())
    })
}

fn apply(v: [f64; 3], m: &Matrix) -> [f64; 3] {
    std::array::from_fn(|c| v[0] * m[0][c] + v[1] * m[1][c] + v[2] * m[2][c] + m[3][c])
}

fn translation(x: f64, y: f64, z: f64) -> Matrix {
    [
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0],
        [x, y, z, 1.0],
    ]
}

/// A key: time, translation, uniform scale, turn in radians about z and then x.
#[derive(Clone, Copy)]
struct Key(f64, [f64; 3], f64, f64, f64);

/// (x, y, z, w) of a turn about z and then about x.
pub fn quaternion(z: f64, x: f64) -> [f64; 4] {
    let ((sz, cz), (sx, cx)) = ((z / 2.0).sin_cos(), (x / 2.0).sin_cos());
    [sx * cz, -sx * sz, cx * sz, cx * cz]
}

fn slerp(a: [f64; 4], b: [f64; 4], t: f64) -> [f64; 4] {
    let dot: f64 = (0..4).map(|i| a[i] * b[i]).sum();
    let (b, dot) = if dot < 0.0 {
        (b.map(|c| -c), -dot)
    } else {
        (b, dot)
    };
    let omega = dot.min(1.0).acos();
    if omega < 1e-9 {
        return a;
    }
    std::array::from_fn(|i| {
        (((1.0 - t) * omega).sin() * a[i] + (t * omega).sin() * b[i]) / omega.sin()
    })
}

/// Scale, rotation, translation for row vectors, as Luna composes a key.
fn composed(t: [f64; 3], s: f64, [x, y, z, w]: [f64; 4]) -> Matrix {
    let row = |v: [f64; 3]| [v[0] * s, v[1] * s, v[2] * s, 0.0];
    [
        row([
            1.0 - 2.0 * (y * y + z * z),
            2.0 * (x * y + z * w),
            2.0 * (x * z - y * w),
        ]),
        row([
            2.0 * (x * y - z * w),
            1.0 - 2.0 * (x * x + z * z),
            2.0 * (y * z + x * w),
        ]),
        row([
            2.0 * (x * z + y * w),
            2.0 * (y * z - x * w),
            1.0 - 2.0 * (x * x + y * y),
        ]),
        [t[0], t[1], t[2], 1.0],
    ]
}

fn key_at(keys: &[Key], time: f64) -> Matrix {
    let at = keys
        .windows(2)
        .position(|pair| time <= pair[1].0)
        .unwrap_or(keys.len() - 2);
    let (a, b) = (keys[at], keys[at + 1]);
    let u = ((time - a.0) / (b.0 - a.0)).clamp(0.0, 1.0);
    let lerp = |a: f64, b: f64| a + u * (b - a);
    let moved = std::array::from_fn(|i| lerp(a.1[i], b.1[i]));
    composed(
        moved,
        lerp(a.2, b.2),
        slerp(quaternion(a.3, a.4), quaternion(b.3, b.4), u),
    )
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
    for (level, weights, bones) in [
        (2.0, [0.125, 0.875, 0.0, 0.0], [2, 1, 0, 0]),
        (3.0, [0.75, 0.25, 0.0, 0.0], [2, 1, 0, 0]),
    ] {
        vertices.extend([-0.5, 0.5].map(|x| ([x, level, 1.0], weights, bones)));
    }
    vertices
}

pub const BAR_TRIANGLES: [[u32; 3]; 6] = [
    [0, 1, 2],
    [2, 1, 3],
    [2, 3, 4],
    [4, 3, 5],
    [7, 8, 9],
    [9, 8, 10],
];
const BAR_PARENTS: [i32; 3] = [-1, 0, 1];

fn bar_offsets() -> [Matrix; 3] {
    [
        translation(0.0, 0.0, 0.0),
        translation(0.0, -1.0, 0.0),
        translation(0.25, -2.0, 0.0),
    ]
}

fn bar_keys() -> [Vec<Key>; 3] {
    [
        vec![
            Key(0.0, [0.0, 0.0, 0.0], 1.0, 0.0, 0.0),
            Key(1.0, [0.5, 0.25, -0.5], 1.0, 0.5, 0.25),
        ],
        vec![
            Key(0.0, [0.0, 1.0, 0.0], 1.0, 0.0, 0.0),
            Key(0.5, [0.0, 1.0, 0.0], 1.25, 0.75, 0.0),
            Key(1.0, [0.0, 1.5, 0.0], 1.0, -0.5, 0.5),
        ],
        vec![
            Key(0.0, [-0.25, 1.0, 0.0], 1.0, 0.0, 0.0),
            Key(0.75, [-0.25, 1.0, 0.5], 1.0, 0.0, -1.0),
        ],
    ]
}

pub fn bar_m3d() -> String {
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
            writeln!(
                text,
                "\t\tTime: {time} Pos: {x} {y} {z} Scale: {s} {s} {s} Quat: {qx} {qy} {qz} {qw}"
            )
            .unwrap();
        }
        text += "\t}\n\n";
    }
    text + "}\n"
}

/// Luna's formula, `Σ wᵢ · v · offsetᵢ · toRootᵢ`, with z times `z` on the way to Bevy's axes; without a
/// time the vertices as they are in the file. The vertex in no subset is at the origin.
pub fn bar_by_formula(time: Option<f64>, z: f64, scale: f64) -> Vec<DVec3> {
    let mut to_root: Vec<Matrix> = Vec::new();
    for (bone, keys) in bar_keys().iter().enumerate() {
        let local = key_at(keys, time.unwrap_or(0.0));
        to_root.push(
            usize::try_from(BAR_PARENTS[bone])
                .map_or(local, |parent| times(&local, &to_root[parent])),
        );
    }
    let moves: Vec<Matrix> = bar_offsets()
        .iter()
        .zip(&to_root)
        .map(|(offset, root)| times(offset, root))
        .collect();
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
