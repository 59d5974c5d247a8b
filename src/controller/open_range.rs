//! Ranges of callback keys that have begun and not ended yet.

use super::{AnimationName, KeyRef, TrackId, track_types::Known};
use crate::model::CallbackData;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A range that has begun.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OpenRange {
    pub(crate) track: TrackId,
    pub(crate) key: KeyRef,
    /// Name of the clip or blend space that the track plays.
    pub(crate) clip: AnimationName,
    /// The clip of the blend space that has the range, if it is one's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) member: Option<InSpace>,
    /// The clip's index when it was last seen.
    pub(crate) index: usize,
    pub(crate) name: AnimationName,
    pub(crate) data: CallbackData,
    pub(crate) time: f64,
    pub(crate) until: f64,
    /// `true` if it began without a report: below the threshold of weights, or beyond a limit.
    pub(crate) silent: bool,
}

/// A clip of a blend space that has a range, and where it was when it was last seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct InSpace {
    pub(crate) clip: AnimationName,
    pub(crate) known: Known,
    /// Unwrapped.
    pub(crate) position: f64,
}

impl OpenRange {
    /// The name of the clip that has it; of a blend space, if it was added to that.
    pub(crate) fn clip(&self) -> &AnimationName {
        self.member
            .as_ref()
            .map_or(&self.clip, |member| &member.clip)
    }

    pub(crate) fn is(&self, track: TrackId, member: Option<&Arc<str>>, key: KeyRef) -> bool {
        self.track == track && self.key == key && self.is_of(member)
    }

    fn is_of(&self, member: Option<&Arc<str>>) -> bool {
        match (&self.member, member) {
            (Some(ours), Some(other)) => ours.clip.is(other),
            (ours, other) => ours.is_none() && other.is_none(),
        }
    }
}
