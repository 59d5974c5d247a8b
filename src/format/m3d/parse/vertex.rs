//! Vertices: a label and its numbers to a line.

use super::{
    reader::{Reader, item},
    record::{self, Column, Layout, Record, Schema},
    state::Counted,
};
use crate::format::m3d::M3dVertex;

const POSITION: usize = 0;
const WEIGHTS: usize = 4;

const fn column(
    names: &'static [&'static str],
    slot: usize,
    least: usize,
    most: usize,
    indices: bool,
) -> Column {
    Column {
        names,
        slot,
        least,
        most,
        indices,
    }
}

pub(super) const SCHEMA: Schema = Schema {
    columns: [
        column(&["Position", "Pos", "P"], 0, 3, 3, false),
        column(&["Tangent", "T"], 3, 3, 4, false),
        column(&["Normal", "N"], 7, 3, 3, false),
        column(&["Tex-Coords", "TexCoord", "Tex", "T"], 10, 2, 2, false),
        column(&["BlendWeights", "Weights", "Weight"], 12, 1, 4, false),
        column(&["BlendIndices", "BoneIndices"], 0, 1, 4, true),
    ],
    // A tangent of three numbers (DX10) is right-handed.
    blank: [
        0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    ],
    section: "Vertices",
    enclosed: false,
};

/// Reads the vertices.
pub(super) fn read(reader: &mut Reader<'_>, vertices: &mut Vec<M3dVertex>) {
    let promised = reader.state.header.count(Counted::Vertices);
    let mut layout = Layout::default();
    let mut record = Record::blank(&SCHEMA);
    loop {
        if layout.replay(&mut reader.lexer, &mut record) {
            vertices.push(vertex(&record));
            continue;
        }
        if reader.at_section_end() {
            break;
        }
        let (offset, errors) = (reader.lexer.offset(), reader.report.errors());
        let context = |index: usize| item("vertex", index, promised, "Vertices");
        record = record::read(reader, &SCHEMA, &mut layout, |_| context(vertices.len()));
        // If a label could not be read, its missing numbers are already reported.
        if record.counts[POSITION] == 0 && reader.report.errors() == errors {
            reader
                .report
                .error(offset, "a vertex has no position")
                .context = context(vertices.len());
        }
        vertices.push(vertex(&record));
    }
}

/// Returns the offset of a vertex in the section that begins at `start`, for a warning that is found to be needed
/// once everything is read.
pub(super) fn locate(reader: &Reader<'_>, start: usize, index: usize) -> usize {
    let mut again = Reader::of("", reader.lexer.source());
    again.lexer.seek(start);
    let (mut layout, mut record) = (Layout::default(), Record::blank(&SCHEMA));
    for _ in 0..index {
        if !layout.replay(&mut again.lexer, &mut record) {
            record = record::read(&mut again, &SCHEMA, &mut layout, |_| String::new());
        }
    }
    again.lexer.skip_space();
    again.lexer.offset()
}

#[inline]
fn vertex(record: &Record) -> M3dVertex {
    let mut weights: [f32; 4] = record.get(12);
    if record.counts[WEIGHTS] == 3 {
        // As the books' shaders have it.
        weights[3] = (1.0 - weights[0] - weights[1] - weights[2]).clamp(0.0, f32::MAX);
    }
    M3dVertex {
        position: record.get(0),
        tangent: record.get(3),
        normal: record.get(7),
        tex_coord: record.get(10),
        weights,
        bones: record.indices,
    }
}
