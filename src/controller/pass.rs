//! Keys, loops, and ranges that tracks pass, and the events that report them.

use super::{
    AnimationTrack, CallbackKind, Clips, FiredCallback, PlaybackEvent,
    clock::Nanos,
    motion::Instant,
    playback_event::played,
    report::{Advance, Follows},
    run::Next,
    step::{Passed, What},
};
use crate::{
    controller::key::AddedCallback,
    model::{Mark, MarkKind},
};
use std::mem;

impl Advance<'_> {
    /// Lets a track pass what is next.
    pub(super) fn pass(&mut self, at: usize) {
        let run = &mut self.tracks[at].run;
        let Some(Next { when, place }) = run.next() else {
            return;
        };
        run.set_next(None);
        self.pass_place(at, when, place, self.tracks.forward(at));
        let track = &self.tracks[at];
        if track.fade_place(self.tracks.forward(at)) == Some(track.anchor.from) {
            self.arrived = Some((track.id, Follows::FadeOut));
        }
        self.tracks.forget_followers(at);
        self.tracks.plan();
    }

    /// Lets a track pass what is at a place.
    pub(super) fn pass_place(&mut self, at: usize, when: Instant, place: f64, forward: bool) {
        let (now, clips) = (self.tracks.clock.now, self.step.clips);
        let track = &mut self.tracks[at];
        track.anchor.pass(when, place);
        track.position = place;
        track.run.planned = false;
        let mut near = 0;
        self.report(at, forward, |track, callbacks, passed| {
            near = track.marks_at(place, forward, |mark| {
                passed.extend(track.passed(mark, forward, now, callbacks, clips));
            });
        });
        self.tracks[at].run.near = near;
    }

    /// Lets a track that begins fire the keys where it does.
    pub(super) fn pass_first(&mut self, at: usize, forward: bool) {
        let (now, clips) = (self.tracks.clock.now, self.step.clips);
        self.report(at, forward, |track, callbacks, passed| {
            let Some(marks) = &track.run.marks else {
                return;
            };
            marks.at_start(track.anchor.from, forward, |mark, is_inside| {
                let mut found = track.passed(mark, forward, now, callbacks, clips);
                let range = found.as_mut().filter(|found| found.what != What::Key);
                if let Some(range) = range.filter(|_| is_inside) {
                    range.clip_time = track.clip_time(mark.key, clips);
                }
                passed.extend(found);
            });
        });
    }

    /// Reports what is passed at one place, and the end of a clip that plays once if that is there.
    fn report(
        &mut self,
        at: usize,
        forward: bool,
        collect: impl FnOnce(&AnimationTrack, &[AddedCallback], &mut Vec<Passed>),
    ) {
        self.tracks.note_heaviest(at, &self.step);
        let mut passed = mem::take(&mut self.agenda.passed);
        let track = &self.tracks[at];
        collect(track, &self.tracks.callbacks, &mut passed);
        if track
            .once()
            .is_some_and(|known| known.is_at_end(track.anchor.from, forward))
        {
            passed.push(Passed::of_track(What::End));
        }
        self.agenda.count_work(passed.len() as u64);
        for passed in passed.drain(..) {
            self.note_for_states(at, &passed);
            match passed.what {
                What::Key => self.fire(at, &passed),
                What::Loop => self.report_loop(at),
                What::Enters | What::Leaves | What::Flashes => self.cross(at, &passed),
                What::End => {
                    let event = played!(Finished, self.tracks, at);
                    self.step.out.push(event);
                    self.arrive(at);
                }
            }
        }
        self.agenda.passed = passed;
    }

    /// Lets all tracks pass the rest of an advance without reports, because it is too much work.
    pub(super) fn mute(&mut self) {
        for at in 0..self.tracks.len() {
            let track = &mut self.tracks[at];
            if track.run.muted {
                self.note_followed(at);
            } else if track.anchor.law.moves() {
                track.run.planned = false;
                let clip = self.tracks.played(at).1;
                self.flood(at, clip);
            }
        }
        self.tracks.plan();
    }

    /// Notes that the clip of a track has come to the end of its loop.
    fn arrive(&mut self, at: usize) {
        if self.director.is_followed(&self.tracks[at]) {
            self.arrived = Some((self.tracks[at].id, Follows::Clip));
        }
    }

    fn report_loop(&mut self, at: usize) {
        self.arrive(at);
        if self.tracks[at].run.muted {
            return;
        }
        if self.tracks[at].run.looped as usize >= self.callback_limit {
            return self.flood(at, self.tracks.played(at).1);
        }
        self.tracks[at].run.looped += 1;
        let event = played!(Looped, self.tracks, at);
        self.step.out.push(event);
    }

    /// Fires a callback.
    fn fire(&mut self, at: usize, passed: &Passed) {
        let key = passed.key;
        let weight = self.tracks.weight_now(at) * passed.share as f32;
        if passed.share <= 0.0 || !self.may_report(at, passed.clip, weight, key) {
            return;
        }
        let callbacks = &self.tracks.callbacks;
        let Some((name, data)) = key.name_and_data(passed.clip, callbacks, self.step.clips) else {
            return;
        };
        let track = self.tracks[at].id;
        self.step.out.push(PlaybackEvent::Callback(FiredCallback {
            track,
            clip: passed.clip,
            key,
            kind: CallbackKind::Key,
            name: name.clone().into(),
            data: data.clone(),
            clip_time: passed.clip_time,
            time: self.tracks.clock.now.secs(),
            weight,
            current: self.is_current(track),
        }));
    }

    /// Lets tracks whose passings were not reported be heard again, from where they are. Returns `false` if there are none.
    pub(super) fn end_flood(&mut self) -> bool {
        if !self.tracks.iter().any(|track| track.run.muted) {
            return false;
        }
        self.settle_ranges();
        for at in 0..self.tracks.len() {
            if mem::take(&mut self.tracks[at].run.muted) {
                self.tracks.anchor(at, self.tracks.law(at));
                self.tracks.forget_followers(at);
            }
        }
        self.tracks.plan();
        true
    }
}

impl AnimationTrack {
    /// Describes a mark at the place of the track. `None` if its clip has no weight in the blend space.
    fn passed(
        &self,
        mark: Mark,
        forward: bool,
        moment: Nanos,
        callbacks: &[AddedCallback],
        clips: &dyn Clips,
    ) -> Option<Passed> {
        let what = match mark.kind {
            MarkKind::Loop => return Some(Passed::of_track(What::Loop)),
            // The place of the track says whether it is at its end.
            MarkKind::End => return None,
            MarkKind::Key => What::Key,
            MarkKind::Flash => What::Flashes,
            MarkKind::Low { .. } if forward => What::Enters,
            MarkKind::High { .. } if !forward => What::Enters,
            MarkKind::Low { .. } | MarkKind::High { .. } => What::Leaves,
        };
        let mut passed = self.key_on_way(mark.key, moment, callbacks, clips)?;
        passed.what = what;
        if let MarkKind::Low { until: true } | MarkKind::High { until: true } = mark.kind {
            passed.clip_time = passed.span.until.unwrap_or(passed.span.time);
        }
        Some(passed)
    }
}
