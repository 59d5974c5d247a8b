//! Keys, loops, and ranges that tracks pass, and the events that report them.

use super::{
    AnimationTrack, CallbackKind, Clips, FiredCallback, KeyRef, PlaybackEvent,
    clock::Nanos,
    motion::Instant,
    on_way::KeyOnWay,
    report::{Advance, Follows},
    run::Next,
    step::{Crossing, Passed, RangePassed, What},
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
                What::Key(key, time) => self.fire(at, &passed, key, time),
                What::Loop => self.report_loop(at),
                What::Range(range) => self.cross(at, &passed, range),
                What::End => {
                    let (track, clip, space, time) = self.tracks.played(at);
                    self.step.out.push(PlaybackEvent::Finished {
                        track,
                        clip,
                        space,
                        time,
                    });
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
        let (track, clip, space, time) = self.tracks.played(at);
        if self.tracks[at].run.looped as usize >= self.callback_limit {
            return self.flood(at, clip);
        }
        self.tracks[at].run.looped += 1;
        self.step.out.push(PlaybackEvent::Looped {
            track,
            clip,
            space,
            time,
        });
    }

    /// Fires a callback.
    fn fire(&mut self, at: usize, passed: &Passed, key: KeyRef, clip_time: f64) {
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
            clip_time,
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
