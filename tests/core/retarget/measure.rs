//! What a retargeted clip has in common with its original, measured on the poses alone.

use bevy_marionette::{
    internals::{
        model::{Role, Roles, Side},
        pose::{ClipLayer, Evaluate, Scratch},
        rig::{Feet, LegJoints, PlantRange, Plants},
    },
    model::{JointIndex, PlaybackMode, SkeletalClip, Skeleton},
};
use glam::{Affine3A, Quat, Vec3};
use std::fmt;

/// Meters by which heel and ball of a flat foot differ in height.
const FLAT: f32 = 0.002;
/// Seconds over which joints' speeds are measured.
const STEP: f64 = 1.0 / 120.0;
const SIDES: [Side; 2] = [Side::Left, Side::Right];

/// A skeleton whose joints' roles are known, standing on the ground at rest, Y up.
pub struct Body<'a> {
    pub skeleton: &'a Skeleton,
    pub roles: Roles,
    /// Meters in a unit of length.
    meter: f32,
    /// Turns the body to face −Z.
    ahead: Quat,
    leg: f32,
    /// Heel and ball of each foot on the ground, in the foot's space.
    contacts: [[Vec3; 2]; 2],
}

impl<'a> Body<'a> {
    pub fn new(skeleton: &'a Skeleton, meter: f32) -> Self {
        let roles = Roles::infer(skeleton);
        let at = |role| -> Vec3 {
            skeleton.rest_model()[usize::from(roles.joint(role).unwrap())]
                .translation
                .into()
        };
        let left = at(Role::Thigh(Side::Left)) - at(Role::Thigh(Side::Right));
        let ahead = Quat::from_rotation_y((-left.z).atan2(-left.x));
        let length = |side| {
            at(Role::Thigh(side)).distance(at(Role::Shin(side)))
                + at(Role::Shin(side)).distance(at(Role::Foot(side)))
        };
        let contacts = SIDES.map(|side| {
            let foot = skeleton.rest_model()[usize::from(roles.joint(Role::Foot(side)).unwrap())];
            [Role::Foot(side), Role::Toes(side)].map(|role| {
                let down = at(role) * Vec3::new(1.0, 0.0, 1.0);
                foot.inverse().transform_point3(down)
            })
        });
        let leg = length(Side::Left);
        Self {
            skeleton,
            roles,
            meter,
            ahead: ahead.inverse(),
            leg,
            contacts,
        }
    }

    fn joint(&self, role: Role) -> Option<JointIndex> {
        self.roles.joint(role)
    }

