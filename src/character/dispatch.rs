//! Triggering the events of animations.

use super::{
    CharacterSystems,
    advance::{CharacterEvent, PendingEvent, PendingEvents, ThreadEvents},
    events::{
        AnimationCallback, AnimationFinished, AnimationLooped, AnimationStarted, CrossFadeFinished,
        StateEntered, is_heard, note_observers, send_now,
    },
    hierarchy::upward,
    pose_state::EventPlaces,
    rollback::{AnimationRevoked, RollbackEvents},
    threads::trim,
};
use bevy::{ecs::schedule::InternedScheduleLabel, prelude::*};
use glam::Affine3A;
use std::mem;

/// Triggers the events of animations: [`AnimationCallback`], [`AnimationStarted`], [`AnimationLooped`],
/// [`AnimationFinished`], [`CrossFadeFinished`], and [`StateEntered`]; for characters with [`RollbackEvents`], also
/// [`AnimationRevoked`].
///
/// Part of [`MarionettePlugins`](crate::MarionettePlugins).
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{character::AnimationEventPlugin, prelude::*};
/// /// Plays the sounds of footsteps.
/// struct FootstepPlugin;
///
/// impl Plugin for FootstepPlugin {
///     fn build(&self, app: &mut App) {
///         app.add_observer(|step: On<AnimationCallback>| info!("{}", step.name));
///     }
///
///     fn finish(&self, app: &mut App) {
///         assert!(app.is_plugin_added::<AnimationEventPlugin>(), "footsteps are callbacks");
///     }
/// }
/// ```
pub struct AnimationEventPlugin {
    schedule: InternedScheduleLabel,
}

impl AnimationEventPlugin {
    pub(crate) fn new(schedule: InternedScheduleLabel) -> Self {
        Self { schedule }
    }
}

impl Plugin for AnimationEventPlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<AnimationCallback>()
            .register_type::<AnimationStarted>()
            .register_type::<AnimationLooped>()
            .register_type::<AnimationFinished>()
            .register_type::<CrossFadeFinished>()
            .register_type::<StateEntered>()
            .register_type::<AnimationRevoked>()
            .register_type::<RollbackEvents>()
            .add_systems(
                self.schedule,
                (
                    note_observers
                        .run_if(any_match_filter::<Added<Observer>>)
                        .before(CharacterSystems::Advance),
                    dispatch_events.in_set(CharacterSystems::Callbacks),
                ),
            );
    }
}

/// Triggers the events of the frame on their characters, in order of time. Without observers and
/// messages, events cost next to nothing.
fn dispatch_events(
    world: &mut World,
    transforms: &mut QueryState<(&Transform, Option<&ChildOf>)>,
    mut in_order: Local<Vec<PendingEvent>>,
) {
    let anyone_listens = is_heard::<AnimationCallback>(world)
        || is_heard::<AnimationStarted>(world)
        || is_heard::<AnimationLooped>(world)
        || is_heard::<AnimationFinished>(world)
        || is_heard::<CrossFadeFinished>(world)
        || is_heard::<StateEntered>(world)
        || is_heard::<AnimationRevoked>(world);
    for ThreadEvents { pending, .. } in world.resource_mut::<PendingEvents>().0.iter_mut() {
        let count = pending.len();
        if anyone_listens {
            in_order.append(pending);
        } else {
            pending.clear();
        }
        trim(pending, count);
    }
    let count = in_order.len();
    // Which thread saw an event is chance; its time, its character and its index are not.
    in_order.sort_unstable_by(|a, b| {
        b.before_end
            .cmp(&a.before_end)
            .then(a.entity.cmp(&b.entity))
            .then(a.index.cmp(&b.index))
    });
    // Observers run before transforms are propagated, so the current places of their characters are
    // computed here.
    let mut places = mem::take(&mut world.resource_mut::<EventPlaces>().0);
    let transforms = transforms.query(world);
    for PendingEvent { entity, .. } in &*in_order {
        places
            .entry(*entity)
            .or_insert_with(|| world_of(*entity, &transforms));
    }
    world.resource_mut::<EventPlaces>().0 = places;
    for PendingEvent { event, .. } in in_order.drain(..) {
        match event {
            CharacterEvent::Callback(event) => send_now(world, event),
            CharacterEvent::Started(event) => send_now(world, event),
            CharacterEvent::Looped(event) => send_now(world, event),
            CharacterEvent::Finished(event) => send_now(world, event),
            CharacterEvent::CrossFadeFinished(event) => send_now(world, event),
            CharacterEvent::StateEntered(event) => send_now(world, event),
            CharacterEvent::Revoked(event) => send_now(world, event),
        }
    }
    trim(&mut in_order, count);
    // A place counts for these events only: a character may have moved before the next step, and others read where it was drawn.
    let places = &mut world.resource_mut::<EventPlaces>().0;
    let count = places.len();
    places.clear();
    // Gives back the memory of a frame with unusually many events.
    if places.capacity() > 4 * count.max(256) {
        places.shrink_to(2 * count);
    }
}

/// Returns an entity's place in the world after transforms are propagated, if its own transform and
/// those above it are known.
fn world_of(entity: Entity, transforms: &Query<(&Transform, Option<&ChildOf>)>) -> Affine3A {
    let parent_of = |entity| transforms.get(entity).ok()?.1.map(ChildOf::parent);
    upward(entity, parent_of).fold(Affine3A::IDENTITY, |world, entity| {
        transforms
            .get(entity)
            .map_or(world, |(transform, _)| transform.compute_affine() * world)
    })
}
