//! Accessors: typed, checked views of buffers.
//!
//! Every range is checked when an accessor is opened, so that reading an element cannot fail. The
//! number of elements that all accessors together read is bounded by the size of the file, because
//! any number of them may show the same bytes. Compressed data is decoded here and counts toward
//! the same bound.

use super::{
    buffers::Buffers,
    decoded::{Decoded, InMesh},
    document::{CHECK, DAMAGED, out_of_range},
    draco,
    json::{ComponentType, Index, Primitive, Root, Semantic, Type, View, Whole},
    meshopt,
};
use crate::{
    format::FormatError,
    import::{ImportLimits, report::Report},
    parallel::{about, in_parallel},
    plural::there_are,
};
use std::sync::atomic::{AtomicU64, Ordering};

/// Opens the accessors of a file.
pub(super) struct Accessors<'a> {
    pub(super) root: &'a Root,
    buffers: &'a Buffers<'a>,
    decoded: &'a Decoded,
    limits: &'a ImportLimits,
    /// Elements that may still be read.
    budget: AtomicU64,
    /// Elements that may still be read for the keys of clips.
    keys: AtomicU64,
}

/// Elements that may be read from any file, and from each of its bytes.
const FEW_ELEMENTS: u64 = 1 << 18;
const ELEMENTS_PER_BYTE: u64 = 16;

/// Most elements of an accessor without data, whose elements are all zeros but for those that it
/// lists: this many in any file, this many per element that it lists, and as many as elements of
/// four bytes fit in the file, because zeros accompany other data.
const FEW_ZEROS: u64 = 1 << 16;
const ZEROS_PER_ELEMENT: u64 = 64;
const BYTES_PER_ZERO: u64 = 4;

/// Nanoseconds that reading a key takes.
const KEY: u64 = 40;

impl<'a> Accessors<'a> {
    /// `bytes` is the size of the file, with its buffers. The JSON counts for keys: it names each use of an accessor, and
    /// exporters share the accessors of joints that stand still among clips.
    pub(super) fn new(
        root: &'a Root,
        buffers: &'a Buffers<'a>,
        decoded: &'a Decoded,
        limits: &'a ImportLimits,
        bytes: u64,
    ) -> Self {
        let budget = |bytes: u64| {
            FEW_ELEMENTS
                .max(bytes.saturating_mul(ELEMENTS_PER_BYTE))
                .into()
        };
        Self {
            root,
            buffers,
            decoded,
            limits,
            budget: budget(buffers.len() as u64),
            keys: budget(bytes),
        }
    }

    /// Warns about buffer views with a stride of 0, which some exporters write for elements without gaps.
    pub(super) fn warn_of_strides(&self, report: &mut Report) {
        let zero = |view: &View| view.byte_stride.is_some_and(|stride| stride.value() == 0);
        let views = &self.root.buffer_views;
        if let Some(at) = views.iter().position(|view| view.get().is_ok_and(zero)) {
            report.warn(
                &format!("bufferViews[{at}].byteStride"),
                "a stride of 0 bytes, expected 4 or more",
                "it was left out: elements were read without gaps",
            );
        }
    }

    /// Takes `elements` from what may be read of a file of this size.
    pub(super) fn charge(
        &self,
        report: &Report,
        place: &str,
        elements: u64,
    ) -> Result<(), FormatError> {
        if self.spend(elements) {
            return Ok(());
        }
        Err(too_many(report, place))
    }

    /// Does the same for keys of clips.
    pub(super) fn charge_keys(
        &self,
        report: &Report,
        place: &str,
        elements: usize,
    ) -> Result<(), FormatError> {
        match spend(&self.keys, elements as u64) {
            true => Ok(()),
            false => Err(too_many(report, place)),
        }
    }

    fn spend(&self, elements: u64) -> bool {
        spend(&self.budget, elements)
    }

