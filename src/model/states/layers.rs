//! The machines of a character: one for the whole body, and one for each layer on top of it.

use super::{
    Leader, MOST_LAYERS, PlayedClip, Speed, State, StateError, StateMachine, StateProblem, text,
};
use crate::spelling::nearest;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, sync::Arc};

/// States of a part of the body, on top of those of the whole.
///
/// ```ron
/// masks: { "upper_body": (roots: ["chest"]) },
/// layers: { "arms": (mask: "upper_body", states: {
///     "free": (start: true),
///     "wave": (plays: "wave", from: ["free"], then: "free"),
/// }) },
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateLayer {
    /// The mask of the joints that the layer plays over.
    pub mask: String,
    /// Leader that the layer is synchronized with, if it doesn't run by itself: it is always in the state in which its leader is,
    /// enters it by the same transition, and plays at the same fraction of its clip's length.
    ///
    /// Then [`states`](Self::states) say only what the layer [`plays`](State::plays) in states of the leader. Of several
    /// clips, it plays the one in the place of the leader's. In states that aren't among them, it leaves the joints to what is
    /// below. The name of an outer state stands for all states inside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync: Option<Leader>,
    /// The states. One that plays nothing leaves the joints to what is below.
    #[serde(deserialize_with = "text::distinct")]
    pub states: BTreeMap<String, State>,
}

/// The machines of a character: one for the whole body, and one for each layer on top of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StateLayers {
    machines: Vec<MachineLayer>,
    /// In alphabetical order.
    speeds: Vec<Arc<str>>,
    body: BTreeMap<String, State>,
    layers: BTreeMap<String, StateLayer>,
}

/// A machine, and the part of the body that it moves.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineLayer {
    /// The layer's name; empty for the whole body.
    pub name: Arc<str>,
    /// The mask of the joints that it plays over; `None` for the whole body.
    pub mask: Option<Arc<str>>,
    /// The index of the layer whose states it shares, if it is synchronized. That one isn't synchronized itself.
    pub sync: Option<usize>,
    /// The machine. If it is synchronized, the one of the other layer, but for what its states play.
    pub machine: StateMachine,
}

impl StateLayers {
    /// The most layers, the one of the whole body included.
    pub const MOST_LAYERS: usize = MOST_LAYERS;

    /// Returns the layer that a misspelled name probably means.
    pub fn nearest_layer(&self, name: &str) -> Option<&str> {
        let names = self.machines.iter().map(|layer| &*layer.name);
        nearest(name, names.filter(|name| !name.is_empty()))
    }

    /// Checks the states of a character, and makes machines of them. `body` are those of the whole body; if there are none,
    /// it is left to [`play`](crate::controller::AnimationController::play) and the like.
    ///
    /// # Errors
    /// All that is wrong.
    pub fn new(
        body: &BTreeMap<String, State>,
        layers: &BTreeMap<String, StateLayer>,
    ) -> Result<Self, Vec<StateError>> {
        let mut errors = Vec::new();
        let has_body = !body.is_empty();
        if layers.len() + usize::from(has_body) > Self::MOST_LAYERS {
            return Err(vec![StateError::new("", StateProblem::TooManyLayers)]);
        }
        let bad = |name: &&String| name.is_empty() || *name == Leader::BODY;
        errors.extend(
            (layers.keys().filter(bad))
                .map(|name| StateError::new("", StateProblem::BadLayerName).on_layer(name)),
        );
        // The machines of those that follow none, by name; the others follow one of them.
        let of_body = has_body.then_some(("", body));
        let free = layers.iter().filter(|(_, layer)| layer.sync.is_none());
        let free = free.map(|(name, layer)| (name.as_str(), &layer.states));
        let mut machines: BTreeMap<&str, StateMachine> = BTreeMap::new();
        for (name, states) in of_body.into_iter().chain(free) {
            match StateMachine::new(states) {
                Ok(machine) => drop(machines.insert(name, machine)),
                Err(wrong) => errors.extend(wrong.into_iter().map(|error| error.on_layer(name))),
            }
        }
        let all = (has_body.then_some(("", None)).into_iter()).chain(
            layers
                .iter()
                .map(|(name, layer)| (name.as_str(), Some(layer))),
        );
        let all: Vec<(&str, Option<&StateLayer>)> = all.collect();
        let mut made = Vec::new();
        for &(name, layer) in &all {
            let leader = match layer {
                Some(_) => leader_of(name, layers, has_body),
                None => Ok(None),
            };
            let leader = leader.unwrap_or_else(|problem| {
                errors.push(StateError::new("", problem).on_layer(name));
                None
            });
            // What is missing here has been reported.
            let machine = match (leader, layer) {
                (Some(leader), Some(layer)) => machines.get(leader).and_then(|machine| {
                    let synced = machine.synced(&layer.states).map_err(|wrong| {
                        errors.extend(wrong.into_iter().map(|error| error.on_layer(name)));
                    });
                    synced.ok()
                }),
                _ => machines.get(name).cloned(),
            };
            made.extend(machine.map(|machine| MachineLayer {
                name: name.into(),
                mask: layer.map(|layer| layer.mask.as_str().into()),
                sync: leader.and_then(|leader| all.iter().position(|(of, _)| *of == leader)),
                machine,
            }));
        }
        if !errors.is_empty() {
            errors.truncate(StateError::MOST);
            return Err(errors);
        }
        Ok(Self {
            speeds: names_of_speeds(&made),
            machines: made,
            body: body.clone(),
            layers: layers.clone(),
        })
    }

