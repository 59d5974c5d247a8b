//! Finds vertices at the same place.

use super::firsts::Firsts;
use glam::{DVec3, Vec3};

/// Groups of vertices at the same place.
pub(super) struct Places {
    /// Per vertex, the number of its place.
    pub(super) of_vertex: Vec<u32>,
    /// Number of places.
    pub(super) count: usize,
}

impl Places {
    /// Cells along the longest side of the mesh.
    const CELLS: f64 = (1 << 17) as f64;

    /// Groups the vertices in each cell of a fine grid. A second grid, offset by half a cell,
    /// joins most pairs that the first grid's borders separate.
    pub(super) fn new(positions: &[Vec3]) -> Self {
        let mut low = DVec3::INFINITY;
        let mut high = DVec3::NEG_INFINITY;
        for position in positions {
            low = low.min(position.as_dvec3());
            high = high.max(position.as_dvec3());
        }
        let cell = (high - low).max_element() / Self::CELLS;
        let per_cell = if cell > 0.0 { 1.0 / cell } else { 0.0 };
        let mut place: Vec<u32> = (0..positions.len() as u32).collect();
        for shift in [0.25, 0.75] {
            let cell = |position: &Vec3| {
                let cell = (position.as_dvec3() - low) * per_cell + shift;
                // At most 2^17 + 1 cells a side: three of them fit 64 bits.
                u64::from(cell.x as u32) << 42
                    | u64::from(cell.y as u32) << 21
                    | u64::from(cell.z as u32)
            };
            let cells: Vec<u64> = positions.iter().map(cell).collect();
            let mut firsts = Firsts::new(positions.len());
            for (vertex, &own) in (0..).zip(&cells) {
                let first = firsts.first([own], vertex, |other| cells[other as usize] == own);
                if first != vertex {
                    let (a, b) = (root(&mut place, first), root(&mut place, vertex));
                    place[a.max(b) as usize] = a.min(b);
                }
            }
        }
        // Roots come before those they lead, so one pass in order numbers them all.
        let mut count = 0;
        let mut number = vec![0; positions.len()];
        for vertex in 0..place.len() as u32 {
            let root = root(&mut place, vertex);
            if root == vertex {
                number[vertex as usize] = count;
                count += 1;
            } else {
                number[vertex as usize] = number[root as usize];
            }
        }
        Self {
            of_vertex: number,
            count: count as usize,
        }
    }
}

fn root(place: &mut [u32], mut vertex: u32) -> u32 {
    while place[vertex as usize] != vertex {
        // Halving the path on the way keeps every walk short.
        let above = place[place[vertex as usize] as usize];
        place[vertex as usize] = above;
        vertex = above;
    }
    vertex
}

#[cfg(test)]
#[path = "tests/weld.rs"]
mod tests;
