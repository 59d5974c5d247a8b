use super::*;

#[test]
fn a_search_matches_part_of_a_characters_name_or_its_entity() {
    let entity = Entity::from_raw_u32(42).unwrap();
    assert!(matches(None, entity, ""));
    assert!(matches(Some("Old Guard"), entity, "gua"));
    assert!(matches(Some("Old Guard"), entity, &entity.to_string()));
    assert!(!matches(Some("Old Guard"), entity, "young"));
    assert!(!matches(None, entity, "guard"));
}
