use super::*;
use crate::model::Joint;

#[test]
fn matrices_are_right_wherever_they_were_updated() {
    let mut parents = vec![
        None,
        Some(0),
        Some(1),
        Some(1),
        Some(3),
        Some(0),
        Some(5),
        None,
        Some(7),
        Some(5),
    ];
    // More than have a bit each.
    parents.extend((10..170).map(|joint| Some(if joint == 10 { 6 } else { joint - 1 })));
    let rest = JointTransform::new(Vec3::new(0.3, 1.0, -0.2), Quat::from_rotation_x(0.4));
    let joint = |parent| Joint {
        name: "".into(),
        parent,
        rest,
        inverse_bind: Affine3A::IDENTITY,
    };
    let skeleton = Skeleton::new(parents.into_iter().map(joint).collect()).unwrap();
    let (mut local, mut model) = (
        skeleton.rest().to_vec(),
        vec![Affine3A::NAN; skeleton.len()],
    );
    let mut pose = PoseMut::from_local(&skeleton, &mut local, &mut model);
    let mut whole = vec![Affine3A::IDENTITY; skeleton.len()];
    let mut random = 7_u32;
    let mut next = |most: usize| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 16) as usize % most
    };
    for _ in 0..2000 {
        let joint = next(skeleton.len()) as JointIndex;
        pose.set_rotation(joint, Quat::from_rotation_z(next(100) as f32 * 0.06));
        pose.update_later(joint);
        LocalToModel {
            parents: skeleton.parents(),
            local: pose.local,
            root: None,
            unit_scale: false,
        }
        .run(&mut whole);
        match next(8) {
            0 => pose.update(),
            1..4 => continue,
            _ => {}
        }
        let joint = next(skeleton.len()) as JointIndex;
        pose.update_joints([joint]);
        for joint in skeleton.ancestors(joint).chain([joint]).map(usize::from) {
            assert_eq!(pose.model[joint], whole[joint]);
        }
    }
    pose.update();
    assert_eq!(pose.model, whole);
}
