//! The Cost tab: sizes of a character, and how long its pose takes to evaluate.

use super::{
    explain,
    inspected::InspectedReadOnlyItem,
    tab::{Tab, TabContext},
    widgets::{self, cell, grouped, name_cell, right_cell},
};
use crate::{
    asset::{Character, CharacterPart},
    character::PoseCounts,
    controller::AnimationController,
    pose::{Evaluate, JointOverride, Mask, Scratch},
};
use bevy::{camera::visibility::ViewVisibility, prelude::*};
use bevy_egui::egui::{self, RichText, Ui};
use std::{collections::HashSet, time::Instant};

#[derive(Default)]
pub(super) struct CostTab {
    scratch: Scratch,
    measured: Option<Entity>,
    /// Microseconds per evaluation of that character, smoothed over about 30 frames.
    micros: f64,
    /// Index of the next character in view to measure, and the smoothed time of all of them.
    turn: usize,
    mean: f64,
    totals: Totals,
}

/// All characters of the app, as they were counted in this frame.
#[derive(Default)]
struct Totals {
    characters: Count,
    parts: Count,
    palette_bytes: Count,
    assets: usize,
}

impl Tab for CostTab {
    fn show(&mut self, ui: &mut Ui, context: &mut TabContext) {
        self.show_one(ui, context);
        ui.separator();
        self.show_all(ui, context.poses);
    }
}

/// Returns the size of a character's palettes in the skin buffer: a matrix per joint and combined joint of each part.
fn palette_bytes(character: &Character) -> usize {
    character
        .parts
        .iter()
        .map(|part| part.palette_len() * size_of::<Mat4>())
        .sum()
}

/// Returns the number of joints of a part, such as `32`, or `32 + 8` with combined joints.
pub(super) fn joint_count(part: &CharacterPart) -> String {
    let joints = grouped(part.palette.len());
    if part.combined_joints.is_empty() {
        joints
    } else {
        format!("{joints} + {}", grouped(part.combined_joints.len()))
    }
}

impl CostTab {
    fn show_one(&mut self, ui: &mut Ui, context: &TabContext) {
        let (character, item) = (context.character, &context.item);
        // The smoothed time of another character would take half a second to fade.
        if self.measured != Some(item.entity) {
            (self.measured, self.micros) = (Some(item.entity), 0.0);
        }
        let overrides = item
            .overrides
            .as_ref()
            .map_or(&[][..], |overrides| &overrides.0);
        let micros = measure(&mut self.scratch, character, &item.controller, overrides);
        // The first measurement is the mean so far.
        self.micros = if self.micros == 0.0 {
            micros
        } else {
            self.micros + (micros - self.micros) / 30.0
        };
        ui.strong("This character");
        widgets::grid("cost", 2).show(ui, |ui| {
            fact(ui, "joints", grouped(character.skeleton.len()));
            fact(ui, "clips", grouped(character.clips.len()));
            fact(
                ui,
                "active layers",
                grouped(item.controller.layers(character).count()),
            );
            fact(
                ui,
                "palettes",
                format!("{} bytes", grouped(palette_bytes(character))),
            );
            fact(ui, "evaluation", format!("{:.1} µs", self.micros));
        });
        ui.add_space(4.0);
        widgets::grid("parts", 5).striped(true).show(ui, |ui| {
            cell(ui, RichText::new("part").weak());
            for title in ["vertices", "triangles", "joints"] {
                right_cell(ui, RichText::new(title).weak());
            }
            cell(ui, RichText::new("in view").weak());
            ui.end_row();
            for (at, part) in character.parts.iter().enumerate() {
                name_cell(ui, &part.name, 20);
                // A mesh that lives only on the GPU can't be counted.
                let mesh = context.meshes.and_then(|meshes| meshes.get(&part.mesh));
                let mesh = mesh.filter(|mesh| mesh.try_attribute(Mesh::ATTRIBUTE_POSITION).is_ok());
                right_cell(
                    ui,
                    RichText::new(mesh.map_or("?".into(), |mesh| grouped(mesh.count_vertices())))
                        .monospace(),
                );
                let indices = mesh.and_then(|mesh| mesh.try_indices().ok());
                right_cell(
                    ui,
                    RichText::new(indices.map_or("?".into(), |indices| grouped(indices.len() / 3)))
                        .monospace(),
                );
                right_cell(ui, RichText::new(joint_count(part)).monospace());
                let entity = item.parts.entities.get(at);
                let visible = entity
                    .and_then(|&part| context.visible.get(part).ok())
                    .is_some_and(|visible| visible.get());
                ui.label(if visible { "yes" } else { "no" });
                ui.end_row();
            }
        });
    }

