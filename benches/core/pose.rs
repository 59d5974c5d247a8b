//! What a pose costs: each job, and a whole character, by joints, tracks and masks.
//!
//! Every figure is for one character on one thread. Times differ from one iteration to the next, as
//! they do in a crowd, so the frames read are not always the ones read last.

use bevy_marionette::{
    controller::{AnimationController, AnimationTrack, Clips, Transition},
    internals::controller::SwitchLayer,
};
use bevy_marionette::{
    internals::model::{BoundBlendSpace, CombinedJoints},
    model::{BlendSpace, ClipTiming, SkeletalClip},
};
use bevy_marionette::{
    internals::pose::{
        ClipLayer, Compress, Evaluate, Inertia, InertiaScratch, LocalToModel, Mix, MixScratch,
        Palette, PoseBatch, Scratch, stream,
    },
    pose::Mask,
};
use bevy_marionette_benches::{clip, clip_of, part, skeleton};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use glam::{Affine3A, Mat4, Vec3};
use std::{hint::black_box, sync::Arc, time::Duration};

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
    let layer = |(i, clip)| ClipLayer {
        mask,
        weight: 0.5 + i as f32 * 0.1,
        ..ClipLayer::new(clip, 0.0)
    };
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
        for (name, clip) in [
            ("mix, joints turn", &clip),
            ("mix, joints turn and move", &moving),
        ] {
            let mut time = times();
            group.bench_function(name, |b| {
                b.iter(|| {
                    let layers = [ClipLayer::new(clip, time())];
                    Mix {
                        layers: &layers,
                        priority_blend: 0.5,
                        rest,
                        unit_scale: true,
                    }
                    .run(&mut scratch, black_box(&mut local));
                });
            });
        }
        let mut model = vec![Affine3A::IDENTITY; joints];
        let job = LocalToModel {
            parents: skeleton.parents(),
            local: &local,
            root: None,
            unit_scale: true,
        };
        group.bench_function("local to model", |b| {
            b.iter(|| black_box(&job).run(black_box(&mut model)))
        });
        let mut palette = vec![Mat4::IDENTITY; joints];
        let remap = part(&skeleton).palette;
        let (world, inverse_bind, combined) =
            (world(), skeleton.inverse_bind(), &CombinedJoints::new());
        let job = Palette {
            world,
            model: &model,
            inverse_bind,
            remap: &remap,
            combined,
        };
        group.bench_function("palette", |b| {
            b.iter(|| black_box(&job).run(black_box(&mut palette)))
        });
    }
}

/// A mirrored clip beside the clip that it was made from: it is a clip like any other.
fn mirrored(criterion: &mut Criterion) {
    let plain = skeleton(58);
    // Limbs of four joints, left and right in turns.
    let name = |joint: usize| match joint {
        0..4 => format!("spine {joint}"),
        _ => format!(
            "limb {} {}.{}",
            joint / 8,
            joint % 4,
            if joint / 4 % 2 == 0 { "L" } else { "R" }
        ),
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
                Mix {
                    layers: &layers,
                    priority_blend: 0.5,
                    rest: skeleton.rest(),
                    unit_scale: true,
                }
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
                        Mix {
                            layers: &layers,
                            priority_blend: 0.5,
                            rest: skeleton.rest(),
                            unit_scale: true,
                        }
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
                let (mut layers, mut scratch, mut time) =
                    (layers(&clips, mask), Scratch::default(), times());
                group.bench_function(BenchmarkId::new(format!("tracks {tracks}"), name), |b| {
                    b.iter(|| {
                        layers.iter_mut().for_each(|layer| layer.time = time());
                        Evaluate::new(&skeleton, &layers).run(&mut scratch);
                        Palette {
                            world,
                            model: scratch.model(),
                            inverse_bind,
                            remap: &remap,
                            combined,
                        }
                        .run(black_box(&mut palette));
                    });
                });
            }
            // With the world matrix as the roots' parent, so that the joints are in world space.
            let (mut layers, mut scratch, mut time) =
                (layers(&clips, None), MixScratch::default(), times());
            let (mut local, mut model) = (rest.to_vec(), vec![Affine3A::IDENTITY; joints]);
            group.bench_function(
                BenchmarkId::new(format!("tracks {tracks}"), "no mask, in world space"),
                |b| {
                    b.iter(|| {
                        layers.iter_mut().for_each(|layer| layer.time = time());
                        Mix {
                            layers: &layers,
                            priority_blend: 0.5,
                            rest,
                            unit_scale: true,
                        }
                        .run(&mut scratch, &mut local);
                        LocalToModel {
                            parents: skeleton.parents(),
                            local: &local,
                            root: Some(&world),
                            unit_scale: true,
                        }
                        .run(&mut model);
                        Palette {
                            world: Affine3A::IDENTITY,
                            model: &model,
                            inverse_bind,
                            remap: &remap,
                            combined,
                        }
                        .run(black_box(&mut palette));
                    });
                },
            );
        }
    }
}

