//! States of a character as they are saved: by names, so that they can be taken up in data that has changed.

use super::{
    run::StateRun,
    runs::{Entered, StateRuns},
};
use crate::{
    controller::AnimationName,
    model::{MachineLayer, StateLayers, StateMachine},
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::sync::Arc;

/// The most names of a layer, and choices.
const MOST: usize = StateMachine::MOST_STATES;
/// The most speeds that states can name.
const MOST_SPEEDS: usize = StateLayers::MOST_LAYERS * StateMachine::MOST_STATES;

#[derive(PartialEq, Serialize, Deserialize)]
struct Saved {
    layers: Vec<SavedRun>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    speeds: Vec<(AnimationName, f64)>,
}

#[derive(PartialEq, Serialize, Deserialize)]
struct SavedRun {
    layer: AnimationName,
    mask: Option<AnimationName>,
    /// The layer that it follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sync: Option<usize>,
    /// The names of the states that the rest speaks of, by index.
    names: Vec<AnimationName>,
    run: StateRun,
    asked: Vec<(Option<usize>, usize)>,
}

// What is saved decides. A recorded controller knows its machines only by names until it's advanced, and has to equal the one
// that was recorded.
impl PartialEq for StateRuns {
    fn eq(&self, other: &Self) -> bool {
        self.saved() == other.saved()
    }
}

impl StateRuns {
    /// Returns what the game has entered on a layer, in order.
    fn asked(&self, layer: usize) -> impl Iterator<Item = (Option<usize>, usize)> {
        let asked = self.asked.iter().filter(move |asked| asked.layer == layer);
        asked.map(|asked| (asked.from, asked.to))
    }

    fn saved(&self) -> Saved {
        let layers = self.layers.layers().iter().zip(&self.runs).enumerate();
        let saved = layers.map(|(at, (layer, run))| SavedRun {
            layer: AnimationName::new(layer.name.clone()),
            mask: layer.mask.clone().map(AnimationName::new),
            sync: layer.sync,
            names: layer
                .machine
                .states()
                .iter()
                .map(|state| AnimationName::new(state.name.clone()))
                .collect(),
            run: run.clone(),
            asked: self.asked(at).collect(),
        });
        let speeds = self.layers.speed_names().iter().zip(&self.speeds);
        let speeds = speeds.map(|(name, speed)| (AnimationName::new(name.clone()), *speed));
        let (layers, speeds) = (saved.collect(), speeds.collect());
        Saved { layers, speeds }
    }
}

impl Serialize for StateRuns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.saved().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for StateRuns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Saved {
            layers: saved,
            speeds,
        } = Saved::deserialize(deserializer)?;
        if saved.len() > StateLayers::MOST_LAYERS || speeds.len() > MOST_SPEEDS {
            return Err(D::Error::custom("too many layers of states, or speeds"));
        }
        if !speeds.iter().all(|(_, speed)| speed.is_finite()) {
            return Err(D::Error::custom("a speed of states that is not finite"));
        }
        let leads = |at: usize| {
            let leader: Option<&SavedRun> = saved.get(at);
            leader.is_some_and(|leader| leader.sync.is_none())
        };
        if !saved.iter().all(|run| run.sync.is_none_or(leads)) {
            return Err(D::Error::custom("a layer of states that follows none"));
        }
        let (mut layers, mut runs, mut asked) = (Vec::new(), Vec::new(), Vec::new());
        for (at, saved) in saved.into_iter().enumerate() {
            let count = saved.names.len();
            let is_state = |state: usize| state < count;
            let named = saved
                .asked
                .iter()
                .all(|(from, to)| is_state(*to) && from.is_none_or(is_state));
            let run = saved.run;
            let is_sound = count <= MOST
                && run.choices.len() <= MOST
                && is_state(run.state)
                && is_state(run.back)
                && run.destination.is_none_or(is_state)
                && named;
            if !is_sound {
                return Err(D::Error::custom("a state that is not among the states"));
            }
            asked.extend(saved.asked.iter().map(|&(from, to)| Entered {
                layer: at,
                from,
                to,
            }));
            runs.push(run);
            layers.push(MachineLayer {
                name: saved.layer.as_arc().clone(),
                mask: saved.mask.map(|mask| mask.as_arc().clone()),
                sync: saved.sync,
                machine: StateMachine::of_names(
                    saved.names.iter().map(|name| name.as_arc().clone()),
                ),
            });
        }
        let (names, speeds) = speeds
            .into_iter()
            .map(|(name, speed)| (name.as_arc().clone(), speed))
            .unzip();
        Ok(Self {
            layers: Arc::new(StateLayers::of(layers, names)),
            speeds,
            runs,
            asked,
            due: Vec::new(),
        })
    }
}
