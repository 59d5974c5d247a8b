//! The subset table: `SubsetID: 0 VertexStart: 0 VertexCount: 288 FaceStart: 0 FaceCount: 204`.

use super::{
    label,
    reader::{Reader, item},
    state::Counted,
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    Id,
    VertexStart,
    VertexCount,
    FaceStart,
    FaceCount,
}

const LABELS: &[(&str, Key)] = &[
    ("SubsetID", Key::Id),
    ("VertexStart", Key::VertexStart),
    ("VertexCount", Key::VertexCount),
    ("FaceStart", Key::FaceStart),
    ("FaceCount", Key::FaceCount),
    ("VetexCount", Key::VertexCount),
];

/// A row of the table as written.
#[derive(Clone, Copy, Default)]
pub(super) struct RawSubset {
    pub(super) offset: usize,
    pub(super) id: Option<u32>,
    pub(super) vertex_start: Option<u32>,
    pub(super) vertex_count: Option<u32>,
    pub(super) face_start: Option<u32>,
    pub(super) face_count: Option<u32>,
}

impl RawSubset {
    fn field(&mut self, key: Key) -> &mut Option<u32> {
        match key {
            Key::Id => &mut self.id,
            Key::VertexStart => &mut self.vertex_start,
            Key::VertexCount => &mut self.vertex_count,
            Key::FaceStart => &mut self.face_start,
            Key::FaceCount => &mut self.face_count,
        }
    }
}

/// Returns `true` if a label of the table comes next: a section called `Subsets` may also hold DX10 materials.
pub(super) fn at_table(reader: &Reader<'_>) -> bool {
    label::find(LABELS, reader.lexer.clone().label()).is_some()
}

/// Reads the table. A row ends where a label comes again.
pub(super) fn read(reader: &mut Reader<'_>, subsets: &mut Vec<RawSubset>) {
    let mut open: Option<RawSubset> = None;
    while !reader.at_section_end() {
        let offset = reader.lexer.offset();
        let context = |reader: &Reader<'_>, done: usize| {
            let count = reader
                .state
                .header
                .count(Counted::Subsets)
                .or(reader.state.header.count(Counted::Materials));
            item("subset", done, count, "SubsetTable")
        };
        let label = reader.lexer.label();
        let Some(key) = label::find(LABELS, label) else {
            reader.lexer.seek(offset);
            let context = context(reader, subsets.len());
            reader.unknown_label(LABELS.iter().map(|&(name, _)| name), "SubsetTable", context);
            continue;
        };
        reader.state.signs.home_made |= label::same(label, "VetexCount");
        let row = open.get_or_insert(RawSubset {
            offset,
            ..Default::default()
        });
        if row.field(key).is_some() {
            subsets.push(std::mem::replace(
                row,
                RawSubset {
                    offset,
                    ..Default::default()
                },
            ));
        }
        match reader.index() {
            Ok(value) => *row.field(key) = Some(value),
            Err(unexpected) => {
                let context = context(reader, subsets.len());
                reader.recover(offset, &unexpected, context);
            }
        }
    }
    subsets.extend(open);
}
