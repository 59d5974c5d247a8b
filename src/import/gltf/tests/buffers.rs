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
        Ok("bin/../hero.bin")
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
    ] {
        assert!(file_beside(uri).is_err(), "{uri}");
    }
}
