//! Walks up a hierarchy that end even in a ring.

use bevy::prelude::*;
use std::iter;

/// An entity and everything above it, bottom up.
///
/// Nothing stops an app from making two entities each other's parent. In a ring the walk ends after a few
/// rounds (Brent's algorithm).
pub(super) fn upward(
    start: Entity,
    parent_of: impl Fn(Entity) -> Option<Entity>,
) -> impl Iterator<Item = Entity> {
    let (mut mark, mut steps, mut limit) = (start, 0_u32, 1_u32);
    iter::successors(Some(start), move |&entity| {
        let above = parent_of(entity).filter(|&above| above != mark)?;
        steps += 1;
        if steps == limit {
            (mark, steps, limit) = (above, 0, limit.saturating_mul(2));
        }
        Some(above)
    })
}

#[cfg(test)]
#[path = "tests/hierarchy.rs"]
mod tests;
