//! Recent animation events of the inspected character.

use super::Inspector;
use crate::{
    character::{
        AnimationCallback, AnimationFinished, AnimationLooped, AnimationStarted, CrossFadeFinished,
        StateEntered,
    },
    controller::{AnimationName, CallbackKind, TrackId},
};
use bevy::{
    ecs::{message::MessageRegistry, system::SystemParam},
    prelude::*,
};
use std::collections::VecDeque;

/// Number of events kept.
const CAPACITY: usize = 200;

/// Events since the panel was opened, newest first.
#[derive(Resource, Default)]
pub(super) struct EventLog {
    character: Option<Entity>,
    /// `true` once events are written as messages.
    listening: bool,
    pub(super) entries: VecDeque<Entry>,
}

pub(super) struct Entry {
    /// Real time in seconds at which it arrived, for the highlight.
    pub(super) seen: f64,
    /// The controller's time when it happened.
    pub(super) time: f64,
    /// `None` for a state.
    pub(super) track: Option<TrackId>,
    /// The clip, or the state.
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
    /// A state was entered: its layer, and the state before.
    State {
        layer: Option<AnimationName>,
        from: Option<AnimationName>,
    },
}

impl EventLog {
    /// Returns the real time, in seconds, at which a callback last fired on a track.
    pub(super) fn last_fired(
        &self,
        track: TrackId,
        clip: &str,
        name: &str,
        at: f64,
    ) -> Option<f64> {
        let is = |entry: &&Entry| {
            let fired = matches!(&entry.kind, Kind::Callback { name: n, at: a, .. } if **n == *name && *a == at);
            fired && entry.track == Some(track) && *entry.clip == *clip
            // Newest first, so the first match is the last time it fired.
        };
        self.entries.iter().find(is).map(|entry| entry.seen)
    }
}

/// Turns on messages of all animation events that the log shows.
///
/// Messages cost a copy of every event of every character, so the app only pays for them once the panel was open.
pub(super) fn listen(world: &mut World) {
    fn add<M: Message>(world: &mut World) {
        if !world.contains_resource::<Messages<M>>() {
            MessageRegistry::register_message::<M>(world);
        }
    }
    add::<AnimationCallback>(world);
    add::<AnimationStarted>(world);
    add::<AnimationLooped>(world);
    add::<AnimationFinished>(world);
    add::<CrossFadeFinished>(world);
    add::<StateEntered>(world);
    world.resource_mut::<EventLog>().listening = true;
}

/// Run condition: the log is turned on.
pub(super) fn is_listening(log: Res<EventLog>) -> bool {
    log.listening
}

#[derive(SystemParam)]
pub(super) struct Events<'w, 's> {
    callbacks: MessageReader<'w, 's, AnimationCallback>,
    started: MessageReader<'w, 's, AnimationStarted>,
    looped: MessageReader<'w, 's, AnimationLooped>,
    finished: MessageReader<'w, 's, AnimationFinished>,
    faded: MessageReader<'w, 's, CrossFadeFinished>,
    states: MessageReader<'w, 's, StateEntered>,
}

pub(super) fn collect(
    mut log: ResMut<EventLog>,
    inspector: Res<Inspector>,
    real_time: Res<Time<Real>>,
    mut events: Events,
) {
    if log.character != inspector.character {
        log.entries.clear();
        log.character = inspector.character;
    }
    let shown = log.character;
    let seen = real_time.elapsed_secs_f64();
    let mut frame = Vec::new();
    let mut add = |entity: Entity,
                   track: Option<TrackId>,
                   clip: &AnimationName,
                   time: f64,
                   kind: &dyn Fn() -> Kind| {
        if Some(entity) == shown {
            frame.push(Entry {
                seen,
                time,
                track,
                clip: clip.clone(),
                kind: kind(),
            });
        }
    };
    for event in events.started.read() {
        add(
            event.entity,
            Some(event.track),
            &event.clip,
            event.time,
            &|| Kind::Started,
        );
    }
    for event in events.callbacks.read() {
        // Most callbacks have no data, which would be shown as `()`.
        let data = || match &*event.data {
            ron::Value::Unit => String::new(),
            _ => event.data.to_string(),
        };
        let kind = || Kind::Callback {
            name: event.name.clone(),
            kind: event.kind,
            at: event.clip_time,
            data: data(),
        };
        add(
            event.entity,
            Some(event.track),
            &event.clip,
            event.time,
            &kind,
        );
    }
    for event in events.looped.read() {
        add(
            event.entity,
            Some(event.track),
            &event.clip,
            event.time,
            &|| Kind::Looped,
        );
    }
    for event in events.finished.read() {
        add(
            event.entity,
            Some(event.track),
            &event.clip,
            event.time,
            &|| Kind::Finished,
        );
    }
    for event in events.faded.read() {
        add(
            event.entity,
            Some(event.track),
            &event.clip,
            event.time,
            &|| Kind::Faded,
        );
    }
    for event in events.states.read() {
        let kind = || Kind::State {
            layer: event.layer.clone(),
            from: event.from.clone(),
        };
        add(event.entity, None, &event.state, event.time, &kind);
    }
    // Each kind comes by itself, in order; what happened at one moment stays in the order above.
    frame.sort_by(|a, b| a.time.total_cmp(&b.time));
    frame
        .into_iter()
        .for_each(|entry| log.entries.push_front(entry));
    log.entries.truncate(CAPACITY);
}
