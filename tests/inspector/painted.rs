//! Records the texts egui paints and where, so that tests can find controls.

use bevy::prelude::*;
use bevy_egui::{
    EguiFullOutput, EguiPostUpdateSet,
    egui::{self, Rect, Shape},
};

/// Texts painted in the last frame, and the last text copied.
#[derive(Resource, Default)]
pub struct Painted {
    texts: Vec<(String, Rect)>,
    /// Texts that are elided or extend beyond their clip rectangle to the left or right.
    pub cut: Vec<String>,
    pub copied: Option<String>,
}

/// Updates [`Painted`] every frame.
pub struct PaintedPlugin;

impl Plugin for PaintedPlugin {
    fn build(&self, app: &mut App) {
        let read = read_output
            .after(EguiPostUpdateSet::EndPass)
            .before(EguiPostUpdateSet::ProcessOutput);
        app.init_resource::<Painted>().add_systems(PostUpdate, read);
    }
}

fn read_output(mut painted: ResMut<Painted>, outputs: Query<&EguiFullOutput>) {
    let painted = &mut *painted;
    painted.texts.clear();
    painted.cut.clear();
    for output in outputs.iter().filter_map(|output| output.0.as_ref()) {
        for clipped in &output.shapes {
            collect(&clipped.shape, clipped.clip_rect, painted);
        }
        for command in &output.platform_output.commands {
            if let egui::OutputCommand::CopyText(text) = command {
                painted.copied = Some(text.clone());
            }
        }
    }
}

fn collect(shape: &Shape, clip: Rect, painted: &mut Painted) {
    match shape {
        Shape::Vec(shapes) => shapes
            .iter()
            .for_each(|shape| collect(shape, clip, painted)),
        Shape::Text(text) => {
            let rect = text.galley.rect.translate(text.pos.to_vec2());
            let shown = text.galley.text();
            if clip.y_range().contains(rect.center().y) {
                let is_inside = clip.x_range().expand(0.5).intersects(rect.x_range())
                    && rect.left() >= clip.left() - 0.5
                    && rect.right() <= clip.right() + 0.5;
                if text.galley.elided || !is_inside {
                    painted.cut.push(shown.to_owned());
                }
            }
            if clip.contains(rect.center()) {
                painted.texts.push((shown.to_owned(), rect));
            }
        }
        _ => {}
    }
}

impl Painted {
    /// Returns the texts last painted.
    pub fn texts(&self) -> Vec<&str> {
        self.texts.iter().map(|(text, _)| text.as_str()).collect()
    }

    pub fn shows(&self, text: &str) -> bool {
        self.texts.iter().any(|(shown, _)| shown == text)
    }

    /// Returns where a text is painted, in points.
    pub fn find(&self, text: &str) -> Rect {
        let found = self.texts.iter().find(|(shown, _)| shown == text);
        found
            .unwrap_or_else(|| panic!("`{text}` is not among {:?}", self.texts()))
            .1
    }

    /// Returns where a text containing `part` is painted, right of `label` in the same row.
    pub fn find_beside(&self, label: &str, part: &str) -> Rect {
        self.beside(label, part).1
    }

    /// Returns the first text right of `label` in the same row.
    pub fn text_beside(&self, label: &str) -> String {
        self.beside(label, "").0.clone()
    }

    fn beside(&self, label: &str, part: &str) -> &(String, Rect) {
        let at = self.find(label);
        let beside = self.texts.iter().filter(|(text, rect)| {
            text.contains(part)
                && rect.left() > at.right()
                && (rect.center().y - at.center().y).abs() < 8.0
        });
        let first = beside.min_by(|a, b| a.1.left().total_cmp(&b.1.left()));
        first.unwrap_or_else(|| panic!("no `{part}` beside `{label}` in {:?}", self.texts))
    }
}
