//! An imported `.m3d`, posed and skinned, against Luna's own formula in double precision.
//!
//! The reference is written from the book's shader and `SkinnedData`, in row vectors, and shares
//! nothing with the importer: `v' = Σ wᵢ · v · offsetᵢ · toRootᵢ`, keys by lerp and slerp.

mod keys;
mod mirrored;
mod odd_numbers;

use bevy_marionette::{
    import::{Hand, ImportSettings, Imported, UpAxis},
    internals::{
        format::{
            Checked,
            m3d::{M3d, M3dBone, M3dClip, M3dKey, M3dMaterial, M3dSubset, M3dVertex, parse, write},
        },
        import::{CLIP_ERROR, from_m3d, to_m3d},
    },
    model::{JointTransform, Model, SkeletalClip},
};
use fastrand::Rng;
use glam::{Affine3A, Vec3};

type Matrix = [[f64; 4]; 4];

const IDENTITY: Matrix = [
    [1.0, 0.0, 0.0, 0.0],
    [0.0, 1.0, 0.0, 0.0],
    [0.0, 0.0, 1.0, 0.0],
    [0.0, 0.0, 0.0, 1.0],
];

fn times(a: &Matrix, b: &Matrix) -> Matrix {
    let cell = |row: usize, column: usize| (0..4).map(|k| a[row][k] * b[k][column]).sum();
    std::array::from_fn(|row| std::array::from_fn(|column| cell(row, column)))
}

fn wide(m: &[[f32; 4]; 4]) -> Matrix {
    m.map(|row| row.map(f64::from))
}

fn apply(v: [f32; 3], m: &Matrix) -> [f64; 3] {
    let v = [f64::from(v[0]), f64::from(v[1]), f64::from(v[2]), 1.0];
    std::array::from_fn(|column| (0..4).map(|k| v[k] * m[k][column]).sum())
}

/// Scale, then rotation, then translation, for row vectors: `XMMatrixAffineTransformation`.
fn affine(scale: [f64; 3], [x, y, z, w]: [f64; 4], translation: [f64; 3]) -> Matrix {
    let rotation = [
        [
            1.0 - 2.0 * (y * y + z * z),
            2.0 * (x * y + z * w),
            2.0 * (x * z - y * w),
        ],
        [
            2.0 * (x * y - z * w),
            1.0 - 2.0 * (x * x + z * z),
            2.0 * (y * z + x * w),
        ],
        [
            2.0 * (x * z + y * w),
            2.0 * (y * z - x * w),
            1.0 - 2.0 * (x * x + y * y),
        ],
    ];
    let row = |i: usize| {
        [
            rotation[i][0] * scale[i],
            rotation[i][1] * scale[i],
            rotation[i][2] * scale[i],
            0.0,
        ]
    };
    [
        row(0),
        row(1),
        row(2),
        [translation[0], translation[1], translation[2], 1.0],
    ]
}

/// The inverse of a rigid matrix with one scale.
fn inverse(m: &Matrix) -> Matrix {
    let squared: f64 = (0..3).map(|k| m[0][k] * m[0][k]).sum();
    let mut out = IDENTITY;
    for row in 0..3 {
        for column in 0..3 {
            out[row][column] = m[column][row] / squared;
        }
    }
    out[3] = std::array::from_fn(|column| -(0..3).map(|k| m[3][k] * out[k][column]).sum::<f64>());
    out[3][3] = 1.0;
    out
}

fn unit(q: [f32; 4]) -> [f64; 4] {
    let q = q.map(f64::from);
    let length = q.iter().map(|c| c * c).sum::<f64>().sqrt();
    q.map(|c| c / length)
}

/// `XMQuaternionSlerp`: the short way round.
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
    let (l, r) = (
        ((1.0 - t) * omega).sin() / omega.sin(),
        (t * omega).sin() / omega.sin(),
    );
    std::array::from_fn(|i| l * a[i] + r * b[i])
}

