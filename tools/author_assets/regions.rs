//! Clean borders: cuts the mesh along the lines where parts of the surface meet.

use super::{contour::Mesh, field::Field};
use glam::DVec3;
use std::collections::{BTreeMap, HashMap};

/// A mesh in which every triangle belongs to one part.
pub struct Regions {
    pub mesh: Mesh,
    /// Part of each triangle.
    pub parts: Vec<u8>,
}

/// Within this fraction of an edge, a vertex is moved onto the border instead of cutting the edge.
const SNAP: f64 = 0.35;

impl Regions {
    /// Cuts `mesh` along the field's borders.
    pub fn cut(field: &Field, mut mesh: Mesh) -> Self {
        let part_at = |p: DVec3| field.sample(p).part;
        let mut labels: Vec<u8> = mesh.positions.iter().map(|&p| part_at(p)).collect();
        let on_border = snap(field, &mut mesh, &labels);
        for (i, label) in labels.iter_mut().enumerate() {
            if !on_border[i] {
                *label = part_at(mesh.positions[i]);
            }
        }

        let mut cuts: HashMap<(u32, u32), u32> = HashMap::new();
        let mut out = Self {
            mesh: Mesh {
                positions: mesh.positions.clone(),
                triangles: vec![],
            },
            parts: vec![],
        };
        for t in &mesh.triangles {
            let mut middle = [None; 3];
            for i in 0..3 {
                let (a, b) = (t[i].min(t[(i + 1) % 3]), t[i].max(t[(i + 1) % 3]));
                let (a_at, b_at) = (mesh.positions[a as usize], mesh.positions[b as usize]);
                let free = !on_border[a as usize] && !on_border[b as usize];
                if free && labels[a as usize] != labels[b as usize] {
                    middle[i] = Some(*cuts.entry((a, b)).or_insert_with(|| {
                        let t = crossing(field, a_at, b_at, labels[a as usize]);
                        out.mesh
                            .positions
                            .push(field.project(a_at.lerp(b_at, t), 0.01));
                        out.mesh.positions.len() as u32 - 1
                    }));
                }
            }
            for piece in divide(*t, middle) {
                let free = piece
                    .iter()
                    .find(|&&v| (v as usize) < labels.len() && !on_border[v as usize]);
                let center = piece
                    .iter()
                    .map(|&v| out.mesh.positions[v as usize])
                    .sum::<DVec3>()
                    / 3.0;
                out.parts
                    .push(free.map_or_else(|| part_at(center), |&v| labels[v as usize]));
                out.mesh.triangles.push(piece);
            }
        }
        out.absorb_specks();
        out
    }

    /// Removes the triangles of some parts.
    pub fn open(&mut self, is_open: impl Fn(u8) -> bool) {
        let mut kept = self.parts.iter().map(|&part| !is_open(part));
        self.mesh
            .triangles
            .retain(|_| kept.next().expect("each triangle has a part"));
        self.parts.retain(|&part| !is_open(part));
        // Vertices that no triangle has any more.
        let mut places = vec![None; self.mesh.positions.len()];
        let mut positions = Vec::new();
        for v in self.mesh.triangles.as_flattened_mut() {
            let place = &mut places[*v as usize];
            let new = *place.get_or_insert_with(|| {
                positions.push(self.mesh.positions[*v as usize]);
                positions.len() as u32 - 1
            });
            *v = new;
        }
        self.mesh.positions = positions;
    }

    /// Adds a surface that isn't connected to the others.
    pub fn add(&mut self, part: u8, positions: &[DVec3], triangles: &[[u32; 3]]) {
        let first = self.mesh.positions.len() as u32;
        self.mesh.positions.extend_from_slice(positions);
        let placed = triangles.iter().map(|t| t.map(|v| v + first));
        self.mesh.triangles.extend(placed);
        self.parts.resize(self.mesh.triangles.len(), part);
    }

    /// Returns the part of each vertex: that of its first triangle. 0 for one without triangles.
    pub fn part_of_vertices(&self) -> Vec<u8> {
        let mut out = vec![0; self.mesh.positions.len()];
        for (t, &part) in self.mesh.triangles.iter().zip(&self.parts).rev() {
            t.iter().for_each(|&v| out[v as usize] = part);
        }
        out
    }

