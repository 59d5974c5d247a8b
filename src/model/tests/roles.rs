use super::*;
use crate::messages::assert_message;
use crate::model::{Joint, JointTransform};
use glam::Affine3A;

/// A skeleton of `(name, parent)`; a parent's index, or itself for a root.
pub(super) fn skeleton(joints: &[(&str, usize)]) -> Skeleton {
    let joint = |(at, (name, parent)): (usize, &(&str, usize))| Joint {
        name: (*name).into(),
        parent: (*parent != at).then_some(*parent as u16),
        rest: JointTransform::IDENTITY,
        inverse_bind: Affine3A::IDENTITY,
    };
    Skeleton::new(joints.iter().enumerate().map(joint).collect()).unwrap()
}

#[test]
fn a_table_comes_before_names() {
    let skeleton = skeleton(&[
        ("a", 0),
        ("hips", 0),
        ("thigh.L", 1),
        ("thigh.R", 1),
        ("b", 2),
        ("foot.L", 4),
    ]);
    let roles =
        Roles::with_table(&skeleton, [("hips", "a"), ("shin.L", "b"), ("thigh.R", "")]).unwrap();
    let named = |role: &str| {
        roles
            .joint(role.parse().unwrap())
            .map(|joint| &**skeleton.name(joint))
    };
    assert_eq!(
        [named("hips"), named("shin.L"), named("foot.L")],
        [Some("a"), Some("b"), Some("foot.L")]
    );
    assert_eq!([named("thigh.R"), named("root")], [None; 2]);
    assert_eq!(roles.role(4), Some(Role::Shin(Side::Left)));
    let error = |table| Roles::with_table(&skeleton, [table]).unwrap_err();
    assert_message("roles: an unknown role", error(("hip", "a")));
    assert_message("roles: an unknown joint", error(("hips", "hipps")));
}

#[test]
fn roles_are_written_as_they_are_read() {
    for role in Role::all() {
        assert_eq!(role.to_string().parse(), Ok(role));
    }
    assert_eq!("spine".parse(), Ok(Role::Spine(0)));
}
