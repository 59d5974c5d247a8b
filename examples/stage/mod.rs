//! What the examples share: a lit stage, an orbiting camera, a line of help, and headless pictures.
//!
//! Not part of the plugin: copy from it what you like.

// Each example uses its own share of this module.
#![allow(dead_code, unused_imports)]

mod caption;
mod ground;
mod headless;
mod orbit;

pub use caption::{Caption, bar};
pub use ground::lowest_point;
pub use headless::{Capture, Press, fail};
pub use orbit::{Orbit, View};

use bevy::{
    app::{PluginGroupBuilder, ScheduleRunnerPlugin},
    asset::UnapprovedPathMode,
    camera::RenderTarget,
    core_pipeline::tonemapping::Tonemapping,
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
use bevy_marionette::prelude::*;
use std::{path::PathBuf, time::Duration};

/// What every example understands on its command line.
#[derive(clap::Parser, Clone, Debug)]
pub struct StageArgs {
    /// Render one picture off-screen and exit; without a FILE it goes to target/NAME.png
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    pub headless: Option<Option<PathBuf>>,
    /// Size of the window or picture
    #[arg(long, value_name = "WxH", default_value = "1280x800", value_parser = parse_size)]
    pub size: UVec2,
    /// Seconds on the clock when the headless picture is taken
    #[arg(long, value_name = "SECONDS")]
    pub time: Option<f32>,
    /// Press a key during a headless run, such as N@0.5 or Space@1; may be given again
    #[arg(long, value_name = "KEY@SECONDS")]
    pub press: Vec<Press>,
    /// Leave out all text
    #[arg(long)]
    pub bare: bool,
    /// Draw without multisampling and indirect commands, which some drivers (Wine's Direct3D) lack
    #[arg(long)]
    pub plain: bool,
}

impl StageArgs {
    /// What a headless picture shows unless the command line says otherwise: when it is taken, and the keys
    /// that are pressed on the way, as in `"N@0.5 Space@0.8"`.
    pub fn showing(self, time: f32, keys: &str) -> Self {
        let ours = || keys.split_whitespace().map(|key| key.parse().unwrap_or_else(|reason| fail(reason)));
        let press = if self.press.is_empty() { ours().collect() } else { self.press };
        Self { time: self.time.or(Some(time)), press, ..self }
    }
}

fn parse_size(text: &str) -> Result<UVec2, String> {
    let parts = text.split_once(['x', 'X']).and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
    match parts {
        Some((w @ 16..=8192, h @ 16..=8192)) => Ok(UVec2::new(w, h)),
        _ => Err("expected a size such as 1280x800, each side 16 to 8192".into()),
    }
}

/// Steps of the clock in a headless run.
pub const STEP: f32 = 1.0 / 60.0;

/// The stage's state: where the picture goes, and how long to wait before it is taken.
#[derive(Resource, Clone)]
pub struct Stage {
    /// Where the headless picture goes; `None` with a window.
    pub picture: Option<PathBuf>,
    /// Seconds on the clock when the picture is taken.
    pub time: f32,
    press: Vec<Press>,
    size: UVec2,
    plain: bool,
    target: Option<Handle<Image>>,
}

/// An app with Bevy's plugins, ours, and an empty lit stage; `help` is shown in the corner.
///
/// With `--headless`, or where there is no display to open a window on, it renders off-screen.
pub fn app(name: &'static str, args: &StageArgs, help: &'static str) -> App {
    app_with(name, args, help, |_| ())
}

/// The same; `first` is done before any plugin is there, as asset sources ask for.
pub fn app_with(name: &'static str, args: &StageArgs, help: &'static str, first: impl FnOnce(&mut App)) -> App {
    let picture = match (&args.headless, has_display()) {
        (Some(Some(file)), _) => Some(file.clone()),
        (Some(None), _) => Some(PathBuf::from(format!("target/{name}.png"))),
        (None, true) => None,
        (None, false) => {
            let file = PathBuf::from(format!("target/{name}.png"));
            eprintln!("There is no display here, so {name} renders one picture instead of opening a window.");
            Some(file)
        }
    };
    headless::explain_missing_gpu();
    let mut app = App::new();
    first(&mut app);
    app.add_plugins(plugins(name, args.size, picture.is_some()));
    if picture.is_some() {
        app.add_plugins(ScheduleRunnerPlugin::run_loop(Duration::ZERO));
        app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::ZERO));
        app.add_plugins(headless::HeadlessPlugin);
    }
    let (time, press) = (args.time.unwrap_or(1.0), args.press.clone());
    app.insert_resource(Stage { picture, time, press, size: args.size, plain: args.plain, target: None })
        .init_resource::<View>()
        .init_resource::<Caption>()
        .insert_resource(Help(help))
        .insert_resource(Bare(args.bare))
        .insert_resource(ClearColor(BACKGROUND))
        .insert_resource(GlobalAmbientLight { color: Color::srgb(0.75, 0.85, 1.0), brightness: 220.0, ..default() })
        .add_plugins(MarionettePlugins)
        .add_systems(Startup, (set_stage, show_help, caption::spawn).chain())
        .add_systems(Last, hide_text.run_if(resource_equals(Bare(true))))
        .add_systems(Update, (orbit::steer.run_if(has_pointer), orbit::place).chain())
        .add_systems(PostUpdate, caption::write.before(bevy::ui::UiSystems::Content));
    app
}

