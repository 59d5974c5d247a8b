//! What exporters write in their own ways: transparency, bind matrices, levels of detail, and odd text.

use super::{
    file::{After, Cluster, File},
    import, import_with_warnings, open,
    scenes::{FACES, arm, tetrahedron},
};
use crate::messages::assert_messages;
use bevy_marionette::{
    import::{ImportSettings, Imported, open_model},
    model::Material,
};
use glam::DMat4;

/// A material with these properties, and textures of these properties.
fn material(properties: &[(&str, &[f64])], textures: &[(&str, &str)]) -> File {
    let mut file = File::default();
    let node = file.node("body", "Mesh", 0, &[]);
    file.mesh(node, &tetrahedron([0.0; 3]), &FACES, "");
    let mut contents = String::from("ShadingModel: \"lambert\"\nProperties70: {\n");
    for (name, numbers) in properties {
        let numbers: Vec<String> = numbers.iter().map(f64::to_string).collect();
        let kind = if numbers.len() == 3 {
            "Color"
        } else {
            "Number"
        };
        contents += &format!(
            "P: \"{name}\", \"{kind}\", \"\", \"A\",{}\n",
            numbers.join(",")
        );
    }
    contents += "}";
    let material = file.object("Material", "Material", "glass", "", &contents);
    file.connect(material, node);
    for (property, image) in textures {
        let contents = format!("FileName: \"{image}\"\nRelativeFilename: \"{image}\"");
        let texture = file.object("Texture", "Texture", "map", "", &contents);
        file.connect_to(texture, material, property);
    }
    file
}

fn is_cut_out(material: &Material) -> bool {
    material.alpha_cutoff.is_some() && !material.alpha_blend
}

#[test]
fn transparency_is_read_as_each_exporter_means_it() {
    const GRAY: (&str, &[f64]) = ("TransparentColor", &[0.6; 3]);
    const WHITE: (&str, &[f64]) = ("TransparentColor", &[1.0; 3]);
    const BLACK: (&str, &[f64]) = ("TransparentColor", &[0.0; 3]);
    let factor = |factor: &'static [f64]| ("TransparencyFactor", factor);
    let opacity = |opacity: &'static [f64]| ("Opacity", opacity);
    for (properties, alpha) in [
        (vec![factor(&[0.6])], 0.4),
        (vec![factor(&[0.6]), BLACK], 0.4),
        (vec![factor(&[0.6]), opacity(&[0.4])], 0.4),
        (vec![factor(&[0.5]), WHITE, opacity(&[0.5])], 0.5),
        (vec![factor(&[1.0]), GRAY, opacity(&[0.4])], 0.4),
        (vec![factor(&[1.0]), GRAY], 0.4),
        (vec![GRAY], 0.4),
        (vec![opacity(&[0.3])], 0.3),
        // Opaque, in the words of Maya, Mixamo, and MODO.
        (vec![factor(&[1.0]), BLACK, opacity(&[1.0])], 1.0),
        (vec![factor(&[1.0]), WHITE], 1.0),
        (vec![factor(&[0.0]), WHITE], 1.0),
        (vec![], 1.0),
    ] {
        let (imported, _) = import(&material(&properties, &[]).text(), &[]);
        let material = &imported.model.materials[0];
        let off = (material.base_color[3] - alpha).abs();
        assert!(off < 1e-6, "{properties:?}: {:?}", material.base_color);
        assert_eq!(material.alpha_blend, alpha < 1.0, "{properties:?}");
    }
}

#[test]
fn opacity_in_the_base_color_cuts_out_and_in_another_image_is_told() {
    let color = ("DiffuseColor", "hair.png");
    for property in ["TransparentColor", "TransparencyFactor"] {
        let properties: &[(&str, &[f64])] = &[("TransparencyFactor", &[1.0])];
        let same = material(properties, &[color, (property, "hair.png")]);
        let (imported, _) = import(&same.text(), &[]);
        assert!(is_cut_out(&imported.model.materials[0]));
        let other = material(properties, &[color, (property, "opacity.png")]);
        let (imported, _) = import_with_warnings(&other.text(), "fbx: opacity in another image");
        assert!(!is_cut_out(&imported.model.materials[0]));
    }
}

/// A text without the lines that begin with a word.
fn without(text: &str, word: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with(word));
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn joints_without_bind_matrices_are_bound_at_rest() {
    let mut file = File::default();
    arm(&mut file);
    let text = file.text();
    let bound = open(text.as_bytes()).unwrap().model;
    for word in ["TransformLink", "Transform:", "Transform"] {
        let imported = open(without(&text, word).as_bytes()).unwrap();
        assert_messages("fbx: no bind matrices", &imported.warnings);
        let [part, other] = [&imported.model.parts[0], &bound.parts[0]];
        assert_eq!(part.positions.len(), other.positions.len());
        for (a, b) in part.positions.iter().zip(&other.positions) {
            assert!(a.distance(*b) < 1e-5, "{word}: {a} instead of {b}");
        }
    }
}

