use super::*;
use crate::{
    import::{ImportSettings, influences::tests::mesh},
    model::Influences,
};
use glam::{Vec2, Vec3};

fn strip(vertices: usize) -> SkinPart {
    SkinPart {
        name: "coat".into(),
        positions: (0..vertices).map(|v| Vec3::X * v as f32).collect(),
        normals: vec![Vec3::Y; vertices],
        tex_coords: vec![Vec2::ZERO; vertices],
        triangles: (2..vertices as u32).map(|v| [v - 2, v - 1, v]).collect(),
        source_vertices: (0..vertices as u32).map(|v| v + 100).collect(),
        ..SkinPart::default()
    }
}

fn split(part: SkinPart, weights: &VertexWeights) -> Vec<SkinPart> {
    with_palettes(
        part,
        weights,
        &mut Combiner::new(&ImportSettings::default()),
    )
}

#[test]
fn a_palette_names_only_the_joints_used() {
    let parts = split(
        strip(3),
        &mesh(&[&[(40, 0.75), (7, 0.25)], &[(7, 1.0)], &[(40, 1.0)]]),
    );
    assert_eq!(parts.len(), 1);
    assert_eq!(parts[0].palette, [7, 40]);
    assert_eq!(
        parts[0].influences[0],
        Influences {
            palette: [1, 0, 0, 0],
            weights: [0.75, 0.25, 0.0, 0.0]
        }
    );
    assert_eq!(parts[0].influences[1].palette[0], 0);
}

#[test]
fn a_part_of_too_many_joints_is_split_and_nothing_is_lost() {
    let part = strip(1000);
    let follow: Vec<_> = (0..1000).map(|v| [(v, 1.0)]).collect();
    let follow: Vec<&[_]> = follow.iter().map(|joints| &joints[..]).collect();
    let parts = split(part.clone(), &mesh(&follow));
    assert!(parts.len() >= 4);
    let mut triangles = Vec::new();
    for piece in &parts {
        assert!(piece.palette.len() <= SkinPart::MAX_PALETTE);
        for triangle in &piece.triangles {
            triangles.push(triangle.map(|v| piece.source_vertices[v as usize] - 100));
        }
        for (v, &source) in piece.source_vertices.iter().enumerate() {
            assert_eq!(
                u32::from(piece.palette[usize::from(piece.influences[v].palette[0])]),
                source - 100
            );
            assert_eq!(piece.positions[v].x, (source - 100) as f32);
        }
        assert!(piece.source_vertices.is_sorted());
    }
    triangles.sort();
    assert_eq!(triangles, part.triangles);
    assert_eq!((&*parts[0].name, &*parts[1].name), ("coat", "coat.2"));
}

#[test]
fn a_part_of_too_many_combined_joints_is_split_and_no_weight_is_lost() {
    // Eight joints, and so many mixtures of them that none can be shared.
    let joints = |v: u16| {
        let share = |j: u16| 1.0 + f32::from((v * 7 + 1) * (j * 13 + 5) % 31);
        let total: f32 = (0..8).map(share).sum();
        let mut joints: Vec<_> = (0..8).map(|j| (j, share(j) / total)).collect();
        joints.sort_by(|a, b| b.1.total_cmp(&a.1));
        joints
    };
    let joints: Vec<_> = (0..60).map(joints).collect();
    let joints: Vec<&[_]> = joints.iter().map(|joints| &joints[..]).collect();
    let settings = ImportSettings {
        max_palette: 24,
        skin_error: 1e-4,
        ..ImportSettings::default()
    };
    let mut combiner = Combiner::new(&settings);
    let parts = with_palettes(strip(60), &mesh(&joints), &mut combiner);
    assert!(parts.len() > 1 && combiner.warning("f").is_none());
    let mut triangles = 0;
    for piece in &parts {
        assert!(piece.palette_len() <= 24);
        triangles += piece.triangles.len();
        for (v, &source) in piece.source_vertices.iter().enumerate() {
            let mut weights = [0.0; 8];
            for (slot, weight) in piece.joint_weights(v) {
                weights[usize::from(piece.palette[slot])] += weight;
            }
            for &(joint, weight) in joints[source as usize - 100] {
                assert!((weights[usize::from(joint)] - weight).abs() < 1e-3);
            }
        }
    }
    assert_eq!(triangles, 58);
    let names: Vec<&str> = parts.iter().map(|part| &*part.name).collect();
    assert_eq!(names[..2], ["coat", "coat.2"]);
}

#[test]
fn vertices_of_hundreds_of_joints_still_fit_into_palettes() {
    let joints = |v: u16| {
        (0..250)
            .map(move |j| (v * 200 + j, 1.0 / f32::from(j + 1)))
            .collect::<Vec<_>>()
    };
    let joints: Vec<_> = (0..6).map(joints).collect();
    let joints: Vec<&[_]> = joints.iter().map(|joints| &joints[..]).collect();
    let parts = split(strip(6), &mesh(&joints));
    assert!(
        parts.len() > 1
            && parts
                .iter()
                .all(|part| part.palette_len() <= SkinPart::MAX_PALETTE)
    );
    assert_eq!(
        parts.iter().map(|part| part.triangles.len()).sum::<usize>(),
        4
    );
}
