//! `.glb` files that `to_glb` writes, read and posed by the specification's formulas in double precision.

mod round_trips;
mod specification;

use crate::drawn::drawn;
use crate::messages::{assert_message, assert_messages};
use bevy_marionette::{
    controller::BlendMode,
    import::{FileKind, ImportLimits, ImportSettings, Manifest, open_manifest, open_model},
    internals::{
        format::{Checked, Parsed},
        import::{
            EmbeddedManifest, GlbTexture, TextureMap, clip_from_md5, from_md5, open_clips, to_glb,
            to_md5_anim, to_md5_mesh,
        },
        model::{BoundingBox, Maps, MipFilter, Sampler, TextureFilter, TextureWrap, UvTransform},
        pose::{ClipLayer, Evaluate, Scratch},
    },
    model::{
        ClipFrames, ClipTiming, Influences, Joint, JointTransform, Material, Model, PlaybackMode,
        SkeletalClip, Skeleton, SkinPart,
    },
};
use glam::{Affine3A, DVec3, Quat, Vec2, Vec3, Vec4};
use serde_json::json;
use specification::Gltf;
use std::{env, fs, path::PathBuf, sync::Arc};

fn written(model: &Model) -> Gltf {
    let Parsed { value, .. } = to_glb("hero.glb", model, None, |_, _| None).unwrap();
    Gltf::read(&value)
}

/// Positions of a model's parts as this crate poses them, in glTF's axes: the front is at +Z.
fn posed(model: &Model, clip: Option<&SkeletalClip>, time: f64) -> Vec<Vec<DVec3>> {
    let mode = |clip: &SkeletalClip| {
        if clip.additive {
            BlendMode::Additive
        } else {
            BlendMode::Blend
        }
    };
    let layer = |clip| ClipLayer {
        mode: mode(clip),
        ..ClipLayer::new(clip, time)
    };
    let layers: Vec<ClipLayer> = clip.map(layer).into_iter().collect();
    let mut pose = Scratch::default();
    Evaluate::new(&model.skeleton, &layers).run(&mut pose);
    let of_part = |part: &SkinPart| {
        let out = drawn(&model.skeleton, part, pose.model());
        out.into_iter()
            .map(|p| DVec3::new(-f64::from(p.x), p.y.into(), -f64::from(p.z)))
            .collect()
    };
    model
        .parts
        .iter()
        .filter(|part| !part.triangles.is_empty())
        .map(of_part)
        .collect()
}

/// The largest distance between a model posed here and its `.glb` posed by the specification, over the model's size, at
/// rest, at and between the frames of every clip.
fn largest_error(model: &Model) -> f64 {
    let gltf = written(model);
    gltf.check();
    let points = model
        .parts
        .iter()
        .flat_map(|part| part.positions.iter().copied());
    let size = f64::from(BoundingBox::enclosing(points).unwrap().diagonal());
    let distance = |ours: &[Vec<DVec3>], theirs: &[Vec<DVec3>]| {
        assert_eq!(
            ours.iter().map(Vec::len).collect::<Vec<_>>(),
            theirs.iter().map(Vec::len).collect::<Vec<_>>()
        );
        let pairs = ours.iter().flatten().zip(theirs.iter().flatten());
        pairs
            .map(|(a, b)| a.distance(*b) / size)
            .fold(0.0, f64::max)
    };
    let mut largest = distance(&posed(model, None, 0.0), &gltf.posed(None, 0.0));
    let mut random = fastrand::Rng::with_seed(7);
    assert_eq!(
        gltf.animations(),
        model
            .clips
            .iter()
            .map(|clip| &*clip.timing.name)
            .collect::<Vec<_>>()
    );
    for (animation, clip) in model.clips.iter().enumerate() {
        let duration = clip.timing.duration;
        assert!(
            (gltf.duration(animation) - duration).abs() <= 1e-6 * duration,
            "{}",
            clip.timing.name
        );
        let last = (clip.frame_count() - 1).max(1);
        let frame = |random: &mut fastrand::Rng| random.usize(..=last) as f64 / last as f64;
        for i in 0..12 {
            let share = match i {
                0..4 => frame(&mut random),
                4..6 => (frame(&mut random) + 0.5 / last as f64).min(1.0),
                _ => random.f64(),
            };
            let time = share * duration;
            let error = distance(
                &posed(model, Some(clip), time),
                &gltf.posed(Some(animation), time),
            );
            assert!(
                error < 1e-4,
                "clip `{}` at {time} s: {error:.1e} of the size",
                clip.timing.name
            );
            largest = largest.max(error);
        }
    }
    assert!(largest < 1e-4, "{largest}");
    largest
}