    fn pose(&self, clip: &SkeletalClip, time: f64) -> Pose<'_> {
        let mut scratch = Scratch::default();
        Evaluate::new(self.skeleton, &[ClipLayer::new(clip, time)]).run(&mut scratch);
        let whole = Affine3A::from_quat(self.ahead);
        Pose {
            body: self,
            model: scratch.model().iter().map(|joint| whole * *joint).collect(),
        }
    }

    /// The balls of the feet at two times, in lengths of a leg.
    pub fn contacts_at(&self, clip: &SkeletalClip, times: [f64; 2]) -> [[Vec3; 2]; 2] {
        let poses = times.map(|time| self.pose(clip, time));
        [0, 1].map(|leg| {
            poses
                .each_ref()
                .map(|pose| pose.contacts(leg)[1] / self.leg)
        })
    }

    fn plants(&self, clip: &SkeletalClip) -> Plants {
        let joint = |role| self.joint(role).unwrap();
        let legs = SIDES.map(|side| LegJoints {
            root: joint(Role::Thigh(side)),
            mid: Some(joint(Role::Shin(side))),
            tip: joint(Role::Foot(side)),
            toe: self.joint(Role::Toes(side)),
            heel: None,
        });
        let feet = Feet::new(self.skeleton, joint(Role::Hips), &legs, Vec3::Y).unwrap();
        Plants::detect(&feet, self.skeleton, clip)
    }

    /// When heel or ball, whichever is lower, are on the ground and hardly move for a while, without the first and the last frame. Plants
    /// leave some of that out: heels below ankles as high as those of stocky bodies, and feet that are not as deep in the ground as
    /// at other times.
    fn standing(&self, clip: &SkeletalClip, ground: Vec3) -> [Vec<PlantRange>; 2] {
        let (step, frame) = (1.0 / 240.0, 1.0 / 60.0);
        let slow = 0.25 * self.leg + 0.2 * ground.length();
        [0, 1].map(|leg| {
            let mut ranges: Vec<PlantRange> = Vec::new();
            let mut before = self.pose(clip, 0.0).contacts(leg);
            for sample in 1..=(clip.timing.duration / step) as usize {
                let time = sample as f64 * step;
                let now = self.pose(clip, time).contacts(leg);
                let lower = usize::from(now[1].y + before[1].y < now[0].y + before[0].y);
                let slid =
                    (now[lower] - before[lower] - ground * step as f32) * Vec3::new(1.0, 0.0, 1.0);
                if now[lower].y < 0.03 * self.leg && slid.length() < slow * step as f32 {
                    match ranges.last_mut() {
                        Some(last) if last.end > time - 1.5 * step => last.end = time,
                        _ => ranges.push(PlantRange {
                            start: time - step,
                            end: time,
                        }),
                    }
                }
                before = now;
            }
            ranges.retain(|range| range.end - range.start > 0.05 + 2.0 * frame);
            ranges
                .iter()
                .map(|range| PlantRange {
                    start: range.start + frame,
                    end: range.end - frame,
                })
                .collect()
        })
    }

    /// How far the points that feet stand on move, in meters, while they are planted.
    ///
    /// A foot stands on the lower of heel and ball. A flat foot that turns stands on the one that moves less.
    fn slide(&self, clip: &SkeletalClip, plants: &[Vec<PlantRange>; 2], ground: Vec3) -> f32 {
        let (mut worst, step) = (0.0_f32, 1.0 / 240.0);
        let duration = clip.timing.duration;
        for (leg, ranges) in plants.iter().enumerate() {
            for &PlantRange { start, end } in ranges {
                // The rest of a plant that goes on after a loop's end is at its start.
                let ends = if clip.timing.playback == PlaybackMode::Loop && end > duration {
                    vec![(start.max(0.0), duration), (0.0, end - duration)]
                } else {
                    vec![(start.max(0.0), end.min(duration))]
                };
                for (start, end) in ends {
                    let mut slid = Vec3::ZERO;
                    let mut before = self.pose(clip, start).contacts(leg);
                    let mut time = start;
                    while time + step <= end {
                        time += step;
                        let now = self.pose(clip, time).contacts(leg);
                        let [heel, ball] =
                            [0, 1].map(|at| (now[at].y + before[at].y) * 0.5 * self.meter);
                        let slips = [0, 1].map(|at| now[at] - before[at] - ground * step as f32);
                        let [heel_slip, ball_slip] =
                            slips.map(|slip| slip * Vec3::new(1.0, 0.0, 1.0));
                        let is_flat = (heel - ball).abs() < FLAT;
                        let on_ball = if is_flat {
                            ball_slip.length() < heel_slip.length()
                        } else {
                            ball < heel
                        };
                        slid += if on_ball { ball_slip } else { heel_slip };
                        worst = worst.max(slid.length() * self.meter);
                        before = now;
                    }
                }
            }
        }
        worst
    }
}

/// A pose that faces −Z at rest.
struct Pose<'a> {
    body: &'a Body<'a>,
    model: Vec<Affine3A>,
}

impl Pose<'_> {
    fn at(&self, role: Role) -> Option<Vec3> {
        Some(
            self.model[usize::from(self.body.joint(role)?)]
                .translation
                .into(),
        )
    }

    fn along(&self, from: Role, to: Role) -> Option<Vec3> {
        (self.at(to)? - self.at(from)?).try_normalize()
    }

    /// How a joint is turned from rest.
    fn turn(&self, role: Role) -> Option<Quat> {
        let joint = usize::from(self.body.joint(role)?);
        let rest = Affine3A::from_quat(self.body.ahead) * self.body.skeleton.rest_model()[joint];
        Some(
            (self.model[joint] * rest.inverse())
                .to_scale_rotation_translation()
                .1,
        )
    }

    fn contacts(&self, leg: usize) -> [Vec3; 2] {
        let foot = self.model[usize::from(self.body.joint(Role::Foot(SIDES[leg])).unwrap())];
        self.body.contacts[leg].map(|contact| foot.transform_point3(contact))
    }
}

