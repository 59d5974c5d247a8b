//! The ordinary frame: the playheads move, and nothing else happens.
//!
//! No event is due, no fade runs, no clip may switch, and no playhead passes a key, a round or an end. That is
//! decided before anything is changed, with the same comparisons that the full step makes, unless all keys are far away.
//! So the state afterwards is the same to the last bit. It takes about a tenth of the full step's time.
//!
//! Where the parameters of a blend space move, the frame is cut where their way bends, as in the full step. Up to the
//! cut before the first that is not ordinary, all is done here; the full step takes it from there.

use super::{
    AnimationController, AnimationTrack, Clips,
    compensated::CompensatedF64,
    key::{self, AddedCallback, Keys},
    motion::Speed,
    playback_state::Playback,
    playhead::PlayheadSweep,
    root_motion::RootSum,
    track::{Known, Start},
};
use crate::model::{Phase, PlaybackMode};
use std::sync::Arc;

/// A controller with more tracks takes the full step.
const FEW: usize = 8;

impl AnimationController {
    /// Advances to `end` as long as nothing happens, from cut to cut where the parameters of blend spaces move. Returns
    /// `false` if something may happen before: from there, the full step goes on.
    pub(super) fn advance_fast<C: Clips + ?Sized>(
        &mut self,
        end: CompensatedF64,
        clips: &C,
        mut root: Option<&mut RootSum>,
    ) -> bool {
        let count = self.tracks.len();
        if count > FEW
            || !self.ranges.is_empty()
            || !self.events.is_empty()
            || !self.unknown.is_empty()
            || !self.playback.is_quiet()
        {
            return false;
        }
        let (time, blends) = (
            self.time,
            self.tracks.iter().any(|track| track.run.0.space.is_some()),
        );
        if blends
            && !self
                .tracks
                .iter_mut()
                .all(|track| track.go_on_in_space(time, clips))
        {
            return false;
        }
        loop {
            let mut next = end;
            if blends {
                next = self.next_bend(end, clips).unwrap_or(end);
                self.settle_courses([self.time, next], clips);
            }
            let elapsed = self.time.is_before(next).then(|| next - self.time);
            let Self {
                tracks, callbacks, ..
            } = self;
            let step = Step {
                span: [self.time, next],
                elapsed,
                callbacks,
                carries: root.is_some(),
            };
            let mut before = [CompensatedF64::ZERO; FEW];
            for (place, track) in before.iter_mut().zip(&*tracks) {
                *place = track.position;
            }
            if !tracks.iter_mut().all(|track| step.glide(track, clips)) {
                for (place, track) in before.iter().zip(tracks) {
                    track.position = *place;
                }
                return false;
            }
            if let Some(root) = &mut root {
                self.add_root_motion([self.time, next], clips, root);
            }
            self.time = next;
            if blends {
                self.write_parameters();
            }
            if !next.is_before(end) {
                self.drop_ended_switches();
                return true;
            }
        }
    }
}

/// The time between two cuts.
struct Step<'a> {
    span: [CompensatedF64; 2],
    /// How long it is, unless no time passes.
    elapsed: Option<CompensatedF64>,
    /// The controller's own.
    callbacks: &'a [AddedCallback],
    /// Whether root motion is asked for.
    carries: bool,
}

