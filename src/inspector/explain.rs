//! The Explain tab: how much each track contributes to a joint.

use super::{
    InspectedItem,
    joints::local_of,
    style::{accent, bar_background},
};
use crate::{
    asset::Character,
    controller::{AnimationController, BlendMode, TrackId, TrackPriority},
    model::{JointIndex, JointTransform, SkeletalClip},
    pose::{Add, FrameSpan, JointSpace},
};
use bevy_egui::egui::{self, RichText, Ui};

/// How a track affects a joint.
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

/// Returns each track's share at a joint, following [`Mix`](crate::pose::Mix). The rest pose fills up what the blended
/// and overriding tracks leave of 1.
fn contributions(character: &Character, controller: &AnimationController, joint: usize) -> Vec<Contribution> {
    let layers = controller.layers(character).filter_map(|layer| {
        let clip = character.clips.get(layer.clip)?;
        let mask = match layer.mask {
            Some(name) => character.masks.get(name).map_or(0.0, |mask| mask.get(joint)),
            None => 1.0,
        };
        let moves = clip.rows().get(joint / 4).is_some_and(|row| row.animated[joint % 4] > 0.0);
        let share = if moves { layer.weight * mask } else { 0.0 };
        let (mode, priority) = (layer.blend, layer.priority);
        let turn = if moves { turn_of(character, clip, layer.time, joint) } else { 0.0 };
        Some(Contribution {
            track: layer.track,
            clip: layer.clip,
            weight: layer.weight,
            mask,
            moves,
            mode,
            priority,
            turn,
            share,
        })
    });
    let mut all: Vec<_> = layers.collect();
    settle(&mut all, controller.priority_blend());
    all
}

/// Returns by how many degrees a clip turns a joint, from its rest pose or, for an additive clip, in total.
fn turn_of(character: &Character, clip: &SkeletalClip, time: f64, joint: usize) -> f32 {
    let FrameSpan { first, second, fraction } = FrameSpan::new(clip, time);
    let (first, second) = (clip.transform_at(joint, first), clip.transform_at(joint, second));
    let turned = first.rotation.lerp(second.rotation, fraction);
    let from = if clip.additive { JointTransform::IDENTITY } else { character.skeleton.rest_of(joint as JointIndex) };
    from.rotation.angle_between(turned).to_degrees()
}

/// Turns weight · mask into shares of the pose.
fn settle(all: &mut [Contribution], priority_blend: f32) {
    let group = |all: &[Contribution], priority| -> f32 {
        all.iter().filter(|c| c.mode == BlendMode::Blend && c.priority == priority).map(|c| c.share).sum()
    };
    let (low, high) = (group(all, TrackPriority::Low), group(all, TrackPriority::High));
    for c in all.iter_mut() {
        let (sum, part) = match c.priority {
            TrackPriority::Low => (low, if high > 0.0 { 1.0 - priority_blend } else { 1.0 }),
            TrackPriority::High => (high, if low > 0.0 { priority_blend } else { 1.0 }),
        };
        match c.mode {
            BlendMode::Blend => c.share = if sum > 0.0 { c.share / sum * part } else { 0.0 },
            BlendMode::Additive => c.share = c.share.min(Add::MAX_WEIGHT),
            BlendMode::Override => {}
        }
    }
    // Overrides are applied on top of the blend, in order; each takes its share from everything below it.
    for at in 0..all.len() {
        if all[at].mode == BlendMode::Override {
            let taken = all[at].share.clamp(0.0, 1.0);
            all[at].share = taken;
            for (below, c) in all.iter_mut().enumerate() {
                if c.mode == BlendMode::Blend || below < at {
                    c.share *= 1.0 - taken;
                }
            }
        }
    }
}

