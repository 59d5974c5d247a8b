//! The rest pose of a body whose file has none.
//!
//! A file of clips without a skin only has its nodes' own transforms as a rest pose, and many
//! exporters leave these at a moment of a clip. A body that stands like one at rest, upright,
//! straight and the same on both sides, is left as it is. Otherwise it may be one whose joints
//! aren't rotated at rest, as in motion capture. If it isn't, its limbs are placed, for the
//! computation only, like those of the model at rest. That determines how the joints were turned
//! then, apart from twists.

use super::body::{arc, unit};
use crate::model::{JointIndex, JointTransform, Role, Roles, Side, SkeletalClip, Skeleton};
use glam::{Affine3A, Mat3, Quat, Vec3};

/// Returns the source with a rest pose, if its own is only a moment of one of its clips.
pub(in crate::import) fn with_rest(
    source: &Skeleton,
    source_roles: &Roles,
    clips: &[SkeletalClip],
    target: &Skeleton,
    target_roles: &Roles,
) -> Option<Skeleton> {
    // A pose that no clip passes through was set by somebody, as a rest pose.
    if source.is_bound() || !clips.iter().any(|clip| passes(source, clip)) {
        return None;
    }
    let nodes: Vec<JointTransform> = source.joints().map(|joint| source.rest_of(joint)).collect();
    if stands(source, source_roles, &nodes) {
        return None;
    }
    // In motion capture, joints at rest have no rotation of their own.
    let mut pose: Vec<JointTransform> = nodes
        .iter()
        .map(|node| JointTransform {
            rotation: Quat::IDENTITY,
            ..*node
        })
        .collect();
    if !stands(source, source_roles, &pose) {
        let model = target.in_bind_pose();
        pose = posed_like(source, source_roles, nodes, &model, target_roles);
    }
    stand_up(
        source,
        source_roles,
        &mut pose,
        &target.in_bind_pose(),
        target_roles,
    );
    Some(source.clone().with_bind_pose(pose))
}

/// Returns `true` if all joints that a clip moves pass through the rest pose.
fn passes(skeleton: &Skeleton, clip: &SkeletalClip) -> bool {
    let moved: Vec<usize> = (0..skeleton.len())
        .filter(|&joint| clip.animates(joint))
        .collect();
    let is_there = |frame: usize, joint: usize| {
        let (now, rest) = (
            clip.transform_at(joint, frame),
            skeleton.rest_of(joint as JointIndex),
        );
        // Within the rounding of files. A joint on its parent has no length to compare with.
        let length = rest.translation.length().max(1e-3);
        now.rotation.angle_between(rest.rotation) < 2e-3
            && now.translation.distance(rest.translation) < 2e-3 * length
    };
    !moved.is_empty()
        && (0..clip.frame_count()).any(|frame| moved.iter().all(|&joint| is_there(frame, joint)))
}

fn model(skeleton: &Skeleton, pose: &[JointTransform]) -> Vec<Affine3A> {
    let mut out: Vec<Affine3A> = Vec::with_capacity(pose.len());
    for (parent, local) in skeleton.parents().iter().zip(pose) {
        let local = local.to_affine();
        out.push(parent.map_or(local, |parent| out[usize::from(parent)] * local));
    }
    out
}

/// The places of joints, by their roles.
struct Places<'a> {
    roles: &'a Roles,
    model: Vec<Affine3A>,
}

impl Places<'_> {
    fn of(&self, role: Role) -> Option<Vec3> {
        Some(
            self.model[usize::from(self.roles.joint(role)?)]
                .translation
                .into(),
        )
    }

    fn spine(&self) -> impl DoubleEndedIterator<Item = Role> + '_ {
        (0..=u8::MAX)
            .map(Role::Spine)
            .take_while(|role| self.roles.joint(*role).is_some())
            .collect::<Vec<_>>()
            .into_iter()
    }

    fn neck(&self) -> Option<Role> {
        [Role::Neck(0), Role::Head]
            .into_iter()
            .find(|role| self.roles.joint(*role).is_some())
    }

    /// Returns the role of the joint at which a shoulder starts.
    fn shoulder(&self, side: Side) -> Option<Role> {
        [Role::Clavicle(side), Role::UpperArm(side)]
            .into_iter()
            .find(|role| self.roles.joint(*role).is_some())
    }
}

