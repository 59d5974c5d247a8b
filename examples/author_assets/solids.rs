//! The words in which a body's shape is written down.

use super::{
    field::{Clip, Layer, Shape, Solid, Source},
    maths::turn,
};
use glam::{DMat3, DVec3};

/// No squash.
pub const ROUND: DVec3 = DVec3::ONE;

/// Two balls and their hull.
pub fn cone(bone: usize, a: DVec3, ra: f64, b: DVec3, rb: f64, squash: DVec3) -> Solid {
    Solid { shape: Shape::Cone { a, ra, b, rb, squash }, bone, carve: false }
}

/// An ellipsoid along the axes.
pub fn egg(bone: usize, center: DVec3, radii: DVec3) -> Solid {
    Solid { shape: Shape::Ellipsoid { center, radii, axes: DMat3::IDENTITY }, bone, carve: false }
}

/// A box with round edges.
pub fn block(bone: usize, center: DVec3, half: DVec3, round: f64) -> Solid {
    Solid { shape: Shape::Block { center, half, round, axes: DMat3::IDENTITY }, bone, carve: false }
}

/// The same, turned about its centre.
pub fn tilted(mut solid: Solid, axis: DVec3, degrees: f64) -> Solid {
    if let Shape::Ellipsoid { axes, .. } | Shape::Block { axes, .. } = &mut solid.shape {
        *axes = DMat3::from_quat(turn(axis, degrees));
    }
    solid
}

/// The same, cut out instead of added.
pub fn carved(solid: Solid) -> Solid {
    Solid { carve: true, ..solid }
}

/// Keeps what lies between two heights along `axis`.
pub fn between(axis: DVec3, low: f64, high: f64) -> Vec<Clip> {
    vec![Clip { normal: axis, offset: high }, Clip { normal: -axis, offset: -low }]
}

/// A layer of solids that melt together over `blend`, laid on with a seam.
pub fn solids(part: u8, blend: f64, seam: f64, solids: Vec<Solid>) -> Layer {
    Layer { part, source: Source::Solids(solids), blend, seam, clips: vec![] }
}

/// An earlier layer made thicker within `clips`.
pub fn shell(part: u8, of: usize, thickness: f64, clips: Vec<Clip>) -> Layer {
    Layer { part, source: Source::Shell { of, thickness }, blend: 0.01, seam: 0.004, clips }
}
