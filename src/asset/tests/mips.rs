use super::*;
use bevy::{
    asset::RenderAssetUsages,
    render::render_resource::{Extent3d, TextureFormat::*},
};

const COLOR: Content = Content::Color { cutoff: None };

fn image(width: u32, height: u32, data: Vec<u8>, format: TextureFormat) -> Image {
    let size = Extent3d {
        width,
        height,
        depth_or_array_layers: 1,
    };
    Image::new(
        size,
        TextureDimension::D2,
        data,
        format,
        RenderAssetUsages::default(),
    )
}

/// The share of texels that are opaque enough to be seen.
fn coverage(texels: &[u8], cutoff: f32) -> f32 {
    let alphas = texels.iter().skip(3).step_by(4);
    let seen = alphas.filter(|alpha| f32::from(**alpha) >= 255.0 * cutoff);
    4.0 * seen.count() as f32 / texels.len() as f32
}

/// Each level's texels.
fn levels(image: &Image) -> Vec<&[u8]> {
    let size = image.texture_descriptor.size;
    let channels = if image.texture_descriptor.format == R8Unorm {
        1
    } else {
        4
    };
    let mut rest = image.data.as_deref().unwrap();
    let mut out = Vec::new();
    for level in 0..image.texture_descriptor.mip_level_count {
        let side = |side: u32| (side >> level).max(1) as usize;
        let (own, after) = rest.split_at(side(size.width) * side(size.height) * channels);
        out.push(own);
        rest = after;
    }
    assert!(rest.is_empty(), "{} bytes too many", rest.len());
    out
}

#[test]
fn levels_go_down_to_one_texel_whatever_the_sides() {
    for (width, height, count) in [
        (1, 1, 1),
        (2, 1, 2),
        (8, 8, 4),
        (7, 5, 3),
        (64, 3, 7),
        (1, 9, 4),
    ] {
        let data = (0..width * height * 4).map(|i| i as u8).collect();
        let mipped = with_mips(image(width, height, data, Rgba8UnormSrgb), COLOR);
        assert_eq!(
            mipped.texture_descriptor.mip_level_count, count,
            "{width}x{height}"
        );
        assert_eq!(levels(&mipped).len() as u32, count);
    }
}

#[test]
fn one_color_stays_that_color_on_every_level() {
    let texel = [13, 130, 250, 77];
    for (width, height) in [(16, 16), (11, 6)] {
        let mipped = with_mips(
            image(
                width,
                height,
                texel.repeat((width * height) as usize),
                Rgba8UnormSrgb,
            ),
            COLOR,
        );
        assert!(
            levels(&mipped)
                .iter()
                .all(|level| level.chunks(4).all(|found| found == texel))
        );
    }
}

#[test]
fn colors_are_averaged_in_linear_light() {
    let data = [[0, 0, 0, 255], [255, 255, 255, 255]].concat().repeat(2);
    // Half of white is 188 in sRGB, and 128 in plain numbers.
    assert_eq!(
        levels(&with_mips(image(2, 2, data.clone(), Rgba8UnormSrgb), COLOR))[1],
        [188, 188, 188, 255]
    );
    assert_eq!(
        levels(&with_mips(image(2, 2, data, Rgba8Unorm), COLOR))[1],
        [128, 128, 128, 255]
    );
}

#[test]
fn every_texel_counts_by_its_area_where_sides_are_odd() {
    // Three texels shared by one; five by two: 1 + 1 + ½, ½ + 1 + 1.
    assert_eq!(
        levels(&with_mips(image(3, 1, vec![0, 90, 180], R8Unorm), COLOR))[1],
        [90]
    );
    assert_eq!(
        levels(&with_mips(
            image(5, 1, vec![50, 100, 200, 0, 25], R8Unorm),
            COLOR
        ))[1],
        [100, 50]
    );
}

#[test]
fn what_is_not_seen_does_not_tint_what_is() {
    let data = [[200, 40, 20, 255], [0, 255, 0, 0]].concat().repeat(2);
    assert_eq!(
        levels(&with_mips(image(2, 2, data, Rgba8UnormSrgb), COLOR))[1],
        [200, 40, 20, 128]
    );
    let hidden = [[10, 20, 30, 0]; 4].concat();
    assert_eq!(
        levels(&with_mips(image(2, 2, hidden, Rgba8UnormSrgb), COLOR))[1],
        [10, 20, 30, 0]
    );
}

#[test]
fn normals_stay_of_unit_length() {
    // Two slopes that lean apart: their mean looks straight up, and is as long as they are.
    let (left, right) = ([37, 128, 218, 255], [219, 128, 218, 255]);
    let mipped = with_mips(
        image(2, 2, [left, right].concat().repeat(2), Rgba8Unorm),
        Content::Normals,
    );
    assert_eq!(levels(&mipped)[1], [128, 128, 255, 255]);
    // Opposite ones cancel; there is still a direction.
    let data = [[0, 128, 128, 255], [255, 127, 127, 255]]
        .concat()
        .repeat(2);
    let texel = levels(&with_mips(image(2, 2, data, Rgba8Unorm), Content::Normals))[1].to_vec();
    let vector = Vec3::from_array([0, 1, 2].map(|i| f32::from(texel[i]) / 127.5 - 1.0));
    assert!((vector.length() - 1.0).abs() < 0.02, "{texel:?}");
}

#[test]
fn a_cut_out_keeps_its_share_of_visible_texels() {
    // A leaf of thin lines: one column in four.
    let texel = |x: usize| [20, 90, 20, if x.is_multiple_of(4) { 255 } else { 0 }];
    let data: Vec<u8> = (0..32 * 32).flat_map(|i| texel(i % 32)).collect();
    let content = Content::Color { cutoff: Some(0.5) };
    let plain = with_mips(image(32, 32, data.clone(), Rgba8UnormSrgb), COLOR);
    let kept = with_mips(image(32, 32, data, Rgba8UnormSrgb), content);
    assert_eq!(
        coverage(levels(&plain)[2], 0.5),
        0.0,
        "without care the leaf is gone"
    );
    for level in &levels(&kept)[..3] {
        assert!(coverage(level, 0.5) >= 0.25, "{}", coverage(level, 0.5));
    }
    assert_eq!(
        coverage(levels(&kept)[1], 0.5),
        0.5,
        "half the columns hold a line: no share lies between"
    );
}

#[test]
fn what_has_levels_or_is_no_plain_picture_is_left_alone() {
    let mut own = image(2, 2, vec![7; 16 + 4], Rgba8UnormSrgb);
    own.texture_descriptor.mip_level_count = 2;
    assert_eq!(with_mips(own.clone(), COLOR).data, own.data);
    let float = image(2, 2, vec![1; 2 * 2 * 16], Rgba32Float);
    assert_eq!(
        with_mips(float.clone(), COLOR)
            .texture_descriptor
            .mip_level_count,
        1
    );
    let torn = Image {
        data: Some(vec![0; 5]),
        ..image(2, 2, vec![0; 16], Rgba8Unorm)
    };
    assert_eq!(with_mips(torn, COLOR).data, Some(vec![0; 5]));
    let uploaded = Image {
        data: None,
        ..image(2, 2, vec![0; 16], Rgba8Unorm)
    };
    assert_eq!(with_mips(uploaded, COLOR).data, None);
}
