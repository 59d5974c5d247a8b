//! Oddities of meshes: what was repaired or left out is counted while a file is read, and told once.

use crate::{
    import::{ImportReport, report::Report},
    model::is_near,
    plural::{counted, have},
};
use glam::Vec3;
use std::{collections::BTreeMap, mem};

/// Something unusual about the meshes of a file. Warnings come in this order.
#[cfg_attr(not(all(feature = "fbx", feature = "gltf")), allow(dead_code))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::import) enum Oddity {
    // Of meshes, which are named.
    NoPositions,
    NoTriangles,
    NoNormals,
    DualQuaternions,
    Unbound,
    // Of vertices.
    Misplaced,
    Loose,
    NoNormal,
    LongNormal,
    NoTangent,
    // Of triangles.
    FacesInward,
    // Of morph targets.
    MovesNowhere,
    NoMorphNormals,
}

/// The oddities found so far.
#[derive(Default)]
pub(in crate::import) struct Repairs {
    meshes: BTreeMap<Oddity, Vec<String>>,
    /// Vertices of the file, several times if parts have copies of them.
    vertices: BTreeMap<Oddity, Vec<u32>>,
    counts: BTreeMap<Oddity, usize>,
}

/// Share of repairs below which some are not worth a warning, since most files need a few.
const WORTH_SAYING: f32 = 0.01;

impl Repairs {
    /// Takes note of a mesh or a part by its name.
    #[cfg(any(feature = "fbx", feature = "gltf"))]
    pub(in crate::import) fn mesh(&mut self, oddity: Oddity, name: &str) {
        let names = self.meshes.entry(oddity).or_default();
        // Parts of one mesh often share its name.
        if names.last().is_none_or(|last| last != name) {
            names.push(name.to_owned());
        }
    }

    /// Takes note of vertices, triangles, or moves of morph targets.
    pub(in crate::import) fn count(&mut self, oddity: Oddity, count: usize) {
        *self.counts.entry(oddity).or_default() += count;
    }

    /// Takes note of a vertex of the file.
    pub(in crate::import) fn vertex(&mut self, oddity: Oddity, vertex: u32) {
        self.vertices(oddity, [vertex]);
    }

    pub(super) fn vertices(&mut self, oddity: Oddity, vertices: impl IntoIterator<Item = u32>) {
        self.vertices.entry(oddity).or_default().extend(vertices);
    }

    /// Returns the position of a vertex of the file: the origin, if it is not finite or far beyond any model.
    pub(in crate::import) fn position(&mut self, position: Vec3, vertex: u32) -> Vec3 {
        if is_near(position) {
            return position;
        }
        self.vertex(Oddity::Misplaced, vertex);
        Vec3::ZERO
    }

    /// Returns how far a morph target moves a vertex. `None` if that is not finite or far beyond any model.
    #[cfg(any(feature = "fbx", feature = "gltf"))]
    pub(in crate::import) fn offset(&mut self, offset: Vec3) -> Option<Vec3> {
        if is_near(offset) {
            return Some(offset);
        }
        self.count(Oddity::MovesNowhere, 1);
        None
    }

    /// Warns of everything that was found. `figures` are those of the whole file.
    pub(super) fn tell(&mut self, figures: &ImportReport, report: &mut Report) {
        for (oddity, mut vertices) in mem::take(&mut self.vertices) {
            vertices.sort_unstable();
            vertices.dedup();
            self.count(oddity, vertices.len());
        }
        for (oddity, names) in &self.meshes {
            let (what, hint) = oddity.words();
            report.warn_of("", what, names, hint);
        }
        for (&oddity, &count) in &self.counts {
            let (what, hint) = oddity.words();
            let (message, all) = match oddity {
                Oddity::FacesInward => {
                    let all = figures.triangles;
                    let face = if count == 1 { "faces" } else { "face" };
                    let triangles = counted(all, "triangle");
                    (format!("{count} of {triangles} {face} {what}"), all)
                }
                Oddity::MovesNowhere => {
                    let vertices = counted(count, "vertex");
                    (format!("morph targets move {vertices} {what}"), 0)
                }
                Oddity::NoMorphNormals => {
                    let targets = counted(count, "morph target");
                    (format!("no normals were computed for {targets}, {what}"), 0)
                }
                _ => {
                    let has = format!("{} {what}", have(count));
                    let vertices = counted(figures.vertices, "vertex");
                    (format!("{count} of {vertices} {has}"), figures.vertices)
                }
            };
            let is_common = matches!(
                oddity,
                Oddity::LongNormal | Oddity::NoTangent | Oddity::FacesInward
            );
            if count > 0 && !(is_common && count as f32 <= all as f32 * WORTH_SAYING) {
                report.warn("", message, hint);
            }
        }
    }
}

impl Oddity {
    /// The middle of the warning, and its hint.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::NoPositions => ("meshes have no positions", "they were left out"),
            Self::NoTriangles => (
                "meshes have points or lines instead of triangles",
                "they were left out",
            ),
            Self::NoNormals => (
                "meshes have no normals",
                "flat ones were computed, as the format requires",
            ),
            Self::DualQuaternions => (
                "skins use dual quaternions",
                "they are blended linearly instead",
            ),
            Self::Unbound => (
                "skins have joints without bind matrices",
                "they are bound at rest: if the skin looks wrong, export the file again with a bind pose",
            ),
            Self::Misplaced => ("no finite position", "they were put at the origin"),
            Self::Loose => (
                "no weight, though their mesh has a skin",
                "they follow the node of their mesh: weight them to a joint",
            ),
            Self::NoNormal => ("no usable normal", "smooth ones were computed"),
            Self::LongNormal => (
                "a normal that is not of unit length",
                "they were normalized",
            ),
            Self::NoTangent => ("no usable tangent", "they were computed"),
            Self::FacesInward => ("inward", "they were flipped"),
            Self::MovesNowhere => ("to no finite position", "these stay where they are"),
            Self::NoMorphNormals => (
                "too large for the size of the file",
                "their normals stay as they are",
            ),
        }
    }
}
