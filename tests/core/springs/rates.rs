//! Chains of one to four bones on the same path at different frame rates.
//!
//! Frames sample the path, and corners of it, where velocity jumps, are at times that all rates have a frame for: multiples
//! of 1/30 s.

use bevy_marionette::{
    internals::{
        pose::PoseMut,
        rig::{SpringChain, SpringFrame, SpringScratch, SpringSettings, SpringState, Springs},
    },
    model::{Joint, JointTransform, Skeleton},
};
use fastrand::Rng;
use glam::{Affine3A, Quat, Vec3};

/// Seconds between the times at which paths are compared.
const PERIOD: f64 = 1.0 / 30.0;

/// A body with a chain of `bones` on it.
fn skeleton(bones: usize, way: Vec3) -> Skeleton {
    let joint = |at: usize| Joint {
        name: "joint".into(),
        parent: at.checked_sub(1).map(|at| at as u16),
        rest: JointTransform::new(if at == 0 { Vec3::Y } else { way }, Quat::IDENTITY),
        inverse_bind: Affine3A::IDENTITY,
    };
    Skeleton::new((0..bones + 2).map(joint).collect()).unwrap()
}

/// The places and directions of a character, a thirtieth of a second apart. In between, it moves in straight lines.
fn corners(random: &mut Rng, is_abrupt: bool) -> Vec<(Vec3, f32)> {
    let (mut goal, mut at, mut velocity, mut yaw) = (Vec3::ZERO, Vec3::ZERO, Vec3::ZERO, 0.0);
    let corner = |i: usize| {
        if i.is_multiple_of(15) {
            goal = Vec3::new(random.f32() - 0.5, 0.0, random.f32() - 0.5) * 3.0;
        }
        if is_abrupt {
            velocity = goal;
            yaw += (random.f32() - 0.5) * 0.1;
        } else {
            velocity += (goal - velocity) / 15.0;
        }
        at += velocity * PERIOD as f32;
        (at, yaw)
    };
    (0..200).map(corner).collect()
}

fn between(corners: &[(Vec3, f32)], t: f64) -> Affine3A {
    let before = ((t / PERIOD + 1e-9) as usize).min(corners.len() - 2);
    let share = (t / PERIOD - before as f64) as f32;
    let ([at, next], [yaw, to]) = (
        [before, before + 1].map(|i| corners[i].0),
        [before, before + 1].map(|i| corners[i].1),
    );
    super::world(at.lerp(next, share), yaw + (to - yaw) * share)
}

/// The places of all joints every [`PERIOD`], given the shares of it that its frames take.
fn path(
    skeleton: &Skeleton,
    settings: SpringSettings,
    world: &dyn Fn(f64) -> Affine3A,
    mut frames: impl FnMut() -> Vec<f64>,
) -> Vec<Vec<Vec3>> {
    let chain = SpringChain {
        root: 1,
        settings,
        colliders: vec![],
    };
    let springs = Springs::new(skeleton, &[chain], &[]);
    let (mut state, mut scratch) = (SpringState::default(), SpringScratch::default());
    let mut frame = |t: f64, dt: f64| {
        let (mut local, mut model) = (skeleton.rest().to_vec(), skeleton.rest_model().to_vec());
        let mut pose = PoseMut::new(skeleton, &mut local, &mut model);
        let frame = SpringFrame {
            dt,
            world: world(t),
            ..SpringFrame::default()
        };
        springs.run(&frame, &mut state, &mut scratch, &mut pose);
        model.iter().map(|joint| joint.translation.into()).collect()
    };
    let mut places: Vec<Vec3> = frame(0.0, 0.0);
    let mut t = 0.0;
    (1..190)
        .map(|period| {
            let (frames, end) = (frames(), f64::from(period) * PERIOD);
            let (sum, start) = (frames.iter().sum::<f64>(), t);
            for (i, share) in frames.iter().enumerate() {
                let next = if i + 1 == frames.len() {
                    end
                } else {
                    t + (end - start) * share / sum
                };
                places = frame(next, next - t);
                t = next;
            }
            places.clone()
        })
        .collect()
}

