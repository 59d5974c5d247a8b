//! An app that animates and extracts, but opens no window and draws nothing: what the table of the example
//! and the benchmark measure in.

use super::stages::StageClockPlugin;
use bevy::{
    app::{PluginsState, TaskPoolPlugin},
    camera::visibility::{SetViewVisibility, ViewVisibility, VisibilitySystems},
    log::LogPlugin,
    prelude::*,
    render::pipelined_rendering::PipelinedRenderingPlugin,
    time::TimeUpdateStrategy,
    window::ExitCondition,
    winit::WinitPlugin,
};
use bevy_marionette::prelude::*;
use std::time::Duration;

/// The app, ready to be updated: each update is a sixtieth of a second, and every mesh counts as in view. With
/// `stages` its clock measures stage by stage; see [`StageClockPlugin`].
pub fn app(task_pools: TaskPoolPlugin, stages: bool) -> App {
    let mut app = App::new();
    app.add_plugins(
        DefaultPlugins
            .set(task_pools)
            .set(WindowPlugin { primary_window: None, exit_condition: ExitCondition::DontExit, ..default() })
            .disable::<WinitPlugin>()
            .disable::<LogPlugin>()
            .disable::<PipelinedRenderingPlugin>(),
    );
    app.add_plugins((MarionettePlugins, StageClockPlugin { stages }));
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f64(1.0 / 60.0)));
    app.add_systems(PostUpdate, see_everything.in_set(VisibilitySystems::CheckVisibility));
    while app.plugins_state() == PluginsState::Adding {
        std::thread::yield_now();
    }
    app.finish();
    app.cleanup();
    app
}

/// In place of culling, for apps in which no camera draws.
pub fn see_everything(mut meshes: Query<&mut ViewVisibility, With<Mesh3d>>) {
    meshes.iter_mut().for_each(|mut visibility| visibility.set_visible());
}
