//! A map of a blend space, with a point that can be dragged.

use super::{
    keyboard,
    style::{self, ACCENT},
};
use crate::{
    controller::AnimationTrack,
    model::{BlendPoint, BoundBlendSpace},
};
use bevy_egui::egui::{self, Align2, FontId, Pos2, Rect, Sense, Stroke, Ui};

/// Room around the outermost points, for their names.
const MARGIN: egui::Vec2 = egui::vec2(36.0, 18.0);

/// Shows the clips of a blend space at their places, and where the track's parameters are. Dragging sets them.
pub(super) fn show(ui: &mut Ui, space: &BoundBlendSpace, track: &mut AnimationTrack) {
    let height = if space.dimensions() == 2 { 170.0 } else { 58.0 };
    let size = egui::vec2(ui.available_width().min(330.0), height);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click_and_drag());
    let map = Map::new(space, rect.shrink2(MARGIN));
    if let Some(pointer) = response.interact_pointer_pos() {
        track.set_parameters(space.nearest(map.point(pointer)));
    }
    if let Some([right, down]) = keyboard::arrows(ui, &response) {
        let at = map.place(track.parameters()) + 4.0 * egui::vec2(right as f32, down as f32);
        track.set_parameters(space.nearest(map.point(at)));
    }
    let response = response.on_hover_cursor(egui::CursorIcon::Crosshair);
    let (painter, visuals) = (ui.painter_at(rect), ui.visuals());
    painter.rect_filled(rect, 4.0, style::bar_background(visuals));
    let present = track.smoothed_parameters();
    let here = map.place(present);
    for (clip, weight) in space.weights(present) {
        for (_, at) in space.points().iter().filter(|(name, _)| **name == *clip) {
            let width = 1.0 + 3.0 * weight as f32;
            painter.line_segment(
                [here, map.place(*at)],
                Stroke::new(width, ACCENT.gamma_multiply(0.5)),
            );
        }
    }
    for (clip, at) in space.points() {
        let at = map.place(*at);
        painter.circle_filled(at, 3.0, visuals.text_color());
        let below = egui::vec2(0.0, 4.0);
        painter.text(
            at + below,
            Align2::CENTER_TOP,
            clip,
            FontId::proportional(10.0),
            visuals.text_color(),
        );
    }
    painter.circle_stroke(
        map.place(space.nearest(track.parameters())),
        7.0,
        Stroke::new(1.5, ACCENT),
    );
    painter.circle_filled(here, 4.5, ACCENT);
    let BlendPoint { x, y } = track.parameters();
    let shown = if space.dimensions() == 2 {
        format!("({x:.2}, {y:.2})")
    } else {
        format!("{x:.2}")
    };
    response.on_hover_text(format!(
        "{shown}: drag, or use the arrow keys, to set the parameters"
    ));
}

/// Places of the space in a rectangle, with the second parameter upward.
struct Map {
    rect: Rect,
    low: BlendPoint,
    /// Per pixel.
    step: BlendPoint,
}

impl Map {
    fn new(space: &BoundBlendSpace, rect: Rect) -> Self {
        let range = |of: fn(&BlendPoint) -> f64, pixels: f32| {
            let values = space.points().iter().map(|(_, at)| of(at));
            let low = values.clone().fold(f64::INFINITY, f64::min);
            let span = values.fold(f64::NEG_INFINITY, f64::max) - low;
            // All on one line: it is in the middle.
            if span > 0.0 {
                (low, span / f64::from(pixels))
            } else {
                (low - 0.5, 1.0 / f64::from(pixels))
            }
        };
        let (x, y) = (
            range(|at| at.x, rect.width()),
            range(|at| at.y, rect.height()),
        );
        Self {
            rect,
            low: BlendPoint::new(x.0, y.0),
            step: BlendPoint::new(x.1, y.1),
        }
    }

    fn place(&self, point: BlendPoint) -> Pos2 {
        let along = |value: f64, low: f64, step: f64| ((value - low) / step) as f32;
        let x = along(point.x, self.low.x, self.step.x);
        let y = along(point.y, self.low.y, self.step.y);
        Pos2::new(self.rect.left() + x, self.rect.bottom() - y)
    }

    fn point(&self, place: Pos2) -> BlendPoint {
        let x = f64::from(place.x - self.rect.left());
        let y = f64::from(self.rect.bottom() - place.y);
        BlendPoint::new(self.low.x + x * self.step.x, self.low.y + y * self.step.y)
    }
}
