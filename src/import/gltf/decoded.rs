//! Compressed data, decoded once, when something first uses it.

use super::{
    draco,
    json::{Primitive, Root, Semantic},
};
use std::{collections::HashMap, sync::OnceLock};

/// The result of decompressing data. An error says what is wrong with it.
pub(super) type Cell<T> = OnceLock<Result<T, String>>;

/// The compressed data of a file.
#[derive(Default)]
pub(super) struct Decoded {
    /// Buffer views compressed by meshoptimizer, by their index.
    pub(super) views: HashMap<usize, Cell<Vec<u8>>>,
    /// Meshes compressed by Draco, by the index of their buffer view.
    pub(super) meshes: HashMap<usize, Cell<draco::Mesh>>,
    /// Accessors of such meshes.
    of_accessor: HashMap<usize, Result<InMesh, &'static str>>,
}

/// The part of a mesh that an accessor refers to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct InMesh {
    pub(super) view: usize,
    /// The number of an attribute; `None` for the indices.
    pub(super) attribute: Option<u32>,
}

impl Decoded {
    pub(super) fn new(root: &Root) -> Self {
        let mut out = Self::default();
        for (at, view) in root.buffer_views.iter().enumerate() {
            if view.get().is_ok_and(|view| view.meshopt().is_some()) {
                out.views.insert(at, Cell::new());
            }
        }
        for primitive in root.meshes.iter().flat_map(|mesh| &mesh.primitives) {
            let own = primitive.attributes.iter();
            let own = own.map(|(semantic, index)| (Some(*semantic), index.value()));
            let indices = primitive.indices.map(|indices| (None, indices.value()));
            for (semantic, accessor) in indices.into_iter().chain(own) {
                if let Some(what) = of_primitive(root, primitive, semantic) {
                    if let Ok(InMesh { view, .. }) = what {
                        out.meshes.entry(view).or_default();
                    }
                    out.add(accessor, what);
                }
            }
        }
        out
    }

    fn add(&mut self, accessor: usize, what: Result<InMesh, &'static str>) {
        let known = self.of_accessor.entry(accessor).or_insert(what);
        if *known != what {
            // The primitives themselves tell which.
            *known = Err("meshes that are compressed apart share an accessor");
        }
    }

    /// Returns what an accessor shows of a compressed mesh; `None` if it shows a buffer view.
    pub(super) fn of_accessor(&self, accessor: usize) -> Option<Result<InMesh, &'static str>> {
        self.of_accessor.get(&accessor).copied()
    }
}

/// Returns what an attribute of a primitive, or its indices for `None`, shows of a compressed mesh; `None` if it is an accessor
/// like any other.
pub(super) fn of_primitive(
    root: &Root,
    primitive: &Primitive,
    semantic: Option<Semantic>,
) -> Option<Result<InMesh, &'static str>> {
    let draco = primitive.draco()?;
    let attributes = match draco {
        Ok(draco) => &draco.attributes,
        // Whatever it holds.
        Err(_) => &primitive.attributes,
    };
    let has_other_data = |accessor: usize| {
        let accessor = root.accessors.get(accessor);
        let accessor = accessor.and_then(|accessor| accessor.get().ok());
        accessor.is_some_and(|accessor| accessor.buffer_view.is_some())
    };
    let mut all = attributes
        .keys()
        .filter_map(|semantic| primitive.attributes.get(semantic))
        .chain(&primitive.indices);
    let required = &root.extensions_required;
    // The data may be there in full, too, for programs that don't know Draco.
    if !required.iter().any(|name| name == super::document::DRACO)
        && all.all(|accessor| has_other_data(accessor.value()))
    {
        return None;
    }
    let attribute = match semantic {
        Some(semantic) => Some(attributes.get(&semantic)?.value()),
        None => None,
    };
    let Ok(draco) = draco else {
        return Some(Err("`KHR_draco_mesh_compression` cannot be read"));
    };
    if primitive.indices.is_none() {
        return Some(Err("the mesh is compressed with Draco, but has no indices"));
    }
    Some(Ok(InMesh {
        view: draco.buffer_view.value(),
        attribute: attribute.map(|id| id.try_into().unwrap_or(u32::MAX)),
    }))
}
