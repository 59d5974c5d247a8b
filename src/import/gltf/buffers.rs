//! Buffers: in the `.glb`, in files beside it, or in data URIs.

use super::{
    document::Document,
    json::{Root, View},
};
use crate::{
    format::{FormatError, reader::CUT_OFF},
    import::{ImportLimits, named_file::NamedFile, open::reason_and_hint, report::Report},
};
use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

/// The bytes of each buffer; `None` for one that has none, such as the fallback of a compressed one.
pub(super) struct Buffers<'s> {
    /// Per buffer, its bytes in `files`, or those of the `.glb`.
    of_buffer: Vec<Option<Source>>,
    files: Vec<Cow<'s, [u8]>>,
    blob: Option<&'s [u8]>,
}

#[derive(Clone, Copy)]
enum Source {
    Blob,
    File(usize),
}

impl<'s> Buffers<'s> {
    /// Reads every buffer that a view is in. `read` returns the contents of a file named relative to the glTF file.
    pub(super) fn read(
        document: &Document<'s>,
        limits: &ImportLimits,
        report: &Report,
        read: &mut dyn FnMut(&str) -> Result<Cow<'s, [u8]>, String>,
    ) -> Result<Self, FormatError> {
        let mut buffers = Self {
            of_buffer: Vec::new(),
            files: Vec::new(),
            blob: document.blob,
        };
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut total = 0u64;
        let used = used(&document.root);
        for (at, buffer) in document.root.buffers.iter().enumerate() {
            let place = format!("buffers[{at}]");
            let source = match buffer.uri.as_deref() {
                _ if !used.contains(&at) => None,
                None => (at == 0 && document.blob.is_some()).then_some(Source::Blob),
                Some(uri) => Some(Source::File(match known.get(uri) {
                    Some(&file) => file,
                    None => {
                        let bytes = open(uri, &place, report, read)?;
                        total += bytes.len() as u64;
                        limits.check_size(report.file, total)?;
                        buffers.files.push(bytes);
                        known.insert(uri.to_owned(), buffers.files.len() - 1);
                        buffers.files.len() - 1
                    }
                })),
            };
            buffers.of_buffer.push(source);
            let (wanted, found) = (
                buffer.byte_length.0,
                buffers.get(at).map(|bytes| bytes.len() as u64),
            );
            if let Some(found) = found.filter(|&found| found < wanted) {
                let message =
                    format!("the buffer has {found} bytes, expected {wanted}, its `byteLength`");
                return Err(report.error(&place, message, CUT_OFF));
            }
        }
        Ok(buffers)
    }

    pub(super) fn get(&self, buffer: usize) -> Option<&[u8]> {
        match (*self.of_buffer.get(buffer)?)? {
            Source::Blob => self.blob,
            Source::File(file) => self.files.get(file).map(|bytes| &**bytes),
        }
    }

    /// The bytes of all buffers together.
    pub(super) fn len(&self) -> usize {
        self.blob.map_or(0, <[u8]>::len) + self.files.iter().map(|bytes| bytes.len()).sum::<usize>()
    }
}

/// Returns the files with the contents of buffers, relative to the glTF file, except those that
/// [`Buffers::read`] will refuse.
pub(super) fn files(root: &Root) -> Vec<String> {
    let used = used(root);
    let buffers = root.buffers.iter().enumerate();
    let buffers = buffers.filter(|(at, _)| used.contains(at));
    let uris = buffers.filter_map(|(_, buffer)| buffer.uri.as_deref());
    let mut files: Vec<String> = uris
        .filter(|uri| !is_data(uri))
        .filter_map(|uri| file_beside(uri).ok())
        .collect();
    files.sort_unstable();
    files.dedup();
    files
}

