//! Vectors of borrows that keep their memory.

/// Returns an empty vector that reuses the memory of `vec`, for items of the same layout: typically
/// the same type with another lifetime.
pub(crate) fn recycle<T, U>(mut vec: Vec<T>) -> Vec<U> {
    vec.clear();
    vec.into_iter()
        .map(|_| unreachable!("it was cleared"))
        .collect()
}
