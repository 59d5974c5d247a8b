//! Corner tables: which corners meet in a vertex, and which face each other across an edge.
//!
//! Corners 3i to 3i + 2 are those of triangle i. The edge of a corner is the one between the other two of its triangle.

use super::{Result, entropy::Flags};

/// A corner, a vertex or a value that isn't there.
pub(super) const NONE: u32 = u32::MAX;

pub(super) fn next(corner: u32) -> u32 {
    match corner {
        NONE => NONE,
        _ if corner % 3 == 2 => corner - 2,
        _ => corner + 1,
    }
}

pub(super) fn previous(corner: u32) -> u32 {
    match corner {
        NONE => NONE,
        _ if corner.is_multiple_of(3) => corner + 2,
        _ => corner - 1,
    }
}

pub(super) fn get(list: &[u32], at: u32) -> u32 {
    list.get(at as usize).copied().unwrap_or(NONE)
}

/// The triangles of a mesh.
pub(super) struct Corners {
    /// The vertex of each corner.
    pub(super) vertex: Vec<u32>,
    /// The corner across the edge of each corner.
    pub(super) opposite: Vec<u32>,
    /// A corner of each vertex: the leftmost if the vertex is on a boundary.
    pub(super) of_vertex: Vec<u32>,
}

/// Vertices of an attribute, which has several values at vertices on its seams.
pub(super) struct Seams {
    is_seam: Vec<bool>,
    on_seam: Vec<bool>,
    vertex: Vec<u32>,
    of_vertex: Vec<u32>,
}

/// Either all vertices of a mesh, or those of an attribute.
#[derive(Clone, Copy)]
pub(super) struct Table<'a> {
    pub(super) corners: &'a Corners,
    pub(super) seams: Option<&'a Seams>,
}

impl Table<'_> {
    pub(super) fn vertices(&self) -> usize {
        self.of_vertex_list().len()
    }

    fn of_vertex_list(&self) -> &[u32] {
        self.seams
            .map_or(&self.corners.of_vertex, |seams| &seams.of_vertex)
    }

    pub(super) fn vertex(&self, corner: u32) -> u32 {
        get(
            self.seams
                .map_or(&self.corners.vertex, |seams| &seams.vertex),
            corner,
        )
    }

    pub(super) fn opposite(&self, corner: u32) -> u32 {
        match self.seams {
            Some(seams)
                if seams
                    .is_seam
                    .get(corner as usize)
                    .is_none_or(|is_seam| *is_seam) =>
            {
                NONE
            }
            _ => get(&self.corners.opposite, corner),
        }
    }

    pub(super) fn swing_left(&self, corner: u32) -> u32 {
        next(self.opposite(next(corner)))
    }

    pub(super) fn swing_right(&self, corner: u32) -> u32 {
        previous(self.opposite(previous(corner)))
    }

    pub(super) fn is_on_boundary(&self, vertex: u32) -> bool {
        let corner = get(self.of_vertex_list(), vertex);
        match self.seams {
            None => self.swing_left(corner) == NONE,
            Some(seams) => seams.is_on_seam(self.corners, corner),
        }
    }
}

impl Corners {
    pub(super) fn triangles(&self) -> usize {
        self.vertex.len() / 3
    }

    pub(super) fn table(&self) -> Table<'_> {
        Table {
            corners: self,
            seams: None,
        }
    }
}

impl Seams {
    /// Reads which edges are seams of each attribute.
    pub(super) fn read(corners: &Corners, flags: &mut [Flags]) -> Result<Vec<Self>> {
        let empty = || Self {
            is_seam: vec![false; corners.vertex.len()],
            on_seam: vec![false; corners.of_vertex.len()],
            vertex: vec![NONE; corners.vertex.len()],
            of_vertex: Vec::new(),
        };
        let mut all: Vec<Self> = flags.iter().map(|_| empty()).collect();
        for corner in 0..corners.vertex.len() as u32 {
            let opposite = get(&corners.opposite, corner);
            if opposite == NONE {
                // A boundary is a seam of every attribute, so it takes no flag.
                all.iter_mut().for_each(|seams| seams.add(corners, corner));
            } else if opposite / 3 >= corner / 3 {
                // Each edge has one flag, which comes with the first of its two triangles.
                for (seams, flags) in all.iter_mut().zip(&mut *flags) {
                    if flags.next() {
                        seams.add(corners, corner);
                        seams.add(corners, opposite);
                    }
                }
            }
        }
        for seams in &mut all {
            seams.number_vertices(corners)?;
        }
        Ok(all)
    }