/// Returns `true` if a body stands like one at rest: upright, with straight legs, and the same on
/// both sides.
fn stands(skeleton: &Skeleton, roles: &Roles, pose: &[JointTransform]) -> bool {
    let places = Places {
        roles,
        model: model(skeleton, pose),
    };
    let both = |role: fn(Side) -> Role| {
        Some([places.of(role(Side::Left))?, places.of(role(Side::Right))?])
    };
    let (Some(hips), Some(thighs), Some(shins), Some(feet)) = (
        places.of(Role::Hips),
        both(Role::Thigh),
        both(Role::Shin),
        both(Role::Foot),
    ) else {
        return false;
    };
    let top = places
        .of(Role::Head)
        .or_else(|| places.of(places.spine().next_back()?));
    let Some(top) = top else { return false };
    let cos = |a: Vec3, b: Vec3| a.normalize_or_zero().dot(b.normalize_or_zero());
    // Within about 15°, because neither artists nor exporters are exact.
    let is_up = cos(top - hips, Vec3::Y) > 0.97;
    let are_straight = (0..2).all(|side| {
        cos(thighs[side] - shins[side], shins[side] - feet[side]) > 0.9
            && cos(thighs[side] - feet[side], Vec3::Y) > 0.95
    });
    let across = (thighs[0] - thighs[1]).normalize_or_zero();
    let size = top.distance(feet[0]);
    // In the plane between the thighs, wherever the body stands.
    let mirrored = |v: Vec3| v - across * (2.0 * across.dot(v - hips));
    let roles: [fn(Side) -> Role; 6] = [
        Role::Thigh,
        Role::Shin,
        Role::Foot,
        Role::UpperArm,
        Role::Forearm,
        Role::Hand,
    ];
    let are_alike = roles
        .iter()
        .filter_map(|role| both(*role))
        .all(|[left, right]| mirrored(left).distance(right) < 0.03 * size);
    is_up && are_straight && are_alike && across.y.abs() < 0.05
}

