//! Textures for `.glb` files.

use crate::{open::OpenModel, picture::Picture};
use bevy_marionette::{format::Diagnostic, internals::import::GlbTexture};
use image::{DynamicImage, ImageFormat};
use std::io::Cursor;

/// Reads textures and converts what glTF does not allow.
pub struct Images<'a> {
    model: &'a OpenModel,
    /// Images that could not be embedded, with the reasons.
    pub warnings: Vec<Diagnostic>,
    pub embedded: usize,
}

impl<'a> Images<'a> {
    pub fn of(model: &'a OpenModel) -> Self {
        Self {
            model,
            warnings: Vec::new(),
            embedded: 0,
        }
    }

    /// Returns a texture; `file` is relative to the model's folder. With `flip_green`, its green channel is inverted.
    pub fn load(&mut self, file: &str, flip_green: bool) -> Option<GlbTexture> {
        let (bytes, picture) = match self.model.texture(file) {
            Ok(texture) => texture,
            Err(warning) => {
                self.warn(warning);
                return None;
            }
        };
        let texture = match picture {
            Picture::Decoded(ImageFormat::Png, _) if !flip_green => {
                GlbTexture::Png(bytes.into_owned())
            }
            Picture::Decoded(ImageFormat::Jpeg, _) if !flip_green => {
                GlbTexture::Jpeg(bytes.into_owned())
            }
            Picture::Decoded(_, image) => match to_png(image, flip_green) {
                Ok(png) => GlbTexture::Png(png),
                Err(error) => {
                    let message = format!("the texture is left out: {error}");
                    self.warn(self.model.about_texture(file, &message));
                    return None;
                }
            },
            Picture::Header(_) => {
                let message = "the texture is linked, not embedded: glTF holds PNG and JPEG";
                let hint =
                    "convert it to PNG, or keep it beside the .glb for programs that read it";
                self.warn(self.model.about_texture(file, message).with_hint(hint));
                return Some(GlbTexture::File(file.to_owned()));
            }
        };
        if let Some(warning) = self.model.outside(file, "embedded") {
            self.warn(warning);
        }
        self.embedded += 1;
        Some(texture)
    }

    /// Materials may share a texture.
    fn warn(&mut self, warning: Diagnostic) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }
}

fn to_png(mut image: DynamicImage, flip_green: bool) -> image::ImageResult<Vec<u8>> {
    if flip_green {
        // glTF's maps need no more than eight bits per channel.
        image = match image.color().has_alpha() {
            true => DynamicImage::ImageRgba8(image.into_rgba8()),
            false => DynamicImage::ImageRgb8(image.into_rgb8()),
        };
        let channels = usize::from(image.color().channel_count());
        let pixels = match &mut image {
            DynamicImage::ImageRgba8(pixels) => pixels.as_flat_samples_mut().samples,
            DynamicImage::ImageRgb8(pixels) => pixels.as_flat_samples_mut().samples,
            _ => &mut [],
        };
        pixels
            .chunks_exact_mut(channels)
            .for_each(|pixel| pixel[1] = 255 - pixel[1]);
    }
    let mut out = Cursor::new(Vec::new());
    image.write_to(&mut out, ImageFormat::Png)?;
    Ok(out.into_inner())
}

#[cfg(test)]
#[path = "tests/images.rs"]
mod tests;
