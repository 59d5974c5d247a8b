//! One track between two cuts: it moves with one speed or ramp, and what it passes is logged.

use super::{
    AnimationController, AnimationName, AnimationTrack, CallbackKind, FiredCallback, PlaybackEvent,
    TrackId,
    compensated::CompensatedF64,
    course::{Blended, Weighing},
    key::{self, Key, Keys, Rules},
    log::{Log, MOST_PASSED},
    motion::{Ramp, Speed},
    playhead::{Passed, PlayheadSweep},
    range::{Line, RangeSweep},
    track::{Known, Start},
};
use crate::model::{CallbackKey, Phase};
use std::mem;

/// The time between two cuts, for one track.
#[derive(Clone, Copy)]
pub(super) struct Segment<'a> {
    pub(super) begin: CompensatedF64,
    pub(super) end: CompensatedF64,
    /// How the track's weight changes, if it does.
    pub(super) weight: Option<Ramp>,
    /// The clip's keys.
    pub(super) keys: &'a [CallbackKey],
    /// The blend space, if it plays one.
    pub(super) blended: Option<Blended<'a>>,
    pub(super) rules: Rules<'a>,
}

/// Where a track goes.
#[derive(Clone, Copy)]
pub(super) enum Target {
    /// As far as its speed takes it.
    Open,
    /// To a position at which it is known to arrive.
    Arrive(f64),
    /// To where its leader takes it, by way of where the leader reversed.
    Follow { turn: f64, to: f64 },
}

