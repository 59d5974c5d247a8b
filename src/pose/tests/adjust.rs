use super::*;
use crate::{
    model::{Joint, Skeleton, SoaTransform},
    pose::LocalToModel,
};
use glam::{Quat, Vec3};

fn skeleton() -> Skeleton {
    let rest = JointTransform {
        translation: Vec3::Y,
        rotation: Quat::from_rotation_z(0.4),
        scale: Vec3::splat(1.1),
    };
    let joint = |parent| Joint {
        name: "".into(),
        parent,
        rest,
        inverse_bind: Affine3A::IDENTITY,
    };
    Skeleton::new(
        [None, Some(0), Some(1), Some(2), Some(3), Some(1)]
            .map(joint)
            .to_vec(),
    )
    .unwrap()
}

fn run(overrides: &[JointOverride]) -> (Vec<SoaTransform>, Vec<Affine3A>) {
    let skeleton = skeleton();
    let (mut local, mut model) = (skeleton.rest().to_vec(), skeleton.rest_model().to_vec());
    let mut pose = PoseMut::new(&skeleton, &mut local, &mut model);
    apply_overrides(&mut pose, overrides);
    pose.update();
    let mut again = model.clone();
    LocalToModel {
        parents: skeleton.parents(),
        local: &local,
        root: None,
        unit_scale: false,
    }
    .run(&mut again);
    assert!(
        model
            .iter()
            .zip(&again)
            .all(|(a, b)| a.abs_diff_eq(*b, 1e-5)),
        "the matrices match the local pose"
    );
    (local, model)
}

fn target() -> JointTransform {
    JointTransform {
        translation: Vec3::new(3.0, -1.0, 2.0),
        rotation: Quat::from_rotation_x(1.0),
        scale: Vec3::splat(0.7),
    }
}

#[test]
fn a_joint_goes_where_it_is_placed_in_each_space() {
    let put = |space| JointOverride {
        space,
        ..JointOverride::local(2, target())
    };
    let (local, _) = run(&[put(JointSpace::Parent)]);
    assert_eq!(local[0].get(2), target());
    let (_, model) = run(&[put(JointSpace::Model)]);
    assert!(model[2].abs_diff_eq(target().to_affine(), 1e-5));
    let (_, model) = run(&[put(JointSpace::Joint)]);
    assert!(model[2].abs_diff_eq(skeleton().rest_model()[2] * target().to_affine(), 1e-5));
}

#[test]
fn a_model_space_override_sees_the_overrides_before_it() {
    let above = JointOverride::local(1, target());
    let below = JointOverride {
        space: JointSpace::Model,
        ..JointOverride::local(4, target())
    };
    for order in [[above, below], [above, above]] {
        let (_, model) = run(&order);
        assert_eq!(
            model[4].abs_diff_eq(target().to_affine(), 1e-5),
            order[1] == below
        );
    }
}

#[test]
fn half_a_weight_goes_half_way() {
    let rest = skeleton().rest_of(2);
    let (local, _) = run(&[JointOverride {
        weight: 0.5,
        ..JointOverride::local(2, target())
    }]);
    let got = local[0].get(2);
    assert!((got.translation - rest.translation.midpoint(target().translation)).length() < 1e-6);
    let (whole, half) = (
        rest.rotation.angle_between(target().rotation),
        rest.rotation.angle_between(got.rotation),
    );
    assert!((half - whole / 2.0).abs() < 1e-3);
}

#[test]
fn nonsense_is_ignored() {
    let nan = JointTransform {
        translation: Vec3::NAN,
        ..target()
    };
    let flat = JointTransform {
        scale: Vec3::ZERO,
        ..target()
    };
    let (local, _) = run(&[
        JointOverride::local(77, target()),
        JointOverride::local(2, nan),
        JointOverride {
            weight: f32::NAN,
            ..JointOverride::local(3, target())
        },
    ]);
    assert_eq!(local, skeleton().rest());
    let under_zero = JointOverride {
        space: JointSpace::Model,
        ..JointOverride::local(2, target())
    };
    let (_, model) = run(&[JointOverride::local(1, flat), under_zero]);
    assert!(model.iter().all(|m| m.is_finite()));
    let long = JointTransform {
        rotation: Quat::from_xyzw(0.0, 1e30, 0.0, 1e30),
        ..target()
    };
    let (local, _) = run(&[JointOverride::local(2, long)]);
    assert!((local[0].get(2).rotation.length() - 1.0).abs() < 1e-6);
}
