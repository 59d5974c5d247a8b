//! Characters that walk over made-up ground.

use bevy_marionette::import::{Manifest, open_manifest};
use bevy_marionette::internals::pose::{ClipLayer, Evaluate, Scratch};
use bevy_marionette::model::{JointIndex, Model, SkeletalClip, Skeleton};
use bevy_marionette::{
    internals::rig::{Feet, FeetFrame, FeetState, FootPlan, LegJoints, Plants, TurnSpeeds},
    rig::{GroundHit, GroundRay},
};
use glam::{Affine3A, Quat, Vec3};

/// A sample character with its feet.
pub struct Cast {
    pub skeleton: Skeleton,
    pub clips: Vec<SkeletalClip>,
    pub plants: Vec<Plants>,
    pub speeds: TurnSpeeds,
    pub feet: Feet,
    pub legs: Vec<[JointIndex; 4]>,
    /// The fastest that each of the legs' joints turns in any clip, in radians per second.
    pub fastest: Vec<[f32; 4]>,
}

const SCOUT: [[&str; 4]; 2] = [
    ["thigh.L", "shin.L", "foot.L", "toes.L"],
    ["thigh.R", "shin.R", "foot.R", "toes.R"],
];
const HOUND: [[&str; 4]; 4] = [
    ["upper_arm.L", "forearm.L", "hand.L", "fingers.L"],
    ["upper_arm.R", "forearm.R", "hand.R", "fingers.R"],
    ["thigh.L", "shin.L", "foot.L", "toes.L"],
    ["thigh.R", "shin.R", "foot.R", "toes.R"],
];

impl Cast {
    pub fn scout() -> Self {
        Self::new("scout", &SCOUT)
    }

    pub fn hound() -> Self {
        Self::new("hound", &HOUND)
    }

    fn new(name: &str, legs: &[[&str; 4]]) -> Self {
        let (_, (model, _)) = open(name, |_| ());
        let skeleton = model.skeleton;
        let clips: Vec<_> = model
            .clips
            .iter()
            .map(|clip| clip.bind(&skeleton))
            .collect();
        let joint = |name: &str| skeleton.joint(name).unwrap();
        let legs: Vec<[JointIndex; 4]> = legs.iter().map(|leg| leg.map(joint)).collect();
        let heel = |leg: &[JointIndex; 4]| {
            let x = skeleton.rest_model()[usize::from(leg[2])].translation.x;
            (name == "scout").then(|| Vec3::new(0.115 * x.signum(), 0.0, 0.088))
        };
        let of = |leg: &[JointIndex; 4]| LegJoints {
            root: leg[0],
            mid: None,
            tip: leg[2],
            toe: Some(leg[3]),
            heel: heel(leg),
        };
        let of: Vec<LegJoints> = legs.iter().map(of).collect();
        let feet = Feet::new(&skeleton, joint("hips"), &of, Vec3::Y).unwrap();
        let plants: Vec<_> = clips
            .iter()
            .map(|clip| Plants::detect(&feet, &skeleton, clip))
            .collect();
        let speeds = TurnSpeeds::new(&skeleton, &clips);
        let mut fastest = vec![[0.0_f32; 4]; legs.len()];
        for clip in &clips {
            let steps = (clip.timing.duration * 240.0).ceil() as usize;
            let poses: Vec<_> = (0..=steps)
                .map(|i| rotations(&skeleton, clip, i as f64 / 240.0, &legs))
                .collect();
            for pair in poses.windows(2) {
                for (most, (a, b)) in fastest.iter_mut().zip(pair[0].iter().zip(&pair[1])) {
                    (0..4).for_each(|i| most[i] = most[i].max(angle(a[i], b[i]) * 240.0));
                }
            }
        }
        Self {
            skeleton,
            clips,
            plants,
            speeds,
            feet,
            legs,
            fastest,
        }
    }

