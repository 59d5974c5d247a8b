//! One leg: the place of its foot, and the rotations that take it there.

use super::{
    Feet,
    bend::bent,
    filters::{Step, angle, rotation, turn_toward},
    frame::{FeetLimits, FootPlan, GroundHit, Landing, LegJoints},
    space::{GroundPlane, Space},
    state::{LegState, Stance},
};
use crate::{
    model::{JointIndex, Skeleton},
    numbers::unit,
    pose::PoseMut,
    rig::{
        TurnSpeeds,
        math::{across, direction, part},
    },
};
use glam::{Affine3A, Quat, Vec3A};

/// A leg of a skeleton.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Leg {
    /// Root, mid and tip.
    pub(crate) joints: [JointIndex; 3],
    /// The points that carry the foot, heel and ball, in the tip's space, and their heights at rest.
    contacts: [(Vec3A, f32); 2],
    /// Length of the stretched leg.
    pub(crate) length: f32,
    /// The direction in which the leg bends at rest, in the root's space.
    bend: Vec3A,
    /// The root at rest, in model space.
    pub(super) root_at_rest: Vec3A,
    /// Distance of that from the up axis.
    pub(super) aside: f32,
}

/// A leg in the animated pose, in model space.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LegPose {
    /// Root, mid and tip.
    pub(crate) points: [Vec3A; 3],
    /// Heel and ball, each with its height above the ground of the clip.
    pub(crate) contacts: [(Vec3A, f32); 2],
}

/// A leg in one frame.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LegFrame {
    pub(super) pose: LegPose,
    pub(super) plant: f32,
    pub(super) ground: Option<GroundPlane>,
    /// Weight of the ground, 0..=1; less far from it and in the air.
    pub(super) near: f32,
    /// Height of the ground under the foot above the model's origin.
    pub(super) level: f32,
    /// Jump of that since the last frame, beyond what the ground's slope explains.
    pub(super) jump: f32,
    /// Target position of the tip, and its rotation relative to the animated pose.
    target: Vec3A,
    turn: Quat,
}

/// The time step of all legs' springs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps {
    dt: f32,
    level: Step,
    slope: Step,
    offset: Step,
    twist: Step,
}

impl Steps {
    /// No time passes.
    const STILL: Self = Self {
        dt: 0.0,
        level: Step::STILL,
        slope: Step::STILL,
        offset: Step::STILL,
        twist: Step::STILL,
    };

    #[inline(always)]
    pub(super) fn new(dt: f32) -> Self {
        let step = |rate: f32| Step::new(rate, dt);
        let (level, slope) = (step(LEVEL_RATE), step(SLOPE_RATE));
        Self {
            dt,
            level,
            slope,
            offset: step(OFFSET_RATE),
            twist: step(TWIST_RATE),
        }
    }
}

/// Speed limits of a leg's joints: a multiple of the speeds in the clips.
#[derive(Clone, Copy, Debug)]
pub(super) struct TurnLimit {
    pub(super) limit: f32,
    /// In radians per second.
    pub(super) speeds: [f32; 3],
}

/// Position of the body after the hips have moved, in model space.
pub(super) struct Moved {
    pub(super) pivot: Vec3A,
    pub(super) turn: Quat,
    pub(super) shift: Vec3A,
}

/// Seconds before a foot lands from which on the ground at the landing place counts.
const LOOK_AHEAD: f32 = 0.4;
/// Rates at which feet settle, in 1/s.
const LEVEL_RATE: f32 = 26.0;
const SLOPE_RATE: f32 = 14.0;
const OFFSET_RATE: f32 = 12.0;
const TWIST_RATE: f32 = 9.0;
/// The farthest that a locked foot is twisted, in radians.
const MOST_TWIST: f32 = 0.8;
/// Largest stretch of a leg, if the clip doesn't stretch it more.
const STRETCH: f32 = 0.97;
/// Largest fold of a leg, if the clip doesn't fold it more.
const NEAREST: f32 = 0.25;
/// The contact weight from which a foot is locked.
const LOCK: f32 = 0.5;

impl Moved {
    #[inline(always)]
    pub(super) fn point(&self, point: Vec3A) -> Vec3A {
        if self.turn == Quat::IDENTITY {
            return point + self.shift;
        }
        self.pivot + self.turn * (point - self.pivot) + self.shift
    }

