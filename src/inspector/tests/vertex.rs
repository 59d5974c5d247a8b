use super::*;
use crate::{
    asset::build_character,
    import::Manifest,
    model::{Influences, Joint, JointTransform, Material, Model, Skeleton, SkinPart},
};
use glam::{Affine3A, Quat};

/// A triangle at (0, 0), (1, 0) and (0, 1). The tip, at (1, 0), moves a quarter of the last vertex, and the
/// root everything else.
fn character(meshes: &mut Assets<Mesh>) -> Character {
    let joint = |name: &str, parent, x| Joint {
        name: name.into(),
        parent,
        rest: JointTransform::new(Vec3::X * x, Quat::IDENTITY),
        inverse_bind: Affine3A::from_translation(Vec3::NEG_X * x),
    };
    let of_root = Influences {
        palette: [1, 0, 0, 0],
        weights: [1.0, 0.0, 0.0, 0.0],
    };
    let part = SkinPart {
        name: "skin".into(),
        positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
        normals: vec![Vec3::Z; 3],
        influences: vec![
            of_root,
            of_root,
            Influences {
                palette: [1, 0, 0, 0],
                weights: [0.75, 0.25, 0.0, 0.0],
            },
        ],
        triangles: vec![[1, 2, 0]],
        palette: vec![1, 0],
        ..SkinPart::default()
    };
    let model = Model {
        skeleton: Skeleton::new(vec![joint("root", None, 0.0), joint("tip", Some(0), 1.0)])
            .unwrap(),
        parts: vec![part],
        materials: vec![Material::default()],
        ..Model::default()
    };
    build_character(
        model,
        &Manifest::of_model("code"),
        meshes,
        &mut Assets::default(),
    )
}

#[test]
fn a_hit_is_closest_to_the_corner_of_the_largest_coordinate() {
    let mut meshes = Assets::default();
    let character = character(&mut meshes);
    let hit = |barycentrics| CharacterRayHit {
        character: Entity::PLACEHOLDER,
        entity: Entity::PLACEHOLDER,
        part: 0,
        joint: None,
        joint_name: None,
        distance: 1.0,
        point: Vec3::ZERO,
        triangle: 0,
        barycentrics,
    };
    let vertex = |barycentrics| {
        PartVertex::of_hit(&hit(barycentrics), &character, &meshes)
            .unwrap()
            .vertex
    };
    assert_eq!(
        [[0.6, 0.3, 0.1], [0.3, 0.4, 0.3], [0.1, 0.4, 0.5]].map(vertex),
        [1, 2, 0]
    );
    let gone = CharacterRayHit {
        triangle: 1,
        ..hit([1.0, 0.0, 0.0])
    };
    assert_eq!(PartVertex::of_hit(&gone, &character, &meshes), None);
}

#[test]
fn a_vertex_is_marked_where_its_weights_put_it() {
    let mut meshes = Assets::default();
    let character = character(&mut meshes);
    let vertex = PartVertex {
        character: Entity::PLACEHOLDER,
        part: 0,
        vertex: 2,
    };
    let part = &character.parts[0];
    assert_eq!(
        vertex.weights(part, meshes.get(&part.mesh).unwrap()),
        [(0, 0.75), (1, 0.25)]
    );
    let world = GlobalTransform::IDENTITY;
    // The root is 4 up, and the tip 2 to the right of where it was.
    let joints = [Vec3::Y * 4.0, Vec3::X * 3.0].map(Affine3A::from_translation);
    let at = place(vertex, &character, &meshes, &joints, &world).unwrap();
    assert!(at.distance(Vec3::new(0.5, 4.0, 0.0)) < 1e-6, "{at}");
    let gone = PartVertex {
        vertex: 3,
        ..vertex
    };
    assert_eq!(place(gone, &character, &meshes, &joints, &world), None);
}
