use super::*;
use crate::messages::assert_message;

#[test]
fn files_of_other_formats_are_named() {
    let of = |source: &[u8]| foreign(source, TextKind::M3d).map(|(message, _)| message);
    for (what, source) in [
        ("a binary Model 3D file", &b"3DMO\0\0"[..]),
        ("a text Model 3D file", b"3dmodel 1\n"),
        ("an MD5 file", b"\xef\xbb\xbfMD5Version 10\n"),
        ("a glTF file", b"{\n \"asset\": {}}"),
        ("an empty file", b""),
        ("white space", b" \r\n"),
        ("a binary file", b"abc\0def"),
    ] {
        assert_message(&format!("as an m3d: {what}"), of(source).unwrap());
    }
    assert_eq!(of(b"***m3d-File-Header***"), None);
}

#[test]
fn every_kind_of_file_names_utf_16_and_old_mac_line_ends() {
    for wanted in [TextKind::M3d, TextKind::Md5, TextKind::Manifest] {
        let of = |source: &[u8]| foreign(source, wanted).map(|(message, _)| message);
        assert_eq!(of(b"\xff\xfe(\0m\0"), Some(UTF_16));
        assert_eq!(of(b"(\0m\0o\0d\0e\0l\0"), Some(UTF_16));
        assert_eq!(of(b"\0(\0m\0o\0d\0e\0l"), Some(UTF_16));
        let old_mac = of(b"one\rtwo\r").unwrap();
        assert_message("a text with line ends of old Macs", old_mac);
        assert_eq!(of(b"one line\r"), None);
        assert_eq!(of(b"one\r\ntwo\r\n"), None);
    }
}
