//! The state of a character in one of its machines, for the inspector.

use crate::controller::{AnimationController, TrackId};

/// The state of a character in a machine. States are indices of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StateView {
    pub(crate) state: usize,
    /// The state it is on its way to, if it isn't there.
    pub(crate) destination: Option<usize>,
    /// Seconds since the state was entered.
    pub(crate) seconds: f64,
    /// The track of the state.
    pub(crate) track: Option<TrackId>,
    /// The states that `go` would enter right now.
    pub(crate) open: Vec<usize>,
}

impl AnimationController {
    /// Returns where the character is in the machine of a layer.
    pub(crate) fn state_view(&self, layer: usize) -> Option<StateView> {
        let (run, machine) = self.run_and_machine(layer)?;
        let states = 0..machine.states().len();
        let open = states.filter(|to| run.open_way(machine, *to, false).is_some());
        Some(StateView {
            state: run.state,
            destination: run.destination,
            seconds: self.tracks.clock.now.since(run.since),
            track: run.track,
            open: open.collect(),
        })
    }
}
