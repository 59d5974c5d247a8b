//! States: what a character plays in each, and how one may follow another.
//!
//! Code decides *what* a character does next, by name. The data here decides *how*: which clip, by which transition, from
//! which states, and when the present state may be left. There are no conditions in it.
//!
//! ```ron
//! states: {
//!     "ground": (plays: "locomotion", start: true),
//!     "jump":   (plays: "jump", from: ["ground"], then: "fall"),
//!     "fall":   (plays: "fall", from: ["ground"]),
//!     "land":   (plays: "land", from: ["fall"], then: "ground", fade: 0.1),
//!     "attack": (plays: "attack", from: ["ground"], exit: "recover", then: "ground"),
//!     "hurt":   (plays: "hurt", from: Any, then: Back),
//! }
//! ```

mod build;
mod check_clips;
mod draw;
mod layers;
mod machine;
mod problems;
mod synced;
mod text;

pub use layers::{MachineLayer, StateLayer, StateLayers};
pub use machine::{Entry, MachineState, Opening, StateMachine, Successor, TransitionKind, Way};
pub use problems::{PlayedClip, StateError, StateProblem};
pub(crate) use text::distinct;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

// Errors name these limits, too.
const MOST_STATES: usize = 128;
const MOST_CLIPS: usize = 64;
const MOST_LEVELS: usize = 4;
const MOST_LAYERS: usize = 16;
const LONGEST_TRANSITION: f64 = 3600.0;

/// A state of a character: what plays, from where it may be entered, and what follows. A manifest has a map of them, by name.
///
/// ```
/// # use bevy_marionette::{import::Manifest, model::{State, Then}};
/// let jump = State::playing("jump").from(["ground"]).then(Then::State("ground".into()));
/// let states = [("ground", State::playing("idle").start()), ("jump", jump)];
/// let manifest = Manifest {
///     states: states.map(|(name, state)| (name.to_owned(), state)).into(),
///     ..Manifest::of_model("scout.glb")
/// };
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct State {
    /// The clip or blend space that plays; or several, of which one is chosen; or none, for the rest pose, or on a layer, for
    /// what is below it. In a manifest, one name needs no brackets.
    #[serde(with = "text::one_or_several", skip_serializing_if = "Vec::is_empty")]
    pub plays: Vec<String>,
    /// Rule for choosing one of several clips. A choice is made on entering, and again whenever the clip has played to its end.
    #[serde(skip_serializing_if = "is_default")]
    pub choose: Choice,
    /// Speed of what plays; 1 by default, negative for backward. A name stands for a speed that the game sets.
    #[serde(skip_serializing_if = "is_default")]
    pub speed: Speed,
    /// `true` if a character begins here. Exactly one state of a machine does.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub start: bool,
    /// The states from which the game may go here. Without any, a character gets here only by [`then`](Self::then).
    #[serde(skip_serializing_if = "Origins::is_none")]
    pub from: Origins,
    /// Moments at which the game may leave this state; any by default.
    #[serde(skip_serializing_if = "is_default")]
    pub exit: Exit,
    /// State that follows by itself when the clip has played to its end, or one loop of it if it loops.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub then: Option<Then>,
    /// Enters by a switch of this many seconds: the new clip takes over at once, and the offset from the old pose decays. This is the
    /// default, with 0.2 s; 0 is a cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switch: Option<f64>,
    /// Enters by a cross-fade of this many seconds, in place of a switch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fade: Option<f64>,
    /// Enters at the same fraction of the clip's length as the state before it, as from a walk to a run. After a clip that
    /// has played once to its end, it enters at its start.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub in_phase: bool,
    /// Place in the clip at which to begin, in seconds.
    #[serde(skip_serializing_if = "is_zero")]
    pub at: f64,
    /// States inside this one, in place of [`plays`](Self::plays). Their full names are `"outer/inner"`. What is said of
    /// the outer state holds for each inner state that doesn't say otherwise, and going to the outer state is going to the
    /// inner one that has `start`.
    #[serde(
        deserialize_with = "text::distinct",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub states: BTreeMap<String, State>,
}

/// The speed of a [`State`].
///
/// ```ron
/// states: {
///     "climb": (plays: "climb", speed: "pace", start: true),
///     "slide_down": (plays: "climb", speed: -2, from: ["climb"], then: "climb"),
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a number, or the name of a speed that the game sets"
)]
pub enum Speed {
    /// Always this one.
    Fixed(f64),
    /// The value that the game [sets](crate::controller::AnimationController::set_state_speed) under this name; 1 until then. States
    /// that name the same speed share it.
    Named(String),
}

/// Rule for choosing one of several clips.
///
/// ```ron
/// states: {
///     "idle": (plays: ["look_around", "yawn", "stretch"], start: true),
///     "combo": (plays: ["slash", "stab", "spin"], choose: Sequence, from: ["idle"], then: "idle"),
/// }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Choice {
    /// At random, but never the same twice in a row. The same seed gives the same choices.
    #[default]
    Random,
    /// One after the other.
    Sequence,
}

/// The states from which the game may go to a [`State`].
///
/// ```ron
/// states: {
///     "ground": (plays: "locomotion", start: true),
///     "jump": (plays: "jump", from: ["ground", "roll"], then: "ground"),
///     "roll": (plays: "roll", from: {"ground": (), "jump": (fade: 0.3)}, then: "ground"),
///     "hurt": (plays: "hurt", from: Any, then: Back),
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Origins {
    /// None.
    #[default]
    None,
    /// Any, at once, even while its [`exit`](State::exit) is closed: for what interrupts, such as a hit. Only
    /// [`Exit::Never`] holds against it.
    Any,
    /// These, each with a transition of its own if it differs from the state's.
    These(BTreeMap<String, Entering>),
}

