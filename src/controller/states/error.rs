//! Reasons why a character can't do as the game says.

use crate::spelling::meant;

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
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StatesError {
    /// It has no states, or no layer of this name. Until the character has loaded, it has none. Beside it, a layer that was
    /// probably meant.
    #[error("{}", no_layer(.0, .1))]
    NoLayer(String, Option<String>),
    /// It has no such state. Beside it, one that was probably meant.
    #[error("there is no state `{}`{}", .0, hint(.1))]
    UnknownState(String, Option<String>),
    /// The layer has no states of its own: it follows another.
    #[error("layer `{layer}` has no states of its own; it follows {}", advice(.leader))]
    Follows {
        /// The layer.
        layer: String,
        /// The layer that it follows; empty for the whole body.
        leader: String,
    },
    /// No way leads there from the present state.
    #[error("no transitions lead from state `{from}` to `{to}`; {}", ways_from(.from, .ways))]
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
    #[error(
        "state `{from}` can't be left for `{to}`: its exit opens at the callback key `{key}`, which isn't to come any more; let something follow by `then`, or write `exit: End`"
    )]
    Closed {
        /// The present state.
        from: String,
        /// The other one.
        to: String,
        /// The name of the key.
        key: String,
    },
    /// No state has a speed of this name. Beside it, one that was probably meant.
    #[error("no state has the speed `{}`{}", .0, hint(.1))]
    UnknownSpeed(String, Option<String>),
    /// The speed isn't a finite number.
    #[error("the speed is {0}, expected a number")]
    SpeedNotFinite(f64),
}

fn no_layer(layer: &str, nearest: &Option<String>) -> String {
    if layer.is_empty() {
        return "the character has no states: it hasn't loaded yet, its controller is new in this frame, or its manifest has no `states`".into();
    }
    format!(
        "the character has no layer `{layer}` of states{}",
        hint(nearest)
    )
}

fn hint(nearest: &Option<String>) -> String {
    let hint = |nearest: &String| format!("; {}", meant(nearest));
    nearest.as_ref().map_or_else(String::new, hint)
}

fn advice(leader: &str) -> String {
    match leader {
        "" => "the whole body, so call `go`".into(),
        leader => format!("layer `{leader}`, so go there"),
    }
}

fn ways_from(from: &str, ways: &[String]) -> String {
    match ways {
        [] => format!("name `{from}` in the `from` of a state that may follow it"),
        ways => format!("from there, the game may go to {}", ways.join(", ")),
    }
}
