//! Chains of bones against the formula of what they can reach: from the longest bone less all others, to all of them.

use bevy_marionette::{
    internals::{
        pose::PoseMut,
        rig::{ChainIk, IkScratch},
    },
    model::{Joint, JointIndex, JointTransform, Skeleton},
};
use fastrand::Rng;
use glam::{Affine3A, DVec3, Quat, Vec3};

fn direction(rng: &mut Rng) -> Vec3 {
    Vec3::new(rng.f32() - 0.5, rng.f32() - 0.5, rng.f32() - 0.5)
        .try_normalize()
        .unwrap_or(Vec3::X)
}

/// A chain of bones of these lengths.
fn skeleton(lengths: &[f32], rng: &mut Rng) -> Skeleton {
    let bent = [0.0, 0.3, 3.0][rng.usize(..3)];
    let joint = |i: usize| Joint {
        name: "".into(),
        parent: i.checked_sub(1).map(|parent| parent as JointIndex),
        rest: JointTransform::new(
            if i == 0 {
                Vec3::new(0.3, 1.0, -0.2)
            } else {
                Vec3::Y * lengths[i - 1]
            },
            Quat::from_axis_angle(direction(rng), bent * rng.f32()),
        ),
        inverse_bind: Affine3A::IDENTITY,
    };
    Skeleton::new((0..=lengths.len()).map(joint).collect()).unwrap()
}

#[test]
fn chains_reach_whatever_they_can_in_any_number_of_passes() {
    let long = std::env::var("MARIONETTE_CHAINS")
        .ok()
        .and_then(|count| count.parse().ok());
    let count: u64 = long.unwrap_or(20_000);
    let (mut worst, mut failed, mut scratch) = ([0.0_f64; 8], Vec::new(), IkScratch::default());
    for seed in 0..count {
        let mut rng = Rng::with_seed(seed);
        let bones = rng.usize(1..11);
        let lengths: Vec<f32> = match rng.u8(..4) {
            0 => vec![1.0; bones],
            1 => (0..bones).map(|_| 0.01 + rng.f32().powi(4)).collect(),
            _ => (0..bones).map(|_| 0.1 + rng.f32()).collect(),
        };
        let skeleton = skeleton(&lengths, &mut rng);
        let (reach, longest) =
            lengths
                .iter()
                .fold((0.0, 0.0), |(sum, most): (f64, f64), length| {
                    (sum + f64::from(*length), most.max(f64::from(*length)))
                });
        let nearest = (2.0 * longest - reach).max(0.0);
        let away = match rng.u8(..8) {
            0 => nearest,
            1 => reach,
            // Beyond what it can reach, on either side.
            2 => nearest * rng.f64(),
            3 => reach * (1.0 + rng.f64()),
            // Mostly near the root.
            _ => nearest + (reach - nearest) * rng.f64().powi(rng.i32(1..4)),
        };
        let root = Vec3::new(0.3, 1.0, -0.2);
        let along = direction(&mut rng);
        let target = root + along * away as f32;
        let iterations = rng.u16(..8);
        let pole = rng.bool().then(|| root + direction(&mut rng) * 3.0);
        let (mut local, mut model) = (skeleton.rest().to_vec(), skeleton.rest_model().to_vec());
        let mut pose = PoseMut::new(&skeleton, &mut local, &mut model);
        let ik = ChainIk {
            iterations,
            pole,
            ..ChainIk::new(bones as JointIndex, bones as u16, target)
        };
        assert!(ik.run(&mut scratch, &mut pose));
        let [tip, root, target] =
            [pose.position(bones as JointIndex), root, target].map(Vec3::as_dvec3);
        // The place on the line to the target that is nearest to it and can be reached.
        let wanted = (target - root).length().clamp(nearest, reach);
        let miss = match (target - root).try_normalize() {
            Some(along) => tip.distance(root + along * wanted),
            None => (tip.distance(root) - wanted).abs(),
        } / reach;
        let worst = &mut worst[usize::from(iterations)];
        *worst = worst.max(miss);
        if miss > 2e-4 {
            failed.push((seed, bones, iterations, miss));
        }
        for (joint, length) in lengths.iter().enumerate() {
            let [a, b]: [DVec3; 2] =
                [joint, joint + 1].map(|joint| pose.position(joint as JointIndex).as_dvec3());
            assert!(
                (a.distance(b) - f64::from(*length)).abs() < 1e-5 * reach,
                "bones keep their length"
            );
        }
    }
    let worst = worst.map(|miss| format!("{miss:.1e}"));
    println!("{count} chains; the worst miss for 0 to 7 passes, of the chain's length: {worst:?}");
    assert!(
        failed.is_empty(),
        "{} of {count} missed: {:?}",
        failed.len(),
        &failed[..failed.len().min(9)]
    );
}
