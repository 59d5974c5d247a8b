//! A playing clip, as the blend kernel takes it.

use super::mask::Mask;
use crate::controller::{BlendMode, PlayedClip, TrackPriority};
use crate::model::SkeletalClip;

/// A playing clip: one layer of a [`Mix`](super::Mix), of a clip that is bound to the skeleton.
pub type ClipLayer<'a> = PlayedClip<&'a SkeletalClip, &'a Mask>;

impl<'a> ClipLayer<'a> {
    /// Creates a layer of a clip at a time in seconds, with weight 1 and low priority: added if the clip holds differences,
    /// else blended.
    pub fn new(clip: &'a SkeletalClip, time: f64) -> Self {
        let mode = if clip.additive {
            BlendMode::Additive
        } else {
            BlendMode::Blend
        };
        Self {
            clip,
            time,
            weight: 1.0,
            set: 0,
            mask: None,
            priority: TrackPriority::Low,
            mode,
            base: false,
        }
    }

    /// Returns how the layer is really combined with the others: [`mode`](Self::mode), or
    /// [`BlendMode::Additive`] if the clip holds differences.
    pub fn effective_mode(&self) -> BlendMode {
        if self.clip.additive {
            BlendMode::Additive
        } else {
            self.mode
        }
    }
}
