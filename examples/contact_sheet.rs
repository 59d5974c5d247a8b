//! Draws every clip of a character at several times, from the front and the side, on one labeled picture.
//!
//! An overview for animators: weak silhouettes, sliding feet and pinched joints show at a glance. Needs no display. Without
//! arguments, it draws a sheet for each manifest in `assets/`.
//!
//! ```text
//! cargo run --example contact_sheet
//! cargo run --example contact_sheet -- knight.character.ron --clip walk --to target/knight
//! ```

mod stage;

use bevy::{asset::io::file::FileAssetReader, prelude::*};
use bevy_egui::{
    EguiPrimaryContextPass,
    egui::{Align2, pos2},
};
use bevy_marionette::{asset::Character, prelude::*};
use clap::Parser;
use stage::{Caption, Capture, Ground, Orbit, Overlay, OverlaySystems, Stage, StageArgs, View};
use std::path::PathBuf;

/// Draws contact sheets of characters.
#[derive(Parser, Resource, Clone)]
struct Args {
    /// Models or manifests
    files: Vec<PathBuf>,
    /// Draw only this clip; can be repeated
    #[arg(long, value_name = "NAME")]
    clip: Vec<String>,
    /// Number of times per clip
    #[arg(long, value_name = "COUNT", default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=32))]
    times: u8,
    /// Width of a sheet in pixels
    #[arg(long, value_name = "PIXELS", default_value_t = 1600, value_parser = clap::value_parser!(u32).range(160..=8192))]
    width: u32,
    /// Output folder; gets one PNG per character
    #[arg(long, value_name = "FOLDER", default_value = "target/contact_sheets")]
    to: PathBuf,
}

/// Height of a row as a fraction of its width.
const ASPECT: f32 = 0.24;
/// Space for text above and below the figures, as fractions of the tallest figure.
const ABOVE: f32 = 0.22;
const BELOW: f32 = 0.16;
/// A long lens, so that figures at the ends of a row are seen from nearly the same angle as those in the middle.
const FIELD_OF_VIEW: f32 = 0.12;

fn main() {
    let mut args: Args = stage::arguments();
    if args.files.is_empty() {
        let assets = FileAssetReader::get_base_path().join("assets");
        args.files = stage::manifests()
            .into_iter()
            .map(|asset| assets.join(asset))
            .collect();
    }
    if let Some(missing) = args.files.iter().find(|file| !file.is_file()) {
        stage::fail(format!("{}: file not found", missing.display()));
    }
    let row = UVec2::new(args.width, (args.width as f32 * ASPECT) as u32);
    // The pictures are added once the characters are loaded and their clips are known.
    let stage_args = StageArgs::without_window(row).with_headless_defaults(0.0, "");
    stage::app("contact_sheet", &stage_args, "")
        .insert_resource(args)
        .insert_resource(View(Orbit {
            pitch: 0.07,
            yaw: 0.0,
            ..default()
        }))
        .init_resource::<Plan>()
        .add_systems(Startup, begin)
        .add_systems(PostStartup, (lengthen_lens, plain_floor))
        .add_systems(Update, (plan, set_row).chain())
        .add_systems(
            EguiPrimaryContextPass,
            label.in_set(OverlaySystems::Examples),
        )
        .run();
}

/// The rows to draw, one per picture, once they are known.
#[derive(Resource, Default)]
struct Plan {
    characters: Vec<Handle<Character>>,
    /// Layout of each character.
    layouts: Vec<Layout>,
    rows: Vec<Row>,
    drawn: Option<usize>,
}

/// Layout of a character's figures, at the same scale in all rows.
#[derive(Clone, Copy)]
struct Layout {
    /// Figures per row, for each of [`SIDES`].
    columns: [usize; 2],
    /// Height of the tallest figure in meters.
    high: f32,
    /// Width of a row in meters.
    frame: f32,
}

