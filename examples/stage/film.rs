//! Writes pictures to files: one by one, stacked, or as a GIF.

use super::platform;
use image::{
    Delay, DynamicImage, Frame, ImageResult, RgbImage,
    codecs::{
        gif::{GifEncoder, Repeat},
        png::{CompressionType, FilterType, PngEncoder},
    },
};
use std::{
    path::{Path, PathBuf},
    time::Duration,
};

/// Returns the files for `count` pictures: `file` itself for one or for a GIF, otherwise numbered files.
pub fn names(file: &Path, count: usize) -> Vec<PathBuf> {
    if count == 1 || is_gif(file) {
        return vec![file.to_path_buf(); count];
    }
    let extension = file.extension().unwrap_or_default().to_string_lossy();
    (0..count)
        .map(|i| file.with_extension(format!("{i:03}.{extension}")))
        .collect()
}

/// Writes pictures to their files, and returns the files.
///
/// Pictures with the same file become frames of a GIF, `every` seconds each, or are stacked vertically in a PNG.
pub fn write(pictures: Vec<(PathBuf, RgbImage)>, every: f32) -> Result<Vec<PathBuf>, String> {
    let mut files: Vec<(PathBuf, Vec<RgbImage>)> = Vec::new();
    for (file, picture) in pictures {
        match files.iter_mut().find(|(known, _)| *known == file) {
            Some((_, list)) => list.push(picture),
            None => files.push((file, vec![picture])),
        }
    }
    // The frames of a film are only read by the program that encodes it.
    let effort = match files.len() {
        1 => CompressionType::Best,
        _ => CompressionType::Fast,
    };
    for (file, pictures) in &files {
        if is_gif(file) {
            gif(pictures, every)
        } else {
            stack(pictures, effort)
        }
        .map_err(|error| error.to_string())
        .and_then(|bytes| platform::save(file, &bytes))
        .map_err(|reason| format!("cannot write {}: {reason}", file.display()))?;
    }
    Ok(files.into_iter().map(|(file, _)| file).collect())
}

/// Returns `true` if the file is a GIF.
pub fn is_gif(file: &Path) -> bool {
    file.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("gif"))
}

fn stack(pictures: &[RgbImage], effort: CompressionType) -> ImageResult<Vec<u8>> {
    let (width, height) = (
        pictures[0].width(),
        pictures.iter().map(RgbImage::height).sum(),
    );
    let mut sheet = RgbImage::new(width, height);
    let mut y = 0;
    for picture in pictures {
        image::imageops::replace(&mut sheet, picture, 0, y);
        y += i64::from(picture.height());
    }
    let mut bytes = Vec::new();
    let encoder = PngEncoder::new_with_quality(&mut bytes, effort, FilterType::Adaptive);
    sheet.write_with_encoder(encoder)?;
    Ok(bytes)
}

/// Encodes a GIF that loops forever.
fn gif(pictures: &[RgbImage], every: f32) -> ImageResult<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut encoder = GifEncoder::new_with_speed(&mut bytes, 4);
    encoder.set_repeat(Repeat::Infinite)?;
    let delay = Delay::from_saturating_duration(Duration::from_secs_f32(every));
    for picture in pictures {
        let picture = DynamicImage::from(picture.clone()).into_rgba8();
        encoder.encode_frame(Frame::from_parts(picture, 0, 0, delay))?;
    }
    drop(encoder);
    Ok(bytes)
}
