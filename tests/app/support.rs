//! Support for tests: an app that runs frame by frame, characters built in code, files in a temporary folder, and access
//! to the log.

use bevy::{
    asset::{AssetLoadError, LoadState, io::AssetSourceBuilder},
    log::LogPlugin,
    prelude::*,
    render::{RenderPlugin, settings::WgpuSettings},
    time::TimeUpdateStrategy,
    winit::WinitPlugin,
};
use bevy_marionette::{
    asset::{Character, build_character},
    character::{AnimationLooped, AnimationStarted, CharacterParts, CrossFadeFinished, ModelPose},
    controller::TrackId,
    format::FormatError,
    import::Manifest,
    model::{
        ClipFrames, ClipTiming, Influences, Joint, JointTransform, Material, Model, PlaybackMode,
        SkeletalClip, Skeleton, SkinPart, State, Then,
    },
    prelude::*,
};
use glam::Affine3A;
use std::{
    io,
    path::Path,
    sync::{Mutex, Once},
    time::Duration,
};

/// An app without a renderer.
pub struct TestApp {
    pub app: App,
}

/// What observers and message readers received, in order.
#[derive(Resource, Default)]
pub struct Heard {
    pub observed: Vec<Fact>,
    pub messages: Vec<Fact>,
    pub ready: Vec<Entity>,
}

/// An event of a character.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    pub entity: Entity,
    pub track: TrackId,
    /// `started`, `looped`, `finished`, `faded in`, or the name of a callback.
    pub word: String,
    pub clip: String,
}

impl TestApp {
    /// Without files.
    pub fn new() -> Self {
        Self::with_files(Path::new("no such folder"))
    }

    /// With `root` as the asset folder.
    pub fn with_files(root: &Path) -> Self {
        Self::with_assets(asset_folder(root))
    }

    /// With the asset plugin configured by the caller.
    pub fn with_assets(assets: AssetPlugin) -> Self {
        Self::build(App::new(), assets, MarionettePlugins::default())
    }

    /// With another source of assets than files.
    pub fn with_source(name: &'static str, source: AssetSourceBuilder) -> Self {
        let mut app = App::new();
        app.register_asset_source(name, source);
        Self::build(
            app,
            asset_folder(Path::new("no such folder")),
            MarionettePlugins::default(),
        )
    }

    /// Without files, with the plugin configured by the caller.
    pub fn with_plugin(plugin: MarionettePlugins) -> Self {
        Self::build(
            App::new(),
            asset_folder(Path::new("no such folder")),
            plugin,
        )
    }

    fn build(mut app: App, assets: AssetPlugin, plugin: MarionettePlugins) -> Self {
        listen_to_the_log();
        app.add_plugins((MinimalPlugins, assets, TransformPlugin, plugin));
        // Most tests look at poses; see crowd.rs for characters that don't store theirs.
        app.register_required_components::<SkinnedCharacter, ModelPose>();
        app.world_mut()
            .resource_mut::<Time<Virtual>>()
            .set_max_delta(Duration::MAX);
        app.init_resource::<Heard>();
        hear(&mut app, |e: &AnimationCallback| {
            fact(e.entity, e.track, &e.name, &e.clip)
        });
        hear(&mut app, |e: &AnimationStarted| {
            fact(e.entity, e.track, "started", &e.clip)
        });
        hear(&mut app, |e: &AnimationLooped| {
            fact(e.entity, e.track, "looped", &e.clip)
        });
        hear(&mut app, |e: &AnimationFinished| {
            fact(e.entity, e.track, "finished", &e.clip)
        });
        hear(&mut app, |e: &CrossFadeFinished| {
            fact(e.entity, e.track, "faded in", &e.clip)
        });
        app.add_observer(|ready: On<CharacterReady>, mut heard: ResMut<Heard>| {
            heard.ready.push(ready.entity)
        });
        let mut app = Self { app };
        // The first update only starts the clock.
        app.update(0.0);
        app
    }

    /// The chain with its usual clips, and a character that plays one of them.
    pub fn playing(clip: &str) -> (Self, Handle<Character>, Entity) {
        Self::playing_by(&manifest(), clip)
    }

