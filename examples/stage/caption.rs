//! Text in the top left corner.

use super::platform;
use bevy::prelude::*;

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

#[derive(Component)]
pub(super) struct CaptionText;

pub(super) fn spawn(mut commands: Commands) {
    commands.spawn((
        CaptionText,
        Text::default(),
        TextFont::from_font_size(18.0),
        TextShadow { offset: Vec2::splat(1.0), color: Color::srgba(0.0, 0.0, 0.0, 0.7) },
        Node { position_type: PositionType::Absolute, left: px(14), top: px(12), right: px(14), ..default() },
    ));
}

pub(super) fn write(caption: Res<Caption>, mut text: Single<&mut Text, With<CaptionText>>) {
    if text.0 != caption.0 {
        text.0.clone_from(&caption.0);
        platform::caption(&caption.0);
    }
}
