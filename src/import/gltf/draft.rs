//! A primitive on its way to a part.

use super::{
    accessors::Accessor,
    document::CHECK,
    json::{Primitive, Root},
};
use crate::{format::FormatError, import::report::Report, plural::there_are};
use glam::Vec3;

/// A primitive of a node's mesh, in the mesh's own space but in Bevy's axes.
pub(super) struct Draft {
    pub(super) node: usize,
    /// Such as `meshes[2].primitives[0]`.
    pub(super) place: String,
    /// The indices of its mesh, and of it in the mesh.
    pub(super) primitive: (usize, usize),
    pub(super) name: String,
    /// The vertices that triangles use, in order.
    pub(super) vertices: Vec<u32>,
    pub(super) positions: Vec<Vec3>,
    pub(super) triangles: Vec<[u32; 3]>,
    /// The index in the whole file of the primitive's first vertex.
    pub(super) first_vertex: u32,
}

impl Draft {
    pub(super) fn primitive<'r>(&self, root: &'r Root) -> &'r Primitive {
        let (mesh, primitive) = self.primitive;
        &root.meshes[mesh].primitives[primitive]
    }

    /// Refuses an attribute with fewer elements than the vertices need.
    pub(super) fn check_length(
        &self,
        accessor: &Accessor,
        place: &str,
        report: &Report,
    ) -> Result<(), FormatError> {
        // The vertices are in order, so the last one needs the most.
        let wanted = self.vertices.last().map_or(0, |last| *last as usize + 1);
        if accessor.len() >= wanted {
            return Ok(());
        }
        Err(report.error(
            place,
            format!(
                "{}, expected {wanted}: one for each vertex",
                there_are(accessor.len(), "element")
            ),
            CHECK,
        ))
    }
}
