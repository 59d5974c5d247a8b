//! Connectivity by Edgebreaker (Rossignac, 1999): each symbol adds a triangle to an edge of those
//! that are already there.
//!
//! The encoder removed triangles from a mesh one by one; its symbols come in reverse. A stack holds
//! the edges that triangles are added to, each as the corner across from it.

use super::{
    DAMAGED, Result,
    bytes::{Bits, Reader},
    corners::{Corners, NONE, Steps, get, next, previous},
    entropy::{self, Flags},
};
use std::collections::HashMap;

/// The triangles of a mesh, and the seams of its attributes.
pub(super) struct Connectivity<'a> {
    pub(super) corners: Corners,
    /// `true` for each vertex with triangles all around it.
    pub(super) is_inside: Vec<bool>,
    /// The edges that are seams, for each attribute that has vertices of its own.
    pub(super) seams: Vec<Flags<'a>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Symbol {
    /// Closes the gap between the edge and the next one around a vertex.
    C,
    /// Joins the edges of two parts.
    S,
    /// Adds a vertex. The triangle's left edge is the next one.
    L,
    /// Adds a vertex. The triangle's right edge is the next one.
    R,
    /// Begins a part.
    E,
}

/// The source of symbols.
enum Symbols<'a> {
    /// One bit for C, and three for the others.
    Bits(Bits<'a>),
    /// By the number of edges at the vertex that comes next: a list of symbols for each number from
    /// 2 to 7, last one first.
    Valence {
        lists: [Vec<u32>; 6],
        valences: Vec<u32>,
        /// The list that the next symbol is in; `None` at the beginning.
        list: Option<usize>,
    },
}

/// An edge that is set aside until a symbol S joins it to another.
struct Split {
    /// The encoder's numbers of the symbol whose triangle has the edge, and of the S.
    source: u32,
    split: u32,
    is_right: bool,
}

/// Reads connectivity. `charge` is called with the numbers of triangles and of attributes with vertices of their own.
pub(super) fn read<'a>(
    reader: &mut Reader<'a>,
    charge: impl FnOnce(u32, u8) -> Result<()>,
) -> Result<Connectivity<'a>> {
    let kind = reader.u8()?;
    let vertices = reader.number32()?;
    let triangles = reader.number32()?;
    let attributes = reader.u8()?;
    let symbols = reader.number32()?;
    let splits = reader.number32()?;
    // First triangles may have no symbol, but then three others follow.
    if u64::from(vertices) > 3 * u64::from(triangles)
        || triangles < symbols
        || triangles - symbols > symbols / 3
        || splits > symbols
        || triangles > NONE / 3
    {
        return Err(DAMAGED);
    }
    charge(triangles, attributes)?;
    let splits_at = read_splits(reader, triangles)?;
    // Each S merges two vertices into one, so there are more of them along the way.
    let most_vertices = vertices as usize + splits as usize;

    let bits = match kind {
        0 => {
            let size = reader.number()?;
            let bits = reader.take(size)?;
            // Checked before triangles take memory: a symbol has a bit at least.
            if u64::from(symbols) > bits.len() as u64 * 8 {
                return Err(DAMAGED);
            }
            Some(bits)
        }
        2 => None,
        _ => return Err("this kind of connectivity is not read"),
    };
    // For each part: whether its first triangle has all three neighbors. It then has no symbol.
    let starts = Flags::read(reader)?;
    let mut seams = Vec::new();
    for _ in 0..attributes {
        seams.push(Flags::read(reader)?);
    }
    let source = match bits {
        Some(bits) => Symbols::Bits(Bits::new(bits)),
        None => {
            let mut lists = [const { Vec::new() }; 6];
            let mut left = triangles;
            for list in &mut lists {
                let count = reader.number32()?;
                left = left.checked_sub(count).ok_or(DAMAGED)?;
                *list = entropy::numbers(reader, count as usize, 1)?;
            }
            // The first symbol is in no list.
            if symbols > triangles - left + 1 {
                return Err(DAMAGED);
            }
            Symbols::Valence {
                lists,
                valences: vec![0; most_vertices],
                list: None,
            }
        }
    };
    let corners = triangles as usize * 3;
    let builder = Builder {
        corners: Corners {
            vertex: vec![NONE; corners],
            opposite: vec![NONE; corners],
            of_vertex: Vec::new(),
        },
        is_inside: vec![false; most_vertices],
        source,
        added: 0,
        stack: Vec::new(),
    };
    let (corners, is_inside) = builder.build(symbols, splits_at, starts)?;
    Ok(Connectivity {
        corners,
        is_inside,
        seams,
    })
}