    /// The same, with another manifest.
    pub fn playing_by(manifest: &Manifest, clip: &str) -> (Self, Handle<Character>, Entity) {
        let mut app = Self::new();
        let handle = app.add(chain(&clips()), manifest);
        let entity = app.spawn(&handle, clip);
        (app, handle, entity)
    }

    /// Runs one frame of `dt` seconds.
    pub fn update(&mut self, dt: f64) {
        self.app
            .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f64(
                dt,
            )));
        self.app.update();
    }

    pub fn world(&mut self) -> &mut World {
        self.app.world_mut()
    }

    /// Adds the asset made of a model.
    pub fn add(&mut self, model: Model, manifest: &Manifest) -> Handle<Character> {
        let world = self.app.world_mut();
        let character = build(world, model, manifest);
        world.resource_mut::<Assets<Character>>().add(character)
    }

    /// Spawns a character that plays a clip.
    pub fn spawn(&mut self, handle: &Handle<Character>, clip: &str) -> Entity {
        self.spawn_with(handle, AnimationController::playing(clip))
    }

    pub fn spawn_with(
        &mut self,
        handle: &Handle<Character>,
        controller: AnimationController,
    ) -> Entity {
        self.world()
            .spawn((SkinnedCharacter(handle.clone()), controller))
            .id()
    }

    pub fn controller(&mut self, entity: Entity) -> Mut<'_, AnimationController> {
        self.app.world_mut().get_mut(entity).unwrap()
    }

    /// Returns the position of the current clip.
    pub fn clip_time(&mut self, entity: Entity) -> f64 {
        let controller = self.controller(entity);
        let track = controller.current_track().expect("nothing plays");
        track.position()
    }

    pub fn parts(&self, entity: Entity) -> Vec<Entity> {
        self.app
            .world()
            .get::<CharacterParts>(entity)
            .map(|parts| parts.entities.to_vec())
            .unwrap_or_default()
    }

    pub fn is_alive(&self, entity: Entity) -> bool {
        self.app.world().get_entity(entity).is_ok()
    }

    /// Returns what observers received since the last call, from one character or from all.
    pub fn words(&mut self, of: Option<Entity>) -> Vec<String> {
        let mut heard = self.app.world_mut().resource_mut::<Heard>();
        let facts = std::mem::take(&mut heard.observed);
        facts
            .into_iter()
            .filter(|f| of.is_none_or(|of| of == f.entity))
            .map(|f| f.word)
            .collect()
    }

    pub fn asset<A: Asset>(&self, handle: &Handle<A>) -> Option<&A> {
        self.app.world().resource::<Assets<A>>().get(handle)
    }

    pub fn server(&self) -> &AssetServer {
        self.app.world().resource::<AssetServer>()
    }

    /// Runs frames without advancing time until `done`.
    #[track_caller]
    pub fn wait(&mut self, what: &str, mut done: impl FnMut(&mut Self) -> bool) {
        for _ in 0..4000 {
            if done(self) {
                return;
            }
            self.update(0.0);
            std::thread::sleep(Duration::from_millis(2));
        }
        panic!("waited in vain for {what}");
    }

    /// Waits until a load has succeeded.
    #[track_caller]
    pub fn wait_for<A: Asset>(&mut self, handle: &Handle<A>) {
        let handle = handle.clone();
        self.wait("a load", |app| {
            if let LoadState::Failed(error) = app.server().load_state(&handle) {
                panic!("{error}");
            }
            app.asset(&handle).is_some()
        });
    }

    /// Waits until a load has failed, and returns the error, without Bevy's words before it.
    #[track_caller]
    pub fn wait_for_failure(&mut self, handle: &Handle<Character>) -> String {
        let mut message = String::new();
        self.wait("a failure", |app| match app.server().load_state(handle) {
            LoadState::Failed(error) => {
                message = own_words(&error);
                true
            }
            _ => false,
        });
        message
    }
}

/// Returns what a loader of ours says in an error of Bevy.
pub fn own_words(error: &AssetLoadError) -> String {
    let own = match error {
        AssetLoadError::AssetLoaderError(error) => error.error().downcast_ref::<FormatError>(),
        _ => None,
    };
    own.map_or_else(|| error.to_string(), FormatError::to_string)
}

