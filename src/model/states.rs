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
mod draw;
mod machine;
mod problems;
mod text;

pub use machine::{Entry, MachineState, Opening, StateMachine, Successor, TransitionKind, Way};
pub use problems::{PlayedClip, StateError, StateProblem};

use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, sync::Arc};

/// A state as it is written down, by its name in a map. [`StateMachine::new`] checks a map of them and makes a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct State {
    /// The clip or blend space that plays; or several, of which one is chosen; or none, for the rest pose.
    #[serde(skip_serializing_if = "Plays::is_nothing")]
    pub plays: Plays,
    /// How one of several clips is chosen. A choice is made on entering, and again whenever the clip has played to its end.
    #[serde(skip_serializing_if = "is_default")]
    pub choose: Choice,
    /// Speed of what plays; 1 by default, negative for backward.
    #[serde(skip_serializing_if = "is_one")]
    pub speed: f64,
    /// Whether a character begins here. Exactly one state of a machine does.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub start: bool,
    /// The states from which the game may go here. Without any, a character gets here only by [`then`](Self::then).
    #[serde(skip_serializing_if = "Origins::is_none")]
    pub from: Origins,
    /// When the game may leave this state; at any time by default.
    #[serde(skip_serializing_if = "is_default")]
    pub exit: Exit,
    /// What follows by itself when the clip has played to its end, or one round if it loops.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub then: Option<Then>,
    /// Enters by a switch of this many seconds: what plays takes over at once, and the difference dies out. This is the
    /// default, with 0.2 s; 0 is a cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switch: Option<f64>,
    /// Enters by a cross-fade of this many seconds, in place of a switch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fade: Option<f64>,
    /// Enters at the same fraction of the clip's length as the state before it, as from a walk to a run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub in_phase: bool,
    /// Where in the clip to begin, in seconds.
    #[serde(skip_serializing_if = "is_zero")]
    pub at: f64,
    /// States inside this one, in place of [`plays`](Self::plays). Their full names are `"outer/inner"`. What is said of
    /// the outer state holds for each inner state that doesn't say otherwise, and going to the outer state is going to the
    /// inner one that has `start`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub states: BTreeMap<String, State>,
}

/// What a [`State`] plays.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected the name of a clip or a blend space, or a list of names"
)]
pub enum Plays {
    /// Nothing: the rest pose, or on a layer, what is below it.
    #[default]
    Nothing,
    /// A clip or a blend space.
    One(String),
    /// One of several.
    OneOf(Vec<String>),
}

/// How one of several clips is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Choice {
    /// At random, but never the same twice in a row. The same seed gives the same choices.
    #[default]
    Random,
    /// One after the other.
    Sequence,
}

/// The states from which the game may go to a [`State`].
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

/// When the game may leave a [`State`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Exit {
    /// At any time.
    #[default]
    Anytime,
    /// From a callback key of this name on, to the end of the round; or inside it, if the key is a range. What
    /// [follows](State::then) may begin then, too, if the game wants to go there, or further by way of it.
    Key(String),
    /// When the clip has played to its end, or a round if it loops.
    End,
    /// Never, not even to states from [any](Origins::Any) other: for a death.
    Never,
}

/// What follows a [`State`] by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Then {
    /// Another state.
    State(String),
    /// The state that this one interrupted. If that one goes back, too, the one before it.
    Back,
}

/// States of a part of the body, on top of those of the whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateLayer {
    /// The mask of the joints that the layer plays over.
    pub mask: String,
    /// The states. One that plays nothing leaves the joints to what is below.
    pub states: BTreeMap<String, State>,
}

/// The machines of a character: one for the whole body, and one for each layer on top of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StateLayers {
    machines: Vec<MachineLayer>,
    body: BTreeMap<String, State>,
    layers: BTreeMap<String, StateLayer>,
}

/// A machine, and the part of the body that it moves.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineLayer {
    /// The layer's name; empty for the whole body.
    pub name: Arc<str>,
    /// The mask of the joints that it plays over; `None` for the whole body.
    pub mask: Option<Arc<str>>,
    /// The machine.
    pub machine: StateMachine,
}

impl StateLayers {
    /// The most layers, the one of the whole body included.
    pub const MOST_LAYERS: usize = 16;

    /// Checks the states of a character, and makes machines of them. `body` are those of the whole body; if there are none,
    /// it is left to [`play`](crate::controller::AnimationController::play) and the like.
    ///
    /// # Errors
    /// All that is wrong. Behind a layer's name and a colon is the state's: `"arms: wave"`.
    pub fn new(
        body: &BTreeMap<String, State>,
        layers: &BTreeMap<String, StateLayer>,
    ) -> Result<Self, Vec<StateError>> {
        let (mut machines, mut errors) = (Vec::new(), Vec::new());
        let of_body = (!body.is_empty()).then_some(("", None, body));
        let of_layers = layers
            .iter()
            .map(|(name, layer)| (name.as_str(), Some(layer.mask.as_str()), &layer.states));
        for (name, mask, states) in of_body.into_iter().chain(of_layers) {
            if machines.len() >= Self::MOST_LAYERS {
                errors.push(StateError::new(name, StateProblem::TooManyLayers));
                break;
            }
            match StateMachine::new(states) {
                Ok(machine) => machines.push(MachineLayer {
                    name: name.into(),
                    mask: mask.map(Arc::from),
                    machine,
                }),
                Err(wrong) => errors.extend(wrong.into_iter().map(|error| error.on_layer(name))),
            }
        }
        if errors.is_empty() {
            Ok(Self {
                machines,
                body: body.clone(),
                layers: layers.clone(),
            })
        } else {
            errors.truncate(StateError::MOST);
            Err(errors)
        }
    }

    pub(crate) fn of(machines: Vec<MachineLayer>) -> Self {
        Self {
            machines,
            ..Self::default()
        }
    }

    /// The states as they were written down, of the whole body and of the layers.
    pub(crate) fn written(&self) -> (&BTreeMap<String, State>, &BTreeMap<String, StateLayer>) {
        (&self.body, &self.layers)
    }

    /// Returns the layers, that of the whole body first, and the others in the order of their names. Later ones play over
    /// those before them.
    pub fn layers(&self) -> &[MachineLayer] {
        &self.machines
    }

    /// Returns the index of a layer; that of the whole body has an empty name.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.machines.iter().position(|layer| &*layer.name == name)
    }
}

impl Default for State {
    fn default() -> Self {
        Self {
            plays: Plays::Nothing,
            choose: Choice::Random,
            speed: 1.0,
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
            plays: Plays::One(name.into()),
            ..Self::default()
        }
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

impl Plays {
    /// Returns the names of all clips and blend spaces that may play.
    pub fn names(&self) -> &[String] {
        match self {
            Self::Nothing => &[],
            Self::One(name) => std::slice::from_ref(name),
            Self::OneOf(names) => names,
        }
    }

    fn is_nothing(&self) -> bool {
        self.names().is_empty()
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

fn is_one(speed: &f64) -> bool {
    *speed == 1.0
}

fn is_zero(seconds: &f64) -> bool {
    *seconds == 0.0
}
