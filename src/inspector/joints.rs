//! The Joints tab: the joint tree, and the transforms of the selected joint.

use super::{
    folds::Folds,
    influences::Influences,
    inspected::InspectedItem,
    keyboard::{self, FollowFocus},
    mirror, override_edit,
    style::accent,
    tab::{Tab, TabContext},
    tree::{self, Row},
    vertex::{self, PartVertex},
    widgets::{self, EulerEdit},
};
use crate::{
    asset::Character,
    character::PoseOverrides,
    model::{JointIndex, JointTransform, Skeleton},
};
use bevy::prelude::*;
use bevy_egui::egui::{self, RichText, Ui};
use std::collections::BTreeSet;

#[derive(Default)]
pub(super) struct JointsTab {
    selected: Option<JointIndex>,
    search: String,
    pub(super) folded: BTreeSet<JointIndex>,
    pub(super) hide_control: bool,
    /// The vertex of this character that was clicked.
    clicked: Option<PartVertex>,
    euler: EulerEdit,
    influences: Option<Influences>,
    /// The joint last scrolled to or clicked in the tree.
    revealed: Option<JointIndex>,
    /// The joint whose row gets the focus when it is shown.
    focused: Option<JointIndex>,
}

impl Tab for JointsTab {
    fn show(&mut self, ui: &mut Ui, context: &mut TabContext) {
        self.clicked = context.clicked;
        let TabContext {
            item,
            character,
            meshes,
            folds,
            joint,
            commands,
            ..
        } = context;
        let hovered = show(ui, self, folds, joint, character, *meshes, item, commands);
        context.highlight = hovered.or(context.joint);
    }
}

/// Shows the tab; returns the hovered joint.
fn show(
    ui: &mut Ui,
    state: &mut JointsTab,
    folds: &mut Folds,
    selected: &mut Option<JointIndex>,
    character: &Character,
    meshes: Option<&Assets<Mesh>>,
    item: &mut InspectedItem,
    commands: &mut Commands,
) -> Option<JointIndex> {
    let skeleton = &character.skeleton;
    state.selected = selected.filter(|&joint| usize::from(joint) < skeleton.len());
    // Edited in a copy, and compared in the end, so that change detection only sees real changes.
    let mut overrides = item
        .overrides
        .as_ref()
        .map_or_else(Vec::new, |overrides| overrides.0.clone());
    ui.horizontal(|ui| {
        ui.add(
            egui::TextEdit::singleline(&mut state.search)
                .hint_text("search joints")
                .desired_width(150.0),
        );
        if !state.search.is_empty() && ui.button("clear").clicked() {
            state.search.clear();
            // What was found is shown among the others.
            state.revealed = None;
        }
        if ui
            .button("fold")
            .on_hover_text("Fold all branches")
            .clicked()
        {
            state.folded = skeleton.parents().iter().flatten().copied().collect();
        }
        if ui.button("unfold").clicked() {
            state.folded.clear();
        }
        ui.weak(format!("{} joints", skeleton.len()));
    });
    let control = skeleton.control_joints().len();
    if control > 0 {
        let mut shown = !state.hide_control;
        ui.checkbox(&mut shown, format!("control joints ({control})"));
        state.hide_control = !shown;
    }
    // The selection may come from a click in the view. Then the tree must scroll to it.
    let reveal = state.selected.filter(|_| state.revealed != state.selected);
    state.revealed = state.selected;
    if let Some(joint) = reveal {
        reveal_joint(state, skeleton, joint);
    }
    let rows = tree::rows(skeleton, &state.folded, &state.search, state.hide_control);
    let height = ui.text_style_height(&egui::TextStyle::Body) + 4.0;
    let room = (ui.available_height() * 0.36).max(4.0 * height);
    let mut hovered = None;
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        let mut area = egui::ScrollArea::vertical()
            .id_salt("joints")
            .max_height(room)
            .auto_shrink([false, false]);
        // A little above the middle, so that some children are in view.
        if let Some(row) = rows.iter().position(|row| Some(row.joint) == reveal) {
            area = area.vertical_scroll_offset((row as f32 * height - 0.4 * room).max(0.0));
        }
        area.show_rows(ui, height, rows.len(), |ui, range| {
            for at in range {
                let row = &rows[at];
                let posed = overrides.iter().any(|change| change.joint == row.joint);
                let response = tree_row(ui, state, character, row, height, posed);
                if response.hovered() {
                    hovered = Some(row.joint);
                }
                if let Some(by) = keyboard::arrows(ui, &response) {
                    walk(state, &rows, at, by);
                }
            }
        });
        if rows.is_empty() {
            ui.weak("No joint matches.");
        }
    });
    ui.separator();
    egui::ScrollArea::vertical()
        .id_salt("joint")
        .auto_shrink([false, false])
        .follow(ui, |ui| {
            if let (Some(clicked), Some(meshes)) = (state.clicked, meshes) {
                vertex::show(ui, clicked, &mut state.selected, character, meshes);
            }
            let Some(joint) = state.selected else {
                ui.weak("Select a joint.");
                return;
            };
            // Counting goes through all vertices, so it is done once per version of the character.
            if !state
                .influences
                .as_ref()
                .is_some_and(|influences| influences.is_current(character))
            {
                state.influences = Some(Influences::count(character, meshes));
            }
            heading(ui, state, character, joint);
            let at = usize::from(joint);
            let local = local_of(character, item.joints(), joint);
            ui.add_space(4.0);
            folds.section(ui, "Pose override", true, |ui| {
                override_edit::show(ui, &mut state.euler, skeleton, joint, local, &mut overrides);
            });
            folds.section(ui, "Local", true, |ui| {
                widgets::transform(ui, "local", &local)
            });
            if let Some(model) = item.joints().get(at) {
                folds.section(ui, "Model", false, |ui| {
                    widgets::transform(ui, "model", &JointTransform::from_affine(*model))
                });
            }
            folds.section(ui, "Rest", false, |ui| {
                widgets::transform(ui, "rest", &skeleton.rest_of(joint))
            });
            let inverse = skeleton.inverse_bind()[at];
            folds.section(ui, "Bind (model space)", false, |ui| {
                let bind = JointTransform::from_affine(inverse.inverse());
                if bind.is_finite() {
                    widgets::transform(ui, "bind", &bind);
                } else {
                    ui.weak("The inverse bind matrix is singular.");
                }
            });
            folds.section(ui, "Inverse bind", false, |ui| {
                widgets::grid("inverse", 2).show(ui, |ui| {
                    for (row, name) in ["row 1", "row 2", "row 3"].into_iter().enumerate() {
                        let columns = [
                            inverse.x_axis,
                            inverse.y_axis,
                            inverse.z_axis,
                            inverse.w_axis,
                        ];
                        widgets::row(ui, name, columns.map(|column| column[row]), 4);
                    }
                });
            });
        });
    *selected = state.selected;
    match &mut item.overrides {
        Some(present) if present.0 != overrides => present.0 = overrides,
        None if !overrides.is_empty() => {
            commands
                .entity(item.entity)
                .insert(PoseOverrides(overrides));
        }
        _ => {}
    }
    hovered
}

