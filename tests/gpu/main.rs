//! What reaches the GPU, on whatever adapter there is; software Vulkan will do (`sh .ci/setup`).

mod arm;
mod harness;
mod readback;

use arm::{arm, bent};
use bevy::prelude::*;
use bevy_marionette::{
    character::{CharacterParts, ModelPose, Teleported},
    pose::Palette,
    prelude::*,
};
use harness::Harness;

/// The palette of a character's part, worked out here from its pose and place.
fn expected(world: &World, entity: Entity, part: usize) -> Vec<Mat4> {
    let handle = world.get::<SkinnedCharacter>(entity).unwrap();
    let character = world.resource::<Assets<Character>>().get(handle.id()).unwrap();
    let pose = world.get::<ModelPose>(entity).unwrap();
    let remap = &character.parts[part].palette;
    let mut out = vec![Mat4::ZERO; remap.len()];
    let inverse_bind = character.skeleton.inverse_bind();
    let place = world.get::<GlobalTransform>(entity).unwrap().affine();
    Palette { world: place, model: &pose.joints, inverse_bind, remap }.run(&mut out);
    out
}

#[test]
fn the_joint_buffer_holds_the_palettes_of_all_characters() {
    let mut harness = Harness::new();
    let entities: Vec<Entity> = (0..5)
        .map(|i| {
            let entity = harness.spawn(arm(), "bend", Transform::from_xyz(i as f32 - 2.0, 0.0, 0.0));
            harness.world().get_mut::<AnimationController>(entity).unwrap().set_speed(0.5 + i as f64 * 0.3);
            entity
        })
        .collect();
    for frame in 0..30 {
        harness.update();
        if frame == 12 {
            // One leaves and another takes its range over.
            harness.world().despawn(entities[1]);
            harness.spawn(arm(), "bend", Transform::from_xyz(0.0, 1.0, 0.0));
        }
    }
    harness.update();
    for &entity in entities.iter().filter(|&&e| e != entities[1]) {
        for part in 0..2 {
            let expected = expected(harness.world(), entity, part);
            assert_eq!(harness.current_palette(entity, part), expected, "{entity} part {part}");
        }
    }
}

#[test]
fn the_previous_buffer_holds_the_last_frame_and_none_after_a_jump() {
    let mut harness = Harness::new();
    let entity = harness.spawn(arm(), "bend", Transform::default());
    (0..5).for_each(|_| harness.update());
    let before = harness.current_palette(entity, 0);
    harness.update();
    let after = harness.current_palette(entity, 0);
    assert_ne!(before, after, "the arm moves");
    assert_eq!(harness.previous_palette(entity, 0), before);

    // Far away in one frame: nothing to streak.
    harness.world().get_mut::<Transform>(entity).unwrap().translation.x = 30.0;
    harness.look_at(Vec3::X * 30.0);
    harness.update();
    let there = harness.current_palette(entity, 0);
    assert!(there[0].w_axis.x > 25.0);
    assert_eq!(harness.previous_palette(entity, 0), there);

    // And then it moves as before.
    harness.update();
    assert_eq!(harness.previous_palette(entity, 0), there);
    assert_ne!(harness.current_palette(entity, 0), there);

    // A short jump is only noticed when it is announced.
    harness.world().get_mut::<Transform>(entity).unwrap().translation.x += 0.5;
    harness.world().entity_mut(entity).insert(Teleported);
    harness.update();
    assert_eq!(harness.previous_palette(entity, 0), harness.current_palette(entity, 0));
    harness.update();
    assert_ne!(harness.previous_palette(entity, 0), harness.current_palette(entity, 0), "announced once");
}

#[test]
fn a_part_that_comes_back_into_view_leaves_no_motion() {
    let mut harness = Harness::new();
    let entity = harness.spawn(arm(), "bend", Transform::default());
    (0..4).for_each(|_| harness.update());
    harness.world().entity_mut(entity).insert(Visibility::Hidden);
    (0..7).for_each(|_| harness.update());
    harness.world().entity_mut(entity).insert(Visibility::Inherited);
    harness.update();
    let current = harness.current_palette(entity, 0);
    assert_eq!(current, expected(harness.world(), entity, 0));
    assert_eq!(harness.previous_palette(entity, 0), current);
}

#[test]
fn a_frame_skinned_on_the_gpu_is_the_frame_of_the_mesh_skinned_on_the_cpu() {
    let mut harness = Harness::new();
    let entity = harness.spawn(arm(), "bend", Transform::from_rotation(Quat::from_rotation_y(0.4)));
    (0..20).for_each(|_| harness.update());
    harness.pause();
    let on_gpu = harness.picture();
    let parts: Vec<Mesh> = (0..2)
        .map(|part| {
            let palette = expected(harness.world(), entity, part);
            bent(&arm().parts[part], &palette)
        })
        .collect();
    harness.world().entity_mut(entity).insert(Visibility::Hidden);
    for mesh in parts {
        harness.spawn_mesh(mesh);
    }
    let on_cpu = harness.picture();
    let (width, height) = (on_gpu.width(), on_gpu.height());
    let lit = on_gpu.pixels().filter(|p| p.0[..3].iter().any(|&c| c > 40)).count();
    assert!(lit > 2000, "the arm is in the picture: {lit} pixels");
    let differ =
        on_gpu.pixels().zip(on_cpu.pixels()).filter(|(a, b)| (0..3).any(|c| a.0[c].abs_diff(b.0[c]) > 3)).count();
    assert!(differ <= 12, "{differ} of {width}×{height} pixels differ");
}

#[test]
fn characters_out_of_view_keep_their_clock_and_are_not_posed() {
    let mut harness = Harness::new();
    let entity = harness.spawn(arm(), "bend", Transform::from_xyz(0.0, 0.0, 500.0));
    (0..3).for_each(|_| harness.update());
    let pose = harness.world().get::<ModelPose>(entity).unwrap().joints.clone();
    let time = harness.world().get::<AnimationController>(entity).unwrap().time();
    (0..3).for_each(|_| harness.update());
    assert_eq!(harness.world().get::<ModelPose>(entity).unwrap().joints, pose);
    assert!(harness.world().get::<AnimationController>(entity).unwrap().time() > time);
    assert_eq!(harness.world().get::<CharacterParts>(entity).unwrap().entities.len(), 2);
}

#[test]
fn nothing_vanishes_at_the_edge_of_the_picture() {
    // The arm's root is out of view to the left; the hand, bent by the clip, is in view.
    let mut harness = Harness::new();
    let entity = harness.spawn(arm(), "reach", Transform::from_xyz(0.0, 0.0, 0.0));
    harness.pause_at(entity, 0.5);
    harness.look_at(Vec3::new(4.9, 0.0, 0.0));
    let with_culling = harness.picture();
    let lit = with_culling.pixels().filter(|p| p.0[..3].iter().any(|&c| c > 40)).count();
    assert!(lit > 50, "the reaching hand is seen: {lit} pixels");
}
