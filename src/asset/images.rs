//! Images that a model's own file contains.

use crate::import::{Texels, texels_of_all};
use ::image::{
    ColorType, DynamicImage, ImageDecoder, ImageFormat, ImageReader, ImageResult, RgbaImage,
};
use bevy::{
    asset::RenderAssetUsages,
    image::{CompressedImageFormats, ImageSampler, ImageType, TextureError},
    prelude::*,
    render::render_resource::{Extent3d, TextureDimension, TextureFormat},
};
use std::{
    io::Cursor,
    sync::{Arc, OnceLock},
};

/// Largest width and height, in texels: more than any device can draw. A file of a few kilobytes
/// can claim to be gigabytes large.
const MOST_TEXELS: u32 = 16_384;

/// The most bytes that a character's own images may take together, with mip levels.
const MOST_BYTES: u64 = 4 << 30;

/// The memory that a character's images claim to take, added up before they are decoded.
#[derive(Default)]
pub(super) struct Claims {
    bytes: u64,
}

impl Claims {
    /// Adds an image file called `name`. Refuses one that is too large by itself, or with those before it.
    ///
    /// Formats for video memory are as large as they claim, and are not counted.
    pub(super) fn add(&mut self, name: &str, bytes: &[u8]) -> Result<(), String> {
        let Some((width, height)) = claimed_size(name, bytes) else {
            return Ok(());
        };
        if width.max(height) > MOST_TEXELS {
            return Err(format!(
                "it has {width} × {height} texels; the limit is {MOST_TEXELS} per side"
            ));
        }
        // Four bytes a texel, and a third of that for mip levels.
        let with_it = self.bytes + u64::from(width) * u64::from(height) * 16 / 3;
        if with_it > MOST_BYTES {
            return Err(format!(
                "with it, the character's textures would take more than {} GiB",
                MOST_BYTES >> 30
            ));
        }
        self.bytes = with_it;
        Ok(())
    }
}

/// Decodes an image file called `name`. With `has_mips`, its memory has room for mip levels, so that adding them doesn't copy
/// it.
pub(super) fn decode(
    name: &str,
    bytes: &[u8],
    formats: CompressedImageFormats,
    is_srgb: bool,
    sampler: ImageSampler,
    has_mips: bool,
) -> Result<Image, String> {
    let usages = RenderAssetUsages::default();
    if let Some(texels) = Texels::of(bytes) {
        return Ok(baked(texels, is_srgb, sampler, usages));
    }
    let image = match ImageFormat::from_extension(extension(name)) {
        // What most textures are. Bevy adds alpha to colors in twice the time, and leaves no room.
        Some(
            format @ (ImageFormat::Png
            | ImageFormat::Jpeg
            | ImageFormat::Tga
            | ImageFormat::Bmp
            | ImageFormat::WebP),
        ) if format.reading_enabled() => {
            let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
            reader.no_limits();
            reader
                .into_decoder()
                .and_then(|decoder| decode_colors(decoder, has_mips))
                .map_err(TextureError::from)
                .map(|image| Image::from_dynamic(image, is_srgb, usages))
        }
        _ => {
            let kind = ImageType::Extension(extension(name));
            Image::from_buffer(bytes, kind, formats, is_srgb, ImageSampler::Default, usages)
        }
    };
    image
        .map(|image| Image { sampler, ..image })
        .map_err(|error| {
            let error = error.to_string();
            // Bevy's own error names neither the feature that is missing nor ETC1S, only what it is compressed by.
            let is_etc1s = error.contains("BasisLZ");
            let etc1s =
                is_etc1s.then(|| "Bevy reads no ETC1S in KTX2; encode it as UASTC".to_owned());
            missing_feature(name).or(etc1s).unwrap_or(error)
        })
}

/// Makes an image of one that is decoded already.
fn baked(texels: Texels, is_srgb: bool, sampler: ImageSampler, usages: RenderAssetUsages) -> Image {
    let [width, height] = texels.size;
    let size = Extent3d {
        width,
        height,
        depth_or_array_layers: 1,
    };
    let format = match is_srgb {
        true => TextureFormat::Rgba8UnormSrgb,
        false => TextureFormat::Rgba8Unorm,
    };
    let mut image = Image::new_uninit(size, TextureDimension::D2, format, usages);
    image.texture_descriptor.mip_level_count = texels.levels;
    image.data = Some(texels.data.to_vec());
    image.sampler = sampler;
    image
}

