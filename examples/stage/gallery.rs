//! The characters in `assets/`, and a row of buttons to choose one.

use super::{Bare, Footer};
use bevy::{prelude::*, ui::RelativeCursorPosition};

/// A character in `assets/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exhibit {
    /// Its display name.
    pub title: String,
    /// Asset path of its manifest.
    pub asset: String,
}

/// Returns every manifest in the folders of `assets/`, sorted by title.
pub fn gallery() -> Vec<Exhibit> {
    let exhibit = |asset: String| {
        let name = asset.rsplit('/').next().unwrap_or_default();
        Exhibit { title: title(name.trim_end_matches(".character.ron")), asset }
    };
    let mut found: Vec<Exhibit> = super::manifests().into_iter().map(exhibit).collect();
    found.sort_by(|a, b| a.title.cmp(&b.title));
    found
}

/// Returns "Scout (m3d)" for `scout_m3d`.
fn title(stem: &str) -> String {
    let (name, kind) = stem.split_once('_').map_or((stem, None), |(name, kind)| (name, Some(kind)));
    let mut letters = name.chars();
    let name = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect::<String>();
    kind.map_or(name.clone(), |kind| format!("{name} ({})", kind.replace('_', " ")))
}

/// Adds buttons for the [`gallery`], and keys: digits, and G for the next one.
///
/// Read [`Chosen`] to show the chosen character, and set [`OnShow`] to it.
pub struct GalleryPlugin;

/// The user chose this character.
#[derive(Message, Clone, Debug)]
pub struct Chosen(pub Exhibit);

/// The character being shown, if it is from the gallery.
#[derive(Resource, Default, PartialEq, Eq)]
pub struct OnShow(pub Option<Exhibit>);

#[derive(Resource)]
struct Exhibits(Vec<Exhibit>);

/// The button of the exhibit with this index.
#[derive(Component)]
struct ExhibitButton(usize);

impl Plugin for GalleryPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(Exhibits(gallery()))
            .init_resource::<OnShow>()
            .add_message::<Chosen>()
            .add_systems(PostStartup, spawn_buttons.run_if(not(resource_equals(Bare(true)))))
            .add_systems(Update, (choose_by_key.run_if(super::has_keys), choose_by_click, highlight));
    }
}

fn spawn_buttons(mut commands: Commands, exhibits: Res<Exhibits>, footer: Single<Entity, With<Footer>>) {
    let row = Node { flex_wrap: FlexWrap::Wrap, column_gap: px(8), row_gap: px(6), ..default() };
    let mut row = commands.spawn(row);
    row.with_children(|row| {
        for (index, exhibit) in exhibits.0.iter().enumerate() {
            let padding = UiRect::axes(px(12), px(5));
            let node = Node { padding, border_radius: BorderRadius::all(px(6)), ..default() };
            let label = if index < 9 { format!("{}  {}", index + 1, exhibit.title) } else { exhibit.title.clone() };
            row.spawn((ExhibitButton(index), RelativeCursorPosition::default(), node, BackgroundColor::default()))
                .with_child((Text::new(label), TextFont::from_font_size(15.0)));
        }
    });
    let row = row.id();
    commands.entity(*footer).insert_children(0, &[row]);
}

fn choose_by_key(
    keys: Option<Res<ButtonInput<KeyCode>>>,
    exhibits: Res<Exhibits>,
    on_show: Res<OnShow>,
    mut chosen: MessageWriter<Chosen>,
) {
    use KeyCode::{Digit1, Digit2, Digit3, Digit4, Digit5, Digit6, Digit7, Digit8, Digit9};
    let Some(keys) = keys else { return };
    let digits = [Digit1, Digit2, Digit3, Digit4, Digit5, Digit6, Digit7, Digit8, Digit9];
    let digit = digits.iter().position(|&digit| keys.just_pressed(digit));
    let next = keys.just_pressed(KeyCode::KeyG).then(|| {
        let now = exhibits.0.iter().position(|exhibit| Some(exhibit) == on_show.0.as_ref());
        now.map_or(0, |now| now + 1) % exhibits.0.len().max(1)
    });
    let choice = digit.or(next).and_then(|index| exhibits.0.get(index));
    if let Some(exhibit) = choice {
        chosen.write(Chosen(exhibit.clone()));
    }
}

fn choose_by_click(
    buttons: Query<(&ExhibitButton, &RelativeCursorPosition)>,
    mouse: Res<ButtonInput<MouseButton>>,
    touches: Res<Touches>,
    exhibits: Res<Exhibits>,
    mut chosen: MessageWriter<Chosen>,
) {
    let is_pressed = mouse.just_pressed(MouseButton::Left) || touches.any_just_pressed();
    if is_pressed && let Some((&ExhibitButton(index), _)) = buttons.iter().find(|(_, cursor)| cursor.cursor_over()) {
        chosen.write(Chosen(exhibits.0[index].clone()));
    }
}

fn highlight(
    mut buttons: Query<(&ExhibitButton, &RelativeCursorPosition, &mut BackgroundColor)>,
    exhibits: Res<Exhibits>,
    on_show: Res<OnShow>,
) {
    for (&ExhibitButton(index), cursor, mut color) in &mut buttons {
        let wanted = match (on_show.0.as_ref() == Some(&exhibits.0[index]), cursor.cursor_over()) {
            (true, _) => Color::srgba(0.16, 0.45, 0.40, 0.95),
            (false, false) => Color::srgba(0.05, 0.07, 0.10, 0.55),
            (false, true) => Color::srgba(0.20, 0.25, 0.30, 0.90),
        };
        color.set_if_neq(BackgroundColor(wanted));
    }
}
