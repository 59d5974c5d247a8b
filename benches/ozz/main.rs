//! This crate beside ozz-animation, on the same skeleton and clips, in one program: `cargo run --release`, and once
//! more after `export RUSTFLAGS=-Ctarget-cpu=x86-64-v3` to give both the same newer instructions throughout.
//!
//! The ozz here is `ozz-animation-rs`, its maintained port to Rust: the same file formats, the same layout (four
//! joints to a vector, compressed keys, a cursor and a cache of decompressed keys per clip and character) and the
//! same jobs, loop by loop. What it is given is made in its own file format from our clips (`keys.rs`), once with a
//! key at every frame and once thinned as its optimiser would by default. It is used at its best: jobs, contexts
//! and buffers persist, poses are shared by all characters so that they stay in the cache, nothing is allocated,
//! and time only goes forward, a sixtieth of a second a step, as its cursors want it.
//!
//! Before anything is timed, both sides play through the clips more than twice and must agree in every matrix:
//! a key is stored in 15 bits for each of three elements of a rotation (0.0001 rad) and in half floats
//! (0.0005 of a length), which over a limb of ten or fifteen joints comes to 0.002 of its length at most. A clip read
//! a frame early or late would be off by fifty times that. For thinned keys five times as much is allowed.
//!
//! Then they take turns, job by job, and the quickest of many rounds counts. All on one thread.
//!
//! What can be compared and what not:
//! * *Two clips to model space* is the same work with the same result, only that ours are 3×4 matrices and that this
//!   crate never writes the poses in between; *to palette* is the same in world space, times the inverse bind
//!   matrices, written as 4×4 to a buffer. ozz leaves that to its caller; the loop here is that of its samples.
//! * The single jobs are ours too, but a character does not go through *sample* and *blend* here: `Mix` does both.
//! * Both clips have no scale. This crate notices and skips it; ozz samples and blends it always.
//! * Of ozz a thousand characters keep 2000 contexts of 7 KB, which is more than most caches hold. So there is a
//!   table of 16 characters too, whose contexts do stay in the cache.
//! * The figures of ozz in C++, 2.6 to 3.7 µs for two clips at 58 joints, are of another day, compiler and scene. The
//!   port may be slower or faster than that: it takes exact square roots where C++ takes estimates, checks bounds,
//!   and has no AVX paths of its own. Only the ratios printed here were taken side by side.

mod keys;
mod sides;

#[path = "../core/scene.rs"]
#[allow(dead_code)]
mod scene;

use glam::{Affine3A, Vec3};
use keys::Keys;
use sides::{LENGTH, Ours, Ozz, Scene, Side};
use std::time::{Duration, Instant};

/// Times that each side has its turn at a job.
const ROUNDS: usize = 25;
/// Evaluations in a turn.
const TURN: usize = 8000;
/// What is stored of a key, added up along a limb, as a share of the limb's length.
const STORED: f32 = 3e-4;
/// The same with what thinned keys leave out.
const THINNED: f32 = 1e-2;

fn main() {
    let wide = if cfg!(target_feature = "avx2") { "with AVX2 and FMA throughout" } else { "as it comes, with SSE2" };
    println!("One thread, compiled {wide}; nanoseconds a character, two clips of 2 s at 30 frames a second.");
    for joints in [58, 22] {
        agree(&scene_of(joints, 8));
        for characters in [1000, 16] {
            table(&scene_of(joints, characters));
        }
    }
}

fn scene_of(joints: usize, characters: usize) -> Scene {
    let skeleton = scene::skeleton(joints);
    let clips = [0, 1].map(|seed| scene::clip(&skeleton, seed));
    let part = scene::part(&skeleton);
    let mut random = fastrand::Rng::with_seed(7);
    let mut character = || {
        let place = Vec3::new(random.f32(), 0.0, random.f32()) * 50.0;
        let world = Affine3A::from_translation(place) * Affine3A::from_rotation_y(random.f32() * 6.0);
        (world, [0; 2].map(|_| random.f64() * LENGTH))
    };
    let characters = (0..characters).map(|_| character()).collect();
    Scene { skeleton, clips, part, characters }
}