    pub fn clip(&self, name: &str) -> usize {
        self.clips
            .iter()
            .position(|clip| &*clip.timing.name == name)
            .unwrap()
    }
}

/// Opens a sample character with a changed manifest. Returns what was imported, and the warnings.
pub fn open(name: &str, change: impl FnOnce(&mut Manifest)) -> (Manifest, (Model, Vec<String>)) {
    let folder = crate::asset(name);
    let file = format!("{name}.character.ron");
    let mut manifest = Manifest::parse(&file, &std::fs::read(folder.join(&file)).unwrap()).unwrap();
    change(&mut manifest);
    let read = |file: &str| {
        std::fs::read(folder.join(file))
            .map(Into::into)
            .map_err(|e| e.to_string())
    };
    let imported = open_manifest(&file, &manifest, &Default::default(), read).unwrap();
    (
        manifest,
        (
            imported.model,
            imported
                .warnings
                .iter()
                .map(|warning| warning.to_string())
                .collect(),
        ),
    )
}

fn rotations(
    skeleton: &Skeleton,
    clip: &SkeletalClip,
    time: f64,
    legs: &[[JointIndex; 4]],
) -> Vec<[Quat; 4]> {
    let mut scratch = Scratch::default();
    Evaluate::new(skeleton, &[ClipLayer::new(clip, time)]).run(&mut scratch);
    let pose = scratch.pose_mut(skeleton);
    legs.iter()
        .map(|leg| leg.map(|joint| pose.rotation(joint)))
        .collect()
}

pub fn angle(a: Quat, b: Quat) -> f32 {
    4.0 * (0.5 * (a - if a.dot(b) < 0.0 { -b } else { b }).length()).asin()
}

/// Ground: its height and normal at (x, z).
pub type Ground<'a> = &'a dyn Fn(f32, f32) -> (f32, Vec3);

pub fn flat(_: f32, _: f32) -> (f32, Vec3) {
    (0.0, Vec3::Y)
}

/// Rises toward −Z by `degrees`, turned about Y by `heading`.
pub fn slope(degrees: f32, heading: f32) -> impl Fn(f32, f32) -> (f32, Vec3) {
    let along = Quat::from_rotation_y(heading.to_radians()) * Vec3::NEG_Z;
    let rise = degrees.to_radians().tan();
    move |x, z| {
        (
            rise * (along.x * x + along.z * z),
            (Vec3::Y - along * rise).normalize(),
        )
    }
}

/// Stairs that rise toward −Z if `rise` is above 0.
pub fn stairs(rise: f32, run: f32) -> impl Fn(f32, f32) -> (f32, Vec3) {
    move |_, z| (rise * (-z / run).floor().clamp(0.0, 1000.0), Vec3::Y)
}

/// What was seen of a walk.
#[derive(Debug, Default)]
pub struct Seen {
    /// The longest way that the point which carries a foot slid during one stance, and the mean of all.
    pub slide: f32,
    /// How fast a joint turned at most, in terms of the fastest in the clips.
    pub turn: f32,
    /// The same for each joint of the legs.
    pub turns: [f32; 4],
    /// Share of the planted time for which feet were locked.
    pub locked: f32,
    /// How far a foot was from where the clip has it at most.
    pub changed: f32,
    /// How far a foot was below the ground at most, while locked.
    pub sunk: f32,
    /// World places of tips and hips, frame by frame.
    pub places: Vec<Vec<Vec3>>,
    pub state: FeetState,
}

/// A character that plays a clip and moves.
#[derive(Clone, Copy)]
pub struct Walk<'a> {
    pub cast: &'a Cast,
    pub clip: usize,
    pub speed: f32,
    /// Radians per second.
    pub turn: f32,
    pub ground: Ground<'a>,
    pub rate: f64,
    pub seconds: f64,
    /// Seconds for which nothing is judged, at first.
    pub warm: f64,
    /// Height of ground and character, and of the character alone, at a time.
    pub lift: &'a dyn Fn(f32) -> f32,
    pub fly: &'a dyn Fn(f32) -> f32,
    /// Whether time stands still in every second frame.
    pub pause: bool,
}

