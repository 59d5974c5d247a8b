//! The quick start of the README: an app with one character, from any `.glb`.
//!
//! ```text
//! cargo run --example minimal
//! ```

use bevy::prelude::*;
use bevy_marionette::{asset::Character, prelude::*};

fn main() {
    App::new()
        .add_plugins((DefaultPlugins, MarionettePlugins::default()))
        .add_systems(Startup, spawn)
        .add_observer(play)
        .run();
}

fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
    commands.spawn(SkinnedCharacter(assets.load("pup/pup.glb"))); // your file, in assets/
    commands.spawn((
        DirectionalLight::default(),
        Transform::from_xyz(-2.0, 4.0, -3.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    commands.spawn(Camera3d::default());
}

/// Once the file has loaded, plays its first clip that walks, or else its first, and moves the camera in front of the character.
fn play(
    ready: On<CharacterReady>,
    mut characters: Query<(&SkinnedCharacter, &mut AnimationController)>,
    assets: Res<Assets<Character>>,
    mut camera: Single<&mut Transform, With<Camera3d>>,
) -> Result {
    let (handle, mut controller) = characters.get_mut(ready.entity)?;
    let character = assets.get(&handle.0).ok_or("no character")?;
    let clips: Vec<_> = character.clip_names().collect();
    info!("clips: {clips:?}");
    let walks = clips
        .iter()
        .find(|clip| clip.to_lowercase().contains("walk"));
    if let (None, Some(&clip)) = (controller.current(), walks.or(clips.first())) {
        controller.play(clip.clone());
    }
    let bounds = character.rest_bounds().ok_or("no parts")?;
    let (center, size) = (Vec3::from(bounds.center), bounds.half_extents.length());
    let from = center + Vec3::new(0.8, 0.4, -2.0) * size;
    **camera = Transform::from_translation(from).looking_at(center, Vec3::Y);
    Ok(())
}
