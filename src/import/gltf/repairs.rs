//! Repairs of vertices and meshes, and the warnings about them.

use crate::import::report::Report;
use crate::plural::{counted, have};

/// The repairs of the vertices of all parts.
#[derive(Default)]
pub(super) struct Repairs {
    pub(super) positions: usize,
    pub(super) without_normals: Vec<String>,
    pub(super) missing_normals: usize,
    pub(super) unread: [Vec<String>; 2],
    /// Vertices that morph targets move, and moves that are not finite.
    pub(super) morph_vertices: usize,
    pub(super) morph_positions: usize,
}

impl Repairs {
    pub(super) fn tell(&self, report: &mut Report, vertices: usize) {
        let [shapeless, lines] = &self.unread;
        let several = |places: &[String], one: &str, many: &str| match places.len() {
            1 => one.to_owned(),
            count => format!("{count} {many}"),
        };
        for (places, one, many, what, hint) in [
            (
                shapeless,
                "a mesh has",
                "meshes have",
                "no positions",
                "it was left out",
            ),
            (
                lines,
                "a mesh has",
                "meshes have",
                "points or lines instead of triangles",
                "it was left out",
            ),
            (
                &self.without_normals,
                "a mesh has",
                "meshes have",
                "no normals",
                "flat ones were computed, as the format requires",
            ),
        ] {
            if let Some(first) = places.first() {
                report.warn(
                    first,
                    format!("{} {what}", several(places, one, many)),
                    hint,
                );
            }
        }
        if self.positions > 0 {
            let message = format!(
                "{} of {} {} no finite position",
                self.positions,
                counted(vertices, "vertex"),
                have(self.positions)
            );
            report.warn("", message, "they were put at the origin");
        }
        if self.morph_positions > 0 {
            let message = format!(
                "morph targets move {} to no finite position",
                counted(self.morph_positions, "vertex")
            );
            report.warn("", message, "these stay where they are");
        }
        if self.missing_normals > 0 {
            let message = format!(
                "{} of {} {} no usable normal",
                self.missing_normals,
                counted(vertices, "vertex"),
                have(self.missing_normals)
            );
            report.warn("", message, "smooth ones were computed");
        }
    }
}
