//! A frame of springs.

use super::{
    SpringState, Springs,
    bone::{Air, Bent, Now, arc, of_length},
    state::{SpringPoint, Track},
    step::{STEP, Weights},
};
use crate::{
    numbers::clamp_weight,
    pose::{PoseMut, simd},
    rig::colliders::Placed,
};
use glam::{Affine3A, Quat, Vec3, Vec3A};

/// The longest frame that is simulated, in seconds. After a longer one, springs are where they
/// would come to rest.
const LONGEST_FRAME: f64 = 0.25;
/// A move by more than this many times the longest bone in one frame counts as a teleport.
const JUMP: f32 = 64.0;

/// A frame as [`Springs::run`] sees it. Everything is in world space, in world units and seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpringFrame {
    /// Seconds since the last frame. At 0, or less, time stands still, and the [`SpringState`] stays as it is. After more
    /// than a quarter of a second, springs are where they would come to rest.
    pub dt: f64,
    /// The character's world matrix. Scales other than uniform ones bend bones in slightly wrong directions.
    pub world: Affine3A,
    /// The velocity of the wind.
    pub wind: Vec3,
    /// The acceleration of gravity.
    pub gravity: Vec3,
    /// `true` if the character was teleported: the springs then come along as they are. A move by
    /// more than 64 times the length of the longest bone in one frame always counts as that.
    pub teleported: bool,
    /// Share of their rotation that joints get, 0..=1. The springs swing alike for any weight.
    pub weight: f32,
}

impl Default for SpringFrame {
    /// No time passes, at the origin, without wind, with gravity of 9.81 m/s².
    fn default() -> Self {
        Self {
            dt: 0.0,
            world: Affine3A::IDENTITY,
            wind: Vec3::ZERO,
            gravity: Vec3::new(0.0, -9.81, 0.0),
            teleported: false,
            weight: 1.0,
        }
    }
}

/// Working memory of springs. One per thread serves any number of characters.
#[derive(Debug, Default)]
pub struct SpringScratch {
    now: Vec<Now>,
    bent: Vec<Bent>,
    turned: Vec<Quat>,
    parts: Vec<Weights>,
    ends: Vec<Placed>,
    colliders: Vec<Placed>,
}

/// A time between the last frame and this one, on the cubic curves through the last four frames.
#[derive(Clone, Copy, Debug)]
struct Between {
    /// Seconds since the last frame.
    time: f32,
    /// Factors of the second and third divided differences of the path.
    bend: f32,
    twist: f32,
}

/// The lengths of the last frames, by which paths through them are found.
#[derive(Clone, Copy, Debug)]
struct Pace {
    seconds: f32,
    /// Of the frame before.
    before: f32,
    per_second: f32,
    /// 1 / the time over which the velocity changes, and the share of its change that counts.
    per_bend: f32,
    trust: f32,
    /// The same for the change of the bend.
    twist: f32,
}

impl Springs {
    /// Lets the joints swing: rotates them in the local pose, which must be the animated one, and updates the model
    /// matrices.
    ///
    /// Nothing happens if the pose or the world matrix contains a number that is not finite.
    ///
    /// # Panics
    /// If the pose is too short for the skeleton that the springs were made for.
    pub fn run(
        &self,
        frame: &SpringFrame,
        state: &mut SpringState,
        scratch: &mut SpringScratch,
        pose: &mut PoseMut<'_>,
    ) {
        if !self.is_empty() {
            simd::dispatch!(_wide => self.run_inlined(frame, state, scratch, pose));
        }
    }