/// Decodes an image of 8 bits per channel for baking. `None` for others.
pub(super) fn texels_of(name: &str, bytes: &[u8]) -> Option<([u32; 2], Vec<u8>)> {
    let format = ImageFormat::from_extension(extension(name))?;
    let is_decoded = matches!(
        format,
        ImageFormat::Png
            | ImageFormat::Jpeg
            | ImageFormat::Tga
            | ImageFormat::Bmp
            | ImageFormat::WebP
    );
    if !is_decoded || Claims::default().add(name, bytes).is_err() {
        return None;
    }
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.no_limits();
    match reader.decode().ok()? {
        image @ (DynamicImage::ImageRgb8(_) | DynamicImage::ImageRgba8(_)) => Some((
            [image.width(), image.height()],
            image.into_rgba8().into_raw(),
        )),
        _ => None,
    }
}

/// Decodes colors of 8 bits with alpha, opaque if there is none, and other images as they are. With `has_mips`, the memory of
/// colors has room for mip levels.
fn decode_colors(decoder: impl ImageDecoder, has_mips: bool) -> ImageResult<DynamicImage> {
    let channels = match decoder.color_type() {
        ColorType::Rgb8 => 3,
        ColorType::Rgba8 => 4,
        _ => return DynamicImage::from_decoder(decoder),
    };
    let (width, height) = decoder.dimensions();
    let size = [width, height].map(|side| side as usize);
    let texels = size[0] * size[1];
    // The system hands out zeros without writing them, so the room takes no time.
    let room = if has_mips {
        texels_of_all(size)
    } else {
        texels
    };
    let mut data = vec![0; room * 4];
    data.truncate(texels * 4);
    // Three channels go to the end. Each row then moves forward to its place, which ends before
    // the rows that haven't moved yet.
    decoder.read_image(&mut data[texels * (4 - channels)..])?;
    if channels == 3 {
        let [width, height] = size;
        let mut colors = vec![0; width * 3];
        for row in 0..height {
            colors.copy_from_slice(&data[texels + row * width * 3..][..width * 3]);
            let to = data[row * width * 4..].as_chunks_mut().0;
            for (to, &[r, g, b]) in to.iter_mut().zip(colors.as_chunks().0) {
                *to = [r, g, b, u8::MAX];
            }
        }
    }
    let image = RgbaImage::from_raw(width, height, data).map(DynamicImage::ImageRgba8);
    Ok(image.unwrap_or_default())
}

/// Returns an error that names the Bevy features that read an image, if the app was built without
/// them.
fn missing_feature(name: &str) -> Option<String> {
    let extension = extension(name).to_ascii_lowercase();
    let needed: &[(&str, &str)] = match &*extension {
        "webp" => &[("webp", "webp")],
        // Nearly all in glTF files are in the Basis Universal format.
        "ktx2" => &[("ktx2", "ktx2"), ("basis", "basis-universal")],
        _ => return None,
    };
    let missing: Vec<String> = needed
        .iter()
        .filter(|(extension, _)| bevy::image::ImageFormat::from_extension(extension).is_none())
        .map(|(_, feature)| format!("`{feature}`"))
        .collect();
    (!missing.is_empty()).then(|| {
        let features = missing.join(" and ");
        format!("this app reads no such images; enable {features} among Bevy's features")
    })
}

/// Returns the width and height in an image's header.
fn claimed_size(name: &str, bytes: &[u8]) -> Option<(u32, u32)> {
    // The name is that of the file before it was baked.
    if let Some(Texels {
        size: [width, height],
        ..
    }) = Texels::of(bytes)
    {
        return Some((width, height));
    }
    let format = ImageFormat::from_extension(extension(name))?;
    ImageReader::with_format(Cursor::new(bytes), format)
        .into_dimensions()
        .ok()
}

fn extension(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, extension)| extension)
}

/// The compressed formats that the device can draw. Empty until the app is finished.
#[derive(Resource, Clone, Default)]
pub(super) struct SupportedFormats(Arc<OnceLock<CompressedImageFormats>>);

impl SupportedFormats {
    pub(super) fn get(&self) -> CompressedImageFormats {
        self.0
            .get()
            .copied()
            .unwrap_or(CompressedImageFormats::NONE)
    }

    pub(super) fn set(&self, formats: CompressedImageFormats) {
        _ = self.0.set(formats);
    }
}

#[cfg(test)]
#[path = "tests/images.rs"]
mod tests;
