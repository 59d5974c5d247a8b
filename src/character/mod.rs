//! Characters in the ECS: their components, systems and events.
//!
//! [`CharacterSystems`] lists the steps of a frame, in order. Poses are only evaluated when
//! something changed that shapes them, and only where they are seen; poses that nothing reads go
//! straight to the GPU. Characters that are small on screen can leave things out
//! ([`AnimationLod`]), those that play the same can share a pose ([`PoseSharing`]), and
//! [`PoseCounts`] counts the poses of a frame.
//!
//! Each plugin adds one thing that some characters have.

mod advance;
mod app_ext;
mod attach;
mod attachments;
mod bounds;
mod components;
mod counts;
mod crowd;
mod detail;
mod dirty_palettes;
mod dispatch;
mod dressing;
mod evaluate;
mod events;
mod expressions;
#[cfg(feature = "inspector")]
mod face_replay;
mod hierarchy;
mod idle_eyes;
mod interpolation;
mod layers;
mod lod;
mod mesh_swap;
mod mesh_variants;
mod morph_pose;
mod morphs;
mod names;
mod own_material;
mod part_material;
mod part_overrides;
#[cfg(feature = "picking")]
mod picking;
mod plugin;
mod pose_state;
mod poses;
mod ray_cast;
mod rig;
mod rollback;
mod root_motion;
mod sharing;
mod snapshot;
mod spawn;
mod steering;
mod systems;
mod tape_head;
mod threads;
mod tinted;
mod typed_callbacks;
mod typed_states;
mod unknown_names;
mod weight_material;
mod weight_view;
mod worn;

pub use app_ext::AppCharacterExt;
pub use attachments::{AtSocket, AttachedTo, Attachments, DetachExt};
pub use components::{
    CharacterParts, ModelPose, PartOf, PoseOverrides, SkinnedCharacter, Teleported,
};
pub use counts::PoseCounts;
pub use crowd::CrowdPlugin;
pub use dispatch::AnimationEventPlugin;
pub use dressing::DressingPlugin;
pub use events::{
    AnimationCallback, AnimationFinished, AnimationLooped, AnimationStarted, CharacterFailed,
    CharacterReady, CrossFadeFinished, StateEntered,
};
pub use expressions::Expressions;
pub use idle_eyes::IdleEyes;
pub use interpolation::InterpolationPlugin;
pub use lod::AnimationLod;
pub use morph_pose::MorphPose;
pub use part_material::{PartMaterial, PartMaterialPlugin};
pub use part_overrides::{PartId, PartOverrides};
#[cfg(feature = "picking")]
pub use picking::CharacterPickingPlugin;
pub(crate) use plugin::CharacterPlugin;
pub use poses::CharacterPoses;
pub use ray_cast::{CharacterRayCast, CharacterRayHit};
pub use rig::{
    CharacterRigPlugin, FootPlacement, GoalLimb, Ground, GroundProbe, IkGoal, IkGoals, IkLimb,
    IkWeight, LookAt, LookTarget, SpringBones, SpringGravity,
};
pub use rollback::{AnimationRevoked, RollbackEvents};
pub use root_motion::{RootMotion, RootMotionPlugin};
pub use sharing::PoseSharing;
pub use snapshot::{WholeCharacter, WholeCharacterItem, WholeCharacterReadOnlyItem};
pub use steering::Steering;
pub use systems::CharacterSystems;
pub use typed_callbacks::Callback;
pub use weight_view::WeightView;
pub use worn::{Wears, WornBy};

pub(crate) use dirty_palettes::{DirtyPalettes, PaletteJob, PaletteRange};
#[cfg(feature = "inspector")]
pub(crate) use face_replay::FaceReplay;
#[cfg(feature = "inspector")]
pub(crate) use internals::*;
pub(crate) use interpolation::Lag;
pub(crate) use morphs::GrownMorphs;
pub(crate) use poses::{FoundPose, Poses};
pub(crate) use rig::RigReplay;
pub(crate) use tape_head::TapeHead;
pub(crate) use threads::trim;

/// What the crate and its tools use, but no app: see [`crate::internals`].
pub(crate) mod internals {
    pub use crate::character::{
        events::CallbackMoment,
        weight_view::{influence_count_color, weight_color},
    };
}
