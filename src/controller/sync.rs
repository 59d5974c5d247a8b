//! Sync groups: tracks that stay at the same fraction of their lengths.
//!
//! The heaviest track leads, and the others go its way. When another one becomes heavier, it takes the lead at the
//! phase where the group is, so that nothing jumps:
//!
//! ```text
//! weight   walk ━━━━━━╲╱────── run
//!          run  ──────╱╲━━━━━━ walk
//! leads    walk        │ run
//! phase    ────────────┴────── one line; from here on it rises at the pace of `run`
//! ```
//!
//! The place where weights cross is a cut: it is known from the ramps and does not depend on frames.

use super::{
    AnimationController, TrackId,
    compensated::CompensatedF64,
    motion::{Speed, bisect, roots},
    playhead,
    timed_event::EventKind,
    track::{Known, Start},
};
use crate::model::PlaybackMode;

/// The sync group of clips that fade in phase.
const IN_PHASE: u32 = u32::MAX;

/// How a track follows the leader of its sync group.
#[derive(Clone, Copy)]
pub(crate) struct Lead {
    /// The leader's index.
    pub(crate) leader: usize,
    /// How many times longer the follower's clip is.
    pub(crate) ratio: f64,
    pub(crate) offset: f64,
}

impl Lead {
    /// The follower's position for one of the leader.
    pub(crate) fn follow(self, position: f64) -> f64 {
        position * self.ratio + self.offset
    }

    /// The leader's position for one of the follower. A single pose has no place to move to.
    pub(crate) fn lead_to(self, position: f64) -> Option<f64> {
        (self.ratio > 0.0).then(|| (position - self.offset) / self.ratio)
    }
}

/// # Who leads
impl AnimationController {
    /// Gives the lead of every group to its heaviest track.
    ///
    /// A track keeps the lead until another one is heavier; in a new group, the first is ahead of its equals. If the
    /// leader is paused, the group waits. A paused track takes no lead.
    pub(super) fn settle_leads(&mut self) {
        self.leave_phase();
        for first in 0..self.tracks.len() {
            let Some(group) = self.tracks[first].sync else {
                continue;
            };
            if !self.may_lead(first, group) || (0..first).any(|other| self.may_lead(other, group)) {
                continue;
            }
            let before = self.leader(group).unwrap_or(first);
            let mut leader = before;
            for at in first..self.tracks.len() {
                let takes_part = self.may_lead(at, group) && !self.tracks[at].paused;
                if takes_part && self.weight_at(at, self.time) > self.weight_at(leader, self.time) {
                    leader = at;
                }
            }
            if leader != before {
                self.take_lead(leader, before);
            }
            self.tracks
                .iter_mut()
                .filter(|track| track.sync == Some(group))
                .for_each(|track| track.leads = None);
            self.tracks[leader].leads = Some(group);
        }
    }

    /// Puts a track at the phase of the leader before it.
    fn take_lead(&mut self, at: usize, before: usize) {
        let position = self
            .lead_of(at, before)
            .follow(self.tracks[before].held().value());
        let track = &mut self.tracks[at];
        track.align(position);
        // A clip that plays once has waited at its end, and the phase has gone on.
        let waited = position - track.held().value();
        track.phase += if waited.is_finite() { waited } else { 0.0 };
    }

    /// Returns the first moment until `until` at which a track becomes heavier than the leader of its group.
    pub(super) fn next_lead_change(&self, until: CompensatedF64) -> Option<CompensatedF64> {
        let mut first = None;
        for leader in 0..self.tracks.len() {
            let Some(group) = self.tracks[leader]
                .sync
                .filter(|group| self.leader(*group) == Some(leader))
            else {
                continue;
            };
            for at in 0..self.tracks.len() {
                if at != leader && self.may_lead(at, group) && !self.tracks[at].paused {
                    let until = first.unwrap_or(until);
                    first = self.overtakes(at, leader, until).or(first);
                }
            }
        }
        first
    }

    /// The moment until `until` at which a track becomes heavier than another.
    fn overtakes(&self, at: usize, leader: usize, until: CompensatedF64) -> Option<CompensatedF64> {
        let [ours, theirs] =
            [at, leader].map(|at| self.running_ramp(self.tracks[at].id, EventKind::Weight));
        if ours.is_none() && theirs.is_none() {
            return None;
        }
        let moment = |seconds: f64| (self.time + CompensatedF64::new(seconds)).min(until);
        let is_heavier = |seconds: f64| {
            let moment = moment(seconds);
            self.weight_at(at, moment) > self.weight_at(leader, moment)
        };
        // Between the places where the difference of the weights is flat, it only rises or only falls.
        let [ours, theirs] =
            [ours, theirs].map(|ramp| ramp.map_or([0.0; 3], |ramp| ramp.slope(self.time)));
        let span = (until - self.time).value();
        let flat = roots([0, 1, 2].map(|i| ours[i] - theirs[i]))
            .into_iter()
            .filter(|at| *at > 0.0 && *at < span);
        let mut from = 0.0;
        for to in flat.chain([span]) {
            if is_heavier(to) {
                return Some(moment(bisect(from, to, is_heavier)));
            }
            from = to;
        }
        None
    }

