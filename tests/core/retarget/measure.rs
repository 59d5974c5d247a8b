//! What a retargeted clip has in common with its original, measured on the poses alone.

use bevy_marionette::{
    model::{JointIndex, PlaybackMode, Role, Roles, Side, SkeletalClip, Skeleton},
    pose::{ClipLayer, Evaluate, Scratch},
    rig::{Feet, LegJoints, PlantRange, Plants},
};
use glam::{Affine3A, Quat, Vec3};
use std::fmt;

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
        let at = |role| -> Vec3 { skeleton.rest_model()[usize::from(roles.joint(role).unwrap())].translation.into() };
        let left = at(Role::Thigh(Side::Left)) - at(Role::Thigh(Side::Right));
        let ahead = Quat::from_rotation_y((-left.z).atan2(-left.x));
        let length = |side| {
            at(Role::Thigh(side)).distance(at(Role::Shin(side))) + at(Role::Shin(side)).distance(at(Role::Foot(side)))
        };
        let contacts = SIDES.map(|side| {
            let foot = skeleton.rest_model()[usize::from(roles.joint(Role::Foot(side)).unwrap())];
            [Role::Foot(side), Role::Toes(side)].map(|role| {
                let down = at(role) * Vec3::new(1.0, 0.0, 1.0);
                foot.inverse().transform_point3(down)
            })
        });
        let leg = length(Side::Left);
        Self { skeleton, roles, meter, ahead: ahead.inverse(), leg, contacts }
    }

    fn joint(&self, role: Role) -> Option<JointIndex> {
        self.roles.joint(role)
    }

    fn pose(&self, clip: &SkeletalClip, time: f64) -> Pose<'_> {
        let mut scratch = Scratch::default();
        Evaluate::new(self.skeleton, &[ClipLayer::new(clip, time)]).run(&mut scratch);
        let whole = Affine3A::from_quat(self.ahead);
        Pose { body: self, model: scratch.model().iter().map(|joint| whole * *joint).collect() }
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

    /// How far the points that feet stand on move, in meters, while the plants say that they don't.
    fn slide(&self, clip: &SkeletalClip, plants: &Plants, ground: Vec3) -> f32 {
        let (mut worst, step) = (0.0_f32, 1.0 / 240.0);
        let duration = clip.timing.duration;
        for leg in 0..2 {
            for &PlantRange { start, end } in plants.ranges(leg) {
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
                        let lower = usize::from(now[1].y + before[1].y < now[0].y + before[0].y);
                        slid += (now[lower] - before[lower] - ground * step as f32) * Vec3::new(1.0, 0.0, 1.0);
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
        Some(self.model[usize::from(self.body.joint(role)?)].translation.into())
    }

    fn along(&self, from: Role, to: Role) -> Option<Vec3> {
        (self.at(to)? - self.at(from)?).try_normalize()
    }

    /// How a joint is turned from rest.
    fn turn(&self, role: Role) -> Option<Quat> {
        let joint = usize::from(self.body.joint(role)?);
        let rest = Affine3A::from_quat(self.body.ahead) * self.body.skeleton.rest_model()[joint];
        Some((self.model[joint] * rest.inverse()).to_scale_rotation_translation().1)
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
    /// Shares of the arm's length by which hands are off, from the shoulder, in proportion.
    pub hands: f32,
    /// Degrees by which the head is turned otherwise.
    pub head: f32,
    /// Meters by which the lower contact's height above the ground is off, while it is within 5 cm of it.
    pub height: f32,
    /// Meters between joints of the same role, for clips of one skeleton.
    pub places: f32,
}

impl fmt::Display for Found {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let Self { slide, source_slide, arms, legs, hands, head, height, places } = self;
        write!(
            out,
            "slide {:.2} cm (source {:.2}), arms {arms:.2}°, legs {legs:.1}°, hands {:.1} %, head {head:.2}°, height {:.1} mm, places {:.1} mm",
            slide * 100.0,
            source_slide * 100.0,
            hands * 100.0,
            height * 1e3,
            places * 1e3
        )
    }
}

pub fn compare(source: &Body, clip: &SkeletalClip, target: &Body, made: &SkeletalClip) -> Found {
    let mut found = Found::default();
    let ratio = target.leg / source.leg;
    let plants = source.plants(clip);
    let ground = source.ahead * plants.ground_velocity;
    found.slide = target.slide(made, &plants, ground * ratio);
    found.source_slide = source.slide(clip, &plants, ground) * ratio * target.meter / source.meter;
    let count = (clip.timing.duration * 90.0).ceil().max(1.0) as usize;
    for sample in 0..=count {
        let time = clip.timing.duration * sample as f64 / count as f64;
        let (a, b) = (source.pose(clip, time), target.pose(made, time));
        let between = |from, to| -> f32 {
            let both = a.along(from, to).zip(b.along(from, to));
            both.map_or(0.0, |(a, b)| a.angle_between(b).to_degrees())
        };
        let degrees = |role| a.turn(role).zip(b.turn(role)).map_or(0.0, |(a, b)| a.angle_between(b).to_degrees());
        found.head = found.head.max(degrees(Role::Head));
        for (leg, side) in SIDES.into_iter().enumerate() {
            let (upper, lower, hand) = (Role::UpperArm(side), Role::Forearm(side), Role::Hand(side));
            found.arms = found.arms.max(between(upper, lower)).max(between(lower, hand));
            let (thigh, shin, foot) = (Role::Thigh(side), Role::Shin(side), Role::Foot(side));
            found.legs = found.legs.max(between(thigh, shin)).max(between(shin, foot));
            let reach = |pose: &Pose| {
                let [shoulder, elbow, hand] = [upper, lower, hand].map(|role| pose.at(role).unwrap());
                (hand - shoulder) / (shoulder.distance(elbow) + elbow.distance(hand))
            };
            found.hands = found.hands.max(reach(&a).distance(reach(&b)));
            let low = |pose: &Pose| pose.contacts(leg).into_iter().map(|contact| contact.y).fold(f32::MAX, f32::min);
            if (low(&a) * source.meter).abs() < 0.05 {
                found.height = found.height.max((low(&b) - low(&a) * ratio).abs() * target.meter);
            }
        }
        if std::ptr::eq(source.skeleton, target.skeleton) {
            for (role, _) in source.roles.iter() {
                let apart = a.at(role).zip(b.at(role)).map_or(0.0, |(a, b)| a.distance(b));
                found.places = found.places.max(apart * target.meter);
            }
        }
    }
    found
}
