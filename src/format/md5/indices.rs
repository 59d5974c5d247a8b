//! Indices of an `.md5mesh` that only the whole file can vouch for.

use super::{
    Md5Submesh,
    mesh::label,
    reader::{Reader, Stop},
};
use crate::format::TokenKind;

/// Where a submesh's items stand, for the reports of the checks that need the whole file.
pub(super) struct Places {
    pub(super) vertices: usize,
    pub(super) triangles: usize,
    pub(super) weights: usize,
}

/// Checks a submesh's indices for range.
pub(super) fn check_indices(
    reader: &mut Reader,
    index: usize,
    submesh: &Md5Submesh,
    places: &Places,
    joints: usize,
) -> Result<(), Stop> {
    let Md5Submesh { vertices, triangles, weights, .. } = submesh;
    let context = |item: &str, number, count| format!("{item} {number} of {count} in mesh {}", label(index, submesh));
    for (number, vertex) in vertices.iter().enumerate() {
        let end = u64::from(vertex.first_weight) + u64::from(vertex.weight_count);
        if end > weights.len() as u64 {
            // `vert 0 ( s t ) first count`: six tokens after the number.
            let at = place(reader, places.vertices, b"vert", number, 5);
            let first = vertex.first_weight;
            let message = format!("weights {first}..{end} are out of range: the mesh has {}", weights.len());
            reader.error(at, message, context("vert", number, vertices.len()), "")?;
        }
    }
    for (number, triangle) in triangles.iter().enumerate() {
        if let Some(corner) = triangle.iter().position(|&v| v as usize >= vertices.len()) {
            let at = place(reader, places.triangles, b"tri", number, 1 + corner);
            let message = format!("vertex {} is out of range: the mesh has {}", triangle[corner], vertices.len());
            reader.error(at, message, context("tri", number, triangles.len()), "")?;
        }
    }
    for (number, weight) in weights.iter().enumerate() {
        if weight.joint as usize >= joints {
            let at = place(reader, places.weights, b"weight", number, 1);
            let message = format!("joint {} is out of range: the file has {joints}", weight.joint);
            reader.error(at, message, context("weight", number, weights.len()), "")?;
        }
    }
    Ok(())
}

/// Offset of the token that stands `after` tokens behind the number of an item, found by reading
/// the run again. Only for reports.
#[cold]
fn place(reader: &Reader, start: usize, keyword: &[u8], number: usize, after: usize) -> usize {
    let mut lexer = reader.lexer.clone();
    lexer.seek(start);
    loop {
        let at = lexer.peek().offset;
        if lexer.u32().is_ok_and(|n| n as usize == number) {
            for _ in 1..after {
                lexer.next_token();
            }
            return lexer.peek().offset;
        }
        // On to the number behind the next keyword.
        loop {
            match lexer.next_token().kind {
                TokenKind::End => return at.min(start),
                TokenKind::Word(word) if word.eq_ignore_ascii_case(keyword) => break,
                _ => {}
            }
        }
    }
}
