//! Weights of a few out of many.

use std::ops::Deref;

/// Up to `N` indices with weights.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weights<const N: usize> {
    pub(super) of: [(usize, f64); N],
    pub(super) len: usize,
}

impl<const N: usize> Default for Weights<N> {
    fn default() -> Self {
        Self::NONE
    }
}

impl<const N: usize> Weights<N> {
    pub(super) const NONE: Self = Self {
        of: [(0, 0.0); N],
        len: 0,
    };

    /// Adds the weight of an index that has none yet; weights beyond the first `N` are left out.
    #[inline]
    pub(super) fn push(&mut self, index: usize, weight: f64) {
        if let Some(place) = self.of.get_mut(self.len) {
            *place = (index, weight);
            self.len += 1;
        }
    }

    /// Adds a weight to an index.
    #[inline]
    pub(super) fn add(&mut self, index: usize, weight: f64) {
        match self.of[..self.len]
            .iter_mut()
            .find(|(other, _)| *other == index)
        {
            Some((_, sum)) => *sum += weight,
            None => self.push(index, weight),
        }
    }
}

impl<const N: usize> Deref for Weights<N> {
    type Target = [(usize, f64)];

    fn deref(&self) -> &Self::Target {
        &self.of[..self.len]
    }
}

impl<const N: usize> IntoIterator for Weights<N> {
    type Item = (usize, f64);
    type IntoIter = std::iter::Take<std::array::IntoIter<(usize, f64), N>>;

    fn into_iter(self) -> Self::IntoIter {
        self.of.into_iter().take(self.len)
    }
}
