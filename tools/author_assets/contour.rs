//! Meshing: surface nets over an octree, which give one closed skin from cells of any size.
//!
//! Every lattice edge that the surface crosses is surrounded by up to four leaves. Connecting their vertices gives a
//! closed surface, even where leaves of different sizes meet (Ju et al., "Dual contouring of Hermite data", 2002). Of
//! edges that overlap, only the smallest counts, so nothing is connected twice.

use super::field::Field;
use glam::{DVec3, IVec3};
use std::collections::{BTreeMap, HashMap, HashSet};

/// A triangle mesh; triangles are counterclockwise seen from outside.
#[derive(Clone, Debug, Default)]
pub struct Mesh {
    pub positions: Vec<DVec3>,
    pub triangles: Vec<[u32; 3]>,
}

/// The octree's extent and resolution.
pub struct Lattice {
    /// Minimum corner of the cube around the body.
    pub low: DVec3,
    /// Size of the smallest cells, in meters.
    pub finest: f64,
    /// Levels between the smallest cells and the cube, each twice the size.
    pub levels: u32,
}

/// A leaf's level, and its corner in units of the smallest cells.
type Leaf = (u32, IVec3);

impl Mesh {
    /// Meshes the surface of `field`; `size_at` returns the desired cell size near a point, in meters.
    pub fn contour(field: &Field, lattice: &Lattice, size_at: &dyn Fn(DVec3) -> f64) -> Self {
        let at = |p: IVec3| lattice.low + p.as_dvec3() * lattice.finest;
        let leaves = leaves(field, lattice, size_at);
        let index: HashMap<Leaf, u32> = leaves
            .iter()
            .enumerate()
            .map(|(i, leaf)| (*leaf, i as u32))
            .collect();
        let locate = |p: DVec3| {
            let p = p.floor().as_ivec3();
            (0..=lattice.levels).find_map(|level| {
                let corner = IVec3::new(p.x >> level, p.y >> level, p.z >> level) * (1 << level);
                index.get(&(level, corner)).map(|i| (*i, level))
            })
        };

        let mut values: HashMap<IVec3, f64> = HashMap::new();
        let mut done: HashSet<(usize, IVec3, u32)> = HashSet::new();
        let mut crossings: Vec<(DVec3, f64)> = vec![(DVec3::ZERO, 0.0); leaves.len()];
        let mut quads: Vec<[u32; 4]> = Vec::new();
        for &(level, corner) in &leaves {
            let side = 1 << level;
            for axis in 0..3 {
                let (along, u, v) = (
                    IVec3::AXES[axis],
                    IVec3::AXES[(axis + 1) % 3],
                    IVec3::AXES[(axis + 2) % 3],
                );
                for place in 0..4 {
                    let start = corner + (u * (place & 1) + v * (place >> 1)) * side;
                    let end = start + along * side;
                    let mut value =
                        |p: IVec3| *values.entry(p).or_insert_with(|| field.distance(at(p)));
                    let (a, b) = (value(start), value(end));
                    if (a < 0.0) == (b < 0.0) || !done.insert((axis, start, level)) {
                        continue;
                    }
                    let middle =
                        start.as_dvec3() + along.as_dvec3() * (f64::from(side) * 0.5 - 0.25);
                    let around =
                        [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(du, dv)| {
                            locate(middle + u.as_dvec3() * du * 0.5 + v.as_dvec3() * dv * 0.5)
                        });
                    let around =
                        around.map(|leaf| leaf.expect("leaves cover the surface's surroundings"));
                    if around.iter().any(|leaf| leaf.1 < level) {
                        continue; // A smaller leaf has a smaller edge here.
                    }
                    let crossing = at(start).lerp(at(end), a / (a - b));
                    let mut quad = around.map(|leaf| leaf.0);
                    for (i, leaf) in quad.iter().enumerate() {
                        if !quad[..i].contains(leaf) {
                            crossings[*leaf as usize].0 += crossing;
                            crossings[*leaf as usize].1 += 1.0;
                        }
                    }
                    if a >= 0.0 {
                        quad.reverse();
                    }
                    quads.push(quad);
                }
            }
        }

        // Leaves the surface doesn't cross have no vertex.
        let mut vertex = vec![0; leaves.len()];
        let mut mesh = Self::default();
        for (i, (sum, count)) in crossings.iter().enumerate().filter(|(_, c)| c.1 > 0.0) {
            vertex[i] = mesh.positions.len() as u32;
            let side = f64::from(1 << leaves[i].0) * lattice.finest;
            mesh.positions.push(field.project(*sum / *count, side));
        }
        for quad in quads {
            mesh.push_quad(quad.map(|leaf| vertex[leaf as usize]));
        }
        mesh
    }