impl Layout {
    /// Fits as many of `times` figures into a row as its width allows.
    fn new(outlines: &[Vec<Vec3>], times: usize) -> Self {
        let (mut high, mut wide, mut long) = (0.0f32, Vec2::ZERO, Vec2::ZERO);
        for (low, top) in outlines.iter().map(|points| stage::around(points)) {
            high = high.max(top.y);
            wide = wide.max(top.xz().max(-low.xz()));
            long = long.max((top - low).xz());
        }
        // An outstretched arm may reach into the next column, but a body may not.
        let pitch = (1.5 * wide).max(1.12 * long).max(Vec2::splat(0.05));
        let least = high * (ABOVE + 1.0 + BELOW) / ASPECT;
        let row = |lines: usize| times.div_ceil(lines.clamp(1, times));
        let widest = row((times as f32 * pitch.max_element() / least) as usize);
        let frame = (pitch.max_element() * widest as f32).max(least);
        let columns = pitch
            .to_array()
            .map(|pitch| row((times as f32 * pitch / frame * 0.999).ceil() as usize));
        Self {
            columns,
            high,
            frame,
        }
    }
}

/// The sides to draw, with the rotation that shows each.
const SIDES: [(&str, f32); 2] = [("front", 0.0), ("side", std::f32::consts::FRAC_PI_2)];

/// A row: some times of a clip, from one side.
#[derive(Clone)]
struct Row {
    character: usize,
    clip: Option<String>,
    /// Times in seconds.
    times: Vec<f64>,
    /// Index in [`SIDES`].
    side: usize,
}

/// A figure in this column.
#[derive(Component)]
struct Figure(usize);

fn begin(
    args: Res<Args>,
    assets: Res<AssetServer>,
    mut plan: ResMut<Plan>,
    mut capture: ResMut<Capture>,
) {
    capture.waiting = true;
    let absolute = |file: &PathBuf| std::path::absolute(file).unwrap_or_else(|_| file.clone());
    plan.characters = args
        .files
        .iter()
        .map(|file| assets.load(absolute(file)))
        .collect();
}

fn lengthen_lens(mut projection: Single<&mut Projection>) {
    if let Projection::Perspective(perspective) = &mut **projection {
        perspective.fov = FIELD_OF_VIEW;
    }
}

/// Removes the checkerboard, which would shimmer at this size.
fn plain_floor(
    floor: Single<&MeshMaterial3d<StandardMaterial>, With<Ground>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    if let Some(mut material) = materials.get_mut(floor.id()) {
        material.base_color_texture = None;
    }
}

/// Once all characters are loaded, plans the rows and the files they go to.
fn plan(
    args: Res<Args>,
    assets: Res<Assets<Character>>,
    server: Res<AssetServer>,
    meshes: Res<Assets<Mesh>>,
    mut plan: ResMut<Plan>,
    mut stage: ResMut<Stage>,
) {
    if !plan.rows.is_empty() {
        return;
    }
    for handle in &plan.characters {
        if let bevy::asset::LoadState::Failed(error) = server.load_state(handle) {
            stage::fail(error);
        }
    }
    let Some(characters) = plan
        .characters
        .iter()
        .map(|handle| assets.get(handle))
        .collect::<Option<Vec<_>>>()
    else {
        return;
    };
    let (mut rows, mut layouts) = (Vec::new(), Vec::new());
    for (index, character) in characters.into_iter().enumerate() {
        let wanted = |name: &str| args.clip.is_empty() || args.clip.iter().any(|clip| clip == name);
        let clips = character
            .clips
            .iter()
            .map(|clip| &clip.timing)
            .filter(|timing| wanted(&timing.name));
        let mut clips: Vec<_> = clips
            .map(|timing| (Some(timing.name.to_string()), timing.duration))
            .collect();
        if clips.is_empty() {
            clips.push((None, 0.0));
        }
        let times = usize::from(args.times);
        let clip_of = |name: &Option<String>| name.as_deref().and_then(|name| character.clip(name));
        let outlines: Vec<_> = clips
            .iter()
            .map(|(name, _)| stage::outline(character, clip_of(name).map(|clip| &**clip), &meshes))
            .collect();
        let layout = Layout::new(&outlines, times);
        for (clip, seconds) in clips {
            let all: Vec<f64> = (0..times)
                .map(|i| seconds * i as f64 / times as f64)
                .collect();
            for (side, columns) in layout.columns.into_iter().enumerate() {
                rows.extend(all.chunks(columns).map(|times| Row {
                    character: index,
                    clip: clip.clone(),
                    times: times.to_vec(),
                    side,
                }));
            }
        }
        layouts.push(layout);
    }
    stage.pictures = rows.iter().map(|row| sheet(&args, row.character)).collect();
    (plan.rows, plan.layouts) = (rows, layouts);
}

