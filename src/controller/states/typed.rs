//! States as values of a type of the game's own.

use crate::controller::AnimationController;

/// An enum whose variants are states. [`character_states!`](crate::character_states) makes one.
///
/// ```
/// use bevy_marionette::{character_states, controller::CharacterStates};
///
/// character_states! {
///     enum Hero {
///         Ground = "ground",
///         Aim = "combat/aim",
///     }
/// }
///
/// assert_eq!(Hero::Aim.as_ref(), "combat/aim");
/// assert_eq!(Hero::named("ground"), Some(Hero::Ground));
/// ```
pub trait CharacterStates: AsRef<str> + Copy + Send + Sync + 'static {
    /// The name of the layer whose states they are; empty for the whole body.
    const LAYER: &'static str = "";

    /// All variants, each with a name of its own.
    const ALL: &'static [Self];

    /// Returns the variant of this name, or else that of the state around it: a variant `"combat"` stands for all states
    /// inside.
    fn named(name: &str) -> Option<Self> {
        let mut name = Some(name);
        while let Some(full) = name {
            let found = Self::ALL.iter().find(|state| (*state).as_ref() == full);
            if let Some(found) = found {
                return Some(*found);
            }
            name = full.rsplit_once('/').map(|(outer, _)| outer);
        }
        None
    }
}

/// Says which state is meant: its name, a pair of a layer and a name, or a variant of an [enum](CharacterStates).
///
/// ```
/// # use bevy_marionette::{character_states, controller::StateName};
/// character_states! {
///     enum Arms: "arms" { Wave = "wave" }
/// }
///
/// assert_eq!(Arms::Wave.layer(), ("arms", "wave").layer());
/// assert_eq!("run".layer(), "", "the whole body");
/// ```
pub trait StateName {
    /// Returns the name of the state's layer; empty for the whole body.
    fn layer(&self) -> &str;

    /// Returns the name of the state.
    fn state(&self) -> &str;
}

impl StateName for &str {
    fn layer(&self) -> &str {
        ""
    }

    fn state(&self) -> &str {
        self
    }
}

impl StateName for &String {
    fn layer(&self) -> &str {
        ""
    }

    fn state(&self) -> &str {
        self
    }
}

impl<L: AsRef<str>, S: AsRef<str>> StateName for (L, S) {
    fn layer(&self) -> &str {
        self.0.as_ref()
    }

    fn state(&self) -> &str {
        self.1.as_ref()
    }
}

impl<S: CharacterStates> StateName for S {
    fn layer(&self) -> &str {
        S::LAYER
    }

    fn state(&self) -> &str {
        self.as_ref()
    }
}

impl AnimationController {
    /// Returns the present state as a variant of an enum; `None` without states, or if no variant has its name.
    ///
    /// ```
    /// # use bevy_marionette::{controller::{AnimationController, StatesError}, internals::model::StateLayers, model::State, character_states};
    /// # use std::sync::Arc;
    /// # let states = [("ground", State::playing("idle").start()), ("jump", State::playing("jump").from(["ground"]))];
    /// # let states = states.map(|(name, state)| (name.to_owned(), state)).into();
    /// # let mut controller = AnimationController::default();
    /// # controller.set_states(&Arc::new(StateLayers::new(&states, &Default::default()).unwrap()), 0);
    /// character_states! {
    ///     enum Hero { Ground = "ground", Jump = "jump" }
    /// }
    ///
    /// if controller.state_as() == Some(Hero::Ground) {
    ///     controller.go(Hero::Jump)?;
    /// }
    /// assert_eq!(controller.state_as(), Some(Hero::Jump));
    /// # Ok::<(), StatesError>(())
    /// ```
    pub fn state_as<S: CharacterStates>(&self) -> Option<S> {
        S::named(self.states().layer(S::LAYER).current()?)
    }
}

/// Makes an enum whose variants are states of a character, for [`go`](crate::controller::AnimationController::go) and
/// [`state_as`](crate::controller::AnimationController::state_as).
///
/// Each variant has the name of its state in the manifest. For states of a layer, write the layer's name behind the enum's:
/// `enum Arms: "arms" { … }`. The enum is `Copy` and implements [`CharacterStates`](crate::controller::CharacterStates),
/// `AsRef<str>`, `Debug`, `Eq`, and `Hash`.
///
/// ```
/// bevy_marionette::character_states! {
///     /// What the hero does.
///     pub enum Hero {
///         /// Walking, running, or standing.
///         Ground = "ground",
///         Jump = "jump",
///     }
/// }
/// ```
#[macro_export]
macro_rules! character_states {
    (
        $(#[$about:meta])*
        $vis:vis enum $name:ident $(: $layer:literal)? {
            $($(#[$about_state:meta])* $variant:ident = $state:literal),+ $(,)?
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        $vis enum $name {
            $($(#[$about_state])* $variant),+
        }

        impl ::core::convert::AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                match self {
                    $(Self::$variant => $state),+
                }
            }
        }

        impl $crate::controller::CharacterStates for $name {
            $(const LAYER: &'static str = $layer;)?
            const ALL: &'static [Self] = &[$(Self::$variant),+];
        }
    };
}
