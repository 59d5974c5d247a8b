//! Skeletons list their joints in any order, parents first. Whatever the order, each solver does the same to each joint, and
//! leaves matrices that are those of its transforms.

use bevy_marionette::{
    internals::{
        pose::{LocalToModel, PoseMut},
        rig::{
            ChainIk, Collider, Feet, FeetAction, FootPlan, GoalAction, Ik, IkScratch, LegJoints,
            LimbJoints, LookAction, LookChain, LookState, RigAction, RigJoints, RigScratch,
            SpringAction, SpringChain, SpringFrame, SpringScratch, SpringSettings, SpringState,
            Springs, TwoBoneIk,
        },
    },
    model::{Joint, JointIndex, JointTransform, Skeleton},
    rig::{GroundHit, Limb, PoleAngle, RigState},
};
use fastrand::Rng;
use glam::{Affine3A, Quat, Vec3};
use std::time::Duration;

const FRAMES: usize = 6;

/// Joints, parents first.
struct Forest {
    parents: Vec<Option<usize>>,
    rests: Vec<JointTransform>,
    /// The rotations of each frame.
    poses: Vec<Vec<Quat>>,
}

fn rotation(rng: &mut Rng, most: f32) -> Quat {
    let axis = Vec3::new(rng.f32() - 0.5, rng.f32() - 0.5, rng.f32() - 0.5)
        .try_normalize()
        .unwrap_or(Vec3::X);
    Quat::from_axis_angle(axis, most * (2.0 * rng.f32() - 1.0))
}

impl Forest {
    fn random(rng: &mut Rng) -> Self {
        // More than 128 joints are updated in another way.
        let count = if rng.u8(..4) == 0 {
            rng.usize(100..220)
        } else {
            rng.usize(4..40)
        };
        let spread = rng.usize(1..12);
        let parents: Vec<Option<usize>> = (0..count)
            .map(|joint| match rng.usize(..20) {
                0 => None,
                // Long chains, or bushes.
                _ => joint
                    .checked_sub(1)
                    .map(|last| last - rng.usize(..=last.min(spread))),
            })
            .collect();
        let place =
            |rng: &mut Rng| Vec3::new(rng.f32() - 0.5, rng.f32() - 0.3, rng.f32() - 0.5) * 0.4;
        let rests = (0..count)
            .map(|_| JointTransform::new(place(rng), rotation(rng, 0.8)))
            .collect::<Vec<_>>();
        let poses = (0..FRAMES)
            .map(|_| {
                rests
                    .iter()
                    .map(|rest| rotation(rng, 0.4) * rest.rotation)
                    .collect()
            })
            .collect();
        Self {
            parents,
            rests,
            poses,
        }
    }

    fn children(&self, of: Option<usize>) -> Vec<usize> {
        (0..self.parents.len())
            .filter(|joint| self.parents[*joint] == of)
            .collect()
    }

    fn depth_first(&self, of: Option<usize>, order: &mut Vec<usize>) {
        for joint in self.children(of) {
            order.push(joint);
            self.depth_first(Some(joint), order);
        }
    }

    fn breadth_first(&self) -> Vec<usize> {
        let mut order = self.children(None);
        let mut at = 0;
        while at < order.len() {
            order.extend(self.children(Some(order[at])));
            at += 1;
        }
        order
    }

    fn topological(&self, rng: &mut Rng) -> Vec<usize> {
        let (mut ready, mut order) = (self.children(None), Vec::new());
        while !ready.is_empty() {
            let joint = ready.swap_remove(rng.usize(..ready.len()));
            order.push(joint);
            ready.extend(self.children(Some(joint)));
        }
        order
    }

    fn orders(&self, rng: &mut Rng) -> Vec<Ordered<'_>> {
        let mut depth_first = Vec::new();
        self.depth_first(None, &mut depth_first);
        let orders = [
            depth_first,
            self.breadth_first(),
            self.topological(rng),
            self.topological(rng),
        ];
        orders
            .into_iter()
            .map(|order| Ordered::new(self, order))
            .collect()
    }

    /// A random joint and those above it, nearest first: at least so many in all, if there are any such.
    fn way_up(&self, least: usize, rng: &mut Rng) -> Option<Vec<usize>> {
        (0..30).find_map(|_| {
            let joint = rng.usize(..self.parents.len());
            let way: Vec<usize> =
                std::iter::successors(Some(joint), |joint| self.parents[*joint]).collect();
            (way.len() >= least).then_some(way)
        })
    }
}

