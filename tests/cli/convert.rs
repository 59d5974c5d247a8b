//! `marionette convert`.

use super::{
    arm::{md5_by_formula, md5_mesh},
    support::{Run, characters, marionette, picture},
};
use crate::messages::assert_message;
use glam::DVec3;
use image::{ImageFormat, Rgb, RgbImage};
use serde_json::Value;
use std::fs;
use tempfile::TempDir;

fn convert(folder: &TempDir, args: &[&str]) -> Run {
    let run = marionette(folder, &[&["convert"], args].concat());
    assert_eq!(run.stdout, "");
    run
}

/// What was said, without sizes of files, in which each digit of a number counts, and with Windows's paths as they are elsewhere.
fn said(run: &Run) -> String {
    let lines = run.stderr.lines().map(|line| {
        let size = line
            .strip_suffix("iB)")
            .and_then(|_| line.rsplit_once(" ("));
        size.map_or(line, |(before, _)| before).replace('\\', "/")
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The JSON and the buffer of a `.glb`.
fn read_glb(folder: &TempDir, name: &str) -> (Value, Vec<u8>) {
    let bytes = fs::read(folder.path().join(name)).unwrap();
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    assert_eq!((&bytes[..4], &bytes[16..20]), (&b"glTF"[..], &b"JSON"[..]));
    (
        serde_json::from_slice(&bytes[20..20 + length]).unwrap(),
        bytes[28 + length..].to_vec(),
    )
}

/// The vertices of a model posed at a time of its first clip.
fn posed(folder: &TempDir, args: &[&str]) -> Vec<DVec3> {
    let run = marionette(folder, &[&["pose", "-o", "-"], args].concat());
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let numbers = |rest: &str| {
        rest.split(' ')
            .map(|n| n.parse().unwrap())
            .collect::<Vec<f64>>()
    };
    run.stdout
        .lines()
        .filter_map(|line| Some(DVec3::from_slice(&numbers(line.strip_prefix("v ")?))))
        .collect()
}

/// Panics if a vertex of one is farther than 1e-4 from every vertex of the other. Formats split and order vertices as they like.
fn assert_same(ours: &[DVec3], theirs: &[DVec3]) {
    for (all, of) in [(ours, theirs), (theirs, ours)] {
        for vertex in all {
            let nearest = of
                .iter()
                .map(|other| other.distance(*vertex))
                .fold(f64::MAX, f64::min);
            assert!(nearest < 1e-4, "{vertex} is {nearest} from the nearest");
        }
    }
}

#[test]
fn convert_takes_a_model_with_its_clips_through_every_format() {
    let folder = characters();
    let run = convert(&folder, &["arm.md5mesh", "reach.md5anim", "-o", "arm.m3d"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_message("convert: a model and a clip", said(&run));
    fs::create_dir(folder.path().join("back")).unwrap();
    let run = convert(&folder, &["arm.m3d", "-o", "back/arm.md5mesh"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_message("convert: a clip beside the model", said(&run));
    assert_eq!(
        convert(&folder, &["arm.m3d", "-o", "arm.glb"]).code,
        Some(0)
    );
    assert_eq!(
        convert(&folder, &["arm.glb", "-o", "from_glb.m3d"]).code,
        Some(0)
    );
    for time in [0.0, 0.05, 0.12, 0.2, 0.3] {
        let formula = md5_by_formula(Some(time), 1.0);
        let time = time.to_string();
        assert_same(&posed(&folder, &["arm.m3d", "--time", &time]), &formula);
        assert_same(&posed(&folder, &["arm.glb", "--time", &time]), &formula);
        assert_same(
            &posed(&folder, &["from_glb.m3d", "--time", &time]),
            &formula,
        );
        assert_same(
            &posed(
                &folder,
                &["back/arm.md5mesh", "back/reach.md5anim", "--time", &time],
            ),
            &formula,
        );
    }
}

#[test]
fn convert_writes_a_manifests_clips_callbacks_masks_and_sockets_to_a_glb() {
    let folder = characters();
    let run = convert(&folder, &["arm.character.ron", "-o", "arm.glb"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    // Nothing is lost.
    assert_message("convert: a manifest to glTF", said(&run));
    let (json, _) = read_glb(&folder, "arm.glb");
    let nodes: Vec<_> = json["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| node["name"].as_str().unwrap())
        .collect();
    assert_eq!(nodes, ["root", "arm", "hand", "arm", "skin0", "skin2"]);
    let stretch = &json["animations"][0];
    assert_eq!(
        (
            &stretch["name"],
            &stretch["extras"]["marionette"]["playback"]
        ),
        (&"stretch".into(), &"Once".into())
    );
    assert_eq!(
        stretch["extras"]["marionette"]["callbacks"][0]["data"],
        "firm"
    );
    let scene = &json["scenes"][0]["extras"]["marionette"];
    assert_eq!(
        (
            &scene["masks"]["all"]["roots"][0],
            &scene["sockets"]["palm"]["joint"]
        ),
        (&"root".into(), &"hand".into())
    );
}

#[test]
fn convert_lists_what_the_format_cannot_hold_before_it_writes() {
    let folder = characters();
    let run = convert(&folder, &["arm.character.ron", "-o", "arm.m3d"]);
    assert_eq!(run.code, Some(0), "losses are no errors: {}", run.stderr);
    assert_message("convert: a manifest to m3d", said(&run));
}

#[test]
fn convert_embeds_textures_and_flips_normal_maps_with_green_down() {
    let folder = characters();
    let at = |name: &str| folder.path().join(name);
    let pixels = RgbImage::from_fn(4, 2, |x, y| Rgb([x as u8, y as u8 * 3, 9]));
    pixels
        .save_with_format(at("skin0.png"), ImageFormat::Png)
        .unwrap();
    let mut others = pixels.clone();
    others.put_pixel(1, 1, Rgb([200, 100, 50]));
    others
        .save_with_format(at("skin2.tga"), ImageFormat::Tga)
        .unwrap();
    let run = convert(&folder, &["arm.md5mesh", "-o", "arm.glb"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_message("convert: embedded textures", said(&run));
    let (json, binary) = read_glb(&folder, "arm.glb");
    let image = |json: &Value, binary: &[u8], at: usize| -> Vec<u8> {
        let view =
            &json["bufferViews"][json["images"][at]["bufferView"].as_u64().unwrap() as usize];
        let [start, length] =
            ["byteOffset", "byteLength"].map(|key| view[key].as_u64().unwrap() as usize);
        binary[start..start + length].to_vec()
    };
    assert_eq!(
        image(&json, &binary, 0),
        fs::read(at("skin0.png")).unwrap(),
        "as it is"
    );
    let decoded = |bytes: &[u8]| {
        image::load_from_memory_with_format(bytes, ImageFormat::Png)
            .unwrap()
            .into_rgb8()
    };
    assert_eq!(decoded(&image(&json, &binary, 1)), others);

    // Direct3D's normal maps have green down. The file is found by the name of the base color map.
    pixels
        .save_with_format(at("lower_nmap.png"), ImageFormat::Png)
        .unwrap();
    let run = convert(&folder, &["bar.m3d", "-o", "bar.glb"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let (json, binary) = read_glb(&folder, "bar.glb");
    let normal = json["materials"][0]["normalTexture"]["index"]
        .as_u64()
        .unwrap() as usize;
    let flipped = RgbImage::from_fn(4, 2, |x, y| Rgb([x as u8, 255 - y as u8 * 3, 9]));
    assert_eq!(decoded(&image(&json, &binary, normal)), flipped);
    // What glTF has no place for is linked.
    assert_eq!(json["images"][1]["uri"], "textures/upper.DDS");
    assert_message("convert: a texture that is linked", said(&run));
}

#[test]
fn a_broken_texture_is_left_out_with_a_warning() {
    let folder = characters();
    fs::write(folder.path().join("skin0.tga"), "no image").unwrap();
    let run = convert(&folder, &["arm.md5mesh", "-o", "arm.glb"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_message("convert: a broken texture", said(&run));
    assert!(read_glb(&folder, "arm.glb").0.get("images").is_none());
}

#[test]
fn convert_copies_textures_beside_the_other_formats() {
    let folder = characters();
    fs::write(folder.path().join("skin0.png"), picture(1)).unwrap();
    fs::create_dir(folder.path().join("out")).unwrap();
    let run = convert(&folder, &["arm.md5mesh", "-o", "out/arm.m3d"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(
        fs::read(folder.path().join("out/skin0.png")).unwrap(),
        picture(1)
    );
}

#[test]
fn textures_from_outside_the_models_folder_are_copied_into_that_of_the_output() {
    let folder = characters();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("pack/models")).unwrap();
    fs::create_dir_all(at("out/here")).unwrap();
    fs::write(at("skin0.png"), picture(1)).unwrap();
    let model = fs::read_to_string(at("arm.md5mesh")).unwrap();
    let model = model.replace("\"skin0\"", "\"../../skin0.png\"");
    fs::write(at("pack/models/arm.md5mesh"), model).unwrap();
    let run = convert(
        &folder,
        &["pack/models/arm.md5mesh", "-o", "out/here/arm.m3d"],
    );
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(fs::read(at("out/here/skin0.png")).unwrap(), picture(1));
    let written = fs::read_to_string(at("out/here/arm.m3d")).unwrap();
    assert!(written.contains("DiffuseMap: skin0.png"), "{written}");
    let run = marionette(
        &folder,
        &["import", "pack/models/arm.md5mesh", "-o", "out/arm"],
    );
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(fs::read(at("out/arm/skin0.png")).unwrap(), picture(1));
    fs::remove_file(at("skin0.png")).unwrap();
    let run = marionette(&folder, &["inspect", "out/arm/arm.character.ron", "--json"]);
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    let materials = json[0]["model"]["materials"].as_array().unwrap();
    let is_found = |m: &Value| m["textures"][0]["found"] == "skin0.png";
    assert!(materials.iter().any(is_found), "{}", run.stdout);
    // Where two would get one name, nothing is written.
    fs::write(at("skin0.png"), picture(1)).unwrap();
    fs::write(at("pack/skin0.png"), picture(2)).unwrap();
    let two = fs::read_to_string(at("pack/models/arm.md5mesh")).unwrap();
    let two = two.replace("\"skin2\"", "\"../skin0.png\"");
    fs::write(at("pack/models/arm.md5mesh"), two).unwrap();
    let run = convert(&folder, &["pack/models/arm.md5mesh", "-o", "out/two.m3d"]);
    assert_eq!(run.code, Some(1));
    assert_message("convert: textures of one name", said(&run));
    assert!(!at("out/two.m3d").exists());
}

#[test]
fn images_in_a_glb_become_files_beside_the_other_formats() {
    let folder = characters();
    let at = |name: &str| folder.path().join(name);
    RgbImage::new(2, 2)
        .save_with_format(at("skin0.png"), ImageFormat::Png)
        .unwrap();
    let png = fs::read(at("skin0.png")).unwrap();
    assert_eq!(
        convert(&folder, &["arm.md5mesh", "-o", "arm.glb"]).code,
        Some(0)
    );
    fs::remove_file(at("skin0.png")).unwrap();
    let run = convert(&folder, &["arm.glb", "-o", "arm.m3d"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_message("convert: a texture beside the model", said(&run));
    assert_eq!(fs::read(at("skin0.png")).unwrap(), png);
    let inspected = marionette(&folder, &["inspect", "arm.m3d"]).stdout;
    assert!(inspected.contains("skin0.png"), "{inspected}");
    // And back into a .glb.
    assert_eq!(
        convert(&folder, &["arm.glb", "-o", "again.glb"]).code,
        Some(0)
    );
    assert_eq!(
        read_glb(&folder, "again.glb").0["images"][0]["mimeType"],
        "image/png"
    );
}

#[test]
fn a_clip_whose_name_is_taken_gets_a_number() {
    let folder = characters();
    fs::create_dir(folder.path().join("more")).unwrap();
    fs::copy(
        folder.path().join("reach.md5anim"),
        folder.path().join("more/Reach.md5anim"),
    )
    .unwrap();
    let inputs = [
        "arm.md5mesh",
        "reach.md5anim",
        "reach.md5anim",
        "more/Reach.md5anim",
    ];
    let run = convert(&folder, &[&inputs[..], &["-o", "arm.glb"]].concat());
    assert_message("convert: clips that share a name", said(&run));
    let (json, _) = read_glb(&folder, "arm.glb");
    let names: Vec<_> = json["animations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|clip| clip["name"].clone())
        .collect();
    assert_eq!(names, ["reach", "reach.2", "Reach"]);
    // Some systems take `reach` and `Reach` for one file.
    fs::create_dir(folder.path().join("out")).unwrap();
    assert_eq!(
        convert(&folder, &[&inputs[..], &["-o", "all.m3d"]].concat()).code,
        Some(0)
    );
    assert_eq!(
        convert(&folder, &["all.m3d", "-o", "out/arm.md5mesh"]).code,
        Some(0)
    );
    let mut files: Vec<_> = fs::read_dir(folder.path().join("out"))
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    files.sort();
    assert_eq!(
        files,
        [
            "Reach.3.md5anim",
            "arm.md5mesh",
            "reach.2.md5anim",
            "reach.md5anim"
        ]
    );
}

#[test]
fn clips_beside_the_output_are_overwritten_on_demand_only() {
    let folder = characters();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("out")).unwrap();
    fs::write(at("out/reach.md5anim"), "work of a week").unwrap();
    let args = ["arm.md5mesh", "reach.md5anim", "-o", "out/arm.md5mesh"];
    let run = convert(&folder, &args);
    assert_eq!(run.code, Some(1));
    assert_message("convert: a clip that exists", said(&run));
    assert!(
        fs::read(at("out/reach.md5anim")).unwrap() == b"work of a week"
            && !at("out/arm.md5mesh").exists()
    );
    assert_eq!(
        convert(&folder, &[&args[..], &["--force"]].concat()).code,
        Some(0)
    );
    assert_ne!(
        fs::read(at("out/reach.md5anim")).unwrap(),
        b"work of a week"
    );
    // Once more, it writes what is there already.
    assert_eq!(convert(&folder, &args).code, Some(0));
}

#[test]
fn convert_says_why_it_cannot() {
    let folder = characters();
    for (args, code) in [
        (&["bar.m3d", "-o", "bar.fbx"][..], 2),
        (&["bar.m3d"], 2),
        (&["gone.m3d", "-o", "out.glb"], 1),
        (&["broken/bad.md5mesh", "-o", "out.glb"], 1),
        (&["bar.m3d", "reach.md5anim", "-o", "out.glb"], 1),
        (&["bar.m3d", "-o", "no/such/folder/out.glb"], 1),
        (&["reach.md5anim", "-o", "out.glb"], 1),
    ] {
        let run = convert(&folder, args);
        assert_eq!(run.code, Some(code), "{args:?}: {}", run.stderr);
        assert_message(&format!("convert {}", args.join(" ")), said(&run));
    }
    assert!(!folder.path().join("out.glb").exists());
}

#[cfg(unix)]
#[test]
fn convert_never_overwrites_its_inputs() {
    let folder = characters();
    let at = |name: &str| folder.path().join(name);
    std::os::unix::fs::symlink("bar.m3d", at("link.glb")).unwrap();
    fs::hard_link(at("arm.md5mesh"), at("same.md5mesh")).unwrap();
    fs::create_dir(at("out")).unwrap();
    std::os::unix::fs::symlink("../reach.md5anim", at("out/reach.md5anim")).unwrap();
    let inputs =
        || ["bar.m3d", "arm.md5mesh", "reach.md5anim"].map(|name| fs::read(at(name)).unwrap());
    let before = inputs();
    for args in [
        &["bar.m3d", "-o", "bar.m3d"][..],
        &["bar.m3d", "-o", "link.glb"],
        &["arm.character.ron", "-o", "same.md5mesh"],
        // The clip beside it.
        &[
            "arm.md5mesh",
            "reach.md5anim",
            "-o",
            "hand.md5mesh",
            "--force",
            "--scale",
            "2",
        ],
        &[
            "arm.md5mesh",
            "reach.md5anim",
            "-o",
            "out/arm.md5mesh",
            "--force",
            "--scale",
            "2",
        ],
    ] {
        let run = convert(&folder, args);
        assert_eq!(run.code, Some(1), "{args:?}: {}", run.stderr);
        assert_message(&format!("convert {}", args.join(" ")), said(&run));
    }
    assert!(inputs() == before && fs::read_to_string(at("arm.md5mesh")).unwrap() == md5_mesh());
}

#[test]
fn files_that_are_no_pictures_are_neither_copied_nor_embedded() {
    let folder = characters();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("pack/models")).unwrap();
    for secret in ["secret", "secret.png", "secret.tga", "secret.dds"] {
        fs::write(at(secret), "password: hunter2").unwrap();
    }
    let plain = fs::read_to_string(at("arm.md5mesh")).unwrap();
    let above = at("").to_str().unwrap().replace('\\', "/");
    for name in [
        "../../secret".to_owned(),
        "../../secret.png".to_owned(),
        "../../secret.tga".to_owned(),
        "../../secret.dds".to_owned(),
        "../../../../../../../../../../../../proc/self/environ".to_owned(),
        "../../../../../../../../../../../../etc/passwd".to_owned(),
        format!("{above}secret.png"),
    ] {
        let model = plain.replace("\"skin0\"", &format!("\"{name}\""));
        fs::write(at("pack/models/arm.md5mesh"), model).unwrap();
        for out in ["out/a.m3d", "out/a.md5mesh", "out/a.glb"] {
            fs::create_dir_all(at("out")).unwrap();
            let run = convert(&folder, &["pack/models/arm.md5mesh", "-o", out]);
            assert_eq!(run.code, Some(0), "{}", run.stderr);
            let main = out.rsplit('/').next().unwrap();
            let files = fs::read_dir(at("out")).unwrap().flatten();
            let files: Vec<_> = files.map(|file| file.file_name()).collect();
            assert_eq!(files, [main], "{name}");
            assert!(
                !fs::read(at(out))
                    .unwrap()
                    .windows(7)
                    .any(|w| w == b"hunter2")
            );
            fs::remove_dir_all(at("out")).unwrap();
        }
        let run = marionette(&folder, &["import", "pack/models/arm.md5mesh", "-o", "out"]);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        assert_eq!(fs::read_dir(at("out")).unwrap().count(), 2, "{name}");
        fs::remove_dir_all(at("out")).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn pictures_behind_links_out_of_the_folder_are_not_found() {
    let folder = characters();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("pack/models")).unwrap();
    fs::create_dir_all(at("private")).unwrap();
    fs::write(at("private/skin0.png"), picture(1)).unwrap();
    std::os::unix::fs::symlink("../private", at("pack/link")).unwrap();
    let model = fs::read_to_string(at("arm.md5mesh")).unwrap();
    let model = model.replace("\"skin0\"", "\"../link/skin0.png\"");
    fs::write(at("pack/models/arm.md5mesh"), model).unwrap();
    let run = marionette(&folder, &["import", "pack/models/arm.md5mesh", "-o", "out"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(!at("out/skin0.png").exists());
}

/// Also by a link in the folder itself, as an archive may have one.
#[cfg(unix)]
#[test]
fn pictures_that_are_links_out_of_the_folder_are_not_found() {
    let folder = characters();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("pack/own")).unwrap();
    fs::write(at("secret.png"), picture(1)).unwrap();
    fs::write(at("pack/own/real.png"), picture(2)).unwrap();
    fs::copy(at("arm.md5mesh"), at("pack/arm.md5mesh")).unwrap();
    for (target, is_found) in [("../secret.png", false), ("own/real.png", true)] {
        std::os::unix::fs::symlink(target, at("pack/skin0.png")).unwrap();
        let run = marionette(&folder, &["import", "pack/arm.md5mesh", "-o", "out"]);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        assert_eq!(at("out/skin0.png").exists(), is_found, "{}", run.stderr);
        let run = marionette(
            &folder,
            &["convert", "pack/arm.md5mesh", "-o", "out/arm.glb"],
        );
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let said = run.stdout + &run.stderr;
        assert_eq!(said.contains("1 embedded texture"), is_found, "{said}");
        fs::remove_dir_all(at("out")).unwrap();
        fs::remove_file(at("pack/skin0.png")).unwrap();
    }
}
