//! Renders pictures and films without a window.

use super::{Caption, Orbit, STEP, Stage, fail, film, print};
use bevy::{
    asset::LoadState,
    camera::visibility::{SetViewVisibility, ViewVisibility, VisibilitySystems},
    input::{InputSystems, keyboard::keyboard_input_system},
    mesh::skinning::SkinnedMesh,
    pbr::SkinUniforms,
    prelude::*,
    render::{
        Extract, ExtractSchedule, RenderApp,
        view::screenshot::{Screenshot, ScreenshotCaptured},
    },
    time::TimeUpdateStrategy,
};
use bevy_marionette::{
    asset::Character, character::CharacterParts, prelude::*, recorder::Recording,
};
use glam::Affine3A;
use image::RgbImage;
use std::{path::PathBuf, str::FromStr, time::Duration};

/// Progress of a headless run. Examples can pause it while they load assets.
#[derive(Resource, Default)]
pub struct Capture {
    /// Set this while the scene is incomplete, to stop the clock.
    pub waiting: bool,
    /// Seconds since the scene was complete.
    pub clock: f32,
    /// Index of the next picture.
    pub index: usize,
    settled: u32,
    asked: bool,
    taken: Vec<(PathBuf, RgbImage)>,
}

impl Capture {
    /// Returns the seconds until the next picture.
    fn left(&self, stage: &Stage) -> f32 {
        stage.time + stage.every * self.index as f32 - self.clock
    }
}

/// A key pressed at a time of the headless clock, for a frame or until another time.
#[derive(Clone, Copy, Debug)]
pub struct Press {
    key: KeyCode,
    from: f32,
    to: f32,
}

