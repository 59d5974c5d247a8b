use super::*;
use image::{Rgb, RgbImage};

#[test]
fn targa_becomes_png_and_green_is_flipped() {
    let pixels = RgbImage::from_fn(3, 2, |x, y| Rgb([x as u8 * 10, 200 + y as u8, 7]));
    let mut targa = Cursor::new(Vec::new());
    pixels.write_to(&mut targa, ImageFormat::Tga).unwrap();
    let back = |flip| {
        let read = image::load_from_memory_with_format(targa.get_ref(), ImageFormat::Tga);
        let png = to_png(read.unwrap(), flip).unwrap();
        image::load_from_memory_with_format(&png, ImageFormat::Png)
            .unwrap()
            .into_rgb8()
    };
    assert_eq!(back(false), pixels);
    let flipped = RgbImage::from_fn(3, 2, |x, y| Rgb([x as u8 * 10, 55 - y as u8, 7]));
    assert_eq!(back(true), flipped);
}