    /// A track's weight at a moment up to the next cut.
    fn weight_at(&self, at: usize, moment: CompensatedF64) -> f64 {
        let track = &self.tracks[at];
        self.running_ramp(track.id, EventKind::Weight)
            .map_or(track.share().into(), |ramp| ramp.at(moment))
    }

    /// Returns `true` if a track plays in a group. A single pose has no pace.
    fn may_lead(&self, at: usize, group: u32) -> bool {
        let track = &self.tracks[at];
        let has_length = track.known.is_some_and(|known| known.length > 0.0);
        track.sync == Some(group) && track.enabled && track.run.0.index.is_some() && has_length
    }

    fn leader(&self, group: u32) -> Option<usize> {
        (0..self.tracks.len())
            .find(|at| self.tracks[*at].leads == Some(group) && self.may_lead(*at, group))
    }
}

/// # Who follows
impl AnimationController {
    /// Returns `true` if a track plays now.
    pub(super) fn is_moving(&self, at: usize) -> bool {
        let track = &self.tracks[at];
        track.enabled && !track.paused && track.run.0.index.is_some() && track.known.is_some()
    }

    /// The speed from now to the next cut of a track with or without a lead.
    pub(super) fn course(&self, at: usize, lead: Option<Lead>) -> Speed {
        match lead {
            None => self.own_speed(at),
            Some(Lead { leader, .. }) if self.tracks[leader].paused => Speed::Steady(0.0),
            Some(Lead { leader, ratio, .. }) => self.own_speed(leader).scaled(ratio),
        }
    }

    /// A track's own speed from now to the next cut, in a sync group or not.
    pub(super) fn own_speed(&self, at: usize) -> Speed {
        let track = &self.tracks[at];
        let speed = match self.running_ramp(track.id, EventKind::Speed) {
            Some(ramp) => Speed::Ramp(ramp),
            None => Speed::Steady(if track.speed.is_finite() {
                track.speed
            } else {
                0.0
            }),
        };
        match &track.run.0.course {
            Some(course) if track.run.0.space.is_some() => course.paced(speed),
            _ => speed,
        }
    }

    /// What leads a track in its sync group, unless it is the leader.
    pub(super) fn lead(&self, at: usize) -> Option<Lead> {
        let leader = self
            .leader(self.tracks[at].sync?)
            .filter(|leader| *leader != at)?;
        Some(self.lead_of(at, leader))
    }

    fn lead_of(&self, at: usize, leader: usize) -> Lead {
        let [ours, theirs] =
            [at, leader].map(|at| self.tracks[at].known.map_or(0.0, |known| known.length));
        let ratio = ours / theirs;
        let offset = self.tracks[leader].phase * ratio - self.tracks[at].phase;
        Lead {
            leader,
            ratio,
            offset,
        }
    }

    /// Puts tracks that follow where their leaders were put.
    pub(super) fn align_followers(&mut self) {
        for at in 0..self.tracks.len() {
            if self.tracks[at].sync.is_some()
                && self.is_moving(at)
                && let Some(lead) = self.lead(at)
            {
                let position = lead.follow(self.tracks[lead.leader].held().value());
                self.tracks[at].align(position);
            }
        }
    }

    /// Puts a track at the fraction of its length at which another is, in its first round, and keeps it in phase.
    pub(super) fn bring_in_phase(&mut self, id: TrackId, from: TrackId) {
        if self
            .track(from)
            .is_some_and(|from| from.sync != Some(IN_PHASE))
        {
            // What fades out from an earlier fade has a phase of its own.
            self.tracks
                .iter_mut()
                .filter(|track| track.sync == Some(IN_PHASE))
                .for_each(|track| track.sync = None);
        }
        let Some(from) = self.track_mut(from) else {
            return;
        };
        let (unwrapped, phase) = (
            from.hold(CompensatedF64::new(from.placed())).value(),
            from.phase,
        );
        let Some(Known {
            length: lead,
            playback,
        }) = from.known.filter(|known| known.length > 0.0)
        else {
            return;
        };
        from.sync = Some(IN_PHASE);
        let Some(track) = self.track_mut(id) else {
            return;
        };
        let Some(known) = track.known else { return };
        let ratio = known.length / lead;
        // The end of a round is the start of the next one, whichever way it was rounded.
        let within = (unwrapped - playhead::round_start(playback, lead, unwrapped)).max(0.0);
        // There is no way back in a clip that plays once.
        let once = known.playback == PlaybackMode::Once;
        let place = if once {
            playhead::periodic(playback, lead, within)
        } else {
            within
        };
        track.sync = Some(IN_PHASE);
        track.position = track.hold(CompensatedF64::new(place * ratio));
        track.phase = (unwrapped + phase) * ratio - track.position.value();
        track.start = Start::AtPosition;
    }

    /// Takes the last clip of a fade in phase out of the group.
    fn leave_phase(&mut self) {
        let mut phased = self
            .tracks
            .iter_mut()
            .filter(|track| track.sync == Some(IN_PHASE));
        if let (Some(last), None) = (phased.next(), phased.next()) {
            last.sync = None;
        }
    }
}