    /// Counts all characters, and measures one of those in view.
    pub(super) fn survey<'q, 's>(
        &mut self,
        assets: &Assets<Character>,
        visible: &Query<&ViewVisibility>,
        all: impl Iterator<Item = InspectedReadOnlyItem<'q, 's>>,
    ) {
        let mut totals = Totals::default();
        let mut used = HashSet::new();
        for item in all {
            let in_view =
                |&&part: &&Entity| visible.get(part).is_ok_and(|visibility| visibility.get());
            let shown = item.parts.entities.iter().filter(in_view).count();
            if shown > 0 && totals.characters.visible == self.turn {
                // One per frame: measuring all would double their cost.
                if let Some(character) = assets.get(item.handle.id()) {
                    let overrides = item.overrides.map_or(&[][..], |overrides| &overrides.0);
                    let micros = measure(&mut self.scratch, character, item.controller, overrides);
                    self.mean = if self.mean == 0.0 {
                        micros
                    } else {
                        self.mean + (micros - self.mean) / 60.0
                    };
                }
            }
            totals.characters.add(1, usize::from(shown > 0));
            totals.parts.add(item.parts.entities.len(), shown);
            if let Some(character) = assets.get(item.handle.id()) {
                used.insert(item.handle.id());
                let palettes = palette_bytes(character);
                totals
                    .palette_bytes
                    .add(palettes, if shown > 0 { palettes } else { 0 });
            }
        }
        self.turn = (self.turn + 1) % totals.characters.visible.max(1);
        totals.assets = used.len();
        self.totals = totals;
    }

    fn show_all(&self, ui: &mut Ui, counts: PoseCounts) {
        let totals = &self.totals;
        ui.strong("All characters");
        widgets::grid("total cost", 5).show(ui, |ui| {
            cell(ui, "");
            for title in ["in view", "culled", "total"] {
                right_cell(ui, RichText::new(title).weak());
            }
            ui.end_row();
            for (title, count) in [
                ("characters", totals.characters),
                ("parts", totals.parts),
                ("palette bytes", totals.palette_bytes),
            ] {
                cell(ui, RichText::new(title).weak());
                for number in [count.visible, count.total - count.visible, count.total] {
                    right_cell(ui, RichText::new(grouped(number)).monospace());
                }
                ui.end_row();
            }
        });
        ui.add_space(4.0);
        widgets::grid("sums", 2)
            .show(ui, |ui| {
                let each = totals.characters.total as f64 / totals.assets.max(1) as f64;
                fact(
                    ui,
                    "assets",
                    format!("{} ({each:.1} characters each)", grouped(totals.assets)),
                );
                // Estimated from the mean, since only one character is measured per frame.
                let sum = self.mean * counts.evaluated as f64;
                fact(
                    ui,
                    "evaluation",
                    format!("{} on one thread, {:.1} µs each", duration(sum), self.mean),
                );
            })
            .response
            .on_hover_text("Measured by repeating one evaluation per frame");
        poses(ui, counts);
    }
}

/// Shows the number of poses that were computed in this frame, by kind.
fn poses(
    ui: &mut Ui,
    PoseCounts {
        evaluated,
        shared,
        held,
        ..
    }: PoseCounts,
) {
    ui.add_space(4.0);
    ui.strong("Poses this frame");
    widgets::grid("poses", 3).show(ui, |ui| {
        for (title, count, hint) in [
            (
                "evaluated",
                evaluated,
                "Computed from the clips; unchanged poses are reused",
            ),
            (
                "shared",
                shared,
                "Copied from a character in the same state (PoseSharing)",
            ),
            (
                "held",
                held,
                "Stayed as they were drawn before (AnimationLod)",
            ),
        ] {
            let title = ui.add(egui::Label::new(RichText::new(title).weak()).extend());
            title.on_hover_text(hint);
            right_cell(ui, RichText::new(grouped(count)).monospace());
            ui.end_row();
        }
    });
}

/// A total, and the part of it that is in view.
#[derive(Clone, Copy, Default)]
struct Count {
    total: usize,
    visible: usize,
}

impl Count {
    fn add(&mut self, total: usize, visible: usize) {
        self.total += total;
        self.visible += visible;
    }
}

/// Formats microseconds.
fn duration(micros: f64) -> String {
    if micros < 1000.0 {
        format!("{micros:.1} µs")
    } else {
        format!("{:.2} ms", micros / 1000.0)
    }
}

fn fact(ui: &mut Ui, title: &str, value: String) {
    cell(ui, RichText::new(title).weak());
    cell(ui, RichText::new(value).monospace());
    ui.end_row();
}

/// Evaluates the pose once more and returns how long that took, in microseconds.
fn measure(
    scratch: &mut Scratch,
    character: &Character,
    controller: &AnimationController,
    overrides: &[JointOverride],
) -> f64 {
    // A mask that doesn't exist reaches no joint.
    let empty = Mask::empty(character.skeleton.len());
    let layers: Vec<_> = explain::playing(character, controller, &empty)
        .map(|(_, layer)| layer)
        .collect();
    let job = Evaluate {
        priority_blend: controller.priority_blend,
        overrides,
        ..Evaluate::new(&character.skeleton, &layers)
    };
    // Only the evaluation counts, as a frame does it. Collecting the layers is the panel's own work.
    let begin = Instant::now();
    job.run(scratch);
    begin.elapsed().as_secs_f64() * 1e6
}
