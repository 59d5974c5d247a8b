//! Where a character is in one of its machines, for the inspector.

use crate::{
    controller::{AnimationController, TrackId},
    model::{Opening, Successor},
};

/// Where a character is in a machine. States are indices of it.
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
        let state = machine.states().get(run.state)?;
        let is_open = match &state.exit {
            Opening::Anytime => true,
            Opening::Key(_) => run.opened,
            Opening::End => run.ended,
            Opening::Never => false,
        };
        let ways = state.ways.iter().filter(|way| is_open || way.interrupts);
        let mut open: Vec<usize> = ways.map(|way| way.to).collect();
        // What follows by itself may follow early where a key says so.
        if let Some(Successor::State(to, _)) = state.then
            && run.opened
            && !open.contains(&to)
        {
            open.push(to);
        }
        Some(StateView {
            state: run.state,
            destination: run.destination,
            seconds: self.clock.now.since(run.since),
            track: run.track,
            open,
        })
    }
}
