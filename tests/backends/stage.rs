//! A lit floor, a camera without a window, and frames taken one at a time.
//!
//! Four settings are for Wine, whose Direct3D lacks what they disable: multisampled depth, indirect drawing with
//! constants (which silently draws nothing), light clustering on the GPU, which needs the same, and textures with
//! shared exponents (RGB9E5), which one tonemapper's table uses.

use super::offscreen::Offscreen;
use bevy::{
    asset::{LoadState, RecursiveDependencyLoadState},
    camera::ShadowLodOrigin,
    core_pipeline::tonemapping::{Tonemapping, TonemappingLuts},
    light::{CascadeShadowConfigBuilder, cluster::GlobalClusterSettings},
    log::{BoxedLayer, LogPlugin, tracing_subscriber::fmt},
    prelude::*,
    render::{renderer::RenderAdapterInfo, settings::Backends, view::NoIndirectDrawing},
    time::TimeUpdateStrategy,
};
use bevy_marionette::asset::Character;
use std::{
    io,
    ops::{Deref, DerefMut},
    sync::Mutex,
    time::Duration,
};

pub const SIZE: UVec2 = UVec2::new(960, 540);

/// Seconds per frame.
pub const STEP: f32 = 1.0 / 30.0;

pub struct Stage(Offscreen);

impl Deref for Stage {
    type Target = Offscreen;

    fn deref(&self) -> &Offscreen {
        &self.0
    }
}

impl DerefMut for Stage {
    fn deref_mut(&mut self) -> &mut Offscreen {
        &mut self.0
    }
}

impl Stage {
    pub fn new() -> Self {
        let log = LogPlugin {
            filter: "warn".into(),
            custom_layer: listen,
            ..default()
        };
        let camera = (
            Camera3d::default(),
            Tonemapping::Reinhard,
            NoIndirectDrawing,
            ShadowLodOrigin,
            Transform::from_xyz(0.0, 1.8, -5.7).looking_at(Vec3::new(0.0, 0.68, 0.0), Vec3::Y),
        );
        let mut stage = Self(Offscreen::new(SIZE, log, camera));
        // The clock is stopped until all characters are loaded.
        stage.pause();
        stage
            .app
            .add_systems(Startup, |mut settings: ResMut<GlobalClusterSettings>| {
                settings.gpu_clustering = None
            });
        // Bevy uploads every tonemapper's table, even unused ones.
        stage.app.add_systems(
            Startup,
            |mut images: ResMut<Assets<Image>>, tables: Res<TonemappingLuts>| {
                images.remove(&tables.tony_mc_mapface);
            },
        );
        let world = stage.world();
        world.insert_resource(ClearColor(Color::srgb(0.12, 0.14, 0.17)));
        world.insert_resource(GlobalAmbientLight {
            brightness: 200.0,
            ..default()
        });
        let floor = world
            .resource_mut::<Assets<Mesh>>()
            .add(Plane3d::default().mesh().size(14.0, 14.0));
        let gray = StandardMaterial {
            base_color: Color::srgb(0.42, 0.45, 0.50),
            perceptual_roughness: 0.9,
            reflectance: 0.2,
            ..default()
        };
        let gray = world.resource_mut::<Assets<StandardMaterial>>().add(gray);
        world.spawn((Mesh3d(floor), MeshMaterial3d(gray)));
        world.spawn((
            DirectionalLight {
                illuminance: 7000.0,
                shadow_maps_enabled: true,
                ..default()
            },
            CascadeShadowConfigBuilder {
                num_cascades: 2,
                maximum_distance: 14.0,
                ..default()
            }
            .build(),
            Transform::from_xyz(-2.0, 4.0, -3.0).looking_at(Vec3::ZERO, Vec3::Y),
        ));
        stage
    }

