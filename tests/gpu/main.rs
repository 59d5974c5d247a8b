//! Checks what reaches the GPU, on any adapter; software Vulkan is enough (`sh .ci/setup`).

mod arm;
mod beside_bevy;
mod churn;
mod faces;
#[allow(dead_code, reason = "another test uses all of it")]
#[path = "../core/gltf_files/file.rs"]
mod gltf_file;
mod harness;
#[path = "../offscreen/mod.rs"]
mod offscreen;
mod random_life;

use arm::{arm, tentacle};
use bevy::prelude::*;
use bevy_marionette::{
    character::{CharacterParts, ModelPose, PartOverrides, Teleported, WeightView, WornBy},
    controller::AnimationTrack,
    prelude::*,
};
use harness::Harness;
use image::RgbaImage;
use offscreen::{
    character::{palette, replace_by_skinned},
    picture::{differences, lit},
};

/// Counts pixels that differ by more than three steps in any channel.
fn different(a: &RgbaImage, b: &RgbaImage) -> usize {
    differences(a, b).filter(|&apart| apart > 3).count()
}

/// The bent arm at this place, with its clock stopped.
fn bent_arm(place: Transform) -> (Harness, Entity) {
    let mut harness = Harness::new();
    let entity = harness.spawn(arm(), "bend", place);
    harness.pause_after(20);
    (harness, entity)
}

fn turned() -> Transform {
    Transform::from_rotation(Quat::from_rotation_y(0.4))
}

#[test]
fn the_joint_buffer_holds_the_palettes_of_all_characters() {
    let mut harness = Harness::new();
    let entities: Vec<Entity> = (0..5)
        .map(|i| {
            let entity =
                harness.spawn(arm(), "bend", Transform::from_xyz(i as f32 - 2.0, 0.0, 0.0));
            harness
                .world()
                .get_mut::<AnimationController>(entity)
                .unwrap()
                .set_speed(0.5 + i as f64 * 0.3);
            entity
        })
        .collect();
    for frame in 0..30 {
        harness.update();
        if frame == 12 {
            // One leaves, and another takes over its range.
            harness.world().despawn(entities[1]);
            harness.spawn(arm(), "bend", Transform::from_xyz(0.0, 1.0, 0.0));
        }
    }
    harness.update();
    for &entity in entities.iter().filter(|&&e| e != entities[1]) {
        for part in 0..2 {
            let expected = palette(harness.world(), entity, part);
            assert_eq!(
                harness.current_palette(entity, part),
                expected,
                "{entity} part {part}"
            );
        }
    }
}

/// Compares the buffer of a crowd whose characters take turns with `assets` and play four sets of clips, each with a part of
/// this many palette entries. Returns the bytes of all palettes.
fn assert_a_crowd_has_its_palettes(characters: u16, length: u16, assets: usize) -> usize {
    let mut harness = Harness::new();
    let mut model = arm();
    model.parts[0].palette = (0..length).map(|entry| entry % 2).collect();
    let assets: Vec<_> = (0..assets).map(|_| harness.add(model.clone())).collect();
    let entities: Vec<Entity> = (0..characters)
        .map(|i| {
            let place = Vec3::new(f32::from(i % 28) - 14.0, 0.0, f32::from(i / 28) - 10.0) * 0.1;
            let turn = Quat::from_rotation_y(f32::from(i) * 0.3);
            let mut controller =
                AnimationController::playing(if i % 3 == 0 { "reach" } else { "bend" });
            if i % 5 == 0 {
                controller.add_track(AnimationTrack::new("bend").weight(0.4).starting_at(0.3));
            }
            controller.set_speed(0.5 + f64::from(i) * 0.01);
            let character = SkinnedCharacter(assets[usize::from(i) % assets.len()].clone());
            let transform = Transform::from_translation(place).with_rotation(turn);
            let entity = harness
                .world()
                .spawn((character, controller, transform))
                .id();
            if i % 7 == 3 {
                harness
                    .world()
                    .entity_mut(entity)
                    .insert(PartOverrides::default().hide(usize::from(i % 2)));
            }
            entity
        })
        .collect();
    for _ in 0..4 {
        harness.update();
    }
    let mut bytes = 0;
    for frame in 0..4 {
        harness.update();
        bytes = 0;
        for (i, &entity) in entities.iter().enumerate() {
            for (part, length) in [usize::from(length), 2].into_iter().enumerate() {
                if i % 7 == 3 && part == i % 2 {
                    continue;
                }
                let expected = palette(harness.world(), entity, part);
                assert_eq!(expected.len(), length);
                assert_eq!(
                    harness.current_palette(entity, part),
                    expected,
                    "frame {frame}, {entity} part {part}"
                );
                bytes += size_of_val(&expected[..]);
            }
        }
    }
    bytes
}

