//! Mip levels for textures in formats without them, such as `.tga`, `.png` and `.jpg`.
//!
//! Without mip levels, textures shimmer at a distance and fine lines break up. Each level is the area average
//! of the one before: of colors in linear light, weighted by alpha; of normals as vectors, normalized again.
//! Alpha of cutouts is scaled so that as much stays visible as before (Castaño, "Computing Alpha Mipmaps", 2010).

use super::textures::TextureMap;
use crate::{
    model::Material,
    parallel::{about, in_parallel},
};
use glam::{Vec3, Vec4};
use std::sync::OnceLock;

/// The meaning of a texture's texels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Content {
    /// Colors. Alpha below `cutoff` is invisible.
    Color { cutoff: Option<f32> },
    /// Unit vectors, with -1..=1 stored as 0..=255.
    Normals,
    /// Numbers, such as roughness.
    Data,
}

impl Content {
    /// Returns the meaning of a material's map.
    pub(crate) fn of(map: TextureMap, material: &Material) -> Self {
        match map {
            // Only the alpha of a base color decides what is visible.
            TextureMap::BaseColor => Self::Color {
                cutoff: material.alpha_cutoff,
            },
            TextureMap::Normal => Self::Normals,
            _ if map.is_color() => Self::Color { cutoff: None },
            _ => Self::Data,
        }
    }
}

/// Adds all mip levels, down to a single texel, to the texels of an image with one or four channels, and returns their number
/// with the image itself.
///
/// # Panics
/// There are not as many texels as `size` says, or none.
pub(crate) fn add_mips(
    data: &mut Vec<u8>,
    size: [usize; 2],
    channels: usize,
    is_srgb: bool,
    content: Content,
) -> u32 {
    let bytes = size[0] * size[1] * channels;
    assert!(data.len() == bytes && bytes > 0);
    let filter = match content {
        _ if is_srgb => Filter::Srgb,
        Content::Normals if channels == 4 => Filter::Normals,
        _ => Filter::Linear,
    };
    let cutoff = match content {
        Content::Color {
            cutoff: Some(cutoff),
            // Measured on the full image, which shows how much should stay visible.
        } if channels == 4 => Some((cutoff, coverage(data, cutoff))),
        _ => None,
    };
    let all = texels_of_all(size) * channels;
    // Exactly: growing could leave almost half of the memory unused.
    data.reserve_exact(all - bytes);
    data.resize(all, 0);
    let mut rest = &mut data[..];
    let level = |size: [usize; 2]| Level {
        size,
        texels: rest
            .split_off_mut(..size[0] * size[1] * channels)
            .unwrap_or_default(),
        rows: [Vec::new(), Vec::new()],
    };
    let mut levels: Vec<Level> = sizes(size).map(level).collect();
    match channels {
        4 => Codec::<4>::new(filter).fill(&mut levels),
        _ => Codec::<1>::new(filter).fill(&mut levels),
    }
    if let Some((cutoff, visible)) = cutoff {
        // Only now: all are averaged from exact values, so that errors don't add up.
        for level in &mut levels[1..] {
            keep_coverage(level.texels, cutoff, visible);
        }
    }
    levels.len() as u32
}

/// Returns the sizes of all levels, down to a single texel.
pub(crate) fn sizes(full: [usize; 2]) -> impl Iterator<Item = [usize; 2]> {
    std::iter::successors(Some(full), |size| {
        (*size != [1, 1]).then(|| size.map(|side| (side / 2).max(1)))
    })
}

/// Returns the number of texels of an image and its mip levels together.
pub(crate) fn texels_of_all(full: [usize; 2]) -> usize {
    sizes(full).map(|[width, height]| width * height).sum()
}

/// A level being filled.
struct Level<'a> {
    size: [usize; 2],
    texels: &'a mut [u8],
    /// The exact values of the last row with an even number, and of the last one with an odd number.
    rows: [Vec<Vec4>; 2],
}

/// Nanoseconds that a texel takes, with its share of all levels.
const TEXEL: u64 = 4;

/// Rows of a level that are worth sharing among threads.
const BANDS: usize = 8;

/// Splits levels into bands, one for each row of the last level.
fn bands<'l>(levels: &'l mut [Level]) -> Vec<Vec<Level<'l>>> {
    let count = levels.last().map_or(0, |last| last.size[1]);
    let mut bands: Vec<Vec<Level>> = Vec::new();
    bands.resize_with(count, Vec::new);
    for Level { size, texels, .. } in levels {
        let [width, height] = *size;
        let parts = texels.chunks_exact_mut(texels.len() / count);
        for (band, texels) in bands.iter_mut().zip(parts) {
            band.push(Level {
                size: [width, height / count],
                texels,
                rows: [Vec::new(), Vec::new()],
            });
        }
    }
    bands
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

