//! Constraints and springs of VRM files, beside what three-vrm 3.5.5 makes of them.

use super::vrm::{angle, case, open, to_bevy};
use bevy_marionette::{
    import::{ConstraintEntry, Imported, Manifest},
    internals::{
        pose::PoseMut,
        rig::{
            Collider, Constraints, JointConstraint, LookState, SpringChain, SpringFrame,
            SpringScratch, SpringSettings, SpringState, Springs,
        },
    },
    model::{Joint, JointTransform, Skeleton},
    rig::{ColliderKind, ConstraintKind},
};
use glam::{Affine3A, DQuat, Quat, Vec2, Vec3};
use serde_json::Value;

fn manifest(imported: &Imported) -> Manifest {
    let manifest = Manifest::of_model("hero.vrm");
    manifest.with_embedded(&imported.embedded).into_owned()
}

fn turn(numbers: &Value) -> DQuat {
    let number = |at: usize| numbers[at].as_f64().unwrap();
    to_bevy(1, DQuat::from_array([0, 1, 2, 3].map(number)).normalize())
}

/// Seven constraints of all kinds that depend on each other, between nodes that are turned at rest, in eight poses.
#[test]
fn constraints_are_those_of_three_vrm() {
    let imported = open(&case("constraints.vrm"));
    let skeleton = &imported.model.skeleton;
    let constraints = manifest(&imported).resolve_constraints(skeleton);
    assert_eq!(constraints.joints().len(), 7);
    let all: Value = serde_json::from_slice(&case("constraints.json")).unwrap();
    for moment in all.as_array().unwrap() {
        let (mut local, mut model) = (skeleton.rest().to_vec(), skeleton.rest_model().to_vec());
        let mut pose = PoseMut::new(skeleton, &mut local, &mut model);
        for (name, numbers) in moment["pose"].as_object().unwrap() {
            let joint = skeleton.joint(name).unwrap();
            pose.set_rotation(joint, turn(numbers).as_quat());
            pose.update_later(joint);
        }
        constraints.solve(&mut pose);
        for (name, numbers) in moment["wanted"].as_object().unwrap() {
            let joint = skeleton.joint(name).unwrap();
            let off = angle(pose.rotation(joint).as_dquat(), turn(numbers));
            assert!(off < 1e-4, "{name}: {off}");
        }
    }
}

/// Ten targets around a head that is turned, for eyes that are joints, and for expressions.
#[test]
fn gazes_are_those_of_three_vrm() {
    let all: Value = serde_json::from_slice(&case("gaze.json")).unwrap();
    for kind in ["bone", "expression"] {
        let imported = open(&case(&format!("gaze_{kind}.vrm")));
        let skeleton = &imported.model.skeleton;
        let entry = manifest(&imported).look_at.unwrap();
        assert_eq!(
            entry.gaze.as_ref().unwrap().by_expressions,
            kind == "expression"
        );
        let chain = entry.resolve(skeleton).unwrap();
        let head = skeleton.joint("head").unwrap();
        for moment in all[kind].as_array().unwrap() {
            let (mut local, mut model) = (skeleton.rest().to_vec(), skeleton.rest_model().to_vec());
            let mut pose = PoseMut::new(skeleton, &mut local, &mut model);
            let turned = turn(&moment["head"]);
            pose.set_rotation(head, turned.as_quat());
            pose.update_from(head);
            let number = |at: usize| moment["target"][at].as_f64().unwrap() as f32;
            let target = Vec3::new(-number(0), number(1), -number(2));
            let mut state = LookState::default();
            chain.run(&mut state, Some(target), 1.0, 1.0 / 60.0, &mut pose);
            assert!(angle(pose.rotation(head).as_dquat(), turned) < 1e-5);
            let degrees = |at: &str| moment[at].as_f64().unwrap() as f32;
            let wanted = Vec2::new(degrees("yaw"), -degrees("pitch"));
            let found = state.gaze * 1.0_f32.to_degrees();
            assert!(
                (found - wanted).abs().max_element() < 1e-2,
                "{found} {wanted}"
            );
            for (eye, numbers) in ["leftEye", "rightEye"]
                .iter()
                .zip(moment["eyes"].as_array().into_iter().flatten())
            {
                let joint = skeleton.joint(eye).unwrap();
                let off = angle(pose.rotation(joint).as_dquat(), turn(numbers));
                assert!(off < 1e-4, "{eye}: {off}");
            }
            let gaze = chain.gaze.as_ref().unwrap();
            if let Some(weights) = moment["weights"].as_array() {
                // The targets are in the order left, right, up, down.
                let mut found = [0.0_f32; 4];
                for (shape, weight) in gaze.shown(state.gaze) {
                    shape
                        .iter()
                        .for_each(|(morph, share)| found[usize::from(*morph)] += weight * share);
                }
                for (found, wanted) in found.iter().zip(weights) {
                    let off = (f64::from(*found) - wanted.as_f64().unwrap()).abs();
                    assert!(off < 1e-4, "{found} {wanted}");
                }
            }
        }
    }
}

