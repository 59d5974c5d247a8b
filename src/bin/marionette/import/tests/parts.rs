use super::*;
use bevy_marionette::{internals::model::MorphTarget, model::Influences};

/// A model with a part for each material that is listed.
fn model(materials: &[usize]) -> Model {
    let part = |(index, &material): (usize, &usize)| SkinPart {
        name: format!("part {index}"),
        material,
        influences: vec![Influences::default()],
        ..SkinPart::default()
    };
    Model {
        parts: materials.iter().enumerate().map(part).collect(),
        ..Model::default()
    }
}

#[test]
fn parts_that_share_a_material_are_named() {
    let model = model(&[0, 1, 0, 2, 0, 2, 0, 2]);
    let found = mergeable(&model).unwrap();
    let names = [0, 2, 3, 4, 5, 6, 7].map(|index| format!("part {index}"));
    assert_eq!(found.names, names, "one part alone has material 1");
    assert_eq!(found.merged, 2);
}

#[test]
fn few_parts_are_not_worth_a_word() {
    assert!(mergeable(&model(&[0; 5])).is_some());
    assert!(mergeable(&model(&[0; 4])).is_none());
    assert!(mergeable(&model(&[0, 0, 0, 0, 1, 2, 3, 4])).is_none());
    assert!(mergeable(&model(&[])).is_none());
}

#[test]
fn faces_and_parts_that_nothing_moves_are_left_out() {
    let mut model = model(&[0; 7]);
    model.parts[1].influences.clear();
    model.parts[2].morphs.push(MorphTarget::new(0, []));
    let found = mergeable(&model).unwrap();
    let names = [0, 3, 4, 5, 6].map(|index| format!("part {index}"));
    assert_eq!(found.names, names);
}