/// `BoneAnimation::Interpolate`.
fn interpolate(keys: &[M3dKey], time: f64) -> Matrix {
    let of = |key: &M3dKey| {
        affine(
            key.scale.map(f64::from),
            unit(key.rotation),
            key.translation.map(f64::from),
        )
    };
    let (first, last) = (&keys[0], &keys[keys.len() - 1]);
    if time <= f64::from(first.time) {
        return of(first);
    }
    if time >= f64::from(last.time) {
        return of(last);
    }
    let at = keys
        .windows(2)
        .position(|k| time >= f64::from(k[0].time) && time <= f64::from(k[1].time))
        .unwrap();
    let (a, b) = (&keys[at], &keys[at + 1]);
    let t = (time - f64::from(a.time)) / f64::from(b.time - a.time);
    let lerp = |a: [f32; 3], b: [f32; 3]| {
        std::array::from_fn(|i| f64::from(a[i]) + t * (f64::from(b[i]) - f64::from(a[i])))
    };
    affine(
        lerp(a.scale, b.scale),
        slerp(unit(a.rotation), unit(b.rotation), t),
        lerp(a.translation, b.translation),
    )
}

/// Every vertex of the file at a time of a clip, in the file's axes.
fn luna(m3d: &M3d, clip: &M3dClip, time: f64) -> Vec<[f64; 3]> {
    let mut to_root: Vec<Option<Matrix>> = vec![None; m3d.bones.len()];
    fn resolve(
        m3d: &M3d,
        clip: &M3dClip,
        time: f64,
        bone: usize,
        to_root: &mut [Option<Matrix>],
    ) -> Matrix {
        if let Some(done) = to_root[bone] {
            return done;
        }
        let local = interpolate(&clip.bones[bone], time);
        let out = match m3d.bones[bone].parent {
            Some(parent) => times(&local, &resolve(m3d, clip, time, parent as usize, to_root)),
            None => local,
        };
        to_root[bone] = Some(out);
        out
    }
    let finals: Vec<Matrix> = (0..m3d.bones.len())
        .map(|bone| {
            times(
                &wide(&m3d.bones[bone].offset),
                &resolve(m3d, clip, time, bone, &mut to_root),
            )
        })
        .collect();
    let vertex = |v: &M3dVertex| {
        let [a, b, c] = [0, 1, 2].map(|i| f64::from(v.weights[i]));
        let weights = [a, b, c, 1.0 - a - b - c];
        let mut out = [0.0; 3];
        for (weight, bone) in weights.iter().zip(v.bones) {
            let moved = apply(v.position, &finals[bone as usize]);
            (0..3).for_each(|i| out[i] += weight * moved[i]);
        }
        out
    };
    m3d.vertices.iter().map(vertex).collect()
}

/// Two neighboring frames, lerp and nlerp, down the chain.
fn pose(model: &Model, clip: &SkeletalClip, time: f64) -> Vec<Affine3A> {
    let skeleton = &model.skeleton;
    // The first frame that is not earlier, and at the end the last.
    let last = clip.frame_count() - 1;
    let ended = time >= clip.timing.duration;
    let next = (0..last)
        .find(|&frame| !ended && clip.frame_time(frame) >= time)
        .unwrap_or(last);
    let frame = next.saturating_sub(1);
    let [from, to] = [frame, next].map(|frame| clip.frame_time(frame));
    let share = if from < to {
        ((time - from) / (to - from)).min(1.0) as f32
    } else {
        1.0
    };
    let mut out: Vec<Affine3A> = Vec::new();
    for joint in 0..skeleton.len() {
        let local = if clip.animates(joint) {
            let (a, b) = (
                clip.transform_at(joint, frame),
                clip.transform_at(joint, next),
            );
            assert!(
                a.rotation.dot(b.rotation) >= 0.0,
                "neighboring frames in one hemisphere"
            );
            JointTransform {
                translation: a.translation.lerp(b.translation, share),
                rotation: (a.rotation * (1.0 - share) + b.rotation * share).normalize(),
                scale: a.scale.lerp(b.scale, share),
            }
        } else {
            skeleton.rest_of(joint as u16)
        };
        let parent = skeleton.parents()[joint].map(|p| out[usize::from(p)]);
        out.push(parent.unwrap_or(Affine3A::IDENTITY) * local.to_affine());
    }
    out
}