/// Shows the tab; returns the joint it explains, to highlight it in the view.
pub(super) fn show(
    ui: &mut Ui,
    selected: &mut Option<JointIndex>,
    character: &Character,
    item: &InspectedItem,
) -> Option<JointIndex> {
    let names = character.skeleton.names();
    ui.horizontal(|ui| {
        ui.weak("joint");
        let title = selected.and_then(|joint| names.get(usize::from(joint))).map_or("select", |name| name);
        egui::ComboBox::from_id_salt("explain").width(220.0).selected_text(title).truncate().show_ui(ui, |ui| {
            for (joint, name) in names.iter().enumerate() {
                ui.selectable_value(selected, Some(joint as JointIndex), &**name);
            }
        });
    });
    let joint = selected.filter(|&joint| usize::from(joint) < names.len())?;
    let contributions = contributions(character, &item.controller, usize::from(joint));
    let replaced: f32 = contributions.iter().filter(|c| c.mode != BlendMode::Additive).map(|c| c.share).sum();
    egui::ScrollArea::vertical().id_salt("explain").auto_shrink([false, false]).show(ui, |ui| {
        for c in &contributions {
            let name = character.clips.get(c.clip).map_or("", |clip| &clip.timing.name);
            let how = match (c.moves, c.mode) {
                (false, _) => "does not move this joint".to_owned(),
                (true, mode) => {
                    let mode = match (mode, c.priority) {
                        (BlendMode::Additive, _) => "additive",
                        (BlendMode::Override, _) => "override",
                        (BlendMode::Blend, TrackPriority::Low) => "low",
                        (BlendMode::Blend, TrackPriority::High) => "high",
                    };
                    let from = if c.mode == BlendMode::Additive { "added" } else { "from rest" };
                    format!("{mode}, weight {:.2} · mask {:.2}, {:.1}° {from}", c.weight, c.mask, c.turn)
                }
            };
            let text = if c.mode == BlendMode::Additive { format!("+{:.2}", c.share) } else { percent(c.share) };
            line(ui, &format!("{name}  (track {})", c.track.0), &how, c.share, text);
        }
        if replaced < 0.9995 {
            line(ui, "rest pose", "not covered by any track", 1.0 - replaced, percent(1.0 - replaced));
        }
        let by_hand = item.overrides.as_ref().map_or(&[][..], |overrides| &overrides.0);
        for change in by_hand.iter().filter(|change| change.joint == joint) {
            let how = match change.space {
                JointSpace::Parent => "replaces the result, relative to the parent",
                JointSpace::Model => "replaces the result, in model space",
                JointSpace::Joint => "added to the result",
            };
            line(ui, "pose override", how, change.weight, percent(change.weight));
        }
        let shown = local_of(character, item.joints(), joint).rotation;
        let turn = character.skeleton.rest_of(joint).rotation.angle_between(shown).to_degrees();
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
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| ui.monospace(text));
    });
    let (rect, _) = ui.allocate_exact_size(egui::vec2(ui.available_width(), 6.0), egui::Sense::hover());
    ui.painter().rect_filled(rect, 3.0, bar_background(ui.visuals()));
    let filled = egui::Rect::from_min_size(rect.min, egui::vec2(rect.width() * share.clamp(0.0, 1.0), rect.height()));
    ui.painter().rect_filled(filled, 3.0, accent(ui.visuals()));
    ui.label(RichText::new(how).weak());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(layers: &[(BlendMode, TrackPriority, f32)], priority_blend: f32) -> Vec<f32> {
        let layer = |&(mode, priority, share): &(BlendMode, TrackPriority, f32)| Contribution {
            track: TrackId::default(),
            clip: 0,
            weight: share,
            mask: 1.0,
            moves: true,
            mode,
            priority,
            turn: 0.0,
            share,
        };
        let mut all: Vec<_> = layers.iter().map(layer).collect();
        settle(&mut all, priority_blend);
        all.iter().map(|c| c.share).collect()
    }

    #[test]
    fn groups_are_normalized_and_then_mixed_by_the_priority_blend() {
        use {BlendMode::Blend, TrackPriority::*};
        assert_eq!(shares(&[(Blend, Low, 3.0), (Blend, Low, 1.0)], 0.9), [0.75, 0.25]);
        let mixed = shares(&[(Blend, Low, 3.0), (Blend, Low, 1.0), (Blend, High, 0.1)], 0.6);
        assert!(mixed.iter().zip([0.3, 0.1, 0.6]).all(|(a, b)| (a - b).abs() < 1e-6), "{mixed:?}");
        assert_eq!(shares(&[(Blend, Low, 0.0), (Blend, High, 0.1)], 0.2), [0.0, 1.0]);
    }

    #[test]
    fn an_override_takes_its_share_from_everything_below_and_an_additive_track_takes_nothing() {
        use {BlendMode::*, TrackPriority::*};
        let shares =
            shares(&[(Override, Low, 0.5), (Blend, Low, 2.0), (Additive, High, 0.7), (Override, High, 0.5)], 0.5);
        assert_eq!(shares, [0.25, 0.25, 0.35, 0.5]);
    }
}
