use super::*;
use TextureMap::{BaseColor, Normal, Specular};

fn resolve(written: &str, map: TextureMap, files: &[&str]) -> Option<String> {
    TextureFiles::new(files.iter().copied())
        .resolve(written, map)
        .map(str::to_owned)
}

#[test]
fn the_name_as_written_wins_whatever_its_case_and_slashes() {
    assert_eq!(
        resolve("upBody_norm.dds", Normal, &["upbody_norm.dds"]).as_deref(),
        Some("upbody_norm.dds")
    );
    assert_eq!(
        resolve("a.png", BaseColor, &["A.png", "a.png"]).as_deref(),
        Some("a.png")
    );
    assert_eq!(
        resolve(r"tex\\wall.dds", BaseColor, &["wall.dds", "tex/wall.dds"]).as_deref(),
        Some("tex/wall.dds")
    );
    assert_eq!(
        resolve(r"..\tex\wall.dds", BaseColor, &["../tex/wall.dds"]).as_deref(),
        Some("../tex/wall.dds")
    );
}

#[test]
fn extensions_are_added_or_exchanged() {
    assert_eq!(
        resolve("models/bob/head", BaseColor, &["models/bob/head.tga"]).as_deref(),
        Some("models/bob/head.tga")
    );
    assert_eq!(
        resolve("head.tga", BaseColor, &["head.png"]).as_deref(),
        Some("head.png")
    );
    assert_eq!(
        resolve("head.v2", BaseColor, &["head.png", "head.v2.png"]).as_deref(),
        Some("head.v2.png")
    );
}

#[test]
fn the_file_name_alone_is_looked_for_beside_the_model() {
    assert_eq!(
        resolve("models/mapobjects/crate", BaseColor, &["crate.jpg"]).as_deref(),
        Some("crate.jpg")
    );
    assert_eq!(
        resolve(r"f:\art\crate.tga", BaseColor, &["crate.tga"]).as_deref(),
        Some("crate.tga")
    );
    assert_eq!(
        texture_candidates(r"f:\art\crate.tga", BaseColor)[0],
        "crate.tga"
    );
    assert_eq!(
        texture_candidates("/home/me/crate.tga", BaseColor)[0],
        "crate.tga"
    );
}

#[test]
fn folders_that_names_lead_to_are_listed_unless_they_are_listed_anyway() {
    let material = |base: &str, normal: &str| Material {
        base_color_map: Some(base.into()),
        normal_map: Some(normal.into()),
        ..Material::default()
    };
    let materials = [
        material("skin.png", "textures/skin.png"),
        material(r"..\textures\skin.png", "a/./b//skin.png"),
        material("../textures/../textures/cloth.png", "../up.png"),
        material(r"C:\art\a\skin.png", "/art/a/skin.png"),
        material("file:///C:/art/skin.png", "https://example.com/a/skin.png"),
        material("../..", "hero.v2/skin.png"),
    ];
    assert_eq!(
        texture_folders(&materials),
        ["../textures", "a/b", "..", "hero.v2"]
    );
    let many: Vec<_> = (0..10_000)
        .map(|at| material(&format!("../{at}/skin.png"), ""))
        .collect();
    assert!(texture_folders(&many).len() <= 64);
}

#[test]
fn absolute_paths_are_looked_for_by_name() {
    let files = ["skin.png", "art/skin.png", "my skin.png"];
    for written in [
        r"C:\art\skin.png",
        "C:/art/skin.png",
        "/art/skin.png",
        r"\\server\art\skin.png",
        "https://a.b/art/skin.png",
        "C:skin.png",
        r"C:..\..\skin.png",
        r"\\?\C:\skin.png",
        "/../../skin.png",
    ] {
        assert_eq!(
            resolve(written, BaseColor, &files).as_deref(),
            Some("skin.png"),
            "{written}"
        );
        assert!(!is_relative_path(written), "{written}");
    }
    assert_eq!(
        resolve("file:///C:/art/my skin.png", BaseColor, &files).as_deref(),
        Some("my skin.png")
    );
    assert_eq!(
        resolve("../art/skin.png", BaseColor, &files).as_deref(),
        Some("skin.png")
    );
}

#[test]
fn companions_come_last() {
    let files = ["fat.tga", "fat_d.tga", "fat_local.tga", "fat_s.png"];
    assert_eq!(
        resolve("models/fat", BaseColor, &files).as_deref(),
        Some("fat.tga")
    );
    assert_eq!(
        resolve("models/fat", BaseColor, &files[1..]).as_deref(),
        Some("fat_d.tga")
    );
    assert_eq!(resolve("missing", Specular, &files), None);
    let textures = |base: &str| {
        let material = Material {
            base_color_map: Some(base.into()),
            ..Material::default()
        };
        TextureFiles::new(files[1..].iter().copied()).resolve_material(&material)
    };
    let expected = [
        Some("fat_d.tga"),
        Some("fat_local.tga"),
        Some("fat_s.png"),
        None,
        None,
        None,
    ];
    let expected = MaterialTextures(expected.map(|file| file.map(str::to_owned)));
    assert_eq!(textures("models/fat"), expected);
    assert_eq!(textures("fat_d.tga"), expected);
}

#[test]
fn a_missing_normal_map_falls_back_to_the_one_beside_the_base_color() {
    let material = Material {
        base_color_map: Some("bricks.jpg".into()),
        normal_map: Some("gone.dds".into()),
        ..Material::default()
    };
    let files = TextureFiles::new(["bricks.jpg", "bricks_nmap.jpg"]);
    assert_eq!(
        files.resolve_material(&material).get(Normal),
        Some("bricks_nmap.jpg")
    );
}

#[test]
fn names_that_mean_no_file_have_no_candidates() {
    for written in [
        "",
        "  ",
        "<default>",
        "..",
        "../..",
        "/",
        r"\\",
        ".",
        "a/..",
        "skin.png\0",
        "C:",
    ] {
        assert_eq!(
            texture_candidates(written, BaseColor),
            [""; 0],
            "{written:?}"
        );
    }
}

#[test]
fn the_oddest_names_do_no_harm() {
    for written in [
        "../../../../../../etc/passwd",
        "é:ü",
        ".tga",
        "…",
        "a\0b",
        "_d",
        "://",
        "x:/",
        "a//../b/./c.tga",
    ] {
        for map in [BaseColor, Normal, Specular] {
            assert!(
                texture_candidates(written, map)
                    .iter()
                    .all(|name| !name.starts_with('/') && !name.is_empty())
            );
        }
    }
    assert_eq!(
        texture_candidates("a//../b/./c.tga", BaseColor)[0],
        "b/c.tga"
    );
}

#[test]
fn dots_are_dots_however_they_are_written() {
    for written in [
        "%2e%2e/skin.png",
        r".%2E\skin.png",
        ".. /skin.png",
        ".../skin.png",
        "a/../../skin.png",
        r"a\..\.\..\skin.png",
    ] {
        let first = &texture_candidates(written, BaseColor)[0];
        assert_eq!(first, "../skin.png", "{written}");
    }
}

#[test]
fn paths_from_the_root_are_no_files_of_a_model() {
    let files = ["/etc/skin.png", r"C:\skin.png", "a\0/skin.png"];
    assert_eq!(resolve("skin.png", BaseColor, &files), None);
    assert_eq!(resolve("/etc/skin.png", BaseColor, &files), None);
}