fn read_splits(reader: &mut Reader, triangles: u32) -> Result<Vec<Split>> {
    let count = reader.number32()?;
    if count > triangles {
        return Err(DAMAGED);
    }
    let (mut splits, mut source) = (Vec::new(), 0u32);
    for _ in 0..count {
        source = source.checked_add(reader.number32()?).ok_or(DAMAGED)?;
        let split = source.checked_sub(reader.number32()?).ok_or(DAMAGED)?;
        splits.push(Split {
            source,
            split,
            is_right: false,
        });
    }
    let mut bits = Bits::new(reader.0);
    for split in &mut splits {
        split.is_right = bits.read(1)? == 1;
    }
    let bytes = bits.bytes();
    reader.take(bytes as u64)?;
    Ok(splits)
}

struct Builder<'a> {
    corners: Corners,
    is_inside: Vec<bool>,
    source: Symbols<'a>,
    /// Triangles so far.
    added: u32,
    stack: Vec<u32>,
}

impl Builder<'_> {
    fn build(
        mut self,
        symbols: u32,
        mut splits: Vec<Split>,
        mut starts: Flags,
    ) -> Result<(Corners, Vec<bool>)> {
        let mut steps = Steps::of(&self.corners);
        // The corner that each S gets from a split, by the number of the S.
        let mut given: HashMap<u32, u32> = HashMap::new();
        for number in 0..symbols {
            let symbol = self.next_symbol()?;
            match symbol {
                Symbol::C => self.close()?,
                Symbol::S => self.join(given.get(&number).copied(), &mut steps)?,
                Symbol::L | Symbol::R => self.extend(symbol == Symbol::R)?,
                Symbol::E => self.begin()?,
            }
            let active = *self.stack.last().ok_or(DAMAGED)?;
            self.source.reached(symbol, active, &self.corners);
            if matches!(symbol, Symbol::C | Symbol::S) {
                continue;
            }
            // The encoder counted symbols in the opposite order.
            let by_encoder = symbols - number - 1;
            while let Some(split) = splits.pop_if(|split| split.source >= by_encoder) {
                if split.source > by_encoder {
                    return Err(DAMAGED);
                }
                let corner = if split.is_right {
                    next(active)
                } else {
                    previous(active)
                };
                // `split` is at most `source`, which is less than `symbols`.
                given.insert(symbols - split.split - 1, corner);
            }
        }
        while let Some(corner) = self.stack.pop() {
            if starts.next() {
                self.fill(corner)?;
            }
        }
        if self.added as usize != self.corners.triangles() {
            return Err(DAMAGED);
        }
        self.is_inside.truncate(self.corners.of_vertex.len());
        Ok((self.corners, self.is_inside))
    }

    fn next_symbol(&mut self) -> Result<Symbol> {
        const BY_VALENCE: [Symbol; 5] = [Symbol::C, Symbol::S, Symbol::L, Symbol::R, Symbol::E];
        match &mut self.source {
            Symbols::Bits(bits) => Ok(match bits.read(1)? {
                0 => Symbol::C,
                _ => BY_VALENCE[bits.read(2)? as usize + 1],
            }),
            // A mesh always begins with a part.
            Symbols::Valence { list: None, .. } => Ok(Symbol::E),
            Symbols::Valence {
                lists,
                list: Some(list),
                ..
            } => {
                let symbol = lists[*list].pop().ok_or(DAMAGED)?;
                BY_VALENCE.get(symbol as usize).copied().ok_or(DAMAGED)
            }
        }
    }

    /// Adds a triangle and returns its first corner.
    fn add(&mut self, vertices: [u32; 3]) -> Result<u32> {
        let first = self.added * 3;
        let corners = self
            .corners
            .vertex
            .get_mut(first as usize..first as usize + 3);
        corners.ok_or(DAMAGED)?.copy_from_slice(&vertices);
        self.added += 1;
        Ok(first)
    }

    /// Adds a vertex at a corner, which may be of the next triangle.
    fn add_vertex(&mut self, corner: u32) -> Result<u32> {
        let vertex = self.corners.of_vertex.len();
        if vertex >= self.is_inside.len() {
            return Err(DAMAGED);
        }
        self.corners.of_vertex.push(corner);
        Ok(vertex as u32)
    }

    fn vertex(&self, corner: u32) -> u32 {
        get(&self.corners.vertex, corner)
    }

    /// The leftmost corner of a vertex.
    fn corner_of(&self, vertex: u32) -> u32 {
        get(&self.corners.of_vertex, vertex)
    }

    fn set_corner_of(&mut self, vertex: u32, corner: u32) -> Result<()> {
        *self
            .corners
            .of_vertex
            .get_mut(vertex as usize)
            .ok_or(DAMAGED)? = corner;
        Ok(())
    }

    /// Makes a corner of a new triangle and one that faces no other face each other.
    fn attach(&mut self, new: u32, to: u32) -> Result<()> {
        match self.corners.opposite.get_mut(to as usize) {
            Some(free) if *free == NONE => *free = new,
            _ => return Err(DAMAGED),
        }
        self.corners.opposite[new as usize] = to;
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        let a = *self.stack.last().ok_or(DAMAGED)?;
        let tip = self.vertex(next(a));
        // The edge on the other side of the tip.
        let b = next(self.corner_of(tip));
        let (before, after) = (self.vertex(previous(a)), self.vertex(next(b)));
        if a == b || tip == before || tip == after {
            return Err(DAMAGED);
        }
        let corner = self.add([tip, after, before])?;
        self.attach(corner + 1, a)?;
        self.attach(corner + 2, b)?;
        self.set_corner_of(before, corner + 2)?;
        *self.is_inside.get_mut(tip as usize).ok_or(DAMAGED)? = true;
        self.replace_top(corner)
    }

    fn extend(&mut self, is_right: bool) -> Result<()> {
        let a = *self.stack.last().ok_or(DAMAGED)?;
        let (right, left) = (self.vertex(previous(a)), self.vertex(next(a)));
        let first = self.added * 3;
        let (new, right_corner) = if is_right {
            (first + 2, first)
        } else {
            (first + 1, first + 2)
        };
        let tip = self.add_vertex(new)?;
        self.add(if is_right {
            [right, left, tip]
        } else {
            [left, tip, right]
        })?;
        self.attach(new, a)?;
        self.set_corner_of(right, right_corner)?;
        self.replace_top(first)
    }

    fn join(&mut self, given: Option<u32>, steps: &mut Steps) -> Result<()> {
        let b = self.stack.pop().ok_or(DAMAGED)?;
        self.stack.extend(given);
        let a = *self.stack.last().ok_or(DAMAGED)?;
        if a == b {
            return Err(DAMAGED);
        }
        let (kept, gone) = (self.vertex(previous(a)), self.vertex(next(b)));
        let (after, before) = (self.vertex(next(a)), self.vertex(previous(b)));
        let corner = self.add([kept, after, before])?;
        self.attach(corner + 2, a)?;
        self.attach(corner + 1, b)?;
        self.set_corner_of(before, corner + 2)?;
        self.source.merge(kept, gone);
        self.set_corner_of(kept, self.corner_of(gone))?;
        // All corners of the merged vertex get the vertex that is kept.
        let first = next(b);
        let mut at = first;
        while at != NONE {
            *self.corners.vertex.get_mut(at as usize).ok_or(DAMAGED)? = kept;
            at = self.corners.table().swing_left(at);
            if at == first {
                return Err(DAMAGED);
            }
            steps.take()?;
        }
        self.set_corner_of(gone, NONE)?;
        self.replace_top(corner)
    }

    fn begin(&mut self) -> Result<()> {
        let first = self.added * 3;
        let mut vertices = [0; 3];
        for (vertex, corner) in vertices.iter_mut().zip(first..) {
            *vertex = self.add_vertex(corner)?;
        }
        self.add(vertices)?;
        self.stack.push(first);
        Ok(())
    }

    /// Fills the triangle that a part began from.
    fn fill(&mut self, a: u32) -> Result<()> {
        let n = self.vertex(next(a));
        let b = next(self.corner_of(n));
        let x = self.vertex(next(b));
        let c = next(self.corner_of(x));
        let p = self.vertex(next(c));
        if a == b || a == c || b == c {
            return Err(DAMAGED);
        }
        let corner = self.add([x, p, n])?;
        self.attach(corner, a)?;
        self.attach(corner + 1, b)?;
        self.attach(corner + 2, c)?;
        for vertex in [x, p, n] {
            *self.is_inside.get_mut(vertex as usize).ok_or(DAMAGED)? = true;
        }
        Ok(())
    }

    fn replace_top(&mut self, corner: u32) -> Result<()> {
        *self.stack.last_mut().ok_or(DAMAGED)? = corner;
        Ok(())
    }
}

impl Symbols<'_> {
    /// Adds the edges of a new triangle, whose first corner is active, to the valences of its
    /// vertices.
    fn reached(&mut self, symbol: Symbol, active: u32, corners: &Corners) {
        let Self::Valence { valences, list, .. } = self else {
            return;
        };
        let more = match symbol {
            Symbol::C | Symbol::S => [0, 1, 1],
            Symbol::R => [1, 1, 2],
            Symbol::L => [1, 2, 1],
            Symbol::E => [2, 2, 2],
        };
        let mut of_next = 0;
        for (corner, more) in [active, next(active), previous(active)]
            .into_iter()
            .zip(more)
        {
            let vertex = get(&corners.vertex, corner);
            if let Some(valence) = valences.get_mut(vertex as usize) {
                *valence = valence.saturating_add(more);
                of_next = if corner == next(active) {
                    *valence
                } else {
                    of_next
                };
            }
        }
        *list = Some(of_next.clamp(2, 7) as usize - 2);
    }

    fn merge(&mut self, kept: u32, gone: u32) {
        if let Self::Valence { valences, .. } = self {
            let more = get(valences, gone);
            if let Some(valence) = valences.get_mut(kept as usize) {
                *valence = valence.saturating_add(more);
            }
        }
    }
}