impl<'a> Walk<'a> {
    pub fn new(cast: &'a Cast, clip: &str, ground: Ground<'a>) -> Self {
        let clip = cast.clip(clip);
        let speed = cast.plants[clip].ground_velocity.length();
        Self {
            cast,
            clip,
            speed,
            turn: 0.0,
            ground,
            rate: 60.0,
            seconds: 8.0,
            warm: 0.0,
            lift: &|_| 0.0,
            fly: &|_| 0.0,
            pause: false,
        }
    }

    pub fn run(&self) -> Seen {
        self.run_from(0, FeetState::default())
    }

    /// Goes on from a step with a state.
    pub fn run_from(&self, first: usize, mut state: FeetState) -> Seen {
        let Cast {
            skeleton,
            clips,
            plants,
            speeds,
            feet,
            legs,
            fastest,
        } = self.cast;
        let (clip, plants) = (&clips[self.clip], &plants[self.clip]);
        let dt = 1.0 / self.rate;
        let (mut scratch, mut seen) = (Scratch::default(), Seen::default());
        let rest_toe: Vec<f32> = legs
            .iter()
            .map(|l| skeleton.rest_model()[usize::from(l[3])].translation.y)
            .collect();
        let heel_of = |leg: &[JointIndex; 4]| {
            let rest = skeleton.rest_model()[usize::from(leg[2])];
            let place = Vec3::from(rest.translation);
            rest.inverse().transform_point3(if legs.len() > 2 {
                place.with_y(0.0)
            } else {
                Vec3::new(0.115 * place.x.signum(), 0.0, 0.088)
            })
        };
        let mut anchors = vec![(9, Vec3::ZERO, 0.0_f32, 0.0_f32); legs.len()];
        let mut before: Option<(Vec<[Vec3; 2]>, Vec<[Quat; 4]>)> = None;
        let (mut planted, mut locked) = (0, 0);
        let steps = (self.seconds * self.rate) as usize;
        let (mut x, mut z) = (0.0_f64, 0.0_f64);
        for step in 0..steps {
            let now = step as f64 * dt;
            let heading = self.turn * now as f32;
            if step > 0 {
                (x, z) = (
                    x - f64::from(self.speed * heading.sin()) * dt,
                    z - f64::from(self.speed * heading.cos()) * dt,
                );
            }
            if step < first {
                continue;
            }
            let (px, pz) = (x as f32, z as f32);
            let lift = (self.lift)(now as f32);
            let place = Vec3::new(
                px,
                (self.ground)(px, pz).0 + lift + (self.fly)(now as f32),
                pz,
            );
            let world = Affine3A::from_rotation_translation(Quat::from_rotation_y(heading), place);
            let time = now % clip.timing.duration.max(1e-9);
            Evaluate::new(skeleton, &[ClipLayer::new(clip, time)]).run(&mut scratch);
            let mut pose = scratch.pose_mut(skeleton);
            let plans: Vec<FootPlan> = (0..legs.len()).map(|leg| plants.plan(leg, time)).collect();
            let hit = |ray: GroundRay| {
                let (y, normal) = (self.ground)(ray.origin.x, ray.origin.z);
                let y = y + lift;
                let far = ray.origin.y - y;
                (far >= 0.0 && far <= ray.length).then(|| GroundHit {
                    point: ray.origin.with_y(y),
                    normal,
                })
            };
            let rays =
                (0..legs.len()).map(|leg| feet.rays(leg, &plans[leg], &world, &state, pose.model));
            let hits: Vec<_> = rays.map(|rays| rays.map(|ray| ray.and_then(hit))).collect();
            let heights = legs.iter().zip(&rest_toe).map(|(leg, rest)| {
                [
                    pose.model[usize::from(leg[2])]
                        .transform_point3(heel_of(leg))
                        .y,
                    pose.position(leg[3]).y - rest,
                ]
            });
            let heights: Vec<[f32; 2]> = heights.collect();
            let carrying: Vec<usize> = heights
                .iter()
                .map(|h| usize::from(legs.len() > 2 || h[1] < h[0]))
                .collect();
            let frame = FeetFrame {
                world,
                dt: dt as f32,
                weight: 1.0,
                plans: &plans,
                ground: &hits,
                turn_speeds: Some(speeds),
            };
            let animated: Vec<Vec3> = legs.iter().map(|leg| pose.position(leg[2])).collect();
            feet.run(&frame, &mut state, &mut pose);
            if self.pause && step > first {
                let shown = pose.model.to_vec();
                Evaluate::new(skeleton, &[ClipLayer::new(clip, time)]).run(&mut scratch);
                pose = scratch.pose_mut(skeleton);
                feet.run(&FeetFrame { dt: 0.0, ..frame }, &mut state, &mut pose);
                assert!(
                    pose.model
                        .iter()
                        .zip(&shown)
                        .all(|(a, b)| a.abs_diff_eq(*b, 1e-5)),
                    "{step}"
                );
            }

            let contacts: Vec<[Vec3; 2]> = legs
                .iter()
                .map(|leg| {
                    let tip = world * pose.model[usize::from(leg[2])];
                    let toe = world.transform_point3(pose.position(leg[3]));
                    [tip.transform_point3(heel_of(leg)), toe]
                })
                .collect();
            let turned: Vec<[Quat; 4]> = legs
                .iter()
                .map(|leg| leg.map(|joint| pose.rotation(joint)))
                .collect();
            if let Some((_, last_turned)) = &before
                && now >= self.warm
            {
                for leg in 0..legs.len() {
                    seen.changed = seen
                        .changed
                        .max(pose.position(legs[leg][2]).distance(animated[leg]));
                    planted += usize::from(plans[leg].weight >= 0.5);
                    if state.is_locked(leg) {
                        locked += 1;
                        let (last, anchor, here, sum) = anchors[leg];
                        // Where both carry, a millimeter decides.
                        let which = if last < 2 && (heights[leg][0] - heights[leg][1]).abs() < 1e-3
                        {
                            last
                        } else {
                            carrying[leg]
                        };
                        let place = contacts[leg][which];
                        if which != last {
                            anchors[leg] = (which, place, 0.0, sum + here);
                        } else {
                            let way = place - anchor;
                            let normal = (self.ground)(place.x, place.z).1;
                            anchors[leg].2 = here.max((way - normal * way.dot(normal)).length());
                        }
                        let slid = anchors[leg].2 + anchors[leg].3;
                        seen.slide = seen.slide.max(slid);
                        let (toe, (y, normal)) = (
                            contacts[leg][1],
                            (self.ground)(contacts[leg][1].x, contacts[leg][1].z),
                        );
                        seen.sunk = seen.sunk.max((y - toe.y) * normal.y + rest_toe[leg]);
                    } else {
                        anchors[leg] = (9, Vec3::ZERO, 0.0, 0.0);
                    }
                    for joint in 0..4 {
                        let speed =
                            angle(last_turned[leg][joint], turned[leg][joint]) * self.rate as f32;
                        let ratio = speed / fastest[leg][joint].max(0.1);
                        seen.turns[joint] = seen.turns[joint].max(ratio);
                        seen.turn = seen.turn.max(ratio);
                    }
                }
            }
            let mut places: Vec<Vec3> = legs
                .iter()
                .map(|leg| world.transform_point3(pose.position(leg[2])))
                .collect();
            places.push(world.transform_point3(pose.position(feet.hips())));
            seen.places.push(places);
            before = Some((contacts, turned));
        }
        seen.locked = locked as f32 / (planted as f32).max(1.0);
        seen.state = state;
        seen
    }
}
