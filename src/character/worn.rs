//! Characters worn by others: armour, clothes and hair that move with the body's joints.

use super::{CharacterParts, ModelPose, PartOf, SkinnedCharacter, bounds};
use crate::{asset::Character, model::JointIndex};
use bevy::{camera::primitives::Aabb, platform::collections::HashSet, prelude::*};
use glam::Affine3A;

/// Put on a character: another one, the body, wears it.
///
/// Its joints take the body's pose, joint by joint of the same name, in the same frame; its own inverse
/// bind matrices then carry its skin. A joint that the body lacks keeps its rest place on its parent. Its own
/// controller and [`PoseOverrides`](super::PoseOverrides) do not count as long as it is worn.
///
/// It becomes a child of the body and shares its place, so it is moved, hidden and despawned with it.
/// Despawn it to take it off for good; remove [`WornBy`] (and `ChildOf`) to let it go as a character of its
/// own. What is worn by something worn takes the pose of the outermost body.
///
/// The body is posed every frame, in view or not, and the boxes of what it wears follow from the pose.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{character::WornBy, prelude::*};
/// # fn dress(mut commands: Commands, body: Entity, assets: Res<AssetServer>) {
/// commands.spawn((SkinnedCharacter(assets.load("breastplate.md5mesh")), WornBy(body)));
/// # }
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
#[relationship(relationship_target = Wears)]
#[require(ModelPose, Transform, Visibility, WornJoints)]
pub struct WornBy(pub Entity);

/// On a body: what it wears. Kept by [`WornBy`].
#[derive(Component, Debug, Default)]
#[relationship_target(relationship = WornBy)]
#[require(ModelPose)]
pub struct Wears(Vec<Entity>);

/// Which of the body's joints moves each joint, for one version of both.
#[derive(Component, Clone, Debug, Default)]
pub(super) struct WornJoints {
    /// Body, and the versions of what is worn and of the body; no asset has version 0.
    of: (Option<Entity>, u64, u64),
    joints: Vec<Option<JointIndex>>,
}

/// Chains of what is worn by something worn are followed this far.
const DEEPEST: usize = 8;

/// Keeps what is worn at its body's place in the hierarchy.
pub(super) fn put_on(mut commands: Commands, mut worn: Query<(Entity, &WornBy, &mut Transform, Option<&ChildOf>)>) {
    for (entity, body, mut transform, parent) in &mut worn {
        if parent.is_none_or(|parent| parent.parent() != body.0) {
            commands.entity(entity).try_insert(ChildOf(body.0));
        }
        transform.set_if_neq(Transform::IDENTITY);
    }
}

type Body<'w> = (&'w SkinnedCharacter, Ref<'w, ModelPose>, &'w CharacterParts);

/// Takes over the bodies' poses, and sets the boxes of what they wear.
pub(super) fn follow_bodies(
    assets: Res<Assets<Character>>,
    mut said: Local<HashSet<(u64, u64)>>,
    bodies: Query<Body, Without<WornBy>>,
    links: Query<&WornBy>,
    mut worn: Query<(&WornBy, &SkinnedCharacter, &mut WornJoints, &mut ModelPose, &mut CharacterParts)>,
    mut boxes: Query<&mut Aabb, With<PartOf>>,
) {
    for (&WornBy(body), handle, mut joints, mut pose, mut parts) in &mut worn {
        let outermost = std::iter::successors(Some(body), |&body| links.get(body).ok().map(|worn| worn.0))
            .take(DEEPEST)
            .find(|&body| !links.contains(body));
        let Some((outermost, (body_handle, body_pose, body_parts))) =
            outermost.and_then(|body| Some((body, bodies.get(body).ok()?)))
        else {
            continue;
        };
        let (Some(character), Some(body)) = (assets.get(handle.id()), assets.get(body_handle.id())) else { continue };
        if parts.version != Some(character.version) || body_pose.joints.len() != body.skeleton.len() {
            continue;
        }
        let of = (Some(outermost), character.version, body.version);
        let is_new = joints.of != of;
        if is_new {
            let matched = |name: &std::sync::Arc<str>| body.skeleton.joint(name);
            *joints = WornJoints { of, joints: character.skeleton.names().iter().map(matched).collect() };
            if said.insert((of.1, of.2)) {
                warn_missing(character, body, &joints.joints);
            }
        }
        // By its size a jump is told from a step, and it steps as its body does.
        let parts = parts.bypass_change_detection();
        (parts.center, parts.radius) = (body_parts.center, body_parts.radius);
        // 0: its own pose was evaluated anew, or never.
        let is_kept = pose.evaluated == WORN && pose.joints.len() == character.skeleton.len();
        if is_kept && !is_new && !body_pose.is_changed() {
            continue;
        }
        take_over(&mut pose.joints, &joints.joints, character, &body_pose.joints);
        pose.evaluated = WORN;
        // Whoever takes it off gets the clips' boxes back.
        parts.enclosed = 0;
        for (part, &entity) in character.parts.iter().zip(&parts.entities) {
            if let Ok(mut aabb) = boxes.get_mut(entity) {
                *aabb = bounds::posed(part, &pose);
            }
        }
    }
}

/// In [`ModelPose::evaluated`]: the pose is a body's. No fingerprint of what plays is likely to be this.
const WORN: u64 = u64::MAX;

/// Writes the pose: the body's matrices where there is such a joint, and the rest pose on from there.
fn take_over(pose: &mut Vec<Affine3A>, from: &[Option<JointIndex>], character: &Character, body: &[Affine3A]) {
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

/// Says which joints that move skin the body lacks.
fn warn_missing(character: &Character, body: &Character, matched: &[Option<JointIndex>]) {
    const SHOWN: usize = 6;
    let mut missing: Vec<JointIndex> = character.parts.iter().flat_map(|part| part.palette.iter().copied()).collect();
    missing.sort_unstable();
    missing.dedup();
    missing.retain(|joint| matched.get(usize::from(*joint)).is_some_and(Option::is_none));
    if missing.is_empty() {
        return;
    }
    let names: Vec<String> = missing
        .iter()
        .take(SHOWN)
        .map(|&joint| {
            let name = character.skeleton.name(joint);
            let near = body.skeleton.nearest_name(name);
            near.map_or(format!("`{name}`"), |near| format!("`{name}` (did you mean `{near}`?)"))
        })
        .collect();
    let more = missing.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    warn!("the body has no joint {}{more}; there the skin worn keeps its rest place on its parent", names.join(", "));
}
