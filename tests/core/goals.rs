//! Limbs whose goals come, go, jump and fade.

use super::feet::walk::{angle, open};
use bevy_marionette::{
    internals::{
        pose::{ClipLayer, Evaluate, Scratch},
        rig::{ChainIk, GoalAction, Ik, RigAction, RigJoints, RigScratch, TurnSpeeds, TwoBoneIk},
    },
    model::{JointIndex, SkeletalClip, Skeleton},
    rig::RigState,
};
use fastrand::Rng;
use glam::{Affine3A, Quat, Vec3};
use std::time::Duration;

const FRAME: f64 = 1.0 / 60.0;

/// Scout, walking.
struct Scout {
    skeleton: Skeleton,
    clips: Vec<SkeletalClip>,
    speeds: TurnSpeeds,
    /// Upper arm, forearm and hand of both sides.
    arms: [[JointIndex; 3]; 2],
    state: RigState,
    scratch: RigScratch,
    time: f64,
    turn_limit: f32,
    teleported: bool,
}

impl Scout {
    fn new() -> Self {
        let (_, (model, _)) = open("scout", |_| ());
        let skeleton = model.skeleton;
        let clips: Vec<_> = model
            .clips
            .iter()
            .map(|clip| clip.bind(&skeleton))
            .collect();
        let arms = ["L", "R"].map(|side| {
            ["upper_arm", "forearm", "hand"]
                .map(|joint| skeleton.joint(&format!("{joint}.{side}")).unwrap())
        });
        let speeds = TurnSpeeds::new(&skeleton, &clips);
        Self {
            skeleton,
            clips,
            speeds,
            arms,
            state: RigState::default(),
            scratch: RigScratch::default(),
            time: 0.0,
            turn_limit: GoalAction::TURN_LIMIT,
            teleported: false,
        }
    }

    fn walk(&self) -> &SkeletalClip {
        self.clips
            .iter()
            .find(|clip| &*clip.timing.name == "walk")
            .unwrap()
    }

    /// The walk at the present time.
    fn walking(&self) -> Scratch {
        let mut scratch = Scratch::default();
        let time = self.time.rem_euclid(self.walk().timing.duration);
        Evaluate::new(&self.skeleton, &[ClipLayer::new(self.walk(), time)]).run(&mut scratch);
        scratch
    }

    /// Goes on by some time, and returns the pose.
    fn step(&mut self, seconds: f64, goals: &[Ik]) -> Scratch {
        self.time += seconds;
        let mut scratch = self.walking();
        let action = RigAction {
            dt: Duration::from_secs_f64(seconds),
            teleported: self.teleported,
            goals: goals
                .iter()
                .map(|&ik| GoalAction {
                    turn_limit: self.turn_limit,
                    ..GoalAction::new(ik)
                })
                .collect(),
            ..RigAction::default()
        };
        let joints = RigJoints {
            turn_speeds: Some(&self.speeds),
            ..RigJoints::default()
        };
        action.run(
            &joints,
            &mut self.state,
            &mut self.scratch,
            &mut scratch.pose_mut(&self.skeleton),
        );
        scratch
    }

    fn reach(&self, arm: usize, target: Vec3) -> TwoBoneIk {
        TwoBoneIk::new(self.arms[arm], target)
    }

    fn rotations(&self, pose: &mut Scratch) -> Vec<Quat> {
        let pose = pose.pose_mut(&self.skeleton);
        (0..self.skeleton.len() as JointIndex)
            .map(|joint| pose.rotation(joint))
            .collect()
    }

    /// The fastest that each joint turns in any clip, in radians per second.
    fn fastest(&self) -> Vec<f32> {
        let mut fastest = vec![0.0_f32; self.skeleton.len()];
        for clip in &self.clips {
            let mut before: Option<Vec<Quat>> = None;
            for i in 0..=(clip.timing.duration * 240.0) as usize {
                let mut scratch = Scratch::default();
                Evaluate::new(&self.skeleton, &[ClipLayer::new(clip, i as f64 / 240.0)])
                    .run(&mut scratch);
                let now = self.rotations(&mut scratch);
                for (joint, before) in before.iter().flatten().enumerate() {
                    fastest[joint] = fastest[joint].max(angle(*before, now[joint]) * 240.0);
                }
                before = Some(now);
            }
        }
        fastest
    }
}