    /// Returns what `read` returns for each item, from several threads at once. `keys` is the number of keys in all items. Errors
    /// are those of reading one after the other.
    pub(super) fn read_all<T: Sync, R: Send>(
        &self,
        items: &[T],
        keys: usize,
        read: impl Fn(&T) -> Result<R, FormatError> + Sync,
    ) -> Result<Vec<R>, FormatError> {
        let budgets = [&self.budget, &self.keys];
        let before = budgets.map(|budget| budget.load(Ordering::Relaxed));
        in_parallel(items, about(keys, KEY), &read)
            .into_iter()
            .collect::<Result<_, _>>()
            .or_else(|_: FormatError| {
                // Where the elements run out depends on which thread is faster.
                for (budget, before) in budgets.iter().zip(before) {
                    budget.store(before, Ordering::Relaxed);
                }
                items.iter().map(read).collect()
            })
    }

    /// Opens the accessor at `index`, which must have one of the `types`. `place` is where it is
    /// used, for errors.
    pub(super) fn open(
        &self,
        report: &Report,
        place: &str,
        index: usize,
        types: &[Type],
    ) -> Result<Accessor<'a>, FormatError> {
        let in_mesh = self.decoded.of_accessor(index);
        self.open_in(report, place, index, types, in_mesh, &self.budget)
    }

    /// Opens the times or values of a sampler.
    pub(super) fn open_keys(
        &self,
        report: &Report,
        place: &str,
        index: usize,
        types: &[Type],
    ) -> Result<Accessor<'a>, FormatError> {
        let in_mesh = self.decoded.of_accessor(index);
        self.open_in(report, place, index, types, in_mesh, &self.keys)
    }

    /// Opens an attribute of a primitive, or its indices for `None`. Compressed meshes may share an accessor, which then
    /// holds other data for each.
    pub(super) fn open_of(
        &self,
        report: &Report,
        place: &str,
        (primitive, semantic): (&Primitive, Option<Semantic>),
        index: usize,
        types: &[Type],
    ) -> Result<Accessor<'a>, FormatError> {
        let own = self.decoded.of_primitive(primitive, semantic);
        let in_mesh = own.or_else(|| self.decoded.of_accessor(index));
        self.open_in(report, place, index, types, in_mesh, &self.budget)
    }

    fn open_in(
        &self,
        report: &Report,
        place: &str,
        index: usize,
        types: &[Type],
        in_mesh: Option<Result<InMesh, &'static str>>,
        budget: &AtomicU64,
    ) -> Result<Accessor<'a>, FormatError> {
        let charge = |elements: u64| match spend(budget, elements) {
            true => Ok(()),
            false => Err(too_many(report, place)),
        };
        let error = |message: String| report.error(place, message, CHECK);
        let (accessors, what) = (&self.root.accessors, "accessor");
        let accessor = accessors
            .get(index)
            .ok_or_else(|| out_of_range(what, index, accessors.len(), place, report))?;
        let accessor = accessor
            .get()
            .map_err(|reason| error(format!("accessor {index} cannot be read: {reason}")))?;
        let (Some(kind), Some(component)) = (accessor.kind, accessor.component_type) else {
            return Err(error(format!("accessor {index} has an unknown type")));
        };
        if !types.contains(&kind) {
            let types: Vec<String> = types.iter().map(Type::to_string).collect();
            return Err(error(format!(
                "accessor {index} has the type {kind}, expected {}",
                types.join(" or ")
            )));
        }
        if let Some(in_mesh) = in_mesh {
            let mut out = in_mesh
                .map_err(str::to_owned)
                .and_then(|in_mesh| self.in_mesh(in_mesh, kind.width()))
                .map_err(|reason| error(format!("accessor {index}: {reason}")))?;
            charge(out.count as u64)?;
            out.normalized |= accessor.normalized;
            return Ok(out);
        }
        let count = accessor.count.0;
        charge(count)?;
        let mut out = Accessor {
            bytes: &[],
            stride: 0,
            count: count as usize,
            component,
            normalized: accessor.normalized,
            width: kind.width(),
            replaced: Vec::new(),
            replacements: &[],
        };
        let size = out.width * out.component.size();
        if let Some(view) = accessor.buffer_view {
            let (bytes, stride) = self.view(view.value()).map_err(error)?;
            out.stride = stride.unwrap_or(size);
            let offset = byte_offset(accessor.byte_offset);
            if out.stride < size {
                return Err(error(format!(
                    "accessor {index}: the buffer view's `byteStride` is {}, expected {size} or more",
                    out.stride
                )));
            }
            out.bytes = part(bytes, offset, count, out.stride, size).ok_or_else(|| {
                error(format!(
                    "accessor {index} goes past the end of its buffer view"
                ))
            })?;
        }
        if let Some(sparse) = &accessor.sparse {
            let replaced = sparse.count.0;
            charge(replaced)?;
            let Some(index_type) = sparse.indices.component_type else {
                return Err(error(format!(
                    "accessor {index} has an unknown type of sparse indices"
                )));
            };
            let slice = |view: usize, offset: u64, size: usize| {
                let (bytes, _) = self.view(view)?;
                part(bytes, offset, replaced, size, size).ok_or_else(|| {
                    format!(
                        "the sparse data of accessor {index} goes past the end of its buffer view"
                    )
                })
            };
            let width = index_type.size();
            let indices = slice(
                sparse.indices.buffer_view.value(),
                byte_offset(sparse.indices.byte_offset),
                width,
            )
            .map_err(error)?;
            out.replacements = slice(
                sparse.values.buffer_view.value(),
                byte_offset(sparse.values.byte_offset),
                size,
            )
            .map_err(error)?;
            out.replaced = indices
                .chunks_exact(width)
                .map(|bytes| integer(bytes, index_type))
                .collect();
            // Elements are looked up by a binary search.
            if !out.replaced.is_sorted_by(|a, b| a < b)
                || out
                    .replaced
                    .last()
                    .is_some_and(|&at| u64::from(at) >= count)
            {
                return Err(error(format!(
                    "the sparse indices of accessor {index} don't increase, or are out of range"
                )));
            }
        }
        let listed = ZEROS_PER_ELEMENT * out.replaced.len() as u64;
        let most = FEW_ZEROS + listed.max(self.buffers.len() as u64 / BYTES_PER_ZERO);
        if accessor.buffer_view.is_none() && count > most {
            return Err(error(format!(
                "accessor {index} has {count} elements and no data"
            )));
        }
        Ok(out)
    }

    /// Returns the bytes of a buffer view, and the distance between its elements if it has one.
    pub(super) fn view(&self, index: usize) -> Result<(&'a [u8], Option<usize>), String> {
        let view = self.root.buffer_views.get(index).ok_or_else(|| {
            format!(
                "buffer view {index} is out of range: {}",
                there_are(self.root.buffer_views.len(), "buffer view")
            )
        })?;
        let view = view
            .get()
            .map_err(|reason| format!("buffer view {index} cannot be read: {reason}"))?;
        let stride = view.byte_stride.map(Index::value).filter(|&n| n != 0);
        let bytes = match self.decoded.views.get(&index) {
            Some(cell) => cell
                .get_or_init(|| self.decompress(index, view))
                .as_deref()
                .map_err(String::clone)?,
            None => self.bytes(index, view.buffer, view.byte_offset, view.byte_length)?,
        };
        Ok((bytes, stride))
    }

    /// Bytes of a buffer, for the buffer view at `index`.
    fn bytes(
        &self,
        index: usize,
        buffer: Index,
        offset: Option<Whole>,
        length: Whole,
    ) -> Result<&'a [u8], String> {
        let bytes = self.buffers.get(buffer.value()).ok_or_else(|| {
            format!("buffer {buffer} of buffer view {index} doesn't exist, or has no data")
        })?;
        let length = length.0.try_into().unwrap_or(usize::MAX);
        part(bytes, byte_offset(offset), 1, 0, length)
            .ok_or_else(|| format!("buffer view {index} goes past the end of buffer {buffer}"))
    }

    /// Decodes a buffer view that is compressed by meshoptimizer.
    fn decompress(&self, index: usize, view: &View) -> Result<Vec<u8>, String> {
        let error = |reason: &str| format!("buffer view {index} cannot be decompressed: {reason}");
        let Some(packed) = view.meshopt() else {
            return Err(error("it is not compressed"));
        };
        let packed = packed.map_err(error)?;
        let bytes = self.bytes(index, packed.buffer, packed.byte_offset, packed.byte_length)?;
        let (count, stride) = (packed.count.0, packed.byte_stride.0.min(1 << 16));
        if !self.spend(count.saturating_mul(stride) / 4) {
            return Err(error(TOO_MUCH));
        }
        // The budget fits in memory, so what was paid for fits in a `usize`.
        let (count, stride) = (count as usize, stride as usize);
        meshopt::decode(bytes, packed.mode, packed.filter, count, stride).map_err(error)
    }

    /// Opens an attribute or the indices of a mesh that is compressed by Draco.
    fn in_mesh(&self, in_mesh: InMesh, width: usize) -> Result<Accessor<'a>, String> {
        let InMesh { view, attribute } = in_mesh;
        let mesh = self.decoded.meshes.get(&view).map(|mesh| {
            let decode = || {
                let (bytes, _) = self.view(view)?;
                let mut charge = |elements| {
                    if self.spend(elements) {
                        Ok(())
                    } else {
                        Err(TOO_MUCH)
                    }
                };
                draco::decode(bytes, self.limits.triangles, &mut charge)
                    .map_err(|reason| format!("the mesh cannot be decompressed: {reason}"))
            };
            mesh.get_or_init(decode).as_ref().map_err(String::clone)
        });
        let mesh = mesh.ok_or("the mesh is missing")??;
        let Some(id) = attribute else {
            return Ok(Accessor::packed(
                &mesh.indices,
                ComponentType::U32,
                1,
                false,
            ));
        };
        let attribute = mesh.attributes.iter().find(|attribute| attribute.id == id);
        let attribute =
            attribute.ok_or_else(|| format!("the compressed mesh has no attribute {id}"))?;
        let Some(component) = attribute.component.filter(|_| attribute.width == width) else {
            return Err(format!(
                "attribute {id} of the compressed mesh is of another type"
            ));
        };
        let (bytes, normalized) = (&attribute.bytes, attribute.normalized);
        Ok(Accessor::packed(bytes, component, width, normalized))
    }
}

