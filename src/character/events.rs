//! Events of characters.
//!
//! Every event is an [`EntityEvent`], triggered on the character: react to it with an observer.
//!
//! ```no_run
//! # use bevy::prelude::*;
//! # use bevy_marionette::prelude::*;
//! # let mut app = App::new();
//! app.add_observer(|step: On<AnimationCallback>| {
//!     if step.name == "footstep" {
//!         info!("{} steps", step.entity);
//!     }
//! });
//! ```
//!
//! Every event is a [`Message`] too, for systems that prefer to read all of them at once. Messages cost a
//! copy of each event, so they are written only where someone asks for them: call `add_message`, as for any
//! other message.
//!
//! ```no_run
//! # use bevy::prelude::*;
//! # use bevy_marionette::prelude::*;
//! # let mut app = App::new();
//! app.add_message::<AnimationCallback>().add_systems(Update, |mut steps: MessageReader<AnimationCallback>| {
//!     steps.read().for_each(|step| info!("{} steps", step.entity));
//! });
//! ```
//!
//! Within a frame, animation events come in order of time, across all characters.

use super::layers::LayerTimes;
use crate::{
    controller::{AnimationName, CallbackKind, TrackId},
    model::{CallbackData, RootDelta},
};
use bevy::{asset::AssetLoadError, prelude::*};
use serde::de::DeserializeOwned;

/// A clip passed one of its callback keys, or a range among them began or ended.
///
/// Observe it, or read it as a message after `add_message`:
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::prelude::*;
/// # let mut app = App::new();
/// app.add_observer(|step: On<AnimationCallback>| {
///     if step.name == "footstep" {
///         info!("{} steps", step.entity);
///     }
/// });
/// ```
#[derive(EntityEvent, Message, Clone, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
pub struct AnimationCallback {
    /// The character.
    pub entity: Entity,
    /// The track that plays the clip.
    pub track: TrackId,
    /// The clip's name; in a blend space, that of the clip in it.
    pub clip: AnimationName,
    /// The kind of the key: a plain one, or the begin or end of a range.
    pub kind: CallbackKind,
    /// The key's name. Compares with text: `callback.name == "footstep"`.
    pub name: AnimationName,
    /// The key's place in the clip, in seconds.
    pub clip_time: f64,
    /// The time at which the key was passed, in seconds on the controller's
    /// [clock](crate::controller::AnimationController::time).
    pub time: f64,
    /// The time from passing the key to the end of the step in which controllers advanced (by default, the frame), in seconds of
    /// the app's time.
    ///
    /// Use it to start a sound within the frame. [`CharacterPoses::joint_transform_at`] returns a
    /// joint's place at that moment.
    ///
    /// [`CharacterPoses::joint_transform_at`]: super::CharacterPoses::joint_transform_at
    pub seconds_ago: f64,
    /// The track's weight at that moment, times the clip's in a blend space, so that an observer
    /// can ignore clips that are barely visible.
    pub weight: f32,
    /// `true` on the current clip; `false` on clips that fade out and on tracks you added.
    pub current: bool,
    /// The key's data.
    pub data: CallbackData,
    /// The times of the character's active layers at that moment.
    #[reflect(ignore)]
    #[doc(hidden)]
    pub moment: CallbackMoment,
}

/// The times of a character's active layers when a callback key was passed; see
/// [`CharacterPoses::joint_transform_at`](super::CharacterPoses::joint_transform_at).
///
/// The default means the present.
#[derive(Clone, Debug, Default)]
pub struct CallbackMoment(pub(super) Option<Moment>);

/// See [`CallbackMoment`].
#[derive(Clone, Debug)]
pub(super) struct Moment {
    pub(super) times: LayerTimes,
    /// Movement of the character by its clips from that moment to the end of the frame.
    pub(super) carried: RootDelta,
}

/// It follows from the other fields of the callback.
impl PartialEq for CallbackMoment {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl AnimationCallback {
    /// Returns the key's data as a type of your own.
    ///
    /// # Errors
    /// If the data does not have the shape of `T`.
    pub fn data_as<T: DeserializeOwned>(&self) -> Result<T, ron::Error> {
        self.data.to()
    }
}

macro_rules! track_event {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(EntityEvent, Message, Clone, Debug, PartialEq, Reflect)]
        #[reflect(Clone, Debug, PartialEq)]
        pub struct $name {
            /// The character.
            pub entity: Entity,
            /// The track.
            pub track: TrackId,
            /// The name of the clip, or of the blend space that the track plays.
            pub clip: AnimationName,
            /// The time of the event, in seconds on the controller's
            /// [clock](crate::controller::AnimationController::time).
            pub time: f64,
            /// The time from the event to the end of the step in which controllers advanced (by default, the frame), in
            /// seconds of the app's time.
            pub seconds_ago: f64,
        }
    };
}