/// Converts between stored texels of `N` channels and values that can be averaged.
struct Codec<const N: usize> {
    filter: Filter,
    /// The value of each byte of a color.
    values: [f32; 256],
    /// A quarter of each value, weighted as where alpha is opaque.
    quarters: [f32; 256],
    /// The share that each byte is of the largest.
    shares: [f32; 256],
    srgb: &'static [u8; 1 << 16],
}

impl<const N: usize> Codec<N> {
    fn new(filter: Filter) -> Self {
        let shares = std::array::from_fn(|byte| byte as f32 / 255.0);
        let values = shares.map(|share| match filter {
            Filter::Srgb => from_srgb(share),
            Filter::Normals => share * 2.0 - 1.0,
            Filter::Linear => share,
        });
        Self {
            filter,
            values,
            quarters: values.map(|value| value * weight(filter, 1.0) * 0.25),
            shares,
            srgb: srgb_table(),
        }
    }

    /// Fills all levels but the first.
    fn fill(&self, levels: &mut [Level]) {
        let is_even = |pair: &&[Level]| pair[0].size.iter().all(|side| side.is_multiple_of(2));
        let even = levels.windows(2).take_while(is_even).count();
        // The smallest of these levels that has work for all threads: each of its rows averages texels of its own.
        let shared = (0..=even).rfind(|&at| levels[at].size[1] >= BANDS);
        let shared = shared.unwrap_or(0);
        let work = about(levels[0].size.iter().product(), TEXEL);
        let rows = in_parallel(bands(&mut levels[..=shared]), work, |mut band| {
            self.fill_row(&mut band, 0);
            let [row, _] = band.pop().map(|last| last.rows).unwrap_or_default();
            row
        });
        let mut last = rows.concat();
        for at in shared + 1..levels.len() {
            last = halve(&last, levels[at - 1].size, levels[at].size);
            self.encode(&last, levels[at].texels);
        }
    }

    /// Fills a row of the last of `levels` and the rows above it, of which each has twice as many and all sides are even, as in
    /// almost all textures. It averages four texels at a time, which is what [`halve`] comes to there, and row by row,
    /// because memory for all exact values would take more time than they do.
    fn fill_row(&self, levels: &mut [Level], row: usize) {
        let Some((Level { size, texels, rows }, above)) = levels.split_last_mut() else {
            return;
        };
        let texels = texels.chunks_exact_mut(size[0] * N).nth(row);
        let (texels, out) = (texels.unwrap_or_default(), &mut rows[row % 2]);
        out.clear();
        if above.is_empty() {
            out.extend(
                texels
                    .as_chunks::<N>()
                    .0
                    .iter()
                    .map(|texel| self.decode(texel)),
            );
            return;
        }
        if let [Level { size, texels, .. }] = above {
            let rows = texels.chunks_exact(size[0] * 2 * N).nth(row);
            let (upper, lower) = rows.unwrap_or_default().split_at(size[0] * N);
            let [upper, lower] = [upper, lower].map(|row| row.as_chunks().0.as_chunks().0);
            out.extend(upper.iter().zip(lower).map(|(a, b)| self.average(a, b)));
        } else {
            self.fill_row(above, 2 * row);
            self.fill_row(above, 2 * row + 1);
            let [upper, lower] = &above[above.len() - 1].rows;
            let pairs = upper.as_chunks().0.iter().zip(lower.as_chunks().0);
            out.extend(pairs.map(|(upper, lower)| average(upper, lower)));
        }
        self.encode(out, texels);
    }

    /// Returns what [`average`] does of decoded texels, which four opaque ones don't have to be.
    fn average(&self, upper: &[[u8; N]; 2], lower: &[[u8; N]; 2]) -> Vec4 {
        let texels = [upper[0], upper[1], lower[0], lower[1]];
        if N == 4 && texels.iter().all(|texel| texel[3] == u8::MAX) {
            let sum = |channel: usize| {
                let [a, b, c, d] = texels.map(|texel| self.quarters[usize::from(texel[channel])]);
                a + b + c + d
            };
            return Vec4::new(sum(0), sum(1), sum(2), 1.0);
        }
        average(
            &upper.map(|texel| self.decode(&texel)),
            &lower.map(|texel| self.decode(&texel)),
        )
    }

    fn decode(&self, texel: &[u8; N]) -> Vec4 {
        let value = |byte: u8| self.values[usize::from(byte)];
        let [r, g, b, a] = texel[..] else {
            // Opaque: `encode` divides by `1 + HIDDEN`.
            return Vec4::new(value(texel[0]) * (1.0 + HIDDEN), 0.0, 0.0, 1.0);
        };
        let alpha = self.shares[usize::from(a)];
        let weight = weight(self.filter, alpha);
        Vec4::new(value(r), value(g), value(b), 1.0) * Vec4::new(weight, weight, weight, alpha)
    }

