use super::*;
use crate::{
    model::{Joint, JointIndex, JointTransform, Skeleton},
    rig::{PoleAngle, math::direction},
};
use glam::{Affine3A, Quat, Vec3};

/// A chain of bones of length 1 along y from (0, 1, 0), each bent by `bend` about x.
fn chain(bones: usize, bend: f32) -> Skeleton {
    let joint = |i: usize| Joint {
        name: "".into(),
        parent: i.checked_sub(1).map(|p| p as JointIndex),
        rest: JointTransform::new(
            Vec3::Y,
            Quat::from_rotation_x(if i == 0 { 0.3 } else { bend }),
        ),
        inverse_bind: Affine3A::IDENTITY,
    };
    Skeleton::new((0..=bones).map(joint).collect()).unwrap()
}

fn run(skeleton: &Skeleton, ik: Ik) -> (bool, Vec<Vec3>) {
    let (mut local, mut model) = (skeleton.rest().to_vec(), skeleton.rest_model().to_vec());
    let mut pose = PoseMut::new(skeleton, &mut local, &mut model);
    let done = ik.run(&mut IkScratch::default(), &mut pose);
    for joint in 0..skeleton.len() {
        let transform = local[joint / 4].get(joint % 4);
        assert!(
            transform.is_finite() && (transform.rotation.length() - 1.0).abs() < 1e-5,
            "{transform:?}"
        );
        assert_eq!(
            transform.translation,
            skeleton.rest_of(joint as u16).translation,
            "no bone was stretched"
        );
    }
    (done, model.iter().map(|m| m.translation.into()).collect())
}

fn limb(target: Vec3) -> TwoBoneIk {
    TwoBoneIk::new([0, 1, 2], target)
}

const SHOULDER: Vec3 = Vec3::Y;

fn targets() -> impl Iterator<Item = Vec3> {
    let mut random = fastrand::Rng::with_seed(7);
    std::iter::repeat_with(move || Vec3::from_array([0; 3].map(|_| random.f32() * 2.0 - 1.0)))
        .take(500)
}

#[test]
fn two_bones_reach_every_target_within_reach_and_bend_towards_the_pole() {
    for bend in [0.0, 0.5, -0.5, 3.0] {
        for offset in targets() {
            let target = SHOULDER + offset;
            let pole = SHOULDER + offset.any_orthonormal_vector() * 5.0 + offset;
            let (done, at) = run(
                &chain(2, bend),
                Ik::TwoBone(TwoBoneIk {
                    pole: Some(pole),
                    ..limb(target)
                }),
            );
            assert!(
                done && at[2].distance(target) < 1e-4,
                "{bend} {target} {at:?}"
            );
            let elbow = (at[1] - SHOULDER).reject_from(offset);
            assert!(
                elbow
                    .normalize()
                    .dot((pole - SHOULDER).reject_from(offset).normalize())
                    > 0.999
            );
        }
    }
}

#[test]
fn a_hinge_keeps_bending_about_its_own_axis() {
    for offset in targets() {
        let skeleton = chain(2, 0.5);
        let (mut local, mut model) = (skeleton.rest().to_vec(), skeleton.rest_model().to_vec());
        let pole = Some(SHOULDER + offset.any_orthonormal_vector() * 9.0);
        let mut posed = PoseMut::new(&skeleton, &mut local, &mut model);
        assert!(
            TwoBoneIk {
                pole,
                ..limb(SHOULDER + offset)
            }
            .run(&mut posed)
        );
        let bend = local[0].get(1).rotation;
        assert!(bend.y.abs() < 1e-3 && bend.z.abs() < 1e-3, "{bend}");
    }
}

#[test]
fn out_of_reach_a_limb_points_straight_at_the_target() {
    for target in [
        Vec3::new(9.0, 4.0, 0.0),
        SHOULDER + Vec3::NEG_Z * 2.0,
        Vec3::X * 1e20,
    ] {
        let along = Vec3::from(direction((target - SHOULDER).into()).unwrap());
        let chain_ik = Ik::Chain(ChainIk {
            bones: 2,
            ..tail(2, target)
        });
        for ik in [Ik::TwoBone(limb(target)), chain_ik] {
            let (_, at) = run(&chain(2, 0.5), ik);
            assert!(at[2].distance(SHOULDER + along * 2.0) < 3e-3, "{at:?}");
        }
    }
}

