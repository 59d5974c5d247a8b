//! Parts that a game could merge.

use bevy_marionette::{
    internals::import::alike_but_for_color,
    model::{Model, SkinPart},
};
use std::collections::HashMap;

/// The fewest parts that merging must save to be worth a word.
const WORTH: usize = 4;

/// Parts that a manifest can [merge](bevy_marionette::import::Manifest::merge), and how many are left if it does.
pub struct Mergeable<'a> {
    pub names: Vec<&'a str>,
    pub merged: usize,
}

/// Returns the parts of a model whose materials are alike, if merging them makes the character noticeably cheaper.
pub fn mergeable(model: &Model) -> Option<Mergeable<'_>> {
    // What no joint moves can't be merged. Faces can, but then a game no longer finds their part.
    let moved = |part: &&SkinPart| !part.influences.is_empty() && part.morphs.is_empty();
    let parts = || model.parts.iter().filter(moved);
    let alike = alike_but_for_color(&model.materials);
    let kind = |part: &SkinPart| alike.get(part.material).copied();
    let mut uses: HashMap<Option<usize>, usize> = HashMap::new();
    for part in parts() {
        *uses.entry(kind(part)).or_default() += 1;
    }
    uses.retain(|_, count| *count > 1);
    let names: Vec<&str> = parts()
        .filter(|part| uses.contains_key(&kind(part)))
        .map(|part| &*part.name)
        .collect();
    let merged = uses.len();
    (names.len() >= merged + WORTH).then_some(Mergeable { names, merged })
}

#[cfg(test)]
#[path = "tests/parts.rs"]
mod tests;
