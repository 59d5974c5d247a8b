//! Components of a character and of its parts.

use super::{
    layers::ActiveLayers,
    mesh_variants::MeshVariant,
    pose_state::{PoseStamp, PoseState},
};
use crate::{
    asset::{Character, CharacterPart},
    controller::AnimationController,
    model::{JointIndex, JointTransform},
    pose::JointOverride,
};
use bevy::{
    asset::AsAssetId,
    camera::primitives::Aabb,
    ecs::{lifecycle::HookContext, template::FromTemplate, world::DeferredWorld},
    prelude::*,
};
use glam::Affine3A;
use smallvec::SmallVec;

/// A character. Spawn it with a handle, and its parts are spawned once the asset has loaded.
///
/// Requires an [`AnimationController`] (playing nothing: the rest pose), a `Transform` and a `Visibility`.
/// The parts are children of the entity and follow its transform.
///
/// [`CharacterReady`](super::CharacterReady) is triggered on the entity when its parts are spawned,
/// and [`CharacterFailed`](super::CharacterFailed) if the asset fails to load.
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
#[derive(
    Component, Clone, Debug, Default, PartialEq, Eq, Deref, DerefMut, Reflect, FromTemplate,
)]
#[reflect(Component, Clone, Default, PartialEq)]
// Empty `Children`, because a component that is added later moves all others to another table, and Bevy keeps both.
#[require(
    AnimationController,
    CharacterParts,
    ActiveLayers,
    PoseState,
    Children,
    Transform,
    Visibility
)]
pub struct SkinnedCharacter(pub Handle<Character>);

impl From<Handle<Character>> for SkinnedCharacter {
    fn from(handle: Handle<Character>) -> Self {
        Self(handle)
    }
}

/// For the query filter `AssetChanged<SkinnedCharacter>`.
impl AsAssetId for SkinnedCharacter {
    type Asset = Character;

    fn as_asset_id(&self) -> AssetId<Character> {
        self.id()
    }
}

/// The parts a character has spawned, in the order of [`Character::parts`].
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy::light::NotShadowCaster;
/// # use bevy_marionette::{character::CharacterParts, prelude::*};
/// fn leave_out_shadows(ready: On<CharacterReady>, characters: Query<&CharacterParts>, mut commands: Commands) -> Result {
///     for part in &characters.get(ready.entity)?.entities {
///         commands.entity(*part).insert(NotShadowCaster);
///     }
///     Ok(())
/// }
/// ```
#[derive(Component, Clone, Debug, Default, Reflect)]
#[reflect(Component, Clone, Default)]
pub struct CharacterParts {
    /// The parts' entities. Two fit into the component itself, since they are read every frame.
    #[reflect(skip_serializing, default)]
    pub entities: SmallVec<[Entity; 2]>,
    /// Version of the asset that they are up to date with; `None` if there are none.
    #[reflect(ignore)]
    pub(super) version: Option<u64>,
    /// Version of the asset's skeleton and parts.
    #[reflect(ignore)]
    pub(super) shape: u64,
    /// Center and radius of the character at rest, in its own space.
    #[reflect(ignore)]
    pub(super) center: Vec3,
    #[reflect(ignore)]
    pub(super) radius: f32,
    /// The variant of their meshes that the parts show.
    #[reflect(ignore)]
    pub(super) variant: MeshVariant,
}

impl CharacterParts {
    /// Sets center and radius to those of a character at rest.
    pub(super) fn take_size_of(&mut self, character: &Character) {
        let rest = character.rest_bounds();
        self.center = rest.map_or(Vec3::ZERO, |rest| rest.center.into());
        self.radius = rest.map_or(0.0, |rest| rest.half_extents.length());
    }
}

/// On each part: its character, and which of the character's parts it is.
///
/// Parts are spawned by their character. One that was loaded from a scene is despawned again, because its
/// character spawns its own.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::character::PartOf;
/// fn count_parts(parts: Query<&PartOf>) {
///     info!("{} parts", parts.iter().len());
/// }
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[reflect(Component, Clone, PartialEq)]
#[component(on_remove = warn_of_lost_part)]
pub struct PartOf {
    /// The character's entity.
    #[entities]
    pub character: Entity,
    /// Index into [`Character::parts`].
    pub part: usize,
}

/// Warns about a part that was despawned while its character still has it.
fn warn_of_lost_part(world: DeferredWorld, removed: HookContext) {
    let Some(of) = world.get::<PartOf>(removed.entity) else {
        return;
    };
    // A part that systems despawn is no longer on the list.
    if world
        .get::<CharacterParts>(of.character)
        .is_some_and(|list| list.entities.contains(&removed.entity))
    {
        let [part, who] = [removed.entity, of.character].map(|entity| {
            world
                .get::<Name>(entity)
                .map_or_else(|| entity.to_string(), Name::to_string)
        });
        say_lost(part, who);
    }
}

/// Warns that a part is no longer drawn.
pub(super) fn say_lost(part: String, who: String) {
    warn!(
        "part `{part}` of {who} was despawned or stripped, and is not drawn until the character's asset is set again"
    );
}