    #[inline(always)]
    fn back(&self, point: Vec3A) -> Vec3A {
        if self.turn == Quat::IDENTITY {
            return point - self.shift;
        }
        self.pivot + self.turn.conjugate() * (point - self.shift - self.pivot)
    }
}

/// Returns the other one of heel (0) and ball (1). The number may come from a file, so only its
/// last bit counts.
fn other_contact(contact: u8) -> u8 {
    1 - (contact & 1)
}

impl LegPose {
    #[inline(always)]
    pub(crate) fn contact(&self, contact: u8) -> Vec3A {
        self.contacts[usize::from(contact & 1)].0
    }

    /// Returns the offset that takes the height of a contact point from above level ground to above
    /// a slope, along its normal.
    #[inline(always)]
    fn above_slope(&self, contact: u8, normal: Vec3A, feet: &Feet) -> Vec3A {
        let height = feet.up.dot(self.contact(contact));
        // Limited, so that a foot that swings high isn't taken far downhill.
        (normal - feet.up) * height.clamp(-0.1 * feet.size, 0.1 * feet.size)
    }

    /// Returns `true` if a contact is lower than the other by more than a distance.
    #[inline(always)]
    fn is_lower(&self, contact: u8, much: f32) -> bool {
        let height = |contact: u8| self.contacts[usize::from(contact & 1)].1;
        height(contact) < height(other_contact(contact)) - much
    }
}

impl LegFrame {
    /// Determines the height of the ground under the foot.
    #[inline(always)]
    pub(super) fn find_ground(
        &mut self,
        hits: &[Option<GroundHit>; 3],
        is_landing: bool,
        memory: &LegState,
        (feet, leg, space): (&Feet, &Leg, &Space),
        in_reach: f32,
    ) {
        let way = space.way(self.pose.contact(memory.contact)) + memory.held(&self.pose, space);
        let mut highest = f32::NEG_INFINITY;
        for (i, hit) in hits.iter().enumerate() {
            let Some(mut plane) = hit.and_then(|hit| space.plane(hit)) else {
                continue;
            };
            let mut height = space.height(&plane, way);
            if is_landing && i < 2 {
                // Not higher than where the foot lands, or ground that falls away would raise it.
                let most = space.up.dot(plane.point - space.place) * space.to_model;
                if height > most {
                    (plane.slope, height) = (Vec3A::ZERO, most);
                }
            }
            if height > highest {
                (self.ground, highest) = (Some(plane), height);
            }
        }
        let (height, near) = feet.level(leg, self.ground.as_ref(), space, way);
        // The same place on the plane of the last frame, so the ground's slope doesn't count as a
        // jump.
        let (before, was_near) = feet.level(leg, memory.ground.as_ref(), space, way);
        self.near = near * in_reach;
        self.level = height * self.near;
        self.jump = self.level - before * was_near * in_reach;
    }

    #[inline(always)]
    fn place(&self, memory: &LegState, normal: Vec3A, feet: &Feet, space: &Space) -> Vec3A {
        let place = self.pose.contact(memory.contact);
        let moved =
            space.to_model(memory.offset.value) + feet.up * (self.level + memory.level.value);
        let moved = moved + self.pose.above_slope(memory.contact, normal, feet);
        place + moved + self.turn * (self.pose.points[2] - place)
    }
}

impl LegState {
    /// Lets go of a foot that cannot stay where it is.
    #[inline(always)]
    fn let_go(&mut self) {
        self.stance = Stance::LetGo;
        // This was the velocity of being dragged along, which is no velocity for the way back.
        (self.offset.velocity, self.twist.velocity) = (Vec3A::ZERO, 0.0);
    }

    /// Returns the place where the foot lands, if it does so soon.
    #[inline(always)]
    pub(super) fn landing(&self, plan: &FootPlan) -> Option<Landing> {
        plan.landing.filter(|landing| {
            let places = landing.places.iter().all(|place| place.is_finite());
            self.stance != Stance::Locked
                && landing.seconds >= 0.0
                && landing.seconds < LOOK_AHEAD
                && places
        })
    }

    /// Returns the position at which to look for the ground under heel or ball, in world space. The Y component is ignored.
    #[inline(always)]
    pub(super) fn spot(&self, contact: usize, pose: &LegPose, space: &Space) -> Vec3A {
        match self.stance {
            // A locked foot stays on the ground it was locked to, though it rolls.
            Stance::Locked => self.spots[contact & 1],
            _ => space.place + space.to_world(pose.contacts[contact & 1].0) + self.offset.value,
        }
    }

