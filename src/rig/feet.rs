//! Foot placement: legs and hips adapt to uneven ground.
//!
//! Clips are made for flat ground at the height of the character's origin. Each frame the game says how high and how
//! steep the ground is under each foot, and [`Feet::run`]
//!
//! * raises or lowers each foot with its ground, tilts it to the slope, and lowers the hips so that all feet reach;
//! * locks feet in the world for as long as the clip plants them (see [`Plants`](super::Plants)), and lets go of them
//!   when the leg would be stretched or twisted too far;
//! * smooths steps of the ground and of the character's own height, such as a controller's that snaps to stairs.
//!
//! The foot's height above the ground, and its roll over heel and ball, stay those of the clip. On flat ground, at the
//! speed of the clip, poses don't change.
//!
//! Everything between frames is in [`FeetState`]. All filters are solved exactly for any time step, so results hardly
//! depend on the frame rate, and the same inputs give the same bits.

mod bend;
mod filters;
mod frame;
mod leg;
mod space;
mod state;

pub use frame::{FeetFrame, FeetLimits, FootPlan, GroundHit, GroundRay, Landing, LegJoints};
pub use state::FeetState;
pub(super) use {
    filters::{angle, turn_toward},
    leg::LegPose,
};

use super::math::{direction, part, unit_arc};
use crate::{
    model::{JointIndex, Skeleton},
    numbers::clamp_weight,
    pose::{PoseMut, simd},
};
use filters::{Step, smoothstep};
use glam::{Affine3A, Quat, Vec3, Vec3A};
use leg::{Leg, LegFrame, Moved, Steps, TurnLimit};
use space::{GroundPlane, Space};
use state::{BodyState, LegState, Stance};

/// Makes legs and hips adapt to uneven ground. The ground of the clips is at the height of the model's origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Feet {
    /// Limits.
    pub limits: FeetLimits,
    hips: JointIndex,
    up: Vec3A,
    legs: Box<[Leg]>,
    /// The mean length of the legs, in model units.
    size: f32,
    /// The horizontal direction from hind to fore legs, or the other way, along which the body leans with the ground.
    spine: Option<Vec3A>,
    /// The middle of the legs' first joints at rest.
    center: Vec3A,
}

/// Rate at which the height of the hips follows the character's, in 1/s; feet, slopes and offsets are quicker.
const ROOT_RATE: f32 = 4.0;
const HIPS_DOWN_RATE: f32 = 12.0;
const HIPS_UP_RATE: f32 = 4.0;
const LEAN_RATE: f32 = 6.0;
/// Seconds without support after which feet begin to release the ground, and have released it.
const AIRBORNE: [f32; 2] = [0.12, 0.4];

impl Feet {
    /// The most legs a character can have.
    pub const MOST_LEGS: usize = 8;

    /// Creates feet of the given legs, with default limits. `hips` is the joint that is raised and lowered, above all legs;
    /// `up` is the model's up axis.
    ///
    /// `None` if there are no legs or more than [`Self::MOST_LEGS`], if a leg's joints are not each a descendant of the one
    /// before, if two of them are in the same place, or if `up` is not a direction.
    pub fn new(
        skeleton: &Skeleton,
        hips: JointIndex,
        legs: &[LegJoints],
        up: Vec3,
    ) -> Option<Self> {
        let up = direction(up.into())?;
        let legs: Box<[Leg]> = legs
            .iter()
            .map(|leg| Leg::new(skeleton, hips, leg, up))
            .collect::<Option<_>>()?;
        if legs.is_empty() || legs.len() > Self::MOST_LEGS {
            return None;
        }
        let share = 1.0 / legs.len() as f32;
        let size = legs.iter().map(|leg| leg.length).sum::<f32>() * share;
        let center = legs.iter().map(|leg| leg.root_at_rest).sum::<Vec3A>() * share;
        // The axis from hind to fore feet: legs come in pairs, so mirrored components cancel out.
        let from_center = || {
            legs.iter()
                .map(|leg| leg.root_at_rest - center)
                .map(|at| at - up * at.dot(up))
        };
        let farthest =
            from_center().max_by(|a, b| a.length_squared().total_cmp(&b.length_squared()))?;
        let spine = from_center()
            .map(|at| at * at.dot(farthest).signum())
            .sum::<Vec3A>()
            * share;
        // Two legs stand side by side. An axis through them is no spine.
        let spine = if legs.len() > 2 && spine.length() > 0.2 * size {
            direction(spine)
        } else {
            None
        };
        Some(Self {
            limits: FeetLimits::default(),
            hips,
            up,
            legs,
            size,
            spine,
            center,
        })
    }

