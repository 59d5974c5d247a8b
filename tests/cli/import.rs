//! `marionette import`.

use super::{
    arm::md5_by_formula,
    support::{Run, characters, folder, marionette, picture},
};
use crate::messages::assert_message;
use bevy_marionette::{
    import::{BlendPlace, ClipEntry, Manifest},
    model::PlaybackMode,
};
use glam::DVec3;
use std::{fs, path::Path};
use tempfile::TempDir;

fn import(folder: &TempDir, args: &[&str]) -> Run {
    marionette(folder, &[&["import"], args].concat())
}

fn manifest(folder: &TempDir, path: &str) -> Manifest {
    let bytes = fs::read(folder.path().join(path)).unwrap();
    Manifest::parse(path, &bytes).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn import_makes_a_character_that_is_sound_and_poses_as_its_files_do() {
    let folder = characters();
    fs::write(folder.path().join("skin0.png"), picture(1)).unwrap();
    let run = import(
        &folder,
        &[
            "arm.md5mesh",
            "reach.md5anim",
            "-o",
            "game/arm",
            "--scale",
            "0.5",
        ],
    );
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let path = Path::new("game/arm")
        .join("arm.character.ron")
        .display()
        .to_string();
    let stdout = run.stdout.replace(&path, "game/arm/arm.character.ron");
    assert_message("import: a model and a clip", stdout);
    assert_eq!(
        fs::read(folder.path().join("game/arm/skin0.png")).unwrap(),
        picture(1)
    );
    let made = manifest(&folder, &path);
    assert_eq!((&*made.model, made.scale), ("arm.md5mesh", 0.5));
    assert_eq!(made.clips["reach"].playback, Some(PlaybackMode::Once));

    let posed = marionette(
        &folder,
        &["pose", &path, "--clip", "reach", "--time", "0.2", "-o", "-"],
    );
    assert_eq!(posed.code, Some(0), "{}", posed.stderr);
    let vertices = posed
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix("v "));
    let vertices: Vec<DVec3> = vertices
        .map(|v| {
            DVec3::from_slice(
                &v.split(' ')
                    .map(|n| n.parse().unwrap())
                    .collect::<Vec<f64>>(),
            )
        })
        .collect();
    let formula = md5_by_formula(Some(0.2), 0.5);
    assert_eq!(vertices.len(), formula.len());
    assert!(
        vertices
            .iter()
            .zip(&formula)
            .all(|(a, b)| a.distance(*b) < 1e-4)
    );
}

