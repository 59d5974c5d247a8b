//! Limbs against Blender's IK constraint: the same elbow for the same goal, pole and pole angle.

use bevy_marionette::{
    internals::{pose::PoseMut, rig::TwoBoneIk},
    model::{Joint, JointTransform, Skeleton},
    rig::PoleAngle,
};
use glam::{Affine3A, Mat4, Vec3};
use serde::Deserialize;

/// What `tests/blender/two_bone.py` wrote.
#[derive(Deserialize)]
struct Case {
    upper: [f32; 16],
    lower: [f32; 16],
    length: f32,
    goal: Vec3,
    pole: Vec3,
    angle: f32,
    elbow: Vec3,
    hand: Vec3,
}

#[test]
fn a_limb_bends_as_in_blender() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("rig/two_bone.json")).unwrap();
    assert!(
        cases.len() >= 80
            && cases
                .iter()
                .any(|case| case.angle.abs() > 0.1 && case.angle.abs() < 1.4)
    );
    let mut worst = 0.0_f32;
    for (index, case) in cases.iter().enumerate() {
        let matrix =
            |rows: &[f32; 16]| Affine3A::from_mat4(Mat4::from_cols_array(rows).transpose());
        let (upper, lower) = (matrix(&case.upper), matrix(&case.lower));
        let joint = |parent, local: Affine3A| Joint {
            name: "".into(),
            parent,
            rest: JointTransform {
                scale: Vec3::ONE,
                ..JointTransform::from_affine(local)
            },
            inverse_bind: Affine3A::IDENTITY,
        };
        let skeleton = Skeleton::new(vec![
            joint(None, upper),
            joint(Some(0), upper.inverse() * lower),
            joint(Some(1), Affine3A::from_translation(Vec3::Y * case.length)),
        ])
        .unwrap();
        let (mut local, mut model) = (skeleton.rest().to_vec(), skeleton.rest_model().to_vec());
        let mut pose = PoseMut::new(&skeleton, &mut local, &mut model);
        let limb = TwoBoneIk::new([0, 1, 2], case.goal);
        let (pole, pole_angle) = (Some(case.pole), PoleAngle::Blender(case.angle));
        assert!(
            TwoBoneIk {
                pole,
                pole_angle,
                ..limb
            }
            .run(&mut pose)
        );
        let length = pose.position(0).distance(pose.position(1)) + case.length;
        let [elbow, hand] = [(1, case.elbow), (2, case.hand)]
            .map(|(joint, at)| pose.position(joint).distance(at) / length);
        assert!(
            elbow < 1e-3 && hand < 1e-3,
            "case {index}, angle {}: {elbow} and {hand} of the limb's length",
            case.angle
        );
        worst = worst.max(elbow);
    }
    println!("elbows differ by at most {worst:.1e} of the limb's length");
}