    /// Returns the number of legs.
    pub fn len(&self) -> usize {
        self.legs.len()
    }

    /// Returns `false`, because there is at least one leg.
    pub fn is_empty(&self) -> bool {
        self.legs.is_empty()
    }

    /// Returns the joint that is raised and lowered.
    pub fn hips(&self) -> JointIndex {
        self.hips
    }

    /// Returns the joints of a leg that turn: root, mid and tip.
    pub fn joints(&self, leg: usize) -> Option<[JointIndex; 3]> {
        self.legs.get(leg).map(|leg| leg.joints)
    }

    /// The last joint of each leg that turns.
    #[inline(always)]
    pub(super) fn tips(&self) -> impl Iterator<Item = JointIndex> {
        self.legs.iter().map(|leg| leg.joints[2])
    }

    /// The mean length of the legs, in model units.
    pub fn size(&self) -> f32 {
        self.size
    }

    pub(super) fn up(&self) -> Vec3A {
        self.up
    }

    /// The legs of a pose.
    pub(super) fn legs_of(&self, model: &[Affine3A]) -> impl Iterator<Item = LegPose> {
        self.legs.iter().map(|leg| leg.pose(model, self.up))
    }

    /// Returns the rays along which to look for the ground of a foot: under its heel, under its ball, and, while it
    /// swings to where it lands soon, under where it is. A foot that stands on its toes has no heel.
    ///
    /// `model` holds the matrices of the animated pose, before [`Self::run`]; those of the leg's joints are read.
    ///
    /// # Panics
    /// If the pose is of another skeleton.
    pub fn rays(
        &self,
        leg: usize,
        plan: &FootPlan,
        world: &Affine3A,
        state: &FeetState,
        model: &[Affine3A],
    ) -> [Option<GroundRay>; 3] {
        simd::dispatch!(_wide => self.rays_inlined(leg, plan, world, state, model))
    }

    #[inline(always)]
    fn rays_inlined(
        &self,
        leg: usize,
        plan: &FootPlan,
        world: &Affine3A,
        state: &FeetState,
        model: &[Affine3A],
    ) -> [Option<GroundRay>; 3] {
        let (Some(leg_of), Some(space)) = (self.legs.get(leg), Space::new(world, self.up)) else {
            return [None; 3];
        };
        let new;
        let memory = match state.legs.get(leg) {
            Some(memory) => memory,
            None => {
                new = LegState::default();
                &new
            }
        };
        let most = self.most_height(leg_of) * space.to_world;
        // From the greatest height to which a foot is raised down to twice as far below level
        // ground.
        let ray = |place: Vec3A| {
            let origin = space.place + space.flat(place - space.place) + space.up * most;
            GroundRay {
                origin: origin.into(),
                direction: (-space.up).into(),
                length: 3.0 * most,
            }
        };
        let now = leg_of.pose(model, self.up);
        let heel = leg_of.has_two_contacts();
        match memory.landing(plan) {
            // A foot that stands or has nowhere to land is looked for where it is.
            None => [
                heel.then(|| ray(memory.spot(0, &now, &space))),
                Some(ray(memory.spot(1, &now, &space))),
                None,
            ],
            Some(landing) => {
                // The character is expected to keep its velocity until the foot lands.
                let moved = space.place + state.body.velocity * landing.seconds;
                let [a, b] = landing
                    .places
                    .map(|place| ray(moved + space.to_world(place.into())));
                [
                    heel.then_some(a),
                    Some(b),
                    Some(ray(memory.spot(1, &now, &space))),
                ]
            }
        }
    }

