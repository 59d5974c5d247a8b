//! A viewer for characters: the ones in `assets/`, or any `.glb`, `.gltf`, `.fbx`, `.m3d`, `.md5mesh` or
//! `.character.ron` file.
//!
//! ```text
//! cargo run --example viewer
//! cargo run --example viewer -- hero.glb dance.glb
//! cargo run --example viewer -- model.md5mesh walk.md5anim run.md5anim
//! cargo run --example viewer -- model.m3d --headless out.png --clip Take1 --time 0.5
//! cargo run --example viewer -- --headless turntable.gif --frames 32 --fps 15 --turn 360
//! BEVY_ASSET_ROOT=path/to/the/game cargo run --example viewer -- bug.rec --inspector rewind
//! ```
//!
//! You can also drop files on the window: a model or a recording replaces the current one, an `.md5anim` is added to it.

mod stage;

use bevy::{
    asset::{AssetPath, LoadState},
    prelude::*,
};
use bevy_marionette::{
    asset::{Character, CharacterLoaderSettings, LoadProgress},
    import::{FileKind, Hand, UpAxis},
    inspector::DrawSkeleton,
    prelude::*,
    record::{RecordingError, RecordingFile},
    recorder::{RecorderPlugin, Recording},
};
use clap::Parser;
use stage::{
    Caption, Capture, Chosen, Covered, Exhibit, Framing, GalleryPlugin, Ground, OnShow, Orbit,
    Stage, StageArgs,
};
use std::{
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
};

/// Plays a skinned character.
#[derive(Parser, Resource, Clone)]
struct Args {
    /// A model or manifest, and any files with clips to add to it: .md5anim, or .glb or .fbx with one clip. Or a recording, .rec, with
    /// the assets that it names
    files: Vec<PathBuf>,
    /// Clip to start with, or `bind` for the bind pose
    #[arg(long, value_name = "NAME")]
    clip: Option<String>,
    /// Scale of the model
    #[arg(long, default_value_t = 1.0)]
    scale: f32,
    /// Handedness of the file's coordinates, if detection is wrong
    #[arg(long, value_enum, default_value_t = HandArg::Auto)]
    hand: HandArg,
    /// Up axis of the file, if not the format's usual one
    #[arg(long, value_enum, default_value_t = UpArg::Auto)]
    up: UpArg,
    /// Camera angle around the character in degrees
    #[arg(long, allow_negative_numbers = true)]
    yaw: Option<f32>,
    /// Drop a file during a headless run, such as run.md5anim@0.5; can be repeated
    #[arg(long, value_name = "FILE@SECONDS")]
    drop: Vec<Dropped>,
    /// Open the inspector, as F1 does
    #[cfg(feature = "inspector")]
    #[arg(long, value_name = "TAB", num_args = 0..=1, default_missing_value = "joints", value_parser = tab)]
    inspector: Option<bevy_marionette::inspector::InspectorTab>,
    #[command(flatten)]
    stage: StageArgs,
}

/// A file dropped at a time of the headless clock.
#[derive(Clone)]
struct Dropped {
    file: PathBuf,
    at: f32,
}

