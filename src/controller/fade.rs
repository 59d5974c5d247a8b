//! Fades between clips: what leaves fades out and is removed, what comes fades in.

use super::{
    AnimationController, AnimationTrack, Clips, PlaybackEvent, TrackId, TransitionCurve,
    compensated::{CompensatedF64, tick},
    log::Log,
    playback_state::{Fade, Pending, Playback},
    timed_event::{EventKind, EventTarget},
    track::{Role, Start},
};
use std::time::Duration;

/// The most clips that fade out at a time. Beyond it the faintest leave at once.
const MAX_LEAVING: usize = 8;

/// A weight that may be nothing but rounding.
const FAINT: f32 = 1e-6;

impl AnimationController {
    /// Fades the old clips' weights to 0, after which they leave, and the new one's to 1.
    ///
    /// A switch removes the old clips at once, and records them.
    pub(super) fn begin_fade<C: Clips + ?Sized>(
        &mut self,
        Pending {
            track: id,
            from,
            new,
            fade,
        }: Pending,
        clips: &C,
    ) {
        // The weights to start from are those of this moment.
        self.write_running_values();
        let Fade {
            duration,
            transition,
            in_phase,
            announced,
            ..
        } = fade;
        let switches = fade.switches && !duration.is_zero() && self.may_switch_over();
        let cut = switches || duration.is_zero();
        // A clip that is still fading out continues where it is.
        if in_phase
            && new
            && let Some(from) = from
        {
            self.bring_in_phase(id, from);
        }
        let waits = |id: TrackId, playback: &Playback| {
            playback.pending.iter().any(|pending| pending.track == id)
        };
        let outgoing = |track: &AnimationTrack, playback: &Playback| {
            track.role != Role::User && track.id != id && !waits(track.id, playback)
        };
        // From nothing at all, a fade would show the rest pose.
        let shows = |track: &AnimationTrack| {
            track.role == Role::User && track.enabled && track.share() > FAINT
        };
        let mut alone = duration.is_zero() || !self.tracks.iter().any(shows);
        let weight = switches.then(|| self.record_switch(id, duration, alone, outgoing, clips));
        if cut {
            let playback = std::mem::take(&mut self.playback);
            self.remove_tracks(|track| outgoing(track, &playback));
            self.playback = playback;
        } else {
            for at in 0..self.tracks.len() {
                if outgoing(&self.tracks[at], &self.playback) {
                    alone = false;
                    self.fade_out_from_now(self.tracks[at].id, duration, transition);
                }
            }
        }
        self.thin_out();
        self.events_mut()
            .unkey_target(EventTarget::Track(id, EventKind::Weight));
        let Some(track) = self.track_mut(id) else {
            return;
        };
        track.leaves_at = None;
        // Together, the clips before may have had less than full weight.
        track.weight = weight.unwrap_or(track.weight).min(1.0);
        // What has been fading out goes on from the weight that it has left.
        let is_new = cut || track.share() <= FAINT;
        if (alone && is_new) || weight.is_some_and(|weight| weight >= 1.0) {
            track.weight = 1.0;
        } else {
            self.fade_weight(id, 1.0, duration, transition);
        }
        self.playback.fade_end = announced.then_some(self.time.value() + duration.as_secs_f64());
    }

    /// Fades out all clips that `play`, `cross_fade` and the queue have started.
    pub(super) fn fade_out_all(&mut self, duration: Duration) {
        (self.playback.current, self.playback.fade_end) = (None, None);
        if duration.is_zero() {
            self.remove_tracks(|track| track.role != Role::User);
            self.playback.switches.clear();
            return;
        }
        self.write_running_values();
        for at in 0..self.tracks.len() {
            if self.tracks[at].role == Role::Playback {
                self.fade_out_from_now(self.tracks[at].id, duration, TransitionCurve::Linear);
            }
        }
    }

    /// Removes the faintest if too many clips are fading out.
    fn thin_out(&mut self) {
        let leaving =
            |track: &&AnimationTrack| track.role == Role::Playback && track.leaves_at.is_some();
        while self.tracks.iter().filter(leaving).count() > MAX_LEAVING {
            let faintest = self
                .tracks
                .iter()
                .filter(leaving)
                .min_by(|a, b| a.share().total_cmp(&b.share()));
            let Some(id) = faintest.map(AnimationTrack::id) else {
                return;
            };
            self.remove_track(id);
        }
    }

    /// Removes what has faded out by now, and reports a cross-fade that is complete.
    pub(super) fn settle_fades<C: Clips + ?Sized>(&mut self, clips: &C, log: &mut Log) {
        let now = self.time.value();
        let leaves = |track: &AnimationTrack| {
            track
                .leaves_at
                .is_some_and(|until| tick(until) <= tick(now))
        };
        if self.tracks.iter().any(leaves) {
            self.remove_tracks(leaves);
        }
        // A fade of no length is complete once its clip has begun.
        let begun = self
            .current_ref()
            .is_none_or(|track| track.start == Start::Begun || !track.enabled);
        if let Some(time) = self
            .playback
            .fade_end
            .filter(|end| begun && tick(*end) <= tick(now))
        {
            self.playback.fade_end = None;
            let faded = self.current_ref().and_then(|track| {
                let run = &track.run.0;
                // In a blend space, the heaviest clip of this moment.
                let space = run.space.and_then(|space| clips.blend_spaces().get(space));
                let heaviest = run
                    .course
                    .as_ref()
                    .and_then(|course| course.heaviest(self.time));
                let member = space.and_then(|space| space.members().get(heaviest?));
                Some((
                    track.id,
                    member.map(|member| member.clip).or(run.index)?,
                    run.space,
                ))
            });
            if let Some((track, clip, space)) = faded {
                log.push(PlaybackEvent::CrossFadeFinished {
                    track,
                    clip,
                    space,
                    time,
                });
            }
        }
    }

    /// Returns the next moment after the present at which a track leaves or a cross-fade is complete.
    pub(super) fn next_fade_time(&self) -> Option<f64> {
        let now = self.time.value();
        let leaving = self.tracks.iter().filter_map(|track| track.leaves_at);
        leaving
            .chain(self.playback.fade_end)
            .filter(|time| tick(*time) > tick(now))
            .min_by(f64::total_cmp)
    }

    /// Moves fades in time.
    pub(super) fn shift_fades(&mut self, by: CompensatedF64) {
        let leaving = self
            .tracks
            .iter_mut()
            .filter_map(|track| track.leaves_at.as_mut());
        for time in leaving.chain(
            self.playback
                .get_mut()
                .and_then(|playback| playback.fade_end.as_mut()),
        ) {
            *time = (CompensatedF64::new(*time) + by).value();
        }
    }

    /// Completes all fades at once: removes what fades out, and gives what fades in its weight.
    pub(super) fn finish_fades(&mut self) {
        self.remove_tracks(|track| track.leaves_at.is_some());
        if let Some(playback) = self.playback.get_mut() {
            playback.fade_end = None;
            playback.switches.clear();
        }
        let Self {
            tracks,
            events,
            playback,
            ..
        } = self;
        for track in tracks {
            let pending = playback
                .pending
                .iter()
                .any(|pending| pending.track == track.id);
            if track.role == Role::Playback && !pending {
                track.weight = 1.0;
            } else if track.overlay.is_some() {
                let target = EventTarget::Track(track.id, EventKind::Weight);
                let weight = events
                    .iter()
                    .filter(|event| event.target() == target)
                    .last()
                    .map(|event| event.value());
                track.weight = weight.map_or(track.weight, |weight| weight as f32);
            }
        }
    }
}
