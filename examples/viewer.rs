//! Opens a character and plays it: those in `assets/`, or any `.m3d`, `.md5mesh` or `.character.ron` on disk.
//!
//! ```text
//! cargo run --example viewer
//! cargo run --example viewer -- model.md5mesh walk.md5anim run.md5anim
//! cargo run --example viewer -- model.m3d --headless out.png --clip Take1 --time 0.5
//! cargo run --example viewer -- --headless turntable.gif --frames 32 --fps 15 --turn 360
//! ```
//!
//! Files dropped on the window open too: a model replaces what is shown, an `.md5anim` joins it.

mod stage;

use bevy::{asset::LoadState, prelude::*};
use bevy_marionette::{
    asset::CharacterLoaderSettings,
    import::{FileKind, Hand, UpAxis},
    prelude::*,
};
use clap::Parser;
use stage::{
    Caption, Capture, Chosen, Covered, Exhibit, Framing, GalleryPlugin, Ground, OnShow, Orbit, Stage, StageArgs,
};
use std::{
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
};

/// Plays a skinned character.
#[derive(Parser, Resource, Clone)]
struct Args {
    /// A model or manifest, and .md5anim files to play on it
    files: Vec<PathBuf>,
    /// The clip to begin with; `bind` for the bind pose
    #[arg(long, value_name = "NAME")]
    clip: Option<String>,
    /// Factor on every length
    #[arg(long, default_value_t = 1.0)]
    scale: f32,
    /// The file's hand, where the guess is wrong
    #[arg(long, value_enum, default_value_t = HandArg::Auto)]
    hand: HandArg,
    /// The file's up axis, where it is not the format's own
    #[arg(long, value_enum, default_value_t = UpArg::Auto)]
    up: UpArg,
    /// Degrees the camera is turned around the character
    #[arg(long, allow_negative_numbers = true)]
    yaw: Option<f32>,
    /// Drop a file on the stage during a headless run, such as run.md5anim@0.5; may be given again
    #[arg(long, value_name = "FILE@SECONDS")]
    drop: Vec<Dropped>,
    /// Opens the inspector, as F1 does
    #[cfg(feature = "inspector")]
    #[arg(long, value_name = "TAB", num_args = 0..=1, default_missing_value = "joints", value_parser = tab)]
    inspector: Option<bevy_marionette::inspector::InspectorTab>,
    #[command(flatten)]
    stage: StageArgs,
}

/// A file that is dropped at a moment of the picture's clock.
#[derive(Clone)]
struct Dropped {
    file: PathBuf,
    at: f32,
}

impl FromStr for Dropped {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (file, at) = text.rsplit_once('@').ok_or("expected a file and a moment, such as run.md5anim@0.5")?;
        Ok(Self { file: file.into(), at: at.parse().map_err(|error| format!("`{at}`: {error}"))? })
    }
}

#[derive(clap::ValueEnum, Clone, Copy)]
enum HandArg {
    Auto,
    Left,
    Right,
}

#[derive(clap::ValueEnum, Clone, Copy)]
enum UpArg {
    Auto,
    Y,
    Z,
}

/// Shown first when no file is named.
const OURS: &str = "scout/scout.character.ron";

const HELP: &str = "drag, arrows: orbit   wheel: zoom   N, P: next, previous clip   space: pause   B: bind pose\n\
                    minus, plus: speed   R: reverse   digits, G: gallery   F1: inspector   F2: keys   drop files to open them";

fn main() {
    let args = Args::parse();
    let mut app = stage::app("viewer", &args.stage, HELP);
    #[cfg(feature = "inspector")]
    {
        use bevy_marionette::inspector::{Inspector, MarionetteInspectorPlugin};
        if args.stage.plain {
            // Arrays of textures are more than Wine's Direct3D can do.
            app.add_plugins(bevy_egui::EguiPlugin { bindless_mode_array_size: None });
        }
        app.add_plugins(MarionetteInspectorPlugin).insert_resource(Inspector {
            open: args.inspector.is_some(),
            tab: args.inspector.unwrap_or_default(),
            ..default()
        });
        app.add_systems(Update, leave_room_for_the_panel);
    }
    app.insert_resource(args)
        .init_resource::<Shown>()
        .add_plugins(GalleryPlugin)
        .add_systems(Startup, open_first)
        .add_systems(Update, drop_files.before(open_dropped))
        .add_systems(
            Update,
            (open_dropped, open_chosen, load, watch_loading, keys.run_if(stage::has_keys), caption).chain(),
        )
        .add_observer(frame)
        .run();
}