fn skeleton(parents: &[Option<u16>]) -> Skeleton {
    let joint = |(at, parent): (usize, &Option<u16>)| Joint {
        name: format!("j{at}").into(),
        parent: *parent,
        rest: JointTransform {
            translation: Vec3::Y,
            ..JointTransform::IDENTITY
        },
        inverse_bind: Affine3A::IDENTITY,
    };
    Skeleton::new(parents.iter().enumerate().map(joint).collect()).unwrap()
}

#[test]
fn constraints_that_depend_on_each_other_in_a_circle_lose_one() {
    let skeleton = skeleton(&[None, Some(0), Some(1), Some(0), Some(0)]);
    let of = |joint, source, kind| JointConstraint {
        joint,
        source,
        kind,
        weight: 1.0,
    };
    let aim = ConstraintKind::Aim(Vec3::Y);
    let sorted = |all: &[JointConstraint]| {
        let sorted = Constraints::new(&skeleton, all);
        let joints: Vec<u16> = sorted.joints().collect();
        (joints, sorted.circular().to_vec())
    };
    let turn = ConstraintKind::Rotation;
    // Each after the one it follows.
    let chain = [of(1, 3, turn), of(3, 4, turn), of(4, 0, turn)];
    assert_eq!(sorted(&chain), (vec![4, 3, 1], vec![]));
    let circle = [of(1, 3, turn), of(3, 4, turn), of(4, 1, turn)];
    assert_eq!(sorted(&circle), (vec![3, 1], vec![4]));
    assert_eq!(sorted(&[of(1, 1, turn)]), (vec![], vec![1]));
    // A joint can follow one below it, but can't point at it: where that is depends on the joint.
    assert_eq!(sorted(&[of(1, 2, turn)]), (vec![1], vec![]));
    assert_eq!(sorted(&[of(0, 2, aim)]), (vec![], vec![0]));
    // It points from where the one above it turned to.
    assert_eq!(
        sorted(&[of(2, 3, aim), of(1, 4, turn)]),
        (vec![1, 2], vec![])
    );
    // Nothing of these is known.
    let odd = ConstraintKind::Roll(Vec3::ZERO);
    let nan = ConstraintKind::Aim(Vec3::NAN);
    assert_eq!(
        sorted(&[of(1, 9, turn), of(9, 1, turn), of(1, 3, odd), of(1, 3, nan)]),
        (vec![], vec![])
    );
    let entry = |joint: &str, source: &str| ConstraintEntry {
        joint: joint.into(),
        source: source.into(),
        kind: turn,
        weight: 1.0,
    };
    let mut manifest = Manifest::of_model("hero.glb");
    manifest.constraints = vec![entry("j1", "j3"), entry("j1", "j4"), entry("j2", "tail")];
    let found = manifest.resolve_constraints(&skeleton);
    assert_eq!(found.joints().collect::<Vec<_>>(), [1]);
}

/// Bones of six chains of three, of many settings, while their character walks, turns, nods, and stops.
#[test]
fn springs_swing_like_those_of_three_vrm_at_60_frames_per_second() {
    let imported = open(&case("springs.vrm"));
    let skeleton = &imported.model.skeleton;
    let springs = manifest(&imported).resolve_springs(skeleton);
    let all: Value = serde_json::from_slice(&case("springs.json")).unwrap();
    let all: Vec<Vec<f32>> = serde_json::from_value(all).unwrap();
    let mut most = [0.0_f32; 6];
    let mut sums = [0.0_f64; 6];
    let mut at = 0;
    swing(&springs, skeleton, |model, frame| {
        if frame < 0 || frame % 6 != 0 {
            return;
        }
        for (k, (most, sum)) in most.iter_mut().zip(&mut sums).enumerate() {
            for i in 0..3 {
                let place = |i: usize| {
                    let joint = skeleton.joint(&format!("s{k}_{i}")).unwrap();
                    Vec3::from(model[usize::from(joint)].translation)
                };
                let bone = (place(i + 1) - place(i)).normalize();
                let wanted = Vec3::from_slice(&all[at][9 * k + 3 * i..]);
                let wanted = Vec3::new(-wanted.x, wanted.y, -wanted.z).normalize();
                let off = 2.0 * (0.5 * (bone - wanted).length()).asin().to_degrees();
                *most = most.max(off);
                *sum += f64::from(off * off) / (3.0 * 41.0);
            }
        }
        at += 1;
    });
    assert_eq!(at, all.len());
    let mean = sums.map(f64::sqrt);
    let is_near = most.iter().all(|off| *off < 3.0) && mean.iter().all(|off| *off < 0.4);
    assert!(is_near, "{most:?}° at most, {mean:?}° on average");
}