/// Returns the file for a character's rows.
fn sheet(args: &Args, character: usize) -> PathBuf {
    let name = args.files[character]
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    let name = name.strip_suffix(".character.ron").unwrap_or(&name);
    args.to.join(format!("{name}.png"))
}

/// Arranges the figures of the next row, each at its time.
fn set_row(
    mut commands: Commands,
    mut plan: ResMut<Plan>,
    mut capture: ResMut<Capture>,
    mut caption: ResMut<Caption>,
    mut orbit: Single<&mut Orbit>,
    mut figures: Query<(
        Entity,
        &Figure,
        &SkinnedCharacter,
        &mut AnimationController,
        &mut Transform,
    )>,
) {
    let Some(row) = plan.rows.get(capture.index).cloned() else {
        return;
    };
    if plan.drawn == Some(capture.index) {
        return;
    }
    plan.drawn = Some(capture.index);
    let handle = plan.characters[row.character].clone();
    let Layout {
        columns,
        high,
        frame,
    } = plan.layouts[row.character];
    let (columns, (side, yaw)) = (columns[row.side], SIDES[row.side]);
    orbit.target = Vec3::Y * (high * (1.0 + ABOVE - BELOW) / 2.0);
    orbit.distance = frame * ASPECT / (2.0 * (FIELD_OF_VIEW / 2.0).tan());

    let stand = |place: usize| {
        // Seen from −Z, the first figure is on the left.
        let x = ((columns - 1) as f32 / 2.0 - place as f32) * frame / columns as f32;
        Transform::from_xyz(x, 0.0, 0.0).with_rotation(Quat::from_rotation_y(yaw))
    };
    let mut there = vec![false; columns];
    for (entity, &Figure(place), character, mut controller, mut transform) in &mut figures {
        match row.times.get(place) {
            Some(&time) if character.0 == handle => {
                there[place] = true;
                pose(&row, time, &mut controller);
                *transform = stand(place);
            }
            _ => commands.entity(entity).despawn(),
        }
    }
    for (place, &time) in row
        .times
        .iter()
        .enumerate()
        .filter(|(place, _)| !there[*place])
    {
        let mut controller = AnimationController::default();
        pose(&row, time, &mut controller);
        commands.spawn((
            Figure(place),
            SkinnedCharacter(handle.clone()),
            controller,
            stand(place),
        ));
    }
    capture.waiting = false;
    let name = row.clip.as_deref().unwrap_or("at rest");
    caption.set(format!("{name}, {side}"));
}

/// Writes each figure's time under it.
fn label(mut overlay: Overlay, plan: Res<Plan>) {
    let (Some(painter), Some(row)) = (overlay.painter(), plan.drawn.map(|index| &plan.rows[index]))
    else {
        return;
    };
    let (columns, area) = (
        plan.layouts[row.character].columns[row.side],
        painter.clip_rect(),
    );
    for (place, time) in row.times.iter().enumerate().filter(|_| row.clip.is_some()) {
        let x = area.left() + area.width() * (place as f32 + 0.5) / columns as f32;
        let at = pos2(x, area.bottom() - 6.0);
        stage::text(
            &painter,
            at,
            Align2::CENTER_BOTTOM,
            &format!("{time:.2} s"),
            13.0,
            f32::INFINITY,
        );
    }
}

fn pose(row: &Row, seconds: f64, controller: &mut AnimationController) {
    if let Some(clip) = &row.clip {
        let track = controller.play(clip.as_str());
        if let Some(track) = controller.track_mut(track) {
            track.seek(seconds);
        }
    }
}
