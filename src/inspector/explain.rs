//! The Explain tab: how much each track contributes to a joint.

use super::{
    inspected::InspectedItem,
    joints::local_of,
    keyboard::{Choose, FollowFocus},
    style::{accent, bar_background},
    tab::{Tab, TabContext},
};
use crate::{
    asset::Character,
    controller::{AnimationController, BlendMode, LayerInfo, TrackId, TrackPriority},
    model::{JointIndex, JointTransform, SkeletalClip},
    pose::{ClipLayer, FrameSpan, JointSpace, Mask, Mix},
};
use bevy_egui::egui::{self, RichText, Ui};

/// Effect of a track on a joint.
#[derive(Clone, Debug, PartialEq)]
struct Contribution {
    track: TrackId,
    clip: usize,
    /// The track's weight.
    weight: f32,
    /// The mask's weight at the joint.
    mask: f32,
    /// The clip animates the joint.
    moves: bool,
    mode: BlendMode,
    priority: TrackPriority,
    /// Degrees by which the clip alone turns the joint from its rest pose; for additive tracks, by its difference.
    turn: f32,
    /// Share of the pose, 0..=1; for additive tracks, how much of the difference is added.
    share: f32,
}

/// Returns the layers that play, with what the controller says of each. `empty` stands for masks that do not exist.
pub(super) fn playing<'a>(
    character: &'a Character,
    controller: &'a AnimationController,
    empty: &'a Mask,
) -> impl Iterator<Item = (LayerInfo<'a>, ClipLayer<'a>)> {
    controller.layers(character).filter_map(move |info| {
        let clip = &**character.clips.get(info.clip)?;
        // A mask that the character lacks must not let the track through.
        let mask = info
            .mask
            .map(|name| character.masks.get(&**name).map_or(empty, |mask| &**mask));
        Some((info, info.with(clip, mask)))
    })
}

/// Returns each track's share at a joint, from [`Mix`]. The rest pose fills up what the blended and overriding tracks
/// leave of 1.
fn contributions(
    character: &Character,
    controller: &AnimationController,
    joint: usize,
) -> Vec<Contribution> {
    let skeleton = &character.skeleton;
    let empty = Mask::empty(skeleton.len());
    let (infos, layers): (Vec<_>, Vec<_>) = playing(character, controller, &empty).unzip();
    let (rest, unit_scale) = (skeleton.rest(), skeleton.unit_scale());
    let shares = Mix {
        layers: &layers,
        priority_blend: controller.priority_blend,
        rest,
        unit_scale,
    }
    .shares(joint);
    let contribution = |((info, layer), share): ((&LayerInfo, &ClipLayer), f32)| {
        let moves = layer.clip.animates(joint);
        Contribution {
            track: info.track,
            clip: info.clip,
            weight: layer.weight,
            mask: layer.mask.map_or(1.0, |mask| mask.get(joint)),
            moves,
            mode: layer.mode,
            priority: layer.priority,
            turn: if moves {
                turn_of(character, layer.clip, layer.time, joint)
            } else {
                0.0
            },
            share,
        }
    };
    infos
        .iter()
        .zip(&layers)
        .zip(shares)
        .map(contribution)
        .collect()
}

/// Returns by how many degrees a clip turns a joint, from its rest pose or, for an additive clip, in total.
fn turn_of(character: &Character, clip: &SkeletalClip, time: f64, joint: usize) -> f32 {
    let turned = FrameSpan::new(clip, time).transform(clip, joint).rotation;
    // An additive clip holds differences, which are turns from nothing.
    let from = if clip.additive {
        JointTransform::IDENTITY
    } else {
        character.skeleton.rest_of(joint as JointIndex)
    };
    from.rotation.angle_between(turned).to_degrees()
}

/// The Explain tab.
pub(super) struct ExplainTab;

impl Tab for ExplainTab {
    fn show(&mut self, ui: &mut Ui, context: &mut TabContext) {
        context.highlight = show(ui, &mut context.joint, context.character, &context.item);
    }
}

