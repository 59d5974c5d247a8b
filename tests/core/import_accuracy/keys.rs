//! Keys at any times: steps stay steps, no key is lost, and what that costs is limited and said.

use super::*;
use bevy_marionette::{
    internals::{
        import::to_md5_anim,
        pose::{Compress, FrameSpan},
    },
    model::Skeleton,
};

/// A file of one bone with keys at these times and places along X.
fn one_bone(keys: &[(f32, f32)]) -> M3d {
    let mut m3d = Maker {
        bones: 2,
        right_handed: true,
        turn: 0.0,
        key_times: even_keys,
    }
    .make(1);
    let key = |&(time, x): &(f32, f32)| M3dKey {
        time,
        translation: [x, 0.0, 0.0],
        ..m3d.clips[0].bones[1][0]
    };
    m3d.clips[0].bones[1] = keys.iter().map(key).collect();
    m3d.clips[0].bones[0].truncate(1);
    m3d
}

fn clip_of(m3d: &M3d) -> SkeletalClip {
    let imported = import(m3d, &ImportSettings::default());
    assert!(imported.warnings.is_empty(), "{:?}", imported.warnings);
    imported.model.clips[0].clone()
}

fn place(clip: &SkeletalClip, time: f64) -> f32 {
    FrameSpan::new(clip, time).transform(clip, 1).translation.x
}

#[test]
fn two_keys_at_one_time_are_a_step() {
    let clip = clip_of(&one_bone(&[(0.0, 0.0), (0.5, 1.0), (0.5, 3.0), (1.0, 4.0)]));
    let seen = [0.25, 0.5, 0.5_f64.next_up(), 0.75, 1.0].map(|time| place(&clip, time));
    assert_eq!(seen, [0.5, 1.0, 3.0, 3.5, 4.0]);
    assert_eq!(clip.frame_times(), Some(&[0.0, 0.5, 0.5, 1.0][..]));
}

#[test]
fn keys_as_close_as_numbers_get_are_all_kept() {
    let soon = 0.5_f32.next_up();
    let clip = clip_of(&one_bone(&[
        (0.0, 0.0),
        (0.5, 1.0),
        (soon, 3.0),
        (1.0, 4.0),
    ]));
    let seen = [0.5, f64::from(soon), 1.0].map(|time| place(&clip, time));
    assert_eq!(seen, [1.0, 3.0, 4.0]);
    assert!((place(&clip, 0.5 + 2e-6) - 3.0).abs() < 1e-4);
}

#[test]
fn an_early_jump_of_a_long_clip_stays_as_short_as_it_is() {
    let clip = clip_of(&one_bone(&[(0.0, 0.0), (0.001, 1.0), (600.0, 1.0)]));
    let seen = [0.0, 0.0005, 0.001, 0.002, 300.0, 600.0].map(|time| place(&clip, time));
    assert!(
        seen.iter()
            .zip([0.0, 0.5, 1.0, 1.0, 1.0, 1.0])
            .all(|(a, b)| (a - b).abs() < 1e-6),
        "{seen:?}"
    );
    assert_eq!(clip.frame_count(), 3, "no frames where nothing is");
}

/// Keys at times of every kind: twice the same, next to each other, evenly spaced, minutes apart.
fn wild_keys(rng: &mut Rng) -> Vec<f32> {
    let count = rng.usize(1..12);
    let mut time: f32 = [0.0, 0.0, -0.5, 0.3][rng.usize(..4)];
    let step = |_| {
        time = match rng.u8(..6) {
            0 => time,
            1 => time.next_up(),
            2 => time + 1e-5 * rng.f32(),
            3 => time + 100.0 * rng.f32(),
            _ => time + [1.0 / 30.0, 0.2 * rng.f32()][rng.usize(..2)],
        };
        time
    };
    (0..count).map(step).collect()
}

#[test]
fn keys_of_any_times_stay_within_the_bound_at_every_time() {
    let (mut steps, mut uneven) = (0, 0);
    for seed in 0..60 {
        let m3d = Maker {
            bones: 5,
            right_handed: true,
            turn: 2.0,
            key_times: wild_keys,
        }
        .make(seed);
        let imported = import(&m3d, &ImportSettings::default());
        assert!(
            imported.warnings.is_empty(),
            "{seed}: {:?}",
            imported.warnings
        );
        let times = imported.model.clips[0].frame_times().unwrap_or_default();
        uneven += usize::from(!times.is_empty());
        steps += times.windows(2).filter(|pair| pair[0] == pair[1]).count();
        let rng = &mut Rng::with_seed(seed);
        let moments = |clip: &M3dClip, duration: f64| {
            let mut moments: Vec<f64> = (0..40).map(|_| duration * rng.f64()).collect();
            let mut keys: Vec<f64> = clip
                .bones
                .iter()
                .flatten()
                .map(|key| f64::from(key.time))
                .collect();
            keys.sort_by(f64::total_cmp);
            moments.extend(
                keys.iter()
                    .flat_map(|time| [time.next_down(), *time, time.next_up()]),
            );
            moments.extend(
                keys.windows(2)
                    .flat_map(|gap| [0.2, 0.5, 0.8].map(|t| gap[0] + (gap[1] - gap[0]) * t)),
            );
            // At the very time of its last key Luna's bone is past a step, at that of any other before it.
            let late = |bone: &Vec<M3dKey>| {
                bone.last()
                    .filter(|last| bone.iter().filter(|key| key.time == last.time).count() > 1)
                    .map(|last| f64::from(last.time))
            };
            let late: Vec<f64> = clip.bones.iter().filter_map(late).collect();
            moments.retain(|time| (0.0..=duration).contains(time) && !late.contains(time));
            moments
        };
        // Rounding adds to the bound: scales, a chain of five bones and single precision.
        let error = worst_error_at(&m3d, &imported, |p| p, moments);
        assert!(error < f64::from(CLIP_ERROR) * 1.05, "{seed}: {error}");
    }
    assert!(steps > 60 && uneven > 40, "{steps} {uneven}");
}

