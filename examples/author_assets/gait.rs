//! Feet that stand: where a foot is at each moment of a step, on a floor that moves by at a constant
//! speed.
//!
//! A standing foot rolls over its heel, lies flat, then rolls over its ball while the toes stay on
//! the floor. Whichever point carries it moves with the floor exactly; nothing slides.

use super::maths::{eased, hermite, turn};
use glam::{DQuat, DVec3};

/// A foot's measures at rest, on the floor at y = 0, facing −Z.
#[derive(Clone, Copy, Debug)]
pub struct FootShape {
    pub ankle: DVec3,
    /// Joint of the toes.
    pub ball: DVec3,
    /// Last point of the heel on the floor; `None` for who walks on the toes.
    pub heel: Option<DVec3>,
}

/// Where a foot is.
#[derive(Clone, Copy, Debug)]
pub struct FootPlace {
    pub ankle: DVec3,
    /// Turn of the foot from rest, in model space.
    pub turn: DQuat,
    /// Turn of the toes from rest, in model space.
    pub toes: DQuat,
}

impl FootShape {
    /// The foot on the floor, moved by `shift` and turned by `yaw` degrees about the model's Y axis,
    /// then rolled by `pitch` degrees: over the heel with toes up if positive, over the ball if negative.
    /// Without a heel, it leans over the ball either way and the toes stay flat.
    pub fn rolled(&self, shift: DVec3, yaw: f64, pitch: f64) -> FootPlace {
        let yawed = turn(DVec3::Y, yaw);
        let roll = turn(DVec3::X, pitch);
        let heel = self.heel.filter(|_| pitch > 0.0);
        let pivot = heel.unwrap_or(self.ball);
        let ankle = yawed * (pivot + roll * (self.ankle - pivot)) + shift;
        let toes = if heel.is_some() { yawed * roll } else { yawed };
        FootPlace { ankle, turn: (yawed * roll).normalize(), toes }
    }
}

/// One foot's part in a gait.
#[derive(Clone, Copy, Debug)]
pub struct Gait {
    /// Seconds from a footfall to the next of the same foot.
    pub cycle: f64,
    /// Metres a second at which the floor passes, towards +Z.
    pub speed: f64,
    /// Share of the cycle that the foot stands.
    pub duty: f64,
    /// Where the foot falls, in front of its place at rest, metres (towards −Z).
    pub ahead: f64,
    /// How far the foot's track lies inside its place at rest, metres.
    pub inwards: f64,
    /// Roll while standing: (share of the stance, degrees).
    pub stance_pitch: &'static [(f64, f64)],
    /// Pitch of the foot while swinging: (share of the swing, degrees); ends as the stance begins.
    pub swing_pitch: &'static [(f64, f64)],
    /// Share of the floor's speed with which the swinging foot leaves and meets the floor.
    pub follow: f64,
    /// How much the swinging ankle rises above the straight way, metres, and when: (share, metres).
    pub lift: &'static [(f64, f64)],
}

impl Gait {
    /// Metres from a footfall to the next of the same foot.
    pub fn stride(&self) -> f64 {
        self.speed * self.cycle
    }

    /// The foot at `phase` turns after its footfall.
    pub fn foot(&self, shape: &FootShape, phase: f64) -> FootPlace {
        let phase = phase - phase.floor();
        if phase < self.duty {
            return self.standing(shape, phase / self.duty);
        }
        let t = (phase - self.duty) / (1.0 - self.duty);
        let (lifted, falling) = (self.standing(shape, 1.0), self.standing(shape, 0.0));
        // The swing leaves and meets the floor as the stance goes there.
        let step = 1e-3;
        let scale = self.follow * (1.0 - self.duty) / (self.duty * step);
        let leaving = (lifted.ankle - self.standing(shape, 1.0 - step).ankle) * scale;
        let meeting = (self.standing(shape, step).ankle - falling.ankle) * scale;
        let mut ankle = hermite(lifted.ankle, leaving, falling.ankle, meeting, t);
        ankle.y += eased(self.lift, t);
        let pitch = eased(self.swing_pitch, t);
        let turned = turn(DVec3::X, pitch);
        // Toes straighten as the foot leaves the floor.
        let toes = turn(DVec3::X, pitch - eased(&[(0.0, pitch.min(0.0)), (0.35, 0.0)], t));
        FootPlace { ankle, turn: turned, toes }
    }

