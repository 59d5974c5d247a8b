//! `play`, `cross_fade` and the current clip.
//!
//! They use tracks of their own, of low priority, under whatever tracks the user adds.

use super::{AnimationController, AnimationName, AnimationTrack, TrackId, Transition};
use crate::model::BlendPoint;
use std::{sync::Arc, time::Duration};

/// # Playing clips
///
/// These manage tracks of their own, under the tracks you add. Each `play`, `cross_fade` and `fade_out`
/// empties the [queue](Self::queue).
impl AnimationController {
    /// Creates a controller that plays a clip.
    pub fn playing(clip: impl Into<Arc<str>>) -> Self {
        let mut controller = Self::default();
        controller.play(clip);
        controller
    }

    /// Plays a clip from its start, at once, and returns its track. A clip that plays already continues, unless
    /// it has finished.
    pub fn play(&mut self, clip: impl Into<Arc<str>>) -> TrackId {
        self.play_with(clip, Transition::CUT)
    }

    /// Plays a clip, which takes over from what plays by a [`Transition`], or by a fade of some duration. Returns the clip's
    /// track.
    ///
    /// If the clip is current already, it continues. So does a loop that is still fading out, if this is a fade: from where it is
    /// and with the weight it has left. Any other clip starts over, and so does a finished one. It is safe to
    /// call this every frame with the clip you want. From nothing at all, every transition is a cut.
    pub fn play_with(
        &mut self,
        clip: impl Into<Arc<str>>,
        transition: impl Into<Transition>,
    ) -> TrackId {
        self.change();
        let (clip, transition) = (AnimationName::new(clip), transition.into());
        self.director.leave_queue();
        self.director.start(clip, transition, &mut self.tracks)
    }

    /// Fades from what plays to a clip, and returns the clip's track: [`play_with`](Self::play_with) a linear
    /// [fade](Transition::fade).
    pub fn cross_fade(&mut self, clip: impl Into<Arc<str>>, duration: Duration) -> TrackId {
        self.play_with(clip, duration)
    }

    /// Fades to the rest pose, and empties the queue. The tracks you added play on. With a zero duration, what
    /// plays stops at once.
    pub fn fade_out(&mut self, duration: Duration) {
        self.change();
        self.director.fade_to_rest(duration, &mut self.tracks);
    }
}

/// # The current clip
impl AnimationController {
    /// Returns the name of the current clip, which [`play`](Self::play), [`cross_fade`](Self::cross_fade) or the
    /// queue started last.
    pub fn current(&self) -> Option<&str> {
        self.current_track().map(AnimationTrack::clip)
    }

    /// Returns the track of the current clip.
    pub fn current_track(&self) -> Option<&AnimationTrack> {
        self.director.current(&self.tracks)
    }

    /// Returns the track of the current clip, mutably: to seek in it, restart it, or reverse it.
    ///
    /// ```
    /// # use bevy_marionette::controller::AnimationController;
    /// let mut controller = AnimationController::playing("walk");
    /// if let Some(walk) = controller.current_track_mut() {
    ///     walk.seek(0.25);
    ///     walk.speed = -1.0;
    /// }
    /// ```
    pub fn current_track_mut(&mut self) -> Option<&mut AnimationTrack> {
        self.track_mut(self.director.current?)
    }

    /// Returns `true` if an enabled track plays this clip, unless the clip has finished or is fading out.
    pub fn is_playing(&self, clip: &str) -> bool {
        let plays = |track: &AnimationTrack| {
            track.enabled && track.leaves_at.is_none() && !track.is_finished()
        };
        let mut tracks = self.tracks.iter();
        tracks.any(|track| track.clip == *clip && plays(track))
    }

    /// Returns `true` if the queue is empty and there is no current clip, or it played once and is at its end.
    pub fn is_finished(&self) -> bool {
        self.director.queue.is_empty()
            && self.current_track().is_none_or(AnimationTrack::is_finished)
    }

    /// Returns the speed of the current clip, or of the next one if there is none.
    pub fn speed(&self) -> f64 {
        let track = self.current_track();
        track.map_or(self.director.speed, |track| track.speed)
    }

    /// Sets the speed of the current clip and of those that `play`, `cross_fade` and the queue start from now on.
    /// Negative plays backwards.
    pub fn set_speed(&mut self, speed: f64) {
        self.director.speed = speed;
        let current = self.director.current;
        let states = self.states.as_ref();
        let speed = speed * states.map_or(1.0, |states| states.speed_on(current));
        if let Some(track) = self.current_track_mut() {
            track.speed = speed;
        }
    }

    /// Sets the parameters of the current blend space, and of those that `play`, `cross_fade` and the queue start from now
    /// on. Numbers that are not finite are ignored.
    ///
    /// They take effect with the next advance, or over the space's [smoothing](crate::model::BlendSpace::smoothed). For the
    /// track of a blend space that you added, see [`AnimationTrack::set_parameters`](super::AnimationTrack::set_parameters).
    ///
    /// ```
    /// # use bevy_marionette::{controller::AnimationController, model::BlendPoint};
    /// let mut controller = AnimationController::playing("locomotion");
    /// let (speed, turn) = (1.4, -20.0);
    /// controller.set_parameters((speed, turn));
    /// ```
    pub fn set_parameters(&mut self, point: impl Into<BlendPoint>) {
        let point = point.into();
        if point.is_finite() {
            // -0 is no change.
            if point != self.director.parameters {
                self.director.parameters = point;
            }
            if let Some(track) = self.current_track_mut() {
                track.set_parameters(point);
            }
        }
    }
}
