//! Overlays: tracks that fade in, play over the others and remove themselves.

use super::{AnimationController, AnimationTrack, TrackId, TransitionCurve};
use crate::{
    controller::{playhead::Known, track_types::Overlay},
    model::PlaybackMode,
};
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
        let Some(track) = self.track_mut(id) else {
            return id;
        };
        track.rare.overlay = Some(Overlay {
            fade_in,
            fade_out,
            speed,
        });
        if !fade_in.is_zero() {
            track.weight = 0.0;
            self.fade_weight(id, weight, fade_in, TransitionCurve::Linear);
        }
        id
    }
}

impl AnimationController {
    pub(super) fn fade_out_track(&mut self, id: TrackId, duration: Duration) {
        if self.extras.playback.current == Some(id) {
            self.leave_queue();
            self.extras.playback.current = None;
        }
        self.extras
            .playback
            .pending
            .retain(|pending| pending.track != id);
        if duration.is_zero() {
            self.remove_track(id);
        } else {
            self.fade_out_from_now(id, duration, TransitionCurve::Linear);
        }
    }

    pub(super) fn fade_out_from_now(
        &mut self,
        id: TrackId,
        duration: Duration,
        transition: TransitionCurve,
    ) {
        let until = self.clock.now.plus(duration.into());
        if let Some(track) = self.track_mut(id) {
            track.leaves_at = Some(until);
            track.run.planned = false;
            self.fade_weight(id, 0.0, duration, transition);
        }
    }

    /// Removes overlays whose clips don't exist: they would never end.
    pub(super) fn drop_unknown_overlays(&mut self) {
        let is_lost = |track: &AnimationTrack| {
            let (clip, space) = (track.run.index.get(), track.run.space.get());
            track.rare.overlay.is_some() && clip.or(space).is_none()
        };
        if self.tracks.iter().any(is_lost) {
            self.remove_tracks(is_lost);
        }
    }

    /// Fades out an overlay whose clip ends now.
    pub(super) fn fade_out_overlay(&mut self, id: TrackId) {
        // The weight to start from is that of this moment.
        self.write_running_values();
        if let Some(fade_out) = self
            .track(id)
            .and_then(|track| Some(track.rare.overlay.as_ref()?.fade_out))
        {
            self.fade_out_track(id, fade_out);
        }
    }

    /// An overlay that is where it fades out.
    pub(super) fn arrived_overlay(&self) -> Option<TrackId> {
        let arrived = |at: &usize| {
            let (track, forward) = (&self.tracks[*at], self.forward(*at));
            let is_there = |place: f64| {
                if forward {
                    track.held() >= place
                } else {
                    track.held() <= place
                }
            };
            track.rare.overlay.is_some()
                && track.begun()
                && self.is_moving(*at)
                && fade_place(track, forward).is_some_and(is_there)
        };
        (0..self.tracks.len())
            .find(arrived)
            .map(|at| self.tracks[at].id)
    }
}

/// Returns the position at which a track begins to fade out, if it is an overlay that leaves by itself.
pub(super) fn fade_place(track: &AnimationTrack, forward: bool) -> Option<f64> {
    let Overlay {
        fade_in,
        fade_out,
        speed,
    } = track.rare.overlay.filter(|_| track.leaves_at.is_none())?;
    let Known { length, playback } = track.known?;
    if playback != PlaybackMode::Once {
        return None;
    }
    let pace = track.course().map_or(1.0, |course| course.pace().pace);
    let [fade_in, fade_out] =
        [fade_in, fade_out].map(|fade| fade.as_secs_f64() * speed.abs() * pace);
    let lead = if fade_in + fade_out <= length {
        fade_out
    } else {
        0.0
    };
    Some(if forward { length - lead } else { lead })
}
