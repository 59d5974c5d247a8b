//! The keys that a track's marks are compiled from.

use super::Clips;
use crate::model::{BoundBlendSpace, CallbackKeys, Member};
use std::sync::Arc;

/// The keys that a track's marks are compiled from. As long as they are the same, so are the marks.
#[derive(Clone, Debug, Default)]
pub(super) enum Source {
    /// None yet, or something has changed.
    #[default]
    Unknown,
    Clip(CallbackKeys),
    Space(Box<(Arc<[Member]>, Vec<CallbackKeys>)>),
}

impl Source {
    /// Returns `true` if a track's clip still has the keys that its marks are compiled from.
    #[inline]
    pub(super) fn is_clip(&self, keys: &CallbackKeys) -> bool {
        matches!(self, Self::Clip(ours) if ours.is_same(keys))
    }

    /// Returns `true` if the clips of a track's blend space still have the keys that its marks are compiled from.
    pub(super) fn is_space<C: Clips + ?Sized>(&self, space: &BoundBlendSpace, clips: &C) -> bool {
        let Self::Space(source) = self else {
            return false;
        };
        let (members, keys) = &**source;
        Arc::ptr_eq(members, space.members())
            && members.iter().zip(keys).all(|(member, keys)| {
                let timing = clips.timing(member.clip);
                timing.is_some_and(|timing| timing.callbacks.is_same(keys))
            })
    }

    pub(super) fn of_space(space: &BoundBlendSpace, clips: &dyn Clips) -> Self {
        let keys = |member: &Member| {
            let timing = clips.timing(member.clip);
            timing.map_or_else(CallbackKeys::default, |timing| timing.callbacks.clone())
        };
        let members = space.members();
        Self::Space(Box::new((
            members.clone(),
            members.iter().map(keys).collect(),
        )))
    }
}
