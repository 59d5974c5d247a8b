//! The frame graph: a column of stacked bars per frame, and a legend with medians.

use super::{
    Crowd, Side,
    stage::{Capture, Overlay, OverlaySystems, Stage as Setting, print},
    stages::{Frame, Stage, StageClock},
};
use bevy::{
    diagnostic::{DiagnosticsStore, FrameTimeDiagnosticsPlugin},
    prelude::*,
};
use bevy_egui::{
    EguiPrimaryContextPass,
    egui::{self, Align2, Color32, RichText, Sense, Ui, pos2, vec2},
};
use std::collections::VecDeque;

/// Number of frames shown.
const FRAMES: usize = 120;
/// Width of a frame's column, and height of the graph.
const COLUMN: f32 = 3.0;
const HEIGHT: f32 = 120.0;
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
            .add_systems(Update, record)
            .add_systems(
                EguiPrimaryContextPass,
                show.in_set(OverlaySystems::Examples),
            )
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
}

fn color(stage: Stage) -> Color32 {
    let [r, g, b] = match stage {
        Stage::Advance => [250, 199, 82],
        Stage::Pose => [87, 204, 158],
        Stage::Animate => [237, 107, 102],
        Stage::Propagate => [242, 153, 92],
        Stage::Skins => [168, 133, 230],
        Stage::Palettes => [92, 168, 245],
        Stage::Faces => [240, 160, 205],
        Stage::Morphs => [190, 110, 170],
        Stage::Other => [115, 122, 133],
    };
    Color32::from_rgb(r, g, b)
}

