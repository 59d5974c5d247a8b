//! Names that must be unique.

use crate::model::SkinPart;
use std::{
    collections::{HashMap, HashSet},
    mem,
    sync::Arc,
};

/// Hands out unique names: the second `x` becomes `x.2`, the third `x.3`.
#[derive(Debug, Default)]
pub(super) struct UniqueNames {
    /// Each name given out, with the number to try next when it is asked for again.
    next: HashMap<String, usize>,
}

impl UniqueNames {
    /// Creates one that has given out some names already.
    pub(super) fn without<'n>(names: impl Iterator<Item = &'n String>) -> Self {
        let mut taken = Self::default();
        for name in names {
            taken.add(name.clone());
        }
        taken
    }

    /// Returns `name`, followed by a number if it was returned before.
    pub(super) fn add(&mut self, name: String) -> String {
        let Some(&first) = self.next.get(&name) else {
            self.next.insert(name.clone(), 2);
            return name;
        };
        let mut number = first;
        let free = loop {
            let candidate = format!("{name}.{number}");
            number += 1;
            if !self.next.contains_key(&candidate) {
                break candidate;
            }
        };
        self.next.insert(free.clone(), 2);
        self.next.insert(name, number);
        free
    }
}

/// Returns a name that a file gives, unless it is blank.
pub(super) fn given(name: &str) -> Option<&str> {
    Some(name).filter(|name| !name.trim().is_empty())
}

/// Returns the first name that a file gives to something. Without any, it is called after what it is, and its number.
pub(super) fn named<'n>(
    names: impl IntoIterator<Item = Option<&'n str>>,
    what: &str,
    number: usize,
) -> String {
    let first = names.into_iter().flatten().find_map(given);
    first.map_or_else(|| format!("{what}{number}"), str::to_owned)
}

/// Returns the name of one of several parts of a mesh, which only their materials tell apart.
#[cfg(any(feature = "fbx", feature = "gltf"))]
pub(super) fn part_name(mesh: &str, material: Option<&str>, parts: usize) -> String {
    match material.filter(|_| parts > 1) {
        Some(material) => format!("{mesh}.{material}"),
        None => mesh.to_owned(),
    }
}

/// Numbers parts that have the name of an earlier one.
pub(super) fn give_unique_names(parts: &mut [SkinPart]) {
    let mut names = UniqueNames::default();
    for part in parts {
        part.name = names.add(mem::take(&mut part.name));
    }
}

/// Names that occur more than once, each listed once.
pub(super) fn duplicates(names: &[Arc<str>]) -> Vec<&str> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    names
        .iter()
        .map(|name| &**name)
        .filter(|name| {
            let count = seen.entry(name).or_default();
            *count += 1;
            *count == 2
        })
        .collect()
}

/// Returns the names with a number appended to each that an earlier one has already. All others
/// stay as they are.
pub(super) fn numbered(names: &[Arc<str>]) -> Vec<String> {
    // All names are taken from the start, so that a number never makes one that comes later.
    let mut taken: HashSet<String> = names.iter().map(|name| name.to_string()).collect();
    let mut next: HashMap<&str, usize> = HashMap::new();
    let mut out = Vec::with_capacity(names.len());
    for name in names {
        let Some(number) = next.get_mut(&**name) else {
            next.insert(name, 2);
            out.push(name.to_string());
            continue;
        };
        let free = loop {
            let candidate = format!("{name}.{number}");
            *number += 1;
            if taken.insert(candidate.clone()) {
                break candidate;
            }
        };
        out.push(free);
    }
    out
}

/// The hint about [`duplicates`] among joints.
pub(super) const FIRST_ANSWERS: &str = "masks and sockets find the first joint of a name; clips of other files are matched by what joints hang from";

/// A list of names for a message: the first few, and how many more there are.
pub fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const FEW: usize = 6;
    let mut names = names.into_iter();
    let mut out: Vec<String> = names.by_ref().take(FEW).map(|n| format!("`{n}`")).collect();
    match names.count() {
        0 => {}
        more => out.push(format!("{more} more")),
    }
    if out.is_empty() {
        "none".into()
    } else {
        out.join(", ")
    }
}

#[cfg(test)]
#[path = "tests/names.rs"]
mod tests;
