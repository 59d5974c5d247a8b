//! The container and its JSON: `.glb` and `.gltf` are distinguished by their first bytes.

use super::json::{self, Asset, Node, Root};
use crate::{
    format::{Diagnostic, FormatError, TextKind, reader::CUT_OFF, refuse_foreign, without_bom},
    import::report::Report,
    plural::there_are,
};
use serde::Deserialize;
use serde_json::error::Category;
use std::{borrow::Cow, fmt::Display};

/// A file's JSON, and the bytes after it in a `.glb`.
pub(super) struct Document<'s> {
    pub(super) root: Root,
    pub(super) blob: Option<&'s [u8]>,
    /// `true` if the JSON is in another encoding than UTF-8, so that letters were lost.
    pub(super) lost_letters: bool,
}

impl<'s> Document<'s> {
    /// Reads a file without following its indices.
    pub(super) fn read(report: &Report, source: &'s [u8]) -> Result<Self, FormatError> {
        if source.starts_with(b"glTF") {
            let (json, blob) = chunks(report, source)?;
            let (root, lost_letters) = parse(report, json, false)?;
            return Ok(Self {
                root,
                blob,
                lost_letters,
            });
        }
        // Zeros after the JSON would make it look like a binary file.
        let text = without_padding(source);
        let is_json = without_bom(text).trim_ascii_start().starts_with(b"{");
        let source = if is_json { text } else { source };
        refuse_foreign(report.file, source, TextKind::Gltf)?;
        let (root, lost_letters) = parse(report, source, true)?;
        Ok(Self {
            root,
            blob: None,
            lost_letters,
        })
    }
}

/// Returns `false` for a `.glb` that holds all that it needs, as most do. Its JSON can be megabytes, and is parsed only once.
pub(super) fn may_name_files(report: &Report, source: &[u8]) -> bool {
    let Ok((json, _)) = chunks(report, source) else {
        return true;
    };
    let json = text_of(json);
    // Any letter may be written as an escape.
    json.contains("\"uri\"") || json.contains("\\u")
}

pub(super) const CHECK: &str = "check the file with the glTF validator";

/// Returns the error about an index out of range.
pub(super) fn out_of_range(
    what: &str,
    index: impl Display,
    count: usize,
    place: &str,
    report: &Report,
) -> FormatError {
    let message = format!("{what} {index} is out of range: {}", there_are(count, what));
    report.error(place, message, CHECK)
}

pub(super) const DAMAGED: &str =
    "the file is damaged, or made to exhaust memory: export or download it again";

/// Splits a `.glb` into its JSON and binary chunks. Chunks of other kinds are skipped.
fn chunks<'s>(
    report: &Report,
    source: &'s [u8],
) -> Result<(&'s [u8], Option<&'s [u8]>), FormatError> {
    let cut_off = |message: &str| report.error("", message, CUT_OFF);
    let number = |at: usize| Some(u32::from_le_bytes(*source.get(at..)?.first_chunk()?));
    let (Some(version), Some(length)) = (number(4), number(8)) else {
        return Err(cut_off("the file ends in its header"));
    };
    if version != 2 {
        let message =
            format!("this is a binary glTF file of version {version}; only version 2 is supported");
        return Err(report.error("", message, "export it as glTF 2.0"));
    }
    // A longer file has something appended, which does no harm.
    if length as usize > source.len() {
        return Err(cut_off(&format!(
            "the file should have {length} bytes, but has {}",
            source.len()
        )));
    }
    let (mut json, mut blob, mut at) = (None, None, 12);
    while let (Some(size), Some(kind)) = (number(at), source.get(at + 4..at + 8)) {
        let Some(chunk) = source
            .get(at + 8..)
            .and_then(|rest| rest.get(..size as usize))
        else {
            return Err(cut_off(&format!(
                "a chunk of {size} bytes goes past the end of the file"
            )));
        };
        match kind {
            // Only the first chunk of a kind counts.
            b"JSON" => json = json.or(Some(chunk)),
            b"BIN\0" => blob = blob.or(Some(chunk)),
            _ => {}
        }
        // Some exporters forget the padding in the size, but not in the file.
        at += 8 + (size as usize).next_multiple_of(4);
    }
    match json {
        Some(json) => Ok((json, blob)),
        None => Err(cut_off("the file has no JSON chunk")),
    }
}

/// Objects that any file may have, and how many bytes of JSON each further one needs. An empty object takes two bytes in
/// the file and hundreds in memory.
const FEW_OBJECTS: usize = 1 << 16;
const BYTES_PER_OBJECT: usize = 16;
const MOST_OBJECTS: usize = 1 << 22;

/// Returns JSON without the white space after it, and without the zeros with which old exporters
/// padded their files.
fn without_padding(json: &[u8]) -> &[u8] {
    let end = json
        .iter()
        .rposition(|&byte| byte != 0 && !byte.is_ascii_whitespace())
        .map_or(0, |last| last + 1);
    &json[..end]
}

/// Returns JSON as text. Letters in another encoding are lost, but the rest of the file can be read.
fn text_of(json: &[u8]) -> Cow<'_, str> {
    // Checks many bytes at a time, where replacing letters goes through them one by one.
    str::from_utf8(json).map_or_else(|_| String::from_utf8_lossy(json), Cow::Borrowed)
}