/// Largest distance between the skinned model and the reference at times all over every clip, as a
/// share of the model's size. `to_bevy` takes the file's axes to Bevy's.
fn worst_error(m3d: &M3d, imported: &Imported, to_bevy: impl Fn([f64; 3]) -> [f64; 3]) -> f64 {
    worst_error_at(m3d, imported, to_bevy, |_, duration| {
        (0..=97).map(|i| duration * f64::from(i) / 96.0).collect()
    })
}

/// The same in the instants of the keys.
fn worst_error_at_keys(
    m3d: &M3d,
    imported: &Imported,
    to_bevy: impl Fn([f64; 3]) -> [f64; 3],
) -> f64 {
    let key_times = |clip: &M3dClip, _| {
        clip.bones
            .iter()
            .flatten()
            .map(|key| f64::from(key.time))
            .collect()
    };
    worst_error_at(m3d, imported, to_bevy, key_times)
}

fn worst_error_at(
    m3d: &M3d,
    imported: &Imported,
    to_bevy: impl Fn([f64; 3]) -> [f64; 3],
    mut times: impl FnMut(&M3dClip, f64) -> Vec<f64>,
) -> f64 {
    let model = &imported.model;
    assert_eq!(model.clips.len(), m3d.clips.len());
    let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for position in model.parts.iter().flat_map(|part| &part.positions) {
        (low, high) = (low.min(*position), high.max(*position));
    }
    let size = f64::from((high - low).length());
    let mut worst = 0f64;
    for (source, clip) in m3d.clips.iter().zip(&model.clips) {
        for time in times(source, clip.timing.duration) {
            let reference = luna(m3d, source, time);
            let joints = pose(model, clip, time);
            for part in &model.parts {
                let skin = |&joint: &u16| {
                    joints[usize::from(joint)] * model.skeleton.inverse_bind()[usize::from(joint)]
                };
                let palette: Vec<Affine3A> = part.palette.iter().map(skin).collect();
                for (v, influences) in part.influences.iter().enumerate() {
                    let moved = |i: usize| {
                        palette[usize::from(influences.palette[i])]
                            .transform_point3(part.positions[v])
                            * influences.weights[i]
                    };
                    let got = (moved(0) + moved(1) + moved(2) + moved(3))
                        .to_array()
                        .map(f64::from);
                    let expected = to_bevy(reference[part.source_vertices[v] as usize]);
                    let squared: f64 = (0..3).map(|i| (got[i] - expected[i]).powi(2)).sum();
                    worst = worst.max(squared.sqrt() / size);
                }
            }
        }
    }
    worst
}

/// A branching chain of bones with an octahedron of skin around each and a clip over random keys.
struct Maker {
    bones: usize,
    right_handed: bool,
    /// Greatest turn of a bone between two keys, in radians.
    turn: f32,
    /// Times of a bone's keys.
    key_times: fn(&mut Rng) -> Vec<f32>,
}

