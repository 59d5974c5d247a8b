//! Clips of files that hold nothing else: neither skin nor mesh, and of the skeleton only what exporters left of it.

use super::{Body, ImportSettings, compare, open_model};
use crate::messages::{assert_messages, is_like};
use bevy_marionette::{
    import::{ImportLimits, Imported, Manifest, open_manifest},
    internals::{
        import::Retarget,
        model::{Role, Roles},
        pose::{ClipLayer, Evaluate, Scratch},
    },
    model::SkeletalClip,
};
use glam::Vec3;
use serde_json::{Value, json};
use std::{borrow::Cow, collections::HashMap, fs};

fn case(name: &str) -> Vec<u8> {
    let folder = crate::asset("")
        .parent()
        .unwrap()
        .join("tests/core/cases/retarget-names");
    fs::read(folder.join(name)).unwrap()
}

/// The JSON of a binary file, and what follows it.
fn parts(glb: &[u8]) -> (Value, Vec<u8>) {
    let length = u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
    (
        serde_json::from_slice(&glb[20..20 + length]).unwrap(),
        glb[20 + length..].to_vec(),
    )
}

fn glb((json, rest): &(Value, Vec<u8>)) -> Vec<u8> {
    let mut text = json.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut out = b"glTF".to_vec();
    for number in [
        2,
        (20 + text.len() + rest.len()) as u32,
        text.len() as u32,
        0x4E4F_534A,
    ] {
        out.extend(number.to_le_bytes());
    }
    [out, text, rest.clone()].concat()
}

/// A copy of the model whose skin is bound to the same joints, with the animations of the clip file: one file with both.
fn retargeted(model: &Imported, file: &[u8]) -> (SkeletalClip, Vec<String>) {
    let source = open_model("clip.glb", file, &ImportSettings::default())
        .unwrap()
        .model;
    let (from, to) = (
        Roles::infer(&source.skeleton),
        Roles::infer(&model.model.skeleton),
    );
    let map = Retarget::new(&source.skeleton, &from, &model.model.skeleton, &to).unwrap();
    // A skin tells which nodes are above all joints, such as an armature. Without one, the topmost is the root.
    let lost = map
        .report()
        .lost
        .iter()
        .filter(|role| *role != "root")
        .cloned()
        .collect();
    (
        map.run(&source.clips[0], &ImportLimits::default()).unwrap(),
        lost,
    )
}

fn places(model: &Imported, clip: &SkeletalClip, time: f64) -> Vec<Vec3> {
    let mut scratch = Scratch::default();
    Evaluate::new(&model.model.skeleton, &[ClipLayer::new(clip, time)]).run(&mut scratch);
    scratch
        .model()
        .iter()
        .map(|joint| joint.translation.into())
        .collect()
}

/// The skin that exporters left out: a triangle on the joints.
fn with_skin(file: &[u8], skinned: &[u8]) -> Vec<u8> {
    let (mut json, bytes) = parts(file);
    let (donor, donor_bytes) = parts(skinned);
    let count = json["nodes"].as_array().unwrap().len();
    // The mesh's numbers go behind the clip's.
    let [own, other] = [&bytes, &donor_bytes]
        .map(|bytes| u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize);
    let mut all = bytes[8..8 + own].to_vec();
    all.resize(all.len().next_multiple_of(4), 0);
    let shift = all.len();
    all.extend(&donor_bytes[8..8 + other]);
    all.resize(all.len().next_multiple_of(4), 0);
    let [views, accessors] =
        ["bufferViews", "accessors"].map(|key| json[key].as_array().unwrap().len());
    for view in donor["bufferViews"].as_array().unwrap() {
        let mut view = view.clone();
        view["byteOffset"] = json!(view["byteOffset"].as_u64().unwrap_or(0) + shift as u64);
        json["bufferViews"].as_array_mut().unwrap().push(view);
    }
    for accessor in donor["accessors"].as_array().unwrap() {
        let mut accessor = accessor.clone();
        accessor["bufferView"] = json!(accessor["bufferView"].as_u64().unwrap() + views as u64);
        json["accessors"].as_array_mut().unwrap().push(accessor);
    }
    let shifted = |value: &Value| json!(value.as_u64().unwrap() + accessors as u64);
    let mut mesh = donor["meshes"][0].clone();
    let primitive = &mut mesh["primitives"][0];
    for attribute in primitive["attributes"]
        .as_object_mut()
        .unwrap()
        .values_mut()
    {
        *attribute = shifted(attribute);
    }
    if let Some(indices) = primitive.get_mut("indices") {
        *indices = shifted(indices);
    }
    json["meshes"] = json!([mesh]);
    json["skins"] = json!([{ "joints": (0..count).collect::<Vec<_>>() }]);
    json["nodes"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "mesh": 0, "skin": 0 }));
    json["scenes"][0]["nodes"]
        .as_array_mut()
        .unwrap()
        .push(json!(count));
    json["buffers"] = json!([{ "byteLength": all.len() }]);
    let mut chunk = (all.len() as u32).to_le_bytes().to_vec();
    chunk.extend(0x004E_4942_u32.to_le_bytes());
    chunk.extend(all);
    glb(&(json, chunk))
}

