//! Comparing pictures.

use image::RgbaImage;

/// Returns the largest difference of a color channel, pixel by pixel.
pub fn differences<'a>(a: &'a RgbaImage, b: &'a RgbaImage) -> impl Iterator<Item = u8> + use<'a> {
    assert_eq!(a.dimensions(), b.dimensions());
    a.pixels()
        .zip(b.pixels())
        .map(|(a, b)| (0..3).map(|c| a.0[c].abs_diff(b.0[c])).max().unwrap_or(0))
}

/// Counts the pixels that are not black.
pub fn lit(picture: &RgbaImage) -> usize {
    picture
        .pixels()
        .filter(|p| p.0[..3].iter().any(|&c| c > 40))
        .count()
}
