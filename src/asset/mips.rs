//! Mip levels for pictures that come without: `.tga`, `.png`, `.jpg`.
//!
//! Without them a texture shimmers at a distance and fine lines break up. Each level is the area average of
//! the one before, taken where averages mean something: colours in linear light and weighted by their alpha,
//! normals as vectors that are made unit again, alpha of cut-outs so that as much stays visible as before
//! (Castaño, "Computing Alpha Mipmaps", 2010).

use bevy::{
    prelude::*,
    render::render_resource::{TextureDimension, TextureFormat},
};
use std::sync::OnceLock;

/// What a texture's texels are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Content {
    /// Colours; where alpha is compared with a cut-off, that.
    Color { cutoff: Option<f32> },
    /// Unit vectors, −1..=1 as 0..=255.
    Normals,
}

/// The picture with all mip levels down to one texel.
///
/// Comes back as it was where it has levels already, and where it is not of 8 bits in four channels, or in
/// one: block-compressed, floating-point, an array, a volume.
pub(super) fn with_mips(mut image: Image, content: Content) -> Image {
    let descriptor = &image.texture_descriptor;
    let (size, format) = (descriptor.size, descriptor.format);
    let single = descriptor.dimension == TextureDimension::D2
        && size.depth_or_array_layers == 1
        && descriptor.mip_level_count == 1;
    let channels = match format {
        TextureFormat::Rgba8Unorm | TextureFormat::Rgba8UnormSrgb => 4,
        TextureFormat::R8Unorm => 1,
        _ => return image,
    };
    let (width, height) = (size.width as usize, size.height as usize);
    let Some(data) = image.data.as_mut() else { return image };
    if !single || width * height == 0 || data.len() != width * height * channels {
        return image;
    }
    let filter = match (content, format) {
        (Content::Normals, TextureFormat::Rgba8Unorm) => Filter::Normals,
        (_, TextureFormat::Rgba8UnormSrgb) => Filter::Srgb,
        _ => Filter::Linear,
    };
    let cutoff = match content {
        Content::Color { cutoff: Some(cutoff) } if channels == 4 => Some(cutoff),
        _ => None,
    };
    let visible = cutoff.map(|cutoff| coverage(data, cutoff));

    let mut level = Level { width, height, texels: std::mem::take(data) };
    let mut all = level.texels.clone();
    let mut count = 1;
    while level.width > 1 || level.height > 1 {
        level = if channels == 4 { level.halved::<4>(filter) } else { level.halved::<1>(filter) };
        let start = all.len();
        all.extend_from_slice(&level.texels);
        if let (Some(cutoff), Some(visible)) = (cutoff, visible) {
            keep_coverage(&mut all[start..], cutoff, visible);
        }
        count += 1;
    }
    image.data = Some(all);
    image.texture_descriptor.mip_level_count = count;
    image
}

#[derive(Clone, Copy, PartialEq)]
enum Filter {
    /// The first three channels are sRGB.
    Srgb,
    /// The first three channels are a vector.
    Normals,
    /// Numbers that average as they are.
    Linear,
}

struct Level {
    width: usize,
    height: usize,
    texels: Vec<u8>,
}

impl Level {
    /// The next level: half as wide and high, rounded down, at least 1. `C` channels.
    fn halved<const C: usize>(&self, filter: Filter) -> Self {
        let (width, height) = ((self.width / 2).max(1), (self.height / 2).max(1));
        let (columns, rows) = (taps(self.width, width), taps(self.height, height));
        let decode = decode_table(filter);
        let mut texels = Vec::with_capacity(width * height * C);
        for row in &rows {
            for column in &columns {
                let mut sum = [0.0f32; C];
                // Colours weigh as much as they are seen; invisible ones count only among themselves.
                let (mut seen, mut plain) = (0.0f32, [0.0f32; C]);
                for (y, weight_y) in row.iter() {
                    let line = &self.texels[(y * self.width + column.start) * C..];
                    for (texel, weight_x) in line.chunks_exact(C).zip(column.weights()) {
                        let weight = weight_x * weight_y;
                        let alpha = if C == 4 { f32::from(texel[C - 1]) / 255.0 } else { 1.0 };
                        seen += weight * alpha;
                        for channel in 0..C.min(3) {
                            let value = decode[usize::from(texel[channel])] * weight;
                            sum[channel] += value * alpha;
                            plain[channel] += value;
                        }
                    }
                }
                let color =
                    if filter == Filter::Normals || seen <= 0.0 { plain } else { sum.map(|value| value / seen) };
                texels.extend(encode(color, filter).iter().take(C.min(3)));
                if C == 4 {
                    texels.push((seen * 255.0).round() as u8);
                }
            }
        }
        Self { width, height, texels }
    }
}

