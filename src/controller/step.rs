//! An advance in progress, and what is known of the next one.

use super::{
    Clips, PlaybackEvent, TrackId,
    clock::Nanos,
    marks::{Line, Mark},
    root_motion::RootSum,
};

/// The next happening, derived from the state, and memory that advances share.
#[derive(Clone, Debug, Default)]
pub(super) struct Agenda {
    /// Moment of the next happening; `None` if something was changed since it was worked out.
    pub(super) next: Option<Nanos>,
    /// Knowledge of the ranges that tracks are in; unknown if they may have come there other than by playing.
    pub(super) ranges: Reach,
    /// `true` if so much has happened in this advance that nothing follows any more.
    pub(super) stalled: bool,
    /// Things passed at one place.
    pub(super) passed: Vec<Passed>,
    /// See [`AnimationController::work_done`].
    pub(super) work: u64,
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
    pub(super) mark: Mark,
    /// The clip's index.
    pub(super) clip: usize,
    /// The clip's place among the members of a blend space.
    pub(super) member: Option<usize>,
    /// The clip's weight in the blend space.
    pub(super) share: f64,
}

impl Passed {
    /// The end of a clip that plays once.
    pub(super) const END: Self = Self {
        mark: Mark::End,
        clip: 0,
        member: None,
        share: 1.0,
    };

    /// A mark on a line, whose clip has a share of the track's weight.
    pub(super) fn new(mark: Mark, line: &Line, share: f64) -> Self {
        Self {
            mark,
            clip: line.clip,
            member: line.member.map(|(_, weighing)| weighing.member),
            share,
        }
    }
}
