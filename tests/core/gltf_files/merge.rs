//! Parts that a manifest merges.

use super::file::random_turn;
use crate::{drawn::drawn, messages::assert_messages};
use bevy_marionette::{
    import::{ImportLimits, Imported, Manifest, open_manifest},
    model::{Material, Model, SkinPart},
};
use fastrand::Rng;
use glam::{Affine3A, Vec3, Vec4};
use serde_json::{Value, json};
use std::{borrow::Cow, collections::BTreeSet, rc::Rc};

const SCOUT: &[u8] = include_bytes!("../../../assets/scout/scout.glb");

/// Scout's file, with changed JSON.
fn scout_with(change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let length = u32::from_le_bytes(SCOUT[12..16].try_into().unwrap()) as usize;
    let (json, rest) = SCOUT[20..].split_at(length);
    let mut json = serde_json::from_slice(json).unwrap();
    change(&mut json);
    let mut text = serde_json::to_vec(&json).unwrap();
    text.resize(text.len().next_multiple_of(4), b' ');
    let all = (20 + text.len() + rest.len()) as u32;
    let mut glb = [b"glTF", &2_u32.to_le_bytes()[..], &all.to_le_bytes()].concat();
    glb.extend((text.len() as u32).to_le_bytes());
    glb.extend(b"JSON");
    glb.extend(text);
    glb.extend(rest);
    glb
}

/// Scout's file, with other materials: each made from its index.
fn scout_with_materials(mut of: impl FnMut(usize) -> Value) -> Vec<u8> {
    scout_with(|json| {
        let materials = json["materials"].as_array_mut().unwrap();
        for (index, material) in materials.iter_mut().enumerate() {
            *material = of(index);
        }
    })
}

/// Scout's file, whose parts all have the same material.
fn scout_of_one_material() -> Vec<u8> {
    scout_with(|json| {
        for mesh in json["meshes"].as_array_mut().unwrap() {
            for primitive in mesh["primitives"].as_array_mut().unwrap() {
                primitive["material"] = json!(0);
            }
        }
    })
}

fn open(glb: &[u8], entries: &str) -> Imported {
    let text = format!("(\n    model: \"scout.glb\",\n    {entries}\n)");
    let manifest = Manifest::parse("scout.character.ron", text.as_bytes()).unwrap();
    let again = Manifest::parse("again", manifest.to_ron().unwrap().as_bytes());
    assert_eq!(again.as_ref(), Ok(&manifest));
    let read = |_: &str| Ok(Cow::Borrowed(glb));
    open_manifest(
        "scout.character.ron",
        &manifest,
        &ImportLimits::default(),
        read,
    )
    .unwrap()
}

fn names(model: &Model) -> Vec<&str> {
    model.parts.iter().map(|part| &*part.name).collect()
}

fn part<'a>(model: &'a Model, name: &str) -> &'a SkinPart {
    let found = model.parts.iter().find(|part| part.name == name);
    found.unwrap_or_else(|| panic!("no part `{name}` among {:?}", names(model)))
}

/// The positions of a part in some pose. Any matrices will do: both sides have the same.
fn posed(model: &Model, part: &SkinPart) -> Vec<Vec3> {
    let mut random = Rng::with_seed(3);
    let joints: Vec<Affine3A> = model
        .skeleton
        .joints()
        .map(|_| {
            let turn = random_turn(&mut random, 3.0);
            Affine3A::from_rotation_translation(turn, Vec3::splat(random.f32()))
        })
        .collect();
    drawn(&model.skeleton, part, &joints)
}

