//! Morph targets of several meshes with one name.
//!
//! Meshes share a target by name, so that one weight moves the mouth in the face, the teeth and the tongue. They share it only
//! if the file gives both the same weight at rest, in every animation, and in every expression; otherwise the second has a name of its own.

use super::{names::UniqueNames, report::Report, weights::WeightCurve};
use crate::model::{MorphIndex, Morphs};
use std::collections::{BTreeMap, HashMap, HashSet};

/// A target of a mesh, as the file has it.
pub(super) struct Given {
    pub(super) name: String,
    pub(super) rest: f32,
    /// Its curves in the animations that move it, by their index.
    pub(super) curves: BTreeMap<usize, WeightCurve>,
    /// The expressions of the file that move it, by their index, and its shares.
    pub(super) expressions: Vec<(usize, f32)>,
}

/// The targets of a file so far.
#[derive(Default)]
pub(super) struct SharedMorphs {
    all: Vec<Given>,
    by_name: HashMap<String, Vec<usize>>,
}

impl SharedMorphs {
    /// Number of different targets.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Adds the targets of a mesh. Returns the morph target of each.
    pub(super) fn add_mesh(&mut self, targets: impl IntoIterator<Item = Given>) -> Vec<MorphIndex> {
        let mut own = HashSet::new();
        let add = |given: Given| {
            let others = self.by_name.entry(given.name.clone()).or_default();
            // Two targets of one mesh are never the same.
            let shared = others.iter().copied().find(|&other| {
                !own.contains(&other)
                    && self.all[other].rest == given.rest
                    && self.all[other].curves == given.curves
                    && self.all[other].expressions == given.expressions
            });
            let at = shared.unwrap_or_else(|| {
                others.push(self.all.len());
                self.all.push(given);
                self.all.len() - 1
            });
            own.insert(at);
            at as MorphIndex
        };
        targets.into_iter().map(add).collect()
    }

    /// Returns the targets, and how each of `animations` moves them. Says which got another name; `place` is that of meshes in the
    /// file.
    pub(super) fn finish(
        self,
        animations: usize,
        place: &str,
        report: &mut Report,
    ) -> (Morphs, Vec<BTreeMap<MorphIndex, WeightCurve>>) {
        let (mut names, mut apart) = (UniqueNames::default(), Vec::new());
        let mut curves = vec![BTreeMap::new(); animations];
        let mut list = Vec::with_capacity(self.all.len());
        for (at, given) in self.all.into_iter().enumerate() {
            let name = names.add(given.name.clone());
            if name != given.name {
                apart.push(name.clone());
            }
            list.push((name.into(), given.rest));
            for (animation, curve) in given.curves {
                curves[animation].insert(at as MorphIndex, curve);
            }
        }
        let what = "morph targets that share a name, but not all weights, got a number";
        report.warn_of(place, what, apart, "");
        (Morphs::new(list), curves)
    }
}
