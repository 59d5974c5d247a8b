//! The Faces tab: morph weights, what each track contributes to them, and expressions by hand.

use super::{
    explain,
    inspected::InspectedItem,
    tab::{Tab, TabContext},
    widgets::{cell, grid, name_cell, right_cell},
};
use crate::{
    asset::Character,
    character::Expressions,
    controller::{AnimationController, LayerInfo},
    model::MorphIndex,
    pose::{ClipLayer, Evaluate, Mask, MorphScratch},
};
use bevy::prelude::*;
use bevy_egui::egui::{self, RichText, Ui};
use std::{sync::Arc, time::Duration};

#[derive(Default)]
pub(super) struct FacesTab {
    search: String,
    moved_only: bool,
    /// The morph target whose tracks are listed.
    selected: Option<MorphIndex>,
    /// The character that shows only one morph target, and the expressions that it had before.
    solo: Option<(Entity, Arc<str>, Option<Expressions>)>,
    scratch: MorphScratch,
}

impl FacesTab {
    /// Ends a solo of another character than the one that is shown, and gives it back the expressions that it had.
    fn leave_solo(&mut self, shown: Entity, commands: &mut Commands) {
        if let Some((of, _, kept)) = self.solo.take_if(|(of, ..)| *of != shown)
            && let Ok(mut of) = commands.get_entity(of)
        {
            of.try_insert(kept.unwrap_or_default());
        }
    }
}

impl Tab for FacesTab {
    fn show(&mut self, ui: &mut Ui, context: &mut TabContext) {
        let TabContext {
            item,
            character,
            commands,
            ..
        } = context;
        show(ui, self, character, item, commands);
    }
}

fn show(
    ui: &mut Ui,
    state: &mut FacesTab,
    character: &Character,
    item: &mut InspectedItem,
    commands: &mut Commands,
) {
    let morphs = character.skeleton.morphs();
    if morphs.is_empty() {
        ui.weak("This character has no morph targets.");
        return;
    }
    state.leave_solo(item.entity, commands);
    ui.horizontal(|ui| {
        let search = egui::TextEdit::singleline(&mut state.search)
            .hint_text("search morph targets")
            .desired_width(150.0);
        ui.add(search);
        ui.checkbox(&mut state.moved_only, "moved only");
        let any = item
            .expressions
            .as_ref()
            .is_some_and(|face| face.iter().count() > 0);
        let release = ui.add_enabled(any, egui::Button::new("release all"));
        let release = release.on_hover_text("Let all of them follow the clips again");
        if release.clicked() {
            state.solo = None;
            if let Some(face) = &mut item.expressions {
                face.release_all(Duration::ZERO);
            }
        }
    });
    let search = state.search.to_lowercase();
    // Before its first update, a face is at rest.
    let weights = item.morphs.map_or(morphs.rest(), |pose| &pose.weights[..]);
    let mut change = None;
    egui::ScrollArea::vertical()
        .max_height(ui.available_height() * 0.65)
        .auto_shrink([false, true])
        .show(ui, |ui| {
            grid("faces", 4).striped(true).show(ui, |ui| {
                // A name that may be cut off leaves its column as narrow as it is in the first frame.
                ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
                for (at, name) in morphs.names().iter().enumerate() {
                    let morph = at as MorphIndex;
                    let weight = weights.get(at).copied().unwrap_or(0.0);
                    let is_moved = weight != morphs.rest()[at];
                    if !name.to_lowercase().contains(&search) || (state.moved_only && !is_moved) {
                        continue;
                    }
                    let is_selected = state.selected == Some(morph);
                    if ui.selectable_label(is_selected, &**name).clicked() {
                        state.selected = (!is_selected).then_some(morph);
                    }
                    let by_hand = item.expressions.as_ref().and_then(|face| face.get(name));
                    let mut shown = by_hand.unwrap_or(weight);
                    let slider = ui.add(
                        egui::Slider::new(&mut shown, 0.0..=1.0)
                            // Some targets go below 0 or above 1.
                            .clamping(egui::SliderClamping::Never)
                            .fixed_decimals(2),
                    );
                    if slider.changed() {
                        change = Some(Change::Set(name.clone(), shown));
                    }
                    let free = ui.add_enabled(by_hand.is_some(), egui::Button::new("release"));
                    if free.on_hover_text("Follow the clips again").clicked() {
                        change = Some(Change::Release(name.clone()));
                    }
                    let is_solo = state.solo.as_ref().is_some_and(|(_, of, _)| of == name);
                    let solo = ui.selectable_label(is_solo, "solo");
                    if solo
                        .on_hover_text("Show it alone, at full weight")
                        .clicked()
                    {
                        change = Some(if is_solo {
                            Change::EndSolo
                        } else {
                            Change::Solo(name.clone())
                        });
                    }
                    ui.end_row();
                }
            });
        });
    if let Some(change) = change {
        apply(change, state, character, item, commands);
    }
    ui.separator();
    match state
        .selected
        .filter(|&morph| usize::from(morph) < morphs.len())
    {
        Some(morph) => tracks(ui, &mut state.scratch, character, &item.controller, morph),
        None => {
            ui.weak("Select a morph target to see what its tracks contribute.");
        }
    }
}

