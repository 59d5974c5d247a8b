//! Broken and odd numbers: repaired, and never infinite.

use super::*;
use crate::messages::assert_messages;

#[test]
fn broken_vertices_keys_and_subsets_are_repaired_with_warnings() {
    let mut m3d = Maker {
        bones: 4,
        right_handed: true,
        turn: 0.1,
        key_times: even_keys,
    }
    .make(5);
    m3d.subsets[0].id = u32::MAX;
    m3d.subsets[1].vertex_count = 0;
    m3d.vertices[0].normal = [0.0; 3];
    m3d.vertices[1].position[1] = f32::MAX;
    m3d.vertices[2].weights = [1.0, -0.01, -0.01, 0.02];
    m3d.vertices[3].tex_coord = [f32::MAX, 0.0];
    m3d.clips[0].bones[1]
        .iter_mut()
        .for_each(|key| (key.scale, key.rotation) = ([0.0; 3], [0.0; 4]));
    m3d.clips[0].bones[2].clear();
    let imported = from_m3d(
        "broken.m3d",
        &Checked::new(m3d).unwrap(),
        &ImportSettings::default(),
    )
    .unwrap();
    let model = &imported.model;
    assert_eq!(model.parts.len(), 2);
    assert_eq!([model.parts[0].material, model.parts[1].material], [0, 1]);
    for part in &model.parts {
        assert_eq!(part.triangles.len(), 16);
        assert!(
            part.positions.iter().all(|p| p.is_finite())
                && part.tex_coords.iter().all(|t| t.is_finite())
        );
        assert!(part.normals.iter().all(|n| n.is_normalized()));
        assert!(
            part.tangents
                .iter()
                .all(|t| t.truncate().is_normalized() && t.w.abs() == 1.0)
        );
        for influences in &part.influences {
            assert!(influences.weights.iter().all(|w| *w >= 0.0));
            assert!((influences.weights.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        }
    }
    assert_eq!(
        [0, 1, 2, 3].map(|joint| model.clips[0].animates(joint)),
        [true, false, false, true]
    );
    assert_messages("m3d: odd numbers", &imported.warnings);
}

/// Numbers as no exporter should write them.
fn odd_number(rng: &mut Rng) -> f32 {
    const ODD: [f32; 9] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        f32::MAX,
        f32::MIN,
        f32::MIN_POSITIVE,
        1e-40,
        1e20,
    ];
    if rng.u8(..4) == 0 {
        ODD[rng.usize(..ODD.len())]
    } else {
        rng.f32() * 4.0 - 2.0
    }
}

fn odd_numbers<const N: usize>(rng: &mut Rng) -> [f32; N] {
    std::array::from_fn(|_| odd_number(rng))
}

fn odd_m3d(rng: &mut Rng) -> M3d {
    let (bones, vertices) = (rng.usize(..5), rng.usize(1..12));
    let bone = |rng: &mut Rng| rng.u32(..bones.max(1) as u32);
    let mut m3d = M3d::default();
    for _ in 0..vertices {
        m3d.vertices.push(M3dVertex {
            position: odd_numbers(rng),
            tangent: odd_numbers(rng),
            normal: odd_numbers(rng),
            tex_coord: odd_numbers(rng),
            weights: odd_numbers(rng),
            bones: std::array::from_fn(|_| bone(rng)),
        });
    }
    m3d.triangles = (0..rng.usize(..20))
        .map(|_| std::array::from_fn(|_| rng.u32(..vertices as u32)))
        .collect();
    for _ in 0..rng.usize(..4) {
        let range = |rng: &mut Rng, length: usize| {
            let start = rng.u32(..=length as u32);
            (start, rng.u32(..=length as u32 - start))
        };
        let (vertex_start, vertex_count) = range(rng, vertices);
        let (face_start, face_count) = range(rng, m3d.triangles.len());
        let id = if rng.u8(..8) == 0 {
            rng.u32(..)
        } else {
            rng.u32(..20)
        };
        m3d.subsets.push(M3dSubset {
            id,
            vertex_start,
            vertex_count,
            face_start,
            face_count,
        });
    }
    m3d.materials = vec![
        M3dMaterial {
            diffuse: odd_numbers(rng),
            ..M3dMaterial::default()
        };
        rng.usize(..3)
    ];
    for bone in 0..bones as u32 {
        let mut offset = IDENTITY.map(|row| row.map(|c| c as f32));
        offset[rng.usize(..4)][rng.usize(..4)] = odd_number(rng);
        m3d.bones.push(M3dBone {
            offset,
            parent: (bone > 0 && rng.bool()).then(|| rng.u32(..bone)),
        });
    }
    for _ in 0..rng.usize(..3) {
        let keys = |rng: &mut Rng| {
            let key = |rng: &mut Rng| M3dKey {
                time: odd_number(rng),
                translation: odd_numbers(rng),
                scale: odd_numbers(rng),
                rotation: odd_numbers(rng),
            };
            let mut keys: Vec<M3dKey> = (0..rng.usize(..5)).map(|_| key(rng)).collect();
            keys.sort_by(|a, b| a.time.total_cmp(&b.time));
            keys
        };
        m3d.clips.push(M3dClip {
            name: String::new(),
            bones: (0..bones).map(|_| keys(rng)).collect(),
        });
    }
    m3d
}

#[test]
fn whatever_the_numbers_the_model_is_finite_and_its_frames_are_unit() {
    let rng = &mut Rng::with_seed(1);
    for round in 0..3000 {
        let m3d = Checked::new(odd_m3d(rng)).unwrap();
        let settings = ImportSettings {
            hand: *rng.choice(&[Hand::Auto, Hand::Left]).unwrap(),
            ..Default::default()
        };
        let Ok(imported) = from_m3d("odd.m3d", &m3d, &settings) else {
            continue;
        };
        for part in &imported.model.parts {
            let vertices = part.positions.len();
            assert!(part.material < imported.model.materials.len());
            assert_eq!(
                [
                    part.normals.len(),
                    part.tangents.len(),
                    part.tex_coords.len()
                ],
                [vertices; 3]
            );
            assert!(part.positions.iter().all(|p| p.is_finite()), "{round}");
            assert!(
                part.normals.iter().all(|n| n.is_normalized()),
                "{round}: {:?}",
                part.normals
            );
            for (tangent, normal) in part.tangents.iter().zip(&part.normals) {
                assert!(
                    tangent.truncate().is_normalized() && tangent.w.abs() == 1.0,
                    "{round}: {tangent}"
                );
                assert!(
                    tangent.truncate().dot(*normal).abs() < 0.99996,
                    "{round}: {tangent} along {normal}"
                );
            }
            assert!(
                part.triangles
                    .iter()
                    .flatten()
                    .all(|&v| (v as usize) < vertices)
            );
            assert_eq!(
                part.influences.len(),
                if m3d.bones.is_empty() { 0 } else { vertices }
            );
            for influences in &part.influences {
                assert!(
                    (influences.weights.iter().sum::<f32>() - 1.0).abs() < 1e-5,
                    "{round}: {influences:?}"
                );
                assert!(
                    influences
                        .palette
                        .iter()
                        .all(|&slot| usize::from(slot) < part.palette.len())
                );
            }
        }
        for clip in &imported.model.clips {
            assert!(
                clip.to_frames()
                    .transforms
                    .iter()
                    .all(|t| t.is_finite() && t.rotation.is_normalized()),
                "{round}"
            );
        }
        // What came out is sound enough to be written and read again.
        let written = Checked::new(to_m3d(&imported.model)).unwrap();
        let again = from_m3d("odd.m3d", &written, &ImportSettings::default()).unwrap();
        assert_eq!(again.model.parts.len(), imported.model.parts.len());
    }
}