#[test]
fn no_target_pole_or_pose_gives_nan() {
    let tips = run(
        &chain(4, 0.0),
        Ik::Chain(ChainIk {
            weight: 0.0,
            ..tail(4, Vec3::ZERO)
        }),
    )
    .1;
    let odd = [
        SHOULDER,
        Vec3::NAN,
        Vec3::INFINITY,
        Vec3::MAX,
        tips[2],
        tips[4],
        SHOULDER + Vec3::splat(1e-30),
    ];
    for target in odd {
        for pole in odd.map(Some).into_iter().chain([None]) {
            for bend in [0.0, 1.0, std::f32::consts::PI] {
                for weight in [0.0, 0.5, 1.0, f32::NAN] {
                    run(
                        &chain(4, bend),
                        Ik::TwoBone(TwoBoneIk {
                            pole,
                            weight,
                            ..limb(target)
                        }),
                    );
                    run(
                        &chain(4, bend),
                        Ik::Chain(ChainIk {
                            pole,
                            weight,
                            ..tail(4, target)
                        }),
                    );
                }
            }
        }
    }
}

#[test]
fn bones_of_no_length_and_joints_that_do_not_form_a_chain_leave_the_pose() {
    let still = Joint {
        name: "".into(),
        parent: None,
        rest: JointTransform::IDENTITY,
        inverse_bind: Affine3A::IDENTITY,
    };
    let below = |parent| Joint {
        parent: Some(parent),
        ..still.clone()
    };
    let dot = Skeleton::new(vec![still.clone(), below(0), below(1)]).unwrap();
    assert!(!run(&dot, Ik::TwoBone(limb(Vec3::X))).0);
    assert!(!run(&dot, Ik::Chain(tail(2, Vec3::X))).0);
    let arm = chain(2, 0.5);
    assert!(
        !run(
            &arm,
            Ik::TwoBone(TwoBoneIk {
                root: 1,
                mid: 0,
                tip: 2,
                ..limb(Vec3::X)
            })
        )
        .0
    );
    assert!(
        !run(
            &arm,
            Ik::TwoBone(TwoBoneIk {
                tip: 77,
                ..limb(Vec3::X)
            })
        )
        .0
    );
    assert!(!run(&arm, Ik::Chain(tail(77, Vec3::X))).0);
    assert!(
        !run(
            &arm,
            Ik::Chain(ChainIk {
                bones: 0,
                ..tail(2, Vec3::X)
            })
        )
        .0
    );
}

fn tail(tip: JointIndex, target: Vec3) -> ChainIk {
    ChainIk::new(tip, tip, target)
}

#[test]
fn a_chain_reaches_targets_within_reach_from_straight_and_bent() {
    for bend in [0.0, 0.4] {
        let far = targets()
            .map(|offset| offset * 2.0)
            .filter(|offset| offset.length() > 0.3);
        for target in far.map(|offset| SHOULDER + offset) {
            let (done, at) = run(&chain(4, bend), Ik::Chain(tail(4, target)));
            assert!(
                done && at[4].distance(target) < 4e-4,
                "{bend} {target}: {at:?}"
            );
        }
    }
}

#[test]
fn a_chain_of_unequal_bones_reaches_whatever_it_can() {
    let mut random = fastrand::Rng::with_seed(3);
    for case in 0..2000 {
        let bones = random.usize(2..9);
        let joint = |i: usize, length: f32, turn: Quat| Joint {
            name: "".into(),
            parent: i.checked_sub(1).map(|p| p as JointIndex),
            rest: JointTransform::new(Vec3::Y * length, turn),
            inverse_bind: Affine3A::IDENTITY,
        };
        let joints = (0..=bones).map(|i| {
            let turn = Quat::from_rotation_x(random.f32() * 3.0 - 1.5)
                * Quat::from_rotation_z(random.f32());
            joint(i, 0.1 + random.f32(), turn)
        });
        let skeleton = Skeleton::new(joints.collect()).unwrap();
        let lengths: Vec<f32> = (1..=bones)
            .map(|i| skeleton.rest_of(i as JointIndex).translation.length())
            .collect();
        let (reach, longest) = (
            lengths.iter().sum::<f32>(),
            lengths.iter().copied().fold(0.0, f32::max),
        );
        let nearest = (2.0 * longest - reach).max(0.0);
        let along =
            Vec3::new(random.f32() - 0.5, random.f32() - 0.5, random.f32() - 0.5).normalize();
        let root: Vec3 = skeleton.rest_model()[0].translation.into();
        let target = root + along * (nearest + (reach - nearest) * (0.02 + 0.97 * random.f32()));
        let (_, at) = run(&skeleton, Ik::Chain(tail(bones as JointIndex, target)));
        let miss = at[bones].distance(target);
        assert!(
            miss < 1e-4 * reach,
            "case {case}: {miss} of {reach}, {bones} bones"
        );
    }
}