/// How two clips differ at most, at any time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Found {
    /// Meters by which planted feet slide, and those of the source, in the target's proportions.
    pub slide: f32,
    pub source_slide: f32,
    /// Degrees between where upper and lower arms point, and the same for thighs and shins.
    pub arms: f32,
    pub legs: f32,
    /// How far hands are from where they should be, as a share of the arm's length: the way from the shoulder to the hand
    /// should be that of the source, times the ratio of the arms' lengths.
    pub hands: f32,
    /// Degrees by which the head is turned otherwise.
    pub head: f32,
    /// How fast the limbs' joints turn at most, as a multiple of the fastest in the source. Knees that flip or jitter turn many
    /// times as fast.
    pub speed: f32,
    /// Meters by which the lower contact's height above the ground is off, while it is within 5 cm of it.
    pub height: f32,
    /// Meters by which feet are deeper in the ground than the source's.
    pub sunk: f32,
    /// Meters between joints of the same role other than fingers, for clips of one skeleton.
    pub places: f32,
}

impl Found {
    /// The first of what exceeds its bound, if anything does. Whatever the bodies, feet that the source plants slide by less than
    /// half a centimeter, even where the source's own do, the head is within a degree, and joints are not much faster.
    pub fn exceeds(&self, arms: f32, legs: f32, hands: f32) -> Option<&'static str> {
        let found = [
            ("feet slide", self.slide, 0.005),
            ("arms", self.arms, arms),
            ("legs", self.legs, legs),
            ("hands", self.hands, hands),
            ("head", self.head, 1.0),
            ("speed", self.speed, 1.5),
            ("feet sink", self.sunk, 0.005),
        ];
        found
            .into_iter()
            .find(|(_, off, bound)| off.is_nan() || off > bound)
            .map(|(what, ..)| what)
    }
}

impl fmt::Display for Found {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let Self {
            slide,
            source_slide,
            arms,
            legs,
            hands,
            head,
            speed,
            height,
            sunk,
            places,
        } = self;
        write!(
            out,
            "slide {:.2} cm (source {:.2}), arms {arms:.2}°, legs {legs:.1}°, hands {:.1} %, head {head:.2}°, speed ×{speed:.2}, height {:.1} mm, sunk {:.1} mm, places {:.1} mm",
            slide * 100.0,
            source_slide * 100.0,
            hands * 100.0,
            height * 1e3,
            sunk * 1e3,
            places * 1e3
        )
    }
}

