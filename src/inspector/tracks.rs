//! The Tracks tab: playback controls, tracks, the queue and scheduled changes.

use super::{
    blend_map,
    inspected::InspectedItem,
    keyboard::{Choose, FollowFocus},
    tab::{Tab, TabContext},
    widgets::{self, cell},
};
use crate::{
    asset::Character,
    controller::{
        AnimationController, AnimationName, AnimationTrack, BlendMode, ChangeTarget, Clips,
        TrackId, TrackPriority, Transition,
    },
    model::PlaybackMode,
};
use bevy::prelude::*;
use bevy_egui::egui::{self, RichText, Ui};
use std::{sync::Arc, time::Duration};

pub(super) struct TracksTab {
    /// The clip the buttons act on.
    clip: Option<Arc<str>>,
    /// Cross-fade duration in seconds.
    fade: f32,
    /// Moving a track's position fires the callbacks it passes.
    fire: bool,
}

impl Default for TracksTab {
    fn default() -> Self {
        Self {
            clip: None,
            fade: 0.25,
            fire: false,
        }
    }
}

/// The character whose controller runs for one frame.
#[derive(Resource)]
pub(super) struct Stepping(Entity);

/// Pauses the controller again after its step, in the schedule in which controllers advance.
pub(super) fn end_step(
    mut commands: Commands,
    stepping: Res<Stepping>,
    mut controllers: Query<&mut AnimationController>,
) {
    if let Ok(mut controller) = controllers.get_mut(stepping.0) {
        controller.paused = true;
    }
    commands.remove_resource::<Stepping>();
}

/// A change applied to the controller once the tab is drawn.
enum Action {
    Remove(TrackId),
    Unkey(crate::controller::ChangeHandle),
}

impl Tab for TracksTab {
    fn show(&mut self, ui: &mut Ui, context: &mut TabContext) {
        let TabContext {
            item,
            character,
            virtual_time,
            commands,
            ..
        } = context;
        let time = virtual_time.as_mut().map(|time| &mut ***time);
        show(ui, self, character, item, time, commands);
    }
}

fn show(
    ui: &mut Ui,
    state: &mut TracksTab,
    character: &Character,
    item: &mut InspectedItem,
    time: Option<&mut Time<Virtual>>,
    commands: &mut Commands,
) {
    clock(ui, item, time, commands);
    ui.separator();
    let controller = &mut item.controller;
    play(ui, state, character, controller);
    ui.separator();
    // Applied after the loop, which borrows the tracks.
    let mut action = None;
    egui::ScrollArea::vertical()
        .id_salt("tracks")
        .auto_shrink([false, false])
        .follow(ui, |ui| {
            ui.horizontal(|ui| {
                ui.strong("Tracks");
                ui.weak(controller.tracks().count().to_string());
                ui.checkbox(&mut state.fire, "scrub fires callbacks");
            });
            let current = controller.current_track().map(AnimationTrack::id);
            edit_tracks(controller, |track| {
                let is_current = current == Some(track.id());
                ui.push_id(track.id(), |ui| {
                    egui::Frame::group(ui.style()).show(ui, |ui| {
                        action =
                            one_track(ui, state, character, track, is_current).or(action.take());
                    });
                });
            });
            if controller.tracks().next().is_none() {
                ui.weak("No tracks: showing the rest pose.");
            }
            queue(ui, controller);
            action = events(ui, controller).or(action.take());
        });
    match action {
        Some(Action::Remove(track)) => {
            controller.remove_track(track);
        }
        Some(Action::Unkey(event)) => {
            controller.timeline_mut().unkey(event);
        }
        None => {}
    }
}

/// Shows tracks that can be edited. They are edited in copies, so that the controller counts as changed only if one of them is:
/// what changes is recorded, and planned anew.
pub(super) fn edit_tracks(
    controller: &mut Mut<AnimationController>,
    mut edit: impl FnMut(&mut AnimationTrack),
) {
    let tracks: Vec<AnimationTrack> = controller.tracks().cloned().collect();
    for before in tracks {
        let mut track = before.clone();
        edit(&mut track);
        if track != before
            && let Some(edited) = controller.track_mut(track.id())
        {
            *edited = track;
        }
    }
}

