//! Pictures into files: one by one, below each other, or as a GIF.

use image::{
    Delay, Frame, RgbImage, RgbaImage,
    codecs::gif::{GifEncoder, Repeat},
};
use std::{
    fs::{self, File},
    io::BufWriter,
    path::{Path, PathBuf},
    time::Duration,
};

/// Names for `count` pictures that are to go to `file`: a GIF takes them all, else each gets a number.
pub fn names(file: &Path, count: usize) -> Vec<PathBuf> {
    if count == 1 || is_gif(file) {
        return vec![file.to_path_buf(); count];
    }
    let extension = file.extension().unwrap_or_default().to_string_lossy();
    (0..count).map(|i| file.with_extension(format!("{i:03}.{extension}"))).collect()
}

/// Writes pictures to their files. Those that go to the same file are frames of it, `every` seconds each, if
/// it is a GIF, and else lie one below the other.
///
/// Answers the files written.
pub fn write(pictures: Vec<(PathBuf, RgbImage)>, every: f32) -> Result<Vec<PathBuf>, String> {
    let mut files: Vec<(PathBuf, Vec<RgbImage>)> = Vec::new();
    for (file, picture) in pictures {
        match files.iter_mut().find(|(known, _)| *known == file) {
            Some((_, list)) => list.push(picture),
            None => files.push((file, vec![picture])),
        }
    }
    for (file, pictures) in &files {
        let result = if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(|e| e.to_string())
        } else {
            Ok(())
        };
        result
            .and_then(|()| if is_gif(file) { gif(file, pictures, every) } else { stack(file, pictures) })
            .map_err(|reason| format!("cannot write {}: {reason}", file.display()))?;
    }
    Ok(files.into_iter().map(|(file, _)| file).collect())
}

fn is_gif(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gif"))
}

fn stack(file: &Path, pictures: &[RgbImage]) -> Result<(), String> {
    let (width, height) = (pictures[0].width(), pictures.iter().map(RgbImage::height).sum());
    let mut sheet = RgbImage::new(width, height);
    let mut y = 0;
    for picture in pictures {
        image::imageops::replace(&mut sheet, picture, 0, y);
        y += i64::from(picture.height());
    }
    sheet.save(file).map_err(|e| e.to_string())
}

/// A GIF that goes round for ever. Each frame holds only the box that changed, and in it only the pixels
/// that did: what stands still costs nothing.
fn gif(file: &Path, pictures: &[RgbImage], every: f32) -> Result<(), String> {
    let out = BufWriter::new(File::create(file).map_err(|e| e.to_string())?);
    let mut encoder = GifEncoder::new_with_speed(out, 1);
    encoder.set_repeat(Repeat::Infinite).map_err(|e| e.to_string())?;
    let delay = Delay::from_saturating_duration(Duration::from_secs_f32(every));
    let mut before: Option<&RgbImage> = None;
    for picture in pictures {
        let changed = |x, y| before.is_none_or(|before| before.get_pixel(x, y) != picture.get_pixel(x, y));
        let points = (0..picture.height()).flat_map(|y| (0..picture.width()).map(move |x| (x, y)));
        let none = (u32::MAX, u32::MAX, 0, 0);
        let (left, top, right, bottom) = points
            .filter(|&(x, y)| changed(x, y))
            .fold(none, |b, (x, y)| (b.0.min(x), b.1.min(y), b.2.max(x), b.3.max(y)));
        // A frame without any change still takes its time.
        let (left, top, right, bottom) = if left > right { (0, 0, 0, 0) } else { (left, top, right, bottom) };
        let part = RgbaImage::from_fn(right - left + 1, bottom - top + 1, |x, y| {
            let (x, y) = (left + x, top + y);
            let [r, g, b] = picture.get_pixel(x, y).0;
            image::Rgba(if changed(x, y) { [r, g, b, 255] } else { [0; 4] })
        });
        encoder.encode_frame(Frame::from_parts(part, left, top, delay)).map_err(|e| e.to_string())?;
        before = Some(picture);
    }
    Ok(())
}
