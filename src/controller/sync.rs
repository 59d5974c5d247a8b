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

use super::{TrackId, clock::Nanos, run::Lead, tracks::Tracks};
use crate::controller::{
    playhead::Known,
    ramp::{Ramp, roots},
    track_types::Start,
};

/// The sync group of clips that fade in phase.
const IN_PHASE: u32 = u32::MAX;

/// # Who leads
impl Tracks {
    pub(super) fn has_groups(&self) -> bool {
        self.list.iter().any(|track| {
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
        for first in 0..self.list.len() {
            let Some(group) = self.list[first].sync else {
                continue;
            };
            if !self.may_lead(first, group) || (0..first).any(|other| self.may_lead(other, group)) {
                continue;
            }
            let before = self.leader(group).unwrap_or(first);
            let mut leader = before;
            for at in first..self.list.len() {
                let takes_part = self.may_lead(at, group) && !self.list[at].paused;
                if takes_part
                    && self.weight_at(at, self.clock.now) > self.weight_at(leader, self.clock.now)
                {
                    leader = at;
                }
            }
            if leader != before {
                self.take_lead(leader, before);
            }
            self.list
                .iter_mut()
                .filter(|track| track.sync == Some(group))
                .filter_map(|track| track.rare.get_mut())
                .for_each(|rare| rare.leads = None);
            self.list[leader].rare.leads = Some(group);
        }
        for at in 0..self.list.len() {
            let lead = self.lead(at);
            self.list[at].run.set_lead(lead);
        }
    }

    /// Puts a track at the phase of the leader before it.
    fn take_lead(&mut self, at: usize, before: usize) {
        let position = self.relation(at, before).follow(self.list[before].held());
        let track = &mut self.list[at];
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
        for leader in 0..self.list.len() {
            let Some(group) = self.list[leader]
                .sync
                .filter(|group| self.leader(*group) == Some(leader))
            else {
                continue;
            };
            for at in 0..self.list.len() {
                if at != leader && self.may_lead(at, group) && !self.list[at].paused {
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
        let begin = all().map(|ramp| ramp.begin).max()?;
        let end = all().map(|ramp| ramp.end).min()?;
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

    /// Returns `true` if a track plays in a group, and may lead it. A single pose has no pace, and what goes in step with a
    /// state must not lead that state.
    fn may_lead(&self, at: usize, group: u32) -> bool {
        let track = &self.list[at];
        let has_length = |known: Known| known.length > 0.0;
        track.sync == Some(group)
            && track.rare.led_by.is_none()
            && track.present().is_some_and(has_length)
    }

    fn leader(&self, group: u32) -> Option<usize> {
        (0..self.list.len())
            .find(|at| self.list[*at].rare.leads == Some(group) && self.may_lead(*at, group))
    }

    /// Returns the leader of a track, and their relation.
    pub(super) fn lead(&self, at: usize) -> Option<Lead> {
        match self.list[at].rare.led_by {
            Some(leader) => self.relation_in_step(at, leader),
            None => self.relation_in_group(at),
        }
    }

    /// Relates a track to the one at whose fraction of its length it stays. That one may itself follow the leader of its
    /// group.
    fn relation_in_step(&self, at: usize, leader: TrackId) -> Option<Lead> {
        let leader = self.index_of(leader)?;
        let length = |at: usize| self.list[at].known.map(|known| known.length);
        let (ours, theirs) = (length(at)?, length(leader)?);
        if leader == at || theirs <= 0.0 || self.list[leader].rare.led_by.is_some() {
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
            .leader(self.list[at].sync?)
            .filter(|leader| *leader != at)?;
        Some(self.relation(at, leader))
    }

    fn relation(&self, at: usize, leader: usize) -> Lead {
        let [ours, theirs] =
            [at, leader].map(|at| self.list[at].known.map_or(0.0, |known| known.length));
        let ratio = ours / theirs;
        let offset = self.list[leader].rare.phase * ratio - self.list[at].rare.phase;
        Lead {
            leader,
            ratio,
            offset,
        }
    }

    /// Puts a track that follows where its leader has it, if it is elsewhere: it has just joined, or its leader was moved.
    pub(super) fn align(&mut self, at: usize) {
        let Some(lead) = self.list[at].run.lead() else {
            return;
        };
        let position = lead.follow(self.list[lead.leader].held());
        let track = &mut self.list[at];
        if is_apart(track.held(), track.hold(position)) {
            track.put(position);
        }
    }

    /// Puts a track at the fraction of its length at which another is, in its first loop, and keeps it in phase.
    pub(super) fn bring_in_phase(&mut self, id: TrackId, from: TrackId) {
        if self
            .of(from)
            .is_some_and(|from| from.sync != Some(IN_PHASE))
        {
            // What fades out from an earlier fade has a phase of its own.
            self.list
                .iter_mut()
                .filter(|track| track.sync == Some(IN_PHASE))
                .for_each(|track| track.sync = None);
        }
        let Some(from) = self.of_mut(from) else {
            return;
        };
        let (unwrapped, phase) = (from.hold(from.placed()), from.rare.phase);
        let Some(lead) = from.known.filter(|known| known.length > 0.0) else {
            return;
        };
        from.sync = Some(IN_PHASE);
        let Some(track) = self.of_mut(id) else {
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
            .list
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
