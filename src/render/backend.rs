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
mod tests {
    use super::*;

    #[test]
    fn windows_gets_dx12_unless_another_backend_is_asked_for() {
        let bevys = Some(Backends::all());
        assert_eq!(choose(None, true, bevys), Some(Backends::DX12));
        assert_eq!(
            choose(Some(Backends::VULKAN), true, bevys),
            Some(Backends::VULKAN)
        );
        assert_eq!(choose(None, false, bevys), bevys);
        assert_eq!(choose(Some(Backends::GL), false, bevys), Some(Backends::GL));
    }
}