enum Change {
    Set(Arc<str>, f32),
    Release(Arc<str>),
    Solo(Arc<str>),
    EndSolo,
}

fn apply(
    change: Change,
    state: &mut FacesTab,
    character: &Character,
    item: &mut InspectedItem,
    commands: &mut Commands,
) {
    let before = item.expressions.as_deref().cloned();
    let mut face = before.clone().unwrap_or_default();
    match change {
        Change::Set(name, weight) => face.set(&name, weight),
        Change::Release(name) => face.release(&name, Duration::ZERO),
        Change::Solo(name) => {
            // From one solo to the next, the face before the first one is kept.
            let kept = match state.solo.take() {
                Some((.., kept)) => kept,
                None => before,
            };
            // Expressions that are set replace the clips, so all others are held at 0.
            for other in character.skeleton.morphs().names() {
                face.set(other, if *other == name { 1.0 } else { 0.0 });
            }
            state.solo = Some((item.entity, name, kept));
        }
        Change::EndSolo => {
            face = state
                .solo
                .take()
                .and_then(|(.., kept)| kept)
                .unwrap_or_default();
        }
    }
    match &mut item.expressions {
        Some(present) => **present = face,
        None => {
            commands.entity(item.entity).try_insert(face);
        }
    }
}

/// Shows the weight that each track alone would give a morph target.
fn tracks(
    ui: &mut Ui,
    scratch: &mut MorphScratch,
    character: &Character,
    controller: &AnimationController,
    morph: MorphIndex,
) {
    let skeleton = &character.skeleton;
    let Some(name) = skeleton.morphs().names().get(usize::from(morph)) else {
        return;
    };
    ui.strong(&**name);
    let empty = Mask::empty(skeleton.len());
    let layers: Vec<(LayerInfo, ClipLayer)> =
        explain::playing(character, controller, &empty).collect();
    let moving: Vec<_> = layers
        .iter()
        .filter(|(_, layer)| layer.clip.animates_morph(morph))
        .collect();
    if moving.is_empty() {
        ui.weak("No track moves it.");
        return;
    }
    grid("face tracks", 4).striped(true).show(ui, |ui| {
        for title in ["clip", "mode", "track weight", "its weight"] {
            cell(ui, RichText::new(title).weak());
        }
        ui.end_row();
        for (_, layer) in moving {
            // At full weight, so that clips can be compared whatever their tracks' weights are.
            let alone = [ClipLayer {
                weight: 1.0,
                ..*layer
            }];
            let weights = Evaluate::new(skeleton, &alone).run_morphs(scratch);
            let weight = weights.and_then(|weights| weights.get(usize::from(morph)));
            name_cell(ui, &layer.clip.timing.name, 20);
            cell(ui, format!("{:?}", layer.mode));
            right_cell(
                ui,
                RichText::new(format!("{:.2}", layer.weight)).monospace(),
            );
            let weight = weight.copied().unwrap_or(0.0);
            cell(ui, RichText::new(format!("{weight:.3}")).monospace());
            ui.end_row();
        }
    });
}