/// A character's current pose, as one matrix per joint.
///
/// Optional: add it to read the joints. Poses of characters without it go straight to the GPU and
/// are not stored, which makes them a fifth cheaper. Whatever needs a stored pose requires this
/// component: [`Attachments`](super::Attachments), [`Wears`](super::Wears),
/// [`WornBy`](super::WornBy) and [`PoseOverrides`]. To ask for a joint occasionally, use
/// [`CharacterPoses`](super::CharacterPoses), which works for every character.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{character::ModelPose, prelude::*};
/// # let mut app = App::new();
/// // For all characters:
/// app.register_required_components::<SkinnedCharacter, ModelPose>();
/// ```
///
/// The pose is updated while the character is in view, carries something or wears something. Out of view it
/// remains the last pose seen; with an [`AnimationLod`](super::AnimationLod) it may be some frames old. On a server,
/// where nothing is ever in view, add an empty [`PoseOverrides`] to have it updated every frame.
///
/// Up to date after [`CharacterSystems::SharePoses`](super::CharacterSystems::SharePoses).
#[derive(Component, Clone, Debug, Default, Reflect)]
#[reflect(Component, Clone, Default)]
pub struct ModelPose {
    /// Per joint: joint space → the character's space. Empty until the asset has loaded.
    #[reflect(skip_serializing, default)]
    pub joints: Vec<Affine3A>,
    #[reflect(ignore)]
    pub(super) stamp: PoseStamp,
    /// The overrides it was last evaluated with.
    #[reflect(ignore)]
    pub(super) overrides: Vec<JointOverride>,
}

impl ModelPose {
    /// Returns a joint's matrix, joint space → the character's space; `None` if there is no such joint.
    pub fn joint(&self, joint: JointIndex) -> Option<&Affine3A> {
        self.joints.get(usize::from(joint))
    }

    /// Returns `true` if the pose is the one of this stamp, for a skeleton of `joints` joints.
    pub(super) fn is(&self, stamp: PoseStamp, joints: usize) -> bool {
        self.stamp == stamp && self.joints.len() == joints
    }

    /// The box around a part in this pose.
    pub(super) fn bounds_of(&self, part: &CharacterPart) -> Aabb {
        part.bounds
            .posed(&self.joints)
            .map_or(part.rest_bounds, |bounds| {
                Aabb::from_min_max(bounds.min, bounds.max)
            })
    }
}

/// Joints posed from code, on top of the clips.
///
/// An optional component of a character. Since an override can move a joint anywhere, the culling boxes of a
/// character that has it are computed from its pose.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_marionette::{asset::Character, model::JointTransform, pose::{JointOverride, JointSpace}, prelude::*};
/// # fn look_back(character: Entity, mut commands: Commands, characters: Query<&SkinnedCharacter>, assets: Res<Assets<Character>>) {
/// let Some(head) = characters.get(character).ok().and_then(|c| assets.get(&c.0)?.joint("head")) else { return };
/// let turn = JointTransform::new(Vec3::ZERO, Quat::from_rotation_y(1.5));
/// // On top of what plays: relative to the joint itself.
/// let look = JointOverride { space: JointSpace::Joint, ..JointOverride::local(head, turn) };
/// commands.entity(character).insert(PoseOverrides(vec![look]));
/// # }
/// ```
#[derive(Component, Clone, Debug, Default, PartialEq, Deref, DerefMut, Reflect)]
#[reflect(Component, Clone, Default, PartialEq)]
#[require(ModelPose)]
#[component(on_remove = forget_overrides)]
pub struct PoseOverrides(pub Vec<JointOverride>);

/// Makes a pose with the overrides invalid: out of view, no system would do so.
fn forget_overrides(mut world: DeferredWorld, removed: HookContext) {
    if let Some(mut pose) = world.get_mut::<ModelPose>(removed.entity) {
        let pose = pose.bypass_change_detection();
        pose.overrides.clear();
        pose.stamp = PoseStamp::Never;
    }
}

impl PoseOverrides {
    /// Sets a joint's transform relative to its parent, replacing earlier overrides of the joint.
    pub fn set(&mut self, joint: JointIndex, transform: JointTransform) {
        self.clear(joint);
        self.0.push(JointOverride::local(joint, transform));
    }

    /// Clears the overrides of a joint so that it follows its clips again.
    pub fn clear(&mut self, joint: JointIndex) {
        self.0.retain(|o| o.joint != joint);
    }
}

/// Add to a character that was moved without passing through the space between: its skin leaves no motion
/// vectors this frame. Removed automatically afterwards.
///
/// Jumps of more than twice the character's size in one frame are detected without it.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{character::Teleported, prelude::*};
/// # fn respawn(mut commands: Commands, hero: Entity) {
/// commands.entity(hero).insert((Transform::from_xyz(0.0, 0.0, 5.0), Teleported));
/// # }
/// ```
#[derive(Component, Clone, Copy, Debug, Default, Reflect)]
#[reflect(Component, Default, Clone)]
pub struct Teleported;