impl FromStr for Dropped {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (file, at) = text
            .rsplit_once('@')
            .ok_or("expected a file and a time, such as run.md5anim@0.5")?;
        Ok(Self {
            file: file.into(),
            at: at.parse().map_err(|error| format!("`{at}`: {error}"))?,
        })
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

/// Shown if no file is given.
const DEFAULT: &str = "scout/scout.character.ron";

const HELP: &str = "drag, arrows: orbit   wheel: zoom   N, P: next, previous clip   space: pause   B: bind pose\n\
                    minus, plus: speed   R: reverse   digits, G: gallery   F1: inspector   F2: keys   drop files to open them";

pub fn main() {
    let args: Args = stage::arguments();
    let mut app = stage::app("viewer", &args.stage, HELP);
    #[cfg(feature = "inspector")]
    {
        use bevy_marionette::inspector::{Inspector, MarionetteInspectorPlugin};
        app.add_plugins(MarionetteInspectorPlugin)
            .insert_resource(Inspector {
                open: args.inspector.is_some(),
                tab: args.inspector.unwrap_or_default(),
                ..default()
            });
        app.add_systems(Update, leave_room_for_the_panel);
    }
    app.insert_resource(args)
        .init_resource::<Shown>()
        .add_plugins((GalleryPlugin, RecorderPlugin))
        .add_systems(Startup, (open_first, open_recording))
        .add_systems(Update, drop_files.before(open_dropped))
        .add_systems(
            Update,
            (
                open_dropped,
                open_chosen,
                load,
                watch_loading,
                keys.run_if(stage::has_keys),
                caption,
            )
                .chain(),
        )
        .add_observer(show)
        .run();
}

/// Keeps the character clear of the inspector's panel on the right.
#[cfg(feature = "inspector")]
fn leave_room_for_the_panel(
    mut contexts: bevy_egui::EguiContexts,
    inspector: Res<bevy_marionette::inspector::Inspector>,
    mut covered: ResMut<Covered>,
) {
    let panel = contexts
        .ctx_mut()
        .ok()
        .filter(|_| inspector.open)
        .and_then(|context| {
            bevy_egui::egui::containers::panel::PanelState::load(
                context,
                "marionette_inspector_panel".into(),
            )
        });
    let now = Covered {
        right: panel.map_or(0.0, |panel| panel.outer_rect.width()),
        ..*covered
    };
    covered.set_if_neq(now);
}

#[cfg(feature = "inspector")]
fn tab(text: &str) -> Result<bevy_marionette::inspector::InspectorTab, String> {
    let tabs = bevy_marionette::inspector::InspectorTab::ALL;
    let titles = tabs.map(|tab| tab.title().to_lowercase()).join(", ");
    tabs.into_iter()
        .find(|tab| tab.title().eq_ignore_ascii_case(text))
        .ok_or(format!("expected one of {titles}"))
}

/// The character being shown.
#[derive(Resource, Default)]
struct Shown {
    /// The model or manifest, or `None` for one from the gallery.
    model: Option<PathBuf>,
    /// The one from the gallery.
    exhibit: Option<Exhibit>,
    /// The recording that is shown instead.
    recording: Option<PathBuf>,
    /// What its characters take up.
    points: Vec<Vec3>,
    /// Clip files to add to it.
    clips: Vec<PathBuf>,
    /// Whether it has yet to be loaded.
    is_due: bool,
    /// The character's entity.
    entity: Option<Entity>,
    /// Shown instead of the clip's name.
    error: Option<String>,
    /// Index of the current clip, or `None` for the bind pose.
    clip: Option<usize>,
    /// Whether the command line's `--clip` has been used, which applies to the first character.
    clip_used: bool,
    /// The clip played last. A newly opened character plays it too, if it has a clip of that name.
    last_clip: Option<Arc<str>>,
}

fn open_first(
    mut commands: Commands,
    args: Res<Args>,
    mut shown: ResMut<Shown>,
    mut on_show: ResMut<OnShow>,
    mut recording: ResMut<Recording>,
) {
    if args.files.first().is_some_and(|file| is_recording(file)) {
        return;
    }
    let (mut clips, mut models): (Vec<_>, Vec<_>) =
        args.files.iter().cloned().partition(|file| is_clip(file));
    // glTF and FBX files after the model have clips for it.
    let others = models.split_off(models.len().min(1));
    if others
        .iter()
        .any(|file| !kind(file).is_some_and(FileKind::is_scene))
    {
        stage::fail(format!("expected one model, found {}", 1 + others.len()));
    }
    clips.extend(others);
    if models.is_empty() && !clips.is_empty() {
        stage::fail("an .md5anim is only a clip: also name the .md5mesh it belongs to");
    }
    if let Some(missing) = args.files.iter().find(|file| !file.is_file()) {
        stage::fail(format!("{}: there is no such file", missing.display()));
    }
    shown.model = models.into_iter().next();
    shown.clips = clips;
    if shown.model.is_none() {
        shown.exhibit = stage::gallery()
            .into_iter()
            .find(|exhibit| exhibit.asset == DEFAULT);
    }
    open(&mut commands, &mut shown, &mut on_show, &mut recording);
}

/// Shows a recording, if one was given.
fn open_recording(args: Res<Args>, mut shown: ResMut<Shown>, mut recording: ResMut<Recording>) {
    let Some(path) = args.files.first().filter(|file| is_recording(file)) else {
        return;
    };
    if let Err(error) = read_recording(path, &mut shown, &mut recording) {
        stage::fail(error);
    }
}

/// Shows a recording in place of what is shown.
fn read_recording(path: &Path, shown: &mut Shown, recording: &mut Recording) -> Result<(), String> {
    let file = std::fs::File::open(path)
        .map_err(RecordingError::from)
        .and_then(RecordingFile::read);
    recording.open(file.map_err(|error| format!("{}: {error}", path.display()))?);
    *shown = Shown {
        recording: Some(path.into()),
        clip_used: true,
        ..default()
    };
    Ok(())
}

fn is_recording(file: &Path) -> bool {
    file.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("rec"))
}