/// Lets springs swing in the character's motion. `see` gets world matrices, and the number of a frame.
fn swing(springs: &Springs, skeleton: &Skeleton, mut see: impl FnMut(&[Affine3A], i32)) {
    let (mut state, mut scratch) = (SpringState::default(), SpringScratch::default());
    let head = skeleton.joint("head").unwrap();
    for frame in -120..=240 {
        let t = (frame as f32 / 60.0).max(0.0);
        let all = t.min(1.0);
        let place = Vec3::new(
            -0.3 * (1.3 * t).sin() * all,
            0.03 * (11.0 * t).sin() * all,
            -(0.8 * t - 0.1 * t * t),
        );
        let world = Affine3A::from_rotation_translation(
            Quat::from_rotation_y(1.2 * (0.9 * t).sin() * all),
            place,
        );
        let (mut local, mut model) = (skeleton.rest().to_vec(), skeleton.rest_model().to_vec());
        let mut pose = PoseMut::new(skeleton, &mut local, &mut model);
        pose.set_rotation(head, Quat::from_rotation_x(-0.25 * (4.0 * t).sin() * all));
        pose.update_later(head);
        let frame_of = SpringFrame {
            dt: 1.0 / 60.0,
            world,
            ..SpringFrame::default()
        };
        springs.run(&frame_of, &mut state, &mut scratch, &mut pose);
        let model: Vec<Affine3A> = model.iter().map(|joint| world * *joint).collect();
        see(&model, frame);
    }
}

#[test]
fn ends_stay_inside_of_spheres_and_capsules_and_in_front_of_planes() {
    let skeleton = skeleton(&[None, Some(0), Some(1), Some(2)]);
    // The first bone goes from 2 m up to 3 m.
    let at = |y: f32| Vec3::Y * (y - 1.0);
    let collider = |kind, center, end, radius| Collider {
        kind,
        joint: 0,
        center,
        end,
        radius,
    };
    let side = Vec3::X * 0.2;
    let all = [
        collider(ColliderKind::Inside, at(2.8), None, 0.5),
        collider(
            ColliderKind::Inside,
            at(2.8) - side,
            Some(at(2.8) + side),
            0.4,
        ),
        collider(ColliderKind::Plane, at(2.6), Some(at(3.0)), 0.0),
        collider(ColliderKind::Plane, at(2.6), Some(at(2.9) + side), 0.0),
    ];
    let settings = SpringSettings {
        frequency: 0.2,
        gravity: 1.0,
        radius: 0.05,
        ..SpringSettings::default()
    };
    let fall = |collider: &Collider| {
        let chain = SpringChain {
            root: 1,
            settings,
            colliders: vec![0],
        };
        let springs = Springs::new(&skeleton, &[chain], &[*collider]);
        let (mut state, mut scratch) = (SpringState::default(), SpringScratch::default());
        let mut deepest = f32::MIN;
        for frame in 0..300 {
            let (mut local, mut model) = (skeleton.rest().to_vec(), skeleton.rest_model().to_vec());
            let mut pose = PoseMut::new(&skeleton, &mut local, &mut model);
            let wind = Vec3::X * 5.0 * (0.05 * frame as f32).sin();
            let frame = SpringFrame {
                dt: 1.0 / 60.0,
                wind,
                ..SpringFrame::default()
            };
            springs.run(&frame, &mut state, &mut scratch, &mut pose);
            let end = Vec3::from(model[2].translation) - Vec3::Y;
            let far = collider.end.unwrap_or(collider.center) - collider.center;
            let from = end - collider.center;
            let depth = match collider.kind {
                ColliderKind::Plane => settings.radius - from.dot(far.normalize()),
                _ => {
                    let along = from.dot(far) / far.length_squared().max(1e-9);
                    let out = from - far * along.clamp(0.0, 1.0);
                    out.length() + settings.radius - collider.radius
                }
            };
            deepest = deepest.max(depth);
        }
        deepest
    };
    for (at, collider) in all.iter().enumerate() {
        let depth = fall(collider);
        assert!((-1e-3..2e-3).contains(&depth), "{at}: {depth}");
    }
    // Without a direction, it isn't there.
    let flat = collider(ColliderKind::Plane, at(2.6), None, 0.5);
    assert_eq!(fall(&flat), f32::MIN);
}
