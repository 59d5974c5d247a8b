//! Advancing controllers, and collecting their events.

use super::{
    CharacterSystems,
    bounds::OutgrownBoxes,
    components::SkinnedCharacter,
    events::{
        AnimationCallback, AnimationFinished, AnimationLooped, AnimationStarted, CallbackMoment,
        CallbacksObserved, CrossFadeFinished, Moment, StateEntered,
    },
    layers::ActiveLayers,
    names::{SaidNames, hint, name_of},
    rollback::{AnimationRevoked, RollbackEvents},
    root_motion::RootMotion,
    spawn::take_up_states,
    threads::batches,
    unknown_names::{self, check_range, clips_and_spaces},
};
use crate::{
    asset::Character,
    controller::{AnimationController, AnimationName, BlendMode, Clips, PlaybackEvent, TrackId},
    model::RootDelta,
};
use bevy::{
    ecs::{name::NameOrEntity, schedule::InternedScheduleLabel},
    prelude::*,
    utils::Parallel,
};

/// Adds what advances controllers, to a schedule.
pub(super) fn build(app: &mut App, schedule: InternedScheduleLabel) {
    app.init_resource::<PendingEvents>()
        .init_resource::<CallbacksObserved>()
        .init_resource::<SaidNames>()
        .add_systems(
            schedule,
            (
                unknown_names::warn_of_unknown
                    .after(CharacterSystems::Spawn)
                    .before(CharacterSystems::Advance),
                advance.in_set(CharacterSystems::Advance),
            )
                .distributive_run_if(any_with_component::<SkinnedCharacter>),
        );
}

/// The events of this frame, until they are dispatched.
#[derive(Resource, Default)]
pub(super) struct PendingEvents(pub(super) Parallel<ThreadEvents>);

#[derive(Default)]
pub(super) struct ThreadEvents {
    playback: Vec<PlaybackEvent>,
    pub(super) pending: Vec<PendingEvent>,
}

/// An event, and its place among those of the frame.
pub(super) struct PendingEvent {
    /// Nanoseconds before the end of the frame. Anything finer is rounding, which must not decide.
    pub(super) before_end: u64,
    pub(super) entity: Entity,
    /// Index among the events of its character.
    pub(super) index: usize,
    pub(super) event: CharacterEvent,
}

pub(super) enum CharacterEvent {
    Callback(AnimationCallback),
    Started(AnimationStarted),
    Looped(AnimationLooped),
    Finished(AnimationFinished),
    CrossFadeFinished(CrossFadeFinished),
    StateEntered(StateEntered),
    Revoked(AnimationRevoked),
}

/// Advances the controllers of all characters whose asset has loaded, and looks up their active
/// layers.
pub(super) fn advance(
    time: Res<Time>,
    assets: Res<Assets<Character>>,
    names: Query<NameOrEntity>,
    (observed, messages, said): (
        Res<CallbacksObserved>,
        Option<Res<Messages<AnimationCallback>>>,
        Res<SaidNames>,
    ),
    mut events: ResMut<PendingEvents>,
    mut outgrown: ResMut<OutgrownBoxes>,
    mut characters: Query<(
        Entity,
        &SkinnedCharacter,
        &mut AnimationController,
        &mut ActiveLayers,
        Option<&mut RootMotion>,
        Option<&mut RollbackEvents>,
    )>,
) {
    let dt = time.delta_secs_f64();
    let callbacks_are_heard = observed.0 || messages.is_some();
    let (events, outgrown) = (&mut events.0, &mut outgrown.0);
    // If no system dispatches them, events must not pile up.
    events.iter_mut().for_each(|thread| thread.pending.clear());
    characters
        .par_iter_mut()
        .batching_strategy(batches())
        .for_each_init(
            || (events.borrow_local_mut(), outgrown.borrow_local_mut()),
            |(events, outgrown),
             (entity, handle, mut controller, mut layers, root_motion, mut heard)| {
                let Some(character) = assets.get(handle.id()) else {
                    // Without clips, nothing carries it on.
                    if let Some(motion) = root_motion {
                        RootMotion::report_delta(motion, RootDelta::IDENTITY);
                    }
                    return;
                };
                // Now, too: the game may have given it a new controller since it loaded.
                if controller.time() == 0.0 {
                    take_up_states(entity, character, &mut controller);
                }
                // The passing of time is not a change that other systems need to react to.
                let controller = controller.bypass_change_detection();
                controller.look_at_asked_ranges(|name, controller| {
                    let who = || name_of(&names, entity);
                    check_range(name, character, controller, &said, who);
                });
                let ThreadEvents { playback, pending } = &mut **events;
                // Bevy's time never runs backwards, and an advance that is refused changes nothing.
                let mut carried = None;
                let advanced = match root_motion {
                    None => controller.advance(dt, character, playback),
                    Some(motion) => controller
                        .advance_with_root_motion(dt, character, playback)
                        .map(|delta| {
                            carried = motion.applies.then_some(delta);
                            RootMotion::report_delta(motion, delta);
                        }),
                };
                if advanced.is_err() {
                    return;
                }
                // Looked up now, while the tracks are in the cache.
                let layers = layers.bypass_change_detection();
                layers.show(0.0, character, controller);
                if layers.has_outgrown_boxes() {
                    outgrown.push(entity);
                }
                let end = controller.time();
                if let Some(heard) = &mut heard {
                    let heard = heard.bypass_change_detection();
                    playback.retain(|event| heard.hear(event, end));
                    for event in heard.revoked(end) {
                        let event = AnimationRevoked { entity, event };
                        pending.push(PendingEvent {
                            before_end: 0,
                            entity,
                            index: usize::MAX,
                            event: CharacterEvent::Revoked(event),
                        });
                    }
                }
                if playback.is_empty() {
                    return;
                }
                // In real time, which characters in slow motion share with the others.
                let scale = controller.scale().max(f64::MIN_POSITIVE);
                let mut before_end = u64::MAX;
                for (index, event) in playback.drain(..).enumerate() {
                    // The events of one character are in order already, and rounding must not
                    // change that.
                    let since = end - event.time();
                    before_end = before_end.min((since / scale * 1e9).round() as u64);
                    let moment = |of, clip, clip_time| {
                        if !callbacks_are_heard {
                            return CallbackMoment::default();
                        }
                        let place = (of, clip, clip_time);
                        let times = layers.times_ago(since, controller, character, place);
                        let elapsed = dt * controller.scale();
                        let carried = carried.filter(|_| elapsed > 0.0).unwrap_or_default();
                        let carried =
                            carried.share((since / elapsed.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0));
                        CallbackMoment(Some(Moment { times, carried }))
                    };
                    if let Some(event) = translate(
                        event,
                        entity,
                        character,
                        (since / scale).max(0.0),
                        moment,
                        &names,
                    ) {
                        pending.push(PendingEvent {
                            before_end,
                            entity,
                            index,
                            event,
                        });
                    }
                }
            },
        );
}

