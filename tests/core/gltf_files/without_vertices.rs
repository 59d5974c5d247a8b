//! Joints without vertices, which carry weapons and cameras: their turns count as the skin's do.

use super::{
    NO_NORMALS,
    file::{Chain, chain, random_turn},
    formula::Reference,
    import, variants,
};
use bevy_marionette::{
    internals::{
        import::CLIP_ERROR,
        pose::{ClipLayer, Compress, Evaluate, Scratch},
    },
    model::{Model, SkeletalClip},
};
use fastrand::Rng;
use glam::{DVec3, Quat, Vec3, Vec3A};
use serde_json::json;

/// The angle by which what is off that is a tenth of the model's size away from the joint. The error is a share of that size.
fn most_angle(error: f64) -> f64 {
    error / 0.1
}

/// The diagonal of the box around joints and vertices at rest.
fn size(model: &Model) -> f64 {
    let joints = model
        .skeleton
        .rest_model()
        .iter()
        .map(|joint| joint.translation.into());
    let all = joints.chain(model.parts.iter().flat_map(|part| &part.positions).copied());
    let (low, high) = all.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(a, b), p| {
        (a.min(p), b.max(p))
    });
    f64::from((high - low).length())
}

/// A chain that moves its own vertices, and at its end a socket without any, perhaps with another below it.
fn socket(rng: &mut Rng) -> (Chain, usize) {
    let scale = if rng.bool() { 0.5 } else { 1.0 };
    let mut chain = chain(3, json!({ "scale": [scale, scale, scale] }));
    let weapon = chain
        .file
        .node(json!({ "name": "weapon", "translation": [0.0, 1.0, 0.0] }));
    chain.file.json["nodes"][chain.joints[2]]["children"] = json!([weapon]);
    (chain, weapon)
}

/// The largest angle between the joint `weapon` and the specification's, in radians.
fn angle(
    model: &Model,
    clip: &SkeletalClip,
    reference: &Reference,
    animation: usize,
    weapon: usize,
) -> f64 {
    let joint = usize::from(model.skeleton.joint("weapon").unwrap());
    let mut worst = 0.0_f64;
    for at in 0..400 {
        let time = clip.timing.duration * (f64::from(at) + 0.37) / 400.0;
        let mut scratch = Scratch::default();
        Evaluate::new(&model.skeleton, &[ClipLayer::new(clip, time)]).run(&mut scratch);
        let matrix = reference.global(weapon, Some(animation), time);
        let got = scratch.model()[joint].matrix3;
        // Model space is turned by half a turn around Y, and so are the joint's own axes.
        for (expected, got, sign) in [
            (matrix.x_axis, got.x_axis, -1.0),
            (matrix.y_axis, got.y_axis, 1.0),
            (matrix.z_axis, got.z_axis, -1.0),
        ] {
            let expected = expected.truncate().normalize() * DVec3::new(-1.0, 1.0, -1.0) * sign;
            worst = worst.max(got.as_dvec3().normalize().distance(expected));
        }
    }
    worst
}

#[test]
fn a_spline_turns_a_socket_as_the_hermite_formula_says() {
    let (mut chain, weapon) = socket(&mut Rng::with_seed(0));
    let turned = Quat::from_rotation_z(10_f32.to_radians());
    let rows = [
        [0.0; 4],
        [0.0, 0.0, 0.0, 1.0],
        [0.0, 0.0, 3.0, 0.0],
        [0.0, 0.0, -3.0, 0.0],
        turned.to_array(),
        [0.0; 4],
    ];
    chain.file.channel(
        "spline",
        weapon,
        "rotation",
        "CUBICSPLINE",
        &[0.0, 1.0],
        &rows,
    );
    let (imported, _) = import(&chain.file, &[NO_NORMALS]);
    let model = &imported.model;
    let mut scratch = Scratch::default();
    Evaluate::new(&model.skeleton, &[ClipLayer::new(&model.clips[0], 0.5)]).run(&mut scratch);
    let matrix = scratch.model()[usize::from(model.skeleton.joint("weapon").unwrap())];
    // By hand: (0, 0, sin 5°, cos 5°)/2 + (0, 0, 0, 1)/2 + (0, 0, 3 + 3, 0)/8, of length one.
    let (z, w) = (
        5_f64.to_radians().sin() / 2.0 + 0.75,
        5_f64.to_radians().cos() / 2.0 + 0.5,
    );
    let expected = (2.0 * z.atan2(w)).to_degrees();
    assert!((expected - 76.98).abs() < 0.01);
    let got = matrix.matrix3.y_axis.angle_between(Vec3A::Y).to_degrees();
    assert!((f64::from(got) - expected).abs() < 0.06, "{got}°");
}