/// Shows pause, step and the controller's time.
pub(super) fn transport(ui: &mut Ui, item: &mut InspectedItem, commands: &mut Commands) {
    let title = if item.controller.paused {
        "Play"
    } else {
        "Pause"
    };
    // A fixed width keeps the rest of the row in place.
    if ui
        .add_sized([52.0, 20.0], egui::Button::new(title))
        .clicked()
    {
        let paused = item.controller.paused;
        item.controller.paused = !paused;
    }
    // One step runs in the normal way, and `end_step` pauses again after it.
    if ui
        .button("Step")
        .on_hover_text("Advance by one frame")
        .clicked()
    {
        item.controller.paused = false;
        commands.insert_resource(Stepping(item.entity));
    }
    ui.monospace(format!("{:>9.3} s", item.controller.time()));
}

fn clock(
    ui: &mut Ui,
    item: &mut InspectedItem,
    time: Option<&mut Time<Virtual>>,
    commands: &mut Commands,
) {
    ui.horizontal(|ui| {
        transport(ui, item, commands);
        let mut blend = item.controller.priority_blend;
        ui.weak("priority blend")
            .on_hover_text("Share of the high-priority tracks, from 0 to 1");
        if ui
            .add(
                egui::DragValue::new(&mut blend)
                    .range(0.0..=1.0)
                    .speed(0.005)
                    .fixed_decimals(2),
            )
            .changed()
        {
            item.controller.priority_blend = blend;
        }
    });
    let Some(time) = time else { return };
    ui.horizontal(|ui| {
        ui.weak("world speed")
            .on_hover_text("Speed of Time<Virtual>, which affects the whole app");
        let mut speed = time.relative_speed();
        let slider = widgets::slider(&mut speed, 0.01..=4.0)
            // Logarithmic, so that slow motion has most of the slider.
            .logarithmic(true)
            .fixed_decimals(2)
            .suffix("×");
        if ui.add(slider).changed() {
            time.set_relative_speed(speed);
        }
        for (title, speed) in [("1/10", 0.1), ("1/4", 0.25), ("1", 1.0)] {
            if ui.button(title).clicked() {
                time.set_relative_speed(speed);
            }
        }
    });
}

/// Shows a clip to choose, and the buttons that play it.
fn play(
    ui: &mut Ui,
    state: &mut TracksTab,
    character: &Character,
    controller: &mut Mut<AnimationController>,
) {
    let is_clip = |clip: &Arc<str>| character.clip_names().any(|name| name == clip);
    let known = |clip: &Arc<str>| is_clip(clip) || character.bound_space(clip).is_some();
    // A reload may have removed the clip.
    if !state.clip.as_ref().is_some_and(known) {
        state.clip = character.clip_names().next().cloned();
    }
    let Some(mut clip) = state.clip.clone() else {
        ui.weak("This character has no clips.");
        return;
    };
    ui.horizontal(|ui| {
        ui.weak("clip");
        clips(ui, "clip", character, &mut clip, 200.0);
        ui.weak("fade");
        let fade = egui::DragValue::new(&mut state.fade)
            .range(0.0..=10.0)
            .speed(0.01)
            .suffix(" s")
            .fixed_decimals(2);
        ui.add(fade);
    });
    ui.horizontal(|ui| {
        if ui.button("Play").clicked() {
            controller.play(clip.clone());
        }
        if ui.button("Cross-fade").clicked() {
            controller.cross_fade(clip.clone(), Duration::from_secs_f32(state.fade));
        }
        if ui
            .button("Switch")
            .on_hover_text("Start at once; the offset from the old pose decays")
            .clicked()
        {
            controller.play_with(
                clip.clone(),
                Transition::switch(Duration::from_secs_f32(state.fade)),
            );
        }
        if ui.button("Queue").clicked() {
            controller.queue_mut().push(clip.clone());
        }
        if ui
            .button("Add track")
            .on_hover_text("Add a track on top of the others")
            .clicked()
        {
            controller.add_track(AnimationTrack::new(clip.clone()));
        }
        if ui.button("Stop").clicked() {
            controller.fade_out(Duration::ZERO);
        }
    });
    state.clip = Some(clip);
}

