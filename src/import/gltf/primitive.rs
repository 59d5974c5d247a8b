//! A primitive on its way to a part.

use super::{
    accessors::Accessor,
    document::CHECK,
    json::{Primitive, Root},
};
use crate::{format::FormatError, import::report::Report, model::SkinPart, plural::there_are};

/// A primitive of a node's mesh.
pub(super) struct NodePrimitive {
    pub(super) node: usize,
    /// Such as `meshes[2].primitives[0]`.
    pub(super) place: String,
    /// The indices of its mesh, and of it in the mesh.
    pub(super) index: (usize, usize),
    /// The index in the whole file of the primitive's first vertex.
    pub(super) first_vertex: u32,
    pub(super) material: Option<usize>,
    /// What has been read of it, in the mesh's own space but in Bevy's axes: of the vertices that triangles use, in order.
    pub(super) part: SkinPart,
}

impl NodePrimitive {
    pub(super) fn contents<'r>(&self, root: &'r Root) -> &'r Primitive {
        let (mesh, primitive) = self.index;
        &root.meshes[mesh].primitives[primitive]
    }

    /// The vertices that triangles use, as the primitive's attributes count them.
    pub(super) fn vertices(&self) -> impl DoubleEndedIterator<Item = usize> + '_ {
        let vertices = self.part.source_vertices.iter();
        vertices.map(|vertex| (vertex - self.first_vertex) as usize)
    }

    /// Refuses an attribute with fewer elements than the vertices need.
    pub(super) fn check_length(
        &self,
        accessor: &Accessor,
        place: &str,
        report: &Report,
    ) -> Result<(), FormatError> {
        // The vertices are in order, so the last one needs the most.
        let wanted = self.vertices().next_back().map_or(0, |last| last + 1);
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
