//! The rules of the blend, one by one, on poses of five joints.

use super::*;
use bevy_marionette::internals::pose::{Mix, MixScratch};
use glam::Vec4;
use std::sync::Arc;

const JOINTS: usize = 5;

fn at(x: f32, angle: f32) -> JointTransform {
    JointTransform {
        translation: Vec3::X * x,
        rotation: Quat::from_rotation_z(angle),
        scale: Vec3::splat(1.0 + x),
    }
}

/// A clip that holds the same transform for the joints it animates.
fn still_of(transform: JointTransform, animated: [bool; JOINTS]) -> SkeletalClip {
    let frames = ClipFrames {
        joints: ["a", "b", "c", "d", "e"].map(Into::into).into(),
        animated: animated.to_vec(),
        transforms: vec![transform; JOINTS],
    };
    SkeletalClip::new(ClipTiming::new("still", 1.0), &frames).unwrap()
}

fn still(transform: JointTransform) -> SkeletalClip {
    still_of(transform, [true; JOINTS])
}

fn layer(clip: &SkeletalClip, weight: f32) -> ClipLayer<'_> {
    ClipLayer {
        weight,
        ..ClipLayer::new(clip, 0.0)
    }
}

fn high(clip: &SkeletalClip, weight: f32) -> ClipLayer<'_> {
    ClipLayer {
        priority: TrackPriority::High,
        ..layer(clip, weight)
    }
}

fn with_mode(mode: BlendMode, clip: &SkeletalClip, weight: f32) -> ClipLayer<'_> {
    ClipLayer {
        mode,
        ..layer(clip, weight)
    }
}

fn job<'a>(layers: &'a [ClipLayer], priority_blend: f32, rest: &'a [SoaTransform]) -> Mix<'a> {
    Mix {
        layers,
        priority_blend,
        rest,
        unit_scale: false,
    }
}

fn rest() -> Vec<SoaTransform> {
    SoaTransform::rows(&[at(9.0, 2.0); JOINTS])
}

fn mix(layers: &[ClipLayer], priority_blend: f32) -> Vec<JointTransform> {
    let (rest, mut out) = (rest(), rest());
    job(layers, priority_blend, &rest).run(&mut MixScratch::default(), &mut out);
    (0..JOINTS)
        .map(|joint| out[joint / 4].get(joint % 4))
        .collect()
}

fn near(a: JointTransform, b: JointTransform) -> bool {
    (a.translation - b.translation).length() < 1e-5
        && (a.scale - b.scale).length() < 1e-5
        && a.rotation.dot(b.rotation).abs() > 1.0 - 1e-6
}

fn near_numbers(a: &[f32], b: &[f32]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6)
}

// ---- averaging -----------------------------------------------------------------------------------

#[test]
fn rule_3_positions_are_means_and_rotations_n_way_nlerp() {
    let out = mix(
        &[
            layer(&still(at(0.0, 0.0)), 3.0),
            layer(&still(at(2.0, 1.0)), 1.0),
        ],
        0.5,
    );
    let rotation =
        (Quat::from_rotation_z(0.0) * 0.75 + Quat::from_rotation_z(1.0) * 0.25).normalize();
    let mean = JointTransform {
        translation: Vec3::X * 0.5,
        rotation,
        scale: Vec3::splat(1.5),
    };
    assert!(near(out[0], mean), "{out:?}");
}

#[test]
fn a_quaternion_in_the_other_hemisphere_is_the_same_rotation() {
    let negated = JointTransform {
        rotation: -Quat::from_rotation_z(0.4),
        ..at(0.0, 0.0)
    };
    let out = mix(
        &[
            layer(&still(at(0.0, 0.2)), 1.0),
            layer(&still(negated), 1.0),
        ],
        0.5,
    )[1]
    .rotation;
    assert!(
        out.dot(Quat::from_rotation_z(0.3)).abs() > 1.0 - 1e-6,
        "{out}"
    );
}

#[test]
fn rule_2_a_joint_is_normalized_over_the_layers_that_reach_it() {
    let (a, b) = (still(at(1.0, 0.1)), still(at(2.0, 0.5)));
    let mask = Mask::from_weights([1.0, 0.0, 0.5, 0.0, 0.0]);
    let masked = ClipLayer {
        mask: Some(&mask),
        ..layer(&b, 1.0)
    };
    let out = mix(&[layer(&a, 1.0), masked], 0.5);
    assert!(near(out[1], at(1.0, 0.1)));
    assert!((out[0].translation.x - 1.5).abs() < 1e-6);
    assert!((out[2].translation.x - 4.0 / 3.0).abs() < 1e-6);
    let out = mix(&[masked], 0.5);
    assert!(
        near(out[2], at(2.0, 0.5)),
        "alone, half a weight is all of it"
    );
    assert!(near(out[3], at(9.0, 2.0)));
}

