//! An app that animates and extracts but has no window and draws nothing, for the example's table and the benchmark.

use super::stages::{StageClockPlugin, see_everything};
use bevy::{
    app::{PluginsState, TaskPoolPlugin},
    camera::visibility::VisibilitySystems,
    log::LogPlugin,
    prelude::*,
    render::pipelined_rendering::PipelinedRenderingPlugin,
    time::TimeUpdateStrategy,
    window::ExitCondition,
    winit::WinitPlugin,
};
use bevy_marionette::prelude::*;
use std::time::Duration;

/// Creates the app, ready to update. Each update advances by 1/60 s, and all meshes count as visible.
///
/// With `stages`, its clock measures each stage; see [`StageClockPlugin`]. With `plain`, this crate's plugins are left out.
pub fn app(task_pools: TaskPoolPlugin, stages: bool, plain: bool) -> App {
    let mut app = new(task_pools, plain);
    app.add_plugins(StageClockPlugin { stages });
    app.add_systems(
        PostUpdate,
        see_everything.in_set(VisibilitySystems::CheckVisibility),
    );
    finish(&mut app);
    app
}

/// Creates the app without a clock. A camera decides what is visible.
pub fn new(task_pools: TaskPoolPlugin, plain: bool) -> App {
    let mut app = App::new();
    app.add_plugins(
        DefaultPlugins
            .set(task_pools)
            .set(WindowPlugin {
                primary_window: None,
                exit_condition: ExitCondition::DontExit,
                ..default()
            })
            .disable::<WinitPlugin>()
            .disable::<LogPlugin>()
            .disable::<PipelinedRenderingPlugin>(),
    );
    if !plain {
        app.add_plugins(MarionettePlugins::default());
    }
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f64(
        1.0 / 60.0,
    )));
    app
}

/// Waits for the GPU, and finishes the plugins.
pub fn finish(app: &mut App) {
    while app.plugins_state() == PluginsState::Adding {
        std::thread::yield_now();
    }
    app.finish();
    app.cleanup();
}
