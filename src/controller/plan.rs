//! Plans: by which law each track moves from its [anchor](Anchor), where it is at a moment, and what it passes next.

use super::{
    AnimationTrack,
    anchor::{Anchor, Law},
    clock::Nanos,
    course::Course,
    motion::{Instant, Motion, Pace},
    run::Next,
    tracks::Tracks,
};
use crate::stamp::Stamp;

impl Tracks {
    /// The law by which a track should move from now on.
    pub(super) fn law(&self, at: usize) -> Law {
        let track = &self.list[at];
        if !track.begun() || !self.is_moving(at) {
            return Law::default();
        }
        let with = |stamp: Stamp, number: f64| stamp.with(number.to_bits());
        if let Some(lead) = track.run.lead() {
            let leader = Stamp::NEW.with(self.list[lead.leader].id.0);
            return Law::led(with(with(leader, lead.ratio), lead.offset));
        }
        // A change of speed is told by its begin.
        let stamp = match self.speed_ramp(at) {
            Some(ramp) => with(Stamp::NEW.with(1), ramp.begin.secs()),
            None => with(Stamp::NEW, track.own_speed()),
        };
        Law::alone(match self.pace_of(at) {
            Some(pace) => with(with(with(stamp, pace.since.secs()), pace.pace), pace.change),
            None => stamp,
        })
    }

    /// Returns `true` if a track plays now.
    pub(super) fn is_moving(&self, at: usize) -> bool {
        let track = &self.list[at];
        !track.paused && track.present().is_some()
    }

    /// The pace of a track's blend space, if it plays one.
    pub(super) fn pace_of(&self, at: usize) -> Option<Pace> {
        self.list[at].course().map(Course::pace)
    }

    /// A track's own motion from an instant on, whatever leads it.
    pub(super) fn motion_from(&self, at: usize, begin: Instant) -> Motion {
        let pace = self.pace_of(at).unwrap_or(Pace::EVEN);
        Motion::new(begin, self.list[at].own_speed(), self.speed_ramp(at), pace)
    }

    /// Anchors a track where it is.
    pub(super) fn anchor(&mut self, at: usize, law: Law) {
        let now = self.clock.now;
        let track = &mut self.list[at];
        track.anchor = Anchor::new(now, track.held(), law);
        track.moved = false;
        track.run.planned = false;
    }

    /// Works out how tracks move from their anchors, and what they pass next: those for which that is not known.
    pub(super) fn plan(&mut self) {
        for at in 0..self.list.len() {
            if !self.list[at].run.planned {
                let anchor = self.list[at].anchor;
                let motion = if self.drives(at) {
                    self.motion_from(at, anchor.instant())
                } else {
                    Motion::STILL
                };
                self.list[at].run.set_motion(motion);
            }
        }
        for at in 0..self.list.len() {
            if !self.list[at].run.planned {
                let moves = self.list[at].anchor.law.moves();
                let next = moves.then(|| self.next_mark(at)).flatten();
                let run = &mut self.list[at].run;
                run.set_next(next);
                run.planned = true;
            }
        }
    }

    /// Returns the place of the next thing that a track passes, beyond its anchor.
    pub(super) fn next_place(&self, at: usize, forward: bool) -> Option<f64> {
        let track = &self.list[at];
        let from = track.anchor.from;
        let is_beyond = |a: f64, b: f64| if forward { a > b } else { a < b };
        let next = if !track.run.muted {
            track.next_on_way(from, forward)
        } else if track.once().is_some() || track.run.is_followed {
            // Only its end has consequences, or the end of a loop that something follows.
            track.next_turn(from, forward)
        } else {
            None
        };
        // An overlay that is beyond its place has arrived there already.
        let is_ahead = |place: &f64| is_beyond(*place, from) && is_beyond(*place, track.held());
        let fades = track.fade_place(forward).filter(is_ahead);
        let first = |a: f64, b: f64| if is_beyond(a, b) { b } else { a };
        let place = next.into_iter().chain(fades).reduce(first);
        // What plays once ends, and with it the clips of its blend space, whatever they do by themselves.
        place.filter(|place| track.hold(*place) == *place)
    }

    /// Returns the next thing that a moving track passes, after its anchor.
    pub(super) fn next_mark(&self, at: usize) -> Option<Next> {
        let track = &self.list[at];
        let driver = self.driver(at);
        let lead = track.run.lead().filter(|_| driver != at);
        let motion = self.list[driver].run.motion();
        let forward = motion.forward;
        let place = self.next_place(at, forward)?;
        // The time at which its driver is where this is passed.
        let (anchor, driven) = (
            &self.list[driver].anchor,
            lead.map_or(Some(place), |lead| lead.lead_to(place))?,
        );
        // A leader that plays once doesn't go beyond its ends.
        if self.list[driver].hold(driven) != driven
            && lead.is_some()
            && !self.is_close(driver, driven)
        {
            return None;
        }
        let way = driven - anchor.from;
        let way = if (way < 0.0) == forward && way != 0.0 {
            0.0
        } else {
            way
        };
        let seconds = motion.seconds_of(anchor.instant(), way)?;
        let mut when = anchor.instant().after(seconds);
        if when.moment < self.clock.now {
            when = Instant::at(self.clock.now);
        }
        Some(Next { when, place })
    }

