//! What characters cost: sizes, and the time of an evaluation.

use super::{
    InspectedItem, InspectedReadOnlyItem,
    numbers::{self, cell, grouped, name_cell, right_cell},
};
use crate::{
    asset::Character,
    character::PoseCounts,
    controller::AnimationController,
    pose::{ClipLayer, Evaluate, JointOverride, Scratch},
};
use bevy::{camera::visibility::ViewVisibility, prelude::*};
use bevy_egui::egui::{self, RichText, Ui};
use std::{collections::HashSet, time::Instant};

#[derive(Default)]
pub(super) struct CostState {
    scratch: Scratch,
    of: Option<Entity>,
    /// Microseconds, smoothed over about 30 frames.
    smoothed: f64,
    /// Whose turn it is among those in view, and the mean of their turns.
    turn: usize,
    mean: f64,
}

/// What the tab looks things up in.
pub(super) struct Sights<'a, 'w, 's> {
    pub(super) assets: &'a Assets<Character>,
    pub(super) meshes: Option<&'a Assets<Mesh>>,
    pub(super) visible: &'a Query<'w, 's, &'static ViewVisibility>,
    pub(super) poses: PoseCounts,
}

/// Bytes of a character's palettes in the skin buffer: a matrix for each joint of each part.
fn palette_bytes(character: &Character) -> usize {
    character.parts.iter().map(|part| part.palette.len() * size_of::<Mat4>()).sum()
}

pub(super) fn show_one(
    ui: &mut Ui,
    state: &mut CostState,
    character: &Character,
    item: &InspectedItem,
    sights: &Sights,
) {
    if state.of != Some(item.entity) {
        (state.of, state.smoothed) = (Some(item.entity), 0.0);
    }
    let overrides = item.overrides.as_ref().map_or(&[][..], |overrides| &overrides.0);
    let micros = measure(&mut state.scratch, character, &item.controller, overrides);
    state.smoothed = if state.smoothed == 0.0 { micros } else { state.smoothed + (micros - state.smoothed) / 30.0 };
    ui.strong("This character");
    numbers::grid("cost", 2).show(ui, |ui| {
        fact(ui, "joints", grouped(character.skeleton.len()));
        fact(ui, "clips", grouped(character.clips.len()));
        fact(ui, "layers now", grouped(item.controller.layers(character).count()));
        fact(ui, "palettes", format!("{} bytes", grouped(palette_bytes(character))));
        fact(ui, "evaluation", format!("{:.1} µs", state.smoothed));
    });
    ui.add_space(4.0);
    numbers::grid("parts", 5).striped(true).show(ui, |ui| {
        cell(ui, RichText::new("part").weak());
        for title in ["vertices", "triangles", "joints"] {
            right_cell(ui, RichText::new(title).weak());
        }
        cell(ui, RichText::new("in view").weak());
        ui.end_row();
        for (at, part) in character.parts.iter().enumerate() {
            name_cell(ui, &part.name, 20);
            // Meshes that were moved to the GPU cannot be counted here.
            let mesh = sights.meshes.and_then(|meshes| meshes.get(&part.mesh));
            let mesh = mesh.filter(|mesh| mesh.try_attribute(Mesh::ATTRIBUTE_POSITION).is_ok());
            right_cell(ui, RichText::new(mesh.map_or("?".into(), |mesh| grouped(mesh.count_vertices()))).monospace());
            let indices = mesh.and_then(|mesh| mesh.try_indices().ok());
            right_cell(ui, RichText::new(indices.map_or("?".into(), |indices| grouped(indices.len() / 3))).monospace());
            right_cell(ui, RichText::new(grouped(part.palette.len())).monospace());
            let entity = item.parts.entities.get(at);
            let seen = entity.and_then(|&part| sights.visible.get(part).ok()).is_some_and(|seen| seen.get());
            ui.label(if seen { "yes" } else { "no" });
            ui.end_row();
        }
    });
}

