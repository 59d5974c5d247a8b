//! Names in log messages.

use bevy::{ecs::name::NameOrEntity, prelude::*};
use std::fmt::Display;

/// The name of an entity, or its id.
pub(super) fn name_of(names: &Query<NameOrEntity>, entity: Entity) -> String {
    names
        .get(entity)
        .map_or_else(|_| entity.to_string(), |name| name.to_string())
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
