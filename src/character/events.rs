//! What a character tells its listeners.
//!
//! Each event is triggered on the character's entity, for observers, and written as a [`Message`].
//! Within a frame they come in the order of time. Names compare with text: `step.name == "footstep"`.

use crate::controller::{AnimationName, TrackId};
use bevy::prelude::*;
use serde::de::DeserializeOwned;

/// A callback key of a clip was passed.
#[derive(EntityEvent, Message, Clone, Debug, PartialEq)]
pub struct AnimationCallback {
    /// The character.
    pub entity: Entity,
    /// The track that played the clip.
    pub track: TrackId,
    /// The clip's name.
    pub clip: AnimationName,
    /// The key's name.
    pub name: AnimationName,
    /// The key's time in the clip, in seconds.
    pub time: f64,
    /// The track's weight at that moment: a listener may ignore what hardly shows.
    pub weight: f32,
    /// The key's data.
    pub data: ron::Value,
}

impl AnimationCallback {
    /// The key's data as a type of your own.
    ///
    /// # Errors
    /// If the data does not have the shape of `T`.
    pub fn data_as<T: DeserializeOwned>(&self) -> Result<T, ron::Error> {
        self.data.clone().into_rust()
    }
}

macro_rules! track_event {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(EntityEvent, Message, Clone, Debug, PartialEq)]
        pub struct $name {
            /// The character.
            pub entity: Entity,
            /// The track.
            pub track: TrackId,
            /// The clip's name.
            pub clip: AnimationName,
        }
    };
}

track_event! {
    /// A track began to play a clip.
    AnimationStarted
}
track_event! {
    /// A looping clip passed its end (or, running backwards, its start), or a ping-pong clip turned.
    AnimationLooped
}
track_event! {
    /// A clip that plays once reached its end.
    AnimationFinished
}
track_event! {
    /// A cross-fade to this track's clip is complete.
    CrossFadeFinished
}

/// A character's parts are there: its asset was loaded, or loaded anew.
#[derive(EntityEvent, Clone, Debug, PartialEq)]
pub struct CharacterReady {
    /// The character.
    pub entity: Entity,
}
