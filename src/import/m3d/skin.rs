//! Subsets → parts: positions, normals, tangents and influences in Bevy's axes.

use super::materials;
use crate::{
    format::{
        Diagnostic,
        m3d::{M3d, M3dSubset, M3dVertex},
    },
    import::{
        ImportReport, ImportSettings,
        axes::Basis,
        finish::Finisher,
        influences::{VertexWeights, WeightReader},
        normals::repair_normals,
        winding::{self, Facing},
    },
    model::{JointIndex, Material, SkinPart, is_near},
    plural::{counted, have},
};
use glam::{Vec2, Vec3, Vec4};
use std::ops::Range;

/// Imports the parts of a file.
pub(super) struct Importer<'a> {
    pub(super) file: &'a str,
    pub(super) m3d: &'a M3d,
    pub(super) basis: &'a Basis,
    /// The directions in which the triangles face, in the file's own axes.
    pub(super) faces: Facing,
    /// The joint of each bone.
    pub(super) joint_of_bone: &'a [JointIndex],
}

/// Number of repairs, over all parts.
#[derive(Default)]
struct Repairs {
    positions: usize,
    missing_normals: usize,
    long_normals: usize,
    turned: usize,
}

/// Most triangles drawn per triangle in the file. Subsets may overlap, but they must not all draw everything.
const MAX_OVERDRAW: usize = 8;

/// Share of repairs below which there is no warning, since most files need a few.
const WORTH_SAYING: f32 = 0.01;

