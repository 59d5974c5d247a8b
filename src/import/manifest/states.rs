//! States in manifests.

use super::Manifest;
use crate::{
    format::Diagnostic,
    model::{StateError, StateLayers},
};
use std::sync::Arc;

impl Manifest {
    /// Returns the machines of the character's states; `None` if it has none. States that make no sense, which
    /// [`parse`](Self::parse) refuses, are left out.
    #[doc(hidden)]
    pub fn resolve_states(&self) -> Option<Arc<StateLayers>> {
        let has_states = !self.states.is_empty() || !self.layers.is_empty();
        let states = has_states.then(|| StateLayers::new(&self.states, &self.layers).ok());
        states.flatten().map(Arc::new)
    }

    /// Returns the mistakes in the states.
    pub(super) fn misstated_states(&self) -> impl Iterator<Item = StateError> {
        let errors = StateLayers::new(&self.states, &self.layers).err();
        errors.into_iter().flatten()
    }

    /// A report of what is wrong or odd about a state, at its place.
    pub(in crate::import) fn report_state(
        &self,
        report: Diagnostic,
        wrong: &StateError,
    ) -> Diagnostic {
        self.place(&wrong.path(), report.with_any_hint(wrong.hint()))
    }
}

#[cfg(test)]
#[path = "tests/states.rs"]
mod tests;
