//! Bodies that differ in nothing but the names and axes of their joints, and in size: clips come over as they are.
//!
//! Poses are computed here, in `f64`, from the frames of the clips alone.

use super::{
    ClipFrames, ClipTiming, ImportLimits, Joint, JointTransform, Retarget, Roles, SkeletalClip,
    Skeleton,
};
use bevy_marionette::model::JointIndex;
use fastrand::Rng;
use glam::{Affine3A, DAffine3, DMat3, DQuat, DVec3, Vec3};

/// Left half and middle of a body: what a joint is called in two schemes, its parent, and its place. Without a name in the
/// second scheme, it has no role in either, and is called the same.
const HALF: [(&str, &str, &str, [f64; 3]); 25] = [
    ("root", "root", "", [0.0, 0.0, 0.0]),
    ("hips", "pelvis", "root", [0.0, 1.0, 0.0]),
    ("cradle", "", "hips", [0.0, 0.97, 0.03]),
    ("spine.1", "spine_01", "hips", [0.0, 1.1, -0.01]),
    ("spine.2", "spine_02", "spine.1", [0.0, 1.3, 0.0]),
    ("neck", "neck_01", "spine.2", [0.0, 1.5, 0.0]),
    ("head", "head", "neck", [0.0, 1.6, 0.02]),
    ("hair", "", "head", [0.0, 1.8, -0.1]),
    ("clavicle.L", "clavicle_l", "spine.2", [0.05, 1.45, 0.0]),
    ("upper_arm.L", "upperarm_l", "clavicle.L", [0.18, 1.46, 0.0]),
    ("upper_bulge.L", "", "upper_arm.L", [0.3, 1.46, 0.0]),
    (
        "forearm.L",
        "lowerarm_l",
        "upper_bulge.L",
        [0.46, 1.46, -0.01],
    ),
    ("hand.L", "hand_l", "forearm.L", [0.72, 1.46, 0.0]),
    ("thumb.1.L", "thumb_01_l", "hand.L", [0.75, 1.44, 0.04]),
    ("index.1.L", "index_01_l", "hand.L", [0.8, 1.46, 0.03]),
    ("index.2.L", "index_02_l", "index.1.L", [0.84, 1.46, 0.03]),
    ("middle.1.L", "middle_01_l", "hand.L", [0.81, 1.46, 0.0]),
    ("little.1.L", "pinky_01_l", "hand.L", [0.79, 1.46, -0.05]),
    ("sword.L", "", "hand.L", [0.79, 1.42, 0.0]),
    ("thigh.L", "thigh_l", "cradle", [0.09, 0.96, 0.0]),
    ("shin.L", "calf_l", "thigh.L", [0.1, 0.53, 0.01]),
    ("foot.L", "foot_l", "shin.L", [0.1, 0.09, -0.02]),
    ("toes.L", "ball_l", "foot.L", [0.11, 0.02, 0.1]),
    ("nail.L", "", "toes.L", [0.11, 0.02, 0.18]),
    ("pouch.L", "", "hips", [0.15, 1.0, 0.05]),
];

/// A body: which of the names it has, and where its joints are. Joints come in the order of [`HALF`], left ones first.
struct Build {
    names: Vec<[String; 2]>,
    parents: Vec<Option<usize>>,
    places: Vec<DVec3>,
}

