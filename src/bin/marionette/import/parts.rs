//! Parts that a game could merge.

use bevy_marionette::{
    internals::import::alike_but_for_color,
    model::{JointIndex, Model, SkinPart},
};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The fewest parts that merging must save to be worth a word.
const WORTH: usize = 4;

/// Parts that a manifest can [merge](bevy_marionette::import::Manifest::merge).
pub struct Mergeable<'a> {
    pub names: Vec<&'a str>,
    /// A name for what they become, which no other part has.
    pub group: String,
    /// The number of parts that they become.
    pub merged: usize,
}

/// Returns the parts of a model whose materials are alike, if merging them makes the character noticeably cheaper. Merged parts
/// with more than `max_palette` joints are split.
pub fn mergeable(model: &Model, max_palette: u16) -> Option<Mergeable<'_>> {
    let alike = alike_but_for_color(&model.materials);
    // What no joint moves can't be merged. Faces and what is see-through can, but a game still wants to find a face, and parts
    // that are seen through each other are drawn in the order of their places.
    let kind = |part: &SkinPart| {
        let is_see_through = model.materials.get(part.material)?.alpha_blend;
        let can_merge = !part.influences.is_empty() && part.morphs.is_empty() && !is_see_through;
        can_merge.then_some(alike[part.material])
    };
    let mut kinds: BTreeMap<usize, (usize, BTreeSet<JointIndex>)> = BTreeMap::new();
    for part in &model.parts {
        if let Some(kind) = kind(part) {
            let (count, joints) = kinds.entry(kind).or_default();
            *count += 1;
            joints.extend(&part.palette);
        }
    }
    // Those that stay as many as they are have nothing to gain.
    let room = usize::from(max_palette).max(1);
    let merged = |joints: &BTreeSet<JointIndex>| joints.len().div_ceil(room).max(1);
    kinds.retain(|_, (count, joints)| *count > merged(joints));
    let (mergeable, others): (Vec<&SkinPart>, Vec<&SkinPart>) = model
        .parts
        .iter()
        .partition(|part| kind(part).is_some_and(|kind| kinds.contains_key(&kind)));
    let merged = kinds.values().map(|(_, joints)| merged(joints)).sum();
    let taken: HashSet<&str> = others.iter().map(|part| &*part.name).collect();
    let mut group = "body".to_owned();
    while taken.contains(&*group) {
        group.push('_');
    }
    (mergeable.len() >= merged + WORTH).then(|| Mergeable {
        names: mergeable.iter().map(|part| &*part.name).collect(),
        group,
        merged,
    })
}

#[cfg(test)]
#[path = "tests/parts.rs"]
mod tests;
