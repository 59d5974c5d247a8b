//! Ranges, as the game sees them.

use super::{KeyRef, TrackId};
use crate::model::CallbackData;

/// A range of callback keys that a track is in. See [`AnimationController::ranges`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActiveRange<'a> {
    /// The track.
    pub track: TrackId,
    /// The name of its clip, or of the clip in its blend space.
    pub clip: &'a str,
    /// Which key it is.
    pub key: KeyRef,
    /// The range's name.
    pub name: &'a str,
    /// The range's data.
    pub data: &'a CallbackData,
    /// How far the track is from the range's start in the clip, 0, to its end, 1.
    pub progress: f64,
    /// The track's weight; of a blend space, that of the whole.
    pub weight: f32,
}