/// Which texels of the larger level a texel of the smaller one covers along an axis, and by how much.
struct Taps {
    start: usize,
    shares: [f32; 4],
    count: usize,
}

impl Taps {
    fn weights(&self) -> impl Iterator<Item = f32> {
        self.shares[..self.count].iter().copied()
    }

    fn iter(&self) -> impl Iterator<Item = (usize, f32)> {
        (self.start..).zip(self.weights())
    }
}

/// Area averages: `from` texels shared among `to`, the shares of each summing to 1. At most three and a bit
/// fall to one, for `to` is `from / 2` rounded down.
fn taps(from: usize, to: usize) -> Vec<Taps> {
    let scale = from as f64 / to as f64;
    (0..to)
        .map(|i| {
            // In units of 1 / to, whole numbers: texel j covers j·to .. (j+1)·to.
            let (low, high) = (i * from, (i + 1) * from);
            let (start, end) = (low / to, high.div_ceil(to));
            let mut shares = [0.0; 4];
            for (share, j) in shares.iter_mut().zip(start..end) {
                let overlap = ((j + 1) * to).min(high) - (j * to).max(low);
                *share = (overlap as f64 / to as f64 / scale) as f32;
            }
            Taps { start, shares, count: end - start }
        })
        .collect()
}

/// 0..=255 as a number.
fn decode_table(filter: Filter) -> [f32; 256] {
    std::array::from_fn(|byte| {
        let value = byte as f32 / 255.0;
        match filter {
            Filter::Srgb => srgb_to_linear(value),
            Filter::Normals => value * 2.0 - 1.0,
            Filter::Linear => value,
        }
    })
}

fn encode<const C: usize>(color: [f32; C], filter: Filter) -> [u8; C] {
    let byte = |value: f32| (value * 255.0).round() as u8;
    match filter {
        Filter::Srgb => {
            let table = linear_to_srgb_table();
            color.map(|value| table[(value.clamp(0.0, 1.0) * 65535.0).round() as usize])
        }
        Filter::Normals if C >= 3 => {
            let normal = Vec3::new(color[0], color[1], color[2]).normalize_or(Vec3::Z) * 0.5 + 0.5;
            let mut out = [0; C];
            out[..3].copy_from_slice(&normal.to_array().map(byte));
            out
        }
        Filter::Normals | Filter::Linear => color.map(byte),
    }
}

/// IEC 61966-2-1.
fn srgb_to_linear(value: f32) -> f32 {
    if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
}

fn linear_to_srgb_table() -> &'static [u8] {
    static TABLE: OnceLock<Vec<u8>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let encode = |linear: f32| {
            if linear <= 0.003_130_8 { linear * 12.92 } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 }
        };
        (0..=65535u32).map(|i| (encode(i as f32 / 65535.0) * 255.0).round() as u8).collect()
    })
}

/// Share of RGBA texels whose alpha reaches the cut-off.
fn coverage(texels: &[u8], cutoff: f32) -> f32 {
    let all = texels.len() / 4;
    let seen = texels.chunks_exact(4).filter(|texel| f32::from(texel[3]) >= cutoff * 255.0).count();
    seen as f32 / all.max(1) as f32
}

