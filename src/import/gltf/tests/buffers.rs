use super::*;

#[test]
fn base64_of_every_length_is_decoded() {
    let decode = |data: &str| decode_data(&format!("data:application/octet-stream;base64,{data}"));
    assert_eq!(decode("").unwrap(), b"");
    assert_eq!(decode("AA==").unwrap(), [0]);
    assert_eq!(decode("/+8=").unwrap(), [0xff, 0xef]);
    assert_eq!(decode("Z2xU\nRgI=").unwrap(), b"glTF\x02");
    assert_eq!(decode("Z2xURgI").unwrap(), b"glTF\x02");
    assert_eq!(decode("Z"), None);
    assert_eq!(decode("Z2x?"), None);
    assert_eq!(decode_data("data:text/plain,a%20b").unwrap(), b"a b");
}

#[test]
fn paths_that_leave_the_folder_are_refused() {
    assert_eq!(file_beside("my%20hero.bin").as_deref(), Ok("my hero.bin"));
    assert_eq!(
        file_beside("bin/../hero.bin").as_deref(),
        Ok("hero.bin"),
        "a link there would lead elsewhere"
    );
    for uri in [
        "/etc/passwd",
        "../hero.bin",
        "a/../../b",
        "http://a/b",
        "C:\\b",
        "..%2Fa",
        "%zz",
        "",
        ".",
        "a/..",
        "a/%2e%2e/../b",
        "%2E%2e%5cb",
        "%252e%252e/b",
        ".. /b",
        "..%5C..%5Cb",
        "//server/share/b",
        "file:///b",
        "a%00b",
    ] {
        assert!(file_beside(uri).is_err(), "{uri}");
    }
}
