//! A manifest edited while the character plays.
//!
//! Retells what every one of the old programs had to be closed and built again for. The files are copied to
//! a folder of their own, an asset source of Bevy's; whatever changes there is loaded anew, and a character
//! goes on from where it was. A manifest that is wrong is reported, and the last good one stays.
//!
//! ```text
//! cargo run --example hot_reload
//! ```

mod stage;

use bevy::{
    asset::{
        AssetLoadFailedEvent,
        io::{AssetSourceBuilder, file::FileAssetReader},
    },
    prelude::*,
};
use bevy_marionette::{import::Manifest, prelude::*};
use clap::Parser;
use stage::{Caption, Capture, Orbit, StageArgs, View};
use std::{fs, io, path::Path, path::PathBuf};

const HELP: &str = "E: edit the manifest   B: break it   or open it in your editor and save it\n\
                    drag, arrows: orbit   wheel: zoom";

const MANIFEST: &str = "scout.character.ron";

fn main() {
    let args = StageArgs::parse().showing(1.1, "E@0.5");
    let workshop = workshop().unwrap_or_else(|error| stage::fail(format!("cannot copy Scout's files: {error}")));
    let folder = workshop.path().to_path_buf();
    let source = folder.to_string_lossy().into_owned();
    stage::app_with("hot_reload", &args, HELP, |app| {
        app.register_asset_source("workshop", AssetSourceBuilder::platform_default(&source, None));
    })
    .insert_resource(View(Orbit { target: Vec3::new(-0.55, 0.95, 0.0), distance: 4.4, yaw: 0.5, pitch: 0.1 }))
    .insert_resource(Workshop { manifest: folder.join(MANIFEST), loaded: 0, trouble: None })
    .add_systems(Startup, spawn)
    .add_systems(Update, (keys, listen, caption).chain())
    .add_observer(loaded)
    .run();
}

/// Scout's files in a folder that goes when the program ends.
fn workshop() -> io::Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    let from = FileAssetReader::get_base_path().join("assets/scout");
    for file in fs::read_dir(&from).map_err(|error| io::Error::other(format!("{}: {error}", from.display())))? {
        let file = file?;
        fs::copy(file.path(), folder.path().join(file.file_name()))?;
    }
    Ok(folder)
}

#[derive(Resource)]
struct Workshop {
    manifest: PathBuf,
    loaded: usize,
    trouble: Option<String>,
}

/// The character whose manifest is edited.
#[derive(Component)]
struct Edited;

fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
    let edited = SkinnedCharacter(assets.load(format!("workshop://{MANIFEST}")));
    commands.spawn((Edited, edited, AnimationController::playing("walk")));
    // Beside it, for comparison, the one from the assets.
    let twin = SkinnedCharacter(assets.load(format!("scout/{MANIFEST}")));
    commands.spawn((twin, AnimationController::playing("walk"), Transform::from_xyz(-1.1, 0.0, 0.0)));
}

fn keys(keys: Res<ButtonInput<KeyCode>>, mut workshop: ResMut<Workshop>, capture: Option<ResMut<Capture>>) {
    let result = match () {
        _ if keys.just_pressed(KeyCode::KeyE) => edit(&workshop.manifest),
        _ if keys.just_pressed(KeyCode::KeyB) => {
            fs::write(&workshop.manifest, "(\n    model: \"scout.md5mesh\",\n    scael: 2.0,\n)\n")
        }
        _ => return,
    };
    if let Err(error) = result {
        workshop.trouble = Some(error.to_string());
    } else if let Some(mut capture) = capture {
        // The clock of a headless picture waits for the file watcher, which takes its time.
        capture.waiting = true;
    }
}

/// What one would do in an editor: a child's size, and another clip behind the name `walk`; then back again.
fn edit(path: &Path) -> io::Result<()> {
    let text = fs::read(path)?;
    let mut manifest = Manifest::parse(MANIFEST, &text).unwrap_or_else(|_| Manifest::of_model("scout.md5mesh"));
    let (scale, file) = if manifest.scale == 1.0 { (0.65, "jog.md5anim") } else { (1.0, "walk.md5anim") };
    manifest.scale = scale;
    manifest.clips.entry("walk".into()).or_default().file = Some(file.into());
    fs::write(path, manifest.to_ron().map_err(io::Error::other)?)
}

/// The first time it is loaded, and every time after that.
fn loaded(
    ready: On<CharacterReady>,
    edited: Query<(), With<Edited>>,
    mut workshop: ResMut<Workshop>,
    capture: Option<ResMut<Capture>>,
) {
    if !edited.contains(ready.entity) {
        return;
    }
    workshop.loaded += 1;
    workshop.trouble = None;
    capture.into_iter().for_each(|mut capture| capture.waiting = false);
}

fn listen(
    mut failed: MessageReader<AssetLoadFailedEvent<Character>>,
    mut workshop: ResMut<Workshop>,
    mut capture: Option<ResMut<Capture>>,
) {
    for failure in failed.read() {
        workshop.trouble = Some(failure.error.to_string());
        capture.iter_mut().for_each(|capture| capture.waiting = false);
    }
}

fn caption(
    workshop: Res<Workshop>,
    assets: Res<Assets<Character>>,
    edited: Single<(&SkinnedCharacter, &AnimationController), With<Edited>>,
    mut caption: ResMut<Caption>,
) {
    let (handle, controller) = *edited;
    let state = match (&workshop.trouble, workshop.loaded) {
        (Some(trouble), _) => format!("NOT LOADED, the last good one stays:\n{trouble}"),
        (None, 0) => "loading".into(),
        (None, 1) => "loaded".into(),
        (None, n) => format!("RELOADED {}x", n - 1),
    };
    let height = assets.get(handle.id()).and_then(|character| character.rest_bounds()).map_or(0.0, |b| b.max().y);
    let at = controller.current_position().unwrap_or_default();
    let file = workshop.manifest.file_name().unwrap_or_default().display();
    let place = workshop.manifest.parent().unwrap_or(Path::new("")).display();
    let folder =
        if std::env::args().any(|arg| arg.starts_with("--headless")) { String::new() } else { format!(" in {place}") };
    caption.say(format!("{file}{folder}\n{state}\n\nheight {height:.2} m   walk at {at:.2} s"));
}
