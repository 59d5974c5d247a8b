//! Prediction: values are stored as their differences from predicted ones.

use super::{
    DAMAGED, Result,
    bytes::Reader,
    corners::{NONE, Steps, Table, get, next, previous},
    entropy::Flags,
    octahedron::Octahedron,
    sequence::Sequence,
};

/// The places of an attribute's values on the mesh.
pub(super) struct Place<'a> {
    pub(super) table: Table<'a>,
    pub(super) sequence: &'a Sequence,
    /// The point of each corner.
    pub(super) points: &'a [u32],
    pub(super) positions: Option<&'a Positions>,
}

/// Positions as whole numbers, which predict other attributes.
pub(super) struct Positions {
    pub(super) values: Vec<i32>,
    pub(super) of_point: Vec<u32>,
}

/// The operation that restores a value from its prediction and its difference.
pub(super) enum Transform {
    /// Values from `min` to `max`, which wrap around.
    Wrap { min: i32, max: i32 },
    /// Unit vectors.
    Octahedron(Octahedron),
}

/// The prediction of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    /// The value before.
    Difference,
    /// The fourth corner of a parallelogram with the triangle next to it.
    Parallelogram,
    /// The mean of up to four of these.
    Parallelograms,
    /// The texture coordinates of a triangle that is as undistorted as can be.
    TexCoords,
    /// The normals of the triangles around it.
    Normal,
}

impl Transform {
    fn read(reader: &mut Reader, kind: i8) -> Result<Self> {
        if kind != 1 {
            return Octahedron::read(reader, kind == 3).map(Self::Octahedron);
        }
        let (min, max) = (reader.i32()?, reader.i32()?);
        match max.checked_sub(min) {
            Some(range) if (0..i32::MAX).contains(&range) => Ok(Self::Wrap { min, max }),
            _ => Err(DAMAGED),
        }
    }

    /// Replaces differences by values.
    fn apply(&self, expected: &[i32], values: &mut [i32]) {
        match self {
            &Self::Wrap { min, max } => {
                let range = 1i32.wrapping_add(max - min);
                for (value, expected) in values.iter_mut().zip(expected) {
                    let sum = expected.clamp(&min, &max).wrapping_add(*value);
                    *value = if sum > max {
                        sum.wrapping_sub(range)
                    } else if sum < min {
                        sum.wrapping_add(range)
                    } else {
                        sum
                    };
                }
            }
            Self::Octahedron(octahedron) => {
                if let ([s, t], &[a, b]) = (values, expected) {
                    [*s, *t] = octahedron.restore([a, b], [*s, *t]);
                }
            }
        }
    }
}

/// Turns the differences of an attribute into its values. `transform` is a number for
/// [`Transform::read`].
pub(super) fn restore(
    reader: &mut Reader,
    method: Method,
    transform: i8,
    values: &mut [i32],
    components: usize,
    place: Option<&Place>,
) -> Result<()> {
    let Some(place) = place.filter(|_| transform == 1 || method == Method::Normal) else {
        return by_difference(&Transform::read(reader, transform)?, values, components);
    };
    match method {
        Method::Difference => {
            by_difference(&Transform::read(reader, transform)?, values, components)
        }
        Method::Parallelogram => {
            let transform = Transform::read(reader, transform)?;
            place.each(&transform, values, components, |entry, values, expected| {
                let corner = place.sequence.corners[entry];
                if entry == 0 {
                    expected.fill(0);
                } else if !place.parallelogram(entry, corner, values, expected) {
                    expected.copy_from_slice(&values[(entry - 1) * components..]);
                }
                Ok(())
            })
        }
        Method::Parallelograms => place.parallelograms(reader, transform, values, components),
        Method::TexCoords if components == 2 => place.tex_coords(reader, transform, values),
        Method::Normal if components == 2 && transform != 1 => {
            place.normals(reader, transform, values)
        }
        _ => Err(DAMAGED),
    }
}

fn by_difference(transform: &Transform, values: &mut [i32], components: usize) -> Result<()> {
    let mut before = vec![0; components];
    for value in values.chunks_exact_mut(components) {
        transform.apply(&before, value);
        before.copy_from_slice(value);
    }
    Ok(())
}

