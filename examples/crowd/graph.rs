//! The frame graph: a column of stacked bars per frame, and a legend with medians.

use super::{
    Crowd, Side,
    stage::{Capture, Stage as Setting, print},
    stages::{Frame, Stage, StageClock},
};
use bevy::{
    asset::RenderAssetUsages,
    diagnostic::{DiagnosticsStore, FrameTimeDiagnosticsPlugin},
    image::ImageSampler,
    prelude::*,
    render::render_resource::{Extent3d, TextureDimension, TextureFormat},
};
use std::collections::VecDeque;

const WIDTH: usize = 360;
const HEIGHT: usize = 120;
/// Width of a frame's column in pixels.
const COLUMN: usize = 3;
/// Number of frames the medians are taken over.
const SMOOTH: usize = 30;

pub struct GraphPlugin {
    /// Whether a headless run prints costs in place of a picture.
    pub costs: bool,
}

/// Marks a headless run that prints costs in place of a picture.
#[derive(Resource)]
struct OnlyCosts;

impl Plugin for GraphPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(FrameTimeDiagnosticsPlugin::default())
            .init_resource::<History>()
            .add_systems(Startup, spawn)
            .add_systems(Update, (record, (draw, tell)).chain())
            .add_systems(PostUpdate, print_costs.run_if(resource_exists::<Capture>));
        if self.costs {
            app.insert_resource(OnlyCosts);
        }
    }
}

/// Recent frames, and the last result of each side.
#[derive(Resource, Default)]
struct History {
    frames: VecDeque<(Side, Frame)>,
    /// The median frame, and the number of characters.
    seen: [Option<(Frame, usize)>; 2],
    image: Handle<Image>,
}

#[derive(Component)]
enum GraphLabel {
    Title,
    Stage(Stage),
    Sum,
    Scale,
    Compared,
}

fn color(stage: Stage) -> Srgba {
    let [r, g, b] = match stage {
        Stage::Advance => [0.98, 0.78, 0.32],
        Stage::Pose => [0.34, 0.80, 0.62],
        Stage::Animate => [0.93, 0.42, 0.40],
        Stage::Propagate => [0.95, 0.60, 0.36],
        Stage::Skins => [0.66, 0.52, 0.90],
        Stage::Palettes => [0.36, 0.66, 0.96],
        Stage::Other => [0.45, 0.48, 0.52],
    };
    Srgba::rgb(r, g, b)
}

const PAPER: [u8; 4] = [24, 28, 34, 255];
const LINE: [u8; 4] = [58, 64, 74, 255];

fn spawn(mut commands: Commands, mut history: ResMut<History>, mut images: ResMut<Assets<Image>>) {
    let size = Extent3d { width: WIDTH as u32, height: HEIGHT as u32, depth_or_array_layers: 1 };
    let data = PAPER.repeat(WIDTH * HEIGHT);
    let format = TextureFormat::Rgba8UnormSrgb;
    let mut image = Image::new(size, TextureDimension::D2, data, format, RenderAssetUsages::default());
    image.sampler = ImageSampler::nearest();
    history.image = images.add(image);
    let text = |label: GraphLabel, size: f32, shade: f32| {
        (label, Text::default(), TextFont::from_font_size(size), TextColor(Color::srgb(shade, shade, shade)))
    };
    let panel = Node {
        position_type: PositionType::Absolute,
        right: px(14),
        top: px(14),
        padding: UiRect::all(px(12)),
        row_gap: px(5),
        flex_direction: FlexDirection::Column,
        border_radius: BorderRadius::all(px(8)),
        ..default()
    };
    commands.spawn((panel, BackgroundColor(Color::srgba(0.06, 0.07, 0.09, 0.88)))).with_children(|panel| {
        panel.spawn(text(GraphLabel::Title, 17.0, 0.96));
        panel.spawn(text(GraphLabel::Scale, 12.0, 0.60));
        let size = Node { width: px(WIDTH as f32), height: px(HEIGHT as f32), ..default() };
        panel.spawn((ImageNode::new(history.image.clone()), size));
        for stage in Stage::WORK {
            let row = Node { column_gap: px(8), align_items: AlignItems::Center, ..default() };
            panel.spawn(row).with_children(|row| {
                let swatch =
                    Node { width: px(11), height: px(11), border_radius: BorderRadius::all(px(2)), ..default() };
                row.spawn((swatch, BackgroundColor(color(stage).into())));
                row.spawn(text(GraphLabel::Stage(stage), 13.0, 0.82));
            });
        }
        panel.spawn(text(GraphLabel::Sum, 15.0, 0.96));
        panel.spawn(text(GraphLabel::Compared, 13.0, 0.70));
    });
}

fn record(clock: Res<StageClock>, crowd: Res<Crowd>, mut history: ResMut<History>) {
    for frame in clock.take() {
        if crowd.all.is_empty() {
            continue;
        }
        history.frames.push_back((crowd.side, frame));
        if history.frames.len() > WIDTH / COLUMN {
            history.frames.pop_front();
        }
    }
    if let Some(frame) = history.median(crowd.side) {
        history.seen[crowd.side as usize] = Some((frame, crowd.all.len()));
    }
}