/// Files that move only parts of a body: which joints have channels makes no difference to what the others are.
#[test]
fn a_clip_without_a_skin_is_retargeted_as_with_one() {
    let model = open_model("ref.glb", &case("ref.glb"), &ImportSettings::default()).unwrap();
    let random = &mut fastrand::Rng::with_seed(3);
    for round in 0..60 {
        // Full and partial files, with an armature above or not.
        let (mut json, bytes) = parts(&case(["partial_ue_False.glb", "ue.glb"][round % 2]));
        let channels = json["animations"][0]["channels"].as_array_mut().unwrap();
        let kept = random.usize(1..=channels.len());
        while channels.len() > kept {
            channels.remove(random.usize(..channels.len()));
        }
        if round % 3 > 0 {
            let nodes = json["nodes"].as_array_mut().unwrap();
            let mut armature = json!({ "name": "Armature", "children": [0] });
            if round % 3 == 2 {
                // In centimeters, Z up.
                let half = std::f32::consts::FRAC_1_SQRT_2;
                nodes[0]["rotation"] = json!([half, 0.0, 0.0, half]);
                nodes[0]["translation"] = json!([0.0, 0.0, -100.0]);
                for node in &mut nodes[1..] {
                    let scaled = node["translation"]
                        .as_array()
                        .unwrap()
                        .iter()
                        .map(|x| json!(x.as_f64().unwrap() * 100.0));
                    node["translation"] = scaled.collect::<Vec<_>>().into();
                }
                armature["rotation"] = json!([-half, 0.0, 0.0, half]);
                armature["scale"] = json!([0.01, 0.01, 0.01]);
                // Its hips stand upright by their own rotation, which no channel may overwrite.
                channels_of_others(&mut json);
            }
            let nodes = json["nodes"].as_array_mut().unwrap();
            nodes.push(armature);
            let last = nodes.len() - 1;
            json["scenes"][0]["nodes"] = json!([last]);
        }
        if json["animations"][0]["channels"]
            .as_array()
            .unwrap()
            .is_empty()
        {
            continue;
        }
        let bare = glb(&(json, bytes));
        let skinned = with_skin(&bare, &case("ref.glb"));
        let ((found, lost), (right, _)) = (retargeted(&model, &bare), retargeted(&model, &skinned));
        assert!(lost.is_empty(), "{lost:?}");
        for time in [0.0, 0.2, 0.5, 1.0].map(|share| share * found.timing.duration) {
            let (found, right) = (places(&model, &found, time), places(&model, &right, time));
            for (a, b) in found.iter().zip(&right) {
                assert!(a.distance(*b) < 2e-4, "{round} at {time}: {a} is not {b}");
            }
        }
    }
}

/// Leaves out the channels of the first node.
fn channels_of_others(json: &mut Value) {
    json["animations"][0]["channels"]
        .as_array_mut()
        .unwrap()
        .retain(|channel| channel["target"]["node"] != 0);
}

