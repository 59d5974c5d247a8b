//! A character in `bsn!`, Bevy's notation for scenes.
//!
//! Files are named by their paths, and entities of the scene by their names: Scout looks at the lantern `#Lantern`, and what is
//! in the list of `Attachments` is attached to Scout's joints.
//!
//! `bsn!` comes from Bevy's feature `bevy_scene`, which also adds `ScenePlugin` to `DefaultPlugins`.
//!
//! ```text
//! cargo run --example bsn
//! ```

mod stage;

use bevy::prelude::*;
use bevy_marionette::{
    character::{Attachments, LookAt},
    prelude::*,
};
use stage::{Caption, Orbit, StageArgs, View};

const HELP: &str = "S: draw or sheathe the sword   drag, arrows: orbit   wheel: zoom";

pub fn main() {
    let args = stage::arguments::<StageArgs>().with_headless_defaults(0.86, "");
    stage::app("bsn", &args, HELP)
        .insert_resource(View(Orbit {
            target: Vec3::Y * 1.0,
            distance: 3.5,
            yaw: 0.6,
            pitch: 0.1,
        }))
        .add_systems(Startup, spawn)
        .add_systems(Update, (move_sword, circle, caption).chain())
        .run();
}

/// Scout with a sword, looking at a lantern.
fn scout() -> impl Scene {
    bsn! {
        #Scout
        SkinnedCharacter("scout/scout.character.ron")
        LookAt { target: #Lantern }
        Attachments [
            #Sword AtSocket { socket: "right_hand" }
        ]
        Children [
            #Lantern Transform Visibility
        ]
    }
}

fn spawn(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    commands
        .spawn_scene(scout())
        .insert(AnimationController::playing("idle"));
    commands.insert_resource(Looks {
        blade: meshes.add(Cuboid::new(0.034, 0.8, 0.01)),
        flame: meshes.add(Sphere::new(0.06)),
        steel: materials.add(StandardMaterial {
            base_color: Color::srgb(0.80, 0.83, 0.88),
            metallic: 0.3,
            perceptual_roughness: 0.4,
            ..default()
        }),
        glow: materials.add(StandardMaterial {
            base_color: Color::srgb(1.0, 0.75, 0.3),
            emissive: LinearRgba::rgb(0.9, 0.35, 0.05),
            ..default()
        }),
    });
}

/// What the sword and the lantern are drawn with.
#[derive(Resource)]
struct Looks {
    blade: Handle<Mesh>,
    flame: Handle<Mesh>,
    steel: Handle<StandardMaterial>,
    glow: Handle<StandardMaterial>,
}

fn move_sword(
    keys: Res<ButtonInput<KeyCode>>,
    looks: Res<Looks>,
    mut commands: Commands,
    mut swords: Query<(Entity, &mut AtSocket, Has<Mesh3d>)>,
) {
    for (sword, mut at, is_drawn) in &mut swords {
        if !is_drawn {
            commands.entity(sword).insert((
                Mesh3d(looks.blade.clone()),
                MeshMaterial3d(looks.steel.clone()),
            ));
            at.offset = Transform::from_xyz(0.0, 0.4, 0.0);
        }
        if keys.just_pressed(KeyCode::KeyS) {
            at.socket = match &*at.socket {
                "right_hand" => "back",
                _ => "right_hand",
            }
            .into();
        }
    }
}

/// Moves the lantern around Scout's head.
fn circle(
    time: Res<Time>,
    looks: Res<Looks>,
    mut commands: Commands,
    mut lanterns: Query<(Entity, &Name, &mut Transform, Has<Mesh3d>)>,
) {
    for (lantern, name, mut place, is_drawn) in &mut lanterns {
        if name.as_str() != "Lantern" {
            continue;
        }
        let (x, z) = (1.1 * time.elapsed_secs()).sin_cos();
        place.translation = Vec3::new(0.7 * x, 1.7 + 0.1 * z, -0.6);
        if !is_drawn {
            commands.entity(lantern).insert((
                Mesh3d(looks.flame.clone()),
                MeshMaterial3d(looks.glow.clone()),
            ));
        }
    }
}

fn caption(swords: Query<&AtSocket>, mut caption: ResMut<Caption>) {
    for at in &swords {
        caption.set(format!("the sword is at `{}`", at.socket));
    }
}
