//! States as types of the game's own, checked against those that characters have.

use super::{
    SkinnedCharacter, StateEntered,
    names::{asset_of, hint},
};
use crate::{
    asset::Character,
    controller::CharacterStates,
    model::{MachineLayer, StateLayers},
    spelling::{did_you_mean, meant},
};
use bevy::{ecs::query::QueryFilter, platform::collections::HashMap, prelude::*};
use std::any::type_name;

impl StateEntered {
    /// Returns the state as a variant of an enum; `None` if it is a state of another layer, or no variant has its name.
    pub fn state_as<S: CharacterStates>(&self) -> Option<S> {
        let layer = self.layer.as_deref().unwrap_or_default();
        (layer == S::LAYER).then(|| S::named(&self.state)).flatten()
    }
}

/// Checks characters that are new, or whose asset has changed. `checked` are the versions of assets.
pub(super) fn check<S: CharacterStates, F: QueryFilter + 'static>(
    mut events: MessageReader<AssetEvent<Character>>,
    assets: Option<Res<Assets<Character>>>,
    all: Query<&SkinnedCharacter, F>,
    new: Query<&SkinnedCharacter, (F, Changed<SkinnedCharacter>)>,
    mut checked: Local<HashMap<AssetId<Character>, u64>>,
) {
    let any = events
        .read()
        .any(|event| !matches!(event, AssetEvent::Unused { .. }));
    let mut check = |SkinnedCharacter(handle): &SkinnedCharacter| {
        let Some(character) = assets.as_ref().and_then(|assets| assets.get(handle)) else {
            return;
        };
        if checked.insert(handle.id(), character.version) == Some(character.version) {
            return;
        }
        let Some(states) = &character.states else {
            return;
        };
        compare::<S>(states, handle);
    };
    if any {
        all.iter().for_each(&mut check);
    } else {
        new.iter().for_each(check);
    }
}

/// Logs where an enum and a layer's states differ.
fn compare<S: CharacterStates>(states: &StateLayers, handle: &Handle<Character>) {
    let name = type_name::<S>();
    let who = asset_of(handle);
    let layer = states.index_of(S::LAYER).map(|at| &states.layers()[at]);
    let Some(MachineLayer { machine, .. }) = layer else {
        let layer = S::LAYER;
        return match layer {
            "" => error!("`{name}`: {who} only has states on layers"),
            _ => {
                let hint = states.nearest_layer(layer).map(meant);
                let hint = hint.map_or_else(String::new, |hint| format!("; {hint}"));
                error!("`{name}`: {who} has no layer `{layer}` of states{hint}");
            }
        };
    };
    let names = || machine.states().iter().map(|state| &*state.name);
    for state in S::ALL.iter().map(AsRef::as_ref) {
        if machine.index_of(state).is_none() {
            let hint = hint(state, machine.names());
            error!("`{name}`: {who} has no state `{state}`{hint}");
        }
    }
    for state in names().filter(|state| S::named(state).is_none()) {
        let known = S::ALL.iter().map(AsRef::as_ref);
        let hint = did_you_mean(state, known).map_or_else(String::new, |hint| format!("; {hint}"));
        warn!("`{name}`: no variant stands for the state `{state}` of {who}{hint}");
    }
}