    /// Adapts the pose, which must be the animated one, to the ground.
    ///
    /// # Panics
    /// If the pose is of another skeleton.
    pub fn run(&self, frame: &FeetFrame, state: &mut FeetState, pose: &mut PoseMut) {
        self.solve(frame, state, pose);
        pose.update();
    }

    /// As [`Self::run`], without updating the matrices.
    pub(super) fn solve(&self, frame: &FeetFrame, state: &mut FeetState, pose: &mut PoseMut) {
        let weight = clamp_weight(frame.weight);
        let Some(space) = Space::new(&frame.world, self.up).filter(|_| weight > 0.0) else {
            return state.clear();
        };
        // A longer frame is a stall, after which nothing should fly.
        let mut dt = Some(if frame.dt > 0.0 {
            frame.dt.min(1.0)
        } else {
            0.0
        });
        // There is no earlier frame to measure changes from, so everything goes to its goal at once.
        if !state.fits(self.legs.len()) {
            state.start(&space, self.legs.iter().map(|leg| leg.joints), pose);
            dt = None;
        }
        if dt != Some(0.0) {
            let FeetState { body, legs } = state;
            return simd::dispatch!(_wide => self.act(frame, &space, (body, legs), dt, pose));
        }
        // While time stands still, changes of the state are not kept.
        let (mut body, mut legs) = (state.body, [LegState::default(); Self::MOST_LEGS]);
        let legs = &mut legs[..self.legs.len()];
        legs.copy_from_slice(&state.legs);
        self.act(frame, &space, (&mut body, legs), dt, pose);
    }

    #[inline(always)]
    fn act(
        &self,
        frame: &FeetFrame,
        space: &Space,
        (body, legs): (&mut BodyState, &mut [LegState]),
        dt: Option<f32>,
        pose: &mut PoseMut,
    ) {
        let weight = clamp_weight(frame.weight);
        let rise = space.up.dot(space.place - body.root) * space.to_model;
        let heading = space.heading();
        let turned = space.turned(body.heading, heading);
        let in_reach = 1.0 - smoothstep((body.air - AIRBORNE[0]) / (AIRBORNE[1] - AIRBORNE[0]));

        let (mut few, mut many);
        // Clearing eight of them takes a while.
        let frames = if self.legs.len() <= 2 {
            few = [LegFrame::default(); 2];
            &mut few[..self.legs.len()]
        } else {
            many = [LegFrame::default(); Self::MOST_LEGS];
            &mut many[..self.legs.len()]
        };
        // Measured on the animated legs, before the hips move.
        pose.update_joints(self.tips());
        for (i, (leg, now)) in self.legs.iter().zip(&mut *frames).enumerate() {
            now.pose = leg.pose(pose.model, self.up);
            let plan = frame.plans.get(i).copied().unwrap_or_default();
            now.plant = clamp_weight(plan.weight);
            let is_landing = legs[i].landing(&plan).is_some();
            let hits = frame.ground.get(i).unwrap_or(&[None; 3]);
            now.find_ground(hits, is_landing, &legs[i], (self, leg, space), in_reach);
        }
        // A lift carries the whole character at once. Smoothed, hips and feet would lag behind their
        // ground.
        let lift = self.lift(frames, legs, rise);
        let steps = dt.map(Steps::new);
        if let Some(dt) = dt {
            self.follow_root(body, rise - lift, dt, in_reach);
        }
        // Feet come first: the hips go as low as their places need.
        for ((leg, now), memory) in self.legs.iter().zip(&mut *frames).zip(&mut *legs) {
            now.jump -= lift;
            leg.place(now, memory, (self, space), turned, steps.as_ref());
            memory.ground = now.ground;
        }
        let moved = self.move_hips(frames, (body, legs), weight, dt, pose);
        let speeds = frame.turn_speeds;
        for ((leg, now), memory) in self.legs.iter().zip(&*frames).zip(&mut *legs) {
            let turn = TurnLimit {
                limit: self.limits.turn,
                speeds: leg.turn_speeds(speeds),
            };
            leg.solve(now, memory, &moved, (turn, weight), dt, pose);
        }
        pose.update_later(self.hips);
        // Ground counts only while a foot is planted on it, so that jumps over flat ground are recognized.
        let is_supported = frames
            .iter()
            .any(|leg| leg.plant > 0.0 && leg.ground.is_some() && leg.near > 0.0);
        let passed = dt.unwrap_or(0.0);
        // Support is regained four times as fast as it is lost, so that the flights of a run don't add up.
        body.air = if is_supported {
            (body.air - 4.0 * passed).max(0.0)
        } else {
            (body.air + passed).min(1.0)
        };
        if passed > 0.0 {
            body.velocity = space.flat(space.place - body.root) / passed;
        }
        (body.root, body.heading) = (space.place, heading);
    }