#[test]
fn a_models_own_clips_get_tidy_names() {
    let folder = characters();
    let renamed = fs::read_to_string(folder.path().join("bar.m3d"))
        .unwrap()
        .replace("Clip Sway", "Clip Rig|SwayLeft");
    fs::write(folder.path().join("bar.m3d"), renamed).unwrap();
    let run = import(&folder, &["bar.m3d", "-o", ".", "--name", "Bar of iron"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let stdout = run.stdout.replace(".\\", "./");
    assert_message("import: a model in place", stdout);
    let made = manifest(&folder, "Bar of iron.character.ron");
    assert_eq!(
        made.clips["sway_left"].clip.as_deref(),
        Some("Rig|SwayLeft")
    );
    let run = marionette(
        &folder,
        &[
            "pose",
            "Bar of iron.character.ron",
            "--clip",
            "sway_left",
            "--time",
            "0",
            "-o",
            "-",
        ],
    );
    assert_eq!(run.code, Some(0), "{}", run.stderr);
}

#[test]
fn import_decides_for_the_sample_characters_as_their_author_did() {
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
    let folder = folder(&[]);
    for (who, masks) in [
        ("scout", &["upper_body", "legs", "head"][..]),
        ("hound", &["head", "tail"]),
    ] {
        let file = |name: &str| assets.join(who).join(name).to_str().unwrap().to_owned();
        let authored = Manifest::parse(
            who,
            &fs::read(file(&format!("{who}.character.ron"))).unwrap(),
        )
        .unwrap();
        let mut args = vec![file(&authored.model)];
        // Mirrored and retargeted clips are an author's choice: nothing in the files asks for them.
        let own =
            |(_, clip): &(&String, &ClipEntry)| clip.mirror.is_none() && clip.retarget.is_none();
        args.extend(
            authored
                .clips
                .iter()
                .filter(own)
                .map(|(clip, _)| file(&format!("{clip}.md5anim"))),
        );
        args.extend(["-o".into(), who.into()]);
        let run = import(
            &folder,
            &args.iter().map(String::as_str).collect::<Vec<_>>(),
        );
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let made = manifest(&folder, &format!("{who}/{who}.character.ron"));
        let playback = |manifest: &Manifest| -> Vec<(String, PlaybackMode)> {
            let clips = manifest.clips.iter();
            // Whether one waves once or forever is a matter of taste.
            let clips = clips.filter(own).filter(|(name, _)| *name != "wave");
            clips
                .map(|(name, clip)| (name.clone(), clip.playback.unwrap_or_default()))
                .collect()
        };
        assert_eq!(playback(&made), playback(&authored), "{}", run.stdout);
        for mask in masks {
            assert_eq!(made.masks[*mask], authored.masks[*mask], "{mask}");
        }
        let checked = marionette(
            &folder,
            &[
                "validate",
                "--deny-warnings",
                &format!("{who}/{who}.character.ron"),
            ],
        );
        assert_eq!(checked.code, Some(0), "{}", checked.stdout);
    }
    let made = manifest(&folder, "scout/scout.character.ron");
    assert_eq!(made.sockets["right_hand"].joint, "grip.R");
    let authored = fs::read(assets.join("scout/scout.character.ron")).unwrap();
    let authored = Manifest::parse("scout", &authored).unwrap();
    assert_eq!(made.feet, authored.feet);
    assert_eq!(
        made.look_at.unwrap().joints.len(),
        authored.look_at.unwrap().joints.len()
    );
}

/// The example `hero` shows what the command writes.
#[test]
fn the_hero_of_the_examples_is_as_import_writes_it() {
    let scout = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/scout");
    let files = [
        "scout.glb",
        "idle.md5anim",
        "walk.md5anim",
        "jog.md5anim",
        "jump.md5anim",
        "wave.md5anim",
        "scout_moves.glb",
    ];
    let files = files.map(|name| scout.join(name).to_str().unwrap().to_owned());
    let mut args: Vec<&str> = files.iter().map(String::as_str).collect();
    args.extend(["-o", "hero", "--name", "scout_hero"]);
    let folder = folder(&[]);
    let run = import(&folder, &args);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_message("import: a hero", run.stdout.replace('\\', "/"));
    let written = fs::read_to_string(folder.path().join("hero/scout_hero.character.ron")).unwrap();
    let shown = fs::read_to_string(scout.join("scout_hero.character.ron")).unwrap();
    assert!(
        written.lines().eq(shown.lines()),
        "the command writes:\n{written}"
    );

    // The speeds are those that Scout's author gave the clips.
    let made = manifest(&folder, "hero/scout_hero.character.ron");
    let points = [("idle", 0.0), ("walk", 1.2), ("jog", 2.4), ("run", 3.8)];
    let points = points.map(|(clip, speed)| (clip.to_owned(), BlendPlace::Line(speed)));
    assert_eq!(made.blend_spaces["locomotion"].points, points);
    let checked = marionette(
        &folder,
        &[
            "validate",
            "--deny-warnings",
            "hero/scout_hero.character.ron",
        ],
    );
    assert_eq!(checked.code, Some(0), "{}", checked.stdout);
}

#[test]
fn import_keeps_what_is_there_unless_told_otherwise() {
    let folder = characters();
    let args = ["arm.md5mesh", "reach.md5anim", "-o", "game"];
    assert_eq!(import(&folder, &args).code, Some(0));
    assert_eq!(import(&folder, &args).code, Some(0), "the same once more");
    let edited = folder.path().join("game/arm.character.ron");
    fs::write(&edited, "(model: \"arm.md5mesh\")").unwrap();
    let run = import(&folder, &args);
    assert_eq!(run.code, Some(1));
    let stderr = run.stderr.replace("game\\", "game/");
    assert_message("import: a manifest that exists", stderr);
    assert_eq!(
        fs::read_to_string(&edited).unwrap(),
        "(model: \"arm.md5mesh\")"
    );
    assert_eq!(
        import(&folder, &[&args[..], &["--force"]].concat()).code,
        Some(0)
    );
    assert!(fs::read_to_string(&edited).unwrap().contains("reach"));
}

#[test]
fn import_says_why_it_cannot() {
    let folder = characters();
    fs::create_dir(folder.path().join("more")).unwrap();
    fs::write(
        folder.path().join("more/reach.md5anim"),
        super::arm::md5_anim() + "\n",
    )
    .unwrap();
    let no_folder = fs::create_dir(folder.path().join("bar.m3d")).unwrap_err();
    let no_folder = no_folder.to_string();
    for args in [
        &["arm.character.ron", "-o", "game"][..],
        &["gone.md5mesh", "-o", "game"],
        &["reach.md5anim", "-o", "game"],
        &["bar.m3d", "reach.md5anim", "-o", "game"],
        &[
            "arm.md5mesh",
            "reach.md5anim",
            "more/reach.md5anim",
            "-o",
            "game",
        ],
        &["arm.md5mesh", "-o", "bar.m3d"],
    ] {
        let run = import(&folder, args);
        assert_eq!(run.code, Some(1), "{args:?}: {}{}", run.stdout, run.stderr);
        let stderr = run.stderr.replace(&no_folder, "what the system says");
        assert_message(&format!("import {}", args.join(" ")), stderr);
    }
    assert!(!folder.path().join("game").exists());
}

#[test]
fn import_of_a_glb_of_our_own_brings_its_manifest_back() {
    let folder = characters();
    let run = marionette(&folder, &["convert", "arm.character.ron", "-o", "arm.glb"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    fs::copy(
        folder.path().join("arm.glb"),
        folder.path().join("hero@moves.glb"),
    )
    .unwrap();
    let run = import(
        &folder,
        &["arm.glb", "hero@moves.glb", "reach.md5anim", "-o", "game"],
    );
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let stdout = run.stdout.replace("game\\", "game/");
    assert_message("import: a .glb of our own", stdout);
    let made = manifest(&folder, "game/arm.character.ron");
    let before = manifest(&folder, "arm.character.ron");
    assert_eq!(
        (&made.masks, &made.sockets),
        (&before.masks, &before.sockets)
    );
    let clips: Vec<_> = made
        .clips
        .iter()
        .map(|(name, clip)| (&**name, clip.file.as_deref()))
        .collect();
    assert_eq!(
        clips,
        [
            ("hero_moves", Some("hero@moves.glb")),
            ("reach", Some("reach.md5anim")),
            ("stretch", None),
        ]
    );
    let checked = marionette(&folder, &["inspect", "--json", "game/arm.character.ron"]);
    let json: serde_json::Value = serde_json::from_str(&checked.stdout).unwrap();
    let clips = json[0]["model"]["clips"].as_array().unwrap();
    let stretch = clips.iter().find(|clip| clip["name"] == "stretch").unwrap();
    assert_eq!(
        (&stretch["playback"], &stretch["callbacks"][0]["name"]),
        (&"once".into(), &"grip".into())
    );
}

/// Adds the sample mannequin to a folder, with other names for some of its joints.
fn mannequin(folder: &TempDir, file: &str, renamed: &[(&str, &str)]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/mannequin/mannequin.glb");
    let bytes = fs::read(path).unwrap();
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let mut json = String::from_utf8(bytes[20..20 + length].to_vec()).unwrap();
    for (from, to) in renamed {
        let (from, to) = (format!("\"{from}\""), format!("\"{to}\""));
        assert!(json.contains(&from) && to.len() <= from.len(), "{from}");
        let padded = format!("{to}{}", " ".repeat(from.len() - to.len()));
        json = json.replace(&from, &padded);
    }
    fs::write(
        folder.path().join(file),
        [&bytes[..20], json.as_bytes(), &bytes[20 + length..]].concat(),
    )
    .unwrap();
}

#[test]
fn import_retargets_clips_of_another_humanoid_and_says_so() {
    let folder = folder(&[]);
    let scout = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/scout");
    let file = |name: &str| scout.join(name).to_str().unwrap().to_owned();
    let (mesh, walk) = (file("scout.md5mesh"), file("walk.md5anim"));
    mannequin(&folder, "cheer.glb", &[]);
    // One joint with the same name makes no skeleton.
    mannequin(&folder, "hail.glb", &[("mixamorig:Head", "head")]);
    let run = import(
        &folder,
        &[&mesh, "cheer.glb", "hail.glb", &walk, "-o", "game"],
    );
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(run.stderr, "");
    let stdout = run.stdout.replace("game\\", "game/");
    assert_message("import: clips of another humanoid", stdout);
    let made = manifest(&folder, "game/scout.character.ron");
    let retargets: Vec<_> = made
        .clips
        .iter()
        .map(|(name, clip)| (&**name, clip.retarget.is_some()))
        .collect();
    assert_eq!(
        retargets,
        [("cheer", true), ("hail", true), ("walk", false)]
    );

    let inspected = marionette(&folder, &["inspect", "--json", "game/scout.character.ron"]);
    let json: serde_json::Value = serde_json::from_str(&inspected.stdout).unwrap();
    let mapped = json[0]["model"]["retargets"]["cheer"]["mapped"]
        .as_array()
        .unwrap();
    assert!(
        mapped.contains(&serde_json::json!([
            "forearm.L",
            "forearm.L",
            "mixamorig:LeftForeArm"
        ])),
        "{mapped:?}"
    );
    let checked = marionette(&folder, &["validate", "game/scout.character.ron"]);
    assert_eq!(checked.code, Some(0), "{}", checked.stdout);
}

#[test]
fn import_says_what_to_write_where_names_do_not_tell_which_joint_is_what() {
    let folder = folder(&[]);
    mannequin(&folder, "mannequin.glb", &[]);
    let renamed = [
        ("mixamorig:Hips", "b1"),
        ("mixamorig:LeftUpLeg", "b2"),
        ("mixamorig:RightUpLeg", "b3"),
        ("mixamorig:LeftArm", "b4"),
        ("mixamorig:LeftForeArm", "b5"),
    ];
    mannequin(&folder, "cheer.glb", &renamed);
    let scout = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/scout/scout.md5mesh");
    let run = import(
        &folder,
        &[scout.to_str().unwrap(), "cheer.glb", "-o", "game"],
    );
    assert_eq!(run.code, Some(1), "{}", run.stdout);
    assert_message("import: names that don't tell roles", run.stderr);
}

#[test]
fn import_does_not_retarget_what_matches_by_name_or_is_no_humanoid() {
    let folder = folder(&[]);
    mannequin(&folder, "mannequin.glb", &[]);
    mannequin(&folder, "cheer.glb", &[]);
    let run = import(&folder, &["mannequin.glb", "cheer.glb", "-o", "game"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let stdout = run.stdout.replace("game\\", "game/");
    assert_message("import: a clip that matches by name", stdout);
    let made = manifest(&folder, "game/mannequin.character.ron");
    assert!(made.clips["cheer"].retarget.is_none());

    let hound = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/hound/hound.md5mesh");
    let run = import(
        &folder,
        &[hound.to_str().unwrap(), "cheer.glb", "-o", "kennel"],
    );
    assert_eq!(run.code, Some(1), "{}", run.stdout);
    assert_message("import: a clip of another kind of body", run.stderr);
}

/// A model with the joints, clips and names of those on Mixamo.
fn mixamo() -> TempDir {
    let folder = characters();
    let args = ["convert", "arm.md5mesh", "reach.md5anim", "-o", "arm.glb"];
    assert_eq!(marionette(&folder, &args).code, Some(0));
    let bytes = fs::read(folder.path().join("arm.glb")).unwrap();
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let mut json: serde_json::Value = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
    json["asset"]["generator"] = "another program".into();
    for (name, mixamo) in [("root", "Hips"), ("arm", "LeftArm"), ("hand", "LeftHand")] {
        let nodes = json["nodes"].as_array_mut().unwrap();
        let node = nodes.iter_mut().find(|node| node["name"] == name).unwrap();
        node["name"] = format!("mixamorig:{mixamo}").into();
    }
    let animation = json["animations"][0].as_object_mut().unwrap();
    animation.remove("extras");
    animation["name"] = "mixamo.com".into();
    for (file, prefix) in [
        ("Dying Swan.glb", "mixamorig:"),
        ("hip hop.glb", "mixamorig9:"),
    ] {
        let mut text = json.to_string().replace("mixamorig:", prefix);
        text += &" ".repeat(text.len().next_multiple_of(4) - text.len());
        let mut out = b"glTF\x02\0\0\0".to_vec();
        out.extend((20 + text.len() as u32 + (bytes.len() - 20 - length) as u32).to_le_bytes());
        out.extend((text.len() as u32).to_le_bytes());
        out.extend(b"JSON");
        out.extend(text.as_bytes());
        out.extend(&bytes[20 + length..]);
        fs::write(folder.path().join(file), out).unwrap();
    }
    folder
}

#[test]
fn clips_called_mixamo_com_are_named_after_their_files() {
    let folder = mixamo();
    let run = import(
        &folder,
        &[
            "Dying Swan.glb",
            "hip hop.glb",
            "-o",
            "game",
            "--name",
            "dancer",
        ],
    );
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let made = manifest(&folder, "game/dancer.character.ron");
    let clips: Vec<_> = made
        .clips
        .iter()
        .map(|(name, c)| (&**name, c.file.as_deref(), c.clip.as_deref()))
        .collect();
    let expected = [
        ("dying_swan", None, Some("mixamo.com")),
        ("hip_hop", Some("hip hop.glb"), None),
    ];
    assert_eq!(clips, expected, "{}", run.stdout);
    assert_eq!(made.sockets["left_hand"].joint, "mixamorig:LeftHand");
    let checked = marionette(&folder, &["validate", "game/dancer.character.ron"]);
    assert_eq!(checked.code, Some(0), "{}", checked.stdout);
    // And the clip of the other file moves the joints, whatever their prefix.
    let at = |clip: &str, time: &str| {
        let args = [
            "pose",
            "game/dancer.character.ron",
            "--clip",
            clip,
            "--time",
            time,
            "-o",
            "-",
        ];
        let run = marionette(&folder, &args);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        run.stdout
            .lines()
            .filter(|line| line.starts_with("v "))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(at("hip_hop", "0.2"), at("dying_swan", "0.2"));
    assert_ne!(at("hip_hop", "0.2"), at("hip_hop", "0"));
}

#[test]
fn names_in_a_manifest_are_quoted() {
    let folder = characters();
    let odd = "si\"de \\ways";
    let model = fs::read_to_string(folder.path().join("bar.m3d"))
        .unwrap()
        .replace("Clip Sway", &format!("Clip {odd}"));
    fs::write(folder.path().join("bar.m3d"), model).unwrap();
    assert_eq!(import(&folder, &["bar.m3d", "-o", "game"]).code, Some(0));
    assert_eq!(
        manifest(&folder, "game/bar.character.ron").clips["si_de_ways"]
            .clip
            .as_deref(),
        Some(odd)
    );
}

#[test]
fn import_proposes_to_merge_parts_that_share_a_material() {
    let mesh = r#"mesh {
    shader "steel"
    numverts 3
    vert 0 ( 0 0 ) 0 1
    vert 1 ( 1 0 ) 1 1
    vert 2 ( 0 1 ) 2 1
    numtris 1
    tri 0 0 1 2
    numweights 3
    weight 0 0 1 ( 0 0 0 )
    weight 1 0 1 ( 1 0 0 )
    weight 2 0 1 ( 0 1 0 )
}
"#;
    let text = format!(
        "MD5Version 10\ncommandline \"\"\n\nnumJoints 1\nnumMeshes 5\n\njoints {{\n    \"root\" -1 ( 0 0 0 ) ( 0 0 0 )\n}}\n{}",
        mesh.repeat(5)
    );
    let folder = folder(&[("armor.md5mesh", text)]);
    let run = import(&folder, &["armor.md5mesh", "-o", "game"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(
        run.stdout
            .contains("5 parts could be merged into 1, for speed"),
        "{}",
        run.stdout
    );
    let path = folder.path().join("game/armor.character.ron");
    let text = fs::read_to_string(&path).unwrap();
    let (before, proposed) = text.split_once("    // merge: {").unwrap();
    let merged = format!(
        "{before}    merge: {{{}",
        proposed.replace("\n    // ", "\n    ")
    );
    fs::write(&path, merged).unwrap();
    let run = marionette(&folder, &["inspect", "game/armor.character.ron"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stdout.contains(" · 1 part · "), "{}", run.stdout);
}