#[test]
fn the_joint_buffer_of_a_crowd_is_written_past_the_caches_with_the_same_bits() {
    let bytes = assert_a_crowd_has_its_palettes(600, 250, 3);
    // What `STREAMED_FROM` of `render::palette` says.
    assert!(bytes > 8 << 20, "{bytes} bytes go through the caches");
}

#[test]
fn characters_of_many_assets_are_posed_in_batches_with_the_same_bits() {
    assert_a_crowd_has_its_palettes(140, 20, 10);
    // More assets than are collected at the same time.
    assert_a_crowd_has_its_palettes(140, 20, 40);
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

    // Far away within one frame: no motion vectors.
    harness
        .world()
        .get_mut::<Transform>(entity)
        .unwrap()
        .translation
        .x = 30.0;
    harness.look_at(Vec3::X * 30.0);
    harness.update();
    let there = harness.current_palette(entity, 0);
    assert!(there[0].w_axis.x > 25.0);
    assert_eq!(harness.previous_palette(entity, 0), there);

    // Afterward, it moves as before.
    harness.update();
    assert_eq!(harness.previous_palette(entity, 0), there);
    assert_ne!(harness.current_palette(entity, 0), there);

    // A short jump is only detected with `Teleported`.
    harness
        .world()
        .get_mut::<Transform>(entity)
        .unwrap()
        .translation
        .x += 0.5;
    harness.world().entity_mut(entity).insert(Teleported);
    harness.update();
    assert_eq!(
        harness.previous_palette(entity, 0),
        harness.current_palette(entity, 0)
    );
    harness.update();
    assert_ne!(
        harness.previous_palette(entity, 0),
        harness.current_palette(entity, 0),
        "announced once"
    );
}

#[test]
fn a_part_that_comes_back_into_view_leaves_no_motion() {
    let mut harness = Harness::new();
    let entity = harness.spawn(arm(), "bend", Transform::default());
    (0..4).for_each(|_| harness.update());
    harness
        .world()
        .entity_mut(entity)
        .insert(Visibility::Hidden);
    (0..7).for_each(|_| harness.update());
    harness
        .world()
        .entity_mut(entity)
        .insert(Visibility::Inherited);
    harness.update();
    let current = harness.current_palette(entity, 0);
    assert_eq!(current, palette(harness.world(), entity, 0));
    assert_eq!(harness.previous_palette(entity, 0), current);
}

/// Draws the arm at a place, then the same arm skinned on the CPU.
fn assert_drawn_as_by_the_cpu(place: Transform) {
    let (mut harness, entity) = bent_arm(place);
    let on_gpu = harness.picture();
    replace_by_skinned(harness.world(), entity);
    let on_cpu = harness.picture();
    assert!(
        lit(&on_gpu) > 2000,
        "the arm is in the picture: {} pixels",
        lit(&on_gpu)
    );
    let differ = different(&on_gpu, &on_cpu);
    assert!(
        differ <= 12,
        "{differ} of {}×{} pixels differ",
        on_gpu.width(),
        on_gpu.height()
    );
}

#[test]
fn a_frame_skinned_on_the_gpu_is_the_frame_of_the_mesh_skinned_on_the_cpu() {
    assert_drawn_as_by_the_cpu(turned());
}