    fn add(&mut self, corners: &Corners, corner: u32) {
        self.is_seam[corner as usize] = true;
        for corner in [next(corner), previous(corner)] {
            let vertex = get(&corners.vertex, corner);
            if let Some(on_seam) = self.on_seam.get_mut(vertex as usize) {
                *on_seam = true;
            }
        }
    }

    /// Returns `true` if a seam ends at the vertex of a corner.
    pub(super) fn is_on_seam(&self, corners: &Corners, corner: u32) -> bool {
        let vertex = get(&corners.vertex, corner);
        self.on_seam
            .get(vertex as usize)
            .is_none_or(|on_seam| *on_seam)
    }

    pub(super) fn vertex(&self, corner: u32) -> u32 {
        get(&self.vertex, corner)
    }

    /// Splits each vertex of the mesh into one for each part that seams divide it into.
    fn number_vertices(&mut self, corners: &Corners) -> Result<()> {
        let mut steps = Steps::of(corners);
        for (&corner, &on_seam) in corners.of_vertex.iter().zip(&self.on_seam) {
            if corner == NONE {
                continue;
            }
            let mut first = corner;
            if on_seam {
                let mut left = first;
                loop {
                    // A seam ends the walk like a boundary.
                    let edge = next(left);
                    let is_seam = self
                        .is_seam
                        .get(edge as usize)
                        .is_none_or(|is_seam| *is_seam);
                    left = if is_seam {
                        NONE
                    } else {
                        next(get(&corners.opposite, edge))
                    };
                    if left == NONE {
                        break;
                    }
                    if left == corner {
                        return Err(super::DAMAGED);
                    }
                    first = left;
                    steps.take()?;
                }
            }
            let mut at = first;
            loop {
                // Each seam that is crossed begins another value.
                if at == first || self.is_seam[next(at) as usize] {
                    self.of_vertex.push(at);
                }
                self.vertex[at as usize] = self.of_vertex.len() as u32 - 1;
                at = corners.table().swing_right(at);
                if at == NONE || at == first {
                    break;
                }
                steps.take()?;
            }
        }
        Ok(())
    }
}

/// The steps that an algorithm may still take. In sound meshes, each corner is reached a few times at most.
pub(super) struct Steps(usize);

impl Steps {
    pub(super) fn of(corners: &Corners) -> Self {
        Self(corners.vertex.len() * 16 + 1024)
    }

    pub(super) fn take(&mut self) -> Result<()> {
        self.0 = self.0.checked_sub(1).ok_or(super::DAMAGED)?;
        Ok(())
    }
}

/// Gives each corner a point: corners of a vertex at which all attributes have the same values share one. Returns the number of
/// points, and the point of each corner.
pub(super) fn points(
    corners: &Corners,
    is_inside: &[bool],
    all: &[Seams],
) -> Result<(usize, Vec<u32>)> {
    let table = corners.table();
    let mut steps = Steps::of(corners);
    let (mut count, mut points) = (0, vec![NONE; corners.vertex.len()]);
    let differ = |a: u32, b: u32| all.iter().any(|seams| seams.vertex(a) != seams.vertex(b));
    for (&corner, &is_inside) in corners.of_vertex.iter().zip(is_inside) {
        if corner == NONE {
            continue;
        }
        let mut first = corner;
        if is_inside {
            // Inside the mesh, no corner is the leftmost. Starting behind a seam, if there is one,
            // keeps the walk from splitting a point in two.
            'found: for seams in all {
                if !seams.is_on_seam(corners, corner) {
                    continue;
                }
                let mut at = table.swing_right(corner);
                while at != corner {
                    if at == NONE {
                        return Err(super::DAMAGED);
                    }
                    if seams.vertex(at) != seams.vertex(corner) {
                        first = at;
                        break 'found;
                    }
                    at = table.swing_right(at);
                    steps.take()?;
                }
            }
        }
        let mut at = first;
        loop {
            points[at as usize] = count;
            let before = at;
            at = table.swing_right(at);
            if at == NONE || at == first {
                break;
            }
            count += u32::from(differ(before, at));
            steps.take()?;
        }
        count += 1;
    }
    if points.contains(&NONE) {
        return Err(super::DAMAGED);
    }
    Ok((count as usize, points))
}
