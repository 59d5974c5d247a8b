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
}

#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// A plain key, at a time in the clip.
    Key(KeyRef, f64),
    /// The start of a loop. A ping-pong clip goes there and back in each.
    Loop,
    /// An end of a range, or both.
    Range(RangePassed),
    /// The end of a clip that plays once.
    End,
}

/// A range that is entered or left.
#[derive(Clone, Copy, Debug)]
pub(super) struct RangePassed {
    pub(super) key: KeyRef,
    pub(super) span: KeySpan,
    pub(super) crossing: Crossing,
    /// The place in the clip.
    pub(super) clip_time: f64,
}

/// The way in which a track crosses one end of a range, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Crossing {
    Enters,
    Leaves,
    /// It has no length.
    Flashes,
}

impl Passed {
    /// Something that is the track's own.
    pub(super) fn of_track(what: What) -> Self {
        Self {
            what,
            clip: 0,
            member: None,
            share: 1.0,
        }
    }
}
