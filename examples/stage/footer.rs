//! What is written along the lower edge, and how much of the picture is left for the scene.

use super::{Bare, Help, Stage, caption::CaptionText};
use bevy::{prelude::*, window::PrimaryWindow};

/// What covers the picture's edges, in logical pixels: a figure is framed in what they leave free.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq)]
pub struct Covered {
    /// By the caption, where it would reach the figure.
    pub top: f32,
    /// By a panel; whoever shows one says so here, and text keeps beside it.
    pub right: f32,
    /// By the help and what stands above it.
    pub bottom: f32,
    /// The whole picture.
    pub picture: Vec2,
}

impl Covered {
    /// The free area's share of the picture's width and height.
    pub fn room(&self) -> Vec2 {
        let taken = Vec2::new(self.right, self.top + self.bottom);
        (Vec2::ONE - taken / self.picture.max(Vec2::ONE)).max(Vec2::splat(0.2))
    }

    /// How far the free area's middle lies right of and above the picture's, in halves of its width and height.
    pub fn middle(&self) -> Vec2 {
        Vec2::new(-self.right, self.bottom - self.top) / self.picture.max(Vec2::ONE)
    }
}

/// The column along the lower edge; what is put first into it stands above the help.
#[derive(Component)]
pub struct Footer;

#[derive(Component)]
pub(super) struct HelpText;

/// Pictures smaller than this, in logical pixels, show the help only when asked.
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

/// Folds the help up in a small picture; F2 unfolds it there, and folds it anywhere. Without a window there is no
/// key to press, and nothing stands for what is folded.
pub(super) fn fold(
    keys: Option<Res<ButtonInput<KeyCode>>>,
    help: Res<Help>,
    covered: Res<Covered>,
    windows: Query<(), With<PrimaryWindow>>,
    mut text: Single<&mut Text, With<HelpText>>,
    mut wanted: Local<Option<bool>>,
) {
    let small = covered.picture.cmplt(SMALL).any();
    let shown = wanted.unwrap_or(!small);
    if keys.is_some_and(|keys| keys.just_pressed(KeyCode::F2)) {
        *wanted = Some(!shown);
    }
    let folded = if windows.is_empty() { "" } else { "F2: keys" };
    let line = if wanted.unwrap_or(!small) { help.0 } else { folded };
    if text.0 != line {
        line.clone_into(&mut text.0);
    }
}

/// Measures what text covers, and keeps text beside what a panel covers.
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
    // Names are short: the caption stands beside a figure in all but narrow pictures.
    let letters = caption.2.lines().map(str::len).max().unwrap_or_default() as f32;
    let reaches = letters * 11.0 > 0.36 * (now.picture.x - now.right);
    now.top = if reaches { high(caption.1) } else { 0.0 };
    covered.set_if_neq(now);
    let right = px(now.right + 14.0);
    if footer.0.right != right || caption.0.right != right {
        (footer.0.right, caption.0.right) = (right, right);
    }
}
