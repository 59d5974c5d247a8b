//! What the panel painted, as text and places: how a test finds its way about.

use bevy::prelude::*;
use bevy_egui::{
    EguiFullOutput, EguiPostUpdateSet,
    egui::{self, Rect, Shape},
};

/// What the panel painted last, and what it put on the clipboard.
#[derive(Resource, Default)]
pub struct Painted {
    texts: Vec<(String, Rect)>,
    /// Texts that stick out of where they may be seen, to the left or right.
    pub cut: Vec<String>,
    pub copied: Option<String>,
}

/// Keeps [`Painted`] up to date.
pub struct PaintedPlugin;

impl Plugin for PaintedPlugin {
    fn build(&self, app: &mut App) {
        let between = || EguiPostUpdateSet::EndPass;
        app.init_resource::<Painted>()
            .add_systems(PostUpdate, read_output.after(between()).before(EguiPostUpdateSet::ProcessOutput));
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
        Shape::Vec(shapes) => shapes.iter().for_each(|shape| collect(shape, clip, painted)),
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
    /// The texts as last painted.
    pub fn texts(&self) -> Vec<&str> {
        self.texts.iter().map(|(text, _)| text.as_str()).collect()
    }

    pub fn shows(&self, text: &str) -> bool {
        self.texts.iter().any(|(shown, _)| shown == text)
    }

    /// Where a text is painted, in egui's points.
    pub fn find(&self, text: &str) -> Rect {
        let found = self.texts.iter().find(|(shown, _)| shown == text);
        found.unwrap_or_else(|| panic!("`{text}` is not among {:?}", self.texts())).1
    }

    /// Where a text with `part` in it is painted in line with another one, to its right.
    pub fn find_beside(&self, label: &str, part: &str) -> Rect {
        self.beside(label, part).1
    }

    /// The first text in line with another one, to its right.
    pub fn text_beside(&self, label: &str) -> String {
        self.beside(label, "").0.clone()
    }

    fn beside(&self, label: &str, part: &str) -> &(String, Rect) {
        let at = self.find(label);
        let beside = self.texts.iter().filter(|(text, rect)| {
            text.contains(part) && rect.left() > at.right() && (rect.center().y - at.center().y).abs() < 8.0
        });
        let first = beside.min_by(|a, b| a.1.left().total_cmp(&b.1.left()));
        first.unwrap_or_else(|| panic!("no `{part}` beside `{label}` in {:?}", self.texts))
    }
}
