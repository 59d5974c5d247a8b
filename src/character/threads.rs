//! Work on many characters, split among threads.

use super::counts::PoseCounts;
use crate::pose::Scratch;
use bevy::{ecs::batching::BatchingStrategy, utils::Parallel};
use std::mem;

/// Batch sizes for systems that visit every character: small, because those out of view cost next
/// to nothing, but not so small that scheduling matters.
pub(super) fn batches() -> BatchingStrategy {
    BatchingStrategy::new()
        .min_batch_size(16)
        .batches_per_thread(4)
}

/// Frees memory of a list that held `used` items in this frame, if it has grown in a frame with far
/// more: when a crowd is spawned, all of it starts its clips and comes into view at once.
pub(crate) fn trim<T>(list: &mut Vec<T>, used: usize) {
    // Small lists aren't worth a reallocation.
    let used = used.max(256);
    if list.capacity() > 4 * used {
        list.shrink_to(2 * used);
    }
}

/// The working memory of one thread.
#[derive(Default)]
pub(super) struct ThreadScratch {
    pub(super) pose: Scratch,
    pub(super) counts: PoseCounts,
}

impl ThreadScratch {
    /// Moves every thread's counts into `total`.
    pub(super) fn collect_counts(threads: &mut Parallel<Self>, total: &mut PoseCounts) {
        threads
            .iter_mut()
            .for_each(|thread| total.add(mem::take(&mut thread.counts)));
    }
}
