//! Shared by the examples: a lit stage, an orbit camera, captions, and headless pictures and films.
//!
//! Not part of the plugin, and not needed to use it. Feel free to copy from it.

// Each example uses only part of this module.
#![allow(dead_code, unused_imports)]

mod caption;
mod film;
mod footer;
mod gallery;
mod headless;
mod lantern;
mod orbit;
mod outline;
mod overlay;
mod platform;
mod sky;

pub use caption::{Caption, bar};
pub use footer::{Covered, Footer};
pub use gallery::{Chosen, Exhibit, GalleryPlugin, OnShow, gallery};
pub use headless::{Capture, Press};
pub use lantern::lantern;
pub use orbit::{Framing, Orbit, PlaceCamera, View};
pub use outline::{around, outline};
pub use overlay::{Overlay, OverlaySystems, text};
pub use platform::{arguments, fail, manifests, print};
pub use sky::nightfall;

use bevy::{
    app::{PluginGroupBuilder, ScheduleRunnerPlugin},
    asset::{AssetMetaCheck, UnapprovedPathMode},
    camera::{ImageRenderTarget, RenderTarget},
    core_pipeline::tonemapping::{DebandDither, Tonemapping, TonemappingLuts},
    image::{ImageAddressMode, ImageSampler, ImageSamplerDescriptor},
    light::{CascadeShadowConfigBuilder, cluster::GlobalClusterSettings},
    log::LogPlugin,
    prelude::*,
    render::{
        RenderPlugin,
        render_resource::{Extent3d, TextureDimension, TextureFormat, TextureUsages},
        view::NoIndirectDrawing,
    },
    time::TimeUpdateStrategy,
    window::ExitCondition,
    winit::WinitPlugin,
};
use bevy_egui::{EguiPrimaryContextPass, PrimaryEguiContext};
use bevy_marionette::{prelude::*, render_plugin};
use std::{path::PathBuf, time::Duration};

/// Command line arguments of every example.
#[derive(clap::Parser, Clone, Debug)]
pub struct StageArgs {
    /// Render to a .png or .gif without a window, and exit [default: target/NAME.png]
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    pub headless: Option<Option<PathBuf>>,
    /// Size of the window or picture
    #[arg(long, value_name = "WxH", default_value = "1280x800", value_parser = parse_size)]
    pub size: UVec2,
    /// How large text is in a headless picture, times its usual size
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = parse_factor)]
    pub text_scale: f32,
    /// Time of the headless picture in seconds
    #[arg(long, value_name = "SECONDS")]
    pub time: Option<f32>,
    /// Number of headless pictures: frames of a GIF, or numbered files
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub frames: u16,
    /// Headless pictures per second
    #[arg(long, default_value_t = 20.0, value_parser = parse_fps)]
    pub fps: f32,
    /// Degrees the camera turns during a headless film
    #[arg(
        long,
        value_name = "DEGREES",
        default_value_t = 0.0,
        allow_negative_numbers = true
    )]
    pub turn: f32,
    /// How many times farther away the camera is at the end of a headless film
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = parse_factor)]
    pub recede: f32,
    /// Press a key during a headless run, such as N@0.5, Space@1, or R@2..3.5 to hold it; can be repeated
    #[arg(long, value_name = "KEY@SECONDS")]
    pub press: Vec<Press>,
    /// Also print the joint matrices of a headless picture, as they are uploaded to the GPU
    #[arg(long)]
    pub joints: bool,
    /// Hide all text
    #[arg(long)]
    pub bare: bool,
    /// Render without multisampling, indirect drawing and RGB9E5 textures, for Wine's Direct3D
    #[arg(long)]
    pub plain: bool,
    /// Light the scene by one light with one shadow cascade, which is all that Bevy supports in WebGL2
    #[arg(long, default_value_t = cfg!(target_arch = "wasm32"))]
    pub one_light: bool,
}

impl StageArgs {
    /// Arguments for a picture without a window, to be added later to [`Stage::pictures`].
    pub fn without_window(size: UVec2) -> Self {
        Self {
            headless: Some(None),
            size,
            text_scale: 1.0,
            time: None,
            frames: 1,
            fps: 20.0,
            turn: 0.0,
            recede: 1.0,
            press: vec![],
            joints: false,
            bare: false,
            plain: false,
            one_light: false,
        }
    }

