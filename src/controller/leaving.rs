//! Tracks that fade out and leave, and where those of a layer of states are.

use super::{
    AnimationName, AnimationTrack, ChangeTarget, TrackId, TransitionCurve, tracks::Tracks,
};
use std::time::Duration;

/// # Fading
impl Tracks {
    /// A weight that may be nothing but rounding.
    pub(super) const FAINT: f32 = 1e-6;

    /// The most clips that fade out at a time. Beyond it the faintest leave at once.
    const MAX_LEAVING: usize = 8;

    /// Fades a track out from now, and lets it leave at the end.
    pub(super) fn fade_out(&mut self, id: TrackId, duration: Duration, curve: TransitionCurve) {
        let until = self.clock.now.plus(duration.into());
        if let Some(track) = self.of_mut(id) {
            track.leaves_at = Some(until);
            track.run.planned = false;
            self.fade_weight(id, 0.0, duration, curve);
        }
    }

    /// Fades some tracks out from now. Returns `true` if there are any.
    pub(super) fn fade_out_where(
        &mut self,
        duration: Duration,
        curve: TransitionCurve,
        leaves: impl Fn(&AnimationTrack) -> bool,
    ) -> bool {
        let mut any = false;
        for at in 0..self.list.len() {
            if leaves(&self.list[at]) {
                self.fade_out(self.list[at].id, duration, curve);
                any = true;
            }
        }
        any
    }

    /// Removes the faintest if too many of some clips are fading out.
    pub(super) fn thin_out(&mut self, ours: impl Fn(&AnimationTrack) -> bool) {
        let leaving = |track: &&AnimationTrack| track.leaves_at.is_some() && ours(track);
        while self.list.iter().filter(leaving).count() > Self::MAX_LEAVING {
            let all = self.list.iter().filter(leaving);
            let faintest = all.min_by(|a, b| a.share().total_cmp(&b.share()));
            let Some(id) = faintest.map(AnimationTrack::id) else {
                return;
            };
            self.remove(id);
        }
    }

    /// Fades a track's weight from now, in place of what was scheduled for it.
    pub(super) fn fade_weight(
        &mut self,
        id: TrackId,
        weight: f32,
        duration: Duration,
        curve: TransitionCurve,
    ) {
        let (target, now) = (ChangeTarget::Weight(id), self.clock.now);
        self.changes.cancel(target);
        self.schedule(target, weight.max(0.0).into(), now, duration, curve);
    }
}

/// # Layers of states
impl Tracks {
    /// Puts the track that was added last on a layer, or on the body: next to the others there, or below the layers after it.
    /// Returns its index.
    pub(super) fn put_on_layer(&mut self, layer: Option<AnimationName>) -> usize {
        let Some((track, others)) = self.list.split_last_mut() else {
            return 0;
        };
        let is_beside = |track: &AnimationTrack| layer.is_some() && track.rare.layer == layer;
        let is_above = |track: &AnimationTrack| track.rare.layer > layer;
        let at = match others.iter().rposition(is_beside) {
            Some(last) => last + 1,
            None => others.iter().position(is_above).unwrap_or(others.len()),
        };
        if layer.is_some() {
            track.rare.layer = layer;
        }
        self.list[at..].rotate_right(1);
        at
    }

    /// Fades out all that plays on a layer.
    pub(super) fn fade_out_layer(&mut self, name: &str, duration: Duration) {
        // The weights to start from are those of this moment.
        self.write_running_values();
        let is_seen = |track: &AnimationTrack| track.begun() || track.share() > Self::FAINT;
        self.remove_where(|track| {
            track.is_on_layer(name) && (duration.is_zero() || !is_seen(track))
        });
        self.fade_out_where(duration, TransitionCurve::Linear, |track| {
            track.is_on_layer(name)
        });
        self.thin_out(|track| track.is_on_layer(name));
    }
}
