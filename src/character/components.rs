//! Components of a character and its parts.

use super::{Playing, weight_view::MeshVariant};
use crate::{
    asset::Character,
    controller::AnimationController,
    model::{JointIndex, JointTransform},
    pose::JointOverride,
};
use bevy::{ecs::template::FromTemplate, prelude::*};
use glam::{Affine3A, Vec3A};

/// A character in the world: spawn it, and its parts follow when the asset is loaded.
///
/// Brings an [`AnimationController`] (nothing playing: the rest pose), a `Transform` and a
/// `Visibility` along. The parts are children of the entity and follow its transform.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::prelude::*;
/// # fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
/// commands.spawn((
///     SkinnedCharacter(assets.load("scout/scout.character.ron")),
///     AnimationController::playing("walk"),
/// ));
/// # }
/// ```
#[derive(Component, Clone, Debug, Default, PartialEq, Eq, Deref, DerefMut, Reflect, FromTemplate)]
#[reflect(Component, Clone, Default)]
#[require(AnimationController, CharacterParts, Playing, Transform, Visibility)]
pub struct SkinnedCharacter(pub Handle<Character>);

/// The parts that a character has spawned, in the order of [`Character::parts`].
#[derive(Component, Clone, Debug, Default)]
pub struct CharacterParts {
    /// The parts' entities.
    pub entities: Vec<Entity>,
    /// [`Character::version`] of the asset they were spawned from.
    pub(super) version: Option<u64>,
    /// Middle and radius of the character at rest, in its own space.
    pub(super) center: Vec3A,
    pub(super) radius: f32,
    /// Where it was when it was last in view.
    pub(super) last_place: Option<Vec3A>,
    /// Whether it got where it is without passing through the space between.
    pub(super) jumped: bool,
    /// Stands for the clips that the parts' boxes enclose.
    pub(super) enclosed: u64,
    /// Which meshes the parts have.
    pub(super) variant: MeshVariant,
}

/// On each part: the character it belongs to, and which part of it it is.
///
/// Parts are spawned, never loaded: one that comes out of a scene goes again, and its character spawns
/// its own.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[reflect(Component, Clone, PartialEq)]
pub struct PartOf {
    /// The character's entity.
    #[entities]
    pub character: Entity,
    /// Index into [`Character::parts`].
    pub part: usize,
}

/// A character's pose as it was last evaluated: joint → model matrices.
///
/// An optional component of the character: put it there to read the joints. Without it poses go straight to
/// the GPU and are not kept, which costs a fifth less. What needs a pose brings it along: something carried or
/// worn, [`PoseOverrides`], the inspector for what it shows. For a joint now and then there is
/// [`CharacterPoses`](super::CharacterPoses), which asks for nothing.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{character::ModelPose, prelude::*};
/// # let mut app = App::new();
/// // For each and every character:
/// app.register_required_components::<SkinnedCharacter, ModelPose>();
/// ```
///
/// Kept up while the character is in view or carries something; out of view it is the last pose seen, and
/// under an [`UpdateRate`](super::UpdateRate) on its way to the last pose worked out. On a
/// server, where nothing is ever in view, an empty [`PoseOverrides`] has it evaluated every frame.
#[derive(Component, Clone, Debug, Default)]
pub struct ModelPose {
    /// Per joint, joint space → the character's space. Empty until the asset is there.
    pub joints: Vec<Affine3A>,
    /// Stands for what was played when the pose was evaluated; the same again costs nothing.
    pub(super) evaluated: u64,
}

impl ModelPose {
    /// Joint → character space.
    pub fn joint(&self, joint: JointIndex) -> Option<&Affine3A> {
        self.joints.get(usize::from(joint))
    }
}

/// Joints posed by hand, on top of what plays.
///
/// An optional component of the character. A character that has it is culled by its pose's own box,
/// for a hand can put a joint anywhere.
#[derive(Component, Clone, Debug, Default, PartialEq, Deref, DerefMut)]
#[require(ModelPose)]
pub struct PoseOverrides(pub Vec<JointOverride>);

impl PoseOverrides {
    /// Sets a joint's transform relative to its parent, fully; an earlier override of the joint is replaced.
    pub fn set(&mut self, joint: JointIndex, transform: JointTransform) {
        self.clear(joint);
        self.0.push(JointOverride::local(joint, transform));
    }

    /// Gives a joint back to the clips.
    pub fn clear(&mut self, joint: JointIndex) {
        self.0.retain(|o| o.joint != joint);
    }
}

/// Put on a character that was moved without passing through the space between: its skin leaves no
/// motion vectors this frame. Removed by itself afterwards.
///
/// Characters that jump by more than twice their own size in one frame are noticed without it.
#[derive(Component, Clone, Copy, Debug, Default, Reflect)]
#[reflect(Component, Default)]
pub struct Teleported;