#[test]
fn rule_2_a_layer_does_not_reach_joints_its_clip_does_not_animate() {
    let (all, some) = (
        still(at(1.0, 0.0)),
        still_of(at(3.0, 0.0), [true, false, false, false, true]),
    );
    let x_of = |out: Vec<JointTransform>| [0, 1, 4].map(|joint| out[joint].translation.x);
    assert_eq!(
        x_of(mix(&[layer(&all, 1.0), layer(&some, 1.0)], 0.5)),
        [2.0, 1.0, 2.0]
    );
    assert_eq!(x_of(mix(&[layer(&some, 1.0)], 0.5)), [3.0, 9.0, 3.0]);
}

#[test]
fn a_mask_of_another_length_reaches_only_the_joints_it_has() {
    let (a, mask) = (still(at(1.0, 0.0)), Mask::full(3));
    let out = mix(
        &[ClipLayer {
            mask: Some(&mask),
            ..layer(&a, 1.0)
        }],
        0.5,
    );
    assert_eq!(
        [0, 2, 3, 4].map(|joint| out[joint].translation.x),
        [1.0, 1.0, 9.0, 9.0]
    );
}

#[test]
fn nothing_to_blend_is_the_rest_pose() {
    let a = still(at(1.0, 0.1));
    for weight in [0.0, f32::NAN, f32::INFINITY, -1.0] {
        assert_eq!(mix(&[layer(&a, weight)], 0.5), [at(9.0, 2.0); JOINTS]);
    }
    assert_eq!(mix(&[], 0.5), [at(9.0, 2.0); JOINTS]);
}

#[test]
fn weights_from_the_smallest_to_the_largest_number_give_the_same_mean() {
    let (a, b) = (still(at(1.0, 0.1)), still(at(2.0, 0.5)));
    let expected = mix(&[layer(&a, 0.5), layer(&b, 1.0)], 0.5);
    for weight in [f32::MIN_POSITIVE, 1e-20, 1e20, f32::MAX] {
        let out = mix(&[layer(&a, weight * 0.5), layer(&b, weight)], 0.5);
        assert!(near(out[0], expected[0]), "{weight}");
    }
    let out = mix(&[layer(&a, f32::MAX), layer(&b, f32::MIN_POSITIVE)], 0.5);
    assert!(near(out[0], at(1.0, 0.1)));
}

// ---- priorities ----------------------------------------------------------------------------------

#[test]
fn rule_2_the_groups_are_mixed_by_the_priority_blend() {
    let (a, b) = (still(at(1.0, 0.0)), still(at(2.0, 1.0)));
    for (blend, x) in [
        (0.0, 1.0),
        (0.5, 1.5),
        (1.0, 2.0),
        (7.0, 2.0),
        (f32::NAN, 1.0),
    ] {
        let out = mix(&[layer(&a, 5.0), high(&b, 1.0)], blend)[0];
        assert!((out.translation.x - x).abs() < 1e-6, "{blend} {out:?}");
    }
}

#[test]
fn rule_2_low_then_high_then_both_by_the_priority_blend() {
    let (a, b) = (still(at(1.0, 0.0)), still(at(3.0, 0.0)));
    let c = still_of(at(6.0, 0.0), [false, true, false, false, false]);
    let out = mix(
        &[layer(&a, 1.0), high(&b, 1.0), layer(&b, 1.0), high(&c, 2.0)],
        0.25,
    );
    // Low: 2 everywhere. High: 3, and for joint 1 (1 · 3 + 2 · 6) / 3 = 5.
    assert!(near_numbers(
        &[out[0].translation.x, out[1].translation.x],
        &[2.25, 2.75]
    ));
}

#[test]
fn rule_2_an_empty_priority_group_leaves_the_other_alone() {
    let (a, b) = (still(at(1.0, 0.0)), still(at(2.0, 1.0)));
    let mask = Mask::from_weights([1.0, 0.0, 0.0, 0.0, 0.0]);
    let masked = |layer| ClipLayer {
        mask: Some(&mask),
        ..layer
    };
    let out = mix(&[layer(&a, 1.0), masked(high(&b, 1.0))], 1.0);
    assert!(near(out[0], at(2.0, 1.0)) && near(out[1], at(1.0, 0.0)));
    let out = mix(&[masked(layer(&b, 1.0)), high(&a, 1.0)], 0.0);
    assert!(near(out[0], at(2.0, 1.0)) && near(out[1], at(1.0, 0.0)));
    let out = mix(&[masked(layer(&b, 1.0)), high(&a, 0.0)], 1.0);
    assert!(near(out[0], at(2.0, 1.0)));
    assert!(near(out[1], at(9.0, 2.0)));
}

