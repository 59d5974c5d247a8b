//! Mip levels for textures in formats without them, such as `.tga`, `.png` and `.jpg`.
//!
//! Without mip levels, textures shimmer at a distance and fine lines break up. Each level is the area average
//! of the one before: of colors in linear light, weighted by alpha; of normals as vectors, normalized again.
//! Alpha of cutouts is scaled so that as much stays visible as before (Castaño, "Computing Alpha Mipmaps", 2010).

use bevy::{
    prelude::*,
    render::render_resource::{TextureDimension, TextureFormat},
};
use std::sync::OnceLock;

/// The meaning of a texture's texels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Content {
    /// Colors. Alpha below `cutoff` is invisible.
    Color { cutoff: Option<f32> },
    /// Unit vectors, with -1..=1 stored as 0..=255.
    Normals,
    /// Numbers, such as roughness.
    Data,
}

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
    let (channels, filter) = match (format, content) {
        (TextureFormat::Rgba8Unorm, Content::Normals) => (4, Filter::Normals),
        (TextureFormat::Rgba8Unorm, _) => (4, Filter::Linear),
        (TextureFormat::Rgba8UnormSrgb, _) => (4, Filter::Srgb),
        (TextureFormat::R8Unorm, _) => (1, Filter::Linear),
        _ => return image,
    };
    let mut size = [size.width as usize, size.height as usize];
    let bytes = size[0] * size[1] * channels;
    let Some(data) = image
        .data
        .as_mut()
        // Compressed data has another length.
        .filter(|data| plain && bytes > 0 && data.len() == bytes)
    else {
        return image;
    };
    let cutoff = match content {
        Content::Color {
            cutoff: Some(cutoff),
            // Measured on the full image, which shows how much should stay visible.
        } if channels == 4 => Some((cutoff, coverage(data, cutoff))),
        _ => None,
    };
    let decode = filter.decode_table();
    let srgb = srgb_table();
    let mut level: Option<Vec<Vec4>> = None;
    while size != [1, 1] {
        let next = match &level {
            Some(level) => halve(&mut size, |row, out| {
                out.copy_from_slice(&level[row * out.len()..][..out.len()]);
            }),
            None => halve(&mut size, |row, out| {
                let bytes = out.len() * channels;
                let texels = data[row * bytes..][..bytes].chunks_exact(channels);
                for (out, texel) in out.iter_mut().zip(texels) {
                    *out = filter.decode(texel, &decode);
                }
            }),
        };
        let start = data.len();
        data.reserve(next.len() * channels);
        for &texel in &next {
            data.extend_from_slice(&filter.encode(texel, srgb)[..channels]);
        }
        if let Some((cutoff, visible)) = cutoff {
            keep_coverage(&mut data[start..], cutoff, visible);
        }
        // Only the stored level is scaled. The next one is averaged from exact values, so that
        // errors don't add up.
        level = Some(next);
        image.texture_descriptor.mip_level_count += 1;
    }
    image
}

/// The way in which texels are averaged. Decoded texels hold RGB times its weight, and alpha.
#[derive(Clone, Copy, PartialEq)]
enum Filter {
    Srgb,
    Normals,
    Linear,
}

/// Weight of an invisible color: too little to tint visible ones, but enough to keep the color
/// where everything is invisible.
const HIDDEN: f32 = 1e-6;

impl Filter {
    fn decode_table(self) -> [f32; 256] {
        std::array::from_fn(|byte| {
            let value = byte as f32 / 255.0;
            match self {
                Self::Srgb => Srgba::gamma_function(value),
                Self::Normals => value * 2.0 - 1.0,
                Self::Linear => value,
            }
        })
    }

    fn decode(self, texel: &[u8], table: &[f32; 256]) -> Vec4 {
        let value = |byte: u8| table[usize::from(byte)];
        let &[r, g, b, a] = texel else {
            // Opaque: `encode` divides by `1 + HIDDEN`.
            return Vec4::new(value(texel[0]) * (1.0 + HIDDEN), 0.0, 0.0, 1.0);
        };
        let alpha = f32::from(a) / 255.0;
        // The fourth number of a normal has no meaning that could weigh it.
        let weight = if self == Self::Normals {
            1.0
        } else {
            alpha + HIDDEN
        };
        (Vec3::new(value(r), value(g), value(b)) * weight).extend(alpha)
    }

    fn encode(self, texel: Vec4, srgb: &[u8; 1 << 16]) -> [u8; 4] {
        // Rounds by adding a half, because a call of `round` per channel took most of the time. What is out of range, or not a
        // number, becomes the nearest that fits.
        let byte = |value: f32| (value * 255.0 + 0.5) as u8;
        let color = texel.truncate() / (texel.w + HIDDEN);
        let [r, g, b] = match self {
            Self::Srgb => color
                .to_array()
                .map(|value| srgb[usize::from((value * 65535.0 + 0.5) as u16)]),
            // A sum of opposite normals has no direction. Straight up shows the least.
            Self::Normals => (texel.truncate().normalize_or(Vec3::Z) * 0.5 + 0.5)
                .to_array()
                .map(byte),
            Self::Linear => color.to_array().map(byte),
        };
        [r, g, b, byte(texel.w)]
    }
}