/// Returns an asset plugin with `root` as the asset folder.
pub fn asset_folder(root: &Path) -> AssetPlugin {
    let file_path = root.to_str().unwrap().to_owned();
    AssetPlugin {
        file_path,
        watch_for_changes_override: Some(false),
        ..default()
    }
}

/// Creates an app with all of Bevy's plugins and ours, without a GPU, with an invisible window or none.
pub fn all_of_bevy(assets: AssetPlugin, primary_window: Option<Window>) -> App {
    let no_gpu = WgpuSettings {
        backends: None,
        ..default()
    };
    let mut app = App::new();
    app.add_plugins(
        DefaultPlugins
            .set(assets)
            .set(WindowPlugin {
                primary_window,
                ..default()
            })
            .set(RenderPlugin {
                render_creation: no_gpu.into(),
                ..default()
            })
            .disable::<WinitPlugin>()
            .disable::<LogPlugin>(),
    );
    app.add_plugins(MarionettePlugins::default());
    app.finish();
    app.cleanup();
    app
}

/// Adds the chain as an asset to any app.
pub fn add_chain(app: &mut App) -> Handle<Character> {
    let character = build(app.world_mut(), chain(&clips()), &manifest());
    app.world_mut()
        .resource_mut::<Assets<Character>>()
        .add(character)
}

pub fn build(world: &mut World, model: Model, manifest: &Manifest) -> Character {
    world.resource_scope(|world, mut meshes: Mut<Assets<Mesh>>| {
        let mut materials = world.resource_mut::<Assets<StandardMaterial>>();
        build_character(model, manifest, &mut meshes, &mut materials)
    })
}

fn fact(entity: Entity, track: TrackId, word: &str, clip: &str) -> Fact {
    Fact {
        entity,
        track,
        word: word.into(),
        clip: clip.into(),
    }
}

fn hear<E>(app: &mut App, fact: fn(&E) -> Fact)
where
    E: EntityEvent + Message,
    for<'a> E: Event<Trigger<'a>: Default>,
{
    app.add_observer(move |event: On<E>, mut heard: ResMut<Heard>| {
        heard.observed.push(fact(event.event()))
    });
    app.add_message::<E>();
    app.add_systems(
        Last,
        move |mut messages: MessageReader<E>, mut heard: ResMut<Heard>| {
            heard.messages.extend(messages.read().map(fact));
        },
    );
}

/// No joints, clips or parts.
pub fn manifest() -> Manifest {
    Manifest::of_model("code")
}

/// A timing with callback keys (time, name).
/// A manifest with the state `ground`, which plays `idle`, and `jump`, which may be entered from there and falls back.
pub fn with_ground_and_jump() -> Manifest {
    let jump = State::playing("jump").from(["ground"]);
    let states = [
        ("ground", State::playing("idle").start()),
        ("jump", jump.then(Then::State("ground".into()))),
    ];
    Manifest {
        states: states.map(|(name, state)| (name.to_owned(), state)).into(),
        ..manifest()
    }
}

pub fn timing(
    name: &str,
    duration: f64,
    playback: PlaybackMode,
    keys: &[(f64, &str)],
) -> ClipTiming {
    let mut timing = ClipTiming {
        playback,
        ..ClipTiming::new(name, duration)
    };
    for (time, key) in keys {
        timing.add_callback(*time, *key, ron::Value::Unit);
    }
    timing
}

/// A chain of `root`, `elbow` and `hand`, one meter per joint, with one part.
///
/// In every clip the hand moves at a constant speed: along X by the time, along Z by half of it.
pub fn chain(clips: &[ClipTiming]) -> Model {
    let joint = |name: &str, parent: Option<u16>, y: f32| Joint {
        name: name.into(),
        parent,
        rest: JointTransform::new(
            Vec3::Y * if parent.is_some() { 1.0 } else { 0.0 },
            Quat::IDENTITY,
        ),
        inverse_bind: Affine3A::from_translation(Vec3::NEG_Y * y),
    };
    let joints = vec![
        joint("root", None, 0.0),
        joint("elbow", Some(0), 1.0),
        joint("hand", Some(1), 2.0),
    ];
    let skeleton = Skeleton::new(joints).unwrap();
    let clips = clips
        .iter()
        .map(|timing| straight(timing, &skeleton))
        .collect();
    Model {
        parts: vec![strip("strip", 0)],
        materials: vec![Material::default()],
        clips,
        skeleton,
    }
}