/// Plays the same on both sides and prints how far they are apart.
///
/// # Panics
/// If that is farther than what ozz's keys leave out.
fn agree(scene: &Scene) {
    // The longest way from a root to a tip, and at least as far as a unit vector reaches.
    let mut lengths = vec![1.0_f32; scene.skeleton.len()];
    for joint in 0..lengths.len() {
        if let Some(parent) = scene.skeleton.parents()[joint] {
            lengths[joint] = lengths[usize::from(parent)] + scene.skeleton.rest_of(joint).translation.length();
        }
    }
    let length = lengths.iter().copied().fold(0.0, f32::max);
    println!();
    for (keys, most) in [(Keys::Dense, STORED), (Keys::Optimised, THINNED)] {
        let (mut ours, mut ozz) = (Ours::new(scene), Ozz::new(scene, keys));
        let mut apart = [0.0_f32; 2];
        for _ in 0..300 {
            for character in 0..scene.characters.len() {
                ours.two_clips(character);
                ozz.two_clips(character);
                apart[0] = apart[0].max(farthest(&ours.model(), &ozz.model()) / length);
                ours.palette(character);
                ozz.palette(character);
                let (ours, ozz) = (ours.palette_of(character), ozz.palette_of(character));
                // An inverse bind matrix may lie as far from its joint as the limb is long.
                apart[1] = apart[1].max(farthest(&ours, &ozz) / (length * 2.0));
            }
        }
        let joints = scene.skeleton.len();
        println!(
            "{joints} joints, ozz with {} keys ({keys:?}): apart by {:.5} (model) and {:.5} (palette) of a limb's length",
            ozz.keys, apart[0], apart[1]
        );
        assert!(apart.iter().all(|&apart| apart <= most), "the two sides do not play the same");
    }
}

/// The largest difference of two elements.
fn farthest(a: &[[f32; 16]], b: &[[f32; 16]]) -> f32 {
    assert_eq!(a.len(), b.len());
    let differences = a.as_flattened().iter().zip(b.as_flattened()).map(|(a, b)| (a - b).abs());
    // Not `max`, to which what is not a number is no difference.
    differences.fold(0.0, |most, difference| if difference <= most { most } else { difference })
}

fn table(scene: &Scene) {
    let mut ours = Ours::new(scene);
    let [mut dense, mut optimised] = [Keys::Dense, Keys::Optimised].map(|keys| Ozz::new(scene, keys));
    let (ours_jobs, ozz_jobs) = (jobs::<Ours>(), jobs::<Ozz>());
    let mut best = [[Duration::MAX; 3]; 5];
    for _ in 0..ROUNDS {
        for (job, best) in best.iter_mut().enumerate() {
            best[0] = best[0].min(turn(scene, &mut dense, ozz_jobs[job].1));
            best[1] = best[1].min(turn(scene, &mut optimised, ozz_jobs[job].1));
            best[2] = best[2].min(turn(scene, &mut ours, ours_jobs[job].1));
        }
    }
    println!();
    println!(
        "{} joints, {} characters | ozz, dense | ozz, optimised | ours | ozz to ours",
        scene.skeleton.len(),
        scene.characters.len()
    );
    println!("------------------------ | ---------: | -------------: | ---: | ----------:");
    for ((name, _), best) in ours_jobs.into_iter().zip(best) {
        let [dense, optimised, ours] = best.map(|time| time.as_nanos() as f64 / TURN as f64);
        println!("{name} | {dense:.0} | {optimised:.0} | {ours:.0} | {:.1} / {:.1}", dense / ours, optimised / ours);
    }
}

type Job<S> = (&'static str, fn(&mut S, usize));

fn jobs<S: Side>() -> [Job<S>; 5] {
    [
        ("sample a clip", S::sample),
        ("blend two poses", S::blend),
        ("local to model", S::to_model),
        ("two clips to model space", S::two_clips),
        ("two clips to palette", S::palette),
    ]
}

/// The time that a side takes to do a job for all characters, [`TURN`] times in all.
fn turn<S: Side>(scene: &Scene, side: &mut S, job: fn(&mut S, usize)) -> Duration {
    let characters = scene.characters.len();
    // Once for nothing: cursors that another job has left behind catch up.
    (0..characters).for_each(|character| job(side, character));
    let since = Instant::now();
    for _ in 0..TURN / characters {
        (0..characters).for_each(|character| job(side, character));
    }
    since.elapsed()
}