#[test]
fn d3dx_pairs_of_high_tracks_are_exact() {
    let (a, b) = (still(at(1.0, 0.0)), still(at(3.0, 0.0)));
    for (weights, x) in [([0.4, 0.6], 2.2), ([0.6, 0.4], 1.8), ([1.0, 0.0], 1.0)] {
        let out = mix(&[high(&a, weights[0]), high(&b, weights[1])], 0.5)[0];
        assert!((out.translation.x - x).abs() < 1e-6, "{weights:?} {out:?}");
    }
}

#[test]
fn a_priority_counts_by_its_total_weight_up_to_one() {
    let (a, b) = (still(at(0.0, 0.0)), still(at(1.0, 0.0)));
    let high_share = |low, high_weight, blend| {
        mix(&[layer(&a, low), high(&b, high_weight)], blend)[0]
            .translation
            .x
    };
    for (low, high, blend, expected) in [
        (1.0, 0.5, 0.5, 0.25),
        (1.0, 0.5, 1.0, 0.5),
        (4.0, 0.1, 1.0, 0.1),
        (0.5, 1.0, 0.5, 0.75),
        (0.5, 1.0, 0.0, 0.5),
        (1.0, 7.0, 0.3, 0.3),
    ] {
        let share = high_share(low, high, blend);
        assert!(
            (share - expected).abs() < 1e-6,
            "{low} {high} {blend}: {share}, not {expected}"
        );
    }
}

#[test]
fn a_fade_of_either_priority_is_continuous_down_to_no_weight() {
    let (a, b) = (still(at(0.0, 0.0)), still(at(1.0, 2.0)));
    let pose = |low, high_weight, blend| mix(&[layer(&a, low), high(&b, high_weight)], blend)[0];
    for blend in [0.0, 0.3, 0.5, 1.0] {
        for step in 0..100 {
            // The shares change by no more than the weight does times its slope at most: 1 / (1 − 0.01) here.
            let (weight, next) = (step as f32 / 100.0, (step + 1) as f32 / 100.0);
            for (from, to) in [
                (pose(1.0, weight, blend), pose(1.0, next, blend)),
                (pose(weight, 1.0, blend), pose(next, 1.0, blend)),
            ] {
                assert!(
                    (from.translation.x - to.translation.x).abs() < 0.011,
                    "{blend} {weight}"
                );
                assert!(
                    from.rotation.angle_between(to.rotation) < 0.03,
                    "{blend} {weight}"
                );
            }
        }
    }
}

#[test]
fn a_masked_high_layer_fades_with_its_mask() {
    let (a, b) = (still(at(0.0, 0.0)), still(at(1.0, 0.0)));
    let mask = Mask::from_weights([1.0, 0.5, 0.001, 0.0, 0.0]);
    let out = mix(
        &[
            layer(&a, 1.0),
            ClipLayer {
                mask: Some(&mask),
                ..high(&b, 1.0)
            },
        ],
        1.0,
    );
    let xs: Vec<f32> = out.iter().map(|joint| joint.translation.x).collect();
    assert!(near_numbers(&xs, &[1.0, 0.5, 0.001, 0.0, 0.0]), "{xs:?}");
}

// ---- overlays ------------------------------------------------------------------------------------

fn base() -> JointTransform {
    JointTransform {
        translation: Vec3::new(1.0, 2.0, 3.0),
        rotation: Quat::from_rotation_y(0.7),
        scale: Vec3::new(1.0, 2.0, 0.5),
    }
}

fn target() -> JointTransform {
    JointTransform {
        translation: Vec3::new(-1.0, 0.0, 4.0),
        rotation: Quat::from_euler(glam::EulerRot::XYZ, 0.3, -0.4, 0.9),
        scale: Vec3::new(2.0, 1.0, 1.0),
    }
}

fn added(weight: f32, mask: Option<&Mask>) -> Vec<JointTransform> {
    let mut difference = still(target().difference_to(&base()));
    difference.additive = true;
    let base = still(base());
    mix(
        &[
            layer(&base, 1.0),
            ClipLayer {
                mask,
                ..with_mode(BlendMode::Additive, &difference, weight)
            },
        ],
        0.5,
    )
}

