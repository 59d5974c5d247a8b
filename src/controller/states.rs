//! States: what the character does, by name, in the machines of its data.

mod adopting;
mod entering;
mod error;
mod names;
mod run;
mod runs;
mod speeds;
mod typed;
#[cfg(feature = "inspector")]
mod view;

pub use error::StatesError;
pub use run::Go;
pub(super) use runs::StateRuns;
pub use typed::{CharacterStates, StateName};
#[cfg(feature = "inspector")]
pub(crate) use view::StateView;

use super::AnimationController;
use crate::model::{MachineLayer, StateLayers, StateMachine};
use run::StateRun;
use std::sync::Arc;

/// # States
///
/// What a character does next, by the names of its states. The [data](crate::model::State) says what plays in each, how it
/// is entered, and when it may be left.
impl AnimationController {
    /// Goes to a state, given by its [name](StateName): at once if the present one may be left now, and otherwise as soon as
    /// it may. If no way leads there directly, the character goes by way of other states.
    ///
    /// A wish that waits is forgotten if the state ends by itself before its exit has opened, unless what follows is on the
    /// way, and if it turns out that nothing that the state plays has the callback key of its exit. Another call before that
    /// takes the place of this one. Going to the present state starts it over if it can be entered
    /// [from](crate::model::State::from) itself, as those from any state can; otherwise, the character [stays](Go::Stays).
    ///
    /// What [`play`](Self::play) and the like start takes the place of the state's clip, until the next state is entered: the
    /// state ends where that ends. A state whose clip is missing, or was removed, ends at once.
    ///
    /// # Errors
    /// If there is no such state or layer, no way to the state or none that can still open, or if the layer follows another. Then
    /// nothing changes.
    pub fn go(&mut self, state: impl StateName) -> Result<Go, StatesError> {
        let (at, to) = self.find_state(state.layer(), state.state())?;
        let (now, tracks) = (self.tracks.clock.now, &mut self.tracks);
        let Some(states) = &mut self.states else {
            return Err(StatesError::NoLayer(state.layer().to_owned(), None));
        };
        let machine = &states.layers.layers()[at].machine;
        let Some((answer, enter)) = states.runs[at].go(machine, to, now) else {
            return Err(states.runs[at].refusal(machine, to));
        };
        if let Some(enter) = enter {
            states.ask_for(at, enter, tracks, &mut self.director);
            self.change();
        }
        Ok(answer)
    }

    /// Returns `true` if [`go`](Self::go) would find a way to a state, now or later.
    pub fn can_go(&self, state: impl StateName) -> bool {
        let Ok((at, to)) = self.find_state(state.layer(), state.state()) else {
            return false;
        };
        self.run_and_machine(at)
            .is_some_and(|(run, machine)| run.can_go(machine, to))
    }

    /// Returns the name of the present state; `None` without states.
    pub fn state(&self) -> Option<&str> {
        self.states().current()
    }

    /// Returns the states, to ask where the character is in them, on each layer.
    pub fn states(&self) -> CurrentStates<'_> {
        CurrentStates {
            controller: self,
            layer: "",
        }
    }
}

/// A character's states: those of the whole body, or of a [layer](Self::layer). See [`AnimationController::states`].
///
/// ```
/// # use bevy_marionette::controller::AnimationController;
/// # fn show(controller: &AnimationController) {
/// let states = controller.states();
/// println!("{:?}, going to {:?}", states.current(), states.destination());
/// println!("arms: {:?}", states.layer("arms").current());
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CurrentStates<'a> {
    controller: &'a AnimationController,
    layer: &'a str,
}

impl<'a> CurrentStates<'a> {
    /// Returns the states of a layer, such as `"arms"`.
    pub fn layer(self, layer: &'a str) -> Self {
        Self { layer, ..self }
    }

    /// Returns the name of the present state; `None` without states, or if there is no such layer.
    pub fn current(&self) -> Option<&'a str> {
        let (run, machine) = self.controller.run_of(self.layer)?;
        Some(&machine.states().get(run.state)?.name)
    }

    /// Returns the state that the character is on its way to, or the present one.
    pub fn destination(&self) -> Option<&'a str> {
        let (run, machine) = self.controller.run_of(self.layer)?;
        let state = run.destination.unwrap_or(run.state);
        Some(&machine.states().get(state)?.name)
    }

    /// Returns the time since the present state was entered, in seconds.
    pub fn seconds(&self) -> Option<f64> {
        let (run, _) = self.controller.run_of(self.layer)?;
        Some(self.controller.tracks.clock.now.since(run.since))
    }

    /// Returns a speed that states name, of any layer; `None` if none does.
    pub fn speed(&self, name: &str) -> Option<f64> {
        self.controller.states.as_ref()?.speed(name)
    }

    /// Returns the machines of all layers.
    #[doc(hidden)]
    pub fn machines(&self) -> Option<&'a Arc<StateLayers>> {
        Some(&self.controller.states.as_ref()?.layers)
    }
}

impl AnimationController {
    fn find_state(&self, layer: &str, state: &str) -> Result<(usize, usize), StatesError> {
        let states = self.states.as_ref();
        let no_layer = || {
            let nearest = states.and_then(|states| states.layers.nearest_layer(layer));
            StatesError::NoLayer(layer.to_owned(), nearest.map(str::to_owned))
        };
        let states = states.ok_or_else(no_layer)?;
        let at = states.layers.index_of(layer).ok_or_else(no_layer)?;
        let MachineLayer { machine, sync, .. } = &states.layers.layers()[at];
        if let Some(leader) = sync {
            return Err(StatesError::Follows {
                layer: layer.to_owned(),
                leader: states.layers.layers()[*leader].name.to_string(),
            });
        }
        let to = machine.index_of(state).ok_or_else(|| {
            StatesError::UnknownState(state.to_owned(), machine.nearest(state).map(str::to_owned))
        })?;
        Ok((at, to))
    }

    fn run_and_machine(&self, at: usize) -> Option<(&StateRun, &StateMachine)> {
        let states = self.states.as_ref()?;
        let layer = states.layers.layers().get(at)?;
        let run = states.runs.get(layer.sync.unwrap_or(at))?;
        Some((run, &layer.machine))
    }

    fn run_of(&self, layer: &str) -> Option<(&StateRun, &StateMachine)> {
        let at = self.states.as_ref()?.layers.index_of(layer)?;
        self.run_and_machine(at)
    }
}
