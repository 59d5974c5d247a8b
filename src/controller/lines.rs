//! The clips on a track's way, and what it passes next.

use super::{
    AnimationController, AnimationTrack, Clips,
    course::{Ahead, Course, Weighing},
    marks::{Line, Next},
    motion::Instant,
    overlay,
};
use crate::{
    controller::{
        key::{AddedCallback, AddedKey},
        playhead::Known,
    },
    model::PlaybackMode,
};

impl AnimationTrack {
    /// Its own clip, or the cycle of its blend space.
    fn own_line<'a>(
        &'a self,
        callbacks: &'a [AddedCallback],
        clips: &'a dyn Clips,
    ) -> Option<Line<'a>> {
        let run = &self.run;
        let (known, clip) = (self.known?, run.index.get()?);
        let own = match run.space.get() {
            Some(space) if space < clips.blend_spaces().len() => &[][..],
            _ => &clips.timing(clip)?.callbacks,
        };
        let added = if callbacks.is_empty() {
            &[][..]
        } else {
            run.added()
        };
        Some(Line {
            known,
            clip,
            own,
            added,
            callbacks,
            member: None,
        })
    }

    /// Returns its course in its blend space, if it plays one.
    pub(super) fn course(&self) -> Option<&Course> {
        let run = &self.run;
        run.course.as_deref().filter(|_| run.space.get().is_some())
    }

    /// Calls `each` with the clips on its way: its own, and those that weigh in its blend space.
    pub(super) fn each_line<'a>(
        &'a self,
        callbacks: &'a [AddedCallback],
        clips: &'a dyn Clips,
        mut each: impl FnMut(Line<'a>),
    ) {
        let Some(own) = self.own_line(callbacks, clips) else {
            return;
        };
        let known = own.known;
        each(own);
        let (Some(space), Some(course)) = (self.run.space_in(clips), self.course()) else {
            return;
        };
        for weighing in course.weighing() {
            let at = weighing.member;
            let Some(member) = space.members().get(at) else {
                continue;
            };
            let Some(timing) = clips.timing(member.clip) else {
                continue;
            };
            let added = if callbacks.is_empty() {
                &[][..]
            } else {
                course.added.get(at).map_or(&[][..], |keys| keys)
            };
            if timing.callbacks.is_empty() && added.is_empty() {
                continue;
            }
            let known = Known::of_member(member, space, known.playback);
            let (clip, own) = (member.clip, &timing.callbacks[..]);
            let member = Some((member, weighing));
            each(Line {
                known,
                clip,
                own,
                added,
                callbacks,
                member,
            });
        }
    }
}

impl AnimationController {
    /// Returns the place of the next thing that a track passes, beyond its anchor.
    pub(super) fn next_place(&self, at: usize, forward: bool, clips: &dyn Clips) -> Option<f64> {
        let track = &self.tracks[at];
        let from = track.anchor.from;
        let mut place: Option<f64> = None;
        let nearer = |a: f64, b: f64| if forward { a < b } else { a > b };
        let mut consider = |next: f64| {
            if place.is_none_or(|place| nearer(next, place)) {
                place = Some(next);
            }
        };
        if track.run.muted {
            // Only its end has consequences, or the end of a loop that something follows.
            let follows = self.is_followed(at) || self.state_waits_for_end(at);
            let ends = |known: &Known| known.plays_once() || follows;
            let end = track
                .known
                .filter(ends)
                .and_then(|known| Line::of(known).next(from, forward));
            end.into_iter().for_each(&mut consider);
        } else {
            let own = track.own_line(&self.extras.callbacks, clips);
            let own = own.and_then(|line| line.next(from, forward));
            let weighing = track.course().map_or(&[][..], Course::weighing);
            let others = weighing
                .iter()
                .filter_map(|clip| clip.ahead(from, forward))
                .filter(|place| place.is_finite());
            own.into_iter().chain(others).for_each(&mut consider);
        }
        // An overlay that is beyond its place has arrived there already.
        let is_ahead = |place: &f64| nearer(from, *place) && nearer(track.held(), *place);
        let fades = overlay::fade_place(track, forward).filter(is_ahead);
        fades.into_iter().for_each(consider);
        // What plays once ends, and with it the clips of its blend space, whatever they do by themselves.
        place.filter(|place| track.hold(*place) == *place)
    }

