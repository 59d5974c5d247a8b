//! Where a track is, as a function of the time since an anchor.
//!
//! ```text
//! position   ●─────────────▶ from + the distance since the anchor
//!          anchor           │
//!        time · place       ◆ next: what it passes next, when, and where
//! ```
//!
//! An anchor is where the track passed something last, or was put, or began to move otherwise. It lies at a moment that does
//! not depend on how time is divided into steps, and so does everything that is computed from it.

use super::{
    AnimationController, BlendMode, Clips, TrackId,
    clock::Nanos,
    course::Course,
    marks::Next,
    motion::{Instant, Motion, Pace},
    sync::Lead,
};
use crate::controller::{key::AddedKey, ramp::Ramp, timed_event::EventKind};
use serde::{Deserialize, Serialize};

/// Where a track was at a moment, and by what law it moves from there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Anchor {
    since: Nanos,
    /// Nanoseconds after that moment, from −½ to ½, at which it was there.
    rest: f64,
    /// The place, unwrapped. What lies there has been passed.
    pub(super) from: f64,
    pub(super) law: Law,
    /// Set when the track was put somewhere else since.
    pub(super) moved: bool,
}

/// What decides on a track's speed. While it stays the same, so does the anchor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Law {
    /// Whether it moves at all.
    moves: bool,
    /// The steady speed; 0 while a timed event changes it.
    speed: f64,
    /// When the present change of speed began.
    ramp: Option<Nanos>,
    /// What leads it, and how.
    leader: Option<(TrackId, f64, f64)>,
    /// When the present course through a blend space began, with the pace then and its change.
    pace: Option<(Nanos, f64, f64)>,
}

/// What is derived from a track, its clip and its anchor: not part of the state.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    /// The clip's index, if the clip exists; for a blend space, the heaviest clip's.
    pub(super) index: Option<usize>,
    /// The blend space's index, if it is one.
    pub(super) space: Option<usize>,
    /// What it does in the blend space until the next bend.
    pub(super) course: Option<Box<Course>>,
    /// The controller's own keys for this clip, in order of time.
    pub(super) added: Vec<AddedKey>,
    /// Tells the clip's keys from those of a reload.
    pub(super) stamp: Option<u64>,
    /// The blend mode that was checked against the clip.
    pub(super) blend: Option<BlendMode>,
    pub(super) lead: Option<Lead>,
    pub(super) motion: Motion,
    pub(super) next: Option<Next>,
    /// Whether all this is up to date.
    pub(super) planned: bool,
    /// Whether there are ranges among its keys, if that is known.
    pub(super) ranged: Option<bool>,
    /// Whether it was anchored anew.
    pub(super) redone: bool,
    /// Whether its keys and rounds are no longer reported in this advance.
    pub(super) muted: bool,
    /// Rounds reported in this advance.
    pub(super) looped: usize,
    /// Where it was before the present step, for root motion.
    pub(super) before: f64,
}

impl Law {
    pub(super) fn moves(&self) -> bool {
        self.moves
    }
}

impl Anchor {
    pub(super) fn new(since: Nanos, from: f64, law: Law) -> Self {
        Self {
            since,
            rest: 0.0,
            from,
            law,
            moved: false,
        }
    }

    pub(super) fn instant(&self) -> Instant {
        Instant {
            moment: self.since,
            rest: self.rest,
        }
    }

    /// Notes that it passed a place.
    pub(super) fn pass(&mut self, Instant { moment, rest }: Instant, from: f64) {
        (self.since, self.rest, self.from) = (moment, rest, from);
    }

    pub(super) fn shift(&mut self, by: Nanos) {
        self.since = self.since.minus(by);
        let times = [
            self.law.ramp.as_mut(),
            self.law.pace.as_mut().map(|pace| &mut pace.0),
        ];
        times
            .into_iter()
            .flatten()
            .for_each(|time| *time = time.minus(by));
    }

    pub(super) fn is_sound(&self) -> bool {
        let numbers = [self.rest, self.from, self.law.speed];
        let leader = self
            .law
            .leader
            .is_none_or(|(_, ratio, offset)| ratio.is_finite() && offset.is_finite());
        let pace = self
            .law
            .pace
            .is_none_or(|(_, pace, change)| pace.is_finite() && change.is_finite());
        numbers.iter().all(|number| number.is_finite()) && leader && pace
    }
}

impl AnimationController {
    /// The law by which a track should move from now on.
    pub(super) fn law(&self, at: usize) -> Law {
        let track = &self.tracks[at];
        let moves = track.begun() && self.is_moving(at);
        let lead = track.run.0.lead.filter(|_| moves);
        let ramp = self.running_ramp(track.id, EventKind::Speed);
        let speed = if moves && lead.is_none() && ramp.is_none() {
            track.own_speed()
        } else {
            0.0
        };
        let ramp = ramp
            .filter(|_| moves && lead.is_none())
            .map(|ramp| Nanos::from_secs(ramp.begin));
        let leader = lead.map(
            |Lead {
                 leader,
                 ratio,
                 offset,
             }| (self.tracks[leader].id, ratio, offset),
        );
        let pace = self.pace_of(at).filter(|_| moves && lead.is_none());
        Law {
            moves,
            speed,
            ramp,
            leader,
            pace: pace.map(
                |Pace {
                     since,
                     pace,
                     change,
                     ..
                 }| (since, pace, change),
            ),
        }
    }

