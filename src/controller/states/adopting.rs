//! Taking up machines: new ones, and those that were loaded anew.

use super::{
    run::{Enter, StateRun},
    runs::{Entered, StateRuns},
};
use crate::{
    controller::{AnimationController, clock::Nanos},
    model::{MachineLayer, StateLayers},
};
use std::{sync::Arc, time::Duration};

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
        let old = self.states.take().unwrap_or_default();
        // What layers that are gone play fades out.
        for layer in old.layers.layers() {
            if layer.mask.is_some() && states.index_of(&layer.name).is_none() {
                let duration = Duration::from_millis(200);
                self.tracks.fade_out_layer(&layer.name, duration);
            }
        }
        let (runs, entered) = old.adopted_by(states, seed, self.tracks.clock.now);
        let following = old.following_anew(states, &entered);
        let runs = self.states.insert(Box::new(StateRuns {
            runs,
            speeds: old.speeds_in(states),
            asked: old.asked_in(states),
            due: Vec::new(),
            layers: states.clone(),
        }));
        for (at, enter) in entered {
            runs.ask_for(at, enter, &mut self.tracks, &mut self.director);
        }
        for (at, leader) in following {
            let state = &states.layers()[leader].machine.states()[runs.runs[leader].state];
            runs.play_following(at, leader, state.entry, &mut self.tracks, None);
        }
        self.change();
    }

    /// Takes up the machines that the clips come with, if the character has states.
    pub(crate) fn follow_states(&mut self, states: Option<&Arc<StateLayers>>) {
        if let (Some(mine), Some(states)) = (&self.states, states)
            && !Arc::ptr_eq(&mine.layers, states)
        {
            let seed = mine.runs.first().map_or(0, |run| run.seed);
            self.set_states(states, seed);
        }
    }
}

impl StateRuns {
    /// The layer of a name, and its run.
    fn layer(&self, name: &str) -> Option<(&MachineLayer, &StateRun)> {
        let at = self.layers.index_of(name)?;
        Some((&self.layers.layers()[at], self.runs.get(at)?))
    }

    /// Returns the runs in other machines: each where it is, if there is a state of the same name, and else at the start. Beside
    /// them, the layers that start, and what plays there.
    fn adopted_by(
        &self,
        states: &StateLayers,
        seed: u64,
        now: Nanos,
    ) -> (Vec<StateRun>, Vec<(usize, Enter)>) {
        let mut entered = Vec::new();
        let mut runs: Vec<StateRun> = Vec::with_capacity(states.layers().len());
        for (at, layer) in states.layers().iter().enumerate() {
            let before = self.layer(&layer.name);
            let kept = before.and_then(|(before, run)| {
                let mut run = run.clone();
                let alone = before.sync.is_none() && layer.sync.is_none();
                (alone && run.adopt(&before.machine, &layer.machine)).then_some(run)
            });
            runs.push(kept.unwrap_or_else(|| {
                // Each layer has random numbers of its own.
                let seed = seed.wrapping_add((at as u64) << 32);
                let (run, enter) = StateRun::start(&layer.machine, seed, now);
                if layer.sync.is_none() {
                    entered.push((at, enter));
                }
                // What has played takes its leave.
                let track = before.and_then(|(_, run)| run.track);
                StateRun { track, ..run }
            }));
        }
        for (at, layer) in states.layers().iter().enumerate() {
            if let Some(leader) = layer.sync {
                runs[at] = StateRun::following(&runs[leader], runs[at].track);
            }
        }
        (runs, entered)
    }

    /// The layers that follow one which goes on, and haven't before, each with its leader.
    fn following_anew(
        &self,
        states: &StateLayers,
        entered: &[(usize, Enter)],
    ) -> Vec<(usize, usize)> {
        let follows_anew = |layer: &MachineLayer, leader: usize| {
            let before = self.layer(&layer.name).and_then(|(before, _)| before.sync);
            let leader = &states.layers()[leader].name;
            before.is_none_or(|before| self.layers.layers()[before].name != *leader)
        };
        let layers = states.layers().iter().enumerate();
        let following = layers.filter_map(|(at, layer)| {
            let leader = layer.sync?;
            let is_entered = entered.iter().any(|(other, _)| *other == leader);
            (!is_entered && follows_anew(layer, leader)).then_some((at, leader))
        });
        following.collect()
    }

    /// The speeds, for other machines.
    fn speeds_in(&self, states: &StateLayers) -> Vec<f64> {
        let names = states.speed_names().iter();
        names.map(|name| self.speed(name).unwrap_or(1.0)).collect()
    }

    /// Returns what is still to be reported, in other machines.
    fn asked_in(&self, states: &StateLayers) -> Vec<Entered> {
        let known = self.asked.iter().filter_map(|entered| {
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
        let mut asked: Vec<_> = known.collect();
        asked.sort_by_key(|entered| entered.layer);
        asked
    }
}