#[test]
fn merged_parts_move_and_morph_as_they_did_apart() {
    let glb = scout_of_one_material();
    let apart = open(&glb, "").model;
    assert_eq!(
        names(&apart),
        ["skin", "hair", "jacket", "trousers", "leather"]
    );
    // The second group lists parts that are taken already.
    let merged = open(
        &glb,
        "merge: { \"head\": [\"hair\", \"skin\"], \"outfit\": [\"*\"] },",
    )
    .model;
    assert_eq!(names(&merged), ["head", "outfit"]);
    for (name, of) in [
        ("head", &["skin", "hair"][..]),
        ("outfit", &["jacket", "trousers", "leather"]),
    ] {
        let whole = part(&merged, name);
        let parts = || of.iter().map(|name| part(&apart, name));
        let posed_apart = parts().flat_map(|part| posed(&apart, part));
        for (together, alone) in posed(&merged, whole).into_iter().zip(posed_apart) {
            assert!(
                together.distance(alone) < 1e-5,
                "{name}: {together} {alone}"
            );
        }
        assert!(parts().flat_map(|part| &part.normals).eq(&whole.normals));
        assert!(parts().flat_map(|part| &part.tangents).eq(&whole.tangents));
        assert!(
            parts()
                .flat_map(|part| &part.tex_coords)
                .eq(&whole.tex_coords)
        );
        let (mut first, mut triangles) = (0, Vec::new());
        for part in parts() {
            for (vertex, at) in (0..part.positions.len()).zip(first as usize..) {
                for morph in 0..apart.skeleton.morphs().len() {
                    let delta = |part: &SkinPart, vertex| {
                        let mut targets = part.morphs.iter();
                        let target = targets.find(|target| usize::from(target.morph) == morph);
                        target
                            .map(|target| target.delta(vertex))
                            .unwrap_or_default()
                    };
                    assert_eq!(delta(whole, at), delta(part, vertex), "{name} {at} {morph}");
                }
            }
            let moved = |triangle: &[u32; 3]| triangle.map(|vertex| vertex + first);
            triangles.extend(part.triangles.iter().map(moved));
            first += part.positions.len() as u32;
        }
        assert_eq!(whole.triangles, triangles);
        // Joints that several of them use have one entry.
        assert!(whole.palette.len() < parts().map(|part| part.palette.len()).sum());
    }
    assert!(!part(&merged, "head").morphs.is_empty());
}

#[test]
fn parts_with_different_materials_stay_apart() {
    let merged = open(SCOUT, "merge: { \"all\": [\"*\"] },").model;
    assert_eq!(
        names(&merged),
        [
            "all.skin",
            "all.hair",
            "all.jacket",
            "all.trousers",
            "all.leather"
        ]
    );
}

#[test]
fn parts_of_different_colors_have_them_at_their_vertices() {
    let glb = scout_with_materials(|index| {
        // The first two are alike but for their colors, and so are the others.
        let (color, metallic) = (index as f32 / 8.0, if index < 2 { 0.0 } else { 1.0 });
        json!({
            "name": format!("material {index}"),
            "pbrMetallicRoughness": {
                "baseColorFactor": [color, 0.5, 1.0 - color, 1.0],
                "metallicFactor": metallic,
            },
        })
    });
    let apart = open(&glb, "").model;
    let merged = open(&glb, "merge: { \"all\": [\"*\"] },").model;
    assert_eq!(names(&merged), ["all.material 0", "all.material 2"]);
    for (whole, of) in merged
        .parts
        .iter()
        .zip([&["skin", "hair"][..], &["jacket", "trousers", "leather"]])
    {
        let mut colors = Vec::new();
        for name in of {
            let part = part(&apart, name);
            let color = apart.materials[part.material].base_color;
            colors.extend(part.positions.iter().map(|_| Vec4::from(color)));
        }
        assert_eq!(whole.colors, colors);
        // All else is what the materials have in common.
        let first = &apart.materials[part(&apart, of[0]).material];
        let expected = Material {
            name: whole.name.clone(),
            base_color: [1.0; 4],
            ..first.clone()
        };
        assert_eq!(merged.materials[whole.material], expected);
    }
    assert_eq!(merged.materials.len(), 2, "those of before are not needed");
    // One of the three that are alike stays as it is, and so does its material.
    let merged = open(&glb, "merge: { \"all\": [\"jacket\", \"leather\"] },").model;
    assert_eq!(names(&merged), ["skin", "hair", "all", "trousers"]);
    let materials = merged
        .parts
        .iter()
        .map(|part| &*merged.materials[part.material].name);
    assert!(materials.eq(["material 0", "material 1", "all", "material 3"]));
    assert_eq!(merged.materials.len(), 4);
}

