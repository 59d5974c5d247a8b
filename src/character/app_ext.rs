//! Callbacks and states as types of the game's own.

use super::{typed_callbacks, typed_states};
use crate::controller::CharacterStates;
use bevy::{ecs::query::QueryFilter, prelude::*};
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// Makes callbacks and states types of your own.
pub trait AppCharacterExt {
    /// Triggers [`Callback<T>`](super::Callback) on characters whenever they pass a callback key called `name`. The key's data is
    /// read as `T`.
    ///
    /// For a range, it is triggered when the range begins and when it ends; see
    /// [`AnimationCallback::kind`](super::AnimationCallback::kind).
    ///
    /// Data that cannot be read as `T` is logged once, and so is a key without a receiver: its name
    /// was not added, and there is no observer or message reader of [`AnimationCallback`](super::AnimationCallback).
    ///
    /// ```no_run
    /// # use bevy::prelude::*;
    /// # use bevy_marionette::{character::{AppCharacterExt, Callback}, prelude::*};
    /// /// `data: (side: "left", loudness: 0.8)` in the manifest.
    /// #[derive(serde::Deserialize)]
    /// struct Footstep {
    ///     side: String,
    ///     loudness: f32,
    /// }
    ///
    /// App::new()
    ///     .add_plugins((DefaultPlugins, MarionettePlugins::default()))
    ///     .add_callback_type::<Footstep>("footstep")
    ///     .add_observer(|step: On<Callback<Footstep>>| info!("{} on the {}", step.entity, step.side))
    ///     .run();
    /// ```
    fn add_callback_type<T: DeserializeOwned + Send + Sync + 'static>(
        &mut self,
        name: impl Into<Arc<str>>,
    ) -> &mut Self;

    /// Checks an enum of states, made with [`character_states!`](crate::character_states), against the states of characters
    /// when they load, and when they are reloaded. `F` is a filter that says which characters are meant, as in a query:
    /// `With<Player>`, or `()` for all that have states.
    ///
    /// A variant of which a character has no state is logged as an error, with the nearest name, and a state that no variant
    /// stands for as a warning; each once.
    ///
    /// ```no_run
    /// # use bevy::prelude::*;
    /// use bevy_marionette::{character::AppCharacterExt, character_states, prelude::*};
    ///
    /// character_states! {
    ///     enum Hero {
    ///         Ground = "ground",
    ///         Attack = "attack",
    ///     }
    /// }
    ///
    /// #[derive(Component)]
    /// struct Player;
    ///
    /// fn strike(
    ///     keys: Res<ButtonInput<KeyCode>>,
    ///     mut player: Single<&mut AnimationController, With<Player>>,
    /// ) -> Result {
    ///     if keys.just_pressed(KeyCode::KeyF) && player.state_as() == Some(Hero::Ground) {
    ///         player.go(Hero::Attack)?;
    ///     }
    ///     Ok(())
    /// }
    ///
    /// App::new()
    ///     .add_plugins((DefaultPlugins, MarionettePlugins::default()))
    ///     .add_character_states::<Hero, With<Player>>()
    ///     .add_systems(Update, strike)
    ///     .run();
    /// ```
    fn add_character_states<S: CharacterStates, F: QueryFilter + 'static>(&mut self) -> &mut Self;
}

impl AppCharacterExt for App {
    fn add_callback_type<T: DeserializeOwned + Send + Sync + 'static>(
        &mut self,
        name: impl Into<Arc<str>>,
    ) -> &mut Self {
        typed_callbacks::add::<T>(self, name.into());
        self
    }

    fn add_character_states<S: CharacterStates, F: QueryFilter + 'static>(&mut self) -> &mut Self {
        self.add_systems(Last, typed_states::check::<S, F>)
    }
}