/// The inspector's panel covers the right side of the picture.
#[cfg(feature = "inspector")]
fn leave_room_for_the_panel(
    mut contexts: bevy_egui::EguiContexts,
    inspector: Res<bevy_marionette::inspector::Inspector>,
    mut covered: ResMut<Covered>,
) {
    let panel = contexts.ctx_mut().ok().filter(|_| inspector.open).and_then(|context| {
        bevy_egui::egui::containers::panel::PanelState::load(context, "marionette_inspector_panel".into())
    });
    let now = Covered { right: panel.map_or(0.0, |panel| panel.outer_rect.width()), ..*covered };
    covered.set_if_neq(now);
}

#[cfg(feature = "inspector")]
fn tab(text: &str) -> Result<bevy_marionette::inspector::InspectorTab, String> {
    let tabs = bevy_marionette::inspector::InspectorTab::ALL;
    let titles = tabs.map(|tab| tab.title().to_lowercase()).join(", ");
    tabs.into_iter().find(|tab| tab.title().eq_ignore_ascii_case(text)).ok_or(format!("the tabs are {titles}"))
}

/// What is being shown.
#[derive(Resource, Default)]
struct Shown {
    /// The model or manifest; `None` for one of the gallery.
    model: Option<PathBuf>,
    /// The one of the gallery.
    exhibit: Option<Exhibit>,
    /// Clip files that join it.
    clips: Vec<PathBuf>,
    /// Whether it is still to be loaded.
    is_due: bool,
    /// The character's entity.
    entity: Option<Entity>,
    /// Said to the user instead of the clip's name.
    trouble: Option<String>,
    /// Index of the clip that plays; `None` for the bind pose.
    clip: Option<usize>,
    /// Whether a first character has been there, on which the command line's clip was played.
    met: bool,
    /// The clip that played before another character was opened: it goes on if that has one of the same name.
    last_clip: Option<Arc<str>>,
}

fn open_first(mut commands: Commands, args: Res<Args>, mut shown: ResMut<Shown>, mut on_show: ResMut<OnShow>) {
    let (clips, models): (Vec<_>, Vec<_>) = args.files.iter().cloned().partition(|file| is_clip(file));
    if models.len() > 1 {
        stage::fail(format!("one model at a time, please: {} were named", models.len()));
    }
    if models.is_empty() && !clips.is_empty() {
        stage::fail("an .md5anim is a clip: name the .md5mesh it belongs to first");
    }
    if let Some(missing) = args.files.iter().find(|file| !file.is_file()) {
        stage::fail(format!("{}: there is no such file", missing.display()));
    }
    shown.model = models.into_iter().next();
    shown.clips = clips;
    if shown.model.is_none() {
        shown.exhibit = stage::gallery().into_iter().find(|exhibit| exhibit.asset == OURS);
    }
    open(&mut commands, &mut shown, &mut on_show);
}

/// The file's name, or the exhibit's.
fn title(shown: &Shown) -> String {
    let name = shown.model.as_ref().and_then(|model| model.file_name());
    let exhibit = || shown.exhibit.as_ref().map_or_else(|| OURS.into(), |exhibit| exhibit.title.clone());
    name.map_or_else(exhibit, |name| name.to_string_lossy().into_owned())
}

fn is_clip(file: &Path) -> bool {
    FileKind::of_name(&file.to_string_lossy()) == Some(FileKind::Md5Anim)
}

/// Takes away what is shown; [`load`] brings what is to be shown instead.
fn open(commands: &mut Commands, shown: &mut Shown, on_show: &mut OnShow) {
    if let Some(old) = shown.entity.take() {
        commands.entity(old).despawn();
    }
    on_show.0 = shown.exhibit.clone().filter(|_| shown.model.is_none());
    shown.trouble = None;
    shown.clip = None;
    shown.is_due = true;
}