    /// Sets the default time of a headless picture, and the default keys pressed before it, as in `"N@0.5 Space@0.8"`.
    pub fn with_headless_defaults(self, time: f32, keys: &str) -> Self {
        let ours = || {
            keys.split_whitespace()
                .map(|key| key.parse().unwrap_or_else(|reason| fail(reason)))
        };
        let press = if self.press.is_empty() {
            ours().collect()
        } else {
            self.press
        };
        Self {
            time: self.time.or(Some(time)),
            press,
            ..self
        }
    }
}

fn parse_size(text: &str) -> Result<UVec2, String> {
    let parts = text
        .split_once(['x', 'X'])
        .and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
    match parts {
        Some((w @ 16..=8192, h @ 16..=8192)) => Ok(UVec2::new(w, h)),
        _ => Err("expected a size such as 1280x800, each side 16 to 8192".into()),
    }
}

fn parse_fps(text: &str) -> Result<f32, String> {
    text.parse()
        .ok()
        .filter(|fps| (0.1..=240.0).contains(fps))
        .ok_or_else(|| "expected 0.1 to 240".into())
}

fn parse_factor(text: &str) -> Result<f32, String> {
    text.parse()
        .ok()
        .filter(|factor| (0.01..=100.0).contains(factor))
        .ok_or_else(|| "expected 0.01 to 100".into())
}

/// Time step of a headless run in seconds.
pub const STEP: f32 = 1.0 / 60.0;

/// Settings of the stage and of headless pictures.
#[derive(Resource, Clone)]
pub struct Stage {
    /// File of each headless picture, empty with a window. See [`film::write`] for several in one file.
    pub pictures: Vec<PathBuf>,
    /// Whether there is no window.
    pub headless: bool,
    /// Time of the first picture in seconds.
    pub time: f32,
    /// Seconds between pictures.
    every: f32,
    /// Angle in radians the camera turns over all pictures.
    pub turn: f32,
    /// How many times farther away the camera is at the end of a film.
    pub recede: f32,
    press: Vec<Press>,
    size: UVec2,
    /// Pixels per logical pixel, without a window.
    scale: f32,
    plain: bool,
    one_light: bool,
    target: Option<RenderTarget>,
}

impl Stage {
    /// Returns `true` for a film with at least 30 frames per second.
    fn is_smooth(&self) -> bool {
        self.pictures.len() > 1 && self.every < 2.1 * STEP
    }

    fn cascades(&self) -> usize {
        if self.one_light { 1 } else { 2 }
    }
}

/// Creates an app with Bevy's plugins, ours, and an empty lit stage. `help` is shown at the bottom.
///
/// With `--headless`, or without a display, it renders a picture instead of opening a window.
pub fn app(name: &'static str, args: &StageArgs, help: &'static str) -> App {
    app_with(name, args, help, |_| ())
}

/// Like [`app`], but calls `first` before adding plugins, as registering an asset source requires.
pub fn app_with(
    name: &'static str,
    args: &StageArgs,
    help: &'static str,
    first: impl FnOnce(&mut App),
) -> App {
    let mut app = App::new();
    first(&mut app);
    set_up(&mut app, name, args, help);
    app
}

/// Adds what [`app`] has to an app of your own.
pub fn set_up(app: &mut App, name: &'static str, args: &StageArgs, help: &'static str) {
    let picture = match (&args.headless, has_display()) {
        (Some(Some(file)), _) => Some(file.clone()),
        (Some(None), _) => Some(PathBuf::from(format!("target/{name}.png"))),
        (None, true) => None,
        (None, false) => {
            let file = PathBuf::from(format!("target/{name}.png"));
            eprintln!("no display found: {name} renders a picture instead of opening a window");
            Some(file)
        }
    };
    headless::explain_missing_gpu();
    platform::prepare(app, help);
    app.add_plugins(plugins(name, args, picture.is_some()));
    if picture.is_some() {
        // On the web, only the page can run frames.
        #[cfg(not(target_arch = "wasm32"))]
        app.add_plugins(ScheduleRunnerPlugin::run_loop(Duration::ZERO));
        app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::ZERO));
        app.add_plugins(headless::HeadlessPlugin {
            joints: args.joints,
        });
    }
    let headless = picture.is_some();
    let pictures = picture
        .iter()
        .flat_map(|file| film::names(file, args.frames.into()))
        .collect();
    let (time, every, turn) = (
        args.time.unwrap_or(1.0),
        args.fps.recip(),
        args.turn.to_radians(),
    );
    let press = args.press.clone();
    let (size, plain, one_light) = (args.size, args.plain, args.one_light);
    app.insert_resource(Stage {
        pictures,
        headless,
        time,
        every,
        turn,
        recede: args.recede,
        press,
        size,
        scale: args.text_scale,
        plain,
        one_light,
        target: None,
    })
    .init_resource::<View>()
    .init_resource::<Caption>()
    .init_resource::<Covered>()
    .insert_resource(Help(help))
    .insert_resource(Bare(args.bare))
    .insert_resource(ClearColor(HORIZON))
    // The environment map lights the scene instead.
    .insert_resource(GlobalAmbientLight::NONE)
    .init_resource::<Footer>()
    .add_plugins((MarionettePlugins::default(), overlay::OverlayPlugin))
    .add_systems(Startup, set_stage)
    .add_systems(Update, orbit::steer.run_if(not(pointer_is_taken)))
    .add_systems(
        PostUpdate,
        (orbit::keep_framed, orbit::place)
            .chain()
            .in_set(PlaceCamera)
            .before(TransformSystems::Propagate),
    )
    .add_systems(
        EguiPrimaryContextPass,
        (
            (caption::tell_page, caption::paint, footer::paint)
                .chain()
                .in_set(OverlaySystems::Text),
            footer::measure.in_set(OverlaySystems::Measure),
        ),
    );
}

