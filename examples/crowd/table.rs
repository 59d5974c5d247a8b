//! Measures both sides without a window, and prints a table.

use super::{
    Side, Workshop, headless,
    stages::{Frame, Stage, StageClock},
};
use bevy::{app::TaskPoolPlugin, ecs::system::RunSystemOnce, prelude::*};
use bevy_marionette::{
    character::{AnimationLod, SpringBones},
    prelude::*,
};

/// Measures frames of a crowd on each side, and prints their medians.
pub fn print(count: usize, frames: usize) {
    let empty = measure(None, 0, frames);
    println!(
        "Scout, 2 clips blended, {count} characters; milliseconds, medians of {frames} frames, minus the cost of the"
    );
    println!(
        "same stages in an app without characters ({:.2} ms in total)\n",
        empty.work()
    );
    println!(
        "side | work | {} | us per character",
        Stage::WORK.map(Stage::name).join(" | ")
    );
    println!("--- | ---: {}| ---:", "| ---: ".repeat(Stage::WORK.len()));
    let works = [
        (Side::Bevys, "bevy_animation"),
        (Side::Ours, "bevy_marionette"),
    ]
    .map(|(side, name)| {
        let work = measure(Some(side), count, frames).beyond(&empty);
        let stages = Stage::WORK
            .map(|stage| format!("{:.3}", work.of(stage)))
            .join(" | ");
        println!(
            "{name} | {:.3} | {stages} | {:.2}",
            work.work(),
            work.work() * 1e3 / count.max(1) as f64
        );
        work.work()
    });
    println!("\nbevy_marionette is {:.1}x faster", works[0] / works[1]);
}

/// Measures our side with and without a level of detail, near and far, and prints a table.
pub fn print_lod(count: usize, frames: usize) {
    let empty = measure(None, 0, frames);
    println!(
        "Scout, 2 clips blended, {count} characters; microseconds per character and frame, medians of {frames} frames\n"
    );
    println!("distance | springs | without | with a level of detail");
    println!("---: | --- | ---: | ---:");
    for swings in [false, true] {
        for distance in [5.0, 25.0, 100.0] {
            let [without, with] = [false, true].map(|lod| {
                let looks = Looks {
                    distance,
                    swings,
                    lod,
                };
                let work = measure_looks(Some(Side::Ours), count, frames, Some(looks));
                work.beyond(&empty).work() * 1e3 / count.max(1) as f64
            });
            let springs = if swings { "yes" } else { "no" };
            println!("{distance} m | {springs} | {without:.2} | {with:.2}");
        }
    }
}

/// How characters are looked at.
#[derive(Clone, Copy)]
struct Looks {
    distance: f32,
    swings: bool,
    lod: bool,
}

impl Looks {
    /// Puts all characters that far in front of a camera.
    fn apply(self, world: &mut World) {
        world.spawn((
            Camera::default(),
            Projection::default(),
            Transform::from_xyz(0.0, 1.0, self.distance),
        ));
        let mut characters = world.query_filtered::<Entity, With<SkinnedCharacter>>();
        let characters: Vec<Entity> = characters.iter(world).collect();
        for character in characters {
            let mut character = world.entity_mut(character);
            character.insert(Transform::default());
            let weight = if self.swings { 1.0 } else { 0.0 };
            character.insert(SpringBones { weight });
            if self.lod {
                character.insert(AnimationLod::default());
            }
        }
    }
}

fn measure(side: Option<Side>, count: usize, frames: usize) -> Frame {
    measure_looks(side, count, frames, None)
}

fn measure_looks(side: Option<Side>, count: usize, frames: usize, looks: Option<Looks>) -> Frame {
    let mut app = headless::app(TaskPoolPlugin::default(), true, false);
    let model = app
        .world()
        .resource::<AssetServer>()
        .load("scout/scout.character.ron");
    while !app
        .world()
        .resource::<AssetServer>()
        .is_loaded_with_dependencies(&model)
    {
        if let bevy::asset::LoadState::Failed(error) =
            app.world().resource::<AssetServer>().load_state(&model)
        {
            super::stage::fail(error);
        }
        app.update();
    }
    let scouts = app
        .world_mut()
        .run_system_once(move |mut workshop: Workshop| workshop.scouts(&model, false));
    let Ok(Some(scouts)) = scouts else {
        super::stage::fail("Scout has no material for a jacket")
    };
    if let Some(side) = side {
        let spawn = move |mut commands: Commands| {
            for n in 0..count {
                scouts.spawn(&mut commands, n, side);
            }
        };
        if let Err(error) = app.world_mut().run_system_once(spawn) {
            super::stage::fail(error);
        }
    }
    if let Some(looks) = looks {
        looks.apply(app.world_mut());
    }
    (0..8).for_each(|_| app.update());
    let clock = app.world().resource::<StageClock>().clone();
    clock.take();
    (0..frames).for_each(|_| app.update());
    Frame::median(&clock.take())
}