impl Build {
    /// A body of random proportions, with or without those joints that have no role, facing +Z or another way.
    fn new(random: &mut Rng, plain: bool) -> Self {
        let mut build = Self {
            names: Vec::new(),
            parents: Vec::new(),
            places: Vec::new(),
        };
        let mut left: Vec<(String, [String; 2], String, DVec3)> = Vec::new();
        let is_straight = random.bool();
        let mut half: Vec<(&str, &str, &str, DVec3)> = Vec::new();
        for (name, other, parent, place) in HALF {
            if plain && other.is_empty() {
                continue;
            }
            // Without the joint between, what hangs from it hangs from the one above.
            let parent = match parent {
                "cradle" if plain => "hips",
                "upper_bulge.L" if plain => "upper_arm.L",
                parent => parent,
            };
            let mut part = || 1.0 + 0.3 * (random.f64() - 0.5);
            let place = DVec3::from(place) * DVec3::new(part(), 1.0, part())
                + DVec3::Y * 0.02 * (part() - 1.0);
            half.push((name, other, parent, place));
        }
        if is_straight {
            // Legs without any bend.
            let at = |name: &str| half.iter().position(|(known, ..)| *known == name).unwrap();
            let [thigh, shin, foot] = ["thigh.L", "shin.L", "foot.L"].map(at);
            let (top, length) = (half[thigh].3, half[thigh].3.y - half[foot].3.y);
            half[shin].3 = top - DVec3::Y * length * (0.35 + 0.3 * random.f64());
            half[foot].3 = top - DVec3::Y * length;
        }
        for (name, other, parent, place) in half {
            let other = if other.is_empty() { name } else { other };
            left.push((
                name.into(),
                [name.into(), other.into()],
                parent.into(),
                place,
            ));
        }
        let right = |name: &str| match name.strip_suffix(".L") {
            Some(name) => format!("{name}.R"),
            None => name
                .strip_suffix("_l")
                .map_or(name.to_owned(), |name| format!("{name}_r")),
        };
        let mirrored = left.iter().filter(|(name, ..)| name.ends_with(".L")).map(
            |(name, names, parent, place)| {
                (
                    right(name),
                    names.each_ref().map(|name| right(name)),
                    right(parent),
                    *place * DVec3::new(-1.0, 1.0, 1.0),
                )
            },
        );
        let all: Vec<_> = left.iter().cloned().chain(mirrored).collect();
        for (_, names, parent, place) in &all {
            build.names.push(names.clone());
            build
                .parents
                .push(all.iter().position(|(name, ..)| name == parent));
            build.places.push(*place);
        }
        build
    }

    /// Its skeleton, in one of the schemes, with random axes, larger by a factor, turned about the up axis by right angles.
    fn skeleton(&self, random: &mut Rng, scheme: usize, size: f64, turns: usize) -> Skeleton {
        let whole = DQuat::from_rotation_y(turns as f64 * std::f64::consts::FRAC_PI_2);
        let frames: Vec<DAffine3> = self
            .places
            .iter()
            .map(|place| {
                DAffine3::from_rotation_translation(any_turn(random, 3.0), whole * (*place * size))
            })
            .collect();
        let joint = |(at, frame): (usize, &DAffine3)| {
            let local = self.parents[at].map_or(*frame, |parent| frames[parent].inverse() * *frame);
            let rotation = DQuat::from_mat3(&local.matrix3).normalize().as_quat();
            Joint {
                name: self.names[at][scheme].as_str().into(),
                parent: self.parents[at].map(|parent| parent as JointIndex),
                rest: JointTransform::new(local.translation.as_vec3(), rotation),
                inverse_bind: Affine3A::IDENTITY,
            }
        };
        Skeleton::new(frames.iter().enumerate().map(joint).collect()).unwrap()
    }

    fn at(&self, name: &str) -> usize {
        self.names
            .iter()
            .position(|names| names[0] == name)
            .unwrap()
    }
}

fn any_turn(random: &mut Rng, most: f64) -> DQuat {
    let axis = DVec3::new(random.f64() - 0.5, random.f64() - 0.5, random.f64() - 0.5)
        .normalize_or(DVec3::Y);
    DQuat::from_axis_angle(axis, most * (random.f64() * 2.0 - 1.0))
}