/// Returns the file's name, or the title in the gallery.
fn title(shown: &Shown) -> String {
    let name = shown
        .recording
        .as_ref()
        .or(shown.model.as_ref())
        .and_then(|file| file.file_name());
    let exhibit = || {
        shown
            .exhibit
            .as_ref()
            .map_or_else(|| DEFAULT.into(), |exhibit| exhibit.title.clone())
    };
    name.map_or_else(exhibit, |name| name.to_string_lossy().into_owned())
}

fn is_clip(file: &Path) -> bool {
    kind(file) == Some(FileKind::Md5Anim)
}

fn kind(file: &Path) -> Option<FileKind> {
    FileKind::of_name(&file.to_string_lossy())
}

/// Removes the current character; [`load`] spawns the new one.
fn open(
    commands: &mut Commands,
    shown: &mut Shown,
    on_show: &mut OnShow,
    recording: &mut Recording,
) {
    if let Some(old) = shown.entity.take() {
        commands.entity(old).despawn();
    }
    // What was recorded keeps the assets of characters that are gone, and `load` waits until they are dropped.
    recording.clear();
    recording.enabled = true;
    shown.recording = None;
    on_show.0 = shown.exhibit.clone().filter(|_| shown.model.is_none());
    shown.error = None;
    shown.clip = None;
    shown.is_due = true;
}

fn load(
    mut commands: Commands,
    args: Res<Args>,
    mut shown: ResMut<Shown>,
    assets: Res<AssetServer>,
) {
    // While the asset server still knows the file, loading it returns the old asset, without newly added clips.
    let is_loaded = |model: &PathBuf| assets.get_path_id(asset_path(model)).is_some();
    if !shown.is_due || shown.model.as_ref().is_some_and(is_loaded) {
        return;
    }
    shown.is_due = false;
    let clips: Vec<String> = shown
        .clips
        .iter()
        .map(|clip| asset_path(clip).path().to_string_lossy().into_owned())
        .collect();
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
        Some(model) => assets
            .load_builder()
            .with_settings(settings)
            .load(asset_path(model)),
        None => assets.load(
            shown
                .exhibit
                .as_ref()
                .map_or(DEFAULT, |exhibit| &exhibit.asset)
                .to_owned(),
        ),
    };
    shown.entity = Some(
        commands
            .spawn((Name::new(title(&shown)), SkinnedCharacter(handle)))
            .id(),
    );
}

/// Returns the asset path of a file. Files dropped on a web page are in an asset source of their own.
fn asset_path(file: &Path) -> AssetPath<'static> {
    match file.to_str().filter(|file| file.contains("://")) {
        Some(file) => AssetPath::parse(file).into_owned(),
        None => std::path::absolute(file)
            .unwrap_or_else(|_| file.to_path_buf())
            .into(),
    }
}

/// Sends the drop events of `--drop` in a headless run.
fn drop_files(
    args: Res<Args>,
    capture: Option<Res<Capture>>,
    mut dropped: MessageWriter<FileDragAndDrop>,
    mut last: Local<f32>,
) {
    let Some(now) = capture.map(|capture| capture.clock) else {
        return;
    };
    for Dropped { file, .. } in args
        .drop
        .iter()
        .filter(|file| (file.at > *last) && file.at <= now)
    {
        dropped.write(FileDragAndDrop::DroppedFile {
            window: Entity::PLACEHOLDER,
            path_buf: file.clone(),
        });
    }
    *last = now;
}

