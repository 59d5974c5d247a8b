use super::*;

#[test]
fn numbers_read_as_people_write_them() {
    assert_eq!(
        [0, 999, 1000, 13_748, 1_234_567].map(count),
        ["0", "999", "1,000", "13,748", "1,234,567"]
    );
    assert_eq!(
        [0, 1, 1023, 1024, 3_916_112].map(size),
        ["0 bytes", "1 byte", "1,023 bytes", "1.0 KiB", "3.7 MiB"]
    );
    assert_eq!(
        [1.25, 0.0, -0.0, 0.9583333, 10.0].map(seconds),
        ["1.25 s", "0 s", "0 s", "0.958 s", "10 s"]
    );
    assert_eq!([1e300, -2.5e12].map(seconds), ["1.00e300 s", "-2.50e12 s"]);
    assert_eq!(
        [0.0, 74.123, 0.01234, 2.5e-7, 1.5e9].map(length),
        ["0", "74.1", "0.0123", "2.50e-7", "1.50e9"]
    );
    assert_eq!(
        counted(1, "vertex") + " " + &counted(2, "vertex"),
        "1 vertex 2 vertices"
    );
}

#[test]
fn a_styled_diagnostic_keeps_its_words() {
    let plain = Diagnostic::error("a: b.m3d", "expected: error: nothing").with_hint("h");
    let styled = diagnostic(&plain);
    assert!(styled.contains('\x1b'));
    assert_eq!(
        anstream::adapter::strip_str(&styled).to_string(),
        plain.to_string()
    );
}