    /// Returns the horizontal offset from the foot's place in the clip to its actual place, in
    /// world space.
    #[inline(always)]
    pub(super) fn held(&self, pose: &LegPose, space: &Space) -> Vec3A {
        match self.stance {
            Stance::Locked => {
                space.flat((self.anchor - space.place) - space.to_world(pose.contact(self.contact)))
            }
            _ => self.offset.value,
        }
    }
}

impl Leg {
    pub(super) fn new(
        skeleton: &Skeleton,
        hips: JointIndex,
        leg: &LegJoints,
        up: Vec3A,
    ) -> Option<Self> {
        let descends = |joint, above| skeleton.descends(joint, above);
        let at = |joint: JointIndex| skeleton.rest_model()[usize::from(joint)].translation;
        let &LegJoints {
            root,
            mid,
            tip,
            toe,
            heel,
        } = leg;
        if !descends(tip, root) || !descends(root, hips) {
            return None;
        }
        // Without a given joint, the knee is the one most nearly halfway between hip and foot.
        let unevenness = |joint: &JointIndex| {
            (at(*joint).distance(at(root)) - at(*joint).distance(at(tip))).abs()
        };
        let between = skeleton.ancestors(tip).take_while(|&joint| joint != root);
        let mid = mid.or_else(|| between.min_by(|a, b| unevenness(a).total_cmp(&unevenness(b))))?;
        if !descends(tip, mid) || !descends(mid, root) || toe.is_some_and(|toe| !descends(toe, tip))
        {
            return None;
        }
        let [a, b, c] = [root, mid, tip].map(at);
        let length = a.distance(b) + b.distance(c);
        if !length.is_normal() || a.distance(b).min(b.distance(c)) < 1e-3 * length {
            return None;
        }
        let into = |joint: JointIndex| {
            let matrix = skeleton.rest_model()[usize::from(joint)];
            matrix
                .matrix3
                .determinant()
                .is_normal()
                .then(|| matrix.inverse())
        };
        let into_tip = into(tip)?;
        let contact = |place: Vec3A| (into_tip.transform_point3a(place), up.dot(place));
        let heel = contact(
            heel.filter(|heel| heel.is_finite())
                .map_or(c - up * up.dot(c), Vec3A::from),
        );
        // An ankle at that height is a hock or a wrist, which never carries the foot.
        let on_toes = up.dot(c) > 0.2 * length;
        let contacts = match toe {
            Some(toe) if on_toes => [contact(at(toe)); 2],
            Some(toe) => [heel, contact(at(toe))],
            None => [heel; 2],
        };
        let bend = across(b - a, direction(c - a)?).unwrap_or(Vec3A::ZERO);
        let bend = direction(into(root)?.transform_vector3a(bend)).unwrap_or(Vec3A::ZERO);
        let aside = (a - up * up.dot(a)).length();
        Some(Self {
            joints: [root, mid, tip],
            contacts,
            length,
            bend,
            root_at_rest: a,
            aside,
        })
    }

    /// Returns the speeds at which the clips turn the joints, in radians per second.
    #[inline(always)]
    pub(super) fn turn_speeds(&self, speeds: Option<&TurnSpeeds>) -> [f32; 3] {
        self.joints
            .map(|joint| speeds.map_or(TurnSpeeds::SLOWEST, |speeds| speeds.of(joint)))
    }

    pub(super) fn has_two_contacts(&self) -> bool {
        self.contacts[0] != self.contacts[1]
    }

    /// The leg in the animated pose.
    #[inline(always)]
    pub(crate) fn pose(&self, model: &[Affine3A], up: Vec3A) -> LegPose {
        let tip = &model[usize::from(self.joints[2])];
        let contacts = self.contacts.map(|(local, rise)| {
            let place = tip.transform_point3a(local);
            (place, up.dot(place) - rise)
        });
        LegPose {
            points: self
                .joints
                .map(|joint| model[usize::from(joint)].translation),
            contacts,
        }
    }