/// Scales alpha so that `visible` of the texels reach the cut-off, as nearly as whole texels allow.
fn keep_coverage(texels: &mut [u8], cutoff: f32, visible: f32) {
    let mut alphas: Vec<u8> = texels.chunks_exact(4).map(|texel| texel[3]).collect();
    let wanted = (visible * alphas.len() as f32).round() as usize;
    if wanted == 0 {
        return;
    }
    alphas.sort_unstable_by(|a, b| b.cmp(a));
    let faintest = alphas[wanted.min(alphas.len()) - 1];
    if faintest == 0 {
        return;
    }
    // A touch more than the cut-off, so that rounding does not undo it.
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
        let size = Extent3d { width, height, depth_or_array_layers: 1 };
        Image::new(size, TextureDimension::D2, data, format, RenderAssetUsages::default())
    }

    /// Each level's texels.
    fn levels(image: &Image) -> Vec<&[u8]> {
        let size = image.texture_descriptor.size;
        let channels = if image.texture_descriptor.format == R8Unorm { 1 } else { 4 };
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
        for (width, height, count) in [(1, 1, 1), (2, 1, 2), (8, 8, 4), (7, 5, 3), (64, 3, 7), (1, 9, 4)] {
            let data = (0..width * height * 4).map(|i| i as u8).collect();
            let mipped = with_mips(image(width, height, data, Rgba8UnormSrgb), COLOR);
            assert_eq!(mipped.texture_descriptor.mip_level_count, count, "{width}x{height}");
            assert_eq!(levels(&mipped).len() as u32, count);
        }
    }

    #[test]
    fn one_colour_stays_that_colour_on_every_level() {
        let texel = [13, 130, 250, 77];
        for (width, height) in [(16, 16), (11, 6)] {
            let mipped =
                with_mips(image(width, height, texel.repeat((width * height) as usize), Rgba8UnormSrgb), COLOR);
            assert!(levels(&mipped).iter().all(|level| level.chunks(4).all(|found| found == texel)));
        }
    }

    #[test]
    fn colours_are_averaged_in_linear_light() {
        let data = [[0, 0, 0, 255], [255, 255, 255, 255]].concat().repeat(2);
        // Half of white is 188 in sRGB, and 128 in numbers that are no colours.
        assert_eq!(levels(&with_mips(image(2, 2, data.clone(), Rgba8UnormSrgb), COLOR))[1], [188, 188, 188, 255]);
        assert_eq!(levels(&with_mips(image(2, 2, data, Rgba8Unorm), COLOR))[1], [128, 128, 128, 255]);
    }

    #[test]
    fn every_texel_counts_by_its_area_where_sides_are_odd() {
        // Three texels shared by one; five by two: 1 + 1 + ½, ½ + 1 + 1.
        assert_eq!(levels(&with_mips(image(3, 1, vec![0, 90, 180], R8Unorm), COLOR))[1], [90]);
        assert_eq!(levels(&with_mips(image(5, 1, vec![50, 100, 200, 0, 25], R8Unorm), COLOR))[1], [100, 50]);
    }

    #[test]
    fn what_is_not_seen_does_not_tint_what_is() {
        let data = [[200, 40, 20, 255], [0, 255, 0, 0]].concat().repeat(2);
        assert_eq!(levels(&with_mips(image(2, 2, data, Rgba8UnormSrgb), COLOR))[1], [200, 40, 20, 128]);
        let hidden = [[10, 20, 30, 0]; 4].concat();
        assert_eq!(levels(&with_mips(image(2, 2, hidden, Rgba8UnormSrgb), COLOR))[1], [10, 20, 30, 0]);
    }

    #[test]
    fn normals_stay_of_unit_length() {
        // Two slopes that lean apart: their mean looks straight up, and is as long as they are.
        let (left, right) = ([37, 128, 218, 255], [219, 128, 218, 255]);
        let mipped = with_mips(image(2, 2, [left, right].concat().repeat(2), Rgba8Unorm), Content::Normals);
        assert_eq!(levels(&mipped)[1], [128, 128, 255, 255]);
        // Opposite ones cancel; there is still a direction.
        let data = [[0, 128, 128, 255], [255, 127, 127, 255]].concat().repeat(2);
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
        assert_eq!(coverage(levels(&plain)[2], 0.5), 0.0, "without care the leaf is gone");
        for level in &levels(&kept)[..3] {
            assert!(coverage(level, 0.5) >= 0.25, "{}", coverage(level, 0.5));
        }
        assert_eq!(coverage(levels(&kept)[1], 0.5), 0.5, "half the columns hold a line: no share lies between");
    }

    #[test]
    fn what_has_levels_or_is_no_plain_picture_is_left_alone() {
        let mut own = image(2, 2, vec![7; 16 + 4], Rgba8UnormSrgb);
        own.texture_descriptor.mip_level_count = 2;
        assert_eq!(with_mips(own.clone(), COLOR).data, own.data);
        let float = image(2, 2, vec![1; 2 * 2 * 16], Rgba32Float);
        assert_eq!(with_mips(float.clone(), COLOR).texture_descriptor.mip_level_count, 1);
        let torn = Image { data: Some(vec![0; 5]), ..image(2, 2, vec![0; 16], Rgba8Unorm) };
        assert_eq!(with_mips(torn, COLOR).data, Some(vec![0; 5]));
        let uploaded = Image { data: None, ..image(2, 2, vec![0; 16], Rgba8Unorm) };
        assert_eq!(with_mips(uploaded, COLOR).data, None);
    }
}