fn spend(budget: &AtomicU64, elements: u64) -> bool {
    let take = |left: u64| left.checked_sub(elements);
    let taken = budget.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
    taken.is_ok()
}

fn too_many(report: &Report, place: &str) -> FormatError {
    report.error(
        place,
        "the accessors have too many elements for a file of this size, counting each use",
        DAMAGED,
    )
}

const TOO_MUCH: &str = "it would be too large for a file of this size";

fn byte_offset(given: Option<Whole>) -> u64 {
    given.unwrap_or_default().0
}

/// Returns the bytes of `count` elements of `size` bytes, one every `stride` bytes; `None` if they
/// go past the end.
fn part(bytes: &[u8], offset: u64, count: u64, stride: usize, size: usize) -> Option<&[u8]> {
    // The last element needs no padding behind it.
    let length = match count.checked_sub(1) {
        Some(before) => before
            .checked_mul(stride as u64)?
            .checked_add(size as u64)?,
        None => 0,
    };
    let start = usize::try_from(offset).ok()?;
    bytes.get(start..start.checked_add(usize::try_from(length).ok()?)?)
}

/// Elements of one type. Element `i` is at `i · stride`, or among the replacements.
pub(super) struct Accessor<'a> {
    bytes: &'a [u8],
    stride: usize,
    count: usize,
    component: ComponentType,
    normalized: bool,
    width: usize,
    /// Indices of the elements that sparse storage replaces, in increasing order.
    replaced: Vec<u32>,
    replacements: &'a [u8],
}

