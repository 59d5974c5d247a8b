use super::*;
use image::RgbImage;

fn encoded(format: ImageFormat) -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    RgbImage::new(3, 2).write_to(&mut out, format).unwrap();
    out.into_inner()
}

#[test]
fn pictures_are_told_by_their_bytes_and_other_files_are_none() {
    for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Tga] {
        let bytes = encoded(format);
        assert!(matches!(
            Picture::read("a.TGA", &bytes),
            Ok(Picture::Decoded(found, _)) if found == format
        ));
        assert!(Picture::read("a.tga", &bytes[..bytes.len() / 2]).is_err());
    }
    let headers: [&[u8]; 5] = [
        b"DDS \x7c\0\0\0",
        b"\xabKTX 20\xbb\r\n\x1a\n",
        b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n",
        b"RIFF\x04\0\0\0WEBP",
        b"GIF89a",
    ];
    for bytes in headers {
        assert!(matches!(
            Picture::read("a.png", bytes),
            Ok(Picture::Header(_))
        ));
    }
    let others: [&[u8]; 8] = [
        b"",
        b"root:x:0:0:root:/root:/bin/bash\n",
        b"PATH=/usr/bin\0HOME=/root\0",
        b"-----BEGIN OPENSSH PRIVATE KEY-----\n",
        b"BMW\n",
        b"P1 is my password",
        b"DDS is a format",
        b"\x89PNG\r\n\x1a\n",
    ];
    for bytes in others {
        for name in ["a.png", "a.tga", "a.dds", "passwd"] {
            assert!(Picture::read(name, bytes).is_err(), "{name} {bytes:?}");
        }
    }
}