    pub(crate) fn of(machines: Vec<MachineLayer>, speeds: Vec<Arc<str>>) -> Self {
        Self {
            machines,
            speeds,
            ..Self::default()
        }
    }

    /// The states as they were written down, of the whole body and of the layers.
    pub(crate) fn written(&self) -> (&BTreeMap<String, State>, &BTreeMap<String, StateLayer>) {
        (&self.body, &self.layers)
    }

    /// Returns the layers, that of the whole body first, and the others in the order of their names. Later ones play over
    /// those before them.
    #[doc(hidden)]
    pub fn layers(&self) -> &[MachineLayer] {
        &self.machines
    }

    /// Returns the index of a layer; that of the whole body has an empty name.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.machines.iter().position(|layer| &*layer.name == name)
    }

    /// Returns the names of the [speeds](Speed::Named) that the game may set, in alphabetical order.
    pub fn speeds(&self) -> impl Iterator<Item = &str> {
        self.speeds.iter().map(|name| &**name)
    }

    pub(crate) fn speed_names(&self) -> &[Arc<str>] {
        &self.speeds
    }

    /// Checks what the states play against what the character has. `find` looks up a clip or a blend space by name, and
    /// `names` lists all of their names.
    pub(crate) fn check_clips<'c>(
        &self,
        names: &[&str],
        find: impl Fn(&str) -> Option<PlayedClip<'c>>,
    ) -> Vec<StateError> {
        let mut errors = Vec::new();
        for layer in &self.machines {
            let wrong = layer.machine.check_clips(names, &find).into_iter();
            // Exits and places to begin at are the leader's.
            let wrong = wrong.filter(|error| {
                layer.sync.is_none() || matches!(error.problem, StateProblem::UnknownClip { .. })
            });
            errors.extend(wrong.map(|error| error.on_layer(&layer.name)));
        }
        errors
    }

    /// Returns what is odd, but doesn't keep the machines from running: states that are never reached or never left, and
    /// speeds whose names may be misspelled.
    pub fn warnings(&self) -> Vec<StateError> {
        let of_machines = self.machines.iter().flat_map(|layer| {
            let odd = layer.machine.warnings().iter().cloned();
            odd.map(|error| error.on_layer(&layer.name))
        });
        let mut warnings: Vec<StateError> = of_machines.collect();
        // A misspelled name would be a speed of its own, which nobody sets.
        for (at, name) in self.speeds.iter().enumerate() {
            let others = self.speeds[at + 1..].iter().map(|other| &**other);
            let letters = |name: &str| name.replace(|c: char| c.is_ascii_digit(), "");
            let alike = nearest(name, others.filter(|other| letters(other) != letters(name)));
            let Some(other) = alike else { continue };
            let is_user = |state: &super::MachineState| matches!(&state.speed, Speed::Named(speed) if speed == other);
            let user = self.machines.iter().find_map(|layer| {
                let state = layer.machine.states().iter().find(|state| is_user(state))?;
                Some((layer, state))
            });
            if let Some((layer, state)) = user {
                let (name, other) = (name.to_string(), other.to_owned());
                let problem = StateProblem::SpeedsAlike { name, other };
                warnings.push(StateError::new(&*state.name, problem).on_layer(&layer.name));
            }
        }
        warnings
    }
}

/// The name of the layer whose states a layer shares in the end, by way of any number of others. `None` if it has its own.
fn leader_of<'l>(
    name: &'l str,
    layers: &'l BTreeMap<String, StateLayer>,
    has_body: bool,
) -> Result<Option<&'l str>, StateProblem> {
    let (mut at, mut way) = (name, Vec::new());
    while let Some(leader) = layers.get(at).and_then(|layer| layer.sync.as_ref()) {
        way.push(at.to_owned());
        at = leader.name();
        let is_known = match leader {
            Leader::Body => has_body,
            Leader::Layer(_) => layers.contains_key(at),
        };
        if !is_known {
            // It is said of the layer that names it.
            return if way.len() > 1 {
                Ok(Some(name))
            } else {
                Err(StateProblem::UnknownLayer {
                    name: at.to_owned(),
                    nearest: nearest(at, layers.keys().map(String::as_str)).map(str::to_owned),
                })
            };
        }
        if way.iter().any(|before| before == at) {
            return Err(StateProblem::LayersInCircle(way));
        }
    }
    Ok((!way.is_empty()).then_some(at))
}

fn names_of_speeds(machines: &[MachineLayer]) -> Vec<Arc<str>> {
    let states = machines.iter().flat_map(|layer| layer.machine.states());
    let names = states.filter_map(|state| match &state.speed {
        Speed::Named(name) => Some(Arc::from(name.as_str())),
        Speed::Fixed(_) => None,
    });
    let mut names: Vec<Arc<str>> = names.collect();
    names.sort_unstable();
    names.dedup();
    names
}