impl Step<'_> {
    /// Moves a track, if it passes nothing on the way and its clip is unchanged; else, returns `false`.
    #[inline]
    fn glide<C: Clips + ?Sized>(&self, track: &mut AnimationTrack, clips: &C) -> bool {
        let from = track.held().value();
        let goes = match track.run.0.space {
            _ if !track.enabled && track.clip.is_empty() => Some(()),
            Some(space) => self.glide_in_space(track, space, clips),
            None => self.glide_in_clip(track, clips),
        };
        if self.carries {
            track.run.0.from = from;
        }
        goes.is_some()
    }

    #[inline]
    fn glide_in_clip<C: Clips + ?Sized>(
        &self,
        track: &mut AnimationTrack,
        clips: &C,
    ) -> Option<()> {
        let run = &track.run.0;
        let timing = clips.timing(run.index?)?;
        let known @ Known { length, playback } = track.known?;
        let same_clip = run.blend == track.blend
            && Arc::ptr_eq(track.clip.as_arc(), &timing.name)
            && known == Known::new(timing, track.playback);
        let added_fit = self.callbacks.is_empty() || track.added_fit();
        let fades = track.leaves_at.is_some()
            || (track.overlay.is_some() && playback == PlaybackMode::Once);
        let synced = track.enabled && track.sync.is_some();
        let added = if self.callbacks.is_empty() {
            &[][..]
        } else {
            &run.added[..]
        };
        let ranges = AnimationController::has_ranges(&timing.callbacks, added);
        if !same_clip
            || !added_fit
            || fades
            || synced
            || ranges
            || track.scrub.is_some()
            || track.start == Start::AtEnd
        {
            return None;
        }
        let Some(elapsed) = self.elapsed.filter(|_| track.enabled && !track.paused) else {
            return Some(());
        };
        if track.start != Start::Begun {
            return None;
        }
        let speed = if track.speed.is_finite() {
            track.speed
        } else {
            0.0
        };
        let (from, forward) = (track.held(), speed >= 0.0);
        let to = goal(track, from, Speed::steady_distance(speed, elapsed), forward);
        let sweep = PlayheadSweep {
            length,
            playback,
            from: from.value(),
            to: to.value(),
            forward,
            first: false,
        };
        let nothing = sweep.is_plain(key::times(&timing.callbacks, added))
            || sweep.passes_nothing(Keys::new(&timing.callbacks, added, self.callbacks, length));
        if nothing {
            track.position = to;
        }
        nothing.then_some(())
    }

    /// Moves a track that plays a blend space, if neither the space nor any clip that weighs passes anything on the way.
    /// Rounds of the clips don't count: only those of the space are reported.
    // Always inlined: otherwise, copying positions waits for their halves, which were just written.
    #[inline(always)]
    fn glide_in_space<C: Clips + ?Sized>(
        &self,
        track: &mut AnimationTrack,
        space: usize,
        clips: &C,
    ) -> Option<()> {
        let space = clips.blend_spaces().get(space)?;
        let course = track.run.0.course.as_deref()?;
        let Known { length, playback } = track.known?;
        let fades = track.leaves_at.is_some()
            || (track.overlay.is_some() && playback == PlaybackMode::Once);
        let synced = track.enabled && track.sync.is_some();
        if !self.callbacks.is_empty() || fades || synced || track.scrub.is_some() {
            return None;
        }
        let from = track.held();
        let (mut to, mut forward) = (from, true);
        let elapsed = self.elapsed.filter(|_| track.enabled && !track.paused);
        if let Some(elapsed) = elapsed {
            if track.start != Start::Begun {
                return None;
            }
            let [begin, end] = self.span;
            let speed = course.paced(Speed::Steady(if track.speed.is_finite() {
                track.speed
            } else {
                0.0
            }));
            forward = speed.is_forward(begin, end);
            to = goal(track, from, speed.distance_in(elapsed, begin, end), forward);
        }
        let cycle = PlayheadSweep {
            length,
            playback,
            from: from.value(),
            to: to.value(),
            forward,
            first: false,
        };
        if !cycle.is_plain(std::iter::empty())
            && !cycle.passes_nothing(Keys::new(&[], &[], &[], length))
        {
            return None;
        }
        let phases = [Phase::new(cycle.from), Phase::new(cycle.to)];
        let course = track.run.0.course.as_deref_mut()?;
        for weighing in course.weighing_mut() {
            let member = &space.members()[weighing.member];
            let keys = clips
                .timing(member.clip)
                .map_or(&[][..], |timing| &timing.callbacks);
            if keys.is_empty() && !self.carries {
                continue;
            }
            let playback = member.playback(space, playback);
            weighing.move_along(member, playback, phases);
            if keys.is_empty() {
                continue;
            }
            let [from, to] = weighing.way;
            let sweep = PlayheadSweep {
                length: member.length,
                playback,
                from,
                to,
                ..cycle
            };
            let stretch = sweep.stretch();
            let mut is_plain = stretch.is_some();
            for key in keys {
                if key.until.is_some() {
                    return None;
                }
                is_plain &= stretch.is_some_and(|[low, high]| key.time < low || key.time > high);
            }
            if !is_plain && sweep.passes_a_key(Keys::new(keys, &[], &[], member.length)) {
                return None;
            }
        }
        if elapsed.is_some() {
            track.position = to;
        }
        Some(())
    }
}

/// Returns where a track gets to.
#[inline]
fn goal(
    track: &AnimationTrack,
    from: CompensatedF64,
    distance: CompensatedF64,
    forward: bool,
) -> CompensatedF64 {
    let to = from + distance;
    // Rounding must not lead against the direction.
    let is_against = if forward {
        to.is_before(from)
    } else {
        from.is_before(to)
    };
    track.hold(if is_against { from } else { to })
}

