//! What a pose costs by number of joints: each job, and a whole character.

use bevy_marionette::{
    controller::{BlendMode, TrackPriority},
    internals::{
        model::{CombinedJoints, MorphFrames},
        pose::{
            ClipLayer, Evaluate, LocalToModel, Mix, MixScratch, MorphScratch, Palette, Scratch,
        },
    },
    model::{Morphs, SkeletalClip},
    pose::Mask,
};
use bevy_marionette_benches::{clip, part, skeleton};
use glam::{Affine3A, Mat4, Vec3, Vec3A};
use std::{
    hint::black_box,
    time::{Duration, Instant},
};

const JOINTS: [usize; 3] = [22, 58, 110];

/// A job's nanoseconds for each of [`JOINTS`].
type Row = (&'static str, [f64; 3]);

/// Prints the table.
pub(crate) fn table(quick: bool) {
    let mut rows: Vec<Row> = Vec::new();
    for (at, joints) in JOINTS.into_iter().enumerate() {
        for (name, time) in jobs(joints, quick) {
            match rows.iter_mut().find(|row| row.0 == name) {
                Some(row) => row.1[at] = time,
                None => {
                    let mut times = [0.0; 3];
                    times[at] = time;
                    rows.push((name, times));
                }
            }
        }
    }
    println!("job, ns (a joint) | 22 joints | 58 | 110 | a joint, 110 to 22");
    println!("----------------- | --------: | -: | --: | -----------------:");
    for (name, times) in rows {
        let per_joint = [0, 1, 2].map(|i| times[i] / JOINTS[i] as f64);
        let cells = [0, 1, 2]
            .map(|i| format!("{:.0} ({:.1})", times[i], per_joint[i]))
            .join(" | ");
        println!("{name} | {cells} | {:.2}", per_joint[2] / per_joint[0]);
    }
    println!();
}

fn jobs(joints: usize, quick: bool) -> Vec<(&'static str, f64)> {
    let skeleton = skeleton(joints);
    let (rest, inverse_bind, parents) =
        (skeleton.rest(), skeleton.inverse_bind(), skeleton.parents());
    let clips: Vec<SkeletalClip> = (0..4).map(|seed| clip(&skeleton, seed)).collect();
    let upper = Mask::from_roots(&skeleton, &[joints as u16 / 3], 2);
    let remap = part(&skeleton).palette;
    let world =
        Affine3A::from_rotation_y(0.7) * Affine3A::from_translation(Vec3::new(3.0, 0.0, -8.0));
    let mut local = rest.to_vec();
    let mut model = vec![Affine3A::IDENTITY; joints];
    let mut palette = vec![Mat4::IDENTITY; joints];
    let mut out = Vec::new();
    let mut row = |name, job: &mut dyn FnMut(f64)| out.push((name, fastest(quick, job)));

    Mix {
        layers: &layers_of(&clips[..1], None),
        priority_blend: 0.5,
        rest,
        unit_scale: true,
    }
    .run(&mut MixScratch::default(), &mut local);
    let (pose, root) = (local.clone(), None);
    row("local to model", &mut |_| {
        LocalToModel {
            parents,
            local: black_box(&pose),
            root,
            unit_scale: true,
        }
        .run(black_box(&mut model));
    });
    row("palette of a part", &mut |_| {
        let combined = &CombinedJoints::new();
        Palette {
            world,
            model: black_box(&model),
            inverse_bind,
            remap: &remap,
            combined,
        }
        .run(black_box(&mut palette));
    });
    let mut combined = CombinedJoints::new();
    (0..32).for_each(|first| combined.push([(first % joints as u16, 0.5), (2, 0.3), (5, 0.2)]));
    let mut longer = vec![Mat4::IDENTITY; joints + combined.len()];
    row("palette of a part, 32 combined joints", &mut |_| {
        let combined = &combined;
        Palette {
            world,
            model: black_box(&model),
            inverse_bind,
            remap: &remap,
            combined,
        }
        .run(black_box(&mut longer));
    });
    let mut scratch = MixScratch::default();
    let (one, two, four, masked) = (&clips[..1], &clips[..2], &clips[..], Some(&upper));
    let with_last = |mode| {
        let mut layers = layers_of(&clips[..3], None);
        layers[2].mode = mode;
        layers
    };
    let halves = |mask| {
        let mut layers = layers_of(four, mask);
        layers[2..]
            .iter_mut()
            .for_each(|layer| layer.priority = TrackPriority::High);
        layers
    };
    for (name, mut layers) in [
        ("mix one clip", layers_of(one, None)),
        ("mix one clip, masked", layers_of(one, masked)),
        ("mix two clips", layers_of(two, None)),
        ("mix two clips, masked", layers_of(two, masked)),
        ("mix three clips", layers_of(&clips[..3], None)),
        ("mix four clips", layers_of(four, None)),
        ("mix four clips, masked", layers_of(four, masked)),
        ("mix two low and two high clips", halves(None)),
        ("mix two low and two high clips, masked", halves(masked)),
        ("mix two clips, add a third", with_last(BlendMode::Additive)),
        (
            "mix two clips, override by a third",
            with_last(BlendMode::Override),
        ),
    ] {
        row(name, &mut |time| {
            set_times(&mut layers, time);
            Mix {
                layers: &layers,
                priority_blend: 0.5,
                rest,
                unit_scale: true,
            }
            .run(&mut scratch, black_box(&mut local));
        });
    }
    let mut scratch = Scratch::default();
    let mut layers = layers_of(&clips[..2], None);
    row("two clips to model space", &mut |time| {
        set_times(&mut layers, time);
        Evaluate::new(&skeleton, &layers).run(black_box(&mut scratch));
    });
    // As the plugin does: what turns is in the root already, and matrices then are only moved.
    let (root, world) = (
        Affine3A {
            translation: Vec3A::ZERO,
            ..world
        },
        Affine3A::from_translation(world.translation.into()),
    );
    for (name, tracks, mask) in [
        ("one clip to palette", 1, None),
        ("one clip to palette, masked", 1, Some(&upper)),
        ("two clips to palette", 2, None),
        ("two clips to palette, masked", 2, Some(&upper)),
        ("four clips to palette", 4, None),
        ("four clips to palette, masked", 4, Some(&upper)),
    ] {
        let mut layers = layers_of(&clips[..tracks], mask);
        row(name, &mut |time| {
            set_times(&mut layers, time);
            Evaluate::new(&skeleton, &layers).run_clips(Some(&root), black_box(&mut scratch));
            let (model, combined) = (scratch.model(), &CombinedJoints::new());
            Palette {
                world,
                model,
                inverse_bind,
                remap: &remap,
                combined,
            }
            .run(black_box(&mut palette));
        });
    }
    let faced = skeleton.clone().with_morphs(Morphs::new(
        (0..joints).map(|morph| (format!("morph {morph}").into(), 0.0)),
    ));
    let faces: Vec<SkeletalClip> = clips.iter().map(|clip| with_face(clip, joints)).collect();
    let mut weights = MorphScratch::default();
    for (name, clips) in [
        ("as many morph weights, one clip", &faces[..1]),
        ("as many morph weights, two clips", &faces[..2]),
        ("as many morph weights, at rest", &clips[..2]),
    ] {
        let mut layers = layers_of(clips, None);
        row(name, &mut |time| {
            set_times(&mut layers, time);
            black_box(Evaluate::new(&faced, &layers).run_morphs(black_box(&mut weights)));
        });
    }
    out
}

fn layers_of<'a>(clips: &'a [SkeletalClip], mask: Option<&'a Mask>) -> Vec<ClipLayer<'a>> {
    clips
        .iter()
        .map(|clip| ClipLayer {
            mask,
            weight: 0.6,
            ..ClipLayer::new(clip, 0.0)
        })
        .collect()
}

/// The clip with a swing of each of so many morph targets.
fn with_face(clip: &SkeletalClip, morphs: usize) -> SkeletalClip {
    let weight = |i: usize| (i as f32 * 0.37).sin().abs();
    let frames = MorphFrames {
        names: (0..morphs)
            .map(|morph| format!("morph {morph}").into())
            .collect(),
        weights: (0..60 * morphs).map(weight).collect(),
        ..MorphFrames::default()
    };
    clip.clone()
        .with_morphs(&frames)
        .expect("weights are whole")
}

fn set_times(layers: &mut [ClipLayer], time: f64) {
    layers
        .iter_mut()
        .enumerate()
        .for_each(|(i, layer)| layer.time = (time + i as f64 * 0.377) % 2.0);
}

/// Nanoseconds of one run: of many stretches of runs, the fastest. Times differ from one run to the next.
fn fastest(quick: bool, job: &mut dyn FnMut(f64)) -> f64 {
    const RUNS: u32 = 500;
    let (start, most) = (
        Instant::now(),
        Duration::from_millis(if quick { 1 } else { 150 }),
    );
    let (mut time, mut best) = (0.0, Duration::MAX);
    while start.elapsed() < most {
        let since = Instant::now();
        for _ in 0..RUNS {
            time = (time + 0.377) % 2.0;
            job(time);
        }
        best = best.min(since.elapsed());
    }
    best.as_nanos() as f64 / f64::from(RUNS)
}
