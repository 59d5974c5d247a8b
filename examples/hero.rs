//! A hero from a file: what `marionette import` writes for a humanoid, and the few lines that steer it.
//!
//! The manifest is as the command wrote it: a blend space of measured speeds, footsteps, states, and what the joints are for. The
//! character walks, runs, turns, jumps, and looks at the light. Give it one of yours:
//!
//! ```text
//! cargo run --example hero
//!
//! cargo run --features cli --bin marionette -- import knight.glb -o assets/knight
//! cargo run --example hero -- knight/knight.character.ron
//! ```

mod stage;

use bevy::{color::palettes::css::ORANGE, prelude::*};
use bevy_marionette::{character::LookAt, prelude::*};
use clap::Parser;
use stage::{Caption, Orbit, PlaceCamera, StageArgs, View};

const HELP: &str = "W, A, S, D: go   Shift: faster   Space: jump   E: attack   F1: inspector   drag, arrows: orbit   wheel: zoom";

/// Steers a character that `marionette import` made.
#[derive(Parser, Resource)]
struct Args {
    /// The manifest, relative to `assets`
    #[arg(default_value = "scout/scout_hero.character.ron")]
    character: String,
    #[command(flatten)]
    stage: StageArgs,
}

pub fn main() {
    let args: Args = stage::arguments();
    let stage = args.stage.clone().with_headless_defaults(4.2, "");
    let mut app = stage::app("hero", &stage, HELP);
    #[cfg(feature = "inspector")]
    app.add_plugins(MarionetteInspectorPlugin);
    app.insert_resource(args)
        .insert_resource(View(Orbit {
            target: Vec3::Y,
            distance: 4.2,
            yaw: 0.6,
            pitch: 0.25,
        }))
        .init_resource::<Steps>()
        .add_systems(Startup, spawn)
        .add_systems(Update, (control, caption).chain())
        .add_systems(
            PostUpdate,
            follow
                .after(CharacterSystems::RootMotion)
                .before(PlaceCamera),
        )
        .add_observer(count_steps)
        .run();
}

/// Something to look at.
#[derive(Component)]
struct Light;

fn spawn(
    mut commands: Commands,
    args: Res<Args>,
    assets: Res<AssetServer>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let light = commands.spawn((
        Light,
        Mesh3d(meshes.add(Sphere::new(0.08))),
        MeshMaterial3d(materials.add(StandardMaterial {
            emissive: ORANGE.into(),
            ..default()
        })),
        Transform::from_xyz(1.5, 1.6, -2.0),
    ));
    let light = light.id();
    // This, and `control`, is all that a hero needs.
    commands.spawn((
        SkinnedCharacter(assets.load(args.character.clone())),
        Steering::default(),
        LookAt::entity(light),
    ));
}

/// Goes where the keys say, as seen by the camera.
fn control(
    keys: Res<ButtonInput<KeyCode>>,
    time: Res<Time>,
    camera: Single<&Orbit>,
    hero: Single<(&mut Steering, &mut AnimationController)>,
    mut has_player: Local<bool>,
) -> Result {
    let (mut steering, mut controller) = hero.into_inner();
    let held = |key| if keys.pressed(key) { 1.0 } else { 0.0 };
    let aside = held(KeyCode::KeyD) - held(KeyCode::KeyA);
    let ahead = held(KeyCode::KeyW) - held(KeyCode::KeyS);
    let speed = if keys.pressed(KeyCode::ShiftLeft) {
        3.8
    } else {
        1.6
    };
    let wanted = Quat::from_rotation_y(camera.yaw) * Vec3::new(aside, 0.0, -ahead);
    steering.velocity = speed * wanted.normalize_or_zero();
    *has_player |= aside != 0.0 || ahead != 0.0;
    if !*has_player {
        // Without anybody at the keys, it runs in circles, slower and faster.
        let t = time.elapsed_secs();
        let around = Quat::from_rotation_y(-0.9 * t) * Vec3::X;
        steering.velocity = around * (2.2 - 1.6 * (0.7 * t).cos());
    }
    if controller.state().is_none() {
        return Ok(());
    }
    if keys.just_pressed(KeyCode::Space) {
        controller.go("jump")?;
    }
    if keys.just_pressed(KeyCode::KeyE) {
        controller.go("attack")?;
    }
    Ok(())
}

/// Footsteps that were heard.
#[derive(Resource, Default)]
struct Steps(usize);

fn count_steps(step: On<AnimationCallback>, mut steps: ResMut<Steps>) {
    if step.name == "footstep" {
        steps.0 += 1;
    }
}

fn follow(hero: Single<&Transform, With<Steering>>, mut cameras: Query<&mut Orbit>) {
    for mut camera in &mut cameras {
        camera.target = hero.translation + Vec3::Y * 0.95;
    }
}

fn caption(
    hero: Single<(&Steering, &AnimationController)>,
    steps: Res<Steps>,
    mut caption: ResMut<Caption>,
) {
    let (steering, controller) = *hero;
    let state = controller.state().unwrap_or("loading");
    let speed = steering.current.length();
    caption.set(format!(
        "{state}\n{speed:.1} m/s {}\n{} footsteps",
        stage::bar(speed / 4.0),
        steps.0
    ));
}