/// Places limbs and trunk like those of the model at rest.
fn posed_like(
    source: &Skeleton,
    source_roles: &Roles,
    nodes: Vec<JointTransform>,
    target: &Skeleton,
    target_roles: &Roles,
) -> Vec<JointTransform> {
    let now = Places {
        roles: source_roles,
        model: model(source, &nodes),
    };
    let wanted = Places {
        roles: target_roles,
        model: target.rest_model().to_vec(),
    };
    let both = |of: &dyn Fn(&Places) -> Option<Vec3>| Some([of(&now)?, of(&wanted)?]);
    let way = |from: Role, to: Role| both(&|places| Some(places.of(to)? - places.of(from)?));
    // The frames of joints with several joints below: from one side to the other, and upward.
    let frame = |across: Option<[Vec3; 2]>, up: Option<[Vec3; 2]>| {
        let ([across, own_across], [up, own_up]) = (across?, up?);
        let frame = |across: Vec3, up: Vec3| {
            let x = across.try_normalize()?;
            let y = up.reject_from_normalized(x).try_normalize()?;
            Some(Quat::from_mat3(&Mat3::from_cols(x, y, x.cross(y))))
        };
        // The rotation from the joint's present pose to its rest pose.
        Some(frame(own_across, own_up)? * frame(across, up)?.conjugate())
    };
    let turned = |joint: JointIndex| -> Option<Turn> {
        let role = source_roles.role(joint)?;
        let (left, right) = (Side::Left, Side::Right);
        let next = |to: Role| way(role, to).map(|[now, wanted]| Turn::Arc(now, wanted));
        match role {
            Role::Hips => {
                let middle = |places: &Places| {
                    Some(0.5 * (places.of(Role::Thigh(left))? + places.of(Role::Thigh(right))?))
                };
                let up = both(&|places| {
                    let base = places.of(places.spine().next()?)?;
                    let up = base - middle(places)?;
                    // The spine may start right between the thighs.
                    Some(if up.length_squared() > 1e-8 {
                        up
                    } else {
                        base - places.of(Role::Hips)?
                    })
                });
                frame(way(Role::Thigh(right), Role::Thigh(left)), up).map(Turn::Whole)
            }
            Role::Spine(_) if now.spine().next_back() == Some(role) => {
                let shoulder = |places: &Places, side| places.of(places.shoulder(side)?);
                let across =
                    both(&|places| Some(shoulder(places, left)? - shoulder(places, right)?));
                let up = both(&|places| {
                    Some(places.of(places.neck()?)? - places.of(places.spine().next_back()?)?)
                });
                frame(across, up).map(Turn::Whole)
            }
            Role::Spine(at) => next(Role::Spine(at + 1)),
            Role::Neck(at) => next(Role::Neck(at + 1)).or_else(|| next(Role::Head)),
            Role::Clavicle(side) => next(Role::UpperArm(side)),
            Role::UpperArm(side) => next(Role::Forearm(side)),
            Role::Forearm(side) => next(Role::Hand(side)),
            Role::Thigh(side) => next(Role::Shin(side)),
            Role::Shin(side) => next(Role::Foot(side)),
            Role::Foot(side) => next(Role::Toes(side)),
            _ => None,
        }
    };
    // As the joints stand now, before any of them is turned.
    let stood = super::rotations(source, |joint| unit(nodes[usize::from(joint)].rotation));
    let mut pose = nodes;
    let mut rotations: Vec<Quat> = Vec::with_capacity(pose.len());
    for joint in source.joints() {
        let at = usize::from(joint);
        let parent =
            source.parents()[at].map_or(Quat::IDENTITY, |parent| rotations[usize::from(parent)]);
        // Before its own turn, a joint goes with those above it.
        let follows = unit(parent * unit(pose[at].rotation));
        let rotation = match turned(joint) {
            Some(Turn::Whole(turn)) => unit(turn * stood[at]),
            Some(Turn::Arc(now, wanted)) => {
                // The direction of the bone after the turns of the joints above.
                let carried = follows * (stood[at].conjugate() * now);
                unit(arc(carried, wanted) * follows)
            }
            None => follows,
        };
        pose[at].rotation = unit(parent.conjugate() * rotation);
        rotations.push(rotation);
    }
    pose
}

/// The rotation of a joint to its rest pose.
enum Turn {
    /// By the rotation from its present pose.
    Whole(Quat),
    /// So that the bone below it points in a direction.
    Arc(Vec3, Vec3),
}

/// Puts the hips at the height above the feet that those of the model have, in proportion.
fn stand_up(
    source: &Skeleton,
    source_roles: &Roles,
    pose: &mut [JointTransform],
    target: &Skeleton,
    target_roles: &Roles,
) {
    let now = Places {
        roles: source_roles,
        model: model(source, pose),
    };
    let own = Places {
        roles: target_roles,
        model: target.rest_model().to_vec(),
    };
    let feet = |places: &Places| {
        let [left, right] = [Side::Left, Side::Right].map(|side| places.of(Role::Foot(side)));
        Some(0.5 * (left? + right?))
    };
    let (Some(hips), Some(own_hips), Some(under), Some(own_under)) = (
        source_roles.joint(Role::Hips),
        own.of(Role::Hips),
        feet(&now),
        feet(&own),
    ) else {
        return;
    };
    let at = usize::from(hips);
    let place = Vec3::from(now.model[at].translation);
    // The source's size over that of the model, by the height of the hips.
    let ratio = place.distance(under) / own_hips.distance(own_under).max(1e-6);
    let wanted = Vec3::new(
        own_hips.x * ratio,
        place.y - under.y + own_under.y * ratio,
        own_hips.z * ratio,
    );
    let above = super::above(&now.model, source, at);
    let local = above.inverse().transform_point3(wanted);
    if local.is_finite() {
        pose[at].translation = local;
    }
}