fn record(
    clock: Res<StageClock>,
    crowd: Res<Crowd>,
    time: Res<Time>,
    setting: Res<Setting>,
    mut history: ResMut<History>,
    mut advanced: Local<bool>,
) {
    // A headless run waits for its pictures, and characters that stand still cost little, so frames in which time
    // stands still don't count. The clock has the times of the last frame.
    let counts = *advanced || !setting.headless;
    *advanced = !time.delta().is_zero();
    for frame in clock.take() {
        if crowd.all.is_empty() || !counts {
            continue;
        }
        history.frames.push_back((crowd.side, frame));
        if history.frames.len() > FRAMES {
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
        let frames: Vec<Frame> = self
            .frames
            .iter()
            .rev()
            .map_while(own)
            .take(SMOOTH)
            .collect();
        // The first ones include spawning.
        (frames.len() > 6).then(|| Frame::median(&frames[..frames.len() - 4]))
    }

    /// Compares both sides' last results.
    fn compared(&self, side: Side) -> String {
        let other = if side == Side::Ours {
            Side::Bevys
        } else {
            Side::Ours
        };
        let (Some((own, n)), Some((others, m))) =
            (self.seen[side as usize], self.seen[other as usize])
        else {
            return format!("Tab: compare with {}", name(other));
        };
        let (own, others) = (own.work() / n as f64, others.work() / m as f64);
        let (times, word) = if own < others {
            (others / own, "faster")
        } else {
            (own / others, "slower")
        };
        format!("{times:.1}x {word} than {}", name(other))
    }

    /// Returns a round number of milliseconds that most columns don't exceed.
    fn scale(&self) -> f64 {
        let mut work: Vec<f64> = self.frames.iter().map(|(_, frame)| frame.work()).collect();
        work.sort_by(f64::total_cmp);
        let high = work
            .get(work.len().saturating_sub(1) * 19 / 20)
            .copied()
            .unwrap_or(1.0)
            .max(0.1)
            * 1.1;
        let power = 10_f64.powf(high.log10().floor());
        [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .map(|step| step * power)
            .find(|&step| step >= high)
            .unwrap_or(high)
    }
}

/// Draws recent frames as columns, the latest on the right.
fn draw(ui: &mut Ui, history: &History) {
    let (area, _) = ui.allocate_exact_size(vec2(FRAMES as f32 * COLUMN, HEIGHT), Sense::empty());
    let painter = ui.painter_at(area);
    painter.rect_filled(area, 0.0, Color32::from_rgb(24, 28, 34));
    for quarter in 0..4 {
        let y = area.bottom() - HEIGHT * quarter as f32 / 4.0;
        painter.hline(
            area.x_range(),
            y - 0.5,
            (1.0, Color32::from_rgb(58, 64, 74)),
        );
    }
    let pixels = f64::from(HEIGHT) / history.scale();
    for (i, (_, frame)) in history.frames.iter().rev().enumerate() {
        let right = area.right() - COLUMN * i as f32;
        let mut sum = 0.0;
        for stage in Stage::WORK {
            let bottom = area.bottom() - (sum * pixels) as f32;
            sum += frame.of(stage);
            let top = area.bottom() - (sum * pixels) as f32;
            let bar =
                egui::Rect::from_min_max(pos2(right - COLUMN + 1.0, top), pos2(right, bottom));
            painter.rect_filled(bar, 0.0, color(stage));
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
    let over = if only.is_some() {
        setting.time - capture.clock <= 1e-6
    } else {
        capture.index > 0
    };
    if *printed || !over {
        return;
    }
    *printed = true;
    for (side, seen) in [Side::Ours, Side::Bevys].into_iter().zip(history.seen) {
        if let Some((frame, count)) = seen {
            let (side, work) = (name(side), frame.work());
            let each = work * 1e3 / count.max(1) as f64;
            let stages = Stage::WORK
                .map(|stage| format!("{} {:.3}", stage.name(), frame.of(stage)))
                .join(", ");
            print(format_args!(
                "{side}: {count} characters, {work:.3} ms, {each:.2} us each ({stages})"
            ));
        }
    }
    if only.is_some() {
        // No picture is taken anymore.
        capture.waiting = true;
        exit.write(AppExit::Success);
    }
}

fn name(side: Side) -> &'static str {
    if side == Side::Ours {
        "bevy_marionette"
    } else {
        "bevy_animation"
    }
}

fn show(
    mut overlay: Overlay,
    crowd: Res<Crowd>,
    history: Res<History>,
    setting: Res<Setting>,
    diagnostics: Res<DiagnosticsStore>,
) {
    let Some(context) = overlay.context() else {
        return;
    };
    let median = history.median(crowd.side);
    let area = egui::Area::new("graph".into())
        .anchor(Align2::RIGHT_TOP, vec2(-14.0, 14.0))
        .interactable(false);
    let paper = Color32::from_rgba_unmultiplied(15, 18, 23, 224);
    area.show(&context, |ui| {
        egui::Frame::new()
            .fill(paper)
            .corner_radius(8)
            .inner_margin(12)
            .show(ui, |ui| {
                ui.spacing_mut().item_spacing = vec2(8.0, 5.0);
                let text = |ui: &mut Ui, text: String, size: f32, shade: u8| {
                    ui.label(
                        RichText::new(text)
                            .monospace()
                            .size(size)
                            .color(Color32::from_gray(shade)),
                    );
                };
                text(
                    ui,
                    format!("{}: {} characters", name(crowd.side), crowd.all.len()),
                    15.0,
                    245,
                );
                let whole = diagnostics
                    .get(&FrameTimeDiagnosticsPlugin::FRAME_TIME)
                    .and_then(|time| time.smoothed());
                // Headless frames aren't drawn, so their duration is meaningless.
                let whole = whole
                    .filter(|_| !setting.headless)
                    .map(|ms| format!("; frame {ms:.1} ms"));
                let scale = history.scale();
                text(
                    ui,
                    format!(
                        "animation work, 0 to {scale} ms{}",
                        whole.unwrap_or_default()
                    ),
                    12.0,
                    170,
                );
                draw(ui, &history);
                for stage in Stage::WORK {
                    ui.horizontal(|ui| {
                        let (swatch, _) = ui.allocate_exact_size(vec2(11.0, 11.0), Sense::empty());
                        ui.painter().rect_filled(swatch, 2.0, color(stage));
                        let cost = median
                            .map(|frame| format!("{:>8.2} ms", frame.of(stage)))
                            .unwrap_or_default();
                        text(ui, format!("{:<14}{cost}", stage.name()), 13.0, 210);
                    });
                }
                if let Some(work) = median.map(|frame| frame.work()) {
                    let each = work * 1e3 / crowd.all.len().max(1) as f64;
                    text(
                        ui,
                        format!("{work:.2} ms, {each:.2} us per character"),
                        14.0,
                        245,
                    );
                }
                text(ui, history.compared(crowd.side), 13.0, 180);
            });
    });
}
