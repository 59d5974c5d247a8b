//! Mip levels of images.

use crate::import::{Content, add_mips};
use bevy::{
    prelude::*,
    render::render_resource::{TextureDimension, TextureFormat},
};

/// Adds all mip levels, down to a single texel.
///
/// Returns an image unchanged if it has mip levels already, or if it is not a plain 2D image of one or four
/// 8-bit channels.
pub(super) fn with_mips(mut image: Image, content: Content) -> Image {
    let descriptor = &image.texture_descriptor;
    let (size, format) = (descriptor.size, descriptor.format);
    let plain = descriptor.dimension == TextureDimension::D2
        && size.depth_or_array_layers == 1
        && descriptor.mip_level_count == 1;
    let (channels, is_srgb) = match format {
        TextureFormat::Rgba8Unorm => (4, false),
        TextureFormat::Rgba8UnormSrgb => (4, true),
        TextureFormat::R8Unorm => (1, false),
        _ => return image,
    };
    let size = [size.width, size.height].map(|side| side as usize);
    let bytes = size[0] * size[1] * channels;
    let Some(data) = image
        .data
        .as_mut()
        // Compressed data has another length.
        .filter(|data| plain && bytes > 0 && data.len() == bytes)
    else {
        return image;
    };
    image.texture_descriptor.mip_level_count = add_mips(data, size, channels, is_srgb, content);
    image
}

#[cfg(test)]
#[path = "tests/mips.rs"]
mod tests;
