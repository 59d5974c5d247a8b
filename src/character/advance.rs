//! Every controller's clock, seen or not, and what came up on the way.

use super::{
    AnimationCallback, AnimationFinished, AnimationLooped, AnimationStarted, CrossFadeFinished, Playing,
    SkinnedCharacter, evaluate::batches,
};
use crate::{
    asset::Character,
    controller::{AnimationController, AnimationName, Clips, PlaybackEvent},
};
use bevy::{prelude::*, utils::Parallel};

/// What came up in this frame's advance, until it is handed out.
#[derive(Resource, Default)]
pub(super) struct Collected {
    /// A list for each thread.
    by_thread: Parallel<Pending>,
    /// All of them, in order of time.
    in_order: Vec<Happened>,
}

#[derive(Default)]
struct Pending {
    events: Vec<PlaybackEvent>,
    happened: Vec<Happened>,
}

/// An event with its place among the others of the frame.
struct Happened {
    /// Nanoseconds before the frame's end: below that lies rounding, which must not decide on an order.
    before_end: u64,
    entity: Entity,
    /// Place among the events of one character.
    order: usize,
    what: What,
}

enum What {
    Callback(AnimationCallback),
    Started(AnimationStarted),
    Looped(AnimationLooped),
    Finished(AnimationFinished),
    CrossFadeFinished(CrossFadeFinished),
}

/// Advances the controllers of all characters whose asset is there.
pub(super) fn advance(
    time: Res<Time>,
    assets: Res<Assets<Character>>,
    mut collected: ResMut<Collected>,
    mut characters: Query<(Entity, &SkinnedCharacter, &mut AnimationController, &mut Playing)>,
) {
    let dt = time.delta_secs_f64();
    let by_thread = &mut collected.by_thread;
    characters.par_iter_mut().batching_strategy(batches()).for_each_init(
        || by_thread.borrow_local_mut(),
        |pending, (entity, handle, mut controller, mut playing)| {
            let Some(character) = assets.get(handle.id()) else { return };
            // Time passing is no change worth telling others about.
            let controller = controller.bypass_change_detection();
            let Pending { events, happened } = &mut **pending;
            // Bevy's time never runs backwards, and a step that is refused changes nothing.
            if controller.advance(dt, character, events).is_err() {
                return;
            }
            // While the tracks are at hand.
            playing.bypass_change_detection().look_up(character, controller);
            if events.is_empty() {
                return;
            }
            let end = controller.time();
            let mut before_end = u64::MAX;
            for (order, event) in events.drain(..).enumerate() {
                // One character's events are in order already.
                before_end = before_end.min(((end - event.time()) * 1e9).round() as u64);
                if let Some(what) = translate(event, entity, character, controller) {
                    happened.push(Happened { before_end, entity, order, what });
                }
            }
        },
    );
}

fn translate(
    event: PlaybackEvent,
    entity: Entity,
    character: &Character,
    controller: &AnimationController,
) -> Option<What> {
    let name =
        |clip: usize| character.timing(clip).map(|timing| AnimationName::new(timing.name.clone())).unwrap_or_default();
    Some(match event {
        PlaybackEvent::Callback(callback) => {
            let data = controller.callback_data(&callback, character).cloned().unwrap_or(ron::Value::Unit);
            What::Callback(AnimationCallback {
                entity,
                track: callback.track,
                clip: name(callback.clip),
                name: callback.name.into(),
                time: callback.key_time,
                weight: callback.weight,
                data,
            })
        }
        PlaybackEvent::Started { track, clip, .. } => {
            What::Started(AnimationStarted { entity, track, clip: name(clip) })
        }
        PlaybackEvent::Looped { track, clip, .. } => What::Looped(AnimationLooped { entity, track, clip: name(clip) }),
        PlaybackEvent::Finished { track, clip, .. } => {
            What::Finished(AnimationFinished { entity, track, clip: name(clip) })
        }
        PlaybackEvent::CrossFadeFinished { track, clip, .. } => {
            What::CrossFadeFinished(CrossFadeFinished { entity, track, clip: name(clip) })
        }
        PlaybackEvent::UnknownClip { name, .. } => {
            let names: Vec<_> = character.clip_names().map(|name| format!("`{name}`")).collect();
            let list = if names.is_empty() { "it has none".into() } else { format!("it has {}", names.join(", ")) };
            warn!("{entity} was to play `{name}`, but the character has no such clip: {list}");
            return None;
        }
        PlaybackEvent::TooManyCallbacks { clip, limit, .. } => {
            let clip = name(clip);
            warn!("{entity}: one step passed more than {limit} callbacks of `{clip}`; the others were dropped");
            return None;
        }
    })
}

/// Triggers what came up on the characters, and writes it as messages, in order of time.
pub(super) fn hand_out(
    mut commands: Commands,
    mut collected: ResMut<Collected>,
    mut callbacks: MessageWriter<AnimationCallback>,
    mut started: MessageWriter<AnimationStarted>,
    mut looped: MessageWriter<AnimationLooped>,
    mut finished: MessageWriter<AnimationFinished>,
    mut faded: MessageWriter<CrossFadeFinished>,
) {
    let Collected { by_thread, in_order } = &mut *collected;
    for pending in by_thread.iter_mut() {
        in_order.append(&mut pending.happened);
    }
    // Which thread saw what is chance; moment, entity and place are not.
    in_order.sort_unstable_by(|a, b| {
        b.before_end.cmp(&a.before_end).then(a.entity.cmp(&b.entity)).then(a.order.cmp(&b.order))
    });
    for happened in in_order.drain(..) {
        match happened.what {
            What::Callback(event) => {
                callbacks.write(event.clone());
                commands.trigger(event);
            }
            What::Started(event) => {
                started.write(event.clone());
                commands.trigger(event);
            }
            What::Looped(event) => {
                looped.write(event.clone());
                commands.trigger(event);
            }
            What::Finished(event) => {
                finished.write(event.clone());
                commands.trigger(event);
            }
            What::CrossFadeFinished(event) => {
                faded.write(event.clone());
                commands.trigger(event);
            }
        }
    }
}
