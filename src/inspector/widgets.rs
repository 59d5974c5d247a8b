//! Table cells, numbers and transforms, formatted the same way everywhere in the panel.

use super::style::AXES;
use crate::model::JointTransform;
use bevy_egui::egui::{self, RichText, Ui, emath::Numeric};
use glam::{EulerRot, Quat, Vec3};
use std::{borrow::Cow, ops::RangeInclusive};

/// A table whose columns fit their contents.
pub(super) fn grid(id: &str, columns: usize) -> egui::Grid {
    egui::Grid::new(id)
        .num_columns(columns)
        .spacing([10.0, 3.0])
        .min_col_width(20.0)
}

/// A slider that leaves a value as it is until somebody moves it. egui's own clamps and rounds what it merely shows.
pub(super) fn slider<N: Numeric>(value: &mut N, range: RangeInclusive<N>) -> egui::Slider<'_> {
    egui::Slider::new(value, range).clamping(egui::SliderClamping::Edits)
}

/// A cell that is never truncated.
pub(super) fn cell(ui: &mut Ui, text: impl Into<egui::WidgetText>) {
    ui.add(egui::Label::new(text).extend());
}

/// A right-aligned cell. Doesn't work in a grid's last column, which has no right edge.
pub(super) fn right_cell(ui: &mut Ui, text: impl Into<egui::WidgetText>) {
    ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
        cell(ui, text)
    });
}

/// A cell with a name, truncated to `letters`; hovering shows all of it.
pub(super) fn name_cell(ui: &mut Ui, name: &str, letters: usize) {
    match shortened(name, letters) {
        Cow::Borrowed(name) => cell(ui, name),
        Cow::Owned(start) => {
            ui.add(egui::Label::new(start).extend()).on_hover_text(name);
        }
    }
}

/// Returns `name`, truncated to `letters` with an ellipsis.
pub(super) fn shortened(name: &str, letters: usize) -> Cow<'_, str> {
    if name.chars().count() <= letters {
        return name.into();
    }
    let start: String = name.chars().take(letters.saturating_sub(1)).collect();
    format!("{start}…").into()
}

/// Converts a rotation to Euler angles in degrees: `R = Rx · Ry · Rz`.
pub(super) fn degrees(rotation: Quat) -> [f32; 3] {
    let (x, y, z) = rotation.to_euler(EulerRot::XYZ);
    // Adding 0 turns −0 into 0.
    [x, y, z].map(|angle| angle.to_degrees() + 0.0)
}

/// Inverse of [`degrees`].
pub(super) fn rotation(degrees: [f32; 3]) -> Quat {
    let [x, y, z] = degrees.map(f32::to_radians);
    Quat::from_euler(EulerRot::XYZ, x, y, z)
}

/// Euler angles being edited.
///
/// Many angles describe the same rotation, and converting back would jump between them. So the angles are kept as
/// typed for as long as the rotation matches.
#[derive(Default)]
pub(super) struct EulerEdit {
    of: Option<usize>,
    degrees: [f32; 3],
}

impl EulerEdit {
    /// Returns the angles of joint `of`, whose rotation is now `to`.
    pub(super) fn angles(&mut self, of: usize, to: Quat) -> &mut [f32; 3] {
        // The sine of half the angle between the two: more precise than their dot product.
        let apart = (rotation(self.degrees).inverse() * to).xyz().length();
        if self.of != Some(of) || apart > 1e-4 {
            self.degrees = degrees(to);
        }
        self.of = Some(of);
        &mut self.degrees
    }

    /// Returns the rotation of the angles as edited.
    pub(super) fn rotation(&self) -> Quat {
        rotation(self.degrees)
    }
}

/// A row of a two-column grid: a label, and numbers of fixed width.
pub(super) fn row(
    ui: &mut Ui,
    label: &str,
    values: impl IntoIterator<Item = f32>,
    decimals: usize,
) {
    cell(ui, RichText::new(label).weak());
    ui.horizontal(|ui| {
        for value in values {
            cell(
                ui,
                RichText::new(format!("{:>9}", plain(value.into(), decimals))).monospace(),
            );
        }
    });
    ui.end_row();
}

/// Shows translation, rotation (as Euler angles and quaternion) and scale.
pub(super) fn transform(ui: &mut Ui, id: &str, transform: &JointTransform) {
    grid(id, 2).show(ui, |ui| {
        row(ui, "translation", transform.translation.to_array(), 4);
        row(ui, "rotation °", degrees(transform.rotation), 2);
        row(ui, "quaternion", transform.rotation.to_array(), 4);
        row(ui, "scale", transform.scale.to_array(), 4);
    });
}

/// Shows three draggable numbers; returns `true` if one changed.
pub(super) fn drag3(
    ui: &mut Ui,
    values: &mut [f32; 3],
    speed: f64,
    suffix: &'static str,
    decimals: usize,
) -> bool {
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
            let stripe =
                egui::Rect::from_min_size(field.rect.min, egui::vec2(3.0, field.rect.height()));
            ui.painter().rect_filled(
                stripe,
                egui::CornerRadius {
                    nw: 2,
                    sw: 2,
                    ne: 0,
                    se: 0,
                },
                color,
            );
        }
    });
    changed && values.iter().all(|value| value.is_finite())
}

/// Formats a number with fixed decimals, and 0 without a sign.
fn plain(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| matches!(c, '0' | '.')) => rest.to_owned(),
        _ => text,
    }
}

/// [`drag3`] for a vector.
pub(super) fn drag_vec(ui: &mut Ui, vector: &mut Vec3, speed: f64, decimals: usize) -> bool {
    let mut values = vector.to_array();
    let changed = drag3(ui, &mut values, speed, "", decimals);
    if changed {
        *vector = Vec3::from_array(values);
    }
    changed
}

/// Formats a number with thousands separators.
pub(super) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
#[path = "tests/widgets.rs"]
mod tests;
