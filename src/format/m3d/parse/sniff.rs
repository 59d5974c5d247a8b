//! Telling files that are something else for what they are.

use crate::format::Diagnostic;

/// The first bytes of formats that are met under the name `.m3d`, or beside it, and what they are.
const MAGICS: &[(&[u8], &str, &str)] = &[
    (b"3DMO", "this is a binary Model 3D file (magic `3DMO`), another format with the same extension", OTHER_M3D),
    (b"3dmodel ", "this is a text Model 3D file (magic `3dmodel `), another format with the same extension", OTHER_M3D),
    (b"MD5Version", "this is an MD5 file", "name it .md5mesh or .md5anim to have it read as one"),
    (b"glTF", "this is a binary glTF file", NOT_READ),
    (b"Kaydara FBX Binary", "this is a binary FBX file", NOT_READ),
    (b"; FBX", "this is a text FBX file", NOT_READ),
    (b"xof ", "this is a DirectX .x file", NOT_READ),
    (b"BLENDER", "this is a Blender file", NOT_READ),
    (b"\x89PNG\r\n\x1a\n", "this is a PNG picture", TEXTURE),
    (b"DDS ", "this is a DDS picture", TEXTURE),
    (b"\xff\xd8\xff", "this is a JPEG picture", TEXTURE),
    (b"PK\x03\x04", "this is a ZIP archive", "unpack it first"),
    (b"\x1f\x8b", "this is a gzip archive", "unpack it first"),
    (b"\x28\xb5\x2f\xfd", "this is a zstd archive", "unpack it first"),
    (b"version https://git-lfs", "this is a Git LFS pointer, not the file it stands for", "run `git lfs pull`"),
    (b"<?xml", "this is an XML file, perhaps COLLADA", NOT_READ),
    (b"<!DOCTYPE html", "this is a web page", "the download probably failed"),
    (b"<html", "this is a web page", "the download probably failed"),
    (b"\xff\xfe", "this text is UTF-16", "save it as UTF-8"),
    (b"\xfe\xff", "this text is UTF-16", "save it as UTF-8"),
];

const OTHER_M3D: &str = "only Frank Luna's text format is read: it begins with `***m3d-File-Header***`";
const NOT_READ: &str = "convert it to .m3d or MD5 first";
const TEXTURE: &str = "a model is expected here, a texture was given";

/// The error for a file that can be no `.m3d`, seen from its first bytes.
pub(super) fn foreign(file: &str, source: &[u8]) -> Option<Diagnostic> {
    let error = |message: &str, hint: &str| Some(Diagnostic::error(file, message).with_hint(hint));
    if source.is_empty() {
        return error("the file is empty", "export it again");
    }
    let start = source.strip_prefix(b"\xef\xbb\xbf").unwrap_or(source).trim_ascii_start();
    if start.is_empty() {
        return error("the file holds nothing but white space", "export it again");
    }
    for (magic, message, hint) in MAGICS {
        if start.starts_with(magic) {
            return error(message, hint);
        }
    }
    let head = &source[..source.len().min(512)];
    if start.starts_with(b"{") && head.windows(7).any(|w| w == b"\"asset\"") {
        return error("this is a glTF file", NOT_READ);
    }
    if head.contains(&0) {
        return error("this is a binary file, and no known one", OTHER_M3D);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_formats_are_named() {
        let of = |source: &[u8]| foreign("a.m3d", source).map(|d| d.message);
        assert!(of(b"3DMO\0\0").unwrap().contains("binary Model 3D"));
        assert!(of(b"3dmodel 1\n").unwrap().contains("text Model 3D"));
        assert_eq!(of(b"\xef\xbb\xbfMD5Version 10\n").unwrap(), "this is an MD5 file");
        assert_eq!(of(b"{\n \"asset\": {}}").unwrap(), "this is a glTF file");
        assert_eq!(of(b"").unwrap(), "the file is empty");
        assert_eq!(of(b" \r\n").unwrap(), "the file holds nothing but white space");
        assert!(of(b"abc\0def").unwrap().contains("binary"));
        assert_eq!(of(b"***m3d-File-Header***"), None);
    }
}