#[cfg(feature = "inspector")]
use bevy_marionette::inspector::inspector_wants_pointer as pointer_is_taken;

/// Run condition: the inspector isn't using the keyboard.
#[cfg(feature = "inspector")]
pub fn has_keys(wants: Option<Res<bevy_egui::input::EguiWantsInput>>) -> bool {
    !bevy_marionette::inspector::inspector_wants_keys(wants)
}

/// Always false without the inspector.
#[cfg(not(feature = "inspector"))]
fn pointer_is_taken() -> bool {
    false
}

/// Always true without the inspector.
#[cfg(not(feature = "inspector"))]
pub fn has_keys() -> bool {
    true
}

/// Color of the horizon and the fog, so that the ground has no visible edge.
const HORIZON: Color = Color::srgb(0.54, 0.60, 0.68);

fn plugins(name: &str, args: &StageArgs, headless: bool) -> PluginGroupBuilder {
    let StageArgs { size, plain, .. } = *args;
    // Software renderers take minutes to compile shaders, and longer if they also draw.
    let at_once = headless || plain;
    let window = Window {
        title: format!("bevy_marionette: {name}"),
        resolution: (size.x, size.y).into(),
        // On the web.
        canvas: Some("#stage".into()),
        fit_canvas_to_parent: true,
        ..default()
    };
    let mut filter =
        "warn,bevy_marionette=info,wgpu_hal=error,bevy_render=error,naga=error".to_owned();
    if cfg!(target_arch = "wasm32") {
        // WebGL2 lacks what several of Bevy's plugins need, and each of them says so.
        filter += ",bevy_core_pipeline=error,bevy_pbr=error";
    }
    let plugins = DefaultPlugins
        .set(LogPlugin {
            filter,
            ..default()
        })
        .set(AssetPlugin {
            unapproved_path_mode: UnapprovedPathMode::Allow,
            // There are no `.meta` files, and a web server would be asked for each.
            meta_check: AssetMetaCheck::Never,
            ..default()
        })
        .set(RenderPlugin {
            synchronous_pipeline_compilation: at_once,
            ..render_plugin()
        });
    // WebGL needs a canvas, shown or not.
    if headless && !cfg!(target_arch = "wasm32") {
        plugins
            .set(WindowPlugin {
                primary_window: None,
                exit_condition: ExitCondition::DontExit,
                ..default()
            })
            .disable::<WinitPlugin>()
    } else {
        // Window tests don't run on the main thread.
        plugins
            .set(WindowPlugin {
                primary_window: Some(window),
                ..default()
            })
            .set(WinitPlugin {
                run_on_any_thread: true,
            })
    }
}

fn has_display() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(target_os = "linux") || set("DISPLAY") || set("WAYLAND_DISPLAY")
}

