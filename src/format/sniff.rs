//! Recognizing files that are something else.

use super::{Diagnostic, FormatError};

/// The kinds of text file that are read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextKind {
    M3d,
    Md5,
    /// A `.gltf`, or a `.glb` that doesn't begin like one.
    #[cfg(feature = "gltf")]
    Gltf,
    /// A `.fbx` that isn't binary.
    #[cfg(all(feature = "fbx", not(target_arch = "wasm32")))]
    Fbx,
    /// A `.character.ron`.
    Manifest,
}

/// The first bytes of other formats, what each is, and what to do about it.
const MAGICS: &[(&[u8], &str, &str)] = &[
    (
        b"3DMO",
        "this is a binary Model 3D file (magic `3DMO`), another format with the same extension",
        OTHER_M3D,
    ),
    (
        b"3dmodel ",
        "this is a text Model 3D file (magic `3dmodel `), another format with the same extension",
        OTHER_M3D,
    ),
    (b"IDP2", "this is an MD2 file", NOT_READ),
    (b"IDP3", "this is an MD3 file", NOT_READ),
    (
        b"glTF",
        "this is a binary glTF file",
        "name it .glb to have it read as one",
    ),
    (b"Kaydara FBX Binary", "this is a binary FBX file", FBX),
    (TEXT_FBX, "this is a text FBX file", FBX),
    (b"xof ", "this is a DirectX .x file", NOT_READ),
    (b"BLENDER", "this is a Blender file", NOT_READ),
    (b"\x89PNG\r\n\x1a\n", "this is a PNG image", TEXTURE),
    (b"DDS ", "this is a DDS image", TEXTURE),
    (b"\xff\xd8\xff", "this is a JPEG image", TEXTURE),
    (b"PK\x03\x04", "this is a ZIP archive", "unpack it first"),
    (b"\x1f\x8b", "this is a gzip archive", "unpack it first"),
    (
        b"\x28\xb5\x2f\xfd",
        "this is a zstd archive",
        "unpack it first",
    ),
    (
        b"version https://git-lfs",
        "this is a Git LFS pointer, not the file itself",
        "run `git lfs pull`",
    ),
    (b"<?xml", "this is an XML file, perhaps COLLADA", NOT_READ),
    (
        b"<!DOCTYPE html",
        "this is a web page",
        "the download probably failed",
    ),
    (
        b"<html",
        "this is a web page",
        "the download probably failed",
    ),
    (b"\xff\xfe", UTF_16, SAVE_AS_UTF_8),
    (b"\xfe\xff", UTF_16, SAVE_AS_UTF_8),
];

const OTHER_M3D: &str =
    "only Frank Luna's text format is read: it begins with `***m3d-File-Header***`";
/// The first bytes of a text FBX file.
const TEXT_FBX: &[u8] = b"; FBX";
const FBX: &str = "name it .fbx to have it read as one";
const NOT_READ: &str = "export it as .glb first";
const TEXTURE: &str = "a model, clip or manifest is expected here, not a texture";
const UTF_16: &str = "this text is UTF-16";
const SAVE_AS_UTF_8: &str = "save it as UTF-8";

/// Refuses a file whose first bytes show that it is something other than a `wanted` text file, or
/// text with an encoding or line ends that are not supported.
///
/// # Errors
/// One that says what the file is.
pub(crate) fn refuse_foreign(
    file: &str,
    source: &[u8],
    wanted: TextKind,
) -> Result<(), FormatError> {
    match foreign(source, wanted) {
        Some((message, hint)) => Err(FormatError::one(
            Diagnostic::error(file, message).with_hint(hint),
        )),
        None => Ok(()),
    }
}

/// Returns the source after a UTF-8 byte order mark, if there is one.
pub(crate) fn without_bom(source: &[u8]) -> &[u8] {
    source.strip_prefix(b"\xef\xbb\xbf").unwrap_or(source)
}

fn foreign(source: &[u8], wanted: TextKind) -> Option<(&'static str, &'static str)> {
    if source.is_empty() {
        return Some(("the file is empty", "export it again"));
    }
    let start = without_bom(source).trim_ascii_start();
    if start.is_empty() {
        return Some(("the file contains only white space", "export it again"));
    }
    #[cfg(all(feature = "fbx", not(target_arch = "wasm32")))]
    // The list below has text FBX files, too.
    if wanted == TextKind::Fbx && start.starts_with(TEXT_FBX) {
        return None;
    }
    if let Some((_, message, hint)) = MAGICS.iter().find(|(magic, ..)| start.starts_with(magic)) {
        return Some((message, hint));
    }
    if wanted != TextKind::Md5 && start.starts_with(b"MD5Version") {
        return Some((
            "this is an MD5 file",
            "name it .md5mesh or .md5anim to have it read as one",
        ));
    }
    if wanted != TextKind::M3d && (start.starts_with(b"***") || start.starts_with(b"---")) {
        return Some((
            "this looks like a text `.m3d`",
            "name it .m3d to have it read as one",
        ));
    }
    // The first few hundred bytes show what a file is, and models may have many megabytes.
    let head = &source[..source.len().min(512)];
    if matches!(wanted, TextKind::M3d | TextKind::Md5)
        && start.starts_with(b"{")
        && head.windows(7).any(|w| w == b"\"asset\"")
    {
        return Some((
            "this is a glTF file",
            "name it .gltf to have it read as one",
        ));
    }
    // ASCII text in UTF-16 has a zero before or after each letter.
    let zeros_at = |first: usize| {
        head.len() > 3 && head.iter().skip(first).step_by(2).take(8).all(|&b| b == 0)
    };
    if zeros_at(0) || zeros_at(1) {
        return Some((UTF_16, SAVE_AS_UTF_8));
    }
    if head.contains(&0) {
        let hint = match wanted {
            TextKind::M3d => OTHER_M3D,
            #[cfg(feature = "gltf")]
            TextKind::Gltf => "a .glb begins with `glTF`, and a .gltf is text",
            #[cfg(all(feature = "fbx", not(target_arch = "wasm32")))]
            TextKind::Fbx => "a binary .fbx begins with `Kaydara FBX Binary`",
            TextKind::Md5 | TextKind::Manifest => "a text file is expected here",
        };
        return Some(("this is a binary file of an unknown format", hint));
    }
    // Lines are counted by line feeds, so every message would point at line 1.
    if !start.contains(&b'\n') && start.trim_ascii_end().contains(&b'\r') {
        return Some((
            "the lines end as on old Macs, with a carriage return alone",
            "save it with LF or CRLF line ends",
        ));
    }
    None
}

#[cfg(test)]
#[path = "tests/sniff.rs"]
mod tests;
