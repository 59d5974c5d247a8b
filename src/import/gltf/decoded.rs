//! Compressed data, decoded once, when something first uses it.

use super::{
    draco,
    json::{Primitive, Root, Semantic},
};
use std::{
    collections::{HashMap, HashSet},
    ptr,
    sync::OnceLock,
};

/// The result of decompressing data. An error says what is wrong with it.
pub(super) type Cell<T> = OnceLock<Result<T, String>>;

/// The compressed data of a file.
#[derive(Default)]
pub(super) struct Decoded {
    /// Buffer views compressed by meshoptimizer, by their index.
    pub(super) views: HashMap<usize, Cell<Vec<u8>>>,
    /// Meshes compressed by Draco, by the index of their buffer view.
    pub(super) meshes: HashMap<usize, Cell<draco::Mesh>>,
    /// The addresses of the primitives that are only there compressed.
    primitives: HashSet<usize>,
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
        let required = &root.extensions_required;
        let is_required = required.iter().any(|name| name == super::document::DRACO);
        for primitive in root.meshes.iter().flat_map(|mesh| &mesh.primitives) {
            // The data may be there in full, too, for programs that don't know Draco.
            if primitive.draco().is_none() || (!is_required && has_other_data(root, primitive)) {
                continue;
            }
            out.primitives.insert(ptr::from_ref(primitive).addr());
            let own = primitive.attributes.iter();
            let own = own.map(|(semantic, index)| (Some(*semantic), index.value()));
            let indices = primitive.indices.map(|indices| (None, indices.value()));
            for (semantic, accessor) in indices.into_iter().chain(own) {
                if let Some(what) = out.of_primitive(primitive, semantic) {
                    if let Ok(InMesh { view, .. }) = what {
                        out.meshes.entry(view).or_default();
                    }
                    out.add(accessor, what);
                }
            }
        }
        out
    }

    /// Returns what an attribute of a primitive, or its indices for `None`, shows of a compressed mesh; `None` if it is an
    /// accessor like any other.
    pub(super) fn of_primitive(
        &self,
        primitive: &Primitive,
        semantic: Option<Semantic>,
    ) -> Option<Result<InMesh, &'static str>> {
        if !self.primitives.contains(&ptr::from_ref(primitive).addr()) {
            return None;
        }
        let Ok(draco) = primitive.draco()? else {
            return Some(Err("`KHR_draco_mesh_compression` cannot be read"));
        };
        let attribute = match semantic {
            Some(semantic) => Some(draco.attributes.get(&semantic)?.value()),
            None => None,
        };
        if primitive.indices.is_none() {
            return Some(Err("the mesh is compressed with Draco, but has no indices"));
        }
        Some(Ok(InMesh {
            view: draco.buffer_view.value(),
            attribute: attribute.map(|id| id.try_into().unwrap_or(u32::MAX)),
        }))
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

/// Returns `true` if all that a primitive has compressed is also there in full.
fn has_other_data(root: &Root, primitive: &Primitive) -> bool {
    let attributes = match primitive.draco() {
        Some(Ok(draco)) => &draco.attributes,
        _ => &primitive.attributes,
    };
    let mut all = attributes
        .keys()
        .filter_map(|semantic| primitive.attributes.get(semantic))
        .chain(&primitive.indices);
    all.all(|accessor| {
        let accessor = root.accessors.get(accessor.value());
        let accessor = accessor.and_then(|accessor| accessor.get().ok());
        accessor.is_some_and(|accessor| accessor.buffer_view.is_some())
    })
}
