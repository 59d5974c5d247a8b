//! Draws rigs as gizmos.

use super::{
    super::{
        DrawSkeleton,
        gizmos::{SkeletonGizmos, axes, bone_size, in_world},
    },
    PlacedLimb, ShownRig,
    look::chain_of,
};
use crate::{
    asset::Character,
    character::{
        GroundProbe, IkGoals, IkLimb, IkWeight, LookAt, LookTarget, ModelPose, SkinnedCharacter,
    },
    rig::{Collider, ColliderKind, GroundHit, LookChain, RigState},
};
use bevy::{ecs::system::SystemParam, prelude::*};
use glam::Affine3A;
use std::f32::consts::PI;

const GOAL: Color = Color::srgb(1.0, 0.80, 0.30);
const POLE: Color = Color::srgb(0.75, 0.60, 1.0);
const LOOK: Color = Color::srgb(0.40, 0.90, 0.95);
const COLLIDER: Color = Color::srgb(0.95, 0.55, 0.45);
const CONTACT: Color = Color::srgb(0.55, 0.95, 0.45);

type Drawn = (
    &'static SkinnedCharacter,
    &'static ModelPose,
    &'static GlobalTransform,
    Option<&'static IkGoals>,
    Option<&'static LookAt>,
    Option<(&'static GroundProbe, &'static RigState)>,
);

/// Targets of goals and of look-at.
#[derive(SystemParam)]
pub(in super::super) struct Aims<'w, 's> {
    goals: Query<'w, 's, (&'static IkLimb, &'static IkWeight)>,
    places: Query<'w, 's, &'static GlobalTransform>,
}

/// Draws the rigs of characters whose [`DrawSkeleton`] asks for it, and of the one that the panel shows.
pub(in super::super) fn draw(
    mut gizmos: Gizmos<SkeletonGizmos>,
    shown: Res<ShownRig>,
    assets: Res<Assets<Character>>,
    asked: Query<(Entity, &DrawSkeleton)>,
    characters: Query<Drawn>,
    aims: Aims,
) {
    let asked = asked
        .iter()
        .filter(|(_, what)| what.rig)
        .map(|(entity, _)| entity);
    let asked = asked
        .filter(|&entity| shown.0 != Some(entity))
        .chain(shown.0);
    for (handle, pose, world, goals, look, feet) in
        asked.filter_map(|entity| characters.get(entity).ok())
    {
        let Some(character) = assets.get(handle.id()) else {
            continue;
        };
        let Some(joints) = in_world(character, pose, world) else {
            continue;
        };
        let size = bone_size(&character.skeleton, &joints);
        for goal in goals.into_iter().flat_map(|goals| goals.iter()) {
            draw_goal(&mut gizmos, goal, character, &joints, size, &aims);
        }
        if let Some(look) = look
            && let Some(chain) = chain_of(look, character)
        {
            draw_look(
                &mut gizmos,
                look,
                &chain,
                (character, pose, world),
                &joints,
                size,
                &aims,
            );
        }
        for collider in character
            .springs
            .iter()
            .flat_map(|springs| springs.colliders())
        {
            draw_collider(&mut gizmos, collider, &joints);
        }
        if let Some((probe, state)) = feet {
            for (leg, hit) in probe.hits() {
                draw_contact(&mut gizmos, hit, state.feet.is_locked(leg), size);
            }
        }
    }
}

/// Draws a goal as axes with a line from the limb's tip, and its pole as a cross with a dashed line from the elbow.
fn draw_goal(
    gizmos: &mut Gizmos<SkeletonGizmos>,
    entity: Entity,
    character: &Character,
    joints: &[Affine3A],
    size: f32,
    aims: &Aims,
) {
    let (Ok((goal, weight)), Ok(place)) = (aims.goals.get(entity), aims.places.get(entity)) else {
        return;
    };
    let at = place.translation();
    // Its own scale says nothing about how the limb is turned.
    axes(gizmos, &place.affine(), 0.5 * size);
    gizmos.cube(
        Transform::from_translation(at).with_scale(Vec3::splat(0.15 * size)),
        GOAL,
    );
    let Some(limb) = PlacedLimb::of(goal, character, joints) else {
        return;
    };
    gizmos.line(
        limb.tip(),
        at,
        GOAL.with_alpha(0.25 + 0.75 * weight.weight.clamp(0.0, 1.0)),
    );
    let Some(pole) = goal.pole.and_then(|pole| aims.places.get(pole).ok()) else {
        return;
    };
    let pole = pole.translation();
    gizmos.cross(pole, 0.2 * size, POLE);
    dashed(gizmos, limb.middle, pole, 0.15 * size, POLE);
}