fn load(mut commands: Commands, args: Res<Args>, mut shown: ResMut<Shown>, assets: Res<AssetServer>) {
    let absolute = |file: &PathBuf| std::path::absolute(file).unwrap_or_else(|_| file.clone());
    // As long as the server knows a file, loading it again answers what is there, without the clips that have joined.
    let is_loaded = |model: &PathBuf| assets.get_path_id(absolute(model)).is_some();
    if !shown.is_due || shown.model.as_ref().is_some_and(is_loaded) {
        return;
    }
    shown.is_due = false;
    let clips: Vec<String> = shown.clips.iter().map(|clip| absolute(clip).to_string_lossy().into_owned()).collect();
    let (scale, hand, up) = (args.scale, args.hand, args.up);
    let settings = move |settings: &mut CharacterLoaderSettings| {
        settings.import.scale = scale;
        settings.import.hand = match hand {
            HandArg::Auto => Hand::Auto,
            HandArg::Left => Hand::Left,
            HandArg::Right => Hand::Right,
        };
        settings.import.up = match up {
            UpArg::Auto => UpAxis::Auto,
            UpArg::Y => UpAxis::Y,
            UpArg::Z => UpAxis::Z,
        };
        settings.clips = clips.clone();
    };
    let handle: Handle<Character> = match &shown.model {
        Some(model) => assets.load_builder().with_settings(settings).load(absolute(model)),
        None => assets.load(shown.exhibit.as_ref().map_or(OURS, |exhibit| &exhibit.asset).to_owned()),
    };
    // A headless picture waits from the first frame on.
    shown.entity = Some(commands.spawn((Name::new(title(&shown)), SkinnedCharacter(handle))).id());
}

/// Does in a headless run what a hand does with a window.
fn drop_files(
    args: Res<Args>,
    capture: Option<Res<Capture>>,
    mut dropped: MessageWriter<FileDragAndDrop>,
    mut last: Local<f32>,
) {
    let Some(now) = capture.map(|capture| capture.clock) else { return };
    for Dropped { file, .. } in args.drop.iter().filter(|file| (file.at > *last) && file.at <= now) {
        dropped.write(FileDragAndDrop::DroppedFile { window: Entity::PLACEHOLDER, path_buf: file.clone() });
    }
    *last = now;
}

fn open_dropped(
    mut commands: Commands,
    mut dropped: MessageReader<FileDragAndDrop>,
    mut shown: ResMut<Shown>,
    mut on_show: ResMut<OnShow>,
) {
    let files = dropped.read().filter_map(|message| match message {
        FileDragAndDrop::DroppedFile { path_buf, .. } => Some(path_buf.clone()),
        _ => None,
    });
    let (clips, models): (Vec<_>, Vec<_>) = files.partition(|file| is_clip(file));
    if let Some(model) = models.into_iter().next_back() {
        shown.model = Some(model);
        shown.clips = clips;
    } else if !clips.is_empty() {
        shown.clips.extend(clips);
    } else {
        return;
    }
    open(&mut commands, &mut shown, &mut on_show);
}

fn open_chosen(
    mut commands: Commands,
    mut chosen: MessageReader<Chosen>,
    mut shown: ResMut<Shown>,
    mut on_show: ResMut<OnShow>,
) {
    let Some(Chosen(exhibit)) = chosen.read().last() else { return };
    (shown.model, shown.clips, shown.exhibit) = (None, vec![], Some(exhibit.clone()));
    open(&mut commands, &mut shown, &mut on_show);
}

/// Holds a headless picture back while the model loads, and says what went wrong when it does not.
fn watch_loading(
    mut shown: ResMut<Shown>,
    characters: Query<&SkinnedCharacter>,
    server: Res<AssetServer>,
    mut capture: Option<ResMut<Capture>>,
) {
    if let Some(capture) = &mut capture
        && shown.is_due
    {
        capture.waiting = true;
    }
    let Some(handle) = shown.entity.and_then(|entity| characters.get(entity).ok()) else { return };
    if let LoadState::Failed(error) = server.load_state(handle.id()) {
        let text = error.to_string();
        if capture.is_some() {
            stage::fail(text);
        }
        if shown.trouble.as_ref() != Some(&text) {
            eprintln!("{text}");
            shown.trouble = Some(text);
        }
    }
    if let Some(mut capture) = capture {
        // Textures too: a material that waits for one is not drawn.
        capture.waiting = !server.recursive_dependency_load_state(handle.id()).is_loaded()
            && !server.recursive_dependency_load_state(handle.id()).is_failed();
    }
}

