use super::*;
use crate::format::{
    Checked,
    md5::{Md5AnimJoint, Md5Joint, Md5Vertex, Md5Weight},
};

#[test]
fn every_broken_promise_of_a_mesh_is_an_error() {
    let mesh = Md5Mesh {
        joints: vec![
            Md5Joint::default(),
            Md5Joint {
                parent: Some(0),
                ..Md5Joint::default()
            },
        ],
        meshes: vec![Md5Submesh {
            vertices: vec![
                Md5Vertex {
                    weight_count: 1,
                    ..Md5Vertex::default()
                };
                3
            ],
            triangles: vec![[0, 1, 2]],
            weights: vec![Md5Weight::default()],
            ..Md5Submesh::default()
        }],
        ..Md5Mesh::default()
    };
    assert!(Checked::new(mesh.clone()).is_ok());
    let cases: [(fn(&mut Md5Mesh), &str); 7] = [
        (|m| m.joints.clear(), "there are no joints"),
        (
            |m| m.joints[0].parent = Some(1),
            "joint 1 is among its own ancestors",
        ),
        (
            |m| m.joints[1].position[2] = f32::NAN,
            "joint 1 ``: a number is not finite",
        ),
        (
            |m| m.meshes[0].vertices[1].first_weight = u32::MAX,
            "vert 1 of 3 in mesh 0: weights 4294967295..4294967296 are out of range: the mesh has 1 weight",
        ),
        (
            |m| m.meshes[0].triangles[0][2] = 3,
            "tri 0 of 1 in mesh 0: vertex 3 is out of range: the mesh has 3 vertices",
        ),
        (
            |m| m.meshes[0].weights[0].joint = 2,
            "weight 0 of 1 in mesh 0: joint 2 is out of range: the file has 2 joints",
        ),
        (
            |m| m.meshes[0].weights[0].bias = f32::INFINITY,
            "mesh 0: a number is not finite",
        ),
    ];
    for (damage, expected) in cases {
        let mut mesh = mesh.clone();
        damage(&mut mesh);
        assert_eq!(Checked::new(mesh).unwrap_err().to_string(), expected);
    }
}

#[test]
fn every_broken_promise_of_an_animation_is_an_error() {
    let anim = Md5Anim {
        frame_rate: 24.0,
        components: 1,
        joints: vec![Md5AnimJoint {
            flags: 4,
            ..Md5AnimJoint::default()
        }],
        base_frame: vec![[[0.0; 3]; 2]],
        frames: vec![1.0, 2.0],
        ..Md5Anim::default()
    };
    assert!(Checked::new(anim.clone()).is_ok());
    let cases: [(fn(&mut Md5Anim), &str); 7] = [
        (|a| a.frame_rate = 0.0, "the frame rate is 0"),
        (
            |a| a.joints[0].parent = Some(0),
            "joint 0 is among its own ancestors",
        ),
        (
            |a| a.joints[0].flags = 64,
            "joint 0 ``: flags 64 have more than six bits",
        ),
        (
            |a| a.joints[0].start = 1,
            "joint 0 ``: numbers 1..2 are out of range: a frame has 1",
        ),
        (
            |a| a.base_frame.clear(),
            "the base frame has 0 joints, expected 1, as in the hierarchy",
        ),
        (
            |a| a.frames.clear(),
            "0 numbers do not make whole frames of 1",
        ),
        (
            |a| a.frames[1] = f32::NAN,
            "the frames: a number is not finite",
        ),
    ];
    for (damage, expected) in cases {
        let mut anim = anim.clone();
        damage(&mut anim);
        assert_eq!(Checked::new(anim).unwrap_err().to_string(), expected);
    }
}
