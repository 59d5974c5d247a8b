//! A character as the panel sees it.

use super::DrawSkeleton;
use crate::{
    character::{
        CharacterParts, Expressions, FootPlacement, GroundProbe, IkGoals, LookAt, ModelPose,
        MorphPose, PartOverrides, PoseOverrides, SkinnedCharacter, SpringBones, WeightView,
    },
    controller::AnimationController,
    rig::RigState,
};
use bevy::{ecs::query::QueryData, prelude::*};

/// A character, with everything the panel reads or changes.
#[derive(QueryData)]
#[query_data(mutable)]
pub(super) struct Inspected {
    pub(super) entity: Entity,
    pub(super) name: Option<&'static Name>,
    pub(super) handle: &'static SkinnedCharacter,
    pub(super) parts: &'static CharacterParts,
    pub(super) pose: Option<&'static ModelPose>,
    pub(super) controller: &'static mut AnimationController,
    pub(super) overrides: Option<&'static mut PoseOverrides>,
    pub(super) morphs: Option<&'static MorphPose>,
    pub(super) expressions: Option<&'static mut Expressions>,
    pub(super) draw: Option<&'static mut DrawSkeleton>,
    pub(super) view: Option<&'static mut WeightView>,
    pub(super) part_overrides: Option<&'static mut PartOverrides>,
    pub(super) goals: Option<&'static IkGoals>,
    pub(super) look: Option<&'static mut LookAt>,
    pub(super) rig: Option<&'static RigState>,
    pub(super) feet: Option<&'static mut FootPlacement>,
    pub(super) probe: Option<&'static GroundProbe>,
    pub(super) springs: Option<&'static mut SpringBones>,
}

impl InspectedItem<'_, '_> {
    /// Returns the current pose in model space; empty before the first one.
    pub(super) fn joints(&self) -> &[glam::Affine3A] {
        self.pose.map_or(&[], |pose| &pose.joints)
    }
}