/// Characters one after the other, each at its own time, with their palettes in one buffer, as a crowd has them: through
/// the caches, and past them.
fn crowd(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("crowd, 58 joints");
    let skeleton = skeleton(58);
    let (remap, combined) = (part(&skeleton).palette, CombinedJoints::new());
    let clips: Vec<_> = (0..2).map(|seed| clip(&skeleton, seed)).collect();
    let world = Affine3A::from_translation(Vec3::ONE);
    for characters in [1, 1000, 10_000] {
        group.throughput(Throughput::Elements(characters));
        let mut palettes = vec![Mat4::IDENTITY; 58 * characters as usize];
        let (mut layers, mut scratch, mut time) =
            (layers(&clips, None), Scratch::default(), times());
        let mut pose = |scratch: &mut Scratch| {
            layers.iter_mut().for_each(|layer| layer.time = time());
            Evaluate::new(&skeleton, &layers).run_clips(Some(&Affine3A::IDENTITY), scratch);
        };
        let inverse_bind = skeleton.inverse_bind();
        let palette = Palette {
            world,
            model: &[],
            inverse_bind,
            remap: &remap,
            combined: &combined,
        };
        group.bench_function(BenchmarkId::new("stored", characters), |b| {
            b.iter(|| {
                for out in black_box(&mut palettes).chunks_mut(58) {
                    pose(&mut scratch);
                    Palette {
                        model: scratch.model(),
                        ..palette
                    }
                    .run(out);
                }
            });
        });
        group.bench_function(BenchmarkId::new("streamed", characters), |b| {
            b.iter(|| {
                stream(|stream| {
                    for out in black_box(&mut palettes).chunks_mut(58) {
                        pose(&mut scratch);
                        Palette {
                            model: scratch.model(),
                            ..palette
                        }
                        .stream(out, stream);
                    }
                });
            });
        });
    }
}

/// Clips within a tenth of a millimeter beside the same clips as they are: eight characters at a time, and one after the other.
fn compressed(criterion: &mut Criterion) {
    const CHARACTERS: usize = 80;
    let skeleton = skeleton(58);
    let (part, combined) = (part(&skeleton), CombinedJoints::new());
    let world = Affine3A::from_translation(Vec3::ONE);
    let mut palettes = vec![Mat4::IDENTITY; 58 * CHARACTERS];
    for (moves, name) in [(false, "turn"), (true, "turn and move")] {
        let mut group = criterion.benchmark_group(format!("clips, 58 joints {name}"));
        group.throughput(Throughput::Elements(CHARACTERS as u64));
        let stored: Vec<_> = (0..2)
            .map(|seed| clip_of(&skeleton, seed, |joint| moves || joint == 0))
            .collect();
        let compress = Compress::new(&skeleton, &[], 1e-4);
        let compressed: Vec<_> = stored.iter().map(|clip| compress.run(clip)).collect();
        for (kind, clips) in [("stored", &stored), ("compressed", &compressed)] {
            let (mut layers, mut time) = (layers(clips, None), times());
            let mut batch = PoseBatch::default();
            group.bench_function(BenchmarkId::new("eight at a time", kind), |b| {
                b.iter(|| {
                    for eight in black_box(&mut palettes).chunks_mut(58 * PoseBatch::MOST) {
                        let mut out: [&mut [Mat4]; PoseBatch::MOST] = Default::default();
                        batch.clear();
                        for (out, palette) in out.iter_mut().zip(eight.chunks_mut(58)) {
                            layers.iter_mut().for_each(|layer| layer.time = time());
                            batch.add(&Evaluate::new(&skeleton, &layers), &world);
                            *out = palette;
                        }
                        batch.write(&skeleton, &part.palette, &combined, &mut out);
                    }
                });
            });
            let mut scratch = Scratch::default();
            group.bench_function(BenchmarkId::new("one at a time", kind), |b| {
                b.iter(|| {
                    for out in black_box(&mut palettes).chunks_mut(58) {
                        layers.iter_mut().for_each(|layer| layer.time = time());
                        Evaluate::new(&skeleton, &layers)
                            .run_clips(Some(&Affine3A::IDENTITY), &mut scratch);
                        Palette {
                            world,
                            model: scratch.model(),
                            inverse_bind: skeleton.inverse_bind(),
                            remap: &part.palette,
                            combined: &combined,
                        }
                        .run(out);
                    }
                });
            });
        }
    }
}

