//! Simulates one bone of a spring chain: its target, its constraints, and the rotation of its children.

use super::{Chain, SpringJoint, state::SpringPoint, step::PER_SECOND};
use crate::{
    numbers::unit,
    rig::colliders::{ColliderKind, Placed},
};
use glam::{Quat, Vec3A};

/// Passes over all colliders, each of which may push a bone into another.
const ROUNDS: usize = 4;
/// Number of times that a bone is turned away from the nearest point of a capsule, which slides
/// along as its end does. Each time leaves about the square of the error before, and mostly nothing
/// after the second.
const SLIDES: usize = 24;
/// The square of the part of a collider's radius at which an end is as good as outside.
const NEARLY: f32 = 0.999_996;
/// The speed that a bone loses at a limit or a collider, per second, for each unit of length that it was pushed back. At 6,
/// paths at 30 frames per second part by 1.3 % of a bone where colliders are touched often.
const GRIP: f32 = 3.0;

/// A joint in this frame's animated pose, in world space.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Now {
    /// Relative to the character.
    pub(super) at: Vec3A,
    /// From the parent; for the first joint of a chain, from the state's origin.
    pub(super) offset: Vec3A,
    /// From the joint to its bone's end.
    pub(super) bone: Vec3A,
    pub(super) length: f32,
    /// 1 / the squared length.
    pub(super) inverse_square: f32,
}

/// Target of a bone: the position of its joint, and the vector from there to its end, which has this length.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aim {
    pub(super) anchor: Vec3A,
    pub(super) bone: Vec3A,
    /// The bone in the animated pose.
    pub(super) animated: Vec3A,
    pub(super) length: f32,
    /// 1 / the squared length.
    pub(super) inverse_square: f32,
}

/// A bone that was turned from one vector to another of the same length.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bent {
    pub(super) anchor: Vec3A,
    pub(super) from: Vec3A,
    pub(super) to: Vec3A,
    square: f32,
    inverse_square: f32,
}

/// Forces that act on all bones alike.
#[derive(Clone, Copy, Debug)]
pub(super) struct Air {
    pub(super) gravity: Vec3A,
    pub(super) wind: Vec3A,
}

impl SpringJoint {
    /// Returns the target of the joint's bone, given the bone in the animated pose. In the whole frame, it is as long as it is
    /// `now`.
    #[inline(always)]
    pub(super) fn aim(&self, offset: Vec3A, animated: Vec3A, now: &Now, bent: &[Bent]) -> Aim {
        let &Now {
            length,
            inverse_square,
            ..
        } = now;
        let Some(parent) = self.parent else {
            return Aim {
                anchor: offset,
                bone: animated,
                animated,
                length,
                inverse_square,
            };
        };
        let parent = &bent[usize::from(parent)];
        let offset = if self.at_end {
            parent.to
        } else {
            parent.turn(offset)
        };
        Aim {
            anchor: parent.anchor + offset,
            bone: parent.turn(animated),
            animated,
            length,
            inverse_square,
        }
    }
}

impl Chain {
    /// Returns the acceleration from gravity and wind, for a spring whose target does not move.
    #[inline(always)]
    pub(super) fn push(&self, air: &Air) -> Vec3A {
        air.gravity * self.gravity + air.wind * self.drag
    }

    /// Takes a step. Returns the bone.
    #[inline(always)]
    pub(super) fn swing(
        &self,
        point: &mut SpringPoint,
        aim: &Aim,
        air: &Air,
        colliders: &[Placed],
        scale: f32,
    ) -> Vec3A {
        let Aim { anchor, length, .. } = *aim;
        let target = anchor + aim.bone;
        let (body, moved, push) = (point.body(), target - point.target, self.push(air));
        // The velocity is relative to the anchor while constraints act on it: they only slow down
        // the swing.
        let carried = (anchor - point.anchor) * PER_SECOND;
        let mut velocity = self.step.velocity.sum(&body, moved, push) - carried;
        let bone = of_length(
            aim.bone + self.step.deviation.sum(&body, moved, push),
            length,
            aim.bone,
        );
        let bone = self.constrain(aim, bone, colliders, scale, &mut velocity);
        // Bones keep their length, so only the velocity along the sphere around the anchor is left.
        velocity -= bone * (bone.dot(velocity) * aim.inverse_square);
        // Bones that swing around more than once per step are limited.
        let fastest = length * PER_SECOND;
        let slow = velocity.length_squared() <= fastest * fastest;
        let velocity = if slow {
            velocity
        } else {
            of_length(velocity, fastest, Vec3A::ZERO)
        };
        let (deviation, velocity, target_velocity) =
            (bone - aim.bone, carried + velocity, moved * PER_SECOND);
        *point = SpringPoint {
            deviation,
            velocity,
            target,
            target_velocity,
            anchor,
            ..*point
        };
        bone
    }

    /// Brings a bone within its limit and out of the colliders, and slows its end down there.
    #[inline(always)]
    pub(super) fn constrain(
        &self,
        aim: &Aim,
        mut bone: Vec3A,
        colliders: &[Placed],
        scale: f32,
        velocity: &mut Vec3A,
    ) -> Vec3A {
        let length = aim.length;
        if let Some(cos) = self.limit
            && bone.dot(aim.bone) < cos * length * length
        {
            bone = into_cone(bone, aim.bone * (1.0 / length), length, cos, velocity);
        }
        if self.colliders.is_empty() {
            return bone;
        }
        for _ in 0..ROUNDS {
            let mut hit = false;
            for &index in &self.colliders {
                hit |= self.push_out(
                    &colliders[usize::from(index)],
                    aim,
                    &mut bone,
                    scale,
                    velocity,
                );
            }
            // With a single collider, another pass would change nothing.
            if !hit || self.colliders.len() == 1 {
                break;
            }
        }
        bone
    }