#[test]
fn of_levels_of_detail_the_first_is_shown() {
    let mut file = File::default();
    let group = file.node("group", "LodGroup", 0, &[]);
    let attribute = "TypeFlags: \"LodGroup\"";
    let attribute = file.object(
        "NodeAttribute",
        "NodeAttribute",
        "group",
        "LodGroup",
        attribute,
    );
    file.connect(attribute, group);
    for name in ["near", "middle", "far"] {
        // A mesh may be deeper than its level.
        let level = file.node(&format!("{name}_level"), "Null", group, &[]);
        let node = file.node(name, "Mesh", level, &[]);
        file.mesh(node, &tetrahedron([0.0; 3]), &FACES, "");
    }
    let node = file.node("hat", "Mesh", 0, &[]);
    file.mesh(node, &tetrahedron([0.0; 3]), &FACES, "");
    let (imported, _) = import_with_warnings(&file.text(), "fbx: levels of detail");
    assert_eq!(part_names(&imported), ["hat", "near"]);
    assert_eq!(
        part_names(&with_all_levels(&file)),
        ["far", "hat", "middle", "near"]
    );
}

#[test]
fn of_levels_of_detail_that_names_tell_the_finest_is_shown() {
    let mut file = File::default();
    for name in ["body_LOD1", "body_LOD0", "hat"] {
        let node = file.node(name, "Mesh", 0, &[]);
        file.mesh(node, &tetrahedron([0.0; 3]), &FACES, "");
    }
    // A node's name counts for what is below it.
    for level in 0..2 {
        let group = file.node(&format!("LOD{level}"), "Null", 0, &[]);
        let node = file.node(&format!("boots{level}"), "Mesh", group, &[]);
        file.mesh(node, &tetrahedron([0.0; 3]), &FACES, "");
    }
    let (imported, _) = import_with_warnings(&file.text(), "fbx: levels of detail by name");
    assert_eq!(part_names(&imported), ["body_LOD0", "boots0", "hat"]);
    let all = ["body_LOD0", "body_LOD1", "boots0", "boots1", "hat"];
    assert_eq!(part_names(&with_all_levels(&file)), all);
}

#[test]
fn skins_that_could_blend_dual_quaternions_but_do_not_are_linear() {
    for (weights, is_linear) in [("0,0", true), ("0,0.5", false)] {
        let mut file = File::default();
        let bone = file.node("bone", "LimbNode", 0, &[]);
        let body = file.node("body", "Mesh", 0, &[]);
        let mesh = file.mesh(body, &tetrahedron([0.0; 3]), &FACES, "");
        let cluster = Cluster {
            node: bone,
            weights: (0..4).map(|vertex| (vertex, 1.0)).collect(),
            mesh: DMat4::IDENTITY,
            joint: DMat4::IDENTITY,
        };
        let blend = format!(
            "\nSkinningType: \"Blend\"\nIndexes: *2 {{ a: 0,1 }}\nBlendWeights: *2 {{ a: {weights} }}\n"
        );
        file.skin_with(mesh, &[cluster], &blend);
        if is_linear {
            import(&file.text(), &[]);
        } else {
            import_with_warnings(&file.text(), "fbx: dual quaternions");
        }
    }
}

fn part_names(imported: &Imported) -> Vec<&str> {
    let parts = imported.model.parts.iter();
    let mut names: Vec<&str> = parts.map(|part| &*part.name).collect();
    names.sort_unstable();
    names
}

fn with_all_levels(file: &File) -> Imported {
    let settings = ImportSettings {
        all_lods: true,
        ..ImportSettings::default()
    };
    let imported = open_model("f.fbx", file.text().as_bytes(), &settings).unwrap();
    assert!(imported.warnings.is_empty(), "{:?}", imported.warnings);
    imported
}

#[test]
fn numbers_that_are_not_finite_become_0_and_a_byte_order_mark_is_skipped() {
    let mut file = File::default();
    let [root, ..] = arm(&mut file);
    let (_, layer) = file.stack("wave", [0.0, 1.0]);
    let keys = [(0.0, 0.0, After::Linear), (1.0, 80.0, After::Linear)];
    file.animate(layer, root, "Lcl Rotation", &[("X", &keys)], "");
    let text = file.text();
    let plain = open(text.as_bytes()).unwrap();
    let marked = open(format!("\u{feff}{text}").as_bytes()).unwrap();
    let clips = |imported: &Imported| format!("{:?}", imported.model.clips);
    assert_eq!(clips(&plain), clips(&marked));
    assert!(marked.warnings.is_empty(), "{:?}", marked.warnings);
    let value = "KeyValueFloat: *2 { a: 0,80 }";
    assert!(text.contains(value));
    for word in [
        "1.#QNAN",
        "-1.#IND",
        "1.#INF",
        "1.#SNAN0",
        "-1.#IND00",
        "1.#QO",
        "1.#J",
        "nan",
        "-nan(ind)",
        "inf",
        "-inf",
    ] {
        let odd = text.replace(value, &format!("KeyValueFloat: *2 {{ a: {word},80 }}"));
        let odd = open(odd.as_bytes()).unwrap_or_else(|error| panic!("{word}: {error}"));
        assert_messages("fbx: a number that is not finite", &odd.warnings);
        assert_eq!(clips(&odd), clips(&plain), "{word}");
    }
}

#[test]
fn text_of_version_6_1_as_3ds_max_writes_it_is_read() {
    let imported = open(include_bytes!("max_6100.fbx")).unwrap();
    assert!(imported.warnings.is_empty(), "{:?}", imported.warnings);
    let model = &imported.model;
    assert_eq!(
        (model.parts.len(), model.skeleton.len(), model.clips.len()),
        (1, 1, 1)
    );
}
