//! Work on several threads.

#[cfg(feature = "bevy")]
use bevy::tasks::AsyncComputeTaskPool;

/// Returns the result of `work` for each item.
///
/// In an app, its threads for tasks that take longer than a frame help. They are there already: a thread of its own would take
/// longer to start than a clip takes to be read, and its memory would be new. Without Bevy, this thread does all of it.
pub(crate) fn in_parallel<T: Send, R: Send>(
    items: impl IntoIterator<Item = T>,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let items: Vec<T> = items.into_iter().collect();
    #[cfg(feature = "bevy")]
    if items.len() > 1
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

#[cfg(test)]
#[path = "tests/parallel.rs"]
mod tests;