pub fn compare(source: &Body, clip: &SkeletalClip, target: &Body, made: &SkeletalClip) -> Found {
    let mut found = Found::default();
    let ratio = target.leg / source.leg;
    let plants = source.plants(clip);
    let ground = source.ahead * plants.ground_velocity;
    let standing = source.standing(clip, ground);
    let plants = [0, 1].map(|leg| [plants.ranges(leg), &standing[leg][..]].concat());
    found.slide = target.slide(made, &plants, ground * ratio);
    found.source_slide = source.slide(clip, &plants, ground) * ratio * target.meter / source.meter;
    let (mut fastest, mut source_fastest) = (0.0_f32, 0.0_f32);
    let count = (clip.timing.duration * 90.0).ceil().max(1.0) as usize;
    for sample in 0..=count {
        let time = clip.timing.duration * sample as f64 / count as f64;
        let (a, b) = (source.pose(clip, time), target.pose(made, time));
        let later = (time + STEP <= clip.timing.duration).then_some(time + STEP);
        let later = later.map(|later| (source.pose(clip, later), target.pose(made, later)));
        let between = |from, to| -> f32 {
            let both = a.along(from, to).zip(b.along(from, to));
            both.map_or(0.0, |(a, b)| a.angle_between(b).to_degrees())
        };
        let degrees = |role| {
            a.turn(role)
                .zip(b.turn(role))
                .map_or(0.0, |(a, b)| a.angle_between(b).to_degrees())
        };
        found.head = found.head.max(degrees(Role::Head));
        for (leg, side) in SIDES.into_iter().enumerate() {
            let (upper, lower, hand) =
                (Role::UpperArm(side), Role::Forearm(side), Role::Hand(side));
            found.arms = found
                .arms
                .max(between(upper, lower))
                .max(between(lower, hand));
            let (thigh, shin, foot) = (Role::Thigh(side), Role::Shin(side), Role::Foot(side));
            found.legs = found
                .legs
                .max(between(thigh, shin))
                .max(between(shin, foot));
            let reach = |pose: &Pose| {
                let [shoulder, elbow, hand] =
                    [upper, lower, hand].map(|role| pose.at(role).unwrap());
                (hand - shoulder) / (shoulder.distance(elbow) + elbow.distance(hand))
            };
            found.hands = found.hands.max(reach(&a).distance(reach(&b)));
            let low = |pose: &Pose| {
                pose.contacts(leg)
                    .into_iter()
                    .map(|contact| contact.y)
                    .fold(f32::MAX, f32::min)
            };
            found.sunk = found
                .sunk
                .max((low(&a).min(0.0) * ratio - low(&b)) * target.meter);
            if let Some((a2, b2)) = &later {
                let turned = |role, a: &Pose, b: &Pose| {
                    a.turn(role).unwrap().angle_between(b.turn(role).unwrap())
                };
                for role in [upper, lower, hand, thigh, shin, foot] {
                    fastest = fastest.max(turned(role, &b, b2));
                    source_fastest = source_fastest.max(turned(role, &a, a2));
                }
            }
            if (low(&a) * source.meter).abs() < 0.05 {
                found.height = found
                    .height
                    .max((low(&b) - low(&a) * ratio).abs() * target.meter);
            }
        }
        if std::ptr::eq(source.skeleton, target.skeleton) {
            for (role, _) in source
                .roles
                .iter()
                .filter(|(role, _)| !matches!(role, Role::Finger(..)))
            {
                let apart = a
                    .at(role)
                    .zip(b.at(role))
                    .map_or(0.0, |(a, b)| a.distance(b));
                found.places = found.places.max(apart * target.meter);
            }
        }
    }
    // What hardly moves at all counts as one radian per second.
    found.speed = fastest / source_fastest.max(STEP as f32);
    found
}

/// Returns how fast feet move over the ground at most while the source's are low and slow, in contact or not, in lengths of
/// a leg per second: the target's, and the source's.
pub fn fastest_of_slow_feet(
    (source, clip): (&Body, &SkeletalClip),
    (target, made): (&Body, &SkeletalClip),
) -> [f32; 2] {
    const LOW: f32 = 0.05;
    const SLOW: f32 = 0.1;
    let ground = source.ahead * source.plants(clip).ground_velocity / source.leg;
    let step = 1.0 / 60.0;
    let mut fastest = [0.0_f32; 2];
    for sample in 0..(clip.timing.duration / step) as usize {
        let times = [sample, sample + 1].map(|sample| sample as f64 * step);
        for leg in 0..2 {
            let contacts =
                |body: &Body, clip| times.map(|time| body.pose(clip, time).contacts(leg));
            let [from, to] = contacts(source, clip);
            let lower = usize::from(from[1].y + to[1].y < from[0].y + to[0].y);
            let speed = |body: &Body, [from, to]: [[Vec3; 2]; 2]| {
                let way = (to[lower] - from[lower]) / (body.leg * step as f32) - ground;
                (way * Vec3::new(1.0, 0.0, 1.0)).length()
            };
            let slow = speed(source, [from, to]);
            if from[lower].y.max(to[lower].y) < LOW * source.leg && slow < SLOW {
                let found = [speed(target, contacts(target, made)), slow];
                fastest = [0, 1].map(|i| fastest[i].max(found[i]));
            }
        }
    }
    fastest
}
