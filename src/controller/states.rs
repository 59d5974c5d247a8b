//! States: what the character does, by name, in the machines of its data.

mod entering;
mod names;
mod run;
mod speeds;
mod typed;
#[cfg(feature = "inspector")]
mod view;

pub use run::Go;
pub use typed::{CharacterStates, StateName};
#[cfg(feature = "inspector")]
pub(crate) use view::StateView;

use super::{AnimationController, TrackId, clock::Nanos};
use crate::{
    model::{MachineLayer, MachineState, Opening, StateLayers, StateMachine},
    spelling::meant,
};
use run::{Enter, StateRun};
use serde::{Deserialize, Serialize};
use std::{error::Error, fmt, sync::Arc, time::Duration};

/// A character's states in its machines.
#[derive(Clone, Debug, Default)]
pub(super) struct StateRuns {
    layers: Arc<StateLayers>,
    /// One for each layer.
    runs: Vec<StateRun>,
    /// Values of the [speeds](StateLayers::speeds) that the game has set.
    speeds: Vec<f64>,
    /// States that the game has entered since the last advance, yet to be reported.
    asked: Vec<Entered>,
    /// States to enter because of what tracks have passed, per layer, yet to be played.
    due: Vec<(usize, Enter)>,
}

/// A state that was entered.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Entered {
    layer: usize,
    from: Option<usize>,
    to: usize,
}

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

/// # States
///
/// What a character does next, by the names of its states. The [data](crate::model::State) says what plays in each, how it
/// is entered, and when it may be left.
impl AnimationController {
    /// Goes to a state, given by its [name](StateName): at once if the present one may be left now, and otherwise as soon as
    /// it may. If no way leads there directly, the character goes by way of other states.
    ///
    /// A wish that waits is forgotten if the state ends by itself before its exit has opened, unless what follows is on the
    /// way, and if it turns out that nothing that the state plays has the callback key of its exit. Another call before that takes the place of this one. Going to the present state starts it over if it can be entered
    /// [from](crate::model::State::from) itself, as those from any state can; otherwise, the character
    /// [stays](Go::Stays).
    ///
    /// What [`play`](Self::play) and the like start takes the place of the state's clip, until the next state is entered: the
    /// state ends where that ends. A state whose clip is missing, or was removed, ends at once.
    ///
    /// # Errors
    /// If there is no such state or layer, no way to the state or none that can still open, or if the layer follows another. Then
    /// nothing changes.
    pub fn go(&mut self, state: impl StateName) -> Result<Go, StatesError> {
        self.go_by_name(state.layer(), state.state())
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
    pub fn states(&self) -> States<'_> {
        States {
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
pub struct States<'a> {
    controller: &'a AnimationController,
    layer: &'a str,
}

impl<'a> States<'a> {
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
        Some(self.controller.clock.now.since(run.since))
    }

    /// Returns a speed that states name, of any layer; `None` if none does.
    pub fn speed(&self, name: &str) -> Option<f64> {
        self.controller.extras.states.as_ref()?.speed(name)
    }

    /// Returns the machines of all layers.
    #[doc(hidden)]
    pub fn machines(&self) -> Option<&'a Arc<StateLayers>> {
        Some(&self.controller.extras.states.as_ref()?.layers)
    }
}

