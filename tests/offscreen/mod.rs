//! An app without a window that runs frame by frame, and reads back what the GPU was given and what it drew. Shared by
//! all tests that need a graphics adapter.

// Each test uses a different part of this module.
#![allow(dead_code)]

pub mod character;
pub mod picture;
mod readback;
mod skinned;

use bevy::{
    app::PluginsState,
    asset::UnapprovedPathMode,
    camera::RenderTarget,
    log::LogPlugin,
    prelude::*,
    render::{
        RenderPlugin,
        pipelined_rendering::PipelinedRenderingPlugin,
        render_resource::{TextureFormat, TextureUsages},
        view::screenshot::{Screenshot, ScreenshotCaptured},
    },
    window::ExitCondition,
    winit::WinitPlugin,
};
use bevy_marionette::{
    asset::{Character, build_character},
    import::Manifest,
    model::Model,
    prelude::*,
    render_plugin,
};
use readback::{ReadbackPlugin, SkinBuffers};
use std::sync::{Arc, Mutex};

pub struct Offscreen {
    pub app: App,
    /// The joint buffers on the GPU in the last frame.
    pub buffers: SkinBuffers,
    pub camera: Entity,
    target: Handle<Image>,
}

impl Offscreen {
    /// Creates an app with Bevy's plugins and ours, using `render_plugin()`, and `camera` drawing a picture of `size`.
    pub fn new(size: UVec2, log: LogPlugin, camera: impl Bundle) -> Self {
        let mut app = App::new();
        app.add_plugins(
            DefaultPlugins
                .set(WindowPlugin {
                    primary_window: None,
                    exit_condition: ExitCondition::DontExit,
                    ..default()
                })
                .set(RenderPlugin {
                    synchronous_pipeline_compilation: true,
                    ..render_plugin()
                })
                .set(AssetPlugin {
                    watch_for_changes_override: Some(false),
                    // Some tests write what they load to a temporary folder.
                    unapproved_path_mode: UnapprovedPathMode::Allow,
                    ..default()
                })
                .set(log)
                .disable::<WinitPlugin>()
                .disable::<PipelinedRenderingPlugin>(),
        );
        app.add_plugins(MarionettePlugins::default());
        let buffers = SkinBuffers::default();
        app.add_plugins(ReadbackPlugin(buffers.clone()));
        while app.plugins_state() == PluginsState::Adding {
            std::thread::yield_now();
        }
        app.finish();
        app.cleanup();

        let mut image =
            Image::new_target_texture(size.x, size.y, TextureFormat::Rgba8UnormSrgb, None);
        image.texture_descriptor.usage |= TextureUsages::COPY_SRC;
        let target = app.world_mut().resource_mut::<Assets<Image>>().add(image);
        let camera = app
            .world_mut()
            .spawn((
                camera,
                Msaa::Off,
                RenderTarget::Image(target.clone().into()),
            ))
            .id();
        Self {
            app,
            buffers,
            camera,
            target,
        }
    }

    pub fn world(&mut self) -> &mut World {
        self.app.world_mut()
    }

    pub fn update(&mut self) {
        self.app.update();
    }

    /// Adds the asset made of a model.
    pub fn add(&mut self, model: Model) -> Handle<Character> {
        let world = self.world();
        let character = world.resource_scope(|world, mut meshes: Mut<Assets<Mesh>>| {
            let mut materials = world.resource_mut::<Assets<StandardMaterial>>();
            build_character(
                model,
                &Manifest::of_model("code"),
                &mut meshes,
                &mut materials,
            )
        });
        world.resource_mut::<Assets<Character>>().add(character)
    }

    /// Returns what the camera sees.
    pub fn picture(&mut self) -> image::RgbaImage {
        // This frame's meshes and materials reach the GPU in the next one.
        (0..4).for_each(|_| self.update());
        self.picture_at_once()
    }

    /// Runs a frame and returns what the camera sees.
    pub fn picture_at_once(&mut self) -> image::RgbaImage {
        let taken = Arc::new(Mutex::new(None));
        let slot = taken.clone();
        let screenshot = Screenshot::image(self.target.clone());
        self.world()
            .spawn(screenshot)
            .observe(move |captured: On<ScreenshotCaptured>| {
                *slot.lock().unwrap() = Some(captured.image.clone())
            });
        for _ in 0..200 {
            self.update();
            if let Some(image) = taken.lock().unwrap().take() {
                return image.try_into_dynamic().unwrap().to_rgba8();
            }
        }
        panic!("the picture never came");
    }
}