    /// Returns the height of the ground at the end of a way, limited, and the share of it that
    /// counts: 0 far from the ground.
    #[inline(always)]
    fn level(
        &self,
        leg: &Leg,
        ground: Option<&GroundPlane>,
        space: &Space,
        way: Vec3A,
    ) -> (f32, f32) {
        let Some(ground) = ground else {
            return (0.0, 0.0);
        };
        let height = space.height(ground, way);
        let most = self.most_height(leg).max(1e-6);
        (
            height.clamp(-most, most),
            1.0 - smoothstep((height.abs() - most) / most),
        )
    }

    /// Returns the distance by which a foot is raised and lowered: more for feet far from the middle, such as an animal's.
    #[inline(always)]
    fn most_height(&self, leg: &Leg) -> f32 {
        self.limits.height.max(0.0) * self.size + self.limits.slope.max(0.0) * leg.aside
    }

    /// Returns the distance by which the character and the ground under all of its feet have risen together, as on a lift.
    #[inline(always)]
    fn lift(&self, frames: &[LegFrame], legs: &[LegState], rise: f32) -> f32 {
        // The smallest of all rises, and 0 if they don't have the same sign.
        let mut least = rise;
        for (now, memory) in frames.iter().zip(legs) {
            let is_on_ground = now.ground.is_some() && memory.ground.is_some();
            if !is_on_ground || now.jump * least <= 0.0 {
                return 0.0;
            }
            least = if now.jump.abs() < least.abs() {
                now.jump
            } else {
                least
            };
        }
        least
    }

    /// Smooths the character's own height.
    #[inline(always)]
    fn follow_root(&self, body: &mut BodyState, rise: f32, dt: f32, in_reach: f32) {
        if dt <= 0.0 {
            return;
        }
        // A spring whose goal moves as fast as the character does on average: it doesn't lag behind on slopes.
        let velocity = rise / dt;
        let step = &mut body.step;
        // Out of reach of the ground, nothing is smoothed, and an old difference decays.
        step.velocity =
            (velocity - body.root_velocity) * in_reach - (1.0 - in_reach) * ROOT_RATE * step.value;
        step.settle(Step::new(ROOT_RATE, dt));
        body.root_velocity = velocity - step.velocity;
        let most = self.limits.height.max(0.0) * self.size;
        // Too far behind: the hips follow the character's height at once.
        if step.value.abs() > most {
            step.value = step.value.clamp(-most, most);
            body.root_velocity = velocity;
        }
    }