impl Place<'_> {
    /// Restores values one after the other. `expect` gets the index of each value, the values
    /// before it, and the slice for its prediction.
    fn each(
        &self,
        transform: &Transform,
        values: &mut [i32],
        components: usize,
        mut expect: impl FnMut(usize, &[i32], &mut [i32]) -> Result<()>,
    ) -> Result<()> {
        let mut expected = vec![0; components];
        for entry in 0..self.sequence.corners.len() {
            let (before, rest) = values.split_at_mut(entry * components);
            expect(entry, before, &mut expected)?;
            transform.apply(&expected, &mut rest[..components]);
        }
        Ok(())
    }

    /// The value of a corner's vertex.
    fn entry(&self, corner: u32) -> usize {
        get(&self.sequence.of_vertex, self.table.vertex(corner)) as usize
    }

    /// Returns `false` if the other triangle's values are not all known. `before` are the values in front of `entry`.
    fn parallelogram(&self, entry: usize, corner: u32, before: &[i32], out: &mut [i32]) -> bool {
        let other = self.table.opposite(corner);
        if other == NONE {
            return false;
        }
        let corners = [other, next(other), previous(other)].map(|corner| self.entry(corner));
        if corners.iter().any(|&corner| corner >= entry) {
            return false;
        }
        let [opposite, next, previous] =
            corners.map(|corner| &before[corner * out.len()..][..out.len()]);
        for (at, out) in out.iter_mut().enumerate() {
            *out = next[at]
                .wrapping_add(previous[at])
                .wrapping_sub(opposite[at]);
        }
        true
    }

    fn parallelograms(
        &self,
        reader: &mut Reader,
        transform: i8,
        values: &mut [i32],
        components: usize,
    ) -> Result<()> {
        // Flags of the parallelograms that are left out, for values that have one, two, three or
        // four of them.
        let mut left_out = [const { (Vec::new(), 0) }; 4];
        for (list, _) in &mut left_out {
            let count = reader.number32()? as usize;
            if count > self.table.corners.vertex.len() {
                return Err(DAMAGED);
            }
            if count > 0 {
                let mut flags = Flags::read(reader)?;
                list.extend((0..count).map(|_| flags.next()));
            }
        }
        let transform = Transform::read(reader, transform)?;
        let mut steps = Steps::of(self.table.corners);
        let mut found = vec![0; components * 4];
        self.each(&transform, values, components, |entry, values, expected| {
            expected.fill(0);
            if entry == 0 {
                return Ok(());
            }
            // Around the vertex to the left, and from a boundary on to the right.
            let first = self.sequence.corners[entry];
            let (mut corner, mut is_left, mut count) = (first, true, 0);
            while corner != NONE {
                let out = &mut found[count * components..][..components];
                count += usize::from(self.parallelogram(entry, corner, values, out));
                if count == 4 {
                    break;
                }
                corner = if is_left {
                    self.table.swing_left(corner)
                } else {
                    self.table.swing_right(corner)
                };
                if corner == first {
                    break;
                }
                if corner == NONE && is_left {
                    is_left = false;
                    corner = self.table.swing_right(first);
                }
                steps.take()?;
            }
            let mut used = 0;
            for found in found.chunks_exact(components).take(count) {
                let (list, at) = &mut left_out[count - 1];
                let is_left_out = *list.get(*at).ok_or(DAMAGED)?;
                *at += 1;
                if !is_left_out {
                    used += 1;
                    for (sum, value) in expected.iter_mut().zip(found) {
                        *sum = sum.wrapping_add(*value);
                    }
                }
            }
            match used {
                0 => expected.copy_from_slice(&values[(entry - 1) * components..]),
                used => expected.iter_mut().for_each(|sum| *sum /= used),
            }
            Ok(())
        })
    }

    fn position(&self, corner: u32) -> Result<[i64; 3]> {
        let positions = self.positions.ok_or(DAMAGED)?;
        let at = get(&positions.of_point, get(self.points, corner)) as usize;
        let position = positions
            .values
            .get(at.wrapping_mul(3)..)
            .unwrap_or_default();
        let position: &[i32; 3] = position.first_chunk().ok_or(DAMAGED)?;
        Ok(position.map(i64::from))
    }

    fn tex_coords(&self, reader: &mut Reader, transform: i8, values: &mut [i32]) -> Result<()> {
        let count = reader.u32()? as usize;
        if count > self.sequence.corners.len() {
            return Err(DAMAGED);
        }
        let mut flags = Flags::read(reader)?;
        let mut is_left = true;
        // Each flag is set if the side is the same as before. Sides are used from the end.
        let mut sides: Vec<bool> = (0..count)
            .map(|_| {
                is_left ^= !flags.next();
                is_left
            })
            .collect();
        let transform = Transform::read(reader, transform)?;
        self.each(&transform, values, 2, |entry, values, expected| {
            let corner = self.sequence.corners[entry];
            let [after, before] = [next(corner), previous(corner)].map(|corner| self.entry(corner));
            let value = |at: usize| [values[at * 2], values[at * 2 + 1]];
            let known = match (after < entry, before < entry) {
                (true, true) => {
                    let [a, b] = [value(after), value(before)];
                    match self.on_triangle(corner, a, b, &mut sides)? {
                        Some(guess) => guess,
                        None => a,
                    }
                }
                (true, false) => value(after),
                // The encoder ignores the one it knows, too.
                _ if entry > 0 => value(entry - 1),
                _ => [0; 2],
            };
            expected.copy_from_slice(&known);
            Ok(())
        })
    }

    /// Predicts the texture coordinates of a triangle's tip from those of its other two corners, as
    /// if the texture were undistorted. `None` if these two have the same position.
    fn on_triangle(
        &self,
        corner: u32,
        after: [i32; 2],
        before: [i32; 2],
        sides: &mut Vec<bool>,
    ) -> Result<Option<[i32; 2]>> {
        if after == before {
            return Ok(Some(before));
        }
        let minus = |a: [i64; 3], b: [i64; 3]| [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
        let dot = |a: [i64; 3], b: [i64; 3]| {
            let products = std::array::from_fn::<_, 3, _>(|at| a[at].wrapping_mul(b[at]));
            products.into_iter().fold(0i64, i64::wrapping_add)
        };
        let tip = self.position(corner)?;
        let from = self.position(next(corner))?;
        let edge = minus(self.position(previous(corner))?, from);
        let squared = dot(edge, edge);
        if squared == 0 {
            return Ok(None);
        }
        let along = dot(edge, minus(tip, from));
        let [after, before] = [after, before].map(|value| value.map(i64::from));
        let across = [before[0] - after[0], before[1] - after[1]];
        // Draco's own decoder rejects numbers that could overflow, in the same way.
        let fits = |a: i64, b: i64| a.checked_mul(b).is_some();
        let largest = |values: &[i64]| values.iter().map(|value| value.abs()).max();
        if squared < 0
            || !largest(&after).is_some_and(|value| fits(value, squared))
            || !largest(&across).is_some_and(|value| fits(value, along))
            || !largest(&edge).is_some_and(|value| fits(value, along))
        {
            return Err(DAMAGED);
        }
        // The foot of the tip on the edge: in the texture, times the edge's squared length, and in space.
        let foot: [i64; 2] =
            std::array::from_fn(|at| (after[at] * squared).wrapping_add(along * across[at]));
        let foot_in_space = std::array::from_fn(|at| from[at] + along * edge[at] / squared);
        let height = minus(tip, foot_in_space);
        let height = dot(height, height) as u64;
        // The height of the tip times the length of the edge.
        let length = height.wrapping_mul(squared as u64).isqrt() as i64;
        let side = [across[1], -across[0]].map(|value| value.wrapping_mul(length));
        let is_left = sides.pop().ok_or(DAMAGED)?;
        Ok(Some(std::array::from_fn(|at| {
            let sum = if is_left {
                foot[at].wrapping_add(side[at])
            } else {
                foot[at].wrapping_sub(side[at])
            };
            (sum / squared) as i32
        })))
    }

    fn normals(&self, reader: &mut Reader, transform: i8, values: &mut [i32]) -> Result<()> {
        let transform = Transform::read(reader, transform)?;
        let mut flips = Flags::read(reader)?;
        let mut steps = Steps::of(self.table.corners);
        let Transform::Octahedron(octahedron) = &transform else {
            return Err(DAMAGED);
        };
        self.each(&transform, values, 2, |entry, _, expected| {
            let normal = self.normal(self.sequence.corners[entry], &mut steps)?;
            expected.copy_from_slice(&octahedron.of_vector(normal, flips.next()));
            Ok(())
        })
    }

    /// Returns the sum of the normals of the triangles around a vertex, weighted by area, and
    /// scaled down if it is large.
    fn normal(&self, first: u32, steps: &mut Steps) -> Result<[i32; 3]> {
        let center = self.position(first)?;
        let mut sum = [0i64; 3];
        let (mut corner, mut is_left) = (first, true);
        while corner != NONE {
            let [a, b] = [next(corner), previous(corner)].map(|corner| self.position(corner));
            let [a, b] = [a?, b?].map(|p| std::array::from_fn::<_, 3, _>(|at| p[at] - center[at]));
            for (at, sum) in sum.iter_mut().enumerate() {
                let (x, y) = ((at + 1) % 3, (at + 2) % 3);
                let cross = a[x]
                    .wrapping_mul(b[y])
                    .wrapping_sub(a[y].wrapping_mul(b[x]));
                *sum = sum.wrapping_add(cross);
            }
            if is_left {
                corner = self.table.swing_left(corner);
                if corner == NONE {
                    is_left = false;
                    corner = self.table.swing_right(first);
                } else if corner == first {
                    break;
                }
            } else {
                corner = self.table.swing_right(corner);
            }
            steps.take()?;
        }
        const MOST: u64 = 1 << 29;
        let total = sum.iter().fold(0u64, |total, value| {
            total.saturating_add(value.unsigned_abs())
        });
        let divisor = if total > MOST {
            (total / MOST) as i64
        } else {
            1
        };
        Ok(sum.map(|value| (value / divisor) as i32))
    }
}
