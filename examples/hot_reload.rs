//! Editing a manifest while the character plays.
//!
//! The files are copied to a temporary folder that is registered as an asset source. When one of them changes it is
//! reloaded, and the character keeps playing from where it was. If the new manifest has an error, the error is reported
//! and the last good version stays.
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
use bevy_marionette::{asset::Character, import::Manifest, prelude::*};
use stage::{Caption, Capture, Orbit, Stage, StageArgs, View};
use std::{fs, io, path::Path, path::PathBuf};

const HELP: &str = "E: edit the manifest   B: break it   or edit and save it yourself\n\
                    drag, arrows: orbit   wheel: zoom";

const MANIFEST: &str = "scout.character.ron";

fn main() {
    let args = stage::arguments::<StageArgs>().with_headless_defaults(1.1, "E@0.5");
    let workshop = workshop()
        .unwrap_or_else(|error| stage::fail(format!("cannot copy Scout's files: {error}")));
    let folder = workshop.path().to_path_buf();
    let manifest = folder.join(MANIFEST);
    let text =
        fs::read(&manifest).unwrap_or_else(|error| stage::fail(format!("{MANIFEST}: {error}")));
    let original = Manifest::parse(MANIFEST, &text).unwrap_or_else(|error| stage::fail(error));
    let source = folder.to_string_lossy().into_owned();
    stage::app_with("hot_reload", &args, HELP, |app| {
        app.register_asset_source(
            "workshop",
            AssetSourceBuilder::platform_default(&source, None),
        );
    })
    .insert_resource(View(Orbit {
        target: Vec3::new(-0.55, 0.95, 0.0),
        distance: 4.4,
        yaw: 0.5,
        pitch: 0.1,
    }))
    .insert_resource(Workshop {
        manifest,
        original,
        edited: false,
        loaded: 0,
        error: None,
    })
    .add_systems(Startup, spawn)
    .add_systems(Update, (keys, listen, caption).chain())
    .add_observer(loaded)
    .run();
}

/// Copies Scout's files to a folder that is deleted when the program ends.
fn workshop() -> io::Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    let from = FileAssetReader::get_base_path().join("assets/scout");
    for file in fs::read_dir(&from)
        .map_err(|error| io::Error::other(format!("{}: {error}", from.display())))?
    {
        let file = file?;
        fs::copy(file.path(), folder.path().join(file.file_name()))?;
    }
    Ok(folder)
}

#[derive(Resource)]
struct Workshop {
    manifest: PathBuf,
    /// The manifest before any edits.
    original: Manifest,
    edited: bool,
    loaded: usize,
    error: Option<String>,
}

/// The character whose manifest is edited.
#[derive(Component)]
struct Edited;

fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
    let edited = SkinnedCharacter(assets.load(format!("workshop://{MANIFEST}")));
    commands.spawn((Edited, edited, AnimationController::playing("walk")));
    // Next to it, the unedited one for comparison.
    let twin = SkinnedCharacter(assets.load(format!("scout/{MANIFEST}")));
    commands.spawn((
        twin,
        AnimationController::playing("walk"),
        Transform::from_xyz(-1.1, 0.0, 0.0),
    ));
}

fn keys(
    keys: Res<ButtonInput<KeyCode>>,
    mut workshop: ResMut<Workshop>,
    capture: Option<ResMut<Capture>>,
) {
    let result = if keys.just_pressed(KeyCode::KeyE) {
        edit(&mut workshop)
    } else if keys.just_pressed(KeyCode::KeyB) {
        misspell(&workshop)
    } else {
        return;
    };
    if let Err(error) = result {
        workshop.error = Some(error.to_string());
    } else if let Some(mut capture) = capture {
        // Headless, stop the clock until the file watcher notices.
        capture.waiting = true;
    }
}

/// Makes Scout child-sized and swaps walk and jog, or undoes that.
fn edit(workshop: &mut Workshop) -> io::Result<()> {
    workshop.edited = !workshop.edited;
    let mut manifest = workshop.original.clone();
    if workshop.edited {
        manifest.scale = 0.65;
        let [walk, jog] =
            ["walk", "jog"].map(|name| manifest.clips.remove(name).unwrap_or_default());
        manifest
            .clips
            .extend([("walk".into(), jog), ("jog".into(), walk)]);
    }
    fs::write(
        &workshop.manifest,
        manifest.to_ron().map_err(io::Error::other)?,
    )
}

/// Misspells a field.
fn misspell(workshop: &Workshop) -> io::Result<()> {
    fs::write(
        &workshop.manifest,
        "(\n    model: \"scout.md5mesh\",\n    scael: 2.0,\n)\n",
    )
}

/// Runs on the first load and every reload.
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
    workshop.error = None;
    if let Some(mut capture) = capture {
        capture.waiting = false;
    }
}

fn listen(
    mut failed: MessageReader<AssetLoadFailedEvent<Character>>,
    mut workshop: ResMut<Workshop>,
    mut capture: Option<ResMut<Capture>>,
) {
    for failure in failed.read() {
        // The message, the line and the marker below it. Bevy appends a backtrace.
        let lines: Vec<_> = failure
            .error
            .to_string()
            .lines()
            .take(3)
            .map(str::to_owned)
            .collect();
        workshop.error = Some(lines.join("\n"));
        if let Some(capture) = &mut capture {
            capture.waiting = false;
        }
    }
}

fn caption(
    stage: Res<Stage>,
    workshop: Res<Workshop>,
    assets: Res<Assets<Character>>,
    edited: Single<(&SkinnedCharacter, &AnimationController), With<Edited>>,
    mut caption: ResMut<Caption>,
) {
    let (handle, controller) = *edited;
    let state = match (&workshop.error, workshop.loaded) {
        (Some(error), _) => format!("RELOAD FAILED, keeping the last good version:\n{error}"),
        (None, 0) => "loading...".into(),
        (None, 1) => "loaded".into(),
        (None, n) => format!("RELOADED {}x", n - 1),
    };
    let height = assets
        .get(handle.id())
        .and_then(|character| character.rest_bounds())
        .map_or(0.0, |b| b.max().y);
    let at = controller
        .current_track()
        .map(|track| track.position())
        .unwrap_or_default();
    let file = workshop.manifest.file_name().unwrap_or_default().display();
    let folder = workshop
        .manifest
        .parent()
        .unwrap_or(Path::new(""))
        .display();
    // A temporary path would make every headless picture different.
    let place = if stage.headless {
        String::new()
    } else {
        format!(" in {folder}")
    };
    caption.set(format!(
        "{file}{place}\n{state}\n\nheight {height:.2} m   walk at {at:.2} s"
    ));
}
