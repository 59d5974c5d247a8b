use super::*;
use crate::model::{ClipFrames, ClipTiming, Joint, PlaybackMode, RootDelta};
use fastrand::Rng;
use glam::{Affine3A, DVec3, EulerRot, Quat, Vec3A};

fn turn(random: &mut Rng, most: f32) -> Quat {
    let [x, y, z] = [0; 3].map(|_| (random.f32() * 2.0 - 1.0) * most);
    Quat::from_euler(EulerRot::XYZ, x, y, z)
}

fn point(random: &mut Rng, most: f32) -> Vec3 {
    Vec3::from_array([0; 3].map(|_| (random.f32() * 2.0 - 1.0) * most))
}

/// A body whose joints are in mirrored places, with axes of their own on each side; off the model's middle.
fn body(random: &mut Rng) -> Skeleton {
    let middle = 0.3;
    let places = [
        ("root", None, Vec3::new(middle, 0.0, 0.2)),
        ("spine", Some(0), Vec3::new(middle, 1.0, 0.1)),
        ("arm.L", Some(1), Vec3::new(middle + 0.3, 1.3, 0.0)),
        ("hand.L", Some(2), Vec3::new(middle + 0.9, 1.2, -0.2)),
        ("arm.R", Some(1), Vec3::new(middle - 0.3, 1.3, 0.0)),
        ("hand.R", Some(4), Vec3::new(middle - 0.9, 1.2, -0.2)),
    ];
    let frames: Vec<Affine3A> = places
        .iter()
        .map(|(_, _, at)| Affine3A::from_rotation_translation(turn(random, 3.0), *at))
        .collect();
    let joints = places
        .iter()
        .zip(&frames)
        .map(|(&(name, parent, _), frame)| Joint {
            name: name.into(),
            parent,
            rest: JointTransform {
                scale: Vec3::ONE,
                ..JointTransform::from_affine(parent.map_or(*frame, |parent: u16| {
                    frames[usize::from(parent)].inverse() * *frame
                }))
            },
            inverse_bind: Affine3A::IDENTITY,
        });
    Skeleton::new(joints.collect()).unwrap()
}

fn clip(random: &mut Rng, skeleton: &Skeleton, scaled: bool) -> SkeletalClip {
    let transforms = (0..7 * skeleton.len()).map(|i| {
        let rest = skeleton.rest_of((i % skeleton.len()) as JointIndex);
        let scale = if scaled {
            Vec3::ONE + point(random, 0.2)
        } else {
            Vec3::ONE
        };
        JointTransform {
            translation: rest.translation + point(random, 0.1),
            rotation: turn(random, 1.0) * rest.rotation,
            scale,
        }
    });
    let frames = ClipFrames {
        joints: skeleton.names().clone(),
        animated: [true, true, true, true, false, true].into(),
        transforms: transforms.collect(),
    };
    let mut timing = ClipTiming::new("step", 0.6);
    timing.playback = PlaybackMode::Once;
    SkeletalClip::at_times(timing, &frames, &[0.0, 0.1, 0.1, 0.2, 0.3, 0.5, 0.6]).unwrap()
}

/// The skin's movement from the rest pose, joint by joint.
fn moved(clip: &SkeletalClip, frame: usize, skeleton: &Skeleton) -> Vec<Affine3A> {
    let mut model: Vec<Affine3A> = Vec::new();
    for joint in skeleton.joints() {
        let (rest, at) = (skeleton.rest_of(joint), usize::from(joint));
        let local = match (clip.animates(at), clip.additive) {
            (true, true) => rest.plus(&clip.transform_at(at, frame)),
            (true, false) => clip.transform_at(at, frame),
            (false, _) => rest,
        };
        let parent =
            skeleton.parents()[at].map_or(Affine3A::IDENTITY, |parent| model[usize::from(parent)]);
        model.push(parent * local.to_affine());
    }
    model
        .iter()
        .zip(skeleton.rest_model())
        .map(|(now, rest)| *now * rest.inverse())
        .collect()
}

#[test]
fn a_mirrored_clip_moves_the_skin_as_in_a_mirror_whatever_the_joints_axes() {
    let mut random = Rng::with_seed(1);
    for round in 0..40 {
        let skeleton = body(&mut random);
        let clip = clip(&mut random, &skeleton, false);
        let clip = if round % 2 == 0 {
            clip
        } else {
            clip.to_additive(&skeleton).unwrap()
        };
        let mirrored = clip.mirrored(&skeleton).unwrap();
        assert_eq!(
            (mirrored.frame_times(), mirrored.additive),
            (clip.frame_times(), clip.additive)
        );
        assert!(mirrored.animates(4) && !mirrored.animates(2) && mirrored.timing == clip.timing);
        let image = |p: Vec3A| Vec3A::new(0.6 - p.x, p.y, p.z);
        for frame in 0..clip.frame_count() {
            let [there, here] = [&clip, &mirrored].map(|clip| moved(clip, frame, &skeleton));
            for (joint, other) in [(0, 0), (1, 1), (2, 4), (3, 5), (4, 2), (5, 3)] {
                let p = Vec3A::from(point(&mut random, 1.0));
                let expected = image(there[joint].transform_point3a(p));
                let found = here[other].transform_point3a(image(p));
                assert!(
                    found.distance(expected) < 2e-5,
                    "{round} {frame} {joint}: {found} is not {expected}"
                );
            }
        }
    }
}

