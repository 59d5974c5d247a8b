//! An MD5 model without a manifest, with its skeleton drawn.
//!
//! Loads an `.md5mesh` directly. The loader's settings list the `.md5anim` files, and the lantern is attached to a joint by
//! name. A system of this example draws the skeleton from [`ModelPose`] and the skeleton's parents, to show how to read a
//! pose; see `DrawSkeleton` for the built-in way.
//!
//! ```text
//! cargo run --example md5_character
//! ```

mod stage;

use bevy::prelude::*;
use bevy_marionette::{
    asset::{Character, CharacterLoaderSettings},
    character::ModelPose,
    prelude::*,
};
use stage::{Caption, Orbit, StageArgs, View};
use std::time::Duration;

const HELP: &str =
    "N: next clip   K: skeleton   X: skin   L: lantern   drag, arrows: orbit   wheel: zoom";

/// In `walk` and `gallop` the hound leaves its place, and returns at the end: only a manifest can take that out
/// (`root_motion`).
const CLIPS: [&str; 4] = ["idle", "sit", "walk", "gallop"];

pub fn main() {
    let args = stage::arguments::<StageArgs>().with_headless_defaults(0.17, "");
    stage::app("md5_character", &args, HELP)
        .insert_resource(View(Orbit {
            target: Vec3::Y * 0.52,
            distance: 3.0,
            yaw: 1.15,
            pitch: 0.10,
        }))
        .insert_resource(ShowSkeleton(true))
        .add_systems(Startup, (spawn, draw_gizmos_on_top))
        .add_systems(Update, (keys, caption))
        .add_systems(
            PostUpdate,
            draw_skeleton
                .after(CharacterSystems::SharePoses)
                .run_if(resource_equals(ShowSkeleton(true))),
        )
        .run();
}

#[derive(Resource, PartialEq)]
struct ShowSkeleton(bool);

#[derive(Component)]
struct Lantern;

fn spawn(
    mut commands: Commands,
    assets: Res<AssetServer>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let settings = |settings: &mut CharacterLoaderSettings| {
        // Paths are relative to the model. Each clip is named after its file.
        settings.clips = CLIPS.map(|clip| format!("{clip}.md5anim")).to_vec();
    };
    let model = assets
        .load_builder()
        .with_settings(settings)
        .load("hound/hound.md5mesh");
    // `ModelPose` stores the pose for `draw_skeleton` to read.
    let hound = (
        SkinnedCharacter(model),
        AnimationController::playing(CLIPS[0]),
        ModelPose::default(),
    );
    let hound = commands.spawn(hound).id();
    // The hound holds it in its teeth; the clips keep this joint upright.
    let small = Transform::from_xyz(0.0, 0.02, 0.0).with_scale(Vec3::splat(0.62));
    let teeth = (AttachedTo(hound), AtSocket::new("lantern").offset(small));
    commands.spawn((
        teeth,
        Lantern,
        children![stage::lantern(&mut meshes, &mut materials)],
    ));
}

fn draw_gizmos_on_top(mut store: ResMut<GizmoConfigStore>) {
    let (config, _) = store.config_mut::<DefaultGizmoConfigGroup>();
    config.depth_bias = -1.0;
    config.line.width = 2.5;
}

fn draw_skeleton(
    characters: Query<(&SkinnedCharacter, &ModelPose, &GlobalTransform)>,
    assets: Res<Assets<Character>>,
    mut gizmos: Gizmos,
) {
    for (handle, pose, world) in &characters {
        let Some(character) = assets.get(handle.id()) else {
            continue;
        };
        let place = |joint: usize| world.transform_point(pose.joints[joint].translation.into());
        for (joint, parent) in character
            .skeleton
            .parents()
            .iter()
            .enumerate()
            .take(pose.joints.len())
        {
            let at = place(joint);
            gizmos.sphere(
                Isometry3d::from_translation(at),
                0.006,
                Color::srgb(1.0, 0.85, 0.3),
            );
            if let Some(parent) = parent {
                gizmos.line(
                    place(usize::from(*parent)),
                    at,
                    Color::srgb(0.3, 0.95, 0.85),
                );
            }
        }
    }
}

fn keys(
    keys: Res<ButtonInput<KeyCode>>,
    mut show: ResMut<ShowSkeleton>,
    mut hound: Single<(&SkinnedCharacter, &mut AnimationController)>,
    assets: Res<Assets<Character>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
    mut lantern: Single<&mut Visibility, With<Lantern>>,
    mut see_through: Local<bool>,
) {
    if keys.just_pressed(KeyCode::KeyN) {
        let controller = &mut hound.1;
        let now = CLIPS
            .iter()
            .position(|&clip| controller.current() == Some(clip))
            .unwrap_or(0);
        controller.cross_fade(CLIPS[(now + 1) % CLIPS.len()], Duration::from_millis(250));
    }
    if keys.just_pressed(KeyCode::KeyK) {
        show.0 = !show.0;
    }
    if keys.just_pressed(KeyCode::KeyL) {
        lantern.toggle_inherited_hidden();
    }
    if keys.just_pressed(KeyCode::KeyX) {
        *see_through = !*see_through;
        // This changes every instance: they share the asset's materials.
        for part in assets
            .get(hound.0.id())
            .iter()
            .flat_map(|character| &character.parts)
        {
            if let Some(mut material) = materials.get_mut(&part.material) {
                material.alpha_mode = if *see_through {
                    AlphaMode::Blend
                } else {
                    AlphaMode::Opaque
                };
                material
                    .base_color
                    .set_alpha(if *see_through { 0.25 } else { 1.0 });
            }
        }
    }
}

fn caption(
    hound: Single<(&SkinnedCharacter, &AnimationController)>,
    assets: Res<Assets<Character>>,
    mut caption: ResMut<Caption>,
) {
    let (handle, controller) = *hound;
    let Some(character) = assets.get(handle.id()) else {
        return;
    };
    caption.set(format!(
        "hound.md5mesh: {} joints, {} meshes, {} clips\n{}",
        character.skeleton.len(),
        character.parts.len(),
        character.clips.len(),
        controller.current().unwrap_or("bind pose"),
    ));
}
