//! Axis-aligned boxes.

use glam::Vec3;
use serde::Serialize;

/// A box with sides along the axes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct BoundingBox {
    /// Smallest x, y and z.
    pub min: Vec3,
    /// Largest x, y and z.
    pub max: Vec3,
}

impl BoundingBox {
    /// Returns the box of a single point.
    pub const fn point(point: Vec3) -> Self {
        Self {
            min: point,
            max: point,
        }
    }

    /// Returns the smallest box around `points`; `None` if there are none.
    pub fn enclosing(points: impl IntoIterator<Item = Vec3>) -> Option<Self> {
        points.into_iter().map(Self::point).reduce(Self::union)
    }

    /// Returns the smallest box around both.
    pub fn union(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }

    /// Returns `true` if `point` is in the box or on its surface.
    pub fn contains(&self, point: Vec3) -> bool {
        point.cmpge(self.min).all() && point.cmple(self.max).all()
    }

    /// Returns `true` if every number is finite.
    pub fn is_finite(&self) -> bool {
        self.min.is_finite() && self.max.is_finite()
    }

    /// Returns the length of the diagonal.
    pub fn diagonal(&self) -> f32 {
        self.min.distance(self.max)
    }

    /// Returns the eight corners.
    pub fn corners(&self) -> [Vec3; 8] {
        std::array::from_fn(|i| {
            let pick = |bit: usize| {
                if i >> bit & 1 == 0 {
                    self.min[bit]
                } else {
                    self.max[bit]
                }
            };
            Vec3::new(pick(0), pick(1), pick(2))
        })
    }
}