fn straight(timing: &ClipTiming, skeleton: &Skeleton) -> SkeletalClip {
    let end = timing.duration as f32;
    let frame = |t: f32| {
        let place = |v| JointTransform::new(v, Quat::IDENTITY);
        [
            place(Vec3::ZERO),
            place(Vec3::Y),
            place(Vec3::new(t, 1.0, 0.5 * t)),
        ]
    };
    let frames = ClipFrames {
        joints: skeleton.names().clone(),
        animated: vec![],
        transforms: [frame(0.0), frame(end)].concat(),
    };
    SkeletalClip::new(timing.clone(), &frames).unwrap()
}

/// A strip of skin along the chain.
pub fn strip(name: &str, material: usize) -> SkinPart {
    let mut part = SkinPart {
        name: name.into(),
        material,
        palette: vec![0, 1, 2],
        ..SkinPart::default()
    };
    for ring in 0..3_u16 {
        for side in [-0.5, 0.5] {
            part.positions.push(Vec3::new(side, f32::from(ring), 0.0));
            part.normals.push(Vec3::Z);
            part.tangents.push(Vec4::new(1.0, 0.0, 0.0, 1.0));
            part.tex_coords
                .push(Vec2::new(side + 0.5, 1.0 - f32::from(ring) / 2.0));
            part.influences.push(Influences {
                palette: [ring, 0, 0, 0],
                weights: [1.0, 0.0, 0.0, 0.0],
            });
        }
        if ring > 0 {
            let a = u32::from(ring) * 2;
            part.triangles
                .extend([[a - 2, a - 1, a], [a - 1, a + 1, a]]);
        }
    }
    part.source_vertices = (0..part.positions.len() as u32).collect();
    part
}

/// The clips that most tests use.
pub fn clips() -> Vec<ClipTiming> {
    vec![
        timing(
            "walk",
            1.0,
            PlaybackMode::Loop,
            &[(0.25, "left"), (0.75, "right")],
        ),
        timing(
            "jump",
            0.5,
            PlaybackMode::Once,
            &[(0.0, "off"), (0.5, "land")],
        ),
        timing("swing", 1.0, PlaybackMode::PingPong, &[(0.25, "pass")]),
        timing("pose", 0.0, PlaybackMode::Loop, &[(0.0, "posed")]),
        timing("idle", 4.0, PlaybackMode::Loop, &[]),
    ]
}

/// What was logged, each time with its level and module.
static LOG: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct LogWriter;

impl io::Write for LogWriter {
    // Called once for each event.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes).into_owned();
        LOG.lock().unwrap().push(text);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn listen_to_the_log() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let subscriber = bevy::log::tracing_subscriber::fmt()
            .with_ansi(false)
            .with_writer(|| LogWriter);
        subscriber.with_max_level(bevy::log::Level::WARN).init();
    });
}

/// Frees the log's memory.
#[allow(dead_code)]
pub fn forget_log() {
    *LOG.lock().unwrap() = Vec::new();
}

/// Returns the messages of the log that contain `text`. All tests share one log, so `text` must be unique to the test.
pub fn logged(text: &str) -> Vec<String> {
    let log = LOG.lock().unwrap();
    log.iter()
        .filter(|entry| entry.contains(text))
        .map(|entry| message(entry).to_owned())
        .collect()
}

/// Like [`logged`], but without the messages of Bevy.
pub fn said(text: &str) -> Vec<String> {
    let log = LOG.lock().unwrap();
    log.iter()
        .filter(|entry| entry.contains(text) && entry.contains(" bevy_marionette::"))
        .map(|entry| message(entry).to_owned())
        .collect()
}

/// Strips the time, the level, and the module.
fn message(entry: &str) -> &str {
    let (_, message) = entry.split_once(": ").unwrap_or_default();
    message.trim_end()
}
