//! Images that a model's own file contains.

use bevy::{
    asset::RenderAssetUsages,
    image::{CompressedImageFormats, ImageSampler, ImageType},
    prelude::*,
};
use std::sync::{Arc, OnceLock};

/// Largest width and height: more than any device can draw. A file of a few kilobytes can claim to be gigabytes large.
const MOST_TEXELS: u32 = 16_384;

/// Decodes an image file called `name`.
pub(super) fn decode(
    name: &str,
    bytes: &[u8],
    formats: CompressedImageFormats,
    is_srgb: bool,
    sampler: ImageSampler,
) -> Result<Image, String> {
    if let Some(size) = size(bytes).filter(|size| size.iter().any(|&side| side > MOST_TEXELS)) {
        return Err(format!("it has {} × {} texels; the limit is {MOST_TEXELS} per side", size[0], size[1]));
    }
    let kind = ImageType::Extension(name.rsplit_once('.').map_or("", |(_, extension)| extension));
    Image::from_buffer(bytes, kind, formats, is_srgb, sampler, RenderAssetUsages::default())
        .map_err(|error| error.to_string())
}

/// Returns the width and height that a PNG or JPEG claims, before it is decoded. The other formats that Bevy reads hold
/// what they claim.
fn size(bytes: &[u8]) -> Option<[u32; 2]> {
    let wide = |at: usize| Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?));
    let short = |at: usize| Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?));
    if bytes.starts_with(b"\x89PNG") {
        return Some([wide(16)?, wide(20)?]);
    }
    if !bytes.starts_with(&[0xff, 0xd8]) {
        return None;
    }
    let mut at = 2;
    loop {
        let [mark, kind] = *bytes.get(at..)?.first_chunk()?;
        match (mark, kind) {
            // Markers can be padded, and some have nothing behind them.
            (0xff, 0xff) => at += 1,
            (0xff, 0x01 | 0xd0..=0xd9) => at += 2,
            // A frame header: precision, height and width.
            (0xff, 0xc0..=0xcf) if ![0xc4, 0xc8, 0xcc].contains(&kind) => {
                return Some([short(at + 7)?.into(), short(at + 5)?.into()]);
            }
            (0xff, _) => at += 2 + usize::from(short(at + 2)?),
            _ => return None,
        }
    }
}

/// The compressed formats that the device can draw. Empty until the app is finished.
#[derive(Resource, Clone, Default)]
pub(super) struct SupportedFormats(Arc<OnceLock<CompressedImageFormats>>);

impl SupportedFormats {
    pub(super) fn get(&self) -> CompressedImageFormats {
        self.0.get().copied().unwrap_or(CompressedImageFormats::NONE)
    }

    pub(super) fn set(&self, formats: CompressedImageFormats) {
        _ = self.0.set(formats);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_that_an_image_claims_is_read_before_it_is_decoded() {
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        png.extend([0, 0, 64, 1, 0, 0, 0, 2]);
        assert_eq!(size(&png), Some([16_385, 2]));
        let tables = [0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xff, 0xc4, 0, 3, 0];
        let frame = [0xff, 0xc2, 0, 11, 8, 0, 3, 0xff, 0xff];
        let jpeg = [&[0xff, 0xd8][..], &tables, &frame].concat();
        assert_eq!(size(&jpeg), Some([65_535, 3]));
        for bytes in [&png[..18], &jpeg[..12], &jpeg[..jpeg.len() - 1], b"", b"RIFF"] {
            assert_eq!(size(bytes), None);
        }
        for bytes in [&png, &jpeg] {
            let none = CompressedImageFormats::NONE;
            let error = decode("a.png", bytes, none, true, ImageSampler::Default).unwrap_err();
            assert!(error.contains("the limit is 16384 per side"), "{error}");
        }
    }
}
