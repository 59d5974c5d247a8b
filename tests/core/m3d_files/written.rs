//! What is written reads back, and whatever is damaged gets an answer.

use super::*;

#[test]
fn what_was_read_is_written_and_read_the_same() {
    let m = sound(DX12);
    assert_eq!(sound(&write(&m)), m);
}

#[test]
fn what_dx12_cannot_say_is_said_otherwise_once() {
    for text in SAMPLES {
        let m = sound(text);
        let once = sound(&write(&m));
        assert_eq!(once.dialect, Dialect::Dx12);
        assert_eq!(
            (&once.vertices, &once.triangles, &once.subsets),
            (&m.vertices, &m.triangles, &m.subsets)
        );
        assert_eq!((&once.bones, &once.clips), (&m.bones, &m.clips));
        assert_eq!(sound(&write(&once)), once);
        assert_eq!(write(&sound(&write(&once))), write(&once));
    }
    let stone = &sound(&write(&sound(DX11))).materials[0];
    assert_eq!(
        (stone.name.as_deref(), stone.fresnel0),
        (Some("Material0"), Some([0.04; 3]))
    );
    assert_eq!(stone.roughness, Some((0.2f32).powf(0.25)));
}

/// Text for names: no line ends, no blanks around, and none of the words for nothing.
fn name() -> impl Strategy<Value = String> {
    "[!-~é][ -~é]{0,12}[!-~é]".prop_filter("a word for nothing", |s| {
        !["NULL", "None", "none"].contains(&s.as_str())
    })
}

fn number() -> impl Strategy<Value = f32> {
    prop_oneof![
        -100.0f32..100.0,
        proptest::num::f32::NORMAL | proptest::num::f32::SUBNORMAL | proptest::num::f32::ZERO,
        Just(0.0),
        Just(1.0),
    ]
}

fn material() -> impl Strategy<Value = M3dMaterial> {
    let maps = (proptest::option::of(name()), proptest::option::of(name()));
    let shine = (
        [number(), number(), number()],
        [number(), number(), number()],
        number(),
    );
    (name(), shine, any::<bool>(), name(), maps).prop_map(
        |(name, (diffuse, fresnel0, roughness), alpha_clip, effect, maps)| M3dMaterial {
            name: Some(name),
            diffuse,
            fresnel0: Some(fresnel0),
            roughness: Some(roughness),
            alpha_clip,
            effect: Some(effect),
            diffuse_map: maps.0,
            normal_map: maps.1,
            ..Default::default()
        },
    )
}

fn vertex(bones: u32) -> impl Strategy<Value = M3dVertex> {
    (
        proptest::array::uniform12(number()),
        proptest::array::uniform4(number()),
        proptest::array::uniform4(0..bones.max(1)),
    )
        .prop_map(move |(n, weights, joints)| M3dVertex {
            position: [n[0], n[1], n[2]],
            tangent: [n[3], n[4], n[5], n[6]],
            normal: [n[7], n[8], n[9]],
            tex_coord: [n[10], n[11]],
            weights: if bones > 0 { weights } else { [0.0; 4] },
            bones: joints,
        })
}

fn keys() -> impl Strategy<Value = Vec<M3dKey>> {
    let key = (number(), proptest::array::uniform10(number())).prop_map(|(time, n)| M3dKey {
        time,
        translation: [n[0], n[1], n[2]],
        scale: [n[3], n[4], n[5]],
        rotation: [n[6], n[7], n[8], n[9]],
    });
    proptest::collection::vec(key, 0..4).prop_map(|mut keys| {
        keys.sort_by(|a, b| a.time.total_cmp(&b.time));
        keys
    })
}