/// A pose while a switch dies out, beside a clip and a cross-fade.
fn switches(criterion: &mut Criterion) {
    for joints in JOINTS {
        let mut group = criterion.benchmark_group(format!("switch, {joints} joints"));
        group.throughput(Throughput::Elements(joints as u64));
        let skeleton = skeleton(joints);
        let clips: Vec<_> = (0..2).map(|seed| clip(&skeleton, seed)).collect();
        let timings: Vec<_> = (0..2)
            .map(|i| ClipTiming {
                name: format!("{i}").into(),
                ..clips[i].timing.clone()
            })
            .collect();
        let layer = |i: usize, time: f64| ClipLayer {
            base: true,
            ..ClipLayer::new(&clips[i], time)
        };
        let find = |found: &SwitchLayer| Some(layer(usize::from(&*found.clip == "1"), found.time));
        let mut controller = AnimationController::playing("0");
        let mut inertias = Vec::new();
        for round in 0..3 {
            controller.advance(0.1, &timings, &mut Vec::new()).unwrap();
            controller.play_with(
                if round % 2 == 0 { "1" } else { "0" },
                Transition::switch(Duration::from_secs(4)),
            );
            controller.advance(0.0, &timings, &mut Vec::new()).unwrap();
            let mut inertia = Inertia::new();
            inertia.follow(
                controller.switches(),
                &skeleton,
                find,
                &mut InertiaScratch::default(),
            );
            inertias.push(inertia);
        }
        let mut pose = |name: &str, tracks: usize, inertia: Option<&Inertia>| {
            let (mut scratch, mut time) = (Scratch::default(), times());
            group.bench_function(name, |b| {
                b.iter(|| {
                    let layers = [layer(0, time()), layer(1, time())];
                    let inertia = inertia.map(|inertia| inertia.at(0.5 + time()));
                    Evaluate {
                        inertia,
                        ..Evaluate::new(&skeleton, &layers[..tracks])
                    }
                    .run(black_box(&mut scratch));
                });
            });
        };
        pose("a clip", 1, None);
        pose("a cross-fade of two clips", 2, None);
        pose("a clip after a switch", 1, Some(&inertias[0]));
        pose("a clip after three switches", 1, Some(&inertias[2]));
        let (mut inertia, mut memory) = (Inertia::new(), InertiaScratch::default());
        let switch: Vec<_> = controller.switches().take(1).collect();
        group.bench_function("making an offset", |b| {
            b.iter(|| {
                inertia.follow(std::iter::empty(), &skeleton, find, &mut memory);
                inertia.clear();
                inertia.follow(switch.iter().copied(), &skeleton, find, &mut memory)
            });
        });
    }
}

/// Eight clips around a blend space's plane, and one in its middle.
struct Locomotion {
    clips: Vec<SkeletalClip>,
    spaces: Vec<BoundBlendSpace>,
}

