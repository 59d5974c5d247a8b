//! Characters worn by others: armor, clothes and hair that move with the body's joints.

use super::{
    components::{CharacterParts, ModelPose, PartOf, SkinnedCharacter},
    hierarchy::upward,
    layers::ActiveLayers,
    names::name_of,
    pose_state::PoseStamp,
    systems::{EarlyStep, SolveStep, SpawnStep},
};
use crate::{asset::Character, import::match_joints, model::JointIndex, rig::RigState};
use bevy::{
    camera::primitives::Aabb,
    ecs::{name::NameOrEntity, query::QueryFilter, template::FromTemplate},
    platform::collections::HashMap,
    prelude::*,
};
use glam::Affine3A;
use std::sync::Arc;

pub(super) fn plugin(app: &mut App) {
    app.register_type::<WornBy>()
        .register_type::<Wears>()
        .add_systems(
            PostUpdate,
            (
                put_on
                    .in_set(SpawnStep::Parts)
                    .after_ignore_deferred(SpawnStep::Report),
                follow_bodies::<Without<RigState>>.in_set(EarlyStep::Dress),
                follow_bodies::<With<RigState>>.in_set(SolveStep::Dress),
            )
                .distributive_run_if(any_with_component::<WornBy>),
        )
        .add_systems(
            PostUpdate,
            take_off
                .run_if(any_component_removed::<WornBy>)
                .in_set(SpawnStep::Parts),
        );
}

/// Makes a body wear this character.
///
/// Each joint takes the pose of the body's joint of the same name, in the same frame. Joints are matched as those of clips are:
/// prefixes that exporters add, such as `mixamorig:`, make no difference. A joint that the body lacks keeps its rest transform
/// relative to its parent. While it is worn, the character's own controller and [`PoseOverrides`](super::PoseOverrides) have no
/// effect: it is in its rest pose until the body has loaded, and keeps its last pose if the body stops being a character.
///
/// The character becomes a child of the body and shares its transform, so it is moved, hidden and despawned
/// with it. To take it off, despawn it, or remove [`WornBy`] and `ChildOf`. A character worn by something that
/// is worn itself takes the pose of the outermost body. Two characters that wear each other are refused with a
/// warning.
///
/// The body is posed every frame, in view or not, and the culling boxes of what it wears are computed from its
/// pose.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{character::WornBy, prelude::*};
/// # fn dress(mut commands: Commands, body: Entity, assets: Res<AssetServer>) {
/// commands.spawn((SkinnedCharacter(assets.load("breastplate.md5mesh")), WornBy(body)));
/// # }
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Reflect, FromTemplate)]
#[reflect(Component, Clone, PartialEq)]
#[relationship(relationship_target = Wears)]
#[require(ModelPose, Transform, Visibility, WornJoints)]
pub struct WornBy(#[entities] pub Entity);

/// On a body: the characters it wears. Maintained by [`WornBy`].
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::character::Wears;
/// # fn undress(mut commands: Commands, body: Entity) {
/// // Takes everything off.
/// commands.entity(body).despawn_related::<Wears>();
/// # }
/// ```
#[derive(Component, Debug, Default, Reflect)]
#[reflect(Component, Default)]
#[relationship_target(relationship = WornBy)]
#[require(ModelPose)]
pub struct Wears(Vec<Entity>);

/// The body's joint that moves each joint, for one shape of both assets.
#[derive(Component, Clone, Debug, Default)]
pub(super) struct WornJoints {
    /// The body, the shape of the worn character, and that of the body; no asset has shape 0.
    of: (Option<Entity>, u64, u64),
    joints: MatchedJoints,
}

/// The body's joint that moves each joint. Shared by all pairs of the same assets.
type MatchedJoints = Arc<[Option<JointIndex>]>;

impl WornJoints {
    /// Returns the pose of a worn character, given that of its body. `None` if their joints have
    /// not been matched yet.
    pub(super) fn follow(
        &self,
        character: &Character,
        body: &Character,
        pose: &[Affine3A],
    ) -> Option<Vec<Affine3A>> {
        // Matched for these very shapes: after a reload, indices mean other joints.
        let mut joints = Vec::new();
        let is_met = (self.of.1, self.of.2) == (character.shape.version, body.shape.version);
        is_met
            .then(|| copy_pose(&mut joints, &self.joints, character, pose))
            .map(|()| joints)
    }
}

/// Keeps worn characters children of their bodies, at the bodies' place.
pub(super) fn put_on(
    mut commands: Commands,
    mut worn: Query<(Entity, &WornBy, &mut Transform, Option<&ChildOf>)>,
    links: Query<&WornBy>,
    parents: Query<&ChildOf>,
    names: Query<NameOrEntity>,
) {
    // Refused links exist until commands are applied.
    let mut refused = Vec::new();
    for (entity, &WornBy(body), mut transform, parent) in &mut worn {
        // Mostly, the child is where it belongs, and there is nothing to do.
        if parent.is_none_or(|parent| parent.parent() != body) {
            let parent_of = |entity| {
                let body = links
                    .get(entity)
                    .ok()
                    .filter(|_| !refused.contains(&entity))
                    .map(|worn| worn.0);
                body.or_else(|| parents.get(entity).ok().map(ChildOf::parent))
            };
            if upward(body, parent_of).any(|above| above == entity) {
                let [worn, wearer] = [entity, body].map(|entity| name_of(&names, entity));
                warn!(
                    "{worn} cannot be worn by {wearer}, which hangs from it; `WornBy` is removed"
                );
                commands.entity(entity).try_remove::<WornBy>();
                refused.push(entity);
                continue;
            }
            commands.entity(entity).try_insert(ChildOf(body));
        }
        // A worn character has no place of its own. Its joints are those of the body.
        transform.set_if_neq(Transform::IDENTITY);
    }
}

/// Gives characters that have been taken off their own size back.
fn take_off(
    mut removed: RemovedComponents<WornBy>,
    assets: Res<Assets<Character>>,
    mut characters: Query<(&SkinnedCharacter, &mut CharacterParts), Without<WornBy>>,
) {
    for entity in removed.read() {
        if let Ok((handle, mut parts)) = characters.get_mut(entity)
            && let Some(character) = assets.get(handle.id())
        {
            parts.bypass_change_detection().take_size_of(character);
        }
    }
}

type Body<'w> = (&'w SkinnedCharacter, Ref<'w, ModelPose>, &'w CharacterParts);