fn open_dropped(
    mut commands: Commands,
    mut dropped: MessageReader<FileDragAndDrop>,
    mut shown: ResMut<Shown>,
    mut on_show: ResMut<OnShow>,
    mut recording: ResMut<Recording>,
    capture: Option<Res<Capture>>,
) {
    let files = dropped.read().filter_map(|message| match message {
        FileDragAndDrop::DroppedFile { path_buf, .. } => Some(path_buf.clone()),
        _ => None,
    });
    let (recordings, files): (Vec<_>, Vec<_>) = files.partition(|file| is_recording(file));
    if let Some(path) = recordings.last() {
        let old = shown.entity;
        match read_recording(path, &mut shown, &mut recording) {
            Ok(()) => {
                on_show.0 = None;
                old.into_iter()
                    .for_each(|old| commands.entity(old).despawn());
            }
            Err(error) if capture.is_some() => stage::fail(error),
            Err(error) => {
                eprintln!("{error}");
                shown.error = Some(error);
            }
        }
        return;
    }
    let (clips, others): (Vec<_>, Vec<_>) = files.into_iter().partition(|file| is_clip(file));
    // Textures come along with their model, and a model and its clips with the manifest that names them.
    let rank = |file: &PathBuf| match kind(file) {
        Some(FileKind::Manifest) => 2,
        Some(_) => 1,
        None => 0,
    };
    if let Some(model) = others.into_iter().max_by_key(rank) {
        shown.clips = if rank(&model) == 2 { vec![] } else { clips };
        shown.model = Some(model);
    } else if !clips.is_empty() {
        shown.clips.extend(clips);
    } else {
        return;
    }
    open(&mut commands, &mut shown, &mut on_show, &mut recording);
}

fn open_chosen(
    mut commands: Commands,
    mut chosen: MessageReader<Chosen>,
    mut shown: ResMut<Shown>,
    mut on_show: ResMut<OnShow>,
    mut recording: ResMut<Recording>,
) {
    let Some(Chosen(exhibit)) = chosen.read().last() else {
        return;
    };
    (shown.model, shown.clips, shown.exhibit) = (None, vec![], Some(exhibit.clone()));
    open(&mut commands, &mut shown, &mut on_show, &mut recording);
}

/// Makes a headless run wait for the model, and reports loading errors.
fn watch_loading(
    mut shown: ResMut<Shown>,
    characters: Query<&SkinnedCharacter>,
    server: Res<AssetServer>,
    recording: Res<Recording>,
    mut capture: Option<ResMut<Capture>>,
) {
    if let Some(capture) = &mut capture
        && shown.is_due
    {
        capture.waiting = true;
    }
    if let Some(capture) = &mut capture
        && shown.recording.is_some()
    {
        let is_loaded =
            |of: &SkinnedCharacter| server.recursive_dependency_load_state(of.id()).is_loaded();
        capture.waiting = recording.is_loading() || !characters.iter().all(is_loaded);
        return;
    }
    let Some(handle) = shown.entity.and_then(|entity| characters.get(entity).ok()) else {
        return;
    };
    if let LoadState::Failed(error) = server.load_state(handle.id()) {
        let text = error.to_string();
        if capture.is_some() {
            stage::fail(text);
        }
        if shown.error.as_ref() != Some(&text) {
            eprintln!("{text}");
            shown.error = Some(text);
        }
    }
    if let Some(mut capture) = capture {
        // Wait for textures too: a material isn't drawn without them.
        capture.waiting = !server
            .recursive_dependency_load_state(handle.id())
            .is_loaded()
            && !server
                .recursive_dependency_load_state(handle.id())
                .is_failed();
    }
}