fn hand_of(scout: &Scout, arm: usize, pose: &mut Scratch) -> Vec3 {
    pose.pose_mut(&scout.skeleton).position(scout.arms[arm][2])
}

/// In front of her, within reach of an arm wherever the walk takes the shoulder, at any height.
fn before_her(random: &mut Rng, arm: usize) -> Vec3 {
    let shoulder = Vec3::new([-0.18, 0.18][arm], 1.42, 0.0);
    let place = std::iter::repeat_with(|| {
        let aside = [-1.0, 1.0][arm];
        Vec3::new(
            aside * (0.35 - 0.6 * random.f32()),
            0.9 + 0.7 * random.f32(),
            -0.15 - 0.25 * random.f32(),
        )
    });
    place
        .take(1000)
        .find(|place| (0.2..0.42).contains(&place.distance(shoulder)))
        .unwrap()
}

#[test]
fn the_fastest_turns_are_those_of_the_clips() {
    let scout = Scout::new();
    let mut least = f32::INFINITY;
    for (joint, fastest) in scout.fastest().into_iter().enumerate() {
        let (speed, fastest) = (
            scout.speeds.of(joint as JointIndex),
            fastest.max(TurnSpeeds::SLOWEST),
        );
        assert!(
            speed < 1.02 * fastest,
            "{}: {speed} of {fastest}",
            scout.skeleton.name(joint as JointIndex)
        );
        least = least.min(speed / fastest);
    }
    assert!(least > 0.9, "{least}");
    assert_eq!(scout.speeds.of(JointIndex::MAX), TurnSpeeds::SLOWEST);
}

#[test]
fn no_joint_turns_faster_than_one_and_a_half_times_the_clips_whatever_goals_do() {
    let arms = fastest_turns(GoalAction::TURN_LIMIT);
    assert!(arms.iter().flatten().all(|most| *most <= 1.5), "{arms:?}");
    // What they'd do otherwise.
    let arms = fastest_turns(f32::INFINITY);
    assert!(arms.iter().flatten().all(|most| *most > 5.0), "{arms:?}");
}

