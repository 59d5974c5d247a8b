//! The header: how much of everything the file claims to hold.
//!
//! No count is ever believed. They bound what is reserved, tell where a listing should have
//! ended, and disagreeing with the data is worth a warning.

use super::{
    label,
    reader::{Reader, quote},
};

/// What a header counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counted {
    Materials,
    Vertices,
    Triangles,
    Bones,
    AnimationClips,
    Subsets,
}

const LABELS: &[(&str, Counted)] = &[
    ("Materials", Counted::Materials),
    ("Vertices", Counted::Vertices),
    ("Triangles", Counted::Triangles),
    ("Bones", Counted::Bones),
    ("AnimationClips", Counted::AnimationClips),
    ("Subsets", Counted::Subsets),
];

/// The counts a header gives, each with the place it is given at.
#[derive(Default)]
pub(super) struct Header {
    counts: [Option<(u32, usize)>; LABELS.len()],
}

impl Header {
    /// The count, if the header gives one.
    pub(super) fn count(&self, what: Counted) -> Option<u32> {
        self.counts[what as usize].map(|(count, _)| count)
    }

    /// Where the count stands; the start of the file if there is none.
    pub(super) fn offset(&self, what: Counted) -> usize {
        self.counts[what as usize].map_or(0, |(_, offset)| offset)
    }
}

/// Reads the lines below the header's banner.
pub(super) fn read(reader: &mut Reader<'_>) {
    while !reader.at_section_end() {
        let offset = reader.lexer.offset();
        let label = reader.lexer.label();
        let text = quote(label);
        match label::find(LABELS, label) {
            Some(what) => match reader.lexer.u32() {
                Ok(count) => {
                    reader.header.counts[what as usize] = Some((count, offset));
                    // Home-made exporters write `#Materials: 1`.
                    reader.signs.home_made |= label.ends_with(b":");
                    reader.signs.dashes |= !label.starts_with(b"#") && !label.ends_with(b":");
                }
                Err(unexpected) => {
                    let message = format!("{unexpected} behind {text}; the data will be counted");
                    reader.report.warning(unexpected.offset, message);
                }
            },
            None => {
                let warning = reader.report.warning(offset, format!("the header knows no label {text}"));
                if let Some(name) = label::nearest(label, LABELS.iter().map(|&(name, _)| name)) {
                    warning.hint = format!("did you mean `#{name}`?");
                }
            }
        }
        // The rest of the line, unless looking for the count has led to the next one.
        if !reader.lexer.source()[offset..reader.lexer.offset()].contains(&b'\n') {
            reader.lexer.skip_line();
        }
    }
}

/// Warns of every count that is not what the data holds.
pub(super) fn compare(reader: &mut Reader<'_>, held: impl Fn(Counted) -> usize) {
    for &(name, what) in LABELS {
        if let Some((count, offset)) = reader.header.counts[what as usize]
            && count as usize != held(what)
            // A skeleton that is missing altogether has been said.
            && (what != Counted::Bones || held(what) > 0)
        {
            let message = format!("the header says {name} {count}, the file holds {}", held(what));
            reader.report.warning(offset, message);
        }
    }
}
