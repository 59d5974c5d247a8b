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

use super::{AnimationTrack, TrackId, clock::Nanos, run::Lead, tracks::Tracks};
use crate::controller::{
    playhead::Known,
    ramp::{Ramp, roots},
    track_types::Start,
};
use std::mem;

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
        let mut members = mem::take(&mut *self.members);
        members.clear();
        for (at, track) in self.list.iter().enumerate() {
            members.extend(track.sync.map(|group| (group, at)));
        }
        self.leaders.clear();
        self.leaders.resize(self.list.len(), None);
        members.sort_unstable();
        for members in members.chunk_by(|(a, _), (b, _)| a == b) {
            self.settle_leader(members);
        }
        *self.members = members;
        for at in 0..self.list.len() {
            let lead = self.lead_in(at, |at| self.leaders[at]);
            self.list[at].run.set_lead(lead);
        }
    }

    /// Finds the leader of a group, given the indices of its tracks.
    fn settle_leader(&mut self, members: &[(u32, usize)]) {
        let (group, now) = (members[0].0, self.clock.now);
        let may_lead = |at: &usize| self.may_lead(*at, group);
        let able = || members.iter().map(|(_, at)| *at).filter(may_lead);
        let leads = |at: &usize| self.list[*at].rare.leads == Some(group);
        let Some(before) = able().find(leads).or_else(|| able().next()) else {
            return;
        };
        let mut leader = (before, self.weight_at(before, now));
        for at in able().filter(|at| !self.list[*at].paused) {
            let weight = self.weight_at(at, now);
            if weight > leader.1 {
                leader = (at, weight);
            }
        }
        let (leader, _) = leader;
        if leader != before {
            self.take_lead(leader, before);
        }
        for &(_, at) in members {
            let track = &mut self.list[at];
            self.leaders[at] = Some(leader);
            if let Some(rare) = track.rare.get_mut() {
                rare.leads = None;
            }
        }
        self.list[leader].rare.leads = Some(group);
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
        let change = |at: usize| {
            let track = &self.list[at];
            let leader = (*self.leaders.get(at)?).filter(|leader| *leader != at)?;
            let may_lead = !track.paused && self.may_lead(at, track.sync?);
            may_lead.then(|| self.overtakes(at, leader)).flatten()
        };
        (0..self.list.len()).filter_map(change).min()
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
        let flat = roots([0, 1, 2].map(|i| ours[i] - theirs[i])).into_iter();
        let flat = flat.filter(|seconds| *seconds > 0.0);
        let flat = flat.map(|seconds| begin.after(seconds * 1e9).0);
        let flat = flat.filter(|moment| *moment < end);
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

    /// The relation of a track to the one that it follows, if any.
    pub(super) fn lead(&self, at: usize) -> Option<Lead> {
        self.lead_in(at, |at| self.leader(self.list[at].sync?))
    }

    /// The relation of a track to the one that it follows, if any, given the leaders of tracks' groups.
    fn lead_in(&self, at: usize, leader_of: impl Fn(usize) -> Option<usize>) -> Option<Lead> {
        let in_group = |at: usize| {
            let leader = leader_of(at).filter(|leader| *leader != at)?;
            Some(self.relation(at, leader))
        };
        let Some(leader) = self.list[at].rare.led_by else {
            return in_group(at);
        };
        let leader = self.index_of(leader)?;
        let length = |at: usize| self.list[at].known.map(|known| known.length);
        let (ours, theirs) = (length(at)?, length(leader)?);
        if leader == at || theirs <= 0.0 || self.list[leader].rare.led_by.is_some() {
            return None;
        }
        // Who leads the leader leads its follower.
        let of_leader = in_group(leader).unwrap_or(Lead {
            leader,
            ratio: 1.0,
            offset: 0.0,
        });
        let ratio = ours / theirs;
        Some(Lead {
            leader: of_leader.leader,
            ratio: of_leader.ratio * ratio,
            offset: of_leader.offset * ratio,
        })
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
        let is_alone = |from: &AnimationTrack| from.sync != Some(IN_PHASE);
        if self.of(from).is_some_and(is_alone) {
            // What fades out from an earlier fade has a phase of its own.
            self.phased().for_each(|track| track.sync = None);
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
        let place = match known.plays_once() {
            true => lead.place(within),
            false => within,
        };
        track.sync = Some(IN_PHASE);
        let position = track.hold(place * ratio);
        track.put(position);
        track.rare.phase = (unwrapped + phase) * ratio - position;
        track.start = Start::AtPosition;
    }

    /// Takes the last clip of a fade in phase out of the group.
    fn leave_phase(&mut self) {
        let mut phased = self.phased();
        if let (Some(last), None) = (phased.next(), phased.next()) {
            last.sync = None;
        }
    }

    fn phased(&mut self) -> impl Iterator<Item = &mut AnimationTrack> {
        let tracks = self.list.iter_mut();
        tracks.filter(|track| track.sync == Some(IN_PHASE))
    }
}

/// Returns `true` if two places differ by more than rounding.
fn is_apart(a: f64, b: f64) -> bool {
    (a - b).abs() > 1e-9 * b.abs().max(1.0)
}
