use super::*;
use crate::import::{influences::tests::mesh, split::with_palettes};
use crate::messages::assert_message;
use glam::Vec3;

type Joints<'a> = &'a [(JointIndex, f32)];

fn combine(vertices: &[Joints], settings: &ImportSettings) -> (SkinPart, Combiner) {
    let mut combiner = Combiner::new(settings);
    let part = SkinPart {
        name: "skin".into(),
        positions: vec![Vec3::ZERO; vertices.len()],
        ..SkinPart::default()
    };
    let mut parts = with_palettes(part, &mesh(vertices), &mut combiner);
    assert_eq!(parts.len(), 1);
    (parts.remove(0), combiner)
}

/// The joints of a vertex as they come out, by joint.
fn joints(part: &SkinPart, vertex: usize) -> Vec<(JointIndex, f32)> {
    let mut out: Vec<_> = part
        .joint_weights(vertex)
        .map(|(slot, weight)| (part.palette[slot], weight))
        .collect();
    out.sort_by_key(|(joint, _)| *joint);
    out
}

fn are_close(a: Joints, b: Joints) -> bool {
    a.len() == b.len()
        && a.iter()
            .zip(b)
            .all(|(a, b)| a.0 == b.0 && (a.1 - b.1).abs() < 1e-6)
}

#[test]
fn three_joints_stay_and_the_others_are_combined() {
    let five = [(2, 0.3), (4, 0.25), (5, 0.2), (7, 0.15), (9, 0.1)];
    let (part, combiner) = combine(&[&five, &five[..1]], &ImportSettings::default());
    assert_eq!(part.palette, [2, 4, 5, 7, 9]);
    assert_eq!(part.combined_joints.get(0), Some(&[(3, 0.6), (4, 0.4)][..]));
    // Largest first, and the combined joint is second.
    assert_eq!(part.influences[0].palette, [0, 1, 5, 2]);
    assert!(part.influences[0].weights.is_sorted_by(|a, b| a >= b));
    assert!(are_close(&joints(&part, 0), &five) && are_close(&joints(&part, 1), &[(2, 1.0)]));
    assert_eq!(
        (
            combiner.entries,
            combiner.largest_error,
            combiner.warning("f")
        ),
        (1, 0.0, None)
    );
}

#[test]
fn vertices_share_an_entry_where_the_ratio_of_their_other_joints_is_the_same() {
    let [a, b] = [
        [(0, 0.3), (1, 0.2), (2, 0.2), (3, 0.2), (4, 0.1)],
        // The same two to one, but less of it.
        [(5, 0.5), (6, 0.2), (7, 0.15), (3, 0.1), (4, 0.05)],
    ];
    let (part, combiner) = combine(&[&a, &b, &a], &ImportSettings::default());
    assert_eq!(part.combined_joints.len(), 1);
    assert!(are_close(&joints(&part, 0), &a) && are_close(&joints(&part, 2), &a));
    assert!(combiner.largest_error < 1e-7);
    let off = [(0, 0.3), (1, 0.2), (2, 0.2), (3, 0.17), (4, 0.13)];
    for (skin_error, entries) in [(0.02, 2), (0.04, 1), (0.2, 0)] {
        let settings = ImportSettings {
            skin_error,
            ..ImportSettings::default()
        };
        let (part, combiner) = combine(&[&a, &off], &settings);
        assert_eq!(part.combined_joints.len(), entries);
        assert!(combiner.largest_error <= skin_error && combiner.warning("f").is_none());
    }
}

#[test]
fn the_largest_errors_come_first_where_there_is_no_room_for_all() {
    // Each vertex loses its fifth joint, a larger one every time.
    let vertex = |v: u16| {
        let fifth = 0.01 * f32::from(v + 1);
        [
            (0, 0.3),
            (1, 0.25),
            (2, 0.25),
            (2 * v + 3, 0.2 - fifth),
            (2 * v + 4, fifth),
        ]
    };
    let vertices: Vec<_> = [3, 0, 7, 5, 1, 6, 2, 4].map(vertex).to_vec();
    let vertices: Vec<Joints> = vertices.iter().map(|vertex| &vertex[..]).collect();
    let settings = ImportSettings {
        max_palette: 19 + 3,
        ..ImportSettings::default()
    };
    let (part, combiner) = combine(&vertices, &settings);
    let has_entry = |vertex: usize| {
        part.influences[vertex]
            .palette
            .iter()
            .any(|&slot| slot >= 19)
    };
    assert_eq!(
        (0..8)
            .filter(|&vertex| has_entry(vertex))
            .collect::<Vec<_>>(),
        [2, 3, 5]
    );
    assert_eq!((part.palette_len(), combiner.inexact), (22, 5));
    assert!(
        (combiner.largest_error - 0.05).abs() < 1e-6,
        "{}",
        combiner.largest_error
    );
    let warning = combiner.warning("f").unwrap();
    assert_message("weights: more than four joints", warning);
}

#[test]
fn settings_beyond_reason_are_harmless() {
    let five = [(2, 0.3), (4, 0.25), (5, 0.2), (7, 0.15), (9, 0.1)];
    for (skin_error, max_palette) in [
        (f32::NAN, 0),
        (-1.0, 1),
        (f32::INFINITY, u16::MAX),
        (0.0, 13),
    ] {
        let settings = ImportSettings {
            skin_error,
            max_palette,
            ..ImportSettings::default()
        };
        let (part, _) = combine(&[&five], &settings);
        assert!((part.influences[0].weights.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        assert!(
            part.influences[0]
                .palette
                .iter()
                .all(|&slot| usize::from(slot) < part.palette_len())
        );
    }
}
