//! From one format to the next and back.

use super::{assert_posed_alike, clip, posed, strip};
use bevy_marionette::{
    import::{Hand, ImportSettings, open_model},
    internals::{
        format::m3d::{self, M3d},
        import::{to_glb, to_m3d},
        model::BoundingBox,
    },
    model::{JointTransform, Model, PlaybackMode},
};
use glam::{Affine3A, Quat};
use std::fs;

/// A model written as `.glb` and read.
pub fn through_glb(model: &Model) -> Model {
    let glb = to_glb("hero.glb", model, None, |_, _| None).unwrap().value;
    open_model("hero.glb", &glb, &ImportSettings::default())
        .unwrap()
        .model
}

/// A model written as `.m3d` and read.
fn through_m3d(model: &Model) -> Model {
    read_m3d(&to_m3d(model))
}

fn read_m3d(m3d: &M3d) -> Model {
    let settings = ImportSettings {
        hand: Hand::Right,
        ..ImportSettings::default()
    };
    open_model("hero.m3d", m3d::write(m3d).as_bytes(), &settings)
        .unwrap()
        .model
}

/// Panics if corners of triangles are farther apart than 1e-4 of the size in any clip. Vertices may be split or left out.
pub fn assert_corners_alike(one: &Model, other: &Model) {
    assert_eq!(one.clips.len(), other.clips.len());
    for clip in 0..one.clips.len() {
        assert_eq!(
            one.clips[clip].timing.callbacks,
            other.clips[clip].timing.callbacks
        );
        let found = distance(one, other, clip);
        assert!(found < 1e-4, "{}: {found}", one.clips[clip].timing.name);
    }
}

/// The largest distance between the corners of two models' triangles in a clip at random times, over the size.
fn distance(one: &Model, other: &Model, clip: usize) -> f64 {
    let points = one
        .parts
        .iter()
        .flat_map(|part| part.positions.iter().copied());
    let size = f64::from(BoundingBox::enclosing(points).unwrap().diagonal());
    let mut random = fastrand::Rng::with_seed(3);
    let mut largest: f64 = 0.0;
    for _ in 0..8 {
        let time = random.f64() * one.clips[clip].timing.duration;
        let [one, other] = [one, other].map(|model| {
            let vertices = posed(model, Some(&model.clips[clip]), time);
            let parts = model
                .parts
                .iter()
                .filter(|part| !part.triangles.is_empty())
                .zip(vertices);
            let corners = parts.flat_map(|(part, vertices)| {
                let corners = part.triangles.as_flattened().iter();
                corners
                    .map(|&vertex| vertices[vertex as usize])
                    .collect::<Vec<_>>()
            });
            corners.collect::<Vec<_>>()
        });
        assert_eq!(one.len(), other.len());
        largest = one
            .iter()
            .zip(&other)
            .map(|(a, b)| a.distance(*b) / size)
            .fold(largest, f64::max);
    }
    largest
}

#[test]
fn an_m3d_comes_back_from_gltf_with_its_callback_keys() {
    let path = crate::asset("scout/scout.m3d");
    let mut model = open_model(
        "scout.m3d",
        &fs::read(path).unwrap(),
        &ImportSettings::default(),
    )
    .unwrap()
    .model;
    assert!(!model.clips.is_empty());
    for clip in &mut model.clips {
        clip.timing.playback = PlaybackMode::Once;
        clip.timing
            .add_callback(0.25 * clip.timing.duration, "step", "left");
        clip.timing.add_callback(clip.timing.duration, "end", ());
        clip.timing.add_range(
            0.25 * clip.timing.duration,
            0.5 * clip.timing.duration,
            "hit_window",
            "hard",
        );
    }
    let back = through_glb(&model);
    assert_posed_alike(&model, &back);
    let mut again = through_m3d(&back);
    // The format has no place for them.
    again
        .clips
        .iter_mut()
        .zip(&model.clips)
        .for_each(|(again, clip)| again.timing = clip.timing.clone());
    assert_posed_alike(&model, &again);
}

/// Joints that rest apart from where they were bound, as in files of Blender, and a clip that moves one of them.
#[test]
fn joints_that_a_clip_does_not_move_keep_their_rest_pose_in_an_m3d() {
    let mut model = strip(3, 12);
    // The strip's triangles face either way, from which an `.m3d` would not tell its handedness.
    model.parts[0]
        .triangles
        .iter_mut()
        .skip(1)
        .step_by(2)
        .for_each(|triangle| triangle.swap(1, 2));
    let joints: Vec<_> = model.skeleton.joints().collect();
    assert!(joints.iter().any(|&joint| {
        let joint = usize::from(joint);
        let bound = model.skeleton.rest_model()[joint] * model.skeleton.inverse_bind()[joint];
        !bound.abs_diff_eq(Affine3A::IDENTITY, 0.1)
    }));
    let at = |turn: f32| JointTransform {
        rotation: Quat::from_rotation_x(turn),
        ..model.skeleton.rest_of(0)
    };
    model.clips = vec![clip(
        "nod",
        1.0,
        &["joint0"],
        vec![vec![at(0.0)], vec![at(0.15)], vec![at(0.05)]],
    )];
    model.clips[0] = model.clips[0].bind(&model.skeleton);
    let back = through_m3d(&model);
    let found = distance(&model, &back, 0);
    assert!(found < 1e-4, "{found}");
    let found = distance(&model, &through_m3d(&through_glb(&model)), 0);
    assert!(found < 1e-4, "{found}");
    assert_eq!(back.clips[0].timing.duration, 1.0);
    // It is needed: without keys, the joints rest where they were bound.
    let mut without = to_m3d(&model);
    without.clips[0].bones[2].clear();
    assert!(distance(&model, &read_m3d(&without), 0) > 0.01);
}