    #[inline(always)]
    fn run_inlined(
        &self,
        frame: &SpringFrame,
        state: &mut SpringState,
        scratch: &mut SpringScratch,
        pose: &mut PoseMut<'_>,
    ) {
        let world = &frame.world;
        let volume = world.matrix3.determinant();
        if !world.is_finite() || !volume.is_normal() {
            return;
        }
        // Limited, so that no force overflows.
        let most = Vec3A::splat(1e6);
        let finite = |v: Vec3| {
            if v.is_finite() {
                Vec3A::from(v).clamp(-most, most)
            } else {
                Vec3A::ZERO
            }
        };
        let air = Air {
            gravity: finite(frame.gravity),
            wind: finite(frame.wind),
        };
        let scale = world.matrix3.x_axis.length();
        let dt = if frame.dt > 0.0 { frame.dt } else { 0.0 };
        let moved = world.translation - state.world.translation;
        let jumped = frame.teleported || moved.length() > JUMP * self.longest * scale;
        if jumped && state.fits(self) {
            state.carry(world);
        }
        let again = !state.fits(self) || dt > LONGEST_FRAME;
        if again {
            state.world = *world;
        } else if dt > 0.0 {
            self.shift(state, world);
        }
        pose.update();
        if !self.look(pose, world, state.world.translation, scratch) {
            return;
        }
        if again {
            // Of a long frame, only the distance is known.
            let velocity = if state.fits(self) && !jumped && dt.is_finite() {
                moved / dt as f32
            } else {
                Vec3A::ZERO
            };
            // A character begins with the frame in which it is first seen, so at any frame rate at the same time.
            state.remainder = ((state.since() + dt) % STEP) as f32;
            self.settle(state, scratch, &air, velocity, scale);
        } else if dt > 0.0 {
            self.advance(state, scratch, &air, dt, scale);
        }
        self.write(state, scratch, &air, frame, (scale, volume), pose);
        self.roots.iter().for_each(|&root| pose.update_later(root));
        pose.update();
    }

    /// Reads the animated pose. Returns `false` if it is not finite.
    #[inline(always)]
    fn look(
        &self,
        pose: &PoseMut<'_>,
        world: &Affine3A,
        origin: Vec3A,
        scratch: &mut SpringScratch,
    ) -> bool {
        let SpringScratch {
            now,
            bent,
            turned,
            ends,
            colliders,
            ..
        } = scratch;
        now.resize(self.joints.len(), Now::default());
        bent.resize(self.joints.len(), Bent::default());
        turned.resize(self.joints.len(), Quat::IDENTITY);
        // Memory for the steps, so that the first one takes none.
        colliders.clear();
        colliders.reserve(self.colliders.len());
        // Zero, except where time stands still: the state then stays where it is.
        let moved = world.translation - origin;
        let mut sum = moved;
        for (i, spring) in self.joints.iter().enumerate() {
            let matrix = &pose.model[usize::from(spring.joint)];
            let at = world.matrix3 * matrix.translation;
            let above = spring.parent.map(|parent| now[usize::from(parent)].at);
            let offset = above.map_or(at + moved, |above| at - above);
            let bone = spring
                .end
                .map_or(Vec3A::ZERO, |end| world.matrix3 * (matrix.matrix3 * end));
            // Such a bone ends at this joint, so it is the offset just computed.
            if let Some(parent) = spring.parent.filter(|_| spring.at_end) {
                now[usize::from(parent)].bone = offset;
            }
            // A sum is finite only if everything in it is: one test instead of one per joint.
            sum += at + bone;
            now[i] = Now {
                at,
                offset,
                bone,
                ..Now::default()
            };
        }
        for now in &mut *now {
            let square = now.bone.length_squared();
            (now.length, now.inverse_square) = (square.sqrt(), 1.0 / square.max(1e-20));
        }
        ends.clear();
        let world = Affine3A {
            translation: moved,
            ..*world
        };
        ends.extend(
            self.colliders
                .iter()
                .map(|c| c.place(&world, &pose.model[usize::from(c.joint)])),
        );
        sum.is_finite()
    }

