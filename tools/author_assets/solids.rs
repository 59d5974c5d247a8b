//! Vocabulary for describing a body's shape.

use super::{
    field::{Clip, Layer, Shape, Solid, Source},
    maths::turn,
};
use glam::{DMat3, DVec3};

/// No squash.
pub const ROUND: DVec3 = DVec3::ONE;

/// The hull of two balls.
pub fn cone(bone: usize, a: DVec3, ra: f64, b: DVec3, rb: f64, squash: DVec3) -> Solid {
    Solid {
        shape: Shape::Cone {
            a,
            ra,
            b,
            rb,
            squash,
        },
        bone,
        carve: false,
    }
}

/// An axis-aligned ellipsoid.
pub fn egg(bone: usize, center: DVec3, radii: DVec3) -> Solid {
    Solid {
        shape: Shape::Ellipsoid {
            center,
            radii,
            axes: DMat3::IDENTITY,
        },
        bone,
        carve: false,
    }
}

/// A box with rounded edges.
pub fn block(bone: usize, center: DVec3, half: DVec3, round: f64) -> Solid {
    Solid {
        shape: Shape::Block {
            center,
            half,
            round,
            axes: DMat3::IDENTITY,
        },
        bone,
        carve: false,
    }
}

/// Rotates a solid about its center.
pub fn tilted(mut solid: Solid, axis: DVec3, degrees: f64) -> Solid {
    if let Shape::Ellipsoid { axes, .. } | Shape::Block { axes, .. } = &mut solid.shape {
        *axes = DMat3::from_quat(turn(axis, degrees));
    }
    solid
}

/// Subtracts a solid instead of adding it.
pub fn carved(solid: Solid) -> Solid {
    Solid {
        carve: true,
        ..solid
    }
}

/// Clips to the space between two heights along `axis`.
pub fn between(axis: DVec3, low: f64, high: f64) -> Vec<Clip> {
    vec![
        Clip {
            normal: axis,
            offset: high,
        },
        Clip {
            normal: -axis,
            offset: -low,
        },
    ]
}

/// A layer of solids, blended over `blend`, on top of earlier layers with a seam.
pub fn solids(part: u8, blend: f64, seam: f64, solids: Vec<Solid>) -> Layer {
    Layer {
        part,
        source: Source::Solids(solids),
        blend,
        seam,
        clips: vec![],
    }
}

/// An earlier layer, thickened within `clips`.
pub fn shell(part: u8, of: usize, thickness: f64, clips: Vec<Clip>) -> Layer {
    Layer {
        part,
        source: Source::Shell { of, thickness },
        blend: 0.01,
        seam: 0.004,
        clips,
    }
}