/// A forest as a skeleton in some order.
struct Ordered<'f> {
    forest: &'f Forest,
    skeleton: Skeleton,
    /// The index of each of the forest's joints.
    place: Vec<JointIndex>,
}

impl<'f> Ordered<'f> {
    fn new(forest: &'f Forest, order: Vec<usize>) -> Self {
        let mut place = vec![0; order.len()];
        order
            .iter()
            .enumerate()
            .for_each(|(at, joint)| place[*joint] = at as JointIndex);
        let joint = |&old: &usize| Joint {
            name: format!("joint {old}").into(),
            parent: forest.parents[old].map(|parent| place[parent]),
            rest: forest.rests[old],
            inverse_bind: Affine3A::IDENTITY,
        };
        let skeleton = Skeleton::new(order.iter().map(joint).collect()).unwrap();
        Self {
            forest,
            skeleton,
            place,
        }
    }

    /// Acts on each frame's pose. Returns the joints' matrices, in the forest's order, and checks that they are up to date.
    fn play(&self, mut act: impl FnMut(usize, &mut PoseMut)) -> Vec<Affine3A> {
        let mut all = Vec::new();
        let (mut local, mut model) = (
            self.skeleton.rest().to_vec(),
            vec![Affine3A::NAN; self.skeleton.len()],
        );
        for (frame, pose) in self.forest.poses.iter().enumerate() {
            local.copy_from_slice(self.skeleton.rest());
            for (rotation, place) in pose.iter().zip(&self.place) {
                let place = usize::from(*place);
                local[place / 4].rotation.set(place % 4, *rotation);
            }
            let mut pose = PoseMut::from_local(&self.skeleton, &mut local, &mut model);
            pose.update();
            act(frame, &mut pose);
            let mut whole = vec![Affine3A::IDENTITY; self.skeleton.len()];
            let job = LocalToModel {
                parents: self.skeleton.parents(),
                local: &local,
                root: None,
                unit_scale: false,
            };
            job.run(&mut whole);
            let late =
                (0..whole.len()).find(|joint| !model[*joint].abs_diff_eq(whole[*joint], 1e-5));
            assert_eq!(
                late, None,
                "the matrix of this joint is not that of its transforms"
            );
            all.extend(self.place.iter().map(|place| model[usize::from(*place)]));
        }
        all
    }
}

/// A way to move a skeleton. It draws the same numbers whatever the order of the joints.
type Solver = fn(&Ordered, &mut Rng) -> Vec<Affine3A>;

fn settings(rng: &mut Rng) -> SpringSettings {
    SpringSettings {
        frequency: 0.5 + 3.0 * rng.f32(),
        damping: 0.2 + rng.f32(),
        gravity: rng.f32(),
        drag: rng.f32(),
        radius: 0.02 * rng.f32(),
        max_angle: 0.5 + 3.0 * rng.f32(),
    }
}

fn springs_of(of: &Ordered, rng: &mut Rng) -> Springs {
    let count = of.place.len();
    let chains: Vec<SpringChain> = (0..1 + rng.usize(..5))
        .map(|_| SpringChain {
            root: of.place[rng.usize(..count)],
            settings: settings(rng),
            colliders: vec![0],
        })
        .collect();
    let joint = of.place[rng.usize(..count)];
    let collider = Collider {
        kind: Default::default(),
        joint,
        center: Vec3::Y * 0.1,
        end: Some(Vec3::X * 0.2),
        radius: 0.05,
    };
    Springs::new(&of.skeleton, &chains, &[collider])
}

fn springs(of: &Ordered, rng: &mut Rng) -> Vec<Affine3A> {
    let springs = springs_of(of, rng);
    let (mut state, mut scratch) = (SpringState::default(), SpringScratch::default());
    of.play(|frame, pose| {
        let time = frame as f32 / 60.0;
        let world = Affine3A::from_rotation_translation(
            Quat::from_rotation_y(time),
            Vec3::X * (3.0 * time),
        );
        let frame = SpringFrame {
            dt: 1.0 / 60.0,
            world,
            ..SpringFrame::default()
        };
        springs.run(&frame, &mut state, &mut scratch, pose);
    })
}