    /// Takes the steps that are due, and remembers this frame's pose.
    #[inline(always)]
    fn advance(
        &self,
        state: &mut SpringState,
        scratch: &mut SpringScratch,
        air: &Air,
        dt: f64,
        scale: f32,
    ) {
        let SpringScratch {
            now,
            bent,
            ends,
            colliders,
            ..
        } = scratch;
        let since = state.since();
        let pace = Pace::new(dt, state.dt);
        // Steps are counted from the last one, so they come at the same times at any frame rate.
        let steps = ((since + dt) / STEP) as u32;
        for step in 1..=steps {
            let t = ((f64::from(step) * STEP - since) / dt).min(1.0) as f32;
            let between = Between::new(t, &pace);
            let air = Air {
                wind: state.wind + (air.wind - state.wind) * t,
                ..*air
            };
            colliders.clear();
            for (end, [center, axis]) in ends.iter().zip(&state.colliders) {
                let (center, axis) = (
                    between.place(center, end.center, &pace),
                    between.place(axis, end.axis, &pace),
                );
                colliders.push(Placed::new(center, axis, end.radius, end.kind));
            }
            for (i, ((joint, point), now)) in self
                .joints
                .iter()
                .zip(&mut state.points)
                .zip(&*now)
                .enumerate()
            {
                let (offset, bone) = (
                    between.place(&point.offset, now.offset, &pace),
                    between.place(&point.bone, now.bone, &pace),
                );
                let aim = joint.aim(offset, of_length(bone, now.length, bone), now, bent);
                let bone = self.chains[usize::from(joint.chain)]
                    .swing(point, &aim, &air, colliders, scale);
                bent[i] = Bent::new(&aim, bone);
            }
        }
        state.remainder = (since + dt - f64::from(steps) * STEP).clamp(0.0, STEP) as f32;
        state.dt = [pace.seconds, pace.before];
        state.wind = air.wind;
        for (point, now) in state.points.iter_mut().zip(&*now) {
            point.offset.arrive(now.offset, &pace);
            point.bone.arrive(now.bone, &pace);
        }
        for ([center, axis], end) in state.colliders.iter_mut().zip(&*ends) {
            center.arrive(end.center, &pace);
            axis.arrive(end.axis, &pace);
        }
    }

    /// Moves the state's origin to the character.
    #[inline(always)]
    fn shift(&self, state: &mut SpringState, world: &Affine3A) {
        let moved = world.translation - state.world.translation;
        state.world = *world;
        for (joint, point) in self.joints.iter().zip(&mut state.points) {
            point.target -= moved;
            point.anchor -= moved;
            if joint.parent.is_none() {
                point.offset.at -= moved;
            }
        }
        state
            .colliders
            .iter_mut()
            .for_each(|[center, _]| center.at -= moved);
    }

    /// Moves everything to where it would come to rest.
    fn settle(
        &self,
        state: &mut SpringState,
        scratch: &mut SpringScratch,
        air: &Air,
        velocity: Vec3A,
        scale: f32,
    ) {
        let SpringScratch {
            now, bent, ends, ..
        } = scratch;
        state.points.clear();
        // As at the last step.
        let gone = velocity * state.since() as f32;
        for (i, (joint, now)) in self.joints.iter().zip(&*now).enumerate() {
            let chain = &self.chains[usize::from(joint.chain)];
            let aim = joint.aim(now.offset, now.bone, now, bent);
            let pull = aim.bone * chain.stiffness + chain.push(air) - velocity * chain.drag;
            // Without any force, the bone stays.
            let pull = if pull.length_squared() > 1e-12 {
                pull
            } else {
                aim.bone
            };
            let bone = of_length(pull, aim.length, aim.bone);
            let bone = chain.constrain(&aim, bone, ends, scale, &mut Vec3A::default());
            bent[i] = Bent::new(&aim, bone);
            state.points.push(SpringPoint {
                deviation: bone - aim.bone,
                velocity,
                target: aim.anchor + aim.bone - gone,
                target_velocity: velocity,
                anchor: aim.anchor - gone,
                offset: Track::still(now.offset),
                bone: Track::still(now.bone),
            });
        }
        state.colliders.clear();
        state.colliders.extend(
            ends.iter()
                .map(|end| [end.center, end.axis].map(Track::still)),
        );
        (state.dt, state.wind) = ([0.0; 2], air.wind);
    }

