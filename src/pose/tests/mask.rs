use super::*;
use crate::model::{Joint, JointTransform};
use glam::Affine3A;

/// hips 0 → spine 1 → chest 2 → (head 3, arm 4 → hand 5); hips → leg 6
fn skeleton() -> Skeleton {
    let joint = |parent| Joint {
        name: "".into(),
        parent,
        rest: JointTransform::IDENTITY,
        inverse_bind: Affine3A::IDENTITY,
    };
    let parents = [None, Some(0), Some(1), Some(2), Some(2), Some(4), Some(0)];
    Skeleton::new(parents.map(joint).to_vec()).unwrap()
}

fn weights(roots: &[JointIndex], falloff: u32) -> Vec<f32> {
    Mask::from_roots(&skeleton(), roots, falloff)
        .iter()
        .collect()
}

#[test]
fn roots_and_their_descendants_are_in() {
    assert_eq!(weights(&[2], 0), [0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0]);
    assert_eq!(weights(&[3, 6], 0), [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
    assert_eq!(weights(&[], 3), [0.0; 7]);
    assert_eq!(weights(&[77], 3), [0.0; 7]);
}

#[test]
fn ancestors_of_a_root_fade_out_and_their_other_branches_stay_out() {
    assert_eq!(weights(&[2], 1), [0.0, 0.5, 1.0, 1.0, 1.0, 1.0, 0.0]);
    assert_eq!(weights(&[4], 3), [0.25, 0.5, 0.75, 0.0, 1.0, 1.0, 0.0]);
    assert_eq!(
        weights(&[4], 1000).len(),
        7,
        "a falloff longer than the chain ends at its root"
    );
}

#[test]
fn of_several_roots_the_largest_weight_counts() {
    assert_eq!(
        weights(&[5, 2], 2),
        [1.0 - 2.0 / 3.0, 1.0 - 1.0 / 3.0, 1.0, 1.0, 1.0, 1.0, 0.0]
    );
}

#[test]
fn weights_stay_in_range_and_lanes_past_the_end_stay_zero_when_inverted() {
    let mask = Mask::from_weights([f32::NAN, -1.0, 2.0, 0.25, 1.0]);
    assert_eq!(mask.iter().collect::<Vec<_>>(), [0.0, 0.0, 1.0, 0.25, 1.0]);
    let inverted = mask.inverted();
    assert_eq!(
        inverted.rows(),
        [Vec4::new(1.0, 1.0, 0.0, 0.75), Vec4::ZERO]
    );
    assert_eq!(inverted.inverted(), mask);
    assert_eq!(Mask::full(5).rows(), [Vec4::ONE, Vec4::X]);
    assert_eq!(mask.get(99), 0.0);
    let face = mask.with_morphs([1.0, f32::NAN, 7.0, 0.5, 0.25]);
    assert_eq!(
        [0, 1, 2, 3, 4, 9].map(|m| face.morph(m)),
        [1.0, 0.0, 1.0, 0.5, 0.25, 0.0]
    );
    assert_eq!(face.inverted().morph(4), 0.75);
}
