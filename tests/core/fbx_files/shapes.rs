//! Blend shapes, against the library's own evaluation.

use super::{
    BOUND,
    clips::variants,
    file::{After, File, Y_UP, Z_UP},
    import, import_with_warnings, open,
    reference::{error, error_of_clip, size},
    scenes::{FACES, arm, tetrahedron},
};
use crate::messages::assert_message;
use bevy_marionette::{
    import::{ImportLimits, ImportSettings, Imported, open_model},
    internals::pose::MorphVertices,
    model::{Model, SkinPart},
};
use fastrand::Rng;
use glam::Vec3;

fn names(imported: &Imported) -> Vec<&str> {
    let names = imported.model.skeleton.morphs().names().iter();
    names.map(|name| &**name).collect()
}

/// Random moves of some vertices of a tetrahedron.
fn moves(random: &mut Rng) -> Vec<(usize, [f64; 3])> {
    let mut moved: Vec<usize> = (0..4).filter(|_| random.u8(..4) > 0).collect();
    if moved.is_empty() {
        moved.push(2);
    }
    moved
        .into_iter()
        .map(|at| (at, [0; 3].map(|_| random.f64() - 0.5)))
        .collect()
}

/// Random keys of a weight in percent, up to a second.
fn keys(random: &mut Rng, most: f64) -> Vec<(f64, f64, After)> {
    let count = random.usize(2..6);
    (0..count)
        .map(|key| {
            let after = match random.u8(..3) {
                0 => After::Step,
                1 => After::Linear,
                _ => After::Cubic(random.f64() * 300.0 - 150.0, random.f64() * 300.0 - 150.0),
            };
            let time = key as f64 / (count - 1) as f64;
            (time, (random.f64() * 1.4 - 0.2) * most, after)
        })
        .collect()
}

#[test]
fn shapes_move_vertices_as_the_library_says_at_rest_at_keys_and_between() {
    let mut worst = 0.0_f64;
    for round in variants(60) {
        let mut random = Rng::with_seed(round);
        let axes = if random.bool() { Y_UP } else { Z_UP };
        let mut file = File::new(axes, [1.0, 2.54, 100.0][random.usize(..3)]);
        let [root, _, _, skinned] = arm(&mut file);
        // One that moves with its node, turned and scaled.
        let pose = [
            ("Lcl Translation", [4.0, 1.0, 0.0]),
            ("Lcl Rotation", [30.0, -50.0, 70.0]),
            ("Lcl Scaling", [1.0, 2.0, 0.5]),
            ("GeometricTranslation", [0.2, 0.0, 0.1]),
        ];
        let node = file.node("rigid", "Mesh", 0, &pose);
        let rigid = file.mesh(node, &tetrahedron([1.0; 3]), &FACES, "");
        let mut channels = Vec::new();
        for (mesh, name) in [(skinned, "smile"), (skinned, "jaw"), (rigid, "blink")] {
            let [first, second, third] = [(); 3].map(|()| moves(&mut random));
            // Some have shapes in between, or on the other side.
            let shapes: &[(f64, &[(usize, [f64; 3])])] = match random.u8(..4) {
                0 => &[(40.0, &first), (100.0, &second)],
                1 => &[(-100.0, &first), (50.0, &second), (100.0, &third)],
                _ => &[(100.0, &first)],
            };
            let rest = [0.0, 0.0, random.f64() * 120.0][random.usize(..3)];
            channels.push(file.shapes(mesh, name, rest, shapes));
        }
        for clip in ["talk", "laugh"] {
            let (stack, layer) = file.stack(clip, [0.0, 1.0]);
            let turns = [(0.0, 0.0, After::Linear), (1.0, 80.0, After::Linear)];
            if random.bool() {
                file.animate(layer, root, "Lcl Rotation", &[("X", &turns)], "");
            }
            let moved = 1 + random.usize(..channels.len());
            for &channel in &channels[..moved] {
                let keys = keys(&mut random, 100.0);
                file.animate(
                    layer,
                    channel,
                    "DeformPercent",
                    &[("DeformPercent", &keys)],
                    "",
                );
            }
            if random.u8(..3) == 0 {
                let more = file.layer(stack, 60.0, true);
                let keys = keys(&mut random, 50.0);
                file.animate(
                    more,
                    channels[0],
                    "DeformPercent",
                    &[("DeformPercent", &keys)],
                    "",
                );
            }
        }
        let (imported, reference) = import(&file.text(), &[]);
        let at_rest = reference.at_rest();
        let off = error(&at_rest, size(&at_rest), &imported, None, 0.0);
        assert!(off < 1e-6, "round {round}: {off:.1e}");
        assert_eq!(imported.model.clips.len(), 2);
        for (stack, clip) in imported.model.clips.iter().enumerate() {
            assert!(clip.animates_morphs());
            let off = error_of_clip(&reference, stack, &imported, clip);
            assert!(
                off < BOUND,
                "round {round}, {}: {off:.1e}",
                clip.timing.name
            );
            worst = worst.max(off);
        }
    }
    println!("worst {worst:.1e}");
    assert!(worst > 0.0);
}

