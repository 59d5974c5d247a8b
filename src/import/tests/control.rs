use super::*;
use crate::messages::assert_messages;
use crate::{
    import::influences::tests::mesh,
    model::{Joint, JointTransform},
};
use glam::{Affine3A, Vec3};

const SPINE: JointIndex = 2;

/// `root`, `ik` and `pole` are control joints; `hips` and `spine` between them deform.
fn skeleton() -> Skeleton {
    let joints = [
        ("root", None),
        ("hips", Some(0)),
        ("spine", Some(1)),
        ("ik", Some(2)),
        ("pole", Some(3)),
    ];
    let joint = |(name, parent): (&str, Option<JointIndex>)| Joint {
        name: name.into(),
        parent,
        rest: JointTransform::IDENTITY,
        inverse_bind: Affine3A::IDENTITY,
    };
    Skeleton::new(joints.map(joint).to_vec())
        .unwrap()
        .with_control_joints([0, 3, 4])
}

fn model(vertices: &[&[(JointIndex, f32)]]) -> Model {
    let settings = ImportSettings::default();
    let part = SkinPart {
        name: "body".into(),
        positions: (0..vertices.len()).map(|at| Vec3::X * at as f32).collect(),
        triangles: (2..vertices.len() as u32)
            .map(|at| [at - 2, at - 1, at])
            .collect(),
        ..SkinPart::default()
    };
    let parts = with_palettes(part, &mesh(vertices), &mut Combiner::new(&settings));
    Model {
        skeleton: skeleton(),
        parts,
        ..Model::default()
    }
}

fn taken_off(model: &mut Model) -> Vec<Diagnostic> {
    take_off_skin(
        "f",
        model,
        &ImportSettings::default(),
        &mut ImportReport::default(),
    )
}

fn joints(part: &SkinPart, vertex: usize) -> Vec<(JointIndex, f32)> {
    part.joint_weights(vertex)
        .map(|(slot, weight)| (part.palette[slot], weight))
        .collect()
}

#[test]
fn control_joints_leave_the_palette_and_the_other_weights_sum_to_one() {
    let mut model = model(&[
        &[(1, 0.25), (2, 0.25), (3, 0.5)],
        &[(1, 1.0)],
        // Alone with control joints, one of which has the spine above.
        &[(4, 1.0)],
        &[(3, 0.25), (0, 0.75)],
    ]);
    let before = model.parts[0].clone();
    let warnings = taken_off(&mut model);
    let part = &model.parts[0];
    assert_eq!(part.palette, [1, 2]);
    assert_eq!(joints(part, 0), [(1, 0.5), (2, 0.5)]);
    assert_eq!(joints(part, 1), [(1, 1.0)]);
    assert_eq!([joints(part, 2), joints(part, 3)], [[(SPINE, 1.0)]; 2]);
    assert_eq!(
        (&part.positions, &part.triangles),
        (&before.positions, &before.triangles)
    );
    assert_messages("control joints: vertices have their weights", &warnings);
    // There is nothing left to do.
    let after = model.parts.clone();
    assert!(taken_off(&mut model).is_empty() && model.parts == after);
}

#[test]
fn vertices_without_a_deform_joint_above_keep_their_joints_with_a_warning() {
    let mut model = model(&[&[(0, 1.0)], &[(1, 1.0)], &[(1, 1.0)]]);
    let warnings = taken_off(&mut model);
    assert_eq!(
        (
            model.parts[0].palette.as_slice(),
            joints(&model.parts[0], 0)
        ),
        (&[0, 1][..], vec![(0, 1.0)])
    );
    assert_messages("control joints: a vertex keeps its weights", &warnings);
}

#[test]
fn a_part_of_one_joint_is_attached_to_it_and_stays() {
    let mut model = model(&[&[(3, 1.0)], &[(3, 1.0)], &[(3, 1.0)]]);
    let before = model.parts.clone();
    assert!(taken_off(&mut model).is_empty());
    assert_eq!(model.parts, before);
}

#[test]
fn control_joints_inside_combined_joints_are_taken_off_too() {
    let seven: Vec<Joint> = (0..7)
        .map(|at| Joint {
            name: format!("{at}").into(),
            parent: None,
            rest: JointTransform::IDENTITY,
            inverse_bind: Affine3A::IDENTITY,
        })
        .collect();
    let mut model = model(&[
        &[
            (0, 0.3),
            (1, 0.2),
            (2, 0.15),
            (3, 0.1),
            (4, 0.1),
            (5, 0.1),
            (6, 0.05),
        ],
        &[(0, 1.0)],
    ]);
    assert_eq!(model.parts[0].combined_joints.len(), 1);
    model.skeleton = Skeleton::new(seven).unwrap().with_control_joints([3, 4]);
    let mut report = ImportReport {
        combined_joints: 1,
        ..ImportReport::default()
    };
    take_off_skin("f", &mut model, &ImportSettings::default(), &mut report);
    let part = &model.parts[0];
    assert_eq!(
        (part.palette.as_slice(), report.combined_joints),
        (&[0, 1, 2, 5, 6][..], 1)
    );
    let mut found = joints(part, 0);
    found.sort_by_key(|(joint, _)| *joint);
    for ((joint, weight), expected) in found.into_iter().zip([0.3, 0.2, 0.15, 0.1, 0.05]) {
        assert!((weight - expected / 0.8).abs() < 1e-6, "{joint}: {weight}");
    }
    assert_eq!(part.joint_weights(0).count(), 5);
}

#[test]
fn a_star_stands_for_anything() {
    for (entry, name, meant) in [
        ("ik", "ik", true),
        ("ik", "ik.L", false),
        ("ik.*", "ik.L", true),
        ("ik.*", "ik", false),
        ("*_ctrl", "arm_ctrl", true),
        ("MCH-*.L", "MCH-arm.L", true),
        ("aXb*bYa", "aXbYa", false),
        ("*", "", true),
        ("a*b*", "a*b*", true),
    ] {
        assert_eq!(is_meant(entry, name), meant, "{entry} {name}");
    }
}