    /// Merges patches of fewer than four triangles into the neighbor with the longest common border.
    fn absorb_specks(&mut self) {
        let mut by_edge: HashMap<(u32, u32), Vec<usize>> = HashMap::new();
        for (i, t) in self.mesh.triangles.iter().enumerate() {
            for k in 0..3 {
                let (a, b) = (t[k], t[(k + 1) % 3]);
                by_edge.entry((a.min(b), a.max(b))).or_default().push(i);
            }
        }
        let mut seen = vec![false; self.parts.len()];
        for start in 0..self.parts.len() {
            if seen[start] {
                continue;
            }
            let (mut patch, mut border, mut next) = (vec![start], BTreeMap::<u8, f64>::new(), 0);
            seen[start] = true;
            while next < patch.len() {
                let t = self.mesh.triangles[patch[next]];
                for k in 0..3 {
                    let (a, b) = (t[k], t[(k + 1) % 3]);
                    let length =
                        self.mesh.positions[a as usize].distance(self.mesh.positions[b as usize]);
                    for &other in &by_edge[&(a.min(b), a.max(b))] {
                        if self.parts[other] != self.parts[start] {
                            *border.entry(self.parts[other]).or_default() += length;
                        } else if !seen[other] {
                            seen[other] = true;
                            patch.push(other);
                        }
                    }
                }
                next += 1;
            }
            let longest = border.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
            if let Some((part, _)) = longest.filter(|_| patch.len() < 4) {
                patch.iter().for_each(|&i| self.parts[i] = part);
            }
        }
    }
}

/// Moves vertices near a border onto it; returns which vertices are on one.
fn snap(field: &Field, mesh: &mut Mesh, labels: &[u8]) -> Vec<bool> {
    let mut nearest: Vec<Option<(f64, DVec3)>> = vec![None; mesh.positions.len()];
    for (v, list) in mesh.neighbors().iter().enumerate() {
        let from = mesh.positions[v];
        for &n in list.iter().filter(|&&n| labels[n as usize] != labels[v]) {
            let to = mesh.positions[n as usize];
            let t = crossing(field, from, to, labels[v]);
            let far = t * from.distance(to);
            if t < SNAP && nearest[v].is_none_or(|(best, _)| far < best) {
                nearest[v] = Some((far, from.lerp(to, t)));
            }
        }
    }
    for (v, found) in nearest.iter().enumerate() {
        if let Some((_, p)) = found {
            mesh.positions[v] = field.project(*p, 0.01);
        }
    }
    nearest.iter().map(Option::is_some).collect()
}

/// Returns where between `a` and `b` the field leaves part `label`, in 0..=1.
fn crossing(field: &Field, a: DVec3, b: DVec3, label: u8) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..12 {
        let middle = 0.5 * (low + high);
        if field.sample(a.lerp(b, middle)).part == label {
            low = middle
        } else {
            high = middle
        }
    }
    0.5 * (low + high)
}

/// Splits a triangle, given the new vertices on its edges.
fn divide(t: [u32; 3], middle: [Option<u32>; 3]) -> Vec<[u32; 3]> {
    let turned = |k: usize| [t[k], t[(k + 1) % 3], t[(k + 2) % 3]];
    match middle {
        [None, None, None] => vec![t],
        [Some(m), Some(n), Some(o)] => vec![[t[0], m, o], [m, t[1], n], [o, n, t[2]], [m, n, o]],
        _ => {
            // Rotate so that the uncut edge (of two cuts) or the cut edge (of one) comes first.
            let cut = middle.iter().flatten().count();
            let k = (0..3)
                .find(|&k| middle[k].is_some() == (cut == 1))
                .unwrap_or(0);
            let [a, b, c] = turned(k);
            match (middle[k], middle[(k + 1) % 3], middle[(k + 2) % 3]) {
                (Some(m), _, _) => vec![[a, m, c], [m, b, c]],
                (None, Some(n), Some(o)) => vec![[a, b, n], [a, n, o], [o, n, c]],
                _ => vec![t],
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_the_triangle_once_and_keep_its_winding() {
        let p = [
            DVec3::ZERO,
            DVec3::X,
            DVec3::Y,
            DVec3::X * 0.5,
            (DVec3::X + DVec3::Y) * 0.5,
            DVec3::Y * 0.5,
        ];
        for mask in 0..8 {
            let middle = [0, 1, 2].map(|i| (mask >> i & 1 == 1).then_some(3 + i as u32));
            let areas = divide([0, 1, 2], middle).into_iter().map(|t| {
                let [a, b, c] = t.map(|i| p[i as usize]);
                (b - a).cross(c - a).z
            });
            assert!(areas.clone().all(|a| a > 0.0), "{mask}");
            assert!((areas.sum::<f64>() - 1.0).abs() < 1e-12, "{mask}");
        }
    }
}
