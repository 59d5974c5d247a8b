use super::*;

fn material(map: &str) -> Material {
    Material {
        base_color_map: Some(map.into()),
        ..Material::default()
    }
}

#[test]
fn formats_that_need_a_feature_of_bevy_are_named_once() {
    let found = |name: &str| TextureUse {
        role: "base_color",
        written: None,
        found: Some(name.into()),
    };
    let maps = ["a.webp", "b.png", "B.WebP", "a.webp", "c.ktx2"].map(found);
    let warnings = features("f.glb", &[maps.into()]);
    let said: Vec<&str> = warnings.iter().map(|warning| &*warning.message).collect();
    let expected = [
        "2 textures are in WebP, which an app may not read",
        "a texture is in KTX2, which an app may not read",
    ];
    assert_eq!(said, expected);
}

#[test]
fn maps_are_found_where_their_names_lead_and_else_by_name() {
    let temporary = tempfile::tempdir().unwrap();
    // One level down, so that `../../x.png` is a file in the test's own folder, too.
    let folder = temporary.path().join("game");
    fs::create_dir_all(folder.join("textures")).unwrap();
    fs::create_dir_all(folder.join("models/a/b")).unwrap();
    for file in [
        "models/Skin.PNG",
        "textures/cloth.tga",
        "models/a/b/deep.png",
    ] {
        fs::write(folder.join(file), b"").unwrap();
    }
    let models = folder.join("models");
    let materials = [
        "../textures/cloth.tga",
        "a/b/deep.png",
        "a/../skin.png",
        "../textures/skin.png",
        r"C:\x\skin.png",
        "../../x.png",
    ];
    let materials = materials.map(material);
    let found = resolve(&materials, &models, &[], &[]);
    let found: Vec<_> = found.iter().map(|maps| maps[0].found.as_deref()).collect();
    let skin = Some("Skin.PNG");
    assert_eq!(
        found,
        [
            Some("../textures/cloth.tga"),
            Some("a/b/deep.png"),
            skin,
            skin,
            skin,
            None
        ]
    );
}

#[test]
fn maps_are_found_beside_the_model_and_one_level_down_and_the_others_are_named_once() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("textures")).unwrap();
    for file in ["Skin.PNG", "textures/cloth.tga"] {
        fs::write(folder.path().join(file), b"").unwrap();
    }
    let materials = [
        material("skin.png"),
        material("textures\\cloth"),
        material("hair.dds"),
        material("hair.dds"),
        material("hat.png"),
    ];
    let textures = resolve(&materials, folder.path(), &[], &["hat.png"]);
    let found: Vec<_> = textures
        .iter()
        .map(|maps| maps[0].found.as_deref())
        .collect();
    assert_eq!(
        found,
        [
            Some("Skin.PNG"),
            Some("textures/cloth.tga"),
            None,
            None,
            Some("hat.png")
        ]
    );
    let warning = missing("a.m3d", &textures).unwrap();
    assert_eq!(warning.message.matches("`hair.dds`").count(), 1);
    assert_eq!(missing("a.m3d", &textures[..2]), None);
}