pub(super) fn show_all<'w, 's>(
    ui: &mut Ui,
    state: &mut CostState,
    sights: &Sights,
    others: impl Iterator<Item = InspectedReadOnlyItem<'w, 's>>,
) {
    let [mut characters, mut parts, mut bytes] = [Count::default(); 3];
    let mut used = HashSet::new();
    for item in others {
        let in_view = |&&part: &&Entity| sights.visible.get(part).is_ok_and(|visibility| visibility.get());
        let shown = item.parts.entities.iter().filter(in_view).count();
        if shown > 0 && characters.seen == state.turn {
            // One in a frame: all of them would cost as much as they do already.
            if let Some(character) = sights.assets.get(item.handle.id()) {
                let overrides = item.overrides.map_or(&[][..], |overrides| &overrides.0);
                let micros = measure(&mut state.scratch, character, item.controller, overrides);
                state.mean = if state.mean == 0.0 { micros } else { state.mean + (micros - state.mean) / 60.0 };
            }
        }
        characters.add(1, usize::from(shown > 0));
        parts.add(item.parts.entities.len(), shown);
        if let Some(character) = sights.assets.get(item.handle.id()) {
            used.insert(item.handle.id());
            let palettes = palette_bytes(character);
            bytes.add(palettes, if shown > 0 { palettes } else { 0 });
        }
    }
    state.turn = (state.turn + 1) % characters.seen.max(1);
    ui.strong("All characters");
    numbers::grid("cost of all", 5).show(ui, |ui| {
        cell(ui, "");
        for title in ["in view", "culled", "in all"] {
            right_cell(ui, RichText::new(title).weak());
        }
        ui.end_row();
        for (title, count) in [("characters", characters), ("parts", parts), ("palette bytes", bytes)] {
            cell(ui, RichText::new(title).weak());
            for number in [count.seen, count.all - count.seen, count.all] {
                right_cell(ui, RichText::new(grouped(number)).monospace());
            }
            ui.end_row();
        }
    });
    ui.add_space(4.0);
    numbers::grid("sums", 2)
        .show(ui, |ui| {
            let each = characters.all as f64 / used.len().max(1) as f64;
            fact(ui, "assets", format!("{}, each shared by {each:.1} characters", grouped(used.len())));
            let sum = state.mean * sights.poses.evaluated as f64;
            fact(ui, "evaluation", format!("{} on one thread, {:.1} µs each", duration(sum), state.mean));
        })
        .response
        .on_hover_text("the mean of one evaluation in each frame, done again for the clock alone");
    poses(ui, sights.poses);
}

/// What became of everybody's pose in this frame.
fn poses(ui: &mut Ui, PoseCounts { evaluated, shared, interpolated, .. }: PoseCounts) {
    ui.add_space(4.0);
    ui.strong("Poses in this frame");
    numbers::grid("poses", 3).show(ui, |ui| {
        for (title, count, hint) in [
            ("evaluated", evaluated, "worked out from the clips; one that did not change is kept"),
            ("shared", shared, "taken from another character that plays the same: PoseSharing"),
            ("interpolated", interpolated, "moved on between two that were worked out: UpdateRate"),
        ] {
            let title = ui.add(egui::Label::new(RichText::new(title).weak()).extend());
            title.on_hover_text(hint);
            right_cell(ui, RichText::new(grouped(count)).monospace());
            ui.end_row();
        }
    });
}

/// How many there are, and how many of them are in view.
#[derive(Clone, Copy, Default)]
struct Count {
    all: usize,
    seen: usize,
}

impl Count {
    fn add(&mut self, all: usize, seen: usize) {
        self.all += all;
        self.seen += seen;
    }
}

/// Microseconds as text.
fn duration(micros: f64) -> String {
    if micros < 1000.0 { format!("{micros:.1} µs") } else { format!("{:.2} ms", micros / 1000.0) }
}

fn fact(ui: &mut Ui, title: &str, value: String) {
    cell(ui, RichText::new(title).weak());
    cell(ui, RichText::new(value).monospace());
    ui.end_row();
}

/// Microseconds of one evaluation of the pose, done once more for the clock alone.
fn measure(
    scratch: &mut Scratch,
    character: &Character,
    controller: &AnimationController,
    overrides: &[JointOverride],
) -> f64 {
    let layers = controller.layers(character).filter_map(|layer| {
        let mask = match layer.mask {
            Some(name) => Some(&**character.masks.get(name)?),
            None => None,
        };
        let clip = character.clips.get(layer.clip)?;
        Some(ClipLayer {
            clip,
            time: layer.time,
            weight: layer.weight,
            mask,
            priority: layer.priority,
            mode: layer.blend,
        })
    });
    let layers: Vec<_> = layers.collect();
    let job = Evaluate {
        priority_blend: controller.priority_blend(),
        overrides,
        ..Evaluate::new(&character.skeleton, &layers)
    };
    let begin = Instant::now();
    job.run(scratch);
    begin.elapsed().as_secs_f64() * 1e6
}