/// Plays a clip of the loaded character and points the camera at it.
fn show(
    ready: On<CharacterReady>,
    args: Res<Args>,
    mut shown: ResMut<Shown>,
    assets: Res<Assets<Character>>,
    meshes: Res<Assets<Mesh>>,
    mut characters: Query<(&SkinnedCharacter, &mut AnimationController, &Transform)>,
    mut commands: Commands,
    camera: Single<(Entity, &mut Orbit)>,
    mut ground: Single<&mut Transform, (With<Ground>, Without<SkinnedCharacter>)>,
) {
    let Ok((handle, mut controller, place)) = characters.get_mut(ready.entity) else {
        return;
    };
    let Some(character) = assets.get(handle.id()) else {
        return;
    };
    let names: Vec<_> = character.clip_names().cloned().collect();
    let last = shown
        .last_clip
        .take()
        .and_then(|last| names.iter().position(|name| *name == last));
    shown.clip = match args.clip.as_deref().filter(|_| !shown.clip_used) {
        _ if last.is_some() => last,
        Some("bind") => None,
        Some(wanted) => {
            let found = names.iter().position(|name| &**name == wanted);
            if found.is_none() {
                let list = if names.is_empty() {
                    "none".into()
                } else {
                    names.join(", ")
                };
                stage::fail(format!("no clip named `{wanted}` (available: {list})"));
            }
            found
        }
        None if names.is_empty() => None,
        // A walk shows a character best.
        None => names.iter().position(|name| &**name == "walk").or(Some(0)),
    };
    shown.clip_used = true;
    if shown.recording.is_some() {
        // What it plays is recorded.
        shown.clip = None;
    }
    if let Some(clip) = shown.clip {
        controller.play(names[clip].clone());
        shown.last_clip = Some(names[clip].clone());
    }
    // Files with animations alone, such as Mixamo's without skin.
    #[cfg(feature = "inspector")]
    if character.parts.is_empty() {
        commands
            .entity(ready.entity)
            .insert(DrawSkeleton::default());
    }
    let (camera, mut orbit) = camera.into_inner();
    if let Some(yaw) = args.yaw {
        orbit.yaw = yaw.to_radians();
    }
    let clip = shown.clip.and_then(|clip| character.clips.get(clip));
    let points = stage::outline(character, clip.map(|clip| &**clip), &meshes);
    let mut points: Vec<Vec3> = points.into_iter().map(|point| *place * point).collect();
    if shown.recording.is_some() {
        // All of its characters.
        shown.points.append(&mut points);
        points.clone_from(&shown.points);
    }
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
    let Some((handle, mut controller)) = shown
        .entity
        .and_then(|entity| characters.get_mut(entity).ok())
    else {
        return;
    };
    let Some(character) = assets.get(handle.id()) else {
        return;
    };
    let count = character.clips.len();
    let step = |from: Option<usize>, by: usize| {
        if count == 0 {
            None
        } else {
            Some((from.unwrap_or(count - by) + by) % count)
        }
    };
    if keys.just_pressed(KeyCode::KeyN) || keys.just_pressed(KeyCode::KeyP) {
        shown.clip = step(
            shown.clip,
            if keys.just_pressed(KeyCode::KeyN) {
                1
            } else {
                count.saturating_sub(1).max(1)
            },
        );
        if let Some(clip) = shown.clip {
            let name = character.clips[clip].timing.name.clone();
            shown.last_clip = Some(name.clone());
            controller.cross_fade(name, std::time::Duration::from_millis(250));
        }
    }
    if keys.just_pressed(KeyCode::Space) {
        let paused = controller.paused;
        controller.paused = !paused;
    }
    if keys.just_pressed(KeyCode::KeyB) {
        shown.clip = None;
        controller.fade_out(std::time::Duration::ZERO);
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
    recording: Res<Recording>,
    progress: Res<LoadProgress>,
    mut caption: ResMut<Caption>,
) {
    let name = title(&shown);
    if shown.recording.is_some() && shown.error.is_none() {
        let time = |frame: u64| recording.time_of(frame).unwrap_or_default();
        let (range, at) = (recording.frames(), recording.shown().unwrap_or_default());
        let (first, last) = (time(range.start), time(range.end.saturating_sub(1)));
        return caption.set(format!(
            "{name}\n{:.2} of {:.2} s   F1: Rewind tab",
            time(at) - first,
            last - first
        ));
    }
    let playing = shown
        .entity
        .and_then(|entity| characters.get(entity).ok())
        .and_then(|(handle, controller)| {
            let character = assets.get(handle.id())?;
            let count = character.clips.len();
            Some(
                match shown
                    .clip
                    .and_then(|clip| Some((clip, character.clips.get(clip)?)))
                {
                    Some((index, clip)) => {
                        let at = controller
                            .current_track()
                            .map(|track| track.position())
                            .unwrap_or_default();
                        let at = clip.timing.periodic(at);
                        let paused = if controller.paused && !stage.headless {
                            "  (paused)"
                        } else {
                            ""
                        };
                        format!(
                            "{}  ({} of {count})   {at:.2} / {:.2} s   x{:.2}{paused}",
                            clip.timing.name,
                            index + 1,
                            clip.timing.duration,
                            controller.speed()
                        )
                    }
                    None if count == 0 => "bind pose  (no clips)".into(),
                    None => format!("bind pose  ({count} clips)"),
                },
            )
        });
    let loading = || match progress.files() {
        0 => "loading...".to_owned(),
        files => format!("loading... {} of {files} files", progress.read()),
    };
    let line = shown.error.clone().or(playing).unwrap_or_else(loading);
    caption.set(format!("{name}\n{line}"));
}
