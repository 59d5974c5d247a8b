//! Textures for `.glb` files.

use crate::open::OpenModel;
use bevy_marionette::{format::Diagnostic, internals::import::GlbTexture};
use image::{DynamicImage, ImageError, ImageFormat, ImageReader};
use std::io::{Cursor, ErrorKind};

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
        let path = self.model.folder.join(file);
        let warning = |message: String| Diagnostic::warning(&path.to_string_lossy(), message);
        let bytes = match self.model.texture(file) {
            Ok(bytes) => bytes,
            Err(Diagnostic { message, hint, .. }) => {
                self.warnings
                    .push(warning(format!("the texture is left out: {message}")).with_hint(hint));
                return None;
            }
        };
        // The bytes decide, because extensions may be wrong.
        let format = image::guess_format(&bytes)
            .ok()
            .or_else(|| ImageFormat::from_path(file).ok());
        match format {
            Some(ImageFormat::Png) if !flip_green => {
                self.embedded(GlbTexture::Png(bytes.into_owned()))
            }
            Some(ImageFormat::Jpeg) if !flip_green => {
                self.embedded(GlbTexture::Jpeg(bytes.into_owned()))
            }
            Some(format @ (ImageFormat::Png | ImageFormat::Jpeg | ImageFormat::Tga)) => {
                match to_png(&bytes, format, flip_green) {
                    Ok(png) => self.embedded(GlbTexture::Png(png)),
                    Err(error) => {
                        let warning =
                            warning(format!("the texture is left out: {}", reason(&error)));
                        self.warnings
                            .push(warning.with_hint("save it again, as PNG or JPEG"));
                        None
                    }
                }
            }
            _ => {
                let message = "the texture is linked, not embedded: glTF holds PNG and JPEG";
                let hint =
                    "convert it to PNG, or keep it beside the .glb for programs that read it";
                self.warnings
                    .push(warning(message.to_owned()).with_hint(hint));
                Some(GlbTexture::File(file.to_owned()))
            }
        }
    }

    fn embedded(&mut self, texture: GlbTexture) -> Option<GlbTexture> {
        self.embedded += 1;
        Some(texture)
    }
}

/// Describes an error of decoding.
fn reason(error: &ImageError) -> String {
    match error {
        ImageError::IoError(cause) if cause.kind() == ErrorKind::UnexpectedEof => {
            "the file is cut off".to_owned()
        }
        error => error.to_string(),
    }
}

fn to_png(bytes: &[u8], format: ImageFormat, flip_green: bool) -> image::ImageResult<Vec<u8>> {
    let mut image = ImageReader::with_format(Cursor::new(bytes), format).decode()?;
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
