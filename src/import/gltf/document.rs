//! The container and its JSON: `.glb` and `.gltf` are told apart by their first bytes.

use super::report::Report;
use crate::format::{Diagnostic, FormatError, TextKind, refuse_foreign, without_bom};
use gltf::json::{Root, deserialize};

/// A file's JSON, and the bytes behind it in a `.glb`.
pub(super) struct Document<'s> {
    pub(super) root: Root,
    pub(super) blob: Option<&'s [u8]>,
}

impl<'s> Document<'s> {
    /// Reads a file without looking at what its indices point to.
    pub(super) fn read(report: &Report, source: &'s [u8]) -> Result<Self, FormatError> {
        if source.starts_with(b"glTF") {
            let (json, blob) = chunks(report, source)?;
            return Ok(Self { root: parse(report, json, false)?, blob });
        }
        refuse_foreign(report.file, source, TextKind::Gltf)?;
        Ok(Self { root: parse(report, without_bom(source), true)?, blob: None })
    }
}

const CUT_OFF: &str = "the file may be cut off: export or download it again";

/// Splits a `.glb` into its JSON and binary chunks. Chunks of other kinds are skipped.
fn chunks<'s>(report: &Report, source: &'s [u8]) -> Result<(&'s [u8], Option<&'s [u8]>), FormatError> {
    let cut_off = |message: &str| report.error("", message, CUT_OFF);
    let number = |at: usize| Some(u32::from_le_bytes(*source.get(at..)?.first_chunk()?));
    let (Some(version), Some(length)) = (number(4), number(8)) else {
        return Err(cut_off("the file ends in its header"));
    };
    if version != 2 {
        let message = format!("this is a binary glTF file of version {version}; only version 2 is supported");
        return Err(report.error("", message, "export it as glTF 2.0"));
    }
    if length as usize > source.len() {
        return Err(cut_off(&format!("the header says {length} bytes, but there are {}", source.len())));
    }
    let (mut json, mut blob, mut at) = (None, None, 12);
    while let (Some(size), Some(kind)) = (number(at), source.get(at + 4..at + 8)) {
        let Some(chunk) = source.get(at + 8..).and_then(|rest| rest.get(..size as usize)) else {
            return Err(cut_off(&format!("a chunk of {size} bytes goes past the end of the file")));
        };
        match kind {
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

fn parse(report: &Report, json: &[u8], is_text: bool) -> Result<Root, FormatError> {
    let objects = json.iter().filter(|&&byte| byte == b'{').count();
    if objects > FEW_OBJECTS.max(json.len() / BYTES_PER_OBJECT).min(MOST_OBJECTS) {
        let message = format!("{} bytes of JSON with {objects} objects: no character is like that", json.len());
        return Err(report.error("", message, "the file is damaged or made to exhaust memory"));
    }
    let root: Root = deserialize::from_slice(json).map_err(|error| {
        // The message ends in a place of its own.
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        let diagnostic = Diagnostic::error(report.file, format!("the JSON cannot be read: {message}"));
        let (line, column) = (error.line() as u32, error.column() as u32);
        let hint = if error.is_eof() { CUT_OFF } else { "check the file with the glTF validator" };
        // In a `.glb` the JSON is a single line behind a binary header.
        FormatError::one(
            match is_text {
                true => diagnostic.at(json, line.max(1), column.max(1)),
                false => diagnostic.with_context(format!("column {column} of the JSON chunk")),
            }
            .with_hint(hint),
        )
    })?;
    let version = root.asset.min_version.as_deref().unwrap_or(&root.asset.version);
    if version.split('.').next() != Some("2") {
        let message = format!("this is glTF {version:?}; only version 2 is supported");
        return Err(report.error("asset.version", message, "export it as glTF 2.0"));
    }
    Ok(root)
}

const DRACO: &str = "KHR_draco_mesh_compression";
const MESHOPT: [&str; 2] = ["EXT_meshopt_compression", "KHR_meshopt_compression"];
const UNPACK: &str = "export it without compression, or unpack it with `gltf-transform copy in.glb out.glb`";

/// Refuses a file that requires an extension without which its shape would be wrong, and warns about others.
pub(super) fn check_extensions(root: &Root, report: &mut Report) -> Result<(), FormatError> {
    for (at, name) in root.extensions_required.iter().enumerate() {
        let place = format!("extensionsRequired[{at}]");
        match name.as_str() {
            DRACO => {
                return Err(report.error(&place, "the meshes are compressed with Draco, which is not read", UNPACK));
            }
            name if MESHOPT.contains(&name) => {
                return Err(report.error(
                    &place,
                    "the data is compressed with meshoptimizer, which is not read",
                    UNPACK,
                ));
            }
            "KHR_mesh_quantization" | "KHR_texture_transform" => {}
            name if is_about_looks(name) => {}
            name => {
                let message = format!("the file requires the extension `{name}`, which is not supported");
                return Err(report.error(&place, message, "export it without this extension"));
            }
        }
    }
    let instanced = |node: &gltf::json::Node| {
        node.extensions.as_ref().is_some_and(|extensions| extensions.others.contains_key("EXT_mesh_gpu_instancing"))
    };
    if let Some(at) = root.nodes.iter().position(instanced) {
        report.warn(&format!("nodes[{at}]"), "instanced meshes are drawn once", "export the copies as nodes");
    }
    Ok(())
}

/// Returns `true` for extensions that change how a model looks, but not its shape.
fn is_about_looks(name: &str) -> bool {
    ["KHR_materials_", "KHR_texture_", "EXT_texture_", "MSFT_texture_", "KHR_lights_", "EXT_lights_", "KHR_xmp"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

/// Describes what compresses data that the file holds in no other form, if it does.
pub(super) fn compression(
    root: &Root,
    primitive: &gltf::json::mesh::Primitive,
) -> Option<(&'static str, &'static str)> {
    let accessor = root.accessors.get(primitive.attributes.values().next()?.value())?;
    let is_draco = primitive.extensions.as_ref().is_some_and(|extensions| extensions.others.contains_key(DRACO));
    if accessor.buffer_view.is_none() && is_draco {
        return Some(("the mesh is compressed with Draco, which is not read", UNPACK));
    }
    let view = root.buffer_views.get(accessor.buffer_view?.value())?;
    let is_meshopt = view.extensions.as_ref().is_some_and(|e| MESHOPT.iter().any(|name| e.others.contains_key(*name)));
    let buffer = root.buffers.get(view.buffer.value())?;
    (is_meshopt && buffer.uri.is_none() && view.buffer.value() > 0)
        .then_some(("the mesh is compressed with meshoptimizer, which is not read", UNPACK))
}