/// Shows a list of clips; returns `true` if the selection changed.
fn clips(ui: &mut Ui, id: &str, character: &Character, chosen: &mut Arc<str>, width: f32) -> bool {
    let before = chosen.clone();
    let shown = if chosen.is_empty() { "(none)" } else { &before };
    egui::ComboBox::from_id_salt(id)
        .width(width)
        .selected_text(shown)
        .truncate()
        .choose(ui, |ui| {
            for name in character
                .clip_names()
                .chain(character.blend_spaces().iter().map(|space| space.name()))
            {
                ui.selectable_value(chosen, name.clone(), &**name);
            }
        });
    *chosen != before
}

fn one_track(
    ui: &mut Ui,
    state: &TracksTab,
    character: &Character,
    track: &mut AnimationTrack,
    is_current: bool,
) -> Option<Action> {
    let mut action = None;
    ui.horizontal(|ui| {
        ui.checkbox(&mut track.enabled, "").on_hover_text("enabled");
        let mut clip: Arc<str> = track.clip().into();
        if clips(ui, "track clip", character, &mut clip, 150.0) {
            track.set_clip(clip);
        }
        ui.weak(format!("track {}", track.id().0));
        if is_current {
            ui.weak("current");
        }
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            if ui.button("remove").clicked() {
                action = Some(Action::Remove(track.id()));
            }
        });
    });
    if let Some(space) = character.bound_space(track.clip()) {
        blend_map::show(ui, space, track);
    }
    egui::Grid::new("track")
        .num_columns(2)
        .spacing([8.0, 4.0])
        .show(ui, |ui| {
            ui.spacing_mut().slider_width = 190.0;
            ui.weak("weight");
            ui.add(
                egui::Slider::new(&mut track.weight, 0.0..=1.0)
                    // Weights above 1 are allowed. They just don't fit the slider.
                    .clamping(egui::SliderClamping::Never)
                    .fixed_decimals(2),
            );
            ui.end_row();
            ui.weak("position");
            let length = track.duration().unwrap_or(0.0);
            let mut position = track.position();
            let slider = widgets::slider(&mut position, 0.0..=length)
                .fixed_decimals(3)
                .suffix(" s");
            // A clip of a single pose has no length to move along.
            if ui.add_enabled(length > 0.0, slider).changed() {
                move_to(track, position, state.fire);
            }
            ui.end_row();
            ui.weak("speed");
            ui.horizontal(|ui| {
                ui.add(
                    egui::DragValue::new(&mut track.speed)
                        .speed(0.01)
                        .fixed_decimals(2)
                        .suffix("×"),
                );
                ui.checkbox(&mut track.paused, "paused");
                if ui.button("reverse").clicked() {
                    track.speed = -track.speed;
                }
            });
            ui.end_row();
            ui.weak("blend");
            ui.horizontal(|ui| {
                let title = match track.priority {
                    TrackPriority::Low => "low",
                    TrackPriority::High => "high",
                };
                egui::ComboBox::from_id_salt("priority")
                    .width(56.0)
                    .selected_text(title)
                    .choose(ui, |ui| {
                        ui.selectable_value(&mut track.priority, TrackPriority::Low, "low");
                        ui.selectable_value(&mut track.priority, TrackPriority::High, "high");
                    });
                let modes = [
                    (None, "of the clip"),
                    (Some(BlendMode::Blend), "blend"),
                    (Some(BlendMode::Additive), "additive"),
                    (Some(BlendMode::Override), "override"),
                ];
                let title = modes
                    .iter()
                    .find(|(mode, _)| *mode == track.blend)
                    .map_or("", |&(_, title)| title);
                egui::ComboBox::from_id_salt("blend")
                    .width(76.0)
                    .selected_text(title)
                    .choose(ui, |ui| {
                        for (mode, title) in modes {
                            ui.selectable_value(&mut track.blend, mode, title);
                        }
                    });
                mask(ui, character, track);
            });
            ui.end_row();
            ui.weak("playback");
            playback(ui, track);
            ui.end_row();
        });
    action
}

