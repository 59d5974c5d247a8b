//! Triangles: three indices each; in DX10 files a fourth number, the subset.

use super::{
    header::Counted,
    reader::{Reader, item},
};
use crate::format::{Lexer, Unexpected};

/// The triangles as written.
#[derive(Default)]
pub(super) struct RawTriangles {
    /// Indices, not yet known to be in range.
    pub(super) indices: Vec<[u32; 3]>,
    /// The subset of each triangle, in files that have it; else empty.
    pub(super) subsets: Vec<u32>,
    /// Where the section's numbers begin.
    pub(super) start: usize,
}

/// The shortest text of a triangle: `0 1 2` and a line's end.
const SHORTEST: usize = 6;

/// Reads the triangles.
pub(super) fn read(reader: &mut Reader<'_>, triangles: &mut RawTriangles) {
    reader.lexer.skip_space();
    triangles.start = reader.lexer.offset();
    let promised = reader.header.count(Counted::Triangles);
    let reserve = (promised.unwrap_or(0) as usize).min(reader.lexer.remaining() / SHORTEST);
    triangles.indices.reserve(reserve);
    // Three indices may stand on one line or on many; four numbers on the first line are a triangle
    // and its subset.
    let line = reader.lexer.clone().rest_of_line();
    let with_subset = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count() == 4;
    loop {
        let offset = reader.lexer.offset();
        let triangle = match plain(&mut reader.lexer, with_subset) {
            Some(triangle) => triangle,
            None => {
                reader.lexer.seek(offset);
                if reader.at_section_end() {
                    break;
                }
                let since = reader.lexer.offset();
                match patient(reader, with_subset) {
                    Ok(triangle) => triangle,
                    Err(unexpected) => {
                        let context = item("triangle", triangles.indices.len(), promised, "Triangles");
                        reader.unexpected(since, unexpected, context);
                        // Keeps the numbers of the triangles after it right.
                        [0; 4]
                    }
                }
            }
        };
        let [a, b, c, subset] = triangle;
        triangles.indices.push([a, b, c]);
        if with_subset {
            triangles.subsets.push(subset);
        }
    }
}

/// Reads a triangle if nothing about it is odd.
#[inline]
fn plain(lexer: &mut Lexer<'_>, with_subset: bool) -> Option<[u32; 4]> {
    let [a, b, c] = [lexer.plain_u32()?, lexer.plain_u32()?, lexer.plain_u32()?];
    Some([a, b, c, if with_subset { lexer.plain_u32()? } else { 0 }])
}

/// Reads a triangle of which something is odd: a number of nine digits, or the file's last.
fn patient(reader: &mut Reader<'_>, with_subset: bool) -> Result<[u32; 4], Unexpected> {
    let mut triangle = [0; 4];
    for number in &mut triangle[..if with_subset { 4 } else { 3 }] {
        *number = reader.lexer.u32()?;
    }
    Ok(triangle)
}

/// Where a number of the section stands; `at` counts indices of vertices only.
pub(super) fn locate(reader: &Reader<'_>, triangles: &RawTriangles, at: usize) -> usize {
    let mut lexer = reader.lexer.clone();
    lexer.seek(triangles.start);
    let subsets_before = if triangles.subsets.is_empty() { 0 } else { at / 3 };
    for _ in 0..at + subsets_before {
        lexer.next_token();
    }
    lexer.skip_space();
    lexer.offset()
}
