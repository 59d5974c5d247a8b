//! Help text along the bottom, and the area left for the scene.

use super::{Bare, Help, Stage, caption::CaptionText};
use bevy::{prelude::*, window::PrimaryWindow};

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

/// The column along the bottom. Insert children at index 0 to place them above the help text.
#[derive(Component)]
pub struct Footer;

#[derive(Component)]
pub(super) struct HelpText;

/// In pictures smaller than this, in logical pixels, the help text starts folded.
const SMALL: Vec2 = Vec2::new(900.0, 560.0);

pub(super) fn spawn(mut commands: Commands, help: Res<Help>) {
    let column = Node {
        position_type: PositionType::Absolute,
        flex_direction: FlexDirection::Column,
        align_items: AlignItems::FlexStart,
        row_gap: px(8),
        left: px(14),
        bottom: px(12),
        ..default()
    };
    commands.spawn((Footer, column)).with_child((
        HelpText,
        Text::new(help.0),
        TextFont::from_font_size(14.0),
        TextColor(Color::srgba(1.0, 1.0, 1.0, 0.85)),
        TextShadow { offset: Vec2::splat(1.0), color: Color::srgba(0.0, 0.0, 0.0, 0.7) },
    ));
}

/// Folds the help text in small pictures; F2 toggles it. Without a window, folded help is hidden altogether.
pub(super) fn fold(
    keys: Option<Res<ButtonInput<KeyCode>>>,
    help: Res<Help>,
    covered: Res<Covered>,
    stage: Res<Stage>,
    mut text: Single<&mut Text, With<HelpText>>,
    mut wanted: Local<Option<bool>>,
) {
    let small = covered.picture.cmplt(SMALL).any();
    let shown = wanted.unwrap_or(!small);
    if keys.is_some_and(|keys| keys.just_pressed(KeyCode::F2)) {
        *wanted = Some(!shown);
    }
    let folded = if stage.headless { "" } else { "F2: keys" };
    let line = if wanted.unwrap_or(!small) { help.0 } else { folded };
    if text.0 != line {
        line.clone_into(&mut text.0);
    }
}

/// Measures how much text covers, and keeps text clear of a panel.
pub(super) fn measure(
    mut covered: ResMut<Covered>,
    stage: Res<Stage>,
    bare: Res<Bare>,
    windows: Query<&Window, With<PrimaryWindow>>,
    mut footer: Single<(&mut Node, &ComputedNode), (With<Footer>, Without<CaptionText>)>,
    mut caption: Single<(&mut Node, &ComputedNode, &Text), With<CaptionText>>,
) {
    let mut now = *covered;
    now.picture = windows.single().map_or(stage.size.as_vec2(), |window| window.size());
    let size = |node: &ComputedNode| node.size * node.inverse_scale_factor;
    let high = |node: &ComputedNode| if bare.0 || size(node).y == 0.0 { 0.0 } else { size(node).y + 20.0 };
    now.bottom = high(footer.1);
    // Captions are short enough to fit beside the character, except in narrow pictures.
    let letters = caption.2.lines().map(str::len).max().unwrap_or_default() as f32;
    let reaches = letters * 11.0 > 0.36 * (now.picture.x - now.right);
    now.top = if reaches { high(caption.1) } else { 0.0 };
    covered.set_if_neq(now);
    let right = px(now.right + 14.0);
    if footer.0.right != right || caption.0.right != right {
        (footer.0.right, caption.0.right) = (right, right);
    }
}
