//! Help text along the bottom, and the area left for the scene.

use super::{
    Bare, Help, Stage,
    overlay::{self, MARGIN, Overlay},
};
use bevy::{prelude::*, window::PrimaryWindow};
use bevy_egui::egui::Align2;

/// How much of the picture's edges is covered, in logical pixels. Characters are framed in the rest.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq)]
pub struct Covered {
    /// By the caption, if it would overlap the character.
    pub top: f32,
    /// By a panel. Set this if you show one; text avoids it.
    pub right: f32,
    /// By the help text and anything above it.
    pub bottom: f32,
    /// Size of the whole picture.
    pub picture: Vec2,
}

impl Covered {
    /// Returns the free area's fraction of the picture's width and height.
    pub fn room(&self) -> Vec2 {
        let taken = Vec2::new(self.right, self.top + self.bottom);
        (Vec2::ONE - taken / self.picture.max(Vec2::ONE)).max(Vec2::splat(0.2))
    }

    /// Returns the offset of the free area's center from the picture's, right and up, in half-widths and half-heights.
    pub fn middle(&self) -> Vec2 {
        Vec2::new(-self.right, self.bottom - self.top) / self.picture.max(Vec2::ONE)
    }
}

/// Height of what has been painted along the bottom in this frame, in logical pixels, from the picture's edge. What is
/// painted above it, in [`OverlaySystems::Examples`](super::OverlaySystems), adds its own height.
#[derive(Resource, Default)]
pub struct Footer(pub f32);

/// In pictures smaller than this, in logical pixels, the help text starts folded.
const SMALL: Vec2 = Vec2::new(900.0, 560.0);

/// Paints the help text, which is folded in small pictures; F2 toggles it. Without a window, folded help is hidden altogether.
pub(super) fn paint(
    mut overlay: Overlay,
    keys: Option<Res<ButtonInput<KeyCode>>>,
    help: Res<Help>,
    covered: Res<Covered>,
    stage: Res<Stage>,
    mut footer: ResMut<Footer>,
    mut wanted: Local<Option<bool>>,
) {
    let small = covered.picture.cmplt(SMALL).any();
    let shown = wanted.unwrap_or(!small);
    if keys.is_some_and(|keys| keys.just_pressed(KeyCode::F2)) {
        *wanted = Some(!shown);
    }
    let folded = if stage.headless { "" } else { "F2: keys" };
    let line = if wanted.unwrap_or(!small) {
        help.0
    } else {
        folded
    };
    footer.0 = 0.0;
    let Some(painter) = overlay.painter().filter(|_| !line.is_empty()) else {
        return;
    };
    let corner = painter.clip_rect().left_bottom() + MARGIN * bevy_egui::egui::vec2(1.0, -1.0);
    let width = painter.clip_rect().width() - covered.right - 2.0 * MARGIN.x;
    footer.0 =
        MARGIN.y + overlay::text(&painter, corner, Align2::LEFT_BOTTOM, line, 13.0, width).height();
}

/// Measures how much text covers.
pub(super) fn measure(
    mut covered: ResMut<Covered>,
    footer: Res<Footer>,
    bare: Res<Bare>,
    stage: Res<Stage>,
    windows: Query<&Window, With<PrimaryWindow>>,
) {
    let picture = windows
        .single()
        .map_or(stage.size.as_vec2() / stage.scale, Window::size);
    let bottom = if bare.0 || footer.0 == 0.0 {
        0.0
    } else {
        footer.0 + 8.0
    };
    covered.set_if_neq(Covered {
        bottom,
        picture,
        ..*covered
    });
}
