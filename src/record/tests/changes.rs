use super::*;

#[test]
fn a_value_counts_until_the_next() {
    let mut changes = Changes::default();
    for (frame, value) in [(2, 'a'), (5, 'b'), (5, 'c'), (9, 'd')] {
        changes.push(frame, value);
    }
    let at =
        |changes: &Changes<char>| [1, 2, 4, 5, 8, 9, 99].map(|frame| changes.at(frame).copied());
    assert_eq!(
        at(&changes),
        [
            None,
            Some('a'),
            Some('a'),
            Some('c'),
            Some('c'),
            Some('d'),
            Some('d')
        ]
    );
    assert_eq!(
        (changes.exactly_at(2), changes.exactly_at(3)),
        (Some(&'a'), None)
    );
    changes.drop_before(6);
    changes.drop_after(8);
    assert_eq!(
        at(&changes),
        [None, None, None, Some('c'), Some('c'), Some('c'), Some('c')]
    );
    assert!(changes.is_sound(|value| *value == 'c') && !changes.is_sound(|value| *value == 'd'));
}
