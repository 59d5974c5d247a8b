//! Overlays: tracks that fade in, play over the others and remove themselves.

use super::{
    AnimationController, AnimationTrack, TrackId, TransitionCurve, track_types::Overlay,
    tracks::Tracks,
};
use crate::model::PlaybackMode;
use std::time::Duration;

/// # Overlays
impl AnimationController {
    /// Plays a track over the others, once: fades it in, and when its clip ends fades it out and removes it.
    ///
    /// The fade-out begins so that it ends with the clip, or at the clip's end if the clip is too short for both
    /// fades. A clip that loops is played once, too, because clips of a `.glb` loop unless somebody says
    /// otherwise. If the track's own [`playback`](AnimationTrack::playback) is [`PlaybackMode::Loop`], it plays
    /// until you [fade it out](super::TimelineMut::fade_out).
    ///
    /// If there is no such clip, the next advance [reports it](super::PlaybackEvent::UnknownClip) and removes the track.
    ///
    /// ```
    /// # use bevy_marionette::controller::{AnimationController, AnimationTrack, BlendMode};
    /// # use std::time::Duration;
    /// let mut controller = AnimationController::playing("walk");
    /// let wave = AnimationTrack::new("wave").blend(BlendMode::Override).mask("upper_body");
    /// controller.play_over(wave, Duration::from_millis(200), Duration::from_millis(300));
    /// assert!(controller.is_playing("walk") && controller.is_playing("wave"));
    /// ```
    pub fn play_over(
        &mut self,
        mut track: AnimationTrack,
        fade_in: Duration,
        fade_out: Duration,
    ) -> TrackId {
        track.playback.get_or_insert(PlaybackMode::Once);
        let (weight, speed) = (track.share(), track.speed);
        let id = self.add_track(track);
        let Some(track) = self.tracks.of_mut(id) else {
            return id;
        };
        track.rare.overlay = Some(Overlay {
            fade_in,
            fade_out,
            speed,
        });
        if !fade_in.is_zero() {
            track.weight = 0.0;
            let curve = TransitionCurve::Linear;
            self.tracks.fade_weight(id, weight, fade_in, curve);
        }
        id
    }
}

/// # Overlays of tracks
impl Tracks {
    /// The track of an overlay that is where it fades out.
    pub(super) fn arrived_overlay(&self) -> Option<TrackId> {
        let arrived = |at: &usize| {
            let (track, forward) = (&self.list[*at], self.forward(*at));
            let is_there = |place: f64| match forward {
                true => track.held() >= place,
                false => track.held() <= place,
            };
            track.rare.overlay.is_some()
                && track.begun()
                && self.is_moving(*at)
                && track.fade_place(forward).is_some_and(is_there)
        };
        let at = (0..self.list.len()).find(arrived)?;
        Some(self.list[at].id)
    }

    /// Removes overlays whose clips don't exist: they would never end.
    pub(super) fn drop_unknown_overlays(&mut self) {
        self.remove_where(|track| {
            let (clip, space) = (track.run.index.get(), track.run.space.get());
            track.rare.overlay.is_some() && clip.or(space).is_none()
        });
    }
}
