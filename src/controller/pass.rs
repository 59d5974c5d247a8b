//! Keys, loops, and ranges that tracks pass, and the events that report them.

use super::{
    AnimationController, AnimationTrack, CallbackKind, Clips, FiredCallback, KeyRef, PlaybackEvent,
    clock::Nanos,
    motion::Instant,
    on_way::KeyOnWay,
    overlay,
    run::Next,
    step::{Crossing, Follows, Passed, RangePassed, Step, What},
};
use crate::{
    controller::key::AddedCallback,
    model::{Mark, MarkKind},
};
use std::mem;

impl AnimationController {
    /// Lets a track pass what is next.
    pub(super) fn pass(&mut self, at: usize, step: &mut Step) {
        let run = &mut self.tracks[at].run;
        let Some(Next { when, place }) = run.next() else {
            return;
        };
        run.set_next(None);
        self.pass_place(at, when, place, self.forward(at), step);
        let track = &self.tracks[at];
        if overlay::fade_place(track, self.forward(at)) == Some(track.anchor.from) {
            step.arrived = Some((track.id, Follows::FadeOut));
        }
        self.forget_followers(at);
        self.plan();
    }

    /// Lets a track pass what is at a place.
    pub(super) fn pass_place(
        &mut self,
        at: usize,
        when: Instant,
        place: f64,
        forward: bool,
        step: &mut Step,
    ) {
        let (now, clips) = (self.clock.now, step.clips);
        let track = &mut self.tracks[at];
        track.anchor.pass(when, place);
        track.position = place;
        track.run.planned = false;
        self.report(at, forward, step, |track, callbacks, passed| {
            track.marks_at(place, forward, |mark| {
                passed.extend(track.passed(mark, forward, now, callbacks, clips));
            });
        });
    }

    /// Lets a track that begins fire the keys where it does.
    pub(super) fn pass_first(&mut self, at: usize, forward: bool, step: &mut Step) {
        let (now, clips) = (self.clock.now, step.clips);
        self.report(at, forward, step, |track, callbacks, passed| {
            let Some(marks) = &track.run.marks else {
                return;
            };
            marks.at_start(track.anchor.from, forward, |mark, is_inside| {
                let found = track.passed(mark, forward, now, callbacks, clips);
                passed.extend(found.map(|mut passed| {
                    if is_inside && let What::Range(range) = &mut passed.what {
                        range.clip_time = track.clip_time(mark.key, clips);
                    }
                    passed
                }));
            });
        });
    }

    /// Reports what is passed at one place, and the end of a clip that plays once if that is there.
    fn report(
        &mut self,
        at: usize,
        forward: bool,
        step: &mut Step,
        collect: impl FnOnce(&AnimationTrack, &[AddedCallback], &mut Vec<Passed>),
    ) {
        self.note_heaviest(at, step.clips);
        let mut passed = mem::take(&mut self.agenda.passed);
        let track = &self.tracks[at];
        collect(track, &self.extras.callbacks, &mut passed);
        if track
            .once()
            .is_some_and(|known| known.is_at_end(track.anchor.from, forward))
        {
            passed.push(Passed::of_track(What::End));
        }
        self.count_work(passed.len() as u64);
        for passed in passed.drain(..) {
            self.note_for_states(at, &passed, step.clips);
            match passed.what {
                What::Key(key, time) => self.fire(at, &passed, key, time, step),
                What::Loop => self.report_loop(at, step),
                What::Range(range) => self.cross(at, &passed, range, step),
                What::End => {
                    let (track, clip, space, time) = self.played(at);
                    step.out.push(PlaybackEvent::Finished {
                        track,
                        clip,
                        space,
                        time,
                    });
                    self.arrive(at, step);
                }
            }
        }
        self.agenda.passed = passed;
    }

    /// Lets all tracks pass the rest of an advance without reports, because it is too much work.
    pub(super) fn mute(&mut self, step: &mut Step) {
        for at in 0..self.tracks.len() {
            let track = &mut self.tracks[at];
            if !track.run.muted && track.anchor.law.moves() {
                track.run.planned = false;
                let clip = self.played(at).1;
                self.flood(at, clip, step);
            }
        }
        self.plan();
    }

    /// Notes that the clip of a track has come to the end of its loop.
    fn arrive(&self, at: usize, step: &mut Step) {
        if self.is_followed(at) {
            step.arrived = Some((self.tracks[at].id, Follows::Clip));
        }
    }

