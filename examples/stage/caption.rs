//! Text in the top left corner.

use super::{
    footer::Covered,
    overlay::{self, MARGIN, Overlay},
    platform,
};
use bevy::prelude::*;
use bevy_egui::egui::Align2;

/// The text shown in the top left corner.
#[derive(Resource, Debug, Default)]
pub struct Caption(String);

impl Caption {
    /// Sets the text.
    pub fn set(&mut self, text: impl Into<String>) {
        self.0 = text.into();
    }

    /// Returns the lines of the text.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.0.lines()
    }
}

/// Draws a value in 0..=1 as a bar of 20 characters.
pub fn bar(value: f32) -> String {
    let full = (value.clamp(0.0, 1.0) * 20.0).round() as usize;
    format!("[{}{}]", "#".repeat(full), "-".repeat(20 - full))
}

pub(super) fn paint(mut overlay: Overlay, caption: Res<Caption>, mut covered: ResMut<Covered>) {
    let Some(painter) = overlay.painter() else {
        return;
    };
    let free = painter.clip_rect().width() - covered.right;
    let (corner, width) = (painter.clip_rect().min + MARGIN, free - 2.0 * MARGIN.x);
    let area = overlay::text(&painter, corner, Align2::LEFT_TOP, &caption.0, 17.0, width);
    // Captions are short enough to fit beside the character, except in narrow pictures.
    let top = if area.right() > 0.36 * free {
        area.height() + 20.0
    } else {
        0.0
    };
    if covered.top != top {
        covered.top = top;
    }
}

pub(super) fn tell_page(caption: Res<Caption>, mut told: Local<String>) {
    if *told != caption.0 {
        told.clone_from(&caption.0);
        platform::caption(&caption.0);
    }
}