    /// Determines the foot's target.
    #[inline(always)]
    pub(super) fn place(
        &self,
        now: &mut LegFrame,
        memory: &mut LegState,
        (feet, space): (&Feet, &Space),
        turned: f32,
        steps: Option<&Steps>,
    ) {
        let up = feet.up;
        let steepest = feet.limits.slope.max(0.0);
        let slope = now
            .ground
            .map_or(Vec3A::ZERO, |ground| ground.slope * now.near)
            .clamp_length_max(steepest);
        match steps {
            Some(steps) => {
                // The decaying offset takes up a jump of the ground, so the foot itself doesn't
                // jump.
                memory.level.value -= now.jump;
                memory.level.settle(steps.level);
                memory.slope.toward(slope, steps.slope);
            }
            None => memory.slope.value = slope,
        }
        self.hold_or_follow(
            now,
            memory,
            (&feet.limits, space),
            turned,
            steps.unwrap_or(&Steps::STILL),
        );
        let normal = up - space.to_model(memory.slope.value) * space.to_world;
        let length = normal.length();
        // The shortest rotation to the normal, which is less than a quarter of a turn away, unless
        // a damaged file has another normal.
        now.turn = Quat::from_vec4(up.cross(normal).extend((length + up.dot(normal)).max(1e-6)))
            .normalize();
        let normal = normal * (1.0 / length);
        if memory.twist.value != 0.0 {
            now.turn = unit(now.turn * rotation(up, memory.twist.value));
        }
        now.target = now.place(memory, normal, feet, space);

        let other = other_contact(memory.contact);
        let (pose, turn) = (now.pose, now.turn);
        let moved = |contact: u8, target: Vec3A| {
            target + turn * (pose.contact(contact) - pose.points[2])
                - pose.above_slope(contact, normal, feet)
        };
        if now.pose.is_lower(other, 0.001 * feet.size) {
            // The other point takes over: a locked one from where it was, so that it doesn't slide.
            memory.contact = other;
            let place = now.pose.contact(other);
            let to = moved(other, now.target);
            if memory.stance == Stance::Locked {
                memory.anchor = memory.other;
                memory.offset.value = memory.held(&now.pose, space);
            } else {
                memory.offset.value = space.flat(space.to_world(to - place));
            }
            let way = space.way(place) + memory.offset.value;
            now.level = feet.level(self, now.ground.as_ref(), space, way).0 * now.near;
            if memory.stance != Stance::Locked {
                memory.level.value = up.dot(to - place) - now.level;
            }
            now.target = now.place(memory, normal, feet, space);
        }
        memory.other =
            space.place + space.to_world(moved(other_contact(memory.contact), now.target));
    }

    /// Locks the foot, lets it go, or lets it follow the clip.
    #[inline(always)]
    fn hold_or_follow(
        &self,
        now: &LegFrame,
        memory: &mut LegState,
        (limits, space): (&FeetLimits, &Space),
        turned: f32,
        steps: &Steps,
    ) {
        let dt = steps.dt;
        if memory.stance == Stance::Locked {
            let (offset, twist) = (memory.held(&now.pose, space), memory.twist.value - turned);
            let most = limits.stride.max(0.0) * self.length * space.to_world;
            let is_planted = now.plant >= LOCK && now.ground.is_some() && now.near > 0.5;
            let is_far = offset.length() > most || twist.abs() > MOST_TWIST;
            if dt > 0.0 && !is_far {
                memory.offset.velocity = (offset - memory.offset.value) / dt;
                memory.twist.velocity = (twist - memory.twist.value) / dt;
            }
            memory.offset.value = offset.clamp_length_max(most);
            memory.twist.value = twist.clamp(-MOST_TWIST, MOST_TWIST);
            if is_far {
                memory.let_go();
            } else if !is_planted {
                memory.stance = Stance::Free;
            }
            return;
        }
        memory.offset.settle(steps.offset);
        memory.twist.settle(steps.twist);
        let is_back = memory.offset.value.length() * space.to_model < 0.01 * self.length
            && memory.twist.value.abs() < 0.02;
        if memory.stance == Stance::LetGo && (now.plant < LOCK || is_back) {
            memory.stance = Stance::Free;
        }
        let is_down = now.ground.is_some()
            && now.near > 0.9
            && memory.level.value.abs() < 0.001 * self.length;
        if memory.stance == Stance::Free && now.plant >= LOCK && is_down && memory.is_reached {
            memory.spots = [0, 1].map(|contact| memory.spot(contact, &now.pose, space));
            memory.stance = Stance::Locked;
            memory.anchor = space.place
                + space.to_world(now.pose.contact(memory.contact))
                + memory.offset.value;
        }
    }

    /// Returns the length to which the leg may be stretched.
    #[inline(always)]
    fn reach(&self, pose: &LegPose) -> f32 {
        pose.points[0]
            .distance(pose.points[2])
            .max(STRETCH * self.length)
    }

