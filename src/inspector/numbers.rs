//! How numbers and rows look, the same everywhere in the panel.

use crate::model::JointTransform;
use bevy_egui::egui::{self, RichText, Ui};
use glam::{EulerRot, Quat, Vec3};
use std::borrow::Cow;

/// The accent for what is chosen by hand or fires just now.
pub(super) const ACCENT: egui::Color32 = egui::Color32::from_rgb(240, 150, 50);

/// The accent for text and thin lines: darker where the ground is light.
pub(super) fn accent(visuals: &egui::Visuals) -> egui::Color32 {
    if visuals.dark_mode { ACCENT } else { egui::Color32::from_rgb(176, 84, 0) }
}

/// x, y and z, as their arrows in the view.
const AXES: [egui::Color32; 3] = [
    egui::Color32::from_rgb(226, 72, 77),
    egui::Color32::from_rgb(106, 178, 58),
    egui::Color32::from_rgb(76, 140, 250),
];

/// The ground of a bar: a shade off the panel's.
pub(super) fn rail(visuals: &egui::Visuals) -> egui::Color32 {
    if visuals.dark_mode { visuals.extreme_bg_color } else { egui::Color32::from_gray(228) }
}

/// Room between the lines, and long words cut instead of wrapped.
pub(super) fn calm(ui: &mut Ui) {
    let style = ui.style_mut();
    style.spacing.item_spacing = egui::vec2(6.0, 4.0);
    style.spacing.interact_size.x = 62.0;
    style.wrap_mode = Some(egui::TextWrapMode::Truncate);
    let visuals = &mut style.visuals;
    visuals.widgets.inactive.fg_stroke.width = 1.5;
    if visuals.dark_mode {
        visuals.widgets.inactive.fg_stroke.color = egui::Color32::from_gray(215);
    } else {
        // White on nearly white is egui's light theme: fields get an outline, rails, stripes and links more ink.
        let inactive = &mut visuals.widgets.inactive;
        inactive.fg_stroke.color = egui::Color32::from_gray(40);
        inactive.bg_stroke = egui::Stroke::new(1.0, egui::Color32::from_gray(196));
        inactive.bg_fill = egui::Color32::from_gray(212);
        visuals.faint_bg_color = egui::Color32::from_gray(238);
        visuals.hyperlink_color = egui::Color32::from_rgb(0, 88, 168);
        // Where lists go on is painted in a translucent colour, which comes out as soot.
        style.spacing.scroll.fade.strength = 0.0;
    }
    // Labels are there to be read.
    let dark = style.visuals.dark_mode;
    style.visuals.weak_text_alpha = if dark { 0.85 } else { 0.9 };
    // Thin dark letters on a light ground want all the ink there is.
    let ink = style.visuals.strong_text_color().gamma_multiply(if dark { 0.85 } else { 1.0 });
    style.visuals.override_text_color.get_or_insert(ink);
}

/// Thicker letters in the light theme of a context that nobody else uses: blended as light is, thin dark ones fade.
pub(super) fn thicken(ctx: &egui::Context) {
    const INK: egui::epaint::FontColorTransferFunction = egui::epaint::FontColorTransferFunction::DARK_MODE_DEFAULT;
    let ink = |style: &egui::Style| style.visuals.text_options.color_transfer_function;
    if ink(&ctx.style_of(egui::Theme::Light)) != INK {
        ctx.style_mut_of(egui::Theme::Light, |style| style.visuals.text_options.color_transfer_function = INK);
    }
}

/// A table whose columns are as wide as what stands in them.
pub(super) fn grid(id: &str, columns: usize) -> egui::Grid {
    egui::Grid::new(id).num_columns(columns).spacing([10.0, 3.0]).min_col_width(20.0)
}

/// A cell that is never cut.
pub(super) fn cell(ui: &mut Ui, text: impl Into<egui::WidgetText>) {
    ui.add(egui::Label::new(text).extend());
}

/// A number in a table, in line with those above it on its right; not for a grid's last column, which has no end.
pub(super) fn right_cell(ui: &mut Ui, text: impl Into<egui::WidgetText>) {
    ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| cell(ui, text));
}

/// A name that may be of any length, cut after `letters` and whole under the pointer.
pub(super) fn name_cell(ui: &mut Ui, name: &str, letters: usize) {
    match shortened(name, letters) {
        Cow::Borrowed(name) => cell(ui, name),
        Cow::Owned(start) => {
            ui.add(egui::Label::new(start).extend()).on_hover_text(name);
        }
    }
}

/// A name, or its start if it is longer than so many letters.
pub(super) fn shortened(name: &str, letters: usize) -> Cow<'_, str> {
    if name.chars().count() <= letters {
        return name.into();
    }
    let start: String = name.chars().take(letters.saturating_sub(1)).collect();
    format!("{start}…").into()
}

/// Rotation about x, y and z in degrees: `R = Rx · Ry · Rz`.
pub(super) fn degrees(rotation: Quat) -> [f32; 3] {
    let (x, y, z) = rotation.to_euler(EulerRot::XYZ);
    // Adding 0 turns −0 into 0.
    [x, y, z].map(|angle| angle.to_degrees() + 0.0)
}

/// The rotation of [`degrees`].
pub(super) fn rotation(degrees: [f32; 3]) -> Quat {
    let [x, y, z] = degrees.map(f32::to_radians);
    Quat::from_euler(EulerRot::XYZ, x, y, z)
}