    /// Finds what lies ahead in the clips of a track's blend space, beyond its anchor.
    ///
    /// The keys of a clip lie at the same phases however much it weighs, so what was found stays as long as the track doesn't
    /// pass it.
    pub(super) fn look_ahead(&mut self, at: usize, forward: bool, clips: &dyn Clips) {
        let Self { tracks, extras, .. } = self;
        let (track, from) = (&tracks[at], tracks[at].anchor.from);
        let is_unknown = |clip: &Weighing| clip.ahead(from, forward).is_none();
        if track.run.muted
            || !track
                .course()
                .is_some_and(|course| course.weighing().iter().any(is_unknown))
        {
            return;
        }
        let (mut found, mut count) = ([(0, None); Course::MOST], 0);
        track.each_line(&extras.callbacks, clips, |line| {
            if let Some((_, clip)) = line.member {
                let known = clip.ahead(from, forward);
                let next = known.or_else(|| line.next(from, forward));
                found[count] = (clip.member, next);
                count += 1;
            }
        });
        if let Some(course) = &mut tracks[at].run.course {
            course.note_ahead(|member| {
                let found = found[..count].iter().find(|(of, _)| *of == member);
                Ahead::new(from, found.and_then(|(_, next)| *next), forward)
            });
        }
    }

    /// Returns the next thing that a moving track passes, after its anchor.
    pub(super) fn next_mark(&self, at: usize, clips: &dyn Clips) -> Option<Next> {
        let track = &self.tracks[at];
        let driver = self.driver(at);
        let lead = track.run.lead().filter(|_| driver != at);
        let motion = self.tracks[driver].run.motion();
        let forward = motion.forward;
        let place = self.next_place(at, forward, clips)?;
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

impl Line<'_> {
    /// The next position beyond another at which anything is passed.
    pub(super) fn next(&self, from: f64, forward: bool) -> Option<f64> {
        let length = self.known.length;
        if length <= 0.0 {
            return None;
        }
        let place = self.place(from);
        let n = self.loop_of(place)?;
        let mut search = Search {
            line: self,
            forward,
            from,
            behind: place,
            near: self.near_to(place),
            found: None,
        };
        if self.member.is_none() {
            match self.known.playback {
                PlaybackMode::Once => search.consider(if forward { length } else { 0.0 }),
                _ if forward => search.consider((n + 1.0) * self.known.period()),
                _ => [n - 1.0, n]
                    .into_iter()
                    .for_each(|n| search.consider(n * self.known.period())),
            }
        }
        if self.own.is_empty() && self.added.is_empty() {
            return search.position();
        }
        // A place is known from a phase only up to rounding, and a range of a ping-pong clip reaches into the next loop.
        let (first, last) = match (self.member, self.known.playback) {
            (Some(_), _) => (-1, 2),
            (None, PlaybackMode::PingPong) => (-1, 1),
            _ => (0, 1),
        };
        let loops = if self.known.period() > 0.0 {
            first..=last
        } else {
            0..=0
        };
        for step in loops {
            let n = n + f64::from(if forward { step } else { -step });
            let own = self.own.iter().map(|key| key.span(length));
            for (time, until) in own.chain(self.added.iter().map(AddedKey::span)) {
                match until {
                    None => self
                        .places(n, time)
                        .into_iter()
                        .flatten()
                        .for_each(|place| search.consider(place)),
                    Some(until) => {
                        self.intervals(n, time, until)
                            .into_iter()
                            .flatten()
                            .flatten()
                            .for_each(|place| search.consider(place));
                    }
                }
            }
            // The loops after this one begin where it ends, but for the ranges of a ping-pong clip.
            let end = if forward { n + 1.0 } else { n } * self.known.period();
            if self.known.playback != PlaybackMode::PingPong && search.is_before(end) {
                break;
            }
        }
        search.position()
    }
}

/// A search for what is nearest beyond a position.
struct Search<'l, 'a> {
    line: &'l Line<'a>,
    forward: bool,
    from: f64,
    /// The place of that position.
    behind: f64,
    near: f64,
    /// The nearest so far: its place, and its position.
    found: Option<[f64; 2]>,
}

impl Search<'_, '_> {
    /// Considers a place. In a blend space, its position takes a while to find, so those that are behind, or farther than
    /// another, are told by their places.
    #[inline]
    fn consider(&mut self, place: f64) {
        let ahead = |of: f64| {
            if self.forward { place - of } else { of - place }
        };
        let is_farther = |[found, _]: [f64; 2]| ahead(found) > self.near;
        if ahead(self.behind) < -self.near || self.found.is_some_and(is_farther) {
            return;
        }
        let at = self.line.coordinate(place);
        let is_beyond = |at: f64, of: f64| if self.forward { at > of } else { at < of };
        let is_nearer = self.found.is_none_or(|[_, found]| is_beyond(found, at));
        if is_beyond(at, self.from) && is_nearer && at.is_finite() {
            self.found = Some([place, at]);
        }
    }

    /// Returns `true` if something was found before a place.
    fn is_before(&self, place: f64) -> bool {
        self.found.is_some_and(|[found, _]| {
            let before = if self.forward {
                place - found
            } else {
                found - place
            };
            before > self.near
        })
    }

    fn position(&self) -> Option<f64> {
        self.found.map(|[_, position]| position)
    }
}