impl Importer<'_> {
    /// Returns the parts in the order of their subsets. Adds a material if there is none.
    pub(super) fn run(
        &self,
        settings: &ImportSettings,
        materials: &mut Vec<Material>,
        report: &mut ImportReport,
        warnings: &mut Vec<Diagnostic>,
    ) -> Vec<SkinPart> {
        let m3d = self.m3d;
        let subsets = self.subsets(warnings);
        // Subsets that share vertices would each need a copy of everything in their range.
        let keep_ranges = subsets
            .iter()
            .map(|s| u64::from(s.vertex_count))
            .sum::<u64>()
            <= m3d.vertices.len() as u64;
        let mut reader = WeightReader::default();
        let mut repairs = Repairs::default();
        let mut renumber = vec![0; m3d.vertices.len()];
        let mut finisher = Finisher::new(settings);
        for (at, subset) in subsets.iter().enumerate() {
            let triangles = &m3d.triangles[faces(subset, m3d)];
            if triangles.is_empty() {
                continue;
            }
            let material = material_of(at, subset, materials);
            let range = if keep_ranges {
                enclosing_range(subset, triangles, m3d.vertices.len())
            } else {
                None
            };
            let vertices: Vec<u32> = match range {
                Some(range) => range.collect(),
                None => used_vertices(triangles),
            };
            for (new, &old) in vertices.iter().enumerate() {
                renumber[old as usize] = new as u32;
            }
            let mut part = self.part(&vertices, &mut repairs);
            part.triangles = triangles
                .iter()
                .map(|t| t.map(|v| renumber[v as usize]))
                .collect();
            part.material = material;
            // A file without materials leaves the parts nameless: number them.
            part.name = if m3d.materials.is_empty() {
                format!("subset{at}")
            } else {
                materials[material].name.clone()
            };
            self.face_outward(&mut part, &mut repairs);
            let (missing, long) =
                repair_normals(&part.positions, &part.triangles, &mut part.normals);
            repairs.missing_normals += missing;
            repairs.long_normals += long;
            settle_handedness(&mut part);

            if self.joint_of_bone.is_empty() {
                finisher.add(part);
                continue;
            }
            let mut weights = VertexWeights::default();
            for &vertex in &vertices {
                reader.push(&mut weights, self.weights(&m3d.vertices[vertex as usize]));
            }
            for piece in finisher.split(part, &weights) {
                finisher.add(piece);
            }
        }
        reader.add_to(report);
        warnings.extend(reader.warning(self.file, "skin"));
        let finished = finisher.finish(self.file, report);
        warnings.extend(finished.warning);
        repairs.tell(self.file, m3d, finished.missing_tangents, warnings);
        finished.parts
    }

    /// Returns the subsets to draw: one for everything if the file has none.
    fn subsets(&self, warnings: &mut Vec<Diagnostic>) -> Vec<M3dSubset> {
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
            warnings.push(Diagnostic::warning(self.file, message).with_hint(hint));
        } else if drawn < m3d.triangles.len() {
            let message = format!(
                "triangles of no subset are left out: {} of {}",
                m3d.triangles.len() - drawn,
                m3d.triangles.len()
            );
            warnings.push(Diagnostic::warning(self.file, message));
        }
        kept
    }

    /// Returns a part with vertices, but without triangles, influences and name.
    fn part(&self, vertices: &[u32], repairs: &mut Repairs) -> SkinPart {
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
            let position = if is_near(position) {
                position
            } else {
                repairs.positions += 1;
                Vec3::ZERO
            };
            let [x, y, z, sign] = v.tangent;
            let tex_coord = Vec2::from(v.tex_coord);
            part.positions.push(position);
            part.normals.push(self.basis.direction(v.normal.into()));
            part.tangents
                .push(self.basis.direction(Vec3::new(x, y, z)).extend(sign * w));
            part.tex_coords.push(if tex_coord.is_finite() {
                tex_coord
            } else {
                Vec2::ZERO
            });
        }
        part.source_vertices = vertices.to_vec();
        part
    }

    /// Makes triangles counter-clockwise as seen from outside.
    fn face_outward(&self, part: &mut SkinPart, repairs: &mut Repairs) {
        let Facing {
            with_normals,
            against_normals,
        } = self.faces;
        let evidence = with_normals + against_normals > 0;
        // Without evidence, assume Direct3D's convention: clockwise on the screen, in either handedness.
        if !evidence || (with_normals >= against_normals) == self.basis.mirrors() {
            winding::turn_over(&mut part.triangles);
        }
        if evidence {
            repairs.turned +=
                winding::agree_with_normals(&part.positions, &part.normals, &mut part.triangles);
        } else if winding::outwardness(&part.positions, &part.triangles) < -0.3 {
            repairs.turned += part.triangles.len();
            winding::turn_over(&mut part.triangles);
        }
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

/// Returns the material of a subset: by its ID, or else by its position, or else the last one. The parser has already
/// warned about invalid IDs.
fn material_of(at: usize, subset: &M3dSubset, materials: &mut Vec<Material>) -> usize {
    if materials.is_empty() {
        materials.push(materials::plain("plain".into()));
    }
    let id = subset.id as usize;
    if id < materials.len() {
        id
    } else {
        at.min(materials.len() - 1)
    }
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

impl Repairs {
    fn tell(&self, file: &str, m3d: &M3d, missing_tangents: usize, warnings: &mut Vec<Diagnostic>) {
        let count = m3d.vertices.len();
        let vertices = counted(count, "vertex");
        let worth = |count: usize, of: usize| count as f32 > of as f32 * WORTH_SAYING;
        let mut say = |told: bool, message: String, hint: &str| {
            if told {
                warnings.push(Diagnostic::warning(file, message).with_hint(hint));
            }
        };
        say(
            self.positions > 0,
            format!(
                "{} of {vertices} {} no finite position",
                self.positions,
                have(self.positions)
            ),
            "they were put at the origin",
        );
        say(
            self.missing_normals > 0,
            format!(
                "{} of {vertices} {} no normal",
                self.missing_normals,
                have(self.missing_normals)
            ),
            "they were computed",
        );
        say(
            worth(self.long_normals, count),
            format!(
                "{} of {vertices} {} a normal that is not of unit length",
                self.long_normals,
                have(self.long_normals)
            ),
            "they were normalized",
        );
        say(
            worth(missing_tangents, count),
            format!(
                "{missing_tangents} of {vertices} {} no usable tangent",
                have(missing_tangents)
            ),
            "they were computed",
        );
        say(
            worth(self.turned, m3d.triangles.len()),
            format!(
                "{} of {} {} inward",
                self.turned,
                counted(m3d.triangles.len(), "triangle"),
                if self.turned == 1 { "faces" } else { "face" }
            ),
            "they were flipped",
        );
    }
}

#[cfg(test)]
#[path = "tests/skin.rs"]
mod tests;