/// Unfolds a joint's ancestors, shows control joints if it is one, and clears a search that hides it.
fn reveal_joint(state: &mut JointsTab, skeleton: &Skeleton, joint: JointIndex) {
    let mut above = skeleton.parents()[usize::from(joint)];
    while let Some(joint) = above {
        state.folded.remove(&joint);
        above = skeleton.parents()[usize::from(joint)];
    }
    state.hide_control &= !skeleton.is_control(joint);
    if !tree::rows(skeleton, &state.folded, &state.search, state.hide_control)
        .iter()
        .any(|row| row.joint == joint)
    {
        state.search.clear();
    }
}

/// Returns a joint's current transform relative to its parent.
pub(super) fn local_of(
    character: &Character,
    posed: &[glam::Affine3A],
    joint: JointIndex,
) -> JointTransform {
    let skeleton = &character.skeleton;
    // After a reload, the pose may still be that of the asset before.
    let Some(model) = posed
        .get(usize::from(joint))
        .filter(|_| posed.len() == skeleton.len())
    else {
        return skeleton.rest_of(joint);
    };
    let local = match skeleton.parents()[usize::from(joint)] {
        Some(parent) => JointTransform::from_affine(posed[usize::from(parent)].inverse() * *model),
        None => JointTransform::from_affine(*model),
    };
    // The parent's scale may be zero.
    if local.is_finite() {
        local
    } else {
        skeleton.rest_of(joint)
    }
}

