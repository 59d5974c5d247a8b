//! Meshes compressed by Draco: `KHR_draco_mesh_compression`.
//!
//! Reads triangle meshes of the format's version 2.2, which is the one that the extension names:
//! both kinds of connectivity, and all current predictions. No file is trusted: memory is charged
//! before it is allocated, and walks over connectivity that isn't that of a mesh run out of steps.

mod attributes;
mod bytes;
mod corners;
mod edgebreaker;
mod entropy;
mod octahedron;
mod predict;
mod sequence;

use super::json::ComponentType;
use bytes::Reader;
use corners::Seams;

type Result<T> = std::result::Result<T, &'static str>;

const DAMAGED: &str = "the compressed mesh is damaged";

/// The numbers, of four bytes or fewer, that are charged as one element. A smooth mesh takes little
/// more than a byte per triangle.
const PER_ELEMENT: u64 = 8;

/// A mesh.
#[derive(Debug)]
pub(super) struct Mesh {
    /// Three vertices per triangle, as 32-bit numbers.
    pub(super) indices: Vec<u8>,
    pub(super) attributes: Vec<Attribute>,
}

/// An attribute of all vertices.
#[derive(Debug)]
pub(super) struct Attribute {
    /// The attribute's number in the glTF file.
    pub(super) id: u32,
    /// `None` for numbers of a type that glTF doesn't have.
    pub(super) component: Option<ComponentType>,
    pub(super) width: usize,
    pub(super) normalized: bool,
    /// Elements of that type and width, one per vertex.
    pub(super) bytes: Vec<u8>,
}

/// Decodes a mesh of at most so many triangles. `charge` is called with a number of elements before
/// they are allocated, and can refuse them.
pub(super) fn decode(
    data: &[u8],
    most_triangles: u32,
    charge: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<Mesh> {
    let check = |triangles: u32| {
        if triangles <= most_triangles {
            Ok(())
        } else {
            Err("it has more triangles than the limit `triangles` allows")
        }
    };
    let mut reader = Reader(data);
    let reader = &mut reader;
    if reader.take(5)? != b"DRACO" {
        return Err("the data is not compressed with Draco");
    }
    let version = [reader.u8()?, reader.u8()?];
    if version != [2, 2] {
        return Err("the mesh is compressed with an old version of Draco");
    }
    let (kind, method, flags) = (reader.u8()?, reader.u8()?, reader.u16()?);
    if kind != 1 {
        return Err("the compressed data is a cloud of points");
    }
    if flags & 1 << 15 != 0 {
        skip_metadata(reader)?;
    }
    match method {
        0 => sequential(reader, check, charge),
        1 => {
            let connectivity = edgebreaker::read(reader, |triangles, attributes| {
                check(triangles)?;
                charge(u64::from(triangles) * 3 * (u64::from(attributes) + 1) / PER_ELEMENT)
            })?;
            let edgebreaker::Connectivity {
                corners,
                is_inside,
                mut seams,
            } = connectivity;
            let seams = Seams::read(&corners, &mut seams)?;
            let (points, of_corner) = corners::points(&corners, &is_inside, &seams)?;
            let layout = attributes::Layout {
                points,
                mesh: Some((&corners, &seams, &of_corner)),
            };
            let attributes = attributes::read(reader, &layout, charge)?;
            let indices = of_corner.iter().flat_map(|point| point.to_le_bytes());
            Ok(Mesh {
                indices: indices.collect(),
                attributes,
            })
        }
        _ => Err(DAMAGED),
    }
}

/// Skips metadata: names and values, which may nest.
fn skip_metadata(reader: &mut Reader) -> Result<()> {
    fn skip_name(reader: &mut Reader) -> Result<()> {
        let size = reader.u8()?;
        reader.take(size.into()).map(drop)
    }
    let attributes = reader.number32()?;
    for at in 0..=u64::from(attributes) {
        if at < attributes.into() {
            reader.number32()?;
        }
        // Groups within this one follow it directly, each after its name.
        let mut groups = 0u64;
        loop {
            for _ in 0..reader.number32()? {
                skip_name(reader)?;
                let size = reader.number()?;
                reader.take(size)?;
            }
            groups = groups.saturating_add(reader.number32()?.into());
            if groups == 0 {
                break;
            }
            groups -= 1;
            skip_name(reader)?;
        }
    }
    Ok(())
}

/// Reads triangles as lists of vertices.
fn sequential(
    reader: &mut Reader,
    check: impl Fn(u32) -> Result<()>,
    charge: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<Mesh> {
    let (triangles, points) = (reader.number32()?, reader.number32()?);
    let is_plain = reader.u8()? != 0;
    let count = u64::from(triangles) * 3;
    check(triangles)?;
    // An index takes a byte at least.
    if is_plain && count > reader.0.len() as u64 {
        return Err(DAMAGED);
    }
    charge(count / PER_ELEMENT)?;
    let count = usize::try_from(count).map_err(|_| DAMAGED)?;
    let mut indices = Vec::with_capacity(count * 4);
    if is_plain {
        for _ in 0..count {
            // The number of points decides the width of an index.
            let index = match points {
                0..0x100 => reader.u8()?.into(),
                0x100..0x1_0000 => reader.u16()?.into(),
                0x1_0000..0x20_0000 => reader.number32()?,
                _ => reader.u32()?,
            };
            indices.extend(index.to_le_bytes());
        }
    } else {
        let mut last = 0u32;
        for number in entropy::numbers(reader, count, 1)? {
            last = if number % 2 == 0 {
                last.wrapping_add(number / 2)
            } else {
                last.wrapping_sub(number / 2)
            };
            indices.extend(last.to_le_bytes());
        }
    }
    let layout = attributes::Layout {
        points: points as usize,
        mesh: None,
    };
    let attributes = attributes::read(reader, &layout, charge)?;
    Ok(Mesh {
        indices,
        attributes,
    })
}