/// Returns a table from linear light, in steps of 1/65535, to sRGB. The curve is steepest near
/// black, where a byte still spans 1/3295 of linear light, so the steps are fine enough.
fn srgb_table() -> &'static [u8; 1 << 16] {
    static TABLE: OnceLock<Box<[u8; 1 << 16]>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = Box::new([0; 1 << 16]);
        for (step, byte) in table.iter_mut().enumerate() {
            let light = step as f32 / 65535.0;
            *byte = (Srgba::gamma_function_inverse(light) * 255.0).round() as u8;
        }
        table
    })
}

/// Halves both sides of `size`, rounding down to at least 1, and returns the averaged texels. `read` writes a row of them.
fn halve(size: &mut [usize; 2], read: impl Fn(usize, &mut [Vec4])) -> Vec<Vec4> {
    let from = std::mem::replace(size, size.map(|side| (side / 2).max(1)));
    if from.iter().all(|side| side.is_multiple_of(2)) {
        return halve_even(from, read);
    }
    let mut source = vec![Vec4::ZERO; from[0] * from[1]];
    for (row, texels) in source.chunks_exact_mut(from[0]).enumerate() {
        read(row, texels);
    }
    let [columns, rows] = [0, 1].map(|axis| shares(from[axis], size[axis]));
    let mut texels = Vec::with_capacity(columns.len() * rows.len());
    for row in &rows {
        for column in &columns {
            let mut sum = Vec4::ZERO;
            for (y, share_y) in row {
                for (x, share_x) in column {
                    sum += source[y * from[0] + x] * (share_x * share_y);
                }
            }
            texels.push(sum);
        }
    }
    texels
}

/// Averages four texels at a time, which is what [`halve`] comes to where both sides are even, as at almost every level of
/// almost every texture.
fn halve_even([width, height]: [usize; 2], read: impl Fn(usize, &mut [Vec4])) -> Vec<Vec4> {
    let mut texels = Vec::with_capacity(width / 2 * (height / 2));
    let [mut upper, mut lower] = [0, 1].map(|_| vec![Vec4::ZERO; width]);
    for row in 0..height / 2 {
        read(2 * row, &mut upper);
        read(2 * row + 1, &mut lower);
        let pairs = upper.chunks_exact(2).zip(lower.chunks_exact(2));
        texels.extend(pairs.map(|(upper, lower)| {
            // In the order of `halve`, so that both round alike.
            upper[0] * 0.25 + upper[1] * 0.25 + lower[0] * 0.25 + lower[1] * 0.25
        }));
    }
    texels
}

/// For each of `to` texels, the texels of `from` that it covers along one axis, and how much of it each fills.
fn shares(from: usize, to: usize) -> Vec<Vec<(usize, f32)>> {
    // Exact in integers, also for odd sizes, where a texel covers parts of others.
    // In units of 1 / to, texel `j` covers `j * to .. (j + 1) * to`.
    let covered = |i: usize| {
        let (low, high) = (i * from, (i + 1) * from);
        let overlap = move |j: usize| ((j + 1) * to).min(high) - (j * to).max(low);
        (low / to..high.div_ceil(to))
            .map(move |j| (j, overlap(j) as f32 / from as f32))
            .collect()
    };
    (0..to).map(covered).collect()
}

/// Returns the share of RGBA texels whose alpha reaches the cutoff.
fn coverage(texels: &[u8], cutoff: f32) -> f32 {
    let visible = texels
        .chunks_exact(4)
        .filter(|texel| f32::from(texel[3]) >= cutoff * 255.0)
        .count();
    visible as f32 / (texels.len() / 4).max(1) as f32
}

/// Scales alpha so that a share of the texels, `visible`, reaches the cutoff, as exactly as whole texels allow.
fn keep_coverage(texels: &mut [u8], cutoff: f32, visible: f32) {
    // The alpha of the faintest texel that has to stay visible is raised, or lowered, to the
    // cutoff.
    let mut alphas: Vec<u8> = texels.chunks_exact(4).map(|texel| texel[3]).collect();
    let wanted = (visible * alphas.len() as f32).round() as usize;
    alphas.sort_unstable_by(|a, b| b.cmp(a));
    // Where nothing has to be visible, or nothing can be, alpha stays as it is.
    let faintest = match wanted.checked_sub(1) {
        Some(last) if alphas[last] > 0 => alphas[last],
        _ => return,
    };
    // Rounded up, so that rounding the product does not undo it.
    let scale = (cutoff * 255.0).ceil() / f32::from(faintest);
    for texel in texels.chunks_exact_mut(4) {
        texel[3] = (f32::from(texel[3]) * scale).round().min(255.0) as u8;
    }
}

#[cfg(test)]
mod tests {
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
}
