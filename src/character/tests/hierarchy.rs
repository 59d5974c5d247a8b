use super::*;

fn walk(start: u32, parents: &[(u32, u32)]) -> Vec<u32> {
    let entity = |index| Entity::from_raw_u32(index).unwrap();
    let parent_of = |child: Entity| {
        parents
            .iter()
            .find(|(c, _)| entity(*c) == child)
            .map(|(_, p)| entity(*p))
    };
    upward(entity(start), parent_of)
        .take(100)
        .map(Entity::index_u32)
        .collect()
}

#[test]
fn a_chain_is_walked_to_its_top() {
    assert_eq!(walk(1, &[(1, 2), (2, 3), (3, 4), (4, 5)]), [1, 2, 3, 4, 5]);
    assert_eq!(walk(7, &[]), [7]);
}

#[test]
fn a_ring_ends_the_walk_wherever_it_begins() {
    assert_eq!(walk(1, &[(1, 1)]), [1]);
    for start in 1..=4 {
        let seen = walk(start, &[(1, 2), (2, 3), (3, 4), (4, 3)]);
        assert!(
            seen.len() < 20 && seen.contains(&3) && seen.contains(&4),
            "{seen:?}"
        );
    }
}
