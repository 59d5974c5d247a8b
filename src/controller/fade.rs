//! Fades between clips: what leaves fades out and is removed, what comes fades in.

use super::{
    AnimationController, AnimationTrack, Clips, PlaybackEvent, Transition, TransitionCurve,
    clock::Nanos, step::Step,
};
use crate::controller::{
    playback_state::Pending, scheduled_change::ChangeTarget, switch::MOST_SWITCHES,
    track_types::Role, transition::Kind,
};
use std::time::Duration;

/// The most clips that fade out at a time. Beyond it the faintest leave at once.
const MAX_LEAVING: usize = 8;

/// A weight that may be nothing but rounding.
pub(super) const FAINT: f32 = 1e-6;

impl AnimationController {
    /// Fades the old clips' weights to 0, after which they leave, and the new one's to 1.
    ///
    /// A switch removes the old clips at once, and records them.
    pub(super) fn begin_fade(
        &mut self,
        Pending {
            track: id,
            from,
            new,
            from_rest,
            transition,
        }: Pending,
        clips: &dyn Clips,
    ) {
        // The weights to start from are those of this moment.
        self.write_running_values();
        let Transition {
            kind,
            duration,
            curve,
            in_phase,
        } = transition;
        let switches =
            kind == Kind::Switch && !duration.is_zero() && self.switches().count() < MOST_SWITCHES;
        let cut = switches || duration.is_zero();
        // A clip that is still fading out continues where it is.
        if in_phase
            && new
            && let Some(from) = from
        {
            self.bring_in_phase(id, from);
        }
        self.replace_clip_of_state(id);
        // From nothing at all, a fade would show the rest pose.
        let shows = |track: &AnimationTrack| {
            track.role == Role::User && track.enabled && track.share() > FAINT
        };
        let mut alone = duration.is_zero() || !(from_rest || self.tracks.iter().any(shows));
        let weight = switches.then(|| self.record_switch(id, duration, alone, clips));
        if cut {
            let playback = std::mem::take(&mut self.extras.playback);
            self.remove_tracks(|track| playback.replaces(track, id));
            self.extras.playback = playback;
        } else {
            for at in 0..self.tracks.len() {
                if self.extras.playback.replaces(&self.tracks[at], id) {
                    alone = false;
                    self.fade_out_from_now(self.tracks[at].id, duration, curve);
                }
            }
        }
        self.thin_out(|track| track.role == Role::Playback);
        self.timeline_mut().unkey_target(ChangeTarget::Weight(id));
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
            self.fade_weight(id, 1.0, duration, curve);
        }
        let end = self.clock.now.plus(duration.into());
        self.extras.playback.fade_end = (kind == Kind::Fade).then_some(end.secs());
    }

    /// Fades out all clips that `play`, `cross_fade` and the queue have started.
    pub(super) fn fade_out_all(&mut self, duration: Duration) {
        (self.extras.playback.current, self.extras.playback.fade_end) = (None, None);
        if duration.is_zero() {
            self.remove_tracks(|track| track.role != Role::User);
            self.extras.playback.switches.clear();
            return;
        }
        self.write_running_values();
        for at in 0..self.tracks.len() {
            if self.tracks[at].role == Role::Playback {
                self.fade_out_from_now(self.tracks[at].id, duration, TransitionCurve::Linear);
            }
        }
    }

    /// Removes the faintest if too many of some clips are fading out.
    pub(super) fn thin_out(&mut self, ours: impl Fn(&AnimationTrack) -> bool) {
        let leaving = |track: &&AnimationTrack| track.leaves_at.is_some() && ours(track);
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
    pub(super) fn settle_fades(&mut self, step: &mut Step) {
        let now = self.clock.now;
        let leaves = |track: &AnimationTrack| track.leaves_at.is_some_and(|until| until <= now);
        if self.tracks.iter().any(leaves) {
            self.remove_tracks(leaves);
        }
        if self.fade_end().is_some_and(|end| end <= now) {
            self.extras.playback.fade_end = None;
            if let Some(at) = self
                .current_index()
                .filter(|at| self.tracks[*at].run.index.get().is_some())
            {
                self.note_heaviest(at, step.clips);
                let (track, clip, space, time) = self.played(at);
                step.out.push(PlaybackEvent::CrossFadeFinished {
                    track,
                    clip,
                    space,
                    time,
                });
            }
        }
    }

    /// Returns the moment at which the cross-fade is complete. One of no length is complete once its clip has begun.
    fn fade_end(&self) -> Option<Nanos> {
        let end = self.extras.playback.fade_end?;
        let begun = self
            .current_track()
            .is_none_or(|track| track.begun() || !track.enabled);
        begun.then(|| Nanos::from_secs(end))
    }

    /// Returns the next moment at which a track leaves or a cross-fade is complete.
    pub(super) fn next_fade(&self) -> Option<Nanos> {
        self.tracks
            .iter()
            .filter_map(|track| track.leaves_at)
            .chain(self.fade_end())
            .min()
    }

    /// Completes all fades at once: removes what fades out, and gives what fades in its weight.
    pub(super) fn finish_fades(&mut self) {
        self.remove_tracks(|track| track.leaves_at.is_some());
        let Self { tracks, extras, .. } = self;
        if let Some(extras) = extras.get_mut() {
            extras.playback.fade_end = None;
            extras.playback.switches.clear();
        }
        for track in tracks {
            if track.role == Role::Playback && !extras.playback.awaits(track.id) {
                track.weight = 1.0;
            } else if track.rare.overlay.is_some()
                || (extras.states.as_ref())
                    .is_some_and(|states| states.layer_of(track.id).is_some())
            {
                let target = ChangeTarget::Weight(track.id);
                let ours = extras
                    .changes
                    .iter()
                    .filter(|event| event.target() == target);
                track.weight = ours
                    .last()
                    .map_or(track.weight, |event| event.value() as f32);
            }
        }
    }
}
