//! Subsets → parts: positions, normals, tangents and influences in Bevy's axes.

use crate::{
    format::{
        FormatError,
        m3d::{M3d, M3dSubset, M3dVertex},
    },
    import::{
        axes::Basis,
        influences::VertexWeights,
        report::Report,
        scene::{Oddity, Parts, sound_tex_coord},
        winding::{self, Facing},
    },
    model::{JointIndex, SkinPart},
};
use glam::{Vec3, Vec4};
use std::ops::Range;

/// Reads the subsets of a file.
pub(super) struct SubsetReader<'a> {
    pub(super) m3d: &'a M3d,
    pub(super) basis: &'a Basis,
    /// The directions in which the triangles face, in the file's own axes.
    pub(super) faces: Facing,
    /// The joint of each bone.
    pub(super) joint_of_bone: &'a [JointIndex],
}

/// Most triangles drawn per triangle in the file. Subsets may overlap, but they must not all draw everything.
const MAX_OVERDRAW: usize = 8;

impl SubsetReader<'_> {
    /// Adds the parts in the order of their subsets.
    pub(super) fn run(&self, parts: &mut Parts, report: &mut Report) -> Result<(), FormatError> {
        let m3d = self.m3d;
        parts.admit(report.file, m3d.vertices.len(), m3d.triangles.len())?;
        let subsets = self.subsets(report);
        // Subsets that share vertices would each need a copy of everything in their range.
        let keep_ranges = subsets
            .iter()
            .map(|s| u64::from(s.vertex_count))
            .sum::<u64>()
            <= m3d.vertices.len() as u64;
        let mut renumber = vec![0; m3d.vertices.len()];
        for (at, subset) in subsets.iter().enumerate() {
            let triangles = &m3d.triangles[faces(subset, m3d)];
            if triangles.is_empty() {
                continue;
            }
            let range = keep_ranges
                .then(|| enclosing_range(subset, triangles, m3d.vertices.len()))
                .flatten();
            let vertices: Vec<u32> =
                range.map_or_else(|| used_vertices(triangles), Iterator::collect);
            for (new, &old) in vertices.iter().enumerate() {
                renumber[old as usize] = new as u32;
            }
            let mut part = self.part(&vertices, parts);
            part.triangles = triangles
                .iter()
                .map(|t| t.map(|v| renumber[v as usize]))
                .collect();
            (part.name, part.material) = name_and_material(at, subset, m3d, parts);
            self.face_outward(&mut part, parts);
            parts.repair_normals(&mut part);
            settle_handedness(&mut part);

            if self.joint_of_bone.is_empty() {
                parts.add(part);
                continue;
            }
            let mut weights = VertexWeights::default();
            for &vertex in &vertices {
                let of_vertex = self.weights(&m3d.vertices[vertex as usize]);
                parts.reader.push(&mut weights, of_vertex);
            }
            for piece in parts.split(part, &weights) {
                parts.add(piece);
            }
        }
        parts.note_missing_tangents();
        Ok(())
    }

    /// Returns the subsets to draw: one for everything if the file has none.
    fn subsets(&self, report: &mut Report) -> Vec<M3dSubset> {
        let m3d = self.m3d;
        if m3d.subsets.is_empty() {
            return vec![M3dSubset {
                vertex_count: m3d.vertices.len() as u32,
                face_count: m3d.triangles.len() as u32,
                ..M3dSubset::default()
            }];
        }
        let mut drawn = 0;
        let limit = m3d.triangles.len().saturating_mul(MAX_OVERDRAW);
        let within = |subset: &&M3dSubset| {
            drawn += faces(subset, m3d).len();
            drawn <= limit
        };
        let kept: Vec<M3dSubset> = m3d.subsets.iter().take_while(within).cloned().collect();
        if kept.len() < m3d.subsets.len() {
            let message = format!("the subsets draw every triangle more than {MAX_OVERDRAW} times");
            let hint = format!(
                "only the first {} of {} are used",
                kept.len(),
                m3d.subsets.len()
            );
            report.warn("", message, &hint);
        } else if drawn < m3d.triangles.len() {
            let message = format!(
                "triangles of no subset are left out: {} of {}",
                m3d.triangles.len() - drawn,
                m3d.triangles.len()
            );
            report.warn("", message, "");
        }
        kept
    }

    /// Returns a part with vertices, but without triangles, influences and name.
    fn part(&self, vertices: &[u32], parts: &mut Parts) -> SkinPart {
        let count = vertices.len();
        let mut part = SkinPart {
            positions: Vec::with_capacity(count),
            normals: Vec::with_capacity(count),
            tangents: Vec::with_capacity(count),
            tex_coords: Vec::with_capacity(count),
            ..SkinPart::default()
        };
        // Bevy's bitangent points against V, unlike Direct3D's, which negates the sign. Mirroring negates it again.
        let w = if self.basis.mirrors() { 1.0 } else { -1.0 };
        for &vertex in vertices {
            let v = &self.m3d.vertices[vertex as usize];
            let position = self.basis.point(v.position.into());
            let [x, y, z, sign] = v.tangent;
            part.positions
                .push(parts.repairs.position(position, vertex));
            part.normals.push(self.basis.direction(v.normal.into()));
            part.tangents
                .push(self.basis.direction(Vec3::new(x, y, z)).extend(sign * w));
            part.tex_coords.push(sound_tex_coord(v.tex_coord.into()));
        }
        part.source_vertices = vertices.to_vec();
        part
    }

    /// Makes triangles counter-clockwise as seen from outside.
    fn face_outward(&self, part: &mut SkinPart, parts: &mut Parts) {
        let Facing {
            with_normals,
            against_normals,
        } = self.faces;
        let evidence = with_normals + against_normals > 0;
        // Without evidence, assume Direct3D's convention: clockwise on the screen, in either handedness.
        if !evidence || (with_normals >= against_normals) == self.basis.mirrors() {
            winding::turn_over(&mut part.triangles);
        }
        let turned = if evidence {
            winding::agree_with_normals(&part.positions, &part.normals, &mut part.triangles)
        } else if winding::outwardness(&part.positions, &part.triangles) < -0.3 {
            winding::turn_over(&mut part.triangles);
            part.triangles.len()
        } else {
            0
        };
        parts.repairs.count(Oddity::FacesInward, turned);
    }

    /// The bones of a vertex, of which the format has four at most.
    fn weights(&self, vertex: &M3dVertex) -> impl Iterator<Item = (JointIndex, f32)> {
        let M3dVertex {
            weights: [a, b, c, written],
            bones,
            ..
        } = *vertex;
        // Luna's shader computes the last weight as one minus the others. If the weights in the file sum to one,
        // that is the last weight up to rounding.
        let left = 1.0 - a - b - c;
        let last = if (left - written).abs() < 2e-5 {
            written
        } else {
            left
        };
        let pairs = [a, b, c, last].into_iter().zip(bones);
        pairs.map(|(weight, bone)| (self.joint_of_bone[bone as usize], weight))
    }
}