fn target(rng: &mut Rng) -> Vec3 {
    Vec3::new(rng.f32() - 0.5, rng.f32() - 0.5, rng.f32() - 0.5) * 2.0
}

fn look_chain(of: &Ordered, rng: &mut Rng) -> Option<LookChain> {
    let way = of.forest.way_up(3, rng)?;
    let joints: Vec<(JointIndex, f32)> = way[1..]
        .iter()
        .rev()
        .map(|joint| (of.place[*joint], 0.5))
        .collect();
    LookChain::new(&of.skeleton, &joints, &[of.place[way[0]]], Vec3::Z, Vec3::Y)
}

fn look(of: &Ordered, rng: &mut Rng) -> Vec<Affine3A> {
    let (chain, target) = (look_chain(of, rng), target(rng));
    let mut state = LookState::default();
    of.play(|_, pose| {
        if let Some(chain) = &chain {
            chain.run(&mut state, Some(target), 1.0, 1.0, pose);
        }
    })
}

fn limb(of: &Ordered, rng: &mut Rng) -> Option<Ik> {
    let way = of.forest.way_up(3, rng)?;
    let middle = rng.usize(1..way.len() - 1);
    let [root, mid, tip] = [way[way.len() - 1], way[middle], way[0]].map(|joint| of.place[joint]);
    let (pole, tip_rotation) = (Some(target(rng)), Some(rotation(rng, 1.0)));
    let pole_angle = if rng.bool() {
        PoleAngle::Bend(0.3)
    } else {
        PoleAngle::Blender(0.3)
    };
    Some(Ik::TwoBone(TwoBoneIk {
        pole,
        pole_angle,
        tip_rotation,
        ..TwoBoneIk::new([root, mid, tip], target(rng))
    }))
}

fn chain(of: &Ordered, rng: &mut Rng) -> Option<Ik> {
    let way = of.forest.way_up(3, rng)?;
    let [tip, root] = [way[0], way[way.len() - 1]].map(|joint| format!("joint {joint}"));
    // By their names, as manifests do.
    let Ok(LimbJoints::Chain { tip, bones }) = Limb::chain(root, tip).resolve(&of.skeleton) else {
        panic!("the joints form a chain")
    };
    let pole = rng.bool().then(|| target(rng));
    Some(Ik::Chain(ChainIk {
        pole,
        tip_rotation: Some(rotation(rng, 1.0)),
        ..ChainIk::new(tip, bones, target(rng))
    }))
}

fn limbs(of: &Ordered, rng: &mut Rng) -> Vec<Affine3A> {
    let goals: Vec<Ik> = [limb(of, rng), chain(of, rng), limb(of, rng)]
        .into_iter()
        .flatten()
        .collect();
    let mut scratch = IkScratch::default();
    of.play(|_, pose| {
        for goal in &goals {
            goal.run(&mut scratch, pose);
        }
    })
}

fn feet_of(of: &Ordered, rng: &mut Rng) -> Option<Feet> {
    let ways = [of.forest.way_up(4, rng)?, of.forest.way_up(4, rng)?];
    let hips = ways[0][ways[0].len() - 1];
    let legs = ways.iter().filter(|way| way[way.len() - 1] == hips);
    let leg = |way: &Vec<usize>| {
        let [tip, mid, root] = [way[0], way[1], way[2]].map(|joint| of.place[joint]);
        LegJoints {
            root,
            mid: Some(mid),
            tip,
            toe: None,
            heel: None,
        }
    };
    Feet::new(
        &of.skeleton,
        of.place[hips],
        &legs.map(leg).collect::<Vec<_>>(),
        Vec3::Y,
    )
}

