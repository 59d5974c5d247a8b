use super::*;
use crate::model::Joint;
use glam::{Affine3A, Quat, Vec3};

#[test]
fn copied_overrides_parse_back_unchanged_and_name_their_joints() {
    let joint = |name: &str| Joint {
        name: name.into(),
        parent: None,
        rest: JointTransform::IDENTITY,
        inverse_bind: Affine3A::IDENTITY,
    };
    let skeleton = Skeleton::new(vec![joint("root"), joint("odd\nname")]).unwrap();
    let transform = JointTransform::new(Vec3::new(0.1, -2.0, 3.5), Quat::from_rotation_y(0.3));
    let overrides = vec![
        JointOverride::local(0, transform),
        JointOverride {
            weight: 0.25,
            space: JointSpace::Joint,
            ..JointOverride::local(1, transform)
        },
    ];
    let text = overrides_ron(&skeleton, &overrides);
    assert!(
        text.contains("// root\n") && text.contains("// odd name\n"),
        "{text}"
    );
    assert_eq!(
        ron::from_str::<Vec<JointOverride>>(&text).unwrap(),
        overrides
    );
    assert_eq!(
        ron::from_str::<Vec<JointOverride>>(&overrides_ron(&skeleton, &[])).unwrap(),
        []
    );
}
