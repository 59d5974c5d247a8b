//! This crate beside ozz-animation, on the same skeleton and clips, in one program: `cargo run --release`, and once
//! more after `export RUSTFLAGS=-Ctarget-cpu=x86-64-v3`, which gives both the same newer instructions throughout.
//!
//! The ozz here is `ozz-animation-rs`, its maintained port to Rust: the same files, the same layout (four joints to
//! a vector, compressed keys, a cursor and a cache of decompressed keys for each clip of each character) and the same
//! jobs, loop by loop. It gets our clips in its own format (`keys.rs`), three times: with a key at every frame; thinned
//! as its optimizer would by default; and with nothing but the ends of each channel, which is another motion, there
//! to show what ozz takes at least however well a clip may be thinned.
//!
//! It is used at its best. Jobs, contexts and buffers persist and nothing is allocated; all characters share the
//! buffers for poses, so that these stay in the cache; time only goes forward, a sixtieth of a second a step, as its
//! cursors want it; everything is optimized as one. And where the port forgets what the C++ does, to mark
//! decompressed keys as done, `sides.rs` does it: else its sampling takes half as long again, and of thinned clips
//! several times as long.
//!
//! Before anything is timed, both sides play through the clips more than twice and must agree in every matrix. ozz
//! stores a rotation's elements in 15 bits (0.0001 rad) and lengths as half floats (0.0005 of them): over a limb of ten
//! or fifteen joints that comes to 0.002 of its length if all of it adds up, and far less since it does not: 0.0003 is
//! allowed. A clip read a frame late is off by 0.08. Where keys are thinned 0.01 is allowed: each joint turns
//! the rest of its limb by up to a millimeter at the tip.
//!
//! Then the sides take turns, job by job, and the quickest of many rounds counts. All on one thread.
//!
//! What can be compared and what not:
//! * *Two clips to model space* is the same work with the same result, but for ours being 3×4 matrices. *To palette* is
//!   that in world space, times the inverse bind matrices, written as 4×4 to a buffer. ozz leaves the last step to
//!   its caller; here it is the loop of its samples.
//! * `Mix` samples and blends in one pass, so there is no *blend* of our own to time. *Sample* is a `Mix` of one clip.
//! * The clips scale nothing. This crate notices that and skips it; ozz samples and blends scales always.
//! * For a thousand characters ozz keeps 2000 contexts of 7 KB, more than a core's own cache holds. So there is a table
//!   of 16 characters too, whose contexts do stay there.
//! * ozz in C++ took 2.6 µs (optimized clip) to 3.7 µs (dense) for two clips at 58 joints: on such a machine, but on
//!   another day, with other clips and another compiler. It takes estimates of roots and quotients where the port
//!   works them out, and the port checks bounds. Only ratios printed here were taken side by side.

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
    let wide = if cfg!(target_feature = "avx2") {
        "with AVX2 and FMA throughout"
    } else {
        "as it comes, with SSE2"
    };
    println!(
        "One thread, compiled {wide}; nanoseconds a character, two clips of 2 s at 30 frames a second."
    );
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
        let world =
            Affine3A::from_translation(place) * Affine3A::from_rotation_y(random.f32() * 6.0);
        (world, [0; 2].map(|_| random.f64() * LENGTH))
    };
    let characters = (0..characters).map(|_| character()).collect();
    Scene {
        skeleton,
        clips,
        part,
        characters,
    }
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
            lengths[joint] = lengths[usize::from(parent)]
                + scene.skeleton.rest_of(joint as u16).translation.length();
        }
    }
    let length = lengths.iter().copied().fold(0.0, f32::max);
    println!();
    for (keys, most) in [(Keys::Dense, STORED), (Keys::Optimized, THINNED)] {
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
        assert!(
            apart.iter().all(|&apart| apart <= most),
            "the two sides do not play the same"
        );
    }
}

/// The largest difference of two elements.
fn farthest(a: &[[f32; 16]], b: &[[f32; 16]]) -> f32 {
    assert_eq!(a.len(), b.len());
    let differences = a
        .as_flattened()
        .iter()
        .zip(b.as_flattened())
        .map(|(a, b)| (a - b).abs());
    // Not `max`, to which what is not a number is no difference.
    differences.fold(
        0.0,
        |most, difference| if difference <= most { most } else { difference },
    )
}

fn table(scene: &Scene) {
    let mut ours = Ours::new(scene);
    let [mut dense, mut optimized, mut ends] =
        [Keys::Dense, Keys::Optimized, Keys::Ends].map(|keys| Ozz::new(scene, keys));
    let (ours_jobs, ozz_jobs) = (jobs::<Ours>(), jobs::<Ozz>());
    let mut best = [[Duration::MAX; 4]; 4];
    for _ in 0..ROUNDS {
        for (job, best) in best.iter_mut().enumerate() {
            best[0] = best[0].min(turn(scene, &mut dense, ozz_jobs[job].1));
            best[1] = best[1].min(turn(scene, &mut optimized, ozz_jobs[job].1));
            best[2] = best[2].min(turn(scene, &mut ends, ozz_jobs[job].1));
            best[3] = best[3].min(turn(scene, &mut ours, ours_jobs[job].1));
        }
    }
    println!();
    let (joints, characters) = (scene.skeleton.len(), scene.characters.len());
    println!(
        "{joints} joints, {characters} characters | ozz, dense | ozz, optimized | ozz, ends only | ours | ozz to ours"
    );
    println!(
        "------------------------ | ---------: | -------------: | -------------: | ---: | ----------:"
    );
    for ((name, _), best) in ours_jobs.into_iter().zip(best) {
        let [dense, optimized, ends, ours] = best.map(|time| time.as_nanos() as f64 / TURN as f64);
        let ratios = [dense, optimized, ends]
            .map(|ozz| format!("{:.1}", ozz / ours))
            .join(" / ");
        println!("{name} | {dense:.0} | {optimized:.0} | {ends:.0} | {ours:.0} | {ratios}");
    }
}

type Job<S> = (&'static str, fn(&mut S, usize));

fn jobs<S: Side>() -> [Job<S>; 4] {
    [
        ("sample a clip", S::sample),
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