/// Draws a line to the target, and the directions in which the character can look.
fn draw_look(
    gizmos: &mut Gizmos<SkeletonGizmos>,
    look: &LookAt,
    chain: &LookChain,
    (character, pose, world): (&Character, &ModelPose, &GlobalTransform),
    joints: &[Affine3A],
    size: f32,
    aims: &Aims,
) {
    let Some(head) = joints.get(usize::from(chain.head())) else {
        return;
    };
    let head = Vec3::from(head.translation);
    let toward = |turn: Vec2| {
        let direction = world.affine().transform_vector3(chain.direction(
            turn,
            &character.skeleton,
            &pose.joints,
        ));
        head + direction.normalize_or_zero() * (1.5 * size)
    };
    let edge = limit_edge(chain).map(toward);
    let faint = LOOK.with_alpha(0.5);
    for pair in edge.windows(2) {
        gizmos.line(pair[0], pair[1], faint);
    }
    for corner in edge.iter().step_by(SIDE) {
        gizmos.line(head, *corner, faint.with_alpha(0.2));
    }
    let target = match look.target {
        LookTarget::Nothing => None,
        LookTarget::Point(point) => Some(point),
        LookTarget::Entity(entity) => aims
            .places
            .get(entity)
            .ok()
            .map(GlobalTransform::translation),
    };
    if let Some(target) = target {
        gizmos.line(head, target, LOOK);
        gizmos.cross(target, 0.25 * size, LOOK);
    }
}

/// Draws a sphere or a capsule that springs stay outside of.
fn draw_collider(gizmos: &mut Gizmos<SkeletonGizmos>, collider: &Collider, joints: &[Affine3A]) {
    let Some(joint) = joints.get(usize::from(collider.joint)) else {
        return;
    };
    let radius = collider.radius * joint.matrix3.x_axis.length();
    if let (ColliderKind::Plane, Some(end)) = (collider.kind, collider.end) {
        let [center, end] = [collider.center, end].map(|at| joint.transform_point3(at));
        gizmos.arrow(center, end, COLLIDER);
        return;
    }
    if !(radius > 0.0 && radius.is_finite()) {
        return;
    }
    let center = joint.transform_point3(collider.center);
    let end = collider
        .end
        .map_or(center, |end| joint.transform_point3(end));
    match Dir3::new(end - center) {
        Err(_) => {
            gizmos.sphere(center, radius, COLLIDER);
        }
        Ok(along) => {
            let capsule = Capsule3d::new(radius, center.distance(end));
            let place = Isometry3d::new(
                center.midpoint(end),
                Quat::from_rotation_arc(Vec3::Y, *along),
            );
            gizmos.primitive_3d(&capsule, place, COLLIDER);
        }
    }
}

/// Draws a ring where a ray met the ground under a foot, and a second one while the foot is locked.
fn draw_contact(gizmos: &mut Gizmos<SkeletonGizmos>, hit: &GroundHit, is_locked: bool, size: f32) {
    let Ok(normal) = Dir3::new(hit.normal) else {
        return;
    };
    let lifted = hit.point + normal * (0.02 * size);
    let place = Isometry3d::new(lifted, Quat::from_rotation_arc(Vec3::Z, *normal));
    let color = if is_locked {
        CONTACT
    } else {
        CONTACT.with_alpha(0.35)
    };
    gizmos.circle(place, 0.3 * size, color);
    if is_locked {
        gizmos.circle(place, 0.15 * size, color);
    }
    gizmos.line(lifted, lifted + normal * (0.4 * size), color);
}

/// Segments on each side of the limits.
const SIDE: usize = 8;

/// Returns yaw and pitch along the edge of a chain's limits, from corner to corner and back to the first.
fn limit_edge(chain: &LookChain) -> [Vec2; 4 * SIDE + 1] {
    // A limit can be infinite.
    let limits = Vec2::new(
        chain.yaw_limit.clamp(0.0, PI),
        chain.pitch_limit.clamp(0.0, 0.5 * PI),
    );
    let corners = [
        Vec2::new(1.0, 1.0),
        Vec2::new(-1.0, 1.0),
        Vec2::new(-1.0, -1.0),
        Vec2::new(1.0, -1.0),
    ];
    std::array::from_fn(|i| {
        let side = i / SIDE;
        limits * corners[side % 4].lerp(corners[(side + 1) % 4], (i % SIDE) as f32 / SIDE as f32)
    })
}

/// Draws a dashed line. Gizmos have a line style for a whole group only.
fn dashed(gizmos: &mut Gizmos<SkeletonGizmos>, from: Vec3, to: Vec3, dash: f32, color: Color) {
    let dashes = (from.distance(to) / (2.0 * dash)).clamp(1.0, 64.0) as u32;
    for i in 0..dashes {
        let [start, end] = [0.0, 0.5].map(|part| from.lerp(to, (i as f32 + part) / dashes as f32));
        gizmos.line(start, end, color);
    }
}

#[cfg(test)]
#[path = "tests/draw.rs"]
mod tests;