/// Parses JSON. The flag is `true` if letters were replaced because they aren't UTF-8.
fn parse(report: &Report, json: &[u8], is_text: bool) -> Result<(Root, bool), FormatError> {
    let json = without_bom(without_padding(json));
    // Counted by their braces before a parser allocates anything. Braces in names count, too, but are few.
    // In chunks whose counts fit in a byte, so that many bytes are compared at once.
    let braces = |chunk: &[u8]| chunk.iter().map(|&b| u8::from(b == b'{')).sum::<u8>();
    let objects: usize = json
        .chunks(240)
        .map(|chunk| usize::from(braces(chunk)))
        .sum();
    if objects
        > FEW_OBJECTS
            .max(json.len() / BYTES_PER_OBJECT)
            .min(MOST_OBJECTS)
    {
        let message = format!(
            "{} bytes of JSON hold {objects} objects, too many for a character",
            json.len()
        );
        return Err(report.error("", message, DAMAGED));
    }
    let text = text_of(json);
    let root: Root = match serde_json::from_str(&text) {
        Ok(root) => root,
        // Other versions have other types, too.
        Err(error) => {
            #[derive(Deserialize)]
            struct OnlyAsset {
                asset: Asset,
            }
            if let Ok(OnlyAsset { asset }) = serde_json::from_str(&text) {
                check_version(report, &asset)?;
            }
            return Err(misread(report, &text, is_text, &error));
        }
    };
    check_version(report, &root.asset)?;
    Ok((root, matches!(text, Cow::Owned(_))))
}

fn check_version(report: &Report, asset: &Asset) -> Result<(), FormatError> {
    match asset.min_version.as_ref().or(asset.version.as_ref()) {
        Some(version) if version.major() != Some(2) => {
            let message = format!("this is glTF {version}; only version 2 is supported");
            Err(report.error("asset.version", message, "export it as glTF 2.0"))
        }
        _ => Ok(()),
    }
}

#[cold]
fn misread(report: &Report, json: &str, is_text: bool, error: &serde_json::Error) -> FormatError {
    let (line, column) = (error.line() as u32, error.column() as u32);
    let before: usize = json
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1))
        .map(str::len)
        .sum();
    let place = match error.classify() {
        Category::Data => json::place_at(json, before + error.column()),
        _ => String::new(),
    };
    let message = format!("the JSON cannot be read: {}", json::message(error));
    let diagnostic = Diagnostic::error(report.file, message);
    let hint = if error.is_eof() { CUT_OFF } else { CHECK };
    // In a `.glb`, the JSON is a single line after a binary header, so a line number would be
    // useless.
    let diagnostic = match (is_text, &*place) {
        (true, _) => diagnostic
            .at(json.as_bytes(), line.max(1), column.max(1))
            .with_context(place),
        (false, "") => diagnostic.with_context(format!(
            "byte {} of the JSON chunk",
            before + error.column()
        )),
        (false, _) => diagnostic.with_context(place),
    };
    FormatError::one(diagnostic.with_hint(hint))
}

pub(super) const DRACO: &str = "KHR_draco_mesh_compression";

/// Extensions that are read, apart from those that leave the shape alone.
const READ: [&str; 7] = [
    DRACO,
    "EXT_meshopt_compression",
    "KHR_meshopt_compression",
    "KHR_mesh_quantization",
    "KHR_node_visibility",
    "KHR_texture_transform",
    "MSFT_lod",
];

/// Refuses a file that requires an extension without which its shape would be wrong, and warns about others.
pub(super) fn check_extensions(root: &Root, report: &mut Report) -> Result<(), FormatError> {
    for (at, name) in root.extensions_required.iter().enumerate() {
        let place = format!("extensionsRequired[{at}]");
        if READ.contains(&name.as_str()) || leaves_shape_alone(name) {
            continue;
        }
        let message = format!("the file requires the extension `{name}`, which is not supported");
        return Err(report.error(&place, message, "export it without this extension"));
    }
    if let Some(at) = root.nodes.iter().position(Node::is_instanced) {
        report.warn(
            &format!("nodes[{at}]"),
            "instanced meshes are drawn once",
            "export the copies as nodes",
        );
    }
    let count = |is: fn(&Node) -> bool| root.nodes.iter().filter(|node| is(node)).count();
    let several = |count: usize, what: &str| match count {
        0 => None,
        1 => Some(format!("a {what}")),
        count => Some(format!("{count} {what}s")),
    };
    let left_out = [
        several(count(|node| node.camera), "camera"),
        several(count(Node::is_light), "light"),
    ];
    let left_out: Vec<String> = left_out.into_iter().flatten().collect();
    if !left_out.is_empty() {
        report.warn(
            "nodes",
            format!("the file also has {}", left_out.join(" and ")),
            "spawn cameras and lights beside the character",
        );
    }
    if root.vrm.has_toon_materials(&root.extensions_used) {
        let message = "toon materials are drawn as plain ones";
        report.warn("materials", message, "");
    }
    Ok(())
}

/// Returns `true` for extensions that don't change a model's shape or how its joints move: those
/// about looks, sounds or behavior. Animation pointers are read if they point to nodes.
fn leaves_shape_alone(name: &str) -> bool {
    [
        "EXT_lights_",
        "EXT_texture_",
        "KHR_animation_pointer",
        "KHR_audio",
        "KHR_interactivity",
        "KHR_lights_",
        "KHR_materials_",
        "KHR_node_hoverability",
        "KHR_node_selectability",
        "KHR_texture_",
        "KHR_xmp",
        "MSFT_texture_",
        "VRM",
    ]
    .iter()
    .any(|prefix| name.starts_with(prefix))
}
