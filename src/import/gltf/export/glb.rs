//! A binary glTF file under construction: one buffer with its views and accessors, and the container around it.

use serde_json::{Value, json};

/// The use of a view by the GPU.
#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    Vertices = 34962,
    Indices = 34963,
}

/// A number in an accessor.
pub(super) trait Component: Copy {
    /// glTF's number for the type.
    const TYPE: u32;
    fn put(self, out: &mut Vec<u8>);
}

macro_rules! component {
    ($($name:ty: $number:literal),*) => {
        $(impl Component for $name {
            const TYPE: u32 = $number;
            fn put(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
        })*
    };
}
component!(u8: 5121, u16: 5123, u32: 5125, f32: 5126);

/// Numbers with the digits that single precision needs: `0.1` rather than `0.10000000149011612`.
pub(super) fn short<const N: usize>(numbers: [f32; N]) -> Value {
    numbers
        .iter()
        .map(|number| {
            number
                .to_string()
                .parse::<f64>()
                .unwrap_or(f64::from(*number))
        })
        .collect()
}

/// The buffer. Accessors are added to the view that [`Self::end_view`] closes.
#[derive(Debug, Default)]
pub(super) struct Glb {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
    view_start: usize,
}

impl Glb {
    /// Adds an accessor with rows of `N` numbers to the open view, and returns its index.
    pub(super) fn accessor<C: Component, const N: usize>(
        &mut self,
        rows: impl IntoIterator<Item = [C; N]>,
    ) -> usize {
        let offset = self.bytes.len() - self.view_start;
        let mut count = 0;
        for row in rows {
            row.into_iter()
                .for_each(|number| number.put(&mut self.bytes));
            count += 1;
        }
        let kind = match N {
            1 => "SCALAR",
            2 => "VEC2",
            3 => "VEC3",
            4 => "VEC4",
            _ => "MAT4",
        };
        let view = self.views.len();
        self.accessors.push(json!({
            "bufferView": view, "byteOffset": offset, "componentType": C::TYPE, "count": count, "type": kind,
        }));
        self.accessors.len() - 1
    }

    /// Like [`Self::accessor`], with the smallest and the largest numbers, which positions and times need.
    pub(super) fn bounded_accessor<const N: usize>(&mut self, rows: &[[f32; N]]) -> usize {
        let bound = |of: fn(f32, f32) -> f32| {
            let first = rows.first().copied().unwrap_or([0.0; N]);
            let all = rows.iter().fold(first, |bound, row| {
                std::array::from_fn(|i| of(bound[i], row[i]))
            });
            short(all)
        };
        let (min, max) = (bound(f32::min), bound(f32::max));
        let index = self.accessor(rows.iter().copied());
        (self.accessors[index]["min"], self.accessors[index]["max"]) = (min, max);
        index
    }

    /// Adds an accessor of `count` rows that are zero but for those listed, in ascending order, in views of its own.
    pub(super) fn sparse_accessor<const N: usize>(
        &mut self,
        count: usize,
        indices: &[u32],
        rows: &[[f32; N]],
    ) -> usize {
        // In numbers of four bytes: an index beside each row, and about as much as the additional views
        // take.
        let bytes = (indices.len() * (N + 1) + 16, count * N);
        if indices.len() == count || bytes.0 >= bytes.1 {
            let mut all = vec![[0.0; N]; count];
            for (&at, row) in indices.iter().zip(rows) {
                all[at as usize] = *row;
            }
            let index = self.bounded_accessor(&all);
            self.end_view(Some(Target::Vertices));
            return index;
        }
        let zeros = [[0.0; N]];
        let bound = |of: fn(f32, f32) -> f32| {
            // Rows that aren't listed are zeros, which count for the bounds.
            let all = rows.iter().chain(&zeros);
            short(all.fold([0.0; N], |bound, row| {
                std::array::from_fn(|i| of(bound[i], row[i]))
            }))
        };
        let (min, max) = (bound(f32::min), bound(f32::max));
        for number in indices {
            number.put(&mut self.bytes);
        }
        let places = self.end_view(None);
        for number in rows.as_flattened() {
            number.put(&mut self.bytes);
        }
        let values = self.end_view(None);
        let kind = if N == 3 { "VEC3" } else { "SCALAR" };
        let mut accessor = json!({
            "componentType": f32::TYPE, "count": count, "type": kind, "min": min, "max": max,
        });
        if !indices.is_empty() {
            accessor["sparse"] = json!({
                "count": indices.len(),
                "indices": { "bufferView": places, "componentType": u32::TYPE },
                "values": { "bufferView": values },
            });
        }
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    /// Adds bytes to the open view.
    pub(super) fn extend(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Closes the view and returns its index.
    pub(super) fn end_view(&mut self, target: Option<Target>) -> usize {
        let mut view = json!({
            "buffer": 0, "byteOffset": self.view_start, "byteLength": self.bytes.len() - self.view_start,
        });
        if let Some(target) = target {
            view["target"] = (target as u32).into();
        }
        self.views.push(view);
        // Views are aligned, because the numbers in them must be.
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self.view_start = self.bytes.len();
        self.views.len() - 1
    }

    /// Adds an accessor in a view of its own, as a mesh's attributes and indices need.
    pub(super) fn attribute<C: Component, const N: usize>(
        &mut self,
        target: Target,
        rows: impl IntoIterator<Item = [C; N]>,
    ) -> usize {
        let index = self.accessor(rows);
        self.end_view(Some(target));
        index
    }

    /// Returns the bytes of a view.
    pub(super) fn view(&self, view: usize) -> &[u8] {
        let number = |name: &str| self.views[view][name].as_u64().unwrap_or_default() as usize;
        &self.bytes[number("byteOffset")..][..number("byteLength")]
    }

    /// Returns the file with `document` as its JSON, or `None` if it would exceed glTF's 4 GiB.
    pub(super) fn finish(self, mut document: Value) -> Option<Vec<u8>> {
        // glTF forbids a buffer without bytes.
        if !self.bytes.is_empty() {
            document["buffers"] = json!([{ "byteLength": self.bytes.len() }]);
            document["bufferViews"] = self.views.into();
            document["accessors"] = self.accessors.into();
        }
        let mut json = document.to_string().into_bytes();
        // Chunks are multiples of four bytes. JSON is filled up with spaces, and the buffer is aligned
        // already.
        json.resize(json.len().next_multiple_of(4), b' ');
        let mut chunks = vec![(json, *b"JSON")];
        if !self.bytes.is_empty() {
            chunks.push((self.bytes, *b"BIN\0"));
        }
        let length = 12
            + chunks
                .iter()
                .map(|(chunk, _)| 8 + chunk.len())
                .sum::<usize>();
        let mut out = Vec::with_capacity(length);
        out.extend_from_slice(b"glTF");
        out.extend_from_slice(&2_u32.to_le_bytes());
        // The header has 32 bits for the length, which also limits the chunks.
        out.extend_from_slice(&u32::try_from(length).ok()?.to_le_bytes());
        for (chunk, kind) in chunks {
            out.extend_from_slice(&(chunk.len() as u32).to_le_bytes());
            out.extend_from_slice(&kind);
            out.extend_from_slice(&chunk);
        }
        Some(out)
    }
}

/// A file's name without folder and extension.
pub(super) fn stem(path: &str) -> &str {
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    file.rsplit_once('.').map_or(file, |(stem, _)| stem)
}
