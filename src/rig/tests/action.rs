use super::*;
use crate::{
    model::{Joint, JointIndex, JointTransform, Skeleton},
    pose::simd::portably,
    rig::{Collider, Ik, LegJoints, SpringChain, SpringSettings, TwoBoneIk},
};
use glam::Quat;

/// Hips, spine and head with hair, an arm, and two legs.
fn skeleton() -> Skeleton {
    let leg = |side: f32| {
        [
            [side, -0.1, 0.0],
            [0.0, -0.4, 0.02],
            [0.0, -0.4, -0.02],
            [0.0, -0.08, 0.12],
        ]
        .map(Vec3::from_array)
    };
    let body = [
        [0.0, 1.0, 0.0],
        [0.0, 0.3, 0.01],
        [0.0, 0.3, 0.0],
        [0.0, 0.1, -0.1],
        [0.0, -0.1, -0.1],
    ];
    let arm = [[0.2, 0.2, 0.0], [0.3, 0.0, 0.01], [0.3, 0.0, 0.0]];
    let places: Vec<Vec3> = body
        .into_iter()
        .chain(arm)
        .map(Vec3::from_array)
        .chain(leg(0.1))
        .chain(leg(-0.1))
        .collect();
    let parents = [-1, 0, 1, 2, 3, 1, 5, 6, 0, 8, 9, 10, 0, 12, 13, 14];
    let joint = |(place, parent): (&Vec3, i32)| Joint {
        name: "".into(),
        parent: JointIndex::try_from(parent).ok(),
        rest: JointTransform::new(*place, Quat::from_rotation_x(0.01 * parent as f32)),
        inverse_bind: Affine3A::IDENTITY,
    };
    Skeleton::new(places.iter().zip(parents).map(joint).collect()).unwrap()
}

/// The matrices of a walk up a hill, as bits.
fn walk() -> Vec<u32> {
    let skeleton = skeleton();
    let look = LookChain::new(&skeleton, &[(1, 0.4), (2, 0.6)], &[], Vec3::Z, Vec3::Y).unwrap();
    let legs = [8, 12].map(|root| LegJoints {
        root,
        mid: None,
        tip: root + 2,
        toe: Some(root + 3),
        heel: None,
    });
    let feet = Feet::new(&skeleton, 0, &legs, Vec3::Y).unwrap();
    let settings = SpringSettings {
        gravity: 1.0,
        radius: 0.05,
        max_angle: 1.0,
        ..SpringSettings::default()
    };
    let hair = SpringChain {
        root: 3,
        settings,
        colliders: vec![0],
    };
    let neck = Collider {
        kind: Default::default(),
        joint: 1,
        center: Vec3::ZERO,
        end: Some(Vec3::Y * 0.2),
        radius: 0.1,
    };
    let springs = Springs::new(&skeleton, &[hair], &[neck]);
    let joints = RigJoints {
        look: Some(&look),
        feet: Some(&feet),
        springs: Some(&springs),
        ..RigJoints::default()
    };
    let (mut state, mut scratch) = (RigState::default(), RigScratch::default());
    let mut bits = Vec::new();
    for frame in 0..90_u64 {
        let time = frame as f32 / 60.0;
        let (mut local, mut model) = (skeleton.rest().to_vec(), skeleton.rest_model().to_vec());
        let mut pose = PoseMut::new(&skeleton, &mut local, &mut model);
        for (leg, turn) in [(8, 0.4), (12, -0.4)] {
            pose.set_rotation(leg, Quat::from_rotation_x(turn * (5.0 * time).sin()));
        }
        pose.update_from(0);
        let target = Vec3::new(0.6, 1.2 + 0.3 * time, 0.4);
        let pole = Some(Vec3::NEG_Z);
        let weight = 1.0;
        let world = Affine3A::from_rotation_translation(
            Quat::from_rotation_y(time),
            Vec3::new(0.0, 0.1, 0.5) * time,
        );
        let plans = [0, 1].map(|leg| FootPlan {
            weight: f32::from(frame / 15 % 2 == leg),
            landing: None,
        });
        let ground = [0, 1].map(|leg: usize| {
            let rays = feet.rays(leg, &plans[leg], &world, &state.feet, pose.model);
            let hit = |origin: Vec3| GroundHit {
                point: origin.with_y(0.2 * origin.z),
                normal: Vec3::new(0.0, 1.0, -0.2),
            };
            rays.map(|ray| ray.map(|ray| hit(ray.origin)))
        });
        let action = RigAction {
            dt: Duration::from_micros(15_000 + frame * 40),
            world,
            look: Some(LookAction {
                target: Some(target),
                weight,
                chain: None,
            }),
            goals: vec![GoalAction::new(Ik::TwoBone(TwoBoneIk {
                pole,
                ..TwoBoneIk::new([5, 6, 7], target)
            }))],
            feet: Some(FeetAction {
                weight,
                plans: plans.to_vec(),
                ground: ground.to_vec(),
            }),
            springs: Some(SpringAction {
                weight,
                wind: Vec3::X,
                gravity: Vec3::NEG_Y * 9.81,
            }),
            ..RigAction::default()
        };
        action.run(&joints, &mut state, &mut scratch, &mut pose);
        bits.extend(
            model
                .iter()
                .flat_map(|matrix| matrix.to_cols_array())
                .map(f32::to_bits),
        );
    }
    bits
}

#[test]
fn wide_and_portable_code_give_the_same_bits() {
    assert_eq!(walk(), portably(walk));
}