#[test]
fn vertices_with_seven_joints_are_drawn_where_all_of_them_put_them() {
    let model = tentacle();
    let mut harness = Harness::new();
    let entity = harness.spawn(model.clone(), "curl", turned());
    harness.pause_after(25);
    let on_gpu = harness.picture();
    let (current, part) = (harness.current_palette(entity, 0), &model.parts[0]);
    assert_eq!((current.len(), part.palette.len()), (part.palette_len(), 7));
    for (matrix, shares) in current[7..].iter().zip(part.combined_joints.iter()) {
        let mean = shares.iter().fold(Mat4::ZERO, |sum, &(slot, share)| {
            sum + current[usize::from(slot)] * share
        });
        assert!(matrix.abs_diff_eq(mean, 1e-6), "{matrix} for {mean}");
    }
    // Joint by joint, without combined joints.
    let mut positions = Vec::new();
    for (vertex, position) in part.positions.iter().enumerate() {
        let joints = part.joint_weights(vertex);
        assert_eq!(joints.clone().count(), 7);
        positions.push(
            joints
                .map(|(slot, weight)| current[slot].transform_point3(*position) * weight)
                .sum::<Vec3>(),
        );
    }
    let shown = replace_by_skinned(harness.world(), entity);
    let mesh = harness.world().get::<Mesh3d>(shown[0]).unwrap().id();
    harness
        .world()
        .resource_mut::<Assets<Mesh>>()
        .get_mut(mesh)
        .unwrap()
        .insert_attribute(Mesh::ATTRIBUTE_POSITION, positions);
    let on_cpu = harness.picture();
    assert!(lit(&on_gpu) > 1000, "{}", lit(&on_gpu));
    let differ = different(&on_gpu, &on_cpu);
    assert!(differ <= 12, "{differ} pixels differ");
}

#[test]
fn a_mirrored_character_is_drawn_right_side_out() {
    assert_drawn_as_by_the_cpu(turned().with_scale(Vec3::new(-1.0, 1.2, 1.0)));
}

#[test]
fn a_character_that_is_mirrored_is_right_side_out_in_that_very_frame() {
    let (mut harness, entity) = bent_arm(turned());
    for mirrored in [true, false, true] {
        harness
            .world()
            .get_mut::<Transform>(entity)
            .unwrap()
            .scale
            .x = if mirrored { -1.0 } else { 1.0 };
        let [first, settled] = [harness.picture_at_once(), harness.picture()];
        assert!(lit(&settled) > 2000);
        assert_eq!(different(&first, &settled), 0, "mirrored: {mirrored}");
    }
}

#[test]
fn what_is_worn_is_drawn_as_the_bodys_own_skin_would_be() {
    let (mut harness, entity) = bent_arm(turned());
    let own = harness.picture();
    // The same skin on a skeleton with a different order and one more joint.
    let mut sleeve = arm();
    let joint = |name: &str, parent, from: usize| bevy_marionette::model::Joint {
        name: name.into(),
        parent,
        rest: sleeve.skeleton.rest_of(from as u16),
        inverse_bind: sleeve.skeleton.inverse_bind()[from],
    };
    let joints = vec![
        joint("hand", None, 2),
        joint("extra", None, 0),
        joint("elbow", None, 1),
        joint("root", Some(1), 0),
    ];
    sleeve.skeleton = bevy_marionette::model::Skeleton::new(joints).unwrap();
    sleeve.clips.clear();
    for part in &mut sleeve.parts {
        part.palette
            .iter_mut()
            .for_each(|joint| *joint = [3, 2, 0][usize::from(*joint)]);
    }
    let worn = harness.spawn(sleeve, "none", Transform::default());
    harness.world().entity_mut(worn).insert(WornBy(entity));
    harness
        .world()
        .entity_mut(entity)
        .insert(PartOverrides::default().hide("lower").hide("upper"));
    let dressed = harness.picture();
    assert!(lit(&own) > 2000);
    assert_eq!(different(&own, &dressed), 0, "every pixel as before");
    harness
        .world()
        .entity_mut(worn)
        .insert(PartOverrides::default().hide(0).hide(1));
    assert_eq!(lit(&harness.picture()), 0, "it was the sleeve");
}