/// All at once.
fn rig(of: &Ordered, rng: &mut Rng) -> Vec<Affine3A> {
    let (look, feet, springs) = (look_chain(of, rng), feet_of(of, rng), springs_of(of, rng));
    let goals: Vec<GoalAction> = [limb(of, rng), chain(of, rng)]
        .into_iter()
        .flatten()
        .map(GoalAction::new)
        .collect();
    let (target, height) = (target(rng), 0.2 * rng.f32());
    let joints = RigJoints {
        look: look.as_ref(),
        feet: feet.as_ref(),
        springs: Some(&springs),
        ..RigJoints::default()
    };
    let (mut state, mut scratch) = (RigState::default(), RigScratch::default());
    of.play(|_, pose| {
        let hit = Some(GroundHit {
            point: Vec3::Y * height,
            normal: Vec3::new(0.1, 1.0, 0.0),
        });
        let count = feet.as_ref().map_or(0, Feet::len);
        let plans = vec![
            FootPlan {
                weight: 1.0,
                landing: None
            };
            count
        ];
        let action = RigAction {
            dt: Duration::from_millis(16),
            look: Some(LookAction {
                target: Some(target),
                weight: 1.0,
                chain: None,
            }),
            goals: goals.clone(),
            feet: Some(FeetAction {
                weight: 1.0,
                plans,
                ground: vec![[hit; 3]; count],
            }),
            springs: Some(SpringAction {
                weight: 1.0,
                wind: Vec3::X,
                gravity: Vec3::NEG_Y * 9.81,
            }),
            ..RigAction::default()
        };
        action.run(&joints, &mut state, &mut scratch, pose);
    })
}

#[test]
fn two_chains_of_springs_side_by_side_are_both_up_to_date() {
    // A head with two braids whose joints take turns.
    let parents = [None, Some(0), Some(0), Some(1), Some(2), Some(3)];
    let rest = JointTransform::new(Vec3::new(0.02, -0.1, 0.05), Quat::IDENTITY);
    let poses = vec![vec![Quat::IDENTITY; 6]; FRAMES];
    let forest = Forest {
        parents: parents.to_vec(),
        rests: vec![rest; 6],
        poses,
    };
    let of = Ordered::new(&forest, (0..6).collect());
    let settings = SpringSettings {
        gravity: 1.0,
        ..SpringSettings::default()
    };
    let chains = [1, 2].map(|root| SpringChain {
        root,
        settings,
        colliders: vec![],
    });
    let springs = Springs::new(&of.skeleton, &chains, &[]);
    let (mut state, mut scratch) = (SpringState::default(), SpringScratch::default());
    let matrices = of.play(|frame, pose| {
        let world = Affine3A::from_translation(Vec3::X * 0.1 * frame as f32);
        springs.run(
            &SpringFrame {
                dt: 0.02,
                world,
                ..SpringFrame::default()
            },
            &mut state,
            &mut scratch,
            pose,
        );
    });
    // Both braids are alike as far as they go.
    for frame in matrices.chunks(6) {
        assert!(frame[1].abs_diff_eq(frame[2], 1e-6) && frame[3].abs_diff_eq(frame[4], 1e-6));
    }
}

#[test]
fn every_solver_does_the_same_whatever_the_order_of_the_joints() {
    let long = std::env::var("MARIONETTE_JOINT_ORDERS")
        .ok()
        .and_then(|count| count.parse().ok());
    let count: u64 = long.unwrap_or(150);
    let (mut compared, mut same) = (0_u32, 0);
    let solvers: [(&str, Solver); 4] = [
        ("springs", springs),
        ("look", look),
        ("limbs", limbs),
        ("rig", rig),
    ];
    for seed in 0..count {
        let mut rng = Rng::with_seed(seed);
        let forest = Forest::random(&mut rng);
        let orders = forest.orders(&mut rng);
        for (name, solver) in solvers {
            let all: Vec<Vec<Affine3A>> = orders
                .iter()
                .map(|order| solver(order, &mut Rng::with_seed(seed ^ 77)))
                .collect();
            for (order, matrices) in all.iter().enumerate().skip(1) {
                for (at, (a, b)) in all[0].iter().zip(matrices).enumerate() {
                    let joint = at % forest.parents.len();
                    assert!(
                        a.abs_diff_eq(*b, 1e-6),
                        "{name}, seed {seed}, order {order}, joint {joint}: {a} and {b}"
                    );
                    (compared, same) = (compared + 1, same + u32::from(a == b));
                }
            }
        }
    }
    println!("{count} forests, {compared} matrices, {same} of them the same to the bit");
}
