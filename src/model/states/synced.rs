//! Machines of layers that follow others: the same states and ways, with other clips.

use super::{Speed, State, StateError, StateMachine, StateProblem};
use std::{collections::BTreeMap, sync::Arc};

impl StateMachine {
    /// Makes the machine of a layer that is always in the states of this one, and plays `states` in them.
    pub(super) fn synced(&self, states: &BTreeMap<String, State>) -> Result<Self, Vec<StateError>> {
        let mut machine = self.clone();
        for state in machine.states_mut() {
            (state.plays, state.speed) = (Vec::new(), Speed::default());
        }
        machine.forget_warnings();
        let mut errors = Vec::new();
        // Outer states first, so that the inner ones have the last word.
        let mut states: Vec<_> = states.iter().collect();
        states.sort_by_key(|(name, _)| name.matches('/').count());
        for (name, state) in states {
            let mut wrong = |problem| errors.push(StateError::new(name, problem));
            if let Some(field) = extra_field(state) {
                wrong(StateProblem::SyncedSays(field));
            }
            if state.plays.len() > Self::MOST_CLIPS {
                wrong(StateProblem::TooManyClips(state.plays.len()));
            }
            let plays: Vec<Arc<str>> = (state.plays.iter())
                .map(|name| name.as_str().into())
                .collect();
            let inside = format!("{name}/");
            let mut is_known = false;
            for followed in machine.states_mut() {
                if &*followed.name == name || followed.name.starts_with(&inside) {
                    is_known = true;
                    followed.plays.clone_from(&plays);
                }
            }
            if !is_known {
                wrong(StateProblem::NotFollowed {
                    nearest: self.nearest(name).map(str::to_owned),
                });
            }
        }
        errors.truncate(StateError::MOST);
        if errors.is_empty() {
            Ok(machine)
        } else {
            Err(errors)
        }
    }
}

/// A field that has no meaning in a layer that follows another.
fn extra_field(state: &State) -> Option<&'static str> {
    let ordinary = State::default();
    let fields = [
        ("speed", state.speed != ordinary.speed),
        ("choose", state.choose != ordinary.choose),
        ("start", state.start),
        ("from", state.from != ordinary.from),
        ("exit", state.exit != ordinary.exit),
        ("then", state.then.is_some()),
        ("switch", state.switch.is_some()),
        ("fade", state.fade.is_some()),
        ("in_phase", state.in_phase),
        ("at", state.at != ordinary.at),
        ("states", !state.states.is_empty()),
    ];
    (fields.iter().find(|(_, given)| *given)).map(|(field, _)| *field)
}