/// Moves to a time in the clip, within the current loop.
pub(super) fn move_to(track: &mut AnimationTrack, time: f64, fire: bool) {
    if fire {
        track.scrub_to(time)
    } else {
        track.seek(time)
    }
}

/// Shows the playback mode: the clip's own, or an override for this track.
fn playback(ui: &mut Ui, track: &mut AnimationTrack) {
    let choices = [
        (None, "clip default"),
        (Some(PlaybackMode::Loop), "loop"),
        (Some(PlaybackMode::Once), "once"),
        (Some(PlaybackMode::PingPong), "ping-pong"),
    ];
    let title = choices
        .iter()
        .find(|(playback, _)| *playback == track.playback)
        .map_or("", |&(_, title)| title);
    egui::ComboBox::from_id_salt("playback")
        .width(140.0)
        .selected_text(title)
        .choose(ui, |ui| {
            for (playback, title) in choices {
                ui.selectable_value(&mut track.playback, playback, title);
            }
        });
}

fn mask(ui: &mut Ui, character: &Character, track: &mut AnimationTrack) {
    let mut names: Vec<&String> = character.masks.keys().collect();
    names.sort_unstable();
    let title = track.mask.as_deref().unwrap_or("all joints").to_owned();
    egui::ComboBox::from_id_salt("mask")
        .width(96.0)
        .selected_text(title)
        .truncate()
        .choose(ui, |ui| {
            ui.selectable_value(&mut track.mask, None, "all joints");
            for name in names {
                ui.selectable_value(
                    &mut track.mask,
                    Some(AnimationName::new(name.as_str())),
                    name,
                );
            }
        });
}

fn queue(ui: &mut Ui, controller: &mut Mut<AnimationController>) {
    // Copied, since the buttons change the queue while it is shown.
    let queued: Vec<_> = controller.queue().iter().map(str::to_owned).collect();
    if queued.is_empty() {
        return;
    }
    ui.add_space(6.0);
    ui.horizontal(|ui| {
        ui.strong("Queue");
        if ui.button("clear").clicked() {
            controller.queue_mut().clear();
        }
    });
    for (place, clip) in queued.iter().enumerate() {
        ui.label(format!("{}.  {clip}", place + 1));
    }
}

fn events(ui: &mut Ui, controller: &AnimationController) -> Option<Action> {
    let mut action = None;
    let now = controller.time();
    controller.scheduled_changes().next()?;
    ui.add_space(6.0);
    ui.strong("Scheduled changes");
    widgets::grid("events", 5).striped(true).show(ui, |ui| {
        for event in controller.scheduled_changes() {
            let kind = match event.target() {
                ChangeTarget::Speed(_) => "speed",
                ChangeTarget::Weight(_) => "weight",
                ChangeTarget::Position(_) => "position",
                ChangeTarget::Enabled(_) => "enabled",
                ChangeTarget::ParameterX(_) => "first parameter",
                ChangeTarget::ParameterY(_) => "second parameter",
                ChangeTarget::PriorityBlend => "priority blend",
            };
            cell(ui, kind);
            cell(
                ui,
                event
                    .track()
                    .map_or("-".to_owned(), |track| format!("track {}", track.0)),
            );
            cell(
                ui,
                RichText::new(format!("to {:.2}", event.value())).monospace(),
            );
            let duration = event.duration().as_secs_f64();
            let when = if event.is_running() {
                RichText::new(format!("{:.2} of {duration:.2} s", now - event.start()))
            } else {
                RichText::new(format!(
                    "in {:.2} s for {duration:.2} s",
                    event.start() - now
                ))
                .weak()
            };
            cell(ui, when);
            if ui.small_button("cancel").clicked() {
                action = Some(Action::Unkey(event.handle()));
            }
            ui.end_row();
        }
    });
    action
}
