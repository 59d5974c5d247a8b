use super::*;

#[test]
fn a_vertex_has_its_own_joints_and_those_of_its_combined_joint() {
    let mut combined = CombinedJoints::default();
    assert!(combined.is_empty() && combined.get(0).is_none());
    combined.push([(0, 1.0)]);
    combined.push([(0, 0.25), (3, 0.75), (9, 0.0)]);
    assert_eq!(
        (combined.len(), combined.get(1)),
        (2, Some(&[(0, 0.25), (3, 0.75), (9, 0.0)][..]))
    );
    assert!(
        combined
            .iter()
            .eq([combined.get(0).unwrap(), combined.get(1).unwrap()])
    );
    let of = |palette, weights| {
        combined
            .joint_weights(4, Influences { palette, weights })
            .collect::<Vec<_>>()
    };
    assert_eq!(
        of([2, 5, 0, 0], [0.5, 0.5, 0.0, 0.0]),
        [(2, 0.5), (0, 0.125), (3, 0.375)]
    );
    // A joint that occurs twice has the sum of both weights.
    assert_eq!(
        of([3, 5, 3, 0], [0.25, 0.5, 0.25, 0.0]),
        [(3, 0.875), (0, 0.125)]
    );
    // What is past the end of the palette is left out.
    assert_eq!(of([6, 4, u16::MAX, 1], [0.25; 4]), [(0, 0.25), (1, 0.25)]);
}