/// Copies the poses of some bodies to the characters that they wear, and sets their boxes. Bodies
/// with a rig are posed later than others.
pub(super) fn follow_bodies<Those: QueryFilter>(
    assets: Res<Assets<Character>>,
    mut known: Local<HashMap<(u64, u64), MatchedJoints>>,
    bodies: Query<Body, (Without<WornBy>, Those)>,
    links: Query<&WornBy>,
    mut worn: Query<(
        (&WornBy, &SkinnedCharacter),
        (
            &mut WornJoints,
            &mut ModelPose,
            &mut CharacterParts,
            &mut ActiveLayers,
        ),
    )>,
    mut boxes: Query<&mut Aabb, With<PartOf>>,
) {
    for ((&WornBy(body), handle), (mut joints, mut pose, mut parts, mut layers)) in &mut worn {
        let Some(character) = assets.get(handle.id()) else {
            continue;
        };
        let posed_body = upward(body, |body| links.get(body).ok().map(|worn| worn.0))
            .last()
            .and_then(|outermost| {
                // A ring has no outermost body, and an outermost body may be posed at another time.
                let (handle, pose, parts) = bodies.get(outermost).ok()?;
                let body = assets
                    .get(handle.id())
                    .filter(|body| pose.joints.len() == body.skeleton.len())?;
                Some((outermost, body, pose, parts))
            });
        let Some((outermost, body, body_pose, body_parts)) = posed_body else {
            hold(&mut pose, character);
            continue;
        };
        if parts.version != Some(character.version) {
            // Its parts don't exist yet, or are those of another version.
            continue;
        }
        let of = (Some(outermost), character.shape.version, body.shape.version);
        let is_new = joints.of != of;
        if is_new {
            // Once per pair of assets, however many characters wear them.
            let matched = known.entry((of.1, of.2)).or_insert_with(|| {
                let (matched, _) = match_joints(&body.skeleton, &character.skeleton);
                let matched = matched
                    .iter()
                    .map(|joint| joint.map(|joint| joint as JointIndex));
                let matched: MatchedJoints = matched.collect();
                warn_missing(character, body, &matched);
                matched
            });
            *joints = WornJoints {
                of,
                joints: matched.clone(),
            };
        }
        // A jump is detected by size, and it moves as its body does.
        let parts = parts.bypass_change_detection();
        (parts.center, parts.radius) = (body_parts.center, body_parts.radius);
        let is_kept = pose.is(PoseStamp::Worn, character.skeleton.len());
        // The pose is a copy, which is current while the body's is.
        if is_kept && !is_new && !body_pose.is_changed() {
            continue;
        }
        copy_pose(
            &mut pose.joints,
            &joints.joints,
            character,
            &body_pose.joints,
        );
        pose.stamp = PoseStamp::Worn;
        // When it is taken off, the clips' boxes are set again.
        layers.bypass_change_detection().forget_boxes();
        for (part, &entity) in character.parts.iter().zip(&parts.entities) {
            if let Ok(mut aabb) = boxes.get_mut(entity) {
                *aabb = pose.bounds_of(part);
            }
        }
    }
}