/// Shows the tab; returns the joint it explains, to highlight it in the view.
fn show(
    ui: &mut Ui,
    selected: &mut Option<JointIndex>,
    character: &Character,
    item: &InspectedItem,
) -> Option<JointIndex> {
    let names = character.skeleton.names();
    ui.horizontal(|ui| {
        ui.weak("joint");
        let title = selected
            .and_then(|joint| names.get(usize::from(joint)))
            .map_or("select", |name| name);
        egui::ComboBox::from_id_salt("explain")
            .width(220.0)
            .selected_text(title)
            .truncate()
            .choose(ui, |ui| {
                for (joint, name) in names.iter().enumerate() {
                    ui.selectable_value(selected, Some(joint as JointIndex), &**name);
                }
            });
    });
    let joint = selected.filter(|&joint| usize::from(joint) < names.len())?;
    let contributions = contributions(character, &item.controller, usize::from(joint));
    // Additive tracks lie on top, and don't take the place of the rest pose.
    let replaced: f32 = contributions
        .iter()
        .filter(|c| c.mode != BlendMode::Additive)
        .map(|c| c.share)
        .sum();
    egui::ScrollArea::vertical()
        .id_salt("explain")
        .auto_shrink([false, false])
        .follow(ui, |ui| {
            for c in &contributions {
                let name = character
                    .clips
                    .get(c.clip)
                    .map_or("", |clip| &clip.timing.name);
                let how = match (c.moves, c.mode) {
                    (false, _) => "does not move this joint".to_owned(),
                    (true, mode) => {
                        let mode = match (mode, c.priority) {
                            (BlendMode::Additive, _) => "additive",
                            (BlendMode::Override, _) => "override",
                            (BlendMode::Blend, TrackPriority::Low) => "low",
                            (BlendMode::Blend, TrackPriority::High) => "high",
                        };
                        let from = if c.mode == BlendMode::Additive {
                            "added"
                        } else {
                            "from rest"
                        };
                        format!(
                            "{mode}, weight {:.2} · mask {:.2}, {:.1}° {from}",
                            c.weight, c.mask, c.turn
                        )
                    }
                };
                let text = if c.mode == BlendMode::Additive {
                    format!("+{:.2}", c.share)
                } else {
                    percent(c.share)
                };
                line(
                    ui,
                    &format!("{name}  (track {})", c.track.0),
                    &how,
                    c.share,
                    text,
                );
            }
            // A smaller rest would be shown as 0.0%.
            if replaced < 0.9995 {
                line(
                    ui,
                    "rest pose",
                    "not covered by any track",
                    1.0 - replaced,
                    percent(1.0 - replaced),
                );
            }
            for switch in item.controller.switches() {
                let left = switch.remaining(item.controller.time());
                let [from, to] = [switch.from(), switch.to()].map(|of| {
                    of.iter()
                        .map(|layer| &*layer.clip)
                        .collect::<Vec<_>>()
                        .join(", ")
                });
                line(
                    ui,
                    &format!("{from} → {to}"),
                    "of the difference is left",
                    left,
                    percent(left),
                );
            }
            let by_hand = item
                .overrides
                .as_ref()
                .map_or(&[][..], |overrides| &overrides.0);
            for change in by_hand.iter().filter(|change| change.joint == joint) {
                let how = match change.space {
                    JointSpace::Parent => "replaces the result, relative to the parent",
                    JointSpace::Model => "replaces the result, in model space",
                    JointSpace::Joint => "added to the result",
                };
                line(
                    ui,
                    "pose override",
                    how,
                    change.weight,
                    percent(change.weight),
                );
            }
            let shown = local_of(character, item.joints(), joint).rotation;
            let turn = character
                .skeleton
                .rest_of(joint)
                .rotation
                .angle_between(shown)
                .to_degrees();
            ui.add_space(6.0);
            ui.label(RichText::new(format!("Current pose: {turn:.1}° from rest")).weak());
        });
    Some(joint)
}

fn percent(share: f32) -> String {
    format!("{:.1}%", 100.0 * share)
}

/// Shows a name, its share as a bar and a number, and an explanation.
fn line(ui: &mut Ui, name: &str, how: &str, share: f32, text: String) {
    ui.add_space(4.0);
    ui.horizontal(|ui| {
        ui.strong(name);
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            ui.monospace(text)
        });
    });
    let (rect, _) =
        ui.allocate_exact_size(egui::vec2(ui.available_width(), 6.0), egui::Sense::hover());
    ui.painter()
        .rect_filled(rect, 3.0, bar_background(ui.visuals()));
    let filled = egui::Rect::from_min_size(
        rect.min,
        egui::vec2(rect.width() * share.clamp(0.0, 1.0), rect.height()),
    );
    ui.painter().rect_filled(filled, 3.0, accent(ui.visuals()));
    ui.label(RichText::new(how).weak());
}