    /// The foot at a share of its stance.
    fn standing(&self, shape: &FootShape, share: f64) -> FootPlace {
        let back = self.speed * self.cycle * self.duty * share - self.ahead;
        let shift = DVec3::new(-shape.ankle.x.signum() * self.inwards, 0.0, back);
        shape.rolled(shift, 0.0, eased(self.stance_pitch, share))
    }

    /// Whether the foot stands at `phase` turns after its footfall.
    #[cfg(test)]
    pub fn stands(&self, phase: f64) -> bool {
        phase - phase.floor() < self.duty
    }
}

/// Lowers `wanted` heights, frame by frame around a loop, until none exceeds its limit, without
/// corners: the limits are blurred first.
pub fn under_limits(wanted: &[f64], limits: &[f64], blur: usize) -> Vec<f64> {
    let n = wanted.len();
    let mut out: Vec<f64> = wanted.iter().zip(limits).map(|(w, l)| w.min(*l)).collect();
    for _ in 0..blur {
        let before = out.clone();
        for i in 0..n {
            out[i] = 0.25 * before[(i + n - 1) % n] + 0.5 * before[i] + 0.25 * before[(i + 1) % n];
        }
    }
    let excess = out.iter().zip(limits).map(|(o, l)| o - l).fold(0.0, f64::max);
    out.iter().map(|o| o - excess).collect()
}

/// A foot of a rig, as its clip moves it.
#[cfg(test)]
pub struct Footing {
    pub gait: Gait,
    pub shape: FootShape,
    /// Joints of the foot and of its toes.
    pub joints: [usize; 2],
    /// Share of the cycle at which the foot falls.
    pub falls: f64,
}

#[cfg(test)]
impl Footing {
    /// How far the point that carries slides over the moving floor in all of one stance, metres: at the
    /// frames and, as a player mixes them, at `between` moments between each two.
    fn slide(&self, rig: &super::rig::Rig, motion: &super::motion::Motion, between: usize) -> f64 {
        let Self { gait, shape, joints: [foot, toes], falls } = self;
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
            if !gait.stands(phase(i)) || !gait.stands(phase(i + 1)) || phase(i + 1).floor() != phase(i).floor() {
                continue;
            }
            let model = [i, i + 1].map(at);
            let floor = DVec3::Z * (gait.speed / (motion.rate * cuts as f64));
            let slip =
                |point: &dyn Fn(&[(DVec3, DQuat)]) -> DVec3| (point(&model[1]) - point(&model[0]) - floor).length();
            // Heel or ball, whichever carries.
            let ball = slip(&|m| m[*toes].0);
            let heel = shape.heel.map(|heel| slip(&|m| m[*foot].0 + m[*foot].1 * (heel - shape.ankle)));
            slid += heel.map_or(ball, |heel| heel.min(ball));
        }
        slid
    }
}

/// Standing feet go with the floor to 2 % of the stride; on a floor faster by `unlike` that would show.
#[cfg(test)]
pub fn assert_feet_stand(feet: &[Footing], rig: &super::rig::Rig, motion: &super::motion::Motion, unlike: f64) {
    let worst = |feet: &[Footing], between: usize| {
        feet.iter().map(|foot| foot.slide(rig, motion, between) / foot.gait.stride()).fold(0.0, f64::max)
    };
    for between in [0, 3] {
        let share = worst(feet, between);
        println!("{}, {between} between: slides {:.3} % of the stride", motion.name, share * 100.0);
        assert!(share < 0.02, "{}: {share}", motion.name);
    }
    let faster =
        |foot: &Footing| Footing { gait: Gait { speed: foot.gait.speed * (1.0 + unlike), ..foot.gait }, ..*foot };
    let feet: Vec<Footing> = feet.iter().map(faster).collect();
    assert!(worst(&feet, 0) > 0.02, "{}: a floor that is faster goes unnoticed", motion.name);
}
