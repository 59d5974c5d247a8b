//! Names in log messages.

use crate::{asset::Character, spelling::did_you_mean};
use bevy::{
    ecs::name::NameOrEntity,
    platform::{collections::HashSet, hash::FixedHasher},
    prelude::*,
};
use std::{
    fmt::Display,
    hash::BuildHasher,
    sync::{Mutex, PoisonError},
};

/// The name of an entity, or its id.
pub(super) fn name_of(names: &Query<NameOrEntity>, entity: Entity) -> String {
    names
        .get(entity)
        .map_or_else(|_| entity.to_string(), |name| name.to_string())
}

/// The path of a character's asset, where the entity's name is out of reach.
pub(super) fn asset_of(handle: &Handle<Character>) -> String {
    handle
        .path()
        .map_or_else(|| "a character".to_owned(), |path| format!("`{path}`"))
}

/// Returns the end of a message about a name that does not exist: the one that was probably meant, or else all that there
/// are.
pub(super) fn hint<'n>(
    name: &str,
    known: impl IntoIterator<Item = &'n str, IntoIter: Clone>,
) -> String {
    let known = known.into_iter();
    match did_you_mean(name, known.clone()) {
        Some(meant) => format!("; {meant}"),
        None => format!(" {}", available(known)),
    }
}

/// Returns the end of a message about something that does not exist: the names that do.
pub(super) fn available(names: impl IntoIterator<Item = impl Display>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() {
        "(it has none)".into()
    } else {
        format!("(available: {})", names.join(", "))
    }
}

/// Names that were said to mean nothing to an asset, each for each kind of thing.
#[derive(Resource, Default)]
pub(super) struct SaidNames(Mutex<HashSet<u64>>);

impl SaidNames {
    /// Returns `true` the first time that a name of something is asked for with this state of an asset.
    pub(super) fn is_new(&self, character: &Character, what: &str, name: &str) -> bool {
        // The hash stands for the names, so that asking in every frame allocates nothing.
        let hash = FixedHasher.hash_one((character.version, what, name));
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Assets get ever new versions: repeating a message is better than a list that grows forever.
        if said.len() > 4096 {
            said.clear();
        }
        said.insert(hash)
    }
}
