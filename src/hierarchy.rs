//! Joint hierarchies as files describe them: parents in any order, sometimes in a cycle.

/// A hierarchy without cycles.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Hierarchy {
    /// Every index once, parents before their children and otherwise ascending.
    pub(crate) order: Vec<usize>,
    /// Parents, without the links that closed a cycle.
    pub(crate) parents: Vec<Option<usize>>,
    /// Indices that lost their parent, one for each cycle.
    pub(crate) cut: Vec<usize>,
}

impl Hierarchy {
    /// Sorts indices by their parents and cuts each cycle once. A parent that is out of range counts as none.
    pub(crate) fn new(parents: impl IntoIterator<Item = Option<u32>>) -> Self {
        let mut parents: Vec<_> = parents
            .into_iter()
            .map(|parent| parent.map(|p| p as usize))
            .collect();
        let count = parents.len();
        let (mut order, mut cut) = (Vec::with_capacity(count), Vec::new());
        // The walk up the chain that reached an index first. Meeting its own mark again, a walk goes in a circle.
        let mut walks = vec![usize::MAX; count];
        let mut chain = Vec::new();
        for start in 0..count {
            let mut at = Some(start);
            while let Some(index) = at.filter(|&index| walks[index] == usize::MAX) {
                walks[index] = start;
                chain.push(index);
                at = parents[index].filter(|&parent| parent < count);
                if at.is_some_and(|parent| walks[parent] == start) {
                    cut.push(index);
                    at = None;
                }
                parents[index] = at;
            }
            order.extend(chain.drain(..).rev());
        }
        Self {
            order,
            parents,
            cut,
        }
    }

    /// The place of each index in [`Self::order`].
    pub(crate) fn places(&self) -> Vec<usize> {
        let mut places = vec![0; self.order.len()];
        self.order
            .iter()
            .enumerate()
            .for_each(|(place, &index)| places[index] = place);
        places
    }
}

#[cfg(test)]
#[path = "tests/hierarchy.rs"]
mod tests;
