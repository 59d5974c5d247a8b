//! Recent animation events of the inspected character.

use super::InspectedCharacter;
use crate::{
    character::{AnimationCallback, AnimationFinished, AnimationLooped, AnimationStarted, CrossFadeFinished},
    controller::{AnimationController, AnimationName, CallbackKind, TrackId},
};
use bevy::{ecs::system::SystemParam, prelude::*};
use std::collections::VecDeque;

/// Number of events kept.
const CAPACITY: usize = 200;

/// Events since the panel was opened, newest first.
#[derive(Resource, Default)]
pub(super) struct EventLog {
    character: Option<Entity>,
    pub(super) entries: VecDeque<Entry>,
}

pub(super) struct Entry {
    /// Real time in seconds at which it arrived, for the highlight.
    pub(super) seen: f64,
    /// The controller's time at the end of that frame.
    pub(super) time: f64,
    pub(super) track: TrackId,
    pub(super) clip: AnimationName,
    pub(super) kind: Kind,
}

pub(super) enum Kind {
    /// A callback: its name, time in the clip and data.
    Callback {
        name: AnimationName,
        kind: CallbackKind,
        at: f64,
        data: String,
    },
    Started,
    Looped,
    Finished,
    Faded,
}

impl EventLog {
    /// Returns the real time, in seconds, at which a callback last fired on a track.
    pub(super) fn last_fired(&self, track: TrackId, clip: &str, name: &str, at: f64) -> Option<f64> {
        let is = |entry: &&Entry| {
            let fired = matches!(&entry.kind, Kind::Callback { name: n, at: a, .. } if **n == *name && *a == at);
            fired && entry.track == track && *entry.clip == *clip
        };
        self.entries.iter().find(is).map(|entry| entry.seen)
    }
}

#[derive(SystemParam)]
pub(super) struct Events<'w, 's> {
    callbacks: MessageReader<'w, 's, AnimationCallback>,
    started: MessageReader<'w, 's, AnimationStarted>,
    looped: MessageReader<'w, 's, AnimationLooped>,
    finished: MessageReader<'w, 's, AnimationFinished>,
    faded: MessageReader<'w, 's, CrossFadeFinished>,
}

pub(super) fn collect(
    mut log: ResMut<EventLog>,
    inspected: Res<InspectedCharacter>,
    real_time: Res<Time<Real>>,
    controllers: Query<&AnimationController>,
    mut events: Events,
) {
    let Events { callbacks, started, looped, finished, faded } = &mut events;
    if log.character != inspected.0 {
        log.entries.clear();
        log.character = inspected.0;
    }
    let shown = log.character;
    let seen = real_time.elapsed_secs_f64();
    let time = shown.and_then(|entity| controllers.get(entity).ok()).map_or(0.0, AnimationController::time);
    let mut add = |entity: Entity, track: TrackId, clip: &AnimationName, kind: &dyn Fn() -> Kind| {
        if Some(entity) == shown {
            log.entries.push_front(Entry { seen, time, track, clip: clip.clone(), kind: kind() });
        }
    };
    for event in started.read() {
        add(event.entity, event.track, &event.clip, &|| Kind::Started);
    }
    for event in callbacks.read() {
        let data = || match &*event.data {
            ron::Value::Unit => String::new(),
            data => ron::to_string(data).unwrap_or_default(),
        };
        let kind = || Kind::Callback { name: event.name.clone(), kind: event.kind, at: event.clip_time, data: data() };
        add(event.entity, event.track, &event.clip, &kind);
    }
    for event in looped.read() {
        add(event.entity, event.track, &event.clip, &|| Kind::Looped);
    }
    for event in finished.read() {
        add(event.entity, event.track, &event.clip, &|| Kind::Finished);
    }
    for event in faded.read() {
        add(event.entity, event.track, &event.clip, &|| Kind::Faded);
    }
    log.entries.truncate(CAPACITY);
}
