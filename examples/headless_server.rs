//! A game server: no window, no renderer, and the same steps on every machine.
//!
//! Scout jogs along a square, carried by her clip's root motion, and callbacks report where her feet land, all of it in
//! `FixedUpdate`. The server stops after one lap, and prints the same lines on every run.
//!
//! ```text
//! cargo run --example headless_server
//! ```

use bevy::{app::ScheduleRunnerPlugin, log::LogPlugin, prelude::*, time::TimeUpdateStrategy};
use bevy_marionette::{
    asset::Character,
    character::{CharacterFailed, CharacterPoses},
    prelude::*,
};
use std::{f32::consts::FRAC_PI_2, time::Duration};

/// Steps of the game per second.
const STEPS: f64 = 64.0;
/// Footsteps along one side of the square, and sides.
const ALONG: usize = 6;
const SIDES: usize = 4;

fn main() -> AppExit {
    App::new()
        .add_plugins((
            // A server waits between its steps. This one doesn't, so that you needn't either.
            MinimalPlugins.set(ScheduleRunnerPlugin::run_loop(Duration::ZERO)),
            LogPlugin::default(),
            AssetPlugin::default(),
            TransformPlugin,
            MarionettePlugins::new(FixedUpdate),
        ))
        .insert_resource(Time::<Fixed>::from_hz(STEPS))
        // One step per frame. Leave this out to follow the clock of the machine.
        .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
        .init_resource::<Steps>()
        .add_systems(Startup, spawn)
        .add_observer(start)
        .add_observer(fail)
        .add_observer(footstep)
        .run()
}

/// Footsteps so far.
#[derive(Resource, Default)]
struct Steps(usize);

fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
    commands.spawn((
        SkinnedCharacter(assets.load("scout/scout.character.ron")),
        RootMotion::default(),
    ));
}

/// Begins when the character has loaded, so that the time that takes makes no difference.
fn start(
    ready: On<CharacterReady>,
    mut characters: Query<(&SkinnedCharacter, &mut AnimationController)>,
    assets: Res<Assets<Character>>,
) -> Result {
    let (handle, mut controller) = characters.get_mut(ready.entity)?;
    let character = assets.get(&handle.0).ok_or("no character")?;
    info!(
        "Scout is in the world, with {} joints",
        character.skeleton.len()
    );
    controller.play("jog");
    Ok(())
}

fn fail(failed: On<CharacterFailed>, mut exit: MessageWriter<AppExit>) {
    error!("{}", failed.error);
    exit.write(AppExit::error());
}

/// Reports where a foot lands, and turns at the corners.
fn footstep(
    step: On<AnimationCallback>,
    poses: CharacterPoses,
    mut places: Query<&mut Transform>,
    mut steps: ResMut<Steps>,
    mut exit: MessageWriter<AppExit>,
) -> Result {
    if step.name != "footstep" || steps.0 == ALONG * SIDES {
        return Ok(());
    }
    let side: String = step.data.to()?;
    let joint = if side == "left" { "foot.L" } else { "foot.R" };
    // Where it was at the time of the key, which is between two steps of the game.
    let foot = poses
        .joint_transform_at(&step, joint)
        .ok_or("no pose")?
        .translation();
    println!(
        "{:7.4} s  {side:5} foot at {:6.3} {:6.3}",
        step.time, foot.x, foot.z
    );
    steps.0 += 1;
    if steps.0.is_multiple_of(ALONG) {
        places.get_mut(step.entity)?.rotate_y(FRAC_PI_2);
    }
    if steps.0 == ALONG * SIDES {
        exit.write(AppExit::Success);
    }
    Ok(())
}
