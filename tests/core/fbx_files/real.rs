//! Real files, where there are any: `MARIONETTE_FBX_FILES` names a folder of `.fbx` files. One that has a `.glb` of the same name
//! beside it is compared with that, too.

use super::{
    BOUND,
    reference::{Reference, error, error_of_clip, size},
};
use crate::gltf_files::formula::posed;
use bevy_marionette::{
    import::{ImportSettings, Imported, open_model},
    internals::pose::{ClipLayer, Evaluate, Scratch},
};
use glam::Vec3;
use std::{collections::HashMap, fs, path::PathBuf, time::Instant};

#[test]
fn real_files_are_posed_as_the_library_says_and_as_their_twins() {
    let Some(folder) = std::env::var_os("MARIONETTE_FBX_FILES") else {
        return;
    };
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files
        .filter(|path| path.extension().is_some_and(|e| e == "fbx"))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    let mut failed = Vec::new();
    for path in files {
        let fbx = fs::read(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let start = Instant::now();
        let imported = match open_model("f.fbx", &fbx, &ImportSettings::default()) {
            Ok(imported) => imported,
            Err(error) => {
                println!("{name}: refused: {}", error.diagnostics[0]);
                continue;
            }
        };
        let took = start.elapsed();
        let reference = Reference::new(&fbx);
        let at_rest = reference.at_rest();
        let model = &imported.model;
        let rest = error(&at_rest, size(&at_rest), &imported, None, 0.0);
        let mut worst = rest;
        for stack in 0..reference.stacks() {
            let (name, _) = reference.stack(stack);
            if let Some(clip) = model.clips.iter().find(|clip| *clip.timing.name == *name) {
                let error = error_of_clip(&reference, stack, &imported, clip);
                println!("    {name}: {error:.1e}, {} frames", clip.frame_count());
                worst = worst.max(error);
            }
        }
        let twin = path.with_extension("glb");
        let twin = twin.is_file().then(|| {
            let glb = fs::read(&twin).unwrap();
            let twin = open_model("f.glb", &glb, &ImportSettings::default());
            difference(
                &imported,
                &twin.unwrap_or_else(|error| panic!("{error}")),
                1,
            )
        });
        let warnings: Vec<&str> = imported.warnings.iter().map(|w| &*w.message).collect();
        println!(
            "{name}: {} joints, {} parts, {} clips, rest {rest:.1e}, worst {worst:.1e}, twin {}, {took:.0?}; {warnings:?}",
            model.skeleton.len(),
            model.parts.len(),
            model.clips.len(),
            twin.map_or("none".into(), |twin| format!("{twin:.1e}")),
        );
        if worst.is_nan() || worst >= BOUND || twin.is_some_and(|twin| twin >= BOUND) {
            failed.push(name);
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
}

/// Made by `tests/blender/shape_keys.py` with Blender 4.2.
#[test]
fn shape_keys_of_blender_move_what_they_move_in_its_gltf_files() {
    // Between frames, the skin's joint turns in other ways; shapes alone move alike.
    let twins: [(&[u8], &[u8], usize, &[&str]); 2] = [
        (
            include_bytes!("twins/skinned.fbx"),
            include_bytes!("twins/skinned.glb"),
            1,
            &["smile", "jawOpen", "browUp"],
        ),
        (
            include_bytes!("twins/rigid.fbx"),
            include_bytes!("twins/rigid.glb"),
            3,
            &["smile", "jawOpen", "show"],
        ),
    ];
    for (fbx, glb, looks, names) in twins {
        let open =
            |name: &str, bytes: &[u8]| open_model(name, bytes, &ImportSettings::default()).unwrap();
        let [ours, other] = [open("f.fbx", fbx), open("f.glb", glb)];
        for imported in [&ours, &other] {
            let morphs = imported.model.skeleton.morphs();
            let given = morphs.names().iter().map(|name| &**name);
            assert_eq!(given.collect::<Vec<_>>(), names);
            assert!(imported.model.clips[0].animates_morphs());
        }
        let apart = difference(&ours, &other, looks);
        assert!(apart < BOUND, "{names:?}: {apart}");
        let off = error_of_clip(&Reference::new(fbx), 0, &ours, &ours.model.clips[0]);
        assert!(off < BOUND, "{names:?}: {off}");
    }
}

/// The largest distance between the vertices and joints of two models that are the same in different formats, at rest and in their
/// clips, as a share of their size. Clips end together. Each of Blender's frames is looked at so many times.
fn difference(one: &Imported, other: &Imported, looks: usize) -> f64 {
    let nearest = |rest: &[(usize, Vec3)], point: Vec3| {
        let all = rest.iter().enumerate();
        all.min_by(|a, b| a.1.1.distance(point).total_cmp(&b.1.1.distance(point)))
            .map_or(0, |(at, _)| at)
    };
    let rest = posed(one, None, 0.0);
    let places: Vec<Vec3> = match rest.is_empty() {
        true => one
            .model
            .skeleton
            .rest_model()
            .iter()
            .map(|m| m.translation.into())
            .collect(),
        false => rest.iter().map(|(_, place)| *place).collect(),
    };
    let low = places.iter().copied().fold(Vec3::INFINITY, Vec3::min);
    let high = places.iter().copied().fold(Vec3::NEG_INFINITY, Vec3::max);
    // Vertices are paired where they are at first: nodes need not rest in the same pose.
    let mut pairs: Vec<usize> = Vec::new();
    let joints = |imported: &Imported, clip: Option<usize>, time: f64| -> HashMap<String, Vec3> {
        let clip = clip.map(|clip| &imported.model.clips[clip]);
        let layers: Vec<ClipLayer> = clip
            .map(|clip| ClipLayer::new(clip, time))
            .into_iter()
            .collect();
        let mut scratch = Scratch::default();
        let skeleton = &imported.model.skeleton;
        Evaluate::new(skeleton, &layers).run(&mut scratch);
        let names = skeleton.names().iter().map(|name| name.to_string());
        names
            .zip(scratch.model().iter().map(|m| m.translation.into()))
            .collect()
    };
    let mut worst = 0f32;
    let mut compare = |clips: Option<[usize; 2]>, times: [f64; 2]| {
        let [ours, others] = [(one, 0), (other, 1)].map(|(imported, at)| {
            let clip = clips.map(|clips| &imported.model.clips[clips[at]]);
            posed(imported, clip, times[at])
        });
        if pairs.is_empty() {
            pairs = ours
                .iter()
                .map(|(_, place)| nearest(&others, *place))
                .collect();
        }
        for (at, pair) in pairs.iter().enumerate() {
            worst = worst.max(ours[at].1.distance(others[*pair].1));
        }
        let ours = joints(one, clips.map(|clips| clips[0]), times[0]);
        let others = joints(other, clips.map(|clips| clips[1]), times[1]);
        for (name, place) in ours {
            if let Some(other) = others.get(&name) {
                worst = worst.max(place.distance(*other));
            }
        }
    };
    if one.model.clips.is_empty() {
        compare(None, [0.0; 2]);
    }
    for (at, clip) in one.model.clips.iter().enumerate() {
        let bare = clip.timing.name.rsplit('|').next().unwrap_or_default();
        let same = |other: &bevy_marionette::model::SkeletalClip| *other.timing.name == *bare;
        let Some(twin) = other.model.clips.iter().position(same) else {
            println!("    no twin of {bare}");
            continue;
        };
        let later = other.model.clips[twin].timing.duration - clip.timing.duration;
        // At Blender's frames. Between these, FBX turns by Euler angles, and glTF along arcs.
        let count = (clip.timing.duration * 24.0).round() as usize * looks;
        for look in 0..=count {
            let time = (look as f64 / 24.0 / looks as f64).min(clip.timing.duration - 1e-6);
            compare(Some([at, twin]), [time, time + later]);
        }
    }
    f64::from(worst) / f64::from(low.distance(high))
}