/// Euler angles being edited: kept as typed while they still say the same rotation, for a rotation has
/// many and conversion would jump between them.
#[derive(Default)]
pub(super) struct EulerEdit {
    of: Option<usize>,
    degrees: [f32; 3],
}

impl EulerEdit {
    /// The angles of joint `of`, whose rotation is now `to`.
    pub(super) fn angles(&mut self, of: usize, to: Quat) -> &mut [f32; 3] {
        // The sine of half the angle between them: finer than their dot product.
        let apart = (rotation(self.degrees).inverse() * to).xyz().length();
        if self.of != Some(of) || apart > 1e-4 {
            self.degrees = degrees(to);
        }
        self.of = Some(of);
        &mut self.degrees
    }

    /// The rotation of the angles as they were left.
    pub(super) fn rotation(&self) -> Quat {
        rotation(self.degrees)
    }
}

/// A row of a two-column grid: a label, and numbers of fixed width in line with those above.
pub(super) fn row(ui: &mut Ui, label: &str, values: impl IntoIterator<Item = f32>, decimals: usize) {
    cell(ui, RichText::new(label).weak());
    ui.horizontal(|ui| {
        for value in values {
            // Adding 0 turns −0 into 0; rounding first keeps "-0.00" away.
            let scale = 10f32.powi(decimals as i32);
            let value = (value * scale).round() / scale + 0.0;
            cell(ui, RichText::new(format!("{value:>9.decimals$}")).monospace());
        }
    });
    ui.end_row();
}

/// Translation, rotation as Euler angles and quaternion, and scale.
pub(super) fn transform(ui: &mut Ui, id: &str, transform: &JointTransform) {
    grid(id, 2).show(ui, |ui| {
        row(ui, "translation", transform.translation.to_array(), 4);
        row(ui, "rotation °", degrees(transform.rotation), 2);
        row(ui, "quaternion", transform.rotation.to_array(), 4);
        row(ui, "scale", transform.scale.to_array(), 4);
    });
}

/// Three numbers to drag; whether one of them changed.
pub(super) fn drag3(ui: &mut Ui, values: &mut [f32; 3], speed: f64, suffix: &'static str, decimals: usize) -> bool {
    let mut changed = false;
    ui.horizontal(|ui| {
        for ((value, axis), color) in values.iter_mut().zip(["x ", "y ", "z "]).zip(AXES) {
            let drag = egui::DragValue::new(value)
                .speed(speed)
                .prefix(axis)
                .suffix(suffix)
                .custom_formatter(|value, _| plain(value, decimals));
            let field = ui.add_sized([84.0, 20.0], drag);
            changed |= field.changed();
            // The colour of the axis in the view.
            let stripe = egui::Rect::from_min_size(field.rect.min, egui::vec2(3.0, field.rect.height()));
            ui.painter().rect_filled(stripe, egui::CornerRadius { nw: 2, sw: 2, ne: 0, se: 0 }, color);
        }
    });
    changed && values.iter().all(|value| value.is_finite())
}

/// A number with fixed decimals, and no sign where they are all 0.
fn plain(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| matches!(c, '0' | '.')) => rest.to_owned(),
        _ => text,
    }
}

/// As [`drag3`], for a vector.
pub(super) fn drag_vec(ui: &mut Ui, vector: &mut Vec3, speed: f64, decimals: usize) -> bool {
    let mut values = vector.to_array();
    let changed = drag3(ui, &mut values, speed, "", decimals);
    if changed {
        *vector = Vec3::from_array(values);
    }
    changed
}

/// A number with its thousands apart.
pub(super) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_are_kept_as_typed_past_the_pole() {
        let mut edit = EulerEdit::default();
        edit.angles(3, Quat::IDENTITY)[1] = 135.0;
        let turned = edit.rotation();
        // A conversion would say (180, 45, 180).
        assert_eq!(*edit.angles(3, turned), [0.0, 135.0, 0.0]);
        assert_eq!(*edit.angles(3, -turned), [0.0, 135.0, 0.0], "the other quaternion of the same rotation");
        let other = edit.angles(4, turned);
        assert!((rotation(*other).dot(turned)).abs() > 1.0 - 1e-6, "another joint starts from its rotation");
        let followed = edit.angles(4, Quat::from_rotation_x(0.5))[0];
        assert!((followed - 0.5f32.to_degrees()).abs() < 1e-2, "what plays is followed");
    }

    #[test]
    fn euler_angles_come_back() {
        for angles in [[10.0, 20.0, 30.0], [-170.0, 80.0, 5.0], [0.0, 0.0, -90.0]] {
            let back = degrees(rotation(angles));
            assert!(angles.iter().zip(back).all(|(a, b)| (a - b).abs() < 1e-2), "{angles:?} {back:?}");
        }
    }

    #[test]
    fn what_rounds_to_zero_has_no_sign() {
        assert_eq!([-1e-9, -0.25, 3.0].map(|value| plain(value, 2)), ["0.00", "-0.25", "3.00"]);
    }

    #[test]
    fn thousands_stand_apart() {
        assert_eq!([7, 999, 1000, 1234567].map(grouped), ["7", "999", "1 000", "1 234 567"]);
    }
}
