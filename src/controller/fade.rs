//! Fades between clips: what leaves fades out and is removed, what comes fades in.

use super::{
    AnimationTrack, ChangeTarget, Clips, TrackId, TransitionCurve,
    clock::Nanos,
    director::{Director, Pending},
    playback_event::played,
    step::Step,
    switch::MOST_SWITCHES,
    track_types::Role,
    tracks::Tracks,
    transition::Kind,
};
use std::time::Duration;

impl Director {
    /// Fades the old clips' weights to 0, after which they leave, and the new one's to 1.
    ///
    /// A switch removes the old clips at once, and records them.
    pub(super) fn begin_fade(&mut self, pending: Pending, tracks: &mut Tracks, clips: &dyn Clips) {
        let (id, transition) = (pending.track, pending.transition);
        let (kind, duration, curve) = (transition.kind, transition.duration, transition.curve);
        // The weights to start from are those of this moment.
        tracks.write_running_values();
        let now = tracks.clock.now;
        let may_switch = self.decaying(now).count() < MOST_SWITCHES;
        let switches = kind == Kind::Switch && !duration.is_zero() && may_switch;
        let cut = switches || duration.is_zero();
        // A clip that is still fading out continues where it is.
        if transition.in_phase
            && pending.new
            && let Some(from) = pending.from
        {
            tracks.bring_in_phase(id, from);
        }
        if self.current == Some(id) {
            *self.became_current = Some(id);
        }
        // From nothing at all, a fade would show the rest pose.
        let shows = |track: &AnimationTrack| {
            track.role == Role::User && track.enabled && track.share() > Tracks::FAINT
        };
        let mut alone = duration.is_zero() || !(pending.from_rest || tracks.iter().any(shows));
        let weight = switches.then(|| self.record_switch(id, duration, alone, tracks, clips));
        if cut {
            tracks.remove_where(|track| self.replaces(track, id));
        } else {
            let any = tracks.fade_out_where(duration, curve, |track| self.replaces(track, id));
            alone &= !any;
        }
        tracks.thin_out(|track| track.role == Role::Playback);
        tracks.changes.cancel(ChangeTarget::Weight(id));
        let Some(track) = tracks.of_mut(id) else {
            return;
        };
        track.leaves_at = None;
        // Together, the clips before may have had less than full weight.
        track.weight = weight.unwrap_or(track.weight).min(1.0);
        // What has been fading out goes on from the weight that it has left.
        let is_new = cut || track.share() <= Tracks::FAINT;
        if (alone && is_new) || weight.is_some_and(|weight| weight >= 1.0) {
            track.weight = 1.0;
        } else {
            tracks.fade_weight(id, 1.0, duration, curve);
        }
        self.fade_end = (kind == Kind::Fade).then_some(now.plus(duration.into()));
    }

    /// Fades to the rest pose, and forgets what was to be played.
    pub(super) fn fade_to_rest(&mut self, duration: Duration, tracks: &mut Tracks) {
        self.leave_queue();
        self.drop_pending(true, tracks);
        self.fade_out_all(duration, tracks);
    }

    /// Fades out all clips that `play`, `cross_fade` and the queue have started.
    pub(super) fn fade_out_all(&mut self, duration: Duration, tracks: &mut Tracks) {
        (self.current, self.fade_end) = (None, None);
        if duration.is_zero() {
            tracks.remove_where(|track| track.role != Role::User);
            self.switches.clear();
            return;
        }
        tracks.write_running_values();
        let is_ours = |track: &AnimationTrack| track.role == Role::Playback;
        tracks.fade_out_where(duration, TransitionCurve::Linear, is_ours);
    }

    /// Fades a track out, and lets it leave. If it is the current one, none is.
    pub(super) fn fade_out_track(&mut self, tracks: &mut Tracks, id: TrackId, duration: Duration) {
        if self.current == Some(id) {
            self.leave_queue();
            self.current = None;
        }
        self.pending.retain(|pending| pending.track != id);
        if duration.is_zero() {
            tracks.remove(id);
        } else {
            tracks.fade_out(id, duration, TransitionCurve::Linear);
        }
    }

    /// Removes what has faded out by now, and reports a cross-fade that is complete.
    pub(super) fn settle_fades(&mut self, tracks: &mut Tracks, step: &mut Step) {
        let now = tracks.clock.now;
        tracks.remove_where(|track| track.leaves_at.is_some_and(|until| until <= now));
        if self.fade_end(tracks).is_some_and(|end| end <= now) {
            self.fade_end = None;
            let current = self.current_index(tracks);
            if let Some(at) = current.filter(|at| tracks[*at].run.index.get().is_some()) {
                tracks.note_heaviest(at, step);
                let event = played!(CrossFadeFinished, tracks, at);
                step.out.push(event);
            }
        }
    }

    /// Returns the moment at which the cross-fade is complete. One of no length is complete once its clip has begun.
    fn fade_end(&self, tracks: &Tracks) -> Option<Nanos> {
        let end = self.fade_end?;
        let current = self.current(tracks);
        let begun = current.is_none_or(|track| track.begun() || !track.enabled);
        begun.then_some(end)
    }

    /// Returns the next moment at which a track leaves or a cross-fade is complete.
    pub(super) fn next_fade(&self, tracks: &Tracks) -> Option<Nanos> {
        let leaving = tracks.iter().filter_map(|track| track.leaves_at);
        leaving.chain(self.fade_end(tracks)).min()
    }

    /// Completes all fades at once: removes what fades out, and gives what fades in its weight.
    pub(super) fn finish_fades(
        &mut self,
        tracks: &mut Tracks,
        is_of_state: impl Fn(TrackId) -> bool,
    ) {
        tracks.remove_where(|track| track.leaves_at.is_some());
        self.fade_end = None;
        self.switches.clear();
        let Tracks { list, changes, .. } = tracks;
        for track in list {
            if track.role == Role::Playback && !self.awaits(track.id) {
                track.weight = 1.0;
            } else if track.rare.overlay.is_some() || is_of_state(track.id) {
                let target = ChangeTarget::Weight(track.id);
                let ours = changes.iter().filter(|change| change.target == target);
                let last = ours.last();
                track.weight = last.map_or(track.weight, |change| change.value as f32);
            }
        }
    }
}
