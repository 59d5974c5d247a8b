//! One track between two cuts: it moves with one speed or ramp, and what it passes is logged.

use super::{
    AnimationController, AnimationName, AnimationTrack, CallbackKind, FiredCallback, PlaybackEvent,
    callback::{AddedCallback, Key, Keys},
    compensated::CompensatedF64,
    log::Log,
    motion::{Ramp, Speed},
    playhead::{Passed, PlayheadSweep},
    range::RangeSweep,
    track::{Known, Start},
};
use crate::model::ClipTiming;
use std::mem;

/// The time between two cuts, for one track.
#[derive(Clone, Copy)]
pub(super) struct Segment<'a> {
    pub(super) begin: CompensatedF64,
    pub(super) end: CompensatedF64,
    /// How the track's weight changes, if it does.
    pub(super) weight: Option<Ramp>,
    /// The track's clip.
    pub(super) timing: &'a ClipTiming,
    pub(super) rules: Rules<'a>,
}

/// What the controller says about callbacks.
#[derive(Clone, Copy)]
pub(super) struct Rules<'a> {
    /// The controller's own.
    pub(super) callbacks: &'a [AddedCallback],
    /// How many of them, and how many rounds, a track may report in one advance.
    pub(super) limit: usize,
    /// The least weight at which they fire.
    pub(super) threshold: f32,
    /// Whether the track's clip is the current one.
    pub(super) current: bool,
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
    pub(super) fn travel(&self, track: &mut AnimationTrack, speed: Speed, target: Target, log: &mut Log) {
        // A track that follows goes its leader's way even beyond its own ends, where it only waits.
        let origin = |track: &AnimationTrack, way: CompensatedF64| {
            if matches!(target, Target::Follow { .. }) { way } else { track.hold(way) }
        };
        let (mut begin, mut from) = (self.begin, origin(track, track.position));
        for end in speed.turning_point(self.begin, self.end).into_iter().chain([self.end]) {
            let forward = speed.is_forward(begin, end);
            let to = match target {
                Target::Arrive(to) | Target::Follow { to, .. } if end == self.end => CompensatedF64::new(to),
                Target::Follow { turn, .. } => CompensatedF64::new(turn),
                _ => from + speed.distance(begin, end),
            };
            Segment { begin, end, ..*self }.sweep(track, [from, to], forward, Some(speed), log);
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
        let (Some(Known { length, playback }), Some(clip)) = (track.known, track.run.0.index) else { return };
        // Rounding must not lead against the direction.
        if (forward && to.is_before(origin)) || (!forward && origin.is_before(to)) {
            to = origin;
        }
        let from = track.hold(origin);
        track.position = track.hold(to);
        let (id, start) = (track.id, mem::replace(&mut track.start, Start::Begun));
        let first = start == Start::AtPosition;
        if start != Start::Begun {
            log.push(PlaybackEvent::Started { track: id, clip, time: self.begin.value() });
        }
        let (from, to) = (from.value(), track.position.value());
        let sweep = PlayheadSweep { length, playback, from, to, forward, first };
        let share = track.share();
        let Rules { callbacks, limit, threshold, current } = self.rules;
        let run = &mut track.run.0;
        let added = if callbacks.is_empty() { &[][..] } else { &run.added[..] };
        let own = &self.timing.callbacks;
        // Of keys that fire in passing; ranges have a sweep of their own.
        let keyless = own.iter().all(|key| key.until.is_some()) && added.iter().all(|key| key.is_range());
        let moment_of = |place: f64| match speed {
            Some(speed) if place != from => {
                speed.moment(self.begin, self.end, (CompensatedF64::new(place) - origin).value())
            }
            _ => self.begin,
        };
        sweep.pass(Keys::new(own, added, callbacks, length), |passed, place| {
            let moment = moment_of(place);
            let time = moment.value();
            match passed {
                Passed::Key(Key { until: Some(_), .. }) => {}
                Passed::Key(key) if run.fired < limit => {
                    let weight = self.weight.map_or(share, |ramp| (ramp.at(moment) as f32).max(0.0));
                    if weight < threshold {
                        return true;
                    }
                    run.fired += 1;
                    log.push(PlaybackEvent::Callback(FiredCallback {
                        track: id,
                        clip,
                        key: key.key,
                        kind: CallbackKind::Key,
                        name: AnimationName::new(key.name.clone()),
                        data: key.data.clone(),
                        clip_time: key.time,
                        time,
                        weight,
                        current,
                    }));
                }
                Passed::Round if run.looped < limit => {
                    run.looped += 1;
                    log.push(PlaybackEvent::Looped { track: id, clip, time });
                }
                Passed::Key(_) | Passed::Round => {
                    if !mem::replace(&mut track.reported_flood, true) {
                        log.push(PlaybackEvent::TooManyCallbacks { track: id, clip, limit, time });
                    }
                    // The rounds to come would report nothing more.
                    return matches!(passed, Passed::Key(_)) || (!keyless && run.fired < limit);
                }
                Passed::End => log.push(PlaybackEvent::Finished { track: id, clip, time }),
            }
            true
        });
        if AnimationController::has_ranges(track, self.timing, callbacks) {
            let (begin, weight, timing) = (self.begin, self.weight, self.timing);
            let sweep =
                RangeSweep { from, to, forward, first, begin, weight, current, threshold, limit, timing, callbacks };
            sweep.run(track, moment_of, log);
        }
    }
}
