//! The states that a character is in, in all of its machines.

use super::run::{Enter, StateRun};
use crate::{
    controller::{TrackId, clock::Nanos},
    model::{MachineLayer, MachineState, Speed, StateLayers},
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A character's states in its machines.
#[derive(Clone, Debug, Default)]
pub(in crate::controller) struct StateRuns {
    pub(super) layers: Arc<StateLayers>,
    /// One for each layer.
    pub(super) runs: Vec<StateRun>,
    /// Values of the [speeds](StateLayers::speeds) that the game has set.
    pub(super) speeds: Vec<f64>,
    /// States that the game has entered since the last advance, yet to be reported, layer by layer.
    pub(super) asked: Vec<Entered>,
    /// States to enter because of what tracks have passed, per layer, yet to be played.
    pub(super) due: Vec<(usize, Enter)>,
}

/// A state that was entered.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Entered {
    pub(super) layer: usize,
    pub(super) from: Option<usize>,
    pub(super) to: usize,
}

impl StateRuns {
    /// Lets the clock go back.
    pub(in crate::controller) fn shift(&mut self, by: Nanos) {
        for run in &mut self.runs {
            run.since = run.since.minus(by);
        }
    }

    /// Returns the layer whose present state a track plays.
    pub(in crate::controller) fn layer_of(&self, track: TrackId) -> Option<usize> {
        self.runs.iter().position(|run| run.track == Some(track))
    }

    /// Returns the layer whose present state a track plays, and the state. `None` if the layer follows another: it has no life of
    /// its own.
    pub(super) fn state_of(&self, track: TrackId) -> Option<(usize, &MachineState)> {
        let layer = self.layer_of(track)?;
        let MachineLayer { machine, sync, .. } = &self.layers.layers()[layer];
        let state = machine.states().get(self.runs[layer].state)?;
        sync.is_none().then_some((layer, state))
    }

    /// Returns the number of states and layers.
    pub(in crate::controller) fn parts(&self) -> usize {
        let states = |layer: &MachineLayer| 1 + layer.machine.states().len();
        self.layers.layers().iter().map(states).sum()
    }

    /// About how many bytes it has allocated, besides the machines, which are shared.
    pub(in crate::controller) fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&self.runs[..]) + size_of_val(&self.speeds[..])
    }

    pub(super) fn speed_index(&self, name: &str) -> Option<usize> {
        self.layers.speeds().position(|speed| speed == name)
    }

    pub(super) fn speed(&self, name: &str) -> Option<f64> {
        self.speeds.get(self.speed_index(name)?).copied()
    }

    /// The speed of the present state of the whole body, if what it plays is on a track, or 1.
    pub(in crate::controller) fn speed_on(&self, track: Option<TrackId>) -> f64 {
        let layer = track.and_then(|track| self.layer_of(track));
        let layer = layer.filter(|layer| !self.runs[*layer].replaced);
        layer.map_or(1.0, |layer| self.speed_of(layer))
    }

    /// The speed of a layer's present state.
    pub(super) fn speed_of(&self, layer: usize) -> f64 {
        let machine = self.layers.layers().get(layer).map(|layer| &layer.machine);
        let run = self.runs.get(layer);
        let state = machine
            .zip(run)
            .and_then(|(machine, run)| machine.states().get(run.state));
        match state.map(|state| &state.speed) {
            Some(Speed::Fixed(speed)) => *speed,
            Some(Speed::Named(name)) => self.speed(name).unwrap_or(1.0),
            None => 1.0,
        }
    }
}