    /// Returns a description of the adapter, and an error if it doesn't use the expected API.
    pub fn adapter(&self) -> (String, Vec<String>) {
        let info = &**self.app.world().resource::<RenderAdapterInfo>();
        let taken = Backends::from(info.backend);
        let asked_for = Backends::from_env();
        let expected = asked_for.or(cfg!(target_os = "windows").then_some(Backends::DX12));
        let why = if asked_for.is_some() {
            "WGPU_BACKEND asks for it"
        } else {
            "nothing was asked for"
        };
        let text = format!(
            "{} ({:?}, {}): {why}",
            info.name,
            info.backend,
            format!("{} {}", info.driver, info.driver_info).trim()
        );
        let mut wrong = Vec::new();
        if expected.is_some_and(|expected| !expected.contains(taken)) {
            wrong.push(format!(
                "{taken:?} was taken where it should be {expected:?}"
            ));
        }
        (text, wrong)
    }

    /// Loads a character, and waits for it and all its textures.
    pub fn load(&mut self, path: &str) -> Handle<Character> {
        let handle = self
            .world()
            .resource::<AssetServer>()
            .load::<Character>(path.to_owned());
        for _ in 0..3000 {
            let server = self.app.world().resource::<AssetServer>();
            if let LoadState::Failed(error) = server.load_state(&handle) {
                panic!("{error}");
            }
            match server.recursive_dependency_load_state(&handle) {
                RecursiveDependencyLoadState::Loaded => return handle,
                RecursiveDependencyLoadState::Failed(error) => panic!("{path}: {error}"),
                _ => self.update(),
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("{path} does not load");
    }

    pub fn start(&mut self) {
        self.world()
            .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f32(
                STEP,
            )));
    }

    pub fn pause(&mut self) {
        self.world()
            .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::ZERO));
    }

    pub fn hide(&mut self, entities: &[Entity]) {
        for &entity in entities {
            self.world().entity_mut(entity).insert(Visibility::Hidden);
        }
    }

    /// Removes shadows and textures, whose rounding depends on the backend; returns the materials.
    pub fn strip(&mut self) -> Vec<(AssetId<StandardMaterial>, StandardMaterial)> {
        self.set_shadows(false);
        let mut materials = self.world().resource_mut::<Assets<StandardMaterial>>();
        let textured: Vec<_> = materials
            .iter()
            .map(|(id, material)| (id, material.clone()))
            .collect();
        for (id, _) in &textured {
            let mut material = materials.get_mut(*id).expect("the material is there");
            material.base_color_texture = None;
            material.normal_map_texture = None;
            material.metallic_roughness_texture = None;
            material.emissive_texture = None;
        }
        textured
    }

    /// Undoes [`Self::strip`].
    pub fn dress(&mut self, textured: Vec<(AssetId<StandardMaterial>, StandardMaterial)>) {
        self.set_shadows(true);
        let mut materials = self.world().resource_mut::<Assets<StandardMaterial>>();
        for (id, material) in textured {
            materials
                .insert(id, material)
                .expect("the material is there");
        }
    }

    fn set_shadows(&mut self, on: bool) {
        let world = self.world();
        for mut light in world.query::<&mut DirectionalLight>().iter_mut(world) {
            light.shadow_maps_enabled = on;
        }
    }
}

/// The log, as text.
static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

struct ToLog;

impl io::Write for ToLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LOG.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn listen(_: &mut App) -> Option<BoxedLayer> {
    Some(Box::new(
        fmt::Layer::default().with_ansi(false).with_writer(|| ToLog),
    ))
}

/// wgpu asks for `IDXGIFactoryMedia`, which Wine doesn't have, and works without it.
const NOISE: &str = "create_factory_media failed";

/// Returns everything that was logged as an error, as wgpu's validation does.
pub fn logged_errors() -> Vec<String> {
    let log = LOG.lock().unwrap();
    let log = String::from_utf8_lossy(&log);
    log.lines()
        .filter(|line| line.contains(" ERROR ") && !line.contains(NOISE))
        .map(str::to_owned)
        .collect()
}