#[test]
fn the_tip_takes_the_rotation_it_is_given() {
    let rotation = Quat::from_rotation_z(1.0) * Quat::from_rotation_y(-0.4);
    let target = SHOULDER + Vec3::new(0.8, 0.9, -0.3);
    let limb = Ik::TwoBone(TwoBoneIk {
        tip_rotation: Some(rotation),
        ..limb(target)
    });
    let chain_ik = Ik::Chain(ChainIk {
        tip_rotation: Some(rotation),
        bones: 2,
        ..tail(2, target)
    });
    for ik in [limb, chain_ik] {
        let skeleton = chain(2, 0.5);
        let (mut local, mut model) = (skeleton.rest().to_vec(), skeleton.rest_model().to_vec());
        let mut pose = PoseMut::new(&skeleton, &mut local, &mut model);
        assert!(ik.run(&mut IkScratch::default(), &mut pose));
        assert!(
            pose.model_rotation(2).dot(rotation).abs() > 0.999_999
                && pose.position(2).distance(target) < 1e-4
        );
    }
}

#[test]
fn an_angle_turns_the_bend_away_from_the_pole() {
    let target = SHOULDER + Vec3::Y * 1.2;
    let bend = |pole_angle| {
        let pole = Some(SHOULDER + Vec3::X * 3.0);
        let (_, at) = run(
            &chain(2, 0.5),
            Ik::TwoBone(TwoBoneIk {
                pole,
                pole_angle,
                ..limb(target)
            }),
        );
        (at[1] - SHOULDER).reject_from(Vec3::Y).normalize()
    };
    assert!(bend(PoleAngle::Bend(0.0)).distance(Vec3::X) < 1e-4);
    assert!(bend(PoleAngle::Bend(std::f32::consts::FRAC_PI_2)).distance(Vec3::NEG_Z) < 1e-4);
    // The bones of `chain` bend about x, so x is at a right angle to the bend.
    assert!(bend(PoleAngle::Blender(0.0)).dot(Vec3::X).abs() < 1e-3);
    assert!(
        bend(PoleAngle::Blender(std::f32::consts::FRAC_PI_2))
            .dot(Vec3::X)
            .abs()
            > 0.999
    );
}

#[test]
fn a_chain_bends_towards_its_pole() {
    let target = SHOULDER + Vec3::X * 3.0;
    for pole in [Vec3::Z, Vec3::NEG_Z, Vec3::NEG_Y] {
        let (_, at) = run(
            &chain(4, 0.4),
            Ik::Chain(ChainIk {
                pole: Some(SHOULDER + pole),
                ..tail(4, target)
            }),
        );
        let belly: Vec3 = at[1..4]
            .iter()
            .map(|p| (p - SHOULDER).reject_from(Vec3::X))
            .sum();
        assert!(belly.normalize().dot(pole) > 0.99, "{belly}");
    }
}

#[test]
fn half_a_weight_ends_between() {
    let target = SHOULDER + Vec3::new(1.0, 0.5, -0.7);
    let rest = chain(2, 0.5).rest_model()[2].translation;
    let (_, at) = run(
        &chain(2, 0.5),
        Ik::TwoBone(TwoBoneIk {
            weight: 0.5,
            ..limb(target)
        }),
    );
    let whole = target.distance(rest.into());
    assert!(at[2].distance(target) < 0.8 * whole && at[2].distance(rest.into()) < 0.8 * whole);
}