impl Maker {
    fn make(&self, seed: u64) -> M3d {
        let rng = &mut Rng::with_seed(seed);
        let mut m3d = M3d {
            materials: vec![
                M3dMaterial {
                    effect: Some("Skinned".into()),
                    ..M3dMaterial::default()
                };
                2
            ],
            ..M3d::default()
        };
        let mut global: Vec<Matrix> = Vec::new();
        let mut clip = M3dClip {
            name: "Take 1".into(),
            bones: Vec::new(),
        };
        for bone in 0..self.bones {
            let parent = (bone > 0).then(|| rng.usize(bone.saturating_sub(3)..bone));
            let reach = if parent.is_some() { 4.0 } else { 1.0 };
            let translation = random_vector(rng).map(|c| c * reach);
            let rotation = turned([0.0, 0.0, 0.0, 1.0], random_vector(rng), 3.0 * rng.f32());
            let scale = if bone == 0 { [0.5; 3] } else { [1.0; 3] };
            let local = affine(
                scale.map(f64::from),
                unit(rotation),
                translation.map(f64::from),
            );
            let bind = parent.map_or(local, |p: usize| times(&local, &global[p]));
            global.push(bind);
            let offset = inverse(&bind).map(|row| row.map(|c| c as f32));
            m3d.bones.push(M3dBone {
                offset,
                parent: parent.map(|p| p as u32),
            });

            let mut key = M3dKey {
                time: 0.0,
                translation,
                scale,
                rotation,
            };
            let keys = (self.key_times)(rng).into_iter().map(|time| {
                key.time = time;
                key.rotation = turned(key.rotation, random_vector(rng), self.turn * rng.f32());
                // Some exporters write either sign.
                if rng.bool() {
                    key.rotation = key.rotation.map(|c| -c);
                }
                key.translation = std::array::from_fn(|i| translation[i] + 0.2 * rng.f32());
                key
            });
            clip.bones.push(keys.collect());
        }
        for (bone, bind) in global.iter().enumerate() {
            let first = m3d.vertices.len() as u32;
            for side in 0..6 {
                let mut normal = [0.0f32; 3];
                normal[side / 2] = if side % 2 == 0 { 1.0 } else { -1.0 };
                let position = std::array::from_fn(|i| bind[3][i] as f32 + 0.5 * normal[i]);
                let near = |rng: &mut Rng| {
                    rng.usize(bone.saturating_sub(2)..(bone + 2).min(self.bones)) as u32
                };
                let (a, b, c) = (rng.f32() * 0.6, rng.f32() * 0.2, rng.f32() * 0.2);
                m3d.vertices.push(M3dVertex {
                    position,
                    normal,
                    tangent: [normal[1], normal[2], normal[0], 1.0],
                    tex_coord: [rng.f32(), rng.f32()],
                    weights: [a, b, c, 1.0 - a - b - c],
                    bones: [bone as u32, near(rng), near(rng), near(rng)],
                });
            }
            for octant in 0..8u32 {
                let [x, y, z] = [octant & 1, 2 + (octant >> 1 & 1), 4 + (octant >> 2)];
                let even = octant.count_ones() % 2 == 0;
                // Outward by the cross product in left-handed data, inward in right-handed.
                let triangle = if even != self.right_handed {
                    [x, y, z]
                } else {
                    [x, z, y]
                };
                m3d.triangles.push(triangle.map(|v| first + v));
            }
        }
        let half = (self.bones / 2) as u32;
        let all = self.bones as u32;
        let subset = |id, from: u32, to: u32| M3dSubset {
            id,
            vertex_start: 6 * from,
            vertex_count: 6 * (to - from),
            face_start: 8 * from,
            face_count: 8 * (to - from),
        };
        m3d.subsets = vec![subset(0, 0, half), subset(1, half, all)];
        m3d.clips.push(clip);
        m3d
    }
}

fn random_vector(rng: &mut Rng) -> [f32; 3] {
    std::array::from_fn(|_| 2.0 * rng.f32() - 1.0)
}

fn turned(q: [f32; 4], axis: [f32; 3], angle: f32) -> [f32; 4] {
    let axis = Vec3::from(axis).normalize_or(Vec3::X);
    (glam::Quat::from_axis_angle(axis, angle) * glam::Quat::from_array(q))
        .normalize()
        .to_array()
}

fn import(m3d: &M3d, settings: &ImportSettings) -> Imported {
    let imported = from_m3d("made.m3d", &Checked::new(m3d.clone()).unwrap(), settings).unwrap();
    for part in &imported.model.parts {
        for [a, b, c] in part.triangles.iter().map(|t| t.map(|v| v as usize)) {
            let p = &part.positions;
            let normal = part.normals[a] + part.normals[b] + part.normals[c];
            assert!(
                (p[b] - p[a]).cross(p[c] - p[a]).dot(normal) > 0.0,
                "counter-clockwise from outside"
            );
        }
    }
    imported
}

