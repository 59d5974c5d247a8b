//! The characters in `assets/`, and a row of buttons to choose one.

use super::{
    Covered, Footer, OverlaySystems,
    overlay::{MARGIN, Overlay},
};
use bevy::prelude::*;
use bevy_egui::{
    EguiPrimaryContextPass,
    egui::{self, Align2, Button, Color32, RichText, Sense},
};

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
        Exhibit {
            title: title(name.trim_end_matches(".character.ron")),
            asset,
        }
    };
    let mut found: Vec<Exhibit> = super::manifests().into_iter().map(exhibit).collect();
    found.sort_by(|a, b| a.title.cmp(&b.title));
    found
}

/// Returns "Scout (m3d)" for `scout_m3d`.
fn title(stem: &str) -> String {
    let (name, kind) = stem
        .split_once('_')
        .map_or((stem, None), |(name, kind)| (name, Some(kind)));
    let mut letters = name.chars();
    let name = letters
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .chain(letters)
        .collect::<String>();
    kind.map_or(name.clone(), |kind| {
        format!("{name} ({})", kind.replace('_', " "))
    })
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

impl Plugin for GalleryPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(Exhibits(gallery()))
            .init_resource::<OnShow>()
            .add_message::<Chosen>()
            .add_systems(Update, choose_by_key.run_if(super::has_keys))
            .add_systems(
                EguiPrimaryContextPass,
                show_buttons.in_set(OverlaySystems::Examples),
            );
    }
}

fn choose_by_key(
    keys: Option<Res<ButtonInput<KeyCode>>>,
    exhibits: Res<Exhibits>,
    on_show: Res<OnShow>,
    mut chosen: MessageWriter<Chosen>,
) {
    use KeyCode::{Digit1, Digit2, Digit3, Digit4, Digit5, Digit6, Digit7, Digit8, Digit9};
    let Some(keys) = keys else { return };
    let digits = [
        Digit1, Digit2, Digit3, Digit4, Digit5, Digit6, Digit7, Digit8, Digit9,
    ];
    let digit = digits.iter().position(|&digit| keys.just_pressed(digit));
    let next = keys.just_pressed(KeyCode::KeyG).then(|| {
        let now = exhibits
            .0
            .iter()
            .position(|exhibit| Some(exhibit) == on_show.0.as_ref());
        now.map_or(0, |now| now + 1) % exhibits.0.len().max(1)
    });
    let choice = digit.or(next).and_then(|index| exhibits.0.get(index));
    if let Some(exhibit) = choice {
        chosen.write(Chosen(exhibit.clone()));
    }
}

fn show_buttons(
    mut overlay: Overlay,
    exhibits: Res<Exhibits>,
    on_show: Res<OnShow>,
    covered: Res<Covered>,
    mut footer: ResMut<Footer>,
    mut chosen: MessageWriter<Chosen>,
) {
    let Some(context) = overlay.context() else {
        return;
    };
    let width = context.viewport_rect().width() - covered.right - 2.0 * MARGIN.x;
    let above = footer.0 + 8.0;
    let area =
        egui::Area::new("gallery".into()).anchor(Align2::LEFT_BOTTOM, egui::vec2(MARGIN.x, -above));
    let row = area.constrain(false).show(&context, |ui| {
        ui.set_max_width(width);
        let style = ui.style_mut();
        (style.spacing.button_padding, style.spacing.item_spacing) =
            (egui::vec2(12.0, 5.0), egui::vec2(8.0, 6.0));
        ui.horizontal_wrapped(|ui| {
            for (index, exhibit) in exhibits.0.iter().enumerate() {
                let is_shown = on_show.0.as_ref() == Some(exhibit);
                let label = if index < 9 {
                    format!("{}  {}", index + 1, exhibit.title)
                } else {
                    exhibit.title.clone()
                };
                let fill = if is_shown {
                    Color32::from_rgb(41, 115, 102)
                } else {
                    Color32::from_black_alpha(140)
                };
                let label = RichText::new(label).size(15.0).color(Color32::WHITE);
                // Tab is for the inspector's controls.
                let button = Button::new(label)
                    .fill(fill)
                    .corner_radius(6)
                    .sense(Sense::CLICK);
                if ui.add(button).clicked() {
                    chosen.write(Chosen(exhibit.clone()));
                }
            }
        });
    });
    footer.0 = above + row.response.rect.height();
}
