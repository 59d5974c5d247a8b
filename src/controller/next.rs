//! What a track passes next, and when.

use super::{AnimationController, motion::Instant, overlay, run::Next};

impl AnimationController {
    /// Returns the place of the next thing that a track passes, beyond its anchor.
    pub(super) fn next_place(&self, at: usize, forward: bool) -> Option<f64> {
        let track = &self.tracks[at];
        let from = track.anchor.from;
        let is_beyond = |a: f64, b: f64| if forward { a > b } else { a < b };
        let next = if !track.run.muted {
            track.next_on_way(from, forward)
        } else if track.once().is_some() || self.is_followed(at) || self.state_waits_for_end(at) {
            // Only its end has consequences, or the end of a loop that something follows.
            track.next_turn(from, forward)
        } else {
            None
        };
        // An overlay that is beyond its place has arrived there already.
        let is_ahead = |place: &f64| is_beyond(*place, from) && is_beyond(*place, track.held());
        let fades = overlay::fade_place(track, forward).filter(is_ahead);
        let first = |a: f64, b: f64| if is_beyond(a, b) { b } else { a };
        let place = next.into_iter().chain(fades).reduce(first);
        // What plays once ends, and with it the clips of its blend space, whatever they do by themselves.
        place.filter(|place| track.hold(*place) == *place)
    }

    /// Returns the next thing that a moving track passes, after its anchor.
    pub(super) fn next_mark(&self, at: usize) -> Option<Next> {
        let track = &self.tracks[at];
        let driver = self.driver(at);
        let lead = track.run.lead().filter(|_| driver != at);
        let motion = self.tracks[driver].run.motion();
        let forward = motion.forward;
        let place = self.next_place(at, forward)?;
        // The time at which its driver is where this is passed.
        let (anchor, driven) = (
            &self.tracks[driver].anchor,
            lead.map_or(Some(place), |lead| lead.lead_to(place))?,
        );
        // A leader that plays once doesn't go beyond its ends.
        if self.tracks[driver].hold(driven) != driven
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
        let track = &self.tracks[at];
        (track.hold(place) - place).abs() <= 1e-9 * place.abs().max(1e-3)
    }
}