/// Whether the pointer is the scene's, not the inspector's.
#[cfg(feature = "inspector")]
pub fn has_pointer(wants: Option<Res<bevy_egui::input::EguiWantsInput>>) -> bool {
    !bevy_marionette::inspector::inspector_wants_pointer(wants)
}

/// Whether keys are the scene's, not typed into the inspector.
#[cfg(feature = "inspector")]
pub fn has_keys(wants: Option<Res<bevy_egui::input::EguiWantsInput>>) -> bool {
    !bevy_marionette::inspector::inspector_wants_keys(wants)
}

/// Whether the pointer is the scene's: always, without the inspector.
#[cfg(not(feature = "inspector"))]
pub fn has_pointer() -> bool {
    true
}

/// Whether keys are the scene's: always, without the inspector.
#[cfg(not(feature = "inspector"))]
pub fn has_keys() -> bool {
    true
}

/// The colour of everything far away.
const BACKGROUND: Color = Color::srgb(0.115, 0.13, 0.155);

fn plugins(name: &str, size: UVec2, headless: bool) -> PluginGroupBuilder {
    let window = Window { title: format!("bevy_marionette: {name}"), resolution: (size.x, size.y).into(), ..default() };
    let filter = "warn,bevy_marionette=info,wgpu_hal=error,bevy_render=error,naga=error".to_owned();
    let plugins = DefaultPlugins
        .set(LogPlugin { filter, ..default() })
        .set(AssetPlugin { unapproved_path_mode: UnapprovedPathMode::Allow, ..default() })
        .set(RenderPlugin { synchronous_pipeline_compilation: headless, ..render_plugin() });
    if headless {
        plugins
            .set(WindowPlugin { primary_window: None, exit_condition: ExitCondition::DontExit, ..default() })
            .disable::<WinitPlugin>()
    } else {
        plugins.set(WindowPlugin { primary_window: Some(window), ..default() })
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

fn hide_text(mut texts: Query<&mut Visibility, Added<Text>>) {
    texts.iter_mut().for_each(|mut visibility| *visibility = Visibility::Hidden);
}

/// The ground, so that an example can move it under a model's feet.
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
) {
    let mut camera = commands.spawn((
        Camera3d::default(),
        IsDefaultUiCamera,
        // With no window Bevy cannot tell by itself which camera counts.
        bevy::camera::ShadowLodOrigin,
        view.0,
        Tonemapping::TonyMcMapface,
        Msaa::Sample4,
        DistanceFog { color: BACKGROUND, falloff: FogFalloff::Linear { start: 10.0, end: 24.0 }, ..default() },
    ));
    if stage.plain {
        camera.insert((Msaa::Off, NoIndirectDrawing));
        // Clustering lights on the GPU draws indirectly too.
        clusters.gpu_clustering = None;
    }
    if stage.picture.is_some() {
        let Stage { size, .. } = *stage;
        let mut image = Image::new_target_texture(size.x, size.y, TextureFormat::Rgba8UnormSrgb, None);
        image.texture_descriptor.usage |= TextureUsages::COPY_SRC;
        let target = images.add(image);
        camera.insert(RenderTarget::Image(target.clone().into()));
        stage.target = Some(target);
    }
    let checker = images.add(checker());
    commands.spawn((
        Ground,
        Mesh3d(meshes.add(Plane3d::default().mesh().size(2.0, 2.0).build())),
        MeshMaterial3d(materials.add(StandardMaterial {
            base_color: Color::srgb(0.42, 0.45, 0.50),
            base_color_texture: Some(checker),
            perceptual_roughness: 0.85,
            reflectance: 0.25,
            uv_transform: bevy::math::Affine2::from_scale(Vec2::splat(40.0)),
            ..default()
        })),
        Transform::from_scale(Vec3::splat(20.0)),
    ));
    for (color, illuminance, shadow, from) in [
        (Color::srgb(1.0, 0.95, 0.86), 7600.0, true, Vec3::new(-2.0, 4.0, -3.0)),
        (Color::srgb(0.62, 0.76, 1.0), 2600.0, false, Vec3::new(3.5, 2.0, 2.5)),
    ] {
        commands.spawn((
            DirectionalLight { color, illuminance, shadow_maps_enabled: shadow, ..default() },
            CascadeShadowConfigBuilder { num_cascades: 2, maximum_distance: 20.0, ..default() }.build(),
            Transform::from_translation(from).looking_at(Vec3::ZERO, Vec3::Y),
        ));
    }
}

/// Two soft shades in squares, a few texels each so that the far ones melt together.
fn checker() -> Image {
    let texel = |i: u32| if (i % 8 < 4) == (i / 8 < 4) { [235, 235, 235, 255] } else { [198, 200, 205, 255] };
    let data = (0..64).flat_map(texel).collect();
    let size = Extent3d { width: 8, height: 8, depth_or_array_layers: 1 };
    let mut image = Image::new(size, TextureDimension::D2, data, TextureFormat::Rgba8UnormSrgb, default());
    image.sampler = ImageSampler::Descriptor(ImageSamplerDescriptor {
        address_mode_u: ImageAddressMode::Repeat,
        address_mode_v: ImageAddressMode::Repeat,
        ..ImageSamplerDescriptor::linear()
    });
    image
}

fn show_help(mut commands: Commands, help: Res<Help>) {
    commands.spawn((
        Text::new(help.0),
        TextFont::from_font_size(14.0),
        TextColor(Color::srgba(1.0, 1.0, 1.0, 0.75)),
        Node { position_type: PositionType::Absolute, left: px(14), bottom: px(12), ..default() },
    ));
}