    /// Raises, lowers and leans the body.
    #[inline(always)]
    fn move_hips(
        &self,
        frames: &[LegFrame],
        (body, legs): (&mut BodyState, &[LegState]),
        weight: f32,
        dt: Option<f32>,
        pose: &mut PoseMut,
    ) -> Moved {
        let slope = self.slope(frames);
        // Measured against the leaning body. On a slope, the lower feet would otherwise pull the hips down
        // as well.
        let lowest = frames.iter().zip(&self.legs).map(|(now, leg)| {
            now.level
                - self.spine.map_or(0.0, |spine| {
                    slope * spine.dot(leg.root_at_rest - self.center)
                })
        });
        let lowest = lowest.reduce(f32::min).unwrap_or(0.0);
        match dt.filter(|_| self.spine.is_some()) {
            Some(dt) => body.lean.toward(slope, Step::new(LEAN_RATE, dt)),
            None => body.lean.value = slope,
        }
        let lean = self
            .spine
            .and_then(|spine| direction(self.up - spine * body.lean.value));
        let lean = lean.map_or(Quat::IDENTITY, |normal| {
            part(unit_arc(self.up, normal), weight)
        });
        let mut moved = Moved {
            pivot: self.center,
            turn: lean,
            shift: Vec3A::ZERO,
        };
        // No higher than feet on the ground can reach.
        let (mut highest, mut highest_locked) = (lowest, f32::INFINITY);
        for ((leg, now), memory) in self.legs.iter().zip(frames).zip(legs) {
            let Some(in_reach) = leg.highest(now, self.up, moved.point(now.pose.points[0])) else {
                continue;
            };
            if now.ground.is_some() {
                highest = highest.min(in_reach);
            }
            if memory.stance == Stance::Locked {
                highest_locked = highest_locked.min(in_reach);
            }
        }
        let most = self.limits.height.max(0.0) * self.size;
        let goal = highest.clamp(-most, most) + body.step.value;
        match dt {
            Some(dt) => {
                let rate = if goal < body.hips.value {
                    HIPS_DOWN_RATE
                } else {
                    HIPS_UP_RATE
                };
                body.hips.toward(goal, Step::new(rate, dt));
            }
            None => body.hips.value = goal,
        }
        // Locked feet must reach the ground now; the spring alone would only get there in time.
        let shift = (body.hips.value - body.step.value).min(highest_locked);
        // The spring continues from the height that is shown. Otherwise the hips would jump when the foot
        // is released.
        if shift + body.step.value < body.hips.value {
            body.hips.value = shift + body.step.value;
            body.hips.velocity = body.hips.velocity.min(0.0);
        }
        moved.shift = self.up
            * if shift.is_finite() {
                shift * weight
            } else {
                0.0
            };

        let hips = usize::from(self.hips);
        let above = pose.skeleton.parents()[hips].map(|parent| pose.model[usize::from(parent)]);
        let place = pose.model[hips].translation;
        let way = moved.point(place) - place;
        // The shift is in model space, but the joint's translation is in its parent's.
        let way = above.map_or(way, |above| above.inverse().transform_vector3a(way));
        if way.is_finite() {
            let mut local = pose.transform(self.hips);
            local.translation += Vec3::from(way);
            pose.set_transform(self.hips, local);
        }
        if lean != Quat::IDENTITY {
            pose.turn(self.hips, lean);
        }
        moved
    }

    /// Returns the slope of the ground along the spine.
    #[inline(always)]
    fn slope(&self, frames: &[LegFrame]) -> f32 {
        let Some(spine) = self.spine else { return 0.0 };
        // The least-squares line through the ground's heights, over the legs' places along the spine.
        let (mut rise, mut run) = (0.0, 0.0);
        for (leg, now) in self.legs.iter().zip(frames) {
            let along = spine.dot(leg.root_at_rest - self.center);
            rise += along * now.level;
            run += along * along;
        }
        let most = self.limits.slope.max(0.0);
        (rise / run.max(1e-12)).clamp(-most, most)
    }
}