    fn encode(&self, values: &[Vec4], texels: &mut [u8]) {
        // From this number on, floats are whole, so adding it rounds, and the sum ends in the bits of the whole number. Calls of
        // `round`, or conversions that check the range, took most of the time.
        const ROUNDS: Vec4 = Vec4::splat((1 << 23) as f32);
        let most = match self.filter {
            Filter::Srgb => Vec4::new(65535.0, 65535.0, 65535.0, 255.0),
            Filter::Normals | Filter::Linear => Vec4::splat(255.0),
        };
        let whole = |shares: Vec4| {
            let rounded = (shares * most).clamp(Vec4::ZERO, most) + ROUNDS;
            rounded.to_array().map(|value| value.to_bits() as u16)
        };
        let color = |value: Vec4| {
            let alpha = value.w;
            let weight = weight(self.filter, alpha);
            whole(value / Vec4::new(weight, weight, weight, 1.0))
        };
        let all = values.iter().zip(texels.as_chunks_mut::<N>().0);
        // One loop for each, so that none asks for each texel which it is.
        match self.filter {
            Filter::Srgb => all.for_each(|(&value, texel)| {
                let [r, g, b, alpha] = color(value);
                let [r, g, b] = [r, g, b].map(|step| self.srgb[usize::from(step)]);
                texel.copy_from_slice(&[r, g, b, alpha as u8][..N]);
            }),
            Filter::Normals => all.for_each(|(&value, texel)| {
                // A sum of opposite normals has no direction. Straight up shows the least.
                let normal = value.truncate().normalize_or(Vec3::Z) * 0.5 + 0.5;
                let bytes = whole(normal.extend(value.w)).map(|share| share as u8);
                texel.copy_from_slice(&bytes[..N]);
            }),
            Filter::Linear => all.for_each(|(&value, texel)| {
                let bytes = color(value).map(|share| share as u8);
                texel.copy_from_slice(&bytes[..N]);
            }),
        }
    }
}

/// Returns the weight of a texel's color. The fourth number of a normal has no meaning that could weigh it.
fn weight(filter: Filter, alpha: f32) -> f32 {
    match filter {
        Filter::Normals => 1.0,
        Filter::Srgb | Filter::Linear => alpha + HIDDEN,
    }
}

/// Returns the average of four texels, adding them in the order of [`halve`], so that both round alike.
fn average(upper: &[Vec4; 2], lower: &[Vec4; 2]) -> Vec4 {
    upper[0] * 0.25 + upper[1] * 0.25 + lower[0] * 0.25 + lower[1] * 0.25
}

/// Returns the linear light of a color in sRGB.
fn from_srgb(color: f32) -> f32 {
    if color <= 0.04045 {
        color / 12.92
    } else {
        ((color + 0.055) / 1.055).powf(2.4)
    }
}

/// Returns the color in sRGB of linear light.
fn to_srgb(light: f32) -> f32 {
    if light <= 0.0031308 {
        light * 12.92
    } else {
        1.055 * light.powf(1.0 / 2.4) - 0.055
    }
}

/// Returns a table from linear light, in steps of 1/65535, to sRGB. The curve is steepest near
/// black, where a byte still spans 1/3295 of linear light, so the steps are fine enough.
fn srgb_table() -> &'static [u8; 1 << 16] {
    static TABLE: OnceLock<Box<[u8; 1 << 16]>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = Box::new([0; 1 << 16]);
        fill_srgb(&mut table[..], 0);
        table
    })
}

/// Fills a part of the table that begins at a step. The curve rises, so what is between equal bytes needs no powers.
fn fill_srgb(part: &mut [u8], first: usize) {
    let byte = |step: usize| {
        let light = step as f32 / 65535.0;
        (to_srgb(light) * 255.0).round() as u8
    };
    let (low, high) = (byte(first), byte(first + part.len() - 1));
    if low == high {
        part.fill(low);
    } else {
        let half = part.len() / 2;
        let (left, right) = part.split_at_mut(half);
        fill_srgb(left, first);
        fill_srgb(right, first + half);
    }
}

/// Returns the averaged texels of a level with sides that are half as long, rounded down to at least 1.
fn halve(source: &[Vec4], from: [usize; 2], to: [usize; 2]) -> Vec<Vec4> {
    let [columns, rows] = [0, 1].map(|axis| shares(from[axis], to[axis]));
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
#[path = "tests/mips.rs"]
mod tests;
