use super::*;
use crate::messages::assert_message;
use ::image::{GrayImage, RgbImage};

/// The tests' own app is built without.
#[test]
fn a_missing_feature_of_bevy_is_named() {
    let (formats, sampler) = (CompressedImageFormats::NONE, ImageSampler::Default);
    let error = decode("skin.WebP", b"RIFF....WEBP", formats, true, sampler, true).unwrap_err();
    assert_message("an image in a format that Bevy is built without", error);
}

#[test]
fn images_are_decoded_as_by_bevy() {
    let colors = RgbImage::from_fn(7, 5, |x, y| ::image::Rgb([x as u8, y as u8, 200]));
    let images = [
        DynamicImage::ImageRgb8(colors.clone()),
        DynamicImage::from(colors.clone()).to_rgba8().into(),
        DynamicImage::from(colors).to_luma8().into(),
    ];
    let (formats, usages) = (CompressedImageFormats::NONE, RenderAssetUsages::default());
    for (image, is_srgb) in images.iter().zip([true, false, true]) {
        for (has_mips, extension) in [(true, "png"), (false, "png"), (true, "tga")] {
            let mut file = Cursor::new(Vec::new());
            let format = ImageFormat::from_extension(extension).unwrap();
            image.write_to(&mut file, format).unwrap();
            let (bytes, sampler) = (file.get_ref(), ImageSampler::nearest());
            let name = format!("skin.{extension}");
            let ours = decode(&name, bytes, formats, is_srgb, sampler.clone(), has_mips).unwrap();
            let kind = ImageType::Extension(extension);
            let theirs = Image::from_buffer(bytes, kind, formats, is_srgb, sampler, usages);
            assert_eq!(ours, theirs.unwrap());
        }
    }
}

#[test]
fn an_image_that_claims_too_much_is_refused_before_it_is_decoded() {
    let mut png = Cursor::new(Vec::new());
    GrayImage::new(MOST_TEXELS + 1, 1)
        .write_to(&mut png, ImageFormat::Png)
        .unwrap();
    let error = Claims::default()
        .add("wide.png", png.get_ref())
        .unwrap_err();
    assert_eq!(
        error,
        "it has 16385 × 1 texels; the limit is 16384 per side"
    );

    // Headers of TGA files. 16,000² texels with their mip levels take 1.27 GiB.
    let tga = |size: u16| {
        let [low, high] = size.to_le_bytes();
        [
            0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, low, high, low, high, 32, 0,
        ]
    };
    let mut claims = Claims::default();
    for _ in 0..3 {
        assert_eq!(claims.add("large.tga", &tga(16_000)), Ok(()));
    }
    let error = claims.add("large.TGA", &tga(16_000)).unwrap_err();
    assert_eq!(
        error,
        "with it, the character's textures would take more than 4 GiB"
    );
    assert_eq!(
        claims.add("small.tga", &tga(256)),
        Ok(()),
        "there is still room for a small one"
    );
    assert!(claims.add("huge.tga", &tga(u16::MAX)).is_err());

    // Decoding says what is wrong with these.
    for (name, bytes) in [
        ("cut.png", &png.get_ref()[..20]),
        ("empty.tga", &[]),
        ("none", &tga(256)),
    ] {
        assert_eq!(claims.add(name, bytes), Ok(()));
    }
}
