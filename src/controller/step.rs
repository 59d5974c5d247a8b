//! An advance in progress, and what is known of the next one.

use super::{
    Clips, KeyRef, PlaybackEvent, TrackId,
    clock::Nanos,
    root_motion::{KeptCell, RootSum},
};
use crate::controller::key::KeySpan;

/// The next happening, derived from the state, and memory that advances share.
#[derive(Clone, Debug, Default)]
pub(super) struct Agenda {
    /// Moment of the next happening; `None` if something was changed since it was worked out.
    pub(super) next: Option<Nanos>,
    /// Knowledge of the ranges that tracks are in; unknown if they may have come there other than by playing.
    pub(super) ranges: Reach,
    /// `true` if so much has happened in this advance that nothing follows any more.
    pub(super) stalled: bool,
    /// Root motion near the last moment.
    pub(super) root: KeptCell,
    /// Things passed at one place.
    pub(super) passed: Vec<Passed>,
    /// For each interval of a track's ranges, whether it has begun.
    pub(super) begun: Vec<bool>,
    /// See [`AnimationController::work_done`].
    pub(super) work: u64,
    /// The work at which an advance ends early; `None` for never.
    pub(super) most_work: Option<u64>,
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

/// The consequence when a track arrives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Follows {
    /// The next clip of the queue, or the fallback.
    Clip,
    /// The track, an overlay, fades out.
    FadeOut,
}

/// An advance in progress.
pub(super) struct Step<'a> {
    pub(super) clips: &'a dyn Clips,
    pub(super) end: Nanos,
    pub(super) out: &'a mut Vec<PlaybackEvent>,
    /// Callbacks fired so far.
    pub(super) fired: usize,
    /// `true` if no time passes.
    pub(super) still: bool,
    /// Clips and states that have followed others so far.
    pub(super) changes: usize,
    /// The moment of the last one, and their number then.
    pub(super) changes_at: (Nanos, usize),
    /// The track that has just arrived, and the consequence.
    pub(super) arrived: Option<(TrackId, Follows)>,
    pub(super) root: Option<&'a mut RootSum>,
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
