//! What becomes of a clip, one thing at a time.

use super::{model::cube, *};
use crate::messages::{assert_message, assert_messages};
use bevy_marionette::import::{ImportLimits, Manifest, open_manifest};
use std::borrow::Cow;

/// `root` and `tip` over it, and a clip of two frames that lifts the tip from 1 to 2.
fn lift() -> (Md5Mesh, Md5Anim) {
    let mut mesh = cube();
    mesh.joints = vec![
        Md5Joint {
            name: "root".into(),
            position: [5.0, 0.0, 0.0],
            ..Md5Joint::default()
        },
        Md5Joint {
            name: "tip".into(),
            parent: Some(0),
            position: [5.0, 0.0, 1.0],
            ..Md5Joint::default()
        },
    ];
    let anim = Md5Anim {
        frame_rate: 10.0,
        components: 1,
        joints: vec![
            Md5AnimJoint {
                name: "root".into(),
                ..Md5AnimJoint::default()
            },
            Md5AnimJoint {
                name: "tip".into(),
                parent: Some(0),
                flags: 4,
                start: 0,
            },
        ],
        base_frame: vec![[[7.0, 0.0, 0.0], [0.0; 3]], [[0.0; 3]; 2]],
        frames: vec![1.0, 2.0],
        ..Md5Anim::default()
    };
    (mesh, anim)
}

#[test]
fn joints_are_matched_by_name_and_what_does_not_match_is_told_once() {
    let (mesh, mut anim) = lift();
    let skeleton = import(&mesh).model.skeleton;
    let settings = ImportSettings::default();
    anim.joints[0].name = "elsewhere".into();
    anim.joints.push(Md5AnimJoint {
        name: "tip".into(),
        parent: None,
        ..Md5AnimJoint::default()
    });
    anim.base_frame.push([[99.0; 3], [0.0; 3]]);
    anim.joints[1].parent = None;
    let parsed = clip_from_md5("a.md5anim", "a", &checked(&anim), &skeleton, &settings).unwrap();
    assert!(!parsed.value.animates(0) && parsed.value.animates(1));
    assert_messages("md5: a clip of other joints", &parsed.warnings);
    // The clip says where the tip is in the model, not over the root, which rests at x = 5.
    let tip = parsed.value.transform_at(1, 1).translation;
    assert!((tip - Vec3::new(0.0, 2.0, 5.0)).length() < 1e-5, "{tip}");
}

#[test]
fn without_a_common_name_both_sides_are_named() {
    let (mesh, mut anim) = lift();
    let skeleton = import(&mesh).model.skeleton;
    anim.joints[0].name = "Bip01".into();
    anim.joints[1].name = "Bip01 Head".into();
    let error = clip_from_md5(
        "run.md5anim",
        "run",
        &checked(&anim),
        &skeleton,
        &ImportSettings::default(),
    )
    .unwrap_err();
    assert_message("md5: a clip without a joint of the model", error);
}

#[test]
fn a_clip_lasts_from_its_first_frame_to_its_last() {
    let (mesh, mut anim) = lift();
    let skeleton = import(&mesh).model.skeleton;
    let settings = ImportSettings {
        scale: 0.5,
        ..ImportSettings::default()
    };
    anim.frames = vec![1.0, 2.0, 4.0, 8.0];
    let clip = clip_from_md5("a", "a", &checked(&anim), &skeleton, &settings)
        .unwrap()
        .value;
    assert_eq!((clip.timing.duration, clip.frame_count()), (3.0 / 10.0, 4));
    assert_eq!(clip.transform_at(1, 3).translation, Vec3::Y * 4.0);
    assert_eq!(clip.transform_at(0, 2).translation, Vec3::NEG_Z * 3.5);
    anim.frames.truncate(1);
    let clip = clip_from_md5("a", "a", &checked(&anim), &skeleton, &settings)
        .unwrap()
        .value;
    assert_eq!((clip.timing.duration, clip.frame_count()), (0.0, 1));
}

#[test]
fn without_a_model_joints_rest_in_the_first_frame_even_at_half_a_turn() {
    let settings = ImportSettings::default();
    let mut random = fastrand::Rng::with_seed(7);
    let mut worst = 0.0_f64;
    for _ in 0..200 {
        let (_, mut anim) = lift();
        for [_, orientation] in &mut anim.base_frame {
            // Next to half a turn, w is next to 0.
            let axis = Vec3::from([(); 3].map(|()| random.f32() - 0.5)).normalize();
            *orientation = (axis * (1.0 - 1e-6 * random.f32())).to_array();
        }
        let anim = checked(&anim);
        let skeleton = skeleton_of_anim("a.md5anim", &anim, &settings).unwrap();
        let clip = clip_from_md5("a.md5anim", "a", &anim, &skeleton, &settings).unwrap();
        for joint in 0..2 {
            let [rest, first] = [
                skeleton.rest_of(joint),
                clip.value.transform_at(joint.into(), 0),
            ]
            .map(|transform| transform.rotation.as_dquat().normalize());
            worst = worst.max(rest.angle_between(first));
        }
    }
    assert!(worst < 2e-4, "{worst}");
}

