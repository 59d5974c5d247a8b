//! Retargeting, on the sample characters, on bodies of other builds, and on real files where there are any.

mod clip_files;
mod manifests;
mod measure;
mod real;
mod same_body;

use crate::messages::assert_message;
use bevy_marionette::{
    import::{ImportLimits, ImportSettings, Imported, Manifest, open_manifest, open_model},
    internals::{
        import::{Retarget, RetargetError},
        model::{Role, Roles, Side},
        pose::{ClipLayer, Evaluate, PoseMut, Scratch},
        rig::TwoBoneIk,
    },
    model::{ClipFrames, ClipTiming, Joint, JointTransform, SkeletalClip, Skeleton},
};
use fastrand::Rng;
use glam::{Affine3A, EulerRot, Quat, Vec3};
use measure::{Body, compare, fastest_of_slow_feet};
use std::{borrow::Cow, fs};

/// A sample character with its clips as they are in the files.
fn sample(name: &str) -> Imported {
    let folder = crate::asset(name);
    let file = format!("{name}.character.ron");
    let mut manifest = Manifest::parse(&file, &fs::read(folder.join(&file)).unwrap()).unwrap();
    for entry in manifest.clips.values_mut() {
        entry.root_motion = None;
    }
    let read = |file: &str| {
        fs::read(folder.join(file))
            .map(Cow::Owned)
            .map_err(|error| error.to_string())
    };
    open_manifest(&file, &manifest, &ImportLimits::default(), read).unwrap()
}

/// The left half and the middle of a body in a T pose that faces +Z, in centimeters: name, parent, place.
const BODY: [(&str, &str, [f32; 3]); 24] = [
    ("Hips", "", [0.0, 100.0, 0.0]),
    ("Spine", "Hips", [0.0, 110.0, -1.0]),
    ("Spine1", "Spine", [0.0, 122.0, -1.0]),
    ("Spine2", "Spine1", [0.0, 134.0, 0.0]),
    ("Neck", "Spine2", [0.0, 150.0, 0.0]),
    ("Head", "Neck", [0.0, 160.0, 2.0]),
    ("HeadTop_End", "Head", [0.0, 180.0, 2.0]),
    ("LeftShoulder", "Spine2", [5.0, 146.0, 0.0]),
    ("LeftArm", "LeftShoulder", [18.0, 146.0, -1.0]),
    ("LeftForeArm", "LeftArm", [46.0, 146.0, -2.0]),
    ("LeftHand", "LeftForeArm", [72.0, 146.0, -1.0]),
    ("LeftHandThumb1", "LeftHand", [75.0, 144.0, 4.0]),
    ("LeftHandIndex1", "LeftHand", [80.0, 146.0, 3.0]),
    ("LeftHandIndex2", "LeftHandIndex1", [84.0, 146.0, 3.0]),
    ("LeftHandIndex3", "LeftHandIndex2", [87.0, 146.0, 3.0]),
    ("LeftHandMiddle1", "LeftHand", [81.0, 146.0, 0.0]),
    ("LeftHandMiddle2", "LeftHandMiddle1", [85.0, 146.0, 0.0]),
    ("LeftHandRing1", "LeftHand", [80.0, 146.0, -3.0]),
    ("LeftHandPinky1", "LeftHand", [79.0, 146.0, -5.0]),
    ("LeftUpLeg", "Hips", [9.0, 96.0, 0.0]),
    ("LeftLeg", "LeftUpLeg", [10.0, 53.0, 1.0]),
    ("LeftFoot", "LeftLeg", [10.0, 9.0, -2.0]),
    ("LeftToeBase", "LeftFoot", [11.0, 2.0, 10.0]),
    ("LeftToe_End", "LeftToeBase", [11.0, 2.0, 18.0]),
];

