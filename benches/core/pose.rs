//! What a pose costs: each job, and a whole character, by joints, tracks and masks.
//!
//! Every figure is for one character on one thread. Times differ from one iteration to the next, as
//! they do in a crowd, so the frames read are not always the ones read last.

use bevy_marionette::model::{CombinedJoints, SkeletalClip};
use bevy_marionette::pose::{ClipLayer, Evaluate, LocalToModel, Mask, Mix, MixScratch, Palette, Scratch};
use bevy_marionette_benches::{clip, clip_of, part, skeleton};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use glam::{Affine3A, Mat4, Vec3};
use std::hint::black_box;

const JOINTS: [usize; 3] = [22, 58, 110];

/// Times that run through a clip of two seconds, out of step with its frames.
fn times() -> impl FnMut() -> f64 {
    let mut time = 0.0;
    move || {
        time = (time + 0.377) % 2.0;
        time
    }
}

fn world() -> Affine3A {
    Affine3A::from_rotation_y(0.7) * Affine3A::from_translation(Vec3::new(3.0, 0.0, -8.0))
}

fn layers<'a>(clips: &'a [SkeletalClip], mask: Option<&'a Mask>) -> Vec<ClipLayer<'a>> {
    let layer = |(i, clip)| ClipLayer { mask, weight: 0.5 + i as f32 * 0.1, ..ClipLayer::new(clip, 0.0) };
    clips.iter().enumerate().map(layer).collect()
}

fn jobs(criterion: &mut Criterion) {
    for joints in JOINTS {
        let mut group = criterion.benchmark_group(format!("jobs, {joints} joints"));
        group.throughput(Throughput::Elements(joints as u64));
        let skeleton = skeleton(joints);
        let rest = skeleton.rest();
        let (clip, moving) = (clip(&skeleton, 1), clip_of(&skeleton, 1, |_| true));
        let (mut local, mut scratch) = (rest.to_vec(), MixScratch::default());
        for (name, clip) in [("mix, joints turn", &clip), ("mix, joints turn and move", &moving)] {
            let mut time = times();
            group.bench_function(name, |b| {
                b.iter(|| {
                    let layers = [ClipLayer::new(clip, time())];
                    Mix { layers: &layers, priority_blend: 0.5, rest, unit_scale: true }
                        .run(&mut scratch, black_box(&mut local));
                });
            });
        }
        let mut model = vec![Affine3A::IDENTITY; joints];
        let job = LocalToModel { parents: skeleton.parents(), local: &local, root: None, unit_scale: true };
        group.bench_function("local to model", |b| b.iter(|| black_box(&job).run(black_box(&mut model))));
        let mut palette = vec![Mat4::IDENTITY; joints];
        let remap = part(&skeleton).palette;
        let (world, inverse_bind, combined) = (world(), skeleton.inverse_bind(), &CombinedJoints::new());
        let job = Palette { world, model: &model, inverse_bind, remap: &remap, combined };
        group.bench_function("palette", |b| b.iter(|| black_box(&job).run(black_box(&mut palette))));
    }
}

/// A mirrored clip beside the clip that it was made from: it is a clip like any other.
fn mirrored(criterion: &mut Criterion) {
    let plain = skeleton(58);
    // Limbs of four joints, left and right in turns.
    let name = |joint: usize| match joint {
        0..4 => format!("spine {joint}"),
        _ => format!("limb {} {}.{}", joint / 8, joint % 4, if joint / 4 % 2 == 0 { "L" } else { "R" }),
    };
    let skeleton = plain.with_names((0..plain.len()).map(|joint| name(joint).into()));
    let clip = clip(&skeleton, 1);
    let image = clip.mirrored(&skeleton).expect("finite and whole");
    let mut group = criterion.benchmark_group("mirrored clip, 58 joints");
    let mut local = skeleton.rest().to_vec();
    for (kind, clip) in [("plain", &clip), ("mirrored", &image)] {
        let (mut scratch, mut time) = (MixScratch::default(), times());
        group.bench_function(kind, |b| {
            b.iter(|| {
                let layers = [ClipLayer::new(clip, time())];
                Mix { layers: &layers, priority_blend: 0.5, rest: skeleton.rest(), unit_scale: true }
                    .run(&mut scratch, black_box(&mut local));
            });
        });
    }
    group.bench_function("made", |b| b.iter(|| black_box(&clip).mirrored(&skeleton)));
}