    /// Adds a quad, split along its shorter diagonal. Corners may coincide.
    fn push_quad(&mut self, q: [u32; 4]) {
        let far = |a: usize, b: usize| {
            self.positions[q[a] as usize].distance_squared(self.positions[q[b] as usize])
        };
        let cut = if far(0, 2) <= far(1, 3) {
            [[0, 1, 2], [0, 2, 3]]
        } else {
            [[1, 2, 3], [1, 3, 0]]
        };
        for triangle in cut.map(|t| t.map(|i| q[i])) {
            let [a, b, c] = triangle;
            if a != b && b != c && c != a {
                self.triangles.push(triangle);
            }
        }
    }

    /// Returns the neighbors of every vertex, in ascending order.
    pub fn neighbors(&self) -> Vec<Vec<u32>> {
        let mut out = vec![Vec::new(); self.positions.len()];
        for t in &self.triangles {
            for i in 0..3 {
                out[t[i] as usize].extend([t[(i + 1) % 3], t[(i + 2) % 3]]);
            }
        }
        for list in &mut out {
            list.sort_unstable();
            list.dedup();
        }
        out
    }

    /// Evens out triangles by sliding vertices along the surface.
    pub fn relax(&mut self, field: &Field, rounds: usize) {
        let neighbors = self.neighbors();
        for _ in 0..rounds {
            let before = self.positions.clone();
            for (i, list) in neighbors.iter().enumerate() {
                let mean =
                    list.iter().map(|&n| before[n as usize]).sum::<DVec3>() / list.len() as f64;
                let reach = list
                    .iter()
                    .map(|&n| before[n as usize].distance(before[i]))
                    .sum::<f64>()
                    / list.len() as f64;
                let normal = field.normal(before[i], 0.001);
                let slide = (mean - before[i]).reject_from_normalized(normal);
                self.positions[i] = field.project(before[i] + slide * 0.5, reach * 0.5);
            }
        }
    }

    /// Returns unit normals as the mean of the triangles around each vertex, by their area.
    pub fn normals(&self, positions: &[DVec3]) -> Vec<DVec3> {
        let mut out = vec![DVec3::ZERO; positions.len()];
        for t in &self.triangles {
            let [a, b, c] = t.map(|v| positions[v as usize]);
            let doubled = (b - a).cross(c - a);
            t.iter().for_each(|&v| out[v as usize] += doubled);
        }
        out.iter().map(|n| n.normalize_or(DVec3::Y)).collect()
    }

    /// Counts edges not shared by exactly two triangles in opposite directions; 0 for a closed skin.
    pub fn open_edges(&self) -> usize {
        let mut edges: BTreeMap<(u32, u32), i32> = BTreeMap::new();
        for t in &self.triangles {
            for i in 0..3 {
                let (a, b) = (t[i], t[(i + 1) % 3]);
                *edges.entry((a.min(b), a.max(b))).or_default() += if a < b { 1 } else { -1 };
            }
        }
        edges.values().filter(|&&sum| sum != 0).count()
    }
}

/// Returns the leaves near the surface, in a deterministic order.
fn leaves(field: &Field, lattice: &Lattice, size_at: &dyn Fn(DVec3) -> f64) -> Vec<Leaf> {
    let mut out = Vec::new();
    let mut stack: Vec<Leaf> = vec![(lattice.levels, IVec3::ZERO)];
    while let Some((level, corner)) = stack.pop() {
        let side = 1 << level;
        let center = lattice.low + (corner.as_dvec3() + f64::from(side) * 0.5) * lattice.finest;
        let length = f64::from(side) * lattice.finest;
        // Half the cell's diagonal plus one cell, so that all neighbors of the surface are included.
        if field.distance(center).abs() > length * 1.9 + lattice.finest * 2.0 {
            continue;
        }
        if level > 0 && length > size_at(center) * 1.01 {
            for i in (0..8).rev() {
                stack.push((
                    level - 1,
                    corner + IVec3::new(i & 1, i >> 1 & 1, i >> 2) * (side / 2),
                ));
            }
        } else {
            out.push((level, corner));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::{regions::Regions, scout};
    use super::*;

    #[test]
    fn the_skin_is_closed_across_cell_sizes_and_after_cutting() {
        let rig = scout::skeleton::rig();
        let field = scout::shape::field(&rig);
        let lattice = Lattice {
            low: DVec3::new(-1.4, -0.25, -1.4),
            finest: 0.011,
            levels: 9,
        };
        let size_at = |p: DVec3| if p.y > 1.2 { 0.011 } else { 0.044 };
        let mut mesh = Mesh::contour(&field, &lattice, &size_at);
        assert!(mesh.triangles.len() > 5_000);
        assert_eq!(mesh.open_edges(), 0);
        mesh.relax(&field, 2);
        let cut = Regions::cut(&field, mesh);
        assert_eq!(cut.mesh.open_edges(), 0);
        let volume: f64 = (cut.mesh.triangles.iter())
            .map(|t| t.map(|v| cut.mesh.positions[v as usize]))
            .map(|[a, b, c]| a.dot(b.cross(c)) / 6.0)
            .sum();
        assert!(volume > 0.05, "inside out or empty: {volume} m³");
    }
}
