//! The last steps of every importer, from a mesh with any number of weights per vertex to parts that can be drawn.

use super::{
    ImportReport, ImportSettings, combine::Combiner, influences::VertexWeights,
    names::give_unique_names, split::with_palettes, tangents::complete_tangents,
};
use crate::{format::Diagnostic, model::SkinPart};

/// Finishes the parts of a file, in their order.
pub(super) struct Finisher {
    combiner: Combiner,
    flips_v: bool,
    parts: Vec<SkinPart>,
    missing_tangents: usize,
}

/// The finished parts of a file.
pub(super) struct Finished {
    /// Parts with names that are unique.
    pub(super) parts: Vec<SkinPart>,
    /// The number of vertices that had no usable tangent.
    pub(super) missing_tangents: usize,
    /// A warning about vertices that more joints move than a palette has entries for.
    pub(super) warning: Option<Diagnostic>,
}

impl Finisher {
    pub(super) fn new(settings: &ImportSettings) -> Self {
        Self {
            combiner: Combiner::new(settings),
            flips_v: settings.flip_v,
            parts: Vec::new(),
            missing_tangents: 0,
        }
    }

    /// Gives a part its palette. Returns several pieces if one palette has no room for its joints.
    pub(super) fn split(&mut self, part: SkinPart, weights: &VertexWeights) -> Vec<SkinPart> {
        with_palettes(part, weights, &mut self.combiner)
    }

    /// Adds a piece, or a part that no joint moves. Its positions, normals, and triangles must be final, because tangents are
    /// computed from them.
    pub(super) fn add(&mut self, mut piece: SkinPart) {
        self.missing_tangents += complete_tangents(&mut piece);
        self.parts.push(piece);
    }

    /// Returns the parts that were added. Counts of combined joints go to `figures`.
    pub(super) fn finish(mut self, file: &str, figures: &mut ImportReport) -> Finished {
        if self.flips_v {
            // Last, because tangents follow the texture as the file has it.
            flip_tex_coords(&mut self.parts);
        }
        give_unique_names(&mut self.parts);
        self.combiner.add_to(figures);
        Finished {
            parts: self.parts,
            missing_tangents: self.missing_tangents,
            warning: self.combiner.warning(file),
        }
    }
}

/// Flips texture coordinates vertically. Bitangents keep pointing along V.
fn flip_tex_coords(parts: &mut [SkinPart]) {
    for part in parts {
        let all = part
            .tex_coords
            .iter_mut()
            .chain(&mut part.second_tex_coords);
        all.for_each(|tex_coord| tex_coord.y = 1.0 - tex_coord.y);
        part.tangents
            .iter_mut()
            .for_each(|tangent| tangent.w = -tangent.w);
    }
}