/// Returns the largest difference from 240 Hz at 30, 60, 120, uneven, and 990 frames per second, as a share of how far joints swing.
fn differences(
    skeleton: &Skeleton,
    settings: SpringSettings,
    world: &dyn Fn(f64) -> Affine3A,
) -> [f32; 5] {
    let base = path(skeleton, settings, world, || vec![1.0; 8]);
    let rest = skeleton
        .rest_model()
        .iter()
        .map(|joint| Vec3::from(joint.translation));
    let rest: Vec<Vec3> = rest.collect();
    let apart = |a: &[Vec3], b: &[Vec3]| {
        a.iter()
            .zip(b)
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f32::max)
    };
    let swing = base
        .iter()
        .map(|places| apart(places, &rest))
        .fold(0.0, f32::max);
    assert!(swing > 1e-3, "the path swings something: {swing}");
    let mut random = Rng::with_seed(1);
    [0, 1, 2, 3, 4].map(|rate| {
        let frames = || match rate {
            3 => (0..random.usize(1..7))
                .map(|_| 0.1 + random.f64())
                .collect(),
            even => vec![1.0; [1, 2, 4, 0, 33][even]],
        };
        let other = path(skeleton, settings, world, frames);
        let off = base.iter().zip(&other).map(|(a, b)| apart(a, b));
        off.fold(0.0, f32::max) / swing
    })
}

fn table(name: &str, world: &dyn Fn(&mut Rng) -> Box<dyn Fn(f64) -> Affine3A>) {
    let mut over = Vec::new();
    for damping in [0.1, 0.2, 0.5, 1.0] {
        for frequency in [0.5, 1.0, 2.0, 4.0] {
            let mut worst = [0.0_f32; 5];
            for (seed, gravity) in [0.0, 0.3, 1.0].into_iter().cycle().take(9).enumerate() {
                let mut random = Rng::with_seed(seed as u64 * 977 + (frequency * 10.0) as u64);
                let settings = SpringSettings {
                    frequency,
                    damping,
                    gravity,
                    ..SpringSettings::default()
                };
                let bones = random.usize(1..5);
                let height = if gravity > 0.5 { -0.1 } else { 0.1 };
                let skeleton = skeleton(bones, Vec3::new(0.02, height, 0.03));
                let world = world(&mut random);
                let found = differences(&skeleton, settings, &*world);
                worst = [0, 1, 2, 3, 4].map(|rate| worst[rate].max(found[rate]));
            }
            println!(
                "{name}, damping {damping}, {frequency} Hz: {:.2?} %",
                worst.map(|off| off * 100.0)
            );
            if worst.iter().any(|off| *off > 0.01) {
                over.push((damping, frequency, worst));
            }
        }
    }
    assert!(over.is_empty(), "{name}: {over:?}");
}

#[test]
fn where_a_character_starts_and_stops_abruptly_springs_swing_alike_at_any_frame_rate() {
    table("abrupt", &|random| {
        let corners = corners(random, true);
        Box::new(move |t| between(&corners, t))
    });
}

#[test]
fn where_a_character_gains_speed_springs_swing_alike_at_any_frame_rate() {
    table("gradual", &|random| {
        let corners = corners(random, false);
        Box::new(move |t| between(&corners, t))
    });
}

#[test]
fn where_a_character_sways_springs_swing_alike_at_any_frame_rate() {
    table("smooth", &|random| {
        let [a, b, c] = [0; 3].map(|_| 3.0 + 3.0 * random.f64());
        Box::new(move |t| {
            let wave = |rate: f64| (1.0 - (t * rate).cos()) as f32;
            super::world(Vec3::new(wave(a) * 0.3, 0.0, wave(b) * 0.3), wave(c) * 0.5)
        })
    });
}

#[test]
fn ten_kilometers_from_the_origin_springs_swing_as_at_it() {
    for (name, is_abrupt) in [("abrupt", true), ("gradual", false)] {
        let corners = corners(&mut Rng::with_seed(7), is_abrupt);
        let skeleton = skeleton(3, Vec3::new(0.02, 0.1, 0.03));
        let settings = SpringSettings {
            frequency: 2.0,
            ..SpringSettings::default()
        };
        let away = Vec3::new(1e4, 0.0, -1e4);
        let far = |t: f64| Affine3A::from_translation(away) * between(&corners, t);
        // As far as numbers there can tell: they are a millimeter apart.
        let near = |t: f64| Affine3A::from_translation(-away) * far(t);
        let exact = |t: f64| between(&corners, t);
        let worlds: [&dyn Fn(f64) -> Affine3A; 3] = [&far, &near, &exact];
        let [far, near, exact] =
            worlds.map(|world| path(&skeleton, settings, world, || vec![1.0; 2]).concat());
        let off = |a: &[Vec3], b: &[Vec3]| {
            let off = a.iter().zip(b).map(|(a, b)| a.distance(*b));
            off.fold(0.0, f32::max)
        };
        let rest: Vec<Vec3> =
            path(&skeleton, settings, &|_| Affine3A::IDENTITY, || vec![1.0]).concat();
        let swing = off(&exact, &rest);
        let [same, rounded] = [&near, &exact].map(|path| off(&far, path) / swing);
        println!("{name}: {same} {rounded} of {swing} m");
        assert!(same < 1e-3, "{name}: {same}");
        assert!(rounded < 0.02, "{name}: {rounded}");
    }
}