impl<'a> Accessor<'a> {
    /// Makes an accessor of elements without gaps.
    fn packed(bytes: &'a [u8], component: ComponentType, width: usize, normalized: bool) -> Self {
        let stride = width * component.size();
        Self {
            bytes,
            stride,
            count: bytes.len() / stride,
            component,
            normalized,
            width,
            replaced: Vec::new(),
            replacements: &[],
        }
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// The number of components of an element.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Reads integers as fractions of their range, even if the file doesn't call them normalized:
    /// some exporters forget to.
    pub(super) fn into_shares(mut self) -> Self {
        self.normalized = true;
        self
    }

    /// Returns the first `N` components of an element, and zeros for those that it lacks.
    #[inline]
    pub(super) fn floats<const N: usize>(&self, index: usize) -> [f32; N] {
        let bytes = self.element(index);
        // Almost all are stored as they are wanted.
        if self.component == ComponentType::F32
            && N <= self.width
            && let Some(numbers) = bytes.as_chunks().0.first_chunk()
        {
            return numbers.map(f32::from_le_bytes);
        }
        self.converted(bytes)
    }

    fn converted<const N: usize>(&self, bytes: &[u8]) -> [f32; N] {
        let size = self.component.size();
        std::array::from_fn(|i| {
            let Some(bytes) = bytes
                .get(i * size..(i + 1) * size)
                .filter(|_| i < self.width)
            else {
                return 0.0;
            };
            let share = |value: f32, most: f32| {
                if self.normalized {
                    // Signed integers have one value below −`most`, which the specification clamps.
                    (value / most).max(-1.0)
                } else {
                    value
                }
            };
            match (self.component, bytes) {
                (ComponentType::I8, &[a]) => share(f32::from(a as i8), 127.0),
                (ComponentType::U8, &[a]) => share(f32::from(a), 255.0),
                (ComponentType::I16, &[a, b]) => {
                    share(f32::from(i16::from_le_bytes([a, b])), 32767.0)
                }
                (ComponentType::U16, &[a, b]) => {
                    share(f32::from(u16::from_le_bytes([a, b])), 65535.0)
                }
                (ComponentType::U32, &[a, b, c, d]) => u32::from_le_bytes([a, b, c, d]) as f32,
                (ComponentType::F32, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]),
                _ => 0.0,
            }
        })
    }