/// Lets goals come, go, jump and fade at random for minutes. Returns how fast the arms' joints turn at most, as multiples of
/// the fastest in the clips.
fn fastest_turns(turn_limit: f32) -> [[f32; 3]; 2] {
    let mut scout = Scout {
        turn_limit,
        ..Scout::new()
    };
    let fastest = scout.fastest();
    let mut random = Rng::with_seed(7);
    let mut most = vec![0.0_f32; scout.skeleton.len()];
    let mut goals: [Option<TwoBoneIk>; 2] = [None; 2];
    // Each goal's weight, and what it fades to in 0.4 s.
    let mut fades = [(1.0_f64, 1.0_f64); 2];
    let mut last = {
        let mut pose = scout.step(0.0, &[]);
        scout.rotations(&mut pose)
    };
    let mut reached = 0;
    for step in 0..20_000 {
        for arm in 0..2 {
            if random.u32(..40) == 0 {
                goals[arm] = match random.u32(..5) {
                    0 => None,
                    1 | 2 => Some(TwoBoneIk {
                        pole: random
                            .bool()
                            .then(|| Vec3::new(2.0 * random.f32() - 1.0, 0.8, 0.6)),
                        tip_rotation: random
                            .bool()
                            .then(|| Quat::from_rotation_x(3.0 * random.f32())),
                        ..scout.reach(arm, before_her(&mut random, arm))
                    }),
                    _ => goals[arm],
                };
                fades[arm].1 = f64::from(random.u8(..2));
                if random.bool() {
                    fades[arm].0 = fades[arm].1;
                }
            }
            let (weight, target) = &mut fades[arm];
            *weight = if *weight < *target {
                (*weight + FRAME / 0.4).min(*target)
            } else {
                (*weight - FRAME / 0.4).max(*target)
            };
        }
        let goals = goals
            .iter()
            .zip(fades)
            .filter_map(|(goal, (weight, _))| Some((goal.as_ref()?, weight as f32)));
        let goals: Vec<_> = goals
            .map(|(goal, weight)| {
                Ik::TwoBone(TwoBoneIk {
                    weight: weight * weight * (3.0 - 2.0 * weight),
                    ..*goal
                })
            })
            .collect();
        let mut pose = scout.step(FRAME, &goals);
        let now = scout.rotations(&mut pose);
        for (joint, (before, now)) in last.iter().zip(&now).enumerate() {
            most[joint] = most[joint]
                .max(angle(*before, *now) / FRAME as f32 / fastest[joint].max(TurnSpeeds::SLOWEST));
        }
        last = now;
        if let [Ik::TwoBone(goal), ..] = goals[..] {
            let arm = usize::from(goal.tip != scout.arms[0][2]);
            let miss = hand_of(&scout, arm, &mut pose).distance(goal.target);
            reached += usize::from(goal.weight == 1.0 && miss < 1e-4);
        }
        assert!(step == 0 || now_is_unit(&last));
    }
    let elsewhere = (0..most.len()).filter(|joint| {
        !scout
            .arms
            .iter()
            .flatten()
            .any(|arm| usize::from(*arm) == *joint)
    });
    assert!(
        elsewhere.map(|joint| most[joint]).all(|most| most <= 1.02),
        "other joints are as in the clip"
    );
    let arms = scout
        .arms
        .map(|arm| arm.map(|joint| most[usize::from(joint)]));
    println!("{arms:?}, of {reached} frames at the goal");
    assert!(reached > 2000, "{reached}");
    arms
}

fn now_is_unit(rotations: &[Quat]) -> bool {
    rotations
        .iter()
        .all(|rotation| (rotation.length() - 1.0).abs() < 1e-4)
}

#[test]
fn a_limb_comes_to_its_goal_follows_it_exactly_and_returns_to_the_clips_bit_by_bit() {
    let mut scout = Scout::new();
    let mut random = Rng::with_seed(3);
    let mut longest = 0;
    for _ in 0..60 {
        scout.step(FRAME, &[]);
        assert_eq!(
            scout.state,
            RigState::default(),
            "nothing is kept without goals"
        );
        let target = before_her(&mut random, 1);
        // Without a pole, the elbow bends as in the walk, which can turn the arm at any speed.
        let pole = Some(Vec3::new(1.5, 0.6, 0.0));
        let goal = |scout: &Scout, to: Vec3| {
            [Ik::TwoBone(TwoBoneIk {
                pole,
                ..scout.reach(1, to)
            })]
        };
        let goals = goal(&scout, target);
        let mut first = scout.step(FRAME, &goals);
        assert!(
            hand_of(&scout, 1, &mut first).distance(target) > 0.02,
            "it is not there at once"
        );
        let mut frames = 0;
        while scout.state.goals.is_turning() {
            scout.step(FRAME, &goals);
            frames += 1;
            assert!(frames < 60, "it takes less than a second");
        }
        longest = longest.max(frames);
        // From then on it is at a goal that moves at up to 0.6 m/s, in every frame.
        for step in 0..60 {
            let moved = target + Vec3::Y * (0.1 * (0.1 * step as f32).sin());
            let goals = goal(&scout, moved);
            let mut pose = scout.step(FRAME, &goals);
            let miss = hand_of(&scout, 1, &mut pose).distance(moved);
            assert!(miss < 1e-4, "step {step}: {miss}");
        }
        let mut frames = 0;
        while scout.state != RigState::default() {
            scout.step(FRAME, &[]);
            frames += 1;
            assert!(frames < 60, "it is back in less than a second");
        }
        let (mut clip, mut pose) = (scout.walking(), scout.step(0.0, &[]));
        assert_eq!(scout.rotations(&mut pose), scout.rotations(&mut clip));
        assert_eq!(pose.model(), clip.model());
    }
    println!("at its goal after at most {longest} frames");
}