/// A clip that walks, runs, jumps or fidgets: joints turn at random by up to a random angle, hips and root travel, bones stretch
/// in some, and frames are where they may be.
fn clip(random: &mut Rng, skeleton: &Skeleton, stretches: bool) -> SkeletalClip {
    let frames = random.usize(1..9);
    let bend = [0.02, 0.3, 2.0][random.usize(..3)];
    let reach = [0.0, 0.02, 0.5][random.usize(..3)];
    let moves: Vec<bool> = skeleton.joints().map(|_| random.u8(..8) > 0).collect();
    let mut transforms = Vec::new();
    for _ in 0..frames {
        for joint in skeleton.joints() {
            let rest = skeleton.rest_of(joint);
            let mut off = |most: f64| {
                (Vec3::new(random.f32(), random.f32(), random.f32()) - 0.5) * most as f32
            };
            let size = rest.translation.length().max(1e-3);
            let travels = joint < 2;
            let shift = if travels {
                off(reach)
            } else if stretches {
                off(0.2) * size
            } else {
                Vec3::ZERO
            };
            let scale = if stretches && joint % 3 == 0 {
                1.0 + 0.3 * (random.f32() - 0.5)
            } else {
                1.0
            };
            let turn = any_turn(random, bend).as_quat();
            transforms.push(JointTransform {
                translation: rest.translation + shift,
                rotation: rest.rotation * turn,
                scale: rest.scale * scale,
            });
        }
    }
    let frames_given = ClipFrames {
        joints: skeleton.names().clone(),
        animated: moves,
        transforms,
    };
    let duration = if frames == 1 {
        0.0
    } else {
        0.04 * frames as f64
    };
    let timing = ClipTiming::new("any", duration);
    let is_even = random.bool() || frames == 1;
    if is_even {
        return SkeletalClip::new(timing, &frames_given).unwrap();
    }
    let mut times: Vec<f64> = (0..frames).map(|_| random.f64() * duration).collect();
    times.sort_by(f64::total_cmp);
    (times[0], times[frames - 1]) = (0.0, duration);
    if frames > 3 && random.bool() {
        times[2] = times[1];
    }
    SkeletalClip::at_times(timing, &frames_given, &times).unwrap()
}

/// The joints in model space, as affine maps, between two frames; rotations are mixed and normalized.
fn pose(skeleton: &Skeleton, clip: &SkeletalClip, frame: usize, share: f64) -> Vec<DAffine3> {
    let next = (frame + 1).min(clip.frame_count() - 1);
    let mut out: Vec<DAffine3> = Vec::new();
    for joint in 0..skeleton.len() {
        let rest = skeleton.rest_of(joint as JointIndex);
        let [a, b] = [frame, next].map(|at| {
            if clip.animates(joint) {
                clip.transform_at(joint, at)
            } else {
                rest
            }
        });
        let [q, r] = [a, b].map(|t| t.rotation.as_dquat().normalize());
        let r = if q.dot(r) < 0.0 { -r } else { r };
        let mix = |a: Vec3, b: Vec3| a.as_dvec3().lerp(b.as_dvec3(), share);
        let rotation = (q * (1.0 - share) + r * share).normalize();
        let matrix = DMat3::from_quat(rotation) * DMat3::from_diagonal(mix(a.scale, b.scale));
        let local = DAffine3 {
            matrix3: matrix,
            translation: mix(a.translation, b.translation),
        };
        out.push(
            skeleton.parents()[joint].map_or(local, |parent| out[usize::from(parent)] * local),
        );
    }
    out
}

/// How far joints are from where they should be, and how much their spaces are turned or scaled otherwise: at all frames, and
/// between them. `joints` picks those that count.
fn error(
    source: &Skeleton,
    clip: &SkeletalClip,
    target: &Skeleton,
    made: &SkeletalClip,
    size: f64,
    turns: usize,
    joints: &[usize],
) -> f64 {
    let whole = DAffine3::from_rotation_y(turns as f64 * std::f64::consts::FRAC_PI_2);
    assert_eq!(
        (made.frame_count(), made.frame_times()),
        (clip.frame_count(), clip.frame_times())
    );
    let still = |skeleton: &Skeleton| {
        let rest = skeleton
            .joints()
            .map(|joint| skeleton.rest_of(joint))
            .collect();
        let frames = ClipFrames {
            joints: skeleton.names().clone(),
            animated: vec![],
            transforms: rest,
        };
        pose(
            skeleton,
            &SkeletalClip::new(ClipTiming::new("rest", 0.0), &frames).unwrap(),
            0,
            0.0,
        )
    };
    let (source_rest, target_rest) = (still(source), still(target));
    let mut worst = 0.0_f64;
    for frame in 0..clip.frame_count() {
        for share in [0.0, 0.3, 0.5] {
            let (there, here) = (
                pose(source, clip, frame, share),
                pose(target, made, frame, share),
            );
            for &joint in joints {
                let place = whole.transform_vector3(there[joint].translation * size);
                let apart = here[joint].translation.distance(place) / size;
                // What a joint does to space: from rest to now.
                let moved = |now: &DAffine3, rest: &DAffine3| now.matrix3 * rest.matrix3.inverse();
                let expected = whole.matrix3
                    * moved(&there[joint], &source_rest[joint])
                    * whole.matrix3.transpose();
                let found = moved(&here[joint], &target_rest[joint]);
                let turned = (expected - found)
                    .to_cols_array()
                    .into_iter()
                    .fold(0.0, |most: f64, off| most.max(off.abs()));
                worst = worst.max(apart).max(turned);
            }
        }
    }
    worst
}

