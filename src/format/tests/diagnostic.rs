use super::*;
use crate::messages::assert_message;

#[test]
fn a_report_points_at_the_column_and_gives_the_hint() {
    let source = b"one\n  two three\n";
    let mut reporter = Reporter::new("a.m3d", source);
    reporter.error(6, "expected a number, found `two`").hint = "write 2".into();
    let text = reporter.fail().to_string();
    assert_eq!(
        text,
        "a.m3d:2:3: error: expected a number, found `two`\n2 |   two three\n  |   ^\n  hint: write 2"
    );
}

#[test]
fn columns_and_carets_count_characters() {
    let source = "one\nälter: ° 7 x".as_bytes();
    let mut reporter = Reporter::new("f", source);
    reporter.error(source.len() - 1, "expected a number");
    let error = reporter.fail();
    assert_eq!(
        error.to_string(),
        "f:2:12: error: expected a number\n2 | älter: ° 7 x\n  |            ^"
    );
    assert_eq!(
        Diagnostic::error("f", "expected a number").at(source, 2, 12),
        error.diagnostics[0]
    );
}

#[test]
fn long_lines_are_quoted_around_the_column() {
    let mut source = vec![b'x'; 5000];
    source[4000] = b'!';
    let d = Diagnostic::error("f", "m").at(&source, 1, 4001);
    assert!(d.source_line.len() <= QUOTE);
    assert_eq!(d.source_line.chars().nth(d.caret as usize), Some('!'));
}

#[test]
fn of_too_many_warnings_the_first_are_kept_and_the_others_counted() {
    // Looking up a million lines of this source would take minutes.
    let source = b"a line\n".repeat(600_000);
    let mut reporter = Reporter::new("f", &source);
    for i in 0..1_000_000 {
        reporter.warning(source.len() - 1, format!("{i}")).context = "spent".into();
    }
    let warnings = reporter.finish(()).unwrap().warnings;
    assert_eq!(warnings.len(), FormatError::MAX_WARNINGS);
    assert_eq!(warnings[48].message, "48");
    assert_message("too many warnings", &warnings[49]);
}

#[test]
fn errors_beyond_the_bound_are_not_kept() {
    let mut reporter = Reporter::new("f", b"x");
    (0..30).for_each(|i| reporter.error(0, format!("{i}")).context = "spent".into());
    assert!(reporter.is_full() && reporter.errors() == 30);
    assert_eq!(reporter.fail().diagnostics.len(), FormatError::MAX_ERRORS);
}

#[test]
fn what_a_file_calls_things_cannot_drive_the_terminal_or_flood_it() {
    let name = format!("\u{1b}[31m{}\u{7}é", "x".repeat(5000));
    let text = Diagnostic::error("a\nb", format!("no joint `{name}`"))
        .with_context(name)
        .to_string();
    assert!(!text.contains(char::is_control), "{text}");
    assert!(
        text.starts_with("a\u{fffd}b: error: no joint `\u{fffd}[31mxxx")
            && text.ends_with("x\u{fffd}é)")
    );
    assert!(text.len() < 2000, "{}", text.len());
}

#[test]
fn findings_are_told_in_file_order() {
    let mut reporter = Reporter::new("f", b"one\ntwo\nthree");
    reporter.warning(8, "c");
    reporter.error(0, "a");
    reporter.warning(5, "b");
    let text: Vec<_> = reporter
        .fail()
        .diagnostics
        .into_iter()
        .map(|d| (d.message, d.line, d.source_line))
        .collect();
    let expected = [("a", 1, "one"), ("b", 2, "two"), ("c", 3, "three")];
    assert_eq!(
        text,
        expected.map(|(m, l, s)| (m.to_owned(), l, s.to_owned()))
    );
}

#[test]
fn a_place_past_the_end_is_the_end() {
    let mut reporter = Reporter::new("f", b"one\n");
    reporter.error(99, "gone");
    assert_eq!(reporter.fail().to_string(), "f:2:1: error: gone");
}
