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
mod tests {
    use super::*;
    use crate::messages::assert_messages;
    use crate::{
        format::Checked,
        import::{
            Hand, ImportSettings, Imported, from_m3d, normals::smooth_normals, winding::tests::cube,
        },
    };

    /// A cube with texture coordinates on its sides, as left-handed data: the cross product of a
    /// triangle's sides points outward.
    fn cube_file() -> M3d {
        let (positions, triangles) = cube();
        let normals = smooth_normals(&positions, &triangles);
        let vertex = |(position, normal): (&Vec3, &Vec3)| M3dVertex {
            position: position.to_array(),
            normal: normal.to_array(),
            tangent: normal.any_orthonormal_vector().extend(1.0).to_array(),
            tex_coord: [position.x + 0.3 * position.y, position.z - 0.7 * position.y],
            ..M3dVertex::default()
        };
        M3d {
            vertices: positions.iter().zip(&normals).map(vertex).collect(),
            triangles,
            ..M3d::default()
        }
    }

    fn import(m3d: &M3d) -> Imported {
        let imported = from_m3d(
            "cube.m3d",
            &Checked::new(m3d.clone()).unwrap(),
            &ImportSettings::default(),
        )
        .unwrap();
        for part in &imported.model.parts {
            // Right-handed, seen from outside: what Bevy draws.
            assert_eq!(winding::outwardness(&part.positions, &part.triangles), 1.0);
            assert_eq!(
                winding::facing(&part.positions, &part.normals, &part.triangles).against_normals,
                0
            );
        }
        imported
    }

    #[test]
    fn handedness_is_detected_from_normals_and_mixed_triangles_are_flipped() {
        let left = cube_file();
        let mut right = left.clone();
        right.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        let mut mixed = right.clone();
        mixed.triangles[3].swap(1, 2);
        for (m3d, right_handed, z, warnings) in [
            (left, false, -1.0, 0),
            (right, true, 1.0, 0),
            (mixed, true, 1.0, 1),
        ] {
            let imported = import(&m3d);
            assert_eq!(
                (imported.report.right_handed, imported.warnings.len()),
                (right_handed, warnings)
            );
            assert_eq!(
                imported.model.parts[0].positions[0],
                Vec3::from(m3d.vertices[0].position) * Vec3::new(1.0, 1.0, z)
            );
        }
    }

    #[test]
    fn without_normals_the_volume_determines_the_outside() {
        for turned in [false, true] {
            for hand in [Hand::Auto, Hand::Left, Hand::Right] {
                let mut m3d = cube_file();
                m3d.vertices.iter_mut().for_each(|v| v.normal = [0.0; 3]);
                if turned {
                    m3d.triangles.iter_mut().for_each(|t| t.swap(1, 2));
                }
                let m3d = Checked::new(m3d).unwrap();
                let imported = from_m3d(
                    "f",
                    &m3d,
                    &ImportSettings {
                        hand,
                        ..ImportSettings::default()
                    },
                )
                .unwrap();
                let part = &imported.model.parts[0];
                assert_eq!(winding::outwardness(&part.positions, &part.triangles), 1.0);
                assert!(
                    part.positions
                        .iter()
                        .zip(&part.normals)
                        .all(|(p, n)| n.dot(p.normalize()) > 0.99)
                );
            }
        }
    }

    #[test]
    fn faces_beyond_a_subsets_vertices_are_used_and_those_of_no_subset_are_reported() {
        let mut m3d = cube_file();
        let subset = |id, vertex_count, face_start, face_count| M3dSubset {
            id,
            vertex_start: 0,
            vertex_count,
            face_start,
            face_count,
        };
        m3d.subsets = vec![subset(0, 2, 0, 4), subset(9, 8, 4, 7)];
        let imported = from_m3d(
            "cube.m3d",
            &Checked::new(m3d).unwrap(),
            &ImportSettings::default(),
        )
        .unwrap();
        let parts = &imported.model.parts;
        assert_eq!((parts[0].triangles.len(), parts[1].triangles.len()), (4, 7));
        assert!(parts[0].positions.len() == 8 && parts[0].source_vertices.is_sorted());
        assert_messages("m3d: a triangle of no subset", &imported.warnings);
    }

    #[test]
    fn tangent_signs_follow_the_texture_if_missing_or_inverted() {
        // Sides that all show the picture the right way round.
        let mut m3d = cube_file();
        m3d.vertices = m3d
            .triangles
            .as_flattened()
            .iter()
            .map(|&v| m3d.vertices[v as usize])
            .collect();
        for (at, triangle) in m3d.triangles.iter_mut().enumerate() {
            *triangle = [0, 1, 2].map(|corner| 3 * at as u32 + corner);
            for (&v, tex_coord) in triangle.iter().zip([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]) {
                m3d.vertices[v as usize].tex_coord = tex_coord;
            }
        }
        let signs = |w: f32| {
            let mut m3d = m3d.clone();
            m3d.vertices.iter_mut().for_each(|v| v.tangent[3] = w);
            import(&m3d).model.parts[0]
                .tangents
                .iter()
                .map(|t| t.w)
                .collect::<Vec<_>>()
        };
        // In left-handed data (b − a) × (c − a) is outward and U × V goes with it: Luna writes +1.
        assert_eq!(signs(1.0), [1.0; 36]);
        assert_eq!(signs(0.0), signs(1.0));
        assert_eq!(signs(-1.0), signs(1.0));
    }
}