/// Keeps the last pose, or takes the rest pose, while there is no body to follow: it has not loaded yet, or is not a
/// character.
fn hold(pose: &mut Mut<ModelPose>, character: &Character) {
    if !pose.is(PoseStamp::Worn, character.skeleton.len()) {
        if pose.joints.len() != character.skeleton.len() {
            pose.joints.clear();
            pose.joints
                .extend_from_slice(character.skeleton.rest_model());
        }
        pose.stamp = PoseStamp::Worn;
    }
}

/// Writes the pose: the body's matrix where there is such a joint, else the rest pose relative to the parent.
fn copy_pose(
    pose: &mut Vec<Affine3A>,
    from: &[Option<JointIndex>],
    character: &Character,
    body: &[Affine3A],
) {
    pose.clear();
    for (joint, (parent, from)) in character.skeleton.parents().iter().zip(from).enumerate() {
        let matrix = match from.and_then(|from| body.get(usize::from(from))) {
            Some(matrix) => *matrix,
            None => {
                let rest = character.skeleton.rest_of(joint as JointIndex).to_affine();
                parent.map_or(rest, |parent| pose[usize::from(parent)] * rest)
            }
        };
        pose.push(matrix);
    }
}

/// Warns about joints that move skin but that the body lacks.
fn warn_missing(character: &Character, body: &Character, matched: &[Option<JointIndex>]) {
    const SHOWN: usize = 6;
    let mut missing: Vec<JointIndex> = character
        .parts
        .iter()
        .flat_map(|part| part.palette.iter().copied())
        .collect();
    // Parts share joints, and each should be listed once.
    missing.sort_unstable();
    missing.dedup();
    // Joints without skin may be missing without anyone seeing it.
    missing.retain(|joint| {
        matched
            .get(usize::from(*joint))
            .is_some_and(Option::is_none)
    });
    if missing.is_empty() {
        return;
    }
    let names: Vec<String> = missing
        .iter()
        .take(SHOWN)
        .map(|&joint| {
            let name = character.skeleton.name(joint);
            let near = body.skeleton.nearest_name(name);
            near.map_or(format!("`{name}`"), |near| {
                format!("`{name}` (did you mean `{near}`?)")
            })
        })
        .collect();
    let more = missing.len().saturating_sub(SHOWN);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    warn!(
        "the body has no joint {}{more}; the skin worn there stays in its rest pose",
        names.join(", ")
    );
}
