//! Colors and text style of the panel.

use bevy_egui::egui::{self, Color32, Stroke, Ui};

/// Marks joints posed by hand and callbacks that just fired.
pub(super) const ACCENT: Color32 = Color32::from_rgb(240, 150, 50);

/// X, Y and Z, in the colors of the axes drawn in the view.
pub(super) const AXES: [Color32; 3] = [
    Color32::from_rgb(226, 72, 77),
    Color32::from_rgb(106, 178, 58),
    Color32::from_rgb(76, 140, 250),
];

/// [`ACCENT`] for text and thin lines: darker on a light background.
pub(super) fn accent(visuals: &egui::Visuals) -> Color32 {
    if visuals.dark_mode {
        ACCENT
    } else {
        Color32::from_rgb(176, 84, 0)
    }
}

/// Background of a bar: slightly off the panel's own.
pub(super) fn bar_background(visuals: &egui::Visuals) -> Color32 {
    if visuals.dark_mode {
        visuals.extreme_bg_color
    } else {
        Color32::from_gray(228)
    }
}

/// Spaces the lines out, truncates long text instead of wrapping it, and raises the contrast.
pub(super) fn apply_style(ui: &mut Ui) {
    let style = ui.style_mut();
    style.spacing.item_spacing = egui::vec2(6.0, 4.0);
    style.spacing.interact_size.x = 62.0;
    style.wrap_mode = Some(egui::TextWrapMode::Truncate);
    let visuals = &mut style.visuals;
    let dark = visuals.dark_mode;
    let inactive = &mut visuals.widgets.inactive;
    inactive.fg_stroke.width = 1.5;
    if dark {
        inactive.fg_stroke.color = Color32::from_gray(215);
    } else {
        // egui's light theme is white on near-white: outline the fields, darken rails, stripes and links.
        inactive.fg_stroke.color = Color32::from_gray(40);
        inactive.bg_stroke = Stroke::new(1.0, Color32::from_gray(196));
        inactive.bg_fill = Color32::from_gray(212);
        visuals.faint_bg_color = Color32::from_gray(238);
        visuals.hyperlink_color = Color32::from_rgb(0, 88, 168);
        // The fade at the end of a list is a translucent overlay, which looks like soot on white.
        style.spacing.scroll.fade.strength = 0.0;
    }
    visuals.weak_text_alpha = if dark { 0.85 } else { 0.9 };
    let ink = visuals
        .strong_text_color()
        .gamma_multiply(if dark { 0.85 } else { 1.0 });
    visuals.override_text_color.get_or_insert(ink);
}

/// Renders text heavier in the light theme, where thin dark glyphs look washed out.
///
/// Changes the whole context, so only for one that the panel has to itself.
pub(super) fn thicken_light_text(ctx: &egui::Context) {
    const THICK: egui::epaint::FontColorTransferFunction =
        egui::epaint::FontColorTransferFunction::DARK_MODE_DEFAULT;
    let transfer = |style: &egui::Style| style.visuals.text_options.color_transfer_function;
    if transfer(&ctx.style_of(egui::Theme::Light)) != THICK {
        ctx.style_mut_of(egui::Theme::Light, |style| {
            style.visuals.text_options.color_transfer_function = THICK
        });
    }
}
