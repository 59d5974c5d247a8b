//! The order of an attribute's values: vertices as a walk over the triangles meets them.

use super::{
    DAMAGED, Result,
    corners::{NONE, Table, next, previous},
};

/// The order of an attribute's values.
pub(super) struct Sequence {
    /// The corner at which each value was met.
    pub(super) corners: Vec<u32>,
    /// The value of each vertex.
    pub(super) of_vertex: Vec<u32>,
}

impl Sequence {
    fn visit(&mut self, vertex: u32, corner: u32) -> Result<bool> {
        let value = self.of_vertex.get_mut(vertex as usize).ok_or(DAMAGED)?;
        let is_new = *value == NONE;
        if is_new {
            *value = self.corners.len() as u32;
            self.corners.push(corner);
        }
        Ok(is_new)
    }
}

/// A walk over all triangles.
struct Walk<'a> {
    table: Table<'a>,
    sequence: Sequence,
    done: Vec<bool>,
}

impl Walk<'_> {
    fn is_done(&self, corner: u32) -> bool {
        // There is nothing behind a boundary.
        self.done.get(corner as usize / 3).is_none_or(|done| *done)
    }

    fn sides(&self, corner: u32) -> [u32; 2] {
        [next(corner), previous(corner)].map(|corner| self.table.opposite(corner))
    }

    fn visit(&mut self, corner: u32) -> Result<bool> {
        self.sequence.visit(self.table.vertex(corner), corner)
    }

    fn mark(&mut self, corner: u32) -> Result<()> {
        *self.done.get_mut(corner as usize / 3).ok_or(DAMAGED)? = true;
        Ok(())
    }
}

fn walk(table: Table<'_>) -> Walk<'_> {
    let vertices = table.vertices();
    Walk {
        table,
        sequence: Sequence {
            corners: Vec::with_capacity(vertices),
            of_vertex: vec![NONE; vertices],
        },
        done: vec![false; table.corners.triangles()],
    }
}

/// Returns the order of Draco's depth-first traversal.
pub(super) fn depth_first(table: Table) -> Result<Sequence> {
    let mut walk = walk(table);
    let mut stack = Vec::new();
    for first in (0..table.corners.vertex.len() as u32).step_by(3) {
        if walk.is_done(first) {
            continue;
        }
        walk.visit(next(first))?;
        walk.visit(previous(first))?;
        stack.push(first);
        while let Some(&top) = stack.last() {
            if walk.is_done(top) {
                stack.pop();
                continue;
            }
            let mut corner = top;
            loop {
                walk.mark(corner)?;
                let is_new = walk.visit(corner)?;
                let [right, left] = walk.sides(corner);
                if is_new && !table.is_on_boundary(table.vertex(corner)) {
                    // Keep to the right, around the new vertex.
                    corner = right;
                    continue;
                }
                corner = match [walk.is_done(right), walk.is_done(left)] {
                    [true, true] => {
                        stack.pop();
                        break;
                    }
                    [true, false] => left,
                    [false, true] => right,
                    [false, false] => {
                        // The right side is on top of the stack, so it comes first.
                        stack.pop();
                        stack.extend([left, right]);
                        break;
                    }
                };
            }
        }
    }
    Ok(walk.sequence)
}

/// Returns the order of Draco's traversal by prediction degree: vertices that several triangles
/// predict come first.
pub(super) fn by_predictions(table: Table) -> Result<Sequence> {
    let mut walk = walk(table);
    // The triangles next to those that were visited, by how well their vertex is known: already visited, several, one.
    let mut waiting: [Vec<u32>; 3] = Default::default();
    let mut degrees = vec![0u32; table.vertices()];
    for first in (0..table.corners.vertex.len() as u32).step_by(3) {
        waiting[0].push(first);
        let mut best = 0;
        for corner in [next(first), previous(first), first] {
            walk.visit(corner)?;
        }
        while let Some((priority, mut corner)) =
            (best..3).find_map(|priority| Some((priority, waiting[priority].pop()?)))
        {
            best = priority;
            if walk.is_done(corner) {
                continue;
            }
            loop {
                walk.mark(corner)?;
                walk.visit(corner)?;
                let mut priority_of = |walk: &Walk, corner: u32| {
                    let vertex = table.vertex(corner) as usize;
                    match walk.sequence.of_vertex.get(vertex) {
                        Some(&NONE) => {
                            degrees[vertex] += 1;
                            if degrees[vertex] > 1 { 1 } else { 2 }
                        }
                        _ => 0,
                    }
                };
                let [right, left] = walk.sides(corner);
                let is_right_done = walk.is_done(right);
                if !walk.is_done(left) {
                    let priority = priority_of(&walk, left);
                    if is_right_done && priority <= best {
                        corner = left;
                        continue;
                    }
                    waiting[priority].push(left);
                    best = best.min(priority);
                }
                if !is_right_done {
                    let priority = priority_of(&walk, right);
                    if priority <= best {
                        corner = right;
                        continue;
                    }
                    waiting[priority].push(right);
                }
                break;
            }
        }
    }
    Ok(walk.sequence)
}