#[test]
fn alpha_stays_in_the_material_where_it_decides_what_is_drawn() {
    let colored = |mode: &str| {
        let glb = scout_with_materials(|index| {
            // The first two have one alpha, and the others another.
            let alpha = if index < 2 { 0.25 } else { 0.75 };
            json!({
                "alphaMode": mode,
                "pbrMetallicRoughness": {"baseColorFactor": [index as f32 / 8.0, 0.5, 0.5, alpha]},
            })
        });
        open(&glb, "merge: { \"all\": [\"*\"] },").model
    };
    assert_eq!(colored("OPAQUE").parts.len(), 1);
    for mode in ["MASK", "BLEND"] {
        let merged = colored(mode);
        let alphas = merged.materials.iter().map(|material| material.base_color);
        assert!(alphas.eq([0.25, 0.75].map(|alpha| [1.0, 1.0, 1.0, alpha])));
        let mut colors = merged.parts.iter().flat_map(|part| &part.colors);
        assert!(colors.all(|color| color.w == 1.0));
    }
}

#[test]
fn colors_that_no_vertex_can_have_keep_their_materials() {
    let glb = scout_with_materials(|index| {
        let red = [0.5, 1.5, 0.25, 1.5, 2.0][index];
        json!({"pbrMetallicRoughness": {"baseColorFactor": [red, 0.5, 0.5, 1]}})
    });
    let merged = open(&glb, "merge: { \"all\": [\"*\"] },").model;
    let colors = merged
        .parts
        .iter()
        .map(|part| merged.materials[part.material].base_color[0]);
    assert!(
        colors.eq([1.0, 1.5, 2.0]),
        "one at its vertices, and two as they were"
    );
    let at_vertices = merged.parts.iter().filter(|part| !part.colors.is_empty());
    assert_eq!(at_vertices.count(), 1);
}

#[test]
fn parts_that_are_kept_keep_their_names() {
    let entries = "merge: { \"leather\": [\"jacket\", \"trousers\"] },";
    let merged = open(&scout_of_one_material(), entries).model;
    assert_eq!(names(&merged), ["skin", "hair", "leather.2", "leather"]);
}

#[test]
fn a_name_with_a_star_means_its_own_part_only() {
    let glb = scout_with(|json| {
        let mut text = json.to_string();
        for (before, after) in [("\"jacket\"", "\"*\""), ("\"trousers\"", "\"*s\"")] {
            assert!(text.contains(before));
            text = text.replace(before, after);
        }
        *json = serde_json::from_str(&text).unwrap();
    });
    let merged = open(&glb, "merge: { \"one\": [\"*\"], \"two\": [\"*s\"], },").model;
    assert_eq!(names(&merged), ["skin", "hair", "one", "two", "leather"]);
}

#[test]
fn a_group_without_parts_is_a_warning() {
    let imported = open(
        &scout_of_one_material(),
        "merge: { \"a\": [\"jacket\", \"trousers\"], \"b\": [\"jacket\"] },",
    );
    assert_eq!(imported.model.parts.len(), 4);
    assert_messages("merge: a group without parts", &imported.warnings);
}

#[test]
fn what_has_too_many_joints_for_a_palette_becomes_several_parts() {
    let merged = open(
        &scout_of_one_material(),
        "max_palette: 24, merge: { \"body\": [\"*\"] },",
    )
    .model;
    assert!(names(&merged).starts_with(&["body", "body.2"]));
    assert!(merged.parts.iter().all(|part| part.palette_len() <= 24));
    let triangles = |model: &Model| -> usize {
        let parts = model.parts.iter();
        parts.map(|part| part.triangles.len()).sum()
    };
    assert_eq!(
        triangles(&merged),
        triangles(&open(&scout_of_one_material(), "").model)
    );
}

