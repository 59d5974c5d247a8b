//! Errors and warnings about states, in words.

use super::{LONGEST_TRANSITION, MOST_CLIPS, MOST_LAYERS, MOST_LEVELS, MOST_STATES};
use crate::spelling::meant;
use std::{error::Error, fmt};

/// Something wrong or odd about a state.
#[derive(Clone, Debug, PartialEq)]
pub struct StateError {
    /// The layer's name; empty for the whole body.
    pub layer: String,
    /// The state's full name; empty for the machine as a whole.
    pub state: String,
    /// The problem.
    pub(crate) problem: StateProblem,
}

/// A problem of a state.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum StateProblem {
    /// No state has `start`.
    NoStart,
    /// Several states have `start`.
    SeveralStarts,
    /// There are more than [`StateMachine::MOST_STATES`](super::StateMachine::MOST_STATES).
    TooMany,
    /// It chooses from more clips than [`StateMachine::MOST_CLIPS`](super::StateMachine::MOST_CLIPS).
    TooManyClips(usize),
    /// There are more layers than [`StateLayers::MOST_LAYERS`](super::StateLayers::MOST_LAYERS).
    TooManyLayers,
    /// States are nested deeper than [`StateMachine::MOST_LEVELS`](super::StateMachine::MOST_LEVELS).
    TooDeep,
    /// The name is empty, contains a slash, or is a word that means something else.
    BadName,
    /// A layer's name is empty, or means the whole body.
    BadLayerName,
    /// A layer follows one that doesn't exist.
    UnknownLayer {
        /// The name; empty for the whole body.
        name: String,
        /// A name that was probably meant.
        nearest: Option<String>,
    },
    /// Layers follow each other in a circle: these.
    LayersInCircle(Vec<String>),
    /// In a layer that follows another, a state says more than what it plays: this field.
    SyncedSays(&'static str),
    /// The layer that this one follows has no such state.
    NotFollowed {
        /// A name that was probably meant.
        nearest: Option<String>,
    },
    /// The name of a speed is empty.
    NamelessSpeed,
    /// A state with states inside plays something itself, or something follows it.
    PlaysAndStates,
    /// Something follows the end of a clip that has no end.
    NeverEnds,
    /// Both a switch and a fade are given.
    SwitchAndFade,
    /// A number makes no sense.
    BadNumber {
        /// The field.
        field: &'static str,
        /// Its value.
        value: f64,
    },
    /// A state is named that doesn't exist.
    UnknownState {
        /// The field that names it.
        field: &'static str,
        /// The name.
        name: String,
        /// A name that was probably meant.
        nearest: Option<String>,
    },
    /// Its `from` names this state, whose exit never opens.
    NeverLeft(String),
    /// It plays a clip or a blend space that the character doesn't have.
    UnknownClip {
        /// The name.
        name: String,
        /// A name that was probably meant.
        nearest: Option<String>,
    },
    /// None of what it plays has the callback key that opens its exit.
    ExitNeverOpens {
        /// The key.
        key: String,
        /// A key that was probably meant.
        nearest: Option<String>,
    },
    /// It begins behind the end of a clip.
    BeginsAfterEnd {
        /// The clip.
        clip: String,
        /// The clip's length in seconds.
        length: f64,
    },
    /// No way leads here.
    Unreachable,
    /// No way leads out.
    DeadEnd,
    /// No way leads out of it and these others, which lead to each other.
    Circle(Vec<String>),
    /// The name of its speed is so much like another one that it may be misspelled.
    SpeedsAlike {
        /// The other one.
        name: String,
        /// Its own.
        other: String,
    },
}

/// Facts about a clip or a blend space that a machine needs to check the states that play it.
#[derive(Clone, Debug, Default)]
pub struct PlayedClip<'c> {
    /// The length in seconds, if it is a single clip.
    pub length: Option<f64>,
    /// The names of its callback keys.
    pub keys: Vec<&'c str>,
}

impl StateError {
    /// The most errors that are reported of one machine.
    pub const MOST: usize = 20;

    pub(super) fn new(state: impl Into<String>, problem: StateProblem) -> Self {
        Self {
            layer: String::new(),
            state: state.into(),
            problem,
        }
    }

    /// Says on which layer it is.
    pub(super) fn on_layer(mut self, layer: &str) -> Self {
        layer.clone_into(&mut self.layer);
        self
    }

    /// Returns the way in a manifest to what is wrong: names of fields, keys of maps, and at last maybe a text.
    pub(crate) fn path(&self) -> Vec<&str> {
        let mut path = match self.layer.as_str() {
            "" => Vec::new(),
            layer => vec!["layers", layer],
        };
        match &self.problem {
            StateProblem::BadLayerName | StateProblem::TooManyLayers => return path,
            StateProblem::UnknownLayer { .. } | StateProblem::LayersInCircle(_) => {
                path.push("sync");
                return path;
            }
            _ => path.push("states"),
        }
        if !self.state.is_empty() {
            path.extend(self.state.split('/').flat_map(|name| [name, "states"]));
            // Nothing follows the innermost state but its own fields.
            path.pop();
        }
        path.extend(match &self.problem {
            StateProblem::UnknownState { field, name, .. } => vec![*field, name],
            StateProblem::NeverLeft(name) => vec!["from", name],
            StateProblem::UnknownClip { name, .. } => vec!["plays", name],
            StateProblem::BeginsAfterEnd { .. } => vec!["at"],
            StateProblem::ExitNeverOpens { .. } => vec!["exit"],
            StateProblem::BadNumber { field, .. } | StateProblem::SyncedSays(field) => vec![*field],
            StateProblem::SwitchAndFade => vec!["fade"],
            StateProblem::NamelessSpeed | StateProblem::SpeedsAlike { .. } => vec!["speed"],
            _ => Vec::new(),
        });
        path
    }