#[test]
fn a_whole_difference_turns_the_base_into_the_pose_and_none_leaves_it() {
    assert!(near(added(1.0, None)[0], target()));
    assert!(near(added(0.0, None)[0], base()));
    assert!(near(added(f32::NAN, None)[0], base()));
}

#[test]
fn a_mask_limits_an_additive_layer() {
    let out = added(1.0, Some(&Mask::from_weights([0.0, 1.0, 0.5, 0.0, 0.0])));
    assert!(near(out[0], base()) && near(out[1], target()));
    assert_eq!(out[2].translation, Vec3::new(0.0, 1.0, 3.5));
    let turned = base().rotation.angle_between(out[2].rotation);
    let whole = base().rotation.angle_between(target().rotation);
    assert!(
        (turned - whole / 2.0).abs() < 1e-3,
        "nlerp is exact half way"
    );
}

#[test]
fn poses_stay_finite_whatever_the_weight_of_an_additive_layer() {
    let half_turn = JointTransform::new(Vec3::MAX / 64.0, Quat::from_xyzw(1.0, 0.0, 0.0, 0.0));
    let (base, mut difference) = (still(base()), still(half_turn));
    difference.additive = true;
    for weight in [0.5, 1.0, 2.0, 1e9, f32::INFINITY] {
        let out = mix(
            &[
                layer(&base, 1.0),
                with_mode(BlendMode::Additive, &difference, weight),
            ],
            0.5,
        )[0];
        assert!(
            out.is_finite() && (out.rotation.length() - 1.0).abs() < 1e-6,
            "{weight} {out:?}"
        );
    }
}

#[test]
fn an_override_replaces_what_is_below_by_its_weight() {
    let (below, above) = (still(base()), still(target()));
    let replaced = |weight: f32, mask: f32| {
        let mask = Mask::from_weights([mask; JOINTS]);
        let over = ClipLayer {
            mask: Some(&mask),
            ..with_mode(BlendMode::Override, &above, weight)
        };
        mix(&[layer(&below, 1.0), over], 0.5)[3]
    };
    for (weight, mask, like) in [
        (1.0, 1.0, target()),
        (0.0, 1.0, base()),
        (1.0, 0.0, base()),
        (9.0, 1.0, target()),
    ] {
        assert!(near(replaced(weight, mask), like), "{weight} {mask}");
    }
    assert!(
        replaced(0.5, 0.5)
            .translation
            .abs_diff_eq(base().translation.lerp(target().translation, 0.25), 1e-6)
    );
}

#[test]
fn overlays_come_after_the_blend_in_their_own_order() {
    let (a, b) = (
        still(at(1.0, 0.0)),
        still_of(at(3.0, 0.0), [true, true, true, true, false]),
    );
    let mut difference = b.clone();
    difference.additive = true;
    let over = with_mode(BlendMode::Override, &b, 0.5);
    let add = with_mode(BlendMode::Additive, &difference, 2.0);
    let out = mix(&[over, layer(&a, 1.0), add], 0.5);
    assert_eq!(
        [out[0].translation.x, out[4].translation.x],
        [(1.0 + 3.0) / 2.0 + 6.0, 1.0]
    );
    let out = mix(&[add, over, layer(&a, 1.0)], 0.5);
    assert_eq!(out[0].translation.x, (1.0 + 6.0 + 3.0) / 2.0);
}

#[test]
fn a_clip_of_differences_is_added_whatever_the_mode_says() {
    let (below, mut difference) = (still(base()), still(target().difference_to(&base())));
    difference.additive = true;
    assert_eq!(ClipLayer::new(&difference, 0.0).mode, BlendMode::Additive);
    let added = mix(
        &[
            layer(&below, 1.0),
            with_mode(BlendMode::Additive, &difference, 1.0),
        ],
        0.5,
    );
    for mode in [BlendMode::Blend, BlendMode::Override] {
        let wrong = ClipLayer {
            priority: TrackPriority::High,
            ..with_mode(mode, &difference, 1.0)
        };
        assert_eq!(wrong.effective_mode(), BlendMode::Additive);
        assert_eq!(mix(&[layer(&below, 1.0), wrong], 0.5), added);
    }
}