fn even_keys(_: &mut Rng) -> Vec<f32> {
    // As a 60 Hz exporter prints them.
    (0..40)
        .map(|k| ((f64::from(k) / 60.0 * 1e7).trunc() / 1e7) as f32)
        .collect()
}

fn keys_that_end_early(rng: &mut Rng) -> Vec<f32> {
    let mut times = even_keys(rng);
    times.truncate(rng.usize(20..=40));
    times
}

fn sparse_keys(_: &mut Rng) -> Vec<f32> {
    vec![0.0, 0.5, 1.0, 2.0]
}

fn odd_keys(rng: &mut Rng) -> Vec<f32> {
    let mut time = 0.3 * rng.f32();
    let step = |_| {
        time += 0.1 + 0.2 * rng.f32();
        time
    };
    (0..6).map(step).collect()
}

#[test]
fn keys_on_a_grid_are_skinned_as_luna_does_in_either_hand() {
    for (right_handed, z) in [(false, -1.0), (true, 1.0)] {
        for key_times in [even_keys, keys_that_end_early] {
            let m3d = Maker {
                bones: 24,
                right_handed,
                turn: 0.15,
                key_times,
            }
            .make(7);
            let imported = import(&m3d, &ImportSettings::default());
            assert_eq!(imported.report.right_handed, right_handed);
            assert_eq!(imported.warnings, [], "{:?}", imported.warnings);
            let to_bevy = |p: [f64; 3]| [p[0], p[1], z * p[2]];
            let error = worst_error(&m3d, &imported, to_bevy)
                .max(worst_error_at_keys(&m3d, &imported, to_bevy));
            assert!(error < f64::from(CLIP_ERROR), "{error}");
        }
    }
}

#[test]
fn wide_turns_between_sparse_keys_stay_within_the_bound() {
    for seed in 0..4 {
        let m3d = Maker {
            bones: 12,
            right_handed: true,
            turn: 2.5,
            key_times: sparse_keys,
        }
        .make(seed);
        let imported = import(&m3d, &ImportSettings::default());
        assert!(imported.warnings.is_empty(), "{:?}", imported.warnings);
        let error = worst_error(&m3d, &imported, |p| p);
        assert!(error < f64::from(CLIP_ERROR), "{error}");
        assert!(imported.model.clips[0].frame_count() < 2000);
    }
}

#[test]
fn keys_at_odd_times_stay_within_the_bound() {
    for seed in 0..3 {
        let m3d = Maker {
            bones: 10,
            right_handed: false,
            turn: 0.4,
            key_times: odd_keys,
        }
        .make(seed);
        let imported = import(&m3d, &ImportSettings::default());
        assert!(imported.warnings.is_empty(), "{:?}", imported.warnings);
        let to_bevy = |[x, y, z]: [f64; 3]| [x, y, -z];
        let error = worst_error(&m3d, &imported, to_bevy)
            .max(worst_error_at_keys(&m3d, &imported, to_bevy));
        assert!(error < f64::from(CLIP_ERROR), "{error}");
        assert!(imported.model.clips[0].frame_count() < 4000);
    }
}

#[test]
fn the_last_weight_is_what_the_others_leave_of_one_whatever_is_written() {
    let mut m3d = Maker {
        bones: 8,
        right_handed: true,
        turn: 0.1,
        key_times: even_keys,
    }
    .make(13);
    for (at, vertex) in m3d.vertices.iter_mut().enumerate() {
        vertex.weights[3] = [0.0, 0.25, 0.9][at % 3];
    }
    let imported = import(&m3d, &ImportSettings::default());
    assert!(imported.warnings.is_empty(), "{:?}", imported.warnings);
    let error = worst_error(&m3d, &imported, |p| p);
    assert!(error < f64::from(CLIP_ERROR), "{error}");
}

