//! What characters cost: sizes, and the time of an evaluation.

use super::{InspectedItem, InspectedReadOnlyItem, numbers::grouped};
use crate::{
    asset::Character,
    controller::AnimationController,
    pose::{ClipLayer, Evaluate, JointOverride, Scratch},
};
use bevy::{camera::visibility::ViewVisibility, prelude::*};
use bevy_egui::egui::{self, Ui};
use std::time::Instant;

#[derive(Default)]
pub(super) struct CostState {
    scratch: Scratch,
    of: Option<Entity>,
    /// Microseconds, smoothed over about 30 frames.
    smoothed: f64,
}

/// What the tab looks things up in.
pub(super) struct Sights<'a, 'w, 's> {
    pub(super) assets: &'a Assets<Character>,
    pub(super) meshes: Option<&'a Assets<Mesh>>,
    pub(super) visible: &'a Query<'w, 's, &'static ViewVisibility>,
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
    egui::Grid::new("cost").num_columns(2).spacing([12.0, 3.0]).show(ui, |ui| {
        fact(ui, "joints", grouped(character.skeleton.len()));
        fact(ui, "clips", grouped(character.clips.len()));
        fact(ui, "layers now", grouped(item.controller.layers(character).count()));
        fact(ui, "palettes", format!("{} bytes", grouped(palette_bytes(character))));
        fact(ui, "evaluation", format!("{:.1} µs", state.smoothed));
    });
    ui.add_space(4.0);
    egui::Grid::new("parts").num_columns(5).striped(true).spacing([12.0, 3.0]).show(ui, |ui| {
        for title in ["part", "vertices", "triangles", "joints", "in view"] {
            ui.weak(title);
        }
        ui.end_row();
        for (at, part) in character.parts.iter().enumerate() {
            ui.label(&part.name);
            // Meshes that were moved to the GPU cannot be counted here.
            let mesh = sights.meshes.and_then(|meshes| meshes.get(&part.mesh));
            let mesh = mesh.filter(|mesh| mesh.try_attribute(Mesh::ATTRIBUTE_POSITION).is_ok());
            ui.monospace(mesh.map_or("?".into(), |mesh| grouped(mesh.count_vertices())));
            let indices = mesh.and_then(|mesh| mesh.try_indices().ok());
            ui.monospace(indices.map_or("?".into(), |indices| grouped(indices.len() / 3)));
            ui.monospace(grouped(part.palette.len()));
            let entity = item.parts.entities.get(at);
            let seen = entity.and_then(|&part| sights.visible.get(part).ok()).is_some_and(|seen| seen.get());
            ui.label(if seen { "yes" } else { "no" });
            ui.end_row();
        }
    });
}

pub(super) fn show_all<'w, 's>(
    ui: &mut Ui,
    sights: &Sights,
    others: impl Iterator<Item = InspectedReadOnlyItem<'w, 's>>,
) {
    let (mut characters, mut seen, mut parts, mut parts_seen, mut bytes, mut bytes_seen) = (0, 0, 0, 0, 0, 0);
    for item in others {
        characters += 1;
        parts += item.parts.entities.len();
        let in_view = |&&part: &&Entity| sights.visible.get(part).is_ok_and(|visibility| visibility.get());
        let shown = item.parts.entities.iter().filter(in_view).count();
        parts_seen += shown;
        seen += usize::from(shown > 0);
        if let Some(character) = sights.assets.get(item.handle.id()) {
            let palettes = palette_bytes(character);
            bytes += palettes;
            bytes_seen += if shown > 0 { palettes } else { 0 };
        }
    }
    ui.strong("All characters");
    egui::Grid::new("cost of all").num_columns(3).spacing([12.0, 3.0]).show(ui, |ui| {
        for title in ["", "in view", "in all"] {
            ui.weak(title);
        }
        ui.end_row();
        let rows =
            [("characters", seen, characters), ("parts", parts_seen, parts), ("palette bytes", bytes_seen, bytes)];
        for (title, seen, all) in rows {
            ui.weak(title);
            ui.monospace(grouped(seen));
            ui.monospace(grouped(all));
            ui.end_row();
        }
        ui.weak("assets");
        ui.label("");
        ui.monospace(grouped(sights.assets.len()));
        ui.end_row();
    });
}

fn fact(ui: &mut Ui, title: &str, value: String) {
    ui.weak(title);
    ui.monospace(value);
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