#[test]
fn a_joint_that_does_not_move_can_be_named_in_a_manifest() {
    let text = "(model: \"ref.glb\", clips: {\"plain\": (file: \"clip.glb\", retarget: true),
        \"named\": (file: \"clip.glb\", retarget: (source_roles: {\"hips\": \"pelvis\"}))})";
    let files = HashMap::from([
        ("ref.glb", case("ref.glb")),
        ("clip.glb", case("partial_ue_False.glb")),
    ]);
    let manifest = Manifest::parse("a.character.ron", text.as_bytes()).unwrap();
    let read = |name: &str| {
        files
            .get(name)
            .map(|bytes| Cow::Borrowed(&bytes[..]))
            .ok_or_else(|| "none".to_owned())
    };
    let imported =
        open_manifest("a.character.ron", &manifest, &ImportLimits::default(), read).unwrap();
    let names: Vec<&str> = imported
        .model
        .clips
        .iter()
        .map(|clip| &*clip.timing.name)
        .collect();
    assert!(
        names.contains(&"plain") && names.contains(&"named"),
        "{names:?} {:?}",
        imported.warnings
    );
}

#[test]
fn clips_of_character_creator_and_mikumikudance_are_those_of_the_model() {
    let model = open_model("ref.glb", &case("ref.glb"), &ImportSettings::default()).unwrap();
    let body = Body::new(&model.model.skeleton, 1.0);
    for file in ["cc.glb", "mmd.glb", "ue.glb"] {
        let (found, lost) = retargeted(&model, &case(file));
        assert!(lost.is_empty(), "{file}: {lost:?}");
        let off = compare(&body, &model.model.clips[0], &body, &found);
        assert!(off.places < 1e-4, "{file}: {off}");
        let source = open_model(file, &case(file), &ImportSettings::default())
            .unwrap()
            .model
            .skeleton;
        let roles = Roles::infer(&source);
        assert_eq!(
            roles.iter().filter(|(role, _)| *role != Role::Root).count(),
            21,
            "{file}"
        );
    }
}

#[test]
fn what_mirrored_clips_can_not_tell_is_said_with_the_table_to_write() {
    // A body whose joints are called after the order in which they were made.
    let (mut json, bytes) = parts(&case("ref.glb"));
    for (at, node) in json["nodes"].as_array_mut().unwrap().iter_mut().enumerate() {
        node["name"] = json!(format!("b{at}"));
    }
    let unnamed = glb(&(json, bytes));
    let open = |model: &[u8], sides: &str| {
        let text =
            format!("(model: \"a.glb\", clips: {{\"image\": (mirror: \"MIRRORED\")}}, {sides})");
        let own = open_model("a.glb", model, &ImportSettings::default())
            .unwrap()
            .model
            .clips[0]
            .timing
            .name
            .to_string();
        let manifest = Manifest::parse("a", text.replace("MIRRORED", &own).as_bytes()).unwrap();
        open_manifest("a", &manifest, &ImportLimits::default(), |_| {
            Ok(Cow::Owned(model.to_vec()))
        })
        .unwrap()
    };
    let said = |imported: &Imported| {
        let warnings = imported.warnings.iter();
        let about = warnings.filter(|w| is_like("mirror: joints on no known side", w));
        about.map(ToString::to_string).collect::<Vec<_>>()
    };
    let image = |imported: &Imported| {
        let clip = imported
            .model
            .clips
            .iter()
            .find(|clip| &*clip.timing.name == "image")
            .unwrap()
            .clone();
        places(imported, &clip, 0.5)
    };
    let (named, unknown) = (open(&case("ref.glb"), ""), open(&unnamed, ""));
    assert_messages("mirror: joints on no known side", &unknown.warnings);
    assert!(said(&named).is_empty(), "{:?}", named.warnings);
    let warning = &said(&unknown)[..];
    assert_eq!(warning.len(), 1, "{:?}", unknown.warnings);
    let start = warning[0].find("sides: [").unwrap();
    let table = &warning[0][start..=start + warning[0][start..].find(']').unwrap()];
    // From the upper arms down, and both legs; clavicles are nearly in the middle.
    assert_eq!(table.matches('(').count(), 7, "{table}");
    // What it says to write makes the image right.
    let given = open(&unnamed, table);
    assert!(said(&given).is_empty(), "{:?}", given.warnings);
    for (found, right) in image(&given).iter().zip(&image(&named)) {
        assert!(found.distance(*right) < 1e-5, "{found} is not {right}");
    }
    assert!(
        image(&unknown)
            .iter()
            .zip(&image(&named))
            .any(|(found, right)| found.distance(*right) > 0.05)
    );
}
