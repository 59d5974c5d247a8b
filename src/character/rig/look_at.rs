//! The targets that characters look at.

use super::{
    super::{
        components::{CharacterParts, ModelPose, SkinnedCharacter},
        names::name_of,
    },
    pose::RigPose,
};
use crate::{
    asset::Character,
    import::LookAtEntry,
    rig::{LookChain, RigState},
};
use bevy::{
    ecs::{
        entity::{EntityMapper, MapEntities},
        name::NameOrEntity,
        template::{
            EntityTemplate, FromTemplate, SpecializeFromTemplate, Template, TemplateContext,
        },
    },
    prelude::*,
};
use std::sync::Arc;

/// Makes a character turn its head toward something.
///
/// The joints that turn, their limits and their speed come from the manifest's `look_at`, or from
/// [`joints`](Self::joints). The turn starts and ends as fast as its speed allows, so the target
/// can change at any time.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{character::{LookAt, LookTarget}, prelude::*};
/// # fn notice(mut commands: Commands, character: Entity, lantern: Entity, mut looks: Query<&mut LookAt>) {
/// commands.entity(character).insert(LookAt::entity(lantern));
/// // Later:
/// if let Ok(mut look) = looks.get_mut(character) {
///     look.target = LookTarget::Nothing;
/// }
/// # }
/// ```
#[derive(Component, Clone, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, Default, PartialEq)]
#[require(ModelPose, RigState, RigPose, ResolvedLook)]
pub struct LookAt {
    /// The target that the character looks at.
    #[entities]
    pub target: LookTarget,
    /// The share of the turn that is made: 0 is none, 1 is all of it.
    pub weight: f32,
    /// The joints that turn; `None` for those of the manifest.
    pub joints: Option<LookAtEntry>,
}

/// A [`LookAt`] in `bsn!`, where the target is an entity of the scene: `LookAt { target: #Lantern }`.
pub struct LookAtTemplate {
    /// The entity to look at; [`EntityTemplate::None`] for none.
    pub target: EntityTemplate,
    /// See [`LookAt::weight`].
    pub weight: f32,
    /// See [`LookAt::joints`].
    pub joints: Option<LookAtEntry>,
}

impl Default for LookAtTemplate {
    fn default() -> Self {
        let LookAt { weight, joints, .. } = LookAt::default();
        Self {
            target: EntityTemplate::None,
            weight,
            joints,
        }
    }
}

impl FromTemplate for LookAt {
    type Template = LookAtTemplate;
}

impl Template for LookAtTemplate {
    type Output = LookAt;

    fn build_template(&self, context: &mut TemplateContext) -> Result<LookAt> {
        let target = optional_entity(&self.target, context)?;
        Ok(LookAt {
            target: target.map_or(LookTarget::Nothing, LookTarget::Entity),
            weight: self.weight,
            joints: self.joints.clone(),
        })
    }

    fn clone_template(&self) -> Self {
        Self {
            target: self.target,
            weight: self.weight,
            joints: self.joints.clone(),
        }
    }
}

/// The entity of a template that may have none.
pub(super) fn optional_entity(
    template: &EntityTemplate,
    context: &mut TemplateContext,
) -> Result<Option<Entity>> {
    match template {
        EntityTemplate::None => Ok(None),
        template => template.build_template(context).map(Some),
    }
}

// A type with a default is its own template otherwise.
impl Unpin for LookAt where for<'a> [()]: SpecializeFromTemplate {}

/// The target of a [`LookAt`].
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::character::{LookAt, LookTarget};
/// fn look_away(mut characters: Query<&mut LookAt>) {
///     for mut look in &mut characters {
///         look.target = LookTarget::Nothing;
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Reflect)]
pub enum LookTarget {
    /// Nothing: the character looks where its clips do.
    #[default]
    Nothing,
    /// An entity's position.
    Entity(Entity),
    /// A point in the world.
    Point(Vec3),
}

impl MapEntities for LookTarget {
    fn map_entities<M: EntityMapper>(&mut self, mapper: &mut M) {
        if let Self::Entity(entity) = self {
            *entity = mapper.get_mapped(*entity);
        }
    }
}

impl Default for LookAt {
    fn default() -> Self {
        Self {
            target: LookTarget::Nothing,
            weight: 1.0,
            joints: None,
        }
    }
}

impl LookAt {
    /// Looks at an entity.
    pub fn entity(target: Entity) -> Self {
        Self {
            target: LookTarget::Entity(target),
            ..Self::default()
        }
    }

    /// Looks at a point in the world.
    pub fn point(target: Vec3) -> Self {
        Self {
            target: LookTarget::Point(target),
            ..Self::default()
        }
    }

    /// Turns these joints instead of those of the manifest.
    pub fn joints(self, joints: LookAtEntry) -> Self {
        Self {
            joints: Some(joints),
            ..self
        }
    }
}

/// The joints that turn in one version of a character's asset.
#[derive(Component, Clone, Debug, Default)]
pub(in crate::character) struct ResolvedLook {
    /// 0 until the first look-up; no asset has that version.
    version: u64,
    /// The joints named by the `LookAt` when they were looked up.
    joints: Option<LookAtEntry>,
    pub(super) chain: Option<Arc<LookChain>>,
}

/// Looks up the joints of characters whose asset changed, or for which others were chosen in code.
pub(in crate::character) fn resolve_looks(
    assets: Res<Assets<Character>>,
    mut looks: Query<(
        Entity,
        Ref<LookAt>,
        &mut ResolvedLook,
        &SkinnedCharacter,
        &CharacterParts,
    )>,
    names: Query<NameOrEntity>,
) {
    for (entity, look, mut resolved, handle, parts) in &mut looks {
        let is_new = parts.version != Some(resolved.version);
        // Changes of only the target or the weight keep the chain.
        if !(is_new || look.is_changed() && look.joints != resolved.joints) {
            continue;
        }
        let Some(character) = assets
            .get(handle.id())
            .filter(|asset| parts.version == Some(asset.version))
        else {
            continue;
        };
        let chain = match &look.joints {
            Some(joints) => joints.resolve(&character.skeleton).map(Arc::new),
            None => character.look_at.clone(),
        };
        // One warning when it starts to fail, rather than one whenever the target changes.
        if chain.is_none() && (is_new || resolved.chain.is_some()) {
            let who = name_of(&names, entity);
            match &look.joints {
                Some(_) => warn!(
                    "{who} cannot look at anything: the joints of its `LookAt` do not form a chain"
                ),
                None => warn!(
                    "{who} cannot look at anything: its manifest has no `look_at`; add it, or name the joints with \
                     `LookAt::joints`"
                ),
            }
        }
        *resolved = ResolvedLook {
            version: character.version,
            joints: look.joints.clone(),
            chain,
        };
    }
}