impl FromStr for Press {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}`: expected a key and a time, such as N@0.5, ArrowLeft@2, or R@3..4.5 to hold it"
            )
        };
        let (key, at) = text.split_once('@').ok_or_else(wrong)?;
        let key = match key.as_bytes() {
            [letter] if letter.is_ascii_alphabetic() => format!("Key{}", key.to_ascii_uppercase()),
            [digit] if digit.is_ascii_digit() => format!("Digit{key}"),
            _ => key.to_owned(),
        };
        let seconds = |text: &str| text.parse().map_err(|_| wrong());
        let (from, to) = at.split_once("..").unwrap_or((at, at));
        Ok(Self {
            key: ron::from_str(&key).map_err(|_| wrong())?,
            from: seconds(from)?,
            to: seconds(to)?,
        })
    }
}

/// Presses each key at its time, and releases it in the next frame or when its time is over.
fn press_keys(
    capture: Res<Capture>,
    stage: Res<Stage>,
    mut keys: ResMut<ButtonInput<KeyCode>>,
    mut last: Local<Option<f32>>,
) {
    let now = capture.clock;
    if now <= 0.0 {
        return;
    }
    let is_due = |press: &Press| press.from <= now && last.is_none_or(|last| press.from > last);
    let is_held = |press: &Press| press.from <= now && now < press.to;
    for press in &stage.press {
        // The same key may be pressed several times.
        let mut of_key = stage.press.iter().filter(|other| other.key == press.key);
        if is_due(press) {
            keys.press(press.key);
        } else if !of_key.any(|other| is_due(other) || is_held(other)) {
            keys.release(press.key);
        }
    }
    *last = Some(now);
}

/// Moves the camera over the frames of a film: turns it evenly, and takes it away gently.
fn move_camera(
    capture: Res<Capture>,
    stage: Res<Stage>,
    mut orbits: Query<&mut Orbit>,
    mut last: Local<Option<(f32, f32)>>,
) {
    let share = capture.index as f32 / stage.pictures.len().max(1) as f32;
    let eased = share * share * (3.0 - 2.0 * share);
    let now = (stage.turn * share, stage.recede.powf(eased));
    let (turned, receded) = last.replace(now).unwrap_or((0.0, 1.0));
    if now != (turned, receded) {
        for mut orbit in &mut orbits {
            orbit.yaw += now.0 - turned;
            orbit.distance *= now.1 / receded;
        }
    }
}

pub(super) struct HeadlessPlugin {
    /// Whether to print joint matrices.
    pub joints: bool,
}

impl Plugin for HeadlessPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Capture>()
            .add_systems(Startup, |mut time: ResMut<Time<Virtual>>| time.pause())
            .add_systems(
                PreUpdate,
                press_keys.in_set(InputSystems).after(keyboard_input_system),
            )
            .add_systems(Update, move_camera)
            .add_systems(
                PostUpdate,
                see_everything
                    .run_if(is_smooth)
                    .in_set(VisibilitySystems::CheckVisibility),
            )
            .add_systems(PreUpdate, wake_camera.run_if(is_smooth))
            .add_systems(Last, take_pictures);
        if self.joints
            && let Some(render) = app.get_sub_app_mut(RenderApp)
        {
            render.add_systems(
                ExtractSchedule,
                print_joints.after(CharacterSystems::ExtractPalettes),
            );
        }
    }
}

/// Run condition: see [`Stage::is_smooth`].
fn is_smooth(stage: Res<Stage>) -> bool {
    stage.is_smooth()
}

/// Draws the step that ends at a picture of a smooth film, rather than once more after it.
fn wake_camera(capture: Res<Capture>, stage: Res<Stage>, mut cameras: Query<&mut Camera>) {
    if capture.index > 0 && !capture.asked && capture.left(&stage) <= 1e-6 {
        cameras
            .iter_mut()
            .for_each(|mut camera| camera.is_active = true);
    }
}

/// Characters that were out of view in the last frame aren't posed in full, and between pictures the camera sees nothing.
fn see_everything(mut meshes: Query<&mut ViewVisibility, With<Mesh3d>>) {
    meshes
        .iter_mut()
        .for_each(|mut visibility| visibility.set_visible());
}

/// Frames rendered before the first picture is taken, while meshes and textures upload.
const SETTLE: u32 = 6;
/// The same for later pictures: the second frame knows what the camera sees from where it is now.
const SETTLE_NEXT: u32 = 2;

/// Stops the clock until the scene is complete, advances it exactly to the time of each picture, and takes the picture.
///
/// Nothing is drawn in between, because software rendering is slow.
fn take_pictures(
    mut commands: Commands,
    mut capture: ResMut<Capture>,
    mut time: ResMut<Time<Virtual>>,
    mut step: ResMut<TimeUpdateStrategy>,
    stage: Res<Stage>,
    caption: Res<Caption>,
    server: Res<AssetServer>,
    assets: Res<Assets<Character>>,
    characters: Query<(&SkinnedCharacter, &CharacterParts)>,
    playing: Query<(Entity, &AnimationController)>,
    joints: CharacterPoses,
    recording: Option<Res<Recording>>,
    mut cameras: Query<&mut Camera>,
) {
    // The scene is complete once every character has its parts, if any, and textures.
    let is_ready = |(handle, parts): (&SkinnedCharacter, &CharacterParts)| {
        if let (LoadState::Failed(error), true) =
            (server.load_state(handle.id()), parts.entities.is_empty())
        {
            fail(error);
        }
        let has_parts = assets
            .get(handle.id())
            .is_some_and(|asset| asset.parts.is_empty() == parts.entities.is_empty());
        has_parts
            && !server
                .recursive_dependency_load_state(handle.id())
                .is_loading()
    };
    let complete = !capture.waiting && characters.iter().all(is_ready);
    let left = capture.left(&stage);
    if complete && left > 1e-6 {
        let next = left.min(STEP);
        capture.clock += next;
        *step = TimeUpdateStrategy::ManualDuration(Duration::from_secs_f32(next));
        // While the past is shown, the present stands still.
        if recording.is_none_or(|recording| recording.shown().is_none()) {
            time.unpause();
        }
    } else {
        *step = TimeUpdateStrategy::ManualDuration(Duration::ZERO);
        time.pause();
    }
    let draw = complete && left <= 1e-6 && !capture.asked;
    for mut camera in cameras.iter_mut().filter(|camera| camera.is_active != draw) {
        camera.is_active = draw;
    }
    let (true, Some(target)) = (draw, stage.target.clone()) else {
        return;
    };
    capture.settled += 1;
    let enough = match capture.index {
        0 => SETTLE,
        // The camera was awake in this frame.
        _ if stage.is_smooth() => 1,
        _ => SETTLE_NEXT,
    };
    if capture.settled < enough {
        return;
    }
    (capture.asked, capture.settled) = (true, 0);
    if capture.index == 0 {
        // Also print the caption, which tests check.
        caption
            .lines()
            .for_each(|line| print(format_args!("| {line}")));
    }
    for (character, controller) in playing.iter().filter(|_| stage.pictures.len() == 1) {
        let pose = joints.pose(character).unwrap_or_default();
        print(format_args!(
            "pose {:016x}  {}",
            hash(&pose),
            controller.current().unwrap_or("-")
        ));
    }
    commands.spawn(Screenshot(target)).observe(store);
}

/// Prints the matrices uploaded for each part of each character, once, in the frame of the first picture.
fn print_joints(
    uniforms: Res<SkinUniforms>,
    capture: Extract<Res<Capture>>,
    characters: Extract<Query<(&CharacterParts, &AnimationController)>>,
    skins: Extract<Query<&SkinnedMesh>>,
    mut printed: Local<bool>,
) {
    if !capture.asked || *printed {
        return;
    }
    *printed = true;
    for (parts, controller) in &characters {
        for (index, &part) in parts.entities.iter().enumerate() {
            let (Some(first), Ok(skin)) = (uniforms.skin_index(part.into()), skins.get(part))
            else {
                continue;
            };
            let range = first as usize..first as usize + skin.joints.len();
            let numbers = uniforms.current_staging_buffer[range]
                .iter()
                .flat_map(Mat4::to_cols_array);
            let numbers: Vec<String> = numbers.map(|number| format!("{number:.5}")).collect();
            print(format_args!(
                "joints {} {index} {}",
                controller.current().unwrap_or("-"),
                numbers.join(" ")
            ));
        }
    }
}

/// Hashes a pose: equal hashes mean bit-identical poses.
fn hash(pose: &[Affine3A]) -> u64 {
    // FNV-1a.
    let numbers = pose.iter().flat_map(|joint| joint.to_cols_array());
    numbers.fold(0xcbf2_9ce4_8422_2325, |hash, x| {
        (hash ^ u64::from(x.to_bits())).wrapping_mul(0x100_0000_01b3)
    })
}

/// Stores a picture; after the last one, writes the files and exits.
fn store(
    captured: On<ScreenshotCaptured>,
    mut capture: ResMut<Capture>,
    stage: Res<Stage>,
    mut exit: MessageWriter<AppExit>,
) {
    let picture = captured.image.clone().try_into_dynamic();
    // Drop the alpha channel, which may not be opaque.
    let picture = picture
        .unwrap_or_else(|error| fail(format!("no picture: {error}")))
        .to_rgb8();
    let file = stage.pictures[capture.index].clone();
    capture.taken.push((file, picture));
    (capture.index, capture.asked) = (capture.index + 1, false);
    if capture.index < stage.pictures.len() {
        return;
    }
    // Draw nothing more while the app exits.
    capture.asked = true;
    match film::write(std::mem::take(&mut capture.taken), stage.every) {
        Ok(files) => {
            files
                .iter()
                .for_each(|file| print(format_args!("picture: {}", file.display())));
            exit.write(AppExit::Success);
        }
        Err(reason) => fail(reason),
    }
}

/// Replaces Bevy's panic about a missing graphics adapter by a message that says what to install.
pub(super) fn explain_missing_gpu() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let message = panic.payload_as_str().unwrap_or_default();
        if message.contains("Unable to find a GPU") {
            fail(
                "no graphics adapter found: install your GPU's Vulkan driver, \
                 or a software one (`sh .ci/setup`, or mesa-vulkan-drivers on Debian and Ubuntu).",
            );
        }
        usual(panic);
    }));
}