#[test]
fn up_axis_scale_and_a_forced_hand_are_followed() {
    let m3d = Maker {
        bones: 8,
        right_handed: true,
        turn: 0.1,
        key_times: even_keys,
    }
    .make(3);
    let settings = ImportSettings {
        scale: 0.25,
        up: UpAxis::Z,
        hand: Hand::Auto,
        ..ImportSettings::default()
    };
    let imported = import(&m3d, &settings);
    let error = worst_error(&m3d, &imported, |[x, y, z]| [-y, z, -x].map(|c| c * 0.25));
    assert!(error < f64::from(CLIP_ERROR), "{error}");

    let forced = import(
        &m3d,
        &ImportSettings {
            hand: Hand::Left,
            ..ImportSettings::default()
        },
    );
    let error = worst_error(&m3d, &forced, |[x, y, z]| [x, y, -z]);
    assert!(error < f64::from(CLIP_ERROR), "{error}");
}

#[test]
fn an_exported_model_is_imported_as_it_was() {
    let m3d = Maker {
        bones: 24,
        right_handed: true,
        turn: 0.1,
        key_times: even_keys,
    }
    .make(11);
    let model = import(&m3d, &ImportSettings::default()).model;
    let exported = to_m3d(&model);
    let text = parse("made.m3d", write(&exported).as_bytes()).unwrap();
    assert_eq!(*text.value, exported);
    for hand in [Hand::Auto, Hand::Right] {
        let again = import(
            &exported,
            &ImportSettings {
                hand,
                ..ImportSettings::default()
            },
        );
        assert!(again.report.right_handed && again.warnings.is_empty());
        let again = again.model;
        assert_eq!(again.materials, model.materials);
        assert_eq!(again.skeleton.parents(), model.skeleton.parents());
        assert_eq!(again.skeleton.inverse_bind(), model.skeleton.inverse_bind());
        assert_eq!(again.parts.len(), 2);
        for (a, b) in again.parts.iter().zip(&model.parts) {
            assert_eq!(
                (&a.name, a.material, &a.palette),
                (&b.name, b.material, &b.palette)
            );
            assert_eq!(
                (&a.positions, &a.tex_coords, &a.triangles),
                (&b.positions, &b.tex_coords, &b.triangles)
            );
            let close = |a: Vec3, b: Vec3| a.distance(b) < 1e-6;
            assert!(a.normals.iter().zip(&b.normals).all(|(a, b)| close(*a, *b)));
            assert!(
                a.tangents
                    .iter()
                    .zip(&b.tangents)
                    .all(|(a, b)| close(a.truncate(), b.truncate()) && a.w == b.w)
            );
            for (a, b) in a.influences.iter().zip(&b.influences) {
                let close = a
                    .weights
                    .iter()
                    .zip(b.weights)
                    .all(|(a, b)| (a - b).abs() < 1e-6);
                assert!(close && a.palette == b.palette, "{a:?} {b:?}");
            }
        }
        let (a, b) = (&again.clips[0], &model.clips[0]);
        assert_eq!(
            (&a.timing.name, a.frame_count()),
            (&b.timing.name, b.frame_count())
        );
        assert!((a.timing.duration - b.timing.duration).abs() < 1e-6);
        let frames = a
            .to_frames()
            .transforms
            .into_iter()
            .zip(b.to_frames().transforms);
        for (a, b) in frames {
            assert!(
                a.translation.abs_diff_eq(b.translation, 1e-6)
                    && a.rotation.abs_diff_eq(b.rotation, 1e-6)
            );
        }
    }
}

#[test]
fn a_clip_whose_keys_all_stand_at_zero_is_a_single_pose() {
    let mut m3d = Maker {
        bones: 4,
        right_handed: true,
        turn: 0.1,
        key_times: even_keys,
    }
    .make(1);
    m3d.clips[0]
        .bones
        .iter_mut()
        .flatten()
        .for_each(|key| key.time = 0.0);
    let imported = import(&m3d, &ImportSettings::default());
    let clip = &imported.model.clips[0];
    assert_eq!(
        (clip.frame_count(), clip.timing.duration, clip.frame_rate()),
        (1, 0.0, None)
    );
    assert!(worst_error(&m3d, &imported, |p| p) < 1e-5);
}
