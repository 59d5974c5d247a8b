use super::*;
use crate::messages::assert_message;

#[test]
fn each_cycle_is_found_once() {
    assert_eq!(cycles(&[None, Some(0), Some(1), Some(9)]), [0; 0]);
    assert_eq!(cycles(&[Some(0)]), [0]);
    assert_eq!(
        cycles(&[Some(1), Some(2), Some(1), Some(0), Some(5), Some(4)]),
        [2, 5]
    );
}

#[test]
fn parents_are_checked_for_range_and_cycles() {
    assert_eq!(ensure_hierarchy(&[Some(1), None], "bone"), Ok(()));
    let error = |parents| ensure_hierarchy(parents, "bone").unwrap_err();
    let far = error(&[None, Some(2)]);
    assert_message("hierarchy: a parent out of range", far);
    let ring = error(&[Some(1), Some(0)]);
    assert_message("hierarchy: a ring", ring);
}
