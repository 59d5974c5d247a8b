//! Small types that describe tracks.

use serde::{Deserialize, Serialize};
use std::{
    ops::{Deref, DerefMut},
    time::Duration,
};

/// Identifies a track of one controller. Not reused after the track is removed.
///
/// ```
/// # use bevy_marionette::controller::{AnimationController, AnimationTrack, BlendMode};
/// # use std::time::Duration;
/// # let mut controller = AnimationController::playing("walk");
/// let aim = controller.add_track(AnimationTrack::new("aim").blend(BlendMode::Override).mask("upper_body"));
/// // The arm is only halfway up:
/// if let Some(track) = controller.track_mut(aim) {
///     track.weight = 0.5;
/// }
/// controller.timeline_mut().fade_out(aim, Duration::from_millis(200));
/// ```
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub struct TrackId(pub(crate) u64);

/// The group of tracks that a track is blended with first.
///
/// ```
/// # use bevy_marionette::controller::{AnimationController, AnimationTrack, TrackPriority};
/// let mut controller = AnimationController::playing("walk");
/// controller.add_track(AnimationTrack::new("wave").mask("upper_body").priority(TrackPriority::High));
/// // The high-priority tracks alone, where they animate a joint.
/// controller.priority_blend = 1.0;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub enum TrackPriority {
    /// The base of the pose.
    #[default]
    Low,
    /// Blended with the low group by the [priority blend](super::AnimationController::priority_blend).
    High,
}

/// The way in which a track's pose joins the poses of its group.
///
/// ```
/// # use bevy_marionette::controller::{AnimationController, AnimationTrack, BlendMode};
/// let mut controller = AnimationController::playing("walk");
/// controller.add_track(AnimationTrack::new("recoil_delta").blend(BlendMode::Additive));
/// controller.add_track(AnimationTrack::new("wave").mask("right_arm").blend(BlendMode::Override));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub enum BlendMode {
    /// Averaged with the other tracks by weight.
    #[default]
    Blend,
    /// Adds the clip, which holds differences to a reference pose, times the weight, to the blended pose.
    Additive,
    /// Replaces the tracks below it, by weight and mask.
    Override,
}

/// Place at which a track begins, until it has begun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) enum Start {
    /// At its position; the keys right there fire.
    #[default]
    AtPosition,
    /// At the clip's end; the keys right there fire.
    AtEnd,
    /// At the place of a seek; the keys right there do not fire.
    Placed,
    /// It has begun.
    Begun,
}

/// Manager of a track.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Role {
    /// The user.
    #[default]
    User,
    /// `play`, `cross_fade` and the queue.
    Playback,
}

/// The fade-out of a track added by `play_over` when its clip ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Overlay {
    pub(crate) fade_in: Duration,
    pub(crate) fade_out: Duration,
    /// Speed it was added with.
    pub(crate) speed: f64,
}

/// Wraps what is not part of the state: all values are equal.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transient<T>(T);

impl<T> Deref for Transient<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Transient<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T> PartialEq for Transient<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
