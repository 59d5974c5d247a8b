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

/// Returns the visible rows, depth first. A search ignores folds and shows every match with its ancestors.
pub(super) fn rows(skeleton: &Skeleton, folded: &BTreeSet<JointIndex>, search: &str) -> Vec<Row> {
    let parents = skeleton.parents();
    let search = search.trim().to_lowercase();
    let matches: Vec<bool> = skeleton.names().iter().map(|name| name.to_lowercase().contains(&search)).collect();
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
        rows.push(Row { joint, depth, has_children: !children[at].is_empty(), is_path: !matches[at] });
        if !search.is_empty() || !folded.contains(&joint) {
            // The child lists are in reverse order, as the stack needs them.
            stack.extend(children[at].iter().map(|&child| (child, depth.saturating_add(1))));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Joint, JointTransform};

    fn skeleton() -> Skeleton {
        let joints = [
            ("root", None),
            ("spine", Some(0)),
            ("leg.L", Some(0)),
            ("arm.L", Some(1)),
            ("Hand.L", Some(3)),
            ("arm.R", Some(1)),
            ("prop", None),
        ];
        let joint = |(name, parent): (&str, Option<JointIndex>)| Joint {
            name: name.into(),
            parent,
            rest: JointTransform::IDENTITY,
            inverse_bind: glam::Affine3A::IDENTITY,
        };
        Skeleton::new(joints.into_iter().map(joint).collect()).unwrap()
    }

    fn shown(folded: &[JointIndex], search: &str) -> Vec<(JointIndex, u16)> {
        let folded = folded.iter().copied().collect();
        rows(&skeleton(), &folded, search).iter().map(|row| (row.joint, row.depth)).collect()
    }

    #[test]
    fn the_tree_is_depth_first_in_the_order_of_the_joints() {
        assert_eq!(shown(&[], ""), [(0, 0), (1, 1), (3, 2), (4, 3), (5, 2), (2, 1), (6, 0)]);
    }

    #[test]
    fn a_folded_branch_keeps_its_root() {
        assert_eq!(shown(&[1], ""), [(0, 0), (1, 1), (2, 1), (6, 0)]);
    }

    #[test]
    fn a_search_ignores_case_and_folds_and_shows_the_ancestors() {
        assert_eq!(shown(&[0], " hand"), [(0, 0), (1, 1), (3, 2), (4, 3)]);
        let found = rows(&skeleton(), &BTreeSet::new(), "hand");
        assert_eq!(found.iter().map(|row| row.is_path).collect::<Vec<_>>(), [true, true, true, false]);
        assert!(shown(&[], "tail").is_empty());
    }
}
