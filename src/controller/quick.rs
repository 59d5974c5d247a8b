//! The step of every ordinary frame: the playheads move on, and nothing else happens.
//!
//! No event is due, no fade runs, no clip may switch, and no playhead passes a key, a round or an end. Such a
//! step is told by looking, with the same comparisons that find what is passed, before anything is changed;
//! it then leaves the very state that the full step would, bit for bit.

use super::{
    AnimationController, AnimationTrack, Clips, callback,
    exact::Exact,
    motion::Speed,
    playhead::Way,
    stage::Stage,
    track::{Known, Role, Start},
};
use std::sync::Arc;

/// Tracks that are looked at; a controller with more takes the full step.
const FEW: usize = 8;

impl AnimationController {
    /// Goes on to `end` if nothing happens until then. If something might, nothing is changed.
    ///
    /// Whether time has gone on.
    pub(super) fn advance_quickly<C: Clips + ?Sized>(&mut self, end: Exact, clips: &C) -> bool {
        let count = self.tracks.len();
        if count > FEW || !self.events.is_empty() || !self.unknown.is_empty() || !self.stage.is_quiet() {
            return false;
        }
        let elapsed = self.time.is_before(end).then(|| end - self.time);
        let mut places = [Exact::ZERO; FEW];
        for (place, track) in places.iter_mut().zip(&self.tracks) {
            match self.glide(track, elapsed, clips) {
                Some(position) => *place = position,
                None => return false,
            }
        }
        for (track, place) in self.tracks.iter_mut().zip(places) {
            track.position = place;
        }
        self.time = end;
        true
    }

    /// Where a track is after some time, if it passes nothing on the way and its clip is as it was.
    #[inline]
    fn glide<C: Clips + ?Sized>(&self, track: &AnimationTrack, elapsed: Option<Exact>, clips: &C) -> Option<Exact> {
        if !track.enabled && track.clip.is_empty() {
            return Some(track.position);
        }
        let run = &track.run.0;
        let timing = clips.timing(run.index?)?;
        let known @ Known { length, playback } = track.known?;
        let same_clip = Arc::ptr_eq(track.clip.as_arc(), &timing.name) && known == Known::new(timing, track.playback);
        let added_fit = self.callbacks.is_empty() || track.added_fit();
        let fades = matches!(track.role, Role::Leaving(_));
        if !same_clip || !added_fit || fades || track.scrub.is_some() || track.start == Start::AtEnd {
            return None;
        }
        let Some(elapsed) = elapsed.filter(|_| track.enabled && !track.paused) else { return Some(track.position) };
        if track.start != Start::Begun || track.sync.is_some() {
            return None;
        }
        let speed = if track.speed.is_finite() { track.speed } else { 0.0 };
        let from = track.hold(track.position);
        let mut to = from + Speed::steady_distance(speed, elapsed);
        let forward = speed >= 0.0;
        // Rounding must not lead against the direction.
        if (forward && to.is_before(from)) || (!forward && from.is_before(to)) {
            to = from;
        }
        let to = track.hold(to);
        let added = if self.callbacks.is_empty() { &[][..] } else { &run.added[..] };
        let way = Way { length, playback, from: from.value(), to: to.value(), forward, first: false };
        let nothing = way.is_plain(callback::times(&timing.callbacks, added, length))
            || way.passes_nothing(callback::keys(&timing.callbacks, added, length));
        nothing.then_some(to)
    }
}

