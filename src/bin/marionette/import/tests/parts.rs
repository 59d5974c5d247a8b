use super::*;
use bevy_marionette::{
    internals::model::MorphTarget,
    model::{Influences, Material},
};

/// A model with a part for each material that is listed.
fn model(materials: &[usize]) -> Model {
    let part = |(index, &material): (usize, &usize)| SkinPart {
        name: format!("part {index}"),
        material,
        influences: vec![Influences::default()],
        ..SkinPart::default()
    };
    let material = |index: u8| Material {
        roughness: f32::from(index) / 8.0,
        ..Material::default()
    };
    Model {
        parts: materials.iter().enumerate().map(part).collect(),
        materials: (0..5).map(material).collect(),
        ..Model::default()
    }
}

#[test]
fn parts_that_share_a_material_are_named() {
    let model = model(&[0, 1, 0, 2, 0, 2, 0, 2]);
    let found = mergeable(&model, 256).unwrap();
    let names = [0, 2, 3, 4, 5, 6, 7].map(|index| format!("part {index}"));
    assert_eq!(found.names, names, "one part alone has material 1");
    assert_eq!(found.merged, 2);
}

#[test]
fn materials_may_differ_in_color() {
    let mut model = model(&[0, 1, 2, 3, 4]);
    assert!(mergeable(&model, 256).is_none());
    for material in &mut model.materials {
        material.base_color = [material.roughness; 4];
        material.roughness = 0.5;
    }
    assert_eq!(mergeable(&model, 256).unwrap().merged, 1);
}

#[test]
fn few_parts_are_not_worth_a_word() {
    assert!(mergeable(&model(&[0; 5]), 256).is_some());
    assert!(mergeable(&model(&[0; 4]), 256).is_none());
    assert!(mergeable(&model(&[0, 0, 0, 0, 1, 2, 3, 4]), 256).is_none());
    assert!(mergeable(&model(&[]), 256).is_none());
}

#[test]
fn faces_and_parts_that_nothing_moves_are_left_out() {
    let mut model = model(&[0; 7]);
    model.parts[1].influences.clear();
    model.parts[2].morphs.push(MorphTarget::new(0, []));
    let found = mergeable(&model, 256).unwrap();
    let names = [0, 3, 4, 5, 6].map(|index| format!("part {index}"));
    assert_eq!(found.names, names);
}

#[test]
fn parts_that_are_seen_through_are_left_out() {
    let mut model = model(&[0, 1, 0, 1, 0, 1, 0, 1, 0, 1]);
    model.materials[1].alpha_blend = true;
    let found = mergeable(&model, 256).unwrap();
    assert_eq!((found.names.len(), found.merged), (5, 1));
}

#[test]
fn the_merged_part_has_a_name_of_its_own() {
    let mut model = model(&[0, 0, 0, 0, 0, 1]);
    assert_eq!(mergeable(&model, 256).unwrap().group, "body");
    model.parts[0].name = "body".to_owned();
    assert_eq!(mergeable(&model, 256).unwrap().group, "body");
    model.parts[5].name = "body".to_owned();
    assert_eq!(mergeable(&model, 256).unwrap().group, "body_");
}

#[test]
fn parts_whose_joints_have_no_room_in_one_palette_become_several() {
    let mut model = model(&[0; 12]);
    for (part, joint) in model.parts.iter_mut().zip(0..) {
        part.palette = vec![joint, joint + 1];
    }
    assert_eq!(mergeable(&model, 256).unwrap().merged, 1);
    assert_eq!(mergeable(&model, 4).unwrap().merged, 4);
    assert!(mergeable(&model, 1).is_none(), "13 joints for 12 parts");
    assert!(mergeable(&model, 0).is_none());
}