#[test]
fn any_other_clip_is_added_by_its_difference_to_the_rest_pose() {
    let (below, other) = (
        still(base()),
        still_of(target(), [true, true, true, true, false]),
    );
    let mut difference = still_of(
        target().difference_to(&at(9.0, 2.0)),
        [true, true, true, true, false],
    );
    difference.additive = true;
    for weight in [0.3, 1.0, 2.0] {
        let [plain, expected] = [&other, &difference].map(|clip| {
            mix(
                &[
                    layer(&below, 1.0),
                    with_mode(BlendMode::Additive, clip, weight),
                ],
                0.5,
            )
        });
        assert!(
            plain.iter().zip(&expected).all(|(a, b)| near(*a, *b)),
            "{plain:?} {expected:?}"
        );
    }
    let nothing = mix(
        &[with_mode(BlendMode::Additive, &still(at(9.0, 2.0)), 1.0)],
        0.5,
    );
    assert!(
        nothing.iter().all(|joint| near(*joint, at(9.0, 2.0))),
        "the rest pose adds nothing"
    );
}

#[test]
fn a_clip_minus_its_first_frame_starts_with_no_difference() {
    let transforms = [base(), target()].map(|pose| [pose; JOINTS]).concat();
    let frames = ClipFrames {
        joints: still(base()).joints().clone(),
        animated: vec![],
        transforms,
    };
    let joint = |name: &Arc<str>| Joint {
        name: name.clone(),
        parent: None,
        rest: base(),
        inverse_bind: Affine3A::IDENTITY,
    };
    let skeleton = Skeleton::new(frames.joints.iter().map(joint).collect()).unwrap();
    let nod = SkeletalClip::new(ClipTiming::new("nod", 1.0), &frames).unwrap();
    let difference = nod.to_additive(&skeleton).unwrap();
    assert!(difference.additive);
    assert!(near(
        difference.transform_at(0, 0),
        JointTransform::IDENTITY
    ));
    let base = still(base());
    assert!(near(
        mix(&[layer(&base, 1.0), ClipLayer::new(&difference, 1.0)], 0.5)[0],
        target()
    ));
}

// ---- shares --------------------------------------------------------------------------------------

fn shares(layers: &[(BlendMode, TrackPriority, f32)], priority_blend: f32) -> Vec<f32> {
    let clip = still(at(1.0, 0.0));
    let make = |&(mode, priority, weight)| ClipLayer {
        priority,
        ..with_mode(mode, &clip, weight)
    };
    let layers: Vec<_> = layers.iter().map(make).collect();
    job(&layers, priority_blend, &rest()).shares(0)
}

#[test]
fn the_shares_of_groups_are_normalized_and_then_mixed_by_the_priority_blend() {
    use {BlendMode::Blend, TrackPriority::*};
    assert_eq!(
        shares(&[(Blend, Low, 3.0), (Blend, Low, 1.0)], 0.9),
        [0.75, 0.25]
    );
    let mixed = shares(
        &[(Blend, Low, 3.0), (Blend, Low, 1.0), (Blend, High, 0.1)],
        0.6,
    );
    assert!(
        near_numbers(&mixed, &[0.705, 0.235, 0.06]),
        "a high priority of weight 0.1 counts by that: {mixed:?}"
    );
    assert_eq!(
        shares(&[(Blend, Low, 0.0), (Blend, High, 0.1)], 0.2),
        [0.0, 1.0]
    );
}

#[test]
fn an_override_takes_its_share_from_everything_below_and_an_additive_layer_takes_nothing() {
    use {BlendMode::*, TrackPriority::*};
    let shares = shares(
        &[
            (Override, Low, 0.5),
            (Blend, Low, 2.0),
            (Additive, High, 0.7),
            (Override, High, 0.5),
        ],
        0.5,
    );
    assert_eq!(shares, [0.25, 0.25, 0.35, 0.5]);
}

#[test]
fn what_shares_leave_of_one_is_the_rest_pose() {
    let (a, b) = (
        still(at(1.0, 0.0)),
        still_of(at(3.0, 0.0), [true, false, true, true, true]),
    );
    let mask = Mask::from_weights([1.0, 1.0, 0.5, 0.0, 1.0]);
    let layers = [
        ClipLayer {
            mask: Some(&mask),
            ..layer(&a, 0.7)
        },
        high(&b, 0.2),
        ClipLayer {
            mask: Some(&mask),
            ..with_mode(BlendMode::Override, &a, 0.4)
        },
    ];
    let (out, xs) = (mix(&layers, 0.3), Vec4::new(1.0, 3.0, 1.0, 9.0));
    for (joint, out) in out.into_iter().enumerate() {
        let shares = job(&layers, 0.3, &rest()).shares(joint);
        let left = 1.0 - shares.iter().sum::<f32>();
        let expected = xs.dot(Vec4::new(shares[0], shares[1], shares[2], left));
        assert!(
            (out.translation.x - expected).abs() < 1e-5,
            "{joint}: {shares:?} {out:?}"
        );
    }
    assert_eq!(job(&layers, 0.3, &rest()).shares(99), [0.0; 3]);
}
