//! Finds the joint of a file with clips that corresponds to each joint of the model, or that of a body to each joint of what it
//! wears.
//!
//! Joints are matched by name; where that leaves some, without the prefixes that exporters add. Those whose names are not
//! unique are matched by their place in the hierarchy: below the same matched joint, the same number of steps down, and among
//! siblings in the order of the files.

use crate::{hierarchy::Hierarchy, model::Skeleton};
use std::collections::HashMap;

/// Finds the joint of `theirs` that corresponds to each joint of `ours`. Also returns two names, ours and theirs, that only match
/// without the prefixes of exporters.
pub(crate) fn match_joints<'a>(
    theirs: &'a Skeleton,
    ours: &'a Skeleton,
) -> (Vec<Option<usize>>, Option<(&'a str, &'a str)>) {
    let mut source = vec![None; ours.len()];
    find_sources(
        &NamedJoints::of(theirs, |name| name),
        &NamedJoints::of(ours, |name| name),
        &mut source,
    );
    let mut renamed = None;
    // Exact matches come first: prefixes are only ignored for the joints that are left.
    if source.contains(&None) {
        let known = source.clone();
        let [theirs_bare, ours_bare] =
            [theirs, ours].map(|skeleton| NamedJoints::of(skeleton, without_prefix));
        find_sources(&theirs_bare, &ours_bare, &mut source);
        let first = (0..ours.len()).find(|joint| known[*joint] != source[*joint]);
        renamed =
            first.and_then(|joint| Some((&*ours.names()[joint], &*theirs.names()[source[joint]?])));
    }
    (source, renamed)
}

/// Removes what exporters put before a joint's name: `mixamorig:`, `Armature|`, and the former
/// after other programs have removed the colon.
pub(super) fn without_prefix(name: &str) -> &str {
    let name = name.rsplit([':', '|']).next().unwrap_or(name);
    let bare = name
        .strip_prefix("mixamorig")
        .map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '_'));
    bare.filter(|bare| !bare.is_empty()).unwrap_or(name)
}

/// Joints by name.
pub(super) struct NamedJoints<'a> {
    names: Vec<&'a str>,
    parents: Vec<Option<usize>>,
    /// For each joint, steps to the root.
    depths: Vec<usize>,
    by_name: HashMap<&'a str, Vec<usize>>,
}

impl<'a> NamedJoints<'a> {
    pub(super) fn new(names: Vec<&'a str>, hierarchy: Hierarchy) -> Self {
        let mut depths = vec![0; names.len()];
        for &joint in &hierarchy.order {
            depths[joint] = hierarchy.parents[joint].map_or(0, |parent| depths[parent] + 1);
        }
        let parents = hierarchy.parents;
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
        for (joint, name) in names.iter().enumerate() {
            by_name.entry(name).or_default().push(joint);
        }
        Self {
            names,
            parents,
            depths,
            by_name,
        }
    }

    /// Returns the joints of a skeleton under the names that `name` gives them.
    pub(super) fn of(skeleton: &'a Skeleton, name: impl Fn(&'a str) -> &'a str) -> Self {
        let hierarchy = Hierarchy::new(
            skeleton
                .parents()
                .iter()
                .map(|parent| parent.map(u32::from)),
        );
        Self::new(
            skeleton.names().iter().map(|own| name(own)).collect(),
            hierarchy,
        )
    }

    fn called(&self, name: &str) -> &[usize] {
        self.by_name.get(name).map_or(&[], |joints| joints)
    }

    /// Returns the number of steps from `above`, or without it from a root, down to a joint. `None`
    /// if a joint between the two has a match, or if they are too far apart.
    fn steps_below(&self, joint: usize, above: Option<usize>, is_taken: &[bool]) -> Option<usize> {
        let mut at = joint;
        for steps in 0..MOST_BETWEEN {
            let Some(parent) = self.parents[at] else {
                return above.is_none().then_some(steps);
            };
            if Some(parent) == above {
                return Some(steps + 1);
            }
            if is_taken[parent] {
                return None;
            }
            at = parent;
        }
        None
    }
}

/// Most joints between two matched ones that only one of the files has.
const MOST_BETWEEN: usize = 64;

/// Most pairs of joints with the same name that are compared: enough for two thousand on either
/// side. Beyond that, they are matched in order.
const MOST_PAIRS: usize = 1 << 22;

/// Finds the source among `theirs` of those joints of `ours`, parents first, that have none yet.
pub(super) fn find_sources(theirs: &NamedJoints, ours: &NamedJoints, source: &mut [Option<usize>]) {
    let mut is_taken = vec![false; theirs.names.len()];
    source
        .iter()
        .flatten()
        .for_each(|found| is_taken[*found] = true);
    // Names that both have once are certain. They come first, as the others are matched relative to
    // them.
    for (joint, name) in ours.names.iter().enumerate() {
        if let ([_], &[found]) = (ours.called(name), theirs.called(name))
            && source[joint].is_none()
            && !is_taken[found]
        {
            source[joint] = Some(found);
            is_taken[found] = true;
        }
    }
    // Names that several joints have. The first round matches joints right below a matched joint,
    // or roots; the second also those with joints in between that only one of the files has.
    let are_several = |name: &str| {
        let (us, them) = (ours.called(name).len(), theirs.called(name).len());
        them > 0 && us + them > 2
    };
    for is_first in [true, false] {
        let mut next: HashMap<&str, usize> = HashMap::new();
        // Per joint of ours, the nearest of itself and those above that has a source.
        let mut matched: Vec<Option<usize>> = vec![None; ours.names.len()];
        for (joint, name) in ours.names.iter().enumerate() {
            let above = ours.parents[joint].and_then(|parent| matched[parent]);
            if source[joint].is_none() && are_several(name) {
                let (us, them) = (ours.called(name), theirs.called(name));
                let there = above.and_then(|above| source[above]);
                let mut free = them.iter().copied().filter(|found| !is_taken[*found]);
                let found = if us.len().saturating_mul(them.len()) > MOST_PAIRS {
                    // Comparing all pairs would cost the square of their number.
                    let next = next.entry(name).or_default();
                    *next += them[*next..]
                        .iter()
                        .take_while(|found| is_taken[**found])
                        .count();
                    them.get(*next).copied()
                } else if is_first {
                    let hangs_alike = above == ours.parents[joint];
                    free.find(|found| hangs_alike && theirs.parents[*found] == there)
                } else {
                    let steps = ours.depths[joint] - above.map_or(0, |above| ours.depths[above]);
                    let off = |found: usize| {
                        Some((
                            theirs.steps_below(found, there, &is_taken)?.abs_diff(steps),
                            found,
                        ))
                    };
                    free.filter_map(off).min().map(|(_, found)| found)
                };
                if let Some(found) = found {
                    source[joint] = Some(found);
                    is_taken[found] = true;
                }
            }
            matched[joint] = if source[joint].is_some() {
                Some(joint)
            } else {
                above
            };
        }
    }
    // A name that is unique in one of the two, but elsewhere in the hierarchy: the first joint of
    // that name.
    for (joint, name) in ours.names.iter().enumerate() {
        let (us, them) = (ours.called(name), theirs.called(name));
        let is_single = us.len() == 1 || them.len() == 1 && us[0] == joint;
        if source[joint].is_none()
            && is_single
            && us.len() + them.len() > 2
            && them.iter().all(|found| !is_taken[*found])
        {
            source[joint] = them.first().copied();
            them.iter()
                .take(1)
                .for_each(|found| is_taken[*found] = true);
        }
    }
}

#[cfg(test)]
#[path = "tests/matching.rs"]
mod tests;