/// Returns the triangles of a subset, clamped to those that exist.
fn faces(subset: &M3dSubset, m3d: &M3d) -> Range<usize> {
    let count = m3d.triangles.len();
    let start = (subset.face_start as usize).min(count);
    start..start.saturating_add(subset.face_count as usize).min(count)
}

/// Returns the subset's own range of vertices, if its triangles use no others.
fn enclosing_range(
    subset: &M3dSubset,
    triangles: &[[u32; 3]],
    vertices: usize,
) -> Option<Range<u32>> {
    let range = subset.vertex_start..subset.vertex_start.checked_add(subset.vertex_count)?;
    (range.end as usize <= vertices && triangles.as_flattened().iter().all(|v| range.contains(v)))
        .then_some(range)
}

/// Returns the vertices that triangles use, in file order.
fn used_vertices(triangles: &[[u32; 3]]) -> Vec<u32> {
    let mut used = triangles.as_flattened().to_vec();
    used.sort_unstable();
    used.dedup();
    used
}

/// Returns the name and the material of a subset's part. The material is that of the subset's ID, or else of its position, or
/// else the last one; the parser has already warned about invalid IDs. It names the part.
fn name_and_material(
    at: usize,
    subset: &M3dSubset,
    m3d: &M3d,
    parts: &mut Parts,
) -> (String, usize) {
    if m3d.materials.is_empty() {
        return (format!("subset{at}"), parts.default_material());
    }
    let (id, last) = (subset.id as usize, m3d.materials.len() - 1);
    let material = if id <= last { id } else { at.min(last) };
    (parts.materials[material].name.clone(), material)
}

/// Converts the signs of the given tangents to Bevy's convention.
///
/// Missing signs are taken from the texture coordinates. If most signs contradict the texture coordinates,
/// the exporter used the opposite convention and all signs are negated.
fn settle_handedness(part: &mut SkinPart) {
    let orientation = |part: &SkinPart, triangle: &[u32; 3]| {
        let [a, b, c] = triangle.map(|v| part.tex_coords[v as usize]);
        // Counter-clockwise in a picture whose V points down is a negative area.
        -(b - a).perp_dot(c - a)
    };
    let (mut agree, mut oppose) = (0, 0);
    for triangle in &part.triangles {
        let sign = orientation(part, triangle) * part.tangents[triangle[0] as usize].w;
        agree += usize::from(sign > 0.0);
        oppose += usize::from(sign < 0.0);
    }
    // A few contradictions are single bad triangles. Three in four are a convention.
    if oppose > 3 * agree {
        part.tangents.iter_mut().for_each(|t| t.w = -t.w);
    }
    let unsigned = |tangent: &Vec4| tangent.w == 0.0 || tangent.w.is_nan();
    if part.tangents.iter().any(unsigned) {
        for at in 0..part.triangles.len() {
            let triangle = part.triangles[at];
            let sign = orientation(part, &triangle);
            for v in triangle.map(|v| v as usize) {
                if unsigned(&part.tangents[v]) && sign != 0.0 && sign.is_finite() {
                    part.tangents[v].w = sign.signum();
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "tests/skin.rs"]
mod tests;
