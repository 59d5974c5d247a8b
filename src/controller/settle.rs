//! Bringing what is derived up to date: after the game has changed something, after a reload, and after happenings.

use super::{
    clock::Nanos,
    course::Course,
    motion::Instant,
    playback_event::played,
    report::Advance,
    step::{Reach, Step},
    tracks::Tracks,
};
use crate::controller::track_types::Start;
use std::mem;

impl Advance<'_> {
    /// Brings all that is derived up to date at the present moment. Where nothing has changed, it changes nothing.
    pub(super) fn settle(&mut self) {
        if let Some(states) = &mut self.states {
            states.end_lost(self.tracks, self.director, &mut self.step);
        }
        for at in 0..self.tracks.len() {
            if self.tracks[at].run.muted {
                self.note_followed(at);
            }
        }
        self.tracks.settle(&mut self.step);
    }

    /// Lets a track begin.
    pub(super) fn start_track(&mut self, at: usize) {
        self.tracks.align(at);
        let first = self.report_start(at);
        self.tracks.anchor(at, self.tracks.law(at));
        self.tracks.forget_followers(at);
        self.tracks.plan();
        if first {
            self.pass_first(at, self.tracks.forward(at));
        }
        self.settle();
    }

    /// Reports that a track begins. Returns `true` if it fires the keys where it does.
    fn report_start(&mut self, at: usize) -> bool {
        let first = mem::replace(&mut self.tracks[at].start, Start::Begun) == Start::AtPosition;
        let event = played!(Started, self.tracks, at);
        self.step.out.push(event);
        self.tracks.moved();
        first
    }

    /// Carries out the moves asked for by [`AnimationTrack::scrub`](super::AnimationTrack::scrub), at the present moment. A sync
    /// group moves as one.
    pub(super) fn scrub(&mut self) {
        for at in 0..self.tracks.len() {
            let track = &mut self.tracks[at];
            let Some(target) = track.rare.scrub.filter(|_| track.run.index.get().is_some()) else {
                continue;
            };
            track.rare.scrub = None;
            if !track.enabled {
                track.seek(target);
                self.settle();
                continue;
            }
            let (leader, target) = match self.tracks[at].run.lead() {
                None => (at, target),
                Some(lead) => match lead.lead_to(target) {
                    Some(target) => (lead.leader, target),
                    None => continue,
                },
            };
            let forward = target >= self.tracks[leader].held();
            self.scrub_track(leader, target, forward);
            for follower in 0..self.tracks.len() {
                let lead = self.tracks[follower].run.lead();
                if let Some(lead) = lead.filter(|lead| lead.leader == leader) {
                    let target = lead.follow(self.tracks[leader].held());
                    self.scrub_track(follower, target, forward);
                }
            }
            // The queue follows what plays to its end.
            self.arrived = None;
            self.settle();
        }
    }

    fn scrub_track(&mut self, at: usize, target: f64, forward: bool) {
        let begun = self.tracks[at].begun();
        let first = !begun && self.report_start(at);
        self.tracks.anchor(at, self.tracks.law(at));
        if first {
            self.pass_first(at, forward);
        }
        let target = self.tracks[at].hold(target);
        let when = Instant::at(self.tracks.clock.now);
        let is_on_way = |place: &f64| match forward {
            true => *place <= target,
            false => *place >= target,
        };
        while let Some(place) = self.tracks.next_place(at, forward).filter(is_on_way) {
            self.pass_place(at, when, place, forward);
            // Of what isn't reported, only the end matters.
            let track = &self.tracks[at];
            if track.run.muted && !track.known.is_some_and(|known| known.plays_once()) {
                break;
            }
        }
        self.tracks[at].put(target);
    }
}

impl Tracks {
    /// Brings leads, blend spaces, anchors and what comes next up to date at the present moment. Where nothing has changed, it
    /// changes nothing.
    fn settle(&mut self, step: &mut Step) {
        let now = self.clock.now;
        self.settle_leads();
        for at in 0..self.list.len() {
            self.report_unknown(at, step);
            let track = &mut self.list[at];
            let space = track.run.space_in(step.clips);
            if space.is_some_and(|space| track.steer(space, now)) {
                *self.reach = Reach::Unknown;
            }
        }
        // Leaders first: the others follow where they went.
        for follows in [false, true] {
            for at in 0..self.list.len() {
                let lead = self.list[at].run.lead();
                if lead.is_some() != follows {
                    continue;
                }
                let law = self.law(at);
                if law.moves() && follows {
                    self.align(at);
                }
                let led_anew =
                    law.moves() && lead.is_some_and(|lead| self.list[lead.leader].run.redone);
                let track = &mut self.list[at];
                let is_over = track.run.until().is_some_and(|until| until <= now);
                let redone = track.moved || law != track.anchor.law || is_over;
                track.run.redone = redone;
                if redone || led_anew {
                    *self.reach = Reach::Unknown;
                    self.anchor(at, law);
                }
            }
        }
        self.plan();
    }

    /// The next moment at which the motion or the course of a track is over.
    pub(super) fn next_bend(&self, at: usize) -> Option<Nanos> {
        let track = &self.list[at];
        let motion = if self.drives(at) {
            track.run.until()
        } else {
            // What rests may come to face the other way, and so be at its end.
            let now = Instant::at(self.clock.now);
            self.speed_ramp(at)
                .and_then(|_| self.motion_from(at, now).until)
        };
        let course = track.course().and_then(Course::end);
        motion.into_iter().chain(course).min()
    }
}
