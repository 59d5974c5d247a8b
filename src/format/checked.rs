//! Documents whose contents have been checked.

use super::Parsed;
use crate::hierarchy::Hierarchy;
use crate::plural::there_are;
use std::{fmt, ops::Deref};

/// The contents of a file, known to keep the promises of their documentation: every index and range
/// is inside the document, parents form no cycle and every number is finite.
///
/// The parsers return checked documents and the importers take them, so each fact is established
/// once. Check a document made in code with [`Checked::new`]:
///
/// ```
/// use bevy_marionette::internals::format::{Checked, md5::{Md5Joint, Md5Mesh, Md5Submesh}};
///
/// let joints = vec![Md5Joint { name: "root".into(), ..Md5Joint::default() }];
/// let mut mesh = Md5Mesh { joints, meshes: vec![Md5Submesh::default()], ..Md5Mesh::default() };
/// assert!(Checked::new(mesh.clone()).is_ok());
///
/// mesh.meshes[0].triangles.push([0, 1, 2]);
/// let error = Checked::new(mesh).unwrap_err().to_string();
/// assert_eq!(error, "tri 0 of 1 in mesh 0: vertex 0 is out of range: the mesh has 0 vertices");
/// ```
#[derive(Clone, PartialEq)]
pub struct Checked<T>(T);

/// A document that can be checked: [`M3d`](super::m3d::M3d), [`Md5Mesh`](super::md5::Md5Mesh) or
/// [`Md5Anim`](super::md5::Md5Anim).
pub trait Document {
    /// Returns the first broken promise as an error.
    fn check(&self) -> Result<(), DocumentError>;
}

/// A promise that a document breaks, such as an index out of range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DocumentError(pub(super) String);

impl<T: Document> Checked<T> {
    /// Checks a document.
    ///
    /// # Errors
    /// The first promise that the document breaks.
    pub fn new(document: T) -> Result<Self, DocumentError> {
        document.check().map(|()| Self(document))
    }
}

impl<T> Checked<T> {
    /// Returns the document, to be changed.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T: fmt::Debug> fmt::Debug for Checked<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T> Deref for Checked<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Document> Parsed<T> {
    /// Marks a document as checked that the parser itself has checked, place by place.
    pub(super) fn checked(self) -> Parsed<Checked<T>> {
        debug_assert_eq!(self.value.check(), Ok(()));
        Parsed {
            value: Checked(self.value),
            warnings: self.warnings,
        }
    }
}

/// Returns an error with this message unless `holds`.
pub(super) fn ensure(holds: bool, message: impl FnOnce() -> String) -> Result<(), DocumentError> {
    if holds {
        Ok(())
    } else {
        Err(DocumentError(message()))
    }
}

/// Checks that every number of an item is finite.
pub(super) fn ensure_finite(
    numbers: &[f32],
    item: impl FnOnce() -> String,
) -> Result<(), DocumentError> {
    ensure(numbers.iter().all(|number| number.is_finite()), || {
        format!("{}: a number is not finite", item())
    })
}

/// Checks that every parent is in range and none is its own ancestor. `noun` is what the parents are.
pub(super) fn ensure_hierarchy(parents: &[Option<u32>], noun: &str) -> Result<(), DocumentError> {
    let count = parents.len();
    for (index, parent) in parents.iter().enumerate() {
        let Some(parent) = parent else { continue };
        ensure((*parent as usize) < count, || {
            format!(
                "{noun} {index}: parent {parent} is out of range: {}",
                there_are(count, noun)
            )
        })?;
    }
    match cycles(parents).first() {
        Some(index) => Err(DocumentError(format!(
            "{noun} {index} is among its own ancestors"
        ))),
        None => Ok(()),
    }
}

/// Returns one member of each cycle that the parents form. A parent out of range counts as none.
pub(super) fn cycles(parents: &[Option<u32>]) -> Vec<usize> {
    Hierarchy::new(parents.iter().copied()).cut
}

#[cfg(test)]
#[path = "tests/checked.rs"]
mod tests;