/// The character is there: play its first clip and look at it.
fn frame(
    ready: On<CharacterReady>,
    args: Res<Args>,
    mut shown: ResMut<Shown>,
    assets: Res<Assets<Character>>,
    meshes: Res<Assets<Mesh>>,
    mut characters: Query<(&SkinnedCharacter, &mut AnimationController)>,
    mut commands: Commands,
    camera: Single<(Entity, &mut Orbit)>,
    mut ground: Single<&mut Transform, With<Ground>>,
) {
    let Ok((handle, mut controller)) = characters.get_mut(ready.entity) else { return };
    let Some(character) = assets.get(handle.id()) else { return };
    let names: Vec<_> = character.clip_names().cloned().collect();
    let last = shown.last_clip.take().and_then(|last| names.iter().position(|name| *name == last));
    shown.clip = match args.clip.as_deref().filter(|_| !shown.met) {
        _ if last.is_some() => last,
        Some("bind") => None,
        Some(wanted) => {
            let found = names.iter().position(|name| &**name == wanted);
            if found.is_none() {
                let list = if names.is_empty() { "it has none".into() } else { format!("it has {}", names.join(", ")) };
                stage::fail(format!("there is no clip `{wanted}`: {list}"));
            }
            found
        }
        None if names.is_empty() => None,
        // A character is best met walking; else whatever comes first.
        None => names.iter().position(|name| &**name == "walk").or(Some(0)),
    };
    shown.met = true;
    if let Some(clip) = shown.clip {
        controller.play(names[clip].clone());
        shown.last_clip = Some(names[clip].clone());
    }
    let (camera, mut orbit) = camera.into_inner();
    if let Some(yaw) = args.yaw {
        orbit.yaw = yaw.to_radians();
    }
    let clip = shown.clip.and_then(|clip| character.clips.get(clip));
    let points = stage::outline(character, clip.map(|clip| &**clip), &meshes);
    ground.translation.y = stage::around(&points).0.y;
    commands.entity(camera).insert(Framing::of(points));
}

fn keys(
    keys: Option<Res<ButtonInput<KeyCode>>>,
    mut shown: ResMut<Shown>,
    assets: Res<Assets<Character>>,
    mut characters: Query<(&SkinnedCharacter, &mut AnimationController)>,
) {
    let Some(keys) = keys else { return };
    let Some((handle, mut controller)) = shown.entity.and_then(|entity| characters.get_mut(entity).ok()) else {
        return;
    };
    let Some(character) = assets.get(handle.id()) else { return };
    let count = character.clips.len();
    let step = |from: Option<usize>, by: usize| {
        if count == 0 { None } else { Some((from.unwrap_or(count - by) + by) % count) }
    };
    if keys.just_pressed(KeyCode::KeyN) || keys.just_pressed(KeyCode::KeyP) {
        shown.clip =
            step(shown.clip, if keys.just_pressed(KeyCode::KeyN) { 1 } else { count.saturating_sub(1).max(1) });
        if let Some(clip) = shown.clip {
            let name = character.clips[clip].timing.name.clone();
            shown.last_clip = Some(name.clone());
            controller.cross_fade(name, std::time::Duration::from_millis(250));
        }
    }
    if keys.just_pressed(KeyCode::Space) {
        controller.toggle_pause();
    }
    if keys.just_pressed(KeyCode::KeyB) {
        shown.clip = None;
        controller.stop();
    }
    let speed = controller.speed();
    if keys.just_pressed(KeyCode::KeyR) {
        controller.set_speed(-speed);
    }
    if keys.just_pressed(KeyCode::Minus) || keys.just_pressed(KeyCode::NumpadSubtract) {
        controller.set_speed(speed / 1.25);
    }
    if keys.just_pressed(KeyCode::Equal) || keys.just_pressed(KeyCode::NumpadAdd) {
        controller.set_speed(speed * 1.25);
    }
}

fn caption(
    shown: Res<Shown>,
    stage: Res<Stage>,
    assets: Res<Assets<Character>>,
    characters: Query<(&SkinnedCharacter, &AnimationController)>,
    mut caption: ResMut<Caption>,
) {
    let name = title(&shown);
    let playing = shown.entity.and_then(|entity| characters.get(entity).ok()).and_then(|(handle, controller)| {
        let character = assets.get(handle.id())?;
        let count = character.clips.len();
        Some(match shown.clip.and_then(|clip| Some((clip, character.clips.get(clip)?))) {
            Some((index, clip)) => {
                let at = controller.current_position().unwrap_or_default();
                let at = clip.timing.periodic(at);
                let paused = if controller.is_paused() && !stage.headless { "  (paused)" } else { "" };
                format!(
                    "{}  ({} of {count})   {at:.2} / {:.2} s   x{:.2}{paused}",
                    clip.timing.name,
                    index + 1,
                    clip.timing.duration,
                    controller.speed()
                )
            }
            None if count == 0 => "bind pose  (it has no clips)".into(),
            None => format!("bind pose  ({count} clips)"),
        })
    });
    let line = shown.trouble.clone().or(playing).unwrap_or_else(|| "loading...".into());
    caption.say(format!("{name}\n{line}"));
}