fn retarget(source: &Skeleton, target: &Skeleton, clip: &SkeletalClip) -> SkeletalClip {
    let (from, to) = (Roles::infer(source), Roles::infer(target));
    Retarget::new(source, &from, target, &to)
        .unwrap()
        .run(clip, &ImportLimits::default())
        .unwrap()
}

/// `MARIONETTE_RETARGETS` for long runs.
fn rounds() -> u64 {
    std::env::var("MARIONETTE_RETARGETS")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(300)
}

#[test]
fn a_clip_comes_back_from_its_own_skeleton_unchanged() {
    let mut worst = 0.0_f32;
    for seed in 0..rounds() {
        let random = &mut Rng::with_seed(seed);
        let build = Build::new(random, seed % 3 == 0);
        let skeleton = build.skeleton(random, seed as usize % 2, 1.0, 0);
        let clip = clip(random, &skeleton, seed % 2 == 0);
        let clip = if seed % 5 == 0 {
            clip.to_additive(&skeleton).unwrap()
        } else {
            clip
        };
        let made = retarget(&skeleton, &skeleton, &clip);
        assert_eq!(
            (made.frame_times(), made.frame_count(), &made.timing),
            (clip.frame_times(), clip.frame_count(), &clip.timing)
        );
        for joint in 0..skeleton.len() {
            assert_eq!(
                made.animates(joint),
                clip.animates(joint),
                "{seed}: {}",
                skeleton.names()[joint]
            );
            for frame in (0..clip.frame_count()).filter(|_| clip.animates(joint)) {
                let [a, b] = [&clip, &made].map(|clip| clip.transform_at(joint, frame));
                let turned = a
                    .rotation
                    .angle_between(b.rotation)
                    .min((a.rotation - b.rotation).length());
                worst = worst
                    .max(turned)
                    .max(a.translation.distance(b.translation))
                    .max(a.scale.distance(b.scale));
            }
        }
    }
    println!("{worst:e}");
    assert!(worst < 4e-6, "{worst:e}");
}

#[test]
fn names_axes_and_size_make_no_difference() {
    let (mut worst, mut at) = (0.0, 0);
    for seed in 0..rounds() {
        let random = &mut Rng::with_seed(seed ^ 0xA5);
        let build = Build::new(random, seed % 3 == 0);
        let size = [1.0, 100.0, 0.0254, 1.0 + random.f64()][random.usize(..4)];
        let turns = [0, 0, 1, 2, 3][random.usize(..5)];
        let source = build.skeleton(random, seed as usize % 2, 1.0, 0);
        let target = build.skeleton(random, (seed as usize + 1) % 2, size, turns);
        let clip = clip(random, &source, seed % 4 == 0);
        let made = retarget(&source, &target, &clip);
        let all: Vec<usize> = (0..target.len()).collect();
        let off = error(&source, &clip, &target, &made, size, turns, &all);
        if off > worst {
            (worst, at) = (off, seed);
        }
    }
    println!("{worst:e} at {at}");
    assert!(worst < 2e-5, "{worst:e} at {at}");
}

#[test]
fn a_root_that_only_one_body_has_makes_no_difference() {
    for seed in 0..rounds() / 3 {
        let random = &mut Rng::with_seed(seed ^ 0x77);
        let build = Build::new(random, false);
        let mut bare = Build {
            names: build.names[1..].to_vec(),
            parents: Vec::new(),
            places: build.places[1..].to_vec(),
        };
        bare.parents = build.parents[1..]
            .iter()
            .map(|parent| parent.and_then(|parent| parent.checked_sub(1)))
            .collect();
        let (whole, without) = (
            build.skeleton(random, 0, 1.0, 0),
            bare.skeleton(random, 1, 1.0, 0),
        );
        for (source, target, from, to) in [(&whole, &without, 1, 0), (&without, &whole, 0, 1)] {
            let mut given = clip(random, source, false).to_frames();
            // The root stands still.
            (0..from).for_each(|joint| given.animated[joint] = false);
            let given = SkeletalClip::new(ClipTiming::new("any", 0.5), &given).unwrap();
            let made = retarget(source, target, &given);
            for frame in 0..given.frame_count() {
                let (there, here) = (
                    pose(source, &given, frame, 0.0),
                    pose(target, &made, frame, 0.0),
                );
                for (a, b) in there[from..].iter().zip(&here[to..]) {
                    let apart = a.translation.distance(b.translation);
                    assert!(
                        apart < 2e-5 && made.frame_count() == given.frame_count(),
                        "{seed} {frame}: {apart:e}"
                    );
                }
            }
        }
    }
}