    /// Rotates the joints to where the springs are at the frame's own time.
    #[inline(always)]
    fn write(
        &self,
        state: &SpringState,
        scratch: &mut SpringScratch,
        air: &Air,
        frame: &SpringFrame,
        (scale, volume): (f32, f32),
        pose: &mut PoseMut<'_>,
    ) {
        let SpringScratch {
            now,
            bent,
            turned,
            parts,
            ends,
            ..
        } = scratch;
        let weight = clamp_weight(frame.weight);
        let share = (state.since() / STEP) as f32;
        parts.clear();
        parts.extend(self.chains.iter().map(|chain| chain.step.part(share)));
        // A mirrored world reverses the sense of rotations.
        let to_model = frame.world.matrix3.transpose() * (1.0_f32.copysign(volume) / scale);
        for (i, ((joint, point), now)) in
            self.joints.iter().zip(&state.points).zip(&*now).enumerate()
        {
            let chain = &self.chains[usize::from(joint.chain)];
            let aim = joint.aim(now.offset, now.bone, now, bent);
            let moved = aim.anchor + aim.bone - point.target;
            let deviation =
                parts[usize::from(joint.chain)].sum(&point.body(), moved, chain.push(air));
            let bone = of_length(aim.bone + deviation, aim.length, aim.bone);
            let bone = chain.constrain(&aim, bone, ends, scale, &mut Vec3A::default());
            bent[i] = Bent::new(&aim, bone);
        }
        // In a loop of its own, so that no bone depends on those above it.
        for (i, ((joint, now), bent)) in self.joints.iter().zip(&*now).zip(&*bent).enumerate() {
            // The bone turns from its animated direction, seen from the parent, which has turned itself.
            let (bone, length) = (bent.to, now.length);
            let above = joint.parent.map(|parent| turned[usize::from(parent)]);
            let turn = match above {
                None => arc(now.bone, bone, length, weight),
                // Other branches are carried by the shortest rotation, without twist.
                Some(above) if joint.forks => {
                    above.conjugate() * arc(now.bone, bone, length, weight)
                }
                Some(above) => arc(now.bone, above.conjugate() * bone, length, weight),
            };
            turned[i] = above.map_or(turn, |above| above * turn);
            let axis = to_model * Vec3A::from_vec4(turn.into());
            let turn = pose.turned(joint.joint, Quat::from_vec4(axis.extend(turn.w)));
            pose.set_rotation(joint.joint, turn);
        }
    }
}

impl Pace {
    fn new(dt: f64, [before, earlier]: [f32; 2]) -> Self {
        let seconds = dt as f32;
        let known = |seconds: f32| if seconds > 0.0 { seconds } else { 0.0 };
        let (before, earlier) = (known(before), known(earlier));
        // Differences of poses are inaccurate in a frame after a much shorter one.
        let trust = |shortest: f32, most: f32| (most * shortest / seconds).clamp(0.0, 1.0);
        Self {
            seconds,
            before,
            per_second: 1.0 / seconds.max(1e-6),
            per_bend: 1.0 / (seconds + before).max(1e-6),
            trust: trust(before, 8.0),
            twist: trust(before.min(earlier), 1.0) / (seconds + before + earlier).max(1e-6),
        }
    }

    /// Returns the velocity from the end of `track` to `end`, and the second divided difference there.
    #[inline(always)]
    fn differences(&self, track: &Track, end: Vec3A) -> [Vec3A; 2] {
        let velocity = (end - track.at) * self.per_second;
        [
            velocity,
            (velocity - track.velocity) * (self.per_bend * self.trust),
        ]
    }
}

impl Between {
    /// The time at the share `t` of a frame after the last one.
    #[inline(always)]
    fn new(t: f32, pace: &Pace) -> Self {
        let time = t * pace.seconds;
        let bend = time * (time - pace.seconds);
        let twist = bend * (time + pace.before) * pace.twist;
        Self { time, bend, twist }
    }

    /// Returns the position of something that was at the end of `track` and is at `end` in this frame: Newton's polynomial.
    #[inline(always)]
    fn place(&self, track: &Track, end: Vec3A, pace: &Pace) -> Vec3A {
        let [velocity, bend] = pace.differences(track, end);
        track.at + velocity * self.time + bend * self.bend + (bend - track.bend) * self.twist
    }
}

impl Track {
    /// Moves to `at`, where the next frame begins.
    #[inline(always)]
    fn arrive(&mut self, at: Vec3A, pace: &Pace) {
        let [velocity, bend] = pace.differences(self, at);
        *self = Self { at, velocity, bend };
    }
}
