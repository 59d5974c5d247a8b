//! Triangles: three indices each; in DX10 files a fourth number, the subset.

use super::{
    reader::{Reader, item},
    state::Counted,
};
use crate::format::{Lexer, Unexpected};

/// The triangles as written.
#[derive(Default)]
pub(super) struct RawTriangles {
    /// Indices, not yet known to be in range.
    pub(super) indices: Vec<[u32; 3]>,
    /// The subset of each triangle in files that have it, else empty.
    pub(super) subsets: Vec<u32>,
    /// Offset of the section's numbers.
    pub(super) start: usize,
}

/// Reads the triangles.
pub(super) fn read(reader: &mut Reader<'_>, triangles: &mut RawTriangles) {
    reader.lexer.skip_space();
    triangles.start = reader.lexer.offset();
    // Three indices may stand on one line or on many; four numbers on the first line are a triangle and its subset.
    let line = reader.lexer.clone().rest_of_line();
    let with_subset = line
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
        .count()
        == 4;
    while !reader.at_section_end() {
        let since = reader.lexer.offset();
        let triangle = triangle(&mut reader.lexer, with_subset).unwrap_or_else(|unexpected| {
            let promised = reader.state.header.count(Counted::Triangles);
            let context = item("triangle", triangles.indices.len(), promised, "Triangles");
            reader.recover(since, &unexpected, context);
            // Keeps the numbers of the triangles after it right.
            [0; 4]
        });
        let [a, b, c, subset] = triangle;
        triangles.indices.push([a, b, c]);
        if with_subset {
            triangles.subsets.push(subset);
        }
    }
}

fn triangle(lexer: &mut Lexer<'_>, with_subset: bool) -> Result<[u32; 4], Unexpected> {
    Ok([
        lexer.u32()?,
        lexer.u32()?,
        lexer.u32()?,
        if with_subset { lexer.u32()? } else { 0 },
    ])
}

/// Returns the offset of a vertex index of the section; `at` counts these alone.
pub(super) fn locate(reader: &Reader<'_>, triangles: &RawTriangles, at: usize) -> usize {
    let mut lexer = reader.lexer.clone();
    lexer.seek(triangles.start);
    let subsets_before = if triangles.subsets.is_empty() {
        0
    } else {
        at / 3
    };
    for _ in 0..at + subsets_before {
        lexer.next_token();
    }
    lexer.skip_space();
    lexer.offset()
}
