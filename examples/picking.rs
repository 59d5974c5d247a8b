//! Picking: darts that stick in the moving skin.
//!
//! [`CharacterRayCast`] casts a ray against characters as they are posed, and returns the point, the part, and the joint with the
//! most influence there. A dart is attached to that joint, so it stays where it hit.
//!
//! For hovering, clicking and dragging with Bevy's own pointer events, add `CharacterPickingPlugin`.
//!
//! ```text
//! cargo run --example picking
//! ```

mod stage;

use bevy::prelude::*;
use bevy_marionette::{
    asset::Character,
    character::{CharacterPoses, CharacterRayCast, CharacterRayHit},
    prelude::*,
};
use stage::{Caption, Orbit, StageArgs, View};

const HELP: &str =
    "click, space: throw a dart   C: clear   N: next clip   drag, arrows: orbit   wheel: zoom";

const CLIPS: [&str; 3] = ["wave", "jog", "idle"];

/// Length of a dart in meters.
const LENGTH: f32 = 0.16;

pub fn main() {
    let args = stage::arguments::<StageArgs>()
        .with_headless_defaults(1.4, "Space@0.1 Space@0.4 Space@0.7 Space@1.0 Space@1.3");
    stage::app("picking", &args, HELP)
        .insert_resource(View(Orbit {
            target: Vec3::Y * 1.0,
            distance: 3.2,
            yaw: 0.5,
            pitch: 0.08,
        }))
        .init_resource::<Thrown>()
        .add_systems(Startup, spawn)
        // After the camera and the characters have moved, so that the ray meets what was on screen.
        .add_systems(Update, (keys, throw, caption).chain())
        .run();
}

#[derive(Component)]
struct Dart;

/// Darts so far, and where the last one hit.
#[derive(Resource, Default)]
struct Thrown {
    count: usize,
    last: Option<(String, String)>,
}

/// Meshes and materials of darts. They are made at the start, because [`CharacterRayCast`] reads the meshes while it is used.
#[derive(Resource)]
struct DartLook {
    shaft: (Handle<Mesh>, Handle<StandardMaterial>),
    feather: Handle<Mesh>,
    colors: [Handle<StandardMaterial>; 3],
}

fn spawn(
    mut commands: Commands,
    assets: Res<AssetServer>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let colors = [
        Color::srgb(0.95, 0.30, 0.15),
        Color::srgb(0.98, 0.75, 0.10),
        Color::srgb(0.15, 0.60, 0.95),
    ];
    commands.insert_resource(DartLook {
        shaft: (
            meshes.add(Cylinder::new(0.006, LENGTH)),
            materials.add(Color::srgb(0.15, 0.15, 0.17)),
        ),
        feather: meshes.add(Cone {
            radius: 0.028,
            height: 0.07,
        }),
        colors: colors.map(|color| materials.add(color)),
    });
    commands.spawn((
        SkinnedCharacter(assets.load("scout/scout.character.ron")),
        AnimationController::playing("wave"),
    ));
}

/// Returns a ray through the pointer. Without a pointer, each throw aims at another place around the middle.
fn aim(
    window: Option<&Window>,
    camera: (&Camera, &GlobalTransform),
    count: usize,
) -> Option<Ray3d> {
    let (camera, place) = camera;
    let at = match window.and_then(Window::cursor_position) {
        Some(pointer) => pointer,
        None => {
            // Nearby numbers of this sequence are far apart.
            let height = (count as f32 * 0.618 + 0.45).fract();
            camera.logical_viewport_size()? * Vec2::new(0.5, 0.28 + 0.4 * height)
        }
    };
    camera.viewport_to_world(place, at).ok()
}

fn throw(
    (keys, buttons): (Res<ButtonInput<KeyCode>>, Res<ButtonInput<MouseButton>>),
    window: Option<Single<&Window>>,
    camera: Single<(&Camera, &GlobalTransform), With<Orbit>>,
    ray_cast: CharacterRayCast,
    poses: CharacterPoses,
    (characters, assets): (Query<&SkinnedCharacter>, Res<Assets<Character>>),
    mut thrown: ResMut<Thrown>,
    mut commands: Commands,
    look: Res<DartLook>,
) {
    if !keys.just_pressed(KeyCode::Space) && !buttons.just_pressed(MouseButton::Left) {
        return;
    }
    let Some(ray) = aim(window.as_deref().copied(), *camera, thrown.count) else {
        return;
    };
    thrown.count += 1;
    let Some(hit) = ray_cast.pick(ray) else {
        thrown.last = None;
        return;
    };
    let CharacterRayHit {
        character,
        joint_name: Some(joint),
        point,
        ..
    } = &hit
    else {
        return;
    };
    let Some(place) = poses.joint_transform(*character, joint) else {
        return;
    };
    let part = characters
        .get(*character)
        .ok()
        .and_then(|handle| assets.get(&handle.0)?.parts.get(hit.part))
        .map_or("?", |part| &part.name);
    thrown.last = Some((part.to_owned(), joint.to_string()));
    // In the joint's space, it stays where it is.
    let dart = Transform::from_translation(*point).looking_to(ray.direction, Vec3::Y);
    let offset = GlobalTransform::from(dart).reparented_to(&place);
    let shaft = Transform::from_xyz(0.0, 0.0, LENGTH / 2.0)
        .with_rotation(Quat::from_rotation_x(std::f32::consts::FRAC_PI_2));
    let color = &look.colors[thrown.count % look.colors.len()];
    commands.spawn((
        Dart,
        AttachedTo(*character),
        AtSocket::new(&**joint).offset(offset),
        children![
            (
                Mesh3d(look.shaft.0.clone()),
                MeshMaterial3d(look.shaft.1.clone()),
                shaft,
            ),
            (
                Mesh3d(look.feather.clone()),
                MeshMaterial3d(color.clone()),
                Transform::from_xyz(0.0, 0.0, LENGTH).with_rotation(shaft.rotation.inverse()),
            ),
        ],
    ));
}

fn keys(
    keys: Res<ButtonInput<KeyCode>>,
    mut controller: Single<&mut AnimationController>,
    darts: Query<Entity, With<Dart>>,
    mut commands: Commands,
) {
    if keys.just_pressed(KeyCode::KeyC) {
        for dart in &darts {
            commands.entity(dart).despawn();
        }
    }
    if keys.just_pressed(KeyCode::KeyN) {
        let now = CLIPS
            .iter()
            .position(|&clip| controller.current() == Some(clip))
            .unwrap_or(0);
        controller.play(CLIPS[(now + 1) % CLIPS.len()]);
    }
}

fn caption(thrown: Res<Thrown>, darts: Query<(), With<Dart>>, mut caption: ResMut<Caption>) {
    let last = match &thrown.last {
        Some((part, joint)) => format!("part {part}, joint {joint}"),
        None if thrown.count == 0 => "click on Scout".to_owned(),
        None => "missed".to_owned(),
    };
    caption.set(format!("darts: {}\n{last}", darts.iter().len()));
}
