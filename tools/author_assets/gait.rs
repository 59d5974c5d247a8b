//! Gaits: the position of a foot throughout a step, on a floor that moves by at a constant speed.
//!
//! A standing foot rolls over its heel, lies flat, then rolls over its ball while the toes stay on the floor. The point
//! that carries it moves exactly with the floor, so feet don't slide.

use super::maths::{eased, hermite, mix_turn, smoothstep, turn};
use glam::{DQuat, DVec3};

/// Geometry of a foot at rest, on the floor at y = 0, facing −Z.
#[derive(Clone, Copy, Debug)]
pub struct FootShape {
    pub ankle: DVec3,
    /// Position of the toe joint.
    pub ball: DVec3,
    /// The heel's contact point; `None` for animals that walk on their toes.
    pub heel: Option<DVec3>,
}

/// Position and orientation of a foot.
#[derive(Clone, Copy, Debug)]
pub struct FootPlace {
    pub ankle: DVec3,
    /// Rotation of the foot from rest, in model space.
    pub turn: DQuat,
    /// Rotation of the toes from rest, in model space.
    pub toes: DQuat,
}

impl FootShape {
    /// Returns the foot on the floor, moved by `shift`, turned by `yaw` degrees about the model's Y axis, and rolled by
    /// `pitch` degrees: over the heel with the toes up if positive, over the ball if negative.
    ///
    /// Without a heel it rolls over the ball in both directions, and the toes stay flat.
    pub fn rolled(&self, shift: DVec3, yaw: f64, pitch: f64) -> FootPlace {
        let yawed = turn(DVec3::Y, yaw);
        let roll = turn(DVec3::X, pitch);
        let heel = self.heel.filter(|_| pitch > 0.0);
        let pivot = heel.unwrap_or(self.ball);
        let ankle = yawed * (pivot + roll * (self.ankle - pivot)) + shift;
        let toes = if heel.is_some() { yawed * roll } else { yawed };
        FootPlace {
            ankle,
            turn: (yawed * roll).normalize(),
            toes,
        }
    }
}

impl FootPlace {
    fn moved(self, (rotation, shift): (DQuat, DVec3)) -> Self {
        let Self { ankle, turn, toes } = self;
        Self {
            ankle: rotation * ankle + shift,
            turn: rotation * turn,
            toes: rotation * toes,
        }
    }
}

/// Returns the rotation and shift of a body after some meters forward along an arc of `curve` radians per meter to the left.
pub fn ahead(curve: f64, meters: f64) -> (DQuat, DVec3) {
    if curve == 0.0 {
        return (DQuat::IDENTITY, DVec3::NEG_Z * meters);
    }
    let center = DVec3::NEG_X / curve;
    let rotation = turn(DVec3::Y, (curve * meters).to_degrees());
    (rotation, center - rotation * center)
}

/// Parameters of one foot's gait.
#[derive(Clone, Copy, Debug)]
pub struct Gait {
    /// Seconds between footfalls of the same foot.
    pub cycle: f64,
    /// Speed of the floor toward +Z, in meters per second.
    pub speed: f64,
    /// How much the way curves, in radians per meter; left is positive.
    pub curve: f64,
    /// Fraction of the cycle for which the foot is on the floor.
    pub duty: f64,
    /// How far in front of its rest position the foot lands, in meters (toward −Z).
    pub ahead: f64,
    /// How far inside its rest position the foot lands, in meters.
    pub inward: f64,
    /// Roll during the stance: (fraction of the stance, degrees).
    pub stance_pitch: &'static [(f64, f64)],
    /// Pitch during the swing: (fraction of the swing, degrees). Ends where the stance begins.
    pub swing_pitch: &'static [(f64, f64)],
    /// Fraction of the floor's speed at which the swinging foot leaves and meets the floor.
    pub follow: f64,
    /// Height of the swinging ankle above the straight path: (fraction of the swing, meters).
    pub lift: &'static [(f64, f64)],
}

impl Gait {
    /// Returns the distance between footfalls of the same foot, in meters.
    pub fn stride(&self) -> f64 {
        self.speed * self.cycle
    }

    /// Returns the foot at `phase` cycles after its footfall.
    pub fn foot(&self, shape: &FootShape, phase: f64) -> FootPlace {
        let phase = phase - phase.floor();
        if phase < self.duty {
            return self.standing(shape, phase / self.duty);
        }
        let t = (phase - self.duty) / (1.0 - self.duty);
        let (lifted, falling) = (self.standing(shape, 1.0), self.standing(shape, 0.0));
        // Match the velocity of the stance at both ends of the swing.
        let step = 1e-3;
        let scale = self.follow * (1.0 - self.duty) / (self.duty * step);
        let leaving = (lifted.ankle - self.standing(shape, 1.0 - step).ankle) * scale;
        let meeting = (self.standing(shape, step).ankle - falling.ankle) * scale;
        let mut ankle = hermite(lifted.ankle, leaving, falling.ankle, meeting, t);
        ankle.y += eased(self.lift, t);
        let pitch = eased(self.swing_pitch, t);
        let heading = mix_turn(
            self.heading(1.0),
            self.heading(0.0),
            smoothstep(0.0, 1.0, t),
        );
        let turned = heading * turn(DVec3::X, pitch);
        // The toes straighten as the foot leaves the floor.
        let toes = heading
            * turn(
                DVec3::X,
                pitch - eased(&[(0.0, pitch.min(0.0)), (0.35, 0.0)], t),
            );
        FootPlace {
            ankle,
            turn: turned,
            toes,
        }
    }

