use super::*;
use crate::messages::assert_message;

/// A mesh with these weights, as they are.
pub(in super::super) fn mesh(vertices: &[&[(JointIndex, f32)]]) -> VertexWeights {
    let mut mesh = VertexWeights::default();
    let mut reader = WeightReader::default();
    vertices
        .iter()
        .for_each(|weights| reader.push(&mut mesh, weights.iter().copied()));
    mesh
}

fn read(weights: &[(JointIndex, f32)]) -> (Vec<(JointIndex, f32)>, WeightReader) {
    let (mut mesh, mut reader) = (VertexWeights::default(), WeightReader::default());
    reader.push(&mut mesh, [(7, 1.0)]);
    reader.push(&mut mesh, weights.iter().copied());
    assert_eq!((mesh.len(), mesh.of(0)), (2, &[(7, 1.0)][..]));
    (mesh.of(1).to_vec(), reader)
}

#[test]
fn all_joints_are_kept_largest_first_with_a_sum_of_one() {
    let (out, reader) = read(&[(1, 0.1), (2, 0.4), (3, 0.08), (4, 0.22), (5, 0.2), (6, 0.5)]);
    assert_eq!(
        out.iter().map(|(joint, _)| *joint).collect::<Vec<_>>(),
        [6, 2, 4, 5, 1, 3]
    );
    assert!((out.iter().map(|(_, weight)| weight).sum::<f32>() - 1.0).abs() < 1e-6);
    assert!((out[0].1 - 0.5 / 1.5).abs() < 1e-6);
    assert_eq!(reader.histogram, [0, 1, 0, 0, 0, 1]);
}

#[test]
fn weights_of_one_joint_are_added_up() {
    let (out, reader) = read(&[(7, 0.3), (2, 0.4), (7, 0.3)]);
    assert_eq!(out, [(7, 0.6), (2, 0.4)]);
    assert_eq!(reader.histogram, [0, 1, 1, 0, 0, 0]);
    assert_eq!(reader.warning("f", "m"), None);
}

#[test]
fn negative_and_broken_weights_are_left_out_with_one_warning() {
    let (out, reader) = read(&[(1, 1.0), (2, -0.01), (3, f32::NAN), (4, f32::INFINITY)]);
    assert_eq!(out, [(1, 1.0)]);
    assert!(reader.warning("f", "m").is_some());
}

#[test]
fn a_vertex_without_weight_follows_the_first_joint_named() {
    for weights in [
        &[(9, 0.0), (2, -1.0)][..],
        &[(9, 1e-42)][..],
        &[(9, 1e-42), (2, 1e-43)][..],
    ] {
        assert_eq!(read(weights).0, [(9, 1.0)]);
    }
    assert_eq!(read(&[]).0, [(0, 1.0)]);
    assert_eq!(read(&[(3, f32::MAX), (4, f32::MAX)]).0, [(3, 1.0)]);
}

#[test]
fn weights_that_vanish_beside_others_are_left_out() {
    assert_eq!(read(&[(3, f32::MAX), (4, 1e-10)]).0, [(3, 1.0)]);
}

#[test]
fn sums_that_are_off_are_normalized_and_told() {
    let (out, reader) = read(&[(1, 0.21), (2, 0.21)]);
    assert_eq!(out, [(1, 0.5), (2, 0.5)]);
    let warning = reader.warning("f", "m").unwrap();
    assert_message("weights: a sum that is not 1", warning);
}
