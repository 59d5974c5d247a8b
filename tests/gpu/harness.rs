//! An app without a window whose frames are taken one at a time.

use super::readback::{ReadbackPlugin, SkinBuffers};
use bevy::{
    app::PluginsState,
    camera::RenderTarget,
    core_pipeline::tonemapping::Tonemapping,
    log::LogPlugin,
    prelude::*,
    render::{
        RenderPlugin,
        pipelined_rendering::PipelinedRenderingPlugin,
        render_resource::{TextureFormat, TextureUsages},
        view::screenshot::{Screenshot, ScreenshotCaptured},
    },
    time::TimeUpdateStrategy,
    window::ExitCondition,
    winit::WinitPlugin,
};
use bevy_marionette::{asset::build_character, character::CharacterParts, import::Manifest, model::Model, prelude::*};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

pub struct Harness {
    app: App,
    camera: Entity,
    target: Handle<Image>,
    buffers: SkinBuffers,
}

impl Harness {
    pub fn new() -> Self {
        let mut app = App::new();
        app.add_plugins(
            DefaultPlugins
                .set(WindowPlugin { primary_window: None, exit_condition: ExitCondition::DontExit, ..default() })
                .set(RenderPlugin { synchronous_pipeline_compilation: true, ..render_plugin() })
                .disable::<WinitPlugin>()
                .set(LogPlugin { filter: "error".into(), ..default() })
                .disable::<PipelinedRenderingPlugin>(),
        );
        app.add_plugins(MarionettePlugins);
        app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f64(1.0 / 60.0)));
        app.insert_resource(ClearColor(Color::BLACK));
        let buffers = SkinBuffers::default();
        app.add_plugins(ReadbackPlugin(buffers.clone()));
        while app.plugins_state() == PluginsState::Adding {
            std::thread::yield_now();
        }
        app.finish();
        app.cleanup();

        let mut image = Image::new_target_texture(320, 240, TextureFormat::Rgba8UnormSrgb, None);
        image.texture_descriptor.usage |= TextureUsages::COPY_SRC;
        let target = app.world_mut().resource_mut::<Assets<Image>>().add(image);
        let camera = app
            .world_mut()
            .spawn((
                Camera3d::default(),
                Tonemapping::None,
                Msaa::Off,
                RenderTarget::Image(target.clone().into()),
                Transform::from_xyz(0.0, 1.2, 6.0).looking_at(Vec3::Y, Vec3::Y),
            ))
            .id();
        let sun = DirectionalLight { illuminance: 6000.0, ..default() };
        app.world_mut().spawn((sun, Transform::from_xyz(1.0, 2.0, 3.0).looking_at(Vec3::ZERO, Vec3::Y)));
        Self { app, camera, target, buffers }
    }

    pub fn world(&mut self) -> &mut World {
        self.app.world_mut()
    }

    pub fn update(&mut self) {
        self.app.update();
    }

    /// A character of `model`, playing.
    pub fn spawn(&mut self, model: Model, clip: &str, transform: Transform) -> Entity {
        let world = self.app.world_mut();
        let character = world.resource_scope(|world, mut meshes: Mut<Assets<Mesh>>| {
            let mut materials = world.resource_mut::<Assets<StandardMaterial>>();
            build_character(model, &Manifest::of_model("code"), &mut meshes, &mut materials)
        });
        let handle = world.resource_mut::<Assets<Character>>().add(character);
        world.spawn((SkinnedCharacter(handle), AnimationController::playing(clip), transform)).id()
    }

    pub fn spawn_mesh(&mut self, mesh: Mesh) {
        let mesh = self.world().resource_mut::<Assets<Mesh>>().add(mesh);
        // The colours of the arm's parts, in order.
        let count = self.world().query::<&Mesh3d>().iter(self.app.world()).count();
        let color =
            if count.is_multiple_of(2) { Color::linear_rgb(0.8, 0.2, 0.1) } else { Color::linear_rgb(0.1, 0.3, 0.9) };
        let material = StandardMaterial { base_color: color, perceptual_roughness: 0.8, reflectance: 0.5, ..default() };
        let material = self.world().resource_mut::<Assets<StandardMaterial>>().add(material);
        self.world().spawn((Mesh3d(mesh), MeshMaterial3d(material)));
    }

    /// Keeps the camera's direction and looks at another place.
    pub fn look_at(&mut self, place: Vec3) {
        let transform =
            Transform::from_translation(place + Vec3::new(0.0, 1.2, 6.0)).looking_at(place + Vec3::Y, Vec3::Y);
        self.app.world_mut().entity_mut(self.camera).insert(transform);
    }

    pub fn pause(&mut self) {
        self.world().resource_mut::<Time<Virtual>>().pause();
    }

    /// Stops everything with a character's clip at a time.
    pub fn pause_at(&mut self, entity: Entity, seconds: f32) {
        for _ in 0..(seconds * 60.0).round() as usize + 1 {
            self.update();
        }
        assert!(self.world().get::<CharacterParts>(entity).is_some());
        self.pause();
    }

    pub fn picture(&mut self) -> image::RgbaImage {
        // Materials and meshes of this frame reach the GPU in the next.
        (0..3).for_each(|_| self.update());
        self.picture_at_once()
    }

    /// A picture of the next frame.
    pub fn picture_at_once(&mut self) -> image::RgbaImage {
        let taken = Arc::new(Mutex::new(None));
        let slot = taken.clone();
        self.app
            .world_mut()
            .spawn(Screenshot::image(self.target.clone()))
            .observe(move |captured: On<ScreenshotCaptured>| *slot.lock().unwrap() = Some(captured.image.clone()));
        for _ in 0..200 {
            self.update();
            if let Some(image) = taken.lock().unwrap().take() {
                return image.try_into_dynamic().unwrap().to_rgba8();
            }
        }
        panic!("the picture never came");
    }

    pub fn current_palette(&mut self, entity: Entity, part: usize) -> Vec<Mat4> {
        let part = self.part(entity, part);
        self.buffers.current(part)
    }

    pub fn previous_palette(&mut self, entity: Entity, part: usize) -> Vec<Mat4> {
        let part = self.part(entity, part);
        self.buffers.previous(part)
    }

    fn part(&mut self, entity: Entity, part: usize) -> Entity {
        self.world().get::<CharacterParts>(entity).expect("a character").entities[part]
    }
}