#[test]
fn shapes_have_the_names_of_their_channels_which_meshes_share_if_they_move_alike() {
    let mut file = File::default();
    let mut meshes = Vec::new();
    for name in ["face", "teeth", "tongue"] {
        let node = file.node(name, "Mesh", 0, &[]);
        meshes.push(file.mesh(node, &tetrahedron([0.0; 3]), &FACES, ""));
    }
    let up: &[(usize, [f64; 3])] = &[(3, [0.0, 1.0, 0.0])];
    let half: &[(usize, [f64; 3])] = &[(3, [1.0, 0.0, 0.0])];
    file.shapes(meshes[0], "open", 0.0, &[(50.0, half), (100.0, up)]);
    let face = file.shapes(meshes[0], "smile", 0.0, &[(100.0, up)]);
    // Maya puts the deformer's name in front.
    file.shapes(meshes[1], "shapes.smile", 0.0, &[(100.0, up)]);
    file.shapes(meshes[2], "open", 0.0, &[(100.0, up)]);
    let (imported, _) = import(&file.text(), &[]);
    assert_eq!(names(&imported), ["open.50", "open", "smile"]);
    assert_eq!(imported.model.skeleton.morphs().rest(), [0.0; 3]);
    let morphs = |part: usize| {
        let targets = imported.model.parts[part].morphs.iter();
        targets.map(|target| target.morph).collect::<Vec<_>>()
    };
    assert_eq!(
        [morphs(0), morphs(1), morphs(2)],
        [vec![0, 1, 2], vec![2], vec![1]]
    );
    // An animation that moves one of them only takes them apart.
    let (_, layer) = file.stack("grin", [0.0, 1.0]);
    let keys = [(0.0, 0.0, After::Linear), (1.0, 100.0, After::Linear)];
    file.animate(
        layer,
        face,
        "DeformPercent",
        &[("DeformPercent", &keys)],
        "",
    );
    let (imported, reference) =
        import_with_warnings(&file.text(), "fbx: morph targets that share a name");
    assert_eq!(names(&imported), ["open.50", "open", "smile", "smile.2"]);
    let clip = &imported.model.clips[0];
    assert_eq!(
        [2, 3].map(|morph| clip.animates_morph(morph)),
        [true, false]
    );
    // Nothing else moves, and the clip is there.
    assert_eq!((clip.timing.duration, clip.animates(0)), (1.0, false));
    assert!(error_of_clip(&reference, 0, &imported, clip) < 1e-6);
}

#[test]
fn normals_are_those_of_the_mesh_that_a_shape_makes() {
    let mut file = File::default();
    let node = file.node("face", "Mesh", 0, &[]);
    // A sheet of two by two squares, that a shape tilts.
    let points: Vec<[f64; 3]> = (0..9)
        .map(|at| [f64::from(at % 3), 0.0, f64::from(at / 3)])
        .collect();
    let corners: Vec<[i32; 4]> = [0, 1, 3, 4].map(|at| [at, at + 3, at + 4, at + 1]).into();
    let polygons: Vec<&[i32]> = corners.iter().map(|corners| &corners[..]).collect();
    let mesh = file.mesh(node, &points, &polygons, "");
    let tilt: Vec<(usize, [f64; 3])> = points
        .iter()
        .enumerate()
        .map(|(at, point)| (at, [0.0, point[0], 0.0]))
        .collect();
    file.shapes(mesh, "tilt", 0.0, &[(100.0, &tilt)]);
    let (imported, _) = import(&file.text(), &[]);
    let part = &imported.model.parts[0];
    let mut normals = vec![Vec3::ZERO; part.positions.len()];
    let job = MorphVertices {
        part,
        weights: &[1.0],
    };
    job.normals(&mut normals);
    for (normal, rest) in normals.iter().zip(&part.normals) {
        assert!(rest.distance(Vec3::Y) < 1e-6, "{rest}");
        // Turned by half a turn around Y.
        let tilted = Vec3::new(1.0, 1.0, 0.0).normalize();
        assert!(normal.distance(tilted) < 1e-6, "{normal}");
    }
}

