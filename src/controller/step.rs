//! What parts of a controller hear of an advance.

use super::{Clips, KeyRef, PlaybackEvent, key::KeySpan};

/// What all parts of a controller need to know of an advance.
pub(super) struct Step<'a> {
    pub(super) clips: &'a dyn Clips,
    pub(super) out: &'a mut Vec<PlaybackEvent>,
}

/// Knowledge of the ranges that tracks are in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Reach {
    /// Tracks may have been moved.
    #[default]
    Unknown,
    /// Known, but for tracks that are right at the end of a range: they have to set off first.
    Inside,
    Known,
}

/// Something at the place that a track passes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passed {
    pub(super) what: What,
    /// The clip's index.
    pub(super) clip: usize,
    /// The clip's place among the members of a blend space.
    pub(super) member: Option<u32>,
    /// The clip's weight in the blend space.
    pub(super) share: f64,
    pub(super) key: KeyRef,
    pub(super) span: KeySpan,
    /// The place in the clip.
    pub(super) clip_time: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A plain key.
    Key,
    /// The start of a range, or its end if the track goes backward.
    Enters,
    Leaves,
    /// A range without length.
    Flashes,
    /// The start of a loop. A ping-pong clip goes there and back in each. It has no key.
    Loop,
    /// The end of a clip that plays once. It has no key.
    End,
}

impl Passed {
    /// Something that is the track's own.
    pub(super) fn of_track(what: What) -> Self {
        let span = KeySpan {
            time: 0.0,
            until: None,
        };
        Self {
            what,
            clip: 0,
            member: None,
            share: 1.0,
            key: KeyRef::Clip(usize::MAX),
            span,
            clip_time: 0.0,
        }
    }
}
