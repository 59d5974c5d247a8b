//! Work on several threads.

#[cfg(feature = "bevy")]
use bevy::tasks::AsyncComputeTaskPool;
use std::time::Duration;

/// Work that takes less is not shared: waking another thread takes 50 µs, and can take a millisecond in a virtual machine.
#[cfg(feature = "bevy")]
const WORTH_SHARING: Duration = Duration::from_micros(500);

/// Returns the result of `work` for each item. `estimate` is roughly how long it takes one thread to do all of it.
///
/// In an app, its threads for tasks that take longer than a frame help. They are there already: a thread of its own would take
/// longer to start than a clip takes to be read, and its memory would be new. Without Bevy, this thread does all of it.
#[cfg_attr(not(feature = "bevy"), expect(unused_variables))]
pub(crate) fn in_parallel<T: Send, R: Send>(
    items: impl IntoIterator<Item = T>,
    estimate: Duration,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let items: Vec<T> = items.into_iter().collect();
    #[cfg(feature = "bevy")]
    if items.len() > 1
        && estimate >= WORTH_SHARING
        && let Some(pool) = AsyncComputeTaskPool::try_get()
    {
        let mut results: Vec<Option<R>> = Vec::new();
        results.resize_with(items.len(), || None);
        pool.scope(|scope| {
            for (result, item) in results.iter_mut().zip(items) {
                let work = &work;
                scope.spawn(async move { *result = Some(work(item)) });
            }
        });
        let done = |result: Option<R>| result.expect("a scope waits for its tasks");
        return results.into_iter().map(done).collect();
    }
    items.into_iter().map(work).collect()
}

/// Returns how long `count` steps of some nanoseconds each take.
pub(crate) fn about(count: usize, nanoseconds: u64) -> Duration {
    Duration::from_nanos((count as u64).saturating_mul(nanoseconds))
}

#[cfg(test)]
#[path = "tests/parallel.rs"]
mod tests;
