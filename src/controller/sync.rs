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
//! When weights cross is known from their ramps.

use super::{AnimationController, TrackId, clock::Nanos};
use crate::controller::{
    playhead::Known,
    ramp::{Ramp, roots},
    track_types::Start,
};

/// The sync group of clips that fade in phase.
const IN_PHASE: u32 = u32::MAX;

/// Relation of a track to the leader of its sync group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Lead {
    /// The leader's index.
    pub(super) leader: usize,
    /// Length of the follower's clip over that of the leader's.
    pub(super) ratio: f64,
    pub(super) offset: f64,
}

impl Lead {
    /// The follower's position for one of the leader.
    #[inline]
    pub(super) fn follow(self, position: f64) -> f64 {
        position * self.ratio + self.offset
    }

    /// The leader's position for one of the follower. A single pose has no place to move to.
    pub(super) fn lead_to(self, position: f64) -> Option<f64> {
        (self.ratio > 0.0).then(|| (position - self.offset) / self.ratio)
    }
}

/// # Who leads
impl AnimationController {
    pub(super) fn has_groups(&self) -> bool {
        self.tracks.iter().any(|track| {
            let is_led = track.run.lead().is_some() || track.rare.led_by.is_some();
            track.sync.is_some() || is_led
        })
    }

    /// Gives the lead of every group to its heaviest track, and notes who follows whom.
    ///
    /// A track keeps the lead until another one is heavier; in a new group, the first is ahead of its equals. If the
    /// leader is paused, the group waits. A paused track takes no lead.
    pub(super) fn settle_leads(&mut self) {
        if !self.has_groups() {
            return;
        }
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
                if takes_part
                    && self.weight_at(at, self.clock.now) > self.weight_at(leader, self.clock.now)
                {
                    leader = at;
                }
            }
            if leader != before {
                self.take_lead(leader, before);
            }
            self.tracks
                .iter_mut()
                .filter(|track| track.sync == Some(group))
                .filter_map(|track| track.rare.get_mut())
                .for_each(|rare| rare.leads = None);
            self.tracks[leader].rare.leads = Some(group);
        }
        for at in 0..self.tracks.len() {
            let lead = self.lead(at);
            self.tracks[at].run.set_lead(lead);
        }
    }

    /// Puts a track at the phase of the leader before it.
    fn take_lead(&mut self, at: usize, before: usize) {
        let position = self.relation(at, before).follow(self.tracks[before].held());
        let track = &mut self.tracks[at];
        if is_apart(track.position, position) {
            track.put(position);
        }
        // A clip that plays once has waited at its end, and the phase has gone on.
        let waited = position - track.held();
        if waited.is_finite() && waited != 0.0 {
            track.rare.phase += waited;
        }
    }

    /// Returns the next moment at which a track becomes heavier than the leader of its group.
    pub(super) fn next_lead_change(&self) -> Option<Nanos> {
        if !self.has_groups() {
            return None;
        }
        let mut first: Option<Nanos> = None;
        for leader in 0..self.tracks.len() {
            let Some(group) = self.tracks[leader]
                .sync
                .filter(|group| self.leader(*group) == Some(leader))
            else {
                continue;
            };
            for at in 0..self.tracks.len() {
                if at != leader && self.may_lead(at, group) && !self.tracks[at].paused {
                    first = first.into_iter().chain(self.overtakes(at, leader)).min();
                }
            }
        }
        first
    }

    /// The next moment at which a track becomes heavier than another, while the present changes of their weights last.
    fn overtakes(&self, at: usize, leader: usize) -> Option<Nanos> {
        let ramps = [at, leader].map(|at| self.weight_ramp(at));
        let all = || ramps.iter().flatten();
        // From the ramps alone, so that the present moment decides on nothing.
        let begin = all().map(|ramp| Nanos::from_secs(ramp.begin)).max()?;
        let end = all().map(|ramp| Nanos::from_secs(ramp.end())).min()?;
        let now = self.clock.now;
        let is_heavier =
            |moment: Nanos| self.weight_at(at, moment) > self.weight_at(leader, moment);
        // Between the places where the difference of the weights is flat, it only rises or only falls.
        let slope =
            |ramp: Option<Ramp>| ramp.map_or([0.0; 3], |ramp| ramp.slope(ramp.seconds_to(begin)));
        let [ours, theirs] = ramps.map(slope);
        let flat = roots([0, 1, 2].map(|i| ours[i] - theirs[i]))
            .into_iter()
            .filter(|seconds| *seconds > 0.0);
        let flat = flat
            .map(|seconds| begin.after(seconds * 1e9).0)
            .filter(|moment| *moment < end);
        let mut from = begin;
        for to in flat.chain([end]) {
            if is_heavier(to) {
                let moment = Nanos::first(from, to, is_heavier);
                if moment > now {
                    return Some(moment);
                }
                if now <= to && is_heavier(now) {
                    return Some(now);
                }
            }
            from = to;
        }
        None
    }

    /// A track's weight at a moment up to the next change of its events.
    pub(super) fn weight_at(&self, at: usize, moment: Nanos) -> f64 {
        let ramp = self.weight_ramp(at);
        ramp.map_or(self.tracks[at].share().into(), |ramp| ramp.at(moment))
    }

    /// A track's present weight.
    pub(super) fn weight_now(&self, at: usize) -> f32 {
        match self.weight_ramp(at) {
            Some(ramp) => (ramp.at(self.clock.now) as f32).max(0.0),
            None => self.tracks[at].share(),
        }
    }

    /// Returns `true` if a track plays in a group, and may lead it. A single pose has no pace, and what goes in step with a
    /// state must not lead that state.
    fn may_lead(&self, at: usize, group: u32) -> bool {
        let track = &self.tracks[at];
        let has_length = |known: Known| known.length > 0.0;
        track.sync == Some(group)
            && track.rare.led_by.is_none()
            && track.present().is_some_and(has_length)
    }

    fn leader(&self, group: u32) -> Option<usize> {
        (0..self.tracks.len())
            .find(|at| self.tracks[*at].rare.leads == Some(group) && self.may_lead(*at, group))
    }

    /// Returns the leader of a track, and their relation.
    pub(super) fn lead(&self, at: usize) -> Option<Lead> {
        match self.tracks[at].rare.led_by {
            Some(leader) => self.relation_in_step(at, leader),
            None => self.relation_in_group(at),
        }
    }

    /// Relates a track to the one at whose fraction of its length it stays. That one may itself follow the leader of its
    /// group.
    fn relation_in_step(&self, at: usize, leader: TrackId) -> Option<Lead> {
        let leader = self.index_of(leader)?;
        let length = |at: usize| self.tracks[at].known.map(|known| known.length);
        let (ours, theirs) = (length(at)?, length(leader)?);
        if leader == at || theirs <= 0.0 || self.tracks[leader].rare.led_by.is_some() {
            return None;
        }
        let ratio = ours / theirs;
        Some(match self.relation_in_group(leader) {
            None => Lead {
                leader,
                ratio,
                offset: 0.0,
            },
            Some(of_leader) => Lead {
                leader: of_leader.leader,
                ratio: of_leader.ratio * ratio,
                offset: of_leader.offset * ratio,
            },
        })
    }

    /// Returns the relation of a track to the leader of its sync group, unless it is the leader.
    fn relation_in_group(&self, at: usize) -> Option<Lead> {
        let leader = self
            .leader(self.tracks[at].sync?)
            .filter(|leader| *leader != at)?;
        Some(self.relation(at, leader))
    }

    fn relation(&self, at: usize, leader: usize) -> Lead {
        let [ours, theirs] =
            [at, leader].map(|at| self.tracks[at].known.map_or(0.0, |known| known.length));
        let ratio = ours / theirs;
        let offset = self.tracks[leader].rare.phase * ratio - self.tracks[at].rare.phase;
        Lead {
            leader,
            ratio,
            offset,
        }
    }

    /// Puts a track that follows where its leader has it, if it is elsewhere: it has just joined, or its leader was moved.
    pub(super) fn align(&mut self, at: usize) {
        let Some(lead) = self.tracks[at].run.lead() else {
            return;
        };
        let position = lead.follow(self.tracks[lead.leader].held());
        let track = &mut self.tracks[at];
        if is_apart(track.held(), track.hold(position)) {
            track.put(position);
        }
    }

    /// Puts a track at the fraction of its length at which another is, in its first loop, and keeps it in phase.
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
        let (unwrapped, phase) = (from.hold(from.placed()), from.rare.phase);
        let Some(lead) = from.known.filter(|known| known.length > 0.0) else {
            return;
        };
        from.sync = Some(IN_PHASE);
        let Some(track) = self.track_mut(id) else {
            return;
        };
        let Some(known) = track.known else { return };
        let ratio = known.length / lead.length;
        // The end of a loop is the start of the next one, whichever way it was rounded.
        let within = (unwrapped - lead.loop_start(unwrapped)).max(0.0);
        // There is no way back in a clip that plays once.
        let place = if known.plays_once() {
            lead.place(within)
        } else {
            within
        };
        track.sync = Some(IN_PHASE);
        let position = track.hold(place * ratio);
        track.put(position);
        track.rare.phase = (unwrapped + phase) * ratio - position;
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

/// Returns `true` if two places differ by more than rounding.
fn is_apart(a: f64, b: f64) -> bool {
    (a - b).abs() > 1e-9 * b.abs().max(1.0)
}