fn mix(criterion: &mut Criterion) {
    for joints in JOINTS {
        let mut group = criterion.benchmark_group(format!("mix, {joints} joints"));
        group.throughput(Throughput::Elements(joints as u64));
        let skeleton = skeleton(joints);
        let upper = Mask::from_roots(&skeleton, &[joints as u16 / 3], 2);
        for tracks in [1, 2, 4] {
            let clips: Vec<_> = (0..tracks).map(|seed| clip(&skeleton, seed)).collect();
            for (name, mask) in [("no mask", None), ("mask", Some(&upper))] {
                let mut layers = layers(&clips, mask);
                let (mut scratch, mut time) = (MixScratch::default(), times());
                let mut local = skeleton.rest().to_vec();
                group.bench_function(BenchmarkId::new(format!("tracks {tracks}"), name), |b| {
                    b.iter(|| {
                        layers.iter_mut().for_each(|layer| layer.time = time());
                        Mix { layers: &layers, priority_blend: 0.5, rest: skeleton.rest(), unit_scale: true }
                            .run(&mut scratch, black_box(&mut local));
                    });
                });
            }
        }
    }
}

/// Mix, local to model and palette: the whole cost of a character.
fn character(criterion: &mut Criterion) {
    for joints in JOINTS {
        let mut group = criterion.benchmark_group(format!("character, {joints} joints"));
        group.throughput(Throughput::Elements(joints as u64));
        let skeleton = skeleton(joints);
        let (rest, inverse_bind) = (skeleton.rest(), skeleton.inverse_bind());
        let remap = part(&skeleton).palette;
        let upper = Mask::from_roots(&skeleton, &[joints as u16 / 3], 2);
        let (world, combined) = (world(), &CombinedJoints::new());
        let mut palette = vec![Mat4::IDENTITY; joints];
        for tracks in [1, 2, 4] {
            let clips: Vec<_> = (0..tracks).map(|seed| clip(&skeleton, seed)).collect();
            for (name, mask) in [("no mask", None), ("mask", Some(&upper))] {
                let (mut layers, mut scratch, mut time) = (layers(&clips, mask), Scratch::default(), times());
                group.bench_function(BenchmarkId::new(format!("tracks {tracks}"), name), |b| {
                    b.iter(|| {
                        layers.iter_mut().for_each(|layer| layer.time = time());
                        Evaluate::new(&skeleton, &layers).run(&mut scratch);
                        Palette { world, model: scratch.model(), inverse_bind, remap: &remap, combined }
                            .run(black_box(&mut palette));
                    });
                });
            }
            // With the world matrix as the roots' parent, so that the joints are in world space.
            let (mut layers, mut scratch, mut time) = (layers(&clips, None), MixScratch::default(), times());
            let (mut local, mut model) = (rest.to_vec(), vec![Affine3A::IDENTITY; joints]);
            group.bench_function(BenchmarkId::new(format!("tracks {tracks}"), "no mask, in world space"), |b| {
                b.iter(|| {
                    layers.iter_mut().for_each(|layer| layer.time = time());
                    Mix { layers: &layers, priority_blend: 0.5, rest, unit_scale: true }.run(&mut scratch, &mut local);
                    LocalToModel { parents: skeleton.parents(), local: &local, root: Some(&world), unit_scale: true }
                        .run(&mut model);
                    Palette { world: Affine3A::IDENTITY, model: &model, inverse_bind, remap: &remap, combined }
                        .run(black_box(&mut palette));
                });
            });
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(30)
        .warm_up_time(std::time::Duration::from_millis(200))
        .measurement_time(std::time::Duration::from_millis(600));
    targets = jobs, mirrored, mix, character
}
criterion_main!(benches);