/// A transition from one state to another, where it differs from that of the state that is entered.
///
/// ```ron
/// states: {
///     "walk": (plays: "walk", start: true, from: {"run": (in_phase: true, fade: 0.3), "sit": ()}),
///     "run": (plays: "run", from: {"walk": (in_phase: true, fade: 0.2), "sit": (switch: 0.1)}),
///     "sit": (plays: "sit", from: ["walk", "run"], switch: 0.4),
/// }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Entering {
    /// See [`State::switch`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switch: Option<f64>,
    /// See [`State::fade`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fade: Option<f64>,
    /// See [`State::in_phase`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_phase: Option<bool>,
    /// See [`State::at`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<f64>,
}

/// Moments at which the game may leave a [`State`].
///
/// ```ron
/// states: {
///     "ground": (plays: "locomotion", start: true),
///     "attack": (plays: "attack", from: ["ground"], exit: "recover", then: "ground"),
///     "drink": (plays: "drink", from: ["ground"], exit: End, then: "ground"),
///     "die": (plays: "die", from: Any, exit: Never),
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Exit {
    /// At any time.
    #[default]
    Anytime,
    /// From a callback key of this name on, to the end of the loop; or inside it, if the key is a range. What
    /// [follows](State::then) may begin then, too, if the game wants to go there, or further by way of it. Where the game plays
    /// something else in the state, the exit opens at the end of that, too.
    Key(String),
    /// At the end of the clip; if it loops, at the end of the present loop.
    End,
    /// Never, not even to states from [any](Origins::Any) other or from this one: for a death. Only what
    /// [follows](State::then) does so, by itself.
    Never,
}

/// Successor that a [`State`] goes to by itself.
///
/// ```ron
/// states: {
///     "ground": (plays: "locomotion", start: true),
///     "fall": (plays: "fall", from: ["ground"]),
///     "land": (plays: "land", from: ["fall"], then: "ground"),
///     "flinch": (plays: "flinch", from: Any, then: Back),
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Then {
    /// Another state.
    State(String),
    /// The state that this one interrupted. If that one goes back, too, the one before it.
    Back,
}

impl Default for Speed {
    fn default() -> Self {
        Self::Fixed(1.0)
    }
}

impl Default for State {
    fn default() -> Self {
        Self {
            plays: Vec::new(),
            choose: Choice::Random,
            speed: Speed::default(),
            start: false,
            from: Origins::None,
            exit: Exit::Anytime,
            then: None,
            switch: None,
            fade: None,
            in_phase: false,
            at: 0.0,
            states: BTreeMap::new(),
        }
    }
}

impl State {
    /// Creates a state that plays a clip or a blend space.
    pub fn playing(name: impl Into<String>) -> Self {
        Self {
            plays: vec![name.into()],
            ..Self::default()
        }
    }

    /// Sets the speed: a number, or the name of one that the game sets.
    pub fn speed(mut self, speed: impl Into<Speed>) -> Self {
        self.speed = speed.into();
        self
    }

    /// Makes this the state in which a character begins.
    pub fn start(mut self) -> Self {
        self.start = true;
        self
    }

    /// Lets the game come here from these states, besides those given before.
    pub fn from<'n>(mut self, states: impl IntoIterator<Item = &'n str>) -> Self {
        let mut these = match self.from {
            Origins::These(these) => these,
            _ => BTreeMap::new(),
        };
        these.extend(
            states
                .into_iter()
                .map(|name| (name.to_owned(), Entering::default())),
        );
        self.from = Origins::These(these);
        self
    }

    /// Lets the game come here from any state, at once.
    pub fn from_any(mut self) -> Self {
        self.from = Origins::Any;
        self
    }

    /// Sets when the game may leave this state.
    pub fn exit(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }

    /// Sets what follows by itself.
    pub fn then(mut self, then: Then) -> Self {
        self.then = Some(then);
        self
    }
}

impl From<f64> for Speed {
    fn from(speed: f64) -> Self {
        Self::Fixed(speed)
    }
}

impl From<&str> for Speed {
    fn from(name: &str) -> Self {
        Self::Named(name.to_owned())
    }
}

impl Origins {
    fn is_none(&self) -> bool {
        *self == Self::None
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn is_zero(seconds: &f64) -> bool {
    *seconds == 0.0
}

/// Leader that a [`StateLayer`] is synchronized with.
///
/// ```ron
/// masks: { "upper_body": (roots: ["chest"]) },
/// states: {
///     "ground": (plays: "locomotion", start: true),
///     "jump": (plays: "jump", from: ["ground"], then: "ground"),
/// },
/// layers: { "torch": (mask: "upper_body", sync: Body, states: {
///     "ground": (plays: "hold_torch"),
/// }) },
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leader {
    /// The states of the whole body.
    Body,
    /// Another layer.
    Layer(String),
}

impl Leader {
    /// The word for the whole body.
    const BODY: &'static str = "Body";

    /// Returns the leader's name; empty for the whole body.
    pub fn name(&self) -> &str {
        match self {
            Self::Body => "",
            Self::Layer(name) => name,
        }
    }
}