impl AnimationController {
    /// Gives the character states, and begins in the first. In Bevy, the plugin does this for a character whose manifest has
    /// states, if nothing plays yet.
    ///
    /// If it has states already, it stays where it is, as far as the new ones have a state of the same name. The same seed
    /// gives the same random choices.
    ///
    /// ```
    /// # use bevy_marionette::{controller::{AnimationController, Go}, internals::model::StateLayers, model::{State, Then}};
    /// # use std::sync::Arc;
    /// let states = [
    ///     ("ground", State::playing("idle").start()),
    ///     ("jump", State::playing("jump").from(["ground"]).then(Then::State("ground".into()))),
    /// ];
    /// let states = states.map(|(name, state)| (name.to_owned(), state)).into();
    /// let mut controller = AnimationController::default();
    /// # controller.set_states(&Arc::new(StateLayers::new(&states, &Default::default())?), 0);
    /// assert_eq!(controller.go("jump"), Ok(Go::Entered));
    /// assert_eq!((controller.state(), controller.current()), (Some("jump"), Some("jump")));
    /// # Ok::<(), Vec<bevy_marionette::internals::model::StateError>>(())
    /// ```
    #[doc(hidden)]
    pub fn set_states(&mut self, states: &Arc<StateLayers>, seed: u64) {
        let old = self.extras.states.take().unwrap_or_default();
        let mut runs: Vec<StateRun> = Vec::with_capacity(states.layers().len());
        let mut entered = Vec::new();
        let before = |layer: &MachineLayer| {
            let at = old.layers.index_of(&layer.name)?;
            Some((&old.layers.layers()[at], old.runs.get(at)?))
        };
        for (at, layer) in states.layers().iter().enumerate() {
            let before = before(layer);
            let kept = before.and_then(|(before, run)| {
                let mut run = run.clone();
                let alone = before.sync.is_none() && layer.sync.is_none();
                (alone && run.adopt(&before.machine, &layer.machine)).then_some(run)
            });
            runs.push(kept.unwrap_or_else(|| {
                // Each layer has random numbers of its own.
                let seed = seed.wrapping_add((at as u64) << 32);
                let (run, enter) = StateRun::start(&layer.machine, seed, self.clock.now);
                if layer.sync.is_none() {
                    entered.push((at, enter));
                }
                // What has played takes its leave.
                let track = before.and_then(|(_, run)| run.track);
                StateRun { track, ..run }
            }));
        }
        // Layers that follow one which goes on, and haven't before.
        let follows_anew = |layer: &MachineLayer, leader: usize| {
            let before = before(layer).and_then(|(before, _)| before.sync);
            let leader = &states.layers()[leader].name;
            before.is_none_or(|before| old.layers.layers()[before].name != *leader)
        };
        let mut following = Vec::new();
        for (at, layer) in states.layers().iter().enumerate() {
            let Some(leader) = layer.sync else { continue };
            let is_entered = entered.iter().any(|(other, _)| *other == leader);
            runs[at] = StateRun::following(&runs[leader], runs[at].track);
            if !is_entered && follows_anew(layer, leader) {
                following.push((at, leader));
            }
        }
        let (speeds, asked) = (old.speeds_in(states), old.asked_in(states));
        // What layers that are gone play fades out.
        for layer in old.layers.layers() {
            if layer.mask.is_some() && states.index_of(&layer.name).is_none() {
                self.fade_out_layer(&layer.name, Duration::from_millis(200));
            }
        }
        self.extras.states = Some(Box::new(StateRuns {
            layers: states.clone(),
            runs,
            speeds,
            asked,
            due: Vec::new(),
        }));
        for (at, enter) in entered {
            self.ask_for(at, enter);
        }
        for (at, leader) in following {
            let entry = states.layers()[leader].machine.states()[self.state_index(leader)].entry;
            self.play_following(at, leader, entry, None);
        }
        self.change();
    }

    fn go_by_name(&mut self, layer: &str, state: &str) -> Result<Go, StatesError> {
        let (at, to) = self.find_state(layer, state)?;
        let now = self.clock.now;
        let Some(StateRuns { layers, runs, .. }) = self.extras.states_mut() else {
            return Err(self.no_layer(layer));
        };
        let (machine, run) = (&layers.layers()[at].machine, &mut runs[at]);
        let Some((answer, enter)) = run.go(machine, to, now) else {
            let from = &machine.states()[run.state];
            if let Opening::Key(key) = &from.exit
                && run.next(machine, to).is_some()
            {
                return Err(StatesError::Closed {
                    from: from.name.to_string(),
                    to: state.to_owned(),
                    key: key.to_string(),
                });
            }
            let ways = from.ways.iter().map(|way| &machine.states()[way.to].name);
            return Err(StatesError::NoWay {
                from: from.name.to_string(),
                to: state.to_owned(),
                ways: ways.map(|name| name.to_string()).collect(),
            });
        };
        if let Some(enter) = enter {
            self.ask_for(at, enter);
        }
        Ok(answer)
    }

