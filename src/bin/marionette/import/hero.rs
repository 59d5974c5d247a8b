//! Makes a hero of a humanoid: what a game usually asks of one, from its joints and clips.

use super::{
    Draft,
    actions::Actions,
    gaits::{Gait, Gaits},
    humanoid::Humanoid,
};
use bevy_marionette::{
    import::{
        BlendPlace, BlendSpaceEntry, CallbackEntry, ClipRootMotion, Manifest, RootMotionEntry,
    },
    internals::import::EmbeddedManifest,
    model::{BlendSync, Model},
    ron,
};
use glam::Vec2;
use std::collections::BTreeMap;

/// The blend space of a hero's gaits.
pub const SPACE: &str = "locomotion";
/// The callback of a foot that lands.
const STEP: &str = "footstep";

/// Comments of a hero's entries.
#[derive(Default)]
pub struct Notes {
    pub space: String,
    pub states: BTreeMap<String, String>,
}

/// Adds to a manifest what a humanoid can do; nothing for other bodies.
pub fn equip(
    manifest: &mut Manifest,
    drafts: &mut [Draft],
    model: &Model,
    said: &EmbeddedManifest,
) -> Notes {
    let mut notes = Notes::default();
    let Some(body) = Humanoid::new(&model.skeleton) else {
        return notes;
    };
    // What the model's file says itself is its author's choice, and holds without being repeated.
    manifest.feet = body.feet().filter(|_| said.feet.is_none());
    manifest.look_at = body.look_at().filter(|_| said.look_at.is_none());
    if said.goals.is_empty() {
        manifest.goals = body.goals();
    }
    let Some(legs) = said.feet.as_ref().or(manifest.feet.as_ref()) else {
        return notes;
    };
    let gaits = Gaits::new(drafts, model, legs);
    let points = gaits
        .space(drafts)
        .filter(|_| said.blend_spaces.is_empty() && said.states.is_empty());
    let Some(points) = points else {
        return notes;
    };
    for gait in &gaits.moving {
        note_gait(gait, &mut drafts[gait.clip]);
    }
    if let Some(joint) = gaits.moving.iter().find_map(|gait| gait.travels) {
        // Hips sway while they travel, and clips that aren't named stay as they are.
        manifest.root_motion = Some(RootMotionEntry {
            joint: Some(model.skeleton.name(joint).to_string()),
            ground: false,
            turn: false,
            steady: true,
            ..RootMotionEntry::default()
        });
    }
    let is_plane = gaits.is_plane();
    notes.space = match is_plane {
        true => "By velocity in meters per second: to the right, and ahead. Measured at the feet.",
        false => "By speed in meters per second. Measured at the feet.",
    }
    .to_owned();
    let place = |at: Vec2| {
        // Of the float's own digits, not of the nearest double.
        let [x, y] = [at.x, at.y].map(|speed| (100.0 * f64::from(speed)).round() / 100.0);
        match is_plane {
            true => BlendPlace::Plane(x, y),
            false => BlendPlace::Line(y),
        }
    };
    let points = points
        .into_iter()
        .map(|(clip, at)| (clip, place(at)))
        .collect();
    let is_clear = gaits.moving.iter().all(|gait| gait.is_clear);
    let space = BlendSpaceEntry {
        points,
        sync: match is_clear {
            true => BlendSync::Feet,
            false => BlendSync::Keys(vec![STEP.to_owned()]),
        },
        ..BlendSpaceEntry::default()
    };
    manifest.blend_spaces.insert(SPACE.to_owned(), space);
    let Actions {
        states,
        notes: reasons,
    } = Actions::new(drafts, SPACE);
    manifest.states = states;
    notes.states = reasons;
    notes
}

/// Adds what was measured to a clip's entry.
fn note_gait(gait: &Gait, draft: &mut Draft) {
    if gait.travels.is_some() {
        draft.entry.root_motion = Some(ClipRootMotion {
            ground: Some(true),
            ..ClipRootMotion::default()
        });
    } else if gait.velocity.x == 0.0 {
        draft.entry.ground_speed = Some(gait.velocity.y);
    }
    if draft.clip.timing.callbacks.is_empty() {
        draft.entry.callbacks = gait
            .steps
            .iter()
            .map(|&(time, foot)| {
                let side = ["left", "right"][foot.min(1)];
                let data = ron::Value::String(side.to_owned());
                CallbackEntry {
                    data,
                    ..CallbackEntry::new((1000.0 * time).round() / 1000.0, STEP)
                }
            })
            .collect();
    }
}