impl History {
    /// Returns the median of the side's recent frames, if there are enough.
    fn median(&self, side: Side) -> Option<Frame> {
        let own = |(of, frame): &(Side, Frame)| (*of == side).then_some(*frame);
        let frames: Vec<Frame> = self.frames.iter().rev().map_while(own).take(SMOOTH).collect();
        // The first ones include spawning.
        (frames.len() > 6).then(|| Frame::median(&frames[..frames.len() - 4]))
    }

    /// Returns a round number of milliseconds that most columns don't exceed.
    fn scale(&self) -> f64 {
        let mut work: Vec<f64> = self.frames.iter().map(|(_, frame)| frame.work()).collect();
        work.sort_by(f64::total_cmp);
        let high = work.get(work.len().saturating_sub(1) * 19 / 20).copied().unwrap_or(1.0).max(0.1) * 1.1;
        let power = 10_f64.powf(high.log10().floor());
        [1.0, 2.0, 5.0, 10.0].into_iter().map(|step| step * power).find(|&step| step >= high).unwrap_or(high)
    }
}

fn draw(history: Res<History>, mut images: ResMut<Assets<Image>>) {
    let Some(mut image) = images.get_mut(&history.image) else { return };
    let Some(data) = image.data.as_mut() else { return };
    let mut put = |x: usize, y: usize, color: [u8; 4]| {
        // The top row comes first.
        let at = ((HEIGHT - 1 - y) * WIDTH + x) * 4;
        data[at..at + 4].copy_from_slice(&color);
    };
    for y in 0..HEIGHT {
        let color = if y % (HEIGHT / 4) == 0 { LINE } else { PAPER };
        (0..WIDTH).for_each(|x| put(x, y, color));
    }
    let pixels = HEIGHT as f64 / history.scale();
    let free = WIDTH / COLUMN - history.frames.len().min(WIDTH / COLUMN);
    for (i, (_, frame)) in history.frames.iter().enumerate() {
        let mut sum = 0.0;
        for stage in Stage::WORK {
            let from = (sum * pixels) as usize;
            sum += frame.of(stage);
            let to = ((sum * pixels) as usize).min(HEIGHT);
            let color = color(stage).to_u8_array();
            for y in from..to {
                (0..COLUMN - 1).for_each(|x| put((free + i) * COLUMN + x, y, color));
            }
        }
    }
}

/// Prints the last result of each side after a headless run.
fn print_costs(
    mut capture: ResMut<Capture>,
    history: Res<History>,
    setting: Res<Setting>,
    only: Option<Res<OnlyCosts>>,
    mut exit: MessageWriter<AppExit>,
    mut printed: Local<bool>,
) {
    let over = if only.is_some() { setting.time - capture.clock <= 1e-6 } else { capture.index > 0 };
    if *printed || !over {
        return;
    }
    *printed = true;
    for (side, seen) in [Side::Ours, Side::Bevys].into_iter().zip(history.seen) {
        if let Some((frame, count)) = seen {
            let (side, work) = (name(side), frame.work());
            let each = work * 1e3 / count.max(1) as f64;
            let stages = Stage::WORK.map(|stage| format!("{} {:.3}", stage.name(), frame.of(stage))).join(", ");
            print(format_args!("{side}: {count} characters, {work:.3} ms, {each:.2} us each ({stages})"));
        }
    }
    if only.is_some() {
        // No picture is taken anymore.
        capture.waiting = true;
        exit.write(AppExit::Success);
    }
}

fn name(side: Side) -> &'static str {
    if side == Side::Ours { "bevy_marionette" } else { "bevy_animation" }
}

fn tell(
    crowd: Res<Crowd>,
    history: Res<History>,
    setting: Res<Setting>,
    diagnostics: Res<DiagnosticsStore>,
    mut labels: Query<(&GraphLabel, &mut Text)>,
) {
    let median = history.median(crowd.side);
    for (label, mut text) in &mut labels {
        let line = match label {
            GraphLabel::Title => format!("{}: {} characters", name(crowd.side), crowd.all.len()),
            GraphLabel::Scale => {
                let whole = diagnostics.get(&FrameTimeDiagnosticsPlugin::FRAME_TIME).and_then(|time| time.smoothed());
                // Headless frames aren't drawn, so their duration is meaningless.
                let frame = whole.filter(|_| !setting.headless).map(|ms| format!("; frame {ms:.1} ms"));
                format!("animation work, 0 to {} ms{}", history.scale(), frame.unwrap_or_default())
            }
            GraphLabel::Stage(stage) => match median {
                Some(frame) => format!("{:<14}{:>8.2} ms", stage.name(), frame.of(*stage)),
                None => stage.name().to_owned(),
            },
            GraphLabel::Sum => match median {
                Some(frame) => {
                    let each = frame.work() * 1e3 / crowd.all.len().max(1) as f64;
                    format!("{:.2} ms, {each:.2} us per character", frame.work())
                }
                None => String::new(),
            },
            GraphLabel::Compared => {
                let other = if crowd.side == Side::Ours { Side::Bevys } else { Side::Ours };
                match (history.seen[crowd.side as usize], history.seen[other as usize]) {
                    (Some((own, n)), Some((others, m))) => {
                        let (own, others) = (own.work() / n as f64, others.work() / m as f64);
                        let (times, word) =
                            if own < others { (others / own, "faster") } else { (own / others, "slower") };
                        format!("{times:.1}x {word} than {}", name(other))
                    }
                    _ => format!("Tab: compare with {}", name(other)),
                }
            }
        };
        if text.0 != line {
            text.0 = line;
        }
    }
}