track_event! {
    /// A track started playing a clip.
    ///
    /// ```no_run
    /// # use bevy::prelude::*;
    /// # use bevy_marionette::character::AnimationStarted;
    /// # let mut app = App::new();
    /// app.add_observer(|event: On<AnimationStarted>| info!("{} plays {}", event.entity, event.clip));
    /// ```
    AnimationStarted
}
track_event! {
    /// A looping clip passed its end (its start, in reverse), or a ping-pong clip came back to its start.
    ///
    /// ```no_run
    /// # use bevy::prelude::*;
    /// # use bevy_marionette::character::AnimationLooped;
    /// # let mut app = App::new();
    /// app.add_observer(|event: On<AnimationLooped>| info!("{} starts {} over", event.entity, event.clip));
    /// ```
    AnimationLooped
}
track_event! {
    /// A clip that plays once reached its end.
    ///
    /// ```no_run
    /// # use bevy::prelude::*;
    /// # use bevy_marionette::prelude::*;
    /// # let mut app = App::new();
    /// app.add_observer(|event: On<AnimationFinished>| info!("{} has finished {}", event.entity, event.clip));
    /// ```
    AnimationFinished
}
track_event! {
    /// A cross-fade to this track's clip is complete.
    ///
    /// ```no_run
    /// # use bevy::prelude::*;
    /// # use bevy_marionette::character::CrossFadeFinished;
    /// # let mut app = App::new();
    /// app.add_observer(|event: On<CrossFadeFinished>| info!("{} has faded to {}", event.entity, event.clip));
    /// ```
    CrossFadeFinished
}

/// A character is in another [state](crate::controller::AnimationController::state), or has entered its state again.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::character::StateEntered;
/// # let mut app = App::new();
/// app.add_observer(|event: On<StateEntered>| {
///     if event.state == "land" {
///         info!("{} lands", event.entity);
///     }
/// });
/// ```
#[derive(EntityEvent, Message, Clone, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
pub struct StateEntered {
    /// The character.
    pub entity: Entity,
    /// The layer; `None` for the states of the whole body.
    pub layer: Option<AnimationName>,
    /// The state. Compares with text: `event.state == "land"`.
    pub state: AnimationName,
    /// The state before it; `None` at the start.
    pub from: Option<AnimationName>,
    /// The time of the event, in seconds on the controller's
    /// [clock](crate::controller::AnimationController::time).
    pub time: f64,
    /// The time from the event to the end of the step in which controllers advanced (by default, the frame), in seconds of
    /// the app's time.
    pub seconds_ago: f64,
}

/// A character's asset has loaded, or was reloaded, and its parts have been spawned.
///
/// See [`CharacterFailed`] for the opposite.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::prelude::*;
/// # fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
/// commands
///     .spawn(SkinnedCharacter(assets.load("scout/scout.character.ron")))
///     .observe(|ready: On<CharacterReady>| info!("{} is here", ready.entity));
/// # }
/// ```
#[derive(EntityEvent, Message, Clone, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
pub struct CharacterReady {
    /// The character.
    pub entity: Entity,
}

/// A character's asset failed to load, or to reload. After a failed reload the character keeps its parts.
///
/// Triggered once per failed attempt, and for a character that is spawned with an asset that has already
/// failed. Textures that fail do not count: the parts are drawn without them.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{character::CharacterFailed, prelude::*};
/// # fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
/// commands
///     .spawn(SkinnedCharacter(assets.load("scout/scout.character.ron")))
///     .observe(|ready: On<CharacterReady>| info!("{} is here", ready.entity))
///     .observe(|failed: On<CharacterFailed>| error!("{}", failed.error));
/// # }
/// ```
///
/// A tool can list what is wrong with the file:
///
/// ```no_run
/// # use bevy::{asset::AssetLoadError, prelude::*};
/// # use bevy_marionette::{character::CharacterFailed, format::FormatError};
/// fn list(failed: On<CharacterFailed>) {
///     let AssetLoadError::AssetLoaderError(error) = &failed.error else {
///         return;
///     };
///     let error = error.error().downcast_ref::<FormatError>();
///     for diagnostic in error.into_iter().flat_map(FormatError::errors) {
///         println!("line {}: {}", diagnostic.line, diagnostic.message);
///     }
/// }
/// ```
#[derive(EntityEvent, Message, Clone, Debug, Reflect)]
#[reflect(from_reflect = false)]
#[reflect(Clone, Debug)]
pub struct CharacterFailed {
    /// The character.
    pub entity: Entity,
    /// The error, with file, line and column.
    #[reflect(ignore)]
    pub error: AssetLoadError,
}

/// Triggers an event, and writes it as a message if the app has asked for messages of its kind.
pub(super) fn send<E>(commands: &mut Commands, messages: &mut Option<ResMut<Messages<E>>>, event: E)
where
    E: EntityEvent + Message + Clone,
    for<'a> E::Trigger<'a>: Default,
{
    if let Some(messages) = messages {
        messages.write(event.clone());
    }
    commands.trigger(event);
}

/// Like [`send`], but at once: observers run now, and their commands are applied.
pub(super) fn send_now<E>(world: &mut World, event: E)
where
    E: EntityEvent + Message + Clone,
    for<'a> E::Trigger<'a>: Default,
{
    if let Some(mut messages) = world.get_resource_mut::<Messages<E>>() {
        messages.write(event.clone());
    }
    world.trigger(event);
    world.flush();
}

/// `true` if the app has or had observers of callbacks. Until then, and without messages, the
/// moments at which keys are passed are not kept.
#[derive(Resource, Default)]
pub(super) struct CallbacksObserved(pub(super) bool);

/// Keeps [`CallbacksObserved`] up to date. Only runs in frames in which the app has got another observer.
pub(super) fn note_observers(world: &mut World) {
    if is_heard::<AnimationCallback>(world) {
        world.insert_resource(CallbacksObserved(true));
    }
}

/// Returns `true` if events of this kind may be received: there are or were observers of them, or
/// the app has asked for messages.
pub(super) fn is_heard<E: EntityEvent + Message>(world: &World) -> bool {
    let is_observed = |key| world.observers().try_get_observers(key).is_some();
    world.contains_resource::<Messages<E>>() || world.event_key::<E>().is_some_and(is_observed)
}
