//! State of a parse besides its position: the header's counts, notes and signs of the dialect.

use super::notes::Notes;
use crate::format::m3d::Dialect;

/// State of a parse besides its position.
#[derive(Default)]
pub(super) struct State<'a> {
    pub(super) notes: Notes<'a>,
    pub(super) header: Header,
    pub(super) signs: Signs,
}

/// The counts of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counted {
    Materials,
    Vertices,
    Triangles,
    Bones,
    AnimationClips,
    Subsets,
}

/// The labels of the counts in a header.
pub(super) const COUNTS: &[(&str, Counted)] = &[
    ("Materials", Counted::Materials),
    ("Vertices", Counted::Vertices),
    ("Triangles", Counted::Triangles),
    ("Bones", Counted::Bones),
    ("AnimationClips", Counted::AnimationClips),
    ("Subsets", Counted::Subsets),
];

/// The counts in a header, each with its place. None of them is trusted.
#[derive(Default)]
pub(super) struct Header {
    counts: [Option<(u32, usize)>; COUNTS.len()],
}

impl Header {
    /// Returns the count, if the header has it.
    pub(super) fn count(&self, what: Counted) -> Option<u32> {
        self.counts[what as usize].map(|(count, _)| count)
    }

    /// Returns the place of the count, or the start of the file without one.
    pub(super) fn offset(&self, what: Counted) -> usize {
        self.counts[what as usize].map_or(0, |(_, offset)| offset)
    }

    /// Sets a count that stands at `offset`.
    pub(super) fn set(&mut self, what: Counted, count: u32, offset: usize) {
        self.counts[what as usize] = Some((count, offset));
    }
}

/// Signs of the dialects, collected along the way.
#[derive(Default)]
pub(super) struct Signs {
    /// Section lines of dashes, counts without `#`.
    pub(super) dashes: bool,
    /// A header that is not called m3d, or labels that no book has.
    pub(super) home_made: bool,
    /// Materials as bare texture names.
    pub(super) bare_textures: bool,
    /// Material labels that only the DX12 book has.
    pub(super) dx12: bool,
    /// Material labels that only the DX11 book has.
    pub(super) dx11: bool,
}

impl Signs {
    /// Returns the dialect that the signs point to; those of geometry count before those of materials.
    pub(super) fn dialect(&self) -> Dialect {
        match self {
            Self {
                bare_textures: true,
                ..
            } => Dialect::Dx10,
            Self { dashes: true, .. } => Dialect::Imm,
            Self {
                home_made: true, ..
            } => Dialect::Other,
            Self {
                dx11: true,
                dx12: false,
                ..
            } => Dialect::Dx11,
            _ => Dialect::Dx12,
        }
    }
}
