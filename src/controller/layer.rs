//! What a controller asks of the blend.

use super::{AnimationController, AnimationTrack, BlendMode, Clips, TrackId, TrackPriority, playhead};

/// One clip at one moment, with its place in the blend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerInfo<'a> {
    /// The track it comes from.
    pub track: TrackId,
    /// Index of the clip in the [`Clips`].
    pub clip: usize,
    /// Place in the clip, seconds in `0..=duration`.
    pub time: f64,
    /// Share before normalisation, > 0 and finite.
    pub weight: f32,
    /// The group it is blended in.
    pub priority: TrackPriority,
    /// Name of the mask; `None` reaches every joint.
    pub mask: Option<&'a str>,
    /// How it joins its group.
    pub blend: BlendMode,
}

impl AnimationController {
    /// The clips to be mixed now, in the order of the tracks: all enabled tracks of a weight above 0 whose
    /// clip is known. Without any, the pose is the rest pose.
    pub fn layers<'a, C: Clips + ?Sized>(&'a self, clips: &'a C) -> impl Iterator<Item = LayerInfo<'a>> + 'a {
        self.shown(clips).map(|(_, layer)| layer)
    }

    /// The [layers](Self::layers), each with its track.
    pub(crate) fn shown<'a, C: Clips + ?Sized>(
        &'a self,
        clips: &'a C,
    ) -> impl Iterator<Item = (&'a AnimationTrack, LayerInfo<'a>)> + 'a {
        let shown = self.tracks().filter(|track| track.enabled && track.share() > 0.0);
        shown.filter_map(move |track| Some((track, layer(track, clips)?)))
    }
}

#[inline]
fn layer<'a, C: Clips + ?Sized>(track: &'a AnimationTrack, clips: &C) -> Option<LayerInfo<'a>> {
    let (clip, timing) = track.find(clips)?;
    let playback = track.playback.unwrap_or(timing.playback);
    Some(LayerInfo {
        track: track.id(),
        clip,
        time: playhead::periodic(playback, timing.duration, track.placed_in(timing.duration)),
        weight: track.share(),
        priority: track.priority,
        mask: track.mask.as_deref(),
        blend: track.blend,
    })
}