#[test]
fn normals_are_smooth_across_the_materials_of_a_mesh() {
    let sheet = |more: &str| {
        let mut file = File::default();
        let node = file.node("face", "Mesh", 0, &[]);
        for name in ["skin", "lips"] {
            let material = file.object("Material", "Material", name, "", "");
            file.connect(material, node);
        }
        let points: Vec<[f64; 3]> = (0..9)
            .map(|at| [f64::from(at % 3), 0.0, f64::from(at / 3)])
            .collect();
        let corners: Vec<[i32; 4]> = [0, 1, 3, 4].map(|at| [at, at + 3, at + 4, at + 1]).into();
        let polygons: Vec<&[i32]> = corners.iter().map(|corners| &corners[..]).collect();
        let mesh = file.mesh(node, &points, &polygons, more);
        // A ridge where the materials meet, and one that moves no vertex of the second.
        let ridge: Vec<_> = [1, 4, 7].map(|at| (at, [0.0, 0.5, 0.0])).into();
        let edge: Vec<_> = [0, 3, 6].map(|at| (at, [0.0, 0.5, 0.0])).into();
        file.shapes(mesh, "ridge", 0.0, &[(100.0, &ridge)]);
        file.shapes(mesh, "edge", 0.0, &[(100.0, &edge)]);
        let (imported, _) = import(&file.text(), &[]);
        imported.model
    };
    let halves = "LayerElementMaterial: 0 {\nMappingInformationType: \"ByPolygon\"\n\
                  ReferenceInformationType: \"IndexToDirect\"\nMaterials: *4 { a: 0,1,0,1 }\n}\n";
    let (whole, parted) = (sheet(""), sheet(halves));
    assert_eq!([whole.parts.len(), parted.parts.len()], [1, 2]);
    for weights in [[1.0, 0.0], [0.0, 1.0], [0.7, -0.4]] {
        let shown = |model: &Model| {
            let of_part = |part: &SkinPart| {
                let job = MorphVertices {
                    part,
                    weights: &weights,
                };
                let mut normals = vec![Vec3::ZERO; part.positions.len()];
                job.normals(&mut normals);
                let vertices = part.source_vertices.clone();
                vertices.into_iter().zip(normals).collect::<Vec<_>>()
            };
            model.parts.iter().flat_map(of_part).collect::<Vec<_>>()
        };
        let whole = shown(&whole);
        for (vertex, normal) in shown(&parted) {
            let (_, expected) = whole.iter().find(|(other, _)| *other == vertex).unwrap();
            assert!(
                normal.distance(*expected) < 1e-6,
                "{vertex}: {normal} {expected}"
            );
        }
    }
}

#[test]
fn limits_hold_for_shapes() {
    let mut file = File::default();
    let [.., mesh] = arm(&mut file);
    for name in ["a", "b", "c"] {
        file.shapes(
            mesh,
            name,
            0.0,
            &[(100.0, &[(1, [0.0, 1.0, 0.0]), (2, [0.0, 1.0, 0.0])])],
        );
    }
    let text = file.text();
    let open = |change: &dyn Fn(&mut ImportLimits)| {
        let mut settings = ImportSettings::default();
        change(&mut settings.limits);
        open_model("f.fbx", text.as_bytes(), &settings)
    };
    // Vertices beside those of the file count, too: their normals change.
    let imported = open(&|_| ()).unwrap();
    let targets = imported.model.parts.iter().flat_map(|part| &part.morphs);
    let moved = targets.map(|target| target.vertices.len() as u32).sum();
    assert!(moved > 6, "{moved}");
    let enough = |limits: &mut ImportLimits| (limits.morphs, limits.morph_vertices) = (3, moved);
    assert!(open(&enough).is_ok());
    let error = open(&|limits| limits.morphs = 2).unwrap_err();
    assert_message("fbx: limit of morphs", error);
    let error = open(&|limits| limits.morph_vertices = moved - 1).unwrap_err();
    assert_message("fbx: limit of morph_vertices", error);
}

#[test]
fn damaged_shapes_are_refused_or_read_but_never_panic() {
    let mut file = File::default();
    let [.., mesh] = arm(&mut file);
    let moved: &[(usize, [f64; 3])] = &[(0, [0.1, 0.2, 0.3]), (3, [0.0, 1.0, 0.0])];
    let channel = file.shapes(mesh, "a", 20.0, &[(30.0, moved), (100.0, moved)]);
    let (_, layer) = file.stack("talk", [0.0, 1.0]);
    let keys = [
        (0.0, 0.0, After::Cubic(9.0, 9.0)),
        (1.0, 100.0, After::Step),
    ];
    file.animate(
        layer,
        channel,
        "DeformPercent",
        &[("DeformPercent", &keys)],
        "",
    );
    let text = file.text();
    let mut read = 0;
    let mut random = Rng::with_seed(42);
    for _ in 0..400 {
        let mut damaged = text.clone().into_bytes();
        for _ in 0..1 + random.usize(..3) {
            let (at, length) = (random.usize(..damaged.len() - 40), random.usize(..40));
            match random.u8(..3) {
                0 => drop(damaged.drain(at..at + length)),
                1 => damaged[at] = b"0123456789-.eE,:*{}"[random.usize(..19)],
                _ => {
                    let piece = damaged[at..at + length].to_vec();
                    let to = random.usize(..damaged.len());
                    damaged.splice(to..to, piece);
                }
            }
        }
        read += usize::from(open(&damaged).is_ok());
    }
    // Numbers that no artist means.
    for number in ["NaN", "inf", "1e300", "-1e300", "1e-320"] {
        for place in ["0.1,0.2,0.3", "30,100"] {
            let text = text.replace(
                place,
                &place.replacen(|c: char| c.is_ascii_digit(), number, 1),
            );
            if let Ok(imported) = open(text.as_bytes()) {
                let targets = imported.model.parts.iter().flat_map(|part| &part.morphs);
                let mut offsets = targets.flat_map(|target| &target.positions);
                assert!(offsets.all(|offset| offset.is_finite()));
                read += 1;
            }
        }
    }
    assert!(read > 10, "{read}");
}