fn sample(path: &str) -> (Model, Manifest) {
    let path = crate::asset(path);
    let manifest = Manifest::parse("sample", &fs::read(&path).unwrap()).unwrap();
    let read = |file: &str| Ok(fs::read(path.with_file_name(file)).unwrap().into());
    (
        open_manifest("sample", &manifest, &ImportLimits::default(), read)
            .unwrap()
            .model,
        manifest,
    )
}

#[test]
fn the_sample_characters_are_posed_alike_by_the_specification() {
    for path in [
        "scout/scout.character.ron",
        "hound/hound.character.ron",
        "scout/scout_m3d.character.ron",
    ] {
        let (model, _) = sample(path);
        assert!(model.clips.len() >= 4);
        println!("{path}: {:.1e} of the size", largest_error(&model));
    }
}

/// Checks your own models too, if `MARIONETTE_MODELS` lists their paths, separated as in `PATH`. The `.md5anim` files beside
/// an `.md5mesh` are its clips.
#[test]
fn other_models_are_posed_alike_by_the_specification() {
    let Some(paths) = env::var_os("MARIONETTE_MODELS") else {
        return;
    };
    for path in env::split_paths(&paths) {
        let settings = ImportSettings::default();
        let mut model = open_model(
            &path.to_string_lossy(),
            &fs::read(&path).unwrap(),
            &settings,
        )
        .unwrap()
        .model;
        let mut beside: Vec<PathBuf> = fs::read_dir(path.parent().unwrap())
            .unwrap()
            .map(|e| e.unwrap().path())
            .collect();
        beside.sort();
        for anim in beside
            .iter()
            .filter(|_| FileKind::of_name(&path.to_string_lossy()) == Some(FileKind::Md5Mesh))
        {
            let name = anim.to_string_lossy();
            if FileKind::of_name(&name) == Some(FileKind::Md5Anim) {
                let stem = anim.file_stem().unwrap().to_string_lossy();
                let clips = open_clips(
                    &name,
                    &stem,
                    &fs::read(anim).unwrap(),
                    &model.skeleton,
                    &settings,
                );
                model.clips.extend(clips.unwrap().value);
            }
        }
        println!(
            "{}: {} clips, {:.1e} of the size",
            path.display(),
            model.clips.len(),
            largest_error(&model)
        );
    }
}

/// Panics if a model has not come back as it was, within 1e-4 of its size when posed.
fn assert_same(before: &Model, after: &Model) {
    let parts = |model: &Model| {
        model
            .parts
            .iter()
            .map(|part| (part.material, part.positions.len(), part.triangles.clone()))
            .collect::<Vec<_>>()
    };
    assert!(parts(before) == parts(after));
    assert_posed_alike(before, after);
    for (one, other) in before.clips.iter().zip(&after.clips) {
        let name = &one.timing.name;
        assert_eq!(one.frame_count(), other.frame_count(), "{name}");
        assert_eq!(
            one.frame_times().is_some(),
            other.frame_times().is_some(),
            "{name}"
        );
        let apart = |frame: usize| (one.frame_time(frame) - other.frame_time(frame)).abs();
        assert!(
            (0..one.frame_count()).all(|frame| apart(frame) < 1e-12),
            "{name}"
        );
    }
}

