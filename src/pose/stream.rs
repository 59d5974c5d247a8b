//! Writing past the caches.

use super::simd::{self, Simd};
use glam::{Mat4, Vec4};
use std::marker::PhantomData;

/// Permission to write palettes past the caches, given by [`stream`].
#[derive(Debug)]
pub struct Stream<'scope, 'env: 'scope> {
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
    /// Makes this neither `Send` nor `Sync`: a fence orders only the stores of its own thread.
    thread: PhantomData<*mut ()>,
}

impl Stream<'_, '_> {
    /// Matrices of the shortest palette that is streamed wherever it begins.
    const SHORTEST: usize = 5;

    /// Returns `true` if a palette is written faster past the caches.
    ///
    /// Parts of a cache line are streamed so slowly that a short palette, of which they are most, takes half as long again.
    pub(super) fn pays_off(out: &[Mat4]) -> bool {
        out.len() >= Self::SHORTEST || columns_to_line_end(out) == 4
    }
}

/// Number of columns up to the end of a cache line, 1 to 4.
#[inline(always)]
pub(super) fn columns_to_line_end(matrices: &[Mat4]) -> usize {
    // In units of columns, of which a line holds four.
    4 - matrices.as_ptr().addr() / size_of::<Vec4>() % 4
}

/// Calls `work`, which can write palettes past the caches with [`Palette::stream`](super::Palette::stream).
///
/// An ordinary write reads the memory first, and evicts something else from the cache. Streaming
/// does neither. It pays off if a frame's palettes are too large for the cache to hold them until
/// they are read: a crowd of 10,000 characters is posed a quarter faster.
///
/// The streamed data can be read once this returns. Returning takes as long as writing dozens of
/// matrices, so call it once for many palettes. As with [`std::thread::scope`], the compiler checks
/// that nothing in `work` reads them.
///
/// ```
/// # use bevy_marionette::internals::{model::CombinedJoints, pose::{Palette, stream}};
/// # use glam::{Affine3A, Mat4};
/// # let (joints, inverse_bind, remap, combined) = ([Affine3A::IDENTITY], [Affine3A::IDENTITY], [0], CombinedJoints::new());
/// # let palette = Palette {
/// #     world: Affine3A::from_translation(glam::Vec3::ONE), model: &joints, inverse_bind: &inverse_bind, remap: &remap, combined: &combined,
/// # };
/// let mut buffer = vec![Mat4::ZERO; 1000];
/// stream(|stream| {
///     for out in buffer.chunks_mut(palette.remap.len()) {
///         palette.stream(out, stream);
///     }
/// });
/// assert_eq!(buffer[999].w_axis.x, 1.0);
/// ```
pub fn stream<'env, R>(work: impl for<'scope> FnOnce(&'scope Stream<'scope, 'env>) -> R) -> R {
    /// Issues the fence when dropped, so also if `work` panics.
    struct Fence;
    impl Drop for Fence {
        fn drop(&mut self) {
            simd::dispatch!(s => s.fence());
        }
    }
    let _fence = Fence;
    work(&Stream {
        scope: PhantomData,
        env: PhantomData,
        thread: PhantomData,
    })
}
