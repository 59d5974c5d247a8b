//! The Cost tab: sizes of a character, and how long its pose takes to evaluate.

use super::{
    InspectedItem, InspectedReadOnlyItem, explain,
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
pub(super) struct CostState {
    scratch: Scratch,
    measured: Option<Entity>,
    /// Microseconds per evaluation of that character, smoothed over about 30 frames.
    micros: f64,
    /// Index of the next character in view to measure, and the smoothed time of all of them.
    turn: usize,
    mean: f64,
}

/// World data the tab reads.
pub(super) struct CostInputs<'a, 'w, 's> {
    pub(super) assets: &'a Assets<Character>,
    pub(super) meshes: Option<&'a Assets<Mesh>>,
    pub(super) visible: &'a Query<'w, 's, &'static ViewVisibility>,
    pub(super) poses: PoseCounts,
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

pub(super) fn show_one(
    ui: &mut Ui,
    state: &mut CostState,
    character: &Character,
    item: &InspectedItem,
    inputs: &CostInputs,
) {
    if state.measured != Some(item.entity) {
        (state.measured, state.micros) = (Some(item.entity), 0.0);
    }
    let overrides = item
        .overrides
        .as_ref()
        .map_or(&[][..], |overrides| &overrides.0);
    let micros = measure(&mut state.scratch, character, &item.controller, overrides);
    state.micros = if state.micros == 0.0 {
        micros
    } else {
        state.micros + (micros - state.micros) / 30.0
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
        fact(ui, "evaluation", format!("{:.1} µs", state.micros));
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
            let mesh = inputs.meshes.and_then(|meshes| meshes.get(&part.mesh));
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
                .and_then(|&part| inputs.visible.get(part).ok())
                .is_some_and(|visible| visible.get());
            ui.label(if visible { "yes" } else { "no" });
            ui.end_row();
        }
    });
}

pub(super) fn show_all<'w, 's>(
    ui: &mut Ui,
    state: &mut CostState,
    inputs: &CostInputs,
    others: impl Iterator<Item = InspectedReadOnlyItem<'w, 's>>,
) {
    let [mut characters, mut parts, mut bytes] = [Count::default(); 3];
    let mut used = HashSet::new();
    for item in others {
        let in_view = |&&part: &&Entity| {
            inputs
                .visible
                .get(part)
                .is_ok_and(|visibility| visibility.get())
        };
        let shown = item.parts.entities.iter().filter(in_view).count();
        if shown > 0 && characters.visible == state.turn {
            // One per frame: measuring all would double their cost.
            if let Some(character) = inputs.assets.get(item.handle.id()) {
                let overrides = item.overrides.map_or(&[][..], |overrides| &overrides.0);
                let micros = measure(&mut state.scratch, character, item.controller, overrides);
                state.mean = if state.mean == 0.0 {
                    micros
                } else {
                    state.mean + (micros - state.mean) / 60.0
                };
            }
        }
        characters.add(1, usize::from(shown > 0));
        parts.add(item.parts.entities.len(), shown);
        if let Some(character) = inputs.assets.get(item.handle.id()) {
            used.insert(item.handle.id());
            let palettes = palette_bytes(character);
            bytes.add(palettes, if shown > 0 { palettes } else { 0 });
        }
    }
    state.turn = (state.turn + 1) % characters.visible.max(1);
    ui.strong("All characters");
    widgets::grid("total cost", 5).show(ui, |ui| {
        cell(ui, "");
        for title in ["in view", "culled", "total"] {
            right_cell(ui, RichText::new(title).weak());
        }
        ui.end_row();
        for (title, count) in [
            ("characters", characters),
            ("parts", parts),
            ("palette bytes", bytes),
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
            let each = characters.total as f64 / used.len().max(1) as f64;
            fact(
                ui,
                "assets",
                format!("{} ({each:.1} characters each)", grouped(used.len())),
            );
            let sum = state.mean * inputs.poses.evaluated as f64;
            fact(
                ui,
                "evaluation",
                format!("{} on one thread, {:.1} µs each", duration(sum), state.mean),
            );
        })
        .response
        .on_hover_text("Measured by repeating one evaluation per frame");
    poses(ui, inputs.poses);
}

/// How this frame's poses were computed.
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
    let empty = Mask::empty(character.skeleton.len());
    let layers: Vec<_> = explain::playing(character, controller, &empty)
        .map(|(_, layer)| layer)
        .collect();
    let job = Evaluate {
        priority_blend: controller.priority_blend(),
        overrides,
        ..Evaluate::new(&character.skeleton, &layers)
    };
    let begin = Instant::now();
    job.run(scratch);
    begin.elapsed().as_secs_f64() * 1e6
}