#[test]
fn sockets_turn_within_the_bound_whatever_their_keys() {
    let mut worst = 0.0_f64;
    for seed in variants(100) {
        let rng = &mut Rng::with_seed(seed);
        let (mut chain, weapon) = socket(rng);
        let times = [0.0, 0.3, 0.6, 1.1];
        if rng.bool() {
            let turns = times.map(|_| random_turn(rng, 1.5).to_array());
            chain
                .file
                .channel("turn", weapon, "rotation", "LINEAR", &times, &turns);
        } else {
            let mut tangent =
                |_: usize| -> [f32; 4] { std::array::from_fn(|_| 4.0 * rng.f32() - 2.0) };
            let tangents: Vec<[f32; 4]> = (0..8).map(&mut tangent).collect();
            let rows: Vec<[f32; 4]> = (0..4)
                .flat_map(|at| {
                    [
                        tangents[2 * at],
                        random_turn(rng, 1.0).to_array(),
                        tangents[2 * at + 1],
                    ]
                })
                .collect();
            chain
                .file
                .channel("turn", weapon, "rotation", "CUBICSPLINE", &times, &rows);
        }
        if rng.bool() {
            // What is above turns, too.
            let turns = times.map(|_| random_turn(rng, 0.8).to_array());
            chain.file.channel(
                "turn",
                chain.joints[2],
                "rotation",
                "LINEAR",
                &times,
                &turns,
            );
        }
        let (imported, reference) = import(&chain.file, &[NO_NORMALS]);
        let (model, clip) = (&imported.model, &imported.model.clips[0]);
        let off = angle(model, clip, &reference, 0, weapon);
        // What splines are off by is estimated.
        assert!(
            off < most_angle(f64::from(CLIP_ERROR)) * 1.5,
            "{seed}: off by {off}"
        );
        worst = worst.max(off);

        let bound = 0.01 * size(model);
        let small = Compress::new(&model.skeleton, &model.parts, bound as f32).run(clip);
        let off = angle(model, &small, &reference, 0, weapon);
        assert!(
            off < most_angle(0.01) * 1.05 + most_angle(f64::from(CLIP_ERROR)) * 1.5,
            "{seed}: compressed, off by {off}"
        );
    }
    println!("off by at most {:.3}°", worst.to_degrees());
}

#[test]
fn a_socket_that_is_scaled_by_a_spline_has_its_size() {
    let (mut chain, weapon) = socket(&mut Rng::with_seed(0));
    let rows = [[0.0; 3], [1.0; 3], [4.0; 3], [-4.0; 3], [1.0; 3], [0.0; 3]];
    chain
        .file
        .channel("swell", weapon, "scale", "CUBICSPLINE", &[0.0, 1.0], &rows);
    let (imported, _) = import(&chain.file, &[NO_NORMALS]);
    let model = &imported.model;
    let mut scratch = Scratch::default();
    Evaluate::new(&model.skeleton, &[ClipLayer::new(&model.clips[0], 0.5)]).run(&mut scratch);
    let got = scratch
        .joint(usize::from(model.skeleton.joint("weapon").unwrap()))
        .unwrap()
        .scale;
    // By hand: 1 + (4 + 4)/8.
    assert!((got - 2.0).abs().max_element() < 2e-3, "{got}");
}
