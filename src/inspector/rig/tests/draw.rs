use super::*;
use crate::model::{Joint, JointTransform, Skeleton};

#[test]
fn the_edge_of_the_limits_is_closed_and_within_them() {
    let head = Joint {
        name: "head".into(),
        parent: None,
        rest: JointTransform::IDENTITY,
        inverse_bind: Affine3A::IDENTITY,
    };
    let skeleton = Skeleton::new(vec![head]).unwrap();
    let mut chain = LookChain::new(&skeleton, &[(0, 1.0)], &[], Vec3::NEG_Z, Vec3::Y).unwrap();
    chain.yaw_limit = f32::INFINITY;
    chain.pitch_limit = 0.5;
    let edge = limit_edge(&chain);
    assert_eq!(edge.first(), edge.last());
    assert!(
        edge.iter()
            .all(|turn| (turn.x.abs() - PI).abs() < 1e-6 || (turn.y.abs() - 0.5).abs() < 1e-6)
    );
    // Left is −x for a head that faces −z.
    let left = chain.direction(Vec2::new(0.1, 0.0), &skeleton, skeleton.rest_model());
    assert!(
        left.x < 0.0 && left.z < 0.0 && left.y.abs() < 1e-6,
        "{left}"
    );
    assert!(
        chain
            .direction(Vec2::new(0.0, 0.1), &skeleton, skeleton.rest_model())
            .y
            > 0.0
    );
}
