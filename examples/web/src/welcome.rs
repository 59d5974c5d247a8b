//! The program on the gallery's first page: Scout looks at the pointer, and waves when you click.
//!
//! It is small, so that she appears soon: without egui, and with few of Bevy's features. The examples are another program,
//! which a visitor downloads with the first of them.

use bevy::{
    asset::AssetMetaCheck, core_pipeline::tonemapping::Tonemapping,
    light::CascadeShadowConfigBuilder, prelude::*,
};
use bevy_marionette::{
    character::{Expressions, IdleEyes, LookAt, LookTarget},
    prelude::*,
};
use std::time::Duration;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// Tells the page that Scout will be drawn in this frame.
    #[wasm_bindgen(js_namespace = marionette)]
    fn shown();
}

/// The page's background, so that the canvas has no edge.
const BACKGROUND: Color = Color::srgb_u8(0x14, 0x18, 0x1e);
const EYES: Vec3 = Vec3::new(0.0, 1.55, -0.1);
/// How fast her gaze follows, in 1/s.
const ATTENTION: f32 = 6.0;

fn main() {
    App::new()
        .insert_resource(ClearColor(BACKGROUND))
        .add_plugins((
            DefaultPlugins
                .set(WindowPlugin {
                    primary_window: Some(Window {
                        canvas: Some("#welcome".into()),
                        fit_canvas_to_parent: true,
                        // The page scrolls under the pointer.
                        prevent_default_event_handling: false,
                        ..default()
                    }),
                    ..default()
                })
                .set(AssetPlugin {
                    // Or each file would be asked for twice.
                    meta_check: AssetMetaCheck::Never,
                    ..default()
                }),
            MarionettePlugins::default(),
        ))
        .add_systems(Startup, spawn)
        .add_systems(Update, (frame, look, wave))
        .add_observer(greet)
        .run();
}

fn spawn(
    mut commands: Commands,
    assets: Res<AssetServer>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
    mut images: ResMut<Assets<Image>>,
) {
    commands.spawn((
        SkinnedCharacter(assets.load("adventure/scout_adventure.character.ron")),
        LookAt::default(),
        Expressions::default(),
        IdleEyes::new(1),
    ));
    commands.spawn((
        Mesh3d(meshes.add(Circle::new(30.0))),
        MeshMaterial3d(materials.add(StandardMaterial {
            base_color: Color::srgb(0.24, 0.30, 0.36),
            perceptual_roughness: 0.9,
            reflectance: 0.1,
            ..default()
        })),
        Transform::from_rotation(Quat::from_rotation_x(-std::f32::consts::FRAC_PI_2)),
    ));
    commands.spawn((
        DirectionalLight {
            color: Color::srgb(1.0, 0.94, 0.84),
            illuminance: 9000.0,
            shadow_maps_enabled: true,
            ..default()
        },
        CascadeShadowConfigBuilder {
            num_cascades: 1,
            maximum_distance: 12.0,
            ..default()
        }
        .build(),
        Transform::from_xyz(-2.6, 4.2, -3.4).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    commands.spawn((
        Camera3d::default(),
        // It needs no table, which would be another file to download.
        Tonemapping::SomewhatBoringDisplayTransform,
        EnvironmentMapLight {
            intensity: 800.0,
            ..EnvironmentMapLight::hemispherical_gradient(
                &mut images,
                Color::srgb(0.80, 0.87, 1.0),
                Color::srgb(0.66, 0.67, 0.68),
                Color::srgb(0.42, 0.36, 0.32),
            )
        },
        DistanceFog {
            color: BACKGROUND,
            falloff: FogFalloff::Linear {
                start: 3.0,
                end: 11.0,
            },
            ..default()
        },
    ));
}

/// Keeps her beside the title on a wide page, and below it on a phone.
fn frame(window: Single<&Window>, mut camera: Single<&mut Transform, With<Camera3d>>) {
    let is_wide = window.width() > 1.2 * window.height();
    let (aside, distance) = if is_wide { (0.8, 3.0) } else { (0.0, 4.2) };
    let target = Vec3::new(aside, 0.95, 0.0);
    let place = Transform::from_translation(target + Vec3::new(0.3, 0.25, -distance))
        .looking_at(target, Vec3::Y);
    camera.set_if_neq(place);
}

/// Lets her look at the pointer, or into the camera.
fn look(
    window: Single<&Window>,
    camera: Single<(&Camera, &GlobalTransform)>,
    time: Res<Time>,
    mut scout: Single<&mut LookAt>,
) {
    let (camera, place) = *camera;
    let pointer = window
        .cursor_position()
        .and_then(|at| camera.viewport_to_world(place, at).ok())
        .map(|ray| ray.get_point(ray.origin.distance(EYES) * 0.6));
    let goal = pointer.unwrap_or(place.translation());
    match &mut scout.target {
        LookTarget::Point(at) => at.smooth_nudge(&goal, ATTENTION, time.delta_secs()),
        nothing => *nothing = LookTarget::Point(goal),
    }
}

fn greet(_: On<CharacterReady>, mut scout: Single<(&mut AnimationController, &mut Expressions)>) {
    let (controller, face) = &mut *scout;
    welcome(controller, face);
    shown();
}

fn wave(
    buttons: Res<ButtonInput<MouseButton>>,
    touches: Res<Touches>,
    mut scout: Single<(&mut AnimationController, &mut Expressions)>,
) {
    if buttons.just_pressed(MouseButton::Left) || touches.any_just_pressed() {
        let (controller, face) = &mut *scout;
        welcome(controller, face);
    }
}

fn welcome(controller: &mut AnimationController, face: &mut Expressions) {
    if let Err(error) = controller.go(("arms", "wave")) {
        warn!("{error}");
    }
    face.fade_to("smile", 0.8, Duration::from_millis(400));
}
