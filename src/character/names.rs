//! Names in log messages.

use std::fmt::Display;

/// The end of a message about something that does not exist: what does.
pub(super) fn available(names: impl IntoIterator<Item = impl Display>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "(it has none)".into() } else { format!("(available: {})", names.join(", ")) }
}