/// Legs are the same, arms are not, and the other way around: what is the same stays as it is.
#[test]
fn limbs_that_are_the_same_stay_as_they_are_on_other_bodies() {
    let mut worst = [0.0_f64; 2];
    for seed in 0..rounds() {
        let random = &mut Rng::with_seed(seed ^ 0x1234);
        // Joints without a role are only followed where lengths agree.
        let build = Build::new(random, seed % 4 != 1);
        let mut other = Build {
            names: build.names.clone(),
            parents: build.parents.clone(),
            places: build.places.clone(),
        };
        let stretch = 1.1 + random.f64();
        let (longer, same): (&[&str], &[&str]) = if seed % 4 < 2 {
            (&["forearm", "hand"], &["thigh", "shin", "foot", "toes"])
        } else {
            (&["shin", "foot", "toes"], &["upper_arm", "forearm", "hand"])
        };
        for (side, sign) in [("L", 1.0), ("R", -1.0)] {
            for name in longer {
                let at = build.at(&format!("{name}.{side}"));
                let way = if seed % 4 < 2 {
                    DVec3::X * sign
                } else {
                    DVec3::NEG_Y
                };
                other.places[at] += way * 0.2 * stretch;
            }
        }
        let source = build.skeleton(random, 0, 1.0, 0);
        let target = other.skeleton(random, 1, 1.0, 0);
        let mut frames = clip(random, &source, false).to_frames();
        for (at, transform) in frames.transforms.iter_mut().enumerate() {
            let joint = at % source.len();
            if !frames.animated[joint] {
                *transform = source.rest_of(joint as JointIndex);
            }
        }
        let clip = SkeletalClip::new(
            ClipTiming::new("any", 0.3),
            &ClipFrames {
                animated: vec![],
                ..frames
            },
        )
        .unwrap();
        let made = retarget(&source, &target, &clip);
        let steps = (made.frame_count() - 1) / (clip.frame_count() - 1).max(1);
        for frame in 0..clip.frame_count() {
            let (there, here) = (
                pose(&source, &clip, frame, 0.0),
                pose(&target, &made, frame * steps, 0.0),
            );
            for name in same
                .iter()
                .flat_map(|name| [format!("{name}.L"), format!("{name}.R")])
            {
                let (joint, first) = (
                    build.at(&name),
                    build.at(&format!("{}.{}", same[0], &name[name.len() - 1..])),
                );
                // Legs that are the same are in the same place; arms hang from shoulders that are elsewhere.
                let from = |pose: &[DAffine3]| {
                    pose[joint].translation
                        - if seed % 4 < 2 {
                            DVec3::ZERO
                        } else {
                            pose[first].translation
                        }
                };
                worst[usize::from(seed % 4 < 2)] =
                    worst[usize::from(seed % 4 < 2)].max(from(&there).distance(from(&here)));
            }
        }
    }
    println!("{worst:?}");
    assert!(worst.into_iter().all(|worst| worst < 3e-5), "{worst:?}");
}

#[test]
fn sample_characters_play_their_own_clips_as_they_are() {
    let path = crate::asset("mannequin/mannequin.glb");
    let bytes = std::fs::read(path).unwrap();
    let mannequin =
        super::open_model("mannequin.glb", &bytes, &super::ImportSettings::default()).unwrap();
    for model in [super::sample("scout").model, mannequin.model] {
        for clip in &model.clips {
            let made = retarget(&model.skeleton, &model.skeleton, clip);
            let all: Vec<usize> = (0..model.skeleton.len()).collect();
            let off = error(&model.skeleton, clip, &model.skeleton, &made, 1.0, 0, &all);
            assert!(off < 2e-6, "{}: {off:e}", clip.timing.name);
        }
    }
}