#[test]
fn an_entry_that_lists_no_part_is_a_warning_at_its_place() {
    let imported = open(
        &scout_of_one_material(),
        "merge: { \"outfit\": [\"jaket\", \"trousers\"] },",
    );
    assert_eq!(imported.model.parts.len(), 5);
    assert_messages("merge: a part that the model lacks", &imported.warnings);
}

/// The triangles that a model draws: their materials without name and color, and the bits of all that is known at their corners,
/// but for what moves them.
fn triangles(model: &Model) -> Vec<(Rc<str>, Vec<u32>)> {
    let mut triangles = Vec::new();
    for part in &model.parts {
        let material = &model.materials[part.material];
        let [r, g, b, alpha] = material.base_color;
        let look = Material {
            name: String::new(),
            base_color: [1.0, 1.0, 1.0, alpha],
            ..material.clone()
        };
        let look: Rc<str> = format!("{look:?}").into();
        let corner = |vertex: u32| {
            let at = vertex as usize;
            let color = part.colors.get(at).copied().unwrap_or(Vec4::ONE);
            let color = color * Vec4::new(r, g, b, 1.0);
            let uv = part.tex_coords.get(at).copied().unwrap_or_default();
            let (position, normal) = (part.positions[at], part.normals[at]);
            let numbers = [
                position.to_array(),
                normal.to_array(),
                color.truncate().to_array(),
            ];
            numbers
                .into_iter()
                .flatten()
                .chain(uv.to_array())
                .map(f32::to_bits)
        };
        let bits = |corners: &[u32; 3]| corners.iter().copied().flat_map(corner).collect();
        triangles.extend(
            part.triangles
                .iter()
                .map(|corners| (look.clone(), bits(corners))),
        );
    }
    triangles.sort_unstable();
    triangles
}

#[test]
fn random_merges_draw_what_the_parts_drew() {
    const NAMES: [&str; 5] = ["skin", "hair", "jacket", "trousers", "leather"];
    let mut fewer = 0;
    for seed in 0..20 {
        let mut random = Rng::with_seed(seed);
        let glb = scout_with_materials(|index| {
            let mode = ["OPAQUE", "OPAQUE", "OPAQUE", "MASK", "BLEND"][random.usize(..5)];
            let red = [0.25, 0.5, 1.0, 1.5][random.usize(..4)];
            // What is opaque has no alpha, so any would do.
            let alpha = if mode == "OPAQUE" {
                1.0
            } else {
                [0.5, 0.75][random.usize(..2)]
            };
            json!({
                "name": if random.bool() { "body".to_owned() } else { format!("m{index}") },
                "alphaMode": mode,
                "doubleSided": random.u8(..6) == 0,
                "pbrMetallicRoughness": {"baseColorFactor": [red, 0.5, 0.5, alpha]},
            })
        });
        let mut group = || {
            let name = ["body", "hair", "body.2", "b"][random.usize(..4)];
            let chosen = NAMES.iter().filter(|_| random.u8(..3) > 0);
            let mut list: Vec<String> = chosen.map(|name| format!("{name:?}")).collect();
            if random.u8(..4) == 0 {
                list.push("\"*a*\"".to_owned());
            }
            format!("{name:?}: [{}]", list.join(", "))
        };
        let groups = group();
        let palette = ["", "max_palette: 12, "][random.usize(..2)];
        let apart = open(&glb, "").model;
        let merged = open(&glb, &format!("{palette}merge: {{ {groups} }},")).model;
        let context = format!("seed {seed}: {palette}{groups}");
        assert!(triangles(&merged) == triangles(&apart), "{context}");
        let unique: BTreeSet<&str> = names(&merged).into_iter().collect();
        assert_eq!(unique.len(), merged.parts.len(), "{context}");
        let used: BTreeSet<usize> = merged.parts.iter().map(|part| part.material).collect();
        assert!(used.into_iter().eq(0..merged.materials.len()), "{context}");
        fewer += usize::from(merged.parts.len() < apart.parts.len());
    }
    assert!(fewer >= 5, "{fewer}");
}
