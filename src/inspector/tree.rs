//! Visible rows of the joint tree, given folded branches and a search.

use crate::model::{JointIndex, Skeleton};
use std::collections::BTreeSet;

/// A row of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) joint: JointIndex,
    /// Number of ancestors.
    pub(super) depth: u16,
    pub(super) has_children: bool,
    /// Doesn't match the search itself, but has a descendant that does.
    pub(super) is_path: bool,
}

/// Returns the visible rows, depth first. A search ignores folds and shows every match with its ancestors. Hidden control
/// joints stay above joints that are shown.
pub(super) fn rows(
    skeleton: &Skeleton,
    folded: &BTreeSet<JointIndex>,
    search: &str,
    hide_control: bool,
) -> Vec<Row> {
    let parents = skeleton.parents();
    let search = search.trim().to_lowercase();
    let is_match = |joint| {
        skeleton.name(joint).to_lowercase().contains(&search)
            && !(hide_control && skeleton.is_control(joint))
    };
    let matches: Vec<bool> = skeleton.joints().map(is_match).collect();
    let mut shown = matches.clone();
    let mut children: Vec<Vec<JointIndex>> = vec![Vec::new(); parents.len()];
    let mut stack: Vec<(JointIndex, u16)> = Vec::new();
    // Children follow their parents, so one backward pass marks all ancestors of a match.
    for (joint, parent) in parents.iter().enumerate().rev() {
        match parent {
            Some(parent) => {
                children[usize::from(*parent)].push(joint as JointIndex);
                shown[usize::from(*parent)] |= shown[joint];
            }
            None => stack.push((joint as JointIndex, 0)),
        }
    }
    let mut rows = Vec::new();
    while let Some((joint, depth)) = stack.pop() {
        let at = usize::from(joint);
        if !shown[at] {
            continue;
        }
        let has_children = children[at].iter().any(|&child| shown[usize::from(child)]);
        rows.push(Row {
            joint,
            depth,
            has_children,
            is_path: !matches[at],
        });
        if !search.is_empty() || !folded.contains(&joint) {
            // The child lists are in reverse order, as the stack needs them.
            stack.extend(
                children[at]
                    .iter()
                    .map(|&child| (child, depth.saturating_add(1))),
            );
        }
    }
    rows
}

#[cfg(test)]
#[path = "tests/tree.rs"]
mod tests;