impl Stage {
    /// Whether nothing waits, fades or may be switched.
    fn is_quiet(&self) -> bool {
        self.pending.is_empty() && !self.fades() && !self.may_switch()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::{CallbackTime, PlaybackEvent};
    use crate::model::{ClipTiming, PlaybackMode};
    use std::time::Duration;

    fn clips(random: &mut fastrand::Rng) -> Vec<ClipTiming> {
        let clip = |i: usize| {
            let length = [0.0, 0.0005, 0.25, 1.0, 0.1 + random.f64() * 2.0][random.usize(..5)];
            let playback = [PlaybackMode::Loop, PlaybackMode::Once, PlaybackMode::PingPong][random.usize(..3)];
            let mut timing = ClipTiming { playback, ..ClipTiming::new(format!("c{i}"), length) };
            for _ in 0..random.usize(..4) {
                let share = [0.0, 1.0, 0.5, random.f64()][random.usize(..4)];
                timing.add_callback(share * length, "key", ron::Value::Unit);
            }
            timing
        };
        (0..3).map(clip).collect()
    }

    fn controller(random: &mut fastrand::Rng) -> AnimationController {
        let mut controller = AnimationController::default();
        for _ in 0..random.usize(1..4) {
            let clip = format!("c{}", random.usize(..4));
            let speed = [1.0, 1.0, 0.0, -1.0, f64::NAN, random.f64() * 4.0 - 2.0][random.usize(..6)];
            let mut track = AnimationTrack::new(clip).speed(speed).starting_at(random.f64() * 9.0 - 4.0);
            track.paused = random.u8(..8) == 0;
            track.enabled = random.u8(..8) != 0;
            track.playback = [None, None, None, Some(PlaybackMode::Loop)][random.usize(..4)];
            track.sync = (random.u8(..10) == 0).then_some(1);
            controller.add_track(if random.u8(..6) == 0 { track.reversed() } else { track });
        }
        if random.u8(..4) == 0 {
            controller.add_callback("c0", CallbackTime::Fraction(random.f64()), "added", ron::Value::Unit);
        }
        controller
    }

    /// Steps that often end right on a key or an end.
    fn step(random: &mut fastrand::Rng) -> f64 {
        [0.0, 1.0 / 64.0, 1.0 / 60.0, 1.0 / 240.0, 0.125, random.f64() * 0.1][random.usize(..6)]
    }

    fn disturb(controller: &mut AnimationController, random: &mut fastrand::Rng) {
        let id = controller.tracks.get(random.usize(..4)).map(|track| track.id);
        match random.u8(..40) {
            0 => controller.queue([format!("c{}", random.usize(..3))]),
            1 => drop(controller.cross_fade(format!("c{}", random.usize(..3)), Duration::from_millis(200))),
            2 => controller.set_paused(random.bool()),
            3 => controller.tracks_mut().for_each(|track| track.seek(random.f64() * 2.0)),
            4 => controller.tracks_mut().for_each(|track| track.scrub(random.f64() * 2.0)),
            5 => controller.reset_time(),
            6 => controller.tracks_mut().for_each(|track| track.speed = -track.speed),
            7 => drop(id.map(|id| controller.key_track_weight(id, 0.3, 0.0, 0.2, Default::default()))),
            8 => controller.tracks_mut().for_each(|track| track.enabled = true),
            _ => {}
        }
    }

    #[test]
    fn a_quick_step_leaves_the_state_of_a_full_one_and_neither_misses_an_event() {
        let mut random = fastrand::Rng::with_seed(11);
        let mut quick_steps = 0;
        for _ in 0..800 {
            let clips = clips(&mut random);
            let mut either = controller(&mut random);
            let mut full = either.clone();
            for _ in 0..120 {
                let dt = step(&mut random);
                let mut same = random.clone();
                disturb(&mut either, &mut random);
                disturb(&mut full, &mut same);
                let end = if full.paused { full.time } else { full.time + Exact::new(dt) };
                quick_steps += usize::from(either.clone().advance_quickly(end, &clips));
                let mut events: [Vec<PlaybackEvent>; 2] = Default::default();
                either.advance(dt, &clips, &mut events[0]).unwrap();
                if full.plays_nothing() {
                    full.time = end;
                } else {
                    full.advance_in_full(end, &clips, &mut events[1]);
                }
                // By their text, for a speed may be NaN, which equals nothing.
                let [ours, theirs] = [&either, &full].map(|controller| ron::to_string(controller).unwrap());
                assert_eq!(ours, theirs);
                assert_eq!(events[0], events[1]);
            }
        }
        assert!(quick_steps > 20_000, "{quick_steps} steps were quick");
    }
}