    /// Turns a bone until its end is on the right side of a collider. Returns `true` if it was not, and can be.
    #[inline(always)]
    fn push_out(
        &self,
        collider: &Placed,
        aim: &Aim,
        bone: &mut Vec3A,
        scale: f32,
        velocity: &mut Vec3A,
    ) -> bool {
        let Aim { anchor, length, .. } = *aim;
        let radius = self.radius * scale;
        let is_inside = match collider.kind {
            ColliderKind::Outside => false,
            ColliderKind::Inside => true,
            ColliderKind::Plane => {
                let normal = of_length(collider.axis, 1.0, Vec3A::ZERO);
                let height = radius - normal.dot(anchor - collider.center);
                if normal.dot(*bone) >= height - 1e-6 * length {
                    return false;
                }
                *bone = into_cone(*bone, normal, length, height / length, velocity);
                return height < length;
            }
        };
        let (reach, side) = match is_inside {
            false => (collider.radius + radius, 1.0),
            true => ((collider.radius - radius).max(0.0), -1.0),
        };
        let mut hit = false;
        for _ in 0..if collider.is_sphere() { 1 } else { SLIDES } {
            let end = anchor + *bone;
            let out = collider.to(end);
            let (from, to) = (out.length_squared(), reach * reach);
            // Nearly there counts, because of rounding.
            if (is_inside && from * NEARLY <= to) || (!is_inside && from >= to * NEARLY) {
                break;
            }
            // The ends that are outside form a cone about the direction from the collider to the joint. The others are the rest,
            // a cone about the opposite direction.
            let axis = anchor - (end - out);
            let distance = axis.length();
            if distance <= 1e-6 * reach {
                break;
            }
            // By the law of cosines, for an end at the distance `reach` from the collider.
            let cos =
                side * (to - distance * distance - length * length) / (2.0 * length * distance);
            // Another pass helps only if an end is outside, or if the nearest point slides.
            hit |= cos < 1.0;
            *bone = into_cone(*bone, axis * (side / distance), length, cos, velocity);
        }
        hit
    }
}

impl Bent {
    #[inline(always)]
    pub(super) fn new(aim: &Aim, to: Vec3A) -> Self {
        let &Aim {
            anchor,
            animated: from,
            length,
            inverse_square,
            ..
        } = aim;
        Self {
            anchor,
            from,
            to,
            square: (length * length).max(1e-20),
            inverse_square,
        }
    }

    /// Turns a vector as the bone was turned.
    #[inline(always)]
    pub(super) fn turn(&self, v: Vec3A) -> Vec3A {
        let &Self {
            from,
            to,
            square,
            inverse_square,
            ..
        } = self;
        let sum = from + to;
        // A bone that points back has turned about any axis; the limit keeps this from tearing those below it.
        let away = 1.0 / (square + from.dot(to)).max(1e-3 * square);
        // The shortest rotation between two vectors, as the product of two reflections.
        v - sum * (sum.dot(v) * away) + to * (from.dot(v) * (2.0 * inverse_square))
    }
}

/// `v` with a length; `or` if `v` has no direction.
#[inline(always)]
pub(super) fn of_length(v: Vec3A, length: f32, or: Vec3A) -> Vec3A {
    let square = v.length_squared();
    if square > 1e-20 && square < f32::MAX {
        v * (length / square.sqrt())
    } else {
        or
    }
}

/// Turns a bone until the cosine between it and the direction `axis` is `cos`, and slows down what moves it away from there.
///
/// The deeper it was, the more it is slowed down. If it were stopped at once, whether a bone grazes something or just misses
/// it would make all the difference, and paths at different frame rates would part there.
#[inline(always)]
fn into_cone(bone: Vec3A, axis: Vec3A, length: f32, cos: f32, velocity: &mut Vec3A) -> Vec3A {
    let cos = cos.clamp(-1.0, 1.0);
    let sin = (1.0 - cos * cos).sqrt();
    let along = axis.dot(bone);
    let across = bone - axis * along;
    let far = across.length();
    let across = if far > 1e-6 * length {
        across * (1.0 / far)
    } else {
        axis.any_orthonormal_vector()
    };
    let inward = axis * sin - across * cos;
    let most = (far * cos - along * sin).max(0.0) * GRIP;
    *velocity += inward * (-inward.dot(*velocity)).clamp(0.0, most);
    (axis * cos + across * sin) * length
}

/// The share `weight` of the shortest rotation from one vector to another, both of this length.
#[inline(always)]
pub(super) fn arc(from: Vec3A, to: Vec3A, length: f32, weight: f32) -> Quat {
    let whole = length * length;
    let (axis, w) = (from.cross(to), whole + from.dot(to));
    let mut turn = Quat::from_vec4(axis.extend(w));
    if w < 1e-3 * whole {
        // Nearly half a turn, where little is left of `w` but rounding. The sum has none.
        let sum = from + to;
        turn = Quat::from_vec4(from.cross(sum).extend(0.5 * sum.length_squared()));
    }
    let square = turn.length_squared();
    let turn = if square > 1e-12 * whole * whole {
        turn * (1.0 / square.sqrt())
    } else if whole > 1e-20 {
        Quat::from_vec4((from / length).any_orthonormal_vector().extend(0.0))
    } else {
        return Quat::IDENTITY;
    };
    if weight == 1.0 {
        turn
    } else {
        unit(Quat::IDENTITY * (1.0 - weight) + turn * weight)
    }
}