#[test]
fn a_negative_frame_rate_plays_the_frames_backwards() {
    let (mesh, mut anim) = lift();
    let skeleton = import(&mesh).model.skeleton;
    anim.frames = vec![1.0, 2.0, 4.0, 8.0];
    anim.frame_rate = -20.0;
    let clip = clip_from_md5(
        "a",
        "a",
        &checked(&anim),
        &skeleton,
        &ImportSettings::default(),
    )
    .unwrap()
    .value;
    assert_eq!((clip.timing.duration, clip.frame_count()), (3.0 / 20.0, 4));
    assert_eq!(
        [0, 1, 3].map(|frame| clip.transform_at(1, frame).translation.y),
        [8.0, 4.0, 1.0]
    );
}

#[test]
fn a_delta_file_holds_differences_to_its_first_frame() {
    let (mesh, mut anim) = lift();
    let skeleton = import(&mesh).model.skeleton;
    // The tip leans forward by 0.3 more in the second frame; only its rotation about Y changes.
    let lean = |angle: f64| (-DQuat::from_rotation_y(angle).normalize()).as_quat().y;
    anim.joints[1].flags = 4 | 16;
    anim.components = 2;
    anim.frames = vec![1.0, lean(0.5), 2.0, lean(0.8)];
    let settings = ImportSettings::default();
    let clip = clip_from_md5(
        "shoot_delta.md5anim",
        "shoot",
        &checked(&anim),
        &skeleton,
        &settings,
    )
    .unwrap()
    .value;
    assert!(clip.additive);
    // The second frame is the last: a fast lean gets frames in between.
    let [first, second] = [0, clip.frame_count() - 1].map(|frame| clip.transform_at(1, frame));
    assert!(
        first.translation == Vec3::ZERO
            && first.rotation.angle_between(glam::Quat::IDENTITY) < 1e-3
    );
    assert!((second.translation - Vec3::Y).length() < 1e-6);
    // The file's Y is Bevy's −X.
    let expected = glam::Quat::from_rotation_x(-0.3);
    assert!(
        second.rotation.angle_between(expected) < 1e-3,
        "{:?}",
        second.rotation
    );
    let written = to_md5_anim(&clip, &skeleton);
    let again = clip_from_md5(
        "x_DELTA.MD5ANIM",
        "shoot",
        &checked(&written),
        &skeleton,
        &settings,
    )
    .unwrap()
    .value;
    assert!((again.transform_at(1, again.frame_count() - 1).translation - Vec3::Y).length() < 1e-6);
    assert!(
        !clip_from_md5(
            "shoot.md5anim",
            "shoot",
            &checked(&anim),
            &skeleton,
            &settings
        )
        .unwrap()
        .value
        .additive
    );
}

#[test]
fn an_empty_model_and_one_without_joints_can_be_written() {
    let nothing = to_md5_mesh(&Model::default());
    assert_eq!((nothing.joints.len(), nothing.meshes.len()), (1, 0));
    let mut still = import(&cube()).model;
    still.skeleton = Default::default();
    for part in &mut still.parts {
        part.influences.clear();
        part.palette.clear();
    }
    let again = import(
        &parse_mesh("a", write_mesh(&to_md5_mesh(&still)).as_bytes())
            .unwrap()
            .value,
    )
    .model;
    assert_eq!(again.parts[0].positions, still.parts[0].positions);
    assert_eq!(again.parts[0].triangles, still.parts[0].triangles);
}

#[test]
fn a_file_that_several_entries_of_a_manifest_name_is_read_once() {
    let (mesh, anim) = lift();
    let (mesh, anim) = (write_mesh(&mesh), write_anim(&anim));
    let entries = "\"up\": (file: \"lift.md5anim\"), \"again\": (file: \"lift.md5anim\"), \"third\": (file: \"lift.md5anim\")";
    let manifest = format!("(model: \"cube.md5mesh\", clips: {{{entries}}})");
    let manifest = Manifest::parse("cube.character.ron", manifest.as_bytes()).unwrap();
    let mut reads = Vec::new();
    let read = |path: &str| {
        reads.push(path.to_owned());
        Ok(Cow::Borrowed(if path == "cube.md5mesh" {
            mesh.as_bytes()
        } else {
            anim.as_bytes()
        }))
    };
    let model = open_manifest(
        "cube.character.ron",
        &manifest,
        &ImportLimits::default(),
        read,
    )
    .unwrap()
    .model;
    assert_eq!(reads, ["cube.md5mesh", "lift.md5anim"]);
    let mut names: Vec<&str> = model.clips.iter().map(|clip| &*clip.timing.name).collect();
    names.sort();
    assert_eq!(names, ["again", "third", "up"]);
}