#[test]
fn without_a_limit_or_after_a_teleport_a_limb_is_at_its_goal_at_once() {
    let mut scout = Scout::new();
    let mut random = Rng::with_seed(5);
    for case in 0..200 {
        (scout.turn_limit, scout.teleported) = if case % 2 == 0 {
            (f32::INFINITY, false)
        } else {
            (1.0, true)
        };
        let target = before_her(&mut random, 0);
        let goals = [Ik::TwoBone(scout.reach(0, target))];
        let mut pose = scout.step(FRAME, &goals);
        let miss = hand_of(&scout, 0, &mut pose).distance(target);
        assert!(
            miss < 1e-4 && !scout.state.goals.is_turning(),
            "case {case}: {miss}"
        );
    }
}

#[test]
fn while_paused_a_limb_at_its_goal_follows_it_and_one_on_its_way_waits() {
    let mut scout = Scout::new();
    let [near, far] = [Vec3::new(0.2, 1.2, -0.3), Vec3::new(-0.05, 1.5, -0.25)];
    let goals = |scout: &Scout, to| [Ik::TwoBone(scout.reach(1, to))];
    let [at_near, at_far] = [near, far].map(|place| goals(&scout, place));
    // An editor: the character was never advanced.
    let mut pose = scout.step(0.0, &at_near);
    assert!(hand_of(&scout, 1, &mut pose).distance(near) < 1e-4);
    let mut pose = scout.step(0.0, &at_far);
    assert!(hand_of(&scout, 1, &mut pose).distance(far) < 1e-4);
    let mut on_its_way = scout.step(FRAME, &at_near);
    assert!(scout.state.goals.is_turning());
    let state = scout.state.clone();
    for _ in 0..3 {
        let mut pose = scout.step(0.0, &at_near);
        assert_eq!(scout.rotations(&mut pose), scout.rotations(&mut on_its_way));
        assert_eq!(scout.state, state);
    }
}

#[test]
fn a_restored_state_goes_on_with_the_same_bits() {
    let mut scout = Scout::new();
    let [near, far] = [Vec3::new(0.2, 1.2, -0.3), Vec3::new(-0.3, 1.5, -0.2)];
    let neck = scout.skeleton.joint("neck").unwrap();
    let goals = |scout: &Scout, to| {
        [
            Ik::Chain(ChainIk::new(neck, 2, to)),
            Ik::TwoBone(scout.reach(1, to)),
        ]
    };
    let [at_near, at_far] = [near, far].map(|place| goals(&scout, place));
    for _ in 0..40 {
        scout.step(FRAME, &at_near);
    }
    scout.step(FRAME, &at_far);
    let (saved, time) = (ron::to_string(&scout.state).unwrap(), scout.time);
    let run = |scout: &mut Scout| {
        (0..40)
            .map(|_| scout.step(FRAME, &at_far).model().to_vec())
            .collect::<Vec<_>>()
    };
    let first: Vec<Vec<Affine3A>> = run(&mut scout);
    (scout.state, scout.time) = (ron::from_str(&saved).unwrap(), time);
    assert_eq!(run(&mut scout), first);
    // What a file says may be anything.
    for (field, odd) in [
        ("turn_limit:", "NaN"),
        ("turn_limit:", "-inf"),
        ("joint:", "999"),
        ("shown:(", "1e38"),
        ("shown:(", "NaN"),
    ] {
        let with_odd = |rest: &str| format!("{field}{odd}{}", &rest[rest.find(',').unwrap()..]);
        let (first, rest) = saved.split_once(field).unwrap();
        let odd = first.to_owned() + &rest.split(field).map(with_odd).collect::<String>();
        (scout.state, scout.time) = (ron::from_str(&odd).unwrap(), time);
        assert!(
            run(&mut scout)
                .iter()
                .flatten()
                .all(|joint| joint.is_finite()),
            "{odd}"
        );
    }
}
