//! Triangles in lanes: a block of them at a time, one to a lane, so that the compiler can use the
//! machine's own lanes.
//!
//! Work on a block is best done in short loops, each over all lanes: of a long one the processor sees
//! too little of the next lanes to fill the waits for square roots and quotients.

use glam::{DVec3, Vec3};

/// Triangles worked on at a time.
pub(super) const BLOCK: usize = 32;

/// A number of each triangle.
pub(super) type Lanes<T> = [T; BLOCK];

/// A vector of each triangle, by axis.
#[derive(Clone, Copy)]
pub(super) struct Vectors<T>(pub(super) [Lanes<T>; 3]);

impl Vectors<f32> {
    pub(super) const ZERO: Self = Self([[0.0; BLOCK]; 3]);

    #[inline(always)]
    pub(super) fn get(&self, lane: usize) -> Vec3 {
        let Self([x, y, z]) = self;
        Vec3::new(x[lane], y[lane], z[lane])
    }

    #[inline(always)]
    pub(super) fn set(&mut self, lane: usize, v: Vec3) {
        let Self([x, y, z]) = self;
        (x[lane], y[lane], z[lane]) = v.into();
    }
}

impl Vectors<f64> {
    pub(super) const ZERO: Self = Self([[0.0; BLOCK]; 3]);

    #[inline(always)]
    pub(super) fn get(&self, lane: usize) -> DVec3 {
        let Self([x, y, z]) = self;
        DVec3::new(x[lane], y[lane], z[lane])
    }

    #[inline(always)]
    pub(super) fn set(&mut self, lane: usize, v: DVec3) {
        let Self([x, y, z]) = self;
        (x[lane], y[lane], z[lane]) = v.into();
    }
}

/// The vectors that `triangles`, up to a block of them, have at each of their corners. Lanes that are
/// left over keep what they held.
#[inline(always)]
pub(super) fn gather(
    corners: &mut [Vectors<f32>; 3],
    of_vertex: &[Vec3],
    triangles: impl IntoIterator<Item = [u32; 3]>,
) {
    for (lane, triangle) in triangles.into_iter().take(BLOCK).enumerate() {
        for (corner, vertex) in corners.iter_mut().zip(triangle) {
            corner.set(lane, of_vertex[vertex as usize]);
        }
    }
}

/// The edges of triangles: from the first corner to the second, on to the third, and back to the first.
pub(super) fn edges([a, b, c]: &[Vectors<f32>; 3], [ab, bc, ca]: &mut [Vectors<f64>; 3]) {
    for lane in 0..BLOCK {
        let (a, b, c) = (a.get(lane).as_dvec3(), b.get(lane).as_dvec3(), c.get(lane).as_dvec3());
        ab.set(lane, b - a);
        bc.set(lane, c - b);
        ca.set(lane, a - c);
    }
}
