//! The characters in the scene, what they play, and what must be true of them.

use super::{
    offscreen::character::{asset, palette, parts, pose, replace_by_skinned},
    snake::{self, snake},
    stage::{SIZE, Stage},
};
use bevy::prelude::*;
use bevy_marionette::{
    asset::Character,
    character::{ModelPose, SpringBones},
    controller::{AnimationTrack, BlendMode, TrackPriority},
    prelude::*,
};
use image::RgbaImage;
use std::{collections::HashMap, time::Duration};

/// Number of frames to play.
pub const FRAMES: usize = 24;

pub struct Cast {
    /// The characters, with names for error messages.
    members: Vec<(&'static str, Entity)>,
    /// Attached entities, each with its character and socket.
    carried: Vec<(Entity, Entity, &'static str)>,
    fading: Entity,
    /// Each part's palette in the previous frame.
    before: HashMap<Entity, Vec<Mat4>>,
}

impl Cast {
    pub fn new(stage: &mut Stage) -> Self {
        let md5 = stage.load("scout/scout.character.ron");
        let m3d = stage.load("scout/scout_m3d.character.ron");
        let hound = stage.load("hound/hound.character.ron");
        let long = stage.add(snake());

        let alone = |clip: &str, at: f64| {
            let mut controller = AnimationController::default();
            controller.add_track(AnimationTrack::new(clip).starting_at(at));
            controller
        };
        let mut blend = AnimationController::default();
        blend.add_track(
            AnimationTrack::new("idle")
                .weight(0.4)
                .priority(TrackPriority::High),
        );
        blend.add_track(
            AnimationTrack::new("wave")
                .weight(0.6)
                .priority(TrackPriority::High),
        );
        let mut masked = AnimationController::playing("jog");
        masked.add_track(
            AnimationTrack::new("wave")
                .blend(BlendMode::Override)
                .mask("upper_body"),
        );
        let mut priorities = AnimationController::default();
        priorities.add_track(AnimationTrack::new("walk").priority(TrackPriority::Low));
        priorities.add_track(
            AnimationTrack::new("point")
                .priority(TrackPriority::High)
                .speed(0.5),
        );
        priorities.priority_blend = 0.7;

        let at = |x: f32, z: f32| Transform::from_xyz(x, 0.0, z);
        let small_and_turned = at(1.85, 0.2)
            .with_rotation(Quat::from_rotation_y(0.7))
            .with_scale(Vec3::splat(0.8));
        let aside = at(1.7, -1.5).with_rotation(Quat::from_rotation_y(0.9));
        let mut members = Vec::new();
        let mut enter = |name, handle: &Handle<Character>, controller, place| {
            // Frames take different times on different backends, and springs swing in them.
            let still = SpringBones { weight: 0.0 };
            let entity = stage
                .world()
                .spawn((SkinnedCharacter(handle.clone()), controller, place, still))
                .id();
            members.push((name, entity));
            entity
        };
        let armed = enter(
            "walk, sword and lamp (.md5mesh)",
            &md5,
            AnimationController::playing("walk"),
            at(2.75, 0.0),
        );
        enter(
            "jog, smaller and turned (.md5mesh)",
            &md5,
            alone("jog", 0.3),
            small_and_turned,
        );
        enter("idle + wave (.m3d)", &m3d, blend, at(0.9, 0.0));
        enter(
            "jog under wave by a mask (.m3d)",
            &m3d,
            masked,
            at(-0.05, 0.1),
        );
        enter(
            "walk and point by priority (.md5mesh)",
            &md5,
            priorities,
            at(-1.0, 0.0),
        );
        let fading = enter(
            "jump, fading into turn (.m3d)",
            &m3d,
            alone("jump", 0.2),
            at(-2.0, 0.1),
        );
        let dog = enter(
            "hound, gallop (.md5mesh)",
            &hound,
            AnimationController::playing("gallop"),
            aside,
        );
        enter(
            "slither (320 joints)",
            &long,
            AnimationController::playing("slither"),
            at(-3.1, -1.5),
        );

        let world = stage.world();
        let blade = world
            .resource_mut::<Assets<Mesh>>()
            .add(Cuboid::new(0.03, 0.9, 0.05));
        let steel = StandardMaterial {
            base_color: Color::srgb(0.7, 0.75, 0.8),
            perceptual_roughness: 0.4,
            ..default()
        };
        let steel = world.resource_mut::<Assets<StandardMaterial>>().add(steel);
        let grip = Transform::from_xyz(0.0, 0.35, 0.0);
        let sword = world.spawn((
            AttachedTo(armed),
            AtSocket::new("right_hand").offset(grip),
            Mesh3d(blade),
            MeshMaterial3d(steel),
        ));
        let sword = sword.id();
        let lamp = PointLight {
            color: Color::srgb(1.0, 0.6, 0.3),
            intensity: 60_000.0,
            range: 6.0,
            shadow_maps_enabled: false,
            ..default()
        };
        let lamp = world
            .spawn((AttachedTo(armed), AtSocket::new("left_hand"), lamp))
            .id();
        let ball = world.resource_mut::<Assets<Mesh>>().add(Sphere::new(0.07));
        let red = StandardMaterial {
            base_color: Color::srgb(0.8, 0.1, 0.1),
            ..default()
        };
        let red = world.resource_mut::<Assets<StandardMaterial>>().add(red);
        let ball = world
            .spawn((
                AttachedTo(dog),
                AtSocket::new("back"),
                Mesh3d(ball),
                MeshMaterial3d(red),
            ))
            .id();
        stage.start();
        let carried = vec![
            (sword, armed, "right_hand"),
            (lamp, armed, "left_hand"),
            (ball, dog, "back"),
        ];
        Self {
            members,
            carried,
            fading,
            before: HashMap::new(),
        }
    }

    /// Changes what plays, partway through.
    pub fn cue(&self, stage: &mut Stage, frame: usize) {
        if frame == FRAMES - 10
            && let Some(mut controller) = stage.world().get_mut::<AnimationController>(self.fading)
        {
            controller.cross_fade("turn", Duration::from_millis(600));
        }
    }

    /// Checks that the palettes on the GPU equal those computed here, bit for bit, and that the previous frame's
    /// buffer equals what they were then. Returns all matrices in order.
    pub fn check_joints(&mut self, stage: &mut Stage, wrong: &mut Vec<String>) -> Vec<Mat4> {
        let mut all = Vec::new();
        for &(name, entity) in &self.members {
            for (part, part_entity) in parts(stage.world(), entity).into_iter().enumerate() {
                let expected = palette(stage.world(), entity, part);
                let plain = plain_palette(stage.world(), entity, part);
                let found = stage.buffers.current(part_entity);
                if !same_bits(&found, &expected) {
                    wrong.push(format!(
                        "{name}, part {part}: the joint buffer is not the palette"
                    ));
                }
                // Compare with plain arithmetic too, in case the fast path is wrong on both sides.
                let off = found
                    .iter()
                    .zip(&plain)
                    .flat_map(|(a, b)| (*a - *b).abs().to_cols_array());
                let off = off.fold(0.0, f32::max);
                if off.is_nan() || off > 1e-4 {
                    wrong.push(format!(
                        "{name}, part {part}: {off} from world · joint · inverse bind"
                    ));
                }
                if let Some(before) = self.before.insert(part_entity, found.clone())
                    && !same_bits(&stage.buffers.previous(part_entity), &before)
                {
                    wrong.push(format!(
                        "{name}, part {part}: the previous frame's buffer is not that frame's"
                    ));
                }
                all.extend(found);
            }
        }
        all
    }

    pub fn check_sockets(&self, stage: &mut Stage, wrong: &mut Vec<String>) {
        for &(carried, character, socket) in &self.carried {
            let world = stage.world();
            let offset = world
                .get::<AtSocket>(carried)
                .expect("it is carried")
                .offset
                .compute_affine();
            let place = world
                .get::<GlobalTransform>(character)
                .expect("it has a place")
                .affine();
            let asset = asset(world, character);
            let socket = asset.socket(socket).expect("the manifest names it");
            let joint = *world
                .get::<ModelPose>(character)
                .and_then(|p| p.joint(socket.joint))
                .expect("it is posed");
            let expected = place * joint * socket.offset * offset;
            let found = world
                .get::<GlobalTransform>(carried)
                .expect("it has a place")
                .affine();
            if !found.abs_diff_eq(expected, 1e-5) {
                wrong.push(format!(
                    "what the hand carries is at {found:?} and should be at {expected:?}"
                ));
            }
        }
    }

    /// Replaces the characters by meshes skinned on the CPU; returns those and the attached entities.
    pub fn replace_by_skinned(&self, stage: &mut Stage) -> Vec<Entity> {
        let mut shown: Vec<Entity> = self.carried.iter().map(|&(carried, ..)| carried).collect();
        for &(_, entity) in &self.members {
            shown.extend(replace_by_skinned(stage.world(), entity));
        }
        // Attached entities keep their transforms while their character is hidden.
        for &(carried, ..) in &self.carried {
            stage
                .world()
                .entity_mut(carried)
                .insert(Visibility::Visible);
        }
        shown
    }

    /// Checks that every character is in the picture, where the camera should see it.
    pub fn check_visible(
        &self,
        stage: &mut Stage,
        drawn: &RgbaImage,
        empty: &RgbaImage,
        wrong: &mut Vec<String>,
    ) {
        println!("| character | joints | parts | matrices | pixels |");
        println!("| --- | --- | --- | --- | --- |");
        for &(name, entity) in &self.members {
            let corners = corners(stage, entity);
            let (low, high) =
                corners
                    .into_iter()
                    .fold((SIZE, UVec2::ZERO), |(low, high), corner| {
                        let corner = corner.max(Vec2::ZERO).as_uvec2().min(SIZE - 1);
                        (low.min(corner), high.max(corner))
                    });
            let changed = |x, y| {
                let (a, b) = (drawn.get_pixel(x, y), empty.get_pixel(x, y));
                (0..3).any(|c| a.0[c].abs_diff(b.0[c]) > 12)
            };
            let columns = low.x..=high.x;
            let seen = columns
                .map(|x| (low.y..=high.y).filter(|&y| changed(x, y)).count())
                .sum::<usize>();
            let asset = asset(stage.world(), entity);
            let matrices: usize = asset.parts.iter().map(|part| part.palette_len()).sum();
            println!(
                "| {name} | {} | {} | {matrices} | {seen} |",
                asset.skeleton.len(),
                asset.parts.len()
            );
            if seen < 2000 {
                wrong.push(format!(
                    "{name} is not in the picture: {seen} pixels between {low} and {high}"
                ));
            }
        }
        let long = self
            .members
            .last()
            .map(|&(_, entity)| asset(stage.world(), entity));
        assert!(long.is_some_and(|long| long.skeleton.len() == snake::JOINTS));
    }
}

/// Returns a part's palette, computed from its definition.
fn plain_palette(world: &mut World, character: Entity, part: usize) -> Vec<Mat4> {
    let model = pose(world, character);
    let asset = asset(world, character);
    let place = world
        .get::<GlobalTransform>(character)
        .expect("it has a place")
        .affine();
    let inverse_bind = asset.skeleton.inverse_bind();
    let plain = |joint: usize| {
        Mat4::from(place) * Mat4::from(model[joint]) * Mat4::from(inverse_bind[joint])
    };
    let part = &asset.parts[part];
    let mut palette: Vec<Mat4> = part
        .palette
        .iter()
        .map(|&joint| plain(usize::from(joint)))
        .collect();
    for shares in part.combined_joints.iter() {
        let mean = shares.iter().fold(Mat4::ZERO, |sum, &(slot, share)| {
            sum + palette[usize::from(slot)] * share
        });
        palette.push(mean);
    }
    palette
}

fn same_bits(a: &[Mat4], b: &[Mat4]) -> bool {
    let bits = |m: &Mat4| m.to_cols_array().map(f32::to_bits);
    a.len() == b.len() && !a.is_empty() && a.iter().zip(b).all(|(a, b)| bits(a) == bits(b))
}

/// Returns the positions of the character's joints in the picture.
fn corners(stage: &mut Stage, character: Entity) -> Vec<Vec2> {
    let camera = stage.camera;
    let world = stage.world();
    let place = world
        .get::<GlobalTransform>(character)
        .expect("it has a place")
        .affine();
    let pose = pose(world, character);
    let joints = pose
        .iter()
        .map(|joint| Vec3::from((place * *joint).translation));
    let (view, from) = (
        world.get::<Camera>(camera),
        world.get::<GlobalTransform>(camera),
    );
    let (view, from) = (view.expect("the camera"), from.expect("the camera"));
    joints
        .filter_map(|joint| view.world_to_viewport(from, joint).ok())
        .collect()
}