/// The same, but parts may have more vertices at the end: importers copy those at seams of textures.
fn assert_posed_alike(before: &Model, after: &Model) {
    let names = |model: &Model| {
        model
            .skeleton
            .names()
            .iter()
            .map(|name| name.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(before), names(after));
    assert_eq!(before.skeleton.parents(), after.skeleton.parents());
    let parts = |model: &Model| {
        model
            .parts
            .iter()
            .map(|part| part.name.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(parts(before), parts(after));
    let points = before
        .parts
        .iter()
        .flat_map(|part| part.positions.iter().copied());
    let size = f64::from(BoundingBox::enclosing(points).unwrap().diagonal());
    let mut random = fastrand::Rng::with_seed(8);
    assert_eq!(before.clips.len(), after.clips.len());
    for (one, other) in before.clips.iter().zip(&after.clips) {
        // JSON's numbers are read with a last digit that may be off by one.
        assert!((one.timing.duration - other.timing.duration).abs() < 1e-12);
        let timing = ClipTiming {
            duration: one.timing.duration,
            ..other.timing.clone()
        };
        assert_eq!((&one.timing, one.additive), (&timing, other.additive));
        assert!(one.frame_count() <= other.frame_count());
        for _ in 0..8 {
            let time = random.f64() * one.timing.duration;
            let (one, other) = (
                posed(before, Some(one), time),
                posed(after, Some(other), time),
            );
            assert!(
                one.iter()
                    .zip(&other)
                    .all(|(one, other)| one.len() <= other.len())
            );
            let apart = one
                .iter()
                .zip(&other)
                .flat_map(|(one, other)| one.iter().zip(other));
            let apart = apart.map(|(a, b)| a.distance(*b) / size);
            assert!(apart.fold(0.0, f64::max) < 1e-4, "{time}");
        }
    }
}

#[test]
fn the_way_back_is_exact() {
    for path in [
        "scout/scout.character.ron",
        "hound/hound.character.ron",
        "scout/scout_m3d.character.ron",
    ] {
        let (model, manifest) = sample(path);
        let glb = to_glb("hero.glb", &model, Some(&manifest), |_, _| None)
            .unwrap()
            .value;
        let back = open_model("hero.glb", &glb, &ImportSettings::default()).unwrap();
        assert!(back.warnings.is_empty(), "{:?}", back.warnings);
        assert_same(&model, &back.model);
        let materials = back.model.materials.iter().zip(&model.materials);
        for (back, material) in materials {
            // Indices of refraction stand for reflectances.
            assert!((back.reflectance - material.reflectance).abs() < 1e-6);
            assert_eq!(
                *back,
                Material {
                    reflectance: back.reflectance,
                    ..material.clone()
                }
            );
        }
        // The file needs no manifest.
        let bare = Manifest::of_model("hero.glb");
        let alone = bare.with_embedded(&back.embedded);
        let expected = Manifest {
            clips: alone.clips.clone(),
            ..bare
                .with_embedded(&EmbeddedManifest::of(&manifest))
                .into_owned()
        };
        assert_eq!(*alone, expected);
        assert_eq!(alone.masks, manifest.masks);
        assert_eq!(alone.states, manifest.states);
        assert_eq!(alone.feet, manifest.feet);
        // And on to MD5, and back.
        let mesh = Checked::new(to_md5_mesh(&back.model)).unwrap();
        let mut md5 = from_md5("hero.md5mesh", &mesh, &ImportSettings::default())
            .unwrap()
            .model;
        for clip in &back.model.clips {
            let anim = Checked::new(to_md5_anim(clip, &back.model.skeleton)).unwrap();
            let name = &clip.timing.name;
            let mut again = clip_from_md5(
                "hero",
                name,
                &anim,
                &md5.skeleton,
                &ImportSettings::default(),
            )
            .unwrap()
            .value;
            assert!((again.timing.duration - clip.timing.duration).abs() < 1e-6);
            again.timing = clip.timing.clone();
            md5.clips.push(again);
        }
        assert_posed_alike(&back.model, &md5);
        // And to glTF once more.
        round_trips::assert_corners_alike(&md5, &round_trips::through_glb(&md5));
    }
}

#[test]
fn the_skin_names_the_node_above_all_joints() {
    // Blender binds the topmost joints where they rest unless it finds this, and skins that were bound elsewhere break.
    let gltf = written(&strip(2, 12));
    let skin = &gltf.json["skins"][0];
    let above =
        &gltf.json["nodes"][skin["skeleton"].as_u64().expect("the skin has a skeleton") as usize];
    assert_eq!(
        (&above["children"], &skin["joints"]),
        (&json!([0]), &json!([0, 1]))
    );
    assert!(
        ["translation", "rotation", "scale", "matrix"]
            .iter()
            .all(|key| above.get(key).is_none())
    );
}

#[test]
fn steps_and_frames_at_any_times_come_back() {
    let mut model = strip(2, 12);
    let at = |turn: f32| {
        let turned =
            JointTransform::new(Vec3::new(0.1 * turn, 1.0, 0.0), Quat::from_rotation_z(turn));
        vec![model.skeleton.rest_of(0), turned]
    };
    let frames = |turns: &[f32]| ClipFrames {
        joints: model.skeleton.names().clone(),
        animated: vec![],
        transforms: turns.iter().flat_map(|&turn| at(turn)).collect(),
    };
    let clip = |name: &str, times: &[f64], turns: &[f32]| {
        let timing = ClipTiming::new(name, *times.last().unwrap());
        SkeletalClip::at_times(timing, &frames(turns), times).unwrap()
    };
    let third = 1.0 / 3.0;
    model.clips = vec![
        clip(
            "steps",
            &[0.0, 0.1, 0.1, third, third, 0.7, 0.7],
            &[0.0, 0.2, 2.0, 2.5, -0.5, -0.5, 1.0],
        ),
        clip(
            "odd",
            &[0.0, 1e-3, 0.3, third, 0.7],
            &[0.0, 0.1, 2.9, 1.0, 1.0],
        ),
        clip("still", &[0.0, 0.2, 0.2, 0.9], &[0.5; 4]),
    ];
    let glb = to_glb("strip.glb", &model, None, |_, _| None)
        .unwrap()
        .value;
    let back = open_model("strip.glb", &glb, &ImportSettings::default())
        .unwrap()
        .model;
    assert_same(&model, &back);
    for (one, other) in model.clips.iter().zip(&back.clips) {
        let pairs = one
            .to_frames()
            .transforms
            .into_iter()
            .zip(other.to_frames().transforms);
        for (one, other) in pairs {
            assert!(one.translation.abs_diff_eq(other.translation, 1e-6));
            assert!(one.rotation.dot(other.rotation).abs() > 1.0 - 1e-6);
        }
    }
}

#[test]
fn callbacks_masks_and_sockets_are_in_the_extras() {
    let (model, manifest) = sample("hound/hound.character.ron");
    let Parsed { value, warnings } =
        to_glb("hound.glb", &model, Some(&manifest), |_, _| None).unwrap();
    assert!(warnings.is_empty());
    let json = Gltf::read(&value).json;
    let sit = json["animations"]
        .as_array()
        .unwrap()
        .iter()
        .find(|animation| animation["name"] == "sit")
        .unwrap();
    let sit = &sit["extras"]["marionette"];
    assert_eq!(sit["playback"], "Once");
    assert_eq!(
        sit["callbacks"][0],
        json!({ "time": 0.38, "name": "footstep", "data": "left hind" })
    );
    assert_eq!(sit["callbacks"][4], json!({ "time": 1.28, "name": "sit" }));
    let scene = &json["scenes"][0]["extras"]["marionette"];
    assert_eq!(
        scene["masks"]["tail"],
        json!({ "roots": ["tail.1"], "falloff": 1 })
    );
    assert_eq!(scene["sockets"]["lantern"]["joint"], "lantern");
}

/// Two joints, the upper scaled at rest, and a strip of skin.
fn strip(joints: usize, vertices: usize) -> Model {
    let joint = |i: usize| Joint {
        name: format!("joint{i}").into(),
        parent: (i > 0).then_some(0),
        rest: JointTransform {
            translation: Vec3::new(0.0, i as f32, 0.5),
            rotation: Quat::from_rotation_y(0.25 * i as f32),
            scale: if i == 1 {
                Vec3::new(1.0, 2.0, 0.5)
            } else {
                Vec3::ONE
            },
        },
        inverse_bind: Affine3A::from_translation(Vec3::new(0.25, -(i as f32), 0.0)),
    };
    let position = |v: usize| Vec3::new((v % 2) as f32, v as f32 / vertices as f32 * 2.0, 0.1);
    let part = SkinPart {
        name: "strip".into(),
        positions: (0..vertices).map(position).collect(),
        normals: vec![Vec3::Z; vertices],
        tangents: vec![Vec4::new(1.0, 0.0, 0.0, -1.0); vertices],
        tex_coords: (0..vertices)
            .map(|v| position(v).truncate())
            .collect::<Vec<Vec2>>(),
        influences: (0..vertices)
            .map(|v| Influences {
                palette: [0, (v % 2) as u16, 0, 0],
                weights: [0.75, 0.25, 0.0, 0.0],
            })
            .collect(),
        triangles: (0..vertices as u32 - 2)
            .map(|v| [v, v + 1, v + 2])
            .collect(),
        palette: vec![joints as u16 - 1, 0],
        source_vertices: (0..vertices as u32).collect(),
        ..SkinPart::default()
    };
    let skeleton = Skeleton::new((0..joints).map(joint).collect()).unwrap();
    Model {
        skeleton,
        parts: vec![part],
        materials: vec![Material::default()],
        clips: vec![],
    }
}

fn clip(
    name: &str,
    duration: f64,
    joints: &[&str],
    frames: Vec<Vec<JointTransform>>,
) -> SkeletalClip {
    let joints: Arc<[Arc<str>]> = joints.iter().map(|&joint| Arc::from(joint)).collect();
    let frames = ClipFrames {
        joints,
        animated: vec![],
        transforms: frames.concat(),
    };
    SkeletalClip::new(ClipTiming::new(name, duration), &frames).unwrap()
}

#[test]
fn fast_turns_scales_stills_and_differences_are_posed_alike() {
    let mut model = strip(2, 12);
    let at = |x: f32, turn: f32, scale: f32| JointTransform {
        translation: Vec3::new(x, 1.0, 0.0),
        rotation: Quat::from_rotation_z(turn),
        scale: Vec3::new(1.0, scale, 1.0),
    };
    let rest = model.skeleton.rest_of(1);
    let fast = vec![
        vec![at(0.0, 0.0, 1.0)],
        vec![at(1.0, 2.5, 3.0)],
        vec![at(-1.0, -0.5, 0.5)],
    ];
    let clip = |name: &str, duration, frames| {
        clip(name, duration, &["joint1"], frames).bind(&model.skeleton)
    };
    let mut clips = vec![
        clip("fast", 0.5, fast.clone()),
        clip("differences", 0.5, fast)
            .to_additive(&model.skeleton)
            .unwrap(),
        clip("held", 2.5, vec![vec![at(0.5, 0.5, 1.0)]; 4]),
        clip("at rest", 1.5, vec![vec![rest]; 2]),
        clip("pose", 0.0, vec![vec![at(0.5, 0.5, 1.0)]]),
    ];
    clips[1].timing.name = "differences".into();
    model.clips = clips;
    assert!(largest_error(&model) > 0.0);
    let gltf = written(&model);
    let paths = |animation: usize| {
        let channels = gltf.json["animations"][animation]["channels"]
            .as_array()
            .unwrap();
        channels
            .iter()
            .map(|channel| channel["target"]["path"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(paths(2), ["rotation", "translation", "scale"]);
    assert_eq!(paths(3), ["rotation"], "what is as it rests is left out");
    assert_eq!(
        gltf.json["animations"][1]["extras"]["marionette"]["additive"],
        true
    );
}

#[test]
fn a_clip_that_moves_no_joint_is_left_out_with_a_warning() {
    let mut model = strip(2, 12);
    model.clips = vec![clip(
        "elsewhere",
        1.0,
        &["other"],
        vec![vec![JointTransform::IDENTITY]; 2],
    )];
    let Parsed { value, warnings } = to_glb("hero.glb", &model, None, |_, _| None).unwrap();
    assert_messages("written glTF: a clip that moves nothing", &warnings);
    let gltf = Gltf::read(&value);
    gltf.check();
    assert!(gltf.json.get("animations").is_none());
}

#[test]
fn many_joints_and_many_vertices_get_wider_numbers() {
    for (joints, vertices) in [(256, 65_535), (257, 65_536), (2, 3)] {
        let model = strip(joints, vertices);
        assert!(largest_error(&model) < 1e-6);
        let gltf = written(&model);
        let primitive = &gltf.json["meshes"][0]["primitives"][0];
        let kind = |accessor: &serde_json::Value| {
            gltf.json["accessors"][accessor.as_u64().unwrap() as usize]["componentType"].as_u64()
        };
        assert_eq!(
            kind(&primitive["attributes"]["JOINTS_0"]),
            Some(if joints > 256 { 5123 } else { 5121 })
        );
        assert_eq!(
            kind(&primitive["indices"]),
            Some(if vertices > 65_535 { 5125 } else { 5123 })
        );
    }
}

#[test]
fn a_model_may_have_no_joints_no_parts_and_nothing_at_all() {
    let mut still = strip(2, 12);
    (
        still.skeleton,
        still.parts[0].influences,
        still.parts[0].palette,
    ) = (Skeleton::default(), vec![], vec![]);
    assert!(largest_error(&still) < 1e-7);
    let gltf = written(&still);
    assert!(gltf.json.get("skins").is_none() && gltf.json["nodes"].as_array().unwrap().len() == 1);
    for model in [
        Model {
            parts: vec![],
            ..strip(2, 12)
        },
        Model::default(),
    ] {
        written(&model).check();
    }
}

#[test]
fn a_number_that_is_not_finite_is_an_error() {
    let mut model = strip(2, 12);
    model.parts[0].positions[3].y = f32::NAN;
    let error = to_glb("hero.glb", &model, None, |_, _| None).unwrap_err();
    assert_message("written glTF: a number that is not finite", error);
    model.parts[0].positions[3].y = 0.0;
    model.parts[0].triangles[0][1] = 12;
    assert!(to_glb("hero.glb", &model, None, |_, _| None).is_err());
}

#[test]
fn materials_keep_what_gltf_has_a_place_for() {
    let mut model = strip(2, 12);
    model.materials = vec![
        Material {
            name: "skin".into(),
            base_color: [0.5, 2.0, f32::NAN, 0.25],
            base_color_map: Some("art/skin.tga".into()),
            normal_map: Some("skin_n.dds".into()),
            roughness: 0.3,
            reflectance: 0.25,
            alpha_cutoff: Some(0.1),
            double_sided: true,
            type_name: Some("Skinned".into()),
            specular_map: Some("skin_s.dds".into()),
            ..Material::default()
        },
        Material {
            name: "hair".into(),
            base_color_map: Some("skin.png".into()),
            ..Material::default()
        },
        Material {
            name: "plain".into(),
            ..Material::default()
        },
        Material {
            name: "lost".into(),
            base_color_map: Some("lost.dds".into()),
            ..Material::default()
        },
    ];
    let texture = |material: &Material, map| match (&*material.name, map) {
        ("plain" | "lost", _) => None,
        ("skin", TextureMap::Normal) => Some(GlbTexture::File("maps/skin n.dds".into())),
        (_, TextureMap::BaseColor) => Some(GlbTexture::Png(vec![1, 2, 3, 4, 5])),
        _ => None,
    };
    let Parsed { value, .. } = to_glb("hero.glb", &model, None, texture).unwrap();
    let gltf = Gltf::read(&value);
    gltf.check();
    let [skin, hair, plain] = [0, 1, 2].map(|i| &gltf.json["materials"][i]);
    let pbr = &skin["pbrMetallicRoughness"];
    assert_eq!(pbr["baseColorFactor"], json!([0.5, 1.0, 1.0, 0.25]));
    assert_eq!(
        (
            &pbr["metallicFactor"],
            &skin["alphaMode"],
            &skin["doubleSided"]
        ),
        (&json!(0.0), &json!("MASK"), &json!(true))
    );
    assert!(
        (skin["extensions"]["KHR_materials_ior"]["ior"]
            .as_f64()
            .unwrap()
            - 1.1 / 0.9)
            .abs()
            < 1e-6
    );
    assert_eq!(gltf.json["extensionsUsed"], json!(["KHR_materials_ior"]));
    assert_eq!(
        skin["extras"]["marionette"],
        json!({ "type_name": "Skinned", "specular_map": "skin_s.dds" })
    );
    assert_eq!(
        gltf.json["images"][0],
        json!({ "name": "skin", "mimeType": "image/png", "bufferView": gltf.json["images"][0]["bufferView"] })
    );
    assert_eq!(
        gltf.json["images"][1],
        json!({ "uri": "maps/skin%20n.dds" })
    );
    assert_eq!(
        gltf.json["images"].as_array().unwrap().len(),
        2,
        "equal images are stored once"
    );
    assert_eq!(
        hair["pbrMetallicRoughness"]["baseColorTexture"],
        pbr["baseColorTexture"]
    );
    assert!(plain.get("extras").is_none() && plain.get("extensions").is_none());
    assert_eq!(
        gltf.json["materials"][3]["extras"]["marionette"],
        json!({ "base_color_map": "lost.dds" })
    );
    let view = gltf.json["images"][0]["bufferView"].as_u64().unwrap() as usize;
    assert_eq!(gltf.view(view), [1, 2, 3, 4, 5]);
}

#[test]
fn all_of_a_material_that_gltf_has_a_place_for_comes_back() {
    let mut model = strip(2, 12);
    let full = Material {
        name: "full".into(),
        metallic: 0.75,
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
            scale: [2.0, 3.0],
        },
        tex_coord_sets: Maps {
            occlusion: 1,
            ..Maps::default()
        },
        samplers: Maps {
            emissive: Sampler::default(),
            ..Maps::all(Sampler {
                wrap_u: TextureWrap::Clamp,
                wrap_v: TextureWrap::Mirror,
                ..Sampler::default()
            })
        },
        ..Material::default()
    };
    let filter = |minify, mip_levels| Sampler {
        magnify: minify,
        minify,
        mip_levels,
        ..Sampler::default()
    };
    let with = |sampler: Sampler, at: usize| Material {
        name: format!("filter{at}"),
        base_color_map: Some("0.png".into()),
        samplers: Maps::all(sampler),
        ..Material::default()
    };
    let filters = [TextureFilter::Nearest, TextureFilter::Linear];
    let levels = [MipFilter::Off, MipFilter::Nearest, MipFilter::Linear];
    let samplers = filters
        .into_iter()
        .flat_map(|f| levels.map(|l| filter(f, l)));
    model.materials = samplers
        .enumerate()
        .map(|(at, sampler)| with(sampler, at))
        .chain([full])
        .collect();
    let Parsed { value, .. } = to_glb("hero.glb", &model, None, |m, map| {
        Some(GlbTexture::File(map.of(m)?.to_owned()))
    })
    .unwrap();
    let gltf = Gltf::read(&value);
    gltf.check();
    assert_eq!(gltf.json["images"].as_array().unwrap().len(), 5);
    let used = [
        "KHR_materials_emissive_strength",
        "KHR_materials_unlit",
        "KHR_texture_transform",
    ];
    assert_eq!(gltf.json["extensionsUsed"], json!(used));
    let back = open_model("hero.glb", &value, &ImportSettings::default()).unwrap();
    assert_eq!(back.model.materials, model.materials);
    // Without the files, their names are kept.
    let Parsed { value, .. } = to_glb("hero.glb", &model, None, |_, _| None).unwrap();
    let back = open_model("hero.glb", &value, &ImportSettings::default())
        .unwrap()
        .model
        .materials
        .pop()
        .unwrap();
    let full = model.materials.pop().unwrap();
    assert_eq!(
        TextureMap::ALL.map(|map| map.of(&back)),
        TextureMap::ALL.map(|map| map.of(&full))
    );
}

#[test]
fn playback_is_written_for_every_clip() {
    let mut model = strip(2, 12);
    let moved = JointTransform {
        translation: Vec3::X,
        ..JointTransform::IDENTITY
    };
    let frames = vec![vec![JointTransform::IDENTITY], vec![moved]];
    model.clips = [
        PlaybackMode::Loop,
        PlaybackMode::Once,
        PlaybackMode::PingPong,
    ]
    .map(|playback| {
        let mut clip = clip("clip", 0.1, &["joint1"], frames.clone());
        clip.timing.playback = playback;
        clip
    })
    .into();
    let gltf = written(&model);
    let playback =
        [0, 1, 2].map(|i| gltf.json["animations"][i]["extras"]["marionette"]["playback"].clone());
    assert_eq!(playback, ["Loop", "Once", "PingPong"]);
    assert_eq!(
        gltf.json["animations"][0]["extras"]["marionette"]["duration"],
        0.1
    );
}
