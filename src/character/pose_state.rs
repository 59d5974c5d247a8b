//! The inputs of a stored pose, and the place of the pose in a frame.

use crate::pose::JointOverride;
use bevy::{ecs::entity::EntityHashMap, prelude::*};
use glam::Affine3A;

/// The inputs that a stored pose was made from. Poses with equal stamps are equal.
///
/// Revisions are those of the character's [`ActiveLayers`](super::layers::ActiveLayers).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum PoseStamp {
    /// Nothing: there is no pose yet, or it belongs to a previous version of the asset.
    #[default]
    Never,
    /// The clips of this revision.
    Clips(u64),
    /// The clips of this revision with the character's `PoseOverrides` applied.
    Overridden(u64),
    /// The clips of this revision, changed by the character's rig.
    Rigged(u64),
    /// The clips of all characters with this sharing key, at times rounded as `PoseSharing` says.
    Shared(u64),
    /// The pose of the body that wears the character.
    Worn,
}

impl PoseStamp {
    /// The stamp of a pose of the clips of this revision, with these overrides.
    pub(super) fn of(revision: u64, overrides: &[JointOverride]) -> Self {
        match overrides {
            [] => Self::Clips(revision),
            _ => Self::Overridden(revision),
        }
    }

    /// The revision of the layers that a pose of the character's own was made from.
    pub(super) fn revision(self) -> Option<u64> {
        match self {
            Self::Clips(of) | Self::Overridden(of) | Self::Rigged(of) => Some(of),
            Self::Never | Self::Shared(_) | Self::Worn => None,
        }
    }

    /// The stamp of a pose that a rig has made from one with this stamp.
    pub(super) fn rigged(self) -> Self {
        self.revision().map_or(Self::Never, Self::Rigged)
    }
}

/// The place where the pose of a character without a `ModelPose` is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum PoseSource {
    /// Nowhere: it is evaluated whenever it is needed.
    #[default]
    Clips,
    /// At this index of the shared poses.
    Shared(usize),
}

/// The number of the frame, for poses that are spread over several of them.
#[derive(Resource, Debug, Default)]
pub(super) struct FrameNumber(pub(super) u32);

/// While events are dispatched, before transforms are propagated: the world transforms of their characters. Empty otherwise.
#[derive(Resource, Debug, Default)]
pub(super) struct EventPlaces(pub(super) EntityHashMap<Affine3A>);

/// The way a character was posed when it was last in view.
#[derive(Component, Clone, Debug, Default)]
pub(crate) struct PoseState {
    pub(super) source: PoseSource,
    /// Revision of the layers at that time: `source` is valid as long as it is the current one.
    pub(super) revision: u64,
    /// The inputs of the pose that was last drawn; kept only if there is no `ModelPose`.
    pub(super) drawn: PoseStamp,
    /// Center in the world when the character was last in view; `None` if its parts are new.
    pub(super) last_center: Option<Vec3>,
    /// `true` if the character moved this frame without passing through the space between.
    pub(super) jumped: bool,
}

impl PoseState {
    /// Records the pose that is drawn from now on. Returns `true` if it isn't the same as before.
    pub(super) fn draw(&mut self, stamp: PoseStamp) -> bool {
        std::mem::replace(&mut self.drawn, stamp) != stamp
    }
}

/// Marks an app in which rigs act.
#[derive(Resource, Default)]
pub(super) struct RigsAct;
