//! Real files, where there are any: `MARIONETTE_GLTF_FILES` names a folder of `.glb` files. Those of humanoids are retargeted
//! to the sample character, to a body with Mixamo's names, and back.

use super::{Body, compare, mixamo, retarget, sample};
use bevy_marionette::{
    import::{ImportSettings, open_model},
    internals::model::{Role, Roles, Side},
};
use std::fs;

#[test]
fn real_humanoids_and_scout_play_each_other_s_clips() {
    let Some(folder) = std::env::var_os("MARIONETTE_GLTF_FILES") else {
        return;
    };
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "glb"));
    files.sort();
    let (scout, other) = (sample("scout").model, mixamo());
    let mut failed = Vec::new();
    for path in files {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let Ok(opened) = open_model(
            "a.glb",
            &fs::read(&path).unwrap(),
            &ImportSettings::default(),
        ) else {
            continue;
        };
        let model = opened.model;
        let roles = Roles::infer(&model.skeleton);
        let sides = [Side::Left, Side::Right].into_iter();
        let mut needed =
            sides.flat_map(|side| [Role::Toes(side), Role::Hand(side), Role::Foot(side)]);
        if !needed.all(|role| roles.joint(role).is_some()) {
            println!("{name}: not a humanoid; {} roles", roles.len());
            continue;
        }
        let own = Body::new(&model.skeleton, 1.0);
        let bodies = [
            ("scout", Body::new(&scout.skeleton, 1.0)),
            ("mixamo", Body::new(&other, 0.01)),
        ];
        let mut check = |what: String, source: &Body, target: &Body, clip: &_| {
            let made = retarget(source.skeleton, target.skeleton, clip);
            let found = compare(source, clip, target, &made);
            println!(
                "{what}: {found}; {} → {} frames",
                clip.frame_count(),
                made.frame_count()
            );
            if let Some(wrong) = found.exceeds(26.0, 52.0, 0.015) {
                failed.push(format!("{what}: {wrong}: {found}"));
            }
        };
        for (target, body) in &bodies {
            for clip in &model.clips {
                check(
                    format!("{name} → {target}, {}", clip.timing.name),
                    &own,
                    body,
                    clip,
                );
            }
        }
        for clip in &scout.clips {
            check(
                format!("scout → {name}, {}", clip.timing.name),
                &bodies[0].1,
                &own,
                clip,
            );
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
