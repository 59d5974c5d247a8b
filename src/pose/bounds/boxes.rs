//! Sums, unions and transforms of boxes.

use crate::model::BoundingBox;
use glam::{Affine3A, Vec3, Vec3A};

/// Scales a box of moves by a weight.
pub(super) fn weighted(moves: BoundingBox, weight: f32) -> BoundingBox {
    let (a, b) = (moves.min * weight, moves.max * weight);
    // A negative weight swaps the corners.
    BoundingBox {
        min: a.min(b),
        max: a.max(b),
    }
}

/// The box of sums of points in two boxes.
pub(super) fn sum(a: BoundingBox, b: BoundingBox) -> BoundingBox {
    BoundingBox {
        min: a.min + b.min,
        max: a.max + b.max,
    }
}

/// Returns the box that two overlapping boxes share, or the first one if they fail to overlap
/// because of rounding.
pub(super) fn intersection(a: BoundingBox, b: BoundingBox) -> BoundingBox {
    let both = BoundingBox {
        min: a.min.max(b.min),
        max: a.max.min(b.max),
    };
    if both.min.cmple(both.max).all() {
        both
    } else {
        a
    }
}

pub(super) fn grown(BoundingBox { min, max }: BoundingBox, margin: Vec3) -> BoundingBox {
    BoundingBox {
        min: min - margin,
        max: max + margin,
    }
}

/// A box, as it is transformed.
#[derive(Clone, Copy)]
pub(super) struct Centered {
    center: Vec3A,
    /// Half of its size.
    half: Vec3A,
}

impl Centered {
    pub(super) fn new(BoundingBox { min, max }: &BoundingBox) -> Self {
        let (min, max) = (Vec3A::from(*min), Vec3A::from(*max));
        Self {
            // Corners are halved before they are added, since a sum of large ones may overflow.
            center: min * 0.5 + max * 0.5,
            half: (max - min) * 0.5,
        }
    }

    /// Returns the smallest and the largest corner of the box around the transformed box.
    pub(super) fn transformed(&self, matrix: &Affine3A) -> [Vec3A; 2] {
        // By center and half extents, as in Arvo, "Transforming Axis-Aligned Bounding Boxes" (Graphics
        // Gems, 1990).
        let center = matrix.transform_point3a(self.center);
        let m = &matrix.matrix3;
        let half = m.x_axis.abs() * self.half.x
            + m.y_axis.abs() * self.half.y
            + m.z_axis.abs() * self.half.z;
        [center - half, center + half]
    }
}

/// Returns the box around boxes with these corners; `None` if there are none.
pub(super) fn union(boxes: impl Iterator<Item = [Vec3A; 2]>) -> Option<BoundingBox> {
    let [min, max] = boxes.reduce(|[min, max], [low, high]| [min.min(low), max.max(high)])?;
    Some(BoundingBox {
        min: min.into(),
        max: max.into(),
    })
}

/// The distance from the origin to the farthest corner.
pub(super) fn farthest(BoundingBox { min, max }: BoundingBox) -> f64 {
    f64::from(min.abs().max(max.abs()).length())
}
