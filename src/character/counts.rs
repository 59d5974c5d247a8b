//! The number of poses computed in a frame.

use bevy::prelude::*;

/// The poses of the last frame, counted.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::character::PoseCounts;
/// fn report(counts: Res<PoseCounts>) {
///     info!("{} poses for {} characters in view", counts.evaluated, counts.in_view);
/// }
/// ```
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Resource, Default, Clone, PartialEq)]
pub struct PoseCounts {
    /// Characters with at least one part in view of some camera.
    pub in_view: usize,
    /// Poses evaluated from clips.
    pub evaluated: usize,
    /// Characters that reused a pose evaluated for another; see [`PoseSharing`](super::PoseSharing).
    pub shared: usize,
    /// Characters in view that stayed as they were drawn before; see [`AnimationLod`](super::AnimationLod).
    pub held: usize,
}

impl PoseCounts {
    pub(super) fn add(&mut self, other: Self) {
        self.in_view += other.in_view;
        self.evaluated += other.evaluated;
        self.shared += other.shared;
        self.held += other.held;
    }
}
