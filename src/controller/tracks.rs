//! The tracks of a controller, with all that moves them: the clock, scheduled changes, and the keys they pass.
//!
//! Where a track is, how much it weighs, and what it passes next follow from what is in here. Nothing in here knows of clips
//! that follow each other, of states, or of ranges that are open: those who do call [`Tracks`], and are never called back.
//!
//! | file | decides |
//! | --- | --- |
//! | `look_up` | which clip or blend space a track plays |
//! | `plan` | how tracks move, where they are at a moment, and what they pass next |
//! | `sync` | who leads a sync group |
//! | `changes` | which scheduled changes run, and the values they give |
//! | `leaving` | how tracks fade out, and which of them leave at once |

use super::{
    AnimationName, AnimationTrack, TrackId,
    clock::{Clock, Nanos},
    key::AddedCallback,
    scheduled_change::Schedule,
    step::Reach,
    track_types::{Role, Transient},
};
use serde::{Deserialize, Serialize};
use std::ops::{Deref, DerefMut};

/// The tracks of a controller, with all that moves them. Dereferences to the tracks, in their order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Tracks {
    pub(super) list: Vec<AnimationTrack>,
    pub(super) clock: Clock,
    pub(super) changes: Schedule,
    /// Keys of this controller alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) callbacks: Vec<AddedCallback>,
    /// Names reported as unknown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) unknown: Vec<AnimationName>,
    /// The number last given to a track, a change or a callback.
    pub(super) last_id: u64,
    /// Knowledge of the ranges that tracks are in; unknown if they may have come there other than by playing.
    #[serde(skip)]
    pub(super) reach: Transient<Reach>,
    /// Sync groups and the indices of their tracks, sorted; kept for its memory.
    #[serde(skip)]
    pub(super) members: Transient<Vec<(u32, usize)>>,
    /// For each track, the index of the one that leads its sync group.
    #[serde(skip)]
    pub(super) leaders: Transient<Vec<Option<usize>>>,
}

impl Deref for Tracks {
    type Target = [AnimationTrack];

    #[inline]
    fn deref(&self) -> &[AnimationTrack] {
        &self.list
    }
}

impl DerefMut for Tracks {
    #[inline]
    fn deref_mut(&mut self) -> &mut [AnimationTrack] {
        &mut self.list
    }
}

/// # Adding and removing
impl Tracks {
    pub(super) fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    pub(super) fn index_of(&self, id: TrackId) -> Option<usize> {
        index_of(&self.list, id)
    }

    /// Returns the track with this id.
    pub(super) fn of(&self, id: TrackId) -> Option<&AnimationTrack> {
        Some(&self.list[self.index_of(id)?])
    }

    /// Returns the track with this id, mutably.
    pub(super) fn of_mut(&mut self, id: TrackId) -> Option<&mut AnimationTrack> {
        let at = self.index_of(id)?;
        Some(&mut self.list[at])
    }

    /// Adds a track on top of the others and returns its id.
    pub(super) fn add(&mut self, track: AnimationTrack) -> TrackId {
        let id = TrackId(self.next_id());
        // Most characters have one or two tracks, of hundreds of bytes each: a `Vec` would make room for four.
        if self.list.len() < 4 {
            self.list.reserve_exact(1);
        }
        // A copy of another track is a track of its own.
        let mut track = AnimationTrack {
            id,
            role: Role::User,
            leaves_at: None,
            ..track
        };
        if let Some(rare) = track.rare.get_mut() {
            (rare.overlay, rare.leads, rare.led_by) = (None, None, None);
            rare.layer = None;
        }
        track.put(track.position);
        self.list.push(track);
        self.moved();
        id
    }

    /// Removes a track and its scheduled changes.
    pub(super) fn remove(&mut self, id: TrackId) -> Option<AnimationTrack> {
        let at = self.index_of(id)?;
        self.changes.retain(|change| change.track() != Some(id));
        self.moved();
        Some(self.list.remove(at))
    }

    /// Removes tracks and their scheduled changes.
    pub(super) fn remove_where(&mut self, gone: impl Fn(&AnimationTrack) -> bool) {
        if !self.list.iter().any(&gone) {
            return;
        }
        self.moved();
        let Self { list, changes, .. } = self;
        list.retain(|track| !gone(track));
        let is_there = |id| index_of(list, id).is_some();
        changes.retain(|change| change.track().is_none_or(is_there));
    }

    /// Notes that tracks may be in other ranges than those they have come into by playing.
    pub(super) fn moved(&mut self) {
        *self.reach = Reach::Unknown;
    }

    /// Sets the clock to 0. Returns where it was.
    pub(super) fn reset_time(&mut self) -> Nanos {
        let by = self.clock.reset();
        for track in &mut self.list {
            track.anchor.shift(by);
            track.leaves_at = track.leaves_at.map(|at| at.minus(by));
            let rare = track.rare.get_mut();
            if let Some(way) = rare.and_then(|rare| rare.steering.way.as_mut()) {
                way.since = way.since.minus(by);
            }
            // All that is derived has moments in it.
            let run = &mut track.run;
            (run.course, run.source, run.planned) = (None, Default::default(), false);
        }
        self.changes.shift(by);
        by
    }
}

/// Returns the index of the track with this id. Tracks are in the order of their ids, but for those of layers of states.
#[inline]
fn index_of(tracks: &[AnimationTrack], id: TrackId) -> Option<usize> {
    const FEW: usize = 8;
    let find = || tracks.iter().position(|track| track.id == id);
    if tracks.len() <= FEW {
        return find();
    }
    let found = tracks.binary_search_by_key(&id, |track| track.id).ok();
    found.or_else(find)
}
