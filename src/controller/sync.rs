//! Sync groups: tracks that stay at the same fraction of their lengths.

use super::{
    AnimationController, TrackId,
    compensated::CompensatedF64,
    motion::Speed,
    timed_event::EventKind,
    track::{Known, Start},
};
use crate::model::PlaybackMode;

/// The sync group of clips that fade in phase.
const IN_PHASE: u32 = u32::MAX;

/// How a track follows the leader of its sync group.
#[derive(Clone, Copy)]
pub(super) struct Lead {
    /// The leader's index.
    pub(super) leader: usize,
    /// How many times longer the follower's clip is.
    pub(super) ratio: f64,
    pub(super) offset: f64,
}

impl Lead {
    /// The follower's position for one of the leader.
    pub(super) fn follow(self, position: f64) -> f64 {
        position * self.ratio + self.offset
    }
}

impl AnimationController {
    /// Returns `true` if a track plays now.
    pub(super) fn is_moving(&self, at: usize) -> bool {
        let track = &self.tracks[at];
        track.enabled && !track.paused && track.run.0.index.is_some() && track.known.is_some()
    }

    /// A track's speed from now to the next cut, and what leads it.
    pub(super) fn course(&self, at: usize) -> (Speed, Option<Lead>) {
        let lead = self.lead(at);
        let speed = match lead {
            None => self.own_speed(at),
            Some(Lead { leader, .. }) if self.tracks[leader].paused => Speed::Steady(0.0),
            Some(Lead { leader, ratio, .. }) => self.own_speed(leader).scaled(ratio),
        };
        (speed, lead)
    }

    /// A track's own speed from now to the next cut, in a sync group or not.
    pub(super) fn own_speed(&self, at: usize) -> Speed {
        let track = &self.tracks[at];
        match self.running_ramp(track.id, EventKind::Speed) {
            Some(ramp) => Speed::Ramp(ramp),
            None => Speed::Steady(if track.speed.is_finite() { track.speed } else { 0.0 }),
        }
    }

    /// What leads a track in its sync group: the first track of the group that plays.
    pub(super) fn lead(&self, at: usize) -> Option<Lead> {
        let group = self.tracks[at].sync?;
        let length = |at: usize| self.tracks[at].known.map_or(0.0, |known| known.length);
        let leads = |other: &usize| {
            let track = &self.tracks[*other];
            track.sync == Some(group) && track.enabled && track.run.0.index.is_some() && length(*other) > 0.0
        };
        let leader = (0..at).find(leads)?;
        let ratio = length(at) / length(leader);
        let offset = self.tracks[leader].phase * ratio - self.tracks[at].phase;
        Some(Lead { leader, ratio, offset })
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
        let Some(from) = self.track_mut(from) else { return };
        let (unwrapped, place, phase) = (from.placed(), from.position(), from.phase);
        let Some(Known { length: lead, playback }) = from.known.filter(|known| known.length > 0.0) else { return };
        from.sync = Some(IN_PHASE);
        let Some(track) = self.track_mut(id) else { return };
        let Some(known) = track.known else { return };
        let ratio = known.length / lead;
        let turn = if playback == PlaybackMode::PingPong { 2.0 * lead } else { lead };
        let rounds = if playback == PlaybackMode::Once { 0.0 } else { (unwrapped / turn).floor() * turn };
        // There is no way back in a clip that plays once.
        let position = if known.playback == PlaybackMode::Once { place } else { unwrapped - rounds } * ratio;
        track.sync = Some(IN_PHASE);
        track.position = CompensatedF64::new(position);
        track.phase = (unwrapped + phase) * ratio - position;
        track.start = Start::AtPosition;
    }
}