    /// Returns what to do about it.
    pub fn hint(&self) -> Option<String> {
        match &self.problem {
            StateProblem::NoStart => {
                Some("add `start: true` to the state that the character begins in".into())
            }
            StateProblem::SeveralStarts => Some("keep `start: true` in one of them".into()),
            StateProblem::UnknownState { nearest, .. }
            | StateProblem::UnknownLayer { nearest, .. }
            | StateProblem::NotFollowed { nearest, .. }
            | StateProblem::UnknownClip { nearest, .. }
            | StateProblem::ExitNeverOpens { nearest, .. } => nearest.as_deref().map(meant),
            StateProblem::Unreachable => Some(
                "name the states it may be entered from in `from`, or have it follow one by `then`"
                    .into(),
            ),
            StateProblem::DeadEnd => Some(
                "add `then`, or name it in another state's `from`; if nothing should follow, write `exit: Never`"
                    .into(),
            ),
            StateProblem::NeverLeft(name) => Some(format!(
                "leave it out, or give `{name}` another `exit`; what follows a death by itself is its `then`"
            )),
            StateProblem::NeverEnds => {
                Some("leave out `then` and `exit: End`, or play a clip at a speed other than 0".into())
            }
            StateProblem::Circle(_) => Some(
                "name one of them in the `from` of another state; if nothing should follow, give one `exit: Never`"
                    .into(),
            ),
            StateProblem::LayersInCircle(_) => {
                Some("leave out `sync` in the one that has states of its own".into())
            }
            StateProblem::SyncedSays(_) => {
                Some("set it in the layer that this one follows, or leave out `sync`".into())
            }
            StateProblem::SpeedsAlike { name, .. } => Some(meant(name)),
            StateProblem::PlaysAndStates => {
                Some("move `plays` and `then` into the inner states".into())
            }
            StateProblem::SwitchAndFade => Some("leave out one of them".into()),
            _ => None,
        }
    }
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.layer.as_str(), self.state.as_str()) {
            ("", "") => {}
            ("", state) => write!(f, "state `{state}`: ")?,
            (layer, "") => write!(f, "layer `{layer}`: ")?,
            (layer, state) => write!(f, "layer `{layer}`, state `{state}`: ")?,
        }
        self.problem.fmt(f)
    }
}

impl Error for StateError {}

impl fmt::Display for StateProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoStart => f.write_str("no state has `start: true`"),
            Self::SeveralStarts => f.write_str("several states have `start: true`"),
            Self::TooMany => write!(f, "there are more than {} states", MOST_STATES),
            Self::TooManyClips(clips) => write!(
                f,
                "it plays {clips} clips, expected at most {}",
                MOST_CLIPS
            ),
            Self::TooManyLayers => write!(
                f,
                "there are more than {} layers",
                MOST_LAYERS
            ),
            Self::TooDeep => write!(
                f,
                "states are nested more than {} deep",
                MOST_LEVELS
            ),
            Self::BadName => f.write_str(
                "a name must not be empty, contain a slash, or be the word `Any` or `Back`",
            ),
            Self::PlaysAndStates => f.write_str(
                "it has states inside, and also `plays` or `then`, which only inner states can have",
            ),
            Self::NeverEnds => {
                f.write_str("it waits for the end of a clip, but what it plays never ends")
            }
            Self::SwitchAndFade => f.write_str("`switch` and `fade` are both given"),
            Self::BadNumber { field: "speed", value } => {
                write!(f, "`speed` is {value}, expected a number")
            }
            Self::BadNumber { field, value } => write!(
                f,
                "`{field}` is {value}, expected seconds from 0 to {}",
                LONGEST_TRANSITION
            ),
            Self::UnknownState { field, name, .. } => {
                write!(f, "`{field}` names `{name}`, but there is no such state")
            }
            Self::NeverLeft(name) => write!(
                f,
                "`from` names `{name}`, which has `exit: Never`"
            ),
            Self::UnknownClip { name, .. } => {
                write!(f, "it plays `{name}`, but there is no such clip or blend space")
            }
            Self::ExitNeverOpens { key, .. } => write!(
                f,
                "its exit never opens: none of what it plays has a callback key `{key}`"
            ),
            Self::BeginsAfterEnd { clip, length } => {
                write!(f, "it begins after the end of `{clip}`, which is {length} s long")
            }
            Self::Unreachable => f.write_str("no transition leads to it"),
            Self::DeadEnd => f.write_str("no transition leads out of it"),
            Self::Circle(others) => {
                write!(f, "no transition leads out of the circle with {}", listed(others))
            }
            Self::SpeedsAlike { name, other } => {
                write!(f, "its speed is named `{other}`, but there is also one named `{name}`")
            }
            Self::BadLayerName => {
                f.write_str("a layer's name must not be empty, or be the word `Body`")
            }
            Self::UnknownLayer { name, .. } if name.is_empty() => {
                f.write_str("`sync` names the whole body, but that has no states")
            }
            Self::UnknownLayer { name, .. } => {
                write!(f, "`sync` names `{name}`, but there is no such layer")
            }
            Self::LayersInCircle(layers) => {
                write!(f, "layers follow each other in a circle: {}", listed(layers))
            }
            Self::SyncedSays(field) => write!(
                f,
                "`{field}` has no effect here, because the layer follows another"
            ),
            Self::NotFollowed { .. } => {
                f.write_str("the layer that this one follows has no such state")
            }
            Self::NamelessSpeed => f.write_str("its `speed` is an empty name"),
        }
    }
}

/// Names in quotes, with commas.
fn listed(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