    /// Returns `true` if a place is off a clip's ends by rounding only.
    fn is_close(&self, at: usize, place: f64) -> bool {
        let track = &self.list[at];
        (track.hold(place) - place).abs() <= 1e-9 * place.abs().max(1e-3)
    }

    /// Forgets what tracks that a track leads pass next.
    pub(super) fn forget_followers(&mut self, leader: usize) {
        for track in &mut self.list {
            if track.run.lead().is_some_and(|lead| lead.leader == leader) {
                track.run.planned = false;
            }
        }
    }

    /// Returns `true` if a track moves, by its own motion.
    pub(super) fn drives(&self, at: usize) -> bool {
        let law = self.list[at].anchor.law;
        law.moves() && !law.follows()
    }

    /// The motion that drives a track: its own, or that of its leader.
    pub(super) fn driver(&self, at: usize) -> usize {
        let run = &self.list[at].run;
        run.lead()
            .filter(|_| self.list[at].anchor.law.follows())
            .map_or(at, |lead| lead.leader)
    }

    /// The direction in which a track goes.
    pub(super) fn forward(&self, at: usize) -> bool {
        self.list[self.driver(at)].run.forward()
    }

    /// Lets time pass up to a moment before which none of them passes anything.
    pub(super) fn move_to(&mut self, moment: Nanos) {
        for at in 0..self.list.len() {
            let place = self.place_at(at, moment);
            let track = &mut self.list[at];
            track.position = place;
            if let Some(rare) = track.rare.get_mut() {
                rare.steering.move_to(moment);
            }
        }
        self.clock.now = moment;
    }

    /// Returns the position of a track at a moment up to which no track passes anything.
    #[inline(always)]
    pub(super) fn place_at(&self, at: usize, moment: Nanos) -> f64 {
        let track = &self.list[at];
        if track.anchor.law.follows() {
            return self.place_of_follower(at, moment);
        }
        track.bounded(track.driven_to(moment), track.run.forward())
    }

    fn place_of_follower(&self, at: usize, moment: Nanos) -> f64 {
        let track = &self.list[at];
        let anchor = &track.anchor;
        let position = match track.run.lead() {
            Some(lead) if anchor.instant().moment != moment => {
                let leader = &self.list[lead.leader];
                lead.follow(leader.hold(self.bounded(lead.leader, leader.driven_to(moment))))
            }
            Some(_) => anchor.from,
            None => track.driven_to(moment),
        };
        self.bounded(at, position)
    }

    /// Returns the position of a track some seconds ago. Before its anchor, it is taken to have moved as it does now.
    pub(super) fn place_ago(&self, at: usize, seconds: f64) -> f64 {
        let track = &self.list[at];
        let moment = self.clock.now.minus(Nanos::from_secs(seconds));
        let anchor = track.anchor.instant();
        if let Some(lead) = track.run.lead().filter(|_| track.anchor.law.follows()) {
            let leader = self.list[lead.leader].hold(self.place_ago(lead.leader, seconds));
            track.hold(lead.follow(leader))
        } else if moment >= anchor.moment {
            self.place_at(at, moment)
        } else if self.is_moving(at) {
            let speed = self.motion_from(at, anchor).speed_after(0.0);
            track.hold(track.anchor.from - anchor.moment.since(moment) * speed)
        } else {
            track.position
        }
    }

    fn bounded(&self, at: usize, place: f64) -> f64 {
        self.list[at].bounded(place, self.forward(at))
    }
}

impl AnimationTrack {
    /// A place between what the track passed last and what it passes next.
    #[inline(always)]
    fn bounded(&self, place: f64, forward: bool) -> f64 {
        let from = self.anchor.from;
        if !self.anchor.law.moves() {
            return self.position;
        }
        let next = self.run.next().map(|next| next.place);
        let place = if place.is_finite() {
            place
        } else {
            f64::MAX.copysign(place)
        };
        let place = match next {
            Some(next) if forward && place >= next => next.next_down(),
            Some(next) if !forward && place <= next => next.next_up(),
            _ => place,
        };
        self.hold(if forward {
            place.max(from)
        } else {
            place.min(from)
        })
    }

    /// Returns the position to which its own motion has taken it at a moment.
    #[inline(always)]
    fn driven_to(&self, moment: Nanos) -> f64 {
        let (from, begin) = (self.anchor.from, self.anchor.instant());
        if moment == begin.moment {
            from
        } else {
            from + self.run.distance(begin.seconds_to(moment))
        }
    }
}
