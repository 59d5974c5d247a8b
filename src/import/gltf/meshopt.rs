//! Buffer views compressed by meshoptimizer: `EXT_meshopt_compression` and `KHR_meshopt_compression`.
//!
//! A view is one of three codecs, and attributes may have been filtered before they were compressed. Elements of the result
//! take `stride` bytes each. Both versions of each codec are read, whichever of the extensions names them.

mod attributes;
mod filters;
mod indices;

use serde::Deserialize;

/// The codec of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum Mode {
    /// Elements of any kind: deltas of their bytes.
    Attributes,
    /// Triangles, as they are drawn.
    Triangles,
    /// Indices of anything but triangles.
    Indices,
}

/// Reverses the filter that made elements easier to compress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum Filter {
    #[default]
    None,
    /// Unit vectors of 8 or 16 bits, as two octahedral coordinates.
    Octahedral,
    /// Rotations of 16 bits, as three components and the place of the largest.
    Quaternion,
    /// Floats as mantissas of 24 bits and exponents of 8 bits.
    Exponential,
    /// Colors of 8 or 16 bits, as luma and two differences.
    Color,
}

/// Decodes `count` elements of `stride` bytes.
///
/// # Errors
/// The data is no such stream, or continues after its last element.
pub(super) fn decode(
    data: &[u8],
    mode: Mode,
    filter: Filter,
    count: usize,
    stride: usize,
) -> Result<Vec<u8>, &'static str> {
    let is_index = stride == 2 || stride == 4;
    let mut out = match mode {
        Mode::Attributes if !stride.is_multiple_of(4) || !(4..=256).contains(&stride) => {
            return Err("elements must have 4 to 256 bytes, and a multiple of 4");
        }
        Mode::Attributes => attributes::decode(data, count, stride),
        _ if !is_index => return Err("indices must have 2 or 4 bytes"),
        Mode::Triangles if !count.is_multiple_of(3) => {
            return Err("the indices of triangles must come in threes");
        }
        Mode::Triangles => indices::triangles(data, count, stride),
        Mode::Indices => indices::sequence(data, count, stride),
    }
    .ok_or("the compressed data is damaged")?;
    match filter {
        Filter::None => {}
        _ if mode != Mode::Attributes => return Err("only attributes have filters"),
        Filter::Octahedral if stride == 4 => filters::octahedral::<i8>(&mut out),
        Filter::Octahedral if stride == 8 => filters::octahedral::<i16>(&mut out),
        Filter::Color if stride == 4 => filters::color::<u8>(&mut out),
        Filter::Color if stride == 8 => filters::color::<u16>(&mut out),
        Filter::Quaternion if stride == 8 => filters::quaternion(&mut out),
        Filter::Exponential => filters::exponential(&mut out),
        _ => return Err("the filter doesn't go with elements of this size"),
    }
    Ok(out)
}