/// Walks through the tree: up and down to other rows, to the right and left to unfold and fold, or to children and parents.
fn walk(state: &mut JointsTab, rows: &[Row], at: usize, [right, down]: [i32; 2]) {
    let row = rows[at];
    let is_open = row.has_children && !state.folded.contains(&row.joint);
    let to = match (right, is_open) {
        (0, _) => keyboard::stepped(at, down, rows.len()),
        (1.., false) => {
            state.folded.remove(&row.joint);
            at
        }
        (1.., true) => at + 1,
        (_, true) => {
            state.folded.insert(row.joint);
            at
        }
        (_, false) => rows[..at]
            .iter()
            .rposition(|above| above.depth < row.depth)
            .unwrap_or(at),
    };
    let to = rows.get(to).unwrap_or(&row).joint;
    (state.selected, state.focused) = (Some(to), Some(to));
}

/// Shows a row of the tree.
fn tree_row(
    ui: &mut Ui,
    state: &mut JointsTab,
    character: &Character,
    row: &Row,
    height: f32,
    posed: bool,
) -> egui::Response {
    let name = character.skeleton.name(row.joint);
    let width = ui.available_width();
    let (rect, response) = ui.allocate_exact_size(egui::vec2(width, height), egui::Sense::click());
    let selected = state.selected == Some(row.joint);
    let visuals = ui.visuals();
    if selected {
        ui.painter()
            .rect_filled(rect, 3.0, visuals.selection.bg_fill);
    } else if response.hovered() {
        ui.painter()
            .rect_filled(rect, 3.0, visuals.widgets.hovered.weak_bg_fill);
    }
    let left = rect.left() + 4.0 + 12.0 * f32::from(row.depth.min(24));
    let icon = egui::Rect::from_center_size(
        egui::pos2(left + 6.0, rect.center().y),
        egui::vec2(10.0, 10.0),
    );
    if row.has_children {
        let fold = ui.interact(
            icon.expand(3.0),
            ui.id().with(("fold", row.joint)),
            egui::Sense::click(),
        );
        // A search shows all matches, so branches count as open.
        let open = !state.folded.contains(&row.joint) || !state.search.is_empty();
        let mut within = fold.clone();
        within.rect = icon;
        egui::collapsing_header::paint_default_icon(ui, if open { 1.0 } else { 0.0 }, &within);
        if fold.clicked() && !state.folded.remove(&row.joint) {
            state.folded.insert(row.joint);
        }
    }
    let visuals = ui.visuals();
    let is_dim = row.is_path || character.skeleton.is_control(row.joint);
    let color = match (selected, is_dim) {
        (true, _) => visuals.selection.stroke.color,
        (false, true) => visuals.weak_text_color(),
        (false, false) => visuals.text_color(),
    };
    let font = egui::TextStyle::Body.resolve(ui.style());
    let from = egui::pos2(left + 16.0, rect.center().y);
    ui.painter()
        .with_clip_rect(rect)
        .text(from, egui::Align2::LEFT_CENTER, name, font, color);
    if posed {
        ui.painter().circle_filled(
            egui::pos2(rect.right() - 14.0, rect.center().y),
            3.5,
            accent(ui.visuals()),
        );
    }
    if response.clicked() {
        state.selected = if selected { None } else { Some(row.joint) };
        // The row that was clicked is in view, so the tree stays where it is.
        state.revealed = state.selected;
    }
    // Only a row that is shown can take the focus, and one that was scrolled to is shown from this frame
    // on.
    if state.focused == Some(row.joint) {
        state.focused = None;
        response.request_focus();
    }
    response
}

/// Shows a joint's name, parent, counterpart and the vertices it deforms.
fn heading(ui: &mut Ui, state: &mut JointsTab, character: &Character, joint: JointIndex) {
    let skeleton = &character.skeleton;
    let name = |joint: JointIndex| &**skeleton.name(joint);
    ui.horizontal(|ui| {
        ui.label(RichText::new(name(joint)).strong().size(15.0));
        ui.weak(format!("#{joint}"));
        if skeleton.is_control(joint) {
            ui.weak("control joint");
        }
    });
    ui.horizontal(|ui| {
        ui.weak("parent");
        match skeleton.parents()[usize::from(joint)] {
            Some(parent) if ui.link(name(parent)).clicked() => state.selected = Some(parent),
            Some(_) => {}
            None => {
                ui.label("none");
            }
        }
        if let Some(other) = mirror::mirror_joint(skeleton, joint) {
            ui.weak("mirror");
            if ui.link(name(other)).clicked() {
                state.selected = Some(other);
            }
        }
    });
    let Some(influences) = &state.influences else {
        return;
    };
    let text = influences.describe(character, joint);
    ui.add(egui::Label::new(RichText::new(text).weak()).wrap());
}