    /// Returns the first `N` components of an element as indices.
    #[inline]
    pub(super) fn indices<const N: usize>(&self, index: usize) -> [u32; N] {
        let bytes = self.element(index);
        // Almost all are of one of these types.
        match self.component {
            ComponentType::U8 => {
                if let Some(numbers) = bytes.first_chunk() {
                    return numbers.map(u32::from);
                }
            }
            ComponentType::U16 => {
                if let Some(numbers) = bytes.as_chunks().0.first_chunk() {
                    return numbers.map(|bytes| u16::from_le_bytes(bytes).into());
                }
            }
            _ => {}
        }
        let size = self.component.size();
        std::array::from_fn(|i| {
            bytes
                .get(i * size..(i + 1) * size)
                .map_or(0, |bytes| integer(bytes, self.component))
        })
    }

    #[inline]
    fn element(&self, index: usize) -> &'a [u8] {
        let size = self.width * self.component.size();
        if !self.replaced.is_empty()
            && let Ok(at) = self.replaced.binary_search(&(index as u32))
        {
            return &self.replacements[at * size..(at + 1) * size];
        }
        // Empty for the zeros of an accessor without a view.
        self.bytes.get(index * self.stride..).unwrap_or_default()
    }
}

fn integer(bytes: &[u8], component: ComponentType) -> u32 {
    match (component, bytes) {
        (ComponentType::I8 | ComponentType::U8, &[a]) => a.into(),
        (ComponentType::I16 | ComponentType::U16, &[a, b]) => u16::from_le_bytes([a, b]).into(),
        (ComponentType::U32, &[a, b, c, d]) => u32::from_le_bytes([a, b, c, d]),
        // Some old exporters write joints as floats, and Draco rounds them.
        (ComponentType::F32, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]).round() as u32,
        _ => 0,
    }
}
