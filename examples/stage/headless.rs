//! Pictures without a window.

use super::{Caption, STEP, Stage};
use bevy::{
    asset::LoadState,
    input::InputSystems,
    prelude::*,
    render::view::screenshot::{Screenshot, ScreenshotCaptured},
    time::TimeUpdateStrategy,
};
use bevy_marionette::{character::CharacterParts, prelude::*};
use std::{str::FromStr, time::Duration};

/// How far a headless run has come. An example may hold it back while its assets load.
#[derive(Resource, Debug, Default)]
pub struct Capture {
    /// Whether the scene is still incomplete: the clock of the picture does not run yet.
    pub waiting: bool,
    /// Seconds since the scene was complete.
    pub clock: f32,
    frames_after: u32,
    asked: bool,
}

/// A key pressed at a moment of the picture's clock.
#[derive(Clone, Copy, Debug)]
pub struct Press {
    key: KeyCode,
    at: f32,
}

impl FromStr for Press {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}`: expected a key and a moment, such as N@0.5, 1@2 or ArrowLeft@0.25");
        let (key, at) = text.split_once('@').ok_or_else(wrong)?;
        let key = match key.as_bytes() {
            [letter] if letter.is_ascii_alphabetic() => format!("Key{}", key.to_ascii_uppercase()),
            [digit] if digit.is_ascii_digit() => format!("Digit{key}"),
            _ => key.to_owned(),
        };
        Ok(Self { key: ron::from_str(&key).map_err(|_| wrong())?, at: at.parse().map_err(|_| wrong())? })
    }
}

/// Presses each key for one frame.
fn press_keys(
    capture: Res<Capture>,
    stage: Res<Stage>,
    mut keys: ResMut<ButtonInput<KeyCode>>,
    mut last: Local<Option<f32>>,
) {
    keys.release_all();
    if capture.clock > 0.0 {
        let due = |press: &&Press| press.at <= capture.clock && last.is_none_or(|last| press.at > last);
        stage.press.iter().filter(due).for_each(|press| keys.press(press.key));
        *last = Some(capture.clock);
    }
}

pub(super) struct HeadlessPlugin;

impl Plugin for HeadlessPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Capture>()
            .add_systems(Startup, |mut time: ResMut<Time<Virtual>>| time.pause())
            .add_systems(PreUpdate, press_keys.after(InputSystems))
            .add_systems(Last, take_picture);
    }
}

/// Frames rendered once the clock has stopped: meshes and textures upload meanwhile.
const SETTLE: u32 = 6;

/// Holds the clock until the scene is complete, lets it run to the asked-for time to the microsecond,
/// and then takes the picture. Nothing is drawn before that: software rendering is slow.
fn take_picture(
    mut commands: Commands,
    mut capture: ResMut<Capture>,
    mut time: ResMut<Time<Virtual>>,
    mut step: ResMut<TimeUpdateStrategy>,
    stage: Res<Stage>,
    caption: Res<Caption>,
    server: Res<AssetServer>,
    characters: Query<(&SkinnedCharacter, &CharacterParts)>,
    mut cameras: Query<&mut Camera>,
) {
    // A character whose parts are not there yet is as good as a missing one; so is one that waits for textures.
    let is_there = |(handle, parts): (&SkinnedCharacter, &CharacterParts)| {
        if let (LoadState::Failed(error), true) = (server.load_state(handle.id()), parts.entities.is_empty()) {
            fail(error);
        }
        !parts.entities.is_empty() && !server.recursive_dependency_load_state(handle.id()).is_loading()
    };
    let complete = !capture.waiting && characters.iter().all(is_there);
    let left = stage.time - capture.clock;
    if complete && left > 1e-6 {
        let next = left.min(STEP);
        capture.clock += next;
        *step = TimeUpdateStrategy::ManualDuration(Duration::from_secs_f32(next));
        time.unpause();
    } else {
        time.pause();
    }
    let draw = complete && left <= 1e-6;
    cameras.iter_mut().filter(|camera| camera.is_active != draw).for_each(|mut camera| camera.is_active = draw);
    if !draw {
        return;
    }
    capture.frames_after += 1;
    if capture.frames_after < SETTLE || capture.asked {
        return;
    }
    capture.asked = true;
    // For whoever cannot see the picture, and for tests.
    caption.lines().for_each(|line| println!("| {line}"));
    let (Some(target), Some(file)) = (stage.target.clone(), stage.picture.clone()) else { return };
    commands.spawn(Screenshot::image(target)).observe(
        move |captured: On<ScreenshotCaptured>, mut exit: MessageWriter<AppExit>| match save(&captured.image, &file) {
            Ok(()) => {
                println!("picture: {}", file.display());
                exit.write(AppExit::Success);
            }
            Err(reason) => {
                eprintln!("cannot write {}: {reason}", file.display());
                exit.write(AppExit::error());
            }
        },
    );
}

fn save(image: &Image, file: &std::path::Path) -> Result<(), String> {
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|e| e.to_string())?;
    }
    let picture = image.clone().try_into_dynamic().map_err(|e| e.to_string())?;
    // Whatever alpha the scene left, a picture on a page is opaque.
    picture.to_rgb8().save(file).map_err(|e| e.to_string())
}

/// Ends the program with one sentence on standard error.
pub fn fail(reason: impl std::fmt::Display) -> ! {
    eprintln!("{reason}");
    std::process::exit(1)
}

/// Replaces Bevy's panic over a missing graphics adapter by a sentence that says what to install.
pub(super) fn explain_missing_gpu() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let message = panic.payload_as_str().unwrap_or_default();
        if message.contains("Unable to find a GPU") {
            fail(
                "No graphics adapter was found: install your GPU's Vulkan driver, \
                 or a software one (`sh .ci/setup`, or mesa-vulkan-drivers on Debian and Ubuntu).",
            );
        }
        usual(panic);
    }));
}
