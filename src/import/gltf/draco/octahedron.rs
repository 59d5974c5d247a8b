//! Unit vectors on an unfolded octahedron.
//!
//! The square of two coordinates from 0 to `2 · center` shows the octahedron's front as a diamond in its middle. Its back is
//! folded out over the four sides, so that points on the square's edge come twice.

use super::{DAMAGED, Result, bytes::Reader};

pub(super) struct Octahedron {
    center: i32,
    /// `true` if differences are turned by the quadrant that they are in.
    is_canonical: bool,
}

impl Octahedron {
    pub(super) fn read(reader: &mut Reader, is_canonical: bool) -> Result<Self> {
        let most = reader.u32()?;
        if is_canonical {
            // The center, which follows from it.
            reader.u32()?;
        }
        // All bits up to the highest are set.
        if most % 2 == 0 || !(2..=30).contains(&most.ilog2().saturating_add(1)) {
            return Err(DAMAGED);
        }
        Ok(Self {
            center: (1 << most.ilog2()) - 1,
            is_canonical,
        })
    }

    /// Mirrors a point, relative to the center, across the nearest side of the diamond: from the
    /// front to the back, or the other way around.
    fn fold(&self, [s, t]: [i32; 2]) -> [i32; 2] {
        let (sign_s, sign_t) = if s >= 0 && t >= 0 {
            (1, 1)
        } else if s <= 0 && t <= 0 {
            (-1, -1)
        } else {
            (if s > 0 { 1 } else { -1 }, if t > 0 { 1 } else { -1 })
        };
        let (corner_s, corner_t) = (sign_s * self.center, sign_t * self.center);
        let s = s.wrapping_mul(2).wrapping_sub(corner_s);
        let t = t.wrapping_mul(2).wrapping_sub(corner_t);
        let (s, t) = if sign_s * sign_t >= 0 {
            (t.wrapping_neg(), s.wrapping_neg())
        } else {
            (t, s)
        };
        [s.wrapping_add(corner_s) / 2, t.wrapping_add(corner_t) / 2]
    }

    /// Returns the point that differs from the expected one by `difference`.
    pub(super) fn restore(&self, expected: [i32; 2], difference: [i32; 2]) -> [i32; 2] {
        let center = self.center;
        let mut expected = expected.map(|value| value.wrapping_sub(center));
        let is_front = expected[0]
            .unsigned_abs()
            .saturating_add(expected[1].unsigned_abs())
            <= center as u32;
        // The encoder takes points to the front, and to one quadrant, where differences are most
        // alike.
        if !is_front {
            expected = self.fold(expected);
        }
        let turns = if self.is_canonical {
            quarter_turns(expected)
        } else {
            0
        };
        expected = turn(expected, turns);
        let mut point = [0, 1].map(|at| {
            let sum = expected[at].wrapping_add(difference[at]);
            // The largest and the smallest value are next to each other.
            let range = 2 * center + 1;
            if sum > center {
                sum.wrapping_sub(range)
            } else if sum < -center {
                sum.wrapping_add(range)
            } else {
                sum
            }
        });
        point = turn(point, (4 - turns) % 4);
        if !is_front {
            point = self.fold(point);
        }
        point.map(|value| value.wrapping_add(center))
    }

    /// The point of a vector of any length, or of the opposite one.
    pub(super) fn of_vector(&self, vector: [i32; 3], is_flipped: bool) -> [i32; 2] {
        let (center, most) = (self.center, self.center * 2);
        let length: i64 = vector.iter().map(|value| i64::from(*value).abs()).sum();
        let [x, y, z] = match length {
            0 => [center, 0, 0],
            _ => {
                let scale = |value: i32| (i64::from(value) * i64::from(center) / length) as i32;
                let (x, y) = (scale(vector[0]), scale(vector[1]));
                let z = center - x.abs() - y.abs();
                [x, y, if vector[2] >= 0 { z } else { -z }]
            }
        };
        let [x, y, z] = if is_flipped { [-x, -y, -z] } else { [x, y, z] };
        let (s, t) = if x >= 0 {
            (y + center, z + center)
        } else {
            (
                if y < 0 { z.abs() } else { most - z.abs() },
                if z < 0 { y.abs() } else { most - y.abs() },
            )
        };
        // Of the points that come twice, the encoder uses one.
        match (s, t) {
            (0, 0) => [most, most],
            (0, t) if t == most => [most, most],
            (s, 0) if s == most => [most, most],
            (0, t) if t > center => [0, most - t],
            (s, t) if s == most && t < center => [s, most - t],
            (s, t) if t == most && s < center => [most - s, t],
            (s, 0) if s > center => [most - s, 0],
            point => point.into(),
        }
    }
}

/// The quarter turns that take a point to the lower left.
fn quarter_turns([s, t]: [i32; 2]) -> u32 {
    match (s, t) {
        (0, 0) => 0,
        (0, 1..) => 3,
        (0, _) => 1,
        (1.., 0..) => 2,
        (1.., _) => 1,
        (..0, ..=0) => 0,
        (..0, _) => 3,
    }
}

fn turn([s, t]: [i32; 2], turns: u32) -> [i32; 2] {
    match turns {
        1 => [t, s.wrapping_neg()],
        2 => [s.wrapping_neg(), t.wrapping_neg()],
        3 => [t.wrapping_neg(), s],
        _ => [s, t],
    }
}

/// The unit vectors of points with coordinates of that many bits.
pub(super) fn unit_vector([s, t]: [i32; 2], bits: u32) -> [f32; 3] {
    // The coordinates have one value less than their bits allow, so that there is one in the
    // middle.
    let scale = 2.0 / ((1i64 << bits) - 2) as f32;
    let (y, z) = (s as f32 * scale - 1.0, t as f32 * scale - 1.0);
    let x = 1.0 - y.abs() - z.abs();
    let fold = (-x).max(0.0);
    let unfold = |value: f32| {
        if value < 0.0 {
            value + fold
        } else {
            value - fold
        }
    };
    let (y, z) = (unfold(y), unfold(z));
    let squared = x * x + y * y + z * z;
    // Too short to have a direction. Draco returns zero here, too.
    if squared < 1e-6 {
        return [0.0; 3];
    }
    let scale = 1.0 / squared.sqrt();
    [x, y, z].map(|value| value * scale)
}