impl Segment<'_> {
    /// Moves a track at a speed.
    pub(super) fn travel(
        &self,
        track: &mut AnimationTrack,
        speed: Speed,
        target: Target,
        log: &mut Log,
    ) {
        // A track that follows goes its leader's way even beyond its own ends, where it only waits.
        let origin = |track: &AnimationTrack, way: CompensatedF64| {
            if matches!(target, Target::Follow { .. }) {
                way
            } else {
                track.hold(way)
            }
        };
        let (mut begin, mut from) = (self.begin, origin(track, track.position));
        for end in speed
            .turning_point(self.begin, self.end)
            .into_iter()
            .chain([self.end])
        {
            let forward = speed.is_forward(begin, end);
            let to = match target {
                Target::Arrive(to) | Target::Follow { to, .. } if end == self.end => {
                    CompensatedF64::new(to)
                }
                Target::Follow { turn, .. } => CompensatedF64::new(turn),
                _ => from + speed.distance(begin, end),
            };
            Segment {
                begin,
                end,
                ..*self
            }
            .sweep(track, [from, to], forward, Some(speed), log);
            if end != self.end {
                track.run.0.turn = track.held().value();
            }
            (begin, from) = (end, origin(track, to));
        }
    }

    /// Moves a track in one direction and logs what it passes: at the moments that `speed` gives, or all at the
    /// segment's begin without one. A clip that plays once is held within its ends.
    pub(super) fn sweep(
        &self,
        track: &mut AnimationTrack,
        [origin, mut to]: [CompensatedF64; 2],
        forward: bool,
        speed: Option<Speed>,
        log: &mut Log,
    ) {
        let (Some(Known { length, playback }), Some(clip)) = (track.known, track.run.0.index)
        else {
            return;
        };
        // Rounding must not lead against the direction.
        if (forward && to.is_before(origin)) || (!forward && origin.is_before(to)) {
            to = origin;
        }
        let from = track.hold(origin);
        track.position = track.hold(to);
        let (id, space, start) = (
            track.id,
            track.run.0.space,
            mem::replace(&mut track.start, Start::Begun),
        );
        let (first, placed) = (start == Start::AtPosition, start == Start::Placed);
        // In a blend space, the heaviest clip stands for all.
        let clip_at = |moment| {
            self.blended
                .and_then(|blended| blended.clip(moment))
                .unwrap_or(clip)
        };
        if start != Start::Begun {
            log.push(PlaybackEvent::Started {
                track: id,
                clip: clip_at(self.begin),
                space,
                time: self.begin.value(),
            });
        }
        let (from, to) = (from.value(), track.position.value());
        let sweep = PlayheadSweep {
            length,
            playback,
            from,
            to,
            forward,
            first,
        };
        // A round begins before its keys, and backwards after them.
        if !forward {
            self.sweep_members(track, (sweep, placed), origin, speed, log);
        }
        let (share, mut end) = (track.share(), None);
        let Rules {
            callbacks,
            limit,
            threshold,
            ..
        } = self.rules;
        let run = &mut track.run.0;
        let added = if callbacks.is_empty() {
            &[][..]
        } else {
            &run.added[..]
        };
        // Of keys that fire in passing; ranges have a sweep of their own.
        let keyless = self.keys.iter().all(|key| key.until.is_some())
            && added.iter().all(|key| key.is_range());
        log.count_work((self.keys.len() + added.len()) / 16);
        sweep.pass(
            Keys::new(self.keys, added, callbacks, length),
            |passed, place| {
                let moment = self.moment(speed, origin, from, place);
                let (time, clip) = (moment.value(), clip_at(moment));
                if !log.count_passed() {
                    if !mem::replace(&mut track.reported_flood, true) {
                        log.push(PlaybackEvent::TooManyCallbacks {
                            track: id,
                            clip,
                            limit: MOST_PASSED,
                            time,
                        });
                    }
                    return false;
                }
                match passed {
                    Passed::Key(Key { until: Some(_), .. }) => {}
                    Passed::Key(key) if run.fired < limit => {
                        let weight = self
                            .weight
                            .map_or(share, |ramp| (ramp.at(moment) as f32).max(0.0));
                        if weight < threshold {
                            return true;
                        }
                        run.fired += 1;
                        log.push(self.fired(id, clip, key, time, weight));
                    }
                    Passed::Round if run.looped < limit => {
                        run.looped += 1;
                        log.push(PlaybackEvent::Looped {
                            track: id,
                            clip,
                            space,
                            time,
                        });
                    }
                    Passed::Key(_) | Passed::Round => {
                        if !mem::replace(&mut track.reported_flood, true) {
                            log.push(PlaybackEvent::TooManyCallbacks {
                                track: id,
                                clip,
                                limit,
                                time,
                            });
                        }
                        // The rounds to come would report nothing more.
                        return matches!(passed, Passed::Key(_)) || (!keyless && run.fired < limit);
                    }
                    Passed::End => {
                        end = Some(PlaybackEvent::Finished {
                            track: id,
                            clip,
                            space,
                            time,
                        })
                    }
                }
                true
            },
        );
        if AnimationController::has_ranges(self.keys, added) {
            let keys = Keys::new(self.keys, added, callbacks, length);
            let line = Line {
                track: id,
                name: &track.clip,
                known: Known { length, playback },
                clip,
                member: None,
                keys,
            };
            let count = (&mut run.fired, &mut track.reported_flood);
            let weight = |moment| {
                self.weight
                    .map_or(share, |ramp| (ramp.at(moment) as f32).max(0.0))
            };
            let moment = |place| self.moment(speed, origin, from, place);
            RangeSweep {
                line,
                from,
                to,
                forward,
                first,
                placed,
                begin: self.begin,
                rules: self.rules,
            }
            .run(count, moment, weight, log);
        }
        if forward {
            self.sweep_members(track, (sweep, placed), origin, speed, log);
        }
        if let Some(end) = end {
            log.push(end);
        }
    }

    /// Logs the keys of a blend space's clips: those that weigh as their key is passed.
    fn sweep_members(
        &self,
        track: &mut AnimationTrack,
        (cycle, placed): (PlayheadSweep, bool),
        origin: CompensatedF64,
        speed: Option<Speed>,
        log: &mut Log,
    ) {
        let Some(Blended {
            space,
            course,
            timings,
        }) = self.blended
        else {
            return;
        };
        let (id, share, run) = (track.id, track.share(), &mut track.run.0);
        let Rules {
            callbacks,
            limit,
            threshold,
            ..
        } = self.rules;
        let whole = |moment| {
            self.weight
                .map_or(share, |ramp| (ramp.at(moment) as f32).max(0.0))
        };
        let phases = [Phase::new(cycle.from), Phase::new(cycle.to)];
        for (
            &Weighing {
                member: index,
                weights: ends,
                ..
            },
            timing,
        ) in course.weighing().iter().zip(timings)
        {
            let (Some(member), Some(timing)) = (space.members().get(index), timing) else {
                continue;
            };
            let added = if callbacks.is_empty() {
                &[][..]
            } else {
                course.added.get(index).map_or(&[][..], |keys| keys)
            };
            if timing.callbacks.is_empty() && added.is_empty() {
                continue;
            }
            let (length, playback) = (member.length, member.playback(space, cycle.playback));
            let ([from, to], _) = member.places(playback, phases);
            let sweep = PlayheadSweep {
                length,
                playback,
                from,
                to,
                ..cycle
            };
            let moment = |place: f64| {
                let at = if place == from {
                    cycle.from
                } else {
                    member.phase(playback, place)
                };
                if length > 0.0 {
                    self.moment(speed, origin, cycle.from, at)
                } else {
                    self.begin
                }
            };
            if AnimationController::has_ranges(&timing.callbacks, added) {
                let (known, keys) = (
                    Known { length, playback },
                    Keys::new(&timing.callbacks, added, callbacks, length),
                );
                let line = Line {
                    track: id,
                    name: &track.clip,
                    known,
                    clip: member.clip,
                    member: Some(&member.name),
                    keys,
                };
                let count = (&mut run.fired, &mut track.reported_flood);
                let weight = |moment| whole(moment) * course.share(ends, moment) as f32;
                RangeSweep {
                    line,
                    from,
                    to,
                    forward: cycle.forward,
                    first: cycle.first,
                    placed,
                    begin: self.begin,
                    rules: self.rules,
                }
                .run(count, moment, weight, log);
            }
            if sweep.is_plain(key::times(&timing.callbacks, added)) {
                continue;
            }
            log.count_work((timing.callbacks.len() + added.len()) / 16);
            sweep.pass(
                Keys::new(&timing.callbacks, added, callbacks, length),
                |passed, place| {
                    if !log.count_passed() {
                        if !mem::replace(&mut track.reported_flood, true) {
                            let (clip, time) = (member.clip, moment(place).value());
                            log.push(PlaybackEvent::TooManyCallbacks {
                                track: id,
                                clip,
                                limit: MOST_PASSED,
                                time,
                            });
                        }
                        return false;
                    }
                    let Passed::Key(key) = passed else {
                        // Where nothing fires any more, rounds are not worth going through.
                        return run.fired < limit;
                    };
                    if key.until.is_some() {
                        return true;
                    }
                    let moment = moment(place);
                    let own = course.share(ends, moment);
                    let weight = whole(moment) * own as f32;
                    if own <= 0.0 || weight < threshold {
                        return true;
                    }
                    if run.fired < limit {
                        run.fired += 1;
                        log.push(self.fired(id, member.clip, key, moment.value(), weight));
                    } else if !mem::replace(&mut track.reported_flood, true) {
                        let (clip, time) = (member.clip, moment.value());
                        log.push(PlaybackEvent::TooManyCallbacks {
                            track: id,
                            clip,
                            limit,
                            time,
                        });
                    }
                    true
                },
            );
        }
    }

    /// When a place is passed, at the moments that `speed` gives.
    fn moment(
        &self,
        speed: Option<Speed>,
        origin: CompensatedF64,
        from: f64,
        place: f64,
    ) -> CompensatedF64 {
        match speed {
            Some(speed) if place != from => speed.moment(
                self.begin,
                self.end,
                (CompensatedF64::new(place) - origin).value(),
            ),
            _ => self.begin,
        }
    }

    fn fired(
        &self,
        track: TrackId,
        clip: usize,
        key: Key,
        time: f64,
        weight: f32,
    ) -> PlaybackEvent {
        PlaybackEvent::Callback(FiredCallback {
            track,
            clip,
            key: key.key,
            kind: CallbackKind::Key,
            name: AnimationName::new(key.name.clone()),
            data: key.data.clone(),
            clip_time: key.time,
            time,
            weight,
            current: self.rules.current,
        })
    }
}
