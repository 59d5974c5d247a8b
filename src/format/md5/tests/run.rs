use super::{super::reader::Kind, *};
use crate::format::reader;

#[test]
fn numbered_items_are_sorted_and_gaps_are_errors() {
    let run = |numbers: &[u32]| {
        let mut reader = reader::Reader::new("f", Lexer::new(b"x"), Kind::Mesh);
        let mut run = Run::new();
        for &n in numbers {
            run.push(n, 0, n);
        }
        let items = run.finish(&mut reader, "vert", "numverts", "").unwrap();
        (
            items,
            reader
                .report
                .finish(())
                .map_or(0, |parsed| parsed.warnings.len()),
        )
    };
    assert_eq!(run(&[0, 1, 2]), (Some(vec![0, 1, 2]), 0));
    assert_eq!(run(&[2, 0, 1]), (Some(vec![0, 1, 2]), 0));
    assert_eq!(run(&[0, 1, 1]), (Some(vec![0, 1]), 1));
    assert_eq!(run(&[0, 2]), (None, 0));
    assert_eq!(run(&[u32::MAX]), (None, 0));
}