impl Locomotion {
    fn new(clips: Vec<SkeletalClip>, smoothing: f64) -> Self {
        let around = |i: usize| (i as f64 * std::f64::consts::TAU / 7.0).sin_cos();
        let place = |i: usize| if i == 7 { (0.0, 0.0) } else { around(i) };
        let points = clips
            .iter()
            .enumerate()
            .map(|(i, clip)| (clip.timing.name.clone(), place(i)));
        let space =
            BlendSpace::plane("locomotion", points).and_then(|space| space.smoothed(smoothing));
        let space = Arc::new(space.expect("a heptagon"));
        let space = space
            .bind(clips.iter().map(|clip| &clip.timing), |_| Vec::new())
            .expect("all clips are there");
        Self {
            clips,
            spaces: vec![space],
        }
    }
}

impl Clips for Locomotion {
    fn index_of(&self, name: &str) -> Option<usize> {
        self.clips
            .iter()
            .position(|clip| &*clip.timing.name == name)
    }

    fn timing(&self, index: usize) -> Option<&ClipTiming> {
        self.clips.get(index).map(|clip| &clip.timing)
    }

    fn blend_spaces(&self) -> &[BoundBlendSpace] {
        &self.spaces
    }
}

/// A blend space of eight clips beside plain clips: the controller, and with it the whole character.
fn blend_space(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("blend space of eight clips, 58 joints");
    let skeleton = skeleton(58);
    let [cast, smoothed] = [0.0, 0.4].map(|smoothing| {
        Locomotion::new(
            (0..8).map(|seed| clip(&skeleton, seed)).collect(),
            smoothing,
        )
    });
    let (remap, inverse_bind, combined) = (
        part(&skeleton).palette,
        skeleton.inverse_bind(),
        &CombinedJoints::new(),
    );
    let tracks = |names: &[&str]| {
        let mut controller = AnimationController::default();
        for name in names {
            controller.add_track(AnimationTrack::blend_space(*name).at((0.3, 0.2)));
        }
        controller
    };
    for (name, cast, names, steered) in [
        ("one clip", &cast, &["clip 0"][..], false),
        ("three clips", &cast, &["clip 0", "clip 1", "clip 2"], false),
        ("blend space", &cast, &["locomotion"], false),
        (
            "blend space, steered each frame",
            &cast,
            &["locomotion"],
            true,
        ),
        (
            "blend space, steered and smoothed",
            &smoothed,
            &["locomotion"],
            true,
        ),
    ] {
        let (mut controller, mut events, mut turn) = (tracks(names), Vec::new(), 0.0_f64);
        let mut advance = |controller: &mut AnimationController| {
            if steered {
                turn += 0.01;
                let point = (0.6 * turn.cos(), 0.6 * turn.sin());
                controller
                    .tracks_mut()
                    .for_each(|track| track.set_parameters(point));
            }
            controller
                .advance(1.0 / 60.0, cast, &mut events)
                .expect("time goes forward");
            events.clear();
        };
        group.bench_function(BenchmarkId::new("advance", name), |b| {
            b.iter(|| advance(black_box(&mut controller)))
        });
        let (mut scratch, mut palette) = (Scratch::default(), vec![Mat4::IDENTITY; 58]);
        let mut layers: Vec<ClipLayer> = Vec::new();
        group.bench_function(BenchmarkId::new("character", name), |b| {
            b.iter(|| {
                advance(&mut controller);
                layers.clear();
                layers.extend(controller.layers(cast).map(|layer| ClipLayer {
                    weight: layer.weight,
                    ..ClipLayer::new(&cast.clips[layer.clip], layer.time)
                }));
                Evaluate::new(&skeleton, &layers).run(&mut scratch);
                Palette {
                    world: world(),
                    model: scratch.model(),
                    inverse_bind,
                    remap: &remap,
                    combined,
                }
                .run(black_box(&mut palette));
            });
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(30)
        .warm_up_time(std::time::Duration::from_millis(200))
        .measurement_time(std::time::Duration::from_millis(600));
    targets = jobs, mirrored, mix, character, crowd, compressed, switches, blend_space
}
criterion_main!(benches);
