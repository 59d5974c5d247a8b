//! The level of detail of a character in a frame.

use super::pose_state::RigsAct;
use bevy::prelude::*;
use std::mem;

/// A character that has moved by this share of its size since it was drawn is drawn again.
const MOVED: f32 = 0.05;

/// Characters that are posed in the same frame: a whole batch of them.
const TOGETHER: u32 = 8;

/// The level of detail of a character with an [`AnimationLod`](super::AnimationLod) in a frame.
#[derive(Component, Clone, Copy, Debug, PartialEq)]
pub(super) struct Detail {
    /// The shares of the rig's parts that show, 0..=1.
    pub(super) springs: f32,
    pub(super) feet: f32,
    pub(super) look_at: f32,
    pub(super) ik: f32,
    /// `true` if the whole rig is left out, in this frame and the one before.
    pub(super) rests: bool,
    /// `true` in the first frame in which the rig acts again.
    pub(super) returns: bool,
    /// Frames from one pose to the next, ≥ 1.
    pub(super) every: u32,
    /// The last frame in which it was in view, and where its center was when it was drawn.
    pub(super) last_frame: u32,
    pub(super) drawn_at: Vec3,
    /// `true` if its transform has changed since.
    pub(super) moved: bool,
}

/// Returns `true` if a character's rig has a part in its pose in this frame. Without the plugin, or far away, its clips alone do.
pub(super) fn rig_acts(has_rig: bool, rigs: Option<&RigsAct>, detail: Option<&Detail>) -> bool {
    has_rig && rigs.is_some() && detail.is_none_or(|detail| !detail.rests)
}

impl Default for Detail {
    fn default() -> Self {
        Self::FULL
    }
}

impl Detail {
    /// Everything.
    pub(super) const FULL: Self = Self {
        springs: 1.0,
        feet: 1.0,
        look_at: 1.0,
        ik: 1.0,
        rests: false,
        returns: false,
        every: 1,
        last_frame: 0,
        drawn_at: Vec3::ZERO,
        moved: false,
    };

    /// Returns `true` if a character in view is to be posed again in this frame. Must be called
    /// exactly once per frame.
    ///
    /// `entity` is a number of the character's own, so that not all of them are posed in the same frame. If the character
    /// stays as it is, a movement is kept until it is due.
    pub(super) fn is_due(
        &mut self,
        frame: u32,
        entity: u32,
        (center, radius): (Vec3, f32),
        moved: &mut bool,
    ) -> bool {
        // Out of view, the character may have changed in any way.
        let was_in_view = frame.wrapping_sub(self.last_frame) == 1;
        self.last_frame = frame;
        let far = MOVED * 2.0 * radius;
        let is_due = self.every <= 1
            || !was_in_view
            // Neighboring entities are due in the same frame, because a whole batch of characters
            // is posed fastest.
            || frame
                .wrapping_add(entity / TOGETHER)
                .is_multiple_of(self.every)
            || center.distance_squared(self.drawn_at) > far * far;
        if is_due {
            self.drawn_at = center;
            *moved |= mem::take(&mut self.moved);
        } else {
            self.moved |= *moved;
        }
        is_due
    }
}