    fn report_loop(&mut self, at: usize, step: &mut Step) {
        self.arrive(at, step);
        if self.tracks[at].run.muted {
            return;
        }
        let (track, clip, space, time) = self.played(at);
        if self.tracks[at].run.looped as usize >= self.callback_limit {
            return self.flood(at, clip, step);
        }
        self.tracks[at].run.looped += 1;
        step.out.push(PlaybackEvent::Looped {
            track,
            clip,
            space,
            time,
        });
    }

    /// Fires a callback.
    fn fire(&mut self, at: usize, passed: &Passed, key: KeyRef, clip_time: f64, step: &mut Step) {
        let weight = self.weight_now(at) * passed.share as f32;
        if passed.share <= 0.0 || weight < self.callback_threshold || self.tracks[at].run.muted {
            return;
        }
        if step.fired >= self.callback_limit {
            return self.flood(at, passed.clip, step);
        }
        if !self.counts(key) {
            return;
        }
        step.fired += 1;
        let callbacks = &self.extras.callbacks;
        let Some((name, data)) = key.name_and_data(passed.clip, callbacks, step.clips) else {
            return;
        };
        let track = self.tracks[at].id;
        step.out.push(PlaybackEvent::Callback(FiredCallback {
            track,
            clip: passed.clip,
            key,
            kind: CallbackKind::Key,
            name: name.clone().into(),
            data: data.clone(),
            clip_time,
            time: self.clock.now.secs(),
            weight,
            current: self.extras.playback.current == Some(track),
        }));
    }

    /// Counts a passing of a key. Returns `true` if it fires this time.
    pub(super) fn counts(&mut self, key: KeyRef) -> bool {
        match key {
            KeyRef::Clip(_) => true,
            KeyRef::Added(id) => self
                .callback_mut(id)
                .is_some_and(AddedCallback::count_passing),
        }
    }

    /// Reports, once per track, that there is more than the limit, and lets the track pass the rest of this advance without
    /// reports.
    pub(super) fn flood(&mut self, at: usize, clip: usize, step: &mut Step) {
        let (limit, time) = (self.callback_limit, self.clock.now.secs());
        let track = &mut self.tracks[at];
        track.run.muted = true;
        if !mem::replace(&mut track.reported_flood, true) {
            step.out.push(PlaybackEvent::TooManyCallbacks {
                track: track.id,
                clip,
                limit,
                time,
            });
        }
    }

    /// Lets tracks whose passings were not reported be heard again, from where they are. Returns `false` if there are none.
    pub(super) fn end_flood(&mut self, step: &mut Step) -> bool {
        if !self.tracks.iter().any(|track| track.run.muted) {
            return false;
        }
        self.settle_ranges(step);
        for at in 0..self.tracks.len() {
            if mem::take(&mut self.tracks[at].run.muted) {
                self.anchor(at, self.law(at));
                self.forget_followers(at);
            }
        }
        self.plan();
        true
    }

    /// Notes the clip that stands for a blend space at the present time: the heaviest one.
    pub(super) fn note_heaviest(&mut self, at: usize, clips: &dyn Clips) {
        let run = &mut self.tracks[at].run;
        let (Some(space), Some(course)) = (run.space_in(clips), &run.course) else {
            return;
        };
        let heaviest = course.heaviest(self.clock.now, space);
        run.index = heaviest.or(run.index.get()).into();
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
        let crossing = match mark.kind {
            MarkKind::Loop => return Some(Passed::of_track(What::Loop)),
            // The place of the track says whether it is at its end.
            MarkKind::End => return None,
            MarkKind::Key | MarkKind::Flash => Crossing::Flashes,
            MarkKind::Low { .. } if forward => Crossing::Enters,
            MarkKind::High { .. } if !forward => Crossing::Enters,
            MarkKind::Low { .. } | MarkKind::High { .. } => Crossing::Leaves,
        };
        let KeyOnWay {
            clip,
            key,
            span,
            share,
            ..
        } = self.key_on_way(mark.key, moment, callbacks, clips)?;
        let clip_time = match mark.kind {
            MarkKind::Low { until: true } | MarkKind::High { until: true } => {
                span.until.unwrap_or(span.time)
            }
            _ => span.time,
        };
        let what = if mark.kind == MarkKind::Key {
            What::Key(key, clip_time)
        } else {
            What::Range(RangePassed {
                key,
                span,
                crossing,
                clip_time,
            })
        };
        let member = mark.key.member;
        Some(Passed {
            what,
            clip,
            member,
            share,
        })
    }
}
