//! Compressed data, decoded once, when something first uses it.

use super::{
    draco,
    json::{Root, Semantic},
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
        let is_required = |name: &str| root.extensions_required.iter().any(|other| other == name);
        let has_other_data = |accessor: usize| {
            let accessor = root
                .accessors
                .get(accessor)
                .and_then(|accessor| accessor.get().ok());
            accessor.is_some_and(|accessor| accessor.buffer_view.is_some())
        };
        for primitive in root.meshes.iter().flat_map(|mesh| &mesh.primitives) {
            let Some(draco) = primitive.draco() else {
                continue;
            };
            let (view, attributes) = match draco {
                Ok(draco) => (draco.buffer_view.value(), &draco.attributes),
                // The error is reported when an accessor is used.
                Err(_) => (usize::MAX, &primitive.attributes),
            };
            let accessor = |semantic: &Semantic| Some(primitive.attributes.get(semantic)?.value());
            let all = || {
                attributes
                    .keys()
                    .filter_map(accessor)
                    .chain(primitive.indices.map(|i| i.value()))
            };
            // The data may be there in full, too, for programs that don't know Draco.
            if !is_required(super::document::DRACO) && all().all(has_other_data) {
                continue;
            }
            out.meshes.entry(view).or_default();
            if let Some(indices) = primitive.indices {
                let attribute = None;
                out.add(indices.value(), Ok(InMesh { view, attribute }));
            }
            for (semantic, id) in attributes {
                let attribute = Some(id.value().try_into().unwrap_or(u32::MAX));
                let what = match (draco, primitive.indices) {
                    (Ok(_), Some(_)) => Ok(InMesh { view, attribute }),
                    (Ok(_), None) => Err("the mesh is compressed with Draco, but has no indices"),
                    (Err(_), _) => Err("`KHR_draco_mesh_compression` cannot be read"),
                };
                if let Some(accessor) = accessor(semantic) {
                    out.add(accessor, what);
                }
            }
        }
        out
    }

    fn add(&mut self, accessor: usize, what: Result<InMesh, &'static str>) {
        let known = self.of_accessor.entry(accessor).or_insert(what);
        if *known != what {
            *known = Err("meshes that are compressed apart share an accessor");
        }
    }

    /// Returns what an accessor shows of a compressed mesh; `None` if it shows a buffer view.
    pub(super) fn of_accessor(&self, accessor: usize) -> Option<Result<InMesh, &'static str>> {
        self.of_accessor.get(&accessor).copied()
    }
}
