//! A playing clip, as the blend kernel takes it.

use super::mask::Mask;
use crate::controller::{BlendMode, LayerInfo, TrackPriority};
use crate::model::SkeletalClip;

/// A playing clip: one layer of a [`Mix`](super::Mix).
#[derive(Clone, Copy, Debug)]
pub struct ClipLayer<'a> {
    /// The clip, bound to the skeleton. The layer does not reach joints the clip does not animate.
    pub clip: &'a SkeletalClip,
    /// Seconds into the clip, clamped to `0..=duration`; NaN counts as 0.
    pub time: f64,
    /// Weight, ≥ 0 and finite. Relative to the others of the same priority for blended layers, up to
    /// [`Self::MAX_ADDITIVE_WEIGHT`] for additive ones and up to 1 for overriding ones. The layer is
    /// left out if the weight is 0 or NaN.
    pub weight: f32,
    /// Adjacent layers with the same number form a set, like the clips of a blend space; a layer
    /// with 0 is a set of its own.
    ///
    /// At a joint that only some of their clips move, the rest pose stands in for the other clips
    /// of a set of blended layers, and the pose below for those of overriding ones. So a layer
    /// whose weight goes to 0 takes its pose along bit by bit. Layers of the [base](Self::base) act
    /// as one, whatever their number. Additive layers of a set are added after the others.
    pub set: u32,
    /// Weight per joint; `None` is 1 everywhere. The layer does not reach joints missing from the mask.
    pub mask: Option<&'a Mask>,
    /// The group a blended layer is averaged in. Additive and overriding layers ignore it.
    pub priority: TrackPriority,
    /// The way the layer is combined with the others. An additive clip is added whatever the mode,
    /// since differences aren't a pose that could be blended. [`BlendMode::Additive`] adds any
    /// other clip by its difference to the rest pose.
    ///
    /// An additive layer with weight `w` changes each joint to `t + w·Δt`, `r · Δrʷ`, `s · (1 + w(Δs − 1))`,
    /// so its difference turns the joint in the joint's own space. `Δrʷ` is nlerp from the identity along
    /// the shorter arc; beyond `w` = 1 it continues about the same axis, ever more slowly.
    /// An overriding layer replaces the pose below it by its weight.
    pub mode: BlendMode,
    /// `true` if the layer belongs to the base: the pose that is carried over switches.
    ///
    /// Where blended layers of the base weigh less than 1 together, masks included, the rest pose
    /// has the rest of the weight.
    pub base: bool,
}

impl<'a> ClipLayer<'a> {
    /// The largest weight of an additive layer; larger ones are clamped to it, so that poses stay finite.
    pub const MAX_ADDITIVE_WEIGHT: f32 = 16.0;

    /// Creates a layer of a clip at a time in seconds, with weight 1 and low priority: added if the clip holds differences,
    /// else blended.
    pub fn new(clip: &'a SkeletalClip, time: f64) -> Self {
        let mode = if clip.additive {
            BlendMode::Additive
        } else {
            BlendMode::Blend
        };
        let (mask, priority) = (None, TrackPriority::Low);
        Self {
            clip,
            time,
            weight: 1.0,
            set: 0,
            mask,
            priority,
            mode,
            base: false,
        }
    }

    /// Creates the layer that a controller [wants blended](crate::controller::AnimationController::layers), given its clip and
    /// its mask.
    pub fn of(layer: &LayerInfo, clip: &'a SkeletalClip, mask: Option<&'a Mask>) -> Self {
        Self {
            clip,
            time: layer.time,
            weight: layer.weight,
            set: layer.set,
            mask,
            priority: layer.priority,
            mode: layer.blend,
            base: layer.base,
        }
    }

    /// Returns how the layer is really combined with the others: [`Self::mode`], or
    /// [`BlendMode::Additive`] if the clip holds differences.
    pub fn effective_mode(&self) -> BlendMode {
        if self.clip.additive {
            BlendMode::Additive
        } else {
            self.mode
        }
    }
}
