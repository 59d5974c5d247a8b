//! The clips on a track's way, and what it passes next.

use super::{
    AnimationController, AnimationTrack, Clips,
    course::{Ahead, Course, Weighing},
    marks::{Line, Next},
    motion::Instant,
    overlay,
};
use crate::controller::{key::AddedCallback, track_types::Known};

impl AnimationTrack {
    /// Its own clip, or the cycle of its blend space.
    fn own_line<'a, C: Clips + ?Sized>(
        &'a self,
        callbacks: &'a [AddedCallback],
        clips: &'a C,
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
    pub(super) fn each_line<'a, C: Clips + ?Sized>(
        &'a self,
        callbacks: &'a [AddedCallback],
        clips: &'a C,
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
            let known = Known {
                length: member.length,
                playback: member.playback(space, known.playback),
            };
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
    pub(super) fn next_place<C: Clips + ?Sized>(
        &self,
        at: usize,
        forward: bool,
        clips: &C,
    ) -> Option<f64> {
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
            // Only its end has consequences, or the end of a round that something follows.
            let ends = |known: &Known| known.plays_once() || self.is_followed(at);
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
    pub(super) fn look_ahead<C: Clips + ?Sized>(&mut self, at: usize, forward: bool, clips: &C) {
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
    pub(super) fn next_mark<C: Clips + ?Sized>(&self, at: usize, clips: &C) -> Option<Next> {
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