    fn find_state(&self, layer: &str, state: &str) -> Result<(usize, usize), StatesError> {
        let states = self.extras.states.as_ref();
        let states = states.ok_or_else(|| self.no_layer(layer))?;
        let at = states.layers.index_of(layer);
        let at = at.ok_or_else(|| self.no_layer(layer))?;
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

    fn no_layer(&self, layer: &str) -> StatesError {
        let states = self.extras.states.as_ref();
        let nearest = states.and_then(|states| states.layers.nearest_layer(layer));
        StatesError::NoLayer(layer.to_owned(), nearest.map(str::to_owned))
    }

    fn run_and_machine(&self, at: usize) -> Option<(&StateRun, &StateMachine)> {
        let states = self.extras.states.as_ref()?;
        let layer = states.layers.layers().get(at)?;
        let run = states.runs.get(layer.sync.unwrap_or(at))?;
        Some((run, &layer.machine))
    }

    fn run_of(&self, layer: &str) -> Option<(&StateRun, &StateMachine)> {
        let at = self.extras.states.as_ref()?.layers.index_of(layer)?;
        self.run_and_machine(at)
    }

    fn state_index(&self, layer: usize) -> usize {
        self.run_and_machine(layer).map_or(0, |(run, _)| run.state)
    }

    /// Takes up the machines that the clips come with, if the character has states.
    pub(super) fn follow_states(&mut self, states: Option<&Arc<StateLayers>>) {
        if let (Some(mine), Some(states)) = (&self.extras.states, states)
            && !Arc::ptr_eq(&mine.layers, states)
        {
            let seed = mine.runs.first().map_or(0, |run| run.seed);
            self.set_states(states, seed);
        }
    }
}

impl StateRuns {
    /// The speeds, for other machines.
    fn speeds_in(&self, states: &StateLayers) -> Vec<f64> {
        let names = states.speed_names().iter();
        names.map(|name| self.speed(name).unwrap_or(1.0)).collect()
    }

    /// Returns what is still to be reported, in other machines.
    fn asked_in(&self, states: &StateLayers) -> Vec<Entered> {
        let asked = self.asked.iter().filter_map(|entered| {
            let before = self.layers.layers().get(entered.layer)?;
            let layer = states.index_of(&before.name)?;
            let machine = &states.layers()[layer].machine;
            let same = |state: usize| machine.index_of(&before.machine.states().get(state)?.name);
            Some(Entered {
                layer,
                from: entered.from.and_then(same),
                to: same(entered.to)?,
            })
        });
        asked.collect()
    }

    /// Lets the clock go back.
    pub(super) fn shift(&mut self, by: Nanos) {
        for run in &mut self.runs {
            run.since = run.since.minus(by);
        }
    }

    /// Returns the layer whose present state a track plays.
    pub(super) fn layer_of(&self, track: TrackId) -> Option<usize> {
        self.runs.iter().position(|run| run.track == Some(track))
    }

    /// Returns the layer whose present state a track plays, and the state. `None` if the layer follows another: it has no life of
    /// its own.
    fn state_of(&self, track: TrackId) -> Option<(usize, &MachineState)> {
        let layer = self.layer_of(track)?;
        let MachineLayer { machine, sync, .. } = &self.layers.layers()[layer];
        let state = machine.states().get(self.runs[layer].state)?;
        sync.is_none().then_some((layer, state))
    }

    /// Returns the number of states and layers.
    pub(super) fn parts(&self) -> usize {
        let states = |layer: &MachineLayer| 1 + layer.machine.states().len();
        self.layers.layers().iter().map(states).sum()
    }

    /// About how many bytes it has allocated, besides the machines, which are shared.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&self.runs[..]) + size_of_val(&self.speeds[..])
    }
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
