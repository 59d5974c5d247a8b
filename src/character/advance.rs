//! Advancing controllers, and dispatching the events that come up.

use super::{
    components::SkinnedCharacter,
    events::{AnimationCallback, AnimationFinished, AnimationLooped, AnimationStarted, CrossFadeFinished, send},
    layers::ActiveLayers,
    names::available,
    threads::batches,
};
use crate::{
    asset::Character,
    controller::{AnimationController, AnimationName, Clips, PlaybackEvent},
};
use bevy::{ecs::name::NameOrEntity, prelude::*, utils::Parallel};

/// The events of this frame, until they are dispatched.
#[derive(Resource, Default)]
pub(super) struct PendingEvents {
    by_thread: Parallel<ThreadEvents>,
    /// All of them, in order of time.
    in_order: Vec<PendingEvent>,
}

#[derive(Default)]
struct ThreadEvents {
    playback: Vec<PlaybackEvent>,
    pending: Vec<PendingEvent>,
}

/// An event and what decides on its place among those of the frame.
struct PendingEvent {
    /// Nanoseconds before the end of the frame. Anything finer is rounding, which must not decide.
    before_end: u64,
    entity: Entity,
    /// Index among the events of its character.
    index: usize,
    event: CharacterEvent,
}

enum CharacterEvent {
    Callback(AnimationCallback),
    Started(AnimationStarted),
    Looped(AnimationLooped),
    Finished(AnimationFinished),
    CrossFadeFinished(CrossFadeFinished),
}

/// Advances the controllers of all characters whose asset has loaded, and looks up what they play.
pub(super) fn advance(
    time: Res<Time>,
    assets: Res<Assets<Character>>,
    names: Query<NameOrEntity>,
    mut events: ResMut<PendingEvents>,
    mut characters: Query<(Entity, &SkinnedCharacter, &mut AnimationController, &mut ActiveLayers)>,
) {
    let dt = time.delta_secs_f64();
    let by_thread = &mut events.by_thread;
    characters.par_iter_mut().batching_strategy(batches()).for_each_init(
        || by_thread.borrow_local_mut(),
        |events, (entity, handle, mut controller, mut layers)| {
            let Some(character) = assets.get(handle.id()) else { return };
            // Time passing is not a change that others need to hear of.
            let controller = controller.bypass_change_detection();
            let ThreadEvents { playback, pending } = &mut **events;
            // Bevy's time never runs backwards, and an advance that is refused changes nothing.
            if controller.advance(dt, character, playback).is_err() {
                return;
            }
            // Now, while the tracks are in the cache.
            layers.bypass_change_detection().look_up(character, controller);
            if playback.is_empty() {
                return;
            }
            // In real time, which characters in slow motion share with the others.
            let (end, scale) = (controller.time(), controller.time_scale().max(f64::MIN_POSITIVE));
            let mut before_end = u64::MAX;
            for (index, event) in playback.drain(..).enumerate() {
                // The events of one character are in order already.
                before_end = before_end.min(((end - event.time()) / scale * 1e9).round() as u64);
                if let Some(event) = translate(event, entity, character, &names) {
                    pending.push(PendingEvent { before_end, entity, index, event });
                }
            }
        },
    );
}

/// The event as characters report it; what only concerns the log is logged here.
fn translate(
    event: PlaybackEvent,
    entity: Entity,
    character: &Character,
    names: &Query<NameOrEntity>,
) -> Option<CharacterEvent> {
    let name_of =
        |clip: usize| character.timing(clip).map(|timing| AnimationName::new(timing.name.clone())).unwrap_or_default();
    let who = || names.get(entity).map_or_else(|_| entity.to_string(), |name| name.to_string());
    Some(match event {
        PlaybackEvent::Callback(callback) => CharacterEvent::Callback(AnimationCallback {
            entity,
            track: callback.track,
            clip: name_of(callback.clip),
            name: callback.name,
            clip_time: callback.clip_time,
            time: callback.time,
            weight: callback.weight,
            data: callback.data,
        }),
        PlaybackEvent::Started { track, clip, .. } => {
            CharacterEvent::Started(AnimationStarted { entity, track, clip: name_of(clip) })
        }
        PlaybackEvent::Looped { track, clip, .. } => {
            CharacterEvent::Looped(AnimationLooped { entity, track, clip: name_of(clip) })
        }
        PlaybackEvent::Finished { track, clip, .. } => {
            CharacterEvent::Finished(AnimationFinished { entity, track, clip: name_of(clip) })
        }
        PlaybackEvent::CrossFadeFinished { track, clip, .. } => {
            CharacterEvent::CrossFadeFinished(CrossFadeFinished { entity, track, clip: name_of(clip) })
        }
        PlaybackEvent::UnknownClip { name, .. } => {
            warn!("cannot play `{name}` on {}: no such clip {}", who(), available(character.clip_names()));
            return None;
        }
        PlaybackEvent::TooManyCallbacks { clip, limit, .. } => {
            let clip = name_of(clip);
            warn!("{}: one frame passed more than {limit} callbacks of `{clip}`; the rest were dropped", who());
            return None;
        }
    })
}

/// Triggers the events of the frame on their characters, in order of time.
pub(super) fn dispatch_events(
    mut commands: Commands,
    mut events: ResMut<PendingEvents>,
    mut callbacks: Option<ResMut<Messages<AnimationCallback>>>,
    mut started: Option<ResMut<Messages<AnimationStarted>>>,
    mut looped: Option<ResMut<Messages<AnimationLooped>>>,
    mut finished: Option<ResMut<Messages<AnimationFinished>>>,
    mut faded: Option<ResMut<Messages<CrossFadeFinished>>>,
) {
    let PendingEvents { by_thread, in_order } = &mut *events;
    for events in by_thread.iter_mut() {
        in_order.append(&mut events.pending);
    }
    // Which thread saw an event is chance; its time, its character and its index are not.
    in_order.sort_unstable_by(|a, b| {
        b.before_end.cmp(&a.before_end).then(a.entity.cmp(&b.entity)).then(a.index.cmp(&b.index))
    });
    for PendingEvent { event, .. } in in_order.drain(..) {
        match event {
            CharacterEvent::Callback(event) => send(&mut commands, &mut callbacks, event),
            CharacterEvent::Started(event) => send(&mut commands, &mut started, event),
            CharacterEvent::Looped(event) => send(&mut commands, &mut looped, event),
            CharacterEvent::Finished(event) => send(&mut commands, &mut finished, event),
            CharacterEvent::CrossFadeFinished(event) => send(&mut commands, &mut faded, event),
        }
    }
}
