//! The rows of the joint tree: what is left of it when branches are folded or names searched.

use crate::model::{JointIndex, Skeleton};
use std::collections::BTreeSet;

/// A line of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) joint: JointIndex,
    /// Steps from its root.
    pub(super) depth: u16,
    pub(super) has_children: bool,
    /// Whether it is there only to lead to a match below it.
    pub(super) on_the_way: bool,
}

/// The rows shown, depth first. A search looks past folds: it shows each match and the way to it.
pub(super) fn rows(skeleton: &Skeleton, folded: &BTreeSet<JointIndex>, search: &str) -> Vec<Row> {
    let parents = skeleton.parents();
    let search = search.trim().to_lowercase();
    let matches: Vec<bool> = skeleton.names().iter().map(|name| name.to_lowercase().contains(&search)).collect();
    let mut shown = matches.clone();
    let mut children: Vec<Vec<JointIndex>> = vec![Vec::new(); parents.len()];
    let mut stack: Vec<(JointIndex, u16)> = Vec::new();
    // Children come after their parents, so one pass from the back marks every way to a match.
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
        rows.push(Row { joint, depth, has_children: !children[at].is_empty(), on_the_way: !matches[at] });
        if !search.is_empty() || !folded.contains(&joint) {
            // The lists run backwards, and so does a stack.
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
    fn a_search_finds_whatever_the_case_and_folds_and_shows_the_way_there() {
        assert_eq!(shown(&[0], " hand"), [(0, 0), (1, 1), (3, 2), (4, 3)]);
        let found = rows(&skeleton(), &BTreeSet::new(), "hand");
        assert_eq!(found.iter().map(|row| row.on_the_way).collect::<Vec<_>>(), [true, true, true, false]);
        assert!(shown(&[], "tail").is_empty());
    }
}
