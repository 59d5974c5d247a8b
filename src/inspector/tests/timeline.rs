use super::*;

#[test]
fn overlapping_names_use_the_next_row_and_are_left_out_when_all_rows_are_full() {
    let mut rows = NameRows::default();
    let placed = [
        (0.0, 40.0),
        (20.0, 40.0),
        (30.0, 40.0),
        (40.0, 40.0),
        (50.0, 40.0),
        (70.0, 40.0),
    ]
    .map(|(left, width)| rows.place(left, width));
    assert_eq!(placed, [Some(0), Some(1), Some(2), None, Some(0), Some(1)]);
    assert_eq!(rows.used(), 3);
}
