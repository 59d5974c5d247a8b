//! An advance in progress, and what it may report.

#[cfg(feature = "bevy")]
use super::open_range::AskedRanges;
use super::{
    KeyRef, PlaybackEvent, TrackId,
    clock::Nanos,
    director::Director,
    open_range::OpenRange,
    root_motion::{KeptCell, RootSum},
    states::StateRuns,
    step::{Passed, Step},
    tracks::Tracks,
};
use crate::controller::key;
use std::mem;

/// An advance in progress: the parts of a controller, and what has happened so far.
///
/// Only an advance knows all of them. The files that implement it call each other in one direction: `happenings`, `settle`,
/// `pass`, `ranges`, `report`. See decision 061.
pub(super) struct Advance<'a> {
    pub(super) tracks: &'a mut Tracks,
    pub(super) director: &'a mut Director,
    pub(super) states: Option<&'a mut StateRuns>,
    pub(super) ranges: &'a mut Vec<OpenRange>,
    pub(super) agenda: &'a mut Agenda,
    pub(super) priority_blend: &'a mut f32,
    pub(super) callback_limit: usize,
    pub(super) callback_threshold: f32,
    pub(super) step: Step<'a>,
    pub(super) end: Nanos,
    /// `true` if no time passes.
    pub(super) still: bool,
    /// Callbacks fired so far.
    pub(super) fired: usize,
    /// Clips and states that have followed others so far.
    pub(super) changes: usize,
    /// The moment of the last one, and their number then.
    pub(super) changes_at: (Nanos, usize),
    /// The track that has just arrived, and the consequence.
    pub(super) arrived: Option<(TrackId, Follows)>,
    pub(super) root: Option<&'a mut RootSum>,
}

/// The next happening, derived from the state, and memory that advances share.
#[derive(Clone, Debug, Default)]
pub(super) struct Agenda {
    /// Moment of the next happening; `None` if something was changed since it was worked out.
    pub(super) next: Option<Nanos>,
    /// Root motion near the last moment.
    pub(super) root: KeptCell,
    /// Things passed at one place.
    pub(super) passed: Vec<Passed>,
    /// For each interval of a track's ranges, whether it has begun.
    pub(super) begun: Vec<bool>,
    /// Ranges that the game has asked for in vain.
    #[cfg(feature = "bevy")]
    pub(super) asked: AskedRanges,
    /// The number of these that were looked at.
    #[cfg(feature = "bevy")]
    pub(super) asked_seen: usize,
    /// See [`AnimationController::work_done`](super::AnimationController::work_done).
    pub(super) work: u64,
    /// The work at which an advance ends early; `None` for never.
    pub(super) most_work: Option<u64>,
}

impl Agenda {
    /// The work that may still be done.
    pub(super) fn work_left(&self) -> u64 {
        let most = self.most_work.unwrap_or(u64::MAX);
        most.saturating_sub(self.work)
    }

    pub(super) fn count_work(&mut self, work: u64) {
        self.work = self.work.saturating_add(work);
    }
}

/// The consequence when a track arrives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Follows {
    /// The next clip of the queue, or the fallback.
    Clip,
    /// The track, an overlay, fades out.
    FadeOut,
}

impl Advance<'_> {
    /// Counts a callback. Returns `false` if it is not heard of: below the threshold, beyond the limit, or at a passing of an
    /// added key that doesn't count.
    pub(super) fn may_report(&mut self, at: usize, clip: usize, weight: f32, key: KeyRef) -> bool {
        if weight < self.callback_threshold || self.tracks[at].run.muted {
            return false;
        }
        if self.fired >= self.callback_limit {
            self.flood(at, clip);
            return false;
        }
        let counts = match key {
            KeyRef::Clip(_) => true,
            KeyRef::Added(id) => {
                let at = key::index_of(&self.tracks.callbacks, id);
                at.is_some_and(|at| self.tracks.callbacks[at].count_passing())
            }
        };
        self.fired += usize::from(counts);
        counts
    }

    /// Lets the machine of a track's state know what the track passes.
    pub(super) fn note_for_states(&mut self, at: usize, passed: &Passed) {
        let (track, now) = (self.tracks[at].id, self.tracks.clock.now);
        let (callbacks, clips) = (&self.tracks.callbacks, self.step.clips);
        if let Some(states) = &mut self.states {
            states.note(track, passed, now, |key| {
                let found = key.name_and_data(passed.clip, callbacks, clips);
                found.map(|(name, _)| name)
            });
        }
    }

    /// Returns `true` if the end of a track's clip takes a machine further.
    pub(super) fn state_waits_for_end(&self, track: TrackId) -> bool {
        let states = self.states.as_ref();
        states.is_some_and(|states| states.waits_for_end(track))
    }

    /// Returns `true` if a track plays the current clip.
    pub(super) fn is_current(&self, track: TrackId) -> bool {
        self.director.current == Some(track)
    }

    /// Reports, once per track, that there is more than the limit, and lets the track pass the rest of this advance without
    /// reports.
    pub(super) fn flood(&mut self, at: usize, clip: usize) {
        let (limit, time) = (self.callback_limit, self.tracks.clock.now.secs());
        let track = &mut self.tracks[at];
        track.run.muted = true;
        if !mem::replace(&mut track.reported_flood, true) {
            self.step.out.push(PlaybackEvent::TooManyCallbacks {
                track: track.id,
                clip,
                limit,
                time,
            });
        }
        self.note_followed(at);
    }

    /// Notes whether something follows the end of the loop of a track that isn't reported.
    pub(super) fn note_followed(&mut self, at: usize) {
        let track = &self.tracks[at];
        let follows = self.director.is_followed(track) || self.state_waits_for_end(track.id);
        let run = &mut self.tracks[at].run;
        run.planned &= run.is_followed == follows;
        run.is_followed = follows;
    }
}
