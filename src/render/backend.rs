//! The choice of the graphics API.

use bevy::render::{
    RenderPlugin,
    settings::{Backends, WgpuSettings},
};

/// Returns Bevy's [`RenderPlugin`], set to DX12 on Windows and to Bevy's default elsewhere.
///
/// The environment variable `WGPU_BACKEND` (`vulkan`, `dx12`, …) overrides this on every platform.
///
/// ```no_run
/// use bevy::prelude::*;
/// App::new().add_plugins(DefaultPlugins.set(bevy_marionette::render_plugin()));
/// ```
pub fn render_plugin() -> RenderPlugin {
    let settings = WgpuSettings {
        backends: choose(
            Backends::from_env(),
            cfg!(target_os = "windows"),
            WgpuSettings::default().backends,
        ),
        ..WgpuSettings::default()
    };
    RenderPlugin {
        render_creation: settings.into(),
        ..RenderPlugin::default()
    }
}

fn choose(asked_for: Option<Backends>, windows: bool, bevys: Option<Backends>) -> Option<Backends> {
    asked_for.or(if windows { Some(Backends::DX12) } else { bevys })
}

#[cfg(test)]
#[path = "tests/backend.rs"]
mod tests;