/// Returns the event that is triggered on the character. Problems are logged here instead.
fn translate(
    event: PlaybackEvent,
    entity: Entity,
    character: &Character,
    seconds_ago: f64,
    moment: impl FnOnce(TrackId, usize, f64) -> CallbackMoment,
    names: &Query<NameOrEntity>,
) -> Option<CharacterEvent> {
    let clip_name = |clip: usize| {
        character
            .timing(clip)
            .map(|timing| AnimationName::new(timing.name.clone()))
            .unwrap_or_default()
    };
    // The name that the track was asked to play. A game waits for that of the blend space, not for
    // that of a clip in it.
    let played = |clip: usize, space: Option<usize>| {
        let space = space.and_then(|space| character.blend_spaces().get(space));
        space.map_or_else(
            || clip_name(clip),
            |space| AnimationName::new(space.name().clone()),
        )
    };
    let who = || name_of(names, entity);
    Some(match event {
        PlaybackEvent::Callback(callback) => CharacterEvent::Callback(AnimationCallback {
            entity,
            track: callback.track,
            clip: clip_name(callback.clip),
            kind: callback.kind,
            name: callback.name,
            clip_time: callback.clip_time,
            time: callback.time,
            weight: callback.weight,
            seconds_ago,
            moment: moment(callback.track, callback.clip, callback.clip_time),
            current: callback.current,
            data: callback.data,
        }),
        PlaybackEvent::Started {
            track,
            clip,
            space,
            time,
        } => {
            let clip = played(clip, space);
            CharacterEvent::Started(AnimationStarted {
                entity,
                track,
                clip,
                time,
                seconds_ago,
            })
        }
        PlaybackEvent::Looped {
            track,
            clip,
            space,
            time,
        } => {
            let clip = played(clip, space);
            CharacterEvent::Looped(AnimationLooped {
                entity,
                track,
                clip,
                time,
                seconds_ago,
            })
        }
        PlaybackEvent::Finished {
            track,
            clip,
            space,
            time,
        } => {
            let clip = played(clip, space);
            CharacterEvent::Finished(AnimationFinished {
                entity,
                track,
                clip,
                time,
                seconds_ago,
            })
        }
        PlaybackEvent::CrossFadeFinished {
            track,
            clip,
            space,
            time,
        } => {
            let clip = played(clip, space);
            CharacterEvent::CrossFadeFinished(CrossFadeFinished {
                entity,
                track,
                clip,
                time,
                seconds_ago,
            })
        }
        PlaybackEvent::StateEntered {
            layer,
            state,
            from,
            time,
        } => CharacterEvent::StateEntered(StateEntered {
            entity,
            layer,
            state,
            from,
            time,
            seconds_ago,
        }),
        PlaybackEvent::UnknownClip { name, .. } => {
            let hint = hint(&name, clips_and_spaces(character));
            warn!(
                "cannot play `{name}` on {}: no such clip or blend space{hint}",
                who()
            );
            return None;
        }
        PlaybackEvent::BlendMismatch { clip, blend, .. } => {
            let (clip, who) = (clip_name(clip), who());
            match blend {
                BlendMode::Additive => warn!(
                    "{who} adds `{clip}`, which holds poses, not differences: mark the clip as `additive: true` in the \
                     manifest, or don't set the track's blend mode"
                ),
                _ => {
                    warn!(
                        "{who} blends `{clip}` as a pose, but the clip is additive: don't set the track's blend mode"
                    )
                }
            }
            return None;
        }
        PlaybackEvent::TooManyClips { limit, .. } => {
            warn!(
                "{}: more than {limit} clips of the queue or states follow each other in one step, the rest in the next: do their \
                 clips have any length?",
                who()
            );
            return None;
        }
        PlaybackEvent::TooManyCallbacks { clip, limit, .. } => {
            let clip = clip_name(clip);
            warn!(
                "{}: one frame passed more than {limit} callbacks of `{clip}`; the rest were dropped",
                who()
            );
            return None;
        }
    })
}