    /// Returns the foot at a fraction of its stance.
    fn standing(&self, shape: &FootShape, share: f64) -> FootPlace {
        let inside = DVec3::NEG_X * (shape.ankle.x.signum() * self.inward);
        shape
            .rolled(inside, 0.0, eased(self.stance_pitch, share))
            .moved(ahead(self.curve, -self.back(share)))
    }

    /// Returns the heading of the foot at a fraction of its stance.
    fn heading(&self, share: f64) -> DQuat {
        ahead(self.curve, -self.back(share)).0
    }

    /// Returns how far the floor has carried the foot back at a fraction of its stance, in meters.
    fn back(&self, share: f64) -> f64 {
        self.speed * self.cycle * self.duty * share - self.ahead
    }

    /// Returns `true` if the foot is on the floor at `phase` cycles after its footfall.
    #[cfg(test)]
    pub fn stands(&self, phase: f64) -> bool {
        phase - phase.floor() < self.duty
    }
}

/// Lowers the `wanted` heights of a loop's frames until none exceeds its limit, smoothed to avoid corners.
pub fn under_limits(wanted: &[f64], limits: &[f64], blur: usize) -> Vec<f64> {
    let n = wanted.len();
    let mut out: Vec<f64> = wanted.iter().zip(limits).map(|(w, l)| w.min(*l)).collect();
    for _ in 0..blur {
        let before = out.clone();
        for i in 0..n {
            out[i] = 0.25 * before[(i + n - 1) % n] + 0.5 * before[i] + 0.25 * before[(i + 1) % n];
        }
    }
    let excess = out
        .iter()
        .zip(limits)
        .map(|(o, l)| o - l)
        .fold(0.0, f64::max);
    out.iter().map(|o| o - excess).collect()
}

/// A foot of a rig, as animated by a clip.
#[cfg(test)]
pub struct Footing {
    pub gait: Gait,
    pub shape: FootShape,
    /// Joints of the foot and of its toes.
    pub joints: [usize; 2],
    /// Fraction of the cycle at which the foot lands.
    pub falls: f64,
}

#[cfg(test)]
impl Footing {
    /// Returns how far the carrying point slides over the moving floor during one stance, in meters, sampled at the
    /// frames and at `between` interpolated times between each two.
    fn slide(&self, rig: &super::rig::Rig, motion: &super::motion::Motion, between: usize) -> f64 {
        let Self {
            gait,
            shape,
            joints: [foot, toes],
            falls,
        } = self;
        let cuts = between + 1;
        let steps = (motion.frames.len() - 1) * cuts;
        let at = |i: usize| {
            let (frame, share) = (i / cuts, (i % cuts) as f64 / cuts as f64);
            let next = &motion.frames[(frame + 1).min(motion.frames.len() - 1)];
            rig.model(&motion.frames[frame].mixed(next, share))
        };
        let mut slid = 0.0;
        for i in 0..steps {
            let phase = |i: usize| i as f64 / steps as f64 - falls;
            if !gait.stands(phase(i))
                || !gait.stands(phase(i + 1))
                || phase(i + 1).floor() != phase(i).floor()
            {
                continue;
            }
            let model = [i, i + 1].map(at);
            let (rotation, shift) = ahead(gait.curve, -gait.speed / (motion.rate * cuts as f64));
            let slip = |point: &dyn Fn(&[(DVec3, DQuat)]) -> DVec3| {
                (point(&model[1]) - (rotation * point(&model[0]) + shift)).length()
            };
            // Whichever of heel and ball carries the foot.
            let ball = slip(&|m| m[*toes].0);
            let heel = shape
                .heel
                .map(|heel| slip(&|m| m[*foot].0 + m[*foot].1 * (heel - shape.ankle)));
            slid += heel.map_or(ball, |heel| heel.min(ball));
        }
        slid
    }
}

/// Asserts that standing feet slide by less than 2% of the stride, and that they would on a floor faster by `unlike`.
#[cfg(test)]
pub fn assert_feet_stand(
    feet: &[Footing],
    rig: &super::rig::Rig,
    motion: &super::motion::Motion,
    unlike: f64,
) {
    let worst = |feet: &[Footing], between: usize| {
        feet.iter()
            .map(|foot| foot.slide(rig, motion, between) / foot.gait.stride())
            .fold(0.0, f64::max)
    };
    for between in [0, 3] {
        let share = worst(feet, between);
        println!(
            "{}, {between} between: slides {:.3}% of the stride",
            motion.name,
            share * 100.0
        );
        assert!(share < 0.02, "{}: {share}", motion.name);
    }
    let faster = |foot: &Footing| Footing {
        gait: Gait {
            speed: foot.gait.speed * (1.0 + unlike),
            ..foot.gait
        },
        ..*foot
    };
    let feet: Vec<Footing> = feet.iter().map(faster).collect();
    assert!(
        worst(&feet, 0) > 0.02,
        "{}: a faster floor goes unnoticed",
        motion.name
    );
}
