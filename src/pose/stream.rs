//! Writing past the caches.

use super::simd::{self, Simd};
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
    /// Matrices of the shortest palette that is streamed.
    ///
    /// A palette seldom begins and ends where a cache line does. Parts of a line are streamed so slowly that shorter palettes
    /// take up to half as long again.
    pub(super) const SHORTEST: usize = 5;
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