#[test]
fn weights_color_the_skin_as_it_is_bent_and_the_materials_come_back() {
    let (mut harness, entity) = bent_arm(turned());
    let before = harness.picture();
    harness
        .world()
        .entity_mut(entity)
        .insert(WeightView::Joint(1));
    let weights = harness.picture();
    // The same outline: the skin is bent.
    let outline = |p: &RgbaImage| {
        p.pixels()
            .map(|p| p.0[..3].iter().any(|&c| c > 20))
            .collect::<Vec<_>>()
    };
    let differ = outline(&before)
        .iter()
        .zip(outline(&weights))
        .filter(|(a, b)| **a != *b)
        .count();
    assert!(differ < lit(&before) / 50, "{differ}");
    // Full in the middle, where both tubes end, and zero at the far ends.
    let rows = |is: fn(&[u8; 4]) -> bool| {
        let found: Vec<u32> = weights
            .enumerate_pixels()
            .filter(|(_, _, p)| is(&p.0))
            .map(|(_, y, _)| y)
            .collect();
        assert!(found.len() > 30, "{}", found.len());
        found.iter().sum::<u32>() as f32 / found.len() as f32
    };
    let red = rows(|[r, g, b, _]| *r > 150 && *g < 90 && *b < 60);
    let green = rows(|[r, g, b, _]| *g > 120 && *r < 60 && *b < 60);
    let blue = rows(|[r, g, b, _]| *b > 60 && *r < 40 && *g < 90);
    assert!(
        (red - green).abs() < 60.0 && red < 200.0 && blue > 0.0,
        "red {red}, green {green}, blue {blue}"
    );

    harness
        .world()
        .entity_mut(entity)
        .insert(WeightView::InfluenceCount);
    let counts = harness.picture();
    let greens = counts
        .pixels()
        .filter(|p| p.0[1] > p.0[0] + 30 && p.0[1] > p.0[2] + 30)
        .count();
    assert!(
        greens * 10 > lit(&counts) * 6,
        "two joints pull nearly everywhere: {greens} of {}",
        lit(&counts)
    );

    harness.world().entity_mut(entity).remove::<WeightView>();
    assert_eq!(different(&before, &harness.picture()), 0);
}

#[test]
fn characters_out_of_view_keep_their_clock_and_are_not_posed() {
    let mut harness = Harness::new();
    let entity = harness.spawn(arm(), "bend", Transform::from_xyz(0.0, 0.0, 500.0));
    harness
        .world()
        .entity_mut(entity)
        .insert(ModelPose::default());
    (0..3).for_each(|_| harness.update());
    let pose = harness
        .world()
        .get::<ModelPose>(entity)
        .unwrap()
        .joints
        .clone();
    let time = harness
        .world()
        .get::<AnimationController>(entity)
        .unwrap()
        .time();
    (0..3).for_each(|_| harness.update());
    assert_eq!(
        harness.world().get::<ModelPose>(entity).unwrap().joints,
        pose
    );
    assert!(
        harness
            .world()
            .get::<AnimationController>(entity)
            .unwrap()
            .time()
            > time
    );
    assert_eq!(
        harness
            .world()
            .get::<CharacterParts>(entity)
            .unwrap()
            .entities
            .len(),
        2
    );
}

#[test]
fn nothing_vanishes_at_the_edge_of_the_picture() {
    // The arm's root is out of view to the left; the hand, bent by the clip, is in view.
    let mut harness = Harness::new();
    let entity = harness.spawn(arm(), "reach", Transform::from_xyz(0.0, 0.0, 0.0));
    harness.pause_after(31);
    assert!(harness.world().get::<CharacterParts>(entity).is_some());
    harness.look_at(Vec3::new(4.9, 0.0, 0.0));
    let with_culling = harness.picture();
    let lit = lit(&with_culling);
    assert!(lit > 50, "the reaching hand is seen: {lit} pixels");
}