/// The same of a stocky body with Unreal's names: a big head, wide hips, short legs with big feet, and forearms much longer than
/// upper arms. It has joints that only twist, wrists between forearms and hands, and sockets.
const STOCKY: [(&str, &str, [f32; 3]); 18] = [
    ("root", "", [0.0, 0.0, 0.0]),
    ("pelvis", "root", [0.0, 45.0, 0.0]),
    ("spine_01", "pelvis", [0.0, 60.0, 0.0]),
    ("spine_02", "spine_01", [0.0, 90.0, 0.0]),
    ("head", "spine_02", [0.0, 124.0, 0.0]),
    ("upperarm_l", "spine_02", [21.0, 110.0, 0.0]),
    ("upperarm_twist_01_l", "upperarm_l", [33.0, 110.0, -1.0]),
    ("lowerarm_l", "upperarm_l", [45.0, 110.0, -1.4]),
    ("lowerarm_twist_01_l", "lowerarm_l", [58.0, 110.0, -1.0]),
    ("wrist_l", "lowerarm_l", [71.0, 110.0, 0.0]),
    ("hand_l", "wrist_l", [78.7, 110.0, 0.0]),
    ("weapon_l", "hand_l", [84.0, 108.0, 4.0]),
    ("thigh_l", "pelvis", [17.0, 52.0, 0.0]),
    ("thigh_twist_01_l", "thigh_l", [17.0, 40.0, 0.4]),
    ("calf_l", "thigh_l", [17.0, 29.2, 0.8]),
    ("calf_twist_01_l", "calf_l", [17.0, 22.0, -0.5]),
    ("foot_l", "calf_l", [17.0, 14.5, -1.9]),
    ("ball_l", "foot_l", [17.0, 2.6, 9.6]),
];

/// A body of its left half and its middle, each joint with axes of its own. `right` turns a left joint's name into that of its
/// counterpart.
fn body(half: &[(&str, &str, [f32; 3])], prefix: &str, right: impl Fn(&str) -> String) -> Skeleton {
    let mut random = Rng::with_seed(7);
    let mut names: Vec<(String, String, Vec3)> = Vec::new();
    for (name, parent, place) in half {
        names.push(((*name).into(), (*parent).into(), (*place).into()));
    }
    for (name, parent, [x, y, z]) in half.iter().filter(|(name, ..)| right(name) != *name) {
        names.push((right(name), right(parent), Vec3::new(-x, *y, *z)));
    }
    let mut frames: Vec<Affine3A> = Vec::new();
    let mut joints = Vec::new();
    for (name, parent, place) in &names {
        let mut angle = || random.f32() * 6.0 - 3.0;
        let turn = Quat::from_euler(EulerRot::XYZ, angle(), angle(), angle());
        let frame = Affine3A::from_rotation_translation(turn, *place);
        let parent = names.iter().position(|(name, ..)| name == parent);
        let local = parent.map_or(frame, |parent| frames[parent].inverse() * frame);
        let rest = JointTransform {
            scale: Vec3::ONE,
            ..JointTransform::from_affine(local)
        };
        frames.push(frame);
        joints.push(Joint {
            name: format!("{prefix}{name}").into(),
            parent: parent.map(|parent| parent as u16),
            rest,
            inverse_bind: frame.inverse(),
        });
    }
    Skeleton::new(joints).unwrap()
}

fn mixamo() -> Skeleton {
    body(&BODY, "mixamorig:", |name| name.replace("Left", "Right"))
}

fn stocky() -> Skeleton {
    let right = |name: &str| {
        name.strip_suffix("_l")
            .map_or(name.to_owned(), |name| format!("{name}_r"))
    };
    body(&STOCKY, "", right)
}

fn retarget(source: &Skeleton, target: &Skeleton, clip: &SkeletalClip) -> SkeletalClip {
    let (from, to) = (Roles::infer(source), Roles::infer(target));
    Retarget::new(source, &from, target, &to)
        .unwrap()
        .run(clip, &ImportLimits::default())
        .unwrap()
}

/// What a retargeted clip may be off by; see [`Found`].
#[derive(Clone, Copy)]
struct Bounds {
    arms: f32,
    legs: f32,
    hands: f32,
}

/// Bodies that differ as people do.
const ALIKE: Bounds = Bounds {
    arms: 2.5,
    legs: 6.5,
    hands: 0.005,
};
/// Where bones have other shares of a limb and feet are larger, limbs have to bend otherwise for hands and feet to be in place.
const UNLIKE: Bounds = Bounds {
    arms: 25.0,
    legs: 41.0,
    hands: 0.005,
};