impl Playback {
    /// Returns `true` if nothing waits, fades or may be switched.
    fn is_quiet(&self) -> bool {
        self.pending.is_empty() && !self.fades() && !self.may_switch()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::{CallbackTime, PlaybackEvent};
    use crate::model::ClipTiming;
    use std::time::Duration;

    fn clips(random: &mut fastrand::Rng) -> Vec<ClipTiming> {
        let clip = |i: usize| {
            let length = [0.0, 0.0005, 0.25, 1.0, 0.1 + random.f64() * 2.0][random.usize(..5)];
            let playback = [
                PlaybackMode::Loop,
                PlaybackMode::Once,
                PlaybackMode::PingPong,
            ][random.usize(..3)];
            let mut timing = ClipTiming {
                playback,
                ..ClipTiming::new(format!("c{i}"), length)
            };
            for _ in 0..random.usize(..4) {
                let share = [0.0, 1.0, 0.5, random.f64()][random.usize(..4)];
                timing.add_callback(share * length, "key", ());
            }
            timing
        };
        (0..3).map(clip).collect()
    }

    fn controller(random: &mut fastrand::Rng) -> AnimationController {
        let mut controller = AnimationController::default();
        for _ in 0..random.usize(1..4) {
            let clip = format!("c{}", random.usize(..4));
            let speed =
                [1.0, 1.0, 0.0, -1.0, f64::NAN, random.f64() * 4.0 - 2.0][random.usize(..6)];
            let mut track = AnimationTrack::new(clip)
                .speed(speed)
                .starting_at(random.f64() * 9.0 - 4.0);
            track.paused = random.u8(..8) == 0;
            track.enabled = random.u8(..8) != 0;
            track.playback = [None, None, None, Some(PlaybackMode::Loop)][random.usize(..4)];
            track.sync = (random.u8(..10) == 0).then_some(1);
            controller.add_track(if random.u8(..6) == 0 {
                track.reversed()
            } else {
                track
            });
        }
        if random.u8(..4) == 0 {
            controller.add_callback("c0", CallbackTime::Fraction(random.f64()), "added", ());
        }
        controller
    }

    /// Steps that often end right on a key or an end.
    fn step(random: &mut fastrand::Rng) -> f64 {
        [
            0.0,
            1.0 / 64.0,
            1.0 / 60.0,
            1.0 / 240.0,
            0.125,
            random.f64() * 0.1,
        ][random.usize(..6)]
    }

    fn disturb(controller: &mut AnimationController, random: &mut fastrand::Rng) {
        let id = controller
            .tracks
            .get(random.usize(..4))
            .map(|track| track.id);
        match random.u8(..40) {
            0 => drop(
                controller
                    .queue_mut()
                    .push(format!("c{}", random.usize(..3))),
            ),
            1 => drop(controller.cross_fade(
                format!("c{}", random.usize(..3)),
                Duration::from_millis(200),
            )),
            2 => controller.toggle_pause(),
            3 => controller
                .tracks_mut()
                .for_each(|track| track.seek(random.f64() * 2.0)),
            4 => controller
                .tracks_mut()
                .for_each(|track| track.scrub(random.f64() * 2.0)),
            5 => controller.reset_time(),
            6 => controller
                .tracks_mut()
                .for_each(|track| track.speed = -track.speed),
            7 => drop(id.map(|id| controller.fade_track(id, 0.3, Duration::from_millis(200)))),
            9 => drop(controller.switch(
                format!("c{}", random.usize(..3)),
                Duration::from_millis(200),
            )),
            8 => controller
                .tracks_mut()
                .for_each(|track| track.enabled = true),
            _ => {}
        }
    }

    #[test]
    fn a_fast_step_leaves_the_state_of_a_full_one_and_neither_misses_an_event() {
        let mut random = fastrand::Rng::with_seed(11);
        let mut fast_steps = 0;
        for _ in 0..1000 {
            let clips = clips(&mut random);
            let mut either = controller(&mut random);
            let mut full = either.clone();
            for _ in 0..120 {
                let dt = step(&mut random);
                let mut same = random.clone();
                disturb(&mut either, &mut random);
                disturb(&mut full, &mut same);
                let end = if full.paused {
                    full.time
                } else {
                    full.time + CompensatedF64::new(dt)
                };
                fast_steps += usize::from(either.clone().advance_fast(end, &clips, None));
                let mut events: [Vec<PlaybackEvent>; 2] = Default::default();
                either.advance(dt, &clips, &mut events[0]).unwrap();
                if full.plays_nothing() {
                    full.time = end;
                } else {
                    full.advance_in_full(end, &clips, &mut events[1], None);
                }
                // By their text, for a speed may be NaN, which equals nothing.
                let [ours, theirs] =
                    [&either, &full].map(|controller| ron::to_string(controller).unwrap());
                assert_eq!(ours, theirs);
                assert_eq!(events[0], events[1]);
            }
        }
        assert!(fast_steps > 20_000, "{fast_steps} steps were fast");
    }
}