/// A model that keeps the promises and that the DX12 dialect can say.
fn model() -> impl Strategy<Value = M3d> {
    (1..6u32, 1..5usize, 0..4usize).prop_flat_map(|(vertices, triangles, bones)| {
        let bone = |index: usize| {
            let parent = if index == 0 {
                Just(None).boxed()
            } else {
                proptest::option::of(0..index as u32).boxed()
            };
            let offset = proptest::array::uniform4(proptest::array::uniform4(number()));
            (offset, parent).prop_map(|(offset, parent)| M3dBone { offset, parent })
        };
        let clip = (name(), proptest::collection::vec(keys(), bones))
            .prop_map(|(name, bones)| M3dClip { name, bones });
        let subset = (any::<u32>(), 0..vertices, 0..triangles as u32).prop_map(
            move |(id, vertex_start, face_start)| M3dSubset {
                id,
                vertex_start,
                vertex_count: vertices - vertex_start,
                face_start,
                face_count: triangles as u32 - face_start,
            },
        );
        let subsets = proptest::collection::vec(subset, 1..5);
        (
            proptest::collection::vec(material(), 0..3),
            subsets,
            proptest::collection::vec(vertex(bones as u32), vertices as usize),
            proptest::collection::vec(proptest::array::uniform3(0..vertices), triangles),
            (0..bones).map(bone).collect::<Vec<_>>(),
            proptest::collection::vec(clip, if bones > 0 { 0..3 } else { 0..1 }),
        )
            .prop_map(
                |(materials, subsets, vertices, triangles, bones, clips)| M3d {
                    dialect: Dialect::Dx12,
                    materials,
                    subsets,
                    vertices,
                    triangles,
                    bones,
                    clips,
                },
            )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_model_is_written_and_read_the_same(m in model()) {
        let text = write(&m);
        let parsed = parse("random.m3d", text.as_bytes()).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_promises(&parsed.value);
        // Bits, not values: the zeros' signs are kept, too.
        prop_assert_eq!(format!("{:?}", parsed.value), format!("{m:?}"));
    }
}

#[test]
fn a_cut_anywhere_is_an_answer() {
    for text in SAMPLES {
        for length in 0..text.len() {
            match parse("cut.m3d", &text.as_bytes()[..length]) {
                Ok(parsed) => assert_promises(&parsed.value),
                Err(error) => assert!(error.errors().count() > 0 && !error.to_string().is_empty()),
            }
        }
    }
}

#[test]
fn edits_anywhere_are_an_answer() {
    let mut random = fastrand::Rng::with_seed(3);
    let pieces = [
        "",
        "-",
        "{",
        "}",
        "*",
        "---",
        "\n",
        " 4294967296 ",
        "1e39",
        "nan",
        ":",
        "#",
        "\0",
        "é",
        "P:",
        "\"",
        "T: 1 2",
    ];
    for text in SAMPLES {
        for _ in 0..3000 {
            let mut bytes = text.as_bytes().to_vec();
            for _ in 0..random.usize(1..6) {
                let from = random.usize(..bytes.len());
                let to = (from + random.usize(..12)).min(bytes.len());
                match random.u8(..4) {
                    0 => bytes[from] = random.u8(..),
                    1 => drop(bytes.drain(from..to)),
                    2 => drop(bytes.splice(from..to, random.choice(pieces).unwrap_or("").bytes())),
                    _ => {
                        let piece = bytes[from..to].to_vec();
                        let at = random.usize(..bytes.len());
                        drop(bytes.splice(at..at, piece));
                    }
                }
            }
            if let Ok(parsed) = parse("edited.m3d", &bytes) {
                assert_promises(&parsed.value);
                let once =
                    parse("again.m3d", write(&parsed.value).as_bytes()).map(|again| again.value);
                let twice = once
                    .as_ref()
                    .map(|once| parse("more.m3d", write(once).as_bytes()).map(|again| again.value));
                if let (Ok(once), Ok(Ok(twice))) = (&once, &twice) {
                    assert_eq!(once, twice);
                } else {
                    panic!("{once:?} {twice:?}\n{}", write(&parsed.value));
                }
            }
        }
    }
}