/// Compares a clip with what it becomes, and returns the latter.
#[track_caller]
fn check(
    what: &str,
    source: &Body,
    target: &Body,
    clip: &SkeletalClip,
    bounds: Bounds,
) -> SkeletalClip {
    let made = retarget(source.skeleton, target.skeleton, clip);
    let found = compare(source, clip, target, &made);
    println!("{what} {}: {found}", clip.timing.name);
    let wrong = found.exceeds(bounds.arms, bounds.legs, bounds.hands);
    assert!(
        wrong.is_none(),
        "{what} {}: {} too far off: {found}",
        clip.timing.name,
        wrong.unwrap_or_default()
    );
    made
}

/// All of Scout's clips on another body, and from there back on Scout. Returns how far joints are off then, in
/// meters.
#[track_caller]
fn there_and_back(other: &Skeleton, meter: f32, bounds: Bounds) -> f32 {
    let scout = sample("scout").model;
    let (source, target) = (Body::new(&scout.skeleton, 1.0), Body::new(other, meter));
    assert!(scout.clips.len() >= 9);
    let mut worst = 0.0_f32;
    for clip in &scout.clips {
        let there = check("there", &source, &target, clip, bounds);
        assert_eq!(there.timing, clip.timing);
        let back = check("back", &target, &source, &there, bounds);
        let again = compare(&source, clip, &source, &back);
        println!("again {}: {again}", clip.timing.name);
        worst = worst.max(again.places);
    }
    worst
}

#[test]
fn scout_s_clips_play_on_a_body_with_mixamo_s_names_and_back() {
    let places = there_and_back(&mixamo(), 0.01, ALIKE);
    assert!(places < 0.05, "{places}");
}

#[test]
fn scout_s_clips_play_on_a_stocky_body_and_back() {
    there_and_back(&stocky(), 0.01, UNLIKE);
}

#[test]
fn scout_and_the_mannequin_play_each_other_s_clips() {
    let path = crate::asset("mannequin/mannequin.glb");
    let opened = open_model(
        "mannequin.glb",
        &fs::read(path).unwrap(),
        &ImportSettings::default(),
    )
    .unwrap();
    let mannequin = opened.model;
    let places = there_and_back(&mannequin.skeleton, 1.0, ALIKE);
    assert!(places < 0.05, "{places}");
    let scout = sample("scout").model.skeleton;
    let [source, target] = [&mannequin.skeleton, &scout].map(|skeleton| Body::new(skeleton, 1.0));
    for clip in &mannequin.clips {
        check("mannequin", &source, &target, clip, ALIKE);
    }
}