    /// Returns the height to which the leg may be raised before the foot cannot reach its place; `None` if it cannot in any case.
    #[inline(always)]
    pub(super) fn highest(&self, now: &LegFrame, up: Vec3A, root: Vec3A) -> Option<f32> {
        let way = now.target - root;
        let rise = up.dot(way);
        let reach = self.reach(&now.pose);
        let room = reach * reach - (way - up * rise).length_squared();
        (room > 0.0).then(|| rise + room.sqrt())
    }

    /// Turns the joints so that the foot is in its place.
    #[inline(always)]
    pub(super) fn solve(
        &self,
        now: &LegFrame,
        memory: &mut LegState,
        moved: &Moved,
        (turn, weight): (TurnLimit, f32),
        dt: Option<f32>,
        pose: &mut PoseMut,
    ) {
        let animated = self.joints.map(|joint| pose.rotation(joint));
        let wanted = self.wanted(now, memory, moved, weight, animated, pose);
        let limit = turn.limit.max(1.0);
        for i in 0..3 {
            let shown = dt.map_or(wanted[i], |dt| {
                let speed = turn.speeds[i] * dt;
                turn_toward(memory.shown[i], wanted[i], limit * speed, || {
                    // Joints that turn faster than ever, such as in a clip at double speed, aren't held back.
                    (limit - 1.0) * speed + angle(memory.animated[i], animated[i])
                })
            });
            memory.is_reached &= shown == wanted[i];
            memory.shown[i] = if shown.is_finite() {
                shown
            } else {
                animated[i]
            };
            memory.animated[i] = animated[i];
            pose.set_rotation(self.joints[i], memory.shown[i]);
        }
        if memory.stance == Stance::Locked && !memory.is_reached {
            memory.let_go();
        }
    }

    /// The rotations that take the foot to its place, relative to the parents.
    #[inline(always)]
    fn wanted(
        &self,
        now: &LegFrame,
        memory: &mut LegState,
        moved: &Moved,
        weight: f32,
        animated: [Quat; 3],
        pose: &PoseMut,
    ) -> [Quat; 3] {
        let target = now.pose.points[2] + (now.target - now.pose.points[2]) * weight;
        let turn = part(now.turn, weight);
        memory.is_reached = true;
        let tip = moved.point(now.pose.points[2]);
        let is_in_place = tip.distance_squared(target) < 1e-12 * self.length * self.length;
        if is_in_place
            && moved.turn == Quat::IDENTITY
            && Vec3A::from_vec4(turn.into()).length_squared() < 1e-14
        {
            return animated;
        }
        let target = self.within_reach(moved.point(now.pose.points[0]), target, memory, &now.pose);
        // In the pose of the matrices, which is that before the hips moved.
        let target = moved.back(target);
        let bend = pose.model[usize::from(self.joints[0])].transform_vector3a(self.bend);
        let Some([first, second]) = bent(now.pose.points, target, bend) else {
            return animated;
        };
        // The foot keeps the rotation that it has in the clip, but for its own turn.
        let leg_turn = first * second;
        let leg_turn = if moved.turn == Quat::IDENTITY {
            leg_turn
        } else {
            moved.turn * leg_turn
        };
        let third = leg_turn.conjugate() * turn;
        let [root, mid, tip] = self.joints;
        [
            pose.turned(root, first),
            pose.turned(mid, second),
            pose.turned(tip, third),
        ]
    }

    /// Moves a target that is too far away closer, smoothly, so that the leg never snaps straight.
    #[inline(always)]
    fn within_reach(
        &self,
        root: Vec3A,
        target: Vec3A,
        memory: &mut LegState,
        pose: &LegPose,
    ) -> Vec3A {
        let way = target - root;
        let distance = way.length();
        let nearest = pose.points[0]
            .distance(pose.points[2])
            .min(NEAREST * self.length);
        if distance < nearest {
            memory.is_reached = false;
            return root + direction(way).unwrap_or(Vec3A::ZERO) * nearest;
        }
        let soft = self.reach(pose);
        if distance <= soft * 1.00001 || !distance.is_finite() {
            return target;
        }
        let beyond = distance - soft;
        // Approaches the stretched leg more and more slowly, and never gets there.
        let room = (0.9995 * self.length - soft).max(0.0);
        memory.is_reached = beyond < 0.001 * self.length;
        root + way * ((soft + room * beyond / (room + beyond)) / distance)
    }
}
