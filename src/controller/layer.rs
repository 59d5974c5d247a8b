//! The layers that a controller wants blended.

use super::{AnimationController, AnimationTrack, BlendMode, Clips, TrackId, TrackPriority, playhead};
#[cfg(feature = "bevy")]
use crate::model::ClipTiming;

/// One clip to blend: where it is, and how it joins the pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerInfo<'a> {
    /// The track that plays it.
    pub track: TrackId,
    /// The clip's index in the [`Clips`].
    pub clip: usize,
    /// The place in the clip, seconds in `0..=duration`.
    pub time: f64,
    /// The weight before normalization, > 0 and finite.
    pub weight: f32,
    /// The group it is blended in.
    pub priority: TrackPriority,
    /// The mask's name; `None` reaches every joint.
    pub mask: Option<&'a str>,
    /// How it joins its group.
    pub blend: BlendMode,
    /// Whether it belongs to the pose that [switches](AnimationController::switch) change: one of the clips of `play`,
    /// blended with low priority.
    pub base: bool,
}

impl AnimationController {
    /// Returns the layers to blend now, in the order of the tracks: one for every enabled track with a weight
    /// above 0 and a known clip. Without any layer, the pose is the rest pose.
    pub fn layers<'a, C: Clips + ?Sized>(&'a self, clips: &'a C) -> impl Iterator<Item = LayerInfo<'a>> + 'a {
        self.shown(clips).map(|(_, layer)| layer)
    }

    /// Returns the [layers](Self::layers), each with its track.
    pub(crate) fn shown<'a, C: Clips + ?Sized>(
        &'a self,
        clips: &'a C,
    ) -> impl Iterator<Item = (&'a AnimationTrack, LayerInfo<'a>)> + 'a {
        let shown = self.tracks().filter(|track| track.enabled && track.share() > 0.0);
        shown.filter_map(move |track| Some((track, layer(track, clips)?)))
    }
}

#[cfg(feature = "bevy")]
impl AnimationTrack {
    /// Place in the clip some seconds ago, if the track has played at its current speed since.
    pub(crate) fn time_before(&self, seconds: f64, timing: &ClipTiming) -> f64 {
        let position = self.placed_in(timing.duration) - seconds * self.speed;
        playhead::periodic(self.playback.unwrap_or(timing.playback), timing.duration, position)
    }
}

#[inline]
fn layer<'a, C: Clips + ?Sized>(track: &'a AnimationTrack, clips: &C) -> Option<LayerInfo<'a>> {
    let (clip, timing) = track.find(clips)?;
    let playback = track.playback.unwrap_or(timing.playback);
    let additive = clips.is_additive(clip);
    Some(LayerInfo {
        track: track.id(),
        clip,
        time: playhead::periodic(playback, timing.duration, track.placed_in(timing.duration)),
        weight: track.share(),
        priority: track.priority,
        mask: track.mask.as_deref(),
        blend: track.blend.unwrap_or(if additive { BlendMode::Additive } else { BlendMode::Blend }),
        base: track.is_base() && !additive,
    })
}