#[derive(Resource)]
struct Help(&'static str);

#[derive(Resource, PartialEq)]
struct Bare(bool);

/// The ground, which examples can move to a model's feet.
#[derive(Component)]
pub struct Ground;

fn set_stage(
    mut commands: Commands,
    mut stage: ResMut<Stage>,
    view: Res<View>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
    mut images: ResMut<Assets<Image>>,
    mut clusters: ResMut<GlobalClusterSettings>,
    tables: Res<TonemappingLuts>,
) {
    let mut camera = commands.spawn((
        Camera3d::default(),
        PrimaryEguiContext,
        // Without a window, Bevy can't determine this camera by itself.
        bevy::camera::ShadowLodOrigin,
        view.0,
        Projection::from(PerspectiveProjection {
            fov: orbit::FIELD_OF_VIEW,
            ..default()
        }),
        Tonemapping::TonyMcMapface,
        Msaa::Sample4,
        DistanceFog {
            color: HORIZON,
            falloff: FogFalloff::Linear {
                start: 10.0,
                end: 24.0,
            },
            ..default()
        },
        EnvironmentMapLight {
            intensity: if stage.one_light { 640.0 } else { 420.0 },
            ..sky::light(&mut images)
        },
    ));
    if stage.plain {
        camera.insert((
            Msaa::Off,
            NoIndirectDrawing,
            Tonemapping::SomewhatBoringDisplayTransform,
        ));
        // GPU light clustering uses indirect drawing too.
        clusters.gpu_clustering = None;
        // Bevy uploads this RGB9E5 table even if its tonemapper is unused.
        images.remove(&tables.tony_mc_mapface);
    }
    if stage.headless {
        let Stage { size, scale, .. } = *stage;
        let mut image =
            Image::new_target_texture(size.x, size.y, TextureFormat::Rgba8UnormSrgb, None);
        image.texture_descriptor.usage |= TextureUsages::COPY_SRC;
        let target = RenderTarget::Image(ImageRenderTarget {
            handle: images.add(image),
            scale_factor: scale,
        });
        camera.insert(target.clone());
        stage.target = Some(target);
        // Dithering noise would make up most of the file.
        camera.insert(DebandDither::Disabled);
    }
    let checker = images.add(checker());
    commands.spawn((
        Ground,
        Mesh3d(meshes.add(Plane3d::default().mesh().size(2.0, 2.0).build())),
        MeshMaterial3d(materials.add(StandardMaterial {
            base_color: Color::srgb(0.43, 0.45, 0.475),
            base_color_texture: Some(checker),
            perceptual_roughness: 0.85,
            reflectance: 0.25,
            ..default()
        })),
        Transform::from_scale(Vec3::splat(20.0)),
    ));
    commands.spawn(sky::dome(&mut meshes, &mut materials));
    // Key light, fill light and rim light.
    let lights = [
        (
            Color::srgb(1.0, 0.94, 0.84),
            7400.0,
            true,
            Vec3::new(-2.6, 4.2, -3.4),
        ),
        (
            Color::srgb(0.70, 0.82, 1.0),
            900.0,
            false,
            Vec3::new(4.0, 1.5, -1.5),
        ),
        (
            Color::srgb(0.78, 0.88, 1.0),
            5200.0,
            false,
            Vec3::new(2.4, 2.6, 3.6),
        ),
    ];
    for (color, illuminance, shadow, from) in
        lights.into_iter().take(if stage.one_light { 1 } else { 3 })
    {
        commands.spawn((
            DirectionalLight {
                color,
                illuminance,
                shadow_maps_enabled: shadow,
                ..default()
            },
            CascadeShadowConfigBuilder {
                num_cascades: stage.cascades(),
                maximum_distance: 20.0,
                ..default()
            }
            .build(),
            Transform::from_translation(from).looking_at(Vec3::ZERO, Vec3::Y),
        ));
    }
}

/// A soft checkerboard, with a few texels per square so that distant ones blur.
fn checker() -> Image {
    let texel = |i: u32| {
        if (i % 8 < 4) == (i / 8 < 4) {
            [235, 235, 235, 255]
        } else {
            [198, 200, 205, 255]
        }
    };
    let data = (0..64).flat_map(texel).collect();
    let size = Extent3d {
        width: 8,
        height: 8,
        depth_or_array_layers: 1,
    };
    let mut image = Image::new(
        size,
        TextureDimension::D2,
        data,
        TextureFormat::Rgba8UnormSrgb,
        default(),
    );
    image.sampler = ImageSampler::Descriptor(ImageSamplerDescriptor {
        address_mode_u: ImageAddressMode::Repeat,
        address_mode_v: ImageAddressMode::Repeat,
        ..ImageSamplerDescriptor::linear()
    });
    image
}