#[test]
fn feet_that_hardly_move_near_the_ground_hardly_move_on_other_bodies() {
    let scout = sample("scout").model;
    let (mixamo, stocky) = (mixamo(), stocky());
    let source = Body::new(&scout.skeleton, 1.0);
    let mut wrong = Vec::new();
    for (name, other) in [("mixamo", &mixamo), ("stocky", &stocky)] {
        let target = Body::new(other, 0.01);
        for clip in &scout.clips {
            let made = retarget(&scout.skeleton, other, clip);
            let [found, own] = fastest_of_slow_feet((&source, clip), (&target, &made));
            println!(
                "{name} {}: {found:.3} (source {own:.3}) legs/s",
                clip.timing.name
            );
            if found > 0.1 {
                wrong.push((name, clip.timing.name.to_string(), found));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn joints_that_twist_and_sockets_stay_where_they_are_on_their_parents() {
    let scout = sample("scout").model;
    let other = stocky();
    let jog = scout
        .clips
        .iter()
        .find(|clip| &*clip.timing.name == "jog")
        .unwrap();
    let made = retarget(&scout.skeleton, &other, jog);
    let mut scratch = Scratch::default();
    for time in [0.0, 0.1, 0.25, 0.4] {
        Evaluate::new(&other, &[ClipLayer::new(&made, time)]).run(&mut scratch);
        for name in [
            "upperarm_twist_01",
            "lowerarm_twist_01",
            "wrist",
            "weapon",
            "thigh_twist_01",
            "calf_twist_01",
        ] {
            for joint in ["l", "r"].map(|side| other.joint(&format!("{name}_{side}")).unwrap()) {
                assert!(!made.animates(usize::from(joint)), "{name}");
                let parent = other.parents()[usize::from(joint)].unwrap();
                let [own, above] = [joint, parent].map(|joint| scratch.model()[usize::from(joint)]);
                let rest = other.rest_of(joint).to_affine();
                assert!(
                    (above.inverse() * own).abs_diff_eq(rest, 1e-3),
                    "{name} at {time}"
                );
            }
        }
    }
}

#[test]
fn a_clip_retargeted_to_its_own_skeleton_is_the_same() {
    let scout = sample("scout").model;
    let body = Body::new(&scout.skeleton, 1.0);
    for clip in &scout.clips {
        let same = compare(
            &body,
            clip,
            &body,
            &retarget(&scout.skeleton, &scout.skeleton, clip),
        );
        assert!(
            same.places < 1e-5 && same.arms < 0.1 && same.head < 0.1,
            "{}: {same}",
            clip.timing.name
        );
    }
}

#[test]
fn joints_without_a_counterpart_are_left_alone_and_the_report_says_so() {
    let scout = sample("scout").model;
    let other = mixamo();
    let map = Retarget::new(
        &other,
        &Roles::infer(&other),
        &scout.skeleton,
        &Roles::infer(&scout.skeleton),
    )
    .unwrap();
    let report = map.report();
    let mapped = |role: &str| {
        report
            .mapped
            .iter()
            .find(|[found, ..]| found == role)
            .map(|[_, own, from]| [&**own, from])
    };
    assert_eq!(
        mapped("upper_arm.R"),
        Some(["upper_arm.R", "mixamorig:RightArm"])
    );
    assert_eq!(mapped("spine.3"), Some(["upper_chest", "mixamorig:Spine2"]));
    assert!(
        report.unmapped.iter().any(|joint| joint == "hair.1")
            && !report.unmapped.iter().any(|joint| joint == "head")
    );
    assert!(
        report.lost.iter().any(|role| role == "little.1.L")
            && report.at_rest.iter().any(|role| role == "thumb.2.L")
    );
    assert!(report.ratio < 0.02, "{}", report.ratio);
    let there = retarget(&scout.skeleton, &other, &scout.clips[0]);
    let back = map.run(&there, &ImportLimits::default()).unwrap();
    for joint in scout.skeleton.joints() {
        let name = scout.skeleton.name(joint);
        let is_mapped = report.mapped.iter().any(|[_, own, _]| **own == **name);
        assert_eq!(back.animates(usize::from(joint)), is_mapped, "{name}");
    }
}

#[test]
fn a_clip_of_the_upper_body_leaves_the_legs_to_others_and_differences_stay_differences() {
    let scout = sample("scout").model;
    let other = mixamo();
    let wave = scout
        .clips
        .iter()
        .find(|clip| &*clip.timing.name == "wave")
        .unwrap();
    let mut frames = wave.to_frames();
    let arm = scout.skeleton.joint("clavicle.R").unwrap();
    let within = |joint: u16| joint == arm || scout.skeleton.descends(joint, arm);
    frames.animated = scout.skeleton.joints().map(within).collect();
    let upper = SkeletalClip::new(wave.timing.clone(), &frames).unwrap();
    let made = retarget(&scout.skeleton, &other, &upper);
    let animates = |name: &str| {
        made.animates(usize::from(
            other.joint(&format!("mixamorig:{name}")).unwrap(),
        ))
    };
    assert!(
        animates("RightForeArm")
            && !animates("LeftForeArm")
            && !animates("Hips")
            && !animates("RightFoot")
    );

    let additive = retarget(
        &scout.skeleton,
        &other,
        &wave.to_additive(&scout.skeleton).unwrap(),
    );
    assert!(additive.additive && additive.frame_count() > 60);
    let forearm = usize::from(other.joint("mixamorig:RightForeArm").unwrap());
    let first = additive.transform_at(forearm, 0);
    assert!(
        first.translation.length() < 1e-3 && first.rotation.abs_diff_eq(Quat::IDENTITY, 1e-3),
        "{first:?}"
    );
    let widest = (0..additive.frame_count()).map(|frame| {
        additive
            .transform_at(forearm, frame)
            .rotation
            .to_axis_angle()
            .1
    });
    assert!(widest.fold(0.0, f32::max) > 0.2);
}

#[test]
fn frames_keep_their_numbers_where_others_are_added_between_them() {
    let source = mixamo();
    let rest: Vec<JointTransform> = (0..source.len())
        .map(|joint| source.rest_of(joint as u16))
        .collect();
    let frames = ClipFrames {
        joints: source.names().clone(),
        animated: vec![true; source.len()],
        transforms: rest.repeat(13),
    };
    let clip = SkeletalClip::new(ClipTiming::new("slow", 1.0), &frames).unwrap();
    let made = retarget(&source, &stocky(), &clip);
    assert_eq!((made.frame_count(), made.frame_rate()), (61, Some(12.0)));
}

#[test]
fn steps_and_uneven_frames_stay_where_they_are() {
    let scout = sample("scout").model.skeleton;
    let other = mixamo();
    let rest: Vec<JointTransform> = scout.joints().map(|joint| scout.rest_of(joint)).collect();
    let mut bent = rest.clone();
    let elbow = usize::from(scout.joint("forearm.L").unwrap());
    bent[elbow].rotation *= Quat::from_rotation_z(1.0);
    let transforms = [rest.clone(), rest.clone(), bent.clone(), bent].concat();
    let frames = ClipFrames {
        joints: scout.names().clone(),
        animated: vec![],
        transforms,
    };
    let clip = SkeletalClip::at_times(ClipTiming::new("jerk", 1.0), &frames, &[0.0, 0.4, 0.4, 1.0])
        .unwrap();
    let made = retarget(&scout, &other, &clip);
    let times = made.frame_times().expect("a step");
    let step = times
        .windows(2)
        .position(|pair| pair[0] == pair[1])
        .unwrap();
    assert_eq!(times[step], 0.4);
    let forearm = usize::from(other.joint("mixamorig:LeftForeArm").unwrap());
    let [before, after] = [step, step + 1].map(|frame| made.transform_at(forearm, frame).rotation);
    // Arms of other proportions bend a little otherwise.
    assert!(
        (before.angle_between(after) - 1.0).abs() < 0.1,
        "{}",
        before.angle_between(after)
    );
    assert_eq!(
        made.transform_at(forearm, 0)
            .rotation
            .dot(before)
            .abs()
            .min(0.9999),
        0.9999
    );
}

#[test]
fn feet_land_when_the_source_s_do_where_frames_are_uneven() {
    let scout = sample("scout").model.skeleton;
    let other = mixamo();
    let rest: Vec<JointTransform> = scout.joints().map(|joint| scout.rest_of(joint)).collect();
    let hips = usize::from(scout.joint("hips").unwrap());
    // A jump that lands between the sixtieths of a second.
    let pose = |x: f32, y: f32| {
        let mut pose = rest.clone();
        pose[hips].translation += Vec3::new(x, y, 0.0);
        pose
    };
    let transforms = [
        pose(0.0, 0.0),
        pose(0.0, 0.3),
        pose(0.4, 0.0),
        pose(0.4, 0.0),
    ]
    .concat();
    let frames = ClipFrames {
        joints: scout.names().clone(),
        animated: vec![],
        transforms,
    };
    let (times, landing) = ([0.0, 0.2, 0.309, 1.0], 0.309);
    let clip = SkeletalClip::at_times(ClipTiming::new("jump", 1.0), &frames, &times).unwrap();
    let made = retarget(&scout, &other, &clip);
    let kept = made.frame_times().expect("uneven frames");
    assert!(times.iter().all(|time| kept.contains(time)), "{kept:?}");
    let foot = usize::from(other.joint("mixamorig:LeftFoot").unwrap());
    let place = |time: f64| {
        let mut scratch = Scratch::default();
        Evaluate::new(&other, &[ClipLayer::new(&made, time)]).run(&mut scratch);
        scratch.model()[foot].translation
    };
    let slid = place(landing).distance(place(landing + 0.02));
    assert!(slid < 0.1, "{slid} cm");
}

/// A pose of the stocky body: how its hips, and each foot, which keeps its rotation, move from rest, in model space.
fn stand(body: &Skeleton, hips: Affine3A, feet: [Vec3; 2]) -> Vec<JointTransform> {
    let joint = |name: &str| body.joint(name).unwrap();
    let (mut local, mut model) = (body.rest().to_vec(), body.rest_model().to_vec());
    let mut pose = PoseMut::new(body, &mut local, &mut model);
    let [above, pelvis] =
        ["root", "pelvis"].map(|name| body.rest_model()[usize::from(joint(name))]);
    let place = Affine3A::from_translation(pelvis.translation.into());
    let local = above.inverse() * place * hips * place.inverse() * pelvis;
    pose.set_transform(
        joint("pelvis"),
        JointTransform {
            scale: Vec3::ONE,
            ..JointTransform::from_affine(local)
        },
    );
    pose.update_from(joint("pelvis"));
    for (side, foot) in ["l", "r"].into_iter().zip(feet) {
        let limb = ["thigh", "calf", "foot"].map(|bone| joint(&format!("{bone}_{side}")));
        let rest = body.rest_model()[usize::from(limb[2])];
        let target = Vec3::from(rest.translation) + foot;
        let pole = Some(pose.position(limb[0]) + Vec3::Z * 500.0);
        let tip_rotation = Some(Quat::from_mat3a(&rest.matrix3));
        TwoBoneIk {
            pole,
            tip_rotation,
            ..TwoBoneIk::new(limb, target)
        }
        .run(&mut pose);
    }
    body.joints().map(|joint| pose.transform(joint)).collect()
}

/// A clip of the stocky body, with a frame every 1/60 s.
fn stocky_clip(
    name: &str,
    seconds: f64,
    pose: impl Fn(f32) -> Vec<JointTransform>,
) -> SkeletalClip {
    let frames = ClipFrames {
        joints: stocky().names().clone(),
        animated: vec![],
        transforms: (0..=(seconds * 60.0) as usize)
            .flat_map(|frame| pose(frame as f32 / 60.0))
            .collect(),
    };
    SkeletalClip::new(ClipTiming::new(name, seconds), &frames).unwrap()
}

#[test]
fn a_foot_that_slides_fast_over_the_ground_stays_on_it() {
    let (stocky, scout) = (stocky(), sample("scout").model.skeleton);
    // A lunge: the left foot slides apart from the right one, stops for a moment while the hips go on, and is lifted.
    let between = |t: f32, from: f32, to: f32| ((t - from) / (to - from)).clamp(0.0, 1.0);
    let clip = stocky_clip("lunge", 2.0, |t| {
        let out = between(t, 0.4, 0.8) - between(t, 0.8167, 1.2);
        let lift = (between(t, 0.8167, 1.0) - between(t, 1.05, 1.2)) * 12.0;
        let gone = between(t, 0.4, 0.95) - between(t, 0.95, 1.3);
        let hips = Affine3A::from_rotation_translation(
            Quat::from_rotation_y(-1.4 * gone),
            Vec3::new(0.0, -4.0, 6.0) * gone,
        );
        stand(
            &stocky,
            hips,
            [Vec3::new(-12.0 * out, lift, 34.0 * out), Vec3::ZERO],
        )
    });
    let made = retarget(&stocky, &scout, &clip);
    let (source, target) = (Body::new(&stocky, 0.01), Body::new(&scout, 1.0));
    let [found, own] = fastest_of_slow_feet((&source, &clip), (&target, &made));
    assert!(own < 0.1 && found < 0.1, "{found} (source {own}) legs/s");
    let found = compare(&source, &clip, &target, &made);
    assert!(found.height < 0.01, "{found}");
}

#[test]
fn ankles_of_a_body_that_lies_are_as_high_as_its_feet_are_thick() {
    let (stocky, mixamo) = (stocky(), mixamo());
    let ankle = |body: &Skeleton, pose: &[Affine3A], name: &str| {
        let foot = usize::from(body.joint(name).unwrap());
        pose[foot].translation.y / body.rest_model()[foot].translation.y
    };
    // On the back, with the ankles at 85 % of their height at rest.
    let pelvis = usize::from(stocky.joint("pelvis").unwrap());
    let height = 14.5 * 0.85 + 1.9 - stocky.rest_model()[pelvis].translation.y;
    let hips = Affine3A::from_rotation_translation(
        Quat::from_rotation_x(-std::f32::consts::FRAC_PI_2),
        Vec3::Y * height,
    );
    let mut pose: Vec<_> = stocky.joints().map(|joint| stocky.rest_of(joint)).collect();
    pose[pelvis] = stand(&stocky, hips, [Vec3::ZERO; 2])[pelvis];
    let clip = stocky_clip("lie", 0.5, |_| pose.clone());
    let mut scratch = Scratch::default();
    Evaluate::new(&stocky, &[ClipLayer::new(&clip, 0.0)]).run(&mut scratch);
    let own = ankle(&stocky, scratch.model(), "foot_l");
    assert!((own - 0.85).abs() < 0.01, "{own}");
    let made = retarget(&stocky, &mixamo, &clip);
    Evaluate::new(&mixamo, &[ClipLayer::new(&made, 0.0)]).run(&mut scratch);
    let found = ankle(&mixamo, scratch.model(), "mixamorig:LeftFoot");
    assert!((0.5..1.5).contains(&found), "{found} of its height at rest");
}

#[test]
fn feet_that_are_dragged_along_in_a_dash_do_not_slide_before_it() {
    let (stocky, scout) = (stocky(), sample("scout").model.skeleton);
    // The feet are never as fast for long, so the ground isn't, either.
    let clip = stocky_clip("dash", 14.0 / 60.0, |t| {
        let share = ((t - 1.0 / 60.0) * 5.0).clamp(0.0, 1.0);
        let gone = share.min(0.5).powi(2) * 2.0 + 0.5 - (1.0 - share.max(0.5)).powi(2) * 2.0;
        let step = Vec3::Z * -38.0 * gone;
        let crouched = Vec3::Y * -6.0 * (t / 0.0833).min(1.0);
        stand(
            &stocky,
            Affine3A::from_translation(step + crouched),
            [step; 2],
        )
    });
    let made = retarget(&stocky, &scout, &clip);
    let (source, target) = (Body::new(&stocky, 0.01), Body::new(&scout, 1.0));
    let feet = |body: &Body, clip| body.contacts_at(clip, [0.0, 1.0 / 60.0]);
    for leg in 0..2 {
        let [own, found] = [(&source, &clip), (&target, &made)].map(|(body, clip)| {
            let [from, to] = feet(body, clip)[leg];
            60.0 * (to - from).with_y(0.0).length()
        });
        assert!(own < 0.05 && found < 0.1, "{found} (source {own}) legs/s");
    }
}

#[test]
fn a_foot_that_lies_higher_than_at_another_time_is_as_much_higher_in_proportion() {
    let (stocky, mixamo) = (stocky(), mixamo());
    let pelvis = usize::from(stocky.joint("pelvis").unwrap());
    // On the back, with the ankles at 60 % of their height at rest, and later at 85 %: then there is room below them.
    let shares = [0.6, 0.85];
    let clip = stocky_clip("lie", 1.0, |t| {
        let share = shares[usize::from(t > 0.5)];
        let height = 14.5 * share + 1.9 - stocky.rest_model()[pelvis].translation.y;
        let hips = Affine3A::from_rotation_translation(
            Quat::from_rotation_x(-std::f32::consts::FRAC_PI_2),
            Vec3::Y * height,
        );
        let mut pose: Vec<_> = stocky.joints().map(|joint| stocky.rest_of(joint)).collect();
        pose[pelvis] = stand(&stocky, hips, [Vec3::ZERO; 2])[pelvis];
        pose
    });
    let map = Retarget::new(
        &stocky,
        &Roles::infer(&stocky),
        &mixamo,
        &Roles::infer(&mixamo),
    );
    let ratio = map.unwrap().report().ratio;
    let made = retarget(&stocky, &mixamo, &clip);
    let foot = usize::from(mixamo.joint("mixamorig:LeftFoot").unwrap());
    let ankle = mixamo.rest_model()[foot].translation.y;
    let mut scratch = Scratch::default();
    for (time, share) in [0.2, 0.8].into_iter().zip(shares) {
        Evaluate::new(&mixamo, &[ClipLayer::new(&made, time)]).run(&mut scratch);
        let found = scratch.model()[foot].translation.y;
        let expected = 0.6 * ankle + (share - 0.6) * 14.5 * ratio;
        assert!(
            (found - expected).abs() < 0.05 * ankle,
            "{found} of {ankle} at rest, expected {expected}"
        );
    }
}

#[test]
fn hostile_bodies_make_errors_or_finite_clips() {
    let mut random = Rng::with_seed(5);
    let words = [
        "hips", "spine", "head", "thigh.L", "thigh.R", "shin.L", "shin.R", "foot.L", "foot.R",
        "toes.L", "hand.L",
    ];
    let mut made = 0;
    for round in 0..300 {
        let count = random.usize(1..20);
        let size = [0.0, 1e-20, 1.0, 1e18][round % 4];
        let mut body = || {
            let joint = |at: usize, random: &mut Rng| Joint {
                name: words[random.usize(..words.len())].into(),
                parent: (at > 0).then(|| random.usize(..at) as u16),
                rest: JointTransform {
                    translation: Vec3::new(random.f32(), random.f32(), random.f32()) * size,
                    rotation: Quat::from_rotation_x(random.f32()),
                    scale: Vec3::splat([1.0, 0.0, -1.0, 2.0][random.usize(..4)]),
                },
                inverse_bind: Affine3A::IDENTITY,
            };
            Skeleton::new((0..count).map(|at| joint(at, &mut random)).collect()).unwrap()
        };
        let (source, target) = (body(), body());
        let roles = [&source, &target].map(Roles::infer);
        let Ok(map) = Retarget::new(&source, &roles[0], &target, &roles[1]) else {
            continue;
        };
        let transforms = (0..3 * count)
            .map(|at| source.rest_of((at % count) as u16))
            .collect();
        let frames = ClipFrames {
            joints: source.names().clone(),
            animated: vec![],
            transforms,
        };
        let clip = SkeletalClip::new(ClipTiming::new("a", 0.5), &frames).unwrap();
        // A clip is finite, or it would not be one.
        made += usize::from(map.run(&clip, &ImportLimits::default()).is_ok());
    }
    assert!(made > 20, "{made}");

    let body = mixamo();
    let roles = Roles::infer(&body);
    assert_eq!(
        roles.joint(Role::Foot(Side::Left)),
        body.joint("mixamorig:LeftFoot")
    );
    let map = Retarget::new(&body, &roles, &body, &roles).unwrap();
    let still = ClipFrames {
        joints: body.names().clone(),
        animated: vec![],
        transforms: body
            .joints()
            .chain(body.joints())
            .map(|joint| body.rest_of(joint))
            .collect(),
    };
    let long = SkeletalClip::new(ClipTiming::new("long", 86400.0), &still).unwrap();
    assert_eq!(
        map.run(&long, &ImportLimits::default())
            .unwrap()
            .frame_count(),
        2
    );
    let few = ImportLimits {
        clip_bytes: 1000,
        ..ImportLimits::default()
    };
    assert!(matches!(
        map.run(&long, &few),
        Err(RetargetError::TooLarge { .. })
    ));
    let strange = body.with_names((0..99).map(|at| format!("bone {at}").into()));
    let error = Retarget::new(&strange, &Roles::infer(&strange), &body, &roles).unwrap_err();
    assert!(matches!(
        error,
        RetargetError::NoHips {
            field: "source_roles",
            ..
        }
    ));
    assert_message("retarget: no hips in the clip's skeleton", error);
}
