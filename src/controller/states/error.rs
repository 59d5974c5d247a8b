//! Reasons why a character can't do as the game says.

use crate::spelling::meant;
use std::{error::Error, fmt};

/// Reason why a character can't go to a state, or why a speed of states can't be set.
///
/// ```
/// # use bevy_marionette::controller::{AnimationController, StatesError};
/// fn strike(controller: &mut AnimationController) -> Result<(), StatesError> {
///     match controller.go("attack") {
///         // Not from here, such as in the air, or not yet, while the character loads.
///         Err(StatesError::NoWay { .. } | StatesError::NoLayer(..)) => Ok(()),
///         // A misspelled name.
///         Err(error) => Err(error),
///         Ok(_) => Ok(()),
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum StatesError {
    /// It has no states, or no layer of this name. Until the character has loaded, it has none. Beside it, a layer that was
    /// probably meant.
    NoLayer(String, Option<String>),
    /// It has no such state. Beside it, one that was probably meant.
    UnknownState(String, Option<String>),
    /// The layer has no states of its own: it follows another.
    Follows {
        /// The layer.
        layer: String,
        /// The layer that it follows; empty for the whole body.
        leader: String,
    },
    /// No way leads there from the present state.
    NoWay {
        /// The present state.
        from: String,
        /// The other one.
        to: String,
        /// The states that the game may go to from the present one.
        ways: Vec<String>,
    },
    /// The callback key that opens the exit of the present state isn't to come any more: the state has ended, or nothing that it
    /// plays has such a key.
    Closed {
        /// The present state.
        from: String,
        /// The other one.
        to: String,
        /// The name of the key.
        key: String,
    },
    /// No state has a speed of this name. Beside it, one that was probably meant.
    UnknownSpeed(String, Option<String>),
    /// The speed isn't a finite number.
    SpeedNotFinite(f64),
}

impl fmt::Display for StatesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLayer(layer, _) if layer.is_empty() => {
                f.write_str("the character has no states: it hasn't loaded yet, its controller is new in this frame, or its manifest has no `states`")
            }
            Self::NoLayer(layer, nearest) => {
                write!(f, "the character has no layer `{layer}` of states")?;
                write_meant(f, nearest)
            }
            Self::UnknownState(name, nearest) => {
                write!(f, "there is no state `{name}`")?;
                write_meant(f, nearest)
            }
            Self::Follows { layer, leader } => {
                write!(f, "layer `{layer}` has no states of its own; ")?;
                match leader.as_str() {
                    "" => f.write_str("it follows the whole body, so call `go`"),
                    leader => write!(f, "it follows layer `{leader}`, so go there"),
                }
            }
            Self::NoWay { from, to, ways } => {
                write!(f, "no transitions lead from state `{from}` to `{to}`; ")?;
                if ways.is_empty() {
                    write!(
                        f,
                        "name `{from}` in the `from` of a state that may follow it"
                    )
                } else {
                    write!(f, "from there, the game may go to {}", ways.join(", "))
                }
            }
            Self::Closed { from, to, key } => write!(
                f,
                "state `{from}` can't be left for `{to}`: its exit opens at the callback key `{key}`, which isn't to come any more; let something follow by `then`, or write `exit: End`"
            ),
            Self::UnknownSpeed(name, nearest) => {
                write!(f, "no state has the speed `{name}`")?;
                write_meant(f, nearest)
            }
            Self::SpeedNotFinite(speed) => write!(f, "the speed is {speed}, expected a number"),
        }
    }
}

fn write_meant(f: &mut fmt::Formatter, nearest: &Option<String>) -> fmt::Result {
    match nearest {
        Some(nearest) => write!(f, "; {}", meant(nearest)),
        None => Ok(()),
    }
}

impl Error for StatesError {}