    /// Returns `true` if a track plays now.
    pub(super) fn is_moving(&self, at: usize) -> bool {
        let track = &self.tracks[at];
        track.enabled && !track.paused && track.run.0.index.is_some() && track.known.is_some()
    }

    /// The pace of a track's blend space, if it plays one.
    pub(super) fn pace_of(&self, at: usize) -> Option<Pace> {
        let run = &self.tracks[at].run.0;
        run.course
            .as_deref()
            .filter(|_| run.space.is_some())
            .map(Course::pace)
    }

    /// The ramp of a track's speed, if a timed event changes it.
    fn speed_ramp(&self, at: usize) -> Option<Ramp> {
        self.running_ramp(self.tracks[at].id, EventKind::Speed)
    }

    /// A track's own motion from an instant on, whatever leads it.
    pub(super) fn motion_from(&self, at: usize, begin: Instant) -> Motion {
        let pace = self.pace_of(at).unwrap_or(Pace::EVEN);
        Motion::new(
            begin,
            self.tracks[at].own_speed(),
            self.speed_ramp(at),
            pace,
        )
    }

    /// Anchors a track where it is.
    pub(super) fn anchor(&mut self, at: usize, law: Law) {
        let now = self.clock.now;
        let track = &mut self.tracks[at];
        track.anchor = Anchor::new(now, track.held(), law);
        track.run.0.planned = false;
    }

    /// Works out how tracks move from their anchors, and what they pass next: those for which that is not known.
    pub(super) fn plan<C: Clips + ?Sized>(&mut self, clips: &C) {
        for at in 0..self.tracks.len() {
            if !self.tracks[at].run.0.planned {
                let anchor = self.tracks[at].anchor;
                let drives = anchor.law.moves && anchor.law.leader.is_none();
                let motion = if drives {
                    self.motion_from(at, anchor.instant())
                } else {
                    Motion::STILL
                };
                self.tracks[at].run.0.motion = motion;
            }
        }
        for at in 0..self.tracks.len() {
            if !self.tracks[at].run.0.planned {
                if self.tracks[at].run.0.ranged.is_none() {
                    self.tracks[at].note_ranges(&self.extras.callbacks, clips);
                }
                let next = if self.tracks[at].anchor.law.moves {
                    self.next_mark(at, clips)
                } else {
                    None
                };
                let run = &mut self.tracks[at].run.0;
                (run.next, run.planned) = (next, true);
            }
        }
    }

    /// Forgets what tracks that a track leads pass next.
    pub(super) fn forget_followers(&mut self, leader: usize) {
        for track in &mut self.tracks {
            if track.run.0.lead.is_some_and(|lead| lead.leader == leader) {
                track.run.0.planned = false;
            }
        }
    }

    /// The motion that drives a track: its own, or that of its leader.
    pub(super) fn driver(&self, at: usize) -> usize {
        let run = &self.tracks[at].run.0;
        run.lead
            .filter(|_| self.tracks[at].anchor.law.leader.is_some())
            .map_or(at, |lead| lead.leader)
    }

    /// The direction in which a track goes.
    pub(super) fn forward(&self, at: usize) -> bool {
        self.tracks[self.driver(at)].run.0.motion.forward
    }

    /// Moves all tracks to where they are at a moment, up to which none of them passes anything.
    pub(super) fn move_to(&mut self, moment: Nanos) {
        for at in 0..self.tracks.len() {
            if self.tracks[at].anchor.law.leader.is_none() {
                let track = &self.tracks[at];
                self.tracks[at].position = self.bounded(at, track.driven_to(moment));
            }
        }
        for at in 0..self.tracks.len() {
            if self.tracks[at].anchor.law.leader.is_some()
                && let Some(lead) = self.tracks[at].run.0.lead
            {
                let anchor = &self.tracks[at].anchor;
                let here = anchor.instant().moment == moment;
                let position = if here {
                    anchor.from
                } else {
                    lead.follow(self.tracks[lead.leader].held())
                };
                self.tracks[at].position = self.bounded(at, position);
            }
        }
    }

    /// A place between what a track passed last and what it passes next.
    #[inline]
    fn bounded(&self, at: usize, place: f64) -> f64 {
        let track = &self.tracks[at];
        let from = track.anchor.from;
        let next = track.run.0.next.as_ref().map(|next| next.place);
        if !track.anchor.law.moves {
            return track.position;
        }
        let place = if place.is_finite() {
            place
        } else {
            f64::MAX.copysign(place)
        };
        let place = match (self.forward(at), next) {
            (true, None) => place.max(from),
            (true, Some(next)) => place.min(next.next_down()).max(from),
            (false, None) => place.min(from),
            (false, Some(next)) => place.max(next.next_up()).min(from),
        };
        track.hold(place)
    }
}

impl super::AnimationTrack {
    /// Where its own motion has taken it at a moment.
    #[inline]
    fn driven_to(&self, moment: Nanos) -> f64 {
        let Anchor { since, from, .. } = self.anchor;
        if moment == since {
            from
        } else {
            from + self
                .run
                .0
                .motion
                .distance(self.anchor.instant().seconds_to(moment))
        }
    }
}