#[test]
fn mirroring_twice_gives_the_clip_back() {
    let mut random = Rng::with_seed(2);
    let mut worst = 0.0_f32;
    for round in 0..40 {
        let skeleton = body(&mut random);
        let mut clip = clip(&mut random, &skeleton, round % 4 > 1);
        if round % 2 == 1 {
            clip = clip.to_additive(&skeleton).unwrap();
        }
        let places =
            [0.0, 0.3, 0.6].map(|t| RootDelta::new(DVec3::new(t * t, 0.1 * t, -t), 0.4 * t));
        clip.set_root_path(RootPath::new(&[0.0, 0.3, 0.6], &places).map(Arc::new));
        let back = clip
            .mirrored(&skeleton)
            .unwrap()
            .mirrored(&skeleton)
            .unwrap();
        assert_eq!(
            (back.root_path(), back.timing == clip.timing),
            (clip.root_path(), true)
        );
        for frame in 0..clip.frame_count() {
            for joint in (0..skeleton.len()).filter(|&joint| clip.animates(joint)) {
                let [a, b] = [&clip, &back].map(|clip| clip.transform_at(joint, frame));
                let turned =
                    (a.rotation - b.rotation * a.rotation.dot(b.rotation).signum()).length();
                let far = a
                    .translation
                    .distance(b.translation)
                    .max(a.scale.distance(b.scale))
                    .max(turned);
                worst = worst.max(far);
            }
        }
    }
    assert!(worst < 1e-6, "{worst:e}");
}

#[test]
fn a_scaled_joint_is_scaled_along_the_mirrored_axes() {
    // The left arm's y is the right arm's z.
    let arm = |name: &str, x: f32, rotation| Joint {
        name: name.into(),
        parent: None,
        rest: JointTransform::new(Vec3::X * x, rotation),
        inverse_bind: Affine3A::IDENTITY,
    };
    let turned = Quat::from_rotation_x(std::f32::consts::FRAC_PI_2);
    let skeleton = Skeleton::new(vec![
        arm("arm.L", 1.0, Quat::IDENTITY),
        arm("arm.R", -1.0, turned),
    ])
    .unwrap();
    let still = skeleton.rest_of(1);
    let scaled = JointTransform {
        scale: Vec3::new(1.0, 2.0, 3.0),
        ..skeleton.rest_of(0)
    };
    let frames = ClipFrames {
        joints: skeleton.names().clone(),
        animated: vec![],
        transforms: vec![scaled, still],
    };
    let clip = SkeletalClip::new(ClipTiming::new("grow", 0.0), &frames).unwrap();
    let mirrored = clip.mirrored(&skeleton).unwrap();
    assert_eq!(mirrored.transform_at(1, 0).scale, Vec3::new(1.0, 3.0, 2.0));
    assert_eq!(mirrored.transform_at(0, 0).scale, Vec3::ONE);
}

#[test]
fn root_motion_and_callbacks_change_sides() {
    let mut random = Rng::with_seed(3);
    let skeleton = body(&mut random);
    let mut clip = clip(&mut random, &skeleton, false);
    let total = RootDelta::new(DVec3::new(0.5, 0.2, -1.0), 0.7);
    clip.set_root_path(RootPath::steady(0.6, total).map(Arc::new));
    let map =
        ron::from_str::<ron::Value>("{\"foot\": \"left\", \"loud\": [Some('L'), 2]}").unwrap();
    clip.timing.add_callback(0.1, "step", "left");
    clip.timing.add_callback(0.2, "grab_R", "hand.R");
    clip.timing.add_callback(0.3, "shout", "upright");
    clip.timing.add_callback(0.4, "step", map);
    let mirrored = clip.mirrored(&skeleton).unwrap();
    let way = mirrored.root_path().unwrap().total();
    assert!(
        way.translation.distance(DVec3::new(-0.5, 0.2, -1.0)) < 1e-12
            && (way.turn + 0.7).abs() < 1e-12
    );
    let keys: Vec<String> = mirrored
        .timing
        .callbacks
        .iter()
        .map(|k| format!("{} {}", k.name, ron::to_string(&k.data).unwrap()))
        .collect();
    assert_eq!(
        keys[..3],
        ["step \"right\"", "grab_L \"hand.L\"", "shout \"upright\""]
    );
    assert!(
        keys[3].contains("\"right\"") && keys[3].contains("'R'"),
        "{}",
        keys[3]
    );
    assert_eq!(mirrored.mirrored(&skeleton).unwrap().timing, clip.timing);
}

#[test]
fn pairs_that_names_do_not_tell_come_from_a_table() {
    let mut random = Rng::with_seed(4);
    let skeleton = body(&mut random);
    let names = ["root", "spine", "a", "b", "c", "d"].map(Arc::from);
    let renamed = skeleton.with_names(names);
    let mut clip = clip(&mut random, &skeleton, false);
    let expected = clip.mirrored(&skeleton).unwrap();
    clip.rename_joints(renamed.names().clone());
    let alone = clip.mirrored(&renamed).unwrap();
    assert!(!alone.animates(4));
    let paired = renamed.with_sides([(2, 4), (3, 5), (77, 1)]);
    let mut found = clip.mirrored(&paired).unwrap();
    found.rename_joints(skeleton.names().clone());
    assert_eq!(found, expected);
}