/// The buffers that views are in. Those that only programs without decompression need are left out.
fn used(root: &Root) -> HashSet<usize> {
    let views = root.buffer_views.iter().filter_map(|view| view.get().ok());
    let of_view = |view: &View| match view.meshopt() {
        Some(packed) => packed.ok().map(|packed| packed.buffer.value()),
        None => Some(view.buffer.value()),
    };
    let used = views.filter_map(of_view);
    let is_fallback = |at: &usize| {
        root.buffers
            .get(*at)
            .is_some_and(|buffer| buffer.is_fallback())
    };
    used.filter(|at| !is_fallback(at)).collect()
}

fn open<'s>(
    uri: &str,
    place: &str,
    report: &Report,
    read: &mut dyn FnMut(&str) -> Result<Cow<'s, [u8]>, String>,
) -> Result<Cow<'s, [u8]>, FormatError> {
    if is_data(uri) {
        let bytes = decode_data(uri).ok_or_else(|| {
            report.error(
                place,
                "the data URI is not valid base64",
                "export the file again, or as a .glb",
            )
        })?;
        return Ok(Cow::Owned(bytes));
    }
    let file = file_beside(uri).map_err(|reason| {
        let message = format!("the buffer is in `{uri}`, {reason}");
        report.error(
            place,
            message,
            "keep buffers in the folder of the glTF file, or export a .glb",
        )
    })?;
    read(&file).map_err(|reason| {
        let beside = "buffers are named relative to the glTF file; a .glb needs no other file";
        let (reason, hint) = reason_and_hint(&reason, beside);
        let message = format!("cannot read the buffer `{file}`: {reason}");
        report.error(place, message, hint)
    })
}

pub(super) fn is_data(uri: &str) -> bool {
    uri.get(..5)
        .is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
}

/// Returns the path that a URI stands for, or the reason for refusing it.
pub(super) fn file_beside(uri: &str) -> Result<String, &'static str> {
    let path = percent_decode(uri).ok_or("which is not a path")?;
    // What a buffer holds can't be checked, so it is never one from elsewhere.
    match NamedFile::of(&path) {
        Some(NamedFile::Below(path)) => Ok(path),
        Some(NamedFile::Above(_)) => Err("which is outside the folder of the glTF file"),
        Some(NamedFile::Foreign(_)) => Err("which is not a relative path"),
        None => Err("which is not a file"),
    }
}

/// Returns the path in an image's URI: without a query, decoded, and with forward slashes. It may
/// lead anywhere; [`texture_candidates`](crate::import::texture_candidates) lists the places where
/// it is looked for.
pub(super) fn path_of(uri: &str) -> String {
    // Fragments are left in: a `#` is rather one in a file's name that should have been encoded.
    let path = uri.split('?').next().unwrap_or_default();
    percent_decode(path)
        .unwrap_or_else(|| path.to_owned())
        .replace('\\', "/")
}

fn percent_decode(text: &str) -> Option<String> {
    let (mut out, mut bytes) = (Vec::with_capacity(text.len()), text.bytes());
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let mut digit = || char::from(bytes.next()?).to_digit(16);
        out.push((digit()? * 16 + digit()?) as u8);
    }
    String::from_utf8(out).ok()
}

/// Decodes a data URI, with base64 or without.
pub(super) fn decode_data(uri: &str) -> Option<Vec<u8>> {
    let (head, data) = uri.split_once(',')?;
    if !head.to_ascii_lowercase().ends_with(";base64") {
        return percent_decode(data).map(String::into_bytes);
    }
    let mut out = Vec::with_capacity(data.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0);
    for byte in data.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            // `-` and `_` take their places in base64 for URLs (RFC 4648, section 5).
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' | b'\r' | b'\n' | b' ' => continue,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 1;
        if count == 4 {
            out.extend_from_slice(&bits.to_be_bytes()[1..]);
            (bits, count) = (0, 0);
        }
    }
    // Two or three digits are left over from one or two bytes. A single one holds less than a byte.
    match count {
        0 => {}
        2 => out.push((bits >> 4) as u8),
        3 => out.extend_from_slice(&((bits >> 2) as u16).to_be_bytes()),
        _ => return None,
    }
    Some(out)
}

#[cfg(test)]
#[path = "tests/buffers.rs"]
mod tests;
