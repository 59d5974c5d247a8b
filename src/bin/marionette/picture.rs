//! Pictures, told from other files.
//!
//! A model may call any file of the machine its texture, so none is copied or embedded unless it is a picture.

use image::{DynamicImage, ImageError, ImageFormat, ImageReader};
use std::io::{Cursor, ErrorKind};

/// The picture in a file.
pub enum Picture {
    /// One that could be decoded.
    Decoded(ImageFormat, DynamicImage),
    /// One of a format that Bevy reads and this program doesn't. Only its header was looked at.
    Header(&'static str),
}

impl Picture {
    /// Reads the picture in a file of this name.
    ///
    /// # Errors
    /// It holds none, with the reason.
    pub fn read(name: &str, bytes: &[u8]) -> Result<Self, String> {
        let signed = image::guess_format(bytes).ok();
        // The bytes decide, because extensions may be wrong. TGA files have no signature.
        let is_tga = || name.to_ascii_lowercase().ends_with(".tga");
        let format = match signed {
            Some(format @ (ImageFormat::Png | ImageFormat::Jpeg)) => format,
            _ => match header(bytes) {
                Some(format) => return Ok(Self::Header(format)),
                None if is_tga() => ImageFormat::Tga,
                None => return Err("it is not a picture".to_owned()),
            },
        };
        match ImageReader::with_format(Cursor::new(bytes), format).decode() {
            Ok(image) => Ok(Self::Decoded(format, image)),
            // Too large or too rare for this program.
            Err(ImageError::Unsupported(_) | ImageError::Limits(_)) if signed.is_some() => {
                Ok(Self::Header(match format {
                    ImageFormat::Png => "PNG",
                    _ => "JPEG",
                }))
            }
            Err(ImageError::IoError(cause)) if cause.kind() == ErrorKind::UnexpectedEof => {
                Err("the file is cut off".to_owned())
            }
            Err(error) => Err(error.to_string()),
        }
    }
}

/// Returns the format that a file's first bytes tell: one that this program doesn't decode.
fn header(bytes: &[u8]) -> Option<&'static str> {
    let number = |at: usize| {
        let bytes = bytes.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_le_bytes(bytes))
    };
    Some(match bytes {
        [b'D', b'D', b'S', b' ', ..] if number(4) == Some(124) => "DDS",
        [
            0xab,
            b'K',
            b'T',
            b'X',
            b' ',
            b'1' | b'2',
            b'1' | b'0',
            0xbb,
            b'\r',
            b'\n',
            0x1a,
            b'\n',
            ..,
        ] => "KTX",
        [b's', b'B', 0x13, 0, ..] => "Basis Universal",
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => "WebP",
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => "GIF",
        [b'I', b'I', b'*', 0, ..] | [b'M', b'M', 0, b'*', ..] => "TIFF",
        [0x76, 0x2f, 0x31, 0x01, ..] => "OpenEXR",
        [b'8', b'B', b'P', b'S', 0, 1, ..] => "PSD",
        [b'q', b'o', b'i', b'f', ..] if bytes.len() > 14 && matches!(bytes[12], 3 | 4) => "QOI",
        // The sizes of the header's versions.
        [b'B', b'M', ..] if matches!(number(14), Some(12 | 40 | 52 | 56 | 64 | 108 | 124)) => "BMP",
        [
            b'P',
            b'1'..=b'7',
            b' ' | b'\n',
            b'#' | b'0'..=b'9' | b'W',
            ..,
        ] => "PNM",
        _ if bytes.starts_with(b"#?RADIANCE\n") || bytes.starts_with(b"#?RGBE\n") => "HDR",
        _ if bytes.starts_with(b"farbfeld") => "farbfeld",
        _ => return None,
    })
}

#[cfg(test)]
#[path = "tests/picture.rs"]
mod tests;
