//! What was done to vertices and meshes, and how that is said.

use super::report::Report;

/// What was done to the vertices of all parts.
#[derive(Default)]
pub(super) struct Repairs {
    pub(super) positions: usize,
    pub(super) without_normals: Vec<String>,
    pub(super) missing_normals: usize,
    pub(super) unread: [Vec<String>; 3],
}

impl Repairs {
    pub(super) fn tell(&self, report: &mut Report, vertices: usize) {
        let [morphed, shapeless, lines] = &self.unread;
        let several = |places: &[String], one: &str, many: &str| match places.len() {
            1 => one.to_owned(),
            count => format!("{count} {many}"),
        };
        for (places, one, many, what, hint) in [
            (
                morphed,
                "a mesh has",
                "meshes have",
                "morph targets, which are not read",
                "it keeps its basic shape",
            ),
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
                "{} of {vertices} vertices have no finite position",
                self.positions
            );
            report.warn("", message, "they were put at the origin");
        }
        if self.missing_normals > 0 {
            let message = format!(
                "{} of {vertices} vertices have no usable normal",
                self.missing_normals
            );
            report.warn("", message, "smooth ones were computed");
        }
    }
}