#[test]
fn half_turns_between_sparse_keys_cost_frames_only_where_they_are() {
    let mut m3d = one_bone(&[(0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (9.0, 0.0)]);
    m3d.clips[0].bones[1][1].rotation =
        turned(m3d.clips[0].bones[1][1].rotation, [1.0, 2.0, 3.0], 3.0);
    let imported = import(&m3d, &ImportSettings::default());
    let times = imported.model.clips[0].frame_times().unwrap();
    assert!(
        times.iter().filter(|time| **time < 2.0).count() > 8,
        "{times:?}"
    );
    assert_eq!(
        times.iter().filter(|time| **time >= 2.0).count(),
        2,
        "{times:?}"
    );
    assert!(worst_error(&m3d, &imported, |p| p) < f64::from(CLIP_ERROR));
}

#[test]
fn steps_survive_the_way_back_to_m3d_and_every_conversion() {
    let m3d = one_bone(&[
        (0.0, 0.0),
        (0.25, 1.0),
        (0.25, 3.0),
        (0.3, 3.5),
        (1.0, 4.0),
        (1.0, 9.0),
    ]);
    let model = import(&m3d, &ImportSettings::default()).model;
    let clip = &model.clips[0];
    let times = clip.frame_times().unwrap();
    assert_eq!(times.len(), 6);

    let again = clip_of(&to_m3d(&model));
    assert_eq!(again.frame_times(), Some(times));
    assert_eq!(again.to_frames().transforms, clip.to_frames().transforms);

    let mut names: Vec<_> = model.skeleton.names().to_vec();
    names.push("another".into());
    let joint = |(at, name)| bevy_marionette::model::Joint {
        name,
        parent: None,
        rest: JointTransform::new(Vec3::splat(at as f32), glam::Quat::IDENTITY),
        inverse_bind: Affine3A::IDENTITY,
    };
    let other = Skeleton::new(names.into_iter().enumerate().map(joint).collect()).unwrap();
    assert_eq!(clip.bind(&other).frame_times(), Some(times));
    let additive = clip.to_additive(&model.skeleton).unwrap();
    assert_eq!(additive.frame_times(), Some(times));
    assert_eq!(place(&additive, 0.25_f64.next_up()), 3.0);

    let small = Compress::new(&model.skeleton, &model.parts, 0.01).run(clip);
    assert_eq!(small.frame_times(), Some(times));
    let quantization = small.quantization().expect("a smaller clip");
    assert!(quantization.error > 0.0 && quantization.error <= 0.01);
    for time in times
        .iter()
        .flat_map(|time| [time.next_down(), *time, time.next_up()])
    {
        // The root halves what is below it.
        let apart = (place(&small, time) - place(clip, time)).abs();
        assert!(apart <= 2.0 * quantization.error + 1e-6, "{time}: {apart}");
    }
}

#[test]
fn md5_has_evenly_spaced_frames_only_so_steps_become_ramps_of_one() {
    let model = import(
        &one_bone(&[(0.0, 0.0), (0.5, 1.0), (0.5, 3.0), (2.0, 3.0)]),
        &ImportSettings::default(),
    )
    .model;
    let anim = to_md5_anim(&model.clips[0], &model.skeleton);
    assert_eq!((anim.frame_count(), anim.frame_rate), (121, 60.0));
    // +X forward: what was −x is y, halved by the root.
    let places = [0, 30, 31, 120].map(|frame| anim.joint_at(1, frame)[0][1]);
    assert!(
        places
            .iter()
            .zip([0.0, -0.5, -1.5, -1.5])
            .all(|(a, b)| (a - b).abs() < 1e-5),
        "{places:?}"
    );
}

/// Bones of which each has keys at times that no other has.
fn scattered(bones: usize, keys: usize) -> M3d {
    let mut m3d = Maker {
        bones,
        right_handed: true,
        turn: 0.01,
        key_times: even_keys,
    }
    .make(2);
    for (bone, track) in m3d.clips[0].bones.iter_mut().enumerate() {
        track.truncate(keys);
        for (at, key) in track.iter_mut().enumerate() {
            key.time = at as f32 + bone as f32 / bones as f32;
        }
    }
    m3d
}

#[test]
fn what_keys_at_different_times_cost_is_said_and_limited() {
    let load = |m3d: &M3d| {
        let imported = from_m3d(
            "f.m3d",
            &Checked::new(m3d.clone()).unwrap(),
            &ImportSettings::default(),
        )
        .unwrap();
        let texts: Vec<String> = imported
            .warnings
            .iter()
            .map(|warning| warning.message.clone())
            .collect();
        (imported.model.clips.len(), texts)
    };
    assert_eq!(load(&scattered(10, 40)), (1, vec![]));
    let (clips, texts) = load(&scattered(60, 30));
    assert_eq!(clips, 1);
    assert_eq!(
        texts,
        ["clip `Take 1` takes about 4 MB: its 1800 keys become 1800 frames of all 60 joints"]
    );

    // A frame at each of 6000 keys would be too many for so small a file, and more than the small turns take.
    let (clips, texts) = load(&scattered(200, 30));
    assert_eq!(clips, 1);
    assert_eq!(
        texts,
        ["clip `Take 1` takes about 8 MB: its 6000 keys become 1024 frames of all 200 joints"]
    );
}
