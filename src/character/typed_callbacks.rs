//! Callbacks as types of the game's own.

use super::{
    AnimationCallback,
    names::{hint, name_of},
};
use bevy::{
    ecs::{name::NameOrEntity, observer::CachedObservers},
    platform::collections::{HashMap, HashSet},
    prelude::*,
};
use serde::de::DeserializeOwned;
use std::{any::type_name, ops::Deref, sync::Arc};

/// A callback whose data is a type of your own. See [`add_callback_type`](super::AppCharacterExt::add_callback_type).
///
/// Dereferences to the data.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{character::{AppCharacterExt, Callback}, controller::CallbackKind};
/// /// `(time: 0.4, until: 0.55, name: "hit_window", data: (damage: 12))` in the manifest.
/// #[derive(serde::Deserialize)]
/// struct HitWindow {
///     damage: u32,
/// }
///
/// fn swing(hit: On<Callback<HitWindow>>) {
///     if hit.callback.kind == CallbackKind::Begin {
///         info!("{} strikes, for {} damage", hit.entity, hit.damage);
///     }
/// }
/// # App::new().add_callback_type::<HitWindow>("hit_window").add_observer(swing);
/// ```
#[derive(EntityEvent, Clone, Debug, PartialEq)]
pub struct Callback<T: Send + Sync + 'static> {
    /// The character.
    pub entity: Entity,
    /// The key's data.
    pub data: T,
    /// Everything else: the clip, the time, the weight, and whether it is a plain key or the begin or end of a range.
    pub callback: AnimationCallback,
}

impl<T: Send + Sync + 'static> Deref for Callback<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.data
    }
}

pub(super) fn add<T: DeserializeOwned + Send + Sync + 'static>(app: &mut App, name: Arc<str>) {
    if !app.world().contains_resource::<CallbackTypes>() {
        app.init_resource::<CallbackTypes>()
            .add_observer(trigger_typed);
    }
    let of_name = &mut app.world_mut().resource_mut::<CallbackTypes>().of_name;
    of_name.entry(name).or_default().push(CallbackType {
        name: type_name::<T>(),
        trigger: trigger::<T>,
    });
}

/// The types of callbacks, by name.
#[derive(Resource, Default)]
struct CallbackTypes {
    of_name: HashMap<Arc<str>, Vec<CallbackType>>,
    /// Messages that were logged already.
    said: HashSet<String>,
}

#[derive(Clone, Copy)]
struct CallbackType {
    name: &'static str,
    trigger: fn(&AnimationCallback, &mut Commands) -> Result<(), ron::Error>,
}

fn trigger<T: DeserializeOwned + Send + Sync + 'static>(
    callback: &AnimationCallback,
    commands: &mut Commands,
) -> Result<(), ron::Error> {
    let data: T = callback.data_as()?;
    commands.trigger(Callback {
        entity: callback.entity,
        data,
        callback: callback.clone(),
    });
    Ok(())
}

fn trigger_typed(
    callback: On<AnimationCallback>,
    mut types: ResMut<CallbackTypes>,
    names: Query<NameOrEntity>,
    mut commands: Commands,
) {
    let CallbackTypes { of_name, said } = &mut *types;
    let AnimationCallback {
        name, clip, data, ..
    } = callback.event();
    let Some(found) = of_name.get(&**name) else {
        if !said.contains(&**name) {
            said.insert(name.to_string());
            let (name, who) = (name.clone(), name_of(&names, callback.entity));
            let hint = hint(&name, of_name.keys().map(|name| &**name));
            commands.queue(move |world: &mut World| {
                if !is_received_untyped(world) {
                    warn!("nobody receives the callback `{name}` of {who}: it was not added to the app{hint}");
                }
            });
        }
        return;
    };
    for of in found {
        if let Err(error) = (of.trigger)(&callback, &mut commands) {
            let message = format!(
                "callback `{name}` of clip `{clip}`: {data} is not a `{}`: {error}",
                of.name
            );
            if !said.contains(&message) {
                warn!("{message}");
                said.insert(message);
            }
        }
    }
}

/// Returns `true` if the app reads callbacks as messages, or observes them other than by [`trigger_typed`].
fn is_received_untyped(world: &World) -> bool {
    if world.contains_resource::<Messages<AnimationCallback>>() {
        return true;
    }
    let observers = world
        .event_key::<AnimationCallback>()
        .and_then(|key| world.observers().try_get_observers(key));
    let others = |all: &CachedObservers| {
        all.global_observers().len() > 1 || !all.entity_observers().is_empty()
    };
    observers.is_some_and(others)
}
