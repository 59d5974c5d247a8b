use super::*;

#[test]
fn parents_come_first_and_each_cycle_is_cut_once() {
    let hierarchy = Hierarchy::new([Some(2), None, Some(1), None]);
    assert_eq!(hierarchy.order, [1, 2, 0, 3]);
    assert_eq!(hierarchy.places(), [2, 0, 1, 3]);
    assert!(hierarchy.cut.is_empty());

    let rings = Hierarchy::new([Some(1), Some(2), Some(0), Some(0), Some(4), Some(9)]);
    assert_eq!(rings.cut, [2, 4]);
    assert_eq!(rings.parents, [Some(1), Some(2), None, Some(0), None, None]);
    let places = rings.places();
    for (child, parent) in rings.parents.iter().enumerate() {
        assert!(parent.is_none_or(|parent| places[parent] < places[child]));
    }
}

#[test]
fn long_chains_take_linear_time() {
    let count = 200_000;
    let chain = Hierarchy::new((0..count).map(|i| (i + 1 < count).then_some(i + 1)));
    assert_eq!(
        (chain.order[0], chain.order.len()),
        (count as usize - 1, count as usize)
    );
}
